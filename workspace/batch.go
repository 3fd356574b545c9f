package workspace

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// batch is one operation being prepared: nothing of it is visible until commit
// has put it into the journal, and then all of it is.
type batch struct {
	rec     batchRecord
	sets    []pendingInode
	dels    []*inode
	extents []pendingPiece
	changes []vfs.Change
	watched bool // somebody wants to hear of the changes
	frees   bool // it deletes something
}

type pendingInode struct {
	n     *inode
	v     inodeValue
	isNew bool
	named bool // an orphan that gets a name with this batch
}

// stored reports whether the inode is in the map once the batch is applied.
func (s *pendingInode) stored() bool { return s.named || !s.n.orphan }

type pendingPiece struct {
	n *inode
	p piece
}

func (b *batch) reset() {
	b.rec.edits, b.rec.pieces = b.rec.edits[:0], b.rec.pieces[:0]
	b.sets, b.dels, b.extents = b.sets[:0], b.dels[:0], b.extents[:0]
	b.changes, b.watched, b.frees = nil, false, false
}

// put stores a value under a key.
func (b *batch) put(key, value []byte) {
	b.rec.edits = append(b.rec.edits, edit{key, value})
}

// delete forgets a key.
func (b *batch) delete(key []byte) {
	b.rec.edits = append(b.rec.edits, edit{key: key})
}

// set gives n new attributes. An orphan's stay in memory. A second set of the
// same inode replaces the first.
func (b *batch) set(n *inode, v inodeValue) {
	v.content, v.inline = contentNone, nil
	for i := range b.sets {
		if b.sets[i].n == n {
			b.sets[i].v = v
			return
		}
	}
	b.sets = append(b.sets, pendingInode{n: n, v: v})
}

// value returns n's attributes as this batch leaves them so far.
func (b *batch) value(n *inode) inodeValue {
	for i := range b.sets {
		if b.sets[i].n == n {
			return b.sets[i].v
		}
	}
	return n.v
}

// create makes a new inode.
func (b *batch) create(n *inode, v inodeValue) {
	b.sets = append(b.sets, pendingInode{n: n, v: v, isNew: true})
}

// name gives an orphan its first name.
func (b *batch) name(n *inode, v inodeValue) {
	b.sets = append(b.sets, pendingInode{n: n, v: v, isNew: true, named: true})
}

// remove takes n out of the map; memory keeps it as an orphan while it is held.
func (b *batch) remove(n *inode) {
	b.delete(inodeKey(n.ino))
	b.dels = append(b.dels, n)
}

// extent puts p over n's bytes; crc is that of what is staged.
func (b *batch) extent(n *inode, p piece, crc uint32) {
	b.extents = append(b.extents, pendingPiece{n, p})
	if n.orphan {
		return
	}
	r := pieceRecord{ino: n.ino, p: p, crc: crc}
	if p.src == srcStaging {
		r.file = p.file.id
	}
	b.rec.pieces = append(b.rec.pieces, r)
}

func (b *batch) bind(parent vfs.Ino, name string, n *inode, mode uint32) {
	b.put(dentryKey(parent, name), dentryValue{n.ino, mode & vfs.ModeTypeMask}.encode())
	b.change(vfs.Change{Kind: vfs.ChangeEntry, Parent: parent, Name: name, Ino: n.ino})
}

func (b *batch) unbind(parent vfs.Ino, name string, ino vfs.Ino) {
	b.delete(dentryKey(parent, name))
	b.change(vfs.Change{Kind: vfs.ChangeEntry, Parent: parent, Name: name, Ino: ino, Gone: true})
}

func (b *batch) change(c vfs.Change) {
	if b.watched {
		b.changes = append(b.changes, c)
	}
}

// mutate runs one operation: fn checks and prepares under the lock, then the
// batch is journaled and applied, then the watchers hear of it. When fn fails
// nothing has happened. A full disk is given one chance to be made less full.
func (w *Workspace) mutate(op *vfs.Op, fn func(b *batch) error) error {
	err := w.tryMutate(op, fn)
	if err != nil && errors.Is(err, syscall.ENOSPC) && w.reclaim() {
		err = w.tryMutate(op, fn)
	}
	return err
}

func (w *Workspace) tryMutate(op *vfs.Op, fn func(b *batch) error) error {
	w.mu.Lock()
	for w.paused != nil {
		paused := w.paused
		w.mu.Unlock()
		<-paused
		w.mu.Lock()
	}
	if err := w.writable(); err != nil {
		w.mu.Unlock()
		return err
	}
	b := &w.scratch
	b.reset()
	b.watched = w.watched(op.Origin)
	err := fn(b)
	if err == nil {
		err = w.commit(b)
	}
	changes := b.changes
	w.mu.Unlock()
	if err != nil {
		return err
	}
	w.announce(op.Origin, changes)
	return nil
}

// commit journals a batch and applies it. mu is held exclusively.
func (w *Workspace) commit(b *batch) error {
	for i := range b.sets {
		if s := &b.sets[i]; s.stored() {
			b.put(inodeKey(s.n.ino), appendInode(nil, &s.v))
		}
	}
	if len(b.rec.edits)+len(b.rec.pieces) > 0 {
		payload, err := w.enc.batch(&b.rec)
		if err != nil {
			return err
		}
		if err := w.appendBatch(payload, b.frees); err != nil {
			return w.journalFailed(err)
		}
		w.dirty = true
		w.changed++
		w.armTimerLocked()
	}
	w.apply(b)
	if w.journal.Size() >= checkpointJournal || w.staging.appended.Load() >= checkpointStaged {
		w.kickCheckpoint()
	}
	return nil
}

func (w *Workspace) apply(b *batch) {
	for _, e := range b.rec.edits {
		w.layers.active.Set(string(e.key), e.value)
	}
	for i := range b.sets {
		w.applySet(&b.sets[i])
	}
	for i := range b.extents {
		n, p := b.extents[i].n, b.extents[i].p
		if n.delta == nil {
			n.delta = &extentMap{}
		}
		n.delta.insert(p)
		if p.src == srcStaging {
			n.unsynced.add(p.file, p.at, p.len)
		}
	}
	for _, n := range b.dels {
		w.usage.add(-1, -int64(n.v.Blocks))
		w.forget(n)
	}
	w.inodes.trim()
}

func (w *Workspace) applySet(s *pendingInode) {
	if s.named {
		s.n.orphan, s.n.tmpfile, s.n.delta = false, false, nil
		delete(w.orphans, s.n.ino)
	}
	switch {
	case s.isNew:
		w.inodes.add(s.n)
		if s.n.orphan {
			w.orphans[s.n.ino] = s.n
		} else {
			w.usage.add(1, int64(s.v.Blocks))
		}
	case !s.n.orphan:
		w.usage.add(0, int64(s.v.Blocks)-int64(s.n.v.Blocks))
	}
	if s.v.Blocks < s.n.v.Blocks {
		w.freed += (s.n.v.Blocks - s.v.Blocks) / sectorsPerBlock
	}
	if s.v.Size != s.n.v.Size && s.v.IsRegular() {
		s.n.resized = true
	}
	s.n.v = s.v
}

// usage counts what a workspace holds. Guarded by Workspace.mu.
type usage struct {
	Inodes uint64 // names of files included, orphans not
	Blocks uint64 // of 4 KiB
}

func (u *usage) add(inodes, sectors int64) {
	u.Inodes = uint64(int64(u.Inodes) + inodes)
	u.Blocks = uint64(int64(u.Blocks) + sectors/sectorsPerBlock)
}

// stage writes p to staging and returns the piece for it at off, with its
// checksum. No lock is needed: until a batch journals the piece nobody knows
// of it.
func (w *Workspace) stage(p []byte, off int64) (piece, uint32, error) {
	f, at, sum, err := w.staging.append(p)
	if err != nil && errors.Is(err, syscall.ENOSPC) && w.reclaim() {
		f, at, sum, err = w.staging.append(p)
	}
	if err != nil {
		return piece{}, 0, err
	}
	return piece{off: off, len: int64(len(p)), src: srcStaging, file: f, at: at}, sum, nil
}

// writable reports why nothing can be changed now: the workspace is closed, or
// its journal failed and there was no way to start a new one yet.
func (w *Workspace) writable() error {
	if w.readOnly {
		return syscall.EROFS
	}
	if w.closed {
		return errClosed
	}
	if w.journalErr == nil {
		return nil
	}
	return w.revive()
}

// errCorruptKey is a key that no workspace can have.
var errCorruptKey = fmt.Errorf("bad key: %w", vfs.ErrCorrupt)

// errNameless is an inode that no dentry leads to.
var errNameless = fmt.Errorf("an inode has no name: %w", vfs.ErrCorrupt)

// errShortChunk is a chunk that ends before an extent of it does.
var errShortChunk = fmt.Errorf("short chunk: %w", vfs.ErrCorrupt)

var errClosed = fmt.Errorf("workspace is closed: %w", syscall.EIO)
