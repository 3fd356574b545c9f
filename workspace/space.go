package workspace

import (
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// Mode bits of fallocate(2).
const (
	fallocKeepSize  = 0x01
	fallocPunchHole = 0x02
	fallocZeroRange = 0x10
)

// Fallocate implements vfs.Handle: reserve, punch a hole, or zero.
func (h *handle) Fallocate(op *vfs.Op, mode uint32, off, length int64) error {
	switch {
	case !h.mayWrite():
		return syscall.EBADF
	case off < 0 || length <= 0:
		return syscall.EINVAL
	case off > vfs.MaxFileSize-length:
		return syscall.EFBIG
	}
	end := off + length
	keep := mode&fallocKeepSize != 0
	switch mode &^ fallocKeepSize {
	case 0:
		return h.replaceRange(op, off, end, keep, func(n *inode) ([]piece, error) {
			return h.w.reserve(n, off, end)
		})
	case fallocZeroRange:
		return h.replaceRange(op, off, end, keep, func(*inode) ([]piece, error) {
			return []piece{{off: off, len: length, src: srcZero}}, nil
		})
	case fallocPunchHole:
		if !keep {
			return syscall.EOPNOTSUPP
		}
		return h.replaceRange(op, off, end, keep, func(*inode) ([]piece, error) {
			return []piece{{off: off, len: length, src: srcHole}}, nil
		})
	}
	return syscall.EOPNOTSUPP
}

// reserve returns pieces that turn the holes of [off, end) into reserved space.
func (w *Workspace) reserve(n *inode, off, end int64) ([]piece, error) {
	var ps []piece
	err := w.segments(n, off, end, func(p piece) error {
		if p.src == srcHole {
			ps = append(ps, piece{off: p.off, len: p.len, src: srcZero})
		}
		return nil
	})
	return ps, err
}

// replaceRange puts the pieces that choose returns over [off, end), and makes
// the file that long unless keep.
func (h *handle) replaceRange(op *vfs.Op, off, end int64, keep bool, choose func(*inode) ([]piece, error)) error {
	w := h.w
	if err := w.prepare(op, h.n.ino, off, end); err != nil {
		return err
	}
	return w.mutate(op, func(b *batch) error {
		n := h.n
		ps, err := choose(n)
		if err != nil {
			return err
		}
		v := n.v
		if !keep {
			v.Size = max(v.Size, uint64(end))
		}
		if uint64(end) > v.Size {
			v.flags |= flagReserved
		}
		return w.putPieces(op, b, n, &v, ps, off, end)
	})
}

// putPieces puts ps, which lie in [off, end), over n's bytes there and gives n
// the attributes v, with blocks, times and set-id bits as that demands.
func (w *Workspace) putPieces(op *vfs.Op, b *batch, n *inode, v *inodeValue, ps []piece, off, end int64) error {
	more, err := w.replaced(n, ps, off, end)
	if err != nil {
		return err
	}
	if more > 0 {
		if err := w.quota.allow(w.usage.Blocks + uint64(more)); err != nil {
			return err
		}
	}
	v.Blocks = uint64(int64(v.Blocks) + more*sectorsPerBlock)
	v.Mtime = now()
	v.Ctime = v.Mtime
	v.Mode = vfs.WrittenMode(&v.Attr, &op.Cred)
	b.set(n, *v)
	for _, p := range ps {
		parts := []summed{{piece: p}}
		if p.src == srcStaging {
			if parts, err = w.staging.sums(p); err != nil {
				return err
			}
		}
		for _, part := range parts {
			b.extent(n, part.piece, part.crc)
		}
	}
	b.change(vfs.Change{Kind: vfs.ChangeData, Ino: n.ino, Off: off, Len: end - off})
	return w.dropCapability(b, n)
}

// replaced returns by how many blocks n's space changes when ps are put over it.
func (w *Workspace) replaced(n *inode, ps []piece, off, end int64) (int64, error) {
	lo, hi := blockFloor(off), blockCeil(end)
	before, err := w.allocated(n, lo, hi)
	if err != nil {
		return 0, err
	}
	var over extentMap
	for _, p := range ps {
		over.insert(p)
	}
	after, counted := int64(0), lo
	count := func(p piece) error {
		if p.src == srcHole {
			return nil
		}
		from, to := max(counted, blockFloor(p.off)), blockCeil(p.end())
		if to > from {
			after += (to - from) / blockSize
			counted = to
		}
		return nil
	}
	err = over.visit(lo, hi, count, func(lo, hi int64) error { return w.segments(n, lo, hi, count) })
	return after - before, err
}

// CopyTo implements vfs.Handle: what can be shared is, so a copy of any size
// is a few extents.
func (h *handle) CopyTo(op *vfs.Op, off int64, dst vfs.Handle, dstOff, count int64) (int64, error) {
	d, ok := dst.(*handle)
	if !ok || d.w != h.w && !(h.w.readOnly && h.w.chunks == d.w.chunks) {
		return 0, syscall.EXDEV
	}
	switch {
	case !h.readable() || !d.mayWrite() || d.flags&syscall.O_APPEND != 0:
		return 0, syscall.EBADF
	case off < 0 || dstOff < 0 || count < 0:
		return 0, syscall.EINVAL
	}
	w := d.w
	if err := d.prepareCopy(op, h, off, dstOff, count); err != nil {
		return 0, err
	}
	copied := int64(0)
	err := w.mutate(op, func(b *batch) error {
		count = min(count, max(0, int64(h.n.v.Size)-off))
		if dstOff > vfs.MaxFileSize-count {
			return syscall.EFBIG
		}
		if copied = count; count == 0 {
			return nil
		}
		if h.n == d.n && off < dstOff+count && dstOff < off+count {
			return syscall.EINVAL
		}
		ps, err := w.share(h, off, off+count, dstOff-off)
		if err != nil {
			return err
		}
		v := d.n.v
		v.Size = max(v.Size, uint64(dstOff+count))
		return w.putPieces(op, b, d.n, &v, ps, dstOff, dstOff+count)
	})
	if err != nil {
		return 0, err
	}
	return copied, nil
}

// prepareCopy fetches what a checkpoint will need of both files: of what is
// copied, the chunks at its ends, which may be cut.
func (d *handle) prepareCopy(op *vfs.Op, h *handle, off, dstOff, count int64) error {
	end, dstEnd := min(off, vfs.MaxFileSize-count)+count, min(dstOff, vfs.MaxFileSize-count)+count
	for _, x := range []struct {
		h      *handle
		lo, hi int64
	}{{h, off, off}, {h, end, end}, {d, dstOff, dstEnd}} {
		if err := x.h.w.prepare(op, x.h.n.ino, x.lo, x.hi); err != nil {
			return err
		}
	}
	return nil
}

// share returns pieces for the bytes of h's file in [lo, hi), moved by shift, to
// be put into another file in the same epoch. A file in a snapshot never
// changes, so its own lock is not needed.
func (w *Workspace) share(h *handle, lo, hi, shift int64) ([]piece, error) {
	var ps []piece
	err := h.w.segments(h.n, lo, hi, func(p piece) error {
		// A chunk with another one behind it ends where its content said so.
		if k := len(ps) - 1; k >= 0 && ps[k].whole && p.src == srcChunk && p.stored && p.at == 0 && ps[k].end() == p.off+shift {
			ps[k].cut = true
		}
		own, err := w.current(p)
		if err != nil {
			return err
		}
		for i := range own {
			own[i].off += shift
			own[i].stored = false
		}
		ps = append(ps, own...)
		return nil
	})
	return ps, err
}

// current returns pieces with p's bytes that a record of this epoch may name:
// p itself, or what had to be staged anew because its staging file goes with
// an earlier epoch or because its bytes are in an inode.
func (w *Workspace) current(p piece) ([]piece, error) {
	switch {
	case p.src == srcInline:
		f, at, _, err := w.staging.append(p.data)
		return []piece{{off: p.off, len: p.len, src: srcStaging, file: f, at: at}}, err
	case p.src != srcStaging || p.file.id.epoch == w.epoch:
		return []piece{p}, nil
	}
	var ps []piece
	buf := make([]byte, min(p.len, 1<<20))
	for done := int64(0); done < p.len; {
		part := buf[:min(int64(len(buf)), p.len-done)]
		if err := readStaged(p.file, part, p.at+done); err != nil {
			return nil, err
		}
		f, at, _, err := w.staging.append(part)
		if err != nil {
			return nil, err
		}
		ps = append(ps, piece{off: p.off + done, len: int64(len(part)), src: srcStaging, file: f, at: at})
		done += int64(len(part))
	}
	return ps, nil
}

// flatten gives n, which is about to lose its last name, a delta that says all
// of its bytes: the tree will soon say nothing of it.
func (w *Workspace) flatten(n *inode) error {
	if !n.v.IsRegular() || n.base == nil && n.frozen.empty() {
		return nil
	}
	w.pins.Lock()
	held := n.handles > 0 || w.pins.m[n.ino] > 0
	w.pins.Unlock()
	if !held {
		return nil
	}
	// Holes too: below them is what the tree said before they were made.
	flat := &extentMap{}
	err := w.segments(n, 0, vfs.MaxFileSize, func(p piece) error {
		flat.m.Set(p.off, p)
		return nil
	})
	if err == nil {
		n.delta = flat
	}
	return err
}
