package shell

import (
	"context"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

// process is an entry of the process table: a shell or a command.
type process struct {
	x         *execution
	pid, ppid int
	group     int
	args      []string
	start     time.Time

	ctx    context.Context
	cancel context.CancelCauseFunc
	killed atomic.Int32  // the signal that ended it
	done   chan struct{} // closed when it has ended
	status int           // valid when done is closed

	// Signals that it handles or ignores, and those that wait to be handled, as
	// bits by number.
	trapped, ignored, pending atomic.Uint64
	wake                      chan struct{} // has room for one: a signal is pending
	output                    bool          // of >(...): the end of the script waits for it
}

// newProcess enters a process in the table, or ends the execution when there
// are too many.
func (x *execution) newProcess(parent *process, args []string) *process {
	p := &process{x: x, pid: x.sh.newPID(), args: args, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	p.group = p.pid
	if parent != nil {
		p.ppid, p.group = parent.pid, parent.group
		p.ignored.Store(parent.ignored.Load())
	}
	x.enter(p)
	return p
}

// enter adds a process to the table and makes its context.
func (x *execution) enter(p *process) {
	p.start = x.sh.cfg.Now()
	p.ctx, p.cancel = context.WithCancelCause(x.ctx)
	x.mu.Lock()
	x.procs[p.pid] = p
	x.order = append(x.order, p.pid)
	n := len(x.procs)
	x.mu.Unlock()
	if x.limits.Processes > 0 && n > x.limits.Processes {
		x.exceed("processes", int64(x.limits.Processes))
	}
}

// exit takes a process that has ended off the table.
func (p *process) exit(status int) {
	p.status = status
	p.x.mu.Lock()
	delete(p.x.procs, p.pid)
	if i := slices.Index(p.x.order, p.pid); i >= 0 {
		p.x.order = slices.Delete(p.x.order, i, i+1)
	}
	p.x.mu.Unlock()
	close(p.done)
	p.cancel(errEnded)
}

// bit is a signal's place in a process's sets.
func bit(sig command.Signal) uint64 { return 1 << (uint(sig) & 63) }

// deliver sends a signal to the process.
func (p *process) deliver(sig command.Signal) {
	switch {
	case sig == 0:
		return
	case sig == command.SIGKILL:
	case p.trapped.Load()&bit(sig) != 0:
		for {
			old := p.pending.Load()
			if p.pending.CompareAndSwap(old, old|bit(sig)) {
				break
			}
		}
		select {
		case p.wake <- struct{}{}:
		default:
		}
		return
	case p.ignored.Load()&bit(sig) != 0:
		return
	default:
		switch sig {
		case command.SIGCHLD, command.SIGCONT, command.SIGSTOP, command.SIGTSTP, 21, 22, 23, 28:
			// Ignored by default, or job control, which there is none of.
			return
		}
	}
	p.killed.CompareAndSwap(0, int32(sig))
	p.cancel(command.Killed{Signal: sig})
}

// signal sends a signal by process ID; a negative one is a group.
func (x *execution) signal(pid int, sig command.Signal) error {
	x.mu.Lock()
	var to []*process
	if p := x.procs[pid]; p != nil {
		to = append(to, p)
	} else if pid < 0 {
		for _, id := range x.order {
			if p := x.procs[id]; p.group == -pid || pid == -1 {
				to = append(to, p)
			}
		}
	}
	x.mu.Unlock()
	if len(to) == 0 {
		return syscall.ESRCH
	}
	for _, p := range to {
		p.deliver(sig)
	}
	return nil
}

// list returns the process table.
func (x *execution) list() []command.Process {
	x.mu.Lock()
	defer x.mu.Unlock()
	ps := make([]command.Process, 0, len(x.order))
	for _, id := range x.order {
		p := x.procs[id]
		ps = append(ps, command.Process{
			PID: p.pid, PPID: p.ppid, Group: p.group, Args: p.args, Start: p.start, UID: x.sh.cfg.Cred.UID,
		})
	}
	return ps
}
