package vcs

import (
	"fmt"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/mattn/go-runewidth"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

// compileLine compiles a pattern of git: a basic regular expression.
func compileLine(pattern string, fold bool) (*regex.Regexp, error) {
	var flags regex.Flags
	if fold {
		flags |= regex.IgnoreCase
	}
	return regex.Compile(pattern, regex.Basic, flags)
}

// prettyForm is how commits are printed.
type prettyForm struct {
	kind     string // medium, oneline, short, full, fuller, raw, reference, format
	format   string
	newlines bool // each commit ends in a newline (tformat) rather than being separated by one
	abbrev   bool
	date     string
	decorate string // "", "short", "full"
	parents  bool
	refs     map[plumbing.Hash][]string
	mark     string // what stands before a commit's hash
}

// prettyOptions reads --pretty, --format, --oneline and --date.
func (r *repo) prettyOptions(p *parsed) (*prettyForm, error) {
	f := &prettyForm{kind: "medium", date: r.cfg.get("log.date")}
	for _, o := range p.options {
		switch o.name {
		case "oneline":
			f.kind, f.abbrev = "oneline", true
		case "abbrev-commit":
			f.abbrev = !o.no
		case "pretty", "format":
			if err := f.setFormat(o.arg, o.has, r.cfg); err != nil {
				return nil, err
			}
		case "date":
			f.date = o.arg
		case "relative-date":
			f.date = "relative"
		case "decorate":
			if f.decorate = "short"; o.arg == "full" {
				f.decorate = "full"
			}
			if o.no || o.arg == "no" {
				f.decorate = ""
			}
		case "parents":
			f.parents = true
		}
	}
	if f.kind == "reference" {
		f.kind, f.format, f.newlines = "format", "%C(auto)%h (%s, %ad)", true
		if f.date == "" {
			f.date = "short"
		}
	}
	if f.decorate != "" || f.kind == "format" && strings.Contains(strings.ToLower(f.format), "%d") {
		f.refs = r.decorations(f.decorate == "full")
	}
	return f, nil
}

func (f *prettyForm) setFormat(s string, has bool, cfg *settings) error {
	if !has {
		s = "medium"
	}
	if alias := cfg.get("pretty." + s); alias != "" {
		s = alias
	}
	switch s {
	case "oneline", "short", "medium", "full", "fuller", "raw", "reference":
		f.kind = s
		return nil
	}
	if t, ok := strings.CutPrefix(s, "format:"); ok {
		f.kind, f.format, f.newlines = "format", t, false
		return nil
	}
	t, ok := strings.CutPrefix(s, "tformat:")
	if !ok && !strings.Contains(s, "%") {
		return fatalf("invalid --pretty format: %s", s)
	}
	f.kind, f.format, f.newlines = "format", t, true
	return nil
}

// decorations lists the references of each commit as log --decorate does.
func (r *repo) decorations(full bool) map[plumbing.Hash][]string {
	out := map[plumbing.Hash][]string{}
	branch, head, born := r.head()
	refs := r.allRefs("refs/")
	sort.SliceStable(refs, func(i, j int) bool { return decorationRank(refs[i].name) < decorationRank(refs[j].name) })
	if born && branch == "" {
		out[head] = append(out[head], "HEAD")
	}
	for _, ref := range refs {
		h, _, err := r.peel(ref.hash)
		if err != nil || strings.HasPrefix(ref.name, "refs/stash") && !full && false {
			continue
		}
		name := shortRef(ref.name)
		if full {
			name = ref.name
		}
		if strings.HasPrefix(ref.name, "refs/tags/") {
			name = "tag: " + name
		}
		if ref.name == branch {
			out[h] = append([]string{"HEAD -> " + name}, out[h]...)
			continue
		}
		out[h] = append(out[h], name)
	}
	return out
}

// decorationRank is the order of kinds of references: tags, remotes, branches.
func decorationRank(name string) int {
	switch {
	case strings.HasPrefix(name, "refs/tags/"):
		return 0
	case strings.HasPrefix(name, "refs/remotes/"):
		return 1
	case strings.HasPrefix(name, "refs/heads/"):
		return 2
	}
	return 3
}

// namedRef is a reference with what it points at.
type namedRef struct {
	name string
	hash plumbing.Hash
}

// allRefs lists references below a prefix, sorted by name.
func (r *repo) allRefs(prefix string) []namedRef {
	it, err := r.st.IterReferences()
	if err != nil {
		return nil
	}
	var refs []namedRef
	err = it.ForEach(func(ref *plumbing.Reference) error {
		name := string(ref.Name())
		if !strings.HasPrefix(name, prefix) {
			return nil
		}
		if h, ok := r.ref(name); ok {
			refs = append(refs, namedRef{name, h})
		}
		return nil
	})
	if err != nil {
		return nil
	}
	sort.Slice(refs, func(i, j int) bool { return refs[i].name < refs[j].name })
	return refs
}

func (r *repo) decoration(f *prettyForm, h plumbing.Hash) string {
	if names := f.refs[h]; len(names) > 0 {
		return " (" + strings.Join(names, ", ") + ")"
	}
	return ""
}

// pretty prints one commit's head and message.
func (r *repo) pretty(f *prettyForm, c *object.Commit) {
	hash := c.Hash.String()
	if f.abbrev {
		hash = r.short(c.Hash)
	}
	if f.parents {
		for _, p := range c.ParentHashes {
			if f.abbrev {
				hash += " " + r.short(p)
			} else {
				hash += " " + p.String()
			}
		}
	}
	deco := ""
	if f.decorate != "" {
		deco = r.decoration(f, c.Hash)
	}
	switch f.kind {
	case "oneline":
		r.printf("%s%s%s %s\n", f.mark, hash, deco, subject(c.Message))
		return
	case "format":
		r.printf("%s", r.expand(f, c, f.format))
		return
	}
	r.printf("commit %s%s%s\n", f.mark, hash, deco)
	if f.kind == "raw" {
		r.printf("tree %s\n", c.TreeHash)
		for _, p := range c.ParentHashes {
			r.printf("parent %s\n", p)
		}
		r.printf("author %s <%s> %s\ncommitter %s <%s> %s\n", c.Author.Name, c.Author.Email, formatRaw(c.Author.When),
			c.Committer.Name, c.Committer.Email, formatRaw(c.Committer.When))
	} else {
		if len(c.ParentHashes) > 1 {
			r.printf("Merge:")
			for _, p := range c.ParentHashes {
				r.printf(" %s", r.short(p))
			}
			r.printf("\n")
		}
		r.prettyPeople(f, c)
	}
	r.printf("\n")
	body := strings.TrimRight(c.Message, "\n")
	if f.kind == "short" {
		body = subject(c.Message)
	}
	body = strings.TrimLeft(body, "\n")
	if body == "" {
		return
	}
	for _, line := range strings.Split(body, "\n") {
		if f.kind != "raw" && f.kind != "short" {
			line = expandTabs(line)
		}
		r.printf("    %s\n", line)
	}
}

// expandTabs puts blanks for tabs, so that the indent does not shift them.
func expandTabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	column := 0
	for _, c := range s {
		if c != '\t' {
			b.WriteRune(c)
			column += runewidth.RuneWidth(c)
			continue
		}
		n := 8 - column%8
		b.WriteString(strings.Repeat(" ", n))
		column += n
	}
	return b.String()
}

func (r *repo) prettyPeople(f *prettyForm, c *object.Commit) {
	switch f.kind {
	case "fuller":
		r.printf("Author:     %s <%s>\nAuthorDate: %s\nCommit:     %s <%s>\nCommitDate: %s\n", c.Author.Name, c.Author.Email,
			r.formatDate(c.Author.When, f.date), c.Committer.Name, c.Committer.Email, r.formatDate(c.Committer.When, f.date))
	case "full":
		r.printf("Author: %s <%s>\nCommit: %s <%s>\n", c.Author.Name, c.Author.Email, c.Committer.Name, c.Committer.Email)
	case "short":
		r.printf("Author: %s <%s>\n", c.Author.Name, c.Author.Email)
	default:
		r.printf("Author: %s <%s>\nDate:   %s\n", c.Author.Name, c.Author.Email, r.formatDate(c.Author.When, f.date))
	}
}

// subject is the first paragraph of a message on one line.
func subject(message string) string {
	message = strings.TrimLeft(message, "\n")
	para, _, _ := strings.Cut(message, "\n\n")
	return strings.Join(strings.Split(strings.TrimRight(para, "\n"), "\n"), " ")
}

// bodyOf is the message behind the subject.
func bodyOf(message string) string {
	_, body, _ := strings.Cut(strings.TrimLeft(message, "\n"), "\n\n")
	return strings.TrimLeft(body, "\n")
}

// expand fills in the placeholders of a format.
func (r *repo) expand(f *prettyForm, c *object.Commit, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 >= len(format) {
			b.WriteByte(format[i])
			continue
		}
		rest := format[i+1:]
		mode := byte(0)
		if strings.IndexByte("+- ", rest[0]) >= 0 && len(rest) > 1 {
			mode, rest = rest[0], rest[1:]
			i++
		}
		text, n := r.placeholder(f, c, rest)
		if n == 0 {
			b.WriteByte('%')
			if mode != 0 {
				b.WriteByte(mode)
			}
			continue
		}
		i += n
		switch {
		case mode == '+' && text != "":
			b.WriteByte('\n')
		case mode == ' ' && text != "":
			b.WriteByte(' ')
		case mode == '-' && text == "":
			s := strings.TrimRight(b.String(), "\n")
			b.Reset()
			b.WriteString(s)
		}
		b.WriteString(text)
	}
	return b.String()
}

// placeholder expands what follows a percent sign, and says how long it is; 0
// when it is none.
func (r *repo) placeholder(f *prettyForm, c *object.Commit, s string) (string, int) {
	switch s[0] {
	case 'H':
		return c.Hash.String(), 1
	case 'h':
		return r.short(c.Hash), 1
	case 'T':
		return c.TreeHash.String(), 1
	case 't':
		return r.short(c.TreeHash), 1
	case 'P', 'p':
		var ps []string
		for _, p := range c.ParentHashes {
			if s[0] == 'P' {
				ps = append(ps, p.String())
			} else {
				ps = append(ps, r.short(p))
			}
		}
		return strings.Join(ps, " "), 1
	case 's':
		return subject(c.Message), 1
	case 'f':
		return fileSubject(subject(c.Message)), 1
	case 'b':
		return bodyOf(c.Message), 1
	case 'B':
		return c.Message, 1
	case 'n':
		return "\n", 1
	case '%':
		return "%", 1
	case 'd':
		return r.decoration(f, c.Hash), 1
	case 'D':
		return strings.Join(f.refs[c.Hash], ", "), 1
	case 'm':
		return ">", 1
	case 'e', 'N':
		return "", 1
	case 'x':
		var v byte
		if len(s) >= 3 {
			if n, err := fmt.Sscanf(s[1:3], "%02x", &v); n == 1 && err == nil {
				return string([]byte{v}), 3
			}
		}
	case 'a', 'c':
		if len(s) > 1 {
			who := &c.Author
			if s[0] == 'c' {
				who = &c.Committer
			}
			if t, ok := r.person(f, who, s[1]); ok {
				return t, 2
			}
		}
	case 'g':
		if len(s) > 1 && strings.IndexByte("dDsSnNeE", s[1]) >= 0 {
			return "", 2
		}
	case 'G':
		if len(s) > 1 && s[1] == '?' {
			return "N", 2
		}
		if len(s) > 1 {
			return "", 2
		}
	case 'C':
		return colorWord(s)
	case 'w', '<', '>':
		if end := strings.IndexByte(s, ')'); strings.HasPrefix(strings.TrimLeft(s, "<>w|"), "(") && end > 0 {
			return "", end + 1
		}
	}
	return "", 0
}

// colorWord skips a color; there is no terminal that would show it.
func colorWord(s string) (string, int) {
	if strings.HasPrefix(s, "C(") {
		if end := strings.IndexByte(s, ')'); end > 0 {
			return "", end + 1
		}
	}
	for _, w := range []string{"Cred", "Cgreen", "Cblue", "Creset"} {
		if strings.HasPrefix(s, w) {
			return "", len(w)
		}
	}
	return "", 0
}

func (r *repo) person(f *prettyForm, who *object.Signature, c byte) (string, bool) {
	switch c {
	case 'n', 'N':
		return who.Name, true
	case 'e', 'E':
		return who.Email, true
	case 'l', 'L':
		local, _, _ := strings.Cut(who.Email, "@")
		return local, true
	case 'd':
		return r.formatDate(who.When, f.date), true
	case 'D':
		return r.formatDate(who.When, "rfc"), true
	case 'r':
		return r.formatDate(who.When, "relative"), true
	case 't':
		return r.formatDate(who.When, "unix"), true
	case 'i':
		return r.formatDate(who.When, "iso"), true
	case 'I':
		return r.formatDate(who.When, "iso-strict"), true
	case 's':
		return r.formatDate(who.When, "short"), true
	case 'h':
		return r.formatDate(who.When, "human"), true
	}
	return "", false
}

// fileSubject is a subject fit for a file name.
func fileSubject(s string) string {
	var b strings.Builder
	space := false
	for i := range len(s) {
		c := s[i]
		if isAlnum(c) || c == '.' || c == '_' {
			if space && b.Len() > 0 {
				b.WriteByte('-')
			}
			space = false
			if c == '.' && strings.HasSuffix(b.String(), ".") {
				continue
			}
			b.WriteByte(c)
			continue
		}
		space = true
	}
	return strings.TrimRight(b.String(), ".-")
}
