package chunk

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/restic/chunker"

	"github.com/vfsd/vfsd/vfs"
)

// cuts returns the offsets behind each chunk of data.
func cuts(t testing.TB, c *Cutter, r io.Reader) (ends []int, whole []byte) {
	t.Helper()
	err := c.Cut(r, func(p []byte) error {
		whole = append(whole, p...)
		ends = append(ends, len(whole))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return ends, whole
}

func noise(seed uint64, n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed)})
	b := make([]byte, n)
	r.Read(b)
	return b
}

func TestCut(t *testing.T) {
	c := newCutter(testPolynomial)
	for _, n := range []int{0, 1, 63, MinSize - 1, MinSize, MinSize + 1, WholeMax, MaxSize, MaxSize + 1, 16 << 20} {
		data := noise(1, n)
		ends, whole := cuts(t, c, iotest.HalfReader(bytes.NewReader(data)))
		if !bytes.Equal(whole, data) {
			t.Fatalf("%d bytes: the chunks are not the input", n)
		}
		from := 0
		for i, end := range ends {
			if size := end - from; size > MaxSize || size < MinSize && i != len(ends)-1 || size == 0 {
				t.Fatalf("%d bytes: chunk %d of %d has %d", n, i, len(ends), size)
			}
			from = end
		}
		if n == 16<<20 {
			// A cut is offered every AvgSize bytes, after the first MinSize.
			if mean := n / len(ends); mean < AvgSize || mean > AvgSize+MinSize+AvgSize/3 {
				t.Errorf("chunks of %d bytes on average", mean)
			}
		}
	}
	// What repeats one byte offers a place to cut everywhere or nowhere.
	for _, b := range []byte{0, 'a'} {
		ends, _ := cuts(t, c, bytes.NewReader(bytes.Repeat([]byte{b}, 3*MaxSize)))
		if n := len(ends); ends[0] != 3*MaxSize/n || ends[0] != MinSize && ends[0] != MaxSize {
			t.Errorf("%q, repeated, is cut at %v", b, ends)
		}
	}
}

// TestCutResumes: where it cuts after a cut depends only on what is after it.
func TestCutResumes(t *testing.T) {
	c := newCutter(testPolynomial)
	data := noise(2, 4<<20)
	ends, _ := cuts(t, c, bytes.NewReader(data))
	for i, from := range ends {
		rest, _ := cuts(t, c, bytes.NewReader(data[from:]))
		for j := range rest {
			rest[j] += from
		}
		if !slices.Equal(rest, ends[i+1:]) {
			t.Fatalf("from the cut at %d: %v, want %v", from, rest, ends[i+1:])
		}
	}
	// An edit changes the chunks around it and no others.
	for _, edit := range [][]byte{nil, []byte("x"), noise(3, 1000)} {
		at := len(data) / 2
		changed := slices.Concat(data[:at], edit, data[at+1:])
		now, _ := cuts(t, c, bytes.NewReader(changed))
		delta := len(changed) - len(data)
		fresh := 0
		for _, end := range now {
			if !slices.Contains(ends, end) && !slices.Contains(ends, end-delta) {
				fresh++
			}
		}
		if fresh > 4 {
			t.Errorf("an edit of %d bytes moved %d of %d cuts", len(edit), fresh, len(now))
		}
	}
}

// TestCutPooled: chunkers that are used again cut like new ones, also those
// that were left in the middle.
func TestCutPooled(t *testing.T) {
	c := newCutter(testPolynomial)
	data := noise(4, 3<<20)
	want, _ := cuts(t, c, bytes.NewReader(data))
	stop := errors.New("stop")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 3 {
				if err := c.Cut(bytes.NewReader(data), func([]byte) error { return stop }); err != stop {
					t.Errorf("Cut: %v", err)
				}
				r := io.MultiReader(bytes.NewReader(data[:1<<20]), iotest.ErrReader(stop))
				if err := c.Cut(r, func([]byte) error { return nil }); err != stop {
					t.Errorf("Cut: %v", err)
				}
				if got, _ := cuts(t, c, bytes.NewReader(data)); !slices.Equal(got, want) {
					t.Errorf("cut at %v, want %v", got, want)
				}
			}
		})
	}
	wg.Wait()
}

// TestPolynomialStays: a store cuts in the same way when it is opened again,
// even if half of the polynomial's file is damaged.
func TestPolynomialStays(t *testing.T) {
	opt := testOptions(t)
	opt.Polynomial = 0
	p := mustOpen(t, opt)
	pol := p.Cutter().Polynomial()
	if err := checkPolynomial(chunker.Pol(pol)); err != nil {
		t.Fatal(err)
	}
	p.Close()
	opt.Polynomial = testPolynomial // the store has one already
	name := filepath.Join(opt.Dir, polynomialFile)
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range good {
		b := slices.Clone(good)
		b[i] ^= 1 << (i % 8)
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := Open(t.Context(), opt)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Cutter().Polynomial(); got != pol {
			t.Fatalf("flip at %d: polynomial %x, was %x", i, got, pol)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(name, []byte(strings.Repeat("vfsd-polynomial 1 0 0\n", 2)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), opt); !errors.Is(err, vfs.ErrCorrupt) {
		t.Errorf("Open with a ruined polynomial: %v", err)
	}
}

// TestPolynomialMissing: packs without a polynomial are not given another one.
func TestPolynomialMissing(t *testing.T) {
	opt := testOptions(t)
	p := mustOpen(t, opt)
	mustPut(t, p, []byte("a chunk"))
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(opt.Dir, polynomialFile)); err != nil {
		t.Fatal(err)
	}
	opt.Polynomial = 0
	for range 2 {
		if _, err := Open(t.Context(), opt); !errors.Is(err, vfs.ErrCorrupt) {
			t.Fatalf("Open: %v", err)
		}
	}
	opt.Polynomial = testPolynomial
	mustOpen(t, opt)
}

func TestPolynomialChecked(t *testing.T) {
	opt := testOptions(t)
	for _, pol := range []uint64{1, 3, 1 << 53, 1<<63 | 1} {
		opt.Polynomial = pol
		if _, err := Open(t.Context(), opt); err == nil {
			t.Errorf("polynomial %x is taken", pol)
		}
	}
}
