package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// A lazy workspace has its whole tree, and of the chunks that the tree names
// those that somebody has needed. The others are *promised*: a Source has them,
// and they come when they are read, verified as they are from any peer (P4).
// While the source is away, who needs one of them gets an error, EIO or
// ETIMEDOUT, and everyone else is served (P8): nothing waits for a peer while it
// holds a lock of the workspace.
//
// What a checkpoint has to read again to cut a file is fetched before the write
// that makes it necessary is accepted (prepare). So a checkpoint fails for a
// source that is away in one case only: when cuts do not meet the old ones
// within the two chunks that were fetched behind the write. Then the journal
// keeps what was acknowledged, and the next checkpoint goes on with it.

// Source has the chunks of a lazy workspace: a peer. Fetch calls got for each
// chunk of ids that it has, in any order; what it does not have it leaves out.
// The bytes need not be verified and are good during the call. It is called by
// many goroutines at once and ends when ctx does.
type Source interface {
	Fetch(ctx context.Context, ids []chunk.ID, got func(id chunk.ID, data []byte) error) error
}

// Errors of lazy workspaces; to a system call they are EIO.
var (
	ErrPromised  = errors.New("it is with a peer that cannot be reached")
	ErrWithdrawn = errors.New("the peer does not have it any more")
)

const (
	fetchTimeout = 30 * time.Second // that a reader waits for a chunk
	aheadBytes   = 4 << 20          // that are fetched behind what is read
	aheadWorkers = 4
	fetchBatch   = 128 // chunks asked for at once
)

// lazyState is shared by a workspace and the views of its commits.
type lazyState struct {
	on     atomic.Bool // chunks may be promised
	chunks *chunk.Packs

	mu      sync.Mutex
	source  Source               // guarded by mu; nil when the peer is away
	flights map[chunk.ID]*flight // under way; guarded by mu
	ahead   chan struct{}        // one for each read-ahead under way
	timeout time.Duration        // guarded by mu

	// What nobody waits for ends with the workspace.
	ctx    context.Context
	end    context.CancelFunc
	behind sync.WaitGroup
}

// close ends what is fetched ahead.
func (l *lazyState) close() {
	l.end()
	l.behind.Wait()
}

// flight is a chunk that is being fetched.
type flight struct {
	done chan struct{}
	err  error // set before done is closed
}

func newLazy(chunks *chunk.Packs, on bool) *lazyState {
	l := &lazyState{chunks: chunks, flights: map[chunk.ID]*flight{}, ahead: make(chan struct{}, aheadWorkers), timeout: fetchTimeout}
	l.on.Store(on)
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// SetSource says where promised chunks are; nil says that the peer is away.
func (w *Workspace) SetSource(s Source) {
	w.lazy.mu.Lock()
	defer w.lazy.mu.Unlock()
	w.lazy.source = s
}

// Lazy reports whether chunks may be promised.
func (w *Workspace) Lazy() bool { return w.lazy.on.Load() }

// SetLazy says, durably, that chunks may be promised from now on, or that none
// is: then all must be here, or it is ErrMissing.
func (w *Workspace) SetLazy(ctx context.Context, lazy bool) error {
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	if !lazy {
		n, err := w.promised(ctx)
		if err == nil && n > 0 {
			err = fmt.Errorf("%d chunks are with a peer: %w", n, ErrMissing)
		}
		if err != nil {
			return err
		}
	}
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	h.Lazy = lazy
	if err := w.moveHead(h); err != nil {
		return err
	}
	w.lazy.on.Store(lazy)
	return nil
}

// store returns what bytes are read from.
func (w *Workspace) store() chunk.Store {
	if !w.lazy.on.Load() {
		return w.chunks
	}
	return lazyStore{w.chunks, w.lazy}
}

// lazyStore is the chunk store, and behind it the source.
type lazyStore struct {
	*chunk.Packs
	lazy *lazyState
}

// Get implements chunk.Store.
func (s lazyStore) Get(ctx context.Context, id chunk.ID) ([]byte, error) {
	b, err := s.Packs.Get(ctx, id)
	if !errors.Is(err, chunk.ErrNotFound) && !errors.Is(err, vfs.ErrCorrupt) {
		return b, err
	}
	// A damaged chunk is mended from the peer, if that has it.
	if ferr := s.lazy.fetch(ctx, []chunk.ID{id}, errors.Is(err, vfs.ErrCorrupt)); ferr != nil {
		if errors.Is(err, vfs.ErrCorrupt) {
			return nil, err
		}
		return nil, ferr
	}
	return s.Packs.Get(ctx, id)
}

// fetch brings chunks here; those that somebody fetches already it waits for.
func (l *lazyState) fetch(ctx context.Context, ids []chunk.ID, again bool) error {
	var own []chunk.ID
	var wait []*flight
	l.mu.Lock()
	ctx, cancel := context.WithTimeout(ctx, l.timeout)
	defer cancel()
	source := l.source
	for _, id := range ids {
		if !again && l.chunks.Has(id) {
			continue
		}
		if f := l.flights[id]; f != nil {
			wait = append(wait, f)
			continue
		}
		f := &flight{done: make(chan struct{})}
		l.flights[id] = f
		own = append(own, id)
	}
	l.mu.Unlock()
	var err error
	if len(own) > 0 {
		err = l.fly(ctx, source, own)
	}
	for _, f := range wait {
		select {
		case <-f.done:
			if err == nil {
				err = f.err
			}
		case <-ctx.Done():
			return fmt.Errorf("wait for a chunk: %w", ctx.Err())
		}
	}
	return err
}

// fly fetches chunks for which flights are listed, and ends those.
func (l *lazyState) fly(ctx context.Context, source Source, ids []chunk.ID) (err error) {
	here := make(map[chunk.ID]bool, len(ids))
	if source == nil {
		err = ErrPromised
	} else {
		err = source.Fetch(ctx, ids, func(id chunk.ID, data []byte) error {
			if sum := chunk.Sum(data); sum != id {
				return fmt.Errorf("peer sent %s for chunk %s: %w", sum, id, vfs.ErrCorrupt)
			}
			if rerr := l.chunks.Repair(ctx, id, data); rerr != nil {
				return rerr
			}
			here[id] = true
			return nil
		})
	}
	if ctx.Err() != nil && err != nil {
		err = ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range ids {
		f := l.flights[id]
		delete(l.flights, id)
		if !here[id] {
			if f.err = err; err == nil {
				f.err = ErrWithdrawn
			}
			f.err = fmt.Errorf("chunk %s: %w", id, f.err)
		}
		close(f.done)
	}
	for _, id := range ids {
		if err == nil && !here[id] {
			err = fmt.Errorf("chunk %s: %w", id, ErrWithdrawn)
		}
	}
	if err != nil {
		err = fmt.Errorf("fetch chunk %s: %w", ids[0], err)
	}
	return err
}

// bring fetches what pieces need, in batches.
func (l *lazyState) bring(ctx context.Context, ps []piece) error {
	ids := l.lacking(ps)
	for len(ids) > 0 {
		n := min(len(ids), fetchBatch)
		if err := l.fetch(ctx, ids[:n], false); err != nil {
			return err
		}
		ids = ids[n:]
	}
	return nil
}

// lacking returns the chunks of pieces that are not here.
func (l *lazyState) lacking(ps []piece) []chunk.ID {
	var ids []chunk.ID
	for i := range ps {
		if ps[i].src == srcChunk && !l.chunks.Has(ps[i].id) {
			ids = append(ids, ps[i].id)
		}
	}
	return ids
}

// beyond returns the chunks behind ps, which are being read, that are not here:
// they will be wanted next. mu is held at least shared.
func (w *Workspace) beyond(n *inode, ps []piece, off int64) []chunk.ID {
	end := min(int64(n.v.Size), off+aheadBytes)
	var ids []chunk.ID
	now := w.lazy.lacking(ps)
	err := w.segments(n, off, end, func(p piece) error {
		for _, id := range w.lazy.lacking([]piece{p}) {
			if !slices.Contains(now, id) {
				ids = append(ids, id)
			}
		}
		return nil
	})
	if err != nil {
		return nil // whoever reads there will hear of it
	}
	return ids
}

// fetchAhead fetches chunks that nobody waits for yet.
func (w *Workspace) fetchAhead(ids []chunk.ID) {
	if len(ids) == 0 {
		return
	}
	select {
	case w.lazy.ahead <- struct{}{}:
	default:
		return // enough are on their way
	}
	w.lazy.behind.Go(func() {
		defer func() { <-w.lazy.ahead }()
		if err := w.lazy.fetch(w.lazy.ctx, ids, false); err != nil {
			w.log.Debug("read-ahead", "workspace", w.name, "err", err)
		}
	})
}

// prepareXattrs fetches the values of an inode's attributes that are chunks. No
// lock is held.
func (w *Workspace) prepareXattrs(op *vfs.Op, ino vfs.Ino) error {
	if !w.lazy.on.Load() {
		return nil
	}
	var ids []chunk.ID
	lo, hi := inoRange(keyXattr, ino)
	w.mu.RLock()
	err := w.layers.scan(contextOf(op), lo, hi, func(k, v []byte) (bool, error) {
		if len(v) == 33 && v[0] == xattrChunk {
			ids = append(ids, chunk.ID(v[1:]))
		}
		return true, nil
	})
	w.mu.RUnlock()
	if err == nil {
		err = w.lazy.fetch(contextOf(op), ids, false)
	}
	return err
}

// promisedHere reports whether an error is about a chunk that may be with a
// peer: what must not wait for it goes on without.
func (w *Workspace) promisedHere(err error) bool {
	return errors.Is(err, chunk.ErrNotFound) && w.lazy.on.Load()
}

// prepare fetches what a checkpoint will need when [off, end) of a file is
// changed: the chunks around it, or all of a file that will be one chunk. No
// lock is held.
func (w *Workspace) prepare(op *vfs.Op, ino vfs.Ino, off, end int64) error {
	if !w.lazy.on.Load() {
		return nil
	}
	var ps []piece
	w.mu.RLock()
	n, err := w.load(ino)
	if err == nil && n.v.IsRegular() && n.base != nil {
		off = min(off, int64(n.v.Size))
		lo, hi := max(0, off-chunk.MaxSize), int64(vfs.MaxFileSize)
		if end < hi-2*chunk.MaxSize {
			hi = end + 2*chunk.MaxSize
		}
		if int64(n.v.Size) <= 2*chunk.WholeMax {
			lo, hi = 0, int64(n.v.Size)
		}
		err = w.segments(n, lo, min(hi, max(int64(n.v.Size), off)), func(p piece) error {
			ps = append(ps, p)
			return nil
		})
	}
	w.mu.RUnlock()
	if err == nil {
		err = w.lazy.bring(contextOf(op), ps)
	}
	if err != nil {
		return fmt.Errorf("bytes around a change of inode %d: %w", ino, err)
	}
	return nil
}
