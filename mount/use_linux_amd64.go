package mount

import (
	"github.com/vfsd/vfsd/vfs"
	"golang.org/x/sys/unix"
)

// Older system calls that younger architectures have not.
func init() {
	uses[unix.SYS_OPEN] = use{flags: 2}
	uses[unix.SYS_CREAT] = use{mask: vfs.MayWrite}
}
