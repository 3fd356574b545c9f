//go:build linux

package checkout

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// rig is a directory, a workspace and the shadow between them.
type rig struct {
	t      *testing.T
	ctx    context.Context
	dir    string
	data   *workspace.DataDir
	live   *workspace.Workspace
	shadow *workspace.Workspace
	state  string
	c      *Checkout
}

func newRig(t *testing.T) *rig {
	t.Helper()
	base := t.TempDir()
	r := &rig{t: t, ctx: context.Background(), dir: filepath.Join(base, "dir"), state: filepath.Join(base, "state")}
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var err error
	if r.data, err = workspace.OpenDataDir(r.ctx, workspace.Options{Dir: filepath.Join(base, "data")}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.data.Close() })
	r.live, err = r.data.Create(r.ctx, "ws", uint32(os.Getuid()), uint32(os.Getgid()))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open begins the checkout, or takes it up.
func (r *rig) open() {
	r.t.Helper()
	var err error
	if r.shadow == nil {
		if r.shadow, err = r.data.Fork(r.ctx, r.live, chunk.ID{}, "shadow"); err != nil {
			r.t.Fatal(err)
		}
	}
	r.c, err = Open(r.ctx, r.options())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { r.c.Close() })
}

func (r *rig) pass() Report {
	r.t.Helper()
	report, err := r.c.Pass(r.ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	return report
}

func (r *rig) path(p string) string { return filepath.Join(r.dir, p) }

func (r *rig) write(p, content string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(p)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(p), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// hostTree describes the directory, one line a name.
func (r *rig) hostTree() string {
	h, err := openHost(r.dir)
	r.must(err)
	defer h.close()
	links := map[uint64]int{}
	var lines []string
	var walk func(p string)
	walk = func(p string) {
		names, err := h.readNames(p)
		r.must(err)
		for _, name := range names {
			q := strings.TrimPrefix(p+"/"+name, "/")
			var s hostStat
			r.must(h.complete(q, &s))
			content := s.Target
			if isRegular(s.Mode) {
				b, err := os.ReadFile(r.path(q))
				r.must(err)
				content = chunk.Sum(b).String()[:12]
			}
			lines = append(lines, line(q, s.Mode, s.UID, s.GID, s.Mtime, s.Xattrs, content, s.Ino, s.Nlink, links))
			if s.Mode&vfs.ModeTypeMask == vfs.ModeDir {
				walk(q)
			}
		}
	}
	walk("")
	return strings.Join(lines, "\n")
}

// tree describes a workspace in the same words.
func (r *rig) tree(w *workspace.Workspace) string {
	op := &vfs.Op{NoAtime: true}
	links := map[uint64]int{}
	var lines []string
	var walk func(dir vfs.Ino, p string)
	walk = func(dir vfs.Ino, p string) {
		names, err := listNames(w, op, dir)
		r.must(err)
		for _, name := range names {
			q := strings.TrimPrefix(p+"/"+name, "/")
			at, err := w.Lookup(op, dir, name)
			r.must(err)
			attrs, err := vfsXattrs(w, op, at.Ino)
			r.must(err)
			content := ""
			switch {
			case at.IsSymlink():
				content, err = w.Readlink(op, at.Ino)
				r.must(err)
			case at.IsRegular():
				h, err := w.Open(op, at.Ino, os.O_RDONLY)
				r.must(err)
				b := make([]byte, at.Size)
				n, err := h.Read(op, b, 0)
				r.must(err)
				h.Release(op)
				content = chunk.Sum(b[:n]).String()[:12]
			}
			lines = append(lines, line(q, at.Mode, at.UID, at.GID, at.Mtime, encodeXattrs(attrs), content, uint64(at.Ino), at.Nlink, links))
			if at.IsDir() {
				walk(at.Ino, q)
			}
		}
	}
	walk(vfs.RootIno, "")
	return strings.Join(lines, "\n")
}

// line gives hard links a number, so that both sides can be compared.
func line(p string, mode, uid, gid uint32, mtime int64, xattrs, content string, ino uint64, nlink uint32, links map[uint64]int) string {
	group := 0
	if mode&vfs.ModeTypeMask != vfs.ModeDir && nlink > 1 {
		if links[ino] == 0 {
			links[ino] = len(links) + 1
		}
		group = links[ino]
	}
	return fmt.Sprintf("%s %o %d:%d %d %q %s link %d", p, mode, uid, gid, mtime, xattrs, content, group)
}

func (r *rig) same(w *workspace.Workspace) {
	r.t.Helper()
	if a, b := r.hostTree(), r.tree(w); a != b {
		r.t.Fatalf("directory:\n%s\nworkspace:\n%s", a, b)
	}
}

func (r *rig) check(w *workspace.Workspace) {
	r.t.Helper()
	_, err := w.Check(r.ctx, nil, func(p workspace.Problem) { r.t.Errorf("check: %+v", p) })
	r.must(err)
}

func TestAbsorb(t *testing.T) {
	r := newRig(t)
	r.open()
	r.write("a/b/file", "one")
	r.write("plain", "two")
	r.must(os.Symlink("nowhere", r.path("link")))
	r.must(os.Link(r.path("plain"), r.path("a/hard")))
	r.must(unix.Mkfifo(r.path("fifo"), 0o640))
	r.must(unix.Setxattr(r.path("plain"), "user.colour", []byte("red"), 0))
	r.must(os.Chtimes(r.path("plain"), time.Time{}, time.Unix(-5, 123456789)))
	r.must(os.Chmod(r.path("a/b"), 0o2711))
	if got := r.pass(); got.Added != 7 {
		t.Errorf("added %d of 7", got.Added)
	}
	r.same(r.shadow)
	if got := r.pass(); !got.Quiet() {
		t.Errorf("a second pass did %+v", got)
	}

	ino := lookup(t, r.shadow, "a/b/file")
	r.must(os.Rename(r.path("a"), r.path("z")))
	r.write("plain", "two and more")
	r.must(os.Remove(r.path("link")))
	r.must(unix.Removexattr(r.path("plain"), "user.colour"))
	got := r.pass()
	if got.Moved != 1 || got.Changed != 1 || got.Removed != 1 {
		t.Errorf("report %+v", got)
	}
	r.same(r.shadow)
	if lookup(t, r.shadow, "z/b/file") != ino {
		t.Error("a renamed directory's file is another inode")
	}
	r.check(r.shadow)
}

func lookup(t *testing.T, w *workspace.Workspace, p string) vfs.Ino {
	t.Helper()
	at, err := vfs.NewWalker(w, &vfs.Op{}).Lstat(p)
	if err != nil {
		t.Fatalf("%s: %v", p, err)
	}
	return at.Ino
}

// A program that saves by renaming over the old file keeps the inode, so that
// links, history and edits elsewhere go on.
func TestAbsorbSaveByRename(t *testing.T) {
	r := newRig(t)
	r.open()
	r.write("doc", "draft")
	r.pass()
	ino := lookup(t, r.shadow, "doc")
	r.write("doc.tmp", "final")
	r.must(os.Rename(r.path("doc.tmp"), r.path("doc")))
	r.pass()
	r.same(r.shadow)
	if lookup(t, r.shadow, "doc") != ino {
		t.Error("the inode changed")
	}
}

// Names that swap, and a directory that moves into one that was inside it.
func TestAbsorbCrossingMoves(t *testing.T) {
	r := newRig(t)
	r.open()
	r.write("x", "x")
	r.write("y", "y")
	r.write("a/b/c/deep", "deep")
	r.pass()
	r.must(unix.Renameat2(unix.AT_FDCWD, r.path("x"), unix.AT_FDCWD, r.path("y"), unix.RENAME_EXCHANGE))
	r.must(os.Rename(r.path("a/b"), r.path("b")))
	r.must(os.Rename(r.path("a"), r.path("b/c/a")))
	r.pass()
	r.same(r.shadow)
	r.check(r.shadow)
}

// Random changes of the directory, each followed by a pass from a fresh process
// or the same one: the shadow is what the directory is.
func TestAbsorbRandom(t *testing.T) {
	seeds := 6
	if os.Getenv("VFSD_SOAK") != "" {
		seeds = 200
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := newRig(t)
			r.open()
			rng := rand.New(rand.NewPCG(uint64(seed), 1))
			for range 12 {
				for range rng.IntN(12) {
					r.randomChange(rng)
				}
				if rng.IntN(4) == 0 {
					r.must(r.c.Close())
					if rng.IntN(2) == 0 {
						r.must(os.Remove(filepath.Join(r.state, indexFile)))
					}
					r.open()
				}
				r.pass()
				r.same(r.shadow)
			}
			r.check(r.shadow)
		})
	}
}

// randomChange does something to the directory; what is not possible is nothing.
func (r *rig) randomChange(rng *rand.Rand) {
	pick := func() string {
		var all []string
		filepath.WalkDir(r.dir, func(p string, _ os.DirEntry, _ error) error {
			all = append(all, p)
			return nil
		})
		slices.Sort(all)
		return all[rng.IntN(len(all))]
	}
	fresh := func() string {
		p := pick()
		if fi, err := os.Lstat(p); err != nil || !fi.IsDir() {
			p = filepath.Dir(p)
		}
		return filepath.Join(p, string(rune('a'+rng.IntN(6))))
	}
	if p := pick(); p != r.dir {
		switch rng.IntN(10) {
		case 0:
			os.Rename(p, fresh())
		case 1:
			os.RemoveAll(p)
		case 2:
			os.Link(p, fresh())
		case 3:
			os.Chmod(p, os.FileMode(0o600|rng.IntN(0o100)))
		case 4:
			unix.Renameat2(unix.AT_FDCWD, p, unix.AT_FDCWD, pick(), unix.RENAME_EXCHANGE)
		case 5:
			unix.Lsetxattr(p, "user.x", []byte{byte(rng.IntN(256))}, 0)
		}
	}
	switch rng.IntN(6) {
	case 0:
		os.Mkdir(fresh(), 0o755)
	case 1:
		os.Symlink(fmt.Sprint(rng.IntN(100)), fresh())
	default:
		if p := fresh(); rng.IntN(8) > 0 {
			if fi, err := os.Lstat(p); err != nil || fi.Mode().IsRegular() {
				os.WriteFile(p, fmt.Append(nil, strings.Repeat("x", rng.IntN(20)), rng.Uint64()), 0o644)
			}
		}
	}
}

func (r *rig) options() Options {
	return Options{Dir: r.dir, StateDir: r.state, Name: "ws", Shadow: r.shadow, Live: r.live}
}
