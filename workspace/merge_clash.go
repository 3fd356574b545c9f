package workspace

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/vfsd/vfsd/vfs"
)

// settle leaves every name to one inode.
func (m *merge) settle() error {
	for {
		var clashes []slotKey
		for k, s := range m.slots {
			if len(s.claims) > 1 {
				clashes = append(clashes, k)
			}
		}
		if len(clashes) == 0 {
			return nil
		}
		slices.SortFunc(clashes, compareSlots)
		for _, k := range clashes {
			if err := m.clash(k); err != nil {
				return err
			}
		}
	}
}

// clash settles one name that several inodes claim.
func (m *merge) clash(k slotKey) error {
	s := m.slots[k]
	for len(s.claims) > 1 {
		rivals := make([]*mnode, len(s.claims))
		for i, ino := range s.claims {
			rivals[i] = m.nodes[ino]
		}
		slices.SortFunc(rivals, m.prefer)
		keeper, loser := rivals[0], rivals[1]
		done, err := false, error(nil)
		switch {
		case keeper.isDir() && loser.isDir():
			if done = known(loser); done {
				err = m.oneDirectory(keeper, loser)
			}
		case !keeper.isDir() && !loser.isDir():
			done, err = m.sameFile(k, keeper, loser)
		}
		if err == nil && !done {
			err = m.beside(k, keeper, loser)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// known reports whether all entries of a directory are among the changes: it
// is new, or was deleted by one side and lives for what the other has put in it.
func known(n *mnode) bool { return n.v[atBase] == nil || n.container }

// prefer orders inodes that want one name: directories first, since paths lead
// through them; of those the ones that were there, then what was made, then what
// was deleted; of files the one written later.
func (m *merge) prefer(a, b *mnode) int {
	rank := func(n *mnode) int {
		switch {
		case !n.isDir():
			return 3
		case n.container:
			return 2
		case known(n):
			return 1
		}
		return 0
	}
	if c := cmp.Compare(rank(a), rank(b)); c != 0 {
		return c
	}
	if a.isDir() {
		return cmp.Compare(a.ino, b.ino)
	}
	if c := cmp.Compare(m.written(b), m.written(a)); c != 0 {
		return c
	}
	return cmp.Compare(a.ino, b.ino)
}

// written returns when a file was last written to.
func (m *merge) written(n *mnode) int64 { return n.v[m.source(n)].Mtime }

// source returns the side that an inode's bytes come from, where the two do not
// contradict each other.
func (m *merge) source(n *mnode) int {
	ours, theirs := n.v[atOurs], n.v[atTheirs]
	switch {
	case ours == nil && theirs == nil:
		return atBase
	case ours == nil:
		return atTheirs
	case theirs == nil:
		return atOurs
	}
	switch o, t := m.edited(n, atOurs), m.edited(n, atTheirs); {
	case o && !t, ours == theirs:
		return atOurs
	case t && !o:
		return atTheirs
	}
	return newer(ours, theirs)
}

// oneDirectory makes one directory of two that were made under one name.
func (m *merge) oneDirectory(keeper, loser *mnode) error {
	for _, k := range slices.Clone(loser.names) {
		m.unclaim(loser, k)
	}
	loser.alive, loser.union = false, keeper
	var moved []slotKey
	for k, s := range m.slots {
		if k.parent == loser.ino && len(s.claims) > 0 {
			moved = append(moved, k)
		}
	}
	slices.SortFunc(moved, compareSlots)
	for _, k := range moved {
		to := slotKey{keeper.ino, k.name}
		if _, err := m.slot(to); err != nil {
			return err
		}
		for _, ino := range slices.Clone(m.slots[k].claims) {
			n := m.nodes[ino]
			m.unclaim(n, k)
			m.claim(n, to)
		}
	}
	return nil
}

// sameFile makes one file of two that want a name, where their content or a
// policy allows it.
func (m *merge) sameFile(k slotKey, keeper, loser *mnode) (done bool, err error) {
	if keeper.kept+len(keeper.names) != 1 || loser.kept+len(loser.names) != 1 {
		return false, nil
	}
	same, err := m.equivalent(keeper, loser)
	if err != nil {
		return false, err
	}
	drop := loser
	if !same {
		path, err := m.pathOf(k)
		if err != nil {
			return false, err
		}
		switch m.policy.of(path) {
		case PolicyText:
			base := m.nodes[m.slots[k].v[atBase]]
			merged, ok, err := m.mergeText(base, atBase, keeper, m.source(keeper), loser, m.source(loser))
			if err != nil || !ok {
				return false, err
			}
			keeper.text = merged
		case PolicyOurs:
			drop = m.fromSide(keeper, loser, atTheirs)
		case PolicyTheirs:
			drop = m.fromSide(keeper, loser, atOurs)
		default:
			return false, nil
		}
	}
	m.unclaim(drop, k)
	drop.alive = false
	return true, nil
}

// fromSide returns the one of two files that a side has brought.
func (m *merge) fromSide(a, b *mnode, side int) *mnode {
	if a.v[side] != nil && (a.v[other(side)] == nil || m.edited(a, side)) {
		return a
	}
	return b
}

// equivalent reports whether two files differ in nothing but their identity and
// their times.
func (m *merge) equivalent(a, b *mnode) (bool, error) {
	sa, sb := m.source(a), m.source(b)
	x, y := a.v[sa], b.v[sb]
	if x == nil || y == nil || x.Mode != y.Mode || x.UID != y.UID || x.GID != y.GID || x.flags != y.flags || !sameHead(x, y) {
		return false, nil
	}
	for _, kind := range []byte{keyExtent, keyXattr} {
		same, err := m.sameKeys(kind, a.ino, sa, b.ino, sb)
		if err != nil || !same {
			return false, err
		}
	}
	return true, nil
}

// sameKeys compares all entries of a kind of two inodes.
func (m *merge) sameKeys(kind byte, a vfs.Ino, sideA int, b vfs.Ino, sideB int) (bool, error) {
	lo, hi := inoRange(kind, a)
	x := m.trees[sideA].Iter(m.ctx, lo, hi)
	lo, hi = inoRange(kind, b)
	y := m.trees[sideB].Iter(m.ctx, lo, hi)
	for {
		k, v, ok := x.Next()
		l, u, more := y.Next()
		if !ok || !more {
			if err := x.Err(); err != nil {
				return false, err
			}
			return ok == more, y.Err()
		}
		if string(keySuffix(k)) != string(keySuffix(l)) || string(v) != string(u) {
			return false, nil
		}
	}
}

// beside gives the loser of a name another one next to it.
func (m *merge) beside(k slotKey, keeper, loser *mnode) error {
	m.unclaim(loser, k)
	replica := m.replicas[m.source(loser)]
	switch s := m.slots[k]; {
	case s.v[atOurs] == s.v[atTheirs]:
		replica = max(m.replicas[atOurs], m.replicas[atTheirs])
	case s.v[atOurs] == loser.ino:
		replica = m.replicas[atOurs]
	case s.v[atTheirs] == loser.ino:
		replica = m.replicas[atTheirs]
	}
	to, err := m.conflictName(k, replica)
	if err != nil {
		return err
	}
	m.claim(loser, to)
	m.conflict(conflictRecord{Kind: ConflictNamed, Ino: keeper.ino, Other: loser.ino, Name: k.name,
		Replica: replica, Time: loser.when()})
	return nil
}

// conflictName returns a free name beside one: NAME.conflict-REPLICA-N.
func (m *merge) conflictName(k slotKey, replica uint32) (slotKey, error) {
	for n := 1; ; n++ {
		suffix := fmt.Sprintf(".conflict-%05x-%d", replica, n)
		name := k.name
		for len(name)+len(suffix) > vfs.MaxName {
			_, size := utf8.DecodeLastRuneInString(name)
			name = name[:len(name)-size]
		}
		to := slotKey{k.parent, name + suffix}
		s, err := m.slot(to)
		if err != nil {
			return to, err
		}
		if len(s.claims) == 0 {
			return to, nil
		}
	}
}

// pathOf returns the path of a name, for the patterns of the policy.
func (m *merge) pathOf(k slotKey) (string, error) {
	parts := []string{k.name}
	for at := k.parent; at != vfs.RootIno; {
		n, err := m.node(at)
		if err != nil {
			return "", err
		}
		if len(parts) > vfs.MaxPath {
			return "", errNameless
		}
		if len(n.names) > 0 {
			parts = append(parts, n.names[0].name)
			at = n.names[0].parent
			continue
		}
		if m.paths == nil {
			m.paths = newNamer(m.ctx, &layers{base: m.trees[atBase]})
		}
		dir, err := m.paths.nameOf(at)
		if err != nil {
			return "", err
		}
		parts = append(parts, dir.name)
		at = dir.parent
	}
	slices.Reverse(parts)
	return strings.Join(parts, "/"), nil
}
