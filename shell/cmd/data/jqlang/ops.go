package jqlang

import (
	"encoding/base64"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/itchyny/gojq"
)

// maxString bounds a string that is multiplied.
const maxString = 256 << 20

// binary evaluates an operator.
func binary(op gojq.Operator, l, r any) (any, error) {
	switch op {
	case gojq.OpEq:
		return Compare(l, r) == 0, nil
	case gojq.OpNe:
		return Compare(l, r) != 0, nil
	case gojq.OpLt:
		return Compare(l, r) < 0, nil
	case gojq.OpLe:
		return Compare(l, r) <= 0, nil
	case gojq.OpGt:
		return Compare(l, r) > 0, nil
	case gojq.OpGe:
		return Compare(l, r) >= 0, nil
	case gojq.OpAdd:
		return add(l, r)
	case gojq.OpSub:
		return subtract(l, r)
	case gojq.OpMul:
		return multiply(l, r)
	case gojq.OpDiv:
		return divide(l, r)
	case gojq.OpMod:
		return remainder(l, r)
	}
	return nil, errorf("unknown operator")
}

func cannot(l, r any, what string) error {
	return errorf("%s (%s) and %s (%s) cannot be %s", Kind(l), preview(l), Kind(r), preview(r), what)
}

func add(l, r any) (any, error) {
	if l == nil {
		return r, nil
	}
	if r == nil {
		return l, nil
	}
	switch x := l.(type) {
	case float64:
		if y, ok := r.(float64); ok {
			return x + y, nil
		}
	case string:
		if y, ok := r.(string); ok {
			return x + y, nil
		}
	case []any:
		if y, ok := r.([]any); ok {
			return slices.Concat(x, y), nil
		}
	case *Object:
		if y, ok := r.(*Object); ok {
			return merge(x, y, false), nil
		}
	}
	return nil, cannot(l, r, "added")
}

// merge puts the keys of y over those of x; deep merges objects in both.
func merge(x, y *Object, deep bool) *Object {
	o := NewObject(x.Len() + y.Len())
	for i, k := range x.keys {
		o.Put(k, x.vals[i])
	}
	for i, k := range y.keys {
		v := y.vals[i]
		if old, ok := o.Get(k); ok && deep {
			a, aok := old.(*Object)
			b, bok := v.(*Object)
			if aok && bok {
				v = merge(a, b, true)
			}
		}
		o.Put(k, v)
	}
	return o
}

func subtract(l, r any) (any, error) {
	switch x := l.(type) {
	case float64:
		if y, ok := r.(float64); ok {
			return x - y, nil
		}
	case []any:
		if y, ok := r.([]any); ok {
			out := []any{}
			for _, v := range x {
				if !slices.ContainsFunc(y, func(w any) bool { return Compare(v, w) == 0 }) {
					out = append(out, v)
				}
			}
			return out, nil
		}
	}
	return nil, cannot(l, r, "subtracted")
}

func multiply(l, r any) (any, error) {
	if s, ok := r.(string); ok {
		if _, ok := l.(float64); ok {
			l, r = s, l
		}
	}
	switch x := l.(type) {
	case float64:
		if y, ok := r.(float64); ok {
			return x * y, nil
		}
	case string:
		if y, ok := r.(float64); ok {
			if y <= 0 {
				return nil, nil
			}
			n := max(int(min(y, maxString)+0.5), 1)
			if y < 1 {
				n = 1
			}
			if len(x)*n > maxString {
				return nil, errorf("Repeat string result too long")
			}
			return strings.Repeat(x, n), nil
		}
	case *Object:
		if y, ok := r.(*Object); ok {
			return merge(x, y, true), nil
		}
	}
	return nil, cannot(l, r, "multiplied")
}

func divide(l, r any) (any, error) {
	switch x := l.(type) {
	case float64:
		if y, ok := r.(float64); ok {
			if y == 0 {
				return nil, cannot(l, r, "divided because the divisor is zero")
			}
			return x / y, nil
		}
	case string:
		if y, ok := r.(string); ok {
			return split(x, y), nil
		}
	}
	return nil, cannot(l, r, "divided")
}

func remainder(l, r any) (any, error) {
	x, ok1 := l.(float64)
	y, ok2 := r.(float64)
	if !ok1 || !ok2 {
		return nil, cannot(l, r, "divided (remainder)")
	}
	if math.IsNaN(x) || math.IsNaN(y) {
		return math.NaN(), nil
	}
	a, b := toInt64(x), toInt64(y)
	if b < 0 {
		b = -b
	}
	if b == 0 {
		return nil, cannot(l, r, "divided (remainder) because the divisor is zero")
	}
	return float64(a % b), nil
}

func toInt64(f float64) int64 {
	switch {
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64 + 1
	}
	return int64(f)
}

func split(s, sep string) []any {
	out := []any{}
	if s == "" {
		return out
	}
	for _, p := range strings.Split(s, sep) {
		out = append(out, p)
	}
	return out
}

// contains is a | contains(b).
func contains(a, b any) (bool, error) {
	switch x := a.(type) {
	case *Object:
		if y, ok := b.(*Object); ok {
			for i, k := range y.keys {
				v, has := x.Get(k)
				if !has {
					return false, nil
				}
				if in, err := containsPart(v, y.vals[i]); !in || err != nil {
					return false, err
				}
			}
			return true, nil
		}
	case []any:
		if y, ok := b.([]any); ok {
			for _, w := range y {
				found := false
				for _, v := range x {
					if in, err := containsPart(v, w); err != nil {
						return false, err
					} else if in {
						found = true
						break
					}
				}
				if !found {
					return false, nil
				}
			}
			return true, nil
		}
	case string:
		if y, ok := b.(string); ok {
			return strings.Contains(x, y), nil
		}
	}
	if Kind(a) == Kind(b) {
		return Compare(a, b) == 0, nil
	}
	return false, errorf("%s (%s) and %s (%s) cannot have their containment checked", Kind(a), preview(a), Kind(b), preview(b))
}

// containsPart is contains for what is inside: kinds that differ are no error.
func containsPart(a, b any) (bool, error) {
	if Kind(a) != Kind(b) {
		return false, nil
	}
	return contains(a, b)
}

// Format applies @name to a value.
func Format(name string, v any) (string, error) {
	switch name {
	case "@text":
		return tostring(v), nil
	case "@json":
		return JSON(v), nil
	case "@html":
		return strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", "'", "&apos;", `"`, "&quot;").Replace(tostring(v)), nil
	case "@uri":
		return escapeURI(tostring(v)), nil
	case "@urid":
		return unescapeURI(tostring(v)), nil
	case "@csv", "@tsv":
		return row(name[1:], v)
	case "@sh":
		return shell(v)
	case "@base64":
		return base64.StdEncoding.EncodeToString([]byte(tostring(v))), nil
	case "@base64d":
		return decode64(tostring(v))
	case "@base32":
		return encode32(tostring(v)), nil
	case "@base32d":
		return decode32(tostring(v))
	}
	return "", errorf("%s is not a valid format", name[1:])
}

func escapeURI(s string) string {
	var b strings.Builder
	for i := range len(s) {
		c := s[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~!*'()", c) >= 0 {
			b.WriteByte(c)
		} else {
			const upper = "0123456789ABCDEF"
			b.WriteString("%" + string([]byte{upper[c>>4], upper[c&15]}))
		}
	}
	return b.String()
}

func unescapeURI(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

// row is a line of @csv or @tsv.
func row(kind string, v any) (string, error) {
	a, ok := v.([]any)
	if !ok {
		return "", errorf("%s (%s) cannot be %s-formatted, only array", Kind(v), preview(v), kind)
	}
	var parts []string
	for _, x := range a {
		switch x := x.(type) {
		case nil:
			parts = append(parts, "")
		case bool, float64:
			parts = append(parts, JSON(x))
		case string:
			if kind == "csv" {
				parts = append(parts, `"`+strings.ReplaceAll(x, `"`, `""`)+`"`)
			} else {
				parts = append(parts, strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`, `\`, `\\`).Replace(x))
			}
		default:
			return "", errorf("%s (%s) is not valid in a csv row", Kind(x), preview(x))
		}
	}
	sep := ","
	if kind == "tsv" {
		sep = "\t"
	}
	return strings.Join(parts, sep), nil
}

func shell(v any) (string, error) {
	a, ok := v.([]any)
	if !ok {
		a = []any{v}
	}
	var parts []string
	for _, x := range a {
		switch x := x.(type) {
		case string:
			parts = append(parts, "'"+strings.ReplaceAll(x, "'", `'\''`)+"'")
		case []any, *Object:
			return "", errorf("%s (%s) can not be escaped for shell", Kind(x), preview(x))
		default:
			parts = append(parts, JSON(x))
		}
	}
	return strings.Join(parts, " "), nil
}

func decode64(s string) (string, error) {
	trimmed := strings.TrimRight(s, "=")
	if len(trimmed)%4 == 1 {
		return "", errorf("string (%s) trailing base64 byte found", preview(s))
	}
	b, err := base64.RawStdEncoding.DecodeString(trimmed)
	if err != nil {
		return "", errorf("string (%s) is not valid base64 data", preview(s))
	}
	return strings.ToValidUTF8(string(b), "\uFFFD"), nil
}
