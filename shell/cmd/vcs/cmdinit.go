package vcs

import (
	"path"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// cmdInit is git init.
func (g *git) cmdInit(args []string) error {
	p, err := g.parse(args, "q,quiet bare b,initial-branch= template= shared? separate-git-dir= object-format=")
	if err != nil {
		return err
	}
	if f := p.get("object-format"); f != "" && f != "sha1" {
		return fatalf("unknown hash algorithm '%s'", f)
	}
	dir := g.Dir
	if len(p.operands) > 0 {
		dir = path.Clean(g.Abs(p.operands[0]))
	}
	bare := p.has("bare") || g.bare
	gitDir := path.Join(dir, ".git")
	if bare {
		gitDir = dir
	} else if g.gitDir != "" {
		gitDir = path.Clean(g.Abs(g.gitDir))
	}
	again := g.isGitDir(gitDir)
	branch := p.get("initial-branch")
	cfg, err := g.config()
	if err != nil {
		return err
	}
	quiet := p.has("quiet")
	if branch == "" {
		if branch = cfg.get("init.defaultbranch"); branch == "" {
			branch = "master"
			if !quiet && !again {
				g.hintBranch()
			}
		}
	}
	if !validRef("refs/heads/" + branch) {
		return fatalf("invalid initial branch name: '%s'", branch)
	}
	if _, err := g.makeRepo(gitDir, bare, branch); err != nil {
		return err
	}
	if again && p.get("initial-branch") != "" {
		g.complain("warning: re-init: ignored --initial-branch=" + branch)
	}
	if !quiet {
		word := "Initialized empty"
		if again {
			word = "Reinitialized existing"
		}
		g.printf("%s Git repository in %s/\n", word, gitDir)
	}
	return nil
}

// hintBranch is the advice of git init.
func (g *git) hintBranch() {
	for _, line := range []string{
		"Using 'master' as the name for the initial branch. This default branch name",
		"is subject to change. To configure the initial branch name to use in all",
		"of your new repositories, which will suppress this warning, call:",
		"",
		"\tgit config --global init.defaultBranch <name>",
		"",
		"Names commonly chosen instead of 'master' are 'main', 'trunk' and",
		"'development'. The just-created branch can be renamed via this command:",
		"",
		"\tgit branch -m <name>",
	} {
		g.complain("hint: " + line)
	}
}

// makeRepo makes the git directory, or completes one that is there.
func (g *git) makeRepo(gitDir string, bare bool, branch string) (*repo, error) {
	again := g.isGitDir(gitDir)
	for _, d := range []string{"", "objects/info", "objects/pack", "refs/heads", "refs/tags", "hooks", "info", "branches"} {
		if err := g.FS.MkdirAll(path.Join(gitDir, d), 0o777); err != nil {
			return nil, fatalf("cannot mkdir %s: %v", path.Join(gitDir, d), err)
		}
	}
	if !again {
		text := "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"
		if bare {
			text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n"
		}
		for name, content := range map[string]string{
			"config":       text,
			"HEAD":         "ref: refs/heads/" + branch + "\n",
			"description":  "Unnamed repository; edit this file 'description' to name the repository.\n",
			"info/exclude": "# Patterns of files to ignore in this repository only, one a line.\n",
		} {
			if err := g.FS.WriteFile(path.Join(gitDir, name), []byte(content), 0o666); err != nil {
				return nil, err
			}
		}
	}
	work := path.Dir(gitDir)
	if bare {
		work = ""
	}
	return g.openAt(gitDir, work)
}

// cmdSymbolicRef is git symbolic-ref.
func (g *git) cmdSymbolicRef(args []string) error {
	p, err := g.parse(args, "q,quiet short d,delete m=")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	if len(p.operands) == 0 {
		return g.usage("")
	}
	name := p.operands[0]
	if name != "HEAD" && !validRef(name) {
		return fatalf("No such ref: %s", name)
	}
	if len(p.operands) > 1 {
		to := p.operands[1]
		if name == "HEAD" && !strings.HasPrefix(to, "refs/") || !validRef(to) {
			return fatalf("Refusing to point %s outside of refs/", name)
		}
		return r.st.SetReference(plumbing.NewSymbolicReference(plumbing.ReferenceName(name), plumbing.ReferenceName(to)))
	}
	ref, err := r.st.Reference(plumbing.ReferenceName(name))
	if err != nil || ref.Type() != plumbing.SymbolicReference {
		if p.has("quiet") {
			return status(1)
		}
		return fatalf("ref %s is not a symbolic ref", name)
	}
	if p.has("delete") {
		return r.st.RemoveReference(ref.Name())
	}
	to := string(ref.Target())
	if p.has("short") {
		to = shortRef(to)
	}
	g.printf("%s\n", to)
	return nil
}
