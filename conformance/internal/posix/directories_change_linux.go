package posix

import (
	"fmt"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// listingFresh: no listing is out of date, however often it was read before.
func listingFresh(g *Group) {
	g = g.Sub("fresh")
	list := func(t *T) string { return strings.Join(t.Names("."), " ") }
	g.Case("after-every-kind-of-change/the-listing-is-right", func(t *T) {
		eq(t, "listing", list(t), "")
		t.File("a", 0o644)
		eq(t, "after create", list(t), "a")
		t.Dir("b", 0o755)
		eq(t, "after mkdir", list(t), "a b")
		t.OK(unix.Rename("a", "c"))
		eq(t, "after rename", list(t), "b c")
		t.Link("c", "d")
		eq(t, "after link", list(t), "b c d")
		t.Symlink("x", "e")
		eq(t, "after symlink", list(t), "b c d e")
		t.OK(unix.Unlink("c"))
		eq(t, "after unlink", list(t), "b d e")
		t.OK(unix.Rename("d", "b/d"))
		eq(t, "after moving out", list(t), "b e")
		t.OK(unix.Rename("b/d", "f"))
		eq(t, "after moving in", list(t), "b e f")
		t.OK(unix.Rename("f", "e"))
		eq(t, "after moving over", list(t), "b e")
		t.OK(unix.Rmdir("b"))
		eq(t, "after rmdir", list(t), "e")
	})
	g.Case("missing-name-looked-up-before-it-is-made/is-found-after", func(t *T) {
		for _, k := range harness.Kinds {
			name := "n-" + string(k)
			for range 3 {
				t.Gone(name)
			}
			t.Make(k, name)
			t.Check(t.Exists(name), "%s is not found", name)
		}
	})
	g.Case("name-looked-up-before-it-goes/is-not-found-after", func(t *T) {
		for range 10 {
			t.File("f", 0o644)
			t.Check(t.Exists("f"), "not there")
			t.OK(unix.Unlink("f"))
			t.Gone("f")
		}
	})
	// Each round lists from another place: by descriptors kept from before,
	// by new ones, from inside.
	g.Case("open-before-and-rewound/sees-every-change", func(t *T) {
		fd := t.Open(".", unix.O_RDONLY)
		for i := range 30 {
			name := fmt.Sprintf("f%02d", i)
			t.File(name, 0o644)
			if i >= 10 {
				t.OK(unix.Unlink(fmt.Sprintf("f%02d", i-10)))
			}
			_, err := unix.Seek(fd, 0, unix.SEEK_SET)
			t.OK(err)
			all, err := harness.Entries(fd, 4096)
			t.OK(err)
			eq(t, "names", namesOnce(t, all), list(t))
		}
	})
}

// listingUnderChange: a name that is there throughout is listed once, whatever
// comes and goes beside it (M38).
func listingUnderChange(g *Group) {
	g = g.Sub("under-change")
	for _, c := range []struct {
		name string
		size int
	}{{"small-buffer", 512}, {"4096-byte-buffer", 4096}} {
		g.Case("deleting-what-was-listed/"+c.name+"/skips-nothing", func(t *T) {
			want := strings.Join(makeMany(t, ".", 1000), " ")
			fd := t.Open(".", unix.O_RDONLY)
			var all []harness.Dirent
			for {
				some, err := harness.Getdents(fd, c.size)
				t.Must(err)
				if len(some) == 0 {
					break
				}
				all = append(all, some...)
				for _, e := range some {
					if e.Name != "." && e.Name != ".." {
						t.Must(unix.Unlink(e.Name))
					}
				}
			}
			eq(t, "names", namesOnce(t, all), want)
			eq(t, "names left", len(t.Names(".")), 0)
		})
		g.Case("half-deleted-and-others-made/"+c.name+"/survivors-appear-once", func(t *T) {
			made := makeMany(t, ".", 1000)
			fd := t.Open(".", unix.O_RDONLY)
			var all []harness.Dirent
			for i := 0; ; i++ {
				some, err := harness.Getdents(fd, c.size)
				t.Must(err)
				if len(some) == 0 {
					break
				}
				all = append(all, some...)
				// Every odd name goes at some time; new ones come.
				for j := range 25 {
					if k := (i*25+j)*2 + 1; k < len(made) {
						t.Must(unix.Unlink(made[k]))
						t.File(fmt.Sprintf("new-%d-%d", i, j), 0o644)
					}
				}
			}
			survivorsOnce(t, made, all)
		})
	}
	g.Case("while-others-create-and-delete/survivors-appear-once", func(t *T) {
		var stay []string
		for i := range 300 {
			stay = append(stay, fmt.Sprintf("stays-%d", i), fmt.Sprintf("goes-%d", i))
			t.File(stay[2*i], 0o644)
			t.File(stay[2*i+1], 0o644)
		}
		var stop atomic.Bool
		t.Parallel(4, func(i int) {
			if i > 0 {
				for j := 0; !stop.Load(); j++ {
					name := fmt.Sprintf("churn-%d-%d", i, j%50)
					t.File(name, 0o644)
					t.Must(unix.Unlink(name))
					_ = unix.Unlink(fmt.Sprintf("goes-%d", (j*3+i)%300))
				}
				return
			}
			defer stop.Store(true)
			for range 10 {
				fd := t.Open(".", unix.O_RDONLY)
				all, err := harness.Entries(fd, 2048)
				t.Must(err)
				t.Close(fd)
				survivorsOnce(t, stay, all)
			}
		})
	})
	g.Case("renaming-during-a-listing/shows-what-stays-once", func(t *T) {
		made := makeMany(t, ".", 600)
		fd := t.Open(".", unix.O_RDONLY)
		var all []harness.Dirent
		for i := 0; ; i++ {
			some, err := harness.Getdents(fd, 1024)
			t.Must(err)
			if len(some) == 0 {
				break
			}
			all = append(all, some...)
			if k := i*10 + 1; k < len(made) {
				t.Must(unix.Rename(made[k], fmt.Sprint("renamed-", i)))
				made[k] = "odd"
			}
		}
		var stay []string
		for _, name := range made {
			if name != "odd" {
				stay = append(stay, name, "")
			}
		}
		survivorsOnce(t, stay, all)
	})
}

// survivorsOnce asserts that every even-numbered one of made was listed once
// and no name at all twice.
func survivorsOnce(t *T, made []string, all []harness.Dirent) {
	count := make(map[string]int)
	for _, e := range all {
		count[e.Name]++
	}
	missing, twice := 0, 0
	for i := 0; i < len(made); i += 2 {
		if count[made[i]] == 0 {
			missing++
		}
		if count[made[i]] > 1 {
			twice++
		}
	}
	eq(t, "survivors missing", missing, 0)
	eq(t, "survivors listed twice", twice, 0)
}
