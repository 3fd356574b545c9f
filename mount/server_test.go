package mount

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math/rand"
	"slices"
	"sync"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/memfs"
	"github.com/vfsd/vfsd/vfs"
)

// fakeKernel is the other end of a Server's notifications.
type fakeKernel struct {
	t  *testing.T
	fd int
}

// newTestServer returns a Server whose notifications go to a fakeKernel, which
// accepts them all.
func newTestServer(t *testing.T, fs vfs.FS, allowOther bool) (*Server, *fakeKernel) {
	t.Helper()
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_DGRAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	k, err := newKernel(pair[0])
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(&Options{FS: fs, Origin: 1, AllowOther: allowOther, Log: slog.Default()}, k)
	f := &fakeKernel{t, pair[1]}
	s.start()
	if got := f.next(); got != "epoch" {
		t.Fatalf("the probe is %q", got)
	}
	t.Cleanup(func() {
		s.stop()
		k.close()
		syscall.Close(pair[1])
	})
	return s, f
}

// next returns the next notification in words; "" when there is none.
func (f *fakeKernel) next() string {
	b := make([]byte, 4096)
	n, _, err := syscall.Recvfrom(f.fd, b, syscall.MSG_DONTWAIT)
	if err != nil {
		return ""
	}
	b = b[:n]
	u64 := func(at int) int64 { return int64(binary.NativeEndian.Uint64(b[at:])) }
	if int(binary.NativeEndian.Uint32(b)) != n || u64(8) != 0 {
		f.t.Errorf("header of %d bytes: % x", n, b[:notifyHeader])
	}
	switch binary.NativeEndian.Uint32(b[4:]) {
	case notifyInvalInode:
		return fmt.Sprintf("inode %d [%d +%d]", u64(16), u64(24), u64(32))
	case notifyInvalEntry:
		size := int(binary.NativeEndian.Uint32(b[24:]))
		if len(b) != 32+size+1 || b[len(b)-1] != 0 {
			f.t.Errorf("entry: % x", b)
		}
		return fmt.Sprintf("%s %d %q", map[uint32]string{0: "entry", entryExpireOnly: "expire"}[binary.NativeEndian.Uint32(b[28:])], u64(16), b[32:32+size])
	case notifyIncEpoch:
		return "epoch"
	}
	return fmt.Sprintf("% x", b)
}

func (f *fakeKernel) all() (all []string) {
	for {
		n := f.next()
		if n == "" {
			return all
		}
		all = append(all, n)
	}
}

func (f *fakeKernel) want(what string, want ...string) {
	f.t.Helper()
	got := f.all()
	// The order among inodes does not matter.
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		f.t.Errorf("%s: told the kernel %q, want %q", what, got, want)
	}
}

func rootCall(s *Server) *Call { return s.Begin(OpLookup, 0, 0, 0, nil) }

// lookup has the kernel look a name up.
func lookup(t *testing.T, s *Server, parent vfs.Ino, name string) Entry {
	t.Helper()
	c := rootCall(s)
	defer c.End()
	var e Entry
	if errno := s.Lookup(c, parent, name, &e); errno != 0 {
		t.Fatalf("lookup %s: %v", name, errno)
	}
	return e
}

var shell = &vfs.Op{Origin: 2}

func mkdir(t *testing.T, fs vfs.FS, parent vfs.Ino, name string) vfs.Ino {
	t.Helper()
	a, err := fs.Mkdir(shell, parent, name, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	return a.Ino
}

// Only what the kernel holds is announced to it, and what it may be about to
// take in only once it has.
func TestNotifications(t *testing.T) {
	fs := memfs.New()
	s, k := newTestServer(t, fs, false)
	d := mkdir(t, fs, vfs.RootIno, "d")
	k.want("a new name in the root", `entry 1 "d"`, "inode 1 [0 +0]")
	f := mkdir(t, fs, d, "f")
	k.want("below a directory that the kernel does not hold")

	lookup(t, s, vfs.RootIno, "d")
	mkdir(t, fs, d, "g")
	if got := k.all(); !slices.Equal(got, []string{`entry 1 "/"`, fmt.Sprintf(`entry %d "g"`, d), fmt.Sprintf("inode %d [0 +0]", d)}) {
		t.Errorf("below a directory just looked up: %q, want the barrier, the entry and the listing in this order", got)
	}
	if err := fs.Rmdir(shell, d, "g"); err != nil {
		t.Fatal(err)
	}
	k.want("the second change needs no barrier", fmt.Sprintf(`entry %d "g"`, d), fmt.Sprintf("inode %d [0 +0]", d))

	lookup(t, s, d, "f")
	if _, err := fs.Setattr(shell, f, &vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o700}); err != nil {
		t.Fatal(err)
	}
	k.want("attributes", fmt.Sprintf(`entry %d "/"`, d), fmt.Sprintf("inode %d [-1 +0]", f))
	s.Changed([]vfs.Change{{Kind: vfs.ChangeData, Ino: f, Off: 10, Len: 5}, {Kind: vfs.ChangeData, Ino: f, Off: 100, Len: 10}})
	k.want("data", fmt.Sprintf("inode %d [10 +100]", f))
	s.Changed([]vfs.Change{{Kind: vfs.ChangeAll}})
	k.want("everything", "epoch", "inode 1 [0 +0]", fmt.Sprintf("inode %d [0 +0]", d), fmt.Sprintf("inode %d [0 +0]", f))
	s.Forget(f, 1)
	s.Changed([]vfs.Change{{Kind: vfs.ChangeAttr, Ino: f}})
	k.want("what it has forgotten")
}

// A change through the mount needs no telling, but for what the kernel cannot
// know.
func TestOwnChanges(t *testing.T) {
	fs := memfs.New()
	s, k := newTestServer(t, fs, true)
	c := rootCall(s)
	defer c.End()
	var e Entry
	if errno := s.Mkdir(c, vfs.RootIno, "d", 0o755, 0, &e); errno != 0 || e.EntryValid != Forever {
		t.Fatalf("mkdir: %v, %+v", errno, e)
	}
	d := e.Attr.Ino
	if errno := s.Mkdir(c, d, "sub", 0o755, 0, &e); errno != 0 || e.EntryValid != Forever {
		t.Fatalf("mkdir below: %v, %+v", errno, e)
	}
	k.want("its own directories")
	chmod := func(mode uint32) {
		t.Helper()
		if _, errno := s.Setattr(c, d, &vfs.SetAttr{Mask: vfs.SetMode, Mode: mode}, 0); errno != 0 {
			t.Fatal(errno)
		}
	}
	chmod(0o711)
	k.want("a chmod that leaves everyone search")
	chmod(0o700)
	k.want("a chmod that takes it away", "epoch")
	if e := lookup(t, s, d, "sub"); e.EntryValid != 0 || e.AttrValid != Forever {
		t.Errorf("an entry behind a closed door: %+v", e)
	}
	if c2 := rootCall(s); s.Lookup(c2, d, "none", &e) != syscall.ENOENT {
		t.Error("a negative entry behind a closed door is kept")
	}
	chmod(0o755)
	k.want("a chmod that opens it")
	if e := lookup(t, s, d, "sub"); e.EntryValid != Forever {
		t.Errorf("an entry behind an open door: %+v", e)
	}
}

// Where the kernel cannot expire everything at once, it is told name by name.
func TestWithoutEpochs(t *testing.T) {
	fs := memfs.New()
	s, k := newTestServer(t, fs, true)
	s.kernel.epochs.Store(false)
	d := mkdir(t, fs, vfs.RootIno, "d")
	mkdir(t, fs, d, "a")
	mkdir(t, fs, d, "b")
	lookup(t, s, vfs.RootIno, "d")
	if e := lookup(t, s, d, "a"); e.EntryValid != Forever {
		t.Errorf("an entry: %+v", e)
	}
	if e := lookup(t, s, d, "none"); e.Attr.Ino != 0 || e.EntryValid != negativeWithoutEpochs {
		t.Errorf("a negative entry: %+v", e)
	}
	k.all()
	c := rootCall(s)
	defer c.End()
	if _, errno := s.Setattr(c, d, &vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o700}, 0); errno != 0 {
		t.Fatal(errno)
	}
	<-s.background.wait()
	k.want("a chmod that takes search away", fmt.Sprintf(`expire %d "a"`, d), fmt.Sprintf(`expire %d "b"`, d))
	a := lookup(t, s, d, "a").Attr.Ino
	s.Changed([]vfs.Change{{Kind: vfs.ChangeAll}})
	<-s.background.wait()
	k.want("everything", `entry 1 "/"`, fmt.Sprintf(`entry %d "/"`, d), `expire 1 "d"`,
		fmt.Sprintf(`expire %d "a"`, d), fmt.Sprintf(`expire %d "b"`, d),
		"inode 1 [0 +0]", fmt.Sprintf("inode %d [0 +0]", d), fmt.Sprintf("inode %d [0 +0]", a),
		fmt.Sprintf("inode %d [-1 +0]", d)) // for the SETATTR that may be under way
}

// A change that may cross a SETATTR is told of twice.
func TestCrossedSetattr(t *testing.T) {
	fs := memfs.New()
	s, k := newTestServer(t, fs, false)
	d := mkdir(t, fs, vfs.RootIno, "d")
	lookup(t, s, vfs.RootIno, "d")
	k.all()
	c := rootCall(s)
	defer c.End()
	if _, errno := s.Setattr(c, d, &vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o711}, 0); errno != 0 {
		t.Fatal(errno)
	}
	if _, err := fs.Setattr(shell, d, &vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o700}); err != nil {
		t.Fatal(err)
	}
	<-s.background.wait()
	k.want("a change right after", `entry 1 "/"`, fmt.Sprintf("inode %d [-1 +0]", d), fmt.Sprintf("inode %d [-1 +0]", d))
}

func TestSpanUnion(t *testing.T) {
	for _, c := range []struct{ a, b, want span }{
		{noPages, noPages, noPages},
		{noPages, span{3, 5}, span{3, 5}},
		{span{3, 5}, noPages, span{3, 5}},
		{span{3, 5}, span{10, 20}, span{3, 20}},
		{span{3, -1}, span{1, 2}, span{1, -1}},
		{allPages, span{7, 8}, allPages},
	} {
		if got := c.a.union(c.b); got != c.want {
			t.Errorf("%v and %v are %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// pinCounter checks that pins and unpins of each inode alternate.
type pinCounter struct {
	vfs.FS
	t    *testing.T
	mu   sync.Mutex
	pins map[vfs.Ino]int
}

func (p *pinCounter) count(ino vfs.Ino, by int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pins[ino] += by
	if n := p.pins[ino]; n != 0 && n != 1 {
		p.t.Errorf("inode %d is pinned %d times", ino, n)
	}
}

func (p *pinCounter) Pin(ino vfs.Ino)   { p.count(ino, 1) }
func (p *pinCounter) Unpin(ino vfs.Ino) { p.count(ino, -1) }

// However lookups and forgets mix, an inode is pinned once while it is held.
func TestInodeTable(t *testing.T) {
	p := &pinCounter{FS: memfs.New(), t: t, pins: map[vfs.Ino]int{}}
	var table inodeTable
	table.init(p)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rng := rand.New(rand.NewSource(int64(w)))
			mine := map[vfs.Ino]uint64{}
			for range 5000 {
				ino := vfs.Ino(2 + rng.Intn(200))
				if n := mine[ino]; n > 0 && rng.Intn(2) == 0 {
					back := 1 + uint64(rng.Intn(int(n)))
					mine[ino] -= back
					table.forget(ino, back)
				} else {
					mine[ino]++
					table.introduce(ino, 1, 0)
					if !table.held(ino) {
						t.Errorf("inode %d is not held", ino)
					}
				}
			}
			for ino, n := range mine {
				table.forget(ino, n)
			}
		})
	}
	wg.Wait()
	if n := table.len(); n != 1 {
		t.Errorf("%d inodes are left, want the root", n)
	}
	table.forget(vfs.RootIno, 100)
	if !table.held(vfs.RootIno) {
		t.Error("the root was forgotten")
	}
	table.drain()
	for ino, n := range p.pins {
		if n != 0 {
			t.Errorf("inode %d stays pinned", ino)
		}
	}
}

func TestHandleTable(t *testing.T) {
	var table handleTable[string]
	a, b := table.add("a"), table.add("b")
	if a == 0 || a == b {
		t.Fatalf("numbers %d and %d", a, b)
	}
	if v, ok := table.get(b); v != "b" || !ok {
		t.Errorf("b is %q, %v", v, ok)
	}
	for _, id := range []uint64{0, b + 1, 1<<64 - 1} {
		if _, ok := table.get(id); ok {
			t.Errorf("number %d was never given", id)
		}
		if _, ok := table.remove(id); ok {
			t.Errorf("number %d was removed", id)
		}
	}
	table.remove(a)
	if _, ok := table.get(a); ok {
		t.Error("a removed number is still there")
	}
	if c := table.add("c"); c != a {
		t.Errorf("number %d was not used again but %d", a, c)
	}
	if all := table.drain(); len(all) != 2 || table.len() != 0 {
		t.Errorf("drained %q, %d left", all, table.len())
	}
}

// A caller whose system call cannot be seen gets a stand-in where he may not
// use the file, and nobody's entry is kept.
func TestStandIns(t *testing.T) {
	fs := memfs.New()
	s, k := newTestServer(t, fs, true)
	fifo, err := fs.Mknod(shell, vfs.RootIno, "fifo", vfs.ModeFIFO|0o600, 0)
	if err != nil {
		t.Fatal(err)
	}
	k.all()
	look := func(uid uint32) Entry {
		c := s.Begin(OpLookup, uid, uid, 0, nil)
		defer c.End()
		var e Entry
		if errno := s.Lookup(c, vfs.RootIno, "fifo", &e); errno != 0 {
			t.Fatal(errno)
		}
		if e.EntryValid != 0 || e.AttrValid != 0 || e.Attr.Ino != fifo.Ino || NodeIno(uint64(e.Node)) != fifo.Ino {
			t.Errorf("for %d: %+v", uid, e)
		}
		return e
	}
	if e := look(0); e.Node != fifo.Ino {
		t.Errorf("root is led to %#x", uint64(e.Node))
	}
	stranger := look(1000)
	if stranger.Node == fifo.Ino {
		t.Errorf("a stranger is led to the file")
	}
	k.all()
	if _, err := fs.Setattr(shell, fifo.Ino, &vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o666}); err != nil {
		t.Fatal(err)
	}
	k.want("both nodes", `entry 1 "/"`, fmt.Sprintf("inode %d [-1 +0]", fifo.Ino), fmt.Sprintf("inode %d [-1 +0]", int64(stranger.Node)))
	if e := look(1000); e.Node != fifo.Ino {
		t.Errorf("who may use the file is led to %#x", uint64(e.Node))
	}
}

// Rights that change elsewhere are revoked before the change returns, also by a
// change that does not say which.
func TestRightsElsewhere(t *testing.T) {
	fs := memfs.New()
	s, k := newTestServer(t, fs, true)
	d := mkdir(t, fs, vfs.RootIno, "d")
	mkdir(t, fs, d, "sub")
	lookup(t, s, vfs.RootIno, "d")
	lookup(t, s, d, "sub")
	k.all()
	set := func(op *vfs.Op, set vfs.SetAttr) {
		t.Helper()
		if _, err := fs.Setattr(op, d, &set); err != nil {
			t.Fatal(err)
		}
	}
	set(shell, vfs.SetAttr{Mask: vfs.SetMtime, Mtime: 1})
	k.want("times", `entry 1 "/"`, fmt.Sprintf("inode %d [-1 +0]", d))
	set(shell, vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o700})
	k.want("a chmod", "epoch", fmt.Sprintf("inode %d [-1 +0]", d))
	if e := lookup(t, s, d, "sub"); e.EntryValid != 0 {
		t.Errorf("an entry behind a closed door: %+v", e)
	}
	set(shell, vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o755})
	if e := lookup(t, s, d, "sub"); e.EntryValid != Forever {
		t.Errorf("an entry behind an open door: %+v", e)
	}
	own := &vfs.Op{Origin: s.origin} // of which the mount does not hear
	set(own, vfs.SetAttr{Mask: vfs.SetMode, Mode: 0o700})
	s.Changed([]vfs.Change{{Kind: vfs.ChangeAll}})
	if e := lookup(t, s, d, "sub"); e.EntryValid != 0 {
		t.Errorf("an entry behind a door that a restore closed: %+v", e)
	}
}
