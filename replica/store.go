package replica

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/workspace"
)

// store is a workspace as a session sees it.
type store struct{ w *workspace.Workspace }

// NewStore returns a workspace as package protocol wants it.
func NewStore(w *workspace.Workspace) protocol.Store { return store{w} }

// storeError puts the protocol's kind into the chain of an error of the engine.
func storeError(err error) error {
	kind := error(nil)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, workspace.ErrInvalid):
		kind = protocol.ErrInvalid
	case errors.Is(err, workspace.ErrHeadMoved), errors.Is(err, workspace.ErrDiverged):
		kind = protocol.ErrHeadMoved
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		kind = protocol.ErrRefused
	case errors.Is(err, chunk.ErrNotFound), errors.Is(err, workspace.ErrNoTree):
		kind = protocol.ErrNotFound
	default:
		return err
	}
	return fmt.Errorf("%w: %w", kind, err)
}

// Head is zero while nothing has ever happened in the workspace: it has no
// commit that a peer would have to take up, and takes whatever is pushed.
func (s store) Head(ctx context.Context) (protocol.ID, error) {
	if s.w.Blank() {
		return protocol.ID{}, nil
	}
	id, err := s.w.SyncHead(ctx)
	return protocol.ID(id), storeError(err)
}

func (s store) CompareAndSwapHead(ctx context.Context, old, new protocol.ID) error {
	if old.IsZero() {
		blank := s.w.Head() // before the question, so that nothing comes in between
		if !s.w.Blank() {
			return protocol.ErrHeadMoved
		}
		old = protocol.ID(blank)
	}
	return storeError(s.w.MoveHead(ctx, chunk.ID(old), chunk.ID(new)))
}

func (s store) Commit(ctx context.Context, id protocol.ID) ([]byte, error) {
	b, err := s.w.CommitRecord(ctx, chunk.ID(id))
	return b, storeError(err)
}

func (s store) HasTree(ctx context.Context, commit protocol.ID) bool {
	return s.w.HasTree(ctx, chunk.ID(commit))
}

func (s store) Bases(ctx context.Context, limit int) ([]protocol.ID, error) {
	ids, err := s.w.Bases(ctx, limit)
	return toProtocol(ids), storeError(err)
}

func toProtocol(ids []chunk.ID) []protocol.ID {
	out := make([]protocol.ID, len(ids))
	for i, id := range ids {
		out[i] = protocol.ID(id)
	}
	return out
}

func (s store) Node(ctx context.Context, id protocol.ID) ([]byte, error) { return s.Chunk(ctx, id) }

func (s store) Chunk(ctx context.Context, id protocol.ID) ([]byte, error) {
	b, err := s.w.StoredBytes(ctx, chunk.ID(id))
	return b, storeError(err)
}

func (s store) HasNode(id protocol.ID) bool { return s.w.Stored(chunk.ID(id)) }

func (s store) HasChunk(id protocol.ID) bool { return s.w.Stored(chunk.ID(id)) }

func (s store) Delta(ctx context.Context, base, target protocol.ID) iter.Seq2[protocol.Change, error] {
	return func(yield func(protocol.Change, error) bool) {
		for c, err := range s.w.Delta(ctx, chunk.ID(base), chunk.ID(target)) {
			if !yield(protocol.Change{Key: c.Key, Old: c.Old, New: c.New}, storeError(err)) {
				return
			}
		}
	}
}

func (s store) Size(ctx context.Context, root protocol.ID) (uint64, error) {
	size, err := s.w.TreeSize(ctx, chunk.ID(root))
	return size.Bytes, storeError(err)
}

func (s store) Refs(key, value []byte, fn func(protocol.ID)) error {
	ids, err := workspace.ChunksOf(key, value)
	for _, id := range ids {
		fn(protocol.ID(id))
	}
	return storeError(err)
}

func (s store) Inspect(node []byte) (protocol.TreeNode, error) {
	n, err := workspace.InspectNode(node)
	return protocol.TreeNode{Level: n.Level, Children: toProtocol(n.Children), Chunks: toProtocol(n.Chunks)}, storeError(err)
}

func (s store) Import(ctx context.Context, target protocol.ID) (protocol.Import, error) {
	im, err := s.w.Import(ctx, chunk.ID(target))
	if err != nil {
		return nil, storeError(err)
	}
	return imported{im}, nil
}

// imported is an import of the engine.
type imported struct{ im *workspace.Import }

func (i imported) PutNode(ctx context.Context, id protocol.ID, node []byte) error {
	return storeError(i.im.PutNode(ctx, chunk.ID(id), node))
}

func (i imported) PutChunk(ctx context.Context, id protocol.ID, data []byte) error {
	return storeError(i.im.PutChunk(ctx, chunk.ID(id), data))
}

func (i imported) Apply(ctx context.Context, root protocol.ID, edits []protocol.Edit) (protocol.ID, error) {
	batch := make([]tree.Edit, len(edits))
	for k, e := range edits {
		batch[k] = tree.Edit{Key: e.Key, Value: e.Value, Delete: e.Value == nil}
	}
	id, err := i.im.Apply(ctx, chunk.ID(root), batch)
	return protocol.ID(id), storeError(err)
}

func (i imported) Finish(ctx context.Context, target protocol.ID, records [][]byte, lazy bool) error {
	return storeError(i.im.Finish(ctx, chunk.ID(target), records, lazy))
}

// Close keeps what arrived; that its list could not be written costs sending it
// again.
func (i imported) Close() { _ = i.im.Close() }
