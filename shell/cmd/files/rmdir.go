package files

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const rmdirIgnore = 256

func init() {
	command.Register(command.Info{
		Name:     "rmdir",
		Synopsis: "rmdir [OPTION]... DIRECTORY...",
		Summary:  "Remove the DIRECTORY(ies), if they are empty.",
		Options: []command.Option{
			{Long: "ignore-fail-on-non-empty", ID: rmdirIgnore, Help: "ignore each failure that is solely because a directory is non-empty"},
			{Short: 'p', Long: "parents", Help: "remove DIRECTORY and its ancestors; e.g., 'rmdir -p a/b/c' is\nsimilar to 'rmdir a/b/c a/b a'"},
			{Short: 'v', Long: "verbose", Help: "output a diagnostic for every directory processed"},
		},
	}, rmdir)
}

func rmdir(ctx context.Context, c *command.Context, args []string) int {
	ignore, parents, verbose := false, false, false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case rmdirIgnore:
			ignore = true
		case 'p':
			parents = true
		case 'v':
			verbose = true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		return c.MissingOperand("")
	}
	remove := func(dir, what string) bool {
		if verbose {
			fmt.Fprintf(c.Stdout, "%s: removing directory, %s\n", c.Command.Name, c.QuoteArg(dir))
		}
		err := removeDir(c, dir)
		if err == nil {
			return true
		}
		if !ignore || vfs.ToErrno(err) != syscall.ENOTEMPTY && vfs.ToErrno(err) != syscall.EEXIST {
			status = c.Errorf("failed to remove %s%s: %s", what, c.QuoteArg(dir), rmdirCause(c, dir, err))
		}
		return false
	}
	for _, name := range names {
		if !remove(name, "") || !parents {
			continue
		}
		dir := strings.TrimRight(name, "/")
		for {
			i := strings.LastIndexByte(dir, '/')
			if i < 0 {
				break
			}
			if dir = strings.TrimRight(dir[:i], "/"); dir == "" || !remove(dir, "directory ") {
				break
			}
		}
	}
	return status
}

// rmdirCause says why; a symlink with a slash after it gets its own words.
func rmdirCause(c *command.Context, dir string, err error) string {
	if vfs.ToErrno(err) == syscall.ENOTDIR && linkWithSlash(c, dir) {
		if to, terr := c.FS.Stat(dir); terr == nil && to.IsDir() {
			return "Symbolic link not followed"
		}
	}
	return command.Strerror(err)
}

// removeDir is rmdir(2), which follows no symlink, not even one with a slash
// after it.
func removeDir(c *command.Context, dir string) error {
	if linkWithSlash(c, dir) {
		return syscall.ENOTDIR
	}
	return c.FS.Rmdir(dir)
}

// linkWithSlash reports whether a path is a symlink followed by slashes.
func linkWithSlash(c *command.Context, path string) bool {
	bare := strings.TrimRight(path, "/")
	if bare == path || bare == "" {
		return false
	}
	a, err := c.FS.Lstat(bare)
	return err == nil && a.IsSymlink()
}
