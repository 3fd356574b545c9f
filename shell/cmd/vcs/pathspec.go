package vcs

import (
	"path"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
)

// pathspec is one PATH argument.
type pathspec struct {
	given   string
	pattern string // from the top of the work tree; "" is everything
	glob    bool
	strict  bool // :(glob): a star matches no slash
	fold    bool
	exclude bool
}

// pathspecs are all PATH arguments; none means everything.
type pathspecs []pathspec

// pathspecs reads PATH arguments from the working directory.
func (r *repo) pathspecs(args []string) (pathspecs, error) {
	var ps pathspecs
	for _, a := range args {
		p := pathspec{given: a}
		s, top, literal := a, false, false
		if rest, ok := strings.CutPrefix(s, ":("); ok {
			words, tail, ok := strings.Cut(rest, ")")
			if !ok {
				return nil, fatalf("Missing ')' at the end of pathspec magic in '%s'", a)
			}
			for _, w := range strings.Split(words, ",") {
				switch w {
				case "top":
					top = true
				case "exclude":
					p.exclude = true
				case "literal":
					literal = true
				case "icase":
					p.fold = true
				case "glob":
					p.strict = true
				default:
					return nil, fatalf("Invalid pathspec magic '%s' in '%s'", w, a)
				}
			}
			s = tail
		} else if strings.HasPrefix(s, ":") {
			s = s[1:]
			for s != "" && strings.IndexByte("/!^", s[0]) >= 0 {
				top = top || s[0] == '/'
				p.exclude = p.exclude || s[0] != '/'
				s = s[1:]
			}
		}
		if a == "" {
			return nil, fatal("empty string is not a valid pathspec. please use . instead if you meant to match all paths")
		}
		name, err := r.inside(s, top)
		if err != nil {
			return nil, err
		}
		p.pattern = name
		p.glob = !literal && strings.ContainsAny(s, "*?[\\")
		ps = append(ps, p)
	}
	return ps, nil
}

// inside turns a path into a name of the work tree: "" is its top.
func (r *repo) inside(p string, top bool) (string, error) {
	var full string
	switch {
	case path.IsAbs(p):
		full = path.Clean(p)
	case top:
		full = path.Join(r.work, p)
	default:
		full = path.Join(r.work, r.prefix, p)
	}
	if full == r.work {
		return "", nil
	}
	name, ok := strings.CutPrefix(full, strings.TrimSuffix(r.work, "/")+"/")
	if !ok {
		return "", fatalf("%s: '%s' is outside repository at '%s'", p, p, r.work)
	}
	return name, nil
}

// match reports whether a name is meant.
func (p *pathspec) match(name string) bool {
	pattern := p.pattern
	if p.fold {
		pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	}
	if pattern == "" || name == pattern || strings.HasPrefix(name, pattern+"/") {
		return true
	}
	if !p.glob {
		return false
	}
	flags := 0
	if p.strict {
		return strictMatch(pattern, name)
	}
	return gnulib.Fnmatch(pattern, name, flags) || gnulib.Fnmatch(pattern+"/*", name, flags)
}

// strictMatch is a match where a star stops at a slash and ** does not.
func strictMatch(pattern, name string) bool {
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
		for {
			if strictMatch(rest, name) {
				return true
			}
			_, tail, more := strings.Cut(name, "/")
			if !more {
				return false
			}
			name = tail
		}
	}
	if pattern == "**" {
		return true
	}
	p, pRest, pMore := strings.Cut(pattern, "/")
	n, nRest, nMore := strings.Cut(name, "/")
	if !gnulib.Fnmatch(p, n, gnulib.Pathname) {
		return false
	}
	if !pMore {
		return true
	}
	return nMore && strictMatch(pRest, nRest)
}

// match reports whether a name is meant by any and excluded by none.
func (ps pathspecs) match(name string) bool {
	in, positive := false, false
	for i := range ps {
		if ps[i].exclude {
			if ps[i].match(name) {
				return false
			}
			continue
		}
		positive = true
		in = in || ps[i].match(name)
	}
	return in || !positive
}

// below reports whether something below a directory may be meant.
func (ps pathspecs) below(dir string) bool {
	if len(ps) == 0 || ps.match(dir) {
		return true
	}
	positive := false
	for i := range ps {
		p := &ps[i]
		if p.exclude {
			continue
		}
		positive = true
		if p.glob || p.fold || strings.HasPrefix(p.pattern, dir+"/") {
			return true
		}
	}
	return !positive
}
