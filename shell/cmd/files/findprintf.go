package files

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// segment is a piece of a -printf format: text, or a directive.
type segment struct {
	text      string
	directive byte // 0 for text
	time      byte // the second letter of %A %B %C %T
	flags     string
	width     int
	prec      int
	flush     bool
}

// printf compiles -printf.
func (p *findParser) printf(w *command.Writer, format string) test {
	if p.failed {
		return yes
	}
	segs, ok := p.segments(format)
	if !ok {
		return yes
	}
	f := p.f
	return func(e *entry) bool {
		for i := range segs {
			s := &segs[i]
			if s.directive == 0 {
				w.WriteString(s.text)
				continue
			}
			w.WriteString(f.directive(s, e))
		}
		return true
	}
}

// segments cuts a format into pieces.
func (p *findParser) segments(format string) ([]segment, bool) {
	var out []segment
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			out = append(out, segment{text: text.String()})
			text.Reset()
		}
	}
	for i := 0; i < len(format); i++ {
		switch {
		case format[i] == '\\':
			n, stop := p.printfEscape(format[i:], &text)
			if stop { // \c ends all output
				flush()
				return out, true
			}
			i += n - 1
		case format[i] == '%':
			if i+1 >= len(format) {
				p.fail("error: %% at end of format string")
				return nil, false
			}
			if format[i+1] == '%' {
				text.WriteByte('%')
				i++
				continue
			}
			s, n := p.printfDirective(format[i:])
			if s.directive == 0 {
				text.WriteString(s.text)
			} else {
				flush()
				out = append(out, s)
			}
			i += n - 1
		default:
			text.WriteByte(format[i])
		}
	}
	flush()
	return out, true
}

// printfEscape reads a backslash escape.
func (p *findParser) printfEscape(s string, text *strings.Builder) (n int, stop bool) {
	if len(s) == 1 {
		p.f.c.Errorf("warning: escape `\\' followed by nothing at all")
		text.WriteByte('\\')
		return 1, false
	}
	if s[1] >= '0' && s[1] <= '7' {
		v := 0
		for n = 1; n < 4 && n < len(s) && s[n] >= '0' && s[n] <= '7'; n++ {
			v = v*8 + int(s[n]-'0')
		}
		text.WriteByte(byte(v))
		return n, false
	}
	if i := strings.IndexByte("abfnrtv\\", s[1]); i >= 0 {
		text.WriteByte("\a\b\f\n\r\t\v\\"[i])
		return 2, false
	}
	if s[1] == 'c' {
		return 2, true
	}
	p.f.c.Errorf("warning: unrecognized escape `\\%c'", s[1])
	text.WriteString(s[:2])
	return 2, false
}

// printfDirective reads a directive; an unknown one becomes text.
func (p *findParser) printfDirective(s string) (segment, int) {
	g := segment{prec: -1}
	i := 1
	for i < len(s) && strings.IndexByte("-+ #0", s[i]) >= 0 {
		i++
	}
	g.flags = s[1:i]
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		g.width = min(g.width*10+int(s[i]-'0'), 1<<16)
		i++
	}
	if i < len(s) && s[i] == '.' {
		g.prec = 0
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
			g.prec = min(g.prec*10+int(s[i]-'0'), 1<<16)
		}
	}
	if i >= len(s) {
		return segment{text: s}, len(s)
	}
	switch {
	case strings.IndexByte("abcdDfFgGhHiklmMnpPsStuUyYZ", s[i]) >= 0:
		g.directive = s[i]
		return g, i + 1
	case strings.IndexByte("ABCT", s[i]) >= 0:
		if i+1 >= len(s) {
			p.f.c.Errorf("warning: format directive `%s' should be followed by another character", s)
			return segment{text: s}, len(s)
		}
		g.directive, g.time = s[i], s[i+1]
		return g, i + 2
	}
	p.f.c.Errorf("warning: unrecognized format directive `%%%c'", s[i])
	return segment{text: s[:i+1]}, i + 1
}

// directive writes one directive for a file.
func (f *finder) directive(s *segment, e *entry) string {
	a := &e.attr
	if s.time != 0 {
		kind := s.directive | 0x20
		ns := a.Mtime
		switch kind {
		case 'a':
			ns = a.Atime
		case 'b':
			ns = a.Btime
		case 'c':
			ns = a.Ctime
		}
		return statValue{text: f.timeField(s.time, ns)}.format(s.flags, s.width, s.prec)
	}
	num := func(n uint64) string { return number(n, 10).format(s.flags, s.width, s.prec) }
	// %s and the like are texts to printf, so that 0 does nothing.
	text := func(t string) string { return statValue{text: t}.format(s.flags, s.width, s.prec) }
	switch s.directive {
	case 'm':
		return number(uint64(a.Mode&vfs.ModePerm), 8).format(s.flags, s.width, s.prec)
	case 'd':
		return num(uint64(e.depth))
	case 'b':
		return text(strconv.FormatUint(a.Blocks, 10))
	case 'k':
		return text(strconv.FormatUint((a.Blocks+1)/2, 10))
	case 's':
		return text(strconv.FormatUint(a.Size, 10))
	case 'i':
		return text(strconv.FormatUint(uint64(a.Ino), 10))
	case 'n':
		return text(strconv.FormatUint(uint64(a.Nlink), 10))
	case 'D':
		return text(strconv.Itoa(device))
	case 'G':
		return text(strconv.FormatUint(uint64(a.GID), 10))
	case 'U':
		return text(strconv.FormatUint(uint64(a.UID), 10))
	case 'a':
		return text(f.timeField(0, a.Atime))
	case 'c':
		return text(f.timeField(0, a.Ctime))
	case 't':
		return text(f.timeField(0, a.Mtime))
	case 'S':
		if a.Size == 0 {
			return text("1")
		}
		return text(fmt.Sprintf("%g", float64(a.Blocks)*512/float64(a.Size)))
	}
	return text(f.textField(s.directive, e))
}

// textField is a directive that is a text.
func (f *finder) textField(d byte, e *entry) string {
	a := &e.attr
	switch d {
	case 'f':
		if e.depth == 0 { // with the slashes that it was given
			bare := strings.TrimRight(e.path, "/")
			return e.path[strings.LastIndexByte(bare, '/')+1:]
		}
		return gnulib.Base(e.path)
	case 'F':
		return "fuseblk"
	case 'g':
		return groupName(f.c, a.GID)
	case 'u':
		return userName(f.c, a.UID)
	case 'h':
		path := gnulib.StripSlashes(e.path)
		i := strings.LastIndexByte(path, '/')
		switch {
		case i < 0:
			return "."
		case i == 0 && strings.Trim(path, "/") == "":
			return ""
		}
		return path[:i]
	case 'H':
		return f.root
	case 'P':
		if e.depth == 0 {
			return ""
		}
		return strings.TrimPrefix(e.path[len(f.root):], "/")
	case 'l':
		if a.IsSymlink() {
			if target, err := e.at.Readlink(e.name); err == nil {
				return target
			}
		}
	case 'M':
		return gnulib.ModeString(a.Mode)
	case 'p':
		return e.path
	case 'y':
		return typeChar(a.Mode)
	case 'Y':
		if !a.IsSymlink() {
			return typeChar(a.Mode)
		}
		to, err := e.at.Stat(e.name)
		if err != nil {
			if command.Strerror(err) == "Too many levels of symbolic links" {
				return "L"
			}
			return "N"
		}
		return typeChar(to.Mode)
	}
	return ""
}

func typeChar(mode uint32) string {
	if mode&vfs.ModeTypeMask == vfs.ModeRegular {
		return "f"
	}
	return string([]byte{gnulib.TypeLetter(mode)})
}

// timeField writes a time by one letter: @ + or one of strftime(3)'s. Seconds
// have ten decimals.
func (f *finder) timeField(letter byte, ns int64) string {
	t := time.Unix(0, ns).In(f.loc)
	frac := gnulib.Strftime(".%N0", t)
	switch letter {
	case 0:
		return gnulib.Strftime("%a %b %e %H:%M:%S", t) + frac + gnulib.Strftime(" %Y", t)
	case '@':
		return strconv.FormatInt(t.Unix(), 10) + frac
	case '+':
		return gnulib.Strftime("%Y-%m-%d+%H:%M:%S", t) + frac
	case 'S':
		return gnulib.Strftime("%S", t) + frac
	case 'T', 'X':
		return gnulib.Strftime("%H:%M:%S", t) + frac
	case 'r':
		return gnulib.Strftime("%I:%M:%S", t) + frac + gnulib.Strftime(" %p", t)
	}
	return gnulib.Strftime("%"+string([]byte{letter}), t)
}
