package chunk

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"testing"

	"github.com/vfsd/vfsd/vfs"
)

// addVectors seeds a fuzz target with the golden packs.
func addVectors(f *testing.F) {
	for name := range vectors(f) {
		f.Add(vectorPack(f, name), false)
		f.Add(vectorPack(f, name), true)
	}
}

// mend makes the checksums in a pack right again, so that what the fuzzer
// changed gets past them, as what an attacker changes does.
func mend(pack []byte) []byte {
	if len(pack) < packHeaderSize {
		return pack
	}
	pack = bytes.Clone(pack)
	copy(pack[20:], crcBytes(pack[:20]))
	if k := len(pack) - trailerSize; string(pack[k+16:]) == trailerMagic {
		copy(pack[k+12:], crcBytes(pack[k:k+12]))
	}
	m := pack[12:20]
	for at := 0; ; at++ {
		i := bytes.Index(pack[at:], m)
		if at += i; i < 0 || len(pack)-at < recordHeaderSize {
			return pack
		}
		p := pack[at:]
		n := binary.LittleEndian.Uint32(p[12:])
		if int64(n) <= int64(len(p)-recordHeaderSize) {
			body := p[recordHeaderSize : recordHeaderSize+n]
			copy(p[52:], crcBytes(body))
			if id := Sum(body); p[9]&recordZstd == 0 {
				copy(p[20:], id[:])
			}
		}
		copy(p[56:], crcBytes(p[:56]))
	}
}

// FuzzWalk walks any bytes as a pack.
func FuzzWalk(f *testing.F) {
	addVectors(f)
	f.Fuzz(func(t *testing.T, pack []byte, mended bool) {
		if mended {
			pack = mend(pack)
		}
		r, size := bytes.NewReader(pack), int64(len(pack))
		m, err := decodePackHeader(pack)
		if err != nil {
			var ok bool
			if m, ok = findMarker(r, size); !ok {
				return
			}
		}
		w := &walker{r: r, end: size, marker: m}
		at := int64(packHeaderSize)
		for at < size {
			it := w.at(at)
			if it.off != at || it.size <= 0 || at+it.size > size {
				t.Fatalf("item of %d bytes at %d of %d", it.size, at, size)
			}
			if it.err == nil {
				body := pack[at+recordHeaderSize : at+it.size]
				if !it.known || !bytes.Equal(it.body, body) || crc(body) != it.rec.crc {
					t.Fatalf("record at %d is not what is there", at)
				}
			}
			at += it.size
		}
		s := surveyPack(r, size, m)
		if s.end > max(size, packHeaderSize) || s.durable > s.end {
			t.Fatalf("records end at %d, durable %d, of %d", s.end, s.durable, size)
		}
		last := int64(packHeaderSize)
		for _, e := range s.entries {
			if int64(e.off) < last || int64(e.off)+e.size() > size {
				t.Fatalf("entry at %d, after %d, of %d", e.off, last, size)
			}
			last = int64(e.off) + e.size()
		}
		if foot, end, err := readFooter(r, size, m); err == nil {
			checkFooter(t, foot, end)
		}
	})
}

// FuzzFooter decodes any bytes as the body of a footer record.
func FuzzFooter(f *testing.F) {
	for name, v := range vectors(f) {
		if v.Footer != nil {
			f.Add(vectorPack(f, name)[*v.Footer+recordHeaderSize:], *v.Footer)
		}
	}
	f.Add(appendFooter(nil, &footer{gaps: []extent{{24, 60}, {90, 1}}}), int64(200))
	f.Fuzz(func(t *testing.T, body []byte, end int64) {
		foot, err := decodeFooter(body, end)
		if err != nil {
			return
		}
		checkFooter(t, foot, end)
		if again := appendFooter(nil, foot); !bytes.Equal(again, body) {
			t.Fatalf("encoded again as %x", again)
		}
	})
}

func checkFooter(t *testing.T, foot *footer, end int64) {
	last := int64(packHeaderSize)
	for _, e := range foot.entries {
		if int64(e.off) < last || int64(e.off)+e.size() > end || e.raw > MaxChunk {
			t.Fatalf("entry %+v after %d of %d", e, last, end)
		}
		last = int64(e.off) + e.size()
	}
	last = packHeaderSize
	for _, g := range foot.gaps {
		if int64(g.off) < last || g.n == 0 || int64(g.off)+int64(g.n) > end {
			t.Fatalf("gap %+v after %d of %d", g, last, end)
		}
		last = int64(g.off) + int64(g.n)
	}
}

// FuzzRecord decodes any bytes as a record and its chunk.
func FuzzRecord(f *testing.F) {
	for name, v := range vectors(f) {
		for _, r := range v.Records {
			f.Add(vectorPack(f, name)[r.Offset:])
		}
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		r, err := decodeAnyRecord(p)
		if err != nil {
			return
		}
		if !bytes.Equal(appendRecord(nil, marker(p[:8]), &r, nil), p[:recordHeaderSize]) {
			t.Fatalf("%+v is encoded in another way", r)
		}
		if r.size() > int64(len(p)) {
			return
		}
		body := p[recordHeaderSize:r.size()]
		if data, err := decodeBody(&r, body); err == nil && (len(data) != int(r.raw) || Sum(data) != r.digest) {
			t.Fatalf("%+v: %d bytes with another digest", r, len(data))
		}
	})
}

// FuzzZstd decompresses hostile frames: the header vouches for nothing but the
// length.
func FuzzZstd(f *testing.F) {
	for _, v := range vectors(f) {
		for _, r := range v.Records {
			if r.Flags&recordZstd != 0 {
				f.Add([]byte(r.Stored), r.Raw)
			}
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, raw uint32) {
		r := record{kind: kindChunk, flags: recordZstd, length: uint32(len(body)), raw: raw}
		if r.fits() {
			if _, err := decodeBody(&r, body); err == nil {
				t.Fatal("a digest of zeroes was met")
			}
		}
	})
}

// FuzzTrailer decodes any bytes as a trailer, and as a pack header.
func FuzzTrailer(f *testing.F) {
	for name := range vectors(f) {
		p := vectorPack(f, name)
		f.Add(p[:packHeaderSize])
		f.Add(p[len(p)-trailerSize:])
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if tr, err := decodeTrailer(p); err == nil && !bytes.Equal(appendTrailer(nil, tr), p) {
			t.Fatalf("%+v is encoded in another way", tr)
		}
		if m, err := decodePackHeader(p); err == nil && !bytes.Equal(appendPackHeader(nil, m), p[:packHeaderSize]) {
			t.Fatalf("marker %x is encoded in another way", m)
		}
	})
}

// FuzzPolynomial parses any bytes as the file of the polynomial.
func FuzzPolynomial(f *testing.F) {
	line := polynomialLine(testPolynomial)
	f.Add([]byte(line + line))
	f.Add([]byte("x" + line[1:] + line))
	f.Add([]byte(polynomialLine(1)))
	f.Fuzz(func(t *testing.T, p []byte) {
		pol, err := parsePolynomial(p)
		if err == nil && (pol.Deg() != polDegree || !bytes.Contains(p, []byte(polynomialLine(pol)))) {
			t.Fatalf("polynomial %v is not in %q", pol, p)
		}
		if err != nil && !errors.Is(err, vfs.ErrCorrupt) {
			t.Fatal(err)
		}
	})
}

// FuzzOpen opens a store whose only pack is any bytes, reads all it claims to
// hold, writes to it and opens it again.
func FuzzOpen(f *testing.F) {
	addVectors(f)
	f.Fuzz(func(t *testing.T, pack []byte, mended bool) {
		if mended {
			pack = mend(pack)
		}
		opt := testOptions(t)
		opt.Log, opt.CacheBytes = nil, -1
		if err := os.MkdirAll(opt.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		place(t, packPath(opt.Dir, 7), pack)
		stored := []byte("stored after recovery")
		for range 2 {
			p, err := Open(t.Context(), opt)
			var newer versionError
			if errors.As(err, &newer) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if pk := p.pack(7); pk != nil {
				if list, err := p.listPack(pk); err == nil {
					for _, e := range list {
						if got, err := p.Get(t.Context(), e.id); err == nil && Sum(got) != e.id {
							t.Fatalf("chunk %s has other bytes", e.id)
						}
					}
				}
			}
			id := mustPut(t, p, stored)
			if err := errors.Join(p.Fsync(t.Context()), p.Close()); err != nil {
				t.Fatal(err)
			}
			p = mustOpen(t, opt)
			if got, err := p.Get(t.Context(), id); err != nil || !bytes.Equal(got, stored) {
				t.Fatalf("Get of what was stored after recovery: %v", err)
			}
			if err := p.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
