package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// recover fills the index from the packs in the directory, oldest first, so
// that of two copies of a chunk the later counts: that is the one which a
// collection, a repair or a rescue wrote because the earlier was in doubt.
func (p *Packs) recover(ctx context.Context) error {
	names, err := p.opt.FS.ReadDir(p.opt.Dir)
	if err != nil {
		return err
	}
	var numbers []uint32
	for _, d := range names {
		if no, ok := parsePackName(d.Name()); ok {
			numbers = append(numbers, no)
		}
	}
	slices.Sort(numbers)
	if err := p.loadAll(ctx, numbers); err != nil {
		return err
	}
	if len(p.w.full) > 0 || p.w.open != nil {
		// What a killed process wrote may be in the page cache only. A Put may
		// find it there, so the next Fsync has work to do; and what it took the
		// place of is still needed.
		p.w.seq++
		for _, pk := range p.packs {
			pk.moved = p.w.seq
		}
	}
	return nil
}

// loadAhead is how many packs are read at a time while one is indexed.
const loadAhead = 8

// loadAll reads packs, several at once, and takes them in by their order.
func (p *Packs) loadAll(ctx context.Context, numbers []uint32) error {
	var err error
	var queue []chan *loaded
	for started, taken := 0, 0; ; taken++ {
		for err == nil && started < min(taken+loadAhead, len(numbers)) {
			done := make(chan *loaded, 1)
			no := numbers[started]
			pk := &pack{no: no, path: packPath(p.opt.Dir, no), created: true, named: true}
			go func() { done <- p.load(pk) }()
			queue = append(queue, done)
			started++
		}
		if len(queue) == 0 {
			return err
		}
		l := <-queue[0]
		queue = queue[1:]
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = p.take(l, taken == len(numbers)-1)
			p.w.next = l.pk.no + 1
		} else {
			l.close()
		}
	}
}

// loaded is a pack that was read but not taken in yet.
type loaded struct {
	pk    *pack
	f     hostfs.File // nil if it could not be opened
	size  int64
	known bool    // the marker is
	head  error   // what was wrong with the header
	foot  *footer // nil if the pack has none that is intact
	end   int64   // of the records, if foot is not nil
	err   error   // Open must fail
}

func (l *loaded) close() error {
	if l.f == nil {
		return nil
	}
	return l.f.Close()
}

// load reads the header and the footer of a pack.
func (p *Packs) load(pk *pack) *loaded {
	l := &loaded{pk: pk}
	if l.f, l.err = p.opt.FS.OpenFile(pk.path, os.O_RDWR, 0); l.err != nil {
		return l
	}
	if l.size, l.err = l.f.Size(); l.err != nil {
		return l
	}
	if l.size > maxPackFile {
		l.err = fmt.Errorf("pack %s: %d bytes, the limit is %d", pk.path, l.size, int64(maxPackFile))
		return l
	}
	if l.known, l.err = p.identify(l); l.err != nil || !l.known {
		return l
	}
	if foot, end, err := readFooter(l.f, l.size, pk.marker); err == nil {
		l.foot, l.end = foot, end
	}
	return l
}

// take adds a pack to the store.
func (p *Packs) take(l *loaded, last bool) error {
	switch {
	case l.err != nil:
		return errors.Join(l.err, l.close())
	case !l.known:
		return errors.Join(p.recoverNothing(l.pk, l.f, l.size), l.close())
	case l.foot != nil:
		p.addPack(l.pk)
		l.judgeHeader(l.end)
		p.admitSealed(l.pk, l.foot, l.end)
		return l.close()
	}
	p.adopt(l, surveyPack(l.f, l.size, l.pk.marker), last) // keeps the file
	return nil
}

// identify finds the marker of a pack. It returns false if there is none.
func (p *Packs) identify(l *loaded) (bool, error) {
	pk, f, size := l.pk, l.f, l.size
	head := make([]byte, min(size, packHeaderSize))
	_, err := f.ReadAt(head, 0)
	if err == nil {
		pk.marker, err = decodePackHeader(head)
	}
	var newer versionError
	if errors.As(err, &newer) {
		return false, fmt.Errorf("pack %s: %w", pk.path, newer)
	}
	if err == nil {
		return true, nil
	}
	m, ok := findMarker(f, size)
	if !ok {
		return false, nil
	}
	// Nothing is lost: all that the header says is known.
	pk.marker, l.head = m, err
	p.log.Warn("damaged pack header is written anew", "pack", pk.path, "offset", 0, "err", err)
	if _, err := f.WriteAt(appendPackHeader(nil, m), 0); err != nil {
		pk.damaged.Store(1)
		p.log.Error("damaged pack header stays", "pack", pk.path, "err", err)
	}
	return true, nil
}

// judgeHeader remembers for Scrub that the header was damaged, if it was
// durable. Otherwise a power cut may have kept it from being written while
// later pages were.
func (l *loaded) judgeHeader(durable int64) {
	if l.head != nil && durable > packHeaderSize {
		l.pk.mended = l.head
		l.pk.damaged.Store(1)
	}
}

// recoverNothing deals with a file that holds no record. A pack that was being
// made when the power failed is empty, or all zeroes, or a header: it goes. If
// only the header was not written to its end, that may be the same, or damage:
// it stays until a collection finds nothing missing. Anything else is damage.
func (p *Packs) recoverNothing(pk *pack, f hostfs.File, size int64) error {
	if size <= packHeaderSize || allZero(f, size) {
		p.log.Info("removed a pack without content", "pack", pk.path, "bytes", size)
		return p.opt.FS.Remove(pk.path)
	}
	pk.state = packFailed
	pk.doubtful = true
	head := make([]byte, packHeaderSize)
	if _, err := f.ReadAt(head, 0); err == nil && bytes.Equal(head[packHeaderSize-4:], make([]byte, 4)) {
		p.log.Warn("pack without any record that was not fsynced", "pack", pk.path, "bytes", size)
	} else {
		p.log.Error("damaged pack without any readable record", "pack", pk.path, "bytes", size)
		pk.damaged.Add(1)
		pk.flushed.Store(size)
		pk.durable.Store(size)
	}
	p.addPack(pk)
	return nil
}

// allZero reports whether the first n bytes of a file are zeroes.
func allZero(f io.ReaderAt, n int64) bool {
	w := &walker{r: f, end: n}
	zero := make([]byte, sectorSize)
	for off := int64(0); off < n; off += sectorSize {
		k := int(min(sectorSize, n-off))
		p, err := w.peek(off, k)
		if err != nil || !bytes.Equal(p, zero[:k]) {
			return false
		}
	}
	return true
}

// readFooter reads the footer of a sealed pack and where its records end.
func readFooter(f io.ReaderAt, size int64, m marker) (*footer, int64, error) {
	if size < packHeaderSize+recordHeaderSize+footerHeadSize+trailerSize {
		return nil, 0, errNoTrailer
	}
	buf := make([]byte, trailerSize)
	if _, err := f.ReadAt(buf, size-trailerSize); err != nil {
		return nil, 0, err
	}
	t, err := decodeTrailer(buf)
	if err != nil {
		return nil, 0, err
	}
	end := int64(t.footer)
	n := size - trailerSize - end
	if t.marker != m || end < packHeaderSize || n < recordHeaderSize+footerHeadSize || n > recordHeaderSize+maxFooter {
		return nil, 0, errBadFooter
	}
	rec := make([]byte, n)
	if _, err := f.ReadAt(rec, end); err != nil {
		return nil, 0, err
	}
	foot, err := parseFooter(rec, end, m)
	return foot, end, err
}

// parseFooter decodes a whole footer record that begins at end.
func parseFooter(rec []byte, end int64, m marker) (*footer, error) {
	r, err := decodeRecord(rec, m)
	if err != nil {
		return nil, err
	}
	if r.kind != kindFooter || r.size() != int64(len(rec)) {
		return nil, errBadFooter
	}
	body := rec[recordHeaderSize:]
	if crc(body) != r.crc {
		return nil, errBodyCRC
	}
	if Sum(body) != r.digest {
		return nil, errDigest
	}
	return decodeFooter(body, end)
}

func (p *Packs) admitSealed(pk *pack, foot *footer, end int64) {
	pk.state = packSealed
	pk.end, pk.marked = end, end
	pk.flushed.Store(end)
	pk.durable.Store(end)
	for i := range foot.entries {
		p.admit(pk, &foot.entries[i], false)
	}
}

// admit indexes a record that recovery found. A damaged one never hides a good
// one.
func (p *Packs) admit(pk *pack, e *entry, damaged bool) {
	l := e.loc(pk.no)
	pk.stored.Add(e.size())
	if _, f, ok := p.index.lookup(e.id); ok && damaged && f&flagDamaged == 0 {
		p.bury(l)
		return
	}
	if old, had := p.index.insert(e.id, l); had {
		p.bury(old)
	} else {
		p.rawBytes.Add(int64(e.raw))
	}
	if damaged {
		p.index.flag(e.id, l, flagDamaged)
	}
}

// survey is what a walk over a pack without a footer found.
type survey struct {
	entries []entry // chunks, damaged ones too if their header is intact
	bad     []item  // what is not right, without its bytes
	durable int64   // what is known to have been fsynced
	marked  int64   // see pack
	end     int64   // where the last intact record ends
	footer  bool    // there is a footer, though it cannot be used
	unread  bool    // the host could not read all
}

func surveyPack(f io.ReaderAt, size int64, m marker) *survey {
	w := &walker{r: f, end: size, marker: m}
	s := &survey{end: packHeaderSize, durable: packHeaderSize, marked: packHeaderSize}
	for off := int64(packHeaderSize); off < size && !s.footer; {
		it := w.at(off)
		off += it.size
		s.add(&it)
	}
	s.end, s.unread = max(s.end, s.durable), w.unread
	return s
}

func (s *survey) add(it *item) {
	switch {
	case it.known && it.rec.kind == kindFooter:
		// A footer is written when all before it is durable.
		s.footer, s.durable = true, it.off
		return
	case it.known && it.rec.kind == kindChunk:
		r := &it.rec
		s.entries = append(s.entries, entry{id: r.digest, off: uint32(it.off), length: r.length, raw: r.raw})
	case it.err == nil: // a mark
		var d int64
		if d, it.err = decodeMark(it.body, it.off); it.err == nil {
			s.durable, s.marked = max(s.durable, d), max(s.marked, afterMark(d, it.off))
		}
	}
	it.body = nil
	if it.err != nil {
		s.bad = append(s.bad, *it)
		return
	}
	s.end = it.off + it.size
}

// adopt takes in a pack that was not sealed, or whose footer is damaged. The
// last pack goes on if it is clean; any other is sealed at the next Fsync.
func (p *Packs) adopt(l *loaded, s *survey, last bool) {
	pk := l.pk
	p.addPack(pk)
	pk.end, pk.marked = s.end, s.marked
	pk.flushed.Store(s.end)
	pk.durable.Store(s.durable)
	l.judgeHeader(s.durable)
	clean := p.judge(pk, s) && pk.damaged.Load() == 0 && !s.footer
	p.files.pin(pk.no, l.f)
	switch err := p.settleTail(l, s); {
	case err != nil:
		// What cannot be read now may be readable later, so no footer may say
		// that this is all. The next Fsync copies what may not be durable.
		p.log.Error("pack is not written any more", "pack", pk.path, "err", err)
		pk.state, pk.doubtful = packFailed, true
		p.w.failed = append(p.w.failed, pk)
	case last && clean:
		pk.state, p.w.open = packOpen, pk
	default:
		pk.state = packFull
		p.w.full = append(p.w.full, pk)
	}
}

// judge indexes what a walk found, and returns whether all was right. What is
// wrong before the durable offset is damage. What is wrong after it was never
// fsynced as far as the pack knows: a gap if something intact follows, since a
// power cut may keep a later page and lose an earlier one, and otherwise a torn
// tail.
func (p *Packs) judge(pk *pack, s *survey) (clean bool) {
	damaged, gap := make(map[uint32]bool), make(map[uint32]bool)
	for _, it := range s.bad {
		switch {
		case it.off >= s.end:
			continue
		case it.off < s.durable:
			damaged[uint32(it.off)] = true
			pk.damaged.Add(1)
			p.log.Error("damaged record", "pack", pk.path, "offset", it.off, "bytes", it.size, "err", it.err)
		default:
			gap[uint32(it.off)] = true
			pk.foot.gaps = append(pk.foot.gaps, extent{uint32(it.off), uint32(it.size)})
			p.log.Warn("gap of bytes that were not fsynced", "pack", pk.path, "offset", it.off, "bytes", it.size, "err", it.err)
		}
		pk.doubtful = true
	}
	for _, e := range s.entries {
		if int64(e.off) < s.end && !gap[e.off] {
			pk.foot.entries = append(pk.foot.entries, e)
			p.admit(pk, &e, damaged[e.off])
		}
	}
	return len(damaged)+len(gap) == 0
}

// settleTail cuts off what follows the records of a pack, and makes those that
// may not be durable dirty again.
func (p *Packs) settleTail(l *loaded, s *survey) error {
	if s.unread {
		return errors.New("the host cannot read all of it")
	}
	if l.size > s.end {
		p.log.Info("dropped the tail of a pack", "pack", l.pk.path, "offset", s.end, "bytes", l.size-s.end, "footer", s.footer)
		if err := l.f.Truncate(s.end); err != nil {
			return err
		}
	}
	return redirty(l.f, s.durable, s.end)
}

// redirty writes the bytes in [from, to) of a file again. An fsync may have
// failed before the process ended; the kernel then takes the pages for clean,
// and an fsync now would succeed without writing them.
func redirty(f hostfs.File, from, to int64) error {
	w := &walker{r: f, end: to}
	for from < to {
		n := min(windowSize, to-from)
		p, err := w.peek(from, int(n))
		if err != nil {
			return err
		}
		if _, err := f.WriteAt(p, from); err != nil {
			return err
		}
		from += n
	}
	return nil
}
