package workspace

import (
	"context"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// At returns a commit of w as a file system that cannot be changed. It takes
// no disk space and needs no Close; the commit must stay reachable (a
// snapshot, or recent history) for as long as it is read.
func (w *Workspace) At(ctx context.Context, commit chunk.ID) (*Workspace, error) {
	c, err := getCommit(ctx, w.chunks, commit)
	if err != nil {
		return nil, err
	}
	return w.viewOf(commit, c), nil
}

// viewOf is a commit of w as a file system.
func (w *Workspace) viewOf(id chunk.ID, c *Commit) *Workspace {
	v := &Workspace{
		name: fmt.Sprintf("%s@%.12s", w.name, id), dir: w.dir, fsys: w.fsys,
		chunks: w.chunks, cache: w.cache, log: w.log, id: w.id, replica: w.replica,
		layers:  layers{base: tree.Load(w.chunks.Raw(), w.cache, c.Root)},
		lazy:    w.lazy,
		usage:   usage{c.Inodes, c.Blocks},
		head:    w.head, // snapshots and history are those of the workspace
		orphans: map[vfs.Ino]*inode{}, readOnly: true,
	}
	v.inodes.m = map[vfs.Ino]*inode{}
	v.pins.m = map[vfs.Ino]int32{}
	return v
}
