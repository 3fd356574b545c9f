package tree

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"testing"
)

// The vector of the SipHash paper, appendix A.
func TestSipHash(t *testing.T) {
	p := make([]byte, 16)
	for i := range p {
		p[i] = byte(i)
	}
	got := sipHash(binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:]), p[:15])
	if want := uint64(0xa129ca6149be45e5); got != want {
		t.Errorf("got %x, want %x", got, want)
	}
}

// Fourth powers of all weights that nodes can have fit 64 bits.
func TestWeightsFit(t *testing.T) {
	heaviest := capSize - 1 + weight(MaxKey, MaxValue)
	hi, lo := bits.Mul64(heaviest*heaviest, heaviest*heaviest)
	if hi != 0 || lo != pow4(heaviest) {
		t.Errorf("%d^4 does not fit", heaviest)
	}
	if MaxNode >= 1<<16 {
		t.Errorf("offsets in a node of %d bytes do not fit 16 bits", MaxNode)
	}
	if headerSize+heaviest != MaxNode {
		t.Errorf("MaxNode is %d, the heaviest node weighs %d", MaxNode, heaviest)
	}
}

// Sizes are as the trial behind the design found them good: about the target,
// and far more even than waiting times.
func TestNodeSizes(t *testing.T) {
	s := newStore()
	i := -1
	tr, err := Build(ctx, s, NewCache(0), func() (k, v []byte, ok bool) {
		i++
		return fmt.Appendf(nil, "%08d", i), make([]byte, 31), i < 200_000
	})
	if err != nil {
		t.Fatal(err)
	}
	var sum, squares, count float64
	for id, level := range nodesOf(t, tr) {
		if level == 0 {
			n, err := decode(id, s.nodes[id])
			if err != nil {
				t.Fatal(err)
			}
			w := float64(n.weight())
			sum, squares, count = sum+w, squares+w*w, count+1
		}
	}
	mean := sum / count
	spread := math.Sqrt(squares/count-mean*mean) / mean
	if mean < 0.93*targetSize || mean > 1.07*targetSize || spread < 0.25 || spread > 0.31 {
		t.Errorf("mean weight %.0f, relative deviation %.3f", mean, spread)
	}
	sound(t, tr)
}

// Names picked for their hashes, by trying, neither build giant nodes nor deep
// trees. Each pick holds keys that would break a plain rule: any that never,
// always, or only at one weight cuts.
func TestChosenNames(t *testing.T) {
	for name, ok := range chosenHashes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStore()
			i, count := 0, 20_000
			tr, err := Build(ctx, s, NewCache(0), func() (k, v []byte, more bool) {
				for {
					i++
					k = fmt.Appendf(nil, "%08d", i)
					if ok(keyHash(0, k)) {
						count--
						return k, make([]byte, 9), count >= 0
					}
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			sound(t, tr)
			report, err := Check(ctx, tr)
			if err != nil {
				t.Fatal(err)
			}
			// Four times what they average otherwise.
			if report.Largest > 4*targetSize || report.Levels > 4 {
				t.Errorf("nodes of up to %d bytes, %d levels", report.Largest, report.Levels)
			}
		})
	}
}

// No key at all keeps a node of small entries open up to the cap.
func TestCertainEnd(t *testing.T) {
	const size = 1 + entryCost // the smallest entry there is
	w := uint64(size)
	for ; w < capSize; w += size {
		if pow4(w+size)-pow4(w) > math.MaxUint32*hazardScale {
			break
		}
	}
	if w > 7*targetSize {
		t.Errorf("a node may go on at weight %d", w)
	}
}

// An inner node has four children or more, but for the last of a level: keys
// of any length and hash cannot make a tree deeper than its logarithm.
func TestDepthOfLongKeys(t *testing.T) {
	s := newStore()
	i := -1
	tr, err := Build(ctx, s, NewCache(0), func() (k, v []byte, ok bool) {
		i++
		return fmt.Appendf(nil, "%0*d", MaxKey, i), make([]byte, MaxValue), i < 3000
	})
	if err != nil {
		t.Fatal(err)
	}
	sound(t, tr)
	size, err := tr.Size(ctx)
	if limit := 2 + bits.Len(3000)/2; err != nil || size.Levels > limit {
		t.Errorf("%d levels, %v; want at most %d", size.Levels, err, limit)
	}
}

// A new value of the same length moves no boundary: one path is written.
func TestValueEditWritesOnePath(t *testing.T) {
	s := newStore()
	tr := numbered(t, s, NewCache(1<<24), 20000)
	size, err := tr.Size(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 500 {
		s.puts = 0
		v := fmt.Appendf(nil, "%040d", i)
		next, err := tr.Apply(ctx, []Edit{{Key: fmt.Appendf(nil, "key %06d", i*39), Value: v}})
		if err != nil {
			t.Fatal(err)
		}
		if s.puts != size.Levels {
			t.Fatalf("edit %d wrote %d nodes in %d levels", i, s.puts, size.Levels)
		}
		if n, want := len(nodesOf(t, next)), len(nodesOf(t, tr)); i == 0 && n != want {
			t.Fatalf("%d nodes after the edit, %d before", n, want)
		}
	}
}

// A range that covers most of a tree is removed without reading what it
// covers.
func TestRangeDeleteReadsItsEdges(t *testing.T) {
	s := newStore()
	root := numbered(t, s, NewCache(0), 20000).Root()
	tr := Load(s, NewCache(0), root)
	size, err := tr.Size(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s.gets, s.puts = 0, 0
	next, err := tr.Apply(ctx, []Edit{{Key: []byte("key 000500"), To: []byte("key 019500"), Delete: true}})
	if err != nil {
		t.Fatal(err)
	}
	// Without a cache each level reads its two edges from the root again.
	if limit := 2*size.Levels*size.Levels + 2; s.gets > limit || s.puts > 4*size.Levels {
		t.Errorf("%d nodes read, %d written; want at most %d and %d", s.gets, s.puts, limit, 4*size.Levels)
	}
	if n, err := next.Size(ctx); err != nil || n.Entries != 1000 {
		t.Errorf("%d entries left, %v", n.Entries, err)
	}
	sound(t, next)
}
