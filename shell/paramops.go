package shell

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/parse"
	"github.com/vfsd/vfsd/shell/pattern"
)

// charLen is the length of the first character of s, where an invalid byte is
// one.
func charLen(s string) int {
	if s == "" {
		return 0
	}
	if s[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// ascii reports whether a string has only ASCII.
func ascii(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// chars counts characters in the state's locale.
func (s *state) chars(text string) int {
	if ascii(text) || !s.wide() {
		return len(text)
	}
	return utf8.RuneCountInString(text)
}

// patternFlags are the flags for matching in the state's locale. Outside of
// [[ ]] extended forms count only when they are switched on.
func (s *state) patternFlags(nocase bool) pattern.Flags {
	var f pattern.Flags
	if s.opts.shopts(shoptExtglob) {
		f |= pattern.ExtGlob
	}
	if nocase {
		f |= pattern.NoCase
	}
	if s.wide() {
		f |= pattern.Wide
	}
	return f
}

// pattern compiles a pattern whose long matches can be ended.
func (s *state) pattern(text string, f pattern.Flags) *pattern.Pattern {
	p := pattern.Compile(text, f)
	p.Tick = s.tick
	return p
}

// each replaces every value of a parameter.
func (p *parameter) each(f func(string) string) {
	if !p.list {
		p.val = f(p.val)
		return
	}
	vals := make([]string, len(p.vals))
	for i, v := range p.vals {
		vals[i] = f(v)
	}
	p.vals = vals
}

// slice is ${x:offset:length}.
func (s *state) slice(sl *syntax.Slice, p *parameter) {
	if !p.set && (!p.list || p.has) {
		return // the expressions are not even looked at
	}
	off, ok := s.arithmetic(s.expandArith(sl.Offset), p.name+": ")
	if !ok {
		s.dropLine(1)
	}
	length, lengthText, has := int64(0), "", sl.Length != nil
	if has {
		lengthText = s.expandArith(sl.Length)
		if length, ok = s.arithmetic(lengthText, p.name+": "); !ok {
			s.dropLine(1)
		}
	}
	if p.list {
		s.sliceList(p, off, length, lengthText, has)
		return
	}
	text := p.val
	wide := !ascii(text) && s.wide()
	n := int64(len(text))
	if wide {
		n = int64(utf8.RuneCountInString(text))
	}
	if off < 0 {
		off += n
	}
	if off < 0 || off > n {
		p.val = ""
		return
	}
	end := n
	if has {
		if end = off + length; length < 0 {
			if end = n + length; end < off {
				s.errorf("%s: substring expression < 0", lengthText)
				s.dropLine(1)
			}
		}
		end = min(end, n)
	}
	if wide {
		p.val = string(runeSlice(text, int(off), int(end)))
		return
	}
	p.val = text[off:end]
}

// runeSlice takes the characters from start to end.
func runeSlice(text string, start, end int) string {
	i, from := 0, len(text)
	for at := 0; at < len(text); i++ {
		if i == start {
			from = at
		}
		if i == end {
			return text[from:at]
		}
		at += charLen(text[at:])
	}
	return text[from:]
}

// sliceList takes some of the values; of an array by index, of the positional
// parameters with $0 as the first.
func (s *state) sliceList(p *parameter, off, length int64, lengthText string, has bool) {
	vals := p.vals
	n := int64(len(vals))
	top := n
	if p.name == "@" || p.name == "*" {
		vals = append([]string{s.arg0}, vals...)
		n++
		top = n
	} else if p.v != nil && p.v.arr != nil {
		top = p.v.arr.max() + 1
	}
	if off < 0 {
		off += top
	}
	if off < 0 || off > top {
		p.vals = nil
		return
	}
	if has && length < 0 {
		s.errorf("%s: substring expression < 0", lengthText)
		s.dropLine(1)
	}
	start := off
	if p.v != nil && p.v.arr != nil {
		k, _ := p.v.arr.find(off)
		start = int64(k)
	}
	start = min(start, n)
	end := n
	if has {
		end = min(start+length, n)
	}
	p.vals = vals[start:end]
}

// trim is ${x#pattern} and its kin.
func (s *state) trim(x *syntax.Expansion, p *parameter) {
	pat := s.pattern(s.expandPattern(x.Word), s.patternFlags(false))
	p.each(func(text string) string {
		switch x.Op {
		case syntax.RemSmallPrefix, syntax.RemLargePrefix:
			if n, ok := pat.Prefix(text, x.Op == syntax.RemLargePrefix); ok {
				return text[n:]
			}
		default:
			if n, ok := pat.Suffix(text, x.Op == syntax.RemLargeSuffix); ok {
				return text[:n]
			}
		}
		return text
	})
}

// replace is ${x/pattern/string}.
func (s *state) replace(r *syntax.Replace, p *parameter) {
	text := s.expandPattern(r.Orig)
	anchor := byte(0)
	if !r.All && text != "" && (text[0] == '#' || text[0] == '%') && !quotedStart(r.Orig) {
		anchor, text = text[0], text[1:]
	}
	var with replacement
	if r.With != nil {
		with = s.replacement(r.With)
	}
	if text == "" && anchor == 0 || !p.list && !p.set {
		return
	}
	pat := s.pattern(text, s.patternFlags(s.opts.shopts(shoptNocasematch)))
	p.each(func(v string) string {
		switch anchor {
		case '#':
			if n, ok := pat.Prefix(v, true); ok {
				return with.of(v[:n]) + v[n:]
			}
			return v
		case '%':
			if n, ok := pat.Suffix(v, true); ok {
				return v[:n] + with.of(v[n:])
			}
			return v
		}
		return s.replaceIn(v, pat, &with, r.All)
	})
}

// quotedStart reports whether a word's first character is quoted.
func quotedStart(w *syntax.Word) bool {
	switch x := w.Parts[0].(type) {
	case *syntax.Lit:
		return x.Value[0] == '\\'
	case *syntax.SglQuoted, *syntax.DblQuoted:
		return true
	}
	return false
}

// replaceIn replaces the first match or all of them.
func (s *state) replaceIn(v string, pat *pattern.Pattern, with *replacement, all bool) string {
	var b strings.Builder
	find := pat.Finder(v)
	at := 0
	for at <= len(v) {
		start, end, ok := find.Next(at)
		if !ok || start == len(v) && end == start && v != "" {
			break
		}
		s.tick()
		b.WriteString(v[at:start])
		b.WriteString(with.of(v[start:end]))
		if b.Len() > 1<<16 {
			s.room(b.Len())
		}
		if end == start {
			// An empty match: the next character stays, and the search goes on
			// after it.
			n := charLen(v[start:])
			b.WriteString(v[start : start+n])
			end += n
			if n == 0 {
				return b.String()
			}
		}
		at = end
		if !all {
			break
		}
	}
	b.WriteString(v[min(at, len(v)):])
	return b.String()
}

// replacement is what replaces a match: text, in which an unquoted & stands for
// the match.
type replacement struct {
	pieces []string // the match goes between them
}

func (r *replacement) of(match string) string {
	switch len(r.pieces) {
	case 0:
		return ""
	case 1:
		return r.pieces[0]
	}
	return strings.Join(r.pieces, match)
}

// replacement expands the string of ${x/pattern/string}.
func (s *state) replacement(w *syntax.Word) replacement {
	if !s.opts.shopts(shoptPatsub) {
		return replacement{pieces: []string{s.expandOne(w, toString, false)}}
	}
	text := s.expandOne(w, toReplacement, false)
	var r replacement
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text) && (text[i+1] == '&' || text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		case c == '&':
			r.pieces = append(r.pieces, b.String())
			b.Reset()
		default:
			b.WriteByte(c)
		}
	}
	r.pieces = append(r.pieces, b.String())
	return r
}

// changeCase is ${x^}, ${x,}, ${x~} and their doubles.
func (s *state) changeCase(x *syntax.Expansion, p *parameter) {
	var pat *pattern.Pattern
	if len(x.Word.Parts) > 0 {
		pat = s.pattern(s.expandPattern(x.Word), s.patternFlags(s.opts.shopts(shoptNocasematch)))
	}
	f, all := upperCase, false
	switch x.Op {
	case syntax.UpperAll:
		all = true
	case syntax.LowerFirst:
		f = lowerCase
	case syntax.LowerAll:
		f, all = lowerCase, true
	case parse.ToggleFirst:
		f = toggleCase
	case parse.ToggleAll:
		f, all = toggleCase, true
	}
	p.each(func(text string) string { return s.mapCase(text, f, all, pat) })
}

func upperCase(r rune) rune { return unicode.ToUpper(r) }
func lowerCase(r rune) rune { return unicode.ToLower(r) }

func toggleCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

// mapCase maps the characters that match pat (all of them if it is nil), or
// only the first.
func (s *state) mapCase(text string, f func(rune) rune, all bool, pat *pattern.Pattern) string {
	wide := s.wide()
	var b strings.Builder
	for i := 0; i < len(text); {
		n := 1
		if wide {
			n = charLen(text[i:])
		}
		ch := text[i : i+n]
		if (all || i == 0) && (pat == nil || pat.Match(ch)) {
			r, size := utf8.DecodeRuneInString(ch)
			if size == n && r != utf8.RuneError {
				ch = string(f(r))
			}
		}
		b.WriteString(ch)
		i += n
	}
	return b.String()
}
