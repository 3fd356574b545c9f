package vcs

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// cmdCherryPick is git cherry-pick.
func (g *git) cmdCherryPick(args []string) error { return g.replay(args, "cherry-pick") }

// cmdRevert is git revert.
func (g *git) cmdRevert(args []string) error { return g.replay(args, "revert") }

// replay applies the change of commits, or its reverse.
func (g *git) replay(args []string, how string) error {
	p, err := g.parse(args, "n,no-commit e,edit no-edit x m,mainline= s,signoff abort continue skip quit allow-empty ff X,strategy-option= S,gpg-sign? keep-redundant-commits")
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	mark := map[string]string{"cherry-pick": "CHERRY_PICK_HEAD", "revert": "REVERT_HEAD"}[how]
	switch {
	case p.has("abort") || p.has("skip"):
		if !r.exists(mark) {
			return failf("no cherry-pick or revert in progress")
		}
		return r.resetTo("HEAD", "merge", true)
	case p.has("continue"):
		if !r.exists(mark) {
			return failf("no cherry-pick or revert in progress")
		}
		return g.cmdCommit([]string{"--no-edit"})
	case len(p.operands) == 0:
		return g.usage("")
	}
	from, not, err := r.revisionsOnce(p.operands)
	if err != nil {
		return err
	}
	if len(not) > 0 {
		if from, err = r.oldestFirst(from, not); err != nil {
			return err
		}
	}
	for _, h := range from {
		if err := r.replayOne(h, p, how, mark); err != nil {
			return err
		}
	}
	return nil
}

// revisionsOnce resolves revisions in the order given.
func (r *repo) revisionsOnce(revs []string) (from, not []plumbing.Hash, err error) {
	for _, rev := range revs {
		if strings.Contains(rev, "..") || strings.HasPrefix(rev, "^") {
			f, n, err := r.revisions(&parsed{}, []string{rev})
			if err != nil {
				return nil, nil, err
			}
			from, not = append(from, f...), append(not, n...)
			continue
		}
		if _, ok := r.resolve(dashBranch(rev)); !ok {
			return nil, nil, fatalf("bad revision '%s'", rev)
		}
		c, err := r.commitish(rev)
		if err != nil {
			return nil, nil, err
		}
		from = append(from, c.Hash)
	}
	return from, not, nil
}

func (r *repo) oldestFirst(from, not []plumbing.Hash) ([]plumbing.Hash, error) {
	w := r.newWalk(from, not)
	var list []plumbing.Hash
	for {
		c, err := w.next()
		if err != nil {
			return nil, err
		}
		if c == nil {
			break
		}
		list = append([]plumbing.Hash{c.Hash}, list...)
	}
	return list, nil
}

func (r *repo) replayOne(h plumbing.Hash, p *parsed, how, mark string) error {
	c, err := r.commit(h)
	if err != nil {
		return err
	}
	parent, err := r.mainline(c, p)
	if err != nil {
		return err
	}
	before, err := r.flatten(parent)
	if err != nil {
		return err
	}
	after, err := r.flatten(c.TreeHash)
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	ours, err := r.headFiles()
	if err != nil {
		return err
	}
	if len(r.indexPairs(ours, ix, nil)) > 0 && !p.has("no-commit") {
		r.complain("error: your local changes would be overwritten by " + how + ".\nhint: commit your changes or stash them to proceed.")
		return fatal(how + " failed")
	}
	label := r.short(h) + " (" + subject(c.Message) + ")"
	text := c.Message
	t := &treeMerge{repo: r, base: before, ours: ours, theirs: after, labels: [2]string{"HEAD", label}, favor: p.get("strategy-option")}
	if how == "revert" {
		t.base, t.theirs, t.labels[1] = after, before, "parent of "+label
		text = "Revert \"" + subject(c.Message) + "\"\n\nThis reverts commit " + h.String() + ".\n"
	} else if p.has("x") {
		text = strings.TrimRight(text, "\n") + "\n\n(cherry picked from commit " + h.String() + ")\n"
	}
	if err := t.run(); err != nil {
		return err
	}
	if err := t.apply(ix, ours); err != nil {
		return err
	}
	for _, line := range t.messages {
		r.printf("%s\n", line)
	}
	if err := r.Stdout.Flush(); err != nil {
		return err
	}
	return r.endReplay(t, c, p, how, mark, text)
}

// endReplay commits, or says what is left to do.
func (r *repo) endReplay(t *treeMerge, c *object.Commit, p *parsed, how, mark, text string) error {
	if p.has("no-commit") && len(t.conflicts) == 0 {
		return nil
	}
	if err := r.writeGitFile("MERGE_MSG", conflictMessage(text, t.conflicts)); err != nil {
		return err
	}
	if len(t.conflicts) > 0 {
		if err := r.writeGitFile(mark, c.Hash.String()+"\n"); err != nil {
			return err
		}
		word := "apply"
		if how == "revert" {
			word = "revert"
		}
		r.complain("error: could not " + word + " " + r.short(c.Hash) + "... " + subject(c.Message) +
			"\nhint: After resolving the conflicts, mark them with\nhint: \"git add/rm <pathspec>\", then run\nhint: \"git " + how + " --continue\"." +
			"\nhint: You can instead skip this commit with \"git " + how + " --skip\".\nhint: To abort and get back to the state before \"git " + how + "\",\n" +
			"hint: run \"git " + how + " --abort\".")
		return status(1)
	}
	args := []string{"--no-edit"}
	if how == "cherry-pick" {
		if err := r.writeGitFile(mark, c.Hash.String()+"\n"); err != nil {
			return err
		}
		args = append(args, "-m", text)
	}
	if p.has("allow-empty") {
		args = append(args, "--allow-empty")
	}
	return r.git.cmdCommit(args)
}

// mainline is the tree that a commit's change starts from.
func (r *repo) mainline(c *object.Commit, p *parsed) (plumbing.Hash, error) {
	n := 1
	if len(c.ParentHashes) > 1 {
		v, ok := atoi64(p.get("mainline"))
		if !ok || v < 1 || int(v) > len(c.ParentHashes) {
			return plumbing.ZeroHash, failf("commit %s is a merge but no -m option was given.", c.Hash)
		}
		n = int(v)
	}
	if len(c.ParentHashes) == 0 {
		return plumbing.ZeroHash, nil
	}
	pc, err := r.commit(c.ParentHashes[n-1])
	if err != nil {
		return plumbing.ZeroHash, err
	}
	return pc.TreeHash, nil
}
