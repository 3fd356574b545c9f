package syncbench

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// Size says how large the trees are.
type Size struct {
	Dirs, Files int   // files in each directory
	Small       int   // bytes of a file, on average
	Large       int64 // bytes of the one large file
	Renamed     int   // files in the directory that is renamed
	Deleted     int
}

// Full is what the figures are of: 20,001 files, 216 MB. Tiny shows that
// everything works.
var (
	Full = Size{Dirs: 100, Files: 100, Small: 7600, Large: 64 << 20, Renamed: 10000, Deleted: 1000}
	Tiny = Size{Dirs: 4, Files: 5, Small: 500, Large: 1 << 20, Renamed: 20, Deleted: 10}
)

// files is how many files a tree has.
func (s Size) files() int { return s.Dirs*s.Files + s.Renamed + 1 }

// makeTree writes a tree: directories of small files, a directory that will be
// renamed, and one large file. The bytes are words and noise, so that they can
// be compressed a little, as source is.
func makeTree(dir string, s Size, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 7))
	for d := range s.Dirs {
		if err := makeFiles(filepath.Join(dir, fmt.Sprintf("d%03d", d)), s.Files, s.Small, rng); err != nil {
			return err
		}
	}
	const perDir = 100
	for n, i := s.Renamed, 0; n > 0; n, i = n-perDir, i+1 {
		if err := makeFiles(filepath.Join(dir, "big", fmt.Sprintf("s%03d", i)), min(n, perDir), s.Small, rng); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(dir, "large"), content(int(s.Large), rng), 0o644)
}

func makeFiles(dir string, n, size int, rng *rand.Rand) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for i := range n {
		name := filepath.Join(dir, fmt.Sprintf("f%04d", i))
		if err := os.WriteFile(name, content(size/2+rng.IntN(size), rng), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func content(n int, rng *rand.Rand) []byte {
	words := []string{"return ", "nil, ", "err ", "func ", "workspace ", "\n\t", "if ", "== ", "0x", "{}\n"}
	b := make([]byte, 0, n+16)
	for len(b) < n {
		if rng.IntN(2) == 0 {
			b = append(b, words[rng.IntN(len(words))]...)
		} else {
			b = append(b, byte(rng.Uint32()), byte(rng.Uint32()), byte(rng.Uint32()), byte(rng.Uint32()))
		}
	}
	return b[:n]
}

// Step is an edit to bring over.
type Step struct {
	Name string
	Do   func(dir string, s Size) error
}

// steps are the edits, in the order in which they are made.
var steps = []Step{
	{"first copy", func(string, Size) error { return nil }},
	{"nothing changed", func(string, Size) error { return nil }},
	{"1 byte in a small file", func(dir string, _ Size) error { return flip(filepath.Join(dir, "d001", "f0003"), 100) }},
	{"chmod of one file", func(dir string, _ Size) error { return os.Chmod(filepath.Join(dir, "d002", "f0001"), 0o755) }},
	{"100 bytes into the large file", insertInLarge},
	{"rename of the large directory", func(dir string, _ Size) error {
		return os.Rename(filepath.Join(dir, "big"), filepath.Join(dir, "moved"))
	}},
	{"delete files", deleteFiles},
}

func flip(name string, at int64) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	b := make([]byte, 1)
	if _, err = f.ReadAt(b, at); err == nil {
		b[0] ^= 0x20
		_, err = f.WriteAt(b, at)
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return errors.Join(err, later(name))
}

// later gives a file a time of another second: some programs look no closer.
func later(name string) error {
	t := time.Now().Add(2 * time.Second)
	return os.Chtimes(name, t, t)
}

func insertInLarge(dir string, _ Size) error {
	name := filepath.Join(dir, "large")
	b, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	half := len(b) / 2
	insert := content(100, rand.New(rand.NewPCG(3, 3)))
	err = os.WriteFile(name, append(b[:half:half], append(insert, b[half:]...)...), 0o644)
	return errors.Join(err, later(name))
}

func deleteFiles(dir string, s Size) error {
	n := 0
	for d := 3; d < s.Dirs; d++ {
		for i := 1; i < s.Files; i++ { // one stays: git knows of no empty directory
			if n == s.Deleted {
				return nil
			}
			if err := os.Remove(filepath.Join(dir, fmt.Sprintf("d%03d", d), fmt.Sprintf("f%04d", i))); err != nil {
				return err
			}
			n++
		}
	}
	return nil
}
