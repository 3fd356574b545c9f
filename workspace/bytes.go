package workspace

import (
	"context"
	"errors"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
)

// segments calls fn for every stretch of n's bytes in [lo, hi), in order and
// without a gap: holes are pieces too. mu is held at least shared.
func (w *Workspace) segments(n *inode, lo, hi int64, fn func(piece) error) error {
	return n.segments(w.layers.base, lo, hi, fn)
}

func (n *inode) segments(base *tree.Tree, lo, hi int64, fn func(piece) error) error {
	if lo >= hi {
		return nil
	}
	below := func(lo, hi int64) error { return n.baseSegments(base, lo, hi, fn) }
	if !n.frozen.empty() {
		under := below
		below = func(lo, hi int64) error { return n.frozen.visit(lo, hi, fn, under) }
	}
	if n.delta.empty() {
		return below(lo, hi)
	}
	return n.delta.visit(lo, hi, fn, below)
}

// baseSegments yields what the tree says of [lo, hi).
func (n *inode) baseSegments(base *tree.Tree, lo, hi int64, fn func(piece) error) error {
	hole := func(lo, hi int64) error {
		return fn(piece{off: lo, len: hi - lo, src: srcHole})
	}
	if n.base == nil {
		return hole(lo, hi)
	}
	var whole piece
	switch n.base.content {
	case contentInline:
		whole = piece{len: int64(len(n.base.inline)), src: srcInline, data: n.base.inline}
	case contentChunk:
		whole = piece{len: int64(n.base.Size), src: srcChunk, id: n.base.chunk, whole: true, stored: true}
	case contentExtents:
		return treeSegments(base, n, lo, hi, fn, hole)
	default:
		return hole(lo, hi)
	}
	var one extentMap
	one.m.Set(0, whole)
	return one.visit(lo, hi, fn, hole)
}

// treeSegments walks extent keys. No extent is longer than a chunk, so the one
// that covers lo starts at most that far before it.
func treeSegments(base *tree.Tree, n *inode, lo, hi int64, fn func(piece) error, hole func(lo, hi int64) error) error {
	at := lo
	var inner error
	from := extentKey(n.ino, max(0, lo-chunk.MaxSize+1))
	err := base.Scan(context.Background(), from, extentKey(n.ino, hi), func(k, v []byte) bool {
		var p piece
		if p, inner = decodePiece(k, v); inner != nil {
			return false
		}
		if p.end() <= at {
			return true
		}
		if p.off > at {
			if inner = hole(at, p.off); inner != nil {
				return false
			}
			at = p.off
		}
		p = p.sub(at, min(hi, p.end()))
		at = p.end()
		inner = fn(p)
		return inner == nil && at < hi
	})
	if err != nil {
		return fmt.Errorf("extents of inode %d: %w", n.ino, err)
	}
	if inner == nil && at < hi {
		inner = hole(at, hi)
	}
	return inner
}

func decodePiece(k, v []byte) (piece, error) {
	e, err := decodeExtent(v)
	if err != nil {
		return piece{}, err
	}
	p := piece{off: keyOffset(k), len: e.length, src: srcChunk, at: e.off, id: e.id, whole: e.off == 0, stored: true}
	if e.id.IsZero() {
		p.src, p.whole = srcZero, false
	}
	return p, nil
}

// allocated counts the blocks of n that hold data in [lo, hi), both multiples
// of blockSize.
func (w *Workspace) allocated(n *inode, lo, hi int64) (blocks int64, err error) {
	if n.v.flags&flagReserved == 0 {
		end := blockCeil(int64(n.v.Size))
		if lo >= end {
			return 0, nil
		}
		if int64(n.v.Blocks/sectorsPerBlock) == end/blockSize { // no holes
			return (min(hi, end) - lo) / blockSize, nil
		}
	}
	counted := lo
	err = w.segments(n, lo, hi, func(p piece) error {
		if p.src == srcHole {
			return nil
		}
		from, to := max(counted, blockFloor(p.off)), blockCeil(p.end())
		if to > from {
			blocks += (to - from) / blockSize
			counted = to
		}
		return nil
	})
	return blocks, err
}

// grow returns how many blocks more n takes when [lo, hi) is written.
func (w *Workspace) grow(n *inode, lo, hi int64) (int64, error) {
	lo, hi = blockFloor(lo), blockCeil(hi)
	have, err := w.allocated(n, lo, hi)
	return (hi-lo)/blockSize - have, err
}

// readPieces gathers the pieces of [lo, hi) and keeps their staging files from
// being removed until done is called.
func (w *Workspace) readPieces(n *inode, lo, hi int64) (ps []piece, done func() error, err error) {
	err = w.segments(n, lo, hi, func(p piece) error {
		if p.src == srcStaging {
			p.file.acquire()
		}
		ps = append(ps, p)
		return nil
	})
	done = func() error {
		var err error
		for i := range ps {
			if ps[i].src == srcStaging {
				if rerr := ps[i].file.release(); err == nil {
					err = rerr
				}
			}
		}
		return err
	}
	return ps, done, err
}

// fill reads the bytes of pieces into p, whose first byte is at off.
func fill(ctx context.Context, chunks chunk.Store, ps []piece, p []byte, off int64) error {
	for i := range ps {
		s := &ps[i]
		dst := p[s.off-off : s.end()-off]
		switch s.src {
		case srcHole, srcZero:
			clear(dst)
		case srcInline:
			copy(dst, s.data)
		case srcStaging:
			if err := readStaged(s.file, dst, s.at); err != nil {
				return err
			}
		case srcChunk:
			b, err := chunks.Get(ctx, s.id)
			if err != nil {
				return err
			}
			if s.at+s.len > int64(len(b)) {
				return fmt.Errorf("chunk %s: %d bytes where an extent wants %d: %w",
					s.id, len(b), s.at+s.len, errShortChunk)
			}
			copy(dst, b[s.at:])
		}
	}
	return nil
}

// readError reports what kept bytes from being read (P4): the reader gets EIO,
// the log says which file and where.
func (w *Workspace) readError(n *inode, off int64, err error) error {
	err = fmt.Errorf("read inode %d at offset %d: %w", n.ino, off, err)
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		w.log.Error("read failed", "workspace", w.name, "parent", n.v.parent, "err", err)
	}
	return err
}
