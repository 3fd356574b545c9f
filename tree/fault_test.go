package tree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

var errInjected = errors.New("injected")

// exercise runs every operation over a tree and a damaged or lying double of
// it, and returns their errors. What it proves is that they return.
func exercise(ctx context.Context, tr, double *Tree) map[string]error {
	errs := make(map[string]error)
	count := func(k, v []byte) bool { return true }
	errs["scan"] = double.Scan(ctx, nil, nil, count)
	for i := range 20 {
		if _, _, err := double.Get(ctx, fmt.Appendf(nil, "key %06d", i*97)); err != nil {
			errs["get"] = err
		}
	}
	for i := range 20 {
		if _, _, _, err := double.Last(ctx, nil, fmt.Appendf(nil, "key %06d", i*103)); err != nil {
			errs["last"] = err
		}
	}
	errs["nodes"] = double.Nodes(ctx, func(chunk.ID, int) (bool, error) { return true, nil })
	errs["diff"] = Diff(ctx, tr, double, func(Change) bool { return true })
	_, errs["size"] = double.Size(ctx)
	batch := []Edit{
		{Key: nil, To: []byte("key 000100"), Delete: true},
		{Key: []byte("key 000500"), Value: []byte("new")},
		{Key: []byte("key 000700"), Delete: true},
		{Key: []byte("key 001000"), To: []byte("key 001100"), Delete: true},
		{Key: []byte("key 001500x")},
		{Key: []byte("zzz")},
	}
	_, errs["apply"] = double.Apply(ctx, batch)
	_, errs["trim"] = double.Apply(ctx, []Edit{{Key: []byte("key 000010"), To: KeyEnd(), Delete: true}})
	_, _, errs["merge"] = Merge(ctx, tr, tr, double, nil)
	return errs
}

func numbered(t testing.TB, s Store, c *Cache, n int) *Tree {
	t.Helper()
	m := model{}
	for i := range n {
		m[fmt.Sprintf("key %06d", i)] = strings.Repeat("v", 40)
	}
	return m.build(t, s, c)
}

// Whichever call of the store fails, its error reaches the caller.
func TestStoreErrorsSurface(t *testing.T) {
	s := newStore()
	root := numbered(t, s, NewCache(0), 2000).Root()
	ops := map[string]func(tr *Tree) error{
		"get":   func(tr *Tree) error { _, _, err := tr.Get(ctx, []byte("key 000300")); return err },
		"last":  func(tr *Tree) error { _, _, _, err := tr.Last(ctx, nil, nil); return err },
		"size":  func(tr *Tree) error { _, err := tr.Size(ctx); return err },
		"scan":  func(tr *Tree) error { return tr.Scan(ctx, nil, nil, func(k, v []byte) bool { return true }) },
		"nodes": func(tr *Tree) error { return tr.Nodes(ctx, func(chunk.ID, int) (bool, error) { return true, nil }) },
		"diff":  func(tr *Tree) error { return Diff(ctx, Empty(s, tr.cache), tr, func(Change) bool { return true }) },
		"apply": func(tr *Tree) error {
			_, err := tr.Apply(ctx, []Edit{{Key: []byte("a")}, {Key: []byte("key 000999x")}, {Key: []byte("z")}})
			return err
		},
		"shrink": func(tr *Tree) error {
			_, err := tr.Apply(ctx, []Edit{{Key: []byte("key 000003"), To: KeyEnd(), Delete: true}})
			return err
		},
		"grow": func(tr *Tree) error {
			var batch []Edit
			for i := range 3000 {
				batch = append(batch, Edit{Key: fmt.Appendf(nil, "new %06d", i), Value: make([]byte, 100)})
			}
			_, err := tr.Apply(ctx, batch)
			return err
		},
		"build": func(tr *Tree) error {
			i := 0
			_, err := Build(ctx, tr.store, tr.cache, func() (k, v []byte, ok bool) {
				i++
				return fmt.Appendf(nil, "%06d", i), make([]byte, 100), i < 1000
			})
			return err
		},
		"merge": func(tr *Tree) error {
			_, _, err := Merge(ctx, Empty(s, tr.cache), model{"k": "v"}.build(t, newStore(), tr.cache), tr, nil)
			return err
		},
		"check": func(tr *Tree) error {
			report, err := Check(ctx, tr)
			return errors.Join(err, report.Err())
		},
	}
	for name, op := range ops {
		failures := 0
		for at := 1; ; at++ {
			if at > 40 { // the first calls, then some further on
				at += at / 3
			}
			calls := 0
			double := &memStore{nodes: maps.Clone(s.nodes)}
			double.fail = func() error {
				if calls++; calls == at {
					return errInjected
				}
				return nil
			}
			err := op(Load(double, NewCache(0), root))
			if calls < at {
				if err != nil {
					t.Errorf("%s without a fault: %v", name, err)
				}
				break
			}
			failures++
			if !errors.Is(err, errInjected) {
				t.Errorf("%s with call %d failing: %v", name, at, err)
			}
		}
		if failures == 0 {
			t.Errorf("%s never called the store", name)
		}
	}
}

func TestContextEnds(t *testing.T) {
	s, c := newStore(), NewCache(1<<24)
	tr := numbered(t, s, c, 2000)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for name, err := range exercise(ended, numbered(t, s, c, 1999), tr) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Check(ended, tr); !errors.Is(err, context.Canceled) {
		t.Errorf("check: %v", err)
	}
}

// Promise P4: a node whose bytes are damaged is found, by its structure where
// that shows it and by Check in any case, and the error names it.
func TestDamagedNodes(t *testing.T) {
	s := newStore()
	tr := numbered(t, s, NewCache(0), 2000)
	r := rand.New(rand.NewPCG(1, 5))
	ids := slices.SortedFunc(maps.Keys(nodesOf(t, tr)), func(a, b chunk.ID) int { return bytes.Compare(a[:], b[:]) })
	for range soak(200) {
		id := ids[r.IntN(len(ids))]
		double := &memStore{nodes: maps.Clone(s.nodes)}
		raw := bytes.Clone(s.nodes[id])
		switch r.IntN(3) {
		case 0:
			raw[r.IntN(len(raw))] ^= 1 << r.IntN(8)
		case 1:
			raw = raw[:r.IntN(len(raw))]
		case 2:
			raw = append(raw, 0)
		}
		double.nodes[id] = raw
		damaged := Load(double, NewCache(0), tr.Root())
		report, err := Check(ctx, damaged)
		if err != nil || !errors.Is(report.Err(), vfs.ErrCorrupt) || report.Problems[0].ID != id {
			t.Fatalf("check of a damaged %v: %v, %v", id, report.Problems, err)
		}
		for name, err := range exercise(ctx, tr, damaged) {
			// A damaged digest is one that the store does not have.
			if err != nil && !errors.Is(err, vfs.ErrCorrupt) && !errors.Is(err, errMissing) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Promise P7: a tree made up by somebody else, with every digest right, makes
// nothing crash or run on, and Check finds what is wrong with it.
func TestLyingTrees(t *testing.T) {
	s := newStore()
	tr := numbered(t, s, NewCache(0), 2000)
	caught := 0
	for seed := range uint64(soak(300)) {
		r := rand.New(rand.NewPCG(seed, 6))
		double := &memStore{nodes: maps.Clone(s.nodes)}
		lie := &liar{r: r, s: double, at: 1 + r.IntN(12)}
		lie.pool = slices.SortedFunc(maps.Keys(s.nodes), func(a, b chunk.ID) int { return bytes.Compare(a[:], b[:]) })
		root := lie.rewrite(t, tr.Root())
		if root == tr.Root() {
			continue
		}
		lying := Load(double, NewCache(0), root)
		report, err := Check(ctx, lying)
		if err != nil {
			t.Fatalf("seed %d: check: %v", seed, err)
		}
		if len(report.Problems) == 0 {
			equalsScan(t, lying)
		} else {
			caught++
		}
		for name, err := range exercise(ctx, tr, lying) {
			if err != nil && !errors.Is(err, vfs.ErrCorrupt) && !errors.Is(err, ErrOrder) {
				t.Errorf("seed %d: %s: %v", seed, name, err)
			}
		}
	}
	if caught < soak(300)/4 {
		t.Errorf("only %d lies were worth one", caught)
	}
}

// equalsScan verifies that a tree without problems is the one for its entries.
func equalsScan(t *testing.T, tr *Tree) {
	t.Helper()
	m := model{}
	if err := tr.Scan(ctx, nil, nil, func(k, v []byte) bool { m[string(k)] = string(v); return true }); err != nil {
		t.Fatal(err)
	}
	if tr.Root() != m.build(t, newStore(), NewCache(0)).Root() {
		t.Error("Check found no problem in a tree that is not canonical")
	}
}

// An inner node may be sound in itself and still not fit its child.
func TestChildrenThatDoNotFit(t *testing.T) {
	s := newStore()
	put := func(raw []byte) *node {
		id, err := s.Put(ctx, raw)
		if err != nil {
			t.Fatal(err)
		}
		n, err := decode(id, raw)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	entry := func(n *node, change func(key []byte, r *record)) [2]string {
		key, r := n.lastKey(), n.record()
		if change != nil {
			change(key, &r)
		}
		return [2]string{string(key), string(r.append(nil))}
	}
	leaf := put(encode(0, [2]string{"b", "1"}, [2]string{"c", "2"}))
	next := put(encode(0, [2]string{"x", "1"}, [2]string{"y", "2"}))
	early := put(encode(0, [2]string{"a", "1"}, [2]string{"y", "2"})) // begins left of leaf
	inner := put(encode(1, entry(next, nil)))
	left := put(encode(1, entry(leaf, nil)))
	right := put(encode(1, entry(early, nil)))
	tests := map[string][]byte{
		"leaf two levels down":  encode(2, entry(leaf, nil), entry(inner, nil)),
		"child of its level":    encode(1, entry(leaf, nil), entry(inner, nil)),
		"more entries":          encode(1, entry(leaf, func(_ []byte, r *record) { r.entries++ }), entry(next, nil)),
		"fewer bytes":           encode(1, entry(leaf, func(_ []byte, r *record) { r.bytes-- }), entry(next, nil)),
		"later last key":        encode(1, entry(leaf, func(k []byte, _ *record) { k[0]++ }), entry(next, nil)),
		"earlier last key":      encode(1, entry(leaf, func(k []byte, _ *record) { k[0]-- }), entry(next, nil)),
		"overlap":               encode(1, entry(leaf, nil), entry(early, nil)),
		"overlap of its leaves": encode(2, entry(left, nil), entry(right, nil)),
	}
	sane := numbered(t, s, NewCache(0), 10)
	for name, raw := range tests {
		lying := Load(s, NewCache(0), put(raw).id)
		report, err := Check(ctx, lying)
		if err != nil || !errors.Is(report.Err(), vfs.ErrCorrupt) {
			t.Errorf("%s: check: %v, %v", name, report.Err(), err)
		}
		got := map[string]error{
			"scan": lying.Scan(ctx, nil, nil, func(k, v []byte) bool { return true }),
			"diff": Diff(ctx, sane, lying, func(Change) bool { return true }),
		}
		_, got["apply"] = lying.Apply(ctx, []Edit{{Key: []byte("b")}, {Key: []byte("x")}})
		if strings.HasPrefix(name, "leaf") || strings.HasPrefix(name, "child") {
			// The order of what a path passes by is no concern of Get's.
			_, _, err1 := lying.Get(ctx, []byte("b"))
			_, _, err2 := lying.Get(ctx, []byte("x"))
			got["get"] = errors.Join(err1, err2)
		}
		for op, err := range got {
			if !errors.Is(err, vfs.ErrCorrupt) {
				t.Errorf("%s: %s: %v", name, op, err)
			}
		}
	}
}

// liar rewrites a tree with some lie at the at-th node it passes.
type liar struct {
	r    *rand.Rand
	s    *memStore
	pool []chunk.ID
	at   int
}

func (l *liar) rewrite(t *testing.T, id chunk.ID) chunk.ID {
	n, err := decode(id, l.s.nodes[id])
	if err != nil {
		t.Fatal(err)
	}
	type entry struct{ key, value []byte }
	var entries []entry
	for i := range n.n {
		entries = append(entries, entry{n.appendKey(nil, i), bytes.Clone(n.value(i))})
	}
	level := n.level
	if l.at--; l.at == 0 {
		i, j := l.r.IntN(len(entries)), l.r.IntN(len(entries))
		switch l.r.IntN(9) {
		case 0:
			entries[i].value = entries[j].value // another child or value
		case 1:
			entries[i].key = append(entries[i].key, 0)
		case 2:
			entries = slices.Delete(entries, i, i+1)
		case 3:
			level ^= 1
			if level == 1 { // a leaf passed off as an inner node
				for i := range entries {
					entries[i].value = record{id: l.pool[l.r.IntN(len(l.pool))], entries: 1, bytes: 9}.append(nil)
				}
			}
		case 4:
			entries = entries[:1+i] // a boundary where none is
		case 5:
			entries[i].value = nil
			if level > 0 {
				entries[i].value = record{id: l.pool[l.r.IntN(len(l.pool))], entries: 5, bytes: 50}.append(nil)
			}
		case 6:
			if level > 0 {
				rec := decodeRecord(entries[i].value)
				rec.entries++
				entries[i].value = rec.append(nil)
			}
		case 7:
			entries[0].key = []byte("a") // begins, or seems to end, too early
		case 8:
			entries = entries[i:]
		}
	}
	p := newPacker(level)
	defer p.free()
	for _, e := range entries {
		if n.level > 0 && level == n.level && l.at > 0 {
			rec := decodeRecord(e.value)
			rec.id = l.rewrite(t, rec.id)
			if child, err := decode(rec.id, l.s.nodes[rec.id]); err == nil {
				rec = child.record() // the lie is consistent in itself
				if l.r.IntN(4) > 0 {
					e.key = child.lastKey()
				}
			}
			e.value = rec.append(nil)
		}
		p.add(e.key, e.value)
	}
	if p.empty() {
		return id
	}
	raw := p.take()
	fake := chunk.Sum(raw)
	l.s.nodes[fake] = raw
	return fake
}
