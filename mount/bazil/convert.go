//go:build linux

package bazil

import (
	"encoding/binary"
	"os"
	"time"

	"bazil.org/fuse"
	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
)

// fileModes pairs st_mode's bits above the permissions with package os's.
var fileModes = []struct {
	mask, mode uint32
	os         os.FileMode
}{
	{vfs.ModeTypeMask, vfs.ModeDir, os.ModeDir},
	{vfs.ModeTypeMask, vfs.ModeSymlink, os.ModeSymlink},
	{vfs.ModeTypeMask, vfs.ModeFIFO, os.ModeNamedPipe},
	{vfs.ModeTypeMask, vfs.ModeSocket, os.ModeSocket},
	{vfs.ModeTypeMask, vfs.ModeBlock, os.ModeDevice},
	{vfs.ModeTypeMask, vfs.ModeChar, os.ModeDevice | os.ModeCharDevice},
	{vfs.ModeSetuid, vfs.ModeSetuid, os.ModeSetuid},
	{vfs.ModeSetgid, vfs.ModeSetgid, os.ModeSetgid},
	{vfs.ModeSticky, vfs.ModeSticky, os.ModeSticky},
}

func toFileMode(mode uint32) os.FileMode {
	m := os.FileMode(mode & 0o777)
	for _, f := range fileModes {
		if mode&f.mask == f.mode {
			m |= f.os
		}
	}
	return m
}

// fromFileMode makes a regular file of what has no type.
func fromFileMode(m os.FileMode) uint32 {
	mode := uint32(m.Perm())
	for _, f := range fileModes {
		compared := f.os
		if f.mask == vfs.ModeTypeMask {
			compared = os.ModeType &^ os.ModeIrregular
		}
		if m&compared == f.os {
			mode |= f.mode
		}
	}
	if mode&vfs.ModeTypeMask == 0 {
		mode |= vfs.ModeRegular
	}
	return mode
}

// toTime drops the fraction of a time before 1970, of which the library makes
// a negative count of nanoseconds.
func toTime(ns int64) time.Time {
	t := time.Unix(0, ns)
	if ns < 0 && ns%1e9 != 0 {
		return time.Unix(t.Unix(), 0)
	}
	return t
}

func toAttr(a *vfs.Attr) fuse.Attr {
	return fuse.Attr{
		Valid: mount.Forever, Inode: uint64(a.Ino), Size: a.Size, Blocks: a.Blocks,
		Atime: toTime(a.Atime), Mtime: toTime(a.Mtime), Ctime: toTime(a.Ctime),
		Mode: toFileMode(a.Mode), Nlink: a.Nlink, Uid: a.UID, Gid: a.GID, Rdev: a.Rdev, BlockSize: 4096,
	}
}

func toEntry(e *mount.Entry) fuse.LookupResponse {
	out := fuse.LookupResponse{Node: fuse.NodeID(e.Node), EntryValid: e.EntryValid}
	if e.Node != 0 {
		out.Attr = toAttr(&e.Attr)
		out.Attr.Valid = e.AttrValid
	}
	return out
}

func toOpened(o *mount.Opened) fuse.OpenResponse {
	out := fuse.OpenResponse{Handle: fuse.HandleID(o.FH)}
	if o.KeepCache {
		out.Flags |= fuse.OpenKeepCache
	}
	if o.DirectIO {
		out.Flags |= fuse.OpenDirectIO
	}
	return out
}

// dirents encodes a listing. The library's own encoder counts positions in
// bytes, which the FS's are not.
//
//	0  u64 ino  8  u64 position of the next  16  u32 length  20  u32 type  24  name, zeroes to a multiple of 8
type dirents []byte

func (l *dirents) add(d *mount.DirEntry) {
	b := *l
	b = binary.NativeEndian.AppendUint64(b, uint64(d.Ino))
	b = binary.NativeEndian.AppendUint64(b, d.Pos)
	b = binary.NativeEndian.AppendUint32(b, uint32(len(d.Name)))
	b = binary.NativeEndian.AppendUint32(b, d.Mode&vfs.ModeTypeMask>>12)
	b = append(b, d.Name...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	*l = b
}
