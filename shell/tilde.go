package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// tildes expands ~ at the start of a word and, in assignments, after "=" and
// ":". What it yields is quoted: it is neither split nor a pattern. It returns
// what is left of the literal.
func (e *expander) tildes(text string, first, last bool) string {
	if first && text != "" && text[0] == '~' {
		text = e.tilde(text, last)
	}
	if !e.assign {
		// A word that looks like an assignment has its tildes expanded too.
		if i := strings.IndexByte(text, '='); first && i > 0 && e.mode == toFields && !e.s.opts.on(optPosix) && strings.IndexByte(text, '~') > i {
			if name := strings.TrimSuffix(text[:i], "+"); validName(name) {
				e.unquoted(text[:i+1])
				text = e.colons(text[i+1:], last, true)
			}
		}
		return text
	}
	return e.colons(text, last, false)
}

// colons expands the tildes after colons, and at the start if start is set.
func (e *expander) colons(text string, last, start bool) string {
	if start && text != "" && text[0] == '~' {
		text = e.tilde(text, last)
	}
	for {
		i := strings.Index(text, ":~")
		if i < 0 || strings.IndexByte(text[:i], '\\') >= 0 {
			return text
		}
		e.unquoted(text[:i+1])
		text = e.tilde(text[i+1:], last)
		if text != "" && text[0] == '~' {
			e.unquoted("~")
			text = text[1:]
		}
	}
}

// tilde expands the tilde-prefix that text starts with and returns the rest;
// the whole of text when it is none.
func (e *expander) tilde(text string, last bool) string {
	end := 1
	for end < len(text) && text[end] != '/' && text[end] != ':' {
		if strings.IndexByte("\\'\"$", text[end]) >= 0 {
			return text
		}
		end++
	}
	if end == len(text) && !last {
		return text // what follows is quoted or expanded: no login name
	}
	dir, ok := e.s.homeOf(text[1:end])
	if !ok {
		return text
	}
	e.quoted(dir)
	return text[end:]
}

// homeOf resolves a tilde-prefix.
func (s *state) homeOf(name string) (string, bool) {
	switch name {
	case "":
		if v, ok := s.value("HOME"); ok {
			return v, true
		}
		u, _ := s.sh.users.find(s.walker(), userByID(s.sh.cfg.Cred.UID))
		return u.Home, u.Home != ""
	case "+":
		return s.value("PWD")
	case "-":
		return s.value("OLDPWD")
	}
	n := name
	if n[0] == '+' || n[0] == '-' {
		n = n[1:]
	}
	if i, err := strconv.Atoi(n); err == nil {
		dirs := append([]string{s.dir}, s.stack...)
		if name[0] == '-' {
			i = len(dirs) - 1 - i
		}
		if i < 0 || i >= len(dirs) {
			return "", false
		}
		return dirs[i], true
	}
	u, ok := s.sh.users.find(s.walker(), userByName(name))
	return u.Home, ok
}

// tilde shows a directory with the home directory abbreviated.
func (s *state) tilde(dir string) string {
	home := s.get("HOME")
	if home == "" || home == "/" {
		return dir
	}
	if dir == home {
		return "~"
	}
	if strings.HasPrefix(dir, home+"/") {
		return "~" + dir[len(home):]
	}
	return dir
}

// braceSource is a brace expansion that is not expanded.
func braceSource(b *syntax.BraceExp) string {
	sep := ","
	if b.Sequence {
		sep = ".."
	}
	var parts []string
	for _, w := range b.Elems {
		parts = append(parts, wordSource(w))
	}
	return "{" + strings.Join(parts, sep) + "}"
}
