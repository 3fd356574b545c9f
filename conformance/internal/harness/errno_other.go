//go:build !linux

package harness

import "syscall"

// ErrnoName describes an error number.
func ErrnoName(e syscall.Errno) string { return e.Error() }
