package files

import (
	"fmt"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/vfs"
)

// confront decides what becomes of what is at the destination: done says that
// nothing is left to do, ok that this is no failure.
func (k *copier) confront(j *job, deref bool) (done, ok bool) {
	w := k.c.FS
	a := &j.attr
	var err error
	// Only what writes into an existing file looks through a symlink.
	if !a.IsRegular() && !(k.contents && !a.IsDir() && !a.IsSymlink()) ||
		k.move || k.symlinks || k.hardLinks || k.backup.on() || k.unlink {
		j.old, err = w.Lstat(j.dst)
	} else {
		j.old, err = w.Stat(j.dst)
	}
	switch errno := toErrno(err); {
	case errno == syscall.ENOENT:
		return false, true
	case errno == syscall.ELOOP && k.force:
		return false, true
	case err != nil:
		return true, k.fail(err, "cannot stat %s", j.dst)
	}
	j.exists = true
	if done, ok := k.sameFile(j, deref); done {
		return true, ok
	}
	if k.update && !a.IsDir() && j.old.Mtime >= a.Mtime {
		return true, true
	}
	if !a.IsDir() || k.move {
		if k.overwrite == overwriteNo {
			return true, true
		}
		if k.overwrite == overwriteAsk && !k.askOverwrite(j) {
			return true, true
		}
	}
	if done := k.mismatch(j); done {
		return true, false
	}
	return k.makeRoom(j)
}

// askOverwrite asks before a file is replaced.
func (k *copier) askOverwrite(j *job) bool {
	if !j.old.IsSymlink() && k.c.FS.Access(j.dst, vfs.MayWrite) != nil {
		return k.ask(fmt.Sprintf("replace %s, overriding mode %04o (%s)? ", k.q(j.dst), j.old.Mode&vfs.ModePerm, gnulib.ModeString(j.old.Mode)[1:]))
	}
	return k.ask(fmt.Sprintf("overwrite %s? ", k.q(j.dst)))
}

// mismatch reports what must not replace what.
func (k *copier) mismatch(j *job) bool {
	a, old := &j.attr, &j.old
	if !old.IsDir() {
		if a.IsDir() && !(k.move && k.backup.on()) {
			k.errorf("cannot overwrite non-directory %s with directory %s", k.q(j.dst), k.q(j.src))
			return true
		}
		if ino, made := k.written[j.dst]; j.operand && made && ino == old.Ino && !k.backup.on() {
			k.errorf("will not overwrite just-created %s with %s", k.q(j.dst), k.q(j.src))
			return true
		}
		return false
	}
	if !a.IsDir() && !(k.move && k.backup.on()) {
		k.errorf("cannot overwrite directory %s with non-directory", k.q(j.dst))
		return true
	}
	return false
}

// makeRoom backs up or removes what is at the destination, where that is due.
func (k *copier) makeRoom(j *job) (done, ok bool) {
	w := k.c.FS
	if k.backup.on() && !(j.attr.IsDir() && j.old.IsDir() && !k.move) {
		j.saved = k.backup.name(k.c, j.dst)
		if from, err := w.Stat(j.src); err == nil {
			if to, terr := w.Stat(j.saved); terr == nil && to.Ino == from.Ino {
				verb := "copied"
				if k.move {
					verb = "moved"
				}
				return true, k.errorf("backing up %s might destroy source;  %s not %s", k.q(j.dst), k.q(j.src), verb)
			}
		}
		if err := w.Rename(j.dst, j.saved, 0); err != nil {
			return true, k.fail(err, "cannot backup %s", j.dst)
		}
		j.exists, j.removed = false, true
		return false, true
	}
	if !j.old.IsDir() && !k.move && (k.unlink || k.keep.links && j.old.Nlink > 1 || k.follow == followNone && !j.attr.IsRegular()) {
		if err := w.Unlink(j.dst); err != nil && toErrno(err) != syscall.ENOENT {
			return true, k.fail(err, "cannot remove %s", j.dst)
		}
		if k.verbose {
			fmt.Fprintf(k.c.Stdout, "removed %s\n", k.q(j.dst))
		}
		j.exists, j.removed = false, true
	}
	return false, true
}

// sameFile decides what a copy of a file onto itself means.
func (k *copier) sameFile(j *job, deref bool) (done, ok bool) {
	w := k.c.FS
	src, serr := w.Stat(j.src)
	dst, derr := w.Stat(j.dst)
	lsrc, err1 := w.Lstat(j.src)
	ldst, err2 := w.Lstat(j.dst)
	if err1 != nil || err2 != nil {
		return false, true
	}
	sameLink := lsrc.Ino == ldst.Ino
	same := sameLink || serr == nil && derr == nil && src.Ino == dst.Ino
	if !same {
		return false, true
	}
	if k.hardLinks && sameLink && !k.sameDentry(j.src, j.dst) {
		return true, true // it is there already
	}
	refuse := func() (bool, bool) {
		return true, k.errorf("%s and %s are the same file", k.q(j.src), k.q(j.dst))
	}
	oneName := k.sameDentry(j.src, j.dst)
	switch {
	case oneName:
		return refuse()
	case k.backup.on():
		return false, true
	case k.move && !sameLink && ldst.IsSymlink():
		return false, true // only the symlink is replaced
	case k.move && lsrc.IsSymlink():
		return refuse()
	case k.unlink, k.symlinks && k.force:
		if lsrc.IsSymlink() && deref && !ldst.IsSymlink() {
			return refuse()
		}
		return false, true
	case !deref && lsrc.IsSymlink() && !k.contents && !ldst.IsSymlink():
		return refuse()
	case !deref && lsrc.IsSymlink() && ldst.IsSymlink() && !sameLink:
		return false, true
	case k.hardLinks && lsrc.IsSymlink() != ldst.IsSymlink():
		return true, true
	case k.keep.links && !k.move && sameLink && lsrc.Nlink > 1 && !lsrc.IsSymlink():
		return true, true
	}
	return refuse()
}

// sameDentry reports whether two paths are one name in one directory.
func (k *copier) sameDentry(a, b string) bool {
	fa, err1 := k.c.FS.Walk(gnulib.StripSlashes(a), false)
	fb, err2 := k.c.FS.Walk(gnulib.StripSlashes(b), false)
	return err1 == nil && err2 == nil && fa.Parent == fb.Parent && fa.Name == fb.Name
}

// rename moves a file: within a workspace that is always one rename.
func (k *copier) rename(j *job) bool {
	w := k.c.FS
	err := error(syscall.ENOTDIR)
	if !linkWithSlash(k.c, j.src) {
		err = w.Rename(j.src, j.dst, 0)
	}
	switch errno := toErrno(err); {
	case err == nil:
		if k.verbose {
			k.announce(j, "renamed ")
		}
		if a, err := w.Lstat(j.dst); err == nil && j.operand {
			k.written[j.dst] = a.Ino
		}
		return true
	case errno == syscall.EINVAL && j.attr.IsDir():
		return k.errorf("cannot move %s to a subdirectory of itself, %s", k.q(j.src), k.q(j.dst))
	}
	if j.saved != "" {
		if uerr := w.Rename(j.saved, j.dst, 0); uerr != nil {
			k.fail(uerr, "cannot un-backup %s", j.dst)
		}
	}
	return k.fail(err, "cannot move %s to %s", j.src, j.dst)
}
