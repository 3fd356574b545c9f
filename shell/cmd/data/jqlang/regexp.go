package jqlang

import (
	"strings"
	"time"

	"github.com/dlclark/regexp2"
)

// matchTimeout ends a regular expression that would take for ever.
const matchTimeout = 2 * time.Second

// regexFuncs has the functions of regular expressions.
func regexFuncs() {
	withArgs("_match", 3, func(_ *machine, in any, args []any) (any, error) {
		return match(in, args[0], args[1], args[2] == true)
	})
	withArgs("split", 2, func(_ *machine, in any, args []any) (any, error) { return splitRegex(in, args[0], args[1]) })
	for name, global := range map[string]bool{"sub": false, "gsub": true} {
		for arity := 2; arity <= 3; arity++ {
			builtins[funcKey{name, arity}] = func(m *machine, args []closure, in any, p *path, y yield) error {
				return m.substitute(args, global, in, p, y)
			}
		}
	}
}

// regex compiles a pattern with the flags of jq.
func regex(in, pattern, flags any) (s string, re *regexp2.Regexp, global bool, err error) {
	s, ok := in.(string)
	if !ok {
		return "", nil, false, errorf("%s (%s) cannot be matched, as it is not a string", Kind(in), preview(in))
	}
	src, ok := pattern.(string)
	if !ok {
		return "", nil, false, errorf("%s (%s) cannot be matched, as it is not a string", Kind(pattern), preview(pattern))
	}
	opts := regexp2.RegexOptions(0)
	switch f := flags.(type) {
	case nil:
	case string:
		for _, c := range f {
			switch c {
			case 'g':
				global = true
			case 'i':
				opts |= regexp2.IgnoreCase
			case 'x':
				opts |= regexp2.IgnorePatternWhitespace
			case 's':
				opts |= regexp2.Singleline
			case 'p':
				opts |= regexp2.Singleline
			case 'n', 'l':
			default:
				return "", nil, false, errorf("%s is not a valid modifier string", f)
			}
		}
	default:
		return "", nil, false, errorf("%s (%s) is not a string", Kind(flags), preview(flags))
	}
	re, cerr := regexp2.Compile(src, opts)
	if cerr != nil {
		return "", nil, false, errorf("%s (at offset 0) is not a valid regex: %s", src, strings.TrimPrefix(cerr.Error(), "error parsing regexp: "))
	}
	re.MatchTimeout = matchTimeout
	return s, re, global, nil
}

// match is _match: whether there is a match, or all that is to be known of the
// matches. Offsets count code points.
func match(in, pattern, flags any, test bool) (any, error) {
	s, re, global, err := regex(in, pattern, flags)
	if err != nil {
		return nil, err
	}
	if test {
		ok, err := re.MatchString(s)
		if err != nil {
			return nil, errorf("%v", err)
		}
		return ok, nil
	}
	out := []any{}
	m, err := re.FindStringMatch(s)
	for m != nil && err == nil {
		out = append(out, matchObject(re, m))
		if !global {
			break
		}
		m, err = re.FindNextMatch(m)
	}
	if err != nil {
		return nil, errorf("%v", err)
	}
	return out, nil
}

func matchObject(re *regexp2.Regexp, m *regexp2.Match) *Object {
	o := NewObject(4)
	o.Put("offset", float64(m.Index))
	o.Put("length", float64(m.Length))
	o.Put("string", m.String())
	captures := []any{}
	for _, g := range m.Groups()[1:] {
		c := NewObject(4)
		if len(g.Captures) == 0 {
			c.Put("offset", float64(-1))
			c.Put("string", nil)
			c.Put("length", float64(0))
		} else {
			c.Put("offset", float64(g.Index))
			c.Put("length", float64(g.Length))
			c.Put("string", g.String())
		}
		c.Put("name", groupName(g.Name))
		captures = append(captures, c)
	}
	o.Put("captures", captures)
	return o
}

// groupName is null for groups that have only a number.
func groupName(name string) any {
	if strings.Trim(name, "0123456789") == "" {
		return nil
	}
	return name
}

func splitRegex(in, pattern, flags any) (any, error) {
	f, _ := flags.(string)
	v, err := match(in, pattern, f+"g", false)
	if err != nil {
		return nil, err
	}
	r := []rune(in.(string))
	out := []any{}
	pos := 0
	for _, m := range v.([]any) {
		o := m.(*Object)
		off, _ := o.Get("offset")
		n, _ := o.Get("length")
		at := int(off.(float64))
		out = append(out, string(r[pos:at]))
		pos = at + int(n.(float64))
	}
	return append(out, string(r[pos:])), nil
}

// substitute is sub and gsub: the replacement sees the named captures, and may
// have several outputs.
func (m *machine) substitute(args []closure, global bool, in any, p *path, y yield) error {
	flags := ""
	run := func(pattern any) error {
		f := flags
		if global {
			f += "g"
		}
		v, err := match(in, pattern, f, false)
		if err != nil {
			return err
		}
		return m.replace(args[1], []rune(in.(string)), v.([]any), 0, "", func(s string) error { return y(s, p.lose(s)) })
	}
	return m.eval(args[0], in, nil, func(pattern any, _ *path) error {
		if len(args) < 3 {
			return run(pattern)
		}
		return m.eval(args[2], in, nil, func(f any, _ *path) error {
			var ok bool
			if flags, ok = f.(string); !ok && f != nil {
				return errorf("%s (%s) is not a string", Kind(f), preview(f))
			}
			return run(pattern)
		})
	})
}

func (m *machine) replace(with closure, s []rune, matches []any, pos int, done string, y func(string) error) error {
	if len(matches) == 0 {
		return y(done + string(s[pos:]))
	}
	o := matches[0].(*Object)
	off, _ := o.Get("offset")
	n, _ := o.Get("length")
	captures, _ := o.Get("captures")
	named := NewObject(2)
	for _, c := range captures.([]any) {
		c := c.(*Object)
		if name, _ := c.Get("name"); name != nil {
			v, _ := c.Get("string")
			named.Put(name.(string), v)
		}
	}
	at := int(off.(float64))
	return m.eval(with, named, nil, func(r any, _ *path) error {
		text, ok := r.(string)
		if !ok {
			return cannot(done+string(s[pos:at]), r, "added")
		}
		return m.replace(with, s, matches[1:], at+int(n.(float64)), done+string(s[pos:at])+text, y)
	})
}
