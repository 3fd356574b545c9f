package vcs

import (
	"bytes"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// logTable are the options of log and its kin.
const logTable = diffTable + ` n,max-count= skip= oneline pretty? format= abbrev-commit date= relative-date decorate? all branches? tags? remotes?
 author= committer= grep= i,regexp-ignore-case E,extended-regexp F,fixed-strings P,perl-regexp invert-grep all-match since= after= until= before=
 merges no-merges first-parent reverse topo-order date-order author-date-order graph follow parents children left-right cherry-pick count
 not m c cc source boundary simplify-by-decoration full-history sparse show-signature notes? no-notes g,walk-reflogs root min-parents= max-parents= L= no-decorate `

// cmdLog is git log.
func (g *git) cmdLog(args []string) error {
	p, err := g.parse(args, logTable)
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	return r.log(p)
}

func (r *repo) log(p *parsed) error {
	f, err := r.diffOptions(p)
	if err != nil {
		return err
	}
	pf, err := r.prettyOptions(p)
	if err != nil {
		return err
	}
	revs, paths, err := r.splitArgs(p)
	if err != nil {
		return err
	}
	h, err := r.history(p, revs, paths)
	if err != nil {
		return err
	}
	lp := &logPrinter{repo: r, pf: pf, f: f, specs: h.w.specs, all: p.has("m") || p.has("first-parent")}
	if p.has("graph") {
		lp.graph = &graph{}
	}
	if p.has("reverse") {
		var list []*object.Commit
		for {
			c, err := h.next()
			if err != nil {
				return err
			}
			if c == nil {
				break
			}
			list = append(list, c)
		}
		for i := len(list) - 1; i >= 0; i-- {
			if err := lp.print(list[i], nil); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		c, err := h.next()
		if c == nil || err != nil {
			return err
		}
		if err := lp.print(c, h.w.parents[c.Hash]); err != nil {
			return err
		}
		if r.Stdout.Err() != nil {
			return nil
		}
	}
}

// logPrinter prints commits one after another.
type logPrinter struct {
	*repo
	pf      *prettyForm
	f       *diffForm
	specs   pathspecs
	all     bool // merges show their difference from the first parent
	printed int
	graph   *graph
}

// print prints one commit, with its difference if that was asked for.
func (l *logPrinter) print(c *object.Commit, parents []plumbing.Hash) error {
	var pairs []*filePair
	if l.f.chosen() && !l.f.none || l.f.pickaxe != "" || l.f.filter != "" {
		var err error
		if pairs, err = l.commitDiff(c, l.f, l.specs, l.all); err != nil {
			return err
		}
		if len(pairs) == 0 && (l.f.pickaxe != "" || l.f.filter != "") {
			return nil
		}
	}
	if l.graph != nil {
		return l.printGraph(c, parents, pairs)
	}
	separated := l.pf.kind != "oneline" && !(l.pf.kind == "format" && l.pf.newlines)
	if l.printed > 0 && separated {
		l.printf("\n")
	}
	l.printed++
	l.pretty(l.pf, c)
	if l.pf.kind == "format" && (l.pf.newlines || len(pairs) > 0) {
		l.printf("\n")
	}
	if len(pairs) == 0 || !l.f.chosen() {
		return nil
	}
	if l.pf.kind != "oneline" {
		if (l.f.stat || l.f.numstat || l.f.shortstat) && l.f.patch && l.pf.kind != "format" {
			l.printf("---\n")
		} else {
			l.printf("\n")
		}
	}
	return l.repo.show(pairs, l.f)
}

// trimLine cuts a line's end.
func trimLine(l []byte) []byte { return bytes.TrimSuffix(l, []byte("\n")) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
