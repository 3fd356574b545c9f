package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const optFiles0From = 256

func init() {
	command.Register(command.Info{
		Name:     "wc",
		Synopsis: "wc [OPTION]... [FILE]...\nwc [OPTION]... --files0-from=F",
		Summary: "Print newline, word, and byte counts for each FILE, and a total line if\n" +
			"more than one FILE is specified.\n\nWith no FILE, or when FILE is -, read standard input.",
		Options: []command.Option{
			{Short: 'c', Long: "bytes", Help: "print the byte counts"},
			{Short: 'm', Long: "chars", Help: "print the character counts"},
			{Short: 'l', Long: "lines", Help: "print the newline counts"},
			{Long: "files0-from", Arg: command.RequiredArgument, ArgName: "F", ID: optFiles0From, Help: "read input from the files specified by\nNUL-terminated names in file F;\nIf F is - then read names from standard input"},
			{Short: 'L', Long: "max-line-length", Help: "print the maximum display width"},
			{Short: 'w', Long: "words", Help: "print the word counts"},
		},
	}, wc)
}

// counts is what wc counts.
type counts struct{ lines, words, chars, bytes, width uint64 }

// counter counts one file after the other.
type counter struct {
	c                                 *command.Context
	lines, words, chars, bytes, width bool
	utf8                              bool
	columns                           int
	total                             counts

	// State within a file.
	n      counts
	inWord bool
	line   uint64 // width of the present line
	rest   []byte // the start of a character
}

func wc(ctx context.Context, c *command.Context, args []string) int {
	w := counter{c: c, utf8: c.Env.UTF8()}
	from, given := "", false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'c':
			w.bytes = true
		case 'm':
			w.chars = true
		case 'l':
			w.lines = true
		case 'L':
			w.width = true
		case 'w':
			w.words = true
		case optFiles0From:
			from, given = p.Arg(), true
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if !w.bytes && !w.chars && !w.lines && !w.width && !w.words {
		w.bytes, w.lines, w.words = true, true, true
	}
	if given {
		if len(files) > 0 {
			c.Errorf("extra operand %s\nfile operands cannot be combined with --files0-from\nTry 'wc --help' for more information.", c.QuoteArg(files[0]))
			return 1
		}
		return w.fromFile(ctx, from)
	}
	w.setColumns(files)
	named := len(files) > 0
	files = orStdin(files)
	for _, name := range files {
		status = max(status, w.file(ctx, name, named))
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			return 1
		}
	}
	if len(files) > 1 {
		w.print(&w.total, "total", true)
	}
	return status
}

// fromFile counts the files that another names.
func (w *counter) fromFile(ctx context.Context, name string) int {
	f, err := w.c.Open(name)
	if err != nil {
		return w.c.Errorf("cannot open %s for reading: %s", w.c.QuoteArg(name), command.Strerror(err))
	}
	defer f.Close()
	w.columns = 1
	if file := command.Regular(f); file != nil {
		if err := w.columnsOfNamed(file); err != nil {
			return w.c.Errorf("%s: read error: %s", w.c.QuoteName(name), command.Strerror(err))
		}
	}
	r := lines.NewReader(f, w.c.Memory)
	r.Delim = 0
	defer r.Release()
	status, n := 0, 0
	for {
		line, _, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return w.c.Errorf("%s: read error: %s", w.c.QuoteName(name), command.Strerror(err))
		}
		n++
		if len(line) == 0 {
			status = w.c.Errorf("%s:%d: invalid zero-length file name", w.c.QuoteName(name), n)
			continue
		}
		if name == "-" && string(line) == "-" {
			status = w.c.Errorf("when reading file names from stdin, no file name of %s allowed", w.c.QuoteArg("-"))
			continue
		}
		status = max(status, w.file(ctx, string(line), true))
		if ctx.Err() != nil || w.c.Stdout.Err() != nil {
			return 1
		}
	}
	if n > 1 {
		w.print(&w.total, "total", true)
	}
	return status
}

// maxNamesFile is the size up to which a file of names is read twice, to know
// the columns beforehand.
const maxNamesFile = 10 << 20

// columnsOfNamed decides about the columns by the files that f names.
func (w *counter) columnsOfNamed(f *vfs.RegularFile) error {
	a, err := f.Stat()
	if err != nil || a.Size > maxNamesFile {
		return err
	}
	b := make([]byte, a.Size)
	if _, err := f.ReadAt(b, 0); err != nil && err != io.EOF {
		return err
	}
	w.setColumns(strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00"))
	return nil
}

// setColumns decides how wide the columns are: as the sizes of all files
// together, or 7 when one has none.
func (w *counter) setColumns(files []string) {
	w.columns = 1
	kinds := 0
	for _, b := range []bool{w.lines, w.words, w.chars, w.bytes, w.width} {
		if b {
			kinds++
		}
	}
	if len(files) <= 1 && kinds == 1 {
		return
	}
	total, least := uint64(0), 1
	if len(files) == 0 {
		f := command.Regular(w.c.Stdin)
		if f == nil {
			least = 7
		} else if a, err := f.Stat(); err == nil {
			total = a.Size
		}
	}
	for _, name := range files {
		if name == "-" {
			least = 7
			continue
		}
		a, err := w.c.FS.Stat(name)
		switch {
		case err != nil:
		case a.IsRegular():
			total += a.Size
		default:
			least = 7
		}
	}
	w.columns = max(least, len(strconv.FormatUint(total, 10)))
}

// file counts one file.
func (w *counter) file(ctx context.Context, name string, named bool) int {
	f, err := w.c.Open(name)
	if err != nil {
		return w.c.Fail(name, err)
	}
	defer f.Close()
	w.n, w.inWord, w.line, w.rest = counts{}, false, 0, w.rest[:0]
	src := io.Reader(f)
	if name == "-" {
		src = w.c.Stdin
	}
	status := 0
	if err := w.read(ctx, src); err != nil {
		if ctx.Err() != nil {
			return 1
		}
		status = w.c.Fail(name, err)
		if !errors.Is(err, syscall.EISDIR) {
			return status
		}
	}
	w.print(&w.n, name, named)
	w.total.lines += w.n.lines
	w.total.words += w.n.words
	w.total.chars += w.n.chars
	w.total.bytes += w.n.bytes
	w.total.width = max(w.total.width, w.n.width)
	return status
}

// read counts all of a stream.
func (w *counter) read(ctx context.Context, src io.Reader) error {
	onlyBytes := w.bytes && !w.lines && !w.words && !w.chars && !w.width
	if f := command.Regular(src); f != nil && onlyBytes {
		pos, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		end, err := f.Seek(0, io.SeekEnd)
		w.n.bytes = uint64(max(0, end-pos))
		return err
	}
	buf := make([]byte, copySize)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := src.Read(buf)
		w.n.bytes += uint64(n)
		w.count(buf[:n])
		if err == io.EOF {
			w.end()
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// count counts in a piece of a stream.
func (w *counter) count(b []byte) {
	switch {
	case w.words || w.width || w.chars && w.utf8:
		if w.utf8 {
			w.wide(b)
		} else {
			w.narrow(b)
		}
	default:
		w.n.chars += uint64(len(b))
		if w.lines {
			w.n.lines += uint64(bytes.Count(b, []byte{'\n'}))
		}
	}
}

// narrow counts bytes as characters.
func (w *counter) narrow(b []byte) {
	w.n.chars += uint64(len(b))
	for _, c := range b {
		w.ascii(c)
	}
}

// ascii counts one byte that is a character.
func (w *counter) ascii(c byte) {
	switch c {
	case '\n':
		w.n.lines++
		w.endLine()
		w.separator()
	case '\r', '\f':
		w.endLine()
		w.separator()
	case '\t':
		w.line += 8 - w.line%8
		w.separator()
	case ' ':
		w.line++
		w.separator()
	case '\v':
		w.separator()
	default:
		if c > ' ' && c < 0x7f {
			w.line++
			w.inWord = true
		}
	}
}

func (w *counter) endLine() {
	w.n.width = max(w.n.width, w.line)
	w.line = 0
}

func (w *counter) separator() {
	if w.inWord {
		w.n.words++
		w.inWord = false
	}
}

// wide counts UTF-8. A byte that is no character counts as nothing.
func (w *counter) wide(b []byte) {
	if len(w.rest) > 0 {
		b = append(w.rest, b...)
		w.rest = nil
	}
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			w.n.chars++
			w.ascii(b[0])
			b = b[1:]
			continue
		}
		if !utf8.FullRune(b) {
			w.rest = append([]byte(nil), b...)
			return
		}
		r, n := utf8.DecodeRune(b)
		b = b[n:]
		if r == utf8.RuneError && n == 1 {
			continue
		}
		w.n.chars++
		switch {
		case unicode.IsSpace(r):
			w.line += uint64(runewidth.RuneWidth(r))
			w.separator()
		case unicode.IsPrint(r):
			w.line += uint64(runewidth.RuneWidth(r))
			w.inWord = true
		}
	}
}

// end counts what is open at the end of a file.
func (w *counter) end() {
	w.endLine()
	w.separator()
}

// print prints a line of counts.
func (w *counter) print(n *counts, name string, named bool) {
	var b strings.Builder
	column := func(on bool, v uint64) {
		if !on {
			return
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		s := strconv.FormatUint(v, 10)
		b.WriteString(strings.Repeat(" ", max(0, w.columns-len(s))) + s)
	}
	column(w.lines, n.lines)
	column(w.words, n.words)
	column(w.chars, n.chars)
	column(w.bytes, n.bytes)
	column(w.width, n.width)
	if named {
		if strings.Contains(name, "\n") {
			name = w.c.QuoteName(name)
		}
		b.WriteString(" " + name)
	}
	b.WriteByte('\n')
	w.c.Stdout.WriteString(b.String())
}
