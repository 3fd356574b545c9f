package text

import (
	"context"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	optPages = 256 + iota
	optPrColumns
)

func init() {
	options := []command.Option{
		{Long: "pages", Arg: command.RequiredArgument, ArgName: "FIRST_PAGE[:LAST_PAGE]", ID: optPages, Help: "begin [stop] printing with page FIRST_[LAST_]PAGE"},
		{Long: "columns", Arg: command.RequiredArgument, ArgName: "COLUMN", ID: optPrColumns, Help: "output COLUMN columns and print columns down"},
		{Short: 'a', Long: "across", Help: "print columns across rather than down"},
		{Short: 'c', Long: "show-control-chars", Help: "use hat notation (^G) and octal backslash notation"},
		{Short: 'd', Long: "double-space", Help: "double space the output"},
		{Short: 'D', Long: "date-format", Arg: command.RequiredArgument, ArgName: "FORMAT", Help: "use FORMAT for the header date"},
		{Short: 'e', Long: "expand-tabs", Arg: command.OptionalArgument, ArgName: "CHAR[WIDTH]", Help: "expand input CHARs (TABs) to tab WIDTH (8)"},
		{Short: 'F', Long: "form-feed", Help: "use form feeds instead of newlines to separate pages"},
		{Short: 'f', ID: 'F'},
		{Short: 'h', Long: "header", Arg: command.RequiredArgument, ArgName: "HEADER", Help: "use a centered HEADER instead of filename"},
		{Short: 'i', Long: "output-tabs", Arg: command.OptionalArgument, ArgName: "CHAR[WIDTH]", Help: "replace spaces with CHARs (TABs) to tab WIDTH (8)"},
		{Short: 'J', Long: "join-lines", Help: "merge full lines, turns off -W line truncation"},
		{Short: 'l', Long: "length", Arg: command.RequiredArgument, ArgName: "PAGE_LENGTH", Help: "set the page length to PAGE_LENGTH (66) lines"},
		{Short: 'm', Long: "merge", Help: "print all files in parallel, one in each column"},
		{Short: 'n', Long: "number-lines", Arg: command.OptionalArgument, ArgName: "SEP[DIGITS]", Help: "number lines, use DIGITS (5) digits, then SEP (TAB)"},
		{Short: 'N', Long: "first-line-number", Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "start counting with NUMBER at 1st line of first page"},
		{Short: 'o', Long: "indent", Arg: command.RequiredArgument, ArgName: "MARGIN", Help: "offset each line with MARGIN (zero) spaces"},
		{Short: 'r', Long: "no-file-warnings", Help: "omit warning when a file cannot be opened"},
		{Short: 's', Long: "separator", Arg: command.OptionalArgument, ArgName: "CHAR", Help: "separate columns by a single character"},
		{Short: 'S', Long: "sep-string", Arg: command.OptionalArgument, ArgName: "STRING", Help: "separate columns by STRING"},
		{Short: 't', Long: "omit-header", Help: "omit page headers and trailers"},
		{Short: 'T', Long: "omit-pagination", Help: "omit page headers and trailers, eliminate any\npagination by form feeds set in input files"},
		{Short: 'v', Long: "show-nonprinting", Help: "use octal backslash notation"},
		{Short: 'w', Long: "width", Arg: command.RequiredArgument, ArgName: "PAGE_WIDTH", Help: "set page width to PAGE_WIDTH (72) characters for\nmultiple text-column output only"},
		{Short: 'W', Long: "page-width", Arg: command.RequiredArgument, ArgName: "PAGE_WIDTH", Help: "set page width to PAGE_WIDTH (72) characters always,\ntruncate lines"},
	}
	command.Register(command.Info{
		Name:     "pr",
		Synopsis: "pr [OPTION]... [FILE]...",
		Summary:  "Paginate or columnate FILE(s) for printing.\n\nWith no FILE, or when FILE is -, read standard input.",
		Options:  append(options, digitOptions()...),
		Notes:    "+FIRST_PAGE[:LAST_PAGE] and -COLUMN are short for --pages and --columns.",
	}, pr)
}

// prSettings is what the options of pr ask for.
type prSettings struct {
	columns   int
	explicit  bool // columns were asked for
	across    bool
	parallel  bool
	first     int
	last      int
	width     int
	length    int
	margin    int
	truncate  bool
	join      bool
	double    bool
	formFeed  bool
	header    string
	hasHeader bool
	date      string
	numbered  bool
	digits    int
	numberSep byte
	start     int64
	hasStart  bool
	quiet     bool // -r
	bare      bool // -t or -T
	keepFeeds bool
	hats      bool
	octal     bool
	expand    bool
	tabIn     byte
	tabWidth  int
	compress  bool // spaces become tabs
	tabOut    byte
	outWidth  int
	sep       string
	useSep    bool
	oldS      bool
	oldW      bool
}

// prReader reads the options of pr.
type prReader struct {
	c      *command.Context
	s      *prSettings
	digits string
	w      int // of -w
	broken bool
}

func pr(ctx context.Context, c *command.Context, args []string) int {
	s := &prSettings{columns: 1, first: 1, last: math.MaxInt, width: 72, length: 66, digits: 5, numberSep: '\t', start: 1, tabIn: '\t', tabWidth: 8, tabOut: '\t', outWidth: 8}
	o := prReader{c: c, s: s, w: 72}
	p := c.Options(o.plus(args))
	for p.Next() && !o.broken {
		o.option(p)
	}
	files, status, stop := p.End()
	switch {
	case o.broken:
		return 1
	case stop:
		return status
	}
	if !o.finish() {
		return 1
	}
	g := &pager{c: c, s: s}
	if !g.layout(len(files)) {
		return 1
	}
	if s.parallel && len(files) > 0 {
		return g.merge(ctx, files)
	}
	failed := 0
	for _, name := range orStdin(files) {
		if !g.file(ctx, name) {
			failed = 1
		}
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			return 1
		}
	}
	return failed
}

// plus makes --pages of +FIRST[:LAST], where it is one: a number may follow.
func (o *prReader) plus(args []string) []string {
	out := append([]string(nil), args...)
	for i, a := range out {
		if a == "--" {
			break
		}
		if len(a) > 1 && a[0] == '+' {
			if _, _, ok := prPages(a[1:]); ok {
				out[i] = "--pages=" + a[1:]
			} else if !strings.Contains(a, ":") {
				o.c.Errorf("invalid + argument %s", o.c.Quote(a[1:]))
				o.broken = true
			}
		}
	}
	return out
}

// prPages reads FIRST[:LAST].
func prPages(s string) (first, last int, ok bool) {
	a, b, ranged := strings.Cut(s, ":")
	first, err := strconv.Atoi(a)
	last = math.MaxInt
	if err == nil && ranged {
		last, err = strconv.Atoi(b)
	}
	return first, last, err == nil && first > 0 && last >= first
}

func (o *prReader) fail(format string, args ...any) {
	o.c.Errorf(format, args...)
	o.broken = true
}

func (o *prReader) option(p *command.Parser) {
	s, arg, id := o.s, p.Arg(), p.ID()
	if id >= '0' && id <= '9' {
		if !p.Bundled() {
			o.digits = ""
		}
		o.digits += string(rune(id))
		return
	}
	switch id {
	case optPages:
		var ok bool
		if s.first, s.last, ok = prPages(arg); !ok {
			o.fail("invalid --pages argument %s", o.c.Quote(arg))
		}
	case optPrColumns:
		o.columns(arg)
	case 'a':
		s.across = true
	case 'c':
		s.hats = true
	case 'd':
		s.double = true
	case 'D':
		s.date = arg
	case 'e':
		s.expand = true
		s.tabIn, s.tabWidth = o.tab("-e", arg, '\t', 8)
	case 'i':
		s.compress = true
		s.tabOut, s.outWidth = o.tab("-i", arg, '\t', 8)
	case 'n':
		s.numbered = true
		s.numberSep, s.digits = o.tab("-n", arg, '\t', 5)
	case 'F':
		s.formFeed = true
	case 'h':
		s.header, s.hasHeader = arg, true
	case 'J':
		s.join = true
	case 'l':
		s.length = o.number(arg, 1, "'-l PAGE_LENGTH' invalid number of lines")
	case 'm':
		s.parallel = true
	case 'N':
		s.start, s.hasStart = int64(o.number(arg, math.MinInt32, "'-N NUMBER' invalid starting line number")), true
	case 'o':
		s.margin = o.number(arg, 0, "'-o MARGIN' invalid line offset")
	case 'r':
		s.quiet = true
	case 's':
		s.oldS = true
		if !s.useSep && p.HasArg() {
			s.sep = arg
		} else if !s.useSep {
			s.sep = "\t"
		}
	case 'S':
		s.oldS, s.useSep, s.sep = false, true, arg
	case 't':
		s.bare, s.keepFeeds = true, true
	case 'T':
		s.bare, s.keepFeeds = true, false
	case 'v':
		s.octal = true
	case 'w':
		s.oldW = true
		o.w = o.number(arg, 1, "'-w PAGE_WIDTH' invalid number of characters")
	case 'W':
		s.oldW, s.truncate = false, true
		s.width = o.number(arg, 1, "'-W PAGE_WIDTH' invalid number of characters")
	}
}

// number reads a number that is at least least.
func (o *prReader) number(arg string, least int64, what string) int {
	n, err := strconv.ParseInt(arg, 10, 32)
	switch {
	case err != nil && !isRange(err):
		o.fail("%s: %s", what, o.c.Quote(arg))
	case err != nil:
		o.fail("%s: %s: Value too large for defined data type", what, o.c.Quote(arg))
	case n < least:
		o.fail("%s: %s: Numerical result out of range", what, o.c.Quote(arg))
	}
	return int(n)
}

func (o *prReader) columns(arg string) {
	o.s.columns = o.number(arg, 1, "invalid number of columns")
	o.s.explicit = true
}

// tab reads CHAR[WIDTH] of -e, -i and -n.
func (o *prReader) tab(option, arg string, char byte, width int) (byte, int) {
	rest := arg
	if rest != "" && !isDigit(rest[0]) {
		char, rest = rest[0], rest[1:]
	}
	if rest == "" {
		return char, width
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n <= 0 || n > math.MaxInt32 {
		o.c.Usage("'%s' extra characters or invalid number in the argument: %s", option, o.c.Quote(rest))
		o.broken = true
	}
	return char, n
}

// finish settles what depends on several options: -s and -w mean other things
// when they stand together or with columns.
func (o *prReader) finish() bool {
	s := o.s
	if o.digits != "" {
		o.columns(o.digits)
	}
	switch {
	case o.broken:
		return false
	case s.parallel && s.explicit:
		o.fail("cannot specify number of columns when printing in parallel")
		return false
	case s.parallel && s.across:
		o.fail("cannot specify both printing across and printing in parallel")
		return false
	}
	if !s.truncate {
		s.width = o.w
	}
	many := s.parallel || s.explicit
	if s.oldW {
		if many {
			s.truncate = true
			s.useSep = s.useSep || s.oldS
		} else {
			s.join = true
		}
	}
	if !s.useSep && s.oldS && many {
		if s.truncate {
			s.useSep = true
		} else {
			s.join = true
			s.useSep = s.sep != ""
		}
	}
	if s.date == "" {
		s.date = "%Y-%m-%d %H:%M"
		if _, posix := o.c.Env.Lookup("POSIXLY_CORRECT"); posix && !o.c.Env.UTF8() {
			s.date = "%b %e %H:%M %Y"
		}
	}
	return true
}

// file prints one file by itself.
func (g *pager) file(ctx context.Context, name string) bool {
	r, err := g.c.Open(name)
	if err != nil {
		if !g.s.quiet {
			g.c.Fail(name, err)
		}
		return false
	}
	src := newPrSource(g, r)
	g.title(name, r)
	err = g.pages(ctx, []*prSource{src})
	src.lines.Release()
	if cerr := r.Close(); err == nil {
		err = cerr
	}
	if err != nil && ctx.Err() == nil {
		g.c.Fail(name, err)
		return false
	}
	return err == nil
}

// merge prints the files next to each other.
func (g *pager) merge(ctx context.Context, names []string) int {
	status := 0
	var sources []*prSource
	for _, name := range names {
		r, err := g.c.Open(name)
		if err != nil {
			if !g.s.quiet {
				g.c.Fail(name, err)
			}
			status = 1
			continue
		}
		sources = append(sources, newPrSource(g, r))
	}
	if len(sources) < len(names) {
		// The columns of those that are missing are not left empty.
		g.s.columns = len(sources)
	}
	if len(sources) > 0 {
		g.title("", nil)
		if err := g.pages(ctx, sources); err != nil && ctx.Err() == nil {
			g.c.Fail(names[0], err)
			status = 1
		}
	}
	for _, s := range sources {
		s.lines.Release()
		if err := s.file.Close(); err != nil {
			status = 1
		}
	}
	return status
}

// title settles the header of a file's pages.
func (g *pager) title(name string, r io.Reader) {
	at := g.c.Now()
	if f := command.Regular(r); f != nil && name != "-" {
		if a, err := f.Stat(); err == nil {
			at = unixNano(a.Mtime)
		}
	}
	g.when = gnulib.Strftime(g.s.date, at.In(g.c.Location))
	g.name = name
	switch {
	case g.s.hasHeader:
		g.name = g.s.header
	case name == "-":
		g.name = ""
	}
}
