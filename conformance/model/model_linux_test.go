package model

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/internal/figures"
)

var (
	dir     = flag.String("dir", "", "a directory to compare with a temporary one (what scripts/soak torture does)")
	seeds   = flag.Int("seeds", 20, "how many histories, with -dir")
	first   = flag.Int64("seed", 1, "the first seed, with -dir")
	steps   = flag.Int("steps", 500, "how long a history is, with -dir")
	workers = flag.Int("workers", 1, "how many histories run at a time, with -dir and without -restart")
	restart = flag.String("restart", "", "a command to run now and then, with -dir")
)

// TestSameFileSystem compares a file system with itself: whatever differs is
// the model's own fault.
func TestSameFileSystem(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("histories hold files of mode 0, which root alone can open")
	}
	for seed := range int64(4) {
		f, err := Run(context.Background(), Options{A: t.TempDir(), B: t.TempDir(), Seed: seed, Steps: 300})
		if err != nil {
			t.Fatal(err)
		}
		if f != nil {
			t.Fatal(f.Script())
		}
	}
}

// TestFindsAndShortens gives one side a fault: the model must see it and come
// down to the few steps that matter.
func TestFindsAndShortens(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("needs root to mount a tmpfs")
	}
	small := t.TempDir()
	// A tmpfs that fills up is a file system that fails where the other works.
	if err := unix.Mount("tmpfs", small, "tmpfs", 0, "size=512k"); err != nil {
		t.Skipf("no tmpfs can be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(small, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	for seed := range int64(10) {
		f, err := Run(context.Background(), Options{A: t.TempDir(), B: small, Seed: seed, Steps: 400})
		if err != nil {
			t.Fatal(err)
		}
		if f == nil {
			continue
		}
		if len(f.steps) > 20 {
			t.Errorf("%d steps are left of the history:\n%s", len(f.steps), f.Script())
		}
		if !strings.HasPrefix(f.Script(), "#!/bin/bash\n# seed ") {
			t.Errorf("no script: %q", f.Script())
		}
		return
	}
	t.Fatal("a full disk was not noticed")
}

// TestDir compares a directory that somebody has mounted with a temporary one.
func TestDir(t *testing.T) {
	if *dir == "" {
		t.Skip("no -dir was given; scripts/soak torture gives one")
	}
	o := Options{A: t.TempDir(), B: *dir, Steps: *steps}
	restarts := int64(0)
	if *restart != "" {
		n := 0
		o.Pause = func() error {
			if n++; n%8 != 0 {
				return nil
			}
			restarts++
			out, err := exec.Command("/bin/bash", "-c", *restart).CombinedOutput()
			if err != nil {
				t.Logf("%s", out)
			}
			return err
		}
	}
	if *restart != "" {
		*workers = 1 // a restart closes everybody's files
	}
	next := make(chan int64)
	var wg sync.WaitGroup
	for range *workers {
		wg.Go(func() {
			for seed := range next {
				o := o
				o.Seed = seed
				f, err := Run(context.Background(), o)
				if err != nil {
					t.Error(err)
				}
				if f != nil {
					t.Error(f.Script())
				}
			}
		})
	}
	for seed := *first; seed < *first+int64(*seeds) && !t.Failed(); seed++ {
		next <- seed
	}
	close(next)
	wg.Wait()
	figures.Note(t, "random histories on a mount and on the disk", figures.Count{What: "histories", N: int64(*seeds)},
		figures.Count{What: "operations", N: int64(*seeds) * int64(*steps)}, figures.Count{What: "restarts", N: restarts}, figures.Count{What: "differences", N: 0})
	t.Logf("%d histories of %d steps, %d at a time", *seeds, *steps, *workers)
}
