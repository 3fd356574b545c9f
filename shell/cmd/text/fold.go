package text

import (
	"context"
	"io"
	"strconv"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "fold",
		Synopsis: "fold [OPTION]... [FILE]...",
		Summary: "Wrap input lines in each FILE, writing to standard output.\n\n" +
			"With no FILE, or when FILE is -, read standard input.",
		Options: append(numberOptions(), []command.Option{
			{Short: 'b', Long: "bytes", Help: "count bytes rather than columns"},
			{Short: 's', Long: "spaces", Help: "break at spaces"},
			{Short: 'w', Long: "width", Arg: command.RequiredArgument, ArgName: "WIDTH", Help: "use WIDTH columns instead of 80"},
		}...),
	}, fold)
}

// folder folds lines.
type folder struct {
	c      *command.Context
	bytes  bool
	spaces bool
	width  int
}

func fold(ctx context.Context, c *command.Context, args []string) int {
	k := folder{c: c, width: 80}
	p := c.Options(args)
	for p.Next() {
		arg := p.Arg()
		switch id := p.ID(); id {
		case 'b':
			k.bytes = true
			continue
		case 's':
			k.spaces = true
			continue
		case 'w':
		default:
			arg = string(rune(id)) + arg
		}
		n, err := strconv.ParseUint(arg, 10, 63)
		if err != nil || n == 0 {
			switch {
			case isRange(err):
				return c.Errorf("invalid number of columns: %s: %s", c.Quote(arg), command.Strerror(syscall.EOVERFLOW))
			case err == nil:
				return c.Errorf("invalid number of columns: %s: %s", c.Quote(arg), command.Strerror(syscall.ERANGE))
			}
			return c.Errorf("invalid number of columns: %s", c.Quote(arg))
		}
		k.width = int(n)
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	return each(ctx, c, orStdin(files), func(_ string, r io.Reader) error { return k.file(ctx, r) })
}

func (k *folder) file(ctx context.Context, src io.Reader) error {
	r := lines.NewReader(src, k.c.Memory)
	defer r.Release()
	for {
		line, ended, err := r.Next()
		if err == io.EOF || ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		k.line(line)
		if ended {
			if err := k.c.Stdout.WriteByte('\n'); err != nil {
				return nil
			}
		}
	}
}

// line writes one line in pieces that are not too wide.
func (k *folder) line(line []byte) {
	start, column := 0, 0
	for i := 0; i < len(line); {
		next := k.advance(column, line[i])
		if next <= k.width || i == start {
			column = next
			i++
			continue
		}
		cut := i
		if k.spaces {
			for j := i - 1; j >= start; j-- {
				if line[j] == ' ' || line[j] == '\t' {
					cut = j + 1
					break
				}
			}
		}
		k.c.Stdout.Write(line[start:cut])
		k.c.Stdout.WriteByte('\n')
		start, column = cut, 0
		for j := cut; j < i; j++ {
			column = k.advance(column, line[j])
		}
	}
	k.c.Stdout.Write(line[start:])
}

// advance returns the column after a character.
func (k *folder) advance(column int, c byte) int {
	if k.bytes {
		return column + 1
	}
	switch c {
	case '\b':
		return max(0, column-1)
	case '\r':
		return 0
	case '\t':
		return column + 8 - column%8
	}
	return column + 1
}
