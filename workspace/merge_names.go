package workspace

import (
	"slices"

	"github.com/vfsd/vfsd/vfs"
)

// claim gives an inode a name; two may claim one until the clash is settled.
func (m *merge) claim(n *mnode, k slotKey) {
	s := m.slots[k]
	if !slices.Contains(s.claims, n.ino) {
		s.claims = append(s.claims, n.ino)
	}
	if !slices.Contains(n.names, k) {
		n.names = append(n.names, k)
	}
}

func (m *merge) unclaim(n *mnode, k slotKey) {
	s := m.slots[k]
	s.claims = slices.DeleteFunc(s.claims, func(ino vfs.Ino) bool { return ino == n.ino })
	n.names = slices.DeleteFunc(n.names, func(x slotKey) bool { return x == k })
}

// wanted returns who is to have a name as far as the slot alone says.
func (s *mslot) wanted() []vfs.Ino {
	base, ours, theirs := s.v[atBase], s.v[atOurs], s.v[atTheirs]
	var all []vfs.Ino
	switch {
	case ours == theirs, theirs == base:
		all = []vfs.Ino{ours}
	case ours == base:
		all = []vfs.Ino{theirs}
	default:
		all = []vfs.Ino{ours, theirs}
	}
	return slices.DeleteFunc(all, func(ino vfs.Ino) bool { return ino == 0 })
}

// place decides which inodes live and where.
func (m *merge) place() error {
	for _, n := range m.nodes {
		m.decide(n)
	}
	for _, k := range m.sortedSlots() {
		for _, ino := range m.slots[k].wanted() {
			if n := m.nodes[ino]; n.alive {
				m.claim(n, k)
			}
		}
	}
	for _, n := range m.sortedNodes() {
		m.rescue(n)
	}
	if err := m.hold(); err != nil {
		return err
	}
	for _, n := range m.sortedNodes() {
		m.oneParent(n)
	}
	return m.breakCycles()
}

// decide says whether an inode lives. One that a side has deleted does if the
// other has edited it: written to it, or given it a name. To change its
// attributes, or to put a directory elsewhere, is no edit of what was deleted;
// a directory lives on only for what does in it.
func (m *merge) decide(n *mnode) {
	ours, theirs := n.v[atOurs], n.v[atTheirs]
	switch {
	case ours == nil && theirs == nil:
		n.alive = false
	case ours != nil && theirs != nil, n.v[atBase] == nil:
		n.alive = true
	default:
		side := atOurs
		if ours == nil {
			side = atTheirs
		}
		n.alive = !n.isDir() && (m.edited(n, side) || m.gained(n, side))
		if n.alive {
			m.conflict(conflictRecord{Kind: ConflictDeleted, Ino: n.ino, Replica: m.replicas[other(side)], Time: n.v[side].Ctime})
		}
	}
}

// edited reports whether a side has changed what an inode holds.
func (m *merge) edited(n *mnode, side int) bool {
	was, is := n.v[atBase], n.v[side]
	if is == nil || is.IsDir() {
		return false
	}
	return was == nil || n.bytes[side] || !sameHead(was, is)
}

// sameHead compares what two inodes hold as far as their values say it.
func sameHead(a, b *inodeValue) bool {
	return a.content == b.content && a.Size == b.Size && a.chunk == b.chunk && string(a.inline) == string(b.inline) &&
		a.target == b.target && a.Rdev == b.Rdev && a.flags&flagReserved == b.flags&flagReserved
}

// gained reports whether a side has given an inode a name.
func (m *merge) gained(n *mnode, side int) bool {
	return slices.ContainsFunc(n.slots, func(k slotKey) bool {
		s := m.slots[k]
		return s.v[side] == n.ino && s.v[atBase] != n.ino
	})
}

// rescue gives an inode that lives and has lost all its names those back that
// a side which has it knows.
func (m *merge) rescue(n *mnode) {
	if !n.alive || n.kept+len(n.names) > 0 || n.ino == vfs.RootIno {
		return
	}
	for _, k := range n.slots {
		s := m.slots[k]
		if s.v[atOurs] == n.ino || s.v[atTheirs] == n.ino {
			m.claim(n, k)
		}
	}
	if len(n.names) > 0 {
		return
	}
	for _, k := range n.slots {
		if m.slots[k].v[atBase] == n.ino {
			m.claim(n, k)
		}
	}
}

// hold makes every directory live that something is to be in.
func (m *merge) hold() error {
	var work []vfs.Ino
	for _, k := range m.sortedSlots() {
		if len(m.slots[k].claims) > 0 {
			work = append(work, k.parent)
		}
	}
	for len(work) > 0 {
		n, err := m.node(work[0])
		if err != nil {
			return err
		}
		work = work[1:]
		if n.alive || n.union != nil {
			continue
		}
		n.alive, n.container = true, true
		m.rescue(n)
		for _, k := range n.names {
			work = append(work, k.parent)
		}
	}
	return nil
}

// oneParent leaves a directory one name: where both sides have put it
// somewhere, the one of the later move.
func (m *merge) oneParent(n *mnode) {
	if !n.alive || !n.isDir() || n.kept+len(n.names) < 2 {
		return
	}
	side := atOurs
	if ours, theirs := n.v[atOurs], n.v[atTheirs]; ours != nil && theirs != nil {
		side = newer(ours, theirs)
	} else if ours == nil {
		side = atTheirs
	}
	keep := n.names[0]
	for _, k := range n.names {
		if m.slots[k].v[side] == n.ino {
			keep = k
			break
		}
	}
	for _, k := range slices.Clone(n.names) {
		if k != keep {
			m.unclaim(n, k)
			m.conflict(conflictRecord{Kind: ConflictMoved, Ino: n.ino, Name: k.name, Replica: m.replicas[other(side)], Time: n.when()})
		}
	}
}

// parentOf returns the directory that a directory is to be in.
func (m *merge) parentOf(n *mnode) vfs.Ino {
	if len(n.names) > 0 {
		return n.names[0].parent
	}
	return n.any().parent
}

// breakCycles finds directories that two moves have put below one another, and
// takes one of the moves back: that of the directory with the greatest number.
func (m *merge) breakCycles() error {
	for {
		var worst *mnode
		for _, n := range m.sortedNodes() {
			if !n.alive || !n.isDir() || len(n.names) == 0 {
				continue
			}
			cycle, err := m.cycle(n)
			if err != nil {
				return err
			}
			for _, x := range cycle {
				moved := x.v[atBase] != nil && len(x.names) > 0 && m.slots[x.names[0]].v[atBase] != x.ino
				if moved && (worst == nil || x.ino > worst.ino) {
					worst = x
				}
			}
			if worst != nil {
				break
			}
		}
		if worst == nil {
			return nil
		}
		m.conflict(conflictRecord{Kind: ConflictMoved, Ino: worst.ino, Name: worst.names[0].name, Time: worst.when()})
		m.unclaim(worst, worst.names[0])
		for _, k := range worst.slots {
			if m.slots[k].v[atBase] == worst.ino {
				m.claim(worst, k)
			}
		}
		if err := m.hold(); err != nil {
			return err
		}
	}
}

// cycle returns the circle of directories that n is in, if it is in one.
func (m *merge) cycle(n *mnode) ([]*mnode, error) {
	path := []*mnode{n}
	seen := map[vfs.Ino]bool{n.ino: true}
	for at := n; at.ino != vfs.RootIno; {
		up, err := m.node(m.parentOf(at))
		if err != nil {
			return nil, err
		}
		if up.any() == nil {
			return nil, errNameless
		}
		if up == n {
			return path, nil
		}
		if seen[up.ino] {
			return nil, nil // a circle above it, found from there
		}
		seen[up.ino] = true
		path = append(path, up)
		at = up
	}
	return nil, nil
}
