package tree

import (
	"context"

	"github.com/vfsd/vfsd/chunk"
)

// Nodes visits the digest of every node, parents before their children, and
// goes below a node only if visit returns descend: so a caller who has seen a
// subtree before skips it. Leaves, level 0, are visited but not read. The root
// is read before it is visited, as its level is not known otherwise. An empty
// tree has no nodes. An error of visit ends the walk and is returned as it is.
func (t *Tree) Nodes(ctx context.Context, visit func(id chunk.ID, level int) (descend bool, err error)) error {
	if t.root == emptyRoot {
		return nil
	}
	root, err := t.node(ctx, t.root)
	if err != nil {
		return err
	}
	descend, err := visit(t.root, int(root.level))
	if err != nil || !descend {
		return err
	}
	return t.nodesBelow(ctx, root, visit)
}

func (t *Tree) nodesBelow(ctx context.Context, n *node, visit func(chunk.ID, int) (bool, error)) error {
	if n.level == 0 {
		return nil
	}
	for i := range n.n {
		descend, err := visit(n.child(i).id, int(n.level)-1)
		if err != nil {
			return err
		}
		if !descend || n.level == 1 {
			continue
		}
		child, err := t.child(ctx, n, i)
		if err != nil {
			return err
		}
		if err := t.nodesBelow(ctx, child, visit); err != nil {
			return err
		}
	}
	return nil
}

// Children returns the digests of the children of an encoded node, none if it
// is a leaf. It checks the encoding, not the digest.
func Children(node []byte) ([]chunk.ID, error) {
	n, err := decode(chunk.Sum(node), node)
	if err != nil || n.level == 0 {
		return nil, err
	}
	ids := make([]chunk.ID, n.n)
	for i := range ids {
		ids[i] = n.child(i).id
	}
	return ids, nil
}

// Inspect returns the level of an encoded node, leaves being 0, and the digests
// of its children. It checks the encoding, not the digest. The empty leaf, which
// is never stored or sent, is refused.
func Inspect(node []byte) (level int, children []chunk.ID, err error) {
	id := chunk.Sum(node)
	n, err := decode(id, node)
	if err != nil {
		return 0, nil, err
	}
	if n.n == 0 {
		return 0, nil, corrupt(id, "an empty leaf")
	}
	children, err = Children(node)
	return int(n.level), children, err
}

// Entries calls fn for each entry of an encoded leaf in order, and for none of
// an inner node. The key is valid during the call, the value as long as node
// is unchanged. It checks the encoding, not the digest.
func Entries(node []byte, fn func(key, value []byte) (more bool)) error {
	n, err := decode(chunk.Sum(node), node)
	if err != nil || n.level > 0 {
		return err
	}
	var key []byte
	for i := range n.n {
		key = n.appendKey(key[:0], i)
		if !fn(key, n.value(i)) {
			break
		}
	}
	return nil
}
