package shell

import (
	"errors"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

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
	if s.ended() {
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
		Network: sh.cfg.Network,
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
