package jqlang

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// stringFuncs has the functions of strings, dates and regular expressions.
func stringFuncs() {
	simple("tostring", func(in any) (any, error) { return tostring(in), nil })
	simple("tojson", func(in any) (any, error) { return JSON(in), nil })
	simple("fromjson", func(in any) (any, error) {
		s, ok := in.(string)
		if !ok {
			return nil, errorf("%s (%s) cannot be parsed as JSON", Kind(in), preview(in))
		}
		return parse(s)
	})
	simple("tonumber", func(in any) (any, error) {
		switch v := in.(type) {
		case float64:
			return v, nil
		case string:
			f, err := parse(v)
			if err != nil {
				return nil, err
			}
			if _, ok := f.(float64); !ok {
				return nil, errorf("Cannot use %s (%s) as a number", Kind(f), preview(f))
			}
			return f, nil
		}
		return nil, errorf("%s (%s) cannot be parsed as a number", Kind(in), preview(in))
	})
	simple("explode", func(in any) (any, error) {
		s, ok := in.(string)
		if !ok {
			return nil, errorf("explode input must be a string")
		}
		out := make([]any, 0, len(s))
		for _, r := range s {
			out = append(out, float64(r))
		}
		return out, nil
	})
	simple("implode", implode)
	simple("ascii_downcase", asciiCase('A', 'Z', 'a'-'A'))
	simple("ascii_upcase", asciiCase('a', 'z', 'A'-'a'))
	withArgs("split", 1, func(_ *machine, in any, args []any) (any, error) {
		s, ok1 := in.(string)
		sep, ok2 := args[0].(string)
		if !ok1 || !ok2 {
			return nil, errorf("split input and separator must be strings")
		}
		return split(s, sep), nil
	})
	withArgs("join", 1, join)
	withArgs("startswith", 1, affix("startswith", strings.HasPrefix))
	withArgs("endswith", 1, affix("endswith", strings.HasSuffix))
	withArgs("ltrimstr", 1, trimmer(strings.TrimPrefix))
	withArgs("rtrimstr", 1, trimmer(strings.TrimSuffix))
	withArgs("trimstr", 1, trimmer(func(s, x string) string { return strings.TrimSuffix(strings.TrimPrefix(s, x), x) }))
	for name, f := range map[string]func(string) string{"trim": strings.TrimSpace, "ltrim": func(s string) string { return strings.TrimLeftFunc(s, unicode.IsSpace) }, "rtrim": func(s string) string { return strings.TrimRightFunc(s, unicode.IsSpace) }} {
		simple(name, func(in any) (any, error) {
			s, ok := in.(string)
			if !ok {
				return nil, errorf("%s (%s) cannot be trimmed", Kind(in), preview(in))
			}
			return f(s), nil
		})
	}
	withArgs("indices", 1, func(_ *machine, in any, args []any) (any, error) { return find(in, args[0]) })
	withArgs("_indices", 1, func(_ *machine, in any, args []any) (any, error) { return find(in, args[0]) })
	withArgs("index", 1, func(_ *machine, in any, args []any) (any, error) { return pickIndex(in, args[0], true) })
	withArgs("rindex", 1, func(_ *machine, in any, args []any) (any, error) { return pickIndex(in, args[0], false) })
	withArgs("format", 1, func(_ *machine, in any, args []any) (any, error) {
		name, _ := args[0].(string)
		return Format("@"+name, in)
	})
	regexFuncs()
	dateFuncs()
}

func parse(s string) (any, error) {
	v, err := ParseJSON(s)
	if err != nil {
		return nil, errorf("%v (while parsing '%s')", err, s)
	}
	return v, nil
}

func implode(in any) (any, error) {
	a, ok := in.([]any)
	if !ok {
		return nil, errorf("implode input must be an array")
	}
	var b strings.Builder
	for _, v := range a {
		f, ok := v.(float64)
		if !ok {
			return nil, errorf("Unicode codepoint must be numeric")
		}
		r := rune(max(min(f, utf8.MaxRune+1), -1))
		if !utf8.ValidRune(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

func asciiCase(low, high, shift int) func(in any) (any, error) {
	return func(in any) (any, error) {
		s, ok := in.(string)
		if !ok {
			return nil, errorf("explode input must be a string")
		}
		b := []byte(s)
		for i, c := range b {
			if int(c) >= low && int(c) <= high {
				b[i] = byte(int(c) + shift)
			}
		}
		return string(b), nil
	}
}

func join(_ *machine, in any, args []any) (any, error) {
	var b strings.Builder
	first := true
	plain := true
	err := iterate(in, nil, func(v any, _ *path) error {
		sep, ok := args[0].(string)
		if !ok {
			plain = false
		}
		if !first {
			b.WriteString(sep)
		}
		first = false
		switch x := v.(type) {
		case nil:
		case string:
			b.WriteString(x)
		case bool, float64:
			b.WriteString(JSON(x))
		default:
			_, err := add(b.String(), v)
			return err
		}
		if b.Len() > maxString {
			return errorf("string too long")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !plain {
		return nil, cannot("", args[0], "added")
	}
	if first {
		return "", nil
	}
	return b.String(), nil
}

func affix(name string, f func(s, x string) bool) func(*machine, any, []any) (any, error) {
	return func(_ *machine, in any, args []any) (any, error) {
		s, ok1 := in.(string)
		x, ok2 := args[0].(string)
		if !ok1 || !ok2 {
			return nil, errorf("%s() requires string inputs", name)
		}
		return f(s, x), nil
	}
}

func trimmer(f func(s, x string) string) func(*machine, any, []any) (any, error) {
	return func(_ *machine, in any, args []any) (any, error) {
		s, ok1 := in.(string)
		x, ok2 := args[0].(string)
		if !ok1 || !ok2 {
			return in, nil
		}
		return f(s, x), nil
	}
}

// find is indices: where a string or an array has a part.
func find(in, x any) (any, error) {
	if in == nil {
		return nil, nil
	}
	if s, ok := in.(string); ok {
		if sub, ok := x.(string); ok {
			return findString(s, sub), nil
		}
	}
	if a, ok := in.([]any); ok {
		if sub, ok := x.([]any); ok {
			return indices(a, sub), nil
		}
		return indices(a, []any{x}), nil
	}
	return get(in, x)
}

// findString counts by code points.
func findString(s, sub string) any {
	if sub == "" {
		return nil
	}
	out := []any{}
	count, last := 0, 0
	for i := 0; i+len(sub) <= len(s); {
		j := strings.Index(s[i:], sub)
		if j < 0 {
			break
		}
		i += j
		count += runes(s[last:i])
		last = i
		out = append(out, float64(count))
		_, n := utf8.DecodeRuneInString(s[i:])
		i += n
	}
	return out
}

func pickIndex(in, x any, first bool) (any, error) {
	v, err := find(in, x)
	if err != nil {
		return nil, err
	}
	a, ok := v.([]any)
	if !ok {
		if v == nil {
			return nil, nil
		}
		return nil, errorf("Cannot index %s with number", Kind(v))
	}
	if len(a) == 0 {
		return nil, nil
	}
	if first {
		return a[0], nil
	}
	return a[len(a)-1], nil
}
