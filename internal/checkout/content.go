//go:build linux

package checkout

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/vfs"
)

// errUnstable says that a file changed while it was read; it is taken later.
var errUnstable = errors.New("it changes while it is read")

// shadowError is trouble of the shadow: a full disk there, not a file here.
type shadowError struct{ err error }

func (e *shadowError) Error() string { return "shadow: " + e.err.Error() }
func (e *shadowError) Unwrap() error { return e.err }

func shadowTrouble(err error) error {
	if err == nil {
		return nil
	}
	return &shadowError{err}
}

// block is how much of a file is looked at at a time.
const block = 1 << 20

func (a *absorption) shadow() vfs.FS { return a.c.o.Shadow }

// made adds what is new in the directory to the shadow.
func (a *absorption) made(dir *node, name, p string, s hostStat) error {
	if err := a.c.host.complete(p, &s); err != nil {
		return err
	}
	if at, err := a.shadow().Lookup(a.op, dir.ino, name); err == nil {
		return a.met(dir, name, p, s, at)
	}
	var at vfs.Attr
	var err error
	switch s.Mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		at, err = a.shadow().Mkdir(a.op, dir.ino, name, s.Mode&vfs.ModePerm)
	case vfs.ModeRegular:
		at, err = a.madeFile(dir, name, p, &s)
	case vfs.ModeSymlink:
		at, err = a.shadow().Symlink(a.op, dir.ino, name, s.Target)
	default:
		at, err = a.shadow().Mknod(a.op, dir.ino, name, s.Mode, deviceNumber(s.Rdev))
	}
	if err != nil {
		return err
	}
	n := a.c.index.add(dir, name, at.Ino, hostStat{Mode: s.Mode, Xattrs: ""}, at.IsDir())
	if err := a.attributes(n, s); err != nil {
		return err
	}
	a.c.index.saw(n, s)
	if n.isDir() {
		return a.directory(n, p)
	}
	return nil
}

// errOther says that a name is taken in the workspace by what could not be put
// into the directory (forget in emit.go). Neither takes the other's place.
var errOther = errors.New("the workspace has another version, which could not be put here: rename this one to keep it")

// met handles a file that the shadow has a name for and the index does not know. One
// with the same bytes is the same; that its attributes may differ is known.
func (a *absorption) met(dir *node, name, p string, s hostStat, at vfs.Attr) error {
	same := sameType(s.Mode, at.Mode)
	switch {
	case !same:
	case at.IsSymlink():
		target, err := a.shadow().Readlink(a.op, at.Ino)
		if err != nil {
			return shadowTrouble(err)
		}
		same = target == s.Target
	case at.IsRegular():
		old, err := a.shadow().Open(a.op, at.Ino, syscall.O_RDONLY)
		if err != nil {
			return shadowTrouble(err)
		}
		defer old.Release(a.op)
		tmp, err := a.read(p, &s, old)
		if err != nil {
			return err
		}
		if same = tmp == nil; !same {
			tmp.Release(a.op)
		}
	}
	if !same {
		return errOther
	}
	a.c.report.Added-- // it was counted as new
	n := a.c.index.add(dir, name, at.Ino, s, at.IsDir())
	if n.isDir() {
		return a.directory(n, p)
	}
	return nil
}

// deviceNumber converts to the encoding of vfs.Attr.
func deviceNumber(rdev uint64) uint32 {
	major, minor := unix.Major(rdev), unix.Minor(rdev)
	return minor&0xff | major<<8 | (minor&^0xff)<<12
}

// madeFile adds a regular file: complete, or not at all.
func (a *absorption) madeFile(dir *node, name, p string, s *hostStat) (vfs.Attr, error) {
	if a.c.writing(p) {
		return vfs.Attr{}, errUnstable
	}
	tmp, err := a.read(p, s, nil)
	if err != nil {
		return vfs.Attr{}, err
	}
	defer tmp.Release(a.op)
	at, err := a.shadow().Link(a.op, tmp.Ino(), dir.ino, name)
	return at, shadowTrouble(err)
}

// content makes a file of the shadow have the bytes of the directory's, and
// reports whether they differed.
func (a *absorption) content(ino vfs.Ino, p string, s *hostStat) (bool, error) {
	old, err := a.shadow().Open(a.op, ino, syscall.O_RDWR)
	if err != nil {
		return false, shadowTrouble(err)
	}
	defer old.Release(a.op)
	tmp, err := a.read(p, s, old)
	if err != nil || tmp == nil {
		return false, err
	}
	defer tmp.Release(a.op)
	if _, err = a.shadow().Setattr(a.op, ino, &vfs.SetAttr{Mask: vfs.SetSize, Handle: old}); err == nil {
		_, err = tmp.CopyTo(a.op, 0, old, 0, s.Size)
	}
	if err == nil {
		_, err = a.shadow().Setattr(a.op, ino, &vfs.SetAttr{Mask: vfs.SetSize, Size: uint64(s.Size), Handle: old})
	}
	return true, shadowTrouble(err)
}

// read copies a file into a nameless one of the shadow, or returns nil when its
// bytes are those of old. A file that changed meanwhile is errUnstable.
func (a *absorption) read(p string, s *hostStat, old vfs.Handle) (vfs.Handle, error) {
	f, err := a.c.host.openFile(p, unix.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if now, err := statFD(int(f.Fd())); err != nil || now != withoutDetails(*s) {
		return nil, errors.Join(errUnstable, err)
	}
	_, tmp, err := a.shadow().Tmpfile(a.op, vfs.RootIno, 0o600, syscall.O_RDWR)
	if err != nil {
		return nil, shadowTrouble(err)
	}
	same, err := a.copyIn(f, tmp, old, s.Size)
	if err == nil {
		var now hostStat
		if now, err = statFD(int(f.Fd())); err == nil && now != withoutDetails(*s) {
			err = errUnstable
		}
	}
	if err != nil || same {
		tmp.Release(a.op)
		return nil, err
	}
	return tmp, nil
}

// copyIn fills tmp, leaving holes where the file has them, and reports whether
// old has the same bytes.
func (a *absorption) copyIn(f *os.File, tmp, old vfs.Handle, size int64) (bool, error) {
	same := old != nil
	if same {
		at, err := a.shadow().Getattr(a.op, old.Ino())
		if err != nil {
			return false, shadowTrouble(err)
		}
		same = at.Size == uint64(size)
	}
	buf, other := make([]byte, block), make([]byte, block)
	for off := int64(0); off < size; {
		if err := a.ctx.Err(); err != nil {
			return false, err
		}
		if data, err := unix.Seek(int(f.Fd()), off, unix.SEEK_DATA); err == nil && data > off && !same {
			off = data // a hole
			continue
		} else if errors.Is(err, unix.ENXIO) && !same {
			break
		}
		n, err := f.ReadAt(buf[:min(block, size-off)], off)
		if n == 0 {
			return false, errors.Join(errUnstable, ignoreEOF(err))
		}
		if same {
			m, err := old.Read(a.op, other[:n], off)
			if err != nil {
				return false, shadowTrouble(err)
			}
			same = bytes.Equal(buf[:n], other[:m])
		}
		if _, err := tmp.Write(a.op, buf[:n], off); err != nil {
			return false, shadowTrouble(err)
		}
		off += int64(n)
	}
	_, err := a.shadow().Setattr(a.op, tmp.Ino(), &vfs.SetAttr{Mask: vfs.SetSize, Size: uint64(size), Handle: tmp})
	return same, shadowTrouble(err)
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// attributes takes over mode, owner, times and attributes, each only where the
// directory's changed: what it cannot hold (owners, as an ordinary user) is not
// to be undone.
func (a *absorption) attributes(n *node, s hostStat) error {
	old, fresh := n.host, n.host.Ino == 0
	at, err := a.shadow().Getattr(a.op, n.ino)
	if err != nil {
		return shadowTrouble(err)
	}
	set := vfs.SetAttr{Mode: s.Mode & vfs.ModePerm, UID: s.UID, GID: s.GID, Mtime: s.Mtime}
	link := s.Mode&vfs.ModeTypeMask == vfs.ModeSymlink
	if (fresh || s.UID != old.UID) && s.UID != at.UID {
		set.Mask |= vfs.SetUID
	}
	if (fresh || s.GID != old.GID) && s.GID != at.GID {
		set.Mask |= vfs.SetGID
	}
	if !link && (fresh || s.Mode != old.Mode) && set.Mode != at.Mode&vfs.ModePerm || set.Mask != 0 && !link {
		set.Mask |= vfs.SetMode
	}
	if s.Mtime != at.Mtime {
		set.Mask |= vfs.SetMtime
	}
	if (fresh || n.stale || s.Xattrs != old.Xattrs) && !s.xattrsUnreadable {
		before := old.Xattrs
		if n.stale {
			if before, err = a.visibleXattrs(n.ino); err != nil {
				return err
			}
		}
		if err := a.xattrs(n.ino, before, s.Xattrs); err != nil {
			return err
		}
	}
	if set.Mask == 0 {
		return nil
	}
	_, err = a.shadow().Setattr(a.op, n.ino, &set)
	return shadowTrouble(err)
}

// xattrs does to the shadow what was done to the directory's attributes: one
// that the directory never had (it may not hold it) stays.
func (a *absorption) xattrs(ino vfs.Ino, before, now string) error {
	was, is := decodeXattrs(before), decodeXattrs(now)
	for name, value := range is {
		if v, ok := was[name]; ok && bytes.Equal(v, value) {
			continue
		}
		if err := a.shadow().Setxattr(a.op, ino, name, value, 0); err != nil {
			return fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	for name := range was {
		if _, ok := is[name]; ok {
			continue
		}
		if err := a.shadow().Removexattr(a.op, ino, name); err != nil && !errors.Is(err, syscall.ENODATA) {
			return fmt.Errorf("attribute %s: %w", name, err)
		}
	}
	return nil
}

// visibleXattrs returns the attributes of the shadow that this user would see in
// the directory.
func (a *absorption) visibleXattrs(ino vfs.Ino) (string, error) {
	attrs, err := vfsXattrs(a.shadow(), a.op, ino)
	if err != nil {
		return "", shadowTrouble(err)
	}
	for name := range attrs {
		if !a.c.host.root && (strings.HasPrefix(name, "trusted.") || strings.HasPrefix(name, "security.")) {
			delete(attrs, name)
		}
	}
	return encodeXattrs(attrs), nil
}

// vfsXattrs returns the extended attributes of an inode.
func vfsXattrs(fsys vfs.FS, op *vfs.Op, ino vfs.Ino) (map[string][]byte, error) {
	names, err := fsys.Listxattr(op, ino)
	if err != nil {
		return nil, err
	}
	attrs := make(map[string][]byte, len(names))
	for _, name := range names {
		value, err := fsys.Getxattr(op, ino, name)
		if errors.Is(err, syscall.ENODATA) {
			continue
		}
		if err != nil {
			return nil, err
		}
		attrs[name] = value
	}
	return attrs, nil
}

// removeTree removes a name and all below it.
func removeTree(fsys vfs.FS, op *vfs.Op, parent vfs.Ino, name string) error {
	at, err := fsys.Lookup(op, parent, name)
	if errors.Is(err, syscall.ENOENT) {
		return nil
	}
	if err != nil {
		return err
	}
	if !at.IsDir() {
		return fsys.Unlink(op, parent, name)
	}
	names, err := listNames(fsys, op, at.Ino)
	if err != nil {
		return err
	}
	for _, child := range names {
		if err := removeTree(fsys, op, at.Ino, child); err != nil {
			return err
		}
	}
	return fsys.Rmdir(op, parent, name)
}

func listNames(fsys vfs.FS, op *vfs.Op, dir vfs.Ino) ([]string, error) {
	entries, err := (&vfs.Walker{FS: fsys, Op: *op}).ReadDirIno(dir)
	names := make([]string, 0, len(entries))
	for i := range entries {
		names = append(names, entries[i].Name)
	}
	slices.Sort(names)
	return names, err
}

// withoutDetails is a description as lstat alone gives it.
func withoutDetails(s hostStat) hostStat {
	s.Xattrs, s.Target, s.xattrsUnreadable = "", "", false
	return s
}

func sameType(a, b uint32) bool { return a&vfs.ModeTypeMask == b&vfs.ModeTypeMask }

func isRegular(mode uint32) bool { return mode&vfs.ModeTypeMask == vfs.ModeRegular }
