package data

import (
	"archive/tar"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

// File is one file of a tree. Paths are relative, with slashes; a File follows
// the directory it is in.
type File struct {
	Path string
	Mode os.FileMode // type and permissions
	Size int         // bytes of a regular file
	Link string      // target of a symbolic link
	Time time.Time
	seed uint64
}

// filesPerDir is about how many files a directory of a tree has, as in a
// checkout of source code.
const filesPerDir = 12

// epoch is the oldest time in a tree: any fixed moment will do.
var epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Tree lays out a tree of n files (directories not counted). Sizes follow a
// log-normal distribution with a median of 2.5 KiB and a mean of 7 KiB, cut at
// 256 KiB; one file in two hundred is a symbolic link, one in twenty is
// executable.
func Tree(seed uint64, n int) []File {
	r := New(seed, 1)
	dirs := []string{""}
	var out []File
	for i := range n {
		if i%filesPerDir == 0 {
			parent := dirs[r.IntN(len(dirs))]
			dir := parent + fmt.Sprintf("%s%d", words[r.IntN(len(words))], len(dirs))
			out = append(out, File{Path: dir, Mode: os.ModeDir | 0o755, Time: stamp(r)})
			dirs = append(dirs, dir+"/")
		}
		out = append(out, file(r, dirs[len(dirs)-1], i))
	}
	return out
}

func stamp(r *rand.Rand) time.Time {
	return epoch.Add(time.Duration(r.Int64N(int64(300 * 24 * time.Hour)))).Truncate(time.Second)
}

func file(r *rand.Rand, dir string, i int) File {
	f := File{
		Path: fmt.Sprintf("%s%s_%d.txt", dir, words[r.IntN(len(words))], i),
		Mode: 0o644,
		Time: stamp(r),
		seed: r.Uint64(),
	}
	switch {
	case i%200 == 199:
		f.Mode, f.Link = os.ModeSymlink|0o777, "../README"
	case i%20 == 19:
		f.Mode = 0o755
	}
	if f.Link == "" {
		f.Size = int(min(256<<10, math.Exp(math.Log(2500)+1.4*r.NormFloat64())))
	}
	return f
}

// Content returns what a regular file holds: text, with Needle in one of a
// hundred files.
func (f *File) Content() []byte {
	b := make([]byte, f.Size)
	Text(New(f.seed, 0), b)
	if f.seed%100 == 0 && len(b) > len(Needle) {
		copy(b, Needle)
	}
	return b
}

// Regular counts the regular files of a tree and their bytes.
func Regular(files []File) (n int, bytes int64) {
	for i := range files {
		if files[i].Mode.IsRegular() {
			n++
			bytes += int64(files[i].Size)
		}
	}
	return n, bytes
}

// WriteTar writes the tree as a tar archive.
func WriteTar(w io.Writer, files []File) error {
	t := tar.NewWriter(w)
	for i := range files {
		f := &files[i]
		h := &tar.Header{
			Name: f.Path, Mode: int64(f.Mode.Perm()), ModTime: f.Time,
			Size: int64(f.Size), Linkname: f.Link, Typeflag: tar.TypeReg, Format: tar.FormatPAX,
		}
		switch {
		case f.Mode.IsDir():
			h.Typeflag, h.Name = tar.TypeDir, f.Path+"/"
		case f.Link != "":
			h.Typeflag = tar.TypeSymlink
		}
		if err := t.WriteHeader(h); err != nil {
			return fmt.Errorf("tar %s: %w", f.Path, err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		if _, err := t.Write(f.Content()); err != nil {
			return fmt.Errorf("tar %s: %w", f.Path, err)
		}
	}
	return t.Close()
}

// WriteTree makes the tree in dir, which must be there.
func WriteTree(dir string, files []File) error {
	for i := range files {
		f := &files[i]
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		var err error
		switch {
		case f.Mode.IsDir():
			err = os.Mkdir(path, f.Mode.Perm())
		case f.Link != "":
			err = os.Symlink(f.Link, path)
		default:
			err = os.WriteFile(path, f.Content(), f.Mode.Perm())
		}
		if err != nil {
			return fmt.Errorf("write tree: %w", err)
		}
	}
	return nil
}
