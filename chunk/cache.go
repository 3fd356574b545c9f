package chunk

import (
	"sync"
	"sync/atomic"
)

// cache keeps decoded chunks by their bytes, least recently used out first.
// What it returns is shared: nobody may modify it.
type cache struct {
	shards       [cacheShards]cacheShard
	hits, misses atomic.Uint64
}

const (
	cacheShards = 16
	// cacheOverhead is what a cached chunk takes besides its bytes: its entry
	// and its share of the map.
	cacheOverhead = 160
)

type cacheShard struct {
	mu    sync.Mutex
	limit int64
	size  int64              // guarded by mu
	items map[ID]*cacheEntry // guarded by mu
	ring  cacheEntry         // guarded by mu; next is the newest, prev the oldest
}

type cacheEntry struct {
	id         ID
	data       []byte
	next, prev *cacheEntry
}

func (e *cacheEntry) cost() int64 { return int64(cap(e.data)) + cacheOverhead }

func newCache(limit int64) *cache {
	c := new(cache)
	for i := range c.shards {
		s := &c.shards[i]
		s.limit = limit / cacheShards
		s.items = make(map[ID]*cacheEntry)
		s.ring.next, s.ring.prev = &s.ring, &s.ring
	}
	return c
}

func (c *cache) shard(id ID) *cacheShard { return &c.shards[id[0]%cacheShards] }

func (c *cache) get(id ID) ([]byte, bool) {
	s := c.shard(id)
	s.mu.Lock()
	e, ok := s.items[id]
	if ok && s.ring.next != e {
		s.unlink(e)
		s.link(e)
	}
	s.mu.Unlock()
	if !ok {
		c.misses.Add(1)
		return nil, false
	}
	c.hits.Add(1)
	return e.data, true
}

func (c *cache) add(id ID, data []byte) {
	s := c.shard(id)
	e := &cacheEntry{id: id, data: data}
	if e.cost() > s.limit {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.items[id]; ok {
		return
	}
	s.items[id] = e
	s.size += e.cost()
	s.link(e)
	for s.size > s.limit {
		s.remove(s.ring.prev)
	}
}

func (c *cache) drop(id ID) {
	s := c.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, ok := s.items[id]; ok {
		s.remove(e)
	}
}

func (c *cache) bytes() (n int64) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n += s.size
		s.mu.Unlock()
	}
	return n
}

func (s *cacheShard) remove(e *cacheEntry) {
	s.unlink(e)
	delete(s.items, e.id)
	s.size -= e.cost()
}

func (s *cacheShard) link(e *cacheEntry) {
	e.prev, e.next = &s.ring, s.ring.next
	e.prev.next, e.next.prev = e, e
}

func (s *cacheShard) unlink(e *cacheEntry) {
	e.prev.next, e.next.prev = e.next, e.prev
}
