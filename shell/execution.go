package shell

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/vfsd/vfsd/shell/command"
)

// execution is one run of a script with everything that it started.
type execution struct {
	sh      *Shell
	limits  Limits
	fs      *limitFS
	rlimits map[byte]rlimit // guarded by mu: what ulimit was told
	memory  *command.Memory
	start   int64 // ns since 1970

	// ctx ends with the execution; its cause is a *LimitError, the caller's
	// reason, or errEnded.
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stopped atomic.Bool // ctx has ended: what loops look at

	steps    atomic.Int64
	produced atomic.Int64 // bytes of output
	running  sync.WaitGroup

	mu    sync.Mutex
	procs map[int]*process // guarded by mu
	order []int            // guarded by mu: process IDs as they started
	panic error            // guarded by mu: the first panic recovered
}

// newExecution starts the clock.
func newExecution(ctx context.Context, sh *Shell, l Limits) *execution {
	x := &execution{sh: sh, limits: l, procs: map[int]*process{}, start: sh.cfg.Now().UnixNano()}
	x.fs = newLimitFS(sh.cfg.FS, &l)
	x.memory = command.NewMemory(max(l.Memory, 0))
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	return x
}

// watch sets stopped when the context ends. stop undoes it.
func (x *execution) watch() (stop func()) {
	var timer func()
	if x.limits.Time > 0 {
		ctx, cancel := context.WithTimeoutCause(x.ctx, x.limits.Time, &LimitError{Limit: "time", Max: int64(x.limits.Time)})
		x.ctx, timer = ctx, cancel
	}
	undo := context.AfterFunc(x.ctx, func() { x.stopped.Store(true) })
	return func() {
		undo()
		if timer != nil {
			timer()
		}
	}
}

// exceed ends the execution because of a limit and returns the error.
func (x *execution) exceed(limit string, max int64) error {
	err := &LimitError{Limit: limit, Max: max}
	x.stopped.Store(true)
	x.cancel(err)
	return err
}

// output accounts for n bytes of output.
func (x *execution) output(n int) error {
	if total := x.produced.Add(int64(n)); x.limits.Output > 0 && total > x.limits.Output {
		return x.exceed("output", x.limits.Output)
	}
	return nil
}

// grow accounts for n bytes of memory.
func (x *execution) grow(n int) error {
	if x.memory.Grow(int64(n)) != nil {
		return x.exceed("memory", x.limits.Memory)
	}
	return nil
}

// step accounts for n steps.
func (x *execution) step(n int64) {
	if total := x.steps.Add(n); x.limits.Steps > 0 && total > x.limits.Steps {
		x.exceed("steps", x.limits.Steps)
	}
}

// end stops everything that still runs, waits for it, and releases what is
// open.
func (x *execution) end() {
	x.stopped.Store(true)
	x.cancel(errEnded)
	x.running.Wait()
	x.fs.end()
}

// limitHit returns the limit that ended the execution, if one did.
func (x *execution) limitHit() error {
	var l *LimitError
	if errors.As(context.Cause(x.ctx), &l) {
		return l
	}
	return nil
}

// crashed remembers a panic that was recovered.
func (x *execution) crashed(err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.panic == nil {
		x.panic = err
	}
}
