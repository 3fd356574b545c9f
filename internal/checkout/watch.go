//go:build linux

package checkout

import (
	"context"
	"time"

	"github.com/vfsd/vfsd/vfs"
)

// How Watch paces itself.
const (
	settleEvents = 30 * time.Millisecond  // without an event before a pass begins,
	settleAtMost = 300 * time.Millisecond // but no longer than this
	retryAfter   = time.Second            // a pass that failed or left something out
	rescanAfter  = 10 * time.Minute       // everything, in case an event was missed
	rescanSoon   = 5 * time.Second        // the same, when not all could be watched
)

// liveWatch wakes Watch when the workspace changes.
type liveWatch struct {
	origin vfs.Origin
	wake   chan struct{}
}

func (l *liveWatch) Origin() vfs.Origin { return l.origin }

func (l *liveWatch) Changed([]vfs.Change) {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Watch keeps directory and workspace equal until ctx ends, and tells onReport
// what each pass did and why one failed. A failed pass is tried again: the disk
// may be freed, the directory may come back.
func (c *Checkout) Watch(ctx context.Context, onReport func(Report, error)) error {
	live := &liveWatch{origin: ^vfs.Origin(0), wake: make(chan struct{}, 1)}
	defer c.o.Live.Watch(live)()
	w, err := newWatcher(c.host)
	if err != nil {
		return err
	}
	defer func() { w.close() }()
	c.mu.Lock()
	c.busy = func(p string) bool { return w.busy(p) }
	c.mu.Unlock()
	for {
		dirty, _ := w.take()
		report, err := c.pass(ctx, dirty)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			w.putBack(nil)
		} else if c.later {
			w.putBack(dirty)
		}
		if !report.Quiet() || err != nil {
			onReport(report, err)
		}
		if c.replaced {
			c.replaced = false
			w.close()
			if w, err = newWatcher(c.host); err != nil {
				return err
			}
			continue
		}
		if err := c.await(ctx, w, live.wake, err != nil || c.later); err != nil {
			return err
		}
	}
}

// await returns when there is something to do.
func (c *Checkout) await(ctx context.Context, w *watcher, live chan struct{}, soon bool) error {
	pause := rescanAfter
	switch {
	case soon:
		pause = retryAfter
	case w.isLimited():
		pause = rescanSoon
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		if !soon {
			w.putBack(nil)
		}
		return nil
	case <-w.wake:
	case <-live:
	}
	end := time.Now().Add(settleAtMost)
	for time.Now().Before(end) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-w.wake:
		case <-live:
		case <-time.After(settleEvents):
			return nil
		}
	}
	return nil
}
