package shell

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// Self implements command.System.
func (y *system) Self(*command.Context) int { return y.p.pid }

// Processes implements command.System.
func (y *system) Processes() []command.Process { return y.x.list() }

// Signal implements command.System.
func (y *system) Signal(pid int, sig command.Signal) error { return y.x.signal(pid, sig) }

// accounts is a walker from the root, to read the workspace's accounts with.
func (y *system) accounts() *vfs.Walker {
	return vfs.NewWalker(y.x.fs, &vfs.Op{Ctx: y.p.ctx, Cred: y.sh.cfg.Cred})
}

// UserByID implements command.System.
func (y *system) UserByID(uid uint32) (command.User, bool) {
	return y.sh.users.find(y.accounts(), userByID(uid))
}

// UserByName implements command.System.
func (y *system) UserByName(name string) (command.User, bool) {
	return y.sh.users.find(y.accounts(), userByName(name))
}

// GroupByID implements command.System.
func (y *system) GroupByID(gid uint32) (command.Group, bool) {
	return y.sh.users.findGroup(y.accounts(), func(g *command.Group) bool { return g.GID == gid })
}

// GroupByName implements command.System.
func (y *system) GroupByName(name string) (command.Group, bool) {
	return y.sh.users.findGroup(y.accounts(), func(g *command.Group) bool { return g.Name == name })
}

// Host implements command.System.
func (y *system) Host() command.Host { return y.sh.cfg.Host }

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
		if file, ok = y.sh.findFile(y.x, l.w, name, searchPath(l.env)); !ok {
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
