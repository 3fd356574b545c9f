package jqlang

import (
	"strings"

	"github.com/itchyny/gojq"
)

// variable finds a variable.
func (m *machine) variable(name string, e *env) (any, error) {
	for s := e; s != nil; s = s.parent {
		if s.name == name {
			return s.value, nil
		}
	}
	switch name {
	case "$ENV":
		if m.o.Env == nil {
			return NewObject(0), nil
		}
		return m.o.Env, nil
	case "$__loc__":
		o := NewObject(2)
		o.Put("file", "<top-level>")
		o.Put("line", float64(1))
		return o, nil
	}
	return nil, errorf("%s is not defined", name)
}

// bind is "term as pattern | body", with alternatives.
func (m *machine) bind(q *gojq.Query, e *env, in any, p *path, y yield) error {
	return m.query(q.Left, e, in, nil, func(v any, _ *path) error {
		return m.alternatives(q.Patterns, v, e, in, func(e *env) error { return m.query(q.Right, e, in, p, y) })
	})
}

// alternatives tries patterns one after the other: an error in what follows
// moves on to the next.
func (m *machine) alternatives(ps []*gojq.Pattern, v any, e *env, in any, then func(*env) error) error {
	if len(ps) == 1 {
		return m.destructure(ps[0], v, e, in, then)
	}
	// All variables of all patterns are null but those of the one that fits.
	for _, p := range ps {
		for _, name := range patternNames(p, nil) {
			e = &env{parent: e, name: name}
		}
	}
	var err error
	for _, p := range ps {
		err = m.destructure(p, v, e, in, then)
		if _, raised := err.(*Error); !raised {
			return err
		}
	}
	return err
}

func patternNames(p *gojq.Pattern, names []string) []string {
	if p.Name != "" {
		names = append(names, p.Name)
	}
	for _, a := range p.Array {
		names = patternNames(a, names)
	}
	for _, o := range p.Object {
		if strings.HasPrefix(o.Key, "$") {
			names = append(names, o.Key)
		}
		if o.Val != nil {
			names = patternNames(o.Val, names)
		}
	}
	return names
}

func (m *machine) destructure(p *gojq.Pattern, v any, e *env, in any, then func(*env) error) error {
	switch {
	case p.Name != "":
		return then(&env{parent: e, name: p.Name, value: v})
	case len(p.Array) > 0:
		return m.destructureArray(p.Array, 0, v, e, in, then)
	}
	return m.destructureObject(p.Object, v, e, in, then)
}

func (m *machine) destructureArray(ps []*gojq.Pattern, i int, v any, e *env, in any, then func(*env) error) error {
	if i == len(ps) {
		return then(e)
	}
	x, err := get(v, float64(i))
	if err != nil {
		return err
	}
	return m.destructure(ps[i], x, e, in, func(e *env) error { return m.destructureArray(ps, i+1, v, e, in, then) })
}

func (m *machine) destructureObject(ps []*gojq.PatternObject, v any, e *env, in any, then func(*env) error) error {
	if len(ps) == 0 {
		return then(e)
	}
	p := ps[0]
	rest := func(e *env) error { return m.destructureObject(ps[1:], v, e, in, then) }
	member := func(key any, e *env) error {
		if _, ok := key.(string); !ok {
			return errorf("Cannot index %s with %s", Kind(v), Kind(key))
		}
		x, err := get(v, key)
		if err != nil {
			return err
		}
		if strings.HasPrefix(p.Key, "$") {
			e = &env{parent: e, name: p.Key, value: x}
		}
		if p.Val == nil {
			return rest(e)
		}
		return m.destructure(p.Val, x, e, in, rest)
	}
	switch {
	case p.KeyQuery != nil:
		return m.query(p.KeyQuery, e, in, nil, func(k any, _ *path) error { return member(k, e) })
	case p.KeyString != nil:
		return m.str(p.KeyString, "", e, in, func(s string) error { return member(s, e) })
	}
	return member(strings.TrimPrefix(p.Key, "$"), e)
}

func (m *machine) reduce(r *gojq.Reduce, e *env, in any, p *path, y yield) error {
	return m.query(r.Start, e, in, p, func(acc any, ap *path) error {
		err := m.query(r.Query, e, in, nil, func(v any, _ *path) error {
			return m.alternatives(r.Patterns, v, e, in, func(e *env) error {
				// The last output counts; none makes it null.
				var next any
				var np *path
				if err := m.query(r.Update, e, acc, ap, func(v any, vp *path) error { next, np = v, vp; return nil }); err != nil {
					return err
				}
				if p != nil && np == nil {
					np = p.lose(nil)
				}
				acc, ap = next, np
				return nil
			})
		})
		if err != nil {
			return err
		}
		return y(acc, ap)
	})
}

func (m *machine) foreach(f *gojq.Foreach, e *env, in any, p *path, y yield) error {
	return m.query(f.Start, e, in, p, func(acc any, ap *path) error {
		return m.query(f.Query, e, in, nil, func(v any, _ *path) error {
			return m.alternatives(f.Patterns, v, e, in, func(e *env) error {
				return m.query(f.Update, e, acc, ap, func(v any, vp *path) error {
					acc, ap = v, vp
					if f.Extract == nil {
						return y(v, vp)
					}
					return m.query(f.Extract, e, v, vp, y)
				})
			})
		})
	})
}

// call calls a function, a parameter or a builtin; or it yields a variable.
func (m *machine) call(f *gojq.Func, e *env, in any, p *path, y yield) error {
	if strings.HasPrefix(f.Name, "$") {
		v, err := m.variable(f.Name, e)
		if err != nil {
			return err
		}
		return y(v, p.lose(v))
	}
	for s := e; s != nil; s = s.parent {
		if !s.isFunc || s.name != f.Name || s.arity != len(f.Args) {
			continue
		}
		if s.param != nil {
			return m.query(s.param.q, s.param.env, in, p, y)
		}
		return m.invoke(s, f.Args, e, in, p, y)
	}
	if b, ok := builtins[funcKey{f.Name, len(f.Args)}]; ok {
		args := make([]closure, len(f.Args))
		for i, a := range f.Args {
			args[i] = closure{a, e}
		}
		return b(m, args, in, p, y)
	}
	if d := defined[funcKey{f.Name, len(f.Args)}]; d != nil {
		return m.invoke(d, f.Args, e, in, p, y)
	}
	return errorf("%s/%d is not defined", f.Name, len(f.Args))
}

// invoke calls a function that is defined in the language.
func (m *machine) invoke(f *env, args []*gojq.Query, e *env, in any, p *path, y yield) error {
	if m.depth++; m.depth > maxCalls {
		m.depth--
		return errorf("calls nested too deeply")
	}
	defer func() { m.depth-- }()
	return m.params(f.def, 0, args, f, e, in, p, y)
}

// params binds the arguments from the i-th on; one that is a variable too is
// evaluated, once for each of its outputs.
func (m *machine) params(def *gojq.FuncDef, i int, args []*gojq.Query, inner, outer *env, in any, p *path, y yield) error {
	if i == len(args) {
		return m.query(def.Body, inner, in, p, y)
	}
	name := def.Args[i]
	c := &closure{args[i], outer}
	bare, isVar := strings.CutPrefix(name, "$")
	inner = &env{parent: inner, name: bare, param: c, isFunc: true}
	if !isVar {
		return m.params(def, i+1, args, inner, outer, in, p, y)
	}
	return m.query(args[i], outer, in, nil, func(v any, _ *path) error {
		return m.params(def, i+1, args, &env{parent: inner, name: name, value: v}, outer, in, p, y)
	})
}

// checker finds names that are not defined.
type checker struct{ undefined []string }

func (c *checker) miss(name string) { c.undefined = append(c.undefined, name+" is not defined") }

func (c *checker) query(q *gojq.Query, e *env) {
	if q == nil {
		return
	}
	for _, def := range q.FuncDefs {
		e = &env{parent: e, name: def.Name, arity: len(def.Args), isFunc: true}
		inner := e
		for _, a := range def.Args {
			bare, isVar := strings.CutPrefix(a, "$")
			inner = &env{parent: inner, name: bare, isFunc: true}
			if isVar {
				inner = &env{parent: inner, name: a}
			}
		}
		c.query(def.Body, inner)
	}
	if q.Term != nil {
		c.term(q.Term, e)
	}
	c.query(q.Left, e)
	c.query(q.Right, c.patterns(q.Patterns, e))
}

func (c *checker) patterns(ps []*gojq.Pattern, e *env) *env {
	for _, p := range ps {
		c.patternQueries(p, e)
		for _, name := range patternNames(p, nil) {
			e = &env{parent: e, name: name}
		}
	}
	return e
}

func (c *checker) patternQueries(p *gojq.Pattern, e *env) {
	for _, a := range p.Array {
		c.patternQueries(a, e)
	}
	for _, o := range p.Object {
		for _, name := range patternNames(p, nil) {
			e = &env{parent: e, name: name}
		}
		c.query(o.KeyQuery, e)
		c.str(o.KeyString, e)
		if o.Val != nil {
			c.patternQueries(o.Val, e)
		}
	}
}

func (c *checker) str(s *gojq.String, e *env) {
	if s == nil {
		return
	}
	for _, q := range s.Queries {
		c.query(q, e)
	}
}

func (c *checker) indexOf(x *gojq.Index, e *env) {
	if x == nil {
		return
	}
	c.str(x.Str, e)
	c.query(x.Start, e)
	c.query(x.End, e)
}

func (c *checker) term(t *gojq.Term, e *env) {
	c.indexOf(t.Index, e)
	for _, s := range t.SuffixList {
		c.indexOf(s.Index, e)
	}
	c.str(t.Str, e)
	c.query(t.Query, e)
	switch {
	case t.Func != nil:
		c.function(t.Func, e)
	case t.Object != nil:
		for _, kv := range t.Object.KeyVals {
			if strings.HasPrefix(kv.Key, "$") {
				c.variable(kv.Key, e)
			}
			c.query(kv.KeyQuery, e)
			c.str(kv.KeyString, e)
			c.query(kv.Val, e)
		}
	case t.Array != nil:
		c.query(t.Array.Query, e)
	case t.Unary != nil:
		c.term(t.Unary.Term, e)
	case t.If != nil:
		c.query(t.If.Cond, e)
		c.query(t.If.Then, e)
		for _, el := range t.If.Elif {
			c.query(el.Cond, e)
			c.query(el.Then, e)
		}
		c.query(t.If.Else, e)
	case t.Try != nil:
		c.query(t.Try.Body, e)
		c.query(t.Try.Catch, e)
	case t.Reduce != nil:
		c.query(t.Reduce.Query, e)
		c.query(t.Reduce.Start, e)
		c.query(t.Reduce.Update, c.patterns(t.Reduce.Patterns, e))
	case t.Foreach != nil:
		c.query(t.Foreach.Query, e)
		c.query(t.Foreach.Start, e)
		inner := c.patterns(t.Foreach.Patterns, e)
		c.query(t.Foreach.Update, inner)
		c.query(t.Foreach.Extract, inner)
	case t.Label != nil:
		c.query(t.Label.Body, &env{parent: e, name: "*" + t.Label.Ident})
	case t.Break != "":
		for s := e; s != nil; s = s.parent {
			if s.name == "*"+t.Break {
				return
			}
		}
		c.miss("$*label-" + strings.TrimPrefix(t.Break, "$"))
	}
}

func (c *checker) variable(name string, e *env) {
	if name == "$ENV" || name == "$__loc__" {
		return
	}
	for s := e; s != nil; s = s.parent {
		if s.name == name {
			return
		}
	}
	c.miss(name)
}

func (c *checker) function(f *gojq.Func, e *env) {
	if strings.HasPrefix(f.Name, "$") {
		c.variable(f.Name, e)
		return
	}
	for _, a := range f.Args {
		c.query(a, e)
	}
	for s := e; s != nil; s = s.parent {
		if s.isFunc && s.name == f.Name && s.arity == len(f.Args) {
			return
		}
	}
	k := funcKey{f.Name, len(f.Args)}
	if builtins[k] == nil && defined[k] == nil {
		c.miss(k.name + "/" + string(rune('0'+k.arity)))
	}
}
