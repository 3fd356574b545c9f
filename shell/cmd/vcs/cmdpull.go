package vcs

import (
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// cmdPull is git pull.
func (g *git) cmdPull(args []string) error {
	p, err := g.parse(args, fetchTable+`ff ff-only rebase? r no-rebase commit no-commit e,edit no-edit s,strategy= X,strategy-option= squash no-squash stat no-stat
 allow-unrelated-histories autostash no-autostash m= signoff`)
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	if p.has("rebase") && p.get("rebase") != "false" || p.has("r") {
		return fatal("pull --rebase is not supported; use --no-rebase or --ff-only")
	}
	name, specs := r.defaultRemote(), p.operands
	if len(specs) > 0 {
		name, specs = specs[0], specs[1:]
	}
	if url, _ := r.remoteURL(name, false); url == "" && len(p.operands) == 0 {
		return r.noTracking("<remote>")
	}
	list, err := r.fetch(name, specs, p)
	if err != nil {
		return err
	}
	var from *fetched
	for i := range list {
		if list[i].merge {
			from = &list[i]
		}
	}
	if from == nil {
		return r.noTracking(name)
	}
	c, err := r.peelCommit(from.hash)
	if err != nil {
		return err
	}
	if err := r.divergent(c, p); err != nil {
		return err
	}
	url, _ := r.remoteURL(name, false)
	m := &mergeRun{repo: r, p: p, their: c, name: c.Hash.String(), message: p.get("m")}
	m.whole = "Merge branch '" + branchName(from.name) + "' of " + url
	if b, _, _ := r.head(); branchName(b) != "master" && branchName(b) != "main" {
		m.whole += " into " + branchName(b)
	}
	return m.run()
}

// noTracking says that pull does not know what to merge.
func (r *repo) noTracking(remote string) error {
	branch, _, _ := r.head()
	r.complain("There is no tracking information for the current branch.\nPlease specify which branch you want to merge with.\n" +
		"See git-pull(1) for details.\n\n    git pull <remote> <branch>\n\nIf you wish to set tracking information for this branch you can do so with:\n\n" +
		"    git branch --set-upstream-to=" + remote + "/<branch> " + branchName(branch) + "\n")
	return status(1)
}

// divergent asks how to reconcile, when the branches diverged and nothing says.
func (r *repo) divergent(c *object.Commit, p *parsed) error {
	_, head, born := r.head()
	if !born || p.given("rebase") || p.has("no-rebase") || p.given("ff") || p.has("ff-only") || r.cfg.get("pull.rebase") != "" || r.cfg.get("pull.ff") != "" {
		return nil
	}
	for _, pair := range [][2]plumbing.Hash{{head, c.Hash}, {c.Hash, head}} {
		in, err := r.isAncestor(pair[0], pair[1])
		if in || err != nil {
			return err
		}
	}
	r.complain(`hint: You have divergent branches and need to specify how to reconcile them.
hint: You can do so by running one of the following commands sometime before
hint: your next pull:
hint:
hint:   git config pull.rebase false  # merge
hint:   git config pull.rebase true   # rebase
hint:   git config pull.ff only       # fast-forward only
hint:
hint: You can replace "git config" with "git config --global" to set a default
hint: preference for all repositories. You can also pass --rebase, --no-rebase,
hint: or --ff-only on the command line to override the configured default per
hint: invocation.`)
	return fatal("Need to specify how to reconcile divergent branches.")
}
