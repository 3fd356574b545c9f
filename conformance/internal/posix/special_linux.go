package posix

import (
	"fmt"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareSpecial) }

func declareSpecial(s *harness.Suite) {
	g := s.Group("special")
	fifos(g)
	sockets(g)
	socketUse(g)
	devices(g)
	symlinks(g)
	symlinkNames(g)
	specialAttributes(g)
}

// fifos: the name is the file system's, the pipe the kernel's.
func fifos(g *Group) {
	g = g.Sub("fifo")
	g.Case("bytes/pass-through", func(t *T) {
		t.Make(harness.FIFO, "p")
		r := t.Open("p", unix.O_RDONLY|unix.O_NONBLOCK)
		w := t.Open("p", unix.O_WRONLY|unix.O_NONBLOCK)
		t.OK(harness.WriteAll(w, []byte("through")))
		buf := make([]byte, 20)
		n, err := unix.Read(r, buf)
		t.OK(err)
		eq(t, "bytes", string(buf[:max(n, 0)]), "through")
		_, err = unix.Read(r, buf)
		t.Errno(err, unix.EAGAIN)
		t.NoFork(func() { t.Close(w) })
		t.Eventually(5e9, "end of file", func() bool { n, err := unix.Read(r, buf); return n == 0 && err == nil })
		t.Size("p", 0)
	})
	g.Case("two-openers/wait-for-each-other", func(t *T) {
		t.Make(harness.FIFO, "p")
		got := make(chan string, 1)
		done := t.Start(func() {
			r, err := unix.Open("p", unix.O_RDONLY|unix.O_CLOEXEC, 0)
			t.Must(err)
			defer unix.Close(r)
			buf := make([]byte, 10)
			n, err := unix.Read(r, buf)
			t.Must(err)
			got <- string(buf[:n])
		})
		w, err := unix.Open("p", unix.O_WRONLY|unix.O_CLOEXEC, 0)
		t.OK(err)
		t.OK(harness.WriteAll(w, []byte("met")))
		<-done
		eq(t, "bytes", <-got, "met")
		t.Must(unix.Close(w))
	})
	g.Case("between-processes/by-a-name-that-moved", func(t *T) {
		t.Make(harness.FIFO, "p")
		c := t.Child("fifo-writer")
		r := t.Open("p", unix.O_RDWR)
		t.OK(unix.Rename("p", "q"))
		c.Expect("ok", "write q hello")
		buf := make([]byte, 10)
		n, err := unix.Read(r, buf)
		t.OK(err)
		eq(t, "bytes", string(buf[:max(n, 0)]), "hello")
	})
	g.Case("no-reader/write-is-EPIPE", func(t *T) {
		t.Make(harness.FIFO, "p")
		r := t.Open("p", unix.O_RDONLY|unix.O_NONBLOCK)
		w := t.Open("p", unix.O_WRONLY|unix.O_NONBLOCK)
		t.NoFork(func() { t.Close(r) })
		t.Eventually(5e9, "EPIPE", func() bool { _, err := unix.Write(w, []byte("x")); return err == unix.EPIPE })
	})
	g.Case("no-reader/open-for-writing-without-waiting-is-ENXIO", func(t *T) {
		t.Make(harness.FIFO, "p")
		t.Errno(t.Try("p", unix.O_WRONLY|unix.O_NONBLOCK, 0), unix.ENXIO)
		t.OK(t.Try("p", unix.O_RDWR|unix.O_NONBLOCK, 0))
	})
	g.Case("second-name/is-the-same-pipe", func(t *T) {
		t.Make(harness.FIFO, "p")
		t.Link("p", "q")
		r := t.Open("p", unix.O_RDONLY|unix.O_NONBLOCK)
		w := t.Open("q", unix.O_WRONLY|unix.O_NONBLOCK)
		t.OK(harness.WriteAll(w, []byte("x")))
		n, err := unix.Read(r, make([]byte, 2))
		t.OK(err)
		eq(t, "read", n, 1)
	})
	g.Case("unlinked/lives-while-open", func(t *T) {
		t.Make(harness.FIFO, "p")
		rw := t.Open("p", unix.O_RDWR)
		t.OK(unix.Unlink("p"))
		t.OK(harness.WriteAll(rw, []byte("x")))
		n, err := unix.Read(rw, make([]byte, 2))
		t.OK(err)
		eq(t, "read", n, 1)
		eq(t, "links", t.Fstat(rw).Nlink, 0)
	})
	g.Case("truncate-and-O_TRUNC/do-nothing-to-it", func(t *T) {
		t.Make(harness.FIFO, "p")
		t.Errno(unix.Truncate("p", 0), unix.EINVAL)
		t.OK(t.Try("p", unix.O_RDWR|unix.O_TRUNC|unix.O_NONBLOCK, 0))
	})
	g.Case("permission/is-of-the-mode", func(t *T) {
		t.NeedRoot()
		t.MakeMode(harness.FIFO, "p", 0o620)
		t.Chown("p", alice.UID, bob.GID)
		t.As(alice, func() { t.OK(t.Try("p", unix.O_RDWR|unix.O_NONBLOCK, 0)) })
		t.As(Cred{UID: bob.UID, GID: bob.GID}, func() { t.Errno(t.Try("p", unix.O_RDONLY|unix.O_NONBLOCK, 0), unix.EACCES) })
		t.As(carol, func() { t.Errno(t.Try("p", unix.O_RDWR|unix.O_NONBLOCK, 0), unix.EACCES) })
	})
}

func init() {
	harness.RegisterRole("fifo-writer", func(p *harness.Peer) int {
		w, ok := p.Next()
		if !ok {
			return 0
		}
		fd, err := unix.Open(w[1], unix.O_WRONLY|unix.O_CLOEXEC, 0)
		if err == nil {
			err = harness.WriteAll(fd, []byte(w[2]))
		}
		p.SayErr(err)
		return 0
	})
}

// boundSocket makes a socket with a name.
func boundSocket(t *T, kind int, name string) int {
	fd, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	t.Must(err)
	t.Adopt(fd)
	t.Must(unix.Bind(fd, &unix.SockaddrUnix{Name: name}))
	return fd
}

// connectSocket connects to a name.
func connectSocket(t *T, kind int, name string) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, kind|unix.SOCK_CLOEXEC, 0)
	t.Must(err)
	return t.Adopt(fd), unix.Connect(fd, &unix.SockaddrUnix{Name: name})
}

// sockets: a name to meet at.
func sockets(g *Group) {
	g = g.Sub("socket")
	g.Case("bind/makes-a-socket-less-the-umask", func(t *T) {
		t.Umask(0o027)
		m := t.Mark(".")
		boundSocket(t, unix.SOCK_STREAM, "s")
		s := t.Lstat("s")
		eq(t, "type", s.Type(), unix.S_IFSOCK)
		eq(t, "mode", s.Perm(), 0o750)
		m.Moved(".", harness.M|harness.C)
	})
	for _, name := range []string{"s", strings.Repeat("s", 100)} {
		g.Case(fmt.Sprintf("name-of-%d-bytes/listen-connect-talk", len(name)), func(t *T) {
			fd := boundSocket(t, unix.SOCK_STREAM, name)
			t.Must(unix.Listen(fd, 5))
			client, err := connectSocket(t, unix.SOCK_STREAM, name)
			if !t.OK(err) {
				return
			}
			server, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
			t.OK(err)
			t.Adopt(server)
			t.OK(harness.WriteAll(client, []byte("hello")))
			buf := make([]byte, 10)
			n, err := unix.Read(server, buf)
			t.OK(err)
			eq(t, "bytes", string(buf[:max(n, 0)]), "hello")
		})
	}
	g.Case("renamed-and-linked/is-still-the-meeting-place", func(t *T) {
		fd := boundSocket(t, unix.SOCK_STREAM, "s")
		t.Must(unix.Listen(fd, 5))
		t.OK(unix.Rename("s", "r"))
		_, err := connectSocket(t, unix.SOCK_STREAM, "r")
		t.OK(err)
		t.Link("r", "l")
		_, err = connectSocket(t, unix.SOCK_STREAM, "l")
		t.OK(err)
		_, err = connectSocket(t, unix.SOCK_STREAM, "s")
		t.Errno(err, unix.ENOENT)
	})
	g.Case("name-taken/is-EADDRINUSE", func(t *T) {
		for _, k := range []Kind{harness.File, harness.Dir, harness.Socket, harness.Symlink} {
			name := "x-" + string(k)
			t.Make(k, name)
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			t.Must(err)
			t.Adopt(fd)
			t.Errno(unix.Bind(fd, &unix.SockaddrUnix{Name: name}), unix.EADDRINUSE)
		}
	})
	g.Case("nobody-listening/is-ECONNREFUSED", func(t *T) {
		t.Make(harness.Socket, "s")
		_, err := connectSocket(t, unix.SOCK_STREAM, "s")
		t.Errno(err, unix.ECONNREFUSED)
		t.File("f", 0o666)
		_, err = connectSocket(t, unix.SOCK_STREAM, "f")
		t.Errno(err, unix.ECONNREFUSED)
		fd := boundSocket(t, unix.SOCK_STREAM, "left")
		t.NoFork(func() { t.Close(fd) })
		t.Check(t.Exists("left"), "the name went with the socket")
		t.Eventually(5e9, "ECONNREFUSED", func() bool { _, err := connectSocket(t, unix.SOCK_STREAM, "left"); return err == unix.ECONNREFUSED })
	})
}

// socketUse: who may connect, and how.
func socketUse(g *Group) {
	g = g.Sub("socket")
	g.Case("open/is-ENXIO", func(t *T) {
		t.Make(harness.Socket, "s")
		t.Errno(t.Try("s", unix.O_RDONLY, 0), unix.ENXIO)
		t.Errno(t.Try("s", unix.O_RDWR, 0), unix.ENXIO)
		t.OK(t.Try("s", unix.O_PATH, 0))
	})
	g.Case("datagrams/arrive", func(t *T) {
		a := boundSocket(t, unix.SOCK_DGRAM, "a")
		b, err := connectSocket(t, unix.SOCK_DGRAM, "a")
		t.OK(err)
		_, err = unix.Write(b, []byte("dgram"))
		t.OK(err)
		buf := make([]byte, 10)
		n, err := unix.Read(a, buf)
		t.OK(err)
		eq(t, "bytes", string(buf[:max(n, 0)]), "dgram")
	})
	for _, c := range []struct {
		mode uint32
		want syscall.Errno
	}{{0o777, 0}, {0o722, 0}, {0o755, unix.EACCES}, {0o744, unix.EACCES}} {
		g.Case(fmt.Sprintf("connect-by-other-to-mode-%04o/%s", c.mode, errName(c.want)), func(t *T) {
			t.NeedRoot()
			fd := boundSocket(t, unix.SOCK_STREAM, "s")
			t.Must(unix.Listen(fd, 5))
			t.Chmod("s", c.mode)
			t.As(alice, func() {
				_, err := connectSocket(t, unix.SOCK_STREAM, "s")
				t.Result(err, c.want)
			})
		})
	}
	g.Case("bind-in-an-unwritable-directory/is-EACCES", func(t *T) {
		t.NeedRoot()
		t.As(alice, func() {
			fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			t.Must(err)
			t.Adopt(fd)
			t.Errno(unix.Bind(fd, &unix.SockaddrUnix{Name: "s"}), unix.EACCES)
		})
	})
	g.Case("between-processes/talk", func(t *T) {
		fd := boundSocket(t, unix.SOCK_STREAM, "s")
		t.Must(unix.Listen(fd, 5))
		c := t.Child("connector")
		server, _, err := unix.Accept4(fd, unix.SOCK_CLOEXEC)
		t.OK(err)
		t.Adopt(server)
		buf := make([]byte, 20)
		n, err := unix.Read(server, buf)
		t.OK(err)
		eq(t, "bytes", string(buf[:max(n, 0)]), "from afar")
		eq(t, "the child", c.Hear(), "ok")
	})
}

func init() {
	harness.RegisterRole("connector", func(p *harness.Peer) int {
		fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.Connect(fd, &unix.SockaddrUnix{Name: "s"})
		}
		if err == nil {
			err = harness.WriteAll(fd, []byte("from afar"))
		}
		p.SayErr(err)
		return 0
	})
}

// devices: numbers that the kernel gives a meaning.
func devices(g *Group) {
	g = g.Sub("device")
	for _, k := range []Kind{harness.Char, harness.Device} {
		for _, dev := range [][2]uint32{{0, 0}, {0, 1}, {1, 3}, {8, 1}, {255, 255}, {256, 256}, {259, 65536}, {4095, 1048575}} {
			g.Case(fmt.Sprintf("%s-%d-%d/number-is-kept", k, dev[0], dev[1]), func(t *T) {
				t.NeedRoot()
				number := unix.Mkdev(dev[0], dev[1])
				t.OK(unix.Mknod("x", k.Type()|0o640, int(number)))
				s := t.Lstat("x")
				eq(t, "device number", s.Rdev, number)
				eq(t, "type", s.Type(), k.Type())
				eq(t, "mode", s.Perm(), 0o640)
				eq(t, "size", s.Size, 0)
				t.Link("x", "y")
				t.OK(unix.Rename("x", "z"))
				eq(t, "device number by the other name", t.Lstat("y").Rdev, number)
			})
		}
		g.Case(string(k)+"/made-by-a-user-is-EPERM", func(t *T) {
			t.NeedRoot()
			t.Chmod(".", 0o777)
			t.Unchanged(func() {
				t.As(alice, func() { t.Errno(unix.Mknod("x", k.Type()|0o666, int(harness.CharDev)), unix.EPERM) })
			})
		})
	}
	g.Case("whiteout/may-be-made-by-a-user", func(t *T) {
		t.NeedRoot()
		t.NeedKernel(5, 8, "whiteouts by users")
		t.Chmod(".", 0o777)
		t.As(alice, func() { t.OK(unix.Mknod("w", unix.S_IFCHR|0o666, 0)) })
		t.Owner("w", alice.UID, alice.GID)
	})
	g.Case("null-device/works-where-devices-do", func(t *T) {
		t.NeedMount(unix.MS_NODEV, "nodev")
		t.MakeMode(harness.Char, "null", 0o666)
		fd := t.Open("null", unix.O_RDWR)
		n, err := unix.Write(fd, []byte("gone"))
		t.OK(err)
		eq(t, "written", n, 4)
		n, err = unix.Read(fd, make([]byte, 4))
		t.OK(err)
		eq(t, "read", n, 0)
		t.Size("null", 0)
	})
	g.Case("number-that-nobody-drives/is-ENXIO", func(t *T) {
		t.NeedMount(unix.MS_NODEV, "nodev")
		t.Make(harness.Device, "x")
		t.Errno(t.Try("x", unix.O_RDONLY, 0), unix.ENXIO)
	})
	for name, c := range map[string]struct {
		mode uint32
		want syscall.Errno
	}{
		"directory": {unix.S_IFDIR, unix.EPERM}, "symlink": {unix.S_IFLNK, unix.EINVAL}, "nonsense": {0o130000, unix.EINVAL},
		"file": {unix.S_IFREG, 0}, "no-type": {0, 0},
	} {
		g.Case("mknod-of-a-"+name+"/"+errName(c.want), func(t *T) {
			t.NeedRoot()
			t.Result(unix.Mknod("x", c.mode|0o644, 0), c.want)
			if c.want == 0 {
				eq(t, "mode", t.Lstat("x").Mode, unix.S_IFREG|0o644)
			}
		})
	}
}

// symlinks: bytes that somebody else makes sense of.
func symlinks(g *Group) {
	g = g.Sub("symlink")
	for _, n := range []int{1, 2, 59, 60, 61, 255, 256, 1000, 4094, 4095} {
		g.Case(fmt.Sprintf("target-of-%d-bytes/is-kept", n), func(t *T) {
			target := strings.Repeat("abcdefghi/", n/10+1)[:n]
			t.OK(unix.Symlink(target, "l"))
			linkIs(t, "l", target)
			t.Size("l", int64(n))
			t.Link("l", "m")
			t.OK(unix.Rename("l", "k"))
			linkIs(t, "k", target)
			linkIs(t, "m", target)
		})
	}
	g.Case("target-of-4096-bytes/is-ENAMETOOLONG", func(t *T) {
		t.Unchanged(func() { t.Errno(unix.Symlink(strings.Repeat("x", 4096), "l"), unix.ENAMETOOLONG) })
	})
	g.Case("empty-target/is-ENOENT", func(t *T) {
		t.Unchanged(func() { t.Errno(unix.Symlink("", "l"), unix.ENOENT) })
	})
	for name, target := range map[string]string{
		"not-utf-8": "\xff\xfe\x80", "spaces": " a b ", "newlines": "a\nb\n", "dots": "../.././..", "slashes": "///a//b///", "root": "/",
		"percent-and-dollar": "%s$HOME", "itself": "l",
	} {
		g.Case("target-with-"+name+"/is-kept-byte-for-byte", func(t *T) {
			t.OK(unix.Symlink(target, "l"))
			linkIs(t, "l", target)
		})
	}
	g.Case("readlink-into-too-little/is-cut", func(t *T) {
		t.Symlink("0123456789", "l")
		for _, n := range []int{1, 5, 9, 10, 11} {
			buf := make([]byte, n)
			got, err := unix.Readlink("l", buf)
			t.OK(err)
			eq(t, "length", got, min(n, 10))
			eq(t, "bytes", string(buf[:max(got, 0)]), "0123456789"[:min(n, 10)])
		}
	})
	g.Case("readlink-into-nothing/is-EINVAL", func(t *T) {
		t.Symlink("0123456789", "l")
		path, err := unix.BytePtrFromString("l")
		t.Must(err)
		var b [1]byte
		here := unix.AT_FDCWD
		_, _, e := unix.Syscall6(unix.SYS_READLINKAT, uintptr(here), uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
		t.Errno(e, unix.EINVAL)
	})
}

// symlinkNames: what is no link, what is in the way, and where links lead.
func symlinkNames(g *Group) {
	g = g.Sub("symlink")
	for _, k := range append([]Kind{harness.Dir, harness.File}, harness.Specials...) {
		g.Case("readlink-of-a-"+string(k)+"/is-EINVAL", func(t *T) {
			t.Make(k, "x")
			_, err := unix.Readlink("x", make([]byte, 10))
			t.Errno(err, unix.EINVAL)
		})
	}
	for _, k := range harness.Kinds {
		g.Case("over-"+string(k)+"/is-EEXIST", func(t *T) {
			t.Make(k, "x")
			t.Unchanged(func() { t.Errno(unix.Symlink("t", "x"), unix.EEXIST) })
		})
	}
	g.Case("retargeted-by-rename/leads-to-the-new-one-at-once", func(t *T) {
		t.Write("a", "a")
		t.Write("b", "b")
		t.Symlink("b", "l")
		for i := range 20 {
			target := []string{"a", "b"}[i%2]
			t.Content("l", []string{"b", "a"}[i%2])
			t.Symlink(target, "l2")
			t.OK(unix.Rename("l2", "l"))
			linkIs(t, "l", target)
			t.Content("l", target)
		}
	})
	g.Case("removed-and-made-again/leads-to-the-new-one-at-once", func(t *T) {
		t.Write("a", "a")
		t.Write("b", "b")
		for i := range 20 {
			target := []string{"a", "b"}[i%2]
			t.Symlink(target, "l")
			t.Content("l", target)
			t.OK(unix.Unlink("l"))
			t.Gone("l")
		}
	})
	g.Case("permission-of-the-link/matters-to-nobody", func(t *T) {
		t.NeedRoot()
		t.Write("f", "x")
		t.Chmod("f", 0o644)
		t.Symlink("f", "l")
		t.Chown("l", bob.UID, bob.GID)
		t.As(alice, func() {
			t.Content("l", "x")
			linkIs(t, "l", "f")
		})
	})
	g.Case("directory-part-unsearchable/is-EACCES", func(t *T) {
		t.NeedRoot()
		t.Dir("d", 0o700)
		t.Write("d/f", "x")
		t.Symlink("d/f", "l")
		t.As(alice, func() {
			t.Errno(t.Try("l", unix.O_RDONLY, 0), unix.EACCES)
			linkIs(t, "l", "d/f")
		})
	})
}

func linkIs(t *T, name, want string) {
	buf := make([]byte, unix.PathMax)
	n, err := unix.Readlink(name, buf)
	if t.OK(err, "readlink %s", name) {
		eq(t, "target of "+name, string(buf[:n]), want)
	}
}

// specialAttributes: special files have owners, modes and times like others.
func specialAttributes(g *Group) {
	for _, k := range harness.Specials {
		g.Sub("attributes").Case(string(k)+"/can-be-changed-and-stay", func(t *T) {
			t.NeedRoot()
			t.Make(k, "x")
			t.OK(unix.Chmod("x", 0o4751))
			t.OK(unix.Chown("x", alice.UID, bob.GID))
			t.OK(unix.Chmod("x", 0o2640))
			t.OK(unix.UtimesNanoAt(cwd, "x", []unix.Timespec{{Sec: 1, Nsec: 2}, {Sec: 3, Nsec: 4}}, 0))
			was := t.Lstat("x")
			t.OK(unix.Rename("x", "y"))
			s := t.Lstat("y")
			eq(t, "mode", s.Mode, k.Type()|0o2640)
			t.Owner("y", alice.UID, bob.GID)
			eq(t, "atime", s.Atime, 1e9+2)
			eq(t, "mtime", s.Mtime, 3e9+4)
			eq(t, "device number", s.Rdev, was.Rdev)
			eq(t, "inode", s.Ino, was.Ino)
		})
	}
}
