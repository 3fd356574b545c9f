package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// squeezer is one run of a command that compresses or expands files: gzip,
// bzip2, xz, zstd and their kin, which differ in names, words and defaults.
type squeezer struct {
	c   *command.Context
	ctx context.Context
	*dialect

	expand, test, list        bool
	stdout, keep, force       bool
	recursive, quiet, verbose bool
	noName                    bool
	level                     int
	name                      string // of the file in hand, for gzip's header
	mtime                     time.Time
	listed                    [3]int64 // files, bytes packed and whole, of gzip -l
	suffix                    string
	output                    string // zstd -o
	status                    int
}

// dialect is how one family of commands speaks.
type dialect struct {
	filter   *filter
	suffixes []string          // those that expanding removes; the first is added
	renames  map[string]string // suffixes that become others: .tgz to .tar
	keeps    bool              // leaves the input where it is by default
	// words are the messages, by key; "" says nothing.
	words map[string]string
	// warning is the status of what is no error.
	warning int
	// damaged is the status of input that cannot be expanded; 0 means 1.
	damaged int
	level   int
	name    string // of the file in hand, for gzip's header
	mtime   time.Time
	listed  [3]int64 // files, bytes packed and whole, of gzip -l
}

// say prints the message of that key, with the arguments.
func (s *squeezer) say(key string, args ...any) {
	format, ok := s.words[key]
	if !ok || format == "" {
		return
	}
	format = strings.ReplaceAll(format, "PROG", s.c.Command.Name)
	io.WriteString(s.c.Stderr, fmt.Sprintf(format, args...)+"\n")
}

func (s *squeezer) fail(status int, key string, args ...any) {
	if s.quiet && status == s.warning && s.warning > 1 {
		return
	}
	s.say(key, args...)
	if s.status != 1 {
		s.status = status
	}
}

// run works on all operands.
func (s *squeezer) run(names []string) int {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		if s.ctx.Err() != nil {
			return 1
		}
		if name == "-" {
			s.stream()
			continue
		}
		s.file(name)
	}
	return s.status
}

// stream goes from standard input to standard output.
func (s *squeezer) stream() {
	var w io.Writer = s.c.Stdout
	if s.test {
		w = io.Discard
	}
	in := &readTracker{r: withContext{s.ctx, s.c.Stdin}}
	out := &writeTracker{w: w}
	if s.output != "" && s.output != "-" {
		f, err := s.c.FS.Create(s.output, 0o666)
		if err != nil {
			s.fail(1, "open", s.output, command.Strerror(err))
			return
		}
		out.w = f
		defer f.Close()
	}
	if s.list {
		s.fail(1, "list stdin")
		return
	}
	if err := s.convert(in, out); err != nil {
		s.convertFailed(s.words["stdin"], in, out, err)
	}
}

// convert compresses or expands a stream.
func (s *squeezer) convert(in io.Reader, out io.Writer) error {
	if !s.expand {
		w, err := s.filter.writer(out, s.level)
		if err != nil {
			return err
		}
		if gz, ok := w.(*gzip.Writer); ok && !s.noName && s.name != "" {
			gz.Name, gz.ModTime = latin1(s.name), s.mtime
		}
		if _, err := io.CopyBuffer(w, onlyReader{in}, make([]byte, copySize)); err != nil {
			return err
		}
		return w.Close()
	}
	br := bufio.NewReaderSize(in, copySize)
	head, err := br.Peek(len(s.filter.magic))
	if len(head) == 0 {
		if err == io.EOF {
			return io.ErrUnexpectedEOF
		}
		return err
	}
	f := s.filter
	if string(head) != f.magic {
		f = sniffOther(br, f)
	}
	if f == nil {
		if s.force && s.stdout {
			// As zcat -f: what is not compressed passes through.
			_, err := io.CopyBuffer(out, onlyReader{br}, make([]byte, copySize))
			return err
		}
		return errFormat
	}
	r, err := f.reader(br)
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(onlyWriter{out}, onlyReader{r}, make([]byte, copySize))
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	return err
}

// sniffOther lets xz read lzma.
func sniffOther(r *bufio.Reader, f *filter) *filter {
	if f.name != "xz" {
		return nil
	}
	if other := sniff(r); other != nil && other.name == "lzma" {
		return other
	}
	return nil
}

// onlyReader and onlyWriter hide ReadFrom and WriteTo, which would copy without
// a look at the context or the buffer.
type onlyReader struct{ io.Reader }

type onlyWriter struct{ io.Writer }

// convertFailed reports why a stream could not be converted.
func (s *squeezer) convertFailed(name string, in *readTracker, out *writeTracker, err error) {
	switch {
	case s.ctx.Err() != nil:
		s.status = 1
	case out.err != nil:
		if out.w != io.Writer(s.c.Stdout) {
			s.fail(1, "write", name, command.Strerror(out.err))
		}
		s.status = 1
	case in.err != nil:
		s.fail(1, "read", name, command.Strerror(in.err))
	case errors.Is(err, errFormat):
		s.fail(max(s.damaged, 1), "format", name)
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		s.fail(max(s.damaged, 1), "eof", name)
	default:
		s.fail(max(s.damaged, 1), "corrupt", name)
	}
}

// file works on one operand.
func (s *squeezer) file(name string) {
	a, err := s.c.FS.Lstat(name)
	if err != nil && s.expand && toErrno(err) == syscall.ENOENT && s.words["guess"] != "" {
		// gzip -d x means x.gz too.
		if ga, gerr := s.c.FS.Lstat(name + s.suffixes[0]); gerr == nil {
			name, a, err = name+s.suffixes[0], ga, nil
		}
	}
	if err == nil && a.IsSymlink() && (s.force || s.stdout || s.test || s.list || s.keeps) {
		a, err = s.c.FS.Stat(name)
	}
	if err != nil && s.words["guess"] != "" && s.expand && !s.hasSuffix(name) {
		name += s.suffixes[0]
	}
	switch {
	case err != nil:
		s.fail(1, "missing", name, command.Strerror(err))
		return
	case a.IsSymlink() && s.words["guess"] != "":
		s.fail(1, "missing", name, command.Strerror(syscall.ELOOP))
		return
	case a.IsDir():
		s.dir(name)
		return
	case !a.IsRegular():
		s.fail(s.warning, "special", name)
		return
	case a.Nlink > 1 && !s.stdout && !s.force && !s.keep && !s.test && !s.list && !s.keeps && s.words["links"] != "":
		plural := "s"
		if a.Nlink == 2 {
			plural = ""
		}
		s.fail(s.warning, "links", name, a.Nlink-1, plural)
		return
	}
	target, ok := s.target(name)
	if !ok {
		return
	}
	if s.list {
		s.listFile(name, target, &a)
		return
	}
	s.convertFile(name, target, &a)
}

func (s *squeezer) hasSuffix(name string) bool {
	for _, suf := range s.suffixes {
		if strings.HasSuffix(name, suf) {
			return true
		}
	}
	return false
}

func (s *squeezer) dir(name string) {
	if !s.recursive {
		s.fail(s.warning, "directory", name)
		return
	}
	es, err := s.c.FS.ReadDir(name)
	if err != nil {
		s.fail(1, "missing", name, command.Strerror(err))
		return
	}
	for i := range es {
		if s.ctx.Err() != nil {
			return
		}
		s.file(gnulib.Join(name, es[i].Name))
	}
}

// target is the name of the result; false when the file is not one to convert.
func (s *squeezer) target(name string) (string, bool) {
	if s.output != "" {
		return s.output, true
	}
	suffixes := s.suffixes
	if s.suffix != "" {
		suffixes = append([]string{s.suffix}, suffixes...)
	}
	if !s.expand {
		if s.stdout || s.test {
			return "", true
		}
		if !s.force {
			for _, suf := range suffixes {
				if strings.HasSuffix(name, suf) && s.words["already"] != "" {
					if s.warning > 1 && s.filter.name == "gzip" {
						s.say("already", name, suf) // which gzip counts as success
					} else {
						s.fail(s.warning, "already", name, suf)
					}
					return "", false
				}
			}
		}
		return name + suffixes[0], true
	}
	for _, suf := range suffixes {
		if bare, ok := strings.CutSuffix(name, suf); ok && gnulib.Base(bare) != "" && !strings.HasSuffix(bare, "/") {
			return bare + s.renames[suf], true
		}
	}
	if s.stdout || s.test || s.list {
		return "", true
	}
	if s.words["out"] != "" { // bzip2 makes a name up
		s.say("out", name, name)
		return name + ".out", true
	}
	status := s.warning
	if s.filter.name == "xz" {
		status = 1
		if f, err := s.c.FS.Open(name); err == nil { // xz looks inside first
			known := s.recognized(f)
			f.Close()
			if !known {
				s.fail(1, "format", name)
				return "", false
			}
		}
	}
	s.fail(status, "unknown", name)
	return "", false
}

// convertFile makes the result and removes the input.
func (s *squeezer) convertFile(name, target string, a *vfs.Attr) {
	f, err := s.c.FS.Open(name)
	if err != nil {
		s.fail(1, "missing", name, command.Strerror(err))
		return
	}
	defer f.Close()
	if s.expand && !s.stdout && !s.recognized(f) {
		s.fail(max(s.damaged, 1), "format", name)
		return
	}
	s.name, s.mtime = gnulib.Base(name), time.Unix(0, a.Mtime)
	in := &readTracker{r: withContext{s.ctx, f}}
	out := &writeTracker{w: s.c.Stdout}
	var dst vfs.File
	toFile := !s.stdout && !s.test
	switch {
	case s.test:
		out.w = io.Discard
	case toFile:
		if dst = s.create(target, a); dst == nil {
			return
		}
		out.w = dst
	}
	err = s.convert(in, out)
	if dst != nil {
		if cerr := dst.Close(); err == nil {
			err = cerr
		}
	}
	if err != nil {
		if toFile {
			s.c.FS.Unlink(target)
		}
		s.convertFailed(name, in, out, err)
		return
	}
	if toFile {
		s.finish(name, target, a)
	}
	s.report(name, target, in.n, out.n)
}

// recognized reports whether a file starts as one of the format does; an empty
// one is left to be found too short.
func (s *squeezer) recognized(f io.ReaderAt) bool {
	head := make([]byte, len(s.filter.magic))
	n, err := f.ReadAt(head, 0)
	if n == 0 || err != nil && err != io.EOF {
		return true
	}
	return string(head[:n]) == s.filter.magic || s.filter.name == "xz" && strings.HasPrefix(string(head), lzmaFilter.magic)
}

// create opens the result, unless it is there and may not be replaced.
func (s *squeezer) create(target string, a *vfs.Attr) vfs.File {
	if _, err := s.c.FS.Lstat(target); err == nil {
		if !s.force {
			s.fail(s.existsStatus(), "exists", target)
			return nil
		}
		if err := s.c.FS.Unlink(target); err != nil {
			s.fail(1, "open", target, command.Strerror(err))
			return nil
		}
	}
	dst, err := s.c.FS.OpenFile(target, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL, a.Mode&0o777&0o700|0o600)
	if err != nil {
		s.fail(1, "open", target, command.Strerror(err))
		return nil
	}
	return dst
}

func (s *squeezer) existsStatus() int {
	if s.warning > 1 && s.filter.name == "gzip" {
		return s.warning
	}
	return 1
}

// finish gives the result the attributes of the input, which then goes.
func (s *squeezer) finish(name, target string, a *vfs.Attr) {
	w := s.c.FS
	// Ownership is as far as it is allowed; the rest must work.
	w.Chown(target, int64(a.UID), int64(a.GID), false)
	err := w.Chmod(target, a.Mode&0o777)
	if err == nil {
		err = w.Setattr(target, true, &vfs.SetAttr{Mask: vfs.SetAtime | vfs.SetMtime, Atime: a.Atime, Mtime: a.Mtime})
	}
	if err == nil && !s.keep && !s.keeps {
		err = w.Unlink(name)
	}
	if err != nil {
		s.fail(1, "missing", name, command.Strerror(err))
	}
}

// gzipFrame is how many bytes of a gzip file are not data: header and trailer.
const gzipFrame = 18

// latin1 is a name as gzip's header may have it.
func latin1(name string) string {
	for i := range len(name) {
		if name[i] >= 0x80 || name[i] == 0 {
			return ""
		}
	}
	return name
}

// report is what -v says.
func (s *squeezer) report(name, target string, in, out int64) {
	if s.filter.name == "zstd" && !s.quiet && !s.stdout {
		if s.expand {
			s.say("expanded", name, out)
		} else {
			s.say("compressed", name, 100*float64(out)/float64(max(in, 1)), fmt.Sprint(in), fmt.Sprint(out), target)
		}
	}
	if s.words["report"] == "" || !s.verbose {
		return
	}
	whole, part := in, out
	if s.expand {
		whole, part = out, in
	}
	ratio := 0.0
	if whole > 0 {
		// Header and trailer do not count.
		ratio = 100 * (float64(whole) - float64(part-gzipFrame)) / float64(whole)
		if s.name != "" && !s.noName && !s.expand {
			ratio += 100 * float64(len(s.name)+1) / float64(whole)
		}
	}
	switch {
	case s.test:
		s.say("report test", name)
	case s.stdout:
		s.say("report out", name, ratio)
	case s.keep:
		s.say("report kept", name, ratio, target)
	default:
		s.say("report", name, ratio, target)
	}
}
