package vfs

import (
	"io"
	"sync"
	"syscall"
)

// File is an open file with a position: what open(2) returns. Its methods are
// safe for concurrent use. What has no positions (a pipe, a device) answers
// ESPIPE to Seek, ReadAt and WriteAt. Errors are errnos, and io.EOF at the end.
type File interface {
	io.Reader
	io.Writer
	io.Closer
	io.Seeker
	io.ReaderAt
	io.WriterAt
	// Stat answers fstat(2).
	Stat() (Attr, error)
	// Truncate answers ftruncate(2).
	Truncate(size int64) error
	// Fsync makes the file durable; see Handle.Fsync.
	Fsync() error
}

// RegularFile is a File over a Handle.
type RegularFile struct {
	op    Op
	fs    FS
	h     Handle
	flags int

	mu     sync.Mutex
	pos    int64 // guarded by mu
	closed bool  // guarded by mu
}

// NewRegularFile makes a File of a Handle, which it then owns; flags are those
// it was opened with.
func NewRegularFile(fs FS, op *Op, h Handle, flags int) *RegularFile {
	return &RegularFile{op: *op, fs: fs, h: h, flags: flags}
}

// Handle returns the open file underneath, still owned by f: for CopyTo,
// Fallocate and SEEK_HOLE.
func (f *RegularFile) Handle() Handle { return f.h }

// Flags returns the open(2) flags.
func (f *RegularFile) Flags() int { return f.flags }

// Read reads from the position on and moves it.
func (f *RegularFile) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.ReadAt(p, f.pos)
	f.pos += int64(n)
	if n > 0 {
		return n, nil
	}
	return n, err
}

// ReadAt reads at off; io.EOF when p was not filled.
func (f *RegularFile) ReadAt(p []byte, off int64) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := f.h.Read(&f.op, p, off)
	if err == nil && n < len(p) {
		err = io.EOF
	}
	return n, err
}

// Write writes at the position, or at the end for O_APPEND, and moves it.
func (f *RegularFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.h.Write(&f.op, p, f.pos)
	f.pos += int64(n)
	if f.flags&syscall.O_APPEND != 0 && n > 0 {
		if a, serr := f.fs.Getattr(&f.op, f.h.Ino()); serr == nil {
			f.pos = int64(a.Size)
		}
	}
	return n, err
}

// WriteAt writes at off, as pwrite(2) does: at the end for O_APPEND.
func (f *RegularFile) WriteAt(p []byte, off int64) (int, error) {
	return f.h.Write(&f.op, p, off)
}

// Seek moves the position; whence may also be SEEK_DATA (3) or SEEK_HOLE (4).
func (f *RegularFile) Seek(off int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		off += f.pos
	case io.SeekEnd:
		a, err := f.fs.Getattr(&f.op, f.h.Ino())
		if err != nil {
			return 0, err
		}
		off += int64(a.Size)
	default:
		var err error
		if off, err = f.h.Seek(&f.op, off, whence); err != nil {
			return 0, err
		}
	}
	if off < 0 {
		return 0, syscall.EINVAL
	}
	f.pos = off
	return off, nil
}

// Stat answers fstat(2).
func (f *RegularFile) Stat() (Attr, error) { return f.fs.Getattr(&f.op, f.h.Ino()) }

// Truncate answers ftruncate(2).
func (f *RegularFile) Truncate(size int64) error {
	if size < 0 || f.flags&syscall.O_ACCMODE == syscall.O_RDONLY {
		return syscall.EINVAL
	}
	_, err := f.fs.Setattr(&f.op, f.h.Ino(), &SetAttr{Mask: SetSize, Size: uint64(size), Handle: f.h})
	return err
}

// Fsync makes the file durable.
func (f *RegularFile) Fsync() error { return f.h.Fsync(&f.op, false) }

// Close flushes and releases the handle. It works after the Op's context has
// ended too: what is open must always close.
func (f *RegularFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return syscall.EBADF
	}
	f.closed = true
	op := f.op
	op.Ctx = nil
	err := f.h.Flush(&op)
	f.h.Release(&op)
	return err
}

// DirFile is an open directory as a File: reading it is EISDIR.
type DirFile struct {
	op Op
	fs FS
	h  DirHandle
}

// Handle returns the open directory underneath, still owned by d.
func (d *DirFile) Handle() DirHandle { return d.h }

// Read answers EISDIR, like every method that wants bytes.
func (d *DirFile) Read([]byte) (int, error) { return 0, syscall.EISDIR }

// ReadAt answers EISDIR.
func (d *DirFile) ReadAt([]byte, int64) (int, error) { return 0, syscall.EISDIR }

// Write answers EBADF: no directory is open for writing.
func (d *DirFile) Write([]byte) (int, error) { return 0, syscall.EBADF }

// WriteAt answers EBADF.
func (d *DirFile) WriteAt([]byte, int64) (int, error) { return 0, syscall.EBADF }

// Seek answers 0: a directory's position is its reader's cookie.
func (d *DirFile) Seek(int64, int) (int64, error) { return 0, nil }

// Stat answers fstat(2).
func (d *DirFile) Stat() (Attr, error) { return d.fs.Getattr(&d.op, d.h.Ino()) }

// Truncate answers EINVAL.
func (d *DirFile) Truncate(int64) error { return syscall.EINVAL }

// Fsync makes the directory durable.
func (d *DirFile) Fsync() error { return d.h.Fsync(&d.op, false) }

// Close releases the handle.
func (d *DirFile) Close() error {
	op := d.op
	op.Ctx = nil
	d.h.Release(&op)
	return nil
}
