package workspace

import (
	"context"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// makeFiles makes n small files, 200 a directory.
func makeFiles(t testing.TB, fs vfs.FS, n int) {
	t.Helper()
	var dir vfs.Ino
	for i := range n {
		if i%200 == 0 {
			a, err := fs.Mkdir(rootOp, vfs.RootIno, fmt.Sprintf("d%d", i/200), 0o755)
			must(t, err)
			dir = a.Ino
		}
		_, h, err := fs.Create(rootOp, dir, fmt.Sprintf("file%d.txt", i), 0o644, syscall.O_WRONLY)
		must(t, err)
		_, err = h.Write(rootOp, fmt.Appendf(nil, "the content of file %d, which is not the same in any two", i), 0)
		must(t, err)
		h.Release(rootOp)
	}
}

// TestForkSharesEverything forks a workspace: the fork has all of it, neither
// sees what becomes of the other, and nothing but a head and a commit is
// written.
func TestForkSharesEverything(t *testing.T) {
	ctx := context.Background()
	x := newTestDataDir(t)
	w, err := x.d.Create(ctx, "w", 0, 0)
	must(t, err)
	makeFiles(t, w, 1000)
	_, err = w.Snapshot(ctx, "s")
	must(t, err)
	before := x.d.chunks.Stats().Chunks
	f, err := x.d.Fork(ctx, w, chunk.ID{}, "f")
	must(t, err)
	if after := x.d.chunks.Stats().Chunks; after > before+1 {
		t.Errorf("a fork stored %d chunks", after-before)
	}
	if d := firstDifference(dump(t, f, true), dump(t, w, true)); d != "" {
		t.Fatalf("the fork differs: %s", d)
	}
	want := dump(t, w, true)
	a := &actor{fs: f, handles: map[int]vfs.Handle{}}
	a.do(&step{kind: stepUnlink, p: "d0/file0.txt"})
	a.do(&step{kind: stepWrite, p: "d0/file1.txt", data: []byte("changed")})
	if d := firstDifference(dump(t, w, true), want); d != "" {
		t.Fatalf("a change of the fork shows in the original: %s", d)
	}
	checkClean(t, f)
	checkClean(t, w)
}

// BenchmarkScale prints what opening, forking and a snapshot cost with many
// files; run with -benchtime 1x.
func BenchmarkScale(b *testing.B) {
	for _, n := range []int{10_000, 200_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			ctx := context.Background()
			x := newTestDataDir(b)
			w, err := x.d.Create(ctx, "w", 0, 0)
			must(b, err)
			start := time.Now()
			makeFiles(b, w, n)
			b.ReportMetric(float64(time.Since(start).Nanoseconds())/float64(n), "ns/file")
			start = time.Now()
			_, err = w.Checkpoint(ctx, CauseCheckpoint, "")
			must(b, err)
			b.ReportMetric(float64(time.Since(start).Milliseconds()), "checkpoint-ms")
			must(b, x.d.Close())
			x.open()
			start = time.Now()
			w = x.ws("w")
			_, err = w.Lookup(rootOp, vfs.RootIno, "d7")
			must(b, err)
			b.ReportMetric(float64(time.Since(start).Microseconds()), "open-us")
			start = time.Now()
			_, err = x.d.Fork(ctx, w, chunk.ID{}, "f")
			must(b, err)
			b.ReportMetric(float64(time.Since(start).Microseconds()), "fork-us")
			a := &actor{fs: w, handles: map[int]vfs.Handle{}}
			a.do(&step{kind: stepUnlink, p: "d1/file200.txt"})
			start = time.Now()
			_, err = w.Snapshot(ctx, "s")
			must(b, err)
			b.ReportMetric(float64(time.Since(start).Microseconds()), "snapshot-us")
		})
	}
}

// TestReadingForgets reads a workspace of more files than the cache of inodes
// holds, and changes nothing: a listing leaves the cache alone, and lookups make
// it trim itself.
func TestReadingForgets(t *testing.T) {
	ctx := context.Background()
	x := newTestDataDir(t)
	w, err := x.d.Create(ctx, "w", 0, 0)
	must(t, err)
	const more = cachedInodes + 5000
	makeFiles(t, w, more)
	_, err = w.Checkpoint(ctx, CauseCheckpoint, "")
	must(t, err)
	before := w.Stats().CachedInodes
	if before > cachedInodes {
		t.Errorf("%d inodes stay cached after a checkpoint, want at most %d", before, cachedInodes)
	}
	h, err := w.OpenDir(rootOp, vfs.RootIno)
	must(t, err)
	defer h.Release(rootOp)
	dirs := map[string]vfs.Ino{}
	must(t, h.ReadDir(rootOp, 0, true, func(e *vfs.DirEntry) bool {
		dirs[e.Name] = e.Ino
		return true
	}))
	listed := 0
	for _, ino := range dirs {
		d, err := w.OpenDir(rootOp, ino)
		must(t, err)
		must(t, d.ReadDir(rootOp, 0, true, func(e *vfs.DirEntry) bool {
			if e.Attr.Size == 0 {
				t.Errorf("%s is listed without a size", e.Name)
			}
			listed++
			return true
		}))
		d.Release(rootOp)
	}
	if after := w.Stats().CachedInodes; listed != more || after > before+len(dirs)+1 {
		t.Errorf("listing %d of %d files took the cache of inodes from %d to %d", listed, more, before, after)
	}
	for i := range more {
		_, err := w.Lookup(rootOp, dirs[fmt.Sprintf("d%d", i/200)], fmt.Sprintf("file%d.txt", i))
		must(t, err)
	}
	for deadline := time.Now().Add(10 * time.Second); w.Stats().CachedInodes > cachedInodes; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d inodes stay cached, want at most %d", w.Stats().CachedInodes, cachedInodes)
		}
	}
}

// TestPacedCheckpoint stages bytes, and has a checkpoint that nobody waits for
// commit them, and one that somebody waits for end it early: both commit the
// same, and neither blocks the other.
func TestPacedCheckpoint(t *testing.T) {
	ctx := context.Background()
	x := newTestDataDir(t)
	w, err := x.d.Create(ctx, "w", 0, 0)
	must(t, err)
	for round := range 3 {
		makeLarge(t, w, fmt.Sprintf("large%d", round), 4<<20)
		done := make(chan error, 1)
		go func() {
			_, err := w.CheckpointPaced(ctx)
			done <- err
		}()
		if round > 0 {
			_, err := w.Checkpoint(ctx, CauseCheckpoint, "")
			must(t, err)
		}
		must(t, <-done)
		if st := w.Stats(); st.StagedBytes != 0 || st.Dirty {
			t.Errorf("round %d: %d bytes stay staged, dirty %t", round, st.StagedBytes, st.Dirty)
		}
		if n := w.hurried.Load(); n != 0 {
			t.Errorf("round %d: %d still hurry", round, n)
		}
	}
	checkClean(t, w)
}

// makeLarge makes a file of n bytes that do not repeat.
func makeLarge(t testing.TB, fs vfs.FS, name string, n int) {
	t.Helper()
	_, h, err := fs.Create(rootOp, vfs.RootIno, name, 0o644, syscall.O_WRONLY)
	must(t, err)
	defer h.Release(rootOp)
	r, p := rand.New(rand.NewPCG(1, uint64(n))), make([]byte, 256<<10)
	for off := 0; off < n; off += len(p) {
		for i := range p {
			p[i] = byte(r.Uint32())
		}
		_, err := h.Write(rootOp, p, int64(off))
		must(t, err)
	}
}
