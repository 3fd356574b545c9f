package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
)

// MergeReport says what became of a merge.
type MergeReport struct {
	Head        chunk.ID // where the workspace stands now
	Before      chunk.ID // where it stood, everything acknowledged included
	Base        chunk.ID // what both come from; zero when history does not say
	FastForward bool     // there was nothing of our own to merge
	Ours        int      // inodes that we had touched since the base
	Theirs      int      // that they had
	Conflicts   int      // what could not be decided; see Conflicts
}

// MergeOptions say how to merge. The zero value is what replicas should use.
type MergeOptions struct {
	// Policy takes the place of the one in the workspace (PolicyPath), if it is
	// not nil: the text of one.
	Policy []byte
}

// mergeRounds is how often a merge starts over because of changes in between,
// before it makes changes wait: each round has to merge only what came during
// the one before.
const mergeRounds = 3

// Merge brings theirs, a commit that an import has finished or that is here
// anyway, together with the present state, which becomes a commit first, and
// moves the head to the result. It goes on while files are open and written to;
// towards its end changes wait a moment. What cannot be decided is kept side by
// side and listed (Conflicts): nothing is lost.
func (w *Workspace) Merge(ctx context.Context, theirs chunk.ID, o MergeOptions) (MergeReport, error) {
	r, err := w.merge(ctx, theirs, o)
	if err != nil {
		err = fmt.Errorf("merge %.12s into %s: %w", theirs, w.name, err)
	}
	return r, err
}

func (w *Workspace) merge(ctx context.Context, theirs chunk.ID, o MergeOptions) (MergeReport, error) {
	var pol *policy
	var err error
	if o.Policy != nil {
		if pol, err = parsePolicy(o.Policy); err != nil {
			return MergeReport{}, err
		}
	}
	if w.readOnly {
		return MergeReport{}, syscall.EROFS
	}
	if _, err := w.whole(ctx, theirs); err != nil {
		return MergeReport{}, err
	}
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	var report MergeReport
	for round := 0; ; round++ {
		resume := func() {}
		if round >= mergeRounds {
			resume = w.pause()
		}
		done, d, err := w.mergeRound(ctx, theirs, pol, &report)
		resume()
		// Not before changes go on: a mount answers when the kernel does, which
		// may wait for one of them.
		if d != nil {
			w.announce(0, d.changes)
		}
		if err != nil || done {
			return report, err
		}
		if round > 2*mergeRounds {
			return report, ErrBusy // only what is not a change of files can do that
		}
	}
}

// mergeRound merges the present state and moves the head, unless something has
// changed meanwhile: then it is not done. checkpointing is held. The watchers
// are to hear of d.
func (w *Workspace) mergeRound(ctx context.Context, theirs chunk.ID, pol *policy, r *MergeReport) (done bool, d *differing, err error) {
	head, err := w.checkpoint(ctx, CauseCheckpoint, "")
	if err != nil {
		return false, nil, err
	}
	*r = MergeReport{Head: head, Before: head}
	common, err := w.past(ctx).bases(head, theirs)
	if err != nil {
		return false, nil, err
	}
	if len(common) == 1 && common[0].id == theirs {
		r.Base = theirs
		return true, nil, nil
	}
	ours, err := getCommit(ctx, w.chunks, head)
	if err != nil {
		return false, nil, err
	}
	c, err := getCommit(ctx, w.chunks, theirs)
	if err != nil {
		return false, nil, err
	}
	behind := w.blank() || len(common) == 1 && common[0].id == head
	target, id := c, theirs
	if behind {
		r.Base, r.FastForward = head, true
	} else if id, target, err = w.mergeCommits(ctx, common, head, ours, theirs, c, pol, r); err != nil {
		return false, nil, err
	}
	if d, err = w.swapHead(ctx, head, id, target, id, theirs); d != nil {
		r.Head = id
	}
	return d != nil, d, err
}

// mergeCommits makes the commit that has both. It depends on the two alone, so
// that replicas that merge the same ones make the same commit.
func (w *Workspace) mergeCommits(ctx context.Context, common []walked, a chunk.ID, ours *Commit, b chunk.ID, theirs *Commit, pol *policy, r *MergeReport) (chunk.ID, *Commit, error) {
	if ours.Polynomial != theirs.Polynomial && ours.Polynomial != 0 && theirs.Polynomial != 0 {
		return chunk.ID{}, nil, fmt.Errorf("their files are cut with another polynomial: %w", ErrInvalid)
	}
	budget := maxVirtual
	result, base, err := w.mergeFromBest(ctx, common, ours, theirs, pol, &budget)
	if err != nil {
		return chunk.ID{}, nil, err
	}
	r.Base, r.Ours, r.Theirs, r.Conflicts = base, result.stats.ours, result.stats.theirs, len(result.conflicts)
	parents := []chunk.ID{a, b}
	slices.SortFunc(parents, chunk.Compare)
	c := &Commit{
		Root: result.root, Parents: parents, Replica: max(ours.Replica, theirs.Replica), Time: max(ours.Time, theirs.Time),
		Cause: CauseMerge, Inodes: result.usage.Inodes, Blocks: result.usage.Blocks, Polynomial: max(ours.Polynomial, theirs.Polynomial),
	}
	id, err := putCommit(ctx, w.chunks, c)
	return id, c, err
}

// maxVirtual bounds how many merges of ancestors one merge may take: a history made
// for it would take any number.
const maxVirtual = 16

// virtualBase merges several best common ancestors, which there are when both
// sides have merged one another's work at the same time, into the one that they
// stand for: from either alone, what one side did and the other has taken up since
// would look as if both had done it. ok is false when a tree is missing or budget
// is used up: then one of the ancestors has to do.
func (w *Workspace) virtualBase(ctx context.Context, common []walked, pol *policy, budget *int) (root chunk.ID, ok bool, err error) {
	if len(common) < 2 || len(common) > *budget {
		return root, false, nil
	}
	*budget -= len(common) - 1
	for _, x := range common {
		if !w.chunks.Has(x.c.Root) {
			return root, false, nil
		}
	}
	whole := *common[0].c
	for _, x := range common[1:] {
		older, err := w.past(ctx).bases(common[0].id, x.id)
		if err != nil {
			return root, false, err
		}
		r, _, err := w.mergeFromBest(ctx, older, &whole, x.c, pol, budget)
		if errors.Is(err, chunk.ErrNotFound) {
			return root, false, nil
		}
		if err != nil {
			return root, false, err
		}
		whole.Root = r.root
	}
	return whole.Root, true, nil
}

// mergeFromBest merges from the newest common ancestor whose tree is here; from
// nothing when there is none: then nothing counts as deleted.
func (w *Workspace) mergeFromBest(ctx context.Context, common []walked, ours, theirs *Commit, pol *policy, budget *int) (*mergeResult, chunk.ID, error) {
	var roots []walked
	slices.SortFunc(common, func(x, y walked) int { return -chunk.Compare(x.id, y.id) })
	slices.SortStableFunc(common, func(x, y walked) int { return int(min(max(y.c.Time-x.c.Time, -1), 1)) })
	root, ok, err := w.virtualBase(ctx, common, pol, budget)
	if err != nil {
		return nil, chunk.ID{}, err
	}
	if ok {
		r, err := w.mergeTrees(ctx, root, ours, theirs, pol)
		return r, common[0].id, err
	}
	roots = append(roots, common...)
	if len(common) > 0 {
		// Older ones will do: what both have changed since is the same.
		err := w.past(ctx).walk(common[0].id, keptRecords, func(id chunk.ID, c *Commit) (bool, error) {
			if id != common[0].id && w.chunks.Has(c.Root) {
				roots = append(roots, walked{id, c})
			}
			return len(roots) < 16, nil
		})
		if err != nil {
			return nil, chunk.ID{}, err
		}
	}
	for _, x := range roots {
		if !w.chunks.Has(x.c.Root) {
			continue
		}
		r, err := w.mergeTrees(ctx, x.c.Root, ours, theirs, pol)
		if errors.Is(err, chunk.ErrNotFound) {
			continue // a tree of which only parts are here
		}
		return r, x.id, err
	}
	r, err := w.mergeTrees(ctx, tree.EmptyRoot(), ours, theirs, pol)
	return r, chunk.ID{}, err
}
