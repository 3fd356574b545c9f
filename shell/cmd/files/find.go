package files

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	command.Register(command.Info{
		Name:     "find",
		Synopsis: "find [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]",
		Summary:  "Search for files in a directory hierarchy.\nDefault path is the current directory; default expression is -print.",
		RawArgs:  true,
		Notes: "Operators (decreasing precedence; -and is implicit where no others are given):\n" +
			"      ( EXPR )   ! EXPR   -not EXPR   EXPR1 -a EXPR2   EXPR1 -and EXPR2\n" +
			"      EXPR1 -o EXPR2   EXPR1 -or EXPR2   EXPR1 , EXPR2\n" +
			"Options: -depth -d -maxdepth LEVELS -mindepth LEVELS -mount -xdev -daystart -follow -regextype TYPE\n" +
			"      -files0-from FILE -ignore_readdir_race -noignore_readdir_race -noleaf -warn -nowarn\n" +
			"Tests (N can be +N or -N or N): -amin N -anewer FILE -atime N -cmin N -cnewer FILE -ctime N -empty\n" +
			"      -executable -false -fstype TYPE -gid N -group NAME -ilname PATTERN -iname PATTERN -inum N\n" +
			"      -ipath PATTERN -iregex PATTERN -links N -lname PATTERN -mmin N -mtime N -name PATTERN\n" +
			"      -newer FILE -newerXY FILE -nouser -nogroup -path PATTERN -perm [-/]MODE -readable\n" +
			"      -regex PATTERN -samefile FILE -size N[bcwkMG] -true -type [bcdpfls] -uid N -used N\n" +
			"      -user NAME -wholename PATTERN -writable -xtype [bcdpfls]\n" +
			"Actions: -delete -exec COMMAND ; -exec COMMAND {} + -execdir COMMAND ; -execdir COMMAND {} +\n" +
			"      -fls FILE -fprint FILE -fprint0 FILE -fprintf FILE FORMAT -ls -ok COMMAND ; -okdir COMMAND ;\n" +
			"      -print -print0 -printf FORMAT -prune -quit",
	}, find)
}

// test is a compiled part of a find expression.
type test func(e *entry) bool

// finder is one run of find.
type finder struct {
	asker
	ctx    context.Context
	follow follow
	start  time.Time // what ages are counted from
	today  time.Time // the same after -daystart
	loc    *time.Location

	min, max   int
	depthFirst bool
	expr       test
	// What the tests and actions leave behind.
	pruned, quit bool
	status       int
	root         string // the starting point of the present walk
	batches      []*batch
	outputs      map[string]*findOutput
}

// findOutput is a file that -fprint and its kin write.
type findOutput struct {
	w *command.Writer
	f vfs.File
}

func find(ctx context.Context, c *command.Context, args []string) int {
	f := &finder{asker: asker{c: c}, ctx: ctx, follow: followNone, start: c.Now(), loc: tz.Of(c), max: 1<<31 - 1, outputs: map[string]*findOutput{}}
	f.today = f.start
	rest, status, stop := f.leading(args[1:])
	if stop {
		return status
	}
	n := 0
	for n < len(rest) && !startsExpression(rest[n]) {
		n++
	}
	paths := rest[:n]
	p := findParser{f: f, args: rest[n:]}
	if !p.parse() {
		f.closeOutputs()
		return p.status
	}
	if p.files0 != "" {
		if len(paths) > 0 {
			return c.Errorf("extra operand %s\nfind: file operands cannot be combined with -files0-from", c.Quote(paths[0]))
		}
		if paths, status = f.readPaths(p.files0); status != 0 {
			return status
		}
	} else if len(paths) == 0 {
		paths = []string{"."}
	}
	for _, path := range paths {
		if f.quit || ctx.Err() != nil {
			break
		}
		f.walkRoot(path)
	}
	for _, b := range f.batches {
		b.run("")
	}
	f.closeOutputs()
	return f.status
}

// startsExpression reports whether an argument is no starting point any more.
func startsExpression(arg string) bool {
	if arg == "(" || arg == "!" {
		return true
	}
	return len(arg) > 1 && arg[0] == '-'
}

// leading takes the options that come before the starting points.
func (f *finder) leading(args []string) (rest []string, status int, stop bool) {
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case a == "-H" || a == "-L" || a == "-P":
			f.follow = follow(a[1])
		case a == "--":
			return args[i+1:], 0, false
		case a == "--help" || a == "-help":
			f.c.Stdout.WriteString(f.c.Command.Help())
			return nil, 0, true
		case a == "--version" || a == "-version":
			f.c.Stdout.WriteString("find (vfsd)\n")
			return nil, 0, true
		case a == "-D":
			i++
			if i >= len(args) {
				return nil, f.c.Usage("Missing argument after the -D option."), true
			}
		case strings.HasPrefix(a, "-O"):
			if strings.Trim(a[2:], "0123456789") != "" || a == "-O" {
				return nil, f.c.Errorf("Please specify a decimal number immediately after -O"), true
			}
		default:
			return args[i:], 0, false
		}
	}
	return nil, 0, false
}

// maxPaths bounds the bytes of -files0-from.
const maxPaths = 64 << 20

func (f *finder) readPaths(name string) ([]string, int) {
	r, err := f.c.Open(name)
	if err != nil {
		return nil, f.c.Errorf("cannot open %s for reading: %s", f.c.Quote(name), command.Strerror(err))
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxPaths))
	if err != nil {
		return nil, f.c.Errorf("%s: read error: %s", f.c.QuoteName(name), command.Strerror(err))
	}
	var paths []string
	if name == "-" {
		name = "(standard input)"
	}
	for i, p := range strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00") {
		if p == "" {
			f.status = f.c.Errorf("%s:%d: invalid zero-length file name", f.c.Quote(name), i+1)
			continue
		}
		paths = append(paths, p)
	}
	return paths, 0
}

func (f *finder) complain(path string, err error) {
	f.status = f.c.Errorf("%s: %s", f.c.Quote(path), command.Strerror(err))
}

// walkRoot searches what is below one starting point.
func (f *finder) walkRoot(path string) {
	f.root = path
	h := hierarchy{c: f.c, follow: f.follow, visit: f.visit}
	h.walk(f.ctx, path)
	for _, b := range f.batches {
		if b.dirwise {
			b.run("")
		}
	}
}

// visit is called for each step of the walk.
func (f *finder) visit(e *entry) verdict {
	switch e.stage {
	case stageMissing:
		f.complain(e.path, e.err)
		return goOn
	case stageUnreadable:
		f.complain(e.path, e.err)
		if f.depthFirst {
			return f.apply(e)
		}
		return goOn
	case stageCycle:
		f.status = f.c.Errorf("File system loop detected; %s is part of the same file system loop as %s.", f.c.Quote(e.path), f.c.Quote(f.ancestor(e)))
		return goOn
	case stagePre:
		v := goOn
		if e.depth >= f.max {
			v = skip
			if f.depthFirst {
				return max(f.apply(e), v)
			}
		}
		if f.depthFirst {
			return v
		}
		return max(f.apply(e), v)
	case stagePost:
		if !f.depthFirst {
			return goOn
		}
	}
	return f.apply(e)
}

// ancestor is the path of the directory that a cycle leads back to.
func (f *finder) ancestor(e *entry) string {
	path := e.path
	for i := len(e.dirs) - 1; i >= 0; i-- {
		path = path[:strings.LastIndexByte(path, '/')]
		if e.dirs[i] == e.attr.Ino {
			break
		}
	}
	return path
}

// apply evaluates the expression for one file.
func (f *finder) apply(e *entry) verdict {
	if e.depth < f.min || e.depth > f.max {
		return goOn
	}
	presentable(&e.attr)
	f.pruned = false
	f.expr(e)
	switch {
	case f.quit || f.c.Stdout.Err() != nil:
		return stop
	case f.pruned && e.stage == stagePre:
		return skip
	}
	return goOn
}

// output opens a file that an action writes, once for each name.
func (f *finder) output(name string) (*command.Writer, error) {
	switch name {
	case "/dev/stdout":
		return f.c.Stdout, nil
	case "/dev/stderr":
		w := command.NewWriter(f.c.Stderr)
		w.LineBuffered()
		f.outputs[name] = &findOutput{w: w}
		return w, nil
	}
	if o := f.outputs[name]; o != nil {
		return o.w, nil
	}
	file, err := f.c.FS.Create(name, 0o666)
	if err != nil {
		return nil, err
	}
	o := &findOutput{w: command.NewWriter(file), f: file}
	f.outputs[name] = o
	return o.w, nil
}

func (f *finder) closeOutputs() {
	for name, o := range f.outputs {
		err := o.w.Flush()
		if o.f != nil {
			if cerr := o.f.Close(); err == nil {
				err = cerr
			}
		}
		if err != nil {
			f.complain(name, err)
		}
	}
}

// findLs writes one file as -ls does.
func (f *finder) findLs(w *command.Writer, e *entry) {
	a := &e.attr
	size := fmt.Sprint(a.Size)
	if isDevice(a) {
		size = fmt.Sprintf("%3d, %3d", devicePart(a.Rdev, 'H', 10).num, devicePart(a.Rdev, 'L', 10).num)
	}
	t := time.Unix(0, a.Mtime).In(f.loc)
	format := "%b %e  %Y"
	const halfYear = 365 * 24 * time.Hour / 2
	if age := f.start.Sub(t); age < halfYear && age > -time.Hour {
		format = "%b %e %H:%M"
	}
	fmt.Fprintf(w, "%9d %6d %s %3d %-8s %-8s %8s %s %s", a.Ino, (a.Blocks+1)/2, gnulib.ModeString(a.Mode), a.Nlink,
		userName(f.c, a.UID), groupName(f.c, a.GID), size, gnulib.Strftime(format, t), cEscape(e.path, ' ', f.c.Env.UTF8()))
	if a.IsSymlink() {
		if target, err := e.at.Readlink(e.name); err == nil {
			w.WriteString(" -> " + cEscape(target, ' ', f.c.Env.UTF8()))
		}
	}
	w.WriteByte('\n')
}
