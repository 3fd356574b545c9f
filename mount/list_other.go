//go:build !linux

package mount

// Listed is a mount of vfsd's, whichever daemon serves it.
type Listed struct {
	MountPoint string
	Workspace  string
}

// List returns the mounts of vfsd's: here there are none.
func List() []Listed { return nil }

// IsDead reports whether a mount has no daemon any more: here there is none.
func IsDead(string) bool { return false }
