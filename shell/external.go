package shell

import (
	"bytes"
	"context"
	"errors"
	"path"
	"strings"
	"syscall"
	"time"

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

// launch is one command line to be run.
type launch struct {
	args []string
	env  command.Environ
	dir  string
	w    *vfs.Walker // in dir
	fds  []*openFile
	p    *process
	hops int // interpreters of interpreters so far
}

// external runs a command that is neither function nor builtin and returns its
// status.
func (s *state) external(args []string, noFork bool) int {
	name := args[0]
	prog, err := s.resolve(name)
	if err != nil {
		if status, ran := s.tryBackend(args, noFork); ran {
			return status
		}
		return s.notFound(args, err)
	}
	s.begin()
	p := s.p
	if !noFork || s.subshell == 0 {
		p = s.x.newProcess(s.p, args)
	} else {
		p.args = args
	}
	l := &launch{args: args, env: s.environ(prog.path), dir: s.dir, fds: s.fds, p: p}
	l.w = s.processWalker(p)
	status, err := s.sh.run(s.x, l, prog, s.name0())
	if p != s.p {
		p.exit(status)
		s.reportKilled(p, s.cmd)
	}
	if err != nil {
		return s.cannotRun(args, prog, err)
	}
	if s.x.ctx.Err() != nil {
		s.stop()
	}
	return status
}

// processWalker is the walker of another process in the same directory.
func (s *state) processWalker(p *process) *vfs.Walker {
	w := *s.walker()
	w.Op.Ctx = p.ctx
	w.Special = &devices{x: s.x, ctx: p.ctx, file: s.fd}
	return &w
}

// tryBackend offers a command line to the configured backend.
func (s *state) tryBackend(args []string, noFork bool) (status int, ran bool) {
	if s.sh.cfg.Backend == nil {
		return 0, false
	}
	file := ""
	if strings.IndexByte(args[0], '/') >= 0 {
		file = args[0]
	} else if f, ok := s.findFile(args[0], s.get("PATH")); ok {
		file = f
	}
	p := s.x.newProcess(s.p, args)
	l := &launch{args: args, env: s.environ(file), dir: s.dir, fds: s.fds, p: p, w: s.processWalker(p)}
	c := s.sh.context(s.x, l, &command.Command{Info: command.Info{Name: args[0]}})
	status, ran = s.sh.cfg.Backend(p.ctx, c, file, args)
	c.Stdout.Flush()
	p.exit(status)
	return status, ran
}

// notFound reports that a command cannot be found or run, in Bash's words.
func (s *state) notFound(args []string, err error) int {
	name := args[0]
	if f := s.funcs["command_not_found_handle"]; f != nil && errors.Is(err, errNotFound) {
		sub := s.fork(false)
		sub.p = s.x.newProcess(s.p, args)
		sub.run(func(c *state) {
			c.callFunction(f, append([]string{f.name}, args...), nil)
		})
		s.rejoin(sub)
		return sub.p.status
	}
	switch {
	case errors.Is(err, errNotFound):
		s.errorf("%s: command not found", s.printableName(name))
		return 127
	case errors.Is(err, syscall.ENOEXEC):
		if file, ok := s.findFile(name, s.get("PATH")); ok && strings.IndexByte(name, '/') < 0 {
			name = file
		}
		s.errorf("%s: cannot execute binary file: Exec format error", name)
		return 126
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		s.errorf("%s: %s", name, command.Strerror(err))
		if errors.Is(err, syscall.ENOTDIR) {
			return 126
		}
		return 127
	}
	s.errorf("%s: %s", name, command.Strerror(err))
	return 126
}

// printableName shows a command's name, quoted when it is not printable.
func (s *state) printableName(name string) string {
	if wide := s.wide(); needsANSI(name, wide) {
		return ansiQuote(name, wide)
	}
	return name
}

// cannotRun reports a file that was found but could not be run.
func (s *state) cannotRun(args []string, prog *program, err error) int {
	switch {
	case errors.Is(err, errBadInterpreter):
		s.errorf("%s: cannot execute: required file not found", args[0])
		return 127
	case errors.Is(err, syscall.ENOEXEC):
		s.errorf("%s: cannot execute binary file: Exec format error", args[0])
		return 126
	}
	s.errorf("%s: %s", args[0], command.Strerror(err))
	return 126
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
	path, set := s.value("PATH")
	if v := s.vars["PATH"]; !set && (v == nil || !v.set) {
		path = ""
	}
	file, ok := s.findFile(name, path)
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
		if file, ok := sh.findFile(x, l.w, args[0], l.env.Get("PATH")); ok {
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

// context makes a command's context.
func (sh *Shell) context(x *execution, l *launch, cmd *command.Command) *command.Context {
	fd := func(n int) *descriptor {
		if n < len(l.fds) && l.fds[n] != nil {
			return &descriptor{f: l.fds[n], ctx: l.p.ctx}
		}
		return nil
	}
	c := &command.Context{
		Command: cmd, FS: l.w, Dir: l.dir, Env: l.env, Memory: x.memory,
		Now: sh.cfg.Now, Location: time.UTC, System: &system{sh: sh, x: x, p: l.p},
	}
	c.File = func(n int) vfs.File {
		if d := fd(n); n >= 0 && d != nil {
			return d
		}
		return nil
	}
	c.Stdin, c.Stderr = closedFile{}, closedFile{}
	c.Stdout = command.NewWriter(closedFile{})
	if d := fd(0); d != nil {
		c.Stdin = d
	}
	if d := fd(1); d != nil {
		c.Stdout = command.NewWriter(d)
	}
	if d := fd(2); d != nil {
		c.Stderr = d
	}
	if tz, ok := l.env.Lookup("TZ"); ok {
		c.Location = location(tz)
	}
	return c
}

// closedFile stands for a descriptor that is not open.
type closedFile struct{}

func (closedFile) Read([]byte) (int, error)  { return 0, syscall.EBADF }
func (closedFile) Write([]byte) (int, error) { return 0, syscall.EBADF }

// runCommand runs a registered command.
func (sh *Shell) runCommand(x *execution, l *launch, cmd *command.Command) (status int) {
	c := sh.context(x, l, cmd)
	defer func() {
		if v := recover(); v != nil {
			x.crashed(&command.Panic{Value: v})
			c.Errorf("internal error: %v", v)
			status = 2
		}
	}()
	status = cmd.Run(l.p.ctx, c, l.args) & 0xff
	return finish(c, l.p, status)
}

// finish flushes a command's output and settles its status.
func finish(c *command.Context, p *process, status int) int {
	err := c.Stdout.Flush()
	if sig := p.killed.Load(); sig != 0 {
		return 128 + int(sig)
	}
	switch {
	case err == nil && p.ctx.Err() == nil:
		return status
	case errors.Is(err, syscall.EPIPE) && p.ignored.Load()&bit(command.SIGPIPE) == 0:
		p.killed.Store(int32(command.SIGPIPE))
		return 128 + int(command.SIGPIPE)
	case p.ctx.Err() != nil:
		return 128 + int(command.SIGTERM)
	case errors.Is(err, syscall.EBADF) && status != 0:
		return status
	}
	c.Errorf("write error: %s", command.Strerror(err))
	if status == 0 {
		status = 1
	}
	return status
}

// system is the world of the commands of one process.
type system struct {
	sh *Shell
	x  *execution
	p  *process
}

// Exec implements command.System.
func (y *system) Exec(ctx context.Context, c *command.Context, child *command.Child) (int, error) {
	l := &launch{args: child.Args, env: c.Env, dir: c.Dir}
	if child.Env != nil {
		l.env = child.Env
	}
	w := *c.FS
	if child.Dir != "" {
		a, err := c.FS.Stat(child.Dir)
		if err != nil {
			return 126, err
		}
		l.dir, w.Dir = c.Abs(child.Dir), a.Ino
	}
	p := y.x.newProcess(y.p, child.Args)
	stop := context.AfterFunc(ctx, func() {
		if sig, ok := command.KilledBy(ctx); ok {
			p.killed.CompareAndSwap(0, int32(sig))
		}
		p.cancel(context.Cause(ctx))
	})
	for _, sig := range child.Ignore {
		p.ignored.Store(p.ignored.Load() | bit(sig))
	}
	l.p = p
	l.fds = y.descriptors(c, child, p)
	w.Op.Ctx = p.ctx
	w.Special = &devices{x: y.x, ctx: p.ctx, file: func(n int) *openFile {
		if n < len(l.fds) {
			return l.fds[n]
		}
		return nil
	}}
	l.w = &w
	status, err := y.start(l)
	stop()
	for _, f := range l.fds {
		f.release()
	}
	p.exit(status)
	return status, err
}

// start finds a program and runs it.
func (y *system) start(l *launch) (int, error) {
	name := l.args[0]
	file := name
	if strings.IndexByte(name, '/') < 0 {
		var ok bool
		if file, ok = y.sh.findFile(y.x, l.w, name, l.env.Get("PATH")); !ok {
			return y.backend(l, "")
		}
	}
	prog, err := y.sh.load(y.x, l.w, file)
	if err != nil {
		if errors.Is(err, syscall.ENOEXEC) || errors.Is(err, syscall.EIO) {
			return y.backend(l, file)
		}
		return 126, err
	}
	status, err := y.sh.run(y.x, l, prog, name)
	if errors.Is(err, errBadInterpreter) {
		return 127, syscall.ENOENT
	}
	return status, err
}

// backend offers a command line to the configured backend.
func (y *system) backend(l *launch, file string) (int, error) {
	if y.sh.cfg.Backend != nil {
		c := y.sh.context(y.x, l, &command.Command{Info: command.Info{Name: l.args[0]}})
		if status, ran := y.sh.cfg.Backend(l.p.ctx, c, file, l.args); ran {
			return finish(c, l.p, status), nil
		}
	}
	if file != "" {
		return 126, syscall.ENOEXEC
	}
	return 127, syscall.ENOENT
}

// descriptors makes a child's streams of what its caller gave.
func (y *system) descriptors(c *command.Context, child *command.Child, p *process) []*openFile {
	stream := func(own, given any, fd int) *openFile {
		v := given
		if v == nil {
			v = own
		}
		if w, ok := v.(*command.Writer); ok {
			w.Flush()
			v = w.Underlying()
		}
		switch v := v.(type) {
		case *descriptor:
			return v.f.retain()
		case nil, closedFile:
			return nil
		}
		return newOpenFile(&foreign{v: v}, "stream", fd == 0, fd != 0)
	}
	var in, out, errs any
	if child.Stdin != nil {
		in = child.Stdin
	}
	if child.Stdout != nil {
		out = child.Stdout
	}
	if child.Stderr != nil {
		errs = child.Stderr
	}
	fds := []*openFile{stream(c.Stdin, in, 0), stream(c.Stdout, out, 1), stream(c.Stderr, errs, 2)}
	for n := 3; n < 64; n++ {
		f := c.File(n)
		if f == nil {
			continue
		}
		if d, ok := f.(*descriptor); ok {
			for len(fds) < n {
				fds = append(fds, nil)
			}
			fds = append(fds, d.f.retain())
		}
	}
	return fds
}
