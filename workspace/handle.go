package workspace

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// maxWrite is how many bytes one write stages at the most; a longer one is
// several operations.
const maxWrite = 64 << 20

// oNoAtime is O_NOATIME, which package syscall has on Linux only.
const oNoAtime = 0o1000000

const (
	seekData = 3
	seekHole = 4
)

// handle is an open file.
type handle struct {
	w     *Workspace
	n     *inode
	flags int

	mu      sync.Mutex
	syncErr error // an fsync that failed stays failed; guarded by mu
}

func (h *handle) readable() bool { return h.flags&syscall.O_ACCMODE != syscall.O_WRONLY }
func (h *handle) mayWrite() bool { return h.flags&syscall.O_ACCMODE != syscall.O_RDONLY }

// Ino implements vfs.Handle.
func (h *handle) Ino() vfs.Ino { return h.n.ino }

func accessOf(flags int) uint32 {
	var mask uint32
	switch flags & syscall.O_ACCMODE {
	case syscall.O_RDONLY:
		mask = vfs.MayRead
	case syscall.O_WRONLY:
		mask = vfs.MayWrite
	default:
		mask = vfs.MayRead | vfs.MayWrite
	}
	if flags&syscall.O_TRUNC != 0 {
		mask |= vfs.MayWrite
	}
	return mask
}

// Create implements vfs.FS.
func (w *Workspace) Create(op *vfs.Op, parent vfs.Ino, name string, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	var h *handle
	err := w.mutate(op, func(b *batch) error {
		dir, err := w.slot(op, parent, name)
		if err != nil {
			return err
		}
		n, v, err := w.newInode(op, b, dir, vfs.ModeRegular|mode&vfs.ModePerm, false)
		if err != nil {
			return err
		}
		w.bindNew(b, dir, name, n, v)
		h = &handle{w: w, n: n, flags: flags}
		n.handles = 1
		return nil
	})
	if err != nil {
		return vfs.Attr{}, nil, err
	}
	return h.n.created(), h, nil
}

// created is the attributes of an inode that nobody else has seen yet.
func (n *inode) created() vfs.Attr { return n.v.Attr }

// Tmpfile implements vfs.FS.
func (w *Workspace) Tmpfile(op *vfs.Op, parent vfs.Ino, mode uint32, flags int) (vfs.Attr, vfs.Handle, error) {
	var h *handle
	err := w.mutate(op, func(b *batch) error {
		dir, err := w.loadDir(op, parent, vfs.MayWrite|vfs.MayExec)
		if err != nil {
			return err
		}
		n, v, err := w.newInode(op, b, dir, vfs.ModeRegular|mode&vfs.ModePerm, true)
		if err != nil {
			return err
		}
		v.Nlink = 0
		n.tmpfile = flags&syscall.O_EXCL == 0
		n.handles = 1
		b.create(n, v)
		h = &handle{w: w, n: n, flags: flags}
		return nil
	})
	if err != nil {
		return vfs.Attr{}, nil, err
	}
	return h.n.created(), h, nil
}

// Open implements vfs.FS.
func (w *Workspace) Open(op *vfs.Op, ino vfs.Ino, flags int) (vfs.Handle, error) {
	if w.readOnly && accessOf(flags)&vfs.MayWrite != 0 {
		return nil, syscall.EROFS
	}
	h := &handle{w: w, flags: flags}
	open := func(n *inode) error {
		switch {
		case n.v.IsDir() && (flags&syscall.O_ACCMODE != syscall.O_RDONLY || flags&syscall.O_TRUNC != 0):
			return syscall.EISDIR
		case n.v.IsSymlink():
			return syscall.ELOOP
		case !n.v.IsRegular() && !n.v.IsDir():
			return syscall.ENXIO
		}
		if err := w.permit(op, n, accessOf(flags)); err != nil {
			return err
		}
		h.n = n
		return nil
	}
	if flags&syscall.O_TRUNC != 0 {
		err := w.mutate(op, func(b *batch) error {
			n, err := w.load(ino)
			if err != nil {
				return err
			}
			if err := open(n); err != nil {
				return err
			}
			return w.truncateOpened(op, b, n)
		})
		if err != nil {
			return nil, err
		}
	}
	// The count must rise before the inode can leave the cache, which takes
	// the exclusive lock.
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.load(ino)
	if err != nil {
		return nil, err
	}
	if err := open(n); err != nil {
		return nil, err
	}
	n.handles++
	return h, nil
}

func (w *Workspace) truncateOpened(op *vfs.Op, b *batch, n *inode) error {
	v := n.v
	v.Mtime = now()
	v.Ctime = v.Mtime
	v.Mode = vfs.WrittenMode(&v.Attr, &op.Cred)
	if err := w.resize(b, n, &v, 0); err != nil {
		return err
	}
	b.set(n, v)
	b.change(vfs.Change{Kind: vfs.ChangeData, Ino: n.ino, Len: -1})
	return w.dropCapability(b, n)
}

// Read implements vfs.Handle.
func (h *handle) Read(op *vfs.Op, p []byte, off int64) (int, error) {
	if !h.readable() {
		return 0, syscall.EBADF
	}
	if off < 0 {
		return 0, syscall.EINVAL
	}
	w := h.w
	w.mu.RLock()
	if h.n.v.IsDir() {
		w.mu.RUnlock()
		return 0, syscall.EISDIR
	}
	end := int64(h.n.v.Size)
	if off >= end || len(p) == 0 {
		w.mu.RUnlock()
		return 0, nil
	}
	end = min(end, off+min(int64(len(p)), end-off))
	stale := h.flags&oNoAtime == 0 && w.atimeStale(h.n)
	ps, done, err := w.readPieces(h.n, off, end)
	lazy := w.lazy.on.Load()
	var ahead []chunk.ID
	if lazy && err == nil {
		ahead = w.beyond(h.n, ps, end)
	}
	w.mu.RUnlock()
	p = p[:end-off]
	if lazy && err == nil {
		w.fetchAhead(ahead)
		err = w.lazy.bring(contextOf(op), ps)
	}
	if err == nil {
		err = fill(contextOf(op), w.store(), ps, p, off)
	}
	if derr := done(); err == nil {
		err = derr
	}
	if err != nil {
		return 0, w.readError(h.n, off, err)
	}
	if stale {
		w.touchAtime(h.n)
	}
	return len(p), nil
}

func contextOf(op *vfs.Op) context.Context {
	if op == nil || op.Ctx == nil {
		return context.Background()
	}
	return op.Ctx
}

// atimeStale applies relatime: the time of access moves when it is not after
// the last change, or a day old.
func (w *Workspace) atimeStale(n *inode) bool {
	a := &n.v
	if w.readOnly {
		return false
	}
	return a.Atime <= a.Mtime || a.Atime <= a.Ctime || now()-a.Atime > int64(24*time.Hour)
}

// touchAtime moves the access time in memory. It reaches the map with the next
// change of the inode: reading must not make two replicas differ.
func (w *Workspace) touchAtime(n *inode) {
	w.mu.Lock()
	n.v.Atime = now()
	w.mu.Unlock()
}

// Write implements vfs.Handle.
func (h *handle) Write(op *vfs.Op, p []byte, off int64) (int, error) {
	switch {
	case !h.mayWrite():
		return 0, syscall.EBADF
	case off < 0:
		return 0, syscall.EINVAL
	case off > vfs.MaxFileSize-int64(len(p)):
		return 0, syscall.EFBIG
	}
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+maxWrite)]
		if err := h.writePart(op, part, off+int64(done)); err != nil {
			return done, err
		}
		done += len(part)
	}
	return done, nil
}

func (h *handle) writePart(op *vfs.Op, part []byte, off int64) error {
	w := h.w
	at := off
	if h.flags&syscall.O_APPEND != 0 {
		at = vfs.MaxFileSize // where the file ends
	}
	if err := w.prepare(op, h.n.ino, at, off+int64(len(part))); err != nil {
		return w.readError(h.n, off, err)
	}
	p, crc, err := w.stage(part, off)
	if err != nil {
		return err
	}
	return w.mutate(op, func(b *batch) error {
		if p.file.id.epoch != w.epoch {
			// A checkpoint began in between; what is staged before it goes
			// with it.
			f, at, _, err := w.staging.append(part)
			if err != nil {
				return err
			}
			p.file, p.at = f, at
		}
		n := h.n
		if h.flags&syscall.O_APPEND != 0 {
			p.off = int64(n.v.Size)
		}
		blocks, err := w.grow(n, p.off, p.end())
		if err != nil {
			return err
		}
		if err := w.quota.allow(w.usage.Blocks + uint64(blocks)); err != nil && blocks > 0 {
			return err
		}
		v := n.v
		v.Blocks += uint64(blocks) * sectorsPerBlock
		v.Size = max(v.Size, uint64(p.end()))
		v.Mtime = now()
		v.Ctime = v.Mtime
		v.Mode = vfs.WrittenMode(&v.Attr, &op.Cred)
		b.set(n, v)
		b.extent(n, p, crc)
		b.change(vfs.Change{Kind: vfs.ChangeData, Ino: n.ino, Off: p.off, Len: p.len})
		return w.dropCapability(b, n)
	})
}

// Flush implements vfs.Handle: what was acknowledged is where it must be.
func (h *handle) Flush(op *vfs.Op) error { return nil }

// Fsync implements vfs.Handle (P2).
func (h *handle) Fsync(op *vfs.Op, dataOnly bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.syncErr != nil {
		return h.syncErr
	}
	if err := h.w.fsyncInode(h.n); err != nil {
		h.syncErr = fmt.Errorf("fsync inode %d: %w", h.n.ino, err)
		h.w.log.Error("fsync failed; the file stays failed until it is reopened", "inode", h.n.ino, "err", err)
		return h.syncErr
	}
	return nil
}

// Release implements vfs.Handle.
func (h *handle) Release(op *vfs.Op) { h.w.releaseInode(h.n) }

// releaseInode gives back one open handle.
func (w *Workspace) releaseInode(n *inode) {
	w.mu.Lock()
	n.handles--
	orphan := n.orphan && n.handles == 0
	w.mu.Unlock()
	if orphan {
		w.dropOrphan(n.ino)
	}
}

// Seek implements vfs.Handle. Blocks hold data whole, as they do on ext4.
func (h *handle) Seek(op *vfs.Op, off int64, whence int) (int64, error) {
	if whence != seekData && whence != seekHole {
		return 0, syscall.EINVAL
	}
	w := h.w
	w.mu.RLock()
	defer w.mu.RUnlock()
	end := int64(h.n.v.Size)
	if off < 0 || off >= end {
		return 0, syscall.ENXIO
	}
	found := int64(-1)
	dataTo := int64(0) // data reaches at least here, by whole blocks
	err := w.segments(h.n, blockFloor(off), end, func(p piece) error {
		isHole := p.src == srcHole || p.src == srcZero
		if !isHole {
			if whence == seekData {
				found = max(off, blockFloor(p.off))
				return errFound
			}
			dataTo = blockCeil(p.end())
			return nil
		}
		// A hole shorter than its blocks belongs to the data next to it.
		lo, hi := max(dataTo, blockCeil(p.off)), p.end()
		if hi < end {
			hi = blockFloor(hi)
		}
		if whence == seekHole && hi > lo && hi > off {
			found = max(off, lo)
			return errFound
		}
		return nil
	})
	switch {
	case errors.Is(err, errFound):
		return found, nil
	case err != nil:
		return 0, err
	case whence == seekHole:
		return end, nil
	}
	return 0, syscall.ENXIO
}

var errFound = errors.New("found")
