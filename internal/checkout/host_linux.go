package checkout

import (
	"errors"
	"fmt"
	"os"
	"path"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// host is the directory that is kept equal. Every path is relative to it and is
// resolved beneath it, through no symbolic link and onto no other mount, so that
// whoever swaps a directory for a link gets an error and nothing else.
type host struct {
	fd   int
	path string
	stat hostStat // the directory itself, to notice when it is another
	root bool     // owners can be given away, devices made
	step func()   // called before each change; for tests
}

// hostStat is what the host says of a file.
type hostStat struct {
	Ino, Btime       uint64 // together they name a file: inode numbers are used again
	Dev              uint64
	Mode, UID, GID   uint32
	Nlink            uint32
	Rdev             uint64
	Size             int64
	Mtime, Ctime     int64
	Xattrs           string // encoded, sorted; empty for none
	Target           string // of a symbolic link
	xattrsUnreadable bool
}

func openHost(dir string) (*host, error) {
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	h := &host{fd: fd, path: dir, root: os.Geteuid() == 0}
	if h.stat, err = statFD(fd); err != nil {
		unix.Close(fd)
		return nil, &os.PathError{Op: "stat", Path: dir, Err: err}
	}
	return h, nil
}

func (h *host) close() { unix.Close(h.fd) }

// open opens what is at a path, the last name too without following it.
func (h *host) open(p string, flags int, mode uint32) (int, error) {
	if p == "" {
		p = "."
	}
	how := &unix.OpenHow{
		Flags: uint64(flags | unix.O_CLOEXEC | unix.O_NOFOLLOW), Mode: uint64(mode),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_XDEV | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(h.fd, p, how)
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return fd, err
		}
	}
}

// parent opens the directory that holds a path and returns the last name.
func (h *host) parent(p string) (int, string, error) {
	dir, name := path.Split(p)
	fd, err := h.open(strings.TrimSuffix(dir, "/"), unix.O_PATH|unix.O_DIRECTORY, 0)
	return fd, name, err
}

func (h *host) lstat(p string) (hostStat, error) {
	fd, err := h.open(p, unix.O_PATH, 0)
	if err != nil {
		return hostStat{}, err
	}
	defer unix.Close(fd)
	return statFD(fd)
}

// statFD describes an open file, which may be open with O_PATH.
func statFD(fd int) (hostStat, error) {
	var st unix.Statx_t
	want := unix.STATX_BASIC_STATS | unix.STATX_BTIME
	if err := unix.Statx(fd, "", unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW, want, &st); err != nil {
		return hostStat{}, err
	}
	s := hostStat{
		Ino: st.Ino, Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Mode: uint32(st.Mode), UID: st.Uid, GID: st.Gid,
		Nlink: st.Nlink, Rdev: unix.Mkdev(st.Rdev_major, st.Rdev_minor), Size: int64(st.Size),
		Mtime: st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec), Ctime: st.Ctime.Sec*1e9 + int64(st.Ctime.Nsec),
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		s.Btime = uint64(st.Btime.Sec)*1e9 + uint64(st.Btime.Nsec)
	}
	return s, nil
}

// complete adds what stat does not tell: a link's target and the attributes.
func (h *host) complete(p string, s *hostStat) error {
	fd, err := h.open(p, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	now, err := statFD(fd)
	if err != nil {
		return err
	}
	*s = now
	if s.Mode&unix.S_IFMT == unix.S_IFLNK {
		if s.Target, err = readlinkFD(fd); err != nil {
			return err
		}
	}
	attrs, err := readXattrs(fd)
	if err != nil {
		s.xattrsUnreadable = true
		return nil
	}
	s.Xattrs = encodeXattrs(attrs)
	return nil
}

func readlinkFD(fd int) (string, error) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", buf)
	return string(buf[:max(n, 0)]), err
}

func procPath(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// readXattrs returns the extended attributes of a file, ACLs included.
func readXattrs(fd int) (map[string][]byte, error) {
	p := procPath(fd)
	size, err := unix.Listxattr(p, nil)
	if err != nil || size == 0 {
		return nil, err
	}
	buf := make([]byte, size+1024)
	if size, err = unix.Listxattr(p, buf); err != nil {
		return nil, err
	}
	attrs := map[string][]byte{}
	for _, name := range strings.Split(strings.TrimSuffix(string(buf[:size]), "\x00"), "\x00") {
		if name == "" || name == "security.selinux" {
			continue // labels are the host's own
		}
		value := make([]byte, 64<<10)
		n, err := unix.Getxattr(p, name, value)
		if errors.Is(err, unix.ENODATA) {
			continue
		}
		if err != nil {
			return nil, err
		}
		attrs[name] = value[:n]
	}
	return attrs, nil
}

// readNames lists a directory.
func (h *host) readNames(p string) ([]string, error) {
	fd, err := h.open(p, unix.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), p)
	defer f.Close()
	names, err := f.Readdirnames(-1)
	sort.Strings(names)
	return names, err
}

// openFile opens a regular file; a FIFO that took its place does not block.
func (h *host) openFile(p string, flags int, mode uint32) (*os.File, error) {
	fd, err := h.open(p, flags|unix.O_NONBLOCK|unix.O_NOCTTY, mode)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), p), nil
}

// refresh opens the directory anew when another one took its place, as builds do
// that remove and make it again. One on another disk is an error: that is a disk
// that was unmounted, not everything having been deleted.
func (h *host) refresh() (replaced bool, err error) {
	n, err := openHost(h.path)
	if err != nil {
		return false, err
	}
	if n.stat.Ino == h.stat.Ino && n.stat.Dev == h.stat.Dev && n.stat.Btime == h.stat.Btime {
		n.close()
		return false, nil
	}
	if n.stat.Dev != h.stat.Dev {
		n.close()
		return false, fmt.Errorf("%s: %w", h.path, ErrOtherDisk)
	}
	h.close()
	h.fd, h.stat = n.fd, n.stat
	return true, nil
}
