package daemon

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/replica"
	"github.com/vfsd/vfsd/workspace"
)

// registerSync says who answers the calls of synchronisation.
func (d *Daemon) registerSync() {
	s := d.server
	d.remotes.file = stateFile{d.dir, remotesName}
	d.checkouts.file = stateFile{d.dir, checkoutsName}
	d.shares.dir, d.shares.file = d.dir, stateFile{d.dir, sharesName}
	d.startPeers()
	s.ServePeers(d.servePeer)
	control.RemotesCall.Serve(s, d.listRemotes)
	control.SetRemoteCall.Serve(s, d.setRemote)
	control.RemoveRemoteCall.Serve(s, d.removeRemote)
	control.ShareCall.Serve(s, d.share)
	control.SharesCall.Serve(s, d.listShares)
	control.RevokeCall.Serve(s, d.revoke)
	control.SyncStream.Serve(s, d.sync)
	control.CloneStream.Serve(s, d.clone)
	control.WatchStream.Serve(s, d.watch)
	control.ConflictsCall.Serve(s, d.conflicts)
	control.ResolveCall.Serve(s, d.resolve)
	control.PolicyCall.Serve(s, d.policy)
	control.CheckoutStream.Serve(s, d.checkoutStream)
	control.CheckoutsCall.Serve(s, d.listCheckouts)
	control.RemoveCheckoutCall.Serve(s, d.removeCheckout)
}

// exchange is a session with a remote of a workspace, for one call.
type exchange struct {
	*replica.Peer
	*replica.Client
	name string
	key  sessionKey
}

// openRemote begins a session with a remote of a workspace, or takes up one that
// was kept.
func (d *Daemon) openRemote(ctx context.Context, r control.SyncRequest, write bool) (*exchange, error) {
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return nil, err
	}
	name, m, err := d.remotes.find(r.Workspace, r.Remote)
	if err != nil {
		return nil, err
	}
	key := sessionKey{w, name, m, write}
	key.remote.Fingerprint = "" // pinned by the first session, which stays good
	x := &exchange{Peer: &replica.Peer{Workspace: w, Name: name, Lazy: m.Lazy}, name: name, key: key}
	if x.Client = d.sessions.take(x.key); x.Client != nil {
		return x, nil
	}
	x.Client, err = d.connectRemote(ctx, w, name, m, write)
	return x, err
}

// sync answers push, pull and both.
func (d *Daemon) sync(ctx context.Context, r control.SyncRequest, out control.Sink[control.SyncProgress]) (control.Synced, error) {
	do := map[control.Direction]func(*replica.Peer, context.Context, *replica.Client) (replica.Outcome, error){
		control.Pull: (*replica.Peer).Pull, control.Push: (*replica.Peer).Push, control.Both: (*replica.Peer).Sync,
	}[r.Direction]
	if do == nil {
		return control.Synced{}, control.Errorf(control.KindUsage, "direction %q: it is pull, push or both", r.Direction)
	}
	x, err := d.openRemote(ctx, r, r.Direction != control.Pull)
	if err != nil {
		return control.Synced{}, err
	}
	begun, before := time.Now(), x.Stats()
	stop := report(x.Client, before, out)
	o, err := do(x.Peer, ctx, x.Client)
	stop()
	after := x.Stats()
	if err != nil {
		go x.Client.Close()
		return control.Synced{Passed: passed(before, after)}, syncError(x.name, err)
	}
	d.sessions.put(x.key, x.Client)
	return synced(x.name, o, passed(before, after), begun), nil
}

func synced(name string, o replica.Outcome, p control.SyncProgress, begun time.Time) control.Synced {
	return control.Synced{Remote: name, Head: o.Head.String(), Peer: o.Peer.String(), Pulled: o.Pulled, Pushed: o.Pushed,
		Merged: o.Merged, Conflicts: o.Conflicts, Passed: p, Took: int64(time.Since(begun))}
}

// passed is what a session has counted since before.
func passed(b, a protocol.Stats) control.SyncProgress {
	return control.SyncProgress{BytesIn: a.BytesIn - b.BytesIn, BytesOut: a.BytesOut - b.BytesOut,
		ChunksIn: a.ChunksIn - b.ChunksIn, ChunksOut: a.ChunksOut - b.ChunksOut,
		ChunkBytesIn: a.ChunkBytesIn - b.ChunkBytesIn, ChunkBytesOut: a.ChunkBytesOut - b.ChunkBytesOut,
		ChunksHad: a.ChunksHad - b.ChunksHad, NodesIn: a.NodesIn - b.NodesIn, NodesOut: a.NodesOut - b.NodesOut,
		EditsIn: a.EditsIn - b.EditsIn, EditsOut: a.EditsOut - b.EditsOut}
}

// reportEvery is how often a transfer tells how far it has come.
const reportEvery = 200 * time.Millisecond

// report sends the figures of a session until stop is called.
func report(c *replica.Client, before protocol.Stats, out control.Sink[control.SyncProgress]) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(reportEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				out.Item(passed(before, c.Stats()))
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}

// syncError says what an exchange's error means to whoever asked.
func syncError(name string, err error) error {
	var e *protocol.Error
	switch {
	case errors.Is(err, replica.ErrPeerAhead):
		return control.Errorf(control.KindBusy, "remote %s: %w", name, err)
	case errors.Is(err, replica.ErrOtherPeer):
		return control.Errorf(control.KindNoRight, "remote %s: %w; if it is meant, vfsctl remote add --forget takes the new key", name, err)
	case errors.As(err, &e):
		return control.Errorf(kindOf(e.Code), "remote %s: %w", name, err)
	}
	return Classify(err)
}

// kindOf gives the failures of the protocol a kind.
func kindOf(c protocol.Code) control.Kind {
	switch c {
	case protocol.CodeDenied, protocol.CodeExpired:
		return control.KindNoRight
	case protocol.CodeNotFound:
		return control.KindNotFound
	case protocol.CodeHeadMoved, protocol.CodeBusy:
		return control.KindBusy
	case protocol.CodeVersion, protocol.CodeUnsupported:
		return control.KindUnsupported
	case protocol.CodeDigest, protocol.CodeRoot, protocol.CodeInvalid:
		return control.KindCorrupt
	case protocol.CodeRefused:
		return control.KindNoSpace
	case protocol.CodeCanceled:
		return control.KindInterrupted
	}
	return control.KindInternal
}

// clone makes a workspace that is a replica of a peer's, or goes on with one that
// was cut off.
func (d *Daemon) clone(ctx context.Context, r control.CloneRequest, out control.Sink[control.SyncProgress]) (control.Synced, error) {
	m := remote{URL: r.URL, Token: r.Token, CA: r.CA, Lazy: r.Lazy}
	if err := m.check(); err != nil {
		return control.Synced{}, err
	}
	a, err := replica.ParseAddress(r.URL)
	if err != nil {
		return control.Synced{}, control.Errorf(control.KindUsage, "%w", err)
	}
	if r.Workspace == "" {
		r.Workspace = a.Workspace
	}
	if err := d.checkSelf(r.Workspace, a); err != nil {
		return control.Synced{}, err
	}
	made, err := d.beginClone(ctx, r, m)
	if err != nil {
		return control.Synced{}, err
	}
	res, err := d.sync(ctx, control.SyncRequest{Workspace: r.Workspace, Remote: defaultRemote, Direction: control.Pull}, out)
	res.Workspace = r.Workspace
	if came := res.Passed.ChunksIn + res.Passed.NodesIn + res.Passed.EditsIn; err != nil && made && came == 0 && ctx.Err() == nil {
		// Refused, or not reached: nothing has come that could be gone on with.
		err = errors.Join(err, d.remotes.forget(r.Workspace), d.data.Remove(r.Workspace))
	}
	return res, err
}

// beginClone makes the workspace of a clone, or finds the one that was begun.
func (d *Daemon) beginClone(ctx context.Context, r control.CloneRequest, m remote) (made bool, err error) {
	_, err = d.data.Create(ctx, r.Workspace, uint32(os.Getuid()), uint32(os.Getgid()))
	if errors.Is(err, workspace.ErrExists) {
		w, oerr := d.data.Open(r.Workspace)
		_, old, ferr := d.remotes.find(r.Workspace, defaultRemote)
		if oerr != nil || ferr != nil || old.URL != m.URL || !w.Blank() {
			return false, err
		}
		err = nil
	} else if err == nil {
		made = true
	}
	if err != nil {
		return made, err
	}
	return made, d.remotes.change(func(all map[string]map[string]remote) (bool, error) {
		old := all[r.Workspace][defaultRemote]
		if old.URL == m.URL {
			m.Fingerprint = old.Fingerprint
		}
		if all[r.Workspace] == nil {
			all[r.Workspace] = map[string]remote{}
		}
		all[r.Workspace][defaultRemote] = m
		return true, nil
	})
}

// reconnectAfter is how long watch waits before it tries a lost peer again, at
// first and at most.
const (
	reconnectAfter  = 200 * time.Millisecond
	reconnectAtMost = 30 * time.Second
)

// watch keeps a workspace and a remote equal until the caller goes away. A lost
// connection is made again.
func (d *Daemon) watch(ctx context.Context, r control.WatchRequest, out control.Sink[control.Synced]) (control.Empty, error) {
	pause := reconnectAfter
	for {
		begun := time.Now()
		name, err := d.watchOnce(ctx, r, out)
		if ctx.Err() != nil {
			return control.Empty{}, ctx.Err()
		}
		if kind := control.KindOf(syncError(name, err)); kind == control.KindNotFound || kind == control.KindNoRight || kind == control.KindUsage || kind == control.KindUnsupported {
			return control.Empty{}, syncError(name, err)
		}
		d.log.Warn("watch", "workspace", r.Workspace, "remote", name, "err", err)
		if time.Since(begun) > reconnectAtMost {
			pause = reconnectAfter
		}
		out.Item(control.Synced{Remote: name, Lost: Classify(err).Message})
		select {
		case <-time.After(pause):
			pause = min(2*pause, reconnectAtMost)
		case <-ctx.Done():
			return control.Empty{}, ctx.Err()
		}
	}
}

func (d *Daemon) watchOnce(ctx context.Context, r control.WatchRequest, out control.Sink[control.Synced]) (string, error) {
	x, err := d.openRemote(ctx, control.SyncRequest{Workspace: r.Workspace, Remote: r.Remote}, true)
	if err != nil {
		return r.Remote, err
	}
	defer x.Client.Close()
	begun, before := time.Now(), x.Stats()
	return x.name, x.Peer.Watch(ctx, x.Client, func(o replica.Outcome) {
		now := x.Stats()
		out.Item(synced(x.name, o, passed(before, now), begun))
		begun, before = time.Now(), now
	})
}
