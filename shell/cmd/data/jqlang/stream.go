package jqlang

// Stream is the events of a value: [path, leaf] for each leaf, and [path] where
// an array or object ends, as tostream yields them.
func Stream(v any) []any { return streamInto(nil, nil, v) }

func streamInto(out, at []any, v any) []any {
	var last any
	each := func(key, x any) {
		last = key
		out = streamInto(out, append(at[:len(at):len(at)], key), x)
	}
	n := 0
	switch x := v.(type) {
	case []any:
		n = len(x)
		for i, e := range x {
			each(float64(i), e)
		}
	case *Object:
		n = x.Len()
		for i := range n {
			k, e := x.At(i)
			each(k, e)
		}
	}
	path := append([]any{}, at...)
	if n == 0 {
		return append(out, []any{path, v})
	}
	return append(out, []any{append(path, last)})
}
