// Package cformat writes numbers and strings as printf(3) of the C library
// does, for the commands that take its formats: printf, awk, seq, numfmt.
//
// Floating-point numbers are either float64, C's double, or *big.Float of 64
// bits of precision, its long double on x86.
package cformat

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// LongDouble is the precision of C's long double on x86, in bits.
const LongDouble = 64

// MaxWidth bounds widths and precisions: beyond it a conversion is refused.
const MaxWidth = 1 << 20

// Spec is a conversion specification.
type Spec struct {
	Minus, Plus, Space, Alt, Zero, Group bool
	Width                                int
	// Prec is the precision, -1 when there is none.
	Prec int
	// StarWidth and StarPrec say that an argument has the number.
	StarWidth, StarPrec bool
	Verb                byte
}

// Parse reads a specification from what follows its percent sign, and returns
// its length, 0 when it has no end. Length modifiers are skipped.
func Parse(s string) (spec Spec, n int) {
	spec.Prec = -1
	i := 0
	for ; i < len(s); i++ {
		switch s[i] {
		case '-':
			spec.Minus = true
			continue
		case '+':
			spec.Plus = true
			continue
		case ' ':
			spec.Space = true
			continue
		case '#':
			spec.Alt = true
			continue
		case '0':
			spec.Zero = true
			continue
		case '\'':
			spec.Group = true
			continue
		}
		break
	}
	if i < len(s) && s[i] == '*' {
		spec.StarWidth = true
		i++
	} else {
		spec.Width, i = number(s, i)
	}
	if i < len(s) && s[i] == '.' {
		i++
		if i < len(s) && s[i] == '*' {
			spec.StarPrec = true
			i++
		} else {
			spec.Prec, i = number(s, i)
		}
	}
	for i < len(s) && strings.IndexByte("hlLjzt", s[i]) >= 0 {
		i++
	}
	if i == len(s) {
		return spec, 0
	}
	spec.Verb = s[i]
	return spec, i + 1
}

func number(s string, i int) (n, end int) {
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		n = min(n*10+int(s[i]-'0'), MaxWidth+1)
	}
	return n, i
}

// SetWidth gives the width that an argument has: a negative one means '-'.
func (s *Spec) SetWidth(n int64) {
	if n < 0 {
		s.Minus, n = true, -n
	}
	s.Width = int(min(max(n, 0), MaxWidth+1))
}

// SetPrec gives the precision that an argument has: a negative one is none.
func (s *Spec) SetPrec(n int64) {
	s.Prec = -1
	if n >= 0 {
		s.Prec = int(min(n, MaxWidth+1))
	}
}

// TooWide reports whether a width or precision is beyond all reason.
func (s *Spec) TooWide() bool { return s.Width > MaxWidth || s.Prec > MaxWidth }

// pad adjusts body, which sign and prefix precede, to the width.
func (s *Spec) pad(prefix, body string, zero bool) string {
	n := s.Width - len(prefix) - len(body)
	switch {
	case n <= 0:
		return prefix + body
	case s.Minus:
		return prefix + body + strings.Repeat(" ", n)
	case zero:
		return prefix + strings.Repeat("0", n) + body
	}
	return strings.Repeat(" ", n) + prefix + body
}

// sign is what stands before a number that is signed.
func (s *Spec) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case s.Plus:
		return "+"
	case s.Space:
		return " "
	}
	return ""
}

// String formats %s: the precision counts bytes.
func (s *Spec) String(v string) string {
	if s.Prec >= 0 && s.Prec < len(v) {
		v = v[:s.Prec]
	}
	return s.pad("", v, false)
}

// Int formats %d and %i.
func (s *Spec) Int(v int64) string {
	if v < 0 {
		return s.integer(strconv.FormatUint(-uint64(v), 10), "-")
	}
	return s.integer(strconv.FormatInt(v, 10), s.sign(false))
}

// Big formats %d and %i of a number of any size.
func (s *Spec) Big(v *big.Int) string {
	return s.integer(new(big.Int).Abs(v).String(), s.sign(v.Sign() < 0))
}

// Uint formats %u, %o, %x and %X.
func (s *Spec) Uint(v uint64) string {
	switch s.Verb {
	case 'o':
		d := strconv.FormatUint(v, 8)
		if s.Alt && d[0] != '0' && s.Prec <= len(d) {
			d = "0" + d
		}
		return s.integer(d, "")
	case 'x', 'X':
		d, prefix := strconv.FormatUint(v, 16), ""
		if s.Alt && v != 0 {
			prefix = "0x"
		}
		if s.Verb == 'X' {
			d, prefix = strings.ToUpper(d), strings.ToUpper(prefix)
		}
		return s.integer(d, prefix)
	}
	return s.integer(strconv.FormatUint(v, 10), "")
}

func (s *Spec) integer(digits, prefix string) string {
	if s.Prec == 0 && digits == "0" {
		digits = ""
		if s.Verb == 'o' && s.Alt {
			digits = "0"
		}
	}
	if n := s.Prec - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	return s.pad(prefix, digits, s.Zero && s.Prec < 0)
}

// Float formats %e, %f, %g, %a and their capital forms of a double.
func (s *Spec) Float(v float64) string {
	lower := s.Verb | 0x20
	sign := s.sign(math.Signbit(v))
	abs := math.Abs(v)
	var body string
	switch {
	case math.IsInf(v, 0):
		return s.special("inf", sign)
	case math.IsNaN(v):
		return s.special("nan", sign)
	case lower == 'a':
		body = s.hex(strconv.FormatFloat(abs, 'x', s.Prec, 64))
	default:
		body = s.shape(abs == 0, func(verb byte, prec int) string { return strconv.FormatFloat(abs, verb, prec, 64) })
	}
	return s.finish(sign, body)
}

// BigFloat formats what Float does, of a long double.
func (s *Spec) BigFloat(v *big.Float) string {
	lower := s.Verb | 0x20
	sign := s.sign(v.Signbit())
	abs := new(big.Float).Abs(v)
	var body string
	switch {
	case v.IsInf():
		return s.special("inf", sign)
	case lower == 'a':
		body = s.hex(longHex(abs, s.Prec))
	default:
		body = s.shape(abs.Sign() == 0, func(verb byte, prec int) string { return abs.Text(verb, prec) })
	}
	return s.finish(sign, body)
}

// NaN formats what is no number; negative ones have a sign in C.
func (s *Spec) NaN(negative bool) string { return s.special("nan", s.sign(negative)) }

func (s *Spec) special(word, sign string) string {
	if s.Verb < 'a' {
		word = strings.ToUpper(word)
	}
	return s.pad(sign, word, false)
}

func (s *Spec) finish(sign, body string) string {
	if s.Verb < 'a' {
		body = strings.ToUpper(body)
	}
	prefix := sign
	if s.Verb|0x20 == 'a' {
		prefix, body = sign+body[:2], body[2:]
	}
	return s.pad(prefix, body, s.Zero)
}

// shape writes a number that is not negative as the verb wants it; text writes
// it in Go's forms 'e' and 'f'.
func (s *Spec) shape(zero bool, text func(verb byte, prec int) string) string {
	prec := s.Prec
	if prec < 0 {
		prec = 6
	}
	switch s.Verb | 0x20 {
	case 'e':
		return s.point(text('e', prec), prec)
	case 'f':
		return s.point(text('f', prec), prec)
	}
	if prec == 0 {
		prec = 1
	}
	e := text('e', prec-1)
	exp, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
	if zero {
		exp = 0
	}
	if exp < -4 || exp >= prec {
		mantissa, power, _ := strings.Cut(e, "e")
		return s.trim(mantissa) + "e" + power
	}
	return s.trim(text('f', prec-1-exp))
}

// trim takes trailing zeros off, for %g without #.
func (s *Spec) trim(d string) string {
	if s.Alt {
		if !strings.Contains(d, ".") {
			d += "."
		}
		return d
	}
	if strings.Contains(d, ".") {
		d = strings.TrimRight(strings.TrimRight(d, "0"), ".")
	}
	return d
}

// point adds the point that # asks for.
func (s *Spec) point(d string, prec int) string {
	if !s.Alt || prec > 0 {
		return d
	}
	if i := strings.IndexByte(d, 'e'); i >= 0 {
		return d[:i] + "." + d[i:]
	}
	return d + "."
}

// hex turns Go's form of a hexadecimal number, 0x1.8p+01, into C's: the power
// has no leading zero.
func (s *Spec) hex(d string) string {
	mantissa, power, _ := strings.Cut(d, "p")
	n, _ := strconv.Atoi(power)
	if s.Alt && !strings.Contains(mantissa, ".") {
		mantissa += "."
	}
	sign := "+"
	if n < 0 {
		sign = ""
	}
	return mantissa + "p" + sign + strconv.Itoa(n)
}

// longHex writes a long double the way C does: with four bits before the
// point.
func longHex(v *big.Float, prec int) string {
	if v.Sign() == 0 {
		d := "0x0"
		if prec > 0 {
			d += "." + strings.Repeat("0", prec)
		}
		return d + "p+0"
	}
	const digits = LongDouble / 4
	mant := new(big.Float)
	exp := v.MantExp(mant) // v = mant * 2^exp, mant in [0.5, 1)
	m, _ := new(big.Float).SetMantExp(mant, LongDouble).Uint64()
	exp -= 4
	if prec >= 0 && prec < digits-1 {
		shift := uint(LongDouble - 4 - 4*prec)
		half := uint64(1) << (shift - 1)
		rest := m & (half<<1 - 1)
		m >>= shift
		if rest > half || rest == half && m&1 == 1 {
			m++
		}
		if m>>(4+4*uint(prec)) != 0 {
			m >>= 4
			exp += 4
		}
		m <<= shift
	}
	d := strconv.FormatUint(m, 16)
	frac := d[1:]
	if prec < 0 {
		frac = strings.TrimRight(frac, "0")
	} else if len(frac) < prec {
		frac += strings.Repeat("0", prec-len(frac))
	} else {
		frac = frac[:prec]
	}
	out := "0x" + d[:1]
	if frac != "" {
		out += "." + frac
	}
	return out + "p" + strconv.Itoa(exp)
}
