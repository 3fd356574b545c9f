package files

import (
	"bufio"
	"context"
	"fmt"
	"math"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const (
	splitFilter = 256 + iota
	splitVerbose
	splitAdditional
	splitNumeric
	splitHex
)

func init() {
	command.Register(command.Info{
		Name:     "split",
		Synopsis: "split [OPTION]... [FILE [PREFIX]]",
		Summary:  "Output pieces of FILE to PREFIXaa, PREFIXab, ...;\ndefault size is 1000 lines, and default PREFIX is 'x'.",
		Options: []command.Option{
			{Short: 'a', Long: "suffix-length", Arg: command.RequiredArgument, ArgName: "N", Help: "generate suffixes of length N (default 2)"},
			{Long: "additional-suffix", Arg: command.RequiredArgument, ArgName: "SUFFIX", ID: splitAdditional, Help: "append an additional SUFFIX to file names"},
			{Short: 'b', Long: "bytes", Arg: command.RequiredArgument, ArgName: "SIZE", Help: "put SIZE bytes per output file"},
			{Short: 'C', Long: "line-bytes", Arg: command.RequiredArgument, ArgName: "SIZE", Help: "put at most SIZE bytes of records per output file"},
			{Short: 'd', Help: "use numeric suffixes starting at 0, not alphabetic"},
			{Long: "numeric-suffixes", Arg: command.OptionalArgument, ArgName: "FROM", ID: splitNumeric, Help: "same as -d, but allow setting the start value"},
			{Short: 'x', Help: "use hex suffixes starting at 0, not alphabetic"},
			{Long: "hex-suffixes", Arg: command.OptionalArgument, ArgName: "FROM", ID: splitHex, Help: "same as -x, but allow setting the start value"},
			{Short: 'e', Long: "elide-empty-files", Help: "do not generate empty output files with '-n'"},
			{Long: "filter", Arg: command.RequiredArgument, ArgName: "COMMAND", ID: splitFilter, Help: "write to shell COMMAND; file name is $FILE"},
			{Short: 'l', Long: "lines", Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "put NUMBER lines/records per output file"},
			{Short: 'n', Long: "number", Arg: command.RequiredArgument, ArgName: "CHUNKS", Help: "generate CHUNKS output files: N, K/N, l/N, l/K/N, r/N, r/K/N"},
			{Short: 't', Long: "separator", Arg: command.RequiredArgument, ArgName: "SEP", Help: "use SEP instead of newline as the record separator"},
			{Short: 'u', Long: "unbuffered", Help: "(ignored)"},
			{Long: "verbose", ID: splitVerbose, Help: "print a diagnostic just before each output file is opened"},
		},
	}, split)
}

// splitter is one run of split.
type splitter struct {
	c   *command.Context
	ctx context.Context

	kind       byte // 'l', 'b', 'C', 'n', or 0
	size       int64
	part       string // of -n: "", "l", "r"
	only       int64  // K of K/N
	elide      bool
	sep        byte
	suffixLen  int
	autoLen    bool
	digits     string
	start      string
	additional string
	prefix     string
	filter     string
	verbose    bool

	index   []int // of the next file's suffix
	grown   string
	out     vfs.File
	w       *bufio.Writer
	pipe    *splitPipe
	current string
}

func split(ctx context.Context, c *command.Context, args []string) int {
	s := splitter{c: c, ctx: ctx, sep: '\n', suffixLen: 2, autoLen: true, digits: "abcdefghijklmnopqrstuvwxyz", prefix: "x"}
	args = oldLines(args)
	p := c.Options(args)
	for p.Next() {
		if status, ok := s.option(p); !ok {
			return status
		}
	}
	names, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(names) > 2:
		return c.ExtraOperand(names[2])
	case len(names) == 2:
		s.prefix = names[1]
	}
	if s.kind == 0 {
		s.kind, s.size = 'l', 1000
	}
	if status, ok := s.suffixes(); !ok {
		return status
	}
	name := "-"
	if len(names) > 0 {
		name = names[0]
	}
	in, err := c.Open(name)
	if err != nil {
		return c.Errorf("cannot open %s for reading: %s", c.QuoteArg(name), command.Strerror(err))
	}
	defer in.Close()
	return s.run(in, name)
}

// oldLines turns -N into -l N.
func oldLines(args []string) []string {
	out := make([]string, 0, len(args))
	for i, a := range args {
		if i > 0 && len(a) > 1 && a[0] == '-' && strings.Trim(a[1:], "0123456789") == "" {
			a = "-l" + a[1:]
		}
		out = append(out, a)
	}
	return out
}

func (s *splitter) option(p *command.Parser) (int, bool) {
	c := s.c
	switch p.ID() {
	case 'a':
		n, err := gnulib.ParseSize(p.Arg(), "")
		if err != nil || n > 100 {
			return c.Errorf("invalid suffix length: %s", c.Quote(p.Arg())), false
		}
		s.suffixLen, s.autoLen = int(n), n == 0
		if n == 0 {
			s.suffixLen = 2
		}
	case 'b', 'C', 'l':
		if s.kind != 0 {
			return c.Usage("cannot split in more than one way"), false
		}
		what := map[int]string{'b': "bytes", 'C': "bytes", 'l': "lines"}[p.ID()]
		n, err := gnulib.ParseSize(p.Arg(), "bEGKkMmPTYZ0")
		if err == gnulib.SizeOverflow {
			n, err = math.MaxInt64, nil
		}
		if err == nil && n == 0 {
			return c.Errorf("invalid number of %s: %s: %s", what, c.Quote(p.Arg()), command.Strerror(syscall.ERANGE)), false
		}
		if err != nil {
			return c.Errorf("invalid number of %s: %s", what, c.Quote(p.Arg())), false
		}
		s.kind, s.size = byte(p.ID()), int64(min(n, math.MaxInt64))
	case 'n':
		if s.kind != 0 {
			return c.Usage("cannot split in more than one way"), false
		}
		s.kind = 'n'
		return s.chunks(p.Arg())
	case 'd', 'x', splitNumeric, splitHex:
		s.digits = "0123456789"
		if p.ID() == 'x' || p.ID() == splitHex {
			s.digits = "0123456789abcdef"
		}
		if p.HasArg() {
			if strings.Trim(p.Arg(), s.digits) != "" {
				return c.Usage("%s: invalid start value for %s suffix", c.QuoteName(p.Arg()), map[bool]string{true: "hexadecimal", false: "numerical"}[p.ID() == splitHex]), false
			}
			s.start = p.Arg()
		}
	case 'e':
		s.elide = true
	case 't':
		if p.Arg() == `\0` {
			s.sep = 0
			break
		}
		if len(p.Arg()) != 1 {
			if p.Arg() == "" {
				return c.Errorf("empty record separator"), false
			}
			return c.Errorf("multi-character separator %s", c.Quote(p.Arg())), false
		}
		s.sep = p.Arg()[0]
	case splitFilter:
		s.filter = p.Arg()
	case splitVerbose:
		s.verbose = true
	case splitAdditional:
		if strings.Contains(p.Arg(), "/") {
			return c.Usage("invalid suffix %s, contains directory separator", c.Quote(p.Arg())), false
		}
		s.additional = p.Arg()
	}
	return 0, true
}

// chunks reads the argument of -n.
func (s *splitter) chunks(arg string) (int, bool) {
	rest := arg
	for _, kind := range []string{"l", "r"} {
		if after, ok := strings.CutPrefix(rest, kind+"/"); ok {
			s.part, rest = kind, after
			break
		}
	}
	n := rest
	if k, after, ok := strings.Cut(rest, "/"); ok {
		v, err := gnulib.ParseSize(k, "")
		if err != nil || v == 0 {
			return s.c.Errorf("invalid chunk number: %s", s.c.Quote(k)), false
		}
		s.only, n = int64(min(v, math.MaxInt64)), after
	}
	v, err := gnulib.ParseSize(n, "")
	if err != nil || v == 0 || v > math.MaxInt64 {
		if err != nil {
			return s.c.Errorf("invalid number of chunks: %s", s.c.Quote(n)), false
		}
		return s.c.Errorf("invalid number of chunks: %s: %s", s.c.Quote(n), command.Strerror(syscall.ERANGE)), false
	}
	s.size = int64(v)
	if s.only > s.size {
		return s.c.Errorf("invalid chunk number: %s: %s", s.c.Quote(fmt.Sprint(s.only)), command.Strerror(syscall.ERANGE)), false
	}
	return 0, true
}

// suffixes sets the first suffix and checks that there are enough of them.
func (s *splitter) suffixes() (int, bool) {
	base := int64(len(s.digits))
	first := int64(0)
	for _, d := range []byte(s.start) {
		first = min(first*base+int64(strings.IndexByte(s.digits, d)), 1<<40)
	}
	if s.kind == 'n' {
		end := s.size
		if s.start != "" && first < s.size {
			end += first
		}
		need, room := 0, int64(1)
		for ; room < end; need++ {
			room *= base
		}
		if s.autoLen {
			s.suffixLen = max(need, s.suffixLen)
			s.autoLen = false
		} else if s.suffixLen < need && s.only == 0 {
			return s.c.Errorf("the suffix length needs to be at least %d", need), false
		}
	}
	if s.start != "" {
		if len(s.start) > s.suffixLen {
			if !s.autoLen {
				return s.c.Errorf("numerical suffix start value is too large for the suffix length"), false
			}
			s.suffixLen = len(s.start)
		}
		s.autoLen = false
	}
	s.index = make([]int, s.suffixLen)
	for i := len(s.index) - 1; i >= 0; i-- {
		s.index[i] = int(first % base)
		first /= base
	}
	return 0, true
}

// nextName is the name of the next file; false when all are used up.
func (s *splitter) nextName() (string, bool) {
	if s.index == nil {
		return "", false
	}
	var b strings.Builder
	b.WriteString(s.prefix + s.grown)
	for _, d := range s.index {
		b.WriteByte(s.digits[d])
	}
	b.WriteString(s.additional)
	s.advance()
	return b.String(), true
}

// advance counts the suffix up. One whose length is not fixed grows by two
// letters before its first digit has run through: xyz, xzaaa.
func (s *splitter) advance() {
	last := len(s.digits) - 1
	i := len(s.index) - 1
	for ; i >= 0; i-- {
		if s.index[i]++; s.index[i] <= last {
			break
		}
		s.index[i] = 0
	}
	if i < 0 {
		s.index = nil
		return
	}
	if s.autoLen && i == 0 && s.index[0] == last {
		s.grown += string(s.digits[last])
		s.index = make([]int, len(s.index)+1)
	}
}

func (s *splitter) fail(path string, err error) int {
	return s.c.Fail(path, err)
}
