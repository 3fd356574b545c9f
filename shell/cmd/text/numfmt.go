package text

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/text/cformat"
	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	optFrom = 256 + iota
	optTo
	optFromUnit
	optToUnit
	optPadding
	optHeaderLines
	optField
	optFormat
	optRound
	optSuffix
	optInvalid
	optGrouping
	optDebug
)

func init() {
	command.Register(command.Info{
		Name:     "numfmt",
		Synopsis: "numfmt [OPTION]... [NUMBER]...",
		Summary:  "Reformat NUMBER(s), or the numbers from standard input if none are specified.",
		Options: []command.Option{
			{Long: "debug", ID: optDebug, Help: "(ignored)"},
			{Short: 'd', Long: "delimiter", Arg: command.RequiredArgument, ArgName: "X", Help: "use X instead of whitespace for field delimiter"},
			{Long: "field", Arg: command.RequiredArgument, ArgName: "FIELDS", ID: optField, Help: "replace the numbers in these input fields (default=1)"},
			{Long: "format", Arg: command.RequiredArgument, ArgName: "FORMAT", ID: optFormat, Help: "use printf style floating-point FORMAT"},
			{Long: "from", Arg: command.RequiredArgument, ArgName: "UNIT", ID: optFrom, Help: "auto-scale input numbers to UNITs; default is 'none'"},
			{Long: "from-unit", Arg: command.RequiredArgument, ArgName: "N", ID: optFromUnit, Help: "specify the input unit size (instead of the default 1)"},
			{Long: "grouping", ID: optGrouping, Help: "use locale-defined grouping of digits (there is none)"},
			{Long: "header", Arg: command.OptionalArgument, ArgName: "N", ID: optHeaderLines, Help: "print (without converting) the first N header lines;\nN defaults to 1 if not specified"},
			{Long: "invalid", Arg: command.RequiredArgument, ArgName: "MODE", ID: optInvalid, Help: "failure mode for invalid numbers: MODE can be:\nabort (default), fail, warn, ignore"},
			{Long: "padding", Arg: command.RequiredArgument, ArgName: "N", ID: optPadding, Help: "pad the output to N characters; positive N will\nright-align; negative N will left-align"},
			{Long: "round", Arg: command.RequiredArgument, ArgName: "METHOD", ID: optRound, Help: "use METHOD for rounding when scaling; METHOD can be:\nup, down, from-zero (default), towards-zero, nearest"},
			{Long: "suffix", Arg: command.RequiredArgument, ArgName: "SUFFIX", ID: optSuffix, Help: "add SUFFIX to output numbers, and accept optional\nSUFFIX in input numbers"},
			{Long: "to", Arg: command.RequiredArgument, ArgName: "UNIT", ID: optTo, Help: "auto-scale output numbers to UNITs"},
			{Long: "to-unit", Arg: command.RequiredArgument, ArgName: "N", ID: optToUnit, Help: "the output unit size (instead of the default 1)"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
		},
		Notes: "UNIT is none, auto (K 1000, Ki 1024), si (1000), iec (1024) or iec-i (1024, Ki).",
	}, numfmt)
}

// How suffixes scale.
const (
	scaleNone = iota
	scaleAuto
	scaleSI
	scaleIEC
	scaleIECI
)

// How numbers are rounded.
const (
	roundUp = iota
	roundDown
	roundFromZero
	roundToZero
	roundNearest
)

// What to do about what is no number.
const (
	invalidAbort = iota
	invalidFail
	invalidWarn
	invalidIgnore
)

// numfmtJob is what the options ask for.
type numfmtJob struct {
	c                *command.Context
	delim            int // -1: blanks
	fields           []interval
	format           seqFormat
	hasFormat        bool
	zeroPad          bool
	from, to         int
	fromUnit, toUnit *big.Float
	header           uint64
	invalid          int
	padding          int
	left             bool
	autoPad          bool
	round            int
	suffix           string
	eol              byte
	status           int
}

// errNumfmt ends the command at a number that cannot be converted.
var errNumfmt = errors.New("number")

const suffixes = "KMGTPEZY"

func numfmt(ctx context.Context, c *command.Context, args []string) int {
	one := cformat.NewFloat().SetInt64(1)
	j := &numfmtJob{c: c, delim: -1, fields: []interval{{1, 1}}, fromUnit: one, toUnit: one, round: roundFromZero, eol: '\n'}
	p := c.Options(args)
	for p.Next() {
		if !j.option(p) {
			return 1
		}
	}
	numbers, status, stop := p.End()
	if stop {
		return status
	}
	j.autoPad = j.padding == 0 && j.delim < 0
	var err error
	for _, n := range numbers {
		if err = j.line(n); err != nil {
			break
		}
		c.Stdout.WriteByte(j.eol)
	}
	if len(numbers) == 0 {
		err = j.stdin(ctx)
	}
	switch {
	case err == errNumfmt:
		return 2
	case err != nil:
		return c.Errorf("error reading input: %s", command.Strerror(err))
	}
	return j.status
}

// option applies one option; false after a mistake.
func (j *numfmtJob) option(p *command.Parser) (ok bool) {
	arg := p.Arg()
	ok = true
	units := []gnulib.Choice{{Word: "none", Value: scaleNone}, {Word: "si", Value: scaleSI}, {Word: "iec", Value: scaleIEC}, {Word: "iec-i", Value: scaleIECI}}
	switch p.ID() {
	case optFrom:
		j.from, ok = gnulib.MatchArg(j.c, "--from", arg, append(units[:1:1], append([]gnulib.Choice{{Word: "auto", Value: scaleAuto}}, units[1:]...)...))
	case optTo:
		j.to, ok = gnulib.MatchArg(j.c, "--to", arg, units)
	case optFromUnit:
		j.fromUnit, ok = j.unit(arg)
	case optToUnit:
		j.toUnit, ok = j.unit(arg)
	case optRound:
		j.round, ok = gnulib.MatchArg(j.c, "--round", arg, []gnulib.Choice{{Word: "up", Value: roundUp}, {Word: "down", Value: roundDown}, {Word: "from-zero", Value: roundFromZero}, {Word: "towards-zero", Value: roundToZero}, {Word: "nearest", Value: roundNearest}})
	case optInvalid:
		j.invalid, ok = gnulib.MatchArg(j.c, "--invalid", arg, []gnulib.Choice{{Word: "abort", Value: invalidAbort}, {Word: "fail", Value: invalidFail}, {Word: "warn", Value: invalidWarn}, {Word: "ignore", Value: invalidIgnore}})
	case optPadding:
		n, err := strconv.Atoi(arg)
		if err != nil || n == 0 {
			j.c.Errorf("invalid padding value %s", j.c.Quote(arg))
			return false
		}
		j.left = n < 0
		j.padding = min(max(n, -n), cformat.MaxWidth)
	case optHeaderLines:
		j.header = 1
		if p.HasArg() {
			n, err := strconv.ParseUint(arg, 10, 64)
			if err != nil || n == 0 {
				j.c.Errorf("invalid header value %s", j.c.Quote(arg))
				return false
			}
			j.header = n
		}
	case optField:
		k := cutter{c: j.c, fields: true}
		if arg == "-" {
			arg = "1-"
		}
		ok = k.parseList(arg)
		j.fields = k.ranges
	case optFormat:
		ok = j.setFormat(arg)
	case optSuffix:
		j.suffix = arg
	case 'd':
		if len(arg) > 1 {
			j.c.Errorf("the delimiter must be a single character")
			return false
		}
		j.delim = 0
		if arg != "" {
			j.delim = int(arg[0])
		}
	case 'z':
		j.eol = 0
	}
	return ok
}

// unit reads a size with a suffix.
func (j *numfmtJob) unit(arg string) (*big.Float, bool) {
	n := digitsOf(arg)
	v, _ := new(big.Float).SetPrec(cformat.LongDouble).SetString("0" + arg[:n])
	if n == 0 {
		v = cformat.NewFloat().SetInt64(1)
	}
	rest := arg[n:]
	power := 0
	if rest != "" {
		power = strings.IndexByte(suffixes, rest[0]&^0x20) + 1
	}
	base := int64(1000)
	if strings.HasSuffix(rest, "i") {
		base = 1024
	}
	if rest != "" && (power == 0 || len(rest) > 2 || len(rest) == 2 && rest[1] != 'i') || v == nil || v.Sign() == 0 || arg == "" {
		j.c.Errorf("invalid unit size: %s", j.c.Quote(arg))
		return nil, false
	}
	for range power {
		v.Mul(v, cformat.NewFloat().SetInt64(base))
	}
	return v, true
}

// setFormat reads the format of --format: one %f.
func (j *numfmtJob) setFormat(s string) bool {
	f := seqFormat{}
	var text strings.Builder
	found := false
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			text.WriteByte(s[i])
			continue
		}
		if strings.HasPrefix(s[i:], "%%") {
			text.WriteByte('%')
			i++
			continue
		}
		if found {
			j.c.Errorf("format %s has too many %% directives", j.c.Quote(s))
			return false
		}
		spec, n := cformat.Parse(s[i+1:])
		switch {
		case n == 0:
			j.c.Errorf("format %s ends in %%", j.c.Quote(s))
			return false
		case spec.Verb != 'f' || spec.TooWide() || spec.StarWidth || spec.StarPrec || spec.Plus || spec.Space || spec.Alt:
			j.c.Errorf("invalid format %s, directive must be %%[0]['][-][N][.][N]f", j.c.Quote(s))
			return false
		}
		found = true
		f.spec, f.prefix = spec, text.String()
		text.Reset()
		i += n
	}
	if !found {
		j.c.Errorf("format %s has no %% directive", j.c.Quote(s))
		return false
	}
	f.suffix = text.String()
	j.format, j.hasFormat = f, true
	if w := f.spec.Width; w > 0 {
		if f.spec.Zero && !f.spec.Minus {
			j.zeroPad = true
		} else {
			j.padding, j.left = w, f.spec.Minus
		}
	}
	return true
}

// stdin converts the lines of standard input.
func (j *numfmtJob) stdin(ctx context.Context) error {
	r := lines.NewReader(j.c.Stdin, j.c.Memory)
	r.Delim = j.eol
	defer r.Release()
	for n := uint64(0); ; n++ {
		line, ended, err := r.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if n < j.header {
			j.c.Stdout.Write(line)
		} else if err := j.line(string(line)); err != nil {
			return err
		}
		if ended {
			j.c.Stdout.WriteByte(j.eol)
		}
		if j.c.Stdout.Err() != nil {
			return nil
		}
	}
}

// selected reports whether a field is to be converted.
func (j *numfmtJob) selected(n uint64) bool {
	for _, f := range j.fields {
		if n >= f.lo && n <= f.hi {
			return true
		}
	}
	return false
}

// line converts the fields of a line.
func (j *numfmtJob) line(s string) error {
	for n := uint64(1); ; n++ {
		var field, sep string
		if j.delim >= 0 {
			i := strings.IndexByte(s, byte(j.delim))
			if i < 0 {
				i = len(s)
			}
			field = s[:i]
			if i < len(s) {
				sep = s[i : i+1]
			}
			s = s[i+len(sep):]
		} else {
			i := 0
			for i < len(s) && isBlank(s[i]) {
				i++
			}
			for i < len(s) && !isBlank(s[i]) {
				i++
			}
			field = s[:i]
			if i < len(s) {
				sep = " "
				i++
			}
			s = s[i:]
		}
		if j.selected(n) {
			if err := j.field(field, n > 1); err != nil {
				return err
			}
		} else {
			j.c.Stdout.WriteString(field)
		}
		if sep == "" {
			return nil
		}
		j.c.Stdout.WriteString(sep)
	}
}

// field converts one number; behind says that another field is before it.
func (j *numfmtJob) field(s string, behind bool) error {
	text := strings.TrimLeft(s, " \t\n")
	padding, left := j.padding, j.left
	if j.autoPad {
		padding, left = 0, false
		// The width that the number had, blanks before it included.
		if lead := len(s) - len(text); lead > 0 || behind {
			padding = len(s)
		}
	}
	number := text
	if j.suffix != "" {
		number = strings.TrimSuffix(number, j.suffix)
	}
	v, prec, err := j.parse(number)
	if err == nil {
		var out string
		if out, err = j.print(v, prec); err == nil {
			j.c.Stdout.WriteString(j.format.prefix + pad(out+j.suffix, padding, left) + j.format.suffix)
			return nil
		}
	}
	if j.invalid != invalidIgnore {
		j.c.Stdout.Flush()
		j.c.Errorf("%s", err)
	}
	switch j.invalid {
	case invalidAbort:
		return errNumfmt
	case invalidFail:
		j.status = 2
	}
	j.c.Stdout.WriteString(s)
	return nil
}

func pad(s string, width int, left bool) string {
	blanks := strings.Repeat(" ", max(0, width-len(s)))
	if left {
		return s + blanks
	}
	return blanks + s
}

// maxDigits is how many digits a long double has.
const maxDigits = 18

// parse reads a number with its suffix, and how many decimals it has.
func (j *numfmtJob) parse(s string) (v *big.Float, prec int, err error) {
	d := strings.TrimPrefix(s, "-")
	whole := digitsOf(d)
	n := whole
	if n < len(d) && d[n] == '.' {
		frac := digitsOf(d[n+1:])
		if frac == 0 || whole == 0 && frac == 0 {
			return nil, 0, fmt.Errorf("invalid number: %s", j.c.Quote(s))
		}
		n += 1 + frac
		prec = frac
	}
	if n == 0 {
		return nil, 0, fmt.Errorf("invalid number: %s", j.c.Quote(s))
	}
	if len(strings.TrimLeft(d[:whole], "0")) > maxDigits+9 {
		return nil, 0, fmt.Errorf("value too large to be converted: %s", j.c.Quote(s))
	}
	v, ok := cformat.NewFloat().SetString(d[:n])
	if !ok {
		return nil, 0, fmt.Errorf("invalid number: %s", j.c.Quote(s))
	}
	scale, err := j.scaleOf(strings.TrimLeft(d[n:], " \t"), s)
	if err != nil {
		return nil, 0, err
	}
	v.Mul(v, scale)
	if scale.Cmp(cformat.NewFloat().SetInt64(1)) != 0 {
		prec = 0
	}
	if strings.HasPrefix(s, "-") {
		v.Neg(v)
	}
	return v.Mul(v, j.fromUnit).Quo(v, j.toUnit), prec, nil
}

// scaleOf reads the suffix behind a number.
func (j *numfmtJob) scaleOf(rest, whole string) (*big.Float, error) {
	one := cformat.NewFloat().SetInt64(1)
	if rest == "" {
		return one, nil
	}
	power := strings.IndexByte(suffixes, rest[0]) + 1
	if rest[0] == 'k' {
		power = 1
	}
	if power == 0 {
		return nil, fmt.Errorf("invalid suffix in input: %s", j.c.Quote(whole))
	}
	if j.from == scaleNone {
		return nil, fmt.Errorf("rejecting suffix in input: %s (consider using --from)", j.c.Quote(whole))
	}
	base := int64(1024)
	after := rest[1:]
	switch j.from {
	case scaleSI:
		base = 1000
	case scaleAuto:
		base = 1000
		if strings.HasPrefix(after, "i") {
			base, after = 1024, after[1:]
		}
	case scaleIECI:
		if !strings.HasPrefix(after, "i") {
			return nil, fmt.Errorf("missing 'i' suffix in input: %s (e.g Ki/Mi/Gi)", j.c.Quote(whole))
		}
		after = after[1:]
	}
	if after != "" {
		return nil, fmt.Errorf("invalid suffix in input %s: %s", j.c.Quote(whole), j.c.Quote(after))
	}
	for range power {
		one.Mul(one, cformat.NewFloat().SetInt64(base))
	}
	return one, nil
}

// print writes a number in the unit that is wanted.
func (j *numfmtJob) print(v *big.Float, prec int) (string, error) {
	spec := cformat.Spec{Verb: 'f', Prec: prec}
	if j.hasFormat {
		if j.format.spec.Prec >= 0 {
			spec.Prec = j.format.spec.Prec
		} else if prec > 0 {
			spec.Prec = prec
		}
		if j.zeroPad {
			spec.Zero, spec.Width = true, j.format.spec.Width
		}
	}
	if j.to == scaleNone {
		if abs := new(big.Float).Abs(v); abs.Cmp(big.NewFloat(1e18)) >= 0 && len(strings.TrimLeft(abs.Text('f', 0), "0")) > maxDigits {
			if spec.Prec == 0 {
				return "", fmt.Errorf("value too large to be printed: '%s' (consider using --to)", shortFloat(v))
			}
			return "", fmt.Errorf("value/precision too large to be printed: '%s/%d' (consider using --to)", shortFloat(v), spec.Prec)
		}
		return spec.BigFloat(j.rounded(v, spec.Prec)), nil
	}
	base := int64(1024)
	if j.to == scaleSI {
		base = 1000
	}
	b := cformat.NewFloat().SetInt64(base)
	x := new(big.Float).Copy(v)
	power := 0
	for new(big.Float).Abs(x).Cmp(b) >= 0 {
		x.Quo(x, b)
		power++
	}
	x, power = j.scaleDown(x, power, b)
	if power > len(suffixes) {
		return "", fmt.Errorf("value too large to be printed: '%s' (cannot handle values > 999Y)", shortFloat(v))
	}
	if !j.hasFormat || j.format.spec.Prec < 0 {
		spec.Prec = 0
		if power > 0 && new(big.Float).Abs(x).Cmp(big.NewFloat(10)) < 0 {
			spec.Prec = 1
		}
	}
	s := spec.BigFloat(x)
	if power > 0 {
		s += suffixes[power-1 : power]
		if j.to == scaleIECI {
			s += "i"
		}
	}
	return s, nil
}

func shortFloat(v *big.Float) string { return v.Text('g', 6) }

// scaleDown rounds a scaled number, which may carry it to the next unit.
func (j *numfmtJob) scaleDown(x *big.Float, power int, base *big.Float) (*big.Float, int) {
	prec := 0
	if j.hasFormat && j.format.spec.Prec >= 0 {
		prec = min(power*3, j.format.spec.Prec)
	} else if new(big.Float).Abs(x).Cmp(big.NewFloat(10)) < 0 && power > 0 {
		prec = 1
	}
	x = j.rounded(x, prec)
	if new(big.Float).Abs(x).Cmp(base) >= 0 {
		return x.Quo(x, base), power + 1
	}
	return x, power
}

// rounded rounds to that many decimals the way --round asks for.
func (j *numfmtJob) rounded(v *big.Float, prec int) *big.Float {
	ten := cformat.NewFloat().SetInt64(10)
	scale := cformat.NewFloat().SetInt64(1)
	for range prec {
		scale.Mul(scale, ten)
	}
	x := cformat.NewFloat().Mul(v, scale)
	whole, _ := x.Int(nil)
	t := cformat.NewFloat().SetInt(whole)
	diff := new(big.Float).Sub(x, t)
	away := int64(1)
	if x.Signbit() {
		away = -1
	}
	up := false
	switch j.round {
	case roundUp:
		up = diff.Sign() > 0
	case roundDown:
		up = diff.Sign() < 0
	case roundFromZero:
		up = diff.Sign() != 0
	case roundNearest:
		up = new(big.Float).Abs(diff).Cmp(big.NewFloat(0.5)) >= 0
	}
	if up {
		t.Add(t, cformat.NewFloat().SetInt64(away))
	}
	return t.Quo(t, scale)
}
