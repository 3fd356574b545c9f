package archive

import (
	"archive/tar"
	"fmt"
	"io"
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// recordSize is the size of one of tar's records of 512 bytes.
const recordSize = 512

// tarSink is an archive being written: tar records, through a compressor, to a
// file or standard output.
type tarSink struct {
	tw      *tar.Writer
	raw     *writeTracker // counts the bytes before compression
	squeeze io.WriteCloser
	file    io.Closer
	tracker *writeTracker // remembers the error of the last writer
}

// chooseFilter finds the compression of an archive by its suffix, for -a.
func (a *archiver) chooseFilter() {
	if !a.auto || a.filter != nil {
		return
	}
	for suffix, f := range map[string]*filter{".gz": &gzipFilter, ".tgz": &gzipFilter, ".taz": &gzipFilter, ".bz2": &bzip2Filter, ".tbz": &bzip2Filter, ".tbz2": &bzip2Filter, ".tz2": &bzip2Filter,
		".xz": &xzFilter, ".txz": &xzFilter, ".zst": &zstdFilter, ".tzst": &zstdFilter, ".lzma": &lzmaFilter, ".tlz": &lzmaFilter} {
		if strings.HasSuffix(a.file, suffix) {
			a.filter = f
		}
	}
}

// newSink starts writing to out.
func (a *archiver) newSink(out io.Writer, closer io.Closer, compress bool) (*tarSink, error) {
	s := &tarSink{tracker: &writeTracker{w: out}, file: closer}
	s.raw = &writeTracker{w: s.tracker}
	if a.filter != nil && compress {
		w, err := a.filter.writer(s.tracker, 0)
		if err != nil {
			return nil, err
		}
		s.squeeze, s.raw.w = w, w
	}
	s.tw = tar.NewWriter(s.raw)
	return s, nil
}

// close ends the archive, padded to a whole number of blocks of factor records;
// before is how many bytes the file had.
func (s *tarSink) close(factor int, before int64) error {
	err := s.tw.Close()
	if rest := (before + s.raw.n) % int64(factor*recordSize); err == nil && rest != 0 {
		_, err = s.raw.Write(make([]byte, int64(factor*recordSize)-rest))
	}
	if s.squeeze != nil {
		if cerr := s.squeeze.Close(); err == nil {
			err = cerr
		}
	}
	if s.file != nil {
		if cerr := s.file.Close(); err == nil {
			err = cerr
		}
	}
	return err
}

// create makes a new archive.
func (a *archiver) create() {
	a.chooseFilter()
	var out io.Writer = a.c.Stdout
	var closer io.Closer
	if a.file == "-" {
		a.out = a.c.Stderr
	} else {
		f, err := a.c.FS.Create(a.file, 0o666)
		if err != nil {
			a.die("%s: Cannot open: %s", a.quote(a.file), command.Strerror(err))
			return
		}
		if at, err := f.Stat(); err == nil {
			a.self = at.Ino
		}
		out, closer = f, f
	}
	start := time.Now()
	s, err := a.newSink(out, closer, true)
	if err != nil {
		a.die("%s: %v", a.quote(a.file), err)
		return
	}
	a.addAll(s)
	if err := s.close(a.blocking, 0); err != nil && a.status != fatal {
		a.writeFailed(err)
		return
	}
	if a.totals {
		a.message2("Total bytes written: %d (%s, %s/s)", s.raw.n, tarHuman(s.raw.n), tarHuman(int64(float64(s.raw.n)/max(time.Since(start).Seconds(), 1e-6))))
	}
}

// message2 writes a message that has no name of the command before it.
func (a *archiver) message2(format string, args ...any) {
	if a.c.Stdout.Flush() == nil {
		fmt.Fprintf(a.c.Stderr, format+"\n", args...)
	}
}

func tarHuman(n int64) string {
	return gnulib.BlockSize{Unit: 1, Auto: true, Base: 1024, Suffix: true, B: true}.Format(uint64(max(n, 0)), 1)
}

func (a *archiver) writeFailed(err error) {
	if a.file == "-" && a.c.Stdout.Err() != nil {
		a.status = fatal // the runner says the rest
		return
	}
	a.die("%s: Cannot write: %s", a.quote(a.file), command.Strerror(err))
}

// addAll adds all operands.
func (a *archiver) addAll(s *tarSink) {
	for i, n := range a.names {
		a.current = i
		if a.status == fatal || a.ctx.Err() != nil {
			return
		}
		at, err := a.look(n.at, n.name)
		if err != nil {
			a.fail(n.name, "Cannot stat", err)
			continue
		}
		a.add(s, n.at, n.name, n.name, &at)
	}
}

func (a *archiver) look(at *vfs.Walker, name string) (vfs.Attr, error) {
	if a.deref {
		return at.Stat(name)
	}
	return at.Lstat(name)
}

// add adds a file, and what is below a directory. name is what leads to it from
// at, path is what it is called.
func (a *archiver) add(s *tarSink, at *vfs.Walker, name, path string, attr *vfs.Attr) {
	if a.ctx.Err() != nil || a.status == fatal || a.excluded(path) {
		return
	}
	if attr.Ino == a.self {
		a.message("%s: file is the archive; not dumped", a.quote(path))
		return
	}
	if attr.Mode&vfs.ModeTypeMask == vfs.ModeSocket {
		a.message("%s: socket ignored", a.quote(path))
		return
	}
	var content vfs.File
	if attr.IsRegular() && attr.Size > 0 {
		f, err := at.Open(name)
		if err != nil {
			a.fail(path, "Cannot open", err)
			return
		}
		content = f
		defer f.Close()
	}
	h := a.header(at, name, path, attr)
	if h == nil {
		return
	}
	a.announce(path, h)
	if err := s.tw.WriteHeader(h); err != nil {
		if s.tracker.err != nil {
			a.writeFailed(s.tracker.err)
		} else {
			a.message("%s: %v; not dumped", a.quote(path), err)
			a.status = max(a.status, 2)
		}
		return
	}
	if h.Typeflag == tar.TypeReg && content != nil {
		a.copyIn(s, content, path, h.Size)
	}
	if attr.IsDir() && !a.noRecursion {
		a.addDir(s, at, attr.Ino, path)
	}
	if a.removeFiles && a.status == 0 {
		a.remove(at, name, path, attr)
	}
}

func (a *archiver) remove(at *vfs.Walker, name, path string, attr *vfs.Attr) {
	var err error
	if attr.IsDir() {
		err = at.Rmdir(name)
	} else {
		err = at.Unlink(name)
	}
	if err != nil && toErrno(err) != syscall.ENOTEMPTY {
		a.fail(path, "Cannot unlink", err)
	}
}

func (a *archiver) addDir(s *tarSink, at *vfs.Walker, ino vfs.Ino, path string) {
	es, err := at.ReadDirIno(ino)
	if err == nil {
		err = a.c.Memory.Grow(int64(len(es)) * 128)
	}
	if err != nil {
		a.fail(path, "Cannot open", err)
		return
	}
	defer a.c.Memory.Shrink(int64(len(es)) * 128)
	if a.sorted {
		sort.Slice(es, func(i, j int) bool { return es[i].Name < es[j].Name })
	}
	in := at.At(ino)
	for i := range es {
		child := gnulib.Join(path, es[i].Name)
		ca, err := a.look(in, es[i].Name)
		if err != nil {
			a.fail(child, "Cannot stat", err)
			continue
		}
		a.add(s, in, es[i].Name, child, &ca)
	}
}

// copyIn copies the bytes of a file: exactly as many as its header says.
func (a *archiver) copyIn(s *tarSink, content io.Reader, path string, size int64) {
	n, err := io.CopyBuffer(s.tw, onlyReader{io.LimitReader(withContext{a.ctx, content}, size)}, make([]byte, copySize))
	if s.tracker.err != nil {
		a.writeFailed(s.tracker.err)
		return
	}
	if err != nil {
		a.fail(path, "Read error at byte "+fmt.Sprint(n)+", while reading "+fmt.Sprint(size-n)+" bytes", err)
	} else if n < size {
		a.message("%s: File shrank by %d bytes; padding with zeros", a.quote(path), size-n)
		a.status = max(a.status, 1)
	}
	zeros := make([]byte, 4096)
	for ; n < size; n += int64(len(zeros)) {
		if _, err := s.tw.Write(zeros[:min(size-n, int64(len(zeros)))]); err != nil {
			a.writeFailed(err)
			return
		}
	}
}

// header describes a file; nil when it cannot go into an archive.
func (a *archiver) header(at *vfs.Walker, name, path string, attr *vfs.Attr) *tar.Header {
	h := &tar.Header{Mode: int64(attr.Mode & vfs.ModePerm), Uid: int(attr.UID), Gid: int(attr.GID), Format: a.format}
	kind := attr.Mode & vfs.ModeTypeMask
	switch kind {
	case vfs.ModeDir:
		h.Typeflag = tar.TypeDir
	case vfs.ModeSymlink:
		target, err := at.Readlink(name)
		if err != nil {
			a.fail(path, "Cannot readlink", err)
			return nil
		}
		target, _ = a.relink(target, true)
		h.Typeflag, h.Linkname = tar.TypeSymlink, target
	case vfs.ModeFIFO:
		h.Typeflag = tar.TypeFifo
	case vfs.ModeChar, vfs.ModeBlock:
		h.Typeflag = tar.TypeChar
		if kind == vfs.ModeBlock {
			h.Typeflag = tar.TypeBlock
		}
		h.Devmajor, h.Devminor = int64(attr.Rdev>>8&0xfff), int64(attr.Rdev&0xff|attr.Rdev>>12&0xfff00)
	default:
		h.Typeflag, h.Size = tar.TypeReg, int64(attr.Size)
	}
	a.ownerOf(h)
	h.ModTime = time.Unix(0, attr.Mtime)
	if a.mtime != nil {
		h.ModTime = *a.mtime
	}
	if a.format != tar.FormatPAX {
		h.ModTime = time.Unix(h.ModTime.Unix(), 0)
	}
	if a.chmod != nil {
		h.Mode = int64(a.chmod.Apply(uint32(h.Mode), attr.IsDir(), a.c.FS.Op.Umask))
	}
	stored := a.safeName(path, false)
	stored, ok := a.rename(stored)
	if !ok {
		return nil
	}
	if attr.IsDir() && !strings.HasSuffix(stored, "/") {
		stored += "/"
	}
	if attr.Nlink > 1 && h.Typeflag == tar.TypeReg && !a.hardDeref {
		if first, ok := a.links[attr.Ino]; ok {
			h.Typeflag, h.Size, h.Linkname = tar.TypeLink, 0, first
		} else {
			a.links[attr.Ino] = stored
		}
		a.safeName(path, true)
	}
	h.Name = stored
	return h
}

func (a *archiver) ownerOf(h *tar.Header) {
	if a.owner != nil && a.owner.id >= 0 {
		h.Uid = a.owner.id
	}
	if a.group != nil && a.group.id >= 0 {
		h.Gid = a.group.id
	}
	if a.numeric {
		return
	}
	if u, ok := a.c.System.UserByID(uint32(h.Uid)); ok {
		h.Uname = u.Name
	}
	if g, ok := a.c.System.GroupByID(uint32(h.Gid)); ok {
		h.Gname = g.Name
	}
	if a.owner != nil && a.owner.name != "" {
		h.Uname = a.owner.name
	}
	if a.group != nil && a.group.name != "" {
		h.Gname = a.group.name
	}
}

// announce is -v.
func (a *archiver) announce(path string, h *tar.Header) {
	switch {
	case a.verbose == 0:
	case a.verbose > 1:
		a.longListing(h, h.Name)
	default:
		if h.Typeflag == tar.TypeDir && !strings.HasSuffix(path, "/") {
			path += "/"
		}
		io.WriteString(a.out, a.quote(path)+"\n")
	}
}
