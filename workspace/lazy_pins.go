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

// promised counts the chunks of the newest commit that are not here.
func (w *Workspace) promised(ctx context.Context) (int, error) {
	w.mu.RLock()
	root := w.head.Root
	w.mu.RUnlock()
	n := 0
	err := w.eachChunk(ctx, root, func(id chunk.ID) error {
		if !w.chunks.Has(id) {
			n++
		}
		return nil
	})
	return n, err
}

// Promised returns how many references of the newest commit lead to chunks that
// are not here.
func (w *Workspace) Promised(ctx context.Context) (int, error) { return w.promised(ctx) }

// eachChunk calls fn for every reference to a chunk in a tree.
func (w *Workspace) eachChunk(ctx context.Context, root chunk.ID, fn func(chunk.ID) error) error {
	var inner error
	err := w.treeAt(root).Scan(ctx, nil, nil, func(k, v []byte) bool {
		var ids []chunk.ID
		if ids, inner = chunksOf(k, v); inner != nil {
			return false
		}
		for _, id := range ids {
			if inner = fn(id); inner != nil {
				return false
			}
		}
		return true
	})
	return errors.Join(err, inner)
}

// Hydrate fetches every chunk below a path of the newest commit that is not
// here yet. progress, which may be nil, hears of how many have come.
func (w *Workspace) Hydrate(ctx context.Context, path string, progress func(chunks int)) error {
	w.mu.RLock()
	base := w.treeAt(w.head.Root)
	w.mu.RUnlock()
	h := &hydration{ctx: ctx, w: w, base: base, progress: progress}
	var err error
	if path = strings.Trim(path, "/"); path == "" {
		err = w.eachChunk(ctx, base.Root(), h.want)
	} else {
		err = h.path(path)
	}
	if err == nil {
		err = h.flush()
	}
	if err == nil {
		err = w.chunks.Fsync(ctx)
	}
	if err != nil {
		err = fmt.Errorf("fetch %s of %s: %w", "/"+path, w.name, err)
	}
	return err
}

type hydration struct {
	ctx      context.Context
	w        *Workspace
	base     *tree.Tree
	pending  []chunk.ID
	fetched  int
	progress func(int)
}

func (h *hydration) want(id chunk.ID) error {
	if h.w.chunks.Has(id) || slices.Contains(h.pending, id) {
		return nil
	}
	if h.pending = append(h.pending, id); len(h.pending) < fetchBatch {
		return nil
	}
	return h.flush()
}

func (h *hydration) flush() error {
	if len(h.pending) == 0 {
		return nil
	}
	if err := h.w.lazy.fetch(h.ctx, h.pending, false); err != nil {
		return err
	}
	h.fetched += len(h.pending)
	h.pending = h.pending[:0]
	if h.progress != nil {
		h.progress(h.fetched)
	}
	return nil
}

func (h *hydration) path(path string) error {
	ino := vfs.RootIno
	for _, name := range strings.Split(path, "/") {
		b, ok, err := h.base.Get(h.ctx, dentryKey(ino, name))
		if err != nil {
			return err
		}
		if !ok {
			return syscall.ENOENT
		}
		d, err := decodeDentry(b)
		if err != nil {
			return err
		}
		ino = d.ino
	}
	return h.below(ino)
}

// below wants the chunks of an inode, and of all that is in a directory.
func (h *hydration) below(ino vfs.Ino) error {
	work := []vfs.Ino{ino}
	for len(work) > 0 {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		for _, kind := range []byte{keyInode, keyExtent, keyXattr, keyDentry} {
			lo, hi := inoRange(kind, at)
			var inner error
			err := h.base.Scan(h.ctx, lo, hi, func(k, v []byte) bool {
				if kind == keyDentry {
					var d dentryValue
					if d, inner = decodeDentry(v); inner == nil {
						work = append(work, d.ino)
					}
					return inner == nil
				}
				var ids []chunk.ID
				ids, inner = chunksOf(k, v)
				for _, id := range ids {
					if inner == nil {
						inner = h.want(id)
					}
				}
				return inner == nil
			})
			if err := errors.Join(err, inner); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxPinned bounds the paths that a head lists.
const maxPinned = 1024

// Pinned returns the paths whose chunks are to be here.
func (w *Workspace) Pinned() []string {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return slices.Clone(w.head.Pinned)
}

// SetPinned says, durably, which paths are to have their chunks here. It
// fetches nothing: HydratePinned does, now and after each move of the head.
func (w *Workspace) SetPinned(paths []string) error {
	if len(paths) > maxPinned {
		return fmt.Errorf("%d pinned paths, the limit is %d: %w", len(paths), maxPinned, syscall.EINVAL)
	}
	var clean []string
	for _, p := range paths {
		if len(p) > vfs.MaxPath {
			return syscall.ENAMETOOLONG
		}
		if p = strings.Trim(p, "/"); !slices.Contains(clean, p) {
			clean = append(clean, p)
		}
	}
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	h.Pinned = clean
	return w.moveHead(h)
}

// HydratePinned fetches what is pinned. A path that is not there is passed
// over: it may come.
func (w *Workspace) HydratePinned(ctx context.Context) error {
	for _, p := range w.Pinned() {
		if err := w.Hydrate(ctx, p, nil); err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
	return nil
}
