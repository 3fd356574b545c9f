package posix

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// procFD is the path by which a descriptor can be named.
func procFD(fd int) string { return fmt.Sprintf("/proc/self/fd/%d", fd) }

// openTmpfile makes a file without a name.
func openTmpfile(t *T, dir string, flags int, mode uint32) int {
	return t.Open(dir, unix.O_TMPFILE|flags, mode)
}

// tmpfiles: O_TMPFILE makes a file without a name, which may get one.
func tmpfiles(g *Group) {
	g = g.Sub("O_TMPFILE")
	g.Case("has-no-name-and-no-links", func(t *T) {
		m := t.Mark(".")
		fd := openTmpfile(t, ".", unix.O_RDWR, 0o640)
		s := t.Fstat(fd)
		eq(t, "links", s.Nlink, 0)
		eq(t, "mode", s.Mode, unix.S_IFREG|0o640)
		m.Still(".")
		eq(t, "names", len(t.Names(".")), 0)
		t.OK(harness.WriteAll(fd, []byte("bytes")))
		b, err := harness.ReadFrom(fd, 0, 10)
		t.OK(err)
		eq(t, "read back", string(b), "bytes")
		eq(t, "size", t.Fstat(fd).Size, 5)
	})
	g.Case("linkat-by-proc/gives-it-a-name", func(t *T) {
		fd := openTmpfile(t, ".", unix.O_RDWR, 0o640)
		t.OK(harness.WriteAll(fd, []byte("bytes")))
		t.OK(unix.Linkat(cwd, procFD(fd), cwd, "named", unix.AT_SYMLINK_FOLLOW))
		t.Is("named", t.Fstat(fd))
		t.Nlink("named", 1)
		t.Content("named", "bytes")
		t.Perm("named", 0o640)
		t.OK(unix.Linkat(cwd, procFD(fd), cwd, "again", unix.AT_SYMLINK_FOLLOW))
		eq(t, "links", t.Fstat(fd).Nlink, 2)
	})
	g.Case("linkat-by-empty-path/gives-it-a-name", func(t *T) {
		t.NeedRoot()
		fd := openTmpfile(t, ".", unix.O_WRONLY, 0o600)
		t.OK(unix.Linkat(fd, "", cwd, "named", unix.AT_EMPTY_PATH))
		t.Is("named", t.Fstat(fd))
		eq(t, "links", t.Fstat(fd).Nlink, 1)
	})
	g.Case("linkat/over-an-existing-name-is-EEXIST", func(t *T) {
		t.File("named", 0o644)
		fd := openTmpfile(t, ".", unix.O_WRONLY, 0o600)
		t.Errno(unix.Linkat(cwd, procFD(fd), cwd, "named", unix.AT_SYMLINK_FOLLOW), unix.EEXIST)
		eq(t, "links", t.Fstat(fd).Nlink, 0)
	})
	g.Case("linkat/into-another-directory-works", func(t *T) {
		t.Dir("d", 0o755)
		fd := openTmpfile(t, ".", unix.O_WRONLY, 0o600)
		m := t.Mark("d", ".")
		t.OK(unix.Linkat(cwd, procFD(fd), cwd, "d/named", unix.AT_SYMLINK_FOLLOW))
		m.Moved("d", harness.M|harness.C)
		m.Still(".")
		t.Is("d/named", t.Fstat(fd))
	})
	g.Case("with-O_EXCL/can-never-be-linked", func(t *T) {
		fd := openTmpfile(t, ".", unix.O_RDWR|unix.O_EXCL, 0o600)
		t.Errno(unix.Linkat(cwd, procFD(fd), cwd, "named", unix.AT_SYMLINK_FOLLOW), unix.ENOENT)
		t.Gone("named")
	})
	g.Case("named-then-unlinked/is-gone-for-good", func(t *T) {
		fd := openTmpfile(t, ".", unix.O_RDWR, 0o600)
		t.OK(unix.Linkat(cwd, procFD(fd), cwd, "named", unix.AT_SYMLINK_FOLLOW))
		t.OK(unix.Unlink("named"))
		eq(t, "links", t.Fstat(fd).Nlink, 0)
		t.Errno(unix.Linkat(cwd, procFD(fd), cwd, "named", unix.AT_SYMLINK_FOLLOW), unix.ENOENT)
	})
}

// tmpfileAttributes: what a file without a name has.
func tmpfileAttributes(g *Group) {
	g = g.Sub("O_TMPFILE")
	for name, c := range map[string]struct {
		path  string
		flags int
		want  syscall.Errno
	}{
		"for-reading-only": {".", unix.O_RDONLY, unix.EINVAL},
		"with-O_CREAT":     {".", unix.O_RDWR | unix.O_CREAT, unix.EINVAL},
		"of-a-file":        {"f", unix.O_RDWR, unix.ENOTDIR},
		"of-nothing":       {"missing", unix.O_RDWR, unix.ENOENT},
		"of-a-dangling":    {"dangling", unix.O_RDWR, unix.ENOENT},
	} {
		g.Case(name+"/"+errName(c.want), func(t *T) {
			t.File("f", 0o644)
			t.Symlink("nowhere", "dangling")
			t.Unchanged(func() { t.Errno(t.Try(c.path, unix.O_TMPFILE|c.flags, 0o600), c.want) })
		})
	}
	for _, mask := range []int{0, 0o022, 0o077, 0o777} {
		g.Case(fmt.Sprintf("umask-%03o/applies", mask), func(t *T) {
			t.Umask(mask)
			fd := openTmpfile(t, ".", unix.O_RDWR, 0o666)
			eq(t, "mode", t.Fstat(fd).Perm(), 0o666&^uint32(mask))
		})
	}
	g.Case("in-a-setgid-directory/has-its-group", func(t *T) {
		t.NeedRoot()
		t.Dir("d", 0o777)
		t.Chown("d", 0, carol.GID)
		t.Chmod("d", 0o2777)
		t.As(alice, func() {
			s := t.Fstat(openTmpfile(t, "d", unix.O_RDWR, 0o640))
			eq(t, "group", s.GID, carol.GID)
			eq(t, "user", s.UID, alice.UID)
		})
	})
	g.Case("chmod-and-xattr-before-the-name/are-kept", func(t *T) {
		fd := openTmpfile(t, ".", unix.O_RDWR, 0o600)
		t.OK(unix.Fchmod(fd, 0o604))
		t.OK(unix.Fsetxattr(fd, "user.a", []byte("v"), 0))
		t.OK(unix.Linkat(cwd, procFD(fd), cwd, "named", unix.AT_SYMLINK_FOLLOW))
		t.Perm("named", 0o604)
		buf := make([]byte, 8)
		n, err := unix.Getxattr("named", "user.a", buf)
		t.OK(err)
		eq(t, "xattr", string(buf[:max(n, 0)]), "v")
	})
}

// pathDescriptors: an O_PATH descriptor names a file and opens nothing.
func pathDescriptors(g *Group) {
	g = g.Sub("O_PATH")
	refused := map[string]func(fd int) error{
		"read":      func(fd int) error { _, err := unix.Read(fd, make([]byte, 1)); return err },
		"write":     func(fd int) error { _, err := unix.Write(fd, []byte("x")); return err },
		"pread":     func(fd int) error { _, err := unix.Pread(fd, make([]byte, 1), 0); return err },
		"lseek":     func(fd int) error { _, err := unix.Seek(fd, 0, 0); return err },
		"ftruncate": func(fd int) error { return unix.Ftruncate(fd, 0) },
		"fchmod":    func(fd int) error { return unix.Fchmod(fd, 0o600) },
		"fchown":    func(fd int) error { return unix.Fchown(fd, -1, -1) },
		"fsync":     func(fd int) error { return unix.Fsync(fd) },
		"fallocate": func(fd int) error { return unix.Fallocate(fd, 0, 0, 1) },
		"fsetxattr": func(fd int) error { return unix.Fsetxattr(fd, "user.a", nil, 0) },
		"fgetxattr": func(fd int) error { _, err := unix.Fgetxattr(fd, "user.a", nil); return err },
		"flock":     func(fd int) error { return unix.Flock(fd, unix.LOCK_SH) },
		"mmap": func(fd int) error {
			b, err := unix.Mmap(fd, 0, 1, unix.PROT_READ, unix.MAP_SHARED)
			if err == nil {
				_ = unix.Munmap(b)
			}
			return err
		},
		"futimens": func(fd int) error {
			if _, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(fd), 0, 0, 0, 0, 0); e != 0 {
				return e
			}
			return nil
		},
	}
	for name, call := range refused {
		g.Case(name+"/is-EBADF", func(t *T) {
			t.Write("f", "x")
			fd := t.Open("f", unix.O_PATH)
			t.Unchanged(func() { t.Errno(call(fd), unix.EBADF) })
		})
	}
	g.Case("getdents/is-EBADF", func(t *T) {
		_, err := harness.Getdents(t.Open(".", unix.O_PATH|unix.O_DIRECTORY), 4096)
		t.Errno(err, unix.EBADF)
	})
	g.Case("fstat-and-fstatfs/work", func(t *T) {
		t.Write("f", "x")
		fd := t.Open("f", unix.O_PATH)
		eq(t, "inode", t.Fstat(fd).Ino, t.Lstat("f").Ino)
		var st unix.Statfs_t
		t.OK(unix.Fstatfs(fd, &st))
	})
	g.Case("fchdir-and-openat/work", func(t *T) {
		t.Dir("d", 0o755)
		t.Write("d/f", "x")
		fd := t.Open("d", unix.O_PATH)
		got, err := unix.Openat(fd, "f", unix.O_RDONLY|unix.O_CLOEXEC, 0)
		t.OK(err)
		t.Adopt(got)
		t.OK(unix.Fchdir(fd))
		t.Content("f", "x")
	})
	g.Case("of-a-symlink/can-be-read-and-linked", func(t *T) {
		t.NeedRoot()
		t.Symlink("target", "l")
		fd := t.Open("l", unix.O_PATH|unix.O_NOFOLLOW)
		eq(t, "type", t.Fstat(fd).Type(), unix.S_IFLNK)
		buf := make([]byte, 64)
		n, err := unix.Readlinkat(fd, "", buf)
		t.OK(err)
		eq(t, "target", string(buf[:max(n, 0)]), "target")
		t.OK(unix.Linkat(fd, "", cwd, "l2", unix.AT_EMPTY_PATH))
		t.Is("l2", t.Lstat("l"))
	})
	g.Case("reopened-by-proc/works-and-checks-the-mode", func(t *T) {
		t.NeedRoot()
		t.Write("f", "x")
		t.Chmod("f", 0o444)
		fd := t.Open("f", unix.O_PATH)
		t.As(alice, func() {
			t.OK(t.Try(procFD(fd), unix.O_RDONLY, 0))
			t.Errno(t.Try(procFD(fd), unix.O_WRONLY, 0), unix.EACCES)
		})
	})
	g.Case("outlives-rename-and-unlink", func(t *T) {
		t.Write("f", "x")
		fd := t.Open("f", unix.O_PATH)
		s := t.Fstat(fd)
		t.OK(unix.Rename("f", "g"))
		eq(t, "inode", t.Fstat(fd).Ino, s.Ino)
		t.OK(unix.Unlink("g"))
		eq(t, "links", t.Fstat(fd).Nlink, 0)
	})
}

// busyText: a running program is not written to, and one that is being
// written does not run.
func busyText(g *Group) {
	g = g.Sub("ETXTBSY")
	run := func(t *T) {
		t.NeedMount(unix.MS_NOEXEC, "noexec")
		makeProgram(t, "prog", waits, 0o755)
		t.Command("", t.Path("prog"))
	}
	for name, call := range map[string]func(t *T) error{
		"open-for-writing": func(t *T) error { return t.Try("prog", unix.O_WRONLY, 0) },
		"open-for-both":    func(t *T) error { return t.Try("prog", unix.O_RDWR, 0) },
		"open-to-empty":    func(t *T) error { return t.Try("prog", unix.O_RDONLY|unix.O_TRUNC, 0) },
		"truncate":         func(*T) error { return unix.Truncate("prog", 0) },
	} {
		g.Case("running-program/"+name+"/is-ETXTBSY", func(t *T) {
			run(t)
			t.Errno(call(t), unix.ETXTBSY)
			t.Content("prog", string(elf(waits)))
		})
	}
	for name, call := range map[string]func(t *T) error{
		"open-for-reading": func(t *T) error { return t.Try("prog", unix.O_RDONLY, 0) },
		"chmod":            func(*T) error { return unix.Chmod("prog", 0o700) },
		"unlink":           func(*T) error { return unix.Unlink("prog") },
		"rename":           func(*T) error { return unix.Rename("prog", "prog2") },
		"rename-over":      func(t *T) error { t.Write("new", "x"); return unix.Rename("new", "prog") },
	} {
		g.Case("running-program/"+name+"/works", func(t *T) {
			run(t)
			t.OK(call(t))
		})
	}
	g.Case("exec-of-a-file-open-for-writing/is-ETXTBSY", func(t *T) {
		t.NeedMount(unix.MS_NOEXEC, "noexec")
		makeProgram(t, "prog", exits42, 0o755)
		fd := t.Open("prog", unix.O_WRONLY)
		_, err := t.ExitCode(t.Path("prog"))
		t.Errno(err, unix.ETXTBSY)
		t.NoFork(func() { t.Close(fd) })
		code, err := t.ExitCode(t.Path("prog"))
		t.OK(err)
		eq(t, "exit code", code, 42)
	})
	g.Case("after-the-program-ended/can-be-written", func(t *T) {
		t.NeedMount(unix.MS_NOEXEC, "noexec")
		makeProgram(t, "prog", exits42, 0o755)
		code, err := t.ExitCode(t.Path("prog"))
		t.OK(err)
		eq(t, "exit code", code, 42)
		t.OK(t.Try("prog", unix.O_RDWR, 0))
		t.OK(unix.Truncate("prog", 0))
	})
}

// readOnlyMount: every call that changes something is EROFS, and those that
// only look work.
func readOnlyMount(g *Group) {
	g = g.Sub("read-only-mount")
	mount := func(t *T) {
		t.Private()
		t.Dir("dir", 0o755)
		t.File("dir/f", 0o644)
		t.Dir("dir/empty", 0o755)
		t.Symlink("f", "dir/link")
		t.File("dir/"+sourceName, 0o644)
		t.Dir("ro", 0o755)
		t.Bind("dir", "ro", unix.MS_RDONLY)
	}
	for _, op := range pathOps {
		path := "f"
		switch {
		case op.creates:
			path = "new"
		case op.dir:
			path = "empty"
		case op.link:
			path = "link"
		}
		var want syscall.Errno
		if op.writes {
			want = unix.EROFS
		}
		g.Case(op.name+"/"+errName(want), func(t *T) {
			mount(t)
			t.Must(unix.Chdir("ro"))
			t.Unchanged(func() {
				t.Result(op.call(path), want)
				if op.name == "chdir" && want == 0 {
					t.Must(unix.Chdir(".."))
				}
			})
		})
	}
	g.Case("open-to-empty/is-EROFS", func(t *T) {
		mount(t)
		t.Errno(t.Try("ro/f", unix.O_RDONLY|unix.O_TRUNC, 0), unix.EROFS)
		t.Errno(t.Try("ro/f", unix.O_RDWR, 0), unix.EROFS)
		t.Errno(t.Try("ro", unix.O_TMPFILE|unix.O_RDWR, 0o600), unix.EROFS)
		t.Errno(t.Try("ro/new", unix.O_RDONLY|unix.O_CREAT, 0o600), unix.EROFS)
		t.OK(t.Try("ro/f", unix.O_RDONLY|unix.O_CREAT, 0o600))
	})
	g.Case("access-to-write/is-EROFS", func(t *T) {
		mount(t)
		t.Errno(unix.Access("ro/f", unix.W_OK), unix.EROFS)
		t.Errno(unix.Access("ro", unix.W_OK), unix.EROFS)
		t.OK(unix.Access("ro/f", unix.R_OK))
	})
	for name, call := range map[string]func(fd int) error{
		"fchmod":    func(fd int) error { return unix.Fchmod(fd, 0o600) },
		"fchown":    func(fd int) error { return unix.Fchown(fd, -1, -1) },
		"fsetxattr": func(fd int) error { return unix.Fsetxattr(fd, "user.a", []byte("v"), 0) },
	} {
		g.Case(name+"/is-EROFS", func(t *T) {
			mount(t)
			fd := t.Open("ro/f", unix.O_RDONLY)
			t.Unchanged(func() { t.Errno(call(fd), unix.EROFS) })
		})
	}
	g.Case("what-the-other-mount-changes/shows", func(t *T) {
		mount(t)
		t.Write("dir/f", "news")
		t.Content("ro/f", "news")
		t.OK(unix.Unlink("dir/f"))
		t.Gone("ro/f")
	})
}
