package harness

import "fmt"

// Env is what is known of the file system and of the process: facts that a
// case may have to allow for. What a file system *should* do is never in it.
type Env struct {
	// Type names the file system as mount(8) does: "ext4", "tmpfs", "fuse".
	Type string
	// Kernel is the release, "6.18.0".
	Kernel string
	// Root reports whether the process may act for every user: change its
	// credentials, pass every permission, make device nodes and mounts.
	Root bool
	// MountFlags has the MS_ bits of the mount that statfs reports
	// (MS_RDONLY, MS_NOSUID, MS_NODEV, MS_NOEXEC, MS_NOATIME, MS_RELATIME).
	MountFlags uintptr
	// Page is the size of a memory page in bytes.
	Page int
	// HardlinksProtected is fs.protected_hardlinks: others' files cannot be
	// linked by who could not write them.
	HardlinksProtected bool
	// SymlinksProtected is fs.protected_symlinks.
	SymlinksProtected bool
	// CreateProtected reports whether fs.protected_regular or
	// fs.protected_fifos is on: O_CREAT refuses others' files in sticky
	// directories.
	CreateProtected bool
}

// Release returns the first two numbers of the running release.
func (e *Env) Release() (major, minor int) {
	if _, err := fmt.Sscanf(e.Kernel, "%d.%d", &major, &minor); err != nil {
		return 0, 0
	}
	return major, minor
}

// KernelAtLeast compares the running release.
func (e *Env) KernelAtLeast(major, minor int) bool {
	x, y := e.Release()
	return x > major || x == major && y >= minor
}
