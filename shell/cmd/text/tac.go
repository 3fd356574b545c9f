package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/cmd/text/spool"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	command.Register(command.Info{
		Name:     "tac",
		Synopsis: "tac [OPTION]... [FILE]...",
		Summary: "Write each FILE to standard output, last line first.\n\n" +
			"With no FILE, or when FILE is -, read standard input.",
		Options: []command.Option{
			{Short: 'b', Long: "before", Help: "attach the separator before instead of after"},
			{Short: 'r', Long: "regex", Help: "interpret the separator as a regular expression"},
			{Short: 's', Long: "separator", Arg: command.RequiredArgument, ArgName: "STRING", Help: "use STRING as the separator instead of newline"},
		},
	}, tac)
}

// tacJob writes files backwards.
type tacJob struct {
	c         *command.Context
	before    bool
	separator []byte
	re        *regex.Regexp
}

func tac(ctx context.Context, c *command.Context, args []string) int {
	t := tacJob{c: c, separator: []byte{'\n'}}
	useRegex := false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'b':
			t.before = true
		case 'r':
			useRegex = true
		case 's':
			t.separator = []byte(p.Arg())
			if p.Arg() == "" {
				t.separator = []byte{0}
			}
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if useRegex {
		if len(t.separator) == 1 && t.separator[0] == 0 {
			return c.Errorf("separator cannot be empty")
		}
		flags := regex.Multiline
		if c.Env.UTF8() {
			flags |= regex.UTF8
		}
		re, err := regex.Compile(string(t.separator), regex.Emacs, flags)
		if err != nil {
			return c.Errorf("Invalid regular expression")
		}
		t.re = re
	}
	for _, name := range orStdin(files) {
		status = max(status, t.file(ctx, name))
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			return 1
		}
	}
	return status
}

func (t *tacJob) file(ctx context.Context, name string) int {
	f, err := t.c.Open(name)
	if err != nil {
		return t.c.Errorf("failed to open %s for reading: %s", t.c.QuoteArg(name), command.Strerror(err))
	}
	defer f.Close()
	src := io.Reader(f)
	if name == "-" {
		src = t.c.Stdin
	}
	fail := func(err error) int {
		if ctx.Err() != nil || t.c.Stdout.Err() != nil {
			return 1
		}
		if errors.Is(err, syscall.EISDIR) {
			err = syscall.EINVAL // what seeking in a directory gives
		}
		return t.c.Errorf("%s: read error: %s", t.c.QuoteName(prettyName(name)), command.Strerror(err))
	}
	if t.re != nil {
		if err := t.byRegex(ctx, src); err != nil {
			return fail(err)
		}
		return 0
	}
	at, start, end, done, err := t.seekable(ctx, src)
	if err != nil {
		return fail(err)
	}
	defer done()
	if err := t.backwards(ctx, at, start, end); err != nil {
		return fail(err)
	}
	return 0
}

// tacHeld is how much of a pipe is held in memory; more goes to a file.
const tacHeld = 1 << 20

// seekable returns the bytes of a stream as something with positions. done
// gives back what that took.
func (t *tacJob) seekable(ctx context.Context, src io.Reader) (at io.ReaderAt, start, end int64, done func(), err error) {
	done = func() {}
	if f := command.Regular(src); f != nil {
		if start, err = f.Seek(0, io.SeekCurrent); err != nil {
			return nil, 0, 0, done, err
		}
		end, err = f.Seek(0, io.SeekEnd)
		return f, start, end, done, err
	}
	buf := make([]byte, tacHeld)
	n, err := io.ReadFull(src, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return bytes.NewReader(buf[:n]), 0, int64(n), done, nil
	}
	if err != nil {
		return nil, 0, 0, done, err
	}
	held, err := spool.New(t.c, "")
	if err != nil {
		return nil, 0, 0, done, err
	}
	end, err = fillSpool(ctx, held, io.MultiReader(bytes.NewReader(buf[:n]), src))
	if err != nil {
		held.Close()
		return nil, 0, 0, done, err
	}
	return held, 0, end, func() { held.Close() }, nil
}

// fillSpool copies a stream to a spool.
func fillSpool(ctx context.Context, f vfs.File, src io.Reader) (int64, error) {
	buf := make([]byte, copySize)
	total := int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n, err := src.Read(buf)
		if n > 0 {
			if _, err := f.Write(buf[:n]); err != nil {
				return 0, err
			}
			total += int64(n)
		}
		if err == io.EOF {
			return total, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// backwards writes the records of [start, end), last first. tail is what was
// read of a record whose start is not yet found.
func (t *tacJob) backwards(ctx context.Context, f io.ReaderAt, start, end int64) error {
	sep := t.separator
	var tail []byte
	held := int64(0)
	defer func() { t.c.Memory.Shrink(held) }()
	buf := make([]byte, copySize)
	first := true
	for pos := end; pos > start; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(int64(len(buf)), pos-start)
		pos -= n
		if _, err := f.ReadAt(buf[:n], pos); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if grow := n + int64(len(tail)) - held; grow > 0 {
			if err := t.c.Memory.Grow(grow); err != nil {
				return err
			}
			held += grow
		}
		text := append(append(make([]byte, 0, n+int64(len(tail))), buf[:n]...), tail...)
		stop := len(text)
		// A separator may lie across the piece's end, but no further.
		search := min(len(text), int(n)+len(sep)-1)
		if first {
			search = len(text)
			if !t.before && bytes.HasSuffix(text, sep) {
				search -= len(sep)
			}
			first = false
		}
		for {
			i := bytes.LastIndex(text[:search], sep)
			if i < 0 {
				break
			}
			cut := i + len(sep)
			if t.before {
				cut = i
			}
			if _, err := t.c.Stdout.Write(text[cut:stop]); err != nil {
				return err
			}
			stop, search = cut, i
		}
		tail = text[:stop]
	}
	_, err := t.c.Stdout.Write(tail)
	return err
}

// byRegex writes the records of a stream whose separators match an expression;
// all of it is held.
func (t *tacJob) byRegex(ctx context.Context, src io.Reader) error {
	w := window{c: t.c, src: src}
	defer w.release()
	for more := true; more; {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		if more, err = w.fill(); err != nil {
			return err
		}
	}
	var cuts []int // where records start
	for at := 0; at < len(w.buf); {
		s, e, err := t.re.Find(ctx, w.buf, at)
		if errors.Is(err, regex.ErrTooComplex) {
			return syscall.ENOMEM
		}
		if err != nil {
			return err
		}
		if s < 0 {
			break
		}
		if e == s {
			at = s + 1
			continue
		}
		if t.before {
			cuts = append(cuts, s)
		} else {
			cuts = append(cuts, e)
		}
		at = e
	}
	end := len(w.buf)
	for i := len(cuts) - 1; i >= 0; i-- {
		if _, err := t.c.Stdout.Write(w.buf[cuts[i]:end]); err != nil {
			return err
		}
		end = cuts[i]
	}
	_, err := t.c.Stdout.Write(w.buf[:end])
	return err
}
