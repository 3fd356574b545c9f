package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/replica"
	"github.com/vfsd/vfsd/workspace"
)

// agent is what a daemon calls itself to peers.
const agent = "vfsd " + Version

// startPeers makes the two servers of sessions: one for users of this machine,
// whom the socket has let in, one for those who bring a token.
func (d *Daemon) startPeers() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.local = replica.NewServer(replica.ServerOptions{Admit: d.admitLocal, Agent: agent, Log: d.log, Audit: d.audit, Plain: true})
	d.public = replica.NewServer(replica.ServerOptions{Admit: d.admitToken, Agent: agent, Log: d.log, Audit: d.audit, Rate: d.shares.rate})
}

// peers returns the two servers.
func (d *Daemon) peers() (local, public *replica.Server) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.local, d.public
}

// servePeer serves a session that came by the control socket, or by stdio.
func (d *Daemon) servePeer(ctx context.Context, nc net.Conn) {
	local, _ := d.peers()
	local.ServeConn(ctx, nc)
}

// ServeStdio serves one session over standard input and output.
func (d *Daemon) ServeStdio(ctx context.Context) {
	d.servePeer(ctx, replica.Stdio(os.Stdin, os.Stdout))
}

// admitLocal opens a workspace for a user of this daemon, who may do anything.
func (d *Daemon) admitLocal(ctx context.Context, v *replica.Visitor, _ string, _, create bool) (*workspace.Workspace, error) {
	w, err := d.data.Open(v.Workspace)
	if errors.Is(err, workspace.ErrNoSuch) && create {
		w, err = d.data.Create(ctx, v.Workspace, uint32(os.Getuid()), uint32(os.Getgid()))
	}
	return w, err
}

// admitToken opens a workspace for a peer whose token allows it. Who has no right
// does not learn which workspaces there are.
func (d *Daemon) admitToken(_ context.Context, v *replica.Visitor, token string, write, _ bool) (*workspace.Workspace, error) {
	g, share, err := d.shares.verify(token, time.Now())
	if err != nil {
		return nil, err
	}
	v.Token, v.Label, v.Expires = share.ID, share.Label, share.Expires
	if g.Workspace != v.Workspace {
		return nil, replica.ErrOtherToken
	}
	w, err := d.data.Open(g.Workspace)
	if errors.Is(err, workspace.ErrNoSuch) {
		return nil, replica.ErrOtherToken
	}
	if err != nil {
		return nil, err
	}
	right := replica.Read
	if write {
		right = replica.Write
	}
	return w, g.Allows(w.Name(), w.ID(), right)
}

// audit logs who read or moved which head.
func (d *Daemon) audit(v replica.Visitor, what string, commit chunk.ID, s protocol.Stats) {
	at := []any{"remote", v.Remote, "workspace", v.Workspace, "token", v.Token, "label", v.Label, "agent", v.Agent}
	if !commit.IsZero() {
		at = append(at, "commit", commit.String())
	}
	if what == "closed" {
		at = append(at, "bytes_in", s.BytesIn, "bytes_out", s.BytesOut)
	}
	d.log.Info("peer "+what, at...)
}

// listenPeers listens for peers with TLS until stop is called.
func (d *Daemon) listenPeers(addresses []string) (stop func(), err error) {
	var listeners []net.Listener
	closeAll := func() {
		for _, l := range listeners {
			if err := l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
				d.log.Warn("close a listener", "at", l.Addr(), "err", err)
			}
		}
	}
	id, err := d.shares.identity()
	if err != nil {
		return nil, err
	}
	for _, addr := range addresses {
		l, err := net.Listen("tcp", addr)
		if err != nil {
			closeAll()
			return nil, control.Errorf(control.KindUsage, "listen for peers: %w; --listen takes HOST:PORT", err)
		}
		listeners = append(listeners, tls.NewListener(l, id.ServerTLS()))
	}
	fingerprint, err := id.Fingerprint()
	if err != nil {
		closeAll()
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	_, public := d.peers()
	d.mu.Lock()
	d.peerAddresses = nil
	for _, l := range listeners {
		d.peerAddresses = append(d.peerAddresses, l.Addr().String())
		d.log.Info("listening for peers", "at", l.Addr(), "key", fingerprint)
		go func() {
			if err := public.Serve(ctx, l); err != nil && ctx.Err() == nil {
				d.note("peers are not served any more at %s: %v", l.Addr(), err)
			}
		}()
	}
	d.mu.Unlock()
	return func() {
		closeAll()
		cancel()
		d.mu.Lock()
		d.peerAddresses = nil
		d.mu.Unlock()
	}, nil
}

// trustFor returns how the certificate of a remote is judged.
func (d *Daemon) trustFor(ws, name string, m remote) (*replica.Trust, error) {
	t := &replica.Trust{
		Pinned: func(string) (string, error) { return m.Fingerprint, nil },
		Pin: func(_, fingerprint string) error {
			d.log.Info("a peer was met first", "workspace", ws, "remote", name, "url", m.URL, "key", fingerprint)
			return d.remotes.pin(ws, name, fingerprint)
		},
	}
	if m.CA != "" {
		var err error
		if t.CA, err = pool(m.CA); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// checkSelf refuses a remote that is this very workspace.
func (d *Daemon) checkSelf(ws string, a replica.Address) error {
	if a.Scheme != replica.SchemeUnix || a.Workspace != ws {
		return nil
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(a.Socket)); err == nil && dir == d.dir {
		return control.Errorf(control.KindUsage, "workspace %s: %s is itself", ws, a)
	}
	return nil
}

// connectRemote begins a session with a remote.
func (d *Daemon) connectRemote(ctx context.Context, w *workspace.Workspace, name string, m remote, write bool) (*replica.Client, error) {
	a, err := replica.ParseAddress(m.URL)
	if err != nil {
		return nil, control.Errorf(control.KindUsage, "%w", err)
	}
	if err := d.checkSelf(w.Name(), a); err != nil {
		return nil, err
	}
	trust, err := d.trustFor(w.Name(), name, m)
	if err != nil {
		return nil, err
	}
	nc, err := replica.Dial(ctx, a, trust)
	if err != nil {
		return nil, fmt.Errorf("remote %s: %w", name, err)
	}
	return replica.NewClient(context.WithoutCancel(ctx), nc, replica.ClientOptions{
		Workspace: w, Name: a.Workspace, Token: m.Token, Write: write, Create: write, Agent: agent,
		Plain: a.Scheme == replica.SchemeUnix,
	}), nil
}
