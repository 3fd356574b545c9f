package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// roots is what a test keeps alive.
type roots struct {
	// begin is held by BeginGC, and shared by whoever stores a chunk and makes
	// it a root: a chunk must not be stored before BeginGC and become a root
	// after the roots were read.
	begin sync.RWMutex

	mu   sync.Mutex
	data map[ID]root // guarded by mu
	made int         // guarded by mu; roots made so far
}

// root is a chunk that is kept. Its number tells it from one that was dropped
// and made again.
type root struct {
	data []byte
	no   int
}

func (live *roots) add(id ID, data []byte) {
	live.mu.Lock()
	defer live.mu.Unlock()
	if _, ok := live.data[id]; !ok {
		live.made++
		live.data[id] = root{data, live.made}
	}
}

func (live *roots) get(id ID) root {
	live.mu.Lock()
	defer live.mu.Unlock()
	return live.data[id]
}

func (live *roots) random(r *rand.Rand) (ID, bool) {
	live.mu.Lock()
	defer live.mu.Unlock()
	if len(live.data) == 0 {
		return ID{}, false
	}
	k := r.IntN(len(live.data))
	for id := range live.data {
		if k--; k < 0 {
			return id, true
		}
	}
	panic("unreachable")
}

func (live *roots) collect(p *Packs) (GCReport, error) {
	live.begin.Lock()
	gc := p.BeginGC()
	live.begin.Unlock()
	live.mu.Lock()
	for id := range live.data {
		gc.Mark(id)
	}
	live.mu.Unlock()
	return gc.Sweep(context.Background(), false, func() error { return nil })
}

// step does one random thing that a writer may do.
func (live *roots) step(p *Packs, r *rand.Rand) error {
	ctx := context.Background()
	switch k := r.IntN(100); {
	case k < 45:
		content := r.Uint64N(300)
		data := sample(rand.New(rand.NewPCG(content, 0)), int(content*37%9000))
		live.begin.RLock()
		defer live.begin.RUnlock()
		id, err := p.Put(ctx, data)
		if err != nil {
			return err
		}
		live.add(id, data)
	case k < 70:
		id, _ := live.random(r)
		before := live.get(id)
		got, err := p.Get(ctx, id)
		switch after := live.get(id); {
		case after.no == 0 || after.no != before.no:
			// Another writer dropped it, and a collection may have taken it.
		case err != nil:
			return fmt.Errorf("root %d: %w", after.no, err)
		case !bytes.Equal(got, after.data):
			return fmt.Errorf("root %d has other bytes", after.no)
		}
	case k < 98:
		if id, ok := live.random(r); ok {
			live.mu.Lock()
			defer live.mu.Unlock()
			delete(live.data, id)
		}
	default:
		return p.Fsync(ctx)
	}
	return nil
}

func (live *roots) verify(t *testing.T, p *Packs) {
	t.Helper()
	for id, want := range live.data {
		if got, err := p.Get(t.Context(), id); err != nil || !bytes.Equal(got, want.data) {
			t.Fatalf("Get of a root: %v", err)
		}
	}
	mustScrub(t, p)
}

// TestGCUnderWriters collects again and again while eight writers store, read,
// make and drop roots. They share contents, so that what one has dropped is
// stored again by another at any moment of a sweep.
func TestGCUnderWriters(t *testing.T) {
	opt := testOptions(t)
	opt.PackSize, opt.batch, opt.CacheBytes = 128<<10, 16<<10, -1
	opt.Log = nil
	p := mustOpen(t, opt)
	live := &roots{data: make(map[ID]root)}
	steps := 1500
	if soak() {
		steps = 50000
	}
	var writers, collector sync.WaitGroup
	var done atomic.Bool
	for w := range uint64(8) {
		writers.Go(func() {
			r := rand.New(rand.NewPCG(w, 9))
			for range steps {
				if err := live.step(p, r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	var deleted int
	collector.Go(func() {
		for !done.Load() {
			report, err := live.collect(p)
			if err != nil {
				t.Error(err)
				return
			}
			deleted += report.Deleted
		}
	})
	writers.Wait()
	done.Store(true)
	collector.Wait()
	if deleted < 5 {
		t.Errorf("only %d packs were deleted: nothing was tested", deleted)
	}
	live.verify(t, p)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	live.verify(t, mustOpen(t, opt))
}

// gcRig is a store with ten sealed packs of 16 chunks each.
type gcRig struct {
	t     *testing.T
	opt   Options
	disk  *hostfs.Fault
	p     *Packs
	packs [][]ID
	last  ID // lives, and keeps the open pack as it is
	data  map[ID][]byte
}

func newGCRig(t *testing.T) *gcRig {
	opt := testOptions(t)
	opt.PackSize, opt.CacheBytes, opt.Compress = 64<<10, -1, false
	rig := &gcRig{t: t, disk: hostfs.NewFault(fastFS{}, nil), data: make(map[ID][]byte)}
	opt.FS = rig.disk
	rig.opt = opt
	rig.p = mustOpen(t, opt)
	for k := range 10 {
		rig.packs = append(rig.packs, nil)
		for i := range 16 {
			data := noise(uint64(k), 4000)
			data[0] = byte(i)
			id := mustPut(t, rig.p, data)
			rig.data[id] = data
			rig.packs[k] = append(rig.packs[k], id)
		}
	}
	rig.last = mustPut(t, rig.p, noise(99, 4000)) // in the open pack
	if err := rig.p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	return rig
}

// mark begins a collection that keeps the first n chunks of each pack, by the
// list.
func (rig *gcRig) mark(keep ...int) *GC {
	gc := rig.p.BeginGC()
	gc.Mark(rig.last)
	for k, n := range keep {
		for _, id := range rig.packs[k][:n] {
			if !gc.Mark(id) || gc.Mark(id) {
				rig.t.Fatal("Mark does not return true once")
			}
		}
	}
	return gc
}

// holds: the first n chunks of each pack are there.
func (rig *gcRig) holds(keep ...int) {
	rig.t.Helper()
	for k, n := range keep {
		for _, id := range rig.packs[k][:n] {
			if got, err := rig.p.Get(rig.t.Context(), id); err != nil || !bytes.Equal(got, rig.data[id]) {
				rig.t.Fatalf("live chunk of pack %d: %v", k, err)
			}
		}
	}
}

var (
	// Nothing dead, dead a third and less, more than a third, and wholly.
	keepSome = []int{16, 12, 11, 10, 1, 0, 0, 16, 16, 16}
	keepAll  = []int{16, 16, 16, 16, 16, 16, 16, 16, 16, 16}
)

func TestSweep(t *testing.T) {
	rig := newGCRig(t)
	dry, err := rig.mark(keepSome...).Sweep(t.Context(), true, func() error { panic("called in a dry run") })
	if err != nil {
		t.Fatal(err)
	}
	if n := rig.p.Stats().Packs; n != 11 {
		t.Fatalf("the dry run left %d of 11 packs", n)
	}
	rig.holds(keepAll...)
	var order []string
	got, err := rig.mark(keepSome...).Sweep(t.Context(), false, func() error {
		order = append(order, fmt.Sprint("barrier at ", rig.p.Stats().Packs))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got != dry {
		t.Errorf("swept\n%+v\nforeseen was\n%+v", got, dry)
	}
	if got.Deleted != 4 || got.Repacked != 2 || got.LiveChunks != 99 || got.Chunks != 161 || got.FreedBytes < 2*64000 {
		t.Errorf("%+v", got)
	}
	if !slices.Equal(order, []string{"barrier at 11"}) {
		t.Errorf("order: %v", order)
	}
	rig.holds(keepSome...)
	// Dead chunks of packs that went are gone, others are still there.
	if rig.p.Has(rig.packs[5][0]) || !rig.p.Has(rig.packs[1][15]) {
		t.Error("what should be gone is there, or what should be there is gone")
	}
	if _, err := os.Stat(packPath(rig.opt.Dir, 6)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the dead pack is still on disk: %v", err)
	}
	if s := rig.p.Stats(); s.RawBytes != 4000*s.Chunks {
		t.Errorf("raw bytes do not fit: %+v", s)
	}
	mustScrub(t, rig.p)
	if err := rig.p.Close(); err != nil {
		t.Fatal(err)
	}
	rig.p = mustOpen(t, rig.opt)
	rig.holds(keepSome...)
}

// TestSweepOpenPack: what is dead in the pack that is written to is counted,
// and given back when it is more than a third, durable or not.
func TestSweepOpenPack(t *testing.T) {
	for _, c := range []struct {
		keep    int // of 30 chunks
		deleted int
	}{{30, 0}, {20, 0}, {19, 1}, {1, 1}, {0, 1}} {
		for _, durable := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d/durable=%v", c.keep, durable), func(t *testing.T) {
				opt := testOptions(t)
				opt.CacheBytes, opt.Compress = -1, false
				p := mustOpen(t, opt)
				live, dead := make(map[ID][]byte), make(map[ID][]byte)
				for i := range 30 {
					data := noise(uint64(i), 4000)
					kept := dead
					if i < c.keep {
						kept = live
					}
					kept[mustPut(t, p, data)] = data
				}
				if durable {
					if err := p.Fsync(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				collect := func(dryRun bool) GCReport {
					gc := p.BeginGC()
					for id := range live {
						gc.Mark(id)
					}
					report, err := gc.Sweep(t.Context(), dryRun, nil)
					if err != nil {
						t.Fatal(err)
					}
					return report
				}
				dry := collect(true)
				if n := p.Stats().Packs; n != 1 {
					t.Errorf("a dry run left %d packs", n)
				}
				got := collect(false)
				if got != dry {
					t.Errorf("swept\n%+v\nforeseen was\n%+v", got, dry)
				}
				garbage := int64(len(dead)) * (4000 + recordHeaderSize)
				if over := got.DeadBytes - garbage; over < 0 || over > 200 {
					t.Errorf("%d bytes are dead, want %d and the overhead of a pack", got.DeadBytes, garbage)
				}
				if got.Deleted != c.deleted || c.deleted > 0 && got.FreedBytes < garbage {
					t.Errorf("%+v", got)
				}
				if c.deleted == 0 {
					maps.Copy(live, dead) // they stay
				}
				verify(t, p, live)
				if again := collect(false); again.Deleted > 0 {
					t.Errorf("again: %+v", again)
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
				verify(t, mustOpen(t, opt), live)
			})
		}
	}
}

// TestSweepOpenPackGrows: what is stored while the open pack is collected
// lives, whether it came before the pack was sealed or after.
func TestSweepOpenPackGrows(t *testing.T) {
	opt := testOptions(t)
	disk := hostfs.NewFault(fastFS{}, nil)
	opt.FS, opt.CacheBytes = disk, -1
	p := mustOpen(t, opt)
	old := noise(1, 4000)
	mustPut(t, p, old)
	mustPut(t, p, noise(2, 4000))
	live := make(map[ID][]byte)
	put := func(data []byte) { live[mustPut(t, p, data)] = data }
	gc := p.BeginGC()
	put(noise(3, 1000))
	disk.SetHook(func(op hostfs.Op, name string) error {
		if op == hostfs.OpSync && name == packPath(opt.Dir, 1) {
			put(old) // it is there already
			put(noise(4, 1000))
		}
		return nil
	})
	report, err := gc.Sweep(t.Context(), false, func() error {
		put(noise(5, 1000))
		return nil
	})
	if err != nil || report.Deleted != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	if len(live) != 4 {
		t.Fatalf("%d chunks were stored meanwhile, want 4", len(live))
	}
	verify(t, p, live)
}

// TestSweepOpenPackFails fails every host call of a sweep of the open pack, one
// after another. Nothing live is lost, and a later collection does the work.
func TestSweepOpenPackFails(t *testing.T) {
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC, &hostfs.ShortWrite{Bytes: 777, Err: syscall.EIO}} {
		noticed, k := 0, int64(0)
		for ; ; k++ {
			opt := testOptions(t)
			disk := hostfs.NewFault(fastFS{}, nil)
			opt.FS, opt.CacheBytes = disk, -1
			p := mustOpen(t, opt)
			live := make(map[ID][]byte)
			for i := range 30 {
				data := noise(uint64(i), 1000)
				if id := mustPut(t, p, data); i%3 == 0 {
					live[id] = data
				}
				if i == 20 {
					if err := p.Fsync(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
			collect := func() error {
				gc := p.BeginGC()
				for id := range live {
					gc.Mark(id)
				}
				_, err := gc.Sweep(t.Context(), false, nil)
				return err
			}
			hit := false
			n := int64(-1)
			disk.SetHook(func(hostfs.Op, string) error {
				if n++; n == k {
					hit = true
					return fault
				}
				return nil
			})
			err := collect()
			if err != nil {
				noticed++
				if !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC) {
					t.Fatalf("call %d: %v", k, err)
				}
			}
			disk.SetHook(nil)
			for id, want := range live {
				if got, err := p.Get(t.Context(), id); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("call %d: Get of a live chunk: %v", k, err)
				}
			}
			for range 2 {
				if err := collect(); err != nil {
					t.Fatalf("call %d: %v", k, err)
				}
			}
			verify(t, p, live)
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
			p = mustOpen(t, opt)
			for id, want := range live {
				if got, err := p.Get(t.Context(), id); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("call %d, reopened: Get of a live chunk: %v", k, err)
				}
			}
			if !hit {
				break // the sweep is over before call k
			}
		}
		if noticed < 3 || k < 8 {
			t.Errorf("%v: %d of %d faults were noticed", fault, noticed, k)
		}
	}
}

// TestSweepFails: whatever goes wrong, nothing live is lost, and the next
// collection does the work.
func TestSweepFails(t *testing.T) {
	broken := errors.New("broken")
	fail := map[string]struct {
		hook    hostfs.Hook
		barrier error
	}{
		"barrier": {barrier: broken},
		"copy":    {hook: hostfs.Nth(0, broken, hostfs.OpWrite)},
		"fsync":   {hook: hostfs.Nth(0, broken, hostfs.OpSync)},
		"list":    {hook: hostfs.Nth(0, broken, hostfs.OpOpen)},
		"remove":  {hook: hostfs.Nth(0, broken, hostfs.OpRemove)},
		"dir":     {hook: hostfs.Nth(0, broken, hostfs.OpSyncDir)},
	}
	for name, f := range fail {
		t.Run(name, func(t *testing.T) {
			rig := newGCRig(t)
			gc := rig.mark(keepSome...)
			rig.disk.SetHook(f.hook)
			report, err := gc.Sweep(t.Context(), false, func() error { return f.barrier })
			if err == nil && report.Kept == 0 {
				t.Errorf("nobody noticed: %+v", report)
			}
			if err != nil && !errors.Is(err, broken) {
				t.Errorf("Sweep: %v", err)
			}
			rig.holds(keepSome...)
			rig.disk.SetHook(nil)
			if _, err := rig.mark(keepSome...).Sweep(t.Context(), false, nil); err != nil {
				t.Fatal(err)
			}
			rig.holds(keepSome...)
			if err := rig.p.Close(); err != nil {
				t.Fatal(err)
			}
			rig.p = mustOpen(t, rig.opt)
			if _, err := rig.mark(keepSome...).Sweep(t.Context(), false, nil); err != nil {
				t.Fatal(err)
			}
			rig.holds(keepSome...)
			if s := rig.p.Stats(); s.StoredBytes > 120*4100 {
				t.Errorf("garbage stays: %+v", s)
			}
		})
	}
}

// TestSweepKeepsDamage: a pack that holds the only, damaged, copy of a live
// chunk stays until a good copy came from elsewhere.
func TestSweepKeepsDamage(t *testing.T) {
	rig := newGCRig(t)
	f, err := os.OpenFile(packPath(rig.opt.Dir, 5), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	flip(t, f, 8*500) // in the one live chunk of that pack
	id := rig.packs[4][0]
	report, err := rig.mark(keepSome...).Sweep(t.Context(), false, nil)
	if err != nil || report.Kept != 1 || report.Deleted != 3 {
		t.Fatalf("%+v, %v", report, err)
	}
	if _, err := rig.p.Get(t.Context(), id); !errors.Is(err, vfs.ErrCorrupt) {
		t.Fatalf("Get of the damaged chunk: %v", err)
	}
	if err := rig.p.Repair(t.Context(), id, rig.data[id]); err != nil {
		t.Fatal(err)
	}
	report, err = rig.mark(keepSome...).Sweep(t.Context(), false, nil)
	if err != nil || report.Kept != 0 || report.Deleted != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	rig.holds(keepSome...)
}

// TestSweepRevived: chunks that are stored again, or asked for, after BeginGC
// live, even when the sweep has looked at them already.
func TestSweepRevived(t *testing.T) {
	rig := newGCRig(t)
	gc := rig.mark(keepSome...)
	dead := rig.packs[5]
	mustPut(t, rig.p, rig.data[dead[0]])
	rig.p.Has(dead[1])
	_, err := gc.Sweep(t.Context(), false, func() error {
		mustPut(t, rig.p, rig.data[dead[2]])
		rig.p.Has(dead[3])
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, true, true, true, false} {
		if got := rig.p.Has(dead[i]); got != want {
			t.Errorf("chunk %d: Has = %v", i, got)
		}
	}
	rig.holds(keepSome...)
	rig.packs[5] = dead[:4]
	keep := slices.Clone(keepSome)
	keep[5] = 4
	rig.holds(keep...)
}

// TestSweepMissing: while something that lives is missing, a pack with
// unreadable parts is not deleted.
func TestSweepMissing(t *testing.T) {
	rig := newGCRig(t)
	if err := rig.p.Close(); err != nil {
		t.Fatal(err)
	}
	name := packPath(rig.opt.Dir, 6)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	b = b[:len(b)-trailerSize-1] // no footer
	b[packHeaderSize+3] ^= 1     // nor the header of the first record
	place(t, name, b)
	rig.p = mustOpen(t, rig.opt)
	if err := rig.p.Fsync(t.Context()); err != nil { // seals what was recovered
		t.Fatal(err)
	}
	gone := rig.packs[5][0]
	gc := rig.mark(keepSome...)
	if !gc.Mark(gone) {
		t.Error("Mark of a missing chunk returns false")
	}
	report, err := gc.Sweep(t.Context(), false, nil)
	if err != nil || report.Missing != 1 || report.Kept != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
	report, err = rig.mark(keepSome...).Sweep(t.Context(), false, nil)
	if err != nil || report.Kept != 0 || report.Deleted != 1 {
		t.Fatalf("%+v, %v", report, err)
	}
}

// TestSweepCompresses: a sweep compresses what was stored raw.
func TestSweepCompresses(t *testing.T) {
	opt := testOptions(t)
	opt.PackSize = 64 << 10
	p := mustOpen(t, opt)
	raw := p.Raw()
	var ids []ID
	for i := range 100 {
		ids = append(ids, mustPut(t, raw, bytes.Repeat([]byte(fmt.Sprintf("%4d", i)), 1000)))
	}
	if err := p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := p.Stats(); s.StoredBytes < s.RawBytes {
		t.Errorf("PutRaw compresses: %+v", s)
	}
	gc := p.BeginGC()
	for i := 0; i < len(ids); i += 2 {
		gc.Mark(ids[i])
	}
	report, err := gc.Sweep(t.Context(), false, nil)
	if err != nil || report.Deleted < 5 {
		t.Fatalf("%+v, %v", report, err)
	}
	if report.CopiedBytes > report.LiveBytes/4 {
		t.Errorf("copied %d bytes of %d", report.CopiedBytes, report.LiveBytes)
	}
	for i := 0; i < len(ids); i += 2 {
		if _, err := p.Get(t.Context(), ids[i]); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSweepSuperseded: a collection ends when another begins, is aborted, or
// was swept.
func TestSweepSuperseded(t *testing.T) {
	rig := newGCRig(t)
	old := rig.mark()
	gc := rig.mark(keepSome...)
	if _, err := old.Sweep(t.Context(), false, nil); !errors.Is(err, ErrSuperseded) {
		t.Errorf("Sweep of the earlier collection: %v", err)
	}
	old.Abort()
	if _, err := gc.Sweep(t.Context(), true, nil); err != nil {
		t.Errorf("Sweep: %v", err)
	}
	if _, err := gc.Sweep(t.Context(), false, nil); !errors.Is(err, ErrSuperseded) {
		t.Errorf("second Sweep: %v", err)
	}
	gc = rig.mark()
	gc.Abort()
	if _, err := gc.Sweep(t.Context(), false, nil); !errors.Is(err, ErrSuperseded) {
		t.Errorf("Sweep after Abort: %v", err)
	}
	rig.holds(keepAll...)
}
