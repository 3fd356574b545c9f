package conformance

import (
	"strings"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// Difference declares that a file system does not do what some cases ask.
// A case that it names must fail; one that passes is reported, so that no
// declaration outlives its reason.
type Difference struct {
	FS     string // as in Summary.FS
	Case   string // a pattern; * stands for any run of characters
	Reason string
	// Before and Since bound the kernel releases that differ, "6.6"; empty is
	// unbounded.
	Since, Before string
}

// Differences is every declared difference. vfsd's default driver has none.
var Differences = []Difference{
	{FS: "ext4", Case: "xattr/size/value-of-*/is-kept-too", Reason: "without the ea_inode feature an inode's attributes share one 4 KiB block"},
	{FS: "ext4", Case: "data/big/truncate-to-2^63-1/*", Reason: "ext4 with 4 KiB units ends files at 16 TiB"},
	{FS: "tmpfs", Case: "data/fallocate/ZERO_RANGE*", Reason: "tmpfs has no FALLOC_FL_ZERO_RANGE"},
	{FS: "tmpfs", Case: "mmap/shared/a-hole/*", Reason: "tmpfs allocates the pages that a mapping reads"},
	{FS: "tmpfs", Case: "unlink/link/limit/*", Reason: "tmpfs has no limit of links"},
}

// declared finds the difference that covers a case.
func declared(fs, name string, env *harness.Env) *Difference {
	for i := range Differences {
		d := &Differences[i]
		if d.FS != fs || !Match(d.Case, name) {
			continue
		}
		if d.Since != "" && !atLeast(env, d.Since) || d.Before != "" && atLeast(env, d.Before) {
			continue
		}
		return d
	}
	return nil
}

func atLeast(env *harness.Env, release string) bool {
	asked := harness.Env{Kernel: release}
	major, minor := asked.Release()
	return env.KernelAtLeast(major, minor)
}

// Match reports whether name matches a pattern in which * stands for any run
// of characters.
func Match(pattern, name string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == name
	}
	if !strings.HasPrefix(name, parts[0]) {
		return false
	}
	name = name[len(parts[0]):]
	for _, part := range parts[1 : len(parts)-1] {
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name = name[i+len(part):]
	}
	return strings.HasSuffix(name, parts[len(parts)-1])
}
