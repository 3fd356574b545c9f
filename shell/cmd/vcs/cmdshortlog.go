package vcs

import (
	"sort"
)

// cmdShortlog is git shortlog.
func (g *git) cmdShortlog(args []string) error {
	p, err := g.parse(args, "s,summary n,numbered e,email c,committer "+logTable)
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
	h, err := r.history(p, revs, paths)
	if err != nil {
		return err
	}
	by := map[string][]string{}
	for {
		c, err := h.next()
		if err != nil {
			return err
		}
		if c == nil {
			break
		}
		who := &c.Author
		if p.has("committer") {
			who = &c.Committer
		}
		name := who.Name
		if p.has("email") {
			name += " <" + who.Email + ">"
		}
		by[name] = append(by[name], subject(c.Message))
	}
	names := make([]string, 0, len(by))
	for n := range by {
		names = append(names, n)
	}
	sort.Strings(names)
	if p.has("numbered") {
		sort.SliceStable(names, func(i, j int) bool { return len(by[names[i]]) > len(by[names[j]]) })
	}
	for _, n := range names {
		if p.has("summary") {
			g.printf("%6d\t%s\n", len(by[n]), n)
			continue
		}
		g.printf("%s (%d):\n", n, len(by[n]))
		for i := len(by[n]) - 1; i >= 0; i-- {
			g.printf("      %s\n", by[n][i])
		}
		g.printf("\n")
	}
	return nil
}
