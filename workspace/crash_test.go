package workspace

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/figures"
	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// crashRun drives a workspace on a host that can lose its power, and knows at
// every moment what must survive.
type crashRun struct {
	t     *testing.T
	seed  int64
	r     *rand.Rand
	crash *hostfs.Crash
	d     *DataDir
	w     *Workspace
	log   []string

	states  []string // names and attributes after each acknowledged operation
	durable int      // states before it may not be all that survives
	synced  map[vfs.Ino]*syncedFile
}

// syncedFile is a file that was fsynced: what it held then, and what was
// written since, any part of which may be there too.
type syncedFile struct {
	bytes   []byte
	touched [][2]int64 // ranges written or cut since
	at      int        // the state when it was fsynced
}

func newCrashRun(t *testing.T, seed int64, o hostfs.CrashOptions) *crashRun {
	o.Root, o.Scratch = t.TempDir(), t.TempDir()
	c, err := hostfs.NewCrash(o)
	if err != nil {
		t.Fatal(err)
	}
	x := &crashRun{t: t, seed: seed, r: rand.New(rand.NewSource(seed)), crash: c, synced: map[vfs.Ino]*syncedFile{}}
	if x.d, err = OpenDataDir(context.Background(), Options{FS: c, Dir: o.Root, Log: testLog(t)}); err != nil {
		t.Fatal(err)
	}
	if x.w, err = x.d.Create(context.Background(), "w", 0, 0); err != nil {
		t.Fatal(err)
	}
	x.record()
	x.durable = 0
	return x
}

// names describes everything but bytes and what depends on them.
func namesOnly(t testing.TB, fs vfs.FS) string {
	var out []string
	for _, line := range dump(t, fs, true) {
		line, _, _ = strings.Cut(line, " bytes=")
		var fields []string
		for _, f := range strings.Fields(line) {
			if !strings.HasPrefix(f, "blocks=") {
				fields = append(fields, f)
			}
		}
		out = append(out, strings.Join(fields, " "))
	}
	return strings.Join(out, "\n")
}

func (x *crashRun) record() { x.states = append(x.states, namesOnly(x.t, x.w)) }

func (x *crashRun) step(i int) {
	t, ctx := x.t, context.Background()
	a := &actor{fs: x.w, handles: map[int]vfs.Handle{}}
	switch k := x.r.Intn(24); {
	case k == 0:
		x.log = append(x.log, "checkpoint")
		if _, err := x.w.Checkpoint(ctx, CauseCheckpoint, ""); err != nil {
			t.Fatal(err)
		}
		x.durable = len(x.states) - 1
	case k == 1:
		x.log = append(x.log, "snapshot")
		if _, err := x.w.Snapshot(ctx, fmt.Sprintf("s%d", i)); err != nil {
			t.Fatal(err)
		}
		x.durable = len(x.states) - 1
	case k == 2:
		x.log = append(x.log, "gc")
		if _, err := x.d.GC(ctx, false); err != nil {
			t.Fatal(err)
		}
	case k < 7:
		x.fsyncSome(a)
	default:
		unused := 0
		s := randomStep(x.r, &unused)
		switch s.kind {
		case stepOpen, stepHandleClose, stepHandleRead, stepHandleWrite, stepFsync:
			return
		}
		x.touch(a, s)
		out := a.do(s)
		x.log = append(x.log, fmt.Sprintf("%d %v = %.30q", len(x.states), s, out))
		x.record()
	}
}

// touch notes which bytes of fsynced files a step may change.
func (x *crashRun) touch(a *actor, s *step) {
	lo, hi := s.off, s.off+s.n
	p := s.p
	switch s.kind {
	case stepWrite:
		hi = s.off + int64(len(s.data))
	case stepTruncate, stepZero, stepAllocate:
		hi = vfs.MaxFileSize
	case stepCopy:
		p = s.q
	case stepPunch:
	default:
		return
	}
	if ino, err := a.walk(p); err == nil {
		if f := x.synced[ino]; f != nil {
			f.touched = append(f.touched, [2]int64{lo, hi})
		}
	}
}

func (x *crashRun) fsyncSome(a *actor) {
	s := randomStep(x.r, new(int))
	ino, err := a.walk(s.p)
	if err != nil {
		return
	}
	at, err := x.w.Getattr(rootOp, ino)
	if err != nil || !at.IsRegular() {
		return
	}
	h, err := x.w.Open(rootOp, ino, syscall.O_RDWR)
	if err != nil {
		x.t.Fatal(err)
	}
	defer h.Release(rootOp)
	b := make([]byte, at.Size)
	if _, err := h.Read(rootOp, b, 0); err != nil {
		x.t.Fatal(err)
	}
	x.record() // reading moves the access time
	if err := h.Fsync(rootOp, false); err != nil {
		x.t.Fatal(err)
	}
	x.log = append(x.log, fmt.Sprintf("%d fsync %s", len(x.states), s.p))
	x.durable = len(x.states) - 1
	x.synced[ino] = &syncedFile{bytes: b, at: x.durable}
}

// verify opens what a crash left, and returns what is wrong with it.
func (x *crashRun) verify(dir string) error {
	d, err := OpenDataDir(context.Background(), Options{Dir: dir, Log: testLog(x.t)})
	if err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	defer func() {
		if err := d.Close(); err != nil {
			x.t.Errorf("close after recovery: %v", err)
		}
	}()
	w, err := d.Open("w")
	if err != nil {
		return fmt.Errorf("recovery: %w", err)
	}
	got := namesOnly(x.t, w)
	found := -1
	for k := len(x.states) - 1; k >= 0; k-- {
		if x.states[k] == got {
			found = k
			break
		}
	}
	if found < x.durable {
		return fmt.Errorf("names are those after operation %d, durable were %d of %d\ngot:\n%s\nwant at least:\n%s",
			found, x.durable, len(x.states)-1, got, x.states[x.durable])
	}
	for ino, f := range x.synced {
		if err := f.verify(w, ino); err != nil {
			return err
		}
	}
	report, err := w.Check(context.Background(), nil, func(p Problem) { x.t.Errorf("check: inode %d %s", p.Ino, p.What) })
	if err == nil && report.Problems > 0 {
		err = fmt.Errorf("check: %d problems", report.Problems)
	}
	return err
}

func (f *syncedFile) verify(w *Workspace, ino vfs.Ino) error {
	a, err := w.Getattr(rootOp, ino)
	if err != nil {
		return nil // removed later; names were compared
	}
	h, err := w.Open(rootOp, ino, syscall.O_RDONLY)
	if err != nil {
		return err
	}
	defer h.Release(rootOp)
	b := make([]byte, a.Size)
	if _, err := h.Read(rootOp, b, 0); err != nil {
		return fmt.Errorf("read: %w", err)
	}
	n := min(len(b), len(f.bytes))
	got, want := bytes.Clone(b[:n]), bytes.Clone(f.bytes[:n])
	for _, r := range f.touched {
		if lo, hi := min(r[0], int64(n)), min(r[1], int64(n)); lo < hi {
			clear(got[lo:hi])
			clear(want[lo:hi])
		}
	}
	if !bytes.Equal(got, want) {
		for i := range got {
			if got[i] != want[i] {
				return fmt.Errorf("inode %d: byte %d is %d, fsynced was %d (of %d; touched since: %v)", ino, i, got[i], want[i], len(f.bytes), f.touched)
			}
		}
	}
	return nil
}

// TestCrash cuts the power at random moments of random histories (P1, P2, P3).
func TestCrash(t *testing.T) {
	seeds := 8
	if os.Getenv("VFSD_SOAK") != "" {
		seeds = 400
	}
	var cuts atomic.Int64
	t.Cleanup(func() { // the histories run in parallel and have ended now
		figures.Note(t, "crash model under a workspace", figures.Count{What: "power cuts and kills", N: cuts.Load()}, figures.Count{What: "losses", N: 0})
	})
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			x := newCrashRun(t, int64(seed), hostfs.CrashOptions{StrictNames: seed%2 == 1})
			defer x.close()
			for i := range 120 {
				x.step(i)
				if x.r.Intn(12) == 0 {
					x.cut()
					cuts.Add(1)
				}
			}
		})
	}
}

func (x *crashRun) close() {
	if err := x.d.Close(); err != nil {
		x.t.Errorf("close: %v", err)
	}
}

func (x *crashRun) cut() {
	x.t.Helper()
	kill := x.r.Intn(4) == 0
	var dir string
	var err error
	if kill {
		dir, err = x.crash.Kill()
	} else {
		dir, err = x.crash.PowerCut(x.r.Uint64())
	}
	if err != nil {
		x.t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	old := x.durable
	if kill {
		x.durable = len(x.states) - 1 // P1: all that was acknowledged
	}
	if err := x.verify(dir); err != nil {
		x.t.Fatalf("seed %d, kill %v: %v\nhistory:\n%s", x.seed, kill, err, strings.Join(x.log, "\n"))
	}
	x.durable = old
}

// TestCrashLying is the negative control: on a disk that ignores flushes the
// same histories must lose something.
func TestCrashLying(t *testing.T) {
	for seed := range 20 {
		x := newCrashRun(t, int64(seed), hostfs.CrashOptions{Lying: true})
		for i := range 60 {
			x.step(i)
		}
		dir, err := x.crash.LoseUnsynced()
		if err != nil {
			t.Fatal(err)
		}
		err = x.verify(dir)
		x.close()
		if err != nil {
			return
		}
	}
	t.Fatal("nothing was lost on a disk that ignores flushes")
}
