package vcs

import (
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// ignoreRule is a line of an ignore file.
type ignoreRule struct {
	pattern gitignore.Pattern
	text    string
	file    string
	line    int
}

// ignores are the rules that hold in a directory, the strongest last.
type ignores []ignoreRule

// baseIgnores reads the rules that are not in the work tree.
func (r *repo) baseIgnores() ignores {
	file := r.cfg.get("core.excludesfile")
	if file == "" {
		dir := r.Env.Get("XDG_CONFIG_HOME")
		if dir == "" && r.Env.Get("HOME") != "" {
			dir = path.Join(r.Env.Get("HOME"), ".config")
		}
		if dir != "" {
			file = path.Join(dir, "git/ignore")
		}
	} else if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = path.Join(r.Env.Get("HOME"), rest)
	}
	var rules ignores
	if file != "" {
		rules = r.addIgnores(rules, file, file, nil)
	}
	return r.addIgnores(rules, path.Join(r.common, "info/exclude"), ".git/info/exclude", nil)
}

// addIgnores adds the rules of one file, which hold below domain.
func (r *repo) addIgnores(rules ignores, file, shown string, domain []string) ignores {
	b, err := r.FS.ReadFile(file, maxConfig)
	if err != nil {
		return rules
	}
	out := rules[:len(rules):len(rules)]
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSuffix(line, "\r")
		text := line
		if t := strings.TrimRight(line, " "); t != line && !strings.HasSuffix(t, `\`) {
			line = t
		}
		if line == "" || line[0] == '#' {
			continue
		}
		out = append(out, ignoreRule{gitignore.ParsePattern(line, domain), text, shown, i + 1})
	}
	return out
}

// enter adds the rules of a directory's own file.
func (r *repo) enter(rules ignores, dir string) ignores {
	var domain []string
	if dir != "" {
		domain = strings.Split(dir, "/")
	}
	name := path.Join(dir, ".gitignore")
	return r.addIgnores(rules, r.abs(name), name, domain)
}

// rule returns the rule that decides on a name, and whether it ignores it.
func (rules ignores) rule(name string, dir bool) (*ignoreRule, bool) {
	parts := strings.Split(name, "/")
	for i := len(rules) - 1; i >= 0; i-- {
		switch rules[i].pattern.Match(parts, dir) {
		case gitignore.Exclude:
			return &rules[i], true
		case gitignore.Include:
			return &rules[i], false
		}
	}
	return nil, false
}

func (rules ignores) match(name string, dir bool) bool {
	_, ignored := rules.rule(name, dir)
	return ignored
}

// ignoredBy finds the rule that ignores a name or a directory above it.
func (r *repo) ignoredBy(name string, dir bool) (*ignoreRule, bool) {
	rules := r.enter(r.baseIgnores(), "")
	parts := strings.Split(name, "/")
	for i := 1; i <= len(parts); i++ {
		p := strings.Join(parts[:i], "/")
		rule, ignored := rules.rule(p, i < len(parts) || dir)
		if ignored || i == len(parts) {
			return rule, ignored
		}
		rules = r.enter(rules, p)
	}
	return nil, false
}

// cmdCheckIgnore is git check-ignore.
func (g *git) cmdCheckIgnore(args []string) error {
	p, err := g.parse(args, "v,verbose q,quiet n,non-matching no-index")
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	if len(p.operands) == 0 {
		return fatal("no path specified")
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	found := false
	for _, arg := range p.operands {
		name, err := r.inside(arg, false)
		if err != nil {
			return err
		}
		a, err := r.FS.Stat(arg)
		if ix.has(name) && !p.has("no-index") {
			continue
		}
		rule, ignored := r.ignoredBy(name, strings.HasSuffix(arg, "/") || err == nil && a.IsDir())
		show := ignored || p.has("verbose") && rule != nil
		found = found || show
		switch {
		case p.has("quiet"):
		case show && p.has("verbose"):
			g.printf("%s:%d:%s\t%s\n", rule.file, rule.line, rule.text, arg)
		case show:
			g.printf("%s\n", arg)
		case p.has("verbose") && p.has("non-matching"):
			g.printf("::\t%s\n", arg)
		}
	}
	if !found {
		return status(1)
	}
	return nil
}

// parseRule is a rule given on the command line.
func parseRule(text string) ignoreRule {
	return ignoreRule{pattern: gitignore.ParsePattern(text, nil), text: text}
}
