package shell

import (
	"strings"
)

func builtinTrue(*state, *builtin, []string) int { return 0 }

func builtinFalse(*state, *builtin, []string) int { return 1 }

// builtinEcho prints its arguments.
func builtinEcho(s *state, b *builtin, args []string) int {
	newline, decode := true, s.opts.shopts(shoptXpgEcho)
	i := 1
	noOptions := decode && s.opts.on(optPosix)
	for ; i < len(args) && !noOptions; i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' || strings.Trim(a[1:], "neE") != "" {
			break
		}
		for _, c := range []byte(a[1:]) {
			switch c {
			case 'n':
				newline = false
			case 'e':
				decode = true
			case 'E':
				decode = false
			}
		}
	}
	n := 1
	for _, a := range args[i:] {
		n += len(a) + 1
	}
	s.room(n)
	out := make([]byte, 0, n)
	e := escapes{echo: true, wide: decode && s.wide()}
	for k, a := range args[i:] {
		if k > 0 {
			out = append(out, ' ')
		}
		if decode {
			a = e.decode(a)
		}
		out = append(out, a...)
		if e.stopped {
			return s.print(b, string(out))
		}
	}
	if newline {
		out = append(out, '\n')
	}
	return s.print(b, string(out))
}

// builtinEval runs its arguments as a script.
func builtinEval(s *state, b *builtin, args []string) int {
	rest, ok := s.noOptions(b, args)
	if !ok {
		return 2
	}
	s.deeper()
	defer s.shallower()
	s.evals++
	defer func() { s.evals-- }()
	old := s.status
	s.status = 0
	text := strings.Join(rest, " ")
	if strings.TrimSpace(text) == "" {
		return 0
	}
	s.status = old
	s.runText(text, s.line, "eval")
	return s.status
}

// builtinBind would edit key bindings of a line editor that is not there.
func builtinBind(s *state, b *builtin, args []string) int {
	s.builtinError(b, "warning: line editing not enabled")
	return 0
}

// builtinHistory is history and fc: a script has none.
func builtinHistory(s *state, b *builtin, args []string) int {
	spec := "acd:npsrw"
	if b.name == "fc" {
		spec = "e:lnrs"
	}
	opts := newOptions(s, b, args, spec)
	free := false // the operands are texts
	for opts.next() {
		free = free || opts.opt == 'p' || opts.opt == 's' || opts.opt == 'e'
	}
	rest := opts.rest()
	switch {
	case opts.failed:
		return 2
	case b.name == "fc" || free || len(rest) == 0:
		return 0
	case len(rest) > 1:
		s.tooMany(b)
	}
	if _, ok := legalNumber(rest[0]); !ok {
		s.builtinError(b, "%s: numeric argument required", rest[0])
		return 1
	}
	return 0
}

// builtinLet evaluates arithmetic; the last value decides the status.
func builtinLet(s *state, b *builtin, args []string) int {
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	if len(rest) == 0 {
		s.builtinError(b, "expression expected")
		return 1
	}
	var n int64
	for _, a := range rest {
		var ok bool
		if n, ok = s.arithmetic(a, "let: "); !ok {
			return 1
		}
	}
	if n == 0 {
		return 1
	}
	return 0
}

// builtinTimes prints the times used: nothing here is worth counting.
func builtinTimes(s *state, b *builtin, args []string) int {
	return s.print(b, "0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n")
}

// builtinHelp prints the usage of builtins.
func builtinHelp(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "dms")
	for opts.next() {
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if len(rest) == 0 {
		var out strings.Builder
		out.WriteString("These shell commands are defined internally.\n\n")
		for _, n := range builtinNames() {
			out.WriteString(" " + builtins[n].usage + "\n")
		}
		return s.print(b, out.String())
	}
	status := 1
	var out strings.Builder
	for _, pat := range rest {
		p := s.pattern(pat+"*", s.patternFlags(false))
		for _, n := range builtinNames() {
			if n == pat || p.Match(n) && builtins[pat] == nil {
				out.WriteString(n + ": " + builtins[n].usage + "\n")
				status = 0
			}
		}
	}
	if out.Len() == 0 {
		s.builtinError(b, "no help topics match `%s'.  Try `help help' or `man -k %s' or `info %s'.", lastOf(rest), lastOf(rest), lastOf(rest))
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}
