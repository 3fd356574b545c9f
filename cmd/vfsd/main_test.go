package main

import (
	"os"
	"testing"
)

// TestNoDataDirectory: no directory is none, and not the working directory.
func TestNoDataDirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range [][]string{{"--data", ""}, {"--data="}} {
		if code := run(args); code != exitUsage {
			t.Errorf("vfsd %q: exit code %d, want %d", args, code, exitUsage)
		}
	}
	if made, err := os.ReadDir("."); err != nil || len(made) > 0 {
		t.Errorf("in the working directory: %v, %v", made, err)
	}
}
