package rg

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

// newFilter makes, of a pattern of package regexp, an expression of the faster
// kind that matches at least the same lines: bytes that are not ASCII are all
// one to it, and so are boundaries. nil when it would be too large. whole says
// that the pattern is but text.
func newFilter(pattern string) (f *regex.Regexp, whole bool) {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, false
	}
	re = re.Simplify()
	whole = re.Op == syntax.OpLiteral && re.Flags&syntax.FoldCase == 0
	var b strings.Builder
	writeFilter(&b, re)
	const most = 1 << 14
	if b.Len() > most {
		return nil, false
	}
	f, err = regex.Compile(b.String(), regex.Extended, 0)
	if err != nil {
		return nil, false
	}
	return f, whole
}

// high matches a character that is not ASCII, or bytes that are none.
const high = "[\x80-\xff]+"

func writeFilter(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			writeRune(b, r, re.Flags&syntax.FoldCase != 0)
		}
	case syntax.OpCharClass:
		writeClass(b, re.Rune)
	case syntax.OpAnyCharNotNL, syntax.OpAnyChar:
		b.WriteString("([\x00-\x7f]|" + high + ")")
	case syntax.OpBeginLine:
		b.WriteString("^")
	case syntax.OpEndLine:
		b.WriteString("$")
	case syntax.OpCapture:
		writeFilter(b, re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		b.WriteString("(")
		writeFilter(b, re.Sub[0])
		b.WriteString(")")
		switch {
		case re.Op == syntax.OpStar:
			b.WriteString("*")
		case re.Op == syntax.OpPlus:
			b.WriteString("+")
		case re.Op == syntax.OpQuest:
			b.WriteString("?")
		case re.Max < 0:
			fmt.Fprintf(b, "{%d,}", re.Min)
		default:
			fmt.Fprintf(b, "{%d,%d}", re.Min, re.Max)
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			writeFilter(b, sub)
		}
	case syntax.OpAlternate:
		b.WriteString("(")
		for i, sub := range re.Sub {
			if i > 0 {
				b.WriteString("|")
			}
			writeFilter(b, sub)
		}
		b.WriteString(")")
	default:
		// Boundaries, the ends of the text, the empty match and none at all.
		b.WriteString("()")
	}
}

// writeRune writes a character, in either case if asked for.
func writeRune(b *strings.Builder, r rune, fold bool) {
	if r >= 0x80 {
		if fold {
			// k and s have kin beyond ASCII, and the other way round.
			b.WriteString("([ks]|[KS]|" + high + ")")
			return
		}
		b.WriteString(string(r))
		return
	}
	if !fold || !unicode.IsLetter(r) {
		writeByte(b, byte(r))
		return
	}
	lower := byte(r) | 0x20
	upper := lower &^ 0x20
	if lower == 'k' || lower == 's' {
		fmt.Fprintf(b, "([%c%c]|%s)", lower, upper, high)
		return
	}
	fmt.Fprintf(b, "[%c%c]", lower, upper)
}

// writeByte writes a byte that stands for itself.
func writeByte(b *strings.Builder, c byte) {
	if strings.IndexByte(`\^$.[]|()*+?{}`, c) >= 0 {
		b.WriteByte('\\')
	}
	b.WriteByte(c)
}

// writeClass writes a class, given as pairs of ends.
func writeClass(b *strings.Builder, ranges []rune) {
	var parts []string
	wide := false
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := ranges[i], ranges[i+1]
		if hi >= 0x80 {
			wide = true
			hi = 0x7f
		}
		for c := lo; c <= hi; c++ {
			var one strings.Builder
			writeByte(&one, byte(c))
			parts = append(parts, one.String())
		}
	}
	if len(parts) > 8 {
		parts = []string{bracketOf(ranges)}
	}
	if wide {
		parts = append(parts, high)
	}
	if len(parts) == 0 {
		b.WriteString("()")
		return
	}
	b.WriteString("(" + strings.Join(parts, "|") + ")")
}

// bracketOf is the ASCII part of a class as a bracket expression, in which ], ^
// and - have their places.
func bracketOf(ranges []rune) string {
	var in [0x80]bool
	for i := 0; i+1 < len(ranges); i += 2 {
		for c := ranges[i]; c <= min(ranges[i+1], 0x7f); c++ {
			in[c] = true
		}
	}
	var b strings.Builder
	b.WriteString("[")
	if in[']'] {
		b.WriteString("]")
	}
	for c := range in {
		if in[c] && c != ']' && c != '^' && c != '-' && c != '[' {
			b.WriteByte(byte(c))
		}
	}
	if in['['] {
		b.WriteString("[")
	}
	if in['^'] {
		b.WriteString("^")
	}
	if in['-'] {
		b.WriteString("-")
	}
	b.WriteString("]")
	return b.String()
}
