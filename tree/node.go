package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
)

// Limits of the format. The decoder refuses what exceeds them, and so do Apply
// and Build.
const (
	MaxKey    = 1 << 10 // bytes of a key; the shortest key has 1
	MaxValue  = 8 << 10 // bytes of a value; it may be empty
	MaxLevels = 24      // levels of a tree; a tree of one leaf has 1

	// MaxNode is the largest encoding of a node in bytes: the last entry may
	// lift it over the cap.
	MaxNode = headerSize + capSize - 1 + entryCost + MaxKey + MaxValue
)

const (
	magic      = "vt"
	version    = 1
	headerSize = 8
	recordSize = len(chunk.ID{}) + 6 + 6 // child record: digest, entries, bytes
	maxCount   = 1<<48 - 1               // of entries or bytes below a node
)

// node is a decoded tree node. It is immutable: many trees, iterators and
// goroutines share it through the cache. It points into raw and copies nothing.
type node struct {
	id      chunk.ID
	raw     []byte
	level   uint8
	n       int
	prefix  []byte // shared by all keys
	ends    []byte // n times u16: where the i-th suffix ends in keys
	keys    []byte // suffixes
	valEnds []byte // leaf: n times u16: where the i-th value ends in vals
	vals    []byte // leaf: values; inner node: n records
	entries uint64 // in the leaves at or below
	bytes   uint64 // of their keys and values
}

func u16(p []byte, i int) int { return int(binary.LittleEndian.Uint16(p[2*i:])) }

func (n *node) suffix(i int) []byte {
	from := 0
	if i > 0 {
		from = u16(n.ends, i-1)
	}
	return n.keys[from:u16(n.ends, i)]
}

// appendKey appends the i-th key to p.
func (n *node) appendKey(p []byte, i int) []byte {
	return append(append(p, n.prefix...), n.suffix(i)...)
}

func (n *node) lastKey() []byte {
	return n.appendKey(make([]byte, 0, n.keyLen(n.n-1)), n.n-1)
}

func (n *node) keyLen(i int) int { return len(n.prefix) + len(n.suffix(i)) }

// value returns the i-th value of a leaf or record of an inner node, never nil.
func (n *node) value(i int) []byte {
	if n.level > 0 {
		return n.vals[i*recordSize : (i+1)*recordSize : (i+1)*recordSize]
	}
	from := 0
	if i > 0 {
		from = u16(n.valEnds, i-1)
	}
	to := u16(n.valEnds, i)
	return n.vals[from:to:to]
}

func (n *node) child(i int) record { return decodeRecord(n.value(i)) }

// compareKey compares the i-th key with key.
func (n *node) compareKey(i int, key []byte) int {
	p := len(n.prefix)
	if len(key) < p {
		if c := bytes.Compare(n.prefix[:len(key)], key); c != 0 {
			return c
		}
		return 1
	}
	if c := bytes.Compare(n.prefix, key[:p]); c != 0 {
		return c
	}
	return bytes.Compare(n.suffix(i), key[p:])
}

// search returns the first index in [from, n.n] whose key is not less than key.
func (n *node) search(key []byte, from int) int {
	p := min(len(n.prefix), len(key))
	switch c := bytes.Compare(n.prefix[:p], key[:p]); {
	case c > 0 || c == 0 && p < len(n.prefix):
		return from
	case c < 0:
		return n.n
	}
	key = key[p:]
	lo, hi := from, n.n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if bytes.Compare(n.suffix(mid), key) < 0 {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// weight is what the entries of the node weigh for the boundary rule.
func (n *node) weight() uint64 {
	return uint64(n.n*(len(n.prefix)+entryCost) + len(n.keys) + len(n.vals))
}

func (n *node) record() record {
	return record{id: n.id, entries: n.entries, bytes: n.bytes}
}

// footprint is what the node costs a cache in bytes: the encoding, rounded up
// as the allocator does, the struct and its slots.
func (n *node) footprint() int64 { return int64(len(n.raw)+len(n.raw)/8) + 288 }

// record is what an inner node holds of a child.
type record struct {
	id      chunk.ID
	entries uint64
	bytes   uint64
}

func decodeRecord(p []byte) (r record) {
	copy(r.id[:], p)
	r.entries = u48(p[len(r.id):])
	r.bytes = u48(p[len(r.id)+6:])
	return r
}

func (r record) append(p []byte) []byte {
	p = append(p, r.id[:]...)
	for _, v := range [2]uint64{r.entries, r.bytes} {
		p = append(p, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40))
	}
	return p
}

func u48(p []byte) uint64 {
	return uint64(binary.LittleEndian.Uint32(p)) | uint64(binary.LittleEndian.Uint16(p[4:]))<<32
}

// corrupt is the error about a node that is not what an encoder writes.
func corrupt(id chunk.ID, format string, args ...any) error {
	return fmt.Errorf("tree node %v: %s: %w", id, fmt.Sprintf(format, args...), vfs.ErrCorrupt)
}

// decode parses the node and checks that it is canonical: that encoding what
// it holds would give the same bytes. It keeps raw, and allocates nothing but
// the node.
func decode(id chunk.ID, raw []byte) (*node, error) {
	n := &node{id: id, raw: raw}
	if err := n.parse(); err != nil {
		return nil, corrupt(id, "%v", err)
	}
	return n, nil
}

func (n *node) parse() error {
	raw := n.raw
	if len(raw) < headerSize || len(raw) > MaxNode {
		return fmt.Errorf("%d bytes, want %d to %d", len(raw), headerSize, MaxNode)
	}
	if string(raw[:2]) != magic || raw[2] != version {
		return fmt.Errorf("starts with % x, want %q and version %d", raw[:3], magic, version)
	}
	n.level, n.n = raw[3], u16(raw, 2)
	if n.level >= MaxLevels {
		return fmt.Errorf("level %d, want at most %d", n.level, MaxLevels-1)
	}
	prefixLen := u16(raw, 3)
	perEntry := 2 + 2
	if n.level > 0 {
		perEntry = 2 + recordSize
	}
	rest := len(raw) - headerSize - prefixLen - n.n*perEntry
	if rest < 0 {
		return fmt.Errorf("%d bytes are too few for %d entries and a prefix of %d", len(raw), n.n, prefixLen)
	}
	raw = raw[headerSize:]
	n.prefix, raw = raw[:prefixLen:prefixLen], raw[prefixLen:]
	n.ends, raw = raw[:2*n.n:2*n.n], raw[2*n.n:]
	if n.n == 0 {
		if len(n.raw) != headerSize || n.level > 0 {
			return errors.New("a node without entries that is not the empty leaf")
		}
		return nil
	}
	if n.level == 0 {
		n.valEnds, raw = raw[:2*n.n:2*n.n], raw[2*n.n:]
	}
	keysLen := u16(n.ends, n.n-1)
	if keysLen > rest {
		return fmt.Errorf("key suffixes of %d bytes with %d left", keysLen, rest)
	}
	n.keys, n.vals = raw[:keysLen:keysLen], raw[keysLen:]
	if err := n.parseKeys(); err != nil {
		return err
	}
	return n.parseValues()
}

func (n *node) parseKeys() error {
	var prev []byte
	from := 0
	for i := range n.n {
		to := u16(n.ends, i)
		if to < from || to > len(n.keys) {
			return fmt.Errorf("key %d ends at %d, starts at %d of %d", i, to, from, len(n.keys))
		}
		suffix := n.keys[from:to]
		if size := len(n.prefix) + len(suffix); size == 0 || size > MaxKey {
			return fmt.Errorf("key %d has %d bytes, want 1 to %d", i, size, MaxKey)
		}
		if i > 0 && bytes.Compare(prev, suffix) >= 0 {
			return fmt.Errorf("key %d is not above key %d", i, i-1)
		}
		prev, from = suffix, to
	}
	if first := n.suffix(0); n.n == 1 && len(first) > 0 || n.n > 1 && len(first) > 0 && first[0] == prev[0] {
		return fmt.Errorf("a shared prefix of %d bytes where a longer one fits", len(n.prefix))
	}
	return nil
}

func (n *node) parseValues() error {
	lastLen := recordSize
	if n.level > 0 {
		if len(n.vals) != n.n*recordSize {
			return fmt.Errorf("%d bytes of child records, want %d", len(n.vals), n.n*recordSize)
		}
		for i := range n.n {
			r := n.child(i)
			if r.entries == 0 || r.bytes < r.entries {
				return fmt.Errorf("child %d with %d entries in %d bytes", i, r.entries, r.bytes)
			}
			n.entries += r.entries
			n.bytes += r.bytes
		}
		if n.bytes > maxCount {
			return fmt.Errorf("%d bytes below it, want at most %d", n.bytes, uint64(maxCount))
		}
	} else {
		from := 0
		for i := range n.n {
			to := u16(n.valEnds, i)
			if to < from || to > len(n.vals) || to-from > MaxValue {
				return fmt.Errorf("value %d ends at %d, starts at %d of %d", i, to, from, len(n.vals))
			}
			lastLen, from = to-from, to
		}
		if from != len(n.vals) {
			return fmt.Errorf("%d bytes after the last value", len(n.vals)-from)
		}
		n.entries = uint64(n.n)
		n.bytes = n.weight() - uint64(n.n*entryCost)
	}
	if before := n.weight() - weight(n.keyLen(n.n-1), lastLen); before >= capSize {
		return fmt.Errorf("weight %d before the last entry, want less than %d", before, capSize)
	}
	return nil
}

// commonPrefix returns the length of the longest common prefix.
func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}
