package hostfs

import (
	"fmt"
	"io/fs"
	"slices"
	"sync/atomic"
)

// Op is a kind of call that Fault sees.
type Op uint8

// The kinds of calls, by the methods of FS and File.
const (
	OpOpen Op = iota + 1
	OpMkdir
	OpRemove
	OpRemoveAll
	OpRename
	OpReadDir
	OpStat
	OpSyncDir
	OpUsage
	OpRead
	OpWrite
	OpSync
	OpTruncate
	OpSize
	OpAllocate
	OpPunch
	OpLock
	OpClose
)

var opNames = [...]string{
	OpOpen: "open", OpMkdir: "mkdir", OpRemove: "remove", OpRemoveAll: "removeall",
	OpRename: "rename", OpReadDir: "readdir", OpStat: "stat", OpSyncDir: "syncdir",
	OpUsage: "usage", OpRead: "read", OpWrite: "write", OpSync: "sync",
	OpTruncate: "truncate", OpSize: "size", OpAllocate: "allocate", OpPunch: "punch",
	OpLock: "lock", OpClose: "close",
}

// String names the call.
func (op Op) String() string {
	if int(op) < len(opNames) && opNames[op] != "" {
		return opNames[op]
	}
	return fmt.Sprintf("op %d", uint8(op))
}

// Writes reports whether the call changes what is on the disk: it is one that
// a full or dying disk may fail.
func (op Op) Writes() bool {
	switch op {
	case OpOpen, OpMkdir, OpRemove, OpRemoveAll, OpRename, OpSyncDir, OpWrite, OpSync, OpTruncate, OpAllocate, OpPunch:
		return true
	}
	return false
}

// Hook decides about one call before it is made: nil lets it pass, an error
// fails it in its place. For a write the error may be a *ShortWrite. It is
// called by many goroutines at once.
type Hook func(op Op, name string) error

// ShortWrite as a hook's error writes only the first bytes of a write, as a
// disk does that fills up, and then fails it with Err.
type ShortWrite struct {
	Bytes int // how many are written, at most those that were to be
	Err   error
}

// Error says what the write fails with.
func (e *ShortWrite) Error() string { return fmt.Sprintf("short write: %v", e.Err) }

// Unwrap returns Err.
func (e *ShortWrite) Unwrap() error { return e.Err }

// Nth returns a hook that fails the call number k, from 0, and no other. Only
// calls of the given kinds count; none given counts all.
func Nth(k int64, err error, ops ...Op) Hook {
	var calls atomic.Int64
	return func(op Op, _ string) error {
		if counts(op, ops) && calls.Add(1)-1 == k {
			return err
		}
		return nil
	}
}

// From returns a hook that fails the call number k, from 0, and all after it:
// a disk that stays full, or stays dead. Only calls of the given kinds count
// and fail; none given means all.
func From(k int64, err error, ops ...Op) Hook {
	var calls atomic.Int64
	return func(op Op, _ string) error {
		if counts(op, ops) && calls.Add(1)-1 >= k {
			return err
		}
		return nil
	}
}

func counts(op Op, ops []Op) bool { return len(ops) == 0 || slices.Contains(ops, op) }

// Fault is a file system that fails the calls its hook chooses. A failed
// Close closes the file all the same, as close(2) does.
type Fault struct {
	fs    FS
	hook  atomic.Pointer[Hook]
	calls atomic.Int64
}

var _ FS = (*Fault)(nil)

// NewFault wraps a file system; a nil hook fails nothing.
func NewFault(fsys FS, hook Hook) *Fault {
	f := &Fault{fs: fsys}
	f.SetHook(hook)
	return f
}

// SetHook replaces the hook, also for files that are open; nil heals the disk.
func (f *Fault) SetHook(hook Hook) { f.hook.Store(&hook) }

// Calls returns how many calls were made, failed ones included.
func (f *Fault) Calls() int64 { return f.calls.Load() }

// try asks the hook, and names the call in its error.
func (f *Fault) try(op Op, name string) error {
	f.calls.Add(1)
	hook := *f.hook.Load()
	if hook == nil {
		return nil
	}
	if err := hook(op, name); err != nil {
		return &fs.PathError{Op: op.String(), Path: name, Err: err}
	}
	return nil
}

// OpenFile implements FS.
func (f *Fault) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	if err := f.try(OpOpen, name); err != nil {
		return nil, err
	}
	file, err := f.fs.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &faultFile{file, f}, nil
}

// Mkdir implements FS.
func (f *Fault) Mkdir(name string, perm fs.FileMode) error {
	if err := f.try(OpMkdir, name); err != nil {
		return err
	}
	return f.fs.Mkdir(name, perm)
}

// MkdirAll implements FS.
func (f *Fault) MkdirAll(name string, perm fs.FileMode) error {
	if err := f.try(OpMkdir, name); err != nil {
		return err
	}
	return f.fs.MkdirAll(name, perm)
}

// Remove implements FS.
func (f *Fault) Remove(name string) error {
	if err := f.try(OpRemove, name); err != nil {
		return err
	}
	return f.fs.Remove(name)
}

// RemoveAll implements FS.
func (f *Fault) RemoveAll(name string) error {
	if err := f.try(OpRemoveAll, name); err != nil {
		return err
	}
	return f.fs.RemoveAll(name)
}

// Rename implements FS; the hook is told the old name.
func (f *Fault) Rename(from, to string) error {
	if err := f.try(OpRename, from); err != nil {
		return err
	}
	return f.fs.Rename(from, to)
}

// ReadDir implements FS.
func (f *Fault) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.try(OpReadDir, name); err != nil {
		return nil, err
	}
	return f.fs.ReadDir(name)
}

// Stat implements FS.
func (f *Fault) Stat(name string) (fs.FileInfo, error) {
	if err := f.try(OpStat, name); err != nil {
		return nil, err
	}
	return f.fs.Stat(name)
}

// SyncDir implements FS.
func (f *Fault) SyncDir(name string) error {
	if err := f.try(OpSyncDir, name); err != nil {
		return err
	}
	return f.fs.SyncDir(name)
}

// Usage implements FS.
func (f *Fault) Usage(name string) (Usage, error) {
	if err := f.try(OpUsage, name); err != nil {
		return Usage{}, err
	}
	return f.fs.Usage(name)
}
