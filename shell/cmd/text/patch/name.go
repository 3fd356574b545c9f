package patch

import (
	"math"
	"strings"
)

// The names that a header may give: the old file's, the new one's and that of
// an Index: line.
const (
	oldName = iota
	newName
	indexName
	noName
)

// stripName takes leading components off a name: n of them, or all but the last
// for a negative n. It fails when there are too few.
func stripName(name string, n int) (string, bool) {
	left := n
	rest := name
	for i := 0; i < len(name); i++ {
		if name[i] != '/' {
			continue
		}
		for i+1 < len(name) && name[i+1] == '/' {
			i++
		}
		if left--; n < 0 || left >= 0 {
			rest = name[i+1:]
		}
	}
	return rest, (n < 0 || left <= 0) && rest != ""
}

// components counts the directories of a name; existing ones only if asked for.
func (p *patcher) components(name string, existing bool) int {
	n := 0
	for i := 1; i < len(name); i++ {
		if name[i] != '/' || name[i-1] == '/' {
			continue
		}
		if existing {
			if _, err := p.fs.Stat(name[:i]); err != nil {
				break
			}
		}
		n++
	}
	return n
}

func baseLen(name string) int { return len(name) - 1 - strings.LastIndexByte(name, '/') }

// best picks a name: of those that are not ignored, the ones with the fewest
// components, of these the ones with the shortest base, of these the shortest,
// and of these the first.
func (p *patcher) best(names *[3]string, ignore func(i int) bool) int {
	type measure struct{ components, base, length int }
	least := measure{math.MaxInt, math.MaxInt, math.MaxInt}
	var of [3]measure
	for i, name := range names {
		if name == "" || ignore(i) {
			continue
		}
		m := &of[i]
		if m.components = p.components(name, false); m.components > least.components {
			continue
		}
		least.components = m.components
		if m.base = baseLen(name); m.base > least.base {
			continue
		}
		least.base = m.base
		if m.length = len(name); m.length > least.length {
			continue
		}
		least.length = m.length
	}
	for i, name := range names {
		if name != "" && !ignore(i) && of[i] == least && p.safe(name) {
			return i
		}
	}
	return noName
}

// safe tells whether a patch may name a file so: not from the root, nor up.
func (p *patcher) safe(name string) bool {
	if p.warned[name] {
		return false
	}
	bad := strings.HasPrefix(name, "/")
	for part := range strings.SplitSeq(name, "/") {
		bad = bad || part == ".."
	}
	if !bad {
		return true
	}
	if p.warned == nil {
		p.warned = map[string]bool{}
	}
	p.warned[name] = true
	p.say("Ignoring potentially dangerous file name %s\n", p.quote(name))
	return false
}

// unquote reads a name in double quotes, with the escapes of C; rest is what
// follows it.
func unquote(s string) (name, rest string, ok bool) {
	var b strings.Builder
	for i := 1; i < len(s); i++ {
		switch c := s[i]; c {
		case '"':
			return b.String(), s[i+1:], true
		case '\n':
			return "", "", false
		case '\\':
			i++
			if i == len(s) {
				return "", "", false
			}
			const escapes, meaning = `abfnrtv\"`, "\a\b\f\n\r\t\v\\\""
			if k := strings.IndexByte(escapes, s[i]); k >= 0 {
				b.WriteByte(meaning[k])
				continue
			}
			v, n := 0, 0
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				v = v*8 + int(s[i+n]-'0')
				n++
			}
			if n == 0 || v > 0xff {
				return "", "", false
			}
			b.WriteByte(byte(v))
			i += n - 1
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// gitName reads one name of a "diff --git" line.
func gitName(s string, strip int) (name, rest string, ok bool) {
	s = strings.TrimLeft(s, " \t")
	if strings.HasPrefix(s, "\"") {
		name, rest, ok = unquote(s)
		if !ok {
			return "", s, false
		}
	} else {
		n := strings.IndexAny(s, " \t\n\v\f\r")
		if n < 0 {
			n = len(s)
		}
		name, rest = s[:n], s[n:]
	}
	name, ok = stripName(name, strip)
	return name, rest, ok
}

// unset is the time stamp of a name that has none that counts.
const unset = -1

// fetchName reads a name and what stands behind it. stamp is 0 when that, or
// the name, says that there is no such file.
func (p *patcher) fetchName(s string, spaces byte) (name, behind string, stamp int64) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	var rest string
	if strings.HasPrefix(s, "\"") {
		var ok bool
		if name, rest, ok = unquote(s); !ok {
			return "", "", unset
		}
	} else {
		end := nameEnd(s, spaces)
		name, rest = s[:end], s[end:]
	}
	if name == "/dev/null" {
		return "", "", 0
	}
	name, ok := stripName(name, p.set.strip)
	if !ok {
		return "", "", unset
	}
	behind = strings.TrimRight(rest, "\r\n")
	stamp = unset
	if t, ok := p.date(behind); ok {
		const hour = 3600
		switch {
		case p.set.setTime:
			stamp = t.Unix()
		case t.Unix() > -25*hour && t.Unix() < 26*hour:
			// A zone that was not said makes the epoch look like this.
			stamp = 0
		}
	}
	return name, strings.TrimLeft(behind, " \t"), stamp
}

// nameEnd finds the end of a name. There may be blanks in it when a tab divides
// it from what follows; spaces is that tab, or newline when nothing follows.
func nameEnd(s string, spaces byte) int {
	for i := range len(s) {
		if !space(s[i]) {
			continue
		}
		u := i
		for u+1 < len(s) && s[u] != '\t' && space(s[u+1]) {
			u++
		}
		if s[u] != '\t' && u+1 < len(s) && strings.IndexByte(s[u+1:], spaces) >= 0 {
			continue
		}
		return i
	}
	return len(s)
}

func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
