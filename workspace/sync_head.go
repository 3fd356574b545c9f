package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/tree"
	"github.com/vfsd/vfsd/vfs"
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

// MoveHead moves the head from old to new, a commit that an import has
// finished or that is here anyway, durably. Readers, open handles and mounts
// see the new tree at once. If the workspace stands elsewhere, or has changes
// that old does not have, nothing moves: ErrHeadMoved. If new does not descend
// from old: ErrDiverged. A workspace in which nothing has ever happened goes
// anywhere.
func (w *Workspace) MoveHead(ctx context.Context, old, new chunk.ID) error {
	if err := w.moveHeadTo(ctx, old, new); err != nil {
		return fmt.Errorf("move the head of %s: %w", w.name, err)
	}
	return nil
}

func (w *Workspace) moveHeadTo(ctx context.Context, old, new chunk.ID) error {
	if w.readOnly {
		return syscall.EROFS
	}
	c, err := w.whole(ctx, new)
	if err != nil {
		return err
	}
	w.checkpointing.Lock()
	defer w.checkpointing.Unlock()
	head, err := w.checkpoint(ctx, CauseCheckpoint, "")
	if err != nil {
		return err
	}
	if head != old {
		return fmt.Errorf("it is %s: %w", head, ErrHeadMoved)
	}
	if new == head {
		return nil
	}
	if !w.blank() {
		descends, err := w.past(ctx).contains(new, old)
		if err != nil {
			return err
		}
		if !descends {
			return ErrDiverged
		}
	}
	if err := w.roomFor(c); err != nil {
		return err
	}
	resume := w.pause()
	d, err := w.swapHead(ctx, head, new, c, new)
	resume()
	if err == nil && d == nil {
		err = ErrHeadMoved
	}
	if d != nil {
		w.announce(0, d.changes)
	}
	return err
}

// roomFor refuses a commit that would exceed the quota, or exceed it further.
func (w *Workspace) roomFor(c *Commit) error {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if c.Inodes > w.usage.Inodes && c.Inodes > w.quota.inodes() {
		return syscall.EDQUOT
	}
	if c.Blocks > w.usage.Blocks {
		return w.quota.allow(c.Blocks)
	}
	return nil
}

// whole returns a commit whose tree is here.
func (w *Workspace) whole(ctx context.Context, id chunk.ID) (*Commit, error) {
	c, err := getCommit(ctx, w.chunks, id)
	if err != nil {
		return nil, err
	}
	if c.Root != tree.EmptyRoot() && !w.chunks.Has(c.Root) {
		return nil, fmt.Errorf("commit %s: %w", id, ErrNoTree)
	}
	return c, nil
}

// blank reports whether nothing has ever happened in the workspace: it is as it
// was created.
func (w *Workspace) blank() bool {
	w.mu.RLock()
	defer w.mu.RUnlock()
	if w.dirty || w.frozen != nil || w.head.Next != 1 || w.next != 1 || w.head.LSN != 0 || len(w.head.Snapshots) > 0 {
		return false
	}
	c, err := getCommit(context.Background(), w.chunks, w.head.Commit)
	return err == nil && c.Cause == CauseCreate && len(c.Parents) == 0
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

// pause makes changes wait until resume is called.
func (w *Workspace) pause() (resume func()) {
	ch := make(chan struct{})
	w.mu.Lock()
	w.paused = ch
	w.mu.Unlock()
	return func() {
		w.mu.Lock()
		w.paused = nil
		w.mu.Unlock()
		close(ch)
	}
}

// swapHead makes a commit's tree the present one, if nothing has changed since
// head was made, and returns what the watchers must hear of: nil if it did not.
// whole are commits whose trees are here: those that others have made are where
// the next merge goes on from. checkpointing is held; nothing is frozen.
func (w *Workspace) swapHead(ctx context.Context, head, id chunk.ID, c *Commit, whole ...chunk.ID) (*differing, error) {
	w.mu.RLock()
	old := w.layers.base
	w.mu.RUnlock()
	target := w.treeAt(c.Root)
	d, err := w.differing(ctx, old, target)
	if err != nil {
		return nil, err
	}
	if err := w.chunks.Fsync(ctx); err != nil {
		return nil, err
	}
	moved, err := w.takeHead(head, id, c, target, d, whole)
	if !moved {
		return nil, err
	}
	w.headWatchers.tell(id)
	return d, err
}

// takeHead does what swapHead says, under the lock.
func (w *Workspace) takeHead(head, id chunk.ID, c *Commit, target *tree.Tree, d *differing, whole []chunk.ID) (bool, error) {
	wasBlank := w.blank()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false, errClosed
	}
	if w.dirty || w.frozen != nil || w.journalErr != nil || w.head.Commit != head {
		return false, nil
	}
	if err := w.adoptLost(target); err != nil {
		return false, err
	}
	h := w.head
	h.Commit, h.Root, h.Inodes, h.Blocks, h.Next = id, c.Root, c.Inodes, c.Blocks, w.next
	for _, x := range whole {
		h.Refs = w.keepSynced(withoutImport(h.Refs, x), x)
	}
	if wasBlank {
		if err := w.beginElsewhere(&h, c.Polynomial); err != nil {
			return false, err
		}
	}
	if err := writeHead(w.fsys, w.dir, &h); err != nil {
		return false, fmt.Errorf("write head: %w", err)
	}
	w.head, w.layers.base = h, target
	w.next = h.Next
	w.usage = usage{c.Inodes, c.Blocks}
	w.changed++
	return true, w.reload(d)
}

// keepSynced keeps a commit that another replica has made, so that the next
// merge with it finds where both were the same.
func (w *Workspace) keepSynced(refs []Ref, id chunk.ID) []Ref {
	c, err := getCommit(context.Background(), w.chunks, id)
	if err != nil || c.Cause != CauseMerge && c.Replica == w.replica {
		return refs
	}
	name := fmt.Sprintf("%s%05x", syncRefs, c.Replica)
	if c.Cause == CauseMerge {
		name += "-merge"
	}
	return withRef(refs, name, id)
}

// beginElsewhere makes a workspace that was blank a replica of what it takes:
// it cuts alike, and counts its inodes from a place of its own. mu is held.
func (w *Workspace) beginElsewhere(h *head, polynomial uint64) (err error) {
	if h.Next, err = newCounter(); err != nil {
		return err
	}
	if polynomial == 0 || polynomial == h.Polynomial {
		return nil
	}
	cut, err := chunk.NewCutter(polynomial)
	if err == nil {
		w.cut, h.Polynomial = cut, polynomial
	}
	return err
}

// differing is what caches must forget when one tree replaces another.
type differing struct {
	changes []vfs.Change
	inodes  map[vfs.Ino]bool // nil: too many to list
	count   int
}

// differing compares two trees of the workspace.
func (w *Workspace) differing(ctx context.Context, from, to *tree.Tree) (*differing, error) {
	d := &differing{inodes: map[vfs.Ino]bool{}}
	var inner error
	kinds := map[vfs.Ino]int{} // place of the change of an inode, plus one
	err := tree.Diff(ctx, from, to, func(c tree.Change) bool {
		d.count++
		if len(d.changes) > maxChanges {
			return true
		}
		ino := keyIno(c.Key)
		switch {
		case !validKey(c.Key):
			inner = errCorruptKey
		case c.Key[0] == keyDentry:
			inner = d.entry(ino, c)
		default:
			d.inodes[ino] = true
			inner = d.inode(ino, c, kinds)
		}
		return inner == nil
	})
	if err = errors.Join(err, inner); err != nil {
		return nil, err
	}
	if len(d.changes) > maxChanges {
		d.changes, d.inodes = []vfs.Change{{Kind: vfs.ChangeAll}}, nil
	}
	return d, nil
}

func (d *differing) entry(parent vfs.Ino, c tree.Change) error {
	v := c.New
	if v == nil {
		v = c.Old
	}
	x, err := decodeDentry(v)
	d.changes = append(d.changes, vfs.Change{Kind: vfs.ChangeEntry, Parent: parent, Name: string(keySuffix(c.Key)), Ino: x.ino, Gone: c.New == nil})
	return err
}

// inode notes a change of an inode: of its bytes when they may differ, else of
// its attributes, so that what the kernel has cached of a file lives on when
// only its mode has changed.
func (d *differing) inode(ino vfs.Ino, c tree.Change, kinds map[vfs.Ino]int) error {
	x := vfs.Change{Kind: vfs.ChangeAttr, Ino: ino}
	switch c.Key[0] {
	case keyExtent:
		x = vfs.Change{Kind: vfs.ChangeData, Ino: ino, Len: -1}
	case keyXattr:
		x.Rights = string(keySuffix(c.Key)) == vfs.XattrACLAccess
	case keyInode:
		if c.Old == nil || c.New == nil {
			x.Rights = true
			break
		}
		a, err := decodeInode(ino, c.Old)
		if err != nil {
			return err
		}
		b, err := decodeInode(ino, c.New)
		if err != nil {
			return err
		}
		if a.IsRegular() && !sameHead(a, b) {
			x = vfs.Change{Kind: vfs.ChangeData, Ino: ino, Len: -1}
		}
		x.Rights = a.Mode != b.Mode || a.UID != b.UID || a.GID != b.GID
	}
	at := kinds[ino]
	if at == 0 {
		d.changes = append(d.changes, x)
		kinds[ino] = len(d.changes)
		return nil
	}
	was := &d.changes[at-1]
	if x.Kind == vfs.ChangeData {
		was.Kind, was.Off, was.Len = x.Kind, x.Off, x.Len
	}
	was.Rights = was.Rights || x.Rights
	return nil
}

// reload makes what is cached agree with a new base. mu is held exclusively and
// the overlay is empty.
func (w *Workspace) reload(d *differing) error {
	if d.inodes == nil {
		return w.reloadInodes()
	}
	var first error
	for _, n := range w.inodes.all() {
		if d.inodes[n.ino] || n.orphan {
			if err := w.reloadInode(n); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}
