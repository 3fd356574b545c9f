package journal_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/journal"
)

// fullDiskDir is set in the process that TestFullDisk starts.
const fullDiskDir = "VFSD_TEST_FULL_DISK_DIR"

// C14, P8: a disk that is full fails the append; what was appended is whole,
// the reserve makes room at once, and when space is freed the journal goes on
// without a restart. The disk is a small tmpfs in a mount namespace of its own.
func TestFullDisk(t *testing.T) {
	if dir := os.Getenv(fullDiskDir); dir != "" {
		fillDisk(t, dir)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestFullDisk$", "-test.v")
	cmd.Env = append(os.Environ(), fullDiskDir+"="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSPC) {
		t.Skipf("needs a user namespace, which this machine does not allow: %v", err)
	}
	if strings.Contains(string(out), "mount: ") {
		t.Skipf("needs to mount a tmpfs in a user namespace: %s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk") {
		t.Fatalf("%v\n%s", err, out)
	}
}

func fillDisk(t *testing.T, dir string) {
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=4m"); err != nil {
		t.Fatal("mount: ", err)
	}
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	o := journal.Options{Dir: filepath.Join(dir, "j"), Reserve: 1 << 20, SegmentSize: 256 << 10}
	j := mustOpen(t, o)
	var want []entry
	fill := func() {
		t.Helper()
		for {
			e := entry{Type: 1, Payload: strings.Repeat("x", 3001)}
			lsn, err := j.Append(e.Type, []byte(e.Payload))
			if errors.Is(err, syscall.ENOSPC) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			e.LSN = lsn
			want = append(want, e)
		}
	}
	fill()
	if len(want) < 500 {
		t.Fatalf("full after %d records", len(want))
	}
	for _, room := range []func() error{j.ReleaseReserve, func() error { return os.Remove(ballast) }} {
		if err := j.Reopen(); err != nil {
			t.Fatalf("reopen on a full disk: %v", err)
		}
		if int(j.Applied()) != len(want) {
			t.Fatalf("reopened with %d records, %d were appended", j.Applied(), len(want))
		}
		if err := room(); err != nil {
			t.Fatal(err)
		}
		before := len(want)
		fill()
		if gained := len(want) - before; gained < 250 {
			t.Fatalf("a MiB was freed and %d records fitted", gained)
		}
	}
	if err := j.RestoreReserve(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("restore on a full disk: %v", err)
	}
	if err := j.Reopen(); err != nil {
		t.Fatal(err)
	}
	mustClose(t, j)
	sameEntries(t, replay(t, mustOpen(t, o)), want)
}
