package workspace

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// mergeEmitter makes the edits that lead from our tree to the merged one.
type mergeEmitter struct {
	*merge
	edits  []tree.Edit
	inodes int64
	blocks int64
	// extents are the files whose bytes are theirs where ours are the base's.
	extents map[vfs.Ino]bool
}

func (e *mergeEmitter) put(key, value []byte) {
	e.edits = append(e.edits, tree.Edit{Key: bytes.Clone(key), Value: value})
}

func (e *mergeEmitter) delete(key []byte) {
	e.edits = append(e.edits, tree.Edit{Key: bytes.Clone(key), Delete: true})
}

func (e *mergeEmitter) run() error {
	e.extents = map[vfs.Ino]bool{}
	if err := e.dentries(); err != nil {
		return err
	}
	if err := e.dropStale(); err != nil {
		return err
	}
	attributes := e.byInode()
	for _, n := range e.sortedNodes() {
		if n.ino == vfs.RootIno {
			continue
		}
		if err := e.node(n, attributes[n.ino]); err != nil {
			return fmt.Errorf("merge inode %d: %w", n.ino, err)
		}
	}
	// The root comes last: it carries the conflicts, which are all known now.
	root, err := e.merge.node(vfs.RootIno)
	if err != nil {
		return err
	}
	if err := e.listConflicts(root); err != nil {
		return err
	}
	if err := e.node(root, e.byInode()[vfs.RootIno]); err != nil {
		return fmt.Errorf("merge the root: %w", err)
	}
	return e.theirExtents()
}

// byInode groups the attributes that a side has touched.
func (e *mergeEmitter) byInode() map[vfs.Ino][]string {
	out := map[vfs.Ino][]string{}
	for _, k := range sortedKeys(e.xattrs) {
		ino := keyIno([]byte(k))
		out[ino] = append(out[ino], k)
	}
	return out
}

// dentries emits the names and counts what that changes.
func (e *mergeEmitter) dentries() error {
	for _, k := range e.sortedSlots() {
		s := e.slots[k]
		was, is := s.v[atOurs], vfs.Ino(0)
		if len(s.claims) > 0 {
			is = s.claims[0]
		}
		if was == is {
			continue
		}
		dir, err := e.merge.node(k.parent)
		if err != nil {
			return err
		}
		if was != 0 {
			n, err := e.merge.node(was)
			if err != nil {
				return err
			}
			n.links--
			dir.entries--
			dir.subdirs -= one(n.isDir())
		}
		if is == 0 {
			e.delete(dentryKey(k.parent, k.name))
			continue
		}
		n, err := e.merge.node(is)
		if err != nil {
			return err
		}
		n.links++
		dir.entries++
		dir.subdirs += one(n.isDir())
		e.put(dentryKey(k.parent, k.name), dentryValue{is, n.any().Mode & vfs.ModeTypeMask}.encode())
	}
	return nil
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// node emits an inode with its bytes and attributes.
func (e *mergeEmitter) node(n *mnode, attributes []string) error {
	was := n.v[atOurs]
	if n.copyOf != nil {
		was = nil
	}
	if was != nil {
		e.inodes--
		e.blocks -= int64(was.Blocks / sectorsPerBlock)
	}
	if !n.alive {
		if was != nil {
			e.delete(inodeKey(n.ino))
			e.deleteAll(n.ino, was)
		}
		return nil
	}
	v := e.value(n)
	if err := e.bytesOf(n, was, v); err != nil {
		return err
	}
	if err := e.attributesOf(n, was, v, attributes); err != nil {
		return err
	}
	e.counts(n, was, v)
	e.inodes++
	e.blocks += int64(v.Blocks / sectorsPerBlock)
	if b := appendInode(nil, v); was == nil || !bytes.Equal(b, appendInode(nil, was)) {
		e.put(inodeKey(n.ino), b)
	}
	return nil
}

// deleteAll removes what hangs on an inode that goes.
func (e *mergeEmitter) deleteAll(ino vfs.Ino, was *inodeValue) {
	for _, x := range []struct {
		kind byte
		is   bool
	}{{keyExtent, was.content == contentExtents}, {keyXattr, was.flags&flagXattr != 0}} {
		if x.is {
			lo, hi := inoRange(x.kind, ino)
			e.edits = append(e.edits, tree.Edit{Key: lo, To: hi, Delete: true})
		}
	}
}

// counts sets what follows from the names.
func (e *mergeEmitter) counts(n *mnode, was, v *inodeValue) {
	if v.IsDir() {
		size, links := 0, 2
		if was != nil {
			size, links = int(was.Size), int(was.Nlink)
		}
		v.Size, v.Nlink = uint64(size+n.entries), uint32(links+n.subdirs)
		if n.ino != vfs.RootIno {
			v.parent = e.parentOf(n)
		}
		return
	}
	links := 0
	if was != nil {
		links = int(was.Nlink)
	}
	v.Nlink = uint32(links + n.links)
	// The directory that the value tells of must be one that the file is in.
	in, gone := false, false
	for _, k := range n.names {
		in = in || k.parent == v.parent
	}
	for _, k := range n.slots {
		gone = gone || k.parent == v.parent
	}
	switch {
	case in || len(n.names) == 0 && !gone:
	case len(n.names) > 0 && n.kept == 0:
		k := n.names[0]
		for _, x := range n.names {
			if compareSlots(x, k) < 0 {
				k = x
			}
		}
		v.parent = k.parent
	case gone:
		v.parent = 0
	}
}

// bytesOf emits the extents of a file and sets what its value says of them.
func (e *mergeEmitter) bytesOf(n *mnode, was, v *inodeValue) error {
	if !v.IsRegular() {
		return nil
	}
	if n.text != nil {
		return e.textOf(n, was, v)
	}
	side := n.from
	if n.copyOf != nil {
		return e.copyKeys(keyExtent, n.copyOf.ino, side, n.ino)
	}
	switch {
	case side == atOurs && was != nil:
		return nil
	case was != nil && !n.bytes[atOurs] && !n.bytes[atTheirs] && was.content == v.content:
		return nil
	case was != nil && !n.bytes[atOurs] && was.content == contentExtents && v.content == contentExtents:
		e.extents[n.ino] = true
		return nil
	case was != nil && was.content == contentExtents:
		lo, hi := inoRange(keyExtent, n.ino)
		e.edits = append(e.edits, tree.Edit{Key: lo, To: hi, Delete: true})
	}
	if v.content != contentExtents {
		return nil
	}
	return e.copyKeys(keyExtent, n.ino, side, n.ino)
}

// copyKeys puts all entries of a kind that a side has of an inode, for another.
func (e *mergeEmitter) copyKeys(kind byte, from vfs.Ino, side int, to vfs.Ino) error {
	lo, hi := inoRange(kind, from)
	return e.trees[side].Scan(e.ctx, lo, hi, func(k, v []byte) bool {
		e.put(append(inoKey(kind, to, len(k)), keySuffix(k)...), bytes.Clone(v))
		return true
	})
}

// theirExtents emits what they have changed in files that we have not written
// to: as much as differs, whatever their size.
func (e *mergeEmitter) theirExtents() error {
	if len(e.extents) == 0 {
		return nil
	}
	return tree.Diff(e.ctx, e.trees[atBase], e.trees[atTheirs], func(c tree.Change) bool {
		switch {
		case c.Key[0] != keyExtent || !e.extents[keyIno(c.Key)]:
		case c.New == nil:
			e.delete(c.Key)
		default:
			e.put(c.Key, c.New)
		}
		return true
	})
}

// textOf stores the merged text of a file.
func (e *mergeEmitter) textOf(n *mnode, was, v *inodeValue) error {
	if was != nil && was.content == contentExtents {
		lo, hi := inoRange(keyExtent, n.ino)
		e.edits = append(e.edits, tree.Edit{Key: lo, To: hi, Delete: true})
	}
	v.content, v.inline, v.chunk = contentNone, nil, chunk.ID{}
	v.flags &^= flagReserved
	v.Size = uint64(len(n.text))
	v.Blocks = uint64(blockCeil(int64(v.Size))) / 512
	var err error
	switch {
	case len(n.text) == 0:
	case len(n.text) <= inlineMax:
		v.content, v.inline = contentInline, n.text
	case len(n.text) <= chunk.WholeMax:
		v.content = contentChunk
		v.chunk, err = e.w.chunks.Put(e.ctx, n.text)
	default:
		v.content = contentExtents
		off := int64(0)
		err = e.w.cut.Cut(bytes.NewReader(n.text), func(data []byte) error {
			id, err := e.w.chunks.Put(e.ctx, data)
			e.put(extentKey(n.ino, off), extentValue{length: int64(len(data)), id: id}.encode())
			off += int64(len(data))
			return err
		})
	}
	return err
}

// attributesOf emits the extended attributes of an inode and sets the flags
// that tell of them.
func (e *mergeEmitter) attributesOf(n *mnode, was, v *inodeValue, touched []string) error {
	if n.copyOf != nil || was == nil {
		from := n.ino
		if n.copyOf != nil {
			from = n.copyOf.ino
		}
		side := atTheirs
		if n.v[atTheirs] == nil {
			side = atOurs
		}
		if n.copyOf != nil {
			side = n.from
		}
		if n.v[side] == nil {
			side = atBase // deleted on both sides, and needed again
		}
		if n.v[side].flags&flagXattr == 0 {
			return nil
		}
		return e.copyKeys(keyXattr, from, side, n.ino)
	}
	if len(touched) == 0 {
		return nil
	}
	now := map[string]bool{}
	if was.flags&flagXattr != 0 {
		lo, hi := inoRange(keyXattr, n.ino)
		if err := e.trees[atOurs].Scan(e.ctx, lo, hi, func(k, _ []byte) bool {
			now[string(k)] = true
			return true
		}); err != nil {
			return err
		}
	}
	for _, k := range touched {
		x := e.xattrs[k]
		value := x.v[atTheirs]
		if n.v[atTheirs] == nil {
			value = x.v[atOurs] // they have deleted the file, which lives on
		} else {
			value = e.attribute(n, string(keySuffix([]byte(k))), x)
		}
		now[k] = value != nil
		switch {
		case value == nil && x.v[atOurs] != nil:
			e.delete([]byte(k))
		case value != nil && !bytes.Equal(value, x.v[atOurs]):
			e.put([]byte(k), value)
		}
	}
	v.flags &^= flagXattr | flagACL | flagDefaultACL
	for k, there := range now {
		if !there {
			continue
		}
		v.flags |= flagXattr
		switch string(keySuffix([]byte(k))) {
		case vfs.XattrACLAccess:
			v.flags |= flagACL
		case vfs.XattrACLDefault:
			v.flags |= flagDefaultACL
		}
	}
	return nil
}

// errNotMerged is a decision that was not taken; it shows a defect.
var errNotMerged = errors.New("a name was left to several inodes")
