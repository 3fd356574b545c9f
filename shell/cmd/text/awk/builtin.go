package awk

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/command"
)

// builtin is a function that awk has.
type builtin struct {
	least, most int
	fn          func(in *interp, c *builtinExpr) value
}

// many is the most of a function that takes any number of arguments.
const many = math.MaxInt32

// builtins are the functions by name. They are set in init because indirect
// calls refer to them.
var builtins map[string]builtin

func init() {
	math1 := func(f func(float64) float64) builtin {
		return builtin{1, 1, func(in *interp, c *builtinExpr) value { return number(f(c.float(in, 0))) }}
	}
	builtins = map[string]builtin{
		"sin": math1(math.Sin), "cos": math1(math.Cos), "exp": {1, 1, doExp}, "log": {1, 1, doLog}, "sqrt": {1, 1, doSqrt}, "int": math1(math.Trunc),
		"atan2": {2, 2, func(in *interp, c *builtinExpr) value { return number(math.Atan2(c.float(in, 0), c.float(in, 1))) }},
		"rand":  {0, 0, func(in *interp, _ *builtinExpr) value { return number(in.random.float()) }},
		"srand": {0, 1, doSrand},

		"length": {0, 1, doLength}, "substr": {2, 3, doSubstr}, "index": {2, 2, doIndex}, "split": {2, 4, doSplit}, "patsplit": {2, 4, doPatsplit},
		"match": {2, 3, doMatch}, "sub": {2, 3, doSub}, "gsub": {2, 3, doSub}, "gensub": {3, 4, doGensub}, "sprintf": {1, many, doSprintf},
		"tolower": {1, 1, doTolower}, "toupper": {1, 1, doToupper},

		"system": {1, 1, doSystem}, "close": {1, 2, doClose}, "fflush": {0, 1, doFflush},
		"systime": {0, 0, doSystime}, "mktime": {1, 2, doMktime}, "strftime": {0, 3, doStrftime},

		"asort": {1, 3, doAsort}, "asorti": {1, 3, doAsort},
		"and": {2, many, doBits}, "or": {2, many, doBits}, "xor": {2, many, doBits}, "compl": {1, 1, doCompl},
		"lshift": {2, 2, doShift}, "rshift": {2, 2, doShift}, "strtonum": {1, 1, doStrtonum},
		"isarray": {1, 1, doIsarray}, "typeof": {1, 2, doTypeof}, "mkbool": {1, 1, doMkbool},
		"dcgettext": {1, 3, func(in *interp, c *builtinExpr) value { return text(c.string(in, 0)) }},
		"dcngettext": {3, 5, func(in *interp, c *builtinExpr) value {
			if c.float(in, 2) == 1 {
				return text(c.string(in, 0))
			}
			return text(c.string(in, 1))
		}},
		"bindtextdomain": {1, 2, func(in *interp, c *builtinExpr) value { return text(c.string(in, 0)) }},
	}
}

// value, float and string evaluate an argument.
func (c *builtinExpr) value(in *interp, i int) value { return c.args[i].eval(in) }

func (c *builtinExpr) float(in *interp, i int) float64 {
	v := c.args[i].eval(in)
	return v.float()
}

func (c *builtinExpr) string(in *interp, i int) string {
	v := c.args[i].eval(in)
	return v.string(in.convfmt())
}

func (c *builtinExpr) eval(in *interp) value {
	in.at = c.pos
	return c.fn(in, c)
}

func doExp(in *interp, c *builtinExpr) value {
	x := c.float(in, 0)
	r := math.Exp(x)
	if math.IsInf(r, 1) && !math.IsInf(x, 1) || r == 0 && !math.IsInf(x, -1) {
		in.warning("exp: argument %s is out of range", formatNumber(x, "%.6g"))
	}
	return number(r)
}

func doLog(in *interp, c *builtinExpr) value {
	x := c.float(in, 0)
	if x < 0 {
		in.warning("log: received negative argument %s", formatNumber(x, "%.6g"))
		return number(math.Copysign(math.NaN(), -1))
	}
	return number(math.Log(x))
}

func doSqrt(in *interp, c *builtinExpr) value {
	x := c.float(in, 0)
	if x < 0 {
		in.warning("sqrt: received negative argument %s", formatNumber(x, "%.6g"))
		return number(math.Copysign(math.NaN(), -1))
	}
	return number(math.Sqrt(x))
}

func doSrand(in *interp, c *builtinExpr) value {
	r := &in.random
	old := r.seed
	if len(c.args) == 0 {
		r.seed = float64(in.c.Now().Unix())
	} else {
		r.seed = c.float(in, 0)
	}
	r.start(uint32(int64(r.seed)))
	return number(old)
}

// chars is the length of s in characters.
func (in *interp) chars(s string) int {
	if in.utf8 {
		if !in.warned["multibyte"] && !utf8.ValidString(s) {
			in.warned["multibyte"] = true
			in.warning("Invalid multibyte data detected. There may be a mismatch between your data and your locale")
		}
		return utf8.RuneCountInString(s)
	}
	return len(s)
}

func doLength(in *interp, c *builtinExpr) value {
	if len(c.args) == 0 {
		return number(float64(in.chars(in.line())))
	}
	if a := in.arrayArg(c.args[0]); a != nil {
		return number(float64(len(a.m)))
	}
	return number(float64(in.chars(c.string(in, 0))))
}

// arrayArg returns the array that an argument names, nil when it is none.
func (in *interp) arrayArg(x expr) *array {
	switch v := x.(type) {
	case *globalVar:
		return in.globals[v.index].arr
	case *localVar:
		if s := &in.locals[v.index]; s.isArray() {
			return s.array(in, v.name, true)
		}
	case *specialVar:
		return in.special[v.index].arr
	case *indexExpr:
		if a := v.array.peek(in); a != nil {
			if e := a.m[in.subscript(v.subs)]; e != nil {
				return e.arr
			}
		}
	}
	return nil
}

// peek is find that makes nothing.
func (r *arrayRef) peek(in *interp) *array {
	switch {
	case r.outer != nil:
		if a := r.outer.array.peek(in); a != nil {
			if e := a.m[in.subscript(r.outer.subs)]; e != nil {
				return e.arr
			}
		}
		return nil
	case r.local >= 0:
		if s := &in.locals[r.local]; s.isArray() {
			return s.array(in, r.name, true)
		}
		return nil
	case r.special >= 0:
		return in.special[r.special].arr
	}
	return in.globals[r.global].arr
}

// wantArray returns the array that an argument names, made if need be.
func (in *interp) wantArray(c *builtinExpr, i int, which string) *array {
	switch v := c.args[i].(type) {
	case *globalVar:
		ref := arrayRef{name: v.name, global: v.index, local: -1, special: -1}
		return ref.find(in)
	case *localVar:
		ref := arrayRef{name: v.name, global: -1, local: v.index, special: -1}
		return ref.find(in)
	case *specialVar:
		ref := arrayRef{name: v.name, global: -1, local: -1, special: v.index}
		return ref.find(in)
	case *indexExpr:
		ref := arrayRef{name: v.array.name, global: -1, local: -1, special: -1, outer: v}
		return ref.find(in)
	}
	in.fatal("%s: %s argument is not an array", c.name, which)
	return nil
}

func doSubstr(in *interp, c *builtinExpr) value {
	s := c.string(in, 0)
	start := max(1, math.Trunc(c.float(in, 1)))
	n := in.chars(s)
	end := float64(n) + 1
	if len(c.args) == 3 {
		end = min(end, start+math.Trunc(c.float(in, 2)))
	}
	if !(start < end) { // a length that is no number is none
		return text("")
	}
	if n == len(s) {
		return text(s[int(start)-1 : int(end)-1])
	}
	from := in.prefix(s, int(start)-1)
	return text(s[from : from+in.prefix(s[from:], int(end-start))])
}

func doIndex(in *interp, c *builtinExpr) value {
	s, t := c.string(in, 0), c.string(in, 1)
	if in.ignoring {
		s, t = strings.ToLower(s), strings.ToLower(t)
	}
	i := strings.Index(s, t)
	if i < 0 {
		return number(0)
	}
	return number(float64(in.chars(s[:i]) + 1))
}

func doTolower(in *interp, c *builtinExpr) value {
	return text(in.mapCase(c.string(in, 0), unicode.ToLower))
}

func doToupper(in *interp, c *builtinExpr) value {
	return text(in.mapCase(c.string(in, 0), unicode.ToUpper))
}

// mapCase changes the case of letters; bytes that are no characters stay.
func (in *interp) mapCase(s string, f func(rune) rune) string {
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			b = append(b, byte(f(rune(s[i]))))
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if in.utf8 && n > 1 {
			b = utf8.AppendRune(b, f(r))
		} else {
			n = 1
			b = append(b, s[i])
		}
		i += n
	}
	return string(b)
}

func doSprintf(in *interp, c *builtinExpr) value { return text(in.format(c.args)) }

func doSystem(in *interp, c *builtinExpr) value {
	if in.sandbox {
		in.fatal("'system' function not allowed in sandbox mode")
	}
	line := c.string(in, 0)
	in.flushAll()
	if in.main.recs != nil && in.main.src == nil {
		in.main.recs.r.Unread()
	}
	status, err := in.c.Run(in.ctx, &command.Child{Args: []string{"sh", "-c", line}})
	if in.ctx.Err() != nil {
		panic(&failure{status: 2})
	}
	if err != nil {
		return number(127)
	}
	return number(float64(status))
}

func doClose(in *interp, c *builtinExpr) value {
	name := c.string(in, 0)
	return number(float64(in.streams.closeNamed(in, name)))
}

func doFflush(in *interp, c *builtinExpr) value {
	if len(c.args) == 0 || c.string(in, 0) == "" {
		in.flushAll()
		return number(0)
	}
	name := c.string(in, 0)
	if o := in.streams.out[name]; o != nil {
		if o.w.Flush() != nil {
			return number(-1)
		}
		return number(0)
	}
	if name == "/dev/stdout" {
		in.flushAll()
		return number(0)
	}
	in.warning("fflush: `%s' is not an open file, pipe or co-process", name)
	return number(-1)
}

// bits is an argument of a bit function.
func (c *builtinExpr) bits(in *interp, i int) uint64 {
	x := c.float(in, i)
	if x < 0 {
		in.fatal("%s: argument %d negative value %s is not allowed", c.name, i+1, formatNumber(x, "%.6g"))
	}
	return uint64(x)
}

// maxExact is the largest integer up to which a double has all of them.
const maxExact = 1<<53 - 1

func doBits(in *interp, c *builtinExpr) value {
	r := c.bits(in, 0)
	for i := 1; i < len(c.args); i++ {
		x := c.bits(in, i)
		switch c.name {
		case "and":
			r &= x
		case "or":
			r |= x
		default:
			r ^= x
		}
	}
	return number(float64(r))
}

func doCompl(in *interp, c *builtinExpr) value {
	x := c.float(in, 0)
	if x < 0 {
		in.fatal("compl(%s): negative value is not allowed", formatNumber(x, "%.6g"))
	}
	return number(float64(^uint64(x) & maxExact))
}

func doShift(in *interp, c *builtinExpr) value {
	x, n := c.float(in, 0), c.float(in, 1)
	if x < 0 || n < 0 {
		in.fatal("%s(%f, %f): negative values are not allowed", c.name, x, n)
	}
	if c.name == "lshift" {
		return number(float64(uint64(x) << uint64(n)))
	}
	return number(float64(uint64(x) >> uint64(n)))
}

func doStrtonum(in *interp, c *builtinExpr) value {
	v := c.value(in, 0)
	if v.kind == kNumber || v.kind == kBoth {
		return number(v.num)
	}
	s := strings.TrimLeft(v.string(in.convfmt()), " \t\n\v\f\r")
	switch {
	case len(s) > 1 && s[0] == '0' && s[1]|0x20 == 'x':
		n := 2
		for n < len(s) && isHex(s[n]) {
			n++
		}
		return number(parseBase(s[2:n], 16))
	case len(s) > 1 && s[0] == '0' && strings.IndexAny(s[:leadingDigits(s)], "89") < 0 && !strings.Contains(s, "."):
		return number(parseBase(s[1:leadingDigits(s)], 8))
	}
	t := text(s)
	return number(t.float())
}

func doIsarray(in *interp, c *builtinExpr) value { return truth(in.arrayArg(c.args[0]) != nil) }

func doTypeof(in *interp, c *builtinExpr) value {
	if in.arrayArg(c.args[0]) != nil {
		return text("array")
	}
	switch x := c.args[0].(type) {
	case *indexExpr:
		if s := x.element(in); s.kind == kUnset {
			return text("untyped")
		}
	case *globalVar:
		if s := &in.globals[x.index]; s.kind == kUnset && s.ref == nil {
			return text("untyped")
		}
	case *localVar:
		if s := &in.locals[x.index]; s.kind == kUnset {
			return text("untyped")
		}
	}
	v := c.value(in, 0)
	v.settle()
	switch v.kind {
	case kNumber:
		return text("number")
	case kBoth:
		return text("strnum")
	case kUnset:
		return text("unassigned")
	}
	return text("string")
}

func doMkbool(in *interp, c *builtinExpr) value {
	v := c.value(in, 0)
	return truth(v.bool())
}
