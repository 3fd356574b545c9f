// Package checkout keeps a plain directory and a workspace equal, in both
// directions, where there is no FUSE to mount with.
//
//	c, err := checkout.Open(checkout.Options{Dir: dir, StateDir: state, Name: name, Shadow: fork, Live: w})
//	report, err := c.Pass(ctx)      // once
//	err = c.Watch(ctx, onReport)    // until ctx ends
//
// # How
//
// The directory is treated as one more replica. A private fork of the
// workspace, the shadow, stands for what the directory held when both last
// agreed. A pass then is
//
//	absorb   what changed in the directory is done to the shadow, and committed
//	merge    the workspace merges that commit, as it would a peer's
//	emit     what the merge differs in from the shadow is done to the directory
//	forward  the shadow moves to the merge
//
// so that the rules of merging, of conflicts and of history are the ones that
// replicas have. Nothing here decides who wins.
//
// # What holds
//
//   - Nothing in the directory is replaced or removed unless it is what the last
//     pass saw: a file that changed meanwhile is kept, and what should have taken
//     its place is put beside it (emit.go).
//   - Nothing outside the directory is touched: every step of a path is opened
//     beneath the directory and through no link (host_linux.go).
//   - A pass may end anywhere, by a kill or a full disk: an unfinished emission is
//     written down before it begins and taken up by the next pass (state.go).
//   - The index, which says what the directory looked like, is a cache. Without it
//     a pass compares bytes.
package checkout
