package rg

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

// bufferSize is how much is read at once. What shows of a file that is binary
// depends on it, so it is ripgrep's.
const bufferSize = 64 << 10

// search is a run of rg: what is kept from file to file.
type search struct {
	c        *command.Context
	set      *settings
	m        *matcher
	p        printer
	eol      byte
	fail     func(name string, err error)
	showName bool
	inPlace  bool // binary files are searched as they are

	buf   []byte
	extra int64 // bytes of buf that are on the account
	found bool
	begun time.Time

	// Statistics.
	visited                int // files, also those that do not count
	searched, withMatch    int
	matchedLines, matches  int64
	bytesSearched, printed int64
}

func newSearch(c *command.Context, set *settings, m *matcher) *search {
	s := &search{c: c, set: set, m: m, eol: '\n', begun: c.Now()}
	if set.nullData {
		s.eol = 0
	}
	if set.flush {
		c.Stdout.LineBuffered()
	}
	s.p = printer{search: s}
	return s
}

func (s *search) close() { s.c.Memory.Shrink(s.extra + s.p.held) }

// errStop ends the search of a file, errDone that of all.
var (
	errStop = errors.New("stop")
	errDone = errors.New("done")
)

// stdin searches standard input.
func (s *search) stdin(ctx context.Context) error {
	return s.one(ctx, s.c.Stdin, "<stdin>", true)
}

// visit searches a file that was found, or just names it.
func (s *search) visit(ctx context.Context, f found) error {
	if s.set.files {
		s.found = true
		if s.set.quiet {
			return errDone
		}
		s.p.listed(f.name)
		return s.c.Stdout.Err()
	}
	fs := s.c.FS
	if f.fromRoot != nil {
		fs = f.fromRoot
	}
	src, err := fs.Open(f.path)
	if err != nil {
		s.fail(f.name, err)
		return nil
	}
	err = s.one(ctx, src, f.name, f.operand)
	if cerr := src.Close(); err == nil && cerr != nil {
		s.fail(f.name, cerr)
	}
	return err
}

// one searches an open file.
func (s *search) one(ctx context.Context, src io.Reader, name string, operand bool) error {
	t := &target{search: s, name: name, left: s.set.max, nul: -1, operand: operand || s.set.binary}
	t.quiet = s.set.quiet || s.set.list != listNone
	t.stopFirst = !s.set.stats && !s.set.json && (s.set.quiet && s.set.list < listCount || s.set.list == listMatching || s.set.list == listOthers)
	t.granular = s.set.only || s.set.columns || s.set.vimgrep || s.set.color || s.set.replace != nil || s.set.json || s.set.stats || s.set.list == listCountMatches
	s.p.start(t)
	s.visited++
	r := &decoder{src: src, encoding: s.set.encoding}
	var err error
	if s.set.multiline {
		err = t.whole(ctx, r)
	} else {
		err = t.run(ctx, r)
	}
	switch {
	case err == nil || err == errStop:
	case ctx.Err() != nil || s.c.Stdout.Err() != nil:
		return err
	default:
		s.fail(name, err)
	}
	return s.report(t)
}

// report says what is to be said at the end of a file.
func (s *search) report(t *target) error {
	found := t.selected > 0
	if found || !s.set.json {
		s.searched++
		s.bytesSearched += t.read
	}
	if found {
		s.withMatch++
		s.matchedLines += t.selected
		s.matches += t.matches
	}
	if t.nul >= 0 && !t.operand && !found && s.set.list == listOthers {
		return nil // it was not searched to its end
	}
	s.found = s.found || found != (s.set.list == listOthers)
	switch {
	case s.set.json:
		s.p.jsonEnd(t)
	case s.set.quiet:
	case s.set.list == listMatching && found, s.set.list == listOthers && !found:
		s.p.listed(t.name)
	case s.set.list == listCount && (found || s.set.includeZero):
		s.p.count(t, t.groups)
	case s.set.list == listCountMatches && (found || s.set.includeZero):
		n := t.matches
		if s.set.invert {
			n = t.groups
		}
		s.p.count(t, n)
	case t.nul >= 0 && found && s.set.list == listNone:
		s.p.binary(t)
	}
	if s.set.list == listNone {
		s.printed += s.p.bytes
	}
	if s.set.quiet && s.found && !s.set.stats && !s.set.json {
		return errDone
	}
	return s.c.Stdout.Err()
}

// line is a line of a file; text has no end.
type line struct {
	text   []byte
	end    []byte // "\n", "\r\n", "" and the like
	number int64
	at     int64 // offset of the line in the file
}

// target is the search of one file.
type target struct {
	*search
	name      string
	operand   bool // it is searched to its end even if it is binary
	left      int64
	quiet     bool
	stopFirst bool
	granular  bool // the matches in a line count, not just the line
	selected  int64
	groups    int64 // runs of selected lines with matches over several of them
	matches   int64
	nul       int64 // offset of a NUL, or -1
	number    int64 // of the line before the buffer's rest
	offset    int64 // of buf[0]
	pending   int   // lines of context still to print
	read      int64
	shown     int64 // number of the last line printed
}

// run reads the file buffer by buffer and searches the whole lines in each.
func (t *target) run(ctx context.Context, f io.Reader) error {
	held := 0 // bytes of an incomplete line at the buffer's start
	for {
		n, err := t.fill(f, held)
		if n == 0 && err == io.EOF {
			break
		}
		if err != nil && err != io.EOF {
			return err
		}
		t.read += int64(n)
		if t.lookForNul(t.buf[held:held+n], t.offset+int64(held)) {
			return nil
		}
		end := held + n
		whole := bytes.LastIndexByte(t.buf[held:end], t.eol) + 1
		if whole == 0 {
			held = end
			continue
		}
		whole += held
		if err := t.lines(ctx, t.buf[:whole]); err != nil {
			return err
		}
		copy(t.buf, t.buf[whole:end])
		held = end - whole
		t.offset += int64(whole)
	}
	if held == 0 {
		return nil
	}
	return t.lines(ctx, t.buf[:held])
}

// fill reads once behind the held bytes.
func (t *target) fill(f io.Reader, held int) (int, error) {
	s := t.search
	switch {
	case cap(s.buf) == 0:
		s.buf = make([]byte, bufferSize)
	case held == cap(s.buf):
		if err := s.c.Memory.Grow(int64(held)); err != nil {
			return 0, err
		}
		s.extra += int64(held)
		grown := make([]byte, 2*held)
		copy(grown, s.buf)
		s.buf = grown
	}
	s.buf = s.buf[:cap(s.buf)]
	for {
		n, err := f.Read(s.buf[held:])
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// lookForNul looks whether the file is binary; it reports whether the search is
// to end. at is the offset of the fresh bytes.
func (t *target) lookForNul(fresh []byte, at int64) (stop bool) {
	if t.set.text || t.set.nullData {
		return false
	}
	i := bytes.IndexByte(fresh, 0)
	if i < 0 {
		return false
	}
	if t.nul < 0 {
		t.nul = at + int64(i)
	}
	if !t.operand {
		return true
	}
	for ; i >= 0 && !t.inPlace; i = bytes.IndexByte(fresh, 0) {
		fresh[i] = t.eol
		fresh = fresh[i+1:]
	}
	return false
}

// lines searches lines; only the last may lack its end.
func (t *target) lines(ctx context.Context, buf []byte) error {
	at := t.offset
	skips := t.m.literal != nil && !t.set.invert && t.set.before == 0 && !t.set.passthru
	for len(buf) > 0 {
		if skips && t.pending == 0 {
			n := t.skip(buf)
			buf, at = buf[n:], at+int64(n)
			if len(buf) == 0 {
				break
			}
		}
		n := bytes.IndexByte(buf, t.eol)
		end := n + 1
		if n < 0 {
			n, end = len(buf), len(buf)
		}
		if t.set.crlf && n > 0 && end > n && buf[n-1] == '\r' {
			n--
		}
		t.number++
		l := line{text: buf[:n], end: buf[n:end], number: t.number, at: at}
		found, err := t.m.match(ctx, l.text)
		if err != nil {
			return err
		}
		buf, at = buf[end:], at+int64(end)
		if err := t.take(ctx, l, found != t.set.invert); err != nil {
			return err
		}
	}
	return nil
}

// skip returns how many bytes of whole lines lack what each match has.
func (t *target) skip(buf []byte) int {
	i := bytes.Index(buf, t.m.literal)
	n := len(buf)
	if i >= 0 {
		n = bytes.LastIndexByte(buf[:i], t.eol) + 1
	}
	t.number += int64(bytes.Count(buf[:n], []byte{t.eol}))
	if n == len(buf) && n > 0 && buf[n-1] != t.eol {
		t.number++
	}
	return n
}

// take does what is to be done with a line.
func (t *target) take(ctx context.Context, l line, selected bool) error {
	switch {
	case selected && t.left != 0:
		return t.selectLine(ctx, l)
	case t.quiet:
		return nil
	case t.set.passthru:
		return t.p.context(l)
	case t.pending > 0:
		t.pending--
		if err := t.p.context(l); err != nil {
			return err
		}
	case t.set.before > 0:
		return t.p.remember(l, t.set.before)
	}
	if t.left == 0 && t.pending == 0 {
		return errStop
	}
	return nil
}

// selectLine counts and shows a line that was asked for.
func (t *target) selectLine(ctx context.Context, l line) error {
	if t.left > 0 {
		t.left--
	}
	t.selected++
	t.groups++
	var spans [][]int
	if t.granular && !t.set.invert {
		var err error
		if spans, err = t.m.all(ctx, l.text); err != nil {
			return err
		}
		if len(l.end) == 0 && len(l.text) > 0 {
			spans = withoutEnd(spans, len(l.text))
		}
		t.matches += int64(len(spans))
	}
	if t.stopFirst {
		return errStop
	}
	if t.nul >= 0 && !t.set.json && t.set.list == listNone {
		// Lines of a binary file are not shown.
		if !t.set.stats {
			return errStop
		}
		t.quiet = true
	}
	if !t.quiet {
		if err := t.p.match(l, spans); err != nil {
			return err
		}
		t.pending = t.set.after
	}
	if t.left == 0 && t.pending == 0 {
		return errStop
	}
	return nil
}

// withoutEnd leaves out an empty match at the end of a last line that has no
// newline: there is nothing that it would be before.
func withoutEnd(spans [][]int, n int) [][]int {
	if k := len(spans); k > 0 && spans[k-1][0] == n && spans[k-1][1] == n {
		return spans[:k-1]
	}
	return spans
}
