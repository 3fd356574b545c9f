package mount

import (
	"errors"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// Getattr answers GETATTR and STATX. The attributes are valid Forever.
func (s *Server) Getattr(c *Call, ino vfs.Ino) (vfs.Attr, syscall.Errno) {
	a, err := s.fs.Getattr(&c.Op, ino)
	return a, c.errno(OpGetattr, ino, err)
}

// setattrFields pairs the bits of SETATTR on the wire with those of a SetAttr.
var setattrFields = []struct {
	valid uint32
	mask  vfs.SetMask
}{
	{1 << 0, vfs.SetMode}, {1 << 1, vfs.SetUID}, {1 << 2, vfs.SetGID}, {1 << 3, vfs.SetSize},
	{1 << 4, vfs.SetAtime}, {1 << 5, vfs.SetMtime}, {1 << 7, vfs.SetAtimeNow}, {1 << 8, vfs.SetMtimeNow},
	{1 << 10, vfs.SetCtime}, {1 << 11, vfs.SetKillPriv},
}

// SetMask translates the valid bits of a SETATTR. Where a time is "now" the
// kernel sets the bits of both.
func SetMask(valid uint32) (mask vfs.SetMask) {
	for _, f := range setattrFields {
		if valid&f.valid != 0 {
			mask |= f.mask
		}
	}
	if mask&vfs.SetAtimeNow != 0 {
		mask &^= vfs.SetAtime
	}
	if mask&vfs.SetMtimeNow != 0 {
		mask &^= vfs.SetMtime
	}
	return mask
}

// Setattr answers SETATTR. fh is the open file of an ftruncate; 0 is none. The
// attributes are valid Forever.
func (s *Server) Setattr(c *Call, ino vfs.Ino, set *vfs.SetAttr, fh uint64) (vfs.Attr, syscall.Errno) {
	if e := s.mayWrite(); e != 0 {
		return vfs.Attr{}, e
	}
	if set.Mask&vfs.SetSize != 0 && fh != 0 {
		f, ok := s.files.get(fh)
		if !ok {
			return vfs.Attr{}, syscall.EBADF
		}
		set.Handle = f.h
	}
	s.setattrs.add(ino)
	defer s.setattrs.add(ino)
	if pid := s.touches.pid.Load(); pid != 0 && c.PID == pid {
		return s.Getattr(c, ino) // nothing but a touch
	}
	a, err := s.fs.Setattr(&c.Op, ino, set)
	if err == nil && set.Mask&(vfs.SetMode|vfs.SetUID|vfs.SetGID) != 0 {
		s.attrsSet(c, &a)
	}
	return a, c.errno(OpSetattr, ino, err)
}

// attrsSet revokes what new rights do not allow any more.
func (s *Server) attrsSet(c *Call, a *vfs.Attr) {
	switch {
	case a.IsDir():
		s.rightsChanged(&c.Op, a.Ino)
	case s.private(a) && s.inodes.setFlags(a.Ino, 0, flagNamed)&flagNamed != 0:
		s.background.run(func() { s.expireName(a.Ino) })
	}
}

// Access answers ACCESS, which the kernel sends for access(2) and chdir(2).
func (s *Server) Access(c *Call, ino vfs.Ino, mask uint32) syscall.Errno {
	if mask&vfs.MayWrite != 0 {
		if e := s.mayWrite(); e != 0 {
			return e
		}
	}
	return c.errno(OpAccess, ino, s.fs.Access(&c.Op, ino, mask))
}

// Statfs answers STATFS.
func (s *Server) Statfs(c *Call) (vfs.Statfs, syscall.Errno) {
	st, err := s.fs.Statfs(&c.Op)
	return st, c.errno(OpStatfs, vfs.RootIno, err)
}

// sized is the rule of GETXATTR and LISTXATTR: a request for size 0 asks how
// much there is, another one must have room for it.
func sized(have int, size uint32) syscall.Errno {
	if size > 0 && have > int(size) {
		return syscall.ERANGE
	}
	return 0
}

// Getxattr answers GETXATTR for a caller with room for size bytes. The value
// is whole also when size is 0; with ERANGE it is there too.
func (s *Server) Getxattr(c *Call, ino vfs.Ino, name string, size uint32) ([]byte, syscall.Errno) {
	v, err := s.fs.Getxattr(&c.Op, ino, name)
	if err != nil {
		return nil, c.errno(OpGetxattr, ino, err)
	}
	return v, sized(len(v), size)
}

// Listxattr answers LISTXATTR: the names, each ended by a NUL. As Getxattr.
func (s *Server) Listxattr(c *Call, ino vfs.Ino, size uint32) ([]byte, syscall.Errno) {
	names, err := s.fs.Listxattr(&c.Op, ino)
	if err != nil {
		return nil, c.errno(OpListxattr, ino, err)
	}
	var b []byte
	for _, name := range names {
		b = append(append(b, name...), 0)
	}
	return b, sized(len(b), size)
}

// Setxattr answers SETXATTR. value is not kept.
func (s *Server) Setxattr(c *Call, ino vfs.Ino, name string, value []byte, flags uint32) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	err := s.fs.Setxattr(&c.Op, ino, name, value, flags)
	if err == nil {
		s.aclChanged(c, ino, name)
	}
	return c.errno(OpSetxattr, ino, err)
}

// Removexattr answers REMOVEXATTR.
func (s *Server) Removexattr(c *Call, ino vfs.Ino, name string) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	err := s.fs.Removexattr(&c.Op, ino, name)
	if err == nil {
		s.aclChanged(c, ino, name)
	}
	return c.errno(OpRemovexattr, ino, err)
}

// aclChanged sees to what the kernel does not know of: an ACL sets the mode,
// and decides who may search.
func (s *Server) aclChanged(c *Call, ino vfs.Ino, name string) {
	if name != vfs.XattrACLAccess {
		return
	}
	// Attributes alone: that takes no lock which the kernel holds meanwhile.
	s.nodes(ino, func(node vfs.Ino) { s.note(s.kernel.invalInode(node, noPages.off, 0)) })
	s.rightsChanged(&c.Op, ino)
}

// isNoEntry reports whether err says that a name or an inode is not there.
func isNoEntry(err error) bool { return errors.Is(err, syscall.ENOENT) }
