package posix

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// stickyWant is who may remove or rename a name in a directory of mode 1777
// (sticky) or 0777: with the sticky bit, the owner of the file, the owner of
// the directory, and root.
func stickyWant(who, dirOwner, fileOwner Cred, sticky bool) syscall.Errno {
	if !sticky || who.UID == 0 || who.UID == dirOwner.UID || who.UID == fileOwner.UID {
		return 0
	}
	return unix.EPERM
}

// stickyRemoval crosses callers, owners and kinds in sticky directories.
func stickyRemoval(g *Group) {
	people := []struct {
		name string
		cred Cred
	}{{"alice", alice}, {"bob", bob}, {"root", root}}
	for _, sticky := range []bool{true, false} {
		word := map[bool]string{true: "sticky", false: "open"}[sticky]
		for _, who := range people {
			for _, dirOwner := range people {
				for _, fileOwner := range people {
					want := stickyWant(who.cred, dirOwner.cred, fileOwner.cred, sticky)
					name := fmt.Sprintf("%s-removes-%s's-file-from-%s's-directory/%s", who.name, fileOwner.name, dirOwner.name, errName(want))
					g.Sub("%s", word).Case(name, func(t *T) {
						t.NeedRoot()
						t.Chmod(".", 0o777)
						for i, k := range harness.Kinds {
							dir := fmt.Sprintf("d%d", i)
							stickyDirectory(t, dir, sticky, dirOwner.cred, fileOwner.cred, k)
							t.As(who.cred, func() { stickyTry(t, dir, k, want) })
						}
					})
				}
			}
		}
	}
}

func stickyDirectory(t *T, dir string, sticky bool, dirOwner, fileOwner Cred, k Kind) {
	t.Dir(dir, 0o777)
	for _, name := range []string{"gone", "moved", "over", "out"} {
		t.MakeMode(k, dir+"/"+name, 0o777)
		t.Chown(dir+"/"+name, fileOwner.UID, fileOwner.GID)
	}
	t.Chown(dir, dirOwner.UID, dirOwner.GID)
	if sticky {
		t.Chmod(dir, 0o1777)
	}
}

// stickyTry removes, renames, renames over and renames out.
func stickyTry(t *T, dir string, k Kind, want syscall.Errno) {
	remove := unix.Unlink
	if k == harness.Dir {
		remove = unix.Rmdir
	}
	t.Result(remove(dir+"/gone"), want, "%s: remove", k)
	t.Result(unix.Rename(dir+"/moved", dir+"/moved2"), want, "%s: rename", k)
	t.Result(unix.Rename(dir+"/out", dir+"-"+string(k)), want, "%s: rename out", k)
	mine := dir + "/mine"
	if k == harness.Dir {
		t.Dir(mine, 0o777)
	} else {
		t.File(mine, 0o666)
	}
	t.Result(unix.Rename(mine, dir+"/over"), want, "%s: rename over", k)
	if want != 0 {
		t.OK(remove(mine), "%s: remove one's own", k)
	}
}

// openUnlinked: a file without a name lives while it is open.
func openUnlinked(g *Group) {
	g = g.Sub("open-unlinked")
	start := func(t *T) (fd int) {
		t.Write("f", "0123456789")
		fd = t.Open("f", unix.O_RDWR)
		t.OK(unix.Unlink("f"))
		return fd
	}
	for name, use := range map[string]func(t *T, fd int){
		"fstat/has-no-links": func(t *T, fd int) {
			s := t.Fstat(fd)
			eq(t, "links", s.Nlink, 0)
			eq(t, "size", s.Size, 10)
		},
		"read/sees-its-bytes": func(t *T, fd int) {
			b, err := harness.ReadFrom(fd, 0, 100)
			t.OK(err)
			eq(t, "bytes", string(b), "0123456789")
		},
		"write/works": func(t *T, fd int) {
			_, err := unix.Pwrite(fd, []byte("abc"), 8)
			t.OK(err)
			b, err := harness.ReadFrom(fd, 0, 100)
			t.OK(err)
			eq(t, "bytes", string(b), "01234567abc")
			eq(t, "size", t.Fstat(fd).Size, 11)
		},
		"truncate/works": func(t *T, fd int) {
			t.OK(unix.Ftruncate(fd, 4))
			eq(t, "size", t.Fstat(fd).Size, 4)
			t.OK(unix.Ftruncate(fd, 8192))
			b, err := harness.ReadFrom(fd, 0, 8)
			t.OK(err)
			eq(t, "bytes", string(b), "0123\x00\x00\x00\x00")
		},
		"fchmod-fchown-futimens/work": func(t *T, fd int) {
			t.OK(unix.Fchmod(fd, 0o604))
			eq(t, "mode", t.Fstat(fd).Perm(), 0o604)
			t.OK(unix.Fchown(fd, -1, -1))
			t.OK(unix.UtimesNanoAt(cwd, procFD(fd), []unix.Timespec{{Sec: 1}, {Sec: 2}}, 0))
			eq(t, "mtime", t.Fstat(fd).Mtime, 2e9)
			t.OK(unix.Fchmod(fd, 0o600))
		},
		"xattrs/work": func(t *T, fd int) {
			t.OK(unix.Fsetxattr(fd, "user.k", []byte("v"), 0))
			buf := make([]byte, 8)
			n, err := unix.Fgetxattr(fd, "user.k", buf)
			t.OK(err)
			eq(t, "value", string(buf[:max(n, 0)]), "v")
			t.OK(unix.Fremovexattr(fd, "user.k"))
		},
		"fsync/works":     func(t *T, fd int) { t.OK(unix.Fsync(fd)); t.OK(unix.Fdatasync(fd)) },
		"fallocate/works": func(t *T, fd int) { t.OK(unix.Fallocate(fd, 0, 0, 20)); eq(t, "size", t.Fstat(fd).Size, 20) },
		"mmap/works": func(t *T, fd int) {
			b, err := unix.Mmap(fd, 0, 10, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
			if t.OK(err) {
				b[0] = 'M'
				got, err := harness.ReadFrom(fd, 0, 1)
				t.OK(err)
				eq(t, "byte", string(got), "M")
				t.OK(unix.Munmap(b))
			}
		},
		"reopen-by-proc/works": func(t *T, fd int) {
			again := t.Open(procFD(fd), unix.O_RDWR)
			eq(t, "inode", t.Fstat(again).Ino, t.Fstat(fd).Ino)
			_, err := unix.Pwrite(again, []byte("Z"), 0)
			t.OK(err)
			b, err := harness.ReadFrom(fd, 0, 1)
			t.OK(err)
			eq(t, "byte", string(b), "Z")
		},
		"a-new-file-of-the-name/is-another": func(t *T, fd int) {
			t.Write("f", "new")
			t.Check(t.Lstat("f").Ino != t.Fstat(fd).Ino, "the inode number is in use")
			b, err := harness.ReadFrom(fd, 0, 100)
			t.OK(err)
			eq(t, "bytes of the old", string(b), "0123456789")
			t.Content("f", "new")
		},
		"its-directory-removed-too/still-works": func(t *T, fd int) {
			t.Dir("d", 0o755)
			t.Write("d/g", "inner")
			inner := t.Open("d/g", unix.O_RDWR)
			t.OK(unix.Unlink("d/g"))
			t.OK(unix.Rmdir("d"))
			b, err := harness.ReadFrom(inner, 0, 100)
			t.OK(err)
			eq(t, "bytes", string(b), "inner")
		},
		"many-descriptors/share-it-to-the-last": func(t *T, fd int) {
			again := t.Open(procFD(fd), unix.O_RDONLY)
			dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
			t.OK(err)
			t.Adopt(dup)
			t.Close(fd)
			t.Close(dup)
			b, err := harness.ReadFrom(again, 0, 100)
			t.OK(err)
			eq(t, "bytes", string(b), "0123456789")
		},
	} {
		g.Case(name, func(t *T) { use(t, start(t)) })
	}
}

// unlinkedEnds: how a file loses its last name, and what comes of it.
func unlinkedEnds(g *Group) {
	g = g.Sub("open-unlinked")
	g.Case("replaced-by-rename/keeps-its-bytes", func(t *T) {
		t.Write("f", "old")
		t.Write("g", "new")
		fd := t.Open("f", unix.O_RDONLY)
		t.OK(unix.Rename("g", "f"))
		b, err := harness.ReadFrom(fd, 0, 100)
		t.OK(err)
		eq(t, "bytes", string(b), "old")
		eq(t, "links", t.Fstat(fd).Nlink, 0)
	})
	g.Case("ctime/moves-when-the-last-name-goes", func(t *T) {
		t.Write("f", "x")
		fd := t.Open("f", unix.O_RDONLY)
		m := t.Mark("f")
		was := t.Fstat(fd)
		t.OK(unix.Unlink("f"))
		m.Compare("the open file", was, t.Fstat(fd), harness.C, harness.A|harness.M|harness.C)
	})
	g.Alone("space/returns-when-the-last-descriptor-closes", spaceReturns)
}

// spaceReturns writes a file without a name and looks at the free space
// before, with it, and after. Others may use the file system meanwhile, so
// one clear round of a few is enough.
func spaceReturns(t *T) {
	free := func() int64 {
		var st unix.Statfs_t
		t.Must(unix.Statfs(".", &st))
		return int64(st.Bfree) * int64(st.Bsize)
	}
	data := []byte(strings.Repeat("0123456789abcdef", 1<<14))
	size := min(24<<20, free()/3) / int64(len(data)) * int64(len(data))
	var took, back int64
	for range 5 {
		before := free()
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
		t.OK(unix.Unlink("f"))
		for range size / int64(len(data)) {
			t.Must(harness.WriteAll(fd, data))
		}
		t.Must(unix.Fsync(fd))
		with := free()
		took = before - with
		t.Close(fd)
		for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
			if back = free() - with; back > size/2 {
				break
			}
		}
		if took > size/2 && back > size/2 {
			break
		}
	}
	t.Check(took > size/2, "free space fell by %d bytes for %d written", took, size)
	t.Check(back > size/2, "free space rose by %d bytes for %d freed", back, size)
}

// linkCrowds: many at once.
func linkCrowds(g *Group) {
	g = g.Sub("crowd")
	g.Case("1000-links-by-8-threads/are-all-counted", func(t *T) {
		t.Write("f", "x")
		t.Parallel(8, func(i int) {
			for j := range 125 {
				t.Must(unix.Link("f", fmt.Sprintf("l-%d-%d", i, j)))
			}
		})
		t.Nlink("f", 1001)
		eq(t, "names", len(t.Names(".")), 1001)
		t.Parallel(8, func(i int) {
			for j := range 125 {
				t.Must(unix.Unlink(fmt.Sprintf("l-%d-%d", i, j)))
			}
		})
		t.Nlink("f", 1)
		eq(t, "names", len(t.Names(".")), 1)
	})
	g.Case("unlink-of-one-name-by-many/one-wins", func(t *T) {
		for range 20 {
			t.File("f", 0o644)
			var wins atomic.Int32
			t.Parallel(4, func(int) {
				if err := unix.Unlink("f"); err == nil {
					wins.Add(1)
				} else {
					t.Errno(err, unix.ENOENT)
				}
			})
			eq(t, "winners", wins.Load(), 1)
		}
	})
	g.Case("link-to-one-name-by-many/one-wins-and-the-count-is-two", func(t *T) {
		for range 20 {
			t.File("f", 0o644)
			var wins atomic.Int32
			t.Parallel(4, func(int) {
				if err := unix.Link("f", "g"); err == nil {
					wins.Add(1)
				} else {
					t.Errno(err, unix.EEXIST)
				}
			})
			eq(t, "winners", wins.Load(), 1)
			t.Nlink("f", 2)
			t.Must(unix.Unlink("f"))
			t.Must(unix.Unlink("g"))
		}
	})
	g.Case("mkdir-and-rmdir-of-one-name-by-many/never-both-fail-for-another-reason", func(t *T) {
		t.Parallel(4, func(int) {
			for range 50 {
				if err := unix.Mkdir("d", 0o755); err != nil {
					t.Errno(err, unix.EEXIST)
				}
				if err := unix.Rmdir("d"); err != nil {
					t.Errno(err, unix.ENOENT)
				}
			}
		})
		eq(t, "names left", len(t.Names(".")), 0)
		t.Nlink(".", 2)
	})
	g.Case("create-and-unlink-by-many/leaves-nothing", func(t *T) {
		t.Parallel(8, func(i int) {
			for j := range 50 {
				name := fmt.Sprintf("f-%d-%d", i, j)
				t.Write(name, name)
				t.Content(name, name)
				t.Must(unix.Unlink(name))
			}
		})
		eq(t, "names left", strings.Join(slices.Compact(t.Names(".")), " "), "")
	})
}
