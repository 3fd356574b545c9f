package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/pattern"
)

// expandMode is what a word expands to.
type expandMode uint8

const (
	toFields      expandMode = iota // arguments: split, globbed
	toString                        // one string: a value, a here-document
	toPattern                       // one pattern: what was quoted is escaped
	toRegex                         // one regular expression, likewise
	toReplacement                   // the string of ${x/y/string}: & and \ are escaped
)

// expander expands words. It gathers fields as the parts of a word yield text:
// quoted text, which stays as it is, and results, which are split where $IFS
// says so.
type expander struct {
	s    *state
	mode expandMode
	// assign makes tildes after colons home directories too.
	assign bool
	// results makes unquoted literals be split like results: the word of
	// ${x:-a b}.
	results int

	fields []string
	total  int
	buf    []byte
	pat    []byte // the field as a pattern, once it has an unquoted *, ? or [
	isPat  bool
	active bool // the field exists, if only as ""
	none   bool // a "$@" without any parameter was met
	ws     bool // the last field was ended by blanks of $IFS
	ifs    *ifsCache
}

// ifsCache is what splitting needs to know of $IFS.
type ifsCache struct {
	v     *variable
	text  string
	valid bool
	sep   [256]bool // separates fields
	white [256]bool // separates, and is a blank
	first string    // what joins "$*"
	none  bool      // IFS is set and empty
}

// splitter returns the cache, made anew when $IFS changed.
func (s *state) splitter() *ifsCache {
	c := &s.ifs
	v := s.vars["IFS"]
	text, set := " \t\n", false
	if v != nil {
		if t, ok := v.scalar(); ok {
			text, set = t, true
		}
	}
	if c.valid && c.v == v && c.text == text {
		return c
	}
	*c = ifsCache{v: v, text: text, valid: true, first: " "}
	if set {
		c.first = ""
		if text != "" {
			c.first = text[:1]
		} else {
			c.none = true
		}
	}
	for i := 0; i < len(text); i++ {
		c.sep[text[i]] = true
		c.white[text[i]] = text[i] == ' ' || text[i] == '\t' || text[i] == '\n'
	}
	return c
}

// expandFields expands words to arguments.
func (s *state) expandFields(words []*syntax.Word) []string {
	out := make([]string, 0, len(words))
	e := expander{s: s}
	for _, w := range words {
		if text, ok := plainWord(w); ok {
			out = append(out, text)
			continue
		}
		e.fields = out
		e.brace(w)
		out = e.fields
	}
	return out
}

// plainWord returns the text of a word that expands to itself.
func plainWord(w *syntax.Word) (string, bool) {
	if len(w.Parts) != 1 {
		return "", false
	}
	l, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return "", false
	}
	for i := 0; i < len(l.Value); i++ {
		switch l.Value[i] {
		case '\\', '*', '?', '~', '(':
			return "", false
		case '[':
			if len(l.Value) > 1 {
				return "", false
			}
		}
	}
	return l.Value, true
}

// expandString expands a word to one string, without splitting or globbing.
func (s *state) expandString(w *syntax.Word) string {
	return s.expandOne(w, toString, false)
}

// expandValue is expandString for the value of an assignment.
func (s *state) expandValue(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	return s.expandOne(w, toString, true)
}

// expandPattern expands a word to a pattern.
func (s *state) expandPattern(w *syntax.Word) string {
	return s.expandOne(w, toPattern, false)
}

func (s *state) expandOne(w *syntax.Word, mode expandMode, assign bool) string {
	if mode == toString {
		if text, ok := plainWord(w); ok {
			return text
		}
	}
	e := expander{s: s, mode: mode, assign: assign}
	e.word(w)
	return string(e.buf)
}

// expandHeredoc expands the body of a here-document.
func (s *state) expandHeredoc(w *syntax.Word) string {
	e := expander{s: s, mode: toString}
	for _, part := range w.Parts {
		if q, ok := part.(*syntax.SglQuoted); ok {
			return q.Value
		}
	}
	e.quotedParts(w.Parts, escapedInHeredoc)
	return string(e.buf)
}

// expandQuoted expands a word's parts as text in double quotes: arithmetic, a
// prompt.
func (s *state) expandQuoted(w *syntax.Word) string {
	if len(w.Parts) == 1 {
		switch p := w.Parts[0].(type) {
		case *syntax.SglQuoted:
			return p.Value
		case *syntax.Lit:
			if strings.IndexByte(p.Value, '\\') < 0 {
				return p.Value
			}
		}
	}
	e := expander{s: s, mode: toString}
	e.quotedParts(w.Parts, escapedInQuotes)
	return string(e.buf)
}

// expandIndex expands an indexed array's subscript. Apostrophes mean nothing in
// arithmetic and stay.
func (s *state) expandIndex(w *syntax.Word) string {
	for _, part := range w.Parts {
		if q, ok := part.(*syntax.SglQuoted); ok && !q.Dollar {
			return s.expandQuoted(&syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: wordSource(w)}}})
		}
	}
	return s.expandQuoted(w)
}

// expandArith expands the text of an arithmetic expression.
func (s *state) expandArith(x syntax.ArithmExpr) string {
	w, ok := x.(*syntax.Word)
	if !ok || w == nil {
		return ""
	}
	return s.expandQuoted(w)
}

// word expands one word that has no braces to expand.
func (e *expander) word(w *syntax.Word) {
	e.parts(w.Parts)
	if e.mode == toFields {
		e.endField()
	}
}

func (e *expander) parts(parts []syntax.WordPart) {
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			e.literal(p.Value, i == 0, i == len(parts)-1)
		case *syntax.SglQuoted:
			e.single(p)
		case *syntax.DblQuoted:
			e.double(p.Parts)
		case *syntax.ParamExp:
			e.param(p, false)
		case *syntax.CmdSubst:
			e.result(e.s.commandSubst(p))
		case *syntax.ArithmExp:
			e.result(e.s.arithSubst(p))
		case *syntax.ProcSubst:
			e.quoted(e.s.procSubst(p))
		case *syntax.BraceExp:
			e.literal(braceSource(p), false, false)
		}
	}
}

// literal takes unquoted text of the source, in which backslashes quote.
func (e *expander) literal(text string, first, last bool) {
	if first || e.assign {
		text = e.tildes(text, first, last)
	}
	for text != "" {
		i := strings.IndexByte(text, '\\')
		if i < 0 {
			e.unquoted(text)
			return
		}
		if i > 0 {
			e.unquoted(text[:i])
		}
		if i+1 == len(text) {
			e.quoted(`\`)
			return
		}
		n := 1
		if e.s.wide() {
			n = charLen(text[i+1:])
		}
		e.quoted(text[i+1 : i+1+n])
		text = text[i+1+n:]
	}
}

// unquoted takes literal text that nothing quotes.
func (e *expander) unquoted(text string) {
	if e.results > 0 {
		e.result(text)
		return
	}
	e.active = true
	e.raw(text)
}

// raw appends unquoted text without splitting.
func (e *expander) raw(text string) {
	switch e.mode {
	case toFields:
		if !e.isPat && strings.ContainsAny(text, "*?[(") {
			e.startPattern()
		}
		e.grow(len(text))
		e.buf = append(e.buf, text...)
		if e.isPat {
			e.pat = append(e.pat, text...)
		}
	default:
		e.grow(len(text))
		e.buf = append(e.buf, text...)
	}
}

// startPattern begins to keep the field as a pattern too.
func (e *expander) startPattern() {
	e.isPat = true
	e.pat = append(e.pat[:0], pattern.Escape(string(e.buf))...)
}

// grow makes sure that the memory limit allows n more bytes.
func (e *expander) grow(n int) {
	if len(e.buf)+n > 1<<16 {
		e.s.room(len(e.buf) + n)
	}
}

// quoted takes text that stays as it is.
func (e *expander) quoted(text string) {
	e.active = true
	e.grow(len(text))
	switch e.mode {
	case toPattern:
		e.buf = append(e.buf, pattern.Escape(text)...)
		return
	case toRegex:
		e.buf = append(e.buf, escapeRegex(text)...)
		return
	case toReplacement:
		for i := 0; i < len(text); i++ {
			if text[i] == '&' || text[i] == '\\' {
				e.buf = append(e.buf, '\\')
			}
			e.buf = append(e.buf, text[i])
		}
		return
	}
	e.buf = append(e.buf, text...)
	if e.isPat {
		e.pat = append(e.pat, pattern.Escape(text)...)
	}
}

// single takes '...' or $'...'.
func (e *expander) single(q *syntax.SglQuoted) {
	if q.Dollar {
		e.quoted(e.s.ansiC(q.Value))
		return
	}
	e.quoted(q.Value)
}

// double takes the parts of "...". The field exists, even if it is empty,
// unless all there is is a "$@" without any parameter.
func (e *expander) double(parts []syntax.WordPart) {
	active, none, size, fields := e.active, e.none, len(e.buf), len(e.fields)
	e.none = false
	e.quotedParts(parts, escapedInQuotes)
	if e.none && len(e.buf) == size && len(e.fields) == fields {
		e.active = active
	} else {
		e.active = true
	}
	e.none = none
}

// What a backslash quotes in double quotes, in the word of "${x:-word}", and in
// a here-document.
const (
	escapedInQuotes  = "$`\"\\\n"
	escapedInBraces  = "$`\"\\\n}"
	escapedInHeredoc = "$`\\\n"
)

// quotedParts takes parts of text in double quotes, in which a backslash quotes
// the characters of escaped.
func (e *expander) quotedParts(parts []syntax.WordPart, escaped string) {
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			e.quoted(unescapeQuoted(p.Value, escaped))
		case *syntax.SglQuoted:
			e.single(p)
		case *syntax.DblQuoted:
			e.double(p.Parts)
		case *syntax.ParamExp:
			e.param(p, true)
		case *syntax.CmdSubst:
			e.quoted(e.s.commandSubst(p))
		case *syntax.ArithmExp:
			e.quoted(e.s.arithSubst(p))
		}
	}
}

// unescapeQuoted removes the backslashes that quote one of some characters.
func unescapeQuoted(text, escaped string) string {
	i := strings.IndexByte(text, '\\')
	if i < 0 {
		return text
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(text, '\\') {
		b.WriteString(text[:i])
		if i+1 == len(text) || strings.IndexByte(escaped, text[i+1]) < 0 {
			b.WriteByte('\\')
			text = text[i+1:]
			continue
		}
		if text[i+1] != '\n' {
			b.WriteByte(text[i+1])
		}
		text = text[i+2:]
	}
	b.WriteString(text)
	return b.String()
}

// result takes the outcome of an unquoted expansion and splits it.
func (e *expander) result(text string) {
	if e.mode != toFields {
		if e.mode == toRegex || e.mode == toPattern || text != "" {
			e.raw(text)
		}
		return
	}
	if e.ifs == nil || e.ifs != &e.s.ifs {
		e.ifs = e.s.splitter()
	}
	ifs := e.s.splitter()
	start := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if !ifs.sep[c] {
			continue
		}
		if i > start {
			e.active, e.ws = true, false
			e.raw(text[start:i])
		}
		start = i + 1
		e.separator(ifs.white[c])
	}
	if start < len(text) {
		e.active, e.ws = true, false
		e.raw(text[start:])
	}
}

// separator ends the field at a character of $IFS.
func (e *expander) separator(white bool) {
	switch {
	case e.active:
		e.endField()
		e.ws = white
	case white:
	case e.ws:
		// The first other separator after blanks belongs to them.
		e.ws = false
	default:
		e.active = true
		e.endField()
	}
}

// endField ends the present field, if there is one, and expands it if it is a
// pattern.
func (e *expander) endField() {
	if !e.active {
		return
	}
	e.active, e.ws = false, false
	if e.isPat {
		e.isPat = false
		text, pat := string(e.buf), string(e.pat)
		e.buf = e.buf[:0]
		e.glob(text, pat)
		return
	}
	text := string(e.buf)
	e.buf = e.buf[:0]
	e.emit(text)
}

// emit adds a finished field.
func (e *expander) emit(text string) {
	e.fields = append(e.fields, text)
	e.total += len(text) + fieldCost
	if len(e.fields)&1023 == 0 {
		e.s.tick()
		e.s.room(e.total)
	}
}

// commandSubst runs $(...) and returns its output.
func (s *state) commandSubst(c *syntax.CmdSubst) string {
	stmts := c.Stmts
	if c.Backquotes {
		return s.backquoted(c)
	}
	if path, ok := s.readsFile(stmts); ok {
		return path
	}
	return s.captureOutput(func(sub *state) {
		if len(stmts) > 0 {
			// Bash runs the text again, as if it started at the command's line.
			sub.lineDelta = s.line - int(stmts[0].Position.Line())
		}
		sub.runList(stmts)
	})
}

// arithSubst evaluates $((...)).
func (s *state) arithSubst(a *syntax.ArithmExp) string {
	n, ok := s.arithmetic(s.expandArith(a.X), "")
	if !ok {
		s.dropLine(1)
	}
	return strconv.FormatInt(n, 10)
}

// fieldCost is what a field takes besides its bytes.
const fieldCost = 64
