package journal

import (
	"encoding/binary"
)

// scanned is what a walk over a segment's bytes found.
type scanned struct {
	next    LSN  // the LSN after the last good record
	end     int  // where the good records end
	records int  // how many there are
	bad     flaw // why the walk ended before the data did, or none
}

// scan walks the records of a segment whose first record has the LSN first. A
// record that is well formed but has another LSN is not valid: it is what a
// recycled sector would hold.
func scan(data []byte, first LSN) scanned {
	s := scanned{next: first}
	for s.end < len(data) {
		rec, size, bad := splitEntry(data[s.end:])
		if bad == "" {
			var r record
			if r, bad = parseRecord(rec); bad == "" && r.lsn != s.next {
				bad = flawLSN
			}
		}
		if bad != "" {
			s.bad = bad
			return s
		}
		s.next++
		s.end += size
		s.records++
	}
	return s
}

// remains is what is still valid behind a segment's first bad record.
type remains struct {
	first   int  // where the first valid record is
	records int  // how many there are
	durable LSN  // the highest durable LSN that they state
	gaveUp  bool // the bytes took too long to search
}

// searchBudget bounds the checksumming of a search, as a multiple of the bytes
// searched: bytes made to look like record headers could ask for the square.
const searchBudget = 64

// search looks at every offset of data for valid records that could follow
// where the record with the LSN want should have been.
func search(data []byte, want LSN) remains {
	rest := remains{first: -1}
	// No more records than this fit, so no higher LSN is plausible.
	limit := want + LSN(len(data)/minEntry) + 1
	budget := searchBudget * len(data)
	for pos := 0; pos+minEntry <= len(data); {
		rec, size, bad := splitEntry(data[pos:])
		if bad != "" || rec[4] != Version {
			pos++
			continue
		}
		lsn := LSN(binary.LittleEndian.Uint64(rec[6:]))
		if lsn < want || lsn > limit {
			pos++
			continue
		}
		if budget -= len(rec); budget < 0 {
			rest.gaveUp = true
			return rest
		}
		r, bad := parseRecord(rec)
		if bad != "" {
			pos++
			continue
		}
		if rest.first < 0 {
			rest.first = pos
		}
		rest.records++
		rest.durable = max(rest.durable, r.durable)
		pos += size
	}
	return rest
}

// sectorSize is the least that a disk writes whole.
const sectorSize = 512

// lostSector reports whether data[from:to] holds the zeroes that a page leaves
// which never reached the disk: the whole of a sector, or what of it lies
// behind from, where the file may have ended when it was last fsynced.
func lostSector(data []byte, from, to int) bool {
	end := from - from%sectorSize + sectorSize
	for ; end <= to; end += sectorSize {
		if allZero(data[max(from, end-sectorSize):end]) {
			return true
		}
	}
	return false
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// judge decides about the first bad record of the last segment: it returns
// nothing if the tail behind it may be dropped, or why it may not.
func judge(data []byte, s scanned) (rest remains, damage flaw) {
	rest = search(data[s.end:], s.next)
	switch {
	case rest.gaveUp:
		return rest, s.bad + ", and what follows was made to look like records"
	case rest.records == 0:
		return rest, ""
	case rest.durable >= s.next:
		return rest, s.bad + ", though it had been fsynced"
	case lostSector(data, s.end, s.end+rest.first):
		return rest, ""
	}
	return rest, s.bad + ", and valid records follow"
}
