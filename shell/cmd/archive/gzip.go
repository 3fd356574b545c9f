package archive

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

var gzipDialect = dialect{
	filter: &gzipFilter, suffixes: []string{".gz", ".z", "-gz", "-z", "_z", ".Z", ".tgz", ".taz"}, renames: map[string]string{".tgz": ".tar", ".taz": ".tar"}, warning: 2, level: 6,
	words: map[string]string{
		"stdin":     "stdin",
		"guess":     "yes",
		"missing":   "gzip: %s: %s",
		"directory": "gzip: %s is a directory -- ignored",
		"special":   "gzip: %s is not a directory or a regular file - ignored",
		"links":     "gzip: %s has %d other link%s -- file ignored",
		"already":   "gzip: %s already has %s suffix -- unchanged",
		"unknown":   "gzip: %s: unknown suffix -- ignored",
		"exists":    "gzip: %s already exists;\tnot overwritten",
		"open":      "gzip: %s: %s", "read": "gzip: %s: %s", "write": "gzip: %s: %s",
		"format":  "\ngzip: %s: not in gzip format",
		"eof":     "\ngzip: %s: unexpected end of file",
		"corrupt": "\ngzip: %s: invalid compressed data--format violated",
		"report":  "%s:\t%5.1f%% -- replaced with %s", "report kept": "%s:\t%5.1f%% -- created %s", "report out": "%s:\t%5.1f%%", "report test": "%s:\t OK",
	},
}

var gzipOptions = []command.Option{
	{Short: 'a', Long: "ascii", Help: "(ignored)"},
	{Short: 'c', Long: "stdout", Help: "write on standard output, keep original files unchanged"},
	{Long: "to-stdout", ID: 'c'},
	{Short: 'd', Long: "decompress", Help: "decompress"},
	{Long: "uncompress", ID: 'd'},
	{Short: 'f', Long: "force", Help: "force overwrite of output file and compress links"},
	{Short: 'k', Long: "keep", Help: "keep (don't delete) input files"},
	{Short: 'l', Long: "list", Help: "list compressed file contents"},
	{Short: 'n', Long: "no-name", Help: "do not save or restore the original name and timestamp"},
	{Short: 'N', Long: "name", Help: "save or restore the original name and timestamp"},
	{Short: 'q', Long: "quiet", Help: "suppress all warnings"},
	{Short: 'r', Long: "recursive", Help: "operate recursively on directories"},
	{Long: "rsyncable", ID: 'a', Help: "(ignored)"},
	{Short: 'S', Long: "suffix", Arg: command.RequiredArgument, ArgName: "SUF", Help: "use suffix SUF on compressed files"},
	{Long: "synchronous", ID: 'a', Help: "(ignored)"},
	{Short: 't', Long: "test", Help: "test compressed file integrity"},
	{Short: 'v', Long: "verbose", Help: "verbose mode"},
	{Short: '1', Long: "fast", Help: "compress faster"},
	{Short: '2'}, {Short: '3'}, {Short: '4'}, {Short: '5'}, {Short: '6'}, {Short: '7'}, {Short: '8'},
	{Short: '9', Long: "best", Help: "compress better"},
}

func init() {
	for _, name := range []string{"gzip", "gunzip", "zcat", "uncompress"} {
		command.Register(command.Info{Name: name, Synopsis: name + " [OPTION]... [FILE]...", Options: gzipOptions,
			UsageHint: "Try `gzip --help' for more information.",
			Summary:   "Compress or uncompress FILEs (by default, compress FILES in-place)."}, gzipCommand)
	}
}

func gzipCommand(ctx context.Context, c *command.Context, args []string) int {
	s := squeezer{c: c, ctx: ctx, dialect: &gzipDialect}
	switch c.Command.Name {
	case "gunzip", "uncompress":
		s.expand = true
	case "zcat":
		s.expand, s.stdout = true, true
	}
	names, status, ok := s.parse(args)
	if !ok {
		return status
	}
	if !s.list {
		return s.run(names)
	}
	s.expand = true
	status = s.run(names)
	if s.listed[0] > 1 {
		fmt.Fprintf(c.Stdout, "%19d %19d %s%% (totals)\n", s.listed[1], s.listed[2], gzipRatio(s.listed[2], s.listed[1]-gzipFrame))
	}
	return status
}

// gzipRatio is how much smaller than whole bytes of data have become.
func gzipRatio(whole, data int64) string {
	if whole == 0 {
		return "  0.0"
	}
	return fmt.Sprintf("%5.1f", 100*float64(whole-data)/float64(whole))
}

// parse takes the options that the families have in common.
func (s *squeezer) parse(args []string) ([]string, int, bool) {
	p := s.c.Options(args)
	for p.Next() {
		switch id := p.ID(); id {
		case 'c':
			s.stdout = true
		case 'd':
			s.expand = true
		case 'z':
			s.expand = false
		case 'f':
			s.force = true
		case 'k':
			s.keep = true
		case 'l':
			s.list = true
		case 'n':
			s.noName = true
		case 'q':
			s.quiet, s.verbose = true, false
		case 'r':
			s.recursive = true
		case 'S':
			if s.suffix = p.Arg(); s.suffix == "" {
				return nil, s.c.Errorf("invalid suffix '%s'", p.Arg()), false
			}
		case 't':
			s.test, s.expand = true, true
		case 'v':
			s.verbose, s.quiet = true, false
		default:
			if id >= '0' && id <= '9' {
				s.level = id - '0'
			}
		}
	}
	names, status, stop := p.End()
	return names, status, !stop
}

const (
	gzipListHead    = "         compressed        uncompressed  ratio uncompressed_name\n"
	gzipListVerbose = "method  crc     date  time  "
)

// listFile is gzip -l: the sizes, by what the file says at its end.
func (s *squeezer) listFile(name, target string, a *vfs.Attr) {
	if s.filter.name != "gzip" {
		s.listByReading(name, a)
		return
	}
	f, err := s.c.FS.Open(name)
	if err != nil {
		s.fail(1, "missing", name, command.Strerror(err))
		return
	}
	defer f.Close()
	head, tail := make([]byte, 2), make([]byte, 8)
	if _, err := io.ReadFull(f, head); err != nil || string(head) != gzipFilter.magic || a.Size < 18 {
		s.fail(1, "format", name)
		return
	}
	if _, err := f.ReadAt(tail, int64(a.Size)-8); err != nil && err != io.EOF {
		s.fail(1, "read", name, command.Strerror(err))
		return
	}
	size := binary.LittleEndian.Uint32(tail[4:])
	if target == "" {
		target = strings.TrimSuffix(name, ".gz")
	}
	out, lead := s.c.Stdout, ""
	if s.verbose {
		t := time.Unix(0, a.Mtime).In(tz.Of(s.c))
		lead = fmt.Sprintf("defla %08x %s ", binary.LittleEndian.Uint32(tail), gnulib.Strftime("%b %e %H:%M", t))
	}
	if s.listed[0] == 0 && !s.quiet {
		if s.verbose {
			out.WriteString(gzipListVerbose)
		}
		out.WriteString(gzipListHead)
	}
	s.listed[0]++
	s.listed[1] += int64(a.Size)
	s.listed[2] += int64(size)
	fmt.Fprintf(out, "%s%19d %19d %s%% %s\n", lead, a.Size, size, gzipRatio(int64(size), int64(a.Size)-gzipFrame-gzipNameLength(f)), target)
}

// gzipNameLength is how many bytes the name in the header takes.
func gzipNameLength(f io.ReaderAt) int64 {
	head := make([]byte, 512)
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF || n < 11 || head[3]&0x1c != 8 {
		return 0
	}
	return int64(bytes.IndexByte(head[10:n], 0) + 1)
}

// listByReading lists by expanding all of the file.
func (s *squeezer) listByReading(name string, a *vfs.Attr) {
	f, err := s.c.FS.Open(name)
	if err != nil {
		s.fail(1, "missing", name, command.Strerror(err))
		return
	}
	defer f.Close()
	in, out := &readTracker{r: withContext{s.ctx, f}}, &writeTracker{w: io.Discard}
	s.expand = true
	if err := s.convert(in, out); err != nil {
		s.convertFailed(name, in, out, err)
		return
	}
	ratio := "---"
	if out.n > 0 {
		ratio = fmt.Sprintf("%.3f", float64(in.n)/float64(out.n))
	}
	if s.filter.name == "zstd" {
		fmt.Fprintf(s.c.Stdout, "Frames  Skips  Compressed  Uncompressed  Ratio  Check  Filename\n     1      0  %8d B  %10d B  %5.3f  XXH64  %s\n", in.n, out.n, float64(out.n)/float64(max(in.n, 1)), name)
		return
	}
	fmt.Fprintf(s.c.Stdout, "Strms  Blocks   Compressed Uncompressed  Ratio  Check   Filename\n    1       1 %9d B  %9d B  %5s  CRC64   %s\n", in.n, out.n, ratio, name)
}
