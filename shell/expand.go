package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
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
	kept   bool // a "${x:-}" was met, which makes a field even so
	ws     bool // the last field was ended by blanks of $IFS
	ifs    *ifsCache
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
	active, none, kept, size, fields := e.active, e.none, e.kept, len(e.buf), len(e.fields)
	e.none, e.kept = false, false
	e.quotedParts(parts, escapedInQuotes)
	if e.none && !e.kept && len(e.buf) == size && len(e.fields) == fields {
		e.active = active
	} else {
		e.active = true
	}
	e.none, e.kept = none, kept
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
