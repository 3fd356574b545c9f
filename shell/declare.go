package shell

import (
	"strings"

	"github.com/vfsd/vfsd/shell/parse"
)

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
	if b.name == "local" && s.calls() == 0 {
		s.builtinError(b, "can only be used in a function")
		return 1
	}
	if !d.options(args) {
		return 2
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
		if d.print {
			line = "declare " + f.flags() + " " + a.text
		}
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
	if v == nil {
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
	if !d.checkReadonly(name) || !d.checkKinds(a, name) || !d.checkReference(a, name) {
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
func (d *declaration) checkKinds(a *declArg, name string) bool {
	s := d.s
	v := s.vars[name]
	if d.local && v != nil && v.scope != s.scope {
		v = nil
	}
	if v == nil {
		return true
	}
	report := func(msg string) {
		if a.array != nil { // found before the builtin runs
			s.errorf("%s: %s", name, msg)
			s.dropLine(1)
		} else {
			s.builtinError(d.b, "%s: %s", name, msg)
		}
	}
	switch {
	case d.on&attrAssoc != 0 && v.attr&attrArray != 0:
		report("cannot convert indexed to associative array")
	case d.on&attrArray != 0 && v.attr&attrAssoc != 0:
		report("cannot convert associative to indexed array")
	case d.off&(attrArray|attrAssoc)&v.attr != 0:
		report("cannot destroy array variables in this way")
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
		v := s.vars[name]
		if v == nil || d.local && v.scope != s.scope || v.attr&attrNameref != 0 || !v.set || v.special != nil || validReference(v.str) {
			return true
		}
		s.builtinError(d.b, "`%s': invalid variable name for name reference", v.str)
		return false
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
		ok = d.assigning(name, v, func() bool { return s.assignArray(name, a.array, a.add, d.on&attrAssoc) })
	case a.sub != nil && a.has:
		ok = d.assigning(name, v, func() bool { return s.assignElement(name, *a.sub, a.value, a.add) })
	case a.sub != nil:
		if v.attr&attrAssoc == 0 {
			v.attr |= attrArray
		}
	case a.has && v.attr&attrNameref != 0:
		v.str, v.set = a.value, true
	case a.has && d.compound(a.value, v):
		arr := parse.Array(a.value)
		ok = d.assigning(name, v, func() bool { return s.assignArray(name, arr, a.add, d.on&attrAssoc) })
	case a.has:
		ok = d.assigning(name, v, func() bool { return s.assignTo(name, a.value, a.add) })
	}
	if readonly != 0 {
		d.assigning(name, v, func() bool { s.change(name).attr |= attrReadonly; return true })
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

// assigning runs an assignment on the declared variable. A global one that a local
// hides takes its place meanwhile.
func (d *declaration) assigning(name string, v *variable, f func() bool) bool {
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
