package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/figures"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/vfs"
)

// faultHistory is a fixed history that makes every kind of host call.
func faultHistory() []*step {
	data := func(n int, c byte) []byte { return bytes.Repeat([]byte{c}, n) }
	return []*step{
		{kind: stepCreate, p: "a", mode: 0o644},
		{kind: stepWrite, p: "a", data: data(100000, 'x')},
		{kind: stepFsync, p: "a"},
		{kind: stepMkdir, p: "d", mode: 0o755},
		{kind: stepCreate, p: "d/b", mode: 0o600},
		{kind: stepWrite, p: "d/b", data: data(300, 'y')},
		{kind: stepFsync, p: "d/b"},
		{kind: -1}, // checkpoint
		{kind: stepWrite, p: "a", off: 70000, data: data(4096, 'z')},
		{kind: stepRename, p: "d/b", q: "c", n: 1},
		{kind: stepCopy, p: "a", q: "c", off: 0, n: 50000},
		{kind: -2}, // snapshot
		{kind: stepUnlink, p: "a"},
		{kind: -3}, // collection
		{kind: stepTmpfile, p: "t", mode: 0o600, data: data(5000, 't')},
		{kind: stepSetxattr, p: "c", id: 1, data: data(4000, 'v')},
		{kind: -1},
		{kind: stepSymlink, p: "l", q: "c"},
	}
}

func (x *testDataDir) special(w *Workspace, kind, i int) error {
	ctx := context.Background()
	var err error
	switch kind {
	case -1:
		_, err = w.Checkpoint(ctx, CauseCheckpoint, "")
	case -2:
		_, err = w.Snapshot(ctx, fmt.Sprintf("s%d", i))
	case -3:
		_, err = x.d.GC(ctx, false)
	}
	return err
}

// TestFaults fails each host call of a history, one after another: whoever
// asked gets the error, nothing half done is seen, what was acknowledged stays,
// and once the disk is well the workspace is (P8).
func TestFaults(t *testing.T) {
	stride := 7
	if os.Getenv("VFSD_SOAK") != "" {
		stride = 1
	}
	faults := []error{syscall.EIO, syscall.ENOSPC, &hostfs.ShortWrite{Bytes: 3, Err: syscall.ENOSPC}}
	total := runFault(t, -1, nil)
	if total < 50 {
		t.Fatalf("the history makes %d host calls only", total)
	}
	injected := 0
	for k := int64(0); k < total; k += int64(stride) {
		for i, fault := range faults {
			if (k/int64(stride)+int64(i))%3 == 0 || stride == 1 {
				runFault(t, k, fault)
				injected++
			}
		}
	}
	t.Logf("%d host calls, %d faults injected", total, injected)
	figures.Note(t, "host faults under a workspace", figures.Count{What: "faults", N: int64(injected)}, figures.Count{What: "wrong answers", N: 0})
}

func runFault(t *testing.T, k int64, fault error) int64 {
	t.Helper()
	host := hostfs.NewFault(hostfs.OS{}, nil)
	dir := t.TempDir()
	d, err := OpenDataDir(context.Background(), Options{FS: host, Dir: dir, Log: testLog(t)})
	must(t, err)
	x := &testDataDir{t: t, dir: dir, d: d}
	w, err := d.Create(context.Background(), "w", 0, 0)
	must(t, err)
	if k >= 0 {
		host.SetHook(hostfs.Nth(k, fault))
	}
	before := host.Calls()
	ours := &actor{fs: w, handles: map[int]vfs.Handle{}}
	model := &actor{fs: memfs.New(), handles: map[int]vfs.Handle{}}
	var log []string
	for i, s := range faultHistory() {
		if s.kind < 0 {
			err := x.special(w, s.kind, i)
			log = append(log, fmt.Sprintf("special %d: %v", s.kind, err))
			continue
		}
		out := ours.do(s)
		log = append(log, fmt.Sprintf("%v = %s", s, out))
		if out == syscall.EIO.Error() || out == syscall.ENOSPC.Error() {
			continue // and nothing of it may be seen
		}
		if want := model.do(s); out != want {
			t.Fatalf("call %d, %v: %v: %q where the model says %q\n%s", k, fault, s, out, want, strings.Join(log, "\n"))
		}
	}
	calls := host.Calls() - before
	host.SetHook(nil)
	compare := func(when string, fs vfs.FS) {
		t.Helper()
		if diff := firstDifference(dump(t, fs, false), dump(t, model.fs, false)); diff != "" {
			t.Fatalf("call %d, %v: %s: %s\n%s", k, fault, when, diff, strings.Join(log, "\n"))
		}
	}
	compare("after the fault", w)
	s := &step{kind: stepCreate, p: "healed", mode: 0o600}
	if out, want := ours.do(s), model.do(s); out != want {
		t.Fatalf("call %d, %v: once the disk is well: %s\n%s", k, fault, out, strings.Join(log, "\n"))
	}
	x.kill()
	w = x.ws("w")
	compare("after kill", w)
	checkClean(t, w)
	must(t, x.d.Close())
	return calls
}

// TestFullDisk fills a small disk, frees it, and goes on without a restart
// (P8, C14).
func TestFullDisk(t *testing.T) {
	host := hostfs.NewFault(hostfs.OS{}, nil)
	d, err := OpenDataDir(context.Background(), Options{FS: host, Dir: t.TempDir(), Log: testLog(t)})
	must(t, err)
	defer func() { must(t, d.Close()) }()
	w, err := d.Create(context.Background(), "w", 0, 0)
	must(t, err)
	a := &actor{fs: w, handles: map[int]vfs.Handle{}}
	if out := a.do(&step{kind: stepCreate, p: "f", mode: 0o644}); out != "" {
		t.Fatal(out)
	}
	host.SetHook(hostfs.From(0, syscall.ENOSPC, hostfs.OpWrite, hostfs.OpAllocate))
	write := &step{kind: stepWrite, p: "f", data: make([]byte, 9000)}
	if out := a.do(write); out != syscall.ENOSPC.Error() {
		t.Fatalf("write on a full disk: %q", out)
	}
	if at, err := w.Getattr(rootOp, mustWalk(t, a, "f")); err != nil || at.Size != 0 {
		t.Fatalf("after a write that failed: size %d, %v", at.Size, err)
	}
	host.SetHook(nil)
	if out := a.do(write); out != "" {
		t.Fatalf("write once there is room: %q", out)
	}
	checkClean(t, w)
}

func mustWalk(t testing.TB, a *actor, p string) vfs.Ino {
	t.Helper()
	ino, err := a.walk(p)
	must(t, err)
	return ino
}

// TestDamage changes every pack byte of a small workspace in turn: a read gives
// the right bytes or an error, never others (P4), and a scrub finds it.
func TestDamage(t *testing.T) {
	x := newTestDataDir(t)
	w, err := x.d.Create(context.Background(), "w", 0, 0)
	must(t, err)
	a := &actor{fs: w, handles: map[int]vfs.Handle{}}
	a.do(&step{kind: stepCreate, p: "f", mode: 0o644})
	content := bytes.Repeat([]byte("content "), 100)
	a.do(&step{kind: stepWrite, p: "f", data: content})
	if _, err := w.Snapshot(context.Background(), "s"); err != nil {
		t.Fatal(err)
	}
	clean := t.TempDir()
	copyTree(t, x.dir, clean)
	packs, err := filepath.Glob(filepath.Join(clean, "chunks", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("packs: %v %v", packs, err)
	}
	raw, err := os.ReadFile(packs[0])
	must(t, err)
	found := 0
	for i := 0; i < len(raw); i += 3 {
		bad := bytes.Clone(raw)
		bad[i] ^= 0x40
		must(t, os.WriteFile(packs[0], bad, 0o600))
		if readDamaged(t, clean, content) {
			found++
		}
	}
	if found == 0 {
		t.Fatal("no damage was noticed")
	}
}

// readDamaged opens a damaged data directory and reports whether anything was
// noticed: by opening, by reading or by a scrub.
func readDamaged(t *testing.T, dir string, want []byte) (noticed bool) {
	t.Helper()
	ctx := context.Background()
	d, err := OpenDataDir(ctx, Options{Dir: dir})
	if err != nil {
		return true
	}
	defer d.Close()
	w, err := d.Open("w")
	if err != nil {
		return true
	}
	a := &actor{fs: w, handles: map[int]vfs.Handle{}}
	ino, err := a.walk("f")
	if err == nil {
		var h vfs.Handle
		if h, err = w.Open(rootOp, ino, syscall.O_RDONLY); err == nil {
			defer h.Release(rootOp)
			p := make([]byte, len(want))
			var n int
			if n, err = h.Read(rootOp, p, 0); err == nil && !bytes.Equal(p[:n], want) {
				t.Fatalf("wrong bytes")
			}
		}
	}
	if err != nil && !errors.Is(err, vfs.ErrCorrupt) && !errors.Is(err, chunk.ErrNotFound) {
		t.Fatalf("damage is reported as %v", err)
	}
	bad := 0
	if serr := d.Scrub(ctx, nil, func(string, int64, error) { bad++ }); serr != nil || bad > 0 {
		return true
	}
	return err != nil
}

// TestEqualContentEqualRoot gives two workspaces the same bytes by different
// writes and compares where they are kept (P5).
func TestEqualContentEqualRoot(t *testing.T) {
	x := newTestDataDir(t)
	content := make([]byte, 700000)
	for i := range content {
		content[i] = byte(i * i >> 7)
	}
	var roots []string
	for i, writes := range [][]int{{700000}, {1, 4095, 65536, 100000}, {350000, 1}} {
		w, err := x.d.Create(context.Background(), fmt.Sprintf("w%d", i), 0, 0)
		must(t, err)
		w.replica = 7 // the inode numbers must not differ
		a := &actor{fs: w, handles: map[int]vfs.Handle{}}
		a.do(&step{kind: stepCreate, p: "f", mode: 0o644})
		for k, off := 0, 0; off < len(content); k++ {
			n := min(writes[k%len(writes)], len(content)-off)
			if n == 1 && k > 2000 {
				n = min(65536, len(content)-off)
			}
			a.do(&step{kind: stepWrite, p: "f", off: int64(off), data: content[off : off+n]})
			off += n
			if k%3 == i {
				_, err := w.Checkpoint(context.Background(), CauseCheckpoint, "")
				must(t, err)
			}
		}
		// Some of it is written over and put back, the end is cut and regrown.
		a.do(&step{kind: stepWrite, p: "f", off: 123456, data: make([]byte, 5000*i)})
		_, err = w.Checkpoint(context.Background(), CauseCheckpoint, "")
		must(t, err)
		a.do(&step{kind: stepWrite, p: "f", off: 123456, data: content[123456 : 123456+5000*i]})
		a.do(&step{kind: stepTruncate, p: "f", off: 690000 - int64(i)})
		a.do(&step{kind: stepWrite, p: "f", off: 690000 - int64(i), data: content[690000-i:]})
		_, err = w.Checkpoint(context.Background(), CauseCheckpoint, "")
		must(t, err)
		var extents []string
		lo, hi := inoRange(keyExtent, mustWalk(t, a, "f"))
		must(t, w.layers.base.Scan(context.Background(), lo, hi, func(k, v []byte) bool {
			extents = append(extents, fmt.Sprintf("%x=%x", k, v))
			return true
		}))
		roots = append(roots, strings.Join(extents, "\n"))
	}
	for i := range roots {
		if roots[i] != roots[0] || roots[i] == "" {
			t.Errorf("history %d gives extents\n%s\nhistory 0\n%s", i, roots[i], roots[0])
		}
	}
}

// TestSleeping: what nobody uses is closed, is described without being opened,
// and opens again; what is in use stays.
func TestSleeping(t *testing.T) {
	x := newTestDataDir(t)
	for _, name := range []string{"used", "idle"} {
		w, err := x.d.Create(context.Background(), name, 0, 0)
		must(t, err)
		makeFiles(t, w, 10)
	}
	_, h, err := x.ws("used").Create(rootOp, vfs.RootIno, "held", 0o644, syscall.O_RDWR)
	must(t, err)
	must(t, x.d.CloseIdle(time.Now()))
	for name, open := range map[string]bool{"used": true, "idle": false} {
		s, err := x.d.Peek(name)
		must(t, err)
		if s.Open != open || s.Inodes < 12 {
			t.Errorf("%s: open %v with %d inodes", name, s.Open, s.Inodes)
		}
	}
	if _, err := h.Write(rootOp, []byte("still here"), 0); err != nil {
		t.Errorf("a file of a workspace in use: %v", err)
	}
	h.Release(rootOp)
	if got := len(list(t, x.ws("idle"), vfs.RootIno)); got != 1 {
		t.Errorf("%d names after it was opened again", got)
	}
}

// TestTruncateWhileFrozen cuts files whose bytes a checkpoint is folding: what
// they take must come out the same whichever is first.
func TestTruncateWhileFrozen(t *testing.T) {
	x := newTestDataDir(t)
	w, err := x.d.Create(context.Background(), "w", 0, 0)
	must(t, err)
	a := &actor{fs: w, handles: map[int]vfs.Handle{}}
	for i := range 40 {
		p := fmt.Sprintf("f%d", i)
		a.do(&step{kind: stepCreate, p: p, mode: 0o644})
		a.do(&step{kind: stepWrite, p: p, off: 5000, data: []byte("x")})
		a.do(&step{kind: stepWrite, p: p, off: 20000, data: make([]byte, 300)})
	}
	w.mu.Lock()
	must(t, w.freeze())
	w.mu.Unlock()
	for i := range 40 {
		p := fmt.Sprintf("f%d", i)
		a.do(&step{kind: stepTruncate, p: p, off: int64(i) * 550})
		a.do(&step{kind: stepPunch, p: p, off: 5000, n: int64(1 + i*200)})
	}
	checkBlocks(t, w)
	_, err = w.Checkpoint(context.Background(), CauseCheckpoint, "")
	must(t, err)
	checkBlocks(t, w)
	checkClean(t, w)
	for i := range 40 {
		a.do(&step{kind: stepTruncate, p: fmt.Sprintf("f%d", i)})
	}
	for _, e := range list(t, w, vfs.RootIno) {
		if at, err := w.Getattr(rootOp, e.Ino); err != nil || at.Blocks != 0 {
			t.Errorf("%s: %d blocks once it is empty, %v", e.Name, at.Blocks, err)
		}
	}
	checkClean(t, w)
}

// TestDamagedJournal: the workspace does not open, its snapshots can be read.
func TestDamagedJournal(t *testing.T) {
	ctx := context.Background()
	x := newTestDataDir(t)
	w, err := x.d.Create(ctx, "w", 0, 0)
	must(t, err)
	makeFiles(t, w, 20)
	_, err = w.Snapshot(ctx, "s")
	must(t, err)
	want := dump(t, w, true)
	makeFiles(t, &subdir{FS: w}, 20)
	segments, err := filepath.Glob(filepath.Join(x.dir, "workspaces", "w", "journal", "*", "0*"))
	must(t, err)
	x.kill()
	segments, err = filepath.Glob(filepath.Join(x.dir, "workspaces", "w", "journal", "*", "0*"))
	must(t, err)
	raw, err := os.ReadFile(segments[0])
	must(t, err)
	raw[len(raw)/2] ^= 1
	must(t, os.WriteFile(segments[0], raw, 0o600))
	if _, err := x.d.Open("w"); !errors.Is(err, vfs.ErrCorrupt) {
		t.Fatalf("a damaged journal is opened: %v", err)
	}
	if err := x.d.Verify(ctx, "w"); !errors.Is(err, vfs.ErrCorrupt) {
		t.Errorf("verify: %v", err)
	}
	var files []string
	must(t, x.d.Scrub(ctx, nil, func(file string, _ int64, _ error) { files = append(files, file) }))
	if len(files) != 1 || files[0] != segments[0] {
		t.Errorf("scrub names %v", files)
	}
	v, err := x.d.OpenHead(ctx, "w")
	must(t, err)
	id, err := v.Resolve(ctx, "s")
	must(t, err)
	f, err := x.d.Fork(ctx, v, id, "rescued")
	must(t, err)
	if d := firstDifference(dump(t, f, true), want); d != "" {
		t.Errorf("the fork of its snapshot: %s", d)
	}
}

// subdir makes what is made in the root in a directory of its own.
type subdir struct{ vfs.FS }

func (s *subdir) Mkdir(op *vfs.Op, parent vfs.Ino, name string, mode uint32) (vfs.Attr, error) {
	return s.FS.Mkdir(op, parent, "more-"+name, mode)
}

// TestRestoreLink: a name that comes back belongs to the inode that it had, if
// another name has kept that.
func TestRestoreLink(t *testing.T) {
	ctx := context.Background()
	x := newTestDataDir(t)
	w, err := x.d.Create(ctx, "w", 0, 0)
	must(t, err)
	a := &actor{fs: w, handles: map[int]vfs.Handle{}}
	a.do(&step{kind: stepCreate, p: "f", mode: 0o644})
	a.do(&step{kind: stepLink, p: "f", q: "l"})
	s, err := w.Snapshot(ctx, "s")
	must(t, err)
	a.do(&step{kind: stepUnlink, p: "f"})
	_, err = w.Restore(ctx, s.Commit, "f")
	must(t, err)
	if mustWalk(t, a, "f") != mustWalk(t, a, "l") {
		t.Error("the link was cut")
	}
	checkClean(t, w)
}
