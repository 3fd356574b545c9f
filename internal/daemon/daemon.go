package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/exec"
	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/replica"
	"github.com/vfsd/vfsd/workspace"
)

// Version is what vfsd and vfsctl call themselves.
const Version = "0.1.0"

// Options say which data directory to keep and how.
type Options struct {
	Dir   string
	Log   *slog.Logger // nil discards
	Cache int64        // bytes, as workspace.Options has it
	// Serve makes it a daemon: it takes up the mounts of one that died, and
	// mounts. Otherwise it answers what takes no mount.
	Serve bool
}

// Daemon is an open data directory with its mounts.
type Daemon struct {
	dir     string
	log     *slog.Logger
	cache   int64
	data    *workspace.DataDir // replaced by a handover that fails, while no call is answered
	server  *control.Server
	exec    *exec.Engine
	serve   bool
	started time.Time
	origins atomic.Uint64 // of mounts, the last given out
	// wasteful is whether something was removed since the last collection.
	wasteful atomic.Bool
	stop     chan struct{} // closed when a client asked for the end
	stopped  sync.Once
	upgrades chan upgradeOrder // to Run

	mounting sync.Mutex // held while mounts change

	tableMu sync.Mutex // held while the table is written

	mu     sync.Mutex
	coming *tableEntry             // about to be mounted; guarded by mu
	mounts map[string]*activeMount // by mount point; guarded by mu
	left   []tableEntry            // of a daemon that died, not taken up; guarded by mu
	notes  []string                // guarded by mu

	remotes       remotes
	shares        shares
	checkouts     checkouts
	sessions      sessions
	local, public *replica.Server
	peerAddresses []string // where it listens for peers; guarded by mu
}

// maxNotes is how many notes a status holds; older ones are in the log.
const maxNotes = 50

// Open opens the data directory, made if it is missing. Close it in the end.
func Open(ctx context.Context, o Options) (*Daemon, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if err := CheckDir(dir); err != nil {
		return nil, err
	}
	d := newDaemon(o)
	data, err := workspace.OpenDataDir(ctx, workspace.Options{Dir: dir, Log: o.Log, Cache: o.Cache, Source: d.source})
	if err != nil {
		return nil, Classify(dirAdvice(dir, err))
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real // what mount points are compared with
	}
	d.begin(dir, data)
	d.left = d.loadTable()
	if d.serve {
		d.takeUp(ctx)
	}
	return d, nil
}

func newDaemon(o Options) *Daemon {
	return &Daemon{log: o.Log, cache: o.Cache, serve: o.Serve, started: time.Now(),
		mounts: map[string]*activeMount{}, stop: make(chan struct{}), upgrades: make(chan upgradeOrder)}
}

// begin has the daemon answer for a data directory that is open.
func (d *Daemon) begin(dir string, data *workspace.DataDir) {
	d.dir, d.data = dir, data
	d.server = control.NewServer(d.log, Classify)
	d.startExec()
	d.register()
}

// source returns where the promised chunks of a workspace are.
func (d *Daemon) source(name string) workspace.Source { return source{d, name} }

// Handler answers the calls.
func (d *Daemon) Handler() http.Handler { return d.server }

// Dir returns the data directory's real path.
func (d *Daemon) Dir() string { return d.dir }

// StopRequested is closed when a client asked the daemon to stop.
func (d *Daemon) StopRequested() <-chan struct{} { return d.stop }

// Close kills all executions, unmounts everything, taking mounts from their
// users when patience ends, then checkpoints and closes all workspaces.
func (d *Daemon) Close(patience context.Context) error {
	d.sessions.close()
	err := d.exec.Close()
	err = errors.Join(err, d.unmountAll(patience, true))
	return errors.Join(err, d.data.Close())
}

// Uncheckpointed says what it means that Close failed: a workspace could not be
// checkpointed, or a file not be closed.
func Uncheckpointed(err error) string { return uncheckpointed(err) }

// note keeps a line for the status, and logs it.
func (d *Daemon) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	d.log.Warn(text)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.notes = append(d.notes, text)
	if n := len(d.notes) - maxNotes; n > 0 {
		d.notes = d.notes[n:]
	}
}

// CheckDir reports why a directory cannot be this user's data directory: it is
// of another user, not vfsd's, or of a newer version. One that is missing can.
// It changes nothing.
func CheckDir(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return Classify(dirAdvice(dir, fmt.Errorf("data directory %s: %w", dir, err)))
	}
	if !info.IsDir() {
		return control.Errorf(control.KindNotOurs, "data directory %s: it is no directory; choose another with --data", dir)
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return control.Errorf(control.KindPermission,
			"data directory %s: it belongs to %s and you are %s; run as its owner, or choose another with --data",
			dir, userName(st.Uid), userName(uint32(os.Geteuid())))
	}
	if err := workspace.CheckFormat(hostfs.OS{}, dir); err != nil {
		return Classify(dirAdvice(dir, fmt.Errorf("data directory %s: %w", dir, err)))
	}
	return nil
}

// dirAdvice adds the way out to what the host says about a data directory.
func dirAdvice(dir string, err error) error {
	switch {
	case errors.Is(err, workspace.ErrInUse):
		return fmt.Errorf("%w: a vfsctl command that takes long, or a daemon that hangs or whose %s was removed: wait for it, or end it; vfsctl doctor tells more", err, control.SocketName)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; make it writable, or choose another with --data", err)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return control.Errorf(control.KindNoSpace, "%w; make room on that disk, or choose another with --data", err)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run as its owner, or choose another with --data", err)
	}
	return err
}
