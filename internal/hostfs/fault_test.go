package hostfs_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/vfsd/vfsd/internal/hostfs"
)

// everyCall makes each kind of call once, and returns the first error.
func everyCall(fsys hostfs.FS, dir string) error {
	join := func(name string) string { return filepath.Join(dir, name) }
	if err := fsys.MkdirAll(join("a"), 0o700); err != nil {
		return err
	}
	if err := fsys.Mkdir(join("a/b"), 0o700); err != nil {
		return err
	}
	f, err := fsys.OpenFile(join("a/f"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, writeErr := f.WriteAt([]byte("four"), 0)
	_, readErr := f.ReadAt(make([]byte, 1), 0)
	_, sizeErr := f.Size()
	err = errors.Join(writeErr, readErr, sizeErr, f.Lock(), f.Allocate(0, 1), f.Punch(0, 1),
		f.Truncate(0), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	_, dirErr := fsys.ReadDir(dir)
	_, statErr := fsys.Stat(dir)
	_, usageErr := fsys.Usage(dir)
	return errors.Join(dirErr, statErr, usageErr, fsys.Rename(join("a/f"), join("a/g")), fsys.SyncDir(join("a")),
		fsys.Remove(join("a/g")), fsys.RemoveAll(join("a")))
}

// Every call can be failed by its number; the error says which call it was.
func TestFaultNth(t *testing.T) {
	clean := hostfs.NewFault(hostfs.OS{}, nil)
	if err := everyCall(clean, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	calls := clean.Calls()
	if calls < 19 {
		t.Fatalf("%d calls seen", calls)
	}
	for k := range calls {
		faulty := hostfs.NewFault(hostfs.OS{}, hostfs.Nth(k, syscall.EIO))
		err := everyCall(faulty, t.TempDir())
		var at *os.PathError
		if !errors.Is(err, syscall.EIO) || !errors.As(err, &at) || at.Op == "" || at.Path == "" {
			t.Errorf("call %d: %v", k, err)
		}
	}
	if err := everyCall(hostfs.NewFault(hostfs.OS{}, hostfs.Nth(calls, syscall.EIO)), t.TempDir()); err != nil {
		t.Errorf("one beyond the last call: %v", err)
	}
}

func TestFaultFrom(t *testing.T) {
	disk := hostfs.NewFault(hostfs.OS{}, hostfs.From(1, syscall.ENOSPC, hostfs.OpWrite))
	f, err := disk.OpenFile(filepath.Join(t.TempDir(), "f"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for i, want := range []error{nil, syscall.ENOSPC, syscall.ENOSPC} {
		if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, want) {
			t.Errorf("write %d: %v, want %v", i, err, want)
		}
	}
	if err := f.Sync(); err != nil {
		t.Errorf("fsync is no write: %v", err)
	}
	disk.SetHook(nil)
	if _, err := f.WriteAt([]byte("x"), 0); err != nil {
		t.Errorf("healed: %v", err)
	}
}

func TestFaultShortWrite(t *testing.T) {
	hook := hostfs.Nth(0, &hostfs.ShortWrite{Bytes: 2, Err: syscall.ENOSPC}, hostfs.OpWrite)
	path := filepath.Join(t.TempDir(), "f")
	f, err := hostfs.NewFault(hostfs.OS{}, hook).OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	n, err := f.WriteAt([]byte("four"), 0)
	if n != 2 || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("short write: %d, %v", n, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); err != nil || string(b) != "fo" {
		t.Errorf("the file has %q, %v", b, err)
	}
}

// A failed Close still gives the descriptor up, and with it the lock.
func TestFaultCloseReleases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	open := func(hook hostfs.Hook) hostfs.File {
		f, err := hostfs.NewFault(hostfs.OS{}, hook).OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one := open(hostfs.Nth(0, syscall.EIO, hostfs.OpClose))
	two := open(nil)
	defer two.Close()
	if err := one.Lock(); err != nil {
		t.Fatal(err)
	}
	if err := two.Lock(); !errors.Is(err, syscall.EWOULDBLOCK) {
		t.Errorf("second lock: %v", err)
	}
	if err := one.Close(); !errors.Is(err, syscall.EIO) {
		t.Errorf("close: %v", err)
	}
	if err := two.Lock(); err != nil {
		t.Errorf("lock after close: %v", err)
	}
}
