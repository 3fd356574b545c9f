package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// validator decides whether a tree that a peer made is a whole namespace (P7),
// given one that is, at the cost of what differs: what holds of an inode that
// neither its own entries nor the names that lead to it have changed, holds
// still. It upholds what Check verifies, so that a check passes afterwards.
//
// Keys come in the order dentries, extents, inodes, attributes: when an inode
// comes, all that counts its names and entries has been seen, and little needs
// to be remembered of each.
type validator struct {
	ctx  context.Context
	w    *Workspace
	base *tree.Tree
	new  *tree.Tree
	lazy bool // chunks may be missing

	touched       map[vfs.Ino]*tally
	inodes        int64 // how many more there are
	blocks        int64
	missing       chunk.ID
	missingChunks int
}

// tally counts what changed about an inode.
type tally struct {
	names   int32   // more that lead to it
	puts    int32   // dentries that lead to it and were not there, or not to it
	entries int32   // more in it
	subdirs int32   // of these
	filled  bool    // dentries were put into it
	bytes   bool    // extents changed
	xattrs  bool    // attributes changed
	judged  bool    // its inode key has changed and was looked at
	dir     bool    // it is one now
	there   bool    // it is there now
	typ     uint32  // that the dentries put say
	parent  vfs.Ino // of the latest dentry put
	up      vfs.Ino // a directory's parent now
	chained bool    // it is known to be reached from the root
}

func (v *validator) of(ino vfs.Ino) *tally {
	t := v.touched[ino]
	if t == nil {
		t = &tally{}
		v.touched[ino] = t
	}
	return t
}

func (v *validator) run(base, c *Commit) error {
	v.touched = map[vfs.Ino]*tally{}
	var inner error
	err := tree.Diff(v.ctx, v.base, v.new, func(c tree.Change) bool {
		if inner = v.change(c); inner != nil {
			inner = fmt.Errorf("key %.80q: %w", c.Key, inner)
		}
		return inner == nil
	})
	if err = errors.Join(err, inner); err != nil {
		return err
	}
	if err := v.rest(); err != nil {
		return err
	}
	if err := v.reach(); err != nil {
		return err
	}
	if v.missingChunks > 0 {
		return fmt.Errorf("%d chunks, %s first: %w", v.missingChunks, v.missing, ErrMissing)
	}
	if int64(base.Inodes)+v.inodes != int64(c.Inodes) || int64(base.Blocks)+v.blocks != int64(c.Blocks) {
		return invalid("the commit counts %d inodes and %d blocks, there are %d and %d",
			c.Inodes, c.Blocks, int64(base.Inodes)+v.inodes, int64(base.Blocks)+v.blocks)
	}
	return nil
}

func (v *validator) change(c tree.Change) error {
	if c.New != nil {
		ids, err := ChunksOf(c.Key, c.New)
		if err != nil {
			return err
		}
		v.chunks(ids)
	} else if !validKey(c.Key) {
		return errCorruptKey
	}
	ino := keyIno(c.Key)
	switch c.Key[0] {
	case keyDentry:
		return v.dentry(ino, c)
	case keyExtent:
		v.of(ino).bytes = true
	case keyXattr:
		v.of(ino).xattrs = true
	case keyInode:
		return v.inode(ino, c.Old, c.New)
	}
	return nil
}

// chunks notes which of them are not here.
func (v *validator) chunks(ids []chunk.ID) {
	for _, id := range ids {
		if v.lazy || v.w.chunks.Has(id) {
			continue
		}
		if v.missingChunks++; v.missingChunks == 1 {
			v.missing = id
		}
	}
}

func (v *validator) dentry(parent vfs.Ino, c tree.Change) error {
	dir := v.of(parent)
	if c.Old != nil {
		d, err := decodeDentry(c.Old)
		if err != nil {
			return err
		}
		v.of(d.ino).names--
		dir.entries--
		if d.mode == vfs.ModeDir {
			dir.subdirs--
		}
	}
	if c.New != nil {
		d, err := decodeDentry(c.New)
		if err != nil {
			return err
		}
		x := v.of(d.ino)
		x.names++
		if x.puts++; x.puts > 1 && x.typ != d.mode {
			return invalid("inode %d is of two types", d.ino)
		}
		x.parent, x.typ = parent, d.mode
		dir.entries++
		dir.filled = true
		if d.mode == vfs.ModeDir {
			dir.subdirs++
		}
	}
	return nil
}

// inode judges an inode whose key has changed.
func (v *validator) inode(ino vfs.Ino, old, new []byte) error {
	var was, is *inodeValue
	var err error
	if old != nil {
		if was, err = decodeInode(ino, old); err != nil {
			return err
		}
		v.inodes--
		v.blocks -= int64(was.Blocks / sectorsPerBlock)
	}
	if new != nil {
		if is, err = decodeInode(ino, new); err != nil {
			return err
		}
		v.inodes++
		v.blocks += int64(is.Blocks / sectorsPerBlock)
	}
	x := v.of(ino)
	x.judged = true
	if err := v.judge(ino, x, was, is, true); err != nil {
		return fmt.Errorf("inode %d: %w", ino, err)
	}
	return nil
}

// rest judges the inodes that were touched from outside alone.
func (v *validator) rest() error {
	for ino, x := range v.touched {
		if x.judged && !x.xattrs {
			continue
		}
		b, ok, err := v.new.Get(v.ctx, inodeKey(ino))
		if err != nil {
			return err
		}
		var is *inodeValue
		if ok {
			if is, err = decodeInode(ino, b); err != nil {
				return err
			}
		}
		if !x.judged {
			err = v.judge(ino, x, is, is, false)
		}
		if err == nil && x.xattrs {
			err = v.attributes(ino, is)
		}
		if err != nil {
			return fmt.Errorf("inode %d: %w", ino, err)
		}
	}
	return nil
}

// judge compares what an inode says with what was counted.
func (v *validator) judge(ino vfs.Ino, x *tally, was, is *inodeValue, changed bool) error {
	if is == nil {
		return v.gone(ino, x, was)
	}
	x.there, x.dir = true, is.IsDir()
	if was != nil && was.Mode&vfs.ModeTypeMask != is.Mode&vfs.ModeTypeMask {
		return invalid("it has become a %s", vfs.TypeName(is.Mode))
	}
	if x.puts > 0 && x.typ != is.Mode&vfs.ModeTypeMask {
		return invalid("its names say that it is a %s", vfs.TypeName(x.typ))
	}
	if !x.dir && (x.filled || x.entries != 0) {
		return invalid("it has entries and is a %s", vfs.TypeName(is.Mode))
	}
	var err error
	if x.dir {
		err = v.directory(ino, x, was, is)
	} else {
		err = v.names(ino, x, was, is)
	}
	if err == nil && (changed || x.bytes) {
		err = v.bytes(ino, is)
	}
	if err == nil && changed && (was == nil || was.flags != is.flags) {
		err = v.attributes(ino, is)
	}
	return err
}

// gone judges an inode that is no more: nothing may be left of it.
func (v *validator) gone(ino vfs.Ino, x *tally, was *inodeValue) error {
	names, entries := int64(0), int64(0)
	if was != nil {
		if names = int64(was.Nlink); was.IsDir() {
			names, entries = 1, int64(was.Size)
		}
	}
	if ino == vfs.RootIno || names+int64(x.names) != 0 || entries+int64(x.entries) != 0 || x.filled {
		return invalid("it is not there and has names or entries")
	}
	for _, kind := range []byte{keyExtent, keyXattr} {
		lo, hi := inoRange(kind, ino)
		left := false
		if err := v.new.Scan(v.ctx, lo, hi, func(_, _ []byte) bool { left = true; return false }); err != nil {
			return err
		}
		if left {
			return invalid("it is not there and has %q keys", kind)
		}
	}
	return nil
}

func (v *validator) directory(ino vfs.Ino, x *tally, was, is *inodeValue) error {
	names, entries, subdirs := int64(0), int64(0), int64(0)
	if was != nil {
		names, entries, subdirs = 1, int64(was.Size), int64(was.Nlink)-2
	}
	x.up = is.parent
	switch {
	case ino == vfs.RootIno:
		if x.puts > 0 || is.parent != vfs.RootIno {
			return invalid("the root has a name")
		}
	case names+int64(x.names) != 1:
		return invalid("a directory of %d names", names+int64(x.names))
	case x.puts > 0 && is.parent != x.parent, x.puts == 0 && (was == nil || is.parent != was.parent):
		return invalid("it says it is in directory %d and is not", is.parent)
	}
	if is.Size != uint64(entries+int64(x.entries)) || int64(is.Nlink) != 2+subdirs+int64(x.subdirs) {
		return invalid("it counts %d entries and %d links, there are %d and %d",
			is.Size, is.Nlink, entries+int64(x.entries), 2+subdirs+int64(x.subdirs))
	}
	return nil
}

func (v *validator) names(ino vfs.Ino, x *tally, was, is *inodeValue) error {
	names := int64(0)
	if was != nil {
		names = int64(was.Nlink)
	}
	if names += int64(x.names); names != int64(is.Nlink) || names < 1 || names > vfs.MaxLinks {
		return invalid("link count is %d and it has %d names", is.Nlink, names)
	}
	if names > 1 || is.parent == 0 || x.puts == 1 && was == nil && is.parent == x.parent ||
		was != nil && is.parent == was.parent && x.names == 0 && x.puts == 0 {
		return nil
	}
	// It must be where it says: anything else a check would report.
	found := false
	lo, hi := inoRange(keyDentry, is.parent)
	err := v.new.Scan(v.ctx, lo, hi, func(_, b []byte) bool {
		d, err := decodeDentry(b)
		found = found || err == nil && d.ino == ino
		return !found
	})
	if err == nil && !found {
		err = invalid("it says it is in directory %d and is not", is.parent)
	}
	return err
}

// bytes judges where a file's bytes are.
func (v *validator) bytes(ino vfs.Ino, is *inodeValue) error {
	var end int64
	blocks, extents := uint64(0), 0
	lo, hi := inoRange(keyExtent, ino)
	var inner error
	err := v.new.Scan(v.ctx, lo, hi, func(k, b []byte) bool {
		var p piece
		if p, inner = decodePiece(k, b); inner != nil {
			return false
		}
		if p.off < end || is.content != contentExtents {
			inner = invalid("extent at %d", p.off)
			return false
		}
		if from, to := max(blockFloor(p.off), blockCeil(end)), blockCeil(p.end()); to > from {
			blocks += uint64(to-from) / blockSize
		}
		end = p.end()
		extents++
		return true
	})
	if err = errors.Join(err, inner); err != nil || is.content != contentExtents {
		return err
	}
	if extents == 0 || blocks != is.Blocks/sectorsPerBlock || end > int64(is.Size) && is.flags&flagReserved == 0 {
		return invalid("%d extents to %d of %d blocks in a file of %d bytes and %d blocks",
			extents, end, blocks, is.Size, is.Blocks/sectorsPerBlock)
	}
	return nil
}

// attributes judges the extended attributes of an inode against its flags.
func (v *validator) attributes(ino vfs.Ino, is *inodeValue) error {
	flags, list := uint8(0), 0
	var inner error
	lo, hi := inoRange(keyXattr, ino)
	err := v.new.Scan(v.ctx, lo, hi, func(k, b []byte) bool {
		name := string(keySuffix(k))
		flags |= flagXattr
		if !isPrivate(name) {
			list += len(name) + 1
		}
		switch name {
		case vfs.XattrACLAccess:
			flags |= flagACL
		case vfs.XattrACLDefault:
			flags |= flagDefaultACL
		default:
			return true
		}
		if b[0] != xattrInline {
			return true
		}
		_, inner = vfs.ParseACL(b[1:])
		return inner == nil
	})
	if inner != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, inner)
	}
	if err != nil {
		return err
	}
	if is == nil && flags != 0 {
		return invalid("it is not there and has attributes")
	}
	if is != nil && (flags != is.flags&(flagXattr|flagACL|flagDefaultACL) || list > vfs.MaxXattrList) {
		return invalid("its attributes are not those that it says it has")
	}
	return nil
}

// reach follows the directories that were put somewhere to the root: what runs
// in a circle never gets there.
func (v *validator) reach() error {
	for ino, x := range v.touched {
		if x.filled && !x.dir {
			return invalid("inode %d has entries and is no directory", ino)
		}
		if !x.there || !x.dir || x.puts == 0 {
			continue
		}
		var path []*tally
		onPath := map[vfs.Ino]bool{}
		for at := ino; at != vfs.RootIno; {
			if onPath[at] {
				return invalid("directory %d is below itself", ino)
			}
			onPath[at] = true
			t := v.touched[at]
			if t != nil && t.chained {
				break
			}
			if t != nil && t.there && t.dir {
				path = append(path, t)
				at = t.up
				continue
			}
			b, ok, err := v.new.Get(v.ctx, inodeKey(at))
			if err != nil {
				return err
			}
			if !ok {
				return invalid("directory %d is in one that is not there", ino)
			}
			is, err := decodeInode(at, b)
			if err != nil {
				return err
			}
			if !is.IsDir() {
				return invalid("directory %d is in one that is none", ino)
			}
			at = is.parent
		}
		for _, t := range path {
			t.chained = true
		}
	}
	return nil
}
