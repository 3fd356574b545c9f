package posix

import (
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// pathOp is a system call as far as its path goes: what the tables of several
// groups run through.
type pathOp struct {
	name string
	call func(path string) error
	// creates: the path must not exist, and the call makes it.
	creates bool
	// follows: a symlink at the end of the path is followed.
	follows bool
	// writes: the call changes something, so a read-only mount refuses it.
	writes bool
	// parent: the call changes the directory that holds the name.
	parent bool
	// root: only root may make it.
	root bool
	// dir and notDir: it works on directories only, or on all but these.
	dir, notDir bool
	// link: it works on symlinks only.
	link bool
}

// sourceName is a file that the two-path calls of pathOps start from; a case
// that uses them makes it first. spareName is a name that they may make.
const (
	sourceName = "source"
	spareName  = "spare"
)

// xattrName is an attribute that every file may carry for root.
const xattrName = "trusted.vfsd-conformance"

// pathOps is every system call that resolves a path.
var pathOps = []pathOp{
	{name: "open-read", follows: true, call: opens(unix.O_RDONLY | unix.O_NONBLOCK)},
	{name: "open-write", follows: true, notDir: true, writes: true, call: opens(unix.O_WRONLY | unix.O_NONBLOCK)},
	{name: "open-path", follows: true, call: opens(unix.O_PATH)},
	{name: "open-create", creates: true, parent: true, writes: true,
		call: opens(unix.O_WRONLY | unix.O_CREAT | unix.O_EXCL)},
	{name: "mkdir", creates: true, parent: true, writes: true,
		call: func(p string) error { return unix.Mkdir(p, 0o755) }},
	{name: "mkfifo", creates: true, parent: true, writes: true,
		call: func(p string) error { return unix.Mknod(p, unix.S_IFIFO|0o644, 0) }},
	{name: "mknod-socket", creates: true, parent: true, writes: true,
		call: func(p string) error { return unix.Mknod(p, unix.S_IFSOCK|0o644, 0) }},
	{name: "mknod-file", creates: true, parent: true, writes: true,
		call: func(p string) error { return unix.Mknod(p, unix.S_IFREG|0o644, 0) }},
	{name: "mknod-char", creates: true, parent: true, writes: true, root: true,
		call: func(p string) error { return unix.Mknod(p, unix.S_IFCHR|0o644, 0x103) }},
	{name: "symlink", creates: true, parent: true, writes: true,
		call: func(p string) error { return unix.Symlink("target", p) }},
	{name: "link-to", creates: true, parent: true, writes: true,
		call: func(p string) error { return unix.Link(sourceName, p) }},
	{name: "link-from", notDir: true, parent: true, writes: true,
		call: func(p string) error { return unix.Link(p, spareName) }},
	{name: "rename-to", creates: true, parent: true, writes: true,
		call: func(p string) error { return unix.Rename(sourceName, p) }},
	{name: "rename-from", parent: true, writes: true,
		call: func(p string) error { return unix.Rename(p, spareName) }},
	{name: "unlink", notDir: true, parent: true, writes: true, call: unix.Unlink},
	{name: "rmdir", dir: true, parent: true, writes: true, call: unix.Rmdir},
	{name: "stat", follows: true,
		call: func(p string) error { var s unix.Stat_t; return unix.Stat(p, &s) }},
	{name: "lstat",
		call: func(p string) error { var s unix.Stat_t; return unix.Lstat(p, &s) }},
	{name: "statx", follows: true,
		call: func(p string) error {
			var s unix.Statx_t
			return unix.Statx(cwd, p, 0, unix.STATX_ALL, &s)
		}},
	{name: "access", follows: true, call: func(p string) error { return unix.Access(p, unix.F_OK) }},
	{name: "chmod", follows: true, writes: true, call: func(p string) error { return unix.Chmod(p, 0o700) }},
	{name: "chown", follows: true, writes: true, call: func(p string) error { return unix.Chown(p, -1, -1) }},
	{name: "lchown", writes: true, call: func(p string) error { return unix.Lchown(p, -1, -1) }},
	{name: "truncate", follows: true, notDir: true, writes: true,
		call: func(p string) error { return unix.Truncate(p, 0) }},
	{name: "utimensat", follows: true, writes: true,
		call: func(p string) error { return unix.UtimesNanoAt(cwd, p, nil, 0) }},
	{name: "utimensat-nofollow", writes: true,
		call: func(p string) error { return unix.UtimesNanoAt(cwd, p, nil, unix.AT_SYMLINK_NOFOLLOW) }},
	{name: "readlink", link: true,
		call: func(p string) error { _, err := unix.Readlink(p, make([]byte, 64)); return err }},
	{name: "chdir", follows: true, dir: true, call: unix.Chdir},
	{name: "statfs", follows: true,
		call: func(p string) error { var s unix.Statfs_t; return unix.Statfs(p, &s) }},
	{name: "setxattr", follows: true, writes: true, root: true,
		call: func(p string) error { return unix.Setxattr(p, xattrName, []byte("v"), 0) }},
	{name: "lsetxattr", writes: true, root: true,
		call: func(p string) error { return unix.Lsetxattr(p, xattrName, []byte("v"), 0) }},
	{name: "getxattr", follows: true, call: noData(unix.Getxattr)},
	{name: "lgetxattr", call: noData(unix.Lgetxattr)},
	{name: "listxattr", follows: true,
		call: func(p string) error { _, err := unix.Listxattr(p, nil); return err }},
	{name: "llistxattr",
		call: func(p string) error { _, err := unix.Llistxattr(p, nil); return err }},
	{name: "removexattr", follows: true, writes: true, root: true, call: noAttr(unix.Removexattr)},
	{name: "lremovexattr", writes: true, root: true, call: noAttr(unix.Lremovexattr)},
	{name: "inotify-add-watch", follows: true, call: watchOnce},
}

// opens returns a call that opens a path and closes it again.
func opens(flags int) func(string) error {
	return func(p string) error {
		fd, err := unix.Open(p, flags|unix.O_CLOEXEC, 0o644)
		if err == nil {
			err = unix.Close(fd)
		}
		return err
	}
}

// noData returns a call that succeeds when the path resolved: nothing that the
// tables look at carries an attribute.
func noData(get func(string, string, []byte) (int, error)) func(string) error {
	return func(p string) error {
		_, err := get(p, xattrName, nil)
		if err == unix.ENODATA {
			return nil
		}
		return err
	}
}

func noAttr(remove func(string, string) error) func(string) error {
	return func(p string) error {
		err := remove(p, xattrName)
		if err == unix.ENODATA {
			return nil
		}
		return err
	}
}

func watchOnce(p string) error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = unix.InotifyAddWatch(fd, p, unix.IN_ACCESS)
	return err
}

// opNamed finds an operation.
func opNamed(name string) pathOp {
	for _, op := range pathOps {
		if op.name == name {
			return op
		}
	}
	panic("posix: no operation " + name)
}

// errName is what a case's name says of an outcome: "is-ENOENT", "works".
func errName(e syscall.Errno) string {
	if e == 0 {
		return "works"
	}
	return "is-" + harness.ErrnoName(e)
}
