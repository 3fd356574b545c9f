package text

import (
	"context"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/text/cformat"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "seq",
		Synopsis: "seq [OPTION]... LAST\nseq [OPTION]... FIRST LAST\nseq [OPTION]... FIRST INCREMENT LAST",
		Summary:  "Print numbers from FIRST to LAST, in steps of INCREMENT.",
		Options: []command.Option{
			{Short: 'f', Long: "format", Arg: command.RequiredArgument, ArgName: "FORMAT", Help: "use printf style floating-point FORMAT"},
			{Short: 's', Long: "separator", Arg: command.RequiredArgument, ArgName: "STRING", Help: "use STRING to separate numbers (default: \\n)"},
			{Short: 'w', Long: "equal-width", Help: "equalize width by padding with leading zeroes"},
		},
		StopAtOperand: true,
	}, seq)
}

// seqArg is an operand of seq: its value, and how it was written.
type seqArg struct {
	text      string
	value     *big.Float
	width     int
	precision int // of the decimals, autoPrecision when that is not known
}

// autoPrecision says that a number does not tell how it wants to be printed.
const autoPrecision = math.MaxInt32

// seqFormat is a format with text around it.
type seqFormat struct {
	prefix, suffix string
	spec           cformat.Spec
}

func (f *seqFormat) format(v *big.Float) string {
	return f.prefix + f.spec.BigFloat(v) + f.suffix
}

func seq(ctx context.Context, c *command.Context, args []string) int {
	separator, equal := "\n", false
	format := ""
	given := false
	p := c.Options(protectNegative(args))
	for p.Next() {
		switch p.ID() {
		case 'f':
			format, given = p.Arg(), true
		case 's':
			separator = p.Arg()
		case 'w':
			equal = true
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	switch {
	case len(operands) == 0:
		return c.Usage("missing operand")
	case len(operands) > 3:
		return c.Usage("extra operand %s", c.Quote(operands[3]))
	}
	var f seqFormat
	if given {
		var ok bool
		if f, ok = parseSeqFormat(c, format); !ok {
			return 1
		}
		if equal {
			return c.Usage("format string may not be specified when printing equal width strings")
		}
	}
	if !given && !equal && onlyDigits(operands) && (len(operands) < 3 || strings.Trim(operands[1], "0") != "") {
		return seqIntegers(ctx, c, operands, separator)
	}
	first, step, last, ok := seqOperands(c, operands)
	if !ok {
		return 1
	}
	if !given {
		f.spec = seqDefault(first, step, last, equal)
	}
	return seqNumbers(ctx, c, &f, first.value, step.value, last.value, separator)
}

// protectNegative puts "--" before an operand that looks like an option but is
// a number.
func protectNegative(args []string) []string {
	for i := 1; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-s" || a == "-f" || a == "--separator" || a == "--format":
			i++
		case len(a) > 1 && a[0] == '-' && (a[1] == '.' || a[1] >= '0' && a[1] <= '9'):
			out := append(append([]string{}, args[:i]...), "--")
			return append(out, args[i:]...)
		case a == "--" || a == "" || a[0] != '-':
			return args
		}
	}
	return args
}

func onlyDigits(operands []string) bool {
	for _, s := range operands {
		if s == "" || digitsOf(s) != len(s) {
			return false
		}
	}
	return true
}

// seqIntegers prints natural numbers of any size.
func seqIntegers(ctx context.Context, c *command.Context, operands []string, separator string) int {
	x, step, last := big.NewInt(1), big.NewInt(1), new(big.Int)
	last.SetString(operands[len(operands)-1], 10)
	if len(operands) > 1 {
		x.SetString(operands[0], 10)
	}
	if len(operands) == 3 {
		step.SetString(operands[1], 10)
	}
	var buf []byte
	for started := false; x.Cmp(last) <= 0; started = true {
		if ctx.Err() != nil {
			return 1
		}
		buf = buf[:0]
		if started {
			buf = append(buf, separator...)
		}
		if x.IsUint64() && last.IsUint64() && step.IsUint64() && last.Uint64() < math.MaxUint64-step.Uint64() {
			return seqFast(ctx, c, buf, x.Uint64(), step.Uint64(), last.Uint64(), separator)
		}
		if _, err := c.Stdout.Write(x.Append(buf, 10)); err != nil {
			return 1
		}
		x.Add(x, step)
	}
	if x.Cmp(last) > 0 && len(buf) > 0 {
		c.Stdout.WriteByte('\n')
	}
	return 0
}

// seqFast prints numbers that fit in a word.
func seqFast(ctx context.Context, c *command.Context, buf []byte, x, step, last uint64, separator string) int {
	for ; ; x += step {
		buf = strconv.AppendUint(buf, x, 10)
		if last-x < step {
			break
		}
		buf = append(buf, separator...)
		if len(buf) >= copySize {
			if _, err := c.Stdout.Write(buf); err != nil || ctx.Err() != nil {
				return 1
			}
			buf = buf[:0]
		}
	}
	c.Stdout.Write(append(buf, '\n'))
	return 0
}

// seqOperands reads the operands.
func seqOperands(c *command.Context, operands []string) (first, step, last *seqArg, ok bool) {
	one := &seqArg{text: "1", value: cformat.NewFloat().SetInt64(1), width: 1}
	first, step = one, one
	for i, s := range operands {
		a, ok := parseSeqArg(c, s)
		if !ok {
			return nil, nil, nil, false
		}
		switch {
		case i == len(operands)-1:
			last = a
		case i == 0:
			first = a
		default:
			if a.value.Sign() == 0 {
				c.Usage("invalid Zero increment value: %s", c.Quote(s))
				return nil, nil, nil, false
			}
			step = a
		}
	}
	return first, step, last, true
}

// parseSeqArg reads a number, and finds how wide and precise it was written.
func parseSeqArg(c *command.Context, s string) (*seqArg, bool) {
	v, n := cformat.ParseFloat(s)
	if n == 0 || n != len(s) {
		c.Usage("invalid floating point argument: %s", c.Quote(s))
		return nil, false
	}
	if v.NaN {
		c.Usage("invalid %s argument: %s", c.Quote("not-a-number"), c.Quote(s))
		return nil, false
	}
	text := strings.TrimLeft(s, " \t\n\v\f\r+")
	a := &seqArg{text: text, value: v.Float, precision: autoPrecision}
	point := strings.IndexByte(text, '.')
	if point < 0 && !strings.Contains(text, "p") {
		a.precision = 0
	}
	if strings.ContainsAny(text, "xX") || v.Float.IsInf() {
		return a, true
	}
	a.width = len(text)
	fraction := 0
	if point >= 0 {
		fraction = strings.IndexAny(text[point+1:]+"e", "eE")
		a.precision = fraction
		switch {
		case fraction == 0:
			a.width--
		case point == 0 || text[point-1] < '0' || text[point-1] > '9':
			a.width++
		}
	}
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		a.exponent(e, point, fraction)
	}
	return a, true
}

// exponent adjusts width and precision for an exponent.
func (a *seqArg) exponent(e, point, fraction int) {
	exp, err := strconv.Atoi(a.text[e+1:])
	if err != nil || exp > cformat.MaxWidth || exp < -cformat.MaxWidth {
		exp = 0
	}
	a.width -= len(a.text) - e
	if exp < 0 {
		a.precision -= exp
		if point < 0 || e == point+1 {
			a.width++
		}
		a.width -= exp
		return
	}
	a.precision -= min(a.precision, exp)
	if point >= 0 && a.precision == 0 && fraction > 0 {
		a.width--
	}
	a.width += exp - min(fraction, exp)
}

// seqDefault is the format that suits the operands.
func seqDefault(first, step, last *seqArg, equal bool) cformat.Spec {
	prec := max(first.precision, step.precision)
	if prec == autoPrecision || last.precision == autoPrecision {
		return cformat.Spec{Verb: 'g', Prec: -1}
	}
	spec := cformat.Spec{Verb: 'f', Prec: prec}
	if !equal {
		return spec
	}
	w1 := first.width + prec - first.precision
	w2 := last.width + prec - last.precision
	if last.precision != 0 && prec == 0 {
		w2--
	}
	if last.precision == 0 && prec != 0 {
		w2++
	}
	if first.precision == 0 && prec != 0 {
		w1++
	}
	spec.Zero, spec.Width = true, min(max(w1, w2, 0), cformat.MaxWidth)
	return spec
}

// parseSeqFormat reads the format of -f.
func parseSeqFormat(c *command.Context, s string) (f seqFormat, ok bool) {
	var text strings.Builder
	found := false
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			text.WriteByte(s[i])
			continue
		}
		if i+1 < len(s) && s[i+1] == '%' {
			text.WriteByte('%')
			i++
			continue
		}
		if found {
			c.Errorf("format %s has too many %% directives", c.Quote(s))
			return f, false
		}
		found = true
		spec, n := cformat.Parse(s[i+1:])
		if n == 0 {
			c.Errorf("format %s ends in %%", c.Quote(s))
			return f, false
		}
		if strings.IndexByte("efgaEFGA", spec.Verb) < 0 || spec.TooWide() || spec.StarWidth || spec.StarPrec {
			c.Errorf("format %s has unknown %%%c directive", c.Quote(s), spec.Verb)
			return f, false
		}
		f.spec, f.prefix = spec, text.String()
		text.Reset()
		i += n
	}
	if !found {
		c.Errorf("format %s has no %% directive", c.Quote(s))
		return f, false
	}
	f.suffix = text.String()
	return f, true
}

// seqNumbers prints numbers that need not be integers.
func seqNumbers(ctx context.Context, c *command.Context, f *seqFormat, first, step, last *big.Float, separator string) int {
	past := func(x *big.Float) bool {
		if step.Sign() < 0 {
			return x.Cmp(last) < 0
		}
		return x.Cmp(last) > 0
	}
	if past(first) {
		return 0
	}
	x := cformat.NewFloat().Set(first)
	i := cformat.NewFloat()
	one := cformat.NewFloat().SetInt64(1)
	for out := false; ; {
		if ctx.Err() != nil {
			return 1
		}
		s := f.format(x)
		if _, err := c.Stdout.WriteString(s); err != nil {
			return 1
		}
		if out || step.IsInf() || x.IsInf() {
			break
		}
		i.Add(i, one)
		x.Mul(i, step)
		x.Add(first, x)
		if out = past(x); out {
			// Rounding may have carried x over a last that it should have met.
			t := f.format(x)
			v, n := cformat.ParseFloat(t[len(f.prefix) : len(t)-len(f.suffix)])
			if n == 0 || v.NaN || v.Float.Cmp(last) != 0 || s == t {
				break
			}
		}
		c.Stdout.WriteString(separator)
	}
	c.Stdout.WriteByte('\n')
	return 0
}
