package files

import (
	"context"
	"fmt"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	command.Register(command.Info{
		Name:     "tree",
		Synopsis: "tree [-acdfghilnpqrstuvxACDFJQNSUX] [-L level] [-o filename] [-P pattern] [-I pattern] [--matchdirs] [--ignore-case] [--inodes] [--sort[=]<name>] [--dirsfirst] [--filesfirst] [--filelimit #] [--si] [--du] [--prune] [--charset[=]X] [--timefmt[=]format] [--noreport] [--] [directory ...]",
		Summary:  "List contents of directories in a tree-like format.",
		RawArgs:  true,
		Notes: "  -a  all files         -d  directories only    -l  follow symlinks    -f  full paths\n" +
			"  -L level  depth       -P pattern  only those  -I pattern  not those  --prune  no empty directories\n" +
			"  -p  permissions       -u -g  owner, group     -s -h --si  sizes      -D -c  times  --timefmt format\n" +
			"  -F  indicators        --inodes --device       -Q -N -q  quoting      --noreport\n" +
			"  -v -t -c -U -r --dirsfirst --filesfirst --sort name|version|size|mtime|ctime\n" +
			"  -i  no lines          -A -S --charset         -n -C  colors          -X -J  XML, JSON\n  -o file",
	}, tree)
}

// treeLister is one run of tree.
type treeLister struct {
	c   *command.Context
	ctx context.Context
	out *command.Writer

	all, dirsOnly, follow, full, noLines       bool
	perms, user, group, size, inodes, device   bool
	human                                      *gnulib.BlockSize
	date, indicators, quote, literal, question bool
	reverse, dirsFirst, filesFirst, du, prune  bool
	ignoreCase, matchDirs, noReport, xml, json bool
	order                                      string
	depth, limit                               int
	match, ignore                              []string
	timefmt, outName                           string
	utf8                                       bool
	colors                                     *lsPalette
	loc                                        *time.Location
	dirs, files                                int
	seen                                       map[vfs.Ino]bool // directories that were read
	total                                      uint64
	status                                     int
}

// treeEntry is one line of a tree.
type treeEntry struct {
	name   string
	at     *vfs.Walker
	attr   vfs.Attr
	link   bool
	target string
	to     *vfs.Attr // where a symlink leads, nil when nowhere
	size   uint64
	note   string // why it was not opened
	kids   []*treeEntry
}

func tree(ctx context.Context, c *command.Context, args []string) int {
	t := treeLister{c: c, ctx: ctx, out: c.Stdout, utf8: c.Env.UTF8(), order: "name", loc: tz.Of(c), seen: map[vfs.Ino]bool{}}
	names, status, ok := t.options(args[1:])
	if !ok {
		return status
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	if t.outName != "" {
		f, err := c.FS.Create(t.outName, 0o666)
		if err != nil {
			return c.Errorf("invalid filename '%s'", t.outName)
		}
		defer f.Close()
		t.out = command.NewWriter(f)
	}
	t.run(names)
	if err := t.out.Flush(); err != nil && t.out != c.Stdout {
		return c.Fail(t.outName, err)
	}
	return t.status
}

func (t *treeLister) run(names []string) {
	t.head()
	for i, name := range names {
		root, ok := t.root(name)
		switch {
		case !ok && t.json:
			fmt.Fprintf(t.out, "%s,\"name\":%s,\"contents\":[{\"error\": \"error opening dir\"}\n\n  ]}", "", jsonQuote(name))
			t.out.WriteString("\n")
			t.status = 2
			continue
		case !ok && t.xml:
			fmt.Fprintf(t.out, "  <directory name=\"%s\"><error>error opening dir</error></directory>\n", xmlQuote(name))
			t.status = 2
			continue
		case !ok:
			t.out.WriteString(t.shown(name) + "  [error opening dir]\n")
			if _, err := t.c.FS.Stat(name); err != nil {
				t.status = 2
			}
			continue
		}
		switch {
		case t.json:
			if i > 0 {
				t.out.WriteString(",\n")
			}
			t.writeJSON(root, name, "  ")
			t.out.WriteString("\n")
		case t.xml:
			t.writeXML(root, name, "  ")
		default:
			t.line(root, name, "")
			t.children(root, name, "")
		}
	}
	t.report()
}

func (t *treeLister) head() {
	switch {
	case t.json:
		t.out.WriteString("[\n")
	case t.xml:
		t.out.WriteString("<?xml version=\"1.0\"")
		if t.utf8 {
			t.out.WriteString(" encoding=\"UTF-8\"")
		}
		t.out.WriteString("?>\n<tree>\n")
	}
}

func (t *treeLister) report() {
	switch {
	case t.json:
		if !t.noReport {
			fmt.Fprintf(t.out, ",\n  {\"type\":\"report\",\"directories\":%d", t.dirs)
			if !t.dirsOnly {
				fmt.Fprintf(t.out, ",\"files\":%d", t.files)
			}
			t.out.WriteString("}\n")
		}
		t.out.WriteString("]\n")
		return
	case t.xml:
		if !t.noReport {
			fmt.Fprintf(t.out, "  <report>\n    <directories>%d</directories>\n", t.dirs)
			if !t.dirsOnly {
				fmt.Fprintf(t.out, "    <files>%d</files>\n", t.files)
			}
			t.out.WriteString("  </report>\n")
		}
		t.out.WriteString("</tree>\n")
		return
	case t.noReport:
		return
	}
	t.out.WriteString("\n")
	if t.du {
		t.out.WriteString(" " + t.sizeText(t.total) + " ")
		if t.human == nil {
			t.out.WriteString("bytes ")
		}
		t.out.WriteString("used in ")
	}
	plural := func(n int, one, many string) string {
		if n == 1 {
			return strconv.Itoa(n) + " " + one
		}
		return strconv.Itoa(n) + " " + many
	}
	t.out.WriteString(plural(t.dirs, "directory", "directories"))
	if !t.dirsOnly {
		t.out.WriteString(", " + plural(t.files, "file", "files"))
	}
	t.out.WriteString("\n")
}

// root examines an operand and all below it.
func (t *treeLister) root(name string) (*treeEntry, bool) {
	a, err := t.c.FS.Stat(name)
	if err == nil && !a.IsDir() {
		err = syscall.ENOTDIR
		t.files++
	}
	if err != nil {
		return nil, false
	}
	presentable(&a)
	e := &treeEntry{name: name, at: t.c.FS, attr: a, size: a.Size}
	t.seen[a.Ino] = true
	t.read(e, 1)
	if len(e.kids) > 0 || e.note != "" {
		t.dirs++ // an empty one is not counted
	}
	return e, true
}

// read fills in what is in a directory, to the depth that is asked for.
func (t *treeLister) read(dir *treeEntry, depth int) {
	if t.depth > 0 && depth > t.depth || t.ctx.Err() != nil {
		return
	}
	ino := dir.attr.Ino
	if dir.link {
		ino = dir.to.Ino
	}
	es, err := t.c.FS.ReadDirIno(ino)
	if err == nil {
		err = t.c.Memory.Grow(int64(len(es)) * 4 * entrySize)
	}
	if err != nil {
		dir.note = "error opening dir"
		t.status = 2
		return
	}
	at := t.c.FS.At(ino)
	for i := range es {
		if e := t.entry(at, es[i].Name); e != nil {
			dir.kids = append(dir.kids, e)
		}
	}
	if t.limit > 0 && len(dir.kids) > t.limit {
		dir.note = fmt.Sprintf("%d entries exceeds filelimit, not opening dir", len(dir.kids))
		dir.kids = nil
		return
	}
	t.sort(dir.kids)
	kept := dir.kids[:0]
	for _, e := range dir.kids {
		before := [2]int{t.dirs, t.files}
		if t.isDir(e) {
			t.dirs++
		} else {
			t.files++
		}
		t.descend(e, depth)
		if t.prune && t.isDir(e) && len(e.kids) == 0 && !(t.matchDirs && len(t.match) > 0 && t.matches(t.match, e.name, true)) {
			t.dirs, t.files = before[0], before[1]
			continue
		}
		dir.size += e.size
		t.total += e.size
		kept = append(kept, e)
	}
	dir.kids = kept
}

// descend reads a directory below, unless it is a symlink that is not
// followed or leads back up.
func (t *treeLister) descend(e *treeEntry, depth int) {
	switch {
	case e.attr.IsDir():
		t.seen[e.attr.Ino] = true
		t.read(e, depth+1)
	case e.link && t.follow && e.to != nil && e.to.IsDir():
		if t.seen[e.to.Ino] {
			e.note = "recursive, not followed"
			return
		}
		t.seen[e.to.Ino] = true
		t.read(e, depth+1)
	}
}

func (t *treeLister) isDir(e *treeEntry) bool {
	return e.attr.IsDir() || e.to != nil && e.to.IsDir()
}

// entry examines one name; nil when it is not to be shown.
func (t *treeLister) entry(at *vfs.Walker, name string) *treeEntry {
	if !t.all && strings.HasPrefix(name, ".") {
		return nil
	}
	a, err := at.Lstat(name)
	if err != nil {
		return nil
	}
	presentable(&a)
	e := &treeEntry{name: name, at: at, attr: a, size: a.Size, link: a.IsSymlink()}
	if e.link {
		e.target, _ = at.Readlink(name)
		if to, err := at.Stat(name); err == nil {
			e.to = &to
		}
	}
	dir := t.isDir(e)
	if t.dirsOnly && !dir {
		return nil
	}
	plainDir := a.IsDir() || e.link && dir && t.follow
	if len(t.match) > 0 && (!plainDir || t.matchDirs) && !t.matches(t.match, name, dir) {
		if !plainDir {
			return nil
		}
	}
	if len(t.ignore) > 0 && t.matches(t.ignore, name, dir) {
		return nil
	}
	return e
}

// matches tries a name against patterns, each of which may have alternatives
// after bars; one that ends in a slash is for directories.
func (t *treeLister) matches(patterns []string, name string, dir bool) bool {
	flags := 0
	if t.ignoreCase {
		flags = gnulib.FoldCase
	}
	for _, p := range patterns {
		for _, alt := range strings.Split(p, "|") {
			bare, slash := strings.CutSuffix(alt, "/")
			if (!slash || dir) && gnulib.Fnmatch(bare, name, flags) {
				return true
			}
		}
	}
	return false
}

func (t *treeLister) sort(es []*treeEntry) {
	if t.order == "none" {
		return
	}
	less := func(a, b *treeEntry) bool {
		switch t.order {
		case "version":
			return gnulib.VersionCompare(a.name, b.name) < 0
		case "mtime":
			if a.attr.Mtime != b.attr.Mtime {
				return a.attr.Mtime < b.attr.Mtime
			}
		case "ctime":
			if a.attr.Ctime != b.attr.Ctime {
				return a.attr.Ctime < b.attr.Ctime
			}
		case "size":
			if a.attr.Size != b.attr.Size {
				return a.attr.Size > b.attr.Size
			}
		}
		return a.name < b.name
	}
	sort.SliceStable(es, func(i, j int) bool {
		a, b := es[i], es[j]
		if da, db := t.isDir(a), t.isDir(b); da != db && (t.dirsFirst || t.filesFirst) {
			return da == t.dirsFirst
		}
		if t.reverse {
			a, b = b, a
		}
		return less(a, b)
	})
}
