// Package sort is sort.
//
// Lines are gathered up to a budget of memory, sorted, and when there are more,
// written to a file without a name as one run of many, which are merged at the
// end. So memory stays bounded whatever the size of the input.
package sort

import (
	"context"
	"errors"
	"io"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// exitTrouble is the status after any error; 1 says that -c found disorder.
const exitTrouble = 2

const (
	optSort = 256 + iota
	optCheck
	optBatchSize
	optCompress
	optDebug
	optFiles0From
	optParallel
	optRandomSource
)

func init() {
	command.Register(command.Info{
		Name:     "sort",
		Synopsis: "sort [OPTION]... [FILE]...\nsort [OPTION]... --files0-from=F",
		Summary: "Write sorted concatenation of all FILE(s) to standard output.\n\n" +
			"With no FILE, or when FILE is -, read standard input.",
		Options: []command.Option{
			{Short: 'b', Long: "ignore-leading-blanks", Help: "ignore leading blanks"},
			{Short: 'd', Long: "dictionary-order", Help: "consider only blanks and alphanumeric characters"},
			{Short: 'f', Long: "ignore-case", Help: "fold lower case to upper case characters"},
			{Short: 'g', Long: "general-numeric-sort", Help: "compare according to general numerical value"},
			{Short: 'i', Long: "ignore-nonprinting", Help: "consider only printable characters"},
			{Short: 'M', Long: "month-sort", Help: "compare (unknown) < 'JAN' < ... < 'DEC'"},
			{Short: 'h', Long: "human-numeric-sort", Help: "compare human readable numbers (e.g., 2K 1G)"},
			{Short: 'n', Long: "numeric-sort", Help: "compare according to string numerical value"},
			{Short: 'R', Long: "random-sort", Help: "shuffle, but group identical keys"},
			{Long: "random-source", Arg: command.RequiredArgument, ArgName: "FILE", ID: optRandomSource, Help: "get random bytes from FILE"},
			{Short: 'r', Long: "reverse", Help: "reverse the result of comparisons"},
			{Long: "sort", Arg: command.RequiredArgument, ArgName: "WORD", ID: optSort, Help: "sort according to WORD: general-numeric -g,\nhuman-numeric -h, month -M, numeric -n, random -R,\nversion -V"},
			{Short: 'V', Long: "version-sort", Help: "natural sort of (version) numbers within text"},
			{Long: "batch-size", Arg: command.RequiredArgument, ArgName: "NMERGE", ID: optBatchSize, Help: "merge at most NMERGE inputs at once"},
			{Short: 'c', Help: "check for sorted input; do not sort"},
			{Long: "check", Arg: command.OptionalArgument, ArgName: "quiet", ID: optCheck, Help: "like -c, or -C with an argument"},
			{Short: 'C', Help: "like -c, but do not report first bad line"},
			{Long: "compress-program", Arg: command.RequiredArgument, ArgName: "PROG", ID: optCompress, Help: "(ignored)"},
			{Long: "debug", ID: optDebug, Help: "(ignored)"},
			{Long: "files0-from", Arg: command.RequiredArgument, ArgName: "F", ID: optFiles0From, Help: "read input from the files specified by\nNUL-terminated names in file F"},
			{Short: 'k', Long: "key", Arg: command.RequiredArgument, ArgName: "KEYDEF", Help: "sort via a key; KEYDEF gives location and type"},
			{Short: 'm', Long: "merge", Help: "merge already sorted files; do not sort"},
			{Short: 'o', Long: "output", Arg: command.RequiredArgument, ArgName: "FILE", Help: "write result to FILE instead of standard output"},
			{Short: 's', Long: "stable", Help: "stabilize sort by disabling last-resort comparison"},
			{Short: 'S', Long: "buffer-size", Arg: command.RequiredArgument, ArgName: "SIZE", Help: "use SIZE for main memory buffer"},
			{Short: 't', Long: "field-separator", Arg: command.RequiredArgument, ArgName: "SEP", Help: "use SEP instead of non-blank to blank transition"},
			{Short: 'T', Long: "temporary-directory", Arg: command.RequiredArgument, ArgName: "DIR", Help: "use DIR for temporaries, not $TMPDIR or /tmp"},
			{Long: "parallel", Arg: command.RequiredArgument, ArgName: "N", ID: optParallel, Help: "(ignored)"},
			{Short: 'u', Long: "unique", Help: "output only the first of an equal run;\nwith -c, check for strict ordering"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
		},
		UsageStatus: exitTrouble,
		Notes:       "KEYDEF is F[.C][OPTS][,F[.C][OPTS]] for start and stop position, where F is a\nfield number and C a character position in the field.",
	}, sortCommand)
}

// settings is what the options ask for.
type settings struct {
	global  key // the ordering options outside of keys
	keys    []key
	tab     int // -1: fields start at blanks
	stable  bool
	unique  bool
	merge   bool
	check   byte // 'c', 'C' or 0
	output  string
	out     bool // -o was given
	delim   byte
	budget  int64
	tempDir string
	from    string
	hasFrom bool
}

// errReported and errArgument say that a mistake was reported; after the
// latter, an argument that is none of a few words, the status is 1.
var (
	errReported = errors.New("reported")
	errArgument = errors.New("argument")
)

func sortCommand(ctx context.Context, c *command.Context, args []string) int {
	s := &settings{tab: -1, delim: '\n'}
	p := c.Options(obsoleteKeys(args))
	for p.Next() {
		switch err := s.option(c, p); err {
		case nil:
		case errArgument:
			return 1
		default:
			return exitTrouble
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if err := s.finish(c, files); err != nil {
		return exitTrouble
	}
	if s.hasFrom {
		var err error
		if files, err = s.namedFiles(c, files); err != nil {
			return exitTrouble
		}
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	j := &job{c: c, s: s, order: newOrder(ctx, s)}
	if s.check != 0 {
		return j.check(ctx, files[0])
	}
	return j.run(ctx, files)
}

// option applies one option.
func (s *settings) option(c *command.Context, p *command.Parser) error {
	switch id := p.ID(); id {
	case 'b', 'd', 'f', 'g', 'i', 'M', 'h', 'n', 'R', 'r', 'V':
		s.global.set(byte(id), false)
		if id == 'b' {
			s.global.skipEnd = true
		}
	case optSort:
		v, ok := gnulib.MatchArg(c, "--sort", p.Arg(), []gnulib.Choice{{Word: "general-numeric", Value: 'g'}, {Word: "human-numeric", Value: 'h'}, {Word: "month", Value: 'M'}, {Word: "numeric", Value: 'n'}, {Word: "random", Value: 'R'}, {Word: "version", Value: 'V'}})
		if !ok {
			return errArgument
		}
		s.global.set(byte(v), false)
	case 'c', 'C', optCheck:
		return s.setCheck(c, p)
	case 'k':
		k, err := parseKey(c, p.Arg())
		if err != nil {
			return err
		}
		s.keys = append(s.keys, k)
	case 'm':
		s.merge = true
	case 'o':
		if s.out && s.output != p.Arg() {
			c.Errorf("multiple output files specified")
			return errReported
		}
		s.output, s.out = p.Arg(), true
	case 's':
		s.stable = true
	case 't':
		return s.setTab(c, p.Arg())
	case 'T':
		s.tempDir = p.Arg()
	case 'u':
		s.unique = true
	case 'z':
		s.delim = 0
	case optFiles0From:
		s.from, s.hasFrom = p.Arg(), true
	case 'S', optBatchSize, optParallel:
		return s.size(c, p)
	}
	return nil
}

func (s *settings) setCheck(c *command.Context, p *command.Parser) error {
	kind := 'c'
	switch {
	case p.ID() == 'C':
		kind = 'C'
	case p.HasArg():
		v, ok := gnulib.MatchArg(c, "--check", p.Arg(), []gnulib.Choice{{Word: "quiet", Value: 'C'}, {Word: "silent", Value: 'C'}, {Word: "diagnose-first", Value: 'c'}})
		if !ok {
			return errArgument
		}
		kind = rune(v)
	}
	if s.check != 0 && s.check != byte(kind) {
		c.Errorf("options '-cC' are incompatible")
		return errReported
	}
	s.check = byte(kind)
	return nil
}

func (s *settings) setTab(c *command.Context, arg string) error {
	switch {
	case arg == "":
		c.Errorf("empty tab")
		return errReported
	case len(arg) > 1 && arg != `\0`:
		c.Errorf("multi-character tab %s", c.Quote(arg))
		return errReported
	}
	tab := int(arg[0])
	if arg == `\0` {
		tab = 0
	}
	if s.tab >= 0 && s.tab != tab {
		c.Errorf("incompatible tabs")
		return errReported
	}
	s.tab = tab
	return nil
}

// size checks the options that say how much to use of something.
func (s *settings) size(c *command.Context, p *command.Parser) error {
	arg := p.Arg()
	switch p.ID() {
	case 'S':
		n, err := gnulib.ParseSize(strings.TrimSuffix(arg, "%"), "EgGkKmMPtTYZb")
		if err != nil && !errors.Is(err, syscall.EOVERFLOW) {
			c.Errorf("invalid -S argument '%s'", arg)
			return errReported
		}
		if !strings.ContainsAny(arg, "bkKmMgGtTPEZY%") {
			n *= 1024
		}
		if !strings.HasSuffix(arg, "%") {
			s.budget = int64(min(n, 1<<40))
		}
	case optBatchSize:
		n, err := gnulib.ParseSize(arg, "")
		if err != nil || n < 2 {
			if err != nil {
				c.Errorf("invalid --batch-size argument '%s'", arg)
			} else {
				c.Errorf("invalid --batch-size argument %s", c.Quote(arg))
				c.Errorf("minimum --batch-size argument is %s", c.Quote("2"))
			}
			return errReported
		}
	case optParallel:
		n, err := gnulib.ParseSize(arg, "")
		if err != nil {
			c.Errorf("invalid --parallel argument '%s'", arg)
			return errReported
		}
		if n == 0 {
			c.Errorf("number in parallel must be nonzero")
			return errReported
		}
	}
	return nil
}

// finish settles what depends on several options.
func (s *settings) finish(c *command.Context, files []string) error {
	for i := range s.keys {
		s.keys[i].inherit(&s.global)
	}
	if len(s.keys) == 0 && !s.global.plain() {
		k := s.global
		k.skipEnd = false
		k.end = position{field: unlimited}
		s.keys = append(s.keys, k)
	}
	all := append([]key{s.global}, s.keys...)
	for i := range all {
		if bad := all[i].conflict(); bad != "" {
			c.Errorf("options '-%s' are incompatible", bad)
			return errReported
		}
	}
	if s.check != 0 && s.out {
		c.Errorf("options '-%co' are incompatible", s.check)
		return errReported
	}
	if s.check != 0 && len(files) > 1 {
		c.Errorf("extra operand %s not allowed with -%c", c.QuoteArg(files[1]), s.check)
		return errReported
	}
	return nil
}

// obsoleteKeys rewrites +POS1 [-POS2], counted from 0, to -k.
func obsoleteKeys(args []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return append(out, args[i:]...)
		}
		if i == 0 || len(a) < 2 || a[0] != '+' || a[1] < '0' || a[1] > '9' {
			out = append(out, a)
			if a == "-o" || a == "-k" || a == "-t" || a == "-T" || a == "-S" {
				if i++; i < len(args) {
					out = append(out, args[i])
				}
			}
			continue
		}
		spec, ok := fromZero(a[1:], true)
		if !ok {
			out = append(out, a)
			continue
		}
		if i+1 < len(args) && len(args[i+1]) > 1 && args[i+1][0] == '-' && args[i+1][1] >= '0' && args[i+1][1] <= '9' {
			if end, ok := fromZero(args[i+1][1:], false); ok {
				spec += "," + end
				i++
			}
		}
		out = append(out, "-k"+spec)
	}
	return out
}

// namedFiles reads the names of --files0-from.
func (s *settings) namedFiles(c *command.Context, operands []string) ([]string, error) {
	if len(operands) > 0 {
		c.Errorf("extra operand %s\nfile operands cannot be combined with --files0-from\nTry 'sort --help' for more information.", c.QuoteArg(operands[0]))
		return nil, errReported
	}
	f, err := c.Open(s.from)
	if err != nil {
		c.Errorf("open failed: %s: %s", c.QuoteName(s.from), command.Strerror(err))
		return nil, errReported
	}
	defer f.Close()
	r := lines.NewReader(f, c.Memory)
	r.Delim = 0
	defer r.Release()
	var names []string
	for n := 1; ; n++ {
		line, _, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			c.Errorf("cannot read file names from %s", c.QuoteArg(s.from))
			return nil, errReported
		}
		if len(line) == 0 {
			c.Errorf("%s:%d: invalid zero-length file name", c.QuoteName(s.from), n)
			return nil, errReported
		}
		names = append(names, string(line))
	}
	if len(names) == 0 {
		c.Errorf("no input from %s", c.QuoteArg(s.from))
		return nil, errReported
	}
	return names, nil
}

// job is one run of sort.
type job struct {
	c     *command.Context
	s     *settings
	order *order
}

// fail reports an error and returns the status.
func (j *job) fail(what, name string, err error) int {
	j.c.Errorf("%s: %s: %s", what, j.c.QuoteName(name), command.Strerror(err))
	return exitTrouble
}

// open opens an input; a mistake is reported.
func (j *job) open(name string) (io.ReadCloser, error) {
	f, err := j.c.Open(name)
	if err != nil {
		j.fail("cannot read", name, err)
		return nil, errReported
	}
	return f, nil
}

// check reports whether a file is sorted.
func (j *job) check(ctx context.Context, name string) int {
	f, err := j.c.Open(name)
	if err != nil {
		return j.fail("open failed", name, err)
	}
	defer f.Close()
	r := lines.NewReader(f, j.c.Memory)
	r.Delim = j.s.delim
	defer r.Release()
	var last []byte
	for n := 1; ; n++ {
		text, _, err := r.Next()
		if err == io.EOF {
			return 0
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return j.fail("read failed", name, err)
		}
		if n > 1 {
			d := j.order.compare(j.order.line(last), j.order.line(text))
			if d > 0 || d == 0 && j.s.unique {
				if j.s.check == 'c' {
					j.c.Errorf("%s:%d: disorder: %s", j.c.QuoteName(name), n, text)
				}
				return 1
			}
		}
		last = append(last[:0], text...)
	}
}

// openOutput returns where the result goes; close reports its errors.
func (j *job) openOutput() (out *command.Writer, closeOutput func() int, err error) {
	if !j.s.out {
		return j.c.Stdout, func() int { return 0 }, nil
	}
	f, err := j.c.FS.OpenFile(j.s.output, syscall.O_WRONLY|syscall.O_CREAT, 0o666)
	if err == nil {
		err = truncate(f)
	}
	if err != nil {
		j.fail("open failed", j.s.output, err)
		return nil, nil, errReported
	}
	out = command.NewWriter(f)
	return out, func() int {
		err := out.Flush()
		if cerr := f.Close(); err == nil {
			err = cerr
		}
		if err != nil {
			return j.fail("write failed", j.s.output, err)
		}
		return 0
	}, nil
}

// truncate empties a regular file; others are written as they are.
func truncate(f vfs.File) error {
	a, err := f.Stat()
	if err != nil || !a.IsRegular() {
		return err
	}
	return f.Truncate(0)
}
