//go:build !linux

package daemon

import "runtime"

// machine says what this system lacks.
func (x *examination) machine() {
	x.find(Warning, "mounting", "use a Linux machine", "mounts are not supported on %s; all else works", runtime.GOOS)
}
