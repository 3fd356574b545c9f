package archive

import (
	"archive/tar"
	"context"
	"io"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const (
	tarDelete = 256 + iota
	tarZstd
	tarLzma
	tarExclude
	tarStrip
	tarTransform
	tarOwner
	tarGroup
	tarMtime
	tarMode
	tarSort
	tarNumeric
	tarWildcards
	tarNoWildcards
	tarNoRecursion
	tarRecursion
	tarFormat
	tarTotals
	tarOverwrite
	tarSkipOld
	tarKeepNewer
	tarRemoveFiles
	tarNoSameOwner
	tarSameOwner
	tarNoSamePermissions
	tarNull
	tarOneTop
	tarUTC
	tarFullTime
	tarExcludeVCS
	tarPosix
	tarIgnored
	tarIgnoredArg
	tarToCommand
	tarTestLabel
	tarAnchored
	tarNoAnchored
	tarHardDereference
	tarAddFile
	tarShowNames
)

func init() {
	command.Register(command.Info{
		Name:          "tar",
		Synopsis:      "tar [OPTION...] [FILE]...",
		Summary:       "'tar' saves many files together into a single tape or disk archive, and can\nrestore individual files from the archive.",
		Options:       tarOptions,
		UsageStatus:   64,
		UsageHint:     tarHint,
		StopAtOperand: true,
	}, tarCommand)
}

const tarHint = "Try 'tar --help' or 'tar --usage' for more information."

var tarOptions = []command.Option{
	{Short: 'A', Long: "catenate", Help: "append tar files to an archive"}, {Long: "concatenate", ID: 'A'},
	{Short: 'c', Long: "create", Help: "create a new archive"},
	{Short: 'd', Long: "diff", Help: "find differences between archive and file system"}, {Long: "compare", ID: 'd'},
	{Long: "delete", ID: tarDelete, Help: "delete from the archive"},
	{Short: 'r', Long: "append", Help: "append files to the end of an archive"},
	{Short: 't', Long: "list", Help: "list the contents of an archive"},
	{Short: 'u', Long: "update", Help: "only append files newer than copy in archive"},
	{Short: 'x', Long: "extract", Help: "extract files from an archive"}, {Long: "get", ID: 'x'},
	{Short: 'f', Long: "file", Arg: command.RequiredArgument, ArgName: "ARCHIVE", Help: "use archive file ARCHIVE"},
	{Short: 'C', Long: "directory", Arg: command.RequiredArgument, ArgName: "DIR", Help: "change to directory DIR"},
	{Short: 'v', Long: "verbose", Help: "verbosely list files processed"},
	{Short: 'z', Long: "gzip", Help: "filter the archive through gzip"}, {Long: "gunzip", ID: 'z'}, {Long: "ungzip", ID: 'z'},
	{Short: 'j', Long: "bzip2", Help: "filter the archive through bzip2"},
	{Short: 'J', Long: "xz", Help: "filter the archive through xz"},
	{Long: "zstd", ID: tarZstd, Help: "filter the archive through zstd"}, {Long: "lzma", ID: tarLzma, Help: "filter the archive through lzma"},
	{Short: 'Z', Long: "compress", ID: tarIgnored, Help: "(ignored)"},
	{Short: 'a', Long: "auto-compress", Help: "use archive suffix to determine the compression program"},
	{Short: 'I', Long: "use-compress-program", Arg: command.RequiredArgument, ArgName: "PROG", Help: "filter through PROG: gzip, bzip2, xz or zstd"},
	{Short: 'p', Long: "preserve-permissions", Help: "extract information about file permissions"}, {Long: "same-permissions", ID: 'p'},
	{Long: "no-same-permissions", ID: tarNoSamePermissions, Help: "apply the umask when extracting permissions"},
	{Short: 'P', Long: "absolute-names", Help: "don't strip leading '/'s from file names"},
	{Short: 'h', Long: "dereference", Help: "follow symlinks; archive and dump the files they point to"},
	{Long: "hard-dereference", ID: tarHardDereference, Help: "follow hard links; archive and dump the files they refer to"},
	{Short: 'k', Long: "keep-old-files", Help: "don't replace existing files when extracting,\ntreat them as errors"},
	{Long: "skip-old-files", ID: tarSkipOld, Help: "don't replace existing files when extracting"},
	{Long: "keep-newer-files", ID: tarKeepNewer, Help: "don't replace existing files that are newer"},
	{Long: "overwrite", ID: tarOverwrite, Help: "overwrite existing files when extracting"},
	{Short: 'U', Long: "unlink-first", ID: tarIgnored, Help: "(the default)"}, {Long: "recursive-unlink", ID: tarIgnored},
	{Short: 'm', Long: "touch", Help: "don't extract file modified time"},
	{Short: 'O', Long: "to-stdout", Help: "extract files to standard output"},
	{Short: 'T', Long: "files-from", Arg: command.RequiredArgument, ArgName: "FILE", Help: "get names to extract or create from FILE"},
	{Short: 'X', Long: "exclude-from", Arg: command.RequiredArgument, ArgName: "FILE", Help: "exclude patterns listed in FILE"},
	{Long: "exclude", Arg: command.RequiredArgument, ArgName: "PATTERN", ID: tarExclude, Help: "exclude files, given as a PATTERN"},
	{Long: "exclude-vcs", ID: tarExcludeVCS, Help: "exclude version control system directories"},
	{Long: "strip-components", Arg: command.RequiredArgument, ArgName: "NUMBER", ID: tarStrip, Help: "strip NUMBER leading components from file\nnames on extraction"},
	{Long: "transform", Arg: command.RequiredArgument, ArgName: "EXPRESSION", ID: tarTransform, Help: "use sed replace EXPRESSION to transform file names"}, {Long: "xform", Arg: command.RequiredArgument, ID: tarTransform},
	{Long: "owner", Arg: command.RequiredArgument, ArgName: "NAME", ID: tarOwner, Help: "force NAME as owner for added files"},
	{Long: "group", Arg: command.RequiredArgument, ArgName: "NAME", ID: tarGroup, Help: "force NAME as group for added files"},
	{Long: "mtime", Arg: command.RequiredArgument, ArgName: "DATE-OR-FILE", ID: tarMtime, Help: "set mtime for added files from DATE-OR-FILE"},
	{Long: "mode", Arg: command.RequiredArgument, ArgName: "CHANGES", ID: tarMode, Help: "force (symbolic) mode CHANGES for added files"},
	{Long: "sort", Arg: command.RequiredArgument, ArgName: "ORDER", ID: tarSort, Help: "directory sorting order: none (default), name or inode"},
	{Long: "numeric-owner", ID: tarNumeric, Help: "always use numbers for user/group names"},
	{Long: "same-owner", ID: tarSameOwner, Help: "try extracting files with the same ownership"}, {Long: "no-same-owner", ID: tarNoSameOwner, Help: "extract files as yourself"},
	{Short: 'o', ID: tarNoSameOwner},
	{Long: "wildcards", ID: tarWildcards, Help: "use wildcards"}, {Long: "no-wildcards", ID: tarNoWildcards, Help: "verbatim string matching"},
	{Long: "anchored", ID: tarAnchored, Help: "patterns match file name start"}, {Long: "no-anchored", ID: tarNoAnchored, Help: "patterns match after any '/'"},
	{Long: "no-recursion", ID: tarNoRecursion, Help: "avoid descending automatically in directories"}, {Long: "recursion", ID: tarRecursion},
	{Short: 'H', Long: "format", Arg: command.RequiredArgument, ArgName: "FORMAT", ID: tarFormat, Help: "create archive of the given format: gnu, pax, posix, ustar, v7, oldgnu"},
	{Long: "posix", ID: tarPosix, Help: "same as --format=posix"},
	{Long: "totals", ID: tarTotals, Help: "print total bytes after processing the archive"},
	{Long: "remove-files", ID: tarRemoveFiles, Help: "remove files after adding them to the archive"},
	{Long: "null", ID: tarNull, Help: "-T reads null-terminated names"},
	{Long: "one-top-level", Arg: command.OptionalArgument, ArgName: "DIR", ID: tarOneTop, Help: "create a subdirectory to avoid having loose files extracted"},
	{Long: "utc", ID: tarUTC, Help: "print file modification times in UTC"}, {Long: "full-time", ID: tarFullTime, Help: "print file time to its full resolution"},
	{Long: "show-transformed-names", ID: tarShowNames, Help: "show file names after transformation"}, {Long: "show-stored-names", ID: tarShowNames},
	{Long: "add-file", Arg: command.RequiredArgument, ArgName: "FILE", ID: tarAddFile, Help: "add given FILE to the archive"},
	{Short: 'b', Long: "blocking-factor", Arg: command.RequiredArgument, ArgName: "BLOCKS", Help: "BLOCKS x 512 bytes per record"},
	{Short: 'S', Long: "sparse", ID: tarIgnored}, {Short: 'B', Long: "read-full-records", ID: tarIgnored}, {Short: 'i', Long: "ignore-zeros", ID: tarIgnored},
	{Short: 'W', Long: "verify", ID: tarIgnored}, {Short: 'l', Long: "check-links", ID: tarIgnored}, {Short: 'w', Long: "interactive", ID: tarIgnored}, {Short: 's', Long: "preserve-order", ID: tarIgnored},
	{Long: "one-file-system", ID: tarIgnored}, {Long: "acls", ID: tarIgnored}, {Long: "xattrs", ID: tarIgnored}, {Long: "selinux", ID: tarIgnored}, {Long: "no-acls", ID: tarIgnored}, {Long: "no-xattrs", ID: tarIgnored}, {Long: "no-selinux", ID: tarIgnored},
	{Long: "ignore-failed-read", ID: tarIgnored}, {Long: "no-auto-compress", ID: tarIgnored}, {Long: "delay-directory-restore", ID: tarIgnored}, {Long: "no-overwrite-dir", ID: tarIgnored}, {Long: "overwrite-dir", ID: tarIgnored}, {Long: "ignore-case", ID: tarIgnored}, {Long: "wildcards-match-slash", ID: tarIgnored},
	{Long: "warning", Arg: command.RequiredArgument, ID: tarIgnoredArg}, {Long: "pax-option", Arg: command.RequiredArgument, ID: tarIgnoredArg}, {Long: "checkpoint", Arg: command.OptionalArgument, ID: tarIgnoredArg}, {Long: "atime-preserve", Arg: command.OptionalArgument, ID: tarIgnoredArg}, {Long: "xattrs-include", Arg: command.RequiredArgument, ID: tarIgnoredArg}, {Long: "quoting-style", Arg: command.RequiredArgument, ID: tarIgnoredArg},
}

// archiver is one run of tar.
type archiver struct {
	c   *command.Context
	ctx context.Context
	loc *time.Location

	mode     int // the letter of what to do
	file     string
	filter   *filter
	auto     bool
	verbose  int
	blocking int
	format   tar.Format

	perms, absolute, deref, hardDeref bool
	keepOld, skipOld, keepNewer       bool
	overwrite, touch, stdout          bool
	numeric, sameOwner, noRecursion   bool
	null, wildcards, anchored, sorted bool
	totals, removeFiles, fullTime     bool
	exclude                           []tarExclusion
	strip                             int
	transforms                        []*transform
	owner, group                      *tarOwnerName
	mtime                             *time.Time
	chmod                             *gnulib.ModeChange
	top                               string
	hasTop                            bool

	names    []tarName
	current  int         // the operand that is being added
	target   *vfs.Walker // where the present member is extracted
	dir      *vfs.Walker // of -C so far
	status   int
	prefixes map[string]bool // that were reported as removed
	width    int             // of owner and size in listings
	links    map[vfs.Ino]string
	out      io.Writer // where names are listed
	self     vfs.Ino   // the archive, which does not go into itself
}

// tarName is an operand, and the directory that it is relative to.
type tarName struct {
	name string
	at   *vfs.Walker
	used bool
}

// tarExclusion is a pattern, which concerns the operands from one on when
// files are added.
type tarExclusion struct {
	pattern string
	from    int
	option  string // as messages name it
}

// tarOwnerName is the argument of --owner or --group.
type tarOwnerName struct {
	name string
	id   int // -1 when it is not known
}

func tarCommand(ctx context.Context, c *command.Context, args []string) int {
	a := archiver{c: c, ctx: ctx, loc: tz.Of(c), file: "-", blocking: 20, dir: c.FS, sameOwner: c.FS.Op.UID == 0, perms: c.FS.Op.UID == 0,
		prefixes: map[string]bool{}, width: 19, links: map[vfs.Ino]string{}, out: c.Stdout, format: tar.FormatGNU}
	args, status, ok := a.oldStyle(args)
	if !ok {
		return status
	}
	if status, ok := a.parse(args); !ok {
		return status
	}
	switch a.mode {
	case 0:
		return a.usage("You must specify one of the '-Acdtrux', '--delete' or '--test-label' options")
	case 'c':
		if len(a.names) == 0 {
			return a.usage("Cowardly refusing to create an empty archive")
		}
		if status, ok := a.positional(); !ok {
			return status
		}
		a.create()
	case 't', 'x', 'd':
		a.read()
	case 'r', 'u', 'A':
		a.append()
	case tarDelete:
		a.delete()
	}
	if a.status == 2 && a.ctx.Err() == nil {
		a.message("Exiting with failure status due to previous errors")
	}
	if a.status == fatal {
		return 2
	}
	return a.status
}

// fatal is the status of what ended the run at once; its message is out.
const fatal = 1000

func (a *archiver) usage(text string) int {
	a.c.Errorf("%s\n%s", text, tarHint)
	return 2
}

// message writes to standard error, after what was listed so far.
func (a *archiver) message(format string, args ...any) {
	if a.c.Stdout.Flush() == nil {
		a.c.Errorf(format, args...)
	}
}

// fail reports an error that does not end the run.
func (a *archiver) fail(path, what string, err error) {
	a.message("%s: %s: %s", a.quote(path), what, command.Strerror(err))
	a.status = max(a.status, 2)
}

// die reports an error that ends the run.
func (a *archiver) die(format string, args ...any) {
	a.message(format, args...)
	a.message("Error is not recoverable: exiting now")
	a.status = fatal
}

// quote is a name as tar shows it: with escapes of C where need be.
func (a *archiver) quote(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch ch := name[i]; {
		case ch == '\\':
			b.WriteString(`\\`)
		case ch >= 7 && ch <= 13:
			b.WriteString(`\` + "abtnvfr"[ch-7:ch-6])
		case ch < ' ' || ch == 0x7f || ch >= 0x80 && !a.c.Env.UTF8():
			b.WriteString(`\` + string([]byte{'0' + ch>>6, '0' + ch>>3&7, '0' + ch&7}))
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// oldStyle turns "xzf a.tar" into "-x -z -fa.tar".
func (a *archiver) oldStyle(args []string) ([]string, int, bool) {
	if len(args) < 2 || args[1] == "" || args[1][0] == '-' {
		return args, 0, true
	}
	out := []string{args[0]}
	rest := args[2:]
	for i := range len(args[1]) {
		letter := args[1][i]
		opt := "-" + string([]byte{letter})
		if strings.IndexByte("fCTXbHINgKVLF", letter) >= 0 {
			if len(rest) == 0 {
				return nil, a.usage("Old option '" + opt[1:] + "' requires an argument."), false
			}
			out, rest = append(out, opt, rest[0]), rest[1:]
			continue
		}
		out = append(out, opt)
	}
	return append(out, rest...), 0, true
}

// parse takes options and operands in their order: -C concerns what follows.
func (a *archiver) parse(args []string) (int, bool) {
	name, rest := args[:1], args[1:]
	for {
		p := a.c.Options(append(name[:1:1], rest...))
		for p.Next() {
			if status, ok := a.option(p); !ok {
				return status, false
			}
		}
		ops, status, stop := p.End()
		if stop {
			return status, false
		}
		if len(ops) == 0 {
			return 0, true
		}
		if at := len(rest) - len(ops); at > 0 && rest[at-1] == "--" {
			for _, op := range ops {
				a.names = append(a.names, tarName{name: op, at: a.dir})
			}
			return 0, true
		}
		a.names = append(a.names, tarName{name: ops[0], at: a.dir})
		rest = ops[1:]
	}
}
