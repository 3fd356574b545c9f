package pattern

import (
	"math/rand/v2"
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	for _, c := range []struct {
		pat   string
		s     string
		flags Flags
		want  bool
	}{
		{"", "", 0, true},
		{"", "a", 0, false},
		{"*", "", 0, true},
		{"*", "abc", 0, true},
		{"a*c", "abbbc", 0, true},
		{"a*c", "abbbd", 0, false},
		{"*a*b*", "xxaxxbxx", 0, true},
		{"?", "", 0, false},
		{"?", "\xff", 0, true},
		{"?", "é", 0, false},
		{"?", "é", Wide, true},
		{"??", "é", 0, true},
		{"?", "\xff", Wide, true},
		{`\*`, "*", 0, true},
		{`\*`, "a", 0, false},
		{`a\`, `a\`, 0, true},
		{"[abc]", "b", 0, true},
		{"[!abc]", "b", 0, false},
		{"[^abc]", "d", 0, true},
		{"[]a]", "]", 0, true},
		{"[!]a]", "b", 0, true},
		{"[a-c]", "b", 0, true},
		{"[c-a]", "b", 0, false},
		{"[a-]", "-", 0, true},
		{`[\]]`, "]", 0, true},
		{`[\-a]`, "-", 0, true},
		{"[a", "[a", 0, true},
		{"[", "[", 0, true},
		{"[]", "[]", 0, true},
		{"[[:digit:]]", "5", 0, true},
		{"[[:digit:][:upper:]x]", "x", 0, true},
		{"[![:digit:]]", "5", 0, false},
		{"[[:alpha:]]", "é", Wide, true},
		{"[[:alpha:]]", "\xe9", 0, false},
		{"[[.-.]]", "-", 0, true},
		{"[[=a=]]", "a", 0, true},
		{"[à-é]", "è", Wide, true},
		{"ABC", "abc", NoCase, true},
		{"[A-C]", "b", NoCase, true},
		{"É", "é", NoCase | Wide, true},
		{"@(a|b)", "a", 0, false},
		{"@(a|b)", "@(a|b)", 0, true},
		{"@(a|b)", "b", ExtGlob, true},
		{"@(a|b)", "ab", ExtGlob, false},
		{"?(a|b)c", "c", ExtGlob, true},
		{"?(a|b)c", "ac", ExtGlob, true},
		{"*(ab)", "ababab", ExtGlob, true},
		{"*(ab)", "aba", ExtGlob, false},
		{"+(ab)", "", ExtGlob, false},
		{"!(ab)", "ab", ExtGlob, false},
		{"!(ab)", "abc", ExtGlob, true},
		{"!(ab)", "", ExtGlob, true},
		{"!(*.c)", "x.c", ExtGlob, false},
		{"!(*.c)", "x.h", ExtGlob, true},
		{"*.!(c|h)", "a.b.c", ExtGlob, true},
		{"@(@(a|b)c|d)", "bc", ExtGlob, true},
		{"@()", "", ExtGlob, true},
		{"@(", "@(", ExtGlob, true},
		{"a@(|b)c", "ac", ExtGlob, true},
	} {
		if got := Compile(c.pat, c.flags).Match(c.s); got != c.want {
			t.Errorf("%q matches %q (flags %d): %v", c.pat, c.s, c.flags, got)
		}
	}
}

// naive matches by trying everything: the model.
func naive(p *Pattern, items []item, s string) bool {
	if len(items) == 0 {
		return s == ""
	}
	it, rest := &items[0], items[1:]
	switch it.kind {
	case anyString:
		for i := 0; i <= len(s); i++ {
			if naive(p, rest, s[i:]) {
				return true
			}
		}
		return false
	case group:
		for i := 0; i <= len(s); i++ {
			if naiveGroup(p, it, s[:i], 0) && naive(p, rest, s[i:]) {
				return true
			}
		}
		return false
	}
	if s == "" {
		return false
	}
	r, n := p.flags.next(s)
	return p.one(it, r) && naive(p, rest, s[n:])
}

func naiveGroup(p *Pattern, it *item, s string, depth int) bool {
	one := func(s string) bool {
		for _, alt := range it.alts {
			if naive(p, alt, s) {
				return true
			}
		}
		return false
	}
	switch it.op {
	case '@':
		return one(s)
	case '?':
		return s == "" || one(s)
	case '!':
		return !one(s)
	}
	if s == "" && it.op == '*' || one(s) {
		return true
	}
	for i := 1; i < len(s); i++ {
		if one(s[:i]) && naiveGroup(p, it, s[i:], depth+1) {
			return true
		}
	}
	return false
}

// TestAgainstModel runs random patterns over random subjects, every operation
// beside the model.
func TestAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{"a", "b", "ab", "*", "?", "[ab]", "[!a]", "@(a|b)", "*(a|bb)", "+(ab|b)", "?(a)", "!(a)", "!(*b)", "@(a*|b)", `\*`}
	for range 3000 {
		var pat, s strings.Builder
		for range r.IntN(5) {
			pat.WriteString(pieces[r.IntN(len(pieces))])
		}
		for range r.IntN(7) {
			s.WriteByte("ab*"[r.IntN(3)])
		}
		checkPattern(t, pat.String(), s.String())
		if t.Failed() {
			return
		}
	}
}

func checkPattern(t *testing.T, pat, s string) {
	t.Helper()
	p := Compile(pat, ExtGlob)
	model := func(from, to int) bool { return naive(p, p.items, s[from:to]) }
	if got := p.Match(s); got != model(0, len(s)) {
		t.Errorf("%q matches %q: %v", pat, s, got)
	}
	for _, longest := range []bool{false, true} {
		wantN, wantOK := 0, false
		for i := 0; i <= len(s); i++ {
			if model(0, i) && (longest || !wantOK) {
				wantN, wantOK = i, true
			}
		}
		if n, ok := p.Prefix(s, longest); ok != wantOK || ok && n != wantN {
			t.Errorf("prefix of %q by %q (longest %v): %d %v, want %d %v", s, pat, longest, n, ok, wantN, wantOK)
		}
		wantN, wantOK = 0, false
		for i := len(s); i >= 0; i-- {
			if model(i, len(s)) && (longest || !wantOK) {
				wantN, wantOK = i, true
			}
		}
		if n, ok := p.Suffix(s, longest); ok != wantOK || ok && n != wantN {
			t.Errorf("suffix of %q by %q (longest %v): %d %v, want %d %v", s, pat, longest, n, ok, wantN, wantOK)
		}
	}
	f := p.Finder(s)
	for from := 0; from <= len(s); from++ {
		wantS, wantE, wantOK := 0, 0, false
		for i := from; i <= len(s) && !wantOK; i++ {
			for j := i; j <= len(s); j++ {
				if model(i, j) {
					wantS, wantE, wantOK = i, j, true
				}
			}
		}
		if a, b, ok := f.Next(from); ok != wantOK || ok && (a != wantS || b != wantE) {
			t.Errorf("next of %q in %q from %d: %d %d %v, want %d %d %v", pat, s, from, a, b, ok, wantS, wantE, wantOK)
		}
	}
}

func TestEscape(t *testing.T) {
	for _, s := range []string{"", "abc", "*?[]\\", "@(a|b)", "a-b^c!", "\xff é"} {
		e := Escape(s)
		if !Compile(e, ExtGlob|Wide).Match(s) || Unescape(e) != s {
			t.Errorf("%q escaped is %q", s, e)
		}
		if lit, ok := Compile(e, ExtGlob).Literal(); !ok || lit != s {
			t.Errorf("%q is no literal: %q", e, lit)
		}
	}
}

func TestHasMeta(t *testing.T) {
	for s, want := range map[string]bool{"abc": false, "a*": true, "a?": true, "[a]": true, "[a": false, "a]": false, `\*`: false, "@(a)": false, "]a[": false} {
		if HasMeta(s, false) != want {
			t.Errorf("%q: %v", s, !want)
		}
	}
	if !HasMeta("@(a)", true) {
		t.Error("no extended form")
	}
}

// TestHostile: what takes exponential time elsewhere ends, and Tick is asked.
func TestHostile(t *testing.T) {
	ticks := 0
	zeros := strings.Repeat("0", 20000)
	for _, pat := range []string{
		strings.Repeat("*0", 50) + "1", "*(*(0)*(0)*(0))1", "+(+(+(0)))1", strings.Repeat("@(", 5000), strings.Repeat("!(", 150) + "0" + strings.Repeat(")", 150),
	} {
		s := zeros
		if strings.HasPrefix(pat, "!") {
			s = zeros[:4]
		}
		p := Compile(pat, ExtGlob)
		p.Tick = func() { ticks++ }
		p.Match(s)
		p.Prefix(s, true)
		p.Suffix(s, false)
		p.Finder(s).Next(0)
	}
	if ticks == 0 {
		t.Error("Tick was never called")
	}
}

func FuzzPattern(f *testing.F) {
	for _, s := range []string{"*a?[b-d]", "@(a|*(b))", "[[:alpha:]", "!(a)\\", "[]-]"} {
		f.Add(s, "abc")
	}
	f.Fuzz(func(t *testing.T, pat, s string) {
		if len(s) > 20 || len(pat) > 20 {
			return
		}
		for flags := Flags(0); flags < 8; flags++ {
			p := Compile(pat, flags)
			p.Match(s)
			p.Prefix(s, true)
			p.Suffix(s, true)
			p.Finder(s).Next(0)
		}
	})
}
