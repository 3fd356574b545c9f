package replica

import (
	"context"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/vfs"
	"github.com/vfsd/vfsd/workspace"
)

// How soon a change becomes a commit while somebody waits for it: after a pause in
// the changes, but no later than followAtMost after the first.
const (
	followQuiet  = 100 * time.Millisecond
	followAtMost = 500 * time.Millisecond
	followRetry  = time.Second // after a commit that failed, on a full disk say
)

// follower wakes whoever follows a workspace.
type follower struct{ changed, moved chan struct{} }

func (f *follower) Origin() vfs.Origin { return ^vfs.Origin(0) - 1 }

func (f *follower) Changed([]vfs.Change) { poke(f.changed) }

func poke(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// Follow calls moved with the head of a workspace, now and whenever it has moved,
// until ctx ends or moved returns an error. Meanwhile changes are committed soon
// after they were made. failed hears of commits that failed; they are tried again.
func Follow(ctx context.Context, w *workspace.Workspace, moved func(chunk.ID) error, failed func(error)) error {
	f := &follower{changed: make(chan struct{}, 1), moved: make(chan struct{}, 1)}
	stopChanges := w.Watch(f)
	defer stopChanges()
	stopHead := w.WatchHead(func(chunk.ID) { poke(f.moved) })
	defer stopHead()
	var last chunk.ID
	for {
		head, err := w.SyncHead(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			failed(err)
			if err := f.pause(ctx, followRetry); err != nil {
				return err
			}
			continue
		case head != last:
			last = head
			if err := moved(head); err != nil {
				return err
			}
		}
		if err := f.await(ctx); err != nil {
			return err
		}
	}
}

// await returns when there is something to commit or a head to tell of.
func (f *follower) await(ctx context.Context) error {
	select {
	case <-f.moved:
		return nil
	case <-f.changed:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for end := time.Now().Add(followAtMost); time.Now().Before(end); {
		select {
		case <-f.changed:
		case <-time.After(followQuiet):
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (f *follower) pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
