package archive

import (
	"context"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

var bzip2Dialect = dialect{
	filter: &bzip2Filter, suffixes: []string{".bz2", ".bz", ".tbz2", ".tbz"}, renames: map[string]string{".tbz2": ".tar", ".tbz": ".tar"}, warning: 1, level: 9, damaged: 2,
	words: map[string]string{
		"stdin":     "(stdin)",
		"missing":   "PROG: Can't open input file %s: %s.",
		"directory": "PROG: Input file %s is a directory.",
		"special":   "PROG: Input file %s is not a normal file.",
		"links":     "PROG: Input file %s has %d other link%s.",
		"already":   "PROG: Input file %s already has %s suffix.",
		"out":       "PROG: Can't guess original name for %s -- using %s.out",
		"exists":    "PROG: Output file %s already exists.",
		"open":      "PROG: Can't create output file %s: %s.", "read": "PROG: I/O or other error, bailing out.  Possible reason follows.\nPROG: %[2]s", "write": "PROG: %s: %s",
		"format":  "PROG: %s is not a bzip2 file.",
		"eof":     "\nPROG: Compressed file ends unexpectedly;\n\tperhaps it is corrupted?  *Possible* reason follows.\nPROG: Inappropriate ioctl for device\n\tInput file = %s, output file = (stdout)",
		"corrupt": "\nPROG: Data integrity error when decompressing.\n\tInput file = %s, output file = (stdout)",
	},
}

var xzDialect = dialect{
	filter: &xzFilter, suffixes: []string{".xz", ".lzma", ".txz", ".tlz"}, renames: map[string]string{".txz": ".tar", ".tlz": ".tar"}, warning: 2, level: 6,
	words: map[string]string{
		"stdin":     "(stdin)",
		"missing":   "PROG: %s: %s",
		"directory": "PROG: %s: Is a directory, skipping",
		"special":   "PROG: %s: Not a regular file, skipping",
		"links":     "PROG: %s: Input file has more than one hard link, skipping%.0d%.0s",
		"already":   "PROG: %s: File already has `%s' suffix, skipping",
		"unknown":   "PROG: %s: Filename has an unknown suffix, skipping",
		"exists":    "PROG: %s: File exists",
		"open":      "PROG: %s: %s", "read": "PROG: %s: Read error: %s", "write": "PROG: %s: Write error: %s",
		"format":     "PROG: %s: File format not recognized",
		"eof":        "PROG: %s: Unexpected end of input",
		"corrupt":    "PROG: %s: Compressed data is corrupt",
		"list stdin": "PROG: --list does not support reading from standard input",
	},
}

var zstdDialect = dialect{
	filter: &zstdFilter, suffixes: []string{".zst", ".zstd", ".tzst"}, renames: map[string]string{".tzst": ".tar"}, warning: 1, level: 3, keeps: true,
	words: map[string]string{
		"stdin":     "/*stdin*\\",
		"missing":   "zstd: can't stat %s : %s -- ignored ",
		"directory": "zstd: %s is a directory -- ignored ",
		"special":   "zstd: %s is not a regular file -- ignored ",
		"unknown":   "zstd: %s: unknown suffix (.zst/.tzst expected). Can't derive the output file name. Specify it with -o dstFileName. Ignoring.",
		"exists":    "zstd: %s already exists; not overwritten  ",
		"open":      "zstd: %s: %s", "read": "zstd: %s: Read error (%s)", "write": "zstd: %s: %s",
		"format":   "zstd: %s: unsupported format ",
		"expanded": "%-20s: %d bytes ", "compressed": "%-21s:%6.2f%%   (%6s B => %6s B, %s) ",
		"eof":     "%s : Read error (39) : premature end ",
		"corrupt": "%s : Decoding error (36) : Corrupted block detected ",
	},
}

func init() {
	common := []command.Option{
		{Short: 'd', Long: "decompress", Help: "force decompression"}, {Long: "uncompress", ID: 'd'},
		{Short: 'z', Long: "compress", Help: "force compression"},
		{Short: 'k', Long: "keep", Help: "keep (don't delete) input files"},
		{Short: 'f', Long: "force", Help: "overwrite existing output files"},
		{Short: 't', Long: "test", Help: "test compressed file integrity"},
		{Short: 'c', Long: "stdout", Help: "output to standard out"}, {Long: "to-stdout", ID: 'c'},
		{Short: 'q', Long: "quiet", Help: "suppress noncritical error messages"},
		{Short: 'v', Long: "verbose", Help: "be verbose"},
		{Short: '1', Long: "fast", Help: "compress faster"},
		{Short: '2'}, {Short: '3'}, {Short: '4'}, {Short: '5'}, {Short: '6'}, {Short: '7'}, {Short: '8'},
		{Short: '9', Long: "best", Help: "compress better"},
	}
	bz := append(append([]command.Option{}, common...), command.Option{Short: 's', Long: "small", Help: "(ignored)"})
	register := func(names []string, options []command.Option, summary string, run command.Func) {
		for _, name := range names {
			command.Register(command.Info{Name: name, Synopsis: name + " [OPTION]... [FILE]...", Summary: summary, Options: options}, run)
		}
	}
	register([]string{"bzip2", "bunzip2", "bzcat"}, bz, "Compress or decompress FILEs in the .bz2 format.", bzip2Command)
	x := append(append([]command.Option{}, common...),
		command.Option{Short: 'l', Long: "list", Help: "list information about .xz files"},
		command.Option{Short: 'S', Long: "suffix", Arg: command.RequiredArgument, ArgName: "SUF", Help: "use the suffix SUF on compressed files"},
		command.Option{Short: 'F', Long: "format", Arg: command.RequiredArgument, ArgName: "FMT", ID: 300, Help: "file format to encode or decode: auto (default), xz, lzma"},
		command.Option{Short: 'T', Long: "threads", Arg: command.RequiredArgument, ArgName: "NUM", ID: 301, Help: "(ignored)"},
		command.Option{Short: 'e', Long: "extreme", Help: "(ignored)"}, command.Option{Short: '0'},
		command.Option{Short: 'C', Long: "check", Arg: command.RequiredArgument, ArgName: "CHECK", ID: 301, Help: "(ignored)"},
		command.Option{Short: 'M', Long: "memlimit", Arg: command.RequiredArgument, ArgName: "LIMIT", ID: 301, Help: "(ignored)"},
		command.Option{Short: 'Q', Long: "no-warn", ID: 301, Help: "(ignored)"})
	register([]string{"xz", "unxz", "xzcat", "lzma", "unlzma", "lzcat"}, x, "Compress or decompress FILEs in the .xz format.", xzCommand)
	z := append(append([]command.Option{}, common...),
		command.Option{Short: 'o', Arg: command.RequiredArgument, ArgName: "OUTPUT", ID: 302, Help: "write output to a single file, OUTPUT"},
		command.Option{Short: 'l', Long: "list", Help: "print information about Zstandard compressed files"},
		command.Option{Short: 'T', Long: "threads", Arg: command.RequiredArgument, ArgName: "NUM", ID: 301, Help: "(ignored)"},
		command.Option{Short: 'r', Long: "recursive", Help: "operate recursively on directories"},
		command.Option{Long: "rm", ID: 303, Help: "remove successfully de/compressed source files"},
		command.Option{Long: "ultra", ID: 301, Help: "(ignored)"}, command.Option{Long: "long", Arg: command.OptionalArgument, ID: 301, Help: "(ignored)"},
		command.Option{Long: "no-progress", ID: 301, Help: "(ignored)"}, command.Option{Long: "no-check", ID: 301, Help: "(ignored)"})
	register([]string{"zstd", "unzstd", "zstdcat"}, z, "Compress or decompress FILEs in the .zst format.", zstdCommand)
}

func bzip2Command(ctx context.Context, c *command.Context, args []string) int {
	s := squeezer{c: c, ctx: ctx, dialect: &bzip2Dialect}
	s.byName("bunzip2", "bzcat")
	names, status, ok := s.parse(args)
	if !ok {
		return status
	}
	if status := s.run(names); status != 0 {
		return status
	}
	return 0
}

// byName sets what the name of the command implies.
func (s *squeezer) byName(expand, cat string) {
	switch s.c.Command.Name {
	case expand:
		s.expand = true
	case cat:
		s.expand, s.stdout = true, true
	}
}

func xzCommand(ctx context.Context, c *command.Context, args []string) int {
	d := xzDialect
	s := squeezer{c: c, ctx: ctx, dialect: &d}
	s.byName("unxz", "xzcat")
	s.byName("unlzma", "lzcat")
	format := ""
	if name := c.Command.Name; name == "lzma" || name == "unlzma" || name == "lzcat" {
		format = "lzma"
	}
	args = takeOption(args, []string{"-F", "--format="}, &format)
	names, status, ok := s.parse(args)
	if !ok {
		return status
	}
	switch format {
	case "", "auto", "xz":
	case "lzma", "alone":
		if !s.expand {
			d.filter, d.suffixes = &lzmaFilter, []string{".lzma", ".tlz"}
		}
	default:
		return c.Errorf("%s: Unknown file format type", format)
	}
	if s.list {
		s.expand = true
	}
	return s.run(names)
}

// takeOption takes an option with an argument off the command line.
func takeOption(args, spellings []string, value *string) []string {
	out := args[:1:1]
	for i := 1; i < len(args); i++ {
		if args[i] == "--" {
			return append(out, args[i:]...)
		}
		if args[i] == spellings[0] && i+1 < len(args) {
			*value = args[i+1]
			i++
			continue
		}
		if v, ok := strings.CutPrefix(args[i], spellings[1]); ok {
			*value = v
			continue
		}
		out = append(out, args[i])
	}
	return out
}

func zstdCommand(ctx context.Context, c *command.Context, args []string) int {
	d := zstdDialect
	s := squeezer{c: c, ctx: ctx, dialect: &d}
	s.byName("unzstd", "zstdcat")
	if s.stdout {
		s.force = true
	}
	out := args[:1:1]
	level := 0
	for i := 1; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			out = append(out, args[i:]...)
			break
		}
		// Levels have two digits: -19, --fast=3.
		if len(a) > 1 && a[0] == '-' && strings.Trim(a[1:], "0123456789") == "" {
			level, _ = strconv.Atoi(a[1:])
			continue
		}
		if strings.HasPrefix(a, "--fast=") || strings.HasPrefix(a, "--memory=") {
			continue
		}
		if a == "--rm" {
			d.keeps = false
			continue
		}
		out = append(out, a)
	}
	out = takeOption(out, []string{"-o", "-o="}, &s.output)
	names, status, ok := s.parse(out)
	if !ok {
		return status
	}
	if level > 0 {
		s.level = level
	}
	return s.run(names)
}
