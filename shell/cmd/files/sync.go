package files

import (
	"context"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "sync",
		Synopsis: "sync [OPTION] [FILE]...",
		Summary:  "Synchronize cached writes to persistent storage\n\nIf one or more files are specified, sync only them,\nor their containing file systems.",
		Options: []command.Option{
			{Short: 'd', Long: "data", Help: "sync only file data, no unneeded metadata"},
			{Short: 'f', Long: "file-system", Help: "sync the file systems that contain the files"},
		},
	}, syncFiles)
}

func syncFiles(ctx context.Context, c *command.Context, args []string) int {
	data, fs := false, false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'd':
			data = true
		case 'f':
			fs = true
		}
	}
	names, status, stop := p.End()
	switch {
	case stop:
		return status
	case data && fs:
		return c.Errorf("cannot specify both --data and --file-system")
	case data && len(names) == 0:
		return c.Errorf("--data needs at least one argument")
	case len(names) == 0:
		if err := c.FS.FS.Syncfs(&c.FS.Op); err != nil {
			return c.Errorf("error syncing: %s", command.Strerror(err))
		}
		return 0
	}
	for _, name := range names {
		f, err := c.FS.Open(name)
		if err != nil {
			status = c.Errorf("error opening %s: %s", c.QuoteArg(name), command.Strerror(err))
			continue
		}
		if fs {
			err = c.FS.FS.Syncfs(&c.FS.Op)
		} else {
			err = f.Fsync()
		}
		if err != nil {
			status = c.Errorf("error syncing %s: %s", c.QuoteArg(name), command.Strerror(err))
		}
		f.Close()
	}
	return status
}
