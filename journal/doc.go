// Package journal appends typed records to a directory of segments, makes them
// durable on demand and gives back, after any crash, a prefix of them.
//
//	j, err := journal.Open(journal.Options{Dir: dir, First: head.LSN + 1})
//	err = j.Replay(func(lsn journal.LSN, t journal.Type, p []byte) error { ... })
//	lsn, err := j.Append(typeBatch, payload) // survives kill -9 from here on
//	err = j.Fsync(lsn)                       // survives a power cut from here on
//
// There is one directory between two checkpoints. When a checkpoint is durable,
// close the journal, remove its directory, and go on in another.
//
// github.com/tidwall/wal holds the segments. What it lacks is added here: a
// checksum and the expected LSN in every record, a scrub before it opens, one
// opener at a time, durability through the hostfs seam, and an end to writing
// after the first error.
//
// # Format
//
// A directory holds segments, each named by the LSN of its first record in 20
// decimal digits, and the files LOCK (flocked while open) and RESERVE (space
// kept for a full disk). A segment is a sequence of entries and nothing else:
//
//	+----------------+---------+---------+--------+---------+-------------+---------+
//	| length uvarint | crc32c  | version | type   | lsn     | durable lsn | payload |
//	| 1..4 bytes     | 4       | 1       | 1      | 8       | 8           | 0..n    |
//	+----------------+---------+---------+--------+---------+-------------+---------+
//	                 |<------------- length bytes: the record ------------------->|
//	                           |<------------- what the crc covers -------------->|
//
// Integers are little-endian. The length is in its shortest form. The durable
// LSN is the highest LSN known to be fsynced when the record was written: it
// is always below the record's own. See spec/journal.md.
//
// # Invariants
//
//  1. Record LSNs are consecutive, within a segment and from one to the next.
//  2. Every segment but the last is durable whole: a new one appears only
//     after the old one was fsynced, and takes records only after its name was.
//  3. A record whose Append failed is incomplete on disk: nothing of an Append
//     can fail after its last byte is written.
//  4. After Open returns, everything it found is durable, whatever became of
//     the fsyncs of the process before.
//  5. After the first failed write or fsync nothing is written until Reopen or
//     Close and Open: the file's tail is unknown and the kernel may have
//     dropped dirty pages.
//
// # Torn tail or corruption
//
// What a power cut can do to bytes never fsynced is not only to shorten them:
// pages reach the disk in any order, so a lost one may be followed by intact
// records. The durable LSN in each record tells this from damage. Say the
// first bad record should have had LSN n:
//
//   - it is not in the last segment: corruption (invariant 2);
//   - nothing valid follows it: a torn tail;
//   - a later valid record says that n was durable: corruption;
//   - otherwise a torn tail if whole disk sectors of it read as zeroes, which
//     is what a lost page leaves behind, else corruption.
//
// A torn tail is cut off and reported by Dropped; corruption is refused by an
// error that wraps vfs.ErrCorrupt and names file and offset.
//
// # Locks
//
// There is one, Journal.mu. It is released while an fsync waits for the disk.
package journal
