package scale

import (
	"bufio"
	"context"
	"errors"
	"io"

	"github.com/vfsd/vfsd/mount"
	"github.com/vfsd/vfsd/workspace"
)

// serve mounts the workspace as the daemon does, tells so with an empty line of
// figures, and answers each line of its input with its memory until the input
// ends or ctx does.
func serve(ctx context.Context, s step, in io.Reader, emit func(figures) error) error {
	return opened(ctx, s, func(d *workspace.DataDir) error {
		w, err := d.Open(name)
		if err != nil {
			return err
		}
		m, err := mount.Mount(s.Driver, mount.Options{
			FS: w.Browse(), Origin: 1, MountPoint: s.Mount, Name: name, AllowOther: true, NoFlush: true,
		})
		if err != nil {
			return err
		}
		stop := context.AfterFunc(ctx, m.Abort)
		defer stop()
		err = emit(figures{})
		for lines := bufio.NewScanner(in); err == nil && lines.Scan(); {
			var f figures
			if f, err = s.memory(); err == nil {
				err = emit(f)
			}
		}
		return errors.Join(err, m.Unmount())
	})
}
