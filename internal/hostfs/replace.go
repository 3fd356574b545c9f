package hostfs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// ReplaceFile makes b the durable content of a file with the permission bits perm,
// whole or not at all. A crash may leave NAME.new beside it, which the next call
// overwrites.
func ReplaceFile(fsys FS, name string, b []byte, perm fs.FileMode) error {
	temp := name + ".new"
	f, err := fsys.OpenFile(temp, os.O_RDWR|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(b, 0)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = fsys.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	return fsys.SyncDir(filepath.Dir(name))
}
