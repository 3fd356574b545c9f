package vcs

import (
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

func atoi64(s string) (int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	return n, err == nil
}

// cmdCommit is git commit.
func (g *git) cmdCommit(args []string) error {
	p, err := g.parse(args, `m,message= a,all F,file= amend author= date= allow-empty allow-empty-message q,quiet no-edit e,edit
 C,reuse-message= c,reedit-message= n,no-verify s,signoff i,include o,only v,verbose reset-author dry-run cleanup= fixup= squash= S,gpg-sign? no-gpg-sign
 u,untracked-files? status no-post-rewrite short porcelain z t,template= trailer= p,patch long branch`)
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	if p.has("patch") {
		return fatal("--patch needs a terminal")
	}
	c := &committer{repo: r, p: p}
	return c.run()
}

// committer makes one commit.
type committer struct {
	*repo
	p       *parsed
	ix      *stageIndex
	old     *object.Commit // the commit that is amended
	parents []plumbing.Hash
	branch  string
	born    bool
	message string
	author  object.Signature
	dated   bool // the author's date was chosen
}

func (c *committer) run() error {
	var err error
	if c.ix, err = c.readIndex(); err != nil {
		return err
	}
	if err := c.gather(); err != nil {
		return err
	}
	if c.ix.unmerged() {
		c.complain("error: Committing is not possible because you have unmerged files.\nhint: Fix them up in the work tree, and then use 'git add/rm <file>'\n" +
			"hint: as appropriate to mark resolution and make a commit.")
		for _, e := range c.ix.Entries {
			if e.Stage == 2 || e.Stage == 3 && c.ix.at(e.Name, 2) == nil {
				c.printf("U\t%s\n", e.Name)
			}
		}
		return fatal("Exiting because of an unresolved conflict.")
	}
	var head plumbing.Hash
	c.branch, head, c.born = c.head()
	if err := c.setParents(head); err != nil {
		return err
	}
	if err := c.setAuthor(); err != nil {
		return err
	}
	who, err := c.signature("COMMITTER")
	if err != nil {
		return err
	}
	part, err := c.partialIndex()
	if err != nil {
		return err
	}
	tree, err := c.writeTree(part)
	if err != nil {
		return err
	}
	if done, err := c.unchanged(tree); done || err != nil {
		return err
	}
	if err := c.setMessage(); err != nil {
		return err
	}
	if c.p.has("dry-run") {
		return nil
	}
	h, err := c.encode(&object.Commit{Author: c.author, Committer: who, Message: c.message, TreeHash: tree, ParentHashes: c.parents})
	if err != nil {
		return err
	}
	if err := c.writeIndex(c.ix); err != nil {
		return err
	}
	if err := c.setRef("HEAD", h, c.logWord()+": "+subject(c.message)); err != nil {
		return err
	}
	for _, name := range []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG"} {
		if err := c.removeGitFile(name); err != nil {
			return err
		}
	}
	if c.p.has("quiet") {
		return nil
	}
	return c.summary(h, who)
}

// logWord is what the reflog calls the commit.
func (c *committer) logWord() string {
	switch {
	case c.old != nil:
		return "commit (amend)"
	case !c.born:
		return "commit (initial)"
	case len(c.parents) > 1:
		return "commit (merge)"
	case c.exists("CHERRY_PICK_HEAD"):
		return "commit (cherry-pick)"
	}
	return "commit"
}

// gather stages what -a or paths ask for.
func (c *committer) gather() error {
	if c.p.has("all") && len(c.p.operands) > 0 {
		return fatalf("paths '%s ...' with -a does not make sense", c.p.operands[0])
	}
	if !c.p.has("all") && len(c.p.operands) == 0 {
		return nil
	}
	specs, err := c.pathspecs(c.p.operands)
	if err != nil {
		return err
	}
	for _, s := range specs {
		known := false
		for _, e := range c.ix.Entries {
			known = known || s.match(e.Name)
		}
		if !known {
			return failf("pathspec '%s' did not match any file(s) known to git", s.given)
		}
	}
	if len(c.p.operands) == 0 || c.p.has("include") {
		return (&adder{repo: c.repo, ix: c.ix, p: &parsed{}, specs: specs}).tracked()
	}
	// Paths alone are committed as they are in the work tree, whatever else is
	// staged; see partialIndex.
	if c.exists("MERGE_HEAD") {
		return fatal("cannot do a partial commit during a merge.")
	}
	return (&adder{repo: c.repo, ix: c.ix, p: &parsed{}, specs: specs}).tracked()
}

// partialIndex is what is committed: the index, or HEAD with only the given
// paths from the index.
func (c *committer) partialIndex() (*stageIndex, error) {
	if len(c.p.operands) == 0 || c.p.has("include") {
		return c.ix, nil
	}
	specs, err := c.pathspecs(c.p.operands)
	if err != nil {
		return nil, err
	}
	head, err := c.headFiles()
	if err != nil {
		return nil, err
	}
	out := newIndex()
	for name, f := range head {
		if !specs.match(name) {
			out.put(entryOf(name, f))
		}
	}
	for _, e := range c.ix.Entries {
		if specs.match(e.Name) {
			out.put(e)
		}
	}
	return out, nil
}

// setParents finds the parents: HEAD and what is merged, or those of the
// amended commit.
func (c *committer) setParents(head plumbing.Hash) error {
	if c.p.has("amend") {
		if !c.born {
			return fatal("You have nothing to amend.")
		}
		if c.exists("MERGE_HEAD") {
			return fatal("You are in the middle of a merge -- cannot amend.")
		}
		old, err := c.commit(head)
		if err != nil {
			return err
		}
		c.old, c.parents = old, old.ParentHashes
		return nil
	}
	if c.born {
		c.parents = append(c.parents, head)
	}
	for _, line := range strings.Fields(c.readGitFile("MERGE_HEAD")) {
		if plumbing.IsHash(line) {
			c.parents = append(c.parents, plumbing.NewHash(line))
		}
	}
	return nil
}

// reused is the commit whose message and author are taken over.
func (c *committer) reused() (*object.Commit, error) {
	for _, name := range []string{"reuse-message", "reedit-message"} {
		if rev := c.p.get(name); rev != "" {
			return c.commitish(rev)
		}
	}
	if h, ok := c.ref("CHERRY_PICK_HEAD"); ok {
		return c.commit(h)
	}
	return c.old, nil
}

func (c *committer) setAuthor() error {
	from, err := c.reused()
	if err != nil {
		return err
	}
	if from != nil && !c.p.has("reset-author") {
		c.author, c.dated = from.Author, true
	} else if a := c.p.get("author"); a == "" || !strings.Contains(a, "<") {
		if c.author, err = c.signature("AUTHOR"); err != nil {
			return err
		}
	} else if s, err := c.quietSignature(); err == nil {
		c.author.When = s.When
	}
	if a := c.p.get("author"); a != "" {
		if err := c.namedAuthor(a); err != nil {
			return err
		}
	}
	if c.author.When.IsZero() {
		c.author.When = c.Now().In(c.Location)
	}
	if c.sub == "revert" {
		c.dated = true // git tells the date of a revert
	}
	if d := c.p.get("date"); d != "" {
		t, ok := c.parseDate(d)
		if !ok {
			return fatalf("invalid date format: %s", d)
		}
		c.author.When, c.dated = t, true
	}
	return nil
}

// namedAuthor reads --author: an identity, or part of one in the history.
func (c *committer) namedAuthor(a string) error {
	name, rest, ok := strings.Cut(a, "<")
	if email, _, end := strings.Cut(rest, ">"); ok && end {
		c.author.Name, c.author.Email = strings.TrimSpace(name), strings.TrimSpace(email)
		return nil
	}
	_, head, born := c.head()
	if born {
		w := c.newWalk([]plumbing.Hash{head}, nil)
		for {
			k, err := w.next()
			if err != nil {
				return err
			}
			if k == nil {
				break
			}
			if strings.Contains(k.Author.Name+" <"+k.Author.Email+">", a) {
				c.author.Name, c.author.Email = k.Author.Name, k.Author.Email
				return nil
			}
		}
	}
	return fatalf("--author '%s' is not 'Name <email>' and matches no existing author", a)
}

// unchanged refuses a commit without a change, and shows the status instead.
func (c *committer) unchanged(tree plumbing.Hash) (bool, error) {
	if c.p.has("allow-empty") || c.old != nil && len(c.parents) != 1 || len(c.parents) > 1 || c.exists("MERGE_HEAD") {
		return false, nil
	}
	same := false
	if len(c.parents) == 1 {
		pc, err := c.commit(c.parents[0])
		if err != nil {
			return false, err
		}
		same = pc.TreeHash == tree
	} else {
		same = len(c.ix.Entries) == 0
	}
	if !same || c.old != nil && c.old.TreeHash == tree {
		if !same || len(c.parents) != 1 {
			return false, nil
		}
	}
	if c.old != nil {
		c.complain("You asked to amend the most recent commit, but doing so would make\nit empty. You can repeat your command with --allow-empty, or you can\n" +
			"remove the commit entirely with \"git reset HEAD^\".")
	}
	if err := c.writeIndex(c.ix); err != nil {
		return true, err
	}
	rp, err := c.report(nil, "normal", false, true)
	if err != nil {
		return true, err
	}
	c.printLong(rp, false, c.printf)
	return true, status(1)
}

// setMessage finds the message: -m, -F, -C, the amended one, or a prepared one.
func (c *committer) setMessage() error {
	text, given := "", false
	switch {
	case c.p.given("message"):
		text, given = strings.Join(c.p.all("message"), "\n\n"), true
	case c.p.given("file"):
		b, err := c.readText(c.p.get("file"))
		if err != nil {
			return err
		}
		text, given = b, true
	case c.p.given("fixup"):
		target, err := c.commitish(c.p.get("fixup"))
		if err != nil {
			return err
		}
		text, given = "fixup! "+subject(target.Message), true
	}
	if !given {
		from, err := c.reused()
		if err != nil {
			return err
		}
		if from != nil {
			text, given = from.Message, true
		} else if m := c.readGitFile("MERGE_MSG"); m != "" {
			text, given = m, true
		} else if m := c.readGitFile("SQUASH_MSG"); m != "" {
			text, given = m, true
		}
	}
	if !given {
		c.complain("error: Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.")
		return status(exitError)
	}
	if c.p.get("cleanup") != "verbatim" {
		text = cleanMessage(text)
		if c.p.get("cleanup") == "strip" {
			text = cleanMessage(stripComments(text))
		}
	}
	if c.p.has("signoff") {
		s, err := c.signature("COMMITTER")
		if err != nil {
			return err
		}
		text = addTrailer(text, "Signed-off-by: "+s.Name+" <"+s.Email+">")
	}
	for _, t := range c.p.all("trailer") {
		if k, v, ok := strings.Cut(t, "="); ok {
			t = k + ": " + v
		}
		text = addTrailer(text, t)
	}
	if text == "" && !c.p.has("allow-empty-message") {
		c.complain("Aborting commit due to empty commit message.")
		return status(1)
	}
	c.message = text
	return nil
}

func (g *git) readText(name string) (string, error) {
	if name == "-" {
		b, err := io.ReadAll(io.LimitReader(g.Stdin, maxConfig))
		return string(b), err
	}
	b, err := g.FS.ReadFile(name, maxConfig)
	if err != nil {
		return "", fatalf("could not read log file '%s': %v", name, err)
	}
	return string(b), nil
}

// cleanMessage removes blank lines around a message, runs of them inside, and
// blanks at the ends of lines.
func cleanMessage(s string) string {
	var out []string
	blank := false
	for _, line := range strings.Split(s, "\n") {
		line = strings.TrimRight(line, " \t\r")
		if line == "" {
			blank = len(out) > 0
			continue
		}
		if blank {
			out = append(out, "")
			blank = false
		}
		out = append(out, line)
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

func stripComments(s string) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		if !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n")
}

// addTrailer adds a line like "Signed-off-by: x" to the end of a message.
func addTrailer(text, line string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	last := lines[len(lines)-1]
	if last == line {
		return text
	}
	if key, _, ok := strings.Cut(last, ": "); len(lines) > 1 && ok && !strings.Contains(key, " ") {
		return strings.TrimRight(text, "\n") + "\n" + line + "\n"
	}
	return strings.TrimRight(text, "\n") + "\n\n" + line + "\n"
}

// summary tells what was committed.
func (c *committer) summary(h plumbing.Hash, who object.Signature) error {
	name := branchName(c.branch)
	if c.branch == "" {
		name = "detached HEAD"
	}
	if len(c.parents) == 0 && c.old == nil {
		name += " (root-commit)"
	}
	c.printf("[%s %s] %s\n", name, c.short(h), subject(c.message))
	if c.author.Name != who.Name || c.author.Email != who.Email {
		c.printf(" Author: %s <%s>\n", c.author.Name, c.author.Email)
	}
	if c.dated {
		c.printf(" Date: %s\n", c.formatDate(c.author.When, ""))
	}
	k, err := c.commit(h)
	if err != nil || len(c.parents) > 1 {
		return err
	}
	f := &diffForm{context: 3, renames: true, score: renameScore}
	pairs, err := c.commitDiff(k, f, nil, false)
	if err != nil || len(pairs) == 0 {
		return err
	}
	stats, err := c.stats(pairs, f)
	if err != nil {
		return err
	}
	c.printf("%s", shortStat(stats))
	c.printSummary(pairs)
	return nil
}
