package archive

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

const (
	cpioNonMatching = 256 + iota
	cpioQuiet
	cpioOnlyVerify
	cpioNoAbsolute
	cpioToStdout
	cpioIgnored
	cpioIgnoredArg
	cpioNoPreserveOwner
)

func init() {
	command.Register(command.Info{
		Name:        "cpio",
		Synopsis:    "cpio -o [OPTION]... < name-list [> archive]\ncpio -i [OPTION]... [PATTERN]... [< archive]\ncpio -p [OPTION]... destination-directory < name-list",
		Summary:     "Copy files to and from archives.",
		UsageStatus: 2, UsageHint: "Try 'cpio --help' or 'cpio --usage' for more information.",
		Options: []command.Option{
			{Short: 'o', Long: "create", Help: "create the archive (run in copy-out mode)"},
			{Short: 'i', Long: "extract", Help: "extract files from an archive (run in copy-in mode)"},
			{Short: 'p', Long: "pass-through", Help: "run in copy-pass mode"},
			{Short: 't', Long: "list", Help: "print a table of contents of the input"},
			{Short: '0', Long: "null", Help: "filenames in the list are delimited by null characters"},
			{Short: 'a', Long: "reset-access-time", Help: "reset the access times of files after reading them (ignored)"},
			{Short: 'A', Long: "append", Help: "append to an existing archive (refused)"},
			{Short: 'B', Help: "set the I/O block size to 5120 bytes (ignored)"},
			{Short: 'b', Long: "swap", Help: "ignored"},
			{Short: 'c', Help: "use the old portable (ASCII) archive format. Same as -H odc"},
			{Short: 'C', Long: "io-size", Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "set the I/O block size (ignored)"},
			{Short: 'd', Long: "make-directories", Help: "create leading directories where needed"},
			{Short: 'D', Long: "directory", Arg: command.RequiredArgument, ArgName: "DIR", Help: "change to directory DIR"},
			{Short: 'E', Long: "pattern-file", Arg: command.RequiredArgument, ArgName: "FILE", Help: "read additional patterns from FILE"},
			{Short: 'f', Long: "nonmatching", Help: "only copy files that do not match any of the given patterns"},
			{Short: 'F', Long: "file", Arg: command.RequiredArgument, ArgName: "FILE", Help: "use this FILE-NAME instead of standard input or output"},
			{Short: 'H', Long: "format", Arg: command.RequiredArgument, ArgName: "FORMAT", Help: "use given archive FORMAT: bin, odc, newc, crc"},
			{Short: 'I', Arg: command.RequiredArgument, ArgName: "FILE", Help: "archive filename to use instead of standard input"},
			{Short: 'O', Arg: command.RequiredArgument, ArgName: "FILE", Help: "archive filename to use instead of standard output"},
			{Short: 'l', Long: "link", Help: "link files instead of copying them, when possible (ignored)"},
			{Short: 'L', Long: "dereference", Help: "dereference symbolic links"},
			{Short: 'm', Long: "preserve-modification-time", Help: "retain previous file modification times when creating files"},
			{Short: 'n', Long: "numeric-uid-gid", Help: "in the verbose table of contents listing, show numeric UID and GID"},
			{ID: cpioNoAbsolute, Long: "no-absolute-filenames", Help: "create all files relative to the current directory"},
			{ID: cpioNoPreserveOwner, Long: "no-preserve-owner", Help: "do not change the ownership of the files"},
			{ID: cpioQuiet, Long: "quiet", Help: "do not print the number of blocks copied"},
			{ID: cpioToStdout, Long: "to-stdout", Help: "extract files to standard output"},
			{Short: 'u', Long: "unconditional", Help: "replace all files unconditionally"},
			{Short: 'v', Long: "verbose", Help: "verbosely list the files processed"},
			{Short: 'V', Long: "dot", Help: "print a \".\" for each file processed"},
		},
	}, cpio)
}

// cpioRun is one run of cpio.
type cpioRun struct {
	ctx                                                                     context.Context
	c                                                                       *command.Context
	mode                                                                    byte // o, i or p
	format                                                                  string
	file                                                                    string
	dir                                                                     string
	patterns                                                                []string
	list                                                                    bool
	nul, mkdir, nonMatching, follow, keepTime, numeric, relative, keepOwner bool
	quiet, toStdout, unconditional, verbose, dot                            bool
	status                                                                  int
	bytes                                                                   int64
}

func cpio(ctx context.Context, c *command.Context, args []string) int {
	r := &cpioRun{ctx: ctx, c: c, format: "bin", keepOwner: true}
	operands, status, stop := r.parse(args)
	if stop {
		return status
	}
	if r.mode == 0 {
		return c.Usage("You must specify one of -oipt options.")
	}
	switch r.format {
	case "bin", "odc", "newc", "crc":
	default:
		return c.Usage("invalid archive format `%s'; valid formats are:\ncrc newc odc bin ustar tar (all-caps also recognized)", r.format)
	}
	r.patterns = append(r.patterns, operands...)
	if r.dir != "" {
		a, err := c.FS.Stat(r.dir)
		if err == nil && !a.IsDir() {
			err = errNotDirectory
		}
		if err != nil {
			return c.Errorf("%s: Cannot change directory: %s", r.dir, command.Strerror(err))
		}
	}
	var err error
	switch r.mode {
	case 'o':
		err = r.create()
	case 'i':
		err = r.read()
	case 'p':
		if len(operands) == 0 {
			return c.Usage("Not enough arguments")
		}
		if len(operands) > 1 {
			return c.Usage("Too many arguments")
		}
		err = r.pass(operands[0])
	}
	if err != nil {
		if ctx.Err() == nil {
			c.Errorf("%s", err.Error())
		}
		return 2
	}
	if !r.quiet {
		c.Stdout.Flush()
		n := (r.bytes + 511) / 512
		s := "s"
		if n == 1 {
			s = ""
		}
		fmt.Fprintf(c.Stderr, "%d block%s\n", n, s)
	}
	return r.status
}

func (r *cpioRun) parse(args []string) (operands []string, status int, stop bool) {
	p := r.c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'o', 'p':
			r.mode = byte(p.ID())
		case 'i':
			r.mode = 'i'
		case 't':
			r.mode, r.list = 'i', true
		case '0':
			r.nul = true
		case 'A':
			return nil, r.c.Errorf("appending is not supported"), true
		case 'c':
			r.format = "odc"
		case 'd':
			r.mkdir = true
		case 'D':
			r.dir = p.Arg()
		case 'E':
			b, err := r.c.FS.ReadFile(p.Arg(), 1<<20)
			if err != nil {
				return nil, r.c.Errorf("%s: Cannot open: %s", p.Arg(), command.Strerror(err)), true
			}
			r.patterns = append(r.patterns, strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")...)
		case 'f':
			r.nonMatching = true
		case 'F', 'I', 'O':
			r.file = p.Arg()
		case 'H':
			r.format = strings.ToLower(p.Arg())
		case 'L':
			r.follow = true
		case 'm':
			r.keepTime = true
		case 'n':
			r.numeric = true
		case 'u':
			r.unconditional = true
		case 'v':
			r.verbose = true
		case 'V':
			r.dot = true
		case cpioNoAbsolute:
			r.relative = true
		case cpioNoPreserveOwner:
			r.keepOwner = false
		case cpioQuiet:
			r.quiet = true
		case cpioToStdout:
			r.toStdout = true
		}
	}
	return p.End()
}

// fail reports a file that could not be copied.
func (r *cpioRun) fail(name, what string, err error) {
	r.c.Stdout.Flush()
	r.c.Errorf("%s: %s: %s", name, what, command.Strerror(err))
	r.status = 2
}

// names calls do with every name of the list on standard input.
func (r *cpioRun) names(do func(name string) error) error {
	in := bufio.NewReader(r.c.Stdin)
	end := byte('\n')
	if r.nul {
		end = 0
	}
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		name, err := in.ReadString(end)
		if name = strings.TrimSuffix(name, string(end)); name != "" {
			if err := do(name); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// say tells of a file under -v and -V.
func (r *cpioRun) say(w io.Writer, name string) {
	if r.verbose {
		fmt.Fprintln(w, name)
	} else if r.dot {
		io.WriteString(w, ".")
	}
}
