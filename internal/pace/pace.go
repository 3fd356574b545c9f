// Package pace keeps work in the background from taking more than its share.
package pace

import (
	"context"
	"time"
)

// quantum is how long work goes on before it rests: short, because the
// foreground waits for it where both want the same core or disk, and long
// against the clock that a rest is timed with.
const quantum = 2 * time.Millisecond

// longest bounds a rest after a piece of work that could not be interrupted.
const longest = 20 * time.Millisecond

// Pace halves the speed of work that nobody waits for. The zero value is ready;
// it is for one goroutine.
type Pace struct{ began time.Time }

// Rest is called between pieces of work. It sleeps as long as the work since the
// last rest took, unless that was short. The error is the end of ctx.
func (p *Pace) Rest(ctx context.Context) error {
	now := time.Now()
	if p.began.IsZero() {
		p.began = now
		return ctx.Err()
	}
	worked := now.Sub(p.began)
	if worked < quantum {
		return ctx.Err()
	}
	t := time.NewTimer(min(worked, longest))
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
	}
	p.began = time.Now()
	return nil
}
