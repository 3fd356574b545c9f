package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/rand"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/vfs"
)

var rootOp = &vfs.Op{}

// testDataDir is a data directory that a test may kill and open again.
type testDataDir struct {
	t   testing.TB
	dir string
	d   *DataDir
}

func newTestDataDir(t testing.TB) *testDataDir {
	x := &testDataDir{t: t, dir: t.TempDir()}
	x.open()
	t.Cleanup(func() {
		if err := x.d.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return x
}

func (x *testDataDir) open() {
	x.t.Helper()
	d, err := OpenDataDir(context.Background(), Options{Dir: x.dir, Log: testLog(x.t)})
	if err != nil {
		x.t.Fatal(err)
	}
	x.d = d
}

// kill goes on with the files as kill -9 would leave them: what the process had
// in memory only is gone.
func (x *testDataDir) kill() {
	x.t.Helper()
	old := x.d
	dir := x.t.TempDir()
	copyTree(x.t, x.dir, dir)
	x.dir = dir
	x.open()
	if err := old.Close(); err != nil {
		x.t.Fatal(err)
	}
}

// copyTree copies files as they are now, but for the space that is only
// reserved.
func copyTree(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(p string, e fs.DirEntry, err error) error {
		rel, rerr := filepath.Rel(from, p)
		if err != nil || rerr != nil {
			return errors.Join(err, rerr)
		}
		switch {
		case e.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o700)
		case e.Name() == "RESERVE":
			return nil
		}
		b, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (x *testDataDir) ws(name string) *Workspace {
	x.t.Helper()
	w, err := x.d.Open(name)
	if err != nil {
		x.t.Fatal(err)
	}
	return w
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

func testLog(t testing.TB) *slog.Logger {
	if os.Getenv("VFSD_TEST_LOG") == "" {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(testWriter{t}, nil))
}

// actor does the same operations to a file system by path.
type actor struct {
	fs      vfs.FS
	handles map[int]vfs.Handle
}

func (a *actor) walk(p string) (vfs.Ino, error) {
	ino := vfs.RootIno
	for _, name := range strings.Split(p, "/") {
		if name == "" {
			continue
		}
		at, err := a.fs.Lookup(rootOp, ino, name)
		if err != nil {
			return 0, err
		}
		ino = at.Ino
	}
	return ino, nil
}

func (a *actor) parent(p string) (vfs.Ino, string, error) {
	dir, name := path.Split(p)
	ino, err := a.walk(dir)
	return ino, name, err
}

// step is one random operation, decided once and done to both sides.
type step struct {
	kind     int
	p, q     string
	off, n   int64
	mode     uint32
	flags    int
	data     []byte
	id       int
	describe string
}

func (s *step) String() string {
	return fmt.Sprintf("%s %s %s off=%d n=%d mode=%o id=%d len=%d", stepNames[s.kind], s.p, s.q, s.off, s.n, s.mode, s.id, len(s.data))
}

const (
	stepCreate = iota
	stepMkdir
	stepSymlink
	stepLink
	stepUnlink
	stepRmdir
	stepRename
	stepExchange
	stepWrite
	stepTruncate
	stepChmod
	stepUtimes
	stepSetxattr
	stepRemovexattr
	stepPunch
	stepAllocate
	stepZero
	stepCopy
	stepOpen
	stepHandleWrite
	stepHandleRead
	stepHandleClose
	stepFsync
	stepTmpfile
	stepKinds
)

var stepNames = [...]string{"create", "mkdir", "symlink", "link", "unlink", "rmdir", "rename", "exchange", "write",
	"truncate", "chmod", "utimes", "setxattr", "removexattr", "punch", "allocate", "zero", "copy", "open",
	"hwrite", "hread", "hclose", "fsync", "tmpfile"}

func randomStep(r *rand.Rand, next *int) *step {
	name := func() string {
		depth := 1 + r.Intn(3)
		parts := make([]string, depth)
		for i := range parts {
			parts[i] = string(rune('a' + r.Intn(4)))
		}
		return strings.Join(parts, "/")
	}
	size := func() int64 {
		switch r.Intn(6) {
		case 0:
			return int64(r.Intn(130))
		case 1:
			return int64(r.Intn(5)) * 4096
		case 2:
			return int64(r.Intn(70000))
		case 3:
			return 64<<10 + int64(r.Intn(3)) - 1
		}
		return int64(r.Intn(400000))
	}
	s := &step{kind: r.Intn(int(stepKinds)), p: name(), q: name(), off: size(), n: 1 + size(),
		mode: uint32(r.Intn(0o10000)), id: r.Intn(6)}
	switch s.kind {
	case stepWrite, stepHandleWrite, stepTmpfile:
		s.data = make([]byte, s.n%200000)
		if r.Intn(3) > 0 {
			r.Read(s.data)
		}
	case stepSetxattr:
		s.data = make([]byte, r.Intn(6000))
		r.Read(s.data)
	}
	if s.kind == stepOpen {
		*next++
	}
	return s
}

// do performs a step and returns what it showed: an errno or bytes.
func (a *actor) do(s *step) string {
	var err error
	var out []byte
	switch s.kind {
	case stepCreate:
		err = a.in(s.p, func(dir vfs.Ino, name string) error {
			_, h, err := a.fs.Create(rootOp, dir, name, s.mode, syscall.O_RDWR)
			if err == nil {
				h.Release(rootOp)
			}
			return err
		})
	case stepMkdir:
		err = a.in(s.p, func(dir vfs.Ino, name string) error {
			_, err := a.fs.Mkdir(rootOp, dir, name, s.mode)
			return err
		})
	case stepSymlink:
		err = a.in(s.p, func(dir vfs.Ino, name string) error {
			_, err := a.fs.Symlink(rootOp, dir, name, s.q)
			return err
		})
	case stepLink:
		err = a.on(s.p, func(ino vfs.Ino) error {
			return a.in(s.q, func(dir vfs.Ino, name string) error {
				_, err := a.fs.Link(rootOp, ino, dir, name)
				return err
			})
		})
	case stepUnlink:
		err = a.in(s.p, func(dir vfs.Ino, name string) error { return a.fs.Unlink(rootOp, dir, name) })
	case stepRmdir:
		err = a.in(s.p, func(dir vfs.Ino, name string) error { return a.fs.Rmdir(rootOp, dir, name) })
	case stepRename, stepExchange:
		flags := uint32(0)
		if s.kind == stepExchange {
			flags = vfs.RenameExchange
		} else if s.n%5 == 0 {
			flags = vfs.RenameNoReplace
		}
		err = a.in(s.p, func(dir vfs.Ino, name string) error {
			return a.in(s.q, func(dir2 vfs.Ino, name2 string) error {
				return a.fs.Rename(rootOp, dir, name, dir2, name2, flags)
			})
		})
	case stepTruncate:
		err = a.on(s.p, func(ino vfs.Ino) error {
			_, err := a.fs.Setattr(rootOp, ino, &vfs.SetAttr{Mask: vfs.SetSize, Size: uint64(s.off)})
			return err
		})
	case stepChmod:
		err = a.on(s.p, func(ino vfs.Ino) error {
			_, err := a.fs.Setattr(rootOp, ino, &vfs.SetAttr{Mask: vfs.SetMode, Mode: s.mode})
			return err
		})
	case stepUtimes:
		err = a.on(s.p, func(ino vfs.Ino) error {
			_, err := a.fs.Setattr(rootOp, ino, &vfs.SetAttr{Mask: vfs.SetMtime | vfs.SetAtime, Mtime: s.off, Atime: -s.n})
			return err
		})
	case stepSetxattr:
		err = a.on(s.p, func(ino vfs.Ino) error {
			return a.fs.Setxattr(rootOp, ino, "user."+string(rune('a'+s.id)), s.data, 0)
		})
	case stepRemovexattr:
		err = a.on(s.p, func(ino vfs.Ino) error {
			return a.fs.Removexattr(rootOp, ino, "user."+string(rune('a'+s.id)))
		})
	case stepTmpfile:
		err = a.in(s.p, func(dir vfs.Ino, name string) error {
			at, h, err := a.fs.Tmpfile(rootOp, dir, s.mode, syscall.O_RDWR)
			if err != nil {
				return err
			}
			defer h.Release(rootOp)
			if _, err := h.Write(rootOp, s.data, s.off); err != nil {
				return err
			}
			_, err = a.fs.Link(rootOp, at.Ino, dir, name)
			return err
		})
	case stepOpen:
		if a.handles[s.id] != nil {
			return "busy"
		}
		err = a.on(s.p, func(ino vfs.Ino) error {
			flags := syscall.O_RDWR
			if s.n%4 == 0 {
				flags |= syscall.O_TRUNC
			}
			h, err := a.fs.Open(rootOp, ino, flags)
			if err == nil {
				a.handles[s.id] = h
			}
			return err
		})
	case stepHandleClose:
		if h := a.handles[s.id]; h != nil {
			h.Release(rootOp)
			delete(a.handles, s.id)
		}
	case stepHandleRead, stepHandleWrite:
		h := a.handles[s.id]
		if h == nil {
			return "closed"
		}
		out, err = a.handleIO(s, h)
	default:
		out, err = a.bytesStep(s)
	}
	if err != nil {
		return vfs.ToErrno(err).Error()
	}
	return string(out)
}

// bytesStep does the operations that open a file first.
func (a *actor) bytesStep(s *step) (out []byte, err error) {
	err = a.on(s.p, func(ino vfs.Ino) error {
		h, err := a.fs.Open(rootOp, ino, syscall.O_RDWR)
		if err != nil {
			return err
		}
		defer h.Release(rootOp)
		switch s.kind {
		case stepWrite:
			_, err = h.Write(rootOp, s.data, s.off)
		case stepPunch:
			err = h.Fallocate(rootOp, fallocPunchHole|fallocKeepSize, s.off, s.n)
		case stepAllocate:
			err = h.Fallocate(rootOp, uint32(s.n&1), s.off, s.n)
		case stepZero:
			err = h.Fallocate(rootOp, fallocZeroRange|uint32(s.n&1), s.off, s.n)
		case stepFsync:
			err = h.Fsync(rootOp, false)
		case stepCopy:
			err = a.on(s.q, func(ino vfs.Ino) error {
				dst, err := a.fs.Open(rootOp, ino, syscall.O_RDWR)
				if err != nil {
					return err
				}
				defer dst.Release(rootOp)
				n, err := h.CopyTo(rootOp, s.off/2, dst, s.off, s.n)
				out = fmt.Append(nil, n)
				return err
			})
		}
		return err
	})
	return out, err
}

func (a *actor) handleIO(s *step, h vfs.Handle) ([]byte, error) {
	if s.kind == stepHandleWrite {
		n, err := h.Write(rootOp, s.data, s.off)
		return fmt.Append(nil, n), err
	}
	p := make([]byte, s.n)
	n, err := h.Read(rootOp, p, s.off)
	return p[:n], err
}

func (a *actor) in(p string, fn func(vfs.Ino, string) error) error {
	dir, name, err := a.parent(p)
	if err != nil {
		return err
	}
	// A kernel never hands over a parent that is no directory.
	if at, err := a.fs.Getattr(rootOp, dir); err != nil || !at.IsDir() {
		return errors.Join(err, syscall.ENOTDIR)
	}
	return fn(dir, name)
}

func (a *actor) on(p string, fn func(vfs.Ino) error) error {
	ino, err := a.walk(p)
	if err != nil {
		return err
	}
	return fn(ino)
}

// dump describes a whole tree: names, types, modes, sizes, blocks, bytes,
// holes, links, attributes, and the times that are set by the caller alone.
func dump(t testing.TB, fs vfs.FS, times bool) []string {
	t.Helper()
	var out []string
	first := map[vfs.Ino]string{}
	var visit func(ino vfs.Ino, p string)
	visit = func(ino vfs.Ino, p string) {
		a, err := fs.Getattr(rootOp, ino)
		if err != nil {
			t.Fatalf("getattr %s: %v", p, err)
		}
		size := a.Size
		if a.IsDir() {
			size = 0
		}
		line := fmt.Sprintf("%s mode=%o nlink=%d uid=%d size=%d", p, a.Mode, a.Nlink, a.UID, size)
		if times {
			line += fmt.Sprintf(" blocks=%d ino=%d mtime=%d ctime=%d btime=%d", a.Blocks, a.Ino, a.Mtime, a.Ctime, a.Btime)
		}
		names, err := fs.Listxattr(rootOp, ino)
		if err != nil {
			t.Fatalf("listxattr %s: %v", p, err)
		}
		sort.Strings(names)
		for _, n := range names {
			v, err := fs.Getxattr(rootOp, ino, n)
			if err != nil {
				t.Fatalf("getxattr %s %s: %v", p, n, err)
			}
			line += fmt.Sprintf(" %s=%x", n, chunk.Sum(v))
		}
		switch {
		case a.IsSymlink():
			target, err := fs.Readlink(rootOp, ino)
			if err != nil {
				t.Fatal(err)
			}
			line += " -> " + target
		case a.IsRegular():
			if q := first[ino]; q != "" {
				line += " same as " + q
			} else {
				first[ino] = p
				line += " " + describeBytes(t, fs, ino, a.Size, times)
			}
		}
		out = append(out, line)
		if !a.IsDir() {
			return
		}
		for _, e := range list(t, fs, ino) {
			if !times && e.Name == dotName {
				continue
			}
			visit(e.Ino, p+"/"+e.Name)
		}
	}
	visit(vfs.RootIno, "")
	return out
}

func list(t testing.TB, fs vfs.FS, ino vfs.Ino) []vfs.DirEntry {
	t.Helper()
	d, err := fs.OpenDir(rootOp, ino)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Release(rootOp)
	var all []vfs.DirEntry
	if err := d.ReadDir(rootOp, 0, false, func(e *vfs.DirEntry) bool {
		all = append(all, *e)
		return true
	}); err != nil {
		t.Fatal(err)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

func describeBytes(t testing.TB, fs vfs.FS, ino vfs.Ino, size uint64, layout bool) string {
	t.Helper()
	h, err := fs.Open(rootOp, ino, syscall.O_RDONLY)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Release(rootOp)
	p := make([]byte, size+10)
	n, err := h.Read(rootOp, p, 0)
	if err != nil {
		t.Fatalf("read inode %d: %v", ino, err)
	}
	out := fmt.Sprintf("bytes=%d sum=%s data=", n, chunk.Sum(p[:n]).String()[:16])
	if !layout {
		return out // the model has its own notion of reserved space
	}
	for off := int64(0); ; {
		lo, err := h.Seek(rootOp, off, seekData)
		if err == syscall.ENXIO {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		hi, err := h.Seek(rootOp, lo, seekHole)
		if err != nil || hi <= lo {
			t.Fatalf("seek hole from %d: %d %v", lo, hi, err)
		}
		out += fmt.Sprintf("[%d,%d)", lo, hi)
		off = hi
	}
	return out
}

// TestModel runs random histories on a workspace and on a plain file system in
// memory: every result and every tree must agree, through checkpoints, kills
// (P1), snapshots and forks.
func TestModel(t *testing.T) {
	seeds, steps := 12, 300
	if os.Getenv("VFSD_SOAK") != "" {
		seeds, steps = 300, 1500
	}
	// VFSD_SEED runs one long history: what a failure names.
	if one, err := strconv.Atoi(os.Getenv("VFSD_SEED")); err == nil {
		runModel(t, int64(one), 1500)
		return
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			runModel(t, int64(seed), steps)
		})
	}
}

func runModel(t *testing.T, seed int64, steps int) {
	ctx := context.Background()
	r := rand.New(rand.NewSource(seed))
	x := newTestDataDir(t)
	w, err := x.d.Create(ctx, "w", 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours := &actor{fs: w, handles: map[int]vfs.Handle{}}
	model := &actor{fs: memfs.New(), handles: map[int]vfs.Handle{}}
	var log []string
	snapshots := map[string][]string{}
	next := 0
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf("seed %d: %s\nhistory:\n%s", seed, fmt.Sprintf(format, args...), strings.Join(log, "\n"))
	}
	compare := func() {
		t.Helper()
		checkBlocks(t, w)
		a, b := dump(t, ours.fs, false), dump(t, model.fs, false)
		if d := firstDifference(a, b); d != "" {
			fail("trees differ: %s", d)
		}
	}
	for i := range steps {
		switch k := r.Intn(60); {
		case k == 0:
			log = append(log, fmt.Sprintf("%d checkpoint", i))
			if _, err := w.Checkpoint(ctx, CauseCheckpoint, ""); err != nil {
				fail("checkpoint: %v", err)
			}
		case k == 1:
			log = append(log, fmt.Sprintf("%d kill", i))
			for id, h := range model.handles {
				h.Release(rootOp)
				delete(model.handles, id)
			}
			before := dump(t, w, true)
			x.kill()
			w = x.ws("w")
			ours = &actor{fs: w, handles: map[int]vfs.Handle{}}
			if d := firstDifference(dump(t, w, true), before); d != "" {
				fail("after kill: %s", d)
			}
		case k == 2:
			name := fmt.Sprintf("s%d", i)
			log = append(log, fmt.Sprintf("%d snapshot", i))
			if _, err := w.Snapshot(ctx, name); err != nil {
				fail("snapshot: %v", err)
			}
			snapshots[name] = dump(t, w, true)
		case k == 3:
			log = append(log, fmt.Sprintf("%d gc", i))
			if _, err := x.d.GC(ctx, false); err != nil {
				fail("gc: %v", err)
			}
		default:
			s := randomStep(r, &next)
			log = append(log, fmt.Sprintf("%d %v", i, s))
			a, b := ours.do(s), model.do(s)
			if a != b {
				fail("%v: %.100q where the model says %.100q", s, a, b)
			}
			log[len(log)-1] += fmt.Sprintf(" = %.40q", a)
		}
		if i%20 == 19 {
			compare()
		}
	}
	compare()
	for name, want := range snapshots {
		id, err := w.Resolve(ctx, name)
		if err != nil {
			fail("resolve %s: %v", name, err)
		}
		v, err := w.At(ctx, id)
		if err != nil {
			fail("at %s: %v", name, err)
		}
		if d := firstDifference(dump(t, v, true), want); d != "" {
			fail("snapshot %s: %s", name, d)
		}
	}
	checkClean(t, w)
	names := sortedKeys(snapshots)
	r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		id, err := w.Resolve(ctx, name)
		if err != nil {
			fail("resolve %s: %v", name, err)
		}
		if r.Intn(2) == 0 {
			restorePaths(t, w, id)
			checkClean(t, w)
		}
		if _, err := w.Restore(ctx, id, ""); err != nil {
			fail("restore %s: %v", name, err)
		}
		if d := firstDifference(dump(t, w, true), snapshots[name]); d != "" {
			fail("restored %s: %s", name, d)
		}
		checkClean(t, w)
	}
	for _, h := range ours.handles {
		h.Release(rootOp)
	}
}

// checkBlocks counts the blocks of every inode in memory anew.
func checkBlocks(t testing.TB, w *Workspace) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.inodes.all() {
		if !n.v.IsRegular() {
			continue
		}
		counted := &inode{ino: n.ino, v: n.v, base: n.base, delta: n.delta, frozen: n.frozen}
		counted.v.flags |= flagReserved // no shortcuts
		blocks, err := w.allocated(counted, 0, blockCeil(vfs.MaxFileSize))
		must(t, err)
		if n.v.Blocks != uint64(blocks)*sectorsPerBlock {
			t.Fatalf("inode %d of %d bytes counts %d blocks and has %d", n.ino, n.v.Size, n.v.Blocks/sectorsPerBlock, blocks)
		}
	}
}

func checkClean(t testing.TB, w *Workspace) {
	t.Helper()
	report, err := w.Check(context.Background(), nil, func(p Problem) { t.Errorf("check: inode %d %s", p.Ino, p.What) })
	if err != nil || report.Problems > 0 {
		t.Fatalf("check: %d problems, %v", report.Problems, err)
	}
}

// restorePaths brings back each entry of the root by itself: all of it is then
// as it was, but for inode numbers, change times and what links across entries.
func restorePaths(t testing.TB, w *Workspace, id chunk.ID) {
	t.Helper()
	past, err := w.At(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list(t, w, vfs.RootIno) {
		if _, err := past.Lookup(rootOp, vfs.RootIno, e.Name); err == nil {
			continue
		}
		r := &restorer{op: &vfs.Op{Ctx: context.Background()}, live: w}
		if err := r.remove(vfs.RootIno, e.Name, vfs.Attr{Ino: e.Ino, Mode: e.Mode}); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range list(t, past, vfs.RootIno) {
		if _, err := w.Restore(context.Background(), id, e.Name); err != nil {
			t.Fatalf("restore %s: %v", e.Name, err)
		}
	}
	got := dump(t, w, false)
	for i, line := range dump(t, past, false) {
		if i == 0 {
			continue // the root itself is no entry of the root
		}
		a, b, _ := strings.Cut(got[i], " nlink=")
		c, d, _ := strings.Cut(line, " nlink=")
		_, b, _ = strings.Cut(b, " ")
		_, d, _ = strings.Cut(d, " ")
		if a != c || b != d && !strings.Contains(b+d, "same as") {
			t.Fatalf("restored by path:\n got %s\nwant %s", got[i], line)
		}
	}
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("\n got %s\nwant %s", got[i], want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d entries, want %d", len(got), len(want))
	}
	return ""
}
