package harness

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Child is another process that works for a case.
type Child struct {
	t      *T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	stderr bytes.Buffer
	waited bool
}

// Child starts this binary in a role: in the thread's directory, with its
// umask and credentials. It is killed when the case ends, at the latest.
func (t *T) Child(role string, args ...string) *Child {
	return t.Command(roleEnv+"="+role, "/proc/self/exe", args...)
}

// Command starts a program in the thread's directory, with its credentials
// and with one more environment variable.
func (t *T) Command(env, program string, args ...string) *Child {
	cmd := exec.Command(program, args...)
	// With the thread, whatever becomes of this process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	c, err := t.start(cmd, env)
	t.Must(err)
	return c
}

// Spawn starts a prepared command in a role.
func (t *T) Spawn(cmd *exec.Cmd, role string) (*Child, error) { return t.start(cmd, roleEnv+"="+role) }

func (t *T) start(cmd *exec.Cmd, env string) (*Child, error) {
	c := &Child{t: t, cmd: cmd}
	cmd.Env = append(os.Environ(), env)
	in, err := cmd.StdinPipe()
	t.Must(err)
	out, err := cmd.StdoutPipe()
	t.Must(err)
	cmd.Stderr = &c.stderr
	c.in, c.out = in, bufio.NewReader(out)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t.Cleanup(func() { c.Kill() })
	return c, nil
}

// Pid returns the child's process id.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

// Tell sends the child a line.
func (c *Child) Tell(format string, args ...any) {
	_, err := fmt.Fprintf(c.in, format+"\n", args...)
	c.t.Must(err)
}

// Hear waits for a line of the child.
func (c *Child) Hear() string {
	line, err := c.out.ReadString('\n')
	if err != nil {
		c.Kill()
		c.t.Fatalf("the child ended without an answer (%v): %s", c.cmd.ProcessState, c.stderr.String())
	}
	return strings.TrimSuffix(line, "\n")
}

// Ask sends a line and returns the answer.
func (c *Child) Ask(format string, args ...any) string {
	c.Tell(format, args...)
	return c.Hear()
}

// Expect asks, and asserts the answer.
func (c *Child) Expect(want, format string, args ...any) bool {
	got := c.Ask(format, args...)
	return c.t.Check(got == want, "child's %q: got %s, want %s", fmt.Sprintf(format, args...), got, want)
}

// Kill ends the child with SIGKILL and waits for its end.
func (c *Child) Kill() {
	if c.waited {
		return
	}
	_ = c.cmd.Process.Kill() // it may be gone already
	c.Wait()
}

// Signal sends the child a signal.
func (c *Child) Signal(s syscall.Signal) { c.t.Must(c.cmd.Process.Signal(s)) }

// Wait closes the child's input, waits for its end, and returns how it ended.
func (c *Child) Wait() syscall.WaitStatus {
	c.waited = true
	_ = c.in.Close()
	err := c.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, os.ErrClosed) {
		c.t.fail("wait for the child: " + err.Error())
	}
	ws, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if !ok {
		c.t.Fatalf("no wait status of the child")
	}
	return ws
}

// Stderr returns what the child said on its standard error; it is complete
// after Wait.
func (c *Child) Stderr() string { return c.stderr.String() }

// NoFork runs fn while no process of the suite is between fork and exec: a
// descriptor that fn closes is then really closed, for a forked child holds
// copies of all until it execs.
func (t *T) NoFork(fn func()) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	fn()
}

// ExitCode returns how a program of the case ended when it is run: its exit
// code, or the error that kept it from starting.
func (t *T) ExitCode(program string, args ...string) (int, error) {
	cmd := exec.Command(program, args...)
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return -1, err
	}
	return 0, nil
}

// Getpid is this process's id.
func Getpid() int { return unix.Getpid() }
