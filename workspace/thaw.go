package workspace

import (
	"errors"
	"fmt"
	"syscall"
)

// roomToFold refuses a checkpoint that the disk has no room for before it fills
// the rest with half of it: staged bytes are stored once more before their
// staging files can go.
func (w *Workspace) roomToFold(staged int64) error {
	host, err := w.fsys.Usage(w.dir)
	if err != nil {
		return err
	}
	if need := uint64(staged) + foldMargin; staged > 0 && need > host.Free {
		return fmt.Errorf("%d MiB are staged and %d MiB are free: %w", need>>20, host.Free>>20, syscall.ENOSPC)
	}
	return nil
}

// staged counts the bytes of the files in a frozen batch that are staged.
func (fz *frozenState) staged() int64 {
	var n int64
	for _, x := range fz.inodes {
		n += x.frozen.staged()
	}
	return n
}

// staged counts the bytes of all files that the next checkpoint has to store.
func (c *inodes) staged() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	var n int64
	for _, x := range c.m {
		if !x.orphan {
			n += x.delta.staged()
		}
	}
	return n
}

func (e *extentMap) staged() int64 {
	var n int64
	e.scan(func(p piece) bool {
		if p.src == srcStaging {
			n += p.len
		}
		return true
	})
	return n
}

// foldMargin is room for tree nodes and a commit beside the bytes.
const foldMargin = 1 << 20

// thaw takes back a freeze whose checkpoint cannot land: what was frozen lies
// again below what came since, as one layer. The epochs stay on disk, in order,
// until a later checkpoint takes all of them into the tree. checkpointing is
// held.
func (w *Workspace) thaw() error {
	fz := w.frozen
	// From here on nobody remembers that this journal comes first.
	if err := fz.journal.Fsync(fz.lsn); err != nil {
		return fmt.Errorf("thaw %s: %w", w.name, err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.layers.frozen.Scan(func(key string, value []byte) bool {
		if _, newer := w.layers.active.Get(key); !newer {
			w.layers.active.Set(key, value)
		}
		return true
	})
	for _, n := range fz.inodes {
		below := n.frozen
		n.frozen = nil
		if n.orphan {
			continue // its delta says all of its bytes
		}
		n.delta.scan(func(p piece) bool {
			below.insert(p)
			return true
		})
		n.delta, n.resized = below, true
	}
	w.layers.frozen, w.frozen, w.previous = nil, nil, nil
	w.dirty = true
	if err := fz.journal.Close(); err != nil {
		w.log.Warn("closing a journal that is kept for the next checkpoint", "workspace", w.name, "err", err)
	}
	return nil
}

// appendBatch journals one record. On a full disk the reserve is given up for
// one that makes room: to delete something must be possible, or nothing ever
// does.
func (w *Workspace) appendBatch(payload []byte, frees bool) error {
	_, err := w.journal.Append(recBatch, payload)
	if err == nil || !frees || !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	if rerr := w.journal.ReleaseReserve(); rerr != nil {
		return errors.Join(err, rerr)
	}
	if rerr := w.journal.Reopen(); rerr != nil {
		return errors.Join(err, rerr)
	}
	_, err = w.journal.Append(recBatch, payload)
	return err
}
