package posix

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareOpen) }

func declareOpen(s *harness.Suite) {
	g := s.Group("open")
	openMatrix(g)
	openPathMatrix(g)
	openResolve(g)
	openPermissions(g)
	directoryPermissions(g)
	creationModes(g)
	openEdges(g)
	openDescriptors(g)
	tmpfiles(g)
	tmpfileAttributes(g)
	pathDescriptors(g)
	busyText(g)
	readOnlyMount(g)
}

// openTargets are what openMatrix opens: the name of each is what it is.
var openTargets = []string{
	"missing", "file", "directory", "to-file", "to-directory", "dangling", "loop", "fifo", "socket", "char-device", "block-device",
}

// openTree makes the target in the current directory. The file has 5 bytes.
func openTree(t *T, target string) {
	switch target {
	case "missing":
	case "file":
		t.Write("file", "bytes")
	case "directory":
		t.Dir("directory", 0o755)
	case "to-file":
		t.Write("file", "bytes")
		t.Symlink("file", "to-file")
	case "to-directory":
		t.Dir("directory", 0o755)
		t.Symlink("directory", "to-directory")
	case "dangling":
		t.Symlink("nowhere", "dangling")
	case "loop":
		t.Symlink("loop", "loop")
	default:
		t.Make(Kind(target), target)
	}
}

// openWant is the model of open(2) by root: the error, whether a file was
// made, and whether an existing one was emptied. On a mount that is nodev,
// devices are EACCES.
func openWant(target string, flags int, nodev bool) (e syscall.Errno, made, emptied bool) {
	has := func(f int) bool { return flags&f == f }
	writes := flags&unix.O_ACCMODE != unix.O_RDONLY || has(unix.O_TRUNC)
	if has(unix.O_CREAT | unix.O_DIRECTORY) {
		return unix.EINVAL, false, false
	}
	exclusive := has(unix.O_CREAT | unix.O_EXCL)
	link := target == "to-file" || target == "to-directory" || target == "dangling" || target == "loop"
	switch {
	case target == "missing" || target == "dangling" && !exclusive && !has(unix.O_NOFOLLOW):
		if has(unix.O_CREAT) {
			return 0, true, false
		}
		return unix.ENOENT, false, false
	case exclusive:
		return unix.EEXIST, false, false
	case link && has(unix.O_NOFOLLOW|unix.O_DIRECTORY):
		return unix.ENOTDIR, false, false
	case link && has(unix.O_NOFOLLOW), target == "loop":
		return unix.ELOOP, false, false
	}
	if strings.HasSuffix(target, "directory") {
		if has(unix.O_CREAT) || writes {
			return unix.EISDIR, false, false
		}
		return 0, false, false
	}
	if has(unix.O_DIRECTORY) {
		return unix.ENOTDIR, false, false
	}
	if nodev && strings.HasSuffix(target, "device") {
		return unix.EACCES, false, false
	}
	switch target {
	case "fifo":
		// Nobody reads it, and the call is not to wait.
		if flags&unix.O_ACCMODE == unix.O_WRONLY {
			return unix.ENXIO, false, false
		}
	case "socket", "block-device":
		return unix.ENXIO, false, false
	}
	return 0, false, has(unix.O_TRUNC) && strings.HasSuffix(target, "file")
}

// openMatrix opens every kind of target with every set of flags that matters.
func openMatrix(g *Group) {
	for _, target := range openTargets {
		for _, access := range []int{unix.O_RDONLY, unix.O_WRONLY, unix.O_RDWR} {
			for set := range 16 {
				flags := access
				for i, f := range []int{unix.O_CREAT, unix.O_EXCL, unix.O_TRUNC, unix.O_APPEND} {
					if set&(1<<i) != 0 {
						flags |= f
					}
				}
				if flags&(unix.O_EXCL|unix.O_CREAT) == unix.O_EXCL {
					continue // undefined without O_CREAT
				}
				g.Sub("matrix/%s", target).Case(flagNames(flags), func(t *T) { openWithAll(t, target, flags) })
			}
		}
	}
}

// openWithAll opens the target with flags and each set of O_NOFOLLOW and
// O_DIRECTORY, every time in a fresh directory.
func openWithAll(t *T, target string, flags int) {
	nodev := t.Env.MountFlags&unix.MS_NODEV != 0
	t.NeedKernel(6, 4, "EINVAL for O_CREAT|O_DIRECTORY")
	for i, more := range []int{0, unix.O_NOFOLLOW, unix.O_DIRECTORY, unix.O_NOFOLLOW | unix.O_DIRECTORY} {
		dir := fmt.Sprintf("d%d", i)
		t.Dir(dir, 0o755)
		t.Must(unix.Chdir(dir))
		openTree(t, target)
		names := t.Names(".")
		want, made, emptied := openWant(target, flags|more, nodev)
		t.Result(t.Try(target, flags|more|unix.O_NONBLOCK, 0o640), want, "with %s", flagNames(more))
		if target == "file" || target == "to-file" {
			size := int64(5)
			if emptied {
				size = 0
			}
			t.Size("file", size)
		}
		if made {
			name := target
			if target == "dangling" {
				name = "nowhere"
			}
			s := t.Lstat(name)
			eq(t, "mode of the new file", s.Mode, unix.S_IFREG|0o640)
			eq(t, "size of the new file", s.Size, 0)
		} else {
			eq(t, "names", strings.Join(t.Names("."), " "), strings.Join(names, " "))
		}
		t.Must(unix.Chdir(".."))
	}
}

// openPathMatrix: O_PATH cares for nothing but O_DIRECTORY and O_NOFOLLOW.
func openPathMatrix(g *Group) {
	for _, target := range openTargets {
		for _, more := range []int{0, unix.O_NOFOLLOW, unix.O_DIRECTORY, unix.O_NOFOLLOW | unix.O_DIRECTORY} {
			g.Sub("O_PATH/%s", target).Case(flagNames(more), func(t *T) {
				openTree(t, target)
				link := target == "to-file" || target == "to-directory" || target == "dangling" || target == "loop"
				nofollow := more&unix.O_NOFOLLOW != 0
				var want syscall.Errno
				switch {
				case target == "missing", target == "dangling" && !nofollow:
					want = unix.ENOENT
				case target == "loop" && !nofollow:
					want = unix.ELOOP
				case more&unix.O_DIRECTORY != 0 && (link && nofollow || !strings.HasSuffix(target, "directory")):
					want = unix.ENOTDIR
				}
				t.Result(t.Try(target, unix.O_PATH|more, 0), want)
				// Neither may make or empty anything.
				t.Unchanged(func() {
					t.Result(t.Try(target, unix.O_PATH|unix.O_TRUNC|unix.O_CREAT|unix.O_WRONLY|more, 0o600), want)
				})
			})
		}
	}
}

var flagWords = []struct {
	bit  int
	word string
}{
	{unix.O_CREAT, "CREAT"}, {unix.O_EXCL, "EXCL"}, {unix.O_TRUNC, "TRUNC"}, {unix.O_APPEND, "APPEND"},
	{unix.O_NOFOLLOW, "NOFOLLOW"}, {unix.O_DIRECTORY, "DIRECTORY"},
}

// flagNames spells open flags: "RDWR-CREAT-EXCL".
func flagNames(flags int) string {
	words := []string{[]string{"RDONLY", "WRONLY", "RDWR", "3"}[flags&unix.O_ACCMODE]}
	for _, f := range flagWords {
		if flags&f.bit != 0 {
			words = append(words, f.word)
		}
	}
	return strings.Join(words, "-")
}

// openResolve: openat2(2) restricts how a path may resolve.
func openResolve(g *Group) {
	for _, c := range []struct {
		name, path string
		resolve    uint64
		want       syscall.Errno
	}{
		{"beneath/plain", "d/f", unix.RESOLVE_BENEATH, 0},
		{"beneath/inner-dotdot", "d/../d/f", unix.RESOLVE_BENEATH, 0},
		{"beneath/escape-by-dotdot", "../x", unix.RESOLVE_BENEATH, unix.EXDEV},
		{"beneath/escape-by-symlink", "out", unix.RESOLVE_BENEATH, unix.EXDEV},
		{"beneath/absolute", "/", unix.RESOLVE_BENEATH, unix.EXDEV},
		{"beneath/absolute-symlink", "abs", unix.RESOLVE_BENEATH, unix.EXDEV},
		{"no-symlinks/plain", "d/f", unix.RESOLVE_NO_SYMLINKS, 0},
		{"no-symlinks/in-the-middle", "to-d/f", unix.RESOLVE_NO_SYMLINKS, unix.ELOOP},
		{"no-symlinks/at-the-end", "to-f", unix.RESOLVE_NO_SYMLINKS, unix.ELOOP},
		{"in-root/absolute", "/d/f", unix.RESOLVE_IN_ROOT, 0},
		{"in-root/dotdot-stays", "../../d/f", unix.RESOLVE_IN_ROOT, 0},
		{"in-root/absolute-symlink-stays", "abs-f", unix.RESOLVE_IN_ROOT, 0},
		{"no-xdev/plain", "d/f", unix.RESOLVE_NO_XDEV, 0},
	} {
		g.Sub("openat2").Case(c.name+"/"+errName(c.want), func(t *T) {
			t.Dir("d", 0o755)
			t.Write("d/f", "f")
			t.Symlink("d", "to-d")
			t.Symlink("d/f", "to-f")
			t.Symlink("..", "out")
			t.Symlink("/", "abs")
			t.Symlink("/d/f", "abs-f")
			fd := t.Open(".", unix.O_RDONLY|unix.O_DIRECTORY)
			got, err := unix.Openat2(fd, c.path, &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_CLOEXEC, Resolve: c.resolve})
			t.Result(err, c.want)
			if err == nil {
				t.Adopt(got)
				t.Check(t.Fstat(got).Ino == t.Lstat("d/f").Ino, "leads elsewhere")
			}
		})
	}
}

// openEdges is what fits no matrix.
func openEdges(g *Group) {
	g.Case("mode-0000-then-write-through-that-descriptor/works", func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		t.As(alice, func() {
			fd := t.Open("f", unix.O_CREAT|unix.O_EXCL|unix.O_RDWR, 0)
			n, err := unix.Write(fd, []byte("bytes"))
			t.OK(err)
			eq(t, "written", n, 5)
			b, err := harness.ReadFrom(fd, 0, 10)
			t.OK(err)
			eq(t, "read back", string(b), "bytes")
			t.OK(unix.Ftruncate(fd, 2))
			t.Errno(t.Try("f", unix.O_RDONLY, 0), unix.EACCES)
			t.Errno(t.Try("f", unix.O_WRONLY, 0), unix.EACCES)
			t.OK(unix.Fchmod(fd, 0o600))
			t.OK(t.Try("f", unix.O_RDWR, 0))
		})
		t.Content("f", "by")
	})
	g.Case("create-read-only-mode-for-writing/works-once", func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		t.As(alice, func() {
			fd := t.Open("f", unix.O_CREAT|unix.O_WRONLY, 0o444)
			t.OK(harness.WriteAll(fd, []byte("x")))
			t.Errno(t.Try("f", unix.O_CREAT|unix.O_WRONLY, 0o444), unix.EACCES)
			t.OK(t.Try("f", unix.O_CREAT|unix.O_RDONLY, 0o444))
		})
	})
	// M36: the mode that sed -i uses for its temporary file.
	g.Case("create-with-mode-0000-then-fchmod-and-rename/works", func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		t.As(alice, func() {
			t.Write("f", "old")
			fd := t.Open("sedXXXX", unix.O_RDWR|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW, 0)
			t.OK(unix.Fchmod(fd, 0o100))
			t.OK(harness.WriteAll(fd, []byte("new")))
			t.OK(unix.Fchmod(fd, 0o644))
			t.OK(unix.Rename("sedXXXX", "f"))
		})
		t.Content("f", "new")
	})
	g.Case("existing-with-O_CREAT|O_TRUNC/empties-and-keeps-the-inode", func(t *T) {
		t.Write("f", "content")
		t.Chmod("f", 0o604)
		was := t.Lstat("f")
		for range 3 {
			t.OK(t.Try("f", unix.O_CREAT|unix.O_TRUNC|unix.O_WRONLY, 0o777))
		}
		t.Is("f", was)
		t.Size("f", 0)
		t.Perm("f", 0o604)
	})
	g.Case("O_TRUNC/frees-what-another-descriptor-still-sees", func(t *T) {
		t.Write("f", "content")
		fd := t.Open("f", unix.O_RDWR)
		t.OK(t.Try("f", unix.O_TRUNC|unix.O_WRONLY, 0))
		eq(t, "size by the old descriptor", t.Fstat(fd).Size, 0)
		b, err := harness.ReadFrom(fd, 0, 10)
		t.OK(err)
		eq(t, "bytes", len(b), 0)
	})
}

// openDescriptors: races for a name, and what a descriptor says of itself.
func openDescriptors(g *Group) {
	g.Case("O_EXCL/of-many-at-once-one-wins", func(t *T) {
		wins := make(chan int, 8)
		t.Parallel(8, func(i int) {
			err := t.Try("f", unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY, 0o600)
			if err == nil {
				wins <- i
			} else {
				t.Errno(err, unix.EEXIST)
			}
		})
		eq(t, "winners", len(wins), 1)
	})
	g.Case("O_CREAT/of-many-at-once-all-open-one-inode", func(t *T) {
		inos := make(chan uint64, 8)
		t.Parallel(8, func(int) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
			inos <- t.Fstat(fd).Ino
		})
		close(inos)
		want := t.Lstat("f").Ino
		for ino := range inos {
			eq(t, "inode", ino, want)
		}
	})
	g.Case("descriptors/are-the-lowest-free-and-close-on-exec-as-asked", func(t *T) {
		t.Write("f", "x")
		a := t.Open("f", unix.O_RDONLY)
		flags, err := unix.FcntlInt(uintptr(a), unix.F_GETFD, 0)
		t.OK(err)
		eq(t, "FD_CLOEXEC", flags&unix.FD_CLOEXEC, unix.FD_CLOEXEC)
		status, err := unix.FcntlInt(uintptr(a), unix.F_GETFL, 0)
		t.OK(err)
		eq(t, "access mode", status&unix.O_ACCMODE, unix.O_RDONLY)
	})
	for _, f := range []struct {
		name      string
		flag, ask int
	}{{"O_APPEND", unix.O_APPEND, unix.O_APPEND}, {"O_NONBLOCK", unix.O_NONBLOCK, unix.O_NONBLOCK},
		{"O_NOATIME", unix.O_NOATIME, unix.O_NOATIME}, {"O_DSYNC", unix.O_DSYNC, unix.O_DSYNC}, {"O_SYNC", unix.O_SYNC, unix.O_SYNC}} {
		g.Case("F_GETFL/"+f.name+"/is-reported", func(t *T) {
			t.Write("f", "x")
			fd := t.Open("f", unix.O_RDWR|f.flag)
			status, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
			t.OK(err)
			eq(t, f.name, status&f.ask, f.ask)
		})
	}
	g.Case("F_SETFL/O_APPEND/can-be-switched", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDWR)
		_, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_APPEND)
		t.OK(err)
		t.OK(harness.WriteAll(fd, []byte("A")))
		t.Content("f", "0123456789A")
		_, err = unix.FcntlInt(uintptr(fd), unix.F_SETFL, 0)
		t.OK(err)
		_, err = unix.Pwrite(fd, []byte("B"), 0)
		t.OK(err)
		t.Content("f", "B123456789A")
	})
	g.Case("O_NOATIME/of-another's-file-is-EPERM", func(t *T) {
		t.NeedRoot()
		t.Write("f", "x")
		t.As(alice, func() { t.Errno(t.Try("f", unix.O_RDONLY|unix.O_NOATIME, 0), unix.EPERM) })
	})
	g.Case("access-mode-3/opens-for-neither", func(t *T) {
		t.Write("f", "x")
		fd := t.Open("f", unix.O_ACCMODE)
		_, err := unix.Read(fd, make([]byte, 1))
		t.Errno(err, unix.EBADF)
		_, err = unix.Write(fd, []byte("y"))
		t.Errno(err, unix.EBADF)
	})
}
