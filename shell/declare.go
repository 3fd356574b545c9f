package shell

import (
	"sort"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/parse"
)

// declArg is one argument of a declaration: an option, a name or an assignment.
type declArg struct {
	text  string // as written, for messages; an option or a name when nothing else is set
	name  string
	value string
	has   bool // it assigns
	add   bool
	sub   *subscript
	array *syntax.ArrayExpr
}

// declClause runs declare and its kin, whose arguments may be assignments of
// every form.
func (s *state) declClause(st *syntax.Stmt, c *syntax.DeclClause) {
	s.at(st.Position)
	s.setCommand(st)
	s.debugTrap()
	s.substStatus = -1
	s.noFork = false
	name := c.Variant.Value
	mark := len(s.procFDs)
	var undo undoFDs
	defer func() {
		s.restoreFDs(undo)
		s.closeProcFDs(mark)
	}()
	args := s.declArgs(c)
	if len(st.Redirs) > 0 && !s.redirect(st.Redirs, &undo) {
		s.status = 1
		s.checkError()
		return
	}
	words := []string{name}
	for i := range args {
		words = append(words, args[i].text)
	}
	s.traceDecl(name, c, args)
	if s.funcs[name] != nil || s.builtin(name) == nil {
		s.invoke(st, words, nil, false, &undo)
		return
	}
	s.cmdName = name
	s.status = s.declare(builtins[name], args)
	s.cmdName = ""
	s.lastArg = words[len(words)-1]
	s.checkError()
}

// declArgs expands the arguments.
func (s *state) declArgs(c *syntax.DeclClause) []declArg {
	var out []declArg
	assoc := false
	for _, a := range c.Args {
		if n := len(out); n > 0 && strings.HasPrefix(out[n-1].text, "-") && strings.Contains(out[n-1].text, "A") {
			assoc = true
		}
		switch {
		case a.Naked && a.Name != nil:
			out = append(out, declArg{text: a.Name.Value, name: a.Name.Value})
		case a.Naked:
			for _, text := range s.expandFields([]*syntax.Word{a.Value}) {
				out = append(out, parseDeclArg(text))
			}
		default:
			d := declArg{name: a.Name.Value, has: true, add: a.Append, array: a.Array}
			op := "="
			if a.Append {
				op = "+="
			}
			d.text = d.name
			if a.Index != nil {
				w, _ := a.Index.(*syntax.Word)
				d.sub = &subscript{word: w}
				d.text += "[" + wordSource(w) + "]"
			}
			switch {
			case a.Array == nil:
				d.value = s.expandValue(a.Value)
			case s.tracing():
				d.array = s.quoteArray(a.Array, assoc)
			}
			d.text += op + d.value
			out = append(out, d)
		}
	}
	return out
}

// quoteArray expands the elements of an array and quotes what comes of them, so
// that the array can be shown before it is assigned.
func (s *state) quoteArray(arr *syntax.ArrayExpr, assoc bool) *syntax.ArrayExpr {
	out := &syntax.ArrayExpr{}
	word := func(text string) *syntax.Word {
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.SglQuoted{Value: text}}}
	}
	for _, el := range arr.Elems {
		if el.Index == nil {
			for _, t := range s.expandFields([]*syntax.Word{el.Value}) {
				out.Elems = append(out.Elems, &syntax.ArrayElem{Value: word(t)})
			}
			continue
		}
		w, _ := el.Index.(*syntax.Word)
		value, add := s.elementValue(el)
		e := &syntax.ArrayElem{Index: w, Value: word(value)}
		if assoc {
			e.Index = word(s.expandString(w))
		}
		if add {
			e.Value.Parts = append([]syntax.WordPart{parse.AppendMark}, e.Value.Parts...)
		}
		out.Elems = append(out.Elems, e)
	}
	return out
}

// parseDeclArg takes an argument apart that was expanded: name, name=value,
// name[sub]=value.
func parseDeclArg(text string) declArg {
	d := declArg{text: text, name: text}
	eq := strings.IndexByte(text, '=')
	if eq <= 0 || text[0] == '-' || text[0] == '+' {
		if i := strings.IndexByte(text, '['); i > 0 && strings.HasSuffix(text, "]") {
			sub := subscriptText(text[i+1 : len(text)-1])
			d.name, d.sub = text[:i], &sub
		}
		return d
	}
	if i := strings.IndexByte(text, '['); i > 0 && i < eq {
		if end := strings.Index(text, "]="); end > i {
			eq = end + 1
		} else if end := strings.Index(text, "]+="); end > i {
			eq = end + 2
		}
	}
	d.has, d.value = true, text[eq+1:]
	d.name = text[:eq]
	if strings.HasSuffix(d.name, "+") {
		d.name, d.add = d.name[:len(d.name)-1], true
	}
	if i := strings.IndexByte(d.name, '['); i > 0 && strings.HasSuffix(d.name, "]") {
		sub := subscriptText(d.name[i+1 : len(d.name)-1])
		d.name, d.sub = d.name[:i], &sub
	}
	return d
}

// builtinDeclare runs a declaration whose arguments were expanded as words, as
// after "command".
func builtinDeclare(s *state, b *builtin, args []string) int {
	var ds []declArg
	for _, a := range args[1:] {
		ds = append(ds, parseDeclArg(a))
	}
	return s.declare(b, ds)
}

// declaration is a declare under way.
type declaration struct {
	s      *state
	b      *builtin
	on     attr
	off    attr
	global bool
	local  bool
	funcs  bool // -f
	names  bool // -F
	print  bool // -p
	unexp  bool // export -n
	inher  bool // -I
	args   []declArg
	status int
}

// declLetters are the attributes by the letter of declare.
var declLetters = map[byte]attr{
	'a': attrArray, 'A': attrAssoc, 'i': attrInteger, 'l': attrLower, 'u': attrUpper, 'c': attrCapital,
	'n': attrNameref, 'r': attrReadonly, 't': attrTrace, 'x': attrExport,
}

// declare runs declare, typeset, local, export or readonly.
func (s *state) declare(b *builtin, args []declArg) int {
	d := &declaration{s: s, b: b}
	switch b.name {
	case "export":
		d.on = attrExport
	case "readonly":
		d.on = attrReadonly
	case "local":
		d.local = true
	default:
		d.local = s.calls() > 0
	}
	if !d.options(args) {
		return 2
	}
	if b.name == "local" && s.calls() == 0 {
		s.builtinError(b, "can only be used in a function")
		return 1
	}
	if b.name == "export" || b.name == "readonly" || d.global {
		d.local = false
	}
	if len(d.args) == 0 {
		return d.list()
	}
	for i := range d.args {
		a := &d.args[i]
		ok := false
		switch {
		case d.funcs || d.names:
			ok = d.function(a)
		case d.print && b.name != "export" && b.name != "readonly":
			ok = d.show(a)
		default:
			ok = d.variable(a)
		}
		if !ok {
			d.status = 1
		}
	}
	return d.status
}

// options takes the options off the front of the arguments.
func (d *declaration) options(args []declArg) bool {
	for len(args) > 0 {
		t := args[0].text
		if len(t) < 2 || t[0] != '-' && t[0] != '+' || args[0].array != nil {
			break
		}
		if d.b.name == "local" && t == "-" {
			break
		}
		args = args[1:]
		if t == "--" {
			break
		}
		if t[0] == '+' && (d.b.name == "export" || d.b.name == "readonly") {
			args = append([]declArg{{text: t, name: t}}, args...)
			break
		}
		for _, c := range []byte(t[1:]) {
			if !d.option(t[0], c) {
				return false
			}
		}
	}
	d.args = args
	return true
}

func (d *declaration) option(sign, c byte) bool {
	allowed := "aAfFgiIlnrtucxp"
	switch d.b.name {
	case "export":
		allowed = "fnp"
	case "readonly":
		allowed = "aAfp"
	}
	if strings.IndexByte(allowed, c) < 0 {
		d.s.builtinError(d.b, "%c%c: invalid option", sign, c)
		d.s.usage(d.b)
		return false
	}
	switch {
	case d.b.name == "export" && c == 'n':
		d.unexp, d.on = true, 0
		d.off = attrExport
	case c == 'f':
		d.funcs = true
	case c == 'F':
		d.names = true
	case c == 'g':
		d.global = true
	case c == 'I':
		d.inher = true
	case c == 'p':
		d.print = true
	case sign == '-':
		d.on |= declLetters[c]
		switch c {
		case 'l':
			d.off |= attrUpper | attrCapital
		case 'u':
			d.off |= attrLower | attrCapital
		case 'c':
			d.off |= attrLower | attrUpper
		}
	default:
		d.off |= declLetters[c]
	}
	return true
}

// list prints what there is, for a declaration without names.
func (d *declaration) list() int {
	s := d.s
	if d.funcs || d.names {
		return s.print(d.b, s.functionList(d.names, d.on))
	}
	var out strings.Builder
	for _, name := range s.variableNames() {
		v := s.vars[name]
		switch {
		case d.b.name == "local":
			if v.scope != s.scope || v.attr&attrLocal == 0 {
				continue
			}
			out.WriteString(s.describe(name, v) + "\n")
			continue
		case d.on != 0 && v.attr&d.on != d.on:
			continue
		}
		if d.print || d.on != 0 || d.b.name != "declare" && d.b.name != "typeset" {
			if v.attr&attrExport != 0 && !v.set && v.special == nil && d.b.name == "export" {
				out.WriteString(s.describe(name, v) + "\n")
				continue
			}
			out.WriteString(s.describe(name, v) + "\n")
			continue
		}
		if v.set || v.special != nil {
			out.WriteString(s.setLine(name, v))
		}
	}
	if !d.print && d.on == 0 && (d.b.name == "declare" || d.b.name == "typeset") {
		out.WriteString(s.functionList(false, 0))
	}
	return s.print(d.b, out.String())
}

// function handles an argument of -f or -F.
func (d *declaration) function(a *declArg) bool {
	s := d.s
	f := s.funcs[a.text]
	if f == nil {
		if d.b.name == "export" || d.b.name == "readonly" {
			s.builtinError(d.b, "%s: not a function", a.text)
		}
		return false
	}
	if on := d.on & (attrReadonly | attrExport | attrTrace); on != 0 || d.off != 0 {
		c := *f
		c.attr = f.attr&^d.off | on
		s.ownFuncs()[a.text] = &c
		return true
	}
	if d.names {
		line := a.text
		if s.opts.shopts(shoptExtdebug) {
			line += " " + itoa(f.line) + " " + f.source
		}
		return s.print(d.b, line+"\n") == 0
	}
	return s.print(d.b, s.functionText(f)+"\n") == 0
}

// show prints a variable as declare -p does.
func (d *declaration) show(a *declArg) bool {
	s := d.s
	v := s.vars[a.text]
	if d.local && d.b.name == "local" && v != nil && v.scope != s.scope {
		v = nil
	}
	if v == nil || !v.set && v.special == nil && v.attr&^attrLocal == 0 && v.scope == 0 {
		s.builtinError(d.b, "%s: not found", a.text)
		return false
	}
	return s.print(d.b, s.describe(a.text, v)+"\n") == 0
}

// variable declares one variable.
func (d *declaration) variable(a *declArg) bool {
	s := d.s
	if a.text == "-" && d.b.name == "local" {
		f := s.ownFrame(s.functionFrame())
		if f.opts == nil {
			o := s.opts
			f.opts = &o
		}
		return true
	}
	if !validName(a.name) {
		s.builtinError(d.b, "`%s': not a valid identifier", a.text)
		return false
	}
	if a.sub != nil && a.has && d.b.name != "declare" && d.b.name != "typeset" && d.b.name != "local" {
		s.builtinError(d.b, "`%s': not a valid identifier", strings.SplitN(a.text, "=", 2)[0])
		return false
	}
	name := a.name
	if v := s.vars[name]; v != nil && v.attr&attrNameref != 0 && (d.on|d.off)&attrNameref == 0 && !(d.local && v.scope != s.scope) {
		target, sub, hasSub, ok := s.follow(name)
		if !ok {
			return false
		}
		name = target
		if hasSub {
			sb := subscriptText(sub)
			a.sub = &sb
		}
	}
	if !d.checkReadonly(name) || !d.checkKinds(name) || !d.checkReference(a, name) {
		return false
	}
	v := d.place(name)
	return d.apply(a, name, v)
}

// checkReadonly refuses to change what is read-only.
func (d *declaration) checkReadonly(name string) bool {
	s := d.s
	v := s.vars[name]
	if v == nil || v.attr&attrReadonly == 0 {
		return true
	}
	if d.local && v.scope != s.scope {
		if v.scope == 0 || v.attr&attrReadonly != 0 {
			s.builtinError(d.b, "%s: readonly variable", name)
			return false
		}
	}
	if d.off&attrReadonly != 0 || d.off&attrExport == 0 && d.off != 0 {
		s.builtinError(d.b, "%s: readonly variable", name)
		return false
	}
	return true
}

// checkKinds refuses to turn one kind of array into the other.
func (d *declaration) checkKinds(name string) bool {
	s := d.s
	v := s.vars[name]
	if d.local && v != nil && v.scope != s.scope {
		v = nil
	}
	if v == nil {
		return true
	}
	switch {
	case d.on&attrAssoc != 0 && v.attr&attrArray != 0:
		s.builtinError(d.b, "%s: cannot convert indexed to associative array", name)
	case d.on&attrArray != 0 && v.attr&attrAssoc != 0:
		s.builtinError(d.b, "%s: cannot convert associative to indexed array", name)
	case d.off&(attrArray|attrAssoc)&v.attr != 0:
		s.builtinError(d.b, "%s: cannot destroy array variables in this way", name)
	default:
		return true
	}
	return false
}

// checkReference refuses namerefs to what cannot be referred to.
func (d *declaration) checkReference(a *declArg, name string) bool {
	s := d.s
	if d.on&attrNameref == 0 {
		return true
	}
	if v := s.vars[name]; v != nil && v.isArray() && !(d.local && v.scope != s.scope) {
		s.builtinError(d.b, "%s: reference variable cannot be an array", name)
		return false
	}
	if !a.has {
		return true
	}
	if a.value == name && !d.local {
		s.builtinError(d.b, "%s: nameref variable self references not allowed", name)
		return false
	}
	if a.value != "" && !validReference(a.value) {
		s.builtinError(d.b, "`%s': invalid variable name for name reference", a.value)
		return false
	}
	return true
}

// place finds or makes the variable that a declaration is about.
func (d *declaration) place(name string) *variable {
	s := d.s
	switch {
	case d.local:
		fresh := s.vars[name] == nil || s.vars[name].scope != s.scope
		old := s.vars[name]
		v := s.declareLocal(name)
		if fresh && d.inher && old != nil {
			c := old.clone(s.own)
			c.scope, c.attr = s.scope, c.attr|attrLocal
			s.ownVars()[name] = c
			v = c
		}
		return v
	case d.global:
		return s.global(name)
	}
	return s.change(name)
}

// apply gives a variable its attributes and its value.
func (d *declaration) apply(a *declArg, name string, v *variable) bool {
	s := d.s
	readonly := d.on & attrReadonly
	wasReadonly := v.attr & attrReadonly
	if wasReadonly != 0 && a.has {
		s.errorf("%s%s: readonly variable", d.label(), name)
		return false
	}
	if d.off&attrNameref != 0 && v.attr&attrNameref != 0 {
		v.attr &^= attrNameref
	}
	if v.special != nil && d.on&^attrExport != 0 && v.special.assign == nil {
		v.special = nil
	}
	v.attr = v.attr&^d.off | d.on&^attrReadonly
	if d.on&attrAssoc != 0 && v.m == nil {
		v.m = newAssoc()
		if v.set && v.str != "" {
			v.m.put("0", v.str)
			v.str = ""
		}
	}
	if d.on&attrArray != 0 && v.arr == nil && v.set {
		s.makeIndexed(v)
	}
	ok := true
	switch {
	case a.array != nil && a.sub != nil:
		s.errorf("%s: cannot assign list to array member", a.text)
		ok = false
	case a.array != nil:
		ok = d.on2(name, v, func() bool { return s.assignArray(name, a.array, a.add, d.on&attrAssoc) })
	case a.sub != nil && a.has:
		ok = d.on2(name, v, func() bool { return s.assignElement(name, *a.sub, a.value, a.add) })
	case a.sub != nil:
		if v.attr&attrAssoc == 0 {
			v.attr |= attrArray
		}
	case a.has && v.attr&attrNameref != 0:
		v.str, v.set = a.value, true
	case a.has && d.compound(a.value, v):
		arr := parse.Array(a.value)
		ok = d.on2(name, v, func() bool { return s.assignArray(name, arr, a.add, d.on&attrAssoc) })
	case a.has:
		ok = d.on2(name, v, func() bool { return s.assignTo(name, a.value, a.add) })
	}
	if readonly != 0 {
		d.on2(name, v, func() bool { s.change(name).attr |= attrReadonly; return true })
	}
	if s.opts.on(optAllexport) && a.has {
		v.attr |= attrExport
	}
	return ok
}

// label starts the message about a read-only variable.
func (d *declaration) label() string {
	if d.b.name == "export" || d.b.name == "readonly" {
		return ""
	}
	return d.b.name + ": "
}

// compound reports whether a value that came of an expansion is an array's:
// declare -a "a=(1 2)".
func (d *declaration) compound(value string, v *variable) bool {
	return v.isArray() && strings.HasPrefix(value, "(") && strings.HasSuffix(value, ")")
}

// on2 runs an assignment on the declared variable. A global one that a local
// hides takes its place meanwhile.
func (d *declaration) on2(name string, v *variable, f func() bool) bool {
	s := d.s
	now := s.vars[name]
	if !d.global || now == v {
		return f()
	}
	vars := s.ownVars()
	vars[name] = v
	ok := f()
	changed := s.vars[name]
	vars = s.ownVars()
	vars[name] = now
	if now == nil {
		delete(vars, name)
	}
	g := s.global(name)
	*g = *changed
	return ok
}

// variableNames lists the names of all variables, sorted.
func (s *state) variableNames() []string {
	names := make([]string, 0, len(s.vars))
	for n := range s.vars {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// flags are a variable's attributes as declare's letters.
func (v *variable) flags() string {
	var b strings.Builder
	for _, l := range []struct {
		a attr
		c byte
	}{
		{attrArray, 'a'}, {attrAssoc, 'A'}, {attrInteger, 'i'}, {attrNameref, 'n'}, {attrReadonly, 'r'},
		{attrTrace, 't'}, {attrExport, 'x'}, {attrCapital, 'c'}, {attrLower, 'l'}, {attrUpper, 'u'},
	} {
		if v.attr&l.a != 0 {
			b.WriteByte(l.c)
		}
	}
	return b.String()
}

// describe is the line of declare -p.
func (s *state) describe(name string, v *variable) string {
	flags := v.flags()
	if flags == "" {
		flags = "-"
	}
	head := "declare -" + flags + " " + name
	switch {
	case v.special != nil && v.special.list != nil:
		return head + "=" + s.arrayText(v)
	case v.special != nil:
		text, _ := v.special.scalar(s, v)
		return head + "=" + doubleQuote(text)
	case v.isArray() && v.set:
		return head + "=" + s.arrayText(v)
	case v.isArray() || !v.set:
		return head
	}
	return head + "=" + doubleQuote(v.str)
}

// arrayText is an array's value as declare -p and set show it.
func (s *state) arrayText(v *variable) string {
	var b strings.Builder
	b.WriteByte('(')
	keys, vals := s.keys(v), s.elements(v)
	assoc := v.attr&attrAssoc != 0
	for i, k := range keys {
		if i > 0 && !assoc {
			b.WriteByte(' ')
		}
		if assoc {
			k = quoteKey(k)
		}
		b.WriteString("[" + k + "]=" + doubleQuote(vals[i]))
		if assoc {
			b.WriteByte(' ')
		}
	}
	b.WriteByte(')')
	return b.String()
}

// setLine is a variable's line in the output of set.
func (s *state) setLine(name string, v *variable) string {
	switch {
	case v.isArray() && v.attr&attrNoUnset == 0:
		return name + "=" + s.arrayText(v) + "\n"
	case v.special != nil:
		text, _ := v.special.scalar(s, v)
		return name + "=" + setValue(text) + "\n"
	case !v.set:
		return ""
	}
	return name + "=" + setValue(v.str) + "\n"
}

// setValue quotes a value as set does, only if it needs it.
func setValue(text string) string {
	switch {
	case needsANSI(text, true):
		return ansiQuote(text, true)
	case hasMeta(text):
		return singleQuote(text)
	}
	return text
}
