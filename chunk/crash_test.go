package chunk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// crashRig runs a store on a disk that can lose power before any host call,
// and knows what it may lose.
type crashRig struct {
	t    *testing.T
	seed uint64
	r    *rand.Rand
	disk *hostfs.Crash
	opt  Options

	model   map[ID][]byte // everything ever stored
	put     map[ID]bool   // stored and not collected, durable or not
	durable map[ID]bool   // what an Fsync promised and no collection released
	mu      sync.Mutex    // held by hook
	chance  int           // one host call in so many loses power; 0: none does
	cuts    int
	failed  []string // what was wrong after a power cut
}

func newCrashRig(t *testing.T, seed uint64, o hostfs.CrashOptions) *crashRig {
	root := t.TempDir()
	o.Root, o.Scratch = root, t.TempDir()
	disk, err := hostfs.NewCrash(o)
	if err != nil {
		t.Fatal(err)
	}
	rig := &crashRig{
		t: t, seed: seed, r: rand.New(rand.NewPCG(seed, 3)), disk: disk,
		model: make(map[ID][]byte), put: make(map[ID]bool), durable: make(map[ID]bool),
	}
	opt := testOptions(t)
	opt.FS = hostfs.NewFault(disk, rig.hook)
	opt.Dir = filepath.Join(root, "chunks")
	opt.PackSize = int64(16<<10) << rig.r.IntN(4)
	opt.batch = 1 << (9 + rig.r.IntN(6))
	opt.CacheBytes = -1
	rig.opt = opt
	return rig
}

// hook runs before each host call. Power cuts before calls that change nothing
// are like those before the next that does; and only such calls are made by
// several goroutines at once, when a store is opened.
func (rig *crashRig) hook(op hostfs.Op, _ string) error {
	if !op.Writes() || op == hostfs.OpOpen {
		return nil
	}
	rig.mu.Lock()
	defer rig.mu.Unlock()
	if rig.chance > 0 && rig.r.IntN(rig.chance) == 0 {
		rig.powerCut()
	}
	return nil
}

// powerCut looks at what a power cut now could leave.
func (rig *crashRig) powerCut() {
	rig.cuts++
	var root string
	var err error
	switch rig.r.IntN(6) {
	case 0:
		root, err = rig.disk.LoseUnsynced()
	case 1:
		root, err = rig.disk.Kill()
	default:
		root, err = rig.disk.PowerCut(rig.r.Uint64())
	}
	if err != nil {
		rig.t.Fatal(err)
	}
	defer os.RemoveAll(root)
	if err := rig.examine(root); err != nil {
		rig.failed = append(rig.failed, fmt.Sprintf("seed %d, cut %d: %v", rig.seed, rig.cuts, err))
	}
}

// examine opens what a power cut left, twice: the second time after it was
// written to.
func (rig *crashRig) examine(root string) error {
	opt := rig.opt
	opt.FS, opt.Dir = fastFS{}, filepath.Join(root, "chunks")
	opt.Log = testLog(rig.t)
	for range 2 {
		p, err := Open(context.Background(), opt)
		if err != nil {
			return err
		}
		err = errors.Join(rig.hold(p), p.Close())
		if err != nil {
			return err
		}
	}
	return nil
}

// hold holds a recovered store to the promises.
func (rig *crashRig) hold(p *Packs) error {
	ctx := context.Background()
	for id, want := range rig.model {
		got, err := p.Get(ctx, id)
		switch {
		case err == nil && !bytes.Equal(got, want):
			return fmt.Errorf("chunk %s has other bytes", id)
		case err != nil && !errors.Is(err, ErrNotFound):
			return err
		case err != nil && rig.durable[id]:
			return fmt.Errorf("durable: %w", err)
		}
	}
	if n := p.Stats().Damaged; n > 0 {
		return fmt.Errorf("recovery found %d damaged places", n)
	}
	var bad error
	if err := p.Scrub(ctx, nil, func(d Damage) { bad = d }); err != nil || bad != nil {
		return fmt.Errorf("scrub: %w", errors.Join(err, bad))
	}
	for _, data := range rig.model {
		if _, err := p.Put(ctx, data); err != nil {
			return err
		}
	}
	return p.Fsync(ctx)
}

// run does random things.
func (rig *crashRig) run(steps int) {
	p, err := Open(context.Background(), rig.opt)
	if err != nil {
		rig.t.Fatal(err)
	}
	for range steps {
		switch k := rig.r.IntN(100); {
		case k < 84:
			data := sample(rig.r, rig.r.IntN(1<<(4+rig.r.IntN(11))))
			id := mustPut(rig.t, p, data)
			rig.model[id], rig.put[id] = data, true
		case k < 88:
			rig.must(rig.disk.WriteBack())
		case k < 94:
			rig.must(p.Fsync(context.Background()))
			for id := range rig.put {
				rig.durable[id] = true
			}
		case k < 97:
			rig.collect(p)
		default:
			rig.must(p.Close())
			for id := range rig.put {
				rig.durable[id] = true
			}
			if p, err = Open(context.Background(), rig.opt); err != nil {
				rig.t.Fatal(err)
			}
		}
	}
	rig.must(p.Close())
}

func (rig *crashRig) must(err error) {
	rig.t.Helper()
	if err != nil {
		rig.t.Fatal(err)
	}
}

// collect drops a random part of the chunks.
func (rig *crashRig) collect(p *Packs) {
	gc := p.BeginGC()
	for id := range rig.put {
		if rig.r.IntN(3) > 0 {
			gc.Mark(id)
			continue
		}
		delete(rig.put, id)
		delete(rig.durable, id)
	}
	_, err := gc.Sweep(context.Background(), false, nil)
	rig.must(err)
}

func TestCrash(t *testing.T) {
	seeds, chance := uint64(8), 8
	if soak() {
		seeds, chance = 500, 8
	}
	for _, strict := range []bool{false, true} {
		runs, cuts := 0, 0
		for seed := range seeds {
			t.Run(fmt.Sprintf("strict=%v/%d", strict, seed), func(t *testing.T) {
				rig := newCrashRig(t, seed, hostfs.CrashOptions{StrictNames: strict})
				rig.chance = chance
				rig.run(150)
				runs, cuts = runs+1, cuts+rig.cuts
				for _, f := range rig.failed {
					t.Error(f)
				}
			})
		}
		if cuts < 5*runs {
			t.Errorf("only %d power cuts in %d runs", cuts, runs)
		}
	}
}

// TestCrashControl is the negative control: on a disk whose fsync does nothing
// the same rig must see chunks missing.
func TestCrashControl(t *testing.T) {
	for seed := range uint64(20) {
		rig := newCrashRig(t, seed, hostfs.CrashOptions{Lying: true})
		rig.chance = 20
		rig.opt.Log = nil
		rig.run(100)
		for _, f := range rig.failed {
			if strings.Contains(f, "durable") {
				return
			}
		}
	}
	t.Error("no loss seen without fsync: the rig proves nothing")
}
