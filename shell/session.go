package shell

import (
	"context"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// SessionOptions are how a session starts.
type SessionOptions struct {
	// Env is the environment; nil means the few variables that a login has.
	Env command.Environ
	// Dir is the working directory; "" means the root. One that is not there is
	// an error of the first execution.
	Dir string
	// Umask is the file creation mask; 0 means 022, so that a mask of nothing
	// must be set by the umask command.
	Umask uint32
	// Name is $0 and starts messages; "" means "bash".
	Name string
}

// Session keeps a shell's variables, functions, options and working directory
// from one execution to the next. Executions of one session run one at a time;
// sessions run side by side.
type Session struct {
	sh   *Shell
	opts SessionOptions
	pid  int

	running atomic.Pointer[execution] // what Exec runs now

	mu     sync.Mutex // held by the execution that runs
	main   *state     // guarded by mu: nil before the first execution
	pinned vfs.Ino    // guarded by mu
	closed bool       // guarded by mu
}

// NewSession returns a session; nothing runs yet and no file is touched.
func (sh *Shell) NewSession(o SessionOptions) *Session {
	if o.Env == nil {
		o.Env = DefaultEnv
	}
	if o.Dir == "" {
		o.Dir = "/"
	}
	if o.Umask == 0 {
		o.Umask = 0o022
	}
	if o.Name == "" {
		o.Name = "bash"
	}
	return &Session{sh: sh, opts: o, pid: sh.newPID()}
}

// DefaultEnv is the environment of a session that names none.
var DefaultEnv = command.Environ{
	"HOME=/root", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
	"SHELL=/bin/bash", "USER=root", "LOGNAME=root", "LANG=C.UTF-8", "TERM=dumb",
}

// Execution is what to run, and with what.
type Execution struct {
	// Script is run as by bash -c, unless Args is set.
	Script string
	// Args is a command line that is run as it is.
	Args []string
	// Name is $0 and starts messages; "" means the session's.
	Name string
	// Params are $1 and so on, for Script.
	Params []string
	// Env is put over the session's environment, exported, for good.
	Env command.Environ
	// Dir, if set, is where the session goes first, for good.
	Dir string
	// Stdin may be nil, which is an empty input. If it is an io.Closer it is
	// closed at the end, so that a Read that waits comes back.
	Stdin io.Reader
	// Stdout and Stderr take the output; nil drops it. Writes to either never
	// overlap when they are the same writer, nor between the two. A writer that
	// makes the execution wait should be a ContextWriter, or its end waits too.
	Stdout, Stderr io.Writer
	// Limits of this execution; zero fields are the Shell's.
	Limits Limits
	// Grace is how long background jobs may still run when the script has
	// ended; 0 means DefaultGrace, a negative one ends them at once.
	Grace time.Duration
}

// ContextWriter is a writer whose waiting can be ended: a limit, a signal or
// cancellation ends ctx.
type ContextWriter interface {
	io.Writer
	WriteContext(ctx context.Context, p []byte) (int, error)
}

// DefaultGrace lets a background job that is about to finish do so.
const DefaultGrace = 100 * time.Millisecond

// Result is how an execution ended.
type Result struct {
	// Status is the exit status, 0 to 255.
	Status int
	// Limit is the limit that ended it, a *LimitError, or nil.
	Limit error
	// Canceled is set when the caller's context ended it.
	Canceled bool
	// Exited is set when the script ended itself: by exit, or by a command that
	// failed under "set -e". An interactive shell ends then.
	Exited bool
	// Internal is a panic that was recovered: a mistake of this package or of a
	// command.
	Internal error
	// Steps counts the commands run.
	Steps int64
	// Output counts the bytes written to both outputs.
	Output int64
	// Dir is the working directory afterwards.
	Dir string
}

// Exec runs a script or a command to its end. It returns when nothing of it
// runs any more. Cancelling ctx ends it soon.
func (ses *Session) Exec(ctx context.Context, e Execution) Result {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	x := newExecution(ctx, ses.sh, e.Limits.or(ses.sh.cfg.Limits))
	stopWatch := x.watch()
	defer stopWatch()
	s := ses.begin(x, &e)
	ses.running.Store(x)
	status, exited := s.runMain(&e)
	exited = exited && x.ctx.Err() == nil
	canceled := ctx.Err() != nil
	if canceled && !s.stopped {
		status = s.killedStatus() // it ended because something that it waited for did
	}
	ses.running.Store(nil)
	s.status = status // $? of the next execution
	ses.finish(x, s, &e)
	res := Result{
		Status: status, Limit: x.limitHit(), Internal: x.panic, Exited: exited,
		Steps: x.steps.Load() + s.ticks&63, Output: x.produced.Load(), Dir: s.dir,
	}
	res.Canceled = canceled && res.Limit == nil
	if res.Limit != nil {
		res.Status = limitStatus(res.Limit)
		if e.Stderr != nil {
			io.WriteString(e.Stderr, s.arg0+": "+res.Limit.Error()+"\n")
		}
	}
	return res
}

// begin readies the session's state for an execution.
func (ses *Session) begin(x *execution, e *Execution) *state {
	s := ses.main
	if s == nil {
		s = newState(ses.sh, ses)
		s.x = x
		s.importEnv(ses.opts.Env)
		s.arg0, s.umask = ses.opts.Name, ses.opts.Umask
		ses.main = s
		ses.open(x, s, ses.opts.Dir)
		s.initVariables()
	}
	s.x = x
	if s.arg0 = ses.opts.Name; e.Name != "" {
		s.arg0 = e.Name
	}
	p := &process{x: x, pid: ses.pid, args: []string{s.arg0}, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	p.group, p.ppid = p.pid, 1
	x.enter(p)
	s.p, s.walk = p, nil
	s.invocation = "c"
	var mu sync.Mutex
	s.fds = nil
	s.setFD(0, newSource(x, e.Stdin))
	out, errs := e.Stdout, e.Stderr
	if out == nil {
		out = io.Discard
	}
	if errs == nil {
		errs = io.Discard
	}
	s.setFD(1, newOpenFile(&sink{mu: &mu, w: out, x: x}, "stdout", false, true))
	s.setFD(2, newOpenFile(&sink{mu: &mu, w: errs, x: x}, "stderr", false, true))
	for _, kv := range e.Env {
		s.importVariable(kv)
	}
	s.params = e.Params
	s.restoreTraps()
	return s
}

// open enters the session's first directory.
func (ses *Session) open(x *execution, s *state, dir string) {
	w := vfs.NewWalker(x.fs, &vfs.Op{Ctx: x.ctx, Cred: ses.sh.cfg.Cred})
	a, err := w.Stat(dir)
	if err != nil || !a.IsDir() {
		dir, a.Ino = "/", vfs.RootIno
	}
	s.enter(cleanPath(dir), a.Ino)
}

// restoreTraps tells the new process which signals the session's traps mean.
func (s *state) restoreTraps() {
	for n, text := range s.traps {
		if n > 0 && n <= 64 {
			s.setTrap(n, text, false)
		}
	}
}

// runMain runs the execution's script or command as the main shell. exited says
// that it did not come to its end.
func (s *state) runMain(e *Execution) (status int, exited bool) {
	s.stopped = false
	s.ctl, s.loops, s.depth, s.noErrexit, s.evals, s.sources = ctlNone, 0, 0, 0, 0, 0
	s.line = 0
	s.startTime = s.now().UnixNano()
	status = s.protect(func(s *state) {
		ended := false
		defer func() {
			name, _, _ := strings.Cut(s.commandText(), " ")
			exited = !ended && (name == "exit" || s.opts.on(optErrexit))
		}()
		if e.Dir != "" {
			if err := s.chdir(e.Dir, false); err != nil {
				s.errorf("cd: %s: %s", e.Dir, command.Strerror(err))
				s.exit(1)
			}
		}
		if len(e.Args) > 0 {
			s.line = 0
			s.status = s.runCommandWords(e.Args)
			ended = true
			return
		}
		s.change("BASH_EXECUTION_STRING").str = e.Script
		s.vars["BASH_EXECUTION_STRING"].set = true
		if strings.TrimSpace(e.Script) == "" {
			s.status = 0 // of no command at all
		}
		s.runText(e.Script, 1, "-c")
		if s.p.pending.Load() != 0 { // a signal that came with the last command
			s.runPending()
		}
		ended = true
	})
	return status, exited
}

// finish ends what the execution left running and readies the state for the
// next.
func (ses *Session) finish(x *execution, s *state, e *Execution) {
	s.closeFDs()
	x.settle(e.Grace)
	if c, ok := e.Stdin.(io.Closer); ok {
		c.Close()
	}
	x.end()
	s.p.exit(0)
	s.jobs = jobTable{}
	s.procFDs = nil
	s.frames, s.scope = nil, 0
	s.share()
	s.leaked = false
	delete(s.ownTraps(), trapEXIT)
	if ses.closed {
		return
	}
	if s.ino != ses.pinned {
		if ses.pinned != 0 {
			ses.sh.cfg.FS.Unpin(ses.pinned)
		}
		ses.sh.cfg.FS.Pin(s.ino)
		ses.pinned = s.ino
	}
}

// settle waits for the processes of >(...) to take what was written to them,
// and for the grace time for others.
func (x *execution) settle(grace time.Duration) {
	if grace == 0 {
		grace = DefaultGrace
	}
	ended := make(chan struct{})
	command.Go(func() {
		x.running.Wait()
		close(ended)
	})
	select {
	case <-ended:
		return
	default:
	}
	x.mu.Lock()
	var outputs []*process
	for _, p := range x.procs {
		if p.output {
			outputs = append(outputs, p)
		}
	}
	x.mu.Unlock()
	for _, p := range outputs {
		select {
		case <-p.done:
		case <-x.ctx.Done():
			return
		}
	}
	if grace < 0 {
		return
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-ended:
	case <-t.C:
	case <-x.ctx.Done():
	}
}

// Close gives up what the session holds: its working directory. It waits for a
// running execution to end.
func (ses *Session) Close() {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.pinned != 0 {
		ses.sh.cfg.FS.Unpin(ses.pinned)
		ses.pinned = 0
	}
	ses.main, ses.closed = nil, true
}
