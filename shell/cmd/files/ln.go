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

const optBackup = 270

// backupOptions are common to cp, mv, ln and install.
var backupOptions = []command.Option{
	{Long: "backup", Arg: command.OptionalArgument, ArgName: "CONTROL", ID: optBackup, Help: "make a backup of each existing destination file"},
	{Short: 'b', Help: "like --backup but does not accept an argument"},
	{Short: 'S', Long: "suffix", Arg: command.RequiredArgument, ArgName: "SUFFIX", Help: "override the usual backup suffix"},
}

// targetOptions say where things go.
var targetOptions = []command.Option{
	{Short: 't', Long: "target-directory", Arg: command.RequiredArgument, ArgName: "DIRECTORY", Help: "copy all SOURCE arguments into DIRECTORY"},
	{Short: 'T', Long: "no-target-directory", Help: "treat DEST as a normal file"},
}

func init() {
	command.Register(command.Info{
		Name: "ln",
		Synopsis: "ln [OPTION]... [-T] TARGET LINK_NAME\nln [OPTION]... TARGET\n" +
			"ln [OPTION]... TARGET... DIRECTORY\nln [OPTION]... -t DIRECTORY TARGET...",
		Summary: "Create a link to TARGET with the name LINK_NAME; hard links by default,\nsymbolic links with --symbolic.",
		Options: append(append([]command.Option{
			{Short: 'd', Long: "directory", Help: "allow the superuser to attempt to hard link directories"},
			{Short: 'F', ID: 'd', Help: "the same"},
			{Short: 'f', Long: "force", Help: "remove existing destination files"},
			{Short: 'i', Long: "interactive", Help: "prompt whether to remove destinations"},
			{Short: 'L', Long: "logical", Help: "dereference TARGETs that are symbolic links"},
			{Short: 'n', Long: "no-dereference", Help: "treat LINK_NAME as a normal file if\nit is a symbolic link to a directory"},
			{Short: 'P', Long: "physical", Help: "make hard links directly to symbolic links"},
			{Short: 'r', Long: "relative", Help: "with -s, create links relative to link location"},
			{Short: 's', Long: "symbolic", Help: "make symbolic links instead of hard links"},
			{Short: 'v', Long: "verbose", Help: "print name of each linked file"},
		}, backupOptions...), targetOptions...),
	}, ln)
}

// linker is what an ln is to do.
type linker struct {
	asker
	backup                              backup
	force, interactive, logical         bool
	noDeref, relative, symbolic, chatty bool
	made                                map[string]bool
}

func ln(ctx context.Context, c *command.Context, args []string) int {
	l := linker{asker: asker{c: c}, made: map[string]bool{}}
	target, noTarget := "", false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'b', optBackup, 'S':
			if !l.backup.option(c, p) {
				return 1
			}
		case 'f':
			l.force, l.interactive = true, false
		case 'i':
			l.interactive, l.force = true, false
		case 'L':
			l.logical = true
		case 'P':
			l.logical = false
		case 'n':
			l.noDeref = true
		case 'r':
			l.relative = true
		case 's':
			l.symbolic = true
		case 'v':
			l.chatty = true
		case 't':
			target = p.Arg()
		case 'T':
			noTarget = true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	l.backup.finish(c)
	if l.relative && !l.symbolic {
		return c.Errorf("cannot do --relative without --symbolic")
	}
	names, dir, status := l.destination(names, target, noTarget)
	if status != 0 {
		return status
	}
	if dir == "" {
		return l.link(names[0], names[1])
	}
	for _, name := range names {
		status = max(status, l.link(name, gnulib.Join(dir, gnulib.Base(name))))
	}
	return status
}

// destination decides between the four forms of the command line; dir is ""
// when names are a target and a link name.
func (l *linker) destination(names []string, target string, noTarget bool) ([]string, string, int) {
	c := l.c
	switch {
	case len(names) == 0:
		return nil, "", c.Usage("missing file operand")
	case noTarget && target != "":
		return nil, "", c.Errorf("cannot combine --target-directory and --no-target-directory")
	case noTarget && len(names) < 2:
		return nil, "", c.Usage("missing destination file operand after %s", c.QuoteArg(names[0]))
	case noTarget && len(names) > 2:
		return nil, "", c.Usage("extra operand %s", c.QuoteArg(names[2]))
	case noTarget:
		return names, "", 0
	case target != "":
		if err := isDir(c, target); err != nil {
			if toErrno(err) == syscall.ENOTDIR {
				return nil, "", c.Errorf("target %s is not a directory", c.QuoteArg(target))
			}
			return nil, "", c.Errorf("failed to access %s: %s", c.QuoteArg(target), command.Strerror(err))
		}
		return names, target, 0
	case len(names) == 1:
		return names, ".", 0
	}
	last := names[len(names)-1]
	if l.isTargetDir(last) {
		return names[:len(names)-1], last, 0
	}
	if len(names) > 2 {
		err := isDir(c, last)
		if err == nil {
			err = syscall.ENOTDIR
		}
		return nil, "", c.Errorf("target %s: %s", c.QuoteArg(last), command.Strerror(err))
	}
	return names, "", 0
}

func (l *linker) isTargetDir(name string) bool {
	if l.noDeref {
		if a, err := l.c.FS.Lstat(gnulib.StripSlashes(name)); err == nil && a.IsSymlink() {
			return false
		}
	}
	return isDir(l.c, name) == nil
}

func (l *linker) link(from, to string) int {
	c := l.c
	kind := "hard"
	if l.symbolic {
		kind = "symbolic"
	}
	var source vfs.Attr
	if !l.symbolic {
		var err error
		if l.logical {
			source, err = c.FS.Stat(from)
		} else {
			source, err = c.FS.Lstat(from)
		}
		if err != nil {
			return c.Errorf("failed to access %s: %s", c.QuoteArg(from), command.Strerror(err))
		}
		if source.IsDir() {
			return c.Errorf("%s: hard link not allowed for directory", c.QuoteName(from))
		}
	}
	if l.relative {
		from = l.relativeTarget(from, to)
	}
	saved, status, ok := l.clear(from, to, &source)
	if !ok {
		return status
	}
	var err error
	if l.symbolic {
		err = c.FS.Symlink(from, to)
	} else {
		err = c.FS.Link(from, to, l.logical)
	}
	if err != nil {
		if saved != "" {
			c.FS.Rename(saved, to, 0)
		}
		if l.symbolic {
			if toErrno(err) == syscall.ENOENT && from == "" || toErrno(err) == syscall.ENAMETOOLONG {
				return c.Errorf("failed to create symbolic link %s -> %s: %s", c.QuoteArg(to), c.QuoteArg(from), command.Strerror(err))
			}
			return c.Errorf("failed to create symbolic link %s: %s", c.QuoteArg(to), command.Strerror(err))
		}
		if errno := toErrno(err); errno == syscall.EEXIST || errno == syscall.ENOSPC || errno == syscall.EROFS {
			return c.Errorf("failed to create hard link %s: %s", c.QuoteArg(to), command.Strerror(err))
		}
		return c.Errorf("failed to create %s link %s => %s: %s", kind, c.QuoteArg(to), c.QuoteArg(from), command.Strerror(err))
	}
	l.made[to] = true
	if l.chatty {
		arrow := "=>"
		if l.symbolic {
			arrow = "->"
		}
		if saved != "" {
			fmt.Fprintf(c.Stdout, "%s ~ ", c.QuoteArg(saved))
		}
		fmt.Fprintf(c.Stdout, "%s %s %s\n", c.QuoteArg(to), arrow, c.QuoteArg(from))
	}
	return 0
}

// clear makes room for the link to; saved is the backup that was made.
func (l *linker) clear(from, to string, source *vfs.Attr) (saved string, status int, ok bool) {
	c := l.c
	if !l.force && !l.interactive && !l.backup.on() {
		return "", 0, true
	}
	a, err := c.FS.Lstat(to)
	if err != nil {
		if toErrno(err) != syscall.ENOENT {
			return "", c.Errorf("failed to access %s: %s", c.QuoteArg(to), command.Strerror(err)), false
		}
		return "", 0, true
	}
	switch {
	case a.IsDir():
		return "", c.Errorf("%s: cannot overwrite directory", c.QuoteName(to)), false
	case l.made[to]:
		return "", c.Errorf("will not overwrite just-created %s with %s", c.QuoteArg(to), c.QuoteArg(from)), false
	case !l.symbolic && a.Ino == source.Ino && (!l.backup.on() || gnulib.Base(from) == gnulib.Base(to)):
		same := l.sameName(from, to)
		if same {
			return "", c.Errorf("%s and %s are the same file", c.QuoteArg(from), c.QuoteArg(to)), false
		}
	}
	if l.interactive && !l.ask(fmt.Sprintf("replace %s? ", c.QuoteArg(to))) {
		return "", 0, false
	}
	if l.backup.on() {
		saved = l.backup.name(c, to)
		if err := c.FS.Rename(to, saved, 0); err != nil {
			return "", c.Errorf("cannot backup %s: %s", c.QuoteArg(to), command.Strerror(err)), false
		}
		return saved, 0, true
	}
	if err := c.FS.Unlink(to); err != nil {
		return "", c.Errorf("cannot remove %s: %s", c.QuoteArg(to), command.Strerror(err)), false
	}
	return "", 0, true
}

// sameName reports whether two paths are the same dentry.
func (l *linker) sameName(a, b string) bool {
	fa, err1 := l.c.FS.Walk(a, false)
	fb, err2 := l.c.FS.Walk(b, false)
	return err1 == nil && err2 == nil && fa.Parent == fb.Parent && fa.Name == fb.Name
}

// relativeTarget is the way from the link's directory to the target.
func (l *linker) relativeTarget(from, to string) string {
	r := canonical{c: l.c, need: needNone}
	dir, err := r.path(gnulib.Dir(to))
	if err != nil {
		return from
	}
	target, err := r.path(from)
	if err != nil {
		return from
	}
	return relative(target, dir)
}

// backup is how files about to be replaced are kept.
type backup struct {
	control string // "", "none", "simple", "existing", "numbered"
	suffix  string
	asked   bool
}

var backupControls = []gnulib.Choice{{Word: "none", Value: 0}, {Word: "off", Value: 0}, {Word: "simple", Value: 1},
	{Word: "never", Value: 1}, {Word: "existing", Value: 2}, {Word: "nil", Value: 2}, {Word: "numbered", Value: 3}, {Word: "t", Value: 3}}

// option takes one of backupOptions.
func (b *backup) option(c *command.Context, p *command.Parser) bool {
	b.asked = true
	switch p.ID() {
	case 'S':
		b.suffix = p.Arg()
	case optBackup:
		if !p.HasArg() {
			return true
		}
		v, ok := gnulib.MatchArg(c, "backup type", p.Arg(), backupControls)
		if !ok {
			return false
		}
		b.control = [...]string{"none", "simple", "existing", "numbered"}[v]
	}
	return true
}

// finish fills in what the environment says.
func (b *backup) finish(c *command.Context) {
	if !b.asked {
		b.control = "none"
		return
	}
	if b.control == "" {
		b.control = "existing"
		switch v := c.Env.Get("VERSION_CONTROL"); v {
		case "none", "off":
			b.control = "none"
		case "simple", "never":
			b.control = "simple"
		case "numbered", "t":
			b.control = "numbered"
		}
	}
	if b.suffix == "" {
		b.suffix = c.Env.Get("SIMPLE_BACKUP_SUFFIX")
	}
	if b.suffix == "" || strings.Contains(b.suffix, "/") {
		b.suffix = "~"
	}
}

func (b *backup) on() bool { return b.control != "none" && b.control != "" }

// name is where the file at path is kept.
func (b *backup) name(c *command.Context, path string) string {
	if b.control == "simple" {
		return path + b.suffix
	}
	base := gnulib.Base(path)
	highest := 0
	es, err := c.FS.ReadDir(gnulib.Dir(path))
	if err == nil {
		for i := range es {
			rest, ok := strings.CutPrefix(es[i].Name, base+".~")
			if !ok || !strings.HasSuffix(rest, "~") {
				continue
			}
			n := 0
			for _, d := range []byte(rest[:len(rest)-1]) {
				if d < '0' || d > '9' || n > 1<<30 {
					n = 0
					break
				}
				n = n*10 + int(d-'0')
			}
			highest = max(highest, n)
		}
	}
	if b.control == "existing" && highest == 0 {
		return path + b.suffix
	}
	return fmt.Sprintf("%s.~%d~", path, highest+1)
}
