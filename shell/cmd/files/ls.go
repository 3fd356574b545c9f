package files

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	lsAuthor = 256 + iota
	lsBlockSize
	lsColor
	lsFileType
	lsFormat
	lsFullTime
	lsGroupDirs
	lsHide
	lsHyperlink
	lsIndicator
	lsQuoting
	lsShowControl
	lsSI
	lsSort
	lsTime
	lsTimeStyle
	lsZero
	lsDerefDir
)

func init() {
	info := command.Info{
		Name:        "ls",
		Synopsis:    "ls [OPTION]... [FILE]...",
		Summary:     "List information about the FILEs (the current directory by default).\nSort entries alphabetically if none of -cftuvSUX nor --sort is specified.",
		UsageStatus: 2,
		Options:     lsOptions,
		Notes:       "Exit status:\n 0  if OK,\n 1  if minor problems (e.g., cannot access subdirectory),\n 2  if serious trouble (e.g., cannot access command-line argument).",
	}
	command.Register(info, ls)
	info.Name, info.Synopsis = "dir", "dir [OPTION]... [FILE]..."
	command.Register(info, ls)
	info.Name, info.Synopsis = "vdir", "vdir [OPTION]... [FILE]..."
	command.Register(info, ls)
}

var lsOptions = []command.Option{
	{Short: 'a', Long: "all", Help: "do not ignore entries starting with ."},
	{Short: 'A', Long: "almost-all", Help: "do not list implied . and .."},
	{Long: "author", ID: lsAuthor, Help: "with -l, print the author of each file"},
	{Short: 'b', Long: "escape", Help: "print C-style escapes for nongraphic characters"},
	{Long: "block-size", Arg: command.RequiredArgument, ArgName: "SIZE", ID: lsBlockSize, Help: "with -l, scale sizes by SIZE when printing them"},
	{Short: 'B', Long: "ignore-backups", Help: "do not list implied entries ending with ~"},
	{Short: 'c', Help: "with -lt: sort by, and show, ctime; with -l: show ctime\nand sort by name; otherwise: sort by ctime, newest first"},
	{Short: 'C', Help: "list entries by columns"},
	{Long: "color", Arg: command.OptionalArgument, ArgName: "WHEN", ID: lsColor, Help: "color the output WHEN"},
	{Short: 'd', Long: "directory", Help: "list directories themselves, not their contents"},
	{Short: 'D', Long: "dired", Help: "(ignored)"},
	{Short: 'f', Help: "list all entries in directory order"},
	{Short: 'F', Long: "classify", Help: "append indicator (one of */=>@|) to entries"},
	{Long: "file-type", ID: lsFileType, Help: "likewise, except do not append '*'"},
	{Long: "format", Arg: command.RequiredArgument, ArgName: "WORD", ID: lsFormat, Help: "across -x, commas -m, horizontal -x, long -l,\nsingle-column -1, verbose -l, vertical -C"},
	{Long: "full-time", ID: lsFullTime, Help: "like -l --time-style=full-iso"},
	{Short: 'g', Help: "like -l, but do not list owner"},
	{Long: "group-directories-first", ID: lsGroupDirs, Help: "group directories before files"},
	{Short: 'G', Long: "no-group", Help: "in a long listing, don't print group names"},
	{Short: 'h', Long: "human-readable", Help: "with -l and -s, print sizes like 1K 234M 2G etc."},
	{Long: "si", ID: lsSI, Help: "likewise, but use powers of 1000 not 1024"},
	{Short: 'H', Long: "dereference-command-line", Help: "follow symbolic links listed on the command line"},
	{Long: "dereference-command-line-symlink-to-dir", ID: lsDerefDir, Help: "follow each command line symbolic link\nthat points to a directory"},
	{Long: "hide", Arg: command.RequiredArgument, ArgName: "PATTERN", ID: lsHide, Help: "do not list implied entries matching shell PATTERN"},
	{Long: "hyperlink", Arg: command.OptionalArgument, ArgName: "WHEN", ID: lsHyperlink, Help: "(ignored)"},
	{Long: "indicator-style", Arg: command.RequiredArgument, ArgName: "WORD", ID: lsIndicator, Help: "append indicator with style WORD to entry names:\nnone (default), slash (-p), file-type (--file-type), classify (-F)"},
	{Short: 'i', Long: "inode", Help: "print the index number of each file"},
	{Short: 'I', Long: "ignore", Arg: command.RequiredArgument, ArgName: "PATTERN", Help: "do not list implied entries matching shell PATTERN"},
	{Short: 'k', Long: "kibibytes", Help: "default to 1024-byte blocks for file system usage"},
	{Short: 'l', Help: "use a long listing format"},
	{Short: 'L', Long: "dereference", Help: "show information for the file a symbolic link references"},
	{Short: 'm', Help: "fill width with a comma separated list of entries"},
	{Short: 'n', Long: "numeric-uid-gid", Help: "like -l, but list numeric user and group IDs"},
	{Short: 'N', Long: "literal", Help: "print entry names without quoting"},
	{Short: 'o', Help: "like -l, but do not list group information"},
	{Short: 'p', Help: "append / indicator to directories"},
	{Short: 'q', Long: "hide-control-chars", Help: "print ? instead of nongraphic characters"},
	{Long: "show-control-chars", ID: lsShowControl, Help: "show nongraphic characters as-is (the default)"},
	{Short: 'Q', Long: "quote-name", Help: "enclose entry names in double quotes"},
	{Long: "quoting-style", Arg: command.RequiredArgument, ArgName: "WORD", ID: lsQuoting, Help: "use quoting style WORD for entry names: literal, locale,\nshell, shell-always, shell-escape, shell-escape-always, c, escape"},
	{Short: 'r', Long: "reverse", Help: "reverse order while sorting"},
	{Short: 'R', Long: "recursive", Help: "list subdirectories recursively"},
	{Short: 's', Long: "size", Help: "print the allocated size of each file, in blocks"},
	{Short: 'S', Help: "sort by file size, largest first"},
	{Long: "sort", Arg: command.RequiredArgument, ArgName: "WORD", ID: lsSort, Help: "sort by WORD instead of name: none (-U), size (-S),\ntime (-t), version (-v), extension (-X), width"},
	{Long: "time", Arg: command.RequiredArgument, ArgName: "WORD", ID: lsTime, Help: "change the default of using modification times:\naccess time (-u): atime, access, use; change time (-c): ctime, status; birth time: birth, creation"},
	{Long: "time-style", Arg: command.RequiredArgument, ArgName: "TIME_STYLE", ID: lsTimeStyle, Help: "time/date format with -l: full-iso, long-iso, iso, locale, or +FORMAT"},
	{Short: 't', Help: "sort by time, newest first"},
	{Short: 'T', Long: "tabsize", Arg: command.RequiredArgument, ArgName: "COLS", Help: "assume tab stops at each COLS instead of 8"},
	{Short: 'u', Help: "with -lt: sort by, and show, access time; with -l: show\naccess time and sort by name; otherwise: sort by access time"},
	{Short: 'U', Help: "do not sort; list entries in directory order"},
	{Short: 'v', Help: "natural sort of (version) numbers within text"},
	{Short: 'w', Long: "width", Arg: command.RequiredArgument, ArgName: "COLS", Help: "set output width to COLS.  0 means no limit"},
	{Short: 'x', Help: "list entries by lines instead of by columns"},
	{Short: 'X', Help: "sort alphabetically by entry extension"},
	{Short: 'Z', Long: "context", Help: "print any security context of each file"},
	{Long: "zero", ID: lsZero, Help: "end each output line with NUL, not newline"},
	{Short: '1', Help: "list one file per line"},
}

// The formats, sort keys, times and indicator styles of ls.
const (
	formatOne = iota
	formatLong
	formatColumns
	formatAcross
	formatCommas
)

const (
	sortName = iota
	sortNone
	sortSize
	sortTime
	sortVersion
	sortExtension
	sortWidth
)

const (
	indicateNone = iota
	indicateSlash
	indicateType
	indicateAll
)

var (
	lsFormats = []gnulib.Choice{{Word: "verbose", Value: formatLong}, {Word: "long", Value: formatLong}, {Word: "commas", Value: formatCommas},
		{Word: "horizontal", Value: formatAcross}, {Word: "across", Value: formatAcross}, {Word: "vertical", Value: formatColumns}, {Word: "single-column", Value: formatOne}}
	lsSorts = []gnulib.Choice{{Word: "none", Value: sortNone}, {Word: "time", Value: sortTime}, {Word: "size", Value: sortSize},
		{Word: "extension", Value: sortExtension}, {Word: "version", Value: sortVersion}, {Word: "width", Value: sortWidth}}
	lsTimes = []gnulib.Choice{{Word: "atime", Value: 'u'}, {Word: "access", Value: 'u'}, {Word: "use", Value: 'u'},
		{Word: "ctime", Value: 'c'}, {Word: "status", Value: 'c'}, {Word: "birth", Value: 'b'}, {Word: "creation", Value: 'b'}}
	lsIndicators = []gnulib.Choice{{Word: "none", Value: indicateNone}, {Word: "slash", Value: indicateSlash},
		{Word: "file-type", Value: indicateType}, {Word: "classify", Value: indicateAll}}
	lsColors = []gnulib.Choice{{Word: "always", Value: 1}, {Word: "yes", Value: 1}, {Word: "force", Value: 1},
		{Word: "never", Value: 0}, {Word: "no", Value: 0}, {Word: "none", Value: 0}, {Word: "auto", Value: 2}, {Word: "tty", Value: 2}, {Word: "if-tty", Value: 2}}
	lsQuotings = []gnulib.Choice{{Word: "literal", Value: quoteLiteral}, {Word: "shell", Value: quoteShell}, {Word: "shell-always", Value: quoteShellAlways},
		{Word: "shell-escape", Value: quoteShellEscape}, {Word: "shell-escape-always", Value: quoteShellEscapeAlways},
		{Word: "c", Value: quoteC}, {Word: "c-maybe", Value: quoteCMaybe}, {Word: "escape", Value: quoteEscape}, {Word: "locale", Value: quoteLocale}, {Word: "clocale", Value: quoteCLocale}}
)

// lister is what an ls is to do.
type lister struct {
	c   *command.Context
	ctx context.Context

	all, almostAll, backups bool // -a, -A, -B
	ignore, hide            []string
	format, sort, indicator int
	explicitSort            bool
	timeOf                  byte // 'm', 'u', 'c', 'b'
	reverse, groupDirs      bool
	dirs, recursive         bool
	follow                  follow
	followDir, followSet    bool
	inode, blocks           bool
	numeric, author         bool
	noOwner, noGroup        bool
	context, kibibytes      bool
	quoting                 int
	hideControl             bool
	size, fileSize          gnulib.BlockSize
	sizeSet                 bool
	width, tab              int
	style                   timeStyle
	now                     time.Time
	loc                     *time.Location
	end                     string
	colors                  *lsPalette

	status  int
	printed bool // something, so that the next directory needs an empty line
}

func ls(ctx context.Context, c *command.Context, args []string) int {
	l := lister{c: c, ctx: ctx, timeOf: 'm', end: "\n", tab: 8, width: 80, loc: tz.Of(c), now: c.Now(), quoting: quoteLiteral}
	switch c.Command.Name {
	case "dir":
		l.format, l.quoting = formatColumns, quoteEscape
	case "vdir":
		l.format, l.quoting = formatLong, quoteEscape
	}
	l.environment()
	p := c.Options(args)
	for p.Next() {
		if status, ok := l.option(p); !ok {
			return status
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if status, ok := l.settle(); !ok {
		return status
	}
	l.list(names)
	return l.status
}

// environment takes what the environment sets.
func (l *lister) environment() {
	if n, err := strconv.Atoi(l.c.Env.Get("COLUMNS")); err == nil && n >= 0 {
		l.width = n
	}
	if n, err := strconv.Atoi(l.c.Env.Get("TABSIZE")); err == nil && n >= 0 {
		l.tab = n
	}
	if v, ok := l.c.Env.Lookup("QUOTING_STYLE"); ok {
		for _, ch := range lsQuotings {
			if ch.Word == v {
				l.quoting = ch.Value
			}
		}
	}
}

// option takes one option; false ends the command with that status.
func (l *lister) option(p *command.Parser) (int, bool) {
	switch p.ID() {
	case 'a':
		l.all = true
	case 'A':
		l.almostAll, l.all = true, false
	case 'b':
		l.quoting = quoteEscape
	case 'B':
		l.backups = true
	case 'c', 'u':
		l.timeOf = byte(p.ID())
	case 'C':
		l.format = formatColumns
	case 'd':
		l.dirs = true
	case 'f':
		l.all, l.sort, l.explicitSort = true, sortNone, true
		l.blocks, l.colors = false, nil
		if l.format == formatLong {
			l.format = formatOne
		}
	case 'g':
		l.format, l.noOwner = formatLong, true
	case 'G':
		l.noGroup = true
	case 'h':
		l.size, l.fileSize, l.sizeSet = gnulib.Human, gnulib.Human, true
	case 'H':
		l.follow, l.followDir, l.followSet = followCommand, false, true
	case 'i':
		l.inode = true
	case 'I':
		l.ignore = append(l.ignore, p.Arg())
	case 'k':
		l.kibibytes = true
	case 'l':
		l.format = formatLong
	case 'L':
		l.follow, l.followDir, l.followSet = followAll, false, true
	case 'm':
		l.format = formatCommas
	case 'n':
		l.format, l.numeric = formatLong, true
	case 'N':
		l.quoting = quoteLiteral
	case 'o':
		l.format, l.noGroup = formatLong, true
	case 'p':
		l.indicator = indicateSlash
	case 'F':
		l.indicator = indicateAll
	case 'q':
		l.hideControl = true
	case 'Q':
		l.quoting = quoteC
	case 'r':
		l.reverse = true
	case 'R':
		l.recursive = true
	case 's':
		l.blocks = true
	case 'S':
		l.sort, l.explicitSort = sortSize, true
	case 't':
		l.sort, l.explicitSort = sortTime, true
	case 'U':
		l.sort, l.explicitSort = sortNone, true
	case 'v':
		l.sort, l.explicitSort = sortVersion, true
	case 'x':
		l.format = formatAcross
	case 'X':
		l.sort, l.explicitSort = sortExtension, true
	case 'Z':
		l.context = true
	case '1':
		if l.format != formatLong {
			l.format = formatOne
		}
	default:
		return l.longOption(p)
	}
	return 0, true
}

// longOption takes the options that have no letter, and those with numbers.
func (l *lister) longOption(p *command.Parser) (int, bool) {
	choose := func(to *int, choices []gnulib.Choice) (int, bool) {
		v, ok := gnulib.MatchArg(l.c, p.Spelled(), p.Arg(), choices)
		if ok {
			*to = v
		}
		return 1, ok
	}
	switch p.ID() {
	case 'w', 'T':
		n, err := gnulib.ParseSize(p.Arg(), "")
		if err != nil && p.ID() == 'w' {
			return l.c.Errorf("invalid line width: %s", l.c.Quote(p.Arg())) + 1, false
		}
		if err != nil {
			return l.c.Errorf("invalid tab size: %s", l.c.Quote(p.Arg())) + 1, false
		}
		if p.ID() == 'w' {
			l.width = int(min(n, 1<<30))
		} else {
			l.tab = int(min(n, 1<<20))
		}
	case lsAuthor:
		l.author = true
	case lsBlockSize:
		b, err := gnulib.ParseBlockSize(p.Arg())
		if err != nil {
			what := "invalid"
			if err == gnulib.SizeSuffix || strings.TrimLeft(p.Arg(), "0123456789") == p.Arg() {
				what = "invalid suffix in"
			}
			return l.c.Errorf("%s --block-size argument %s", what, l.c.Quote(p.Arg())) + 1, false
		}
		l.size, l.fileSize, l.sizeSet = b, b, true
	case lsSI:
		l.size, l.fileSize, l.sizeSet = gnulib.SI, gnulib.SI, true
	case lsColor:
		when := 1
		if p.HasArg() {
			if status, ok := choose(&when, lsColors); !ok {
				return status, false
			}
		}
		l.colors = nil
		if when == 1 {
			l.colors = newPalette(l.c.Env)
		}
	case lsFileType:
		l.indicator = indicateType
	case lsFormat:
		return choose(&l.format, lsFormats)
	case lsFullTime:
		l.format, l.style = formatLong, timeStyle{name: "full-iso"}
	case lsGroupDirs:
		l.groupDirs = true
	case lsHide:
		l.hide = append(l.hide, p.Arg())
	case lsIndicator:
		return choose(&l.indicator, lsIndicators)
	case lsQuoting:
		return choose(&l.quoting, lsQuotings)
	case lsShowControl:
		l.hideControl = false
	case lsSort:
		l.explicitSort = true
		return choose(&l.sort, lsSorts)
	case lsTime:
		v := 0
		status, ok := choose(&v, lsTimes)
		l.timeOf = byte(v)
		return status, ok
	case lsTimeStyle:
		l.style.name = p.Arg()
	case lsZero:
		l.end, l.quoting, l.colors = "\x00", quoteLiteral, nil
		if l.format != formatLong {
			l.format = formatOne
		}
	case lsDerefDir:
		l.followDir, l.followSet = true, true
	}
	return 0, true
}

// settle decides what several options decide together.
func (l *lister) settle() (int, bool) {
	if !l.explicitSort && l.format != formatLong && l.timeOf != 'm' {
		l.sort = sortTime
	}
	if !l.sizeSet {
		l.size = gnulib.BlockSizeOf(l.c.Env, "LS_BLOCK_SIZE")
		l.fileSize = gnulib.Plain(1)
		if l.kibibytes {
			l.size = gnulib.Plain(1024)
		}
		if v := l.c.Env.Get("LS_BLOCK_SIZE") + l.c.Env.Get("BLOCK_SIZE"); v != "" {
			l.fileSize = l.size
		}
	}
	if !l.followSet {
		l.follow = followNone
		l.followDir = !(l.dirs || l.indicator == indicateAll || l.format == formatLong)
	}
	if l.follow == 0 {
		l.follow = followNone
	}
	if l.dirs {
		l.recursive = false
	}
	if l.format != formatLong {
		return 0, true
	}
	if l.style.name == "" {
		l.style.name = l.c.Env.Get("TIME_STYLE")
	}
	return l.style.settle(l.c)
}

// timeStyle is how times are shown: one format for recent ones, one for others.
type timeStyle struct {
	name        string
	recent, old string
}

var lsStyles = []gnulib.Choice{{Word: "full-iso", Value: 0}, {Word: "long-iso", Value: 1}, {Word: "iso", Value: 2}, {Word: "locale", Value: 3}}

func (s *timeStyle) settle(c *command.Context) (int, bool) {
	s.recent, s.old = "%b %e %H:%M", "%b %e  %Y"
	name := strings.TrimPrefix(s.name, "posix-")
	if s.name == "" || name != s.name {
		return 0, true // posix- means the POSIX locale's, which is ours
	}
	if strings.HasPrefix(name, "+") {
		first, second, two := strings.Cut(name[1:], "\n")
		s.old, s.recent = first, second
		if !two {
			s.recent = first
		} else if strings.Contains(second, "\n") {
			return c.Errorf("invalid time style format %s", c.Quote(name[1:])) + 1, false
		}
		return 0, true
	}
	v, found, _ := -1, false, false
	for _, ch := range lsStyles {
		if strings.HasPrefix(ch.Word, name) && (!found || ch.Word == name) {
			v, found = ch.Value, true
		}
	}
	switch v {
	case 0:
		s.recent = "%Y-%m-%d %H:%M:%S.%N %z"
		s.old = s.recent
	case 1:
		s.recent = "%Y-%m-%d %H:%M"
		s.old = s.recent
	case 2:
		s.recent, s.old = "%m-%d %H:%M", "%Y-%m-%d "
	case -1:
		c.Usage("invalid argument %s for %s\nValid arguments are:\n  - [posix-]full-iso\n  - [posix-]long-iso\n  - [posix-]iso\n  - [posix-]locale\n  - +FORMAT (e.g., +%%H:%%M) for a 'date'-style format",
			c.Quote(s.name), c.Quote("time style"))
		return 2, false
	}
	return 0, true
}
