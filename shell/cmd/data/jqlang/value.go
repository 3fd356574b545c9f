package jqlang

import (
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"
)

// Object is an object whose keys stay in the order in which they were first
// set.
type Object struct {
	keys  []string
	vals  []any
	index map[string]int // nil while there are few keys
}

// indexFrom is how many keys an object has before it gets an index.
const indexFrom = 12

// NewObject returns an empty object with room for n keys.
func NewObject(n int) *Object {
	return &Object{keys: make([]string, 0, n), vals: make([]any, 0, n)}
}

func (o *Object) find(key string) int {
	if o.index != nil {
		if i, ok := o.index[key]; ok {
			return i
		}
		return -1
	}
	return slices.Index(o.keys, key)
}

// Get returns the value of a key, and whether it is there.
func (o *Object) Get(key string) (any, bool) {
	if i := o.find(key); i >= 0 {
		return o.vals[i], true
	}
	return nil, false
}

// Put sets a key in place: only for an object that nobody else holds yet.
func (o *Object) Put(key string, v any) {
	if i := o.find(key); i >= 0 {
		o.vals[i] = v
		return
	}
	if o.index == nil && len(o.keys) >= indexFrom {
		o.index = make(map[string]int, 2*len(o.keys))
		for i, k := range o.keys {
			o.index[k] = i
		}
	}
	if o.index != nil {
		o.index[key] = len(o.keys)
	}
	o.keys, o.vals = append(o.keys, key), append(o.vals, v)
}

// With returns a copy with a key set.
func (o *Object) With(key string, v any) *Object {
	c := NewObject(len(o.keys) + 1)
	for i, k := range o.keys {
		c.Put(k, o.vals[i])
	}
	c.Put(key, v)
	return c
}

// Without returns a copy that lacks a key.
func (o *Object) Without(key string) *Object {
	c := NewObject(len(o.keys))
	for i, k := range o.keys {
		if k != key {
			c.Put(k, o.vals[i])
		}
	}
	return c
}

// Len is the number of keys.
func (o *Object) Len() int { return len(o.keys) }

// Keys returns the keys in their order; the caller must not change it.
func (o *Object) Keys() []string { return o.keys }

// At returns the i-th key and its value.
func (o *Object) At(i int) (string, any) { return o.keys[i], o.vals[i] }

// Sorted returns the keys by their code points.
func (o *Object) Sorted() []string {
	keys := slices.Clone(o.keys)
	sort.Strings(keys)
	return keys
}

// Kind names the type of a value.
func Kind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// Truthy reports whether a value counts as true: all but null and false.
func Truthy(v any) bool { return v != nil && v != false }

func kindOrder(v any) int {
	switch v := v.(type) {
	case nil:
		return 0
	case bool:
		if v {
			return 2
		}
		return 1
	case float64:
		return 3
	case string:
		return 4
	case []any:
		return 5
	}
	return 6
}

// Compare orders values as sort does.
func Compare(a, b any) int {
	if ka, kb := kindOrder(a), kindOrder(b); ka != kb {
		return ka - kb
	}
	switch x := a.(type) {
	case float64:
		return compareNumbers(x, b.(float64))
	case string:
		return strings.Compare(x, b.(string))
	case []any:
		y := b.([]any)
		for i := range min(len(x), len(y)) {
			if d := Compare(x[i], y[i]); d != 0 {
				return d
			}
		}
		return len(x) - len(y)
	case *Object:
		y := b.(*Object)
		kx, ky := x.Sorted(), y.Sorted()
		if d := slices.Compare(kx, ky); d != 0 {
			return d
		}
		for _, k := range kx {
			vx, _ := x.Get(k)
			vy, _ := y.Get(k)
			if d := Compare(vx, vy); d != 0 {
				return d
			}
		}
	}
	return 0
}

// compareNumbers puts nan below every number.
func compareNumbers(x, y float64) int {
	switch {
	case math.IsNaN(x) || x < y:
		return -1
	case math.IsNaN(y) || x > y:
		return 1
	}
	return 0
}

func sortValues(vs []any) []any {
	out := slices.Clone(vs)
	slices.SortStableFunc(out, Compare)
	return out
}

// runes counts the code points of a string.
func runes(s string) int { return utf8.RuneCountInString(s) }
