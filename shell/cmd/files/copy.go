package files

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// overwrite says what to do with a file that is in the way.
type overwrite uint8

const (
	overwriteYes overwrite = iota
	overwriteAsk
	overwriteNo
)

// preserved are the attributes that a copy takes over.
type preserved struct{ mode, owner, times, links, xattr bool }

// copier is what cp, mv and install are to do: one engine, as the three have
// in coreutils.
type copier struct {
	asker
	ctx context.Context

	move      bool
	recursive bool
	follow    follow
	overwrite overwrite
	update    bool
	force     bool // remove what cannot be opened
	unlink    bool // remove what is there before opening (install, --remove-destination)
	hardLinks bool
	symlinks  bool
	contents  bool // copy what a special file yields
	attrsOnly bool
	verbose   bool
	keep      preserved
	noMode    bool    // --no-preserve=mode
	setMode   *uint32 // install
	backup    backup

	seen    map[sourceKey]bool
	copied  map[vfs.Ino]string // by source: where it went, for hard links
	made    map[vfs.Ino]string // directories that this copy made, by inode
	written map[string]vfs.Ino // files made by operands of this command line
	// The operand being copied, and where to.
	top, topDst string
	intoSelf    bool // it contains its own destination: end it
}

type sourceKey struct {
	name string
	ino  vfs.Ino
}

func newCopier(ctx context.Context, c *command.Context) *copier {
	return &copier{asker: asker{c: c}, ctx: ctx, seen: map[sourceKey]bool{}, copied: map[vfs.Ino]string{},
		made: map[vfs.Ino]string{}, written: map[string]vfs.Ino{}}
}

func (k *copier) q(name string) string { return k.c.QuoteArg(name) }

func (k *copier) errorf(format string, args ...any) bool {
	k.c.Errorf(format, args...)
	return false
}

func (k *copier) fail(err error, format string, names ...string) bool {
	args := make([]any, len(names), len(names)+1)
	for i, n := range names {
		args[i] = k.q(n)
	}
	return k.errorf(format+": %s", append(args, command.Strerror(err))...)
}

// operand copies one operand of the command line to dst.
func (k *copier) operand(src, dst string) bool {
	k.top, k.topDst, k.intoSelf = src, dst, false
	return k.copy(src, dst, true, false)
}

// job is one file on its way.
type job struct {
	src, dst  string
	attr, old vfs.Attr // of the source; of what is at dst, when exists
	exists    bool
	operand   bool
	saved     string // where the backup of dst is
	removed   bool   // dst was removed to make room
}

// copy copies or moves src to dst; fresh says that dst cannot exist, because
// the directory was made just now. It reports success.
func (k *copier) copy(src, dst string, operand, fresh bool) bool {
	if k.ctx.Err() != nil {
		return false
	}
	j := job{src: src, dst: dst, operand: operand}
	deref := k.follow == followAll || operand && k.follow == followCommand
	var err error
	if deref {
		j.attr, err = k.c.FS.Stat(src)
	} else {
		j.attr, err = k.c.FS.Lstat(src)
	}
	if err != nil {
		return k.fail(err, "cannot stat %s", src)
	}
	if j.attr.IsDir() && !k.recursive {
		if k.setMode != nil {
			return k.errorf("omitting directory %s", k.q(src))
		}
		return k.errorf("-r not specified; omitting directory %s", k.q(src))
	}
	if operand {
		key := sourceKey{src, j.attr.Ino}
		if k.seen[key] {
			kind := "file"
			if j.attr.IsDir() {
				kind = "directory"
			}
			if j.attr.IsDir() || !k.backup.on() {
				k.c.Errorf("warning: source %s %s specified more than once", kind, k.q(src))
				return true
			}
		}
		k.seen[key] = true
	}
	if !fresh {
		if done, ok := k.confront(&j, deref); done {
			return ok
		}
	}
	return k.transfer(&j)
}

// transfer copies or moves to a place that is clear.
func (k *copier) transfer(j *job) bool {
	a := &j.attr
	if k.verbose && !k.move && !a.IsDir() {
		k.announce(j, "")
	}
	if k.keep.links && a.Nlink > 1 && !a.IsDir() && !k.move {
		if first, ok := k.copied[a.Ino]; ok {
			return k.linkTo(first, j)
		}
		k.copied[a.Ino] = j.dst
	}
	if a.IsDir() && !k.move {
		if k.made[a.Ino] != "" {
			k.intoSelf = true
			return k.errorf("cannot copy a directory, %s, into itself, %s", k.q(k.top), k.q(k.topDst))
		}
	}
	if k.move {
		return k.rename(j)
	}
	ok := k.create(j)
	if !ok && j.saved != "" {
		if err := k.c.FS.Rename(j.saved, j.dst, 0); err != nil {
			k.fail(err, "cannot un-backup %s", j.dst)
		}
	}
	return ok
}

func (k *copier) announce(j *job, verb string) {
	out := k.c.Stdout
	fmt.Fprintf(out, "%s%s -> %s", verb, k.q(j.src), k.q(j.dst))
	if j.saved != "" {
		fmt.Fprintf(out, " (backup: %s)", k.q(j.saved))
	}
	out.WriteByte('\n')
}

// linkTo makes the copy another name of an earlier one.
func (k *copier) linkTo(first string, j *job) bool {
	err := k.c.FS.Link(first, j.dst, false)
	if toErrno(err) == syscall.EEXIST {
		if a, serr := k.c.FS.Lstat(j.dst); serr == nil {
			if b, ferr := k.c.FS.Lstat(first); ferr == nil && a.Ino == b.Ino {
				return true
			}
		}
		if err = k.c.FS.Unlink(j.dst); err == nil {
			err = k.c.FS.Link(first, j.dst, false)
		}
	}
	if err != nil {
		return k.fail(err, "cannot create hard link %s to %s", j.dst, first)
	}
	return true
}

// create makes the copy, of whatever type, and gives it its attributes.
func (k *copier) create(j *job) bool {
	a := &j.attr
	var ok bool
	switch {
	case a.IsDir():
		return k.directory(j)
	case k.symlinks:
		return k.asSymlink(j)
	case k.hardLinks:
		return k.asHardLink(j)
	case a.IsSymlink():
		if ok = k.symlink(j); !ok {
			return false
		}
		k.finishLink(j)
		return true
	case a.IsRegular() || k.contents:
		return k.regular(j)
	case a.Mode&vfs.ModeTypeMask == vfs.ModeFIFO, a.Mode&vfs.ModeTypeMask == vfs.ModeSocket:
		if err := k.c.FS.Mknod(j.dst, a.Mode&^k.c.FS.Op.Umask, 0); err != nil {
			return k.fail(err, "cannot create fifo %s", j.dst)
		}
	default:
		if err := k.c.FS.Mknod(j.dst, a.Mode, a.Rdev); err != nil {
			return k.fail(err, "cannot create special file %s", j.dst)
		}
	}
	return k.finish(j, nil)
}

func (k *copier) asSymlink(j *job) bool {
	if !strings.HasPrefix(j.src, "/") {
		dir, err1 := k.c.FS.Stat(gnulib.Dir(j.dst))
		dot, err2 := k.c.FS.Stat(".")
		if err1 == nil && err2 == nil && dir.Ino != dot.Ino {
			return k.errorf("%s: can make relative symbolic links only in current directory", k.c.QuoteName(j.dst))
		}
	}
	err := k.c.FS.Symlink(j.src, j.dst)
	if toErrno(err) == syscall.EEXIST && k.force {
		if err = k.c.FS.Unlink(j.dst); err == nil {
			err = k.c.FS.Symlink(j.src, j.dst)
		}
	}
	if err != nil {
		return k.fail(err, "cannot create symbolic link %s to %s", j.dst, j.src)
	}
	return true
}

func (k *copier) asHardLink(j *job) bool {
	err := k.c.FS.Link(j.src, j.dst, k.follow != followNone)
	if toErrno(err) == syscall.EEXIST && (k.force || k.overwrite == overwriteAsk) {
		if err = k.c.FS.Unlink(j.dst); err == nil {
			err = k.c.FS.Link(j.src, j.dst, k.follow != followNone)
		}
	}
	if err != nil {
		return k.fail(err, "cannot create hard link %s to %s", j.dst, j.src)
	}
	return true
}

func (k *copier) symlink(j *job) bool {
	target, err := k.c.FS.Readlink(j.src)
	if err != nil {
		return k.fail(err, "cannot read symbolic link %s", j.src)
	}
	err = k.c.FS.Symlink(target, j.dst)
	if toErrno(err) == syscall.EEXIST {
		if old, rerr := k.c.FS.Readlink(j.dst); rerr == nil && old == target {
			return true
		}
		if k.force {
			if err = k.c.FS.Unlink(j.dst); err == nil {
				err = k.c.FS.Symlink(target, j.dst)
			}
		}
	}
	if err != nil {
		return k.fail(err, "cannot create symbolic link %s", j.dst)
	}
	return true
}

// finishLink gives a symlink the owner and times of the original.
func (k *copier) finishLink(j *job) {
	if k.keep.owner {
		k.c.FS.Chown(j.dst, int64(j.attr.UID), int64(j.attr.GID), false)
	}
	if k.keep.times {
		k.c.FS.Setattr(j.dst, false, timesOf(&j.attr))
	}
}

func timesOf(a *vfs.Attr) *vfs.SetAttr {
	return &vfs.SetAttr{Mask: vfs.SetAtime | vfs.SetMtime, Atime: a.Atime, Mtime: a.Mtime}
}

// directory copies a directory and what is in it.
func (k *copier) directory(j *job) bool {
	w := k.c.FS
	fresh := !j.exists || j.removed
	var made vfs.Attr
	if fresh {
		op := w.Op
		op.Umask &^= 0o700 // it must be written until it is done
		if err := w.With(&op).Mkdir(j.dst, j.attr.Mode&0o777|0o700); err != nil {
			return k.fail(err, "cannot create directory %s", j.dst)
		}
		var err error
		if made, err = w.Stat(j.dst); err != nil {
			return k.fail(err, "cannot stat %s", j.dst)
		}
		k.made[made.Ino] = j.dst
		if k.verbose {
			k.announce(j, "")
		}
	}
	es, err := w.ReadDirIno(j.attr.Ino)
	if err != nil {
		return k.fail(err, "cannot access %s", j.src)
	}
	held := int64(len(es)) * 2 * entrySize
	if err := k.c.Memory.Grow(held); err != nil {
		return k.fail(err, "cannot access %s", j.src)
	}
	defer k.c.Memory.Shrink(held)
	ok := true
	for i := range es {
		if k.intoSelf {
			break
		}
		ok = k.copy(gnulib.Join(j.src, es[i].Name), gnulib.Join(j.dst, es[i].Name), false, fresh) && ok
	}
	if !fresh {
		if k.keep.mode || k.keep.owner || k.keep.times {
			return k.finish(j, nil) && ok
		}
		return ok
	}
	mode := made.Mode & vfs.ModePerm
	if j.attr.Mode&0o700 != 0o700 || w.Op.Umask&0o700 != 0 {
		mode = mode&^0o777 | j.attr.Mode&0o777&^w.Op.Umask
	}
	return k.finish(j, &mode) && ok
}

// finish gives the copy the attributes that it takes over; mode, if not nil,
// is what it gets when it does not take over the original's.
func (k *copier) finish(j *job, mode *uint32) bool {
	w, a := k.c.FS, &j.attr
	if k.keep.xattr {
		k.copyXattrs(j)
	}
	if k.keep.owner {
		if err := w.Chown(j.dst, int64(a.UID), int64(a.GID), false); err != nil && w.Op.UID == 0 {
			return k.fail(err, "failed to preserve ownership for %s", j.dst)
		}
	}
	switch {
	case k.keep.mode:
		if err := w.Chmod(j.dst, a.Mode&vfs.ModePerm); err != nil {
			return k.fail(err, "preserving permissions for %s", j.dst)
		}
	case k.setMode != nil:
		if err := w.Chmod(j.dst, *k.setMode); err != nil {
			return k.fail(err, "setting permissions for %s", j.dst)
		}
	case k.noMode && (!j.exists || j.removed):
		perm := uint32(0o666)
		if a.IsDir() {
			perm = 0o777
		}
		if err := w.Chmod(j.dst, perm&^w.Op.Umask); err != nil {
			return k.fail(err, "setting permissions for %s", j.dst)
		}
	case mode != nil:
		if now, err := w.Stat(j.dst); err == nil && now.Mode&vfs.ModePerm != *mode {
			if err := w.Chmod(j.dst, *mode); err != nil {
				return k.fail(err, "preserving permissions for %s", j.dst)
			}
		}
	}
	if k.keep.times {
		if err := w.Setattr(j.dst, false, timesOf(a)); err != nil {
			return k.fail(err, "preserving times for %s", j.dst)
		}
	}
	return true
}

// copyXattrs copies extended attributes; what cannot be copied is left behind,
// as cp -a leaves it.
func (k *copier) copyXattrs(j *job) {
	w := k.c.FS
	to, err := w.Stat(j.dst)
	if err != nil {
		return
	}
	names, err := w.FS.Listxattr(&w.Op, j.attr.Ino)
	if err != nil {
		return
	}
	for _, name := range names {
		if v, err := w.FS.Getxattr(&w.Op, j.attr.Ino, name); err == nil {
			w.FS.Setxattr(&w.Op, to.Ino, name, v, 0)
		}
	}
}
