package shell

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// singleQuote quotes with apostrophes, as set and xtrace show values.
func singleQuote(s string) string {
	if s == "'" {
		return `\'`
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// doubleQuote quotes with "...", as declare -p shows values; $'...' when that
// would not show them.
func doubleQuote(s string) string {
	if needsANSI(s, true) {
		return ansiQuote(s, true)
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		if strings.IndexByte("\"\\$`", s[i]) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
	}
	b.WriteByte('"')
	return b.String()
}

// quoteKey quotes a key of an associative array if it needs that.
func quoteKey(s string) string {
	if s == "" || hasMeta(s) || s == "@" || s == "*" || needsANSI(s, true) {
		return doubleQuote(s)
	}
	return s
}

// hasMeta reports whether a word has a character that the shell would not take
// as it is.
func hasMeta(s string) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ', '\t', '\n', '\'', '"', '\\', '|', '&', ';', '(', ')', '<', '>', '!', '{', '}', '*', '[', '?', ']', '^', '$', '`':
			return true
		case '~':
			if i == 0 || s[i-1] == '=' || s[i-1] == ':' {
				return true
			}
		case '#':
			if i == 0 {
				return true
			}
		}
	}
	return false
}

// needsANSI reports whether a string has what is not printable, so that only
// $'...' shows it.
func needsANSI(s string, wide bool) bool {
	for i := 0; i < len(s); {
		n, ok := printable(s[i:], wide)
		if !ok {
			return true
		}
		i += n
	}
	return false
}

// printable looks at the first character of s.
func printable(s string, wide bool) (int, bool) {
	c := s[0]
	if c < utf8.RuneSelf {
		return 1, c >= 0x20 && c < 0x7f
	}
	if !wide {
		return 1, false
	}
	r, n := utf8.DecodeRuneInString(s)
	return n, r != utf8.RuneError && unicode.IsPrint(r)
}

// ansiQuote quotes as $'...'.
func ansiQuote(s string, wide bool) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(s); {
		n, ok := printable(s[i:], wide)
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case ok:
			b.WriteString(s[i : i+n])
		case c == 27:
			b.WriteString(`\E`)
		case c >= 7 && c <= 13:
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-7])
		default:
			b.WriteString(`\` + string([]byte{'0' + c>>6, '0' + c>>3&7, '0' + c&7}))
			n = 1
		}
		i += n
	}
	b.WriteByte('\'')
	return b.String()
}

// backslashQuote quotes with backslashes, as printf %q does.
func backslashQuote(s string, wide bool) string {
	if s == "" {
		return "''"
	}
	if needsANSI(s, wide) {
		return ansiQuote(s, wide)
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n', '\'', '"', '\\', '|', '&', ';', '(', ')', '<', '>', '!', '{', '}', '*', '[', '?', ']', '^', '$', '`', ',':
			b.WriteByte('\\')
		case '#':
			if i == 0 {
				b.WriteByte('\\')
			}
		case '~':
			if i == 0 || s[i-1] == ':' || s[i-1] == '=' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// escapes decodes backslash escapes. Which there are differs a little between
// $'...', echo -e and printf.
type escapes struct {
	ansi bool // $'...': \cx, \', \", \? and octal without a leading zero
	echo bool // echo -e and %b: \c ends the output, octal has a leading zero
	both bool // %b: octal without the leading zero too
	wide bool // the locale has UTF-8; else \u stays as it is past ASCII
	// stopped is set when \c ended the output.
	stopped bool
}

// decode decodes a string.
func (e *escapes) decode(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b []byte
	for i := 0; i < len(s) && !e.stopped; {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			i++
			continue
		}
		var n int
		b, n = e.one(b, s[i+1:])
		i += 1 + n
	}
	return string(b)
}

// one decodes the escape that follows a backslash and returns how much of s it
// took.
func (e *escapes) one(b []byte, s string) ([]byte, int) {
	switch c := s[0]; c {
	case 'a':
		return append(b, 7), 1
	case 'b':
		return append(b, 8), 1
	case 'e', 'E':
		return append(b, 27), 1
	case 'f':
		return append(b, 12), 1
	case 'n':
		return append(b, '\n'), 1
	case 'r':
		return append(b, '\r'), 1
	case 't':
		return append(b, '\t'), 1
	case 'v':
		return append(b, 11), 1
	case '\\':
		return append(b, '\\'), 1
	case '\'', '"', '?':
		if !e.echo {
			return append(b, c), 1
		}
	case 'x':
		return e.hex(b, s)
	case 'u', 'U':
		return e.unicode(b, s)
	case 'c':
		if e.echo {
			e.stopped = true
			return b, 1
		}
		if e.ansi && len(s) > 1 {
			return append(b, control2(s[1])), 2
		}
	case '0', '1', '2', '3', '4', '5', '6', '7':
		if c != '0' && e.echo && !e.both {
			break
		}
		return e.octal(b, s)
	}
	return append(b, '\\', s[0]), 1
}

func control2(c byte) byte {
	if c == '?' {
		return 0x7f
	}
	return c & 0x1f
}

// octal decodes up to three digits; for echo the leading zero is not one of
// them.
func (e *escapes) octal(b []byte, s string) ([]byte, int) {
	i, n := 0, 0
	if e.echo && s[0] == '0' {
		i = 1
	}
	end := min(len(s), i+3)
	for ; i < end && s[i] >= '0' && s[i] <= '7'; i++ {
		n = n*8 + int(s[i]-'0')
	}
	return append(b, byte(n)), i
}

func (e *escapes) hex(b []byte, s string) ([]byte, int) {
	if e.ansi && strings.HasPrefix(s, "x{") {
		if end := strings.IndexByte(s, '}'); end > 2 {
			if n, err := strconv.ParseUint(s[2:end], 16, 64); err == nil {
				return append(b, byte(n)), end + 1
			}
		}
	}
	n, k := hexDigits(s[1:], 2)
	if k == 0 {
		return append(b, '\\', 'x'), 1
	}
	return append(b, byte(n)), 1 + k
}

func hexDigits(s string, limit int) (n uint64, k int) {
	for k < len(s) && k < limit {
		d := strings.IndexByte("0123456789abcdef", s[k]|0x20)
		if s[k] >= '0' && s[k] <= '9' {
			d = int(s[k] - '0')
		}
		if d < 0 || d < 10 && (s[k] < '0' || s[k] > '9') {
			break
		}
		n = n*16 + uint64(d)
		k++
	}
	return n, k
}

func (e *escapes) unicode(b []byte, s string) ([]byte, int) {
	limit := 4
	if s[0] == 'U' {
		limit = 8
	}
	n, k := hexDigits(s[1:], limit)
	if k == 0 {
		return append(b, '\\', s[0]), 1
	}
	if n >= 0x80 && !e.wide {
		if n < 0x10000 {
			return fmt.Appendf(b, "\\u%04X", n), 1 + k
		}
		return fmt.Appendf(b, "\\U%08X", n), 1 + k
	}
	return appendRune(b, n), 1 + k
}

// appendRune encodes any code point, surrogates and those past the end of
// Unicode too, as the C library's oldest UTF-8 does.
func appendRune(b []byte, n uint64) []byte {
	switch {
	case n < 0x80:
		return append(b, byte(n))
	case n < 0x800:
		return append(b, 0xc0|byte(n>>6), 0x80|byte(n&0x3f))
	case n < 0x10000:
		return append(b, 0xe0|byte(n>>12), 0x80|byte(n>>6&0x3f), 0x80|byte(n&0x3f))
	case n < 0x200000:
		return append(b, 0xf0|byte(n>>18), 0x80|byte(n>>12&0x3f), 0x80|byte(n>>6&0x3f), 0x80|byte(n&0x3f))
	case n < 0x4000000:
		return append(b, 0xf8|byte(n>>24), 0x80|byte(n>>18&0x3f), 0x80|byte(n>>12&0x3f), 0x80|byte(n>>6&0x3f), 0x80|byte(n&0x3f))
	}
	return append(b, 0xfc|byte(n>>30&1), 0x80|byte(n>>24&0x3f), 0x80|byte(n>>18&0x3f), 0x80|byte(n>>12&0x3f), 0x80|byte(n>>6&0x3f), 0x80|byte(n&0x3f))
}

// ansiC decodes the inside of $'...', which ends at a NUL that an escape made.
func (s *state) ansiC(text string) string {
	e := escapes{ansi: true, wide: s.wide()}
	out := e.decode(text)
	if i := strings.IndexByte(out, 0); i >= 0 && strings.IndexByte(text, 0) < 0 {
		out = out[:i]
	}
	return out
}
