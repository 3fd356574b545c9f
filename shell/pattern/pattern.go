// Package pattern matches shell patterns: * ? [...] and, when asked for, the
// extended forms ?(a|b) *(a) +(a) @(a) !(a). A backslash makes the next
// character stand for itself.
//
//	p := pattern.Compile("*.@(c|h)", pattern.ExtGlob)
//	p.Match("main.c")           // true
//	n, ok := p.Prefix(s, true)  // longest prefix of s that matches
//
// Subjects are bytes: with Wide, valid UTF-8 sequences are single characters,
// and every other byte is one.
//
// # Cost
//
// A pattern without extended forms matches in time proportional to the lengths
// of pattern and subject multiplied, and allocates nothing. Extended forms work on
// sets of positions, so that no pattern takes exponential time; nesting of !( )
// costs a factor of the subject's length each. Tick is called every few
// thousand steps and may panic to give up.
package pattern

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Flags choose the kind of pattern.
type Flags uint8

// The flags.
const (
	ExtGlob Flags = 1 << iota // ?( ) and its kin
	NoCase                    // letters match in either case
	Wide                      // UTF-8 characters, not bytes
)

// Pattern is a compiled pattern. It never changes.
type Pattern struct {
	items []item
	flags Flags
	// literal is what the pattern stands for when it has no special character.
	literal   string
	isLiteral bool
	extended  bool // it has a group
	fixed     bool // neither star nor group
	minLen    int  // bytes a match has at least
	// Tick, if set, is called now and then during a long match.
	Tick func()
}

type itemKind uint8

const (
	char itemKind = iota
	anyChar
	anyString
	bracket
	group
)

// item is one element of a pattern.
type item struct {
	kind itemKind
	r    rune // char; negative: the byte -r that is no valid UTF-8
	set  *charSet
	op   byte     // group: ? * + @ !
	alts [][]item // group
}

// Compile compiles a pattern. There is no wrong one: what is not well formed
// stands for itself.
func Compile(s string, flags Flags) *Pattern {
	p := &Pattern{flags: flags}
	c := compiler{s: s, flags: flags}
	p.items = c.sequence(false)
	p.isLiteral = flags&NoCase == 0
	p.fixed = true
	var b strings.Builder
	for i := range p.items {
		it := &p.items[i]
		p.extended = p.extended || it.kind == group
		p.fixed = p.fixed && it.kind != group && it.kind != anyString
		if it.kind != char {
			p.isLiteral = false
			continue
		}
		writeRune(&b, it.r)
	}
	for i := range p.items {
		if k := p.items[i].kind; k == char || k == anyChar || k == bracket {
			p.minLen++
		}
	}
	if p.isLiteral {
		p.literal = b.String()
	}
	return p
}

func writeRune(b *strings.Builder, r rune) {
	if r < 0 {
		b.WriteByte(byte(-r))
	} else {
		b.WriteRune(r)
	}
}

// Literal returns the text that is the only match, if there is such a one.
func (p *Pattern) Literal() (string, bool) { return p.literal, p.isLiteral }

// HasMeta reports whether a string has a character that is special in a
// pattern, not escaped: the cheap question whether to compile at all.
func HasMeta(s string, ext bool) bool {
	bracket := -1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '*', '?':
			return true
		case '[':
			if bracket < 0 {
				bracket = i
			}
		case ']':
			if bracket >= 0 {
				return true
			}
		case '+', '@', '!':
			if ext && i+1 < len(s) && s[i+1] == '(' {
				return true
			}
		}
	}
	return false
}

// Escape puts a backslash before every character that may be special.
func Escape(s string) string {
	if strings.IndexAny(s, special) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if strings.IndexByte(special, s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

const special = `*?[]\+@!()|-^`

// Unescape removes the backslashes of a pattern that has no special character.
func Unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// next returns the first character of s and its length.
func (f Flags) next(s string) (rune, int) {
	c := s[0]
	if c < utf8.RuneSelf {
		return rune(c), 1
	}
	if f&Wide == 0 {
		return -rune(c), 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return -rune(c), 1
	}
	return r, n
}

func fold(r rune) rune {
	if r < 0 {
		return r
	}
	return unicode.ToLower(r)
}

// one matches one character against an item that takes exactly one.
func (p *Pattern) one(it *item, r rune) bool {
	switch it.kind {
	case anyChar:
		return true
	case char:
		return it.r == r || p.flags&NoCase != 0 && fold(it.r) == fold(r)
	case bracket:
		return it.set.match(r, p.flags&NoCase != 0)
	}
	return false
}

// Match reports whether the whole of s matches.
func (p *Pattern) Match(s string) bool {
	if p.isLiteral {
		return s == p.literal
	}
	if len(s) < p.minLen {
		return false
	}
	if p.extended {
		m := newMatcher(p, s)
		return m.ends(p.items, 0).has(len(s))
	}
	return p.simple(s)
}

// simple matches without extended forms: on a mismatch the last star takes one
// more character.
func (p *Pattern) simple(s string) bool {
	items := p.items
	i, j := 0, 0
	star, mark := -1, 0
	steps := 0
	for j < len(s) {
		if steps++; steps&0xfff == 0 && p.Tick != nil {
			p.Tick()
		}
		if i < len(items) {
			if items[i].kind == anyString {
				star, mark = i, j
				i++
				continue
			}
			if r, n := p.flags.next(s[j:]); p.one(&items[i], r) {
				i++
				j += n
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, n := p.flags.next(s[mark:])
		mark += n
		i, j = star+1, mark
	}
	for i < len(items) && items[i].kind == anyString {
		i++
	}
	return i == len(items)
}

// Prefix finds the longest or the shortest prefix of s that matches and returns
// its length.
func (p *Pattern) Prefix(s string, longest bool) (int, bool) {
	if p.isLiteral {
		return len(p.literal), strings.HasPrefix(s, p.literal)
	}
	return pick(newMatcher(p, s).ends(p.items, 0), longest)
}

// pick returns the largest or smallest member of a set.
func pick(b bits, longest bool) (int, bool) {
	if longest {
		return b.max()
	}
	return b.min()
}

// Suffix finds the longest or the shortest suffix of s that matches and
// returns where it starts.
func (p *Pattern) Suffix(s string, longest bool) (int, bool) {
	if p.isLiteral {
		return len(s) - len(p.literal), strings.HasSuffix(s, p.literal)
	}
	return pick(newMatcher(p, s).starts(p.items, len(s)), !longest)
}

// Finder finds the matches of a pattern in one subject.
type Finder struct {
	p *Pattern
	s string
	m *matcher
	// starts are the offsets where a match starts, once they are known.
	starts bits
}

// Finder returns a Finder for a subject.
func (p *Pattern) Finder(s string) *Finder { return &Finder{p: p, s: s} }

// Next returns the leftmost match that starts at from or later, the longest of
// those that start there; empty matches count.
func (f *Finder) Next(from int) (start, end int, ok bool) {
	p := f.p
	switch {
	case p.isLiteral:
		i := strings.Index(f.s[from:], p.literal)
		return from + i, from + i + len(p.literal), i >= 0
	case p.fixed:
		return f.fixed(from)
	}
	if f.m == nil {
		f.m = newMatcher(p, f.s)
		all := newBits(len(f.s))
		for i := 0; i <= len(f.s); i++ {
			all.add(i)
		}
		f.starts = f.m.backward(p.items, all)
	}
	start, ok = f.starts.from(from)
	if !ok {
		return 0, 0, false
	}
	end, ok = f.m.longest(p.items, start)
	return start, end, ok
}

// fixed is Next for a pattern that always takes the same number of characters.
func (f *Finder) fixed(from int) (start, end int, ok bool) {
	p := f.p
	for start = from; start <= len(f.s); {
		if start&0xfff == 0 && p.Tick != nil {
			p.Tick()
		}
		if n, ok := p.matchAt(f.s[start:]); ok {
			return start, start + n, true
		}
		if start == len(f.s) {
			break
		}
		_, n := p.flags.next(f.s[start:])
		start += n
	}
	return 0, 0, false
}

// matchAt matches a pattern without stars and groups at the start of s.
func (p *Pattern) matchAt(s string) (int, bool) {
	at := 0
	for i := range p.items {
		if at >= len(s) {
			return 0, false
		}
		r, n := p.flags.next(s[at:])
		if !p.one(&p.items[i], r) {
			return 0, false
		}
		at += n
	}
	return at, true
}
