package gnulib

import (
	"testing"
	"time"
)

// FuzzParseDate looks for dates that break the parser, and for what Strftime
// cannot print again.
func FuzzParseDate(f *testing.F) {
	for _, s := range []string{"now", "@1.5", "2020-02-30", "last monday 3 days ago", "TZ=\"UTC\" 10:00 pm +0530", "1 Jan 2020 12:00:00.123456789 EST", "20200102T030405Z", "12/31", "tomorrow -1 week", "noon", "+99999999999999 years"} {
		f.Add(s, "%c %s %N %-10d %^A %_5Y %:::z %+")
	}
	now := time.Unix(1577934245, 6789).UTC()
	f.Fuzz(func(t *testing.T, date, format string) {
		if v, ok := ParseDate(date, now, func(string) *time.Location { return time.UTC }); ok && len(format) < 100 {
			if s := Strftime(format, v); len(s) > 1<<24 {
				t.Errorf("%q: %d bytes", format, len(s))
			}
		}
	})
}
