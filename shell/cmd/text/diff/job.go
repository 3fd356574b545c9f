package diff

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/text/glob"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// job is one run of diff.
type job struct {
	c    *command.Context
	s    *settings
	utf8 bool
	held int64 // on the account, for the present pair
	out  io.Writer
}

// fail reports an error about a file.
func (j *job) fail(name string, err error) int {
	j.c.Stdout.Flush()
	j.c.Errorf("%s: %s", name, command.Strerror(err))
	return exitTrouble
}

// stat looks at a file; "-" is standard input.
func (j *job) stat(name string) (*file, error) {
	f := &file{name: name}
	if name == "-" {
		f.stdin = true
		f.attr.Mode = vfs.ModeFIFO
		f.attr.Mtime = j.c.Now().UnixNano()
		if r := command.Regular(j.c.Stdin); r != nil {
			a, err := r.Stat()
			f.attr = a
			return f, err
		}
		return f, nil
	}
	var err error
	if j.s.noLinks {
		f.attr, err = j.c.FS.Lstat(name)
	} else {
		f.attr, err = j.c.FS.Stat(name)
	}
	return f, err
}

// operands compares what the command line names. Of a directory and a file, the
// file of that name in the directory is meant.
func (j *job) operands(ctx context.Context, name0, name1 string) int {
	var files [2]*file
	var errs [2]error
	for i, name := range []string{name0, name1} {
		files[i], errs[i] = j.stat(name)
	}
	for i := range files {
		if errs[i] == nil || errs[1-i] != nil {
			continue
		}
		if files[1-i].attr.IsDir() {
			continue
		}
		if (j.s.newFile || j.s.oneNew && i == 0) && vfs.ToErrno(errs[i]) == syscall.ENOENT {
			files[i].absent, errs[i] = true, nil
			files[i].attr.Mode = files[1-i].attr.Mode
		}
	}
	status := exitSame
	for i := range files {
		if errs[i] != nil {
			status = j.fail(files[i].name, errs[i])
		}
	}
	if status != exitSame {
		return status
	}
	a, b := files[0], files[1]
	if a.attr.IsDir() != b.attr.IsDir() {
		dir, other := a, b
		if b.attr.IsDir() {
			dir, other = b, a
		}
		if other.stdin {
			j.c.Errorf("cannot compare '-' to a directory")
			return exitTrouble
		}
		base := other.name[strings.LastIndexByte(strings.TrimRight(other.name, "/"), '/')+1:]
		inside, err := j.stat(join(dir.name, base))
		if err != nil {
			if j.s.newFile && vfs.ToErrno(err) == syscall.ENOENT {
				inside.absent = true
				inside.attr.Mode = other.attr.Mode
			} else {
				return j.fail(inside.name, err)
			}
		}
		*dir = *inside
	}
	return j.pair(ctx, a, b, false)
}

func join(dir, name string) string {
	if strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// pair compares two files of any kind. nested says that they were found in
// directories.
func (j *job) pair(ctx context.Context, a, b *file, nested bool) int {
	if ctx.Err() != nil || j.c.Stdout.Err() != nil {
		return exitTrouble
	}
	switch {
	case a.attr.IsDir() && b.attr.IsDir():
		if nested && !j.s.recursive {
			fmt.Fprintf(j.c.Stdout, "Common subdirectories: %s and %s\n", a.name, b.name)
			return exitSame
		}
		return j.directories(ctx, a, b)
	case a.attr.IsDir() || b.attr.IsDir(), kind(a) != kind(b) && (nested || j.s.noLinks):
		fmt.Fprintf(j.c.Stdout, "File %s is a %s while file %s is a %s\n", a.name, kind(a), b.name, kind(b))
		return exitDiffers
	case a.attr.IsSymlink() && b.attr.IsSymlink():
		return j.links(a, b)
	}
	if !a.absent && !b.absent && !a.stdin && !b.stdin && a.attr.Ino == b.attr.Ino {
		if j.s.same {
			fmt.Fprintf(j.c.Stdout, "Files %s and %s are identical\n", a.name, b.name)
		}
		if j.s.style != styleSide {
			return exitSame
		}
	}
	defer func() {
		j.c.Memory.Shrink(j.held)
		j.held = 0
	}()
	return j.files(ctx, a, b, nested)
}

// kind names a file's type for messages.
func kind(f *file) string {
	switch f.attr.Mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		return "directory"
	case vfs.ModeSymlink:
		return "symbolic link"
	case vfs.ModeFIFO:
		return "fifo"
	case vfs.ModeSocket:
		return "socket"
	case vfs.ModeChar:
		return "character special file"
	case vfs.ModeBlock:
		return "block special file"
	}
	if f.attr.Size == 0 && !f.absent {
		return "regular empty file"
	}
	return "regular file"
}

// links compares the targets of two symlinks.
func (j *job) links(a, b *file) int {
	x, err := j.c.FS.Readlink(a.name)
	if err != nil {
		return j.fail(a.name, err)
	}
	y, err := j.c.FS.Readlink(b.name)
	if err != nil {
		return j.fail(b.name, err)
	}
	if x == y {
		return exitSame
	}
	fmt.Fprintf(j.c.Stdout, "Symbolic links %s and %s differ\n", a.name, b.name)
	return exitDiffers
}

// directories compares two directories name by name.
func (j *job) directories(ctx context.Context, a, b *file) int {
	var names [2][]string
	for i, d := range []*file{a, b} {
		if d.absent {
			continue
		}
		es, err := j.c.FS.ReadDir(d.name)
		if err != nil {
			return j.fail(d.name, err)
		}
		for k := range es {
			if !j.excluded(es[k].Name) && es[k].Name >= j.s.startAt {
				names[i] = append(names[i], es[k].Name)
			}
		}
		slices.SortFunc(names[i], j.compareNames)
	}
	j.s.startAt = ""
	status := exitSame
	for len(names[0]) > 0 || len(names[1]) > 0 {
		if ctx.Err() != nil || j.c.Stdout.Err() != nil {
			return exitTrouble
		}
		order := 0
		switch {
		case len(names[0]) == 0:
			order = 1
		case len(names[1]) == 0:
			order = -1
		default:
			order = j.compareNames(names[0][0], names[1][0])
		}
		name0, name1 := "", ""
		if order <= 0 {
			name0, names[0] = names[0][0], names[0][1:]
		}
		if order >= 0 {
			name1, names[1] = names[1][0], names[1][1:]
		}
		status = max(status, j.entry(ctx, a, b, name0, name1))
	}
	return status
}

func (j *job) compareNames(x, y string) int {
	if j.s.nameFold {
		return strings.Compare(strings.ToLower(x), strings.ToLower(y))
	}
	return strings.Compare(x, y)
}

func (j *job) excluded(name string) bool {
	for _, p := range j.s.exclude {
		if glob.Match(p, name, 0) {
			return true
		}
	}
	return false
}

// entry compares one name of two directories; one of the names may be "".
func (j *job) entry(ctx context.Context, a, b *file, name0, name1 string) int {
	dirs, names := [2]*file{a, b}, [2]string{name0, name1}
	var files [2]*file
	for i := range files {
		name := names[i]
		if name == "" {
			name = names[1-i]
		}
		path := join(dirs[i].name, name)
		if names[i] == "" {
			files[i] = &file{name: path, absent: true}
			continue
		}
		f, err := j.stat(path)
		if err != nil {
			return j.fail(path, err)
		}
		files[i] = f
	}
	for i := range files {
		if names[i] != "" {
			continue
		}
		dir := files[1-i].attr.IsDir()
		if !(j.s.newFile || j.s.oneNew && i == 0) || dir && !j.s.recursive {
			fmt.Fprintf(j.c.Stdout, "Only in %s: %s\n", dirs[1-i].name, names[1-i])
			return exitDiffers
		}
		files[i].attr.Mode = files[1-i].attr.Mode
	}
	return j.pair(ctx, files[0], files[1], true)
}

// files compares the contents of two files.
func (j *job) files(ctx context.Context, a, b *file, nested bool) int {
	for _, f := range []*file{a, b} {
		if err := j.read(ctx, f); err != nil {
			return j.fail(f.name, err)
		}
	}
	same := bytes.Equal(a.data, b.data)
	binary := !j.s.text && (a.binary || b.binary)
	switch {
	case binary && same, same && j.s.style != styleSide:
		return j.identical(a, b)
	case binary:
		if j.s.brief {
			fmt.Fprintf(j.c.Stdout, "Files %s and %s differ\n", label(j, 0, a), label(j, 1, b))
			return exitDiffers
		}
		j.header(a, b, nested)
		fmt.Fprintf(j.c.Stdout, "Binary files %s and %s differ\n", label(j, 0, a), label(j, 1, b))
		return exitDiffers
	}
	a.split(j.s.stripCR)
	b.split(j.s.stripCR)
	x, y := j.classes(a, b)
	script, err := compare(ctx, x, y, j.s.minimal, j.s.context)
	if err == nil {
		err = j.markIgnorable(ctx, script, a, b)
	}
	if err != nil {
		return exitTrouble
	}
	counts := slices.ContainsFunc(script, func(c change) bool { return !c.ignore })
	switch {
	case !counts && j.s.style != styleSide:
		return j.identical(a, b)
	case j.s.brief && counts:
		fmt.Fprintf(j.c.Stdout, "Files %s and %s differ\n", label(j, 0, a), label(j, 1, b))
		return exitDiffers
	}
	p := &printer{job: j, ctx: ctx, a: a, b: b, script: script}
	if counts || j.s.style == styleSide {
		j.header(a, b, nested)
	}
	p.print()
	switch {
	case !counts:
		return j.identical(a, b)
	case p.unfinished:
		return exitTrouble
	}
	return exitDiffers
}

// label is how a file is called in short messages.
func label(j *job, i int, f *file) string {
	if i < len(j.s.labels) {
		return j.s.labels[i]
	}
	return f.name
}

func (j *job) identical(a, b *file) int {
	if j.s.same {
		fmt.Fprintf(j.c.Stdout, "Files %s and %s are identical\n", label(j, 0, a), label(j, 1, b))
	}
	return exitSame
}

// header prints the command line that would compare just these two.
func (j *job) header(a, b *file, nested bool) {
	if nested {
		fmt.Fprintf(j.c.Stdout, "diff%s %s %s\n", j.s.switches, j.c.QuoteName(a.name), j.c.QuoteName(b.name))
	}
}
