package checkout

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/vfs"
)

// in runs f with the directory that holds p and the last name.
func (h *host) in(p string, f func(dir int, name string) error) error {
	if h.step != nil {
		h.step()
	}
	dir, name, err := h.parent(p)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	return f(dir, name)
}

func (h *host) unlink(p string) error {
	return h.in(p, func(dir int, name string) error {
		err := unix.Unlinkat(dir, name, 0)
		if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.EPERM) {
			if e := unix.Unlinkat(dir, name, unix.AT_REMOVEDIR); e == nil {
				return nil
			}
		}
		return err
	})
}

func (h *host) rmdir(p string) error {
	return h.in(p, func(dir int, name string) error { return unix.Unlinkat(dir, name, unix.AT_REMOVEDIR) })
}

func (h *host) mkdir(p string) error {
	return h.in(p, func(dir int, name string) error { return unix.Mkdirat(dir, name, 0o700) })
}

func (h *host) symlink(target, p string) error {
	return h.in(p, func(dir int, name string) error { return unix.Symlinkat(target, dir, name) })
}

func (h *host) mknod(p string, mode uint32, dev uint64) error {
	return h.in(p, func(dir int, name string) error {
		return unix.Mknodat(dir, name, mode&vfs.ModeTypeMask|0o600, int(dev))
	})
}

func (h *host) link(from, to string) error {
	return h.in(from, func(d1 int, n1 string) error {
		return h.in(to, func(d2 int, n2 string) error { return unix.Linkat(d1, n1, d2, n2, 0) })
	})
}

func (h *host) rename(from, to string, flags uint) error {
	return h.in(from, func(d1 int, n1 string) error {
		return h.in(to, func(d2 int, n2 string) error { return unix.Renameat2(d1, n1, d2, n2, flags) })
	})
}

// setAttributes makes a path have the given attributes. What this user or this
// file system cannot hold is returned as refused; it is no reason to stop.
func (h *host) setAttributes(p string, at vfs.Attr, attrs map[string][]byte) (refused []error, err error) {
	fd, err := h.open(p, unix.O_PATH, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	s, err := statFD(fd)
	if err != nil {
		return nil, err
	}
	if !sameType(s.Mode, at.Mode) {
		return nil, fs.ErrNotExist // something else took its place
	}
	if h.root && (s.UID != at.UID || s.GID != at.GID) {
		if err := unix.Fchownat(fd, "", int(at.UID), int(at.GID), unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return nil, fmt.Errorf("chown: %w", err)
		}
	}
	if refused, err = setXattrs(fd, attrs); err != nil {
		return refused, err
	}
	if s.Mode&vfs.ModeTypeMask != vfs.ModeSymlink {
		if err := unix.Chmod(procPath(fd), at.Mode&vfs.ModePerm); err != nil {
			return refused, fmt.Errorf("chmod: %w", err)
		}
	}
	mtime := unix.NsecToTimespec(at.Mtime)
	times := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, mtime}
	if err := unix.UtimesNanoAt(fd, "", times, unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return refused, fmt.Errorf("utimensat: %w", err)
	}
	return refused, nil
}

func setXattrs(fd int, want map[string][]byte) (refused []error, err error) {
	have, err := readXattrs(fd)
	if err != nil && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) && !errors.Is(err, unix.ENOTSUP) {
		return nil, err
	}
	p := procPath(fd)
	for name, value := range want {
		if v, ok := have[name]; ok && bytes.Equal(v, value) {
			continue
		}
		if err := unix.Setxattr(p, name, value, 0); err != nil {
			if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
				return refused, err
			}
			refused = append(refused, fmt.Errorf("attribute %s: %w", name, err))
		}
	}
	for name := range have {
		if _, ok := want[name]; ok {
			continue
		}
		if err := unix.Removexattr(p, name); err != nil && !errors.Is(err, unix.ENODATA) {
			refused = append(refused, fmt.Errorf("attribute %s: %w", name, err))
		}
	}
	return refused, nil
}
