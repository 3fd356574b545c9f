//go:build !linux

package posix

import "github.com/vfsd/vfsd/conformance/internal/harness"

// Suite has no cases where there are no Linux system calls.
func Suite() *harness.Suite { return &harness.Suite{} }
