package archive

import (
	"archive/zip"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// zipInput is a file to be added.
type zipInput struct {
	path, name string
	attr       vfs.Attr
}

// collect finds the files that operands name.
func (z *zipper) collect(names []string) []zipInput {
	var out []zipInput
	seen := map[string]bool{}
	for _, name := range names {
		before := len(out)
		z.gather(name, &out, seen, true)
		if len(out) == before && !seen[zipName(name)] {
			if _, err := z.c.FS.Lstat(name); err != nil {
				z.warn("name not matched: %s", name)
			}
		}
	}
	z.found = len(out)
	return out
}

// zipName is a path as an archive has it.
func zipName(path string) string {
	path = strings.TrimLeft(path, "/")
	for strings.HasPrefix(path, "./") {
		path = strings.TrimLeft(path[2:], "/")
	}
	return path
}

func (z *zipper) gather(path string, out *[]zipInput, seen map[string]bool, operand bool) {
	if z.ctx.Err() != nil {
		return
	}
	a, err := z.c.FS.Lstat(path)
	if err == nil && a.IsSymlink() && !z.symlinks {
		a, err = z.c.FS.Stat(path)
	}
	if err != nil || a.Ino == z.self {
		return
	}
	name := zipName(path)
	if z.junk {
		name = gnulib.Base(path)
	}
	if a.IsDir() {
		name = strings.TrimRight(name, "/") + "/"
		if name != "/" && name != "./" && !z.noDirs && !z.junk && z.selected(name) && !seen[name] {
			seen[name] = true
			*out = append(*out, zipInput{path, name, a})
		}
		if !z.recurse {
			return
		}
		es, err := z.c.FS.ReadDir(path)
		if err != nil {
			z.warn("could not open directory: %s", path)
			return
		}
		for i := range es {
			z.gather(gnulib.Join(strings.TrimRight(path, "/"), es[i].Name), out, seen, false)
		}
		return
	}
	if !a.IsRegular() && !a.IsSymlink() || !z.selected(name) || seen[name] {
		return
	}
	seen[name] = true
	*out = append(*out, zipInput{path, name, a})
}

// selected applies -x and -i.
func (z *zipper) selected(name string) bool {
	for _, p := range z.exclude {
		if gnulib.Fnmatch(p, name, 0) {
			return false
		}
	}
	if len(z.include) == 0 {
		return true
	}
	for _, p := range z.include {
		if gnulib.Fnmatch(p, name, 0) {
			return true
		}
	}
	return false
}

func (z *zipper) addAll(names []string) {
	for _, f := range z.collect(names) {
		if z.ctx.Err() != nil || z.c.Stdout.Err() != nil {
			return
		}
		z.add(f, "  adding")
	}
}

// add writes one file. A file is packed twice if it turns out that packing does
// not make it smaller: then it is stored.
func (z *zipper) add(in zipInput, verb string) int {
	a := &in.attr
	h := &zip.FileHeader{Name: in.name, Method: zip.Deflate, Modified: time.Unix(0, a.Mtime).In(z.loc)}
	mode := fs.FileMode(a.Mode & 0o777)
	var content io.Reader
	packed := int64(0)
	switch {
	case a.IsDir():
		mode |= fs.ModeDir
		h.Method = zip.Store
	case a.IsSymlink():
		target, err := z.c.FS.Readlink(in.path)
		if err != nil {
			return z.skip(in.path, err)
		}
		mode |= fs.ModeSymlink
		h.Method, content, packed = zip.Store, strings.NewReader(target), int64(len(target))
	default:
		f, err := z.c.FS.Open(in.path)
		if err != nil {
			return z.skip(in.path, err)
		}
		defer f.Close()
		content = withContext{z.ctx, f}
		if packed, err = z.packedSize(in.path); err != nil {
			return z.skip(in.path, err)
		}
		if z.level == 0 || packed >= int64(a.Size) {
			h.Method, packed = zip.Store, int64(a.Size)
		}
	}
	h.SetMode(mode)
	w, err := z.w.CreateHeader(h)
	if err == nil && content != nil {
		_, err = io.CopyBuffer(onlyWriter{w}, onlyReader{content}, make([]byte, copySize))
	}
	if err != nil {
		if z.ctx.Err() != nil {
			return 1
		}
		return z.fail(14, "Output file write failure (%s)", command.Strerror(err))
	}
	z.written[in.name] = true
	z.in, z.out = z.in+int64(a.Size), z.out+packed
	if z.move {
		z.moved = append(z.moved, in.path)
	}
	how := "stored 0%"
	if h.Method == zip.Deflate {
		how = fmt.Sprintf("deflated %d%%", zipPercent(int64(a.Size), packed))
	}
	if z.verbose {
		z.say("%s: %s\t(in=%d) (out=%d) (%s)\n", verb, in.name, a.Size, packed, how)
	} else {
		z.say("%s: %s (%s)\n", verb, in.name, how)
	}
	return 0
}

func (z *zipper) skip(path string, err error) int {
	z.warn("could not open for reading: %s", path)
	return 0
}

// packedSize is how many bytes a file takes when it is deflated.
func (z *zipper) packedSize(path string) (int64, error) {
	f, err := z.c.FS.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	n := &writeTracker{w: io.Discard}
	w, err := flate.NewWriter(n, z.level)
	if err != nil {
		return 0, err
	}
	if _, err := io.CopyBuffer(w, onlyReader{withContext{z.ctx, f}}, make([]byte, copySize)); err != nil {
		return 0, err
	}
	return n.n, w.Close()
}

// zipPercent is how much smaller packed is than whole, rounded.
func zipPercent(whole, packed int64) int64 {
	if whole == 0 {
		return 0
	}
	return (200*(whole-packed)/whole + 1) / 2
}

// testArchive is -T.
func (z *zipper) testArchive(archive string) int {
	f, err := z.c.FS.Open(archive)
	if err == nil {
		defer f.Close()
		var a vfs.Attr
		if a, err = f.Stat(); err == nil {
			var r *zip.Reader
			if r, err = zip.NewReader(f, int64(a.Size)); err == nil {
				for _, m := range r.File {
					if err = checkMember(z.ctx, m); err != nil {
						break
					}
				}
			}
		}
	}
	if err != nil {
		z.say("test of %s FAILED\n", archive)
		return z.fail(8, "Zip file invalid, could not spawn unzip, or wrong unzip (original files unmodified)")
	}
	z.say("test of %s OK\n", archive)
	return 0
}

// checkMember reads a member to its end, which checks its sum.
func checkMember(ctx context.Context, m *zip.File) error {
	r, err := openMember(m)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = io.CopyBuffer(io.Discard, onlyReader{withContext{ctx, r}}, make([]byte, copySize))
	return err
}

// openMember opens a member for reading; names of directories have no content.
func openMember(m *zip.File) (io.ReadCloser, error) {
	if strings.HasSuffix(m.Name, "/") {
		return io.NopCloser(strings.NewReader("")), nil
	}
	return m.Open()
}
