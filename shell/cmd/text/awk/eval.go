package awk

import (
	"fmt"
	"math"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

func (x *numberLit) eval(*interp) value    { return x.v }
func (x *stringLit) eval(*interp) value    { return x.v }
func (x *groupExpr) eval(in *interp) value { return x.x.eval(in) }
func (x *regexLit) eval(in *interp) value {
	return truth(in.matches(x.compiled(in), in.line()))
}

// compiled returns the expression for the present IGNORECASE.
func (x *regexLit) compiled(in *interp) *regex.Regexp {
	if re := x.re[in.ignoring]; re != nil {
		return re
	}
	if x.re == nil {
		x.re = map[bool]*regex.Regexp{}
	}
	re := in.compile(x.src)
	x.re[in.ignoring] = re
	return re
}

// maxRegexes bounds the dynamic expressions that are kept compiled.
const maxRegexes = 500

// compile compiles a regular expression; one that is none ends the program.
func (in *interp) compile(src string) *regex.Regexp {
	key := src
	if in.ignoring {
		key = "i" + src
	} else {
		key = "c" + src
	}
	if re := in.regexes[key]; re != nil {
		return re
	}
	flags := regex.Flags(0)
	if in.utf8 {
		flags |= regex.UTF8
	}
	if in.ignoring {
		flags |= regex.IgnoreCase
	}
	warnEscapes(src, func(m string) {
		if !in.warned[m] {
			in.warned[m] = true
			in.warning("%s", m)
		}
	})
	re, err := regex.Compile(src, regex.Awk, flags)
	if err != nil {
		in.fatal("invalid regexp: %v: /%s/", err, src)
	}
	if len(in.regexes) >= maxRegexes {
		clear(in.regexes)
	}
	in.regexes[key] = re
	return re
}

// warnEscapes warns of escapes that mean nothing.
func warnEscapes(src string, warn func(string)) {
	for i := 0; i+1 < len(src); i++ {
		if src[i] != '\\' {
			continue
		}
		i++
		c := src[i]
		if isLetter(c) && strings.IndexByte("abfnrtvxyBwWsS", c) < 0 {
			warn(fmt.Sprintf("regexp escape sequence `\\%c' is not a known regexp operator", c))
		}
	}
}

// matches reports whether an expression matches in s.
func (in *interp) matches(re *regex.Regexp, s string) bool {
	ok, err := re.Match(in.ctx, in.bytes(s))
	in.regexDone(err)
	return ok
}

// bytes returns s as bytes, in memory that the next call reuses.
func (in *interp) bytes(s string) []byte {
	in.scratch = append(in.scratch[:0], s...)
	return in.scratch
}

// regexDone ends the program when a match was cut short.
func (in *interp) regexDone(err error) {
	if err == nil {
		return
	}
	if in.ctx.Err() != nil {
		panic(&failure{status: 2})
	}
	in.fatal("%v", err)
}

// regexOf returns an operand that is wanted as a regular expression.
func (in *interp) regexOf(x expr) *regex.Regexp {
	for {
		g, ok := x.(*groupExpr)
		if !ok {
			break
		}
		x = g.x
	}
	if lit, ok := x.(*regexLit); ok {
		return lit.compiled(in)
	}
	v := x.eval(in)
	return in.compile(v.string(in.convfmt()))
}

// Variables.

func (x *globalVar) eval(in *interp) value {
	s := &in.globals[x.index]
	if s.arr != nil {
		in.fatal("attempt to use array `%s' in a scalar context", x.name)
	}
	return s.value
}

func (x *globalVar) locate(in *interp) place {
	s := &in.globals[x.index]
	if s.arr != nil {
		in.fatal("attempt to use array `%s' in a scalar context", x.name)
	}
	return place{slot: s}
}

func (x *localVar) eval(in *interp) value {
	s := &in.locals[x.index]
	if s.isArray() {
		in.fatal("attempt to use array `%s' in a scalar context", x.name)
	}
	return s.value
}

func (x *localVar) locate(in *interp) place {
	s := &in.locals[x.index]
	if s.isArray() {
		in.fatal("attempt to use array `%s' in a scalar context", x.name)
	}
	s.ref = nil // it is a scalar of the function's own now
	return place{slot: s}
}

// isArray reports whether a variable is an array by now.
func (s *slot) isArray() bool { return s.arr != nil || s.ref != nil && s.ref.isArray() }

func (x *specialVar) eval(in *interp) value {
	switch x.index {
	case vNF:
		in.split()
		return number(float64(len(in.fields)))
	case vNR:
		return number(in.nr)
	case vFNR:
		return number(in.fnr)
	}
	s := &in.special[x.index]
	if s.arr != nil {
		in.fatal("attempt to use array `%s' in a scalar context", x.name)
	}
	return s.value
}

func (x *specialVar) locate(in *interp) place {
	if isArrayVar(x.index) {
		in.fatal("attempt to use array `%s' in a scalar context", x.name)
	}
	return place{special: x.index}
}

func (x *fieldExpr) eval(in *interp) value { return in.field(x.number(in)) }

// number evaluates a field's number.
func (x *fieldExpr) number(in *interp) int {
	v := x.index.eval(in)
	n := v.float()
	if n < 0 {
		in.fatal("attempt to access field %d", int(n))
	}
	if n > maxFields {
		in.fatal("NF set to too large a value")
	}
	return int(n)
}

func (x *fieldExpr) locate(in *interp) place { return place{field: x.number(in), isField: true} }

// Arrays.

// find returns the array that a name stands for, made if it is untyped.
func (r *arrayRef) find(in *interp) *array {
	switch {
	case r.outer != nil:
		s := r.outer.element(in)
		if s.arr == nil {
			if s.kind != kUnset {
				in.fatal("attempt to use scalar `%s[...]' as an array", r.name)
			}
			s.arr = newArray()
		}
		return s.arr
	case r.local >= 0:
		return in.locals[r.local].array(in, r.name, true)
	case r.special >= 0:
		s := &in.special[r.special]
		if s.arr == nil {
			in.fatal("attempt to use scalar `%s' as an array", r.name)
		}
		return s.arr
	}
	return in.globals[r.global].array(in, r.name, false)
}

// array returns the array of a variable.
func (s *slot) array(in *interp, name string, param bool) *array {
	if s.arr != nil {
		return s.arr
	}
	if s.kind != kUnset {
		what := "scalar"
		if param {
			what = "scalar parameter"
		}
		in.fatal("attempt to use %s `%s' as an array", what, name)
	}
	if s.ref != nil {
		s.arr = s.ref.array(in, name, param)
	} else {
		s.arr = newArray()
	}
	return s.arr
}

// subscript evaluates subscripts to the key they make.
func (in *interp) subscript(subs []expr) string {
	if len(subs) == 1 {
		v := subs[0].eval(in)
		return in.key(&v)
	}
	parts := make([]string, len(subs))
	for i, x := range subs {
		v := x.eval(in)
		parts[i] = in.key(&v)
	}
	return strings.Join(parts, in.special[vSUBSEP].string("%.6g"))
}

// key is a value as a subscript: integers in their plain form.
func (in *interp) key(v *value) string { return v.string(in.convfmt()) }

func (x *indexExpr) element(in *interp) *slot {
	key := in.subscript(x.subs)
	in.at = x.pos
	a := x.array.find(in)
	s, fresh := a.get(key)
	if fresh {
		in.hold(int64(len(key)) + elementCost)
	}
	return s
}

func (x *indexExpr) eval(in *interp) value {
	s := x.element(in)
	if s.arr != nil {
		in.fatal("attempt to use array `%s' in a scalar context", x.array.name+"[...]")
	}
	return s.value
}

func (x *indexExpr) locate(in *interp) place {
	s := x.element(in)
	if s.arr != nil {
		in.fatal("attempt to use array `%s' in a scalar context", x.array.name+"[...]")
	}
	return place{slot: s}
}

func (x *inExpr) eval(in *interp) value {
	key := in.subscript(x.subs)
	in.at = x.pos
	return truth(x.array.find(in).has(key))
}

// Assignments.

// load returns the value at a place.
func (in *interp) load(p place) value {
	switch {
	case p.isField:
		return in.field(p.field)
	case p.slot != nil:
		return p.slot.value
	}
	return (&specialVar{index: p.special}).eval(in)
}

// assign stores a value.
func (in *interp) assign(p place, v value) {
	switch {
	case p.isField:
		in.setField(p.field, v)
	case p.slot != nil:
		if n := len(v.str) - len(p.slot.str); n > maxHeldStep || n < -maxHeldStep {
			in.hold(int64(n))
		}
		p.slot.value = v
	default:
		in.setSpecial(p.special, v)
	}
}

func (x *assignExpr) eval(in *interp) value {
	if x.op == tAssign {
		v := x.val.eval(in)
		v.settle()
		in.assign(x.to.locate(in), v)
		return v
	}
	r := x.val.eval(in)
	p := x.to.locate(in)
	l := in.load(p)
	in.at = x.pos
	v := number(in.arithmetic(x.op, l.float(), r.float(), true))
	in.assign(p, v)
	return v
}

func (x *incrExpr) eval(in *interp) value {
	p := x.to.locate(in)
	v := in.load(p)
	old := v.float()
	in.assign(p, number(old+x.delta))
	if x.before {
		return number(old + x.delta)
	}
	return number(old)
}

// Operators.

func (x *binaryExpr) eval(in *interp) value {
	l := x.l.eval(in)
	a := l.float()
	r := x.r.eval(in)
	if x.op == tSlash || x.op == tPercent {
		in.at = x.pos
	}
	return number(in.arithmetic(x.op, a, r.float(), false))
}

// arithmetic computes a op b; assign says that it is for an op=.
func (in *interp) arithmetic(op tok, a, b float64, assign bool) float64 {
	switch op {
	case tPlus:
		return a + b
	case tMinus:
		return a - b
	case tStar:
		return a * b
	case tSlash:
		if b == 0 {
			if assign {
				in.fatal("division by zero attempted in `/='")
			}
			in.fatal("division by zero attempted")
		}
		return a / b
	case tPercent:
		if b == 0 {
			if assign {
				in.fatal("division by zero attempted in `%%='")
			}
			in.fatal("division by zero attempted in `%%'")
		}
		return math.Mod(a, b)
	}
	return power(a, b)
}

// power is a to the b; whole exponents are multiplied out, as gawk does.
func power(a, b float64) float64 {
	if b == math.Trunc(b) && math.Abs(b) < 1<<31 {
		n := int64(math.Abs(b))
		r := 1.0
		for x := a; n > 0; n >>= 1 {
			if n&1 == 1 {
				r *= x
			}
			x *= x
		}
		if b < 0 {
			return 1 / r
		}
		return r
	}
	return math.Pow(a, b)
}

func (x *compareExpr) eval(in *interp) value {
	l := x.l.eval(in)
	r := x.r.eval(in)
	d := compareValues(&l, &r, in.convfmt())
	if in.ignoring && !(l.isNumeric() && r.isNumeric()) {
		d = strings.Compare(strings.ToLower(l.string(in.convfmt())), strings.ToLower(r.string(in.convfmt())))
	}
	switch x.op {
	case tLess:
		return truth(d < 0)
	case tLessEq:
		return truth(d <= 0)
	case tGreater:
		return truth(d > 0)
	case tGreaterEq:
		return truth(d >= 0)
	case tEqual:
		return truth(d == 0)
	}
	return truth(d != 0)
}

func (x *andExpr) eval(in *interp) value {
	v := x.l.eval(in)
	if !v.bool() {
		return number(0)
	}
	v = x.r.eval(in)
	return truth(v.bool())
}

func (x *orExpr) eval(in *interp) value {
	v := x.l.eval(in)
	if v.bool() {
		return number(1)
	}
	v = x.r.eval(in)
	return truth(v.bool())
}

func (x *notExpr) eval(in *interp) value {
	v := x.x.eval(in)
	return truth(!v.bool())
}

func (x *negExpr) eval(in *interp) value {
	v := x.x.eval(in)
	return number(-v.float())
}

func (x *plusExpr) eval(in *interp) value {
	v := x.x.eval(in)
	return number(v.float())
}

func (x *condExpr) eval(in *interp) value {
	v := x.cond.eval(in)
	if v.bool() {
		return x.yes.eval(in)
	}
	return x.no.eval(in)
}

func (x *concatExpr) eval(in *interp) value {
	format := in.convfmt()
	if len(x.parts) == 2 {
		l := x.parts[0].eval(in)
		s := l.string(format)
		r := x.parts[1].eval(in)
		t := r.string(format)
		in.checkSize(len(s) + len(t))
		return text(s + t)
	}
	parts := make([]string, len(x.parts))
	n := 0
	for i, p := range x.parts {
		v := p.eval(in)
		parts[i] = v.string(format)
		n += len(parts[i])
	}
	in.checkSize(n)
	return text(strings.Join(parts, ""))
}

func (x *matchExpr) eval(in *interp) value {
	v := x.x.eval(in)
	s := v.string(in.convfmt())
	in.at = x.pos
	return truth(in.matches(in.regexOf(x.re), s) != x.not)
}

// Calls.

// maxCallDepth bounds recursion.
const maxCallDepth = 20000

func (x *callExpr) eval(in *interp) value { return in.call(x.fn, x.args, x.pos) }

func (x *indirectExpr) eval(in *interp) value {
	v := x.name.eval(in)
	in.at = x.pos
	name := v.string(in.convfmt())
	f := in.prog.functions[name]
	if f == nil {
		if b, ok := builtins[name]; ok {
			return b.fn(in, &builtinExpr{name: name, fn: b.fn, args: x.args, pos: x.pos})
		}
		in.fatal("function called indirectly through `%s' does not exist", name)
	}
	if len(x.args) > len(f.params) {
		in.fatal("function `%s' called with more arguments than declared", name)
	}
	return in.call(f, x.args, x.pos)
}

// call calls a function with arguments.
func (in *interp) call(f *function, args []expr, at pos) value {
	frame := make([]slot, len(f.params))
	for i, a := range args {
		if i < len(frame) {
			frame[i] = in.argument(a)
		} else {
			a.eval(in) // warned of already
		}
	}
	return in.invoke(f, frame, at)
}

// argument evaluates an argument: arrays are passed by reference, and what is
// not yet typed may turn out to be one.
func (in *interp) argument(a expr) slot {
	var s *slot
	switch x := a.(type) {
	case *globalVar:
		s = &in.globals[x.index]
	case *localVar:
		s = &in.locals[x.index]
	case *specialVar:
		if isArrayVar(x.index) {
			s = &in.special[x.index]
		}
	case *indexExpr:
		s = x.element(in)
	}
	switch {
	case s == nil:
		return slot{value: a.eval(in)}
	case s.arr != nil:
		return slot{arr: s.arr}
	case s.kind == kUnset:
		return slot{ref: s}
	}
	return slot{value: s.value}
}

func (in *interp) invoke(f *function, frame []slot, at pos) value {
	in.step()
	if in.depth++; in.depth > maxCallDepth {
		in.at = at
		in.fatal("function `%s' called too deep", f.name)
	}
	saved := in.locals
	in.locals = frame
	fl := f.body.exec(in)
	in.locals = saved
	in.depth--
	switch fl {
	case flowReturn:
		v := in.result
		in.result = value{}
		return v
	case flowExit, flowNext, flowNextFile:
		panic(unwind(fl))
	}
	return value{}
}

// unwind is thrown by exit and next inside of a function.
type unwind flow
