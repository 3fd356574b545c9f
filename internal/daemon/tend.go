package daemon

import (
	"context"
	"time"
)

// tendEvery is how often a daemon looks after its store.
const tendEvery = time.Hour

// tend collects garbage in the background until ctx ends. A store that has not
// grown since the last time, and of which nothing was removed, has little to
// give and is let sleep.
func (d *Daemon) tend(ctx context.Context) {
	tick := time.NewTicker(tendEvery)
	defer tick.Stop()
	last := d.data.Chunks().Stats().StoredBytes
	for {
		select {
		case <-ctx.Done():
			return
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
