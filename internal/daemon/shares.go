package daemon

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/replica"
)

// sharesName is the file that lists the tokens that were made: not the tokens,
// which are secret, but what they grant. One that is not in it is not taken.
const sharesName = "shares.json"

// shares are the grants of this daemon.
type shares struct {
	dir  string
	file stateFile
	mu   sync.Mutex
	id   *replica.Identity // loaded on first use; guarded by mu
	// rates are those of tokens that have one, shared by their sessions; guarded
	// by mu.
	rates map[string]*replica.Rate
}

// rate returns what bounds the sessions of a token, nil for nothing.
func (s *shares) rate(v replica.Visitor) *replica.Rate {
	var bound int64
	err := s.change(func(list []control.Share) ([]control.Share, bool, error) {
		for _, x := range list {
			if x.ID == v.Token {
				bound = x.Rate
			}
		}
		return nil, false, nil
	})
	if err != nil || bound == 0 {
		return nil // whoever could not be looked up was not admitted either
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rates == nil {
		s.rates = map[string]*replica.Rate{}
	}
	if s.rates[v.Token] == nil {
		s.rates[v.Token] = replica.NewRate(bound)
	}
	return s.rates[v.Token]
}

// identity returns the key of the daemon, made on first use.
func (s *shares) identity() (*replica.Identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.id == nil {
		id, err := replica.LoadIdentity(s.dir)
		if err != nil {
			return nil, err
		}
		s.id = id
	}
	return s.id, nil
}

func (s *shares) change(f func(list []control.Share) ([]control.Share, bool, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []control.Share
	if err := s.file.load(&list); err != nil {
		return err
	}
	list, save, err := f(list)
	if err != nil || !save {
		return err
	}
	return s.file.save(list)
}

// verify returns what a token grants, and the share that it is of.
func (s *shares) verify(token string, now time.Time) (replica.Grant, control.Share, error) {
	id, err := s.identity()
	if err != nil {
		return replica.Grant{}, control.Share{}, err
	}
	g, err := replica.Verify(id.Key.Public().(ed25519.PublicKey), token, now)
	if err != nil {
		return replica.Grant{}, control.Share{}, err
	}
	var share control.Share
	err = s.change(func(list []control.Share) ([]control.Share, bool, error) {
		i := slices.IndexFunc(list, func(x control.Share) bool { return x.ID == g.ID })
		if i < 0 || !list[i].Revoked.IsZero() {
			return nil, false, replica.ErrTokenRevoked
		}
		share = list[i]
		return nil, false, nil
	})
	return g, share, err
}

func (d *Daemon) share(_ context.Context, r control.ShareRequest) (control.Shared, error) {
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return control.Shared{}, err
	}
	if r.Lifetime < 0 || r.Rate < 0 || len(r.Label) > 200 {
		return control.Shared{}, control.Errorf(control.KindUsage, "a token lives for a time from now on, its rate is positive, and its label has at most 200 bytes")
	}
	if r.Path != "" {
		return control.Shared{}, control.Errorf(control.KindUnsupported, "share: parts of a workspace cannot be shared yet; share all of it, or a workspace of its own")
	}
	id, err := d.shares.identity()
	if err != nil {
		return control.Shared{}, err
	}
	now := time.Now().UTC().Truncate(time.Second)
	s := control.Share{Workspace: r.Workspace, Path: strings.Trim(r.Path, "/"), Write: r.Write, Rate: r.Rate, Label: r.Label, Made: now}
	g := replica.Grant{Workspace: r.Workspace, WorkspaceID: w.ID(), Prefix: s.Path, Right: replica.Read}
	if r.Write {
		g.Right = replica.Write
	}
	if r.Lifetime > 0 {
		s.Expires = now.Add(time.Duration(r.Lifetime))
		g.Expires = s.Expires.Unix()
	}
	if g, err = replica.NewGrant(g); err != nil {
		return control.Shared{}, control.Errorf(control.KindUsage, "%w", err)
	}
	s.ID = g.ID
	res := control.Shared{Share: s, URLs: d.peerURLs(r.Workspace)}
	if res.Token, err = replica.Sign(id.Key, g); err != nil {
		return control.Shared{}, err
	}
	if res.Fingerprint, err = id.Fingerprint(); err != nil {
		return control.Shared{}, err
	}
	return res, d.shares.change(func(list []control.Share) ([]control.Share, bool, error) {
		return append(list, s), true, nil
	})
}

func (d *Daemon) listShares(_ context.Context, r control.SharesRequest) (control.Shares, error) {
	res := control.Shares{Shares: []control.Share{}}
	err := d.shares.change(func(list []control.Share) ([]control.Share, bool, error) {
		for _, s := range list {
			if r.Workspace == "" || s.Workspace == r.Workspace {
				res.Shares = append(res.Shares, s)
			}
		}
		return nil, false, nil
	})
	return res, err
}

func (d *Daemon) revoke(_ context.Context, r control.RevokeRequest) (share control.Share, err error) {
	err = d.shares.change(func(list []control.Share) ([]control.Share, bool, error) {
		at := -1
		for i, s := range list {
			if strings.HasPrefix(s.ID, r.ID) && r.ID != "" {
				if at >= 0 {
					return nil, false, control.Errorf(control.KindUsage, "more than one token begins with %s; give more of its digits", r.ID)
				}
				at = i
			}
		}
		if at < 0 {
			return nil, false, control.Errorf(control.KindNotFound, "no token %q; vfsctl share --list has them", r.ID)
		}
		if list[at].Revoked.IsZero() {
			list[at].Revoked = time.Now().UTC().Truncate(time.Second)
		}
		share = list[at]
		return list, true, nil
	})
	if err == nil {
		d.log.Info("revoked", "token", share.ID, "workspace", share.Workspace)
		_, public := d.peers()
		public.EndToken(share.ID)
	}
	return share, err
}

// peerURLs are the addresses of a workspace for peers.
func (d *Daemon) peerURLs(ws string) []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	urls := []string{}
	for _, addr := range d.peerAddresses {
		urls = append(urls, fmt.Sprintf("vfs://%s/%s", addr, ws))
	}
	return urls
}
