package archive

import (
	"archive/zip"
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	info := command.Info{Name: "unzip", Synopsis: "unzip [-Z] [-opts[modifiers]] file[.zip] [list] [-x xlist] [-d exdir]", RawArgs: true, UsageStatus: 10,
		Summary: "Extract files in list, except those in xlist, to exdir.",
		Notes:   "  -p  extract files to pipe, no messages     -l  list files (short format)\n  -f  freshen existing files, create none    -t  test compressed archive data\n  -u  update files, create if necessary      -z  display archive comment only\n  -v  list verbosely                         -x  exclude files that follow (in xlist)\n  -d  extract files into exdir               -n  never overwrite existing files\n  -q  quiet mode (-qq => quieter)            -o  overwrite files WITHOUT prompting\n  -j  junk paths (do not make directories)   -C  match filenames case-insensitively\n  -c  extract to standard output, with names -Z1 names only"}
	command.Register(info, unzipCommand)
	info.Name, info.Synopsis = "zipinfo", "zipinfo [-1] file[.zip] [list]"
	command.Register(info, unzipCommand)
}

// unzipper is one run of unzip.
type unzipper struct {
	c   *command.Context
	ctx context.Context
	loc *time.Location
	in  *bufio.Reader

	mode              byte // 'x', 'l', 'v', 't', 'p', 'c', 'z', 'Z', '1'
	quiet             int
	never, over, junk bool
	fold, lower       bool
	freshen, update   bool
	dir               string
	list, exclude     []string
	used              []bool
	links             []zipLink
	dirs              []*zip.File
	status            int
}

// zipLink is a symlink that is made after everything else, so that nothing is
// written through it.
type zipLink struct{ path, target string }

func unzipCommand(ctx context.Context, c *command.Context, args []string) int {
	u := unzipper{c: c, ctx: ctx, loc: tz.Of(c), mode: 'x'}
	if c.Command.Name == "zipinfo" {
		u.mode = 'Z'
	}
	archive, status, ok := u.parse(args[1:])
	if !ok {
		return status
	}
	return u.run(archive)
}

// parse reads the command line; options may follow the archive.
func (u *unzipper) parse(args []string) (archive string, status int, ok bool) {
	excluding := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' {
			switch {
			case archive == "":
				archive = a
			case excluding:
				u.exclude = append(u.exclude, a)
			default:
				u.list = append(u.list, a)
			}
			continue
		}
		if a == "--help" || a == "-h" || a == "-hh" {
			u.c.Stdout.WriteString(u.c.Command.Help())
			return "", 0, false
		}
		for j := 1; j < len(a); j++ {
			switch ch := a[j]; ch {
			case 'd':
				if u.dir = a[j+1:]; u.dir == "" {
					if i++; i >= len(args) {
						return "", u.error(10, "error:  must specify directory to which to extract with -d option"), false
					}
					u.dir = args[i]
				}
				j = len(a)
			case 'x':
				excluding = true
			default:
				if !u.letter(ch) {
					u.c.Stdout.WriteString(u.c.Command.Help())
					return "", 10, false
				}
			}
		}
	}
	if archive == "" {
		u.c.Stdout.WriteString(u.c.Command.Help())
		return "", 0, false
	}
	u.used = make([]bool, len(u.list))
	return archive, 0, true
}

func (u *unzipper) letter(ch byte) bool {
	switch ch {
	case 'l', 'v', 't', 'p', 'c', 'z', 'Z', '1':
		u.mode = ch
	case 'q':
		u.quiet++
	case 'n':
		u.never = true
	case 'o':
		u.over = true
	case 'j':
		u.junk = true
	case 'C':
		u.fold = true
	case 'L':
		u.lower = true
	case 'f':
		u.freshen = true
	case 'u':
		u.update = true
	default:
		return strings.IndexByte("aUXKDbMVWB:^", ch) >= 0
	}
	return true
}

func (u *unzipper) error(status int, format string, args ...any) int {
	if u.c.Stdout.Flush() == nil {
		fmt.Fprintf(u.c.Stderr, format+"\n", args...)
	}
	return status
}

// open finds the archive: by its name, or with .zip after it.
func (u *unzipper) open(archive string) (vfs.File, string, error) {
	var first error
	for _, name := range []string{archive, archive + ".zip", archive + ".ZIP"} {
		f, err := u.c.FS.Open(name)
		if err == nil {
			return f, name, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, "", first
}

func (u *unzipper) run(archive string) int {
	f, name, err := u.open(archive)
	if err != nil {
		return u.error(9, "%s:  cannot find or open %s, %s.zip or %s.ZIP.", u.c.Command.Name, archive, archive, archive)
	}
	defer f.Close()
	a, err := f.Stat()
	var r *zip.Reader
	if err == nil {
		r, err = zip.NewReader(f, int64(a.Size))
	}
	loud := u.mode != 'p' && u.mode != '1' && u.quiet < 2 && !(u.mode == 't' && u.quiet > 0) && !(u.mode == 'x' && u.quiet > 0)
	if loud {
		u.c.Stdout.WriteString("Archive:  " + name + "\n")
	}
	if err != nil {
		return u.error(9, "  End-of-central-directory signature not found.  Either this file is not\n  a zipfile, or it constitutes one disk of a multi-part archive.  In the\n  latter case the central directory and zipfile comment will be found on\n  the last disk(s) of this archive.\nunzip:  cannot find zipfile directory in one of %s or\n        %s.zip, and cannot find %s.ZIP, period.", archive, archive, archive)
	}
	if len(r.File) == 0 && u.mode == 'x' {
		return u.error(1, "warning [%s]:  zipfile is empty", name)
	}
	files := u.chosen(r.File)
	switch u.mode {
	case 'l':
		u.short(files)
	case 'v':
		u.long(files)
	case 'Z':
		u.info(files, len(r.File), int64(a.Size))
	case '1':
		for _, m := range files {
			u.c.Stdout.WriteString(m.Name + "\n")
		}
	case 't':
		u.test(name, files)
	case 'z':
		if r.Comment != "" {
			u.c.Stdout.WriteString(r.Comment + "\n")
		}
	case 'p', 'c':
		u.extractAll(files)
	default:
		if err := u.makeDir(); err != nil {
			return u.error(2, "checkdir:  cannot create extraction directory: %s\n           %s", u.dir, command.Strerror(err))
		}
		u.extractAll(files)
	}
	return u.finish()
}

// makeDir makes the directory of -d, but none above it.
func (u *unzipper) makeDir() error {
	if u.dir == "" {
		return nil
	}
	if a, err := u.c.FS.Stat(u.dir); err == nil && a.IsDir() {
		return nil
	}
	return u.c.FS.Mkdir(strings.TrimRight(u.dir, "/"), 0o777)
}

// chosen are the members that the lists select.
func (u *unzipper) chosen(all []*zip.File) []*zip.File {
	flags := 0
	if u.fold {
		flags = gnulib.FoldCase
	}
	var out []*zip.File
	for _, m := range all {
		in := len(u.list) == 0
		for i, p := range u.list {
			if gnulib.Fnmatch(p, m.Name, flags) {
				in, u.used[i] = true, true
			}
		}
		for _, p := range u.exclude {
			in = in && !gnulib.Fnmatch(p, m.Name, flags)
		}
		if in {
			out = append(out, m)
		}
	}
	return out
}

// finish reports names that matched nothing.
func (u *unzipper) finish() int {
	missed := 0
	for i, ok := range u.used {
		if !ok {
			missed++
			if u.mode != 'l' && u.mode != 'v' && u.mode != 'Z' && u.mode != '1' {
				u.error(0, "caution: filename not matched:  %s", u.list[i])
			}
		}
	}
	if missed > 0 && (missed == len(u.used) || u.mode != 'l' && u.mode != 'v') && u.status == 0 {
		u.status = 11
	}
	return u.status
}

func (u *unzipper) stamp(m *zip.File) string {
	return gnulib.Strftime("%Y-%m-%d %H:%M", m.Modified.In(u.loc))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func (u *unzipper) short(files []*zip.File) {
	out := u.c.Stdout
	if u.quiet < 2 {
		out.WriteString("  Length      Date    Time    Name\n---------  ---------- -----   ----\n")
	}
	var total uint64
	for _, m := range files {
		total += m.UncompressedSize64
		fmt.Fprintf(out, "%9d  %s   %s\n", m.UncompressedSize64, u.stamp(m), m.Name)
	}
	if u.quiet < 2 {
		fmt.Fprintf(out, "---------                     -------\n%9d                     %d file%s\n", total, len(files), plural(len(files), "", "s"))
	}
}

// unzipRatio is how much smaller a member has become, as unzip writes it: a
// loss of a whole hundred has no sign.
func unzipRatio(whole, part uint64) string {
	if whole == 0 {
		return "0%"
	}
	if whole >= part {
		return fmt.Sprintf("%d%%", ((1000*(whole-part)+whole/2)/whole+5)/10)
	}
	loss := ((1000*(part-whole)+whole/2)/whole + 5) / 10
	if loss == 100 {
		return "100%"
	}
	return fmt.Sprintf("-%d%%", loss)
}

func zipMethod(m *zip.File) string {
	switch m.Method {
	case zip.Store:
		return "Stored"
	case zip.Deflate:
		return "Defl:N"
	}
	return fmt.Sprintf("Unk:%03d", m.Method)
}

func (u *unzipper) long(files []*zip.File) {
	out := u.c.Stdout
	if u.quiet < 2 {
		out.WriteString(" Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n--------  ------  ------- ---- ---------- ----- --------  ----\n")
	}
	var whole, part uint64
	for _, m := range files {
		whole, part = whole+m.UncompressedSize64, part+m.CompressedSize64
		fmt.Fprintf(out, "%8d  %-6s%9d %4s %s %08x  %s\n", m.UncompressedSize64, zipMethod(m), m.CompressedSize64, unzipRatio(m.UncompressedSize64, m.CompressedSize64), u.stamp(m), m.CRC32, m.Name)
	}
	if u.quiet < 2 {
		fmt.Fprintf(out, "--------          -------  ---                            -------\n%8d         %8d %4s                            %d file%s\n", whole, part, unzipRatio(whole, part), len(files), plural(len(files), "", "s"))
	}
}

// info is zipinfo.
func (u *unzipper) info(files []*zip.File, all int, size int64) {
	out := u.c.Stdout
	fmt.Fprintf(out, "Zip file size: %d bytes, number of entries: %d\n", size, all)
	var whole, part uint64
	for _, m := range files {
		whole, part = whole+m.UncompressedSize64, part+m.CompressedSize64
		method := "stor"
		if m.Method == zip.Deflate {
			method = "defN"
		}
		kind := "bx"
		fmt.Fprintf(out, "%s  %d.%d unx %8d %s %s %s %s\n", unixMode(m.Mode()), m.CreatorVersion&0xff/10, m.CreatorVersion&0xff%10, m.UncompressedSize64, kind, method, gnulib.Strftime("%y-%b-%d %H:%M", m.Modified.In(u.loc)), m.Name)
	}
	ratio := 0.0
	if whole > 0 {
		ratio = 100 * (1 - float64(part)/float64(whole))
	}
	fmt.Fprintf(out, "%d file%s, %d bytes uncompressed, %d bytes compressed:  %.1f%%\n", len(files), plural(len(files), "", "s"), whole, part, ratio)
}

func unixMode(m fs.FileMode) string {
	mode := uint32(m.Perm()) | vfs.ModeRegular
	switch {
	case m.IsDir():
		mode = uint32(m.Perm()) | vfs.ModeDir
	case m&fs.ModeSymlink != 0:
		mode = uint32(m.Perm()) | vfs.ModeSymlink
	}
	return gnulib.ModeString(mode)
}

func (u *unzipper) test(name string, files []*zip.File) {
	bad := 0
	for _, m := range files {
		if u.ctx.Err() != nil {
			return
		}
		err := checkMember(u.ctx, m)
		if u.quiet == 0 || err != nil {
			fmt.Fprintf(u.c.Stdout, "    testing: %-22s  ", m.Name)
			if err == nil {
				u.c.Stdout.WriteString(" OK\n")
			} else {
				u.c.Stdout.WriteString(" " + zipFault(err) + "\n")
			}
		}
		if err != nil {
			bad++
		}
	}
	switch {
	case bad > 0:
		fmt.Fprintf(u.c.Stdout, "At least one error was detected in %s.\n", name)
		u.status = 2
	case u.quiet < 2:
		fmt.Fprintf(u.c.Stdout, "No errors detected in compressed data of %s.\n", name)
	}
}

func zipFault(err error) string {
	if err == zip.ErrChecksum {
		return "bad CRC"
	}
	if err == zip.ErrAlgorithm {
		return "unsupported compression method"
	}
	return "invalid compressed data to inflate"
}
