package tree

import (
	"bytes"
	"context"
	"fmt"
)

// Change is one key that two trees do not agree on. A value is nil if the tree
// has no such key; an empty value is not nil.
type Change struct {
	Key, Old, New []byte
}

// Diff calls fn for each key whose value in a differs from that in b, in
// order, until it returns false. It reads what differs: subtrees that both
// have are skipped by their digest, at whatever height they hang. The key is
// valid during the call; the values for good, but nothing may be modified.
func Diff(ctx context.Context, a, b *Tree, fn func(Change) (more bool)) error {
	d := newDiffer(a, b)
	for {
		c, ok, err := d.next(ctx)
		if err != nil {
			return fmt.Errorf("diff of trees %v and %v: %w", a.root, b.root, err)
		}
		if !ok || !fn(c) {
			return nil
		}
	}
}

// differ returns the changes from a to b one by one.
//
// Each side is at an item: a subtree not yet looked into, or an entry. Equal
// subtrees are stepped over together. Otherwise the higher one is opened, or
// both: what they share is found among their children. As the sides advance by
// key, a subtree that both have is the item of both at the same time, unless
// an entry next to it had one side open it already; then its path is read and
// its parts are found equal.
type differ struct {
	a, b side
	key  []byte
}

func newDiffer(a, b *Tree) *differ { return &differ{a: side{t: a}, b: side{t: b}} }

// next returns the next change; its key is valid until the next call.
func (d *differ) next(ctx context.Context) (c Change, ok bool, err error) {
	if d.a.path == nil {
		if d.a.t.root == d.b.t.root {
			return Change{}, false, nil
		}
		if err := d.a.begin(ctx); err != nil {
			return Change{}, false, err
		}
		if err := d.b.begin(ctx); err != nil {
			return Change{}, false, err
		}
	}
	for {
		opened, err := d.open(ctx)
		if err != nil {
			return Change{}, false, err
		}
		if opened {
			continue
		}
		if d.a.done() && d.b.done() {
			return Change{}, false, nil
		}
		if c, differs := d.entry(); differs {
			return c, true, nil
		}
	}
}

// open brings both sides closer to an entry each, and reports whether there
// was anything to do.
func (d *differ) open(ctx context.Context) (bool, error) {
	a, b := d.a.height(), d.b.height()
	if a <= 0 && b <= 0 {
		return false, nil
	}
	if a == b && bytes.Equal(d.a.item(), d.b.item()) {
		d.a.skip()
		d.b.skip()
		return true, nil
	}
	if a >= b {
		if err := d.a.open(ctx); err != nil {
			return false, err
		}
	}
	if b >= a {
		if err := d.b.open(ctx); err != nil {
			return false, err
		}
	}
	return true, nil
}

// entry compares the entries that the sides are at and steps over them.
func (d *differ) entry() (c Change, differs bool) {
	order := 0
	switch {
	case d.a.done():
		order = 1
	case d.b.done():
		order = -1
	default:
		order = compareKeys(d.a.top().n, d.a.top().i, d.b.top().n, d.b.top().i)
	}
	from := d.a.top
	if order > 0 {
		from = d.b.top
	}
	d.key = from().n.appendKey(d.key[:0], from().i)
	c.Key = d.key
	if order <= 0 {
		c.Old = d.a.item()
		d.a.skip()
	}
	if order >= 0 {
		c.New = d.b.item()
		d.b.skip()
	}
	return c, order != 0 || !bytes.Equal(c.Old, c.New)
}

// side walks one tree for a differ.
type side struct {
	t    *Tree
	path []step // the last step is at the item; none at the end
}

func (s *side) begin(ctx context.Context) error {
	s.path = make([]step, 0, MaxLevels)
	if s.t.root == emptyRoot {
		return nil
	}
	n, err := s.t.node(ctx, s.t.root)
	if err != nil {
		return err
	}
	s.path = append(s.path, step{n: n})
	return nil
}

func (s *side) done() bool { return len(s.path) == 0 }

func (s *side) top() *step { return &s.path[len(s.path)-1] }

// height is that of the subtree the side is at, 0 at an entry, -1 at the end.
func (s *side) height() int {
	if s.done() {
		return -1
	}
	return int(s.top().n.level)
}

// item is the value of an entry or the record of a subtree.
func (s *side) item() []byte { return s.top().n.value(s.top().i) }

func (s *side) open(ctx context.Context) error {
	n, err := s.t.below(ctx, s.path)
	if err != nil {
		return err
	}
	s.path = append(s.path, step{n: n})
	return nil
}

func (s *side) skip() {
	for !s.done() {
		top := s.top()
		if top.i++; top.i < top.n.n {
			return
		}
		s.path = s.path[:len(s.path)-1]
	}
}
