package diff

import (
	"context"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/command"
)

// Exit statuses of diff and its kin.
const (
	exitSame    = 0
	exitDiffers = 1
	exitTrouble = 2
)

const (
	optNormal = 256 + iota
	optLabel
	optLeftColumn
	optSuppressCommon
	optStripCR
	optColor
	optNoDereference
	optIgnoreNameCase
	optHorizon
	optSpeed
	optTabSize
	optSuppressBlank
	optFromFile
	optToFile
	optNoIgnoreNameCase
	optPalette
	optDiffProgram
)

// style is the form of the output.
type style uint8

const (
	styleNormal style = iota
	styleUnified
	styleContext
	styleEd
	styleRCS
	styleSide
	styleForwardEd
)

// settings is what the options of diff ask for.
type settings struct {
	style       style
	styleGiven  bool
	context     int
	brief       bool
	same        bool // -s
	recursive   bool
	newFile     bool
	oneNew      bool // --unidirectional-new-file
	foldCase    bool
	noSpace     bool // -w
	lessSpace   bool // -b
	trailing    bool // -Z
	tabSpace    bool // -E
	stripCR     bool
	noBlank     bool // -B
	ignore      []*regex.Regexp
	text        bool
	exclude     []string
	labels      []string
	function    *regex.Regexp
	width       int
	left        bool
	noCommon    bool
	expandTabs  bool
	initialTab  bool
	tabSize     int
	minimal     bool
	noLinks     bool
	nameFold    bool
	startAt     string
	suppress    bool // --suppress-blank-empty
	fromFile    string
	toFile      string
	switches    string // the options as they were given
	ignoreRegex bool
}

func diffOptions() []command.Option {
	options := []command.Option{
		{Long: "normal", ID: optNormal, Help: "output a normal diff (the default)"},
		{Short: 'q', Long: "brief", Help: "report only when files differ"},
		{Short: 's', Long: "report-identical-files", Help: "report when two files are the same"},
		{Short: 'c', Help: "output 3 lines of copied context"},
		{Short: 'C', Long: "context", Arg: command.RequiredArgument, ArgName: "NUM", Help: "output NUM lines of copied context"},
		{Short: 'u', Help: "output 3 lines of unified context"},
		{Short: 'U', Long: "unified", Arg: command.RequiredArgument, ArgName: "NUM", Help: "output NUM lines of unified context"},
		{Short: 'e', Long: "ed", Help: "output an ed script"},
		{Short: 'f', Long: "forward-ed"},
		{Short: 'n', Long: "rcs", Help: "output an RCS format diff"},
		{Short: 'y', Long: "side-by-side", Help: "output in two columns"},
		{Short: 'W', Long: "width", Arg: command.RequiredArgument, ArgName: "NUM", Help: "output at most NUM (default 130) print columns"},
		{Long: "left-column", ID: optLeftColumn, Help: "output only the left column of common lines"},
		{Long: "suppress-common-lines", ID: optSuppressCommon, Help: "do not output common lines"},
		{Short: 'p', Long: "show-c-function", Help: "show which C function each change is in"},
		{Short: 'F', Long: "show-function-line", Arg: command.RequiredArgument, ArgName: "RE", Help: "show the most recent line matching RE"},
		{Long: "label", Arg: command.RequiredArgument, ArgName: "LABEL", ID: optLabel, Help: "use LABEL instead of file name and timestamp\n(can be repeated)"},
		{Short: 'L', Arg: command.RequiredArgument, ID: optLabel},
		{Short: 't', Long: "expand-tabs", Help: "expand tabs to spaces in output"},
		{Short: 'T', Long: "initial-tab", Help: "make tabs line up by prepending a tab"},
		{Long: "tabsize", Arg: command.RequiredArgument, ArgName: "NUM", ID: optTabSize, Help: "tab stops every NUM (default 8) print columns"},
		{Long: "suppress-blank-empty", ID: optSuppressBlank, Help: "suppress space or tab before empty output lines"},
		{Short: 'l', Long: "paginate", Help: "(ignored)"},
		{Short: 'r', Long: "recursive", Help: "recursively compare any subdirectories found"},
		{Long: "no-dereference", ID: optNoDereference, Help: "don't follow symbolic links"},
		{Short: 'N', Long: "new-file", Help: "treat absent files as empty"},
		{Short: 'P', Long: "unidirectional-new-file", Help: "treat absent first files as empty"},
		{Long: "ignore-file-name-case", ID: optIgnoreNameCase, Help: "ignore case when comparing file names"},
		{Long: "no-ignore-file-name-case", ID: optNoIgnoreNameCase, Help: "consider case when comparing file names"},
		{Short: 'x', Long: "exclude", Arg: command.RequiredArgument, ArgName: "PAT", Help: "exclude files that match PAT"},
		{Short: 'X', Long: "exclude-from", Arg: command.RequiredArgument, ArgName: "FILE", Help: "exclude files that match any pattern in FILE"},
		{Short: 'S', Long: "starting-file", Arg: command.RequiredArgument, ArgName: "FILE", Help: "start with FILE when comparing directories"},
		{Long: "from-file", Arg: command.RequiredArgument, ArgName: "FILE1", ID: optFromFile, Help: "compare FILE1 to all operands"},
		{Long: "to-file", Arg: command.RequiredArgument, ArgName: "FILE2", ID: optToFile, Help: "compare all operands to FILE2"},
		{Short: 'i', Long: "ignore-case", Help: "ignore case differences in file contents"},
		{Short: 'E', Long: "ignore-tab-expansion", Help: "ignore changes due to tab expansion"},
		{Short: 'Z', Long: "ignore-trailing-space", Help: "ignore white space at line end"},
		{Short: 'b', Long: "ignore-space-change", Help: "ignore changes in the amount of white space"},
		{Short: 'w', Long: "ignore-all-space", Help: "ignore all white space"},
		{Short: 'B', Long: "ignore-blank-lines", Help: "ignore changes where lines are all blank"},
		{Short: 'I', Long: "ignore-matching-lines", Arg: command.RequiredArgument, ArgName: "RE", Help: "ignore changes where all lines match RE"},
		{Short: 'a', Long: "text", Help: "treat all files as text"},
		{Long: "strip-trailing-cr", ID: optStripCR, Help: "strip trailing carriage return on input"},
		{Short: 'd', Long: "minimal", Help: "try hard to find a smaller set of changes"},
		{Long: "horizon-lines", Arg: command.RequiredArgument, ArgName: "NUM", ID: optHorizon, Help: "(ignored)"},
		{Long: "speed-large-files", ID: optSpeed, Help: "(ignored)"},
		{Short: 'H', ID: optSpeed},
		{Long: "color", Arg: command.OptionalArgument, ArgName: "WHEN", ID: optColor, Help: "(ignored)"},
		{Long: "palette", Arg: command.RequiredArgument, ArgName: "PALETTE", ID: optPalette, Help: "(ignored)"},
		{Short: 'v', ID: 'v'},
	}
	// The long forms of -U and -C may lack their number.
	for i := range options {
		switch options[i].Long {
		case "unified", "context":
			short := options[i]
			options[i].Arg, options[i].Short, options[i].ID = command.OptionalArgument, 0, int(short.Short)
			short.Long = ""
			options = append(options, short)
		}
	}
	for d := byte('0'); d <= '9'; d++ {
		options = append(options, command.Option{Short: d})
	}
	return options
}

func init() {
	command.Register(command.Info{
		Name:        "diff",
		Synopsis:    "diff [OPTION]... FILES",
		Summary:     "Compare FILES line by line.",
		Options:     diffOptions(),
		UsageStatus: exitTrouble,
		UsageHint:   "diff: Try 'diff --help' for more information.",
		Notes: "FILES are 'FILE1 FILE2' or 'DIR1 DIR2' or 'DIR FILE' or 'FILE DIR'.\n" +
			"If a FILE is '-', read standard input.\nExit status is 0 if inputs are the same, 1 if different, 2 if trouble.",
	}, diff)
}

// optionReader fills settings.
type optionReader struct {
	c      *command.Context
	s      *settings
	digits string
	width  bool
	err    bool
	done   bool // the version was printed
}

func diff(ctx context.Context, c *command.Context, args []string) int {
	s := &settings{context: -1, width: 130, tabSize: 8}
	o := optionReader{c: c, s: s}
	p := c.Options(args)
	for p.Next() && !o.err && !o.done {
		o.option(p)
	}
	files, status, stop := p.End()
	switch {
	case stop:
		return status
	case o.err:
		return exitTrouble
	case o.done:
		return 0
	}
	o.finish()
	s.switches = switchString(c, args[1:])
	d := &job{c: c, s: s, utf8: c.Env.UTF8()}
	switch {
	case s.fromFile != "" || s.toFile != "":
		if s.fromFile != "" && s.toFile != "" {
			return c.Usage("--from-file and --to-file both specified")
		}
		for _, f := range files {
			if s.fromFile != "" {
				status = max(status, d.operands(ctx, s.fromFile, f))
			} else {
				status = max(status, d.operands(ctx, f, s.toFile))
			}
		}
		return status
	case len(files) < 2:
		after := args[len(args)-1]
		if len(files) > 0 {
			after = files[len(files)-1]
		}
		return c.Usage("missing operand after '%s'", after)
	case len(files) > 2:
		return c.Usage("extra operand '%s'", files[2])
	}
	return d.operands(ctx, files[0], files[1])
}

func (o *optionReader) setStyle(s style) {
	if o.s.styleGiven && o.s.style != s {
		o.c.Usage("conflicting output style options")
		o.err = true
	}
	o.s.style, o.s.styleGiven = s, true
}

// setContext asks for at least n lines of context.
func (o *optionReader) setContext(arg string, fallback int) {
	n := fallback
	if arg != "" {
		v, err := strconv.ParseUint(arg, 10, 63)
		if err != nil {
			o.c.Usage("invalid context length '%s'", arg)
			o.err = true
			return
		}
		n = int(min(v, 1<<40))
	}
	o.s.context = max(o.s.context, n)
}

func (o *optionReader) option(p *command.Parser) {
	s, arg := o.s, p.Arg()
	switch id := p.ID(); id {
	case optNormal:
		o.setStyle(styleNormal)
	case 'q':
		s.brief = true
	case 's':
		s.same = true
	case 'c':
		o.setStyle(styleContext)
		o.setContext("", 3)
	case 'C':
		o.setStyle(styleContext)
		o.setContext(arg, 3)
	case 'u':
		o.setStyle(styleUnified)
		o.setContext("", 3)
	case 'U':
		o.setStyle(styleUnified)
		o.setContext(arg, 3)
	case 'e':
		o.setStyle(styleEd)
	case 'f':
		o.setStyle(styleForwardEd)
	case 'n':
		o.setStyle(styleRCS)
	case 'y':
		o.setStyle(styleSide)
	case optLeftColumn:
		s.left = true
	case optSuppressCommon:
		s.noCommon = true
	case 't':
		s.expandTabs = true
	case 'T':
		s.initialTab = true
	case optSuppressBlank:
		s.suppress = true
	case 'r':
		s.recursive = true
	case optNoDereference:
		s.noLinks = true
	case 'N':
		s.newFile = true
	case 'P':
		s.oneNew = true
	case optIgnoreNameCase:
		s.nameFold = true
	case optNoIgnoreNameCase:
		s.nameFold = false
	case 'i':
		s.foldCase = true
	case 'E':
		s.tabSpace = true
	case 'Z':
		s.trailing = true
	case 'b':
		s.lessSpace = true
	case 'w':
		s.noSpace = true
	case 'B':
		s.noBlank = true
	case 'a':
		s.text = true
	case optStripCR:
		s.stripCR = true
	case 'd':
		s.minimal = true
	case 'v':
		o.c.Stdout.WriteString("diff (vfsd)\n")
		o.done = true
	default:
		o.withArgument(p, arg)
	}
}

// withArgument handles the options whose argument can be wrong.
func (o *optionReader) withArgument(p *command.Parser, arg string) {
	s := o.s
	switch id := p.ID(); {
	case id >= '0' && id <= '9':
		if !p.Bundled() {
			o.digits = ""
		}
		o.digits += string(rune(id))
	case id == 'W':
		n, err := strconv.Atoi(arg)
		if err != nil || n <= 0 {
			o.c.Usage("invalid width '%s'", arg)
			o.err = true
			return
		}
		if o.width && n != s.width {
			o.c.Errorf("conflicting width options")
			o.err = true
		}
		s.width, o.width = n, true
	case id == optTabSize:
		n, err := strconv.Atoi(arg)
		if err != nil || n <= 0 || n > 1<<16 {
			o.c.Usage("invalid tabsize '%s'", arg)
			o.err = true
			return
		}
		s.tabSize = n
	case id == optLabel:
		if len(s.labels) == 2 {
			o.c.Errorf("too many file label options")
			o.err = true
			return
		}
		s.labels = append(s.labels, arg)
	case id == 'p':
		s.function = o.regex("^[[:alpha:]$_]")
	case id == 'F':
		s.function = o.regex(arg)
	case id == 'I':
		s.ignore = append(s.ignore, o.regex(arg))
	case id == 'x':
		s.exclude = append(s.exclude, arg)
	case id == 'X':
		o.excludeFile(arg)
	case id == 'S':
		s.startAt = arg
	case id == optFromFile:
		s.fromFile = arg
	case id == optToFile:
		s.toFile = arg
	case id == optColor && p.HasArg():
		if arg != "always" && arg != "never" && arg != "auto" {
			o.c.Usage("invalid color '%s'", arg)
			o.err = true
		}
	}
}

// regex compiles a pattern of -F or -I.
func (o *optionReader) regex(pattern string) *regex.Regexp {
	flags := regex.Flags(0)
	if o.c.Env.UTF8() {
		flags = regex.UTF8
	}
	re, err := regex.Compile(pattern, regex.Grep, flags)
	if err != nil {
		o.c.Errorf("%s: Invalid regular expression", pattern)
		o.err = true
	}
	return re
}

// maxExclude bounds the bytes of a file of patterns.
const maxExclude = 16 << 20

func (o *optionReader) excludeFile(name string) {
	b, err := o.c.FS.ReadFile(name, maxExclude)
	if err != nil {
		o.c.Errorf("%s: %s", name, command.Strerror(err))
		o.err = true
		return
	}
	for _, line := range strings.Split(string(b), "\n") {
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			o.s.exclude = append(o.s.exclude, line)
		}
	}
}

// finish settles what depends on several options.
func (o *optionReader) finish() {
	s := o.s
	if !s.styleGiven && s.function != nil {
		s.style = styleContext
		s.context = max(s.context, 3)
	}
	if o.digits != "" {
		n, _ := strconv.Atoi(o.digits)
		s.context = n
	}
	s.context = max(0, s.context)
	s.ignoreRegex = len(s.ignore) > 0
}

// switchString is the options as they stood on the command line, for the
// headers of recursive comparisons.
func switchString(c *command.Context, args []string) string {
	var b strings.Builder
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			break
		}
		if len(a) < 2 || a[0] != '-' {
			continue
		}
		b.WriteString(" " + c.QuoteName(a))
		// An argument that stands apart belongs to its option.
		if takesNext(a) && i+1 < len(args) {
			i++
			b.WriteString(" " + c.QuoteName(args[i]))
		}
	}
	return b.String()
}

func takesNext(a string) bool {
	if strings.HasPrefix(a, "--") {
		if strings.Contains(a, "=") {
			return false
		}
		for _, o := range diffOptions() {
			if o.Arg == command.RequiredArgument && o.Long != "" && strings.HasPrefix(o.Long, a[2:]) {
				return true
			}
		}
		return false
	}
	i := strings.IndexAny(a, "CUWFLxXSI")
	return i == len(a)-1
}
