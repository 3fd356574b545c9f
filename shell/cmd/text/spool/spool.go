// Package spool makes files without a name, for what commands cannot hold in
// memory.
package spool

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// tries is how many names are tried for a spool where files without names
// cannot be made.
const tries = 100

// New makes a file without a name that can be read and written: in dir, or in
// $TMPDIR, /tmp or the working directory when that is "". The caller closes it.
func New(c *command.Context, dir string) (vfs.File, error) {
	dirs := []string{dir}
	if dir == "" {
		dirs = []string{c.Env.Get("TMPDIR"), "/tmp", "."}
	}
	err := error(syscall.ENOENT)
	for _, d := range dirs {
		if d == "" {
			continue
		}
		var f vfs.File
		if f, err = makeIn(c, d); err == nil {
			return f, nil
		}
	}
	return nil, err
}

func makeIn(c *command.Context, dir string) (vfs.File, error) {
	a, err := c.FS.Stat(dir)
	if err != nil {
		return nil, err
	}
	if !a.IsDir() {
		return nil, syscall.ENOTDIR
	}
	_, h, err := c.FS.FS.Tmpfile(&c.FS.Op, a.Ino, 0o600, syscall.O_RDWR|syscall.O_EXCL)
	if err == nil {
		return vfs.NewRegularFile(c.FS.FS, &c.FS.Op, h, syscall.O_RDWR), nil
	}
	if e := vfs.ToErrno(err); e != syscall.EOPNOTSUPP && e != syscall.ENOSYS {
		return nil, err
	}
	at := c.FS.At(a.Ino)
	for n := range tries {
		name := fmt.Sprintf(".spool%d.%d", c.System.Self(c), n)
		f, err := at.OpenFile(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL, 0o600)
		if errors.Is(err, syscall.EEXIST) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := at.Unlink(name); err != nil {
			f.Close()
			return nil, err
		}
		return f, nil
	}
	return nil, syscall.EEXIST
}
