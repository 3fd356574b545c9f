//go:build linux

package checkout

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// Checkout is a directory that is kept equal with a workspace. One pass runs at
// a time.
type Checkout struct {
	o      Options
	mu     sync.Mutex // held by a pass
	host   *host
	index  *index
	base   chunk.ID // the shadow's commit; zero before the first emission
	report *Report
	later  bool // something was passed over and is to be looked at again
	// replaced says that another directory took the place of the one before.
	replaced bool
	busy     func(path string) bool
}

// Open takes a checkout up, or begins one. What is in Dir already is kept.
func Open(ctx context.Context, o Options) (*Checkout, error) {
	if within(o.StateDir, o.Dir) || within(o.Dir, o.StateDir) {
		return nil, fmt.Errorf("%s: %w", o.Dir, ErrInside)
	}
	h, err := openHost(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &Checkout{o: o, host: h, busy: func(string) bool { return false }}
	if err := os.MkdirAll(o.StateDir, 0o700); err != nil {
		h.close()
		return nil, err
	}
	if err := c.load(ctx); err != nil {
		h.close()
		return nil, err
	}
	return c, nil
}

// within reports whether a path is dir or lies below it.
func within(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !filepath.IsAbs(rel) && (len(rel) < 3 || rel[:3] != "../")
}

// load brings the index and the shadow into agreement. A shadow that was being
// changed when its process ended has more in it than its commit: then, and when
// there is no index, everything is looked at by its bytes.
func (c *Checkout) load(ctx context.Context) error {
	op := &vfs.Op{Ctx: ctx}
	dirty := c.o.Shadow.Stats().Dirty
	if err := removeTree(c.o.Shadow, op, vfs.RootIno, limboName); err != nil {
		return shadowTrouble(err)
	}
	id, err := c.o.Shadow.Checkpoint(ctx, workspace.CauseCheckpoint, "")
	if err != nil {
		return shadowTrouble(err)
	}
	c.base = id
	c.index = loadIndex(c.o.StateDir, c.base)
	if dirty || c.index.count == 1 {
		c.index = newIndex()
		c.index.root.stale = true
		return c.indexFrom(op, c.index.root)
	}
	return nil
}

// indexFrom fills the index from the shadow, all of it to be compared.
func (c *Checkout) indexFrom(op *vfs.Op, dir *node) error {
	names, err := listNames(c.o.Shadow, op, dir.ino)
	if err != nil {
		return shadowTrouble(err)
	}
	for _, name := range names {
		at, err := c.o.Shadow.Lookup(op, dir.ino, name)
		if err != nil {
			return shadowTrouble(err)
		}
		n := c.index.add(dir, name, at.Ino, hostStat{Mode: at.Mode}, at.IsDir())
		n.stale = true
		if at.IsDir() {
			if err := c.indexFrom(op, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close lets go of the directory. The shadow is the caller's.
func (c *Checkout) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.index.save(c.o.StateDir, c.base)
	c.host.close()
	return err
}

// Pass makes directory and workspace equal once. What changes meanwhile is for
// the next pass. After an error the report says what was done before it.
func (c *Checkout) Pass(ctx context.Context) (Report, error) { return c.pass(ctx, nil) }

// pass looks at the directories in dirty alone, or, when it is nil, at all.
func (c *Checkout) pass(ctx context.Context, dirty map[string]bool) (Report, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report, c.later = &Report{}, false
	err := c.run(ctx, dirty)
	if e := c.index.save(c.o.StateDir, c.base); err == nil {
		err = e
	}
	return *c.report, err
}

func (c *Checkout) run(ctx context.Context, dirty map[string]bool) error {
	replaced, err := c.host.refresh()
	if err != nil {
		return err
	}
	if replaced {
		c.replaced, dirty = true, nil
	}
	if err := c.resume(ctx); err != nil {
		return err
	}
	if err := c.guard(); err != nil {
		return err
	}
	if err := c.absorb(ctx, dirty); err != nil {
		return err
	}
	commit, err := c.o.Shadow.Checkpoint(ctx, workspace.CauseCheckpoint, "")
	if err != nil {
		return shadowTrouble(err)
	}
	c.base = commit
	merged, err := c.o.Live.Merge(ctx, commit, workspace.MergeOptions{})
	if err != nil {
		return err
	}
	return c.bring(ctx, merged.Head)
}

// guard refuses to take a directory that lost everything for a wish: a disk that
// was wiped, or a build that has not begun to fill it again.
func (c *Checkout) guard() error {
	if c.index.count < 2 {
		return nil
	}
	names, err := c.host.readNames("")
	if err != nil {
		return err
	}
	for _, name := range names {
		if !reserved(name) {
			return nil
		}
	}
	for _, n := range c.index.root.children {
		if n.host.Ino != 0 { // it was there
			return fmt.Errorf("%s: %w", c.host.path, ErrEmptied)
		}
	}
	return nil
}

// resume ends an emission that was cut off, and begins the first one.
func (c *Checkout) resume(ctx context.Context) error {
	to, pending, err := pendingEmission(c.o.StateDir)
	if err != nil {
		return err
	}
	if pending {
		return c.bring(ctx, to)
	}
	if _, err := os.Stat(filepath.Join(c.o.StateDir, begunFile)); err == nil {
		return nil
	}
	if err := c.fill(ctx); err != nil {
		return err
	}
	return replaceFile(filepath.Join(c.o.StateDir, begunFile), nil)
}

// begunFile is there once the directory has been filled.
const begunFile = "begun"

// fill is the first emission: all of the shadow into the directory as it is.
func (c *Checkout) fill(ctx context.Context) error {
	at, err := c.o.Shadow.At(ctx, c.base)
	if err != nil {
		return shadowTrouble(err)
	}
	c.index = newIndex()
	op := &vfs.Op{Ctx: ctx, NoAtime: true}
	diffs, err := everything(at, op, vfs.RootIno, "", nil)
	if err != nil {
		return shadowTrouble(err)
	}
	return c.emit(ctx, at, diffs)
}

// everything lists a tree as differences from an empty one.
func everything(fsys vfs.FS, op *vfs.Op, dir vfs.Ino, p string, diffs []workspace.Difference) ([]workspace.Difference, error) {
	names, err := listNames(fsys, op, dir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		a, err := fsys.Lookup(op, dir, name)
		if err != nil {
			return nil, err
		}
		diffs = append(diffs, workspace.Difference{Kind: workspace.Added, Path: p + "/" + name, Ino: a.Ino})
		if a.IsDir() {
			if diffs, err = everything(fsys, op, a.Ino, p+"/"+name, diffs); err != nil {
				return nil, err
			}
		}
	}
	return diffs, nil
}

// bring makes the directory hold a commit that has all of the shadow's.
func (c *Checkout) bring(ctx context.Context, to chunk.ID) error {
	if to == c.base {
		return endEmission(c.o.StateDir)
	}
	diffs, err := c.o.Shadow.Diff(ctx, c.base, to)
	if err != nil {
		return shadowTrouble(err)
	}
	if len(diffs) > 0 {
		if err := c.index.save(c.o.StateDir, c.base); err != nil {
			return err
		}
		if err := beginEmission(c.o.StateDir, to); err != nil {
			return err
		}
		at, err := c.o.Shadow.At(ctx, to)
		if err != nil {
			return shadowTrouble(err)
		}
		if err := c.emit(ctx, at, diffs); err != nil {
			return err
		}
	}
	if err := c.o.Shadow.MoveHead(ctx, c.base, to); err != nil {
		return shadowTrouble(err)
	}
	c.base = to
	return endEmission(c.o.StateDir)
}

func (c *Checkout) writing(p string) bool { return c.busy(p) }

func (c *Checkout) problem(p string, err error) {
	if len(c.report.Problems) < maxProblems {
		c.report.Problems = append(c.report.Problems, Problem{p, err})
	}
}

func (c *Checkout) conflict(p, beside string) {
	c.report.Conflicts = append(c.report.Conflicts, Conflict{p, beside})
}

// maxProblems bounds a report.
const maxProblems = 1000

// settleTime is how long a file that is open for writing is left alone after its
// last change; after settleLimit it is taken as it is.
const (
	settleTime  = 2 * time.Second
	settleLimit = 10 * time.Second
)
