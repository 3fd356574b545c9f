package text

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/text/cformat"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "printf",
		Synopsis: "printf FORMAT [ARGUMENT]...\nprintf OPTION",
		Summary:  "Print ARGUMENT(s) according to FORMAT.",
		Notes: "FORMAT is that of printf(3), with %b for an argument with escapes and %q for\n" +
			"one quoted for a shell. It is used again while arguments are left.",
		RawArgs: true,
	}, printf)
}

// printfJob prints one format.
type printfJob struct {
	c      *command.Context
	args   []string
	used   int
	status int
}

// errPrintfEnd ends the output early: \c, or a mistake in the format.
var errPrintfEnd = errors.New("end")

func printf(ctx context.Context, c *command.Context, args []string) int {
	args = args[1:]
	if len(args) == 1 {
		switch args[0] {
		case "--help":
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case "--version":
			c.Stdout.WriteString("printf (vfsd)\n")
			return 0
		}
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return c.MissingOperand("")
	}
	f := printfJob{c: c, args: args[1:]}
	for {
		before := f.used
		if err := f.format(args[0]); err != nil || c.Stdout.Err() != nil || ctx.Err() != nil {
			return f.status
		}
		if f.used >= len(f.args) || f.used == before {
			break
		}
	}
	if f.used < len(f.args) {
		c.Errorf("warning: ignoring excess arguments, starting with %s", c.Quote(f.args[f.used]))
	}
	return f.status
}

// next returns the next argument, "" when there is none.
func (f *printfJob) next() (arg string, ok bool) {
	if f.used >= len(f.args) {
		return "", false
	}
	f.used++
	return f.args[f.used-1], true
}

// format prints the format once.
func (f *printfJob) format(s string) error {
	out := f.c.Stdout
	for i := 0; i < len(s); {
		switch {
		case s[i] == '%' && i+1 < len(s) && s[i+1] == '%':
			out.WriteByte('%')
			i += 2
		case s[i] == '%':
			n, err := f.conversion(s[i:])
			if err != nil {
				return err
			}
			i += n
		case s[i] == '\\':
			n, err := f.escape(s[i:], false)
			if err != nil {
				return err
			}
			i += n
		default:
			n := strings.IndexAny(s[i:], `%\`)
			if n < 0 {
				n = len(s) - i
			}
			out.WriteString(s[i : i+n])
			i += n
		}
	}
	return nil
}

// escape prints what an escape stands for, and returns its length. Octal ones
// have an extra zero in an argument of %b.
func (f *printfJob) escape(s string, argument bool) (int, error) {
	out := f.c.Stdout
	if len(s) < 2 {
		out.WriteByte('\\')
		return 1, nil
	}
	c := s[1]
	if at := strings.IndexByte(`"\abefnrtv`, c); at >= 0 {
		out.WriteByte("\"\\\a\b\x1b\f\n\r\t\v"[at])
		return 2, nil
	}
	switch {
	case c == 'c':
		return 0, errPrintfEnd
	case c == 'x':
		v, n := digitsIn(s[2:], 16, 2)
		if n == 0 {
			f.status = f.c.Errorf("missing hexadecimal number in escape")
			return 0, errPrintfEnd
		}
		out.WriteByte(byte(v))
		return 2 + n, nil
	case c >= '0' && c <= '7':
		at := 1
		if argument && c == '0' {
			at = 2
		}
		v, n := digitsIn(s[at:], 8, 3)
		out.WriteByte(byte(v))
		return at + n, nil
	case c == 'u' || c == 'U':
		return f.unicode(s)
	}
	out.WriteString(s[:2])
	return 2, nil
}

// unicode prints \uHHHH and \UHHHHHHHH.
func (f *printfJob) unicode(s string) (int, error) {
	most := 4
	if s[1] == 'U' {
		most = 8
	}
	v, n := digitsIn(s[2:], 16, most)
	if n < most {
		f.status = f.c.Errorf("missing hexadecimal number in escape")
		return 0, errPrintfEnd
	}
	if v <= 0x9f && v != 0x24 && v != 0x40 && v != 0x60 || v >= 0xd800 && v <= 0xdfff {
		f.status = f.c.Errorf("invalid universal character name \\%c%0*x", s[1], most, v)
		return 0, errPrintfEnd
	}
	switch {
	case v < utf8.RuneSelf:
		f.c.Stdout.WriteByte(byte(v))
	case f.c.Env.UTF8():
		f.c.Stdout.WriteString(string(rune(v)))
	case v < 0x10000:
		f.c.Stdout.WriteString("\\u" + pad4(v, 4))
	default:
		f.c.Stdout.WriteString("\\U" + pad4(v, 8))
	}
	return 2 + n, nil
}

func pad4(v, width int) string {
	s := strings.ToUpper(strconv.FormatInt(int64(v), 16))
	return strings.Repeat("0", max(0, width-len(s))) + s
}

// conversion prints a conversion, and returns its length.
func (f *printfJob) conversion(s string) (int, error) {
	spec, n := cformat.Parse(s[1:])
	n++
	bad := func() (int, error) {
		if n == 1 {
			n = len(s)
		}
		f.status = f.c.Errorf("%s: invalid conversion specification", s[:n])
		return 0, errPrintfEnd
	}
	if n == 1 || !validFlags(&spec) {
		return bad()
	}
	if spec.StarWidth {
		arg, _ := f.next()
		v := f.integer(arg)
		if v > math.MaxInt32 || v < math.MinInt32 {
			f.status = f.c.Errorf("invalid field width: %s", f.c.Quote(arg))
			return 0, errPrintfEnd
		}
		spec.SetWidth(v)
	}
	if spec.StarPrec {
		arg, _ := f.next()
		v := f.integer(arg)
		if v > math.MaxInt32 {
			f.status = f.c.Errorf("invalid precision: %s", f.c.Quote(arg))
			return 0, errPrintfEnd
		}
		spec.SetPrec(v)
	}
	if spec.TooWide() {
		f.status = f.c.Errorf("write error: %s", "Value too large for defined data type")
		return 0, errPrintfEnd
	}
	return n, f.convert(&spec)
}

// validFlags reports whether a conversion exists and takes its flags.
func validFlags(spec *cformat.Spec) bool {
	v := spec.Verb
	switch v {
	case 'd', 'i':
		return !spec.Alt
	case 'u':
		return !spec.Alt
	case 'o', 'x', 'X':
		return !spec.Group
	case 'a', 'A', 'e', 'E', 'f', 'F', 'g', 'G':
		return !spec.Group || v|0x20 != 'a' && v|0x20 != 'e'
	case 'c':
		return !spec.Alt && !spec.Group && !spec.Zero && spec.Prec < 0 && !spec.StarPrec
	case 's':
		return !spec.Alt && !spec.Group && !spec.Zero
	case 'b', 'q':
		return !spec.Alt && !spec.Group && !spec.Zero && !spec.Minus && !spec.Plus && !spec.Space && spec.Width == 0 && spec.Prec < 0 && !spec.StarWidth && !spec.StarPrec
	}
	return false
}

// convert prints the next argument.
func (f *printfJob) convert(spec *cformat.Spec) error {
	out := f.c.Stdout
	arg, given := f.next()
	switch spec.Verb {
	case 'b':
		return f.withEscapes(arg)
	case 'q':
		out.WriteString(f.c.QuoteName(arg))
	case 'c':
		if arg == "" {
			arg = "\x00"
		}
		out.WriteString(spec.String(arg[:1]))
	case 's':
		out.WriteString(spec.String(arg))
	case 'd', 'i':
		v := int64(0)
		if given {
			v = f.integer(arg)
		}
		out.WriteString(spec.Int(v))
	case 'o', 'u', 'x', 'X':
		v := uint64(0)
		if given {
			v = f.unsigned(arg)
		}
		out.WriteString(spec.Uint(v))
	default:
		v := cformat.Value{Float: cformat.NewFloat()}
		if given {
			v = f.float(arg)
		}
		if v.NaN {
			out.WriteString(spec.NaN(v.Negative))
		} else {
			out.WriteString(spec.BigFloat(v.Float))
		}
	}
	return nil
}

func (f *printfJob) withEscapes(arg string) error {
	for i := 0; i < len(arg); {
		if arg[i] != '\\' {
			f.c.Stdout.WriteByte(arg[i])
			i++
			continue
		}
		n, err := f.escape(arg[i:], true)
		if err != nil {
			return err
		}
		i += n
	}
	return nil
}

// quoted returns the value of an argument that is a quote and a character.
func (f *printfJob) quoted(arg string) (rune, bool) {
	if len(arg) < 2 || arg[0] != '"' && arg[0] != '\'' {
		return 0, false
	}
	r, n := rune(arg[1]), 1
	if f.c.Env.UTF8() {
		if d, k := utf8.DecodeRuneInString(arg[1:]); d != utf8.RuneError || k > 1 {
			r, n = d, k
		}
	}
	if rest := arg[1+n:]; rest != "" {
		f.c.Errorf("warning: %s: character(s) following character constant have been ignored", rest)
	}
	return r, true
}

// judge reports what is wrong with a number of which n bytes were read.
func (f *printfJob) judge(arg string, n int, overflow bool) {
	switch {
	case overflow:
		f.status = f.c.Errorf("%s: Numerical result out of range", f.c.Quote(arg))
	case n == 0:
		f.status = f.c.Errorf("%s: expected a numeric value", f.c.Quote(arg))
	case n < len(arg):
		f.status = f.c.Errorf("%s: value not completely converted", f.c.Quote(arg))
	}
}

// integer reads an argument as strtoimax(3) does.
func (f *printfJob) integer(arg string) int64 {
	if r, ok := f.quoted(arg); ok {
		return int64(r)
	}
	if arg == "" {
		return 0
	}
	v, neg, n, overflow := strtoumax(arg)
	switch {
	case neg && (overflow || v > 1<<63):
		f.judge(arg, n, true)
		return math.MinInt64
	case !neg && (overflow || v > math.MaxInt64):
		f.judge(arg, n, true)
		return math.MaxInt64
	}
	f.judge(arg, n, false)
	if neg {
		return -int64(v)
	}
	return int64(v)
}

// unsigned reads an argument as strtoumax(3) does.
func (f *printfJob) unsigned(arg string) uint64 {
	if r, ok := f.quoted(arg); ok {
		return uint64(r)
	}
	if arg == "" {
		return 0
	}
	v, neg, n, overflow := strtoumax(arg)
	f.judge(arg, n, overflow)
	if neg && !overflow {
		v = -v
	}
	return v
}

func (f *printfJob) float(arg string) cformat.Value {
	if r, ok := f.quoted(arg); ok {
		return cformat.Value{Float: cformat.NewFloat().SetInt64(int64(r))}
	}
	if arg == "" {
		return cformat.Value{Float: cformat.NewFloat()}
	}
	v, n := cformat.ParseFloat(arg)
	f.judge(arg, n, false)
	if n == 0 {
		v.Float = cformat.NewFloat()
	}
	return v
}

// strtoumax reads a number with base 0: hexadecimal after 0x, octal after 0.
func strtoumax(s string) (v uint64, neg bool, n int, overflow bool) {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r') {
		i++
	}
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		neg = s[i] == '-'
		i++
	}
	base := 10
	if i < len(s) && s[i] == '0' {
		base = 8
		if i+2 < len(s) && s[i+1]|0x20 == 'x' && isHex(s[i+2]) {
			base = 16
			i += 2
		}
	}
	start := i
	for i < len(s) {
		d, k := digitsIn(s[i:i+1], base, 1)
		if k == 0 {
			break
		}
		if v > (math.MaxUint64-uint64(d))/uint64(base) {
			overflow = true
		}
		v = v*uint64(base) + uint64(d)
		i++
	}
	if i == start {
		return 0, neg, 0, false
	}
	if overflow {
		v = math.MaxUint64
	}
	return v, neg, i, overflow
}
