package vcs

import (
	"strings"
)

// cmdSwitch is git switch.
func (g *git) cmdSwitch(args []string) error {
	p, err := g.parse(args, "c,create= C,force-create= d,detach f,force discard-changes q,quiet t,track? no-track orphan= m,merge guess no-guess progress no-progress")
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	c := &checkout{repo: r, p: p, force: p.has("force") || p.has("discard-changes"), quiet: p.has("quiet"), detach: p.has("detach"), isSwitch: true}
	for _, name := range []string{"create", "force-create", "orphan"} {
		if p.given(name) {
			c.create, c.reset, c.orphan = p.get(name), name == "force-create", name == "orphan"
			return c.start(p.operands)
		}
	}
	if len(p.operands) == 0 {
		return fatal("missing branch or commit argument")
	}
	if len(p.operands) > 1 {
		return fatal("only one reference expected")
	}
	rev := p.operands[0]
	if c.detach || rev == "-" {
		return c.to(rev)
	}
	if _, ok := r.ref("refs/heads/" + rev); ok {
		return c.to(rev)
	}
	if branch := c.guess(rev); branch != "" {
		c.create = rev
		return c.start([]string{branch})
	}
	if full, _, ok := r.fullRef(rev); ok {
		word := "a commit"
		switch {
		case strings.HasPrefix(full, "refs/tags/"):
			word = "a tag"
		case strings.HasPrefix(full, "refs/remotes/"):
			word = "a remote branch"
		}
		return fatalf("a branch is expected, got %s '%s'%s", strings.TrimPrefix(word, "a "), rev, detachHint)
	}
	if _, ok := r.resolve(rev); ok {
		return fatalf("a branch is expected, got commit '%s'%s", rev, detachHint)
	}
	return fatalf("invalid reference: %s", rev)
}

const detachHint = "\nhint: If you want to detach HEAD at the commit, try again with the --detach option."
