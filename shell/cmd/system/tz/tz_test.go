package tz

import (
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	winter := time.Date(2024, 1, 15, 12, 0, 0, 0, time.UTC)
	summer := time.Date(2024, 7, 15, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		name           string
		winter, summer string
	}{
		{"Europe/Berlin", "13:00 CET", "14:00 CEST"},
		{":America/New_York", "07:00 EST", "08:00 EDT"},
		{"UTC0", "12:00 UTC", "12:00 UTC"},
		{"EST5EDT", "07:00 EST", "08:00 EDT"},
		{"AAA5BBB", "07:00 AAA", "08:00 BBB"},
		{"CET-1CEST,M3.5.0,M10.5.0/3", "13:00 CET", "14:00 CEST"},
		{"XXX+3:30", "08:30 XXX", "08:30 XXX"},
		{"<-03>3", "09:00 -03", "09:00 -03"},
		{"JST-9", "21:00 JST", "21:00 JST"},
		{"", "12:00 UTC", "12:00 UTC"},
		{"Nowhere/City", "12:00 Nowhere", "12:00 Nowhere"},
		{"../../etc/passwd", "12:00 UTC", "12:00 UTC"},
	} {
		l := Load(tc.name)
		if got := winter.In(l).Format("15:04 MST"); got != tc.winter {
			t.Errorf("%q in winter: %s, want %s", tc.name, got, tc.winter)
		}
		if got := summer.In(l).Format("15:04 MST"); got != tc.summer {
			t.Errorf("%q in summer: %s, want %s", tc.name, got, tc.summer)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{"Europe/Berlin", "EST5EDT", "<+01>-1", "CET-1CEST,M3.5.0,M10.5.0/3", "A", "XXX99999999999", "EST5EDT,J1,J2", "EST5EDT,,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, off := time.Unix(1e9, 0).In(Load(s)).Zone()
		if off < -2*24*3600 || off > 2*24*3600 {
			t.Errorf("%q is %d seconds off", s, off)
		}
	})
}
