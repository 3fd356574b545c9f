package daemon

import (
	_ "github.com/vfsd/vfsd/mount/bazil"  // registers itself
	_ "github.com/vfsd/vfsd/mount/gofuse" // registers itself
)
