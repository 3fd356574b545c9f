package shell

import (
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// limitFS is an execution's view of its FS: it counts and bounds open files and
// file sizes, and releases what is still open when the execution ends, whatever
// commands forgot.
type limitFS struct {
	vfs.FS
	maxOpen atomic.Int64
	maxSize atomic.Int64
	ended   atomic.Bool

	mu   sync.Mutex
	open map[releaser]struct{} // guarded by mu
}

// releaser is a handle of either kind.
type releaser interface{ Release(op *vfs.Op) }

func newLimitFS(fs vfs.FS, l *Limits) *limitFS {
	fsys := &limitFS{FS: fs, open: map[releaser]struct{}{}}
	fsys.maxOpen.Store(int64(l.OpenFiles))
	fsys.maxSize.Store(l.FileSize)
	return fsys
}

// setMaxOpen and setMaxSize change the limits while the execution runs.
func (l *limitFS) setMaxOpen(n int)   { l.maxOpen.Store(int64(n)) }
func (l *limitFS) setMaxSize(n int64) { l.maxSize.Store(n) }

// check refuses an open: EMFILE when too many are, EINTR after the end.
func (l *limitFS) check() error {
	if l.ended.Load() {
		return syscall.EINTR
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if max := l.maxOpen.Load(); max > 0 && int64(len(l.open)) >= max {
		return syscall.EMFILE
	}
	return nil
}

func (l *limitFS) note(h releaser) {
	l.mu.Lock()
	l.open[h] = struct{}{}
	l.mu.Unlock()
}

// forget takes a handle off the list; false when the end has done so.
func (l *limitFS) forget(h releaser) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, ok := l.open[h]
	delete(l.open, h)
	return ok
}

// end releases every handle that is still open and refuses new ones.
func (l *limitFS) end() {
	l.ended.Store(true)
	l.mu.Lock()
	left := l.open
	l.open = map[releaser]struct{}{}
	l.mu.Unlock()
	op := &vfs.Op{}
	for h := range left {
		switch h := h.(type) {
		case *limitHandle:
			h.Handle.Release(op)
		case *limitDir:
			h.DirHandle.Release(op)
		}
	}
}

// limitHandle is a counted handle.
type limitHandle struct {
	vfs.Handle
	l      *limitFS
	append bool // writes go to the end
}

func (l *limitFS) wrap(h vfs.Handle, flags int) vfs.Handle {
	lh := &limitHandle{Handle: h, l: l, append: flags&syscall.O_APPEND != 0}
	l.note(lh)
	return lh
}

func (h *limitHandle) Release(op *vfs.Op) {
	if h.l.forget(h) {
		h.Handle.Release(op)
	}
}

func (h *limitHandle) Write(op *vfs.Op, p []byte, off int64) (int, error) {
	if h.l.ended.Load() {
		return 0, syscall.EINTR
	}
	max := h.l.maxSize.Load()
	if max > 0 && h.append {
		a, err := h.l.FS.Getattr(op, h.Ino())
		if err != nil {
			return 0, err
		}
		off = int64(a.Size)
	}
	if max <= 0 || int64(len(p)) <= max-off {
		return h.Handle.Write(op, p, off)
	}
	// What still fits is written, as with a limit of the kernel.
	if off >= max {
		return 0, syscall.EFBIG
	}
	n, err := h.Handle.Write(op, p[:max-off], off)
	if err == nil {
		err = syscall.EFBIG
	}
	return n, err
}

func (h *limitHandle) Fallocate(op *vfs.Op, mode uint32, off, length int64) error {
	if max := h.l.maxSize.Load(); max > 0 && (off > max || length > max-off) {
		return syscall.EFBIG
	}
	return h.Handle.Fallocate(op, mode, off, length)
}

func (h *limitHandle) CopyTo(op *vfs.Op, off int64, dst vfs.Handle, dstOff, n int64) (int64, error) {
	if d, ok := dst.(*limitHandle); ok {
		if max := h.l.maxSize.Load(); max > 0 && n > max-dstOff {
			if n = max - dstOff; n <= 0 {
				return 0, syscall.EFBIG
			}
		}
		dst = d.Handle
	}
	return h.Handle.CopyTo(op, off, dst, dstOff, n)
}

// limitDir is a counted directory handle.
type limitDir struct {
	vfs.DirHandle
	l *limitFS
}

func (d *limitDir) Release(op *vfs.Op) {
	if d.l.forget(d) {
		d.DirHandle.Release(op)
	}
}

func (l *limitFS) Create(op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	if err := l.check(); err != nil {
		return vfs.Attr{}, nil, err
	}
	a, h, err := l.FS.Create(op, parent, name, mode, flags)
	if err != nil {
		return a, nil, err
	}
	return a, l.wrap(h, flags), nil
}

func (l *limitFS) Tmpfile(op *vfs.Op, parent vfs.Ino, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	if err := l.check(); err != nil {
		return vfs.Attr{}, nil, err
	}
	a, h, err := l.FS.Tmpfile(op, parent, mode, flags)
	if err != nil {
		return a, nil, err
	}
	return a, l.wrap(h, flags), nil
}

func (l *limitFS) Open(op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	h, err := l.FS.Open(op, ino, flags)
	if err != nil {
		return nil, err
	}
	return l.wrap(h, flags), nil
}

func (l *limitFS) OpenDir(op *vfs.Op, ino vfs.Ino) (vfs.DirHandle, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	h, err := l.FS.OpenDir(op, ino)
	if err != nil {
		return nil, err
	}
	d := &limitDir{DirHandle: h, l: l}
	l.note(d)
	return d, nil
}

func (l *limitFS) Setattr(op *vfs.Op, ino vfs.Ino, set *vfs.SetAttr) (vfs.Attr, error) {
	if max := l.maxSize.Load(); set.Mask&vfs.SetSize != 0 && max > 0 && set.Size > uint64(max) {
		return vfs.Attr{}, syscall.EFBIG
	}
	if h, ok := set.Handle.(*limitHandle); ok {
		s := *set
		s.Handle = h.Handle
		set = &s
	}
	return l.FS.Setattr(op, ino, set)
}
