package chunk

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// Sizes and limits of the pack format; spec/packs.md repeats them and a test
// compares the two.
const (
	// FormatVersion is the pack format that this package writes. It reads this
	// one and older ones, and refuses newer ones.
	FormatVersion = 1

	// MaxChunk is the largest chunk in bytes.
	MaxChunk = 4 << 20

	// MaxPackSize is the largest Options.PackSize in bytes.
	MaxPackSize = 1 << 30

	packHeaderSize   = 24
	recordHeaderSize = 60
	markSize         = 8
	footerHeadSize   = 8
	footerEntrySize  = 44
	footerGapSize    = 8
	trailerSize      = 24

	// maxRecords bounds the records of a pack, and so its footer.
	maxRecords = 1 << 18
	maxGaps    = 1 << 16
	maxFooter  = footerHeadSize + maxRecords*footerEntrySize + maxGaps*footerGapSize

	// maxPackFile bounds a pack file: its last record may go beyond the pack
	// size, and its footer does.
	maxPackFile = MaxPackSize + 2*recordHeaderSize + MaxChunk + maxFooter + trailerSize
)

// Record kinds. The values are on disk: only ever add to them.
const (
	kindChunk  = 1 // a chunk
	kindMark   = 2 // says how much of this pack was fsynced before it was written
	kindFooter = 3 // lists the pack's chunks; the last record of a sealed pack
)

// Record flags. The values are on disk: only ever add to them.
const (
	recordZstd = 1 << 0 // the bytes are one zstd frame
	recordMask = recordZstd
)

const (
	packMagic    = "vfsdpack"
	trailerMagic = "vfsdfoot"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func crc(p []byte) uint32 { return crc32.Checksum(p, castagnoli) }

// marker begins every record of one pack. It is random, so that no bytes
// inside a chunk, and no stale bytes of another pack on the same disk, can
// pass for a record of this one.
type marker [8]byte

var (
	errNoPack     = errors.New("not a pack header")
	errHeaderCRC  = errors.New("pack header checksum does not match")
	errNoRecord   = errors.New("no record here")
	errRecordCRC  = errors.New("record header checksum does not match")
	errTorn       = errors.New("record ends beyond the pack")
	errBodyCRC    = errors.New("checksum does not match")
	errDigest     = errors.New("digest does not match")
	errNoTrailer  = errors.New("no trailer")
	errBadFooter  = errors.New("footer is not well formed")
	errBadMark    = errors.New("mark is not well formed")
	errBadRawSize = errors.New("decompressed length is not the recorded one")
)

// versionError is the refusal of a pack that a later vfsd wrote.
type versionError uint32

func (v versionError) Error() string {
	return fmt.Sprintf("pack format version %d is newer than %d, the newest this program knows", uint32(v), FormatVersion)
}

func appendPackHeader(b []byte, m marker) []byte {
	at := len(b)
	b = append(b, packMagic...)
	b = binary.LittleEndian.AppendUint32(b, FormatVersion)
	b = append(b, m[:]...)
	return binary.LittleEndian.AppendUint32(b, crc(b[at:]))
}

// decodePackHeader returns the marker. A header that is intact but of a newer
// version is a versionError.
func decodePackHeader(p []byte) (marker, error) {
	if len(p) < packHeaderSize || string(p[:8]) != packMagic {
		return marker{}, errNoPack
	}
	if binary.LittleEndian.Uint32(p[20:]) != crc(p[:20]) {
		return marker{}, errHeaderCRC
	}
	if v := binary.LittleEndian.Uint32(p[8:]); v > FormatVersion {
		return marker{}, versionError(v)
	} else if v == 0 {
		return marker{}, errNoPack
	}
	return marker(p[12:20]), nil
}

// record is a record's header.
type record struct {
	kind   uint8
	flags  uint8
	length uint32 // stored bytes
	raw    uint32 // bytes of the chunk
	digest ID     // of the raw bytes
	crc    uint32 // of the stored bytes
}

// size is the length of the whole record.
func (r *record) size() int64 { return recordHeaderSize + int64(r.length) }

func appendRecord(b []byte, m marker, r *record, body []byte) []byte {
	at := len(b)
	b = append(b, m[:]...)
	b = append(b, r.kind, r.flags, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, r.length)
	b = binary.LittleEndian.AppendUint32(b, r.raw)
	b = append(b, r.digest[:]...)
	b = binary.LittleEndian.AppendUint32(b, r.crc)
	b = binary.LittleEndian.AppendUint32(b, crc(b[at:]))
	return append(b, body...)
}

// decodeRecord decodes a record's header and holds it to the limits of its
// kind, so that a caller may allocate what it announces.
func decodeRecord(p []byte, m marker) (record, error) {
	if len(p) < recordHeaderSize || marker(p[:8]) != m {
		return record{}, errNoRecord
	}
	return decodeAnyRecord(p)
}

// decodeAnyRecord is decodeRecord for a pack whose marker is unknown.
func decodeAnyRecord(p []byte) (record, error) {
	if len(p) < recordHeaderSize {
		return record{}, errNoRecord
	}
	r := record{
		kind:   p[8],
		flags:  p[9],
		length: binary.LittleEndian.Uint32(p[12:]),
		raw:    binary.LittleEndian.Uint32(p[16:]),
		digest: ID(p[20:52]),
		crc:    binary.LittleEndian.Uint32(p[52:]),
	}
	// The cheap conditions come first: the search for a lost marker tries every
	// offset of a pack.
	if p[10] != 0 || p[11] != 0 || r.flags&^recordMask != 0 || !r.fits() {
		return record{}, errNoRecord
	}
	if binary.LittleEndian.Uint32(p[56:]) != crc(p[:56]) {
		return record{}, errRecordCRC
	}
	return r, nil
}

// fits reports whether the lengths are possible for the kind.
func (r *record) fits() bool {
	switch r.kind {
	case kindChunk:
		if r.flags&recordZstd != 0 {
			return r.raw <= MaxChunk && r.length < r.raw
		}
		return r.raw <= MaxChunk && r.length == r.raw
	case kindMark:
		return r.flags == 0 && r.length == markSize && r.raw == markSize
	case kindFooter:
		return r.flags == 0 && r.length <= maxFooter && r.raw == r.length
	}
	return false
}

// plainRecord is the header of a record whose body is stored as it is.
func plainRecord(kind uint8, body []byte) record {
	n := uint32(len(body))
	return record{kind: kind, length: n, raw: n, digest: Sum(body), crc: crc(body)}
}

// appendMark appends a record that says: the bytes before durable were fsynced.
func appendMark(b []byte, m marker, durable int64) []byte {
	body := binary.LittleEndian.AppendUint64(nil, uint64(durable))
	r := plainRecord(kindMark, body)
	return appendRecord(b, m, &r, body)
}

// decodeMark returns what the mark at off says was fsynced.
func decodeMark(body []byte, off int64) (int64, error) {
	if len(body) != markSize {
		return 0, errBadMark
	}
	d := binary.LittleEndian.Uint64(body)
	if d > uint64(off) {
		return 0, errBadMark
	}
	return int64(d), nil
}
