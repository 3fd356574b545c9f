//go:build linux

package conformance_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

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

// TestWorkspaceQuota bounds the bytes and the inodes of a workspace: what goes
// past them is EDQUOT and damages nothing, statfs (df) shows what is left, and
// what is removed can be used at once (C14).
func TestWorkspaceQuota(t *testing.T) {
	for _, driver := range []string{"go-fuse", "bazil"} {
		t.Run(driver, func(t *testing.T) {
			s := serve(t, server{driver: driver, backing: "quota-workspace"})
			var st unix.Statfs_t
			if err := unix.Statfs(s.dir, &st); err != nil || int64(st.Blocks)*st.Bsize != 32<<20 || st.Files != 2000 {
				t.Errorf("df shows %d blocks of %d and %d inodes, %v", st.Blocks, st.Bsize, st.Files, err)
			}
			sum := runOn(t, conformance.Options{Dir: s.dir, FS: fsName(driver), Match: []string{"data/full/*", "attributes/statfs/*"}})
			if sum.Skipped > 0 {
				t.Errorf("%d cases were skipped", sum.Skipped)
			}
			if err := os.WriteFile(s.dir+"/f", make([]byte, 40<<20), 0o600); !errors.Is(err, unix.EDQUOT) {
				t.Errorf("a write past the quota: %v, want EDQUOT", err)
			}
			if err := os.Remove(s.dir + "/f"); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFsyncError fails the host's fsync under a mounted workspace (P2): every
// descriptor that was open hears of it, and stays failed once it did; a file
// that is opened anew can be made durable.
func TestFsyncError(t *testing.T) {
	for _, size := range []int{100, 1 << 20} { // in the journal; in staging
		for _, driver := range []string{"go-fuse", "bazil"} {
			t.Run(fmt.Sprintf("%s/%d", driver, size), func(t *testing.T) { fsyncError(t, driver, size) })
		}
	}
}

func fsyncError(t *testing.T, driver string, size int) {
	s := serve(t, server{driver: driver, backing: "failing-workspace"})
	open := func() *os.File {
		f, err := os.OpenFile(s.dir+"/f", os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	tell := func(what string) {
		t.Helper()
		if err := s.tell(what); err != nil {
			t.Fatal(err)
		}
	}
	first, second := open(), open()
	defer first.Close()
	defer second.Close()
	content := bytes.Repeat([]byte("x"), size)
	if _, err := first.Write(content); err != nil {
		t.Fatal(err)
	}
	tell("fail")
	for _, f := range []*os.File{first, second} {
		if err := f.Sync(); !errors.Is(err, unix.EIO) {
			t.Errorf("fsync on a disk that fails: %v", err)
		}
	}
	tell("heal")
	for range 2 {
		for i, f := range []*os.File{first, second} {
			if err := f.Sync(); !errors.Is(err, unix.EIO) {
				t.Errorf("descriptor %d, once the disk is well: %v; it was not told to be opened anew", i, err)
			}
		}
	}
	again := open()
	defer again.Close()
	if _, err := again.WriteAt(content, 0); err != nil {
		t.Errorf("write once the disk is well: %v", err)
	}
	if err := again.Sync(); err != nil {
		t.Errorf("fsync of the file opened anew: %v", err)
	}
	if got, err := os.ReadFile(s.dir + "/f"); err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
