package text

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "nl",
		Synopsis: "nl [OPTION]... [FILE]...",
		Summary: "Write each FILE to standard output, with line numbers added.\n\n" +
			"With no FILE, or when FILE is -, read standard input.",
		Options: []command.Option{
			{Short: 'b', Long: "body-numbering", Arg: command.RequiredArgument, ArgName: "STYLE", Help: "use STYLE for numbering body lines"},
			{Short: 'd', Long: "section-delimiter", Arg: command.RequiredArgument, ArgName: "CC", Help: "use CC for logical page delimiters"},
			{Short: 'f', Long: "footer-numbering", Arg: command.RequiredArgument, ArgName: "STYLE", Help: "use STYLE for numbering footer lines"},
			{Short: 'h', Long: "header-numbering", Arg: command.RequiredArgument, ArgName: "STYLE", Help: "use STYLE for numbering header lines"},
			{Short: 'i', Long: "line-increment", Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "line number increment at each line"},
			{Short: 'l', Long: "join-blank-lines", Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "group of NUMBER empty lines counted as one"},
			{Short: 'n', Long: "number-format", Arg: command.RequiredArgument, ArgName: "FORMAT", Help: "insert line numbers according to FORMAT"},
			{Short: 'p', Long: "no-renumber", Help: "do not reset line numbers for each section"},
			{Short: 's', Long: "number-separator", Arg: command.RequiredArgument, ArgName: "STRING", Help: "add STRING after (possible) line number"},
			{Short: 'v', Long: "starting-line-number", Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "first line number for each section"},
			{Short: 'w', Long: "number-width", Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "use NUMBER columns for line numbers"},
		},
		Notes: "STYLE is a (all lines), t (nonempty lines), n (no lines) or pBRE (lines that\nmatch). FORMAT is ln, rn or rz.",
	}, nl)
}

// nlStyle says which lines of a section have numbers.
type nlStyle struct {
	kind byte // 'a', 't', 'n', 'p'
	re   *regex.Regexp
}

// numberer numbers lines.
type numberer struct {
	c                    *command.Context
	body, header, footer nlStyle
	present              *nlStyle
	delim                string
	increment, start     int64
	blanks, join         int64
	format               string
	keep                 bool
	separator            string
	width                int
	number               int64
	overflow             bool
}

func nl(ctx context.Context, c *command.Context, args []string) int {
	n := numberer{c: c, body: nlStyle{kind: 't'}, header: nlStyle{kind: 'n'}, footer: nlStyle{kind: 'n'},
		delim: `\:`, increment: 1, start: 1, join: 1, format: "rn", separator: "\t", width: 6}
	p := c.Options(args)
	bad := false
	for p.Next() {
		switch err := n.option(p); err {
		case nil:
		case errNlStyle:
			bad = true // told, and so are others that may come
		default:
			return 1
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if bad {
		io.WriteString(c.Stderr, "Try 'nl --help' for more information.\n")
		return 1
	}
	n.number, n.present = n.start, &n.body
	return each(ctx, c, orStdin(files), func(_ string, r io.Reader) error { return n.file(ctx, r) })
}

// errNlStyle says that a style was wrong, and that this was reported.
var errNlStyle = errors.New("style")

// option applies one option. A mistake has been reported when it returns an
// error.
func (n *numberer) option(p *command.Parser) (err error) {
	arg := p.Arg()
	switch p.ID() {
	case 'b':
		return n.style(&n.body, arg, "body")
	case 'h':
		return n.style(&n.header, arg, "header")
	case 'f':
		return n.style(&n.footer, arg, "footer")
	case 'd':
		n.delim = arg
		if len(n.delim) == 1 {
			n.delim += ":"
		}
	case 'i':
		n.increment, err = n.integer(arg, math.MinInt64, math.MaxInt64, "invalid line number increment")
	case 'l':
		n.join, err = n.integer(arg, 1, math.MaxInt64, "invalid line number of blank lines")
	case 'n':
		n.format = arg
		if arg != "ln" && arg != "rn" && arg != "rz" {
			return n.bad("invalid line numbering format", arg)
		}
	case 'p':
		n.keep = true
	case 's':
		n.separator = arg
	case 'v':
		n.start, err = n.integer(arg, math.MinInt64, math.MaxInt64, "invalid starting line number")
	case 'w':
		var w int64
		w, err = n.integer(arg, 1, math.MaxInt32, "invalid line number field width")
		n.width = int(min(w, maxNlWidth))
	}
	return err
}

// maxNlWidth bounds the width of the numbers.
const maxNlWidth = 1 << 20

func (n *numberer) bad(what, arg string) error {
	n.c.Errorf("%s: %s", what, n.c.Quote(arg))
	return errNlStyle
}

func (n *numberer) integer(arg string, lo, hi int64, what string) (int64, error) {
	v, err := strconv.ParseInt(arg, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || err == nil && (v < lo || v > hi):
		n.c.Errorf("%s: %s: %s", what, n.c.Quote(arg), command.Strerror(syscall.ERANGE))
		return 0, errReported
	case err != nil:
		n.c.Errorf("%s: %s", what, n.c.Quote(arg))
		return 0, errReported
	}
	return v, nil
}

// style reads STYLE.
func (n *numberer) style(s *nlStyle, arg, section string) error {
	kind := byte(0)
	if arg != "" {
		kind = arg[0]
	}
	switch kind {
	case 'a', 't', 'n':
		s.kind = kind
	case 'p':
		flags := regex.Flags(0)
		if n.c.Env.UTF8() {
			flags = regex.UTF8
		}
		re, err := regex.Compile(arg[1:], regex.Basic, flags)
		if err != nil {
			n.c.Errorf("Invalid regular expression")
			return errReported
		}
		s.kind, s.re = kind, re
	default:
		return n.bad("invalid "+section+" numbering style", arg)
	}
	return nil
}

// file numbers the lines of one file; the sections go on from file to file.
func (n *numberer) file(ctx context.Context, src io.Reader) error {
	r := lines.NewReader(src, n.c.Memory)
	defer r.Release()
	for {
		line, _, err := r.Next()
		if err == io.EOF || ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if s := n.section(line); s != nil {
			n.present = s
			if !n.keep {
				n.number, n.overflow = n.start, false
			}
			err = n.c.Stdout.WriteByte('\n')
		} else {
			err = n.line(ctx, line)
		}
		if err != nil {
			if n.c.Stdout.Err() != nil {
				return nil
			}
			return err
		}
	}
}

// section returns the style of the section that a line begins, nil for others.
func (n *numberer) section(line []byte) *nlStyle {
	if n.delim == "" || len(line)%len(n.delim) != 0 {
		return nil
	}
	k := len(line) / len(n.delim)
	if k < 1 || k > 3 || !bytes.Equal(line, bytes.Repeat([]byte(n.delim), k)) {
		return nil
	}
	return [...]*nlStyle{&n.footer, &n.body, &n.header}[k-1]
}

// line prints one line, with a number or without.
func (n *numberer) line(ctx context.Context, line []byte) error {
	numbered := false
	switch n.present.kind {
	case 'a':
		if n.join > 1 {
			if len(line) == 0 {
				n.blanks++
			}
			if len(line) == 0 && n.blanks < n.join {
				break
			}
			n.blanks = 0
		}
		numbered = true
	case 't':
		numbered = len(line) > 0
	case 'p':
		ok, err := n.present.re.Match(ctx, line)
		if err != nil {
			return err
		}
		numbered = ok
	}
	out := n.c.Stdout
	if numbered {
		if n.overflow {
			n.c.Errorf("line number overflow")
			return errReported
		}
		out.WriteString(n.formatted() + n.separator)
		next := n.number + n.increment
		n.overflow = n.increment > 0 && next < n.number || n.increment < 0 && next > n.number
		n.number = next
	} else {
		out.WriteString(strings.Repeat(" ", n.width+len(n.separator)))
	}
	out.Write(line)
	return out.WriteByte('\n')
}

// formatted is the present number in its column.
func (n *numberer) formatted() string {
	s := strconv.FormatInt(n.number, 10)
	pad := max(0, n.width-len(s))
	switch n.format {
	case "ln":
		return s + strings.Repeat(" ", pad)
	case "rz":
		if n.number < 0 {
			return "-" + strings.Repeat("0", pad) + s[1:]
		}
		return strings.Repeat("0", pad) + s
	}
	return strings.Repeat(" ", pad) + s
}
