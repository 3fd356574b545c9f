package vcs

import "fmt"

// printLong is git status for people; out prints one piece of it.
func (r *repo) printLong(rp *report, hideUntracked bool, out func(string, ...any)) {
	branch, h, born := r.head()
	if branch != "" {
		out("On branch %s\n", branchName(branch))
	} else {
		out("HEAD detached at %s\n", r.detachedAt(h))
	}
	advice := r.longUpstream(branch, out)
	advice = r.longState(rp, out) || advice
	if !born {
		if !advice {
			out("\n")
		}
		word := "No commits yet"
		if r.sub == "commit" {
			word = "Initial commit"
		}
		out("%s\n\n", word)
	} else if advice {
		out("\n")
	}
	r.longStaged(rp, born, out)
	r.longUnmerged(rp, born, out)
	r.longWork(rp, out)
	list := func(title, hint string, names []string) {
		if len(names) == 0 {
			return
		}
		out("%s:\n  (use \"git add %s<file>...\" to include in what will be committed)\n", title, hint)
		for _, n := range names {
			out("\t%s\n", r.workDirName(n))
		}
		out("\n")
	}
	list("Untracked files", "", rp.untracked)
	list("Ignored files", "-f ", rp.ignored)
	if hideUntracked && rp.staged() {
		out("Untracked files not listed (use -u option to show untracked files)\n")
	}
	if !rp.staged() {
		out("%s", r.longEnd(rp, born, hideUntracked))
	}
}

// longEnd is the last line when nothing is staged.
func (r *repo) longEnd(rp *report, born, hideUntracked bool) string {
	switch {
	case rp.unstaged() || rp.unmerged():
		return "no changes added to commit (use \"git add\" and/or \"git commit -a\")\n"
	case len(rp.untracked) > 0:
		return "nothing added to commit but untracked files present (use \"git add\" to track)\n"
	case !born:
		return "nothing to commit (create/copy files and use \"git add\" to track)\n"
	case hideUntracked:
		return "nothing to commit (use -u to show untracked files)\n"
	case r.exists("MERGE_HEAD"):
		return ""
	}
	return "nothing to commit, working tree clean\n"
}

// detachedAt names the commit of a detached HEAD as it was checked out.
func (r *repo) detachedAt(h interface{ String() string }) string {
	log := r.reflog("HEAD")
	for i := len(log) - 1; i >= 0; i-- {
		if to := movedTo(log[i].message); to != "" {
			if _, full, ok := r.fullRef(to); ok && full == log[i].to {
				return to
			}
			return r.short(log[i].to)
		}
	}
	return h.String()[:7]
}

// longUpstream compares the branch with the one it follows.
func (r *repo) longUpstream(branch string, out func(string, ...any)) bool {
	if branch == "" {
		return false
	}
	text := r.trackingText(branch)
	if text == "" {
		return false
	}
	out("%s", text)
	return true
}

// trackingText is what status and checkout say of a branch and its upstream.
func (r *repo) trackingText(branch string) string {
	up := r.upstream(branchName(branch))
	if up == "" {
		return ""
	}
	name := shortRef(up)
	ahead, behind, ok := r.divergence(branch, up)
	plural := func(n int) string {
		if n == 1 {
			return fmt.Sprintf("%d commit", n)
		}
		return fmt.Sprintf("%d commits", n)
	}
	switch {
	case !ok:
		if _, _, born := r.head(); !born {
			return ""
		}
		return fmt.Sprintf("Your branch is based on '%s', but the upstream is gone.\n  (use \"git branch --unset-upstream\" to fixup)\n", name)
	case ahead == 0 && behind == 0:
		return fmt.Sprintf("Your branch is up to date with '%s'.\n", name)
	case behind == 0:
		return fmt.Sprintf("Your branch is ahead of '%s' by %s.\n  (use \"git push\" to publish your local commits)\n", name, plural(ahead))
	case ahead == 0:
		return fmt.Sprintf("Your branch is behind '%s' by %s, and can be fast-forwarded.\n  (use \"git pull\" to update your local branch)\n", name, plural(behind))
	}
	return fmt.Sprintf("Your branch and '%s' have diverged,\nand have %d and %d different commits each, respectively.\n"+
		"  (use \"git pull\" to merge the remote branch into yours)\n", name, ahead, behind)
}

// longState tells of an operation that is under way.
func (r *repo) longState(rp *report, out func(string, ...any)) bool {
	pick := func(file, word, command string) bool {
		h := r.readGitFile(file)
		if len(h) < 40 {
			return false
		}
		out("You are currently %s commit %s.\n", word, h[:7])
		if rp.unmerged() {
			out("  (fix conflicts and run \"git %s --continue\")\n", command)
		} else {
			out("  (all conflicts fixed: run \"git %s --continue\")\n", command)
		}
		out("  (use \"git %s --skip\" to skip this patch)\n  (use \"git %s --abort\" to cancel the %s operation)\n", command, command, command)
		return true
	}
	switch {
	case r.exists("MERGE_HEAD") && rp.unmerged():
		out("You have unmerged paths.\n  (fix conflicts and run \"git commit\")\n  (use \"git merge --abort\" to abort the merge)\n")
	case r.exists("MERGE_HEAD"):
		out("All conflicts fixed but you are still merging.\n  (use \"git commit\" to conclude merge)\n")
	case pick("CHERRY_PICK_HEAD", "cherry-picking", "cherry-pick"):
	case pick("REVERT_HEAD", "reverting", "revert"):
	default:
		return false
	}
	return true
}

var longWords = map[byte]string{
	'M': "modified:", 'A': "new file:", 'D': "deleted:", 'R': "renamed:", 'C': "copied:", 'T': "typechange:",
}

func (r *repo) longStaged(rp *report, born bool, out func(string, ...any)) {
	if !rp.staged() {
		return
	}
	hint := "git restore --staged <file>..."
	if !born {
		hint = "git rm --cached <file>..."
	}
	out("Changes to be committed:\n")
	if !r.exists("MERGE_HEAD") && !r.exists("CHERRY_PICK_HEAD") {
		out("  (use \"%s\" to unstage)\n", hint)
	}
	for _, c := range rp.changes {
		if c.staged == ' ' || c.conflict != "" {
			continue
		}
		name := r.quoteName(r.relative(c.name))
		if c.from != "" {
			name = r.quoteName(r.relative(c.from)) + " -> " + name
		}
		out("\t%-12s%s\n", longWords[c.staged], name)
	}
	out("\n")
}

func (r *repo) longUnmerged(rp *report, born bool, out func(string, ...any)) {
	if !rp.unmerged() {
		return
	}
	deleted, plain := false, false
	for _, c := range rp.changes {
		switch c.conflict {
		case "":
		case "UD", "DU", "DD":
			deleted = true
		default:
			plain = true
		}
	}
	hint := "git add <file>..."
	switch {
	case deleted && plain:
		hint = "git add/rm <file>..."
	case deleted:
		hint = "git add/rm <file>..."
	}
	out("Unmerged paths:\n")
	if !r.exists("MERGE_HEAD") && !r.exists("CHERRY_PICK_HEAD") {
		out("  (use \"git restore --staged <file>...\" to unstage)\n")
	}
	out("  (use \"%s\" %sto mark resolution)\n", hint, map[bool]string{true: "as appropriate "}[deleted])
	for _, c := range rp.changes {
		if c.conflict != "" {
			out("\t%-17s%s\n", conflictWords[c.conflict], r.quoteName(r.relative(c.name)))
		}
	}
	out("\n")
}

func (r *repo) longWork(rp *report, out func(string, ...any)) {
	if !rp.unstaged() {
		return
	}
	hint := "git add <file>..."
	for _, c := range rp.changes {
		if c.work == 'D' && c.conflict == "" {
			hint = "git add/rm <file>..."
		}
	}
	out("Changes not staged for commit:\n  (use \"%s\" to update what will be committed)\n"+
		"  (use \"git restore <file>...\" to discard changes in working directory)\n", hint)
	for _, c := range rp.changes {
		if c.work != ' ' && c.conflict == "" {
			out("\t%-12s%s\n", longWords[c.work], r.quoteName(r.relative(c.name)))
		}
	}
	out("\n")
}
