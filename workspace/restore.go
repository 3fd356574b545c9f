package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// RestoreReport says what a restore did.
type RestoreReport struct {
	Before  string `json:"before"`  // the commit of the state before, to go back to
	Commit  string `json:"commit"`  // the one restored from
	Changed int    `json:"changed"` // paths that were made, changed or removed; for a whole restore, keys of the tree
}

// Errors of restore.
var (
	ErrNoSuchPath = errors.New("no such path in that commit")
	ErrBusy       = errors.New("it is being written to all the time; try again when that has ended")
)

// Restore brings a whole workspace (path "") or one path back to what it was in
// a commit. The state before becomes a commit first, so nothing is lost.
//
// A whole restore is one step: the tree is exchanged, inodes keep their
// numbers, files that are open and not in the commit live on without a name.
// Restoring a path is a series of ordinary operations.
func (w *Workspace) Restore(ctx context.Context, commit chunk.ID, path string) (RestoreReport, error) {
	before, err := w.Checkpoint(ctx, CauseCheckpoint, "")
	if err != nil {
		return RestoreReport{}, err
	}
	r := RestoreReport{Before: before.String(), Commit: commit.String()}
	if strings.Trim(path, "/") == "" {
		r.Changed, err = w.restoreAll(ctx, commit)
	} else {
		r.Changed, err = w.restorePath(ctx, commit, path)
	}
	if err != nil {
		err = fmt.Errorf("restore %s: %w", w.name, err)
	}
	return r, err
}

const restoreTries = 20

func (w *Workspace) restoreAll(ctx context.Context, commit chunk.ID) (int, error) {
	c, err := getCommit(ctx, w.chunks, commit)
	if err != nil {
		return 0, err
	}
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	for range restoreTries {
		if _, err := w.checkpoint(ctx, CauseCheckpoint, ""); err != nil {
			return 0, err
		}
		changed, changes, err := w.swapTree(ctx, c)
		if errors.Is(err, ErrBusy) {
			continue
		}
		if err == nil {
			w.announce(0, changes)
			w.headWatchers.tell(w.Head())
		}
		return changed, err
	}
	return 0, ErrBusy
}

// swapTree makes c's tree the present one, if nothing has changed since the
// last checkpoint.
func (w *Workspace) swapTree(ctx context.Context, c *Commit) (int, []vfs.Change, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dirty || w.frozen != nil || w.journalErr != nil {
		return 0, nil, ErrBusy
	}
	old, target := w.layers.base, tree.Load(w.chunks.Raw(), w.cache, c.Root)
	d, err := w.differing(ctx, old, target)
	if err != nil || d.count == 0 {
		return 0, nil, err
	}
	if err := w.adoptLost(target); err != nil {
		return 0, nil, err
	}
	h := w.head
	id, err := putCommit(ctx, w.chunks, &Commit{
		Root: c.Root, Parents: []chunk.ID{h.Commit}, Replica: w.replica, LSN: h.LSN, Time: now(),
		Cause: CauseRestore, Inodes: c.Inodes, Blocks: c.Blocks, Polynomial: h.Polynomial,
	})
	if err == nil {
		err = w.chunks.Fsync(ctx)
	}
	if err != nil {
		return 0, nil, err
	}
	h.Commit, h.Root, h.Inodes, h.Blocks = id, c.Root, c.Inodes, c.Blocks
	// The counter lives in memory and in records; what was used since the last
	// checkpoint must not be used again.
	h.Next = w.next
	if err := writeHead(w.fsys, w.dir, &h); err != nil {
		return 0, nil, fmt.Errorf("write head: %w", err)
	}
	w.head, w.layers.base = h, target
	w.usage = usage{c.Inodes, c.Blocks}
	w.changed++
	return d.count, d.changes, w.reload(d)
}

// maxChanges is how many changes are announced one by one.
const maxChanges = 10000

// held reports whether somebody uses n.
func (w *Workspace) held(n *inode) bool {
	w.pins.Lock()
	defer w.pins.Unlock()
	return n.handles > 0 || w.pins.m[n.ino] > 0
}

// adoptLost makes memory the home of the inodes in use that target does not
// have. mu is held exclusively.
func (w *Workspace) adoptLost(target *tree.Tree) error {
	for _, n := range w.inodes.all() {
		if n.orphan || !w.held(n) {
			continue
		}
		_, ok, err := target.Get(context.Background(), inodeKey(n.ino))
		if err != nil {
			return err
		}
		if ok {
			continue
		}
		names, err := w.xattrNames(n)
		if err != nil {
			return err
		}
		for _, name := range names {
			v, _, err := w.xattr(n, name)
			if err != nil && !w.promisedHere(err) {
				return err
			}
			n.v.orphanXattrs = withXattr(n.v.orphanXattrs, name, v)
		}
		if err := w.flatten(n); err != nil {
			return err
		}
	}
	return nil
}

// reloadInodes makes what is cached agree with a new base. mu is held
// exclusively and the overlay is empty.
func (w *Workspace) reloadInodes() error {
	var first error
	for _, n := range w.inodes.all() {
		if err := w.reloadInode(n); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// reloadInode makes one cached inode agree with a new base.
func (w *Workspace) reloadInode(n *inode) error {
	fresh, err := loadInode(&w.layers, n.ino)
	switch {
	case errors.Is(err, syscall.ENOENT):
		if !n.orphan {
			w.forget(n)
		}
	case err != nil:
		w.inodes.drop(n.ino)
		return err
	default:
		// An orphan that the commit has a name for is that file again: whoever
		// has it open sees what was restored.
		n.v, n.base, n.delta, n.unsynced = fresh.v, fresh.base, nil, unsynced{}
		n.orphan, n.tmpfile, n.resized = false, false, false
		delete(w.orphans, n.ino)
	}
	return nil
}

// all returns what is cached, as a copy.
func (c *inodes) all() []*inode {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]*inode, 0, len(c.m))
	for _, n := range c.m {
		out = append(out, n)
	}
	return out
}

// restorePath brings one path back by ordinary operations.
func (w *Workspace) restorePath(ctx context.Context, commit chunk.ID, path string) (int, error) {
	past, err := w.At(ctx, commit)
	if err != nil {
		return 0, err
	}
	r := &restorer{op: &vfs.Op{Ctx: ctx}, past: past, live: w, links: map[vfs.Ino]vfs.Ino{}}
	parts := strings.FieldsFunc(path, func(c rune) bool { return c == '/' })
	from, to := vfs.RootIno, vfs.RootIno
	for i, part := range parts {
		a, err := past.Lookup(r.op, from, part)
		if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
			return r.changed, noSuch(ErrNoSuchPath, path, nil)
		}
		if err != nil {
			return r.changed, err
		}
		if i == len(parts)-1 {
			return r.changed, r.node(a, to, part)
		}
		at, err := r.ensureDir(a, to, part)
		if err != nil {
			return r.changed, err
		}
		from, to = a.Ino, at
	}
	return r.changed, nil
}

// restorer makes live what the past was, below one path. It acts as root.
type restorer struct {
	op         *vfs.Op
	past, live *Workspace
	links      map[vfs.Ino]vfs.Ino // inode there -> inode here, of files with several names
	changed    int
}

// ensureDir returns the live directory of that name, made as it was in the
// past when there is none. What is there and no directory is in the way.
func (r *restorer) ensureDir(a vfs.Attr, parent vfs.Ino, name string) (vfs.Ino, error) {
	b, err := r.live.Lookup(r.op, parent, name)
	switch {
	case err == nil && b.IsDir():
		return b.Ino, nil
	case err == nil:
		return 0, &vfs.Error{Op: "restore", Path: name, Err: syscall.ENOTDIR}
	case !errors.Is(err, syscall.ENOENT):
		return 0, err
	}
	r.changed++
	b, err = r.live.Mkdir(r.op, parent, name, a.Mode&vfs.ModePerm)
	if err != nil {
		return 0, err
	}
	return b.Ino, r.attributes(a, b.Ino)
}

// node makes parent/name what a is in the past.
func (r *restorer) node(a vfs.Attr, parent vfs.Ino, name string) error {
	if err := r.op.Ctx.Err(); err != nil {
		return err
	}
	b, err := r.live.Lookup(r.op, parent, name)
	exists := err == nil
	if err != nil && !errors.Is(err, syscall.ENOENT) {
		return err
	}
	if exists && !r.keeps(a, b) {
		if err := r.remove(parent, name, b); err != nil {
			return err
		}
		exists = false
	}
	r.changed++
	if here, ok := r.links[a.Ino]; ok && !a.IsDir() {
		if exists && b.Ino == here {
			return nil
		}
		if exists {
			if err := r.live.Unlink(r.op, parent, name); err != nil {
				return err
			}
		}
		_, err := r.live.Link(r.op, here, parent, name)
		return err
	}
	if !exists {
		if b, err = r.revive(a, parent, name); err != nil {
			return err
		}
	}
	r.links[a.Ino] = b.Ino
	switch {
	case a.IsDir():
		err = r.directory(a.Ino, b.Ino)
	case a.IsRegular():
		err = r.bytes(a.Ino, b.Ino)
	}
	if err != nil {
		return err
	}
	return r.attributes(a, b.Ino)
}

// keeps reports whether the inode that is there now can become what a was: it
// is the same one, or nothing but its type matters.
func (r *restorer) keeps(a, b vfs.Attr) bool {
	if a.Mode&vfs.ModeTypeMask != b.Mode&vfs.ModeTypeMask {
		return false
	}
	if a.IsDir() || a.Ino == b.Ino && !a.IsSymlink() {
		return true
	}
	return a.IsRegular() && b.Nlink == 1
}

// revive binds a name that is gone: to the inode that it was bound to, where
// another name has kept that, or to a new one.
func (r *restorer) revive(a vfs.Attr, parent vfs.Ino, name string) (vfs.Attr, error) {
	if b, err := r.live.Getattr(r.op, a.Ino); err == nil && a.Nlink > 1 && b.Nlink > 0 && !a.IsDir() &&
		a.Mode&vfs.ModeTypeMask == b.Mode&vfs.ModeTypeMask && a.Btime == b.Btime {
		return r.live.Link(r.op, b.Ino, parent, name)
	}
	return r.create(a, parent, name)
}

func (r *restorer) create(a vfs.Attr, parent vfs.Ino, name string) (vfs.Attr, error) {
	switch a.Mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		return r.live.Mkdir(r.op, parent, name, a.Mode&vfs.ModePerm)
	case vfs.ModeSymlink:
		target, err := r.past.Readlink(r.op, a.Ino)
		if err != nil {
			return vfs.Attr{}, err
		}
		return r.live.Symlink(r.op, parent, name, target)
	}
	return r.live.Mknod(r.op, parent, name, a.Mode, a.Rdev)
}

// remove takes a name away, with all below it.
func (r *restorer) remove(parent vfs.Ino, name string, a vfs.Attr) error {
	r.changed++
	if !a.IsDir() {
		return r.live.Unlink(r.op, parent, name)
	}
	entries, err := r.entries(r.live, a.Ino)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := r.remove(a.Ino, e.Name, vfs.Attr{Ino: e.Ino, Mode: e.Mode}); err != nil {
			return err
		}
	}
	return r.live.Rmdir(r.op, parent, name)
}

func (r *restorer) entries(fs *Workspace, dir vfs.Ino) ([]vfs.DirEntry, error) {
	d, err := fs.OpenDir(r.op, dir)
	if err != nil {
		return nil, err
	}
	defer d.Release(r.op)
	var all []vfs.DirEntry
	err = d.ReadDir(r.op, 0, false, func(e *vfs.DirEntry) bool {
		all = append(all, *e)
		return true
	})
	return all, err
}

func (r *restorer) directory(from, to vfs.Ino) error {
	want, err := r.entries(r.past, from)
	if err != nil {
		return err
	}
	have, err := r.entries(r.live, to)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	for _, e := range want {
		names[e.Name] = true
	}
	for _, e := range have {
		if !names[e.Name] {
			if err := r.remove(to, e.Name, vfs.Attr{Ino: e.Ino, Mode: e.Mode}); err != nil {
				return err
			}
		}
	}
	for _, e := range want {
		a, err := r.past.Getattr(r.op, e.Ino)
		if err != nil {
			return err
		}
		if err := r.node(a, to, e.Name); err != nil {
			return err
		}
	}
	return nil
}

// bytes makes one file's bytes those of another, sharing the chunks.
func (r *restorer) bytes(from, to vfs.Ino) error {
	src, err := r.past.Open(r.op, from, syscall.O_RDONLY)
	if err != nil {
		return err
	}
	defer src.Release(r.op)
	dst, err := r.live.Open(r.op, to, syscall.O_RDWR|syscall.O_TRUNC)
	if err != nil {
		return err
	}
	defer dst.Release(r.op)
	if _, err = src.CopyTo(r.op, 0, dst, 0, vfs.MaxFileSize); err != nil {
		return err
	}
	return r.reserve(src.(*handle), dst)
}

// reserve gives a file the space past its end that another one has.
func (r *restorer) reserve(src *handle, dst vfs.Handle) error {
	if src.n.v.flags&flagReserved == 0 {
		return nil
	}
	var ps []piece
	src.w.mu.RLock()
	err := src.w.segments(src.n, int64(src.n.v.Size), vfs.MaxFileSize, func(p piece) error {
		if p.src == srcZero {
			ps = append(ps, p)
		}
		return nil
	})
	src.w.mu.RUnlock()
	for _, p := range ps {
		if err == nil {
			err = dst.Fallocate(r.op, fallocKeepSize, p.off, p.len)
		}
	}
	return err
}

// attributes copies mode, owner, times and extended attributes.
func (r *restorer) attributes(a vfs.Attr, to vfs.Ino) error {
	names, err := r.past.Listxattr(r.op, a.Ino)
	if err != nil {
		return err
	}
	have, err := r.live.Listxattr(r.op, to)
	if err != nil {
		return err
	}
	for _, name := range have {
		if !slices.Contains(names, name) {
			if err := r.live.Removexattr(r.op, to, name); err != nil {
				return err
			}
		}
	}
	set := &vfs.SetAttr{Mask: vfs.SetUID | vfs.SetGID, UID: a.UID, GID: a.GID}
	if _, err := r.live.Setattr(r.op, to, set); err != nil {
		return err
	}
	for _, name := range names {
		v, err := r.past.Getxattr(r.op, a.Ino, name)
		if err != nil {
			return err
		}
		if err := r.live.Setxattr(r.op, to, name, v, 0); err != nil {
			return err
		}
	}
	set = &vfs.SetAttr{Mask: vfs.SetAtime | vfs.SetMtime, Atime: a.Atime, Mtime: a.Mtime}
	if !a.IsSymlink() {
		set.Mask |= vfs.SetMode
		set.Mode = a.Mode & vfs.ModePerm
	}
	_, err = r.live.Setattr(r.op, to, set)
	return err
}
