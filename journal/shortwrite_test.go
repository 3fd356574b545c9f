//go:build linux || darwin

package journal_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/journal"
)

// shortWriteDir is set in the process that TestShortWrite starts.
const shortWriteDir = "VFSD_TEST_SHORT_WRITE_DIR"

// A write that the disk takes in part fails its Append, whose record is not
// there after any way of reopening. wal writes with package os, so the partial
// write comes from a limit on the size of files, in a process of its own
// because it holds for all of a process.
func TestShortWrite(t *testing.T) {
	if dir := os.Getenv(shortWriteDir); dir != "" {
		writeShort(t, dir)
		return
	}
	dir := filepath.Join(t.TempDir(), "j")
	cmd := exec.Command(os.Args[0], "-test.run=^TestShortWrite$", "-test.v")
	cmd.Env = append(os.Environ(), shortWriteDir+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestShortWrite") {
		t.Fatalf("%v\n%s", err, out)
	}
	j := mustOpen(t, journal.Options{Dir: dir})
	for _, e := range replay(t, j) {
		if e.Payload != shortWritePayload(e.LSN) {
			t.Fatalf("record %d is %q", e.LSN, e.Payload)
		}
	}
	if j.Applied() != 2*shortWriteRecords {
		t.Errorf("%d records, want %d", j.Applied(), 2*shortWriteRecords)
	}
}

const shortWriteRecords = 20

func shortWritePayload(lsn journal.LSN) string { return strings.Repeat(fmt.Sprintf("%03d", lsn), 20) }

func writeShort(t *testing.T, dir string) {
	signal.Ignore(syscall.SIGXFSZ)
	o := journal.Options{Dir: dir}
	j := mustOpen(t, o)
	appendUpTo := func(last journal.LSN) {
		t.Helper()
		for j.Applied() < last {
			if _, err := j.Append(1, []byte(shortWritePayload(j.Applied()+1))); err != nil {
				t.Fatal(err)
			}
		}
	}
	appendUpTo(shortWriteRecords)
	const entry = 1 + 22 + 60
	for fits := range uint64(entry) {
		setLimit(t, uint64(j.Size())+fits)
		if _, err := j.Append(1, []byte(shortWritePayload(j.Applied()+1))); !errors.Is(err, syscall.EFBIG) || !errors.Is(err, journal.ErrFailed) {
			t.Fatalf("append with room for %d bytes: %v", fits, err)
		}
		if _, err := j.Append(1); !errors.Is(err, syscall.EFBIG) {
			t.Fatalf("append after a failure: %v", err)
		}
		setLimit(t, noLimit)
		if fits%2 == 0 {
			if err := j.Reopen(); err != nil {
				t.Fatal(err)
			}
		} else {
			mustClose(t, j)
			j = mustOpen(t, o)
		}
		if j.Applied() != shortWriteRecords {
			t.Fatalf("room for %d bytes: reopened with %d records", fits, j.Applied())
		}
		if d := j.Dropped(); (d == nil) != (fits == 0) || d != nil && uint64(d.Bytes) != fits {
			t.Fatalf("room for %d bytes: dropped %v", fits, d)
		}
	}
	appendUpTo(2 * shortWriteRecords)
}

const noLimit = ^uint64(0)

// setLimit limits the size of files that this process writes.
func setLimit(t *testing.T, size uint64) {
	t.Helper()
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
		t.Fatal(err)
	}
	l.Cur = min(size, l.Max)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &l); err != nil {
		t.Fatal(err)
	}
}
