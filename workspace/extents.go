package workspace

import (
	"github.com/tidwall/btree"

	"github.com/vfsd/vfsd/chunk"
)

// Space is counted in blocks of blockSize bytes; stat reports sectors.
const (
	blockSize       = 4096
	sectorsPerBlock = blockSize / 512
)

func blockFloor(off int64) int64 { return off &^ (blockSize - 1) }

// blockCeil saturates, so that the last byte of the largest file has a block.
func blockCeil(off int64) int64 {
	if off > 1<<63-blockSize {
		return 1<<63 - 1
	}
	return (off + blockSize - 1) &^ (blockSize - 1)
}

// source says where the bytes of a piece are. The values go into the journal.
type source uint8

const (
	srcHole    source = 1 // nowhere: zeroes that take no space
	srcZero    source = 2 // reserved space that reads as zeroes
	srcStaging source = 3 // in a staging file, from at on
	srcChunk   source = 4 // in a chunk, from at on
	srcInline  source = 5 // in data; never journaled
)

// piece is an extent with the place of its bytes.
type piece struct {
	off, len int64
	src      source
	at       int64
	file     *stagingFile // srcStaging
	id       chunk.ID     // srcChunk
	data     []byte       // srcInline
	// Of a srcChunk piece: whole says that it is all of its chunk, stored that
	// it is in the tree as it is, cut that the chunk ends where its content
	// said so, and not because its data did.
	whole, stored, cut bool
}

func (p *piece) end() int64 { return p.off + p.len }

// sub returns the part of p in [lo, hi), which must overlap it.
func (p piece) sub(lo, hi int64) piece {
	if hi < p.end() {
		p.len = hi - p.off
		p.whole, p.cut = false, false
		if p.src == srcInline {
			p.data = p.data[:p.len]
		}
	}
	if lo > p.off {
		skip := lo - p.off
		p.off, p.len = lo, p.len-skip
		p.whole, p.cut = false, false
		switch p.src {
		case srcStaging, srcChunk:
			p.at += skip
		case srcInline:
			p.data = p.data[skip:]
		}
	}
	return p
}

// joins reports whether q goes on where p ends, in the file and in its source.
func (p *piece) joins(q *piece) bool {
	if p.src != q.src || p.end() != q.off {
		return false
	}
	switch p.src {
	case srcHole, srcZero:
		return true
	case srcStaging:
		return p.file == q.file && p.at+p.len == q.at
	}
	return false
}

// extentMap is a set of pieces that do not overlap, by offset. What no piece
// covers is the business of the layer below. The zero value is empty.
type extentMap struct {
	m btree.Map[int64, piece]
}

func (e *extentMap) empty() bool { return e == nil || e.m.Len() == 0 }

// insert puts p over whatever was there.
func (e *extentMap) insert(p piece) {
	e.clear(p.off, p.end())
	if prev, ok := e.before(p.off); ok && prev.joins(&p) {
		prev.len += p.len
		p = prev
	}
	if next, ok := e.m.Get(p.end()); ok && p.joins(&next) {
		e.m.Delete(next.off)
		p.len += next.len
	}
	e.m.Set(p.off, p)
}

// before returns the last piece that starts before off.
func (e *extentMap) before(off int64) (piece, bool) {
	var found piece
	ok := false
	e.m.Descend(off-1, func(_ int64, p piece) bool {
		found, ok = p, true
		return false
	})
	return found, ok
}

// clear forgets [lo, hi).
func (e *extentMap) clear(lo, hi int64) {
	if prev, ok := e.before(lo); ok && prev.end() > lo {
		e.m.Set(prev.off, prev.sub(prev.off, lo))
		if prev.end() > hi {
			tail := prev.sub(hi, prev.end())
			e.m.Set(tail.off, tail)
		}
	}
	var gone []int64
	var tail piece
	e.m.Ascend(lo, func(off int64, p piece) bool {
		if off >= hi {
			return false
		}
		gone = append(gone, off)
		if p.end() > hi {
			tail = p.sub(hi, p.end())
		}
		return true
	})
	for _, off := range gone {
		e.m.Delete(off)
	}
	if tail.len > 0 {
		e.m.Set(tail.off, tail)
	}
}

// visit calls covered for each piece in [lo, hi), cut to it, and gap for each
// stretch between them, in order, until one of them fails.
func (e *extentMap) visit(lo, hi int64, covered func(piece) error, gap func(lo, hi int64) error) error {
	at := lo
	var err error
	step := func(p piece) bool {
		if p.off >= hi {
			return false
		}
		if p.end() <= at {
			return true
		}
		if p.off > at {
			if err = gap(at, p.off); err != nil {
				return false
			}
			at = p.off
		}
		p = p.sub(at, min(hi, p.end()))
		at = p.end()
		err = covered(p)
		return err == nil
	}
	if e != nil {
		if prev, ok := e.before(lo); !ok || step(prev) {
			e.m.Ascend(lo, func(_ int64, p piece) bool { return step(p) })
		}
	}
	if err == nil && at < hi {
		err = gap(at, hi)
	}
	return err
}

// scan calls fn for every piece, in order, until it returns false.
func (e *extentMap) scan(fn func(p piece) bool) {
	if e != nil {
		e.m.Scan(func(_ int64, p piece) bool { return fn(p) })
	}
}
