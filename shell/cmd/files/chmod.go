package files

import (
	"context"
	"fmt"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const (
	optReference = 256 + iota
	optPreserveRoot
	optNoPreserveRoot
	optDereference
	optFrom
)

func init() {
	options := []command.Option{
		{Short: 'c', Long: "changes", Help: "like verbose but report only when a change is made"},
		{Short: 'f', Long: "silent", Help: "suppress most error messages"},
		{Long: "quiet", ID: 'f', Help: "suppress most error messages"},
		{Short: 'v', Long: "verbose", Help: "output a diagnostic for every file processed"},
		{Long: "no-preserve-root", ID: optNoPreserveRoot, Help: "do not treat '/' specially (the default)"},
		{Long: "preserve-root", ID: optPreserveRoot, Help: "fail to operate recursively on '/'"},
		{Long: "reference", Arg: command.RequiredArgument, ArgName: "RFILE", ID: optReference, Help: "use RFILE's mode instead of specifying MODE values"},
		{Short: 'R', Long: "recursive", Help: "change files and directories recursively"},
	}
	// A mode may look like an option: chmod -w file.
	for _, letter := range []byte("rwxXstugoa,+=01234567") {
		options = append(options, command.Option{Short: letter, Arg: command.OptionalArgument, ID: 'm'})
	}
	command.Register(command.Info{
		Name:     "chmod",
		Synopsis: "chmod [OPTION]... MODE[,MODE]... FILE...\nchmod [OPTION]... OCTAL-MODE FILE...\nchmod [OPTION]... --reference=RFILE FILE...",
		Summary:  "Change the mode of each FILE to MODE.\nWith --reference, change the mode of each FILE to that of RFILE.",
		Options:  options,
		Notes:    "Each MODE is of the form '[ugoa]*([-+=]([rwxXst]*|[ugo]))+|[-+=][0-7]+'.",
	}, chmod)
}

// modeSetter is what a chmod is to do.
type modeSetter struct {
	c                       *command.Context
	mode                    *gnulib.ModeChange
	reference               *uint32
	silent, changes, chatty bool
	diagnose                bool // complain when the umask kept bits from changing
	status                  int
}

func chmod(ctx context.Context, c *command.Context, args []string) int {
	m := modeSetter{c: c}
	recursive, preserveRoot := false, false
	mode, reference := "", ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'm':
			if mode != "" {
				mode += ","
			}
			mode += p.Spelled() + p.Arg()
			m.diagnose = true
		case 'R':
			recursive = true
		case 'c':
			m.changes = true
		case 'f':
			m.silent = true
		case 'v':
			m.chatty = true
		case optReference:
			reference = p.Arg()
		case optPreserveRoot:
			preserveRoot = true
		case optNoPreserveRoot:
			preserveRoot = false
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	switch {
	case reference != "" && mode != "":
		return c.Usage("cannot combine mode and --reference options")
	case reference == "" && mode == "" && len(names) > 0:
		mode, names = names[0], names[1:]
	}
	if len(names) == 0 {
		if m.diagnose {
			mode = ""
		}
		return c.MissingOperand(mode)
	}
	if reference != "" {
		a, err := c.FS.Stat(reference)
		if err != nil {
			return c.Errorf("failed to get attributes of %s: %s", c.QuoteArg(reference), command.Strerror(err))
		}
		bits := a.Mode & vfs.ModePerm
		m.reference = &bits
	} else {
		var ok bool
		if m.mode, ok = gnulib.ParseMode(mode); !ok {
			return c.Usage("invalid mode: %s", c.Quote(mode))
		}
	}
	h := hierarchy{c: c, follow: followCommand, visit: func(e *entry) verdict { return m.visit(e, recursive, preserveRoot) }}
	for _, name := range names {
		if !h.walk(ctx, name) {
			break
		}
	}
	return m.status
}

func (m *modeSetter) fail(format string, args ...any) {
	if !m.silent {
		m.c.Errorf(format, args...)
	}
	m.status = 1
}

func (m *modeSetter) visit(e *entry, recursive, preserveRoot bool) verdict {
	next := goOn
	if !recursive {
		next = skip
	}
	switch {
	case e.stage == stagePost:
		return goOn
	case e.stage == stageMissing:
		m.fail("cannot access %s: %s", m.c.QuoteArg(e.path), command.Strerror(e.err))
		if m.chatty {
			fmt.Fprintf(m.c.Stdout, "%s could not be accessed\n", m.c.QuoteArg(e.path))
		}
		return next
	case e.stage == stageUnreadable:
		m.fail("cannot read directory %s: %s", m.c.QuoteArg(e.path), command.Strerror(e.err))
		return next
	case recursive && preserveRoot && e.attr.Ino == vfs.RootIno:
		m.status = m.c.Errorf("it is dangerous to operate recursively on %s\n%s: use --no-preserve-root to override this failsafe",
			m.c.QuoteArg(e.path), m.c.Command.Name)
		return stop
	case e.attr.IsSymlink():
		if e.depth == 0 {
			m.fail("cannot operate on dangling symlink %s", m.c.QuoteArg(e.path))
		} else if m.chatty {
			fmt.Fprintf(m.c.Stdout, "neither symbolic link %s nor referent has been changed\n", m.c.QuoteArg(e.path))
		}
		return next
	}
	m.change(e)
	return next
}

func (m *modeSetter) change(e *entry) {
	old := e.attr.Mode & vfs.ModePerm
	umask := m.c.FS.Op.Umask
	var mode uint32
	if m.reference != nil {
		mode = *m.reference
	} else {
		mode = m.mode.Apply(old, e.attr.IsDir(), umask)
	}
	set := &vfs.SetAttr{Mask: vfs.SetMode, Mode: mode}
	if err := e.at.Setattr(e.name, true, set); err != nil {
		m.fail("changing permissions of %s: %s", m.c.QuoteArg(e.path), command.Strerror(err))
		if m.chatty {
			fmt.Fprintf(m.c.Stdout, "failed to change mode of %s from %s to %s\n", m.c.QuoteArg(e.path), bits(old), bits(mode))
		}
		return
	}
	if a, err := e.at.Stat(e.name); err == nil && mode&0o7000 != 0 {
		mode = a.Mode & vfs.ModePerm // what was asked for need not be what is
	}
	switch {
	case mode != old && (m.chatty || m.changes):
		fmt.Fprintf(m.c.Stdout, "mode of %s changed from %s to %s\n", m.c.QuoteArg(e.path), bits(old), bits(mode))
	case mode == old && m.chatty:
		fmt.Fprintf(m.c.Stdout, "mode of %s retained as %s\n", m.c.QuoteArg(e.path), bits(old))
	}
	if !m.diagnose || m.mode == nil {
		return
	}
	if naive := m.mode.Apply(old, e.attr.IsDir(), 0); mode&^naive != 0 {
		m.status = m.c.Errorf("%s: new permissions are %s, not %s", m.c.QuoteName(e.path),
			gnulib.ModeString(mode)[1:], gnulib.ModeString(naive)[1:])
	}
}

// bits shows permission bits as "0644 (rw-r--r--)".
func bits(mode uint32) string {
	return fmt.Sprintf("%04o (%s)", mode, strings.TrimLeft(gnulib.ModeString(mode), "?")[0:9])
}
