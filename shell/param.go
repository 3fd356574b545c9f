package shell

import (
	"sort"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/parse"
)

// parameter is what the name of a parameter expansion stands for.
type parameter struct {
	name string
	sub  subscript
	has  bool // it has a subscript
	// list is set for $@, $*, a[@] and a[*]: the values are in vals, and at
	// tells the two apart.
	list bool
	at   bool
	vals []string
	val  string
	set  bool
	v    *variable // nil for positional and special parameters
	// operated is set when an operator is applied, which messages show.
	operated bool
	braced   bool // written with braces, which messages show too
}

// param expands one parameter expansion.
func (e *expander) param(pe *syntax.ParamExp, quoted bool) {
	s := e.s
	if pe.Flags != nil {
		e.badSubstitution(pe)
		return
	}
	if pe.Short && e.simple(pe.Param.Value, quoted) {
		return
	}
	if pe.Excl {
		if done := e.indirect(pe, quoted); done {
			return
		}
	}
	p := s.parameter(pe.Param.Value, pe.Index)
	e.operate(pe, &p, quoted)
}

// badSubstitution reports one. A transformation that does not exist goes
// unnoticed on what is not set, and ends the shell otherwise.
func (e *expander) badSubstitution(pe *syntax.ParamExp) {
	s := e.s
	transforms := pe.Exp != nil
	if transforms && !pe.Excl {
		if p := s.parameter(pe.Param.Value, pe.Index); !p.set && !p.list {
			return
		}
	}
	s.errorf("%s: bad substitution", pe.Flags.Value)
	if transforms {
		s.fatal()
	}
	s.dropError()
}

// simple expands $x where x is a plain scalar variable, the most common case.
func (e *expander) simple(name string, quoted bool) bool {
	c := name[0]
	if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
		return false
	}
	v := e.s.vars[name]
	if v == nil || !v.set || v.special != nil || v.attr&(attrArray|attrAssoc|attrNameref) != 0 {
		return false
	}
	if quoted {
		e.quoted(v.str)
	} else {
		e.result(v.str)
	}
	return true
}

// parameter looks a parameter up.
func (s *state) parameter(name string, index syntax.ArithmExpr) parameter {
	p := parameter{name: name}
	if index != nil {
		w, _ := index.(*syntax.Word)
		p.sub, p.has = subscript{word: w}, true
	}
	c := name[0]
	if c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		s.variableParam(&p)
		return p
	}
	if c >= '0' && c <= '9' {
		n, err := strconv.Atoi(name)
		switch {
		case err != nil:
		case n == 0:
			p.val, p.set = s.arg0, true
		case n <= len(s.params):
			p.val, p.set = s.params[n-1], true
		}
		return p
	}
	p.set = true
	switch c {
	case '@', '*':
		p.list, p.at, p.vals = true, c == '@', s.params
		p.set = len(p.vals) > 0
	case '#':
		p.val = strconv.Itoa(len(s.params))
	case '?':
		p.val = strconv.Itoa(s.status)
	case '-':
		p.val = s.flags()
	case '$':
		p.val = strconv.Itoa(s.mainPID())
	case '!':
		if p.set = s.lastBG != 0; p.set {
			p.val = strconv.Itoa(s.lastBG)
		}
	}
	return p
}

// variableParam looks a variable up, with its subscript.
func (s *state) variableParam(p *parameter) {
	v, refSub, hasRef := s.lookup(p.name)
	p.v = v
	if hasRef && !p.has {
		p.sub, p.has = subscriptText(refSub), true
	}
	switch {
	case p.has:
	case v == nil:
		return
	case v.special != nil:
		p.val, p.set = v.special.scalar(s, v)
		return
	default:
		p.val, p.set = v.scalar()
		return
	}
	if c := p.sub.whole(); c != 0 {
		p.list, p.at = true, c == '@'
		p.vals = s.elements(v)
		p.set = len(p.vals) > 0
		return
	}
	if v == nil {
		// The subscript is evaluated all the same, for its effects.
		s.index(p.sub)
		return
	}
	p.val, p.set = s.element(v, p.sub)
	if v.attr&attrAssoc != 0 && !p.set && s.key(p.sub) == "" {
		s.errorf("%s: bad array subscript", p.name)
	}
	if !p.set && v.attr&attrAssoc == 0 {
		s.checkIndex(p)
	}
}

// checkIndex reports a negative index that leads nowhere.
func (s *state) checkIndex(p *parameter) {
	text := p.sub.source()
	if !strings.Contains(text, "-") && p.sub.word == nil {
		return
	}
	if i, ok := s.index(p.sub); ok && i < 0 && !s.inRange(p.v, i) {
		s.errorf("%s: bad array subscript", p.name)
	}
}

// mainPID is the value of $$: that of the main shell, in subshells too.
func (s *state) mainPID() int { return s.ses.pid }

// indirect expands ${!...}; true when it was one of the forms that list names.
// Otherwise pe is expanded with the name that its parameter's value is.
func (e *expander) indirect(pe *syntax.ParamExp, quoted bool) bool {
	s := e.s
	name := pe.Param.Value
	switch {
	case pe.Names != 0:
		p := parameter{list: true, at: pe.Names == syntax.NamesPrefixWords, vals: s.namesWith(name)}
		e.yield(&p, quoted)
		return true
	case pe.Index != nil && pe.Exp == nil && pe.Repl == nil && pe.Slice == nil:
		w, _ := pe.Index.(*syntax.Word)
		sub := subscript{word: w}
		if c := sub.whole(); c != 0 {
			v, _, _ := s.lookup(name)
			p := parameter{list: true, at: c == '@', vals: s.keys(v)}
			e.yield(&p, quoted)
			return true
		}
	}
	if v := s.vars[name]; v != nil && v.attr&attrNameref != 0 && pe.Index == nil {
		// Of a nameref it is the name that it refers to.
		p := parameter{name: name, val: v.str, set: v.str != ""}
		e.operate(pe, &p, quoted)
		return true
	}
	p := s.parameter(name, pe.Index)
	p.braced = true
	if name == "!" && !p.set {
		s.errorf("${!!}: bad substitution")
		s.dropError()
	}
	if !p.set && (p.has && p.v != nil || !validName(name)) {
		// What is unset and no variable leads to nothing.
		q := parameter{name: "!" + s.display(&p), braced: true}
		e.operate(pe, &q, quoted)
		return true
	}
	if !p.set && !p.list {
		s.errorf("%s: invalid indirect expansion", s.display(&p))
		s.dropError()
	}
	target := p.val
	if p.list {
		target = strings.Join(p.vals, " ")
	}
	q, ok := s.namedParameter(target)
	if !ok {
		s.errorf("%s: invalid variable name", target)
		s.dropError()
	}
	if !q.set && !q.list && s.opts.on(optNounset) && (pe.Exp == nil || !defaults(pe.Exp.Op)) {
		s.errorf("!%s: unbound variable", name)
		s.fatal()
	}
	e.operate(pe, &q, quoted)
	return true
}

// namedParameter looks up a parameter whose name, and subscript perhaps, is
// text.
func (s *state) namedParameter(text string) (parameter, bool) {
	if text == "" {
		return parameter{}, false
	}
	if i := strings.IndexByte(text, '['); i > 0 && strings.HasSuffix(text, "]") && validName(text[:i]) {
		return s.parameter(text[:i], parse.Word(text[i+1:len(text)-1])), true
	}
	if validName(text) || isDigits(text) || len(text) == 1 && strings.IndexByte("@*#?-$!", text[0]) >= 0 {
		return s.parameter(text, nil), true
	}
	return parameter{}, false
}

func isDigits(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// namesWith lists the set variables whose names start with prefix, sorted.
func (s *state) namesWith(prefix string) []string {
	var names []string
	for n, v := range s.vars {
		if strings.HasPrefix(n, prefix) && (v.set || v.special != nil || v.isArray()) {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	return names
}

// defaults reports whether an operator deals with parameters that are not set.
func defaults(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.AlternateUnset, syntax.AlternateUnsetOrNull, syntax.DefaultUnset, syntax.DefaultUnsetOrNull,
		syntax.ErrorUnset, syntax.ErrorUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		return true
	}
	return false
}

// operate applies the expansion's operator and yields the outcome.
func (e *expander) operate(pe *syntax.ParamExp, p *parameter, quoted bool) {
	s := e.s
	p.braced = !pe.Short
	if pe.Length {
		e.yieldOne(s.length(p), quoted)
		return
	}
	if pe.Exp != nil && defaults(pe.Exp.Op) {
		e.withDefault(pe.Exp, p, quoted)
		return
	}
	if pe.Slice != nil || pe.Repl != nil || pe.Exp != nil {
		p.operated = true
	}
	s.unbound(p)
	switch {
	case pe.Slice == nil && !p.set && p.operated && (pe.Exp == nil || pe.Exp.Op != syntax.OtherParamOps):
		// There is nothing to work on, and the operator's words are not expanded.
	case pe.Slice != nil:
		s.slice(pe.Slice, p)
	case pe.Repl != nil:
		s.replace(pe.Repl, p)
	case pe.Exp != nil && pe.Exp.Op == syntax.OtherParamOps:
		if s.transform(pe.Exp.Word.Parts[0].(*syntax.Lit).Value[0], p) {
			e.yieldRaw(p, quoted)
			return
		}
	case pe.Exp != nil && (pe.Exp.Op == parse.ToggleAll || pe.Exp.Op == parse.ToggleFirst || caseOp(pe.Exp.Op)):
		s.changeCase(pe.Exp, p)
	case pe.Exp != nil:
		s.trim(pe.Exp, p)
	}
	e.yield(p, quoted)
}

func caseOp(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.UpperAll, syntax.UpperFirst, syntax.LowerAll, syntax.LowerFirst:
		return true
	}
	return false
}

// unbound ends the shell for an unset parameter under set -u.
func (s *state) unbound(p *parameter) {
	if p.set || p.list || !s.opts.on(optNounset) {
		return
	}
	s.errorf("%s: unbound variable", s.display(p))
	s.fatal()
}

// display is a parameter's name in a message.
func (s *state) display(p *parameter) string {
	if p.has {
		return p.name + "[" + p.sub.source() + "]"
	}
	if isDigits(p.name) && !p.braced {
		return "$" + p.name
	}
	return p.name
}

// yield emits what a parameter expanded to.
func (e *expander) yield(p *parameter, quoted bool) {
	if !p.list {
		e.yieldOne(p.val, quoted)
		return
	}
	if e.mode != toFields {
		sep := " "
		if !p.at {
			sep = e.s.splitter().first
		}
		e.yieldOne(joinValues(e.s, p.vals, sep), quoted)
		return
	}
	switch {
	case quoted && p.at:
		e.none = e.none || len(p.vals) == 0
		for i, v := range p.vals {
			if i > 0 {
				e.active = true
				e.endField()
			}
			e.quoted(v)
		}
	case quoted:
		e.quoted(joinValues(e.s, p.vals, e.s.splitter().first))
	default:
		ifs := e.s.splitter()
		joined := ifs.first != "" && !ifs.white[ifs.first[0]]
		for i, v := range p.vals {
			switch {
			case i > 0 && joined:
				e.separator(false) // as if joined by it and split again
			case i > 0:
				e.endField()
			}
			e.result(v)
		}
	}
}

// joinValues joins, minding the memory limit.
func joinValues(s *state, vals []string, sep string) string {
	n := 0
	for _, v := range vals {
		n += len(v) + len(sep)
	}
	s.room(n)
	return strings.Join(vals, sep)
}

func (e *expander) yieldOne(text string, quoted bool) {
	if quoted {
		e.quoted(text)
	} else {
		e.result(text)
	}
}

// yieldRaw is yield for what ${x@K} and its kin made.
func (e *expander) yieldRaw(p *parameter, quoted bool) { e.yield(p, quoted) }

// length is ${#x}.
func (s *state) length(p *parameter) string {
	if p.list {
		if p.has && (p.v == nil || !p.v.set && p.v.special == nil) && s.opts.on(optNounset) {
			s.errorf("%s: unbound variable", p.name)
			s.fatal()
		}
		return strconv.Itoa(len(p.vals))
	}
	p.operated = true
	if p.has && p.v != nil && p.v.isArray() && p.v.set {
		return strconv.Itoa(s.chars(p.val)) // a missing element is not unbound
	}
	s.unbound(p)
	return strconv.Itoa(s.chars(p.val))
}
