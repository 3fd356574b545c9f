package tree

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/vfsd/vfsd/chunk"
)

// leafOf returns a leaf with one entry whose value has the given length.
func leafOf(key string, size int) *node {
	p := newPacker(0)
	defer p.free()
	p.add([]byte(key), make([]byte, size))
	raw := p.take()
	n, err := decode(chunk.Sum(raw), raw)
	if err != nil {
		panic(err)
	}
	return n
}

func TestCacheBound(t *testing.T) {
	for _, limit := range []int64{0, 10_000, 1_000_000} {
		c := NewCache(limit)
		r := rand.New(rand.NewPCG(1, 4))
		nodes := make([]*node, 400)
		for i := range nodes {
			nodes[i] = leafOf(fmt.Sprint(i), r.IntN(MaxValue))
		}
		for range 20000 {
			n := nodes[r.IntN(len(nodes))]
			switch got := c.get(n.id); {
			case got == nil:
				c.put(n)
			case got != n:
				t.Fatalf("limit %d: asked for %v, got %v", limit, n.id, got.id)
			}
			if s := c.Stats(); s.Bytes > limit {
				t.Fatalf("limit %d: holds %d bytes", limit, s.Bytes)
			}
		}
		// The table and the accounts agree, and every node is found again.
		s, found, bytes := c.Stats(), 0, int64(0)
		for _, n := range nodes {
			if c.get(n.id) == n {
				found++
				bytes += n.footprint()
			}
		}
		if found != s.Nodes || bytes != s.Bytes {
			t.Errorf("limit %d: %d nodes of %d bytes found, %d of %d counted", limit, found, bytes, s.Nodes, s.Bytes)
		}
		if limit > 100_000 && s.Bytes < limit/2 {
			t.Errorf("limit %d: only %d bytes used", limit, s.Bytes)
		}
	}
}

// A scan displaces what was used once, not what is used all the time.
func TestCacheKeepsWhatIsUsed(t *testing.T) {
	c := NewCache(cacheShards * 20_000)
	var hot []*node
	for i := range cacheShards {
		n := leafOf(fmt.Sprint("hot", i), 1000)
		hot = append(hot, n)
		c.put(n)
	}
	lost := 0
	for i := range 5000 {
		c.put(leafOf(fmt.Sprint(i), 1000))
		for _, n := range hot {
			if c.get(n.id) == nil {
				lost++
				c.put(n)
			}
		}
	}
	if lost > 0 {
		t.Errorf("%d times a node in constant use was gone", lost)
	}
}

func TestCacheReturnsOneNode(t *testing.T) {
	c := NewCache(1 << 20)
	a, b := leafOf("k", 10), leafOf("k", 10)
	if c.put(a) != a || c.put(b) != a || c.get(a.id) != a {
		t.Error("two decodings of one node in the cache")
	}
	if s := c.Stats(); s.Nodes != 1 || s.Hits != 1 {
		t.Errorf("stats %+v", s)
	}
}
