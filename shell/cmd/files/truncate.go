package files

import (
	"context"
	"math"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	command.Register(command.Info{
		Name:     "truncate",
		Synopsis: "truncate OPTION... FILE...",
		Summary:  "Shrink or extend the size of each FILE to the specified size",
		Options: []command.Option{
			{Short: 'c', Long: "no-create", Help: "do not create any files"},
			{Short: 'o', Long: "io-blocks", Help: "treat SIZE as number of IO blocks instead of bytes"},
			{Short: 'r', Long: "reference", Arg: command.RequiredArgument, ArgName: "RFILE", Help: "base size on RFILE"},
			{Short: 's', Long: "size", Arg: command.RequiredArgument, ArgName: "SIZE", Help: "set or adjust the file size by SIZE bytes"},
		},
		Notes: "SIZE may also be prefixed by one of the following modifying characters:\n'+' extend by, '-' reduce by, '<' at most, '>' at least,\n'/' round down to multiple of, '%' round up to multiple of.",
	}, truncate)
}

// resize is a change of size.
type resize struct {
	mode byte // 0, '+', '-', '<', '>', '/', '%'
	n    int64
	base int64 // of the reference file; -1 for the file's own
}

func truncate(ctx context.Context, c *command.Context, args []string) int {
	r := resize{base: -1}
	noCreate, blocks, hasSize, reference := false, false, false, ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'c':
			noCreate = true
		case 'o':
			blocks = true
		case 'r':
			reference = p.Arg()
		case 's':
			hasSize = true
			if status, ok := r.parse(c, p.Arg()); !ok {
				return status
			}
		}
	}
	names, status, stop := p.End()
	switch {
	case stop:
		return status
	case reference == "" && !hasSize:
		return c.Usage("you must specify either %s or %s", c.Quote("--size"), c.Quote("--reference"))
	case reference != "" && hasSize && r.mode == 0:
		return c.Usage("you must specify a relative %s with %s", c.Quote("--size"), c.Quote("--reference"))
	case blocks && !hasSize:
		return c.Usage("%s was specified but %s was not", c.Quote("--io-blocks"), c.Quote("--size"))
	case len(names) == 0:
		return c.Usage("missing file operand")
	}
	if reference != "" {
		a, err := c.FS.Stat(reference)
		if err != nil {
			return c.Errorf("cannot stat %s: %s", c.QuoteArg(reference), command.Strerror(err))
		}
		r.base = int64(a.Size)
		if !hasSize {
			r.mode = '+'
		}
	}
	if blocks {
		r.n *= 4096
	}
	for _, name := range names {
		status = max(status, r.apply(c, name, noCreate))
	}
	return status
}

func (r *resize) parse(c *command.Context, arg string) (int, bool) {
	s := strings.TrimLeft(arg, " \t")
	if s != "" && strings.IndexByte("<>/%", s[0]) >= 0 {
		r.mode = s[0]
		s = strings.TrimLeft(s[1:], " \t")
	}
	neg := false
	if s != "" && (s[0] == '+' || s[0] == '-') {
		if r.mode != 0 {
			return c.Usage("multiple relative modifiers specified"), false
		}
		r.mode, neg = s[0], s[0] == '-'
		if s = s[1:]; s != "" && (s[0] < '0' || s[0] > '9') {
			s = "" // a suffix alone is no number when it has a sign
		}
	}
	n, err := gnulib.ParseSize(s, "EgGkKmMPtTYZ0")
	if err == nil && n > math.MaxInt64 {
		err = gnulib.SizeOverflow
	}
	if err != nil {
		if err == gnulib.SizeOverflow {
			return c.Errorf("Invalid number: %s: %s", c.Quote(arg), command.Strerror(syscall.EOVERFLOW)), false
		}
		return c.Errorf("Invalid number: %s", c.Quote(arg)), false
	}
	if (r.mode == '/' || r.mode == '%') && n == 0 {
		return c.Errorf("division by zero"), false
	}
	r.n = int64(n)
	if neg {
		r.n = -r.n
	}
	return 0, true
}

func (r *resize) apply(c *command.Context, name string, noCreate bool) int {
	flags := syscall.O_WRONLY
	if !noCreate {
		flags |= syscall.O_CREAT
	}
	f, err := c.FS.OpenFile(name, flags, 0o666)
	if err != nil {
		if noCreate && toErrno(err) == syscall.ENOENT {
			return 0
		}
		return c.Errorf("cannot open %s for writing: %s", c.QuoteArg(name), command.Strerror(err))
	}
	defer f.Close()
	a, err := f.Stat()
	if err != nil {
		return c.Errorf("cannot fstat %s: %s", c.QuoteArg(name), command.Strerror(err))
	}
	size, ok := r.size(&a)
	if !ok {
		return c.Errorf("overflow extending size of file %s", c.QuoteArg(name))
	}
	if err := f.Truncate(size); err != nil {
		return c.Errorf("failed to truncate %s at %d bytes: %s", c.QuoteArg(name), size, command.Strerror(err))
	}
	return 0
}

// size is the new size of a file; false when there is no such size.
func (r *resize) size(a *vfs.Attr) (int64, bool) {
	base := r.base
	if base < 0 {
		base = int64(a.Size)
	}
	switch r.mode {
	case '+', '-':
		if r.n > 0 && base > math.MaxInt64-r.n {
			return 0, false
		}
		return max(base+r.n, 0), true
	case '<':
		return min(base, r.n), true
	case '>':
		return max(base, r.n), true
	case '/':
		return base / r.n * r.n, true
	case '%':
		up := (r.n - base%r.n) % r.n
		return base + up, base <= math.MaxInt64-up
	}
	return r.n, true
}
