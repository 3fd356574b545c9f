package daemon

import (
	"context"
	"errors"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/workspace"
)

// source brings the chunks that a lazy workspace was promised, from the remotes
// that it was cloned from.
type source struct {
	d         *Daemon
	workspace string
}

// Fetch implements workspace.Source. A fork, or the shadow of a checkout, has no
// remote of its own: then those of all lazy workspaces are asked.
func (s source) Fetch(ctx context.Context, ids []chunk.ID, got func(chunk.ID, []byte) error) error {
	at, err := s.d.remotes.lazy(s.workspace)
	if err != nil {
		return err
	}
	err = workspace.ErrPromised
	for _, r := range at {
		left := map[chunk.ID]bool{}
		for _, id := range ids {
			left[id] = true
		}
		ferr := s.fetchFrom(ctx, r, ids, func(id chunk.ID, data []byte) error {
			if data == nil {
				return nil
			}
			delete(left, id)
			return got(id, data)
		})
		if ferr == nil && len(left) == 0 {
			return nil
		}
		err = errors.Join(err, ferr)
		ids = ids[:0:0]
		for id := range left {
			ids = append(ids, id)
		}
	}
	return err
}

func (s source) fetchFrom(ctx context.Context, r control.SyncRequest, ids []chunk.ID, item func(chunk.ID, []byte) error) error {
	x, err := s.d.openRemote(ctx, r, false)
	if err != nil {
		return err
	}
	if err := x.Items(ctx, protocol.KindChunk, ids, item); err != nil {
		go x.Client.Close()
		return err
	}
	s.d.sessions.put(x.key, x.Client)
	return nil
}

// lazy returns the lazy remotes: of the workspace, or, when it has none, of all.
func (r *remotes) lazy(ws string) (found []control.SyncRequest, err error) {
	err = r.change(func(all map[string]map[string]remote) (bool, error) {
		for w, of := range all {
			for name, m := range of {
				if m.Lazy && w == ws {
					found = []control.SyncRequest{{Workspace: w, Remote: name}}
					return false, nil
				}
				if m.Lazy {
					found = append(found, control.SyncRequest{Workspace: w, Remote: name})
				}
			}
		}
		return false, nil
	})
	return found, err
}
