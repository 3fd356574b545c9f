package hostfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

// Usage implements FS.
func (OS) Usage(name string) (Usage, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(name, &s); err != nil {
		return Usage{}, &fs.PathError{Op: "statfs", Path: name, Err: err}
	}
	b := uint64(s.Bsize)
	return Usage{
		Total: s.Blocks * b, Free: s.Bfree * b, Available: s.Bavail * b,
		Files: s.Files, FilesFree: s.Ffree,
	}, nil
}

// Allocate implements File: it reserves nothing here.
func (f osFile) Allocate(off, n int64) error { return nil }

// Punch implements File: it frees nothing here.
func (f osFile) Punch(off, n int64) error { return nil }

// Lock implements File.
func (f osFile) Lock() error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil || err == unix.EWOULDBLOCK {
		return err
	}
	return &fs.PathError{Op: "flock", Path: f.Name(), Err: err}
}
