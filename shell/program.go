package shell

import (
	"bytes"
	"errors"
	"path"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// program is what a command name leads to.
type program struct {
	path string           // of the file; "" for a command that only the registry has
	cmd  *command.Command // to run in the process
	// script is the source of a shell script, when isScript.
	script   string
	isScript bool
	// interp is the interpreter of any other script, with its argument.
	interp []string
}

var (
	errNotFound       = errors.New("command not found")
	errBadInterpreter = errors.New("bad interpreter")
)

// resolve finds what a command name leads to: for a path the file, else the
// first of its name in PATH, a file of the workspace before a registered
// command.
func (s *state) resolve(name string) (*program, error) {
	if strings.IndexByte(name, '/') >= 0 {
		return s.sh.load(s.x, s.walker(), name)
	}
	if name == "" {
		return nil, errNotFound
	}
	if s.get("PATH") == "" {
		return s.sh.load(s.x, s.walker(), name) // nothing to search: the name is a path
	}
	file, ok := s.remembered(name)
	if !ok {
		return nil, errNotFound
	}
	return s.sh.load(s.x, s.walker(), file)
}

// remembered finds a name in PATH, by the table of hash if it is there.
func (s *state) remembered(name string) (string, bool) {
	if e := s.hash[name]; e != nil && s.opts.on(optHashall) {
		s.ownHash()[name].hits++
		return e.path, true
	}
	file, ok := s.findFile(name, s.get("PATH"))
	if ok && s.opts.on(optHashall) && strings.HasPrefix(file, "/") {
		s.ownHash()[name] = &hashEntry{path: file, hits: 1}
	}
	return file, ok
}

// findFile looks for an executable file in the directories of a PATH. The
// first that is no directory but cannot be executed is second choice.
func (s *state) findFile(name, path string) (string, bool) {
	return s.sh.findFile(s.x, s.walker(), name, path)
}

func (sh *Shell) findFile(x *execution, w *vfs.Walker, name, path string) (string, bool) {
	second := ""
	for _, dir := range strings.Split(path, ":") {
		file := name
		switch {
		case dir == "" && path == "":
			file = "./" + name
		case dir == "":
			file = "./" + name
		case strings.HasSuffix(dir, "/"):
			file = dir + name
		default:
			file = dir + "/" + name
		}
		a, err := w.Stat(file)
		if err != nil || a.IsDir() {
			continue
		}
		if w.Access(file, vfs.MayExec) == nil {
			return file, true
		}
		if second == "" {
			second = file
		}
	}
	return second, second != ""
}

// searchPath is where a command that another one starts is looked for.
func searchPath(env command.Environ) string {
	if path, ok := env.Lookup("PATH"); ok {
		return path
	}
	return "/bin:/usr/bin"
}

// load looks at a file that is to be run.
func (sh *Shell) load(x *execution, w *vfs.Walker, file string) (*program, error) {
	a, err := w.Stat(file)
	if err != nil {
		return nil, err
	}
	if a.IsDir() {
		return nil, syscall.EISDIR
	}
	if err := w.Access(file, vfs.MayExec); err != nil {
		return nil, err
	}
	if a.Ino == virtualIno {
		name := path.Base(file)
		return &program{path: file, cmd: sh.lookup(name), interp: []string{name}}, nil
	}
	prog := &program{path: file}
	f, err := w.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return prog, prog.read(f)
}

// maxScript bounds a script file, in bytes.
const maxScript = 64 << 20

// read reads a script.
func (prog *program) read(f vfs.File) error {
	head := make([]byte, 4096)
	n, err := f.ReadAt(head, 0)
	if n == 0 && err != nil && vfs.ToErrno(err) != syscall.EIO {
		return err
	}
	head = head[:n]
	if bytes.HasPrefix(head, []byte("#!")) {
		line, _, _ := strings.Cut(string(head[2:]), "\n")
		name, arg, _ := strings.Cut(strings.Trim(line, " \t\r"), " ")
		prog.interp = []string{name}
		if arg = strings.TrimSpace(arg); arg != "" {
			prog.interp = append(prog.interp, arg)
		}
		return nil
	}
	first, _, _ := bytes.Cut(head[:min(n, 80)], []byte("\n"))
	if bytes.IndexByte(first, 0) >= 0 {
		return syscall.ENOEXEC
	}
	prog.isScript = true
	var b strings.Builder
	buf := make([]byte, 32<<10)
	for off := int64(0); ; {
		n, err := f.ReadAt(buf, off)
		b.Write(buf[:n])
		off += int64(n)
		if off > maxScript {
			return syscall.EFBIG
		}
		if n == 0 || err != nil {
			break
		}
	}
	prog.script = b.String()
	return nil
}

// run runs a program to its end. The error says that it did not start.
func (sh *Shell) run(x *execution, l *launch, prog *program, parent string) (int, error) {
	switch {
	case prog.cmd != nil:
		return sh.runCommand(x, l, prog.cmd), nil
	case prog.isScript:
		return sh.runScript(x, l, prog.path, prog.script), nil
	}
	// #! names another program, which gets the path as its argument.
	name := prog.interp[0]
	if prog.path != "" && path.Base(prog.path) == name {
		return sh.runShell(x, l), nil // bash or sh itself
	}
	args := append([]string{}, prog.interp...)
	if path.Base(name) == "env" && len(args) > 1 && !strings.HasPrefix(args[1], "-") && strings.IndexByte(args[1], '=') < 0 {
		args = strings.Fields(args[1])
		if file, ok := sh.findFile(x, l.w, args[0], searchPath(l.env)); ok {
			args[0] = file
		} else {
			return sh.envNotFound(x, l, args[0]), nil
		}
	} else if len(args) > 1 && args[1] == "-S" || strings.HasPrefix(lastOf(args), "-S ") {
		args = append(args[:1], strings.Fields(strings.TrimPrefix(lastOf(args), "-S"))...)
	}
	inner, err := sh.load(x, l.w, args[0])
	if err != nil {
		return 127, errBadInterpreter
	}
	if l.hops++; l.hops > maxInterpreters {
		return 126, syscall.ELOOP
	}
	l.args = append(append(args, prog.path), l.args[1:]...)
	return sh.run(x, l, inner, parent)
}

func lastOf(s []string) string { return s[len(s)-1] }

// maxInterpreters bounds how many scripts interpret one another.
const maxInterpreters = 8

// envNotFound is what env says of a command that is not there.
func (sh *Shell) envNotFound(x *execution, l *launch, name string) int {
	c := sh.context(x, l, &command.Command{Info: command.Info{Name: "env"}})
	return c.Errorf("%s: No such file or directory", c.QuoteArg(name)) + 126
}
