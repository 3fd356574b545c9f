package replica

import (
	"context"
	"sync"
	"time"
)

// MinRate is the least that a Rate gives: less, and a frame would take longer
// than the protocol lets it.
const MinRate = 64 << 10

// Rate is a number of bytes a second that sessions share, those of one token
// say, both ways together. It is safe for concurrent use.
type Rate struct {
	perSecond float64

	mu    sync.Mutex
	spare float64   // bytes that may pass at once; below zero they are owed; guarded by mu
	last  time.Time // when spare was right; guarded by mu
}

// NewRate returns a rate, of at least MinRate. A second's worth may pass at once.
func NewRate(bytesPerSecond int64) *Rate {
	n := float64(max(bytesPerSecond, MinRate))
	return &Rate{perSecond: n, spare: n, last: time.Now()}
}

// piece is how many bytes pass between two waits at most, so that none is long.
// A nil rate has no bound.
func (r *Rate) piece(n int) int {
	if r == nil {
		return n
	}
	return min(n, max(1, int(r.perSecond/2)))
}

// wait notes that n bytes have passed and waits until they might have.
func (r *Rate) wait(ctx context.Context, n int) {
	if r == nil || n == 0 {
		return
	}
	now := time.Now()
	r.mu.Lock()
	r.spare = min(r.perSecond, r.spare+now.Sub(r.last).Seconds()*r.perSecond) - float64(n)
	r.last = now
	owed := -r.spare
	r.mu.Unlock()
	if owed <= 0 {
		return
	}
	t := time.NewTimer(time.Duration(owed / r.perSecond * float64(time.Second)))
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
