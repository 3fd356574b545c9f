package daemon

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/workspace"
)

func (d *Daemon) conflicts(ctx context.Context, r control.ConflictsRequest) (control.Conflicts, error) {
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return control.Conflicts{}, err
	}
	return wireConflicts(ctx, w)
}

func wireConflicts(ctx context.Context, w *workspace.Workspace) (control.Conflicts, error) {
	res := control.Conflicts{Conflicts: []control.Conflict{}}
	list, err := w.Conflicts(ctx)
	for _, c := range list {
		res.Conflicts = append(res.Conflicts, control.Conflict{
			ID: c.ID, Kind: string(c.Kind), Path: c.Path, Other: c.Other, Name: c.Name, Replica: c.Replica,
			Time: time.Unix(0, c.Time).UTC(), PathBytes: control.Bytes(c.Path), OtherBytes: control.Bytes(c.Other), NameBytes: control.Bytes(c.Name),
		})
	}
	return res, err
}

// resolve ends conflicts and returns those that are left.
func (d *Daemon) resolve(ctx context.Context, r control.ResolveRequest) (control.Conflicts, error) {
	how := workspace.Resolution(r.Keep)
	if how != workspace.KeepBoth && how != workspace.KeepThis && how != workspace.KeepOther {
		return control.Conflicts{}, control.Errorf(control.KindUsage, "resolve: keep %q: it is both, this or other", r.Keep)
	}
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return control.Conflicts{}, err
	}
	list, err := w.Conflicts(ctx)
	if err != nil {
		return control.Conflicts{}, err
	}
	var ids []string
	if r.All {
		for _, c := range list {
			ids = append(ids, c.ID)
		}
	}
	for _, prefix := range r.IDs {
		id, err := findConflict(list, prefix)
		if err != nil {
			return control.Conflicts{}, err
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if err := w.ResolveConflict(ctx, id, how); err != nil {
			return control.Conflicts{}, err
		}
	}
	return wireConflicts(ctx, w)
}

// findConflict returns the ID that begins so.
func findConflict(list []workspace.Conflict, prefix string) (string, error) {
	found := ""
	for _, c := range list {
		if !strings.HasPrefix(c.ID, prefix) || prefix == "" {
			continue
		}
		if found != "" {
			return "", control.Errorf(control.KindUsage, "more than one conflict begins with %s; give more of its digits", prefix)
		}
		found = c.ID
	}
	if found == "" {
		return "", control.Errorf(control.KindNotFound, "no conflict %q; vfsctl conflicts lists them", prefix)
	}
	return found, nil
}

func (d *Daemon) policy(ctx context.Context, r control.PolicyRequest) (control.Policy, error) {
	w, err := d.data.Open(r.Workspace)
	if err != nil {
		return control.Policy{}, err
	}
	if r.Set != nil {
		err := w.SetPolicy(ctx, []byte(*r.Set))
		if errors.Is(err, workspace.ErrBadPolicy) {
			return control.Policy{}, control.Wrap(control.KindUsage, err)
		}
		if err != nil {
			return control.Policy{}, err
		}
	}
	text, err := w.Policy(ctx)
	return control.Policy{Text: string(text)}, err
}
