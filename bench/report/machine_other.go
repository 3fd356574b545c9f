//go:build !linux

package report

import (
	"runtime"

	"golang.org/x/sys/unix"
)

func describeHost() (cpu string, memory int64, virtual bool, system, kernel string, load float64) {
	var u unix.Utsname
	if err := unix.Uname(&u); err == nil {
		kernel = unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
	}
	return runtime.GOARCH, 0, false, runtime.GOOS, kernel, 0
}

// DescribeTarget finds what filesystem a directory is on. Elsewhere than on
// Linux, it does not.
func DescribeTarget(dir string) (Target, error) {
	var s unix.Stat_t
	return Target{Filesystem: "unknown"}, unix.Stat(dir, &s)
}
