package pace

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p Pace
		for _, c := range []struct{ work, rest time.Duration }{
			{0, 0}, // the first call begins
			{time.Millisecond, 0},
			{4 * time.Millisecond, 5 * time.Millisecond}, // with what came before
			{time.Millisecond, 0},
			{time.Second, longest},
		} {
			time.Sleep(c.work)
			start := time.Now()
			if err := p.Rest(context.Background()); err != nil {
				t.Fatal(err)
			}
			if got := time.Since(start); got != c.rest {
				t.Errorf("after %s of work it rests %s, want %s", c.work, got, c.rest)
			}
		}
	})
}

func TestRestEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var p Pace
	if err := p.Rest(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the first call: %v, want %v", err, context.Canceled)
	}
	p.began = time.Now().Add(-time.Second)
	if err := p.Rest(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a rest: %v, want %v", err, context.Canceled)
	}
}
