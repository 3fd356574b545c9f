package workspace

import (
	"context"
	"fmt"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/vfs"
)

// TestRealFullDisk fills a small file system with files, fails as it should,
// comes up again with the disk still full, deletes, and goes on (P8, C14).
func TestRealFullDisk(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=40m"); err != nil {
		t.Skipf("a tmpfs to fill cannot be mounted here: %v; run as root", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	ctx := context.Background()
	x := &testDataDir{t: t, dir: dir}
	x.open()
	w, err := x.d.Create(ctx, "w", 0, 0)
	must(t, err)
	_, err = w.Snapshot(ctx, "empty")
	must(t, err)
	var want []string
	for round := range 4 {
		written := fillDisk(t, w, round)
		if written == 0 {
			t.Fatalf("round %d: nothing could be written", round)
		}
		// Attempts that have no room must take nothing away from what is left.
		for range 3 {
			_, err := w.Checkpoint(ctx, CauseCheckpoint, "")
			if err != nil && vfs.ToErrno(err) != syscall.ENOSPC {
				t.Fatalf("round %d: checkpoint on a full disk: %v", round, err)
			}
		}
		want = dump(t, w, true)
		if round%2 == 1 {
			// The stop cannot checkpoint either; the journals have it all.
			if err := x.d.Close(); err != nil && vfs.ToErrno(err) != syscall.ENOSPC {
				t.Fatalf("round %d: close: %v", round, err)
			}
			x.open()
			w = x.ws("w")
			if d := firstDifference(dump(t, w, true), want); d != "" {
				t.Fatalf("round %d: after a restart with a full disk: %s", round, d)
			}
		}
		for i := range written {
			if err := w.Unlink(rootOp, vfs.RootIno, fmt.Sprintf("r%d-%d", round, i)); err != nil {
				t.Fatalf("round %d: unlink %d of %d on a full disk: %v", round, i, written, err)
			}
		}
		if _, err := w.Checkpoint(ctx, CauseCheckpoint, ""); err != nil {
			t.Fatalf("round %d: checkpoint once there is room: %v", round, err)
		}
		_, err := x.d.GC(ctx, false)
		must(t, err)
		checkClean(t, w)
	}
	must(t, x.d.Close())
}

// fillDisk writes files until one fails and returns how many there are.
func fillDisk(t *testing.T, w *Workspace, round int) int {
	t.Helper()
	p := make([]byte, 900<<10)
	for i := range p {
		p[i] = byte(i*i>>9 + round*77 + i)
	}
	for i := 0; ; i++ {
		p[0] = byte(i)
		name := fmt.Sprintf("r%d-%d", round, i)
		_, h, err := w.Create(rootOp, vfs.RootIno, name, 0o644, syscall.O_RDWR)
		if err == nil {
			_, err = h.Write(rootOp, p, 0)
			h.Release(rootOp)
			if err != nil {
				i++ // the empty file is there
			}
		}
		if err == nil {
			continue
		}
		if vfs.ToErrno(err) != syscall.ENOSPC {
			t.Fatalf("round %d: a full disk is reported as %v", round, err)
		}
		return i
	}
}
