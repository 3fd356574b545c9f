package workspace

import (
	"context"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/vfsd/vfsd/chunk"
)

// TestImportSurvives breaks a transfer: nothing of it is visible, what arrived
// survives kills and collections, and it goes on where it stopped (S10, S16).
func TestImportSurvives(t *testing.T) {
	ctx := context.Background()
	a, b, dir := twoStores(t)
	r := rand.New(rand.NewSource(2))
	p := make([]byte, 4<<20)
	r.Read(p)
	a.write("big", string(p))
	target := syncHead(t, a.w)
	commit, err := a.w.Commit(ctx, target)
	must(t, err)
	before := b.tree()

	im, err := b.w.Import(ctx, target)
	must(t, err)
	var ids []chunk.ID
	must(t, a.w.eachChunk(ctx, commit.Root, func(id chunk.ID) error { ids = append(ids, id); return nil }))
	half := len(ids) / 2
	for _, id := range ids[:half] {
		data, err := a.w.StoredBytes(ctx, id)
		must(t, err)
		must(t, im.PutChunk(ctx, id, data))
	}
	_, err = dir.d.GC(ctx, false) // under way
	must(t, err)
	must(t, im.Close())
	must(t, dir.d.Chunks().Fsync(ctx))
	dir.kill()
	_, err = dir.d.GC(ctx, false) // and before anyone has opened the workspace
	must(t, err)
	b = &shellActor{t, dir.ws("w")}
	if got := b.tree(); got != before {
		t.Errorf("half a transfer shows: %s", got)
	}
	c := carry(t, a.w, b.w, chunk.ID{}, target, false, false)
	if c.chunks != len(ids)-half {
		t.Errorf("%d of %d chunks were sent again", c.chunks-(len(ids)-half), half)
	}
	// Finished and not moved to yet, it is kept too.
	_, err = dir.d.GC(ctx, false)
	must(t, err)
	dir.kill()
	b = &shellActor{t, dir.ws("w")}
	must(t, b.w.MoveHead(ctx, syncHead(t, b.w), target))
	equalRoots(t, a.w, b.w)
	checkClean(t, b.w)
	if names, err := os.ReadDir(filepath.Join(dir.dir, wsName, "w", incomingName)); err != nil || len(names) > 0 {
		t.Errorf("ledgers are left: %v, %v", names, err)
	}
}

// TestLedgerDamage reads ledgers that a crash has cut anywhere.
func TestLedgerDamage(t *testing.T) {
	ctx := context.Background()
	_, b, dir := twoStores(t)
	im, err := b.w.Import(ctx, chunk.Sum([]byte("t")))
	must(t, err)
	for i := range 10 {
		data := []byte(fmt.Sprint(i))
		must(t, im.PutChunk(ctx, chunk.Sum(data), data))
	}
	must(t, im.Close())
	name := filepath.Join(dir.dir, wsName, "w", incomingName, chunk.Sum([]byte("t")).String())
	whole, err := os.ReadFile(name)
	must(t, err)
	if len(whole) != ledgerHeader+10*chunk.IDSize {
		t.Fatalf("a ledger of %d bytes", len(whole))
	}
	for n := 0; n < len(whole); n += 3 {
		must(t, os.WriteFile(name, whole[:n], 0o600))
		got := 0
		must(t, readLedgers(b.w.fsys, b.w.dir, func(chunk.ID) { got++ }))
		if want := max(0, n-ledgerHeader) / chunk.IDSize; got != want {
			t.Fatalf("cut to %d bytes it has %d ids, want %d", n, got, want)
		}
	}
	if err := im.PutChunk(ctx, chunk.Sum([]byte("late")), []byte("late")); err == nil {
		t.Error("a closed import takes chunks")
	}
}

// TestImportHoldsWorkspace keeps a workspace from falling asleep while a peer is
// sending, and a closed one from having its head replaced.
func TestImportHoldsWorkspace(t *testing.T) {
	ctx := context.Background()
	a, b, dir := twoStores(t)
	a.write("f", "1")
	target := syncHead(t, a.w)
	im, err := b.w.Import(ctx, target)
	must(t, err)
	must(t, dir.d.CloseIdle(time.Now().Add(time.Hour)))
	if b.w.isClosed() {
		t.Fatal("a workspace that receives something was closed")
	}
	must(t, im.Close())
	must(t, dir.d.CloseIdle(time.Now().Add(time.Hour)))
	if !b.w.isClosed() {
		t.Fatal("an idle workspace is open")
	}
	if err := b.w.SetRef(ctx, "x", b.w.Head()); err == nil {
		t.Error("a closed workspace has its head replaced")
	}
	if err := b.w.MoveHead(ctx, b.w.Head(), b.w.Head()); err == nil {
		t.Error("a closed workspace moves its head")
	}
}

// TestCarryRandom brings random histories back and forth between two stores: no
// honest commit is refused, whether there is a base or not, and the roots are
// equal after each (P5).
func TestCarryRandom(t *testing.T) {
	n := 5
	if os.Getenv("VFSD_SOAK") != "" {
		n = 150
	}
	for seed := range n {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			carryRandom(t, int64(seed))
		})
	}
}

func carryRandom(t *testing.T, seed int64) {
	ctx := context.Background()
	r := rand.New(rand.NewSource(seed))
	a, b, dir := twoStores(t)
	at := chunk.ID{}
	for round := range 6 {
		from, to := a.w, b.w
		if round%2 == 1 {
			from, to = b.w, a.w
		}
		randomEdits(t, from, r, 40, fmt.Sprint(round))
		if r.Intn(2) == 0 {
			syncHead(t, from) // commits on the way
			randomEdits(t, from, r, 10, fmt.Sprint(round, "b"))
		}
		next := syncHead(t, from)
		base := at
		if r.Intn(3) == 0 {
			base = chunk.ID{}
		}
		carry(t, from, to, base, next, r.Intn(3) == 0, false)
		must(t, to.MoveHead(ctx, syncHead(t, to), next))
		equalRoots(t, a.w, b.w)
		checkClean(t, to)
		at = next
		if r.Intn(3) == 0 {
			_, err := dir.d.GC(ctx, false)
			must(t, err)
		}
	}
}
