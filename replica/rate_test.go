package replica

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := NewRate(1 << 20)
		start := time.Now()
		var wg sync.WaitGroup
		for range 4 { // four sessions share it
			wg.Go(func() {
				for left := 4 << 20; left > 0; {
					n := r.piece(left)
					r.wait(t.Context(), n)
					left -= n
				}
			})
		}
		wg.Wait()
		// 16 MiB, of which the first passes at once.
		if took := time.Since(start); took < 14*time.Second || took > 16*time.Second {
			t.Errorf("16 MiB at 1 MiB a second took %v", took)
		}
		time.Sleep(time.Hour)
		start = time.Now()
		r.wait(t.Context(), 1<<20)
		if took := time.Since(start); took > 0 {
			t.Errorf("after a pause a second's worth waits %v", took)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		start = time.Now()
		r.wait(ctx, 100<<20)
		if took := time.Since(start); took > 0 {
			t.Errorf("a wait goes on for %v after its end", took)
		}
	})
	if n := (*Rate)(nil).piece(5); n != 5 {
		t.Error("no rate is a bound")
	}
	if NewRate(1).perSecond != MinRate {
		t.Error("a rate below the least")
	}
}

// A session of a rate is slowed down, and the other is not.
func TestRateOfSession(t *testing.T) {
	a, b, c := newSite(t, "a"), newSite(t, "b"), newSite(t, "c")
	a.write("f", noise(1, 600<<10))
	first := true
	_, dial := a.serve(t, ServerOptions{Rate: func(Visitor) *Rate {
		defer func() { first = false }()
		if first {
			return NewRate(256 << 10)
		}
		return nil
	}})
	pull := func(p *Peer, c *Client) (Outcome, error) { return p.Pull(t.Context(), c) }
	slow, fast := b.measure(dial, pull).took, c.measure(dial, pull).took
	if a.root() != b.root() || a.root() != c.root() {
		t.Error("the roots differ")
	}
	if slow < 2*fast {
		t.Errorf("with a rate it takes %v, without %v", slow, fast)
	}
}
