package command

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// UTF8 reports whether the locale of the environment has characters of UTF-8;
// otherwise every byte is a character.
func (e Environ) UTF8() bool {
	for _, name := range [...]string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := e.Get(name); v != "" {
			v = strings.ToLower(v)
			return strings.HasSuffix(v, "utf-8") || strings.HasSuffix(v, "utf8")
		}
	}
	return false
}

// Quote encloses a string for a message as coreutils' quote does: 'x' with C
// escapes in the C locale, ‘x’ in one with UTF-8.
func (c *Context) Quote(s string) string {
	left, right := "'", "'"
	wide := c.Env.UTF8()
	if wide {
		left, right = "‘", "’"
	}
	var b strings.Builder
	b.WriteString(left)
	for i := 0; i < len(s); {
		n, printable := character(s[i:], wide)
		switch {
		case s[i] == '\\', s[i] == '\'' && !wide:
			b.WriteByte('\\')
			b.WriteByte(s[i])
		case printable:
			b.WriteString(s[i : i+n])
		default:
			b.WriteString(escape(s[i]))
			n = 1
		}
		i += n
	}
	b.WriteString(right)
	return b.String()
}

// QuoteName is coreutils' quotef: the name as it is when a shell would read it
// as one word, quoted for a shell otherwise. It is for "NAME: cause".
func (c *Context) QuoteName(s string) string { return ShellQuote(s, false, c.Env.UTF8()) }

// QuoteArg is coreutils' quoteaf: always quoted, the way a shell could read it
// back. It is for "cannot remove 'NAME'".
func (c *Context) QuoteArg(s string) string { return ShellQuote(s, true, c.Env.UTF8()) }

// character returns the length of the first character of s, and whether it is
// printable.
func character(s string, wide bool) (int, bool) {
	if c := s[0]; c < utf8.RuneSelf || !wide {
		return 1, c >= 0x20 && c < 0x7f
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return 1, false
	}
	return n, unicode.IsPrint(r)
}

// escape writes a byte that is not printable as a C escape.
func escape(c byte) string {
	const letters = "abtnvfr"
	if c >= 7 && c <= 13 {
		return `\` + string(letters[c-7])
	}
	return `\` + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7})
}

// needsQuote reports whether an ASCII byte at i keeps a name from standing
// unquoted in a message.
func needsQuote(s string, i int) bool {
	switch s[i] {
	case '#', '~':
		return i == 0
	case '{', '}':
		return len(s) == 1
	case ' ', '!', '"', '$', '&', '(', ')', '*', ';', '<', '>', '?', '[', '\\', '^', '`', '|', '=', '\'':
		return true
	}
	return s[i] < 0x20 || s[i] == 0x7f
}

// ShellQuote is gnulib's shell-escape quoting: '...' where that is enough,
// "..." for a lone apostrophe, and $'...' for what is not printable. Without
// always, what needs no quotes gets none; wide says that the locale has UTF-8.
func ShellQuote(s string, always, wide bool) string {
	plain, single, control := s != "", false, false
	for i := 0; i < len(s); {
		n, printable := character(s[i:], wide)
		plain = plain && printable && !needsQuote(s, i)
		single = single || s[i] == '\''
		control = control || !printable
		i += n
	}
	switch {
	case plain && !always:
		return s
	case !control && !single:
		return "'" + s + "'"
	case !control && !strings.ContainsAny(s, "\"$`\\!"):
		return `"` + s + `"`
	}
	return escapeQuote(s, wide)
}

// escapeQuote quotes with '...' and, for what is not printable, $'...'.
func escapeQuote(s string, wide bool) string {
	var b strings.Builder
	b.WriteByte('\'')
	dollar := false
	for i := 0; i < len(s); {
		n, printable := character(s[i:], wide)
		switch {
		case !printable:
			if !dollar {
				b.WriteString("'$'")
				dollar = true
			}
			b.WriteString(escape(s[i]))
			n = 1
		case s[i] == '\'':
			b.WriteString(`'\''`) // its first quote ends '...' and $'...' alike
			dollar = false
		default:
			if dollar {
				b.WriteString("''")
				dollar = false
			}
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}
