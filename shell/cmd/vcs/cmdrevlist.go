package vcs

import (
	"github.com/go-git/go-git/v5/plumbing/object"
)

// cmdRevList is git rev-list.
func (g *git) cmdRevList(args []string) error {
	p, err := g.parse(args, logTable+" objects no-walk? header timestamp")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	revs, paths, err := r.splitArgs(p)
	if err != nil {
		return err
	}
	if len(revs) == 0 && !p.has("all") && !p.has("branches") && !p.has("tags") && !p.has("remotes") {
		return g.usage("")
	}
	h, err := r.history(p, revs, paths)
	if err != nil {
		return err
	}
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
	if p.has("count") {
		g.printf("%d\n", len(list))
		return nil
	}
	if p.has("reverse") {
		for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
			list[i], list[j] = list[j], list[i]
		}
	}
	pf, err := r.prettyOptions(p)
	if err != nil {
		return err
	}
	for _, c := range list {
		switch {
		case pf.kind == "format":
			g.printf("commit %s\n%s\n", c.Hash, r.expand(pf, c, pf.format))
		case p.has("oneline"):
			r.pretty(pf, c)
		case p.has("parents"):
			line := c.Hash.String()
			for _, ph := range h.w.parents[c.Hash] {
				line += " " + ph.String()
			}
			g.printf("%s\n", line)
		case pf.abbrev:
			g.printf("%s\n", r.short(c.Hash))
		default:
			g.printf("%s\n", c.Hash)
		}
	}
	return nil
}
