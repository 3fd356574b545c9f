package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vfsd/vfsd/chunk"
)

// Errors of history.
var (
	ErrNoSuchSnapshot = errors.New("no such snapshot or commit")
	ErrAmbiguous      = errors.New("more than one commit begins so")
)

// Entry is a commit in a log.
type Entry struct {
	ID chunk.ID
	*Commit
	Snapshots []string // the names that point to it
}

// Snapshots returns the snapshots, oldest first.
func (w *Workspace) Snapshots() []Snapshot {
	w.mu.RLock()
	defer w.mu.RUnlock()
	return slices.Clone(w.head.Snapshots)
}

// Snapshot names the present state. It includes every operation acknowledged
// before the call.
func (w *Workspace) Snapshot(ctx context.Context, name string) (Snapshot, error) {
	if err := ValidName(name); err != nil {
		return Snapshot{}, err
	}
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	for _, s := range w.Snapshots() {
		if s.Name == name {
			return Snapshot{}, fmt.Errorf("snapshot %s: %w", name, ErrExists)
		}
	}
	id, err := w.checkpoint(ctx, CauseSnapshot, name)
	if err != nil {
		return Snapshot{}, err
	}
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	s := Snapshot{Name: name, Commit: id, Root: h.Root, Time: now()}
	h.Snapshots = append(slices.Clone(h.Snapshots), s)
	return s, w.moveHead(h)
}

// RemoveSnapshot forgets a name. Its commit, and so its space, stays while
// history keeps it: among the newest 64 commits, whatever a collection does.
func (w *Workspace) RemoveSnapshot(name string) error {
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	rest := slices.DeleteFunc(slices.Clone(h.Snapshots), func(s Snapshot) bool { return s.Name == name })
	if len(rest) == len(h.Snapshots) {
		return noSuch(ErrNoSuchSnapshot, name, w.snapshotNames())
	}
	h.Snapshots = rest
	return w.moveHead(h)
}

// moveHead writes a head that names the same commit. checkpointing is held.
func (w *Workspace) moveHead(h head) error {
	if w.isClosed() {
		return errClosed // somebody else may have opened it: the head is theirs
	}
	if err := writeHead(w.fsys, w.dir, &h); err != nil {
		return fmt.Errorf("write head: %w", err)
	}
	w.mu.Lock()
	moved := w.head.Commit != h.Commit
	w.head = h
	w.mu.Unlock()
	if moved {
		w.headWatchers.tell(h.Commit)
	}
	return nil
}

func (w *Workspace) snapshotNames() []string {
	var names []string
	for _, s := range w.Snapshots() {
		names = append(names, s.Name)
	}
	return names
}

// Log returns the newest commits, at most limit of them, newest first, those
// included that merges brought. It ends where history was pruned.
func (w *Workspace) Log(ctx context.Context, limit int) ([]Entry, error) {
	w.mu.RLock()
	h := w.head
	w.mu.RUnlock()
	named := map[chunk.ID][]string{}
	for _, s := range h.Snapshots {
		named[s.Commit] = append(named[s.Commit], s.Name)
	}
	var log []Entry
	err := w.past(ctx).walk(h.Commit, limit, func(id chunk.ID, c *Commit) (bool, error) {
		log = append(log, Entry{ID: id, Commit: c, Snapshots: named[id]})
		return true, nil
	})
	return log, err
}

// minPrefix is how many hex digits name a commit at least.
const minPrefix = 6

// Resolve finds the commit that spec names: a snapshot, a commit's digest or
// the beginning of it, or "" for the present state, which becomes a commit.
func (w *Workspace) Resolve(ctx context.Context, spec string) (chunk.ID, error) {
	if spec == "" {
		return w.Checkpoint(ctx, CauseCheckpoint, "")
	}
	for _, s := range w.Snapshots() {
		if s.Name == spec {
			return s.Commit, nil
		}
	}
	log, err := w.Log(ctx, 1<<20)
	if err != nil {
		return chunk.ID{}, err
	}
	var found []chunk.ID
	for _, e := range log {
		if len(spec) >= minPrefix && strings.HasPrefix(e.ID.String(), spec) {
			found = append(found, e.ID)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return chunk.ID{}, noSuch(ErrNoSuchSnapshot, spec, w.snapshotNames())
	}
	return chunk.ID{}, fmt.Errorf("%q: %w", spec, ErrAmbiguous)
}
