package chunk

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

func numbered(i uint64) ID {
	return Sum(binary.LittleEndian.AppendUint64(nil, i))
}

// TestIndexModel runs the index beside a map, with few shards in use so that
// probes are long and wrap around.
func TestIndexModel(t *testing.T) {
	type state struct {
		l    loc
		flag slotFlags
	}
	x := newIndex()
	model := make(map[ID]state)
	var ids []ID
	for i := uint64(0); len(ids) < 600; i++ {
		id := numbered(i)
		if s, _ := x.locate(id); s == &x.shards[0] || s == &x.shards[255] {
			ids = append(ids, id)
		}
	}
	r := rand.New(rand.NewPCG(1, 8))
	marking := false
	for step := range 60000 {
		id := ids[r.IntN(len(ids))]
		m, has := model[id]
		l := loc{pack: 1 + r.Uint32N(maxPackNo), off: r.Uint32(), n: r.Uint32N(1 << 24)}
		switch k := r.IntN(100); {
		case k < 40:
			old, had := x.insert(id, l)
			if had != has || had && old != m.l {
				t.Fatalf("step %d: insert returns %v, %v", step, old, had)
			}
			f := m.flag &^ flagDamaged
			if marking {
				f |= flagFresh
			}
			model[id] = state{l, f}
		case k < 75:
			got := x.removeDead(id, m.l)
			want := elsewhere
			if has && m.flag&(flagMarked|flagFresh) != 0 {
				want = alive
			} else if has {
				want = removed
				delete(model, id)
			}
			if got != want {
				t.Fatalf("step %d: removeDead returns %v, want %v", step, got, want)
			}
		case k < 80:
			if x.relocate(id, l, m.l) {
				t.Fatalf("step %d: relocated from where it was not", step)
			}
			if x.relocate(id, m.l, l) != has {
				t.Fatalf("step %d: not relocated", step)
			}
			if has {
				model[id] = state{l, m.flag &^ flagDamaged}
			}
		case k < 85:
			if x.flag(id, m.l, flagDamaged) != has {
				t.Fatalf("step %d: not flagged", step)
			}
			if has {
				model[id] = state{m.l, m.flag | flagDamaged}
			}
		case k < 90:
			good := has && m.flag&flagDamaged == 0
			if x.touch(id) != good {
				t.Fatalf("step %d: touch", step)
			}
			if good && marking {
				model[id] = state{m.l, m.flag | flagFresh}
			}
		case k < 95:
			first, there := x.mark(id)
			if there != has || first != (!has || m.flag&flagMarked == 0) {
				t.Fatalf("step %d: mark returns %v, %v", step, first, there)
			}
			if has {
				model[id] = state{m.l, m.flag | flagMarked}
			}
		case k == 95 && r.IntN(20) == 0:
			if marking = !marking; !marking {
				x.stopMarking()
				break
			}
			x.startMarking()
			for id, m := range model {
				model[id] = state{m.l, m.flag & flagDamaged}
			}
		default:
			if got, f, ok := x.lookup(id); ok != has || got != m.l || f != m.flag {
				t.Fatalf("step %d: lookup returns %v %v %v, want %v %v", step, got, f, ok, m, has)
			}
		}
	}
	n := 0
	x.scan(func(loc, slotFlags) { n++ })
	if chunks, _ := x.size(); n != len(model) || chunks != int64(n) {
		t.Fatalf("scan meets %d chunks, size says %d, want %d", n, chunks, len(model))
	}
}

// TestIndexMemory holds the index to its figure: some ten million chunks must
// fit into the memory of a laptop.
func TestIndexMemory(t *testing.T) {
	n := uint64(300_000)
	if soak() {
		n = 10_000_000
	}
	x := newIndex()
	worst := 0.0
	for i := range n {
		x.insert(numbered(i), loc{pack: 1, off: uint32(i), n: 100})
		if i > n/4 && i%1000 == 0 {
			_, bytes := x.size()
			worst = max(worst, float64(bytes)/float64(i+1))
		}
	}
	chunks, bytes := x.size()
	if chunks != int64(n) {
		t.Fatalf("%d chunks, want %d", chunks, n)
	}
	t.Logf("%d chunks: %.1f bytes each, %.1f at worst", n, float64(bytes)/float64(n), worst)
	if worst > 39 {
		t.Errorf("%.1f bytes a chunk, want at most 39", worst)
	}
	for i := range n {
		if l, _, ok := x.lookup(numbered(i)); !ok || l.off != uint32(i) {
			t.Fatalf("chunk %d is not found", i)
		}
	}
}
