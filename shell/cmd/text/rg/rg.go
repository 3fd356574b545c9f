// Package rg is rg: a search that knows what of a tree is worth searching.
package rg

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// Exit statuses.
const (
	exitFound   = 0
	exitNone    = 1
	exitTrouble = 2
)

// usage is what follows some mistakes in the options.
const usage = `USAGE:
    
    rg [OPTIONS] PATTERN [PATH ...]
    rg [OPTIONS] -e PATTERN ... [PATH ...]
    rg [OPTIONS] -f PATTERNFILE ... [PATH ...]
    rg [OPTIONS] --files [PATH ...]
    rg [OPTIONS] --type-list
    command | rg [OPTIONS] PATTERN
    rg [OPTIONS] --help
    rg [OPTIONS] --version

For more information try --help
`

// sortKey is the order in which files are searched.
type sortKey uint8

const (
	sortPath sortKey = iota // what one gets without asking for an order, too
	sortModified
	sortAccessed
	sortCreated
)

// globArg is an argument of -g or --iglob.
type globArg struct {
	pattern string
	fold    bool
}

// typeArg is an argument of -t or -T.
type typeArg struct {
	name string
	not  bool
}

// Which output was asked for instead of lines.
const (
	listNone = iota
	listMatching
	listOthers
	listCount
	listCountMatches
)

// settings is what the options ask for.
type settings struct {
	patterns    []string
	files       bool // --files
	fixed       bool
	fold        bool
	smart       bool
	word        bool
	line        bool
	invert      bool
	multiline   bool
	dotAll      bool
	perl        bool
	noUnicode   bool
	crlf        bool
	nullData    bool
	numbers     bool
	columns     bool
	offsets     bool
	vimgrep     bool
	heading     bool
	names       int // 1 always, -1 never, 0 as the operands say
	nullName    bool
	only        bool
	replace     *string
	list        int
	includeZero bool
	quiet       bool
	passthru    bool
	max         int64 // < 0: no limit
	before      int
	after       int
	context     bool // -A, -B or -C was given
	separator   *string
	noSeparator bool
	matchSep    string
	contextSep  string
	pathSep     string
	maxColumns  int
	preview     bool
	trim        bool
	color       bool
	stats       bool
	json        bool
	text        bool
	binary      bool
	encoding    string
	flush       bool

	hidden           bool
	noIgnore         bool
	noIgnoreDot      bool
	noIgnoreVCS      bool
	noIgnoreExclude  bool
	noIgnoreGlobal   bool
	noIgnoreParent   bool
	noIgnoreFiles    bool
	noIgnoreMessages bool
	noRequireGit     bool
	ignoreFold       bool
	ignoreFiles      []string
	noMessages       bool
	follow           bool
	maxDepth         int   // < 0: no limit
	maxSize          int64 // < 0: no limit
	globs            []globArg
	types            []typeArg
	typeTable        typeTable
	typeList         bool
	sortKey          sortKey
	sortReverse      bool
	sorted           bool // --sort or --sortr was given
	implicit         bool // no operand: the working directory
}

func rg(ctx context.Context, c *command.Context, args []string) int {
	s := &settings{max: -1, maxDepth: -1, maxSize: -1, matchSep: ":", contextSep: "-", typeTable: newTypeTable()}
	operands, status, stop := readOptions(c, s, args)
	if stop {
		return status
	}
	if s.typeList {
		c.Stdout.WriteString(s.typeTable.list())
		return exitFound
	}
	if !s.files && s.patterns == nil {
		if len(operands) == 0 {
			fmt.Fprintf(c.Stderr, "error: The following required arguments were not provided:\n    <PATTERN>\n\n%s\n", usage)
			return exitTrouble
		}
		s.patterns, operands = operands[:1], operands[1:]
	}
	m, err := newMatcher(s)
	if err != nil {
		fmt.Fprintln(c.Stderr, err)
		return exitTrouble
	}
	if len(operands) == 0 {
		operands = []string{"."}
		s.implicit = true
		if !s.files && readable(c) {
			operands, s.implicit = []string{"-"}, false
		}
	}
	return newSearch(c, s, m).run(ctx, operands)
}

// readable tells whether standard input is something to search: a file or a
// pipe, not a terminal or /dev/null.
func readable(c *command.Context) bool {
	f, ok := c.Stdin.(vfs.File)
	if !ok {
		return c.Stdin != nil
	}
	a, err := f.Stat()
	if err != nil {
		return false
	}
	switch a.Mode & vfs.ModeTypeMask {
	case vfs.ModeRegular, vfs.ModeFIFO, vfs.ModeSocket:
		return true
	}
	return false
}

// run searches the operands.
func (s *search) run(ctx context.Context, operands []string) int {
	c, set := s.c, s.set
	w := &walker{c: c, set: set, visit: s.visit}
	if err := w.prepare(); err != nil {
		fmt.Fprintln(c.Stderr, err)
		return exitTrouble
	}
	s.fail = w.fail
	s.inPlace = s.allFiles(operands)
	s.showName = set.names > 0 || set.names == 0 && (len(operands) > 1 || set.vimgrep || s.isDir(operands[0]))
	defer s.close()
	err := s.walk(ctx, w, operands)
	switch {
	case ctx.Err() != nil:
		return exitTrouble
	case c.Stdout.Err() != nil:
		return exitTrouble
	}
	switch {
	case set.json:
		s.jsonSummary()
	case set.stats:
		s.printStats()
	}
	if s.visited == 0 && set.implicit && !set.noMessages && err == nil && !set.files {
		w.complain("No files were searched, which means ripgrep probably applied a filter you didn't expect.\nRunning with --debug will show why files are being skipped.")
	}
	switch {
	case s.found && (set.quiet || !w.failed):
		return exitFound
	case w.failed:
		return exitTrouble
	}
	return exitNone
}

// allFiles tells whether the operands are a few files, which the real one maps
// into memory: then the bytes of binary ones are searched as they are.
func (s *search) allFiles(operands []string) bool {
	const few = 10
	if len(operands) > few {
		return false
	}
	for _, name := range operands {
		a, err := s.c.FS.Stat(name)
		if name == "-" || err != nil || !a.IsRegular() {
			return false
		}
	}
	return true
}

func (s *search) isDir(name string) bool {
	a, err := s.c.FS.Stat(name)
	return name != "-" && err == nil && a.IsDir()
}

// walk visits the operands; in an order by time, when all files are known.
func (s *search) walk(ctx context.Context, w *walker, operands []string) error {
	var all []found
	if s.set.sortKey != sortPath {
		w.visit = func(_ context.Context, f found) error {
			if err := s.c.Memory.Grow(perFound); err != nil {
				return err
			}
			all = append(all, f)
			return nil
		}
		defer func() { s.c.Memory.Shrink(int64(len(all)) * perFound) }()
	}
	for _, name := range operands {
		var err error
		if name == "-" && !s.set.files {
			err = s.stdin(ctx)
		} else {
			err = w.operand(ctx, name)
		}
		if err != nil {
			return err
		}
	}
	slices.SortStableFunc(all, func(a, b found) int {
		if s.set.sortReverse {
			a, b = b, a
		}
		x, y := s.set.sortKey.of(&a.attr), s.set.sortKey.of(&b.attr)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	for _, f := range all {
		if err := s.visit(ctx, f); err != nil {
			return err
		}
	}
	return nil
}

// perFound is about what a file to be searched later takes.
const perFound = 300

// of is the time that the key speaks of.
func (k sortKey) of(a *vfs.Attr) int64 {
	switch k {
	case sortModified:
		return a.Mtime
	case sortAccessed:
		return a.Atime
	}
	return a.Btime
}

// parseSize reads a number of bytes with K, M or G.
func parseSize(s string) (int64, bool) {
	shift := 0
	switch {
	case strings.HasSuffix(s, "K"):
		shift = 10
	case strings.HasSuffix(s, "M"):
		shift = 20
	case strings.HasSuffix(s, "G"):
		shift = 30
	}
	if shift > 0 {
		s = s[:len(s)-1]
	}
	n, err := strconv.ParseInt(s, 10, 63-shift)
	if err != nil || n < 0 {
		return 0, false
	}
	return n << shift, true
}
