package chunk

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// TestFsyncOnlyWhatIsDirty counts host calls: a second Fsync makes none, and a
// store that was closed cleanly has nothing to fsync.
func TestFsyncOnlyWhatIsDirty(t *testing.T) {
	opt := testOptions(t)
	disk := hostfs.NewFault(fastFS{}, nil)
	opt.FS = disk
	p := mustOpen(t, opt)
	calls := func(do func() error) int64 {
		before := disk.Calls()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		return disk.Calls() - before
	}
	fsync := func() error { return p.Fsync(t.Context()) }
	mustPut(t, p, []byte("one"))
	if n := calls(fsync); n == 0 {
		t.Error("nothing is done for a new chunk")
	}
	if n := calls(fsync); n != 0 {
		t.Errorf("%d host calls with nothing to do", n)
	}
	mustPut(t, p, []byte("one"))
	if n := calls(fsync); n != 0 {
		t.Errorf("%d host calls for a chunk that is durable", n)
	}
	mustPut(t, p, []byte("two"))
	if n := calls(fsync); n != 3 {
		t.Errorf("%d host calls for one more chunk, want a write, an fsync and the write of a mark", n)
	}
}

// TestFsyncAfterKill: chunks that a killed process left in the page cache are
// not taken for durable when they are stored again.
func TestFsyncAfterKill(t *testing.T) {
	rig := newFaultRig(t)
	p := mustOpen(t, rig.opt)
	data := []byte("in the page cache only")
	mustPut(t, p, data)
	if err := p.flush(); err != nil {
		t.Fatal(err)
	}
	if err := kill(p); err != nil {
		t.Fatal(err)
	}
	p = mustOpen(t, rig.opt)
	rig.acked[mustPut(t, p, data)] = data
	if p.Stats().DedupHits != 1 {
		t.Fatal("the chunk was not found: nothing is tested")
	}
	rig.fsync(p)
	if rig.errs > 0 {
		t.Fatal("Fsync failed")
	}
	rig.heldByDisk()
}

// TestRewrittenAfterRestart: what may not be durable is written again before it
// is fsynced. An fsync that failed before the restart has left pages that the
// kernel takes for clean, and a bare fsync would succeed without them.
func TestRewrittenAfterRestart(t *testing.T) {
	opt := testOptions(t)
	disk := hostfs.NewFault(fastFS{}, nil)
	opt.FS = disk
	p := mustOpen(t, opt)
	mustPut(t, p, []byte("durable"))
	if err := p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustPut(t, p, []byte("not durable")) // with a mark before it
	disk.SetHook(hostfs.Nth(0, syscall.EIO, hostfs.OpSync))
	if err := p.Close(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Close: %v", err)
	}
	var calls []string
	disk.SetHook(func(op hostfs.Op, name string) error {
		if name == packPath(opt.Dir, 1) && (op == hostfs.OpWrite || op == hostfs.OpSync) {
			calls = append(calls, op.String())
		}
		return nil
	})
	p = mustOpen(t, opt)
	if err := p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(calls) < 2 || calls[0] != "write" || calls[1] != "sync" {
		t.Errorf("calls on the pack: %v, want a write before the fsync", calls)
	}
}

// TestNameNotDurable: when the fsync of the directory failed, the packs that
// are new in it are not trusted.
func TestNameNotDurable(t *testing.T) {
	opt := testOptions(t)
	disk := hostfs.NewFault(fastFS{}, nil)
	opt.FS = disk
	p := mustOpen(t, opt)
	data := []byte("in a file whose name may not last")
	id := mustPut(t, p, data)
	disk.SetHook(hostfs.Nth(0, syscall.EIO, hostfs.OpSyncDir))
	if err := p.Fsync(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Fsync: %v", err)
	}
	if err := p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if at, _, _ := p.index.lookup(id); at.pack == 1 {
		t.Error("the chunk is still in the first pack")
	}
	verify(t, p, map[ID][]byte{id: data})
}

// TestSealOnlyDurable: a pack with a tail that is pending is not sealed.
func TestSealOnlyDurable(t *testing.T) {
	p := mustOpen(t, testOptions(t))
	mustPut(t, p, []byte("one"))
	if err := p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	mustPut(t, p, []byte("two"))
	pk := p.pack(1)
	p.w.mu.Lock()
	p.closeOpen()
	p.w.mu.Unlock()
	p.fsyncMu.Lock()
	p.seal(pk)
	p.fsyncMu.Unlock()
	if pk.state != packFull {
		t.Fatal("sealed with a pending tail")
	}
	if err := p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if pk.state != packSealed {
		t.Fatal("not sealed")
	}
}

// TestFsyncShared: callers that wait for each other share one fsync.
func TestFsyncShared(t *testing.T) {
	opt := testOptions(t)
	gate, started := make(chan struct{}), make(chan struct{}, 100)
	var syncs atomic.Int64
	opt.FS = hostfs.NewFault(fastFS{}, func(op hostfs.Op, name string) error {
		if op == hostfs.OpSync && filepath.Ext(name) == packSuffix {
			syncs.Add(1)
			started <- struct{}{}
			<-gate
		}
		return nil
	})
	p := mustOpen(t, opt)
	var wg sync.WaitGroup
	mustPut(t, p, []byte("first"))
	wg.Go(func() { p.Fsync(t.Context()) })
	<-started
	const callers = 20
	var ready sync.WaitGroup
	for i := range callers {
		ready.Add(1)
		wg.Go(func() {
			mustPut(t, p, []byte{byte(i)})
			ready.Done()
			if err := p.Fsync(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	ready.Wait()
	close(gate)
	wg.Wait()
	// One for the first, and one or two for all others, by who came when.
	if n := syncs.Load(); n > 3 {
		t.Errorf("%d fsyncs for %d callers", n, callers)
	}
}

// lostRig is a store that holds two chunks, one of which it has lost: the fsync
// of their pack failed, and the bytes are gone.
type lostRig struct {
	opt          Options
	disk         *hostfs.Fault
	p            *Packs
	kept, lost   []byte
	keptID, gone ID
}

func newLostRig(t *testing.T) *lostRig {
	r := rand.New(rand.NewPCG(1, 10))
	rig := &lostRig{opt: testOptions(t), kept: sample(r, 1000), lost: sample(r, 2000)}
	rig.disk = hostfs.NewFault(fastFS{}, nil)
	rig.opt.FS, rig.opt.CacheBytes = rig.disk, -1
	rig.p = mustOpen(t, rig.opt)
	rig.keptID, rig.gone = mustPut(t, rig.p, rig.kept), mustPut(t, rig.p, rig.lost)
	name := packPath(rig.opt.Dir, 1)
	rig.disk.SetHook(func(op hostfs.Op, path string) error {
		if op != hostfs.OpSync || path != name {
			return nil
		}
		// The kernel drops the page when it cannot write it.
		at, _, _ := rig.p.index.lookup(rig.gone)
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err == nil {
			_, err = f.WriteAt(make([]byte, at.n), int64(at.off))
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			t.Error(err)
		}
		return syscall.EIO
	})
	if err := rig.p.Fsync(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Fsync: %v", err)
	}
	rig.disk.SetHook(nil)
	return rig
}

// holds: the chunk that was rescued is there.
func (rig *lostRig) holds(t *testing.T) {
	t.Helper()
	if got, err := rig.p.Get(t.Context(), rig.keptID); err != nil || !bytes.Equal(got, rig.kept) {
		t.Fatalf("Get of the rescued chunk: %v", err)
	}
}

// TestLost: when an fsync fails and the bytes cannot be read back either, Fsync
// fails until the chunk is stored again or collected.
func TestLost(t *testing.T) {
	for how, heal := range map[string]func(*testing.T, *lostRig){
		"stored": func(t *testing.T, rig *lostRig) {
			if mustPut(t, rig.p, rig.lost) != rig.gone {
				t.Fatal("another ID")
			}
		},
		"collected": func(t *testing.T, rig *lostRig) {
			gc := rig.p.BeginGC()
			gc.Mark(rig.keptID)
			if _, err := gc.Sweep(t.Context(), false, nil); err != nil {
				t.Fatal(err)
			}
		},
		"reopened": func(t *testing.T, rig *lostRig) {
			if err := rig.p.Close(); !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("Close: %v", err)
			}
			rig.p = mustOpen(t, rig.opt)
		},
	} {
		t.Run(how, func(t *testing.T) {
			rig := newLostRig(t)
			for range 2 {
				if err := rig.p.Fsync(t.Context()); !errors.Is(err, vfs.ErrCorrupt) {
					t.Fatalf("Fsync with a lost chunk: %v", err)
				}
			}
			rig.holds(t)
			if at, _, _ := rig.p.index.lookup(rig.keptID); at.pack == 1 {
				t.Error("the rescued chunk is still in the failed pack")
			}
			if _, err := rig.p.Get(t.Context(), rig.gone); !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("Get of the lost chunk: %v", err)
			}
			if n := rig.p.Stats().Lost; n != 1 {
				t.Errorf("%d chunks are lost", n)
			}
			heal(t, rig)
			if err := rig.p.Fsync(t.Context()); err != nil {
				t.Fatal(err)
			}
			rig.holds(t)
		})
	}
}

func TestClosed(t *testing.T) {
	opt := testOptions(t)
	p := mustOpen(t, opt)
	if _, err := Open(t.Context(), opt); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("second Open: %v", err)
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, perr := p.Put(t.Context(), nil)
	_, gerr := p.Get(t.Context(), ID{})
	for _, err := range []error{perr, gerr, p.Fsync(t.Context()), p.Scrub(t.Context(), nil, nil), p.Repair(t.Context(), Sum(nil), nil)} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	}
}
