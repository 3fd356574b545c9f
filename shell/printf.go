package shell

import (
	"errors"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/itchyny/timefmt-go"
)

// printer is a printf under way.
type printer struct {
	s      *state
	b      *builtin
	out    []byte
	args   []string
	status int
	stop   bool // \c
}

// builtinPrintf formats its arguments.
func builtinPrintf(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "v:")
	variable, has := "", false
	for opts.next() {
		variable, has = opts.arg, true
		if !validReference(variable) {
			s.builtinError(b, "`%s': not a valid identifier", variable)
			return 2
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if len(rest) == 0 {
		s.usage(b)
		return 2
	}
	p := &printer{s: s, b: b, args: rest[1:]}
	p.run(rest[0])
	if has {
		// A variable's value ends at a NUL.
		text, _, _ := strings.Cut(string(p.out), "\x00")
		if !s.assignReference(variable, text) {
			return 1
		}
		return p.status
	}
	if n := s.print(b, string(p.out)); n != 0 {
		return n
	}
	return p.status
}

// run applies the format until the arguments are used up.
func (p *printer) run(format string) {
	for {
		left := len(p.args)
		if !p.once(format) {
			p.status = 1
			return
		}
		if p.stop || len(p.args) == 0 || len(p.args) == left {
			return
		}
		p.s.tick()
		p.s.room(len(p.out))
	}
}

// next takes an argument; ok says that there was one.
func (p *printer) next() (arg string, ok bool) {
	if len(p.args) == 0 {
		return "", false
	}
	arg, p.args = p.args[0], p.args[1:]
	return arg, true
}

// once applies the format one time; false when it has a mistake.
func (p *printer) once(format string) bool {
	for i := 0; i < len(format) && !p.stop; {
		switch c := format[i]; c {
		case '\\':
			i++
			if i == len(format) {
				p.out = append(p.out, '\\')
				break
			}
			p.missingDigits(format[i:])
			e := escapes{wide: p.s.wide()}
			var n int
			p.out, n = e.one(p.out, format[i:])
			i += n
		case '%':
			n, ok := p.directive(format[i:])
			if !ok {
				return false
			}
			i += n
		default:
			j := i
			for j < len(format) && format[j] != '%' && format[j] != '\\' {
				j++
			}
			p.out = append(p.out, format[i:j]...)
			i = j
		}
	}
	return true
}

// missingDigits warns about \x and \u without digits.
func (p *printer) missingDigits(s string) {
	if len(s) == 0 {
		return
	}
	switch c := s[0]; c {
	case 'x':
		if _, k := hexDigits(s[1:], 2); k == 0 {
			p.s.builtinError(p.b, "missing hex digit for \\x")
		}
	case 'u', 'U':
		if _, k := hexDigits(s[1:], 4); k == 0 {
			p.s.builtinError(p.b, "missing unicode digit for \\%c", c)
		}
	}
}

// spec is one conversion specification.
type spec struct {
	minus, plus, space, alt, zero, quote bool
	width, prec                          int // prec is -1 when there is none
	conv                                 byte
}

// directive applies one specification and returns its length.
func (p *printer) directive(f string) (int, bool) {
	if len(f) > 1 && f[1] == '%' {
		p.out = append(p.out, '%')
		return 2, true
	}
	sp := spec{prec: -1}
	i := 1
	for ; i < len(f); i++ {
		switch f[i] {
		case '-':
			sp.minus = true
			continue
		case '+':
			sp.plus = true
			continue
		case ' ':
			sp.space = true
			continue
		case '#':
			sp.alt = true
			continue
		case '0':
			sp.zero = true
			continue
		case '\'':
			sp.quote = true
			continue
		}
		break
	}
	i = p.number(f, i, &sp.width)
	if sp.width < 0 {
		sp.minus, sp.width = true, -sp.width
	}
	if i < len(f) && f[i] == '.' {
		sp.prec = 0
		i = p.number(f, i+1, &sp.prec)
	}
	for i < len(f) && strings.IndexByte("hjlLtz", f[i]) >= 0 {
		i++
	}
	if i >= len(f) {
		p.s.builtinError(p.b, "`%s': missing format character", f)
		return 0, false
	}
	if f[i] == '(' {
		return p.time(f, i, &sp)
	}
	sp.conv = f[i]
	if !p.convert(&sp) {
		p.s.builtinError(p.b, "`%c': invalid format character", sp.conv)
		return 0, false
	}
	return i + 1, true
}

// number reads a width or precision: digits, or * for the next argument.
func (p *printer) number(f string, i int, n *int) int {
	const most = 1 << 24
	if i < len(f) && f[i] == '*' {
		arg, _ := p.next()
		v := p.integer(arg)
		*n = int(max(-most, min(v, most)))
		return i + 1
	}
	j := i
	if j < len(f) && f[j] == '-' {
		j++
	}
	for j < len(f) && isDigits(f[j:j+1]) {
		j++
	}
	if j > i {
		v, err := strconv.Atoi(f[i:j])
		if err != nil {
			v = most
		}
		*n = min(v, most)
	}
	return j
}

// convert formats one argument; false for an unknown conversion.
func (p *printer) convert(sp *spec) bool {
	switch sp.conv {
	case 's', 'b', 'q', 'Q', 'c', 'C', 'S':
		p.text(sp)
	case 'd', 'i':
		p.signed(sp)
	case 'u', 'o', 'x', 'X':
		p.unsigned(sp)
	case 'e', 'E', 'f', 'F', 'g', 'G', 'a', 'A':
		p.float(sp)
	case 'n':
		if arg, ok := p.next(); ok && validName(arg) {
			p.s.assign(arg, itoa(len(p.out)), false)
		}
	default:
		return false
	}
	return true
}

// pad appends text in the field's width. Width and precision count bytes, as
// Bash's own formatting does.
func (p *printer) pad(text string, sp *spec) {
	n := sp.width - len(text)
	p.s.room(len(p.out) + len(text) + max(n, 0))
	if n > 0 && !sp.minus {
		p.out = append(p.out, strings.Repeat(" ", n)...)
	}
	p.out = append(p.out, text...)
	if n > 0 && sp.minus {
		p.out = append(p.out, strings.Repeat(" ", n)...)
	}
}

func (p *printer) text(sp *spec) {
	arg, ok := p.next()
	switch sp.conv {
	case 'c', 'C':
		if arg == "" {
			p.pad("\x00", sp)
			return
		}
		p.pad(arg[:1], sp)
		return
	case 'b':
		e := escapes{echo: true, both: true, wide: p.s.wide()}
		for i := 0; i+1 < len(arg); i++ {
			if arg[i] == '\\' {
				i++
				p.missingDigits(arg[i:])
			}
		}
		arg = e.decode(arg)
		p.stop = e.stopped
	case 'q':
		if ok || arg == "" {
			arg = backslashQuote(arg, p.s.wide())
		}
	case 'Q':
		arg = backslashQuote(p.cut(arg, sp.prec), p.s.wide())
		p.pad(arg, sp)
		return
	}
	p.pad(p.cut(arg, sp.prec), sp)
}

// cut shortens text to a precision.
func (p *printer) cut(text string, prec int) string {
	if prec >= 0 && prec < len(text) {
		return text[:prec]
	}
	return text
}

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
		p.status = 1
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

// time formats %(format)T: the argument is in seconds, -1 is now and -2 when
// the shell started.
func (p *printer) time(f string, i int, sp *spec) (int, bool) {
	depth, j := 0, i
	for ; j < len(f); j++ {
		if f[j] == '(' {
			depth++
		} else if f[j] == ')' {
			if depth--; depth == 0 {
				break
			}
		}
	}
	if j+1 >= len(f) || f[j+1] != 'T' {
		p.s.builtinError(p.b, "warning: `%c': invalid time format specification", f[min(j+1, len(f)-1)])
		p.status = 1
		p.out = append(p.out, f[:min(j+1, len(f))]...)
		return min(j+1, len(f)), true
	}
	format := f[i+1 : j]
	arg, ok := p.next()
	t := p.s.now()
	if n := p.timeArg(arg); ok && arg != "" && n != -1 {
		t = time.Unix(n, 0)
		if n == -2 {
			t = time.Unix(0, p.s.startTime)
		}
	}
	if format == "" {
		format = "%X"
	}
	p.pad(p.cut(strftime(format, t.In(p.s.location())), sp.prec), sp)
	return j + 2, true
}

func (p *printer) timeArg(arg string) int64 {
	if arg == "" {
		return -1
	}
	return p.integer(arg)
}

// strftime formats a time as strftime(3) does in the C locale.
func strftime(format string, t time.Time) string {
	if format == "" {
		format = "%X"
	}
	return timefmt.Format(t, format)
}
