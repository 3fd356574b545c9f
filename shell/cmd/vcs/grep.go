package vcs

import (
	"bytes"
	"sort"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

// grepRun searches files of the work tree, the index or commits.
type grepRun struct {
	*repo
	p             *parsed
	re            *regex.Regexp
	before, after int
	found         bool
	shown         bool // something was printed: groups of context are set apart
}

// all searches everything that was asked for.
func (g *grepRun) all(revs []string, specs pathspecs) error {
	for _, rev := range revs {
		files, err := g.filesOf(rev)
		if err != nil {
			return err
		}
		names := make([]string, 0, len(files))
		for n := range files {
			names = append(names, n)
		}
		sort.Strings(names)
		for _, n := range names {
			if !specs.match(n) || files[n].mode == filemode.Submodule {
				continue
			}
			b, err := g.blob(files[n].hash)
			if err != nil {
				return err
			}
			if done, err := g.file(rev+":"+g.show(n), b); done || err != nil {
				return err
			}
		}
	}
	if len(revs) > 0 {
		return nil
	}
	ix, err := g.readIndex()
	if err != nil {
		return err
	}
	last := ""
	var names []string
	for _, e := range ix.Entries {
		if e.Name != last && e.Mode != filemode.Submodule && specs.match(e.Name) {
			names = append(names, e.Name)
		}
		last = e.Name
	}
	if g.p.has("untracked") {
		s := g.newScan(ix, specs)
		s.all = true
		if err := s.run(); err != nil {
			return err
		}
		names = append(names, s.untracked...)
		sort.Strings(names)
	}
	for _, n := range names {
		b, ok, err := g.read(ix, n)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if done, err := g.file(g.show(n), b); done || err != nil {
			return err
		}
	}
	return nil
}

// read reads a tracked file, from the index with --cached.
func (g *grepRun) read(ix *stageIndex, name string) ([]byte, bool, error) {
	if g.p.has("cached") || g.work == "" {
		e := ix.at(name, 0)
		if e == nil {
			return nil, false, nil
		}
		b, err := g.blob(e.Hash)
		return b, true, err
	}
	a, err := g.lstat(name)
	if absent(err) || err == nil && !a.IsRegular() {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	b, err := g.fileData(name, &a)
	return b, true, err
}

func (g *grepRun) show(name string) string {
	if !g.p.has("full-name") {
		name = g.relative(name)
	}
	return g.quoteName(name)
}

// file searches one file; done says that no other needs to be looked at.
func (g *grepRun) file(name string, b []byte) (done bool, err error) {
	lines := splitLines(b)
	var hits []int
	limit, limited := atoi64(g.p.get("max-count"))
	for i, l := range lines {
		ok, err := g.re.Match(g.ctx, trimLine(l))
		if err != nil {
			return false, err
		}
		if ok != g.p.has("invert-match") {
			if hits = append(hits, i); limited && int64(len(hits)) >= limit {
				break
			}
		}
	}
	without := g.p.has("files-without-match")
	if len(hits) > 0 != without {
		g.found = true
	}
	switch {
	case g.p.has("quiet"):
		return g.found, nil
	case without:
		if len(hits) == 0 {
			g.printf("%s%s", name, g.end())
		}
	case len(hits) == 0:
	case g.p.has("files-with-matches") || g.p.has("name-only"):
		g.printf("%s%s", name, g.end())
	case g.p.has("count"):
		g.line(name, ":", -1, []byte(itoa(int64(len(hits)))))
	case isBinary(b) && !g.p.has("text"):
		if !g.p.has("I") {
			g.printf("Binary file %s matches\n", name)
		}
	default:
		return false, g.matches(name, lines, hits)
	}
	return false, nil
}

func (g *grepRun) end() string {
	if g.p.has("null") {
		return "\x00"
	}
	return "\n"
}

// matches prints lines with their context.
func (g *grepRun) matches(name string, lines [][]byte, hits []int) error {
	if g.p.has("heading") {
		if g.p.has("break") && g.shown {
			g.printf("\n")
		}
		g.printf("%s\n", name)
	}
	last := -1
	for k, h := range hits {
		from := max(h-g.before, last+1)
		if g.before+g.after > 0 && g.shown && (last < 0 || from > last+1) {
			g.printf("--\n")
		}
		for i := from; i < h; i++ {
			g.line(name, "-", i, trimLine(lines[i]))
		}
		if err := g.hit(name, h, trimLine(lines[h])); err != nil {
			return err
		}
		g.shown = true
		last = h
		to := min(h+g.after, len(lines)-1)
		if k+1 < len(hits) {
			to = min(to, hits[k+1]-1)
		}
		for i := h + 1; i <= to; i++ {
			g.line(name, "-", i, trimLine(lines[i]))
			last = i
		}
	}
	return nil
}

// hit prints a matching line, or with -o each match in it.
func (g *grepRun) hit(name string, i int, l []byte) error {
	if !g.p.has("only-matching") || g.p.has("invert-match") {
		g.line(name, ":", i, l)
		return nil
	}
	for at := 0; at <= len(l); {
		start, end, err := g.re.Find(g.ctx, l, at)
		if err != nil {
			return err
		}
		if start < 0 {
			return nil
		}
		if end > start {
			g.line(name, ":", i, l[start:end])
		}
		at = max(end, start+1)
	}
	return nil
}

func (g *grepRun) line(name, sep string, i int, text []byte) {
	if !g.p.has("h") && !g.p.has("heading") {
		g.printf("%s%s", name, sep)
	}
	if g.p.has("line-number") && i >= 0 {
		g.printf("%d%s", i+1, sep)
	}
	g.Stdout.Write(bytes.TrimSuffix(text, []byte("\n")))
	g.Stdout.WriteByte('\n')
}
