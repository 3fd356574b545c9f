package daemon

import (
	"context"
	"time"
)

// tendEvery is how often a daemon looks after its store.
const tendEvery = time.Hour

// idleAfter is how long a workspace that nobody asks for or uses stays open.
const idleAfter = 10 * time.Minute

// sessionIdleAfter is how long a shell session that nobody uses is kept, which
// keeps its workspace open.
const sessionIdleAfter = 24 * time.Hour

// startTending has tend run until the returned function is called, which waits
// for its end.
func (d *Daemon) startTending() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		d.tend(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// tend collects garbage in the background and lets idle workspaces sleep, until
// ctx ends. A store that has not grown since the last time, and of which
// nothing was removed, has little to give and is let sleep.
func (d *Daemon) tend(ctx context.Context) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	idle := time.NewTicker(idleAfter)
	defer idle.Stop()
	last := d.data.Chunks().Stats().StoredBytes
	for {
		select {
		case <-ctx.Done():
			return
		case <-idle.C:
			d.exec.Idle(time.Now().Add(-sessionIdleAfter))
			if err := d.data.CloseIdle(time.Now().Add(-idleAfter)); err != nil {
				d.note("closing idle workspaces: %v", err)
			}
			continue
		case <-tick.C:
		}
		if d.data.Chunks().Stats().StoredBytes == last && !d.wasteful.Load() {
			continue
		}
		d.wasteful.Store(false)
		g, err := d.data.GC(ctx, false)
		if err != nil {
			if ctx.Err() == nil {
				d.note("garbage collection: %v", err)
			}
			continue
		}
		last = d.data.Chunks().Stats().StoredBytes
		d.log.Info("collected garbage", "freed", g.FreedBytes, "packs", g.Deleted)
	}
}
