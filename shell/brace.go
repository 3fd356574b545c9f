package shell

import (
	"math"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// brace expands a word's braces, and then each word that comes of it.
func (e *expander) brace(w *syntax.Word) {
	if !e.s.opts.on(optBraceexpand) || !hasBraces(w.Parts) {
		e.word(w)
		return
	}
	e.braceParts(w.Parts, nil, func(parts []syntax.WordPart) {
		e.s.tick()
		e.word(&syntax.Word{Parts: joinLits(parts)})
	})
}

func hasBraces(parts []syntax.WordPart) bool {
	for _, p := range parts {
		if _, ok := p.(*syntax.BraceExp); ok {
			return true
		}
	}
	return false
}

// braceParts calls f for every combination, the leftmost braces slowest.
func (e *expander) braceParts(parts, done []syntax.WordPart, f func([]syntax.WordPart)) {
	for i, p := range parts {
		b, ok := p.(*syntax.BraceExp)
		if !ok {
			done = append(done[:len(done):len(done)], p)
			continue
		}
		rest := parts[i+1:]
		if b.Sequence {
			e.sequence(b, func(lit syntax.WordPart) {
				e.braceParts(rest, append(done[:len(done):len(done)], lit), f)
			})
			return
		}
		for _, w := range b.Elems {
			e.braceParts(w.Parts, done, func(head []syntax.WordPart) {
				e.braceParts(rest, head, f)
			})
		}
		return
	}
	f(done)
}

// joinLits joins neighbouring literals, so that a tilde-prefix or a pattern
// that the braces cut is whole again. A literal after $name makes the name
// longer: brace expansion works on the text.
func joinLits(parts []syntax.WordPart) []syntax.WordPart {
	out := make([]syntax.WordPart, 0, len(parts))
	for _, p := range parts {
		l, ok := p.(*syntax.Lit)
		if n := len(out); ok && n > 0 {
			if pe, short := out[n-1].(*syntax.ParamExp); short && pe.Short && validName(pe.Param.Value) {
				if k := nameBytes(l.Value); k > 0 {
					c := *pe
					c.Param = &syntax.Lit{Value: pe.Param.Value + l.Value[:k]}
					out[n-1] = &c
					if k == len(l.Value) {
						continue
					}
					l = &syntax.Lit{ValuePos: l.ValuePos, Value: l.Value[k:]}
					p = l
				}
			}
			if prev, ok := out[n-1].(*syntax.Lit); ok {
				c := *prev
				c.Value += l.Value
				out[n-1] = &c
				continue
			}
		}
		out = append(out, p)
	}
	return out
}

// sequence yields the elements of {x..y..step}.
func (e *expander) sequence(b *syntax.BraceExp, f func(syntax.WordPart)) {
	text := func(i int) string {
		if i < len(b.Elems) {
			return wordSource(b.Elems[i])
		}
		return ""
	}
	from, to := text(0), text(1)
	step, _ := strconv.ParseInt(text(2), 10, 64)
	if step < 0 {
		step = -step
	}
	if step <= 0 {
		step = 1
	}
	a, err1 := strconv.ParseInt(from, 10, 64)
	z, err2 := strconv.ParseInt(to, 10, 64)
	if err1 != nil || err2 != nil {
		for _, n := range steps(int64(from[0]), int64(to[0]), step) {
			f(charPart(byte(n)))
		}
		return
	}
	if !countable(a, z, step) {
		f(&syntax.Lit{Value: braceSource(b)})
		return
	}
	width := 0
	if padded(from) || padded(to) {
		width = max(len(from), len(to))
	}
	up := a <= z
	for n := a; ; {
		e.s.tick()
		f(&syntax.Lit{Value: pad(n, width)})
		if up {
			if z-n < step {
				return
			}
			n += step
		} else {
			if n-z < step {
				return
			}
			n -= step
		}
	}
}

// countable reports whether Bash would make all the elements of a..z: otherwise
// the braces stay.
func countable(a, z, step int64) bool {
	if a < 0 && z > math.MaxInt64-2+a || a > 0 && z < math.MinInt64+3+a {
		return false
	}
	return max(z-a, a-z)/step <= math.MaxInt32-3
}

func steps(a, z, step int64) []int64 {
	var out []int64
	if a <= z {
		for n := a; n <= z; n += step {
			out = append(out, n)
		}
		return out
	}
	for n := a; n >= z; n -= step {
		out = append(out, n)
	}
	return out
}

// charPart is a character of a sequence, quoted if it could mean something.
func charPart(c byte) syntax.WordPart {
	if isNameByte(c) {
		return &syntax.Lit{Value: string(rune(c))}
	}
	if c == '\\' {
		return &syntax.SglQuoted{} // it quotes the nothing that follows
	}
	return &syntax.SglQuoted{Value: string(rune(c))}
}

// nameBytes is how many bytes of a name s starts with.
func nameBytes(s string) int {
	n := 0
	for n < len(s) && isNameByte(s[n]) {
		n++
	}
	return n
}

func isNameByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// padded reports whether a number was written with leading zeros.
func padded(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return len(s) > 1 && s[0] == '0'
}

// pad writes a number in at least width characters.
func pad(n int64, width int) string {
	s := strconv.FormatInt(n, 10)
	if len(s) >= width {
		return s
	}
	if n < 0 {
		return "-" + strings.Repeat("0", width-len(s)) + s[1:]
	}
	return strings.Repeat("0", width-len(s)) + s
}
