package memfs

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// handle is an open regular file.
type handle struct {
	fs    *FS
	n     *inode
	flags int
}

// noAtime is Linux's O_NOATIME, which package syscall has there alone.
const noAtime = 0x40000

func (fs *FS) openHandle(n *inode, flags int) *handle {
	n.opens++
	return &handle{fs: fs, n: n, flags: flags}
}

// openMask is the permission that open(2)'s flags ask for.
func openMask(flags int) uint32 {
	mask := [4]uint32{vfs.MayRead, vfs.MayWrite, vfs.MayRead | vfs.MayWrite, vfs.MayRead | vfs.MayWrite}[flags&syscall.O_ACCMODE]
	if flags&syscall.O_TRUNC != 0 {
		mask |= vfs.MayWrite
	}
	return mask
}

// Open opens the regular file ino.
func (fs *FS) Open(op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
	fs.mu.Lock()
	h, err := fs.open(op, ino, flags)
	fs.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if flags&syscall.O_TRUNC != 0 {
		fs.announce(op, dataOf(ino, 0, -1))
	}
	return h, nil
}

func (fs *FS) open(op *vfs.Op, ino vfs.Ino, flags int) (*handle, error) {
	n, err := fs.get(ino)
	if err != nil {
		return nil, err
	}
	switch {
	case n.attr.IsDir():
		return nil, syscall.EISDIR
	case n.attr.IsSymlink():
		return nil, syscall.ELOOP
	case !n.attr.IsRegular():
		return nil, syscall.ENXIO
	}
	if err := n.may(op, openMask(flags)); err != nil {
		return nil, err
	}
	if flags&syscall.O_TRUNC != 0 {
		fs.resize(n, 0)
		n.modified(op)
	}
	return fs.openHandle(n, flags), nil
}

func (h *handle) Ino() vfs.Ino { return h.n.attr.Ino }

func (h *handle) readable() bool { return h.flags&syscall.O_ACCMODE != syscall.O_WRONLY }
func (h *handle) writable() bool { return h.flags&syscall.O_ACCMODE != syscall.O_RDONLY }

func (h *handle) Read(op *vfs.Op, p []byte, off int64) (int, error) {
	if !h.readable() {
		return 0, syscall.EBADF
	}
	if off < 0 {
		return 0, syscall.EINVAL
	}
	h.fs.mu.RLock()
	size := int64(h.n.attr.Size)
	n := int(min(int64(len(p)), max(size-off, 0)))
	h.n.data.read(p[:n], off)
	h.fs.mu.RUnlock()
	if len(p) > 0 && h.flags&noAtime == 0 {
		h.fs.accessed(op, h.n)
	}
	return n, nil
}

func (h *handle) Write(op *vfs.Op, p []byte, off int64) (int, error) {
	if !h.writable() {
		return 0, syscall.EBADF
	}
	h.fs.mu.Lock()
	if h.flags&syscall.O_APPEND != 0 {
		off = int64(h.n.attr.Size)
	}
	err := h.fs.writeAt(op, h.n, p, off)
	h.fs.mu.Unlock()
	if err != nil {
		return 0, err
	}
	if len(p) > 0 {
		h.fs.announce(op, dataOf(h.Ino(), off, int64(len(p))))
	}
	return len(p), nil
}

func (h *handle) Flush(op *vfs.Op) error { return nil }

func (h *handle) Fsync(op *vfs.Op, dataOnly bool) error { return nil }

const (
	seekData = 3
	seekHole = 4
)

func (h *handle) Seek(op *vfs.Op, off int64, whence int) (int64, error) {
	h.fs.mu.RLock()
	defer h.fs.mu.RUnlock()
	size := int64(h.n.attr.Size)
	if off < 0 || off >= size {
		return 0, syscall.ENXIO
	}
	switch whence {
	case seekData:
		at, ok := h.n.data.seekData(off)
		if !ok || at >= size {
			return 0, syscall.ENXIO
		}
		return at, nil
	case seekHole:
		return min(h.n.data.seekHole(off), size), nil
	}
	return 0, syscall.EINVAL
}

// The modes of fallocate(2).
const (
	fallocKeepSize  = 0x01
	fallocPunchHole = 0x02
	fallocZeroRange = 0x10
)

// Fallocate extends, punches and zeroes. Nothing is allocated ahead: memory
// that is promised but not used would be worse than ENOSPC at the write.
func (h *handle) Fallocate(op *vfs.Op, mode uint32, off, length int64) error {
	if !h.writable() {
		return syscall.EBADF
	}
	if off < 0 || length <= 0 {
		return syscall.EINVAL
	}
	end := off + length
	if end < 0 || uint64(end) > vfs.MaxFileSize {
		return syscall.EFBIG
	}
	erase := false
	switch mode {
	case 0, fallocKeepSize:
	case fallocPunchHole | fallocKeepSize, fallocZeroRange, fallocZeroRange | fallocKeepSize:
		erase = true
	default:
		return syscall.EOPNOTSUPP
	}
	h.fs.mu.Lock()
	if erase {
		h.fs.pages -= h.n.data.punch(off, end)
	}
	if mode&fallocKeepSize == 0 {
		h.n.attr.Size = max(h.n.attr.Size, uint64(end))
	}
	h.n.modified(op)
	h.fs.mu.Unlock()
	h.fs.announce(op, dataOf(h.Ino(), off, length))
	return nil
}

// copyPiece bounds the memory that one CopyTo takes.
const copyPiece = 1 << 20

// CopyTo copies between two handles of this tree; EXDEV to any other. A hole
// arrives as zeroes.
func (h *handle) CopyTo(op *vfs.Op, off int64, dst vfs.Handle, dstOff, n int64) (int64, error) {
	d, ok := dst.(*handle)
	if !ok || d.fs != h.fs {
		return 0, syscall.EXDEV
	}
	if !h.readable() || !d.writable() || d.flags&syscall.O_APPEND != 0 {
		return 0, syscall.EBADF
	}
	if off < 0 || dstOff < 0 || n < 0 {
		return 0, syscall.EINVAL
	}
	h.fs.mu.Lock()
	done, err := h.copyTo(op, off, d, dstOff, n)
	h.fs.mu.Unlock()
	if done == 0 {
		return 0, err
	}
	h.fs.announce(op, dataOf(d.Ino(), dstOff, done))
	return done, nil
}

func (h *handle) copyTo(op *vfs.Op, off int64, d *handle, dstOff, n int64) (done int64, err error) {
	n = min(n, max(int64(h.n.attr.Size)-off, 0))
	if h.n == d.n && off < dstOff+n && dstOff < off+n {
		return 0, syscall.EINVAL
	}
	buf := make([]byte, min(n, copyPiece))
	for done < n {
		p := buf[:min(n-done, copyPiece)]
		h.n.data.read(p, off+done)
		if err := h.fs.writeAt(op, d.n, p, dstOff+done); err != nil {
			return done, err
		}
		done += int64(len(p))
	}
	return done, nil
}

func (h *handle) Release(op *vfs.Op) {
	h.fs.mu.Lock()
	defer h.fs.mu.Unlock()
	h.n.opens--
	h.fs.drop(h.n)
}
