package shell

import (
	"fmt"
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
	if n := s.checkFlags(b, args[1:]); n != 0 {
		return n
	}
	i := 1
	for ; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			s.setParams(args[i+1:])
			return 0
		}
		if a == "-" {
			s.opts.put(optXtrace, false)
			s.opts.put(optVerbose, false)
			i++
			break
		}
		if a == "" || a[0] != '-' && a[0] != '+' {
			break
		}
		n, status := s.setFlags(b, a, args[i+1:])
		if status != 0 {
			return status
		}
		i += n
	}
	if i < len(args) {
		s.setParams(args[i:])
	}
	return 0
}

// setParams sets the positional parameters as set does.
func (s *state) setParams(params []string) {
	s.params = params
	if s.calls() == 0 {
		s.paramsSet = true
	}
}

// checkFlags looks at the options before any of them takes effect.
func (s *state) checkFlags(b *builtin, args []string) int {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a == "--" || a[0] != '-' && a[0] != '+' {
			return 0
		}
		for k := 1; k < len(a); k++ {
			if a[k] == 'o' {
				if k == len(a)-1 && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !strings.HasPrefix(args[i+1], "+") {
					i++
				}
				break
			}
			if _, ok := optionByLetter(a[k]); !ok {
				s.builtinError(b, "%c%c: invalid option", a[0], a[k])
				s.usage(b)
				return 2
			}
		}
	}
	return 0
}

// setFlags takes one bundle of set's letters; it returns how many further
// arguments it took.
func (s *state) setFlags(b *builtin, a string, rest []string) (took, status int) {
	on := a[0] == '-'
	for _, c := range []byte(a[1:]) {
		if c == 'o' {
			if len(rest) == took || rest[took] == "" || rest[took][0] == '-' || rest[took][0] == '+' {
				if n := s.listOptions(b, on); n != 0 {
					return took, n
				}
				continue
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

// isAppendMark recognises the parser's mark of [k]+=v.
func isAppendMark(p syntax.WordPart) bool {
	l, ok := p.(*syntax.Lit)
	return ok && isMark(l)
}
