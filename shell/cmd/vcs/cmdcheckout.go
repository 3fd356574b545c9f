package vcs

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// cmdCheckout is git checkout.
func (g *git) cmdCheckout(args []string) error {
	p, err := g.parse(args, "b= B= q,quiet f,force t,track? no-track detach d orphan= ours theirs m,merge p,patch l guess no-guess progress no-progress overlay no-overlay")
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	c := &checkout{repo: r, p: p, force: p.has("force"), quiet: p.has("quiet"), detach: p.has("detach") || p.has("d")}
	ops := p.operands
	for _, name := range []string{"b", "B", "orphan"} {
		if p.given(name) {
			c.create, c.reset, c.orphan = p.get(name), name == "B", name == "orphan"
			return c.start(ops)
		}
	}
	if p.has("track") {
		if len(ops) == 0 {
			return fatal("--track needs a branch name")
		}
		_, c.create, _ = strings.Cut(strings.TrimPrefix(ops[0], "refs/remotes/"), "/")
		return c.start(ops)
	}
	switch {
	case p.before == 0 && len(ops) > 0:
		return r.restorePaths("", ops, p)
	case p.before == 1 && len(ops) > 1:
		return r.restorePaths(ops[0], ops[1:], p)
	case len(ops) == 0:
		return c.to("HEAD")
	case len(ops) > 1:
		if _, ok := r.resolve(ops[0]); ok {
			return r.restorePaths(ops[0], ops[1:], p)
		}
		return r.restorePaths("", ops, p)
	}
	if _, ok := r.resolve(dashBranch(ops[0])); ok {
		return c.to(ops[0])
	}
	if branch := c.guess(ops[0]); branch != "" && p.before < 0 {
		c.create = ops[0]
		return c.start([]string{branch})
	}
	return r.restorePaths("", ops, p)
}

func dashBranch(s string) string {
	if s == "-" {
		return "@{-1}"
	}
	return s
}

// checkout switches to a branch or a commit.
type checkout struct {
	*repo
	p            *parsed
	create       string // a new branch
	reset        bool   // ... that may exist
	orphan       bool
	force, quiet bool
	detach       bool
	isSwitch     bool
}

// guess finds the one remote that has a branch of that name.
func (c *checkout) guess(name string) string {
	found := ""
	for _, remote := range c.remotes() {
		if _, ok := c.ref("refs/remotes/" + remote + "/" + name); ok {
			if found != "" {
				return ""
			}
			found = remote + "/" + name
		}
	}
	return found
}

func (c *checkout) say(text string) {
	if !c.quiet {
		c.complain(text)
	}
}

// start makes a branch and switches to it.
func (c *checkout) start(ops []string) error {
	start := "HEAD"
	if len(ops) > 0 {
		start = dashBranch(ops[0])
	}
	full := "refs/heads/" + c.create
	if !validRef(full) || strings.HasPrefix(c.create, "-") {
		return fatalf("'%s' is not a valid branch name", c.create)
	}
	_, exists := c.ref(full)
	if exists && !c.reset {
		return fatalf("a branch named '%s' already exists", c.create)
	}
	old, _, born := c.head()
	if !born && start == "HEAD" || c.orphan {
		if err := c.attach(full, plumbing.ZeroHash, ""); err != nil {
			return err
		}
		c.say("Switched to a new branch '" + c.create + "'")
		return nil
	}
	h, ok := c.resolve(start)
	if !ok {
		if _, err := c.FS.Lstat(c.workPath(start)); err == nil || strings.Contains(start, "/") || true {
			return fatalf("'%s' is not a commit and a branch '%s' cannot be created from it", start, c.create)
		}
	}
	target, err := c.peelCommit(h)
	if err != nil {
		return err
	}
	if err := c.move(target.Hash); err != nil {
		return err
	}
	if full != old || !exists {
		if _, _, err := c.newBranch(c.create, start, c.reset); err != nil {
			return err
		}
	} else if err := c.setRef(full, target.Hash, "branch: Reset to "+start); err != nil {
		return err
	}
	if err := c.attach(full, target.Hash, "checkout: moving from "+c.whence(old)+" to "+c.create); err != nil {
		return err
	}
	switch {
	case full == old:
		c.say("Reset branch '" + c.create + "'")
	case exists:
		c.say("Switched to and reset branch '" + c.create + "'")
	default:
		c.say("Switched to a new branch '" + c.create + "'")
	}
	if c.p.has("no-track") {
		return nil
	}
	return c.track(c.create, start, c.p.has("track"))
}

// whence names what HEAD was for the reflog.
func (r *repo) whence(branch string) string {
	if branch != "" {
		return branchName(branch)
	}
	_, h, _ := r.head()
	return h.String()
}

// move takes the work tree to a commit.
func (c *checkout) move(to plumbing.Hash) error {
	ix, err := c.readIndex()
	if err != nil {
		return err
	}
	if ix.unmerged() && !c.force {
		for _, e := range ix.Entries {
			if e.Stage == 2 || e.Stage == 3 && ix.at(e.Name, 2) == nil {
				c.printf("%s: needs merge\n", e.Name)
			}
		}
		return failf("you need to resolve your current index first")
	}
	from, err := c.headFiles()
	if err != nil {
		return err
	}
	target, err := c.commit(to)
	if err != nil {
		return err
	}
	files, err := c.flatten(target.TreeHash)
	if err != nil {
		return err
	}
	if err := c.switchTree(ix, from, files, c.force, "checkout"); err != nil {
		return err
	}
	return c.writeIndex(ix)
}

// to switches to an existing branch or commit.
func (c *checkout) to(rev string) error {
	rev = dashBranch(rev)
	if name, ok := strings.CutPrefix(rev, "@{-"); ok {
		n, _ := atoi64(strings.TrimSuffix(name, "}"))
		if b, ok := c.previousBranch(int(n)); ok {
			rev = b
		}
	}
	full := "refs/heads/" + rev
	h, isBranch := c.ref(full)
	if !isBranch || c.detach || !validRef(full) {
		full, isBranch = "", false
		k, err := c.commitish(rev)
		if err != nil {
			return err
		}
		h = k.Hash
	}
	old, at, born := c.head()
	if rev == "HEAD" && !c.detach {
		full, isBranch = old, old != ""
		if !born {
			return fatal("You are on a branch yet to be born")
		}
	}
	if err := c.move(h); err != nil {
		return err
	}
	if rev == "HEAD" && !c.detach {
		return c.showLocal(full)
	}
	if full == old && isBranch {
		if err := c.showLocal(""); err != nil {
			return err
		}
		c.say("Already on '" + rev + "'")
		c.printTracking(full)
		return nil
	}
	if old == "" && born && at != h {
		c.leave(at, h)
	}
	to := rev
	if to == "HEAD" || to == "@" {
		to = h.String()
	}
	if err := c.attach(full, h, "checkout: moving from "+c.whence(old)+" to "+to); err != nil {
		return err
	}
	if err := c.showLocal(""); err != nil {
		return err
	}
	if isBranch {
		c.say("Switched to branch '" + rev + "'")
		c.printTracking(full)
		return nil
	}
	k, err := c.commit(h)
	if err != nil {
		return err
	}
	if old != "" && !c.detach && !c.isSwitch && !c.quiet {
		c.say("Note: switching to '" + rev + "'.\n\n" + detachedAdvice)
	}
	c.say("HEAD is now at " + c.short(h) + " " + subject(k.Message))
	return nil
}

// detachedAdvice is what git checkout says of a detached HEAD.
const detachedAdvice = `You are in 'detached HEAD' state. You can look around, make experimental
changes and commit them, and you can discard any commits you make in this
state without impacting any branches by switching back to a branch.

If you want to create a new branch to retain commits you create, you may
do so (now or later) by using -c with the switch command. Example:

  git switch -c <new-branch-name>

Or undo this operation with:

  git switch -

Turn off this advice by setting config variable advice.detachedHead to false
`

// leave tells which commit a detached HEAD was at.
func (c *checkout) leave(at, to plumbing.Hash) {
	k, err := c.commit(at)
	if err != nil {
		return
	}
	c.say("Previous HEAD position was " + c.short(at) + " " + subject(k.Message))
}

// showLocal lists the local changes that a switch carries along.
func (c *checkout) showLocal(branch string) error {
	if c.quiet {
		return nil
	}
	ix, err := c.readIndex()
	if err != nil {
		return err
	}
	head, err := c.headFiles()
	if err != nil {
		return err
	}
	pairs, err := c.workPairs(ix, head, nil)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		c.printf("%c\t%s\n", p.status, p.name())
	}
	if branch != "" {
		c.printTracking(branch)
	}
	return nil
}

func (c *checkout) printTracking(branch string) {
	if !c.quiet {
		c.printf("%s", c.trackingText(branch))
	}
}
