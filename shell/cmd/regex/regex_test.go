package regex

import (
	"context"
	"errors"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// find returns the groups of the first match, as text.
func find(t *testing.T, pattern string, syntax Syntax, flags Flags, text string) []string {
	t.Helper()
	re, err := Compile(pattern, syntax, flags)
	if err != nil {
		return []string{"error: " + err.Error()}
	}
	loc, err := re.FindGroups(context.Background(), []byte(text), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	ok, err := re.Match(context.Background(), []byte(text))
	if err != nil || ok != (loc != nil) {
		t.Errorf("%q on %q: Match %v %v, FindGroups %v", pattern, text, ok, err, loc)
	}
	var out []string
	for i := 0; i < len(loc); i += 2 {
		if loc[i] < 0 {
			out = append(out, "-")
		} else {
			out = append(out, text[loc[i]:loc[i+1]])
		}
	}
	return out
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		syntax  Syntax
		flags   Flags
		pattern string
		text    string
		want    []string
	}{
		{Extended, 0, `(a|ab)(c|bcd)(d*)`, "abcd", []string{"abcd", "a", "bcd", ""}},
		{Extended, 0, `((a)|(b))*`, "ab", []string{"ab", "b", "a", "b"}},
		{Extended, 0, `(a|aa)*`, "aaa", []string{"aaa", "a"}},
		{Extended, 0, `(a{1,2})(a{1,2})(a*)`, "aaaa", []string{"aaaa", "aa", "aa", ""}},
		{Extended, 0, `(ab|a)(bab)?`, "ababx", []string{"abab", "a", "bab"}},
		{Extended, 0, `abcd|bc`, "abce", []string{"bc"}},
		{Extended, 0, `abcd|bc`, "xabcd", []string{"abcd"}},
		{Extended, 0, `(a*)*`, "b", []string{"", ""}},
		{Extended, 0, `(a*)+`, "b", []string{"", ""}},
		{Extended, 0, `x*`, "aaa", []string{""}},
		{Extended, 0, `\<foo\>`, "foobar foo", []string{"foo"}},
		{Extended, 0, `a$`, "ba\na", []string{"a"}},
		{Extended, Multiline, `^(.)$`, "ba\na\nb", []string{"a", "a"}},
		{Extended, 0, `(.)\1`, "abccd", []string{"cc", "c"}},
		{Extended, 0, "^(.*)\n\\1$", "ab\nab", []string{"ab\nab", "ab"}},
		{Basic, 0, `\(a*\)\1`, "aaaaa", []string{"aaaa", "aa"}},
		{Basic, IgnoreCase, `\(ab\)\1`, "xAbaB", []string{"AbaB", "Ab"}},
		{Basic, UTF8, `^.$`, "é", []string{"é"}},
		{Basic, UTF8, `^.$`, "\xe9", nil},
		{Basic, 0, `^.$`, "\xe9", []string{"\xe9"}},
		{Basic, 0, `^..$`, "é", []string{"é"}},
		{Basic, UTF8, `[^a]`, "a\xff\xe9é", []string{"é"}},
		{Basic, UTF8, "\xff", "a\xff", []string{"\xff"}},
		{Basic, UTF8, `\<é`, "aé é", []string{"é"}},
		{Basic, UTF8, `\bb`, "éb-b", []string{"b"}},
		{Basic, UTF8, `\w*`, "naïve!", []string{"naïve"}},
		{Basic, UTF8, `[[:alpha:]]\+`, "12 ÄÖ中x", []string{"ÄÖ中x"}},
		{Basic, UTF8 | IgnoreCase, `äß`, "xÄß", []string{"Äß"}},
		{Basic, UTF8 | IgnoreCase, `[[:upper:]]*`, "abC", []string{"abC"}},
		{Basic, 0, `a\{2\}`, "aaa", []string{"aa"}},
		{Basic, 0, `*a`, "b*a", []string{"*a"}},
		{Basic, 0, `\(*a\)`, "b*a", []string{"*a", "*a"}},
		{Basic, 0, `a^b$c`, "a^b$c", []string{"a^b$c"}},
		{Basic, 0, `\(^a\)`, "ba", nil},
		{Basic, 0, `a\|b`, "xb", []string{"b"}},
		{Basic, 0, `[]a]*`, "a]]b", []string{"a]]"}},
		{Basic, 0, `[^]a]*`, "b-]", []string{"b-"}},
		{Basic, 0, `[a\]*]`, `a\]`, []string{`a\]`}},
		{Basic, 0, `[a-c-]*`, `ab-c-d`, []string{`ab-c-`}},
		{Basic, 0, `[[.-.]a]*`, `a-b`, []string{`a-`}},
		{Grep, WholeWord, `foo\|foob`, "foobar foob", []string{"foob"}},
		{Grep, WholeWord, `a*`, "aab aa", []string{"aa"}},
		{Grep, WholeLine, `foo\|foob`, "foob", []string{"foob"}},
		{GrepExtended, 0, `{1`, "x{1", []string{"{1"}},
		{GrepExtended, 0, `{1}a`, "xa", []string{"a"}},
		{GrepExtended, 0, `a{1`, "a{1", []string{"a{1"}},
		{GrepExtended, 0, `a)`, "a)", []string{"a)"}},
		{Awk, 0, `a{,2}`, "aaa", []string{"aa"}},
		{Awk, 0, `\y\/\.[\]x]+\y`, "a/.]x", []string{"/.]x"}},
		{Awk, 0, `a\tb\056c`, "a\tb.c", []string{"a\tb.c"}},
		{Awk, 0, `+a`, "+a", []string{"+a"}},
	} {
		got := find(t, c.pattern, c.syntax, c.flags, c.text)
		if len(got) != len(c.want) {
			t.Errorf("%q on %q: %q, want %q", c.pattern, c.text, got, c.want)
			continue
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%q on %q: %q, want %q", c.pattern, c.text, got, c.want)
				break
			}
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []struct {
		syntax  Syntax
		pattern string
		want    error
	}{
		{Extended, `a{1`, ErrBrace}, {Extended, `a{`, ErrBrace}, {Extended, `{1`, ErrRepeat},
		{Extended, `a{x`, ErrBrace}, {Extended, `a{x}`, ErrBadBrace}, {Extended, `a{}`, ErrBadBrace},
		{Extended, `*a`, ErrRepeat}, {Extended, `(*a)`, ErrRepeat}, {Extended, `a|*b`, ErrRepeat},
		{Extended, `^*`, ErrRepeat}, {Extended, `a)`, ErrCloseParen}, {Extended, `(a`, ErrParen},
		{Extended, `a{2,1}`, ErrBadBrace}, {Extended, `a{99999}`, ErrSize}, {Extended, `\1`, ErrBackref},
		{Extended, `(a)\2`, ErrBackref}, {Extended, `(a\1)`, ErrBackref}, {Extended, `((a{999}){999}){999}`, ErrSize},
		{Basic, `a**`, ErrRepeat}, {Basic, `\{1\}`, ErrRepeat}, {Basic, `\(`, ErrParen}, {Basic, `\)`, ErrCloseParen},
		{Basic, `a\{1`, ErrBrace}, {Basic, `a\`, ErrEscape}, {Basic, `[a`, ErrBracket}, {Basic, `[]`, ErrBracket},
		{Basic, `[z-a]`, ErrRange}, {Basic, `[[:foo:]]`, ErrClassName}, {Basic, `[[.space.]]`, ErrCollate},
		{GrepExtended, `(a`, ErrParen}, {GrepExtended, `a{2,1}`, ErrBadBrace},
		{Awk, `(a`, ErrParen}, {Awk, `[a`, ErrBracket},
	} {
		if _, err := Compile(c.pattern, c.syntax, 0); err != c.want {
			t.Errorf("%q: %v, want %v", c.pattern, err, c.want)
		}
	}
	if _, err := Compile("[:space:]", Grep, StrictClass); err != ErrClassSyntax {
		t.Errorf("[:space:]: %v", err)
	}
}

// randomPattern writes a pattern that means the same to package regexp.
func randomPattern(r *rand.Rand, depth int) string {
	switch n := r.IntN(12); {
	case n < 4 || depth == 0:
		return string("abc"[r.IntN(3)])
	case n == 4:
		return "."
	case n == 5:
		return []string{"[ab]", "[^a]", "^", "$", "é", "[é-ü]"}[r.IntN(6)]
	case n < 8:
		return randomPattern(r, depth-1) + randomPattern(r, depth-1)
	case n == 8:
		return "(" + randomPattern(r, depth-1) + "|" + randomPattern(r, depth-1) + ")"
	case n == 9:
		return "(" + randomPattern(r, depth-1) + ")"
	}
	return "(" + randomPattern(r, depth-1) + ")" + []string{"*", "+", "?", "{2}", "{1,2}", "{0,3}"}[r.IntN(6)]
}

// TestRandom compares spans with package regexp, and any two searches with each
// other.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 4000 {
		pattern := randomPattern(r, 5)
		std, err := regexp.Compile(pattern)
		if err != nil {
			t.Fatal(err)
		}
		std.Longest()
		re, err := Compile(pattern, Extended, UTF8)
		if err != nil {
			t.Fatalf("%q: %v", pattern, err)
		}
		for range 8 {
			var b strings.Builder
			for range r.IntN(12) {
				b.WriteString([]string{"a", "b", "c", "é", "\n"}[r.IntN(5)])
			}
			text := b.String()
			want := std.FindStringIndex(text)
			got, err := re.FindGroups(context.Background(), []byte(text), 0, nil)
			if err != nil {
				t.Fatalf("%q on %q: %v", pattern, text, err)
			}
			// Package regexp's dot does not match a newline.
			if strings.Contains(text, "\n") && strings.Contains(pattern, ".") {
				continue
			}
			if (got == nil) != (want == nil) || got != nil && (got[0] != want[0] || got[1] != want[1]) {
				t.Fatalf("%q on %q: %v, want %v", pattern, text, got, want)
			}
			var c captures
			if got != nil {
				other := make([]int, len(got))
				c.slots = make([]int, re.prog.slots)
				for i := range c.slots {
					c.slots[i] = -1
				}
				if err := c.simulate(context.Background(), re.prog, []byte(text), got[0], got[1]); err != nil {
					t.Fatal(err)
				}
				copy(other, c.slots)
				for i := 2; i < len(got); i++ {
					if got[i] != other[i] {
						t.Fatalf("%q on %q: groups %v, simulated %v", pattern, text, got, other)
					}
				}
			}
		}
	}
}

// TestCatastrophe tries what takes other matchers for ever.
func TestCatastrophe(t *testing.T) {
	text := []byte(strings.Repeat("a", 1<<16) + "b")
	for _, pattern := range []string{`(a*)*c`, `(a|aa)+$`, `(a?){100}a{100}c`, `(.*)(.*)(.*)(.*)x`, `(a+)+c`} {
		if got, err := must(t, pattern).FindGroups(context.Background(), text, 0, nil); got != nil || err != nil {
			t.Errorf("%q: %v %v", pattern, got, err)
		}
	}
	hard := must(t, `(a*)*(a*)*(a*)*\1c`)
	if _, err := hard.Match(context.Background(), text[:64]); err != nil {
		t.Errorf("the automaton knows that there is no c: %v", err)
	}
	_, err := must(t, `^((a|b)*)*-\1$`).Match(context.Background(), []byte(strings.Repeat("a", 60)+"-b"))
	if !errors.Is(err, ErrTooComplex) {
		t.Errorf("got %v, want %v", err, ErrTooComplex)
	}
}

func must(t testing.TB, pattern string) *Regexp {
	t.Helper()
	re, err := Compile(pattern, Extended, 0)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

// TestCancel shows that a matcher gives up with its context.
func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := must(t, `(a|b)*c`).Match(ctx, []byte("ab")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestLiterals(t *testing.T) {
	re, err := Literals([]string{"abc", "ab", "x", "abd", "É", "ab"}, UTF8|IgnoreCase)
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{"zabd": "abd", "zabe": "ab", "X": "X", "aé": "é"} {
		s, e, err := re.Find(context.Background(), []byte(text), 0)
		if err != nil || s < 0 || text[s:e] != want {
			t.Errorf("%q: %d %d %v, want %q", text, s, e, err, want)
		}
	}
	if lit, exact := must(t, "x+(foo)bar[a-z]").Required(); string(lit) != "foobar" || exact {
		t.Errorf("required %q %v", lit, exact)
	}
	if lit, exact := must(t, "foo").Required(); string(lit) != "foo" || !exact {
		t.Errorf("required %q %v", lit, exact)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{`a\(b\)*\1`, `[[:alpha:]-]{2,3}|^$`, `\<x\>`} {
		for syntax := Basic; syntax <= Emacs; syntax++ {
			f.Add(s, "abab x", byte(syntax), uint16(3))
		}
	}
	f.Fuzz(func(t *testing.T, pattern, text string, syntax byte, flags uint16) {
		re, err := Compile(pattern, Syntax(syntax%byte(Emacs+1)), Flags(flags&0x7f))
		if err != nil {
			return
		}
		loc, err := re.FindGroups(context.Background(), []byte(text), 0, nil)
		if err != nil && !errors.Is(err, ErrTooComplex) {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(loc); i += 2 {
			if loc[i] > loc[i+1] || loc[i+1] > len(text) || (loc[i] < 0) != (loc[i+1] < 0) {
				t.Fatalf("loc %v", loc)
			}
		}
	})
}

func BenchmarkMatch(b *testing.B) {
	text := []byte(strings.Repeat("the quick brown fox jumps over the lazy dog ", 1000))
	for _, pattern := range []string{`[a-z]+ing\>`, `(foo|bar)baz`, `q[^u]`, `[0-9]{3}-[0-9]{4}`} {
		b.Run(pattern, func(b *testing.B) {
			re, err := Compile(pattern, Extended, UTF8)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if ok, err := re.Match(context.Background(), text); ok || err != nil {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
