package chunk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/restic/chunker"

	"github.com/vfsd/vfsd/internal/hostfs"
	"github.com/vfsd/vfsd/vfs"
)

// Sizes of chunks, in bytes.
const (
	// WholeMax is the largest file that is one chunk. Deciding that is up to
	// the caller: a Cutter does not know how long its input will be.
	WholeMax = 64 << 10

	// MinSize and MaxSize bound what a Cutter cuts; only the last chunk of an
	// input may be shorter. AvgSize is the mean distance at which the content
	// offers a place to cut, counted from MinSize on.
	MinSize = 32 << 10
	AvgSize = 1 << avgBits
	MaxSize = 512 << 10

	avgBits = 17
)

// Cutter cuts content into chunks at places that the content itself chooses.
// Where it cuts after some cut depends only on the bytes after that cut and on
// the store's polynomial. So cutting may begin at any earlier cut, and an edit
// changes the chunks around it and no others. It is safe for concurrent use.
type Cutter struct {
	pol  chunker.Pol
	pool sync.Pool // of *cutting
}

// cutting is a chunker (with its buffer of 512 KiB, which is dear to make) and
// the buffer that it fills.
type cutting struct {
	c   *chunker.Chunker
	buf []byte
}

func newCutter(pol chunker.Pol) *Cutter {
	c := &Cutter{pol: pol}
	c.pool.New = func() any {
		return &cutting{
			c:   chunker.NewWithBoundaries(nil, pol, MinSize, MaxSize),
			buf: make([]byte, 0, MaxSize),
		}
	}
	return c
}

// NewCutter returns what cuts as a store with that polynomial does: a workspace
// that came from another store goes on cutting as that did, whatever the store
// it is in now.
func NewCutter(polynomial uint64) (*Cutter, error) {
	pol := chunker.Pol(polynomial)
	if err := checkPolynomial(pol); err != nil {
		return nil, err
	}
	return newCutter(pol), nil
}

// Polynomial returns what the cuts depend on. Give it to Options.Polynomial of
// a store that should cut alike, or to NewCutter.
func (c *Cutter) Polynomial() uint64 { return uint64(c.pol) }

// Cut calls emit for each chunk of r, in order; their concatenation is the
// whole input. data is valid only during the call. Cut returns the first error
// of r or emit.
func (c *Cutter) Cut(r io.Reader, emit func(data []byte) error) error {
	k := c.pool.Get().(*cutting)
	defer func() {
		k.c.ResetWithBoundaries(nil, c.pol, MinSize, MaxSize) // let go of r
		c.pool.Put(k)
	}()
	k.c.ResetWithBoundaries(r, c.pol, MinSize, MaxSize)
	k.c.SetAverageBits(avgBits) // the reset set it to that of the library
	for {
		piece, err := k.c.Next(k.buf)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := emit(piece.Data); err != nil {
			return err
		}
	}
}

// The polynomial is kept in a file of two equal lines, either of which is
// enough: without it equal files would be cut differently from before.
//
//	vfsd-polynomial 1 003da3358b4dc173 4b1f6e0a
//
// The words are: name, version, polynomial, and CRC-32C of all before it.
const (
	polynomialFile = "polynomial"
	polDegree      = 53
)

func polynomialLine(pol chunker.Pol) string {
	s := fmt.Sprintf("vfsd-polynomial 1 %016x ", uint64(pol))
	return fmt.Sprintf("%s%08x\n", s, crc([]byte(s)))
}

func parsePolynomial(p []byte) (chunker.Pol, error) {
	// The lines are found by their length: the end of one may be what is damaged.
	for line := range slices.Chunk(p, len(polynomialLine(0))) {
		var v int
		var n uint64
		if _, err := fmt.Sscanf(string(line), "vfsd-polynomial %d %x", &v, &n); err != nil {
			continue
		}
		// That it is irreducible was checked when it was made: that takes a
		// millisecond, and would only cost a little in where cuts fall.
		if pol := chunker.Pol(n); string(line) == polynomialLine(pol) && pol.Deg() == polDegree {
			return pol, nil
		}
	}
	return 0, fmt.Errorf("%w: no intact line", vfs.ErrCorrupt)
}

func checkPolynomial(pol chunker.Pol) error {
	if pol.Deg() != polDegree || !pol.Irreducible() {
		return fmt.Errorf("polynomial %v is not irreducible of degree %d", pol, polDegree)
	}
	return nil
}

// openCutter reads the polynomial of a store, or makes it: want, or a random
// one if want is zero.
func openCutter(fs hostfs.FS, dir string, want uint64) (*Cutter, error) {
	path := filepath.Join(dir, polynomialFile)
	p, err := readSmall(fs, path)
	if errors.Is(err, os.ErrNotExist) {
		if want == 0 {
			// Not silently another one for a store that has chunks.
			if err := lostPolynomial(fs, dir); err != nil {
				return nil, &vfs.Error{Op: "read polynomial", Path: path, Err: err}
			}
		}
		return createCutter(fs, path, chunker.Pol(want))
	}
	if err != nil {
		return nil, err
	}
	pol, err := parsePolynomial(p)
	if err != nil {
		return nil, &vfs.Error{Op: "read polynomial", Path: path, Err: err}
	}
	return newCutter(pol), nil
}

// lostPolynomial returns an error if there are packs in the directory.
func lostPolynomial(fs hostfs.FS, dir string) error {
	names, err := fs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, d := range names {
		if _, ok := parsePackName(d.Name()); ok {
			return fmt.Errorf("%w: packs without a polynomial; Options.Polynomial would set one", vfs.ErrCorrupt)
		}
	}
	return nil
}

func createCutter(fs hostfs.FS, path string, pol chunker.Pol) (*Cutter, error) {
	var err error
	if pol == 0 {
		if pol, err = chunker.RandomPolynomial(); err != nil {
			return nil, err
		}
	}
	if err := checkPolynomial(pol); err != nil {
		return nil, err
	}
	line := polynomialLine(pol)
	tmp := path + ".tmp"
	f, err := fs.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.WriteAt([]byte(line+line), 0)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	if err := fs.Rename(tmp, path); err != nil {
		return nil, err
	}
	return newCutter(pol), fs.SyncDir(filepath.Dir(path))
}

// readSmall returns the first 4 KiB of a file.
func readSmall(fs hostfs.FS, path string) ([]byte, error) {
	f, err := fs.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf := make([]byte, 4096)
	n, err := f.ReadAt(buf, 0)
	if err == io.EOF {
		err = nil
	}
	return buf[:n], err
}
