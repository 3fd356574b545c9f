package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// activeMount is a mount that this daemon serves.
type activeMount struct {
	entry tableEntry
	m     mount.Mounted
	since time.Time
	gone  chan struct{} // closed when it has ended and is in no list any more
}

func (a *activeMount) wire() control.Mount {
	s := a.m.Stats()
	return control.Mount{
		Workspace: a.entry.Workspace, MountPoint: a.entry.MountPoint, State: control.Mounted,
		Driver: a.entry.Driver, AllowOther: a.entry.AllowOther, ReadOnly: a.entry.ReadOnly,
		Since: a.since, Inodes: s.Inodes, Handles: s.Handles, MountPointBytes: control.Bytes(a.entry.MountPoint),
	}
}

// takeUp replaces the mounts that a daemon which died left behind by new ones.
// A dead mount stays where it is until the new one is there, so that nothing is
// written to the directory that it covers.
func (d *Daemon) takeUp(ctx context.Context) {
	d.mounting.Lock()
	defer d.mounting.Unlock()
	d.mu.Lock()
	left := d.left
	d.left = nil
	d.mu.Unlock()
	for _, e := range left {
		if _, err := d.mountLocked(ctx, e, false, 0, 0); err != nil {
			d.note("workspace %s was mounted at %s when the daemon died and is not now: %v", e.Workspace, e.MountPoint, err)
			continue
		}
		d.note("mounted workspace %s at %s again, as it was when the daemon died", e.Workspace, e.MountPoint)
	}
	if len(left) > 0 {
		d.saveTable()
	}
}

// mount mounts a workspace.
func (d *Daemon) mount(ctx context.Context, r control.MountRequest) (control.MountResult, error) {
	if !d.serve {
		return control.MountResult{}, control.Errorf(control.KindNoDaemon, "mounting takes a daemon: vfsctl up starts one")
	}
	if err := workspace.ValidName(r.Workspace); err != nil {
		return control.MountResult{}, err
	}
	r.MountPoint = control.Name(r.MountPoint, r.MountPointBytes)
	if err := d.checkPlace(r.MountPoint); err != nil {
		return control.MountResult{}, err
	}
	e := tableEntry{
		Workspace: r.Workspace, MountPoint: filepath.Clean(r.MountPoint), Driver: r.Driver,
		AllowOther: r.AllowOther, ReadOnly: r.ReadOnly,
	}
	if e.Driver == "" {
		e.Driver = mount.DefaultDriver
	}
	d.mounting.Lock()
	defer d.mounting.Unlock()
	if err := d.settle(ctx, e.MountPoint); err != nil {
		return control.MountResult{}, err
	}
	if a := d.mountedAt(e.MountPoint); a != nil {
		if a.entry == e {
			return control.MountResult{Mount: a.wire(), Already: true}, nil
		}
		return control.MountResult{}, control.Errorf(control.KindBusy, "mount %s: workspace %s is mounted there%s: vfsctl down %s first",
			e.MountPoint, a.entry.Workspace, otherwise(a.entry, e), control.Word(e.MountPoint))
	}
	return d.mountLocked(ctx, e, r.Create, r.UID, r.GID)
}

// otherwise tells two mounts of one workspace apart.
func otherwise(a, b tableEntry) string {
	if a.Workspace != b.Workspace {
		return ""
	}
	return " with other options"
}

// settle waits for the end of a mount that somebody else has just unmounted.
// mounting is held.
func (d *Daemon) settle(ctx context.Context, mountPoint string) error {
	a := d.mountedAt(mountPoint)
	if a == nil || slices.ContainsFunc(mount.List(), func(l mount.Listed) bool { return l.MountPoint == mountPoint }) {
		return nil
	}
	select {
	case <-a.gone:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// mountLocked mounts e. mounting is held.
func (d *Daemon) mountLocked(ctx context.Context, e tableEntry, create bool, uid, gid uint32) (control.MountResult, error) {
	var none control.MountResult
	if err := d.checkPlace(e.MountPoint); err != nil {
		return none, err
	}
	for _, a := range d.active() {
		if a.entry.Workspace == e.Workspace {
			return none, control.Errorf(control.KindBusy,
				"workspace %s is mounted at %s: one mount a workspace, so that locks and caches agree; mount --bind shows it elsewhere too, or name another workspace", e.Workspace, a.entry.MountPoint)
		}
	}
	// Looked at before a workspace is made for it. The placeholder is never
	// called.
	real, err := mount.Preflight(mount.Options{FS: struct{ vfs.FS }{}, MountPoint: e.MountPoint, AllowOther: e.AllowOther, Replace: true})
	if err != nil {
		return none, cannotMount(err)
	}
	e.MountPoint = real
	if err := d.checkPlace(real); err != nil {
		return none, err
	}
	w, created, err := d.openOrCreate(ctx, e.Workspace, create, uid, gid)
	if err != nil {
		return none, err
	}
	dead := isDead(e.MountPoint)
	a, err := d.attach(w, e)
	if err == nil && dead {
		d.note("cleared the dead mount at %s, left by a daemon that died", e.MountPoint)
	}
	if err != nil {
		if created {
			err = errors.Join(err, d.data.Remove(e.Workspace)) // nobody has had it
		}
		return none, err
	}
	return control.MountResult{Mount: a.wire(), Created: created}, nil
}

// isDead reports whether a mount of vfsd's that nobody serves is at mountPoint.
func isDead(mountPoint string) bool {
	return slices.ContainsFunc(mount.List(), func(l mount.Listed) bool { return l.MountPoint == mountPoint }) && mount.IsDead(mountPoint)
}

// cannotMount gives a kind to what mount says of this machine.
func cannotMount(err error) error {
	if e := Classify(err); e.Kind != control.KindInternal {
		return e
	}
	return control.Wrap(control.KindUnsupported, err)
}

func (d *Daemon) openOrCreate(ctx context.Context, name string, create bool, uid, gid uint32) (w *workspace.Workspace, created bool, err error) {
	w, err = d.data.Open(name)
	if !create || !errors.Is(err, workspace.ErrNoSuch) {
		return w, false, err
	}
	w, err = d.data.Create(ctx, name, uid, gid)
	return w, err == nil, err
}

// attach lists the mount, makes it, and sees to it that its end is noticed.
// mounting is held.
func (d *Daemon) attach(w *workspace.Workspace, e tableEntry) (*activeMount, error) {
	d.setComing(&e)
	d.saveTable()
	m, err := mount.Mount(e.Driver, mount.Options{
		FS: w.Browse(), Origin: vfs.Origin(d.origins.Add(1)), MountPoint: e.MountPoint, Name: e.Workspace,
		AllowOther: e.AllowOther, ReadOnly: e.ReadOnly, NoFlush: true, Replace: true, Log: d.log,
	})
	if err != nil {
		d.setComing(nil)
		d.saveTable()
		return nil, err
	}
	a := &activeMount{entry: e, m: m, since: time.Now(), gone: make(chan struct{})}
	d.mu.Lock()
	d.mounts[e.MountPoint], d.coming = a, nil
	d.mu.Unlock()
	d.log.Info("mounted", "workspace", e.Workspace, "at", e.MountPoint, "driver", e.Driver)
	go d.await(a)
	return a, nil
}

// await takes a mount out of the lists when it has ended, whoever ended it.
func (d *Daemon) await(a *activeMount) {
	err := a.m.Wait()
	if errors.Is(err, mount.ErrLeft) {
		return // the mount lives on; see handover.go
	}
	if err != nil {
		d.note("the mount at %s ended: %v", a.entry.MountPoint, err)
	}
	d.mu.Lock()
	delete(d.mounts, a.entry.MountPoint)
	d.mu.Unlock()
	d.saveTable()
	d.log.Info("unmounted", "workspace", a.entry.Workspace, "from", a.entry.MountPoint)
	close(a.gone)
}

func (d *Daemon) setComing(e *tableEntry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.coming = e
}

func (d *Daemon) mountedAt(mountPoint string) *activeMount {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mounts[mountPoint]
}

// active returns the mounts, by mount point.
func (d *Daemon) active() []*activeMount {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]*activeMount, 0, len(d.mounts))
	for _, a := range d.mounts {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b *activeMount) int {
		return strings.Compare(a.entry.MountPoint, b.entry.MountPoint)
	})
	return all
}

// checkPlace refuses a mount point that the daemon would wait at for itself.
func (d *Daemon) checkPlace(mountPoint string) error {
	switch {
	case !filepath.IsAbs(mountPoint):
		return control.Errorf(control.KindUsage, "mount %q: it takes an absolute path", mountPoint)
	case strings.ContainsRune(mountPoint, 0):
		return control.Errorf(control.KindUsage, "mount %q: a path has no NUL", mountPoint)
	case within(mountPoint, d.dir):
		return control.Errorf(control.KindUsage, "mount %s: it is inside the data directory %s; take one outside", mountPoint, d.dir)
	case within(d.dir, mountPoint):
		return control.Errorf(control.KindUsage, "mount %s: the data directory %s is inside it, and the daemon would wait for itself; take another mount point, or another --data", mountPoint, d.dir)
	}
	return nil
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	path, dir = filepath.Clean(path), filepath.Clean(dir)
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// unmount ends one mount, or clears a dead one.
func (d *Daemon) unmount(ctx context.Context, r control.UnmountRequest) (control.UnmountResult, error) {
	mountPoint := filepath.Clean(control.Name(r.MountPoint, r.MountPointBytes))
	d.mounting.Lock()
	a := d.mountedAt(mountPoint)
	if a == nil {
		defer d.mounting.Unlock()
		return d.clear(mountPoint)
	}
	d.mounting.Unlock()
	if err := d.end(ctx, a, r.Force); err != nil {
		return control.UnmountResult{}, err
	}
	return control.UnmountResult{Workspace: a.entry.Workspace, Was: control.Mounted}, nil
}

// clear clears a mount that no daemon serves. mounting is held.
func (d *Daemon) clear(mountPoint string) (control.UnmountResult, error) {
	cleared, err := mount.ClearDead(mountPoint)
	if err != nil {
		return control.UnmountResult{}, err
	}
	name := d.forget(mountPoint)
	switch {
	case cleared:
		return control.UnmountResult{Workspace: name, Was: control.Dead}, nil
	case name != "":
		return control.UnmountResult{Workspace: name, Was: control.Absent}, nil
	}
	for _, l := range mount.List() {
		if l.MountPoint == mountPoint {
			return control.UnmountResult{}, control.Errorf(control.KindNotFound,
				"workspace %s at %s is served by the daemon of another data directory: name it with --data", l.Workspace, mountPoint)
		}
	}
	var others []string
	for _, a := range d.active() {
		others = append(others, a.entry.MountPoint)
	}
	if len(others) == 0 {
		return control.UnmountResult{}, control.Errorf(control.KindNotFound, "%s: no workspace is mounted there; none is mounted at all", mountPoint)
	}
	return control.UnmountResult{}, control.Errorf(control.KindNotFound, "%s: no workspace is mounted there; mounted are %s", mountPoint, strings.Join(others, ", "))
}

// forget drops what a daemon that died left in the table for a mount point,
// and returns the workspace. mounting is held.
func (d *Daemon) forget(mountPoint string) (workspace string) {
	d.mu.Lock()
	d.left = slices.DeleteFunc(d.left, func(e tableEntry) bool {
		if e.MountPoint == mountPoint {
			workspace = e.Workspace
		}
		return e.MountPoint == mountPoint
	})
	d.mu.Unlock()
	if workspace != "" {
		d.saveTable()
	}
	return workspace
}

// abortPatience bounds the wait for the end of a mount that was aborted.
const abortPatience = 5 * time.Second

// end unmounts a and waits for its end. With force, a mount that cannot be
// unmounted is taken from its users.
func (d *Daemon) end(ctx context.Context, a *activeMount, force bool) error {
	err := a.m.Unmount()
	switch {
	case err == nil:
	case force:
		d.note("took the mount at %s from its users: %v", a.entry.MountPoint, err)
		a.m.Abort()
		var cancel func()
		ctx, cancel = context.WithTimeout(ctx, abortPatience)
		defer cancel()
	case errors.Is(err, syscall.EBUSY):
		return control.Errorf(control.KindBusy, "%w; end them, or take it from them with --force", err)
	default:
		return err
	}
	select {
	case <-a.gone:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("unmount %s: %w", a.entry.MountPoint, ctx.Err())
	}
}

// busyPause is between two attempts to unmount what is in use.
const busyPause = 100 * time.Millisecond

// unmountAll ends every mount. What cannot be unmounted when patience ends is
// taken from its users if force is set, and else an error.
func (d *Daemon) unmountAll(patience context.Context, force bool) error {
	for {
		last := patience.Err() != nil
		var failed []error
		for _, a := range d.active() {
			if err := d.end(context.Background(), a, force && last); err != nil {
				failed = append(failed, err)
			}
		}
		if len(failed) == 0 || last {
			return errors.Join(failed...)
		}
		select {
		case <-patience.Done():
		case <-time.After(busyPause):
		}
	}
}
