package jqlang

import (
	"math"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
)

// dateFuncs has the functions of dates.
func dateFuncs() {
	withArgs("now", 0, func(m *machine, _ any, _ []any) (any, error) {
		t := time.Now
		if m.o.Now != nil {
			t = m.o.Now
		}
		return float64(t().UnixMicro()) / 1e6, nil
	})
	simple("mktime", func(in any) (any, error) {
		if _, ok := in.([]any); !ok {
			return nil, errorf("mktime requires array inputs")
		}
		t, ok := civil(in, time.UTC)
		if !ok {
			return nil, errorf("mktime requires parsed datetime inputs")
		}
		return float64(t.Unix()), nil
	})
	simple("gmtime", func(in any) (any, error) { return broken(in, "gmtime", time.UTC) })
	withArgs("localtime", 0, func(m *machine, in any, _ []any) (any, error) { return broken(in, "localtime", m.location()) })
	withArgs("strftime", 1, func(m *machine, in any, args []any) (any, error) { return format(in, args[0], "strftime", time.UTC) })
	withArgs("strflocaltime", 1, func(m *machine, in any, args []any) (any, error) {
		return format(in, args[0], "strflocaltime", m.location())
	})
	withArgs("strptime", 1, func(_ *machine, in any, args []any) (any, error) {
		s, ok1 := in.(string)
		f, ok2 := args[0].(string)
		if !ok1 || !ok2 {
			return nil, errorf("strptime/1 requires string inputs and arguments")
		}
		t, ok := strptime(s, f)
		if !ok {
			return nil, errorf("date \"%s\" does not match format \"%s\"", s, f)
		}
		return parts(t, float64(t.Second())), nil
	})
}

func (m *machine) location() *time.Location {
	if m.o.Location != nil {
		return m.o.Location
	}
	return time.UTC
}

// parts is a broken down time: year, month from 0, day, hours, minutes,
// seconds, day of the week and of the year.
func parts(t time.Time, seconds float64) any {
	return []any{float64(t.Year()), float64(t.Month() - 1), float64(t.Day()), float64(t.Hour()), float64(t.Minute()), seconds, float64(t.Weekday()), float64(t.YearDay() - 1)}
}

func broken(in any, name string, loc *time.Location) (any, error) {
	f, ok := in.(float64)
	if !ok || math.Abs(f) > 1e15 {
		return nil, errorf("%s() requires numeric inputs", name)
	}
	whole := math.Floor(f)
	t := time.Unix(int64(whole), 0).In(loc)
	return parts(t, float64(t.Second())+(f-whole)), nil
}

// civil is the time that a broken down one means.
func civil(in any, loc *time.Location) (time.Time, bool) {
	a, ok := in.([]any)
	if !ok || len(a) < 6 {
		return time.Time{}, false
	}
	var n [6]int
	for i := range n {
		f, ok := a[i].(float64)
		if !ok || math.Abs(f) > 1e9 {
			return time.Time{}, false
		}
		n[i] = int(math.Floor(f))
	}
	return time.Date(n[0], time.Month(n[1]+1), n[2], n[3], n[4], n[5], 0, loc), true
}

func format(in, layout any, name string, loc *time.Location) (any, error) {
	if f, ok := in.(float64); ok {
		var err error
		if in, err = broken(f, "gmtime", loc); err != nil {
			return nil, err
		}
	}
	t, ok := civil(in, loc)
	if !ok {
		return nil, errorf("%s/1 requires parsed datetime inputs", name)
	}
	s, ok := layout.(string)
	if !ok {
		return nil, errorf("%s/1 requires a string format", name)
	}
	return gnulib.Strftime(s, t), nil
}

// dateFields gathers what strptime reads.
type dateFields struct {
	year, month, day, hour, minute, second, yday int
	pm, hasPM, epoch                             bool
	at                                           time.Time
}

// strptime reads a date by a format, as strptime(3) does.
func strptime(s, layout string) (time.Time, bool) {
	d := dateFields{year: 1900, month: 1, day: 1, yday: -1}
	rest, ok := d.read(s, layout)
	if !ok || rest != "" {
		return time.Time{}, false
	}
	if d.epoch {
		return d.at, true
	}
	if d.hasPM {
		d.hour = d.hour%12 + map[bool]int{true: 12}[d.pm]
	}
	if d.yday >= 0 {
		return time.Date(d.year, 1, 1+d.yday, d.hour, d.minute, d.second, 0, time.UTC), true
	}
	return time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, 0, time.UTC), true
}

func (d *dateFields) read(s, layout string) (string, bool) {
	for i := 0; i < len(layout); i++ {
		c := layout[i]
		if c == ' ' || c >= '\t' && c <= '\r' {
			s = strings.TrimLeft(s, " \t\n\v\f\r")
			continue
		}
		if c != '%' {
			if s == "" || s[0] != c {
				return s, false
			}
			s = s[1:]
			continue
		}
		if i++; i >= len(layout) {
			return s, false
		}
		if layout[i] == 'E' || layout[i] == 'O' {
			if i++; i >= len(layout) {
				return s, false
			}
		}
		var ok bool
		if s, ok = d.field(s, layout[i]); !ok {
			return s, false
		}
	}
	return s, true
}

func (d *dateFields) field(s string, c byte) (string, bool) {
	compound := map[byte]string{'T': "%H:%M:%S", 'D': "%m/%d/%y", 'F': "%Y-%m-%d", 'R': "%H:%M", 'r': "%I:%M:%S %p", 'c': "%a %b %e %H:%M:%S %Y", 'x': "%m/%d/%y", 'X': "%H:%M:%S"}
	if f, ok := compound[c]; ok {
		return d.read(s, f)
	}
	num := func(to *int, width, low, high int) (string, bool) {
		t := strings.TrimLeft(s, " ")
		n, i := 0, 0
		for i < len(t) && i < width && t[i] >= '0' && t[i] <= '9' {
			n = n*10 + int(t[i]-'0')
			i++
		}
		*to = n
		return t[i:], i > 0 && n >= low && n <= high
	}
	unused := 0
	switch c {
	case 'Y':
		return num(&d.year, 4, 0, 9999)
	case 'm':
		return num(&d.month, 2, 1, 12)
	case 'd', 'e':
		return num(&d.day, 2, 1, 31)
	case 'H', 'k':
		return num(&d.hour, 2, 0, 23)
	case 'I', 'l':
		return num(&d.hour, 2, 1, 12)
	case 'M':
		return num(&d.minute, 2, 0, 59)
	case 'S':
		return num(&d.second, 2, 0, 61)
	case 'u', 'w':
		return num(&unused, 1, 0, 7)
	case 'U', 'W', 'V':
		return num(&unused, 2, 0, 53)
	case 'j':
		s, ok := num(&d.yday, 3, 1, 366)
		d.yday--
		return s, ok
	case 'y':
		s, ok := num(&d.year, 2, 0, 99)
		if d.year += 1900; d.year < 1969 {
			d.year += 100
		}
		return s, ok
	case 's':
		s, ok := num(&unused, 12, 0, math.MaxInt)
		d.at, d.epoch = time.Unix(int64(unused), 0).UTC(), true
		return s, ok
	case 'n', 't':
		return strings.TrimLeft(s, " \t\n\v\f\r"), true
	case '%':
		return strings.TrimPrefix(s, "%"), strings.HasPrefix(s, "%")
	}
	return d.word(s, c)
}

// word reads a field that is a name or a zone.
func (d *dateFields) word(s string, c byte) (string, bool) {
	lower := strings.ToLower(s)
	switch c {
	case 'a', 'A':
		for w := time.Sunday; w <= time.Saturday; w++ {
			name := strings.ToLower(w.String())
			if strings.HasPrefix(lower, name) {
				return s[len(name):], true
			}
			if strings.HasPrefix(lower, name[:3]) {
				return s[3:], true
			}
		}
	case 'b', 'B', 'h':
		for m := time.January; m <= time.December; m++ {
			name := strings.ToLower(m.String())
			n := 3
			if strings.HasPrefix(lower, name) {
				n = len(name)
			}
			if strings.HasPrefix(lower, name[:3]) {
				d.month = int(m)
				return s[n:], true
			}
		}
	case 'p', 'P':
		if strings.HasPrefix(lower, "am") || strings.HasPrefix(lower, "pm") {
			d.hasPM, d.pm = true, lower[0] == 'p'
			return s[2:], true
		}
	case 'Z':
		i := 0
		for i < len(lower) && lower[i] >= 'a' && lower[i] <= 'z' {
			i++
		}
		return s[i:], i > 0
	case 'z':
		if strings.HasPrefix(s, "Z") {
			return s[1:], true
		}
		if len(s) >= 3 && (s[0] == '+' || s[0] == '-') {
			i := 1
			for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == ':') {
				i++
			}
			return s[i:], i >= 3
		}
	}
	return s, false
}
