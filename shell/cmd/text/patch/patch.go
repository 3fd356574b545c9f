// Package patch is patch.
package patch

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/vfsd/vfsd/shell/command"
)

// Exit statuses of patch.
const (
	exitFailed  = 1
	exitTrouble = 2
)

const (
	optBackupIfMismatch = 256 + iota
	optNoBackupIfMismatch
	optVerbose
	optDryRun
	optPosix
	optRejectFormat
	optBinary
	optReadOnly
	optQuotingStyle
	optFollowSymlinks
)

func init() {
	command.Register(command.Info{
		Name:     "patch",
		Synopsis: "patch [OPTION]... [ORIGFILE [PATCHFILE]]",
		Summary:  "Apply a diff file to an original.",
		Options: []command.Option{
			{Short: 'p', Long: "strip", Arg: command.RequiredArgument, ArgName: "NUM", Help: "strip NUM leading components from file names"},
			{Short: 'F', Long: "fuzz", Arg: command.RequiredArgument, ArgName: "LINES", Help: "set the fuzz factor to LINES for inexact matching"},
			{Short: 'l', Long: "ignore-whitespace", Help: "ignore white space changes between patch and input"},
			{Short: 'c', Long: "context", Help: "interpret the patch as a context difference"},
			{Short: 'e', Long: "ed", Help: "(refused: no editor runs here)"},
			{Short: 'n', Long: "normal", Help: "interpret the patch as a normal difference"},
			{Short: 'u', Long: "unified", Help: "interpret the patch as a unified difference"},
			{Short: 'N', Long: "forward", Help: "ignore patches that appear to be reversed or already applied"},
			{Short: 'R', Long: "reverse", Help: "assume patches were created with old and new files swapped"},
			{Short: 'i', Long: "input", Arg: command.RequiredArgument, ArgName: "PATCHFILE", Help: "read patch from PATCHFILE instead of stdin"},
			{Short: 'o', Long: "output", Arg: command.RequiredArgument, ArgName: "FILE", Help: "output patched files to FILE"},
			{Short: 'r', Long: "reject-file", Arg: command.RequiredArgument, ArgName: "FILE", Help: "output rejects to FILE"},
			{Short: 'E', Long: "remove-empty-files", Help: "remove output files that are empty after patching"},
			{Short: 'Z', Long: "set-utc", Help: "set times of patched files, assuming diff uses UTC (GMT)"},
			{Short: 'T', Long: "set-time", Help: "likewise, assuming local time"},
			{Long: "quoting-style", ID: optQuotingStyle, Arg: command.RequiredArgument, ArgName: "WORD", Help: "(ignored)"},
			{Short: 'b', Long: "backup", Help: "back up the original contents of each file"},
			{Long: "backup-if-mismatch", ID: optBackupIfMismatch, Help: "back up if the patch does not match exactly"},
			{Long: "no-backup-if-mismatch", ID: optNoBackupIfMismatch, Help: "back up mismatches only if otherwise requested"},
			{Short: 'V', Long: "version-control", Arg: command.RequiredArgument, ArgName: "STYLE", Help: "use STYLE version control:\n'simple', 'numbered', or 'existing'"},
			{Short: 'B', Long: "prefix", Arg: command.RequiredArgument, ArgName: "PREFIX", Help: "prepend PREFIX to backup file names"},
			{Short: 'Y', Long: "basename-prefix", Arg: command.RequiredArgument, ArgName: "PREFIX", Help: "prepend PREFIX to backup file basenames"},
			{Short: 'z', Long: "suffix", Arg: command.RequiredArgument, ArgName: "SUFFIX", Help: "append SUFFIX to backup file names"},
			{Short: 'g', Long: "get", Arg: command.RequiredArgument, ArgName: "NUM", Help: "(ignored)"},
			{Short: 't', Long: "batch", Help: "ask no questions; assume reversed"},
			{Short: 'f', Long: "force", Help: "like -t, but assume unreversed"},
			{Short: 's', Long: "quiet", Help: "work silently unless an error occurs"},
			{Long: "silent", ID: 's'},
			{Long: "verbose", ID: optVerbose, Help: "output extra information about the work being done"},
			{Long: "dry-run", ID: optDryRun, Help: "do not actually change any files;\njust print what would happen"},
			{Long: "posix", ID: optPosix, Help: "conform to the POSIX standard"},
			{Short: 'd', Long: "directory", Arg: command.RequiredArgument, ArgName: "DIR", Help: "change the working directory to DIR first"},
			{Long: "reject-format", ID: optRejectFormat, Arg: command.RequiredArgument, ArgName: "FORMAT", Help: "create 'context' or 'unified' rejects"},
			{Long: "binary", ID: optBinary, Help: "read and write data in binary mode"},
			{Long: "follow-symlinks", ID: optFollowSymlinks, Help: "follow symbolic links"},
			{Long: "read-only", ID: optReadOnly, Arg: command.RequiredArgument, ArgName: "BEHAVIOR", Help: "how to handle read-only input files: 'ignore' that\nthey are read-only, 'warn' (default), or 'fail'"},
			{Short: 'v', Long: "version"},
		},
		UsageStatus: exitTrouble,
		UsageHint:   "patch: Try 'patch --help' for more information.",
	}, patch)
}

// form is a form of diffs.
type form uint8

const (
	formNone form = iota
	formUnified
	formContext
	formNewContext // a context diff whose ranges end in stars
	formNormal
	formEd
	formGitBinary
)

// settings is what the options ask for.
type settings struct {
	strip     int // -1: base names only
	fuzz      int
	loose     bool
	form      form
	forward   bool
	reverse   bool
	patchFile string
	outFile   string
	rejects   string
	empty     bool // -E
	setTime   bool
	utc       bool
	backup    bool
	mismatch  bool // back up what did not match exactly
	backups   backups
	batch     bool
	force     bool
	silent    bool
	verbose   bool
	dry       bool
	posix     bool
	dir       string
	rejectAs  form
	binary    bool
	follow    bool
	readOnly  string
	name      string
}

// fatalError ends the command with a message.
type fatalError string

func (e fatalError) Error() string { return string(e) }

func fatalf(format string, args ...any) error { return fatalError(fmt.Sprintf(format, args...)) }

func patch(ctx context.Context, c *command.Context, args []string) int {
	p := &patcher{c: c, ctx: ctx, seen: map[string]bool{}}
	status, stop, err := p.options(args)
	if stop {
		return status
	}
	if err == nil {
		err = p.run()
	}
	c.Memory.Shrink(p.held)
	if err != nil {
		c.Stdout.Flush()
		fmt.Fprintf(c.Stderr, "patch: **** %s\n", err)
		return exitTrouble
	}
	if p.failed {
		return exitFailed
	}
	return 0
}

// options reads the command line.
func (p *patcher) options(args []string) (status int, stop bool, err error) {
	c := p.c
	p.set = settings{strip: -1, fuzz: 2, mismatch: true, readOnly: "warn"}
	s := &p.set
	if _, posix := c.Env.Lookup("POSIXLY_CORRECT"); posix {
		s.posix, s.mismatch = true, false
	}
	s.backups.fromEnv(c.Env)
	o := c.Options(args)
	for o.Next() {
		if o.ID() == 'v' {
			c.Stdout.WriteString("patch (vfsd)\n")
			return 0, true, nil
		}
		switch err := s.option(o.ID(), o.Arg()).(type) {
		case nil:
		case listError:
			c.Errorf("%s", err)
			return exitTrouble, true, nil
		case fatalError:
			return 0, false, err
		default:
			fmt.Fprintln(c.Stderr, c.Command.UsageHint)
			return exitTrouble, true, nil
		}
	}
	files, status, stop := o.End()
	if stop {
		return status, true, nil
	}
	if len(files) > 0 {
		s.name = files[0]
	}
	if len(files) > 1 {
		s.patchFile = files[1]
	}
	if len(files) > 2 {
		fmt.Fprintf(c.Stderr, "patch: %s: extra operand\n%s\n", files[2], c.Command.UsageHint)
		return exitTrouble, true, nil
	}
	return 0, false, p.directory()
}

// directory goes where -d says.
func (p *patcher) directory() error {
	p.fs = p.c.FS
	if p.set.dir == "" {
		return nil
	}
	found, err := p.fs.Walk(p.set.dir, true)
	if err == nil && found.Exists && !found.Attr.IsDir() {
		return fatalf("Can't change to directory %s : Not a directory", p.quote(p.set.dir))
	}
	if err != nil || !found.Exists {
		return fatalf("Can't change to directory %s : %s", p.quote(p.set.dir), command.Strerror(orMissing(err)))
	}
	p.fs = p.fs.At(found.Attr.Ino)
	return nil
}

// errUsage is a mistake about which only the hint to --help is printed.
var errUsage = errors.New("usage")

// option notes one option.
func (s *settings) option(id int, arg string) error {
	switch id {
	case 'p':
		n, err := strconv.Atoi(arg)
		if err != nil {
			return fatalf("strip count %s is not a number", arg)
		}
		s.strip = n
	case 'F':
		n, err := strconv.Atoi(arg)
		if err != nil || n < 0 {
			return fatalf("fuzz factor %s is not a number", arg)
		}
		s.fuzz = n
	case 'i':
		s.patchFile = arg
	case 'o':
		s.outFile = arg
	case 'r':
		s.rejects = arg
	case 'd':
		s.dir = arg
	case 'V', 'B', 'Y', 'z':
		return s.backups.option(id, arg)
	case optRejectFormat:
		switch arg {
		case "context":
			s.rejectAs = formNewContext
		case "unified":
			s.rejectAs = formUnified
		default:
			return errUsage
		}
	case optReadOnly:
		if arg != "ignore" && arg != "warn" && arg != "fail" {
			return errUsage
		}
		s.readOnly = arg
	case 'e':
		return fatalf("ed scripts cannot be applied: no editor runs here")
	default:
		s.flag(id)
	}
	return nil
}

// flag notes an option without an argument.
func (s *settings) flag(id int) {
	switch id {
	case 'l':
		s.loose = true
	case 'c':
		s.form = formContext
	case 'n':
		s.form = formNormal
	case 'u':
		s.form = formUnified
	case 'N':
		s.forward = true
	case 'R':
		s.reverse = true
	case 'E':
		s.empty = true
	case 'T', 'Z':
		s.setTime, s.utc = true, id == 'Z'
	case 'b':
		s.backup = true
	case optBackupIfMismatch:
		s.mismatch = true
	case optNoBackupIfMismatch:
		s.mismatch = false
	case 't':
		s.batch = true
	case 'f':
		s.force = true
	case 's':
		s.silent, s.verbose = true, false
	case optVerbose:
		s.verbose, s.silent = true, false
	case optDryRun:
		s.dry = true
	case optPosix:
		s.posix = true
	case optBinary:
		s.binary = true
	case optFollowSymlinks:
		s.follow = true
	}
}
