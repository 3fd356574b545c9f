//go:build linux

package checkout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// emission does to the directory what a merge brought. Each step can be done
// again: a pass that ended in the middle is taken up from its beginning.
//
// Names that go or move leave their places first, deepest first, those that move
// to the root of the directory under a name of our own; then, from the top down,
// everything takes its place. Nothing is removed or replaced that is not what
// the index says; what would have replaced it is put beside it.
type emission struct {
	c      *Checkout
	ctx    context.Context
	op     *vfs.Op
	to     vfs.FS              // the commit that the directory is brought to
	moving map[vfs.Ino][]*node // on their way, in the root under a name of our own
	dirs   map[string]bool     // whose times were moved by what was done in them
	seq    int
}

// emit applies differences to the directory.
func (c *Checkout) emit(ctx context.Context, to vfs.FS, diffs []workspace.Difference) error {
	e := &emission{c: c, ctx: ctx, op: &vfs.Op{Ctx: ctx, NoAtime: true}, to: to,
		moving: map[vfs.Ino][]*node{}, dirs: map[string]bool{}}
	if err := e.takeUp(); err != nil {
		return err
	}
	slices.SortStableFunc(diffs, func(a, b workspace.Difference) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(rank(a.Kind), rank(b.Kind)))
	})
	if err := e.clear(diffs); err != nil {
		return err
	}
	for _, d := range diffs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := e.apply(d); err != nil {
			if err = e.cannot(d.Path, err); err != nil {
				return err
			}
			e.forget(d)
		}
	}
	return e.times()
}

// forget has the index know nothing of a file that could not be given what the
// workspace has: what is in the directory must not count as an edit of that.
func (e *emission) forget(d workspace.Difference) {
	for _, n := range e.c.index.nodesOf(d.Ino) {
		if !n.isDir() {
			e.c.index.remove(n)
		}
	}
}

// rank has a path be there before it is looked at for what else changed.
func rank(k workspace.DifferenceKind) int {
	if k == workspace.Modified || k == workspace.Metadata {
		return 1
	}
	return 0
}

func (e *emission) apply(d workspace.Difference) error {
	p := relative(d.Path)
	switch d.Kind {
	case workspace.Removed:
		return nil // clear did it
	case workspace.Renamed:
		return e.settle(d.Ino, p)
	case workspace.Added:
		e.c.report.Emitted++
		return e.place(d.Ino, p)
	}
	e.c.report.Emitted++
	at, err := e.to.Getattr(e.op, d.Ino)
	if err != nil {
		return shadowTrouble(err)
	}
	if n := e.c.index.at(p); n != nil && n.ino != d.Ino {
		if err := e.rebind(n, d.Ino, at); err != nil {
			return err
		}
	}
	if p != "" && e.c.index.at(p) == nil {
		if err := e.place(d.Ino, p); err != nil {
			return err
		}
	}
	for _, n := range e.c.index.nodesOf(d.Ino) {
		if err := e.revise(n, at, d.Kind == workspace.Modified); err != nil {
			return err
		}
	}
	return nil
}

// rebind gives a node another inode: a file that was removed and made again under
// its name counts as modified. Where the two are not alike, the old one goes.
func (e *emission) rebind(n *node, ino vfs.Ino, at vfs.Attr) error {
	if !n.isDir() && sameType(n.host.Mode, at.Mode) && len(e.c.index.byIno[n.ino]) == 1 && len(e.c.index.byIno[ino]) == 0 {
		e.c.index.rebind(n, ino)
		return nil
	}
	e.dirs[path.Dir(n.path())] = true
	return e.remove(n)
}

// takeUp finds what an emission that did not end left in the root.
func (e *emission) takeUp() error {
	names, err := e.c.host.readNames("")
	if err != nil {
		return err
	}
	for _, name := range names {
		var ino, seq uint64
		rest, ours := strings.CutPrefix(name, tempPrefix)
		if ours && unfinished.MatchString(rest) {
			if err := e.c.host.unlink(name); err != nil {
				return err
			}
		}
		if _, err := fmt.Sscanf(rest, "m%x-%d", &ino, &seq); !ours || err != nil {
			continue
		}
		e.seq = max(e.seq, int(seq))
		n := e.c.index.any(vfs.Ino(ino))
		if n == nil {
			s, err := e.c.host.lstat(name)
			if err != nil {
				return err
			}
			n = e.c.index.add(e.c.index.root, name, vfs.Ino(ino), s, s.Mode&vfs.ModeTypeMask == vfs.ModeDir)
			n.stale = true
		} else {
			e.c.index.move(n, e.c.index.root, name)
		}
		e.moving[n.ino] = append(e.moving[n.ino], n)
	}
	return nil
}

// unfinished are the names of what was being made when an emission was cut off.
var unfinished = regexp.MustCompile(`^[cd][0-9]+$`)

// clear takes away what is removed and sets aside what moves, deepest first.
func (e *emission) clear(diffs []workspace.Difference) error {
	var old []workspace.Difference
	for _, d := range diffs {
		if d.Kind == workspace.Removed || d.Kind == workspace.Renamed {
			if d.Kind == workspace.Removed {
				d.From = d.Path
			}
			old = append(old, d)
		}
	}
	slices.SortStableFunc(old, func(a, b workspace.Difference) int {
		return strings.Count(b.From, "/") - strings.Count(a.From, "/")
	})
	for _, d := range old {
		n := e.c.index.at(relative(d.From))
		if n == nil || n.ino != d.Ino {
			continue // done before
		}
		var err error
		if d.Kind == workspace.Removed {
			err = e.remove(n)
			e.c.report.Emitted++
		} else {
			err = e.setAside(n)
		}
		if err == nil {
			e.dirs[path.Dir(relative(d.From))] = true
		} else if err = e.cannot(d.From, err); err != nil {
			return err
		}
	}
	return nil
}

// remove removes what a node stands for. A file that changed is left, and so is
// a directory with something in it: both are new to the next pass.
func (e *emission) remove(n *node) error {
	p := n.path()
	s, err := e.c.host.lstat(p)
	if err == nil && n.isDir() && s.key() == n.host.key() {
		err = e.c.host.rmdir(p)
		if errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST) {
			err = nil
		}
	} else if err == nil && e.untouched(n, s) {
		err = e.c.host.unlink(p)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	e.c.index.remove(n)
	return nil
}

// untouched reports whether a file is what the last pass saw.
func (e *emission) untouched(n *node, s hostStat) bool {
	if n.stale {
		return false
	}
	old := withoutDetails(n.host)
	old.Nlink, s.Nlink = 0, 0 // another name of it may have gone just now,
	if len(e.c.index.byIno[n.ino]) > 1 || n.host.Nlink > 1 {
		old.Ctime, s.Ctime = 0, 0 // and that moves ctime
	}
	return old == s
}

func (e *emission) setAside(n *node) error {
	e.seq++
	name := fmt.Sprintf("%sm%x-%d", tempPrefix, uint64(n.ino), e.seq)
	err := e.c.host.rename(n.path(), name, unix.RENAME_NOREPLACE)
	if errors.Is(err, fs.ErrNotExist) {
		e.c.index.remove(n)
		return nil
	}
	if err != nil {
		return err
	}
	e.c.index.move(n, e.c.index.root, name)
	e.moving[n.ino] = append(e.moving[n.ino], n)
	return e.refresh(n)
}

// settle puts what was set aside in its new place.
func (e *emission) settle(ino vfs.Ino, p string) error {
	if n := e.c.index.at(p); n != nil && n.ino == ino {
		return nil // done before
	}
	waiting := e.moving[ino]
	if len(waiting) == 0 {
		return e.place(ino, p) // removed here meanwhile; the rename keeps it
	}
	n := waiting[0]
	dir, err := e.directoryFor(p)
	if err != nil {
		return err
	}
	if err := e.takeName(n.path(), p); err != nil {
		return err
	}
	e.moving[ino] = waiting[1:]
	e.c.index.move(n, dir, path.Base(p))
	e.dirs[path.Dir(p)] = true
	e.c.report.Emitted++
	return e.refresh(n)
}

// takeName moves what lies at from to p. What is in the way there is nothing that
// the index knows: it is kept beside.
func (e *emission) takeName(from, p string) error {
	for try := 0; ; try++ {
		err := e.c.host.rename(from, p, unix.RENAME_NOREPLACE)
		if !errors.Is(err, fs.ErrExist) || try == maxConflicts {
			return err
		}
		if err := e.setBeside(p, p); err != nil {
			return err
		}
	}
}

// setBeside gives what lies at from, a version that the workspace does not have, a
// name beside p; the next pass takes it up as something new.
func (e *emission) setBeside(from, p string) error {
	for i := 1; ; i++ {
		q := fmt.Sprintf("%s.conflict-%s-%d", p, e.c.o.Name, i)
		err := e.c.host.rename(from, q, unix.RENAME_NOREPLACE)
		if errors.Is(err, fs.ErrExist) && i < maxConflicts {
			continue
		}
		if errors.Is(err, fs.ErrNotExist) && from == p {
			return nil // it has gone by itself
		}
		if err == nil {
			e.c.later = true
			e.c.conflict(p, q)
		}
		return err
	}
}

// maxConflicts bounds the copies kept beside one name.
const maxConflicts = 1000

// refresh records what the host says now of what was moved, whose ctime that
// moved; a change that nobody has seen yet stays a change.
func (e *emission) refresh(n *node) error {
	s, err := e.c.host.lstat(n.path())
	if err != nil {
		return err
	}
	old := withoutDetails(n.host)
	old.Ctime, old.Nlink = s.Ctime, s.Nlink
	if n.stale || (s != old && !n.isDir()) {
		return nil
	}
	s.Xattrs, s.Target = n.host.Xattrs, n.host.Target
	e.c.index.saw(n, s)
	return nil
}

// directoryFor returns the node of the directory that holds p.
func (e *emission) directoryFor(p string) (*node, error) {
	dir := path.Dir(p)
	if n := e.c.index.at(dir); n != nil && n.isDir() {
		return n, nil
	}
	return nil, fmt.Errorf("%s: %w", dir, fs.ErrNotExist)
}

// times sets the times of directories, the deepest first.
func (e *emission) times() error {
	dirs := make([]string, 0, len(e.dirs)+1)
	e.dirs["."] = true
	for p := range e.dirs {
		dirs = append(dirs, p)
	}
	slices.SortFunc(dirs, func(a, b string) int { return strings.Count(b, "/") - strings.Count(a, "/") })
	for _, p := range dirs {
		n := e.c.index.at(p)
		if n == nil || !n.isDir() || p != "." && n == e.c.index.root {
			continue
		}
		at, err := e.to.Getattr(e.op, n.ino)
		if errors.Is(err, unix.ENOENT) {
			continue // of here alone
		}
		if err != nil {
			return shadowTrouble(err)
		}
		if err := e.finish(n, at); err != nil {
			if err = e.cannot(p, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// cannot notes why a path was passed over. A full disk and the shadow's own
// trouble end the pass: it is taken up again.
func (e *emission) cannot(p string, err error) error {
	var own *shadowError
	if errors.As(err, &own) || e.ctx.Err() != nil || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) ||
		errors.Is(err, unix.EIO) || errors.Is(err, unix.EROFS) {
		return fmt.Errorf("%s: %w", path.Join(e.c.host.path, p), err)
	}
	e.c.problem(p, err)
	return nil
}

// relative makes a workspace's path one of the directory.
func relative(p string) string { return strings.Trim(p, "/") }
