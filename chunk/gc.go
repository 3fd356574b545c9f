package chunk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/vfsd/vfsd/internal/pace"
)

// GC is one garbage collection. It runs beside readers and writers:
//
//	gc := packs.BeginGC()
//	// Read the roots only now, and Mark all that they reach.
//	report, err := gc.Sweep(ctx, false, fsyncHeads)
//
// A chunk is kept if it was marked, or if Put, PutRaw, Repair or Has met it
// after BeginGC. So the caller must take care of one thing: a chunk that was
// Put before BeginGC and is not yet reached from a root, because a checkpoint
// is under way, must be marked too (or BeginGC must wait for the checkpoint).
//
// Only one collection runs at a time: BeginGC ends the one before it.
type GC struct {
	p       *Packs
	turn    uint64 // of p.gcMarks
	missing atomic.Int64
}

// GCReport says what a collection did, or would do. All figures but Missing
// are counted while others may write.
type GCReport struct {
	Chunks, LiveChunks int64 // in the index at the start of the sweep; of these, kept
	LiveBytes          int64 // of the records kept
	DeadBytes          int64 // of all other bytes in packs
	Missing            int64 // calls of Mark for chunks that are not here
	Repacked           int   // packs whose live chunks were copied
	Deleted            int   // packs deleted, the repacked ones included
	Kept               int   // packs that should go but had to stay: see the log
	CopiedBytes        int64
	FreedBytes         int64 // of deleted pack files, without what was copied
}

// ErrSuperseded says that a collection ended because another one began.
var ErrSuperseded = errors.New("another garbage collection began")

// BeginGC starts a collection.
func (p *Packs) BeginGC() *GC {
	p.gcMu.Lock()
	defer p.gcMu.Unlock()
	g := &GC{p: p, turn: p.gcMarks.Add(1)}
	p.index.startMarking()
	return g
}

// Mark keeps a chunk. It returns true the first time in this collection: then
// the caller should mark what the chunk refers to. It does so too for a chunk
// that is not here, which the caller will notice when it reads it.
func (g *GC) Mark(id ID) (first bool) {
	first, there := g.p.index.mark(id)
	if !there {
		g.missing.Add(1)
	}
	return first
}

// Abort ends the collection without a sweep.
func (g *GC) Abort() {
	g.p.gcMu.Lock()
	defer g.p.gcMu.Unlock()
	if g.current() {
		g.end()
	}
}

// end ends the collection. The caller holds gcMu.
func (g *GC) end() {
	g.p.index.stopMarking()
	g.p.gcMarks.Add(1)
}

func (g *GC) current() bool { return g.turn == g.p.gcMarks.Load() }

// Sweep deletes the packs without live chunks, and those more than a third dead
// after copying what lives. Dead chunks in other packs stay, and stay readable.
// A pack that is still written to is sealed before it goes, which takes an
// fsync.
//
// When there is something to delete, Sweep first calls fsyncBarrier, unless it
// is nil: that must make durable the roots from which the caller marked, so
// that no root on disk reaches what goes. A pack is deleted only after the
// copies from it are durable. After an error the packs that were not deleted
// yet are still there, and nothing live is lost.
//
// With dryRun nothing changes, and the report says what would be done. The
// collection is over when Sweep returns.
func (g *GC) Sweep(ctx context.Context, dryRun bool, fsyncBarrier func() error) (GCReport, error) {
	p := g.p
	p.gcMu.Lock()
	defer p.gcMu.Unlock()
	if !g.current() {
		return GCReport{}, ErrSuperseded
	}
	defer g.end()
	if err := p.usable(ctx); err != nil {
		return GCReport{}, err
	}
	s := &sweep{p: p, missing: g.missing.Load()}
	s.report.Missing = s.missing
	victims := s.plan()
	if dryRun {
		for _, v := range victims {
			s.report.count(v)
		}
		return s.report, nil
	}
	err := s.run(ctx, victims, fsyncBarrier)
	if s.report.Deleted > 0 {
		err = errors.Join(err, p.fsyncRemovals())
	}
	s.report.FreedBytes -= s.report.CopiedBytes
	if err != nil {
		err = fmt.Errorf("garbage collection in %s: %w", p.opt.Dir, err)
	}
	return s.report, err
}

type sweep struct {
	p       *Packs
	missing int64
	report  GCReport
	// Copying rests in between: measured with half-dead packs, the 99th
	// percentile of creates beside it was many times that of a quiet machine.
	pace pace.Pace
}

// victim is a pack that is to go.
type victim struct {
	pk   *pack
	end  int64   // of its records, by the plan
	live int64   // bytes of live records, by the plan
	recs []entry // its chunks, once they were listed
	kept bool    // it had to stay

	stored  int64 // bytes of its chunk records, by the plan
	idle    bool  // it is neither written to, nor to be sealed, nor rescued from
	rescued bool  // an fsync of it failed and its chunks are copied
}

func (r *GCReport) count(v *victim) {
	if v.live > 0 {
		r.Repacked++
	}
	r.Deleted++
	r.CopiedBytes += v.live
	r.FreedBytes += v.end - v.live
}

// plan chooses the packs that go.
func (s *sweep) plan() []*victim {
	// First how long the packs are, then what lives in them: what is stored in
	// between must not look dead.
	packs := s.p.snapshot()
	live := make(map[uint32]int64)
	s.p.index.scan(func(l loc, f slotFlags) {
		s.report.Chunks++
		if f&(flagMarked|flagFresh) != 0 {
			s.report.LiveChunks++
			s.report.LiveBytes += int64(l.n)
			live[l.pack] += int64(l.n)
		}
	})
	return slices.DeleteFunc(packs, func(v *victim) bool {
		v.live = live[v.pk.no]
		s.report.DeadBytes += max(v.end-v.live, 0)
		if !s.wasteful(v) {
			return true
		}
		if v.pk.doubtful && s.missing > 0 {
			// Something that lives is gone, and may be in there.
			s.keep(v.pk, fmt.Errorf("%d chunks are missing and parts of this pack are unreadable", s.missing))
			return true
		}
		return false
	})
}

// wasteful reports whether a pack should go.
func (s *sweep) wasteful(v *victim) bool {
	switch {
	case v.idle:
		return v.live == 0 || (v.end-v.live)*3 > v.end || v.end < s.p.opt.PackSize/8
	case v.rescued:
		return false
	}
	// Only its chunks count here. A pack that has just begun is small, and much
	// of it may be marks: with their bytes it would go in every collection.
	return (v.stored-v.live)*3 > v.stored
}

func (s *sweep) keep(pk *pack, why error) {
	s.report.Kept++
	s.p.log.Warn("pack kept by garbage collection", "pack", pk.path, "err", why)
}

// snapshot returns all packs as they are now, oldest first.
func (p *Packs) snapshot() []*victim {
	all := p.packList()
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	victims := make([]*victim, len(all))
	for i, pk := range all {
		rescued := slices.Contains(p.w.failed, pk)
		victims[i] = &victim{
			pk: pk, end: pk.end, stored: pk.stored.Load(), rescued: rescued,
			idle: !rescued && (pk.state == packSealed || pk.state == packFailed),
		}
	}
	return victims
}

// packList returns all packs, oldest first.
func (p *Packs) packList() []*pack {
	p.packsMu.RLock()
	all := make([]*pack, 0, len(p.packs))
	for _, pk := range p.packs {
		all = append(all, pk)
	}
	p.packsMu.RUnlock()
	slices.SortFunc(all, func(a, b *pack) int { return int(a.no) - int(b.no) })
	return all
}

func (s *sweep) run(ctx context.Context, victims []*victim, barrier func() error) error {
	if len(victims) == 0 {
		return nil
	}
	if barrier != nil {
		if err := barrier(); err != nil {
			return err
		}
	}
	s.forgetLost()
	// Dead packs first: they give back the space that copies need. On a full
	// disk that is all there is, and it mostly works without an Fsync.
	var dead, rest []*victim
	for _, v := range victims {
		if v.idle && v.live == 0 {
			dead = append(dead, v)
		} else {
			rest = append(rest, v)
		}
	}
	if err := s.finish(ctx, dead); err != nil {
		return err
	}
	if err := s.seal(rest); err != nil {
		return err
	}
	var group []*victim
	var size int64
	for _, v := range rest {
		if err := s.copyLive(ctx, v); err != nil {
			return err
		}
		group, size = append(group, v), size+v.live
		if size >= s.p.opt.PackSize {
			if err := s.finish(ctx, group); err != nil {
				return err
			}
			group, size = nil, 0
		}
	}
	return s.finish(ctx, group)
}

// seal ends the victims that are not idle. What is copied later goes to another
// pack, then.
func (s *sweep) seal(victims []*victim) error {
	busy := slices.DeleteFunc(slices.Clone(victims), func(v *victim) bool { return v.idle })
	if len(busy) == 0 {
		return nil
	}
	w := &s.p.w
	w.mu.Lock()
	for _, v := range busy {
		if w.open == v.pk {
			s.p.closeOpen()
		}
	}
	w.mu.Unlock()
	s.p.fsyncMu.Lock()
	err := s.p.fsyncPacks(false)
	s.p.fsyncMu.Unlock()
	if err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, v := range busy {
		if v.pk.state != packSealed {
			v.kept = true
			s.keep(v.pk, errors.New("it could not be sealed"))
		}
	}
	return nil
}

// finish deletes packs whose live chunks have been copied.
func (s *sweep) finish(ctx context.Context, group []*victim) error {
	// From here on a dead chunk of the group cannot be met by Put any more, and
	// what was met since it was looked at is copied as well.
	for _, v := range group {
		if err := s.forgetDead(ctx, v); err != nil {
			return err
		}
	}
	s.keepUsed(group)
	var ferr error
	if slices.ContainsFunc(group, s.p.needsCopies) {
		ferr = s.p.Fsync(ctx)
	}
	errs := []error{ferr}
	for _, v := range group {
		if v.kept || s.p.needsCopies(v) {
			continue
		}
		if err := s.p.dropPack(v.pk, true); err != nil {
			errs = append(errs, err)
			continue
		}
		s.report.Deleted++
		if v.live > 0 {
			s.report.Repacked++
		}
		s.report.FreedBytes += v.pk.end
	}
	return errors.Join(errs...)
}

// needsCopies reports whether a chunk of a victim is elsewhere, but not durable
// there. This collection may have copied it, or a repair, or an earlier one.
func (p *Packs) needsCopies(v *victim) bool {
	p.fsyncMu.Lock()
	defer p.fsyncMu.Unlock()
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	return v.pk.moved > p.durableSeq
}

// keepUsed keeps the packs of the group that the index still points to: a host
// that could not read a pack may have hidden chunks of it.
func (s *sweep) keepUsed(group []*victim) {
	if len(group) == 0 {
		return
	}
	used := make(map[uint32]bool)
	for _, v := range group {
		used[v.pk.no] = false
	}
	s.p.index.scan(func(l loc, _ slotFlags) {
		if _, ok := used[l.pack]; ok {
			used[l.pack] = true
		}
	})
	for _, v := range group {
		if used[v.pk.no] && !v.kept {
			v.kept = true
			s.keep(v.pk, errors.New("not all that it holds could be read"))
		}
	}
}

// copyLive copies the live chunks of a pack. A pack with a live chunk that
// cannot be copied stays.
func (s *sweep) copyLive(ctx context.Context, v *victim) error {
	p := s.p
	s.list(v)
	for i := 0; i < len(v.recs) && !v.kept; i++ {
		e := &v.recs[i]
		at, f, ok := p.index.lookup(e.id)
		if !ok || at != e.loc(v.pk.no) || f&(flagMarked|flagFresh) == 0 {
			continue
		}
		if err := s.move(ctx, v, e); err != nil {
			return err
		}
		if err := s.pace.Rest(ctx); err != nil {
			return err
		}
	}
	return nil
}

// list learns what is in a victim. One that cannot be read stays.
func (s *sweep) list(v *victim) {
	if v.recs != nil || v.kept {
		return
	}
	var err error
	if v.recs, err = s.p.listPack(v.pk); err != nil {
		v.kept = true
		s.keep(v.pk, err)
	}
}

// move copies a live chunk out of a victim.
func (s *sweep) move(ctx context.Context, v *victim, e *entry) error {
	p := s.p
	if err := ctx.Err(); err != nil {
		return err
	}
	at := e.loc(v.pk.no)
	r, body, err := p.readRecord(v.pk, at, e.id)
	var data []byte
	if err == nil {
		data, err = decodeBody(&r, body)
	}
	if err != nil {
		if now, _, ok := p.index.lookup(e.id); !ok || now != at {
			return nil // repaired meanwhile
		}
		p.index.flag(e.id, at, flagDamaged)
		v.kept = true
		s.keep(v.pk, err)
		return nil
	}
	if r.flags&recordZstd == 0 && p.opt.Compress {
		buf := scratch.Get().(*[]byte)
		defer scratch.Put(buf)
		r, body = encodeChunk(e.id, data, true, buf)
	}
	s.report.CopiedBytes += r.size()
	if err := p.copyRecord(&r, body, at); err != nil {
		return err
	}
	p.throttle()
	return nil
}

// forgetDead removes the dead chunks of a victim from the index and copies
// those that came to life again.
func (s *sweep) forgetDead(ctx context.Context, v *victim) error {
	p := s.p
	s.list(v)
	for i := 0; i < len(v.recs) && !v.kept; i++ {
		e := &v.recs[i]
		switch p.index.removeDead(e.id, e.loc(v.pk.no)) {
		case alive:
			if err := s.move(ctx, v, e); err != nil {
				return err
			}
		case removed:
			p.cache.drop(e.id)
			p.rawBytes.Add(-int64(e.raw))
			v.pk.dead.Add(e.size())
			p.w.mu.Lock()
			delete(p.w.lost, e.id)
			p.w.mu.Unlock()
		}
	}
	return nil
}

// forgetLost removes lost chunks that nobody needs: they must not keep Fsync
// from succeeding.
func (s *sweep) forgetLost() {
	w := &s.p.w
	w.mu.Lock()
	defer w.mu.Unlock()
	for id, c := range w.lost {
		if s.p.index.removeDead(id, c.at) == removed {
			delete(w.lost, id)
		}
	}
}

// listPack returns the chunks of a pack that is not written any more.
func (p *Packs) listPack(pk *pack) ([]entry, error) {
	f, err := p.opt.FS.OpenFile(pk.path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	if foot, _, err := readFooter(f, size, pk.marker); err == nil {
		return foot.entries, nil
	}
	s := surveyPack(f, min(size, pk.end), pk.marker)
	if s.unread {
		return nil, errors.New("the host cannot read all of it")
	}
	return s.entries, nil
}
