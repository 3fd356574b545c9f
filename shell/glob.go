package shell

import (
	"sort"
	"strings"

	"github.com/vfsd/vfsd/shell/pattern"
	"github.com/vfsd/vfsd/vfs"
)

// glob expands a field that may be a pattern.
func (e *expander) glob(text, pat string) {
	s := e.s
	ext := s.opts.shopts(shoptExtglob)
	if s.opts.on(optNoglob) || !pattern.HasMeta(pat, ext) {
		e.emit(text)
		return
	}
	matches := s.globPaths(pat)
	if len(matches) == 0 {
		switch {
		case s.opts.shopts(shoptFailglob):
			s.errorf("no match: %s", text)
			s.dropLine(1)
		case !s.opts.shopts(shoptNullglob):
			e.emit(text)
		}
		return
	}
	for _, m := range matches {
		e.emit(m)
	}
}

// globPaths returns the paths that match a pattern, sorted.
func (s *state) globPaths(pat string) []string {
	g := &globber{s: s, w: s.walker(), flags: s.patternFlags(s.opts.shopts(shoptNocaseglob))}
	g.dots = s.opts.shopts(shoptDotglob)
	if ignore, ok := s.value("GLOBIGNORE"); ok && ignore != "" {
		g.dots = true
		for _, p := range splitPatterns(ignore) {
			g.ignore = append(g.ignore, s.pattern(p, g.flags))
		}
	}
	dir, prefix := s.ino, ""
	rest := strings.TrimLeft(pat, "/")
	if rest != pat {
		dir, prefix = vfs.RootIno, pat[:len(pat)-len(rest)]
	}
	g.walk(prefix, dir, g.components(rest))
	sort.Strings(g.out)
	return g.out
}

// splitPatterns splits at colons that are not escaped.
func splitPatterns(s string) []string {
	var out []string
	start := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case ':':
			out = append(out, s[start:i])
			start = i + 1
		}
	}
	return append(out, s[start:])
}

// globber gathers paths.
type globber struct {
	s      *state
	w      *vfs.Walker
	flags  pattern.Flags
	dots   bool
	ignore []*pattern.Pattern
	out    []string
	size   int
}

// component is one name of a pattern and the slashes after it.
type component struct {
	text  string           // unescaped, when there is no pattern
	pat   *pattern.Pattern // nil: text itself
	dot   bool             // it starts with a dot that is written
	deep  bool             // **
	slash string
}

func (g *globber) components(pat string) []component {
	var out []component
	patterns := false
	for pat != "" {
		i := slashAt(pat)
		c := component{}
		name := pat[:i]
		pat = pat[i:]
		trimmed := strings.TrimLeft(pat, "/")
		c.slash = pat[:len(pat)-len(trimmed)]
		pat = trimmed
		switch {
		case name == "**" && g.s.opts.shopts(shoptGlobstar):
			c.deep = true
		case pattern.HasMeta(name, g.flags&pattern.ExtGlob != 0):
			c.pat = g.s.pattern(name, g.flags)
			c.dot = strings.HasPrefix(name, ".") || strings.HasPrefix(name, `\.`)
		case g.flags&pattern.NoCase != 0:
			c.pat = g.s.pattern(name, g.flags)
			c.dot = strings.HasPrefix(name, ".")
			c.text = pattern.Unescape(name)
			if c.text == "." || c.text == ".." {
				c.pat = nil
			}
		default:
			c.text = pattern.Unescape(name)
		}
		if patterns = patterns || c.pat != nil || c.deep; patterns && c.slash != "" {
			c.slash = "/"
		}
		out = append(out, c)
	}
	return out
}

// slashAt is where the first slash is that ends a name.
func slashAt(pat string) int {
	for i := 0; i < len(pat); i++ {
		switch pat[i] {
		case '\\':
			i++
		case '/':
			return i
		}
	}
	return len(pat)
}

// walk matches components from a directory on.
func (g *globber) walk(prefix string, dir vfs.Ino, comps []component) {
	g.s.tick()
	if len(comps) == 0 {
		g.add(prefix)
		return
	}
	c := &comps[0]
	switch {
	case c.deep:
		g.deep(prefix, dir, comps)
	case c.pat == nil:
		g.name(prefix, dir, c.text, comps, 0)
	default:
		if c.dot && !g.s.opts.shopts(shoptGlobskipdots) {
			for _, name := range []string{".", ".."} {
				if c.pat.Match(name) {
					g.name(prefix, dir, name, comps, vfs.ModeDir)
				}
			}
		}
		for _, e := range g.entries(dir) {
			if e.Name[0] == '.' && !c.dot && !g.dots {
				continue
			}
			if c.pat.Match(e.Name) {
				g.name(prefix, dir, e.Name, comps, e.Mode)
			}
		}
	}
}

// entries lists a directory; one that cannot be read is empty.
func (g *globber) entries(dir vfs.Ino) []vfs.DirEntry {
	es, err := g.w.ReadDirIno(dir)
	if err != nil {
		return nil
	}
	return es
}

// name goes on with a name of a directory. mode is what the listing said of it,
// 0 when it was not listed.
func (g *globber) name(prefix string, dir vfs.Ino, name string, comps []component, mode uint32) {
	c := &comps[0]
	path := prefix + name + c.slash
	if len(comps) == 1 && c.slash == "" {
		if mode == 0 {
			if _, err := g.w.At(dir).Lstat(name); err != nil {
				return
			}
		}
		g.add(path)
		return
	}
	a, err := g.w.At(dir).Stat(name)
	if err != nil || !a.IsDir() {
		return
	}
	g.walk(path, a.Ino, comps[1:])
}

// deep matches ** : any number of directories, symlinks not followed.
func (g *globber) deep(prefix string, dir vfs.Ino, comps []component) {
	c := &comps[0]
	rest := comps[1:]
	for len(rest) > 0 && rest[0].deep {
		c, rest = &rest[0], rest[1:]
	}
	last := len(rest) == 0
	if last && prefix != "" {
		g.add(prefix)
	}
	if !last {
		g.walk(prefix, dir, rest)
	}
	g.below(prefix, dir, c, rest, last)
}

// below visits what is below a directory for deep.
func (g *globber) below(prefix string, dir vfs.Ino, c *component, rest []component, last bool) {
	g.s.tick()
	for _, e := range g.entries(dir) {
		if e.Name[0] == '.' && !g.dots {
			continue
		}
		isDir := e.Mode&vfs.ModeTypeMask == vfs.ModeDir
		if last {
			if c.slash == "" {
				g.add(prefix + e.Name)
			} else if isDir {
				g.add(prefix + e.Name + c.slash)
			}
		}
		if !isDir {
			continue
		}
		sub := prefix + e.Name + "/"
		if !last {
			g.walk(sub, e.Ino, rest)
		}
		g.below(sub, e.Ino, c, rest, last)
	}
}

// add adds a path, unless GLOBIGNORE says not to.
func (g *globber) add(path string) {
	for _, p := range g.ignore {
		if p.Match(path) {
			return
		}
	}
	base := path[strings.LastIndexByte(path, '/')+1:]
	if len(g.ignore) > 0 && (base == "." || base == "..") {
		return
	}
	g.out = append(g.out, path)
	g.size += len(path) + 16
	g.s.room(g.size)
}
