package vcs

import (
	"errors"
	"path"
	"strconv"
	"strings"
	"syscall"
)

// maxConfig is how large a configuration file may be.
const maxConfig = 1 << 20

// configEntry is one setting, and where it stands.
type configEntry struct {
	section string // "core", `remote.origin`: the subsection keeps its case
	key     string // lower case
	value   string
	bare    bool // a key without "="
	from    int  // lines [from, to) of the file
	to      int
}

func (e *configEntry) name() string { return e.section + "." + e.key }

// configFile is a configuration file, kept as lines so that a change of one
// setting leaves the rest as it was written.
type configFile struct {
	lines   []string
	entries []configEntry
	// headers has the line of each section header.
	headers []configEntry
}

// parseConfig reads the text of a configuration file.
func parseConfig(text string) (*configFile, error) {
	f := &configFile{}
	if text != "" {
		f.lines = strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	}
	return f, f.index()
}

// index finds the entries of the lines.
func (f *configFile) index() error {
	f.entries, f.headers = nil, nil
	section := ""
	for i := 0; i < len(f.lines); i++ {
		line := strings.TrimLeft(strings.TrimSuffix(f.lines[i], "\r"), " \t\ufeff")
		if strings.HasPrefix(line, "[") {
			name, rest, ok := sectionName(line)
			if !ok {
				return fatalf("bad config line %d in file", i+1)
			}
			section = name
			f.headers = append(f.headers, configEntry{section: section, from: i, to: i + 1})
			if line = strings.TrimLeft(rest, " \t"); line == "" {
				continue
			}
		}
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		n := 0
		for n < len(line) && (isAlnum(line[n]) || line[n] == '-') {
			n++
		}
		rest := strings.TrimLeft(line[n:], " \t")
		if n == 0 || section == "" || rest != "" && rest[0] != '=' && rest[0] != '#' && rest[0] != ';' {
			return fatalf("bad config line %d in file", i+1)
		}
		e := configEntry{section: section, key: strings.ToLower(line[:n]), from: i, bare: rest == "" || rest[0] != '='}
		if !e.bare {
			value, used, ok := configValue(rest[1:], f.lines[i+1:])
			if !ok {
				return fatalf("bad config line %d in file", i+1)
			}
			e.value = value
			i += used
		}
		e.to = i + 1
		f.entries = append(f.entries, e)
	}
	return nil
}

func isAlnum(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

// sectionName reads a header: [name], [name "sub"] or [name.sub].
func sectionName(line string) (name, rest string, ok bool) {
	i := 1
	for i < len(line) && (isAlnum(line[i]) || line[i] == '-' || line[i] == '.') {
		i++
	}
	name = strings.ToLower(line[1:i])
	j := i
	for j < len(line) && (line[j] == ' ' || line[j] == '\t') {
		j++
	}
	if j < len(line) && line[j] == '"' && name != "" {
		var sub strings.Builder
		for j++; j < len(line) && line[j] != '"'; j++ {
			if line[j] == '\\' && j+1 < len(line) {
				j++
			}
			sub.WriteByte(line[j])
		}
		if j+1 >= len(line) || line[j+1] != ']' {
			return "", "", false
		}
		return name + "." + sub.String(), line[j+2:], true
	}
	if i >= len(line) || line[i] != ']' || name == "" {
		return "", "", false
	}
	return name, line[i+1:], true
}

// configValue reads a value, with its quotes, escapes and comment; a backslash
// at the end goes on in the next line. It says how many further lines it used.
func configValue(text string, more []string) (value string, used int, ok bool) {
	var b strings.Builder
	quoted, keep := false, 0
	text = strings.TrimLeft(text, " \t")
	for i := 0; ; i++ {
		if i >= len(text) {
			return b.String()[:keep], used, !quoted
		}
		c := text[i]
		switch {
		case c == '"':
			quoted = !quoted
			keep = b.Len()
			continue
		case c == '\\' && i+1 >= len(text):
			if used >= len(more) {
				return "", 0, false
			}
			text, i = more[used], -1
			used++
			continue
		case c == '\\':
			i++
			e := strings.IndexByte(`nt"\b`, text[i])
			if e < 0 {
				return "", 0, false
			}
			b.WriteByte("\n\t\"\\\b"[e])
			keep = b.Len()
			continue
		case !quoted && (c == '#' || c == ';'):
			return b.String()[:keep], used, true
		case c == '\r' && i == len(text)-1:
			continue
		}
		b.WriteByte(c)
		if quoted || c != ' ' && c != '\t' {
			keep = b.Len()
		}
	}
}

// splitKey cuts "section.sub.key" into its section and key, in their spelling
// of comparison.
func splitKey(name string) (section, key string, ok bool) {
	i := strings.LastIndexByte(name, '.')
	if i <= 0 || i == len(name)-1 {
		return "", "", false
	}
	section, key = name[:i], strings.ToLower(name[i+1:])
	if base, sub, has := strings.Cut(section, "."); has {
		section = strings.ToLower(base) + "." + sub
	} else {
		section = strings.ToLower(section)
	}
	return section, key, true
}

// find returns the indexes of the entries of a name.
func (f *configFile) find(name string) []int {
	section, key, ok := splitKey(name)
	if !ok {
		return nil
	}
	var found []int
	for i, e := range f.entries {
		if e.section == section && e.key == key {
			found = append(found, i)
		}
	}
	return found
}

// quoteValue spells a value for a file.
func quoteValue(v string) string {
	var b strings.Builder
	for i := range len(v) {
		switch v[i] {
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		case '"', '\\':
			b.WriteString(`\` + v[i:i+1])
		default:
			b.WriteByte(v[i])
		}
	}
	s := b.String()
	if strings.ContainsAny(v, "#;") || v != strings.Trim(v, " \t") {
		return `"` + s + `"`
	}
	return s
}

func header(section string) string {
	base, sub, has := strings.Cut(section, ".")
	if !has {
		return "[" + base + "]"
	}
	return "[" + base + ` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(sub) + `"]`
}

// replaceLines puts new lines in place of [from, to).
func (f *configFile) replaceLines(from, to int, lines ...string) error {
	f.lines = append(f.lines[:from:from], append(lines, f.lines[to:]...)...)
	return f.index()
}

// spelledKey is the key as the user wrote it.
func spelledKey(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// set gives a name one value: the last entry of it changes, or one is added.
func (f *configFile) set(name, value string) error {
	line := "\t" + spelledKey(name) + " = " + quoteValue(value)
	if found := f.find(name); len(found) > 0 {
		e := f.entries[found[len(found)-1]]
		return f.replaceLines(e.from, e.to, line)
	}
	return f.add(name, value)
}

// add adds a value behind the last entry of its section.
func (f *configFile) add(name, value string) error {
	section, _, ok := splitKey(name)
	if !ok {
		return failf("key does not contain a section: %s", name)
	}
	line := "\t" + spelledKey(name) + " = " + quoteValue(value)
	at := -1
	for _, h := range f.headers {
		if h.section == section {
			at = h.to
		}
	}
	if at < 0 {
		return f.replaceLines(len(f.lines), len(f.lines), header(section), line)
	}
	for _, e := range f.entries {
		if e.section == section {
			at = max(at, e.to)
		}
	}
	return f.replaceLines(at, at, line)
}

// unset removes an entry, and the header of a section that becomes empty.
func (f *configFile) unset(i int) error {
	e := f.entries[i]
	if err := f.replaceLines(e.from, e.to); err != nil {
		return err
	}
	for _, rest := range f.entries {
		if rest.section == e.section {
			return nil
		}
	}
	return f.removeSection(e.section, true)
}

// removeSection removes the headers of a section and what is below them.
func (f *configFile) removeSection(section string, onlyEmpty bool) error {
	for n := len(f.headers) - 1; n >= 0; n-- {
		h := f.headers[n]
		if h.section != section {
			continue
		}
		end := len(f.lines)
		if n+1 < len(f.headers) {
			end = f.headers[n+1].from
		}
		if onlyEmpty && strings.TrimSpace(strings.Join(f.lines[h.from+1:end], "")) != "" {
			continue
		}
		f.lines = append(f.lines[:h.from:h.from], f.lines[end:]...)
	}
	return f.index()
}

// text is the file.
func (f *configFile) text() string {
	if len(f.lines) == 0 {
		return ""
	}
	return strings.Join(f.lines, "\n") + "\n"
}

// settings are the values of all files that count, the later winning.
type settings struct {
	entries []sourced
}

// sourced is an entry and the file that it is from.
type sourced struct {
	configEntry
	file  string
	scope string
}

func (s *settings) all(name string) []string {
	section, key, ok := splitKey(name)
	var values []string
	for _, e := range s.entries {
		if ok && e.section == section && e.key == key {
			if e.bare {
				e.value = "true"
			}
			values = append(values, e.value)
		}
	}
	return values
}

func (s *settings) get(name string) string {
	v := s.all(name)
	if len(v) == 0 {
		return ""
	}
	return v[len(v)-1]
}

// flag reads a boolean.
func (s *settings) flag(name string, fallback bool) bool {
	v := s.all(name)
	if len(v) == 0 {
		return fallback
	}
	b, ok := parseBool(v[len(v)-1])
	return b && ok
}

func parseBool(v string) (value, ok bool) {
	switch strings.ToLower(v) {
	case "true", "yes", "on":
		return true, true
	case "false", "no", "off", "":
		return false, true
	}
	n, err := strconv.Atoi(v)
	return n != 0, err == nil
}

// readConfig reads one file; one that is not there is empty.
func (g *git) readConfig(file string) (*configFile, error) {
	b, err := g.FS.ReadFile(file, maxConfig)
	if errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ENOTDIR) {
		return &configFile{}, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := parseConfig(string(b))
	if err != nil {
		return nil, fatal(err.Error() + " " + file)
	}
	return f, nil
}

// globalFiles are the user's files in the workspace, the preferred one last.
func (g *git) globalFiles() []string {
	if v, ok := g.Env.Lookup("GIT_CONFIG_GLOBAL"); ok {
		return []string{v}
	}
	home := g.Env.Get("HOME")
	xdg := g.Env.Get("XDG_CONFIG_HOME")
	var files []string
	if xdg == "" && home != "" {
		xdg = path.Join(home, ".config")
	}
	if xdg != "" {
		files = append(files, path.Join(xdg, "git/config"))
	}
	if home != "" {
		files = append(files, path.Join(home, ".gitconfig"))
	}
	return files
}

// config reads every file that counts: the workspace's, the user's, the
// repository's, then -c.
func (g *git) config() (*settings, error) {
	s := &settings{}
	add := func(file, scope string) error {
		f, err := g.readConfig(file)
		if err != nil {
			return err
		}
		for _, e := range f.entries {
			s.entries = append(s.entries, sourced{e, file, scope})
		}
		return nil
	}
	if g.Env.Get("GIT_CONFIG_NOSYSTEM") == "" {
		if err := add("/etc/gitconfig", "system"); err != nil {
			return nil, err
		}
	}
	for _, file := range g.globalFiles() {
		if err := add(file, "global"); err != nil {
			return nil, err
		}
	}
	if dir, _, err := g.find(); err == nil {
		if err := add(path.Join(dir, "config"), "local"); err != nil {
			return nil, err
		}
	}
	for _, kv := range g.settings {
		name, value, has := strings.Cut(kv, "=")
		if section, key, ok := splitKey(name); ok {
			s.entries = append(s.entries, sourced{configEntry{section: section, key: key, value: value, bare: !has}, "command line:", "command"})
		}
	}
	return s, nil
}
