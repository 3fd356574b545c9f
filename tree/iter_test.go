package tree

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"sync"
	"testing"
)

func TestScanAgainstModel(t *testing.T) {
	eachSpace(t, 2, func(t *testing.T, r *rand.Rand, key func(*rand.Rand) []byte) {
		s, c := newStore(), NewCache(1<<20)
		tr, m := mutate(t, r, Empty(s, c), model{}, key, 1+r.IntN(6), 1000)
		keys := m.keys()
		bound := func() []byte {
			switch r.IntN(6) {
			case 0:
				return nil
			case 1:
				return append(key(r), byte(r.Uint32()))
			case 2:
				return KeyEnd()
			}
			return key(r)
		}
		for range 200 {
			lo, hi := bound(), bound()
			from := sort.SearchStrings(keys, string(lo))
			to := len(keys)
			if hi != nil {
				to = max(from, sort.SearchStrings(keys, string(hi)))
			}
			stop := to
			if r.IntN(2) == 0 {
				stop = min(to, from+r.IntN(100))
			}
			i := from
			err := tr.Scan(ctx, lo, hi, func(k, v []byte) bool {
				if i >= to || string(k) != keys[i] || string(v) != m[keys[i]] {
					t.Fatalf("scan from %.40q to %.40q: unexpected %.40q", lo, hi, k)
				}
				i++
				return i < stop
			})
			k, v, ok, lastErr := tr.Last(ctx, lo, hi)
			if lastErr != nil || ok != (from < to) || ok && (string(k) != keys[to-1] || string(v) != m[keys[to-1]]) {
				t.Fatalf("last from %.40q to %.40q: %.40q, %v, %v", lo, hi, k, ok, lastErr)
			}
			if want := min(to, max(stop, from+1)); err != nil || i != want {
				t.Fatalf("scan from %.40q to %.40q: %d entries, %v; want %d", lo, hi, i-from, err, want-from)
			}
		}
	})
}

func TestGetAgainstModel(t *testing.T) {
	eachSpace(t, 1, func(t *testing.T, r *rand.Rand, key func(*rand.Rand) []byte) {
		s, c := newStore(), NewCache(1<<20)
		tr, m := mutate(t, r, Empty(s, c), model{}, key, 1+r.IntN(6), 1000)
		for range 2000 {
			k := key(r)
			switch r.IntN(8) {
			case 0:
				k = append(k, 0)
			case 1:
				k = k[:r.IntN(len(k))]
			}
			want, wantOK := m[string(k)]
			v, ok, err := tr.Get(ctx, k)
			if err != nil || ok != wantOK || string(v) != want || (v != nil) != ok {
				t.Fatalf("get %.40q: %.40q, %v, %v; want %.40q, %v", k, v, ok, err, want, wantOK)
			}
		}
	})
}

func TestIterEnd(t *testing.T) {
	s, c := newStore(), NewCache(1<<20)
	for _, tr := range []*Tree{Empty(s, c), model{"a": "1"}.build(t, s, c)} {
		it := tr.Iter(ctx, []byte("b"), nil)
		for range 3 {
			if k, _, ok := it.Next(); ok || it.Err() != nil {
				t.Fatalf("%q, %v, %v; want the end", k, ok, it.Err())
			}
		}
	}
}

// Trees, their iterators and batches share nodes and one cache, which is too
// small for them. Run with -race.
func TestConcurrentUse(t *testing.T) {
	s, c := newStore(), NewCache(200_000)
	m := model{}
	for i := range 20000 {
		m[fmt.Sprintf("key %06d", i)] = fmt.Sprintf("value %d", i)
	}
	tr := m.build(t, s, c)
	var wg sync.WaitGroup
	for worker := range 4 {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(worker), 3))
			n := 0
			if err := tr.Scan(ctx, nil, nil, func(k, v []byte) bool {
				n++
				return string(v) == m[string(k)]
			}); err != nil || n != len(m) {
				t.Errorf("scan: %d entries, %v", n, err)
			}
			mine := tr
			for range 50 {
				k := fmt.Appendf(nil, "key %06d", r.IntN(20000))
				var err error
				if mine, err = mine.Apply(ctx, []Edit{{Key: k, Value: fmt.Append(nil, worker)}}); err != nil {
					t.Error(err)
					return
				}
				if v, _, err := tr.Get(ctx, k); err != nil || string(v) != m[string(k)] {
					t.Errorf("get %q: %q, %v: another's edit shows", k, v, err)
				}
			}
			if err := Diff(ctx, tr, mine, func(ch Change) bool { return string(ch.New) == fmt.Sprint(worker) }); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if stats := c.Stats(); stats.Bytes > 200_000 || stats.Nodes == 0 {
		t.Errorf("cache of %d bytes in %d nodes", stats.Bytes, stats.Nodes)
	}
	equalsModel(t, tr, m)
}
