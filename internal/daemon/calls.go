package daemon

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// register says who answers what.
func (d *Daemon) register() {
	s := d.server
	control.StatusCall.Serve(s, d.status)
	control.StopCall.Serve(s, d.stopCall)
	control.MountCall.Serve(s, d.mount)
	control.UnmountCall.Serve(s, d.unmount)
	control.UpgradeCall.Serve(s, d.upgradeCall)
	control.OpsCall.Serve(s, d.ops)
	control.CreateCall.Serve(s, d.create)
	control.ListCall.Serve(s, d.list)
	control.RemoveCall.Serve(s, d.remove)
	control.ForkCall.Serve(s, d.fork)
	control.QuotaCall.Serve(s, d.quota)
	control.SnapshotCall.Serve(s, d.snapshot)
	control.SnapshotsCall.Serve(s, d.snapshots)
	control.RemoveSnapshotCall.Serve(s, d.removeSnapshot)
	control.LogCall.Serve(s, d.history)
	control.DiffCall.Serve(s, d.diff)
	control.RestoreCall.Serve(s, d.restore)
	control.CheckStream.Serve(s, d.check)
	control.ScrubStream.Serve(s, d.scrub)
	control.CollectGarbageCall.Serve(s, d.collectGarbage)
	d.registerExec()
	d.registerSync()
}

func (d *Daemon) status(context.Context, control.StatusRequest) (control.Status, error) {
	names, err := d.data.List()
	if err != nil {
		return control.Status{}, err
	}
	c := d.data.Chunks().Stats()
	s := control.Status{
		Daemon: d.serve, Version: Version, DataDir: d.dir, Workspaces: len(names),
		Store: control.Store{Chunks: c.Chunks, RawBytes: c.RawBytes, StoredBytes: c.StoredBytes,
			DeadBytes: c.DeadBytes, Packs: c.Packs, Damaged: c.Damaged},
		Mounts: []control.Mount{}, Notes: []string{},
	}
	if d.serve {
		s.PID, s.Started = os.Getpid(), d.started.UTC().Truncate(time.Second)
	}
	if u, err := (hostfs.OS{}).Usage(d.dir); err == nil {
		s.Store.DiskFree, s.Store.DiskTotal = u.Available, u.Total
	}
	for _, a := range d.active() {
		s.Mounts = append(s.Mounts, a.wire())
	}
	d.mu.Lock()
	left := slices.Clone(d.left)
	s.Notes = append(s.Notes, d.notes...)
	d.mu.Unlock()
	for _, e := range left {
		s.Mounts = append(s.Mounts, e.wire())
	}
	return s, nil
}

// wire describes a mount that nobody in this process serves.
func (e tableEntry) wire() control.Mount {
	state := control.Absent
	for _, l := range mount.List() {
		if l.MountPoint == e.MountPoint && mount.IsDead(e.MountPoint) {
			state = control.Dead
		}
	}
	return control.Mount{Workspace: e.Workspace, MountPoint: e.MountPoint, State: state, Driver: e.Driver,
		AllowOther: e.AllowOther, ReadOnly: e.ReadOnly, MountPointBytes: control.Bytes(e.MountPoint)}
}

// stopPatience bounds how long a stop waits for mounts that are in use.
const stopPatience = time.Second

func (d *Daemon) stopCall(ctx context.Context, r control.StopRequest) (control.StopResult, error) {
	if !d.serve {
		return control.StopResult{}, control.Errorf(control.KindNoDaemon, "no daemon runs on %s", d.dir)
	}
	res := control.StopResult{PID: os.Getpid(), Unmounted: []string{}, Notes: []string{}}
	mounts := d.active()
	for _, a := range mounts {
		res.Unmounted = append(res.Unmounted, a.entry.MountPoint)
	}
	patience, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	if err := d.unmountAll(patience, r.Force); err != nil {
		return control.StopResult{}, err
	}
	// Closing does this again; here whoever asked hears of a failure.
	for _, a := range mounts {
		if w, err := d.data.Open(a.entry.Workspace); err == nil {
			if _, err := w.Checkpoint(ctx, workspace.CauseCheckpoint, ""); err != nil {
				res.Notes = append(res.Notes, uncheckpointed(err))
			}
		}
	}
	d.stopped.Do(func() { close(d.stop) })
	return res, nil
}

// uncheckpointed says that a checkpoint failed where nothing is lost by it.
func uncheckpointed(err error) string {
	return Classify(err).Message + "; nothing is lost: the journal has all of it, and it is tried again with the next start"
}

func (d *Daemon) ops(_ context.Context, r control.OpsRequest) (control.Ops, error) {
	r.MountPoint = control.Name(r.MountPoint, r.MountPointBytes)
	a := d.mountedAt(r.MountPoint)
	if a == nil {
		return control.Ops{}, control.Errorf(control.KindNotFound, "%s: no workspace is mounted there; vfsctl status lists the mounts", r.MountPoint)
	}
	s := a.m.Stats()
	requests := s.Requests
	if requests == nil {
		requests = map[string]uint64{}
	}
	return control.Ops{Mount: a.wire(), Requests: requests, Notifications: s.Notifications}, nil
}

func (d *Daemon) create(ctx context.Context, r control.CreateRequest) (control.Workspace, error) {
	w, err := d.data.Create(ctx, r.Workspace, r.UID, r.GID)
	if err != nil {
		return control.Workspace{}, err
	}
	d.log.Info("created", "workspace", r.Workspace)
	return d.figures(w), nil
}

func (d *Daemon) list(ctx context.Context, r control.ListRequest) (control.List, error) {
	names, err := d.data.List()
	if err != nil {
		return control.List{}, err
	}
	l := control.List{Workspaces: []control.Workspace{}}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return l, err
		}
		l.Workspaces = append(l.Workspaces, d.listed(ctx, name, r.Verify))
	}
	return l, nil
}

// listed describes one workspace; those that sleep are not woken for it.
func (d *Daemon) listed(ctx context.Context, name string, verify bool) control.Workspace {
	s, err := d.data.Peek(name)
	if err == nil && verify {
		err = d.data.Verify(ctx, name)
	}
	if err == nil && s.Open {
		var w *workspace.Workspace
		if w, err = d.data.Open(name); err == nil {
			return d.figures(w)
		}
	}
	if err != nil {
		return control.Workspace{Name: name, Mounts: d.mountPoints(name), Damage: Classify(err).Message}
	}
	return control.Workspace{
		Name: name, Inodes: s.Inodes, Bytes: s.Bytes, Snapshots: s.Snapshots, Commit: s.Commit, Root: s.Root,
		Quota: control.Quota{Bytes: s.Quota.Bytes, Inodes: s.Quota.Inodes}, Mounts: d.mountPoints(name),
	}
}

func (d *Daemon) mountPoints(name string) []string {
	points := []string{}
	for _, a := range d.active() {
		if a.entry.Workspace == name {
			points = append(points, a.entry.MountPoint)
		}
	}
	return points
}

func (d *Daemon) figures(w *workspace.Workspace) control.Workspace {
	s := w.Stats()
	return control.Workspace{
		Name: w.Name(), Inodes: s.Inodes, Bytes: s.Bytes, Snapshots: len(w.Snapshots()),
		StagedBytes: s.StagedBytes, JournalBytes: s.JournalBytes, Dirty: s.Dirty, Commit: s.Commit, Root: s.Root,
		Quota: control.Quota{Bytes: s.Quota.Bytes, Inodes: s.Quota.Inodes}, Mounts: d.mountPoints(w.Name()),
	}
}

func (d *Daemon) remove(_ context.Context, r control.RemoveRequest) (control.Empty, error) {
	d.mounting.Lock()
	defer d.mounting.Unlock()
	if points := d.mountPoints(r.Workspace); len(points) > 0 {
		return control.Empty{}, control.Errorf(control.KindBusy, "workspace %s is mounted at %s: vfsctl down %s first",
			r.Workspace, points[0], control.Word(points[0]))
	}
	if err := d.exec.Forget(r.Workspace); err != nil {
		return control.Empty{}, execError(err)
	}
	if err := d.data.Remove(r.Workspace); err != nil {
		return control.Empty{}, err
	}
	if err := errors.Join(d.remotes.forget(r.Workspace), d.dropCheckouts(r.Workspace)); err != nil {
		return control.Empty{}, err
	}
	d.wasteful.Store(true)
	d.log.Info("removed", "workspace", r.Workspace)
	return control.Empty{}, nil
}

func (d *Daemon) fork(ctx context.Context, r control.ForkRequest) (control.ForkResult, error) {
	if err := workspace.ValidName(r.Name); err != nil {
		return control.ForkResult{}, err
	}
	from, id, err := d.at(ctx, r.Workspace, r.At)
	if err != nil {
		return control.ForkResult{}, err
	}
	w, err := d.data.Fork(ctx, from, id, r.Name)
	if err != nil {
		return control.ForkResult{}, err
	}
	d.log.Info("forked", "workspace", r.Workspace, "commit", id, "as", r.Name)
	return control.ForkResult{Workspace: d.figures(w), Commit: id.String()}, nil
}

// at opens a workspace and finds a commit of it.
func (d *Daemon) at(ctx context.Context, name, spec string) (*workspace.Workspace, chunk.ID, error) {
	w, err := d.data.Open(name)
	if errors.Is(err, vfs.ErrCorrupt) && spec != "" {
		// A damaged journal is between us and the present, not the snapshots.
		if head, herr := d.data.OpenHead(ctx, name); herr == nil {
			w, err = head, nil
		}
	}
	if err != nil {
		return nil, chunk.ID{}, err
	}
	id, err := w.Resolve(ctx, spec)
	if err != nil {
		return nil, chunk.ID{}, control.Wrap(Classify(err).Kind, prefix("workspace "+name, err))
	}
	return w, id, nil
}

func (d *Daemon) quota(ctx context.Context, r control.QuotaRequest) (control.Workspace, error) {
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return control.Workspace{}, err
	}
	if r.Bytes != nil || r.Inodes != nil {
		q := w.Stats().Quota
		if r.Bytes != nil {
			q.Bytes = *r.Bytes
		}
		if r.Inodes != nil {
			q.Inodes = *r.Inodes
		}
		w.SetQuota(q)
		if _, err := w.Checkpoint(ctx, workspace.CauseCheckpoint, ""); err != nil {
			return control.Workspace{}, err
		}
	}
	return d.figures(w), nil
}

func (d *Daemon) snapshot(ctx context.Context, r control.SnapshotRequest) (control.Snapshot, error) {
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return control.Snapshot{}, err
	}
	s, err := w.Snapshot(ctx, r.Name)
	if err != nil {
		return control.Snapshot{}, err
	}
	return wireSnapshot(s), nil
}

func wireSnapshot(s workspace.Snapshot) control.Snapshot {
	return control.Snapshot{Name: s.Name, Commit: s.Commit.String(), Root: s.Root.String(), Time: wireTime(s.Time)}
}

func wireTime(ns int64) time.Time { return time.Unix(0, ns).UTC() }

func (d *Daemon) snapshots(_ context.Context, r control.SnapshotsRequest) (control.Snapshots, error) {
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return control.Snapshots{}, err
	}
	res := control.Snapshots{Snapshots: []control.Snapshot{}}
	for _, s := range w.Snapshots() {
		res.Snapshots = append(res.Snapshots, wireSnapshot(s))
	}
	return res, nil
}

func (d *Daemon) removeSnapshot(_ context.Context, r control.RemoveSnapshotRequest) (control.Empty, error) {
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return control.Empty{}, err
	}
	d.wasteful.Store(true)
	return control.Empty{}, w.RemoveSnapshot(r.Name)
}

const (
	logDefault   = 64
	logMost      = 1 << 20
	sectorsBytes = 4096 // of what commits call blocks
)

func (d *Daemon) history(ctx context.Context, r control.LogRequest) (control.Log, error) {
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return control.Log{}, err
	}
	if r.Limit <= 0 {
		r.Limit = logDefault
	}
	entries, err := w.Log(ctx, min(r.Limit, logMost))
	if err != nil {
		return control.Log{}, err
	}
	res := control.Log{Commits: []control.Commit{}}
	for _, e := range entries {
		c := control.Commit{
			ID: e.ID.String(), Root: e.Root.String(), Parents: []string{}, Time: wireTime(e.Time), Cause: e.Cause,
			Snapshots: append([]string{}, e.Snapshots...), Inodes: e.Inodes, Bytes: e.Blocks * sectorsBytes,
		}
		for _, p := range e.Parents {
			c.Parents = append(c.Parents, p.String())
		}
		res.Commits = append(res.Commits, c)
	}
	return res, nil
}

func (d *Daemon) diff(ctx context.Context, r control.DiffRequest) (control.Diff, error) {
	if r.ToWorkspace == "" {
		r.ToWorkspace = r.Workspace
	}
	w, from, err := d.at(ctx, r.Workspace, r.From)
	if err != nil {
		return control.Diff{}, err
	}
	_, to, err := d.at(ctx, r.ToWorkspace, r.To)
	if err != nil {
		return control.Diff{}, err
	}
	all, err := w.Diff(ctx, from, to)
	if err != nil {
		return control.Diff{}, err
	}
	res := control.Diff{From: from.String(), To: to.String(), Differences: []control.Difference{}}
	for _, x := range all {
		res.Differences = append(res.Differences, control.Difference{
			Kind: string(x.Kind), Path: x.Path, From: x.From, Type: x.Type, Ino: uint64(x.Ino),
			PathBytes: control.Bytes(x.Path), FromBytes: control.Bytes(x.From),
		})
	}
	return res, nil
}

func (d *Daemon) restore(ctx context.Context, r control.RestoreRequest) (control.Restored, error) {
	w, id, err := d.at(ctx, r.Workspace, r.At)
	if err != nil {
		return control.Restored{}, err
	}
	res, err := w.Restore(ctx, id, strings.Trim(r.Path, "/"))
	if err != nil {
		return control.Restored{}, err
	}
	d.log.Info("restored", "workspace", r.Workspace, "commit", id, "path", r.Path, "before", res.Before)
	return control.Restored{Before: res.Before, Commit: res.Commit, Changed: res.Changed}, nil
}

func (d *Daemon) check(ctx context.Context, r control.CheckRequest, sink control.Sink[control.Problem]) (control.Checked, error) {
	w, id, err := d.at(ctx, r.Workspace, r.At)
	if err != nil {
		return control.Checked{}, err
	}
	c, err := w.CheckCommit(ctx, id,
		func(entries uint64) { sink.Progress(int64(entries), 0) },
		func(p workspace.Problem) { sink.Item(control.Problem{Ino: uint64(p.Ino), What: p.What}) })
	if err != nil {
		return control.Checked{}, err
	}
	return control.Checked{Workspace: r.Workspace, Commit: c.Commit, Inodes: c.Inodes, Dentries: c.Dentries,
		Extents: c.Extents, Xattrs: c.Xattrs, Chunks: c.Chunks, Problems: c.Problems}, nil
}

func (d *Daemon) scrub(ctx context.Context, _ control.ScrubRequest, sink control.Sink[control.Damage]) (control.Scrubbed, error) {
	var res control.Scrubbed
	err := d.data.Scrub(ctx,
		func(done, total int64) {
			res.Bytes = max(res.Bytes, done)
			sink.Progress(done, total)
		},
		func(file string, offset int64, err error) {
			res.Damages++
			d.log.Error("scrub found damage", "file", file, "offset", offset, "err", err)
			sink.Item(control.Damage{File: file, Offset: offset, What: err.Error()})
		})
	return res, err
}

func (d *Daemon) collectGarbage(ctx context.Context, r control.GCRequest) (control.Collected, error) {
	g, err := d.data.GC(ctx, r.DryRun)
	if err != nil {
		return control.Collected{}, err
	}
	return control.Collected{DryRun: r.DryRun, Chunks: g.Chunks, LiveChunks: g.LiveChunks, LiveBytes: g.LiveBytes,
		DeadBytes: g.DeadBytes, Missing: g.Missing, Repacked: g.Repacked, DeletedPacks: g.Deleted, FreedBytes: g.FreedBytes}, nil
}
