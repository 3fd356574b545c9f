package scale

import (
	"bytes"
	"os"
	"strconv"
)

// resident returns the resident bytes of this process. The second field of
// statm counts pages.
func resident() (int64, bool) {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, false
	}
	f := bytes.Fields(b)
	if len(f) < 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(string(f[1]), 10, 64)
	return n * int64(os.Getpagesize()), err == nil
}
