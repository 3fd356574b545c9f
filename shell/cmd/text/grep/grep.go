// Package grep is grep, egrep, fgrep and rg.
package grep

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

// IDs of grep's long-only options.
const (
	optBinaryFiles = 256 + iota
	optColor
	optInclude
	optExclude
	optExcludeFrom
	optExcludeDir
	optLabel
	optLineBuffered
	optGroupSeparator
	optNoGroupSeparator
	optNoIgnoreCase
)

func init() {
	options := []command.Option{
		{Short: 'E', Long: "extended-regexp", Help: "PATTERNS are extended regular expressions"},
		{Short: 'F', Long: "fixed-strings", Help: "PATTERNS are strings"},
		{Long: "fixed-regexp", ID: 'F'},
		{Short: 'G', Long: "basic-regexp", Help: "PATTERNS are basic regular expressions"},
		{Short: 'P', Long: "perl-regexp", Help: "PATTERNS are Perl regular expressions"},
		{Short: 'e', Long: "regexp", Arg: command.RequiredArgument, ArgName: "PATTERNS", Help: "use PATTERNS for matching"},
		{Short: 'f', Long: "file", Arg: command.RequiredArgument, ArgName: "FILE", Help: "take PATTERNS from FILE"},
		{Short: 'i', Long: "ignore-case", Help: "ignore case distinctions in patterns and data"},
		{Short: 'y', ID: 'i'},
		{Long: "no-ignore-case", ID: optNoIgnoreCase, Help: "do not ignore case distinctions (default)"},
		{Short: 'w', Long: "word-regexp", Help: "match only whole words"},
		{Short: 'x', Long: "line-regexp", Help: "match only whole lines"},
		{Short: 'z', Long: "null-data", Help: "a data line ends in 0 byte, not newline"},
		{Short: 's', Long: "no-messages", Help: "suppress error messages"},
		{Short: 'v', Long: "invert-match", Help: "select non-matching lines"},
		{Short: 'V', ID: 'V'},
		{Short: 'm', Long: "max-count", Arg: command.RequiredArgument, ArgName: "NUM", Help: "stop after NUM selected lines"},
		{Short: 'b', Long: "byte-offset", Help: "print the byte offset with output lines"},
		{Short: 'n', Long: "line-number", Help: "print line number with output lines"},
		{Long: "line-buffered", ID: optLineBuffered, Help: "flush output on every line"},
		{Short: 'H', Long: "with-filename", Help: "print file name with output lines"},
		{Short: 'h', Long: "no-filename", Help: "suppress the file name prefix on output"},
		{Long: "label", ID: optLabel, Arg: command.RequiredArgument, ArgName: "LABEL", Help: "use LABEL as the standard input file name prefix"},
		{Short: 'o', Long: "only-matching", Help: "show only nonempty parts of lines that match"},
		{Short: 'q', Long: "quiet", Help: "suppress all normal output"},
		{Long: "silent", ID: 'q', Help: "suppress all normal output"},
		{Long: "binary-files", ID: optBinaryFiles, Arg: command.RequiredArgument, ArgName: "TYPE", Help: "assume that binary files are TYPE;\nTYPE is 'binary', 'text', or 'without-match'"},
		{Short: 'a', Long: "text", Help: "equivalent to --binary-files=text"},
		{Short: 'I', Help: "equivalent to --binary-files=without-match"},
		{Short: 'd', Long: "directories", Arg: command.RequiredArgument, ArgName: "ACTION", Help: "how to handle directories;\nACTION is 'read', 'recurse', or 'skip'"},
		{Short: 'D', Long: "devices", Arg: command.RequiredArgument, ArgName: "ACTION", Help: "how to handle devices, FIFOs and sockets;\nACTION is 'read' or 'skip'"},
		{Short: 'r', Long: "recursive", Help: "like --directories=recurse"},
		{Short: 'R', Long: "dereference-recursive", Help: "likewise, but follow all symlinks"},
		{Long: "include", ID: optInclude, Arg: command.RequiredArgument, ArgName: "GLOB", Help: "search only files that match GLOB (a file pattern)"},
		{Long: "exclude", ID: optExclude, Arg: command.RequiredArgument, ArgName: "GLOB", Help: "skip files that match GLOB"},
		{Long: "exclude-from", ID: optExcludeFrom, Arg: command.RequiredArgument, ArgName: "FILE", Help: "skip files that match any file pattern from FILE"},
		{Long: "exclude-dir", ID: optExcludeDir, Arg: command.RequiredArgument, ArgName: "GLOB", Help: "skip directories that match GLOB"},
		{Short: 'L', Long: "files-without-match", Help: "print only names of FILEs with no selected lines"},
		{Short: 'l', Long: "files-with-matches", Help: "print only names of FILEs with selected lines"},
		{Short: 'C', Long: "context", Arg: command.RequiredArgument, ArgName: "NUM", Help: "print NUM lines of output context"},
		{Long: "color", ID: optColor, Arg: command.OptionalArgument, ArgName: "WHEN", Help: "use markers to highlight the matching strings;\nWHEN is 'always', 'never', or 'auto'"},
		{Long: "colour", ID: optColor, Arg: command.OptionalArgument, ArgName: "WHEN", Help: "same as --color"},
		{Short: 'c', Long: "count", Help: "print only a count of selected lines per FILE"},
		{Short: 'T', Long: "initial-tab", Help: "make tabs line up (if needed)"},
		{Short: 'Z', Long: "null", Help: "print 0 byte after FILE name"},
		{Short: 'B', Long: "before-context", Arg: command.RequiredArgument, ArgName: "NUM", Help: "print NUM lines of leading context"},
		{Short: 'A', Long: "after-context", Arg: command.RequiredArgument, ArgName: "NUM", Help: "print NUM lines of trailing context"},
		{Long: "group-separator", ID: optGroupSeparator, Arg: command.RequiredArgument, ArgName: "SEP", Help: "print SEP on line between matches with context"},
		{Long: "no-group-separator", ID: optNoGroupSeparator, Help: "do not print separator for matches with context"},
		{Short: 'U', Long: "binary", Help: "(ignored)"},
		{Short: 'u', Long: "unix-byte-offsets", Help: "(ignored)"},
	}
	for d := byte('0'); d <= '9'; d++ {
		options = append(options, command.Option{Short: d})
	}
	command.Register(command.Info{
		Name:     "grep",
		Synopsis: "grep [OPTION]... PATTERNS [FILE]...",
		Summary: "Search for PATTERNS in each FILE.\nExample: grep -i 'hello world' menu.h main.c\n" +
			"PATTERNS can contain multiple patterns separated by newlines.",
		Options:     options,
		UsageStatus: 2,
		UsageHint:   "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information.",
		Notes: "-NUM is the same as --context=NUM.\n\nWhen FILE is '-', read standard input.  With no FILE, read '.' if\n" +
			"recursive, '-' otherwise.  With fewer than two FILEs, assume -h.\n" +
			"Exit status is 0 if any line is selected, 1 otherwise;\nif any error occurs and -q is not given, the exit status is 2.",
	}, grep)
	for name, mode := range map[string]string{"egrep": "-E", "fgrep": "-F"} {
		command.Register(command.Info{
			Name:     name,
			Synopsis: name + " [OPTION]... PATTERNS [FILE]...",
			Summary:  "The same as grep " + mode + ".",
			Options:  options,
		}, func(ctx context.Context, c *command.Context, args []string) int {
			c.Command = command.Lookup("grep")
			return grep(ctx, c, append([]string{"grep", mode}, args[1:]...))
		})
	}
}

// What to do with binary files.
const (
	binaryReport = iota // say that they match
	binaryText
	binarySkip
)

// What to do with directories.
const (
	dirRead = iota
	dirRecurse
	dirSkip
)

// What -l and -L list.
const (
	listNone = iota
	listMatching
	listOthers
)

// namesInside prints names of files that were found in a directory.
const namesInside = 2

// settings is what the options of grep ask for.
type settings struct {
	matcher    byte // 'G', 'E', 'F', 'P'; 0 is G
	patterns   []string
	given      bool // -e or -f was
	ignoreCase bool
	word, line bool
	eol        byte
	noMessages bool
	invert     bool
	max        int64 // -1: no limit
	offsets    bool
	numbers    bool
	names      int // -1: by the number of files
	label      string
	only       bool
	quiet      bool
	binary     int
	dirs       int
	skipDevs   bool // also on the command line
	readDevs   bool // also in directories
	follow     bool
	files      rules
	dirRules   rules
	list       int
	count      bool
	tab, null  bool
	before     int64
	after      int64
	separator  string
	separate   bool
	color      bool
}

// errUsage and errArgument say that a mistake in the options was reported; the
// status is 2 after the one, 1 after the other.
var (
	errUsage    = errors.New("usage")
	errArgument = errors.New("argument")
)

func grep(ctx context.Context, c *command.Context, args []string) int {
	s := &settings{eol: '\n', max: -1, names: -1, label: "(standard input)", separator: "--", separate: true, before: -1, after: -1}
	p := c.Options(args)
	o := optionReader{c: c, s: s, context: -1}
	for p.Next() {
		if err := o.option(p); err == errArgument {
			return 1
		} else if err != nil {
			return 2
		}
	}
	operands, status, stop := p.End()
	switch {
	case stop:
		return status
	case o.help:
		c.Stdout.WriteString(c.Command.Help())
		return 0
	case o.version:
		c.Stdout.WriteString("grep (vfsd)\n")
		return 0
	}
	if !s.given {
		if len(operands) == 0 {
			io.WriteString(c.Stderr, c.Command.UsageHint+"\n")
			return 2
		}
		s.patterns, operands = splitPatterns(operands[0]), operands[1:]
	}
	o.finish(len(operands))
	all := s.invert && !s.line && !s.word && len(s.patterns) == 1 && s.patterns[0] == ""
	if (s.max == 0 || all) && s.list != listOthers {
		return 1 // nothing can be selected
	}
	m, warnings, err := newMatcher(s, c.Env.UTF8())
	for _, w := range warnings {
		c.Errorf("warning: %s", w)
	}
	if err != nil {
		c.Errorf("%v", err)
		return 2
	}
	g := newSearch(c, s, m)
	defer g.close()
	return g.operands(ctx, operands)
}

// splitPatterns splits at newlines.
func splitPatterns(s string) []string { return strings.Split(s, "\n") }

// optionReader fills settings.
type optionReader struct {
	c       *command.Context
	s       *settings
	digits  string
	context int64
	version bool
	help    bool
}

func (o *optionReader) option(p *command.Parser) error {
	s, id := o.s, p.ID()
	switch id {
	case '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return o.digit(byte(id), p)
	case 'E', 'F', 'G', 'P':
		return o.setMatcher(byte(id))
	case 'e':
		s.patterns, s.given = append(s.patterns, splitPatterns(p.Arg())...), true
	case 'f':
		return o.patternFile(p.Arg())
	case 'i':
		s.ignoreCase = true
	case optNoIgnoreCase:
		s.ignoreCase = false
	case 'w':
		s.word = true
	case 'x':
		s.line = true
	case 'z':
		s.eol = 0
	case 's':
		s.noMessages = true
	case 'v':
		s.invert = true
	case 'V':
		o.version = true
	case 'b':
		s.offsets = true
	case 'n':
		s.numbers = true
	case optLineBuffered:
		o.c.Stdout.LineBuffered()
	case 'H':
		s.names = 1
	case 'h':
		s.names = 0
	case optLabel:
		s.label = p.Arg()
	case 'o':
		s.only = true
	case 'q':
		s.quiet = true
	case 'a':
		s.binary = binaryText
	case 'I':
		s.binary = binarySkip
	case 'r', 'R':
		s.dirs, s.follow = dirRecurse, id == 'R'
	case 'L':
		s.list = listOthers
	case 'l':
		s.list = listMatching
	case 'c':
		s.count = true
	case 'T':
		s.tab = true
	case 'Z':
		s.null = true
	case optGroupSeparator:
		s.separator, s.separate = p.Arg(), true
	case optNoGroupSeparator:
		s.separate = false
	case 'u':
		o.c.Errorf("warning: --unix-byte-offsets (-u) is obsolete")
	default:
		return o.withArgument(p)
	}
	return nil
}

// withArgument handles the options whose argument can be wrong.
func (o *optionReader) withArgument(p *command.Parser) (err error) {
	s := o.s
	switch p.ID() {
	case 'm':
		s.max, err = o.number(p.Arg(), "invalid max count")
	case 'A':
		s.after, err = o.contextLength(p.Arg())
	case 'B':
		s.before, err = o.contextLength(p.Arg())
	case 'C':
		o.context, err = o.contextLength(p.Arg())
	case optBinaryFiles:
		kinds := map[string]int{"binary": binaryReport, "text": binaryText, "without-match": binarySkip}
		kind, ok := kinds[p.Arg()]
		if !ok {
			o.c.Errorf("unknown binary-files type")
			return errUsage
		}
		s.binary = kind
	case 'd':
		v, ok := gnulib.MatchArg(o.c, "--directories", p.Arg(), []gnulib.Choice{{Word: "read", Value: dirRead}, {Word: "recurse", Value: dirRecurse}, {Word: "skip", Value: dirSkip}})
		if !ok {
			return errArgument
		}
		s.dirs = v
	case 'D':
		if p.Arg() != "read" && p.Arg() != "skip" {
			o.c.Errorf("unknown devices method")
			return errUsage
		}
		s.skipDevs, s.readDevs = p.Arg() == "skip", p.Arg() == "read"
	case optInclude, optExclude:
		s.files = append(s.files, rule{pattern: p.Arg(), include: p.ID() == optInclude})
	case optExcludeFrom:
		return o.excludeFile(p.Arg())
	case optExcludeDir:
		s.dirRules = append(s.dirRules, rule{pattern: gnulib.StripSlashes(p.Arg())})
	case optColor:
		switch p.Arg() {
		case "always", "yes", "force":
			s.color = true
		case "never", "no", "none", "auto", "tty", "if-tty", "":
			s.color = false
		default:
			o.help = true
		}
	}
	return err
}

// digit gathers -NUM.
func (o *optionReader) digit(d byte, p *command.Parser) error {
	// -1 -2 is 2, -12 is 12.
	if !p.Bundled() {
		o.digits = ""
	}
	o.digits += string(d)
	n, err := o.contextLength(o.digits)
	o.context = n
	return err
}

func (o *optionReader) setMatcher(m byte) error {
	s := o.s
	if s.matcher != 0 && s.matcher != m {
		o.c.Errorf("conflicting matchers specified")
		return errUsage
	}
	s.matcher = m
	return nil
}

func (o *optionReader) number(arg, message string) (int64, error) {
	n, err := gnulib.ParseSize(strings.TrimPrefix(arg, "-"), "")
	if err != nil && err != error(gnulib.SizeOverflow) {
		o.c.Errorf("%s", message)
		return 0, errUsage
	}
	if arg[0] == '-' {
		return -1, nil
	}
	return int64(min(n, 1<<62)), nil
}

func (o *optionReader) contextLength(arg string) (int64, error) {
	n, err := o.number(arg, arg+": invalid context length argument")
	if err == nil && n < 0 {
		o.c.Errorf("%s: invalid context length argument", arg)
		err = errUsage
	}
	return n, err
}

// maxPatterns bounds the bytes of a pattern file.
const maxPatterns = 64 << 20

func (o *optionReader) patternFile(name string) error {
	o.s.given = true
	text, err := o.readAll(name)
	if err != nil {
		o.c.Fail(name, err)
		return errUsage
	}
	if text != "" {
		o.s.patterns = append(o.s.patterns, splitPatterns(strings.TrimSuffix(text, "\n"))...)
	}
	return nil
}

func (o *optionReader) excludeFile(name string) error {
	text, err := o.readAll(name)
	if err != nil {
		o.c.Fail(name, err)
		return errUsage
	}
	for _, line := range strings.Split(text, "\n") {
		if line = strings.TrimRight(line, " \t\r"); line != "" {
			o.s.files = append(o.s.files, rule{pattern: line})
		}
	}
	return nil
}

func (o *optionReader) readAll(name string) (string, error) {
	f, err := o.c.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, min(maxPatterns, o.c.Memory.Left())))
	return string(b), err
}

// finish settles what depends on several options, for that many operands.
func (o *optionReader) finish(files int) {
	s := o.s
	if s.before < 0 {
		s.before = o.context
	}
	if s.after < 0 {
		s.after = o.context
	}
	if s.names < 0 {
		s.names = 0
		if files > 1 {
			s.names = 1
		} else if s.dirs == dirRecurse {
			s.names = namesInside
		}
	}
	if s.list != listNone || s.quiet {
		s.count = false
	}
	if s.count || s.quiet || s.list != listNone {
		s.before, s.after = -1, -1
	}
}
