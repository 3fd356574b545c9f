//go:build linux

package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/vfs"
)

// put writes a file of the workspace.
func (r *rig) put(p, content string) {
	r.t.Helper()
	w := vfs.NewWalker(r.live, &vfs.Op{})
	r.must(w.MkdirAll(filepath.Dir("/"+p), 0o755))
	f, err := w.Create("/"+p, 0o644)
	r.must(err)
	_, err = f.Write([]byte(content))
	r.must(err)
	r.must(f.Close())
}

func (r *rig) hostReads(p, want string) {
	r.t.Helper()
	if b, err := os.ReadFile(r.path(p)); err != nil || string(b) != want {
		r.t.Errorf("%s: %q %v, want %q", p, b, err, want)
	}
}

func (r *rig) settled() {
	r.t.Helper()
	r.same(r.shadow)
	r.same(r.live)
	if got := r.pass(); !got.Quiet() {
		r.t.Errorf("a pass after a pass did %+v", got)
	}
}

func TestEmit(t *testing.T) {
	r := newRig(t)
	r.put("a/b/file", "one")
	r.put("plain", "two")
	w := vfs.NewWalker(r.live, &vfs.Op{})
	r.must(w.Symlink("nowhere", "/link"))
	r.must(w.Link("/plain", "/a/hard", false))
	r.must(w.Mknod("/fifo", vfs.ModeFIFO|0o640, 0))
	r.must(r.live.Setxattr(&vfs.Op{}, lookup(t, r.live, "/plain"), "user.colour", []byte("red"), 0))
	r.open()
	r.pass()
	r.settled()

	r.must(w.Rename("/a", "/z", 0))
	r.put("plain", "two and more")
	r.must(w.Unlink("/link"))
	r.must(w.Chmod("/z/b", 0o700))
	open, err := os.Open(r.path("a/b"))
	r.must(err)
	defer open.Close()
	r.pass()
	r.settled()
	r.hostReads("z/b/file", "one")
	if _, err := open.Readdirnames(-1); err != nil {
		t.Errorf("a renamed directory is not the one that was open: %v", err)
	}
}

// What is in the directory already is kept: equal files are taken as they are,
// others stand beside the workspace's.
func TestFirstPassKeepsWhatIsThere(t *testing.T) {
	r := newRig(t)
	r.put("same", "same")
	r.put("other", "of the workspace")
	r.write("same", "same")
	r.write("other", "of the directory")
	r.write("only", "here")
	r.open()
	report := r.pass()
	if len(report.Conflicts) != 1 {
		t.Errorf("conflicts %+v", report.Conflicts)
	}
	r.pass()
	r.settled()
	r.hostReads("other", "of the workspace")
	r.hostReads("other.conflict-ws-1", "of the directory")
	r.hostReads("only", "here")
}

func TestBothSides(t *testing.T) {
	r := newRig(t)
	r.put("f", "base")
	r.put("g", "base")
	r.open()
	r.pass()
	r.put("f", "workspace")
	r.write("g", "directory")
	r.write("new", "n")
	r.pass()
	r.settled()
	r.hostReads("f", "workspace")
	r.hostReads("g", "directory")

	// Both edit one file: both versions stay, and the list says so.
	r.put("f", "by the workspace")
	r.write("f", "by the directory")
	r.pass()
	r.settled()
	list, err := r.live.Conflicts(r.ctx)
	r.must(err)
	if len(list) != 1 {
		t.Fatalf("conflicts %+v", list)
	}
	one, err := os.ReadFile(r.path("f"))
	r.must(err)
	two, err := os.ReadFile(r.path(strings.TrimPrefix(list[0].Other, "/")))
	r.must(err)
	if string(one)+string(two) != "by the workspaceby the directory" && string(two)+string(one) != "by the workspaceby the directory" {
		t.Errorf("%q and %q", one, two)
	}
}

// What could not be put into the directory is told, and what is there instead never
// counts as an edit of it.
func TestLeftOutIsNotOverwritten(t *testing.T) {
	r := newRig(t)
	r.put("f", "one")
	r.open()
	r.pass()
	if !setImmutable(t, r.path("f"), true) {
		t.Skip("immutable files take root and a file system that has them")
	}
	r.put("f", "two")
	if report := r.pass(); len(report.Problems) != 1 {
		t.Errorf("problems %v", report.Problems)
	}
	setImmutable(t, r.path("f"), false)
	r.write("f", "an edit of one")
	if report := r.pass(); len(report.Problems) != 1 || !errors.Is(report.Problems[0].Err, errOther) {
		t.Errorf("problems %v", report.Problems)
	}
	if got := r.live; readLive(t, got, "/f") != "two" {
		t.Errorf("the workspace has %q", readLive(t, got, "/f"))
	}
	r.must(os.Rename(r.path("f"), r.path("mine")))
	r.pass()
	r.pass()
	if got := readLive(t, r.live, "/mine"); got != "an edit of one" {
		t.Errorf("the edit is %q", got)
	}
}

// immutableFlag is FS_IMMUTABLE_FL of linux/fs.h.
const immutableFlag = 0x10

// setImmutable sets or clears the flag that chattr +i sets.
func setImmutable(t *testing.T, name string, on bool) bool {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return false
	}
	flags &^= immutableFlag
	if on {
		flags |= immutableFlag
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, flags) == nil
}

func readLive(t *testing.T, fsys vfs.FS, p string) string {
	t.Helper()
	f, err := vfs.NewWalker(fsys, &vfs.Op{}).Open(p)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A user's own file is no leftover of ours, whatever it is called.
func TestForeignNamesStay(t *testing.T) {
	r := newRig(t)
	r.open()
	r.write(tempPrefix+"notes", "mine")
	r.write(tempPrefix+"c7", "left by an emission")
	r.pass()
	r.hostReads(tempPrefix+"notes", "mine")
	if _, err := os.Stat(r.path(tempPrefix + "c7")); err == nil {
		t.Error("what an emission left is still there")
	}
}

// A directory that nobody may write to arrives with what is in it, also for an
// ordinary user.
func TestReadOnlyDirectory(t *testing.T) {
	r := newRig(t)
	r.put("ro/f", "x")
	r.must(vfs.NewWalker(r.live, &vfs.Op{}).Chmod("/ro", 0o555))
	r.open()
	r.pass()
	r.hostReads("ro/f", "x")
	r.settled()
}

// A directory that is swapped for a link leads nowhere.
func TestSwappedForALink(t *testing.T) {
	r := newRig(t)
	outside := filepath.Join(filepath.Dir(r.dir), "outside")
	r.must(os.Mkdir(outside, 0o755))
	r.must(os.WriteFile(filepath.Join(outside, "f"), []byte("theirs"), 0o644))
	r.put("d/f", "one")
	r.open()
	r.pass()
	// Between the pass's look and its write: the emission meets a link.
	r.put("d/f", "two")
	r.must(os.RemoveAll(r.path("d")))
	r.must(os.Symlink(outside, r.path("d")))
	_, err := r.c.host.open("d/f", unix.O_RDWR, 0)
	if err == nil {
		t.Fatal("it follows a link out of the directory")
	}
	r.pass()
	r.pass()
	if b, err := os.ReadFile(filepath.Join(outside, "f")); err != nil || string(b) != "theirs" {
		t.Errorf("a file outside is %q %v", b, err)
	}
	r.check(r.live)
}

// A pass that ends anywhere is taken up again.
func TestKilledEmission(t *testing.T) {
	for kill := range 12 {
		t.Run(fmt.Sprint(kill), func(t *testing.T) {
			r := newRig(t)
			for i := range 6 {
				r.put(fmt.Sprintf("d%d/f", i), fmt.Sprint(i))
			}
			r.open()
			r.pass()
			w := vfs.NewWalker(r.live, &vfs.Op{})
			r.must(w.Rename("/d0", "/e0", 0))
			r.must(w.Rename("/d1", "/d0", 0))
			r.must(w.Rename("/d2/f", "/d0/g", 0))
			r.must(w.Unlink("/d3/f"))
			r.put("d4/f", "changed")
			r.put("new/f", "new")
			ctx, cancel := context.WithCancel(r.ctx)
			r.c.host.step = countdown(kill, cancel)
			_, err := r.c.Pass(ctx)
			if err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			cancel()
			r.c.host.close() // no Close: a process that was killed saves nothing
			r.open()
			r.pass()
			r.pass()
			r.settled()
			r.check(r.live)
		})
	}
}

// countdown calls f at the n-th step.
func countdown(n int, f func()) func() {
	return func() {
		if n--; n == 0 {
			f()
		}
	}
}

// A build that removes its root and makes it again does not end the checkout, and
// a directory that lost everything is not taken for a wish.
func TestRootRemade(t *testing.T) {
	r := newRig(t)
	r.write("f", "x")
	r.open()
	r.pass()
	for i := range 5 {
		r.must(os.RemoveAll(r.dir))
		r.must(os.Mkdir(r.dir, 0o755))
		if _, err := r.c.Pass(r.ctx); !errors.Is(err, ErrEmptied) {
			t.Fatalf("an empty directory: %v", err)
		}
		r.write("f", fmt.Sprint("built ", i))
		r.pass()
		r.settled()
	}
	if got := r.tree(r.live); !strings.Contains(got, "f ") {
		t.Error("the file is gone")
	}
}

func TestInsideDataDir(t *testing.T) {
	r := newRig(t)
	r.state = filepath.Join(r.dir, "state")
	if _, err := Open(r.ctx, r.options()); !errors.Is(err, ErrInside) {
		t.Errorf("%v", err)
	}
}

func TestWatch(t *testing.T) {
	r := newRig(t)
	r.put("f", "first")
	r.open()
	ctx, cancel := context.WithCancel(r.ctx)
	done := make(chan error, 1)
	go func() { done <- r.c.Watch(ctx, func(Report, error) {}) }()
	await := func(what string, ok func() bool) {
		t.Helper()
		for end := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s does not arrive", what)
			}
		}
	}
	reads := func(p, want string) func() bool {
		return func() bool {
			b, err := os.ReadFile(r.path(p))
			return err == nil && string(b) == want
		}
	}
	await("a file of the workspace", reads("f", "first"))
	r.put("g/h", "second")
	await("a new directory of the workspace", reads("g/h", "second"))
	r.write("g/i/j", "third")
	await("a new directory of the directory", func() bool {
		_, err := vfs.NewWalker(r.live, &vfs.Op{}).Lstat("/g/i/j")
		return err == nil
	})
	r.must(os.Rename(r.path("g"), r.path("moved")))
	await("a rename", func() bool {
		_, err := vfs.NewWalker(r.live, &vfs.Op{}).Lstat("/moved/i/j")
		return err == nil
	})
	r.must(os.RemoveAll(r.dir))
	r.must(os.Mkdir(r.dir, 0o755))
	r.write("again", "fourth")
	await("a file of a directory that was made again", func() bool {
		_, err := vfs.NewWalker(r.live, &vfs.Op{}).Lstat("/again")
		return err == nil
	})
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Random changes on both sides: afterwards both are equal, and the workspace is
// whole.
func TestBothSidesRandom(t *testing.T) {
	seeds := 8
	if os.Getenv("VFSD_SOAK") != "" {
		seeds = 300
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := newRig(t)
			r.open()
			rng := rand.New(rand.NewPCG(uint64(seed), 2))
			for range 10 {
				for range rng.IntN(8) {
					r.randomChange(rng)
				}
				for range rng.IntN(8) {
					r.randomEdit(rng)
				}
				if rng.IntN(4) == 0 {
					r.must(r.c.Close())
					r.open()
				}
				for range 2 {
					if report := r.pass(); len(report.Problems) > 0 {
						t.Errorf("problems: %v", report.Problems)
					}
				}
				r.same(r.live)
			}
			r.check(r.live)
		})
	}
}

// randomEdit does something to the workspace; what is not possible is nothing.
func (r *rig) randomEdit(rng *rand.Rand) {
	w := vfs.NewWalker(r.live, &vfs.Op{})
	var all []string
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := w.ReadDir(dir)
		if err != nil {
			return
		}
		for _, e := range entries {
			p := dir + "/" + e.Name
			all = append(all, p)
			if e.Mode&vfs.ModeTypeMask == vfs.ModeDir {
				walk(p)
			}
		}
	}
	walk("")
	pick := func() string {
		if len(all) == 0 {
			return "/a"
		}
		return all[rng.IntN(len(all))]
	}
	fresh := func() string {
		dir := ""
		if rng.IntN(2) == 0 {
			dir = pick()
		}
		return dir + "/" + string(rune('a'+rng.IntN(6)))
	}
	switch rng.IntN(8) {
	case 0:
		w.Rename(pick(), fresh(), 0)
	case 1:
		w.Unlink(pick())
	case 2:
		w.Mkdir(fresh(), 0o755)
	case 3:
		w.Chmod(pick(), uint32(0o600|rng.IntN(0o100)))
	case 4:
		w.Link(pick(), fresh(), false)
	case 5:
		w.Symlink(fmt.Sprint(rng.IntN(10)), fresh())
	default:
		if f, err := w.Create(fresh(), 0o644); err == nil {
			f.Write(fmt.Append(nil, rng.Uint64()))
			f.Close()
		}
	}
}
