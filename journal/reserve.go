package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReleaseReserve gives the reserved space back to the disk, so that a
// checkpoint finds room on a full one. It works on a failed journal too.
// Releasing twice is no error.
func (j *Journal) ReleaseReserve() error {
	// Removed and not truncated: what is allocated beyond a file's end may
	// survive its truncation to the size that it has.
	err := j.fs.Remove(filepath.Join(j.dir, reserveName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("journal: release reserve: %w", err)
	}
	return nil
}

// RestoreReserve reserves the space again; ENOSPC says that it is not there
// yet. Where the file system cannot reserve space, it does nothing.
func (j *Journal) RestoreReserve() (err error) {
	if j.reserveSize <= 0 {
		return nil
	}
	f, err := j.fs.OpenFile(filepath.Join(j.dir, reserveName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("journal: restore reserve: %w", err)
	}
	defer func() {
		if cerr := f.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("journal: restore reserve: %w", cerr)
		}
	}()
	if err := f.Allocate(0, j.reserveSize); err != nil {
		return fmt.Errorf("journal: restore reserve: %w", err)
	}
	return nil
}
