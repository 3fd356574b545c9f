package tree

import (
	"bytes"
	"context"
	"fmt"
)

// Conflict is a key that two trees changed from their base in different ways.
// A value is nil if the tree has no such key. Nothing may be modified; the key
// is valid during the call.
type Conflict struct {
	Key, Base, Ours, Theirs []byte
}

// MergeStats counts the keys that a merge looked at, by who had changed them.
type MergeStats struct {
	Ours      int // only ours
	Theirs    int // only theirs
	Same      int // both, to the same value
	Conflicts int // both, differently: resolve was asked
}

// Merge returns the tree with the changes from base to ours and those from base
// to theirs. A key changed by one side only takes that side's value; of one
// changed by both to different values, resolve decides: the value to keep, or
// !keep for none. Its error ends the merge and is in the chain of the one
// returned. The cost is that of the differences.
//
// The result is written to the store of ours.
func Merge(ctx context.Context, base, ours, theirs *Tree, resolve func(Conflict) (value []byte, keep bool, err error)) (*Tree, MergeStats, error) {
	m := merger{resolve: resolve}
	if err := m.run(ctx, newDiffer(base, ours), newDiffer(base, theirs)); err != nil {
		return nil, m.stats, fmt.Errorf("merge trees %v and %v from %v: %w", ours.root, theirs.root, base.root, err)
	}
	merged, err := ours.Apply(ctx, m.edits)
	if err != nil {
		return nil, m.stats, fmt.Errorf("merge trees %v and %v: %w", ours.root, theirs.root, err)
	}
	return merged, m.stats, nil
}

// merger collects what must be done to ours.
type merger struct {
	resolve func(Conflict) ([]byte, bool, error)
	edits   []Edit
	stats   MergeStats
}

func (m *merger) run(ctx context.Context, ours, theirs *differ) error {
	o, more, err := ours.next(ctx)
	if err != nil {
		return err
	}
	t, moreTheirs, err := theirs.next(ctx)
	if err != nil {
		return err
	}
	for more || moreTheirs {
		order := 0
		switch {
		case !moreTheirs:
			order = -1
		case !more:
			order = 1
		default:
			order = bytes.Compare(o.Key, t.Key)
		}
		switch {
		case order < 0:
			m.stats.Ours++
		case order > 0:
			m.stats.Theirs++
			m.set(t.Key, t.New, t.New != nil)
		default:
			if err := m.both(o, t); err != nil {
				return err
			}
		}
		if order <= 0 {
			if o, more, err = ours.next(ctx); err != nil {
				return err
			}
		}
		if order >= 0 {
			if t, moreTheirs, err = theirs.next(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// both handles a key that both sides changed.
func (m *merger) both(ours, theirs Change) error {
	if bytes.Equal(ours.New, theirs.New) && (ours.New == nil) == (theirs.New == nil) {
		m.stats.Same++
		return nil
	}
	m.stats.Conflicts++
	value, keep, err := m.resolve(Conflict{Key: ours.Key, Base: ours.Old, Ours: ours.New, Theirs: theirs.New})
	if err != nil {
		return fmt.Errorf("resolve key %.80q: %w", ours.Key, err)
	}
	m.set(ours.Key, value, keep)
	return nil
}

func (m *merger) set(key, value []byte, keep bool) {
	e := Edit{Key: bytes.Clone(key), Delete: !keep}
	if keep {
		e.Value = value
	}
	m.edits = append(m.edits, e)
}
