package daemon

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/vfsd/vfsd/exec"
	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// execName is the directory of executions in a data directory.
const execName = "exec"

// views are the files of workspaces as executions see them, each made once for
// as long as the workspace is open.
type views struct {
	mu  sync.Mutex
	all map[string]view // guarded by mu
}

type view struct {
	w  *workspace.Workspace
	fs vfs.FS
}

func (v *views) of(w *workspace.Workspace) vfs.FS {
	v.mu.Lock()
	defer v.mu.Unlock()
	x, ok := v.all[w.Name()]
	if !ok || x.w != w {
		x = view{w, w.Browse()}
		v.all[w.Name()] = x
	}
	return x.fs
}

// startExec makes the engine of executions.
func (d *Daemon) startExec() {
	v := &views{all: map[string]view{}}
	d.exec = exec.New(exec.Options{
		Open: func(name string) (vfs.FS, error) {
			w, err := d.data.Open(name)
			if err != nil {
				return nil, err
			}
			return v.of(w), nil
		},
		Dir: filepath.Join(d.dir, execName), Log: d.log, Origin: vfs.Origin(d.origins.Add(1)),
	})
}

// registerExec says who answers what of executions.
func (d *Daemon) registerExec() {
	s := d.server
	control.ExecStream.Serve(s, d.execute)
	control.ExecFollow.Serve(s, d.execFollow)
	control.ExecInputCall.Serve(s, d.execInput)
	control.ExecKillCall.Serve(s, d.execKill)
	control.ExecsCall.Serve(s, d.execs)
	control.SessionCall.Serve(s, d.session)
	control.SessionEndCall.Serve(s, d.sessionEnd)
}

// execRequest is a request in the words of package exec.
func execRequest(r *control.ExecRequest) exec.Request {
	l := &r.Limits
	return exec.Request{
		Workspace: r.Workspace, Session: r.Session, UID: r.UID, GID: r.GID,
		Script: control.Name(r.Script, r.ScriptBytes), Name: r.Name, Params: control.ListNames(r.Params, r.ParamsBytes),
		Args: control.ListNames(r.Args, r.ArgsBytes), Dir: control.Name(r.Dir, r.DirBytes),
		Env: control.ListNames(r.Env, r.EnvBytes), Input: r.Input, Paced: !r.Detach,
		Limits: shell.Limits{
			Time: time.Duration(l.Time), Steps: l.Steps, Depth: int(l.Depth), Output: l.Output, Memory: l.Memory,
			OpenFiles: int(l.OpenFiles), FileSize: l.FileSize, Processes: int(l.Processes),
		},
	}
}

func (d *Daemon) execute(ctx context.Context, r control.ExecRequest, sink control.Sink[control.ExecEvent]) (control.Execution, error) {
	if !d.serve && (r.Detach || r.Session != "") {
		return control.Execution{}, control.Errorf(control.KindNoDaemon, "a session, and what is detached, take a daemon: vfsctl up starts one")
	}
	x, err := d.exec.Start(execRequest(&r))
	if err != nil {
		return control.Execution{}, execError(err)
	}
	if r.Detach {
		return wireExecution(x.Record()), nil
	}
	stop := context.AfterFunc(ctx, x.Kill)
	defer stop()
	sink.Item(control.ExecEvent{Kind: control.ExecBegun, ID: x.ID()})
	done := make(chan struct{})
	told := command.Go(func() {
		select {
		case <-x.Wants():
			sink.Item(control.ExecEvent{Kind: control.ExecWants, ID: x.ID()})
		case <-done:
		}
	})
	defer func() {
		close(done)
		<-told
	}()
	if err := x.Pace(ctx, sendEvents(sink)); err != nil {
		x.Kill()
		return control.Execution{}, execError(err)
	}
	rec, err := x.Wait(ctx)
	return wireExecution(rec), err
}

// sendEvents hands output on to a client.
func sendEvents(sink control.Sink[control.ExecEvent]) func(exec.Event) error {
	return func(ev exec.Event) error {
		e := control.ExecEvent{Pos: ev.Pos, Data: ev.Data, Lost: ev.Lost}
		switch ev.Stream {
		case exec.Stdout:
			e.Kind = control.ExecStdout
		case exec.Stderr:
			e.Kind = control.ExecStderr
		default:
			e.Kind = control.ExecGap
		}
		sink.Item(e)
		return nil
	}
}

func (d *Daemon) execFollow(ctx context.Context, r control.ExecFollowRequest, sink control.Sink[control.ExecEvent]) (control.Execution, error) {
	x, err := d.exec.Get(r.ID)
	if err != nil {
		return control.Execution{}, execError(err)
	}
	sink.Item(control.ExecEvent{Kind: control.ExecBegun, ID: x.ID(), Pos: max(r.From, 0)})
	if r.Now {
		err = x.Read(ctx, r.From, sendEvents(sink))
		return wireExecution(x.Record()), execError(err)
	}
	if err := x.Follow(ctx, r.From, sendEvents(sink)); err != nil {
		return control.Execution{}, execError(err)
	}
	rec, err := x.Wait(ctx)
	return wireExecution(rec), err
}

func (d *Daemon) execInput(ctx context.Context, r control.ExecInputRequest) (control.ExecInputResult, error) {
	x, err := d.exec.Get(r.ID)
	if err != nil {
		return control.ExecInputResult{}, execError(err)
	}
	reads, err := x.Feed(ctx, r.Data)
	if err == nil && r.End {
		x.EndInput()
	}
	return control.ExecInputResult{Reads: reads}, execError(err)
}

func (d *Daemon) execKill(_ context.Context, r control.ExecKillRequest) (control.Execution, error) {
	x, err := d.exec.Get(r.ID)
	if err != nil {
		return control.Execution{}, execError(err)
	}
	sig := command.SIGKILL
	if r.Signal != "" {
		var ok bool
		if sig, ok = command.ParseSignal(r.Signal); !ok || sig <= 0 {
			return control.Execution{}, control.Errorf(control.KindUsage, "no signal %q: it takes a name as INT, TERM or KILL, or a number", r.Signal)
		}
	}
	x.Signal(sig)
	return wireExecution(x.Record()), nil
}

func (d *Daemon) execs(_ context.Context, r control.ExecsRequest) (control.Execs, error) {
	all, err := d.exec.List(r.Workspace)
	if err != nil {
		return control.Execs{}, err
	}
	res := control.Execs{Executions: []control.Execution{}}
	for _, rec := range all {
		res.Executions = append(res.Executions, wireExecution(rec))
	}
	return res, nil
}

func (d *Daemon) session(ctx context.Context, r control.SessionRequest) (control.SessionResult, error) {
	if r.Session == "" {
		return control.SessionResult{}, control.Errorf(control.KindUsage, "session: it takes a name")
	}
	if !d.serve {
		return control.SessionResult{}, control.Errorf(control.KindNoDaemon, "sessions take a daemon: vfsctl up starts one")
	}
	req := exec.Request{Workspace: r.Workspace, Session: r.Session, UID: r.UID, GID: r.GID, Dir: r.Dir}
	var res control.SessionResult
	if r.Prompt != "" {
		var err error
		if res.Prompt, err = d.exec.Prompt(ctx, req, r.Prompt, r.Fallback); err != nil {
			return res, execError(err)
		}
	}
	if r.Complete {
		from, words, err := d.exec.Complete(ctx, req, control.Name(r.Line, r.LineBytes))
		if err != nil {
			return res, execError(err)
		}
		res.From = from
		for _, word := range words {
			res.Words = append(res.Words, []byte(word))
		}
	}
	return res, nil
}

func (d *Daemon) sessionEnd(_ context.Context, r control.SessionEndRequest) (control.Empty, error) {
	was, err := d.exec.EndSession(r.Workspace, r.UID, r.GID, r.Session)
	if err == nil && !was {
		err = control.Errorf(control.KindNotFound, "workspace %s has no session %s", r.Workspace, r.Session)
	}
	return control.Empty{}, execError(err)
}

// execError gives errors of package exec their kind, and the way out.
func execError(err error) error {
	for _, k := range []struct {
		err  error
		kind control.Kind
		way  string
	}{
		{exec.ErrNoSuch, control.KindNotFound, "vfsctl execs lists those that are kept"},
		{exec.ErrBusy, control.KindBusy, "vfsctl exec --kill ID ends one"},
		{exec.ErrTooMany, control.KindBusy, "vfsctl execs lists them, vfsctl exec --kill ID ends one"},
		{exec.ErrClosed, control.KindInterrupted, "the daemon stops"},
		{exec.ErrNoInput, control.KindUsage, "start it with an input"},
		{exec.ErrNotGiven, control.KindUsage, "give -c SCRIPT, or -- COMMAND"},
	} {
		if errors.Is(err, k.err) {
			return control.Errorf(k.kind, "%w; %s", err, k.way)
		}
	}
	return err
}

func wireExecution(r exec.Record) control.Execution {
	text, dir := string(r.Command), string(r.Dir)
	return control.Execution{
		ID: r.ID, Workspace: r.Workspace, Session: r.Session, Command: text, UID: r.UID, State: string(r.State),
		Started: r.Started, Ended: r.Ended, Status: r.Status, Limit: r.Limit, Canceled: r.Canceled, Exited: r.Exited, Steps: r.Steps,
		Output: r.Output, Dir: dir, Error: r.Error, Unkept: r.Unkept,
		CommandBytes: control.Bytes(text), DirBytes: control.Bytes(dir),
	}
}
