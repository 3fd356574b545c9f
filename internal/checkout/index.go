//go:build linux

package checkout

import (
	"path"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// node is a name in the directory as the last pass left it: what the host said
// of it, and the inode of the shadow that it stands for.
type node struct {
	parent   *node
	name     string
	ino      vfs.Ino
	host     hostStat
	children map[string]*node // of a directory
	// stale says that host is not what was last agreed on: compare bytes.
	stale bool
}

// key names a file of the host for as long as it lives.
type key struct{ ino, btime uint64 }

func (s *hostStat) key() key { return key{s.Ino, s.Btime} }

// index is the tree of nodes, findable by either side's identity.
type index struct {
	root   *node
	byHost map[key]map[*node]bool
	byIno  map[vfs.Ino]map[*node]bool
	count  int
	// changed says that savedFor's file does not hold all of it.
	changed  bool
	savedFor chunk.ID
}

func newIndex() *index {
	x := &index{byHost: map[key]map[*node]bool{}, byIno: map[vfs.Ino]map[*node]bool{}}
	x.root = &node{ino: vfs.RootIno, children: map[string]*node{}}
	x.enter(x.root)
	return x
}

func (n *node) path() string {
	if n.parent == nil {
		return ""
	}
	return path.Join(n.parent.path(), n.name)
}

func (n *node) isDir() bool { return n.children != nil }

func (n *node) depth() int {
	d := 0
	for ; n.parent != nil; n = n.parent {
		d++
	}
	return d
}

// within reports whether n is below (or is) dir.
func (n *node) within(dir *node) bool {
	for ; n != nil; n = n.parent {
		if n == dir {
			return true
		}
	}
	return false
}

// at returns the node of a path, nil when there is none.
func (x *index) at(p string) *node {
	n := x.root
	for _, name := range splitPath(p) {
		if n = n.children[name]; n == nil {
			return nil
		}
	}
	return n
}

// add makes a node; dir gives it children.
func (x *index) add(parent *node, name string, ino vfs.Ino, s hostStat, dir bool) *node {
	if old := parent.children[name]; old != nil {
		x.remove(old)
	}
	n := &node{parent: parent, name: name, ino: ino, host: s}
	if dir {
		n.children = map[string]*node{}
	}
	parent.children[name] = n
	x.enter(n)
	return n
}

// remove forgets a node and all below it.
func (x *index) remove(n *node) {
	for _, c := range n.children {
		x.remove(c)
	}
	x.leave(n)
	if n.parent != nil && n.parent.children[n.name] == n {
		delete(n.parent.children, n.name)
	}
}

// move gives a node another place.
func (x *index) move(n, parent *node, name string) {
	if n.parent.children[n.name] == n {
		delete(n.parent.children, n.name)
	}
	if old := parent.children[name]; old != nil && old != n {
		x.remove(old)
	}
	n.parent, n.name = parent, name
	parent.children[name] = n
	x.changed = true
}

// saw records what the host says of a node now, and that both agree on it.
func (x *index) saw(n *node, s hostStat) {
	x.leave(n)
	n.host, n.stale = s, false
	x.enter(n)
}

// rebind gives a node another inode.
func (x *index) rebind(n *node, ino vfs.Ino) {
	x.leave(n)
	n.ino = ino
	x.enter(n)
}

func (x *index) enter(n *node) {
	put(x.byHost, n.host.key(), n)
	put(x.byIno, n.ino, n)
	x.count++
	x.changed = true
}

func (x *index) leave(n *node) {
	drop(x.byHost, n.host.key(), n)
	drop(x.byIno, n.ino, n)
	x.count--
	x.changed = true
}

func put[K comparable](m map[K]map[*node]bool, k K, n *node) {
	if m[k] == nil {
		m[k] = map[*node]bool{}
	}
	m[k][n] = true
}

func drop[K comparable](m map[K]map[*node]bool, k K, n *node) {
	delete(m[k], n)
	if len(m[k]) == 0 {
		delete(m, k)
	}
}

// any returns one of the nodes that stand for an inode.
func (x *index) any(ino vfs.Ino) *node {
	for n := range x.byIno[ino] {
		return n
	}
	return nil
}

// nodesOf returns the names of an inode.
func (x *index) nodesOf(ino vfs.Ino) []*node {
	nodes := make([]*node, 0, len(x.byIno[ino]))
	for n := range x.byIno[ino] {
		nodes = append(nodes, n)
	}
	return nodes
}
