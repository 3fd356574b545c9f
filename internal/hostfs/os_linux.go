package hostfs

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

func pathError(op, name string, err error) error {
	if err == nil {
		return nil
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// retry repeats a call that a signal interrupted.
func retry(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// Usage implements FS.
func (OS) Usage(name string) (Usage, error) {
	var s unix.Statfs_t
	if err := retry(func() error { return unix.Statfs(name, &s) }); err != nil {
		return Usage{}, pathError("statfs", name, err)
	}
	b := uint64(s.Bsize)
	return Usage{
		Total: s.Blocks * b, Free: s.Bfree * b, Available: s.Bavail * b,
		Files: s.Files, FilesFree: s.Ffree,
	}, nil
}

// Allocate implements File. A file system that cannot reserve is no error:
// then ENOSPC comes with the write.
func (f osFile) Allocate(off, n int64) error {
	err := retry(func() error {
		return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, off, n)
	})
	if err == unix.EOPNOTSUPP {
		return nil
	}
	return pathError("fallocate", f.Name(), err)
}

// Punch implements File. Where holes cannot be made the space stays in use.
func (f osFile) Punch(off, n int64) error {
	err := retry(func() error {
		return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
	})
	if err == unix.EOPNOTSUPP {
		return nil
	}
	return pathError("fallocate", f.Name(), err)
}

// Lock implements File.
func (f osFile) Lock() error {
	err := retry(func() error { return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) })
	if err == unix.EWOULDBLOCK {
		return err
	}
	return pathError("flock", f.Name(), err)
}
