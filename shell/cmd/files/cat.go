package files

import (
	"context"
	"io"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "cat",
		Synopsis: "cat [OPTION]... [FILE]...",
		Summary:  "Concatenate FILE(s) to standard output.\n\nWith no FILE, or when FILE is -, read standard input.",
		Options: []command.Option{
			{Short: 'A', Long: "show-all", Help: "equivalent to -vET"},
			{Short: 'b', Long: "number-nonblank", Help: "number nonempty output lines, overrides -n"},
			{Short: 'e', Help: "equivalent to -vE"},
			{Short: 'E', Long: "show-ends", Help: "display $ at end of each line"},
			{Short: 'n', Long: "number", Help: "number all output lines"},
			{Short: 's', Long: "squeeze-blank", Help: "suppress repeated empty output lines"},
			{Short: 't', Help: "equivalent to -vT"},
			{Short: 'T', Long: "show-tabs", Help: "display TAB characters as ^I"},
			{Short: 'u', Help: "(ignored)"},
			{Short: 'v', Long: "show-nonprinting", Help: "use ^ and M- notation, except for LFD and TAB"},
		},
	}, cat)
}

// catter writes files with what the options add. Its state goes on from one
// file to the next.
type catter struct {
	out                             *command.Writer
	nonblank, ends, number, squeeze bool
	tabs, visible                   bool

	line    int
	started bool // the present line has output
	blanks  int  // empty lines before this one
	cr      bool // a carriage return waits for what follows it
}

func cat(ctx context.Context, c *command.Context, args []string) int {
	k := catter{out: c.Stdout}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'A':
			k.visible, k.ends, k.tabs = true, true, true
		case 'b':
			k.nonblank, k.number = true, true
		case 'e':
			k.visible, k.ends = true, true
		case 'E':
			k.ends = true
		case 'n':
			k.number = true
		case 's':
			k.squeeze = true
		case 't':
			k.visible, k.tabs = true, true
		case 'T':
			k.tabs = true
		case 'v':
			k.visible = true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		names = []string{"-"}
	}
	plain := !(k.ends || k.number || k.squeeze || k.tabs || k.visible)
	for _, name := range names {
		f, err := c.Open(name)
		if err != nil {
			status = c.Fail(name, err)
			continue
		}
		if sameAsOutput(c, f, name) {
			status = c.Errorf("%s: input file is output file", c.QuoteName(name))
			f.Close()
			continue
		}
		var w io.Writer = c.Stdout
		if !plain {
			w = &k
		}
		readErr, writeErr := stream(ctx, w, &flushing{f, c.Stdout})
		f.Close()
		if writeErr != nil || ctx.Err() != nil {
			return 1
		}
		if readErr != nil {
			status = c.Fail(name, readErr)
		}
	}
	k.flushCR()
	return status
}

// flushing passes on what was written before it waits for more to read: cat
// keeps nothing back.
type flushing struct {
	io.Reader
	out *command.Writer
}

func (f *flushing) Read(p []byte) (int, error) {
	if err := f.out.Flush(); err != nil {
		return 0, io.EOF // the writer remembers why
	}
	return f.Reader.Read(p)
}

// sameAsOutput reports whether reading f would read what is being written.
func sameAsOutput(c *command.Context, f io.ReadCloser, name string) bool {
	var in any = f
	if name == "-" {
		in = c.Stdin
	}
	r, w := command.Regular(in), command.Regular(c.Stdout)
	if r == nil || w == nil || r.Handle().Ino() != w.Handle().Ino() {
		return false
	}
	a, err := r.Stat()
	if err != nil || a.Size == 0 {
		return false
	}
	// What was truncated by the shell and is behind the position is harmless.
	pos, err := r.Seek(0, io.SeekCurrent)
	return err != nil || pos < int64(a.Size)
}

func (k *catter) Write(p []byte) (int, error) {
	for _, b := range p {
		k.put(b)
	}
	return len(p), k.out.Err()
}

// flushCR writes a carriage return that nothing followed.
func (k *catter) flushCR() {
	if k.cr {
		k.cr = false
		if k.visible {
			k.out.WriteString("^M")
		} else {
			k.out.WriteByte('\r')
		}
	}
}

func (k *catter) put(b byte) {
	if b == '\n' {
		k.newline()
		return
	}
	if !k.started {
		k.begin(false)
	}
	k.flushCR()
	switch {
	case b == '\t':
		if k.tabs {
			k.out.WriteString("^I")
		} else {
			k.out.WriteByte(b)
		}
	case b == '\r' && k.ends:
		k.cr = true
	case k.visible:
		k.out.WriteString(caret(b))
	default:
		k.out.WriteByte(b)
	}
}

// begin starts a line: its number, if it has one.
func (k *catter) begin(empty bool) {
	k.started = true
	if !empty {
		k.blanks = 0
	}
	if !k.number || k.nonblank && empty {
		return
	}
	k.line++
	var buf [24]byte
	i := len(buf)
	for n := k.line; n > 0 || i == len(buf); n /= 10 {
		i--
		buf[i] = '0' + byte(n%10)
	}
	for len(buf)-i < 6 {
		i--
		buf[i] = ' '
	}
	k.out.Write(buf[i:])
	k.out.WriteByte('\t')
}

func (k *catter) newline() {
	if !k.started {
		if k.blanks++; k.squeeze && k.blanks > 1 {
			return
		}
		k.begin(true)
	}
	if k.cr {
		k.cr = false
		k.out.WriteString("^M")
	}
	if k.ends {
		k.out.WriteByte('$')
	}
	k.out.WriteByte('\n')
	k.started = false
}

// caret is a byte in the notation of cat -v.
func caret(b byte) string {
	s := ""
	if b >= 0x80 {
		s, b = "M-", b&0x7f
	}
	switch {
	case b < 0x20:
		return s + "^" + string([]byte{b + 64})
	case b == 0x7f:
		return s + "^?"
	}
	return s + string([]byte{b})
}
