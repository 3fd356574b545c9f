package rg

import (
	"fmt"
	"strings"
)

// verdict is what rules say about a path.
type verdict uint8

const (
	undecided verdict = iota
	ignored
	kept // by a rule that starts with !
)

// rule is a line of an ignore file.
type rule struct {
	*glob
	keep    bool
	dirOnly bool
}

// rules are the lines of an ignore file; the last that matches decides.
type rules []rule

// decide judges a path relative to the directory of the file.
func (rs rules) decide(path string, dir bool) verdict {
	for i := len(rs) - 1; i >= 0; i-- {
		r := &rs[i]
		if r.dirOnly && !dir || !r.match(path) {
			continue
		}
		if r.keep {
			return kept
		}
		return ignored
	}
	return undecided
}

// parseRules reads the lines of an ignore file; mistakes are given to bad.
func parseRules(text string, fold bool, bad func(line int, err error)) rules {
	var rs rules
	for n, line := range strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n") {
		r, err := parseRule(strings.TrimSuffix(line, "\r"), fold)
		switch {
		case err != nil:
			bad(n+1, err)
		case r != nil:
			rs = append(rs, *r)
		}
	}
	return rs
}

// parseRule reads one line; nil for one that says nothing.
func parseRule(line string, fold bool) (*rule, error) {
	if strings.HasPrefix(line, "#") {
		return nil, nil
	}
	if !strings.HasSuffix(line, "\\ ") {
		line = strings.TrimRight(line, " \t")
	}
	if line == "" {
		return nil, nil
	}
	pattern := line
	r := &rule{}
	anchored := false
	if strings.HasPrefix(pattern, "\\!") || strings.HasPrefix(pattern, "\\#") {
		pattern = pattern[1:]
	} else {
		pattern, r.keep = strings.CutPrefix(pattern, "!")
		pattern, anchored = strings.CutPrefix(pattern, "/")
	}
	pattern, r.dirOnly = strings.CutSuffix(pattern, "/")
	if pattern == "" {
		return nil, nil
	}
	if !anchored && !strings.Contains(pattern, "/") && pattern != "**" {
		pattern = "**/" + pattern
	}
	if strings.HasSuffix(pattern, "/**") {
		// Everything in the directory, but not itself.
		pattern += "/*"
	}
	var err error
	if r.glob, err = compileGlob(pattern, fold); err != nil {
		return nil, fmt.Errorf("error parsing glob '%s': %v", line, err)
	}
	return r, nil
}

// overrides are the globs of -g: they come before all other rules. One without
// ! says what is wanted, and then nothing else is.
type overrides struct {
	rules  rules
	wanted bool // there is one without !
}

func parseOverrides(globs []globArg) (*overrides, error) {
	o := &overrides{}
	for _, g := range globs {
		r, err := parseRule(g.pattern, g.fold)
		if err != nil {
			return nil, err
		}
		if r == nil {
			continue
		}
		// The sense is the reverse of that of ignore files.
		r.keep = !r.keep
		o.wanted = o.wanted || r.keep
		o.rules = append(o.rules, *r)
	}
	return o, nil
}

func (o *overrides) decide(path string, dir bool) verdict {
	v := o.rules.decide(path, dir)
	if v == undecided && o.wanted && !dir {
		return ignored
	}
	return v
}

// level is what one directory adds to the rules.
type level struct {
	base   string // absolute path of the directory, with a slash
	custom [2]rules
	git    rules
	// exclude are the rules of .git/info/exclude.
	exclude rules
	isRepo  bool
	above   *level
}

// names of ignore files of rg's own; the first counts most.
var customNames = [2]string{".rgignore", ".ignore"}

// maxIgnoreFile bounds the size of an ignore file.
const maxIgnoreFile = 16 << 20

// enter reads the ignore files of a directory; files tells which names there
// are, nil that all are to be tried.
func (w *walker) enter(base, open string, above *level, has func(name string) bool) *level {
	l := &level{base: base, above: above}
	if w.set.noIgnore {
		return l
	}
	for i, name := range customNames {
		if has(name) && !(name == ".ignore" && w.set.noIgnoreDot) {
			l.custom[i] = w.ruleFile(open, name)
		}
	}
	if w.set.noIgnoreVCS {
		return l
	}
	if has(".gitignore") {
		l.git = w.ruleFile(open, ".gitignore")
	}
	if has(".git") {
		l.isRepo = true
		if !w.set.noIgnoreExclude {
			l.exclude = w.ruleFile(open, ".git/info/exclude")
		}
	}
	return l
}

// ruleFile reads an ignore file of a directory, if there is one.
func (w *walker) ruleFile(dir, name string) rules {
	path := dir + name
	b, err := w.c.FS.ReadFile(path, maxIgnoreFile)
	if err != nil {
		return nil
	}
	return parseRules(string(b), w.set.ignoreFold, func(line int, err error) {
		if !w.set.noIgnoreMessages {
			w.complain("%s: line %d: %v", strings.TrimPrefix(path, "./"), line, err)
		}
	})
}

// decide judges a path by the rules of all directories above it: files of rg's
// own come before those of git, and of each kind deeper ones before higher.
func (w *walker) decide(l *level, path string, dir bool) verdict {
	var custom [2]verdict
	var git, exclude verdict
	first := func(v *verdict, rs rules, rel string) {
		if *v == undecided && len(rs) > 0 {
			*v = rs.decide(rel, dir)
		}
	}
	inRepo := w.set.noRequireGit || w.inRepo(l)
	for at, passed := l, false; at != nil; at = at.above {
		rel := path[len(at.base):]
		for i := range custom {
			first(&custom[i], at.custom[i], rel)
		}
		if inRepo && !passed {
			first(&git, at.git, rel)
			first(&exclude, at.exclude, rel)
			passed = at.isRepo
		}
	}
	for _, v := range [...]verdict{custom[0], custom[1], git, exclude} {
		if v != undecided {
			return v
		}
	}
	if inRepo && !w.set.noIgnoreGlobal {
		if v := w.global.decide(strings.TrimPrefix(path, w.top), dir); v != undecided {
			return v
		}
	}
	if w.set.noIgnoreFiles {
		return undecided
	}
	return w.explicit.decide(strings.TrimPrefix(path, w.top), dir)
}

// inRepo tells whether a directory is part of a git repository.
func (w *walker) inRepo(l *level) bool {
	for ; l != nil; l = l.above {
		if l.isRepo {
			return true
		}
	}
	return false
}
