package text

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "head",
		Synopsis: "head [OPTION]... [FILE]...",
		Summary: "Print the first 10 lines of each FILE to standard output.\n" +
			"With more than one FILE, precede each with a header giving the file name.\n\n" +
			"With no FILE, or when FILE is -, read standard input.",
		Options: append(digitOptions(), []command.Option{
			{Short: 'c', Long: "bytes", Arg: command.RequiredArgument, ArgName: "[-]NUM", Help: "print the first NUM bytes of each file;\nwith the leading '-', print all but the last NUM bytes"},
			{Short: 'n', Long: "lines", Arg: command.RequiredArgument, ArgName: "[-]NUM", Help: "print the first NUM lines instead of the first 10;\nwith the leading '-', print all but the last NUM lines"},
			{Short: 'q', Long: "quiet", Help: "never print headers giving file names"},
			{Long: "silent", ID: 'q'},
			{Short: 'v', Long: "verbose", Help: "always print headers giving file names"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
		}...),
		Notes: "NUM may have a multiplier suffix: b 512, kB 1000, K 1024, MB 1000*1000, and so on.",
	}, head)
}

// header decides about the lines that name files, for head and tail.
type header struct {
	show    bool
	started bool
}

// print prints a file's header.
func (h *header) print(c *command.Context, name string) {
	if !h.show {
		return
	}
	if h.started {
		c.Stdout.WriteByte('\n')
	}
	h.started = true
	c.Stdout.WriteString("==> " + prettyName(name) + " <==\n")
}

// headJob is what head is to print of each file.
type headJob struct {
	c       *command.Context
	n       uint64
	bytes   bool
	allBut  bool
	delim   byte
	headers header
}

func head(ctx context.Context, c *command.Context, args []string) int {
	h := headJob{c: c, n: 10, delim: '\n'}
	quiet, verbose := false, false
	p := c.Options(obsolete(args, headObsolete))
	for p.Next() {
		switch p.ID() {
		case 'c', 'n':
			arg := p.Arg()
			h.bytes = p.ID() == 'c'
			if h.allBut = strings.HasPrefix(arg, "-"); h.allBut {
				arg = arg[1:]
			}
			what := "invalid number of lines"
			if h.bytes {
				what = "invalid number of bytes"
			}
			n, ok := sizeArg(c, arg, sizeSuffixes, what)
			if !ok {
				return 1
			}
			h.n = n
		case 'q':
			quiet, verbose = true, false
		case 'v':
			quiet, verbose = false, true
		case 'z':
			h.delim = 0
		default: // a digit
			return c.Usage("invalid trailing option -- %s", strings.TrimLeft(args[1], "-0123456789")[:1])
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	files = orStdin(files)
	h.headers.show = verbose || len(files) > 1 && !quiet
	for _, name := range files {
		status = max(status, h.file(ctx, name))
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			return 1
		}
	}
	return status
}

// headObsolete rewrites -5, -5c, -2kq and the like.
func headObsolete(arg string) []string {
	if len(arg) < 2 || arg[0] != '-' {
		return nil
	}
	n := digitsOf(arg[1:])
	if n == 0 {
		return nil
	}
	num, mode, suffix, others := arg[1:1+n], "-n", "", []string{}
	for _, ch := range arg[1+n:] {
		switch ch {
		case 'c':
			mode = "-c"
		case 'b', 'k', 'm':
			mode, suffix = "-c", string(ch)
		case 'l':
			mode = "-n"
		case 'q', 'v', 'z':
			others = append(others, "-"+string(ch))
		default:
			return nil
		}
	}
	return append([]string{mode + num + suffix}, others...)
}

// file prints the head of one file.
func (h *headJob) file(ctx context.Context, name string) int {
	f, err := h.c.Open(name)
	if err != nil {
		return h.c.Errorf("cannot open %s for reading: %s", h.c.QuoteArg(name), command.Strerror(err))
	}
	defer f.Close()
	h.headers.print(h.c, name)
	src := io.Reader(f)
	if name == "-" {
		src = h.c.Stdin
	}
	switch {
	case h.allBut && h.bytes:
		err = h.allButBytes(ctx, src)
	case h.allBut:
		err = h.allButLines(ctx, src)
	case h.bytes:
		err = copyAll(ctx, h.c, io.LimitReader(src, int64(min(h.n, 1<<62))), make([]byte, copySize))
	default:
		err = h.lines(ctx, src)
	}
	if err != nil && ctx.Err() == nil {
		return h.c.Errorf("error reading %s: %s", h.c.QuoteArg(prettyName(name)), command.Strerror(err))
	}
	return 0
}

// lines prints the first n lines.
func (h *headJob) lines(ctx context.Context, src io.Reader) error {
	r := lines.NewReader(src, h.c.Memory)
	defer r.Release()
	for left := h.n; left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		w, err := r.Window()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		n := 0
		for left > 0 && n < len(w) {
			i := bytes.IndexByte(w[n:], h.delim)
			if i < 0 {
				n = len(w)
				break
			}
			n += i + 1
			left--
		}
		if _, err := h.c.Stdout.Write(w[:n]); err != nil {
			return nil
		}
		r.Skip(n)
	}
	r.Unread()
	return nil
}

// allButBytes prints all but the last n bytes.
func (h *headJob) allButBytes(ctx context.Context, src io.Reader) error {
	if f := command.Regular(src); f != nil {
		pos, err := f.Seek(0, io.SeekCurrent)
		if err != nil {
			return err
		}
		a, err := f.Stat()
		if err != nil {
			return err
		}
		left := int64(a.Size) - pos - int64(min(h.n, 1<<62))
		if left <= 0 {
			return nil
		}
		return copyAll(ctx, h.c, io.LimitReader(src, left), make([]byte, copySize))
	}
	w := window{c: h.c, src: src}
	defer w.release()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := w.fill()
		if err != nil {
			return err
		}
		if n := len(w.buf); uint64(n) > h.n {
			if _, err := h.c.Stdout.Write(w.buf[:n-int(h.n)]); err != nil {
				return nil
			}
			w.drop(n - int(h.n))
		}
		if !more {
			return nil
		}
	}
}

// allButLines prints all but the last n lines.
func (h *headJob) allButLines(ctx context.Context, src io.Reader) error {
	if h.n == 0 {
		return copyAll(ctx, h.c, src, make([]byte, copySize))
	}
	w := window{c: h.c, src: src}
	defer w.release()
	var ends []int // of the lines in the window, counted from the first byte read
	base, scanned := 0, 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		more, err := w.fill()
		if err != nil {
			return err
		}
		for {
			i := bytes.IndexByte(w.buf[scanned-base:], h.delim)
			if i < 0 {
				break
			}
			scanned += i + 1
			ends = append(ends, scanned)
		}
		scanned = base + len(w.buf)
		whole := uint64(len(ends))
		if !more && (len(ends) == 0 || ends[len(ends)-1] < scanned) && len(w.buf) > 0 {
			whole++ // the last line has no end
		}
		if whole > h.n {
			k := whole - h.n
			n := ends[k-1] - base
			if _, err := h.c.Stdout.Write(w.buf[:n]); err != nil {
				return nil
			}
			w.drop(n)
			base += n
			ends = append(ends[:0], ends[k:]...)
		}
		if !more {
			return nil
		}
	}
}

// window is the part of a stream that has to be held, on the account.
type window struct {
	c    *command.Context
	src  io.Reader
	buf  []byte // what is held
	all  []byte // buf is its tail
	held int64
}

// fill reads once more; false at the end.
func (w *window) fill() (bool, error) {
	if cap(w.all)-len(w.all) < copySize {
		if gone := len(w.all) - len(w.buf); gone > len(w.buf) {
			w.all = w.all[:copy(w.all, w.buf)]
		} else if err := w.grow(); err != nil {
			return false, err
		}
		w.buf = w.all
	}
	n, err := w.src.Read(w.all[len(w.all) : len(w.all)+copySize])
	kept := len(w.buf)
	w.all = w.all[:len(w.all)+n]
	w.buf = w.all[len(w.all)-kept-n:]
	if err == io.EOF {
		return false, nil
	}
	return true, err
}

func (w *window) grow() error {
	n := 2*len(w.buf) + 2*copySize
	if err := w.c.Memory.Grow(int64(n) - w.held); err != nil {
		return err
	}
	w.held = int64(n)
	grown := make([]byte, len(w.buf), n)
	copy(grown, w.buf)
	w.all = grown
	return nil
}

// drop takes n bytes away from the start.
func (w *window) drop(n int) { w.buf = w.buf[n:] }

func (w *window) release() { w.c.Memory.Shrink(w.held) }
