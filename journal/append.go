package journal

import (
	"errors"
	"fmt"
)

// ErrTooLarge is Append's error for a payload above MaxPayload; the journal
// goes on.
var ErrTooLarge = errors.New("the record is too large")

// maxKeptBuffer bounds the buffer that outlives an Append, in bytes.
const maxKeptBuffer = 1 << 20

// Append writes one record, whose payload is the concatenation of the parts,
// and returns its LSN. When it returns the record is in the page cache: it
// survives the death of the process, and after an Fsync a power cut. The parts
// are not retained. After an error with ErrFailed in its chain the journal has
// stopped, and the record will not be there after it is reopened.
//
// The record is written by the caller under a mutex, in one system call: a
// committer goroutine was rejected because waking it costs ten times that.
func (j *Journal) Append(t Type, payload ...[]byte) (LSN, error) {
	if t == 0 {
		return 0, errors.New("journal: append: record type 0 is not valid")
	}
	n := 0
	for _, p := range payload {
		if n += len(p); n > MaxPayload {
			return 0, fmt.Errorf("journal: append: %w", ErrTooLarge)
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usable("append"); err != nil {
		return 0, err
	}
	if j.tail.size >= j.segmentSize {
		if err := j.roll(); err != nil {
			return 0, err
		}
	}
	lsn := j.Applied() + 1
	if lsn > MaxLSN {
		return 0, fmt.Errorf("journal: append: no LSN is left after %d", uint64(MaxLSN))
	}
	j.appended = true
	j.buf = appendRecord(j.buf[:0], t, lsn, j.Durable(), payload)
	size := entrySize(len(j.buf))
	err := j.log.Write(uint64(lsn), j.buf)
	if cap(j.buf) > maxKeptBuffer {
		j.buf = nil
	}
	if err != nil {
		return 0, j.fail("append", fmt.Errorf("write %s at offset %d: %w", j.tail.path, j.tail.size, err))
	}
	j.tail.size += size
	j.size.Add(size)
	j.applied.Store(uint64(lsn))
	return lsn, nil
}

// roll begins a new segment once the last one is full and durable. It comes
// before the write that needs it, so that a failure here leaves no trace of
// the record. With mu held, which is released while another's fsync runs.
func (j *Journal) roll() error {
	for j.fsyncing {
		j.fsynced.Wait()
		if err := j.usable("append"); err != nil {
			return err
		}
	}
	if j.tail.size < j.segmentSize {
		return nil // somebody else has begun it
	}
	applied := j.Applied()
	if j.Durable() < applied {
		if err := j.tail.file.Sync(); err != nil {
			return j.fail("fsync", fmt.Errorf("fsync %s: %w", j.tail.path, err))
		}
		j.durable.Store(uint64(applied))
		j.fsynced.Broadcast()
	}
	if err := j.releaseTail(); err != nil {
		return j.fail("append", err)
	}
	if err := j.makeSegment(applied + 1); err != nil {
		return j.fail("append", err)
	}
	if err := j.openLog(); err != nil {
		return j.fail("append", fmt.Errorf("begin %s: %w", j.tail.path, err))
	}
	return nil
}

// Fsync returns when all records up to an LSN are durable. Concurrent calls
// share fsyncs: the first does one itself, those that come meanwhile wait for
// it and then the first of them does one for all. What is durable already
// stays so, and Fsync of it succeeds, after the journal has stopped. Otherwise
// a failure stops the journal.
func (j *Journal) Fsync(upTo LSN) error {
	if j.Durable() >= upTo {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if upTo > j.Applied() {
		return fmt.Errorf("journal: fsync: LSN %d was never appended, the last is %d", upTo, j.Applied())
	}
	return j.fsync(upTo)
}

// fsync does the work of Fsync. With mu held, which is released meanwhile.
func (j *Journal) fsync(upTo LSN) error {
	for j.Durable() < upTo {
		if err := j.usable("fsync"); err != nil {
			return err
		}
		if j.fsyncing {
			j.fsynced.Wait()
			continue
		}
		j.fsyncing = true
		target, file := j.Applied(), j.tail.file
		j.mu.Unlock()
		err := file.Sync()
		j.mu.Lock()
		j.fsyncing = false
		if err != nil {
			return j.fail("fsync", fmt.Errorf("fsync %s: %w", j.tail.path, err))
		}
		j.durable.Store(uint64(target))
		j.fsynced.Broadcast()
	}
	return nil
}
