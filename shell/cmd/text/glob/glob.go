// Package glob matches names with file patterns as fnmatch(3) does.
package glob

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Options of a match.
type Options uint8

// The options.
const (
	// Pathname keeps wildcards from matching a slash.
	Pathname Options = 1 << 0
	// Fold ignores case.
	Fold Options = 1 << 1
	// Period keeps wildcards from matching a leading period.
	Period Options = 1 << 2
)

// maxSteps bounds the work of one match: past it there is none.
const maxSteps = 1 << 20

// Match reports whether pattern matches all of name.
func Match(pattern, name string, o Options) bool {
	m := matcher{o: o, steps: maxSteps}
	return m.match(pattern, name, true)
}

type matcher struct {
	o     Options
	steps int
}

// match compares from the start of both; first says that name is at the start
// of a component.
func (m *matcher) match(p, name string, first bool) bool {
	for p != "" {
		if m.steps--; m.steps < 0 {
			return false
		}
		switch c := p[0]; {
		case c == '*':
			return m.star(strings.TrimLeft(p, "*"), name, first)
		case name == "":
			return false
		case first && m.o&Period != 0 && name[0] == '.' && (c == '?' || c == '['):
			return false
		case c == '?':
			n := width(name)
			if m.slash(name) {
				return false
			}
			p, name = p[1:], name[n:]
		case c == '[':
			n := width(name)
			ok, rest, valid := m.bracket(p[1:], name[:n])
			if !valid {
				if name[0] != '[' {
					return false
				}
				p, name = p[1:], name[1:]
				break
			}
			if !ok || m.slash(name) {
				return false
			}
			p, name = rest, name[n:]
		default:
			if c == '\\' && len(p) > 1 {
				p = p[1:]
			}
			pn, nn := width(p), width(name)
			if !m.same(p[:pn], name[:nn]) {
				return false
			}
			first = m.o&Pathname != 0 && name[0] == '/'
			p, name = p[pn:], name[nn:]
			continue
		}
		first = false
	}
	return name == ""
}

// star matches what follows a star against every tail of name.
func (m *matcher) star(p, name string, first bool) bool {
	if first && m.o&Period != 0 && strings.HasPrefix(name, ".") {
		return false
	}
	for {
		if m.match(p, name, false) {
			return true
		}
		if name == "" || m.slash(name) || m.steps < 0 {
			return false
		}
		name = name[width(name):]
	}
}

func (m *matcher) slash(name string) bool { return m.o&Pathname != 0 && name[0] == '/' }

func (m *matcher) same(a, b string) bool {
	return a == b || m.o&Fold != 0 && strings.EqualFold(a, b)
}

func width(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// bracket matches one character with the expression after a "[" and returns
// the pattern after it; valid is false when it has no end.
func (m *matcher) bracket(p, ch string) (ok bool, rest string, valid bool) {
	r, _ := utf8.DecodeRuneInString(ch)
	not := false
	if p != "" && (p[0] == '!' || p[0] == '^') {
		not, p = true, p[1:]
	}
	for first := true; p != ""; first = false {
		if p[0] == ']' && !first {
			return ok != not, p[1:], true
		}
		if strings.HasPrefix(p, "[:") {
			if name, after, found := strings.Cut(p[2:], ":]"); found {
				ok = ok || inClass(name, r)
				p = after
				continue
			}
		}
		lo, after, found := char(p)
		if !found {
			break
		}
		hi := lo
		if len(after) > 1 && after[0] == '-' && after[1] != ']' {
			if hi, after, found = char(after[1:]); !found {
				break
			}
		}
		p = after
		ok = ok || r >= lo && r <= hi
		if m.o&Fold != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				ok = ok || f >= lo && f <= hi
			}
		}
	}
	return false, "", false
}

// char takes one character, perhaps escaped, from a bracket expression.
func char(p string) (r rune, rest string, found bool) {
	if len(p) > 1 && p[0] == '\\' {
		p = p[1:]
	}
	if p == "" {
		return 0, "", false
	}
	r, n := utf8.DecodeRuneInString(p)
	return r, p[n:], true
}

// inClass reports whether a character is in a POSIX class.
func inClass(name string, r rune) bool {
	switch name {
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
