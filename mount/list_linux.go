package mount

import "strings"

// Listed is a mount of vfsd's, whichever daemon serves it.
type Listed struct {
	MountPoint string
	Workspace  string
}

// List returns the mounts of vfsd's in this process's mount table. It touches
// none of them.
func List() []Listed {
	var all []Listed
	for _, m := range mountTable() {
		if m.fsType == fsType {
			all = append(all, Listed{m.path, strings.TrimPrefix(m.source, "vfsd#")})
		}
	}
	return all
}

// IsDead reports whether the mount at mountPoint has no daemon any more. It
// asks the mount, so it must be none of this process's.
func IsDead(mountPoint string) bool {
	if _, own := owned.holding(mountPoint); own {
		return false
	}
	return isDead(mountPoint)
}
