package shell

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// builtinKill sends signals.
func builtinKill(s *state, b *builtin, args []string) int {
	sig := command.SIGTERM
	args = args[1:]
	if len(args) == 0 {
		s.usage(b)
		return 2
	}
	switch a := args[0]; {
	case a == "-l" || a == "-L":
		return s.listSignals(b, args[1:])
	case a == "-s" || a == "-n":
		if len(args) < 2 {
			s.builtinError(b, "%s: option requires an argument", a)
			return 1
		}
		n, ok := parseTrapSignal(args[1])
		if !ok || n > 64 {
			s.builtinError(b, "%s: invalid signal specification", args[1])
			return 1
		}
		sig, args = command.Signal(n), args[2:]
	case a == "--":
		args = args[1:]
	case a != "" && a[0] == '-':
		n, ok := parseTrapSignal(a[1:])
		if !ok || n > 64 {
			s.builtinError(b, "%s: invalid signal specification", a[1:])
			return 1
		}
		sig, args = command.Signal(n), args[1:]
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
	}
	if len(args) == 0 {
		s.usage(b)
		return 2
	}
	status := 1
	for _, spec := range args {
		if s.killOne(b, spec, sig) {
			status = 0
		}
	}
	if s.p.pending.Load() != 0 {
		s.runPending()
	}
	return status
}

// killOne sends a signal to what one argument names.
func (s *state) killOne(b *builtin, spec string, sig command.Signal) bool {
	pid := 0
	if strings.HasPrefix(spec, "%") {
		j, ok := s.jobs.find(s, spec)
		if !ok {
			s.builtinError(b, "%s: no such job", spec)
			return false
		}
		if j.p.ended() {
			return true
		}
		pid = j.p.pid
	} else if spec == "" {
		s.builtinError(b, "`': not a pid or valid job spec")
		return false
	} else {
		var err error
		if pid, err = strconv.Atoi(spec); err != nil {
			s.builtinError(b, "%s: arguments must be process or job IDs", spec)
			return false
		}
	}
	if pid == 0 {
		pid = -s.p.group
	}
	if err := s.x.signal(pid, sig); err != nil {
		if p, _ := s.jobs.process(pid); p != nil && sig == 0 && !p.ended() {
			return true
		}
		s.builtinError(b, "(%d) - %s", pid, command.Strerror(err))
		return false
	}
	s.tick()
	return true
}

// listSignals is kill -l.
func (s *state) listSignals(b *builtin, args []string) int {
	var out strings.Builder
	if len(args) == 0 {
		col := 0
		for n := command.Signal(1); n <= 64; n++ {
			name := n.Name()
			if name == "" {
				continue
			}
			fmt.Fprintf(&out, "%2d) SIG%s", int(n), name)
			if col++; col < 5 {
				out.WriteByte('\t')
			} else {
				out.WriteByte('\n')
				col = 0
			}
		}
		if col > 0 {
			out.WriteByte('\n')
		}
		return s.print(b, out.String())
	}
	status := 0
	for _, a := range args {
		if n, err := strconv.Atoi(a); err == nil {
			if n > 128 {
				n -= 128
			}
			if name := command.Signal(n).Name(); n > 0 && name != "" {
				out.WriteString(name + "\n")
				continue
			}
			if n == 0 {
				out.WriteString("EXIT\n")
				continue
			}
		} else if n, ok := parseTrapSignal(a); ok {
			out.WriteString(itoa(n) + "\n")
			continue
		}
		s.builtinError(b, "%s: invalid signal specification", a)
		status = 1
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}
