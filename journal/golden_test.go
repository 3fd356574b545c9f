package journal

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
)

var update = flag.Bool("update", false, "write spec/vectors/journal anew")

const (
	vectorDir = "../spec/vectors/journal"
	specFile  = "../spec/journal.md"
)

// vectors is journal.json.
type vectors struct {
	Version  int             `json:"version"`
	Segments []vectorSegment `json:"segments"`
	Invalid  []vectorInvalid `json:"invalid"`
}

type vectorSegment struct {
	File    string         `json:"file"`
	Records []vectorRecord `json:"records"`
}

// vectorRecord is a record and the offset of its entry.
type vectorRecord struct {
	Offset  int    `json:"offset"`
	Type    Type   `json:"type"`
	LSN     LSN    `json:"lsn"`
	Durable LSN    `json:"durable"`
	Payload string `json:"payload"` // hexadecimal
}

// vectorInvalid is an entry that is no record at the place of an LSN.
type vectorInvalid struct {
	LSN   LSN    `json:"lsn"`
	Entry string `json:"entry"` // hexadecimal
	Why   flaw   `json:"why"`
}

const vectorFirst LSN = 1000

// writeVectors writes the journal of the vectors: records of many sizes, in two
// segments, fsynced now and then.
func writeVectors(t *testing.T, dir string) {
	t.Helper()
	j, err := Open(Options{Dir: dir, First: vectorFirst, SegmentSize: 2048})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range []int{0, 1, 5, 105, 106, 300, 0, 1600, 33, 2, 17} {
		lsn, err := j.Append(Type(1+i*23), bytes.Repeat([]byte{byte(i * 31)}, n))
		if err == nil && i%4 == 2 {
			err = j.Fsync(lsn)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}

// describe decodes the segments in a directory with this package's decoder.
func describe(t *testing.T, dir string) []vectorSegment {
	t.Helper()
	files, err := listSegments(hostfs.OS{}, dir)
	if err != nil {
		t.Fatal(err)
	}
	var segments []vectorSegment
	for _, f := range files {
		data, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		s := vectorSegment{File: filepath.Base(f.path)}
		for at := 0; at < len(data); {
			rec, size, bad := splitEntry(data[at:])
			if bad != "" {
				t.Fatalf("%s at %d: %s", f.path, at, bad)
			}
			r, bad := parseRecord(rec)
			if bad != "" {
				t.Fatalf("%s at %d: %s", f.path, at, bad)
			}
			s.Records = append(s.Records, vectorRecord{at, r.typ, r.lsn, r.durable, hex.EncodeToString(r.payload)})
			at += size
		}
		segments = append(segments, s)
	}
	return segments
}

// invalidEntries makes one entry for each flaw.
func invalidEntries() []vectorInvalid {
	const lsn = 7
	good := func(t Type, lsn, durable LSN, payload string) []byte {
		rec := appendRecord(nil, t, lsn, durable, [][]byte{[]byte(payload)})
		return append([]byte{byte(len(rec))}, rec...)
	}
	withVersion := func(v byte) []byte {
		e := good(1, lsn, 3, "other version")
		e[5] = v
		return append(e[:1], reseal(e[1:])...)
	}
	flipped := good(1, lsn, 3, "flipped")
	flipped[len(flipped)-1] ^= 1
	whole := good(1, lsn, 3, "short")
	long := good(1, lsn, 3, "not the shortest length")
	long = append([]byte{long[0] | 0x80, 0}, long[1:]...)
	var list []vectorInvalid
	for _, v := range []struct {
		entry []byte
		why   flaw
	}{
		{whole[:len(whole)-1], flawShort},
		{whole[:1], flawShort},
		{[]byte{0x80}, flawShort},
		{make([]byte, 32), flawLength},
		{append([]byte{headerSize - 1}, whole[1:]...), flawLength},
		{long, flawLength},
		{append([]byte{0xff, 0xff, 0xff, 0xff, 0x01}, whole[1:]...), flawLength},
		{append([]byte{0xff, 0xff, 0xff, 0x7f}, whole[1:]...), flawLength},
		{flipped, flawChecksum},
		{withVersion(0), flawVersion},
		{withVersion(Version + 1), flawVersion},
		{good(0, lsn, 3, "no type"), flawType},
		{good(1, lsn-1, 3, "seen before"), flawLSN},
		{good(1, lsn+1, 3, "one is missing"), flawLSN},
		{good(1, lsn, lsn, "durable before it is written"), flawDurable},
	} {
		list = append(list, vectorInvalid{lsn, hex.EncodeToString(v.entry), v.why})
	}
	return list
}

func TestGoldenVectors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "j")
	writeVectors(t, dir)
	if *update {
		updateVectors(t, dir)
	}
	b, err := os.ReadFile(filepath.Join(vectorDir, "journal.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want vectors
	if err := json.Unmarshal(b, &want); err != nil {
		t.Fatal(err)
	}
	if want.Version != Version || len(want.Segments) < 2 {
		t.Fatalf("version %d, %d segments", want.Version, len(want.Segments))
	}
	if got := describe(t, vectorDir); !reflect.DeepEqual(got, want.Segments) {
		t.Errorf("the segments hold %+v, described as %+v", got, want.Segments)
	}
	for _, s := range want.Segments {
		golden, err := os.ReadFile(filepath.Join(vectorDir, s.File))
		if err != nil {
			t.Fatal(err)
		}
		written, err := os.ReadFile(filepath.Join(dir, s.File))
		if err != nil || !bytes.Equal(golden, written) {
			t.Errorf("%s is written differently now (%v)", s.File, err)
		}
	}
	if r, err := Scrub(hostfs.OS{}, vectorDir); err != nil || r.Torn != nil || r.First != vectorFirst {
		t.Errorf("scrub: %+v, %v", r, err)
	}
	flaws := map[flaw]bool{}
	for _, v := range want.Invalid {
		entry, err := hex.DecodeString(v.Entry)
		if err != nil {
			t.Fatal(err)
		}
		if s := scan(entry, v.LSN); s.bad != v.Why || s.records != 0 {
			t.Errorf("%s: %q, want %q", v.Entry, s.bad, v.Why)
		}
		flaws[v.Why] = true
	}
	for _, f := range []flaw{flawShort, flawLength, flawChecksum, flawVersion, flawType, flawLSN, flawDurable} {
		if !flaws[f] {
			t.Errorf("no vector shows %q", f)
		}
	}
}

// updateVectors replaces the committed vectors.
func updateVectors(t *testing.T, dir string) {
	t.Helper()
	v := vectors{Version: Version, Segments: describe(t, dir), Invalid: invalidEntries()}
	b, err := json.MarshalIndent(v, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	old, err := filepath.Glob(filepath.Join(vectorDir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	files := map[string][]byte{"journal.json": append(b, '\n')}
	for _, s := range v.Segments {
		if files[s.File], err = os.ReadFile(filepath.Join(dir, s.File)); err != nil {
			t.Fatal(err)
		}
	}
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(vectorDir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// The tables of the prose say what the code does.
func TestGoldenSpecTables(t *testing.T) {
	b, err := os.ReadFile(specFile)
	if err != nil {
		t.Fatal(err)
	}
	spec := string(b)
	for name, value := range map[string]uint64{
		"LSN at most":                   MaxLSN,
		"version":                       Version,
		"header of a record, bytes":     headerSize,
		"length uvarint, bytes at most": maxLength,
		"payload, bytes at most":        MaxPayload,
		"segment file, bytes at most":   MaxSegment,
	} {
		if row := fmt.Sprintf("| %s | %d |", name, value); !strings.Contains(spec, row) {
			t.Errorf("%s does not say %q", specFile, row)
		}
	}
	// The fields are where a record has them.
	rec := appendRecord(nil, 0x11, 0x2222222222222222, 0x1111111111111111, [][]byte{{0x33}})
	fields := regexp.MustCompile(`(?m)^\| (\d+) \| (\d+|length - 22) \| (\w[\w ]*) \|`).FindAllStringSubmatch(spec, -1)
	next := 0
	for _, f := range fields {
		offset, err := strconv.Atoi(f[1])
		if err != nil || offset != next {
			t.Errorf("field %s is at %s, the one before ends at %d", f[3], f[1], next)
		}
		if f[3] == "payload" {
			if offset != headerSize {
				t.Errorf("the payload is at %d", offset)
			}
			break
		}
		size, err := strconv.Atoi(f[2])
		if err != nil {
			t.Fatal(err)
		}
		next = offset + size
		want := map[string]string{"version": "01", "type": "11", "lsn": "2222222222222222", "durable lsn": "1111111111111111"}
		if w := want[f[3]]; w != "" && hex.EncodeToString(rec[offset:next]) != w {
			t.Errorf("field %s holds %x", f[3], rec[offset:next])
		}
	}
	if len(fields) != 6 {
		t.Errorf("the table has %d fields", len(fields))
	}
	for _, s := range []string{fmt.Sprint(searchBudget), fmt.Sprint(sectorSize), lockName, reserveName} {
		if !strings.Contains(spec, s) {
			t.Errorf("%s does not mention %s", specFile, s)
		}
	}
}
