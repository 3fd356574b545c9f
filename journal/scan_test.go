package journal

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"hash/crc32"
	"os"
	"path/filepath"
	"testing"
)

// reseal gives a record that a test has changed a right checksum.
func reseal(rec []byte) []byte {
	binary.LittleEndian.PutUint32(rec, crc32.Checksum(rec[4:], castagnoli))
	return rec
}

// entriesFrom encodes records with the given LSNs, each with the durable LSN
// and a payload of a size.
func entriesFrom(durable LSN, size int, lsns ...LSN) []byte {
	var b []byte
	for _, lsn := range lsns {
		rec := appendRecord(nil, 1, lsn, durable, [][]byte{bytes.Repeat([]byte{0xaa}, size)})
		b = binary.AppendUvarint(b, uint64(len(rec)))
		b = append(b, rec...)
	}
	return b
}

func TestJudge(t *testing.T) {
	size := len(entriesFrom(0, 100, 1))
	zeroed := func(b []byte, from, to int) []byte {
		b = bytes.Clone(b)
		clear(b[from:to])
		return b
	}
	flipped := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 0x10
		return b
	}
	ten := entriesFrom(0, 100, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	for name, c := range map[string]struct {
		data    []byte
		dropped bool
		records int // what is valid behind
	}{
		"noise at the end":               {append(bytes.Clone(ten), "noise"...), true, 0},
		"the last one flipped":           {flipped(ten, len(ten)-1), true, 0},
		"one in the middle flipped":      {flipped(ten, 4*size+30), false, 5},
		"a sector lost":                  {zeroed(ten, 512, 1024), true, 1},
		"not quite a sector lost":        {zeroed(ten, 520, 1024), false, 1},
		"lost from the record's start":   {zeroed(ten, 3*size, 512), true, 5},
		"lost from within the record":    {zeroed(ten, 3*size+1, 512), false, 5},
		"lost, and fsynced":              {zeroed(append(bytes.Clone(ten), entriesFrom(9, 1, 11)...), 512, 1024), false, 2},
		"lost, and what is before":       {zeroed(append(bytes.Clone(ten), entriesFrom(4, 1, 11)...), 512, 1024), true, 2},
		"fsynced, seen late":             {zeroed(append(bytes.Clone(ten), append(entriesFrom(0, 1, 11), entriesFrom(5, 1, 12)...)...), 512, 1024), false, 3},
		"a record is missing":            {append(bytes.Clone(ten), entriesFrom(0, 1, 12)...), false, 1},
		"an old record":                  {append(bytes.Clone(ten), entriesFrom(0, 1, 10)...), true, 0},
		"an LSN too high to be possible": {append(bytes.Clone(ten), entriesFrom(0, 1, 1<<40)...), true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := scan(c.data, 1)
			if s.bad == "" {
				t.Fatal("nothing is bad")
			}
			rest, damage := judge(c.data, s)
			if (damage == "") != c.dropped || rest.records != c.records {
				t.Errorf("damage %q, %d records behind; want dropped %v, %d", damage, rest.records, c.dropped, c.records)
			}
		})
	}
}

// A file made to look like headers of long records everywhere costs a bounded
// search, and is refused.
func TestSearchIsBounded(t *testing.T) {
	// Each of these headers claims a record to near the end of the file.
	const headers = 1 << 12
	var data []byte
	for i := range headers {
		e := binary.AppendUvarint(nil, uint64((headers-i)*40-3))
		e = append(e, 0, 0, 0, 0, Version, 1)
		e = binary.LittleEndian.AppendUint64(e, uint64(2+i))
		e = binary.LittleEndian.AppendUint64(e, 0)
		data = append(data, e...)
		data = append(data, make([]byte, 40-len(e))...)
	}
	s := scan(data, 1)
	if rest, damage := judge(data, s); !rest.gaveUp || damage == "" {
		t.Errorf("%+v, %q: the search should have given up", rest, damage)
	}
}

// FuzzScan decodes hostile segments: whatever they hold, what is accepted is
// exactly what appendRecord would have written, and stays acceptable when the
// tail is dropped.
func FuzzScan(f *testing.F) {
	segments, err := filepath.Glob(filepath.Join(vectorDir, "0*"))
	if err != nil || len(segments) == 0 {
		f.Fatal("no vectors", err)
	}
	for i, path := range segments {
		b, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint64(vectorFirst))
		f.Add(b[:len(b)-i-1], uint64(vectorFirst))
	}
	b, err := os.ReadFile(filepath.Join(vectorDir, "journal.json"))
	if err != nil {
		f.Fatal(err)
	}
	var v vectors
	if err := json.Unmarshal(b, &v); err != nil {
		f.Fatal(err)
	}
	for _, bad := range v.Invalid {
		entry, err := hex.DecodeString(bad.Entry)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(entry, entriesFrom(0, 3, bad.LSN, bad.LSN+1)...), uint64(bad.LSN))
	}
	f.Fuzz(func(t *testing.T, data []byte, first uint64) {
		s := scan(data, LSN(first))
		if s.end < 0 || s.end > len(data) || (s.bad == "") != (s.end == len(data)) {
			t.Fatalf("%+v of %d bytes", s, len(data))
		}
		var again []byte
		for at := 0; at < s.end; {
			rec, size, _ := splitEntry(data[at:s.end])
			r, bad := parseRecord(rec)
			if bad != "" || r.lsn != LSN(first) {
				t.Fatalf("accepted at %d: %q, LSN %d", at, bad, r.lsn)
			}
			rec = appendRecord(nil, r.typ, r.lsn, r.durable, [][]byte{r.payload})
			again = binary.AppendUvarint(again, uint64(len(rec)))
			again = append(again, rec...)
			if entrySize(len(rec)) != int64(size) {
				t.Fatalf("entry of %d bytes, counted as %d", size, entrySize(len(rec)))
			}
			at += size
			first++
		}
		if !bytes.Equal(again, data[:s.end]) {
			t.Fatal("accepted bytes that are never written")
		}
		if s.bad == "" {
			return
		}
		if rest, damage := judge(data, s); damage == "" && rest.records > 0 && rest.durable >= s.next {
			t.Fatalf("drops LSN %d, which was durable: %+v", s.next, rest)
		}
	})
}
