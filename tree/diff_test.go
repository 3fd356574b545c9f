package tree

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"
)

// mutate returns a tree and model some batches further on.
func mutate(t *testing.T, r *rand.Rand, tr *Tree, m model, key func(*rand.Rand) []byte, batches, size int) (*Tree, model) {
	t.Helper()
	m = maps.Clone(m)
	for range batches {
		batch := randomBatch(r, m, key, size)
		var err error
		if tr, err = tr.Apply(ctx, batch); err != nil {
			t.Fatalf("apply: %v", err)
		}
		m.apply(batch)
	}
	return tr, m
}

func eachSpace(t *testing.T, seeds int, f func(t *testing.T, r *rand.Rand, key func(*rand.Rand) []byte)) {
	for _, space := range keySpaces {
		for seed := range uint64(soak(seeds)) {
			t.Run(fmt.Sprintf("%s/%d", space.name, seed), func(t *testing.T) {
				f(t, rand.New(rand.NewPCG(seed, 2)), space.key)
			})
		}
	}
}

func TestDiffAgainstModel(t *testing.T) {
	eachSpace(t, 4, func(t *testing.T, r *rand.Rand, key func(*rand.Rand) []byte) {
		s, c := newStore(), NewCache(1<<20)
		a, am := mutate(t, r, Empty(s, c), model{}, key, 1+r.IntN(6), 1000)
		for _, size := range []int{1, 5, 1000} {
			b, bm := mutate(t, r, a, am, key, 1+r.IntN(3), size)
			equalsDiff(t, a, b, am, bm)
			equalsDiff(t, b, a, bm, am)
			a, am = b, bm
		}
		equalsDiff(t, a, a, am, am)
		equalsDiff(t, Empty(s, c), a, model{}, am)
		equalsDiff(t, a, Empty(s, c), am, model{})
	})
}

func equalsDiff(t *testing.T, a, b *Tree, am, bm model) {
	t.Helper()
	all := maps.Clone(am)
	maps.Copy(all, bm)
	var want []string // keys
	for _, k := range all.keys() {
		old, inA := am[k]
		now, inB := bm[k]
		if inA != inB || old != now {
			want = append(want, k)
		}
	}
	i := 0
	err := Diff(ctx, a, b, func(c Change) bool {
		old, inA := am[string(c.Key)]
		now, inB := bm[string(c.Key)]
		if i >= len(want) || string(c.Key) != want[i] || string(c.Old) != old || string(c.New) != now ||
			(c.Old != nil) != inA || (c.New != nil) != inB {
			t.Errorf("change %d is %.40q: %.40q, %.40q", i, c.Key, c.Old, c.New)
			return false
		}
		i++
		return true
	})
	if err != nil {
		t.Fatalf("diff: %v", err)
	}
	if i != len(want) {
		t.Fatalf("%d changes, want %d", i, len(want))
	}
}

func TestDiffStops(t *testing.T) {
	m := model{"a": "1", "b": "2"}
	s, c := newStore(), NewCache(1<<20)
	calls := 0
	err := Diff(ctx, Empty(s, c), m.build(t, s, c), func(Change) bool { calls++; return false })
	if err != nil || calls != 1 {
		t.Errorf("%d calls, %v; want one", calls, err)
	}
}

// The cost is that of the difference: a single changed key in a tree of many
// nodes is found along its path, also if one of the trees has another height.
func TestDiffReadsWhatDiffers(t *testing.T) {
	s := newStore()
	m := model{}
	for i := range 20000 {
		m[fmt.Sprintf("key %06d", i)] = "some value of a few bytes"
	}
	tr := m.build(t, s, NewCache(1<<24))
	size, err := tr.Size(ctx)
	if err != nil {
		t.Fatal(err)
	}
	reads := func(b *Tree) int {
		s.gets = 0
		if err := Diff(ctx, Load(s, NewCache(0), tr.Root()), b, func(Change) bool { return true }); err != nil {
			t.Fatal(err)
		}
		return s.gets
	}
	edit := func(batch ...Edit) *Tree {
		b, err := Load(s, NewCache(0), tr.Root()).Apply(ctx, batch)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// Each side reads a path; a moved boundary costs another.
	limit := 4 * size.Levels
	for i := 0; i < 20000; i += 997 {
		k := fmt.Appendf(nil, "key %06d", i)
		for name, b := range map[string]*Tree{
			"value":  edit(Edit{Key: k, Value: []byte("SOME value of a few bytes")}),
			"insert": edit(Edit{Key: append(k, 'x')}),
			"delete": edit(Edit{Key: k, Delete: true}),
		} {
			if n := reads(b); n > limit {
				t.Errorf("%s at %d: %d nodes read, want at most %d", name, i, n, limit)
			}
		}
	}
	// The first thousand keys alone: everything else is new, but the nodes
	// they share are not read.
	lower := edit(Edit{Key: []byte("key 001000"), To: KeyEnd(), Delete: true})
	lowerSize, err := lower.Size(ctx)
	if err != nil || lowerSize.Levels >= size.Levels {
		t.Fatalf("%d levels, %v; want fewer than %d", lowerSize.Levels, err, size.Levels)
	}
	if n, all := reads(lower), len(nodesOf(t, tr)); n > all-sharedNodes(t, lower, tr)+limit {
		t.Errorf("%d nodes read of %d, %d are shared", n, all, sharedNodes(t, lower, tr))
	}
}

func TestMergeAgainstModel(t *testing.T) {
	eachSpace(t, 4, func(t *testing.T, r *rand.Rand, key func(*rand.Rand) []byte) {
		s, c := newStore(), NewCache(1<<20)
		base, bm := mutate(t, r, Empty(s, c), model{}, key, r.IntN(4), 1000)
		size := 1 << r.IntN(11)
		ours, om := mutate(t, r, base, bm, key, r.IntN(3), size)
		theirs, tm := mutate(t, r, base, bm, key, r.IntN(3), size)
		equalsMerge(t, base, ours, theirs, bm, om, tm)
		equalsMerge(t, base, theirs, ours, bm, tm, om)
		equalsMerge(t, base, base, theirs, bm, bm, tm)
		equalsMerge(t, base, ours, base, bm, om, bm)
	})
}

// choose is a resolution that depends on its input alone, whichever side is
// ours: the greater value, and nothing for some.
func choose(c Conflict) ([]byte, bool, error) {
	v := c.Ours
	if bytes.Compare(c.Theirs, v) > 0 || v == nil {
		v = c.Theirs
	}
	return v, len(v)%3 != 0, nil
}

func equalsMerge(t *testing.T, base, ours, theirs *Tree, bm, om, tm model) {
	t.Helper()
	optional := func(m model, k string) []byte {
		if v, ok := m[k]; ok {
			return []byte(v)
		}
		return nil
	}
	same := func(a, b []byte) bool { return bytes.Equal(a, b) && (a == nil) == (b == nil) }
	all, want, stats := maps.Clone(bm), model{}, MergeStats{}
	maps.Copy(all, om)
	maps.Copy(all, tm)
	for k := range all {
		b, o, th := optional(bm, k), optional(om, k), optional(tm, k)
		v := o
		switch {
		case same(o, b) && same(th, b):
		case same(th, b):
			stats.Ours++
		case same(o, b):
			stats.Theirs++
			v = th
		case same(o, th):
			stats.Same++
		default:
			stats.Conflicts++
			var keep bool
			if v, keep, _ = choose(Conflict{Ours: o, Theirs: th}); !keep {
				v = nil
			}
		}
		if v != nil {
			want[k] = string(v)
		}
	}
	got, gotStats, err := Merge(ctx, base, ours, theirs, func(c Conflict) ([]byte, bool, error) {
		k := string(c.Key)
		if !same(c.Base, optional(bm, k)) || !same(c.Ours, optional(om, k)) || !same(c.Theirs, optional(tm, k)) {
			t.Errorf("conflict at %.40q does not show the three values", k)
		}
		return choose(c)
	})
	if err != nil {
		t.Fatalf("merge: %v", err)
	}
	if gotStats != stats {
		t.Errorf("stats %+v, want %+v", gotStats, stats)
	}
	equalsModel(t, got, want)
}

func TestMergeResolveError(t *testing.T) {
	s, c := newStore(), NewCache(1<<20)
	build := func(v string) *Tree { return model{"k": v}.build(t, s, c) }
	stop := errors.New("stop")
	_, _, err := Merge(ctx, build("0"), build("1"), build("2"), func(Conflict) ([]byte, bool, error) {
		return nil, false, stop
	})
	if !errors.Is(err, stop) {
		t.Errorf("error %v, want that of resolve in its chain", err)
	}
}
