package workspace

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// replicas are forks of one workspace.
type replicas struct {
	t    testing.TB
	d    *testDataDir
	base *Workspace
	w    []*Workspace
}

// newReplicas makes n forks of a workspace that prepare has filled.
func newReplicas(t testing.TB, n int, prepare func(w *shellActor)) *replicas {
	t.Helper()
	d := newTestDataDir(t)
	base, err := d.d.Create(context.Background(), "base", 0, 0)
	must(t, err)
	if prepare != nil {
		prepare(&shellActor{t, base})
	}
	r := &replicas{t: t, d: d, base: base}
	for i := range n {
		w, err := d.d.Fork(context.Background(), base, chunk.ID{}, fmt.Sprintf("r%d", i))
		must(t, err)
		r.w = append(r.w, w)
	}
	return r
}

func (r *replicas) on(i int) *shellActor { return &shellActor{r.t, r.w[i]} }

// both merges 0 and 1 into one another, and wants the same root from both.
func (r *replicas) both() MergeReport {
	r.t.Helper()
	ctx := context.Background()
	a, err := r.w[0].SyncHead(ctx)
	must(r.t, err)
	b, err := r.w[1].SyncHead(ctx)
	must(r.t, err)
	x, err := r.w[0].Merge(ctx, b, MergeOptions{})
	must(r.t, err)
	y, err := r.w[1].Merge(ctx, a, MergeOptions{})
	must(r.t, err)
	if x.Head != y.Head {
		r.t.Fatalf("merged either way: %s and %s\n%s\n---\n%s", x.Head, y.Head, strings.Join(dump(r.t, r.w[0], true), "\n"), strings.Join(dump(r.t, r.w[1], true), "\n"))
	}
	checkClean(r.t, r.w[0])
	return x
}

// shellActor does things to files by path, as root, and wants them to succeed.
type shellActor struct {
	t testing.TB
	w *Workspace
}

func (a *shellActor) at(p string) (vfs.Ino, string) {
	a.t.Helper()
	dir, name, err := a.w.walkTo(rootOp, p)
	must(a.t, err)
	return dir, name
}

func (a *shellActor) ino(p string) vfs.Ino {
	a.t.Helper()
	dir, name := a.at(p)
	if name == "" {
		return vfs.RootIno
	}
	at, err := a.w.Lookup(rootOp, dir, name)
	must(a.t, err)
	return at.Ino
}

func (a *shellActor) write(p, data string) {
	a.t.Helper()
	dir, name := a.at(p)
	at, err := a.w.Lookup(rootOp, dir, name)
	var h vfs.Handle
	if err == nil {
		h, err = a.w.Open(rootOp, at.Ino, syscall.O_WRONLY|syscall.O_TRUNC)
	} else {
		_, h, err = a.w.Create(rootOp, dir, name, 0o644, syscall.O_WRONLY)
	}
	must(a.t, err)
	_, err = h.Write(rootOp, []byte(data), 0)
	must(a.t, err)
	h.Release(rootOp)
}

func (a *shellActor) patch(p string, off int64, data string) {
	a.t.Helper()
	h, err := a.w.Open(rootOp, a.ino(p), syscall.O_WRONLY)
	must(a.t, err)
	_, err = h.Write(rootOp, []byte(data), off)
	must(a.t, err)
	h.Release(rootOp)
}

func (a *shellActor) mkdir(p string) {
	a.t.Helper()
	dir, name := a.at(p)
	_, err := a.w.Mkdir(rootOp, dir, name, 0o755)
	must(a.t, err)
}

func (a *shellActor) mv(from, to string) {
	a.t.Helper()
	d1, n1 := a.at(from)
	d2, n2 := a.at(to)
	must(a.t, a.w.Rename(rootOp, d1, n1, d2, n2, 0))
}

func (a *shellActor) rm(p string) {
	a.t.Helper()
	dir, name := a.at(p)
	must(a.t, (&restorer{op: liveOp(), live: a.w}).removeNamed(dir, name))
}

func liveOp() *vfs.Op { return &vfs.Op{Ctx: context.Background()} }

func (a *shellActor) ln(from, to string) {
	a.t.Helper()
	dir, name := a.at(to)
	_, err := a.w.Link(rootOp, a.ino(from), dir, name)
	must(a.t, err)
}

func (a *shellActor) chmod(p string, mode uint32) {
	a.t.Helper()
	_, err := a.w.Setattr(rootOp, a.ino(p), &vfs.SetAttr{Mask: vfs.SetMode, Mode: mode})
	must(a.t, err)
}

func (a *shellActor) setxattr(p, name, value string) {
	a.t.Helper()
	must(a.t, a.w.Setxattr(rootOp, a.ino(p), name, []byte(value), 0))
}

func readFileAt(t testing.TB, w vfs.FS, ino vfs.Ino) string {
	t.Helper()
	at, err := w.Getattr(rootOp, ino)
	must(t, err)
	h, err := w.Open(rootOp, ino, syscall.O_RDONLY)
	must(t, err)
	defer h.Release(rootOp)
	p := make([]byte, at.Size+1)
	n, err := h.Read(rootOp, p, 0)
	must(t, err)
	return string(p[:n])
}

// tree lists paths with their bytes: "d" for directories. Conflict names lose
// the replica and the number, which are random.
func (a *shellActor) tree() string {
	var out []string
	var visit func(ino vfs.Ino, p string)
	visit = func(ino vfs.Ino, p string) {
		for _, e := range list(a.t, a.w, ino) {
			q := p + e.Name
			if i := strings.Index(q, ".conflict-"); i >= 0 {
				q = q[:i] + ".conflict"
			}
			switch {
			case e.Mode&vfs.ModeTypeMask == vfs.ModeDir:
				out = append(out, q+"/")
				visit(e.Ino, q+"/")
			case e.Mode&vfs.ModeTypeMask == vfs.ModeRegular:
				data := readFileAt(a.t, a.w, e.Ino)
				if len(data) > 20 {
					data = fmt.Sprintf("%d:%.8s", len(data), chunk.Sum([]byte(data)))
				}
				out = append(out, q+"="+strings.ReplaceAll(data, "\n", "|"))
			default:
				out = append(out, q+"@")
			}
		}
	}
	visit(vfs.RootIno, "")
	sort.Strings(out)
	return strings.Join(out, " ")
}

// TestMerge holds what becomes of pairs of edits (P5).
func TestMerge(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 20000)
	text := "one\ntwo\nthree\nfour\nfive\nsix\n"
	for _, c := range []struct {
		name      string
		base      func(*shellActor)
		a, b      func(*shellActor)
		want      string
		conflicts string
	}{
		{"disjoint files", func(x *shellActor) { x.write("f", "1"); x.write("g", "1") },
			func(x *shellActor) { x.write("f", "2") }, func(x *shellActor) { x.write("g", "3"); x.write("new", "4") },
			"f=2 g=3 new=4", ""},
		{"both edit", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.write("f", "2") }, func(x *shellActor) { x.write("f", "3") },
			"f.conflict=2 f=3", "edited"},
		{"both edit to the same", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.write("f", "2") }, func(x *shellActor) { x.write("f", "2") },
			"f=2", ""},
		{"an old file copied over a newer, by a slow clock (S17)", func(x *shellActor) { x.write("f", "newer") },
			func(x *shellActor) {
				x.write("f", "old")
				year := int64(365 * 24 * time.Hour)
				_, err := x.w.Setattr(rootOp, x.ino("f"), &vfs.SetAttr{Mask: vfs.SetMtime, Mtime: now() - year})
				must(x.t, err)
			}, func(x *shellActor) { x.write("g", "1") },
			"f=old g=1", ""},
		{"a checkout against build output (S18)", func(x *shellActor) {
			x.mkdir("src")
			x.write("src/a", "1")
			x.write("src/b", "1")
			x.mkdir("out")
			x.write("out/o", "1")
		},
			func(x *shellActor) {
				for _, f := range []string{"src/a", "src/b"} {
					x.rm(f)
					x.write(f+".lock", "2")
					x.mv(f+".lock", f)
				}
				x.rm("out/o")
				x.write("out/o", "1")
			},
			func(x *shellActor) { x.write("out/p", "3"); x.chmod("out", 0o700) },
			"out/ out/o=1 out/p=3 src/ src/a=2 src/b=2", ""},
		{"both replace by a rename", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.write("t", "2"); x.mv("t", "f") }, func(x *shellActor) { x.write("t", "3"); x.mv("t", "f") },
			"f.conflict=2 f=3", "named"},
		{"edit in place against a replacing rename", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.write("t", "2"); x.mv("t", "f") }, func(x *shellActor) { x.write("f", "3") },
			"f.conflict=2 f=3", "deleted named"},
		{"delete against edit", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.rm("f") }, func(x *shellActor) { x.write("f", "2") },
			"f=2", "deleted"},
		{"delete against nothing", func(x *shellActor) { x.write("f", "1"); x.mkdir("d"); x.write("d/f", "1") },
			func(x *shellActor) { x.rm("f"); x.rm("d") }, func(x *shellActor) {},
			"", ""},
		{"delete against attributes (S02)", func(x *shellActor) { x.mkdir("d"); x.mkdir("d/e"); x.write("d/e/f", "1") },
			func(x *shellActor) { x.rm("d") },
			func(x *shellActor) {
				x.chmod("d", 0o700)
				x.setxattr("d/e", "user.a", "b")
				x.chmod("d/e/f", 0o600)
			},
			"", ""},
		{"move against attributes (S02)", func(x *shellActor) { x.mkdir("d"); x.write("d/f", "1") },
			func(x *shellActor) { x.mv("d", "e") }, func(x *shellActor) { x.chmod("d", 0o700); x.setxattr("d", "user.a", "b") },
			"e/ e/f=1", ""},
		{"directory deleted, file edited in it", func(x *shellActor) { x.mkdir("d"); x.mkdir("d/e"); x.write("d/e/f", "1"); x.write("d/g", "1") },
			func(x *shellActor) { x.rm("d") }, func(x *shellActor) { x.write("d/e/f", "2") },
			"d/ d/e/ d/e/f=2", "deleted"},
		{"directory deleted, file made in it", func(x *shellActor) { x.mkdir("d"); x.write("d/g", "1") },
			func(x *shellActor) { x.rm("d") }, func(x *shellActor) { x.write("d/n", "2") },
			"d/ d/n=2", ""},
		{"directory renamed, file made in it", func(x *shellActor) { x.mkdir("d"); x.write("d/g", "1") },
			func(x *shellActor) { x.mv("d", "e") }, func(x *shellActor) { x.write("d/n", "2"); x.write("d/g", "3") },
			"e/ e/g=3 e/n=2", ""},
		{"directory deleted and made anew, file made in the old (S12)", func(x *shellActor) { x.mkdir("root"); x.write("root/a", "1") },
			func(x *shellActor) { x.rm("root"); x.mkdir("root"); x.write("root/a", "2") }, func(x *shellActor) { x.write("root/n", "3") },
			"root/ root/a=2 root/n=3", ""},
		{"the same directories made on both", nil,
			func(x *shellActor) { x.mkdir("d"); x.mkdir("d/e"); x.write("d/e/f", "1"); x.write("d/a", "1") },
			func(x *shellActor) { x.mkdir("d"); x.mkdir("d/e"); x.write("d/e/f", "1"); x.write("d/b", "2") },
			"d/ d/a=1 d/b=2 d/e/ d/e/f=1", ""},
		{"file against directory", nil,
			func(x *shellActor) { x.mkdir("d"); x.write("d/f", "1") }, func(x *shellActor) { x.write("d", "2") },
			"d.conflict=2 d/ d/f=1", "named"},
		{"two renames of a file", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.mv("f", "g") }, func(x *shellActor) { x.mv("f", "h") },
			"g=1 h=1", "renamed"},
		{"two renames of a directory", func(x *shellActor) { x.mkdir("d"); x.write("d/f", "1") },
			func(x *shellActor) { x.mv("d", "e") }, func(x *shellActor) { x.mv("d", "g") },
			"g/ g/f=1", "moved"},
		{"rename against edit", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.mv("f", "g") }, func(x *shellActor) { x.write("f", "2") },
			"g=2", ""},
		{"rename against delete", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.mv("f", "g") }, func(x *shellActor) { x.rm("f") },
			"g=1", "deleted"},
		{"two files renamed to one name", func(x *shellActor) { x.write("f", "1"); x.write("g", "22") },
			func(x *shellActor) { x.mv("f", "h") }, func(x *shellActor) { x.mv("g", "h") },
			"h.conflict=1 h=22", "named"},
		{"case-only rename against edit (S04)", func(x *shellActor) { x.write("foo", "1") },
			func(x *shellActor) { x.mv("foo", "Foo") }, func(x *shellActor) { x.write("foo", "2") },
			"Foo=2", ""},
		{"names equal when normalised (S06)", nil,
			func(x *shellActor) { x.write("\u00e9", "1") }, func(x *shellActor) { x.write("e\u0301", "2") },
			"e\u0301=2 \u00e9=1", ""},
		{"crossing moves", func(x *shellActor) { x.mkdir("a"); x.mkdir("b"); x.write("a/f", "1"); x.write("b/g", "2") },
			func(x *shellActor) { x.mv("a", "b/a") }, func(x *shellActor) { x.mv("b", "a/b") },
			"b/ b/a/ b/a/f=1 b/g=2", "moved"},
		{"deep crossing moves", func(x *shellActor) {
			x.mkdir("a")
			x.mkdir("a/x")
			x.mkdir("b")
			x.mkdir("b/y")
			x.write("a/f", "1")
			x.write("b/g", "2")
		},
			func(x *shellActor) { x.mkdir("b/y/n"); x.mv("a", "b/y/n/a") }, func(x *shellActor) { x.mkdir("a/x/m"); x.mv("b", "a/x/m/b") },
			"b/ b/g=2 b/y/ b/y/n/ b/y/n/a/ b/y/n/a/f=1 b/y/n/a/x/ b/y/n/a/x/m/", "moved"},
		{"a link more, and an edit", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.ln("f", "g") }, func(x *shellActor) { x.write("f", "2") },
			"f=2 g=2", ""},
		{"links on both, one removed", func(x *shellActor) { x.write("f", "1"); x.ln("f", "g") },
			func(x *shellActor) { x.ln("f", "h"); x.rm("g") }, func(x *shellActor) { x.ln("f", "i"); x.rm("f") },
			"h=1 i=1", ""},
		{"modes and times field by field", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.chmod("f", 0o600) }, func(x *shellActor) { x.write("f", "2"); x.setxattr("f", "user.a", "v") },
			"f=2", ""},
		{"one attribute set twice", func(x *shellActor) { x.write("f", "1") },
			func(x *shellActor) { x.setxattr("f", "user.a", "1"); x.setxattr("f", "user.b", "1") },
			func(x *shellActor) { x.setxattr("f", "user.a", "2"); x.setxattr("f", "user.c", "1") },
			"f=1", "attribute"},
		{"text by policy", func(x *shellActor) {
			x.mkdir(".vfsd")
			x.write(".vfsd/policy", "*.txt text\n")
			x.write("f.txt", text)
			x.write("g.txt", text)
		},
			func(x *shellActor) { x.write("f.txt", "ONE\n"+text[4:]); x.write("g.txt", "a\n") },
			func(x *shellActor) { x.write("f.txt", text+"seven\n"); x.write("g.txt", "b\n") },
			".vfsd/ .vfsd/policy=*.txt text| f.txt=34:" + chunk.Sum([]byte("ONE\n" + text[4:] + "seven\n")).String()[:8] + " g.txt.conflict=a| g.txt=b|", "edited"},
		{"text replaced by renames", func(x *shellActor) {
			x.mkdir(".vfsd")
			x.write(".vfsd/policy", "*.txt text\n")
			x.write("f.txt", text)
		},
			func(x *shellActor) { x.write("t", "ONE\n"+text[4:]); x.mv("t", "f.txt") },
			func(x *shellActor) { x.write("t", text+"seven\n"); x.mv("t", "f.txt") },
			".vfsd/ .vfsd/policy=*.txt text| f.txt=34:" + chunk.Sum([]byte("ONE\n" + text[4:] + "seven\n")).String()[:8], ""},
		{"large file edited and renamed", func(x *shellActor) { x.write("f", big) },
			func(x *shellActor) { x.mv("f", "g"); x.chmod("g", 0o600) }, func(x *shellActor) { x.patch("f", 100000, "HELLO") },
			"g=" + fmt.Sprintf("%d:%.8s", len(big), chunk.Sum([]byte(big[:100000]+"HELLO"+big[100005:]))), ""},
		{"large file edited twice", func(x *shellActor) { x.write("f", big) },
			func(x *shellActor) { x.patch("f", 0, "HELLO") }, func(x *shellActor) { x.patch("f", 200000, "HELLO") },
			"f.conflict=" + fmt.Sprintf("%d:%.8s", len(big), chunk.Sum([]byte("HELLO"+big[5:]))) +
				" f=" + fmt.Sprintf("%d:%.8s", len(big), chunk.Sum([]byte(big[:200000]+"HELLO"+big[200005:]))), "edited"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newReplicas(t, 2, c.base)
			c.a(r.on(0))
			c.b(r.on(1))
			r.both()
			if got := r.on(0).tree(); got != c.want {
				t.Errorf("merged:\n got %s\nwant %s", got, c.want)
			}
			all, err := r.w[0].Conflicts(context.Background())
			must(t, err)
			var kinds []string
			for _, x := range all {
				kinds = append(kinds, string(x.Kind))
			}
			sort.Strings(kinds)
			if got := strings.Join(kinds, " "); got != c.conflicts {
				t.Errorf("conflicts %q, want %q", got, c.conflicts)
			}
		})
	}
}

// randomEdits does random things to a replica, and returns the contents that
// it has written to files that were never deleted again there.
func randomEdits(t testing.TB, w *Workspace, r *rand.Rand, steps int, tag string) {
	t.Helper()
	a := &actor{fs: w, handles: map[int]vfs.Handle{}}
	next := 0
	for i := range steps {
		s := randomStep(r, &next)
		switch s.kind {
		case stepOpen, stepHandleWrite, stepHandleRead, stepHandleClose, stepTmpfile:
			continue
		case stepWrite:
			// Each write says who made it, so that it can be looked for.
			s.data = []byte(fmt.Sprintf("<%s-%d>%s", tag, i, s.data[:min(len(s.data), 100)]))
			s.off = 0
		}
		a.do(s)
	}
}

// contents lists the bytes of all files, without their names.
func contents(t testing.TB, w *Workspace) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	var visit func(ino vfs.Ino)
	visit = func(ino vfs.Ino) {
		for _, e := range list(t, w, ino) {
			switch e.Mode & vfs.ModeTypeMask {
			case vfs.ModeDir:
				visit(e.Ino)
			case vfs.ModeRegular:
				out[readFileAt(t, w, e.Ino)] = true
			}
		}
	}
	visit(vfs.RootIno)
	return out
}

// TestMergeRandom merges random histories of three replicas in random order: a
// version of a file that differs from what all had before is in the result, or
// was replaced by its own side or one that had it; the result is a whole
// namespace, and in the end all are equal.
func TestMergeRandom(t *testing.T) {
	n := 12
	if os.Getenv("VFSD_SOAK") != "" {
		n = 400
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			mergeRandom(t, int64(seed))
		})
	}
}

func mergeRandom(t *testing.T, seed int64) {
	r := rand.New(rand.NewSource(seed))
	x := newReplicas(t, 3, func(a *shellActor) { randomEdits(t, a.w, r, 60, "base") })
	for round := range 3 {
		for i, w := range x.w {
			randomEdits(t, w, r, 5+r.Intn(30), fmt.Sprintf("%d.%d", round, i))
		}
		// Two exchange what they have.
		i := r.Intn(3)
		j := (i + 1 + r.Intn(2)) % 3
		x.exchange(i, j)
	}
	for range 3 {
		for i := range x.w {
			x.pull(i, (i+1)%3)
		}
	}
	root := x.w[0].Stats().Root
	for _, w := range x.w {
		if got := w.Stats().Root; got != root {
			t.Errorf("roots differ: %s and %s", got, root)
		}
		checkClean(t, w)
	}
}

// exchange merges two replicas into one another and checks that both are the
// same then, and that no version is lost.
func (x *replicas) exchange(i, j int) {
	x.t.Helper()
	ctx := context.Background()
	a, err := x.w[i].SyncHead(ctx)
	must(x.t, err)
	b, err := x.w[j].SyncHead(ctx)
	must(x.t, err)
	x.merge(i, b)
	x.merge(j, a)
	if p, q := x.w[i].Stats(), x.w[j].Stats(); p.Root != q.Root {
		x.t.Errorf("merged either way: %s and %s: %s", p.Root, q.Root,
			firstDifference(dump(x.t, x.w[i], true), dump(x.t, x.w[j], true)))
	}
}

func (x *replicas) pull(i, j int) {
	x.t.Helper()
	b, err := x.w[j].SyncHead(context.Background())
	must(x.t, err)
	x.merge(i, b)
}

// merge merges a commit into a replica and compares what there was with what
// there is.
func (x *replicas) merge(i int, theirs chunk.ID) {
	x.t.Helper()
	ctx := context.Background()
	w := x.w[i]
	head, err := w.SyncHead(ctx)
	must(x.t, err)
	common, err := w.past(ctx).bases(head, theirs)
	must(x.t, err)
	report, err := w.Merge(ctx, theirs, MergeOptions{})
	must(x.t, err)
	checkClean(x.t, w)
	checkBlocks(x.t, w)
	if len(common) != 1 || report.FastForward || report.Head == head {
		return
	}
	views := make([]map[string]bool, 3)
	for k, id := range []chunk.ID{common[0].id, head, theirs} {
		v, err := w.At(ctx, id)
		must(x.t, err)
		views[k] = contents(x.t, v)
	}
	now := contents(x.t, w)
	for _, side := range views[1:] {
		for version := range side {
			if !views[0][version] && !now[version] {
				x.t.Errorf("a version is lost: %.60q", version)
			}
		}
	}
}
