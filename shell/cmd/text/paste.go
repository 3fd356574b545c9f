package text

import (
	"context"
	"io"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "paste",
		Synopsis: "paste [OPTION]... [FILE]...",
		Summary: "Write lines consisting of the sequentially corresponding lines from\n" +
			"each FILE, separated by TABs, to standard output.\n\nWith no FILE, or when FILE is -, read standard input.",
		Options: []command.Option{
			{Short: 'd', Long: "delimiters", Arg: command.RequiredArgument, ArgName: "LIST", Help: "reuse characters from LIST instead of TABs"},
			{Short: 's', Long: "serial", Help: "paste one file at a time instead of in parallel"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
		},
	}, paste)
}

// paster pastes files together.
type paster struct {
	c      *command.Context
	delims [][]byte
	eol    byte
	// stdin is shared by all operands "-".
	stdin *lines.Reader
}

func paste(ctx context.Context, c *command.Context, args []string) int {
	k := paster{c: c, eol: '\n', delims: [][]byte{{'\t'}}}
	serial := false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'd':
			if !k.parseDelims(p.Arg()) {
				return c.Errorf("delimiter list ends with an unescaped backslash: %s", p.Arg())
			}
		case 's':
			serial = true
		case 'z':
			k.eol = 0
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if serial {
		return each(ctx, c, orStdin(files), func(_ string, r io.Reader) error { return k.serial(ctx, r) })
	}
	return k.parallel(ctx, orStdin(files))
}

// parseDelims reads LIST; \0 is the empty string.
func (k *paster) parseDelims(list string) bool {
	k.delims = nil
	for i := 0; i < len(list); i++ {
		b := list[i]
		if b != '\\' {
			k.delims = append(k.delims, []byte{b})
			continue
		}
		if i++; i == len(list) {
			return false
		}
		switch b = list[i]; b {
		case '0':
			k.delims = append(k.delims, nil)
			continue
		case 'b':
			b = '\b'
		case 'f':
			b = '\f'
		case 'n':
			b = '\n'
		case 'r':
			b = '\r'
		case 't':
			b = '\t'
		case 'v':
			b = '\v'
		}
		k.delims = append(k.delims, []byte{b})
	}
	if k.delims == nil {
		k.delims = [][]byte{nil}
	}
	return true
}

// serial writes the lines of one file as one.
func (k *paster) serial(ctx context.Context, src io.Reader) error {
	r := lines.NewReader(src, k.c.Memory)
	r.Delim = k.eol
	defer r.Release()
	var err error
	for n := 0; ; n++ {
		var line []byte
		if line, _, err = r.Next(); err != nil || ctx.Err() != nil {
			break
		}
		if n > 0 {
			k.c.Stdout.Write(k.delims[(n-1)%len(k.delims)])
		}
		if _, err := k.c.Stdout.Write(line); err != nil {
			return nil
		}
	}
	k.c.Stdout.WriteByte(k.eol)
	if err == io.EOF {
		return nil
	}
	return err
}

// parallel writes the first lines of all files as one, then the second ones.
func (k *paster) parallel(ctx context.Context, files []string) int {
	readers := make([]*lines.Reader, len(files))
	defer func() {
		for _, r := range readers {
			if r != nil {
				r.Release()
			}
		}
	}()
	for i, name := range files {
		if name == "-" && k.stdin != nil {
			readers[i] = k.stdin
			continue
		}
		f, err := k.c.Open(name)
		if err != nil {
			return k.c.Fail(name, err)
		}
		defer f.Close()
		readers[i] = lines.NewReader(f, k.c.Memory)
		readers[i].Delim = k.eol
		if name == "-" {
			k.stdin = readers[i]
		}
	}
	status := 0
	open := len(files)
	var out []byte
	for open > 0 {
		if ctx.Err() != nil {
			return 1
		}
		out = out[:0]
		any := false
		for i, r := range readers {
			if i > 0 {
				out = append(out, k.delims[(i-1)%len(k.delims)]...)
			}
			if r == nil {
				continue
			}
			line, _, err := r.Next()
			if err != nil {
				if err != io.EOF {
					status = k.c.Fail(files[i], err)
				}
				if r != k.stdin {
					r.Release()
				}
				readers[i] = nil
				open--
				continue
			}
			any = true
			out = append(out, line...)
		}
		if !any {
			break
		}
		if _, err := k.c.Stdout.Write(append(out, k.eol)); err != nil {
			return 1
		}
	}
	return status
}
