package tree

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"sync"
	"testing"

	"github.com/vfsd/vfsd/chunk"
)

var ctx = context.Background()

var errMissing = errors.New("no such node")

// memStore is a Store over a map. It counts, and fails when told to.
type memStore struct {
	mu    sync.Mutex
	nodes map[chunk.ID][]byte
	gets  int
	puts  int
	bytes int
	fail  func() error // asked before each call, if not nil
}

func newStore() *memStore { return &memStore{nodes: make(map[chunk.ID][]byte)} }

func (s *memStore) Get(_ context.Context, id chunk.ID) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gets++
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return nil, err
		}
	}
	raw, ok := s.nodes[id]
	if !ok {
		return nil, fmt.Errorf("%v: %w", id, errMissing)
	}
	return raw, nil
}

func (s *memStore) Put(_ context.Context, node []byte) (chunk.ID, error) {
	id := chunk.Sum(node)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.puts++
	s.bytes += len(node)
	if s.fail != nil {
		if err := s.fail(); err != nil {
			return chunk.ID{}, err
		}
	}
	s.nodes[id] = node
	return id, nil
}

// model is the oracle: what a tree must hold.
type model map[string]string

func (m model) keys() []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func (m model) apply(batch []Edit) {
	for _, e := range batch {
		if e.isRange() {
			for k := range m {
				if k >= string(e.Key) && k < string(e.To) {
					delete(m, k)
				}
			}
		}
	}
	for _, e := range batch {
		switch {
		case e.isRange():
		case e.Delete:
			delete(m, string(e.Key))
		default:
			m[string(e.Key)] = string(e.Value)
		}
	}
}

func (m model) build(t testing.TB, s Store, c *Cache) *Tree {
	t.Helper()
	keys, i := m.keys(), -1
	tr, err := Build(ctx, s, c, func() (k, v []byte, ok bool) {
		if i++; i == len(keys) {
			return nil, nil, false
		}
		return []byte(keys[i]), []byte(m[keys[i]]), true
	})
	if err != nil {
		t.Fatalf("build: %v", err)
	}
	return tr
}

// keySpace makes keys that a test draws from.
type keySpace struct {
	name string
	key  func(r *rand.Rand) []byte
}

var keySpaces = []keySpace{
	{"short", func(r *rand.Rand) []byte { return fmt.Appendf(nil, "%d", r.IntN(5000)) }},
	{"inodes", func(r *rand.Rand) []byte {
		return binary.BigEndian.AppendUint64([]byte("i"), uint64(r.IntN(20000)))
	}},
	{"dentries", func(r *rand.Rand) []byte {
		k := binary.BigEndian.AppendUint64([]byte("d"), uint64(r.IntN(40)))
		return fmt.Appendf(k, "file-%d.txt", r.IntN(2000))
	}},
	{"long", func(r *rand.Rand) []byte {
		k := bytes.Repeat([]byte{byte('a' + r.IntN(3))}, r.IntN(MaxKey-8))
		return fmt.Appendf(k, "%08d", r.IntN(300))
	}},
	{"huge", func(r *rand.Rand) []byte { // few entries fill a node at any level
		k := bytes.Repeat([]byte{'z'}, MaxKey)
		copy(k[r.IntN(3)*(MaxKey-4)/2:], fmt.Sprintf("%04d", r.IntN(3000)))
		return k
	}},
	{"never ending", chosenKey("never ending")},
	{"always ending", chosenKey("always ending")},
	{"in step", chosenKey("in step")},
}

// chosenHashes are those that somebody would pick names for.
var chosenHashes = map[string]func(h uint64) bool{
	"never ending":  func(h uint64) bool { return h>>56 == 0xff },
	"always ending": func(h uint64) bool { return h>>56 == 0 },
	"in step":       func(h uint64) bool { return h>>60 == 3 },
}

// chosenKey draws from some thousands of keys with such hashes, found once.
func chosenKey(name string) func(r *rand.Rand) []byte {
	pool := sync.OnceValue(func() (keys [][]byte) {
		for i := 1_000_000; len(keys) < 4000; i++ {
			if k := strconv.AppendInt(nil, int64(i), 10); chosenHashes[name](keyHash(0, k)) {
				keys = append(keys, k)
			}
		}
		return keys
	})
	return func(r *rand.Rand) []byte {
		return bytes.Clone(pool()[r.IntN(len(pool()))])
	}
}

// randomBatch draws a batch of up to size edits over the keys of a space.
func randomBatch(r *rand.Rand, m model, key func(*rand.Rand) []byte, size int) []Edit {
	value := func() []byte {
		switch r.IntN(20) {
		case 0:
			return make([]byte, r.IntN(MaxValue+1))
		case 1:
			return nil
		}
		return bytes.Repeat([]byte{byte(r.Uint32())}, r.IntN(80))
	}
	existing := m.keys()
	var batch []Edit
	deletes := r.IntN(4) // of 4, how many edits delete
	for range 1 + r.IntN(size) {
		k := key(r)
		if len(existing) > 0 && r.IntN(3) == 0 {
			k = []byte(existing[r.IntN(len(existing))])
		}
		if r.IntN(4) < deletes {
			batch = append(batch, Edit{Key: k, Delete: true})
		} else {
			batch = append(batch, Edit{Key: k, Value: value()})
		}
	}
	for range max(0, r.IntN(6)-3) {
		if e := randomRange(r, existing, key); !overlaps(batch, e) {
			batch = append(batch, e)
		}
	}
	return sortBatch(batch)
}

// randomRange draws a range, short or long.
func randomRange(r *rand.Rand, existing []string, key func(*rand.Rand) []byte) Edit {
	lo, hi := key(r), key(r)
	if len(existing) > 0 && r.IntN(2) == 0 {
		i := r.IntN(len(existing))
		j := min(len(existing)-1, i+r.IntN(1+len(existing)/4))
		lo, hi = []byte(existing[i]), []byte(existing[j])
	}
	if bytes.Compare(lo, hi) > 0 {
		lo, hi = hi, lo
	}
	switch r.IntN(12) {
	case 0:
		lo = nil
	case 1:
		hi = KeyEnd()
	case 2:
		lo, hi = nil, KeyEnd()
	}
	return Edit{Key: lo, To: hi, Delete: true}
}

func overlaps(batch []Edit, e Edit) bool {
	for _, o := range batch {
		if o.isRange() && bytes.Compare(o.Key, e.To) <= 0 && bytes.Compare(e.Key, o.To) <= 0 {
			return true
		}
	}
	return false
}

// sortBatch sorts edits into a batch, of equal keys keeping a range and one
// other.
func sortBatch(batch []Edit) []Edit {
	rank := func(e Edit) int {
		if e.isRange() {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(batch, func(a, b Edit) int {
		if c := bytes.Compare(a.Key, b.Key); c != 0 {
			return c
		}
		return rank(a) - rank(b)
	})
	return slices.CompactFunc(batch, func(a, b Edit) bool {
		return bytes.Equal(a.Key, b.Key) && rank(a) == rank(b)
	})
}

// equalsModel compares a tree with the oracle, entry by entry and by root.
func equalsModel(t testing.TB, tr *Tree, m model) {
	t.Helper()
	keys := m.keys()
	i := 0
	err := tr.Scan(ctx, nil, nil, func(k, v []byte) bool {
		if i >= len(keys) || string(k) != keys[i] || string(v) != m[keys[i]] || v == nil {
			t.Errorf("entry %d is %.40q = %.40q", i, k, v)
			return false
		}
		i++
		return true
	})
	if err != nil {
		t.Fatalf("scan: %v", err)
	}
	if i != len(keys) {
		t.Fatalf("scan ended after %d entries of %d", i, len(keys))
	}
	if want := m.build(t, newStore(), NewCache(1<<20)); tr.Root() != want.Root() {
		t.Fatalf("root %v, built in bulk %v", tr.Root(), want.Root())
	}
}

// Promise P5: equal content means equal root, whatever the history.
func TestHistoryIndependence(t *testing.T) {
	for _, space := range keySpaces {
		for seed := range uint64(soak(6)) {
			t.Run(fmt.Sprintf("%s/%d", space.name, seed), func(t *testing.T) {
				r := rand.New(rand.NewPCG(seed, 1))
				testHistory(t, r, space.key)
			})
		}
	}
}

func testHistory(t *testing.T, r *rand.Rand, key func(*rand.Rand) []byte) {
	s, c := newStore(), NewCache(int64(r.IntN(2)<<20))
	tr, m := Empty(s, c), model{}
	size := 1 << (2 + r.IntN(9))
	for range 25 {
		batch := randomBatch(r, m, key, size)
		before, puts := tr.Root(), s.puts
		next, err := tr.Apply(ctx, batch)
		if err != nil {
			t.Fatalf("apply: %v", err)
		}
		if tr.Root() != before {
			t.Fatal("Apply changed the tree it was called on")
		}
		if fresh := len(nodesOf(t, next)) - sharedNodes(t, tr, next); s.puts-puts != fresh {
			t.Fatalf("Apply wrote %d nodes, %d are new", s.puts-puts, fresh)
		}
		tr = next
		m.apply(batch)
		equalsModel(t, tr, m)
	}
	sound(t, tr)
}

func nodesOf(t testing.TB, tr *Tree) map[chunk.ID]int {
	t.Helper()
	nodes := make(map[chunk.ID]int)
	err := tr.Nodes(ctx, func(id chunk.ID, level int) (bool, error) {
		nodes[id] = level
		return true, nil
	})
	if err != nil {
		t.Fatalf("nodes: %v", err)
	}
	return nodes
}

func sharedNodes(t testing.TB, a, b *Tree) (shared int) {
	t.Helper()
	inB := nodesOf(t, b)
	for id := range nodesOf(t, a) {
		if _, ok := inB[id]; ok {
			shared++
		}
	}
	return shared
}

// sound runs the structure check, as every test does at its end.
func sound(t testing.TB, tr *Tree) {
	t.Helper()
	report, err := Check(ctx, tr)
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	for _, p := range report.Problems {
		t.Errorf("level %d: %v", p.Level, p.Err)
	}
	size, err := tr.Size(ctx)
	if err != nil || size != report.Size {
		t.Errorf("size %+v, %v; the check says %+v", size, err, report.Size)
	}
	if report.Largest > MaxNode {
		t.Errorf("largest node of %d bytes", report.Largest)
	}
}

// The old root may survive as a child of the new one, and an old node may
// become the root. Trees that grow and shrink at one end pass through every
// such moment; equal keys up to there make each level's last node the only one
// that changes.
func TestGrowAndShrinkAtOneEnd(t *testing.T) {
	for _, shape := range []struct{ keySize, step, count int }{
		{12, 1, soak(700)}, {12, 60, soak(6000)}, {200, 7, 1000}, {MaxKey, 1, 350}, {MaxKey, 5, 400},
	} {
		t.Run(fmt.Sprintf("%d/%d", shape.keySize, shape.step), func(t *testing.T) {
			t.Parallel()
			testOneEnd(t, shape.keySize, shape.step, shape.count)
		})
	}
}

func testOneEnd(t *testing.T, size, step, count int) {
	s, c := newStore(), NewCache(1<<20)
	key := func(i int) []byte { return fmt.Appendf(nil, "%0*d", size, i) }
	// Roots of the first i entries.
	want := []chunk.ID{emptyRoot}
	for i := range count {
		if (i+1)%step != 0 {
			want = append(want, chunk.ID{})
			continue
		}
		j := 0
		tr, err := Build(ctx, s, c, func() (k, v []byte, ok bool) {
			j++
			return key(j - 1), nil, j <= i+1
		})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, tr.Root())
	}
	count -= count % step
	tr := Empty(s, c)
	apply := func(entries int, batch []Edit) {
		t.Helper()
		var err error
		if tr, err = tr.Apply(ctx, batch); err != nil {
			t.Fatal(err)
		}
		if tr.Root() != want[entries] {
			t.Fatalf("with %d entries: root %v, built in bulk %v", entries, tr.Root(), want[entries])
		}
	}
	for i := 0; i < count; i += step {
		var batch []Edit
		for j := i; j < i+step; j++ {
			batch = append(batch, Edit{Key: key(j)})
		}
		apply(i+step, batch)
	}
	full := tr
	for i := count - step; i >= 0; i -= step {
		var batch []Edit
		for j := i; j < i+step; j++ {
			batch = append(batch, Edit{Key: key(j), Delete: true})
		}
		apply(i, batch)
	}
	for i := count - step; i >= 0; i -= step {
		tr = full
		apply(i, []Edit{{Key: key(i), To: KeyEnd(), Delete: true}})
	}
}
