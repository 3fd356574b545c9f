package vcs

import (
	"bytes"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/vfsd/vfsd/shell/command"
)

// graph draws the lines of history at the left of git log --graph: a column for
// each commit that is still to come.
type graph struct {
	columns []plumbing.Hash
}

// prefix is what the columns look like beside the further lines of a commit.
func (g *graph) prefix() string { return strings.Repeat("| ", len(g.columns)) }

// printGraph prints a commit with the lines of history at its left.
func (l *logPrinter) printGraph(c *object.Commit, parents []plumbing.Hash, pairs []*filePair) error {
	var out bytes.Buffer
	cc := *l.Context
	cc.Stdout = command.NewWriter(&out)
	gg := *l.git
	gg.Context = &cc
	rr := *l.repo
	rr.git = &gg
	rr.pretty(l.pf, c)
	if l.pf.kind == "format" {
		cc.Stdout.WriteString("\n")
	}
	if len(pairs) > 0 {
		if l.pf.kind != "oneline" {
			cc.Stdout.WriteString("\n")
		}
		if err := rr.show(pairs, l.f); err != nil {
			return err
		}
	}
	if l.pf.kind != "oneline" && l.pf.kind != "format" {
		cc.Stdout.WriteString("\n")
	}
	if err := cc.Stdout.Flush(); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	first, rest := l.graph.commit(c.Hash, parents)
	for i, line := range lines {
		lead := l.graph.prefix()
		switch {
		case i == 0:
			lead = first
		case i-1 < len(rest):
			lead = rest[i-1]
		}
		l.printf("%s\n", lead+line)
	}
	for i := max(0, len(lines)-1); i < len(rest); i++ {
		l.printf("%s\n", rest[i])
	}
	return nil
}

// commit puts a commit into its column and its parents in its place. It returns
// the lead of the commit's line, and those of the lines that join and part.
func (g *graph) commit(h plumbing.Hash, parents []plumbing.Hash) (first string, rest []string) {
	at := -1
	for i, c := range g.columns {
		if c == h {
			at = i
			break
		}
	}
	if at < 0 {
		at = len(g.columns)
		g.columns = append(g.columns, h)
	}
	after := len(g.columns) - at - 1
	first = strings.Repeat("| ", at) + "* " + strings.Repeat("| ", after)
	if len(parents) == 0 {
		g.columns = append(g.columns[:at:at], g.columns[at+1:]...)
		if after > 0 {
			rest = append(rest, strings.Repeat("| ", at)+strings.Repeat(" /", after))
		}
		return first, rest
	}
	next := append([]plumbing.Hash{}, g.columns[:at]...)
	next = append(next, parents[0])
	var added []plumbing.Hash
	for _, p := range parents[1:] {
		if !contains(g.columns, p) {
			added = append(added, p)
		}
	}
	next = append(next, added...)
	next = append(next, g.columns[at+1:]...)
	if len(parents) > 1 {
		first = strings.Repeat("| ", at) + "*   " + strings.Repeat("| ", after)
		rest = append(rest, strings.Repeat("| ", at)+"|"+strings.Repeat(`\ `, max(1, len(added)))+" "+strings.Repeat(`\ `, after))
	}
	g.columns = next
	return first, append(rest, g.join()...)
}

// join merges columns that wait for the same commit, one line each.
func (g *graph) join() []string {
	var rows []string
	for i := 0; i < len(g.columns); i++ {
		for j := i + 1; j < len(g.columns); j++ {
			if g.columns[i] != g.columns[j] {
				continue
			}
			row := strings.Repeat("| ", j-1) + "|/"
			if j-i > 1 {
				row = strings.Repeat("| ", i) + "|" + strings.Repeat("_|", j-i-1) + "/"
			}
			for k := j + 1; k < len(g.columns); k++ {
				row += " /"
			}
			rows = append(rows, row+"  ")
			g.columns = append(g.columns[:j:j], g.columns[j+1:]...)
			j--
		}
	}
	return rows
}

func contains(list []plumbing.Hash, h plumbing.Hash) bool {
	for _, x := range list {
		if x == h {
			return true
		}
	}
	return false
}
