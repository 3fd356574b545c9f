package workspace

import (
	"errors"
	"fmt"
	"slices"

	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// collect gathers what differs from the base on either side.
func (m *merge) collect() error {
	for side := atOurs; side <= atTheirs; side++ {
		var inner error
		err := tree.Diff(m.ctx, m.trees[atBase], m.trees[side], func(c tree.Change) bool {
			inner = m.differs(side, c)
			return inner == nil
		})
		if err := errors.Join(err, inner); err != nil {
			return err
		}
	}
	for k, s := range m.slots {
		for side := range s.v {
			if s.v[side] == 0 {
				continue
			}
			n, err := m.node(s.v[side])
			if err != nil {
				return err
			}
			if !slices.Contains(n.slots, k) {
				n.slots = append(n.slots, k)
			}
		}
	}
	for _, n := range m.nodes {
		slices.SortFunc(n.slots, compareSlots)
		if err := m.countKept(n); err != nil {
			return err
		}
	}
	return nil
}

func (m *merge) differs(side int, c tree.Change) error {
	if !validKey(c.Key) {
		return errCorruptKey
	}
	ino := keyIno(c.Key)
	switch c.Key[0] {
	case keyDentry:
		return m.slotDiffers(side, slotKey{ino, string(keySuffix(c.Key))}, c)
	case keyInode:
		return m.inodeDiffers(side, ino, c)
	case keyExtent:
		n, err := m.node(ino)
		if err == nil {
			n.bytes[side] = true
		}
		return err
	}
	x := m.xattrs[string(c.Key)]
	if x == nil {
		x = &mvalue{v: [3][]byte{c.Old, c.Old, c.Old}}
		m.xattrs[string(c.Key)] = x
	}
	x.v[side] = c.New
	_, err := m.node(ino)
	return err
}

func (m *merge) slotDiffers(side int, k slotKey, c tree.Change) error {
	s := m.slots[k]
	if s == nil {
		s = &mslot{}
		if c.Old != nil {
			d, err := decodeDentry(c.Old)
			if err != nil {
				return err
			}
			s.v = [3]vfs.Ino{d.ino, d.ino, d.ino}
		}
		m.slots[k] = s
	}
	s.v[side] = 0
	if c.New != nil {
		d, err := decodeDentry(c.New)
		if err != nil {
			return err
		}
		s.v[side] = d.ino
	}
	_, err := m.node(k.parent)
	return err
}

func (m *merge) inodeDiffers(side int, ino vfs.Ino, c tree.Change) error {
	n := m.nodes[ino]
	if n == nil {
		n = &mnode{ino: ino}
		m.nodes[ino] = n
		if c.Old != nil {
			v, err := decodeInode(ino, c.Old)
			if err != nil {
				return err
			}
			n.v = [3]*inodeValue{v, v, v}
		}
	}
	n.v[side] = nil
	if c.New != nil {
		var err error
		if n.v[side], err = decodeInode(ino, c.New); err != nil {
			return err
		}
	}
	for _, v := range n.v {
		if v != nil && n.any().Mode&vfs.ModeTypeMask != v.Mode&vfs.ModeTypeMask {
			return fmt.Errorf("inode %d is a %s and a %s: two replicas have used its number: %w",
				ino, vfs.TypeName(n.any().Mode), vfs.TypeName(v.Mode), vfs.ErrCorrupt)
		}
	}
	return nil
}

// node returns the inode, as the base has it if nobody has touched it.
func (m *merge) node(ino vfs.Ino) (*mnode, error) {
	if n := m.nodes[ino]; n != nil {
		return n, nil
	}
	n := &mnode{ino: ino}
	b, ok, err := m.trees[atBase].Get(m.ctx, inodeKey(ino))
	if err != nil {
		return nil, err
	}
	if ok {
		v, err := decodeInode(ino, b)
		if err != nil {
			return nil, err
		}
		n.v = [3]*inodeValue{v, v, v}
		n.alive = true
	}
	if err := m.countKept(n); err != nil {
		return nil, err
	}
	m.nodes[ino] = n
	return n, nil
}

// countKept counts the names that nobody has touched.
func (m *merge) countKept(n *mnode) error {
	n.kept = 0
	if v := n.v[atBase]; v != nil {
		if n.kept = int(v.Nlink); v.IsDir() {
			n.kept = 1
		}
	}
	for _, k := range n.slots {
		if m.slots[k].v[atBase] == n.ino {
			n.kept--
		}
	}
	if n.kept < 0 || n.ino == vfs.RootIno {
		n.kept = max(n.kept, 0)
	}
	return nil
}

// slot returns a place for a name, as the base has it if nobody has touched it.
func (m *merge) slot(k slotKey) (*mslot, error) {
	if s := m.slots[k]; s != nil {
		return s, nil
	}
	s := &mslot{}
	b, ok, err := m.trees[atBase].Get(m.ctx, dentryKey(k.parent, k.name))
	if err != nil {
		return nil, err
	}
	m.slots[k] = s
	if !ok {
		return s, nil
	}
	d, err := decodeDentry(b)
	if err != nil {
		return nil, err
	}
	n, err := m.node(d.ino)
	if err != nil {
		return nil, err
	}
	s.v = [3]vfs.Ino{d.ino, d.ino, d.ino}
	n.slots = append(n.slots, k)
	n.kept--
	m.claim(n, k)
	return s, nil
}
