package syncbench

import (
	"context"
	"testing"
	"time"
)

// Every program that is installed brings every edit over, and what it costs is
// counted.
func TestRunTiny(t *testing.T) {
	results, missing, err := Run(context.Background(), Options{
		Dir: t.TempDir(), RTTs: []time.Duration{0, time.Millisecond}, Size: Tiny, Seed: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("not installed: %v", missing)
	if want := (len(programs) - len(missing)) * 2 * len(steps); len(results) != want {
		t.Errorf("%d results of %d", len(results), want)
	}
	for _, r := range results {
		if r.Out <= 0 || r.In <= 0 || r.Turns < 2 || r.Took <= 0 {
			t.Errorf("nothing passed the link: %+v", r)
		}
	}
}
