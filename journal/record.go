package journal

import (
	"encoding/binary"
	"hash/crc32"
)

// LSN is a record's position in its workspace's history. It is never 0 and
// grows by one from record to record, also across journals.
type LSN uint64

// Type says what a record's payload is. The values belong to the caller and,
// once written, never change meaning; 0 is never valid.
type Type uint8

// Version is the format that this package writes and the only one it reads.
const Version = 1

// Limits of the format.
const (
	// MaxPayload is the largest payload of one record, in bytes.
	MaxPayload = 64 << 20
	// MaxLSN is the highest LSN.
	MaxLSN = 1<<63 - 1
	// MaxSegment is the largest segment file that is read, in bytes: the
	// largest SegmentSize and one record beyond it.
	MaxSegment = maxSegmentSize + MaxPayload + headerSize + maxLength

	headerSize     = 4 + 1 + 1 + 8 + 8
	maxLength      = 4 // bytes of the uvarint of the longest record
	minEntry       = 1 + headerSize
	maxSegmentSize = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is a decoded record; payload aliases the decoder's input.
type record struct {
	typ     Type
	lsn     LSN
	durable LSN
	payload []byte
}

// appendRecord appends the record, without wal's length before it.
func appendRecord(dst []byte, t Type, lsn, durable LSN, payload [][]byte) []byte {
	start := len(dst)
	dst = append(dst, 0, 0, 0, 0, Version, byte(t))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(lsn))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(durable))
	for _, p := range payload {
		dst = append(dst, p...)
	}
	rec := dst[start:]
	binary.LittleEndian.PutUint32(rec, crc32.Checksum(rec[4:], castagnoli))
	return dst
}

// entrySize is the size on disk of a record of n bytes with its length.
func entrySize(n int) int64 {
	size := int64(n) + 1
	for n >= 0x80 {
		n >>= 7
		size++
	}
	return size
}

// flaw is why some bytes are not a record; the empty one is none.
type flaw string

const (
	flawShort    flaw = "the record is cut short"
	flawLength   flaw = "the record's length is not possible"
	flawChecksum flaw = "the record's checksum does not match"
	flawVersion  flaw = "the record's version is unknown"
	flawType     flaw = "the record's type is 0"
	flawLSN      flaw = "the record's LSN is not the next one"
	flawDurable  flaw = "the record's durable LSN is not below its own"
)

// splitEntry takes the record's bytes off the front of data, unverified, and
// returns the size of the whole entry.
func splitEntry(data []byte) (rec []byte, size int, bad flaw) {
	length, n := binary.Uvarint(data)
	switch {
	case n == 0:
		return nil, 0, flawShort
	case n < 0 || n > maxLength || n > 1 && data[n-1] == 0:
		return nil, 0, flawLength
	case length < headerSize || length > headerSize+MaxPayload:
		return nil, 0, flawLength
	case uint64(len(data)-n) < length:
		return nil, 0, flawShort
	}
	size = n + int(length)
	return data[n:size], size, ""
}

// parseRecord verifies and decodes a record of at least headerSize bytes.
func parseRecord(rec []byte) (record, flaw) {
	if len(rec) < headerSize {
		return record{}, flawShort
	}
	if binary.LittleEndian.Uint32(rec) != crc32.Checksum(rec[4:], castagnoli) {
		return record{}, flawChecksum
	}
	if rec[4] != Version {
		return record{}, flawVersion
	}
	r := record{
		typ:     Type(rec[5]),
		lsn:     LSN(binary.LittleEndian.Uint64(rec[6:])),
		durable: LSN(binary.LittleEndian.Uint64(rec[14:])),
		payload: rec[headerSize:],
	}
	switch {
	case r.typ == 0:
		return r, flawType
	case r.durable >= r.lsn:
		return r, flawDurable
	}
	return r, ""
}
