package zone

import (
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	summer := time.Date(2024, 7, 1, 12, 0, 0, 0, time.UTC)
	for tz, want := range map[string]string{
		"":                 "12:00 UTC",
		"UTC":              "12:00 UTC",
		"Europe/Paris":     "14:00 CEST",
		":Europe/Paris":    "14:00 CEST",
		"America/New_York": "08:00 EDT",
		"EST5EDT":          "08:00 EDT",
		"XYZ-3:30":         "15:30 XYZ",
		"ABC+5":            "07:00 ABC",
		"<+07>-7":          "19:00 +07",
		"nonsense":         "12:00 UTC",
		"../../etc/passwd": "12:00 UTC",
		"/etc/localtime":   "12:00 UTC",
		"Europe/":          "12:00 UTC",
		"AB3":              "12:00 UTC",
	} {
		if got := summer.In(Load(tz)).Format("15:04 MST"); got != want {
			t.Errorf("%q: %s, want %s", tz, got, want)
		}
	}
	if Load("Europe/Paris") != Load("Europe/Paris") {
		t.Error("a zone is loaded twice")
	}
	for i := range 3 * maxCache {
		Load("ABC" + string(rune('0'+i%10)) + ":" + string(rune('0'+i/10%6)) + string(rune('0'+i%10)))
	}
	if len(cache) > maxCache {
		t.Errorf("%d zones are kept", len(cache))
	}
}
