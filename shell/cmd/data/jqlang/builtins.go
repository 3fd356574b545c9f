package jqlang

import (
	"encoding/base32"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

type funcKey struct {
	name  string
	arity int
}

// builtin is a function that is not defined in the language.
type builtin func(m *machine, args []closure, in any, p *path, y yield) error

// Filled by init functions; read only after.
var (
	builtins = map[funcKey]builtin{}
	defined  = map[funcKey]*env{}
)

// value0 makes a builtin of a function of the input.
func value0(f func(in any) (any, error)) builtin {
	return func(m *machine, _ []closure, in any, p *path, y yield) error {
		v, err := f(in)
		if err != nil {
			return err
		}
		return y(v, p.lose(v))
	}
}

// values makes a builtin of a function of the input and the outputs of its
// arguments, for each combination of them.
func values(f func(m *machine, in any, args []any) (any, error)) builtin {
	return func(m *machine, args []closure, in any, p *path, y yield) error {
		vs := make([]any, len(args))
		var each func(i int) error
		each = func(i int) error {
			if i < len(args) {
				return m.query(args[i].q, args[i].env, in, nil, func(v any, _ *path) error {
					vs[i] = v
					return each(i + 1)
				})
			}
			v, err := f(m, in, slices.Clone(vs))
			if err != nil {
				return err
			}
			return y(v, p.lose(v))
		}
		return each(0)
	}
}

func simple(name string, f func(in any) (any, error)) { builtins[funcKey{name, 0}] = value0(f) }

func withArgs(name string, arity int, f func(m *machine, in any, args []any) (any, error)) {
	builtins[funcKey{name, arity}] = values(f)
}

// eval evaluates an argument.
func (m *machine) eval(c closure, in any, p *path, y yield) error {
	return m.query(c.q, c.env, in, p, y)
}

// define adds functions that are written in the language.
func define(src string) {
	q, err := gojq.Parse(src + " .")
	if err != nil {
		panic("jqlang: " + err.Error())
	}
	for _, d := range q.FuncDefs {
		defined[funcKey{d.Name, len(d.Args)}] = &env{name: d.Name, def: d, arity: len(d.Args), isFunc: true}
	}
}

func init() {
	control()
	structure()
	stringFuncs()
	define(`
def map(f): [.[] | f];
def map_values(f): .[] |= f;
def recurse(f): def r: ., (f | r); r;
def recurse(f; cond): def r: ., (f | select(cond) | r); r;
def recurse_down: recurse;
def values: select(. != null);
def nulls: select(. == null);
def booleans: select(type == "boolean");
def numbers: select(type == "number");
def strings: select(type == "string");
def arrays: select(type == "array");
def objects: select(type == "object");
def iterables: select(type == "array" or type == "object");
def scalars: select(type != "array" and type != "object");
def finites: select(isinfinite or isnan | not);
def normals: select(isnormal);
def to_entries: [keys_unsorted[] as $k | {key: $k, value: .[$k]}];
def from_entries: reduce .[] as $x ({}; . + { ($x | if .key == null then .k // .name // .Name // .K // .Key else .key end | if type == "string" then . else error("Cannot use " + type + " (" + tojson + ") as object key") end): ($x | if has("value") then .value elif has("v") then .v else .Value end) });
def with_entries(f): to_entries | map(f) | from_entries;
def walk(f): def w: if type == "object" then map_values(w) elif type == "array" then map(w) else . end | f; w;
def paths: path(..) | select(length > 0);
def paths(node_filter): . as $dot | paths | select(. as $p | $dot | getpath($p) | node_filter);
def leaf_paths: paths(scalars);
def del(f): delpaths([path(f)]);
def pick(f): . as $top | reduce path(f) as $p (null; setpath($p; $top | getpath($p)));
def in(xs): . as $x | xs | has($x);
def inside(xs): . as $x | xs | contains($x);
def any: any(.[]; .);
def all: all(.[]; .);
def any(f): any(.[]; f);
def all(f): all(.[]; f);
def first: .[0];
def last: .[-1];
def nth($n): .[$n];
def nth($n; f): if $n < 0 then error("Out of bounds negative array index") else last(limit($n + 1; f)) end;
def until(cond; update): def _until: if cond then . else (update | _until) end; _until;
def combinations: if length == 0 then [] else .[0][] as $x | (.[1:] | combinations) as $w | [$x] + $w end;
def combinations(n): . as $dot | [range(n)] | map($dot) | combinations;
def transpose: if . == [] then [] else . as $in | (map(length) | max) as $max | [range(0; $max) as $j | [range(0; $in | length) as $i | $in[$i][$j]]] end;
def ascii: [.] | implode;
def todate: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;
def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");
def fromdate: fromdateiso8601;
def date: todate;
def dateadd(u; n): . + n;
def datesub(u; n): . - n;
def match(re; mode): _match(re; mode; false) | .[];
def match($val): ($val | type) as $vt | if $vt == "string" then match($val; null) elif $vt == "array" and ($val | length) > 1 then match($val[0]; $val[1]) elif $vt == "array" and ($val | length) > 0 then match($val[0]; null) else error($vt + " not a string or array") end;
def test(re; mode): _match(re; mode; true);
def test($val): ($val | type) as $vt | if $vt == "string" then test($val; null) elif $vt == "array" and ($val | length) > 1 then test($val[0]; $val[1]) elif $vt == "array" and ($val | length) > 0 then test($val[0]; null) else error($vt + " not a string or array") end;
def capture(re; mods): match(re; mods) | [.captures | .[] | select(.name != null) | {key: .name, value: .string}] | from_entries;
def capture($val): ($val | type) as $vt | if $vt == "array" and ($val | length) > 1 then capture($val[0]; $val[1]) elif $vt == "array" and ($val | length) > 0 then capture($val[0]; null) else capture($val; null) end;
def scan($re; $flags): match($re; "g" + $flags) | if (.captures | length) > 0 then [.captures | .[] | .string] else .string end;
def scan($re): scan($re; null);
def splits($re): splits($re; null);
def splits($re; flags): split($re; flags) | .[];
def tostream: path(def r: (.[]?|r), .; r) as $p | getpath($p) | reduce path(.[]?) as $q ([$p, .]; [$p+$q]);
def fromstream(f): {x: null, e: false} as $init | foreach f as $i ($init; if .e then $init else . end | if $i | length == 2 then setpath(["e"]; $i[0] | length == 0) | setpath(["x"] + $i[0]; $i[1]) else setpath(["e"]; $i[0] | length == 1) end; if .e then .x else empty end);
def truncate_stream(stream): . as $n | null | stream | . as $input | if (.[0] | length) > $n then setpath([0]; .[0][$n:]) else empty end;
def inputs: _inputs;
def INDEX(stream; idx_expr): reduce stream as $row ({}; .[$row | idx_expr | tostring] |= $row);
def INDEX(idx_expr): INDEX(.[]; idx_expr);
def IN(s): any(s == .; .);
def IN(src; s): any(src == s; .);
def JOIN($idx; idx_expr): [.[] | [., $idx[idx_expr]]];
def JOIN($idx; stream; idx_expr): stream | [., $idx[idx_expr]];
def JOIN($idx; stream; idx_expr; join_expr): stream | [., $idx[idx_expr]] | join_expr;
def group_by(f): _group_by(map([f]));
def unique: unique_by(.);
def unique_by(f): [_group_by(map([f]))[] | .[0]];
def sort_by(f): _sort_by(map([f]));
def min_by(f): _min_by(map([f]));
def max_by(f): _max_by(map([f]));
def unique: unique_by(.);
def halt_error: halt_error(5);
def add(f): reduce f as $x (null; . + $x);
def have_decnum: false;
def have_literal_numbers: true;
def env: $ENV;
def debug(msg): (msg | debug | empty), .;
`)
}

// control has the functions that decide what is evaluated.
func control() {
	builtins[funcKey{"empty", 0}] = func(*machine, []closure, any, *path, yield) error { return nil }
	builtins[funcKey{"not", 0}] = value0(func(in any) (any, error) { return !Truthy(in), nil })
	builtins[funcKey{"error", 0}] = func(_ *machine, _ []closure, in any, _ *path, _ yield) error { return &Error{in} }
	builtins[funcKey{"error", 1}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.eval(args[0], in, nil, func(v any, _ *path) error { return &Error{v} })
	}
	builtins[funcKey{"select", 1}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.eval(args[0], in, nil, func(v any, _ *path) error {
			if !Truthy(v) {
				return nil
			}
			return y(in, p)
		})
	}
	builtins[funcKey{"recurse", 0}] = func(_ *machine, _ []closure, in any, p *path, y yield) error { return recurse(in, p, y) }
	builtins[funcKey{"path", 1}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.pathsOf(args[0], in, func(path []any, _ any) error { return y(path, p.lose(path)) })
	}
	builtins[funcKey{"getpath", 1}] = getpathBuiltin
	builtins[funcKey{"first", 1}] = func(m *machine, args []closure, in any, p *path, y yield) error { return m.take(args[0], 1, in, p, y) }
	builtins[funcKey{"limit", 2}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.eval(args[0], in, nil, func(n any, _ *path) error {
			f, ok := n.(float64)
			if !ok {
				return errorf("limit count must be a number")
			}
			if f <= 0 {
				return nil
			}
			return m.take(args[1], int(min(f, math.MaxInt32)), in, p, y)
		})
	}
	builtins[funcKey{"skip", 2}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.eval(args[0], in, nil, func(n any, _ *path) error {
			left, _ := n.(float64)
			return m.eval(args[1], in, p, func(v any, vp *path) error {
				if left--; left >= 0 {
					return nil
				}
				return y(v, vp)
			})
		})
	}
	builtins[funcKey{"last", 1}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		var last any
		var lp *path
		found := false
		if err := m.eval(args[0], in, p, func(v any, vp *path) error { last, lp, found = v, vp, true; return nil }); err != nil || !found {
			return err
		}
		return y(last, lp)
	}
	builtins[funcKey{"isempty", 1}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		_, ok, err := m.first(args[0], in)
		if err != nil {
			return err
		}
		return y(!ok, p.lose(!ok))
	}
	builtins[funcKey{"any", 2}] = quantifier(true)
	builtins[funcKey{"all", 2}] = quantifier(false)
	builtins[funcKey{"while", 2}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.while(args[0], args[1], in, p, y)
	}
	builtins[funcKey{"repeat", 1}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.repeat(args[0], in, p, y)
	}
	builtins[funcKey{"range", 1}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.eval(args[0], in, nil, func(n any, _ *path) error { return count(float64(0), n, float64(1), p, y) })
	}
	builtins[funcKey{"range", 2}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.eval(args[0], in, nil, func(from any, _ *path) error {
			return m.eval(args[1], in, nil, func(to any, _ *path) error { return count(from, to, float64(1), p, y) })
		})
	}
	builtins[funcKey{"range", 3}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.eval(args[0], in, nil, func(from any, _ *path) error {
			return m.eval(args[1], in, nil, func(to any, _ *path) error {
				return m.eval(args[2], in, nil, func(by any, _ *path) error { return count(from, to, by, p, y) })
			})
		})
	}
	inputFuncs()
}

func getpathBuiltin(m *machine, args []closure, in any, p *path, y yield) error {
	return m.eval(args[0], in, nil, func(v any, _ *path) error {
		keys, ok := v.([]any)
		if !ok {
			return errorf("Path must be specified as an array")
		}
		if p != nil && p.lost {
			return lostPath(p)
		}
		r, err := getPath(in, keys)
		if err != nil {
			return err
		}
		for _, k := range keys {
			p = p.to(k)
		}
		return y(r, p)
	})
}

// take yields the first n outputs of a closure.
func (m *machine) take(c closure, n int, in any, p *path, y yield) error {
	stop := &breakError{}
	err := m.eval(c, in, p, func(v any, vp *path) error {
		n--
		if err := y(v, vp); err != nil {
			return err
		}
		if n <= 0 {
			return stop
		}
		return nil
	})
	if err == error(stop) {
		return nil
	}
	return err
}

// quantifier is any(generator; condition), or all.
func quantifier(any_ bool) builtin {
	return func(m *machine, args []closure, in any, p *path, y yield) error {
		stop := &breakError{}
		found := false
		err := m.eval(args[0], in, nil, func(v any, _ *path) error {
			return m.eval(args[1], v, nil, func(c any, _ *path) error {
				if Truthy(c) == any_ {
					found = true
					return stop
				}
				return nil
			})
		})
		if err != nil && err != error(stop) {
			return err
		}
		r := found == any_
		return y(r, p.lose(r))
	}
}

// while yields the input as long as the condition holds of it.
func (m *machine) while(cond, update closure, in any, p *path, y yield) error {
	if m.depth++; m.depth > maxCalls*10 {
		return errorf("calls nested too deeply")
	}
	defer func() { m.depth-- }()
	return m.eval(cond, in, nil, func(c any, _ *path) error {
		if !Truthy(c) {
			return nil
		}
		if err := y(in, p); err != nil {
			return err
		}
		return m.eval(update, in, p, func(v any, vp *path) error { return m.while(cond, update, v, vp, y) })
	})
}

func (m *machine) repeat(update closure, in any, p *path, y yield) error {
	if m.depth++; m.depth > maxCalls*10 {
		return errorf("calls nested too deeply")
	}
	defer func() { m.depth-- }()
	if err := y(in, p); err != nil {
		return err
	}
	return m.eval(update, in, p, func(v any, vp *path) error { return m.repeat(update, v, vp, y) })
}

// count is range.
func count(from, to, by any, p *path, y yield) error {
	f, ok1 := from.(float64)
	t, ok2 := to.(float64)
	s, ok3 := by.(float64)
	if !ok1 || !ok2 || !ok3 {
		return errorf("Range bounds must be numeric")
	}
	if s == 0 && f < t {
		// For ever, as jq does it; the one who asked will stop it.
		for {
			if err := y(f, p.lose(f)); err != nil {
				return err
			}
		}
	}
	for v := f; s > 0 && v < t || s < 0 && v > t; v += s {
		if err := y(v, p.lose(v)); err != nil {
			return err
		}
	}
	return nil
}

func inputFuncs() {
	builtins[funcKey{"input", 0}] = func(m *machine, _ []closure, _ any, p *path, y yield) error {
		v, err := m.nextInput()
		if err == error(errNoInput) {
			return errorf("No more inputs")
		}
		if err != nil {
			return err
		}
		return y(v, p.lose(v))
	}
	builtins[funcKey{"_inputs", 0}] = func(m *machine, _ []closure, _ any, p *path, y yield) error {
		for {
			v, err := m.nextInput()
			if err == error(errNoInput) {
				return nil
			}
			if err != nil {
				return err
			}
			if err := y(v, p.lose(v)); err != nil {
				return err
			}
		}
	}
	builtins[funcKey{"debug", 0}] = func(m *machine, _ []closure, in any, p *path, y yield) error {
		if m.o.Debug != nil {
			m.o.Debug(in)
		}
		return y(in, p)
	}
	builtins[funcKey{"stderr", 0}] = func(m *machine, _ []closure, in any, p *path, y yield) error {
		if m.o.Stderr != nil {
			m.o.Stderr(JSON(in))
		}
		return y(in, p)
	}
	builtins[funcKey{"halt", 0}] = func(*machine, []closure, any, *path, yield) error { return &Halt{} }
	builtins[funcKey{"halt_error", 1}] = func(m *machine, args []closure, in any, p *path, y yield) error {
		return m.eval(args[0], in, nil, func(v any, _ *path) error {
			f, ok := v.(float64)
			if !ok {
				return errorf("halt_error/1: number required")
			}
			return &Halt{Value: in, HasValue: true, Status: int(f)}
		})
	}
	withArgs("input_filename", 0, func(m *machine, _ any, _ []any) (any, error) {
		if m.o.Filename == nil {
			return nil, nil
		}
		return m.o.Filename(), nil
	})
	withArgs("input_line_number", 0, func(m *machine, _ any, _ []any) (any, error) {
		if m.o.Line == nil {
			return float64(0), nil
		}
		return float64(m.o.Line()), nil
	})
	withArgs("builtins", 0, func(*machine, any, []any) (any, error) {
		out := []any{}
		for k := range builtins {
			if !strings.HasPrefix(k.name, "_") {
				out = append(out, k.name+"/"+string(rune('0'+k.arity)))
			}
		}
		for k := range defined {
			out = append(out, k.name+"/"+string(rune('0'+k.arity)))
		}
		return sortValues(out), nil
	})
}

func encode32(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) }

func decode32(s string) (string, error) {
	b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(s, "="))
	if err != nil {
		return "", errorf("string (%s) is not valid base32 data", preview(s))
	}
	if !utf8.Valid(b) {
		return strings.ToValidUTF8(string(b), "\uFFFD"), nil
	}
	return string(b), nil
}
