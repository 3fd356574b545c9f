package shell

import (
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/shell/parse"
)

func isMark(l *syntax.Lit) bool { return l == parse.AppendMark }

// defaultPath is what command -p searches.
const defaultPath = "/bin:/usr/bin:/sbin:/usr/sbin:/etc:/usr/etc"

// builtinCommand runs a command that is no function, or tells what a name is.
func builtinCommand(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "pVv")
	var std, short, long bool
	for opts.next() {
		switch opts.opt {
		case 'p':
			std = true
		case 'v':
			short, long = true, false
		case 'V':
			long, short = true, false
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if short || long {
		status := 0
		if len(rest) == 0 {
			return 0
		}
		var out strings.Builder
		status = 1
		for _, name := range rest {
			if s.describeName(&out, name, &typeQuery{short: short, long: long}) {
				status = 0
			} else if long {
				s.builtinError(b, "%s: not found", name)
			}
		}
		if n := s.print(b, out.String()); n != 0 {
			return n
		}
		return status
	}
	if len(rest) == 0 {
		return 0
	}
	if std {
		old := s.vars["PATH"]
		s.ownVars()["PATH"] = &variable{own: s.own, set: true, str: defaultPath, attr: attrExport}
		s.hash = nil
		defer func() {
			s.ownVars()["PATH"] = old
			if old == nil {
				delete(s.vars, "PATH")
			}
			s.hash = nil
		}()
	}
	return s.runCommandWords(rest)
}

// runCommandWords runs words as a command without looking at functions.
func (s *state) runCommandWords(words []string) int {
	if bi := s.builtin(words[0]); bi != nil {
		var undo undoFDs
		s.runBuiltin(bi, words, nil, &undo)
		return s.status
	}
	return s.external(words, false)
}

// builtinBuiltin runs a builtin even if a function has its name.
func builtinBuiltin(s *state, b *builtin, args []string) int {
	rest, ok := s.noOptions(b, args)
	if !ok {
		return 2
	}
	if len(rest) == 0 {
		return 0
	}
	bi := s.builtin(rest[0])
	if bi == nil {
		s.builtinError(b, "%s: not a shell builtin", rest[0])
		return 1
	}
	var undo undoFDs
	s.runBuiltin(bi, rest, nil, &undo)
	return s.status
}

// builtinEnable switches builtins on and off.
func builtinEnable(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "adnpsf:")
	var all, off, special bool
	for opts.next() {
		switch opts.opt {
		case 'a':
			all = true
		case 'n':
			off = true
		case 's':
			special = true
		case 'd', 'f':
			s.builtinError(b, "dynamic loading not available")
			return 1
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if len(rest) == 0 {
		var out strings.Builder
		for _, n := range builtinNames() {
			if special && !builtins[n].special || !all && s.disabled[n] != off {
				continue
			}
			if s.disabled[n] {
				out.WriteString("enable -n " + n + "\n")
			} else {
				out.WriteString("enable " + n + "\n")
			}
		}
		return s.print(b, out.String())
	}
	status := 0
	for _, n := range rest {
		if builtins[n] == nil {
			s.builtinError(b, "%s: not a shell builtin", n)
			status = 1
			continue
		}
		disabled := map[string]bool{}
		for k := range s.disabled {
			disabled[k] = true
		}
		if off {
			disabled[n] = true
		} else {
			delete(disabled, n)
		}
		s.disabled = disabled
	}
	return status
}

// builtinExec replaces the shell by a command. (Redirections alone are dealt
// with before.)
func builtinExec(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "cla:")
	clean, login, arg0 := false, false, ""
	for opts.next() {
		switch opts.opt {
		case 'c':
			clean = true
		case 'l':
			login = true
		case 'a':
			arg0 = opts.arg
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if len(rest) == 0 {
		return 0
	}
	name := rest[0]
	if strings.IndexByte(name, '/') > 0 {
		name = s.absolute(strings.TrimPrefix(name, "./"))
	}
	prog, err := s.resolve(name)
	if err != nil {
		return s.execFailed(b, name, err)
	}
	words := append([]string{}, rest...)
	if arg0 != "" {
		words[0] = arg0
	}
	if login {
		words[0] = "-" + words[0]
	}
	l := &launch{args: words, env: s.environ(prog.path), dir: s.dir, fds: s.fds, p: s.p}
	if clean {
		l.env = command.Environ{}
	}
	l.w = s.processWalker(s.p)
	s.p.args = words
	status, err := s.sh.run(s.x, l, prog, s.name0())
	if err != nil {
		return s.execFailed(b, name, err)
	}
	// The shell is gone: no trap of its runs.
	delete(s.ownTraps(), trapEXIT)
	if s.ended() {
		s.stop()
	}
	s.exit(status)
	return status
}

// execFailed reports that exec found nothing to run, which ends a shell that is
// not interactive.
func (s *state) execFailed(b *builtin, name string, err error) int {
	status := 126
	switch {
	case err == errNotFound:
		s.builtinError(b, "%s: not found", name)
		status = 127
	case err == syscall.ENOENT:
		s.errorf("%s: %s", name, command.Strerror(err))
		status = 127
	case err == syscall.EISDIR:
		s.errorf("%s: %s", name, command.Strerror(err))
		s.builtinError(b, "%s: cannot execute: %s", name, command.Strerror(err))
	default:
		s.errorf("%s: %s", name, command.Strerror(err))
		s.builtinError(b, "%s: cannot execute: %s", name, command.Strerror(err))
	}
	if !s.opts.shopts(shoptExecfail) {
		s.exit(status)
	}
	return status
}
