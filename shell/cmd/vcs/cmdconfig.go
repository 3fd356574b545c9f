package vcs

import (
	"path"
	"strings"
)

// cmdConfig is git config.
func (g *git) cmdConfig(args []string) error {
	p, err := g.parse(args, `global system local worktree f,file= get get-all get-regexp= add unset unset-all replace-all l,list
 rename-section remove-section bool int type= z,null show-origin show-scope name-only default= e,edit includes`)
	if err != nil {
		return err
	}
	c := &configCommand{git: g, p: p}
	if err := c.choose(); err != nil {
		return err
	}
	ops := p.operands
	need := func(least, most int) error {
		if len(ops) < least || len(ops) > most {
			g.complain("error: wrong number of arguments, should be from " + itoa(int64(least)) + " to " + itoa(int64(most)))
			return status(exitUsage)
		}
		return nil
	}
	switch {
	case p.has("list"):
		return c.list()
	case p.has("get-regexp"):
		return c.regexp(p.get("get-regexp"))
	case p.has("get"), p.has("get-all"):
		if err := need(1, 2); err != nil {
			return err
		}
		return c.get(ops[0], p.has("get-all"))
	case p.has("unset"), p.has("unset-all"):
		if err := need(1, 2); err != nil {
			return err
		}
		return c.change(ops[0], func(f *configFile) error { return c.unset(f, ops[0]) })
	case p.has("rename-section"):
		if err := need(2, 2); err != nil {
			return err
		}
		return c.change("", func(f *configFile) error { return renameSection(f, ops[0], ops[1]) })
	case p.has("remove-section"):
		if err := need(1, 1); err != nil {
			return err
		}
		return c.change("", func(f *configFile) error { return dropSection(f, ops[0]) })
	case p.has("edit"):
		return fatal("--edit needs a terminal")
	case len(ops) == 1:
		return c.get(ops[0], false)
	}
	if err := need(2, 3); err != nil {
		return err
	}
	return c.change(ops[0], func(f *configFile) error { return c.set(f, ops[0], ops[1]) })
}

// configCommand is one run of git config.
type configCommand struct {
	*git
	p    *parsed
	file string // "" reads all files and writes the repository's
}

// choose finds the file that the options name.
func (c *configCommand) choose() error {
	switch {
	case c.p.given("file"):
		c.file = c.p.get("file")
	case c.p.has("global"):
		files := c.globalFiles()
		if len(files) == 0 {
			return fatal("$HOME not set")
		}
		c.file = files[len(files)-1]
	case c.p.has("system"):
		c.file = "/etc/gitconfig"
	case c.p.has("local"):
		dir, _, err := c.find()
		if err != nil {
			return fatal("--local can only be used inside a git repository")
		}
		c.file = path.Join(dir, "config")
	}
	return nil
}

// entries are the settings of the chosen file, or of all.
func (c *configCommand) entries() (*settings, error) {
	if c.file == "" {
		return c.config()
	}
	f, err := c.readConfig(c.file)
	if err != nil {
		return nil, err
	}
	s := &settings{}
	for _, e := range f.entries {
		s.entries = append(s.entries, sourced{e, c.file, "file"})
	}
	return s, nil
}

func (c *configCommand) end() string {
	if c.p.has("null") {
		return "\x00"
	}
	return "\n"
}

// typed converts a value as --type asks.
func (c *configCommand) typed(name, value string) (string, error) {
	kind := c.p.get("type")
	if c.p.has("bool") {
		kind = "bool"
	}
	if c.p.has("int") {
		kind = "int"
	}
	switch kind {
	case "bool":
		b, ok := parseBool(value)
		if !ok {
			return "", fatalf("bad boolean config value '%s' for '%s'", value, name)
		}
		if b {
			return "true", nil
		}
		return "false", nil
	case "int":
		n, ok := parseInt(value)
		if !ok {
			return "", fatalf("bad numeric config value '%s' for '%s': invalid unit", value, name)
		}
		return itoa(n), nil
	case "path":
		if rest, ok := strings.CutPrefix(value, "~/"); ok {
			value = path.Join(c.Env.Get("HOME"), rest)
		}
	}
	return value, nil
}

// parseInt reads a number with a unit of k, m or g.
func parseInt(s string) (int64, bool) {
	unit := int64(1)
	if s != "" {
		switch s[len(s)-1] | 0x20 {
		case 'k':
			unit = 1 << 10
		case 'm':
			unit = 1 << 20
		case 'g':
			unit = 1 << 30
		}
		if unit > 1 {
			s = s[:len(s)-1]
		}
	}
	n, ok := atoi64(s)
	return n * unit, ok
}

func (c *configCommand) list() error {
	s, err := c.entries()
	if err != nil {
		return err
	}
	for _, e := range s.entries {
		origin := ""
		if c.p.has("show-scope") {
			origin = e.scope + "\t"
		}
		if c.p.has("show-origin") {
			origin += "file:" + e.file + "\t"
		}
		sep, value := "=", e.value
		if c.p.has("null") {
			sep = "\n"
		}
		if e.bare || c.p.has("name-only") {
			sep, value = "", ""
		}
		c.printf("%s%s%s%s%s", origin, e.name(), sep, value, c.end())
	}
	return nil
}

func (c *configCommand) regexp(pattern string) error {
	re, err := compileLine(pattern, false)
	if err != nil {
		return failf("invalid key pattern: %s", pattern)
	}
	s, err := c.entries()
	if err != nil {
		return err
	}
	found := false
	for _, e := range s.entries {
		ok, err := re.Match(c.ctx, []byte(e.name()))
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		found = true
		if c.p.has("name-only") || e.bare {
			c.printf("%s%s", e.name(), c.end())
			continue
		}
		c.printf("%s %s%s", e.name(), e.value, c.end())
	}
	if !found {
		return status(1)
	}
	return nil
}

// checkKey holds the rules for the name of a setting.
func checkKey(name string) error {
	section, key, ok := splitKey(name)
	if !ok && !strings.Contains(name, ".") {
		return failf("key does not contain a section: %s", name)
	}
	if !ok {
		return failf("key does not contain variable name: %s", name)
	}
	for i := range len(key) {
		if !isAlnum(key[i]) && key[i] != '-' {
			return failf("invalid key: %s", name)
		}
	}
	if c := key[0]; c < 'a' || c > 'z' {
		return failf("invalid key: %s", name)
	}
	base, _, _ := strings.Cut(section, ".")
	for i := range len(base) {
		if !isAlnum(base[i]) && base[i] != '-' {
			return failf("invalid key: %s", name)
		}
	}
	return nil
}

func (c *configCommand) get(name string, all bool) error {
	if err := checkKey(name); err != nil {
		return err
	}
	s, err := c.entries()
	if err != nil {
		return err
	}
	values := s.all(name)
	if len(values) == 0 {
		if !c.p.given("default") {
			return status(1)
		}
		values = []string{c.p.get("default")}
	}
	if !all {
		values = values[len(values)-1:]
	}
	for _, v := range values {
		if v, err = c.typed(name, v); err != nil {
			return err
		}
		c.printf("%s%s", v, c.end())
	}
	return nil
}

// change rewrites the chosen file, or the repository's.
func (c *configCommand) change(name string, edit func(*configFile) error) error {
	if name != "" {
		if err := checkKey(name); err != nil {
			if strings.Contains(err.Error(), "section") || strings.Contains(err.Error(), "variable") {
				c.complain("error: " + err.Error())
				return status(2)
			}
			return err
		}
	}
	file := c.file
	if file == "" {
		dir, _, err := c.find()
		if err != nil {
			return fatal("not in a git directory")
		}
		file = path.Join(dir, "config")
	}
	return c.editConfig(file, edit)
}

// editConfig changes one configuration file.
func (g *git) editConfig(file string, edit func(*configFile) error) error {
	f, err := g.readConfig(file)
	if err != nil {
		return err
	}
	if err := edit(f); err != nil {
		return err
	}
	if err := g.FS.WriteFile(file, []byte(f.text()), 0o666); err != nil {
		return failf("could not write config file %s: %v", file, err)
	}
	return nil
}

func (c *configCommand) set(f *configFile, name, value string) error {
	value, err := c.typed(name, value)
	if err != nil {
		return err
	}
	found := f.find(name)
	switch {
	case c.p.has("add"):
		return f.add(name, value)
	case c.p.has("replace-all"):
		for len(found) > 1 {
			if err := f.unset(found[0]); err != nil {
				return err
			}
			found = f.find(name)
		}
	case len(found) > 1:
		c.complain("warning: " + name + " has multiple values")
		c.complain("error: cannot overwrite multiple values with a single value\n       Use a regexp, --add or --replace-all to change " + name + ".")
		return status(5)
	}
	return f.set(name, value)
}

func (c *configCommand) unset(f *configFile, name string) error {
	found := f.find(name)
	if len(found) == 0 {
		return status(5)
	}
	if len(found) > 1 && !c.p.has("unset-all") {
		c.complain("warning: " + name + " has multiple values")
		return status(5)
	}
	for ; len(found) > 0; found = f.find(name) {
		if err := f.unset(found[0]); err != nil {
			return err
		}
	}
	return nil
}

func renameSection(f *configFile, from, to string) error {
	section, _, _ := splitKey(from + ".x")
	n := 0
	for _, h := range f.headers {
		if h.section == section {
			f.lines[h.from] = header(to)
			n++
		}
	}
	if n == 0 {
		return fatalf("no such section: %s", from)
	}
	return f.index()
}

func dropSection(f *configFile, name string) error {
	section, _, _ := splitKey(name + ".x")
	for _, h := range f.headers {
		if h.section == section {
			return f.removeSection(section, false)
		}
	}
	return fatalf("no such section: %s", name)
}
