package chunk

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// Damage is a place in a pack that does not hold what was stored.
type Damage struct {
	Pack   string // path of the pack file
	Offset int64  // of the record, header, footer or stretch that is damaged
	ID     ID     // the chunk that is hurt; zero if unknown, or if it is no chunk
	Err    error  // in its chain: vfs.ErrCorrupt, or the host's error
}

// Error says what is wrong where.
func (d Damage) Error() string { return d.Err.Error() }

// Unwrap returns d.Err.
func (d Damage) Unwrap() error { return d.Err }

// Scrub reads every byte in the page cache or on disk of all packs there are
// when it begins, headers and footers included, and verifies it. It calls bad
// for each damage and progress now and then, with bytes done and to do; either
// may be nil. A damaged chunk that is found becomes one that Put stores anew. A
// damaged record that is not needed, because another copy is used instead, is
// not reported; a header that Open found damaged and wrote anew is. The error is about the scrub itself, which goes on after any
// damage.
func (p *Packs) Scrub(ctx context.Context, progress func(done, total int64), bad func(Damage)) error {
	if err := p.usable(ctx); err != nil {
		return err
	}
	if progress == nil {
		progress = func(int64, int64) {}
	}
	if bad == nil {
		bad = func(Damage) {}
	}
	packs := p.packList()
	var done, total int64
	for _, pk := range packs {
		total += pk.flushed.Load()
	}
	for _, pk := range packs {
		s := &scrub{p: p, pk: pk, bad: bad}
		s.step = func(off int64) { progress(min(done+off, total), total) }
		if err := s.run(ctx); err != nil {
			return fmt.Errorf("scrub pack %s: %w", pk.path, err)
		}
		done += s.end
		progress(min(done, total), total)
	}
	return nil
}

// scrub is the scrub of one pack.
type scrub struct {
	p       *Packs
	pk      *pack
	bad     func(Damage)
	step    func(off int64)
	end     int64   // of the records
	trusted int64   // what is not a record beyond this was never promised
	foot    footer  // what the pack should hold, as far as that is known
	entries []entry // of foot: those that the walk has not reached
}

// run returns an error only if the scrub must end.
func (s *scrub) run(ctx context.Context) error {
	f, err := s.p.opt.FS.OpenFile(s.pk.path, os.O_RDONLY, 0)
	if err != nil {
		if s.p.pack(s.pk.no) != nil && s.pk.flushed.Load() > 0 {
			s.report(0, ID{}, err)
		}
		return nil // or it was collected meanwhile, or not written yet
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		s.report(0, ID{}, err)
		return nil
	}
	head := make([]byte, min(size, packHeaderSize))
	if _, err = f.ReadAt(head, 0); err == nil {
		_, err = decodePackHeader(head)
	}
	s.expect(f, size)
	switch {
	case err != nil && s.trusted > 0:
		s.report(0, ID{}, err)
	case err == nil && s.pk.mended != nil:
		s.report(0, ID{}, fmt.Errorf("header, written anew when the store was opened: %w", s.pk.mended))
	}
	w := &walker{r: f, end: min(s.end, size), marker: s.pk.marker}
	for off := int64(packHeaderSize); off < w.end; {
		if err := ctx.Err(); err != nil {
			return err
		}
		it := w.at(off)
		s.check(&it)
		off += it.size
		s.step(off)
	}
	if size < s.end { // somebody cut the file
		s.check(&item{off: size, size: s.end - size, err: errTorn})
	}
	return nil
}

// expect learns what the pack should hold: from its footer if it is sealed,
// and otherwise from memory. It checks the footer on the way.
func (s *scrub) expect(f hostfs.File, size int64) {
	w := &s.p.w
	w.mu.Lock()
	state := s.pk.state
	s.end, s.trusted = s.pk.flushed.Load(), s.pk.flushed.Load()
	if state == packFailed {
		s.trusted = s.pk.durable.Load()
	}
	s.foot = footer{entries: slices.Clone(s.pk.foot.entries), gaps: slices.Clone(s.pk.foot.gaps)}
	w.mu.Unlock()
	if state == packSealed {
		foot, end, err := readFooter(f, size, s.pk.marker)
		if err == nil && end != s.end {
			err = errBadFooter
		}
		if err != nil {
			s.report(s.end, ID{}, fmt.Errorf("footer: %w", err))
		} else {
			s.foot = *foot
		}
	}
	s.entries = s.foot.entries
}

// check looks at one stretch of the pack.
func (s *scrub) check(it *item) {
	for len(s.entries) > 0 && int64(s.entries[0].off) < it.off {
		s.entries = s.entries[1:]
	}
	if it.err == nil {
		switch it.rec.kind {
		case kindChunk:
			_, it.err = decodeBody(&it.rec, it.body)
		case kindMark:
			if _, it.err = decodeMark(it.body, it.off); it.err == nil && Sum(it.body) != it.rec.digest {
				it.err = errDigest
			}
		default:
			it.err = errNoRecord // a footer where there should be none
		}
	}
	switch {
	case it.err == nil:
	case it.known && it.rec.kind == kindChunk:
		s.hurt(it.rec.digest, loc{s.pk.no, uint32(it.off), uint32(it.size)}, it.err)
	default:
		s.lostStretch(it)
	}
}

// lostStretch reports bytes that are no record: the chunks that should be
// there or, if none should, the stretch.
func (s *scrub) lostStretch(it *item) {
	found := false
	for _, e := range s.entries {
		if int64(e.off) >= it.off+it.size {
			break
		}
		found = true
		s.hurt(e.id, e.loc(s.pk.no), it.err)
	}
	gap := slices.ContainsFunc(s.foot.gaps, func(g extent) bool {
		return int64(g.off) <= it.off && it.off+it.size <= int64(g.off)+int64(g.n)
	})
	if !found && !gap && it.off < s.trusted {
		s.report(it.off, ID{}, it.err)
	}
}

// hurt reports a damaged chunk, unless another copy of it is used.
func (s *scrub) hurt(id ID, at loc, err error) {
	if s.p.index.flag(id, at, flagDamaged) {
		s.report(int64(at.off), id, fmt.Errorf("chunk %s: %w", id, err))
	}
}

func (s *scrub) report(off int64, id ID, err error) {
	d := Damage{Pack: s.pk.path, Offset: off, ID: id, Err: corrupt("scrub", s.pk.path, off, err)}
	s.p.log.Error("damage found", "err", d.Err)
	s.bad(d)
}

// Repair stores a good copy of a chunk, from a peer for example, if the one
// here is damaged or missing. The damaged record stays in its pack, out of use,
// until that is collected. Like Put, it becomes durable with the next Fsync.
func (p *Packs) Repair(ctx context.Context, id ID, data []byte) error {
	if err := p.usable(ctx); err != nil {
		return err
	}
	if Sum(data) != id {
		return fmt.Errorf("repair chunk %s: the copy offered: %w: %w", id, vfs.ErrCorrupt, errDigest)
	}
	if at, _, ok := p.index.lookup(id); ok {
		if _, err := p.read(id, at); err == nil {
			return nil
		}
		p.index.flag(id, at, flagDamaged)
	}
	_, err := p.Put(ctx, data)
	return err
}
