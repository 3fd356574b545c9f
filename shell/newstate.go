package shell

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/shell/parse"
	"github.com/vfsd/vfsd/shell/zone"
	"github.com/vfsd/vfsd/vfs"
)

// newState returns the state of a new main shell, without environment or
// descriptors.
func newState(sh *Shell, ses *Session) *state {
	s := &state{sh: sh, ses: ses, own: &owner{}, opts: defaultOptions(), substStatus: -1}
	s.vars = template()
	s.startTime = sh.cfg.Now().UnixNano()
	return s
}

// template are the variables that every shell starts with. The map is shared
// and never changed: a state copies it first.
var template = sync.OnceValue(func() map[string]*variable {
	own := &owner{}
	vars := map[string]*variable{}
	for name, sp := range specials {
		vars[name] = &variable{own: own, special: sp, attr: specialAttrs[name]}
	}
	put := func(name, value string, a attr) {
		vars[name] = &variable{own: own, str: value, set: true, attr: a}
	}
	put("BASH", "/usr/bin/bash", 0)
	put("BASH_VERSION", "5.2.15(1)-release", 0)
	put("BASH_LOADABLES_PATH", "/usr/local/lib/bash:/usr/lib/bash:/opt/local/lib/bash:/usr/pkg/lib/bash:/opt/pkg/lib/bash:.", 0)
	put("HOSTTYPE", "x86_64", 0)
	put("MACHTYPE", "x86_64-pc-linux-gnu", 0)
	put("OSTYPE", "linux-gnu", 0)
	put("IFS", " \t\n", 0)
	put("OPTERR", "1", 0)
	put("OPTIND", "1", attrInteger)
	put("PS4", "+ ", 0)
	put("PPID", "1", attrInteger|attrReadonly)
	vars["BASH_VERSINFO"] = &variable{own: own, set: true, attr: attrArray | attrReadonly,
		arr: &indexed{val: []string{"5", "2", "15", "1", "release", "x86_64-pc-linux-gnu"}}}
	for _, name := range []string{"BASH_ALIASES", "BASH_CMDS"} {
		vars[name] = &variable{own: own, set: true, attr: attrAssoc, m: newAssoc()}
	}
	return vars
})

// importEnv makes variables of an environment.
func (s *state) importEnv(env command.Environ) {
	for _, kv := range env {
		s.importVariable(kv)
	}
}

// importVariable makes an exported variable, or a function, of NAME=value.
func (s *state) importVariable(kv string) {
	name, value, ok := strings.Cut(kv, "=")
	if !ok {
		return
	}
	if f, ok := strings.CutPrefix(name, "BASH_FUNC_"); ok && strings.HasSuffix(f, "%%") && strings.HasPrefix(value, "() {") {
		s.importFunction(strings.TrimSuffix(f, "%%"), value)
		return
	}
	switch name {
	case "SHELLOPTS", "BASHOPTS", "PPID", "UID", "EUID", "BASH_VERSINFO", "_":
		return
	}
	if !validName(name) {
		return
	}
	if sp := specials[name]; sp != nil && s.vars[name] != nil && s.vars[name].special != nil {
		if sp.assign != nil {
			sp.assign(s, value)
		}
		return
	}
	v := s.change(name)
	v.str, v.set = value, true
	v.attr |= attrExport
	s.assigned(name, v)
}

// importFunction defines a function that the environment carries.
func (s *state) importFunction(name, text string) {
	p := parse.New(name+" "+text, 1, parse.Options{})
	stmts, err := p.Next()
	if err != nil || len(stmts) != 1 {
		return
	}
	if f := functionOf(stmts[0]); f != nil {
		s.ownFuncs()[name] = &function{name: name, decl: f, source: "environment", attr: attrExport}
	}
}

// initVariables sets the variables that depend on the session.
func (s *state) initVariables() {
	put := func(name, value string, a attr) {
		v := s.change(name)
		v.str, v.set = value, true
		v.attr |= a
	}
	uid := strconv.Itoa(int(s.sh.cfg.Cred.UID))
	put("UID", uid, attrInteger|attrReadonly)
	put("EUID", uid, attrInteger|attrReadonly)
	put("HOSTNAME", s.sh.cfg.Host.Name, 0)
	level, _ := strconv.Atoi(s.get("SHLVL"))
	put("SHLVL", itoa(level+1), attrExport)
	if _, ok := s.value("PATH"); !ok {
		put("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 0)
	}
	if _, ok := s.value("TERM"); !ok {
		put("TERM", "dumb", 0)
	}
	if _, ok := s.value("SHELL"); !ok {
		put("SHELL", "/bin/bash", 0)
	}
	put("PWD", s.dir, attrExport)
	if v := s.vars["OLDPWD"]; v == nil {
		s.change("OLDPWD").attr |= attrExport
	}
	s.lastArg = s.arg0
}

// environ is the environment of a command: the exported variables, in the order
// of Bash's table of variables, and _ with the command's path.
func (s *state) environ(path string) command.Environ {
	type entry struct {
		bucket uint32
		name   string
		text   string
	}
	entries := make([]entry, 0, 32)
	for name, v := range s.vars {
		if v.attr&attrExport == 0 || !v.set && v.special == nil || v.isArray() || name == "_" {
			continue
		}
		text := v.str
		if v.special != nil {
			text, _ = v.special.scalar(s, v)
		}
		entries = append(entries, entry{bashHash(name) & 1023, name, name + "=" + text})
	}
	for name, f := range s.funcs {
		if f.attr&attrExport != 0 {
			_, body, _ := strings.Cut(s.functionText(f), " ")
			key := "BASH_FUNC_" + name + "%%"
			entries = append(entries, entry{1 << 20, key, key + "=" + strings.Replace(body, "() \n", "() ", 1)})
		}
	}
	slices.SortFunc(entries, func(a, b entry) int {
		if c := cmp.Compare(a.bucket, b.bucket); c != 0 {
			return c
		}
		return cmp.Compare(a.name, b.name)
	})
	env := make(command.Environ, 0, len(entries)+1)
	for _, e := range entries {
		env = append(env, e.text)
	}
	if path != "" {
		env = append(env, "_="+path)
	}
	return env
}

// childShell is the state of a new shell that a command line starts: a script,
// or bash itself.
func (sh *Shell) childShell(x *execution, l *launch) *state {
	s := newState(sh, &Session{sh: sh, pid: l.p.pid})
	s.x, s.p = x, l.p
	s.umask = l.w.Op.Umask
	s.enter(l.dir, l.w.Dir)
	s.arg0 = l.args[0]
	s.importEnv(l.env)
	s.initVariables()
	if v := s.change("PPID"); v != nil {
		v.str = itoa(l.p.ppid)
	}
	s.fds = slices.Clone(l.fds)
	for _, f := range s.fds {
		f.retain()
	}
	return s
}

// runScript runs a script file in a new shell.
func (sh *Shell) runScript(x *execution, l *launch, file, text string) int {
	s := sh.childShell(x, l)
	s.arg0, s.params, s.mode, s.source = file, l.args[1:], modeFile, file
	return s.runChild(func(s *state) { s.runText(text, 1, "") })
}

// runChild runs a new shell to its end, in its own process entry.
func (s *state) runChild(body func(*state)) int {
	defer s.closeFDs()
	for n := range s.traps {
		delete(s.traps, n)
	}
	return s.protect(body)
}

// runShell runs "bash" or "sh" with its arguments.
func (sh *Shell) runShell(x *execution, l *launch) int {
	s := sh.childShell(x, l)
	s.arg0 = l.args[0]
	if path.Base(l.args[0]) == "sh" {
		s.opts.put(optPosix, true)
		s.opts.putShopt(shoptExpandAliases, true)
	}
	inv := shellArgs{}
	if status, stop := inv.parse(s, l.args[1:]); stop {
		s.closeFDs()
		return status
	}
	switch {
	case inv.command:
		return s.runChild(func(s *state) {
			s.invocation = "c"
			v := s.change("BASH_EXECUTION_STRING")
			v.str, v.set = inv.text, true
			s.runText(inv.text, 1, "-c")
		})
	case inv.file != "":
		return s.runFile(inv.file)
	}
	s.invocation, s.mode = "s", modeStdin
	return s.runChild((*state).runStdin)
}

// runFile runs a script that bash was given by name.
func (s *state) runFile(name string) int {
	file := name
	text, err := s.walkerRead(file)
	if err != nil && strings.IndexByte(name, '/') < 0 {
		if f, ok := s.findSource(name); ok {
			file = f
			text, err = s.walkerRead(f)
		}
	}
	if err != nil {
		defer s.closeFDs()
		s.stderr(s.arg0 + ": " + name + ": " + command.Strerror(err) + "\n")
		if vfs.ToErrno(err) == 2 {
			return 127
		}
		return 126
	}
	s.arg0, s.mode, s.source = name, modeFile, name
	return s.runChild(func(s *state) { s.runText(text, 1, "") })
}

// runStdin runs commands from standard input.
func (s *state) runStdin() {
	f := s.fd(0)
	if f == nil {
		return
	}
	var src strings.Builder
	for {
		line, ok := s.readRecord(f, '\n')
		if !ok {
			break
		}
		src.WriteString(line)
	}
	s.runText(src.String(), 1, "")
}

// shellArgs are the arguments of bash.
type shellArgs struct {
	command bool
	text    string
	file    string
}

// parse reads the arguments; stop says that there is nothing to run.
func (inv *shellArgs) parse(s *state, args []string) (status int, stop bool) {
	fromStdin := false
	i := 0
	for ; i < len(args); i++ {
		a := args[i]
		if a == "--" || a == "-" {
			i++
			break
		}
		if strings.HasPrefix(a, "--") {
			switch a {
			case "--version":
				s.write(1, "GNU bash, version 5.2.15(1)-release (x86_64-pc-linux-gnu)\n")
				return 0, true
			case "--help":
				s.write(1, "Usage:\tbash [option] ... [file [argument ...]]\n")
				return 0, true
			case "--posix":
				s.opts.put(optPosix, true)
			case "--rcfile", "--init-file":
				i++
			case "--norc", "--noprofile", "--login", "--noediting", "--verbose", "--restricted", "--debugger":
			default:
				s.stderr(s.arg0 + ": " + a + ": invalid option\n")
				return 2, true
			}
			continue
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			break
		}
		took, status := inv.letters(s, a, args[i+1:], &fromStdin)
		if status != 0 {
			return status, true
		}
		i += took
	}
	rest := args[min(i, len(args)):]
	if inv.command {
		if len(rest) == 0 {
			s.stderr(s.arg0 + ": -c: option requires an argument\n")
			return 2, true
		}
		inv.text, rest = rest[0], rest[1:]
		if len(rest) > 0 {
			s.arg0, rest = rest[0], rest[1:]
		}
	} else if len(rest) > 0 && !fromStdin {
		inv.file, rest = rest[0], rest[1:]
	}
	s.params = rest
	return 0, false
}

// letters reads one bundle of option letters.
func (inv *shellArgs) letters(s *state, a string, rest []string, fromStdin *bool) (took, status int) {
	on := a[0] == '-'
	for _, c := range []byte(a[1:]) {
		switch c {
		case 'c':
			inv.command = true
			continue
		case 's':
			*fromStdin = true
			continue
		case 'i', 'l', 'r', 'D':
			continue
		case 'o', 'O':
			if took >= len(rest) {
				return took, 2
			}
			name := rest[took]
			took++
			if c == 'O' {
				n := shoptNumber(name)
				if n < 0 {
					s.stderr(s.arg0 + ": line 0: " + name + ": invalid shell option name\n")
					return took, 2
				}
				s.opts.putShopt(n, on)
				continue
			}
			n, ok := optionByName(name)
			if !ok {
				s.stderr(s.arg0 + ": line 0: set: " + name + ": invalid option name\n")
				return took, 2
			}
			s.opts.put(n, on)
			continue
		}
		n, ok := optionByLetter(c)
		if !ok {
			s.stderr(s.arg0 + ": " + a + ": invalid option\n")
			return took, 2
		}
		s.opts.put(n, on)
	}
	return took, 0
}

// location is the time zone of a value of TZ.
func location(tz string) *time.Location { return zone.Load(tz) }

// location is the time zone of the state.
func (s *state) location() *time.Location { return zone.Load(s.get("TZ")) }
