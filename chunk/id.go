package chunk

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/zeebo/blake3"
)

// IDSize is the length of an ID in bytes.
const IDSize = 32

// ID names a chunk: it is the BLAKE3-256 digest of the chunk's bytes. Two
// chunks with equal IDs are taken to be the same bytes.
type ID [IDSize]byte

// Sum returns the ID of the chunk whose bytes are p. It does not retain p.
func Sum(p []byte) ID { return blake3.Sum256(p) }

// String returns the ID as 64 lower-case hexadecimal digits.
func (id ID) String() string { return hex.EncodeToString(id[:]) }

// IsZero reports whether id is the zero ID, which names no chunk.
func (id ID) IsZero() bool { return id == ID{} }

// ParseID is the inverse of String. It takes exactly 64 hexadecimal digits, in
// either case.
func ParseID(s string) (ID, error) {
	var id ID
	if len(s) != 2*IDSize {
		return ID{}, fmt.Errorf("parse chunk ID: %d characters, want %d", len(s), 2*IDSize)
	}
	if _, err := hex.Decode(id[:], []byte(s)); err != nil {
		return ID{}, fmt.Errorf("parse chunk ID: %w", err)
	}
	return id, nil
}

// Compare orders IDs bytewise: -1 if a sorts before b, 0 if they are equal, +1
// otherwise.
func Compare(a, b ID) int { return bytes.Compare(a[:], b[:]) }
