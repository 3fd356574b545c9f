package workspace

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/journal"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// Workspace is one namespace: its tree, its journal, its history. It
// implements vfs.FS.
//
// Invariants:
//
//	I1 What is visible is journaled: a batch is applied after its record is in
//	   the page cache, and records are in the order of application.
//	I2 A record that is durable tells of no staged bytes that are not: an fsync
//	   makes staging durable first, or carries the bytes in the journal. What
//	   was never fsynced is verified by checksum when it is replayed.
//	I3 A place in a staging file never changes once it is written.
//	I4 The head names what is durable; it is the only file ever replaced.
//	I5 Everything that can be read of an inode that has no name is in memory.
//
// Lock order: checkpointing, then mu, then pins, inodes.mu or staging.mu.
type Workspace struct {
	name   string
	dir    string
	fsys   hostfs.FS
	chunks *chunk.Packs
	cache  *tree.Cache
	log    *slog.Logger

	id      [16]byte
	replica uint32
	cut     *chunk.Cutter // of its own polynomial
	lazy    *lazyState

	// checkpointing is held by whoever takes a frozen batch into the tree.
	checkpointing sync.Mutex
	// hurried counts those who wait for a checkpoint: while it is not zero, none
	// rests.
	hurried atomic.Int32

	mu         sync.RWMutex
	layers     layers             // guarded by mu
	journal    *journal.Journal   // guarded by mu
	journalErr error              // guarded by mu: the journal takes nothing any more
	previous   *previousEpoch     // guarded by mu
	frozen     *frozenState       // guarded by mu
	epoch      uint64             // guarded by mu: of journal
	next       uint64             // guarded by mu: counter of the next inode
	usage      usage              // guarded by mu
	quota      Quota              // guarded by mu
	freed      uint64             // guarded by mu: blocks given up that the host does not have back yet
	orphans    map[vfs.Ino]*inode // guarded by mu
	head       head               // guarded by mu
	dirty      bool               // guarded by mu: something changed since the last freeze
	changed    uint64             // guarded by mu: counts batches
	closed     bool               // guarded by mu
	scratch    batch              // guarded by mu
	paused     chan struct{}      // guarded by mu: changes wait until it is closed; nil when they need not
	enc        *recordEncoder     // guarded by mu
	timer      *time.Timer        // guarded by mu: fires when a change has waited long enough
	background sync.WaitGroup     // checkpoints under way by themselves
	kicked     atomic.Bool        // one is on its way

	inodes  inodes
	staging *staging
	pins    struct {
		sync.Mutex
		m map[vfs.Ino]int32
	}

	importsMu sync.Mutex
	imports   map[chunk.ID]*openImport // under way, by commit; guarded by importsMu

	headWatchers headWatchers

	watchMu  sync.Mutex
	watchers []vfs.Watcher // replaced whole when it changes; guarded by watchMu
	watching atomic.Pointer[[]vfs.Watcher]

	// reclaimSpace frees disk space, and reports whether it freed any.
	reclaimSpace func() bool
	// readOnly marks the view of a commit: it has no journal and no overlay.
	readOnly bool
}

var _ vfs.FS = (*Workspace)(nil)

// Name returns the workspace's name.
func (w *Workspace) Name() string { return w.name }

// Watch implements vfs.FS.
func (w *Workspace) Watch(x vfs.Watcher) (stop func()) {
	w.watchMu.Lock()
	defer w.watchMu.Unlock()
	w.setWatchers(append(w.watchers[:len(w.watchers):len(w.watchers)], x))
	return sync.OnceFunc(func() {
		w.watchMu.Lock()
		defer w.watchMu.Unlock()
		rest := make([]vfs.Watcher, 0, len(w.watchers))
		for _, y := range w.watchers {
			if y != x {
				rest = append(rest, y)
			}
		}
		w.setWatchers(rest)
	})
}

func (w *Workspace) setWatchers(ws []vfs.Watcher) {
	w.watchers = ws
	w.watching.Store(&ws)
}

// watched reports whether anybody but origin wants to hear of changes.
func (w *Workspace) watched(origin vfs.Origin) bool {
	ws := w.watching.Load()
	if ws == nil {
		return false
	}
	for _, x := range *ws {
		if x.Origin() != origin {
			return true
		}
	}
	return false
}

// announce tells the watchers of changes; no lock is held.
func (w *Workspace) announce(origin vfs.Origin, changes []vfs.Change) {
	ws := w.watching.Load()
	if len(changes) == 0 || ws == nil {
		return
	}
	for _, x := range *ws {
		if x.Origin() != origin {
			x.Changed(changes)
		}
	}
}

// kickCheckpoint starts a checkpoint in the background unless one is on its
// way. mu is held.
func (w *Workspace) kickCheckpoint() {
	if w.closed || !w.kicked.CompareAndSwap(false, true) {
		return
	}
	w.background.Go(func() {
		w.kicked.Store(false)
		if _, err := w.CheckpointPaced(context.Background()); err != nil {
			w.log.Error("checkpoint failed; it is tried again with the next", "workspace", w.name, "err", err)
			w.armTimer()
		}
	})
}

// armTimer makes sure that a change does not wait for a checkpoint for ever.
func (w *Workspace) armTimer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armTimerLocked()
}

func (w *Workspace) armTimerLocked() {
	if w.closed || w.timer != nil {
		return
	}
	w.timer = time.AfterFunc(checkpointDelay, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.timer = nil
		if w.dirty || w.frozen != nil || w.journalErr != nil {
			w.kickCheckpoint()
		}
	})
}

// reclaim tries to free disk space for an operation that met ENOSPC. No lock
// is held.
func (w *Workspace) reclaim() bool {
	return w.reclaimSpace != nil && w.reclaimSpace()
}

// Close makes a checkpoint and lets go of everything. Operations after it fail;
// it waits for none that is under way. When the checkpoint fails the journal
// still has all of it.
func (w *Workspace) Close() error {
	if w.isClosed() {
		return nil
	}
	_, err := w.Checkpoint(context.Background(), CauseCheckpoint, "")
	if cerr := w.abandon(); err == nil {
		err = cerr
	}
	return err
}

func (w *Workspace) isClosed() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return w.closed
}

// exchanging reports whether a peer is sending something, or follows the head.
func (w *Workspace) exchanging() bool {
	w.importsMu.Lock()
	importing := len(w.imports) > 0
	w.importsMu.Unlock()
	w.headWatchers.mu.Lock()
	defer w.headWatchers.mu.Unlock()
	return importing || len(w.headWatchers.fns) > 0
}

// inUse reports whether anybody holds a file of it, hears of its changes or
// brings some.
func (w *Workspace) inUse() bool {
	if ws := w.watching.Load(); ws != nil && len(*ws) > 0 {
		return true
	}
	w.pins.Lock()
	pinned := len(w.pins.m) > 0
	w.pins.Unlock()
	if pinned || w.exchanging() {
		return true
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	for _, n := range w.inodes.all() {
		if n.handles > 0 {
			return true
		}
	}
	return false
}

// abandon closes without a checkpoint: the next Open replays the journal.
func (w *Workspace) abandon() error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return nil
	}
	w.closed = true
	if w.timer != nil {
		w.timer.Stop()
	}
	w.mu.Unlock()
	w.lazy.close()
	w.background.Wait()
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.journal.Close()
	if w.frozen != nil {
		if cerr := w.frozen.journal.Close(); err == nil {
			err = cerr
		}
	}
	if cerr := w.staging.close(); err == nil {
		err = cerr
	}
	return err
}

// Stats is a workspace in figures.
type Stats struct {
	Inodes       uint64 `json:"inodes"`
	Bytes        uint64 `json:"bytes"`         // allocated, as du counts
	JournalBytes int64  `json:"journal_bytes"` // of the present epoch
	StagedBytes  int64  `json:"staged_bytes"`  // not chunked yet
	Dirty        bool   `json:"dirty"`         // changed since the newest commit
	Orphans      int    `json:"orphans"`       // open files without a name
	CachedInodes int    `json:"cached_inodes"`
	Commit       string `json:"commit"` // the newest
	Root         string `json:"root"`   // its tree
	Quota        Quota  `json:"quota"`
}

// Stats returns figures of the present moment.
func (w *Workspace) Stats() Stats {
	w.mu.RLock()
	defer w.mu.RUnlock()
	w.inodes.mu.Lock()
	cached := len(w.inodes.m)
	w.inodes.mu.Unlock()
	return Stats{
		Inodes: w.usage.Inodes, Bytes: w.usage.Blocks * blockSize,
		JournalBytes: w.journal.Size(), StagedBytes: w.staging.size(),
		Dirty: w.dirty || w.frozen != nil, Orphans: len(w.orphans), CachedInodes: cached,
		Commit: w.head.Commit.String(), Root: w.head.Root.String(), Quota: w.quota,
	}
}

// SetQuota bounds the workspace from now on; it is durable with the next
// checkpoint.
func (w *Workspace) SetQuota(q Quota) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quota, w.dirty = q, true
}
