package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/journal"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
)

// openConfig is what a workspace gets from its data directory.
type openConfig struct {
	name    string
	dir     string
	fsys    hostfs.FS
	chunks  *chunk.Packs
	cache   *tree.Cache
	log     *slog.Logger
	reclaim func() bool
	// cutter returns what cuts with a polynomial; 0 is the store's.
	cutter func(polynomial uint64) (*chunk.Cutter, error)
	// inherited is what the process before this one knew; see handover.go.
	inherited []byte
}

// openWorkspace reads the head and replays what the journal has beyond it: the
// state is then what was acknowledged when the last process died (P1), or what
// of it survived a power cut (P2, P3).
func openWorkspace(c openConfig) (*Workspace, error) {
	h, err := readHead(c.fsys, c.dir)
	if err != nil {
		return nil, err
	}
	cut, err := c.cutter(h.Polynomial)
	if err != nil {
		return nil, fmt.Errorf("head of %s: %w: %w", c.name, err, vfs.ErrCorrupt)
	}
	h.Polynomial = cut.Polynomial() // an old head does not say it; the next one will
	w := &Workspace{
		cut: cut, lazy: newLazy(c.chunks, h.Lazy), name: c.name, dir: c.dir, fsys: c.fsys, chunks: c.chunks, cache: c.cache, log: c.log,
		id: h.ID, replica: h.Replica, head: *h, next: h.Next, quota: h.Quota,
		usage: usage{h.Inodes, h.Blocks}, epoch: h.Epoch, orphans: map[vfs.Ino]*inode{},
		enc: newRecordEncoder(), reclaimSpace: c.reclaim,
	}
	w.layers = layers{active: &overlay{}, base: tree.Load(c.chunks.Raw(), c.cache, h.Root)}
	w.inodes.m = map[vfs.Ino]*inode{}
	w.pins.m = map[vfs.Ino]int32{}
	if w.staging, err = openStaging(c.fsys, stagingDir(c.dir), h.Epoch); err != nil {
		return nil, err
	}
	if err := w.recover(h, c.inherited); err != nil {
		if cerr := w.staging.close(); cerr != nil {
			err = errors.Join(err, cerr)
		}
		if w.journal != nil {
			err = errors.Join(err, w.journal.Close())
		}
		return nil, fmt.Errorf("recover %s: %w", c.name, err)
	}
	return w, nil
}

func (w *Workspace) recover(h *head, inherited []byte) error {
	if err := w.fsys.MkdirAll(w.dir+"/journal", 0o700); err != nil {
		return err
	}
	if err := removeEpochs(w.fsys, w.dir, h.Epoch); err != nil {
		return err
	}
	present, err := epochs(w.fsys, w.dir)
	if err != nil {
		return err
	}
	for i, e := range present {
		if e != h.Epoch+uint64(i) {
			return fmt.Errorf("%s/journal: epochs %v where the head goes on with %d: %w", w.dir, present, h.Epoch, vfs.ErrCorrupt)
		}
	}
	if w.journal, err = w.openJournal(h.Epoch, journal.LSN(h.LSN+1)); err != nil {
		return err
	}
	if err := w.replay(); err != nil {
		return err
	}
	for i := 1; i < len(present); i++ {
		goesOn, err := w.recoverNext(present[i])
		if err != nil {
			return err
		}
		if !goesOn {
			if err := w.dropEpochs(present[i:]); err != nil {
				return err
			}
			break
		}
	}
	if inherited != nil {
		if err := w.adopt(inherited); err != nil {
			return err
		}
	}
	if err := w.staging.removeUnknown(); err != nil {
		return err
	}
	if w.dirty {
		w.armTimerLocked() // nobody else knows of w yet
	}
	return nil
}

// recoverNext goes on with the epoch that a freeze began before its checkpoint
// could land. When the one before lost its tail to a power cut, nothing of this
// one was ever durable, and it does not go on (P3).
func (w *Workspace) recoverNext(epoch uint64) (goesOn bool, err error) {
	report, err := journal.Scrub(w.fsys, journalDir(w.dir, epoch))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	after := w.journal.Applied() + 1
	if report.Segments > 0 && report.First != after {
		w.log.Warn("journal lost its tail; what came after it is dropped",
			"workspace", w.name, "last", after-1, "dropped", report.Records)
		return false, nil
	}
	if err := w.journal.Close(); err != nil {
		return false, err
	}
	if w.journal, err = w.openJournal(epoch, after); err != nil {
		return false, err
	}
	w.epoch = epoch
	w.staging.rotate(epoch)
	return true, w.replay()
}

// dropEpochs removes journals, the last first, so that what a crash leaves of
// them is still a sequence.
func (w *Workspace) dropEpochs(all []uint64) error {
	for _, e := range slices.Backward(all) {
		if err := w.fsys.RemoveAll(journalDir(w.dir, e)); err != nil {
			return err
		}
	}
	return nil
}

// replay applies the open journal. Bytes that an fsync put into it go back
// where they were staged before any record that tells of them is verified.
func (w *Workspace) replay() error {
	if t := w.journal.Dropped(); t != nil {
		w.log.Warn("journal had a torn tail", "workspace", w.name, "file", t.File, "offset", t.Offset, "bytes", t.Bytes)
	}
	lost := map[vfs.Ino]bool{} // files with bytes that did not survive
	err := w.journal.Replay(func(lsn journal.LSN, t journal.Type, payload []byte) error {
		if t != recStaged {
			return nil
		}
		r, err := decodeStaged(payload)
		if err == nil {
			err = w.restage(r)
		}
		return atLSN(err, lsn)
	})
	if err != nil {
		return err
	}
	err = w.journal.Replay(func(lsn journal.LSN, t journal.Type, payload []byte) error {
		switch t {
		case recStaged:
			return nil
		case recBatch:
		default:
			return atLSN(fmt.Errorf("record type %d: %w", t, ErrNewer), lsn)
		}
		r, err := decodeBatch(payload)
		if err == nil {
			err = w.redo(r, lost)
		}
		return atLSN(err, lsn)
	})
	if err != nil {
		return err
	}
	return w.recount(lost)
}

// recount corrects the space of files that lost bytes: their records told of
// blocks that are not there.
func (w *Workspace) recount(lost map[vfs.Ino]bool) error {
	for ino := range lost {
		n, err := w.load(ino)
		if errors.Is(err, syscall.ENOENT) {
			continue // removed later on
		}
		if err != nil {
			return err
		}
		v := n.v
		v.flags |= flagReserved // look at every extent
		n.v = v
		blocks, err := w.allocated(n, 0, blockCeil(vfs.MaxFileSize))
		if err != nil {
			return err
		}
		w.usage.add(0, blocks*sectorsPerBlock-int64(v.Blocks))
		v.Blocks = uint64(blocks) * sectorsPerBlock
		n.v = v
		w.layers.active.Set(string(inodeKey(ino)), appendInode(nil, &v))
	}
	return nil
}

func atLSN(err error, lsn journal.LSN) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("journal record %d: %w", lsn, err)
}

// restage writes the bytes of a staged record to where they were.
func (w *Workspace) restage(r *stagedRecord) error {
	f, err := w.staging.reopen(r.file)
	if err != nil {
		return err
	}
	if _, err := f.f.WriteAt(r.bytes, r.at); err != nil {
		return err
	}
	f.end = max(f.end, r.at+int64(len(r.bytes)))
	return nil
}

// redo applies a batch as commit did.
func (w *Workspace) redo(r *batchRecord, lost map[vfs.Ino]bool) error {
	for _, e := range r.edits {
		if e.key[0] == keyInode {
			if err := w.redoInode(e); err != nil {
				return err
			}
			continue
		}
		w.layers.active.Set(string(e.key), e.value)
	}
	for i := range r.pieces {
		kept, err := w.redoPiece(&r.pieces[i])
		if err != nil {
			return err
		}
		if !kept {
			lost[r.pieces[i].ino] = true
		}
	}
	w.dirty = true
	w.changed++
	return nil
}

func (w *Workspace) redoInode(e edit) error {
	ino := keyIno(e.key)
	old, err := w.load(ino)
	switch {
	case err == nil:
		w.usage.add(-1, -int64(old.v.Blocks))
	case !errors.Is(err, syscall.ENOENT):
		return err
	}
	w.layers.active.Set(string(e.key), e.value)
	if e.value == nil {
		w.inodes.drop(ino)
		return nil
	}
	v, err := decodeInode(ino, e.value)
	if err != nil {
		return err
	}
	w.usage.add(1, int64(v.Blocks))
	if inoReplica(ino) == w.replica {
		w.next = max(w.next, inoCounter(ino)+1)
	}
	if old == nil {
		old = w.inodes.add(&inode{ino: ino})
	}
	if v.Size != old.v.Size && v.IsRegular() {
		old.resized = true
	}
	old.v = *v
	return nil
}

// redoPiece puts a piece over its file, and reports whether it did: staged
// bytes that a power cut took are left out, and what was there before them
// stays.
func (w *Workspace) redoPiece(r *pieceRecord) (bool, error) {
	n, err := w.load(r.ino)
	if err != nil {
		return false, fmt.Errorf("bytes of inode %d: %w", r.ino, err)
	}
	if r.p.src == srcStaging {
		if r.p.file, err = w.staging.reopen(r.file); err != nil {
			return false, err
		}
		ok, err := stagedIntact(r)
		if err != nil {
			return false, err
		}
		if !ok {
			w.log.Warn("bytes that were never fsynced are lost", "workspace", w.name,
				"inode", r.ino, "offset", r.p.off, "bytes", r.p.len)
			return false, nil
		}
		n.unsynced.add(r.p.file, r.p.at, r.p.len)
	}
	if n.delta == nil {
		n.delta = &extentMap{}
	}
	n.delta.insert(r.p)
	return true, nil
}

// stagedIntact reports whether the bytes that a record tells of are there.
func stagedIntact(r *pieceRecord) (bool, error) {
	size, err := r.p.file.f.Size()
	if err != nil || size < r.p.at+r.p.len {
		return false, err
	}
	sum, err := stagedSum(r.p)
	if err != nil {
		return false, err
	}
	return sum == r.crc, nil
}

// newHead makes the head of an empty workspace: a root directory and nothing
// in it. Its chunks are durable when it returns.
func newHead(ctx context.Context, chunks *chunk.Packs, cache *tree.Cache, id [16]byte, replica uint32, root inodeValue) (*head, error) {
	t, err := tree.Empty(chunks.Raw(), cache).Apply(ctx, []tree.Edit{
		{Key: inodeKey(vfs.RootIno), Value: appendInode(nil, &root)},
	})
	if err != nil {
		return nil, err
	}
	c := &Commit{Root: t.Root(), Replica: replica, Time: root.Btime, Cause: CauseCreate, Inodes: 1,
		Polynomial: chunks.Cutter().Polynomial()}
	commit, err := putCommit(ctx, chunks, c)
	if err != nil {
		return nil, err
	}
	return &head{
		ID: id, Replica: replica, Next: 1, Commit: commit, Root: t.Root(),
		Epoch: 1, Inodes: 1, Created: root.Btime, Polynomial: c.Polynomial,
	}, chunks.Fsync(ctx)
}
