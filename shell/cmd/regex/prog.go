package regex

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// instOp is what an instruction does.
type instOp uint8

const (
	instBytes    instOp = iota // consume a byte that is in one of the ranges
	instSplit                  // go on at out, or else at alt
	instAssert                 // go on if the position holds
	instSave                   // note the position in slot n
	instBackref                // consume what group n matched
	instMark                   // note the position in slot n: an iteration starts
	instProgress               // go on if the iteration consumed something
	// instFirst goes on at out if the iteration consumed something, at alt if it
	// did not but is the first: where it starts, in slot n, is where the loop
	// was entered, in slot n+1.
	instFirst
	instMatch
	instFail
)

// inst is an instruction; targets are indexes in the program.
type inst struct {
	op     instOp
	assert assert
	fold   bool
	n      int32
	out    int32
	alt    int32
	ranges []byteRange // instBytes, sorted and apart
}

// byteRange leads from the bytes lo to hi to an instruction.
type byteRange struct {
	lo, hi byte
	out    int32
}

// prog is a compiled tree.
type prog struct {
	insts []inst
	start int32
	slots int // positions that instructions note
	utf8  bool
	// words and lines say which kinds of position the program asks for.
	words, lines bool
}

// maxInsts bounds a program; past it the pattern is too big.
const maxInsts = 1 << 18

// compiler makes a program back to front: the instruction that a fragment goes
// on to is there before the fragment.
type compiler struct {
	prog
	big bool
}

// compile makes the program of a tree with that many groups.
func compile(n *node, groups int, flags Flags) (*prog, error) {
	c := &compiler{}
	c.utf8 = flags&UTF8 != 0
	c.slots = 2 * (groups + 1)
	match := c.add(inst{op: instMatch})
	c.start = c.node(n, match)
	if c.big {
		return nil, ErrSize
	}
	return &c.prog, nil
}

func (c *compiler) add(i inst) int32 {
	if len(c.insts) >= maxInsts {
		c.big = true
		return 0
	}
	c.insts = append(c.insts, i)
	return int32(len(c.insts) - 1)
}

// node compiles n to go on at next, and returns where it starts.
func (c *compiler) node(n *node, next int32) int32 {
	if c.big {
		return 0
	}
	switch n.op {
	case opByte:
		return c.add(inst{op: instBytes, ranges: []byteRange{{n.b, n.b, next}}})
	case opClass:
		return c.class(n.set, next)
	case opAssert:
		switch n.assert {
		case beginLine, endLine:
			c.lines = true
		case beginText, endText:
		default:
			c.words = true
		}
		return c.add(inst{op: instAssert, assert: n.assert, out: next})
	case opConcat:
		for i := len(n.subs) - 1; i >= 0; i-- {
			next = c.node(n.subs[i], next)
		}
		return next
	case opAlternate:
		return c.alternate(n.subs, next)
	case opRepeat:
		return c.repeat(n, next)
	case opGroup:
		next = c.add(inst{op: instSave, n: int32(2*n.group + 1), out: next})
		next = c.node(n.subs[0], next)
		return c.add(inst{op: instSave, n: int32(2 * n.group), out: next})
	case opBackref:
		return c.add(inst{op: instBackref, n: int32(n.group), fold: n.fold, out: next})
	case opFail:
		return c.add(inst{op: instFail})
	}
	return next
}

func (c *compiler) alternate(subs []*node, next int32) int32 {
	at := c.node(subs[len(subs)-1], next)
	for i := len(subs) - 2; i >= 0; i-- {
		out := c.node(subs[i], next)
		at = c.add(inst{op: instSplit, out: out, alt: at})
	}
	return at
}

// repeat unrolls a repetition: min copies, then a loop or max-min options.
//
// An iteration that need not be may not match nothing: it would go on for
// ever, and set groups that the C library leaves alone. Only the very first may,
// and is the last then.
func (c *compiler) repeat(n *node, next int32) int32 {
	body := n.subs[0]
	at := next
	if n.max == unlimited {
		at = c.loop(body, next, n.min == 0)
	} else {
		for i := n.max - 1; i >= n.min && !c.big; i-- {
			var out int32
			if i == 0 {
				out = c.node(body, at)
			} else {
				out = c.option(body, at)
			}
			at = c.add(inst{op: instSplit, out: out, alt: next})
		}
	}
	for i := 0; i < n.min && !c.big; i++ {
		at = c.node(body, at)
	}
	return at
}

// option compiles an iteration that must consume something.
func (c *compiler) option(body *node, next int32) int32 {
	if !body.nullable() {
		return c.node(body, next)
	}
	slot := c.slot()
	out := c.node(body, c.add(inst{op: instProgress, n: slot, out: next}))
	return c.add(inst{op: instMark, n: slot, out: out})
}

// loop compiles any number of iterations; first says that the first of them
// is the first of all.
func (c *compiler) loop(body *node, next int32, first bool) int32 {
	split := c.add(inst{op: instSplit, alt: next})
	if !first || !body.nullable() {
		out := c.option(body, split)
		c.insts[split].out = out
		return split
	}
	slot := c.slot()
	entry := c.slot() // always slot+1
	out := c.node(body, c.add(inst{op: instFirst, n: slot, out: split, alt: next}))
	out = c.add(inst{op: instMark, n: slot, out: out})
	c.insts[split].out = out
	return c.add(inst{op: instMark, n: entry, out: split})
}

func (c *compiler) slot() int32 {
	c.slots++
	return int32(c.slots - 1)
}

// class compiles one character of a set.
func (c *compiler) class(set class, next int32) int32 {
	if len(set) == 0 {
		return c.add(inst{op: instFail})
	}
	if !c.utf8 || set[len(set)-1].hi < utf8.RuneSelf {
		ranges := make([]byteRange, len(set))
		for i, s := range set {
			ranges[i] = byteRange{byte(s.lo), byte(s.hi), next}
		}
		return c.add(inst{op: instBytes, ranges: ranges})
	}
	var seqs [][]byteRange
	for _, s := range set {
		seqs = splitUTF8(seqs, s.lo, s.hi)
	}
	return c.trie(seqs, next, map[string]int32{})
}

// trie compiles byte sequences, sorted, whose ranges at one place are equal or
// apart; equal tails become the same instruction.
func (c *compiler) trie(seqs [][]byteRange, next int32, known map[string]int32) int32 {
	var ranges []byteRange
	for i := 0; i < len(seqs); {
		head := seqs[i][0]
		j := i + 1
		for j < len(seqs) && seqs[j][0] == head {
			j++
		}
		head.out = next
		if len(seqs[i]) > 1 {
			tails := make([][]byteRange, 0, j-i)
			for _, s := range seqs[i:j] {
				tails = append(tails, s[1:])
			}
			head.out = c.trie(tails, next, known)
		}
		if n := len(ranges); n > 0 && ranges[n-1].out == head.out && ranges[n-1].hi+1 == head.lo {
			ranges[n-1].hi = head.hi
		} else {
			ranges = append(ranges, head)
		}
		i = j
	}
	var key strings.Builder
	for _, r := range ranges {
		key.WriteByte(r.lo)
		key.WriteByte(r.hi)
		key.WriteString(strconv.Itoa(int(r.out)))
		key.WriteByte(';')
	}
	if at, ok := known[key.String()]; ok {
		return at
	}
	at := c.add(inst{op: instBytes, ranges: ranges})
	known[key.String()] = at
	return at
}

// splitUTF8 appends the byte sequences of the characters from lo to hi.
func splitUTF8(seqs [][]byteRange, lo, hi rune) [][]byteRange {
	// Cut where the length of the encoding changes.
	for _, top := range [...]rune{0x7f, 0x7ff, 0xffff} {
		if lo <= top && hi > top {
			seqs = splitUTF8(seqs, lo, top)
			return splitUTF8(seqs, top+1, hi)
		}
	}
	// Cut where a continuation byte does not run through all its values.
	for i := 1; i < utf8.RuneLen(hi); i++ {
		mask := rune(1)<<(6*i) - 1
		if lo&^mask == hi&^mask {
			continue
		}
		if lo&mask != 0 {
			seqs = splitUTF8(seqs, lo, lo|mask)
			return splitUTF8(seqs, lo|mask+1, hi)
		}
		if hi&mask != mask {
			seqs = splitUTF8(seqs, lo, hi&^mask-1)
			return splitUTF8(seqs, hi&^mask, hi)
		}
	}
	var a, b [utf8.UTFMax]byte
	n := utf8.EncodeRune(a[:], lo)
	utf8.EncodeRune(b[:], hi)
	seq := make([]byteRange, n)
	for i := range seq {
		seq[i] = byteRange{lo: a[i], hi: b[i]}
	}
	return append(seqs, seq)
}
