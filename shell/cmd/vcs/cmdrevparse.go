package vcs

import (
	"path"
	"strconv"
	"strings"
)

// cmdRevParse is git rev-parse.
func (g *git) cmdRevParse(args []string) error {
	rp := &revParse{git: g}
	for i, a := range args {
		if a == "--" {
			for _, rest := range args[i:] {
				g.printf("%s\n", rest)
			}
			return nil
		}
		if err := rp.arg(a); err != nil {
			return err
		}
	}
	if rp.verify && rp.shown == 0 {
		if rp.quiet {
			return status(1)
		}
		return fatal("Needed a single revision")
	}
	return nil
}

// revParse is one run of git rev-parse.
type revParse struct {
	*git
	verify, quiet, short, abbrev, symbolic bool
	length                                 int
	shown                                  int
	r                                      *repo
}

func (rp *revParse) repo() (*repo, error) {
	var err error
	if rp.r == nil {
		rp.r, err = rp.open()
	}
	return rp.r, err
}

func (rp *revParse) arg(a string) error {
	name, value, has := strings.Cut(a, "=")
	switch name {
	case "--verify":
		rp.verify = true
		return nil
	case "-q", "--quiet":
		rp.quiet = true
		return nil
	case "--short":
		rp.short = true
		if has {
			rp.length, _ = strconv.Atoi(value)
		}
		return nil
	case "--abbrev-ref":
		rp.abbrev = true
		return nil
	case "--symbolic-full-name", "--symbolic":
		rp.symbolic = true
		return nil
	case "--is-inside-work-tree", "--is-inside-git-dir", "--is-bare-repository", "--git-dir", "--absolute-git-dir", "--show-toplevel",
		"--show-prefix", "--show-cdup", "--git-common-dir", "--is-shallow-repository", "--show-object-format":
		return rp.about(name)
	case "--all", "--branches", "--tags", "--remotes":
		r, err := rp.repo()
		if err != nil {
			return err
		}
		for _, ref := range r.allRefs(map[string]string{"--all": "refs/", "--branches": "refs/heads/", "--tags": "refs/tags/", "--remotes": "refs/remotes/"}[name]) {
			rp.printf("%s\n", ref.hash)
		}
		return nil
	case "--git-path":
		return fatal("--git-path is not supported")
	}
	if strings.HasPrefix(a, "--") {
		rp.printf("%s\n", a)
		return nil
	}
	return rp.revision(a)
}

// about answers a question about the repository.
func (rp *revParse) about(name string) error {
	r, err := rp.repo()
	if err != nil {
		return err
	}
	cwd := path.Clean(rp.Dir)
	inGit := cwd == r.dir || strings.HasPrefix(cwd, r.dir+"/")
	yes := func(b bool) error {
		rp.printf("%v\n", b)
		return nil
	}
	switch name {
	case "--is-inside-work-tree":
		return yes(r.work != "" && !inGit)
	case "--is-inside-git-dir":
		return yes(inGit)
	case "--is-bare-repository":
		return yes(r.work == "")
	case "--is-shallow-repository":
		return yes(r.exists("shallow"))
	case "--show-object-format":
		rp.printf("sha1\n")
	case "--absolute-git-dir":
		rp.printf("%s\n", r.dir)
	case "--git-dir", "--git-common-dir":
		switch {
		case r.dir == path.Join(cwd, ".git"):
			rp.printf(".git\n")
		case r.dir == cwd:
			rp.printf(".\n")
		default:
			rp.printf("%s\n", r.dir)
		}
	case "--show-prefix":
		rp.printf("%s\n", r.prefix)
	default:
		if r.work == "" || inGit {
			return fatal("this operation must be run in a work tree")
		}
		if name == "--show-toplevel" {
			rp.printf("%s\n", r.work)
		} else {
			rp.printf("%s\n", strings.Repeat("../", strings.Count(r.prefix, "/")))
		}
	}
	return nil
}

// revision prints what a revision names.
func (rp *revParse) revision(a string) error {
	r, err := rp.repo()
	if err != nil {
		return err
	}
	show := func(rev, mark string) error {
		h, ok := r.resolve(orHead(rev))
		if !ok {
			return r.badRevision(rev)
		}
		rp.shown++
		switch {
		case rp.abbrev || rp.symbolic:
			name := r.symbolName(rev, rp.abbrev)
			if name == "" && rp.abbrev {
				name = rev
			}
			if name != "" {
				rp.printf("%s%s\n", mark, name)
			}
		case rp.short:
			s := r.short(h)
			if rp.length > len(s) && rp.length <= 40 {
				s = h.String()[:rp.length]
			}
			rp.printf("%s%s\n", mark, s)
		default:
			rp.printf("%s%s\n", mark, h)
		}
		return nil
	}
	if rp.verify {
		if _, ok := r.resolve(a); !ok {
			return nil
		}
		return show(a, "")
	}
	if x, y, ok := strings.Cut(a, ".."); ok && !strings.HasPrefix(y, ".") && r.isRevision(a) {
		if err := show(y, ""); err != nil {
			return err
		}
		return show(x, "^")
	}
	if rest, ok := strings.CutPrefix(a, "^"); ok {
		return show(rest, "^")
	}
	if _, ok := r.resolve(a); !ok && !rp.abbrev {
		if _, err := r.FS.Lstat(r.workPath(a)); err == nil {
			rp.printf("%s\n", a)
			return nil
		}
		rp.printf("%s\n", a)
	}
	return show(a, "")
}

// symbolName is the name of the reference that a revision stands for.
func (r *repo) symbolName(rev string, short bool) string {
	full := ""
	switch {
	case rev == "HEAD" || rev == "@":
		if full, _, _ = r.head(); full == "" {
			return "HEAD"
		}
	case strings.HasSuffix(rev, "@{u}") || strings.HasSuffix(rev, "@{upstream}"):
		branch, _, _ := strings.Cut(rev, "@{")
		if branch == "" || branch == "HEAD" {
			b, _, _ := r.head()
			branch = branchName(b)
		}
		full = r.upstream(branch)
	default:
		full, _, _ = r.fullRef(rev)
	}
	if short {
		return shortRef(full)
	}
	return full
}
