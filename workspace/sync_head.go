package workspace

import (
	"context"
	"fmt"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
)

// MoveHead moves the head from old to new, a commit that an import has
// finished or that is here anyway, durably. Readers, open handles and mounts
// see the new tree at once. If the workspace stands elsewhere, or has changes
// that old does not have, nothing moves: ErrHeadMoved. If new does not descend
// from old: ErrDiverged. A workspace in which nothing has ever happened goes
// anywhere.
func (w *Workspace) MoveHead(ctx context.Context, old, new chunk.ID) error {
	if err := w.moveHeadTo(ctx, old, new); err != nil {
		return fmt.Errorf("move the head of %s: %w", w.name, err)
	}
	return nil
}

func (w *Workspace) moveHeadTo(ctx context.Context, old, new chunk.ID) error {
	if w.readOnly {
		return syscall.EROFS
	}
	c, err := w.whole(ctx, new)
	if err != nil {
		return err
	}
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	head, err := w.checkpoint(ctx, CauseCheckpoint, "")
	if err != nil {
		return err
	}
	if head != old {
		return fmt.Errorf("it is %s: %w", head, ErrHeadMoved)
	}
	if new == head {
		return nil
	}
	if !w.blank() {
		descends, err := w.past(ctx).contains(new, old)
		if err != nil {
			return err
		}
		if !descends {
			return ErrDiverged
		}
	}
	if err := w.roomFor(c); err != nil {
		return err
	}
	resume := w.pause()
	d, err := w.swapHead(ctx, head, new, c, new)
	resume()
	if err == nil && d == nil {
		err = ErrHeadMoved
	}
	if d != nil {
		w.announce(0, d.changes)
	}
	return err
}

// roomFor refuses a commit that would exceed the quota, or exceed it further.
func (w *Workspace) roomFor(c *Commit) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if c.Inodes > w.usage.Inodes && c.Inodes > w.quota.inodes() {
		return syscall.EDQUOT
	}
	if c.Blocks > w.usage.Blocks {
		return w.quota.allow(c.Blocks)
	}
	return nil
}

// whole returns a commit whose tree is here.
func (w *Workspace) whole(ctx context.Context, id chunk.ID) (*Commit, error) {
	c, err := getCommit(ctx, w.chunks, id)
	if err != nil {
		return nil, err
	}
	if c.Root != tree.EmptyRoot() && !w.chunks.Has(c.Root) {
		return nil, fmt.Errorf("commit %s: %w", id, ErrNoTree)
	}
	return c, nil
}

// blank reports whether nothing has ever happened in the workspace: it is as it
// was created.
func (w *Workspace) blank() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.dirty || w.frozen != nil || w.head.Next != 1 || w.next != 1 || w.head.LSN != 0 || len(w.head.Snapshots) > 0 {
		return false
	}
	c, err := getCommit(context.Background(), w.chunks, w.head.Commit)
	return err == nil && c.Cause == CauseCreate && len(c.Parents) == 0
}

// pause makes changes wait until resume is called.
func (w *Workspace) pause() (resume func()) {
	ch := make(chan struct{})
	w.mu.Lock()
	w.paused = ch
	w.mu.Unlock()
	return func() {
		w.mu.Lock()
		w.paused = nil
		w.mu.Unlock()
		close(ch)
	}
}

// swapHead makes a commit's tree the present one, if nothing has changed since
// head was made, and returns what the watchers must hear of: nil if it did not.
// whole are commits whose trees are here: those that others have made are where
// the next merge goes on from. checkpointing is held; nothing is frozen.
func (w *Workspace) swapHead(ctx context.Context, head, id chunk.ID, c *Commit, whole ...chunk.ID) (*differing, error) {
	w.mu.RLock()
	old := w.layers.base
	w.mu.RUnlock()
	target := w.treeAt(c.Root)
	d, err := w.differing(ctx, old, target)
	if err != nil {
		return nil, err
	}
	if err := w.chunks.Fsync(ctx); err != nil {
		return nil, err
	}
	moved, err := w.takeHead(head, id, c, target, d, whole)
	if !moved {
		return nil, err
	}
	w.headWatchers.tell(id)
	return d, err
}

// takeHead does what swapHead says, under the lock.
func (w *Workspace) takeHead(head, id chunk.ID, c *Commit, target *tree.Tree, d *differing, whole []chunk.ID) (bool, error) {
	wasBlank := w.blank()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false, errClosed
	}
	if w.dirty || w.frozen != nil || w.journalErr != nil || w.head.Commit != head {
		return false, nil
	}
	if err := w.adoptLost(target); err != nil {
		return false, err
	}
	h := w.head
	h.Commit, h.Root, h.Inodes, h.Blocks, h.Next = id, c.Root, c.Inodes, c.Blocks, w.next
	for _, x := range whole {
		h.Refs = w.keepSynced(withoutImport(h.Refs, x), x)
	}
	if wasBlank {
		if err := w.beginElsewhere(&h, c.Polynomial); err != nil {
			return false, err
		}
	}
	if err := writeHead(w.fsys, w.dir, &h); err != nil {
		return false, fmt.Errorf("write head: %w", err)
	}
	w.head, w.layers.base = h, target
	w.next = h.Next
	w.usage = usage{c.Inodes, c.Blocks}
	w.changed++
	return true, w.reload(d)
}

// keepSynced keeps a commit that another replica has made, so that the next
// merge with it finds where both were the same.
func (w *Workspace) keepSynced(refs []Ref, id chunk.ID) []Ref {
	c, err := getCommit(context.Background(), w.chunks, id)
	if err != nil || c.Cause != CauseMerge && c.Replica == w.replica {
		return refs
	}
	name := fmt.Sprintf("%s%05x", syncRefs, c.Replica)
	if c.Cause == CauseMerge {
		name += "-merge"
	}
	return withRef(refs, name, id)
}

// beginElsewhere makes a workspace that was blank a replica of what it takes:
// it cuts alike, and counts its inodes from a place of its own. mu is held.
func (w *Workspace) beginElsewhere(h *head, polynomial uint64) (err error) {
	if h.Next, err = newCounter(); err != nil {
		return err
	}
	if polynomial == 0 || polynomial == h.Polynomial {
		return nil
	}
	cut, err := chunk.NewCutter(polynomial)
	if err == nil {
		w.cut, h.Polynomial = cut, polynomial
	}
	return err
}
