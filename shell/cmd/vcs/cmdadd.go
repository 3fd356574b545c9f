package vcs

import (
	"errors"
	"path"
	"strings"
	"syscall"

	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/index"

	"github.com/vfsd/vfsd/vfs"
)

// cmdAdd is git add.
func (g *git) cmdAdd(args []string) error {
	p, err := g.parse(args, "n,dry-run v,verbose f,force u,update A,all ignore-removal N,intent-to-add refresh ignore-errors ignore-missing chmod= renormalize p,patch i,interactive e,edit pathspec-from-file= sparse")
	if err != nil {
		return err
	}
	for _, name := range []string{"patch", "interactive", "edit"} {
		if p.has(name) {
			return fatalf("--%s needs a terminal", name)
		}
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	if len(p.operands) == 0 && !p.has("all") && !p.has("update") {
		g.complain("Nothing specified, nothing added.\nhint: Maybe you wanted to say 'git add .'?\n" +
			"hint: Turn this message off by running\nhint: \"git config advice.addEmptyPathspec false\"")
		return nil
	}
	specs, err := r.pathspecs(p.operands)
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	a := &adder{repo: r, ix: ix, p: p, specs: specs}
	if err := a.check(); err != nil {
		return err
	}
	ignored := a.ignored
	if err := a.tracked(); err != nil {
		return err
	}
	if !p.has("update") {
		if err := a.untracked(); err != nil {
			return err
		}
	}
	if !p.has("dry-run") {
		if err := r.writeIndex(ix); err != nil {
			return err
		}
	}
	if len(ignored) > 0 {
		g.complain("The following paths are ignored by one of your .gitignore files:\n" + strings.Join(ignored, "\n") +
			"\nhint: Use -f if you really want to add them.\nhint: Turn this message off by running\n" +
			"hint: \"git config advice.addIgnoredFile false\"")
		return status(1)
	}
	return nil
}

// adder stages what git add was given.
type adder struct {
	*repo
	ix      *stageIndex
	p       *parsed
	specs   pathspecs
	ignored []string
}

// check sees that each path names something.
func (a *adder) check() error {
	for i := range a.specs {
		s := &a.specs[i]
		if s.exclude || s.glob || s.pattern == "" {
			if s.glob && !a.globMatches(s) {
				return fatalf("pathspec '%s' did not match any files", s.given)
			}
			continue
		}
		if a.behindLink(s.pattern) {
			return fatalf("pathspec '%s' is beyond a symbolic link", s.given)
		}
		at, err := a.lstat(s.pattern)
		known := a.ix.has(s.pattern) || a.ix.hasBelow(s.pattern)
		switch {
		case err != nil && !known:
			return fatalf("pathspec '%s' did not match any files", s.given)
		case err == nil && !known && !a.p.has("force"):
			if _, ign := a.ignoredBy(s.pattern, at.IsDir()); ign {
				a.ignored = append(a.ignored, s.pattern)
			}
		}
	}
	return nil
}

func (a *adder) globMatches(s *pathspec) bool {
	for _, e := range a.ix.Entries {
		if s.match(e.Name) {
			return true
		}
	}
	sc := a.newScan(a.ix, pathspecs{*s})
	sc.all, sc.ignored = true, true
	return sc.run() == nil && len(sc.untracked)+len(sc.skipped) > 0
}

// behindLink reports whether a directory of the name is a symlink.
func (r *repo) behindLink(name string) bool {
	for i := 0; i < len(name); i++ {
		if name[i] == '/' {
			if at, err := r.FS.Lstat(r.abs(name[:i])); err == nil && at.IsSymlink() {
				return true
			}
		}
	}
	return false
}

// tracked stages the changes of files that are in the index.
func (a *adder) tracked() error {
	var names []string
	for _, e := range a.ix.Entries {
		if a.specs.match(e.Name) && (len(names) == 0 || names[len(names)-1] != e.Name) {
			names = append(names, e.Name)
		}
	}
	for _, name := range names {
		at, err := a.lstat(name)
		switch {
		case absent(err) || err == nil && at.IsDir():
			if e := a.ix.at(name, 0); e != nil && e.Mode == filemode.Submodule || a.p.has("ignore-removal") {
				continue
			}
			a.ix.remove(name)
			a.say("remove", name)
			continue
		case err != nil:
			return err
		}
		if err := a.one(name, &at); err != nil {
			return err
		}
	}
	return nil
}

func (a *adder) untracked() error {
	s := a.newScan(a.ix, a.specs)
	s.all, s.noRules = true, a.p.has("force")
	if err := s.run(); err != nil {
		return err
	}
	for _, name := range s.untracked {
		if bare, ok := strings.CutSuffix(name, "/"); ok {
			a.complain("warning: adding embedded git repository: " + bare)
			continue
		}
		at, err := a.lstat(name)
		if err != nil {
			return err
		}
		if !at.IsRegular() && !at.IsSymlink() {
			continue
		}
		if a.p.has("intent-to-add") {
			a.ix.put(&index.Entry{Name: name, Mode: modeOf(&at), Hash: emptyBlob, IntentToAdd: true})
			continue
		}
		if err := a.one(name, &at); err != nil {
			return err
		}
	}
	return nil
}

// one stages a file, and says so with -v when it changed.
func (a *adder) one(name string, at *vfs.Attr) error {
	before := a.ix.at(name, 0)
	if a.p.has("dry-run") {
		st := byte('A')
		if before != nil {
			var err error
			if st, _, err = a.workState(a.ix, before); err != nil {
				return err
			}
		}
		if st != 0 {
			a.say("add", name)
		}
		return nil
	}
	if err := a.stageFile(a.ix, name, at); err != nil {
		if errors.Is(err, syscall.EACCES) {
			a.complain("error: open(\"" + name + "\"): Permission denied\nerror: unable to index file '" + name + "'")
			return fatal("adding files failed")
		}
		return err
	}
	after := a.ix.at(name, 0)
	switch a.p.get("chmod") {
	case "":
	case "+x":
		after.Mode = filemode.Executable
	case "-x":
		after.Mode = filemode.Regular
	default:
		return fatalf("--chmod param '%s' must be either -x or +x", a.p.get("chmod"))
	}
	if before == nil || before.Hash != after.Hash || before.Mode != after.Mode {
		a.say("add", name)
	}
	return nil
}

func (a *adder) say(what, name string) {
	if a.p.has("verbose") || a.p.has("dry-run") {
		a.printf("%s '%s'\n", what, name)
	}
}

// cmdRm is git rm.
func (g *git) cmdRm(args []string) error {
	p, err := g.parse(args, "n,dry-run q,quiet cached f,force r ignore-unmatch")
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	if len(p.operands) == 0 {
		return fatal("No pathspec was given. Which files should I remove?")
	}
	specs, err := r.pathspecs(p.operands)
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	names, err := r.rmNames(ix, specs, p)
	if err != nil {
		return err
	}
	if !p.has("force") {
		if err := r.rmCheck(ix, names, p.has("cached")); err != nil {
			return err
		}
	}
	for _, name := range names {
		if !p.has("quiet") {
			r.printf("rm '%s'\n", name)
		}
		if p.has("dry-run") {
			continue
		}
		ix.remove(name)
		if !p.has("cached") {
			if err := r.removeFile(name); err != nil {
				return fatalf("git rm: '%s': %v", name, err)
			}
		}
	}
	if p.has("dry-run") {
		return nil
	}
	return r.writeIndex(ix)
}

// rmNames finds the tracked names that are meant.
func (r *repo) rmNames(ix *stageIndex, specs pathspecs, p *parsed) ([]string, error) {
	var names []string
	hit := make([]bool, len(specs))
	for _, e := range ix.Entries {
		if !specs.match(e.Name) {
			continue
		}
		if len(names) == 0 || names[len(names)-1] != e.Name {
			names = append(names, e.Name)
		}
		for i := range specs {
			if !specs[i].match(e.Name) {
				continue
			}
			hit[i] = true
			if !p.has("r") && !specs[i].glob && specs[i].pattern != e.Name {
				return nil, fatalf("not removing '%s' recursively without -r", specs[i].given)
			}
		}
	}
	for i, s := range specs {
		if !hit[i] && !s.exclude && !p.has("ignore-unmatch") {
			return nil, fatalf("pathspec '%s' did not match any files", s.given)
		}
	}
	return names, nil
}

// rmCheck refuses to remove what is nowhere else.
func (r *repo) rmCheck(ix *stageIndex, names []string, cached bool) error {
	head, err := r.headFiles()
	if err != nil {
		return err
	}
	var both, staged, local []string
	for _, name := range names {
		e := ix.at(name, 0)
		if e == nil {
			continue
		}
		st, _, err := r.workState(ix, e)
		if err != nil {
			return err
		}
		f, in := head[name]
		changed := !in || f.hash != e.Hash || f.mode != e.Mode
		work := st == 'M' || st == 'T'
		switch {
		case changed && work:
			both = append(both, name)
		case changed && !cached && st != 'D':
			staged = append(staged, name)
		case work && !cached:
			local = append(local, name)
		}
	}
	complain := func(names []string, one, many, hint string) {
		if len(names) == 0 {
			return
		}
		text := "the following file has " + one
		if len(names) > 1 {
			text = "the following files have " + many
		}
		g := "error: " + text
		for _, n := range names {
			g += "\n    " + n
		}
		r.complain(g + "\n" + hint)
	}
	complain(both, "staged content different from both the\nfile and the HEAD:", "staged content different from both the\nfile and the HEAD:",
		"(use -f to force removal)")
	complain(staged, "changes staged in the index:", "changes staged in the index:", "(use --cached to keep the file, or -f to force removal)")
	complain(local, "local modifications:", "local modifications:", "(use --cached to keep the file, or -f to force removal)")
	if len(both)+len(staged)+len(local) > 0 {
		return failure("")
	}
	return nil
}

// cmdMv is git mv.
func (g *git) cmdMv(args []string) error {
	p, err := g.parse(args, "n,dry-run v,verbose f,force k sparse")
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	if len(p.operands) < 2 {
		return g.usage("")
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	last := len(p.operands) - 1
	dest, err := r.inside(p.operands[last], false)
	if err != nil {
		return err
	}
	da, derr := r.FS.Stat(r.abs(dest))
	into := derr == nil && da.IsDir()
	if last > 1 && !into {
		return fatalf("destination '%s' is not a directory", dest)
	}
	for _, arg := range p.operands[:last] {
		src, err := r.inside(arg, false)
		if err != nil {
			return err
		}
		to := dest
		if into {
			to = path.Join(dest, path.Base(src))
		}
		if err := r.mvOne(ix, src, to, p); err != nil {
			if p.has("k") {
				continue
			}
			return err
		}
	}
	if p.has("dry-run") {
		return nil
	}
	return r.writeIndex(ix)
}

func (r *repo) mvOne(ix *stageIndex, src, to string, p *parsed) error {
	bad := func(why string) error { return fatalf("%s, source=%s, destination=%s", why, src, to) }
	a, err := r.lstat(src)
	switch {
	case err != nil:
		return bad("bad source")
	case a.IsDir() && !ix.hasBelow(src):
		return bad("source directory is empty")
	case !a.IsDir() && !ix.has(src):
		return bad("not under version control")
	case a.IsDir() && strings.HasPrefix(to+"/", src+"/"):
		return bad("can not move directory into itself")
	}
	if b, err := r.lstat(to); err == nil && (b.IsDir() || !p.has("force")) {
		return bad("destination exists")
	}
	if d := path.Dir(to); d != "." {
		if _, err := r.lstat(d); err != nil {
			return bad("destination directory does not exist")
		}
	}
	if p.has("verbose") || p.has("dry-run") {
		r.printf("Renaming %s to %s\n", src, to)
	}
	if p.has("dry-run") {
		return nil
	}
	if err := r.FS.Rename(r.abs(src), r.abs(to), 0); err != nil {
		return fatalf("renaming '%s' failed: %v", src, err)
	}
	var moved []*index.Entry
	for _, e := range ix.Entries {
		if e.Name == src || strings.HasPrefix(e.Name, src+"/") {
			moved = append(moved, e)
		}
	}
	for _, e := range moved {
		ix.remove(e.Name)
	}
	for _, e := range moved {
		e.Name = to + e.Name[len(src):]
		ix.put(e)
	}
	return nil
}
