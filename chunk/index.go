package chunk

import (
	"hash/maphash"
	"sync"
)

// The index says where each chunk is: one 24-byte slot a chunk, in 256
// open-addressing tables. A slot does not hold the chunk's ID but a 104-bit tag
// of it, made with a secret of this process: a Go map of whole IDs takes five
// times the memory, and a tag of the digest's own bits could be met on purpose
// with 2^52 hashes, while nobody can aim at a tag that he cannot compute. By
// chance two of 10 million chunks share a tag once in 10^17 stores. Even then
// the worst is EIO: Get compares the whole digest.
//
//	a  |  tag, high 64 bits                           |
//	b  |  tag, low 40 bits      | record bytes: 24    |
//	c  |  pack: 28  |  offset: 32        |  flags: 4  |
//
// A slot is empty when c is zero: packs are numbered from one.
const (
	shardCount = 256
	slotBytes  = 24

	maxPackNo = 1<<28 - 1

	// A table grows by a quarter when it is four fifths full, so that a chunk
	// costs 30 to 38 bytes. Doubling would cost up to 60: the tables are filled
	// evenly, so all would be half empty at once.
	loadNum, loadDen = 4, 5
)

// slotFlags are what the index remembers of a chunk besides its place.
type slotFlags uint8

const (
	flagMarked  slotFlags = 1 << iota // (*GC).Mark met it in this collection
	flagFresh                         // stored, or asked for, since this collection began
	flagDamaged                       // its bytes are known to be damaged
	flagsMask   = flagMarked | flagFresh | flagDamaged
)

// loc is the place of a record: its pack, its offset there and its length
// including its header.
type loc struct {
	pack uint32
	off  uint32
	n    uint32
}

type slot struct{ a, b, c uint64 }

func (s *slot) used() bool       { return s.c != 0 }
func (s *slot) flags() slotFlags { return slotFlags(s.c & 0xf) }
func (s *slot) set(f slotFlags)  { s.c |= uint64(f) }
func (s *slot) unset(f slotFlags) {
	s.c &^= uint64(f)
}

func (s *slot) loc() loc {
	return loc{pack: uint32(s.c >> 36), off: uint32(s.c >> 4), n: uint32(s.b & 0xffffff)}
}

func (s *slot) setLoc(l loc) {
	s.b = s.b&^0xffffff | uint64(l.n)
	s.c = uint64(l.pack)<<36 | uint64(l.off)<<4 | s.c&0xf
}

// tag is a keyed hash of an ID. Only 104 of its bits are kept.
type tag struct{ hi, lo uint64 }

func (s *slot) is(t tag) bool { return s.a == t.hi && (s.b^t.lo)>>24 == 0 }

type index struct {
	hi, lo maphash.Seed
	shards [shardCount]shard
}

type shard struct {
	mu      sync.RWMutex
	slots   []slot // guarded by mu
	used    int    // guarded by mu
	marking bool   // guarded by mu; a collection runs
	_       [16]byte
}

func newIndex() *index {
	return &index{hi: maphash.MakeSeed(), lo: maphash.MakeSeed()}
}

func (x *index) locate(id ID) (*shard, tag) {
	t := tag{hi: maphash.Bytes(x.hi, id[:]), lo: maphash.Bytes(x.lo, id[:])}
	return &x.shards[t.hi>>56], t
}

// home is the slot where a tag would like to be. It takes only bits that the
// slot keeps, so that a table can be rebuilt from itself.
func home(a uint64, slots int) int {
	return int((a & 0xffffffff) * uint64(slots) >> 32)
}

// find returns the slot of t, or the empty slot where it would go, or -1 in a
// table without slots. The caller holds s.mu.
func (s *shard) find(t tag) (i int, ok bool) {
	n := len(s.slots)
	if n == 0 {
		return -1, false
	}
	for i = home(t.hi, n); s.slots[i].used(); {
		if s.slots[i].is(t) {
			return i, true
		}
		if i++; i == n {
			i = 0
		}
	}
	return i, false
}

// lookup returns where id is.
func (x *index) lookup(id ID) (l loc, f slotFlags, ok bool) {
	s, t := x.locate(id)
	s.mu.RLock()
	defer s.mu.RUnlock()
	i, ok := s.find(t)
	if !ok {
		return loc{}, 0, false
	}
	return s.slots[i].loc(), s.slots[i].flags(), true
}

// touch reports whether a good copy of id is indexed and, while a collection
// runs, keeps it from being collected.
func (x *index) touch(id ID) bool {
	s, t := x.locate(id)
	s.mu.RLock()
	i, ok := s.find(t)
	ok = ok && s.slots[i].flags()&flagDamaged == 0
	done := !ok || !s.marking || s.slots[i].flags()&flagFresh != 0
	s.mu.RUnlock()
	if done {
		return ok
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	// It may be gone by now: the collector was faster.
	if i, ok = s.find(t); !ok || s.slots[i].flags()&flagDamaged != 0 {
		return false
	}
	s.slots[i].set(flagFresh)
	return true
}

// insert sets the place of id and forgets that it was damaged. It returns the
// place that id had before.
func (x *index) insert(id ID, l loc) (old loc, had bool) {
	s, t := x.locate(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, had := s.find(t)
	if had {
		old = s.slots[i].loc()
		s.slots[i].unset(flagDamaged)
	} else {
		if (s.used+1)*loadDen > len(s.slots)*loadNum {
			s.grow()
			i, _ = s.find(t)
		}
		s.slots[i] = slot{a: t.hi, b: t.lo &^ 0xffffff}
		s.used++
	}
	s.slots[i].setLoc(l)
	if s.marking {
		s.slots[i].set(flagFresh)
	}
	return old, had
}

// relocate moves id to the place of a verified copy, if it is still at from.
func (x *index) relocate(id ID, from, to loc) bool {
	s, t := x.locate(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.find(t)
	if !ok || s.slots[i].loc() != from {
		return false
	}
	s.slots[i].setLoc(to)
	s.slots[i].unset(flagDamaged)
	return true
}

// flag adds flags to id, if it is still at l.
func (x *index) flag(id ID, l loc, f slotFlags) bool {
	s, t := x.locate(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.find(t)
	if !ok || s.slots[i].loc() != l {
		return false
	}
	s.slots[i].set(f)
	return true
}

// mark sets flagMarked. It returns false if that was set already.
func (x *index) mark(id ID) (first, there bool) {
	s, t := x.locate(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.find(t)
	if !ok {
		return true, false
	}
	first = s.slots[i].flags()&flagMarked == 0
	s.slots[i].set(flagMarked)
	return first, true
}

// removal says what removeDead found.
type removal int

const (
	elsewhere removal = iota // id is not there at all, or its copy is in another place
	removed
	alive // it was marked or touched and stays
)

// removeDead forgets id if it is at l and neither marked nor fresh.
func (x *index) removeDead(id ID, l loc) removal {
	s, t := x.locate(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.find(t)
	switch {
	case !ok || s.slots[i].loc() != l:
		return elsewhere
	case s.slots[i].flags()&(flagMarked|flagFresh) != 0:
		return alive
	}
	s.delete(i)
	return removed
}

// delete empties slot i and moves back what follows it, so that no probe meets
// a gap. The caller holds s.mu.
func (s *shard) delete(i int) {
	n := len(s.slots)
	for j := i; ; {
		if j++; j == n {
			j = 0
		}
		if !s.slots[j].used() {
			break
		}
		// Slot j may move to i unless its home lies cyclically in (i, j].
		h := home(s.slots[j].a, n)
		if between := i < h && h <= j; i <= j && between || i > j && (i < h || h <= j) {
			continue
		}
		s.slots[i] = s.slots[j]
		i = j
	}
	s.slots[i] = slot{}
	s.used--
}

// grow makes the table a quarter larger. The caller holds s.mu.
func (s *shard) grow() {
	old := s.slots
	s.slots = make([]slot, len(old)+len(old)/4+8)
	for _, o := range old {
		if !o.used() {
			continue
		}
		i := home(o.a, len(s.slots))
		for s.slots[i].used() {
			if i++; i == len(s.slots) {
				i = 0
			}
		}
		s.slots[i] = o
	}
}

// startMarking clears the marks of an earlier collection; stopMarking ends one.
func (x *index) startMarking() {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		for j := range s.slots {
			s.slots[j].unset(flagMarked | flagFresh)
		}
		s.marking = true
		s.mu.Unlock()
	}
}

func (x *index) stopMarking() {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.Lock()
		s.marking = false
		s.mu.Unlock()
	}
}

// scan calls fn for every chunk, holding one shard at a time. fn must not call
// the index.
func (x *index) scan(fn func(l loc, f slotFlags)) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.RLock()
		for j := range s.slots {
			if s.slots[j].used() {
				fn(s.slots[j].loc(), s.slots[j].flags())
			}
		}
		s.mu.RUnlock()
	}
}

// size returns the number of chunks and the bytes the tables take.
func (x *index) size() (chunks, bytes int64) {
	for i := range x.shards {
		s := &x.shards[i]
		s.mu.RLock()
		chunks += int64(s.used)
		bytes += int64(cap(s.slots)) * slotBytes
		s.mu.RUnlock()
	}
	return chunks, bytes
}
