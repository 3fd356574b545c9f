package files

import (
	"bufio"
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const (
	duApparent = 256 + iota
	duExclude
	duFiles0
	duInodes
	duSI
	duTime
	duTimeStyle
	duThreshold
)

func init() {
	command.Register(command.Info{
		Name:     "du",
		Synopsis: "du [OPTION]... [FILE]...\ndu [OPTION]... --files0-from=F",
		Summary:  "Summarize disk usage of the set of FILEs, recursively for directories.",
		Options: []command.Option{
			{Short: '0', Long: "null", Help: "end each output line with NUL, not newline"},
			{Short: 'a', Long: "all", Help: "write counts for all files, not just directories"},
			{Long: "apparent-size", ID: duApparent, Help: "print apparent sizes rather than disk usage"},
			{Short: 'B', Long: "block-size", Arg: command.RequiredArgument, ArgName: "SIZE", Help: "scale sizes by SIZE before printing them"},
			{Short: 'b', Long: "bytes", Help: "equivalent to '--apparent-size --block-size=1'"},
			{Short: 'c', Long: "total", Help: "produce a grand total"},
			{Short: 'D', Long: "dereference-args", Help: "dereference only symlinks that are listed on the\ncommand line"},
			{Short: 'H', ID: 'D', Help: "equivalent to --dereference-args (-D)"},
			{Short: 'd', Long: "max-depth", Arg: command.RequiredArgument, ArgName: "N", Help: "print the total for a directory (or file, with --all)\nonly if it is N or fewer levels below the command line argument"},
			{Long: "files0-from", Arg: command.RequiredArgument, ArgName: "F", ID: duFiles0, Help: "summarize disk usage of the NUL-terminated file\nnames specified in file F"},
			{Short: 'h', Long: "human-readable", Help: "print sizes in human readable format (e.g., 1K 234M 2G)"},
			{Long: "inodes", ID: duInodes, Help: "list inode usage information instead of block usage"},
			{Short: 'k', Help: "like --block-size=1K"},
			{Short: 'L', Long: "dereference", Help: "dereference all symbolic links"},
			{Short: 'l', Long: "count-links", Help: "count sizes many times if hard linked"},
			{Short: 'm', Help: "like --block-size=1M"},
			{Short: 'P', Long: "no-dereference", Help: "don't follow any symbolic links (this is the default)"},
			{Short: 'S', Long: "separate-dirs", Help: "for directories do not include size of subdirectories"},
			{Long: "si", ID: duSI, Help: "like -h, but use powers of 1000 not 1024"},
			{Short: 's', Long: "summarize", Help: "display only a total for each argument"},
			{Short: 't', Long: "threshold", Arg: command.RequiredArgument, ArgName: "SIZE", Help: "exclude entries smaller than SIZE if positive,\nor entries greater than SIZE if negative"},
			{Long: "time", Arg: command.OptionalArgument, ArgName: "WORD", ID: duTime, Help: "show time of the last modification of any file in the\ndirectory, or any of its subdirectories"},
			{Long: "time-style", Arg: command.RequiredArgument, ArgName: "STYLE", ID: duTimeStyle, Help: "show times using STYLE"},
			{Short: 'X', Long: "exclude-from", Arg: command.RequiredArgument, ArgName: "FILE", Help: "exclude files that match any pattern in FILE"},
			{Long: "exclude", Arg: command.RequiredArgument, ArgName: "PATTERN", ID: duExclude, Help: "exclude files that match PATTERN"},
			{Short: 'x', Long: "one-file-system", Help: "skip directories on different file systems"},
		},
	}, du)
}

// usage is what a file or a hierarchy takes up.
type usage struct {
	size, inodes uint64
	newest       int64
}

func (u *usage) add(v usage) {
	u.size += v.size
	u.inodes += v.inodes
	u.newest = max(u.newest, v.newest)
}

// diskUsage is one run of du.
type diskUsage struct {
	c                          *command.Context
	all, apparent, total       bool
	summarize, links, separate bool
	inodes, times              bool
	timeKind                   byte
	style                      timeStyle
	maxDepth                   int
	size                       gnulib.BlockSize
	threshold                  int64
	exclude                    []string
	end                        string
	loc                        *time.Location

	// hashAll counts every file once: several operands may lead to it.
	hashAll bool
	seen    map[vfs.Ino]bool
	stack   []usage // of the directories being walked, by depth
	subs    []usage // what their subdirectories add, for -S
	sum     usage
	status  int
}

func du(ctx context.Context, c *command.Context, args []string) int {
	d := diskUsage{c: c, maxDepth: 1<<31 - 1, end: "\n", seen: map[vfs.Ino]bool{}, timeKind: 'm', loc: tz.Of(c)}
	d.size = gnulib.BlockSizeOf(c.Env, "DU_BLOCK_SIZE")
	follow := followNone
	files0, depth := "", ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'D', 'L', 'P':
			follow = followOf(p.ID())
		case 'd':
			depth = p.Arg()
		case duFiles0:
			files0 = p.Arg()
		default:
			if status, ok := d.option(p); !ok {
				return status
			}
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if depth != "" {
		n, err := strconv.Atoi(depth)
		if err != nil || n < 0 {
			return c.Usage("invalid maximum depth %s", c.Quote(depth))
		}
		d.maxDepth = n
	}
	if status, ok := d.settle(depth); !ok {
		return status
	}
	names, status = d.operands(names, files0)
	if status != 0 {
		return status
	}
	d.hashAll = !d.links && (len(names) > 1 || follow == followAll)
	h := hierarchy{c: c, follow: follow, visit: d.visit}
	for _, name := range names {
		d.stack, d.subs = d.stack[:0], d.subs[:0]
		if !h.walk(ctx, name) {
			return 1
		}
	}
	if d.total {
		d.print(d.sum, "total")
	}
	return d.status
}

// option takes the options that one line settles.
func (d *diskUsage) option(p *command.Parser) (int, bool) {
	switch p.ID() {
	case '0':
		d.end = "\x00"
	case 'a':
		d.all = true
	case duApparent:
		d.apparent = true
	case 'b':
		d.apparent, d.size = true, gnulib.Plain(1)
	case 'B':
		b, err := gnulib.ParseBlockSize(p.Arg())
		if err != nil {
			what := "invalid"
			if err == gnulib.SizeSuffix || p.Arg() != "" && strings.TrimLeft(p.Arg(), "0123456789") == p.Arg() {
				what = "invalid suffix in"
			}
			return d.c.Errorf("%s %s argument %s", what, p.Spelled(), d.c.Quote(p.Arg())), false
		}
		d.size = b
	case 'c':
		d.total = true
	case 'h':
		d.size = gnulib.Human
	case duSI:
		d.size = gnulib.SI
	case duInodes:
		d.inodes = true
	case 'k':
		d.size = gnulib.Plain(1 << 10)
	case 'm':
		d.size = gnulib.Plain(1 << 20)
	case 'l':
		d.links = true
	case 'S':
		d.separate = true
	case 's':
		d.summarize = true
	case 't':
		s, neg := strings.CutPrefix(p.Arg(), "-")
		n, err := gnulib.ParseSize(s, "kKmMGTPEZY0")
		if err != nil || neg && n == 0 {
			return d.c.Errorf("invalid %s argument %s", p.Spelled(), d.c.Quote(p.Arg())), false
		}
		if d.threshold = int64(n); neg {
			d.threshold = -d.threshold
		}
	case duTime:
		d.times = true
		if p.HasArg() {
			v, ok := gnulib.MatchArg(d.c, "--time", p.Arg(), lsTimes[:5])
			if !ok {
				return 1, false
			}
			d.timeKind = map[int]byte{'u': 'a', 'c': 'c', 'b': 'B'}[v]
		}
	case duTimeStyle:
		d.style.name = p.Arg()
	case duExclude:
		d.exclude = append(d.exclude, p.Arg())
	case 'X':
		return d.excludeFrom(p.Arg())
	}
	return 0, true
}

func (d *diskUsage) excludeFrom(name string) (int, bool) {
	f, err := d.c.Open(name)
	if err != nil {
		return d.c.Fail(name, err), false
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		if sc.Text() != "" {
			d.exclude = append(d.exclude, sc.Text())
		}
	}
	if sc.Err() != nil {
		return d.c.Fail(name, sc.Err()), false
	}
	return 0, true
}

// settle decides what options mean together.
func (d *diskUsage) settle(depth string) (int, bool) {
	c := d.c
	if d.all && d.summarize {
		return c.Usage("cannot both summarize and show all entries"), false
	}
	if d.summarize {
		if depth != "" && d.maxDepth == 0 {
			c.Errorf("warning: summarizing is the same as using --max-depth=0")
		} else if depth != "" {
			return c.Usage("warning: summarizing conflicts with --max-depth=%d", d.maxDepth), false
		}
		d.maxDepth = 0
	}
	if d.inodes {
		d.size = gnulib.Plain(1)
	}
	if !d.times {
		return 0, true
	}
	if d.style.name == "" {
		d.style.name = "long-iso"
	}
	return d.style.settle(c)
}

func (d *diskUsage) operands(names []string, files0 string) ([]string, int) {
	if files0 == "" {
		if len(names) == 0 {
			return []string{"."}, 0
		}
		return names, 0
	}
	if len(names) > 0 {
		return nil, d.c.Usage("extra operand %s\nfile operands cannot be combined with --files0-from", d.c.Quote(names[0]))
	}
	f, err := d.c.Open(files0)
	if err != nil {
		return nil, d.c.Errorf("cannot open %s for reading: %s", d.c.QuoteArg(files0), command.Strerror(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxPaths))
	if err != nil {
		return nil, d.c.Errorf("%s: read error: %s", d.c.QuoteName(files0), command.Strerror(err))
	}
	for _, name := range strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00") {
		if name != "" {
			names = append(names, name)
		}
	}
	return names, 0
}

func (d *diskUsage) excluded(path string) bool {
	for _, pattern := range d.exclude {
		for part := path; ; {
			if gnulib.Fnmatch(pattern, part, 0) {
				return true
			}
			i := strings.IndexByte(part, '/')
			if i < 0 {
				break
			}
			part = part[i+1:]
		}
	}
	return false
}

func (d *diskUsage) visit(e *entry) verdict {
	switch e.stage {
	case stageMissing:
		d.status = d.c.Errorf("cannot access %s: %s", d.c.QuoteArg(e.path), command.Strerror(e.err))
		return goOn
	case stageCycle:
		return goOn
	case stageUnreadable:
		d.status = d.c.Errorf("cannot read directory %s: %s", d.c.QuoteArg(e.path), command.Strerror(e.err))
		d.leave(e)
		return goOn
	case stagePost:
		d.leave(e)
		return goOn
	}
	if d.excluded(e.path) {
		return skip
	}
	if d.hashAll || !d.links && (e.attr.Nlink > 1 || e.attr.IsDir()) {
		if d.seen[e.attr.Ino] {
			return skip
		}
		d.seen[e.attr.Ino] = true
	}
	if e.stage == stagePre {
		d.stack = append(d.stack, d.of(&e.attr))
		d.subs = append(d.subs, usage{})
		return goOn
	}
	u := d.of(&e.attr)
	if len(d.stack) > 0 {
		d.stack[len(d.stack)-1].add(u)
	} else {
		d.sum.add(u)
	}
	if (d.all || e.depth == 0) && e.depth <= d.maxDepth {
		d.print(u, e.path)
	}
	return goOn
}

// leave is called after all that is in a directory.
func (d *diskUsage) leave(e *entry) {
	n := len(d.stack) - 1
	own, below := d.stack[n], d.subs[n]
	d.stack, d.subs = d.stack[:n], d.subs[:n]
	whole := own
	whole.add(below)
	if n > 0 {
		d.subs[n-1].add(whole)
	} else {
		d.sum.add(whole)
	}
	if e.depth <= d.maxDepth {
		if d.separate {
			whole = own
		}
		d.print(whole, e.path)
	}
}

func (d *diskUsage) of(a *vfs.Attr) usage {
	presentable(a)
	u := usage{size: a.Blocks * 512, inodes: 1, newest: timeOfKind(a, d.timeKind)}
	if d.apparent {
		if u.size = 0; a.IsRegular() || a.IsDir() || a.IsSymlink() {
			u.size = a.Size
		}
	}
	return u
}

func (d *diskUsage) print(u usage, path string) {
	n := u.size
	if d.inodes {
		n = u.inodes
	}
	if d.threshold > 0 && int64(n) < d.threshold || d.threshold < 0 && int64(n) > -d.threshold {
		return
	}
	out := d.c.Stdout
	out.WriteString(d.size.Format(n, 1) + "\t")
	if d.times {
		out.WriteString(gnulib.Strftime(d.style.recent, time.Unix(0, u.newest).In(d.loc)) + "\t")
	}
	out.WriteString(path + d.end)
}
