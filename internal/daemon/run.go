package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/vfsd/vfsd/internal/control"
)

// RunOptions are a daemon's.
type RunOptions struct {
	Options
	// StopWait bounds how long an orderly end waits for mounts that are in
	// use; then they are taken from their users. 0 means 5 s.
	StopWait time.Duration
	// Metrics is the TCP address to serve metrics on; "" serves none.
	Metrics string
	// Listen are the TCP addresses to listen for peers on.
	Listen []string
	// Ready hears once that calls are answered, or why they never will be.
	Ready func(error)
	// Level is the log's, if it goes along to a process that takes over.
	Level *slog.LevelVar
	// Upgrade asks for a handover to a new process of the same program; nil
	// never does.
	Upgrade <-chan os.Signal
}

// DefaultStopWait is how long an orderly end waits for mounts in use.
const DefaultStopWait = 5 * time.Second

// Run is a daemon's life: it returns when ctx ends or a client asked for the
// end, and everything is flushed, checkpointed and unmounted.
func Run(ctx context.Context, o RunOptions) error {
	if o.StopWait == 0 {
		o.StopWait = DefaultStopWait
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Ready == nil {
		o.Ready = func(error) {}
	}
	d, l, err := begin(ctx, &o)
	if err != nil {
		o.Ready(err)
		return err
	}
	stopServices, err := d.startServices(o)
	if err != nil {
		o.Ready(err)
		return errors.Join(err, l.Close(), d.closeNow(ctx))
	}
	calls, cancelCalls := context.WithCancel(context.Background())
	defer cancelCalls()
	srv := d.server.HTTP()
	srv.BaseContext = func(net.Listener) context.Context { return calls }
	served := make(chan error, 1)
	go func() { served <- srv.Serve(l) }()
	stopTending := d.startTending()
	o.Log.Info("ready", "pid", os.Getpid(), "version", Version, "data", d.dir)
	o.Ready(nil)

	for going := true; going; {
		var order upgradeOrder
		select {
		case <-ctx.Done():
			o.Log.Info("stopping: a signal asked for it")
			going = false
		case <-d.StopRequested():
			o.Log.Info("stopping: a client asked for it")
			going = false
		case err = <-served:
			err = fmt.Errorf("serve %s: %w", filepath.Join(d.dir, control.SocketName), err)
			going = false
		case <-o.Upgrade:
			order = ownUpgrade()
		case order = <-d.upgrades:
		}
		if order.program == "" {
			continue
		}
		stopTending()
		stopServices() // their addresses are the next process's
		if d.upgrade(ctx, l, order, o) {
			return d.depart(srv)
		}
		stopTending = d.startTending()
		if stopServices, err = d.startServices(o); err != nil {
			d.note("after a handover that failed: %v", err)
			stopServices, err = func() {}, nil
		}
	}
	cancelCalls()
	stopTending()
	stopServices()
	err = errors.Join(err, d.shutdown(srv, o))
	if err == nil {
		o.Log.Info("stopped")
	}
	return err
}

// begin opens the data directory and its socket, or takes them over.
func begin(ctx context.Context, o *RunOptions) (*Daemon, *control.Listener, error) {
	o.Serve = true
	if n := inheritedFiles(); n > 0 {
		return succeed(ctx, o, n)
	}
	d, err := Open(ctx, o.Options)
	if err != nil {
		return nil, nil, err
	}
	l, err := control.Listen(d.dir)
	if err != nil {
		err = Classify(dirAdvice(d.dir, fmt.Errorf("socket of data directory %s: %w", d.dir, err)))
		return nil, nil, errors.Join(err, d.closeNow(ctx))
	}
	return d, l, nil
}

// closeNow closes without waiting for users of the mounts.
func (d *Daemon) closeNow(ctx context.Context) error {
	now, cancel := context.WithCancel(ctx)
	cancel()
	return d.Close(now)
}

// startServices begins what is served beside the socket and the mounts. stop
// ends it, and every session of a peer, and waits.
func (d *Daemon) startServices(o RunOptions) (stop func(), err error) {
	d.startPeers()
	local, public := d.peers()
	stops := []func(){local.Close, public.Close, d.sessions.drain}
	stop = func() {
		for _, f := range slices.Backward(stops) {
			f()
		}
	}
	start := func(f func() (func(), error)) {
		if err != nil {
			return
		}
		var one func()
		if one, err = f(); err == nil {
			stops = append(stops, one)
		}
	}
	if len(o.Listen) > 0 {
		start(func() (func(), error) { return d.listenPeers(o.Listen) })
	}
	if o.Metrics != "" {
		start(func() (func(), error) { return d.serveMetrics(o.Metrics) })
	}
	if err != nil {
		stop()
	}
	return stop, err
}

// callPatience bounds how long calls under way may take to notice the end.
const callPatience = 5 * time.Second

// shutdown waits for the calls, whose context has ended, then ends the mounts
// and closes the data directory. The socket's name goes while the lock is held
// still.
func (d *Daemon) shutdown(srv *http.Server, o RunOptions) error {
	patience, cancel := context.WithTimeout(context.Background(), callPatience)
	defer cancel()
	err := control.RemoveSocket(d.dir)
	if serr := srv.Shutdown(patience); serr != nil {
		o.Log.Warn("calls under way were cut off", "err", serr)
		err = errors.Join(err, srv.Close())
	}
	users, cancelUsers := context.WithTimeout(context.Background(), o.StopWait)
	defer cancelUsers()
	return errors.Join(err, d.Close(users))
}

// LogName is the log that a daemon in the background writes, in the data
// directory; the one before it has the suffix ".1".
const LogName = "vfsd.log"

// logLimit is how large a log may be when a daemon starts to append to it.
const logLimit = 8 << 20

// OpenLog opens the log of a data directory for appending, after putting one
// that has grown too large aside.
func OpenLog(dir string) (*os.File, error) {
	name := filepath.Join(dir, LogName)
	if info, err := os.Stat(name); err == nil && info.Size() > logLimit {
		if err := os.Rename(name, name+".1"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

// NewLog returns a log that writes text for people to f.
func NewLog(f *os.File, level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewTextHandler(f, &slog.HandlerOptions{Level: level}))
}
