package vcs

import (
	"fmt"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// cmdDescribe is git describe.
func (g *git) cmdDescribe(args []string) error {
	p, err := g.parse(args, "tags all long abbrev= always dirty? exact-match match= first-parent contains candidates= broken? exclude=")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	rev := "HEAD"
	if len(p.operands) > 0 {
		rev = p.operands[0]
	}
	h, ok := r.resolve(rev)
	if !ok {
		return fatalf("Not a valid object name %s", rev)
	}
	c, err := r.peelCommit(h)
	if err != nil {
		return err
	}
	text, err := r.describe(c, p)
	if err != nil {
		return err
	}
	if o, ok := p.last("dirty"); ok {
		rp, err := r.report(nil, "no", false, false)
		if err != nil {
			return err
		}
		if len(rp.changes) > 0 {
			if o.arg == "" {
				o.arg = "-dirty"
			}
			text += o.arg
		}
	}
	g.printf("%s\n", text)
	return nil
}

func (r *repo) describe(c *object.Commit, p *parsed) (string, error) {
	names := map[plumbing.Hash]string{}
	annotated := map[plumbing.Hash]bool{}
	for _, ref := range r.allRefs("refs/tags/") {
		t, _, err := r.peel(ref.hash)
		heavy := ref.hash != t
		if err != nil || !heavy && !p.has("tags") && !p.has("all") || annotated[t] && !heavy {
			continue
		}
		name := strings.TrimPrefix(ref.name, "refs/tags/")
		if m := p.get("match"); m != "" {
			if s := (pathspec{pattern: m, glob: true}); !s.match(name) {
				continue
			}
		}
		names[t], annotated[t] = name, heavy
	}
	w := r.newWalk([]plumbing.Hash{c.Hash}, nil)
	for {
		k, err := w.next()
		if err != nil {
			return "", err
		}
		if k == nil {
			break
		}
		name := names[k.Hash]
		if name == "" {
			if p.has("exact-match") {
				return "", fatalf("no tag exactly matches '%s'", c.Hash)
			}
			continue
		}
		if k.Hash == c.Hash && !p.has("long") || p.get("abbrev") == "0" {
			return name, nil
		}
		depth := 0
		for d := r.newWalk([]plumbing.Hash{c.Hash}, []plumbing.Hash{k.Hash}); ; depth++ {
			n, err := d.next()
			if err != nil {
				return "", err
			}
			if n == nil {
				break
			}
		}
		return fmt.Sprintf("%s-%d-g%s", name, depth, r.short(c.Hash)), nil
	}
	if p.has("always") {
		return r.short(c.Hash), nil
	}
	return "", fatal("No names found, cannot describe anything.")
}
