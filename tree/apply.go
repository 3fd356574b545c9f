package tree

import (
	"bytes"
	"context"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
)

// Apply returns the tree with a batch of edits applied; t stays what it is. It
// reads the nodes that the batch touches and those above them, and writes the
// nodes that are new. If nothing changes it returns a tree with the same root
// and writes nothing. A failed Apply may leave nodes in the store that nothing
// refers to.
//
// Each level is treated alike: edits of its entries change its nodes, and
// these changes are the edits of the level above, whose entries they are. A
// node is cut anew from where its first changed entry is until a node ends
// where one ended before; there the old nodes go on.
func (t *Tree) Apply(ctx context.Context, batch []Edit) (*Tree, error) {
	root, err := t.apply(ctx, batch)
	if err != nil {
		return nil, fmt.Errorf("apply to tree %v: %w", t.root, err)
	}
	return Load(t.store, t.cache, root), nil
}

func (t *Tree) apply(ctx context.Context, batch []Edit) (chunk.ID, error) {
	edits, err := flatten(batch)
	if err != nil || len(edits) == 0 {
		return t.root, err
	}
	if t.root == emptyRoot {
		return t.raise(ctx, nil, edits)
	}
	old, err := t.node(ctx, t.root)
	if err != nil {
		return chunk.ID{}, err
	}
	var sparse []*node
	for level := range old.level + 1 {
		r := recut{t: t, old: cursor{t: t, level: level}, new: newPacker(level), edits: edits}
		err := r.run(ctx)
		r.new.free()
		if err != nil {
			return chunk.ID{}, err
		}
		sparse = append(sparse, r.sparse...)
		if edits = r.changes(); len(edits) == 0 {
			return t.root, nil
		}
	}
	return t.settle(ctx, old, edits, sparse)
}

// settle finds the root, given the changes of the nodes on the old root's
// level. The old root may survive among them: nothing may be concluded from
// its not being mentioned.
func (t *Tree) settle(ctx context.Context, old *node, edits []Edit, sparse []*node) (chunk.ID, error) {
	top := overlay(old, edits)
	switch {
	case len(top) == 0:
		return emptyRoot, nil
	case len(top) > 1:
		if err := t.keep(ctx, sparse); err != nil {
			return chunk.ID{}, err
		}
		return t.raise(ctx, old, top)
	}
	// One node is left, and if it has one child that is the only node of its
	// level: the root is further down.
	byID := make(map[chunk.ID]*node, len(sparse))
	for _, n := range sparse {
		byID[n.id] = n
	}
	id := decodeRecord(top[0].Value).id
	for {
		n := byID[id]
		if n == nil {
			var err error
			if n, err = t.node(ctx, id); err != nil {
				return chunk.ID{}, err
			}
		}
		if n.level == 0 || n.n > 1 {
			break
		}
		delete(byID, id)
		id = n.child(0).id
	}
	kept := sparse[:0]
	for _, n := range sparse {
		if byID[n.id] != nil {
			kept = append(kept, n)
		}
	}
	return id, t.keep(ctx, kept)
}

// overlay returns the entries, as puts, of a level of one old entry, the one
// for node, once edits are applied to it.
func overlay(node *node, edits []Edit) []Edit {
	last := node.lastKey()
	out := make([]Edit, 0, len(edits)+1)
	placed := false
	place := func() {
		out = append(out, Edit{Key: last, Value: node.record().append(nil)})
		placed = true
	}
	for _, e := range edits {
		c := bytes.Compare(last, e.Key)
		if !placed && c < 0 {
			place()
		}
		if c == 0 || e.isRange() && c > 0 && bytes.Compare(last, e.To) < 0 {
			placed = true // replaced or removed
		}
		if !e.Delete {
			out = append(out, e)
		}
	}
	if !placed {
		place()
	}
	return out
}

// raise builds a tree upwards from the entries of one level: a new tree's
// leaves, or the level above an old root.
func (t *Tree) raise(ctx context.Context, below *node, puts []Edit) (chunk.ID, error) {
	s := &stack{t: t}
	defer s.free()
	if below != nil {
		s.base = below.level + 1
	}
	for _, e := range puts {
		if e.Delete {
			continue
		}
		if err := s.add(ctx, 0, e.Key, e.Value); err != nil {
			return chunk.ID{}, err
		}
	}
	if len(s.levels) == 0 {
		return emptyRoot, nil
	}
	root, err := s.finish(ctx)
	if err != nil {
		return chunk.ID{}, err
	}
	return root.id, nil
}

// keep writes nodes that had been held back.
func (t *Tree) keep(ctx context.Context, nodes []*node) error {
	for _, n := range nodes {
		if _, err := t.put(ctx, n.raw); err != nil {
			return err
		}
	}
	return nil
}
