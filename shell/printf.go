package shell

import (
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
	if n := p.timeArg(arg); ok && n != -1 {
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
		return 0
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
