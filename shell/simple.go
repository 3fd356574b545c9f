package shell

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple runs a simple command: assignments, words, redirections.
func (s *state) simple(st *syntax.Stmt, c *syntax.CallExpr) {
	s.at(st.Position)
	s.setCommand(st)
	s.debugTrap()
	s.substStatus = -1
	noFork := s.noFork
	s.noFork = false
	mark := len(s.procFDs)
	var undo undoFDs
	defer func() {
		s.restoreFDs(undo)
		if len(s.procFDs) > mark {
			s.closeProcFDs(mark)
		}
	}()
	if s.opts.on(optKeyword) {
		c = keywordArgs(c)
	}
	args := s.expandFields(c.Args)
	if len(args) == 0 {
		s.assignments(st, c, &undo)
		return
	}
	temp := s.prefix(c.Assigns)
	s.trace(temp, args)
	if len(st.Redirs) > 0 && !s.redirect(st.Redirs, &undo) {
		s.dropPrefix(temp)
		s.status = 1
		s.checkError()
		return
	}
	s.invoke(st, args, temp, noFork, &undo)
}

// keywordArgs moves the assignments among a command's arguments to its front,
// as set -k asks for.
func keywordArgs(c *syntax.CallExpr) *syntax.CallExpr {
	k := &syntax.CallExpr{Assigns: append([]*syntax.Assign(nil), c.Assigns...)}
	for i, w := range c.Args {
		if i > 0 {
			if a := assignmentIn(w); a != nil {
				k.Assigns = append(k.Assigns, a)
				continue
			}
		}
		k.Args = append(k.Args, w)
	}
	return k
}

// assignmentIn makes an assignment of a word that looks like one, else nil.
func assignmentIn(w *syntax.Word) *syntax.Assign {
	l, ok := w.Parts[0].(*syntax.Lit)
	if !ok {
		return nil
	}
	name, value, ok := strings.Cut(l.Value, "=")
	if !ok || !validName(name) {
		return nil
	}
	parts := append([]syntax.WordPart{&syntax.Lit{Value: value}}, w.Parts[1:]...)
	return &syntax.Assign{Name: &syntax.Lit{Value: name}, Value: &syntax.Word{Parts: parts}}
}

// assignments runs a command that is only assignments (and redirections).
func (s *state) assignments(st *syntax.Stmt, c *syntax.CallExpr, undo *undoFDs) {
	for _, a := range c.Assigns {
		if !s.assignStatement(a) {
			s.dropError()
		}
	}
	ok := true
	if len(st.Redirs) > 0 {
		ok = s.redirect(st.Redirs, undo)
	}
	s.status = 0
	if s.substStatus >= 0 {
		s.status = s.substStatus
	}
	if !ok {
		s.status = 1
	}
	s.lastArg = ""
	s.checkError()
}

// assignStatement performs one assignment.
func (s *state) assignStatement(a *syntax.Assign) bool {
	name := a.Name.Value
	switch {
	case a.Array != nil && a.Index != nil:
		w, _ := a.Index.(*syntax.Word)
		s.errorf("%s[%s]: cannot assign list to array member", name, wordSource(w))
		return false
	case a.Array != nil:
		s.traceArray(a)
		return s.assignArray(name, a.Array, a.Append, 0)
	}
	value := s.expandValue(a.Value)
	s.traceAssign(a, value)
	if a.Index != nil {
		w, _ := a.Index.(*syntax.Word)
		return s.assignElement(name, subscript{word: w}, value, a.Append)
	}
	return s.assign(name, value, a.Append)
}

// assignArray performs name=(...). kind is the attribute of an array that is
// made: 0 means indexed unless it is there.
func (s *state) assignArray(name string, arr *syntax.ArrayExpr, add bool, kind attr) bool {
	if target, _, _, ok := s.follow(name); ok {
		name = target
	} else {
		return false
	}
	if s.readonly(name) {
		return false
	}
	if v := s.vars[name]; kind&attrAssoc != 0 || v != nil && v.attr&attrAssoc != 0 {
		return s.assignAssoc(name, arr, add)
	}
	// The elements are expanded before the old ones go: a=("${a[@]}" x). That a
	// builtin assigns is no matter of theirs.
	cmdName := s.cmdName
	s.cmdName = ""
	if s.vars[name] == nil {
		s.makeIndexed(s.change(name)) // its own elements may ask for it
	}
	type element struct {
		sub  *subscript
		vals []string
		add  bool
	}
	var elems []element
	for _, el := range arr.Elems {
		if el.Index == nil {
			elems = append(elems, element{vals: s.expandFields([]*syntax.Word{el.Value})})
			continue
		}
		w, _ := el.Index.(*syntax.Word)
		value, app := s.elementValue(el)
		elems = append(elems, element{sub: s.expandedSubscript(w), vals: []string{value}, add: app})
	}
	s.cmdName = cmdName
	v := s.change(name)
	if v.special != nil && v.special.assign != nil {
		return true
	}
	v.special = nil
	if !add {
		s.keep(-s.size(v))
		v.arr, v.m, v.str, v.set = &indexed{}, nil, "", true
		v.attr |= attrArray
	}
	s.makeIndexed(v)
	next := v.arr.max() + 1
	for _, el := range elems {
		if el.sub != nil {
			i, ok := s.index(*el.sub)
			if !ok {
				return false
			}
			if i < 0 {
				i += v.arr.max() + 1
			}
			if i < 0 || i > maxIndex || el.sub.whole() != 0 || el.sub.source() == "" {
				s.errorf("[%s]=%s: bad array subscript", el.sub.source(), el.vals[0])
				continue
			}
			next = i
		}
		for _, val := range el.vals {
			if !s.putIndex(v, next, val, el.add) {
				return false
			}
			next++
		}
	}
	s.assigned(name, v)
	return true
}

// expandedSubscript expands a subscript among the elements of an indexed array
// as any word. What comes of it is expanded again when it is evaluated.
func (s *state) expandedSubscript(w *syntax.Word) *subscript {
	sub := &subscript{word: w}
	if sub.whole() == 0 && sub.source() != "" {
		sub.word = s.parseSubscript(s.expandString(w))
	}
	return sub
}

// elementValue expands the value of [sub]=value; add says that it is +=.
func (s *state) elementValue(el *syntax.ArrayElem) (value string, add bool) {
	w := el.Value
	if len(w.Parts) > 0 && isAppendMark(w.Parts[0]) {
		w, add = &syntax.Word{Parts: w.Parts[1:]}, true
	}
	return s.expandValue(w), add
}

// assignAssoc performs name=([k]=v ...) or name=(k v ...) on an associative
// array.
func (s *state) assignAssoc(name string, arr *syntax.ArrayExpr, add bool) bool {
	type pair struct {
		key, val string
		add      bool
	}
	var pairs []pair
	keyed := len(arr.Elems) > 0 && arr.Elems[0].Index != nil
	cmdName := s.cmdName
	s.cmdName = ""
	var words []string
	for _, el := range arr.Elems {
		switch {
		case el.Index != nil:
			w, _ := el.Index.(*syntax.Word)
			key := s.key(subscript{word: w})
			value, app := s.elementValue(el)
			if key == "" {
				shown := fmt.Sprintf("[%s]=%s", wordSource(w), value)
				if cmdName != "" { // declare has expanded and quoted its arguments
					shown = fmt.Sprintf("['']=%s", singleQuote(value))
				}
				s.errorf("%s: bad array subscript", shown)
				continue
			}
			if !keyed {
				words = append(words, "["+key+"]="+value)
				continue
			}
			pairs = append(pairs, pair{key, value, app})
		case keyed:
			for _, t := range s.expandFields([]*syntax.Word{el.Value}) {
				if cmdName != "" { // declare has expanded and quoted its arguments
					t = singleQuote(t)
				}
				s.errorf("%s: %s: must use subscript when assigning associative array", name, t)
			}
		default:
			words = append(words, s.expandValue(el.Value))
		}
	}
	for i := 0; i < len(words); i += 2 {
		p := pair{key: words[i]}
		if i+1 < len(words) {
			p.val = words[i+1]
		}
		if p.key == "" {
			s.errorf("%s: bad array subscript", `""`)
			continue
		}
		pairs = append(pairs, p)
	}
	s.cmdName = cmdName
	v := s.change(name)
	if !add || v.m == nil {
		s.keep(-s.size(v))
		v.m = newAssoc()
	}
	v.attr |= attrAssoc
	v.set = true
	for _, p := range pairs {
		if !s.putElement(v, p.key, p.val, p.add) {
			return false
		}
	}
	s.assigned(name, v)
	return true
}

// tempVar is an assignment before a command: it lasts as long as the command.
type tempVar struct {
	name  string
	value string
	old   *variable
}

// prefix performs the assignments before a command. They are undone by
// dropPrefix.
func (s *state) prefix(as []*syntax.Assign) []tempVar {
	var temp []tempVar
	for _, a := range as {
		name := a.Name.Value
		if a.Array != nil || a.Index != nil {
			continue
		}
		value := s.expandValue(a.Value)
		if target, _, _, ok := s.follow(name); ok {
			name = target
		}
		if s.readonly(name) {
			continue
		}
		old := s.vars[name]
		v := &variable{own: s.own, attr: attrExport, set: true, scope: s.scope, str: value}
		if old != nil {
			v.attr |= old.attr & (attrInteger | attrLower | attrUpper | attrCapital)
			v.scope = old.scope
			if a.Append { // otherwise the attributes do not matter here
				prev, _ := old.scalar()
				v.str, _ = s.convert(v, prev, value, true)
			}
		}
		s.ownVars()[name] = v
		s.assigned(name, v)
		temp = append(temp, tempVar{name: name, value: v.str, old: old})
	}
	return temp
}

// dropPrefix undoes prefix.
func (s *state) dropPrefix(temp []tempVar) {
	for i := len(temp) - 1; i >= 0; i-- {
		t := temp[i]
		vars := s.ownVars()
		if t.old == nil {
			delete(vars, t.name)
		} else {
			vars[t.name] = t.old
		}
		s.assigned(t.name, &variable{})
	}
}

// invoke finds what the first word names and runs it.
func (s *state) invoke(st *syntax.Stmt, args []string, temp []tempVar, noFork bool, undo *undoFDs) {
	name := args[0]
	last := args[len(args)-1]
	if strings.IndexByte(name, '/') < 0 {
		if f := s.funcs[name]; f != nil {
			s.callFunction(f, args, temp)
			s.lastArg = last
			s.checkError()
			return
		}
		if b := s.builtin(name); b != nil {
			if b.special && s.opts.on(optPosix) {
				temp = nil // the assignments stay
			}
			s.runBuiltin(b, args, temp, undo)
			s.lastArg = last
			if s.ctl == ctlNone {
				s.checkError()
			}
			return
		}
	}
	s.lastArg = last
	defer s.dropPrefix(temp)
	s.status = s.external(args, noFork)
	s.checkError()
}

// callFunction calls a function. The temporary variables are local to it.
func (s *state) callFunction(f *function, args []string, temp []tempVar) {
	if n := s.get("FUNCNEST"); n != "" {
		if limit, ok := s.arithmetic(n, ""); ok && limit > 0 && int64(s.calls()) >= limit {
			s.errorf("%s: maximum function nesting level exceeded (%d)", f.name, limit)
			s.dropPrefix(temp)
			s.dropLine(1)
		}
	}
	s.deeper()
	s.depth += depthFactor - 1
	fr := &frame{own: s.own, fn: f, name: f.name, source: f.source, line: s.line, params: s.params}
	s.scope++
	if len(temp) > 0 {
		fr.saved = make(map[string]*variable, len(temp))
		for i := len(temp) - 1; i >= 0; i-- {
			t := temp[i]
			fr.saved[t.name] = t.old
			s.change(t.name).scope = s.scope
		}
	}
	s.frames = append(s.frames, fr)
	s.params = args[1:]
	loops, source, delta := s.loops, s.source, s.lineDelta
	s.loops, s.source, s.lineDelta = 0, f.source, 0
	place := len(s.frames) - 1
	line, hidden := s.line, s.hideTraps(false)
	defer func() {
		s.line = line
		s.showTraps(hidden)
		s.loops, s.source, s.lineDelta = loops, source, delta
		s.depth -= depthFactor
		s.popFrame(place)
	}()
	s.debugTrap()
	s.stmtBody(f.decl.Body)
	if s.ctl == ctlReturn {
		s.ctl = ctlNone
	}
	s.runTrap(trapRETURN)
}

// stmtBody runs a function's body with its redirections.
func (s *state) stmtBody(st *syntax.Stmt) {
	if len(st.Redirs) == 0 {
		s.compoundBody(st.Cmd)
		return
	}
	s.compound(st)
}

// calls is how many function calls are under way.
func (s *state) calls() int {
	n := 0
	for _, f := range s.frames {
		if f.fn != nil {
			n++
		}
	}
	return n
}

// popFrame ends frame number place: its locals give way to what they hid.
func (s *state) popFrame(place int) {
	f := s.frames[place]
	s.frames = s.frames[:place]
	if f.fn == nil {
		if f.shadowed {
			if s.calls() > 0 || !s.paramsSet {
				s.params = f.params
			}
			s.paramsSet = false
		}
		return
	}
	s.params = f.params
	s.scope--
	if len(f.saved) > 0 {
		vars := s.ownVars()
		for name, old := range f.saved {
			if v := vars[name]; v != nil && v.special == nil {
				s.keep(-s.size(v))
			}
			if old == nil {
				delete(vars, name)
			} else {
				vars[name] = old
			}
			s.assigned(name, &variable{})
		}
	}
	if f.opts != nil {
		s.opts.set = f.opts.set
	}
}
