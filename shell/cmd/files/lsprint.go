package files

import (
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/vfs"
)

// minColumn is the width of the narrowest column: a letter and two spaces.
const minColumn = 3

// indicatorOf is the character after a name that tells its type, 0 for none.
func (l *lister) indicatorOf(mode uint32) byte {
	if l.indicator == indicateNone {
		return 0
	}
	switch mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		return '/'
	case vfs.ModeRegular:
		if l.indicator == indicateAll && mode&0o111 != 0 {
			return '*'
		}
		return 0
	}
	if l.indicator == indicateSlash {
		return 0
	}
	switch mode & vfs.ModeTypeMask {
	case vfs.ModeSymlink:
		return '@'
	case vfs.ModeFIFO:
		return '|'
	case vfs.ModeSocket:
		return '='
	}
	return 0
}

// widths are those of the columns of a listing.
type widths struct{ inode, blocks, links, owner, group, author, size, major, minor int }

func (l *lister) measure(es []*lsEntry) widths {
	var w widths
	for _, e := range es {
		a := &e.attr
		w.inode = max(w.inode, len(l.inodeOf(e)))
		w.blocks = max(w.blocks, len(l.blocksOf(e)))
		if l.format != formatLong {
			continue
		}
		w.links = max(w.links, len(strconv.FormatUint(uint64(a.Nlink), 10)))
		w.owner = max(w.owner, len(l.user(a.UID)))
		w.group = max(w.group, len(l.group(a.GID)))
		if isDevice(a) {
			w.major = max(w.major, len(strconv.FormatUint(devicePart(a.Rdev, 'H', 10).num, 10)))
			w.minor = max(w.minor, len(strconv.FormatUint(devicePart(a.Rdev, 'L', 10).num, 10)))
		} else {
			w.size = max(w.size, len(l.sizeOf(e)))
		}
	}
	if w.major > 0 {
		w.size = max(w.size, w.major+2+w.minor)
	}
	return w
}

func isDevice(a *vfs.Attr) bool {
	t := a.Mode & vfs.ModeTypeMask
	return t == vfs.ModeChar || t == vfs.ModeBlock
}

func (l *lister) inodeOf(e *lsEntry) string {
	if e.failed {
		return "?"
	}
	return strconv.FormatUint(uint64(e.attr.Ino), 10)
}

func (l *lister) blocksOf(e *lsEntry) string {
	if e.failed {
		return "?"
	}
	return l.size.Format(e.attr.Blocks, 512)
}

func (l *lister) sizeOf(e *lsEntry) string {
	if e.failed {
		return "?"
	}
	return l.fileSize.Format(e.attr.Size, 1)
}

func (l *lister) user(uid uint32) string {
	if l.numeric {
		return strconv.FormatUint(uint64(uid), 10)
	}
	return userName(l.c, uid)
}

func (l *lister) group(gid uint32) string {
	if l.numeric {
		return strconv.FormatUint(uint64(gid), 10)
	}
	return groupName(l.c, gid)
}

// padLeft and padRight fill s up to a width with spaces.
func padLeft(s string, width int) string {
	if len(s) >= width {
		return s
	}
	return strings.Repeat(" ", width-len(s)) + s
}

func padRight(s string, width int) string {
	if len(s) >= width {
		return s
	}
	return s + strings.Repeat(" ", width-len(s))
}

// print prints a listing in the chosen format, in columns as wide as those of
// all need.
func (l *lister) print(es, all []*lsEntry) {
	l.align(es)
	w := l.measure(all)
	switch {
	case l.format == formatLong:
		for _, e := range es {
			l.long(e, &w)
		}
	case l.format == formatOne:
		for _, e := range es {
			l.c.Stdout.WriteString(l.frills(e, &w))
			l.name(e)
			l.c.Stdout.WriteString(l.end)
		}
	case l.format == formatCommas:
		l.separated(es, &w, ',')
	case l.width == 0:
		l.separated(es, &w, ' ')
	default:
		l.columns(es, &w)
	}
}

// frills are inode and blocks before a name.
func (l *lister) frills(e *lsEntry, w *widths) string {
	s := ""
	pad := func(v string, width int) {
		if l.format == formatCommas {
			width = 0
		}
		s += padLeft(v, width) + " "
	}
	if l.inode {
		pad(l.inodeOf(e), w.inode)
	}
	if l.blocks {
		pad(l.blocksOf(e), w.blocks)
	}
	if l.context {
		pad("?", 1)
	}
	return s
}

// name writes a name with its colors and its indicator.
func (l *lister) name(e *lsEntry) {
	if l.colors != nil {
		l.c.Stdout.WriteString(l.colors.paint(e, e.shown))
	} else {
		l.c.Stdout.WriteString(e.shown)
	}
	if ch := l.indicatorOf(e.attr.Mode); ch != 0 && !(l.format == formatLong && e.attr.IsSymlink()) {
		l.c.Stdout.WriteByte(ch)
	}
}

// long writes one line of ls -l.
func (l *lister) long(e *lsEntry, w *widths) {
	var b strings.Builder
	a := &e.attr
	b.WriteString(l.frills(e, w))
	if e.failed {
		b.WriteString("??????????")
	} else {
		b.WriteString(gnulib.ModeString(a.Mode))
	}
	unknown := func(s string) string {
		if e.failed {
			return "?"
		}
		return s
	}
	b.WriteString(" " + padLeft(unknown(strconv.FormatUint(uint64(a.Nlink), 10)), w.links) + " ")
	pad := padRight
	if l.numeric {
		pad = padLeft
	}
	if !l.noOwner {
		b.WriteString(pad(unknown(l.user(a.UID)), w.owner) + " ")
	}
	if !l.noGroup {
		b.WriteString(pad(unknown(l.group(a.GID)), w.group) + " ")
	}
	if l.author {
		b.WriteString(pad(unknown(l.user(a.UID)), w.owner) + " ")
	}
	if isDevice(a) {
		major := strconv.FormatUint(devicePart(a.Rdev, 'H', 10).num, 10)
		minor := strconv.FormatUint(devicePart(a.Rdev, 'L', 10).num, 10)
		b.WriteString(padLeft(major, w.size-w.minor-2) + ", " + padLeft(minor, w.minor))
	} else {
		b.WriteString(padLeft(l.sizeOf(e), w.size))
	}
	b.WriteByte(' ')
	if e.failed {
		b.WriteString(padLeft("?", len(l.when(0))))
	} else {
		b.WriteString(l.when(l.time(e)))
	}
	b.WriteByte(' ')
	l.c.Stdout.WriteString(b.String())
	l.name(e)
	if e.target != "" {
		l.target(e)
	}
	l.c.Stdout.WriteString(l.end)
}

// target writes where a symlink leads.
func (l *lister) target(e *lsEntry) {
	t := &lsEntry{name: e.target, at: e.at, attr: vfs.Attr{Mode: e.targetMode}, failed: e.targetMode == 0}
	l.quote(t, false)
	l.c.Stdout.WriteString(" -> ")
	if l.colors != nil && l.colors.looksBehind() {
		l.c.Stdout.WriteString(l.colors.paint(t, t.shown))
	} else {
		l.c.Stdout.WriteString(t.shown)
	}
	if ch := l.indicatorOf(e.targetMode); ch != 0 && e.targetMode != 0 {
		l.c.Stdout.WriteByte(ch)
	}
}

// length is how many columns an entry takes.
func (l *lister) length(e *lsEntry, w *widths) int {
	n := e.width + len(l.frills(e, w))
	if l.indicatorOf(e.attr.Mode) != 0 {
		n++
	}
	return n
}

// separated fills lines with names and a separator between them.
func (l *lister) separated(es []*lsEntry, w *widths, sep byte) {
	pos := 0
	for i, e := range es {
		n := 0
		if l.width > 0 {
			n = l.length(e, w)
		}
		if i > 0 {
			l.c.Stdout.WriteByte(sep)
			if l.width == 0 || pos+n+2 < l.width {
				l.c.Stdout.WriteByte(' ')
				pos += 2
			} else {
				l.c.Stdout.WriteString(l.end)
				pos = 0
			}
		}
		l.c.Stdout.WriteString(l.frills(e, w))
		l.name(e)
		pos += n
	}
	if len(es) > 0 {
		l.c.Stdout.WriteString(l.end)
	}
}

// columns prints names in columns, down or across.
func (l *lister) columns(es []*lsEntry, w *widths) {
	if len(es) == 0 {
		return
	}
	down := l.format == formatColumns
	lengths := make([]int, len(es))
	for i, e := range es {
		lengths[i] = l.length(e, w)
	}
	cols := fitColumns(lengths, l.width, down)
	n := len(cols)
	rows := (len(es) + n - 1) / n
	for row := range rows {
		pos := 0
		for col := range n {
			i := row*n + col
			if down {
				i = col*rows + row
			}
			if i >= len(es) {
				break
			}
			l.c.Stdout.WriteString(l.frills(es[i], w))
			l.name(es[i])
			next := i + 1
			if down {
				next = i + rows
			}
			if col == n-1 || next >= len(es) {
				break
			}
			l.indent(pos+lengths[i], pos+cols[col])
			pos += cols[col]
		}
		l.c.Stdout.WriteString(l.end)
	}
}

// fitColumns returns the widths of the most columns that fit into a line.
func fitColumns(lengths []int, width int, down bool) []int {
	n := len(lengths)
	most := min((width+minColumn-1)/minColumn, n)
	for count := most; count > 1; count-- {
		cols := make([]int, count)
		total := count * minColumn
		for i := range cols {
			cols[i] = minColumn
		}
		fits := true
		for i, length := range lengths {
			col := i % count
			if down {
				col = i / ((n + count - 1) / count)
			}
			if col != count-1 {
				length += 2
			}
			if length > cols[col] {
				total += length - cols[col]
				cols[col] = length
				if fits = total < width; !fits {
					break
				}
			}
		}
		if fits {
			return cols
		}
	}
	return []int{minColumn}
}

// indent moves from one column to another, by tabs where they reach.
func (l *lister) indent(from, to int) {
	for from < to {
		if l.tab > 0 && to/l.tab > (from+1)/l.tab {
			l.c.Stdout.WriteByte('\t')
			from += l.tab - from%l.tab
		} else {
			l.c.Stdout.WriteByte(' ')
			from++
		}
	}
}
