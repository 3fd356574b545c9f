package replica

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// stdio is a connection over two pipes.
type stdio struct {
	in    *os.File // what is read
	out   *os.File // what is written
	name  string
	close func() error
	once  sync.Once
	err   error
}

// Stdio makes a connection of two files, such as standard input and output.
func Stdio(in, out *os.File) net.Conn {
	return &stdio{in: in, out: out, name: "stdio", close: func() error { return errors.Join(in.Close(), out.Close()) }}
}

// Command makes a connection of the standard input and output of a program, which
// it starts. Closing it ends the program. What that says on standard error is in
// the error of a read that fails.
func Command(cmd *exec.Cmd) (net.Conn, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inR.Close(), inW.Close())
	}
	said := &lastWords{}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, said
	err = cmd.Start()
	err = errors.Join(err, inR.Close(), outW.Close())
	if err != nil {
		return nil, errors.Join(err, inW.Close(), outR.Close())
	}
	c := &commandConn{stdio: stdio{in: outR, out: inW, name: cmd.Path}, said: said}
	c.stdio.close = func() error {
		err := errors.Join(inW.Close(), outR.Close())
		kill := time.AfterFunc(commandPatience, func() { _ = cmd.Process.Kill() }) // it may have ended
		defer kill.Stop()
		_ = cmd.Wait() // how it ends is its own affair: the session has its result
		return err
	}
	return c, nil
}

// commandPatience is how long a program may take to end once nobody talks to it.
const commandPatience = 5 * time.Second

// commandConn tells what the program said when it ended.
type commandConn struct {
	stdio
	said *lastWords
}

func (c *commandConn) Read(p []byte) (int, error) {
	n, err := c.stdio.Read(p)
	if words := c.said.String(); errors.Is(err, io.EOF) && words != "" {
		err = fmt.Errorf("%s: %s", c.name, words)
	}
	return n, err
}

// lastWords keeps the end of what was written.
type lastWords struct {
	mu sync.Mutex
	b  []byte
}

const maxLastWords = 2048

func (l *lastWords) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.b = append(l.b, p...)
	if n := len(l.b) - maxLastWords; n > 0 {
		l.b = l.b[n:]
	}
	return len(p), nil
}

func (l *lastWords) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.TrimSpace(string(l.b))
}

func (s *stdio) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *stdio) Write(p []byte) (int, error) { return s.out.Write(p) }

func (s *stdio) Close() error {
	s.once.Do(func() { s.err = s.close() })
	return s.err
}

func (s *stdio) LocalAddr() net.Addr  { return stdioAddr(s.name) }
func (s *stdio) RemoteAddr() net.Addr { return stdioAddr(s.name) }

func (s *stdio) SetDeadline(t time.Time) error {
	return errors.Join(s.SetReadDeadline(t), s.SetWriteDeadline(t))
}

func (s *stdio) SetReadDeadline(t time.Time) error { return deadline(s.in.SetReadDeadline(t)) }

func (s *stdio) SetWriteDeadline(t time.Time) error { return deadline(s.out.SetWriteDeadline(t)) }

// deadline forgives files that know none: a terminal, or a plain file.
func deadline(err error) error {
	if errors.Is(err, os.ErrNoDeadline) {
		return nil
	}
	return err
}

type stdioAddr string

func (a stdioAddr) Network() string { return "stdio" }
func (a stdioAddr) String() string  { return string(a) }
