package shell

import (
	"fmt"
	"strconv"
	"strings"
)

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
	params := s.params
	if len(rest) > 2 {
		params = rest[2:]
	}
	spec, silent := strings.CutPrefix(rest[0], ":")
	g := s.getopts
	ind, err := strconv.Atoi(s.get("OPTIND"))
	if err != nil || ind < 1 {
		ind = 1
	}
	if g.optind != ind {
		g = getoptsState{optind: ind}
	}
	opt, arg, found := g.next(params, spec)
	switch {
	case found && opt == "?":
		if silent {
			break
		}
		s.getoptsError("illegal option", arg[0])
		arg = nil
	case found && opt == ":":
		if silent {
			break
		}
		s.getoptsError("option requires an argument", arg[0])
		opt, arg = "?", nil
	}
	s.assignTo("OPTIND", itoa(g.optind), false)
	s.getopts = g
	if arg != nil {
		s.assign("OPTARG", string(arg), false)
	} else {
		s.unset("OPTARG")
	}
	if !validName(rest[1]) {
		s.builtinError(b, "`%s': not a valid identifier", rest[1])
		return 1
	}
	if !s.assign(rest[1], opt, false) {
		return 2
	}
	if !found {
		return 1
	}
	return 0
}

// next takes the next option off the parameters: its letter, or "?" for one that
// spec does not have, or ":" for one whose argument is missing, both with the
// letter as the argument. Found is false at the end of the options.
func (g *getoptsState) next(params []string, spec string) (opt string, arg []byte, found bool) {
	if g.at == 0 {
		if g.optind > len(params) {
			return "?", nil, false
		}
		a := params[g.optind-1]
		if len(a) < 2 || a[0] != '-' {
			return "?", nil, false
		}
		if a == "--" {
			g.optind++
			return "?", nil, false
		}
		g.at = 1
	}
	if g.optind > len(params) || g.at >= len(params[g.optind-1]) {
		g.at = 0
		return "?", nil, false
	}
	a := params[g.optind-1]
	c := a[g.at]
	g.at++
	rest := a[g.at:]
	i := strings.IndexByte(spec, c)
	if i < 0 || c == ':' || !strings.HasPrefix(spec[i+1:], ":") {
		if rest == "" {
			*g = getoptsState{optind: g.optind + 1}
		}
		if i < 0 || c == ':' {
			return "?", []byte{c}, true
		}
		return string([]byte{c}), nil, true
	}
	if rest == "" {
		if g.optind >= len(params) {
			*g = getoptsState{optind: g.optind + 1}
			return ":", []byte{c}, true
		}
		rest = params[g.optind]
		g.optind++
	}
	*g = getoptsState{optind: g.optind + 1}
	return string([]byte{c}), []byte(rest), true
}

// getoptsError reports a mistake in the parameters, unless OPTERR is 0.
func (s *state) getoptsError(msg string, c byte) {
	if s.get("OPTERR") != "0" {
		s.stderr(fmt.Sprintf("%s: %s -- %c\n", s.arg0, msg, c))
	}
}
