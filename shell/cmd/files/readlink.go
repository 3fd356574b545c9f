package files

import (
	"context"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	command.Register(command.Info{
		Name:     "readlink",
		Synopsis: "readlink [OPTION]... FILE...",
		Summary:  "Print value of a symbolic link or canonical file name",
		Options: []command.Option{
			{Short: 'f', Long: "canonicalize", Help: "canonicalize by following every symlink in\nevery component of the given name recursively;\nall but the last component must exist"},
			{Short: 'e', Long: "canonicalize-existing", Help: "the same; all components must exist"},
			{Short: 'm', Long: "canonicalize-missing", Help: "the same, without requirements on components existence"},
			{Short: 'n', Long: "no-newline", Help: "do not output the trailing delimiter"},
			{Short: 'q', Long: "quiet", Help: "suppress most error messages"},
			{Short: 's', Long: "silent", Help: "suppress most error messages (on by default)"},
			{Short: 'v', Long: "verbose", Help: "report error messages"},
			{Short: 'z', Long: "zero", Help: "end each output line with NUL, not newline"},
		},
	}, readlink)
}

func readlink(ctx context.Context, c *command.Context, args []string) int {
	r := canonical{c: c}
	canon, verbose, newline, end := false, false, true, "\n"
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'f':
			canon, r.need = true, needAllButLast
		case 'e':
			canon, r.need = true, needAll
		case 'm':
			canon, r.need = true, needNone
		case 'n':
			newline = false
		case 'q', 's':
			verbose = false
		case 'v':
			verbose = true
		case 'z':
			end = "\x00"
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		return c.MissingOperand("")
	}
	if len(names) > 1 && !newline {
		c.Errorf("ignoring --no-newline with multiple arguments")
		newline = true
	}
	for _, name := range names {
		var value string
		var err error
		if canon {
			value, err = r.path(name)
		} else {
			value, err = c.FS.Readlink(name)
		}
		if err != nil {
			status = 1
			if verbose {
				c.Fail(name, err)
			}
			continue
		}
		c.Stdout.WriteString(value)
		if newline {
			c.Stdout.WriteString(end)
		}
	}
	return status
}

const (
	realpathRelativeTo = 256 + iota
	realpathRelativeBase
)

func init() {
	command.Register(command.Info{
		Name:     "realpath",
		Synopsis: "realpath [OPTION]... FILE...",
		Summary:  "Print the resolved absolute file name;\nall but the last component must exist",
		Options: []command.Option{
			{Short: 'e', Long: "canonicalize-existing", Help: "all components of the path must exist"},
			{Short: 'm', Long: "canonicalize-missing", Help: "no path components need exist or be a directory"},
			{Short: 'L', Long: "logical", Help: "resolve '..' components before symlinks"},
			{Short: 'P', Long: "physical", Help: "resolve symlinks as encountered (default)"},
			{Short: 'q', Long: "quiet", Help: "suppress most error messages"},
			{Long: "relative-to", Arg: command.RequiredArgument, ArgName: "DIR", ID: realpathRelativeTo, Help: "print the resolved path relative to DIR"},
			{Long: "relative-base", Arg: command.RequiredArgument, ArgName: "DIR", ID: realpathRelativeBase, Help: "print absolute paths unless paths below DIR"},
			{Short: 's', Long: "strip", Help: "don't expand symlinks"},
			{Long: "no-symlinks", ID: 's', Help: "don't expand symlinks"},
			{Short: 'z', Long: "zero", Help: "end each output line with NUL, not newline"},
		},
	}, realpath)
}

func realpath(ctx context.Context, c *command.Context, args []string) int {
	r := canonical{c: c}
	quiet, end := false, "\n"
	relTo, relBase := "", ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'e':
			r.need = needAll
		case 'm':
			r.need = needNone
		case 'L':
			r.logical, r.literal = true, false
		case 's':
			r.logical, r.literal = true, true
		case 'P':
			r.logical, r.literal = false, false
		case 'q':
			quiet = true
		case 'z':
			end = "\x00"
		case realpathRelativeTo:
			relTo = p.Arg()
		case realpathRelativeBase:
			relBase = p.Arg()
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		return c.MissingOperand("")
	}
	if relBase != "" && relTo == "" {
		relTo = relBase
	}
	for _, dir := range []*string{&relTo, &relBase} {
		if *dir == "" {
			continue
		}
		path, err := r.path(*dir)
		if err == nil && r.need == needAll {
			err = isDir(c, path)
		}
		if err != nil {
			return c.Fail(*dir, err)
		}
		*dir = path
	}
	if relBase != "" && !within(relTo, relBase) {
		// What is relative to a directory outside the base is never relative.
		relTo, relBase = "", ""
	}
	for _, name := range names {
		path, err := r.path(name)
		if err != nil {
			status = 1
			if !quiet {
				c.Fail(name, err)
			}
			continue
		}
		if relTo != "" && (relBase == "" || within(path, relBase)) {
			path = relative(path, relTo)
		}
		c.Stdout.WriteString(path + end)
	}
	return status
}

func isDir(c *command.Context, path string) error {
	a, err := c.FS.Stat(path)
	if err == nil && !a.IsDir() {
		err = syscall.ENOTDIR
	}
	return err
}

// within reports whether an absolute path is dir or below it.
func within(path, dir string) bool {
	if dir == "/" || path == dir {
		return true
	}
	return len(path) > len(dir) && path[:len(dir)] == dir && path[len(dir)] == '/'
}

// relative is the way from the directory dir to path, both canonical.
func relative(path, dir string) string {
	if path == dir {
		return "."
	}
	common := dir
	up := ""
	for !within(path, common) {
		i := len(common) - 1
		for common[i] != '/' {
			i--
		}
		common = common[:max(i, 1)]
		up += "../"
	}
	rest := path[len(common):]
	if rest != "" && rest[0] == '/' {
		rest = rest[1:]
	}
	if rest == "" {
		return up[:len(up)-1]
	}
	return up + rest
}

// toErrno is vfs.ToErrno, for switches.
func toErrno(err error) syscall.Errno { return vfs.ToErrno(err) }
