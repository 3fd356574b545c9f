package workspace

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/journal"
	"github.com/vfsd/vfsd/tree"
)

// Scrub reads every stored byte of the data directory and checks it against
// its digest or checksum (P4): packs, heads and journals; and it looks for
// every chunk that a head or a snapshot needs. bad hears of each damage with
// the file and the offset; progress may be nil.
func (d *DataDir) Scrub(ctx context.Context, progress func(done, total int64), bad func(file string, offset int64, err error)) error {
	names, err := d.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := d.scrubWorkspace(ctx, name, bad); err != nil {
			return err
		}
	}
	return d.chunks.Scrub(ctx, progress, func(x chunk.Damage) { bad(x.Pack, x.Offset, x.Err) })
}

func (d *DataDir) scrubWorkspace(ctx context.Context, name string, bad func(file string, offset int64, err error)) error {
	file := filepath.Join(d.path(name), headName)
	h, err := readHead(d.fsys, d.path(name))
	if err != nil {
		bad(file, 0, err)
		return nil
	}
	if err := d.scrubJournals(name); err != nil {
		at, offset := file, int64(0)
		var c *journal.CorruptError
		if errors.As(err, &c) {
			at, offset = c.File, c.Offset
		}
		bad(at, offset, err)
	}
	r := &reach{ctx: ctx, d: d, lazy: h.Lazy, seen: map[chunk.ID]bool{}}
	missing := func(what string, commit chunk.ID) error {
		err := r.commit(commit)
		if err == nil || ctx.Err() != nil {
			return ctx.Err()
		}
		bad(file, 0, fmt.Errorf("%s of workspace %s, commit %.12s: %w", what, name, commit, err))
		return nil
	}
	if err := missing("the present state", h.Commit); err != nil {
		return err
	}
	for _, s := range h.Snapshots {
		if err := missing("snapshot "+s.Name, s.Commit); err != nil {
			return err
		}
	}
	return nil
}

// scrubJournals verifies the journals of a workspace. One that is in use ends
// in a record that is being written, which looks like a torn tail and is no
// damage.
func (d *DataDir) scrubJournals(name string) error {
	all, err := epochs(d.fsys, d.path(name))
	if err != nil {
		return nil // it was never opened: there is none
	}
	for _, e := range all {
		if _, err := journal.Scrub(d.fsys, journalDir(d.path(name), e)); err != nil {
			return err
		}
	}
	return nil
}

// Verify looks at a workspace without opening it: its head, its journals, the
// newest commit and the root of its tree are there and sound.
func (d *DataDir) Verify(ctx context.Context, name string) error {
	d.mu.Lock()
	err := d.exists(name)
	if err == nil {
		err = d.hurt[name]
	}
	d.mu.Unlock()
	if err != nil {
		return err
	}
	h, err := readHead(d.fsys, d.path(name))
	if err != nil {
		return err
	}
	if err := d.scrubJournals(name); err != nil {
		return err
	}
	c, err := getCommit(ctx, d.chunks, h.Commit)
	if err != nil {
		return err
	}
	_, err = tree.Load(d.chunks.Raw(), d.cache, c.Root).Size(ctx)
	return err
}

// OpenHead returns the newest commit of a workspace, to be read only, without
// its journal: the way to its snapshots when the journal is damaged.
func (d *DataDir) OpenHead(ctx context.Context, name string) (*Workspace, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.exists(name); err != nil {
		return nil, err
	}
	h, err := readHead(d.fsys, d.path(name))
	if err != nil {
		return nil, err
	}
	w := &Workspace{name: name, dir: d.path(name), fsys: d.fsys, chunks: d.chunks, cache: d.cache, log: d.log,
		lazy: newLazy(d.chunks, h.Lazy), id: h.ID, replica: h.Replica, head: *h}
	return w.At(ctx, h.Commit)
}

// reach looks for everything that commits need.
type reach struct {
	ctx  context.Context
	d    *DataDir
	lazy bool              // chunks may be with a peer; tree nodes may not
	seen map[chunk.ID]bool // tree nodes
}

func (r *reach) commit(id chunk.ID) error {
	c, err := getCommit(r.ctx, r.d.chunks, id)
	if err != nil {
		return err
	}
	// Not through the cache: what it holds says nothing of the disk.
	return tree.Load(r.d.chunks.Raw(), tree.NewCache(0), c.Root).Nodes(r.ctx, r.node)
}

func (r *reach) node(id chunk.ID, level int) (descend bool, err error) {
	if r.seen[id] {
		return false, nil
	}
	r.seen[id] = true
	if level > 0 {
		return true, nil
	}
	b, err := r.d.chunks.Get(r.ctx, id)
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
			if !r.lazy && !r.d.chunks.Has(id) {
				inner = fmt.Errorf("inode %d: chunk %s: %w", keyIno(k), id, chunk.ErrNotFound)
				return false
			}
		}
		return true
	})
	if err == nil {
		err = inner
	}
	return false, err
}
