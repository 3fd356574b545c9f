package vcs

import (
	"io"
	"path"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// cmdLsFiles is git ls-files.
func (g *git) cmdLsFiles(args []string) error {
	p, err := g.parse(args, "c,cached d,deleted m,modified o,others i,ignored s,stage u,unmerged z t v exclude-standard x,exclude= directory error-unmatch full-name deduplicate no-empty-directory")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	args = p.operands
	if len(args) == 0 && r.prefix != "" {
		args = []string{"."}
	}
	specs, err := r.pathspecs(args)
	if err != nil {
		return err
	}
	hit := map[string]bool{}
	show := func(tag, name string) {
		end := "\n"
		text := name
		if !p.has("full-name") {
			text = r.relative(strings.TrimSuffix(name, "/"))
			if strings.HasSuffix(name, "/") {
				text += "/"
			}
		}
		if p.has("z") {
			end = "\x00"
		} else {
			text = r.quoteName(text)
		}
		if p.has("t") || p.has("v") {
			text = tag + " " + text
		}
		r.printf("%s%s", text, end)
		for i := range specs {
			if specs[i].match(strings.TrimSuffix(name, "/")) {
				hit[specs[i].given] = true
			}
		}
	}
	if p.has("others") || p.has("ignored") && !p.has("cached") {
		if err := r.lsOthers(ix, specs, p, show); err != nil {
			return err
		}
	}
	if err := r.lsTracked(ix, specs, p, show); err != nil {
		return err
	}
	if p.has("error-unmatch") {
		for _, s := range specs {
			if !hit[s.given] {
				g.complain("error: pathspec '" + s.given + "' did not match any file(s) known to git\nDid you forget to 'git add'?")
				return status(1)
			}
		}
	}
	return nil
}

func (r *repo) lsOthers(ix *stageIndex, specs pathspecs, p *parsed, show func(tag, name string)) error {
	s := r.newScan(ix, specs)
	s.all, s.noRules, s.ignored = !p.has("directory"), !p.has("exclude-standard"), p.has("ignored")
	var rules ignores
	if !s.noRules {
		rules = r.baseIgnores()
	}
	for _, x := range p.all("exclude") {
		rules = append(rules, parseRule(x))
	}
	if err := s.walk("", rules); err != nil {
		return err
	}
	names := s.untracked
	if p.has("ignored") {
		names = s.skipped
	}
	for _, n := range names {
		show("?", n)
	}
	return nil
}

func (r *repo) lsTracked(ix *stageIndex, specs pathspecs, p *parsed, show func(tag, name string)) error {
	others := p.has("others") || p.has("deleted") || p.has("modified")
	last := ""
	for _, e := range ix.Entries {
		if !specs.match(e.Name) || p.has("unmerged") && e.Stage == 0 {
			continue
		}
		if p.has("stage") || p.has("unmerged") {
			name, end := r.quoteName(r.relative(e.Name)), "\n"
			if p.has("z") {
				name, end = r.relative(e.Name), "\x00"
			}
			r.printf("%06o %s %d\t%s%s", uint32(e.Mode), e.Hash, e.Stage, name, end)
			continue
		}
		if p.has("cached") || !others {
			tag := "H"
			if e.Stage != 0 {
				tag = "M"
			}
			if last != e.Name || !p.has("deduplicate") {
				show(tag, e.Name)
			}
			last = e.Name
		}
		if p.has("deleted") || p.has("modified") {
			st, _, err := r.workState(ix, e)
			if err != nil {
				return err
			}
			if st == 'D' && p.has("deleted") {
				show("R", e.Name)
			}
			if st != 0 && p.has("modified") {
				show("C", e.Name)
			}
		}
	}
	return nil
}

// cmdClean is git clean.
func (g *git) cmdClean(args []string) error {
	p, err := g.parse(args, "q,quiet n,dry-run f,force d x X e,exclude= i,interactive")
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	if p.has("interactive") {
		return fatal("--interactive needs a terminal")
	}
	if !p.has("force") && !p.has("dry-run") && r.cfg.flag("clean.requireforce", true) {
		word := "defaults to true"
		if r.cfg.get("clean.requireforce") != "" {
			word = "set to true"
		}
		return fatalf("clean.requireForce %s and neither -i, -n, nor -f given; refusing to clean", word)
	}
	args = p.operands
	if len(args) == 0 && r.prefix != "" {
		args = []string{"."}
	}
	specs, err := r.pathspecs(args)
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	s := r.newScan(ix, specs)
	s.ignored, s.noRules = p.has("X"), p.has("x")
	rules := ignores(nil)
	if !s.noRules {
		rules = r.baseIgnores()
	}
	for _, x := range p.all("exclude") {
		rules = append(rules, parseRule(x))
	}
	if err := s.walk("", rules); err != nil {
		return err
	}
	names := s.untracked
	if p.has("X") {
		names = s.skipped
	}
	empty, err := r.emptyDirs(ix, specs, rules, "", p.has("X"))
	if err != nil {
		return err
	}
	names = append(names, empty...)
	sort.Strings(names)
	for _, name := range names {
		if err := r.cleanOne(name, p, specs); err != nil {
			return err
		}
	}
	return nil
}

// cleanOne removes an untracked file, or with -d a directory.
func (r *repo) cleanOne(name string, p *parsed, specs pathspecs) error {
	dir := strings.HasSuffix(name, "/")
	named := false
	for i := range specs {
		named = named || strings.HasPrefix(strings.TrimSuffix(name, "/")+"/", specs[i].pattern+"/") && specs[i].pattern != ""
	}
	if dir && !p.has("d") && !named {
		return nil
	}
	if dir && r.isGitDir(r.abs(name+".git")) {
		if p.has("dry-run") {
			r.printf("Would skip repository %s\n", r.workDirName(name))
		}
		return nil
	}
	if p.has("dry-run") {
		r.printf("Would remove %s\n", r.workDirName(name))
		return nil
	}
	if !p.has("quiet") {
		r.printf("Removing %s\n", r.workDirName(name))
	}
	if dir {
		return r.removeAll(r.abs(strings.TrimSuffix(name, "/")))
	}
	return r.FS.Unlink(r.abs(name))
}

// removeAll removes a directory with all that is in it.
func (r *repo) removeAll(dir string) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	es, err := r.FS.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range es {
		p := path.Join(dir, e.Name)
		if a, err := r.FS.Lstat(p); err == nil && a.IsDir() {
			err = r.removeAll(p)
			if err != nil {
				return err
			}
		} else if err := r.FS.Unlink(p); err != nil {
			return err
		}
	}
	return r.FS.Rmdir(dir)
}

// emptyDirs finds directories without any file in them, which git clean -d
// removes too.
func (r *repo) emptyDirs(ix *stageIndex, specs pathspecs, rules ignores, dir string, none bool) ([]string, error) {
	if none {
		return nil, nil
	}
	es, err := r.FS.ReadDir(r.abs(dir))
	if err != nil {
		return nil, err
	}
	var found []string
	for _, e := range es {
		name := path.Join(dir, e.Name)
		a, err := r.FS.Lstat(r.abs(name))
		if err != nil || !a.IsDir() || e.Name == ".git" || rules.match(name, true) || !specs.below(name) {
			continue
		}
		sub, err := r.FS.ReadDir(r.abs(name))
		if err != nil {
			return nil, err
		}
		if len(sub) == 0 && specs.match(name) {
			found = append(found, name+"/")
			continue
		}
		if ix.hasBelow(name) {
			more, err := r.emptyDirs(ix, specs, rules, name, none)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	return found, nil
}

// cmdCatFile is git cat-file.
func (g *git) cmdCatFile(args []string) error {
	p, err := g.parse(args, "t s p e batch? batch-check?")
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
	rev := p.operands[len(p.operands)-1]
	h, ok := r.resolve(rev)
	if !ok || r.st.HasEncodedObject(h) != nil {
		if p.has("e") && ok {
			return status(1)
		}
		return fatalf("Not a valid object name %s", rev)
	}
	if p.has("e") {
		return nil
	}
	t, b, err := r.load(h)
	if err != nil {
		return err
	}
	switch {
	case p.has("t"):
		r.printf("%s\n", t)
	case p.has("s"):
		r.printf("%d\n", len(b))
	case t == plumbing.TreeObject && p.has("p"):
		return r.printTree(h, "", &treeForm{})
	default:
		r.Stdout.Write(b)
	}
	return nil
}

// treeForm is how a tree is listed.
type treeForm struct {
	recurse, trees, nameOnly, long, nul, dirs bool
	specs                                     pathspecs
}

// cmdLsTree is git ls-tree.
func (g *git) cmdLsTree(args []string) error {
	p, err := g.parse(args, "d r t l,long z name-only name-status full-name full-tree abbrev?")
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
	h, ok := r.resolve(p.operands[0])
	if !ok {
		return fatalf("Not a valid object name %s", p.operands[0])
	}
	t, err := r.treeOf(h)
	if err != nil {
		return fatal("not a tree object")
	}
	f := &treeForm{recurse: p.has("r"), trees: p.has("t"), nameOnly: p.has("name-only") || p.has("name-status"), long: p.has("long"), nul: p.has("z"), dirs: p.has("d")}
	if f.specs, err = r.pathspecs(p.operands[1:]); err != nil {
		return err
	}
	for _, a := range p.operands[1:] {
		if strings.HasSuffix(a, "/") {
			f.specs = append(f.specs, pathspec{pattern: path.Clean(a) + "/*", glob: true})
		}
	}
	return r.printTree(t.Hash, "", f)
}

func (r *repo) printTree(h plumbing.Hash, prefix string, f *treeForm) error {
	t, err := object.GetTree(r.st, h)
	if err != nil {
		return fatal("not a tree object")
	}
	end := "\n"
	if f.nul {
		end = "\x00"
	}
	for _, e := range t.Entries {
		name := prefix + e.Name
		kind := "blob"
		switch e.Mode {
		case filemode.Dir:
			kind = "tree"
		case filemode.Submodule:
			kind = "commit"
		}
		deeper := kind == "tree" && (f.recurse || !f.specs.match(name)) && f.specs.below(name)
		if f.specs.match(name) && (!deeper || f.trees || f.dirs) && (!f.dirs || kind == "tree") {
			shown := name
			if !f.nul {
				shown = r.quoteName(name)
			}
			switch {
			case f.nameOnly:
				r.printf("%s%s", shown, end)
			case f.long:
				size := "-"
				if kind == "blob" {
					if n, err := r.st.EncodedObjectSize(e.Hash); err == nil {
						size = itoa(n)
					}
				}
				r.printf("%06o %s %s %7s\t%s%s", uint32(e.Mode), kind, e.Hash, size, shown, end)
			default:
				r.printf("%06o %s %s\t%s%s", uint32(e.Mode), kind, e.Hash, shown, end)
			}
		}
		if deeper {
			if err := r.printTree(e.Hash, name+"/", f); err != nil {
				return err
			}
		}
	}
	return nil
}

// cmdHashObject is git hash-object.
func (g *git) cmdHashObject(args []string) error {
	p, err := g.parse(args, "w t= stdin no-filters literally path=")
	if err != nil {
		return err
	}
	t := plumbing.BlobObject
	if p.given("t") {
		if t, err = plumbing.ParseObjectType(p.get("t")); err != nil {
			return fatalf("invalid object type \"%s\"", p.get("t"))
		}
	}
	hash := func(b []byte) error {
		h := plumbing.ComputeHash(t, b)
		if p.has("w") {
			r, err := g.open()
			if err != nil {
				return err
			}
			if h, err = r.store(t, b); err != nil {
				return err
			}
		}
		g.printf("%s\n", h)
		return nil
	}
	if p.has("stdin") {
		b, err := io.ReadAll(io.LimitReader(g.Stdin, maxBlob))
		if err == nil {
			err = hash(b)
		}
		if err != nil {
			return err
		}
	}
	for _, name := range p.operands {
		b, err := g.FS.ReadFile(name, maxBlob)
		if err != nil {
			return fatalf("could not open '%s' for reading: %v", name, err)
		}
		if err := hash(b); err != nil {
			return err
		}
	}
	return nil
}

// cmdWriteTree is git write-tree.
func (g *git) cmdWriteTree([]string) error {
	r, err := g.open()
	if err != nil {
		return err
	}
	ix, err := r.readIndex()
	if err != nil {
		return err
	}
	h, err := r.writeTree(ix)
	if err == nil {
		g.printf("%s\n", h)
	}
	return err
}
