package harness

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrnoName is "ENOENT" and the like.
func ErrnoName(e syscall.Errno) string {
	if e == unix.EOPNOTSUPP {
		return "EOPNOTSUPP" // the library says ENOTSUP, which file systems do not
	}
	if name := unix.ErrnoName(e); name != "" {
		return name
	}
	return fmt.Sprintf("errno %d", int(e))
}
