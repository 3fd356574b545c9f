// Package hostfs is the one seam between vfsd and the files of its host: every
// durable byte goes through it, so that a test can crash it, fail it and pin
// the order of its fsyncs.
//
// OS is the real thing. Crash remembers what was fsynced and makes directories
// that a power cut might have left; its documentation states the model. Fault
// fails chosen calls. The two stack:
//
//	crash, err := hostfs.NewCrash(hostfs.CrashOptions{Root: dir, Scratch: t.TempDir()})
//	disk := hostfs.NewFault(crash, func(op hostfs.Op, name string) error {
//		after, err := crash.PowerCut(seed) // a crash before each call
//		...
//	})
package hostfs

import (
	"io"
	"io/fs"
)

// FS is the host's file system, by absolute path.
type FS interface {
	// OpenFile opens with the flags of package os. Nothing is durable until
	// File.Sync, and no new name until SyncDir of its directory.
	OpenFile(name string, flag int, perm fs.FileMode) (File, error)
	Mkdir(name string, perm fs.FileMode) error
	MkdirAll(name string, perm fs.FileMode) error
	Remove(name string) error
	RemoveAll(name string) error
	Rename(from, to string) error
	ReadDir(name string) ([]fs.DirEntry, error)
	Stat(name string) (fs.FileInfo, error)
	// SyncDir makes the names in a directory durable.
	SyncDir(name string) error
	// Usage reports the space of the file system that holds name.
	Usage(name string) (Usage, error)
}

// File is an open host file. All methods but Close are safe for concurrent use.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Name() string
	// Sync makes the file's bytes and size durable. A failure is final: the
	// kernel may have dropped the dirty pages, so it must not be retried.
	Sync() error
	Truncate(size int64) error
	Size() (int64, error)
	// Allocate reserves space for [off, off+n) so that later writes there
	// cannot meet ENOSPC; the file's size does not change.
	Allocate(off, n int64) error
	// Punch frees the space of [off, off+n), which reads as zeroes then.
	Punch(off, n int64) error
	// Lock takes the exclusive advisory lock, or fails at once with EWOULDBLOCK.
	Lock() error
	// Fd is the descriptor, for what must be handed to the kernel. It stays
	// owned by the file.
	Fd() uintptr
}

// Usage is space in bytes and inodes.
type Usage struct {
	Total     uint64
	Free      uint64 // to root
	Available uint64 // to others
	Files     uint64
	FilesFree uint64
}
