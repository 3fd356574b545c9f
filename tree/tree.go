package tree

import (
	"bytes"
	"context"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
)

// Store keeps tree nodes by digest. It is called by many goroutines at once.
type Store interface {
	// Get returns the bytes that hash to id, verified. The tree keeps the
	// slice for as long as it likes and nobody changes it any more. Any
	// error, also about a node that is not there, reaches the tree's caller
	// in the chain of the one it gets.
	Get(ctx context.Context, id chunk.ID) ([]byte, error)

	// Put stores a node and returns its digest; storing one that is there
	// already is no error. The tree does not change the bytes afterwards,
	// so the store may keep the slice. Nodes come in
	// no particular order.
	Put(ctx context.Context, node []byte) (chunk.ID, error)
}

var (
	emptyNode = []byte{magic[0], magic[1], version, 0, 0, 0, 0, 0}
	emptyRoot = chunk.Sum(emptyNode)
)

// Tree is an immutable ordered map from keys to values: a root in a store. It
// is a small value behind a pointer, cheap to make and safe for concurrent use.
type Tree struct {
	store Store
	cache *Cache
	root  chunk.ID
}

// Empty returns the tree without entries.
func Empty(s Store, c *Cache) *Tree { return Load(s, c, emptyRoot) }

// Load returns the tree with the given root. It reads nothing: nodes are
// fetched when they are needed, and what is missing or damaged is reported
// then.
func Load(s Store, c *Cache, root chunk.ID) *Tree {
	return &Tree{store: s, cache: c, root: root}
}

// EmptyRoot returns the root of the tree without entries. Its node is known to
// every reader and never stored.
func EmptyRoot() chunk.ID { return emptyRoot }

// Root returns the digest of the root node. Two trees hold the same entries
// exactly if their roots are equal.
func (t *Tree) Root() chunk.ID { return t.root }

// Size is the extent of a tree.
type Size struct {
	Entries uint64
	Bytes   uint64 // of keys and values
	Levels  int    // of nodes; 0 if there are no entries
}

// Size reads the root node.
func (t *Tree) Size(ctx context.Context) (Size, error) {
	if t.root == emptyRoot {
		return Size{}, nil
	}
	n, err := t.node(ctx, t.root)
	if err != nil {
		return Size{}, err
	}
	return Size{Entries: n.entries, Bytes: n.bytes, Levels: int(n.level) + 1}, nil
}

// Get returns the value of key. The value is never nil if ok, and must not be
// modified. It is part of a node in memory: copy it rather than keep it long.
func (t *Tree) Get(ctx context.Context, key []byte) (value []byte, ok bool, err error) {
	if t.root == emptyRoot {
		return nil, false, nil
	}
	n, err := t.node(ctx, t.root)
	if err != nil {
		return nil, false, err
	}
	for n.level > 0 {
		i := n.search(key, 0)
		if i == n.n {
			return nil, false, nil
		}
		if n, err = t.child(ctx, n, i); err != nil {
			return nil, false, err
		}
	}
	i := n.search(key, 0)
	if i == n.n || n.compareKey(i, key) != 0 {
		return nil, false, nil
	}
	return n.value(i), true, nil
}

// node returns a decoded node from the cache or the store.
func (t *Tree) node(ctx context.Context, id chunk.ID) (*node, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if n := t.cache.get(id); n != nil {
		return n, nil
	}
	raw, err := t.store.Get(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read tree node %v: %w", id, err)
	}
	n, err := decode(id, raw)
	if err != nil {
		return nil, err
	}
	if n.n == 0 {
		return nil, corrupt(id, "an empty leaf was stored")
	}
	return t.cache.put(n), nil
}

// child returns the i-th child of an inner node, checked against what the node
// says of it. The digests alone do not do that: whoever made up the parent made
// up the digest in it. The level check is what bounds every descent.
func (t *Tree) child(ctx context.Context, parent *node, i int) (*node, error) {
	r := parent.child(i)
	n, err := t.node(ctx, r.id)
	if err != nil {
		return nil, err
	}
	if err := checkChild(parent, i, r, n); err != nil {
		return nil, err
	}
	return n, nil
}

// below returns the child that the last step of a path takes, checked also
// against what lies left of it.
func (t *Tree) below(ctx context.Context, path []step) (*node, error) {
	s := path[len(path)-1]
	n, err := t.child(ctx, s.n, s.i)
	if err != nil {
		return nil, err
	}
	return n, checkStart(path, n)
}

func checkChild(parent *node, i int, r record, n *node) error {
	switch {
	case n.level != parent.level-1:
		return corrupt(parent.id, "child %d, %v, is of level %d", i, n.id, n.level)
	case n.entries != r.entries || n.bytes != r.bytes:
		return corrupt(parent.id, "child %d, %v, has %d entries of %d bytes, want %d of %d",
			i, n.id, n.entries, n.bytes, r.entries, r.bytes)
	case !sameKey(parent, i, n, n.n-1):
		return corrupt(parent.id, "child %d, %v, ends with another key", i, n.id)
	}
	return nil
}

// checkStart verifies that n, reached by the path, begins after everything to
// its left: after the entry before the one taken by the nearest ancestor that
// did not take its first.
func checkStart(path []step, n *node) error {
	for up := len(path) - 1; up >= 0; up-- {
		if s := path[up]; s.i > 0 {
			if compareKeys(s.n, s.i-1, n, 0) >= 0 {
				return corrupt(n.id, "it begins within its left neighbour below %v", s.n.id)
			}
			return nil
		}
	}
	return nil
}

// sameKey reports whether the i-th key of a is the j-th of b.
func sameKey(a *node, i int, b *node, j int) bool {
	return a.keyLen(i) == b.keyLen(j) && compareKeys(a, i, b, j) == 0
}

// compareKeys compares the i-th key of a with the j-th of b without building
// either.
func compareKeys(a *node, i int, b *node, j int) int {
	if len(a.prefix) > len(b.prefix) {
		return -compareKeys(b, j, a, i)
	}
	p := len(a.prefix)
	if c := bytes.Compare(a.prefix, b.prefix[:p]); c != 0 {
		return c
	}
	as, middle := a.suffix(i), b.prefix[p:]
	q := min(len(as), len(middle))
	if c := bytes.Compare(as[:q], middle[:q]); c != 0 || q < len(middle) {
		if c == 0 {
			c = -1 // as ends within b's prefix
		}
		return c
	}
	return bytes.Compare(as[q:], b.suffix(j))
}

// put stores a new node and returns it decoded.
func (t *Tree) put(ctx context.Context, raw []byte) (*node, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	id, err := t.store.Put(ctx, raw)
	if err != nil {
		return nil, fmt.Errorf("write tree node of level %d: %w", raw[3], err)
	}
	n := &node{id: id, raw: raw}
	if err := n.parse(); err != nil {
		return nil, fmt.Errorf("write tree node %v: %w", id, err)
	}
	return t.cache.put(n), nil
}
