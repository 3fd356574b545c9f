package vfs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// ErrCorrupt is in the chain of every error about bytes that are not what was
// stored: a digest, a checksum or a structure that does not hold. It maps to
// EIO. The wrapping error names the file and the offset.
var ErrCorrupt = errors.New("corrupt data")

// ErrNoRight is in the chain of an error about a request that the caller has
// no right to make at all (as opposed to a file's permission bits).
var ErrNoRight = errors.New("no right")

// Error is an error with its circumstances.
type Error struct {
	Op   string // the operation: "rename", "checkpoint"
	Path string // what it was about; may be empty
	Err  error
}

// Error says "op path: cause".
func (e *Error) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.Op, e.Path, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ToErrno maps any error to the errno that a system call would report; nil is
// 0, and what says nothing of an errno is EIO.
func ToErrno(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	if e, ok := err.(syscall.Errno); ok {
		return e
	}
	if errors.Is(err, ErrCorrupt) {
		return syscall.EIO
	}
	var e syscall.Errno
	if errors.As(err, &e) {
		return e
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return syscall.ETIMEDOUT
	case errors.Is(err, context.Canceled):
		return syscall.EINTR
	case errors.Is(err, fs.ErrNotExist):
		return syscall.ENOENT
	case errors.Is(err, fs.ErrExist):
		return syscall.EEXIST
	case errors.Is(err, fs.ErrPermission), errors.Is(err, ErrNoRight):
		return syscall.EACCES
	}
	return syscall.EIO
}
