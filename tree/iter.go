package tree

import (
	"bytes"
	"context"
)

// Iter returns the entries with lo <= key < hi in order, one at each call of
// Next; a nil hi means up to the end. Nothing is read before the first Next.
// The iterator is for one goroutine; any number of them run over one tree, and
// it need not be closed.
func (t *Tree) Iter(ctx context.Context, lo, hi []byte) *Iter {
	return &Iter{
		ctx: ctx,
		c:   cursor{t: t},
		lo:  bytes.Clone(lo),
		hi:  bytes.Clone(hi),
	}
}

// Iter is a pull iterator over a range of a tree.
type Iter struct {
	ctx    context.Context
	c      cursor
	lo, hi []byte
	key    []byte
	n      *node // leaf being read; nil before the first Next
	i, end int   // next index in it, and where it or the range ends
	done   bool
	err    error
}

// Next returns the next entry. The key is valid until the next call; the value
// for good, but it must not be modified. After the last entry and after an
// error it returns !ok for ever; Err tells them apart.
func (it *Iter) Next() (key, value []byte, ok bool) {
	for it.i == it.end {
		if it.done || !it.advance() {
			it.done = true
			return nil, nil, false
		}
	}
	it.key = it.n.appendKey(it.key[:0], it.i)
	value = it.n.value(it.i)
	it.i++
	return it.key, value, true
}

// Err returns what stopped the iterator before the end of its range.
func (it *Iter) Err() error { return it.err }

// advance moves to the next leaf and reports whether there is one.
func (it *Iter) advance() (ok bool) {
	if it.n == nil {
		if it.c.t.root == emptyRoot {
			return false
		}
		ok, it.err = it.c.seek(it.ctx, it.lo)
	} else {
		ok, it.err = it.c.next(it.ctx)
	}
	if !ok || it.err != nil {
		return false
	}
	first := it.n == nil
	it.n = it.c.node()
	it.i, it.end = 0, it.n.n
	if first {
		it.i = it.n.search(it.lo, 0)
	}
	if it.hi != nil && it.n.compareKey(it.end-1, it.hi) >= 0 {
		it.end = max(it.i, it.n.search(it.hi, 0))
		it.done = true
	}
	return true
}

// Scan calls fn for each entry with lo <= key < hi in order until it returns
// false; a nil hi means up to the end. The slices are as Iter.Next gives them.
func (t *Tree) Scan(ctx context.Context, lo, hi []byte, fn func(key, value []byte) (more bool)) error {
	it := t.Iter(ctx, lo, hi)
	for {
		key, value, ok := it.Next()
		if !ok {
			return it.Err()
		}
		if !fn(key, value) {
			return nil
		}
	}
}

// Last returns the last entry with lo <= key < hi; a nil hi means up to the
// end. With hi just above a key it finds what covers that key, like the extent
// of an offset. The key is the caller's; the value is as Get gives it.
func (t *Tree) Last(ctx context.Context, lo, hi []byte) (key, value []byte, ok bool, err error) {
	if t.root == emptyRoot {
		return nil, nil, false, nil
	}
	if hi == nil {
		hi = keyEnd
	}
	c := cursor{t: t}
	if _, err := c.seek(ctx, hi); err != nil {
		return nil, nil, false, err
	}
	i := c.node().search(hi, 0)
	if i == 0 {
		if ok, err = c.prev(ctx); !ok || err != nil {
			return nil, nil, false, err
		}
		i = c.node().n
	}
	n := c.node()
	if n.compareKey(i-1, lo) < 0 {
		return nil, nil, false, nil
	}
	return n.appendKey(nil, i-1), n.value(i - 1), true, nil
}
