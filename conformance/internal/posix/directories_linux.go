package posix

import (
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareDirectories) }

func declareDirectories(s *harness.Suite) {
	g := s.Group("directories")
	linkCounts(g)
	listingEntries(g)
	listingCalls(g)
	listingPositions(g)
	listingFresh(g)
	listingUnderChange(g)
	bigDirectories(g)
	removingTrees(g)
}

// linkCounts: a directory has two links and one for each directory in it.
func linkCounts(g *Group) {
	g = g.Sub("links")
	g.Case("new-directory/has-two-and-gives-its-parent-one", func(t *T) {
		t.Nlink(".", 2)
		t.Dir("d", 0o755)
		t.Nlink("d", 2)
		t.Nlink(".", 3)
	})
	g.Case("only-directories-count", func(t *T) {
		for _, k := range harness.NotDirs {
			t.Make(k, "x-"+string(k))
			t.Nlink(".", 2)
		}
		t.Nlink(".", 2)
	})
	g.Case("thirty-directories/are-counted-up-and-down", func(t *T) {
		for i := range 30 {
			t.Dir(fmt.Sprint("d", i), 0o755)
			t.Nlink(".", uint32(3+i))
		}
		for i := range 30 {
			t.OK(unix.Rmdir(fmt.Sprint("d", i)))
			t.Nlink(".", uint32(31-i))
		}
	})
	g.Case("failed-mkdir/counts-nothing", func(t *T) {
		t.Dir("d", 0o755)
		t.Errno(unix.Mkdir("d", 0o755), unix.EEXIST)
		t.Nlink(".", 3)
	})
	g.Case("of-directories-made-by-many/are-all-counted", func(t *T) {
		t.Parallel(8, func(i int) {
			for j := range 20 {
				t.Must(unix.Mkdir(fmt.Sprintf("d-%d-%d", i, j), 0o755))
			}
		})
		t.Nlink(".", 162)
		t.Parallel(8, func(i int) {
			for j := range 20 {
				t.Must(unix.Rmdir(fmt.Sprintf("d-%d-%d", i, j)))
			}
		})
		t.Nlink(".", 2)
	})
	for _, k := range harness.Kinds {
		g.Case("mkdir-over-"+string(k)+"/is-EEXIST", func(t *T) {
			t.Make(k, "x")
			t.Unchanged(func() { t.Errno(unix.Mkdir("x", 0o755), unix.EEXIST) })
		})
		g.Case("mknod-over-"+string(k)+"/is-EEXIST", func(t *T) {
			t.Make(k, "x")
			t.Unchanged(func() {
				t.Errno(unix.Mknod("x", unix.S_IFREG|0o644, 0), unix.EEXIST)
				t.Errno(unix.Mknod("x", unix.S_IFIFO|0o644, 0), unix.EEXIST)
				t.Errno(unix.Symlink("t", "x"), unix.EEXIST)
			})
		})
	}
}

// listingEntries: what each entry of a listing says.
func listingEntries(g *Group) {
	g = g.Sub("entry")
	for _, k := range harness.Kinds {
		g.Case(string(k)+"/has-its-type-and-inode", func(t *T) {
			t.Make(k, "x")
			e := entryOf(t, ".", "x")
			eq(t, "d_type", e.Type, k.Dirent())
			eq(t, "d_ino", e.Ino, t.Lstat("x").Ino)
		})
	}
	g.Case("dot-and-dotdot/are-there-once-with-the-right-inodes", func(t *T) {
		t.Dir("d", 0o755)
		all := entriesOf(t, "d")
		eq(t, "entries", len(all), 2)
		dot, up := entryOf(t, "d", "."), entryOf(t, "d", "..")
		eq(t, "inode of .", dot.Ino, t.Lstat("d").Ino)
		eq(t, "inode of ..", up.Ino, t.Lstat(".").Ino)
		eq(t, "type of .", dot.Type, unix.DT_DIR)
		eq(t, "type of ..", up.Type, unix.DT_DIR)
	})
	g.Case("dotdot-after-a-move/is-the-new-parent", func(t *T) {
		t.Dir("p", 0o755)
		t.Dir("d", 0o755)
		t.OK(unix.Rename("d", "p/d"))
		eq(t, "inode of ..", entryOf(t, "p/d", "..").Ino, t.Lstat("p").Ino)
	})
	g.Case("hard-links/show-one-inode", func(t *T) {
		t.File("a", 0o644)
		t.Link("a", "b")
		eq(t, "inode", entryOf(t, ".", "a").Ino, entryOf(t, ".", "b").Ino)
	})
	g.Case("replaced-by-another-type/shows-the-new-one", func(t *T) {
		t.File("x", 0o644)
		eq(t, "d_type", entryOf(t, ".", "x").Type, unix.DT_REG)
		t.OK(unix.Unlink("x"))
		t.Dir("x", 0o755)
		eq(t, "d_type", entryOf(t, ".", "x").Type, unix.DT_DIR)
		eq(t, "d_ino", entryOf(t, ".", "x").Ino, t.Lstat("x").Ino)
	})
	g.Case("replaced-by-rename/shows-the-new-inode", func(t *T) {
		t.File("x", 0o644)
		t.Names(".")
		t.Symlink("t", "y")
		t.OK(unix.Rename("y", "x"))
		e := entryOf(t, ".", "x")
		eq(t, "d_type", e.Type, unix.DT_LNK)
		eq(t, "d_ino", e.Ino, t.Lstat("x").Ino)
	})
	for _, n := range []int{1, 7, 8, 9, 100, 254, 255} {
		g.Case(fmt.Sprintf("name-of-%d-bytes/is-whole", n), func(t *T) {
			name := strings.Repeat("y", n)
			t.File(name, 0o644)
			eq(t, "listing", strings.Join(t.Names("."), " "), name)
		})
	}
}

func entriesOf(t *T, dir string) []harness.Dirent {
	fd := t.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	all, err := harness.Entries(fd, 32<<10)
	t.Must(err)
	t.Close(fd)
	return all
}

func entryOf(t *T, dir, name string) harness.Dirent {
	var found []harness.Dirent
	for _, e := range entriesOf(t, dir) {
		if e.Name == name {
			found = append(found, e)
		}
	}
	if !eq(t, fmt.Sprintf("entries named %q", name), len(found), 1) {
		t.Fatalf("no one entry to look at")
	}
	return found[0]
}

// listingCalls: getdents(2) and what else one may try on a directory.
func listingCalls(g *Group) {
	g = g.Sub("call")
	g.Case("read/is-EISDIR", func(t *T) {
		fd := t.Open(".", unix.O_RDONLY)
		_, err := unix.Read(fd, make([]byte, 10))
		t.Errno(err, unix.EISDIR)
		_, err = unix.Pread(fd, make([]byte, 10), 0)
		t.Errno(err, unix.EISDIR)
	})
	g.Case("write/is-EBADF", func(t *T) {
		_, err := unix.Write(t.Open(".", unix.O_RDONLY), []byte("x"))
		t.Errno(err, unix.EBADF)
	})
	g.Case("ftruncate/is-EINVAL", func(t *T) {
		t.Errno(unix.Ftruncate(t.Open(".", unix.O_RDONLY), 0), unix.EINVAL)
		t.Errno(unix.Truncate(".", 0), unix.EISDIR)
	})
	g.Case("mmap/is-ENODEV", func(t *T) {
		_, err := unix.Mmap(t.Open(".", unix.O_RDONLY), 0, 1, unix.PROT_READ, unix.MAP_PRIVATE)
		t.Errno(err, unix.ENODEV)
	})
	for _, k := range []Kind{harness.File, harness.FIFO} {
		g.Case("getdents-of-a-"+string(k)+"/is-ENOTDIR", func(t *T) {
			t.Make(k, "x")
			_, err := harness.Getdents(t.Open("x", unix.O_RDONLY|unix.O_NONBLOCK), 4096)
			t.Errno(err, unix.ENOTDIR)
		})
	}
	g.Case("getdents-into-too-little/is-EINVAL", func(t *T) {
		t.File(name255, 0o644)
		fd := t.Open(".", unix.O_RDONLY)
		_, err := harness.Getdents(fd, 8)
		t.Errno(err, unix.EINVAL)
		all, err := harness.Entries(fd, 4096)
		t.OK(err)
		eq(t, "entries", len(all), 3)
	})
	g.Case("getdents-at-the-end/is-empty-again-and-again", func(t *T) {
		fd := t.Open(".", unix.O_RDONLY)
		_, err := harness.Entries(fd, 4096)
		t.Must(err)
		for range 3 {
			more, err := harness.Getdents(fd, 4096)
			t.OK(err)
			eq(t, "entries", len(more), 0)
		}
	})
	for _, size := range []int{300, 512, 1024, 4096, 65536} {
		g.Case(fmt.Sprintf("listing-by-%d-bytes/is-complete", size), func(t *T) {
			want := makeMany(t, ".", 300)
			fd := t.Open(".", unix.O_RDONLY)
			all, err := harness.Entries(fd, size)
			t.OK(err)
			eq(t, "names", namesOnce(t, all), strings.Join(want, " "))
		})
	}
	g.Case("descriptor-duplicated/shares-the-position", func(t *T) {
		want := makeMany(t, ".", 100)
		fd := t.Open(".", unix.O_RDONLY)
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		t.Must(err)
		t.Adopt(dup)
		first, err := harness.Getdents(fd, 1024)
		t.OK(err)
		rest, err := harness.Entries(dup, 1024)
		t.OK(err)
		eq(t, "names", namesOnce(t, append(first, rest...)), strings.Join(want, " "))
	})
	g.Case("two-descriptors/have-positions-of-their-own", func(t *T) {
		want := strings.Join(makeMany(t, ".", 100), " ")
		a, b := t.Open(".", unix.O_RDONLY), t.Open(".", unix.O_RDONLY)
		first, err := harness.Getdents(a, 1024)
		t.OK(err)
		all, err := harness.Entries(b, 1024)
		t.OK(err)
		eq(t, "names by the second", namesOnce(t, all), want)
		rest, err := harness.Entries(a, 1024)
		t.OK(err)
		eq(t, "names by the first", namesOnce(t, append(first, rest...)), want)
	})
	g.Case("fsync-of-a-directory/works", func(t *T) {
		fd := t.Open(".", unix.O_RDONLY)
		t.File("f", 0o644)
		t.OK(unix.Fsync(fd))
		t.OK(unix.Fdatasync(fd))
	})
	g.Case("reading-moves-atime", func(t *T) {
		t.NeedMount(unix.MS_NOATIME|unix.MS_NODIRATIME, "noatime")
		t.Dir("d", 0o755)
		m := t.Mark("d")
		t.File("d/f", 0o644) // mtime passes atime: relatime must update
		m = t.Mark("d")
		t.Names("d")
		m.Moved("d", harness.A)
	})
}

// makeMany makes n files in dir and returns their names, sorted.
func makeMany(t *T, dir string, n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("name-%05d-%s", i, strings.Repeat("p", i%23))
		t.File(dir+"/"+names[i], 0o644)
	}
	slices.Sort(names)
	return names
}

// namesOnce returns the names of a listing, sorted, and asserts that none is
// there twice.
func namesOnce(t *T, all []harness.Dirent) string {
	var names []string
	for _, e := range all {
		if e.Name != "." && e.Name != ".." {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	n := len(names)
	names = slices.Compact(names)
	eq(t, "names that are there twice", n-len(names), 0)
	return strings.Join(names, " ")
}

// listingPositions: seekdir and telldir.
func listingPositions(g *Group) {
	g = g.Sub("position")
	g.Case("every-position/leads-to-the-entry-after-it", func(t *T) {
		makeMany(t, ".", 200)
		fd := t.Open(".", unix.O_RDONLY)
		all, err := harness.Entries(fd, 4096)
		t.Must(err)
		for i := 0; i < len(all)-1; i += 7 {
			_, err := unix.Seek(fd, all[i].Off, unix.SEEK_SET)
			t.OK(err)
			next, err := harness.Getdents(fd, 4096)
			t.OK(err)
			t.Check(len(next) > 0 && next[0].Name == all[i+1].Name, "after entry %d: %v, want %q", i, next, all[i+1].Name)
		}
	})
	g.Case("lseek-tells-the-position-that-the-last-entry-gave", func(t *T) {
		makeMany(t, ".", 200)
		fd := t.Open(".", unix.O_RDONLY)
		some, err := harness.Getdents(fd, 1024)
		t.Must(err)
		pos, err := unix.Seek(fd, 0, unix.SEEK_CUR)
		t.OK(err)
		eq(t, "position", pos, some[len(some)-1].Off)
	})
	g.Case("positions-stay-good-when-names-before-them-go", func(t *T) {
		makeMany(t, ".", 300)
		fd := t.Open(".", unix.O_RDONLY)
		var seen []harness.Dirent
		for len(seen) < 100 {
			some, err := harness.Getdents(fd, 1024)
			t.Must(err)
			seen = append(seen, some...)
		}
		pos, err := unix.Seek(fd, 0, unix.SEEK_CUR)
		t.Must(err)
		rest, err := harness.Entries(fd, 1024)
		t.Must(err)
		for _, e := range seen {
			if e.Name != "." && e.Name != ".." {
				t.Must(unix.Unlink(e.Name))
			}
		}
		_, err = unix.Seek(fd, pos, unix.SEEK_SET)
		t.OK(err)
		again, err := harness.Entries(fd, 1024)
		t.OK(err)
		eq(t, "names after the position", namesOnce(t, again), namesOnce(t, rest))
	})
	g.Case("rewind/sees-what-is-new-and-not-what-is-gone", func(t *T) {
		makeMany(t, ".", 50)
		fd := t.Open(".", unix.O_RDONLY)
		_, err := harness.Entries(fd, 4096)
		t.Must(err)
		t.File("new", 0o644)
		t.Must(unix.Unlink(t.Names(".")[0]))
		_, err = unix.Seek(fd, 0, unix.SEEK_SET)
		t.OK(err)
		all, err := harness.Entries(fd, 4096)
		t.OK(err)
		eq(t, "names", namesOnce(t, all), strings.Join(t.Names("."), " "))
	})
}
