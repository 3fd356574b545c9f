package awk

import (
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

func doSplit(in *interp, c *builtinExpr) value {
	s := c.string(in, 0)
	var by splitter
	switch {
	case len(c.args) < 3:
		by = in.splits
		if in.mode != byFS {
			by = in.newSplitter(in.special[vFS].string("%.6g"))
		}
	default:
		if lit, ok := c.args[2].(*regexLit); ok {
			by = splitter{kind: splitRegex, re: lit.compiled(in)}
		} else {
			by = in.newSplitter(c.string(in, 2))
		}
	}
	fill, sep := in.splitTargets(c)
	in.splitText(s, &by, fill.add, sep.adder())
	return number(float64(fill.n))
}

func doPatsplit(in *interp, c *builtinExpr) value {
	s := c.string(in, 0)
	re := in.fpat
	if len(c.args) > 2 {
		re = in.regexOf(c.args[2])
	} else if re == nil {
		re = in.compile(in.special[vFPAT].string("%.6g"))
	}
	fill, sep := in.splitTargets(c)
	if s == "" {
		return number(0)
	}
	in.splitPattern(s, re, fill.add, sep.adder())
	return number(float64(fill.n))
}

// filler fills an array with numbered elements.
type filler struct {
	in *interp
	a  *array
	n  int
}

func (f *filler) add(s string) {
	f.n++
	f.set(strconv.Itoa(f.n), input(s))
}

func (f *filler) set(key string, v value) {
	v.settle()
	s, fresh := f.a.get(key)
	if fresh {
		f.in.hold(int64(len(key)+len(v.str)) + elementCost)
	}
	s.value = v
}

// adder is add for separators, nil when they are not wanted.
func (f *filler) adder() func(string) {
	if f == nil {
		return nil
	}
	return func(s string) {
		f.set(strconv.Itoa(f.n), input(s))
		f.n++
	}
}

// splitTargets empties the arrays that split and patsplit fill.
func (in *interp) splitTargets(c *builtinExpr) (fill, sep *filler) {
	a := in.wantArray(c, 1, "second")
	in.hold(-a.cost())
	a.clear()
	fill = &filler{in: in, a: a}
	if len(c.args) > 3 {
		b := in.wantArray(c, 3, "fourth")
		in.hold(-b.cost())
		b.clear()
		sep = &filler{in: in, a: b}
		// Blanks before the first field are separator 0; with a pattern or a
		// regular expression the first separator is 1.
		if c.name == "split" && !in.splitsBlanks(c) {
			sep.n = 1
		}
	}
	return fill, sep
}

// splitsBlanks reports whether a split is at runs of blanks.
func (in *interp) splitsBlanks(c *builtinExpr) bool {
	if lit, ok := c.args[2].(*regexLit); ok {
		_ = lit
		return false
	}
	if lit, ok := c.args[2].(*stringLit); ok {
		return lit.v.str == " "
	}
	return c.string(in, 2) == " "
}

func doMatch(in *interp, c *builtinExpr) value {
	s := c.string(in, 0)
	re := in.regexOf(c.args[1])
	var a *array
	if len(c.args) > 2 {
		a = in.wantArray(c, 2, "third")
		in.hold(-a.cost())
		a.clear()
	}
	b := in.bytes(s)
	loc, err := re.FindGroups(in.ctx, b, 0, in.loc)
	in.regexDone(err)
	start, length := 0, -1
	if loc != nil {
		in.loc = loc
		start, length = in.chars(s[:loc[0]])+1, in.chars(s[loc[0]:loc[1]])
		if a != nil {
			in.matchArray(a, s, loc)
		}
	}
	in.special[vRSTART].value = number(float64(start))
	in.special[vRLENGTH].value = number(float64(length))
	return number(float64(start))
}

// matchArray fills the array of match() with the groups.
func (in *interp) matchArray(a *array, s string, loc []int) {
	f := filler{in: in, a: a}
	sep := in.special[vSUBSEP].string("%.6g")
	for g := 0; 2*g < len(loc); g++ {
		if loc[2*g] < 0 {
			continue
		}
		k := strconv.Itoa(g)
		f.set(k, input(s[loc[2*g]:loc[2*g+1]]))
		f.set(k+sep+"start", number(float64(in.chars(s[:loc[2*g]])+1)))
		f.set(k+sep+"length", number(float64(in.chars(s[loc[2*g]:loc[2*g+1]]))))
	}
}

func doSub(in *interp, c *builtinExpr) value {
	re := in.regexOf(c.args[0])
	repl := c.string(in, 1)
	var to lvalue = &fieldExpr{&numberLit{number(0)}}
	if len(c.args) > 2 {
		x := c.args[2]
		var ok bool
		if to, ok = x.(lvalue); !ok {
			v := x.eval(in)
			_, n := in.replaceAll(re, repl, v.string(in.convfmt()), c.name == "gsub", 0, false)
			return number(float64(n))
		}
	}
	p := to.locate(in)
	v := in.load(p)
	out, n := in.replaceAll(re, repl, v.string(in.convfmt()), c.name == "gsub", 0, false)
	if n > 0 {
		in.assign(p, text(out))
	}
	return number(float64(n))
}

func doGensub(in *interp, c *builtinExpr) value {
	re := in.regexOf(c.args[0])
	repl := c.string(in, 1)
	how := c.value(in, 2)
	s := ""
	if len(c.args) > 3 {
		s = c.string(in, 3)
	} else {
		s = in.line()
	}
	global, which := false, 1
	if h := how.string(in.convfmt()); h != "" && (h[0] == 'g' || h[0] == 'G') {
		global = true
	} else {
		f := how.float()
		if f < 1 {
			in.warning("gensub: third argument `%s' treated as 1", h)
			f = 1
		}
		which = int(f)
	}
	out, _ := in.replaceAll(re, repl, s, global, which, true)
	return text(out)
}

// replaceAll replaces matches of re in s: all of them, or the one of the given
// number (0 means the first). It returns how many were replaced.
func (in *interp) replaceAll(re *regex.Regexp, repl, s string, all bool, which int, groups bool) (string, int) {
	b := []byte(s)
	var out []byte
	done, at, last, count, n := 0, 0, -1, 0, 0
	for at <= len(b) {
		var loc []int
		var err error
		if groups {
			loc, err = re.FindGroups(in.ctx, b, at, in.loc)
		} else {
			var from, to int
			if from, to, err = re.Find(in.ctx, b, at); from >= 0 {
				loc = append(in.loc[:0], from, to)
			}
		}
		in.regexDone(err)
		if loc == nil {
			break
		}
		in.loc = loc
		from, to := loc[0], loc[1]
		// An empty match right behind the last match is none.
		if from != to || from != last {
			if count++; all || count == max(which, 1) {
				out = append(out, b[done:from]...)
				out = appendReplacement(out, repl, s, loc, groups)
				in.checkSize(len(out))
				done = to
				n++
				if !all {
					break
				}
			}
		}
		at, last = to, to
		if from == to {
			at += max(1, in.prefix(s[min(to, len(s)):], 1))
		}
	}
	if n == 0 {
		return s, 0
	}
	return string(append(out, b[done:]...)), n
}

// appendReplacement appends a replacement: & is the match, and with groups \1
// to \9 are the groups. Only backslashes before an & are special otherwise.
func appendReplacement(out []byte, repl, s string, loc []int, groups bool) []byte {
	if strings.IndexByte(repl, '&') < 0 && strings.IndexByte(repl, '\\') < 0 {
		return append(out, repl...)
	}
	for i := 0; i < len(repl); i++ {
		switch c := repl[i]; {
		case c == '&':
			out = append(out, s[loc[0]:loc[1]]...)
		case c != '\\':
			out = append(out, c)
		case groups && i+1 < len(repl):
			i++
			c = repl[i]
			if !isDigit(c) {
				out = append(out, c)
				break
			}
			if g := int(c - '0'); 2*g < len(loc) && loc[2*g] >= 0 {
				out = append(out, s[loc[2*g]:loc[2*g+1]]...)
			}
		default:
			n := 1
			for i+n < len(repl) && repl[i+n] == '\\' {
				n++
			}
			if i+n == len(repl) || repl[i+n] != '&' {
				out = append(out, repl[i:i+n]...)
				i += n - 1
				break
			}
			out = append(out, repl[i:i+n/2]...)
			i += n - 1
			if n%2 == 1 {
				out = append(out, '&')
				i++
			}
		}
	}
	return out
}
