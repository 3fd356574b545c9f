package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/internal/pace"
	"github.com/vfsd/vfsd/journal"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// A checkpoint takes what was acknowledged so far into the tree:
//
//  1. freeze: the overlay and the deltas are set apart, a new journal epoch and
//     new staging files begin (under the lock, short)
//  2. fold: staged bytes become chunks, the frozen batch becomes edits
//  3. apply them to the tree, fsync the packs
//  4. move the head (the point of no return)
//  5. land: readers see the new tree instead of what was frozen
//  6. the old journal epoch and its staging files go
//
// When 2 to 4 fail, what was frozen stays where it is and the next checkpoint
// goes on with it: nothing is lost and nobody waits. When the disk was full, the
// next one thaws it first (thaw.go): what was deleted meanwhile then needs no
// room any more.
const (
	checkpointJournal = 64 << 20         // bytes of journal that ask for one
	checkpointStaged  = 1 << 30          // bytes of staging that do
	checkpointDelay   = 30 * time.Second // how long a change may wait for one
	journalReserve    = 4 << 20          // bytes kept for a checkpoint on a full disk
)

// frozenState is what a freeze set apart.
type frozenState struct {
	epoch   uint64 // of its journal
	lsn     journal.LSN
	next    uint64
	usage   usage
	inodes  []*inode
	quota   Quota
	journal *journal.Journal
	folded  []foldedInode
}

// Checkpoint makes a commit of everything acknowledged before the call and
// returns it. Without a change since the newest commit that is the newest.
func (w *Workspace) Checkpoint(ctx context.Context, cause, label string) (chunk.ID, error) {
	if w.readOnly {
		return chunk.ID{}, syscall.EROFS
	}
	w.hurried.Add(1)
	defer w.hurried.Add(-1)
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	return w.checkpoint(ctx, cause, label)
}

// CheckpointPaced is a checkpoint that nobody waits for: folding rests as long as
// it works, so that who changes files meanwhile is not slowed down twofold. It
// goes on at full speed when a Checkpoint waits for it, and does not rest at all
// when the one before is still under way: then changes outrun it.
func (w *Workspace) CheckpointPaced(ctx context.Context) (chunk.ID, error) {
	if w.readOnly {
		return chunk.ID{}, syscall.EROFS
	}
	if !w.checkpointing.TryLock() {
		return w.Checkpoint(ctx, CauseCheckpoint, "")
	}
	defer w.checkpointing.Unlock()
	return w.checkpoint(ctx, CauseCheckpoint, "")
}

// rest is called between pieces of folding.
func (w *Workspace) rest(ctx context.Context, p *pace.Pace) error {
	if w.hurried.Load() > 0 {
		return ctx.Err()
	}
	return p.Rest(ctx)
}

// checkpoint does the work; w.checkpointing is held.
func (w *Workspace) checkpoint(ctx context.Context, cause, label string) (chunk.ID, error) {
	for w.leftover() { // of one that failed, or of a journal that did
		_, err := w.land(ctx, CauseCheckpoint, "")
		if errors.Is(err, syscall.ENOSPC) {
			err = w.thaw()
		}
		if err != nil {
			return chunk.ID{}, err
		}
	}
	w.mu.Lock()
	if w.frozen != nil {
		w.mu.Unlock()
		return w.checkpoint(ctx, cause, label)
	}
	if w.closed {
		w.mu.Unlock()
		return chunk.ID{}, errClosed
	}
	if !w.dirty && w.journalErr == nil {
		id := w.head.Commit
		w.mu.Unlock()
		if label == "" {
			return id, nil
		}
		return w.relabel(ctx, cause, label)
	}
	err := w.roomToFold(w.inodes.staged())
	if err == nil {
		err = w.freeze()
	}
	w.mu.Unlock()
	if err != nil {
		return chunk.ID{}, fmt.Errorf("checkpoint of %s: %w", w.name, err)
	}
	return w.land(ctx, cause, label)
}

func (w *Workspace) leftover() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.frozen != nil
}

// relabel makes a commit that differs from the newest in its label alone.
func (w *Workspace) relabel(ctx context.Context, cause, label string) (chunk.ID, error) {
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	return w.putHead(ctx, h, &Commit{
		Root: h.Root, Parents: []chunk.ID{h.Commit}, Replica: w.replica, LSN: h.LSN,
		Time: now(), Label: label, Cause: cause, Inodes: h.Inodes, Blocks: h.Blocks,
		Polynomial: h.Polynomial,
	})
}

func journalDir(dir string, epoch uint64) string {
	return filepath.Join(dir, "journal", strconv.FormatUint(epoch, 10))
}

func (w *Workspace) openJournal(epoch uint64, first journal.LSN) (*journal.Journal, error) {
	return journal.Open(journal.Options{
		FS: w.fsys, Dir: journalDir(w.dir, epoch), First: first, Reserve: journalReserve, Log: w.log,
	})
}

// freeze begins a new epoch. mu is held exclusively and nothing is frozen.
func (w *Workspace) freeze() error {
	lsn := w.journal.Applied()
	// The reserve moves on to the new journal.
	if err := w.journal.ReleaseReserve(); err != nil {
		return err
	}
	// What an attempt that failed has left begins with another record.
	if err := w.fsys.RemoveAll(journalDir(w.dir, w.epoch+1)); err != nil {
		return err
	}
	next, err := w.openJournal(w.epoch+1, lsn+1)
	if err != nil {
		return err
	}
	fz := &frozenState{
		epoch: w.epoch, lsn: lsn, next: w.next, usage: w.usage, quota: w.quota, journal: w.journal,
	}
	w.inodes.mu.Lock()
	for _, n := range w.inodes.m {
		if !n.orphan && (n.resized || !n.delta.empty()) {
			n.frozen, n.delta, n.resized = n.delta, nil, false
			if n.frozen == nil {
				n.frozen = &extentMap{}
			}
			fz.inodes = append(fz.inodes, n)
		}
	}
	w.inodes.mu.Unlock()
	w.layers.frozen, w.layers.active = w.layers.active, &overlay{}
	w.frozen = fz
	w.previous = &previousEpoch{journal: w.journal, upTo: lsn}
	w.journal, w.journalErr = next, nil
	w.epoch++
	w.staging.rotate(w.epoch)
	w.dirty = false
	return nil
}

// land takes what is frozen into the tree and moves the head.
func (w *Workspace) land(ctx context.Context, cause, label string) (chunk.ID, error) {
	fz := w.frozen
	if err := w.roomToFold(fz.staged()); err != nil {
		return chunk.ID{}, fmt.Errorf("checkpoint of %s: %w", w.name, err)
	}
	root, err := w.foldFrozen(ctx, fz)
	if err != nil {
		return chunk.ID{}, fmt.Errorf("checkpoint of %s: %w", w.name, err)
	}
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	parents := []chunk.ID{h.Commit}
	h.Root, h.Epoch, h.LSN, h.Next = root, fz.epoch+1, uint64(fz.lsn), fz.next
	h.Inodes, h.Blocks, h.Quota = fz.usage.Inodes, fz.usage.Blocks, fz.quota
	id, err := w.putHead(ctx, h, &Commit{
		Root: root, Parents: parents, Replica: w.replica, LSN: uint64(fz.lsn),
		Time: now(), Label: label, Cause: cause, Inodes: h.Inodes, Blocks: h.Blocks,
		Polynomial: h.Polynomial,
	})
	if err != nil {
		return chunk.ID{}, fmt.Errorf("checkpoint of %s: %w", w.name, err)
	}
	w.landed(fz, root)
	return id, w.dropEpoch(fz)
}

// foldFrozen stores everything frozen and returns the root that holds it.
func (w *Workspace) foldFrozen(ctx context.Context, fz *frozenState) (chunk.ID, error) {
	var p pace.Pace
	f := &folder{ctx: ctx, chunks: w.store(), cut: w.cut.Cut, base: w.layers.base}
	f.pause = func() error { return w.rest(ctx, &p) }
	contents := make(map[vfs.Ino]*inodeValue, len(fz.inodes))
	fz.folded = fz.folded[:0]
	for _, n := range fz.inodes {
		b, ok := w.layers.frozen.Get(string(inodeKey(n.ino)))
		if !ok || b == nil {
			return chunk.ID{}, fmt.Errorf("inode %d has bytes and no value in its batch", n.ino)
		}
		v, err := decodeInode(n.ino, b)
		if err != nil {
			return chunk.ID{}, err
		}
		if err := f.fold(n, v); err != nil {
			return chunk.ID{}, fmt.Errorf("inode %d: %w", n.ino, err)
		}
		contents[n.ino] = v
		fz.folded = append(fz.folded, foldedInode{n, v})
		if err := f.pause(); err != nil {
			return chunk.ID{}, err
		}
	}
	if err := f.overlayEdits(w.layers.frozen, contents); err != nil {
		return chunk.ID{}, err
	}
	sortEdits(f.edits)
	t, err := w.layers.base.Apply(ctx, f.edits)
	if err != nil {
		return chunk.ID{}, err
	}
	return t.Root(), nil
}

// putHead stores a commit, makes everything it names durable, and moves the
// head to it.
func (w *Workspace) putHead(ctx context.Context, h head, c *Commit) (chunk.ID, error) {
	id, err := putCommit(ctx, w.chunks, c)
	if err != nil {
		return id, err
	}
	if err := w.chunks.Fsync(ctx); err != nil {
		return id, err
	}
	h.Commit = id
	if err := writeHead(w.fsys, w.dir, &h); err != nil {
		return id, fmt.Errorf("write head: %w", err)
	}
	w.mu.Lock()
	w.head = h
	w.mu.Unlock()
	w.headWatchers.tell(id)
	return id, nil
}

// landed swaps what was frozen for the tree that holds it.
func (w *Workspace) landed(fz *frozenState, root chunk.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.layers.base = tree.Load(w.chunks.Raw(), w.cache, root)
	w.layers.frozen = nil
	w.frozen, w.previous = nil, nil
	w.freed = 0 // staged bytes that nobody needed are gone; the rest waits for a collection
	for _, x := range fz.folded {
		x.n.frozen, x.n.base = nil, x.v
		if x.n.delta.empty() {
			x.n.v.flags = x.n.v.flags&^flagReserved | x.v.flags&flagReserved
		}
		x.n.unsynced.forgetBefore(fz.epoch + 1)
	}
	w.inodes.settled()
}

// dropEpoch removes the journals and the staging of the epochs that landed.
func (w *Workspace) dropEpoch(fz *frozenState) error {
	err := fz.journal.Close()
	if errors.Is(err, journal.ErrFailed) {
		err = nil // that is known, and what was in it is in the tree
	}
	w.mu.Lock()
	rerr := w.retireStaging()
	w.mu.Unlock()
	if err == nil {
		err = rerr
	}
	if rerr := removeEpochs(w.fsys, w.dir, fz.epoch+1); err == nil {
		err = rerr
	}
	return err
}

// removeEpochs deletes the journals of epochs before one.
func removeEpochs(fsys hostfs.FS, dir string, before uint64) error {
	all, err := epochs(fsys, dir)
	for _, e := range all {
		if err == nil && e < before {
			err = fsys.RemoveAll(journalDir(dir, e))
		}
	}
	return err
}

// epochs lists the journal epochs on disk in order.
func epochs(fsys hostfs.FS, dir string) ([]uint64, error) {
	names, err := fsys.ReadDir(filepath.Join(dir, "journal"))
	if err != nil {
		return nil, err
	}
	var all []uint64
	for _, n := range names {
		e, err := strconv.ParseUint(n.Name(), 10, 64)
		if err != nil || strconv.FormatUint(e, 10) != n.Name() {
			return nil, fmt.Errorf("%s: no journal of ours: %w", filepath.Join(dir, "journal", n.Name()), vfs.ErrCorrupt)
		}
		all = append(all, e)
	}
	slices.Sort(all)
	return all, nil
}

// retireStaging lets go of the staging files of epochs that are in the tree,
// but for those that orphans still read. mu is held exclusively.
func (w *Workspace) retireStaging() error {
	kept := map[*stagingFile]bool{}
	for _, n := range w.orphans {
		for _, e := range []*extentMap{n.delta, n.frozen} {
			e.scan(func(p piece) bool {
				if p.src == srcStaging {
					kept[p.file] = true
				}
				return true
			})
		}
	}
	epoch := w.head.Epoch
	if w.frozen != nil {
		// The head may name what has not landed yet: until then it is read here.
		epoch = min(epoch, w.frozen.epoch)
	}
	return w.staging.retire(epoch, func(f *stagingFile) bool { return kept[f] })
}

// forgetBefore drops what is durable in the tree.
func (u *unsynced) forgetBefore(epoch uint64) {
	files := u.files[:0]
	for _, f := range u.files {
		if f.file.id.epoch >= epoch {
			files = append(files, f)
		}
	}
	u.files = files
	spans := u.spans[:0]
	for _, s := range u.spans {
		if s.file.id.epoch >= epoch {
			spans = append(spans, s)
		} else {
			u.bytes -= s.len
		}
	}
	u.spans = spans
	if len(files) == 0 {
		*u = unsynced{}
	}
}

// previousEpoch is a journal that a checkpoint is taking into the tree: its
// records come before those of the present one.
type previousEpoch struct {
	journal *journal.Journal
	upTo    journal.LSN
}

// wait returns when the previous epoch is durable, in its journal or, should
// that have failed, in the tree.
func (p *previousEpoch) wait(w *Workspace) error {
	if p == nil || p.journal.Fsync(p.upTo) == nil {
		return nil
	}
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	if !w.leftover() {
		return nil // it has landed
	}
	_, err := w.land(context.Background(), CauseCheckpoint, "")
	return err
}

// journalFailed notes that the journal takes nothing any more, if so, and
// returns err. mu is held exclusively.
func (w *Workspace) journalFailed(err error) error {
	if errors.Is(err, journal.ErrFailed) && w.journalErr == nil {
		w.journalErr = err
		w.log.Error("journal failed; starting a new one with a checkpoint", "workspace", w.name, "err", err)
		if rerr := w.journal.ReleaseReserve(); rerr != nil {
			w.log.Warn("cannot release the journal's reserve", "workspace", w.name, "err", rerr)
		}
		w.kickCheckpoint()
	}
	return err
}

// revive begins a new epoch after the journal failed: what memory holds is what
// was acknowledged, and the checkpoint that follows makes it durable. mu is
// held exclusively.
func (w *Workspace) revive() error {
	if w.frozen != nil {
		return w.journalErr // an earlier epoch must land first
	}
	if err := w.freeze(); err != nil {
		return fmt.Errorf("%w; and no new one could be started: %w", w.journalErr, err)
	}
	w.kickCheckpoint()
	return nil
}
