package posix

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareUnlink) }

func declareUnlink(s *harness.Suite) {
	g := s.Group("unlink")
	unlinkKinds(g)
	unlinkCalls(g)
	rmdirCases(g)
	linkCases(g)
	linkTargets(g)
	linkRights(g)
	linkOver(g)
	stickyRemoval(g)
	openUnlinked(g)
	unlinkedEnds(g)
	linkCrowds(g)
}

// unlinkKinds: removing each kind of file, by one of one and one of two names.
func unlinkKinds(g *Group) {
	for _, k := range harness.NotDirs {
		sub := g.Sub("unlink/%s", k)
		sub.Case("only-name/is-gone-and-the-directory's-times-move", func(t *T) {
			t.Make(k, "x")
			t.File("stays", 0o644)
			m := t.Mark(".", "stays")
			t.OK(unix.Unlink("x"))
			t.Gone("x")
			m.Moved(".", harness.M|harness.C)
			m.Still("stays")
			eq(t, "listing", strings.Join(t.Names("."), " "), "stays")
			t.Errno(unix.Unlink("x"), unix.ENOENT)
		})
		sub.Case("one-of-two-names/keeps-the-other-and-moves-ctime", func(t *T) {
			t.Make(k, "x")
			t.Link("x", "y")
			s := t.Lstat("y")
			eq(t, "links before", s.Nlink, 2)
			m := t.Mark(".", "y")
			t.OK(unix.Unlink("x"))
			t.Gone("x")
			t.Is("y", s)
			t.Nlink("y", 1)
			m.Moved("y", harness.C)
			m.Moved(".", harness.M|harness.C)
		})
		sub.Case("rmdir/is-ENOTDIR", func(t *T) {
			t.Make(k, "x")
			t.Unchanged(func() { t.Errno(unix.Rmdir("x"), unix.ENOTDIR) })
		})
		sub.Case("name-can-be-used-again-at-once", func(t *T) {
			for range 5 {
				t.Make(k, "x")
				t.OK(unix.Unlink("x"))
				t.Dir("x", 0o755)
				t.OK(unix.Rmdir("x"))
			}
			eq(t, "names", len(t.Names(".")), 0)
		})
		sub.Case("through-a-symlinked-directory/works", func(t *T) {
			t.Dir("d", 0o755)
			t.Make(k, "d/x")
			t.Symlink("d", "l")
			t.OK(unix.Unlink("l/x"))
			t.Gone("d/x")
		})
	}
}

// unlinkCalls: what does not depend on the kind of file.
func unlinkCalls(g *Group) {
	g.Case("unlink/directory/is-EISDIR", func(t *T) {
		t.Dir("d", 0o755)
		t.Unchanged(func() { t.Errno(unix.Unlink("d"), unix.EISDIR) })
	})
	g.Case("unlink/symlink/leaves-its-target", func(t *T) {
		t.Write("f", "x")
		t.Dir("d", 0o755)
		t.Symlink("f", "to-f")
		t.Symlink("d", "to-d")
		m := t.Mark("f", "d")
		t.OK(unix.Unlink("to-f"))
		t.OK(unix.Unlink("to-d"))
		m.Still("f")
		m.Still("d")
	})
	g.Case("unlinkat/invalid-flags/is-EINVAL", func(t *T) {
		t.File("f", 0o644)
		t.Errno(unix.Unlinkat(cwd, "f", 0x1), unix.EINVAL)
		t.Errno(unix.Unlinkat(cwd, "f", unix.AT_SYMLINK_NOFOLLOW|0x4000), unix.EINVAL)
		t.Check(t.Exists("f"), "the file is gone")
	})
	g.Case("unlinkat/relative-to-a-file/is-ENOTDIR", func(t *T) {
		t.File("f", 0o644)
		fd := t.Open("f", unix.O_RDONLY)
		t.Errno(unix.Unlinkat(fd, "x", 0), unix.ENOTDIR)
		t.Errno(unix.Unlinkat(-1, "x", 0), unix.EBADF)
	})
	g.Case("unlink/own-file-of-mode-0/works", func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		t.File("f", 0)
		t.As(alice, func() { t.OK(unix.Unlink("f")) })
		t.Gone("f")
	})
	// M08: who may create in a directory may remove there.
	g.Case("create-write-rename-unlink-rmdir/by-an-ordinary-user-all-work", func(t *T) {
		t.NeedRoot()
		t.Dir("home", 0o755)
		t.Chown("home", alice.UID, alice.GID)
		t.As(alice, func() {
			for i := range 20 {
				t.OK(unix.Mkdir("home/d", 0o755))
				t.Write("home/d/tmp_obj_x", fmt.Sprint(i))
				t.Write("home/index", "old")
				t.Write("home/index.lock", "new")
				t.OK(unix.Rename("home/index.lock", "home/index"))
				t.OK(unix.Link("home/d/tmp_obj_x", "home/d/obj"))
				t.OK(unix.Unlink("home/d/tmp_obj_x"))
				t.OK(unix.Chmod("home/d/obj", 0o444))
				t.OK(unix.Unlink("home/d/obj"))
				t.OK(unix.Rmdir("home/d"))
			}
		})
		eq(t, "names left", strings.Join(t.Names("home"), " "), "index")
	})
}

// rmdirCases: removing directories.
func rmdirCases(g *Group) {
	g = g.Sub("rmdir")
	g.Case("empty/is-gone-and-the-parent-loses-a-link", func(t *T) {
		t.Dir("p", 0o755)
		t.Dir("p/d", 0o755)
		t.Nlink("p", 3)
		m := t.Mark("p")
		t.OK(unix.Rmdir("p/d"))
		t.Gone("p/d")
		t.Nlink("p", 2)
		m.Moved("p", harness.M|harness.C)
		t.Errno(unix.Rmdir("p/d"), unix.ENOENT)
	})
	for _, k := range harness.Kinds {
		g.Case("with-a-"+string(k)+"-inside/is-ENOTEMPTY", func(t *T) {
			t.Dir("d", 0o755)
			t.Make(k, "d/x")
			t.Unchanged(func() { t.Errno(unix.Rmdir("d"), unix.ENOTEMPTY) })
			if k == harness.Dir {
				t.OK(unix.Rmdir("d/x"))
			} else {
				t.OK(unix.Unlink("d/x"))
			}
			t.OK(unix.Rmdir("d"), "once it is empty")
		})
	}
	g.Case("with-a-hidden-name-inside/is-ENOTEMPTY", func(t *T) {
		t.Dir("d", 0o755)
		t.File("d/.hidden", 0o644)
		t.Errno(unix.Rmdir("d"), unix.ENOTEMPTY)
	})
	g.Case("of-a-working-directory/works-and-leaves-it-dead", func(t *T) {
		t.Dir("d", 0o755)
		t.Must(unix.Chdir("d"))
		t.OK(unix.Rmdir("../d"))
		t.Errno(unix.Mkdir("x", 0o755), unix.ENOENT)
		t.Errno(unix.Symlink("x", "y"), unix.ENOENT)
		t.Errno(t.Try("x", unix.O_CREAT|unix.O_RDWR, 0o644), unix.ENOENT)
		s := t.Lstat(".")
		eq(t, "type", s.Type(), unix.S_IFDIR)
		eq(t, "links", s.Nlink, 0)
		t.Must(unix.Chdir(t.Path(".")))
		t.Gone("d")
	})
	g.Case("of-an-open-directory/leaves-an-empty-listing", func(t *T) {
		t.Dir("d", 0o755)
		fd := t.Open("d", unix.O_RDONLY)
		t.OK(unix.Rmdir("d"))
		_, err := harness.Getdents(fd, 4096)
		t.Errno(err, unix.ENOENT)
		eq(t, "links", t.Fstat(fd).Nlink, 0)
		t.Errno(unix.Mkdirat(fd, "x", 0o755), unix.ENOENT)
		t.Errno(unix.Linkat(cwd, ".", fd, "x", 0), unix.EPERM, unix.ENOENT)
		t.OK(unix.Fchmod(fd, 0o700), "fchmod of it")
	})
	g.Case("by-unlinkat-with-AT_REMOVEDIR/works", func(t *T) {
		t.Dir("d", 0o755)
		t.Dir("d/e", 0o755)
		fd := t.Open("d", unix.O_RDONLY)
		t.OK(unix.Unlinkat(fd, "e", unix.AT_REMOVEDIR))
		t.Gone("d/e")
	})
	g.Case("in-a-read-only-directory/is-EACCES", func(t *T) {
		t.NeedRoot()
		t.Dir("p", 0o555)
		t.Dir("p/d", 0o777)
		t.As(alice, func() { t.Errno(unix.Rmdir("p/d"), unix.EACCES) })
	})
	g.Case("name-can-be-a-file-at-once", func(t *T) {
		t.Dir("x", 0o755)
		t.OK(unix.Rmdir("x"))
		t.Write("x", "file")
		t.Content("x", "file")
		t.OK(unix.Unlink("x"))
		t.Dir("x", 0o700)
		eq(t, "type", t.Lstat("x").Type(), unix.S_IFDIR)
	})
}

// linkCases: a second name.
func linkCases(g *Group) {
	for _, k := range harness.NotDirs {
		g.Sub("link/%s", k).Case("is-one-inode-with-two-links-at-once", func(t *T) {
			t.Dir("d", 0o755)
			t.Make(k, "x")
			m := t.Mark(".", "d", "x")
			t.OK(unix.Link("x", "d/y"))
			s := t.Lstat("x")
			t.Is("d/y", s)
			t.Nlink("x", 2)
			t.Nlink("d/y", 2)
			m.Moved("x", harness.C)
			m.Moved("d", harness.M|harness.C)
			m.Still(".")
		})
		g.Sub("link/%s", k).Case("attributes-are-shared", func(t *T) {
			t.Make(k, "x")
			t.Link("x", "y")
			if k != harness.Symlink {
				t.OK(unix.Chmod("y", 0o601))
				t.Perm("x", 0o601)
			}
			t.OK(unix.UtimesNanoAt(cwd, "x", []unix.Timespec{{Sec: 5}, {Sec: 7, Nsec: 9}}, unix.AT_SYMLINK_NOFOLLOW))
			eq(t, "mtime by the other name", t.Lstat("y").Mtime, 7e9+9)
			if t.Env.Root {
				t.OK(unix.Lchown("y", 21009, 22009))
				t.Owner("x", 21009, 22009)
			}
		})
	}
}

// linkTargets: what can be linked, and what link leads to.
func linkTargets(g *Group) {
	g = g.Sub("link")
	g.Case("directory/is-EPERM", func(t *T) {
		t.Dir("d", 0o755)
		t.Unchanged(func() {
			t.Errno(unix.Link("d", "e"), unix.EPERM)
			t.Errno(unix.Link("d", "d/e"), unix.EPERM)
			t.Errno(unix.Link(".", "e"), unix.EPERM)
		})
	})
	g.Case("symlink/links-the-link-itself", func(t *T) {
		t.Write("f", "x")
		t.Symlink("f", "l")
		t.OK(unix.Link("l", "l2"))
		t.Is("l2", t.Lstat("l"))
		t.Nlink("f", 1)
	})
	g.Case("symlink-with-AT_SYMLINK_FOLLOW/links-the-target", func(t *T) {
		t.Write("f", "x")
		t.Symlink("f", "l")
		t.OK(unix.Linkat(cwd, "l", cwd, "f2", unix.AT_SYMLINK_FOLLOW))
		t.Is("f2", t.Lstat("f"))
		t.Nlink("l", 1)
		t.Nlink("f", 2)
	})
	g.Case("dangling-with-AT_SYMLINK_FOLLOW/is-ENOENT", func(t *T) {
		t.Symlink("nowhere", "l")
		t.Errno(unix.Linkat(cwd, "l", cwd, "f2", unix.AT_SYMLINK_FOLLOW), unix.ENOENT)
	})
	g.Case("invalid-flags/is-EINVAL", func(t *T) {
		t.File("f", 0o644)
		t.Errno(unix.Linkat(cwd, "f", cwd, "g", unix.AT_SYMLINK_NOFOLLOW), unix.EINVAL)
		t.Gone("g")
	})
	g.Case("to-another-mount/is-EXDEV", func(t *T) {
		t.Private()
		t.Dir("a", 0o755)
		t.Dir("b", 0o755)
		t.File("f", 0o644)
		t.Bind("a", "b", 0)
		t.Unchanged(func() { t.Errno(unix.Link("f", "b/f"), unix.EXDEV) })
	})
	// M16: size and count are right at once.
	g.Case("size-and-count-by-both-names/are-right-at-once", func(t *T) {
		for i := range 20 {
			a, b := fmt.Sprintf("a%d", i), fmt.Sprintf("b%d", i)
			t.Write(a, "hi\n")
			t.OK(unix.Link(a, b))
			t.Size(a, 3)
			t.Size(b, 3)
			t.Nlink(a, 2)
			t.Is(b, t.Lstat(a))
			t.Content(b, "hi\n")
		}
	})
	g.Case("data-through-one-name/shows-through-the-other", func(t *T) {
		t.Write("a", "one")
		t.Link("a", "b")
		t.Write("b", "other")
		t.Content("a", "other")
		fd := t.Open("a", unix.O_WRONLY|unix.O_APPEND)
		t.OK(harness.WriteAll(fd, []byte("!")))
		t.Content("b", "other!")
		t.OK(unix.Truncate("b", 2))
		t.Content("a", "ot")
	})
}

// linkRights: whose files can be linked where, and how often.
func linkRights(g *Group) {
	g = g.Sub("link")
	for _, c := range []struct {
		name string
		mode uint32
		want syscall.Errno
	}{
		{"readable-and-writable", 0o666, 0}, {"read-only", 0o444, unix.EPERM}, {"unreadable", 0o222, unix.EPERM},
		{"setuid", 0o4777, unix.EPERM}, {"setgid-executable", 0o2777, unix.EPERM}, {"setgid-not-executable", 0o2766, 0},
	} {
		g.Case("another's-file/"+c.name+"/"+errName(c.want), func(t *T) {
			t.NeedRoot()
			if !t.Env.HardlinksProtected {
				t.Skip("fs.protected_hardlinks is off")
			}
			t.Chmod(".", 0o777)
			t.File("f", 0o600)
			t.Chown("f", bob.UID, bob.GID)
			t.Chmod("f", c.mode)
			t.As(alice, func() { t.Result(unix.Link("f", "g"), c.want) })
			t.As(bob, func() { t.OK(unix.Link("f", "own"), "by the owner") })
			t.OK(unix.Link("f", "root's"), "by root")
		})
	}
	g.Case("into-an-unwritable-directory/is-EACCES", func(t *T) {
		t.NeedRoot()
		t.Dir("d", 0o555)
		t.File("f", 0o666)
		t.As(alice, func() { t.Errno(unix.Link("f", "d/f"), unix.EACCES) })
		t.Nlink("f", 1)
	})
	g.Case("of-an-unlinked-open-file/is-ENOENT", func(t *T) {
		t.Write("f", "x")
		fd := t.Open("f", unix.O_RDONLY)
		t.OK(unix.Unlink("f"))
		t.Errno(unix.Linkat(cwd, procFD(fd), cwd, "again", unix.AT_SYMLINK_FOLLOW), unix.ENOENT)
		t.Gone("again")
	})
	g.Long("limit/65000-links-and-then-EMLINK", func(t *T) {
		const limit = 65000
		t.File("f", 0o644)
		made := 1
		var err error
		for ; made < limit+10; made++ {
			if err = unix.Link("f", fmt.Sprint("l", made)); err != nil {
				break
			}
		}
		t.Errno(err, unix.EMLINK)
		eq(t, "links made", made, limit)
		t.Nlink("f", uint32(made))
		t.OK(unix.Unlink("l1"))
		t.OK(unix.Link("f", "l1"), "after one was removed")
	})
}

// linkOver: link never replaces anything.
func linkOver(g *Group) {
	for _, k := range harness.NotDirs {
		for _, over := range append([]Kind{"itself", "second-name"}, harness.Kinds...) {
			g.Sub("link/%s", k).Case("over-"+string(over)+"/is-EEXIST", func(t *T) {
				t.Make(k, "x")
				target := "y"
				switch over {
				case "itself":
					target = "x"
				case "second-name":
					t.Link("x", "y")
				default:
					t.Make(over, "y")
				}
				t.Unchanged(func() { t.Errno(unix.Link("x", target), unix.EEXIST) })
			})
		}
	}
}
