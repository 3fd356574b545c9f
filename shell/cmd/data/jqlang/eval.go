package jqlang

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/itchyny/gojq"
)

// Error is an error that a program raised; its value is what catch sees.
type Error struct{ Value any }

// Error is the message as jq prints it after "jq: error (at ...)": with the
// colon that comes before a string.
func (e *Error) Error() string {
	if s, ok := e.Value.(string); ok {
		return ": " + s
	}
	return " (not a string): " + JSON(e.Value)
}

func errorf(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// Halt ends a program: halt and halt_error.
type Halt struct {
	Value    any
	HasValue bool // halt_error
	Status   int
}

func (h *Halt) Error() string { return "halt" }

// Options is the world of a program.
type Options struct {
	Vars map[string]any // by name, with the dollar sign
	// Input is what input returns; io.EOF when there is no more.
	Input    func() (any, error)
	Filename func() any // input_filename
	Line     func() int // input_line_number
	Env      *Object    // $ENV
	Now      func() time.Time
	Location *time.Location
	Debug    func(v any) // debug
	Stderr   func(s string)
	Grow     func(n int64) error // announces memory
}

// Code is a compiled program.
type Code struct{ query *gojq.Query }

// CompileError lists what a program uses and nobody defines.
type CompileError struct{ Undefined []string }

func (e *CompileError) Error() string { return strings.Join(e.Undefined, "\n") }

// Compile parses a program and checks that what it uses is defined; vars are
// the names of variables that it is given.
func Compile(src string, vars []string) (*Code, error) {
	q, err := gojq.Parse(src)
	if err != nil {
		return nil, err
	}
	c := checker{}
	var scope *env
	for _, v := range vars {
		scope = &env{parent: scope, name: v}
	}
	c.query(q, scope)
	if len(c.undefined) > 0 {
		return nil, &CompileError{c.undefined}
	}
	return &Code{q}, nil
}

// path is the way to a value, from the end; nil while ways are not followed.
type path struct {
	parent *path
	key    any
	// lost says that the value was computed, not reached; from is that value.
	lost bool
	from any
}

var rootPath = &path{}

func (p *path) to(key any) *path {
	if p == nil {
		return nil
	}
	return &path{parent: p, key: key}
}

// lose marks what comes out of a computation.
func (p *path) lose(v any) *path {
	if p == nil {
		return nil
	}
	return &path{lost: true, from: v}
}

func (p *path) list() []any {
	n := 0
	for q := p; q != rootPath; q = q.parent {
		n++
	}
	out := make([]any, n)
	for q := p; q != rootPath; q = q.parent {
		n--
		out[n] = q.key
	}
	return out
}

// yield takes one output. An error ends the program, or the part of it that
// catches it.
type yield func(v any, p *path) error

// env is one binding and those outside it: a variable, a function or a
// parameter.
type env struct {
	parent *env
	name   string // "$x", "*label", or a function's name
	value  any
	def    *gojq.FuncDef
	param  *closure
	arity  int
	isFunc bool
}

// closure is a query with the bindings that it sees.
type closure struct {
	q   *gojq.Query
	env *env
}

// breakError unwinds to a label.
type breakError struct{ label *env }

func (b *breakError) Error() string { return "break" }

// machine is one run of a program.
type machine struct {
	ctx   context.Context
	o     *Options
	steps int
	depth int
}

// maxCalls bounds how deep functions call each other.
const maxCalls = 20000

// Run evaluates the program for one input; emit gets each output.
func (c *Code) Run(ctx context.Context, o *Options, input any, emit func(v any) error) error {
	m := &machine{ctx: ctx, o: o}
	var scope *env
	for name, v := range o.Vars {
		scope = &env{parent: scope, name: name, value: v}
	}
	err := m.query(c.query, scope, input, nil, func(v any, _ *path) error { return emit(v) })
	if b, ok := err.(*breakError); ok {
		return errorf("%s", b.Error())
	}
	return err
}

func (m *machine) tick() error {
	if m.steps++; m.steps%1024 == 0 {
		return context.Cause(m.ctx)
	}
	return nil
}

func (m *machine) grow(n int64) error {
	if m.o.Grow == nil {
		return nil
	}
	return m.o.Grow(n)
}

// query evaluates a query.
func (m *machine) query(q *gojq.Query, e *env, in any, p *path, y yield) error {
	if err := m.tick(); err != nil {
		return err
	}
	for _, def := range q.FuncDefs {
		e = &env{parent: e, name: def.Name, def: def, arity: len(def.Args), isFunc: true}
	}
	if q.Term != nil {
		return m.term(q.Term, len(q.Term.SuffixList), e, in, p, y)
	}
	switch q.Op {
	case gojq.OpPipe:
		if len(q.Patterns) > 0 {
			return m.bind(q, e, in, p, y)
		}
		return m.query(q.Left, e, in, p, func(v any, vp *path) error { return m.query(q.Right, e, v, vp, y) })
	case gojq.OpComma:
		if err := m.query(q.Left, e, in, p, y); err != nil {
			return err
		}
		return m.query(q.Right, e, in, p, y)
	case gojq.OpAlt:
		return m.alternative(q, e, in, p, y)
	case gojq.OpAnd, gojq.OpOr:
		return m.logic(q, e, in, p, y)
	case gojq.OpAssign, gojq.OpModify, gojq.OpUpdateAdd, gojq.OpUpdateSub, gojq.OpUpdateMul, gojq.OpUpdateDiv, gojq.OpUpdateMod, gojq.OpUpdateAlt:
		return m.update(q, e, in, p, y)
	}
	if q.Left == nil {
		return y(in, p) // an empty program
	}
	// The right operand is the outer loop.
	return m.query(q.Right, e, in, nil, func(r any, _ *path) error {
		return m.query(q.Left, e, in, nil, func(l any, _ *path) error {
			v, err := binary(q.Op, l, r)
			if err != nil {
				return err
			}
			if s, ok := v.(string); ok && len(s) > 1<<16 {
				if err := m.grow(int64(len(s))); err != nil {
					return err
				}
			}
			return y(v, p.lose(v))
		})
	})
}

func (m *machine) logic(q *gojq.Query, e *env, in any, p *path, y yield) error {
	isOr := q.Op == gojq.OpOr
	return m.query(q.Left, e, in, nil, func(l any, _ *path) error {
		if Truthy(l) == isOr {
			return y(isOr, p.lose(isOr))
		}
		return m.query(q.Right, e, in, nil, func(r any, _ *path) error { return y(Truthy(r), p.lose(Truthy(r))) })
	})
}

// alternative is a // b: the true outputs of a, errors left out, or b.
func (m *machine) alternative(q *gojq.Query, e *env, in any, p *path, y yield) error {
	found := false
	var outer error // an error that came from further on, not from a
	err := m.query(q.Left, e, in, p, func(v any, vp *path) error {
		if !Truthy(v) {
			return nil
		}
		found = true
		outer = y(v, vp)
		return outer
	})
	if outer != nil {
		return outer
	}
	if err != nil {
		if _, raised := err.(*Error); !raised {
			return err
		}
	}
	if found {
		return nil
	}
	return m.query(q.Right, e, in, p, y)
}

// try runs body and hands the errors that it raises to catch, but not those
// that come from what is done with its outputs.
func (m *machine) try(body func(y yield) error, catch func(e *Error) error, y yield) error {
	var outer error
	err := body(func(v any, p *path) error {
		outer = y(v, p)
		return outer
	})
	if outer != nil || err == nil {
		return outer
	}
	if raised, ok := err.(*Error); ok {
		return catch(raised)
	}
	return err
}

// term evaluates a term with the first n of its suffixes.
func (m *machine) term(t *gojq.Term, n int, e *env, in any, p *path, y yield) error {
	if n == 0 {
		return m.bare(t, e, in, p, y)
	}
	s := t.SuffixList[n-1]
	if s.Optional {
		return m.try(func(y yield) error { return m.term(t, n-1, e, in, p, y) }, func(*Error) error { return nil }, y)
	}
	return m.term(t, n-1, e, in, p, func(v any, vp *path) error {
		if s.Iter {
			return iterate(v, vp, y)
		}
		return m.index(s.Index, e, in, v, vp, y)
	})
}

// iterate yields what is in an array or object.
func iterate(v any, p *path, y yield) error {
	if p != nil && p.lost {
		return lostPath(p)
	}
	switch v := v.(type) {
	case []any:
		for i, x := range v {
			if err := y(x, p.to(float64(i))); err != nil {
				return err
			}
		}
		return nil
	case *Object:
		for i, k := range v.keys {
			if err := y(v.vals[i], p.to(k)); err != nil {
				return err
			}
		}
		return nil
	}
	return errorf("Cannot iterate over %s (%s)", Kind(v), preview(v))
}

func lostPath(p *path) error {
	return errorf("Invalid path expression with result %s", previewN(p.from, 30))
}

// bare evaluates a term without suffixes.
func (m *machine) bare(t *gojq.Term, e *env, in any, p *path, y yield) error {
	constant := func(v any) error { return y(v, p.lose(v)) }
	switch t.Type {
	case gojq.TermTypeIdentity:
		return y(in, p)
	case gojq.TermTypeRecurse:
		return recurse(in, p, y)
	case gojq.TermTypeNull:
		return constant(nil)
	case gojq.TermTypeTrue:
		return constant(true)
	case gojq.TermTypeFalse:
		return constant(false)
	case gojq.TermTypeNumber:
		f, ok := parseNumber(t.Number)
		if !ok {
			return errorf("Invalid numeric literal")
		}
		return constant(f)
	case gojq.TermTypeIndex:
		return m.index(t.Index, e, in, in, p, y)
	case gojq.TermTypeFunc:
		return m.call(t.Func, e, in, p, y)
	case gojq.TermTypeObject:
		return m.object(t.Object.KeyVals, NewObject(len(t.Object.KeyVals)), e, in, func(o *Object) error { return constant(o) })
	case gojq.TermTypeArray:
		return m.array(t.Array, e, in, p, y)
	case gojq.TermTypeUnary:
		return m.unary(t.Unary, e, in, p, y)
	case gojq.TermTypeFormat:
		if t.Str == nil {
			s, err := Format(t.Format, in)
			if err != nil {
				return err
			}
			return constant(s)
		}
		return m.str(t.Str, t.Format, e, in, func(s string) error { return constant(s) })
	case gojq.TermTypeString:
		return m.str(t.Str, "", e, in, func(s string) error { return constant(s) })
	case gojq.TermTypeIf:
		return m.cond(t.If.Cond, t.If.Then, t.If.Elif, t.If.Else, e, in, p, y)
	case gojq.TermTypeTry:
		return m.tryTerm(t.Try, e, in, p, y)
	case gojq.TermTypeReduce:
		return m.reduce(t.Reduce, e, in, p, y)
	case gojq.TermTypeForeach:
		return m.foreach(t.Foreach, e, in, p, y)
	case gojq.TermTypeLabel:
		label := &env{parent: e, name: "*" + t.Label.Ident}
		err := m.query(t.Label.Body, label, in, p, y)
		if b, ok := err.(*breakError); ok && b.label == label {
			return nil
		}
		return err
	case gojq.TermTypeBreak:
		for s := e; s != nil; s = s.parent {
			if s.name == "*"+t.Break {
				return &breakError{s}
			}
		}
		return errorf("$*label-%s is not defined", t.Break)
	case gojq.TermTypeQuery:
		return m.query(t.Query, e, in, p, y)
	}
	return errorf("unknown term")
}
