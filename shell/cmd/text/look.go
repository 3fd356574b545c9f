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
		Name:     "look",
		Synopsis: "look [options] <string> [<file>...]",
		Summary:  "Display lines beginning with a specified string.",
		Options: []command.Option{
			{Short: 'a', Long: "alternative", Help: "use the alternative dictionary"},
			{Short: 'd', Long: "alphanum", Help: "compare only blanks and alphanumeric characters"},
			{Short: 'f', Long: "ignore-case", Help: "ignore case differences when comparing"},
			{Short: 't', Long: "terminate", Arg: command.RequiredArgument, ArgName: "char", Help: "define the string-termination character"},
			{Short: 'h', ID: 'h'},
			{Short: 'V', ID: 'V'},
		},
	}, look)
}

// dictionary is the file that look searches by itself.
const dictionary = "/usr/share/dict/words"

func look(ctx context.Context, c *command.Context, args []string) int {
	alphanum, fold := false, false
	end := ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'a', 'd':
			alphanum = true
		case 'f':
			fold = true
		case 't':
			end = p.Arg()
		case 'h':
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case 'V':
			c.Stdout.WriteString("look (vfsd)\n")
			return 0
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	file := dictionary
	switch len(operands) {
	case 0:
		return c.Usage("bad usage")
	case 1:
		alphanum, fold = true, true
	default:
		file = operands[1]
	}
	want := operands[0]
	if end != "" {
		if i := strings.IndexByte(want, end[0]); i >= 0 {
			want = want[:i+1]
		}
	}
	f, err := c.FS.Open(file)
	if err != nil {
		return c.Errorf("%s: %s", file, command.Strerror(err))
	}
	defer f.Close()
	key := lookKey(nil, []byte(want), alphanum, fold)
	found, err := lookIn(ctx, c, f, key, alphanum, fold)
	switch {
	case err != nil && ctx.Err() == nil:
		return c.Errorf("%s: %s", file, command.Strerror(err))
	case !found:
		return 1
	}
	return 0
}

// lookKey drops what -d ignores and folds case for -f.
func lookKey(out, s []byte, alphanum, fold bool) []byte {
	for _, c := range s {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if alphanum && !letter && (c < '0' || c > '9') && c != ' ' && c != '\t' {
			continue
		}
		if fold {
			c = lowerASCII(c)
		}
		out = append(out, c)
	}
	return out
}

// lookIn prints the lines that begin with key. They stand together, the file
// being sorted.
func lookIn(ctx context.Context, c *command.Context, src io.Reader, key []byte, alphanum, fold bool) (found bool, err error) {
	r := lines.NewReader(src, c.Memory)
	defer r.Release()
	var k []byte
	for {
		line, _, err := r.Next()
		if err == io.EOF {
			return found, nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return found, err
		}
		k = lookKey(k[:0], line, alphanum, fold)
		if !bytes.HasPrefix(k, key) {
			if found {
				return true, nil
			}
			continue
		}
		found = true
		c.Stdout.Write(line)
		if err := c.Stdout.WriteByte('\n'); err != nil {
			return true, nil
		}
	}
}
