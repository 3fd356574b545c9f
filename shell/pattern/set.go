package pattern

import (
	"strings"
	"unicode"
)

// charSet is a bracket expression.
type charSet struct {
	negate  bool
	ranges  [][2]rune
	classes []func(rune) bool
}

func (s *charSet) match(r rune, nocase bool) bool {
	in := s.has(r)
	if !in && nocase && r >= 0 { // classes keep their case
		in = s.has(unicode.ToLower(r)) || s.has(unicode.ToUpper(r))
	}
	for _, f := range s.classes {
		in = in || f(r)
	}
	return in != s.negate
}

func (s *charSet) has(r rune) bool {
	for _, g := range s.ranges {
		if g[0] <= r && r <= g[1] {
			return true
		}
	}
	return false
}

// parseSet parses the bracket expression that s starts with and returns its
// length; 0 when it is not closed and "[" stands for itself.
func parseSet(s string, flags Flags) (*charSet, int) {
	set := &charSet{}
	i := 1
	if i < len(s) && (s[i] == '!' || s[i] == '^') {
		set.negate = true
		i++
	}
	for first := true; i < len(s); first = false {
		if s[i] == ']' && !first {
			return set, i + 1
		}
		if s[i] == '/' {
			// A slash never is in a bracket expression of a path; elsewhere it is a
			// character like any other.
			set.ranges = append(set.ranges, [2]rune{'/', '/'})
			i++
			continue
		}
		if n := set.class(s[i:]); n > 0 {
			i += n
			continue
		}
		lo, n := element(s[i:], flags)
		i += n
		if i+1 < len(s) && s[i] == '-' && s[i+1] != ']' {
			hi, n := element(s[i+1:], flags)
			if lo <= hi {
				set.ranges = append(set.ranges, [2]rune{lo, hi})
			}
			i += 1 + n
			continue
		}
		set.ranges = append(set.ranges, [2]rune{lo, lo})
	}
	return nil, 0
}

// element reads one character of a set: as it is, escaped, or as [.x.].
func element(s string, flags Flags) (rune, int) {
	if s[0] == '\\' && len(s) > 1 {
		r, n := flags.next(s[1:])
		return r, n + 1
	}
	if strings.HasPrefix(s, "[.") {
		if end := strings.Index(s[2:], ".]"); end > 0 {
			if r, n := flags.next(s[2:]); n == end {
				return r, end + 4
			}
		}
	}
	return flags.next(s)
}

// class adds [:name:] or [=x=] and returns its length; 0 when s starts with
// neither.
func (set *charSet) class(s string) int {
	if strings.HasPrefix(s, "[=") {
		if end := strings.Index(s[2:], "=]"); end > 0 {
			if r, n := (Wide).next(s[2:]); n == end {
				set.ranges = append(set.ranges, [2]rune{r, r})
				return end + 4
			}
		}
		return 0
	}
	if !strings.HasPrefix(s, "[:") {
		return 0
	}
	end := strings.Index(s[2:], ":]")
	if end < 0 {
		return 0
	}
	f, ok := Classes[s[2:2+end]]
	if !ok {
		f = func(rune) bool { return false }
		for _, c := range s[2 : 2+end] {
			if c < 'a' || c > 'z' {
				return 0
			}
		}
	}
	set.classes = append(set.classes, f)
	return end + 4
}

// Classes are the character classes by name, as iswctype(3) has them in the C
// and C.UTF-8 locales. A negative rune, an invalid byte, is in none.
var Classes = map[string]func(rune) bool{
	"alnum":  func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) },
	"alpha":  unicode.IsLetter,
	"blank":  func(r rune) bool { return r == ' ' || r == '\t' },
	"cntrl":  func(r rune) bool { return r >= 0 && r < 0x20 || r == 0x7f },
	"digit":  func(r rune) bool { return r >= '0' && r <= '9' },
	"graph":  func(r rune) bool { return r > ' ' && r != 0x7f && unicode.IsGraphic(r) && !unicode.IsSpace(r) },
	"lower":  unicode.IsLower,
	"print":  func(r rune) bool { return r >= ' ' && r != 0x7f && unicode.IsGraphic(r) },
	"punct":  func(r rune) bool { return r > ' ' && r < 0x7f && !isAlnum(r) || r >= 0x80 && unicode.IsPunct(r) },
	"space":  func(r rune) bool { return r == ' ' || r >= '\t' && r <= '\r' || r >= 0x80 && unicode.IsSpace(r) },
	"upper":  unicode.IsUpper,
	"xdigit": func(r rune) bool { return r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F' },
	"word":   func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) },
	"ascii":  func(r rune) bool { return r >= 0 && r < 0x80 },
}

func isAlnum(r rune) bool {
	return r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}
