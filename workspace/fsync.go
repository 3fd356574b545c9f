package workspace

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/vfsd/vfsd/vfs"
)

// fsyncInode makes a file durable, and with it every operation acknowledged
// before: the journal is one sequence. The bytes go first, so that a durable
// record never tells of bytes that are not.
func (w *Workspace) fsyncInode(n *inode) error {
	w.mu.Lock()
	if err := w.writable(); err != nil {
		w.mu.Unlock()
		return err
	}
	u := n.unsynced
	n.unsynced = unsynced{}
	known := u.failed()
	err := error(nil)
	if u.small() && !n.orphan {
		err = w.journalStaged(u.spans)
	}
	j, upTo, prev := w.journal, w.journal.Applied(), w.previous
	w.mu.Unlock()
	if err == nil && (!u.small() || n.orphan) {
		for _, f := range u.files {
			if err = w.staging.fsyncFile(f.file, f.end); err != nil {
				break
			}
		}
	}
	if err == nil {
		err = prev.wait(w)
	}
	if err == nil {
		err = j.Fsync(upTo)
	}
	if err != nil {
		w.mu.Lock()
		n.unsynced.merge(u) // still to be made durable, should a checkpoint not do it
		err = w.journalFailed(err)
		w.kickCheckpoint()
		w.mu.Unlock()
	}
	if err != nil && known && !n.orphan {
		return w.rescue(err)
	}
	return err
}

// failed reports whether a file that the bytes are staged in has failed to be
// fsynced before: whoever had it open then was told.
func (u *unsynced) failed() bool {
	return slices.ContainsFunc(u.files, func(f fileEnd) bool {
		f.file.syncMu.Lock()
		defer f.file.syncMu.Unlock()
		return f.file.syncFail != nil
	})
}

// rescue makes durable by a checkpoint, which reads and verifies the bytes, what
// can never be made so where it is staged. Without it a file that was opened
// anew after an error would stay failed until the next checkpoint.
func (w *Workspace) rescue(cause error) error {
	if _, err := w.Checkpoint(context.Background(), CauseCheckpoint, ""); err != nil {
		return errors.Join(cause, err)
	}
	return nil
}

// merge adds what other lists.
func (u *unsynced) merge(other unsynced) {
	u.files = append(other.files, u.files...)
	u.bytes += other.bytes
	u.spans = append(other.spans, u.spans...)
	if !u.small() {
		u.spans = nil
	}
}

// journalStaged puts staged bytes into the journal too, where the fsync that
// follows reaches them.
func (w *Workspace) journalStaged(spans []span) error {
	for _, s := range spans {
		if s.file.id.epoch != w.epoch {
			// Its bytes go into the tree with the checkpoint that previous
			// waits for, or are repaired from that epoch's journal: fsync them
			// where they are.
			if err := w.staging.fsyncFile(s.file, s.at+s.len); err != nil {
				return err
			}
			continue
		}
		p := make([]byte, s.len)
		if err := readStaged(s.file, p, s.at); err != nil {
			return err
		}
		payload, err := w.enc.staged(&stagedRecord{file: s.file.id, at: s.at, bytes: p})
		if err != nil {
			return err
		}
		if _, err := w.journal.Append(recStaged, payload); err != nil {
			return fmt.Errorf("journal staged bytes: %w", err)
		}
	}
	return nil
}

// Syncfs implements vfs.FS.
func (w *Workspace) Syncfs(op *vfs.Op) error {
	w.mu.Lock()
	if err := w.writable(); err != nil {
		w.mu.Unlock()
		return err
	}
	j, upTo, prev := w.journal, w.journal.Applied(), w.previous
	w.mu.Unlock()
	err := w.staging.fsync()
	if err == nil {
		err = prev.wait(w)
	}
	if err == nil {
		err = j.Fsync(upTo)
	}
	if err != nil {
		w.mu.Lock()
		err = w.journalFailed(err)
		w.mu.Unlock()
	}
	return err
}
