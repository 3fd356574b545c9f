package workspace

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/journal"
	"github.com/vfsd/vfsd/tree"
)

// keptCommits is how many unnamed commits of a workspace a collection keeps
// besides its snapshots: the history that `log` shows and `restore` reaches.
const keptCommits = 64

// root is something that a collection must keep, with all it reaches.
type gcRoots struct {
	commits []chunk.ID // with their trees; not their parents
	heads   []chunk.ID // with their trees and the newest of their ancestors
	chunks  []chunk.ID // by themselves
	lazy    bool       // chunks of some of them may be with a peer
}

// GC frees the chunks that no head, snapshot, recent commit or open file
// reaches. What a snapshot alone had goes only when its commit is no more among
// the newest keptCommits of its workspace either. Writers and readers go on meanwhile. With dryRun it only counts.
func (d *DataDir) GC(ctx context.Context, dryRun bool) (chunk.GCReport, error) {
	d.gcMu.Lock()
	defer d.gcMu.Unlock()
	gc, roots, err := d.beginGC(ctx)
	if err != nil {
		return chunk.GCReport{}, fmt.Errorf("gc: %w", err)
	}
	m := &marker{ctx: ctx, gc: gc, d: d, lazy: roots.lazy}
	if err := m.mark(roots); err != nil {
		gc.Abort()
		return chunk.GCReport{}, fmt.Errorf("gc: mark: %w", err)
	}
	report, err := gc.Sweep(ctx, dryRun, nil)
	if err != nil {
		err = fmt.Errorf("gc: sweep: %w", err)
	}
	return report, err
}

// beginGC starts a collection at a moment when no checkpoint is under way: what
// it has stored and no head reaches yet would be taken for garbage.
func (d *DataDir) beginGC(ctx context.Context) (*chunk.GC, *gcRoots, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.done {
		return nil, nil, errClosed
	}
	names, err := d.List()
	if err != nil {
		return nil, nil, err
	}
	roots := &gcRoots{}
	for _, name := range names {
		if d.open[name] != nil {
			continue
		}
		if err := d.sleepingRoots(name, roots); err != nil {
			return nil, nil, err
		}
	}
	for _, w := range d.open {
		w.checkpointing.Lock()
		defer w.checkpointing.Unlock()
	}
	gc := d.chunks.BeginGC()
	for _, w := range d.open {
		if err := w.roots(roots); err != nil {
			gc.Abort()
			return nil, nil, err
		}
	}
	return gc, roots, nil
}

// sleepingRoots adds the roots of a workspace that nobody uses: its head says
// all, unless it was left with a journal, which may name chunks too.
func (d *DataDir) sleepingRoots(name string, roots *gcRoots) error {
	h, err := readHead(d.fsys, d.path(name))
	if err != nil {
		return err // its chunks cannot be known, so nothing may go
	}
	all, err := epochs(d.fsys, d.path(name))
	if err != nil {
		all = nil // it was never opened
	}
	for _, e := range all {
		r, err := journal.Scrub(d.fsys, journalDir(d.path(name), e))
		if err != nil {
			return fmt.Errorf("workspace %s: %w", name, err)
		}
		if r.Records > 0 {
			_, err := d.openLocked(name)
			return err
		}
	}
	roots.head(h)
	return roots.incoming(d.fsys, d.path(name))
}

// incoming adds what imports have stored that nothing refers to yet.
func (r *gcRoots) incoming(fsys hostfs.FS, dir string) error {
	return readLedgers(fsys, dir, func(id chunk.ID) { r.chunks = append(r.chunks, id) })
}

func (r *gcRoots) head(h *head) {
	r.lazy = r.lazy || h.Lazy
	r.heads = append(r.heads, h.Commit)
	for _, s := range h.Snapshots {
		r.commits = append(r.commits, s.Commit)
	}
	for _, ref := range h.Refs {
		r.commits = append(r.commits, ref.Commit)
	}
}

// roots adds everything that w needs: checkpointing is held.
func (w *Workspace) roots(r *gcRoots) error {
	if err := w.flushLedgers(); err != nil {
		return err
	}
	if err := r.incoming(w.fsys, w.dir); err != nil {
		return err
	}
	w.mu.RLock()
	defer w.mu.RUnlock()
	r.head(&w.head)
	w.inodes.mu.Lock()
	defer w.inodes.mu.Unlock()
	for _, n := range w.inodes.m {
		for _, e := range []*extentMap{n.delta, n.frozen} {
			e.scan(func(p piece) bool {
				if p.src == srcChunk {
					r.chunks = append(r.chunks, p.id)
				}
				return true
			})
		}
	}
	return nil
}

// marker marks what roots reach.
type marker struct {
	ctx  context.Context
	gc   *chunk.GC
	d    *DataDir
	lazy bool
}

func (m *marker) mark(r *gcRoots) error {
	for _, id := range r.chunks {
		m.gc.Mark(id)
	}
	for _, id := range r.commits {
		if err := m.commit(id, false); err != nil {
			return err
		}
	}
	for _, id := range r.heads {
		if err := m.history(id); err != nil {
			return err
		}
	}
	return nil
}

// history marks the newest commits with their trees, and the records alone of
// those before them.
func (m *marker) history(head chunk.ID) error {
	seen := 0
	return past{m.ctx, m.d.chunks}.walk(head, keptRecords, func(id chunk.ID, c *Commit) (bool, error) {
		if seen++; seen > keptCommits {
			m.gc.Mark(id)
			return true, nil
		}
		// What a peer made on the way to a commit came without its tree.
		return true, m.commit(id, seen > 1)
	})
}

// commit marks a commit and its tree, or what of that is here.
func (m *marker) commit(id chunk.ID, partial bool) error {
	c, err := getCommit(m.ctx, m.d.chunks, id)
	if err != nil {
		return err
	}
	m.gc.Mark(id)
	if partial && !m.d.chunks.Has(c.Root) {
		return nil
	}
	t := tree.Load(m.d.chunks.Raw(), m.d.cache, c.Root)
	return t.Nodes(m.ctx, func(id chunk.ID, level int) (bool, error) {
		if partial && !m.d.chunks.Has(id) {
			return false, nil
		}
		return m.node(id, level)
	})
}

// node marks a tree node and, the first time, the chunks that its entries name.
func (m *marker) node(id chunk.ID, level int) (descend bool, err error) {
	if err := m.ctx.Err(); err != nil {
		return false, err
	}
	first := m.gc.Mark(id)
	if !first || level > 0 {
		return first, nil
	}
	b, err := m.d.chunks.Get(m.ctx, id)
	if err != nil {
		return false, err
	}
	var inner error
	err = tree.Entries(b, func(k, v []byte) bool {
		var ids []chunk.ID
		if ids, inner = chunksOf(k, v); inner != nil {
			return false
		}
		for _, id := range ids {
			// What is promised is not missing.
			if !m.lazy || m.d.chunks.Has(id) {
				m.gc.Mark(id)
			}
		}
		return true
	})
	if err == nil {
		err = inner
	}
	return false, err
}

// chunksOf returns the chunks that an entry of the tree refers to.
func chunksOf(k, v []byte) ([]chunk.ID, error) {
	if !validKey(k) {
		return nil, fmt.Errorf("key %q: %w", k, errCorruptKey)
	}
	switch k[0] {
	case keyInode:
		in, err := decodeInode(keyIno(k), v)
		if err != nil || in.content != contentChunk {
			return nil, err
		}
		return []chunk.ID{in.chunk}, nil
	case keyExtent:
		e, err := decodeExtent(v)
		if err != nil || e.id.IsZero() {
			return nil, err
		}
		return []chunk.ID{e.id}, nil
	case keyXattr:
		if len(v) == 33 && v[0] == xattrChunk {
			return []chunk.ID{chunk.ID(v[1:])}, nil
		}
	}
	return nil, nil
}

// reclaimPause keeps a full disk from being searched for garbage over and over.
const reclaimPause = 5 * time.Second

// reclaim frees what it can on a full disk: staged bytes move into packs, where
// they may be there already, journals go, dead chunks go. It reports whether
// there is more room than before.
func (d *DataDir) reclaim() bool {
	d.reclaimMu.Lock()
	defer d.reclaimMu.Unlock()
	if time.Since(d.reclaimed) < reclaimPause {
		return false
	}
	before := d.free()
	d.mu.Lock()
	all := make([]*Workspace, 0, len(d.open))
	for _, w := range d.open {
		all = append(all, w)
	}
	d.mu.Unlock()
	ctx := context.Background()
	for _, w := range all {
		if _, err := w.Checkpoint(ctx, CauseCheckpoint, ""); err != nil {
			d.log.Warn("disk is full: checkpoint", "workspace", w.name, "err", err)
		}
	}
	if _, err := d.GC(ctx, false); err != nil {
		d.log.Warn("disk is full: collection", "err", err)
	}
	freed := d.free() > before
	if !freed {
		d.reclaimed = time.Now()
	}
	return freed
}

func (d *DataDir) free() uint64 {
	u, err := d.fsys.Usage(filepath.Join(d.dir, chunksName))
	if err != nil {
		return 0
	}
	return u.Available
}
