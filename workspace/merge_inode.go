package workspace

import (
	"bytes"
	"context"
	"encoding/binary"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// unite decides where the bytes of each inode come from. Where both sides have
// changed them differently, a policy decides or the version that loses the name
// becomes a file of its own beside the other.
func (m *merge) unite() error {
	for _, n := range m.sortedNodes() {
		if !n.alive {
			continue
		}
		n.from = m.source(n)
		if n.v[atOurs] == nil || n.v[atTheirs] == nil || !m.edited(n, atOurs) || !m.edited(n, atTheirs) {
			continue
		}
		same, err := m.sameBytes(n)
		if err != nil {
			return err
		}
		if same {
			continue
		}
		if err := m.contend(n); err != nil {
			return err
		}
	}
	for _, n := range m.sortedNodes() {
		if n.alive && !n.isDir() && n.v[atOurs] != nil && n.v[atTheirs] != nil {
			m.renamedTwice(n)
		}
	}
	return nil
}

// renamedTwice lists a file that each side has given another name: it has both.
func (m *merge) renamedTwice(n *mnode) {
	lost := false
	gains := [3]int{}
	for _, k := range n.slots {
		s := m.slots[k]
		lost = lost || s.v[atBase] == n.ino && s.v[atOurs] != n.ino && s.v[atTheirs] != n.ino
		for side := atOurs; side <= atTheirs; side++ {
			if s.v[side] == n.ino && s.v[atBase] != n.ino && s.v[other(side)] != n.ino {
				gains[side]++
			}
		}
	}
	if lost && gains[atOurs] > 0 && gains[atTheirs] > 0 && n.copyOf == nil {
		m.conflict(conflictRecord{Kind: ConflictRenamed, Ino: n.ino, Time: n.when()})
	}
}

// sameBytes reports whether both sides have changed a file to the same bytes.
func (m *merge) sameBytes(n *mnode) (bool, error) {
	if !sameHead(n.v[atOurs], n.v[atTheirs]) {
		return false, nil
	}
	if !n.bytes[atOurs] && !n.bytes[atTheirs] {
		return true, nil
	}
	return m.sameKeys(keyExtent, n.ino, atOurs, n.ino, atTheirs)
}

// contend settles one file that both sides have written to.
func (m *merge) contend(n *mnode) error {
	k, err := m.aName(n)
	if err != nil {
		return err
	}
	path, err := m.pathOf(k)
	if err != nil {
		return err
	}
	switch m.policy.of(path) {
	case PolicyOurs:
		n.from = atOurs
		return nil
	case PolicyTheirs:
		n.from = atTheirs
		return nil
	case PolicyText:
		merged, ok, err := m.mergeText(n, atBase, n, atOurs, n, atTheirs)
		if err != nil || ok {
			n.text = merged
			return err
		}
	}
	return m.copyLoser(n, k)
}

// aName returns a name that an inode will have.
func (m *merge) aName(n *mnode) (slotKey, error) {
	if len(n.names) > 0 {
		k := n.names[0]
		for _, x := range n.names {
			if compareSlots(x, k) < 0 {
				k = x
			}
		}
		return k, nil
	}
	if m.paths == nil {
		m.paths = newNamer(m.ctx, &layers{base: m.trees[atBase]})
	}
	at, err := m.paths.nameOf(n.ino)
	return slotKey{at.parent, at.name}, err
}

// copyLoser keeps the version of a file that does not keep the name beside it,
// as an inode whose number follows from what it is: both replicas make the same
// one, and who meets it again knows it.
func (m *merge) copyLoser(n *mnode, k slotKey) error {
	side := other(n.from)
	v := *n.v[side]
	ino, known, err := m.copyIno(n, side)
	if err != nil || known {
		return err
	}
	v.Ino = ino
	c := &mnode{ino: ino, alive: true, copyOf: n, from: side}
	c.v[side] = &v
	m.nodes[ino] = c
	to, err := m.conflictName(k, m.replicas[side])
	if err != nil {
		return err
	}
	m.claim(c, to)
	m.conflict(conflictRecord{Kind: ConflictEdited, Ino: n.ino, Other: ino, Name: k.name, Replica: m.replicas[side], Time: v.Ctime})
	return nil
}

// copyIno returns the inode number for a version of a file. known says that the
// same version was kept before and is still there.
func (m *merge) copyIno(n *mnode, side int) (ino vfs.Ino, known bool, err error) {
	v := n.v[side]
	seed := append([]byte("vfsd version"), inodeKey(n.ino)...)
	seed = binary.LittleEndian.AppendUint64(seed, uint64(v.Mtime))
	seed = binary.LittleEndian.AppendUint64(seed, v.Size)
	seed = append(append(append(seed, byte(v.content)), v.inline...), v.chunk[:]...)
	seed = append(seed, v.target...)
	for sum := chunk.Sum(seed); ; sum = chunk.Sum(sum[:]) {
		ino := vfs.Ino(binary.LittleEndian.Uint64(sum[:]) & (1<<slotShift - 1))
		if inoReplica(ino) == 0 {
			continue
		}
		taken := false
		for s := range m.trees {
			b, ok, err := m.trees[s].Get(m.ctx, inodeKey(ino))
			if err != nil {
				return 0, false, err
			}
			if !ok {
				continue
			}
			taken = true
			if x, err := decodeInode(ino, b); err == nil && s != atBase && sameHead(x, v) && x.Mode&vfs.ModeTypeMask == v.Mode&vfs.ModeTypeMask {
				if y := m.nodes[ino]; y == nil || y.alive {
					same, err := m.sameKeys(keyExtent, n.ino, side, ino, s)
					if err != nil || same {
						return ino, same, err
					}
				}
			}
		}
		if !taken && m.nodes[ino] == nil {
			return ino, false, nil
		}
	}
}

// value returns what an inode is to be, but for its counts.
func (m *merge) value(n *mnode) *inodeValue {
	ours, theirs := n.v[atOurs], n.v[atTheirs]
	var v inodeValue
	switch {
	case ours == nil && theirs == nil:
		v = *n.v[atBase]
	case ours == nil:
		v = *theirs
	case theirs == nil:
		v = *ours
	default:
		v = m.fields(n)
	}
	v.Ino = n.ino
	return &v
}

// pick is the three-way choice of one field: what one side has changed, or what
// winner says where both have.
func pick[T comparable](base, ours, theirs, winner T) T {
	switch {
	case ours == theirs, theirs == base:
		return ours
	case ours == base:
		return theirs
	}
	return winner
}

// fields unites two values of an inode field by field.
func (m *merge) fields(n *mnode) inodeValue {
	ours, theirs := n.v[atOurs], n.v[atTheirs]
	base := n.v[atBase]
	if base == nil {
		base = &inodeValue{}
	}
	win := n.v[newer(ours, theirs)]
	v := *n.v[n.from]
	v.UID = pick(base.UID, ours.UID, theirs.UID, win.UID)
	v.GID = pick(base.GID, ours.GID, theirs.GID, win.GID)
	v.Mode = n.v[m.rights(n)].Mode
	v.parent = pick(base.parent, ours.parent, theirs.parent, win.parent)
	v.Mtime = pick(base.Mtime, ours.Mtime, theirs.Mtime, max(ours.Mtime, theirs.Mtime))
	if m.edited(n, atOurs) && m.edited(n, atTheirs) && n.text == nil {
		v.Mtime = n.v[n.from].Mtime
	}
	v.Atime = pick(base.Atime, ours.Atime, theirs.Atime, max(ours.Atime, theirs.Atime))
	v.Ctime = max(ours.Ctime, theirs.Ctime)
	v.Btime = pick(base.Btime, ours.Btime, theirs.Btime, min(ours.Btime, theirs.Btime))
	v.flags = v.flags&flagReserved | (ours.flags|theirs.flags)&^flagReserved // attributes are counted when they are known
	return v
}

// rights returns the side whose mode and access ACL an inode gets: they are two
// faces of one thing.
func (m *merge) rights(n *mnode) int {
	changed := [3]bool{}
	acl := m.xattrs[string(xattrKey(n.ino, vfs.XattrACLAccess))]
	for side := atOurs; side <= atTheirs; side++ {
		changed[side] = n.v[atBase] == nil || n.v[side].Mode != n.v[atBase].Mode ||
			acl != nil && !bytes.Equal(acl.v[side], acl.v[atBase])
	}
	switch {
	case changed[atOurs] && changed[atTheirs]:
		return newer(n.v[atOurs], n.v[atTheirs])
	case changed[atTheirs]:
		return atTheirs
	}
	return atOurs
}

// attribute decides one extended attribute of an inode that both sides have.
func (m *merge) attribute(n *mnode, name string, x *mvalue) []byte {
	if name == vfs.XattrACLAccess {
		return x.v[m.rights(n)]
	}
	same := func(a, b int) bool {
		return bytes.Equal(x.v[a], x.v[b]) && (x.v[a] == nil) == (x.v[b] == nil)
	}
	switch {
	case same(atOurs, atTheirs), same(atTheirs, atBase):
		return x.v[atOurs]
	case same(atOurs, atBase):
		return x.v[atTheirs]
	case x.v[atOurs] == nil: // deleted there, changed here
		return x.v[atTheirs]
	case x.v[atTheirs] == nil:
		return x.v[atOurs]
	}
	side := newer(n.v[atOurs], n.v[atTheirs])
	if !isPrivate(name) {
		m.conflict(conflictRecord{Kind: ConflictAttribute, Ino: n.ino, Name: name, Replica: m.replicas[other(side)], Time: n.v[side].Ctime})
	}
	return x.v[side]
}

// readAll returns the bytes of a regular file of a side, if it has no more than
// limit.
func (m *merge) readAll(n *mnode, side int, limit int64) (b []byte, ok bool, err error) {
	if n == nil || n.v[side] == nil || !n.v[side].IsRegular() || int64(n.v[side].Size) > limit {
		return nil, false, nil
	}
	v := n.v[side]
	ino := n.ino
	if n.copyOf != nil {
		ino = n.copyOf.ino
	}
	var ps []piece
	in := &inode{ino: ino, v: *v, base: v}
	err = in.baseSegments(m.trees[side], 0, int64(v.Size), func(p piece) error {
		ps = append(ps, p)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	b = make([]byte, v.Size)
	return b, err == nil, fill(context.WithoutCancel(m.ctx), m.w.store(), ps, b, 0)
}
