package posix

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareNames) }

func declareNames(s *harness.Suite) {
	g := s.Group("names")
	nameFaults(g)
	nameLengths(g)
	trailingSlashes(g)
	dots(g)
	symlinkChains(g)
	nameBytes(g)
	longPaths(g)
	badAddresses(g)
}

var (
	name255 = strings.Repeat("n", 255)
	name256 = strings.Repeat("n", 256)
)

// relPadded returns a relative path to name that is n bytes long.
func relPadded(name string, n int) string {
	pad := n - len(name)
	if pad%2 == 0 {
		return strings.Repeat("./", pad/2) + name
	}
	return ".//" + strings.Repeat("./", (pad-3)/2) + name
}

// nameFaults crosses every call with every way a path can fail to resolve.
// A failing call changes nothing.
func nameFaults(g *Group) {
	for _, f := range []struct {
		name, path string
		want       syscall.Errno
		last       bool // only for calls that follow the last component
	}{
		{"below-missing-directory", "missing/x", unix.ENOENT, false},
		{"empty-path", "", unix.ENOENT, false},
		{"name-of-256-bytes", name256, unix.ENAMETOOLONG, false},
		{"name-of-256-bytes-in-a-directory", "dir/" + name256, unix.ENAMETOOLONG, false},
		{"component-of-256-bytes", name256 + "/x", unix.ENAMETOOLONG, false},
		{"path-of-4096-bytes", relPadded("dir/x", 4096), unix.ENAMETOOLONG, false},
		{"below-file", "file/x", unix.ENOTDIR, false},
		{"below-fifo", "fifo/x", unix.ENOTDIR, false},
		{"below-socket", "socket/x", unix.ENOTDIR, false},
		{"below-symlink-to-file", "to-file/x", unix.ENOTDIR, false},
		{"dot-below-file", "file/.", unix.ENOTDIR, false},
		{"dotdot-below-file", "file/../file", unix.ENOTDIR, false},
		{"below-dangling-symlink", "dangling/x", unix.ENOENT, false},
		{"below-symlink-to-itself", "loop/x", unix.ELOOP, false},
		{"below-symlinks-in-a-circle", "ring-a/x", unix.ELOOP, false},
		{"below-41-symlinks", "chain-41/x", unix.ELOOP, false},
		{"symlink-to-itself", "loop", unix.ELOOP, true},
		{"symlinks-in-a-circle", "ring-b", unix.ELOOP, true},
		{"dangling-symlink", "dangling", unix.ENOENT, true},
		{"symlink-to-long-name", "to-long", unix.ENAMETOOLONG, true},
		{"symlink-below-file", "to-below-file", unix.ENOTDIR, true},
	} {
		for _, op := range pathOps {
			if f.last && !op.follows {
				continue
			}
			g.Sub("%s", op.name).Case(f.name+"/"+errName(f.want), func(t *T) {
				if op.root {
					t.NeedRoot()
				}
				faultyTree(t, f.path)
				t.Unchanged(func() { t.Errno(op.call(f.path), f.want) })
			})
		}
	}
	for _, op := range pathOps {
		g.Sub("%s", op.name).Case("below-unsearchable-directory/is-EACCES", func(t *T) {
			t.NeedRoot()
			t.Chmod(".", 0o777)
			t.File(sourceName, 0o666)
			t.Dir("locked", 0o766) // all but search for others
			if !op.creates {
				t.File("locked/x", 0o666)
			}
			t.Unchanged(func() {
				t.As(alice, func() { t.Errno(op.call("locked/x"), unix.EACCES) })
			})
		})
	}
}

// faultyTree makes what a path of nameFaults stumbles over, and no more.
func faultyTree(t *T, path string) {
	t.File(sourceName, 0o644)
	first, _, _ := strings.Cut(strings.TrimLeft(path, "./"), "/")
	switch first {
	case "dir":
		t.Dir("dir", 0o755)
	case "file":
		t.File("file", 0o644)
	case "fifo":
		t.Make(harness.FIFO, "fifo")
	case "socket":
		t.Make(harness.Socket, "socket")
	case "to-file":
		t.File("file", 0o644)
		t.Symlink("file", "to-file")
	case "dangling":
		t.Symlink("nowhere", "dangling")
	case "loop":
		t.Symlink("loop", "loop")
	case "ring-a", "ring-b":
		t.Symlink("ring-b", "ring-a")
		t.Symlink("ring-a", "ring-b")
	case "to-long":
		t.Symlink(name256, "to-long")
	case "to-below-file":
		t.File("file", 0o644)
		t.Symlink("file/x", "to-below-file")
	case "chain-41":
		t.Dir("dir", 0o755)
		chain(t, "dir", 41)
	}
}

// followed is a number of symlinks that every path walk follows. The limit is
// 40, but Linux counts a link again each time it walks the path again, which
// it does up to three times when something changes under it.
const followed = 13

// chain makes symlinks chain-1 ... chain-n, each to the one before, the first
// to target.
func chain(t *T, target string, n int) {
	for i := 1; i <= n; i++ {
		t.Symlink(target, fmt.Sprintf("chain-%d", i))
		target = fmt.Sprintf("chain-%d", i)
	}
}

// nameLengths: what is just short enough works.
func nameLengths(g *Group) {
	for _, op := range pathOps {
		sub := g.Sub("%s", op.name)
		sub.Case("name-of-255-bytes/works", func(t *T) { longest(t, op, name255) })
		sub.Case("name-of-255-bytes-of-0xff/works", func(t *T) { longest(t, op, strings.Repeat("\xff", 255)) })
		sub.Case("path-of-4095-bytes/works", func(t *T) { longest(t, op, relPadded("x", 4095)) })
		sub.Case("below-13-symlinks/works", func(t *T) {
			t.Dir("real", 0o755)
			chain(t, "real", followed)
			longest(t, op, fmt.Sprintf("chain-%d/x", followed))
		})
	}
	g.Case("every-length-from-1-to-255/can-be-made-and-listed", func(t *T) {
		for n := 1; n <= 255; n++ {
			t.OK(unix.Mkdir(strings.Repeat("k", n), 0o755), "%d bytes", n)
		}
		names := t.Names(".")
		eq(t, "names listed", len(names), 255)
		for i, name := range names {
			t.Check(len(name) == i+1, "name %d has %d bytes", i, len(name))
		}
	})
	g.Case("255-bytes-of-85-three-byte-characters/is-one-name", func(t *T) {
		name := strings.Repeat("\u4e16", 85)
		t.OK(unix.Mkdir(name, 0o755))
		t.Errno(unix.Mkdir(name+"x", 0o755), unix.ENAMETOOLONG)
		eq(t, "listing", strings.Join(t.Names("."), "|"), name)
	})
	g.Case("statfs/says-names-have-255-bytes", func(t *T) {
		var st unix.Statfs_t
		t.OK(unix.Statfs(".", &st))
		eq(t, "f_namelen", int64(st.Namelen), 255)
	})
}

// longest runs an operation on a path that it must accept.
func longest(t *T, op pathOp, path string) {
	if op.root {
		t.NeedRoot()
	}
	t.File(sourceName, 0o644)
	switch {
	case op.creates:
	case op.dir:
		t.Dir(path, 0o755)
	case op.link:
		t.Symlink("target", path)
	default:
		t.File(path, 0o644)
	}
	t.OK(op.call(path))
	if op.creates {
		t.Check(t.Exists(path), "the name is not there")
	}
}

// slashTargets are what trailingSlashes puts a slash behind.
var slashTargets = []string{"directory", "file", "to-directory", "to-file", "dangling", "missing"}

// trailingSlashes: a slash behind a name asks for a directory, and makes a
// symlink there be followed; calls that bind or remove the name itself do not
// follow, and refuse.
func trailingSlashes(g *Group) {
	// In the order of slashTargets.
	resolves := []syscall.Errno{0, unix.ENOTDIR, 0, unix.ENOTDIR, unix.ENOENT, unix.ENOENT}
	resolvesFile := []syscall.Errno{unix.EISDIR, unix.ENOTDIR, unix.EISDIR, unix.ENOTDIR, unix.ENOENT, unix.ENOENT}
	binds := []syscall.Errno{unix.EEXIST, unix.EEXIST, unix.EEXIST, unix.EEXIST, unix.EEXIST, unix.ENOENT}
	table := map[string][]syscall.Errno{
		"open-write":  resolvesFile,
		"truncate":    resolvesFile,
		"open-create": {unix.EISDIR, unix.EISDIR, unix.EISDIR, unix.EISDIR, unix.EISDIR, unix.EISDIR},
		"mkdir":       {unix.EEXIST, unix.EEXIST, unix.EEXIST, unix.EEXIST, unix.EEXIST, 0},
		"mkfifo":      binds, "mknod-socket": binds, "mknod-file": binds, "mknod-char": binds, "symlink": binds, "link-to": binds,
		"link-from":   {unix.EPERM, unix.ENOTDIR, unix.EPERM, unix.ENOTDIR, unix.ENOENT, unix.ENOENT},
		"unlink":      {unix.EISDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOENT},
		"rmdir":       {0, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOENT},
		"rename-from": {0, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOENT},
		"rename-to":   {unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR},
		"readlink":    {unix.EINVAL, unix.ENOTDIR, unix.EINVAL, unix.ENOTDIR, unix.ENOENT, unix.ENOENT},
	}
	for _, op := range pathOps {
		wants := table[op.name]
		if wants == nil {
			wants = resolves
		}
		for i, target := range slashTargets {
			g.Sub("trailing-slash/%s", op.name).Case(target+"/"+errName(wants[i]), func(t *T) {
				if op.root {
					t.NeedRoot()
				}
				slashTree(t)
				if wants[i] == 0 {
					t.OK(op.call(target + "/"))
					return
				}
				t.Unchanged(func() { t.Errno(op.call(target+"/"), wants[i]) })
			})
		}
	}
	renameDir := []syscall.Errno{0, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, unix.ENOTDIR, 0}
	for i, target := range slashTargets {
		g.Sub("trailing-slash/rename-directory-to").Case(target+"/"+errName(renameDir[i]), func(t *T) {
			slashTree(t)
			t.Dir("moving", 0o755)
			s := t.Lstat("moving")
			t.Result(unix.Rename("moving", target+"/"), renameDir[i])
			if renameDir[i] == 0 {
				t.Is(target, s)
				t.Gone("moving")
			}
		})
	}
	g.Case("trailing-slash/lstat/symlink-to-directory/sees-the-directory", func(t *T) {
		slashTree(t)
		t.Is("to-directory/", t.Stat("to-directory"))
		t.Is("to-directory/.", t.Stat("directory"))
	})
}

func slashTree(t *T) {
	t.File(sourceName, 0o644)
	t.Dir("directory", 0o755)
	t.File("file", 0o644)
	t.Symlink("directory", "to-directory")
	t.Symlink("file", "to-file")
	t.Symlink("nowhere", "dangling")
}

// dots: "." and ".." are names that are always there and cannot be bound or
// removed.
func dots(g *Group) {
	refuses := map[string]syscall.Errno{
		"open-create": unix.EEXIST, "mkdir": unix.EEXIST, "mkfifo": unix.EEXIST, "mknod-socket": unix.EEXIST,
		"mknod-file": unix.EEXIST, "mknod-char": unix.EEXIST, "symlink": unix.EEXIST, "link-to": unix.EEXIST,
		"link-from": unix.EPERM, "rename-to": unix.EBUSY, "rename-from": unix.EBUSY, "unlink": unix.EISDIR,
		"truncate": unix.EISDIR, "open-write": unix.EISDIR, "readlink": unix.EINVAL,
	}
	for _, op := range pathOps {
		for _, path := range []string{".", "..", "sub/.", "sub/..", "sub/../sub/."} {
			want := refuses[op.name]
			if op.name == "rmdir" {
				want = unix.EINVAL
				if strings.HasSuffix(path, "..") {
					want = unix.ENOTEMPTY
				}
			}
			g.Sub("dots/%s", op.name).Case(in(path)+"/"+errName(want), func(t *T) {
				if op.root {
					t.NeedRoot()
				}
				// One level down, so that ".." is the case's own too.
				t.Dir("top", 0o755)
				t.Must(unix.Chdir("top"))
				t.File(sourceName, 0o644)
				t.Dir("sub", 0o755)
				if want == 0 {
					t.OK(op.call(path))
					return
				}
				t.Unchanged(func() { t.Errno(op.call(path), want) })
			})
		}
	}
	g.Case("dots/lead-where-they-should", func(t *T) {
		t.Dir("a", 0o755)
		t.Dir("a/b", 0o755)
		a, b := t.Lstat("a"), t.Lstat("a/b")
		t.Is("a/.", a)
		t.Is("a/b/..", a)
		t.Is("a/b/../b/.", b)
		t.Is("a//b///", b)
		t.Is("./a/./b/../b", b)
	})
}
