package bench

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// syncDisks writes everything dirty to disk.
func syncDisks() { unix.Sync() }

// dropCaches makes the kernel forget its clean pages, dentries and inodes.
func dropCaches() error {
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		return fmt.Errorf("drop caches: %w", err)
	}
	return nil
}

// tick is the unit of /proc/stat: USER_HZ is 100 on every architecture that Go
// runs on.
const tick = 10 * time.Millisecond

// busy returns the CPU time that all processes and the kernel have spent. The
// first line of /proc/stat is
//
//	cpu user nice system idle iowait irq softirq steal ...
func busy() (time.Duration, bool) {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, false
	}
	line, _, _ := bytes.Cut(b, []byte("\n"))
	f := bytes.Fields(line)
	if len(f) < 8 || string(f[0]) != "cpu" {
		return 0, false
	}
	var sum time.Duration
	for _, i := range []int{1, 2, 3, 6, 7} {
		n, err := strconv.ParseInt(string(f[i]), 10, 64)
		if err != nil {
			return 0, false
		}
		sum += time.Duration(n) * tick
	}
	return sum, true
}
