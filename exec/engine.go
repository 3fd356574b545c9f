package exec

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/shell"
	"github.com/vfsd/vfsd/vfs"
)

// Errors of an Engine.
var (
	ErrClosed   = errors.New("executions have ended here")
	ErrBusy     = errors.New("executions are running")
	ErrTooMany  = errors.New("too many executions are running")
	ErrNoSuch   = errors.New("no such execution")
	ErrNoInput  = errors.New("the execution was started without an input")
	ErrNotGiven = errors.New("neither a script nor a command was given")
)

// Options are what an Engine is made of. Only Open is required.
type Options struct {
	// Open returns a workspace's files; the same FS for as long as that is of
	// use. It is called for every execution.
	Open func(workspace string) (vfs.FS, error)
	// Origin is in the circumstances of every call to an FS.
	Origin vfs.Origin
	// Dir is the directory of records and outputs, made when it is needed.
	// "" means that nothing outlives the Engine's memory of it: only small
	// outputs can be read then.
	Dir string
	FS  hostfs.FS    // nil is the host's
	Log *slog.Logger // nil discards
	// Limits are those of executions that name none.
	Limits shell.Limits
	// MaxRunning bounds the executions at one time; 0 means 256.
	MaxRunning int
	// MaxSessions bounds the sessions with names; the longest idle one ends when
	// there are more. 0 means 1024.
	MaxSessions int
	// Keep and KeepBytes bound what is kept of executions that have ended; 0
	// means 1000 of them and 1 GiB.
	Keep      int
	KeepBytes int64
}

// Engine runs executions. It is safe for concurrent use.
type Engine struct {
	o    Options
	ctx  context.Context
	stop context.CancelCauseFunc
	all  sync.WaitGroup // executions

	mu       sync.Mutex
	closed   bool                    // guarded by mu
	lastID   int64                   // guarded by mu
	live     map[string]*Execution   // guarded by mu: that wait or run
	recent   []*Execution            // guarded by mu: that have ended, the newest last
	ended    int                     // guarded by mu: since files were pruned
	shells   map[place]*shellOf      // guarded by mu
	sessions map[sessionKey]*session // guarded by mu
}

// recentMax is how many ended executions are in memory; others are read again.
const recentMax = 64

// New returns an Engine. Close it in the end.
func New(o Options) *Engine {
	if o.FS == nil {
		o.FS = hostfs.OS{}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxRunning == 0 {
		o.MaxRunning = 256
	}
	if o.MaxSessions == 0 {
		o.MaxSessions = 1024
	}
	if o.Keep == 0 {
		o.Keep = 1000
	}
	if o.KeepBytes == 0 {
		o.KeepBytes = 1 << 30
	}
	e := &Engine{o: o, live: map[string]*Execution{}, shells: map[place]*shellOf{}, sessions: map[sessionKey]*session{}}
	e.ctx, e.stop = context.WithCancelCause(context.Background())
	return e
}

// Close kills what runs, waits for its end, and ends all sessions.
func (e *Engine) Close() error {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.stop(ErrClosed)
	e.all.Wait()
	e.endSessions(func(*session) bool { return true })
	return e.prune()
}

// Quiesce ends all idle sessions, so that nothing of the workspaces is in use
// here; ErrBusy when something runs.
func (e *Engine) Quiesce() error {
	if names := e.running(func(*Execution) bool { return true }); len(names) > 0 {
		return fmt.Errorf("%w: %s", ErrBusy, strings.Join(names, ", "))
	}
	e.endSessions(func(*session) bool { return true })
	return nil
}

// Sessions returns how many sessions with names there are.
func (e *Engine) Sessions() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.sessions)
}

// Forget ends the idle sessions of a workspace that is about to go; ErrBusy when
// something runs in it.
func (e *Engine) Forget(workspace string) error {
	if names := e.running(func(x *Execution) bool { return x.place.workspace == workspace }); len(names) > 0 {
		return fmt.Errorf("workspace %s: %w: %s", workspace, ErrBusy, strings.Join(names, ", "))
	}
	e.endSessions(func(s *session) bool { return s.key.workspace == workspace })
	return nil
}

// running returns the IDs of the executions that have not ended and that which
// says, in order.
func (e *Engine) running(which func(*Execution) bool) []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var ids []string
	for id, x := range e.live {
		if which(x) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

func (e *Engine) open(workspace string) (vfs.FS, error) {
	fs, err := e.o.Open(workspace)
	if err != nil {
		return nil, err
	}
	return fs, nil
}

// path is where an execution's files are, without what follows the ID.
func (e *Engine) path(id string) string { return filepath.Join(e.o.Dir, id) }

// Get returns an execution, running or ended; ErrNoSuch.
func (e *Engine) Get(id string) (*Execution, error) {
	e.mu.Lock()
	x := e.live[id]
	if i := slices.IndexFunc(e.recent, func(x *Execution) bool { return x.id == id }); x == nil && i >= 0 {
		x = e.recent[i]
	}
	e.mu.Unlock()
	if x != nil {
		return x, nil
	}
	if !ValidID(id) || e.o.Dir == "" {
		return nil, fmt.Errorf("%w: %q", ErrNoSuch, id)
	}
	s, err := readRecord(e.o.FS, e.path(id)+recordSuffix)
	if err != nil || s.ID != id {
		return nil, fmt.Errorf("%w: %s", ErrNoSuch, id)
	}
	x = &Execution{e: e, id: id, out: reopenOutput(e.o.FS, e.path(id), s), done: make(chan struct{}), rec: s.Record}
	close(x.done)
	return x, nil
}

// List returns the records of all executions that are kept, oldest first;
// workspace "" means of all.
func (e *Engine) List(workspace string) ([]Record, error) {
	byID := map[string]Record{}
	if e.o.Dir != "" {
		files, err := listKept(e.o.FS, e.o.Dir)
		if err != nil {
			return nil, err
		}
		for _, k := range files {
			s, err := readRecord(e.o.FS, e.path(k.id)+recordSuffix)
			if err != nil {
				e.o.Log.Warn("a record of an execution cannot be read", "id", k.id, "err", err)
				continue
			}
			byID[k.id] = s.Record
		}
	}
	e.mu.Lock()
	for _, x := range e.recent {
		byID[x.id] = x.Record()
	}
	for id, x := range e.live {
		byID[id] = x.Record()
	}
	e.mu.Unlock()
	all := make([]Record, 0, len(byID))
	for _, r := range byID {
		if workspace == "" || r.Workspace == workspace {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Record) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// pruneEvery is after how many executions files are looked through.
const pruneEvery = 64

// retire moves an execution that has ended to the recent ones.
func (e *Engine) retire(x *Execution) {
	e.mu.Lock()
	delete(e.live, x.id)
	e.recent = append(e.recent, x)
	if len(e.recent) > recentMax {
		e.recent = slices.Delete(e.recent, 0, len(e.recent)-recentMax)
	}
	if !e.inUse(x.place) {
		delete(e.shells, x.place)
	}
	e.ended++
	due := e.ended%pruneEvery == 0
	e.mu.Unlock()
	if due {
		if err := e.prune(); err != nil {
			e.o.Log.Warn("old executions cannot be removed", "err", err)
		}
	}
}

// prune removes the oldest executions beyond the bounds.
func (e *Engine) prune() error {
	if e.o.Dir == "" {
		return nil
	}
	files, err := listKept(e.o.FS, e.o.Dir)
	if err != nil {
		return err
	}
	size := int64(0)
	for _, k := range files {
		size += k.size
	}
	var failed []error
	for i, k := range files {
		if len(files)-i <= e.o.Keep && size <= e.o.KeepBytes {
			break
		}
		e.mu.Lock()
		live := e.live[k.id] != nil
		e.mu.Unlock()
		if live {
			continue
		}
		for _, name := range k.names {
			if err := e.o.FS.Remove(name); err != nil {
				failed = append(failed, err)
			}
		}
		size -= k.size
		e.mu.Lock()
		e.recent = slices.DeleteFunc(e.recent, func(x *Execution) bool { return x.id == k.id })
		e.mu.Unlock()
	}
	return errors.Join(failed...)
}
