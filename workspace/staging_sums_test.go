package workspace

import (
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// Whatever piece is asked for, its parts follow one another without a gap and
// carry the checksums of what is in the file, remembered or read.
func TestStagingSums(t *testing.T) {
	const seed = 6
	r := rand.New(rand.NewPCG(seed, 0))
	s, err := openStaging(hostfs.OS{}, t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	var f *stagingFile
	for i := range 40 {
		p := make([]byte, 1+r.IntN(3*longStretch))
		for j := range p {
			p[j] = byte(r.Uint32())
		}
		got, at, sum, err := s.append(p)
		if err != nil {
			t.Fatal(err)
		}
		if sum != crc32.Checksum(p, castagnoli) {
			t.Fatalf("append %d: a wrong checksum", i)
		}
		if len(p) >= longStretch && at%blockSize != 0 {
			t.Errorf("%d bytes begin amid a page, at %d", len(p), at)
		}
		f = got
	}
	if len(f.sums) == 0 || len(f.sums) == 40 {
		t.Fatalf("%d of 40 checksums are kept; the test wants some", len(f.sums))
	}
	for range 200 {
		at := r.Int64N(f.end)
		checkSums(t, s, piece{off: r.Int64N(1 << 20), len: 1 + r.Int64N(f.end-at), src: srcStaging, file: f, at: at})
	}
	k := f.sums[1]
	whole, err := s.sums(piece{off: 5, len: k.len, src: srcStaging, file: f, at: k.at})
	if err != nil || len(whole) != 1 || whole[0].crc != k.crc {
		t.Errorf("a piece that is one stretch has the sums %+v, %v", whole, err)
	}
}

func checkSums(t *testing.T, s *staging, p piece) {
	t.Helper()
	parts, err := s.sums(p)
	if err != nil {
		t.Fatal(err)
	}
	off, at := p.off, p.at
	for _, part := range parts {
		if part.off != off || part.at != at || part.len <= 0 {
			t.Fatalf("a part at %d, %d of %d bytes, where one at %d, %d is due", part.off, part.at, part.len, off, at)
		}
		want, err := stagedSum(part.piece)
		if err != nil {
			t.Fatal(err)
		}
		if part.crc != want {
			t.Errorf("the part at %d of %d bytes has the checksum of something else", part.at, part.len)
		}
		off, at = off+part.len, at+part.len
	}
	if off != p.end() {
		t.Errorf("the parts end at %d, the piece at %d", off, p.end())
	}
}
