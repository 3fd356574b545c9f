package vcs

import (
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// restorePaths is git checkout [REV] -- PATH...: the files become what they are
// in the index, or in REV and then the index too.
func (r *repo) restorePaths(rev string, args []string, p *parsed) error {
	specs, err := r.pathspecs(args)
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	if rev != "" {
		files, err := r.filesOf(rev)
		if err != nil {
			return err
		}
		n, err := r.restoreTree(ix, files, specs, true, true, false)
		if err != nil {
			return err
		}
		if !p.has("quiet") && p.before < 0 {
			h, _ := r.resolve(rev)
			if c, err := r.peelCommit(h); err == nil {
				h = c.Hash
			}
			r.complain("Updated " + paths(n) + " from " + r.short(h))
		}
		return r.writeIndex(ix)
	}
	n, err := r.restoreIndex(ix, specs, p)
	if err != nil {
		return err
	}
	if !p.has("quiet") && p.before < 0 && r.sub == "checkout" {
		r.complain("Updated " + paths(n) + " from the index")
	}
	return r.writeIndex(ix)
}

func paths(n int) string {
	if n == 1 {
		return "1 path"
	}
	return itoa(int64(n)) + " paths"
}

// unmatched finds a path that names nothing known.
func (r *repo) unmatched(specs pathspecs, names map[string]bool) error {
	for i := range specs {
		if specs[i].exclude {
			continue
		}
		ok := false
		for n := range names {
			if ok = specs[i].match(n); ok {
				break
			}
		}
		if !ok {
			return failf("pathspec '%s' did not match any file(s) known to git", specs[i].given)
		}
	}
	return nil
}

// restoreIndex makes files of the work tree what they are in the index.
func (r *repo) restoreIndex(ix *stageIndex, specs pathspecs, p *parsed) (int, error) {
	known := map[string]bool{}
	for _, e := range ix.Entries {
		known[e.Name] = true
	}
	if err := r.unmatched(specs, known); err != nil {
		return 0, err
	}
	stage := 0
	switch {
	case p.has("ours"):
		stage = 2
	case p.has("theirs"):
		stage = 3
	}
	n := 0
	for _, e := range append(ix.Entries[:0:0], ix.Entries...) {
		if !specs.match(e.Name) {
			continue
		}
		if e.Stage != 0 {
			if stage == 0 {
				return 0, failf("path '%s' is unmerged", e.Name)
			}
			if int(e.Stage) == stage {
				n++
				if _, err := r.writeFile(e.Name, treeFile{e.Mode, e.Hash}); err != nil {
					return 0, err
				}
			}
			continue
		}
		st, _, err := r.workState(ix, e)
		if err != nil {
			return 0, err
		}
		if st == 0 {
			continue
		}
		n++
		a, err := r.writeFile(e.Name, treeFile{e.Mode, e.Hash})
		if err != nil {
			return 0, failf("unable to create file %s: %v", e.Name, err)
		}
		fillStat(e, &a)
	}
	return n, nil
}

// restoreTree makes the index and the work tree, or one of them, what a tree
// has; with remove, names that the tree lacks go away.
func (r *repo) restoreTree(ix *stageIndex, files map[string]treeFile, specs pathspecs, staged, work, remove bool) (int, error) {
	known := map[string]bool{}
	for n := range files {
		known[n] = true
	}
	if remove {
		for _, e := range ix.Entries {
			known[e.Name] = true
		}
	}
	if err := r.unmatched(specs, known); err != nil {
		return 0, err
	}
	var names []string
	for n := range known {
		if specs.match(n) {
			names = append(names, n)
		}
	}
	sort.Strings(names)
	count := 0
	for _, n := range names {
		f, in := files[n]
		e := ix.at(n, 0)
		same := in && e != nil && e.Hash == f.hash && e.Mode == f.mode
		if !same {
			count++
		}
		switch {
		case !in && work:
			if err := r.removeFile(n); err != nil {
				return 0, err
			}
		case in && work:
			tmp := ix
			if !staged {
				tmp = newIndex()
			}
			if err := r.put(tmp, n, f, true); err != nil {
				return 0, err
			}
		}
		switch {
		case staged && !in:
			ix.remove(n)
		case staged && !work && !same:
			ix.put(entryOf(n, f))
		}
	}
	return count, nil
}

// cmdRestore is git restore.
func (g *git) cmdRestore(args []string) error {
	p, err := g.parse(args, "s,source= S,staged W,worktree q,quiet ours theirs m,merge ignore-unmerged overlay no-overlay p,patch progress")
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	if len(p.operands) == 0 {
		return fatal("you must specify path(s) to restore")
	}
	if !p.has("staged") && !p.given("source") {
		return r.restorePaths("", p.operands, p)
	}
	specs, err := r.pathspecs(p.operands)
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	var files map[string]treeFile
	if p.given("source") {
		rev := p.get("source")
		if _, ok := r.resolve(rev); !ok {
			return fatalf("could not resolve %s", rev)
		}
		files, err = r.filesOf(rev)
	} else {
		files, err = r.headFiles()
	}
	if err != nil {
		return err
	}
	work := p.has("worktree") || !p.has("staged")
	if _, err := r.restoreTree(ix, files, specs, p.has("staged"), work, true); err != nil {
		return err
	}
	return r.writeIndex(ix)
}

// cmdReset is git reset.
func (g *git) cmdReset(args []string) error {
	p, err := g.parse(args, "soft mixed hard merge keep q,quiet N,intent-to-add p,patch refresh no-refresh")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	ops := p.operands
	rev := "HEAD"
	switch {
	case p.before > 0 || p.before < 0 && len(ops) > 0 && r.isRevision(dashBranch(ops[0])):
		rev, ops = dashBranch(ops[0]), ops[1:]
	case p.before < 0 && len(ops) > 0:
		if _, err := r.FS.Lstat(r.workPath(ops[0])); err != nil && !strings.ContainsAny(ops[0], "*?[:") {
			if ix, e := r.readIndex(); e == nil {
				if n, e := r.inside(ops[0], false); e == nil && (ix.has(n) || ix.hasBelow(n)) {
					break
				}
			}
			return ambiguous(ops[0])
		}
	}
	mode := "mixed"
	for _, m := range []string{"soft", "hard", "merge", "keep"} {
		if p.has(m) {
			mode = m
		}
	}
	if len(ops) > 0 {
		if mode != "mixed" {
			return fatalf("Cannot do %s reset with paths.", mode)
		}
		return r.resetPaths(rev, ops, p)
	}
	return r.resetTo(rev, mode, p.has("quiet"))
}

func (r *repo) resetPaths(rev string, args []string, p *parsed) error {
	specs, err := r.pathspecs(args)
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	files := map[string]treeFile{}
	if _, _, born := r.head(); born || rev != "HEAD" {
		if files, err = r.filesOf(rev); err != nil {
			return err
		}
	}
	var names []string
	for n := range files {
		if specs.match(n) {
			names = append(names, n)
		}
	}
	for _, e := range ix.Entries {
		if _, in := files[e.Name]; !in && specs.match(e.Name) {
			names = append(names, e.Name)
		}
	}
	for _, n := range names {
		f, in := files[n]
		if !in {
			ix.remove(n)
			continue
		}
		if e := ix.at(n, 0); e == nil || e.Hash != f.hash || e.Mode != f.mode {
			ix.put(entryOf(n, f))
		}
	}
	return r.afterReset(ix, p.has("quiet"))
}

// afterReset writes the index and lists what differs from it.
func (r *repo) afterReset(ix *stageIndex, quiet bool) error {
	if r.work == "" {
		return r.writeIndex(ix)
	}
	pairs, err := r.workPairs(ix, nil, nil)
	if err != nil {
		return err
	}
	if err := r.writeIndex(ix); err != nil || quiet {
		return err
	}
	for i, p := range pairs {
		if i == 0 {
			r.printf("Unstaged changes after reset:\n")
		}
		r.printf("%c\t%s\n", p.status, p.name())
	}
	return nil
}

// resetTo moves the branch to a commit, and with it the index and the files as
// the mode says.
func (r *repo) resetTo(rev, mode string, quiet bool) error {
	_, old, born := r.head()
	if !born && rev == "HEAD" {
		ix := newIndex()
		return r.writeIndex(ix)
	}
	c, err := r.commitish(rev)
	if err != nil {
		return err
	}
	if r.work == "" && mode != "soft" {
		return fatalf("%s reset is not allowed in a bare repository", mode)
	}
	files, err := r.flatten(c.TreeHash)
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	switch mode {
	case "soft":
		if ix.unmerged() || r.exists("MERGE_HEAD") {
			return fatal("Cannot do a soft reset in the middle of a merge.")
		}
	case "hard":
		head, err := r.headFiles()
		if err != nil {
			return err
		}
		if err := r.switchTree(ix, head, files, true, "reset"); err != nil {
			return err
		}
	case "merge", "keep":
		head, err := r.headFiles()
		if err != nil {
			return err
		}
		if mode == "merge" {
			err = r.dropConflicts(ix, head)
		}
		if err == nil {
			err = r.switchTree(ix, head, files, false, "reset")
		}
		if err != nil {
			return err
		}
	default:
		r.mixed(ix, files)
	}
	if err := r.moveHead(c.Hash, old, rev); err != nil {
		return err
	}
	if mode == "mixed" {
		return r.afterReset(ix, quiet)
	}
	if mode != "soft" {
		if err := r.writeIndex(ix); err != nil {
			return err
		}
	}
	if mode == "hard" && !quiet {
		r.printf("HEAD is now at %s %s\n", r.short(c.Hash), subject(c.Message))
	}
	return nil
}

// mixed makes the index a tree, keeping what is known of files that stay.
func (r *repo) mixed(ix *stageIndex, files map[string]treeFile) {
	for _, e := range append(ix.Entries[:0:0], ix.Entries...) {
		if f, in := files[e.Name]; !in || e.Stage != 0 || f.hash != e.Hash || f.mode != e.Mode {
			ix.remove(e.Name)
		}
	}
	for n, f := range files {
		if !ix.has(n) {
			ix.put(entryOf(n, f))
		}
	}
}

// dropConflicts takes unmerged files back to HEAD.
func (r *repo) dropConflicts(ix *stageIndex, head map[string]treeFile) error {
	for _, e := range append(ix.Entries[:0:0], ix.Entries...) {
		if e.Stage == 0 || !ix.has(e.Name) || ix.at(e.Name, 0) != nil {
			continue
		}
		f, in := head[e.Name]
		if !in {
			ix.remove(e.Name)
			if err := r.removeFile(e.Name); err != nil {
				return err
			}
			continue
		}
		if err := r.put(ix, e.Name, f, false); err != nil {
			return err
		}
	}
	return nil
}

// moveHead moves the branch, keeps where it was, and ends what was under way.
func (r *repo) moveHead(to, old plumbing.Hash, rev string) error {
	if !old.IsZero() {
		if err := r.writeGitFile("ORIG_HEAD", old.String()+"\n"); err != nil {
			return err
		}
	}
	if err := r.setRef("HEAD", to, "reset: moving to "+rev); err != nil {
		return err
	}
	for _, name := range []string{"MERGE_HEAD", "MERGE_MSG", "MERGE_MODE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "SQUASH_MSG"} {
		if err := r.removeGitFile(name); err != nil {
			return err
		}
	}
	return nil
}
