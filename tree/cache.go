package tree

import (
	"encoding/binary"
	"sync"

	"github.com/vfsd/vfsd/chunk"
)

const cacheShards = 16

// Cache holds decoded tree nodes of any number of trees and stores: a digest
// names the same node everywhere. It is safe for concurrent use.
//
// Its bound counts the nodes and what keeping them costs. Each shard is a flat
// hash table of pointers with a clock hand, without a Go map's or a linked
// list's allocations per entry.
type Cache struct {
	shards [cacheShards]shard
}

// NewCache returns a cache bounded to the given number of bytes. A bound of
// zero or less caches nothing.
func NewCache(bytes int64) *Cache {
	c := new(Cache)
	for i := range c.shards {
		c.shards[i].limit = bytes / cacheShards
	}
	return c
}

// CacheStats is what a cache holds and did.
type CacheStats struct {
	Nodes  int
	Bytes  int64 // never above the bound
	Hits   uint64
	Misses uint64
}

// Stats sums over the shards, one after the other.
func (c *Cache) Stats() (s CacheStats) {
	for i := range c.shards {
		sh := &c.shards[i]
		sh.mu.Lock()
		s.Nodes += sh.count
		s.Bytes += sh.bytes
		s.Hits += sh.hits
		s.Misses += sh.misses
		sh.mu.Unlock()
	}
	return s
}

func (c *Cache) shard(id chunk.ID) *shard { return &c.shards[id[0]%cacheShards] }

func (c *Cache) get(id chunk.ID) *node {
	s := c.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slots) > 0 {
		if i := s.find(id); s.slots[i].n != nil {
			s.slots[i].used = true
			s.hits++
			return s.slots[i].n
		}
	}
	s.misses++
	return nil
}

// put adds the node as one that was not used yet, so that a scan through a
// large tree displaces itself and not what is looked up again and again. It
// returns the node that the cache holds under that digest.
func (c *Cache) put(n *node) *node {
	s := c.shard(n.id)
	size := n.footprint()
	s.mu.Lock()
	defer s.mu.Unlock()
	if size > s.limit {
		return n
	}
	if len(s.slots) > 0 {
		if i := s.find(n.id); s.slots[i].n != nil {
			return s.slots[i].n
		}
	}
	for s.bytes+size > s.limit {
		s.evict()
	}
	if 4*(s.count+1) > 3*len(s.slots) {
		s.grow()
	}
	s.slots[s.find(n.id)] = slot{n: n}
	s.count++
	s.bytes += size
	return n
}

// shard is an open-addressed table with linear probing and no tombstones.
type shard struct {
	mu     sync.Mutex
	slots  []slot // power of two, at most three quarters full; guarded by mu, as all below
	count  int
	hand   int
	bytes  int64
	limit  int64
	hits   uint64
	misses uint64
	_      [40]byte // keeps neighbours' locks out of one cache line
}

type slot struct {
	n    *node
	used bool // since the hand passed
}

func (s *shard) home(id *chunk.ID) int {
	return int(binary.LittleEndian.Uint64(id[8:])) & (len(s.slots) - 1)
}

// find returns the slot that holds id, or the empty one where it belongs.
func (s *shard) find(id chunk.ID) int {
	i := s.home(&id)
	for s.slots[i].n != nil && s.slots[i].n.id != id {
		i = (i + 1) & (len(s.slots) - 1)
	}
	return i
}

// evict removes the first node from the hand on that was not used since the
// hand passed it. The caller has made sure that there is one.
func (s *shard) evict() {
	for {
		s.hand = (s.hand + 1) & (len(s.slots) - 1)
		e := &s.slots[s.hand]
		if e.n == nil {
			continue
		}
		if !e.used {
			break
		}
		e.used = false
	}
	s.bytes -= s.slots[s.hand].n.footprint()
	s.count--
	s.remove(s.hand)
}

// remove empties slot i and moves later nodes of the run back, so that none is
// cut off from its home.
func (s *shard) remove(i int) {
	mask := len(s.slots) - 1
	for j := (i + 1) & mask; s.slots[j].n != nil; j = (j + 1) & mask {
		home := s.home(&s.slots[j].n.id)
		if (j-home)&mask >= (j-i)&mask {
			s.slots[i] = s.slots[j]
			i = j
		}
	}
	s.slots[i] = slot{}
}

func (s *shard) grow() {
	old := s.slots
	s.slots = make([]slot, max(16, 2*len(old)))
	for _, e := range old {
		if e.n != nil {
			s.slots[s.find(e.n.id)] = e
		}
	}
}
