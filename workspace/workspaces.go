package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// List returns the names of the workspaces in order.
func (d *DataDir) List() ([]string, error) {
	entries, err := d.fsys.ReadDir(filepath.Join(d.dir, wsName))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if ValidName(e.Name()) != nil {
			continue
		}
		// Without a head it is what is left of a creation or a removal.
		_, err := d.fsys.Stat(filepath.Join(d.path(e.Name()), headName))
		switch {
		case err == nil:
			names = append(names, e.Name())
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}

// exists reports ErrNoSuch with the nearest name when there is no workspace of
// that name.
func (d *DataDir) exists(name string) error {
	if err := ValidName(name); err != nil {
		return err
	}
	_, err := d.fsys.Stat(filepath.Join(d.path(name), headName))
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	names, lerr := d.List()
	if lerr != nil {
		return lerr
	}
	return noSuch(ErrNoSuch, name, names)
}

// Open returns a workspace, opened if it was not. It stays open until Close.
func (d *DataDir) Open(name string) (*Workspace, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.openLocked(name)
}

func (d *DataDir) openLocked(name string) (*Workspace, error) {
	if d.done {
		return nil, errClosed
	}
	d.used[name] = time.Now()
	if w := d.open[name]; w != nil && !w.isClosed() {
		return w, nil
	}
	if err := d.exists(name); err != nil {
		return nil, err
	}
	w, err := openWorkspace(openConfig{
		name: name, dir: d.path(name), fsys: d.fsys, chunks: d.chunks, cache: d.cache,
		log: d.log, reclaim: d.reclaim, inherited: d.inherited[name], cutter: d.cutter,
	})
	if err != nil {
		d.hurt[name] = err
		return nil, err
	}
	delete(d.hurt, name)
	if d.source != nil {
		w.SetSource(d.source(name))
	}
	d.open[name] = w
	return w, nil
}

// Create makes an empty workspace whose root belongs to uid and gid.
func (d *DataDir) Create(ctx context.Context, name string, uid, gid uint32) (*Workspace, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := now()
	root := inodeValue{
		Attr: vfs.Attr{Ino: vfs.RootIno, Mode: vfs.ModeDir | 0o755, Nlink: 2, UID: uid, GID: gid,
			Atime: t, Mtime: t, Ctime: t, Btime: t},
		parent: vfs.RootIno,
	}
	id, replica, err := newIdentity()
	if err != nil {
		return nil, err
	}
	return d.createLocked(name, func() (*head, error) {
		return newHead(ctx, d.chunks, d.cache, id, replica, root)
	})
}

// createLocked makes the directory of a workspace with the head that makeHead
// returns. The head is written last: without one there is no workspace.
func (d *DataDir) createLocked(name string, makeHead func() (*head, error)) (*Workspace, error) {
	if d.done {
		return nil, errClosed
	}
	if err := ValidName(name); err != nil {
		return nil, err
	}
	dir := d.path(name)
	if _, err := d.fsys.Stat(filepath.Join(dir, headName)); err == nil {
		return nil, fmt.Errorf("workspace %s: %w", name, ErrExists)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	h, err := makeHead()
	if err != nil {
		return nil, err
	}
	if err := d.fsys.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := writeHead(d.fsys, dir, h); err != nil {
		return nil, err
	}
	if err := d.fsys.SyncDir(filepath.Dir(dir)); err != nil {
		return nil, err
	}
	return d.openLocked(name)
}

// Remove deletes a workspace and its history. Its chunks go with the next
// garbage collection. Whoever has it open gets errors.
func (d *DataDir) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.exists(name); err != nil {
		return err
	}
	if w := d.open[name]; w != nil {
		if err := w.abandon(); err != nil {
			d.log.Warn("closing a workspace that is removed", "workspace", name, "err", err)
		}
		delete(d.open, name)
	}
	// The head goes first, so that a crash leaves no workspace that is half
	// there; what is left of it is nobody's.
	delete(d.hurt, name)
	dir := d.path(name)
	if err := d.fsys.Remove(filepath.Join(dir, headName)); err != nil {
		return err
	}
	if err := d.fsys.SyncDir(dir); err != nil {
		return err
	}
	return d.fsys.RemoveAll(dir)
}

// Fork makes a workspace that begins as the commit of another: nothing is
// copied, whatever its size. commit zero means the present state.
func (d *DataDir) Fork(ctx context.Context, from *Workspace, commit chunk.ID, name string) (*Workspace, error) {
	if err := ValidName(name); err != nil {
		return nil, err
	}
	if commit.IsZero() {
		var err error
		if commit, err = from.Checkpoint(ctx, CauseCheckpoint, ""); err != nil {
			return nil, err
		}
	}
	c, err := getCommit(ctx, d.chunks, commit)
	if err != nil {
		return nil, err
	}
	id, replica, err := newIdentity()
	if err != nil {
		return nil, err
	}
	next, err := newCounter()
	if err != nil {
		return nil, err
	}
	from.mu.RLock()
	h := head{Polynomial: from.head.Polynomial, Lazy: from.head.Lazy}
	from.mu.RUnlock()
	h.ID, h.Replica, h.Next, h.Commit, h.Root, h.Epoch = id, replica, next, commit, c.Root, 1
	h.Inodes, h.Blocks, h.Created = c.Inodes, c.Blocks, now()
	h.Refs = []Ref{{forkRef, commit}} // from where both go on, for when they are merged
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.createLocked(name, func() (*head, error) { return &h, nil })
}
