package exec

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// Request is what to run, where, and with what.
type Request struct {
	Workspace string
	// Session names the session; "" is one of its own.
	Session string
	// UID and GID are who runs it.
	UID, GID uint32
	// Script is run as by bash -c, with Name as $0, if it is set, and Params as
	// $1 and so on; or Args is a command line.
	Script string
	Name   string
	Params []string
	Args   []string
	// Dir is the working directory, "" the session's, or the root.
	Dir string
	// Env is added to the session's environment: NAME=value.
	Env []string
	// Input makes an input that Feed fills; without it the input is empty.
	Input bool
	// Limits of this execution; zero fields are the Engine's.
	Limits shell.Limits
	// Paced has the execution wait for the reader of Pace.
	Paced bool
}

// Execution is one run of a script. It is safe for concurrent use.
type Execution struct {
	e     *Engine
	id    string
	place place
	out   *output
	in    *input // nil without one
	turn  turn   // in its session, if that has a name
	done  chan struct{}

	ctx    context.Context // ends it
	cancel context.CancelCauseFunc
	ses    atomic.Pointer[shell.Session] // while it runs

	mu  sync.Mutex
	rec Record // guarded by mu
}

// errKilled is the cause of an end that was asked for.
var errKilled = errors.New("killed")

// Start begins an execution, which goes on until it ends, is killed, or the
// Engine is closed.
func (e *Engine) Start(r Request) (*Execution, error) {
	if r.Script == "" && len(r.Args) == 0 {
		return nil, ErrNotGiven
	}
	fs, err := e.open(r.Workspace)
	if err != nil {
		return nil, err
	}
	x, ses, own, err := e.admit(&r, fs)
	if err != nil {
		return nil, err
	}
	x.save(0, nil, nil)
	command.Go(func() {
		defer e.all.Done()
		// Keeps the workspace open.
		fs.Pin(vfs.RootIno)
		defer fs.Unpin(vfs.RootIno)
		x.run(&r, ses, own)
	})
	return x, nil
}

// admit enters an execution among those that live. Its session is ses, or own
// when nobody else can use it.
func (e *Engine) admit(r *Request, fs vfs.FS) (x *Execution, ses *session, own *shell.Session, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case e.closed:
		return nil, nil, nil, ErrClosed
	case len(e.live) >= e.o.MaxRunning:
		return nil, nil, nil, fmt.Errorf("%w: %d", ErrTooMany, len(e.live))
	}
	now := time.Now()
	id := ""
	id, e.lastID = newID(e.lastID, now)
	x = &Execution{e: e, id: id, place: place{r.Workspace, r.UID, r.GID}, done: make(chan struct{})}
	x.out = newOutput(e.o.FS, e.path(id), defaultCaps, r.Paced)
	if e.o.Dir == "" {
		x.out.failed = errNoDir
	}
	if r.Input {
		x.in = newInput()
	}
	x.ctx, x.cancel = context.WithCancelCause(e.ctx)
	text := r.Script
	if len(r.Args) > 0 {
		text = strings.Join(r.Args, " ")
	}
	x.rec = Record{ID: id, Workspace: r.Workspace, Session: r.Session, Command: []byte(text[:min(len(text), commandMax)]),
		UID: r.UID, State: Waiting, Started: now.UTC()}
	if r.Session != "" {
		ses = e.named(x.place, fs, r.Session, r.Dir)
		x.turn = ses.queue()
	} else {
		own = e.newSession(x.place, fs, "")
	}
	e.live[id] = x
	e.all.Add(1)
	return x, ses, own, nil
}

// errNoDir is why the output of an Engine without a directory is not kept.
var errNoDir = errors.New("there is no directory for it")

// run is the execution's goroutine. Its end is told when the session has it no
// more.
func (x *Execution) run(r *Request, named *session, own *shell.Session) {
	res := x.runIn(r, named, own)
	x.finish(&res)
}

// runIn runs the script in its session.
func (x *Execution) runIn(r *Request, named *session, own *shell.Session) shell.Result {
	res := shell.Result{Status: 128 + int(command.SIGKILL), Canceled: true}
	ses := own
	if named != nil {
		defer x.e.release(named)
		if x.turn.take(x.ctx) {
			ses = named.ses
			defer x.turn.done()
		}
	}
	if own != nil {
		defer own.Close()
	}
	if ses != nil && x.ctx.Err() == nil {
		x.setState(Running)
		x.ses.Store(ses)
		res = ses.Exec(x.ctx, x.execution(r))
		x.ses.Store(nil)
	} else if x.in != nil {
		x.in.Close()
	}
	return res
}

// execution is the request in the shell's words.
func (x *Execution) execution(r *Request) shell.Execution {
	se := shell.Execution{
		Script: r.Script, Name: r.Name, Params: r.Params, Args: r.Args, Dir: r.Dir, Env: r.Env, Limits: r.Limits,
		Stdout: &streamWriter{x, Stdout}, Stderr: &streamWriter{x, Stderr},
	}
	if x.in != nil {
		se.Stdin = x.in
	}
	return se
}

// streamWriter writes to the output of an execution.
type streamWriter struct {
	x      *Execution
	stream Stream
}

// Write does not wait: it is for what the shell says when all has ended.
func (w *streamWriter) Write(p []byte) (int, error) { return w.x.out.write(nil, w.stream, p) }

// WriteContext implements shell.ContextWriter.
func (w *streamWriter) WriteContext(ctx context.Context, p []byte) (int, error) {
	return w.x.out.write(ctx, w.stream, p)
}

// finish writes down how it ended, then tells.
func (x *Execution) finish(res *shell.Result) {
	segs, small, err := x.out.end()
	x.mu.Lock()
	r := &x.rec
	r.State, r.Ended, r.Status, r.Canceled = Ended, time.Now().UTC(), res.Status, res.Canceled
	r.Exited = res.Exited
	r.Steps, r.Output, r.Dir = res.Steps, segs[len(segs)-1].End, []byte(res.Dir)
	var l *shell.LimitError
	if errors.As(res.Limit, &l) {
		r.Limit = l.Limit
	}
	if res.Internal != nil {
		r.Error = res.Internal.Error()
		x.e.o.Log.Error("a defect of the shell", "execution", x.id, "err", res.Internal)
	}
	if err != nil {
		r.Unkept = err.Error()
		if !errors.Is(err, errNoDir) {
			x.e.o.Log.Warn("the output of an execution cannot be kept", "execution", x.id, "err", err)
		}
	}
	x.mu.Unlock()
	x.save(1, segs, small)
	x.cancel(nil)
	x.e.retire(x)
	close(x.done)
}

// save writes the record's line of its beginning (0) or its end (1). That it
// cannot is no reason not to run.
func (x *Execution) save(line int, segs []segment, small []byte) {
	if x.e.o.Dir == "" {
		return
	}
	name := x.e.path(x.id) + recordSuffix
	s := &stored{Record: x.Record(), Segments: segs, Small: small}
	err := x.e.o.FS.MkdirAll(x.e.o.Dir, 0o700)
	if err == nil {
		off := int64(0)
		if line > 0 {
			if info, serr := x.e.o.FS.Stat(name); serr == nil {
				off = info.Size()
			}
		}
		_, err = appendRecord(x.e.o.FS, name, off, s)
	}
	if err != nil {
		x.e.o.Log.Warn("the record of an execution cannot be written", "execution", x.id, "err", err)
	}
}

func (x *Execution) setState(s State) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rec.State = s
}

// ID names the execution.
func (x *Execution) ID() string { return x.id }

// Record returns what is known of it now.
func (x *Execution) Record() Record {
	x.mu.Lock()
	r := x.rec
	x.mu.Unlock()
	if r.State == Running || r.State == Waiting {
		x.out.mu.Lock()
		r.Output = x.out.last().End
		x.out.mu.Unlock()
	}
	return r
}

// Wait waits for the end.
func (x *Execution) Wait(ctx context.Context) (Record, error) {
	select {
	case <-x.done:
		return x.Record(), nil
	case <-ctx.Done():
		return x.Record(), ctx.Err()
	}
}

// Follow hands the output from a position on to f, until the execution has
// ended and all is told, ctx ends, or f returns an error.
func (x *Execution) Follow(ctx context.Context, from int64, f func(Event) error) error {
	return x.out.follow(ctx, from, true, false, f)
}

// Read hands on what output there is from a position on, and waits for nothing.
func (x *Execution) Read(ctx context.Context, from int64, f func(Event) error) error {
	return x.out.follow(ctx, from, false, false, f)
}

// Pace follows from the beginning, and the execution, if it is Paced, waits for
// it. Afterwards it waits for nobody.
func (x *Execution) Pace(ctx context.Context, f func(Event) error) error {
	defer x.out.unpace()
	return x.out.follow(ctx, 0, true, true, f)
}

// Feed gives bytes to the input and waits until there is room for them. It
// reports false when the execution reads no more.
func (x *Execution) Feed(ctx context.Context, p []byte) (reads bool, err error) {
	select {
	case <-x.done:
		return false, nil
	default:
	}
	if x.in == nil {
		return false, ErrNoInput
	}
	return x.in.feed(ctx, p)
}

// Wants returns a channel that is closed when the execution reads from its input
// for the first time; nil when it has none.
func (x *Execution) Wants() <-chan struct{} {
	if x.in == nil {
		return nil
	}
	return x.in.wants
}

// EndInput says that the input ends here.
func (x *Execution) EndInput() {
	if x.in != nil {
		x.in.end()
	}
}

// Kill ends the execution, whatever it does. It does not wait for the end.
func (x *Execution) Kill() {
	if x.cancel != nil {
		x.cancel(errKilled)
	}
}

// Signal sends a signal to the script and the commands that run for it, as a
// terminal does. SIGKILL is Kill. One that only waits for its session ends.
func (x *Execution) Signal(sig command.Signal) {
	ses := x.ses.Load()
	if sig == command.SIGKILL || ses == nil {
		x.Kill()
		return
	}
	ses.Signal(sig)
}

// Run runs a request to its end with the caller's streams; stdin may be nil.
// When ctx ends, the execution is killed.
func (e *Engine) Run(ctx context.Context, r Request, stdin io.Reader, stdout, stderr io.Writer) (Record, error) {
	r.Paced, r.Input = true, stdin != nil
	x, err := e.Start(r)
	if err != nil {
		return Record{}, err
	}
	stop := context.AfterFunc(ctx, x.Kill)
	defer stop()
	if stdin != nil {
		command.Go(func() { x.pump(stdin) })
	}
	err = x.Pace(context.WithoutCancel(ctx), func(ev Event) error {
		w := stdout
		if ev.Stream == Stderr {
			w = stderr
		}
		_, err := w.Write(ev.Data)
		return err
	})
	if err != nil {
		x.Kill()
	}
	rec, _ := x.Wait(context.WithoutCancel(ctx))
	return rec, err
}

// pump feeds the input from a reader until either side is done.
func (x *Execution) pump(from io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if reads, ferr := x.Feed(x.ctx, buf[:n]); !reads || ferr != nil {
				return
			}
		}
		if err != nil {
			x.EndInput()
			return
		}
	}
}
