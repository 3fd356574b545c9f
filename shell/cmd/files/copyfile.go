package files

import (
	"fmt"
	"io"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// copySpan is how much one Handle.CopyTo is asked to copy, so that a copy can
// be ended in between.
const copySpan = 64 << 20

// regular copies the bytes of a file.
func (k *copier) regular(j *job) bool {
	w := k.c.FS
	src, err := w.Open(j.src)
	if err != nil {
		return k.fail(err, "cannot open %s for reading", j.src)
	}
	defer src.Close()
	dst, ok := k.openTarget(j)
	if !ok {
		return false
	}
	if !k.attrsOnly {
		if ok := k.bytes(j, src, dst); !ok {
			dst.Close()
			return false
		}
	}
	if err := dst.Close(); err != nil {
		return k.fail(err, "failed to close %s", j.dst)
	}
	if !k.finish(j, nil) {
		return false
	}
	if a, err := w.Lstat(j.dst); err == nil && j.operand {
		k.written[j.dst] = a.Ino
	}
	return true
}

// openTarget opens the destination for writing, making it or emptying it.
func (k *copier) openTarget(j *job) (vfs.File, bool) {
	w := k.c.FS
	if j.exists && !j.removed {
		flags := syscall.O_WRONLY
		if !k.attrsOnly {
			flags |= syscall.O_TRUNC
		}
		f, err := w.OpenFile(j.dst, flags, 0)
		if err == nil {
			return f, true
		}
		if !k.force {
			return nil, k.fail(err, "cannot create regular file %s", j.dst)
		}
		if err := w.Unlink(j.dst); err != nil {
			return nil, k.fail(err, "cannot remove %s", j.dst)
		}
		if k.verbose {
			fmt.Fprintf(k.c.Stdout, "removed %s\n", k.q(j.dst))
		}
		j.removed = true
	}
	perm := j.attr.Mode & 0o777
	if k.setMode != nil {
		perm = 0o600
	}
	f, err := w.OpenFile(j.dst, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, perm)
	if toErrno(err) == syscall.EEXIST {
		if a, lerr := w.Lstat(j.dst); lerr == nil && a.IsSymlink() {
			if _, posix := k.c.Env.Lookup("POSIXLY_CORRECT"); !posix {
				return nil, k.errorf("not writing through dangling symlink %s", k.q(j.dst))
			}
			f, err = w.OpenFile(j.dst, syscall.O_WRONLY|syscall.O_CREAT, perm)
		}
	}
	if toErrno(err) == syscall.EISDIR && len(j.dst) > 0 && j.dst[len(j.dst)-1] == '/' {
		err = syscall.ENOTDIR
	}
	if err != nil {
		return nil, k.fail(err, "cannot create regular file %s", j.dst)
	}
	return f, true
}

// bytes copies the content: by sharing it where both are files of the
// workspace, through a buffer otherwise.
func (k *copier) bytes(j *job, src, dst vfs.File) bool {
	from, to := command.Regular(src), command.Regular(dst)
	if from == nil || to == nil {
		readErr, writeErr := stream(k.ctx, dst, src)
		if readErr != nil {
			return k.fail(readErr, "error reading %s", j.src)
		}
		if writeErr != nil {
			return k.fail(writeErr, "error writing %s", j.dst)
		}
		return true
	}
	if err := copyHandle(k, from, to); err != nil {
		return k.fail(err, "error copying %s to %s", j.src, j.dst)
	}
	return true
}

// copyHandle copies all data of from, and its size; holes stay holes.
func copyHandle(k *copier, from, to *vfs.RegularFile) error {
	op := &k.c.FS.Op
	src := from.Handle()
	var off int64
	for {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		start, err := src.Seek(op, off, 3)
		if toErrno(err) == syscall.ENXIO {
			break // no data from here on
		}
		if err != nil {
			start = off
		}
		span := int64(copySpan)
		if hole, herr := src.Seek(op, start, 4); herr == nil && hole > start {
			span = min(span, hole-start)
		}
		n, err := src.CopyTo(op, start, to.Handle(), start, span)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
		off = start + n
	}
	a, err := from.Stat()
	if err != nil {
		return err
	}
	if int64(a.Size) > off {
		return to.Truncate(int64(a.Size))
	}
	return nil
}

// equalFiles reports whether two files hold the same bytes.
func (k *copier) equalFiles(a, b string) bool {
	fa, err := k.c.FS.Open(a)
	if err != nil {
		return false
	}
	defer fa.Close()
	fb, err := k.c.FS.Open(b)
	if err != nil {
		return false
	}
	defer fb.Close()
	pa, pb := make([]byte, copySize), make([]byte, copySize)
	for k.ctx.Err() == nil {
		na, ea := io.ReadFull(fa, pa)
		nb, eb := io.ReadFull(fb, pb)
		if na != nb || string(pa[:na]) != string(pb[:nb]) {
			return false
		}
		if ea != nil || eb != nil {
			return ea != nil && eb != nil
		}
	}
	return false
}
