package grep

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"syscall"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/command"
)

// bufferSize is how much is read at once. That a file is binary shows when a
// buffer has a NUL, so its size can be seen; it is GNU grep's.
const bufferSize = 96 << 10

// search is a run of grep: what is kept from file to file.
type search struct {
	c *command.Context
	*settings
	m       matcher
	literal []byte
	rare    int  // the place of literal's rarest byte
	exact   bool // every line with literal matches
	utf8    bool
	p       printer

	buf      []byte
	extra    int64 // bytes of buf that are on the account
	failed   bool  // an error makes the status 2
	matched  bool
	showName bool // of the present file
}

func newSearch(c *command.Context, s *settings, m matcher) *search {
	g := &search{c: c, settings: s, m: m, utf8: c.Env.UTF8()}
	g.literal, g.exact = m.required()
	g.exact = g.exact && len(g.literal) > 0
	g.rare = rarest(g.literal)
	g.p = printer{c: c, s: s, m: m, colors: parseColors(c.Env)}
	g.showName = s.names == 1
	return g
}

func (g *search) close() { g.c.Memory.Shrink(g.extra) }

// errStop ends the search of a file, errDone that of all.
var (
	errStop = errors.New("stop")
	errDone = errors.New("done")
)

// fail reports an error about a file, unless -s was given.
func (g *search) fail(name string, err error) {
	g.failed = true
	if !g.noMessages {
		g.c.Errorf("%s: %s", name, command.Strerror(err))
	}
}

// one searches an open file; its name is what is shown of it.
func (g *search) one(ctx context.Context, f io.Reader, name string) error {
	if g.sameAsOutput(f) {
		g.failed = true
		if !g.noMessages {
			g.c.Errorf("%s: input file is also the output", name)
		}
		return nil
	}
	t := &target{search: g, name: name, left: g.max, firstNul: -1, quiet: g.quiet || g.list != listNone || g.count}
	t.stopFirst = g.quiet || g.list != listNone
	g.p.start(name, g.showName)
	err := t.run(ctx, f)
	switch {
	case err == nil || err == errStop:
	case ctx.Err() != nil || g.c.Stdout.Err() != nil:
		return err
	case errors.Is(err, syscall.ENOMEM):
		g.failed = true
		g.c.Errorf("memory exhausted")
		return errDone
	case errors.Is(err, errPerlLimit), errors.Is(err, regex.ErrTooComplex):
		g.failed = true
		g.c.Errorf("%s: %v", name, err)
		return errDone
	default:
		g.fail(name, err)
	}
	t.giveBack(f)
	return g.report(t)
}

// report says what is to be said at the end of a file.
func (g *search) report(t *target) error {
	found := t.selected > 0
	if g.count {
		g.p.name(':')
		g.c.Stdout.WriteString(strconv.FormatInt(t.selected, 10) + "\n")
	}
	g.matched = g.matched || found
	if found != (g.list == listOthers) && g.list != listNone && !g.quiet {
		g.p.listed(t.name)
	}
	if t.binaryMatch() && g.binary != binarySkip && !g.quiet && g.list == listNone && !g.count {
		if err := g.c.Stdout.Flush(); err != nil {
			return err
		}
		g.c.Errorf("%s: binary file matches", t.name)
	}
	if found && g.quiet {
		return errDone
	}
	return g.c.Stdout.Err()
}

// sameAsOutput reports whether grep would read what it writes.
func (g *search) sameAsOutput(f io.Reader) bool {
	if g.quiet || g.list != listNone || g.max >= 0 && g.max <= 1 {
		return false
	}
	in, out := command.Regular(f), command.Regular(g.c.Stdout.Underlying())
	return in != nil && out != nil && in.Handle().Ino() == out.Handle().Ino()
}

// target is the search of one file.
type target struct {
	*search
	name      string
	left      int64 // lines still to select; < 0: no limit
	quiet     bool
	stopFirst bool
	selected  int64
	firstNul  int64 // lines selected when a NUL showed; -1: none did
	badText   bool  // a line to print was no valid text
	zap       bool  // NULs end lines
	line      int64 // number of the line before buf[beg:]
	offset    int64 // of buf[0] in the file
	pending   int64 // lines of context still to print
	read      int64
	used      int64
}

// run reads the file buffer by buffer and searches the whole lines in each.
func (t *target) run(ctx context.Context, f io.Reader) error {
	held := 0 // bytes of an incomplete line at the buffer's start
	for {
		n, err := t.fill(f, held)
		t.read += int64(n)
		if n == 0 && err == io.EOF {
			break
		}
		if err != nil && err != io.EOF {
			return err
		}
		if stop, err := t.lookForNul(t.buf[held : held+n]); stop || err != nil {
			return err
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
	t.buf = append(t.buf[:held], t.eol)
	return t.lines(ctx, t.buf)
}

// fill reads once behind the held bytes.
func (t *target) fill(f io.Reader, held int) (int, error) {
	g := t.search
	switch {
	case cap(g.buf) == 0:
		g.buf = make([]byte, bufferSize)
	case held == cap(g.buf):
		if err := g.c.Memory.Grow(int64(held)); err != nil {
			return 0, err
		}
		g.extra += int64(held)
		grown := make([]byte, 2*held)
		copy(grown, g.buf)
		g.buf = grown
	}
	g.buf = g.buf[:cap(g.buf)]
	for {
		n, err := f.Read(g.buf[held:])
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// lookForNul decides whether the file is binary; stop says that it is not to
// be searched any more.
func (t *target) lookForNul(fresh []byte) (stop bool, err error) {
	if t.eol != '\n' || t.binary == binaryText {
		return false, nil
	}
	if t.firstNul < 0 && bytes.IndexByte(fresh, 0) >= 0 {
		if t.binary == binarySkip {
			return true, nil
		}
		t.firstNul = t.selected
		t.zap = true
		if !t.count {
			t.quiet, t.stopFirst = true, true
		}
	}
	if t.zap {
		for i := bytes.IndexByte(fresh, 0); i >= 0; i = bytes.IndexByte(fresh, 0) {
			fresh[i] = t.eol
			fresh = fresh[i+1:]
		}
	}
	return false, nil
}

// binaryMatch reports whether lines were selected that could not be shown.
func (t *target) binaryMatch() bool {
	return t.badText || t.firstNul >= 0 && t.firstNul < t.selected
}

// lines searches whole lines.
func (t *target) lines(ctx context.Context, buf []byte) error {
	at := t.offset
	for len(buf) > 0 {
		if t.literal != nil && !t.invert && t.pending == 0 && t.before <= 0 {
			n := t.skip(buf)
			buf, at = buf[n:], at+int64(n)
			if len(buf) == 0 {
				break
			}
		}
		n := bytes.IndexByte(buf, t.eol)
		t.line++
		l := line{text: buf[:n], number: t.line, at: at}
		found, err := t.matches(ctx, l.text)
		if err != nil {
			return err
		}
		buf, at = buf[n+1:], at+int64(n)+1
		t.used = at
		if err := t.take(ctx, l, found != t.invert); err != nil {
			return err
		}
	}
	return nil
}

// skip returns how many bytes of whole lines lack what each match has.
func (t *target) skip(buf []byte) int {
	i := indexRare(buf, t.literal, t.rare)
	n := len(buf)
	if i >= 0 {
		n = bytes.LastIndexByte(buf[:i], t.eol) + 1
	}
	if t.numbers {
		t.line += int64(bytes.Count(buf[:n], []byte{t.eol}))
	}
	return n
}

func (t *target) matches(ctx context.Context, line []byte) (bool, error) {
	if t.literal != nil {
		if !bytes.Contains(line, t.literal) {
			return false, ctx.Err()
		}
		if t.exact {
			return true, ctx.Err()
		}
	}
	return t.m.match(ctx, line)
}

// take does what is to be done with a line.
func (t *target) take(ctx context.Context, l line, selected bool) error {
	if !selected || t.left == 0 {
		switch {
		case t.quiet:
		case t.pending > 0:
			t.pending--
			if err := t.show(ctx, l, false); err != nil {
				return err
			}
		case t.before > 0:
			return t.p.remember(l, t.before)
		}
		if t.left == 0 && t.pending == 0 {
			return errStop
		}
		return nil
	}
	t.selected++
	if t.left > 0 {
		t.left--
	}
	if !t.quiet {
		if err := t.showSelected(ctx, l); err != nil {
			return err
		}
		t.pending = max(t.after, 0)
	}
	if t.stopFirst || t.left == 0 && t.pending == 0 {
		return errStop
	}
	return nil
}

// showSelected prints a line, after the context before it.
func (t *target) showSelected(ctx context.Context, l line) error {
	first := l
	if len(t.p.recent) > 0 {
		first = t.p.recent[0]
	}
	if t.before >= 0 || t.after >= 0 {
		t.p.separate(first)
	}
	for _, r := range t.p.recent {
		if err := t.show(ctx, r, false); err != nil {
			return err
		}
	}
	t.p.forget()
	return t.show(ctx, l, true)
}

// show prints a line, unless it is no valid text: that is told at the end.
func (t *target) show(ctx context.Context, l line, selected bool) error {
	valid := t.binary == binaryText || !t.utf8
	err := t.p.line(ctx, l, selected, func(part []byte) bool { return valid || utf8.Valid(part) })
	if err == errBadText {
		t.badText = true
		return nil
	}
	if err != nil {
		return err
	}
	return t.c.Stdout.Err()
}

// giveBack puts a file's position behind the last line that was used, when -m
// or a first match ended the search early.
func (t *target) giveBack(f io.Reader) {
	if t.left != 0 && !t.stopFirst || t.used == t.read {
		return
	}
	if r := command.Regular(f); r != nil && t.used < t.read {
		// Where that fails the next reader goes on behind the buffer, as after
		// a pipe.
		if _, err := r.Seek(t.used-t.read, io.SeekCurrent); err == nil {
			t.read = t.used
		}
	}
}
