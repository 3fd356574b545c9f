package system

import (
	"bufio"
	"context"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	dateRFC3339 = 256 + iota
	dateDebug
	dateResolution
)

func init() {
	command.Register(command.Info{
		Name:     "date",
		Synopsis: "date [OPTION]... [+FORMAT]\ndate [-u|--utc|--universal] [MMDDhhmm[[CC]YY][.ss]]",
		Summary:  "Display date and time in the given FORMAT.\nWith -s, or with [MMDDhhmm[[CC]YY][.ss]], set the date and time: that is refused.",
		Options: []command.Option{
			{Short: 'd', Long: "date", Arg: command.RequiredArgument, ArgName: "STRING", Help: "display time described by STRING, not 'now'"},
			{Long: "debug", ID: dateDebug, Help: "(ignored)"},
			{Short: 'f', Long: "file", Arg: command.RequiredArgument, ArgName: "DATEFILE", Help: "like --date; once for each line of DATEFILE"},
			{Short: 'I', Long: "iso-8601", Arg: command.OptionalArgument, ArgName: "FMT", Help: "output date/time in ISO 8601 format.\nFMT='date' for date only (the default), 'hours', 'minutes',\n'seconds', or 'ns' for date and time to the indicated precision."},
			{Long: "resolution", ID: dateResolution, Help: "output the available resolution of timestamps"},
			{Short: 'R', Long: "rfc-email", Help: "output date and time in RFC 5322 format"},
			{Long: "rfc-822", ID: 'R'},
			{Long: "rfc-2822", ID: 'R'},
			{Long: "rfc-3339", Arg: command.RequiredArgument, ArgName: "FMT", ID: dateRFC3339, Help: "output date/time in RFC 3339 format.\nFMT='date', 'seconds', or 'ns'"},
			{Short: 'r', Long: "reference", Arg: command.RequiredArgument, ArgName: "FILE", Help: "display the last modification time of FILE"},
			{Short: 's', Long: "set", Arg: command.RequiredArgument, ArgName: "STRING", Help: "set time described by STRING: refused"},
			{Short: 'u', Long: "utc", Help: "print or set Coordinated Universal Time (UTC)"},
			{Long: "universal", ID: 'u', Help: "the same"},
		},
		Notes: "FORMAT controls the output.  Interpreted sequences are those of strftime(3), and:\n" +
			"  %N   nanoseconds (000000000..999999999)   %q   quarter of year (1..4)\n" +
			"  %:z  +hh:mm   %::z  +hh:mm:ss   %:::z  numeric time zone to necessary precision\n" +
			"By default, date pads numeric fields with zeroes. Flags that may follow '%':\n" +
			"  -  do not pad   _  pad with spaces   0  pad with zeros   +  pad with zeros, and put '+' before\n" +
			"     future years with >4 digits   ^  upper case   #  opposite case",
	}, date)
}

// The formats of the options.
const (
	formatEmail   = "%a, %d %b %Y %H:%M:%S %z"
	formatDefault = "%a %b %e %H:%M:%S %Z %Y"
)

var (
	isoFormats = []gnulib.Choice{{Word: "hours", Value: 1}, {Word: "minutes", Value: 2}, {Word: "date", Value: 0}, {Word: "seconds", Value: 3}, {Word: "ns", Value: 4}}
	rfcFormats = []gnulib.Choice{{Word: "date", Value: 0}, {Word: "seconds", Value: 3}, {Word: "ns", Value: 4}}
	isoSpecs   = [...]string{"%Y-%m-%d", "%Y-%m-%dT%H%:z", "%Y-%m-%dT%H:%M%:z", "%Y-%m-%dT%H:%M:%S%:z", "%Y-%m-%dT%H:%M:%S,%N%:z"}
	rfcSpecs   = [...]string{0: "%Y-%m-%d", 3: "%Y-%m-%d %H:%M:%S%:z", 4: "%Y-%m-%d %H:%M:%S.%N%:z"}
)

// dater is one run of date.
type dater struct {
	c       *command.Context
	format  string
	formats int // options that chose one
	utc     bool
	loc     *time.Location
	source  byte // 'd', 'f', 'r', 's' or 0
	arg     string
	sources int
}

func date(ctx context.Context, c *command.Context, args []string) int {
	d := dater{c: c}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'd', 'f', 'r', 's':
			if byte(p.ID()) != d.source {
				d.sources++
			}
			d.source, d.arg = byte(p.ID()), p.Arg()
		case 'u':
			d.utc = true
		case dateDebug:
		default:
			if status, ok := d.formatOption(p); !ok {
				return status
			}
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if d.sources > 1 {
		return c.Usage("the options to specify dates for printing are mutually exclusive")
	}
	if status, ok := d.operands(names); !ok {
		return status
	}
	d.loc = tz.Of(c)
	if d.utc {
		d.loc = time.UTC
	}
	if d.format == "" && d.formats == 0 {
		d.format = formatDefault
	}
	return d.run(ctx)
}

func (d *dater) formatOption(p *command.Parser) (int, bool) {
	c := d.c
	d.formats++
	switch p.ID() {
	case 'R':
		d.format = formatEmail
	case 'I':
		v := 0
		if p.HasArg() {
			var ok bool
			if v, ok = gnulib.MatchArg(c, "--iso-8601", p.Arg(), isoFormats); !ok {
				return 1, false
			}
		}
		d.format = isoSpecs[v]
	case dateRFC3339:
		v, ok := gnulib.MatchArg(c, "--rfc-3339", p.Arg(), rfcFormats)
		if !ok {
			return 1, false
		}
		d.format = rfcSpecs[v]
	case dateResolution:
		d.format = "0.000000001"
	}
	if d.formats > 1 {
		return c.Errorf("multiple output formats specified"), false
	}
	return 0, true
}

// operands takes the format, or a date to set.
func (d *dater) operands(names []string) (int, bool) {
	c := d.c
	if len(names) == 0 {
		return 0, true
	}
	if strings.HasPrefix(names[0], "+") {
		if d.formats > 0 {
			return c.Errorf("multiple output formats specified"), false
		}
		if len(names) > 1 {
			return c.ExtraOperand(names[1]), false
		}
		d.format, d.formats = names[0][1:], 1
		return 0, true
	}
	if len(names) > 1 {
		return c.ExtraOperand(names[1]), false
	}
	if d.source != 0 {
		return c.Usage("the argument %s lacks a leading '+';\nwhen using an option to specify date(s), any non-option\nargument must be a format string beginning with '+'", c.Quote(names[0])), false
	}
	if s := strings.ReplaceAll(names[0], ".", ""); strings.Trim(s, "0123456789") != "" || len(s) < 8 {
		return c.Errorf("invalid date %s", c.Quote(names[0])), false
	}
	return c.Errorf("cannot set date: %s", command.Strerror(syscall.EPERM)), false
}

func (d *dater) run(ctx context.Context) int {
	c := d.c
	now := c.Now().In(d.loc)
	switch d.source {
	case 'd', 's':
		t, ok := gnulib.ParseDate(d.arg, now, tz.Load)
		if !ok {
			return c.Errorf("invalid date %s", c.Quote(d.arg))
		}
		if d.source == 's' {
			c.Errorf("cannot set date: %s", command.Strerror(syscall.EPERM))
			d.print(t)
			return 1
		}
		now = t.In(d.loc)
	case 'r':
		a, err := c.FS.Stat(d.arg)
		if err != nil {
			return c.Fail(d.arg, err)
		}
		now = time.Unix(0, a.Mtime).In(d.loc)
	case 'f':
		return d.file(ctx, now)
	}
	d.print(now)
	return 0
}

func (d *dater) print(t time.Time) {
	d.c.Stdout.WriteString(gnulib.Strftime(d.format, t) + "\n")
}

// file prints a date for each line of a file.
func (d *dater) file(ctx context.Context, now time.Time) int {
	f, err := d.c.Open(d.arg)
	if err != nil {
		return d.c.Fail(d.arg, err)
	}
	defer f.Close()
	status := 0
	sc := bufio.NewScanner(f)
	for sc.Scan() && ctx.Err() == nil {
		t, ok := gnulib.ParseDate(sc.Text(), now, tz.Load)
		if !ok {
			status = d.c.Errorf("invalid date %s", d.c.Quote(sc.Text()))
			continue
		}
		d.print(t.In(d.loc))
	}
	if sc.Err() != nil {
		return d.c.Fail(d.arg, sc.Err())
	}
	return status
}
