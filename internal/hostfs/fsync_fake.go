//go:build fakefsync

package hostfs

import "os"

// fsync lies, for the negative control of the power-cut rig: a build with the
// tag fakefsync must lose what it promised.
func fsync(*os.File) error { return nil }
