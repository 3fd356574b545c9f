package workspace

import (
	"container/heap"
	"context"
	"errors"

	"github.com/vfsd/vfsd/chunk"
)

// keptRecords is how far back the records of commits are kept and walked, with
// or without their trees: they tell what a peer's commit has in common with
// ours, and take some two hundred bytes each.
const keptRecords = 1 << 16

// walked is a commit on a walk through history.
type walked struct {
	id chunk.ID
	c  *Commit
}

// pastHeap yields the youngest commit first. Clocks may lie: that costs a
// longer walk and nothing else.
type pastHeap []walked

func (h pastHeap) Len() int { return len(h) }
func (h pastHeap) Less(i, j int) bool {
	if h[i].c.Time != h[j].c.Time {
		return h[i].c.Time > h[j].c.Time
	}
	return chunk.Compare(h[i].id, h[j].id) > 0
}
func (h pastHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *pastHeap) Push(x any)   { *h = append(*h, x.(walked)) }
func (h *pastHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// past reads commits, of which the older ones may have been pruned.
type past struct {
	ctx    context.Context
	chunks *chunk.Packs
}

// commit returns nil for a commit that is not here.
func (p past) commit(id chunk.ID) (*Commit, error) {
	if !p.chunks.Has(id) {
		return nil, nil
	}
	c, err := getCommit(p.ctx, p.chunks, id)
	if errors.Is(err, chunk.ErrNotFound) {
		return nil, nil
	}
	return c, err
}

// walk visits a commit and its ancestors, each once, the youngest first, until
// visit says that it has enough. History ends where it was pruned.
func (p past) walk(from chunk.ID, limit int, visit func(id chunk.ID, c *Commit) (more bool, err error)) error {
	seen := map[chunk.ID]bool{}
	var next pastHeap
	add := func(id chunk.ID) error {
		if seen[id] {
			return nil
		}
		seen[id] = true
		c, err := p.commit(id)
		if err == nil && c != nil {
			heap.Push(&next, walked{id, c})
		}
		return err
	}
	err := add(from)
	for ; err == nil && next.Len() > 0 && limit > 0; limit-- {
		x := heap.Pop(&next).(walked)
		more, verr := visit(x.id, x.c)
		if verr != nil || !more {
			return verr
		}
		for _, parent := range x.c.Parents {
			if err = add(parent); err != nil {
				break
			}
		}
	}
	return err
}

// isAncestor reports whether a commit is another one or an ancestor of it.
func (p past) isAncestor(old, of chunk.ID) (bool, error) {
	found := false
	err := p.walk(of, keptRecords, func(id chunk.ID, c *Commit) (bool, error) {
		found = id == old
		for _, parent := range c.Parents {
			found = found || parent == old
		}
		return !found, nil
	})
	return found, err
}

const (
	fromA = 1 << iota // it is an ancestor of the first
	fromB
	stale // it is an ancestor of a common ancestor
)

// bases returns the best common ancestors of two commits: those that are no
// ancestors of other common ones. There are several when both sides have merged
// one another before; none when history does not say.
func (p past) bases(a, b chunk.ID) ([]walked, error) {
	flags := map[chunk.ID]int{}
	commits := map[chunk.ID]*Commit{}
	var next pastHeap
	fresh := 0 // entries of next that are not stale
	paint := func(id chunk.ID, f int) error {
		if flags[id]&f == f {
			return nil
		}
		flags[id] |= f
		c := commits[id]
		if c == nil {
			var err error
			if c, err = p.commit(id); err != nil || c == nil {
				return err
			}
			commits[id] = c
		}
		heap.Push(&next, walked{id, c})
		if flags[id]&stale == 0 {
			fresh++
		}
		return nil
	}
	if err := errors.Join(paint(a, fromA), paint(b, fromB)); err != nil {
		return nil, err
	}
	var common []walked
	counted := map[chunk.ID]bool{}
	for steps := 0; next.Len() > 0 && steps < 2*keptRecords; steps++ {
		x := heap.Pop(&next).(walked)
		f := flags[x.id]
		if f&stale == 0 {
			fresh--
		} else if fresh <= 0 {
			break
		}
		down := f
		if f&(fromA|fromB) == fromA|fromB {
			if !counted[x.id] && f&stale == 0 {
				counted[x.id] = true
				common = append(common, x)
			}
			down |= stale
		}
		for _, parent := range x.c.Parents {
			if err := paint(parent, down); err != nil {
				return nil, err
			}
		}
	}
	return p.best(common)
}

// best leaves out what is an ancestor of another one.
func (p past) best(common []walked) ([]walked, error) {
	var out []walked
	for i, x := range common {
		covered := false
		for j, y := range common {
			if i == j || covered {
				continue
			}
			var err error
			if covered, err = p.isAncestor(x.id, y.id); err != nil {
				return nil, err
			}
		}
		if !covered {
			out = append(out, x)
		}
	}
	return out, nil
}

func (w *Workspace) past(ctx context.Context) past { return past{ctx, w.chunks} }

// contains reports whether the history of a commit has another one, or is it,
// reading no more of it than lies between them.
func (p past) contains(of, old chunk.ID) (bool, error) {
	common, err := p.bases(old, of)
	return len(common) == 1 && common[0].id == old, err
}

// IsAncestor reports whether a commit is another one or in its history, as far
// as that is here.
func (w *Workspace) IsAncestor(ctx context.Context, old, of chunk.ID) (bool, error) {
	return w.past(ctx).contains(of, old)
}
