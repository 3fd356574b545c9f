package vcs

import (
	"container/heap"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// commitHeap has the youngest commit on top; those of one second in the order
// in which they came.
type commitHeap struct {
	commits []*object.Commit
	order   map[plumbing.Hash]int
}

func (h *commitHeap) Len() int { return len(h.commits) }
func (h *commitHeap) Less(i, j int) bool {
	a, b := h.commits[i], h.commits[j]
	ta, tb := a.Committer.When.Unix(), b.Committer.When.Unix()
	return ta > tb || ta == tb && h.order[a.Hash] < h.order[b.Hash]
}
func (h *commitHeap) Swap(i, j int) { h.commits[i], h.commits[j] = h.commits[j], h.commits[i] }
func (h *commitHeap) Push(x any) {
	c := x.(*object.Commit)
	h.order[c.Hash] = len(h.order)
	h.commits = append(h.commits, c)
}
func (h *commitHeap) Pop() any {
	c := h.commits[len(h.commits)-1]
	h.commits = h.commits[:len(h.commits)-1]
	return c
}

// walk yields the commits that are reachable from some and not from others,
// youngest first.
type walk struct {
	r      *repo
	queue  commitHeap
	seen   map[plumbing.Hash]bool
	hidden map[plumbing.Hash]bool
	// first follows first parents only.
	first bool
	// specs limits the history to commits that change these paths.
	specs pathspecs
	err   error
	// topo holds what is left when the order is by parentage.
	topo    []*object.Commit
	ordered bool
	// parents are those that a simplified history shows.
	parents map[plumbing.Hash][]plumbing.Hash
}

// newWalk starts a walk. Errors show at next.
func (r *repo) newWalk(from, not []plumbing.Hash) *walk {
	w := &walk{r: r, queue: commitHeap{order: map[plumbing.Hash]int{}}, seen: map[plumbing.Hash]bool{}, hidden: map[plumbing.Hash]bool{},
		parents: map[plumbing.Hash][]plumbing.Hash{}}
	w.hide(not)
	for _, h := range from {
		w.push(h)
	}
	return w
}

// hide marks all that is reachable from some commits.
func (w *walk) hide(from []plumbing.Hash) {
	stack := append([]plumbing.Hash(nil), from...)
	for len(stack) > 0 && w.err == nil {
		h := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if w.hidden[h] {
			continue
		}
		w.hidden[h] = true
		c, err := w.r.commit(h)
		if err != nil {
			if !w.r.isShallow(h) {
				w.err = err
			}
			continue
		}
		stack = append(stack, w.r.parentsOf(c)...)
		w.err = w.r.ctx.Err()
	}
}

// isShallow reports whether a commit is beyond the edge of a shallow clone.
func (r *repo) isShallow(plumbing.Hash) bool {
	s, err := r.st.Shallow()
	return err == nil && len(s) > 0
}

// parentsOf are a commit's parents, but for those cut off in a shallow clone.
func (r *repo) parentsOf(c *object.Commit) []plumbing.Hash {
	if s, err := r.st.Shallow(); err == nil {
		for _, h := range s {
			if h == c.Hash {
				return nil
			}
		}
	}
	return c.ParentHashes
}

func (w *walk) push(h plumbing.Hash) {
	if w.seen[h] || w.hidden[h] || w.err != nil {
		return
	}
	w.seen[h] = true
	c, err := w.r.commit(h)
	if err != nil {
		w.err = err
		return
	}
	heap.Push(&w.queue, c)
}

// next returns the next commit, nil at the end.
func (w *walk) next() (*object.Commit, error) {
	if w.ordered {
		if len(w.topo) == 0 {
			return nil, w.err
		}
		c := w.topo[0]
		w.topo = w.topo[1:]
		return c, nil
	}
	for {
		if w.err == nil {
			w.err = w.r.ctx.Err()
		}
		if w.err != nil || w.queue.Len() == 0 {
			return nil, w.err
		}
		c := heap.Pop(&w.queue).(*object.Commit)
		parents := w.r.parentsOf(c)
		if w.first && len(parents) > 1 {
			parents = parents[:1]
		}
		show := true
		if len(w.specs) > 0 {
			if parents, show, w.err = w.simplify(c, parents); w.err != nil {
				return nil, w.err
			}
		}
		w.parents[c.Hash] = parents
		for _, p := range parents {
			w.push(p)
		}
		if show {
			return c, w.err
		}
	}
}

// simplify says whether a commit changes the paths of interest, and which
// parents to go on with: only one that has the same paths, if there is one.
func (w *walk) simplify(c *object.Commit, parents []plumbing.Hash) ([]plumbing.Hash, bool, error) {
	files, err := w.chosen(c.TreeHash)
	if err != nil {
		return nil, false, err
	}
	if len(parents) == 0 {
		return nil, len(files) > 0, nil
	}
	for _, p := range parents {
		pc, err := w.r.commit(p)
		if err != nil {
			return nil, false, err
		}
		if pc.TreeHash == c.TreeHash {
			return []plumbing.Hash{p}, false, nil
		}
		old, err := w.chosen(pc.TreeHash)
		if err != nil {
			return nil, false, err
		}
		if sameFiles(files, old) {
			return []plumbing.Hash{p}, false, nil
		}
	}
	return parents, true, nil
}

func (w *walk) chosen(tree plumbing.Hash) (map[string]treeFile, error) {
	files, err := w.r.flatten(tree)
	if err != nil {
		return nil, err
	}
	for name := range files {
		if !w.specs.match(name) {
			delete(files, name)
		}
	}
	return files, nil
}

func sameFiles(a, b map[string]treeFile) bool {
	if len(a) != len(b) {
		return false
	}
	for name, f := range a {
		if b[name] != f {
			return false
		}
	}
	return true
}

// byParentage orders the whole walk so that no commit comes before its
// children, and lines of history stay together.
func (w *walk) byParentage() error {
	var all []*object.Commit
	for {
		c, err := w.next()
		if err != nil {
			return err
		}
		if c == nil {
			break
		}
		all = append(all, c)
	}
	children := map[plumbing.Hash]int{}
	byHash := map[plumbing.Hash]*object.Commit{}
	for _, c := range all {
		byHash[c.Hash] = c
	}
	for _, c := range all {
		for _, p := range w.parents[c.Hash] {
			children[p]++
		}
	}
	var stack []*object.Commit
	for i := len(all) - 1; i >= 0; i-- {
		if children[all[i].Hash] == 0 {
			stack = append(stack, all[i])
		}
	}
	for len(stack) > 0 {
		c := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		w.topo = append(w.topo, c)
		for _, p := range w.parents[c.Hash] {
			if children[p]--; children[p] == 0 && byHash[p] != nil {
				stack = append(stack, byHash[p])
			}
		}
	}
	w.ordered = true
	return nil
}

// ancestors is the set of commits reachable from one, itself included.
func (r *repo) ancestors(h plumbing.Hash) (map[plumbing.Hash]bool, error) {
	w := r.newWalk(nil, []plumbing.Hash{h})
	return w.hidden, w.err
}

// mergeBases are the best common ancestors of two commits.
func (r *repo) mergeBases(a, b plumbing.Hash) ([]plumbing.Hash, error) {
	in, err := r.ancestors(a)
	if err != nil {
		return nil, err
	}
	var bases []plumbing.Hash
	below := map[plumbing.Hash]bool{}
	w := r.newWalk([]plumbing.Hash{b}, nil)
	for {
		c, err := w.next()
		if err != nil {
			return nil, err
		}
		if c == nil {
			break
		}
		if !in[c.Hash] || below[c.Hash] {
			continue
		}
		// Everything below a common ancestor is a worse one.
		more, err := r.ancestors(c.Hash)
		if err != nil {
			return nil, err
		}
		for h := range more {
			below[h] = true
		}
		bases = append(bases, c.Hash)
	}
	// One that a later one reaches is no best one.
	kept := bases[:0]
	for i, h := range bases {
		best := true
		for j, o := range bases {
			if i != j {
				reach, err := r.ancestors(o)
				if err != nil {
					return nil, err
				}
				best = best && !reach[h]
			}
		}
		if best {
			kept = append(kept, h)
		}
	}
	return kept, nil
}

// mergeBaseOf is the first merge base of two revisions.
func (r *repo) mergeBaseOf(a, b string) (plumbing.Hash, error) {
	ca, err := r.commitish(a)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	cb, err := r.commitish(b)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	bases, err := r.mergeBases(ca.Hash, cb.Hash)
	if err == nil && len(bases) == 0 {
		err = fatalf("%s...%s: no merge base", a, b)
	}
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return bases[0], nil
}

// isAncestor reports whether a is reachable from b.
func (r *repo) isAncestor(a, b plumbing.Hash) (bool, error) {
	if a == b {
		return true, nil
	}
	in, err := r.ancestors(b)
	return in[a], err
}

// divergence counts the commits that each of two references has alone.
func (r *repo) divergence(a, b string) (ahead, behind int, ok bool) {
	ha, okA := r.ref(a)
	hb, okB := r.ref(b)
	if !okA || !okB {
		return 0, 0, false
	}
	count := func(x, y plumbing.Hash) int {
		w := r.newWalk([]plumbing.Hash{x}, []plumbing.Hash{y})
		n := 0
		for {
			c, err := w.next()
			if c == nil || err != nil {
				return n
			}
			n++
		}
	}
	return count(ha, hb), count(hb, ha), true
}

// cmdMergeBase is git merge-base.
func (g *git) cmdMergeBase(args []string) error {
	p, err := g.parse(args, "a,all is-ancestor fork-point octopus independent")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	if len(p.operands) != 2 {
		return g.usage("")
	}
	var cs [2]*object.Commit
	for i, rev := range p.operands {
		h, ok := r.resolve(rev)
		if !ok {
			return fatalf("Not a valid object name %s", rev)
		}
		if cs[i], err = r.peelCommit(h); err != nil {
			return err
		}
	}
	if p.has("is-ancestor") {
		ok, err := r.isAncestor(cs[0].Hash, cs[1].Hash)
		if err == nil && !ok {
			err = status(1)
		}
		return err
	}
	bases, err := r.mergeBases(cs[0].Hash, cs[1].Hash)
	if err != nil {
		return err
	}
	if len(bases) == 0 {
		return status(1)
	}
	if !p.has("all") {
		bases = bases[:1]
	}
	for _, h := range bases {
		g.printf("%s\n", h)
	}
	return nil
}
