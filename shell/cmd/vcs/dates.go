package vcs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/zone"
)

// rawDate is git's own form: seconds since 1970 and a zone.
var rawDate = regexp.MustCompile(`^@?(\d{1,12})( ([+-])(\d\d)(\d\d))?$`)

// parseDate reads a date that a user gives.
func (r *repo) parseDate(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if m := rawDate.FindStringSubmatch(s); m != nil && (s[0] == '@' || len(m[1]) > 8) {
		sec, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			return time.Time{}, false
		}
		loc := r.Location
		if m[2] != "" {
			h, _ := strconv.Atoi(m[4])
			min, _ := strconv.Atoi(m[5])
			off := h*3600 + min*60
			if m[3] == "-" {
				off = -off
			}
			loc = time.FixedZone("", off)
		}
		return time.Unix(sec, 0).In(loc), true
	}
	for _, layout := range []string{
		time.RFC3339, "2006-01-02T15:04:05-0700", "2006-01-02 15:04:05 -0700", "2006-01-02T15:04:05 -0700", "2006-01-02 15:04:05 -07:00",
		"Mon, 2 Jan 2006 15:04:05 -0700", "Mon, 02 Jan 2006 15:04:05 -0700", "Mon Jan 2 15:04:05 2006 -0700", "2 Jan 2006 15:04:05 -0700",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			// time.Parse gives UTC and the zone of the host by name.
			_, off := t.Zone()
			return t.In(time.FixedZone("", off)), true
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "Mon Jan 2 15:04:05 2006", "2006/01/02 15:04:05"} {
		if t, err := time.ParseInLocation(layout, s, r.Location); err == nil {
			return t, true
		}
	}
	now := r.Now().In(r.Location)
	s = strings.ReplaceAll(s, ".", " ")
	if s == "now" {
		return now.Truncate(time.Second), true
	}
	t, ok := gnulib.ParseDate(s, now, zone.Load)
	if ok && regexp.MustCompile(`^\d{4}-\d\d-\d\d$`).MatchString(s) {
		// A bare day means that day at this time.
		t = time.Date(t.Year(), t.Month(), t.Day(), now.Hour(), now.Minute(), now.Second(), 0, r.Location)
	}
	return t.Truncate(time.Second), ok
}

// formatDate shows a time as --date=mode does.
func (r *repo) formatDate(t time.Time, mode string) string {
	if rest, ok := strings.CutSuffix(mode, "-local"); ok {
		t, mode = t.In(r.Location), rest
	}
	switch mode {
	case "iso", "iso8601":
		return t.Format("2006-01-02 15:04:05 -0700")
	case "iso-strict", "iso8601-strict":
		return t.Format("2006-01-02T15:04:05-07:00")
	case "rfc", "rfc2822":
		return t.Format("Mon, 2 Jan 2006 15:04:05 -0700")
	case "short":
		return t.Format("2006-01-02")
	case "raw":
		return formatRaw(t)
	case "unix":
		return strconv.FormatInt(t.Unix(), 10)
	case "relative":
		return relativeDate(r.Now().Unix() - t.Unix())
	case "local":
		return t.In(r.Location).Format("Mon Jan 2 15:04:05 2006")
	case "human":
		return t.Format("Mon Jan 2 15:04")
	}
	if f, ok := strings.CutPrefix(mode, "format:"); ok {
		return gnulib.Strftime(f, t)
	}
	return t.Format("Mon Jan 2 15:04:05 2006 -0700")
}

// relativeDate says how long ago something was.
func relativeDate(diff int64) string {
	if diff < 0 {
		return "in the future"
	}
	say := func(n int64, unit string) string {
		if n == 1 {
			return "1 " + unit + " ago"
		}
		return fmt.Sprintf("%d %ss ago", n, unit)
	}
	if diff < 90 {
		return say(diff, "second")
	}
	if diff = (diff + 30) / 60; diff < 90 {
		return say(diff, "minute")
	}
	if diff = (diff + 30) / 60; diff < 36 {
		return say(diff, "hour")
	}
	diff = (diff + 12) / 24
	switch {
	case diff < 14:
		return say(diff, "day")
	case diff < 70:
		return say((diff+3)/7, "week")
	case diff < 365:
		return say((diff+15)/30, "month")
	case diff < 1825:
		total := (diff*12*2 + 365) / (365 * 2)
		years, months := total/12, total%12
		if months == 0 {
			return say(years, "year")
		}
		year := fmt.Sprintf("%d years", years)
		if years == 1 {
			year = "1 year"
		}
		return year + ", " + say(months, "month")
	}
	return say((diff+183)/365, "year")
}

// quietSignature is the committer's, without a word when there is none.
func (r *repo) quietSignature() (object.Signature, error) {
	c := *r.git
	cc := *c.Context
	cc.Stderr = discard{}
	c.Context = &cc
	q := *r
	q.git = &c
	return q.signature("COMMITTER")
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
