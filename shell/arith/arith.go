// Package arith evaluates shell arithmetic: the expressions of $(( )), (( )),
// let, array subscripts and integer variables, on 64-bit integers that wrap.
//
//	v, err := arith.Eval("x = y * 2 + a[3]", vars)
//
// The text is what is left after the shell's expansions. It is parsed and
// evaluated in one pass, as Bash does, so that what precedes a mistake has taken
// effect. Messages are Bash's.
package arith

import (
	"fmt"
	"strconv"
	"strings"
)

// Vars are the variables of an expression.
type Vars interface {
	// Value returns the text of a variable, or of an element when indexed; ""
	// when it is not set. An error ends the evaluation.
	Value(name, subscript string, indexed bool) (string, error)
	// Assign sets a variable or an element.
	Assign(name, subscript string, indexed bool, value int64) error
}

// MaxDepth is how deeply a variable's value may lead to other variables, and
// parentheses may nest.
const MaxDepth = 1024

// Error is a mistake in an expression.
type Error struct {
	Expr  string // the expression, or the variable's value that was one
	Msg   string
	Token string // from where on it could not be understood
}

// Error is Bash's message, without what comes before the expression.
func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s (error token is \"%s\")", e.Expr, e.Msg, e.Token)
}

// Eval evaluates an expression; an empty one is 0.
func Eval(expr string, vars Vars) (int64, error) { return eval(expr, vars, 0) }

func eval(expr string, vars Vars, depth int) (v int64, err error) {
	if n, ok := simple(expr); ok {
		return n, nil
	}
	e := &evaluator{vars: vars, depth: depth}
	e.s = strings.TrimLeft(expr, " \t")
	if depth > MaxDepth {
		return 0, &Error{Expr: e.s, Msg: "expression recursion level exceeded", Token: e.s}
	}
	if e.s == "" {
		return 0, nil
	}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case *Error:
			err = r
		case failure:
			err = r.err
		default:
			panic(r)
		}
	}()
	e.next()
	if e.tok == end {
		return 0, nil
	}
	v = e.comma()
	if e.tok != end {
		e.fail("syntax error in expression")
	}
	return v, nil
}

// simple evaluates the most common expression, a short decimal number.
func simple(s string) (int64, bool) {
	if len(s) == 0 || len(s) > 18 || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	var n int64
	for i := 0; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int64(s[i]-'0')
	}
	return n, true
}

// failure carries an error of Vars through the evaluation.
type failure struct{ err error }

type tokenKind uint8

const (
	end tokenKind = iota
	number
	name
	op     // an operator: evaluator.op
	assign // op=: evaluator.op is what comes before "="
	preInc
	preDec
	postInc
	postDec
)

// evaluator reads tokens from s and evaluates as it goes.
type evaluator struct {
	vars  Vars
	s     string
	at    int // after the present token
	start int // of the present token
	depth int
	skip  int // more than 0: parse, but take no effect
	nest  int

	stepped bool // the token before ends ++x, which x++ cannot follow

	tok  tokenKind
	last tokenKind // the token before
	op   string
	val  int64
	id   string
	sub  string
	idx  bool
}

func (e *evaluator) fail(msg string) {
	panic(&Error{Expr: e.s, Msg: msg, Token: e.s[min(e.start, len(e.s)):]})
}

// is reports whether the present token is that operator.
func (e *evaluator) is(o string) bool { return e.tok == op && e.op == o }

func (e *evaluator) comma() int64 {
	v := e.assignment()
	for e.is(",") {
		e.next()
		v = e.assignment()
	}
	return v
}

func (e *evaluator) assignment() int64 {
	if e.nest++; e.nest > MaxDepth {
		e.fail("expression recursion level exceeded")
	}
	defer func() { e.nest-- }()
	v := e.conditional()
	if e.tok != assign {
		return v
	}
	if e.last != name {
		e.fail("attempted assignment to non-variable")
	}
	o, id, sub, idx := e.op, e.id, e.sub, e.idx
	e.next()
	if e.tok == end {
		e.fail("syntax error: operand expected")
	}
	from := e.start
	r := e.assignment()
	if o != "" {
		r = e.binary(o, v, r, from)
	}
	if e.skip == 0 {
		if err := e.vars.Assign(id, sub, idx, r); err != nil {
			panic(failure{err})
		}
	}
	e.last = number
	return r
}

func (e *evaluator) conditional() int64 {
	c := e.or()
	if !e.is("?") {
		return c
	}
	a := e.branch(c != 0, func() int64 {
		if e.tok == end || e.is(":") {
			e.fail("expression expected")
		}
		return e.comma()
	})
	if !e.is(":") {
		e.fail("`:' expected for conditional expression")
	}
	b := e.branch(c == 0, func() int64 {
		if e.tok == end {
			e.fail("expression expected")
		}
		return e.conditional()
	})
	e.last = number
	if c != 0 {
		return a
	}
	return b
}

// branch moves on and evaluates, with effect only if live.
func (e *evaluator) branch(live bool, f func() int64) int64 {
	if !live {
		e.skip++
		defer func() { e.skip-- }()
	}
	e.next()
	return f()
}

func (e *evaluator) or() int64 {
	v := e.and()
	for e.is("||") {
		r := e.branch(v == 0, e.and)
		v = truth(v != 0 || r != 0)
		e.last = number
	}
	return v
}

func (e *evaluator) and() int64 {
	v := e.level(0)
	for e.is("&&") {
		r := e.branch(v != 0, func() int64 { return e.level(0) })
		v = truth(v != 0 && r != 0)
		e.last = number
	}
	return v
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// level evaluates operators of levels n and tighter. It climbs by precedence,
// so that a lone operand costs no walk through every level.
func (e *evaluator) level(n int) int64 {
	v := e.power()
	for {
		l := e.precedence()
		if l < n {
			return v
		}
		o := e.op
		e.next()
		from := e.start
		r := e.level(l + 1)
		v = e.binary(o, v, r, from)
		e.last = number
	}
}

// precedence is the level of the present operator among those that always
// evaluate both sides, loosest first; -1 when it is none of them.
func (e *evaluator) precedence() int {
	if e.tok != op {
		return -1
	}
	switch e.op {
	case "|":
		return 0
	case "^":
		return 1
	case "&":
		return 2
	case "==", "!=":
		return 3
	case "<=", ">=", "<", ">":
		return 4
	case "<<", ">>":
		return 5
	case "+", "-":
		return 6
	case "*", "/", "%":
		return 7
	}
	return -1
}

// binary applies an operator; from is where its right side starts.
func (e *evaluator) binary(o string, a, b int64, from int) int64 {
	switch o {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/", "%":
		return e.divide(o, a, b, from)
	case "<<":
		return a << (uint64(b) & 63)
	case ">>":
		return a >> (uint64(b) & 63)
	case "&":
		return a & b
	case "|":
		return a | b
	case "^":
		return a ^ b
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	case "<":
		return truth(a < b)
	case "<=":
		return truth(a <= b)
	case ">":
		return truth(a > b)
	case ">=":
		return truth(a >= b)
	}
	e.fail("bug: bad expassign token")
	return 0
}

func (e *evaluator) divide(o string, a, b int64, from int) int64 {
	if b == 0 {
		if e.skip == 0 {
			e.start = from
			e.fail("division by 0")
		}
		b = 1
	}
	if b == -1 { // the one quotient that does not fit, and its remainder
		if o == "%" {
			return 0
		}
		return -a
	}
	if o == "%" {
		return a % b
	}
	return a / b
}

func (e *evaluator) power() int64 {
	v := e.unary()
	if !e.is("**") {
		return v
	}
	e.next()
	r := e.power()
	e.last = number
	if r < 0 {
		e.fail("exponent less than 0")
	}
	p := int64(1)
	for ; r > 0; r >>= 1 {
		if r&1 != 0 {
			p *= v
		}
		v *= v
	}
	return p
}

func (e *evaluator) unary() int64 {
	if e.tok != op {
		return e.primary()
	}
	if e.nest++; e.nest > MaxDepth {
		e.fail("expression recursion level exceeded")
	}
	defer func() { e.nest-- }()
	switch o := e.op; o {
	case "!", "~", "-", "+":
		e.next()
		v := e.unary()
		e.last = number
		switch o {
		case "!":
			return truth(v == 0)
		case "~":
			return ^v
		case "-":
			return -v
		}
		return v
	}
	return e.primary()
}

func (e *evaluator) primary() int64 {
	switch e.tok {
	case preInc, preDec:
		return e.preStep()
	case number:
		v := e.val
		e.next()
		return v
	case name:
		v := e.val
		id, sub, idx := e.id, e.sub, e.idx
		e.next()
		if e.tok == postInc || e.tok == postDec {
			e.step(id, sub, idx, v, e.tok == postInc)
			e.next()
			e.last = number
			return v
		}
		e.id, e.sub, e.idx = id, sub, idx
		return v
	}
	if e.is("(") {
		e.next()
		v := e.comma()
		if !e.is(")") {
			e.fail("missing `)'")
		}
		e.next()
		e.last = number
		return v
	}
	e.fail("syntax error: operand expected")
	return 0
}

func (e *evaluator) preStep() int64 {
	inc := e.tok == preInc
	e.next()
	if e.tok != name {
		e.fail("identifier expected after pre-increment or pre-decrement")
	}
	v := e.step(e.id, e.sub, e.idx, e.val, inc)
	e.stepped = true
	e.next()
	e.stepped = false
	e.last = number
	return v
}

// step adds or subtracts one.
func (e *evaluator) step(id, sub string, idx bool, v int64, inc bool) int64 {
	if inc {
		v++
	} else {
		v--
	}
	if e.skip == 0 {
		if err := e.vars.Assign(id, sub, idx, v); err != nil {
			panic(failure{err})
		}
	}
	return v
}

// load fetches a variable's value, which is an expression itself.
func (e *evaluator) load() {
	e.val = 0
	if e.skip > 0 {
		return
	}
	text, err := e.vars.Value(e.id, e.sub, e.idx)
	if err != nil {
		panic(failure{err})
	}
	if text == "" {
		return
	}
	if n, ok := simple(text); ok {
		e.val = n
		return
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && text[0] != '0' && text[0] != '+' && !strings.HasPrefix(text, "-0") {
		e.val = n
		return
	}
	v, err := eval(text, e.vars, e.depth+1)
	if err != nil {
		panic(failure{err})
	}
	e.val = v
}
