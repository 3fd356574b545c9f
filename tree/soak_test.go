package tree

import "os"

// soak returns n, or twenty times as much if VFSD_SOAK=1 asks for the long form
// of the tests.
func soak(n int) int {
	if os.Getenv("VFSD_SOAK") == "1" {
		return 20 * n
	}
	return n
}
