package daemon

import (
	"context"
	"crypto/x509"
	"slices"
	"strings"
	"sync"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/replica"
	"github.com/vfsd/vfsd/workspace"
)

// remotesName is the file that says where workspaces are synced with. It holds
// tokens.
const remotesName = "remotes.json"

// remote is a workspace of a peer, as the file has it.
type remote struct {
	URL         string `json:"url"`
	Token       string `json:"token,omitempty"`
	CA          string `json:"ca,omitempty"` // PEM
	Fingerprint string `json:"fingerprint,omitempty"`
	Lazy        bool   `json:"lazy,omitempty"` // bytes come when they are used
}

// remotes are those of all workspaces: by workspace, then by name.
type remotes struct {
	file stateFile
	mu   sync.Mutex
}

// change loads the file, has f change it, and saves it when f says so.
func (r *remotes) change(f func(all map[string]map[string]remote) (save bool, err error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := map[string]map[string]remote{}
	if err := r.file.load(&all); err != nil {
		return err
	}
	save, err := f(all)
	if err != nil || !save {
		return err
	}
	return r.file.save(all)
}

// find returns a remote; the name "" is the only one there is, or origin.
func (r *remotes) find(ws, name string) (string, remote, error) {
	var found remote
	err := r.change(func(all map[string]map[string]remote) (bool, error) {
		of := all[ws]
		if name == "" {
			name = defaultRemote
			if len(of) == 1 {
				for name = range of {
				}
			}
		}
		var ok bool
		if found, ok = of[name]; !ok {
			return false, noRemote(ws, name, of)
		}
		return false, nil
	})
	return name, found, err
}

// defaultRemote is what a clone calls where it came from.
const defaultRemote = "origin"

func noRemote(ws, name string, of map[string]remote) error {
	names := make([]string, 0, len(of))
	for n := range of {
		names = append(names, n)
	}
	slices.Sort(names)
	has := "it has none"
	if len(names) > 0 {
		has = "it has " + strings.Join(names, ", ")
	}
	return control.Errorf(control.KindNotFound, "workspace %s has no remote %s: %s; vfsctl remote add %s NAME URL names one", ws, name, has, ws)
}

// forget drops the remotes of a workspace that is no more.
func (r *remotes) forget(ws string) error {
	return r.change(func(all map[string]map[string]remote) (bool, error) {
		_, had := all[ws]
		delete(all, ws)
		return had, nil
	})
}

// pin keeps the fingerprint of a peer.
func (r *remotes) pin(ws, name, fingerprint string) error {
	return r.change(func(all map[string]map[string]remote) (bool, error) {
		of, ok := all[ws][name]
		if !ok {
			return false, nil
		}
		of.Fingerprint = fingerprint
		all[ws][name] = of
		return true, nil
	})
}

func (m remote) wire(name string) control.Remote {
	return control.Remote{Name: name, URL: m.URL, HasToken: m.Token != "", CA: m.CA != "", Fingerprint: m.Fingerprint}
}

// check reports what cannot be right about a remote.
func (m remote) check() error {
	if _, err := replica.ParseAddress(m.URL); err != nil {
		return control.Errorf(control.KindUsage, "%w", err)
	}
	if m.CA != "" {
		_, err := pool(m.CA)
		return err
	}
	return nil
}

// pool reads certificate authorities in PEM.
func pool(pem string) (*x509.CertPool, error) {
	p := x509.NewCertPool()
	if !p.AppendCertsFromPEM([]byte(pem)) {
		return nil, control.Errorf(control.KindUsage, "the certificate authority: there is no certificate in PEM in it")
	}
	return p, nil
}

func (d *Daemon) listRemotes(_ context.Context, r control.RemotesRequest) (control.Remotes, error) {
	if _, err := d.data.Peek(r.Workspace); err != nil {
		return control.Remotes{}, err
	}
	res := control.Remotes{Remotes: []control.Remote{}}
	err := d.remotes.change(func(all map[string]map[string]remote) (bool, error) {
		for name, m := range all[r.Workspace] {
			res.Remotes = append(res.Remotes, m.wire(name))
		}
		return false, nil
	})
	slices.SortFunc(res.Remotes, func(a, b control.Remote) int { return strings.Compare(a.Name, b.Name) })
	return res, err
}

func (d *Daemon) setRemote(_ context.Context, r control.SetRemoteRequest) (control.Remote, error) {
	if _, err := d.data.Peek(r.Workspace); err != nil {
		return control.Remote{}, err
	}
	if err := workspace.ValidName(r.Name); err != nil {
		return control.Remote{}, control.Errorf(control.KindUsage, "remote %q: %w", r.Name, err)
	}
	m := remote{URL: r.URL, Token: r.Token, CA: r.CA}
	if err := m.check(); err != nil {
		return control.Remote{}, err
	}
	err := d.remotes.change(func(all map[string]map[string]remote) (bool, error) {
		old := all[r.Workspace][r.Name]
		if old.URL == m.URL && !r.Forget {
			m.Fingerprint = old.Fingerprint
			if m.Token == "" {
				m.Token = old.Token
			}
		}
		if all[r.Workspace] == nil {
			all[r.Workspace] = map[string]remote{}
		}
		all[r.Workspace][r.Name] = m
		return true, nil
	})
	return m.wire(r.Name), err
}

func (d *Daemon) removeRemote(_ context.Context, r control.RemoveRemoteRequest) (control.Empty, error) {
	return control.Empty{}, d.remotes.change(func(all map[string]map[string]remote) (bool, error) {
		if _, ok := all[r.Workspace][r.Name]; !ok {
			return false, noRemote(r.Workspace, r.Name, all[r.Workspace])
		}
		delete(all[r.Workspace], r.Name)
		if len(all[r.Workspace]) == 0 {
			delete(all, r.Workspace)
		}
		return true, nil
	})
}
