// Package workspace is the engine: it keeps whole POSIX namespaces in a data
// directory and implements vfs.FS over them.
//
//	d, err := workspace.OpenDataDir(ctx, workspace.Options{Dir: dir})
//	w, err := d.Create(ctx, "demo", uid, gid)   // or d.Open("demo")
//	a, h, err := w.Create(op, vfs.RootIno, "hello", 0o644, syscall.O_RDWR)
//	...
//	s, err := w.Snapshot(ctx, "before")
//	f, err := d.Fork(ctx, w, s.Commit, "experiment")
//	err = d.Close()
//
// # State
//
// A workspace is an ordered map (keys.go, value.go): inodes, dentries, extended
// attributes, extents. Most of it is in an immutable tree; what changed since
// is in an overlay above it (layers.go), and what was written since is in
// staging files (staging.go) that per-inode extent maps refer to (extents.go,
// bytes.go). Every operation is one batch (batch.go), journaled as one record
// (record.go) before it is applied.
//
// A checkpoint (checkpoint.go) folds (fold.go) staged bytes into chunks and the
// overlay into the tree, and moves the head (head.go) to a new commit
// (commit.go). Opening a workspace reads the head and replays the journal
// beyond it (recover.go).
//
// A data directory can be handed to another process while files in it are open
// (handover.go, handoverfs.go).
//
// # Replicas
//
// What a peer needs is read by digest and as deltas (sync.go); what it sends is
// listed in a ledger until it is whole (sync_import.go), verified as hostile
// input (sync_validate.go), and taken up by moving the head (sync_head.go) or by
// a merge (sync_merge.go), at which open files and mounts see the new tree. Divergent commits are merged by
// the identity of inodes (merge.go), by a policy where both have written to a
// file (policy.go); what cannot be decided is kept twice and listed in the map
// itself (conflicts.go). A lazy workspace has its tree here and fetches chunks
// when they are read (lazy.go).
//
// # Promises
//
// P1 holds because a write is in a staging file and its record in the journal,
// both in the kernel's page cache, before it is acknowledged. P2, because an
// fsync makes the bytes durable and then the journal, and the journal is one
// sequence. P3, because replay applies a prefix of that sequence and leaves out
// staged bytes whose checksum does not match. P4, because the chunk store
// verifies what it reads.
package workspace
