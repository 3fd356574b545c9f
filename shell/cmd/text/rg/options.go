package rg

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

const (
	optHeading = 256 + iota
	optNoHeading
	optColumn
	optNoColumn
	optVimgrep
	optPassthru
	optTrim
	optPreview
	optColor
	optColors
	optStats
	optJSON
	optBinary
	optCountMatches
	optFilesWithout
	optFiles
	optIncludeZero
	optNull
	optNullData
	optCRLF
	optDotAll
	optNoUnicode
	optSeparator
	optNoSeparator
	optMatchSep
	optContextSep
	optPathSep
	optIglob
	optGlobFold
	optTypeAdd
	optTypeClear
	optTypeList
	optMaxDepth
	optMaxFilesize
	optOneFS
	optIgnoreFile
	optIgnoreFold
	optNoIgnore
	optNoIgnoreDot
	optNoIgnoreVCS
	optNoIgnoreExclude
	optNoIgnoreGlobal
	optNoIgnoreParent
	optNoIgnoreFiles
	optNoIgnoreMessages
	optNoRequireGit
	optNoMessages
	optNoHidden
	optSort
	optSortr
	optLineBuffered
	optIgnored
	optIgnoredArg
	optHelp
)

func rgOptions() []command.Option {
	required := command.RequiredArgument
	options := []command.Option{
		{Short: 'e', Long: "regexp", Arg: required, ArgName: "PATTERN", Help: "a pattern to search for"},
		{Short: 'f', Long: "file", Arg: required, ArgName: "PATTERNFILE", Help: "search for patterns from the given file"},
		{Short: 'F', Long: "fixed-strings", Help: "treat the pattern as a literal string"},
		{Short: 'i', Long: "ignore-case", Help: "case insensitive search"},
		{Short: 's', Long: "case-sensitive", Help: "case sensitive search (default)"},
		{Short: 'S', Long: "smart-case", Help: "smart case search"},
		{Short: 'w', Long: "word-regexp", Help: "only show matches surrounded by word boundaries"},
		{Short: 'x', Long: "line-regexp", Help: "only show matches surrounded by line boundaries"},
		{Short: 'v', Long: "invert-match", Help: "invert matching"},
		{Short: 'P', Long: "pcre2", Help: "match Perl's regular expressions"},
		{Short: 'U', Long: "multiline", Help: "enable matching across multiple lines"},
		{Long: "multiline-dotall", ID: optDotAll, Help: "make '.' match new lines when multiline is enabled"},
		{Long: "no-unicode", ID: optNoUnicode, Help: "disable Unicode mode"},
		{Long: "crlf", ID: optCRLF, Help: "support CRLF line terminators"},
		{Long: "null-data", ID: optNullData, Help: "use NUL as a line terminator instead of \\n"},
		{Short: 'a', Long: "text", Help: "search binary files as if they were text"},
		{Long: "binary", ID: optBinary, Help: "search binary files"},
		{Short: 'E', Long: "encoding", Arg: required, ArgName: "ENCODING", Help: "specify the text encoding of files to search"},
		{Short: 'z', Long: "search-zip", Help: "(refused)"},
		{Short: 'm', Long: "max-count", Arg: required, ArgName: "NUM", Help: "limit the number of matches"},
		{Short: 'A', Long: "after-context", Arg: required, ArgName: "NUM", Help: "show NUM lines after each match"},
		{Short: 'B', Long: "before-context", Arg: required, ArgName: "NUM", Help: "show NUM lines before each match"},
		{Short: 'C', Long: "context", Arg: required, ArgName: "NUM", Help: "show NUM lines before and after each match"},
		{Long: "passthru", ID: optPassthru, Help: "print both matching and non-matching lines"},
		{Long: "passthrough", ID: optPassthru},
		{Short: 'n', Long: "line-number", Help: "show line numbers"},
		{Short: 'N', Long: "no-line-number", Help: "suppress line numbers"},
		{Long: "column", ID: optColumn, Help: "show column numbers"},
		{Long: "no-column", ID: optNoColumn},
		{Short: 'b', Long: "byte-offset", Help: "print the 0-based byte offset for each matching line"},
		{Short: 'H', Long: "with-filename", Help: "print the file path with the matched lines"},
		{Short: 'I', Long: "no-filename", Help: "never print the file path with the matched lines"},
		{Long: "heading", ID: optHeading, Help: "print matches grouped by each file"},
		{Long: "no-heading", ID: optNoHeading, Help: "don't group matches by each file"},
		{Long: "vimgrep", ID: optVimgrep, Help: "show results in vim compatible format"},
		{Short: 'o', Long: "only-matching", Help: "print only matched parts of a line"},
		{Short: 'r', Long: "replace", Arg: required, ArgName: "REPLACEMENT_TEXT", Help: "replace matches with the given text"},
		{Long: "trim", ID: optTrim, Help: "trim prefixed whitespace from matches"},
		{Short: 'M', Long: "max-columns", Arg: required, ArgName: "NUM", Help: "don't print lines longer than this limit"},
		{Long: "max-columns-preview", ID: optPreview, Help: "print a preview for lines exceeding the limit"},
		{Long: "context-separator", Arg: required, ArgName: "SEPARATOR", ID: optSeparator, Help: "set the context separator string"},
		{Long: "no-context-separator", ID: optNoSeparator},
		{Long: "field-match-separator", Arg: required, ArgName: "SEPARATOR", ID: optMatchSep, Help: "set the match field separator"},
		{Long: "field-context-separator", Arg: required, ArgName: "SEPARATOR", ID: optContextSep, Help: "set the field context separator"},
		{Long: "path-separator", Arg: required, ArgName: "SEPARATOR", ID: optPathSep, Help: "set the path separator"},
		{Short: 'c', Long: "count", Help: "only show the count of matching lines for each file"},
		{Long: "count-matches", ID: optCountMatches, Help: "only show the count of individual matches for each file"},
		{Long: "include-zero", ID: optIncludeZero, Help: "include files with zero matches in summary"},
		{Short: 'l', Long: "files-with-matches", Help: "print the paths with at least one match"},
		{Long: "files-without-match", ID: optFilesWithout, Help: "print the paths that contain zero matches"},
		{Long: "files", ID: optFiles, Help: "print each file that would be searched"},
		{Short: 'q', Long: "quiet", Help: "do not print anything to stdout"},
		{Short: '0', Long: "null", ID: optNull, Help: "print a NUL byte after file paths"},
		{Long: "json", ID: optJSON, Help: "show search results in a JSON Lines format"},
		{Long: "stats", ID: optStats, Help: "print statistics about this ripgrep search"},
		{Long: "color", Arg: required, ArgName: "WHEN", ID: optColor, Help: "controls when to use color"},
		{Long: "colors", Arg: required, ArgName: "COLOR_SPEC", ID: optColors, Help: "(ignored)"},
		{Short: 'p', Long: "pretty", Help: "alias for --color always --heading --line-number"},
		{Long: "line-buffered", ID: optLineBuffered, Help: "force line buffering"},
	}
	return append(options, walkOptions()...)
}

// walkOptions are those that tell which files are searched.
func walkOptions() []command.Option {
	required := command.RequiredArgument
	options := []command.Option{
		{Short: '.', Long: "hidden", Help: "search hidden files and directories"},
		{Long: "no-hidden", ID: optNoHidden},
		{Short: 'L', Long: "follow", Help: "follow symbolic links"},
		{Long: "max-depth", Arg: required, ArgName: "NUM", ID: optMaxDepth, Help: "descend at most NUM directories"},
		{Long: "maxdepth", Arg: required, ID: optMaxDepth},
		{Long: "max-filesize", Arg: required, ArgName: "NUM+SUFFIX?", ID: optMaxFilesize, Help: "ignore files larger than NUM in size"},
		{Long: "one-file-system", ID: optOneFS, Help: "(ignored: there is but one)"},
		{Short: 'g', Long: "glob", Arg: required, ArgName: "GLOB", Help: "include or exclude files"},
		{Long: "iglob", Arg: required, ArgName: "GLOB", ID: optIglob, Help: "include or exclude files case insensitively"},
		{Long: "glob-case-insensitive", ID: optGlobFold, Help: "process all glob patterns case insensitively"},
		{Short: 't', Long: "type", Arg: required, ArgName: "TYPE", Help: "only search files matching TYPE"},
		{Short: 'T', Long: "type-not", Arg: required, ArgName: "TYPE", Help: "do not search files matching TYPE"},
		{Long: "type-add", Arg: required, ArgName: "TYPE_SPEC", ID: optTypeAdd, Help: "add a new glob for a file type"},
		{Long: "type-clear", Arg: required, ArgName: "TYPE", ID: optTypeClear, Help: "clear globs for a file type"},
		{Long: "type-list", ID: optTypeList, Help: "show all supported file types"},
		{Short: 'u', Long: "unrestricted", Help: "reduce the level of \"smart\" searching"},
		{Long: "ignore-file", Arg: required, ArgName: "PATH", ID: optIgnoreFile, Help: "specify additional ignore files"},
		{Long: "ignore-file-case-insensitive", ID: optIgnoreFold, Help: "process ignore files case insensitively"},
		{Long: "no-ignore", ID: optNoIgnore, Help: "don't respect ignore files"},
		{Long: "no-ignore-dot", ID: optNoIgnoreDot, Help: "don't respect .ignore files"},
		{Long: "no-ignore-vcs", ID: optNoIgnoreVCS, Help: "don't respect VCS ignore files"},
		{Long: "no-ignore-exclude", ID: optNoIgnoreExclude, Help: "don't respect local exclusion files"},
		{Long: "no-ignore-global", ID: optNoIgnoreGlobal, Help: "don't respect global ignore files"},
		{Long: "no-ignore-parent", ID: optNoIgnoreParent, Help: "don't respect ignore files in parent directories"},
		{Long: "no-ignore-files", ID: optNoIgnoreFiles, Help: "don't respect --ignore-file flags"},
		{Long: "no-ignore-messages", ID: optNoIgnoreMessages, Help: "suppress gitignore parse error messages"},
		{Long: "no-require-git", ID: optNoRequireGit, Help: "do not require a git repository to use gitignores"},
		{Long: "no-messages", ID: optNoMessages, Help: "suppress some error messages"},
		{Long: "sort", Arg: required, ArgName: "SORTBY", ID: optSort, Help: "sort results in ascending order"},
		{Long: "sortr", Arg: required, ArgName: "SORTBY", ID: optSortr, Help: "sort results in descending order"},
		{Short: 'j', Long: "threads", Arg: required, ArgName: "NUM", ID: optIgnoredArg, Help: "(ignored)"},
		{Short: 'h', ID: optHelp},
	}
	for _, name := range []string{"mmap", "no-mmap", "no-config", "block-buffered", "auto-hybrid-regex", "debug", "trace", "no-pcre2-unicode", "sort-files", "no-crlf", "no-encoding", "no-trim", "ignore", "no-auto-hybrid-regex", "messages", "no-max-columns-preview"} {
		options = append(options, command.Option{Long: name, ID: optIgnored})
	}
	for _, name := range []string{"dfa-size-limit", "regex-size-limit", "engine"} {
		options = append(options, command.Option{Long: name, Arg: required, ID: optIgnoredArg})
	}
	return options
}

func init() {
	command.Register(command.Info{
		Name:        "rg",
		Synopsis:    "rg [OPTIONS] PATTERN [PATH ...]\nrg [OPTIONS] -e PATTERN ... [PATH ...]\nrg [OPTIONS] --files [PATH ...]",
		Summary:     "Search recursively for lines that match a regular expression, leaving out what\nignore files name, hidden files and binary ones.",
		Options:     rgOptions(),
		UsageStatus: exitTrouble,
	}, rg)
}

// optionReader fills settings.
type optionReader struct {
	c           *command.Context
	s           *settings
	globFold    bool
	before      int // as given by -B, or -1
	after       int
	around      int
	unlimited   int // how many -u
	patterns    bool
	noNumbers   bool
	usage       error
	headingless bool
}

func readOptions(c *command.Context, s *settings, args []string) (operands []string, status int, stop bool) {
	o := optionReader{c: c, s: s, before: -1, after: -1, around: -1}
	args = append(args[:1:1], append(o.config(), args[1:]...)...)
	p := c.Options(args)
	for p.Next() && o.usage == nil {
		if p.ID() == optHelp {
			c.Stdout.WriteString(c.Command.Help())
			return nil, exitFound, true
		}
		o.usage = o.option(p.ID(), p.Arg())
	}
	operands, status, stop = p.End()
	if o.usage != nil {
		fmt.Fprintln(c.Stderr, o.usage)
		return nil, exitTrouble, true
	}
	if stop {
		return nil, status, true
	}
	o.finish()
	return operands, 0, false
}

// maxConfig bounds the size of files that options name.
const maxConfig = 64 << 20

// config is the arguments in the file that RIPGREP_CONFIG_PATH names.
func (o *optionReader) config() []string {
	name := o.c.Env.Get("RIPGREP_CONFIG_PATH")
	if name == "" {
		return nil
	}
	b, err := o.c.FS.ReadFile(name, maxConfig)
	if err != nil {
		return nil
	}
	var args []string
	for line := range strings.SplitSeq(string(b), "\n") {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			args = append(args, line)
		}
	}
	return args
}

// finish settles what depends on several options.
func (o *optionReader) finish() {
	s := o.s
	s.before, s.after = max(0, o.around), max(0, o.around)
	if o.before >= 0 {
		s.before = o.before
	}
	if o.after >= 0 {
		s.after = o.after
	}
	s.context = o.before >= 0 || o.after >= 0 || o.around >= 0
	if s.columns || s.vimgrep {
		s.numbers = true
	}
	if o.noNumbers {
		s.numbers = false
	}
	if s.vimgrep {
		s.columns = true
	}
	if o.globFold {
		for i := range s.globs {
			s.globs[i].fold = true
		}
	}
	if s.list == listCount && s.only {
		s.list = listCountMatches
	}
	if o.patterns && s.patterns == nil {
		s.patterns = []string{}
	}
}

func (o *optionReader) option(id int, arg string) error {
	s := o.s
	switch id {
	case 'e':
		o.patterns = true
		s.patterns = append(s.patterns, arg)
	case 'f':
		return o.patternFile(arg)
	case 'm', 'A', 'B', 'C', 'M', optMaxDepth:
		return o.number(id, arg)
	case optMaxFilesize:
		n, ok := parseSize(arg)
		if !ok {
			return fmt.Errorf("invalid format for size '%s', which should be a sequence of digits followed by an optional 'K', 'M' or 'G' suffix", arg)
		}
		s.maxSize = n
	case optColor:
		switch arg {
		case "always", "ansi":
			s.color = true
		case "never", "auto":
			s.color = false
		default:
			return fmt.Errorf("error: '%s' isn't a valid value for '--color <WHEN>'\n\t[possible values: always, ansi, auto, never]\n\n\n%s", arg, usage)
		}
	case optSort, optSortr:
		return o.sort(arg, id == optSortr)
	case 'E':
		return o.encoding(arg)
	case 'z':
		return fmt.Errorf("-z: compressed files cannot be searched: decompress them first")
	case 'r':
		s.replace = &arg
	case optSeparator:
		arg = unescape(arg)
		s.separator = &arg
	case optMatchSep:
		s.matchSep = unescape(arg)
	case optContextSep:
		s.contextSep = unescape(arg)
	case optPathSep:
		s.pathSep = unescape(arg)
	case 'g':
		s.globs = append(s.globs, globArg{pattern: arg})
	case optIglob:
		s.globs = append(s.globs, globArg{pattern: arg, fold: true})
	case 't', 'T':
		s.types = append(s.types, typeArg{name: arg, not: id == 'T'})
	case optTypeAdd:
		return s.typeTable.add(arg)
	case optTypeClear:
		delete(s.typeTable, arg)
	case optIgnoreFile:
		s.ignoreFiles = append(s.ignoreFiles, arg)
	default:
		o.flag(id)
	}
	return nil
}

// flag notes an option about the search that has no argument.
func (o *optionReader) flag(id int) {
	s := o.s
	switch id {
	case 'F':
		s.fixed = true
	case 'i':
		s.fold, s.smart = true, false
	case 's':
		s.fold, s.smart = false, false
	case 'S':
		s.fold, s.smart = false, true
	case 'w':
		s.word, s.line = true, false
	case 'x':
		s.line, s.word = true, false
	case 'v':
		s.invert = true
	case 'P':
		s.perl = true
	case 'U':
		s.multiline = true
	case optDotAll:
		s.dotAll = true
	case optNoUnicode:
		s.noUnicode = true
	case optCRLF:
		s.crlf = true
	case optNullData:
		s.nullData = true
	case 'a':
		s.text = true
	case optBinary:
		s.binary = true
	case optPassthru:
		s.passthru = true
	case 'o':
		s.only = true
	case 'c':
		s.list = listCount
	case optCountMatches:
		s.list = listCountMatches
	case 'l':
		o.listing(listMatching)
	case optFilesWithout:
		o.listing(listOthers)
	case optIncludeZero:
		s.includeZero = true
	case optFiles:
		s.files = true
	case 'q':
		s.quiet = true
	default:
		o.outputFlag(id)
	}
}

// listing asks for names of files; counts come first.
func (o *optionReader) listing(kind int) {
	if o.s.list != listCount && o.s.list != listCountMatches {
		o.s.list = kind
	}
}

// outputFlag notes an option about the output.
func (o *optionReader) outputFlag(id int) {
	s := o.s
	switch id {
	case 'n':
		s.numbers, o.noNumbers = true, false
	case 'N':
		s.numbers, o.noNumbers = false, true
	case optColumn:
		s.columns = true
	case optNoColumn:
		s.columns = false
	case 'b':
		s.offsets = true
	case 'H':
		s.names = 1
	case 'I':
		s.names = -1
	case optHeading:
		s.heading = true
	case optNoHeading:
		s.heading, o.headingless = false, true
	case optVimgrep:
		s.vimgrep = true
	case optTrim:
		s.trim = true
	case optPreview:
		s.preview = true
	case optNoSeparator:
		s.noSeparator = true
	case optNull:
		s.nullName = true
	case optJSON:
		s.json = true
	case optStats:
		s.stats = true
	case 'p':
		term := o.c.Env.Get("TERM")
		s.color = term != "" && term != "dumb"
		s.numbers = true
		s.heading = !o.headingless
	case optLineBuffered:
		s.flush = true
	default:
		o.walkFlag(id)
	}
}

// walkFlag notes an option about which files are searched.
func (o *optionReader) walkFlag(id int) {
	s := o.s
	switch id {
	case '.':
		s.hidden = true
	case optNoHidden:
		s.hidden = false
	case 'L':
		s.follow = true
	case optGlobFold:
		o.globFold = true
	case optTypeList:
		s.typeList = true
	case 'u':
		o.unlimited++
		s.noIgnore = true
		s.hidden = s.hidden || o.unlimited > 1
		s.binary = s.binary || o.unlimited > 2
	case optIgnoreFold:
		s.ignoreFold = true
	case optNoIgnore:
		s.noIgnore = true
	case optNoIgnoreDot:
		s.noIgnoreDot = true
	case optNoIgnoreVCS:
		s.noIgnoreVCS = true
	case optNoIgnoreExclude:
		s.noIgnoreExclude = true
	case optNoIgnoreGlobal:
		s.noIgnoreGlobal = true
	case optNoIgnoreParent:
		s.noIgnoreParent = true
	case optNoIgnoreFiles:
		s.noIgnoreFiles = true
	case optNoIgnoreMessages:
		s.noIgnoreMessages = true
	case optNoRequireGit:
		s.noRequireGit = true
	case optNoMessages:
		s.noMessages = true
	}
}

// numberNames are what mistakes in numbers call the options.
var numberNames = map[int]string{'m': "--max-count <NUM>", 'A': "--after-context <NUM>", 'B': "--before-context <NUM>", 'C': "--context <NUM>", 'M': "--max-columns <NUM>", optMaxDepth: "--max-depth <NUM>"}

func (o *optionReader) number(id int, arg string) error {
	n, err := strconv.ParseUint(arg, 10, 63)
	if err != nil {
		return fmt.Errorf("error: Invalid value for '%s': invalid digit found in string\n", numberNames[id])
	}
	const most = 1 << 40
	v := int(min(n, most))
	switch id {
	case 'm':
		o.s.max = int64(v)
	case 'A':
		o.after, o.around = v, -1
	case 'B':
		o.before, o.around = v, -1
	case 'C':
		o.before, o.after, o.around = -1, -1, v
	case 'M':
		o.s.maxColumns = v
	case optMaxDepth:
		o.s.maxDepth = v
	}
	return nil
}

func (o *optionReader) sort(arg string, reverse bool) error {
	keys := map[string]sortKey{"none": sortPath, "path": sortPath, "modified": sortModified, "accessed": sortAccessed, "created": sortCreated}
	k, ok := keys[arg]
	if !ok {
		name := "--sort"
		if reverse {
			name = "--sortr"
		}
		return fmt.Errorf("error: '%s' isn't a valid value for '%s <SORTBY>'\n\t[possible values: accessed, created, modified, none, path]\n\n\n%s", arg, name, usage)
	}
	o.s.sorted = arg != "none"
	o.s.sortKey, o.s.sortReverse = k, reverse && arg != "none"
	return nil
}

func (o *optionReader) encoding(arg string) error {
	switch name := strings.ToLower(arg); name {
	case "auto":
		o.s.encoding = ""
	case "none", "utf-8", "utf8", "utf-16", "utf-16le", "utf-16be", "latin1", "iso-8859-1", "ascii", "us-ascii", "windows-1252":
		o.s.encoding = name
	default:
		return fmt.Errorf("grep config error: unknown encoding: %s", arg)
	}
	return nil
}

// patternFile reads patterns, one a line.
func (o *optionReader) patternFile(name string) error {
	o.patterns = true
	f, err := o.c.Open(name)
	if err != nil {
		return fmt.Errorf("%s: %s", name, osError(err))
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return fmt.Errorf("%s: %s", name, osError(err))
	}
	b = bytes.TrimSuffix(b, []byte{'\n'})
	if len(b) == 0 {
		return nil
	}
	for line := range strings.SplitSeq(string(b), "\n") {
		o.s.patterns = append(o.s.patterns, strings.TrimSuffix(line, "\r"))
	}
	return nil
}

// unescape reads the escapes of separators: \n, \t, \xHH and the like.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		switch s[i] {
		case 'n':
			b.WriteByte('\n')
		case 't':
			b.WriteByte('\t')
		case 'r':
			b.WriteByte('\r')
		case '\\':
			b.WriteByte('\\')
		case 'x':
			if n, err := strconv.ParseUint(s[i+1:min(len(s), i+3)], 16, 8); err == nil && i+2 < len(s) {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
			b.WriteString(`\x`)
		default:
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String()
}
