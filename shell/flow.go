package shell

import "strconv"

// builtinBreak is break and continue.
func builtinBreak(s *state, b *builtin, args []string) int {
	if s.loops == 0 {
		s.builtinError(b, "only meaningful in a `for', `while', or `until' loop")
		return 0
	}
	rest := numberArgs(args)
	n := int64(1)
	if len(rest) > 0 {
		var ok bool
		if n, ok = legalNumber(rest[0]); !ok {
			s.builtinError(b, "%s: numeric argument required", rest[0])
			s.exit(s.status | 128)
		}
	}
	if len(rest) > 1 {
		s.tooMany(b)
	}
	s.ctl = ctlBreak
	if b.name == "continue" {
		s.ctl = ctlContinue
	}
	if n <= 0 {
		s.builtinError(b, "%s: loop count out of range", rest[0])
		s.ctl, s.ctlN = ctlBreak, s.loops
		return 1
	}
	s.ctlN = int(min(n, int64(s.loops)))
	return 0
}

// tooMany refuses more than one operand, which ends the script's command.
func (s *state) tooMany(b *builtin) {
	s.builtinError(b, "too many arguments")
	s.dropTop()
}

// builtinReturn ends a function or a sourced file.
func builtinReturn(s *state, b *builtin, args []string) int {
	rest := numberArgs(args)
	status := s.status
	if len(rest) > 0 {
		n, ok := legalNumber(rest[0])
		if !ok {
			s.builtinError(b, "%s: numeric argument required", rest[0])
			n = 2
		}
		status = int(n & 0xff)
	}
	if s.calls() == 0 && s.sources == 0 {
		s.builtinError(b, "can only `return' from a function or sourced script")
		return 2
	}
	if len(rest) > 1 {
		s.tooMany(b)
	}
	s.ctl = ctlReturn
	return status
}

// builtinExit ends the shell.
func builtinExit(s *state, b *builtin, args []string) int {
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		rest = rest[1:]
	}
	status := s.status
	if len(rest) > 0 {
		n, ok := legalNumber(rest[0])
		if !ok {
			s.builtinError(b, "%s: numeric argument required", rest[0])
			s.exit(2)
		}
		if len(rest) > 1 {
			s.tooMany(b)
		}
		status = int(n & 0xff)
	}
	s.exit(status)
	return status
}

func builtinLogout(s *state, b *builtin, args []string) int {
	s.builtinError(b, "not login shell: use `exit'")
	return 1
}

func builtinSuspend(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "f")
	for opts.next() {
	}
	if opts.failed {
		return 2
	}
	if len(opts.rest()) > 0 {
		s.tooMany(b)
	}
	s.builtinError(b, "cannot suspend: no job control")
	return 1
}

// builtinShift drops positional parameters.
func builtinShift(s *state, b *builtin, args []string) int {
	rest := numberArgs(args)
	n := 1
	if len(rest) > 0 {
		v, ok := legalNumber(rest[0])
		if !ok {
			s.builtinError(b, "%s: numeric argument required", rest[0])
			return 1
		}
		if len(rest) > 1 {
			s.tooMany(b)
		}
		if v < 0 {
			s.builtinError(b, "%s: shift count out of range", rest[0])
			return 1
		}
		n = int(min(v, 1<<31))
	}
	if n > len(s.params) {
		if s.opts.shopts(shoptShiftVerbose) {
			s.builtinError(b, "%d: shift count out of range", n)
		}
		return 1
	}
	s.params = s.params[n:]
	return 0
}

// numberArgs are the operands of a builtin that has no options but may be given
// a negative number.
func numberArgs(args []string) []string {
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--" {
		return rest[1:]
	}
	return rest
}

// builtinCaller tells where the running function was called.
func builtinCaller(s *state, b *builtin, args []string) int {
	if len(s.frames) == 0 {
		return 1
	}
	rest, ok := s.noOptions(b, args)
	if !ok {
		return 2
	}
	lines, sources, names := s.callLines(), s.sourceNames(), s.funcNames()
	n := 0
	if len(rest) > 0 {
		v, err := strconv.Atoi(rest[0])
		if err != nil || v < 0 {
			s.builtinError(b, "%s: invalid number", rest[0])
			s.usage(b)
			return 2
		}
		n = v
	}
	if len(lines) == 0 {
		return 1
	}
	source := func(i int) (string, bool) {
		if i < len(sources) {
			return sources[i], true
		}
		return "NULL", false
	}
	if len(rest) == 0 {
		src, _ := source(1)
		return s.print(b, lines[0]+" "+src+"\n")
	}
	if n+1 >= len(names) || n >= len(lines) {
		return 1
	}
	src, ok := source(n + 1)
	if !ok {
		return 1
	}
	return s.print(b, lines[n]+" "+names[n+1]+" "+src+"\n")
}
