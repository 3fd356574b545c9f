package files

import (
	"context"
	"fmt"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const (
	rmInteractive = 256 + iota
	rmOneFileSystem
	rmPreserveRoot
	rmNoPreserveRoot
)

func init() {
	command.Register(command.Info{
		Name:     "rm",
		Synopsis: "rm [OPTION]... [FILE]...",
		Summary:  "Remove (unlink) the FILE(s).",
		Options: []command.Option{
			{Short: 'f', Long: "force", Help: "ignore nonexistent files and arguments, never prompt"},
			{Short: 'i', Help: "prompt before every removal"},
			{Short: 'I', Help: "prompt once before removing more than three files, or\nwhen removing recursively"},
			{Long: "interactive", Arg: command.OptionalArgument, ArgName: "WHEN", ID: rmInteractive, Help: "prompt according to WHEN: never, once (-I), or always (-i)"},
			{Long: "one-file-system", ID: rmOneFileSystem, Help: "when removing a hierarchy recursively, skip any\ndirectory that is on a different file system"},
			{Long: "no-preserve-root", ID: rmNoPreserveRoot, Help: "do not treat '/' specially"},
			{Long: "preserve-root", Arg: command.OptionalArgument, ArgName: "all", ID: rmPreserveRoot, Help: "do not remove '/' (default)"},
			{Short: 'r', Long: "recursive", Help: "remove directories and their contents recursively"},
			{Short: 'R', ID: 'r', Help: "the same"},
			{Short: 'd', Long: "dir", Help: "remove empty directories"},
			{Short: 'v', Long: "verbose", Help: "explain what is being done"},
		},
	}, rm)
	command.Register(command.Info{Name: "unlink", Synopsis: "unlink FILE", Summary: "Call the unlink function to remove the specified FILE."}, unlink)
	command.Register(command.Info{Name: "link", Synopsis: "link FILE1 FILE2", Summary: "Call the link function to create a link named FILE2 to an existing FILE1."}, link)
}

var rmWhen = []gnulib.Choice{{Word: "never", Value: 'f'}, {Word: "no", Value: 'f'}, {Word: "none", Value: 'f'},
	{Word: "once", Value: 'I'}, {Word: "always", Value: 'i'}, {Word: "yes", Value: 'i'}}

// remover is what an rm is to do.
type remover struct {
	asker
	force, always, once      bool
	recursive, dirs, verbose bool
	noPreserveRoot           bool
	status                   int
}

func rm(ctx context.Context, c *command.Context, args []string) int {
	r := remover{asker: asker{c: c}}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'f':
			r.force, r.always, r.once = true, false, false
		case 'i':
			r.force, r.always, r.once = false, true, false
		case 'I':
			r.force, r.always, r.once = false, false, true
		case rmInteractive:
			when := int('i')
			if p.HasArg() {
				var ok bool
				if when, ok = gnulib.MatchArg(c, "--interactive", p.Arg(), rmWhen); !ok {
					return 1
				}
			}
			r.always, r.once = when == 'i', when == 'I'
			r.force = r.force && when == 'f'
		case 'r':
			r.recursive = true
		case 'd':
			r.dirs = true
		case 'v':
			r.verbose = true
		case rmNoPreserveRoot:
			r.noPreserveRoot = true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		if r.force {
			return 0
		}
		return c.MissingOperand("")
	}
	if r.once && (r.recursive || len(names) > 3) && !r.confirmAll(len(names)) {
		return 0
	}
	for _, name := range names {
		if ctx.Err() != nil {
			return 1
		}
		r.operand(ctx, name)
	}
	return r.status
}

func (r *remover) confirmAll(n int) bool {
	plural := "s"
	if n == 1 {
		plural = ""
	}
	if r.recursive {
		return r.ask(fmt.Sprintf("remove %d argument%s recursively? ", n, plural))
	}
	return r.ask(fmt.Sprintf("remove %d argument%s? ", n, plural))
}

// operand removes what one operand names.
func (r *remover) operand(ctx context.Context, name string) {
	if base := gnulib.Base(name); r.recursive && (base == "." || base == "..") {
		r.status = r.c.Errorf("refusing to remove '.' or '..' directory: skipping %s", r.c.QuoteArg(name))
		return
	}
	a, err := r.c.FS.Lstat(name)
	if err == nil && strings.HasSuffix(name, "/") && !a.IsDir() {
		err = syscall.ENOTDIR
	}
	if err != nil {
		if r.force && (toErrno(err) == syscall.ENOENT || toErrno(err) == syscall.ENOTDIR) {
			return
		}
		r.fail(name, err)
		return
	}
	if r.recursive && a.Ino == vfs.RootIno && !r.noPreserveRoot {
		r.status = 1
		if gnulib.StripSlashes(name) == "/" {
			r.c.Errorf("it is dangerous to operate recursively on '/'")
		} else {
			r.c.Errorf("it is dangerous to operate recursively on %s (same as '/')", r.c.QuoteArg(name))
		}
		r.c.Errorf("use --no-preserve-root to override this failsafe")
		return
	}
	r.remove(ctx, r.c.FS, name, name, &a)
}

func (r *remover) fail(path string, err error) {
	r.status = r.c.Errorf("cannot remove %s: %s", r.c.QuoteArg(path), command.Strerror(err))
}

// remove removes name in the directory of at; path is its name in messages. It
// reports whether it is gone.
func (r *remover) remove(ctx context.Context, at *vfs.Walker, name, path string, a *vfs.Attr) bool {
	if ctx.Err() != nil {
		return false
	}
	if !a.IsDir() {
		if r.always && !r.ask(fmt.Sprintf("remove %s %s? ", typeOf(a), r.c.QuoteArg(path))) {
			return false
		}
		return r.finish(at.Unlink(name), path, false)
	}
	if !r.recursive {
		if !r.dirs {
			r.fail(path, syscall.EISDIR)
			return false
		}
		if r.always && !r.ask(fmt.Sprintf("remove directory %s? ", r.c.QuoteArg(path))) {
			return false
		}
		return r.finish(at.Rmdir(name), path, true)
	}
	return r.removeTree(ctx, at, name, path, a)
}

func (r *remover) finish(err error, path string, dir bool) bool {
	if err != nil {
		r.fail(path, err)
		return false
	}
	if r.verbose {
		what := ""
		if dir {
			what = "directory "
		}
		fmt.Fprintf(r.c.Stdout, "removed %s%s\n", what, r.c.QuoteArg(path))
	}
	return true
}

// removeTree removes a directory and what is in it.
func (r *remover) removeTree(ctx context.Context, at *vfs.Walker, name, path string, a *vfs.Attr) bool {
	es, err := at.ReadDirIno(a.Ino)
	if err != nil {
		if at.Rmdir(name) == nil { // empty ones need not be readable
			return r.finish(nil, path, true)
		}
		r.fail(path, err)
		return false
	}
	held := int64(len(es)) * 2 * entrySize
	if err := r.c.Memory.Grow(held); err != nil {
		r.fail(path, err)
		return false
	}
	defer r.c.Memory.Shrink(held)
	if r.always && len(es) > 0 && !r.ask(fmt.Sprintf("descend into directory %s? ", r.c.QuoteArg(path))) {
		return false
	}
	inside := at.At(a.Ino)
	all := true
	for i := range es {
		child := gnulib.Join(path, es[i].Name)
		ca, err := inside.Lstat(es[i].Name)
		if toErrno(err) == syscall.ENOENT {
			continue // somebody else was faster
		}
		if err != nil {
			r.fail(child, err)
			all = false
			continue
		}
		all = r.remove(ctx, inside, es[i].Name, child, &ca) && all
	}
	if !all {
		return false
	}
	if r.always && !r.ask(fmt.Sprintf("remove directory %s? ", r.c.QuoteArg(path))) {
		return false
	}
	if linkWithSlash(r.c, path) {
		r.fail(path, syscall.ENOTDIR)
		return false
	}
	return r.finish(at.Rmdir(name), path, true)
}

func unlink(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
	}
	names, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(names) == 0:
		return c.MissingOperand("")
	case len(names) > 1:
		return c.ExtraOperand(names[1])
	}
	if err := c.FS.Unlink(names[0]); err != nil {
		return c.Errorf("cannot unlink %s: %s", c.QuoteArg(names[0]), command.Strerror(err))
	}
	return 0
}

func link(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
	}
	names, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(names) == 0:
		return c.MissingOperand("")
	case len(names) == 1:
		return c.MissingOperand(names[0])
	case len(names) > 2:
		return c.ExtraOperand(names[2])
	}
	if err := c.FS.Link(names[0], names[1], false); err != nil {
		return c.Errorf("cannot create link %s to %s: %s", c.QuoteArg(names[1]), c.QuoteArg(names[0]), command.Strerror(err))
	}
	return 0
}

// typeOf is what stat and rm call a file's type.
func typeOf(a *vfs.Attr) string {
	switch a.Mode & vfs.ModeTypeMask {
	case vfs.ModeRegular:
		if a.Size == 0 {
			return "regular empty file"
		}
		return "regular file"
	case vfs.ModeDir:
		return "directory"
	case vfs.ModeSymlink:
		return "symbolic link"
	case vfs.ModeFIFO:
		return "fifo"
	case vfs.ModeSocket:
		return "socket"
	case vfs.ModeChar:
		return "character special file"
	case vfs.ModeBlock:
		return "block special file"
	}
	return "weird file"
}
