package jqlang

import (
	"math"
	"slices"

	"github.com/itchyny/gojq"
)

// preview is the start of a value's text, as messages show it.
func preview(v any) string { return previewN(v, 14) }

func previewN(v any, n int) string {
	s := JSON(v)
	if len(s) > n {
		return s[:n-3] + "..."
	}
	return s
}

// index evaluates .name, .[key] and .[from:to] of v; in is what the queries
// inside see.
func (m *machine) index(x *gojq.Index, e *env, in, v any, p *path, y yield) error {
	take := func(key any) error {
		if p != nil && p.lost {
			return lostPath(p)
		}
		r, err := get(v, key)
		if err != nil {
			return err
		}
		return y(r, p.to(key))
	}
	switch {
	case x.Str != nil:
		return m.str(x.Str, "", e, in, func(s string) error { return take(s) })
	case !x.IsSlice && x.Start == nil:
		return take(x.Name)
	case !x.IsSlice:
		return m.query(x.Start, e, in, nil, func(k any, _ *path) error { return take(k) })
	}
	bound := func(q *gojq.Query, then func(any) error) error {
		if q == nil {
			return then(nil)
		}
		return m.query(q, e, in, nil, func(b any, _ *path) error { return then(b) })
	}
	return bound(x.End, func(end any) error {
		return bound(x.Start, func(start any) error {
			key := NewObject(2)
			key.Put("start", start)
			key.Put("end", end)
			return take(key)
		})
	})
}

// get is v[key].
func get(v, key any) (any, error) {
	switch x := v.(type) {
	case nil:
		switch key.(type) {
		case string, float64, *Object, nil:
			return nil, nil
		}
	case *Object:
		if k, ok := key.(string); ok {
			r, _ := x.Get(k)
			return r, nil
		}
	case []any:
		switch k := key.(type) {
		case float64:
			if i, ok := arrayIndex(k, len(x)); ok {
				return x[i], nil
			}
			return nil, nil
		case *Object:
			from, to, err := slice(k, len(x), "array")
			if err != nil {
				return nil, err
			}
			return slices.Clip(x[from:to]), nil
		case []any:
			return indices(x, k), nil
		}
	case string:
		if k, ok := key.(*Object); ok {
			r := []rune(x)
			from, to, err := slice(k, len(r), "string")
			if err != nil {
				return nil, err
			}
			return string(r[from:to]), nil
		}
	}
	if k, ok := key.(string); ok {
		return nil, errorf("Cannot index %s with string %q", Kind(v), k)
	}
	return nil, errorf("Cannot index %s with %s", Kind(v), Kind(key))
}

// arrayIndex is the place that a number means in n elements.
func arrayIndex(f float64, n int) (int, bool) {
	if math.IsNaN(f) {
		return 0, false
	}
	f = math.Floor(f)
	if f < 0 {
		f += float64(n)
	}
	if f < 0 || f >= float64(n) {
		return 0, false
	}
	return int(f), true
}

// slice is the range that a key {start, end} means in n elements.
func slice(key *Object, n int, kind string) (from, to int, err error) {
	start, ok1 := key.Get("start")
	end, ok2 := key.Get("end")
	f, fok := start.(float64)
	t, tok := end.(float64)
	if !ok1 && !ok2 || start != nil && !fok || end != nil && !tok {
		return 0, 0, errorf("Start and end indices of an %s slice must be numbers", kind)
	}
	if end == nil {
		t = float64(n)
	}
	if f < 0 {
		f += float64(n)
	}
	if t < 0 {
		t += float64(n)
	}
	f = min(max(math.Floor(f), 0), float64(n))
	t = min(max(math.Ceil(t), f), float64(n))
	return int(f), int(t), nil
}

// indices finds where sub is in vs.
func indices(vs, sub []any) any {
	if len(sub) == 0 {
		return nil
	}
	out := []any{}
	for i := 0; i+len(sub) <= len(vs); i++ {
		if Compare(vs[i:i+len(sub)], sub) == 0 {
			out = append(out, float64(i))
		}
	}
	return out
}

func getPath(v any, path []any) (any, error) {
	for _, k := range path {
		if v == nil {
			return nil, nil
		}
		var err error
		if v, err = get(v, k); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// maxIndex bounds how far an assignment may extend an array.
const maxIndex = 1 << 26

// setPath returns v with what is at path replaced by what f makes of it.
func setPath(v any, path []any, f func(any) (any, error)) (any, error) {
	if len(path) == 0 {
		return f(v)
	}
	old, err := get(v, path[0])
	if err != nil {
		return nil, err
	}
	x, err := setPath(old, path[1:], f)
	if err != nil {
		return nil, err
	}
	return set(v, path[0], x)
}

func set(v, key, x any) (any, error) {
	switch k := key.(type) {
	case string:
		switch o := v.(type) {
		case nil:
			n := NewObject(1)
			n.Put(k, x)
			return n, nil
		case *Object:
			return o.With(k, x), nil
		}
	case float64:
		a, ok := v.([]any)
		if v == nil || ok {
			return setIndex(a, k, x)
		}
	case *Object:
		a, ok := v.([]any)
		if v == nil || ok {
			return setSlice(a, k, x)
		}
		return nil, errorf("Cannot update field at object index of %s", Kind(v))
	}
	if k, ok := key.(string); ok {
		return nil, errorf("Cannot index %s with string %q", Kind(v), k)
	}
	return nil, errorf("Cannot update field at %s index of %s", Kind(key), Kind(v))
}

func setIndex(a []any, k float64, x any) (any, error) {
	i := int(math.Floor(min(max(k, -maxIndex-1), maxIndex+1)))
	if i < 0 {
		if i += len(a); i < 0 {
			return nil, errorf("Out of bounds negative array index")
		}
	}
	if i > maxIndex {
		return nil, errorf("Array index too large")
	}
	out := make([]any, max(len(a), i+1))
	copy(out, a)
	out[i] = x
	return out, nil
}

func setSlice(a []any, key *Object, x any) (any, error) {
	from, to, err := slice(key, len(a), "array")
	if err != nil {
		return nil, err
	}
	in, ok := x.([]any)
	if !ok {
		return nil, errorf("A slice of an array can only be assigned another array")
	}
	return slices.Concat(a[:from], in, a[to:]), nil
}

// deletePaths removes what is at each of the paths, the last first so that
// earlier ones keep their meaning.
func deletePaths(v any, paths []any) (any, error) {
	sorted := sortValues(paths)
	for i := len(sorted) - 1; i >= 0; i-- {
		p, ok := sorted[i].([]any)
		if !ok {
			return nil, errorf("Path must be specified as an array")
		}
		var err error
		if v, err = deletePath(v, p); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func deletePath(v any, path []any) (any, error) {
	if len(path) == 0 || v == nil {
		return nil, nil
	}
	if len(path) == 1 {
		return deleteKey(v, path[0])
	}
	old, err := get(v, path[0])
	if err != nil {
		return nil, err
	}
	if old == nil {
		return v, nil
	}
	x, err := deletePath(old, path[1:])
	if err != nil {
		return nil, err
	}
	return set(v, path[0], x)
}

func deleteKey(v, key any) (any, error) {
	switch x := v.(type) {
	case *Object:
		if k, ok := key.(string); ok {
			return x.Without(k), nil
		}
		return nil, errorf("Cannot delete %s field of object", Kind(key))
	case []any:
		switch k := key.(type) {
		case float64:
			i, ok := arrayIndex(k, len(x))
			if !ok {
				return x, nil
			}
			return slices.Concat(x[:i], x[i+1:]), nil
		case *Object:
			from, to, err := slice(k, len(x), "array")
			if err != nil {
				return nil, err
			}
			return slices.Concat(x[:from], x[to:]), nil
		}
		return nil, errorf("Cannot delete %s element of array", Kind(key))
	}
	return nil, errorf("Cannot delete fields from %s", Kind(v))
}

// pathsOf collects the paths that a query leads to.
func (m *machine) pathsOf(c closure, in any, then func(p []any, v any) error) error {
	return m.query(c.q, c.env, in, rootPath, func(v any, p *path) error {
		if p.lost {
			return lostPath(p)
		}
		return then(p.list(), v)
	})
}

// update evaluates the assignments.
func (m *machine) update(q *gojq.Query, e *env, in any, p *path, y yield) error {
	left := closure{q.Left, e}
	done := func(v any) error { return y(v, p.lose(v)) }
	if q.Op == gojq.OpModify {
		v, err := m.modify(left, closure{q.Right, e}, in)
		if err != nil {
			return err
		}
		return done(v)
	}
	return m.query(q.Right, e, in, nil, func(r any, _ *path) error {
		out := in
		err := m.pathsOf(left, in, func(p []any, _ any) error {
			var err error
			out, err = setPath(out, p, func(old any) (any, error) { return updated(q.Op, old, r) })
			return err
		})
		if err != nil {
			return err
		}
		return done(out)
	})
}

func updated(op gojq.Operator, old, r any) (any, error) {
	switch op {
	case gojq.OpAssign:
		return r, nil
	case gojq.OpUpdateAlt:
		if Truthy(old) {
			return old, nil
		}
		return r, nil
	case gojq.OpUpdateAdd:
		return binary(gojq.OpAdd, old, r)
	case gojq.OpUpdateSub:
		return binary(gojq.OpSub, old, r)
	case gojq.OpUpdateMul:
		return binary(gojq.OpMul, old, r)
	case gojq.OpUpdateDiv:
		return binary(gojq.OpDiv, old, r)
	}
	return binary(gojq.OpMod, old, r)
}

// first evaluates a closure up to its first output.
func (m *machine) first(c closure, in any) (v any, ok bool, err error) {
	stop := &breakError{}
	err = m.query(c.q, c.env, in, nil, func(x any, _ *path) error {
		v, ok = x, true
		return stop
	})
	if err == error(stop) {
		err = nil
	}
	return v, ok, err
}

// modify is paths |= f: each place gets the first output of f for what is
// there; places for which there is none go.
func (m *machine) modify(paths, f closure, in any) (any, error) {
	out := in
	var gone []any
	err := m.pathsOf(paths, in, func(p []any, _ any) error {
		var err error
		out, err = setPath(out, p, func(old any) (any, error) {
			v, ok, err := m.first(f, old)
			if err == nil && !ok {
				gone = append(gone, any(p))
				return old, nil
			}
			return v, err
		})
		return err
	})
	if err != nil || len(gone) == 0 {
		return out, err
	}
	return deletePaths(out, gone)
}
