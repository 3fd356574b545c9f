package system

import (
	"testing"
	"time"

	"github.com/vfsd/vfsd/shell/command/commandtest"
)

func TestDate(t *testing.T) {
	w := commandtest.Case{Files: map[string]string{"dates": "2024-01-01\n@0\nbogus\n1 Feb 2003\n"}, Entries: []commandtest.Entry{{Path: "old", Time: time.Date(2020, 2, 3, 4, 5, 6, 789e6, time.UTC)}}}
	base := "2024-02-29 13:14:15.123456789"
	var cases []commandtest.Case
	add := func(env []string, args ...string) {
		c := w
		c.Env = env
		c.Args = append([]string{"date"}, args...)
		for _, a := range append(env, args...) {
			c.Name += a + " "
		}
		cases = append(cases, c)
	}
	for _, f := range []string{"%a %A %b %B %h", "%c|%x|%X|%r|%R|%T|%D|%F", "%C %d %e %g %G %H %I %j %k %l", "%m %M %n %N %p %P %q %s %S %t %u", "%U %V %w %W %y %Y %z %:z %::z %:::z %Z %%", "%-d %_d %0e %_H %-H %-I %-m %-j", "%10d|%-10d|%_10d|%010d", "%^a %^B %#a %#Z %#p %^p %^b", "%3N %6N %9N %12N %-N %_N %1N", "%5Y %+5Y %+Y %_5Y", "%E %Ey %Od %Ex %EX %O", "%Q %f %i %L %v", "%", "%:", "%:d", "%::::z", "%10z|%_10z|%-z|%_z|%010z", "%10a|%-10a|%010a", "%10F|%+12F|%_F", "%10T|%20c", "%s.%N", "%Y%m%dT%H%M%S", "%e", "plain", "%+4C|%3C", "%10s", "%#F %#c", "%^c", "%:::::z"} {
		add(nil, "-u", "-d", base, "+"+f)
	}
	for _, d := range []string{"2024-01-15", "2024-01-15 10:20", "2024-01-15 10:20:30.5", "2024-01-15T10:20:30Z", "2024-01-15T10:20:30+02:00", "2024-01-15T10:20:30,5-0530", "20240115", "20240115 1020", "20240115T102030", "20240115T10:20:30", "01/15/2024", "1/5/24", "1/5", "2024/01/15", "15 Jan 2024", "15 January 2024 10am", "Jan 15 2024", "Jan 15, 2024 3:04 pm", "15-Jan-2024", "Jan-15-2024", "Mon, 15 Jan 2024 10:20:30 +0000", "Mon Jan 15 10:20:30 UTC 2024", "@1700000000", "@-1", "@1.5", "@-1.5", "2024-01-15 12am", "2024-01-15 12pm", "2024-01-15 12:30 a.m.", "2024-01-15 noon", "2024-01-15 13pm", "2024-02-30", "2024-13-01", "2023-02-29", "2024-01-15 25:00", "2024-01-15 10:60", "2024-01-15 10:20:60", "bogus", "2024", "24", "1020", "2024-01-15 EST", "2024-01-15 10:00 EDT", "2024-01-15 10:00 PST8", "2024-01-15 10:00 UTC+2", "2024-01-15 10:00 +05", "2024-01-15 10:00 +0530", "2024-01-15 10:00 +05:30", "2024-01-15 10:00Z", "2024-01-15 10:00 A", "2024-01-15 +1 day", "2024-01-15 1 day ago", "2024-01-15 + 2 weeks", "2024-01-15 -3 months", "2024-01-31 +1 month", "2024-01-15 next month", "2024-01-15 last year", "2024-01-15 next monday", "2024-01-15 monday", "2024-01-17 monday", "monday 2024-01-17", "2024-01-15 tomorrow", "2024-01-15 yesterday", "2024-01-15 10:00 tomorrow", "2024-01-15 10:00 2 hours ago", "2024-01-15 10:00 +90 minutes", "2024-01-15 10:00 +5 seconds", "2024-01-15 10:00 1.5 seconds", "2024-01-15 fortnight", "2024-01-15 12 fortnights ago", "2024-01-15 third day", "2024-01-15 1 year 2 months 3 days", "2024-01-15 10:00 1 hour ago 30 minutes", "2024-01-15 00:00 now", "12/25/99", "12/25/68", "12/25/69", "00-01-02", "1-2-3", "99-01-02", "2024-1-5", "2024-01-15 (comment) 10:00", "2024-01-15 10:00 (open", "2024-01-15, 10:00", "Jan 2024", "Jan 15", "15 Jan 10:00", "2024-01-15 10h", "10:00 2024-01-15", "10:00 10:00", "2024-01-15 2024-01-16", "sat sun", "2024-01-15T", "T10:00 2024-01-15", "2024-01-15 10:20:30.123456789123", "2024-01-15 1 sunday", "2024-01-15 -1 day +1 hour", "TZ=\"America/New_York\" 2024-01-15 10:00", "TZ=\"Asia/Tokyo\" 2024-07-15 10:00 +1 day", "2024-01-15 next week", "2024-01-15 last friday", "2024-01-15 this friday", "2024-01-15 first monday", "2024-01-15 1 month ago", "2024-03-31 1 month ago", "2024-01-15 0 days", "2024-01-15 hence", "2024-01-15 2 days hence", "2024-01-15 week", "Sept 5 2024", "sep 5 2024", "tues 2024-01-15", "2024-01-15 10.5", "2024-01-15 --1 day", "2024-01-15 1day", "2024-01-15 5 minutes ago 10:00", "  2024-01-15  ", "2024-W03-1", "2024-015", "20240115102030", "1e3", "9999-12-31", "0001-01-01", "-1 day 2024-01-15", "2024-01-15 24:00", "2024-01-15 00:00:00.000000001", "Thu, 01 Jan 1970 00:00:00 GMT", "2024-01-15 10:00:00 AM", "2024-01-15 0:5", "1 Jan", "4 july 1776", "2024-06-15 BST", "2024-01-15 10:20 JST", "2024-01-15 10:20 T", "3 days ago 2024-01-15", "2024-01-15 - 1 day"} {
		switch d { // what depends on the day of the test
		case "24", "1020", "1/5", "Jan 15", "15 Jan 10:00", "1 Jan", "2024", "Jan 2024", "10:00 10:00", "1e3":
			continue
		}
		add(nil, "-u", "-d", d, "+%F %T.%N %z")
	}
	for _, d := range []string{"2024-01-15 10:00", "2024-07-15 10:00", "2024-03-10 02:30", "2024-03-10 01:30 +1 hour", "2024-03-09 12:00 +1 day", "2024-11-03 01:30", "2024-11-03 01:30 EST", "2024-11-03 01:30 EDT", "@1700000000", "2024-01-15 10:00 UTC", "2024-07-15 10:00 EST", "2024-11-03 00:30 +1 hour", "2024-11-03 00:30 +2 hours", "1970-01-01 UTC"} {
		add([]string{"TZ=America/New_York"}, "-d", d, "+%F %T %z %Z")
		add([]string{"TZ=EST5EDT,M3.2.0,M11.1.0"}, "-d", d, "+%F %T %z %Z")
	}
	add([]string{"TZ=Asia/Kolkata"}, "-d", "@0", "+%F %T %z %:z %:::z %Z")
	add([]string{"TZ=Europe/Berlin"}, "-d", "@1700000000")
	add([]string{"TZ=Europe/Berlin"}, "-u", "-d", "@1700000000")
	add([]string{"TZ=Nowhere/City"}, "-d", "@0")
	add([]string{"TZ=UTC-5"}, "-d", "@0")
	add([]string{"TZ="}, "-d", "@0")
	add([]string{"LC_ALL=C.UTF-8"}, "-d", "nonsense")
	add([]string{"LC_ALL=C.UTF-8"}, "-u", "-d", "@0")
	run := commandtest.Lines(w, "date -u -d @0", "date -d @0 -R", "date -d @0 -I", "date -d @0 -Iseconds", "date -d @0 -Ihours", "date -d @0 -Iminutes", "date -d @0 -Ins", "date -d @0 -Ibogus", "date --iso-8601=date -d @0", "date -d @0 --rfc-3339=seconds", "date -d @0 --rfc-3339=date", "date -d @0 --rfc-3339=ns", "date -d @0 --rfc-3339=bogus", "date -d @0 --rfc-email", "date -r old", "date -r old +%s.%N", "date -r nope", "date -f dates +%F", "date -f nope", "date -f - +%F", "date -d @0 +%F +%T", "date -d @0 foo", "date foo bar", "date foo", "date -d @0 -r old", "date -R -I", "date -d @0 -R +%F", "date -z", "date -d", "date -d @0 +", "date -d '' +%T", "date --date=@86400 +%F", "date -u -d @0 --", "date +%Y%% -d @0", "date -d @99999999999999999999", "date 0101000024 x")
	commandtest.Run(t, append(cases, run...))
}
