package tree

import (
	"context"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
)

// maxProblems bounds what a report lists.
const maxProblems = 100

// Report is what Check found.
type Report struct {
	Size
	Nodes     int
	Leaves    int   // of the nodes
	NodeBytes int64 // of their encodings
	Largest   int   // bytes of the largest encoding
	Problems  []Problem
	More      int // problems beyond those listed
}

// Problem is a node that cannot be read or is not as it must be.
type Problem struct {
	ID    chunk.ID
	Level int // -1 if unknown
	Err   error
}

// Err returns nil if there are no problems, else an error about the first.
func (r *Report) Err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	p := r.Problems[0]
	return fmt.Errorf("tree: %d problems, first at level %d: %w", len(r.Problems)+r.More, p.Level, p.Err)
}

// Check reads every node of the tree from the store, past the cache, and
// verifies it: the digest, the encoding, order and limits, levels and totals,
// and that nodes end exactly where the boundary rule says and the root is no
// higher than needed, that is, that the tree is the only one for its entries.
// What is wrong is in the report; the error is about ctx alone.
func Check(ctx context.Context, t *Tree) (Report, error) {
	k := checker{ctx: ctx, t: t}
	if t.root == emptyRoot {
		return k.report, nil
	}
	root, err := k.read(t.root)
	switch {
	case ctx.Err() != nil:
		return k.report, ctx.Err()
	case err != nil:
		k.problem(t.root, -1, err)
		return k.report, nil
	}
	k.report.Size = Size{Entries: root.entries, Bytes: root.bytes, Levels: int(root.level) + 1}
	if root.level > 0 && root.n == 1 {
		k.problem(root.id, int(root.level), corrupt(root.id, "a root with one child"))
	}
	k.walk(root)
	return k.report, ctx.Err()
}

type checker struct {
	ctx    context.Context
	t      *Tree
	path   []step // to the node being checked
	report Report
}

func (k *checker) problem(id chunk.ID, level int, err error) {
	if len(k.report.Problems) == maxProblems {
		k.report.More++
		return
	}
	k.report.Problems = append(k.report.Problems, Problem{ID: id, Level: level, Err: err})
}

func (k *checker) read(id chunk.ID) (*node, error) {
	raw, err := k.t.store.Get(k.ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read tree node %v: %w", id, err)
	}
	if sum := chunk.Sum(raw); sum != id {
		return nil, corrupt(id, "its bytes hash to %v", sum)
	}
	n, err := decode(id, raw)
	if err == nil && n.n == 0 {
		err = corrupt(id, "an empty leaf was stored")
	}
	return n, err
}

// walk checks a node, which the path leads to, and what is below it.
func (k *checker) walk(n *node) {
	r := &k.report
	r.Nodes++
	r.NodeBytes += int64(len(n.raw))
	r.Largest = max(r.Largest, len(n.raw))
	last := true // of its level
	for _, s := range k.path {
		last = last && s.i == s.n.n-1
	}
	if err := n.checkBoundaries(last); err != nil {
		k.problem(n.id, int(n.level), err)
	}
	if n.level == 0 {
		r.Leaves++
		return
	}
	k.path = append(k.path, step{n: n})
	for i := range n.n {
		if k.ctx.Err() != nil {
			return
		}
		k.path[len(k.path)-1].i = i
		rec := n.child(i)
		child, err := k.read(rec.id)
		if err == nil {
			err = checkChild(n, i, rec, child)
		}
		if err == nil {
			err = checkStart(k.path, child)
		}
		if err != nil {
			if k.ctx.Err() == nil {
				k.problem(rec.id, int(n.level)-1, err)
			}
			continue
		}
		k.walk(child)
	}
	k.path = k.path[:len(k.path)-1]
}

// checkBoundaries verifies that no entry but the last ends the node, and that
// the last does, unless the level ends there.
func (n *node) checkBoundaries(last bool) error {
	var key []byte
	var before uint64
	for i := range n.n {
		key = n.appendKey(key[:0], i)
		after := before + weight(len(key), len(n.value(i)))
		ends := endsNode(n.level, key, before, after, i+1)
		if ends && i < n.n-1 {
			return corrupt(n.id, "goes on after entry %d of %d, which ends it", i, n.n)
		}
		if !ends && i == n.n-1 && !last {
			return corrupt(n.id, "ends where no boundary is")
		}
		before = after
	}
	return nil
}
