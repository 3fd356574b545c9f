// Package uroot joins the command interface with u-root's core.Command, both
// ways. A command of vfsd becomes a core.Command with Wrap; a core.Command
// becomes a Func with Adapt, which suits only those that keep to the streams,
// the directory and the environment they are given: most of u-root's go to the
// host's files themselves, and those never run in the daemon.
package uroot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/u-root/u-root/pkg/core"

	"github.com/vfsd/vfsd/shell/command"
)

// StatusError is the error of a command whose exit status was not 0.
type StatusError int

// Error says the status.
func (e StatusError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

// wrapped is a command of vfsd with what core.Command lets one set.
type wrapped struct {
	cmd  *command.Command
	base command.Context
	err  error
}

var _ core.Command = (*wrapped)(nil)

// Wrap presents a command as a core.Command. The context gives what u-root's
// interface has no words for (the tree, the clock, the system); its streams,
// directory and environment are those that the setters set.
func Wrap(cmd *command.Command, base command.Context) core.Command {
	base.Command = cmd
	return &wrapped{cmd: cmd, base: base}
}

// SetIO sets the streams.
func (w *wrapped) SetIO(stdin io.Reader, stdout, stderr io.Writer) {
	w.base.Stdin, w.base.Stdout, w.base.Stderr = stdin, command.NewWriter(stdout), stderr
}

// SetWorkingDir sets the working directory; Run reports one that is not there.
func (w *wrapped) SetWorkingDir(dir string) {
	a, err := w.base.FS.Stat(dir)
	if w.err = err; err != nil {
		return
	}
	w.base.Dir = w.base.Abs(dir)
	w.base.FS = w.base.FS.At(a.Ino)
}

// SetLookupEnv replaces the environment by what lookup knows of the names that
// are in it: u-root's interface cannot list others.
func (w *wrapped) SetLookupEnv(lookup core.LookupEnvFunc) {
	env := w.base.Env
	for _, kv := range w.base.Env {
		name, _, _ := strings.Cut(kv, "=")
		if v, ok := lookup(name); ok {
			env = env.Set(name, v)
		} else {
			env = env.Unset(name)
		}
	}
	w.base.Env = env
}

// Run runs the command with arguments that do not include its name.
func (w *wrapped) Run(args ...string) error { return w.RunContext(context.Background(), args...) }

// RunContext is Run with a context.
func (w *wrapped) RunContext(ctx context.Context, args ...string) error {
	if w.err != nil {
		return w.err
	}
	c := w.base
	status := w.cmd.Run(ctx, &c, append([]string{w.cmd.Name}, args...))
	if err := c.Stdout.Flush(); err != nil {
		return err
	}
	if status != 0 {
		return StatusError(status)
	}
	return nil
}

// Adapt makes a Func of u-root commands; each call runs a fresh one.
func Adapt(fresh func() core.Command) command.Func {
	return func(ctx context.Context, c *command.Context, args []string) int {
		cmd := fresh()
		cmd.SetIO(c.Stdin, c.Stdout, c.Stderr)
		cmd.SetWorkingDir(c.Dir)
		cmd.SetLookupEnv(c.Env.Lookup)
		err := cmd.RunContext(ctx, args[1:]...)
		if err == nil {
			return 0
		}
		var status StatusError
		if errors.As(err, &status) {
			return int(status)
		}
		return c.Errorf("%v", err)
	}
}
