package model

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// actor does steps below one directory.
type actor struct {
	root string
	open [slots]int // descriptors, -1 when closed
}

func newActor(root string) *actor {
	a := &actor{root: root}
	for i := range a.open {
		a.open[i] = -1
	}
	return a
}

func (a *actor) close() {
	for i, fd := range a.open {
		if fd >= 0 {
			unix.Close(fd)
			a.open[i] = -1
		}
	}
}

func (a *actor) path(p string) string { return filepath.Join(a.root, p) }

// with opens a file for one call.
func (a *actor) with(p string, flags int, fn func(fd int) error) error {
	fd, err := unix.Open(a.path(p), flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	err = fn(fd)
	if cerr := unix.Close(fd); err == nil {
		err = cerr
	}
	return err
}

// do makes one step and returns what it answered.
func (a *actor) do(s *step) string {
	out, err := a.call(s)
	if err != nil {
		return fmt.Sprintf("%v", errno(err))
	}
	return out
}

func errno(err error) error {
	var e unix.Errno
	if errors.As(err, &e) {
		return e
	}
	return err
}

func (a *actor) call(s *step) (string, error) {
	p, q := a.path(s.p), a.path(s.q)
	data := func() []byte { return bytes.Repeat([]byte{s.fill}, int(s.n)) }
	switch s.kind {
	case create:
		fd, err := unix.Open(p, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR, s.mode)
		if err != nil {
			return "", err
		}
		return "", errors.Join(unix.Fchmod(fd, s.mode), unix.Close(fd))
	case write:
		return "", a.with(s.p, unix.O_RDWR, func(fd int) error { return pwrite(fd, data(), s.off) })
	case appendTo:
		return "", a.with(s.p, unix.O_WRONLY|unix.O_APPEND, func(fd int) error { return pwrite(fd, data(), 0) })
	case truncate:
		return "", a.with(s.p, unix.O_RDWR, func(fd int) error { return unix.Ftruncate(fd, s.off) })
	case unlink:
		return "", unix.Unlink(p)
	case mkdir:
		return "", unix.Mkdir(p, s.mode&0o777)
	case rmdir:
		return "", unix.Rmdir(p)
	case rename:
		return "", unix.Rename(p, q)
	case noReplace:
		return "", unix.Renameat2(unix.AT_FDCWD, p, unix.AT_FDCWD, q, unix.RENAME_NOREPLACE)
	case exchange:
		return "", unix.Renameat2(unix.AT_FDCWD, p, unix.AT_FDCWD, q, unix.RENAME_EXCHANGE)
	case link:
		return "", unix.Link(p, q)
	case symlink:
		return "", unix.Symlink(s.q, p)
	case chmod:
		return "", unix.Fchmodat(unix.AT_FDCWD, p, s.mode, 0)
	case utimes:
		ts := []unix.Timespec{{Sec: s.n, Nsec: s.off}, {Sec: -s.off, Nsec: s.n}}
		if err := unix.UtimesNanoAt(unix.AT_FDCWD, p, ts, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return "", err
		}
		var st unix.Stat_t
		err := unix.Lstat(p, &st)
		return fmt.Sprint(st.Atim, st.Mtim), err
	case setxattr:
		return "", unix.Lsetxattr(p, fmt.Sprintf("user.a%d", s.slot), []byte(s.value), 0)
	case removexattr:
		return "", unix.Lremovexattr(p, fmt.Sprintf("user.a%d", s.slot))
	}
	return a.callFile(s)
}

// callFile does the steps that work on an open file.
func (a *actor) callFile(s *step) (string, error) {
	allocate := func(mode uint32) error {
		return a.with(s.p, unix.O_RDWR, func(fd int) error { return unix.Fallocate(fd, mode, s.off, s.n) })
	}
	switch s.kind {
	case punch:
		return "", allocate(unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE)
	case reserve:
		return "", allocate(uint32(s.slot) & unix.FALLOC_FL_KEEP_SIZE)
	case zero:
		return "", allocate(unix.FALLOC_FL_ZERO_RANGE | uint32(s.slot)&unix.FALLOC_FL_KEEP_SIZE)
	case copyRange:
		return "", a.with(s.p, unix.O_RDONLY, func(from int) error {
			return a.with(s.q, unix.O_RDWR, func(to int) error { return copyAll(from, s.off/2, to, s.off, int(s.n)) })
		})
	case mapWrite:
		return "", a.with(s.p, unix.O_RDWR, func(fd int) error { return writeMapping(fd, s) })
	case tmpfile:
		return "", a.tmpfile(s)
	case open:
		if a.open[s.slot] >= 0 {
			return "busy", nil
		}
		fd, err := unix.Open(a.path(s.p), unix.O_RDWR|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err == nil {
			a.open[s.slot] = fd
		}
		return "", err
	}
	fd := a.open[s.slot]
	if fd < 0 {
		return "closed", nil
	}
	switch s.kind {
	case readOpen:
		b := make([]byte, s.n)
		n, err := unix.Pread(fd, b, s.off)
		if err != nil {
			return "", err
		}
		var st unix.Stat_t
		err = unix.Fstat(fd, &st)
		return fmt.Sprintf("%d bytes %x size %d links %d", n, sum(b[:n]), st.Size, st.Nlink), err
	case writeOpen:
		return "", pwrite(fd, bytes.Repeat([]byte{s.fill}, int(s.n)), s.off)
	}
	a.open[s.slot] = -1
	return "", unix.Close(fd)
}

func pwrite(fd int, b []byte, off int64) error {
	for len(b) > 0 {
		n, err := unix.Pwrite(fd, b, off)
		if err != nil {
			return err
		}
		b, off = b[n:], off+int64(n)
	}
	return nil
}

// copyAll repeats a call that may copy less than asked, as the kernel is free to.
func copyAll(from int, fromOff int64, to int, toOff int64, n int) error {
	for n > 0 {
		k, err := unix.CopyFileRange(from, &fromOff, to, &toOff, n, 0)
		if err != nil || k == 0 {
			return err
		}
		n -= k
	}
	return nil
}

// writeMapping writes through a shared mapping what lies within the file.
func writeMapping(fd int, s *step) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Size <= s.off {
		return err
	}
	m, err := unix.Mmap(fd, 0, int(st.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	for i := s.off; i < min(st.Size, s.off+s.n); i++ {
		m[i] = s.fill
	}
	return errors.Join(unix.Msync(m, unix.MS_SYNC), unix.Munmap(m))
}

func (a *actor) tmpfile(s *step) error {
	fd, err := unix.Open(filepath.Dir(a.path(s.p)), unix.O_TMPFILE|unix.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if err := pwrite(fd, bytes.Repeat([]byte{s.fill}, int(s.n)), s.off); err != nil {
		return err
	}
	return unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), unix.AT_FDCWD, a.path(s.p), unix.AT_SYMLINK_FOLLOW)
}

func sum(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

// dump describes all below the root: names, types, modes, sizes, space, bytes,
// links, attributes, and the times that a step has set.
func (a *actor) dump() ([]string, error) {
	var out []string
	first := map[uint64]string{}
	err := filepath.WalkDir(a.root, func(p string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(a.root, p)
		if err != nil {
			return err
		}
		var st unix.Stat_t
		if err := unix.Lstat(p, &st); err != nil {
			return fmt.Errorf("lstat %s: %w", rel, err)
		}
		line := fmt.Sprintf("%s mode=%o links=%d owner=%d:%d", rel, st.Mode, st.Nlink, st.Uid, st.Gid)
		if rel == "." {
			line = "."
		}
		attrs, err := xattrs(p)
		if err != nil {
			return fmt.Errorf("xattrs of %s: %w", rel, err)
		}
		line += attrs
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFREG:
			b, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" size=%d sum=%x", st.Size, sum(b))
			if other := first[st.Ino]; other != "" {
				line += " same as " + other
			}
			first[st.Ino] = rel
		case unix.S_IFLNK:
			target, err := os.Readlink(p)
			if err != nil {
				return err
			}
			line += " -> " + target
		}
		out = append(out, line)
		return nil
	})
	return out, err
}

func xattrs(p string) (string, error) {
	b := make([]byte, 64<<10)
	n, err := unix.Llistxattr(p, b)
	if err != nil {
		return "", err
	}
	var out []string
	for _, name := range strings.Split(strings.TrimSuffix(string(b[:n]), "\x00"), "\x00") {
		if !strings.HasPrefix(name, "user.") {
			continue
		}
		v := make([]byte, 64<<10)
		n, err := unix.Lgetxattr(p, name, v)
		if err != nil {
			return "", err
		}
		out = append(out, fmt.Sprintf(" %s=%x", name, sum(v[:n])))
	}
	sort.Strings(out)
	return strings.Join(out, ""), nil
}
