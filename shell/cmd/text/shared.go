package text

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

// copySize is how many bytes a copy moves at a time.
const copySize = 32 << 10

// sizeSuffixes are the suffixes that most counts may have.
const sizeSuffixes = "bkKmMGTPEZY0"

// errReported says that a mistake was reported already.
var errReported = errors.New("reported")

// sizeArg reads a count with a suffix; a mistake is reported as "WHAT: 'ARG'".
func sizeArg(c *command.Context, arg, suffixes, what string) (uint64, bool) {
	n, err := gnulib.ParseSize(arg, suffixes)
	if err == nil {
		return n, true
	}
	if errors.Is(err, syscall.EOVERFLOW) {
		c.Errorf("%s: %s: %s", what, c.Quote(arg), command.Strerror(syscall.EOVERFLOW))
	} else {
		c.Errorf("%s: %s", what, c.Quote(arg))
	}
	return 0, false
}

// orStdin is the operands, or standard input when there are none.
func orStdin(files []string) []string {
	if len(files) == 0 {
		return []string{"-"}
	}
	return files
}

// each opens the files one after the other and calls f for each. A file that
// cannot be opened is reported, and so is what f returns; both make the status 1.
// It stops when nothing more can be written or ctx has ended.
func each(ctx context.Context, c *command.Context, files []string, f func(name string, r io.Reader) error) int {
	status := 0
	for _, name := range files {
		r, err := c.Open(name)
		if err != nil {
			status = c.Fail(name, err)
			continue
		}
		err = f(name, r)
		cerr := r.Close()
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			return 1
		}
		switch {
		case err == errReported:
			status = 1
		case err != nil:
			status = c.Fail(name, err)
		case cerr != nil:
			status = c.Fail(name, cerr)
		}
	}
	return status
}

// copyAll copies r to the output; only errors of r are returned, those of the
// output stay with it.
func copyAll(ctx context.Context, c *command.Context, r io.Reader, buf []byte) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		if n > 0 {
			if _, werr := c.Stdout.Write(buf[:n]); werr != nil {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// obsolete rewrites an old-style option that is the first argument, such as
// -5, with rewrite; nil from it leaves the arguments alone.
func obsolete(args []string, rewrite func(arg string) []string) []string {
	if len(args) < 2 {
		return args
	}
	if with := rewrite(args[1]); with != nil {
		return slices.Concat(args[:1], with, args[2:])
	}
	return args
}

// digitsOf returns how many digits s starts with.
func digitsOf(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// prettyName is how messages about standard input call it.
func prettyName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}

// digitOptions are the digits as options of their own, which no one is told
// about.
func digitOptions() []command.Option {
	var options []command.Option
	for d := byte('0'); d <= '9'; d++ {
		options = append(options, command.Option{Short: d})
	}
	return options
}

// isRange reports whether a number was too large.
func isRange(err error) bool { return errors.Is(err, strconv.ErrRange) }

// numberOptions are options that are numbers: their first digit, with the rest
// for an argument.
func numberOptions() []command.Option {
	options := digitOptions()
	for i := range options {
		options[i].Arg = command.OptionalArgument
	}
	return options
}
