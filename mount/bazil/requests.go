//go:build linux

package bazil

import (
	"sync"
	"syscall"

	"bazil.org/fuse"
	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
)

// reply answers with an error, or runs ok.
func reply(req fuse.Request, errno syscall.Errno, ok func()) {
	if errno != 0 {
		req.RespondError(errno)
		return
	}
	ok()
}

func inoOf(node fuse.NodeID) vfs.Ino { return mount.NodeIno(uint64(node)) }

// dispatch answers one request of any kind but an interrupt.
func (l *loop) dispatch(req fuse.Request, cancel <-chan struct{}) {
	h := req.Hdr()
	begin := func(op mount.Opcode) *mount.Call { return l.s.Begin(op, h.Uid, h.Gid, h.Pid, cancel) }
	node := inoOf(h.Node)
	switch r := req.(type) {
	case *fuse.LookupRequest:
		l.entry(r, begin(mount.OpLookup), r.Respond, func(c *mount.Call, e *mount.Entry) syscall.Errno {
			return l.s.Lookup(c, node, r.Name, e)
		})
	case *fuse.ForgetRequest:
		l.s.Forget(node, r.N)
		r.Respond()
	case *fuse.BatchForgetRequest:
		for _, f := range r.Forget {
			l.s.Forget(inoOf(f.NodeID), f.N)
		}
		r.Respond()
	case *fuse.SymlinkRequest:
		l.entry(r, begin(mount.OpSymlink), func(e *fuse.LookupResponse) { r.Respond(&fuse.SymlinkResponse{LookupResponse: *e}) },
			func(c *mount.Call, e *mount.Entry) syscall.Errno { return l.s.Symlink(c, node, r.NewName, r.Target, e) })
	case *fuse.MknodRequest:
		l.entry(r, begin(mount.OpMknod), r.Respond, func(c *mount.Call, e *mount.Entry) syscall.Errno {
			return l.s.Mknod(c, node, r.Name, fromFileMode(r.Mode), r.Rdev, 0, e)
		})
	case *fuse.MkdirRequest:
		l.entry(r, begin(mount.OpMkdir), func(e *fuse.LookupResponse) { r.Respond(&fuse.MkdirResponse{LookupResponse: *e}) },
			func(c *mount.Call, e *mount.Entry) syscall.Errno {
				return l.s.Mkdir(c, node, r.Name, fromFileMode(r.Mode)&vfs.ModePerm, 0, e)
			})
	case *fuse.LinkRequest:
		l.entry(r, begin(mount.OpLink), r.Respond, func(c *mount.Call, e *mount.Entry) syscall.Errno {
			return l.s.Link(c, inoOf(r.OldNode), node, r.NewName, e)
		})
	case *fuse.CreateRequest:
		l.create(r, begin(mount.OpCreate))
	case *fuse.ReadRequest:
		l.readRequest(r, begin)
	default:
		l.plain(req, begin)
	}
}

// entry answers a request that gives an inode.
func (l *loop) entry(req fuse.Request, c *mount.Call, respond func(*fuse.LookupResponse), do func(*mount.Call, *mount.Entry) syscall.Errno) {
	defer c.End()
	var e mount.Entry
	reply(req, do(c, &e), func() {
		out := toEntry(&e)
		respond(&out)
	})
}

func (l *loop) create(r *fuse.CreateRequest, c *mount.Call) {
	defer c.End()
	var e mount.Entry
	var o mount.Opened
	mode := fromFileMode(r.Mode) & vfs.ModePerm
	errno := l.s.Create(c, inoOf(r.Node), r.Name, mode, 0, int(r.Flags), &e, &o)
	reply(r, errno, func() {
		r.Respond(&fuse.CreateResponse{LookupResponse: toEntry(&e), OpenResponse: toOpened(&o)})
	})
}

// readBuffers are as large as the largest READ.
var readBuffers = sync.Pool{New: func() any { return new([maxRequest]byte) }}

func (l *loop) readRequest(r *fuse.ReadRequest, begin func(mount.Opcode) *mount.Call) {
	buf := readBuffers.Get().(*[maxRequest]byte)
	defer readBuffers.Put(buf)
	room := buf[:min(r.Size, maxRequest)]
	if r.Dir {
		c := begin(mount.OpReaddir)
		defer c.End()
		list := dirents(room[:0])
		errno := l.s.ReadDir(c, uint64(r.Handle), uint64(r.Offset), len(room), false, list.add)
		reply(r, errno, func() { r.Respond(&fuse.ReadResponse{Data: list}) })
		return
	}
	c := begin(mount.OpRead)
	defer c.End()
	n, errno := l.s.Read(c, uint64(r.Handle), room, r.Offset)
	reply(r, errno, func() { r.Respond(&fuse.ReadResponse{Data: room[:n]}) })
}

// plain answers the requests that give no inode and no bytes of a file.
func (l *loop) plain(req fuse.Request, begin func(mount.Opcode) *mount.Call) {
	node := inoOf(req.Hdr().Node)
	run := func(op mount.Opcode, respond func(), do func(*mount.Call) syscall.Errno) {
		c := begin(op)
		defer c.End()
		reply(req, do(c), respond)
	}
	switch r := req.(type) {
	case *fuse.RemoveRequest:
		op, remove := mount.OpUnlink, l.s.Unlink
		if r.Dir {
			op, remove = mount.OpRmdir, l.s.Rmdir
		}
		run(op, r.Respond, func(c *mount.Call) syscall.Errno { return remove(c, node, r.Name) })
	case *fuse.RenameRequest:
		run(mount.OpRename, r.Respond, func(c *mount.Call) syscall.Errno {
			return l.s.Rename(c, node, r.OldName, inoOf(r.NewDir), r.NewName, 0)
		})
	case *fuse.AccessRequest:
		run(mount.OpAccess, r.Respond, func(c *mount.Call) syscall.Errno { return l.s.Access(c, node, r.Mask) })
	case *fuse.WriteRequest:
		resp := &fuse.WriteResponse{}
		run(mount.OpWrite, func() { r.Respond(resp) }, func(c *mount.Call) (errno syscall.Errno) {
			resp.Size, errno = l.s.Write(c, uint64(r.Handle), r.Data, r.Offset, int(r.FileFlags), r.Flags&fuse.WriteCache != 0)
			return errno
		})
	case *fuse.FlushRequest:
		run(mount.OpFlush, r.Respond, func(c *mount.Call) syscall.Errno { return l.s.Flush(c, uint64(r.Handle)) })
	case *fuse.FsyncRequest:
		op, fsync := mount.OpFsync, l.s.Fsync
		if r.Dir {
			op, fsync = mount.OpFsyncdir, l.s.FsyncDir
		}
		run(op, r.Respond, func(c *mount.Call) syscall.Errno { return fsync(c, uint64(r.Handle), r.Flags&1 != 0) })
	case *fuse.FAllocateRequest:
		run(mount.OpFallocate, r.Respond, func(c *mount.Call) syscall.Errno {
			return l.s.Fallocate(c, uint64(r.Handle), uint32(r.Mode), int64(r.Offset), int64(r.Length))
		})
	case *fuse.OpenRequest:
		l.open(r, begin)
	case *fuse.ReleaseRequest:
		op, release := mount.OpRelease, l.s.Release
		if r.Dir {
			op, release = mount.OpReleasedir, l.s.ReleaseDir
		}
		run(op, r.Respond, func(c *mount.Call) syscall.Errno { release(c, uint64(r.Handle)); return 0 })
	case *fuse.DestroyRequest:
		r.Respond()
	default:
		l.attributes(req, run)
	}
}

func (l *loop) open(r *fuse.OpenRequest, begin func(mount.Opcode) *mount.Call) {
	var o mount.Opened
	var errno syscall.Errno
	if r.Dir {
		c := begin(mount.OpOpendir)
		defer c.End()
		errno = l.s.OpenDir(c, inoOf(r.Node), &o)
	} else {
		c := begin(mount.OpOpen)
		defer c.End()
		errno = l.s.Open(c, inoOf(r.Node), int(r.Flags), &o)
	}
	reply(r, errno, func() {
		out := toOpened(&o)
		if r.Dir {
			out.Flags |= fuse.OpenCacheDir
		}
		r.Respond(&out)
	})
}

// attributes answers what reads and sets attributes of all sorts; the rest is
// ENOSYS, on which the kernel goes its own way.
func (l *loop) attributes(req fuse.Request, run func(mount.Opcode, func(), func(*mount.Call) syscall.Errno)) {
	node := inoOf(req.Hdr().Node)
	var a vfs.Attr
	switch r := req.(type) {
	case *fuse.GetattrRequest:
		run(mount.OpGetattr, func() { r.Respond(&fuse.GetattrResponse{Attr: toAttr(&a)}) }, func(c *mount.Call) (errno syscall.Errno) {
			a, errno = l.s.Getattr(c, node)
			return errno
		})
	case *fuse.SetattrRequest:
		run(mount.OpSetattr, func() { r.Respond(&fuse.SetattrResponse{Attr: toAttr(&a)}) }, func(c *mount.Call) (errno syscall.Errno) {
			a, errno = l.setattr(c, r)
			return errno
		})
	case *fuse.StatfsRequest:
		var st vfs.Statfs
		run(mount.OpStatfs, func() { respondStatfs(r, &st) }, func(c *mount.Call) (errno syscall.Errno) {
			st, errno = l.s.Statfs(c)
			return errno
		})
	case *fuse.ReadlinkRequest:
		var target string
		run(mount.OpReadlink, func() { r.Respond(target) }, func(c *mount.Call) (errno syscall.Errno) {
			target, errno = l.s.Readlink(c, node)
			return errno
		})
	case *fuse.GetxattrRequest:
		var value []byte
		run(mount.OpGetxattr, func() { r.Respond(&fuse.GetxattrResponse{Xattr: value}) }, func(c *mount.Call) (errno syscall.Errno) {
			value, errno = l.s.Getxattr(c, node, r.Name, r.Size)
			return errno
		})
	case *fuse.ListxattrRequest:
		var names []byte
		run(mount.OpListxattr, func() { r.Respond(&fuse.ListxattrResponse{Xattr: names}) }, func(c *mount.Call) (errno syscall.Errno) {
			names, errno = l.s.Listxattr(c, node, r.Size)
			return errno
		})
	case *fuse.SetxattrRequest:
		run(mount.OpSetxattr, r.Respond, func(c *mount.Call) syscall.Errno {
			return l.s.Setxattr(c, node, r.Name, r.Xattr, r.Flags)
		})
	case *fuse.RemovexattrRequest:
		run(mount.OpRemovexattr, r.Respond, func(c *mount.Call) syscall.Errno { return l.s.Removexattr(c, node, r.Name) })
	default:
		req.RespondError(syscall.ENOSYS)
	}
}

func (l *loop) setattr(c *mount.Call, r *fuse.SetattrRequest) (vfs.Attr, syscall.Errno) {
	set := vfs.SetAttr{
		Mask: mount.SetMask(uint32(r.Valid)), Mode: fromFileMode(r.Mode) & vfs.ModePerm, UID: r.Uid, GID: r.Gid,
		Size: r.Size, Atime: r.Atime.UnixNano(), Mtime: r.Mtime.UnixNano(), Ctime: r.Ctime.UnixNano(),
	}
	fh := uint64(0)
	if r.Valid.Handle() {
		fh = uint64(r.Handle)
	}
	return l.s.Setattr(c, inoOf(r.Node), &set, fh)
}

func respondStatfs(r *fuse.StatfsRequest, st *vfs.Statfs) {
	r.Respond(&fuse.StatfsResponse{
		Blocks: st.Blocks, Bfree: st.BlocksFree, Bavail: st.BlocksAvail, Files: st.Files, Ffree: st.FilesFree,
		Bsize: st.BlockSize, Frsize: st.BlockSize, Namelen: st.NameMax,
	})
}
