package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// Import takes in the tree of one commit, and what it refers to. Nothing of it
// is visible before the head moves. It is safe for concurrent use, but for
// Finish and Close.
type Import struct {
	w      *Workspace
	target chunk.ID
	ledger *ledger

	mu    sync.Mutex
	nodes bool // guarded by mu: nodes came by themselves, not from edits
	done  bool // guarded by mu: finished
}

// Import begins to receive a commit, or goes on with what a transfer that
// broke has left. Two imports of one commit at the same time share what they
// have. Close it.
func (w *Workspace) Import(ctx context.Context, target chunk.ID) (*Import, error) {
	if w.readOnly {
		return nil, fmt.Errorf("import into a view: %w", os.ErrInvalid)
	}
	w.importsMu.Lock()
	defer w.importsMu.Unlock()
	if open := w.imports[target]; open != nil {
		open.users++
		return &Import{w: w, target: target, ledger: open.ledger}, nil
	}
	l, err := openLedger(w.fsys, w.dir, target)
	if err != nil {
		return nil, fmt.Errorf("import into %s: %w", w.name, err)
	}
	if w.imports == nil {
		w.imports = map[chunk.ID]*openImport{}
	}
	w.imports[target] = &openImport{ledger: l, users: 1}
	return &Import{w: w, target: target, ledger: l}, nil
}

// openImport is a ledger that imports are adding to.
type openImport struct {
	ledger   *ledger
	users    int
	finished bool
}

// Has reports whether a chunk or a node is here.
func (im *Import) Has(id chunk.ID) bool { return im.w.chunks.Has(id) }

// PutNode stores a tree node if its bytes hash to id.
func (im *Import) PutNode(ctx context.Context, id chunk.ID, node []byte) error {
	if _, err := InspectNode(node); err != nil {
		return err
	}
	im.mu.Lock()
	im.nodes = true
	im.mu.Unlock()
	return im.put(ctx, im.w.chunks.Raw(), id, node)
}

// PutChunk stores a chunk if its bytes hash to id.
func (im *Import) PutChunk(ctx context.Context, id chunk.ID, data []byte) error {
	if len(data) > chunk.MaxSize && len(data) > vfs.MaxXattrValue {
		return invalid("chunk %s of %d bytes", id, len(data))
	}
	return im.put(ctx, im.w.chunks, id, data)
}

func (im *Import) put(ctx context.Context, s chunk.Store, id chunk.ID, data []byte) error {
	if sum := chunk.Sum(data); sum != id {
		return invalid("bytes hash to %s where %s was announced", sum, id)
	}
	if err := im.ledger.add(id, len(data)); err != nil {
		return err
	}
	_, err := s.Put(ctx, data)
	return err
}

// listedStore lists nodes in the ledger before it stores them.
type listedStore struct {
	im    *Import
	under chunk.Store
}

func (s listedStore) Get(ctx context.Context, id chunk.ID) ([]byte, error) {
	return s.under.Get(ctx, id)
}

func (s listedStore) Put(ctx context.Context, node []byte) (chunk.ID, error) {
	if err := s.im.ledger.add(chunk.Sum(node), len(node)); err != nil {
		return chunk.ID{}, err
	}
	return s.under.Put(ctx, node)
}

// Apply applies edits, sorted by key, to the tree with a root and returns the
// root of the result. A delta may come in several parts, each applied to the
// result of the one before: it is never in memory as a whole.
func (im *Import) Apply(ctx context.Context, root chunk.ID, edits []tree.Edit) (chunk.ID, error) {
	for i := range edits {
		e := &edits[i]
		var err error
		switch {
		case e.To != nil:
			err = invalid("edit of a range")
		case e.Delete && (!validKey(e.Key) || keyIno(e.Key) >= 1<<slotShift):
			err = invalid("key %.300q", e.Key)
		case !e.Delete:
			err = validEntry(e.Key, e.Value)
		}
		if err != nil {
			return chunk.ID{}, err
		}
	}
	t, err := tree.Load(listedStore{im, im.w.chunks.Raw()}, im.w.cache, root).Apply(ctx, edits)
	if errors.Is(err, tree.ErrOrder) || errors.Is(err, tree.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if err != nil {
		return chunk.ID{}, err
	}
	return t.Root(), nil
}

// Finish ends an import in which everything has arrived: it verifies that the
// tree of target is a whole namespace and, unless lazy, that no chunk is
// missing, and keeps the commit, durably, until the head has it. records are
// those of target and of ancestors that are new here, in any order. ErrInvalid
// says that it will never be accepted; ErrMissing, with what lacks, that more
// must come.
func (im *Import) Finish(ctx context.Context, target chunk.ID, records [][]byte, lazy bool) error {
	if err := im.finish(ctx, target, records, lazy); err != nil {
		return fmt.Errorf("import of %s into %s: %w", target, im.w.name, err)
	}
	im.mu.Lock()
	im.done = true
	im.mu.Unlock()
	return nil
}

func (im *Import) finish(ctx context.Context, target chunk.ID, records [][]byte, lazy bool) error {
	w := im.w
	for _, b := range records {
		if _, err := decodeCommit(b); err != nil {
			return fmt.Errorf("%w: %w", ErrInvalid, err)
		}
		if err := im.put(ctx, w.chunks, chunk.Sum(b), b); err != nil {
			return err
		}
	}
	c, err := getCommit(ctx, w.chunks, target)
	if err != nil {
		return err
	}
	if err := w.acceptsPolynomial(c.Polynomial); err != nil {
		return err
	}
	im.mu.Lock()
	nodes := im.nodes
	im.mu.Unlock()
	t := w.treeAt(c.Root)
	if nodes {
		// What came as edits of a sound tree is cut as it must be.
		report, err := tree.Check(ctx, t)
		if err == nil {
			err = report.Err()
		}
		if err != nil {
			return missingOr(err)
		}
	}
	base, err := w.baseFor(ctx, target, c)
	if err != nil {
		return err
	}
	v := &validator{ctx: ctx, w: w, base: w.treeAt(base.Root), new: t, lazy: lazy}
	if err := v.run(base, c); err != nil {
		return missingOr(err)
	}
	if err := w.chunks.Fsync(ctx); err != nil {
		return err
	}
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	if lazy && !w.Lazy() {
		if err := w.becomeLazy(); err != nil {
			return err
		}
	}
	return w.putRef(importRefs+target.String(), target)
}

// becomeLazy says that chunks may be promised from now on, before anything
// refers to one. checkpointing is held.
func (w *Workspace) becomeLazy() error {
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	h.Lazy = true
	err := w.moveHead(h)
	if err == nil {
		w.lazy.on.Store(true)
	}
	return err
}

// ErrMissing says that something has not arrived yet.
var ErrMissing = errors.New("something of it is missing")

// missingOr marks an error about bytes that are not here, or not right, as what
// it is to a peer.
func missingOr(err error) error {
	switch {
	case errors.Is(err, chunk.ErrNotFound):
		return fmt.Errorf("%w: %w", ErrMissing, err)
	case errors.Is(err, vfs.ErrCorrupt) && !errors.Is(err, ErrInvalid):
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return err
}

// acceptsPolynomial refuses a commit whose files are cut in another way: equal
// content would give other roots for ever. A workspace in which nothing has
// happened yet takes what comes.
func (w *Workspace) acceptsPolynomial(polynomial uint64) error {
	if polynomial == 0 || polynomial == w.Polynomial() {
		return nil
	}
	if _, err := chunk.NewCutter(polynomial); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if !w.blank() {
		return invalid("its files are cut with another polynomial")
	}
	return nil
}

// baseFor returns a commit whose tree is here and known to be sound, near to a
// new one: one that it says it comes from, else the head.
func (w *Workspace) baseFor(ctx context.Context, target chunk.ID, c *Commit) (*Commit, error) {
	for range 64 {
		for _, p := range c.Parents {
			if p != target && w.HasTree(ctx, p) {
				return getCommit(ctx, w.chunks, p)
			}
		}
		if len(c.Parents) == 0 || !w.chunks.Has(c.Parents[0]) {
			break
		}
		var err error
		if c, err = getCommit(ctx, w.chunks, c.Parents[0]); err != nil {
			return nil, err
		}
	}
	return getCommit(ctx, w.chunks, w.Head())
}

// Close lets go of the import. What a finished one has stored is kept by its
// commit from then on, what an unfinished one has, for a week.
func (im *Import) Close() error {
	w := im.w
	w.importsMu.Lock()
	defer w.importsMu.Unlock()
	open := w.imports[im.target]
	if open == nil || open.ledger != im.ledger {
		return nil
	}
	im.mu.Lock()
	open.finished = open.finished || im.done
	im.mu.Unlock()
	if open.users--; open.users > 0 {
		return nil
	}
	delete(w.imports, im.target)
	return open.ledger.close(open.finished)
}

// flushLedgers makes the files say what the imports under way have stored.
func (w *Workspace) flushLedgers() error {
	w.importsMu.Lock()
	defer w.importsMu.Unlock()
	for _, open := range w.imports {
		open.ledger.mu.Lock()
		err := open.ledger.flush()
		open.ledger.mu.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}
