package journal

import (
	"errors"
	"fmt"
)

// Replay calls fn with every record in order, and stops at its first error,
// which it returns as it is. The payload is only valid during the call and
// must not be changed. fn must not call the journal. Replay works until the
// first Append.
func (j *Journal) Replay(fn func(lsn LSN, t Type, payload []byte) error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable("replay"); err != nil {
		return err
	}
	if j.appended {
		return errors.New("journal: replay: records have been appended already")
	}
	for lsn, last := j.first, j.Applied(); lsn <= last; lsn++ {
		rec, err := j.log.Read(uint64(lsn))
		if err != nil {
			return errors.Join(j.damage(lsn), fmt.Errorf("journal: replay: read LSN %d in %s: %w", lsn, j.dir, err))
		}
		// Checked again: since the scrub it was read from the disk anew.
		r, bad := parseRecord(rec)
		if bad == "" && r.lsn != lsn {
			bad = flawLSN
		}
		if bad != "" {
			return j.damage(lsn)
		}
		if err := fn(lsn, r.typ, r.payload); err != nil {
			return err
		}
	}
	// wal has cached a whole segment for this.
	if err := j.log.ClearCache(); err != nil {
		return fmt.Errorf("journal: replay: %w", err)
	}
	return nil
}

// damage finds where a record is damaged that was whole when it was scrubbed.
// With mu held.
func (j *Journal) damage(lsn LSN) error {
	s := scrubber{fs: j.fs, dir: j.dir}
	if err := s.run(); err != nil {
		return err
	}
	if torn := s.report.Torn; torn != nil {
		return &CorruptError{torn.File, torn.Offset, torn.LSN, torn.Reason}
	}
	return &CorruptError{j.dir, 0, lsn, "the record was read differently each time"}
}
