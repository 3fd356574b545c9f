package mount

import (
	"syscall"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// Entry is what a name leads to, as the kernel gets it. Node 0 says that the
// name is not there and that the kernel may remember so.
type Entry struct {
	// Node is the number by which the kernel is to ask for it; see NodeIno.
	Node       vfs.Ino
	Attr       vfs.Attr
	EntryValid time.Duration
	AttrValid  time.Duration
}

// give hands an inode to the kernel under a name in parent.
//
// A change by others that the FS had not yet when it gave a, and that was
// announced before the inode was introduced, has invalidated nothing, for the
// kernel did not hold the inode. So the attributes are asked for once more if
// there was any. Whatever changes after that finds the inode introduced.
func (s *Server) give(c *Call, parent vfs.Ino, a *vfs.Attr, out *Entry) {
	*out = Entry{Node: a.Ino, Attr: *a, AttrValid: Forever}
	var flags uint64
	switch {
	case s.guarded(a.Mode):
		out.AttrValid = 0 // a change may come by way of the stand-in
	case !s.private(a):
		out.EntryValid, flags = s.entryValid(c, parent), named(a)
	}
	s.inodes.introduce(a.Ino, parent, flags)
	if s.changes.Load() != c.changes {
		s.refresh(c, out)
	}
}

// refresh gets an entry's attributes anew. An inode that is gone keeps the old
// ones, which the kernel does not keep.
func (s *Server) refresh(c *Call, e *Entry) {
	if a, err := s.fs.Getattr(&c.Op, e.Attr.Ino); err == nil {
		e.Attr = a
	} else {
		e.AttrValid = 0
	}
}

// Lookup answers LOOKUP.
func (s *Server) Lookup(c *Call, parent vfs.Ino, name string, out *Entry) syscall.Errno {
	a, err := s.fs.Lookup(&c.Op, parent, name)
	if err == nil {
		node := a.Ino
		if s.private(&a) && s.refuseWatch(c, &a) {
			return syscall.EACCES
		}
		if s.guarded(a.Mode) {
			var e syscall.Errno
			if node, e = s.admit(c, &a); e != 0 {
				return e
			}
			if node != a.Ino {
				s.standIns.Store(true)
			}
		}
		s.give(c, parent, &a, out)
		out.lead(node)
		return 0
	}
	if isNoEntry(err) {
		if valid := s.negativeValid(c, parent); valid > 0 {
			*out = Entry{EntryValid: valid}
			return 0
		}
	}
	return c.errno(OpLookup, parent, err)
}

// Forget answers FORGET and each item of BATCH_FORGET.
func (s *Server) Forget(ino vfs.Ino, n uint64) {
	s.counts[OpForget].Add(1)
	s.inodes.forget(ino, n)
}

// made gives what an operation made, or says why it did not.
func (s *Server) made(c *Call, op Opcode, parent vfs.Ino, a vfs.Attr, err error, out *Entry) syscall.Errno {
	if err != nil {
		return c.errno(op, parent, err)
	}
	s.give(c, parent, &a, out)
	return 0
}

// Symlink answers SYMLINK.
func (s *Server) Symlink(c *Call, parent vfs.Ino, name, target string, out *Entry) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	a, err := s.fs.Symlink(&c.Op, parent, name, target)
	return s.made(c, OpSymlink, parent, a, err, out)
}

// Mknod answers MKNOD; mode has the type bits, umask is the caller's or 0 when
// the kernel has applied it.
func (s *Server) Mknod(c *Call, parent vfs.Ino, name string, mode, rdev, umask uint32, out *Entry) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	c.Umask = umask
	a, err := s.fs.Mknod(&c.Op, parent, name, mode, rdev)
	return s.made(c, OpMknod, parent, a, err, out)
}

// Mkdir answers MKDIR.
func (s *Server) Mkdir(c *Call, parent vfs.Ino, name string, mode, umask uint32, out *Entry) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	c.Umask = umask
	a, err := s.fs.Mkdir(&c.Op, parent, name, mode)
	return s.made(c, OpMkdir, parent, a, err, out)
}

// Link answers LINK.
func (s *Server) Link(c *Call, ino, newParent vfs.Ino, newName string, out *Entry) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	a, err := s.fs.Link(&c.Op, ino, newParent, newName)
	return s.made(c, OpLink, newParent, a, err, out)
}

// Unlink answers UNLINK.
func (s *Server) Unlink(c *Call, parent vfs.Ino, name string) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	return c.errno(OpUnlink, parent, s.fs.Unlink(&c.Op, parent, name))
}

// Rmdir answers RMDIR.
func (s *Server) Rmdir(c *Call, parent vfs.Ino, name string) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	return c.errno(OpRmdir, parent, s.fs.Rmdir(&c.Op, parent, name))
}

// Rename answers RENAME and RENAME2.
func (s *Server) Rename(c *Call, parent vfs.Ino, name string, newParent vfs.Ino, newName string, flags uint32) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	return c.errno(OpRename, parent, s.fs.Rename(&c.Op, parent, name, newParent, newName, flags))
}

// Readlink answers READLINK.
func (s *Server) Readlink(c *Call, ino vfs.Ino) (string, syscall.Errno) {
	target, err := s.fs.Readlink(&c.Op, ino)
	return target, c.errno(OpReadlink, ino, err)
}
