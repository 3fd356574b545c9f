package system

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
)

const calUsage = `Usage: cal [general options] [-jy] [[month] year]
       cal [general options] [-j] [-m month] [year]
       ncal -C [general options] [-jy] [[month] year]
       ncal -C [general options] [-j] [-m month] [year]
       ncal [general options] [-bhJjpwySM] [-H yyyy-mm-dd] [-s country_code] [-W number of days] [[month] year]
       ncal [general options] [-Jeo] [year]
General options: [-31] [-A months] [-B months] [-d yyyy-mm]
`

func init() {
	command.Register(command.Info{
		Name:        "cal",
		Synopsis:    "cal [-31jy] [-A months] [-B months] [-d yyyy-mm] [[month] year]\ncal [-31j] [-m month] [year]",
		Summary:     "Display a calendar.",
		UsageStatus: 64,
		UsageHint:   strings.TrimSuffix(calUsage, "\n"),
		Options: []command.Option{
			{Short: '3', Help: "display the previous, current and next month"},
			{Short: '1', Help: "display only the current month"},
			{Short: 'A', Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "months to add after"},
			{Short: 'B', Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "months to add before"},
			{Short: 'C', Help: "(the default)"},
			{Short: 'd', Arg: command.RequiredArgument, ArgName: "YYYY-MM", Help: "use that as the current month"},
			{Short: 'j', Help: "display days of the year"},
			{Short: 'm', Arg: command.RequiredArgument, ArgName: "MONTH", Help: "display the specified month"},
			{Short: 'y', Help: "display a calendar for the specified year"},
		},
	}, cal)
}

// calendar is what a cal is to print.
type calendar struct {
	c             *command.Context
	julian        bool
	year, month   int
	before, after int
	whole         bool
}

func cal(ctx context.Context, c *command.Context, args []string) int {
	now := c.Now().In(tz.Of(c))
	k := calendar{c: c, year: now.Year(), month: int(now.Month())}
	month := ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case '3':
			k.before, k.after = 1, 1
		case '1':
			k.before, k.after = 0, 0
		case 'A', 'B':
			n, err := strconv.Atoi(p.Arg())
			if err != nil || n < 0 || n > 1200 {
				return c.Errorf("Argument to -%c must be positive", p.ID())
			}
			if p.ID() == 'A' {
				k.after = n
			} else {
				k.before = n
			}
		case 'd':
			t, err := time.Parse("2006-01", p.Arg())
			if err != nil {
				io.WriteString(c.Stderr, calUsage)
				return 64
			}
			k.year, k.month = t.Year(), int(t.Month())
		case 'j':
			k.julian = true
		case 'm':
			month = p.Arg()
		case 'y':
			k.whole = true
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if status, ok := k.operands(operands, month); !ok {
		return status
	}
	k.print()
	return 0
}

// operands takes month and year.
func (k *calendar) operands(ops []string, month string) (int, bool) {
	if len(ops) > 2 {
		io.WriteString(k.c.Stderr, calUsage)
		return 64, false
	}
	year := ""
	switch len(ops) {
	case 2:
		month, year = ops[0], ops[1]
	case 1:
		if n, err := strconv.Atoi(ops[0]); month == "" && (err != nil || n == 0) && monthOf(ops[0]) > 0 {
			month = ops[0]
		} else {
			year = ops[0]
			k.whole = k.whole || month == ""
		}
	}
	if year != "" {
		n, err := strconv.Atoi(year)
		if err != nil {
			return k.c.Errorf("not a valid year %s", year) + 63, false
		}
		if n < 1 || n > 9999 {
			return k.c.Errorf("year `%s' not in range 1..9999", year) + 63, false
		}
		k.year = n
	}
	if month == "" {
		return 0, true
	}
	// A letter after the number means the year before or after.
	number := strings.TrimRight(month, "fp")
	if number != "" && number[0] >= '0' && number[0] <= '9' {
		switch month[len(number):] {
		case "f":
			k.year++
		case "p":
			k.year--
		}
		month = number
	}
	if k.month = monthOf(month); k.month == 0 {
		return k.c.Errorf("%s is neither a month number (1..12) nor a name", month) + 63, false
	}
	return 0, true
}

// monthOf reads a month by number or name; 0 when it is none.
func monthOf(s string) int {
	if n, err := strconv.Atoi(s); err == nil {
		if n >= 1 && n <= 12 {
			return n
		}
		return 0
	}
	for m := time.January; m <= time.December; m++ {
		name := strings.ToLower(m.String())
		if l := strings.ToLower(s); len(l) >= 3 && strings.HasPrefix(name, l) {
			return int(m)
		}
	}
	return 0
}

func (k *calendar) print() {
	width, columns := 20, 3
	if k.julian {
		width, columns = 27, 2
	}
	if k.whole {
		title := strconv.Itoa(k.year)
		k.c.Stdout.WriteString(strings.Repeat(" ", (columns*width-len(title))/2) + title + "\n")
		k.months(k.year*12, 12, width, columns, false)
		return
	}
	k.months(k.year*12+k.month-1-k.before, k.before+1+k.after, width, columns, true)
}

// months prints n months from one on, counted from the year 0, side by side.
func (k *calendar) months(first, n, width, columns int, years bool) {
	for at := 0; at < n; at += columns {
		if at > 0 {
			k.c.Stdout.WriteString("\n")
		}
		var cells [][]string
		for i := at; i < min(at+columns, n); i++ {
			cells = append(cells, k.month1((first+i)/12, (first+i)%12+1, width, years))
		}
		for row := range cells[0] {
			for _, cell := range cells {
				k.c.Stdout.WriteString(fmt.Sprintf("%-*s  ", width, cell[row]))
			}
			k.c.Stdout.WriteString("\n")
		}
	}
}

// month1 returns the lines of one month.
func (k *calendar) month1(year, month, width int, years bool) []string {
	title := time.Month(month).String()
	if years {
		title += " " + strconv.Itoa(year)
	}
	lines := []string{strings.Repeat(" ", (width-len(title))/2) + title}
	cell := 2
	head := "Su Mo Tu We Th Fr Sa"
	if k.julian {
		cell, head = 3, " Su  Mo  Tu  We  Th  Fr  Sa"
	}
	lines = append(lines, head)
	day := dayNumber(year, month, 1)
	end := dayNumber(year, month+1, 1)
	start := dayNumber(year, 1, 1)
	for range 6 {
		var b strings.Builder
		for wday := range 7 {
			if wday > 0 {
				b.WriteByte(' ')
			}
			if day >= end || weekday(day) != wday {
				b.WriteString(strings.Repeat(" ", cell))
				continue
			}
			n := dayOfMonth(year, month, day)
			if k.julian {
				n = day - start + 1
			}
			fmt.Fprintf(&b, "%*d", cell, n)
			day++
		}
		lines = append(lines, b.String())
	}
	return lines
}

// dayNumber counts days from 1 January of the year 1, in the reckoning that was
// in force.
func dayNumber(year, month, day int) int {
	if month > 12 {
		year, month = year+1, 1
	}
	y := year - 1
	n := y*365 + y/4
	leap := year%4 == 0
	if new := year > 1752 || year == 1752 && (month > 9 || month == 9 && day >= 14); new {
		n += -(y / 100) + y/400 + 2
		if year > 1752 {
			leap = leap && (year%100 != 0 || year%400 == 0)
		} else {
			// Within 1752 the old count goes on, less the eleven days.
			n = y*365 + y/4 - 11
		}
	}
	days := [...]int{0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}
	n += days[month-1] + day - 1
	if leap && month > 2 {
		n++
	}
	return n
}

// weekday of a day number: 1 January of the year 1 was a Saturday.
func weekday(n int) int { return (n + 6) % 7 }

// dayOfMonth is the day of the month of a day number.
func dayOfMonth(year, month, n int) int {
	d := n - dayNumber(year, month, 1) + 1
	if year == 1752 && month == 9 && d > 2 {
		d += 11
	}
	return d
}
