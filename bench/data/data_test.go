package data

import (
	"archive/tar"
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func deflated(t *testing.T, p []byte) float64 {
	t.Helper()
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(p); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return float64(b.Len()) / float64(len(p))
}

func TestContent(t *testing.T) {
	for _, c := range []struct {
		name     string
		fill     func(p []byte, seed uint64)
		low, top float64 // compressed size, as a part of the whole
	}{
		{"text", func(p []byte, s uint64) { Text(New(s, 0), p) }, 0.25, 0.7},
		{"random", func(p []byte, s uint64) { Random(New(s, 0), p) }, 0.99, 1.01},
		{"mixed", func(p []byte, s uint64) { Mixed(New(s, 0), p) }, 0.6, 0.9},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 1<<20 + 13 // not a multiple of anything
			a, b, other := make([]byte, n), make([]byte, n), make([]byte, n)
			c.fill(a, 7)
			c.fill(b, 7)
			c.fill(other, 8)
			if !bytes.Equal(a, b) {
				t.Error("one seed made two contents")
			}
			if bytes.Equal(a, other) {
				t.Error("two seeds made one content")
			}
			if bytes.Contains(a, make([]byte, 64)) {
				t.Error("there are runs of zeroes")
			}
			if r := deflated(t, a); r < c.low || r > c.top {
				t.Errorf("compresses to %.2f, want %.2f to %.2f", r, c.low, c.top)
			}
			if bytes.Contains(a, []byte(Needle)) {
				t.Error("the needle is there by chance")
			}
		})
	}
}

func TestTree(t *testing.T) {
	files := Tree(3, 2000)
	n, size := Regular(files)
	if n != 2000-10 {
		t.Errorf("%d regular files, want 1990", n)
	}
	if mean := size / int64(n); mean < 4<<10 || mean > 10<<10 {
		t.Errorf("mean size is %d bytes", mean)
	}
	dir := t.TempDir()
	if err := WriteTree(dir, files); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := WriteTar(&archive, files); err != nil {
		t.Fatal(err)
	}
	compareTar(t, dir, &archive, len(files))
}

// compareTar checks that a tree and an archive of it hold the same.
func compareTar(t *testing.T, dir string, archive io.Reader, want int) {
	t.Helper()
	needles := 0
	r := tar.NewReader(archive)
	for n := 0; ; n++ {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			if n != want {
				t.Errorf("%d entries in the archive, want %d", n, want)
			}
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		fi, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		if fi.Mode().Type() != h.FileInfo().Mode().Type() {
			t.Errorf("%s: type %v in the tree, %v in the archive", h.Name, fi.Mode(), h.FileInfo().Mode())
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		inTar, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		inTree, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(inTar, inTree) {
			t.Errorf("%s differs", h.Name)
		}
		if bytes.Contains(inTree, []byte(Needle)) {
			needles++
		}
	}
	if needles == 0 || needles > 60 {
		t.Errorf("%d files with the needle", needles)
	}
}
