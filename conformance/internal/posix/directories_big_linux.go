package posix

import (
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// bigDirectories: many names in one place (M42 is the same with a million).
func bigDirectories(g *Group) {
	g = g.Sub("big")
	g.Case("3000-names/are-listed-found-and-removed", func(t *T) { manyNames(t, 3000, 3000) })
	// A few inodes with many names each: ext4 is slow to reuse inode numbers,
	// and names are what this is about.
	g.Long("100000-names/are-listed-found-and-removed", func(t *T) { manyNames(t, 100_000, 4) })
	g.Long("2000-directories/are-counted-and-removed", func(t *T) {
		const n = 2000
		for i := range n {
			t.Must(unix.Mkdir(fmt.Sprint("d", i), 0o755))
		}
		t.Nlink(".", n+2)
		eq(t, "names", len(t.Names(".")), n)
		for i := range n {
			t.Must(unix.Rmdir(fmt.Sprint("d", i)))
		}
		t.Nlink(".", 2)
		eq(t, "names left", len(t.Names(".")), 0)
	})
	g.Case("directory-emptied-of-thousands/is-empty-and-can-go", func(t *T) {
		t.Dir("d", 0o755)
		for range 2 {
			for i := range 1000 {
				t.File(fmt.Sprintf("d/f%d", i), 0o644)
			}
			for i := range 1000 {
				t.Must(unix.Unlink(fmt.Sprintf("d/f%d", i)))
			}
			eq(t, "names left", len(t.Names("d")), 0)
		}
		t.OK(unix.Rmdir("d"))
	})
}

// manyNames gives inodes files n names in one directory and looks them up.
func manyNames(t *T, n, inodes int) {
	t.Dir("d", 0o755)
	fd := t.Open("d", unix.O_RDONLY)
	for i := range n {
		name := fmt.Sprintf("f%06d", i)
		if i < inodes {
			t.Must(unix.Mknodat(fd, name, unix.S_IFREG|0o644, 0))
		} else {
			t.Must(unix.Linkat(fd, fmt.Sprintf("f%06d", i%inodes), fd, name, 0))
		}
	}
	all, err := harness.Entries(fd, 64<<10)
	t.OK(err)
	names := make([]string, 0, n)
	for _, e := range all {
		if e.Name != "." && e.Name != ".." {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	eq(t, "names", len(names), n)
	eq(t, "different names", len(slices.Compact(names)), n)
	for i := 0; i < n; i += 1 + n/300 {
		_, err := harness.TryStat(fd, fmt.Sprintf("f%06d", i), 0)
		t.OK(err, "f%06d", i)
		_, err = harness.TryStat(fd, fmt.Sprintf("g%06d", i), 0)
		t.Errno(err, unix.ENOENT)
	}
	for i := range n {
		t.Must(unix.Unlinkat(fd, fmt.Sprintf("f%06d", i), 0))
	}
	eq(t, "names left", len(t.Names("d")), 0)
	t.OK(unix.Rmdir("d"))
}

// removingTrees: one pass is enough, alone and with others at it.
func removingTrees(g *Group) {
	g = g.Sub("removing-trees")
	build := func(t *T) {
		for i := range 8 {
			for j := range 8 {
				dir := fmt.Sprintf("tree/%d/%d", i, j)
				if j == 0 {
					if i == 0 {
						t.Dir("tree", 0o755)
					}
					t.Dir(fmt.Sprintf("tree/%d", i), 0o755)
				}
				t.Dir(dir, 0o755)
				for k := range 8 {
					t.File(fmt.Sprintf("%s/%d", dir, k), 0o644)
				}
			}
		}
	}
	g.Case("one-pass-that-deletes-while-it-lists/is-enough", func(t *T) {
		build(t)
		t.OK(removeAll("tree"))
		t.Gone("tree")
	})
	g.Case("many-passes-at-once/leave-nothing", func(t *T) {
		build(t)
		t.Parallel(4, func(int) { _ = removeAll("tree") })
		// Whoever lost a race has left things to others; one more pass ends it.
		if t.Exists("tree") {
			t.OK(removeAll("tree"))
		}
		t.Gone("tree")
		t.Nlink(".", 2)
	})
	g.Case("while-another-creates-inside/fails-only-with-ENOTEMPTY", func(t *T) {
		t.Dir("tree", 0o755)
		t.Parallel(2, func(i int) {
			for j := range 100 {
				if i == 0 {
					fd, err := unix.Open(fmt.Sprint("tree/", j), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
					if err != nil {
						t.Errno(err, unix.ENOENT)
						continue
					}
					_ = unix.Close(fd)
				} else if err := removeAll("tree"); err != nil {
					t.Errno(err, unix.ENOTEMPTY, unix.ENOENT)
				}
			}
		})
		_ = removeAll("tree")
		t.Gone("tree")
	})
	g.Case("deep-tree/is-removed-from-the-bottom", func(t *T) {
		path := "d"
		t.Dir(path, 0o755)
		for range 100 {
			path += "/d"
			t.Dir(path, 0o755)
		}
		t.OK(removeAll("d"))
		t.Gone("d")
	})
}

// removeAll is rm -r as it is usually written: list by getdents, remove what
// is listed while the listing goes on, then the directory. Names that others
// removed are no error.
func removeAll(dir string) error {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for {
		some, err := harness.Getdents(fd, 1024)
		if err != nil {
			return err
		}
		if len(some) == 0 {
			return unix.Rmdir(dir)
		}
		for _, e := range some {
			if e.Name == "." || e.Name == ".." {
				continue
			}
			path := dir + "/" + e.Name
			if e.Type == unix.DT_DIR {
				err = removeAll(path)
			} else {
				err = unix.Unlink(path)
			}
			if err != nil && err != unix.ENOENT {
				return err
			}
		}
	}
}
