package workspace

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/internal/hostfs"
)

// TestMergeCrash cuts the power at random calls to the host during merges: what
// is there then is the state before or the one after, whole (P2, P3), and a
// merge that was acknowledged is there.
func TestMergeCrash(t *testing.T) {
	n := 6
	if os.Getenv("VFSD_SOAK") != "" {
		n = 100
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { mergeCrash(t, int64(seed)) })
	}
}

func mergeCrash(t *testing.T, seed int64) {
	ctx := context.Background()
	r := rand.New(rand.NewSource(seed))
	root := t.TempDir()
	crash, err := hostfs.NewCrash(hostfs.CrashOptions{Root: root, Scratch: t.TempDir()})
	must(t, err)
	calls, at := 0, -1
	cut := ""
	disk := hostfs.NewFault(crash, nil)
	d, err := OpenDataDir(ctx, Options{FS: disk, Dir: root, Log: testLog(t)})
	must(t, err)
	w, err := d.Create(ctx, "w", 0, 0)
	must(t, err)
	randomEdits(t, w, r, 30, "base")
	v, err := d.Fork(ctx, w, chunk.ID{}, "v")
	must(t, err)
	randomEdits(t, w, r, 20, "w")
	randomEdits(t, v, r, 20, "v")
	theirs := syncHead(t, v)
	syncHead(t, w)
	before := namesOnly(t, w)
	at = r.Intn(25)
	disk.SetHook(func(hostfs.Op, string) error {
		if calls++; calls == at+1 {
			var err error
			if cut, err = crash.PowerCut(uint64(seed)); err != nil {
				t.Error(err)
			}
		}
		return nil
	})
	_, err = w.Merge(ctx, theirs, MergeOptions{})
	must(t, err)
	disk.SetHook(nil)
	after := namesOnly(t, w)
	last, err := crash.PowerCut(uint64(seed))
	must(t, err)
	must(t, d.Close())
	for _, dir := range []string{cut, last} {
		if dir == "" {
			continue // the merge took fewer calls
		}
		d, err := OpenDataDir(ctx, Options{Dir: dir, Log: testLog(t)})
		must(t, err)
		w, err := d.Open("w")
		must(t, err)
		got := namesOnly(t, w)
		if got != after && (dir == last || got != before) {
			t.Errorf("cut at call %d of %d: neither the state before nor the one after", at, calls)
		}
		checkClean(t, w)
		must(t, d.Close())
	}
}

// TestImportCrash cuts the power during an import: nothing of it is visible, and
// it can be done again.
func TestImportCrash(t *testing.T) {
	ctx := context.Background()
	a, _, _ := twoStores(t)
	r := rand.New(rand.NewSource(9))
	randomEdits(t, a.w, r, 60, "a")
	target := syncHead(t, a.w)
	for seed := range 6 {
		root := t.TempDir()
		crash, err := hostfs.NewCrash(hostfs.CrashOptions{Root: root, Scratch: t.TempDir()})
		must(t, err)
		calls, cut := 0, ""
		at := 1 + r.Intn(40)
		disk := hostfs.NewFault(crash, nil)
		d, err := OpenDataDir(ctx, Options{FS: disk, Dir: root, Log: testLog(t)})
		must(t, err)
		w, err := d.Create(ctx, "w", 0, 0)
		must(t, err)
		old := syncHead(t, w)
		disk.SetHook(func(hostfs.Op, string) error {
			if calls++; calls == at {
				var err error
				if cut, err = crash.PowerCut(uint64(seed)); err != nil {
					t.Error(err)
				}
			}
			return nil
		})
		carry(t, a.w, w, chunk.ID{}, target, seed%2 == 0, false)
		disk.SetHook(nil)
		must(t, d.Close())
		if cut == "" {
			continue // it took fewer calls
		}
		d, err = OpenDataDir(ctx, Options{Dir: cut, Log: testLog(t)})
		must(t, err)
		w, err = d.Open("w")
		must(t, err)
		if w.Head() != old {
			t.Errorf("cut at call %d the head has moved", at)
		}
		checkClean(t, w)
		_, err = d.GC(ctx, false)
		must(t, err)
		carry(t, a.w, w, chunk.ID{}, target, seed%2 == 1, false)
		must(t, w.MoveHead(ctx, old, target))
		equalRoots(t, a.w, w)
		checkClean(t, w)
		must(t, d.Close())
	}
}
