package chunk

// Stats are figures of Packs. Sizes are in bytes.
type Stats struct {
	Chunks      int64 // different chunks
	RawBytes    int64 // of these chunks, before compression
	StoredBytes int64 // of all records, dead ones included
	DeadBytes   int64 // of records known to be superseded; what no root reaches shows only in a collection
	PendingSize int64 // of what is in memory and not yet in the page cache
	Packs       int   // pack files

	DedupHits  uint64 // Puts of what was there already, since Open
	DedupBytes uint64 // bytes of these Puts

	IndexBytes  int64 // memory of the index
	CacheBytes  int64 // memory of the cache of decoded chunks
	CacheHits   uint64
	CacheMisses uint64

	Damaged int64 // damaged places that Open met; see the log
	Lost    int   // chunks whose only copy was lost by a failed fsync
}

// Stats returns current figures. They are not from one instant.
func (p *Packs) Stats() Stats {
	s := Stats{
		RawBytes:    p.rawBytes.Load(),
		DedupHits:   p.dedupHits.Load(),
		DedupBytes:  p.dedupBytes.Load(),
		CacheBytes:  p.cache.bytes(),
		CacheHits:   p.cache.hits.Load(),
		CacheMisses: p.cache.misses.Load(),
	}
	s.Chunks, s.IndexBytes = p.index.size()
	for _, pk := range p.packList() {
		s.Packs++
		s.StoredBytes += pk.stored.Load()
		s.DeadBytes += pk.dead.Load()
		s.Damaged += pk.damaged.Load()
	}
	p.w.mu.Lock()
	s.PendingSize = int64(p.w.pending)
	s.Lost = len(p.w.lost)
	p.w.mu.Unlock()
	return s
}
