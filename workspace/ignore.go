package workspace

import (
	"path"
	"strings"
)

// pattern is one of git's: a slash that is not at its end ties it to the root,
// else it matches a name anywhere; one at its end wants a directory; ** stands
// for any number of directories, * and ? for what is within a name.
type pattern struct {
	segments []string
	anchored bool
	dirOnly  bool
	negated  bool
}

// parsePattern reads one line; ok is false for one without a pattern in it.
func parsePattern(line string) (p pattern, ok bool) {
	line = strings.TrimRight(line, " \t\r")
	if line == "" || line[0] == '#' {
		return p, false
	}
	if line[0] == '!' {
		p.negated = true
		line = line[1:]
	}
	line = strings.TrimPrefix(line, `\`)
	if rest, cut := strings.CutSuffix(line, "/"); cut {
		p.dirOnly = true
		line = rest
	}
	p.anchored = strings.Contains(line, "/")
	for _, s := range strings.Split(strings.Trim(line, "/"), "/") {
		if s == "" {
			continue
		}
		if _, err := path.Match(s, ""); err != nil {
			return p, false
		}
		p.segments = append(p.segments, s)
	}
	return p, len(p.segments) > 0
}

// covers reports whether the pattern matches a file, or a directory that it is
// in.
func (p *pattern) covers(file string) bool {
	parts := strings.Split(file, "/")
	for n := 1; n <= len(parts); n++ {
		if p.dirOnly && n == len(parts) {
			break
		}
		if p.matches(parts[:n]) {
			return true
		}
	}
	return false
}

// matches reports whether the pattern matches a path as a whole.
func (p *pattern) matches(parts []string) bool {
	if p.anchored {
		return matchSegments(p.segments, parts)
	}
	return matchSegments(p.segments, parts[len(parts)-1:])
}

// matchSegments matches names one by one. It takes time in the product of both
// lengths, whatever the pattern.
func matchSegments(want, have []string) bool {
	reach := make([]bool, len(have)+1) // of the pattern so far: which prefixes it matches
	reach[0] = true
	for i, s := range want {
		next := make([]bool, len(have)+1)
		for n := range next {
			if s == "**" {
				last := i == len(want)-1 // at the end it wants at least one name
				next[n] = n > 0 && (next[n-1] || reach[n-1]) || reach[n] && !last
				continue
			}
			if n > 0 && reach[n-1] {
				ok, err := path.Match(s, have[n-1])
				next[n] = err == nil && ok
			}
		}
		reach = next
	}
	return reach[len(have)]
}
