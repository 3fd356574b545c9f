package workspace

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"sync"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/vfs"
)

// TestStress lets writers, readers, checkpoints, snapshots, restores of paths
// and collections run into each other. Each writer owns a directory and knows
// what must be in it; the race detector sees the rest.
func TestStress(t *testing.T) {
	x := newTestDataDir(t)
	w, err := x.d.Create(context.Background(), "w", 0, 0)
	must(t, err)
	rounds := 150
	if testing.Short() {
		rounds = 60
	}
	var writers, others sync.WaitGroup
	stop := make(chan struct{})
	for i := range 6 {
		writers.Go(func() {
			if err := stressWriter(w, i, rounds); err != nil {
				t.Errorf("writer %d: %v", i, err)
			}
		})
	}
	background := func(fn func(k int) error) {
		others.Go(func() {
			for k := 0; ; k++ {
				select {
				case <-stop:
					return
				default:
				}
				if err := fn(k); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	ctx := context.Background()
	background(func(int) error {
		_, err := w.Checkpoint(ctx, CauseCheckpoint, "")
		return err
	})
	background(func(int) error {
		_, err := x.d.GC(ctx, false)
		return err
	})
	background(func(k int) error {
		if k > 20 {
			return nil
		}
		_, err := w.Snapshot(ctx, fmt.Sprintf("s%d", k))
		return err
	})
	background(func(int) error {
		for _, e := range list(t, w, vfs.RootIno) {
			if _, err := w.Getattr(rootOp, e.Ino); err != nil {
				return err
			}
		}
		return w.Syncfs(rootOp)
	})
	writers.Wait()
	close(stop)
	others.Wait()
	checkClean(t, w)
	for _, s := range w.Snapshots() {
		report, err := w.CheckCommit(ctx, s.Commit, nil, func(p Problem) { t.Errorf("%s: %v", s.Name, p) })
		if err != nil || report.Problems > 0 {
			t.Errorf("snapshot %s: %v", s.Name, err)
		}
	}
}

// stressWriter changes one file over and over, by every way, and reads it back
// after each.
func stressWriter(w *Workspace, id, rounds int) error {
	r := rand.New(rand.NewSource(int64(id)))
	dir, err := w.Mkdir(rootOp, vfs.RootIno, fmt.Sprintf("dir%d", id), 0o755)
	if err != nil {
		return err
	}
	_, h, err := w.Create(rootOp, dir.Ino, "file", 0o644, syscall.O_RDWR)
	if err != nil {
		return err
	}
	defer h.Release(rootOp)
	var want []byte
	for k := range rounds {
		off, p := r.Intn(len(want)+20000), make([]byte, 1+r.Intn(30000))
		r.Read(p)
		if _, err := h.Write(rootOp, p, int64(off)); err != nil {
			return err
		}
		if n := off + len(p); n > len(want) {
			want = append(want, make([]byte, n-len(want))...)
		}
		copy(want[off:], p)
		switch k % 10 {
		case 3:
			if err := h.Fsync(rootOp, false); err != nil {
				return err
			}
		case 1, 4, 5, 8:
			n := r.Intn(len(want) + 1)
			if _, err := w.Setattr(rootOp, h.Ino(), &vfs.SetAttr{Mask: vfs.SetSize, Size: uint64(n), Handle: h}); err != nil {
				return err
			}
			want = want[:n]
		case 7:
			if err := w.Rename(rootOp, dir.Ino, "file", dir.Ino, "other", 0); err != nil {
				return err
			}
			if err := w.Rename(rootOp, dir.Ino, "other", dir.Ino, "file", 0); err != nil {
				return err
			}
		case 9:
			if err := stressTemp(w, dir.Ino, h, want); err != nil {
				return err
			}
		}
		got := make([]byte, len(want)+10)
		n, err := h.Read(rootOp, got, 0)
		if err != nil {
			return err
		}
		if !bytes.Equal(got[:n], want) {
			return fmt.Errorf("round %d: read %d bytes, want %d, or they differ", k, n, len(want))
		}
	}
	return nil
}

// stressTemp copies the file, unlinks the copy and reads it through its handle.
func stressTemp(w *Workspace, dir vfs.Ino, h vfs.Handle, want []byte) error {
	_, c, err := w.Create(rootOp, dir, "copy", 0o600, syscall.O_RDWR)
	if err != nil {
		return err
	}
	defer c.Release(rootOp)
	if _, err := h.CopyTo(rootOp, 0, c, 0, vfs.MaxFileSize); err != nil {
		return err
	}
	if err := w.Unlink(rootOp, dir, "copy"); err != nil {
		return err
	}
	if _, err := w.Checkpoint(context.Background(), CauseCheckpoint, ""); err != nil {
		return err
	}
	got := make([]byte, len(want)+1)
	n, err := c.Read(rootOp, got, 0)
	if err == nil && !bytes.Equal(got[:n], want) {
		err = fmt.Errorf("an unlinked copy of %d bytes reads as %d, or they differ", len(want), n)
	}
	return err
}
