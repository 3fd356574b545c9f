package files

import (
	"context"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const (
	statPrintf = 256 + iota
	statCached
)

func init() {
	command.Register(command.Info{
		Name:     "stat",
		Synopsis: "stat [OPTION]... FILE...",
		Summary:  "Display file or file system status.",
		Options: []command.Option{
			{Short: 'L', Long: "dereference", Help: "follow links"},
			{Short: 'f', Long: "file-system", Help: "display file system status instead of file status"},
			{Long: "cached", Arg: command.RequiredArgument, ArgName: "MODE", ID: statCached, Help: "(ignored)"},
			{Short: 'c', Long: "format", Arg: command.RequiredArgument, ArgName: "FORMAT", Help: "use the specified FORMAT instead of the default;\noutput a newline after each use of FORMAT"},
			{Long: "printf", Arg: command.RequiredArgument, ArgName: "FORMAT", ID: statPrintf, Help: "like --format, but interpret backslash escapes,\nand do not output a mandatory trailing newline"},
			{Short: 't', Long: "terse", Help: "print the information in terse form"},
		},
		Notes: "The valid format sequences for files (without --file-system):\n\n" +
			"  %a %A   permission bits in octal, in letters    %m      mount point\n" +
			"  %b %B   blocks, and the size of each            %n %N   name; quoted, with the target of a symlink\n" +
			"  %d %D   device number in decimal, in hex        %o      optimal I/O transfer size hint\n" +
			"  %f %F   raw mode in hex, file type              %s      total size, in bytes\n" +
			"  %g %G   group ID, name                          %t %T   major and minor device type in hex\n" +
			"  %h %i   hard links, inode number                %u %U   user ID, name\n" +
			"  %w %x %y %z  time of birth, access, modification, change; in capitals: seconds since Epoch\n\n" +
			"for file systems: %a %b %c %d %f %i %l %n %s %S %t %T",
	}, stat)
}

// The layouts of stat without --format.
const (
	statFile = "  File: %N\n  Size: %-10s\tBlocks: %-10b IO Block: %-6o %F\n" +
		"Device: %Hd,%Ld\tInode: %-11i Links: "
	statRest = "\nAccess: (%04a/%10.10A)  Uid: (%5u/%8U)   Gid: (%5g/%8G)\n" +
		"Access: %x\nModify: %y\nChange: %z\n Birth: %w\n"
	statTerse   = "%n %s %b %f %u %g %D %i %h %t %T %X %Y %Z %W %o\n"
	statFS      = "  File: \"%n\"\n    ID: %-8i Namelen: %-7l Type: %T\n" + "Block size: %-10s Fundamental block size: %S\n" + "Blocks: Total: %-10b Free: %-10f Available: %a\n" + "Inodes: Total: %-10c Free: %d\n"
	statFSTerse = "%n %i %l %t %s %S %b %f %a %c %d\n"
)

// statter is what a stat is to print.
type statter struct {
	c         *command.Context
	format    string
	hasFormat bool
	escapes   bool
	terse, fs bool
	deref     bool
}

func stat(ctx context.Context, c *command.Context, args []string) int {
	s := statter{c: c}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'L':
			s.deref = true
		case 'f':
			s.fs = true
		case 'c':
			s.format, s.hasFormat, s.escapes = p.Arg()+"\n", true, false
		case statPrintf:
			s.format, s.hasFormat, s.escapes = p.Arg(), true, true
		case 't':
			s.terse = true
		}
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		return c.MissingOperand("")
	}
	for _, name := range names {
		if s.fs {
			status = max(status, s.printFS(name))
		} else {
			status = max(status, s.printFile(name))
		}
	}
	return status
}

func (s *statter) printFile(name string) int {
	var a vfs.Attr
	var err error
	switch {
	case name == "-":
		a, err = s.stdin()
	case s.deref:
		a, err = s.c.FS.Stat(name)
	default:
		a, err = s.c.FS.Lstat(name)
	}
	if err != nil {
		if name == "-" {
			return s.c.Errorf("cannot stat standard input: %s", command.Strerror(err))
		}
		return s.c.Errorf("cannot statx %s: %s", s.c.QuoteArg(name), command.Strerror(err))
	}
	presentable(&a)
	format := s.format
	switch {
	case s.hasFormat:
	case s.terse:
		format = statTerse
	default:
		format = statFile + "%h" + statRest
		if t := a.Mode & vfs.ModeTypeMask; t == vfs.ModeChar || t == vfs.ModeBlock {
			format = statFile + "%-5h Device type: %Hr,%Lr" + statRest
		}
	}
	d := statDirective{c: s.c, loc: tz.Of(s.c), name: name, attr: &a, link: !s.deref, quote: s.c.QuoteArg}
	if !s.hasFormat {
		d.quote = s.c.QuoteName
	}
	return max(s.expand(format, d.value), d.status)
}

// stdin is what fstat(0) says: a pipe when it is no file of the workspace.
func (s *statter) stdin() (vfs.Attr, error) {
	if f, ok := s.c.Stdin.(vfs.File); ok {
		return f.Stat()
	}
	return vfs.Attr{Mode: vfs.ModeFIFO | 0o600, Nlink: 1}, nil
}

func (s *statter) printFS(name string) int {
	if name == "-" {
		return s.c.Errorf("using %s to denote standard input does not work in file system mode", s.c.QuoteArg(name))
	}
	if _, err := s.c.FS.Stat(name); err != nil {
		return s.c.Errorf("cannot read file system information for %s: %s", s.c.QuoteArg(name), command.Strerror(err))
	}
	st, err := s.c.FS.FS.Statfs(&s.c.FS.Op)
	if err != nil {
		return s.c.Errorf("cannot read file system information for %s: %s", s.c.QuoteArg(name), command.Strerror(err))
	}
	format := s.format
	switch {
	case s.hasFormat:
	case s.terse:
		format = statFSTerse
	default:
		format = statFS
	}
	return s.expand(format, func(d byte, mod byte, prec int) (statValue, bool) { return fsValue(name, &st, d) })
}

// expand writes a format; value gives what a directive stands for.
func (s *statter) expand(format string, value func(d, mod byte, prec int) (statValue, bool)) int {
	out := s.c.Stdout
	for i := 0; i < len(format); i++ {
		switch {
		case format[i] == '%':
			n, status := s.directive(format[i:], value)
			if status != 0 {
				return status
			}
			i += n - 1
		case format[i] == '\\' && s.escapes:
			text, n := s.escape(format[i:])
			out.WriteString(text)
			i += n - 1
		default:
			out.WriteByte(format[i])
		}
	}
	return 0
}

// escape reads a backslash escape of --printf.
func (s *statter) escape(f string) (string, int) {
	if len(f) == 1 {
		s.c.Errorf("warning: backslash at end of format")
		return "\\", 1
	}
	if i := strings.IndexByte("abefnrtv\"\\", f[1]); i >= 0 {
		return "\a\b\x1b\f\n\r\t\v\"\\"[i : i+1], 2
	}
	n, v := 1, 0
	switch {
	case f[1] >= '0' && f[1] <= '7':
		for n < 4 && n < len(f) && f[n] >= '0' && f[n] <= '7' {
			v = v*8 + int(f[n]-'0')
			n++
		}
		return string([]byte{byte(v)}), n
	case f[1] == 'x' && len(f) > 2 && hexDigit(f[2]) >= 0:
		for n = 2; n < 4 && n < len(f) && hexDigit(f[n]) >= 0; n++ {
			v = v*16 + hexDigit(f[n])
		}
		return string([]byte{byte(v)}), n
	}
	s.c.Errorf("warning: unrecognized escape '\\%c'", f[1])
	return f[1:2], 2
}

func hexDigit(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b|0x20 >= 'a' && b|0x20 <= 'f':
		return int(b|0x20-'a') + 10
	}
	return -1
}

// directive writes the directive that f starts with and returns its length.
func (s *statter) directive(f string, value func(d, mod byte, prec int) (statValue, bool)) (int, int) {
	i := 1
	for i < len(f) && strings.IndexByte("'-+ #0I", f[i]) >= 0 {
		i++
	}
	flags := f[1:i]
	width, prec := 0, -1
	for i < len(f) && f[i] >= '0' && f[i] <= '9' {
		width = min(width*10+int(f[i]-'0'), 1<<16)
		i++
	}
	if i < len(f) && f[i] == '.' {
		prec = 0
		start := i
		for i++; i < len(f) && f[i] >= '0' && f[i] <= '9'; i++ {
			prec = min(prec*10+int(f[i]-'0'), 1<<16)
		}
		if i == start+1 {
			prec = 9
		}
	}
	var mod byte
	if i+1 < len(f) && (f[i] == 'H' || f[i] == 'L') && (f[i+1] == 'd' || f[i+1] == 'r') {
		mod = f[i]
		i++
	}
	if i >= len(f) || f[i] == '\n' && i == len(f)-1 {
		if i > 1 {
			return 0, s.c.Errorf("%s: invalid directive", s.c.Quote(f[:min(i, len(f))]))
		}
		s.c.Stdout.WriteByte('%')
		return 1, 0
	}
	if f[i] == '%' {
		if i > 1 {
			return 0, s.c.Errorf("%s: invalid directive", s.c.Quote(f[:i+1]))
		}
		s.c.Stdout.WriteByte('%')
		return 2, 0
	}
	v, ok := value(f[i], mod, prec)
	if !ok {
		s.c.Stdout.WriteByte('?')
		return i + 1, 0
	}
	s.c.Stdout.WriteString(v.format(flags, width, prec))
	return i + 1, 0
}
