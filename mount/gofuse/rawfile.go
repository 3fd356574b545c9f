//go:build linux

package gofuse

import (
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"github.com/vfsd/vfsd/mount"
)

// fsyncDataOnly is the bit of FSYNC that stands for fdatasync.
const fsyncDataOnly = 1

func (r *rawFS) Create(cancel <-chan struct{}, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	c := r.begin(mount.OpCreate, &in.InHeader, cancel)
	defer c.End()
	var e mount.Entry
	var o mount.Opened
	errno := r.s.Create(c, ino(in.NodeId), name, in.Mode, in.Umask, int(in.Flags), &e, &o)
	return created(&e, &o, errno, out)
}

func (r *rawFS) Tmpfile(cancel <-chan struct{}, in *fuse.CreateIn, out *fuse.CreateOut) fuse.Status {
	c := r.begin(mount.OpTmpfile, &in.InHeader, cancel)
	defer c.End()
	var e mount.Entry
	var o mount.Opened
	errno := r.s.Tmpfile(c, ino(in.NodeId), in.Mode, in.Umask, int(in.Flags), &e, &o)
	return created(&e, &o, errno, out)
}

func created(e *mount.Entry, o *mount.Opened, errno syscall.Errno, out *fuse.CreateOut) fuse.Status {
	if errno == 0 {
		setEntry(e, &out.EntryOut)
		setOpened(o, &out.OpenOut)
	}
	return fuse.Status(errno)
}

func (r *rawFS) Open(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	c := r.begin(mount.OpOpen, &in.InHeader, cancel)
	defer c.End()
	var o mount.Opened
	errno := r.s.Open(c, ino(in.NodeId), int(in.Flags), &o)
	if errno == 0 {
		setOpened(&o, out)
	}
	return fuse.Status(errno)
}

func (r *rawFS) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	c := r.begin(mount.OpRead, &in.InHeader, cancel)
	defer c.End()
	n, errno := r.s.Read(c, in.Fh, buf, int64(in.Offset))
	return inPlace(n), fuse.Status(errno)
}

// inPlace is the result of a READ that is where the reply needs it already.
// Read gets the reply's own buffer, in one piece as loop has it.
type inPlace int

// Size implements fuse.ReadResult.
func (n inPlace) Size() int { return int(n) }

// Done implements fuse.ReadResult.
func (n inPlace) Done() {}

// Bytes implements fuse.ReadResult.
func (n inPlace) Bytes(buf []byte) ([]byte, fuse.Status) { return buf[:n], fuse.OK }

// Readv is what the library calls to have the data put into dst.
func (n inPlace) Readv(dst [][]byte) (int, fuse.Status) { return int(n), fuse.OK }

func (r *rawFS) Write(cancel <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	c := r.begin(mount.OpWrite, &in.InHeader, cancel)
	defer c.End()
	n, errno := r.s.Write(c, in.Fh, data, int64(in.Offset), int(in.Flags), in.WriteFlags&fuse.WRITE_CACHE != 0)
	return uint32(n), fuse.Status(errno)
}

func (r *rawFS) Flush(cancel <-chan struct{}, in *fuse.FlushIn) fuse.Status {
	c := r.begin(mount.OpFlush, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(r.s.Flush(c, in.Fh))
}

func (r *rawFS) Fsync(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	c := r.begin(mount.OpFsync, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(r.s.Fsync(c, in.Fh, in.FsyncFlags&fsyncDataOnly != 0))
}

func (r *rawFS) Release(cancel <-chan struct{}, in *fuse.ReleaseIn) {
	c := r.begin(mount.OpRelease, &in.InHeader, nil)
	defer c.End()
	r.s.Release(c, in.Fh)
}

func (r *rawFS) Lseek(cancel <-chan struct{}, in *fuse.LseekIn, out *fuse.LseekOut) fuse.Status {
	c := r.begin(mount.OpLseek, &in.InHeader, cancel)
	defer c.End()
	at, errno := r.s.Seek(c, in.Fh, int64(in.Offset), int(in.Whence))
	out.Offset = uint64(at)
	return fuse.Status(errno)
}

func (r *rawFS) Fallocate(cancel <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	c := r.begin(mount.OpFallocate, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(r.s.Fallocate(c, in.Fh, in.Mode, int64(in.Offset), int64(in.Length)))
}

func (r *rawFS) CopyFileRange(cancel <-chan struct{}, in *fuse.CopyFileRangeIn) (uint32, fuse.Status) {
	c := r.begin(mount.OpCopyRange, &in.InHeader, cancel)
	defer c.End()
	n, errno := r.s.CopyRange(c, in.FhIn, int64(in.OffIn), in.FhOut, int64(in.OffOut), in.Len, in.Flags)
	return n, fuse.Status(errno)
}

// Ioctl knows no command.
func (r *rawFS) Ioctl(cancel <-chan struct{}, in *fuse.IoctlIn, _ []byte, _ *fuse.IoctlOut, _ []byte) fuse.Status {
	c := r.begin(mount.OpIoctl, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(syscall.ENOTTY)
}

func (r *rawFS) OpenDir(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	c := r.begin(mount.OpOpendir, &in.InHeader, cancel)
	defer c.End()
	var o mount.Opened
	errno := r.s.OpenDir(c, ino(in.NodeId), &o)
	if errno == 0 {
		setOpened(&o, out)
		out.OpenFlags |= fuse.FOPEN_CACHE_DIR
	}
	return fuse.Status(errno)
}

func dirEntry(d *mount.DirEntry) fuse.DirEntry {
	return fuse.DirEntry{Name: d.Name, Ino: uint64(d.Ino), Mode: d.Mode, Off: d.Pos}
}

func (r *rawFS) ReadDir(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	c := r.begin(mount.OpReaddir, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(r.s.ReadDir(c, in.Fh, in.Offset, int(in.Size), false, func(d *mount.DirEntry) {
		out.AddDirEntry(dirEntry(d))
	}))
}

func (r *rawFS) ReadDirPlus(cancel <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	c := r.begin(mount.OpReaddirplus, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(r.s.ReadDir(c, in.Fh, in.Offset, int(in.Size), true, func(d *mount.DirEntry) {
		if e := out.AddDirLookupEntry(dirEntry(d)); e != nil && d.Entry != nil {
			setEntry(d.Entry, e)
		}
	}))
}

func (r *rawFS) FsyncDir(cancel <-chan struct{}, in *fuse.FsyncIn) fuse.Status {
	c := r.begin(mount.OpFsyncdir, &in.InHeader, cancel)
	defer c.End()
	return fuse.Status(r.s.FsyncDir(c, in.Fh, in.FsyncFlags&fsyncDataOnly != 0))
}

func (r *rawFS) ReleaseDir(in *fuse.ReleaseIn) {
	c := r.begin(mount.OpReleasedir, &in.InHeader, nil)
	defer c.End()
	r.s.ReleaseDir(c, in.Fh)
}
