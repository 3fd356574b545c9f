package awk

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/text/cformat"
)

// format does printf: args[0] is the format.
func (in *interp) format(args []expr) string {
	v := args[0].eval(in)
	format := v.string(in.convfmt())
	vals := make([]value, len(args)-1)
	for i, x := range args[1:] {
		vals[i] = x.eval(in)
	}
	var b strings.Builder
	used := 0
	next := func(at int) *value {
		if used >= len(vals) {
			in.fatal("not enough arguments to satisfy format string\n\t`%s'\n\t%*s ran out for this one", format, at+1, "^")
		}
		used++
		return &vals[used-1]
	}
	for i := 0; i < len(format); {
		if format[i] != '%' {
			n := strings.IndexByte(format[i:], '%')
			if n < 0 {
				n = len(format) - i
			}
			b.WriteString(format[i : i+n])
			i += n
			continue
		}
		if strings.HasPrefix(format[i:], "%%") {
			b.WriteByte('%')
			i += 2
			continue
		}
		n := in.conversion(&b, format, i, &used, vals, next)
		in.checkSize(b.Len())
		i += n
	}
	return b.String()
}

// conversion formats one argument, and returns the length of the conversion.
func (in *interp) conversion(b *strings.Builder, format string, at int, used *int, vals []value, next func(int) *value) int {
	// %N$... names its argument.
	rest := format[at+1:]
	shift := 0
	var direct *value
	if n := leadingDigits(rest); n > 0 && n < len(rest) && rest[n] == '$' {
		k := int(parseBase(rest[:n], 10))
		if k < 1 || k > len(vals) {
			in.fatal("argument index %d greater than total number of supplied arguments", k)
		}
		direct = &vals[k-1]
		shift = n + 1
		rest = rest[shift:]
	}
	spec, n := cformat.Parse(rest)
	if n == 0 {
		b.WriteString(format[at:])
		return len(format) - at
	}
	length := 1 + shift + n
	if strings.IndexByte("diouxXcseEfFgGaA", spec.Verb) < 0 {
		if spec.Verb == '%' {
			b.WriteByte('%')
			return length
		}
		b.WriteString(format[at : at+length])
		return length
	}
	if spec.StarWidth {
		spec.SetWidth(int64(next(at + length - 1).float()))
	}
	if spec.StarPrec {
		spec.SetPrec(int64(next(at + length - 1).float()))
	}
	if spec.TooWide() {
		in.fatal("memory exhausted")
	}
	v := direct
	if v == nil {
		v = next(at + length - 1)
	}
	b.WriteString(in.formatValue(&spec, v))
	return length
}

// formatValue formats one value.
func (in *interp) formatValue(spec *cformat.Spec, v *value) string {
	switch spec.Verb {
	case 'c':
		spec.Prec = -1
		return in.padded(spec, in.character(v))
	case 's':
		s := v.string(in.convfmt())
		if spec.Prec >= 0 {
			s = s[:in.prefix(s, spec.Prec)]
		}
		return in.padded(spec, s)
	}
	n := v.float()
	if s, special := specialNumber(n); special {
		if s[0] == '+' && math.IsNaN(n) && !spec.Plus {
			s = "+nan"
		}
		spec.Prec, spec.Zero = -1, false
		return spec.String(s)
	}
	switch spec.Verb {
	case 'd', 'i':
		return in.grouped(spec, n)
	case 'u', 'o', 'x', 'X':
		return unsigned(spec, n)
	}
	return spec.Float(n)
}

// grouped formats an integer, of any size.
func (in *interp) grouped(spec *cformat.Spec, n float64) string {
	n = math.Trunc(n)
	if n > -maxInt && n < maxInt {
		return spec.Int(int64(n))
	}
	big, _ := new(big.Float).SetFloat64(n).Int(nil)
	return spec.Big(big)
}

// unsigned formats what is to be an unsigned integer; what is none is written
// as a floating-point number.
func unsigned(spec *cformat.Spec, n float64) string {
	n = math.Trunc(n)
	switch {
	case n >= 0 && n < 1<<64:
		return spec.Uint(uint64(n))
	case n < 0 && n >= -1<<63:
		return spec.Uint(uint64(int64(n)))
	}
	spec.Verb = 'g'
	if spec.Prec < 0 {
		spec.Prec = 6
	}
	if n == math.Trunc(n) {
		spec.Verb, spec.Prec = 'f', 0
	}
	return spec.Float(n)
}

// character is what %c prints: the first character of a string, or the one
// that a number is the code of.
func (in *interp) character(v *value) string {
	v.settle()
	if v.kind != kNumber && v.kind != kBoth {
		s := v.string(in.convfmt())
		if s == "" {
			return "\x00"
		}
		return s[:in.prefix(s, 1)]
	}
	n := int64(v.num)
	if in.utf8 && n >= utf8.RuneSelf && n <= utf8.MaxRune && utf8.ValidRune(rune(n)) {
		return string(rune(n))
	}
	return string([]byte{byte(n)})
}

// padded pads a string to a width in characters.
func (in *interp) padded(spec *cformat.Spec, s string) string {
	n := len(s)
	if in.utf8 {
		n = utf8.RuneCountInString(s)
	}
	if n >= spec.Width {
		return s
	}
	pad := strings.Repeat(" ", spec.Width-n)
	if spec.Minus {
		return s + pad
	}
	return pad + s
}
