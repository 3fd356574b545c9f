package mount

import (
	"errors"
	"math"
	"sync"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// openFile is an open regular file.
type openFile struct {
	h      vfs.Handle
	append bool
	// at writes where it is told although h appends: pages of a mapping go
	// back through whatever handle can write. Opened when first needed.
	at struct {
		once sync.Once
		h    vfs.Handle
		err  error
	}
	// direct: the kernel bypasses its page cache, and so does not follow an
	// O_SYNC write with an fsync either.
	direct bool
	// exec: the kernel opened it to execute it, and releases it when nobody
	// runs it any more.
	exec bool
}

// Opened is the reply to an open.
type Opened struct {
	FH uint64
	// KeepCache: what the kernel has cached of the file (or, of a directory,
	// will cache) is still right.
	KeepCache bool
	// DirectIO: reads and writes bypass the kernel's page cache.
	DirectIO bool
}

const (
	// flagExec is how Linux marks an open for execve(2) in a FUSE OPEN.
	flagExec = 0x20
	// flagNoAtime is Linux's O_NOATIME, which package syscall has there alone.
	flagNoAtime = 0x40000
	// openFlags are the flags of open(2) that mean something to an FS.
	openFlags = syscall.O_ACCMODE | syscall.O_APPEND | syscall.O_TRUNC | syscall.O_EXCL | syscall.O_SYNC | flagNoAtime
)

func (s *Server) opened(h vfs.Handle, flags int, direct bool, out *Opened) {
	f := &openFile{h: h, append: flags&syscall.O_APPEND != 0, direct: direct, exec: flags&flagExec != 0}
	if f.exec {
		s.running.add(h.Ino())
	}
	*out = Opened{FH: s.files.add(f), KeepCache: true, DirectIO: direct}
}

// writeOnly reports whether a file is opened to write alone. Nobody can map or
// read by such a handle, so its bytes need not pass through the page cache:
// that spares the kernel a question for security.capability and a copy. What is
// cached of the file it writes back and drops first. In exchange the next read
// asks the daemon: measured, a small file written and read again costs the same,
// and 64 MiB are overwritten in 32 ms instead of 56.
func writeOnly(flags int) bool { return flags&syscall.O_ACCMODE == syscall.O_WRONLY }

// Open answers OPEN of a regular file.
func (s *Server) Open(c *Call, ino vfs.Ino, flags int, out *Opened) syscall.Errno {
	if s.readOnly && (flags&syscall.O_ACCMODE != syscall.O_RDONLY || flags&syscall.O_TRUNC != 0) {
		return syscall.EROFS
	}
	h, err := s.open(c, ino, flags)
	if err != nil {
		return c.errno(OpOpen, ino, err)
	}
	s.opened(h, flags, writeOnly(flags), out)
	return 0
}

func (s *Server) open(c *Call, ino vfs.Ino, flags int) (h vfs.Handle, err error) {
	if flags&flagExec == 0 {
		if err := s.checkTruncation(c, ino, flags); err != nil {
			return nil, err
		}
		return s.fs.Open(&c.Op, ino, flags&openFlags)
	}
	// Executing takes the execute bit and nothing else: the kernel reads the
	// file, not the caller.
	if err := s.fs.Access(&c.Op, ino, vfs.MayExec); err != nil {
		return nil, err
	}
	c.asRoot(func() { h, err = s.fs.Open(&c.Op, ino, syscall.O_RDONLY) })
	return h, err
}

// checkTruncation refuses to empty a program that runs. The kernel does so
// itself before it sends an OPEN for writing, but not before one for reading
// that truncates: then it finds out afterwards.
func (s *Server) checkTruncation(c *Call, ino vfs.Ino, flags int) error {
	if flags&(syscall.O_TRUNC|syscall.O_ACCMODE) != syscall.O_TRUNC|syscall.O_RDONLY || !s.running.has(ino) {
		return nil
	}
	if err := s.fs.Access(&c.Op, ino, vfs.MayRead|vfs.MayWrite); err != nil {
		return err
	}
	return syscall.ETXTBSY
}

// Create answers CREATE: it makes and opens a file, or opens the one that
// somebody else just made.
func (s *Server) Create(c *Call, parent vfs.Ino, name string, mode, umask uint32, flags int, out *Entry, o *Opened) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	c.Umask = umask
	a, h, err := s.fs.Create(&c.Op, parent, name, mode, flags&openFlags)
	if errors.Is(err, syscall.EEXIST) && flags&syscall.O_EXCL == 0 {
		a, h, err = s.openExisting(c, parent, name, flags)
	}
	if err != nil {
		return c.errno(OpCreate, parent, err)
	}
	s.give(c, parent, &a, out)
	s.opened(h, flags, writeOnly(flags), o)
	return 0
}

// openExisting opens what took the name between the kernel's lookup and its
// CREATE. ESTALE makes the kernel look again.
func (s *Server) openExisting(c *Call, parent vfs.Ino, name string, flags int) (vfs.Attr, vfs.Handle, error) {
	a, err := s.fs.Lookup(&c.Op, parent, name)
	if isNoEntry(err) || err == nil && !a.IsRegular() {
		return a, nil, syscall.ESTALE
	}
	if err != nil {
		return a, nil, err
	}
	h, err := s.open(c, a.Ino, flags&^(syscall.O_EXCL|flagExec))
	if err == nil && flags&syscall.O_TRUNC != 0 {
		a, err = s.fs.Getattr(&c.Op, a.Ino)
	}
	return a, h, err
}

// Tmpfile answers TMPFILE.
func (s *Server) Tmpfile(c *Call, parent vfs.Ino, mode, umask uint32, flags int, out *Entry, o *Opened) syscall.Errno {
	if e := s.mayWrite(); e != 0 {
		return e
	}
	c.Umask = umask
	a, h, err := s.fs.Tmpfile(&c.Op, parent, mode, flags&openFlags)
	if err != nil {
		return c.errno(OpTmpfile, parent, err)
	}
	s.inodes.introduce(a.Ino, 0, 0)
	*out = Entry{Node: a.Ino, Attr: a, AttrValid: Forever}
	s.opened(h, flags, false, o)
	return 0
}

// Read answers READ into p; short only at the end of the file.
func (s *Server) Read(c *Call, fh uint64, p []byte, off int64) (int, syscall.Errno) {
	f, ok := s.files.get(fh)
	if !ok {
		return 0, syscall.EBADF
	}
	n, err := f.h.Read(&c.Op, p, off)
	if err != nil {
		return 0, c.errno(OpRead, f.h.Ino(), err)
	}
	return n, 0
}

// Write answers WRITE. flags are the file's as of now, fromCache tells pages of
// a mapping from a call of write(2); p is not kept.
func (s *Server) Write(c *Call, fh uint64, p []byte, off int64, flags int, fromCache bool) (int, syscall.Errno) {
	f, ok := s.files.get(fh)
	if !ok {
		return 0, syscall.EBADF
	}
	if f.append && fromCache {
		return s.writeAt(c, f, p, off)
	}
	n, err := f.h.Write(&c.Op, p, off)
	if err == nil && f.direct && flags&(syscall.O_SYNC|syscall.O_DSYNC) != 0 {
		err = f.h.Fsync(&c.Op, flags&syscall.O_SYNC != syscall.O_SYNC)
	}
	if err != nil {
		return 0, c.errno(OpWrite, f.h.Ino(), err)
	}
	if f.append && !f.direct {
		s.checkAppend(c, f.h.Ino(), off, n)
	}
	return n, 0
}

// writeAt writes at off through a file that was opened for appending.
func (s *Server) writeAt(c *Call, f *openFile, p []byte, off int64) (n int, e syscall.Errno) {
	f.at.once.Do(func() {
		c.asRoot(func() { f.at.h, f.at.err = s.fs.Open(&c.Op, f.h.Ino(), syscall.O_WRONLY) })
	})
	err := f.at.err
	if err == nil {
		n, err = f.at.h.Write(&c.Op, p, off)
	}
	return n, c.errno(OpWrite, f.h.Ino(), err)
}

func (f *openFile) release(op *vfs.Op) {
	f.at.once.Do(func() {})
	if f.at.h != nil {
		f.at.h.Release(op)
	}
	f.h.Release(op)
}

// checkAppend sees to an append that landed elsewhere than the kernel thought,
// because the file has just grown by another way in: the kernel's pages from
// off on hold bytes that are not there. It cannot drop them before the reply,
// which holds their locks.
func (s *Server) checkAppend(c *Call, ino vfs.Ino, off int64, n int) {
	a, err := s.fs.Getattr(&c.Op, ino)
	if err == nil && a.Size == uint64(off)+uint64(n) {
		return
	}
	s.background.run(func() { s.note(s.kernel.invalInode(ino, off, 0)) })
}

// Flush answers FLUSH, which the kernel sends for each close(2); ENOSYS tells
// it not to.
func (s *Server) Flush(c *Call, fh uint64) syscall.Errno {
	if s.noFlush {
		return syscall.ENOSYS
	}
	f, ok := s.files.get(fh)
	if !ok {
		return syscall.EBADF
	}
	return c.errno(OpFlush, f.h.Ino(), f.h.Flush(&c.Op))
}

// Fsync answers FSYNC.
func (s *Server) Fsync(c *Call, fh uint64, dataOnly bool) syscall.Errno {
	f, ok := s.files.get(fh)
	if !ok {
		return syscall.EBADF
	}
	return c.errno(OpFsync, f.h.Ino(), f.h.Fsync(&c.Op, dataOnly))
}

// Release answers RELEASE: the last descriptor is closed. Nobody waits for it.
func (s *Server) Release(c *Call, fh uint64) {
	if f, ok := s.files.remove(fh); ok {
		if f.exec {
			s.running.remove(f.h.Ino())
		}
		f.release(&c.Op)
	}
}

// Seek answers LSEEK with SEEK_DATA or SEEK_HOLE.
func (s *Server) Seek(c *Call, fh uint64, off int64, whence int) (int64, syscall.Errno) {
	f, ok := s.files.get(fh)
	if !ok {
		return 0, syscall.EBADF
	}
	at, err := f.h.Seek(&c.Op, off, whence)
	return at, c.errno(OpLseek, f.h.Ino(), err)
}

// Fallocate answers FALLOCATE.
func (s *Server) Fallocate(c *Call, fh uint64, mode uint32, off, n int64) syscall.Errno {
	f, ok := s.files.get(fh)
	if !ok {
		return syscall.EBADF
	}
	return c.errno(OpFallocate, f.h.Ino(), f.h.Fallocate(&c.Op, mode, off, n))
}

// copyLimit bounds one COPY_FILE_RANGE: its reply has 32 bits, and a request
// should end before somebody waits for it in vain. The caller comes again.
const copyLimit = math.MaxInt32 &^ (1<<20 - 1)

// CopyRange answers COPY_FILE_RANGE with how much was copied.
func (s *Server) CopyRange(c *Call, fh uint64, off int64, dst uint64, dstOff int64, n uint64, flags uint64) (uint32, syscall.Errno) {
	if flags != 0 {
		return 0, syscall.EINVAL
	}
	from, ok := s.files.get(fh)
	to, ok2 := s.files.get(dst)
	if !ok || !ok2 {
		return 0, syscall.EBADF
	}
	done, err := from.h.CopyTo(&c.Op, off, to.h, dstOff, int64(min(n, copyLimit)))
	return uint32(done), c.errno(OpCopyRange, from.h.Ino(), err)
}
