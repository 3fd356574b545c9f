//go:build linux

package gofuse

import (
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
)

// rawFS translates requests to calls of the Server. Lock requests, ioctl and
// what else is not here is answered by the library's default: ENOSYS, on which
// the kernel goes its own way.
type rawFS struct {
	fuse.RawFileSystem
	s *mount.Server
}

func (r *rawFS) String() string { return "vfsd" }

func (r *rawFS) begin(op mount.Opcode, h *fuse.InHeader, cancel <-chan struct{}) *mount.Call {
	return r.s.Begin(op, h.Uid, h.Gid, h.Pid, cancel)
}

func ino(nodeID uint64) vfs.Ino { return mount.NodeIno(nodeID) }

func setTime(ns int64, sec *uint64, nsec *uint32) {
	s, rest := ns/1e9, ns%1e9
	if rest < 0 {
		s, rest = s-1, rest+1e9
	}
	*sec, *nsec = uint64(s), uint32(rest)
}

func setAttr(a *vfs.Attr, out *fuse.Attr) {
	*out = fuse.Attr{
		Ino: uint64(a.Ino), Size: a.Size, Blocks: a.Blocks, Mode: a.Mode, Nlink: a.Nlink,
		Owner: fuse.Owner{Uid: a.UID, Gid: a.GID}, Rdev: a.Rdev, Blksize: 4096,
	}
	setTime(a.Atime, &out.Atime, &out.Atimensec)
	setTime(a.Mtime, &out.Mtime, &out.Mtimensec)
	setTime(a.Ctime, &out.Ctime, &out.Ctimensec)
}

func setEntry(e *mount.Entry, out *fuse.EntryOut) {
	out.NodeId = uint64(e.Node)
	out.Generation = 0
	out.SetEntryTimeout(e.EntryValid)
	out.SetAttrTimeout(e.AttrValid)
	if e.Node != 0 {
		setAttr(&e.Attr, &out.Attr)
	}
}

func setAttrOut(a *vfs.Attr, out *fuse.AttrOut) {
	out.SetTimeout(mount.Forever)
	setAttr(a, &out.Attr)
}

// entry finishes a reply that gives an inode.
func entry(e *mount.Entry, errno syscall.Errno, out *fuse.EntryOut) fuse.Status {
	if errno == 0 {
		setEntry(e, out)
	}
	return fuse.Status(errno)
}

func setOpened(o *mount.Opened, out *fuse.OpenOut) {
	out.Fh = o.FH
	if o.KeepCache {
		out.OpenFlags |= fuse.FOPEN_KEEP_CACHE
	}
	if o.DirectIO {
		out.OpenFlags |= fuse.FOPEN_DIRECT_IO
	}
}

func (r *rawFS) Lookup(cancel <-chan struct{}, h *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	c := r.begin(mount.OpLookup, h, cancel)
	defer c.End()
	var e mount.Entry
	return entry(&e, r.s.Lookup(c, ino(h.NodeId), name, &e), out)
}

func (r *rawFS) Forget(nodeID, n uint64) { r.s.Forget(ino(nodeID), n) }

func (r *rawFS) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	c := r.begin(mount.OpGetattr, &in.InHeader, cancel)
	defer c.End()
	a, errno := r.s.Getattr(c, ino(in.NodeId))
	if errno == 0 {
		setAttrOut(&a, out)
	}
	return fuse.Status(errno)
}

// statxMask is the basic fields and the birth time.
const statxMask = 0x7ff | 0x800

func (r *rawFS) Statx(cancel <-chan struct{}, in *fuse.StatxIn, out *fuse.StatxOut) fuse.Status {
	c := r.begin(mount.OpStatx, &in.InHeader, cancel)
	defer c.End()
	a, errno := r.s.Getattr(c, ino(in.NodeId))
	if errno != 0 {
		return fuse.Status(errno)
	}
	out.SetTimeout(mount.Forever)
	out.Statx = fuse.Statx{
		Mask: statxMask, Blksize: 4096, Nlink: a.Nlink, Uid: a.UID, Gid: a.GID, Mode: uint16(a.Mode),
		Ino: uint64(a.Ino), Size: a.Size, Blocks: a.Blocks,
		// The kernel's 32-bit encoding: 12 bits of major amid 20 of minor.
		RdevMajor: a.Rdev >> 8 & 0xfff, RdevMinor: a.Rdev&0xff | a.Rdev>>12&^0xff,
	}
	setTime(a.Atime, &out.Atime.Sec, &out.Atime.Nsec)
	setTime(a.Btime, &out.Btime.Sec, &out.Btime.Nsec)
	setTime(a.Ctime, &out.Ctime.Sec, &out.Ctime.Nsec)
	setTime(a.Mtime, &out.Mtime.Sec, &out.Mtime.Nsec)
	return fuse.OK
}

func nanoseconds(sec uint64, nsec uint32) int64 {
	return time.Unix(int64(sec), int64(nsec)).UnixNano()
}

func (r *rawFS) SetAttr(cancel <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	c := r.begin(mount.OpSetattr, &in.InHeader, cancel)
	defer c.End()
	set := vfs.SetAttr{
		Mask: mount.SetMask(in.Valid), Mode: in.Mode & vfs.ModePerm, UID: in.Uid, GID: in.Gid, Size: in.Size,
		Atime: nanoseconds(in.Atime, in.Atimensec), Mtime: nanoseconds(in.Mtime, in.Mtimensec),
		Ctime: nanoseconds(in.Ctime, in.Ctimensec),
	}
	fh, _ := in.GetFh()
	a, errno := r.s.Setattr(c, ino(in.NodeId), &set, fh)
	if errno == 0 {
		setAttrOut(&a, out)
	}
	return fuse.Status(errno)
}

func (r *rawFS) Access(cancel <-chan struct{}, in *fuse.AccessIn) fuse.Status {
	c := r.begin(mount.OpAccess, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(r.s.Access(c, ino(in.NodeId), in.Mask))
}

func (r *rawFS) Readlink(cancel <-chan struct{}, h *fuse.InHeader) ([]byte, fuse.Status) {
	c := r.begin(mount.OpReadlink, h, cancel)
	defer c.End()
	target, errno := r.s.Readlink(c, ino(h.NodeId))
	return []byte(target), fuse.Status(errno)
}

func (r *rawFS) Symlink(cancel <-chan struct{}, h *fuse.InHeader, target, name string, out *fuse.EntryOut) fuse.Status {
	c := r.begin(mount.OpSymlink, h, cancel)
	defer c.End()
	var e mount.Entry
	return entry(&e, r.s.Symlink(c, ino(h.NodeId), name, target, &e), out)
}

func (r *rawFS) Mknod(cancel <-chan struct{}, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	c := r.begin(mount.OpMknod, &in.InHeader, cancel)
	defer c.End()
	var e mount.Entry
	return entry(&e, r.s.Mknod(c, ino(in.NodeId), name, in.Mode, in.Rdev, in.Umask, &e), out)
}

func (r *rawFS) Mkdir(cancel <-chan struct{}, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	c := r.begin(mount.OpMkdir, &in.InHeader, cancel)
	defer c.End()
	var e mount.Entry
	return entry(&e, r.s.Mkdir(c, ino(in.NodeId), name, in.Mode, in.Umask, &e), out)
}

func (r *rawFS) Unlink(cancel <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	c := r.begin(mount.OpUnlink, h, cancel)
	defer c.End()
	return fuse.Status(r.s.Unlink(c, ino(h.NodeId), name))
}

func (r *rawFS) Rmdir(cancel <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	c := r.begin(mount.OpRmdir, h, cancel)
	defer c.End()
	return fuse.Status(r.s.Rmdir(c, ino(h.NodeId), name))
}

func (r *rawFS) Rename(cancel <-chan struct{}, in *fuse.RenameIn, name, newName string) fuse.Status {
	c := r.begin(mount.OpRename, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(r.s.Rename(c, ino(in.NodeId), name, ino(in.Newdir), newName, in.Flags))
}

func (r *rawFS) Link(cancel <-chan struct{}, in *fuse.LinkIn, name string, out *fuse.EntryOut) fuse.Status {
	c := r.begin(mount.OpLink, &in.InHeader, cancel)
	defer c.End()
	var e mount.Entry
	return entry(&e, r.s.Link(c, ino(in.Oldnodeid), ino(in.NodeId), name, &e), out)
}

// give copies an attribute to the kernel's buffer. ERANGE tells the library
// that the number is a size that there was no room for, or no wish to fill.
func give(value []byte, errno syscall.Errno, dest []byte) (uint32, fuse.Status) {
	if errno == 0 && len(dest) == 0 && len(value) > 0 {
		errno = syscall.ERANGE
	}
	if errno == 0 {
		copy(dest, value)
	}
	return uint32(len(value)), fuse.Status(errno)
}

func (r *rawFS) GetXAttr(cancel <-chan struct{}, h *fuse.InHeader, name string, dest []byte) (uint32, fuse.Status) {
	c := r.begin(mount.OpGetxattr, h, cancel)
	defer c.End()
	value, errno := r.s.Getxattr(c, ino(h.NodeId), name, uint32(len(dest)))
	return give(value, errno, dest)
}

func (r *rawFS) ListXAttr(cancel <-chan struct{}, h *fuse.InHeader, dest []byte) (uint32, fuse.Status) {
	c := r.begin(mount.OpListxattr, h, cancel)
	defer c.End()
	names, errno := r.s.Listxattr(c, ino(h.NodeId), uint32(len(dest)))
	return give(names, errno, dest)
}

func (r *rawFS) SetXAttr(cancel <-chan struct{}, in *fuse.SetXAttrIn, name string, value []byte) fuse.Status {
	c := r.begin(mount.OpSetxattr, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(r.s.Setxattr(c, ino(in.NodeId), name, value, in.Flags))
}

func (r *rawFS) RemoveXAttr(cancel <-chan struct{}, h *fuse.InHeader, name string) fuse.Status {
	c := r.begin(mount.OpRemovexattr, h, cancel)
	defer c.End()
	return fuse.Status(r.s.Removexattr(c, ino(h.NodeId), name))
}

func (r *rawFS) StatFs(cancel <-chan struct{}, h *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	c := r.begin(mount.OpStatfs, h, cancel)
	defer c.End()
	st, errno := r.s.Statfs(c)
	*out = fuse.StatfsOut{
		Blocks: st.Blocks, Bfree: st.BlocksFree, Bavail: st.BlocksAvail, Files: st.Files, Ffree: st.FilesFree,
		Bsize: st.BlockSize, Frsize: st.BlockSize, NameLen: st.NameMax,
	}
	return fuse.Status(errno)
}
