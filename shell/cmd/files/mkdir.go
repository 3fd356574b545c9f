package files

import (
	"context"
	"fmt"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const contextOption = 300

// contextOptions are -Z and --context, which have nothing to do here.
var contextOptions = []command.Option{
	{Short: 'Z', ID: contextOption, Help: "ignored: there are no security contexts"},
	{Long: "context", Arg: command.OptionalArgument, ArgName: "CTX", ID: contextOption, Help: "ignored"},
}

func init() {
	modeOption := command.Option{Short: 'm', Long: "mode", Arg: command.RequiredArgument, ArgName: "MODE", Help: "set file mode (as in chmod), not a=rwx - umask"}
	command.Register(command.Info{
		Name:     "mkdir",
		Synopsis: "mkdir [OPTION]... DIRECTORY...",
		Summary:  "Create the DIRECTORY(ies), if they do not already exist.",
		Options: append([]command.Option{
			modeOption,
			{Short: 'p', Long: "parents", Help: "no error if existing, make parent directories as needed"},
			{Short: 'v', Long: "verbose", Help: "print a message for each created directory"},
		}, contextOptions...),
	}, mkdir)
	command.Register(command.Info{
		Name:     "mkfifo",
		Synopsis: "mkfifo [OPTION]... NAME...",
		Summary:  "Create named pipes (FIFOs) with the given NAMEs.",
		Options:  append([]command.Option{modeOption}, contextOptions...),
	}, mkfifo)
}

// maker makes directories.
type maker struct {
	c       *command.Context
	parents bool
	verbose bool
	mode    *gnulib.ModeChange
}

func mkdir(ctx context.Context, c *command.Context, args []string) int {
	m := maker{c: c}
	p := c.Options(args)
	mode := ""
	hasMode := false
	for p.Next() {
		switch p.ID() {
		case 'm':
			mode, hasMode = p.Arg(), true
		case 'p':
			m.parents = true
		case 'v':
			m.verbose = true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		return c.MissingOperand("")
	}
	if hasMode {
		var ok bool
		if m.mode, ok = gnulib.ParseMode(mode); !ok {
			return c.Errorf("invalid mode %s", c.Quote(mode))
		}
	}
	for _, name := range names {
		if m.parents {
			if !m.makeParents(name) {
				status = 1
				continue
			}
		}
		if err := m.make(name); err != nil {
			status = c.Errorf("cannot create directory %s: %s", c.QuoteArg(name), command.Strerror(err))
		}
	}
	return status
}

// make makes the directory itself.
func (m *maker) make(name string) error {
	w, perm := m.c.FS, uint32(0o777)
	if m.mode != nil {
		perm = m.mode.Apply(0o777, true, m.c.FS.Op.Umask)
		op := w.Op
		op.Umask = 0
		w = w.With(&op)
	}
	err := w.Mkdir(name, perm)
	if m.parents && (vfs.ToErrno(err) == syscall.EEXIST || vfs.ToErrno(err) == syscall.EBUSY) {
		if a, serr := m.c.FS.Stat(name); serr == nil && a.IsDir() {
			return nil
		}
		return syscall.EEXIST
	}
	if err == nil && m.mode != nil && perm&0o7000 != 0 {
		err = m.c.FS.Chmod(name, perm)
	}
	if err == nil {
		m.say(name)
	}
	return err
}

func (m *maker) say(name string) {
	if m.verbose {
		fmt.Fprintf(m.c.Stdout, "%s: created directory %s\n", m.c.Command.Name, m.c.QuoteArg(name))
	}
}

// makeParents makes the directories above name: u+wx whatever the umask says,
// so that the next one can be made in them.
func (m *maker) makeParents(name string) bool {
	dir := gnulib.StripSlashes(name)
	op := m.c.FS.Op
	op.Umask &^= 0o300
	w := m.c.FS.With(&op)
	for i := 1; i < len(dir); i++ {
		if dir[i] != '/' || dir[i-1] == '/' {
			continue
		}
		part := dir[:i]
		err := w.Mkdir(part, 0o777)
		if err == nil {
			m.say(part)
			continue
		}
		a, serr := m.c.FS.Stat(part)
		if serr == nil && a.IsDir() {
			continue
		}
		if vfs.ToErrno(err) == syscall.EEXIST && serr == nil {
			err = syscall.ENOTDIR
		}
		m.c.Errorf("cannot create directory %s: %s", m.c.QuoteArg(part), command.Strerror(err))
		return false
	}
	return true
}

func mkfifo(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	mode, hasMode := "", false
	for p.Next() {
		if p.ID() == 'm' {
			mode, hasMode = p.Arg(), true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		return c.MissingOperand("")
	}
	w, perm := c.FS, uint32(0o666)
	if hasMode {
		m, ok := gnulib.ParseMode(mode)
		if !ok {
			return c.Errorf("invalid mode")
		}
		if perm = m.Apply(0o666, false, c.FS.Op.Umask); perm&^0o777 != 0 {
			return c.Errorf("mode must specify only file permission bits")
		}
		op := w.Op
		op.Umask = 0
		w = w.With(&op)
	}
	for _, name := range names {
		if err := w.Mknod(name, vfs.ModeFIFO|perm, 0); err != nil {
			status = c.Errorf("cannot create fifo %s: %s", c.QuoteArg(name), command.Strerror(err))
		}
	}
	return status
}
