//go:build linux

package checkout

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/vfs"
)

// place makes in the directory what the merge has under a name.
func (e *emission) place(ino vfs.Ino, p string) error {
	at, err := e.to.Getattr(e.op, ino)
	if err != nil {
		return shadowTrouble(err)
	}
	dir, err := e.directoryFor(p)
	if err != nil {
		return err
	}
	e.dirs[path.Dir(p)] = true
	if s, err := e.c.host.lstat(p); err == nil && sameType(s.Mode, at.Mode) {
		if same, err := e.same(p, s, at); err != nil {
			return err
		} else if same {
			return e.adopt(dir, path.Base(p), p, s, at)
		}
	}
	if at.IsDir() {
		return e.placeDir(dir, p, at)
	}
	tmp, err := e.make(ino, at)
	if err != nil {
		return err
	}
	if err := e.takeName(tmp, p); err != nil {
		return errors.Join(err, e.c.host.unlink(tmp))
	}
	return e.seen(e.c.index.add(dir, path.Base(p), ino, hostStat{}, false))
}

// adopt takes what is there already, and equal, for what should be there.
func (e *emission) adopt(dir *node, name, p string, s hostStat, at vfs.Attr) error {
	n := dir.children[name]
	if n == nil || n.ino != at.Ino {
		n = e.c.index.add(dir, name, at.Ino, s, at.IsDir())
	}
	if at.IsDir() {
		e.dirs[p] = true
		return e.seen(n)
	}
	return e.finish(n, at)
}

func (e *emission) placeDir(dir *node, p string, at vfs.Attr) error {
	e.seq++
	tmp := fmt.Sprintf("%sd%d", tempPrefix, e.seq)
	if err := e.c.host.mkdir(tmp); err != nil {
		return err
	}
	if err := e.takeName(tmp, p); err != nil {
		return errors.Join(err, e.c.host.rmdir(tmp))
	}
	e.dirs[p] = true // it gets its attributes last: it may be one that nobody writes to
	return e.seen(e.c.index.add(dir, path.Base(p), at.Ino, hostStat{}, true))
}

// make builds a file, complete with its attributes, under a name of our own.
func (e *emission) make(ino vfs.Ino, at vfs.Attr) (string, error) {
	e.seq++
	tmp := fmt.Sprintf("%sc%d", tempPrefix, e.seq)
	for _, other := range e.c.index.nodesOf(ino) {
		s, err := e.c.host.lstat(other.path())
		if err == nil && s.key() == other.host.key() && at.Nlink > 1 {
			return tmp, e.c.host.link(other.path(), tmp)
		}
	}
	return e.fresh(at)
}

func (e *emission) build(tmp string, ino vfs.Ino, at vfs.Attr) error {
	switch at.Mode & vfs.ModeTypeMask {
	case vfs.ModeRegular:
		f, err := e.c.host.openFile(tmp, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		return errors.Join(e.fill(f, ino, at), f.Close())
	case vfs.ModeSymlink:
		target, err := e.to.Readlink(e.op, ino)
		if err != nil {
			return shadowTrouble(err)
		}
		return e.c.host.symlink(target, tmp)
	}
	return e.c.host.mknod(tmp, at.Mode, hostDevice(at.Rdev))
}

func hostDevice(rdev uint32) uint64 {
	return unix.Mkdev(rdev>>8&0xfff, rdev&0xff|rdev>>12&^0xff)
}

// fill gives a host file the bytes of the merge's, holes left out.
func (e *emission) fill(f *os.File, ino vfs.Ino, at vfs.Attr) error {
	h, err := e.to.Open(e.op, ino, syscall.O_RDONLY)
	if err != nil {
		return shadowTrouble(err)
	}
	defer h.Release(e.op)
	if err := f.Truncate(int64(at.Size)); err != nil {
		return err
	}
	buf := make([]byte, block)
	for off := int64(0); off < int64(at.Size); {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		data, err := h.Seek(e.op, off, unix.SEEK_DATA)
		if errors.Is(err, syscall.ENXIO) {
			return nil
		}
		if err != nil {
			return shadowTrouble(err)
		}
		off = data
		n, err := h.Read(e.op, buf, off)
		if err != nil {
			return shadowTrouble(err)
		}
		if n == 0 {
			return nil
		}
		if _, err := f.WriteAt(buf[:n], off); err != nil {
			return err
		}
		off += int64(n)
	}
	return nil
}

// revise brings a file that is there to what the merge has of it.
func (e *emission) revise(n *node, at vfs.Attr, bytes bool) error {
	p := n.path()
	s, err := e.c.host.lstat(p)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && !n.isDir() && bytes {
			return e.replaceGone(n, p, at) // removed here, edited there: the edit stays
		}
		return err
	}
	if n.isDir() || !bytes {
		return e.finish(n, at)
	}
	if !e.untouched(n, s) {
		if same, err := e.same(p, s, at); err != nil || same {
			return errors.Join(err, e.finishIf(err == nil, n, at))
		}
		return e.beside(n, p, at)
	}
	if s.Nlink > 1 {
		return e.overwrite(n, p, s, at)
	}
	return e.swap(n, p, s, at)
}

func (e *emission) finishIf(ok bool, n *node, at vfs.Attr) error {
	if !ok {
		return nil
	}
	return e.finish(n, at)
}

func (e *emission) replaceGone(n *node, p string, at vfs.Attr) error {
	e.c.index.remove(n)
	return e.place(at.Ino, p)
}

// swap exchanges a file with its new version, and looks at what came out: when
// that changed at the last moment, it is kept beside.
func (e *emission) swap(n *node, p string, s hostStat, at vfs.Attr) error {
	tmp, err := e.fresh(at)
	if err != nil {
		return err
	}
	e.dirs[path.Dir(p)] = true
	err = e.c.host.rename(tmp, p, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = e.c.host.rename(tmp, p, 0) // no exchange on this file system
		return errors.Join(err, e.seen(n))
	}
	if err != nil {
		return errors.Join(err, e.c.host.unlink(tmp))
	}
	out, err := e.c.host.lstat(tmp)
	if err != nil {
		return err
	}
	out.Ctime = s.Ctime
	if out == s {
		err = e.c.host.unlink(tmp)
	} else {
		err = e.setBeside(tmp, p)
	}
	return errors.Join(err, e.seen(n))
}

// fresh builds a file that shares nothing with another name.
func (e *emission) fresh(at vfs.Attr) (string, error) {
	e.seq++
	tmp := fmt.Sprintf("%sc%d", tempPrefix, e.seq)
	err := e.build(tmp, at.Ino, at)
	if err == nil {
		err = e.attributes(tmp, at)
	}
	if err != nil {
		if e2 := e.c.host.unlink(tmp); e2 != nil && !errors.Is(e2, fs.ErrNotExist) {
			err = errors.Join(err, e2)
		}
	}
	return tmp, err
}

// overwrite changes a file in place: it has other names, which are to stay its.
func (e *emission) overwrite(n *node, p string, s hostStat, at vfs.Attr) error {
	f, err := e.c.host.openFile(p, unix.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if now, err := statFD(int(f.Fd())); err != nil || now != s {
		return errors.Join(err, e.beside(n, p, at))
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if err := e.fill(f, at.Ino, at); err != nil {
		return err
	}
	return e.finish(n, at)
}

// beside puts the merge's version in place of a file that changed here meanwhile,
// and that one beside it.
func (e *emission) beside(n *node, p string, at vfs.Attr) error {
	tmp, err := e.fresh(at)
	if err != nil {
		return err
	}
	e.dirs[path.Dir(p)] = true
	if err := e.setBeside(p, p); err != nil {
		return errors.Join(err, e.c.host.unlink(tmp))
	}
	if err := e.takeName(tmp, p); err != nil {
		return errors.Join(err, e.c.host.unlink(tmp))
	}
	return e.seen(n)
}

// same reports whether a file here has the bytes that the merge has; a directory
// is as good as another.
func (e *emission) same(p string, s hostStat, at vfs.Attr) (bool, error) {
	switch at.Mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		return true, nil
	case vfs.ModeSymlink:
		if err := e.c.host.complete(p, &s); err != nil {
			return false, err
		}
		target, err := e.to.Readlink(e.op, at.Ino)
		return target == s.Target, shadowTrouble(err)
	case vfs.ModeRegular:
		if s.Size != int64(at.Size) {
			return false, nil
		}
		return e.sameBytes(p, at)
	}
	return s.Rdev == hostDevice(at.Rdev), nil
}

func (e *emission) sameBytes(p string, at vfs.Attr) (bool, error) {
	f, err := e.c.host.openFile(p, unix.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	h, err := e.to.Open(e.op, at.Ino, syscall.O_RDONLY)
	if err != nil {
		return false, shadowTrouble(err)
	}
	defer h.Release(e.op)
	here, there := make([]byte, block), make([]byte, block)
	for off := int64(0); off < int64(at.Size); {
		n, err := h.Read(e.op, there, off)
		if err != nil {
			return false, shadowTrouble(err)
		}
		m, err := f.ReadAt(here[:n], off)
		if n == 0 || m != n || !bytes.Equal(here[:n], there[:n]) {
			return false, ignoreEOF(err)
		}
		off += int64(n)
	}
	return true, nil
}

// finish gives what is there the merge's attributes and records it.
func (e *emission) finish(n *node, at vfs.Attr) error {
	if err := e.attributes(n.path(), at); err != nil {
		return err
	}
	return e.seen(n)
}

// seen records what the host says of a node, under all its names.
func (e *emission) seen(n *node) error {
	var s hostStat
	if err := e.c.host.complete(n.path(), &s); err != nil {
		return err
	}
	for _, other := range e.c.index.nodesOf(n.ino) {
		if other != n && other.host.key() == s.key() {
			e.c.index.saw(other, s)
		}
	}
	e.c.index.saw(n, s)
	return nil
}

// attributes gives a path owner, mode, extended attributes and times, in the
// order in which they do not undo each other.
func (e *emission) attributes(p string, at vfs.Attr) error {
	attrs, err := vfsXattrs(e.to, e.op, at.Ino)
	if err != nil {
		return shadowTrouble(err)
	}
	refused, err := e.c.host.setAttributes(p, at, attrs)
	for _, r := range refused {
		e.c.problem(p, r)
	}
	return err
}
