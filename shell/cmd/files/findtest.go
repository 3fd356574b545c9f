package files

import (
	"math"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// nameTest compiles the tests of names: -name, -path, -lname, -regex.
func (p *findParser) nameTest(name, spelled string) test {
	bare := strings.TrimPrefix(name, "-")
	fold := 0
	switch bare {
	case "iname", "ipath", "iwholename", "ilname", "iregex":
		bare, fold = bare[1:], gnulib.FoldCase
	}
	switch bare {
	case "name":
		pattern := p.arg(spelled)
		return func(e *entry) bool { return gnulib.Fnmatch(pattern, gnulib.Base(e.path), fold) }
	case "path", "wholename":
		pattern := p.arg(spelled)
		return func(e *entry) bool { return gnulib.Fnmatch(pattern, e.path, fold) }
	case "lname":
		pattern := p.arg(spelled)
		return func(e *entry) bool {
			if !e.attr.IsSymlink() {
				return false
			}
			target, err := e.at.Readlink(e.name)
			return err == nil && gnulib.Fnmatch(pattern, target, fold)
		}
	case "regex":
		return p.regexTest(p.arg(spelled), fold != 0)
	}
	return nil
}

// findRegexTypes are the dialects of -regextype; -1 stands for Emacs's.
var findRegexTypes = []struct {
	name   string
	syntax regex.Syntax
	emacs  bool
}{
	{"findutils-default", 0, true}, {"ed", regex.Basic, false}, {"emacs", 0, true}, {"gnu-awk", regex.Extended, false}, {"grep", regex.Basic, false},
	{"posix-awk", regex.Extended, false}, {"awk", regex.Extended, false}, {"posix-basic", regex.Basic, false}, {"posix-egrep", regex.Extended, false}, {"egrep", regex.Extended, false},
	{"posix-extended", regex.Extended, false}, {"posix-minimal-basic", regex.Basic, false}, {"sed", regex.Basic, false},
}

func regexSyntaxOf(name string) int {
	for i, t := range findRegexTypes {
		if t.name == name {
			return i
		}
	}
	return -1
}

func regexTypes(c *command.Context) string {
	var names []string
	for _, t := range findRegexTypes {
		names = append(names, c.Quote(t.name))
	}
	return strings.Join(names, ", ")
}

func (p *findParser) regexTest(pattern string, fold bool) test {
	if p.failed {
		return yes
	}
	kind := findRegexTypes[max(regexSyntaxOf(p.regexType), 0)]
	source, syntax := pattern, kind.syntax
	if kind.emacs {
		source, syntax = fromEmacs(pattern), regex.Basic
	}
	flags := regex.WholeLine
	if fold {
		flags |= regex.IgnoreCase
	}
	if p.f.c.Env.UTF8() {
		flags |= regex.UTF8
	}
	re, err := regex.Compile(source, syntax, flags)
	if err != nil {
		p.fail("failed to compile regular expression %s: %v", p.f.c.Quote(pattern), err)
		return yes
	}
	f := p.f
	return func(e *entry) bool {
		ok, err := re.Match(f.ctx, []byte(e.path))
		if err != nil {
			f.complain(e.path, err)
		}
		return ok
	}
}

// fromEmacs turns a regular expression of Emacs into a basic one: + and ? are
// operators there without a backslash.
func fromEmacs(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '+', '?':
			b.WriteString(`\` + string([]byte{c}))
		case '\\':
			if i++; i >= len(s) {
				b.WriteByte('\\')
				break
			}
			switch s[i] {
			case '+', '?':
				b.WriteByte(s[i])
			case '{', '}':
				b.WriteByte(s[i])
			default:
				b.WriteString(s[i-1 : i+1])
			}
		case '[':
			end := i + 1
			if end < len(s) && s[end] == '^' {
				end++
			}
			if end < len(s) && s[end] == ']' {
				end++
			}
			for end < len(s) && s[end] != ']' {
				if s[end] == '[' && end+1 < len(s) && strings.IndexByte(":.=", s[end+1]) >= 0 {
					if close := strings.Index(s[end+2:], s[end+1:end+2]+"]"); close >= 0 {
						end += close + 3
					}
				}
				end++
			}
			end = min(end+1, len(s))
			b.WriteString(s[i:end])
			i = end - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// attrTest compiles the tests of other attributes.
func (p *findParser) attrTest(name, spelled string) test {
	f := p.f
	switch name {
	case "-type", "-xtype":
		return p.typeTest(spelled, name == "-xtype")
	case "-size":
		return p.sizeTest(spelled)
	case "-perm":
		return p.permTest(spelled)
	case "-empty":
		return f.empty
	case "-inum":
		c := p.number(spelled)
		return func(e *entry) bool { return c.matches(float64(e.attr.Ino)) }
	case "-links":
		c := p.number(spelled)
		return func(e *entry) bool { return c.matches(float64(e.attr.Nlink)) }
	case "-uid":
		c := p.number(spelled)
		return func(e *entry) bool { return c.matches(float64(e.attr.UID)) }
	case "-gid":
		c := p.number(spelled)
		return func(e *entry) bool { return c.matches(float64(e.attr.GID)) }
	case "-user", "-group":
		return p.ownerTest(name, spelled)
	case "-nouser":
		return func(e *entry) bool { _, ok := f.c.System.UserByID(e.attr.UID); return !ok }
	case "-nogroup":
		return func(e *entry) bool { _, ok := f.c.System.GroupByID(e.attr.GID); return !ok }
	case "-samefile":
		a, _ := p.reference(spelled)
		return func(e *entry) bool { return e.attr.Ino == a.Ino }
	case "-readable":
		return accessTest(vfs.MayRead)
	case "-writable":
		return accessTest(vfs.MayWrite)
	case "-executable":
		return accessTest(vfs.MayExec)
	case "-fstype":
		kind := p.arg(spelled)
		return func(*entry) bool { return kind == "fuse" || kind == "fuseblk" }
	case "-context":
		p.fail("invalid predicate -context: SELinux is not enabled.")
		return yes
	}
	return nil
}

func accessTest(mask uint32) test {
	return func(e *entry) bool { return e.at.Access(e.name, mask) == nil }
}

func (f *finder) empty(e *entry) bool {
	switch {
	case e.attr.IsRegular():
		return e.attr.Size == 0
	case !e.attr.IsDir():
		return false
	}
	op := f.c.FS.Op
	h, err := f.c.FS.FS.OpenDir(&op, e.attr.Ino)
	if err != nil {
		f.complain(e.path, err)
		return false
	}
	release := op
	release.Ctx = nil
	defer h.Release(&release)
	empty := true
	if err := h.ReadDir(&op, 0, false, func(*vfs.DirEntry) bool { empty = false; return false }); err != nil {
		f.complain(e.path, err)
		return false
	}
	return empty
}

// typeTest compiles -type and -xtype, with a list of letters.
func (p *findParser) typeTest(spelled string, behind bool) test {
	arg := p.arg(spelled)
	if p.failed {
		return yes
	}
	types := map[uint32]bool{}
	for i := 0; i < len(arg); i++ {
		if i%2 == 1 {
			if arg[i] != ',' {
				p.fail("Must separate multiple arguments to %s using: ','", spelled)
				return yes
			}
			continue
		}
		at := strings.IndexByte("bcdpfls", arg[i])
		if at < 0 {
			p.fail("Unknown argument to %s: %c", spelled, arg[i])
			return yes
		}
		mode := [...]uint32{vfs.ModeBlock, vfs.ModeChar, vfs.ModeDir, vfs.ModeFIFO, vfs.ModeRegular, vfs.ModeSymlink, vfs.ModeSocket}[at]
		if types[mode] {
			p.fail("Duplicate file type '%c' in the argument list to %s.", arg[i], spelled)
			return yes
		}
		types[mode] = true
	}
	if len(arg) == 0 || len(arg)%2 == 0 {
		p.fail("Last file type in list argument to %s is missing, i.e., list is ending on: ','", spelled)
		return yes
	}
	f := p.f
	return func(e *entry) bool {
		mode := e.attr.Mode
		if behind {
			look := e.at.Stat
			if f.follow == followAll {
				look = e.at.Lstat
			}
			if a, err := look(e.name); err == nil {
				mode = a.Mode
			}
		}
		return types[mode&vfs.ModeTypeMask]
	}
}

// sizeTest compiles -size: sizes are rounded up to whole units.
func (p *findParser) sizeTest(spelled string) test {
	arg := p.arg(spelled)
	if p.failed {
		return yes
	}
	digits, unit := arg, uint64(512)
	if n := len(arg) - 1; n >= 0 && (arg[n] < '0' || arg[n] > '9') {
		digits = arg[:n]
		switch arg[n] {
		case 'b':
		case 'c':
			unit = 1
		case 'w':
			unit = 2
		case 'k':
			unit = 1 << 10
		case 'M':
			unit = 1 << 20
		case 'G':
			unit = 1 << 30
		default:
			p.fail("invalid -size type `%c'", arg[n])
			return yes
		}
	}
	c, ok := parseComparison(digits)
	if !ok || strings.Contains(digits, ".") {
		p.fail("Invalid argument `%s' to -size", arg)
		return yes
	}
	return func(e *entry) bool {
		n := e.attr.Size / unit
		if e.attr.Size%unit != 0 {
			n++
		}
		return c.matches(float64(n))
	}
}

// permTest compiles -perm MODE, -MODE (all bits) and /MODE (any bit).
func (p *findParser) permTest(spelled string) test {
	arg := p.arg(spelled)
	if p.failed {
		return yes
	}
	kind, mode := byte(0), arg
	if mode != "" && (mode[0] == '-' || mode[0] == '/') {
		kind, mode = mode[0], mode[1:]
	}
	m, ok := gnulib.ParseMode(mode)
	if !ok {
		p.fail("invalid mode %s", p.f.c.Quote(arg))
		return yes
	}
	plain, dir := m.Apply(0, false, 0), m.Apply(0, true, 0)
	return func(e *entry) bool {
		want, have := plain, e.attr.Mode&vfs.ModePerm
		if e.attr.IsDir() {
			want = dir
		}
		switch kind {
		case '-':
			return have&want == want
		case '/':
			return want == 0 || have&want != 0
		}
		return have == want
	}
}

// ownerTest compiles -user and -group, by name or number.
func (p *findParser) ownerTest(name, spelled string) test {
	arg := p.arg(spelled)
	if p.failed {
		return yes
	}
	var id uint64
	known := false
	if name == "-user" {
		if u, ok := p.f.c.System.UserByName(arg); ok {
			id, known = uint64(u.UID), true
		}
	} else if g, ok := p.f.c.System.GroupByName(arg); ok {
		id, known = uint64(g.GID), true
	}
	if !known {
		n, err := strconv.ParseUint(arg, 10, 64)
		if err != nil || n > math.MaxUint32 {
			if name == "-user" {
				p.fail("%s is not the name of a known user", p.f.c.Quote(arg))
			} else {
				p.fail("%s is not the name of an existing group", p.f.c.Quote(arg))
			}
			return yes
		}
		id = n
	}
	if name == "-user" {
		return func(e *entry) bool { return uint64(e.attr.UID) == id }
	}
	return func(e *entry) bool { return uint64(e.attr.GID) == id }
}
