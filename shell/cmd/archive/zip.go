package archive

import (
	"archive/zip"
	"compress/flate"
	"context"
	"fmt"
	"io"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	options := []command.Option{
		{Short: 'r', Long: "recurse-paths", Help: "recurse into directories"}, {Short: 'R', ID: 'r'},
		{Short: 'q', Long: "quiet", Help: "quiet operation"}, {Short: 'v', Long: "verbose", Help: "verbose operation"},
		{Short: 'j', Long: "junk-paths", Help: "junk (don't record) directory names"},
		{Short: 'd', Long: "delete", Help: "delete entries in zipfile"}, {Short: 'm', Long: "move", Help: "move into zipfile (delete OS files)"},
		{Short: 'u', Long: "update", Help: "update: only changed or new files"}, {Short: 'f', Long: "freshen", Help: "freshen: only changed files"},
		{Short: 'x', Long: "exclude", Help: "exclude the following names"}, {Short: 'i', Long: "include", Help: "include only the following names"},
		{Short: 'y', Long: "symlinks", Help: "store symbolic links as the link instead of the referenced file"},
		{Short: 'D', Long: "no-dir-entries", Help: "do not add directory entries"}, {Short: '@', Help: "read names from stdin"},
		{Short: 'T', Long: "test", Help: "test zipfile integrity"}, {Short: 'X', Long: "no-extra", Help: "(ignored)"}, {Short: 'g', Long: "grow", Help: "(ignored)"},
		{Short: 'o', Long: "latest-time", Help: "(ignored)"}, {Short: 'l', Help: "(ignored)"}, {Short: 'k', Help: "(ignored)"}, {Short: 'S', Help: "(ignored)"},
		{Short: '0', Help: "store only"}, {Short: '1', Help: "compress faster"}, {Short: '2'}, {Short: '3'}, {Short: '4'}, {Short: '5'}, {Short: '6'}, {Short: '7'}, {Short: '8'}, {Short: '9', Help: "compress better"},
	}
	command.Register(command.Info{Name: "zip", Synopsis: "zip [-options] [zipfile list] [-xi list]", Summary: "Package and compress (archive) files.", Options: options, UsageStatus: 16}, zipCommand)
}

// zipper is one run of zip.
type zipper struct {
	c   *command.Context
	ctx context.Context
	loc *time.Location

	recurse, quiet, verbose, junk bool
	remove, move, update, freshen bool
	symlinks, noDirs, test        bool
	level                         int
	exclude, include              []string
	old                           *zip.Reader // what the archive had
	have                          map[string]*zip.File
	w                             *zip.Writer
	written                       map[string]bool
	moved                         []string
	self                          vfs.Ino
	found                         int
	piped                         bool  // the archive goes to standard output
	in, out                       int64 // bytes, for -v
}

func zipCommand(ctx context.Context, c *command.Context, args []string) int {
	z := zipper{c: c, ctx: ctx, loc: tz.Of(c), level: 6, have: map[string]*zip.File{}, written: map[string]bool{}}
	names, stdin, status, ok := z.parse(args)
	if !ok {
		return status
	}
	if len(names) == 0 {
		c.Stdout.WriteString(c.Command.Help())
		return 0
	}
	archive := names[0]
	names = names[1:]
	if stdin {
		b, err := io.ReadAll(io.LimitReader(c.Stdin, maxList))
		if err != nil {
			return z.fail(18, "Could not open input (%s)", command.Strerror(err))
		}
		names = append(names, strings.Fields(string(b))...)
	}
	if archive == "-" {
		return z.toStdout(names)
	}
	if !strings.Contains(gnulib.Base(archive), ".") {
		archive += ".zip"
	}
	if len(names) == 0 && (z.test || z.freshen || z.update) {
		if z.test && !z.freshen && !z.update {
			return z.testArchive(archive)
		}
	}
	return z.toFile(archive, names)
}

// parse takes options, which may be anywhere, and the lists of -x and -i.
func (z *zipper) parse(args []string) (names []string, stdin bool, status int, ok bool) {
	list := (*[]string)(nil)
	for i := 1; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			names = append(names, args[i+1:]...)
			break
		}
		if len(a) < 2 || a[0] != '-' {
			if list != nil && a == "@" {
				list = nil
			} else if list != nil {
				*list = append(*list, a)
			} else {
				names = append(names, a)
			}
			continue
		}
		list = nil
		letters := a[1:]
		if strings.HasPrefix(a, "--") {
			letters = z.longName(a[2:])
			if letters == "" {
				return nil, false, z.fail(16, "Invalid command arguments (long option '%s' not supported)", a[2:]), false
			}
		}
		for j := 0; j < len(letters); j++ {
			switch letters[j] {
			case 'x', 'i':
				list = &z.exclude
				if letters[j] == 'i' {
					list = &z.include
				}
				if rest := letters[j+1:]; rest != "" {
					*list = append(*list, rest)
					list = nil
				}
				j = len(letters)
			case '@':
				stdin = true
			case 'h':
				z.c.Stdout.WriteString(z.c.Command.Help())
				return nil, false, 0, false
			case 'e', 'P':
				return nil, false, z.fail(16, "Invalid command arguments (stderr is not a tty)"), false
			default:
				if !z.letter(letters[j]) {
					return nil, false, z.fail(16, "Invalid command arguments (short option '%c' not supported)", letters[j]), false
				}
			}
		}
	}
	return names, stdin, 0, true
}

// longName turns a long option into its letter.
func (z *zipper) longName(name string) string {
	if name == "help" {
		return "h"
	}
	for _, o := range z.c.Command.Options {
		if o.Long == name && o.Short != 0 {
			return string([]byte{o.Short})
		}
	}
	return ""
}

func (z *zipper) letter(ch byte) bool {
	flags := map[byte]*bool{'r': &z.recurse, 'R': &z.recurse, 'q': &z.quiet, 'v': &z.verbose, 'j': &z.junk, 'd': &z.remove, 'm': &z.move, 'u': &z.update, 'f': &z.freshen, 'y': &z.symlinks, 'D': &z.noDirs, 'T': &z.test}
	if f := flags[ch]; f != nil {
		*f = true
		return true
	}
	if ch >= '0' && ch <= '9' {
		z.level = int(ch - '0')
		return true
	}
	return strings.IndexByte("XgolkSA", ch) >= 0
}

func (z *zipper) fail(status int, format string, args ...any) int {
	fmt.Fprintf(z.messages(), "\nzip error: "+format+"\n", args...)
	return status
}

func (z *zipper) warn(format string, args ...any) {
	fmt.Fprintf(z.messages(), "\tzip warning: "+format+"\n", args...)
}

// messages is where zip speaks: standard output, unless the archive goes there.
func (z *zipper) messages() io.Writer {
	if z.piped {
		return z.c.Stderr
	}
	return z.c.Stdout
}

func (z *zipper) say(format string, args ...any) {
	if !z.quiet {
		fmt.Fprintf(z.c.Stdout, format, args...)
	}
}

func (z *zipper) newWriter(w io.Writer) {
	z.w = zip.NewWriter(w)
	z.w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, z.level) })
}

func (z *zipper) toStdout(names []string) int {
	z.newWriter(onlyWriter{z.c.Stdout})
	z.quiet, z.piped = true, true
	z.addAll(names)
	if err := z.w.Close(); err != nil {
		return 1
	}
	return 0
}

// toFile writes a new archive beside the old one and puts it in its place.
func (z *zipper) toFile(archive string, names []string) int {
	old, err := z.c.FS.Open(archive)
	switch {
	case err == nil:
		defer old.Close()
		a, serr := old.Stat()
		if serr != nil {
			return z.fail(18, "Could not open input (%s)", archive)
		}
		z.self = a.Ino
		r, rerr := zip.NewReader(old, int64(a.Size))
		if rerr != nil {
			fmt.Fprintf(z.messages(), "\tzip warning: missing end signature--probably not a zip file (did you\n\tzip warning: remember to use binary mode when you transferred it?)\n\tzip warning: (if you are trying to read a damaged archive try -F)\n")
			return z.fail(3, "Zip file structure invalid (%s)", archive)
		}
		z.old = r
		for _, f := range r.File {
			z.have[f.Name] = f
		}
	case toErrno(err) != syscall.ENOENT:
		return z.fail(18, "Could not open input (%s)", archive)
	}
	temp := archive + ".zip-partial"
	out, err := z.c.FS.OpenFile(temp, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, 0o666)
	if err != nil {
		fmt.Fprintf(z.messages(), "zip I/O error: %s\nzip error: Could not create output file (%s)\n", command.Strerror(err), archive)
		return 15
	}
	z.newWriter(out)
	status := z.build(archive, names)
	if cerr := z.w.Close(); status == 0 && cerr != nil {
		status = z.fail(14, "Output file write failure (%s)", command.Strerror(cerr))
	}
	if cerr := out.Close(); status == 0 && cerr != nil {
		status = z.fail(14, "Output file write failure (%s)", command.Strerror(cerr))
	}
	if status != 0 || z.ctx.Err() != nil {
		z.c.FS.Unlink(temp)
		return status
	}
	return z.install(temp, archive)
}

// install puts the new archive in place; an empty one is none.
func (z *zipper) install(temp, archive string) int {
	if len(z.written) == 0 {
		z.c.FS.Unlink(temp)
		if z.old != nil {
			z.warn("zip file empty")
			z.c.FS.Unlink(archive)
		}
		return 0
	}
	if err := z.c.FS.Rename(temp, archive, 0); err != nil {
		z.c.FS.Unlink(temp)
		return z.fail(15, "Could not create output file (%s)", archive)
	}
	for i := len(z.moved) - 1; i >= 0; i-- {
		if err := z.c.FS.Unlink(z.moved[i]); toErrno(err) == syscall.EISDIR {
			z.c.FS.Rmdir(z.moved[i])
		}
	}
	if z.verbose {
		z.say("total bytes=%d, compressed=%d -> %d%% savings\n", z.in, z.out, zipPercent(z.in, z.out))
	}
	if z.test {
		return z.testArchive(archive)
	}
	return 0
}

// build writes the archive: what it had, less what goes, with what is new.
func (z *zipper) build(archive string, names []string) int {
	if z.remove {
		return z.deleteMembers(archive, names)
	}
	files := z.collect(names)
	replaced := map[string]zipInput{}
	for _, f := range files {
		replaced[f.name] = f
	}
	if (z.freshen || z.update) && len(names) == 0 && z.old != nil {
		for _, f := range z.old.File {
			if a, err := z.c.FS.Stat(f.Name); err == nil {
				replaced[f.Name] = zipInput{path: f.Name, name: f.Name, attr: a}
			}
		}
	} else if z.found == 0 {
		return z.fail(12, "Nothing to do! (%s)", archive)
	}
	if z.old != nil {
		for _, f := range z.old.File {
			in, ok := replaced[f.Name]
			if ok && (!z.freshen && !z.update || z.newer(&in, f)) {
				verb := "updating"
				if z.freshen {
					verb = "freshening"
				}
				if status := z.add(in, verb); status != 0 {
					return status
				}
				continue
			}
			if err := z.w.Copy(f); err != nil {
				return z.fail(3, "Zip file structure invalid (%s)", archive)
			}
			z.written[f.Name] = true
		}
	}
	for _, f := range files {
		if !z.written[f.name] && !z.freshen {
			if status := z.add(f, "  adding"); status != 0 {
				return status
			}
		}
	}
	return 0
}

func (z *zipper) newer(in *zipInput, f *zip.File) bool {
	return time.Unix(0, in.attr.Mtime).Unix() > f.Modified.Unix()
}

func (z *zipper) deleteMembers(archive string, patterns []string) int {
	if z.old == nil {
		return z.fail(12, "Nothing to do! (%s)", archive)
	}
	used := make([]bool, len(patterns))
	gone := 0
	for _, f := range z.old.File {
		drop := false
		for i, p := range patterns {
			if gnulib.Fnmatch(p, f.Name, 0) {
				used[i], drop = true, true
			}
		}
		if drop {
			z.say("deleting: %s\n", f.Name)
			gone++
			continue
		}
		if err := z.w.Copy(f); err != nil {
			return z.fail(3, "Zip file structure invalid (%s)", archive)
		}
		z.written[f.Name] = true
	}
	for i, p := range patterns {
		if !used[i] {
			z.warn("name not matched: %s", p)
		}
	}
	if gone == 0 {
		return z.fail(12, "Nothing to do! (%s)", archive)
	}
	return 0
}
