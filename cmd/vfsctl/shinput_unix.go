//go:build unix

package main

import (
	"context"
	"os"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/internal/control"
)

// terminalReader passes what is typed to an execution that reads, and can be
// stopped while nothing is typed: what comes then is for the next command line.
type terminalReader struct {
	wake *os.File // closed to stop
	done chan struct{}
}

// startTerminalReader begins to pass on what is typed.
func startTerminalReader(ctx context.Context, c *control.Client, id string, fd int) *terminalReader {
	r, w, err := os.Pipe()
	if err != nil {
		return nil // the execution waits for input that does not come, until it is interrupted
	}
	t := &terminalReader{wake: w, done: make(chan struct{})}
	go func() {
		defer close(t.done)
		defer r.Close()
		for t.pass(ctx, c, id, fd, int(r.Fd())) {
		}
	}()
	return t
}

// pass waits for a line and passes it on; false when it is over.
func (t *terminalReader) pass(ctx context.Context, c *control.Client, id string, fd, stop int) bool {
	fds := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}, {Fd: int32(stop), Events: unix.POLLIN}}
	if _, err := unix.Poll(fds, -1); err != nil {
		return err == unix.EINTR
	}
	if fds[1].Revents != 0 {
		return false
	}
	b := make([]byte, 4096)
	n, err := unix.Read(fd, b)
	if err == unix.EINTR || err == unix.EAGAIN {
		return true
	}
	end := err != nil || n == 0
	res, err := control.ExecInputCall.Do(ctx, c, control.ExecInputRequest{ID: id, Data: b[:max(n, 0)], End: end})
	return err == nil && res.Reads && !end
}

// stop waits until nothing is read from the terminal any more.
func (t *terminalReader) stop() {
	if t == nil {
		return
	}
	t.wake.Close()
	<-t.done
}
