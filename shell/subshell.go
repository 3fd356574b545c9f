package shell

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"time"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/command"
)

// run runs body as a process of its own on the calling goroutine: state c, whose
// process is set, ends with it. Whatever panics in it stays in it.
func (c *state) run(body func(*state)) {
	status := c.protect(body)
	c.begin()
	c.closeFDs()
	c.x.step(c.ticks & 63)
	c.p.exit(status)
}

// protect runs body, then the EXIT trap, and returns the exit status.
func (c *state) protect(body func(*state)) (status int) {
	status, killed := c.guard(func() { body(c) })
	if killed {
		return status
	}
	if c.hasTrap(trapEXIT) {
		status, _ = c.guard(func() {
			c.status = status
			c.runExitTrap()
		})
	}
	return status
}

// guard runs f and turns its unwinding into an exit status; killed says that
// nothing more may run.
func (c *state) guard(f func()) (status int, killed bool) {
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		u, ok := v.(*unwind)
		if !ok {
			err := fmt.Errorf("shell: internal error: %w", &command.Panic{Value: v})
			c.x.crashed(err)
			c.errorf("internal error: %v", v)
			status, killed = 2, true
			return
		}
		switch u.kind {
		case unwindKilled:
			status, killed, c.stopped = c.killedStatus(), true, true
		default:
			status = u.status
		}
	}()
	f()
	return c.status, false
}

// killedStatus is the status of a state that had to stop.
func (c *state) killedStatus() int {
	if sig := c.p.killed.Load(); sig != 0 {
		return 128 + int(sig)
	}
	cause := context.Cause(c.x.ctx)
	var l *LimitError
	switch {
	case errors.As(cause, &l):
		return limitStatus(cause)
	case errors.Is(cause, context.DeadlineExceeded):
		return 124
	}
	return 128 + int(command.SIGTERM)
}

// spawn starts body as a process of its own on a goroutine of its own.
func (s *state) spawn(c *state, body func(*state)) *process {
	p := s.x.newProcess(s.p, s.p.args)
	c.p = p
	s.x.running.Add(1)
	go func() {
		defer s.x.running.Done()
		defer func() {
			if v := recover(); v != nil { // run lets nothing through but its own mistakes
				s.x.crashed(&command.Panic{Value: v})
				p.exit(2)
			}
		}()
		c.run(body)
	}()
	return p
}

// subshellCommand runs ( ... ).
func (s *state) subshellCommand(c *syntax.Subshell) {
	s.at(c.Lparen)
	sub := s.fork(false)
	sub.loops = 0
	sub.p = s.x.newProcess(s.p, s.p.args)
	sub.run(func(sub *state) { sub.runList(c.Stmts) })
	s.rejoin(sub)
	s.status = sub.p.status
	s.reportKilled(sub.p, &syntax.Stmt{Cmd: c})
	s.checkError()
}

// reportKilled says so when a signal ended a foreground process, except for
// those that end things quietly.
func (s *state) reportKilled(p *process, cmd *syntax.Stmt) {
	if s.ended() {
		s.stop()
	}
	sig := command.Signal(p.killed.Load())
	if sig == 0 || sig == command.SIGPIPE || sig == command.SIGINT {
		return
	}
	s.errorf("%5d %-24s%s", p.pid, sig.Description(), stmtSource(cmd))
}

// wait waits for a process; a signal with a trap interrupts it when that is
// asked for.
func (s *state) wait(p *process, interruptible bool) (status int, ok bool) {
	select {
	case <-p.done:
		return p.status, true
	default:
	}
	for {
		wake := s.p.wake
		if !interruptible {
			wake = nil
		}
		select {
		case <-p.done:
			return p.status, true
		case <-s.p.ctx.Done():
			s.stop()
		case <-wake:
			if s.p.pending.Load() != 0 {
				return 0, false
			}
		}
	}
}

// stages lists a pipeline's commands, first to last; both says of each whether
// its standard error goes into the pipe too.
func stages(c *syntax.BinaryCmd) (cmds []*syntax.Stmt, both []bool) {
	for {
		cmds = append(cmds, c.Y)
		both = append(both, c.Op == syntax.PipeAll)
		x, ok := c.X.Cmd.(*syntax.BinaryCmd)
		if !ok || x.Op != syntax.Pipe && x.Op != syntax.PipeAll || c.X.Negated {
			cmds = append(cmds, c.X)
			break
		}
		c = x
	}
	for i, j := 0, len(cmds)-1; i < j; i, j = i+1, j-1 {
		cmds[i], cmds[j] = cmds[j], cmds[i]
	}
	for i, j := 0, len(both)-1; i < j; i, j = i+1, j-1 {
		both[i], both[j] = both[j], both[i]
	}
	return cmds, append(both, false)
}

// withErrors is the command with 2>&1 after its redirections, as |& says.
func withErrors(st *syntax.Stmt) *syntax.Stmt {
	c := *st
	c.Redirs = append(slices.Clip(st.Redirs), &syntax.Redirect{
		OpPos: st.Position, Op: syntax.DplOut, N: &syntax.Lit{Value: "2"},
		Word: &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: "1"}}},
	})
	return &c
}

// pipeline runs commands side by side, each in a subshell.
func (s *state) pipeline(c *syntax.BinaryCmd) {
	cmds, both := stages(c)
	last := len(cmds) - 1
	inShell := s.opts.shopts(shoptLastpipe) && !s.opts.on(optMonitor)
	subs := make([]*state, 0, len(cmds))
	var in *openFile
	for i, st := range cmds {
		if i == last && inShell {
			break
		}
		if both[i] {
			st = withErrors(st)
		}
		sub := s.fork(inShell)
		if _, ok := st.Cmd.(*syntax.CallExpr); ok {
			sub.jobs = s.jobs.view()
		}
		if in != nil {
			sub.setFD(0, in)
			in = nil
		}
		if i < last {
			r, w := newPipeFiles()
			sub.setFD(1, w)
			in = r
		}
		subs = append(subs, sub)
		if i < last {
			s.spawnFirst(sub, st)
		} else {
			sub.p = s.x.newProcess(s.p, s.p.args)
			sub.run(func(c *state) { c.stage(st) })
		}
	}
	statuses := make([]int, len(cmds))
	if inShell {
		statuses[last] = s.lastStage(cmds[last], in)
	}
	for i, sub := range subs {
		statuses[i], _ = s.wait(sub.p, false)
		s.rejoin(sub)
		if sub.p.killed.Load() != 0 {
			s.reportKilled(sub.p, cmds[i])
		}
	}
	s.pipeStatus = statuses
	s.status = statuses[last]
	if s.opts.on(optPipefail) {
		s.status = 0
		for _, n := range statuses {
			if n != 0 {
				s.status = n
			}
		}
	}
	if s.ended() {
		s.stop()
	}
	if s.ctl == ctlNone {
		s.checkError()
	}
}

// headStart is how long the next command of a pipeline waits for the one before
// it to get under way. In Bash that one is forked first and usually says first
// what it has to say; nothing depends on it.
const headStart = 2 * time.Millisecond

// spawnFirst starts a command of a pipeline and lets it go ahead.
func (s *state) spawnFirst(sub *state, st *syntax.Stmt) {
	begun := make(chan struct{})
	sub.begun = begun
	s.spawn(sub, func(c *state) { c.stage(st) })
	t := time.NewTimer(headStart)
	defer t.Stop()
	select {
	case <-begun:
	case <-t.C:
	}
}

// begin tells who waits that the first command is under way.
func (s *state) begin() {
	if s.begun != nil {
		close(s.begun)
		s.begun = nil
	}
}

// stage runs a command of a pipeline in its own subshell, whose failure is the
// pipeline's matter.
func (c *state) stage(st *syntax.Stmt) {
	c.noFork = true
	c.stmt(st)
}

// lastStage runs a pipeline's last command in this state (shopt lastpipe).
func (s *state) lastStage(st *syntax.Stmt, in *openFile) int {
	var undo undoFDs
	if in != nil {
		s.replaceFD(0, in, &undo)
	}
	defer func() { s.restoreFDs(undo) }()
	s.noErrexit++
	s.stmt(st)
	s.noErrexit--
	return s.status
}

// background starts "command &".
func (s *state) background(st *syntax.Stmt) {
	body := *st
	body.Background = false
	s.startJob(&body)
	s.status = 0
}

// startJob starts a command as a job.
func (s *state) startJob(st *syntax.Stmt) *process {
	c := s.fork(true)
	if !s.opts.on(optMonitor) {
		// Without job control the terminal is not theirs to read.
		if f, err := s.open("/dev/null", syscall.O_RDONLY); err == nil {
			c.setFD(0, f)
		}
	}
	c.noErrexit, c.loops = 0, 0
	p := s.spawn(c, func(c *state) { c.stage(st) })
	s.lastBG = p.pid
	s.jobs.add(p, st)
	return p
}
