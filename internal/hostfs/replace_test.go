package hostfs

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Whichever call fails, the old content stays and nothing is left beside it.
func TestReplaceFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "f")
	if err := ReplaceFile(OS{}, name, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, fail := range []Op{OpOpen, OpWrite, OpSync, OpRename} {
		failed := false
		disk := NewFault(OS{}, func(op Op, _ string) error {
			if op == fail {
				failed = true
				return syscall.EIO
			}
			return nil
		})
		if err := ReplaceFile(disk, name, []byte("new"), 0o600); !errors.Is(err, syscall.EIO) || !failed {
			t.Errorf("%v fails: %v", fail, err)
		}
		if b, err := os.ReadFile(name); err != nil || string(b) != "old" {
			t.Errorf("after %v failed: %q %v", fail, b, err)
		}
		if _, err := os.Stat(name + ".new"); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("after %v failed: something is left: %v", fail, err)
		}
	}
	if err := ReplaceFile(OS{}, name, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "new" {
		t.Errorf("%q %v", b, err)
	}
}
