package workspace

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// A merge brings two trees that come from one base together by the identity of
// inodes: what only one side has touched is as that side left it; what both have
// touched is decided field by field, and what cannot be decided is kept twice
// and listed (conflicts.go).
//
//	collect  what differs from the base, on either side   (merge_collect.go)
//	place    which inodes live, and by which names        (merge_names.go)
//	settle   names that two inodes want                   (merge_clash.go)
//	unite    attributes and bytes that both have changed  (merge_inode.go)
//	emit     the edits that lead from ours to the result  (merge_emit.go)
//
// Every choice depends on what the three trees hold and not on which of them is
// called ours, but where a policy says "ours" or "theirs": two replicas that
// merge the same commits arrive at the same root. Clocks decide nothing but
// which of two versions keeps a name.
//
// Invariants of the result, verified before it is used (sync_validate.go):
//
//	M1 every byte that an edit since the base has written is in a file of the
//	   result, unless that file was deleted and not edited on the other side,
//	   or a policy chose the other version
//	M2 it is a whole namespace: no orphan, no cycle, right counts
type merge struct {
	ctx      context.Context
	w        *Workspace
	trees    [3]*tree.Tree
	replicas [3]uint32 // who made the commit of each side
	policy   *policy

	nodes     map[vfs.Ino]*mnode
	slots     map[slotKey]*mslot
	xattrs    map[string]*mvalue
	conflicts []conflictRecord
	paths     *namer
}

// The sides of a merge.
const (
	atBase   = 0
	atOurs   = 1
	atTheirs = 2
)

func other(side int) int { return atOurs + atTheirs - side }

// slotKey is a place for a name.
type slotKey struct {
	parent vfs.Ino
	name   string
}

func compareSlots(a, b slotKey) int {
	if c := cmp.Compare(a.parent, b.parent); c != 0 {
		return c
	}
	return cmp.Compare(a.name, b.name)
}

// mslot is what the three trees have under a name, and what is to be there.
type mslot struct {
	v      [3]vfs.Ino // 0 is nothing
	claims []vfs.Ino  // who is to have it; one in the end
}

// mvalue is what the three trees have under the key of an attribute.
type mvalue struct {
	v [3][]byte // nil is nothing
}

// mnode is an inode that one side has touched, or that a decision touches.
type mnode struct {
	ino   vfs.Ino
	v     [3]*inodeValue // nil: not there
	bytes [3]bool        // its extents are not those of the base
	slots []slotKey      // of m.slots, where one of the three has it
	kept  int            // names that nobody has touched

	alive     bool
	container bool      // a directory that lives again because something in it does
	names     []slotKey // of m.slots, where it is to be
	union     *mnode    // the directory that has taken its entries
	// from is the side whose bytes it gets; text are bytes that are neither's.
	from int
	text []byte
	// copyOf is the inode of which this is the version that lost its name.
	copyOf *mnode

	entries, subdirs, links int // more than ours has
}

// any returns a value of the inode, whichever side has one.
func (n *mnode) any() *inodeValue {
	for _, v := range [...]*inodeValue{n.v[atOurs], n.v[atTheirs], n.v[atBase]} {
		if v != nil {
			return v
		}
	}
	return nil
}

// when returns when an inode was last changed, by the clocks of the sides.
func (n *mnode) when() int64 {
	t := int64(0)
	for _, v := range n.v[atOurs:] {
		if v != nil && (t == 0 || v.Ctime > t) {
			t = v.Ctime
		}
	}
	return t
}

func (n *mnode) isDir() bool { return n.any() != nil && n.any().IsDir() }

// mergeResult is a merged tree.
type mergeResult struct {
	root      chunk.ID
	usage     usage
	conflicts []conflictRecord
	stats     mergeStats
}

type mergeStats struct{ ours, theirs int } // inodes that a side has touched

// mergeTrees merges theirs into ours. base is the empty tree when there is
// nothing that both come from: then nothing counts as deleted.
func (w *Workspace) mergeTrees(ctx context.Context, base chunk.ID, ours, theirs *Commit, pol *policy) (*mergeResult, error) {
	m := &merge{
		ctx: ctx, w: w, replicas: [3]uint32{0, ours.Replica, theirs.Replica}, policy: pol,
		trees: [3]*tree.Tree{w.treeAt(base), w.treeAt(ours.Root), w.treeAt(theirs.Root)},
		nodes: map[vfs.Ino]*mnode{}, slots: map[slotKey]*mslot{}, xattrs: map[string]*mvalue{},
	}
	if m.policy == nil {
		var err error
		if m.policy, err = m.readPolicy(); err != nil {
			return nil, err
		}
	}
	for _, step := range []func() error{m.collect, m.place, m.settle, m.unite} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	e := &mergeEmitter{merge: m, inodes: int64(ours.Inodes), blocks: int64(ours.Blocks)}
	if err := e.run(); err != nil {
		return nil, err
	}
	sortEdits(e.edits)
	merged, err := m.trees[atOurs].Apply(ctx, e.edits)
	if err != nil {
		return nil, err
	}
	r := &mergeResult{root: merged.Root(), usage: usage{uint64(e.inodes), uint64(e.blocks)}, conflicts: m.conflicts, stats: m.count()}
	c := &Commit{Root: r.root, Inodes: r.usage.Inodes, Blocks: r.usage.Blocks}
	v := &validator{ctx: ctx, w: w, base: m.trees[atOurs], new: merged, lazy: true}
	if err := v.run(ours, c); err != nil {
		return nil, fmt.Errorf("merge of %s and %s from %s does not hold: %w", ours.Root, theirs.Root, base, err)
	}
	return r, nil
}

func (m *merge) count() (s mergeStats) {
	for _, n := range m.nodes {
		if n.v[atOurs] != n.v[atBase] || n.bytes[atOurs] {
			s.ours++
		}
		if n.v[atTheirs] != n.v[atBase] || n.bytes[atTheirs] {
			s.theirs++
		}
	}
	return s
}

// sortedNodes returns the nodes in order of their numbers, so that what is
// decided does not depend on the order of a map.
func (m *merge) sortedNodes() []*mnode {
	all := make([]*mnode, 0, len(m.nodes))
	for _, n := range m.nodes {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b *mnode) int { return cmp.Compare(a.ino, b.ino) })
	return all
}

func (m *merge) sortedSlots() []slotKey {
	all := make([]slotKey, 0, len(m.slots))
	for k := range m.slots {
		all = append(all, k)
	}
	slices.SortFunc(all, compareSlots)
	return all
}

// newer returns the side whose value is to win where both have changed
// something that can be there only once: the one changed later, by its own
// clock, and of equally old ones the one that encodes greater.
func newer(ours, theirs *inodeValue) int {
	for _, c := range []int{cmp.Compare(ours.Ctime, theirs.Ctime), cmp.Compare(ours.Mtime, theirs.Mtime),
		bytes.Compare(appendInode(nil, ours), appendInode(nil, theirs))} {
		switch {
		case c > 0:
			return atOurs
		case c < 0:
			return atTheirs
		}
	}
	return atOurs
}
