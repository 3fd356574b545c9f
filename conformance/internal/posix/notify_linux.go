package posix

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareNotify) }

func declareNotify(s *harness.Suite) {
	g := s.Group("notify")
	notifyOperations(g)
	notifyDescriptors(g)
	notifyWatches(g)
	notifyInodes(g)
	notifyOthers(g)
	notifyElsewhere(g)
}

// watcher is an inotify instance of a case.
type watcher struct {
	t     *T
	fd    int
	names map[int]string // of the watches
}

func newWatcher(t *T) *watcher {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	t.Must(err)
	return &watcher{t: t, fd: t.Adopt(fd), names: make(map[int]string)}
}

// watch adds a watch that events will call by its path.
func (w *watcher) watch(path string, mask uint32) int {
	wd, err := unix.InotifyAddWatch(w.fd, path, mask)
	w.t.Must(err)
	w.names[wd] = path
	return wd
}

var eventNames = []struct {
	bit  uint32
	name string
}{
	{unix.IN_ACCESS, "ACCESS"}, {unix.IN_MODIFY, "MODIFY"}, {unix.IN_ATTRIB, "ATTRIB"}, {unix.IN_CLOSE_WRITE, "CLOSE_WRITE"},
	{unix.IN_CLOSE_NOWRITE, "CLOSE_NOWRITE"}, {unix.IN_OPEN, "OPEN"}, {unix.IN_MOVED_FROM, "MOVED_FROM"},
	{unix.IN_MOVED_TO, "MOVED_TO"}, {unix.IN_CREATE, "CREATE"}, {unix.IN_DELETE, "DELETE"}, {unix.IN_DELETE_SELF, "DELETE_SELF"},
	{unix.IN_MOVE_SELF, "MOVE_SELF"}, {unix.IN_UNMOUNT, "UNMOUNT"}, {unix.IN_Q_OVERFLOW, "OVERFLOW"}, {unix.IN_IGNORED, "IGNORED"},
	{unix.IN_ISDIR, "dir"},
}

// events returns what has happened so far: "PATH:EVENT[|dir][ NAME]" each, and
// the cookies of the moves beside them.
func (w *watcher) events() (list []string, cookies []uint32) {
	buf := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buf)
		if err == unix.EAGAIN {
			return list, cookies
		}
		w.t.Must(err)
		for b := buf[:n]; len(b) > 0; {
			mask, size := binary.NativeEndian.Uint32(b[4:]), int(binary.NativeEndian.Uint32(b[12:]))
			var words []string
			for _, e := range eventNames {
				if mask&e.bit != 0 {
					words = append(words, e.name)
				}
			}
			line := w.names[int(int32(binary.NativeEndian.Uint32(b)))] + ":" + strings.Join(words, "|")
			if name := string(bytes.TrimRight(b[16:16+size], "\x00")); name != "" {
				line += " " + name
			}
			list = append(list, line)
			if mask&(unix.IN_MOVED_FROM|unix.IN_MOVED_TO) != 0 {
				cookies = append(cookies, binary.NativeEndian.Uint32(b[8:]))
			}
			b = b[16+size:]
		}
	}
}

// saw asserts the events since the last look, in order.
func (w *watcher) saw(want ...string) {
	got, _ := w.events()
	eq(w.t, "events", strings.Join(got, ", "), strings.Join(want, ", "))
}

// notifyOperations: each operation and the events that watchers of the
// directory "." and of the file (or directory) "x" in it get for it.
func notifyOperations(g *Group) {
	g = g.Sub("event")
	file := func(t *T) { t.Write("x", "0123456789") }
	dir := func(t *T) { t.Dir("x", 0o755) }
	must := func(t *T, err error) { t.Must(err) }
	for _, c := range []struct {
		name  string
		setup func(t *T)
		do    func(t *T)
		want  []string
	}{
		{"create", nil, func(t *T) { t.File("n", 0o644) }, []string{".:CREATE n", ".:OPEN n", ".:CLOSE_WRITE n"}},
		{"mkdir", nil, func(t *T) { t.Dir("n", 0o755) }, []string{".:CREATE|dir n"}},
		{"mkfifo", nil, func(t *T) { t.Make(harness.FIFO, "n") }, []string{".:CREATE n"}},
		{"symlink", nil, func(t *T) { t.Symlink("target", "n") }, []string{".:CREATE n"}},
		{"link", file, func(t *T) { t.Link("x", "n") }, []string{"x:ATTRIB", ".:CREATE n"}},
		{"unlink-of-the-last-name", file, func(t *T) { must(t, unix.Unlink("x")) }, []string{"x:ATTRIB", "x:DELETE_SELF", "x:IGNORED", ".:DELETE x"}},
		{"unlink-of-one-of-two", func(t *T) { file(t); t.Link("x", "y") }, func(t *T) { must(t, unix.Unlink("y")) }, []string{"x:ATTRIB", ".:DELETE y"}},
		{"rmdir", dir, func(t *T) { must(t, unix.Rmdir("x")) }, []string{"x:DELETE_SELF", "x:IGNORED", ".:DELETE|dir x"}},
		{"rename-within", file, func(t *T) { must(t, unix.Rename("x", "n")) }, []string{".:MOVED_FROM x", ".:MOVED_TO n", "x:MOVE_SELF"}},
		{"rename-of-a-directory", dir, func(t *T) { must(t, unix.Rename("x", "n")) }, []string{".:MOVED_FROM|dir x", ".:MOVED_TO|dir n", "x:MOVE_SELF"}},
		{"rename-out", func(t *T) { file(t); t.Dir("d", 0o755) }, func(t *T) { must(t, unix.Rename("x", "d/n")) }, []string{".:MOVED_FROM x", "x:MOVE_SELF"}},
		{"rename-in", func(t *T) { t.Dir("d", 0o755); t.Write("d/n", "x") }, func(t *T) { must(t, unix.Rename("d/n", "n")) }, []string{".:MOVED_TO n"}},
		{"rename-over", func(t *T) { file(t); t.Write("y", "y") }, func(t *T) { must(t, unix.Rename("y", "x")) },
			[]string{".:MOVED_FROM y", ".:MOVED_TO x", "x:ATTRIB", "x:DELETE_SELF", "x:IGNORED"}},
		{"exchange", func(t *T) { file(t); t.Write("y", "y") }, func(t *T) { must(t, unix.Renameat2(cwd, "x", cwd, "y", exchange)) },
			[]string{".:MOVED_FROM x", ".:MOVED_TO y", "x:MOVE_SELF", ".:MOVED_FROM y", ".:MOVED_TO x"}},
		{"open-and-close-for-reading", file, func(t *T) { must(t, t.Try("x", unix.O_RDONLY, 0)) }, both("OPEN", "CLOSE_NOWRITE")},
		{"open-and-close-for-writing", file, func(t *T) { must(t, t.Try("x", unix.O_WRONLY, 0)) }, both("OPEN", "CLOSE_WRITE")},
		{"open-with-O_PATH", file, func(t *T) { must(t, t.Try("x", unix.O_PATH, 0)) }, nil},
		{"read", file, func(t *T) { t.Read("x") }, both("OPEN", "ACCESS", "CLOSE_NOWRITE")},
		{"write", file, func(t *T) { must(t, writeFile("x", 0, "new")) }, both("OPEN", "MODIFY", "CLOSE_WRITE")},
		{"truncate", file, func(t *T) { must(t, unix.Truncate("x", 3)) }, both("MODIFY")},
		{"truncate-up", file, func(t *T) { must(t, unix.Truncate("x", 30)) }, both("MODIFY")},
		{"chmod", file, func(t *T) { must(t, unix.Chmod("x", 0o600)) }, both("ATTRIB")},
		{"chmod-of-a-directory", dir, func(t *T) { must(t, unix.Chmod("x", 0o700)) }, bothDir("ATTRIB")},
		{"chown", file, func(t *T) { must(t, unix.Chown("x", -1, unix.Getegid())) }, both("ATTRIB")},
		{"utimensat", file, func(t *T) { must(t, unix.UtimesNanoAt(cwd, "x", []unix.Timespec{{Sec: 1}, {Sec: 2}}, 0)) }, both("ATTRIB")},
		{"setxattr", file, func(t *T) { must(t, unix.Setxattr("x", "user.a", []byte("v"), 0)) }, both("ATTRIB")},
		{"removexattr", func(t *T) { file(t); must(t, unix.Setxattr("x", "user.a", []byte("v"), 0)) },
			func(t *T) { must(t, unix.Removexattr("x", "user.a")) }, both("ATTRIB")},
		{"stat-and-access", file, func(t *T) { t.Stat("x"); must(t, unix.Access("x", unix.R_OK)) }, nil},
		{"failing-calls", file, func(t *T) {
			t.Errno(unix.Mkdir("x", 0o755), unix.EEXIST)
			t.Errno(unix.Unlink("missing"), unix.ENOENT)
			t.Errno(unix.Rmdir("x"), unix.ENOTDIR)
			t.Errno(unix.Rename("missing", "n"), unix.ENOENT)
		}, nil},
		{"create-inside-a-watched-directory", dir, func(t *T) { t.Dir("x/n", 0o755) }, []string{"x:CREATE|dir n"}},
		{"listing-a-directory", dir, func(t *T) { listOnce(t, "x") }, func() []string {
			var list []string
			for _, e := range []string{"OPEN", "ACCESS", "CLOSE_NOWRITE"} {
				list = append(list, ".:"+e+"|dir x", "x:"+e+"|dir")
			}
			return list
		}()},
	} {
		g.Case(c.name, func(t *T) {
			if c.setup != nil {
				c.setup(t)
			}
			w := newWatcher(t)
			w.watch(".", unix.IN_ALL_EVENTS)
			if t.Exists("x") {
				w.watch("x", unix.IN_ALL_EVENTS)
			}
			c.do(t)
			got, cookies := w.events()
			eq(t, "events", strings.Join(slices.Compact(got), ", "), strings.Join(c.want, ", "))
			for i := 1; i < len(cookies); i += 2 {
				t.Check(cookies[i] == cookies[i-1] && cookies[i] != 0, "the cookies of a move are %v", cookies)
			}
		})
	}
}

// notifyDescriptors: what is done by descriptors.
func notifyDescriptors(g *Group) {
	g = g.Sub("event")
	g.Case("open-to-empty", func(t *T) {
		t.Write("x", "0123456789")
		w := newWatcher(t)
		w.watch("x", unix.IN_ALL_EVENTS)
		t.Must(t.Try("x", unix.O_WRONLY|unix.O_TRUNC, 0))
		got, _ := w.events()
		slices.Sort(got) // kernels differ in which of the first two comes first
		eq(t, "events", strings.Join(got, ", "), "x:CLOSE_WRITE, x:MODIFY, x:OPEN")
	})
	for name, do := range map[string]func(t *T, fd int){
		"ftruncate":       func(t *T, fd int) { t.OK(unix.Ftruncate(fd, 3)) },
		"fallocate":       func(t *T, fd int) { t.OK(unix.Fallocate(fd, 0, 0, 100)) },
		"pwrite":          func(t *T, fd int) { put(t, fd, []byte("x"), 0) },
		"copy_file_range": func(t *T, fd int) { copyOnce(t, fd) },
		"sendfile": func(t *T, fd int) {
			_, err := unix.Sendfile(fd, t.Open("../other", unix.O_RDONLY), nil, 2)
			t.OK(err)
		},
	} {
		g.Case(name+"/is-one-MODIFY", func(t *T) {
			t.Write("other", "other")
			t.Dir("d", 0o755)
			t.Must(unix.Chdir("d"))
			t.Write("x", "0123456789")
			fd := t.Open("x", unix.O_RDWR)
			w := newWatcher(t)
			w.watch("x", unix.IN_MODIFY)
			do(t, fd)
			got, _ := w.events()
			eq(t, "events", strings.Join(slices.Compact(got), ", "), "x:MODIFY")
		})
	}
}

// listOnce lists a directory with one getdents.
func listOnce(t *T, dir string) {
	fd := t.Open(dir, unix.O_RDONLY)
	_, err := harness.Getdents(fd, 4096)
	t.Must(err)
	t.NoFork(func() { t.Close(fd) })
}

func copyOnce(t *T, fd int) {
	from, to := int64(0), int64(0)
	_, err := unix.CopyFileRange(t.Open("../other", unix.O_RDONLY), &from, fd, &to, 2, 0)
	t.OK(err)
}

// both lists events that the file's watcher and its directory's get alike.
func both(events ...string) []string {
	var list []string
	for _, e := range events {
		list = append(list, ".:"+e+" x", "x:"+e)
	}
	return list
}

func bothDir(e string) []string { return []string{".:" + e + "|dir x", "x:" + e + "|dir"} }

// notifyWatches: watches themselves.
func notifyWatches(g *Group) {
	g = g.Sub("watch")
	for name, c := range map[string]struct {
		path string
		mask uint32
		want syscall.Errno
	}{
		"missing-path":            {"missing", unix.IN_CREATE, unix.ENOENT},
		"file-as-a-directory":     {"f", unix.IN_CREATE | unix.IN_ONLYDIR, unix.ENOTDIR},
		"directory-as-one":        {".", unix.IN_CREATE | unix.IN_ONLYDIR, 0},
		"no-events":               {"f", 0, unix.EINVAL},
		"dangling-symlink":        {"dangling", unix.IN_ACCESS, unix.ENOENT},
		"dangling-not-followed":   {"dangling", unix.IN_ACCESS | unix.IN_DONT_FOLLOW, 0},
		"add-and-create-together": {"f", unix.IN_ACCESS | unix.IN_MASK_ADD | unix.IN_MASK_CREATE, unix.EINVAL},
	} {
		g.Case(name+"/"+errName(c.want), func(t *T) {
			t.Write("f", "x")
			t.Symlink("nowhere", "dangling")
			_, err := unix.InotifyAddWatch(newWatcher(t).fd, c.path, c.mask)
			t.Result(err, c.want)
		})
	}
	g.Case("unreadable-file/is-EACCES", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o222)
		t.As(alice, func() {
			_, err := unix.InotifyAddWatch(newWatcher(t).fd, "f", unix.IN_ACCESS)
			t.Errno(err, unix.EACCES)
		})
	})
}

// notifyInodes: a watch is of an inode, whatever its names.
func notifyInodes(g *Group) {
	g = g.Sub("watch")
	g.Case("two-names-of-one-file/are-one-watch", func(t *T) {
		t.Write("f", "x")
		t.Link("f", "g")
		w := newWatcher(t)
		a := w.watch("f", unix.IN_ATTRIB)
		b := w.watch("g", unix.IN_ATTRIB)
		eq(t, "watch", b, a)
		t.OK(unix.Chmod("f", 0o600))
		w.saw("g:ATTRIB")
	})
	g.Case("removed/sends-IGNORED-and-no-more", func(t *T) {
		w := newWatcher(t)
		wd := w.watch(".", unix.IN_CREATE)
		_, err := unix.InotifyRmWatch(w.fd, uint32(wd))
		t.OK(err)
		t.File("n", 0o644)
		w.saw(".:IGNORED")
		_, err = unix.InotifyRmWatch(w.fd, uint32(wd))
		t.Errno(err, unix.EINVAL)
	})
	g.Case("IN_ONESHOT/tells-once", func(t *T) {
		w := newWatcher(t)
		w.watch(".", unix.IN_CREATE|unix.IN_ONESHOT)
		t.File("a", 0o644)
		t.File("b", 0o644)
		w.saw(".:CREATE a", ".:IGNORED")
	})
	g.Case("mask-replaced-and-added-to", func(t *T) {
		w := newWatcher(t)
		w.watch(".", unix.IN_CREATE)
		w.watch(".", unix.IN_DELETE)
		t.File("a", 0o644)
		t.OK(unix.Unlink("a"))
		w.saw(".:DELETE a")
		w.watch(".", unix.IN_CREATE|unix.IN_MASK_ADD)
		t.File("a", 0o644)
		t.OK(unix.Unlink("a"))
		w.saw(".:CREATE a", ".:DELETE a")
	})
	g.Case("directory/tells-of-its-children-and-not-of-theirs", func(t *T) {
		t.Dir("d", 0o755)
		w := newWatcher(t)
		w.watch(".", unix.IN_CREATE)
		t.File("d/n", 0o644)
		t.File("n", 0o644)
		w.saw(".:CREATE n")
	})
	g.Case("through-another-hard-link/tells-the-file-watcher", func(t *T) {
		t.Write("f", "x")
		t.Dir("d", 0o755)
		t.Link("f", "d/g")
		w := newWatcher(t)
		w.watch("f", unix.IN_MODIFY)
		t.OK(unix.Truncate("d/g", 0))
		w.saw("f:MODIFY")
	})
}

// notifyOthers: moves, other processes, many events, the last close.
func notifyOthers(g *Group) {
	g = g.Sub("watch")
	g.Case("moved-directory/keeps-its-watch", func(t *T) {
		t.Dir("a", 0o755)
		t.Dir("b", 0o755)
		w := newWatcher(t)
		w.watch("a", unix.IN_CREATE|unix.IN_MOVE_SELF)
		t.OK(unix.Rename("a", "b/a"))
		t.File("b/a/n", 0o644)
		w.saw("a:MOVE_SELF", "a:CREATE n")
	})
	g.Case("by-another-process/tells", func(t *T) {
		t.Write("f", "x")
		w := newWatcher(t)
		w.watch(".", unix.IN_CREATE|unix.IN_MODIFY|unix.IN_DELETE)
		c := t.Child("changer")
		c.Expect("ok", "create n")
		c.Expect("ok", "truncate f 0")
		c.Expect("ok", "unlink n")
		w.saw(".:CREATE n", ".:MODIFY f", ".:DELETE n")
	})
	g.Case("hundred-files/each-told-once-in-order", func(t *T) {
		w := newWatcher(t)
		w.watch(".", unix.IN_CREATE|unix.IN_DELETE)
		var want []string
		for i := range 100 {
			t.File(fmt.Sprint("f", i), 0o644)
			want = append(want, fmt.Sprint(".:CREATE f", i))
		}
		for i := range 100 {
			t.OK(unix.Unlink(fmt.Sprint("f", i)))
			want = append(want, fmt.Sprint(".:DELETE f", i))
		}
		w.saw(want...)
	})
	g.Case("unlinked-while-open/tells-DELETE_SELF-at-the-last-close", func(t *T) {
		t.Write("f", "x")
		fd := t.Open("f", unix.O_RDONLY)
		w := newWatcher(t)
		w.watch("f", unix.IN_DELETE_SELF|unix.IN_ATTRIB)
		t.OK(unix.Unlink("f"))
		w.saw("f:ATTRIB")
		t.NoFork(func() { t.Close(fd) })
		var all []string
		t.Eventually(5*time.Second, "DELETE_SELF", func() bool {
			got, _ := w.events()
			all = append(all, got...)
			return strings.Join(all, ", ") == "f:DELETE_SELF, f:IGNORED"
		})
	})
}

// notifyElsewhere: changes that come by another mount of the same files are
// told within a second.
func notifyElsewhere(g *Group) {
	g = g.Sub("elsewhere")
	for name, do := range map[string]func(t *T, other string) error{
		"create": func(t *T, other string) error { t.File(other+"/n", 0o644); return nil },
		"write":  func(t *T, other string) error { t.Write(other+"/f", "changed elsewhere"); return nil },
		"unlink": func(_ *T, other string) error { return unix.Unlink(other + "/f") },
		"rename": func(_ *T, other string) error { return unix.Rename(other+"/f", other+"/n") },
		"chmod":  func(_ *T, other string) error { return unix.Chmod(other+"/f", 0o600) },
	} {
		g.Case(name+"/is-told-within-a-second", func(t *T) {
			other := t.Second()
			t.Write("f", "x")
			w := newWatcher(t)
			w.watch(".", unix.IN_ALL_EVENTS&^(unix.IN_ACCESS|unix.IN_OPEN|unix.IN_CLOSE_NOWRITE))
			t.Must(do(t, other))
			t.Eventually(time.Second, "an event", func() bool { got, _ := w.events(); return len(got) > 0 })
		})
	}
}
