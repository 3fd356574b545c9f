package vcs

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

const stashRef = "refs/stash"

// cmdStash is git stash.
func (g *git) cmdStash(args []string) error {
	r, err := g.openWork()
	if err != nil {
		return err
	}
	what := "push"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		what, args = args[0], args[1:]
	}
	s := &stash{repo: r}
	switch what {
	case "push", "save":
		return s.push(args, what == "save")
	case "list":
		for i, e := range reversed(r.reflog(stashRef)) {
			g.printf("stash@{%d}: %s\n", i, e.message)
		}
		return nil
	case "pop", "apply", "drop", "show":
		p, err := g.parse(args, "index q,quiet "+diffTable)
		if err != nil {
			return err
		}
		return s.use(what, p)
	case "clear":
		if _, ok := r.ref(stashRef); ok {
			return r.removeRef(stashRef)
		}
		return nil
	case "branch":
		return s.branch(args)
	}
	g.complain("error: unknown subcommand: `" + what + "'")
	return g.usage("")
}

func reversed(log []logEntry) []logEntry {
	out := make([]logEntry, 0, len(log))
	for i := len(log) - 1; i >= 0; i-- {
		out = append(out, log[i])
	}
	return out
}

// stash is one run of git stash.
type stash struct{ *repo }

// push saves the changes as commits beside the history, and takes them away.
func (s *stash) push(args []string, save bool) error {
	p, err := s.parse(args, "m,message= u,include-untracked a,all k,keep-index q,quiet S,staged p,patch")
	if err != nil {
		return err
	}
	if p.has("patch") || p.has("staged") {
		return fatal("stash push with --patch or --staged is not supported")
	}
	branch, head, born := s.head()
	if !born {
		s.complain("You do not have the initial commit yet")
		return status(1)
	}
	message := p.get("message")
	operands := p.operands
	if save {
		message, operands = strings.Join(operands, " "), nil
	}
	specs, err := s.pathspecs(operands)
	if err != nil {
		return err
	}
	ix, err := s.readIndex()
	if err != nil {
		return err
	}
	if ix.unmerged() {
		return failf("could not save index: unmerged files")
	}
	rp, err := s.changes(ix, specs, false)
	if err != nil {
		return err
	}
	var untracked []string
	if p.has("include-untracked") || p.has("all") {
		sc := s.newScan(ix, specs)
		sc.all, sc.noRules = true, p.has("all")
		if err := sc.run(); err != nil {
			return err
		}
		untracked = sc.untracked
	}
	if len(rp.changes) == 0 && len(untracked) == 0 {
		if !p.has("quiet") {
			s.printf("No local changes to save\n")
		}
		return nil
	}
	c, err := s.commit(head)
	if err != nil {
		return err
	}
	name := branchName(branch)
	if branch == "" {
		name = "(no branch)"
	}
	where := name + ": " + s.short(head) + " " + subject(c.Message)
	text := "WIP on " + where
	if message != "" {
		text = "On " + name + ": " + message
	}
	h, err := s.save(ix, head, specs, untracked, where, text)
	if err != nil {
		return err
	}
	old, _ := s.ref(stashRef)
	if err := s.st.SetReference(plumbing.NewHashReference(stashRef, h)); err != nil {
		return err
	}
	if err := s.writeLog(stashRef, old, h, text); err != nil {
		return err
	}
	if !p.has("quiet") {
		s.printf("Saved working directory and index state %s\n", text)
	}
	return s.clear(ix, c, specs, untracked, p.has("keep-index"))
}

// save stores the index, the untracked files and the work tree as commits.
func (s *stash) save(ix *stageIndex, head plumbing.Hash, specs pathspecs, untracked []string, where, text string) (plumbing.Hash, error) {
	who, err := s.signature("COMMITTER")
	if err != nil {
		return head, err
	}
	author, err := s.signature("AUTHOR")
	if err != nil {
		return head, err
	}
	store := func(tree plumbing.Hash, message string, parents ...plumbing.Hash) (plumbing.Hash, error) {
		return s.encode(&object.Commit{Author: author, Committer: who, Message: message, TreeHash: tree, ParentHashes: parents})
	}
	tree, err := s.writeTree(ix)
	if err != nil {
		return head, err
	}
	index, err := store(tree, "index on "+where+"\n", head)
	if err != nil {
		return head, err
	}
	parents := []plumbing.Hash{head, index}
	work := newIndex()
	work.Entries = append(work.Entries, ix.Entries...)
	if err := (&adder{repo: s.repo, ix: work, p: &parsed{}, specs: specs}).tracked(); err != nil {
		return head, err
	}
	if tree, err = s.writeTree(work); err != nil {
		return head, err
	}
	if len(untracked) > 0 {
		u := newIndex()
		for _, n := range untracked {
			a, err := s.lstat(strings.TrimSuffix(n, "/"))
			if err != nil {
				return head, err
			}
			if !a.IsDir() {
				if err := s.stageFile(u, n, &a); err != nil {
					return head, err
				}
			}
		}
		ut, err := s.writeTree(u)
		if err != nil {
			return head, err
		}
		uc, err := store(ut, "untracked files on "+where+"\n")
		if err != nil {
			return head, err
		}
		parents = append(parents, uc)
	}
	return store(tree, text, parents...)
}

// clear takes the work tree back to HEAD, or to the index.
func (s *stash) clear(ix *stageIndex, c *object.Commit, specs pathspecs, untracked []string, keep bool) error {
	files, err := s.flatten(c.TreeHash)
	if err != nil {
		return err
	}
	if keep {
		files = map[string]treeFile{}
		for _, e := range ix.Entries {
			files[e.Name] = treeFile{e.Mode, e.Hash}
		}
	}
	if len(specs) == 0 {
		err = s.switchTree(ix, files, files, true, "stash")
	} else {
		_, err = s.restoreTree(ix, files, specs, true, true, true)
	}
	if err != nil {
		return err
	}
	for _, n := range untracked {
		if !strings.HasSuffix(n, "/") {
			if err := s.removeFile(n); err != nil {
				return err
			}
		}
	}
	return s.writeIndex(ix)
}

// entry finds the stash that an argument names.
func (s *stash) entry(args []string) (h plumbing.Hash, n int, name string, err error) {
	name = "0"
	if len(args) > 0 {
		name = args[0]
	}
	if inner, ok := strings.CutPrefix(name, "stash@{"); ok {
		name = strings.TrimSuffix(inner, "}")
	}
	i, ok := atoi64(name)
	log := s.reflog(stashRef)
	name = "stash@{" + name + "}"
	if len(log) == 0 {
		return h, 0, name, failf("No stash entries found.")
	}
	if !ok || i < 0 || int(i) >= len(log) {
		if len(args) > 0 && !ok {
			return h, 0, name, failf("%s is not a valid reference", args[0])
		}
		return h, 0, name, failf("%s is not a valid reference", name)
	}
	return log[len(log)-1-int(i)].to, int(i), name, nil
}

func (s *stash) use(what string, p *parsed) error {
	h, n, name, err := s.entry(p.operands)
	if err != nil {
		if strings.HasPrefix(err.Error(), "No stash") {
			s.complain("No stash entries found.")
			return status(1)
		}
		return err
	}
	switch what {
	case "show":
		return s.show(h, p)
	case "drop":
		return s.drop(h, n, "refs/"+strings.TrimPrefix(name, "refs/"), p.has("quiet"))
	}
	conflicts, err := s.apply(h, p.has("index"), p.has("quiet"))
	if err != nil {
		return err
	}
	if conflicts {
		if what == "pop" {
			s.complain("The stash entry is kept in case you need it again.")
		}
		return status(1)
	}
	if what == "pop" {
		return s.drop(h, n, "refs/"+name, p.has("quiet"))
	}
	return nil
}

func (s *stash) show(h plumbing.Hash, p *parsed) error {
	f, err := s.diffOptions(p)
	if err != nil {
		return err
	}
	if !f.chosen() {
		f.stat = true
	}
	c, err := s.commit(h)
	if err != nil {
		return err
	}
	pairs, err := s.commitDiff(c, f, nil, true)
	if err != nil {
		return err
	}
	return s.repo.show(pairs, f)
}

// drop removes an entry from the log of stashes.
func (s *stash) drop(h plumbing.Hash, n int, name string, quiet bool) error {
	log := s.reflog(stashRef)
	at := len(log) - 1 - n
	log = append(log[:at:at], log[at+1:]...)
	if at < len(log) && at > 0 {
		log[at].from = log[at-1].to
	} else if at < len(log) {
		log[at].from = plumbing.ZeroHash
	}
	var err error
	if len(log) == 0 {
		err = s.removeRef(stashRef)
	} else {
		if err = s.rewriteLog(stashRef, log); err == nil {
			err = s.st.SetReference(plumbing.NewHashReference(stashRef, log[len(log)-1].to))
		}
	}
	if err == nil && !quiet {
		s.printf("Dropped %s (%s)\n", name, h)
	}
	return err
}

// apply merges a stash into the work tree.
func (s *stash) apply(h plumbing.Hash, index, quiet bool) (conflicts bool, err error) {
	c, err := s.commit(h)
	if err != nil || len(c.ParentHashes) < 2 {
		return false, fatalf("'%s' is not a stash-like commit", h)
	}
	ix, err := s.readIndex()
	if err != nil {
		return false, err
	}
	var sides [4]map[string]treeFile // base, the stashed files, the stashed index, untracked files
	for i, hash := range append([]plumbing.Hash{c.ParentHashes[0], h}, c.ParentHashes[1:]...) {
		t, err := s.treeOf(hash)
		if err != nil {
			return false, err
		}
		if sides[min(i, 3)], err = s.flatten(t.Hash); err != nil {
			return false, err
		}
	}
	ours := map[string]treeFile{}
	for _, e := range ix.Entries {
		ours[e.Name] = treeFile{e.Mode, e.Hash}
	}
	t := &treeMerge{repo: s.repo, base: sides[0], ours: ours, theirs: sides[1], labels: [2]string{"Updated upstream", "Stashed changes"}}
	if err := t.run(); err != nil {
		return false, err
	}
	before := newIndex()
	before.Entries = append(before.Entries, ix.Entries...)
	if err := t.apply(ix, ours); err != nil {
		return false, err
	}
	for _, line := range t.messages {
		s.printf("%s\n", line)
	}
	if err := s.restoreUntracked(sides[3]); err != nil {
		return false, err
	}
	if len(t.conflicts) == 0 {
		if err := s.unstage(ix, before, sides, index); err != nil {
			return false, err
		}
	}
	if !quiet {
		rp, err := s.report(nil, "normal", false, true)
		if err != nil {
			return false, err
		}
		s.printLong(rp, false, s.printf)
	}
	return len(t.conflicts) > 0, nil
}

// unstage leaves in the index what was there, and the files that are new; with
// --index the stashed index.
func (s *stash) unstage(ix, before *stageIndex, sides [4]map[string]treeFile, index bool) error {
	for _, e := range append(ix.Entries[:0:0], ix.Entries...) {
		old := before.at(e.Name, 0)
		switch {
		case index:
			if f, in := sides[2][e.Name]; in && f != (treeFile{e.Mode, e.Hash}) {
				ix.put(entryOf(e.Name, f))
			}
		case old != nil && (old.Hash != e.Hash || old.Mode != e.Mode):
			ix.put(entryOf(e.Name, treeFile{old.Mode, old.Hash}))
		}
	}
	for _, e := range before.Entries {
		if _, staged := sides[2][e.Name]; !ix.has(e.Name) && (!index || staged) {
			ix.put(e)
		}
	}
	return s.writeIndex(ix)
}

func (s *stash) restoreUntracked(files map[string]treeFile) error {
	for n := range files {
		if _, err := s.lstat(n); err == nil {
			s.complain(n + " already exists, no checkout")
			return failf("could not restore untracked files from stash")
		}
	}
	for n, f := range files {
		if _, err := s.writeFile(n, f); err != nil {
			return err
		}
	}
	return nil
}

// branch makes a branch where the stash was made, and pops it there.
func (s *stash) branch(args []string) error {
	if len(args) == 0 {
		s.complain("No branch name specified")
		return status(1)
	}
	h, n, name, err := s.entry(args[1:])
	if err != nil {
		return err
	}
	c, err := s.commit(h)
	if err != nil {
		return err
	}
	co := &checkout{repo: s.repo, p: &parsed{}, create: args[0]}
	if err := co.start([]string{c.ParentHashes[0].String()}); err != nil {
		return err
	}
	conflicts, err := s.apply(h, true, false)
	if err != nil || conflicts {
		return err
	}
	return s.drop(h, n, "refs/"+name, false)
}
