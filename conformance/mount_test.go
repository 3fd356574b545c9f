//go:build linux

package conformance_test

import (
	"testing"

	"github.com/vfsd/vfsd/conformance"
)

// fsName is what Differences call a workspace behind a driver.
func fsName(driver string) string {
	if driver == "bazil" {
		return "vfsd-bazil"
	}
	return "vfsd"
}

// TestWorkspace mounts a fresh workspace by each driver and runs the suite on
// it: all of it in the long form, what says most in the short one.
func TestWorkspace(t *testing.T) {
	for _, driver := range []string{"go-fuse", "bazil"} {
		t.Run(driver, func(t *testing.T) {
			o := conformance.Options{FS: fsName(driver), Short: !soak()}
			if !soak() {
				o.Groups = []string{"rename", "xattr", "locks", "mmap", "durability"}
			}
			o.Dir = serve(t, server{driver: driver, backing: "workspace"}).dir
			runOn(t, o)
		})
	}
}

// TestWorkspacePrivileged runs what a mount only shows when it honours set-id
// bits and devices.
func TestWorkspacePrivileged(t *testing.T) {
	if !soak() {
		t.Skip("the long form: VFSD_SOAK=1")
	}
	for _, driver := range []string{"go-fuse", "bazil"} {
		t.Run(driver, func(t *testing.T) {
			s := serve(t, server{driver: driver, backing: "workspace", suid: true})
			runOn(t, conformance.Options{
				Dir: s.dir, FS: fsName(driver), Match: []string{"identity/set-id-program/*", "special/device/*", "open/matrix/*-device/*"},
			})
		})
	}
}

// TestWorkspacePowerCut cuts the power under the daemon: what it acknowledged
// as durable must show through the next mount.
func TestWorkspacePowerCut(t *testing.T) {
	s := serve(t, server{backing: "crashing-workspace"})
	runOn(t, conformance.Options{Dir: s.dir, FS: "vfsd", Match: []string{powerCuts}, PowerCut: s.cut})
}

// TestWorkspaceTwice mounts a workspace twice: what one mount changes must
// show through the other at the next system call, whatever is cached there.
func TestWorkspaceTwice(t *testing.T) {
	if !soak() {
		t.Skip("the long form: VFSD_SOAK=1")
	}
	for _, driver := range []string{"go-fuse", "bazil"} {
		t.Run(driver, func(t *testing.T) {
			s := serve(t, server{driver: driver, backing: "workspace", second: true})
			runOn(t, conformance.Options{
				Dir: s.dir, Second: s.second, FS: fsName(driver), Match: []string{"coherence/*a-second-mount/*"},
			})
		})
	}
}
