package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vfsd/vfsd/chunk"
	"github.com/vfsd/vfsd/protocol"
	"github.com/vfsd/vfsd/workspace"
)

// Peer is a workspace of a peer, beside the one here.
type Peer struct {
	Workspace *workspace.Workspace
	// Name is what the peer is called here. The commit that it was last known
	// to have is kept by it, as a base for the next exchange.
	Name  string
	Merge workspace.MergeOptions
	Lazy  bool
}

// Outcome says what an exchange did.
type Outcome struct {
	Head      chunk.ID // of the workspace here, afterwards
	Peer      chunk.ID // the peer's, as far as is known
	Pulled    bool     // the head here moved
	Pushed    bool     // the peer's head moved
	Merged    bool     // both had changed
	Conflicts int      // that the merge has listed
}

// ErrPeerAhead says that the peer has commits that are not here.
var ErrPeerAhead = errors.New("the peer has changes that are not here: pull or sync first")

// ref is the name that keeps the peer's commit.
func (p *Peer) ref() string { return "peer/" + p.Name }

// knows keeps the commit that a peer has, if all of it is here.
func (p *Peer) knows(ctx context.Context, id chunk.ID) error {
	if now, ok := p.Workspace.Ref(p.ref()); ok && now == id || !p.Workspace.HasTree(ctx, id) {
		return nil
	}
	return p.Workspace.SetRef(ctx, p.ref(), id)
}

// Pull brings the peer's commits here and merges them with what is here.
func (p *Peer) Pull(ctx context.Context, c *Client) (Outcome, error) {
	theirs, _, err := c.Fetch(ctx, chunk.ID{}, p.Lazy)
	if errors.Is(err, protocol.ErrNotFound) {
		// Nothing has ever happened there: that is no failure.
		if head, oerr := c.Open(ctx); oerr == nil && head.IsZero() {
			return Outcome{Head: p.Workspace.Head()}, nil
		}
	}
	if err != nil {
		return Outcome{}, err
	}
	return p.take(ctx, theirs)
}

// take merges a commit of the peer that has arrived.
func (p *Peer) take(ctx context.Context, theirs chunk.ID) (Outcome, error) {
	m, err := p.Workspace.Merge(ctx, theirs, p.Merge)
	if err != nil {
		return Outcome{}, err
	}
	moved := m.Head != m.Before
	o := Outcome{Head: m.Head, Peer: theirs, Pulled: moved, Merged: moved && !m.FastForward, Conflicts: m.Conflicts}
	return o, p.knows(ctx, theirs)
}

// Push has the peer take up what is here. ErrPeerAhead says that it has more.
func (p *Peer) Push(ctx context.Context, c *Client) (Outcome, error) {
	theirs, guessed, err := p.peerHead(ctx, c)
	if err != nil {
		return Outcome{}, err
	}
	o, err := p.give(ctx, c, theirs)
	if guessed && errors.Is(err, ErrPeerAhead) {
		if theirs, _, err = c.Fetch(ctx, chunk.ID{}, p.Lazy); err != nil {
			return o, err
		}
		o, err = p.give(ctx, c, theirs)
	}
	return o, err
}

// peerHead returns where the peer stands. On a session that is not new that is a
// guess: what it was last known to have, which a push finds out about at no cost.
func (p *Peer) peerHead(ctx context.Context, c *Client) (theirs chunk.ID, guessed bool, err error) {
	if !c.Reused() {
		theirs, err = c.Open(ctx)
		return theirs, false, err
	}
	head, err := p.Workspace.SyncHead(ctx)
	if err != nil {
		return chunk.ID{}, false, err
	}
	if id, ok := p.Workspace.Ref(p.ref()); ok && id != head {
		return id, true, nil
	}
	theirs, _, err = c.Fetch(ctx, chunk.ID{}, p.Lazy)
	return theirs, false, err
}

// give moves the peer's head from theirs to the head here.
func (p *Peer) give(ctx context.Context, c *Client, theirs chunk.ID) (Outcome, error) {
	head, err := p.Workspace.SyncHead(ctx)
	if err != nil {
		return Outcome{}, err
	}
	o := Outcome{Head: head, Peer: theirs}
	if head == theirs {
		return o, p.knows(ctx, head)
	}
	if theirs.IsZero() && p.Workspace.Blank() {
		return o, nil
	}
	if !theirs.IsZero() {
		ahead, err := p.Workspace.IsAncestor(ctx, theirs, head)
		if err != nil {
			return o, err
		}
		if !ahead {
			return o, ErrPeerAhead
		}
	}
	err = c.Push(ctx, theirs, head)
	if errors.Is(err, protocol.ErrHeadMoved) {
		err = fmt.Errorf("%w (%w)", ErrPeerAhead, err)
	}
	if err != nil {
		return o, err
	}
	o.Peer, o.Pushed = head, true
	return o, p.knows(ctx, head)
}

// syncTries bounds how often an exchange begins anew because the peer's head
// moved meanwhile.
const syncTries = 20

// Sync pulls, merges and pushes until both ends stand at one commit.
func (p *Peer) Sync(ctx context.Context, c *Client) (Outcome, error) {
	var all Outcome
	for try := 1; ; try++ {
		in, err := p.Pull(ctx, c)
		if err != nil {
			return all, err
		}
		all.add(in)
		out, err := p.give(ctx, c, in.Peer)
		all.add(out)
		if err == nil || !errors.Is(err, ErrPeerAhead) || try == syncTries {
			return all, err
		}
		select {
		case <-time.After(time.Duration(try) * 10 * time.Millisecond):
		case <-ctx.Done():
			return all, context.Cause(ctx)
		}
	}
}

func (o *Outcome) add(x Outcome) {
	o.Head, o.Peer = x.Head, x.Peer
	o.Pulled, o.Pushed, o.Merged = o.Pulled || x.Pulled, o.Pushed || x.Pushed, o.Merged || x.Merged
	o.Conflicts += x.Conflicts
}

// Watch keeps both ends at one commit until ctx ends or the session does: a change
// on either side is brought to the other soon after it was made. done hears of
// each exchange that moved something.
func (p *Peer) Watch(ctx context.Context, c *Client, done func(Outcome)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	due := make(chan struct{}, 1)
	poke(due)
	ended := make(chan struct{}, 2)
	go func() {
		defer func() { ended <- struct{}{} }()
		cancel(c.Watch(ctx, func(chunk.ID) error { poke(due); return nil }))
	}()
	go func() {
		defer func() { ended <- struct{}{} }()
		cancel(Follow(ctx, p.Workspace, func(chunk.ID) error { poke(due); return nil }, func(error) {}))
	}()
	err := p.exchange(ctx, c, due, done)
	cancel(err)
	<-ended
	<-ended
	return context.Cause(ctx)
}

// exchange syncs whenever it is due.
func (p *Peer) exchange(ctx context.Context, c *Client, due chan struct{}, done func(Outcome)) error {
	for {
		select {
		case <-due:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		o, err := p.Sync(ctx, c)
		if err != nil {
			return err
		}
		if o.Pulled || o.Pushed {
			done(o)
		}
	}
}
