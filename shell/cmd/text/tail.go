package text

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const (
	optRetry = 256 + iota
	optPID
	optMaxUnchanged
)

func init() {
	command.Register(command.Info{
		Name:     "tail",
		Synopsis: "tail [OPTION]... [FILE]...",
		Summary: "Print the last 10 lines of each FILE to standard output.\n" +
			"With more than one FILE, precede each with a header giving the file name.\n\n" +
			"With no FILE, or when FILE is -, read standard input.",
		Options: append(digitOptions(), []command.Option{
			{Short: 'c', Long: "bytes", Arg: command.RequiredArgument, ArgName: "[+]NUM", Help: "output the last NUM bytes; or use -c +NUM to\noutput starting with byte NUM of each file"},
			{Short: 'f', Long: "follow", Arg: command.OptionalArgument, ArgName: "{name|descriptor}", ID: 'f', Help: "output appended data as the file grows"},
			{Short: 'F', Help: "same as --follow=name --retry"},
			{Short: 'n', Long: "lines", Arg: command.RequiredArgument, ArgName: "[+]NUM", Help: "output the last NUM lines, instead of the last 10;\nor use -n +NUM to output starting with line NUM"},
			{Long: "max-unchanged-stats", Arg: command.RequiredArgument, ArgName: "N", ID: optMaxUnchanged, Help: "(ignored)"},
			{Long: "pid", Arg: command.RequiredArgument, ArgName: "PID", ID: optPID, Help: "with -f, terminate after process ID, PID dies"},
			{Short: 'q', Long: "quiet", Help: "never output headers giving file names"},
			{Long: "silent", ID: 'q'},
			{Long: "retry", ID: optRetry, Help: "keep trying to open a file if it is inaccessible"},
			{Short: 's', Long: "sleep-interval", Arg: command.RequiredArgument, ArgName: "N", Help: "with -f, sleep for approximately N seconds\n(default 1.0) between iterations"},
			{Short: 'v', Long: "verbose", Help: "always output headers giving file names"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
		}...),
		Notes: "NUM may have a multiplier suffix: b 512, kB 1000, K 1024, MB 1000*1000, and so on.",
	}, tail)
}

// tailJob is what tail is to print of each file.
type tailJob struct {
	c       *command.Context
	n       uint64
	bytes   bool
	from    bool // start at number n
	delim   byte
	headers header

	follow   bool
	byName   bool
	retry    bool
	pid      int
	interval time.Duration
	last     string // the file whose output came last
}

func tail(ctx context.Context, c *command.Context, args []string) int {
	t := tailJob{c: c, n: 10, delim: '\n', interval: time.Second}
	quiet, verbose := false, false
	p := c.Options(obsolete(args, func(arg string) []string { return tailObsolete(arg, len(args)) }))
	for p.Next() {
		switch p.ID() {
		case 'q':
			quiet, verbose = true, false
		case 'v':
			quiet, verbose = false, true
		default:
			if !t.option(p) {
				return 1
			}
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	files = orStdin(files)
	t.headers.show = verbose || len(files) > 1 && !quiet
	switch {
	case t.from && t.n > 0:
		t.n--
	case !t.from && t.n == 0 && !t.follow:
		return status // nothing of any file: none is opened
	}
	var grown []*followed
	for _, name := range files {
		f, s := t.file(ctx, name)
		status = max(status, s)
		if f != nil {
			grown = append(grown, f)
		}
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			break
		}
	}
	if t.follow {
		status = max(status, t.followAll(ctx, grown))
	}
	for _, f := range grown {
		f.close()
	}
	return status
}

// option applies one option; false after a mistake.
func (t *tailJob) option(p *command.Parser) bool {
	switch p.ID() {
	case 'c', 'n':
		arg := p.Arg()
		t.bytes = p.ID() == 'c'
		plus := strings.HasPrefix(arg, "+")
		t.from = t.from || plus // a plus holds for a later count too
		if plus || strings.HasPrefix(arg, "-") {
			arg = arg[1:]
		}
		what := "invalid number of lines"
		if t.bytes {
			what = "invalid number of bytes"
		}
		n, ok := sizeArg(t.c, arg, sizeSuffixes, what)
		if !ok {
			return false
		}
		t.n = n
	case 'f', 'F':
		t.follow = true
		switch {
		case p.ID() == 'F':
			t.byName, t.retry = true, true
		case p.Arg() == "" || strings.HasPrefix("descriptor", p.Arg()):
		case strings.HasPrefix("name", p.Arg()):
			t.byName = true
		default:
			t.c.Usage("invalid argument %s for %s\nValid arguments are:\n  - %s\n  - %s", t.c.Quote(p.Arg()), t.c.Quote("--follow"), t.c.Quote("descriptor"), t.c.Quote("name"))
			return false
		}
	case optRetry:
		t.retry = true
	case optPID:
		n, err := strconv.Atoi(p.Arg())
		if err != nil || n <= 0 {
			t.c.Errorf("invalid PID: %s", t.c.Quote(p.Arg()))
			return false
		}
		t.pid = n
	case 's':
		s, err := strconv.ParseFloat(p.Arg(), 64)
		if err != nil || s < 0 {
			t.c.Errorf("invalid number of seconds: %s", t.c.Quote(p.Arg()))
			return false
		}
		t.interval = time.Duration(min(s, 1e9) * float64(time.Second))
	case 'z':
		t.delim = 0
	default: // a digit
		t.c.Errorf("option used in invalid context -- %c", p.ID())
		return false
	}
	return true
}

// tailObsolete rewrites -5, -5c, +3, -3f and the like, which only count when
// there is at most one operand.
func tailObsolete(arg string, argc int) []string {
	if argc > 3 || len(arg) < 2 || arg[0] != '-' && arg[0] != '+' {
		return nil
	}
	rest := arg[1:]
	n := digitsOf(rest)
	num := rest[:n]
	rest = rest[n:]
	if n == 0 {
		if arg[0] == '-' || rest == "" || strings.IndexByte("bcl", rest[0]) < 0 {
			return nil
		}
		num = "10"
	}
	mode := "-n"
	if rest != "" {
		switch rest[0] {
		case 'b':
			mode, num = "-c", num+"b"
			rest = rest[1:]
		case 'c':
			mode = "-c"
			rest = rest[1:]
		case 'l':
			rest = rest[1:]
		}
	}
	sign := ""
	if arg[0] == '+' {
		sign = "+"
	}
	switch rest {
	case "":
		return []string{mode + sign + num}
	case "f":
		return []string{mode + sign + num, "-f"}
	}
	return nil
}

// file prints the tail of one file. When it is to be followed it stays open.
func (t *tailJob) file(ctx context.Context, name string) (*followed, int) {
	f, err := t.c.Open(name)
	if err != nil {
		status := t.c.Errorf("cannot open %s for reading: %s", t.c.QuoteArg(name), command.Strerror(err))
		if t.follow && t.retry && t.byName {
			return &followed{name: name}, status
		}
		return nil, status
	}
	t.headers.print(t.c, name)
	t.last = name
	src := io.Reader(f)
	if name == "-" {
		src = t.c.Stdin
	}
	if err := t.tail(ctx, src); err != nil {
		f.Close()
		if ctx.Err() != nil {
			return nil, 1
		}
		return nil, t.c.Errorf("error reading %s: %s", t.c.QuoteArg(prettyName(name)), command.Strerror(err))
	}
	if file := command.Regular(src); t.follow && file != nil {
		a, err := file.Stat()
		if err == nil {
			return &followed{name: name, f: f, file: file, ino: a.Ino}, 0
		}
	}
	f.Close()
	return nil, 0
}

// tail prints what is asked for of one stream.
func (t *tailJob) tail(ctx context.Context, src io.Reader) error {
	file := command.Regular(src)
	buf := make([]byte, copySize)
	switch {
	case t.from && t.bytes:
		if file != nil {
			if _, err := file.Seek(int64(min(t.n, 1<<62)), io.SeekCurrent); err != nil {
				return err
			}
		} else if err := discard(ctx, src, t.n, buf); err != nil {
			return err
		}
		return copyAll(ctx, t.c, src, buf)
	case t.from:
		rest, err := skipLines(ctx, src, t.n, t.delim, buf)
		if err != nil {
			return err
		}
		t.c.Stdout.Write(rest)
		return copyAll(ctx, t.c, src, make([]byte, copySize))
	case file != nil:
		if err := t.seekBack(file); err != nil {
			return err
		}
		return copyAll(ctx, t.c, src, buf)
	}
	return t.pipe(ctx, src)
}

// discard reads n bytes.
func discard(ctx context.Context, src io.Reader, n uint64, buf []byte) error {
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		k, err := src.Read(buf[:min(uint64(len(buf)), n)])
		n -= uint64(k)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skipLines reads over n lines, and returns what it read of the lines after.
func skipLines(ctx context.Context, src io.Reader, n uint64, delim byte, buf []byte) ([]byte, error) {
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		k, err := src.Read(buf)
		chunk := buf[:k]
		for n > 0 {
			i := bytes.IndexByte(chunk, delim)
			if i < 0 {
				break
			}
			chunk = chunk[i+1:]
			n--
		}
		if n == 0 {
			return chunk, nil
		}
		if err == io.EOF {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// seekBack moves a file's position to where its tail starts, by reading it
// from its end.
func (t *tailJob) seekBack(f *vfs.RegularFile) error {
	start, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	a, err := f.Stat()
	if err != nil {
		return err
	}
	end := int64(a.Size)
	if end <= start {
		return nil
	}
	if t.bytes {
		_, err = f.Seek(max(start, end-int64(min(t.n, 1<<62))), io.SeekStart)
		return err
	}
	at, err := lastLines(f, start, end, t.n, t.delim)
	if err != nil {
		return err
	}
	_, err = f.Seek(at, io.SeekStart)
	return err
}

// lastLines returns where the last n lines of the bytes [start, end) start.
func lastLines(f io.ReaderAt, start, end int64, n uint64, delim byte) (int64, error) {
	if n == 0 {
		return end, nil
	}
	buf := make([]byte, copySize)
	left := n
	for pos := end; pos > start; {
		k := min(int64(len(buf)), pos-start)
		pos -= k
		if _, err := f.ReadAt(buf[:k], pos); err != nil && err != io.EOF {
			return 0, err
		}
		chunk := buf[:k]
		if pos+k == end && chunk[k-1] == delim {
			chunk = chunk[:k-1] // the end of the last line
		}
		for {
			i := bytes.LastIndexByte(chunk, delim)
			if i < 0 {
				break
			}
			if left--; left == 0 {
				return pos + int64(i) + 1, nil
			}
			chunk = chunk[:i]
		}
	}
	return start, nil
}

// pipe prints the tail of what has no positions: it holds as much as the tail
// can be.
func (t *tailJob) pipe(ctx context.Context, src io.Reader) error {
	w := window{c: t.c, src: src}
	defer w.release()
	kept := 0
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if more, err = w.fill(); err != nil {
			return err
		}
		if len(w.buf) < 2*kept+2*copySize && more {
			continue
		}
		if t.bytes {
			if uint64(len(w.buf)) > t.n {
				w.drop(len(w.buf) - int(t.n))
			}
			continue
		}
		at, err := lastLines(bytes.NewReader(w.buf), 0, int64(len(w.buf)), t.n, t.delim)
		if err != nil {
			return err
		}
		w.drop(int(at))
		kept = len(w.buf)
	}
	t.c.Stdout.Write(w.buf)
	return nil
}

// followed is a file whose growth is printed.
type followed struct {
	name string
	f    io.Closer
	file *vfs.RegularFile // nil while it cannot be opened
	ino  vfs.Ino
}

func (f *followed) close() {
	if f.f != nil {
		f.f.Close()
	}
	f.f, f.file = nil, nil
}

// followAll prints what is appended to the files until ctx ends.
func (t *tailJob) followAll(ctx context.Context, files []*followed) int {
	if len(files) == 0 {
		return 0
	}
	buf := make([]byte, copySize)
	for {
		gone := t.pid > 0 && t.c.System.Signal(t.pid, 0) != nil
		for _, f := range files {
			if err := t.grown(ctx, f, buf); err != nil {
				return t.c.Errorf("error reading %s: %s", t.c.QuoteArg(prettyName(f.name)), command.Strerror(err))
			}
		}
		if t.c.Stdout.Flush() != nil || gone {
			return 0
		}
		if err := t.c.Sleep(ctx, t.interval); err != nil {
			return 1
		}
	}
}

// grown prints what was appended to one file.
func (t *tailJob) grown(ctx context.Context, f *followed, buf []byte) error {
	if t.byName {
		t.reopen(f)
	}
	if f.file == nil {
		return nil
	}
	pos, err := f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	a, err := f.file.Stat()
	if err != nil {
		return err
	}
	switch size := int64(a.Size); {
	case size == pos:
		return nil
	case size < pos:
		t.c.Errorf("%s: file truncated", t.c.QuoteName(f.name))
		if _, err := f.file.Seek(0, io.SeekStart); err != nil {
			return err
		}
	}
	if t.last != f.name {
		t.headers.print(t.c, f.name)
		t.last = f.name
	}
	return copyAll(ctx, t.c, f.file, buf)
}

// reopen looks whether the name leads to another file now.
func (t *tailJob) reopen(f *followed) {
	a, err := t.c.FS.Stat(f.name)
	if err != nil {
		if f.file != nil {
			t.c.Errorf("%s has become inaccessible: %s", t.c.QuoteArg(f.name), command.Strerror(err))
			f.close()
		}
		return
	}
	if f.file != nil && a.Ino == f.ino {
		return
	}
	file, err := t.c.Open(f.name)
	if err != nil {
		return
	}
	verb := "has appeared"
	if f.file != nil {
		verb = "has been replaced"
	}
	t.c.Errorf("%s %s;  following new file", t.c.QuoteArg(f.name), verb)
	f.close()
	f.f, f.file, f.ino = file, command.Regular(file), a.Ino
}
