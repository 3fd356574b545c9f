package text

import (
	"context"
	"io"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "rev",
		Synopsis: "rev [options] [file ...]",
		Summary:  "Reverse lines characterwise.",
		Options: []command.Option{
			{Short: 'h', Help: "the same as --help"},
			{Short: 'V', Help: "the same as --version"},
		},
	}, rev)
}

func rev(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'h':
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case 'V':
			c.Stdout.WriteString("rev (vfsd)\n")
			return 0
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	wide := c.Env.UTF8()
	if len(files) == 0 {
		if err := revFile(ctx, c, c.Stdin, wide); err != nil && ctx.Err() == nil {
			return c.Errorf("stdin: %s", command.Strerror(err))
		}
		return 0
	}
	for _, name := range files {
		f, err := c.FS.Open(name)
		if err != nil {
			status = c.Errorf("cannot open %s: %s", name, command.Strerror(err))
			continue
		}
		if err := revFile(ctx, c, f, wide); err != nil && ctx.Err() == nil {
			status = c.Errorf("%s: %s", name, command.Strerror(err))
		}
		f.Close()
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			return 1
		}
	}
	return status
}

func revFile(ctx context.Context, c *command.Context, src io.Reader, wide bool) error {
	r := lines.NewReader(src, c.Memory)
	defer r.Release()
	var out []byte
	for {
		line, ended, err := r.Next()
		if err == io.EOF || ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		out = out[:0]
		for len(line) > 0 {
			n := 1
			if wide {
				_, n = utf8.DecodeLastRune(line)
			}
			out = append(out, line[len(line)-n:]...)
			line = line[:len(line)-n]
		}
		if ended {
			out = append(out, '\n')
		}
		if _, err := c.Stdout.Write(out); err != nil {
			return nil
		}
	}
}
