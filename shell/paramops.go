package shell

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/command"
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
	if !r.All && text != "" && (text[0] == '#' || text[0] == '%') {
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

// transform is ${x@op}.
func (s *state) transform(op byte, p *parameter) bool {
	switch op {
	case 'Q':
		if !p.set && !p.list {
			return false
		}
		p.each(s.quoteValue)
	case 'E':
		p.each(s.ansiC)
	case 'P':
		p.each(s.prompt)
	case 'U':
		p.each(func(t string) string { return s.mapCase(t, upperCase, true, nil) })
	case 'u':
		p.each(func(t string) string { return s.mapCase(t, upperCase, false, nil) })
	case 'L':
		p.each(func(t string) string { return s.mapCase(t, lowerCase, true, nil) })
	case 'a':
		s.attributes(p)
	case 'A':
		s.declaration(p)
	case 'K', 'k':
		s.pairs(op, p)
	}
	return true
}

// quoteValue is ${x@Q}: quoted so that the shell reads it back.
func (s *state) quoteValue(text string) string {
	if text == "" {
		return "''"
	}
	if needsANSI(text, s.wide()) {
		return ansiQuote(text, s.wide())
	}
	return singleQuote(text)
}

// attributes is ${x@a}.
func (s *state) attributes(p *parameter) {
	text := ""
	if p.v != nil {
		text = p.v.flags()
	}
	if p.list {
		p.each(func(string) string { return text })
		return
	}
	p.val = text
}

// declaration is ${x@A}: a command that makes the variable again.
func (s *state) declaration(p *parameter) {
	switch {
	case p.v == nil && p.list:
		var q []string
		for _, v := range p.vals {
			q = append(q, s.quoteValue(v))
		}
		p.val = "set -- " + strings.Join(q, " ")
		if len(q) == 0 {
			p.val = ""
		}
		p.list = false
	case p.v == nil:
		p.val = ""
	case p.list || p.v.isArray() && p.v.special == nil && p.has && p.sub.whole() != 0:
		p.val, p.list = s.describe(p.name, p.v), false
	default:
		if !p.set {
			if f := p.v.flags(); f != "" {
				p.val = "declare -" + f + " " + p.name
			}
			return
		}
		p.val = p.name + "=" + s.quoteValue(p.val)
		if f := p.v.flags(); f != "" {
			p.val = "declare -" + f + " " + p.val
		}
	}
}

// pairs is ${x@K}, keys and values as one string, and ${x@k}, as words.
func (s *state) pairs(op byte, p *parameter) {
	if p.v == nil || !p.list {
		p.each(s.quoteValue)
		return
	}
	keys, vals := s.keys(p.v), p.vals
	if op == 'k' {
		var out []string
		for i, k := range keys {
			out = append(out, k, vals[i])
		}
		p.vals = out
		return
	}
	var b strings.Builder
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(' ')
		}
		if p.v.attr&attrAssoc != 0 {
			k = quoteKey(k)
		}
		b.WriteString(k + " " + doubleQuote(vals[i]))
	}
	if p.v.attr&attrAssoc != 0 {
		b.WriteByte(' ')
	}
	p.val, p.list = b.String(), false
}

// prompt expands the escapes of a prompt, then its text.
func (s *state) prompt(text string) string {
	return s.expandQuoted(parse.Prompt(s.promptEscapes(text)))
}

// promptEscapes replaces \u, \h and the like.
func (s *state) promptEscapes(text string) string {
	if strings.IndexByte(text, '\\') < 0 {
		return text
	}
	host := command.Host(s.sh.cfg.Host).Name
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' || i+1 == len(text) {
			b.WriteByte(text[i])
			continue
		}
		i++
		switch c := text[i]; c {
		case 'a':
			b.WriteByte(7)
		case 'e':
			b.WriteByte(27)
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case '[', ']':
		case '\\':
			b.WriteString(`\\`)
		case 'h':
			b.WriteString(strings.SplitN(host, ".", 2)[0])
		case 'H':
			b.WriteString(host)
		case 'u':
			u, _ := s.sh.users.find(s.walker(), userByID(s.sh.cfg.Cred.UID))
			b.WriteString(u.Name)
		case 's':
			b.WriteString(s.arg0[strings.LastIndexByte(s.arg0, '/')+1:])
		case 'v':
			b.WriteString("5.2")
		case 'V':
			b.WriteString("5.2.15")
		case 'w':
			b.WriteString(s.tilde(s.dir))
		case 'W':
			d := s.tilde(s.dir)
			if d != "/" {
				d = d[strings.LastIndexByte(d, '/')+1:]
			}
			b.WriteString(d)
		case '$':
			if s.sh.cfg.Cred.UID == 0 {
				b.WriteByte('#')
			} else {
				b.WriteString(`\$`)
			}
		case 'j':
			b.WriteString(strconv.Itoa(s.jobs.len()))
		case 'l':
			b.WriteString("tty")
		case '!', '#':
			b.WriteByte('1')
		case 't':
			b.WriteString(s.now().In(s.location()).Format("15:04:05"))
		case 'T':
			b.WriteString(s.now().In(s.location()).Format("03:04:05"))
		case '@':
			b.WriteString(s.now().In(s.location()).Format("03:04 PM"))
		case 'A':
			b.WriteString(s.now().In(s.location()).Format("15:04"))
		case 'd':
			b.WriteString(s.now().In(s.location()).Format("Mon Jan 02"))
		case 'D':
			format := ""
			if rest := text[i+1:]; strings.HasPrefix(rest, "{") {
				if end := strings.IndexByte(rest, '}'); end > 0 {
					format = rest[1:end]
					i += end + 1
				}
			}
			b.WriteString(strftime(format, s.now().In(s.location())))
		case '0', '1', '2', '3', '4', '5', '6', '7':
			n := 0
			k := i
			for ; k < len(text) && k < i+3 && text[k] >= '0' && text[k] <= '7'; k++ {
				n = n*8 + int(text[k]-'0')
			}
			b.WriteByte(byte(n))
			i = k - 1
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String()
}
