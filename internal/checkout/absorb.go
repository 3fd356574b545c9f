//go:build linux

package checkout

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"syscall"

	"github.com/vfsd/vfsd/vfs"
)

// absorption does to the shadow what was done to the directory. The index
// follows each step, so that it always says where the shadow has what.
type absorption struct {
	c     *Checkout
	ctx   context.Context
	op    *vfs.Op
	full  bool
	dirty map[string]bool // directories to look at, when not full
	// limbo holds what is not where it was: it may turn up elsewhere. What is
	// left in it at the end was removed.
	limbo *node
	count int
}

const limboName = ".vfsd-limbo"

// absorb looks at the whole directory, or at the directories in dirty alone, and
// reports whether anything differed.
func (c *Checkout) absorb(ctx context.Context, dirty map[string]bool) (err error) {
	a := &absorption{c: c, ctx: ctx, op: &vfs.Op{Ctx: ctx}, full: dirty == nil, dirty: dirty}
	defer func() {
		if e := a.emptyLimbo(); err == nil {
			err = e
		}
	}()
	if a.full {
		return a.directory(c.index.root, "")
	}
	for p := range dirty {
		n := c.index.at(p)
		if n == nil || !n.isDir() {
			continue // a new one: whatever holds it is dirty too
		}
		if err := a.directory(n, p); err != nil {
			return err
		}
	}
	return nil
}

// directory compares a directory with its node, and what is below it as far as
// it was asked for.
func (a *absorption) directory(n *node, p string) error {
	if err := a.ctx.Err(); err != nil {
		return err
	}
	before, err := a.c.host.lstat(p)
	if err != nil {
		return a.cannot(p, err)
	}
	names, err := a.c.host.readNames(p)
	if err != nil {
		return a.cannot(p, err)
	}
	present := make(map[string]bool, len(names))
	for _, name := range names {
		if reserved(name) {
			continue
		}
		present[name] = true
		if err := a.entry(n, name, path.Join(p, name)); err != nil {
			return err
		}
	}
	for name, child := range n.children {
		if !present[name] {
			if err := a.displace(child); err != nil {
				return err
			}
			a.c.report.Removed++
		}
	}
	return a.directoryAttributes(n, p, before)
}

// directoryAttributes takes over what differs of the directory itself, its time
// last, because what was done to its entries has moved it.
func (a *absorption) directoryAttributes(n *node, p string, s hostStat) error {
	if s == withoutDetails(n.host) && !n.stale {
		return a.directoryTime(n.ino, s.Mtime)
	}
	if err := a.c.host.complete(p, &s); err != nil {
		return a.cannot(p, err)
	}
	if err := a.attributes(n, s); err != nil {
		return a.cannot(p, err)
	}
	a.c.index.saw(n, s)
	return nil
}

func (a *absorption) directoryTime(ino vfs.Ino, mtime int64) error {
	at, err := a.shadow().Getattr(a.op, ino)
	if err != nil || at.Mtime == mtime {
		return err
	}
	_, err = a.shadow().Setattr(a.op, ino, &vfs.SetAttr{Mask: vfs.SetMtime, Mtime: mtime})
	return err
}

// entry brings one name of a directory up to date.
func (a *absorption) entry(dir *node, name, p string) error {
	s, err := a.c.host.lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone since it was listed; the next pass sees that
	}
	if errors.Is(err, syscall.EXDEV) {
		return nil // another disk is mounted there: what it hides stays as it is
	}
	if err != nil {
		return a.cannot(p, err)
	}
	n := dir.children[name]
	switch {
	case n != nil && sameType(n.host.Mode, s.Mode) && (n.host.key() == s.key() || n.stale && a.grouped(n, s)):
		return a.known(n, p, s)
	case n != nil && a.replaces(n, s):
		return a.known(n, p, s)
	case n != nil:
		if err := a.displace(n); err != nil {
			return err
		}
	}
	if err := a.appeared(dir, name, p, s); err != nil {
		return a.cannot(p, err)
	}
	return nil
}

// grouped reports whether a name that is stale has, as far as is known, the
// links that its file has.
func (a *absorption) grouped(n *node, s hostStat) bool {
	if n.isDir() {
		return true
	}
	for other := range a.c.index.byHost[s.key()] {
		if other.ino != n.ino {
			return false
		}
	}
	for other := range a.c.index.byIno[n.ino] {
		if !other.stale && other.host.key() != s.key() {
			return false
		}
	}
	return true
}

// replaces reports whether a new file under a known name is the same one to its
// user: programs save by renaming a new file over the old, and its history,
// links and edits elsewhere are to go on.
func (a *absorption) replaces(n *node, s hostStat) bool {
	return isRegular(n.host.Mode) && isRegular(s.Mode) && len(a.c.index.byHost[s.key()]) == 0 && s.Nlink == 1 &&
		len(a.c.index.byIno[n.ino]) == 1 && len(a.c.index.byHost[n.host.key()]) == 1
}

// known brings a node up to date with the file that it stands for.
func (a *absorption) known(n *node, p string, s hostStat) error {
	if n.isDir() {
		if a.full || a.dirty[p] || n.stale {
			return a.directory(n, p)
		}
		return a.directoryAttributes(n, p, s)
	}
	if s == withoutDetails(n.host) && !n.stale {
		return nil
	}
	if a.c.writing(p) {
		a.c.later = true
		return nil
	}
	err := a.c.host.complete(p, &s)
	if err == nil {
		err = a.update(n, p, s)
	}
	if err != nil {
		return a.cannot(p, err)
	}
	return nil
}

func (a *absorption) update(n *node, p string, s hostStat) error {
	old := n.host
	if isRegular(s.Mode) && (n.stale || s.Size != old.Size || s.Mtime != old.Mtime || s.key() != old.key() || s.Ctime != old.Ctime) {
		changed, err := a.content(n.ino, p, &s)
		if err != nil {
			return err
		}
		if changed {
			a.c.report.Changed++
		}
	}
	if s.Mode&vfs.ModeTypeMask == vfs.ModeSymlink && s.Target != old.Target {
		return a.retarget(n, p, s)
	}
	if err := a.attributes(n, s); err != nil {
		return err
	}
	for other := range a.c.index.byIno[n.ino] {
		if other != n && other.host.key() == s.key() {
			a.c.index.saw(other, s)
		}
	}
	a.c.index.saw(n, s)
	return nil
}

// retarget replaces a link: where one points is not an attribute.
func (a *absorption) retarget(n *node, p string, s hostStat) error {
	dir, name := n.parent, n.name
	if n.stale {
		if t, err := a.shadow().Readlink(a.op, n.ino); err == nil && t == s.Target {
			a.c.index.saw(n, s)
			return nil
		}
	}
	if err := a.displace(n); err != nil {
		return err
	}
	return a.appeared(dir, name, p, s)
}

// appeared gives the shadow a name that it did not have: something that was
// moved, another link to something, or something new.
func (a *absorption) appeared(dir *node, name, p string, s hostStat) error {
	for n := range a.c.index.byHost[s.key()] {
		if !sameType(n.host.Mode, s.Mode) || n.host.Ino == 0 {
			continue
		}
		if a.gone(n) {
			return a.moved(n, dir, name, p, s)
		}
		if !n.isDir() {
			return a.linked(n, dir, name, p, s)
		}
	}
	a.c.report.Added++
	return a.made(dir, name, p, s)
}

// gone reports whether a node's file is not where it was.
func (a *absorption) gone(n *node) bool {
	if n.within(a.limboNode()) {
		return true
	}
	s, err := a.c.host.lstat(n.path())
	return err != nil || s.key() != n.host.key()
}

func (a *absorption) moved(n, dir *node, name, p string, s hostStat) error {
	if dir.within(n) {
		a.c.later = true // it moved while this looked: look again
		return nil
	}
	if err := a.shadow().Rename(a.op, n.parent.ino, n.name, dir.ino, name, 0); err != nil {
		return err
	}
	a.c.index.move(n, dir, name)
	a.c.report.Moved++
	if n.isDir() {
		return a.directory(n, p)
	}
	return a.known(n, p, s)
}

func (a *absorption) linked(n, dir *node, name, p string, s hostStat) error {
	if _, err := a.shadow().Link(a.op, n.ino, dir.ino, name); err != nil {
		return err
	}
	a.c.report.Added++
	return a.known(a.c.index.add(dir, name, n.ino, n.host, false), p, s)
}

// displace takes a name out of the shadow's tree, for now.
func (a *absorption) displace(n *node) error {
	limbo, err := a.limboDir()
	if err != nil {
		return err
	}
	a.count++
	name := fmt.Sprint(a.count)
	if err := a.shadow().Rename(a.op, n.parent.ino, n.name, limbo.ino, name, 0); err != nil {
		return fmt.Errorf("%s: %w", n.path(), err)
	}
	a.c.index.move(n, limbo, name)
	return nil
}

func (a *absorption) limboNode() *node {
	if a.limbo == nil {
		a.limbo = &node{name: limboName, children: map[string]*node{}}
	}
	return a.limbo
}

// limboDir makes the directory in the shadow on first use.
func (a *absorption) limboDir() (*node, error) {
	l := a.limboNode()
	if l.ino == 0 {
		at, err := a.shadow().Mkdir(a.op, vfs.RootIno, limboName, 0o700)
		if err != nil {
			return nil, err
		}
		l.ino = at.Ino
	}
	return l, nil
}

// emptyLimbo removes what turned up nowhere.
func (a *absorption) emptyLimbo() error {
	if a.limbo == nil || a.limbo.ino == 0 {
		return nil
	}
	for _, n := range a.limbo.children {
		a.c.index.remove(n)
	}
	if err := removeTree(a.shadow(), a.op, vfs.RootIno, limboName); err != nil {
		return err
	}
	return a.directoryTime(vfs.RootIno, a.c.index.root.host.Mtime)
}

// cannot notes why a path was passed over; what the shadow has there stays. What
// is the shadow's own trouble ends the pass.
func (a *absorption) cannot(p string, err error) error {
	var own *shadowError
	if errors.As(err, &own) || a.ctx.Err() != nil {
		return err
	}
	if errors.Is(err, errUnstable) || errors.Is(err, fs.ErrNotExist) {
		a.c.later = true
		return nil
	}
	a.c.problem(p, err)
	return nil
}
