// Package chunk keeps chunks: immutable bytes named by their BLAKE3 digest.
//
//	packs, err := chunk.Open(ctx, chunk.Options{FS: hostfs.OS{}, Dir: dir, Compress: true})
//	err = packs.Cutter().Cut(file, func(data []byte) error {
//		id, err := packs.Put(ctx, data)
//		...
//	})
//	err = packs.Fsync(ctx) // now all of them are durable
//	data, err := packs.Get(ctx, id)
//
// Store is the contract, Packs the store on local disk. Equal chunks are kept
// once, whoever stores them.
//
// # Packs
//
// Chunks lie in packs, append-only files of some 64 MiB. All integers are
// little-endian. spec/packs.md is the full description.
//
//	pack:     | header | record | record | ... | footer record | trailer |
//
//	header:   0         8         12        20        24
//	          |"vfsdpack"| version | marker  | crc     |
//
//	record:   0         8     9      10   12       16          20      52     56       60
//	          | marker  | kind | flags | 0 | length | raw length | digest | crc  | head crc | bytes...
//
//	trailer:  0         8               12    16         24
//	          | marker  | footer offset | crc | "vfsdfoot" |
//
// The marker is random and different in each pack: bytes inside a chunk, or
// stale bytes of another pack, cannot pass for a record. A record is a chunk
// (kind 1), a mark (kind 2) which says how much of the pack was fsynced before
// it was written, or the footer (kind 3), which lists the chunks.
//
// A pack is open while it is written, then full, and sealed when its records
// are durable and its footer is written. Opening a store reads the footers; a
// pack without one is walked.
//
// # Invariants
//
//  1. Get returns bytes only after comparing their digest with the ID.
//  2. Fsync returns nil only when every chunk whose Put returned before lies in
//     a pack, and below an offset, of which an fsync succeeded after it was
//     written, and whose name was made durable.
//  3. A footer exists only if the records before it are durable.
//  4. A record is never changed. What the index points to changes only to a
//     verified copy of the same chunk.
//  5. A pack is deleted only when no chunk in the index is in it, and when the
//     copies that took the place of its records are durable, whoever made them.
//  6. A place that the index gives is valid for a reader until the index gives
//     another: who fails to read at a place looks the chunk up again.
//
// # Locks
//
// In this order: Packs.gcMu, fsyncMu, flushMu, writer.mu; then, each by itself,
// packsMu, shard.mu, files.mu, cacheShard.mu. No lock is held over a read of a
// pack or over compression, and none but the first three over any host call.
package chunk
