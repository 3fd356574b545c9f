package chunk

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden vectors of ../spec/vectors anew")

const vectorDir = "../spec/vectors"

// vector is a golden pack: its bytes are in NAME.pack, and this in NAME.json.
type vector struct {
	Comment string         `json:"comment"`
	Version int            `json:"version"`
	Marker  hexBytes       `json:"marker"`
	Records []vectorRecord `json:"records"`
	Tail    hexBytes       `json:"tail,omitempty"`   // bytes behind the records
	Footer  *int64         `json:"footer,omitempty"` // offset of the footer record
	// What recovery must make of it.
	End     int64      `json:"end"`     // where the records end
	Durable int64      `json:"durable"` // how much is known to have been fsynced
	Gaps    [][2]int64 `json:"gaps"`    // offset and length of what was dropped
	Damaged []int64    `json:"damaged"` // offsets of damaged records
}

type vectorRecord struct {
	Offset int64    `json:"offset"`
	Kind   uint8    `json:"kind"`
	Flags  uint8    `json:"flags"`
	Length uint32   `json:"length"`
	Raw    uint32   `json:"raw_length"`
	Digest string   `json:"digest"`
	CRC    string   `json:"crc"`
	Stored hexBytes `json:"stored"`          // the bytes after the header
	Chunk  hexBytes `json:"chunk,omitempty"` // the chunk, if Stored is compressed
	// Flip is the offset in the record of a byte whose lowest bit is flipped in
	// the file.
	Flip *int64 `json:"flip,omitempty"`
}

type hexBytes []byte

func (h hexBytes) MarshalText() ([]byte, error) { return []byte(hex.EncodeToString(h)), nil }

func (h *hexBytes) UnmarshalText(p []byte) (err error) {
	*h, err = hex.DecodeString(string(p))
	return err
}

// encode writes the pack that the vector describes, with the code under test.
func (v *vector) encode(t *testing.T) []byte {
	m := marker(v.Marker)
	b := appendPackHeader(nil, m)
	var foot footer
	for _, r := range v.Records {
		if int64(len(b)) != r.Offset {
			t.Fatalf("record at %d, the listing says %d", len(b), r.Offset)
		}
		id, err := ParseID(r.Digest)
		if err != nil {
			t.Fatal(err)
		}
		rec := record{kind: r.Kind, flags: r.Flags, length: r.Length, raw: r.Raw, digest: id, crc: crc(r.Stored)}
		if got := fmt.Sprintf("%08x", rec.crc); got != r.CRC {
			t.Fatalf("record at %d: checksum %s, the listing says %s", r.Offset, got, r.CRC)
		}
		b = appendRecord(b, m, &rec, r.Stored)
		if r.Flip != nil {
			b[r.Offset+*r.Flip] ^= 1
		}
		if r.Kind == kindChunk {
			foot.entries = append(foot.entries, entry{id: id, off: uint32(r.Offset), length: r.Length, raw: r.Raw})
		}
	}
	if v.Footer != nil {
		b = append(b, sealBytes(m, int64(len(b)), &foot)...)
	}
	return append(b, v.Tail...)
}

// vectors lists the golden packs by name.
func vectors(t testing.TB) map[string]*vector {
	names, err := filepath.Glob(vectorDir + "/pack-*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden packs in %s (%v)", vectorDir, err)
	}
	all := make(map[string]*vector)
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		v := new(vector)
		if err := json.Unmarshal(b, v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all[strings.TrimSuffix(filepath.Base(name), ".json")] = v
	}
	return all
}

func vectorPack(t testing.TB, name string) []byte {
	b, err := os.ReadFile(filepath.Join(vectorDir, name+packSuffix))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestVectors holds the encoder, the decoder and recovery to the golden packs.
func TestVectors(t *testing.T) {
	if *update {
		writeVectors(t)
	}
	for name, v := range vectors(t) {
		t.Run(name, func(t *testing.T) {
			pack := vectorPack(t, name)
			if got := v.encode(t); !bytes.Equal(got, pack) {
				t.Fatalf("encoded\n%x\nwant\n%x", got, pack)
			}
			m, err := decodePackHeader(pack)
			if err != nil || m != marker(v.Marker) {
				t.Fatalf("header: marker %x, %v", m, err)
			}
			foot, end, err := readFooter(bytes.NewReader(pack), int64(len(pack)), m)
			if (err == nil) != (v.Footer != nil) {
				t.Fatalf("footer: %v", err)
			}
			if v.Footer != nil && (end != *v.Footer || len(foot.entries) != v.chunks()) {
				t.Fatalf("footer at %d with %d chunks", end, len(foot.entries))
			}
			v.checkSurvey(t, pack)
			v.checkRecovery(t, pack)
		})
	}
}

func (v *vector) chunks() (n int) {
	for _, r := range v.Records {
		if r.Kind == kindChunk {
			n++
		}
	}
	return n
}

func (v *vector) checkSurvey(t *testing.T, pack []byte) {
	s := surveyPack(bytes.NewReader(pack), int64(len(pack)), marker(v.Marker))
	if s.end != v.End || s.durable != v.Durable {
		t.Errorf("walk ends at %d, durable %d, want %d and %d", s.end, s.durable, v.End, v.Durable)
	}
}

// checkRecovery opens a store of this one pack.
func (v *vector) checkRecovery(t *testing.T, pack []byte) {
	opt := testOptions(t)
	if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	place(t, packPath(opt.Dir, 1), pack)
	p := mustOpen(t, opt)
	pk := p.pack(1)
	var gaps [][2]int64
	for _, g := range pk.foot.gaps {
		gaps = append(gaps, [2]int64{int64(g.off), int64(g.n)})
	}
	if fmt.Sprint(gaps) != fmt.Sprint(v.Gaps) || pk.damaged.Load() != int64(len(v.Damaged)) {
		t.Errorf("recovery found gaps %v and %d damaged places, want %v and %v", gaps, pk.damaged.Load(), v.Gaps, v.Damaged)
	}
	for _, r := range v.Records {
		if r.Kind != kindChunk {
			continue
		}
		want := r.Chunk
		if r.Flags&recordZstd == 0 {
			want = r.Stored
		}
		id := Sum(want)
		if id.String() != r.Digest {
			t.Errorf("record at %d: the digest is %s", r.Offset, id)
		}
		got, err := p.Get(t.Context(), id)
		if bad := r.Flip != nil; bad != (err != nil) {
			t.Errorf("record at %d: %v", r.Offset, err)
		} else if !bad && !bytes.Equal(got, want) {
			t.Errorf("record at %d has other bytes", r.Offset)
		}
	}
}

// writeVectors makes the golden packs.
func writeVectors(t *testing.T) {
	m := marker{0x8f, 0x1d, 0x52, 0xc3, 0x06, 0xe4, 0x77, 0xba}
	hello, text := []byte("hello, pack\n"), bytes.Repeat([]byte("so it goes. "), 64)
	mark := func(d byte) []byte { return []byte{d, 0, 0, 0, 0, 0, 0, 0} }

	sealed := &vector{Comment: "A sealed pack: a chunk, an empty chunk, a mark, a compressed chunk, a footer."}
	sealed.add(kindChunk, hello)
	sealed.add(kindChunk, nil)
	sealed.add(kindMark, mark(96))
	sealed.add(kindChunk, text)
	sealed.Footer = &sealed.End
	sealed.finish(sealed.End)

	open := &vector{Comment: "An open pack with a torn tail: half a record."}
	open.add(kindChunk, hello)
	open.add(kindMark, mark(96))
	open.add(kindChunk, []byte("not known to be durable"))
	torn := plainRecord(kindChunk, text)
	open.finish(96)
	open.Tail = appendRecord(nil, m, &torn, text)[:100]

	gap := &vector{Comment: "A pack after a power cut: the record at 164 is not whole, a later one is. What is damaged at 24 was durable."}
	gap.add(kindChunk, hello)
	gap.flip(66)
	gap.add(kindMark, mark(96))
	gap.add(kindChunk, []byte("lost by the power cut"))
	gap.flip(20)
	gap.add(kindChunk, []byte("kept by it"))
	gap.finish(96)
	gap.Damaged = []int64{24}
	gap.Gaps = [][2]int64{{164, 81}}

	for name, v := range map[string]*vector{"pack-sealed": sealed, "pack-torn": open, "pack-gap": gap} {
		v.Version, v.Marker = FormatVersion, m[:]
		b, err := json.MarshalIndent(v, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(vectorDir, 0o755); err != nil {
			t.Fatal(err)
		}
		for ext, b := range map[string][]byte{".json": append(b, '\n'), packSuffix: v.encode(t)} {
			if err := os.WriteFile(filepath.Join(vectorDir, name+ext), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func (v *vector) add(kind uint8, data []byte) {
	r := plainRecord(kind, data)
	out := vectorRecord{Offset: max(v.End, packHeaderSize), Kind: kind}
	stored := data
	if kind == kindChunk {
		var buf []byte
		r, stored = encodeChunk(Sum(data), data, true, &buf)
	}
	if r.flags&recordZstd != 0 {
		out.Chunk = data
	}
	out.Flags, out.Length, out.Raw, out.Stored = r.flags, r.length, r.raw, stored
	out.Digest, out.CRC = r.digest.String(), fmt.Sprintf("%08x", r.crc)
	v.Records = append(v.Records, out)
	v.End = out.Offset + r.size()
}

func (v *vector) flip(at int64) { v.Records[len(v.Records)-1].Flip = &at }

func (v *vector) finish(durable int64) { v.Durable = durable }

// TestSpec holds the figures in the prose to the code.
func TestSpec(t *testing.T) {
	prose, err := os.ReadFile("../spec/packs.md")
	if err != nil {
		t.Fatal(err)
	}
	said := make(map[string]string)
	for line := range strings.Lines(string(prose)) {
		cells := strings.Split(line, "|")
		if len(cells) >= 4 {
			said[strings.Trim(cells[1], " `")] = strings.TrimSpace(cells[2])
		}
	}
	for name, value := range map[string]int64{
		"format version":            FormatVersion,
		"pack header":               packHeaderSize,
		"record header":             recordHeaderSize,
		"trailer":                   trailerSize,
		"footer entry":              footerEntrySize,
		"footer gap":                footerGapSize,
		"largest chunk":             MaxChunk,
		"largest pack":              MaxPackSize,
		"most records in a pack":    maxRecords,
		"most gaps in a pack":       maxGaps,
		"highest pack number":       maxPackNo,
		"kind: chunk":               kindChunk,
		"kind: mark":                kindMark,
		"kind: footer":              kindFooter,
		"flag: zstd":                recordZstd,
		"file that is one chunk":    WholeMax,
		"smallest cut":              MinSize,
		"mean distance of places":   AvgSize,
		"largest cut":               MaxSize,
		"degree of the polynomial":  polDegree,
		"smallest chunk compressed": compressMin,
	} {
		if got, err := strconv.ParseInt(said[name], 10, 64); err != nil || got != value {
			t.Errorf("spec/packs.md says %q for %q, the code %d", said[name], name, value)
		}
	}
	for _, v := range []string{packMagic, trailerMagic, polynomialFile, strings.TrimSpace(polynomialLine(testPolynomial))} {
		if !strings.Contains(string(prose), v) {
			t.Errorf("spec/packs.md does not say %q", v)
		}
	}
}
