package mount

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// FUSE has no request for opening a FIFO or a device, connecting to a socket or
// watching either, and without default_permissions the kernel checks nothing by
// itself: with a path to the inode anybody is in. What it does ask, with the
// caller's credentials, is where a name leads. So where others get in,
//
//   - names of special files are never cached: each use is a LOOKUP first;
//   - whom the permissions give no use of the file is led to a stand-in, a
//     second inode of the kernel's with the same attributes. All that goes by
//     name or attributes works on it as on the file, but nobody who may use
//     the file ever comes there: a FIFO without other end, a socket that
//     nobody listens on, a device of no driver;
//   - where the system call can be seen that waits for the answer (root's
//     daemon sees it in /proc), and it is a use, the answer is EACCES, as on
//     any file system. Security does not hang on that, only the errno does.
//
// Who may use a FIFO in one direction has the file itself, and can turn his
// descriptor into one of the other direction (open /proc/self/fd/N): refusing
// him would end a common use of FIFOs. Of devices, which Options.Dev makes
// count, nobody but the owner has the file unless he may read and write it.

// standIn is the bit of a node's number by which a stand-in differs from its
// inode.
const standIn vfs.Ino = 1 << 63

// NodeIno returns the inode that a request for a node is about. The kernel's
// node numbers are inode numbers, but for stand-ins.
func NodeIno(node uint64) vfs.Ino { return vfs.Ino(node) &^ standIn }

// Watching (inotify) is guarded the same way as far as it goes: the name of a
// regular file that not everyone may read is not cached, and whoever is seen
// about to watch what he may not read gets EACCES. There is no stand-in, which
// would have bytes of its own, and a directory's LOOKUP may be but a step of a
// path, so this keeps nobody out who goes about it by way of a descriptor.

// private reports whether a is a regular file that not everyone may read.
func (s *Server) private(a *vfs.Attr) bool {
	return s.others && a.IsRegular() && a.Mode&0o004 == 0
}

// named is the flag of an inode that is given with a lasting entry.
func named(a *vfs.Attr) uint64 {
	if a.IsRegular() {
		return flagNamed
	}
	return 0
}

// expireName takes back the entry that leads to a file which has become
// private, by which the kernel came to know it.
func (s *Server) expireName(ino vfs.Ino) {
	p := newPaths(s)
	dir := s.inodes.from(ino)
	if name, bound := p.in(dir)[ino]; bound {
		s.note(s.kernel.expireEntry(dir, name))
	}
}

// refuseWatch reports whether the caller is about to watch a file that he may
// not read.
func (s *Server) refuseWatch(c *Call, a *vfs.Attr) bool {
	return c.UID != a.UID && s.fs.Access(&c.Op, a.Ino, vfs.MayRead) != nil && aboutToWatch(c.PID)
}

// isSpecial reports whether mode is of a FIFO, a socket or a device.
func isSpecial(mode uint32) bool {
	switch mode & vfs.ModeTypeMask {
	case vfs.ModeFIFO, vfs.ModeSocket, vfs.ModeChar, vfs.ModeBlock:
		return true
	}
	return false
}

// guarded reports whether every use of an inode must be preceded by a LOOKUP.
func (s *Server) guarded(mode uint32) bool { return s.others && isSpecial(mode) }

// admit decides what a LOOKUP of a guarded inode leads to: the inode, or its
// stand-in. EACCES when the caller is about to use what he may not.
func (s *Server) admit(c *Call, a *vfs.Attr) (node vfs.Ino, e syscall.Errno) {
	const both = vfs.MayRead | vfs.MayWrite
	var may uint32
	for _, mask := range []uint32{vfs.MayRead, vfs.MayWrite} {
		if s.fs.Access(&c.Op, a.Ino, mask) == nil {
			may |= mask
		}
	}
	if may == both {
		return a.Ino, 0
	}
	if want, use := useOf(c.PID); use && (want&^may != 0 || may == 0) {
		return 0, syscall.EACCES
	}
	if usable(a, may, c.UID) {
		return a.Ino, 0
	}
	return a.Ino | standIn, 0
}

// usable reports whether one of less than all rights has the inode itself.
func usable(a *vfs.Attr, may, uid uint32) bool {
	switch a.Mode & vfs.ModeTypeMask {
	case vfs.ModeFIFO:
		return may != 0
	case vfs.ModeSocket:
		return may&vfs.MayWrite != 0 // connecting takes nothing else
	}
	return may != 0 && uid == a.UID
}

// lead makes an entry lead to node instead of its inode.
func (e *Entry) lead(node vfs.Ino) {
	e.Node = node
	if node&standIn != 0 {
		e.Attr.Rdev = 0
	}
}

// nodes calls f for each node by which the kernel may know ino.
func (s *Server) nodes(ino vfs.Ino, f func(node vfs.Ino)) {
	f(ino)
	if s.standIns.Load() {
		f(ino | standIn)
	}
}
