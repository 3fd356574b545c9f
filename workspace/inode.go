package workspace

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// inode is the state of a file that is in use or changed. Its fields are
// guarded by Workspace.mu: read under RLock, changed under Lock.
//
// The bytes of a regular file are three layers: delta over frozen over base.
type inode struct {
	ino vfs.Ino
	// v is the live value, its content fields excepted: those are base's.
	v inodeValue
	// base is the value in the tree, whose content the deltas shadow; nil for
	// a file that no checkpoint has seen.
	base *inodeValue
	// delta holds what changed since the last freeze, frozen what changed
	// before it and is on its way into the tree; nil when nothing did.
	delta, frozen *extentMap
	// resized says that the length has changed since the last freeze: where the
	// bytes go depends on it even when none of them was touched.
	resized bool

	handles int  // open handles
	orphan  bool // it has no name and is in no layer: memory is its only home
	tmpfile bool // an orphan that Link may name
	// unsynced lists what was staged since the file was last fsynced.
	unsynced unsynced
}

// busy reports whether memory is the only place that knows something of it.
func (n *inode) busy() bool {
	return n.handles > 0 || n.orphan || n.resized || !n.delta.empty() || n.frozen != nil
}

// inodes caches the decoded inodes.
type inodes struct {
	mu    sync.Mutex
	m     map[vfs.Ino]*inode
	limit int // when to look for what can go; guarded by mu
	// trimming is set while a trim that reading made necessary is on its way.
	trimming atomic.Bool
}

// cachedInodes is how many inodes stay decoded when nothing needs them.
const cachedInodes = 32 << 10

func (c *inodes) get(ino vfs.Ino) *inode {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.m[ino]
}

// add puts n in unless another was quicker; it returns the one that is in.
func (c *inodes) add(n *inode) *inode {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old := c.m[n.ino]; old != nil {
		return old
	}
	c.m[n.ino] = n
	return n
}

func (c *inodes) drop(ino vfs.Ino) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.m, ino)
}

// trim drops what is not busy when there are too many. Workspace.mu is held
// exclusively: nobody is between finding an inode and using it.
func (c *inodes) trim() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.m) <= c.limit {
		return
	}
	// Not all of them: everybody waits meanwhile, and what is in use now should
	// not have to be decoded again.
	for ino, n := range c.m {
		if len(c.m) <= cachedInodes*3/4 {
			break
		}
		if !n.busy() {
			delete(c.m, ino)
		}
	}
	c.limit = cachedInodes
	if len(c.m) > cachedInodes*3/4 {
		// Twice what had to stay: looking costs a constant an operation.
		c.limit = max(cachedInodes, 2*len(c.m))
	}
}

// settled trims after a checkpoint, which made many that were busy idle: the limit
// that they had raised goes back. Workspace.mu is held exclusively.
func (c *inodes) settled() {
	c.mu.Lock()
	c.limit = cachedInodes
	c.mu.Unlock()
	c.trim()
}

func (c *inodes) crowded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.m) > c.limit
}

// trimSoon trims after a reader has filled the cache: readers hold mu shared and
// cannot do it themselves, and a workspace that is only read commits nothing.
func (w *Workspace) trimSoon() {
	if !w.inodes.crowded() || !w.inodes.trimming.CompareAndSwap(false, true) {
		return
	}
	go func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inodes.trim()
		w.inodes.trimming.Store(false)
	}()
}

// load returns the inode, from the cache or the layers. ENOENT when it is not
// there. mu is held at least shared.
func (w *Workspace) load(ino vfs.Ino) (*inode, error) {
	if n := w.inodes.get(ino); n != nil {
		return n, nil
	}
	n, err := loadInode(&w.layers, ino)
	if err != nil {
		return nil, err
	}
	n = w.inodes.add(n)
	w.trimSoon()
	return n, nil
}

// peek is load for a glance at many: what is not cached does not become so, or
// listing a large directory would drive out what is in use.
func (w *Workspace) peek(ino vfs.Ino) (*inode, error) {
	if n := w.inodes.get(ino); n != nil {
		return n, nil
	}
	return loadInode(&w.layers, ino)
}

// loadInode decodes an inode from layers.
func loadInode(l *layers, ino vfs.Ino) (*inode, error) {
	key := inodeKey(ino)
	over, known := l.overlaid(key)
	if known && over == nil {
		return nil, syscall.ENOENT
	}
	n := &inode{ino: ino}
	b, ok, err := l.base.Get(context.Background(), key)
	if err != nil {
		return nil, fmt.Errorf("inode %d: %w", ino, err)
	}
	if ok {
		if n.base, err = decodeInode(ino, b); err != nil {
			return nil, err
		}
	}
	switch {
	case known:
		v, err := decodeInode(ino, over)
		if err != nil {
			return nil, err
		}
		n.v = *v
	case ok:
		n.v = *n.base
	default:
		return nil, syscall.ENOENT
	}
	n.v.content, n.v.inline = contentNone, nil
	return n, nil
}

// loadDir returns a directory that op may use as mask says. A directory that
// was removed is ENOENT for every use of its names.
func (w *Workspace) loadDir(op *vfs.Op, ino vfs.Ino, mask uint32) (*inode, error) {
	n, err := w.load(ino)
	if err != nil {
		return nil, err
	}
	if !n.v.IsDir() {
		return nil, syscall.ENOTDIR
	}
	if n.orphan {
		return nil, syscall.ENOENT
	}
	return n, w.permit(op, n, mask)
}

// permit checks the caller's rights to n.
func (w *Workspace) permit(op *vfs.Op, n *inode, mask uint32) error {
	if mask == 0 {
		return nil
	}
	acl, err := w.accessACL(n)
	if err != nil {
		return err
	}
	if !vfs.Permits(&n.v.Attr, acl, &op.Cred, mask) {
		return syscall.EACCES
	}
	return nil
}

// attr returns what stat shows: directories count their entries in the tree
// and show one block here, as on ext4.
func (n *inode) attr() vfs.Attr {
	a := n.v.Attr
	if a.IsDir() {
		a.Size, a.Blocks = blockSize, sectorsPerBlock
	}
	return a
}

// unsynced is what of a file an fsync must still make durable: the staged
// extents while they are few and small, the files that hold them in any case.
type unsynced struct {
	spans []span
	bytes int64
	files []fileEnd
}

// fileEnd is a staging file and where the last span in it ends.
type fileEnd struct {
	file *stagingFile
	end  int64
}

type span struct {
	file *stagingFile
	at   int64
	len  int64
}

// inlineSync is how many bytes an fsync rather puts into the journal than
// fsyncs a second file.
const inlineSync = 64 << 10

func (u *unsynced) add(f *stagingFile, at, length int64) {
	if k := len(u.files) - 1; k >= 0 && u.files[k].file == f {
		u.files[k].end = max(u.files[k].end, at+length)
	} else {
		u.files = append(u.files, fileEnd{f, at + length})
	}
	u.bytes += length
	if u.bytes > inlineSync {
		u.spans = nil
		return
	}
	if k := len(u.spans) - 1; k >= 0 && u.spans[k].file == f && u.spans[k].at+u.spans[k].len == at {
		u.spans[k].len += length
		return
	}
	u.spans = append(u.spans, span{f, at, length})
}

// small reports whether spans holds all of it.
func (u *unsynced) small() bool { return u.bytes <= inlineSync }
