package gnulib

import (
	"strconv"
	"strings"
	"time"
)

// Strftime writes t by format as GNU date does: all conversions of
// strftime(3) in the C locale, %N, %:z and its kin, the flags _ - 0 ^ # +,
// widths, and the modifiers E and O. What is no conversion stays as it is.
func Strftime(format string, t time.Time) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		end, ok := conversion(&b, format[i:], t)
		if !ok {
			b.WriteString(format[i : i+end])
		}
		i += end - 1
	}
	return b.String()
}

// spec is one conversion's flags.
type spec struct {
	pad    byte // 0, '_', '-', '0' or '+'
	upper  bool
	swap   bool
	width  int
	colons int
}

// conversion writes the conversion that s starts with and returns its length.
func conversion(b *strings.Builder, s string, t time.Time) (int, bool) {
	f := spec{width: -1}
	i := 1
flags:
	for ; i < len(s); i++ {
		switch s[i] {
		case '_', '-', '0', '+':
			f.pad = s[i]
		case '^':
			f.upper = true
		case '#':
			f.swap = true
		default:
			break flags
		}
	}
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		f.width = min(max(f.width, 0)*10+int(s[i]-'0'), 1<<16)
	}
	mod := byte(0)
	if i < len(s) && (s[i] == 'E' || s[i] == 'O') {
		mod = s[i]
		i++
	}
	for j := i; j < len(s) && s[j] == ':'; j++ {
		f.colons++
	}
	if i+f.colons < len(s) && s[i+f.colons] == 'z' && f.colons <= 3 {
		i += f.colons
	} else {
		f.colons = 0
	}
	if i >= len(s) {
		return len(s), false
	}
	if mod == 'E' && strings.IndexByte("cCxXyY", s[i]) < 0 || mod == 'O' && strings.IndexByte("deHImMSuUVwWy", s[i]) < 0 {
		return i + 1, false
	}
	return i + 1, f.write(b, s[i], t)
}

// number writes n with at least digits digits, filled with fill.
func (f *spec) number(b *strings.Builder, n int64, digits int, fill byte) {
	switch f.pad {
	case '_':
		fill = ' '
	case '-':
		fill = 0
	case '0', '+':
		fill = '0'
	}
	width := digits
	if f.width >= 0 {
		width = f.width
	}
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	f.padded(b, sign, s, width, fill)
}

func (f *spec) padded(b *strings.Builder, sign, s string, width int, fill byte) {
	if fill == ' ' {
		for n := len(sign) + len(s); n < width; n++ {
			b.WriteByte(' ')
		}
	}
	b.WriteString(sign)
	if fill == '0' {
		for n := len(sign) + len(s); n < width; n++ {
			b.WriteByte('0')
		}
	}
	b.WriteString(s)
}

// text writes a word; swapTo says what # does to it.
func (f *spec) text(b *strings.Builder, s string, swapTo func(string) string) {
	if f.upper {
		s = strings.ToUpper(s)
	} else if f.swap && swapTo != nil {
		s = swapTo(s)
	}
	fill := byte(' ')
	if f.pad == '0' || f.pad == '+' {
		fill = '0'
	}
	for n := len(s); n < f.width && f.pad != '-'; n++ {
		b.WriteByte(fill)
	}
	b.WriteString(s)
}

// nested writes a conversion that stands for others.
func (f *spec) nested(b *strings.Builder, format string, t time.Time) bool {
	f.text(b, Strftime(format, t), nil)
	return true
}

// write writes one conversion; false when there is no such one.
func (f *spec) write(b *strings.Builder, c byte, t time.Time) bool {
	switch c {
	case '%':
		f.text(b, "%", nil)
	case 'n':
		f.text(b, "\n", nil)
	case 't':
		f.text(b, "\t", nil)
	case 'a':
		f.text(b, t.Weekday().String()[:3], strings.ToUpper)
	case 'A':
		f.text(b, t.Weekday().String(), strings.ToUpper)
	case 'b', 'h':
		f.text(b, t.Month().String()[:3], strings.ToUpper)
	case 'B':
		f.text(b, t.Month().String(), strings.ToUpper)
	case 'p', 'P':
		s := "AM"
		if t.Hour() >= 12 {
			s = "PM"
		}
		if c == 'P' {
			s = strings.ToLower(s)
		}
		f.text(b, s, strings.ToLower)
	case 'Z':
		name, _ := t.Zone()
		f.text(b, zoneName(name), strings.ToLower)
	case 'c':
		return f.nested(b, "%a %b %e %H:%M:%S %Y", t)
	case 'D', 'x':
		return f.nested(b, "%m/%d/%y", t)
	case 'F':
		return f.isoDate(b, t)
	case 'r':
		return f.nested(b, "%I:%M:%S %p", t)
	case 'R':
		return f.nested(b, "%H:%M", t)
	case 'T', 'X':
		return f.nested(b, "%H:%M:%S", t)
	case 'z':
		f.offset(b, t)
	case 'N':
		f.nanoseconds(b, t.Nanosecond())
	default:
		return f.numeric(b, c, t)
	}
	return true
}

// zoneName turns Go's name of a zone without one, "-03", into what tzdata has:
// the same.
func zoneName(name string) string {
	if name == "" {
		return "UTC"
	}
	return name
}

// isoDate is %F, which is "%+4Y-%m-%d".
func (f *spec) isoDate(b *strings.Builder, t time.Time) bool {
	rest := Strftime("-%m-%d", t)
	y := spec{pad: f.pad, width: -1}
	if f.width >= 0 {
		y.width = max(f.width-len(rest), 0)
	}
	y.year(b, t.Year())
	b.WriteString(rest)
	return true
}

// year is %Y: a + flag shows the sign of years of more than four digits.
func (f *spec) year(b *strings.Builder, y int) {
	if f.pad == '+' && (y > 9999 || f.width > 4) {
		f.padded(b, "+", strconv.Itoa(y), max(f.width, 0), '0')
		return
	}
	f.number(b, int64(y), 4, '0')
}

// numeric writes the conversions that are numbers.
func (f *spec) numeric(b *strings.Builder, c byte, t time.Time) bool {
	yday, wday := t.YearDay()-1, int(t.Weekday())
	monday := (wday + 6) % 7
	isoYear, isoWeek := t.ISOWeek()
	hour12 := (t.Hour()+11)%12 + 1
	switch c {
	case 'C':
		century := t.Year() / 100
		if t.Year() < 0 && t.Year()%100 != 0 {
			century--
		}
		if f.pad == '+' && (century > 99 || f.width > 2) {
			f.padded(b, "+", strconv.Itoa(century), max(f.width, 0), '0')
		} else {
			f.number(b, int64(century), 2, '0')
		}
	case 'd':
		f.number(b, int64(t.Day()), 2, '0')
	case 'e':
		f.number(b, int64(t.Day()), 2, ' ')
	case 'g':
		f.number(b, int64(((isoYear%100)+100)%100), 2, '0')
	case 'G':
		f.year(b, isoYear)
	case 'H':
		f.number(b, int64(t.Hour()), 2, '0')
	case 'I':
		f.number(b, int64(hour12), 2, '0')
	case 'j':
		f.number(b, int64(yday+1), 3, '0')
	case 'k':
		f.number(b, int64(t.Hour()), 2, ' ')
	case 'l':
		f.number(b, int64(hour12), 2, ' ')
	case 'm':
		f.number(b, int64(t.Month()), 2, '0')
	case 'M':
		f.number(b, int64(t.Minute()), 2, '0')
	case 'q':
		f.number(b, int64((t.Month()-1)/3+1), 1, '0')
	case 's':
		f.number(b, t.Unix(), 1, '0')
	case 'S':
		f.number(b, int64(t.Second()), 2, '0')
	case 'u':
		f.number(b, int64(monday+1), 1, '0')
	case 'U':
		f.number(b, int64((yday-wday+7)/7), 2, '0')
	case 'V':
		f.number(b, int64(isoWeek), 2, '0')
	case 'w':
		f.number(b, int64(wday), 1, '0')
	case 'W':
		f.number(b, int64((yday-monday+7)/7), 2, '0')
	case 'y':
		f.number(b, int64(((t.Year()%100)+100)%100), 2, '0')
	case 'Y':
		f.year(b, t.Year())
	default:
		return false
	}
	return true
}

// nanoseconds is %N: as many digits as the width, nine without one.
func (f *spec) nanoseconds(b *strings.Builder, ns int) {
	s := strconv.Itoa(ns)
	s = strings.Repeat("0", 9-len(s)) + s
	width := 9
	if f.width > 0 {
		width = f.width
	}
	if width <= 9 {
		s = s[:width]
	} else if f.pad != '-' {
		s += strings.Repeat("0", width-9)
	}
	switch f.pad {
	case '-':
		if s = strings.TrimRight(s, "0"); s == "" {
			s = "0"
		}
	case '_':
		trimmed := strings.TrimRight(s, "0")
		s = trimmed + strings.Repeat(" ", len(s)-len(trimmed))
	}
	b.WriteString(s)
}

// offset is %z with as many colons as were given.
func (f *spec) offset(b *strings.Builder, t time.Time) {
	_, off := t.Zone()
	sign := "+"
	if off < 0 {
		sign, off = "-", -off
	}
	h, m, s := off/3600, off/60%60, off%60
	two := func(n int) string { return string([]byte{'0' + byte(n/10), '0' + byte(n%10)}) }
	colons := f.colons
	if colons == 0 {
		// +hhmm is one number of four digits with a sign.
		width, fill := max(f.width, 5), byte('0')
		switch f.pad {
		case '_':
			fill = ' '
		case '-':
			width = 0
		}
		f.padded(b, sign, strconv.Itoa(h*100+m), width, fill)
		return
	}
	if colons == 3 {
		switch {
		case s != 0:
			colons = 2
		case m != 0:
			colons = 1
		default:
			colons = 4
		}
	}
	tail := ""
	switch colons {
	case 1:
		tail = ":" + two(m)
	case 2:
		tail = ":" + two(m) + ":" + two(s)
	}
	hours := two(h)
	width := f.width - len(tail)
	switch f.pad {
	case '_', '-':
		hours = strconv.Itoa(h)
	}
	if f.pad == '_' {
		f.padded(b, sign, hours, max(width, 3), ' ')
	} else {
		fill := byte('0')
		if f.pad == '-' {
			fill = 0
		}
		f.padded(b, sign, hours, width, fill)
	}
	b.WriteString(tail)
}
