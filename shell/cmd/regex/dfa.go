package regex

import (
	"bytes"
	"context"
	"encoding/binary"
	"slices"
	"unicode/utf8"
)

// dfa is the automaton of a program, built while it runs.
//
// A state holds threads: places in the program that some match which began
// earlier has reached. Threads are kept in groups, one group for each start of
// a match still possible, the leftmost start first; a place that an earlier
// group has reached is of no use to a later one and dropped there. That makes
// "leftmost" a matter of order, so one pass finds where the leftmost-longest
// match ends, and where it starts too: each transition says which old group
// each new one comes from, and the caller keeps a start for each.
//
// Positions (^, \b) need the character before and the one after, so a
// transition is worked out when the byte after is known: a state's threads
// stand before the positions, and a match is seen one byte late.
type dfa struct {
	prog *prog
	// symbol maps a byte to its symbol; bytes that the program cannot tell apart
	// share one. In texts where words matter a byte of a word character beyond
	// ASCII has its symbol plus half the symbols. The last symbol is the end.
	symbol  [256]uint16
	sample  []byte // a byte of each symbol
	symbols int
	wide    bool // words matter beyond ASCII

	states map[string]*state
	idles  [4]*state // by what is before
	size   int       // bytes of all states, about
	starts []int
	first  firstBytes

	// Scratch of step.
	stack   []int32
	seen    []uint32 // by instruction: epoch when visited before consuming
	reached []uint32 // by instruction: epoch when a thread of the next state
	epoch   uint32
	threads []int32
	moves   []int32
	key     []byte
}

// maxSize bounds the bytes of the states that are kept; beyond it all are
// forgotten and the automaton starts to learn anew.
const maxSize = 8 << 20

// before is what precedes a position.
type before uint8

const (
	beforeOther before = iota
	beforeWord
	beforeNewline
	beforeNothing // the text's beginning
)

// state is a state of the automaton.
type state struct {
	// threads are the groups, each ended by -1.
	threads []int32
	groups  int
	before  before
	// seed says that a new match may start here.
	seed  bool
	moves []transition
}

// dead reports that nothing can match any more.
func (s *state) dead() bool { return s.groups == 0 && !s.seed }

// transition is where a symbol leads.
type transition struct {
	next *state
	// from lists for each group of next the group it comes from; the number of
	// groups stands for a match that started here. nil means each its own.
	from []int32
	// match is the group that matches before the symbol, or -1.
	match int32
}

func newDFA(p *prog) *dfa {
	d := &dfa{
		prog:    p,
		states:  map[string]*state{},
		seen:    make([]uint32, len(p.insts)),
		reached: make([]uint32, len(p.insts)),
	}
	d.classify()
	d.first = firstOf(p)
	return d
}

// classify finds the bytes that the program cannot tell apart.
func (d *dfa) classify() {
	var cut [257]bool
	split := func(lo, hi int) { cut[lo], cut[hi+1] = true, true }
	split('\n', '\n')
	split(0x80, 0xbf)
	for _, in := range d.prog.insts {
		for _, r := range in.ranges {
			split(int(r.lo), int(r.hi))
		}
	}
	if d.prog.words {
		d.wide = d.prog.utf8
		split('0', '9')
		split('A', 'Z')
		split('_', '_')
		split('a', 'z')
	}
	n := uint16(0)
	for b := range 256 {
		if b > 0 && cut[b] {
			n++
		}
		d.symbol[b] = n
		if int(n) == len(d.sample) {
			d.sample = append(d.sample, byte(b))
		}
	}
	d.symbols = int(n) + 1
}

// end is the symbol of the text's end.
func (d *dfa) end() int {
	if d.wide {
		return 2 * d.symbols
	}
	return d.symbols
}

// find runs the automaton over text from from on. With any it stops at the
// first place where it knows that there is a match, and what it returns is only
// that.
func (d *dfa) find(ctx context.Context, text []byte, from int, any bool) (start, end int, err error) {
	s := d.idle(d.beforeAt(text, from))
	start, end = -1, -1
	i := from
	for i < len(text) {
		if s.groups == 0 && s.seed && !d.first.byte[text[i]] && !d.first.all {
			// Nothing is under way: go where something can start.
			if i = d.first.next(text, i); i < 0 {
				return start, end, nil
			}
			s = d.idle(d.beforeAt(text, i))
		}
		sym := int(d.symbol[text[i]])
		if d.wide && text[i] >= utf8.RuneSelf && isWord(text, leadOf(text, i), true) {
			sym += d.symbols
		}
		t := &s.moves[sym]
		if t.next == nil {
			if t, err = d.step(ctx, s, sym); err != nil {
				return -1, -1, err
			}
		}
		if t.match >= 0 {
			if any {
				return i, i, nil
			}
			start, end = d.startOf(s, t, i), i
		}
		if t.from != nil && !any {
			d.moveStarts(s, t, i)
		}
		s = t.next
		i++
		if s.dead() {
			return start, end, nil
		}
	}
	t := &s.moves[d.end()]
	if t.next == nil {
		if t, err = d.step(ctx, s, d.end()); err != nil {
			return -1, -1, err
		}
	}
	switch {
	case t.match < 0:
	case any:
		return i, i, nil
	default:
		start, end = d.startOf(s, t, i), i
	}
	return start, end, nil
}

// idle returns the state in which nothing is under way.
func (d *dfa) idle(b before) *state {
	if d.idles[b] == nil {
		d.idles[b] = d.intern(nil, 0, b, true)
	}
	return d.idles[b]
}

// leadOf returns where the character that text[i] belongs to starts, or i when
// it belongs to none.
func leadOf(text []byte, i int) int {
	for j := i; j >= 0 && j > i-utf8.UTFMax; j-- {
		if utf8.RuneStart(text[j]) {
			if _, n := utf8.DecodeRune(text[j:]); j+n > i {
				return j
			}
			return i
		}
	}
	return i
}

func (d *dfa) startOf(s *state, t *transition, i int) int {
	if int(t.match) == s.groups {
		return i
	}
	return d.starts[t.match]
}

// moveStarts makes starts those of the next state's groups. A group never comes
// from one before it, so this can be done in place.
func (d *dfa) moveStarts(s *state, t *transition, i int) {
	for len(d.starts) < len(t.from) {
		d.starts = append(d.starts, 0)
	}
	for k, g := range t.from {
		if int(g) == s.groups {
			d.starts[k] = i
		} else {
			d.starts[k] = d.starts[g]
		}
	}
}

// beforeAt says what precedes text[i].
func (d *dfa) beforeAt(text []byte, i int) before {
	if i == 0 {
		return beforeNothing
	}
	if d.prog.lines && text[i-1] == '\n' {
		return beforeNewline
	}
	if d.prog.words && isWordBefore(text, i, d.prog.utf8) {
		return beforeWord
	}
	return beforeOther
}

// intern returns the state with these threads.
func (d *dfa) intern(threads []int32, groups int, b before, seed bool) *state {
	flags := byte(b) << 1
	if seed {
		flags |= 1
	}
	key := append(d.key[:0], flags)
	for _, t := range threads {
		key = binary.LittleEndian.AppendUint32(key, uint32(t))
	}
	d.key = key
	if s := d.states[string(key)]; s != nil {
		return s
	}
	const stateSize, transitionSize = 200, 40
	size := stateSize + 2*len(key) + (d.end()+1)*transitionSize
	if d.size += size; d.size > maxSize {
		clear(d.states)
		clear(d.idles[:])
		d.size = size
	}
	s := &state{threads: slices.Clone(threads), groups: groups, before: b, seed: seed}
	s.moves = make([]transition, d.end()+1)
	d.states[string(key)] = s
	return s
}

// step works out the transition of s on a symbol.
func (d *dfa) step(ctx context.Context, s *state, sym int) (*transition, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	a := d.around(s, sym)
	d.newEpoch()
	d.threads, d.moves = d.threads[:0], d.moves[:0]
	match := int32(-1)
	rest := s.threads
	for g := int32(0); g <= int32(s.groups) && match < 0; g++ {
		d.stack = d.stack[:0]
		if int(g) < s.groups {
			n := slices.Index(rest, -1)
			d.stack = append(d.stack, rest[:n]...)
			rest = rest[n+1:]
		} else if !s.seed {
			break
		} else {
			d.stack = append(d.stack, d.prog.start)
		}
		from := len(d.threads)
		if d.follow(&a) && (int(g) < s.groups || !a.inside) {
			match = g
		}
		if len(d.threads) == from {
			continue
		}
		slices.Sort(d.threads[from:])
		d.threads = append(d.threads, -1)
		d.moves = append(d.moves, g)
	}
	t := transition{match: match}
	t.next = d.intern(d.threads, len(d.moves), a.after, s.seed && match < 0)
	if !identity(d.moves, s.groups) {
		t.from = slices.Clone(d.moves)
	}
	s.moves[sym] = t
	return &s.moves[sym], nil
}

// identity reports whether each of the moved groups, of n there were, keeps its
// place.
func identity(moves []int32, n int) bool {
	for k, g := range moves {
		if int(g) != k || k == n {
			return false
		}
	}
	return true
}

func (d *dfa) newEpoch() {
	if d.epoch++; d.epoch == 0 {
		clear(d.seen)
		clear(d.reached)
		d.epoch = 1
	}
}

// surroundings is a position: what is before, and the byte after.
type surroundings struct {
	before   before
	atEnd    bool
	next     byte // unless atEnd
	nextWord bool
	inside   bool // the position is within a UTF-8 sequence
	after    before
}

// around is the position before a symbol.
func (d *dfa) around(s *state, sym int) surroundings {
	a := surroundings{before: s.before, atEnd: sym == d.end()}
	if a.atEnd {
		return a
	}
	if sym >= d.symbols {
		a.nextWord = true
		sym -= d.symbols
	}
	a.next = d.sample[sym]
	a.inside = d.prog.utf8 && a.next&0xc0 == 0x80
	if d.prog.words && !(d.prog.utf8 && a.next >= utf8.RuneSelf) {
		a.nextWord = isWord([]byte{a.next}, 0, false)
	}
	switch {
	case d.prog.lines && a.next == '\n':
		a.after = beforeNewline
	case d.prog.words && a.nextWord:
		a.after = beforeWord
	}
	return a
}

// holds reports whether a position is of that kind.
func (a *surroundings) holds(kind assert) bool {
	prevWord := a.before == beforeWord
	switch kind {
	case beginText:
		return a.before == beforeNothing
	case endText:
		return a.atEnd
	case beginLine:
		return a.before == beforeNothing || a.before == beforeNewline
	case endLine:
		return a.atEnd || a.next == '\n'
	case afterNonWord:
		return !prevWord
	case beforeNonWord:
		return !a.nextWord
	case wordStart:
		return !prevWord && a.nextWord
	case wordEnd:
		return prevWord && !a.nextWord
	case wordBoundary:
		return prevWord != a.nextWord
	}
	return prevWord == a.nextWord && !(a.before == beforeNothing && a.atEnd)
}

// follow takes the threads on the stack over the position and the byte after
// it; what they reach is added to threads. It reports whether one matches.
func (d *dfa) follow(a *surroundings) (match bool) {
	for len(d.stack) > 0 {
		pc := d.stack[len(d.stack)-1]
		d.stack = d.stack[:len(d.stack)-1]
		if d.seen[pc] == d.epoch {
			continue
		}
		d.seen[pc] = d.epoch
		in := &d.prog.insts[pc]
		switch in.op {
		case instMatch:
			match = true
		case instBytes:
			if a.atEnd {
				continue
			}
			if out := in.target(a.next); out >= 0 && d.reached[out] != d.epoch {
				d.reached[out] = d.epoch
				d.threads = append(d.threads, out)
			}
		case instSplit, instFirst:
			d.stack = append(d.stack, in.alt, in.out)
		case instAssert:
			if a.holds(in.assert) {
				d.stack = append(d.stack, in.out)
			}
		case instSave, instMark, instProgress:
			d.stack = append(d.stack, in.out)
		}
	}
	return match
}

// target returns where a byte leads, -1 when the instruction refuses it.
func (in *inst) target(b byte) int32 {
	rs := in.ranges
	if len(rs) > 8 {
		lo, hi := 0, len(rs)
		for lo < hi {
			mid := (lo + hi) / 2
			if rs[mid].hi < b {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		rs = rs[lo:]
	}
	for i := range rs {
		if b <= rs[i].hi {
			if b >= rs[i].lo {
				return rs[i].out
			}
			return -1
		}
	}
	return -1
}

// firstBytes are the bytes that a match can start with.
type firstBytes struct {
	all  bool // any, or none: a match may be empty
	n    int
	one  byte // when n is 1
	byte [256]bool
}

// firstOf finds the first bytes of a program's matches.
func firstOf(p *prog) firstBytes {
	var f firstBytes
	seen := make([]bool, len(p.insts))
	stack := []int32{p.start}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[pc] {
			continue
		}
		seen[pc] = true
		switch in := &p.insts[pc]; in.op {
		case instMatch, instBackref:
			f.all = true
		case instBytes:
			for _, r := range in.ranges {
				for b := int(r.lo); b <= int(r.hi); b++ {
					f.byte[b] = true
				}
			}
		case instSplit, instFirst:
			stack = append(stack, in.alt, in.out)
		case instAssert, instSave, instMark, instProgress:
			stack = append(stack, in.out)
		}
	}
	for b, ok := range f.byte {
		if ok {
			f.n++
			f.one = byte(b)
		}
	}
	return f
}

// next returns the first place at or after i where a match can start, -1 when
// there is none.
func (f *firstBytes) next(text []byte, i int) int {
	switch {
	case f.all || f.byte[text[i]]:
		return i
	case f.n == 1:
		n := bytes.IndexByte(text[i:], f.one)
		if n < 0 {
			return -1
		}
		return i + n
	}
	for ; i < len(text); i++ {
		if f.byte[text[i]] {
			return i
		}
	}
	return -1
}
