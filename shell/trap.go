package shell

import (
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// Traps that are no signals have numbers past them.
const (
	trapEXIT   = 0
	trapDEBUG  = 65
	trapERR    = 66
	trapRETURN = 67
)

// ownTraps returns the traps, ready to be changed.
func (s *state) ownTraps() map[int]string {
	if s.trapsOwn != s.own {
		old := s.traps
		s.traps = make(map[int]string, len(old))
		for k, v := range old {
			s.traps[k] = v
		}
		s.trapsOwn = s.own
	}
	return s.traps
}

// resetTraps is what a subshell does with its parent's traps: those that ignore
// a signal stay, DEBUG and RETURN and ERR only with their options.
func (c *state) resetTraps() {
	if len(c.traps) == 0 {
		return
	}
	kept := map[int]string{}
	for n, text := range c.traps {
		switch {
		case text == "" && n != trapEXIT:
			kept[n] = text
		case n == trapERR && c.opts.on(optErrtrace), (n == trapDEBUG || n == trapRETURN) && c.opts.on(optFunctrace):
			kept[n] = text
		}
	}
	c.parentTraps = c.traps
	c.traps, c.trapsOwn = kept, c.own
}

func (s *state) hasTrap(n int) bool {
	text, ok := s.traps[n]
	return ok && text != ""
}

// hideTraps takes away the traps that a function does not inherit: ERR without
// set -E, DEBUG and RETURN without set -T. A sourced file inherits all but DEBUG.
func (s *state) hideTraps(sourcing bool) map[int]string {
	if len(s.traps) == 0 {
		return nil
	}
	var hidden map[int]string
	hide := func(n int) {
		if text, ok := s.traps[n]; ok {
			if hidden == nil {
				hidden = map[int]string{}
			}
			hidden[n] = text
			delete(s.ownTraps(), n)
		}
	}
	if !s.opts.on(optErrtrace) && !sourcing {
		hide(trapERR)
	}
	if !s.opts.on(optFunctrace) {
		hide(trapDEBUG)
		if !sourcing {
			hide(trapRETURN)
		}
	}
	return hidden
}

// showTraps puts back what hideTraps took away, unless it was set anew.
func (s *state) showTraps(hidden map[int]string) {
	for n, text := range hidden {
		if _, ok := s.traps[n]; !ok {
			s.ownTraps()[n] = text
		}
	}
}

// setTrap sets a trap, or takes it away when reset.
func (s *state) setTrap(n int, text string, reset bool) {
	traps := s.ownTraps()
	s.parentTraps = nil
	if reset {
		delete(traps, n)
	} else {
		traps[n] = text
	}
	if n == trapEXIT || n > 64 {
		return
	}
	b := bit(command.Signal(n))
	trapped, ignored := s.p.trapped.Load()&^b, s.p.ignored.Load()&^b
	switch {
	case reset:
	case text == "":
		ignored |= b
	default:
		trapped |= b
	}
	s.p.trapped.Store(trapped)
	s.p.ignored.Store(ignored)
}

// runTrap runs a trap's commands; $? is the same before and after.
func (s *state) runTrap(n int) {
	text := s.traps[n]
	if text == "" || s.inTrap&(1<<uint(trapBit(n))) != 0 {
		return
	}
	s.handling++
	defer func() { s.handling-- }()
	s.inTrap |= 1 << uint(trapBit(n))
	status, line, pipe, no := s.status, s.line, s.pipeStatus, s.noErrexit
	ctl := s.ctl
	s.ctl = ctlNone
	defer func() {
		s.inTrap &^= 1 << uint(trapBit(n))
		s.noErrexit = no
	}()
	if n == trapERR {
		s.noErrexit++
	}
	s.evals++
	s.runText(text, line, trapTitles[n])
	s.evals--
	if s.ctl == ctlNone {
		s.status, s.ctl = status, ctl
	}
	s.line, s.pipeStatus = line, pipe
}

// trapTitles name traps in the messages of syntax errors.
var trapTitles = map[int]string{trapDEBUG: "debug trap", trapERR: "error trap", trapRETURN: "return trap"}

// trapBit numbers traps for the set of those that are running.
func trapBit(n int) int {
	if n > 64 {
		return n - 65 + 1
	}
	return 0
}

// runPending runs the traps of signals that have come.
func (s *state) runPending() {
	for {
		n := s.firstPending()
		if n == 0 {
			return
		}
		for {
			old := s.p.pending.Load()
			if s.p.pending.CompareAndSwap(old, old&^bit(n)) {
				break
			}
		}
		s.runSignalTrap(int(n))
	}
}

// runSignalTrap runs the trap of a signal, which may come again meanwhile.
func (s *state) runSignalTrap(n int) {
	text := s.traps[n]
	if text == "" {
		return
	}
	status, line, pipe, ctl := s.status, s.line, s.pipeStatus, s.ctl
	s.ctl = ctlNone
	s.handling++
	s.evals++
	defer func() { s.handling--; s.evals-- }()
	s.runText(text, line, "trap")
	if s.ctl == ctlNone {
		s.status, s.ctl = status, ctl
	}
	s.line, s.pipeStatus = line, pipe
}

// firstPending is the lowest signal that waits to be handled, 0 when none does.
func (s *state) firstPending() command.Signal {
	set := s.p.pending.Load()
	for n := command.Signal(1); set != 0 && n <= 63; n++ {
		if set&bit(n) != 0 {
			return n
		}
	}
	return 0
}

// runExitTrap runs the EXIT trap at a state's end.
func (s *state) runExitTrap() {
	text := s.traps[trapEXIT]
	delete(s.ownTraps(), trapEXIT)
	status := s.status
	s.ctl, s.loops = ctlNone, 0
	s.noErrexit, s.handling = 0, 1
	s.runText(text, 1, "exit trap")
	if s.ctl == ctlReturn {
		s.ctl = ctlNone
	} else {
		s.status = status
	}
}

// debugTrap runs the DEBUG trap before a command.
func (s *state) debugTrap() {
	if len(s.traps) == 0 {
		return
	}
	s.runTrap(trapDEBUG)
}

// parseTrapSignal reads a signal's name or number for trap and kill.
func parseTrapSignal(text string) (int, bool) {
	switch strings.ToUpper(text) {
	case "EXIT", "SIGEXIT":
		return trapEXIT, true
	case "DEBUG", "SIGDEBUG":
		return trapDEBUG, true
	case "ERR", "SIGERR":
		return trapERR, true
	case "RETURN", "SIGRETURN":
		return trapRETURN, true
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n, n >= 0 && n <= 64
	}
	n, ok := command.ParseSignal(text)
	return int(n), ok
}

// trapName is a trap's name as trap -p shows it.
func trapName(n int) string {
	switch n {
	case trapEXIT:
		return "EXIT"
	case trapDEBUG:
		return "DEBUG"
	case trapERR:
		return "ERR"
	case trapRETURN:
		return "RETURN"
	}
	return "SIG" + command.Signal(n).Name()
}

// builtinTrap sets and shows traps.
func builtinTrap(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "lp")
	show := false
	for opts.next() {
		switch opts.opt {
		case 'l':
			return s.listSignals(b, nil)
		case 'p':
			show = true
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if show || len(rest) == 0 {
		return s.showTrapList(b, rest)
	}
	text, reset := rest[0], false
	_, isSignal := parseTrapSignal(text)
	switch {
	case len(rest) == 1 && isSignal, isDigits(text) && isSignal:
		reset = true
	case len(rest) == 1:
		s.usage(b)
		return 2
	case text == "-":
		reset, rest = true, rest[1:]
	default:
		rest = rest[1:]
	}
	status := 0
	for _, spec := range rest {
		n, ok := parseTrapSignal(spec)
		if !ok {
			s.builtinError(b, "%s: invalid signal specification", spec)
			status = 1
			continue
		}
		s.setTrap(n, text, reset)
	}
	return status
}

// showTrapList prints traps as commands that set them.
func (s *state) showTrapList(b *builtin, specs []string) int {
	traps := s.traps
	if s.parentTraps != nil {
		traps = s.parentTraps
	}
	var numbers []int
	status := 0
	for _, spec := range specs {
		n, ok := parseTrapSignal(spec)
		if !ok {
			s.builtinError(b, "%s: invalid signal specification", spec)
			status = 1
			continue
		}
		numbers = append(numbers, n)
	}
	if len(specs) == 0 {
		for n := 0; n <= trapRETURN; n++ {
			numbers = append(numbers, n)
		}
	}
	var out strings.Builder
	for _, n := range numbers {
		if text, ok := traps[n]; ok {
			out.WriteString("trap -- " + singleQuote(text) + " " + trapName(n) + "\n")
		}
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}
