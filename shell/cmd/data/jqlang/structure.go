package jqlang

import (
	"math"
	"slices"
	"sort"
)

// structure has the functions of arrays, objects and numbers.
func structure() {
	simple("type", func(in any) (any, error) { return Kind(in), nil })
	simple("length", length)
	simple("utf8bytelength", func(in any) (any, error) {
		if s, ok := in.(string); ok {
			return float64(len(s)), nil
		}
		return nil, errorf("%s (%s) only strings have UTF-8 byte length", Kind(in), preview(in))
	})
	simple("keys", func(in any) (any, error) { return keys(in, true) })
	simple("keys_unsorted", func(in any) (any, error) { return keys(in, false) })
	withArgs("has", 1, has)
	withArgs("contains", 1, func(_ *machine, in any, args []any) (any, error) { return contains(in, args[0]) })
	simple("add", func(in any) (any, error) {
		var sum any
		if a, ok := in.([]any); ok {
			if s, ok := joinStrings(a); ok {
				return s, nil
			}
		}
		err := iterate(in, nil, func(v any, _ *path) error {
			var err error
			sum, err = add(sum, v)
			return err
		})
		return sum, err
	})
	simple("reverse", reverse)
	withArgs("setpath", 2, func(_ *machine, in any, args []any) (any, error) {
		p, ok := args[0].([]any)
		if !ok {
			return nil, errorf("Path must be specified as an array")
		}
		return setPath(in, p, func(any) (any, error) { return args[1], nil })
	})
	withArgs("delpaths", 1, func(_ *machine, in any, args []any) (any, error) {
		ps, ok := args[0].([]any)
		if !ok {
			return nil, errorf("Paths must be specified as an array")
		}
		return deletePaths(in, ps)
	})
	simple("flatten", func(in any) (any, error) { return flatten(in, math.Inf(1)) })
	withArgs("flatten", 1, func(_ *machine, in any, args []any) (any, error) {
		depth, ok := args[0].(float64)
		if !ok || depth < 0 {
			return nil, errorf("flatten depth must not be negative")
		}
		return flatten(in, depth)
	})
	simple("toarray", func(in any) (any, error) {
		if a, ok := in.([]any); ok {
			return a, nil
		}
		return []any{in}, nil
	})
	sorting()
	mathFuncs()
}

// joinStrings adds up an array of strings in one go.
func joinStrings(a []any) (string, bool) {
	n := 0
	for _, v := range a {
		s, ok := v.(string)
		if !ok {
			return "", false
		}
		n += len(s)
	}
	if len(a) == 0 || n > maxString {
		return "", false
	}
	b := make([]byte, 0, n)
	for _, v := range a {
		b = append(b, v.(string)...)
	}
	return string(b), true
}

func length(in any) (any, error) {
	switch v := in.(type) {
	case nil:
		return float64(0), nil
	case float64:
		return math.Abs(v), nil
	case string:
		return float64(runes(v)), nil
	case []any:
		return float64(len(v)), nil
	case *Object:
		return float64(v.Len()), nil
	}
	return nil, errorf("%s (%s) has no length", Kind(in), preview(in))
}

func keys(in any, sorted bool) (any, error) {
	var out []any
	switch v := in.(type) {
	case *Object:
		ks := v.Keys()
		if sorted {
			ks = v.Sorted()
		}
		out = make([]any, len(ks))
		for i, k := range ks {
			out[i] = k
		}
	case []any:
		out = make([]any, len(v))
		for i := range v {
			out[i] = float64(i)
		}
	default:
		return nil, errorf("%s (%s) has no keys", Kind(in), preview(in))
	}
	return out, nil
}

func has(_ *machine, in any, args []any) (any, error) {
	switch k := args[0].(type) {
	case string:
		if o, ok := in.(*Object); ok {
			_, found := o.Get(k)
			return found, nil
		}
		if in == nil {
			return false, nil
		}
	case float64:
		if a, ok := in.([]any); ok {
			return k >= 0 && k < float64(len(a)), nil
		}
		if in == nil {
			return false, nil
		}
	}
	return nil, errorf("Cannot check whether %s has a %s key", Kind(in), Kind(args[0]))
}

func reverse(in any) (any, error) {
	switch v := in.(type) {
	case nil:
		return []any{}, nil
	case []any:
		out := slices.Clone(v)
		slices.Reverse(out)
		return out, nil
	case bool:
		return nil, errorf("boolean (%v) has no length", v)
	}
	return nil, errorf("Cannot index %s with number", Kind(in))
}

func flatten(in any, depth float64) (any, error) {
	out := []any{}
	var walk func(v any, depth float64) error
	walk = func(v any, depth float64) error {
		return iterate(v, nil, func(x any, _ *path) error {
			if a, ok := x.([]any); ok && depth > 0 {
				return walk(a, depth-1)
			}
			out = append(out, x)
			return nil
		})
	}
	err := walk(in, depth)
	return out, err
}

// sorting has the functions that order values.
func sorting() {
	simple("sort", func(in any) (any, error) {
		a, err := sortable(in)
		return sortValues(a), err
	})
	simple("min", func(in any) (any, error) { return extreme(in, in, func(d int) bool { return d < 0 }) })
	simple("max", func(in any) (any, error) { return extreme(in, in, func(d int) bool { return d >= 0 }) })
	withArgs("_min_by", 1, func(_ *machine, in any, args []any) (any, error) {
		return extreme(in, args[0], func(d int) bool { return d < 0 })
	})
	withArgs("_max_by", 1, func(_ *machine, in any, args []any) (any, error) {
		return extreme(in, args[0], func(d int) bool { return d >= 0 })
	})
	withArgs("_sort_by", 1, func(_ *machine, in any, args []any) (any, error) {
		order, a, _, err := sortedBy(in, args[0])
		if err != nil {
			return nil, err
		}
		out := make([]any, len(order))
		for i, j := range order {
			out[i] = a[j]
		}
		return out, nil
	})
	withArgs("_group_by", 1, func(_ *machine, in any, args []any) (any, error) {
		order, a, by, err := sortedBy(in, args[0])
		if err != nil {
			return nil, err
		}
		out := []any{}
		for i, j := range order {
			if i > 0 && Compare(by[order[i-1]], by[j]) == 0 {
				out[len(out)-1] = append(out[len(out)-1].([]any), a[j])
			} else {
				out = append(out, []any{a[j]})
			}
		}
		return out, nil
	})
	withArgs("bsearch", 1, func(_ *machine, in any, args []any) (any, error) {
		a, ok := in.([]any)
		if in == nil {
			return float64(-1), nil
		}
		if !ok {
			if _, isBool := in.(bool); isBool {
				return nil, errorf("boolean (%v) has no length", in)
			}
			return nil, errorf("Cannot index %s with number", Kind(in))
		}
		i := sort.Search(len(a), func(i int) bool { return Compare(a[i], args[0]) >= 0 })
		if i < len(a) && Compare(a[i], args[0]) == 0 {
			return float64(i), nil
		}
		return float64(-1 - i), nil
	})
}

func sortable(in any) ([]any, error) {
	a, ok := in.([]any)
	if !ok {
		return nil, errorf("%s (%s) cannot be sorted, as it is not an array", Kind(in), preview(in))
	}
	return a, nil
}

// sortedBy orders the places of in by the values of keys.
func sortedBy(in, keys any) (order []int, a, by []any, err error) {
	a, ok1 := in.([]any)
	by, ok2 := keys.([]any)
	if !ok1 || !ok2 || len(a) != len(by) {
		return nil, nil, nil, errorf("%s (%s) and %s (%s) cannot be sorted, as they are not both arrays", Kind(in), preview(in), Kind(keys), preview(keys))
	}
	order = make([]int, len(a))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(i, j int) bool { return Compare(by[order[i]], by[order[j]]) < 0 })
	return order, a, by, nil
}

func extreme(in, keys any, better func(int) bool) (any, error) {
	a, ok1 := in.([]any)
	by, ok2 := keys.([]any)
	if !ok1 || !ok2 || len(a) != len(by) {
		return nil, errorf("%s (%s) and %s (%s) cannot be iterated over", Kind(in), preview(in), Kind(keys), preview(keys))
	}
	best := -1
	for i := range a {
		if best < 0 || better(Compare(by[i], by[best])) {
			best = i
		}
	}
	if best < 0 {
		return nil, nil
	}
	return a[best], nil
}

// number is the input of a function of mathematics.
func number(v any) (float64, error) {
	f, ok := v.(float64)
	if !ok {
		return 0, errorf("%s (%s) number required", Kind(v), preview(v))
	}
	return f, nil
}

func mathFuncs() {
	for name, f := range map[string]func(float64) float64{"floor": math.Floor, "ceil": math.Ceil, "round": math.Round, "trunc": math.Trunc, "rint": math.RoundToEven, "nearbyint": math.RoundToEven,
		"sqrt": math.Sqrt, "cbrt": math.Cbrt, "fabs": math.Abs, "exp": math.Exp, "exp2": math.Exp2, "exp10": func(x float64) float64 { return math.Pow(10, x) }, "expm1": math.Expm1,
		"log": math.Log, "log2": math.Log2, "log10": math.Log10, "log1p": math.Log1p, "logb": math.Logb, "sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan,
		"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh, "asinh": math.Asinh, "acosh": math.Acosh, "atanh": math.Atanh, "gamma": func(x float64) float64 { v, _ := math.Lgamma(x); return v },
		"lgamma": func(x float64) float64 { v, _ := math.Lgamma(x); return v }, "lgamma_r": func(x float64) float64 { v, _ := math.Lgamma(x); return v }, "tgamma": math.Gamma, "j0": math.J0, "j1": math.J1, "y0": math.Y0, "y1": math.Y1,
		"significand": func(x float64) float64 { f, _ := math.Frexp(x); return f * 2 }} {
		simple(name, func(in any) (any, error) {
			x, err := number(in)
			return f(x), err
		})
	}
	for name, f := range map[string]func(a, b float64) float64{"pow": math.Pow, "atan2": math.Atan2, "fmod": math.Mod, "fmin": math.Min, "fmax": math.Max, "hypot": math.Hypot, "copysign": math.Copysign, "nextafter": math.Nextafter, "drem": math.Remainder, "ldexp": func(a, b float64) float64 { return math.Ldexp(a, int(b)) }, "scalb": func(a, b float64) float64 { return a * math.Pow(2, b) }, "scalbln": func(a, b float64) float64 { return a * math.Pow(2, b) }} {
		withArgs(name, 2, func(_ *machine, _ any, args []any) (any, error) {
			a, err := number(args[0])
			if err != nil {
				return nil, err
			}
			b, err := number(args[1])
			return f(a, b), err
		})
	}
	withArgs("fma", 3, func(_ *machine, _ any, args []any) (any, error) {
		var v [3]float64
		for i := range v {
			var err error
			if v[i], err = number(args[i]); err != nil {
				return nil, err
			}
		}
		return v[0]*v[1] + v[2], nil
	})
	simple("frexp", func(in any) (any, error) {
		x, err := number(in)
		f, e := math.Frexp(x)
		return []any{f, float64(e)}, err
	})
	simple("modf", func(in any) (any, error) {
		x, err := number(in)
		i, f := math.Modf(x)
		return []any{f, i}, err
	})
	simple("abs", func(in any) (any, error) {
		x, ok := in.(float64)
		if !ok {
			return nil, errorf("%s (%s) has no absolute value", Kind(in), preview(in))
		}
		if x < 0 {
			return -x, nil
		}
		return in, nil
	})
	simple("infinite", func(any) (any, error) { return math.Inf(1), nil })
	simple("nan", func(any) (any, error) { return math.NaN(), nil })
	simple("isinfinite", func(in any) (any, error) { x, err := number(in); return math.IsInf(x, 0), err })
	simple("isnan", func(in any) (any, error) { x, err := number(in); return math.IsNaN(x), err })
	simple("isnormal", func(in any) (any, error) {
		x, err := number(in)
		return !math.IsNaN(x) && !math.IsInf(x, 0) && math.Abs(x) >= 0x1p-1022, err
	})
	simple("isvalid", func(any) (any, error) { return true, nil })
}
