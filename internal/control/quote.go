package control

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns text as it is when all of it can be printed, and else as a
// word that a shell reads as the same bytes: $'a\nb'. Names come from programs
// that nobody vouches for, and a terminal obeys what is printed on it.
func Printable(text string) string {
	if isPrintable(text) && !strings.HasPrefix(text, "$'") {
		return text
	}
	return escaped(text)
}

// Line returns a sentence with escapes for what cannot be printed, of a name in
// it say. It has no other quotes: the sentence has its own.
func Line(text string) string {
	if isPrintable(text) {
		return text
	}
	var b strings.Builder
	escapeInto(&b, text, "")
	return b.String()
}

// Word returns text as one word for a shell, quoted where it must be.
func Word(text string) string {
	switch {
	case !isPrintable(text):
		return escaped(text)
	case text != "" && !strings.ContainsFunc(text, isSpecial) && text[0] != '~':
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// isSpecial reports whether a shell may take r for more than itself. A ~ means
// something at the beginning of a word alone.
func isSpecial(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("@%+=:,./-_~", r)
}

func isPrintable(text string) bool {
	for i, r := range text {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(text[i:]); n == 1 {
				return false
			}
		}
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}

func escaped(text string) string {
	var b strings.Builder
	b.WriteString("$'")
	escapeInto(&b, text, `\'`)
	b.WriteByte('\'')
	return b.String()
}

// escapeInto writes text with a backslash before what is in special, and with
// escapes, of whole bytes always, for what cannot be printed.
func escapeInto(b *strings.Builder, text, special string) {
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r):
			for _, c := range []byte(text[:n]) {
				// Octal: three digits end by themselves, \x takes more in some shells.
				fmt.Fprintf(b, `\%03o`, c)
			}
		case strings.ContainsRune(special, r):
			b.WriteByte('\\')
			b.WriteString(text[:n])
		default:
			b.WriteString(text[:n])
		}
		text = text[n:]
	}
}
