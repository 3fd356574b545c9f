package gnulib

import (
	"math"
	"strings"
	"time"
)

// dateToken is a number, a word or a character of a date.
type dateToken struct {
	kind    tokenKind
	char    byte     // tokenChar
	word    dateWord // tokenWord
	n       int64    // tokenNumber
	digits  int
	signed  bool // had a sign
	neg     bool
	decimal bool
	ns      int64 // tokenNumber with decimal
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenChar
	tokenWord
	tokenNumber
)

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// lexDate cuts a date into tokens; false for what can be in none.
func lexDate(s string, abbrs []zoneAbbr) ([]dateToken, bool) {
	var out []dateToken
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case isSpace(c):
			i++
		case isDigit(c) || c == '-' || c == '+':
			t, n, ok := lexNumber(s[i:])
			if !ok {
				return nil, false
			}
			if t.kind != tokenEnd {
				out = append(out, t)
			}
			i += n
		case isAlpha(c):
			j := i
			for j < len(s) && (isAlpha(s[j]) || s[j] == '.') {
				j++
			}
			w, ok := lookupWord(s[i:j], abbrs)
			if !ok {
				return nil, false
			}
			out = append(out, dateToken{kind: tokenWord, word: w})
			i = j
		case c == '(':
			depth := 0
			for ; i < len(s); i++ {
				if s[i] == '(' {
					depth++
				} else if s[i] == ')' {
					if depth--; depth == 0 {
						i++
						break
					}
				}
			}
		default:
			out = append(out, dateToken{kind: tokenChar, char: c})
			i++
		}
	}
	return append(out, dateToken{kind: tokenEnd}), true
}

// lexNumber takes a number with its sign and its fraction. A sign with no
// digits after it is left out.
func lexNumber(s string) (dateToken, int, bool) {
	t := dateToken{kind: tokenNumber}
	i := 0
	if s[0] == '-' || s[0] == '+' {
		t.signed, t.neg = true, s[0] == '-'
		for i = 1; i < len(s) && isSpace(s[i]); i++ {
		}
		if i >= len(s) || !isDigit(s[i]) {
			return dateToken{}, max(i, 1), true
		}
	}
	for ; i < len(s) && isDigit(s[i]); i++ {
		if t.n > (math.MaxInt64-9)/10 {
			return t, 0, false
		}
		t.n = t.n*10 + int64(s[i]-'0')
		t.digits++
	}
	if i+1 < len(s) && (s[i] == '.' || s[i] == ',') && isDigit(s[i+1]) {
		t.decimal = true
		scale := int64(1e8)
		lost := false
		for i++; i < len(s) && isDigit(s[i]); i++ {
			t.ns += int64(s[i]-'0') * scale
			lost = lost || scale == 0 && s[i] != '0'
			scale /= 10
		}
		if t.neg {
			if lost {
				t.ns++
			}
			if t.ns > 0 {
				// Round towards the past: -1.5 is -2 s and 500 ms.
				t.n, t.ns = t.n+1, 1e9-t.ns
			}
		}
	}
	if t.neg {
		t.n = -t.n
	}
	return t, i, true
}

// zoneAbbr is an abbreviation that the present zone uses.
type zoneAbbr struct {
	name string
	off  int // seconds east
}

// localAbbrs are the abbreviations of the zone around a time.
func localAbbrs(now time.Time) []zoneAbbr {
	var out []zoneAbbr
	for q := range 4 {
		t := now.AddDate(0, 0, q*90)
		name, off := t.Zone()
		out = append(out, zoneAbbr{name: strings.ToUpper(name), off: off})
	}
	return out
}

func lookupWord(s string, abbrs []zoneAbbr) (dateWord, bool) {
	w := strings.ToUpper(s)
	if v, ok := meridians[w]; ok {
		return dateWord{kind: wordMeridian, value: v}, true
	}
	abbrev := len(w) == 3 || len(w) == 4 && w[3] == '.'
	for _, e := range monthsAndDays {
		if abbrev && strings.HasPrefix(e.name, w[:3]) || e.name == w {
			return e.word, true
		}
	}
	if z, ok := zones[w]; ok && (w == "GMT" || w == "UT" || w == "UTC") {
		return z, true
	}
	for _, a := range abbrs {
		if a.name == w {
			return dateWord{kind: wordZone, value: a.off / 60, local: true}, true
		}
	}
	if z, ok := zones[w]; ok {
		return z, true
	}
	if u, ok := timeUnits[w]; ok {
		return u, true
	}
	if u, ok := timeUnits[strings.TrimSuffix(w, "S")]; ok {
		return u, true
	}
	if r, ok := relativeWords[w]; ok {
		return r, true
	}
	if len(w) == 1 {
		return militaryZone(w[0])
	}
	if plain := strings.ReplaceAll(w, ".", ""); plain != w && plain != "" {
		return lookupWord(plain, abbrs)
	}
	return dateWord{}, false
}
