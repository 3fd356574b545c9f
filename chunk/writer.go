package chunk

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
)

const (
	// batchSize is how many bytes go to the host in one call. One call for each
	// chunk of 4 KiB doubles the CPU time of Put, hashing included.
	batchSize = 1 << 20

	// pendingBatches bounds the bytes that are not yet in the page cache, so
	// that a full disk is noticed before it has cost much memory.
	pendingBatches = 4

	// maxDirtyPacks bounds the full packs that wait for their fsync. Without
	// it, a long import would be one enormous fsync at its end.
	maxDirtyPacks = 4
)

// writer is the end of the open pack: it assigns places and collects records
// in batches, which flush takes to the page cache.
type writer struct {
	mu sync.Mutex

	open    *pack    // guarded by mu; nil before the first record of a new pack
	full    []*pack  // guarded by mu; packs to fsync and seal, oldest first
	failed  []*pack  // guarded by mu; packs to rescue from
	batches []*batch // guarded by mu; not in the page cache yet, oldest first
	pending int      // guarded by mu; bytes in batches
	next    uint32   // guarded by mu; number of the next pack
	seq     uint64   // guarded by mu; appends so far
	spare   [][]byte // guarded by mu; buffers of batches that were written

	closed bool // guarded by mu

	// lost chunks were gone before they were durable. Guarded by mu.
	lost map[ID]lostChunk
}

// batch is bytes of a pack from off on. Only the last one of writer.batches
// grows, and only while it is not taken.
type batch struct {
	pk    *pack
	off   int64
	data  []byte // guarded by writer.mu until taken, then constant
	taken bool   // guarded by writer.mu; flush writes it
}

// append gives a record its place and puts it into the current batch. The
// caller holds w.mu and has seen that there is room.
func (p *Packs) append(r *record, body []byte) (loc, error) {
	w := &p.w
	n := r.size()
	if w.open != nil && w.open.full(n, p.opt.PackSize) {
		p.closeOpen()
	}
	if w.open == nil {
		if err := p.startPack(); err != nil {
			return loc{}, err
		}
	}
	pk := w.open
	if pk.durable.Load() > pk.marked {
		p.appendMark(pk)
	}
	l := loc{pack: pk.no, off: uint32(pk.end), n: uint32(n)}
	b := p.batchFor(pk, int(n))
	p.extend(b, appendRecord(b.data, pk.marker, r, body))
	pk.foot.entries = append(pk.foot.entries, entry{id: r.digest, off: l.off, length: r.length, raw: r.raw})
	pk.stored.Add(n)
	w.seq++
	return l, nil
}

// appendMark states in the open pack how much of it is durable.
func (p *Packs) appendMark(pk *pack) {
	d, off := pk.durable.Load(), pk.end
	b := p.batchFor(pk, recordHeaderSize+markSize)
	p.extend(b, appendMark(b.data, pk.marker, d))
	pk.marked = afterMark(d, off)
}

// afterMark returns how much of a pack may be durable before it needs another
// mark than the one at off, which states durable. If nothing lies between the
// two, that mark becoming durable itself is no reason for another.
func afterMark(durable, off int64) int64 {
	if durable == off {
		return off + recordHeaderSize + markSize
	}
	return durable
}

// extend replaces the bytes of a batch by longer ones.
func (p *Packs) extend(b *batch, data []byte) {
	grown := len(data) - len(b.data)
	b.data = data
	b.pk.end += int64(grown)
	p.w.pending += grown
}

// batchFor returns a batch with room for n bytes at the end of pk.
func (p *Packs) batchFor(pk *pack, n int) *batch {
	w := &p.w
	if k := len(w.batches); k > 0 {
		b := w.batches[k-1]
		if b.pk == pk && !b.taken && len(b.data)+n <= p.opt.batch {
			return b
		}
	}
	var data []byte
	if k := len(w.spare); k > 0 {
		data, w.spare = w.spare[k-1], w.spare[:k-1]
	}
	b := &batch{pk: pk, off: pk.end, data: data}
	w.batches = append(w.batches, b)
	return b
}

// startPack opens a new pack. Its file is made when its first batch is written.
func (p *Packs) startPack() error {
	w := &p.w
	if w.next > maxPackNo {
		return fmt.Errorf("new pack in %s: all %d pack numbers are used", p.opt.Dir, maxPackNo)
	}
	pk := &pack{no: w.next, path: packPath(p.opt.Dir, w.next), state: packOpen}
	rand.Read(pk.marker[:]) // never fails
	w.next++
	w.open = pk
	b := p.batchFor(pk, packHeaderSize)
	p.extend(b, appendPackHeader(b.data, pk.marker))
	p.addPack(pk)
	return nil
}

// closeOpen ends the open pack; the next record starts another one.
func (p *Packs) closeOpen() {
	pk := p.w.open
	p.w.open = nil
	pk.state = packFull
	p.w.full = append(p.w.full, pk)
}

// lockRoom locks w.mu when there is room for n more pending bytes, or returns
// the error of the host if it cannot make any.
func (p *Packs) lockRoom(n int64) error {
	w := &p.w
	for {
		w.mu.Lock()
		if w.closed {
			w.mu.Unlock()
			return fmt.Errorf("packs %s: %w", p.opt.Dir, os.ErrClosed)
		}
		if w.pending == 0 || int64(w.pending)+n <= int64(pendingBatches*p.opt.batch) {
			return nil
		}
		w.mu.Unlock()
		if err := p.flush(); err != nil {
			return err
		}
	}
}

// store appends a chunk's record and indexes it, unless a good copy is there
// already: then dup is true. After an error nothing is stored.
func (p *Packs) store(r *record, body []byte) (dup bool, err error) {
	w := &p.w
	if err := p.lockRoom(r.size()); err != nil {
		return false, err
	}
	if p.index.touch(r.digest) {
		w.mu.Unlock()
		return true, nil
	}
	l, err := p.append(r, body)
	if err == nil {
		delete(w.lost, r.digest)
		if old, had := p.index.insert(r.digest, l); had {
			p.bury(old)
		} else {
			p.rawBytes.Add(int64(r.raw))
		}
	}
	p.unlockWriter()
	return false, err
}

// copyRecord appends a verified record again and moves its chunk there, if it
// still is at from. After an error the chunk is where it was.
func (p *Packs) copyRecord(r *record, body []byte, from loc) error {
	if err := p.lockRoom(r.size()); err != nil {
		return err
	}
	to, err := p.append(r, body)
	if err == nil {
		if p.index.relocate(r.digest, from, to) {
			delete(p.w.lost, r.digest)
			p.bury(from)
		} else {
			p.bury(to)
		}
	}
	p.unlockWriter()
	return err
}

// unlockWriter unlocks w.mu and writes what has become enough for a call. An
// error of the host is not for this caller: its chunk is in memory, and the
// next one that needs room, or Fsync, meets the error again.
func (p *Packs) unlockWriter() {
	w := &p.w
	late := w.pending >= p.opt.batch
	w.mu.Unlock()
	if !late || !p.flushMu.TryLock() {
		return
	}
	err := p.flushLocked()
	p.flushMu.Unlock()
	if err != nil {
		p.log.Warn("packs cannot be written", "err", err)
	}
}

// throttle makes a writer wait for the fsync of full packs when too many have
// piled up. What fails there is rescued as in Fsync, and reported by it.
func (p *Packs) throttle() {
	w := &p.w
	w.mu.Lock()
	dirty := 0
	for _, pk := range w.full {
		if pk.durable.Load() < pk.end {
			dirty++
		}
	}
	w.mu.Unlock()
	if dirty <= maxDirtyPacks {
		return
	}
	p.fsyncMu.Lock()
	err := p.fsyncPacks(false)
	p.fsyncMu.Unlock()
	if err != nil {
		p.log.Error("full packs not fsynced", "err", err)
	}
}

// flush takes all that is pending now to the page cache.
func (p *Packs) flush() error {
	p.flushMu.Lock()
	defer p.flushMu.Unlock()
	return p.flushLocked()
}

// flushLocked is flush for a caller that holds p.flushMu.
func (p *Packs) flushLocked() error {
	w := &p.w
	w.mu.Lock()
	n := len(w.batches)
	if w.closed {
		n = 0
	}
	w.mu.Unlock()
	for range n {
		w.mu.Lock()
		b := w.batches[0]
		b.taken = true
		w.mu.Unlock()
		if err := p.writeBatch(b); err != nil {
			return err
		}
		w.mu.Lock()
		b.pk.flushed.Store(b.off + int64(len(b.data)))
		w.batches = w.batches[1:]
		w.pending -= len(b.data)
		if len(w.spare) < pendingBatches && cap(b.data) <= 2*p.opt.batch {
			w.spare = append(w.spare, b.data[:0])
		}
		w.mu.Unlock()
	}
	return nil
}

// writeBatch writes one batch. When it fails, what reached the file of it is
// cut off again and the batch stays pending: in the same place if only space
// is lacking, in another pack otherwise.
func (p *Packs) writeBatch(b *batch) error {
	h, err := p.writable(b.pk)
	if err != nil {
		return err
	}
	defer p.files.release(h)
	_, err = h.WriteAt(b.data, b.off)
	if err == nil {
		return nil
	}
	err = fmt.Errorf("write pack %s at offset %d: %w", b.pk.path, b.off, err)
	terr := h.Truncate(b.off)
	if terr != nil {
		terr = fmt.Errorf("cut pack %s to %d bytes: %w", b.pk.path, b.off, terr)
	}
	if !noSpace(err) || terr != nil {
		p.abandon(b.pk)
	}
	return errors.Join(err, terr)
}

// writable returns the file of a pack that is not sealed, making it if need be.
func (p *Packs) writable(pk *pack) (*handle, error) {
	if pk.created {
		return p.files.acquire(pk)
	}
	f, err := p.opt.FS.OpenFile(pk.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		p.abandon(pk) // somebody else's file; the next number may be free
	}
	if err != nil {
		return nil, fmt.Errorf("new pack: %w", err)
	}
	pk.created = true
	p.files.pin(pk.no, f)
	p.newNames.Store(true)
	return p.files.acquire(pk)
}

// noSpace reports whether err goes away when somebody frees space.
func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// abandon stops writing to a pack whose file failed. What the page cache has
// of it stays and is fsynced as usual; what is pending moves to another pack.
// The caller holds p.flushMu.
func (p *Packs) abandon(pk *pack) {
	w := &p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open == pk {
		p.closeOpen()
	}
	p.movePending(pk)
	if pk.end == 0 {
		w.full = remove(w.full, pk)
		if err := p.dropPack(pk, pk.created); err != nil {
			p.log.Warn("empty pack stays", "err", err)
		}
	}
}

// movePending moves the records of pk that are not in the page cache to the
// open pack, and ends pk where the page cache ends. The caller holds p.flushMu
// and w.mu; pk is not the open pack.
func (p *Packs) movePending(pk *pack) {
	w := &p.w
	var moving, staying []*batch
	for _, b := range w.batches {
		if b.pk == pk {
			moving = append(moving, b)
			w.pending -= len(b.data)
		} else {
			staying = append(staying, b)
		}
	}
	w.batches = staying
	end := pk.flushed.Load()
	kept := 0
	for _, e := range pk.foot.entries {
		if int64(e.off) < end {
			kept++
			continue
		}
		p.moveRecord(e.id, e.loc(pk.no), pendingBytes(moving, e.loc(pk.no)))
		pk.stored.Add(-e.size())
	}
	pk.foot.entries = pk.foot.entries[:kept]
	pk.end = end
}

// moveRecord appends a pending record of another pack again.
func (p *Packs) moveRecord(id ID, from loc, rec []byte) {
	r, err := decodeAnyRecord(rec)
	if err != nil {
		panic(fmt.Sprintf("record of chunk %s changed in memory: %v", id, err))
	}
	to, err := p.append(&r, rec[recordHeaderSize:])
	if err != nil {
		// Only when pack numbers are used up. The chunk is gone, and Fsync says so.
		p.lose(id, from, err)
		return
	}
	if !p.index.relocate(id, from, to) {
		p.bury(to)
	}
}

// pendingBytes returns the record at l from the batches, or nil.
func pendingBytes(batches []*batch, l loc) []byte {
	for _, b := range batches {
		at := int64(l.off) - b.off
		if b.pk.no == l.pack && at >= 0 && at+int64(l.n) <= int64(len(b.data)) {
			return b.data[at : at+int64(l.n)]
		}
	}
	return nil
}

// lostChunk is a chunk that is not durable and cannot be read.
type lostChunk struct {
	at  loc
	err error
}

// lose remembers a chunk whose only copy, which is not durable, cannot be read.
// The caller holds w.mu.
func (p *Packs) lose(id ID, at loc, err error) {
	if !p.index.flag(id, at, flagDamaged) {
		return
	}
	if _, known := p.w.lost[id]; !known {
		p.log.Error("chunk lost before it was durable", "chunk", id, "err", err)
	}
	p.w.lost[id] = lostChunk{at, err}
}

// bury counts a record whose place the last append took in the index. The
// caller holds w.mu.
func (p *Packs) bury(l loc) {
	if pk := p.pack(l.pack); pk != nil {
		pk.dead.Add(int64(l.n))
		pk.moved = p.w.seq
	}
}

// dropPack forgets a pack that nothing points to, and removes its file if it
// has one. A file that cannot be removed is found again by the next Open, and
// collected then.
func (p *Packs) dropPack(pk *pack, created bool) error {
	p.removePack(pk.no)
	defer p.files.drop(pk.no) // last: a reader may open it as long as it is there
	if !created {
		return nil
	}
	if err := p.opt.FS.Remove(pk.path); err != nil {
		return fmt.Errorf("remove pack: %w", err)
	}
	return nil
}

func remove[T comparable](s []T, v T) []T {
	out := s[:0:0]
	for _, x := range s {
		if x != v {
			out = append(out, x)
		}
	}
	return out
}
