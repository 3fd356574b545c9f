package workspace

import (
	"context"
	"math/rand"
	"testing"

	"github.com/vfsd/vfsd/chunk"
)

// TestBases compares the best common ancestors with those that a search by
// force finds, in random histories whose clocks lie.
func TestBases(t *testing.T) {
	ctx := context.Background()
	d := newTestDataDir(t)
	p := past{ctx, d.d.Chunks()}
	for seed := range int64(60) {
		r := rand.New(rand.NewSource(seed))
		var ids []chunk.ID
		above := map[chunk.ID]map[chunk.ID]bool{} // ancestors, itself included
		for i := range 14 {
			c := &Commit{Time: int64(r.Intn(100)), LSN: uint64(seed)<<32 | uint64(i)}
			up := map[chunk.ID]bool{}
			for range min(len(ids), r.Intn(3)) {
				parent := ids[len(ids)-1-r.Intn(min(len(ids), 5))]
				c.Parents = append(c.Parents, parent)
				for id := range above[parent] {
					up[id] = true
				}
			}
			id, err := putCommit(ctx, d.d.Chunks(), c)
			must(t, err)
			up[id] = true
			above[id] = up
			ids = append(ids, id)
		}
		for range 20 {
			a, b := ids[r.Intn(len(ids))], ids[r.Intn(len(ids))]
			want := map[chunk.ID]bool{}
			for id := range above[a] {
				want[id] = above[b][id]
			}
			for id := range want {
				for other := range want {
					if id != other && want[id] && above[a][other] && above[b][other] && above[other][id] {
						want[id] = false
					}
				}
			}
			got, err := p.bases(a, b)
			must(t, err)
			n := 0
			for _, ok := range want {
				if ok {
					n++
				}
			}
			for _, x := range got {
				if !want[x.id] {
					t.Errorf("seed %d: %s is no best common ancestor", seed, x.id)
				}
			}
			if len(got) != n {
				t.Errorf("seed %d: %d common ancestors, want %d", seed, len(got), n)
			}
			is, err := p.isAncestor(a, b)
			must(t, err)
			too, err := p.contains(b, a)
			must(t, err)
			if is != above[b][a] || too != is {
				t.Errorf("seed %d: isAncestor says %v, contains %v", seed, is, too)
			}
		}
	}
}

// TestRefs keeps what is named through collections, and no more than allowed.
func TestRefs(t *testing.T) {
	ctx := context.Background()
	x := newReplicas(t, 1, nil)
	a := x.on(0)
	a.write("f", "kept")
	kept := syncHead(t, a.w)
	must(t, a.w.SetRef(ctx, "peer/origin", kept))
	for i := range keptCommits + 5 {
		a.chmod("f", 0o600+uint32(i%2))
		syncHead(t, a.w)
	}
	a.rm("f")
	syncHead(t, a.w)
	_, err := x.d.d.GC(ctx, false)
	must(t, err)
	x.d.kill()
	w := x.d.ws("r0")
	if id, ok := w.Ref("peer/origin"); !ok || id != kept || !w.HasTree(ctx, kept) {
		t.Errorf("the ref is %s, %v", id, ok)
	}
	view, err := w.At(ctx, kept)
	must(t, err)
	if got := (&shellActor{t, view}).tree(); got != "f=kept" {
		t.Errorf("it holds %s", got)
	}
	if is, err := w.IsAncestor(ctx, kept, w.Head()); err != nil || !is {
		t.Errorf("history does not reach it: %v, %v", is, err)
	}
	for _, bad := range []string{"", "import/x", "sync/x", string(make([]byte, maxRefName+1))} {
		if err := w.SetRef(ctx, bad, kept); err == nil {
			t.Errorf("ref %q is taken", bad)
		}
	}
	if err := w.SetRef(ctx, "x", chunk.Sum(nil)); err == nil {
		t.Error("a ref to nothing is taken")
	}
	must(t, w.SetRef(ctx, "peer/origin", chunk.ID{}))
	if _, ok := w.Ref("peer/origin"); ok {
		t.Error("a ref that was dropped is there")
	}
}
