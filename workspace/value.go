package workspace

import (
	"encoding/binary"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// content says where the bytes of a regular file are in the tree.
type content uint8

// The kinds of content; the values are part of the format.
const (
	contentNone    content = 0 // no bytes: empty, one hole, or no regular file
	contentInline  content = 1 // in the inode's value
	contentChunk   content = 2 // one chunk holds all of it
	contentExtents content = 3 // extent keys
)

// Flags of an inode; the values are part of the format.
const (
	flagXattr      = 1 << 0 // has xattr keys
	flagACL        = 1 << 1 // has an access ACL among them
	flagDefaultACL = 1 << 2
	flagReserved   = 1 << 3 // has reserved space past its end
	flagsKnown     = flagXattr | flagACL | flagDefaultACL | flagReserved
)

// inlineMax is how long a file may be to live in its inode. Longer ones are
// worth a chunk, which a second copy shares.
const inlineMax = 128

// inodeValue is the value of an inode key.
//
//	version:1=1  flags:1  content:1
//	mode uid gid nlink size blocks  uvarint each; blocks of 4 KiB
//	parent                          uvarint
//	mtime                           varint, ns since 1970
//	atime ctime btime               varint each, less mtime
//	rdev                            uvarint, devices only
//	target                          uvarint length and bytes, symlinks only
//	inline bytes | chunk digest:32  as content says
//
// For a directory size counts its entries. parent is the directory that holds
// a directory, and a hint for the rest: where the inode got its latest name,
// or 0 when that name is gone.
type inodeValue struct {
	vfs.Attr
	flags   uint8
	content content
	parent  vfs.Ino
	target  string
	inline  []byte
	chunk   chunk.ID
	// orphanXattrs holds the attributes of an inode that has no name: they are
	// in no layer. Never stored.
	orphanXattrs map[string][]byte
}

const inodeVersion = 1

// appendInode encodes v. Blocks is kept in units of 4 KiB, Attr's in 512 bytes.
func appendInode(b []byte, v *inodeValue) []byte {
	b = append(b, inodeVersion, v.flags, byte(v.content))
	b = binary.AppendUvarint(b, uint64(v.Mode))
	b = binary.AppendUvarint(b, uint64(v.UID))
	b = binary.AppendUvarint(b, uint64(v.GID))
	b = binary.AppendUvarint(b, uint64(v.Nlink))
	b = binary.AppendUvarint(b, v.Size)
	b = binary.AppendUvarint(b, v.Blocks/sectorsPerBlock)
	b = binary.AppendUvarint(b, uint64(v.parent))
	b = binary.AppendVarint(b, v.Mtime)
	b = binary.AppendVarint(b, v.Atime-v.Mtime)
	b = binary.AppendVarint(b, v.Ctime-v.Mtime)
	b = binary.AppendVarint(b, v.Btime-v.Mtime)
	switch v.Mode & vfs.ModeTypeMask {
	case vfs.ModeChar, vfs.ModeBlock:
		b = binary.AppendUvarint(b, uint64(v.Rdev))
	case vfs.ModeSymlink:
		b = binary.AppendUvarint(b, uint64(len(v.target)))
		b = append(b, v.target...)
	}
	switch v.content {
	case contentInline:
		b = append(b, v.inline...)
	case contentChunk:
		b = append(b, v.chunk[:]...)
	}
	return b
}

// decodeInode is the inverse of appendInode; ino comes from the key. The
// result does not refer to b.
func decodeInode(ino vfs.Ino, b []byte) (*inodeValue, error) {
	d := decoder{b: b}
	if version := d.byte(); d.err == nil && version != inodeVersion {
		return nil, fmt.Errorf("inode %d: version %d is unknown: %w", ino, version, vfs.ErrCorrupt)
	}
	v := &inodeValue{flags: d.byte(), content: content(d.byte())}
	v.Ino = ino
	v.Mode = d.uint32()
	v.UID = d.uint32()
	v.GID = d.uint32()
	v.Nlink = d.uint32()
	v.Size = d.uvarint()
	blocks := d.uvarint()
	v.Blocks = blocks * sectorsPerBlock
	v.parent = vfs.Ino(d.uvarint())
	v.Mtime = d.varint()
	v.Atime = v.Mtime + d.varint()
	v.Ctime = v.Mtime + d.varint()
	v.Btime = v.Mtime + d.varint()
	switch v.Mode & vfs.ModeTypeMask {
	case vfs.ModeChar, vfs.ModeBlock:
		v.Rdev = d.uint32()
	case vfs.ModeSymlink:
		v.target = string(d.bytes(d.uvarint(), vfs.MaxSymlink))
	}
	switch v.content {
	case contentNone, contentExtents:
	case contentInline:
		v.inline = append([]byte(nil), d.bytes(v.Size, inlineMax)...)
	case contentChunk:
		copy(v.chunk[:], d.bytes(32, 32))
	default:
		d.fail("content kind")
	}
	if d.err == nil && (len(d.b) != 0 || v.Size > vfs.MaxFileSize || blocks > vfs.MaxFileSize/blockSize+1 ||
		v.flags&^flagsKnown != 0 || v.content != contentNone && !v.IsRegular()) {
		d.fail("fields")
	}
	if d.err != nil {
		return nil, fmt.Errorf("inode %d: %w", ino, d.err)
	}
	return v, nil
}

// dentryValue is the value of a dentry key: ino uvarint, type:1 (the type bits
// of the mode, shifted right by 12).
type dentryValue struct {
	ino  vfs.Ino
	mode uint32 // type bits only
}

func (v dentryValue) encode() []byte {
	b := binary.AppendUvarint(make([]byte, 0, 11), uint64(v.ino))
	return append(b, byte(v.mode>>12))
}

func decodeDentry(b []byte) (dentryValue, error) {
	d := decoder{b: b}
	v := dentryValue{ino: vfs.Ino(d.uvarint()), mode: uint32(d.byte()) << 12}
	if d.err == nil && (len(d.b) != 0 || v.ino == 0 || vfs.TypeName(v.mode) == "unknown" || v.mode&^vfs.ModeTypeMask != 0) {
		d.fail("fields")
	}
	if d.err != nil {
		return dentryValue{}, fmt.Errorf("dentry: %w", d.err)
	}
	return v, nil
}

// extentValue is the value of an extent key: length uvarint, offset in chunk
// uvarint, digest:32. The zero digest stands for reserved space that reads as
// zeroes.
type extentValue struct {
	length int64
	off    int64
	id     chunk.ID
}

func (v extentValue) encode() []byte {
	b := binary.AppendUvarint(make([]byte, 0, 42), uint64(v.length))
	b = binary.AppendUvarint(b, uint64(v.off))
	return append(b, v.id[:]...)
}

func decodeExtent(b []byte) (extentValue, error) {
	d := decoder{b: b}
	length, off := d.uvarint(), d.uvarint()
	v := extentValue{length: int64(length), off: int64(off)}
	copy(v.id[:], d.bytes(32, 32))
	limit := uint64(chunk.MaxSize)
	if v.id.IsZero() {
		limit = vfs.MaxFileSize
	}
	if d.err == nil && (len(d.b) != 0 || length == 0 || length > limit || off > limit-length) {
		d.fail("fields")
	}
	if d.err != nil {
		return extentValue{}, fmt.Errorf("extent: %w", d.err)
	}
	return v, nil
}

// decoder reads the primitives of a value; after the first failure every read
// yields zero and err stays.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail(what string) {
	if d.err == nil {
		d.err = fmt.Errorf("bad %s: %w", what, vfs.ErrCorrupt)
	}
	d.b = nil
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail("length")
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || n > 1 && d.b[n-1] == 0 {
		d.fail("number")
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) varint() int64 {
	u := d.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

func (d *decoder) uint32() uint32 {
	v := d.uvarint()
	if v > 1<<32-1 {
		d.fail("number")
	}
	return uint32(v)
}

func (d *decoder) bytes(n, limit uint64) []byte {
	if n > limit || n > uint64(len(d.b)) {
		d.fail("length")
		return make([]byte, 0)
	}
	p := d.b[:n]
	d.b = d.b[n:]
	return p
}
