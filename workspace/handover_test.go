package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/vfs"
)

// handOver hands the data directory over and goes on with it; the process that
// had it is dead when lost is set, so that nothing of it but the files and the
// state is there. open gets the file system of before and returns what opens
// everything again.
func (x *testDataDir) handOver(lost bool, export func(*browser) func(*browser)) *browser {
	x.t.Helper()
	imports := export(x.ws("w").Browse().(*browser))
	h, err := x.d.HandOver()
	must(x.t, err)
	if lost {
		dir := x.t.TempDir()
		copyTree(x.t, x.dir, dir)
		must(x.t, h.Lock.Close())
		x.dir, h.Lock = dir, nil
	}
	x.d, err = OpenDataDir(context.Background(), Options{Dir: x.dir, Log: testLog(x.t), Handover: h})
	must(x.t, err)
	b := x.ws("w").Browse().(*browser)
	imports(b)
	x.d.DropUnheld()
	return b
}

// carry hands the files that an actor has open over.
func (a *actor) carry(t *testing.T) func(*browser) func(*browser) {
	return func(from *browser) func(*browser) {
		states := map[int][]byte{}
		for id, h := range a.handles {
			var err error
			states[id], err = from.ExportHandle(h)
			must(t, err)
		}
		return func(to *browser) {
			a.fs = to.Workspace
			for id, s := range states {
				var err error
				a.handles[id], err = to.ImportHandle(s)
				must(t, err)
			}
		}
	}
}

// TestHandoverModel does random operations to a workspace and to a model of
// one, and hands the workspace over time and again: open files, also those that
// have no name, go on as if nothing had happened.
func TestHandoverModel(t *testing.T) {
	seeds, steps := 6, 400
	if os.Getenv("VFSD_SOAK") != "" {
		seeds, steps = 200, 1500
	}
	var handovers, orphans atomic.Int64
	t.Run("seeds", func(t *testing.T) {
		for seed := range seeds {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				runHandoverModel(t, int64(seed), steps, &handovers, &orphans)
			})
		}
	})
	if handovers.Load() == 0 || orphans.Load() == 0 {
		t.Errorf("%d handovers with %d files without a name try nothing", handovers.Load(), orphans.Load())
	}
}

func runHandoverModel(t *testing.T, seed int64, steps int, handovers, orphans *atomic.Int64) {
	r := rand.New(rand.NewSource(seed))
	x := newTestDataDir(t)
	_, err := x.d.Create(t.Context(), "w", 0, 0)
	must(t, err)
	ours := &actor{fs: x.ws("w"), handles: map[int]vfs.Handle{}}
	model := &actor{fs: memfs.New(), handles: map[int]vfs.Handle{}}
	var log []string
	next := 0
	for i := range steps {
		if r.Intn(25) == 0 {
			lost := r.Intn(2) == 0
			log = append(log, fmt.Sprintf("%d handover, lost %v", i, lost))
			orphans.Add(int64(x.ws("w").Stats().Orphans))
			x.handOver(lost, ours.carry(t))
			handovers.Add(1)
			if d := firstDifference(dump(t, ours.fs, false), dump(t, model.fs, false)); d != "" {
				t.Fatalf("seed %d: trees differ: %s\n%s", seed, d, strings.Join(log, "\n"))
			}
			continue
		}
		if r.Intn(40) == 0 {
			_, err := x.ws("w").Checkpoint(t.Context(), CauseCheckpoint, "")
			must(t, err)
			log = append(log, fmt.Sprintf("%d checkpoint", i))
		}
		s := randomStep(r, &next)
		log = append(log, fmt.Sprintf("%d %s", i, s))
		if got, want := ours.do(s), model.do(s); got != want {
			t.Fatalf("seed %d: got %s, want %s\n%s", seed, got, want, strings.Join(log, "\n"))
		}
	}
	for _, h := range ours.handles {
		h.Release(rootOp)
	}
	w := x.ws("w")
	checkBlocks(t, w)
	if n := w.Stats().Orphans; n != 0 {
		t.Errorf("%d files without a name are left though nobody has them open", n)
	}
	_, err = w.Checkpoint(t.Context(), CauseCheckpoint, "")
	must(t, err)
	checkClean(t, w)
	if left, err := os.ReadDir(stagingDir(w.dir)); err != nil || len(left) > 0 {
		t.Errorf("staging files are left: %v, %v", left, err)
	}
}

// TestHandoverOrphans: each way in which a file without a name keeps its bytes
// survives, and so do its attributes; its number is not used again.
func TestHandoverOrphans(t *testing.T) {
	x := newTestDataDir(t)
	w, err := x.d.Create(t.Context(), "w", 0, 0)
	must(t, err)
	a := &actor{fs: w, handles: map[int]vfs.Handle{}}
	contents := [][]byte{
		[]byte("inline"), bytes.Repeat([]byte("one chunk "), 3000),
		make([]byte, 3<<20), {},
	}
	rand.New(rand.NewSource(1)).Read(contents[2])
	open := func(name string) vfs.Handle {
		h, err := w.Open(rootOp, mustWalk(t, a, name), syscall.O_RDWR)
		must(t, err)
		return h
	}
	for i, c := range contents {
		_, h, err := w.Create(rootOp, vfs.RootIno, fmt.Sprint(i), 0o640, syscall.O_RDWR)
		must(t, err)
		_, err = h.Write(rootOp, c, 0)
		must(t, err)
		must(t, w.Setxattr(rootOp, h.Ino(), "user.x", []byte(fmt.Sprint(i)), 0))
		h.Release(rootOp)
	}
	_, err = w.Checkpoint(t.Context(), CauseCheckpoint, "")
	must(t, err)
	for i := range contents {
		a.handles[i] = open(fmt.Sprint(i))
		must(t, w.Unlink(rootOp, vfs.RootIno, fmt.Sprint(i)))
	}
	// Staged bytes over chunks, a hole, reserved space.
	for off, p := range map[int64]string{10: "written without a name", 1 << 20: "and further on"} {
		_, err := a.handles[2].Write(rootOp, []byte(p), off)
		must(t, err)
		copy(contents[2][off:], p)
	}
	must(t, a.handles[2].Fallocate(rootOp, 3, 2<<20, 8192)) // punch, keep size
	clear(contents[2][2<<20 : 2<<20+8192])
	must(t, a.handles[3].Fallocate(rootOp, 1, 0, 1<<20)) // keep size
	_, tmp, err := w.Tmpfile(rootOp, vfs.RootIno, 0o600, syscall.O_RDWR)
	must(t, err)
	_, err = tmp.Write(rootOp, []byte("made without a name"), 0)
	must(t, err)
	a.handles[4] = tmp
	contents = append(contents, []byte("made without a name"))
	newest := tmp.Ino()
	before := make([]vfs.Attr, len(contents))
	for i := range contents {
		before[i], err = w.Getattr(rootOp, a.handles[i].Ino())
		must(t, err)
	}
	for _, lost := range []bool{false, true} {
		b := x.handOver(lost, a.carry(t))
		for i, want := range contents {
			h := a.handles[i]
			got := make([]byte, len(want)+1)
			n, err := h.Read(&vfs.Op{}, got, 0)
			if err != nil || !bytes.Equal(got[:n], want) {
				t.Errorf("file %d: %d bytes that are not what was written, %v", i, n, err)
			}
			attr, err := b.Getattr(rootOp, h.Ino())
			attr.Atime = before[i].Atime
			if err != nil || attr != before[i] {
				t.Errorf("file %d: attributes %+v, want %+v, %v", i, attr, before[i], err)
			}
			if i < 4 {
				if v, err := b.Getxattr(rootOp, h.Ino(), "user.x"); err != nil || string(v) != fmt.Sprint(i) {
					t.Errorf("file %d: attribute %q, %v", i, v, err)
				}
			}
		}
		at, err := b.Mkdir(rootOp, vfs.RootIno, fmt.Sprint("later", lost), 0o700)
		if err != nil || at.Ino <= newest {
			t.Errorf("inode number %d after %d, %v", at.Ino, newest, err)
		}
		newest = at.Ino
	}
	w = x.ws("w")
	if _, err := w.Link(rootOp, a.handles[4].Ino(), vfs.RootIno, "named"); err != nil {
		t.Errorf("a file made without a name gets none: %v", err)
	}
	if _, err := w.Link(rootOp, a.handles[0].Ino(), vfs.RootIno, "again"); !errors.Is(err, syscall.ENOENT) {
		t.Errorf("a file that was removed gets a name: %v", err)
	}
	x.kill() // what has a name is as durable as ever, the rest is gone
	w = x.ws("w")
	a.fs = w
	h, err := w.Open(rootOp, mustWalk(t, a, "named"), syscall.O_RDONLY)
	must(t, err)
	got := make([]byte, 100)
	if n, err := h.Read(rootOp, got, 0); err != nil || string(got[:n]) != "made without a name" {
		t.Errorf("%q, %v", got[:n], err)
	}
	h.Release(rootOp)
	if n := w.Stats().Orphans; n != 0 {
		t.Errorf("%d files without a name after a kill", n)
	}
}

// TestHandoverHandles: what a handle knows of its own goes along.
func TestHandoverHandles(t *testing.T) {
	x := newTestDataDir(t)
	w, err := x.d.Create(t.Context(), "w", 0, 0)
	must(t, err)
	_, rw, err := w.Create(rootOp, vfs.RootIno, "f", 0o600, syscall.O_RDWR)
	must(t, err)
	appends, err := w.Open(rootOp, rw.Ino(), syscall.O_WRONLY|syscall.O_APPEND)
	must(t, err)
	reads, err := w.Open(rootOp, rw.Ino(), syscall.O_RDONLY)
	must(t, err)
	rw.(*handle).syncErr = errors.New("the disk failed")
	_, err = rw.Write(rootOp, []byte("12345"), 0)
	must(t, err)
	a := &actor{fs: w, handles: map[int]vfs.Handle{0: rw, 1: appends, 2: reads}}
	x.handOver(false, a.carry(t))
	if _, err := a.handles[1].Write(rootOp, []byte("6"), 0); err != nil {
		t.Error(err)
	}
	got := make([]byte, 10)
	if n, err := a.handles[2].Read(rootOp, got, 0); err != nil || string(got[:n]) != "123456" {
		t.Errorf("%q, %v", got[:n], err)
	}
	if _, err := a.handles[2].Write(rootOp, got, 0); !errors.Is(err, syscall.EBADF) {
		t.Errorf("a write to a file that is open for reading: %v", err)
	}
	if err := a.handles[0].Fsync(rootOp, false); err == nil || !strings.Contains(err.Error(), "the disk failed") {
		t.Errorf("an fsync after one that failed: %v", err)
	}
	for _, h := range a.handles {
		h.Release(rootOp)
	}
}

// TestHandoverListing: a listing that has begun goes on where it was, and its
// positions stay good.
func TestHandoverListing(t *testing.T) {
	x := newTestDataDir(t)
	w, err := x.d.Create(t.Context(), "w", 0, 0)
	must(t, err)
	for i := range 100 {
		_, err := w.Mkdir(rootOp, vfs.RootIno, fmt.Sprintf("%03d", i), 0o700)
		must(t, err)
	}
	d, err := w.OpenDir(rootOp, vfs.RootIno)
	must(t, err)
	fresh, err := w.OpenDir(rootOp, vfs.RootIno)
	must(t, err)
	var names []string
	var cookies []uint64
	read := func(d vfs.DirHandle, cookie uint64, most int) []string {
		t.Helper()
		names, cookies = nil, nil
		must(t, d.ReadDir(rootOp, cookie, true, func(e *vfs.DirEntry) bool {
			names, cookies = append(names, e.Name), append(cookies, e.Cookie)
			return len(names) < most
		}))
		return names
	}
	first := read(d, 0, 40)
	back := cookies[9]
	last := cookies[39]
	b := x.handOver(true, func(from *browser) func(*browser) {
		s1, err1 := from.ExportDir(d)
		s2, err2 := from.ExportDir(fresh)
		must(t, errors.Join(err1, err2))
		return func(to *browser) {
			d, err1 = to.ImportDir(s1)
			fresh, err2 = to.ImportDir(s2)
			must(t, errors.Join(err1, err2))
		}
	})
	must(t, b.Rmdir(rootOp, vfs.RootIno, "020"))
	must(t, b.Rmdir(rootOp, vfs.RootIno, "070"))
	_, err = b.Mkdir(rootOp, vfs.RootIno, "0005", 0o700)
	must(t, err)
	rest := slices.Clone(read(d, last, 1000))
	all := append(slices.Clone(first), rest...)
	for i := range 100 {
		name := fmt.Sprintf("%03d", i)
		want := 1
		if name == "070" {
			want = 0
		}
		if got := len(all) - len(slices.DeleteFunc(slices.Clone(all), func(n string) bool { return n == name })); got != want {
			t.Errorf("%s was listed %d times, want %d", name, got, want)
		}
	}
	if again := read(d, back, 11); again[0] != "010" || slices.Contains(again, "020") || again[10] != "021" {
		t.Errorf("gone back to after the tenth name: %v", again)
	}
	if n := len(read(fresh, 0, 1000)); n != 99 {
		t.Errorf("a listing begun afterwards has %d names", n)
	}
	d.Release(rootOp)
	fresh.Release(rootOp)
}

// TestHandoverView: what is open below .vfsd stays open.
func TestHandoverView(t *testing.T) {
	x := newTestDataDir(t)
	w, err := x.d.Create(t.Context(), "w", 0, 0)
	must(t, err)
	_, h, err := w.Create(rootOp, vfs.RootIno, "f", 0o600, syscall.O_RDWR)
	must(t, err)
	_, err = h.Write(rootOp, []byte("old"), 0)
	must(t, err)
	_, err = w.Snapshot(t.Context(), "s")
	must(t, err)
	_, err = h.Write(rootOp, []byte("new"), 0)
	must(t, err)
	h.Release(rootOp)
	b := w.Browse().(*browser)
	a := &actor{fs: b}
	f, err := b.Open(rootOp, mustWalk(t, a, ".vfsd/snapshots/s/f"), syscall.O_RDONLY)
	must(t, err)
	d, err := b.OpenDir(rootOp, mustWalk(t, a, ".vfsd/snapshots/s"))
	must(t, err)
	v, err := b.OpenDir(rootOp, mustWalk(t, a, ".vfsd/snapshots"))
	must(t, err)
	to := x.handOver(true, func(*browser) func(*browser) {
		view := b.ExportView()
		s1, err1 := b.ExportHandle(f)
		s2, err2 := b.ExportDir(d)
		s3, err3 := b.ExportDir(v)
		must(t, errors.Join(err1, err2, err3))
		return func(to *browser) {
			must(t, to.ImportView(view))
			f, err1 = to.ImportHandle(s1)
			d, err2 = to.ImportDir(s2)
			v, err3 = to.ImportDir(s3)
			must(t, errors.Join(err1, err2, err3))
		}
	})
	got := make([]byte, 10)
	if n, err := f.Read(rootOp, got, 0); err != nil || string(got[:n]) != "old" {
		t.Errorf("%q, %v", got[:n], err)
	}
	if ino := mustWalk(t, &actor{fs: to}, ".vfsd/snapshots/s/f"); ino != f.Ino() {
		t.Errorf("the same file is inode %d now, and was %d", ino, f.Ino())
	}
	for _, dir := range []vfs.DirHandle{d, v} {
		n := 0
		err := dir.ReadDir(rootOp, 0, true, func(e *vfs.DirEntry) bool { n++; return true })
		if err != nil || n != 1 {
			t.Errorf("directory %d has %d entries, %v", dir.Ino(), n, err)
		}
	}
}

// TestHandoverRefused: a disk that failed is seen to first, and the directory
// stays open.
func TestHandoverRefused(t *testing.T) {
	x := newTestDataDir(t)
	w, err := x.d.Create(t.Context(), "w", 0, 0)
	must(t, err)
	_, h, err := w.Create(rootOp, vfs.RootIno, "f", 0o600, syscall.O_RDWR)
	must(t, err)
	_, err = h.Write(rootOp, []byte("x"), 0)
	must(t, err)
	h.Release(rootOp)
	for _, f := range w.staging.files {
		f.syncFail = errors.New("the disk failed")
	}
	if _, err := x.d.HandOver(); !errors.Is(err, ErrUnwell) {
		t.Errorf("%v", err)
	}
	if _, err := w.Checkpoint(t.Context(), CauseCheckpoint, ""); err != nil {
		t.Error(err)
	}
	x.handOver(false, func(*browser) func(*browser) { return func(*browser) {} })
}

func FuzzHandover(f *testing.F) {
	x := newTestDataDir(f)
	w, err := x.d.Create(f.Context(), "w", 0, 0)
	must(f, err)
	_, h, err := w.Tmpfile(rootOp, vfs.RootIno, 0o600, syscall.O_RDWR)
	must(f, err)
	_, err = h.Write(rootOp, []byte("bytes"), 4096)
	must(f, err)
	must(f, h.Fallocate(rootOp, 1, 0, 4096))
	must(f, w.Setxattr(rootOp, h.Ino(), "user.x", []byte("value"), 0))
	state, err := w.export()
	must(f, err)
	f.Add(state)
	h.Release(rootOp)
	state, err = w.export()
	must(f, err)
	f.Add(state)
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := decodeInheritance(b)
		if err != nil {
			if !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("%v is no corruption", err)
			}
			return
		}
		for i := range h.orphans {
			end := int64(0)
			for j := range h.orphans[i].pieces {
				p := &h.orphans[i].pieces[j].p
				if p.off < end || p.len <= 0 || p.end() > vfs.MaxFileSize {
					t.Fatalf("extent [%d, %d) after %d", p.off, p.end(), end)
				}
				end = p.end()
			}
		}
	})
}

// FuzzHandoverOpen feeds the states of handles, directories and views, each its
// own, to whoever takes them in.
func FuzzHandoverOpen(f *testing.F) {
	x := newTestDataDir(f)
	w, err := x.d.Create(f.Context(), "w", 0, 0)
	must(f, err)
	_, h, err := w.Create(rootOp, vfs.RootIno, "f", 0o600, syscall.O_RDWR)
	must(f, err)
	_, err = w.Snapshot(f.Context(), "s")
	must(f, err)
	b := w.Browse().(*browser)
	d, err := b.OpenDir(rootOp, mustWalk(f, &actor{fs: b}, ".vfsd/snapshots/s"))
	must(f, err)
	must(f, d.ReadDir(rootOp, 0, false, func(*vfs.DirEntry) bool { return true }))
	one, err1 := b.ExportHandle(h)
	two, err2 := b.ExportDir(d)
	must(f, errors.Join(err1, err2))
	f.Add(one, two, b.ExportView())
	f.Fuzz(func(t *testing.T, one, two, three []byte) {
		b := w.Browse().(*browser)
		_ = b.ImportView(three) // may be refused, as the others may
		if h, err := b.ImportHandle(one); err == nil {
			h.Release(rootOp)
		}
		if d, err := b.ImportDir(two); err == nil {
			_ = d.ReadDir(rootOp, 0, true, func(*vfs.DirEntry) bool { return true })
			d.Release(rootOp)
		}
	})
}
