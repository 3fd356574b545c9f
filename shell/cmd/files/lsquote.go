package files

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/vfsd/vfsd/shell/command"
)

// Quoting styles of ls.
const (
	quoteLiteral = iota
	quoteShell
	quoteShellAlways
	quoteShellEscape
	quoteShellEscapeAlways
	quoteC
	quoteEscape
	quoteLocale
	quoteCLocale
	quoteCMaybe
)

// aligned reports whether names without quotes are set right by a space where
// others have quotes.
func (l *lister) aligned() bool {
	if l.quoting != quoteShell && l.quoting != quoteShellEscape {
		return false
	}
	return l.format == formatLong || (l.format == formatColumns || l.format == formatAcross) && l.width > 0
}

// align puts a space before each unquoted name when some name is quoted.
func (l *lister) align(es []*lsEntry) {
	if !l.aligned() {
		return
	}
	some := false
	for _, e := range es {
		some = some || e.shown != e.name
	}
	for _, e := range es {
		if some && e.shown == e.name {
			e.shown = " " + e.shown
			e.width++
		}
	}
}

// quote fills in how a name is shown and how wide that is.
func (l *lister) quote(e *lsEntry, _ bool) {
	wide := l.c.Env.UTF8()
	s := e.name
	switch l.quoting {
	case quoteShell, quoteShellAlways:
		s = plainShellQuote(s, l.quoting == quoteShellAlways)
	case quoteShellEscape:
		s = command.ShellQuote(s, false, wide)
	case quoteShellEscapeAlways:
		s = command.ShellQuote(s, true, wide)
	case quoteC, quoteCLocale:
		s = `"` + cEscape(s, '"', wide) + `"`
	case quoteCMaybe:
		if e := cEscape(s, '"', wide); e != s {
			s = `"` + e + `"`
		}
	case quoteEscape:
		s = cEscape(s, ' ', wide)
	case quoteLocale:
		s = l.c.Quote(s)
	}
	if l.hideControl {
		s = questionMarks(s, wide)
	}
	e.shown = s
	e.width = displayWidth(s, wide)
}

// plainShellQuote quotes for a shell, but leaves control characters alone.
func plainShellQuote(s string, always bool) string {
	if !always && s != "" && !strings.ContainsAny(s, " !\"$&()*;<>?[\\^`|='\t\n") && s[0] != '#' && s[0] != '~' && s != "{" && s != "}" {
		return s
	}
	if strings.Contains(s, "'") && !strings.ContainsAny(s, "\"$`\\!") {
		return `"` + s + `"`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// cEscape writes what is not graphic as escapes of C; extra is escaped too.
func cEscape(s string, extra byte, wide bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		r, n := rune(c), 1
		if wide && c >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		switch {
		case c == '\\' || c == extra:
			b.WriteString(`\` + string([]byte{c}))
		case c >= 7 && c <= 13:
			b.WriteString(`\` + "abtnvfr"[c-7:c-6])
		case n > 1 && unicode.IsPrint(r), c >= ' ' && c < 0x7f:
			b.WriteString(s[i : i+n])
		default:
			for _, c := range []byte(s[i : i+n]) {
				b.WriteString(`\` + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7}))
			}
		}
		i += n
	}
	return b.String()
}

// questionMarks hides what is not graphic.
func questionMarks(s string, wide bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := rune(s[i]), 1
		if wide {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if r == utf8.RuneError && n == 1 || !wide && (r < ' ' || r >= 0x7f) || wide && !unicode.IsPrint(r) {
			b.WriteByte('?')
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// displayWidth is how many columns a string takes on a terminal.
func displayWidth(s string, wide bool) int {
	if !wide {
		n := 0
		for i := range len(s) {
			if s[i] >= ' ' && s[i] < 0x7f {
				n++
			}
		}
		return n
	}
	n := 0
	for _, r := range s {
		if r == utf8.RuneError {
			n++
		} else if r >= ' ' && r != 0x7f {
			n += runewidth.RuneWidth(r)
		}
	}
	return n
}
