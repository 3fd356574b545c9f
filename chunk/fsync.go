package chunk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Fsync makes everything durable whose Put returned before the call. It
// fsyncs only what is dirty, and callers that wait for each other share the
// work.
//
// After an error nothing new is known to be durable. What was dirty in a pack
// whose fsync failed is read back, verified and written to another pack, since
// the kernel may have dropped the dirty pages; so a later Fsync returns nil
// only when it is durable there. A chunk that cannot be read back is lost: it
// is an error to Get, and Fsync goes on failing until it can be read after all,
// is Put again, or is collected as garbage.
func (p *Packs) Fsync(ctx context.Context) error {
	if err := p.usable(ctx); err != nil {
		return err
	}
	w := &p.w
	w.mu.Lock()
	want := w.seq
	w.mu.Unlock()
	p.fsyncMu.Lock()
	defer p.fsyncMu.Unlock()
	w.mu.Lock()
	shared := p.durableSeq >= want && len(w.failed) == 0 && len(w.lost) == 0
	w.mu.Unlock()
	if shared {
		return nil
	}
	return p.fsyncAll()
}

// fsyncAll is Fsync for a caller that holds p.fsyncMu.
func (p *Packs) fsyncAll() error {
	w := &p.w
	w.mu.Lock()
	seq, failed, lost := w.seq, slices.Clone(w.failed), maps.Clone(w.lost)
	w.mu.Unlock()
	for _, pk := range failed {
		if err := p.rescue(pk); err != nil {
			return err
		}
	}
	for id, c := range lost {
		if err := p.rescueChunk(id, c.at); err != nil {
			return err
		}
	}
	if err := p.fsyncPacks(true); err != nil {
		return err
	}
	if err := p.anyLost(); err != nil {
		return err
	}
	p.durableSeq = seq
	return nil
}

// anyLost returns an error that names one of the lost chunks, if there are any.
func (p *Packs) anyLost() error {
	w := &p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, c := range w.lost {
		return fmt.Errorf("fsync: chunk %s, one of %d that are lost: %w", id, len(w.lost), c.err)
	}
	return nil
}

// fsyncPacks fsyncs the full packs, and the open one if all is set, and then
// their names; it seals those that are full. The caller holds p.fsyncMu.
func (p *Packs) fsyncPacks(all bool) error {
	if err := p.flush(); err != nil {
		return err
	}
	full, packs := p.unsealed(all)
	var errs []error
	for _, pk := range packs {
		if !pk.dirty() {
			continue
		}
		end := pk.flushed.Load()
		if err := p.fsyncFile(pk); err != nil {
			errs = append(errs, fmt.Errorf("fsync pack %s: %w", pk.path, err))
			errs = append(errs, p.fail(pk, pk.durable.Load()))
			continue
		}
		pk.durable.Store(end)
	}
	if err := p.fsyncNames(packs); err != nil {
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, pk := range full {
		p.seal(pk)
	}
	if all {
		p.writeMark()
	}
	return nil
}

// writeMark states in the open pack what is durable, and takes that to the page
// cache, where it outlives the process: damage to what was promised will not be
// taken for a gap or a torn tail. The next fsync makes the mark durable. Without
// it the chunks are no less durable, so a failure here is no one's error. The
// caller holds p.fsyncMu.
func (p *Packs) writeMark() {
	w := &p.w
	w.mu.Lock()
	pk := w.open
	if pk == nil || w.closed {
		w.mu.Unlock()
		return
	}
	if pk.durable.Load() > pk.marked {
		p.appendMark(pk)
	}
	w.mu.Unlock()
	// Also if there was nothing to append: then the next record may have
	// brought the mark already, and be pending with it.
	if err := p.flush(); err != nil {
		p.log.Warn("mark not written yet", "pack", pk.path, "err", err)
	}
}

// unsealed returns the full packs, and these with the open one if all is set.
func (p *Packs) unsealed(all bool) (full, packs []*pack) {
	w := &p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	full = slices.Clone(w.full)
	packs = slices.Clone(w.full)
	if all && w.open != nil {
		packs = append(packs, w.open)
	}
	return full, packs
}

func (p *Packs) fsyncFile(pk *pack) error {
	h, err := p.files.acquire(pk)
	if err != nil {
		return err
	}
	defer p.files.release(h)
	return h.Sync()
}

// fsyncNames makes the names of new packs durable. A directory whose fsync
// failed is like a file whose fsync failed: whatever had its name in there
// since the last good one is not trusted. packs have bytes in the page cache
// and so are in the directory already. The caller holds p.fsyncMu.
func (p *Packs) fsyncNames(packs []*pack) error {
	if !p.newNames.Swap(false) {
		return nil
	}
	err := p.opt.FS.SyncDir(p.opt.Dir)
	if err == nil {
		for _, pk := range packs {
			pk.named = pk.named || pk.flushed.Load() > 0
		}
		return nil
	}
	p.newNames.Store(true)
	errs := []error{fmt.Errorf("fsync directory of packs %s: %w", p.opt.Dir, err)}
	_, packs = p.unsealed(true)
	for _, pk := range packs {
		if !pk.named {
			errs = append(errs, p.fail(pk, 0))
		}
	}
	return errors.Join(errs...)
}

// fsyncRemovals makes durable that packs are gone.
func (p *Packs) fsyncRemovals() error {
	p.fsyncMu.Lock()
	defer p.fsyncMu.Unlock()
	p.newNames.Store(true)
	_, packs := p.unsealed(true)
	return p.fsyncNames(packs)
}

// fail ends a pack that cannot be trusted beyond durable bytes and copies what
// is there to another one. The caller holds p.fsyncMu.
func (p *Packs) fail(pk *pack, durable int64) error {
	w := &p.w
	p.flushMu.Lock()
	w.mu.Lock()
	if w.open == pk {
		p.closeOpen()
	}
	w.full = remove(w.full, pk)
	w.failed = append(w.failed, pk)
	pk.state = packFailed
	pk.durable.Store(durable)
	p.movePending(pk)
	w.mu.Unlock()
	p.flushMu.Unlock()
	p.log.Error("pack not trusted after failed fsync", "pack", pk.path, "durable", durable)
	// At once, while the pages are most likely still in memory.
	return p.rescue(pk)
}

// rescue copies the chunks of a failed pack that are not durable there. When
// they cannot be written elsewhere, the pack stays among the failed ones and
// the next Fsync goes on. The caller holds p.fsyncMu.
func (p *Packs) rescue(pk *pack) error {
	durable := pk.durable.Load()
	for _, e := range pk.foot.entries { // constant: the pack has failed
		if int64(e.off) < durable {
			continue
		}
		if err := p.rescueChunk(e.id, e.loc(pk.no)); err != nil {
			return fmt.Errorf("copy out of pack %s: %w", pk.path, err)
		}
	}
	w := &p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = remove(w.failed, pk)
	pk.foot = footer{}
	p.files.settle(pk.no)
	return nil
}

// rescueChunk copies one chunk, if it still is in the place given. If it cannot
// be read it is lost, for the time being.
func (p *Packs) rescueChunk(id ID, at loc) error {
	pk := p.pack(at.pack)
	if now, _, ok := p.index.lookup(id); !ok || now != at || pk == nil {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		if p.w.lost[id].at == at {
			delete(p.w.lost, id)
		}
		return nil
	}
	r, body, err := p.readRecord(pk, at, id)
	if err == nil {
		if _, err = decodeBody(&r, body); err != nil {
			err = corrupt("get chunk", pk.path, int64(at.off), err)
		}
	}
	if err != nil {
		p.w.mu.Lock()
		defer p.w.mu.Unlock()
		p.lose(id, at, err)
		return nil
	}
	return p.copyRecord(&r, body, at)
}

// seal writes the footer of a full pack. Its records are durable: that is what
// a footer means, and why it needs no fsync of its own: if it is lost, the next
// Open walks the pack. So a failure here is no one's error. The caller holds
// p.fsyncMu.
func (p *Packs) seal(pk *pack) {
	w := &p.w
	w.mu.Lock()
	end, foot := pk.end, pk.foot // constant: full, and nothing of it is pending
	ready := pk.state == packFull && pk.durable.Load() == end &&
		len(foot.gaps) <= maxGaps && len(foot.entries) <= maxRecords
	w.mu.Unlock()
	if !ready {
		return
	}
	if err := p.writeFooter(pk, end, &foot); err != nil {
		p.log.Warn("pack not sealed yet", "pack", pk.path, "err", err)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	pk.state = packSealed
	pk.foot = footer{}
	w.full = remove(w.full, pk)
	p.files.settle(pk.no)
}

func (p *Packs) writeFooter(pk *pack, end int64, foot *footer) error {
	h, err := p.files.acquire(pk)
	if err != nil {
		return err
	}
	defer p.files.release(h)
	size, err := h.Size()
	if err != nil {
		return err
	}
	if size != end { // an abandoned pack whose tail could not be cut then
		if err := h.Truncate(end); err != nil {
			return err
		}
	}
	if _, err := h.WriteAt(sealBytes(pk.marker, end, foot), end); err != nil {
		return errors.Join(err, h.Truncate(end))
	}
	return nil
}

// sealBytes returns what seals a pack whose records end at end: its footer
// record and its trailer.
func sealBytes(m marker, end int64, foot *footer) []byte {
	body := appendFooter(nil, foot)
	r := plainRecord(kindFooter, body)
	return appendTrailer(appendRecord(nil, m, &r, body), trailer{marker: m, footer: uint32(end)})
}
