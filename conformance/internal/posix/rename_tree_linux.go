package posix

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// smallTree makes a/b/c and z.
func smallTree(t *T) {
	for _, d := range []string{"a", "a/b", "a/b/c", "z"} {
		t.Dir(d, 0o755)
	}
}

// renameTrees: directories move with all that is in them, and never into
// themselves.
func renameTrees(g *Group) {
	g = g.Sub("tree")
	// M18: it must not only fail but fail at once.
	for _, c := range []struct {
		from, to string
		want     syscall.Errno
	}{
		{"a", "a/x", unix.EINVAL}, {"a", "a/b", unix.EINVAL}, {"a", "a/b/c", unix.EINVAL}, {"a", "a/b/c/x", unix.EINVAL},
		{"a/b", "a/b/c", unix.EINVAL}, {"a/b", "a/b/c/x", unix.EINVAL}, {"a/b/c", "a", unix.ENOTEMPTY},
		{"a/b/c", "a/b", unix.ENOTEMPTY}, {"a/b", "a", unix.ENOTEMPTY},
	} {
		g.Case(in(c.from)+"-to-"+in(c.to)+"/"+errName(c.want)+"-at-once", func(t *T) {
			smallTree(t)
			t.Unchanged(func() {
				var err error
				done := t.Start(func() { err = unix.Rename(c.from, c.to) })
				select {
				case <-done:
					t.Errno(err, c.want)
				case <-time.After(5 * time.Second):
					t.Fatalf("rename does not come back")
				}
			})
			t.Dir("answers", 0o755)
		})
	}
}

// renameMoves: what is inside goes along.
func renameMoves(g *Group) {
	g = g.Sub("tree")
	g.Case("directory/moves-with-its-contents", func(t *T) {
		smallTree(t)
		t.Write("a/b/c/f", "deep")
		c := t.Lstat("a/b/c")
		t.OK(unix.Rename("a", "z/a"))
		t.Gone("a")
		t.Content("z/a/b/c/f", "deep")
		t.Is("z/a/b/c", c)
		t.Nlink("z", 3)
		t.Is("z/a/..", t.Lstat("z"))
	})
	// M32: a new path must not lead to what the old one led to.
	g.Case("new-path/leads-to-what-moved", func(t *T) {
		t.Dir("d", 0o755)
		t.Write("d/f", "first")
		t.Content("d/f", "first")
		fd := t.Open("d/f", unix.O_RDWR)
		t.OK(unix.Rename("d", "e"))
		t.Content("e/f", "first")
		t.Dir("d", 0o755)
		t.Write("d/f", "second")
		t.Content("e/f", "first")
		t.Content("d/f", "second")
		_, err := unix.Pwrite(fd, []byte("FIRST"), 0)
		t.OK(err)
		t.Content("e/f", "FIRST")
		t.Content("d/f", "second")
	})
	g.Case("working-directory-inside/goes-along", func(t *T) {
		smallTree(t)
		t.Must(unix.Chdir("a/b"))
		t.OK(unix.Rename("../../a", "../../z/moved"))
		cwdIs(t, t.Path("z/moved/b"))
		t.Write("f", "here")
		t.Content("../b/f", "here")
		t.Must(unix.Chdir("../../.."))
		t.Content("z/moved/b/f", "here")
	})
	// M02: work in one directory leaves the paths of others right.
	g.Case("getcwd-after-work-in-siblings/stays-right", func(t *T) {
		smallTree(t)
		t.Must(unix.Chdir("a/b"))
		here := t.Path("a/b")
		for i := range 10 {
			cwdIs(t, here)
			t.Dir(fmt.Sprintf("../s%d", i), 0o755)
			t.File(fmt.Sprintf("../s%d/f", i), 0o644)
			t.OK(unix.Rename(fmt.Sprintf("../s%d", i), fmt.Sprintf("../../s%d", i)))
			cwdIs(t, here)
			t.OK(unix.Unlink(fmt.Sprintf("../../s%d/f", i)))
			t.OK(unix.Rmdir(fmt.Sprintf("../../s%d", i)))
		}
		cwdIs(t, here)
	})
	g.Case("descriptor-of-a-directory/goes-along", func(t *T) {
		smallTree(t)
		fd := t.Open("a/b", unix.O_RDONLY|unix.O_DIRECTORY)
		t.OK(unix.Rename("a", "z/a"))
		t.OK(unix.Mkdirat(fd, "new", 0o755))
		t.Check(t.Exists("z/a/b/new"), "the new directory is elsewhere")
		up := t.Adopt(mustOpenat(t, fd, "..", unix.O_RDONLY|unix.O_DIRECTORY))
		eq(t, "inode of the parent", t.Fstat(up).Ino, t.Lstat("z/a").Ino)
	})
	g.Case("back-and-forth/is-as-before", func(t *T) {
		smallTree(t)
		s := t.Lstat("a/b")
		for range 20 {
			t.OK(unix.Rename("a/b", "z/b"))
			t.OK(unix.Rename("z/b", "a/b"))
		}
		t.Is("a/b", s)
		t.Nlink("a", 3)
		t.Nlink("z", 2)
	})
}

// renameLimits: mounts, removed directories and names.
func renameLimits(g *Group) {
	g = g.Sub("tree")
	g.Case("to-another-mount/is-EXDEV", func(t *T) {
		t.Private()
		smallTree(t)
		t.File("f", 0o644)
		t.Bind("a", "z", 0)
		t.Unchanged(func() {
			t.Errno(unix.Rename("f", "z/f"), unix.EXDEV)
			t.Errno(unix.Rename("a/b", "z/x"), unix.EXDEV)
		})
	})
	g.Case("of-a-mount-point/is-EBUSY", func(t *T) {
		t.Private()
		smallTree(t)
		t.Bind("a", "z", 0)
		t.Errno(unix.Rename("z", "y"), unix.EBUSY)
		t.Errno(unix.Rename("a/b", "z"), unix.EBUSY, unix.EXDEV)
		t.Errno(unix.Rmdir("z"), unix.EBUSY)
	})
	g.Case("into-a-removed-directory/is-ENOENT", func(t *T) {
		t.Dir("d", 0o755)
		t.File("f", 0o644)
		fd := t.Open("d", unix.O_RDONLY)
		t.OK(unix.Rmdir("d"))
		t.Errno(unix.Renameat(cwd, "f", fd, "f"), unix.ENOENT)
		t.Check(t.Exists("f"), "the file is gone")
	})
	for _, n := range []int{1, 100, 255} {
		g.Case(fmt.Sprintf("to-a-name-of-%d-bytes/and-back", n), func(t *T) {
			t.Write("f", "x")
			long := strings.Repeat("L", n)
			t.OK(unix.Rename("f", long))
			t.Content(long, "x")
			t.OK(unix.Rename(long, "f"))
			t.Content("f", "x")
		})
	}
	g.Case("only-the-case-differs/is-another-name", func(t *T) {
		t.Write("foo", "x")
		t.OK(unix.Rename("foo", "Foo"))
		t.Gone("foo")
		eq(t, "listing", strings.Join(t.Names("."), " "), "Foo")
	})
}

func mustOpenat(t *T, dir int, name string, flags int) int {
	fd, err := unix.Openat(dir, name, flags|unix.O_CLOEXEC, 0)
	t.Must(err)
	return fd
}

// renameReplaced: what a rename replaces loses a name and nothing more.
func renameReplaced(g *Group) {
	g = g.Sub("replaced")
	g.Case("file-with-another-name/keeps-it-and-its-bytes", func(t *T) {
		t.Write("f", "old")
		t.Link("f", "other")
		t.Write("g", "new")
		t.OK(unix.Rename("g", "f"))
		t.Content("f", "new")
		t.Content("other", "old")
		t.Nlink("other", 1)
		t.Nlink("f", 1)
	})
	// M28
	g.Case("name-linked-unlinked-and-linked-again/is-replaced", func(t *T) {
		t.Write("f1", "one")
		t.Link("f1", "l")
		t.OK(unix.Unlink("l"))
		t.Write("f2", "two")
		t.Link("f1", "l")
		two := t.Lstat("f2")
		t.OK(unix.Rename("f2", "l"))
		t.Is("l", two)
		t.Nlink("f1", 1)
		t.Content("l", "two")
		t.Gone("f2")
	})
	g.Case("open-file/lives-on-without-a-name", func(t *T) {
		t.Write("f", "old")
		t.Write("g", "new")
		fd := t.Open("f", unix.O_RDWR)
		t.OK(unix.Rename("g", "f"))
		eq(t, "links", t.Fstat(fd).Nlink, 0)
		b, err := harness.ReadFrom(fd, 0, 10)
		t.OK(err)
		eq(t, "bytes", string(b), "old")
		_, err = unix.Pwrite(fd, []byte("OLD"), 0)
		t.OK(err)
		t.Content("f", "new")
	})
	g.Case("open-directory/is-dead", func(t *T) {
		t.Dir("a", 0o755)
		t.Dir("b", 0o755)
		t.File("a/f", 0o644)
		fd := t.Open("b", unix.O_RDONLY)
		t.OK(unix.Rename("a", "b"))
		eq(t, "links", t.Fstat(fd).Nlink, 0)
		t.Errno(unix.Mkdirat(fd, "x", 0o755), unix.ENOENT)
		t.Check(t.Exists("b/f"), "the contents did not move")
	})
	g.Case("between-two-names-of-one-file/keeps-both", func(t *T) {
		t.Write("f", "x")
		t.Link("f", "g")
		t.Unchanged(func() { t.OK(unix.Rename("f", "g")) })
		t.Nlink("f", 2)
		t.Check(t.Exists("f") && t.Exists("g"), "a name is gone")
	})
	// M06, M34: the size and the bytes are the new file's at once.
	g.Case("write-temporary-and-rename-over/is-the-new-size-and-bytes-at-once", func(t *T) {
		t.Write("f", "0123456789")
		for i := range 20 {
			want := strings.Repeat(fmt.Sprint(i), 50+i)
			t.Write("f.tmp", want)
			ino := t.Lstat("f.tmp")
			t.OK(unix.Rename("f.tmp", "f"))
			t.Size("f", int64(len(want)))
			t.Is("f", ino)
			t.Content("f", want)
			t.Gone("f.tmp")
		}
	})
	g.Case("over-a-file-that-is-being-written/has-the-new-bytes", func(t *T) {
		t.File("f", 0o644)
		old := t.Open("f", unix.O_WRONLY)
		t.Must(harness.WriteAll(old, []byte(strings.Repeat("o", 1<<16))))
		t.Write("f.tmp", "new")
		t.OK(unix.Rename("f.tmp", "f"))
		t.Must(harness.WriteAll(old, []byte("more")))
		t.Close(old)
		t.Content("f", "new")
	})
	g.Case("directory/has-no-links-left-and-frees-its-parent's", func(t *T) {
		t.Dir("p", 0o755)
		t.Dir("p/a", 0o755)
		t.Dir("p/b", 0o755)
		t.Nlink("p", 4)
		t.OK(unix.Rename("p/a", "p/b"))
		t.Nlink("p", 3)
	})
	g.Case("directory-from-elsewhere/counts", func(t *T) {
		t.Dir("p", 0o755)
		t.Dir("q", 0o755)
		t.Dir("p/a", 0o755)
		t.Dir("q/b", 0o755)
		t.OK(unix.Rename("p/a", "q/b"))
		t.Nlink("p", 2)
		t.Nlink("q", 3)
	})
}

// renameOpen: open files do not notice.
func renameOpen(g *Group) {
	for _, place := range []string{"same-directory", "other-directory"} {
		g.Sub("open-file").Case(place+"/goes-on-reading-and-writing", func(t *T) {
			t.Dir("d", 0o755)
			to := "g"
			if place == "other-directory" {
				to = "d/g"
			}
			t.Write("f", "0123456789")
			fd := t.Open("f", unix.O_RDWR)
			t.OK(unix.Rename("f", to))
			_, err := unix.Pwrite(fd, []byte("abc"), 10)
			t.OK(err)
			t.Content(to, "0123456789abc")
			t.Size(to, 13)
			eq(t, "size by the descriptor", t.Fstat(fd).Size, 13)
			t.OK(unix.Ftruncate(fd, 3))
			t.Size(to, 3)
			eq(t, "links", t.Fstat(fd).Nlink, 1)
		})
	}
	g.Sub("open-file").Case("dirty-when-renamed/loses-nothing", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		data := strings.Repeat("0123456789abcdef", 1<<13)
		t.OK(harness.WriteAll(fd, []byte(data)))
		t.OK(unix.Rename("f", "g"))
		t.Size("g", int64(len(data)))
		t.Close(fd)
		t.Size("g", int64(len(data)))
		t.Content("g", data)
	})
}

// renamePermissions is what the mode matrix of group open does not cover.
func renamePermissions(g *Group) {
	g = g.Sub("permission")
	for _, c := range []struct {
		name string
		mode uint32
		want syscall.Errno
	}{{"writable", 0o777, 0}, {"not-writable", 0o555, unix.EACCES}, {"write-only", 0o222, 0}} {
		g.Case("directory-to-another-parent/"+c.name+"/"+errName(c.want), func(t *T) {
			t.NeedRoot()
			for _, d := range []string{"p", "q", "p/d"} {
				t.Dir(d, 0o777)
				t.Chown(d, alice.UID, alice.GID)
			}
			t.Chown("p/d", bob.UID, bob.GID)
			t.Chmod("p/d", c.mode)
			// Its ".." is to change, which is writing to it.
			t.As(alice, func() {
				t.OK(unix.Rename("p/d", "p/e"), "within the parent")
				t.Result(unix.Rename("p/e", "q/d"), c.want)
			})
		})
	}
	for _, c := range []struct {
		name             string
		fromMode, toMode uint32
		want             syscall.Errno
	}{
		{"both-writable", 0o777, 0o777, 0},
		{"source-read-only", 0o555, 0o777, unix.EACCES},
		{"target-read-only", 0o777, 0o555, unix.EACCES},
		{"source-unsearchable", 0o666, 0o777, unix.EACCES},
		{"target-unsearchable", 0o777, 0o666, unix.EACCES},
	} {
		for flags, flagName := range map[uint]string{0: "plain", noReplace: "NOREPLACE", exchange: "EXCHANGE"} {
			g.Case(c.name+"/"+flagName+"/"+errName(c.want), func(t *T) {
				t.NeedRoot()
				t.Dir("p", 0o777)
				t.Dir("q", 0o777)
				t.File("p/x", 0o666)
				if flags != noReplace {
					t.File("q/y", 0o666)
				}
				t.Chmod("p", c.fromMode)
				t.Chmod("q", c.toMode)
				t.As(alice, func() { t.Result(unix.Renameat2(cwd, "p/x", cwd, "q/y", flags), c.want) })
			})
		}
	}
	for _, side := range []string{"source", "target"} {
		g.Case("EXCHANGE/another's-"+side+"-in-a-sticky-directory/is-EPERM", func(t *T) {
			t.NeedRoot()
			t.Dir("s", 0o777)
			t.Chmod("s", 0o1777)
			t.File("s/bobs", 0o666)
			t.Chown("s/bobs", bob.UID, bob.GID)
			t.File("s/alices", 0o666)
			t.Chown("s/alices", alice.UID, alice.GID)
			from, to := "s/bobs", "s/alices"
			if side == "target" {
				from, to = to, from
			}
			t.Unchanged(func() {
				t.As(alice, func() { t.Errno(unix.Renameat2(cwd, from, cwd, to, exchange), unix.EPERM) })
			})
		})
	}
}

// renameRaces: whoever looks while names move sees one state or the other.
func renameRaces(g *Group) {
	g = g.Sub("race")
	g.Case("replacing-by-rename/never-shows-a-moment-without-the-name", func(t *T) {
		t.Write("f", "0")
		var stop atomic.Bool
		t.Parallel(4, func(i int) {
			if i == 0 {
				defer stop.Store(true)
				for j := range 200 {
					t.Write("tmp", strings.Repeat("x", j%7+1))
					t.Must(unix.Rename("tmp", "f"))
				}
				return
			}
			for !stop.Load() {
				b, err := harness.ReadFile("f")
				if err != nil || len(b) == 0 {
					t.Check(false, "saw %d bytes, %v", len(b), err)
					return
				}
			}
		})
		t.Check(t.Exists("f"), "the name is gone")
	})
	g.Case("crossing-moves-of-directories/make-no-circle", func(t *T) {
		t.Dir("a", 0o755)
		t.Dir("b", 0o755)
		t.Parallel(4, func(i int) {
			for range 100 {
				if i%2 == 0 {
					_ = unix.Rename("a", "b/a")
					_ = unix.Rename("b/a", "a")
				} else {
					_ = unix.Rename("b", "a/b")
					_ = unix.Rename("a/b", "b")
				}
			}
		})
		// Whatever order it was: each is in exactly one place.
		eq(t, "places of a", places(t, "a", "b/a"), 1)
		eq(t, "places of b", places(t, "b", "a/b"), 1)
	})
	g.Case("EXCHANGE-by-many/loses-neither", func(t *T) {
		t.Write("x", "1")
		t.Write("y", "2")
		t.Parallel(4, func(int) {
			for range 50 {
				t.Must(unix.Renameat2(cwd, "x", cwd, "y", exchange))
			}
		})
		got := string(t.Read("x")) + string(t.Read("y"))
		t.Check(got == "12" || got == "21", "the contents are %q", got)
	})
	g.Case("NOREPLACE-by-many/one-wins", func(t *T) {
		var wins atomic.Int32
		t.Parallel(6, func(i int) {
			name := fmt.Sprint("f", i)
			t.File(name, 0o644)
			if err := unix.Renameat2(cwd, name, cwd, "target", noReplace); err == nil {
				wins.Add(1)
			} else {
				t.Errno(err, unix.EEXIST)
			}
		})
		eq(t, "winners", wins.Load(), 1)
		eq(t, "names", len(t.Names(".")), 6)
	})
	g.Case("ring-of-renames-by-many/keeps-the-file", func(t *T) {
		t.Write("r0", "ring")
		t.Parallel(4, func(i int) {
			for j := range 100 {
				_ = unix.Rename(fmt.Sprintf("r%d", j%4), fmt.Sprintf("r%d", (j+1)%4))
			}
		})
		names := t.Names(".")
		if eq(t, "names", len(names), 1) {
			t.Content(names[0], "ring")
			t.Nlink(names[0], 1)
		}
	})
}

func places(t *T, names ...string) int {
	n := 0
	for _, name := range names {
		if t.Exists(name) {
			n++
		}
	}
	return n
}
