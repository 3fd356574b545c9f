package shell

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
)

// integer reads an argument as a signed number: decimal, octal, hexadecimal, or
// a quote and a character.
func (p *printer) integer(arg string) int64 {
	if v, ok := p.character(arg); ok {
		return v
	}
	v, rest, err := parseC(arg)
	p.check(arg, rest, err)
	return v
}

// character reads 'x or "x.
func (p *printer) character(arg string) (int64, bool) {
	if arg == "" || arg[0] != '\'' && arg[0] != '"' {
		return 0, false
	}
	if len(arg) == 1 {
		return 0, true
	}
	if p.s.wide() {
		for _, r := range arg[1:] {
			if r == 0xfffd {
				break
			}
			return int64(r), true
		}
	}
	return int64(arg[1]), true
}

// check reports a number that is none, or too large.
func (p *printer) check(arg, rest string, err error) {
	switch {
	case errors.Is(err, strconv.ErrRange):
		p.s.builtinError(p.b, "warning: %s: Numerical result out of range", arg)
	case rest != "" || err != nil:
		msg := "invalid number"
		t := strings.TrimLeft(arg, " \t+-")
		if strings.HasPrefix(t, "0x") || strings.HasPrefix(t, "0X") {
			msg = "invalid hex number"
		} else if len(t) > 1 && t[0] == '0' && isDigits(t[:2]) {
			msg = "invalid octal number"
		}
		p.s.builtinError(p.b, "%s: %s", arg, msg)
		p.status = 1
	}
}

// parseC reads a number as strtoimax(3) does, and what is left.
func parseC(s string) (v int64, rest string, err error) {
	t := strings.TrimLeft(s, " \t\n\v\f\r")
	neg := false
	if t != "" && (t[0] == '-' || t[0] == '+') {
		neg = t[0] == '-'
		t = t[1:]
	}
	base, digits := 10, "0123456789"
	switch {
	case len(t) > 2 && t[0] == '0' && (t[1] == 'x' || t[1] == 'X') && strings.IndexByte("0123456789abcdefABCDEF", t[2]) >= 0:
		base, digits, t = 16, "0123456789abcdefABCDEF", t[2:]
	case len(t) > 0 && t[0] == '0':
		base, digits = 8, "01234567"
	}
	n := 0
	for n < len(t) && strings.IndexByte(digits, t[n]) >= 0 {
		n++
	}
	if n == 0 {
		return 0, s, nil
	}
	u, perr := strconv.ParseUint(t[:n], base, 64)
	switch {
	case perr != nil || !neg && u > 1<<63-1:
		v, err = 1<<63-1, strconv.ErrRange
		if neg {
			v = -1 << 63
		}
	case neg && u > 1<<63:
		v, err = -1<<63, strconv.ErrRange
	case neg:
		v = -int64(u)
	default:
		v = int64(u)
	}
	return v, t[n:], err
}

func (p *printer) signed(sp *spec) {
	arg, _ := p.next()
	v := p.integer(arg)
	digits := strconv.FormatInt(v, 10)
	sign := ""
	switch {
	case v < 0:
		sign, digits = "-", digits[1:]
	case sp.plus:
		sign = "+"
	case sp.space:
		sign = " "
	}
	p.numeral(sign, digits, sp)
}

func (p *printer) unsigned(sp *spec) {
	arg, _ := p.next()
	var v uint64
	if n, ok := p.character(arg); ok {
		v = uint64(n)
	} else {
		n, rest, err := parseC(arg)
		v = uint64(n)
		if errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(strings.TrimSpace(arg), "-") {
			// What does not fit a signed number may fit an unsigned one.
			if u, uerr := strconv.ParseUint(strings.TrimSpace(arg), 0, 64); uerr == nil {
				v, err = u, nil
			} else {
				v = 1<<64 - 1
			}
		}
		p.check(arg, rest, err)
	}
	prefix, digits := "", ""
	switch sp.conv {
	case 'u':
		digits = strconv.FormatUint(v, 10)
	case 'o':
		digits = strconv.FormatUint(v, 8)
		if sp.alt && digits[0] != '0' {
			digits = "0" + digits
		}
	default:
		digits = strconv.FormatUint(v, 16)
		if sp.alt && v != 0 {
			prefix = "0x"
		}
		if sp.conv == 'X' {
			digits, prefix = strings.ToUpper(digits), strings.ToUpper(prefix)
		}
	}
	p.numeral(prefix, digits, sp)
}

// numeral appends an integer: a sign or prefix, then digits to the precision,
// then the width with blanks or zeros.
func (p *printer) numeral(prefix, digits string, sp *spec) {
	if sp.prec == 0 && digits == "0" {
		digits = ""
	}
	if n := sp.prec - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	if n := sp.width - len(prefix) - len(digits); n > 0 && sp.zero && !sp.minus && sp.prec < 0 {
		digits = strings.Repeat("0", n) + digits
	}
	p.pad(prefix+digits, sp)
}

// float formats with the precision of C's long double.
func (p *printer) float(sp *spec) {
	arg, _ := p.next()
	sign, text := "", ""
	if v, ok := p.character(arg); ok {
		text = formatFloat(new(big.Float).SetPrec(64).SetInt64(v), sp)
	} else {
		text = p.parseFloat(arg, sp)
	}
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	} else if sp.plus {
		sign = "+"
	} else if sp.space {
		sign = " "
	}
	number := text != "" && (text[0] >= '0' && text[0] <= '9')
	if n := sp.width - len(sign) - len(text); n > 0 && sp.zero && !sp.minus && number {
		text = strings.Repeat("0", n) + text
	}
	p.pad(sign+text, sp)
}

// parseFloat reads an argument as a floating-point number and formats it.
func (p *printer) parseFloat(arg string, sp *spec) string {
	t := strings.TrimSpace(arg)
	low := strings.ToLower(t)
	neg := strings.HasPrefix(low, "-")
	bare := strings.TrimLeft(low, "+-")
	for _, word := range [...]string{"infinity", "inf", "nan"} {
		if bare == word {
			word = word[:3]
			if sp.conv < 'a' {
				word = strings.ToUpper(word)
			}
			if neg {
				word = "-" + word
			}
			return word
		}
	}
	n := floatLen(t)
	f := new(big.Float).SetPrec(64)
	if n > 0 {
		if v, _, err := big.ParseFloat(t[:n], 0, 64, big.ToNearestEven); err == nil {
			f = v
		} else if v, _, err := big.ParseFloat(strings.TrimLeft(t[:n], "0"), 10, 64, big.ToNearestEven); err == nil {
			f = v
		}
	}
	if arg != "" && (n < len(t) || n == 0) {
		p.check(arg, "x", nil)
	}
	return formatFloat(f, sp)
}

// floatLen is the length of the number that s starts with.
func floatLen(s string) int {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	digits := func(set string) int {
		n := 0
		for i < len(s) && strings.IndexByte(set, s[i]) >= 0 {
			i++
			n++
		}
		return n
	}
	set, exp := "0123456789", "eE"
	if strings.HasPrefix(s[i:], "0x") || strings.HasPrefix(s[i:], "0X") {
		i += 2
		set, exp = "0123456789abcdefABCDEF", "pP"
	}
	n := digits(set)
	if i < len(s) && s[i] == '.' {
		i++
		n += digits(set)
	}
	if n == 0 {
		return 0
	}
	end := i
	if i < len(s) && strings.IndexByte(exp, s[i]) >= 0 {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if digits("0123456789") > 0 {
			end = i
		}
	}
	return end
}

func formatFloat(f *big.Float, sp *spec) string {
	prec := sp.prec
	if prec < 0 {
		prec = 6
	}
	var text string
	switch sp.conv {
	case 'a', 'A':
		text = hexFloat(f, sp.prec)
	case 'e', 'E', 'f', 'F':
		text = f.Text(sp.conv|0x20, prec)
	default:
		text = generalFloat(f, max(prec, 1), sp.alt)
	}
	if sp.alt && prec == 0 && strings.IndexByte(text, '.') < 0 && sp.conv|0x20 == 'f' {
		text += "."
	}
	if sp.conv < 'a' {
		text = strings.ToUpper(text)
	}
	return text
}

// generalFloat is %g: the shorter of %e and %f, without trailing zeros.
func generalFloat(f *big.Float, prec int, alt bool) string {
	e := f.Text('e', prec-1)
	i := strings.LastIndexByte(e, 'e')
	exp, _ := strconv.Atoi(e[i+1:])
	trim := func(s string) string {
		if alt || strings.IndexByte(s, '.') < 0 {
			return s
		}
		return strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	if exp < -4 || exp >= prec {
		return trim(e[:i]) + e[i:]
	}
	return trim(f.Text('f', prec-1-exp))
}

// hexFloat is %a as glibc prints a long double: the first digit has four bits.
func hexFloat(f *big.Float, prec int) string {
	if f.Sign() == 0 {
		if f.Signbit() {
			return "-0x0p+0"
		}
		return "0x0p+0"
	}
	mant := new(big.Float).Copy(f)
	exp := f.MantExp(mant) // mant in [0.5, 1)
	neg := ""
	if mant.Sign() < 0 {
		neg = "-"
		mant.Neg(mant)
	}
	bits, _ := new(big.Float).SetMantExp(mant, 64).Uint64()
	digits := strconv.FormatUint(bits, 16)
	frac := strings.TrimRight(digits[1:], "0")
	if prec >= 0 && prec < len(digits)-1 {
		frac = digits[1 : 1+prec]
	}
	text := neg + "0x" + digits[:1]
	if frac != "" {
		text += "." + frac
	}
	e := exp - 4
	sign := "+"
	if e < 0 {
		sign, e = "-", -e
	}
	return text + "p" + sign + strconv.Itoa(e)
}
