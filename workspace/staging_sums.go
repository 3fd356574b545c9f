package workspace

import (
	"hash/crc32"
	"slices"
)

// longStretch is from how many bytes on a write begins a page of its staging
// file, and has its checksum kept: a copy of a file journals the checksums of
// what it shares, and to read a large one anew takes longer than all the rest.
// It bounds the memory: 24 bytes for each stretch of an epoch's gigabyte.
const longStretch = 64 << 10

// sumOf is the checksum of a stretch of a staging file.
type sumOf struct {
	at, len int64
	crc     uint32
}

// remember keeps a checksum. staging.mu is held.
func (f *stagingFile) remember(s sumOf) {
	i, _ := f.findSum(s.at)
	f.sums = slices.Insert(f.sums, i, s)
}

// findSum returns the index of the first stretch that begins at or after at,
// and whether it begins there. staging.mu is held.
func (f *stagingFile) findSum(at int64) (int, bool) {
	return slices.BinarySearchFunc(f.sums, at, func(s sumOf, at int64) int {
		switch {
		case s.at < at:
			return -1
		case s.at > at:
			return 1
		}
		return 0
	})
}

// summed is a piece with the checksum of its bytes.
type summed struct {
	piece
	crc uint32
}

// sums cuts a staged piece where checksums are known, and reads what lies
// between.
func (s *staging) sums(p piece) ([]summed, error) {
	var out []summed
	for p.len > 0 {
		known, lo, hi := s.nextSum(p)
		if gap := lo - p.at; gap > 0 {
			part := p
			part.len = gap
			crc, err := stagedSum(part)
			if err != nil {
				return nil, err
			}
			out = append(out, summed{part, crc})
		}
		if hi > lo {
			part := p
			part.off, part.at, part.len = p.off+lo-p.at, lo, hi-lo
			out = append(out, summed{part, known})
		}
		p.off, p.at, p.len = p.off+hi-p.at, hi, p.len-(hi-p.at)
	}
	return out, nil
}

// nextSum returns the first stretch [lo, hi) wholly in p whose checksum is
// known; without one it is empty, at p's end.
func (s *staging) nextSum(p piece) (crc uint32, lo, hi int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := p.at + p.len
	i, _ := p.file.findSum(p.at)
	if i < len(p.file.sums) {
		if k := p.file.sums[i]; k.at+k.len <= end {
			return k.crc, k.at, k.at + k.len
		}
	}
	return 0, end, end
}

// stagedSum reads the checksum of bytes that are staged already.
func stagedSum(p piece) (uint32, error) {
	sum := uint32(0)
	buf := make([]byte, min(p.len, 256<<10))
	for done := int64(0); done < p.len; {
		part := buf[:min(int64(len(buf)), p.len-done)]
		if err := readStaged(p.file, part, p.at+done); err != nil {
			return 0, err
		}
		sum = crc32.Update(sum, castagnoli, part)
		done += int64(len(part))
	}
	return sum, nil
}
