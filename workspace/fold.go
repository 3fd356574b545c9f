package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// Folding turns what a freeze set apart into edits of the tree: staged bytes
// become chunks. The outcome depends on a file's bytes and holes alone, never
// on the writes that made them (P5):
//
//   - a file of at most inlineMax bytes without a hole is in its inode; one of
//     at most chunk.WholeMax bytes is one chunk named there;
//   - else each run of bytes that were written is a region, cut into chunks by
//     content from its start, or whole when it is no longer than WholeMax;
//   - runs of reserved space are extents without a chunk, cut at multiples of
//     chunk.MaxSize.
//
// A chunk cut by content depends on nothing before its start, so cutting may
// begin at any old cut and stop where it meets one.
type folder struct {
	ctx    context.Context
	chunks chunk.Store
	cut    func(r io.Reader, emit func([]byte) error) error
	base   *tree.Tree // the tree before
	edits  []tree.Edit
	pause  func() error // called between pieces of work; an error ends it
}

// foldedInode is a file whose bytes were frozen, and where they are now.
type foldedInode struct {
	n *inode
	v *inodeValue
}

// overlayEdits turns the frozen batch into edits: inode values get the content
// that contents has for them, or keep what the tree says.
func (f *folder) overlayEdits(frozen *overlay, contents map[vfs.Ino]*inodeValue) error {
	var err error
	frozen.Scan(func(key string, value []byte) bool {
		k := []byte(key)
		switch {
		case k[0] == keyInode:
			err = f.inodeEdit(k, value, contents)
		case value == nil:
			f.edits = append(f.edits, tree.Edit{Key: k, Delete: true})
		case k[0] == keyXattr && len(value) > xattrInlineMax:
			var id chunk.ID
			id, err = f.chunks.Put(f.ctx, value[1:])
			f.edits = append(f.edits, tree.Edit{Key: k, Value: append([]byte{xattrChunk}, id[:]...)})
		default:
			f.edits = append(f.edits, tree.Edit{Key: k, Value: value})
		}
		return err == nil
	})
	return err
}

func (f *folder) inodeEdit(key, value []byte, contents map[vfs.Ino]*inodeValue) error {
	ino := keyIno(key)
	old, err := f.baseInode(ino)
	if err != nil {
		return err
	}
	if value == nil {
		f.edits = append(f.edits, tree.Edit{Key: key, Delete: true})
		if old != nil && old.content == contentExtents {
			f.deleteExtents(ino, 0, vfs.MaxFileSize)
		}
		return nil
	}
	v, err := decodeInode(ino, value)
	if err != nil {
		return err
	}
	from := contents[ino]
	if from != nil {
		v.flags = v.flags&^flagReserved | from.flags&flagReserved
	} else {
		from = old
	}
	if from != nil {
		v.content, v.inline, v.chunk = from.content, from.inline, from.chunk
	}
	f.edits = append(f.edits, tree.Edit{Key: key, Value: appendInode(nil, v)})
	return nil
}

func (f *folder) baseInode(ino vfs.Ino) (*inodeValue, error) {
	b, ok, err := f.base.Get(f.ctx, inodeKey(ino))
	if err != nil || !ok {
		return nil, err
	}
	return decodeInode(ino, b)
}

func (f *folder) deleteExtents(ino vfs.Ino, lo, hi int64) {
	f.edits = append(f.edits, tree.Edit{Key: extentKey(ino, lo), To: extentKey(ino, hi), Delete: true})
}

// fold stores the bytes of n as they were frozen, with v's size, and sets v's
// content.
func (f *folder) fold(n *inode, v *inodeValue) error {
	hadExtents := n.base != nil && n.base.content == contentExtents
	ps, err := f.pieces(n)
	if err != nil {
		return err
	}
	size := int64(v.Size)
	runs := layOut(ps)
	v.content, v.inline, v.chunk = contentNone, nil, chunk.ID{}
	v.flags &^= flagReserved
	if k := len(runs) - 1; k >= 0 && runs[k].src == srcZero && runs[k].end() > size {
		v.flags |= flagReserved
	}
	if len(runs) == 1 && runs[0].src != srcZero && runs[0].off == 0 && runs[0].len == size && size <= chunk.WholeMax {
		err = f.foldWhole(ps, v)
	} else if len(runs) > 0 {
		v.content = contentExtents
		return f.foldRuns(n.ino, ps, runs, hadExtents)
	}
	if err == nil && hadExtents {
		f.deleteExtents(n.ino, 0, vfs.MaxFileSize)
	}
	return err
}

// pieces returns the frozen pieces of n that are no holes, in order.
func (f *folder) pieces(n *inode) ([]piece, error) {
	var ps []piece
	add := func(p piece) error {
		if p.src != srcHole {
			ps = append(ps, p)
		}
		return nil
	}
	err := n.frozen.visit(0, vfs.MaxFileSize, add, func(lo, hi int64) error {
		return n.baseSegments(f.base, lo, hi, add)
	})
	// A stored chunk right before another one ends where its content said so.
	for i := 0; i+1 < len(ps); i++ {
		p, next := &ps[i], &ps[i+1]
		if p.whole && next.src == srcChunk && next.stored && next.at == 0 && next.off == p.end() {
			p.cut = true
		}
	}
	return ps, err
}

// layOut returns the runs of data (srcChunk) and of reserved space (srcZero)
// that the pieces make, in order. They are exact to the byte: were they rounded
// to blocks, what a truncation leaves of a block would depend on whether a
// checkpoint had come first.
func layOut(ps []piece) []piece {
	var runs []piece
	for _, p := range ps {
		src := srcChunk
		if p.src == srcZero {
			src = srcZero
		}
		if k := len(runs) - 1; k >= 0 && runs[k].src == src && runs[k].end() == p.off {
			runs[k].len += p.len
			continue
		}
		runs = append(runs, piece{off: p.off, len: p.len, src: src})
	}
	return runs
}

func (f *folder) foldWhole(ps []piece, v *inodeValue) error {
	b := make([]byte, v.Size)
	if err := fill(f.ctx, f.chunks, clip(ps, 0, int64(v.Size)), b, 0); err != nil {
		return err
	}
	if len(b) <= inlineMax {
		v.content, v.inline = contentInline, b
		return nil
	}
	v.content = contentChunk
	var err error
	v.chunk, err = f.chunks.Put(f.ctx, b)
	return err
}

// foldRuns writes the extents of a file. What the tree has already, stays
// untouched; everything between is deleted and put anew.
func (f *folder) foldRuns(ino vfs.Ino, ps, runs []piece, hadExtents bool) error {
	w := &extentWriter{f: f, ino: ino, old: hadExtents}
	for _, r := range runs {
		var err error
		if r.src == srcZero {
			w.zeroes(r)
		} else {
			err = w.region(window(ps, r.off, r.end()), r)
		}
		if err != nil {
			return err
		}
	}
	w.skipTo(vfs.MaxFileSize)
	return nil
}

// window returns the pieces that overlap [lo, hi).
func window(ps []piece, lo, hi int64) []piece {
	i := sort.Search(len(ps), func(i int) bool { return ps[i].end() > lo })
	j := sort.Search(len(ps), func(j int) bool { return ps[j].off >= hi })
	return ps[i:j]
}

// extentWriter emits the extents of one file from its start to its end.
type extentWriter struct {
	f   *folder
	ino vfs.Ino
	old bool  // the tree has extents of it
	at  int64 // everything before is settled
}

// skipTo deletes what the tree has between the last extent and off.
func (w *extentWriter) skipTo(off int64) {
	if w.old && off > w.at {
		w.f.deleteExtents(w.ino, w.at, off)
	}
	w.at = off
}

func (w *extentWriter) put(off, length int64, id chunk.ID) {
	w.skipTo(off)
	w.skipTo(off + length)
	w.f.edits = append(w.f.edits, tree.Edit{
		Key:   extentKey(w.ino, off),
		Value: extentValue{length: length, id: id}.encode(),
	})
}

func (w *extentWriter) zeroes(r piece) {
	for off := r.off; off < r.end(); {
		next := min(r.end(), (off/chunk.MaxSize+1)*chunk.MaxSize)
		w.put(off, next-off, chunk.ID{})
		off = next
	}
}

// region writes the extents of one run of data; ps are the pieces in it.
func (w *extentWriter) region(ps []piece, r piece) error {
	if r.len <= chunk.WholeMax {
		return w.single(ps, r)
	}
	for off := r.off; off < r.end(); {
		if p, ok := reusable(ps, off, r.end()); ok {
			w.keep(p)
			off = p.end()
			continue
		}
		next, err := w.recut(ps, off, r.end())
		if err != nil {
			return err
		}
		off = next
	}
	return nil
}

// single writes a region that is one chunk whatever is in it.
func (w *extentWriter) single(ps []piece, r piece) error {
	if len(ps) == 1 && ps[0].whole && ps[0].off == r.off && ps[0].len == r.len {
		w.keep(ps[0])
		return nil
	}
	b := make([]byte, r.len)
	if err := fill(w.f.ctx, w.f.chunks, clip(ps, r.off, r.end()), b, r.off); err != nil {
		return err
	}
	id, err := w.f.chunks.Put(w.f.ctx, b)
	if err == nil {
		w.put(r.off, r.len, id)
	}
	return err
}

// reusable returns the chunk that starts at off when cutting anew would find
// the same one.
func reusable(ps []piece, off, end int64) (piece, bool) {
	i := sort.Search(len(ps), func(i int) bool { return ps[i].off >= off })
	if i == len(ps) || ps[i].off != off || !ps[i].whole {
		return piece{}, false
	}
	p := ps[i]
	return p, p.cut || p.stored && p.end() == end
}

// keep leaves an extent as it is in the tree, or puts one that came from
// another file.
func (w *extentWriter) keep(p piece) {
	if p.stored && w.old {
		w.skipTo(p.off)
		w.at = p.end()
		return
	}
	w.put(p.off, p.len, p.id)
}

// recut cuts from off until the region ends or a chunk can be kept again.
func (w *extentWriter) recut(ps []piece, off, end int64) (int64, error) {
	r := &pieceReader{f: w.f, ps: ps, at: off, end: end}
	err := w.f.cut(r, func(data []byte) error {
		id, err := w.f.chunks.Put(w.f.ctx, data)
		if err != nil {
			return err
		}
		w.put(off, int64(len(data)), id)
		off += int64(len(data))
		if _, ok := reusable(ps, off, end); ok {
			return errResynced
		}
		return w.f.pause()
	})
	if err != nil && !errors.Is(err, errResynced) {
		return 0, err
	}
	return off, nil
}

var errResynced = errors.New("the cuts meet the old ones")

// clip returns the pieces cut to [lo, hi).
func clip(ps []piece, lo, hi int64) []piece {
	out := make([]piece, 0, len(ps))
	for _, p := range ps {
		if p.off < hi && p.end() > lo {
			out = append(out, p.sub(max(lo, p.off), min(hi, p.end())))
		}
	}
	return out
}

// pieceReader reads the bytes of a region; what no piece covers is zero.
type pieceReader struct {
	f       *folder
	ps      []piece
	at, end int64
}

func (r *pieceReader) Read(p []byte) (int, error) {
	if r.at >= r.end {
		return 0, io.EOF
	}
	p = p[:min(int64(len(p)), r.end-r.at)]
	clear(p)
	to := r.at + int64(len(p))
	if err := fill(r.f.ctx, r.f.chunks, clip(window(r.ps, r.at, to), r.at, to), p, r.at); err != nil {
		return 0, fmt.Errorf("read staged bytes: %w", err)
	}
	r.at = to
	return len(p), nil
}

// sortEdits brings edits into the tree's order: a range before the put at its
// start.
func sortEdits(edits []tree.Edit) {
	sort.SliceStable(edits, func(i, j int) bool {
		a, b := &edits[i], &edits[j]
		if c := bytes.Compare(a.Key, b.Key); c != 0 {
			return c < 0
		}
		return a.To != nil && b.To == nil
	})
}
