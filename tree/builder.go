package tree

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
)

// Errors about what a caller wants to store.
var (
	ErrTooLarge = errors.New("key or value too large")
	ErrOrder    = errors.New("keys out of order")
)

func checkEntry(key, value []byte) error {
	if len(key) == 0 || len(key) > MaxKey || len(value) > MaxValue {
		return fmt.Errorf("key of %d bytes (want 1 to %d), value of %d (at most %d): %w",
			len(key), MaxKey, len(value), MaxValue, ErrTooLarge)
	}
	return nil
}

// packer cuts the entries of one level, given in order, into encoded nodes.
// Where a node ends depends on the entries since it began and on nothing else.
type packer struct {
	level  uint8
	keys   []byte // of the open node, one after the other, as are the values
	vals   []byte
	bounds []bound
	weight uint64
}

type bound struct{ key, val int } // ends in keys and vals

// packers are reused for their buffers: growing them to the size of a node
// would cost as much as all else that a small batch does.
var packers = sync.Pool{New: func() any { return new(packer) }}

func newPacker(level uint8) *packer {
	p := packers.Get().(*packer)
	p.level = level
	p.reset()
	return p
}

func (p *packer) free() { packers.Put(p) }

func (p *packer) reset() {
	p.keys, p.vals, p.bounds, p.weight = p.keys[:0], p.vals[:0], p.bounds[:0], 0
}

func (p *packer) empty() bool { return len(p.bounds) == 0 }

func (p *packer) key(i int) []byte {
	from := 0
	if i > 0 {
		from = p.bounds[i-1].key
	}
	return p.keys[from:p.bounds[i].key]
}

// add appends an entry and reports whether the node ends with it; then the
// caller takes the node.
func (p *packer) add(key, value []byte) bool {
	p.keys = append(p.keys, key...)
	return p.appendCut(value)
}

// appendCut finishes an entry whose key has been appended to keys and reports
// whether the node ends with it.
func (p *packer) appendCut(value []byte) bool {
	before := p.weight
	p.append(value)
	return endsNode(p.level, p.key(len(p.bounds)-1), before, p.weight, len(p.bounds))
}

// append finishes an entry whose key has been appended to keys, where it is
// known that the node does not end.
func (p *packer) append(value []byte) {
	keyStart := 0
	if !p.empty() {
		keyStart = p.bounds[len(p.bounds)-1].key
	}
	p.vals = append(p.vals, value...)
	p.bounds = append(p.bounds, bound{len(p.keys), len(p.vals)})
	p.weight += weight(len(p.keys)-keyStart, len(value))
}

// take returns the encoding of the open node and starts the next.
func (p *packer) take() []byte {
	n := len(p.bounds)
	prefix := commonPrefix(p.key(0), p.key(n-1))
	perEntry := 2
	if p.level == 0 {
		perEntry += 2
	}
	size := headerSize + prefix + n*perEntry + len(p.keys) - n*prefix + len(p.vals)
	raw := make([]byte, 0, size)
	raw = append(raw, magic...)
	raw = append(raw, version, p.level)
	raw = binary.LittleEndian.AppendUint16(raw, uint16(n))
	raw = binary.LittleEndian.AppendUint16(raw, uint16(prefix))
	raw = append(raw, p.keys[:prefix]...)
	for i, b := range p.bounds {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(b.key-(i+1)*prefix))
	}
	if p.level == 0 {
		for _, b := range p.bounds {
			raw = binary.LittleEndian.AppendUint16(raw, uint16(b.val))
		}
	}
	from := 0
	for _, b := range p.bounds {
		raw = append(raw, p.keys[from+prefix:b.key]...)
		from = b.key
	}
	raw = append(raw, p.vals...)
	p.reset()
	return raw
}

// stack builds whole levels from the bottom up: what one level takes as a node
// is an entry of the next.
type stack struct {
	t      *Tree
	base   uint8 // level of the entries that add is given
	levels []*packer
	made   []int   // nodes made per level
	last   []*node // the last of them
	record []byte  // reused
}

// add appends an entry to the level with index i above base.
func (s *stack) add(ctx context.Context, i int, key, value []byte) error {
	if i == len(s.levels) {
		if int(s.base)+i >= MaxLevels {
			return fmt.Errorf("tree of more than %d levels: %w", MaxLevels, ErrTooLarge)
		}
		s.levels = append(s.levels, newPacker(s.base+uint8(i)))
		s.made, s.last = append(s.made, 0), append(s.last, nil)
	}
	if !s.levels[i].add(key, value) {
		return nil
	}
	return s.take(ctx, i)
}

func (s *stack) take(ctx context.Context, i int) error {
	n, err := s.t.put(ctx, s.levels[i].take())
	if err != nil {
		return err
	}
	s.made[i]++
	s.last[i] = n
	s.record = n.record().append(s.record[:0])
	return s.add(ctx, i+1, n.lastKey(), s.record)
}

// free ends the use of the stack, whatever came of it.
func (s *stack) free() {
	for _, p := range s.levels {
		p.free()
	}
	s.levels = nil
}

// finish closes the open nodes and returns the root: the node of the lowest
// level that has one only. Levels above it have been begun but hold just the
// entry for it. There must have been an entry.
func (s *stack) finish(ctx context.Context) (*node, error) {
	for i := 0; ; i++ {
		if !s.levels[i].empty() {
			if err := s.take(ctx, i); err != nil {
				return nil, err
			}
		}
		if s.made[i] == 1 {
			return s.last[i], nil
		}
	}
}

// Build makes a tree of all entries that next returns until it says !ok. Keys
// must increase strictly. The slices are read before next is called again.
func Build(ctx context.Context, s Store, c *Cache, next func() (key, value []byte, ok bool)) (*Tree, error) {
	t := Empty(s, c)
	st := &stack{t: t}
	defer st.free()
	var prev []byte
	for count := 0; ; count++ {
		key, value, ok := next()
		if !ok {
			break
		}
		if err := checkEntry(key, value); err != nil {
			return nil, fmt.Errorf("build tree: %w", err)
		}
		if count > 0 && bytes.Compare(prev, key) >= 0 {
			return nil, fmt.Errorf("build tree: key %.80q after %.80q: %w", key, prev, ErrOrder)
		}
		prev = append(prev[:0], key...)
		if err := st.add(ctx, 0, key, value); err != nil {
			return nil, fmt.Errorf("build tree: %w", err)
		}
	}
	if len(st.levels) == 0 {
		return t, nil
	}
	root, err := st.finish(ctx)
	if err != nil {
		return nil, fmt.Errorf("build tree: %w", err)
	}
	return Load(s, c, root.id), nil
}
