package shell

import (
	"errors"
	"io"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
)

// builtin is a command that the shell itself runs.
type builtin struct {
	name  string
	usage string // what follows "NAME: usage: "
	run   func(s *state, b *builtin, args []string) int
	// special ones of POSIX are listed first by some and persist assignments in
	// posix mode.
	special bool
}

// builtins by name. It is filled by init because the functions refer to it.
var builtins map[string]*builtin

func init() {
	builtins = map[string]*builtin{}
	for _, b := range []*builtin{
		{".", ". filename [arguments]", builtinSource, true},
		{":", ": ", builtinTrue, true},
		{"[", "[ arg... ]", builtinTest, false},
		{"alias", "alias [-p] [name[=value] ... ]", builtinAlias, false},
		{"bg", "bg [job_spec ...]", builtinForeground, false},
		{"bind", "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] [keyseq:readline-function or readline-command]", builtinBind, false},
		{"break", "break [n]", builtinBreak, true},
		{"builtin", "builtin [shell-builtin [arg ...]]", builtinBuiltin, false},
		{"caller", "caller [expr]", builtinCaller, false},
		{"cd", "cd [-L|[-P [-e]] [-@]] [dir]", builtinCd, false},
		{"command", "command [-pVv] command [arg ...]", builtinCommand, false},
		{"compgen", "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]", builtinCompgen, false},
		{"complete", "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]", builtinComplete, false},
		{"compopt", "compopt [-o|+o option] [-DEI] [name ...]", builtinCompopt, false},
		{"continue", "continue [n]", builtinBreak, true},
		{"declare", "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]", builtinDeclare, false},
		{"dirs", "dirs [-clpv] [+N] [-N]", builtinDirs, false},
		{"disown", "disown [-h] [-ar] [jobspec ... | pid ...]", builtinDisown, false},
		{"echo", "echo [-neE] [arg ...]", builtinEcho, false},
		{"enable", "enable [-a] [-dnps] [-f filename] [name ...]", builtinEnable, false},
		{"eval", "eval [arg ...]", builtinEval, true},
		{"exec", "exec [-cl] [-a name] [command [argument ...]] [redirection ...]", builtinExec, true},
		{"exit", "exit [n]", builtinExit, true},
		{"export", "export [-fn] [name[=value] ...] or export -p", builtinDeclare, true},
		{"false", "false", builtinFalse, false},
		{"fc", "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]", builtinHistory, false},
		{"fg", "fg [job_spec]", builtinForeground, false},
		{"getopts", "getopts optstring name [arg ...]", builtinGetopts, false},
		{"hash", "hash [-lr] [-p pathname] [-dt] [name ...]", builtinHash, false},
		{"help", "help [-dms] [pattern ...]", builtinHelp, false},
		{"history", "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]", builtinHistory, false},
		{"jobs", "jobs [-lnprs] [jobspec ...] or jobs -x command [args]", builtinJobs, false},
		{"kill", "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]", builtinKill, false},
		{"let", "let arg [arg ...]", builtinLet, false},
		{"local", "local [option] name[=value] ...", builtinDeclare, false},
		{"logout", "logout [n]", builtinLogout, false},
		{"mapfile", "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]", builtinMapfile, false},
		{"popd", "popd [-n] [+N | -N]", builtinPopd, false},
		{"printf", "printf [-v var] format [arguments]", builtinPrintf, false},
		{"pushd", "pushd [-n] [+N | -N | dir]", builtinPushd, false},
		{"pwd", "pwd [-LP]", builtinPwd, false},
		{"read", "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]", builtinRead, false},
		{"readarray", "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]", builtinMapfile, false},
		{"readonly", "readonly [-aAf] [name[=value] ...] or readonly -p", builtinDeclare, true},
		{"return", "return [n]", builtinReturn, true},
		{"set", "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]", builtinSet, true},
		{"shift", "shift [n]", builtinShift, true},
		{"shopt", "shopt [-pqsu] [-o] [optname ...]", builtinShopt, false},
		{"source", "source filename [arguments]", builtinSource, true},
		{"suspend", "suspend [-f]", builtinSuspend, false},
		{"test", "test [expr]", builtinTest, false},
		{"times", "times", builtinTimes, true},
		{"trap", "trap [-lp] [[arg] signal_spec ...]", builtinTrap, true},
		{"true", "true", builtinTrue, false},
		{"type", "type [-afptP] name [name ...]", builtinType, false},
		{"typeset", "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]", builtinDeclare, false},
		{"ulimit", "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]", builtinUlimit, false},
		{"umask", "umask [-p] [-S] [mode]", builtinUmask, false},
		{"unalias", "unalias [-a] name [name ...]", builtinUnalias, false},
		{"unset", "unset [-f] [-v] [-n] [name ...]", builtinUnset, true},
		{"wait", "wait [-fn] [-p var] [id ...]", builtinWait, false},
	} {
		builtins[b.name] = b
	}
}

func itoa(n int) string { return strconv.Itoa(n) }

// builtin finds an enabled builtin.
func (s *state) builtin(name string) *builtin {
	b := builtins[name]
	if b == nil || s.disabled[name] {
		return nil
	}
	return b
}

// builtinNames lists the builtins, sorted.
func builtinNames() []string {
	names := make([]string, 0, len(builtins))
	for n := range builtins {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// runBuiltin runs a builtin with temporary variables.
func (s *state) runBuiltin(b *builtin, args []string, temp []tempVar, undo *undoFDs) {
	if len(temp) > 0 {
		defer s.dropPrefix(temp)
	}
	if b.name == "exec" && len(args) == 1 {
		s.keepFDs(*undo)
		*undo = nil
		s.status = 0
		return
	}
	s.begin()
	old := s.cmdName
	switch b.name {
	case "eval", ".", "source", "command", "builtin", "exec", "trap", "wait":
		s.cmdName = ""
	default:
		s.cmdName = b.name
	}
	s.status = b.run(s, b, args)
	s.cmdName = old
}

// builtinError reports a mistake of a builtin's.
func (s *state) builtinError(b *builtin, format string, args ...any) {
	s.errorf(b.name+": "+format, args...)
}

// usage prints how a builtin is used.
func (s *state) usage(b *builtin) { s.stderr(b.name + ": usage: " + b.usage + "\n") }

// print writes a builtin's output and returns the status: 1, and a message,
// when that failed.
func (s *state) print(b *builtin, text string) int {
	if text == "" {
		return 0
	}
	err := s.write(1, text)
	if err == nil {
		return 0
	}
	s.builtinError(b, "write error: %s", command.Strerror(err))
	return 1
}

// write writes to a descriptor. A pipe that nobody reads ends the shell as
// SIGPIPE does, unless that is ignored.
func (s *state) write(fd int, text string) error {
	f := s.fd(fd)
	if f == nil {
		return syscall.EBADF
	}
	var err error
	if f.write {
		if d, ok := f.stream.(io.StringWriter); ok {
			_, err = d.WriteString(text)
		} else {
			_, err = f.Write(s.p.ctx, []byte(text))
		}
	} else {
		err = syscall.EBADF
	}
	if err == nil {
		return nil
	}
	if s.ended() {
		s.stop()
	}
	if errors.Is(err, syscall.EPIPE) && s.p.ignored.Load()&bit(command.SIGPIPE) == 0 {
		if s.p.trapped.Load()&bit(command.SIGPIPE) != 0 {
			s.p.deliver(command.SIGPIPE)
			return err
		}
		s.p.killed.CompareAndSwap(0, int32(command.SIGPIPE))
		s.stop()
	}
	return err
}

// optionParser parses a builtin's options as Bash's own getopt does: letters,
// bundled, each with "-"; "x:" takes an argument.
type optionParser struct {
	s      *state
	b      *builtin
	args   []string
	spec   string
	i, k   int
	opt    byte
	arg    string
	plus   bool // options may start with +
	isPlus bool
	failed bool
}

func newOptions(s *state, b *builtin, args []string, spec string) *optionParser {
	return &optionParser{s: s, b: b, args: args, spec: spec, i: 1}
}

// next moves to the next option.
func (o *optionParser) next() bool {
	if o.failed {
		return false
	}
	if o.k == 0 {
		if o.i >= len(o.args) {
			return false
		}
		a := o.args[o.i]
		if len(a) < 2 || a[0] != '-' && (a[0] != '+' || !o.plus) {
			return false
		}
		if a == "--" {
			o.i++
			return false
		}
		o.isPlus = a[0] == '+'
		o.k = 1
	}
	a := o.args[o.i]
	o.opt = a[o.k]
	o.k++
	at := strings.IndexByte(o.spec, o.opt)
	if at < 0 || o.opt == ':' {
		o.s.builtinError(o.b, "%c%c: invalid option", a[0], o.opt)
		o.s.usage(o.b)
		o.failed = true
		return false
	}
	takes := strings.HasPrefix(o.spec[at+1:], ":")
	switch {
	case takes && o.k < len(a):
		o.arg = a[o.k:]
		o.i, o.k = o.i+1, 0
	case takes && o.i+1 >= len(o.args):
		o.s.builtinError(o.b, "-%c: option requires an argument", o.opt)
		o.s.usage(o.b)
		o.failed = true
		return false
	case takes:
		o.arg = o.args[o.i+1]
		o.i, o.k = o.i+2, 0
	case o.k >= len(a):
		o.i, o.k = o.i+1, 0
	}
	return true
}

// rest returns the operands.
func (o *optionParser) rest() []string { return o.args[min(o.i, len(o.args)):] }

// noOptions refuses options, for builtins that have none; "--" is skipped.
func (s *state) noOptions(b *builtin, args []string) ([]string, bool) {
	o := newOptions(s, b, args, "")
	o.next()
	return o.rest(), !o.failed
}
