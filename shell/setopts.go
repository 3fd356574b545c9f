package shell

import (
	"fmt"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// builtinSet sets options and positional parameters, or lists variables.
func builtinSet(s *state, b *builtin, args []string) int {
	if len(args) == 1 {
		var out strings.Builder
		for _, n := range s.variableNames() {
			if v := s.vars[n]; v.set || v.special != nil && v.attr&attrNoUnset == 0 {
				out.WriteString(s.setLine(n, v))
			}
		}
		if !s.opts.on(optPosix) {
			out.WriteString(s.functionList(false, 0))
		}
		return s.print(b, out.String())
	}
	i := 1
	for ; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			s.params = args[i+1:]
			return 0
		}
		if a == "-" {
			s.opts.put(optXtrace, false)
			s.opts.put(optVerbose, false)
			if i+1 < len(args) {
				s.params = args[i+1:]
			}
			return 0
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			break
		}
		n, status := s.setFlags(b, a, args[i+1:])
		if status != 0 {
			return status
		}
		i += n
	}
	if i < len(args) {
		s.params = args[i:]
	}
	return 0
}

// setFlags takes one bundle of set's letters; it returns how many further
// arguments it took.
func (s *state) setFlags(b *builtin, a string, rest []string) (took, status int) {
	on := a[0] == '-'
	for _, c := range []byte(a[1:]) {
		if c == 'o' {
			if len(rest) == took || strings.HasPrefix(rest[took], "-") && took == 0 && len(rest[took]) > 1 {
				return took, s.listOptions(b, on)
			}
			n, ok := optionByName(rest[took])
			if !ok {
				s.builtinError(b, "%s: invalid option name", rest[took])
				return took, 2
			}
			s.opts.put(n, on)
			took++
			continue
		}
		n, ok := optionByLetter(c)
		if !ok {
			s.builtinError(b, "%c%c: invalid option", a[0], c)
			s.usage(b)
			return took, 2
		}
		s.opts.put(n, on)
	}
	return took, 0
}

// listOptions is set -o and set +o.
func (s *state) listOptions(b *builtin, table bool) int {
	var out strings.Builder
	for i := range optionNames {
		on := s.opts.on(option(i))
		if table {
			fmt.Fprintf(&out, "%-15s\t%s\n", optionNames[i].name, onOff(on))
		} else {
			sign := "+"
			if on {
				sign = "-"
			}
			fmt.Fprintf(&out, "set %so %s\n", sign, optionNames[i].name)
		}
	}
	return s.print(b, out.String())
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// builtinShopt sets and shows shopt options.
func builtinShopt(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "pqsuo")
	var print, quiet, set, unset, isO bool
	for opts.next() {
		switch opts.opt {
		case 'p':
			print = true
		case 'q':
			quiet = true
		case 's':
			set = true
		case 'u':
			unset = true
		case 'o':
			isO = true
		}
	}
	if opts.failed {
		return 2
	}
	if set && unset {
		s.builtinError(b, "cannot set and unset shell options simultaneously")
		return 1
	}
	names := opts.rest()
	if isO {
		return s.shoptSet(b, names, print, quiet, set, unset)
	}
	status := 0
	var out strings.Builder
	line := func(i int) {
		on := s.opts.shopts(i)
		switch {
		case quiet:
		case print:
			flag := "-u"
			if on {
				flag = "-s"
			}
			fmt.Fprintf(&out, "shopt %s %s\n", flag, shoptNames[i].name)
		default:
			fmt.Fprintf(&out, "%-15s\t%s\n", shoptNames[i].name, onOff(on))
		}
	}
	if len(names) == 0 {
		for i := range shoptNames {
			if set && !s.opts.shopts(i) || unset && s.opts.shopts(i) {
				continue
			}
			line(i)
		}
	}
	for _, n := range names {
		i := shoptNumber(n)
		switch {
		case i < 0:
			s.builtinError(b, "%s: invalid shell option name", n)
			status = 1
		case set || unset:
			s.opts.putShopt(i, set)
		default:
			line(i)
			if !s.opts.shopts(i) {
				status = 1
			}
		}
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}

// shoptSet is shopt -o: the options of set -o.
func (s *state) shoptSet(b *builtin, names []string, print, quiet, set, unset bool) int {
	status := 0
	var out strings.Builder
	line := func(i option) {
		on := s.opts.on(i)
		switch {
		case quiet:
		case print:
			sign := "+"
			if on {
				sign = "-"
			}
			fmt.Fprintf(&out, "set %so %s\n", sign, optionNames[i].name)
		default:
			fmt.Fprintf(&out, "%-15s\t%s\n", optionNames[i].name, onOff(on))
		}
	}
	if len(names) == 0 {
		for i := range optionNames {
			if on := s.opts.on(option(i)); set && !on || unset && on {
				continue
			}
			line(option(i))
		}
	}
	for _, n := range names {
		i, ok := optionByName(n)
		switch {
		case !ok:
			s.builtinError(b, "%s: invalid option name", n)
			status = 1
		case set || unset:
			s.opts.put(i, set)
		default:
			line(i)
			if !s.opts.on(i) {
				status = 1
			}
		}
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}

// builtinUnset removes variables, elements and functions.
func builtinUnset(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "fnv")
	var funcs, vars, ref bool
	for opts.next() {
		switch opts.opt {
		case 'f':
			funcs = true
		case 'v':
			vars = true
		case 'n':
			ref = true
		}
	}
	if opts.failed {
		return 2
	}
	if funcs && vars {
		s.builtinError(b, "cannot simultaneously unset a function and a variable")
		return 1
	}
	status := 0
	for _, name := range opts.rest() {
		if !s.unsetOne(b, name, funcs, vars, ref) {
			status = 1
		}
	}
	return status
}

func (s *state) unsetOne(b *builtin, name string, funcs, vars, ref bool) bool {
	if funcs {
		return s.unsetFunction(b, name)
	}
	base, sub, isElement := name, "", false
	if i := strings.IndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") {
		base, sub, isElement = name[:i], name[i+1:len(name)-1], true
	}
	if !validName(base) {
		if !vars && s.funcs[name] != nil {
			return s.unsetFunction(b, name)
		}
		if vars || isElement {
			s.builtinError(b, "`%s': not a valid identifier", name)
			return false
		}
		return true
	}
	if !ref {
		target, tsub, hasSub, ok := s.follow(base)
		if ok {
			base = target
			if hasSub && !isElement {
				sub, isElement = tsub, true
			}
		}
	}
	v := s.vars[base]
	if v == nil {
		if !vars && !isElement && !ref {
			return s.unsetFunction(b, name)
		}
		return true
	}
	if v.attr&attrReadonly != 0 {
		s.builtinError(b, "%s: cannot unset: readonly variable", base)
		return false
	}
	if v.special != nil && v.attr&attrNoUnset != 0 {
		s.builtinError(b, "%s: cannot unset", base)
		return false
	}
	if isElement {
		return s.unsetElement(b, base, v, sub)
	}
	s.unset(base)
	return true
}

func (s *state) unsetFunction(b *builtin, name string) bool {
	f := s.funcs[name]
	if f == nil {
		return true
	}
	if f.attr&attrReadonly != 0 {
		s.builtinError(b, "%s: cannot unset: readonly function", name)
		return false
	}
	delete(s.ownFuncs(), name)
	return true
}

func (s *state) unsetElement(b *builtin, name string, v *variable, sub string) bool {
	switch {
	case v.attr&attrAssoc != 0:
		if v.m == nil {
			return true
		}
		key := sub
		if sub != "@" && sub != "*" {
			key = s.key(subscriptText(sub))
		}
		s.change(name).m.remove(key)
		return true
	case !v.isArray():
		if i, ok := s.index(subscriptText(sub)); ok && i == 0 && sub != "@" && sub != "*" {
			s.unset(name)
			return true
		}
		s.builtinError(b, "%s: not an array variable", name)
		return false
	case sub == "@" || sub == "*":
		s.unset(name)
		return true
	}
	i, ok := s.index(subscriptText(sub))
	if !ok {
		return false
	}
	v = s.change(name)
	if v.arr == nil {
		return true
	}
	if i < 0 {
		if i += v.arr.max() + 1; i < 0 {
			s.builtinError(b, "[%s]: bad array subscript", sub)
			return false
		}
	}
	v.arr.remove(i)
	return true
}

// getoptsState is where getopts is inside a bundle of letters.
type getoptsState struct {
	optind int // the value of OPTIND that the rest belongs to
	at     int // offset in the argument; 0 means a new one
}

// builtinGetopts parses positional parameters.
func builtinGetopts(s *state, b *builtin, args []string) int {
	rest, ok := s.noOptions(b, args)
	if !ok {
		return 2
	}
	if len(rest) < 2 {
		s.usage(b)
		return 2
	}
	spec, name, params := rest[0], rest[1], s.params
	if len(rest) > 2 {
		params = rest[2:]
	}
	silent := strings.HasPrefix(spec, ":")
	if silent {
		spec = spec[1:]
	}
	g := s.getopts
	ind, err := strconv.Atoi(s.get("OPTIND"))
	if err != nil || ind < 1 {
		ind = 1
	}
	if g.optind != ind {
		g = getoptsState{optind: ind}
	}
	finish := func(opt string, arg *string, status int) int {
		s.assignTo("OPTIND", itoa(g.optind), false)
		s.getopts = g
		if arg != nil {
			s.assign("OPTARG", *arg, false)
		} else {
			s.unset("OPTARG")
		}
		if !validName(name) {
			s.builtinError(b, "`%s': not a valid identifier", name)
			return 1
		}
		if !s.assign(name, opt, false) {
			return 1
		}
		return status
	}
	if g.at == 0 {
		if ind > len(params) {
			return finish("?", nil, 1)
		}
		a := params[ind-1]
		if len(a) < 2 || a[0] != '-' {
			return finish("?", nil, 1)
		}
		if a == "--" {
			g.optind++
			return finish("?", nil, 1)
		}
		g.at = 1
	}
	if g.optind > len(params) || g.at >= len(params[g.optind-1]) {
		g = getoptsState{optind: g.optind}
		return finish("?", nil, 1)
	}
	a := params[g.optind-1]
	c := a[g.at]
	g.at++
	i := strings.IndexByte(spec, c)
	last := g.at >= len(a)
	if i < 0 || c == ':' {
		if last {
			g = getoptsState{optind: g.optind + 1}
		}
		if silent {
			arg := string([]byte{c})
			return finish("?", &arg, 0)
		}
		s.getoptsError("illegal option", c)
		return finish("?", nil, 0)
	}
	if !strings.HasPrefix(spec[i+1:], ":") {
		if last {
			g = getoptsState{optind: g.optind + 1}
		}
		return finish(string([]byte{c}), nil, 0)
	}
	if !last {
		arg := a[g.at:]
		g = getoptsState{optind: g.optind + 1}
		return finish(string([]byte{c}), &arg, 0)
	}
	if g.optind >= len(params) {
		g = getoptsState{optind: g.optind + 1}
		if silent {
			arg := string([]byte{c})
			return finish(":", &arg, 0)
		}
		s.getoptsError("option requires an argument", c)
		return finish("?", nil, 0)
	}
	arg := params[g.optind]
	g = getoptsState{optind: g.optind + 2}
	return finish(string([]byte{c}), &arg, 0)
}

// getoptsError reports a mistake in the parameters, unless OPTERR is 0.
func (s *state) getoptsError(msg string, c byte) {
	if s.get("OPTERR") != "0" {
		s.stderr(fmt.Sprintf("%s: %s -- %c\n", s.arg0, msg, c))
	}
}

// isAppendMark recognises the parser's mark of [k]+=v.
func isAppendMark(p syntax.WordPart) bool {
	l, ok := p.(*syntax.Lit)
	return ok && isMark(l)
}
