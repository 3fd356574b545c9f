package tree

import (
	"bytes"
	"context"

	"github.com/vfsd/vfsd/chunk"
)

// recut applies edits to the entries of one level.
type recut struct {
	t     *Tree
	old   cursor
	new   *packer
	edits []Edit // not applied yet
	begun bool   // the first of them is a range that reaches past the node read last

	gone   []Edit  // deletes of the old nodes read, in order
	made   []Edit  // puts of the nodes cut, in order
	ranges []Edit  // ranges that remove the last key of an old node
	sparse []*node // nodes cut but not yet written, see cut

	current *node // old node whose entries are being read
}

// run leaves in gone, made and ranges what becomes of the nodes of the level.
func (r *recut) run(ctx context.Context) error {
	for len(r.edits) > 0 {
		// A node of the new level begins here, and where the cursor moves
		// to, one of the old level does. What lies between stays.
		if _, err := r.old.seek(ctx, r.edits[0].Key); err != nil {
			return err
		}
		for {
			if err := r.consume(ctx, r.old.node()); err != nil {
				return err
			}
			more, err := r.advance(ctx)
			if err != nil {
				return err
			}
			if !more {
				return r.close(ctx)
			}
			if r.new.empty() && !r.begun {
				break
			}
		}
	}
	return nil
}

// advance moves to the next old node to read, over those that the range which
// has begun removes as a whole.
func (r *recut) advance(ctx context.Context) (bool, error) {
	if !r.begun {
		return r.old.next(ctx)
	}
	e := &r.edits[0]
	r.ranges = append(r.ranges, *e)
	within, err := r.old.seek(ctx, e.To)
	if err != nil || !within {
		return false, err
	}
	if r.old.node().compareKey(0, e.To) >= 0 {
		r.begun, r.edits = false, r.edits[1:]
	}
	return true, nil
}

// consume passes the entries of an old node on to the new nodes, changed by
// the edits up to its last key. A range that reaches further stays.
//
// While the open node holds no more than the old one does up to the same entry,
// its entries need no hash: a lighter node ends no earlier, and the old one did
// not end before its last entry.
func (r *recut) consume(ctx context.Context, n *node) error {
	r.current = n
	r.gone = append(r.gone, Edit{Key: n.lastKey(), Value: n.id[:], Delete: true})
	light := r.new.empty()
	for i := 0; ; {
		upto, edited := n.n, false
		if len(r.edits) > 0 && n.compareKey(n.n-1, r.edits[0].Key) >= 0 {
			upto, edited = n.search(r.edits[0].Key, i), true
		}
		for ; i < upto; i++ {
			r.new.keys = n.appendKey(r.new.keys, i)
			if light && i < n.n-1 {
				r.new.append(n.value(i))
			} else if r.new.appendCut(n.value(i)) {
				light = true
				if err := r.cut(ctx); err != nil {
					return err
				}
			}
		}
		if !edited {
			return nil
		}
		e := &r.edits[0]
		switch hit := n.compareKey(i, e.Key) == 0; {
		case e.isRange():
			i = n.search(e.To, i)
			if r.begun = i == n.n; r.begun {
				return nil
			}
		case e.Delete && hit:
			i++
		case !e.Delete:
			light = light && hit && len(e.Value) <= len(n.value(i))
			if hit {
				i++
			}
			cut, err := r.add(ctx, e.Key, e.Value)
			if err != nil {
				return err
			}
			light = light || cut
		}
		r.edits = r.edits[1:]
	}
}

// add passes one entry on and reports whether it ended the open node.
func (r *recut) add(ctx context.Context, key, value []byte) (bool, error) {
	if !r.new.add(key, value) {
		return false, nil
	}
	return true, r.cut(ctx)
}

// close handles the edits after the last old node and ends the level.
func (r *recut) close(ctx context.Context) error {
	for _, e := range r.edits {
		if e.Delete {
			continue
		}
		if _, err := r.add(ctx, e.Key, e.Value); err != nil {
			return err
		}
	}
	r.edits = nil
	if r.new.empty() {
		return nil
	}
	return r.cut(ctx)
}

// cut ends the open node. It is written at once, unless it is an inner node
// with one child: only the last node of a level can be that, and it is part of
// the tree only if the tree is higher.
func (r *recut) cut(ctx context.Context) error {
	last := bytes.Clone(r.new.key(len(r.new.bounds) - 1))
	count := len(r.new.bounds)
	raw := r.new.take()
	var n *node
	var err error
	switch {
	case bytes.Equal(raw, r.current.raw):
		n = r.current
	case r.new.level > 0 && count == 1:
		if n, err = decode(chunk.Sum(raw), raw); err == nil {
			r.sparse = append(r.sparse, n)
		}
	default:
		n, err = r.t.put(ctx, raw)
	}
	if err != nil {
		return err
	}
	r.made = append(r.made, Edit{Key: last, Value: n.record().append(nil)})
	return nil
}

// changes merges what became of the nodes into edits of the level above. Every
// old node that a range skipped has its last key in the range, and no new one
// has: so the range does above what it did here.
func (r *recut) changes() []Edit {
	out := make([]Edit, 0, len(r.made)+len(r.ranges))
	gone, made, ranges := r.gone, r.made, r.ranges
	for len(gone)+len(made)+len(ranges) > 0 {
		if len(ranges) > 0 && notAbove(ranges, gone) && notAbove(ranges, made) {
			for len(gone) > 0 && bytes.Compare(gone[0].Key, ranges[0].To) < 0 {
				gone = gone[1:]
			}
			out, ranges = append(out, ranges[0]), ranges[1:]
			continue
		}
		c := -1
		if len(gone) == 0 {
			c = 1
		} else if len(made) > 0 {
			c = bytes.Compare(gone[0].Key, made[0].Key)
		}
		switch {
		case c < 0:
			out, gone = append(out, Edit{Key: gone[0].Key, Delete: true}), gone[1:]
		case c > 0:
			out, made = append(out, made[0]), made[1:]
		default:
			if !bytes.Equal(gone[0].Value, made[0].Value[:len(chunk.ID{})]) {
				out = append(out, made[0])
			}
			gone, made = gone[1:], made[1:]
		}
	}
	return out
}

// notAbove reports whether the first of a sorts before or with the first of b.
func notAbove(a, b []Edit) bool {
	return len(b) == 0 || bytes.Compare(a[0].Key, b[0].Key) <= 0
}
