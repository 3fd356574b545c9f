package protocol

import (
	"bytes"
	"context"
	"slices"

	"github.com/vfsd/vfsd/tree"
)

// take makes the head have what commit has: it stays, goes forward, or becomes
// a merge of both.
func (m *memStore) take(commit ID) {
	switch {
	case m.head == commit || !m.head.IsZero() && m.ancestors(m.head)[commit]:
	case m.head.IsZero() || m.ancestors(commit)[m.head]:
		m.head = commit
	default:
		m.merge(commit)
	}
}

// ancestors returns a commit and all that it comes from.
func (m *memStore) ancestors(commit ID) map[ID]bool {
	seen := map[ID]bool{}
	queue := []ID{commit}
	for len(queue) > 0 {
		id := queue[0]
		queue = queue[1:]
		if _, ok := m.get(id); seen[id] || !ok {
			continue
		}
		seen[id] = true
		queue = append(queue, m.link(id).Parents...)
	}
	return seen
}

// mergeBase returns the root of a newest common ancestor whose tree is here.
func (m *memStore) mergeBase(a, b ID) ID {
	ofA, ofB := m.ancestors(a), m.ancestors(b)
	var best ID
	for id := range ofA {
		if !ofB[id] || !m.HasTree(nil, id) {
			continue
		}
		if best.IsZero() || m.ancestors(id)[best] || !m.ancestors(best)[id] && bytes.Compare(id[:], best[:]) < 0 {
			best = id
		}
	}
	if best.IsZero() {
		return EmptyRoot
	}
	return m.rootOf(best)
}

// merge joins a commit with the head. A key that both changed keeps both
// values, an edit wins over a deletion.
func (m *memStore) merge(theirs ID) {
	ctx := context.Background()
	base, ours := m.tree(m.mergeBase(m.head, theirs)), m.tree(m.rootOf(m.head))
	var both []tree.Edit
	merged, _, err := tree.Merge(ctx, base, ours, m.tree(m.rootOf(theirs)), func(c tree.Conflict) ([]byte, bool, error) {
		switch {
		case m.lossy:
			return c.Theirs, c.Theirs != nil, nil
		case c.Ours == nil:
			return c.Theirs, true, nil
		case c.Theirs == nil:
			return c.Ours, true, nil
		}
		hi, lo := c.Ours, c.Theirs
		if bytes.Compare(hi, lo) < 0 {
			hi, lo = lo, hi
		}
		name := Sum(lo).String()[:16]
		both = append(both, tree.Edit{Key: append(bytes.Clone(c.Key[:min(len(c.Key), 100)]), "."+name...), Value: lo})
		return hi, true, nil
	})
	if err != nil {
		panic(err)
	}
	slices.SortFunc(both, func(a, b tree.Edit) int { return bytes.Compare(a.Key, b.Key) })
	if merged, err = merged.Apply(ctx, both); err != nil {
		panic(err)
	}
	m.setHead(ID(merged.Root()), []ID{m.head, theirs})
}

// held estimates the bytes that a session keeps.
func (s *Session) held() int {
	n := cap(s.in) + cap(s.control)
	for _, t := range s.imports {
		n += t.size + 40*(len(t.known)+len(t.inner)+len(t.nodesOut)+len(t.chunksOut)+len(t.asked))
		n += 32*(len(t.need)+len(t.chunks)) + 40*len(t.stack)
	}
	for _, x := range s.exports {
		n += 32 * (len(x.nodes) + len(x.chunks) + len(x.history))
		for _, m := range x.ready {
			_, cost := costOf(m)
			n += int(cost)
		}
	}
	return n
}
