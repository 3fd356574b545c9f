package gnulib

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Flags of Fnmatch.
const (
	Period   = 1 << iota // a leading period is matched by a period only
	Pathname             // a slash is matched by a slash only
	FoldCase
	NoEscape // a backslash is an ordinary character
)

// Fnmatch reports whether a shell pattern matches all of a string, as
// fnmatch(3) does for strings of UTF-8. It takes time in proportion to the
// lengths multiplied, whatever the pattern.
func Fnmatch(pattern, s string, flags int) bool {
	start := s
	// After a star that failed further on, the match goes on from one
	// character later; only the last star counts.
	var starPattern, starString string
	star := false
	for {
		if pattern == "" && s == "" {
			return true
		}
		if pattern != "" && pattern[0] == '*' {
			if len(s) > 0 && hiddenPeriod(start, s, flags) {
				return false
			}
			starPattern, starString, star = strings.TrimLeft(pattern, "*"), s, true
			pattern = starPattern
			continue
		}
		if rest, n, ok := matchOne(pattern, s, start, flags); ok {
			pattern, s = rest, s[n:]
			continue
		}
		if !star || starString == "" || flags&Pathname != 0 && starString[0] == '/' {
			return false
		}
		_, n := utf8.DecodeRuneInString(starString)
		starString = starString[n:]
		pattern, s = starPattern, starString
	}
}

// hiddenPeriod reports whether s starts with a period that wildcards do not
// match.
func hiddenPeriod(start, s string, flags int) bool {
	if flags&Period == 0 || s == "" || s[0] != '.' {
		return false
	}
	at := len(start) - len(s)
	return at == 0 || flags&Pathname != 0 && start[at-1] == '/'
}

// matchOne matches one element of the pattern with one character of s, and
// returns the rest of the pattern and the character's length.
func matchOne(pattern, s, start string, flags int) (rest string, n int, ok bool) {
	if pattern == "" || s == "" {
		return "", 0, false
	}
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		r = rune(s[0]) | 1<<24 // a byte that is no character
	}
	wild := !(flags&Pathname != 0 && s[0] == '/') && !hiddenPeriod(start, s, flags)
	switch pattern[0] {
	case '?':
		return pattern[1:], n, wild
	case '[':
		if rest, in, valid := bracket(pattern[1:], r, flags); valid {
			return rest, n, in && wild
		}
	case '\\':
		if flags&NoEscape == 0 && len(pattern) > 1 {
			pattern = pattern[1:]
		}
	}
	p, pn := utf8.DecodeRuneInString(pattern)
	if p == utf8.RuneError && pn == 1 {
		p = rune(pattern[0]) | 1<<24
	}
	return pattern[pn:], n, p == r || flags&FoldCase != 0 && unicode.ToLower(p) == unicode.ToLower(r)
}

// bracket matches r with a bracket expression that starts after its "["; valid
// is false when it has no end and so is none.
func bracket(p string, r rune, flags int) (rest string, in, valid bool) {
	negate := false
	if p != "" && (p[0] == '!' || p[0] == '^') {
		negate, p = true, p[1:]
	}
	for first := true; ; first = false {
		if p == "" {
			return "", false, false
		}
		if p[0] == ']' && !first {
			return p[1:], in != negate, true
		}
		if strings.HasPrefix(p, "[:") {
			if end := strings.Index(p, ":]"); end > 0 {
				in = in || inClass(p[2:end], r) || flags&FoldCase != 0 && (inClass(p[2:end], unicode.ToLower(r)) || inClass(p[2:end], unicode.ToUpper(r)))
				p = p[end+2:]
				continue
			}
		}
		lo, next, ok := bracketRune(p, flags)
		if !ok {
			return "", false, false
		}
		hi := lo
		if len(next) > 1 && next[0] == '-' && next[1] != ']' {
			if hi, next, ok = bracketRune(next[1:], flags); !ok {
				return "", false, false
			}
		}
		p = next
		in = in || lo <= r && r <= hi
		if flags&FoldCase != 0 {
			l, u := unicode.ToLower(r), unicode.ToUpper(r)
			in = in || lo <= l && l <= hi || lo <= u && u <= hi
		}
	}
}

func bracketRune(p string, flags int) (rune, string, bool) {
	if strings.HasPrefix(p, "[.") || strings.HasPrefix(p, "[=") {
		end := strings.Index(p[2:], p[1:2]+"]")
		if end < 0 {
			return 0, "", false
		}
		r, _ := utf8.DecodeRuneInString(p[2 : 2+end])
		return r, p[end+4:], true
	}
	if p[0] == '\\' && flags&NoEscape == 0 && len(p) > 1 {
		p = p[1:]
	}
	r, n := utf8.DecodeRuneInString(p)
	if r == utf8.RuneError && n == 1 {
		r = rune(p[0]) | 1<<24
	}
	return r, p[n:], true
}

// inClass reports whether r is of a class of POSIX.
func inClass(class string, r rune) bool {
	switch class {
	case "alpha":
		return unicode.IsLetter(r)
	case "digit":
		return r >= '0' && r <= '9'
	case "alnum":
		return unicode.IsLetter(r) || unicode.IsDigit(r)
	case "upper":
		return unicode.IsUpper(r)
	case "lower":
		return unicode.IsLower(r)
	case "space":
		return unicode.IsSpace(r)
	case "blank":
		return r == ' ' || r == '\t'
	case "punct":
		return unicode.IsPunct(r) || unicode.IsSymbol(r)
	case "print":
		return unicode.IsPrint(r)
	case "graph":
		return unicode.IsGraphic(r) && !unicode.IsSpace(r)
	case "cntrl":
		return unicode.IsControl(r)
	case "xdigit":
		return r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'f'
	}
	return false
}
