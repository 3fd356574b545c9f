package posix

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareLifecycle) }

func declareLifecycle(s *harness.Suite) {
	g := s.Group("lifecycle")
	mounting(g)
	overlays(g)
	overlayPlaces(g)
	dyingProcesses(g)
	crowdedMounts(g)
}

// mounting: the file system's directories are mounted elsewhere and mounted
// upon.
func mounting(g *Group) {
	g = g.Sub("mount")
	bind := func(t *T) {
		t.Private()
		t.Dir("a", 0o755)
		t.Write("a/f", "data")
		t.Dir("b", 0o755)
		t.Write("b/hidden", "x")
		t.Bind("a", "b", 0)
	}
	g.Case("over-a-nonempty-directory/hides-it-until-unmounted", func(t *T) {
		bind(t)
		t.Content("b/f", "data")
		t.Gone("b/hidden")
		t.OK(unix.Unmount("b", 0))
		t.Content("b/hidden", "x")
		t.Gone("b/f")
	})
	for name, hold := range map[string]func(t *T){
		"a-working-directory": func(t *T) { t.Must(unix.Chdir("b")) },
		"an-open-file":        func(t *T) { t.Open("b/f", unix.O_RDONLY) },
		"an-open-directory":   func(t *T) { t.Open("b", unix.O_RDONLY) },
		"an-O_PATH":           func(t *T) { t.Open("b/f", unix.O_PATH) },
	} {
		g.Case("unmount-with-"+name+"/is-EBUSY", func(t *T) {
			bind(t)
			hold(t)
			t.Errno(unix.Unmount(t.Path("b"), 0), unix.EBUSY)
			t.Content(t.Path("b/f"), "data")
		})
	}
	g.Case("unmount-with-a-mapping/is-EBUSY", func(t *T) {
		bind(t)
		fd := t.Open("b/f", unix.O_RDONLY)
		b, err := unix.Mmap(fd, 0, 4, unix.PROT_READ, shared)
		t.Must(err)
		t.Close(fd)
		t.Errno(unix.Unmount("b", 0), unix.EBUSY)
		eq(t, "bytes", string(b), "data")
		t.OK(unix.Munmap(b))
		t.Eventually(5*time.Second, "unmount", func() bool { return unix.Unmount("b", 0) == nil })
	})
	g.Case("detached/open-files-and-directories-go-on", func(t *T) {
		bind(t)
		fd := t.Open("b/f", unix.O_RDWR)
		t.Must(unix.Chdir("b"))
		t.OK(unix.Unmount(t.Path("b"), unix.MNT_DETACH))
		put(t, fd, []byte("D"), 0)
		bytesAre(t, fd, []byte("Data"))
		t.Content("f", "Data")
		t.File("n", 0o644)
		t.Must(unix.Chdir(t.Path(".")))
		t.Content("a/f", "Data")
		t.Check(t.Exists("a/n"), "the new file is not there")
		t.Content("b/hidden", "x")
	})
	g.Case("on-a-file/shows-the-other-file", func(t *T) {
		t.Private()
		t.Write("a", "a")
		t.Write("b", "b")
		t.Must(unix.Mount("a", "b", "", unix.MS_BIND, ""))
		t.Content("b", "a")
		t.Errno(unix.Unlink("b"), unix.EBUSY)
		t.Write("b", "through")
		t.Content("a", "through")
		t.OK(unix.Unmount("b", 0))
		t.Content("b", "b")
	})
	g.Case("mounted-on-from-another-namespace/can-be-removed", func(t *T) {
		bind(t)
		// Another thread is not in this one's namespace: nothing is mounted
		// there.
		<-t.Start(func() {
			t.Content("b/hidden", "x")
			t.OK(unix.Unlink("b/hidden"))
			t.OK(unix.Rmdir("b"))
		})
		t.Gone("b")
	})
	g.Case("mounted-on-itself/answers", func(t *T) {
		t.Private()
		t.Dir("base", 0o755)
		t.Dir("base/point", 0o755)
		t.Write("base/f", "data")
		t.Bind("base", "base/point", 0)
		t.Content("base/point/f", "data")
		t.Check(t.Exists("base/point/point"), "the inner mount point is hidden")
		eq(t, "listing", strings.Join(t.Names("base/point"), " "), "f point")
	})
}

// overlayBase makes the lower layer of an overlay, and where it goes.
func overlayBase(t *T) {
	t.Private()
	t.Dir("base", 0o755)
	t.Write("base/f", "lower")
	t.Dir("base/d", 0o755)
	t.Write("base/d/inner", "lower")
	t.Dir("over", 0o755)
	t.Dir("merged", 0o755)
}

// attachOverlay mounts one over it with its upper layer in memory.
func attachOverlay(t *T) {
	t.Must(unix.Mount("tmpfs", "over", "tmpfs", 0, "mode=755"))
	t.Dir("over/upper", 0o755)
	t.Dir("over/work", 0o755)
	remountOverlay(t)
}

// overlays: an overlay whose lower layer is this file system, as capture uses
// it; the layer above is a tmpfs.
func overlays(g *Group) {
	g = g.Sub("overlay")
	g.Case("reading/shows-the-lower-files", func(t *T) {
		overlayBase(t)
		attachOverlay(t)
		t.Content("merged/f", "lower")
		t.Content("merged/d/inner", "lower")
		eq(t, "listing", strings.Join(t.Names("merged"), " "), "d f")
	})
	g.Case("writing/copies-up-and-leaves-the-lower-file", func(t *T) {
		overlayBase(t)
		attachOverlay(t)
		t.Write("merged/f", "upper")
		t.Content("merged/f", "upper")
		t.Content("base/f", "lower")
		t.OK(unix.Chmod("merged/d/inner", 0o600))
		t.Perm("base/d/inner", 0o644)
	})
	// M22: a file of the base that is deleted in a copied-up directory.
	g.Case("deleted-in-a-copied-up-directory/stays-deleted-over-a-remount", func(t *T) {
		overlayBase(t)
		attachOverlay(t)
		t.Write("merged/d/new", "new")
		fd := t.Open("merged/d/inner", unix.O_RDWR)
		t.OK(unix.Unlink("merged/d/inner"))
		t.OK(futimens(fd, unix.Timespec{Sec: 5}, unix.Timespec{Sec: 6}))
		t.Close(fd)
		eq(t, "listing", strings.Join(t.Names("merged/d"), " "), "new")
		t.OK(unix.Unmount("merged", 0))
		remountOverlay(t)
		eq(t, "listing after a remount", strings.Join(t.Names("merged/d"), " "), "new")
		t.Gone("merged/d/inner")
		t.Content("base/d/inner", "lower")
	})
	// M26: a build tool rewrites a file of the base.
	g.Case("open-with-O_CREAT|O_TRUNC-of-a-lower-file/works", func(t *T) {
		overlayBase(t)
		attachOverlay(t)
		t.OK(writeFile("merged/f", unix.O_CREAT|unix.O_TRUNC, "rewritten"))
		t.Content("merged/f", "rewritten")
		t.Content("base/f", "lower")
	})
}

// overlayPlaces: an overlay inside its own base, and one whose upper layer is here.
func overlayPlaces(g *Group) {
	g = g.Sub("overlay")
	g.Case("directory-replaced/is-opaque", func(t *T) {
		overlayBase(t)
		attachOverlay(t)
		t.OK(removeAll("merged/d"))
		t.Dir("merged/d", 0o755)
		eq(t, "names", len(t.Names("merged/d")), 0)
		t.Content("base/d/inner", "lower")
	})
	// M20: the mount point lies in its own lower layer.
	g.Case("mounted-inside-its-own-base/answers", func(t *T) {
		t.Private()
		t.Write("f", "lower")
		t.Dir("point", 0o755)
		t.Dir("over", 0o755)
		t.Must(unix.Mount("tmpfs", "over", "tmpfs", 0, "mode=755"))
		t.Dir("over/upper", 0o755)
		t.Dir("over/work", 0o755)
		options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", t.Path("."), t.Path("over/upper"), t.Path("over/work"))
		if err := unix.Mount("overlay", "point", "overlay", 0, options); err != nil {
			t.Skip("no overlay: %v", err)
		}
		t.Content("point/f", "lower")
		eq(t, "listing", strings.Join(t.Names("point"), " "), "f over point")
		eq(t, "names in the inner mount point", len(t.Names("point/point")), 0)
		t.OK(unix.Unmount("point", 0))
	})
	g.Case("upper-layer-here/keeps-whiteouts", func(t *T) {
		if t.Env.Type == "fuse" {
			t.Skip("the kernel takes no FUSE mount as an overlay's upper layer")
		}
		overlayBase(t)
		t.Dir("over/upper", 0o755)
		t.Dir("over/work", 0o755)
		remountOverlay(t)
		t.OK(unix.Unlink("merged/f"))
		t.Gone("merged/f")
		w := t.Lstat("over/upper/f")
		eq(t, "type of the whiteout", w.Type(), unix.S_IFCHR)
		eq(t, "device of the whiteout", w.Rdev, 0)
		t.OK(unix.Rename("merged/d/inner", "merged/moved"))
		t.Content("merged/moved", "lower")
		t.Content("base/d/inner", "lower")
	})
}

func remountOverlay(t *T) {
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s", t.Path("base"), t.Path("over/upper"), t.Path("over/work"))
	if err := unix.Mount("overlay", "merged", "overlay", 0, options); err != nil {
		t.Skip("no overlay: %v", err)
	}
}

// dyingProcesses: a process that dies leaves nothing behind that harms.
func dyingProcesses(g *Group) {
	g = g.Sub("death")
	g.Case("with-an-unlinked-file-open/nothing-is-left", func(t *T) {
		t.Write("f", "x")
		c := locker(t)
		t.OK(unix.Unlink("f"))
		c.Kill()
		eq(t, "names", len(t.Names(".")), 0)
	})
	g.Case("in-the-middle-of-writing/leaves-a-whole-number-of-writes", func(t *T) {
		t.File("f", 0o644)
		c := t.Child("acknowledger", fmt.Sprint(unix.O_APPEND))
		for range 20 {
			c.Hear()
		}
		c.Kill()
		size := t.Lstat("f").Size
		t.Check(size%int64(len(record(0, 0))) == 0, "%d bytes", size)
	})
	g.Case("with-a-working-directory-that-was-removed/nothing-is-left", func(t *T) {
		t.Dir("d", 0o755)
		t.Must(unix.Chdir("d"))
		c := t.Child("changer")
		t.Must(unix.Chdir(".."))
		c.Expect("", "list")
		t.OK(unix.Rmdir("d"))
		c.Expect("ENOENT", "create x")
		c.Kill()
		eq(t, "names", len(t.Names(".")), 0)
	})
	g.Case("many-at-once-while-working/leave-a-consistent-directory", func(t *T) {
		var children []*harness.Child
		for i := range 4 {
			dir := fmt.Sprint("w", i)
			t.Dir(dir, 0o755)
			t.Must(unix.Chdir(dir))
			children = append(children, t.Child("name-acknowledger"))
			t.Must(unix.Chdir(".."))
		}
		for _, c := range children {
			c.Hear()
			c.Kill()
		}
		for i := range 4 {
			dir := fmt.Sprint("w", i)
			names := t.Names(dir)
			t.Nlink(dir, uint32(2+len(names)))
			t.OK(removeAll(dir))
		}
	})
}

// crowdedMounts: lookups and listings while a mount goes (M40).
func crowdedMounts(g *Group) {
	g = g.Sub("crowd")
	g.Case("32-threads-looking-while-it-is-unmounted/ends", func(t *T) {
		t.Private()
		t.Dir("a", 0o755)
		for i := range 50 {
			t.File(fmt.Sprint("a/f", i), 0o644)
		}
		t.Dir("b", 0o755)
		t.Bind("a", "b", 0)
		// By descriptor, for only this thread is in the namespace.
		fd, err := unix.Open("b", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		t.Must(err)
		var stop atomic.Bool
		done := t.Start(func() {
			t.Parallel(32, func(i int) {
				for j := 0; !stop.Load(); j++ {
					_, _ = harness.TryStat(fd, fmt.Sprint("f", (i+j)%60), 0)
					if dir, err := unix.Openat(fd, ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
						_, _ = harness.Entries(dir, 4096)
						_ = unix.Close(dir)
					}
				}
			})
		})
		for range 20 {
			t.Errno(unix.Unmount("b", 0), unix.EBUSY)
		}
		stop.Store(true)
		<-done
		t.Must(unix.Close(fd))
		t.Eventually(5*time.Second, "unmount", func() bool { return unix.Unmount("b", 0) == nil })
	})
	g.Case("open-file-and-a-child/the-child-does-not-keep-it-busy", func(t *T) {
		t.Private()
		t.Dir("a", 0o755)
		t.Write("a/f", "x")
		t.Dir("b", 0o755)
		t.Bind("a", "b", 0)
		fd := t.Open("b/f", unix.O_RDONLY)
		c := t.Child("changer")
		c.Expect("=x", "read a/f")
		t.Close(fd)
		t.Eventually(5*time.Second, "unmount while the child lives", func() bool { return unix.Unmount("b", 0) == nil })
	})
}
