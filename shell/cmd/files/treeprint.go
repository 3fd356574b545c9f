package files

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/vfs"
)

// options reads the command line; tree has its own ways of doing so.
func (t *treeLister) options(args []string) (names []string, status int, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--":
			return append(names, args[i+1:]...), 0, true
		case strings.HasPrefix(a, "--"):
			n, status, ok := t.long(a[2:], args[i+1:])
			if !ok {
				return nil, status, false
			}
			i += n
		case len(a) > 1 && a[0] == '-':
			for j := 1; j < len(a); j++ {
				n, status, ok := t.letter(a[j], a, args[i+1:])
				if !ok {
					return nil, status, false
				}
				if n > 0 {
					i += n
					break
				}
			}
		default:
			names = append(names, a)
		}
	}
	return names, 0, true
}

func (t *treeLister) usage(format string, args ...any) (int, int, bool) {
	t.c.Errorf(format, args...)
	return 0, 1, false
}

// letter takes a short option; n is how many of the next arguments it took.
func (t *treeLister) letter(ch byte, arg string, next []string) (n, status int, ok bool) {
	flags := map[byte]*bool{'a': &t.all, 'd': &t.dirsOnly, 'l': &t.follow, 'f': &t.full, 'i': &t.noLines, 'p': &t.perms, 'u': &t.user, 'g': &t.group,
		's': &t.size, 'F': &t.indicators, 'Q': &t.quote, 'N': &t.literal, 'q': &t.question, 'r': &t.reverse, 'X': &t.xml, 'J': &t.json, 'D': &t.date}
	if f := flags[ch]; f != nil {
		*f = true
		return 0, 0, true
	}
	switch ch {
	case 'h':
		t.size, t.human = true, &gnulib.Human
	case 't':
		t.order = "mtime"
	case 'c':
		t.order, t.date = "ctime", true
	case 'v':
		t.order = "version"
	case 'U':
		t.order = "none"
	case 'n':
		t.colors = nil
	case 'C':
		if _, ok := t.c.Env.Lookup("TERM"); ok {
			t.colors = treePalette(t.c.Env.Get("LS_COLORS"))
		}
	case 'x', 'S', 'A', 'R':
	case 'L', 'P', 'I', 'o', 'H', 'T':
		if len(next) == 0 {
			what := map[byte]string{'L': "Missing argument to -L option.", 'P': "Missing argument to -P option.", 'I': "Missing argument to -I option.", 'o': "Missing argument to -o option."}[ch]
			return t.usage("%s", what)
		}
		return t.argument(ch, next[0])
	default:
		t.c.Errorf("Invalid argument -`%c'.", ch)
		fmt.Fprintf(t.c.Stderr, "usage: %s\n", t.c.Command.Synopsis)
		return 0, 1, false
	}
	return 0, 0, true
}

func (t *treeLister) argument(ch byte, v string) (n, status int, ok bool) {
	switch ch {
	case 'L':
		d, err := strconv.Atoi(v)
		if err != nil || d < 1 {
			return t.usage("Invalid level, must be greater than 0.")
		}
		t.depth = d
	case 'P':
		t.match = append(t.match, v)
	case 'I':
		t.ignore = append(t.ignore, v)
	case 'o':
		t.outName = v
	case 'H', 'T':
		return t.usage("HTML is not written")
	}
	return 1, 0, true
}

// long takes a long option.
func (t *treeLister) long(s string, next []string) (n, status int, ok bool) {
	name, value, has := strings.Cut(s, "=")
	flags := map[string]*bool{"matchdirs": &t.matchDirs, "ignore-case": &t.ignoreCase, "inodes": &t.inodes, "device": &t.device, "dirsfirst": &t.dirsFirst,
		"filesfirst": &t.filesFirst, "du": &t.du, "prune": &t.prune, "noreport": &t.noReport}
	if f := flags[name]; f != nil {
		*f = true
		if name == "du" {
			t.size = true
		}
		return 0, 0, true
	}
	switch name {
	case "help":
		t.c.Stdout.WriteString(t.c.Command.Help())
		return 0, 0, false
	case "version":
		t.c.Stdout.WriteString("tree (vfsd)\n")
		return 0, 0, false
	case "si":
		t.size, t.human = true, &gnulib.SI
		return 0, 0, true
	case "gitignore", "metafirst", "nolinks", "info", "fflinks":
		return 0, 0, true
	case "sort", "filelimit", "charset", "timefmt":
		if !has {
			if len(next) == 0 {
				return t.usage("Missing argument to --%s", name)
			}
			value, n = next[0], 1
		}
	default:
		t.c.Errorf("Invalid argument `--%s'.", s)
		fmt.Fprintf(t.c.Stderr, "usage: %s\n", t.c.Command.Synopsis)
		return 0, 1, false
	}
	switch name {
	case "sort":
		if !contains([]string{"name", "version", "size", "mtime", "ctime", "none"}, value) {
			return t.usage("sort type '%s' not valid, should be one of: name,version,size,mtime,ctime", value)
		}
		t.order = value
	case "filelimit":
		t.limit, _ = strconv.Atoi(value)
	case "charset":
		v := strings.ToLower(value)
		t.utf8 = v == "utf-8" || v == "utf8"
	case "timefmt":
		t.timefmt, t.date = value, true
	}
	return n, 0, true
}

// treePalette is the palette of tree, which colors plain files as well.
func treePalette(spec string) *lsPalette {
	p := &lsPalette{kinds: map[string]string{"lc": "\x1b[", "rc": "m", "rs": "0", "fi": "00", "di": "01;34", "ln": "01;36", "pi": "40;33", "so": "01;35",
		"bd": "40;33;01", "cd": "40;33;01", "or": "40;31;01", "ex": "01;32"}, used: true}
	p.read(spec)
	return p
}

// shown is a name in the chosen quoting.
func (t *treeLister) shown(name string) string {
	if t.literal {
		return name
	}
	if t.question {
		name = questionMarks(name, t.utf8)
	}
	if t.quote {
		return `"` + t.escape(name, '"') + `"`
	}
	return t.escape(name, ' ')
}

// escape writes what is not graphic as escapes of C; with UTF-8 only that, and
// in octal.
func (t *treeLister) escape(name string, extra byte) string {
	if !t.utf8 {
		return cEscape(name, extra, false)
	}
	var b strings.Builder
	for i := 0; i < len(name); {
		r, n := utf8.DecodeRuneInString(name[i:])
		if r == utf8.RuneError && n == 1 || !unicode.IsPrint(r) {
			for _, c := range []byte(name[i : i+n]) {
				fmt.Fprintf(&b, `\%03o`, c)
			}
		} else {
			b.WriteString(name[i : i+n])
		}
		i += n
	}
	return b.String()
}

// children writes what is below a directory; indent is the lines that go on
// at its left.
func (t *treeLister) children(dir *treeEntry, path, indent string) {
	bar, blank, tee, corner := "|   ", "    ", "|-- ", "`-- "
	if t.utf8 {
		bar, tee, corner = "│\u00a0\u00a0 ", "├── ", "└── "
	}
	for i, e := range dir.kids {
		if t.ctx.Err() != nil {
			return
		}
		lead, next := tee, bar
		if i == len(dir.kids)-1 {
			lead, next = corner, blank
		}
		if t.noLines {
			lead, next = "", ""
		}
		child := gnulib.Join(path, e.name)
		t.out.WriteString(indent + lead)
		t.line(e, child, "")
		t.children(e, child, indent+next)
	}
}

// line writes one entry: its attributes, its name, where it leads.
func (t *treeLister) line(e *treeEntry, path, _ string) {
	if meta := t.meta(e); meta != "" {
		t.out.WriteString("[" + meta + "]  ")
	}
	name := e.name
	if t.full {
		name = path
	}
	text := t.shown(name)
	if t.colors != nil {
		text = t.paint(e.attr.Mode, e, text)
	}
	t.out.WriteString(text)
	if e.link {
		t.out.WriteString(" -> ")
		target := t.shown(e.target)
		if t.colors != nil && e.to != nil {
			target = t.paint(e.to.Mode, &treeEntry{name: e.target}, target)
		}
		t.out.WriteString(target)
		if e.to != nil {
			t.out.WriteString(t.indicator(e.to.Mode))
		}
	} else {
		t.out.WriteString(t.indicator(e.attr.Mode))
	}
	if e.note != "" {
		t.out.WriteString("  [" + e.note + "]")
	}
	t.out.WriteString("\n")
}

func (t *treeLister) paint(mode uint32, e *treeEntry, text string) string {
	le := &lsEntry{name: e.name, attr: vfs.Attr{Mode: mode}}
	if e.to != nil {
		le.targetMode = e.to.Mode
	}
	return t.colors.paint(le, text)
}

func (t *treeLister) indicator(mode uint32) string {
	if !t.indicators {
		return ""
	}
	switch mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		return "/"
	case vfs.ModeSocket:
		return "="
	case vfs.ModeFIFO:
		return "|"
	case vfs.ModeRegular:
		if mode&0o111 != 0 {
			return "*"
		}
	}
	return ""
}

// meta are the attributes in brackets before a name.
func (t *treeLister) meta(e *treeEntry) string {
	var parts []string
	a := &e.attr
	if t.inodes {
		parts = append(parts, fmt.Sprintf("%7d", a.Ino))
	}
	if t.device {
		parts = append(parts, fmt.Sprintf("%3d", device))
	}
	if t.perms {
		parts = append(parts, gnulib.ModeString(a.Mode))
	}
	if t.user {
		parts = append(parts, fmt.Sprintf("%-8.32s", userName(t.c, a.UID)))
	}
	if t.group {
		parts = append(parts, fmt.Sprintf("%-8.32s", groupName(t.c, a.GID)))
	}
	if t.size {
		size := a.Size
		if t.du {
			size = e.size
		}
		parts = append(parts, t.sizeText(size))
	}
	if t.date {
		parts = append(parts, t.when(e))
	}
	return strings.Join(parts, " ")
}

func (t *treeLister) sizeText(n uint64) string {
	if t.human == nil {
		return fmt.Sprintf("%11d", n)
	}
	// tree rounds to the nearest, unlike the coreutils.
	base := float64(t.human.Base)
	v, units := float64(n), "BKMGTPEZY"
	if t.human.Base == 1000 {
		units = "BkMGTPEZY"
	}
	i := 0
	for v >= base && i < len(units)-1 {
		v /= base
		i++
	}
	switch {
	case i == 0:
		return fmt.Sprintf("%4d", n)
	case v >= 10:
		return fmt.Sprintf("%3.0f%c", v, units[i])
	}
	return fmt.Sprintf("%3.1f%c", v, units[i])
}

func (t *treeLister) when(e *treeEntry) string {
	ns := e.attr.Mtime
	if t.order == "ctime" {
		ns = e.attr.Ctime
	}
	at := time.Unix(0, ns).In(t.loc)
	if t.timefmt != "" {
		return gnulib.Strftime(t.timefmt, at)
	}
	const halfYear = 6 * 31 * 24 * time.Hour
	now := t.c.Now()
	if at.After(now) || at.Before(now.Add(-halfYear)) {
		return gnulib.Strftime("%b %e  %Y", at)
	}
	return gnulib.Strftime("%b %e %R", at)
}

func treeType(mode uint32) string {
	switch mode & vfs.ModeTypeMask {
	case vfs.ModeDir:
		return "directory"
	case vfs.ModeSymlink:
		return "link"
	case vfs.ModeFIFO:
		return "fifo"
	case vfs.ModeSocket:
		return "socket"
	case vfs.ModeChar:
		return "char"
	case vfs.ModeBlock:
		return "block"
	}
	return "file"
}

// attributes are what -p, -u and the like add to XML and JSON.
func (t *treeLister) attributes(e *treeEntry) [][3]string {
	var out [][3]string // name, value, and "n" for a number
	a := &e.attr
	if t.inodes {
		out = append(out, [3]string{"inode", strconv.FormatUint(uint64(a.Ino), 10), "n"})
	}
	if t.perms {
		out = append(out, [3]string{"mode", fmt.Sprintf("%04o", a.Mode&vfs.ModePerm), ""}, [3]string{"prot", gnulib.ModeString(a.Mode), ""})
	}
	if t.user {
		out = append(out, [3]string{"user", userName(t.c, a.UID), ""})
	}
	if t.group {
		out = append(out, [3]string{"group", groupName(t.c, a.GID), ""})
	}
	if t.size {
		size := a.Size
		if t.du {
			size = e.size
		}
		if t.human != nil {
			out = append(out, [3]string{"size", strings.TrimSpace(t.sizeText(size)), ""})
		} else {
			out = append(out, [3]string{"size", strconv.FormatUint(size, 10), "n"})
		}
	}
	if t.date {
		out = append(out, [3]string{"time", t.when(e), ""})
	}
	return out
}

func (t *treeLister) writeJSON(e *treeEntry, path, indent string) {
	name := e.name
	if t.full {
		name = path
	}
	fmt.Fprintf(t.out, "%s{\"type\":\"%s\",\"name\":%s", indent, treeType(e.attr.Mode), jsonQuote(name))
	if e.link {
		fmt.Fprintf(t.out, ",\"target\":%s", jsonQuote(e.target))
	}
	for _, kv := range t.attributes(e) {
		v := kv[1]
		if kv[2] == "" {
			v = jsonQuote(v)
		}
		fmt.Fprintf(t.out, ",\"%s\":%s", kv[0], v)
	}
	if len(e.kids) == 0 {
		t.out.WriteString("}")
		return
	}
	t.out.WriteString(",\"contents\":[\n")
	for i, kid := range e.kids {
		t.writeJSON(kid, gnulib.Join(path, kid.name), indent+"  ")
		if i < len(e.kids)-1 {
			t.out.WriteString(",")
		}
		t.out.WriteString("\n")
	}
	t.out.WriteString(indent + "]}")
}

func (t *treeLister) writeXML(e *treeEntry, path, indent string) {
	name := e.name
	if t.full {
		name = path
	}
	kind := treeType(e.attr.Mode)
	fmt.Fprintf(t.out, "%s<%s name=\"%s\"", indent, kind, xmlQuote(name))
	if e.link {
		fmt.Fprintf(t.out, " target=\"%s\"", xmlQuote(e.target))
	}
	for _, kv := range t.attributes(e) {
		fmt.Fprintf(t.out, " %s=\"%s\"", kv[0], xmlQuote(kv[1]))
	}
	t.out.WriteString(">")
	if len(e.kids) > 0 {
		t.out.WriteString("\n")
		for _, kid := range e.kids {
			t.writeXML(kid, gnulib.Join(path, kid.name), indent+"  ")
		}
		t.out.WriteString(indent)
	}
	fmt.Fprintf(t.out, "</%s>\n", kind)
}

func xmlQuote(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&apos;").Replace(s)
}

func jsonQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range []byte(s) {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string([]byte{c}))
		case c >= 8 && c <= 13 && c != 11:
			b.WriteString(`\` + "btn?fr"[c-8:c-7])
		case c < ' ':
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String() + `"`
}
