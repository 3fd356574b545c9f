package files

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const csplitSuppress = 256

func init() {
	command.Register(command.Info{
		Name:     "csplit",
		Synopsis: "csplit [OPTION]... FILE PATTERN...",
		Summary:  "Output pieces of FILE separated by PATTERN(s) to files 'xx00', 'xx01', ...,\nand output byte counts of each piece to standard output.",
		Options: []command.Option{
			{Short: 'b', Long: "suffix-format", Arg: command.RequiredArgument, ArgName: "FORMAT", Help: "use sprintf FORMAT instead of %02d"},
			{Short: 'f', Long: "prefix", Arg: command.RequiredArgument, ArgName: "PREFIX", Help: "use PREFIX instead of 'xx'"},
			{Short: 'k', Long: "keep-files", Help: "do not remove output files on errors"},
			{Long: "suppress-matched", ID: csplitSuppress, Help: "suppress the lines matching PATTERN"},
			{Short: 'n', Long: "digits", Arg: command.RequiredArgument, ArgName: "DIGITS", Help: "use specified number of digits instead of 2"},
			{Short: 's', Long: "quiet", Help: "do not print counts of output file sizes"},
			{Short: 'q', Long: "silent", ID: 's', Help: "the same"},
			{Short: 'z', Long: "elide-empty-files", Help: "suppress empty output files"},
		},
		Notes: "Each PATTERN may be:\n  INTEGER            copy up to but not including specified line number\n  /REGEXP/[OFFSET]   copy up to but not including a matching line\n  %REGEXP%[OFFSET]   skip to, but not including a matching line\n  {INTEGER}          repeat the previous pattern specified number of times\n  {*}                repeat the previous pattern as many times as possible",
	}, csplit)
}

// control is one pattern of csplit.
type control struct {
	arg     string
	line    int // a line number, when re is nil
	re      *regex.Regexp
	skip    bool // %REGEXP%
	offset  int
	repeat  int
	forever bool
}

// contextSplitter is one run of csplit.
type contextSplitter struct {
	c   *command.Context
	ctx context.Context

	prefix, format string
	digits         int
	keep, suppress bool
	quiet, elide   bool
	controls       []control
	in             *bufio.Reader
	held           []string // lines read ahead, from number first on
	first          int
	eof            bool
	names          []string
	out            vfs.File
	w              *bufio.Writer
	bytes          int64
}

func csplit(ctx context.Context, c *command.Context, args []string) int {
	s := contextSplitter{c: c, ctx: ctx, prefix: "xx", digits: 2, first: 1}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'b':
			s.format = p.Arg()
		case 'f':
			s.prefix = p.Arg()
		case 'k':
			s.keep = true
		case 'n':
			n, err := strconv.Atoi(p.Arg())
			if err != nil || n < 0 || n > 1000 {
				return c.Errorf("invalid number: %s", c.Quote(p.Arg()))
			}
			s.digits = n
		case 's':
			s.quiet = true
		case 'z':
			s.elide = true
		case csplitSuppress:
			s.suppress = true
		}
	}
	names, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(names) == 0:
		return c.MissingOperand("")
	case len(names) == 1:
		return c.MissingOperand(names[0])
	}
	if s.format != "" {
		if status, ok := s.checkFormat(); !ok {
			return status
		}
	}
	if status, ok := s.parse(names[1:]); !ok {
		return status
	}
	f, err := c.Open(names[0])
	if err != nil {
		return c.Errorf("cannot open %s for reading: %s", c.QuoteArg(names[0]), command.Strerror(err))
	}
	defer f.Close()
	s.in = bufio.NewReaderSize(f, copySize)
	status = s.run()
	if status != 0 && !s.keep {
		for _, name := range s.names {
			c.FS.Unlink(name)
		}
	}
	return status
}

// checkFormat accepts formats with one conversion of an integer.
func (s *contextSplitter) checkFormat() (int, bool) {
	rest := strings.ReplaceAll(s.format, "%%", "")
	i := strings.IndexByte(rest, '%')
	if i < 0 {
		return s.c.Errorf("missing %% conversion specification in suffix"), false
	}
	rest = strings.TrimLeft(rest[i+1:], "-+ 0#'")
	rest = strings.TrimLeft(rest, "0123456789.")
	switch {
	case rest == "":
		return s.c.Errorf("missing conversion specifier in suffix"), false
	case strings.IndexByte("diuoxX", rest[0]) < 0:
		return s.c.Errorf("invalid conversion specifier in suffix: %c", rest[0]), false
	case strings.Contains(rest[1:], "%"):
		return s.c.Errorf("too many %% conversion specifications in suffix"), false
	}
	return 0, true
}

func (s *contextSplitter) name(n int) string {
	if s.format == "" {
		return fmt.Sprintf("%s%0*d", s.prefix, s.digits, n)
	}
	return s.prefix + fmt.Sprintf(strings.NewReplacer("i", "d", "u", "d", "'", "").Replace(s.format), n)
}

// parse reads the patterns.
func (s *contextSplitter) parse(args []string) (int, bool) {
	c := s.c
	last := 0
	for i := 0; i < len(args); i++ {
		k := control{arg: args[i]}
		switch a := args[i]; {
		case a != "" && (a[0] == '/' || a[0] == '%'):
			if status, ok := s.regexp(&k, a); !ok {
				return status, false
			}
		default:
			n, err := gnulib.ParseSize(a, "")
			if err != nil {
				return c.Errorf("%s: invalid pattern", c.Quote(a)), false
			}
			if n == 0 {
				return c.Errorf("%s: line number must be greater than zero", a), false
			}
			if int(n) < last {
				return c.Errorf("line number %s is smaller than preceding line number, %d", c.Quote(a), last), false
			}
			if int(n) == last {
				c.Errorf("warning: line number %s is the same as preceding line number", c.Quote(a))
			}
			k.line, last = int(n), int(n)
		}
		if i+1 < len(args) && strings.HasPrefix(args[i+1], "{") {
			i++
			count, ok := strings.CutSuffix(args[i][1:], "}")
			if !ok {
				return c.Errorf("%s: '}' is required in repeat count", c.Quote(args[i])), false
			}
			if count == "*" {
				k.forever = true
			} else {
				n, err := gnulib.ParseSize(count, "")
				if err != nil || n > 1<<40 {
					return c.Errorf("%s}: integer required between '{' and '}'", c.Quote(args[i][:len(args[i])-1])), false
				}
				k.repeat = int(n)
			}
		}
		s.controls = append(s.controls, k)
	}
	return 0, true
}

func (s *contextSplitter) regexp(k *control, a string) (int, bool) {
	end := strings.LastIndexByte(a[1:], a[0]) + 1
	if end == 0 {
		return s.c.Errorf("%s: closing delimiter '%c' missing", s.c.QuoteName(a), a[0]), false
	}
	k.skip = a[0] == '%'
	if off := a[end+1:]; off != "" {
		n, err := strconv.Atoi(off)
		if err != nil {
			return s.c.Errorf("%s: integer expected after delimiter", s.c.Quote(a)), false
		}
		k.offset = n
	}
	flags := regex.Flags(0)
	if s.c.Env.UTF8() {
		flags |= regex.UTF8
	}
	re, err := regex.Compile(a[1:end], regex.Basic, flags)
	if err != nil {
		return s.c.Errorf("%s: invalid regular expression: %v", s.c.Quote(a), err), false
	}
	k.re = re
	return 0, true
}

// line returns line n, reading ahead as far as needed; false past the end.
func (s *contextSplitter) line(n int) (string, bool) {
	for !s.eof && n >= s.first+len(s.held) && s.ctx.Err() == nil {
		text, err := s.in.ReadString('\n')
		if err != nil {
			s.eof = true
		}
		if text == "" {
			break
		}
		if s.c.Memory.Grow(int64(len(text))) != nil {
			s.c.Errorf("memory exhausted")
			s.eof = true
			break
		}
		s.held = append(s.held, text)
	}
	if n < s.first || n >= s.first+len(s.held) {
		return "", false
	}
	return s.held[n-s.first], true
}

// drop forgets the lines before n.
func (s *contextSplitter) drop(n int) {
	for s.first < n && len(s.held) > 0 {
		s.c.Memory.Shrink(int64(len(s.held[0])))
		s.held = s.held[1:]
		s.first++
	}
}

// emit writes the lines up to, not including, n.
func (s *contextSplitter) emit(n int) error {
	for i := s.first; i < n; i++ {
		text, ok := s.line(i)
		if !ok {
			break
		}
		if _, err := s.w.WriteString(text); err != nil {
			return err
		}
		s.bytes += int64(len(text))
		s.drop(i + 1)
	}
	return nil
}

func (s *contextSplitter) open() error {
	name := s.name(len(s.names))
	f, err := s.c.FS.Create(name, 0o666)
	if err != nil {
		return &vfs.Error{Op: "open", Path: name, Err: err}
	}
	s.names = append(s.names, name)
	s.out, s.w, s.bytes = f, bufio.NewWriterSize(f, copySize), 0
	return nil
}

func (s *contextSplitter) close() error {
	if s.w == nil {
		return nil
	}
	err := s.w.Flush()
	if cerr := s.out.Close(); err == nil {
		err = cerr
	}
	s.w = nil
	if err != nil {
		return err
	}
	if s.bytes == 0 && s.elide {
		name := s.names[len(s.names)-1]
		s.names = s.names[:len(s.names)-1]
		return s.c.FS.Unlink(name)
	}
	if !s.quiet {
		fmt.Fprintf(s.c.Stdout, "%d\n", s.bytes)
	}
	return nil
}

// errReported is an error that was already told.
var errReported = io.ErrUnexpectedEOF

func (s *contextSplitter) run() int {
	err := s.pieces()
	if cerr := s.close(); err == nil {
		err = cerr
	}
	switch {
	case err == errReported, s.ctx.Err() != nil:
		return 1
	case err != nil:
		name := ""
		if len(s.names) > 0 {
			name = s.names[len(s.names)-1]
		}
		return s.c.Fail(name, err)
	}
	return 0
}

func (s *contextSplitter) pieces() error {
	for i := range s.controls {
		k := &s.controls[i]
		for n := 0; k.forever || n <= k.repeat; n++ {
			done, err := s.piece(k, n)
			if err != nil {
				return err
			}
			if done {
				break
			}
		}
	}
	if err := s.open(); err != nil {
		return err
	}
	return s.emit(1 << 62)
}

// piece makes the piece before the n-th repetition of a pattern; done says that
// {*} has found its end.
func (s *contextSplitter) piece(k *control, n int) (done bool, err error) {
	if k.re == nil {
		return s.pieceAtLine(k, n)
	}
	from := s.first
	if n > 0 || len(s.names) > 0 || s.first > 1 {
		if !s.suppress {
			from++
		}
	}
	at := from
	for ; ; at++ {
		text, ok := s.line(at)
		if !ok {
			return s.noMatch(k, n)
		}
		found, merr := k.re.Match(s.ctx, []byte(strings.TrimSuffix(text, "\n")))
		if merr != nil {
			return false, merr
		}
		if found {
			break
		}
	}
	to := at + k.offset
	if k.skip {
		if to < s.first {
			return false, s.outOfRange(k, n)
		}
		s.line(to)
		s.drop(to)
	} else {
		if err := s.open(); err != nil {
			return false, err
		}
		if to < s.first {
			return false, s.outOfRange(k, n)
		}
		if err := s.emit(to); err != nil {
			return false, err
		}
		if err := s.close(); err != nil {
			return false, err
		}
	}
	if s.suppress {
		s.drop(s.first + 1)
	}
	return false, nil
}

func (s *contextSplitter) outOfRange(k *control, n int) error {
	s.c.Errorf("%s: line number out of range", s.c.Quote(k.arg))
	return errReported
}

// noMatch ends a pattern that has no line left.
func (s *contextSplitter) noMatch(k *control, n int) (bool, error) {
	if k.forever {
		return true, nil
	}
	if !k.skip {
		if err := s.open(); err != nil {
			return false, err
		}
		if err := s.emit(1 << 62); err != nil {
			return false, err
		}
		if err := s.close(); err != nil {
			return false, err
		}
	}
	if n > 0 {
		s.c.Errorf("%s: match not found on repetition %d", s.c.Quote(k.arg), n)
	} else {
		s.c.Errorf("%s: match not found", s.c.Quote(k.arg))
	}
	return false, errReported
}

// pieceAtLine makes the piece before a line number.
func (s *contextSplitter) pieceAtLine(k *control, n int) (bool, error) {
	to := k.line * (n + 1)
	if err := s.open(); err != nil {
		return false, err
	}
	if err := s.emit(to); err != nil {
		return false, err
	}
	if _, ok := s.line(to); !ok || s.first < to {
		if err := s.close(); err != nil {
			return false, err
		}
		if n > 0 {
			s.c.Errorf("%s: line number out of range on repetition %d", s.c.Quote(k.arg), n)
		} else {
			s.c.Errorf("%s: line number out of range", s.c.Quote(k.arg))
		}
		return false, errReported
	}
	if err := s.close(); err != nil {
		return false, err
	}
	if s.suppress {
		s.drop(s.first + 1)
	}
	return false, nil
}
