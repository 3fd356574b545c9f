package workspace

import (
	"context"
	"sync"

	"github.com/vfsd/vfsd/chunk"
)

// headWatchers are told when the head moves to another commit.
type headWatchers struct {
	mu   sync.Mutex
	last int
	fns  map[int]func(chunk.ID) // guarded by mu
}

// WatchHead calls moved with each commit that the head moves to from now on,
// until stop is called. moved must not block, nor use the workspace: it is called
// by whoever moved the head.
func (w *Workspace) WatchHead(moved func(commit chunk.ID)) (stop func()) {
	h := &w.headWatchers
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.fns == nil {
		h.fns = map[int]func(chunk.ID){}
	}
	h.last++
	id := h.last
	h.fns[id] = moved
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.fns, id)
	}
}

func (h *headWatchers) tell(commit chunk.ID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, moved := range h.fns {
		moved(commit)
	}
}

// StoredBytes returns a stored chunk or tree node, verified.
func (w *Workspace) StoredBytes(ctx context.Context, id chunk.ID) ([]byte, error) {
	return w.chunks.Get(ctx, id)
}

// Stored reports whether a chunk or a tree node is here.
func (w *Workspace) Stored(id chunk.ID) bool { return w.chunks.Has(id) }

// Blank reports whether nothing has ever happened in the workspace: a clone may
// become a replica of anything.
func (w *Workspace) Blank() bool { return w.blank() }
