package files

import (
	"sort"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// lsEntry is one line of a listing.
type lsEntry struct {
	name   string // as it is shown, before quoting
	path   string // by which it is reached
	at     *vfs.Walker
	attr   vfs.Attr
	failed bool // attributes are not known
	// target is where a symlink leads; targetMode has the mode of what is
	// there, 0 when nothing is.
	target     string
	targetMode uint32

	shown string // name, quoted
	width int    // columns of shown
}

// list lists the operands: what is no directory first.
func (l *lister) list(names []string) {
	if len(names) == 0 {
		names = []string{"."}
	}
	var plain, dirs []*lsEntry
	for _, name := range names {
		e := &lsEntry{name: name, path: name, at: l.c.FS}
		if !l.examineOperand(e) {
			continue
		}
		if e.attr.IsDir() && !l.dirs {
			dirs = append(dirs, e)
		} else {
			plain = append(plain, e)
		}
	}
	l.order(plain)
	l.order(dirs)
	if len(plain) > 0 {
		// The columns are as wide as all operands need, directories too.
		l.print(plain, append(dirs[:len(dirs):len(dirs)], plain...))
		l.printed = true
	}
	headers := len(names) > 1 || l.recursive
	for _, e := range dirs {
		if !l.directory(e, headers, nil) {
			return
		}
	}
}

// examineOperand finds the attributes of an operand, through a symlink where
// the options say so.
func (l *lister) examineOperand(e *lsEntry) bool {
	a, err := l.c.FS.Lstat(e.path)
	follow := l.follow != followNone
	if err == nil && a.IsSymlink() && (follow || l.followDir) {
		to, terr := l.c.FS.Stat(e.path)
		switch {
		case terr == nil && (follow || to.IsDir()):
			a = to
		case terr != nil && (follow || toErrno(terr) != syscall.ENOENT):
			err = terr
		}
	}
	if err != nil {
		l.serious("cannot access %s: %s", e.path, err)
		return false
	}
	e.attr = a
	l.resolve(e)
	return true
}

func (l *lister) serious(format, path string, err error) {
	l.c.Errorf(format, l.c.QuoteArg(path), command.Strerror(err))
	l.status = 2
}

func (l *lister) minor(format, path string, err error) {
	l.c.Errorf(format, l.c.QuoteArg(path), command.Strerror(err))
	l.status = max(l.status, 1)
}

// resolve finds out about a symlink's target, where it is shown.
func (l *lister) resolve(e *lsEntry) {
	presentable(&e.attr)
	if !e.attr.IsSymlink() || l.format != formatLong && l.colors == nil {
		return
	}
	target, err := e.at.Readlink(e.path)
	if err != nil {
		l.minor("cannot read symbolic link %s: %s", e.path, err)
		return
	}
	e.target = target
	if to, err := e.at.Stat(e.path); err == nil {
		e.targetMode = to.Mode
	}
}

// directory lists one directory, and those below it for -R; false when the
// command was cancelled.
func (l *lister) directory(dir *lsEntry, header bool, above []vfs.Ino) bool {
	if l.ctx.Err() != nil {
		return false
	}
	complain := l.minor
	if len(above) == 0 {
		complain = l.serious
	}
	for _, ino := range above {
		if ino == dir.attr.Ino {
			l.c.Errorf("%s: not listing already-listed directory", l.c.QuoteName(dir.name))
			l.status = 2
			return true
		}
	}
	es, err := l.c.FS.ReadDirIno(dir.attr.Ino)
	if err != nil {
		complain("cannot open directory %s: %s", dir.name, err)
		return true
	}
	held := int64(len(es)) * 4 * entrySize
	if err := l.c.Memory.Grow(held); err != nil {
		complain("reading directory %s: %s", dir.name, err)
		return true
	}
	defer l.c.Memory.Shrink(held)
	if header {
		if l.printed {
			l.c.Stdout.WriteString("\n")
		}
		h := &lsEntry{name: dir.name}
		l.quote(h, false)
		l.c.Stdout.WriteString(h.shown + ":\n")
	}
	l.printed = true
	entries := l.entries(dir, es)
	l.order(entries)
	if l.format == formatLong || l.blocks {
		var total uint64
		for _, e := range entries {
			total += e.attr.Blocks
		}
		l.c.Stdout.WriteString("total " + l.size.Format(total, 512) + l.end)
	}
	l.print(entries, entries)
	if !l.recursive {
		return true
	}
	above = append(above[:len(above):len(above)], dir.attr.Ino)
	for _, e := range entries {
		if e.attr.IsDir() && !e.failed && e.name != "." && e.name != ".." {
			sub := *e
			sub.name = gnulib.Join(dir.name, e.name)
			if !l.directory(&sub, true, above) {
				return false
			}
		}
	}
	return true
}

// entries examines what a directory holds.
func (l *lister) entries(dir *lsEntry, es []vfs.DirEntry) []*lsEntry {
	at := l.c.FS.At(dir.attr.Ino)
	var out []*lsEntry
	add := func(name string) {
		e := &lsEntry{name: name, path: name, at: at}
		a, err := at.Lstat(name)
		if err == nil && a.IsSymlink() && l.follow == followAll {
			if to, terr := at.Stat(name); terr == nil {
				a = to
			} else {
				err = terr
			}
		}
		if err != nil {
			l.minor("cannot access %s: %s", gnulib.Join(dir.name, name), err)
			e.failed = true
		}
		e.attr = a
		l.resolve(e)
		out = append(out, e)
	}
	if l.all {
		add(".")
		add("..")
	}
	for i := range es {
		if !l.ignored(es[i].Name) {
			add(es[i].Name)
		}
	}
	return out
}

// ignored reports whether a name is not to be listed.
func (l *lister) ignored(name string) bool {
	visible := l.all || l.almostAll
	if !visible {
		if strings.HasPrefix(name, ".") {
			return true
		}
		for _, p := range l.hide {
			if gnulib.Fnmatch(p, name, gnulib.Period) {
				return true
			}
		}
	}
	if l.backups && strings.HasSuffix(name, "~") {
		return true
	}
	for _, p := range l.ignore {
		if gnulib.Fnmatch(p, name, gnulib.Period) {
			return true
		}
	}
	return false
}

func (l *lister) time(e *lsEntry) int64 {
	switch l.timeOf {
	case 'u':
		return e.attr.Atime
	case 'c':
		return e.attr.Ctime
	case 'b':
		return e.attr.Btime
	}
	return e.attr.Mtime
}

// order sorts a listing.
func (l *lister) order(es []*lsEntry) {
	for _, e := range es {
		l.quote(e, l.aligned())
	}
	if l.sort == sortNone && !l.groupDirs {
		return
	}
	sort.SliceStable(es, func(i, j int) bool {
		a, b := es[i], es[j]
		if l.groupDirs {
			if da, db := l.isDirLike(a), l.isDirLike(b); da != db {
				return da
			}
		}
		if l.reverse {
			a, b = b, a
		}
		return l.less(a, b)
	})
}

func (l *lister) isDirLike(e *lsEntry) bool {
	mode := e.attr.Mode
	if e.attr.IsSymlink() {
		if to, err := e.at.Stat(e.path); err == nil {
			mode = to.Mode
		}
	}
	return mode&vfs.ModeTypeMask == vfs.ModeDir
}

func (l *lister) less(a, b *lsEntry) bool {
	switch l.sort {
	case sortNone:
		return false
	case sortSize:
		if a.attr.Size != b.attr.Size {
			return a.attr.Size > b.attr.Size
		}
	case sortTime:
		if ta, tb := l.time(a), l.time(b); ta != tb {
			return ta > tb
		}
	case sortVersion:
		if d := gnulib.VersionCompare(a.name, b.name); d != 0 {
			return d < 0
		}
	case sortExtension:
		if ea, eb := extension(a.name), extension(b.name); ea != eb {
			return ea < eb
		}
	case sortWidth:
		if a.width != b.width {
			return a.width < b.width
		}
	}
	return a.name < b.name
}

func extension(name string) string {
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		return name[i:]
	}
	return ""
}

// when shows a time.
func (l *lister) when(ns int64) string {
	t := time.Unix(0, ns).In(l.loc)
	const halfYear = 31556952 * time.Second / 2
	format := l.style.old
	if age := l.now.Sub(t); age > 0 && age < halfYear || t.Equal(l.now) {
		format = l.style.recent
	}
	return gnulib.Strftime(format, t)
}
