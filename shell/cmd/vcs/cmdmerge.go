package vcs

import (
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/index"
	"github.com/go-git/go-git/v5/plumbing/object"
)

func stageOf(n int) index.Stage { return index.Stage(n) }

// cmdMerge is git merge.
func (g *git) cmdMerge(args []string) error {
	p, err := g.parse(args, `m= F,file= ff ff-only commit no-edit e,edit squash abort continue quit q,quiet v,verbose s,strategy= X,strategy-option=
 stat n,no-stat log? allow-unrelated-histories no-verify signoff progress no-progress rerere-autoupdate no-rerere-autoupdate autostash S,gpg-sign?`)
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	switch {
	case p.has("abort"):
		if !r.exists("MERGE_HEAD") {
			return fatal("There is no merge to abort (MERGE_HEAD missing).")
		}
		return r.resetTo("HEAD", "merge", true)
	case p.has("continue"):
		if !r.exists("MERGE_HEAD") {
			return fatal("There is no merge in progress (MERGE_HEAD missing).")
		}
		return g.cmdCommit([]string{"--no-edit"})
	case p.has("quit"):
		for _, n := range []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE"} {
			if err := r.removeGitFile(n); err != nil {
				return err
			}
		}
		return nil
	case len(p.operands) > 1:
		return fatal("merges of more than two heads are not supported")
	}
	rev := ""
	if len(p.operands) == 1 {
		rev = dashBranch(p.operands[0])
	} else {
		branch, _, _ := r.head()
		if rev = r.upstream(branchName(branch)); rev == "" {
			return fatal("No remote for the current branch.")
		}
		rev = shortRef(rev)
	}
	h, ok := r.resolve(rev)
	if !ok {
		g.complain("merge: " + rev + " - not something we can merge")
		return status(1)
	}
	c, err := r.peelCommit(h)
	if err != nil {
		return err
	}
	m := &mergeRun{repo: r, p: p, their: c, name: rev, message: strings.Join(p.all("m"), "\n\n")}
	return m.run()
}

// mergeRun is one merge into the current branch.
type mergeRun struct {
	*repo
	p       *parsed
	their   *object.Commit
	name    string // how the other side was named
	message string
	whole   string // the subject, when it is not to be made of the name
}

func (m *mergeRun) say(format string, args ...any) {
	if !m.p.has("quiet") {
		m.printf(format, args...)
	}
}

func (m *mergeRun) run() error {
	if m.exists("MERGE_HEAD") {
		return fatal("You have not concluded your merge (MERGE_HEAD exists).\nPlease, commit your changes before you merge.")
	}
	ix, err := m.readIndex()
	if err != nil {
		return err
	}
	if ix.unmerged() {
		m.complain("error: Merging is not possible because you have unmerged files.\nhint: Fix them up in the work tree, and then use 'git add/rm <file>'\n" +
			"hint: as appropriate to mark resolution and make a commit.")
		return fatal("Exiting because of an unresolved conflict.")
	}
	branch, head, born := m.head()
	if !born {
		return m.unborn(ix, branch)
	}
	bases, err := m.mergeBases(head, m.their.Hash)
	if err != nil {
		return err
	}
	switch {
	case len(bases) == 0 && !m.p.has("allow-unrelated-histories"):
		return fatal("refusing to merge unrelated histories")
	case len(bases) > 0 && bases[0] == m.their.Hash:
		m.say("Already up to date.\n")
		return nil
	case len(bases) > 0 && bases[0] == head && (!m.p.given("ff") || m.p.has("ff")) && !m.p.has("squash"):
		return m.fastForward(ix, head)
	case m.p.has("ff-only"):
		m.complain("hint: Diverging branches can't be fast-forwarded, you need to either:\nhint:\nhint: \tgit merge --no-ff\nhint:\nhint: or:\nhint:\n" +
			"hint: \tgit rebase\nhint:\nhint: Disable this message with \"git config advice.diverging false\"")
		return fatal("Not possible to fast-forward, aborting.")
	}
	var base plumbing.Hash
	if len(bases) > 0 {
		base = bases[0]
	}
	return m.threeWay(ix, head, base)
}

// unborn takes over the other side's commit.
func (m *mergeRun) unborn(ix *stageIndex, branch string) error {
	files, err := m.flatten(m.their.TreeHash)
	if err != nil {
		return err
	}
	if err := m.switchTree(ix, nil, files, false, "merge"); err != nil {
		return err
	}
	if err := m.writeIndex(ix); err != nil {
		return err
	}
	return m.setRef(branch, m.their.Hash, "initial pull")
}

func (m *mergeRun) fastForward(ix *stageIndex, head plumbing.Hash) error {
	m.say("Updating %s..%s\n", m.short(head), m.short(m.their.Hash))
	from, err := m.headFiles()
	if err != nil {
		return err
	}
	to, err := m.flatten(m.their.TreeHash)
	if err != nil {
		return err
	}
	if err := m.switchTree(ix, from, to, false, "merge"); err != nil {
		return err
	}
	if err := m.writeIndex(ix); err != nil {
		return err
	}
	if err := m.writeGitFile("ORIG_HEAD", head.String()+"\n"); err != nil {
		return err
	}
	word := "merge " + m.name
	if m.sub == "pull" {
		word = "pull"
	}
	if err := m.setRef("HEAD", m.their.Hash, word+": Fast-forward"); err != nil {
		return err
	}
	m.say("Fast-forward\n")
	return m.showStat(from, to)
}

// showStat prints what a merge changed.
func (m *mergeRun) showStat(from, to map[string]treeFile) error {
	if m.p.has("quiet") || m.p.has("no-stat") || m.p.given("stat") && !m.p.has("stat") {
		return nil
	}
	pairs, err := m.findRenames(comparePairs(from, to, nil), renameScore, false)
	if err != nil {
		return err
	}
	return m.show(pairs, &diffForm{stat: true, summary: true, context: 3})
}

// threeWay merges the trees and commits.
func (m *mergeRun) threeWay(ix *stageIndex, head, base plumbing.Hash) error {
	t, ours, err := m.trees(head, base)
	if err != nil {
		return err
	}
	switch s := m.p.get("strategy"); s {
	case "", "ort", "recursive", "resolve":
	case "ours":
		t.theirs, t.base = t.ours, t.ours
	default:
		return fatalf("Could not find merge strategy '%s'.", s)
	}
	if o := m.p.get("strategy-option"); o == "ours" || o == "theirs" {
		t.favor = o
	}
	if err := t.run(); err != nil {
		return err
	}
	if err := m.dirtyIndex(ix, ours); err != nil {
		return err
	}
	if err := t.apply(ix, ours); err != nil {
		m.complain("Merge with strategy ort failed.")
		if _, ok := err.(failure); ok {
			return status(2)
		}
		return err
	}
	for _, line := range t.messages {
		m.say("%s\n", line)
	}
	message, err := m.text(len(t.conflicts) == 0)
	if err != nil {
		return err
	}
	if err := m.writeGitFile("ORIG_HEAD", head.String()+"\n"); err != nil {
		return err
	}
	if len(t.conflicts) > 0 || m.p.given("commit") && !m.p.has("commit") || m.p.has("squash") {
		return m.leaveOpen(t, message)
	}
	who, err := m.signature("COMMITTER")
	if err != nil {
		return err
	}
	author, err := m.signature("AUTHOR")
	if err != nil {
		return err
	}
	tree, err := m.writeTree(ix)
	if err != nil {
		return err
	}
	h, err := m.encode(&object.Commit{Author: author, Committer: who, Message: message, TreeHash: tree, ParentHashes: []plumbing.Hash{head, m.their.Hash}})
	if err != nil {
		return err
	}
	word := "merge " + m.name
	if m.sub == "pull" {
		word = "pull"
	}
	if err := m.setRef("HEAD", h, word+": Merge made by the 'ort' strategy."); err != nil {
		return err
	}
	m.say("Merge made by the 'ort' strategy.\n")
	merged, err := m.flatten(tree)
	if err != nil {
		return err
	}
	return m.showStat(ours, merged)
}

// trees gathers the three sides.
func (m *mergeRun) trees(head, base plumbing.Hash) (*treeMerge, map[string]treeFile, error) {
	ours, err := m.headFiles()
	if err != nil {
		return nil, nil, err
	}
	theirs, err := m.flatten(m.their.TreeHash)
	if err != nil {
		return nil, nil, err
	}
	old := map[string]treeFile{}
	if !base.IsZero() {
		b, err := m.commit(base)
		if err != nil {
			return nil, nil, err
		}
		if old, err = m.flatten(b.TreeHash); err != nil {
			return nil, nil, err
		}
	}
	return &treeMerge{repo: m.repo, base: old, ours: ours, theirs: theirs, labels: [2]string{"HEAD", m.name}}, ours, nil
}

// dirtyIndex refuses to merge into an index with changes staged.
func (m *mergeRun) dirtyIndex(ix *stageIndex, ours map[string]treeFile) error {
	var staged []string
	for _, p := range m.indexPairs(ours, ix, nil) {
		staged = append(staged, p.name())
	}
	if len(staged) == 0 {
		return nil
	}
	m.complain("error: Your local changes to the following files would be overwritten by merge:\n  " + strings.Join(staged, "\n  ") +
		"\nMerge with strategy ort failed.")
	return status(2)
}

// text is the message of the merge.
func (m *mergeRun) text(clean bool) (string, error) {
	if m.p.given("file") {
		return m.readText(m.p.get("file"))
	}
	if m.message != "" {
		return cleanMessage(m.message), nil
	}
	if m.whole != "" {
		return m.whole + "\n", nil
	}
	branch, _, _ := m.head()
	full, _, _ := m.fullRef(m.name)
	what := "commit '" + m.name + "'"
	switch {
	case strings.HasPrefix(full, "refs/heads/"):
		what = "branch '" + m.name + "'"
	case strings.HasPrefix(full, "refs/remotes/"):
		what = "remote-tracking branch '" + shortRef(full) + "'"
	case strings.HasPrefix(full, "refs/tags/"):
		what = "tag '" + m.name + "'"
	}
	text := "Merge " + what
	if b := branchName(branch); b != "master" && b != "main" && b != m.cfg.get("init.defaultbranch") {
		if b == "" {
			b = "HEAD"
		}
		text += " into " + b
	}
	return text + "\n", nil
}

// leaveOpen records a merge that is not committed yet.
func (m *mergeRun) leaveOpen(t *treeMerge, message string) error {
	if m.p.has("squash") {
		m.say("Squash commit -- not updating HEAD\n")
		text := "Squashed commit of the following:\n\ncommit " + m.their.Hash.String() + "\n"
		if err := m.writeGitFile("SQUASH_MSG", text); err != nil {
			return err
		}
	} else {
		if err := m.writeGitFile("MERGE_HEAD", m.their.Hash.String()+"\n"); err != nil {
			return err
		}
		if err := m.writeGitFile("MERGE_MODE", ""); err != nil {
			return err
		}
		if err := m.writeGitFile("MERGE_MSG", conflictMessage(message, t.conflicts)); err != nil {
			return err
		}
	}
	if len(t.conflicts) == 0 {
		m.complain("Automatic merge went well; stopped before committing as requested")
		return nil
	}
	m.say("Automatic merge failed; fix conflicts and then commit the result.\n")
	return status(1)
}

// conflictMessage adds the names in conflict as comments.
func conflictMessage(message string, conflicts map[string]*conflict) string {
	if len(conflicts) == 0 {
		return message
	}
	var names []string
	for n := range conflicts {
		names = append(names, n)
	}
	sort.Strings(names)
	return strings.TrimRight(message, "\n") + "\n\n# Conflicts:\n#\t" + strings.Join(names, "\n#\t") + "\n"
}
