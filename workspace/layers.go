package workspace

import (
	"context"

	"github.com/tidwall/btree"

	"github.com/vfsd/vfsd/tree"
)

// overlay is an ordered map of what changed: key -> value, nil for deleted.
type overlay = btree.Map[string, []byte]

// layers is the map as it is now: a batch above a batch above a tree. A key is
// what the uppermost layer that knows it says.
//
// A view of a snapshot has the tree alone.
type layers struct {
	active *overlay // changes since the last freeze
	frozen *overlay // changes that a checkpoint is taking into the tree, or nil
	base   *tree.Tree
}

// get returns the value of key. The result is not to be modified.
func (l *layers) get(key []byte) (value []byte, ok bool, err error) {
	if v, known := l.overlaid(key); known {
		return v, v != nil, nil
	}
	return l.base.Get(context.Background(), key)
}

// overlaid returns what the layers above the tree know of key.
func (l *layers) overlaid(key []byte) (value []byte, known bool) {
	for _, o := range [...]*overlay{l.active, l.frozen} {
		if o == nil {
			continue
		}
		if v, ok := o.Get(string(key)); ok {
			return v, true
		}
	}
	return nil, false
}

// view returns layers that later changes do not reach. The caller holds the
// lock that guards active, exclusively: a copy marks the map's nodes shared.
func (l *layers) view() layers {
	v := layers{frozen: l.frozen, base: l.base}
	if l.active != nil {
		v.active = l.active.Copy()
	}
	return v
}

// iter yields the keys of [lo, hi) in order.
func (l *layers) iter(ctx context.Context, lo, hi []byte) *layersIter {
	it := &layersIter{hi: hi, base: l.base.Iter(ctx, lo, hi)}
	for _, o := range [...]*overlay{l.active, l.frozen} {
		if o != nil && o.Len() > 0 {
			c := &overlayCursor{it: o.Iter()}
			c.ok = c.it.Seek(string(lo))
			it.over = append(it.over, c)
		}
	}
	it.advanceBase()
	return it
}

type overlayCursor struct {
	it btree.MapIter[string, []byte]
	ok bool
}

// layersIter merges the layers, the uppermost first among equals.
type layersIter struct {
	hi   []byte
	over []*overlayCursor
	base *tree.Iter

	baseKey, baseValue []byte
	baseOK             bool
	// lent says that baseKey was handed out: the tree's iterator, which reuses
	// its memory, moves on only at the next call.
	lent bool
}

func (it *layersIter) advanceBase() {
	it.baseKey, it.baseValue, it.baseOK = it.base.Next()
	it.lent = false
}

// next returns the next key and its value; ok is false at the end or after an
// error, which err tells. The key is good until the next call.
func (it *layersIter) next() (key, value []byte, ok bool) {
	if it.lent {
		it.advanceBase()
	}
	for {
		var least string
		found := false
		for _, c := range it.over {
			if c.ok && (!found || c.it.Key() < least) {
				least, found = c.it.Key(), true
			}
		}
		if found && it.hi != nil && least >= string(it.hi) {
			found = false
		}
		if it.baseOK && (!found || string(it.baseKey) < least) {
			it.lent = true
			return it.baseKey, it.baseValue, true
		}
		if !found || it.base.Err() != nil {
			return nil, nil, false
		}
		value = it.take(least)
		if value != nil {
			return []byte(least), value, true
		}
	}
}

// take steps every layer past key and returns what the uppermost had.
func (it *layersIter) take(key string) []byte {
	var value []byte
	first := true
	for _, c := range it.over {
		if c.ok && c.it.Key() == key {
			if first {
				value, first = c.it.Value(), false
			}
			c.ok = c.it.Next()
		}
	}
	if it.baseOK && string(it.baseKey) == key {
		it.advanceBase()
	}
	return value
}

func (it *layersIter) err() error { return it.base.Err() }

// scan calls fn for the keys of [lo, hi) until it returns false.
func (l *layers) scan(ctx context.Context, lo, hi []byte, fn func(key, value []byte) (more bool, err error)) error {
	it := l.iter(ctx, lo, hi)
	for {
		k, v, ok := it.next()
		if !ok {
			return it.err()
		}
		more, err := fn(k, v)
		if err != nil || !more {
			return err
		}
	}
}
