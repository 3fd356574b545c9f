package daemon

import (
	"context"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/checkout"
	"github.com/vfsd/vfsd/internal/control"
	"github.com/vfsd/vfsd/workspace"
)

// Checkouts are listed in a file; each has a directory for its state, and a shadow,
// which is a workspace of its own: vfsctl list shows it.
const (
	checkoutsName = "checkouts.json"
	checkoutsDir  = "checkouts"
)

// checkoutEntry is one of the list.
type checkoutEntry struct {
	Workspace string `json:"workspace"`
	Dir       []byte `json:"dir"` // its path, with all its bytes
	Shadow    string `json:"shadow"`
}

// checkouts are those of a daemon.
type checkouts struct {
	file stateFile
	mu   sync.Mutex
	busy map[string]bool // by directory; guarded by mu
}

func (c *checkouts) change(f func([]checkoutEntry) ([]checkoutEntry, bool, error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var list []checkoutEntry
	if err := c.file.load(&list); err != nil {
		return err
	}
	list, save, err := f(list)
	if err != nil || !save {
		return err
	}
	return c.file.save(list)
}

// claim marks a directory as being worked on.
func (c *checkouts) claim(dir string) (release func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.busy == nil {
		c.busy = map[string]bool{}
	}
	if c.busy[dir] {
		return nil, control.Errorf(control.KindBusy, "checkout %s: it is being kept equal already", control.Printable(dir))
	}
	c.busy[dir] = true
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.busy, dir)
	}, nil
}

// shadowName names the shadow of a directory.
func shadowName(ws, dir string) string {
	sum := chunk.Sum([]byte(dir))
	name := ".checkout-" + hex.EncodeToString(sum[:8])
	return ws[:min(len(ws), 64-len(name))] + name
}

// realDir returns the real path of a directory that a checkout may have.
func (d *Daemon) realDir(dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		return "", control.Errorf(control.KindUsage, "checkout %q: the path is absolute", dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	for _, a := range d.active() {
		if real == a.entry.MountPoint || strings.HasPrefix(real, a.entry.MountPoint+"/") {
			return "", control.Errorf(control.KindUsage, "checkout %s: it is in the workspace %s, which is mounted there", control.Printable(real), a.entry.Workspace)
		}
	}
	return real, nil
}

// entryFor finds the checkout of a directory, or makes one.
func (d *Daemon) entryFor(ws, dir string) (e checkoutEntry, err error) {
	err = d.checkouts.change(func(list []checkoutEntry) ([]checkoutEntry, bool, error) {
		for _, x := range list {
			other := string(x.Dir)
			switch {
			case other == dir && x.Workspace == ws:
				e = x
				return nil, false, nil
			case other == dir:
				return nil, false, control.Errorf(control.KindExists, "checkout %s: it is one of workspace %s; vfsctl checkout --remove %s ends that",
					control.Printable(dir), x.Workspace, control.Word(dir))
			case strings.HasPrefix(other, dir+"/") || strings.HasPrefix(dir, other+"/"):
				return nil, false, control.Errorf(control.KindUsage, "checkout %s: it overlaps the checkout %s", control.Printable(dir), control.Printable(other))
			}
		}
		e = checkoutEntry{Workspace: ws, Dir: []byte(dir), Shadow: shadowName(ws, dir)}
		return append(list, e), true, nil
	})
	return e, err
}

// openCheckout opens the checkout of a directory with its shadow.
func (d *Daemon) openCheckout(ctx context.Context, ws, dir string) (*checkout.Checkout, error) {
	live, err := d.data.Open(ws)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	e, err := d.entryFor(ws, dir)
	if err != nil {
		return nil, err
	}
	state := filepath.Join(d.dir, checkoutsDir, e.Shadow)
	shadow, err := d.data.Open(e.Shadow)
	if errors.Is(err, workspace.ErrNoSuch) {
		// It was removed by hand, or never made. Without it nobody knows what both
		// last agreed on: the directory counts as one that was there before.
		if err := os.RemoveAll(state); err != nil {
			return nil, err
		}
		shadow, err = d.data.Fork(ctx, live, chunk.ID{}, e.Shadow)
	}
	if err != nil {
		return nil, err
	}
	return checkout.Open(ctx, checkout.Options{Dir: dir, StateDir: state, Name: ws, Shadow: shadow, Live: live})
}

// checkoutStream makes a directory and a workspace equal.
func (d *Daemon) checkoutStream(ctx context.Context, r control.CheckoutRequest, out control.Sink[control.CheckedOut]) (res control.CheckedOut, err error) {
	dir, err := d.realDir(control.Name(r.Dir, r.DirBytes))
	if err != nil {
		return res, err
	}
	if strings.HasPrefix(d.dir+"/", dir+"/") || strings.HasPrefix(dir, d.dir+"/") {
		return res, control.Errorf(control.KindUsage, "checkout %s: %w", control.Printable(dir), checkout.ErrInside)
	}
	release, err := d.checkouts.claim(dir)
	if err != nil {
		return res, err
	}
	defer release()
	c, err := d.openCheckout(ctx, r.Workspace, dir)
	if err != nil {
		return res, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if !r.Watch {
		report, err := c.Pass(ctx)
		return wireReport(report, nil), checkoutError(err)
	}
	err = c.Watch(ctx, func(report checkout.Report, err error) { out.Item(wireReport(report, err)) })
	return res, checkoutError(err)
}

func checkoutError(err error) error {
	if errors.Is(err, checkout.ErrEmptied) || errors.Is(err, checkout.ErrOtherDisk) {
		return control.Wrap(control.KindBusy, err)
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return control.Wrap(control.KindNoSpace, err)
	}
	return err
}

func wireReport(r checkout.Report, err error) control.CheckedOut {
	c := control.CheckedOut{Added: r.Added, Changed: r.Changed, Removed: r.Removed, Moved: r.Moved, Emitted: r.Emitted,
		Conflicts: []control.CheckoutConflict{}, Problems: []control.CheckoutProblem{}}
	for _, x := range r.Conflicts {
		c.Conflicts = append(c.Conflicts, control.CheckoutConflict{Path: x.Path, Beside: x.Beside,
			PathBytes: control.Bytes(x.Path), BesideBytes: control.Bytes(x.Beside)})
	}
	for _, x := range r.Problems {
		c.Problems = append(c.Problems, control.CheckoutProblem{Path: x.Path, PathBytes: control.Bytes(x.Path), Why: x.Err.Error()})
	}
	if err != nil {
		c.Error = Classify(checkoutError(err)).Message
	}
	return c
}

func (d *Daemon) listCheckouts(context.Context, control.CheckoutsRequest) (control.Checkouts, error) {
	res := control.Checkouts{Checkouts: []control.Checkout{}}
	err := d.checkouts.change(func(list []checkoutEntry) ([]checkoutEntry, bool, error) {
		for _, e := range list {
			dir := string(e.Dir)
			res.Checkouts = append(res.Checkouts, control.Checkout{Workspace: e.Workspace, Dir: dir, DirBytes: control.Bytes(dir), Busy: d.checkouts.busy[dir]})
		}
		return nil, false, nil
	})
	return res, err
}

func (d *Daemon) removeCheckout(_ context.Context, r control.RemoveCheckoutRequest) (control.Empty, error) {
	dir := control.Name(r.Dir, r.DirBytes)
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	release, err := d.checkouts.claim(dir)
	if err != nil {
		return control.Empty{}, err
	}
	defer release()
	var gone checkoutEntry
	err = d.checkouts.change(func(list []checkoutEntry) ([]checkoutEntry, bool, error) {
		i := slices.IndexFunc(list, func(e checkoutEntry) bool { return string(e.Dir) == dir })
		if i < 0 {
			return nil, false, control.Errorf(control.KindNotFound, "%s: no checkout is there; vfsctl checkout --list has them", control.Printable(dir))
		}
		gone = list[i]
		return slices.Delete(list, i, i+1), true, nil
	})
	if err != nil {
		return control.Empty{}, err
	}
	return control.Empty{}, d.dropCheckout(gone)
}

// dropCheckouts ends the checkouts of a workspace that is no more: they are none of
// a later one of its name.
func (d *Daemon) dropCheckouts(ws string) error {
	var gone []checkoutEntry
	err := d.checkouts.change(func(list []checkoutEntry) ([]checkoutEntry, bool, error) {
		kept := slices.DeleteFunc(slices.Clone(list), func(e checkoutEntry) bool { return e.Workspace == ws })
		for _, e := range list {
			if e.Workspace == ws {
				gone = append(gone, e)
			}
		}
		return kept, len(gone) > 0, nil
	})
	for _, e := range gone {
		err = errors.Join(err, d.dropCheckout(e))
	}
	return err
}

// dropCheckout removes what a checkout had in the data directory.
func (d *Daemon) dropCheckout(e checkoutEntry) error {
	err := d.data.Remove(e.Shadow)
	if errors.Is(err, workspace.ErrNoSuch) {
		err = nil
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(d.dir, checkoutsDir, e.Shadow)))
}
