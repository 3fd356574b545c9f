package shell

import (
	"mvdan.cc/sh/v3/syntax"
)

// withDefault applies - = ? + with and without the colon.
func (e *expander) withDefault(x *syntax.Expansion, p *parameter, quoted bool) {
	s := e.s
	set, null := p.set, p.val == ""
	if p.list {
		null = joinValues(s, p.vals, "") == "" && len(p.vals) < 2
	}
	use := !set
	switch x.Op {
	case syntax.AlternateUnsetOrNull, syntax.DefaultUnsetOrNull, syntax.ErrorUnsetOrNull, syntax.AssignUnsetOrNull:
		use = !set || null
	}
	switch x.Op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull:
		if !use {
			e.operand(x.Word, quoted)
		} else if quoted {
			none := p.list && p.at
			e.active = e.active || !none
			e.none = e.none || none
		}
		return
	}
	if !use {
		e.yield(p, quoted)
		return
	}
	e.kept = e.kept || quoted
	switch x.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull:
		e.operand(x.Word, quoted)
	case syntax.AssignUnset, syntax.AssignUnsetOrNull:
		e.assignDefault(x, p, quoted)
	default:
		e.complain(x, p)
	}
}

// operand expands the word of an operator in place.
func (e *expander) operand(w *syntax.Word, quoted bool) {
	if quoted {
		none := e.none
		e.active = true
		e.quotedParts(w.Parts, escapedInBraces)
		e.none = none
		return
	}
	e.results++
	e.parts(w.Parts)
	e.results--
}

func (e *expander) assignDefault(x *syntax.Expansion, p *parameter, quoted bool) {
	s := e.s
	var value string
	if quoted {
		value = s.expandQuotedWord(x.Word)
	} else {
		value = s.expandOne(x.Word, toString, false)
	}
	switch {
	case p.v == nil && !validName(p.name), p.list && !p.has:
		s.errorf("$%s: cannot assign in this way", p.name)
		s.dropLine(1)
	case p.list:
		s.errorf("%s[%s]: bad array subscript", p.name, p.sub.source())
		s.dropLine(1)
	}
	ok := false
	if p.has {
		ok = s.assignElement(p.name, p.sub, value, false)
	} else {
		ok = s.assign(p.name, value, false)
		value = s.get(p.name)
	}
	if !ok {
		s.dropLine(1)
	}
	e.yieldOne(value, quoted)
}

// expandQuotedWord expands parts that stand in double quotes.
func (s *state) expandQuotedWord(w *syntax.Word) string {
	e := expander{s: s, mode: toString}
	e.quotedParts(w.Parts, escapedInBraces)
	return string(e.buf)
}

// complain reports ${x?message} and ends the shell.
func (e *expander) complain(x *syntax.Expansion, p *parameter) {
	s := e.s
	name := p.name
	if p.has {
		name += "[" + p.sub.source() + "]"
	}
	msg := "parameter not set"
	if x.Op == syntax.ErrorUnsetOrNull {
		msg = "parameter null or not set"
	}
	if len(x.Word.Parts) > 0 {
		msg = s.expandOne(x.Word, toString, false)
	}
	s.errorf("%s: %s", name, msg)
	s.fatal()
}
