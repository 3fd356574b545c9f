package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/workspace"
)

// This file is the old process's side of a handover; heir.go is the new one's.

// upgradeOrder asks for a handover.
type upgradeOrder struct {
	program string
	args    []string
	done    chan<- upgraded // nil when nobody waits
}

type upgraded struct {
	res control.UpgradeResult
	err error
}

// self is the program's path when it was started; another may lie there later.
var self, _ = os.Executable()

// ownUpgrade is an order for what lies now where this program was started from,
// or for this program where nothing does.
func ownUpgrade() upgradeOrder {
	program := self
	if info, err := os.Stat(program); err != nil || !info.Mode().IsRegular() {
		program = "/proc/self/exe"
	}
	return upgradeOrder{program: program, args: os.Args[1:]}
}

func (d *Daemon) upgradeCall(ctx context.Context, r control.UpgradeRequest) (control.UpgradeResult, error) {
	if !d.serve {
		return control.UpgradeResult{}, control.Errorf(control.KindNoDaemon, "no daemon runs on %s: vfsctl up starts one", d.dir)
	}
	order := ownUpgrade()
	if r.Program != "" {
		if r.Program[0] != '/' {
			return control.UpgradeResult{}, control.Errorf(control.KindUsage, "upgrade to %q: it takes an absolute path", r.Program)
		}
		order.program, order.args = r.Program, r.Args
	}
	done := make(chan upgraded, 1)
	order.done = done
	select {
	case d.upgrades <- order:
	case <-ctx.Done():
		return control.UpgradeResult{}, ctx.Err()
	}
	u := <-done // it ends in any case
	return u.res, u.err
}

// How long the steps of a handover may take before it is given up.
const (
	helloPatience  = 20 * time.Second // the new process starts; all goes on meanwhile
	callsPatience  = 5 * time.Second  // calls under way end
	pausePatience  = 5 * time.Second  // requests under way are answered
	estatePatience = 30 * time.Second // the new process opens everything; requests wait
)

// upgrade hands everything to a new process, and reports whether that serves
// now. If not, this one does, as before.
func (d *Daemon) upgrade(ctx context.Context, l *control.Listener, order upgradeOrder, o RunOptions) bool {
	d.log.Info("handing over", "to", order.program)
	err := l.Pause()
	var res control.UpgradeResult
	if err == nil {
		res, err = d.handOver(ctx, l, &order, o)
	}
	if err != nil {
		if rerr := l.Resume(); rerr != nil {
			d.log.Error("the socket does not come back", "err", rerr)
		}
		d.note("not handed over to %s, and served on as before: %v", order.program, err)
	} else {
		d.log.Info("handed over", "pid", res.PID, "version", res.Version, "mounts", res.Mounts, "paused", time.Duration(res.Paused))
		d.server.Move()
	}
	if order.done != nil {
		order.done <- upgraded{res, err}
	}
	return err == nil
}

// depart ends a process that another has succeeded: whoever is connected still
// is sent there.
func (d *Daemon) depart(srv *http.Server) error {
	patience, cancel := context.WithTimeout(context.Background(), callPatience)
	defer cancel()
	if err := srv.Shutdown(patience); err != nil {
		return srv.Close()
	}
	return nil
}

func (d *Daemon) handOver(ctx context.Context, l *control.Listener, order *upgradeOrder, o RunOptions) (control.UpgradeResult, error) {
	d.mounting.Lock()
	defer d.mounting.Unlock()
	mounts := d.active()
	for _, a := range mounts {
		if !a.m.Capabilities().Handover {
			return control.UpgradeResult{}, control.Errorf(control.KindUnsupported,
				"the mount at %s has the driver %s, which cannot hand over: vfsctl down %s first", a.entry.MountPoint, a.entry.Driver, a.entry.MountPoint)
		}
	}
	heir, err := d.startHeir(order, l, mounts)
	if err != nil {
		return control.UpgradeResult{}, err
	}
	defer heir.talk.conn.Close()
	// What a checkpoint takes in now need not be replayed while requests wait.
	for _, a := range mounts {
		if w, err := d.data.Open(a.entry.Workspace); err == nil {
			if _, err := w.Checkpoint(ctx, workspace.CauseCheckpoint, ""); err != nil {
				d.log.Warn("checkpoint before a handover", "workspace", a.entry.Workspace, "err", err)
			}
		}
	}
	res := control.UpgradeResult{From: os.Getpid(), PID: heir.hello.PID, Version: heir.hello.Version, Mounts: len(mounts)}
	for _, a := range mounts {
		res.Handles += a.m.Stats().Handles
	}
	began := time.Now()
	hand, e, err := d.close(mounts, o)
	if err != nil {
		heir.kill()
		return res, err
	}
	if err := heir.take(e); err != nil {
		heir.kill()
		return res, errors.Join(err, d.reopen(ctx, hand, e, mounts))
	}
	res.Paused = int64(time.Since(began))
	for _, a := range mounts {
		a.m.Leave()
	}
	// Shared with the new process, whose it is alone from now on.
	if err := hand.Lock.Close(); err != nil {
		d.log.Warn("cannot close the lock", "err", err)
	}
	heir.inform(d, ctx)
	return res, nil
}

// close stops all service and closes the data directory. After an error
// everything goes on as before.
func (d *Daemon) close(mounts []*activeMount, o RunOptions) (*workspace.Handover, *estate, error) {
	patience, cancel := context.WithTimeout(context.Background(), callsPatience)
	defer cancel()
	if err := d.server.Hold(patience); err != nil {
		return nil, nil, err
	}
	var paused []*activeMount
	undo := func(err error) (*workspace.Handover, *estate, error) {
		for _, a := range paused {
			a.m.Continue()
		}
		d.server.Release()
		return nil, nil, err
	}
	// Sessions live in this process alone; they end, what runs must not.
	if err := d.exec.Quiesce(); err != nil {
		return undo(execError(err))
	}
	patience, cancelPause := context.WithTimeout(context.Background(), pausePatience)
	defer cancelPause()
	for _, a := range mounts {
		if err := a.m.Pause(patience); err != nil {
			return undo(control.Wrap(control.KindBusy, err))
		}
		paused = append(paused, a)
	}
	e := &estate{Dir: d.dir, Mounts: []estateMount{}, StopWait: o.StopWait}
	if o.Level != nil {
		e.Level = o.Level.Level()
	}
	d.mu.Lock()
	e.Notes = slices.Clone(d.notes)
	d.mu.Unlock()
	for _, a := range mounts {
		state, err := a.m.Export()
		if err != nil {
			return undo(err)
		}
		e.Mounts = append(e.Mounts, estateMount{Entry: a.entry, Since: a.since, State: state})
	}
	hand, err := d.data.HandOver()
	if err != nil {
		return undo(err)
	}
	e.Data = hand.State
	return hand, e, nil
}

// reopen takes everything back that close has given away.
func (d *Daemon) reopen(ctx context.Context, hand *workspace.Handover, e *estate, mounts []*activeMount) error {
	data, err := workspace.OpenDataDir(ctx, workspace.Options{Dir: d.dir, Log: d.log, Cache: d.cache, Handover: hand, Source: d.source})
	if err != nil {
		// Nothing can be served any more, and whoever waits must not for ever.
		for _, a := range mounts {
			a.m.Abort()
			a.m.Leave()
			close(a.gone)
		}
		d.mu.Lock()
		clear(d.mounts)
		d.mu.Unlock()
		d.server.Release()
		d.stopped.Do(func() { close(d.stop) })
		return fmt.Errorf("and the data directory cannot be opened again, so the daemon ends: %w", err)
	}
	d.data = data
	var failed []error
	for i, a := range mounts {
		f, err := a.m.Descriptor()
		if err == nil {
			err = d.takeMount(&e.Mounts[i], f)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("and the mount is lost: %w", err))
			a.m.Abort()
			d.mu.Lock()
			delete(d.mounts, a.entry.MountPoint)
			d.mu.Unlock()
		}
		a.m.Leave()
		close(a.gone)
	}
	for _, a := range d.active() {
		a.m.Continue()
		go d.await(a)
	}
	if len(failed) > 0 {
		d.saveTable()
	}
	d.data.DropUnheld()
	d.server.Release()
	return errors.Join(failed...)
}

// heir is the new process.
type heir struct {
	cmd   *exec.Cmd
	talk  *conversation
	hello heirHello
}

// startHeir starts the new process and waits until it knows what it is for.
func (d *Daemon) startHeir(order *upgradeOrder, l *control.Listener, mounts []*activeMount) (*heir, error) {
	pair, err := socketpair()
	if err != nil {
		return nil, fmt.Errorf("hand over: %w", err)
	}
	files := []*os.File{os.NewFile(uintptr(pair[1]), "handover")}
	defer func() {
		for _, f := range files {
			_ = f.Close() // a duplicate; the first is closed already
		}
	}()
	talk, err := converse(os.NewFile(uintptr(pair[0]), "handover"))
	if err != nil {
		return nil, fmt.Errorf("hand over: %w", err)
	}
	h := &heir{talk: talk}
	if files, err = d.heirlooms(files, l, mounts); err == nil {
		err = h.start(order, files)
	}
	if err != nil {
		talk.conn.Close()
		return nil, fmt.Errorf("hand over: %w", err)
	}
	return h, nil
}

// socketpair returns two connected sockets that no other process inherits.
func socketpair() ([2]int, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
	}
	return pair, err
}

func duplicate(fd uintptr, name string) (*os.File, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	dup, err := syscall.Dup(int(fd))
	if err != nil {
		return nil, err
	}
	syscall.CloseOnExec(dup)
	return os.NewFile(uintptr(dup), name), nil
}

// heirlooms adds duplicates of all that the new process inherits.
func (d *Daemon) heirlooms(files []*os.File, l *control.Listener, mounts []*activeMount) ([]*os.File, error) {
	f, err := duplicate(d.data.Lock().Fd(), "lock")
	if err != nil {
		return files, err
	}
	files = append(files, f)
	if f, err = l.File(); err != nil {
		return files, err
	}
	files = append(files, f)
	for _, a := range mounts {
		if f, err = a.m.Descriptor(); err != nil {
			return files, err
		}
		files = append(files, f)
	}
	return files, nil
}

func (h *heir) start(order *upgradeOrder, files []*os.File) error {
	h.cmd = exec.Command(order.program, order.args...)
	h.cmd.Dir = "/" // keeps no directory busy
	h.cmd.Stdout, h.cmd.Stderr = os.Stdout, os.Stderr
	h.cmd.ExtraFiles = files
	h.cmd.Env = append(slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, ReadyEnv+"=") || strings.HasPrefix(v, HandoverEnv+"=")
	}), HandoverEnv+"="+strconv.Itoa(len(files)))
	h.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := h.cmd.Start(); err != nil {
		return err
	}
	// Only the new process may hold its end: its death must be seen.
	if err := files[0].Close(); err != nil {
		h.kill()
		return err
	}
	m, err := h.hear(helloPatience)
	if err == nil && m.Hello == nil {
		err = errors.New("no greeting")
	}
	if err == nil && m.Hello.Handover != handoverVersion {
		err = control.Errorf(control.KindUnsupported, "version %s hands over by version %d, this one by %d: stop this daemon and start that one",
			m.Hello.Version, m.Hello.Handover, handoverVersion)
	}
	if err != nil {
		h.kill()
		return fmt.Errorf("%s is no daemon that can take over: %w", order.program, err)
	}
	h.hello = *m.Hello
	return nil
}

// hear waits for what the new process says; patience 0 is without end.
func (h *heir) hear(patience time.Duration) (heirMessage, error) {
	var m heirMessage
	deadline := time.Time{}
	if patience > 0 {
		deadline = time.Now().Add(patience)
	}
	if err := h.talk.conn.SetReadDeadline(deadline); err != nil {
		return m, err
	}
	if err := h.talk.dec.Decode(&m); err != nil {
		return m, fmt.Errorf("the new process said nothing: %w", err)
	}
	if m.Error != nil {
		return m, m.Error
	}
	return m, nil
}

// take gives the estate to the new process. After an error that has not
// answered a single request, once it is killed.
func (h *heir) take(e *estate) error {
	if err := h.talk.conn.SetWriteDeadline(time.Now().Add(estatePatience)); err != nil {
		return err
	}
	if err := h.talk.enc.Encode(ownerMessage{Estate: e}); err != nil {
		return fmt.Errorf("the new process does not listen: %w", err)
	}
	if m, err := h.hear(estatePatience); err != nil || !m.Ready {
		return errors.Join(err, fmt.Errorf("the new process is not ready"))
	}
	if err := h.talk.enc.Encode(ownerMessage{Go: true}); err != nil {
		return fmt.Errorf("the new process does not listen: %w", err)
	}
	// It says so before it answers the first request, so its death without a
	// word means that it has answered none. No patience: what it may have said
	// must be heard.
	if m, err := h.hear(0); err != nil || !m.Serving {
		return errors.Join(err, fmt.Errorf("the new process does not serve"))
	}
	return nil
}

// kill ends the new process and waits for its end.
func (h *heir) kill() {
	_ = h.cmd.Process.Kill() // it may have ended by itself
	_ = h.cmd.Wait()         // killed, as asked
}

// inform tells whoever looks after this process which one to look after now.
func (h *heir) inform(d *Daemon, ctx context.Context) {
	if socket := os.Getenv("NOTIFY_SOCKET"); socket != "" {
		if err := notifySystemd(socket, fmt.Sprintf("MAINPID=%d", h.hello.PID)); err != nil {
			d.log.Warn("cannot tell systemd of the new process", "err", err)
		}
	}
	// A signal that came meanwhile was for whoever serves.
	if ctx.Err() != nil {
		if err := h.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			d.log.Warn("cannot stop the new process", "err", err)
		}
	}
	if err := h.cmd.Process.Release(); err != nil {
		d.log.Warn("cannot let go of the new process", "err", err)
	}
}
