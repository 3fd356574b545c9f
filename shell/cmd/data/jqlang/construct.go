package jqlang

import (
	"io"
	"strings"

	"github.com/itchyny/gojq"
)

func (m *machine) array(a *gojq.Array, e *env, in any, p *path, y yield) error {
	out := []any{}
	if a.Query != nil {
		err := m.query(a.Query, e, in, nil, func(v any, _ *path) error {
			out = append(out, v)
			if len(out)%1024 == 0 {
				return m.grow(1024 * 32)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return y(out, p.lose(out))
}

func (m *machine) unary(u *gojq.Unary, e *env, in any, p *path, y yield) error {
	return m.term(u.Term, len(u.Term.SuffixList), e, in, nil, func(v any, _ *path) error {
		f, ok := v.(float64)
		if !ok {
			return errorf("%s (%s) cannot be negated", Kind(v), preview(v))
		}
		if u.Op == gojq.OpSub {
			f = -f
		}
		return y(f, p.lose(f))
	})
}

func (m *machine) tryTerm(t *gojq.Try, e *env, in any, p *path, y yield) error {
	return m.try(func(y yield) error { return m.query(t.Body, e, in, p, y) }, func(raised *Error) error {
		// error(break) out of a try is the end of it, not an error.
		if o, ok := raised.Value.(*Object); ok {
			if v, has := o.Get("__jq"); has && v != nil {
				return nil
			}
		}
		if t.Catch == nil || raised.Value == nil {
			return nil
		}
		return m.query(t.Catch, e, raised.Value, p.lose(raised.Value), y)
	}, y)
}

func (m *machine) cond(cond, then *gojq.Query, elif []*gojq.IfElif, els *gojq.Query, e *env, in any, p *path, y yield) error {
	return m.query(cond, e, in, nil, func(v any, _ *path) error {
		switch {
		case Truthy(v):
			return m.query(then, e, in, p, y)
		case len(elif) > 0:
			return m.cond(elif[0].Cond, elif[0].Then, elif[1:], els, e, in, p, y)
		case els != nil:
			return m.query(els, e, in, p, y)
		}
		return y(in, p)
	})
}

// recurse is "..": a value and all that is in it.
func recurse(v any, p *path, y yield) error {
	if err := y(v, p); err != nil {
		return err
	}
	switch v.(type) {
	case []any, *Object:
		return iterate(v, p, func(x any, xp *path) error { return recurse(x, xp, y) })
	}
	return nil
}

// object builds the objects of a construction: one for each combination of
// outputs.
func (m *machine) object(kvs []*gojq.ObjectKeyVal, o *Object, e *env, in any, y func(*Object) error) error {
	if len(kvs) == 0 {
		return y(o)
	}
	kv := kvs[0]
	with := func(key any, v any) error {
		k, ok := key.(string)
		if !ok {
			return errorf("Object keys must be strings")
		}
		return m.object(kvs[1:], o.With(k, v), e, in, y)
	}
	value := func(key any) error {
		if kv.Val == nil {
			if k, ok := key.(string); ok {
				return m.index(&gojq.Index{Name: k}, e, in, in, nil, func(v any, _ *path) error { return with(key, v) })
			}
			return errorf("Object keys must be strings")
		}
		return m.query(kv.Val, e, in, nil, func(v any, _ *path) error { return with(key, v) })
	}
	switch {
	case kv.KeyQuery != nil:
		return m.query(kv.KeyQuery, e, in, nil, func(k any, _ *path) error { return value(k) })
	case kv.KeyString != nil:
		return m.str(kv.KeyString, "", e, in, func(s string) error { return value(s) })
	case strings.HasPrefix(kv.Key, "$") && kv.Val == nil:
		v, err := m.variable(kv.Key, e)
		if err != nil {
			return err
		}
		return with(kv.Key[1:], v)
	case strings.HasPrefix(kv.Key, "$"):
		v, err := m.variable(kv.Key, e)
		if err != nil {
			return err
		}
		return value(v)
	}
	return value(kv.Key)
}

// str builds a string with what is interpolated in it.
func (m *machine) str(s *gojq.String, format string, e *env, in any, y func(string) error) error {
	if len(s.Queries) == 0 {
		return y(s.Str)
	}
	return m.pieces(s.Queries, "", format, e, in, y)
}

func (m *machine) pieces(qs []*gojq.Query, done, format string, e *env, in any, y func(string) error) error {
	if len(qs) == 0 {
		return y(done)
	}
	q := qs[0]
	if t := q.Term; t != nil && t.Type == gojq.TermTypeString && len(t.SuffixList) == 0 && len(t.Str.Queries) == 0 {
		return m.pieces(qs[1:], done+t.Str.Str, format, e, in, y)
	}
	return m.query(q, e, in, nil, func(v any, _ *path) error {
		text := tostring(v)
		if format != "" {
			var err error
			if text, err = Format(format, v); err != nil {
				return err
			}
		}
		return m.pieces(qs[1:], done+text, format, e, in, y)
	})
}

func tostring(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return JSON(v)
}

// errNoInput is what input raises at the end.
var errNoInput = &Error{"No more inputs"}

func (m *machine) nextInput() (any, error) {
	if m.o.Input == nil {
		return nil, errNoInput
	}
	v, err := m.o.Input()
	if err == io.EOF {
		return nil, errNoInput
	}
	return v, err
}
