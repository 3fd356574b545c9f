package shell

import (
	"strings"

	"github.com/vfsd/vfsd/shell/pattern"
)

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

// fieldCost is what a field takes besides its bytes.
const fieldCost = 64
