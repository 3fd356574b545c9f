package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// faultRig runs one script on a disk that fails chosen calls and can lose
// power.
type faultRig struct {
	t     *testing.T
	disk  *hostfs.Crash
	fault *hostfs.Fault
	opt   Options

	acked   map[ID][]byte // Put returned nil and no failed Close came since
	durable map[ID][]byte // an Fsync returned nil since
	errs    int           // how often the store returned an error

	opening bool // Open runs
	blind   bool // the disk could not be read while the store was opened

	mu     sync.Mutex
	failed map[string]bool // pack files whose fsync failed; guarded by mu, like blind
}

func newFaultRig(t *testing.T) *faultRig {
	root := t.TempDir()
	disk, err := hostfs.NewCrash(hostfs.CrashOptions{Root: root, Scratch: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	opt := testOptions(t)
	fault := hostfs.NewFault(disk, nil)
	opt.FS, opt.Dir = fault, filepath.Join(root, "chunks")
	opt.PackSize, opt.batch, opt.CacheBytes = 24<<10, 4<<10, -1
	return &faultRig{
		t: t, disk: disk, fault: fault, opt: opt,
		acked: make(map[ID][]byte), durable: make(map[ID][]byte), failed: make(map[string]bool),
	}
}

// arm makes the disk fail as hook says. It also watches that no fsync of a
// pack is tried again after it failed.
func (rig *faultRig) arm(hook hostfs.Hook) {
	rig.fault.SetHook(func(op hostfs.Op, name string) error {
		err := hook(op, name)
		if err != nil && !op.Writes() && rig.opening {
			rig.mu.Lock()
			rig.blind = true
			rig.mu.Unlock()
		}
		if op == hostfs.OpSync && filepath.Ext(name) == packSuffix {
			rig.mu.Lock()
			defer rig.mu.Unlock()
			if rig.failed[name] {
				rig.t.Errorf("fsync of %s is tried again after it failed", name)
			}
			rig.failed[name] = rig.failed[name] || err != nil
		}
		return err
	})
}

// note counts an error, and fails the test if its cause was not the host's.
func (rig *faultRig) note(err error) bool {
	if err == nil {
		return true
	}
	rig.errs++
	if rig.blind && errors.Is(err, ErrNotFound) {
		return false // it was not seen
	}
	if !errors.Is(err, syscall.EIO) && !errors.Is(err, syscall.ENOSPC) {
		rig.t.Errorf("not the host's error: %v", err)
	}
	return false
}

// session opens the store, writes, reads, collects and closes. It goes on
// after errors, like a daemon.
func (rig *faultRig) session(r *rand.Rand) {
	ctx := context.Background()
	rig.opening, rig.blind = true, false
	p, err := Open(ctx, rig.opt)
	rig.opening = false
	if !rig.note(err) {
		return
	}
	for range 40 {
		data := sample(r, r.IntN(4000))
		if id, err := p.Put(ctx, data); rig.note(err) {
			rig.acked[id] = data
		}
		if r.IntN(8) == 0 {
			rig.fsync(p)
		}
	}
	gc := p.BeginGC()
	for id := range rig.acked {
		if r.IntN(3) > 0 {
			gc.Mark(id)
		} else {
			delete(rig.acked, id)
			delete(rig.durable, id)
		}
	}
	_, err = gc.Sweep(ctx, false, nil)
	rig.note(err)
	for id, want := range rig.acked {
		if got, err := p.Get(ctx, id); rig.note(err) && !bytes.Equal(got, want) {
			rig.t.Fatalf("chunk %s has other bytes", id)
		}
	}
	rig.heldByDisk()
	if rig.note(p.Close()) {
		rig.settle(rig.acked)
	} else {
		rig.acked = make(map[ID][]byte)
		rig.settle(rig.durable)
	}
}

func (rig *faultRig) fsync(p *Packs) {
	if rig.note(p.Fsync(context.Background())) {
		rig.settle(rig.acked)
	}
}

func (rig *faultRig) settle(chunks map[ID][]byte) {
	for id, data := range chunks {
		rig.durable[id], rig.acked[id] = data, data
	}
}

// heldByDisk takes the power away and looks for what was promised.
func (rig *faultRig) heldByDisk() {
	root, err := rig.disk.LoseUnsynced()
	if err != nil {
		rig.t.Fatal(err)
	}
	opt := rig.opt
	opt.FS, opt.Dir = fastFS{}, filepath.Join(root, "chunks")
	p := mustOpen(rig.t, opt)
	rig.holds(p, rig.durable)
	if err := p.Close(); err != nil {
		rig.t.Fatal(err)
	}
}

func (rig *faultRig) holds(p *Packs, chunks map[ID][]byte) {
	rig.t.Helper()
	for id, want := range chunks {
		got, err := p.Get(context.Background(), id)
		if err != nil {
			rig.t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			rig.t.Fatalf("chunk %s has other bytes", id)
		}
	}
}

// healed: once the disk works, so does the store, with all it acknowledged.
func (rig *faultRig) healed() {
	rig.t.Helper()
	rig.fault.SetHook(nil)
	p := mustOpen(rig.t, rig.opt)
	rig.holds(p, rig.acked)
	mustPut(rig.t, p, []byte("after the fault"))
	if err := p.Fsync(context.Background()); err != nil {
		rig.t.Fatal(err)
	}
	mustScrub(rig.t, p)
	if err := p.Close(); err != nil {
		rig.t.Fatal(err)
	}
}

// TestFaultAtEveryCall fails every host call of a script, one after another,
// in several ways.
func TestFaultAtEveryCall(t *testing.T) {
	faults := map[string]error{
		"EIO":     syscall.EIO,
		"ENOSPC":  syscall.ENOSPC,
		"short":   &hostfs.ShortWrite{Bytes: 777, Err: syscall.ENOSPC},
		"shorter": &hostfs.ShortWrite{Bytes: 1, Err: syscall.EIO},
	}
	step := int64(9)
	if soak() {
		step = 1
	}
	for name, fault := range faults {
		for _, times := range []string{"once", "for good"} {
			t.Run(name+" "+times, func(t *testing.T) {
				hits := 0
				for k := int64(0); ; k += step {
					rig := newFaultRig(t)
					hook := hostfs.Nth(k, fault)
					if times == "for good" {
						hook = hostfs.From(k, fault)
					}
					rig.arm(hook)
					r := rand.New(rand.NewPCG(uint64(k), 4))
					rig.session(r)
					if rig.fault.Calls() <= k {
						break // the script is over before call k
					}
					hits += rig.errs
					rig.healed()
					if t.Failed() {
						t.Fatalf("%s at call %d", name, k)
					}
				}
				if hits == 0 {
					t.Error("no fault was noticed")
				}
			})
		}
	}
}

// TestFlakyDisk fails calls at random, several in a row at times, over several
// lives of the process.
func TestFlakyDisk(t *testing.T) {
	seeds := uint64(60)
	if soak() {
		seeds = 5000
	}
	hits := 0
	for seed := range seeds {
		t.Log("seed", seed)
		rig := newFaultRig(t)
		r := rand.New(rand.NewPCG(seed, 11))
		chance := 2 + r.IntN(30)
		var mu sync.Mutex // of faults, which loading packs calls from several goroutines
		faults := rand.New(rand.NewPCG(seed, 12))
		for range 4 {
			rig.failed = make(map[string]bool) // a new process does not know
			rig.arm(func(op hostfs.Op, _ string) error {
				mu.Lock()
				defer mu.Unlock()
				if faults.IntN(chance) > 0 {
					return nil
				}
				return []error{
					syscall.EIO,
					syscall.ENOSPC,
					&hostfs.ShortWrite{Bytes: faults.IntN(3000), Err: syscall.EIO},
					&hostfs.ShortWrite{Bytes: faults.IntN(3000), Err: syscall.ENOSPC},
				}[faults.IntN(4)]
			})
			rig.session(r)
		}
		hits += rig.errs
		rig.healed()
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if hits < int(seeds) {
		t.Errorf("only %d faults were noticed", hits)
	}
}

// TestBadPack: a pack whose file can no longer be written is left for another.
func TestBadPack(t *testing.T) {
	opt := testOptions(t)
	opt.batch = 1 << 10
	disk := hostfs.NewFault(fastFS{}, nil)
	opt.FS = disk
	p := mustOpen(t, opt)
	model := make(map[ID][]byte)
	put := func() {
		for i := range 20 {
			data := noise(uint64(len(model)), 500+i)
			model[mustPut(t, p, data)] = data
		}
	}
	put()
	disk.SetHook(func(op hostfs.Op, name string) error {
		if op == hostfs.OpWrite && name == packPath(opt.Dir, 1) {
			return syscall.EIO
		}
		return nil
	})
	put()
	if err := p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	verify(t, p, model)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	verify(t, mustOpen(t, opt), model)
}

// TestNameTaken: a file of the name that the next pack would have is somebody
// else's, and stays.
func TestNameTaken(t *testing.T) {
	opt := testOptions(t)
	p := mustOpen(t, opt)
	if err := os.WriteFile(packPath(opt.Dir, 1), []byte("not mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := []byte("where to?")
	id := mustPut(t, p, data)
	if err := p.Fsync(t.Context()); !errors.Is(err, os.ErrExist) {
		t.Fatalf("Fsync: %v", err)
	}
	if err := p.Fsync(t.Context()); err != nil {
		t.Fatal(err)
	}
	verify(t, p, map[ID][]byte{id: data})
	if b, err := os.ReadFile(packPath(opt.Dir, 1)); err != nil || string(b) != "not mine" {
		t.Errorf("the file was changed to %q, %v", b, err)
	}
}

// TestFullDisk: a full disk is an error to the one who asks, and the store goes
// on the moment there is space, without a restart.
func TestFullDisk(t *testing.T) {
	for k := range int64(4) {
		t.Run(fmt.Sprint(k), func(t *testing.T) {
			rig := newFaultRig(t)
			ctx := context.Background()
			p := mustOpen(t, rig.opt)
			r := rand.New(rand.NewPCG(5, 5))
			rig.arm(hostfs.From(k, &hostfs.ShortWrite{Bytes: 1000, Err: syscall.ENOSPC}, hostfs.OpWrite))
			full := 0
			for range 100 {
				data := sample(r, 2000)
				id, err := p.Put(ctx, data)
				if err == nil {
					rig.acked[id] = data
					continue
				}
				full++
				if !errors.Is(err, syscall.ENOSPC) {
					t.Fatal(err)
				}
			}
			if full < 10 {
				t.Fatalf("only %d Puts failed on a full disk", full)
			}
			if err := p.Fsync(ctx); !errors.Is(err, syscall.ENOSPC) {
				t.Fatalf("Fsync on a full disk: %v", err)
			}
			rig.holds(p, rig.acked)
			rig.fault.SetHook(nil)
			data := sample(r, 3000)
			rig.acked[mustPut(t, p, data)] = data
			if err := p.Fsync(ctx); err != nil {
				t.Fatal(err)
			}
			rig.settle(rig.acked)
			rig.heldByDisk()
			verify(t, p, rig.acked)
		})
	}
}
