package vcs

import (
	"path"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

func sortRefs(refs []namedRef) {
	sort.Slice(refs, func(i, j int) bool { return refs[i].name < refs[j].name })
}

func sortedKeys(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// cmdRemote is git remote.
func (g *git) cmdRemote(args []string) error {
	r, err := g.open()
	if err != nil {
		return err
	}
	p, err := g.parse(args, "v,verbose f t= m= tags mirror? push all n p,prune add delete")
	if err != nil {
		return err
	}
	ops := p.operands
	if len(ops) == 0 {
		for _, n := range r.remotes() {
			if !p.has("verbose") {
				g.printf("%s\n", n)
				continue
			}
			fetch, _ := r.remoteURL(n, false)
			push, _ := r.remoteURL(n, true)
			g.printf("%s\t%s (fetch)\n%s\t%s (push)\n", n, fetch, n, push)
		}
		return nil
	}
	what, ops := ops[0], ops[1:]
	known := func(name string) error {
		for _, n := range r.remotes() {
			if n == name {
				return nil
			}
		}
		colon := ""
		if what == "remove" || what == "rm" {
			colon = ":"
		}
		g.complain("error: No such remote" + colon + " '" + name + "'")
		return status(2)
	}
	need := func(n int) error {
		if len(ops) != n {
			return g.usage("")
		}
		if what == "add" {
			return nil
		}
		return known(ops[0])
	}
	switch what {
	case "add":
		if err := need(2); err != nil {
			return err
		}
		if !validRef("refs/remotes/" + ops[0] + "/x") {
			return fatalf("'%s' is not a valid remote name", ops[0])
		}
		for _, n := range r.remotes() {
			if n == ops[0] {
				g.complain("error: remote " + ops[0] + " already exists.")
				return status(3)
			}
		}
		return r.addRemote(ops[0], ops[1])
	case "remove", "rm":
		if len(ops) == 1 && known(ops[0]) == nil {
			return r.dropRemote(ops[0])
		}
		if len(ops) != 1 {
			return g.usage("")
		}
		return status(2)
	case "rename":
		if err := need(2); err != nil {
			return err
		}
		return r.renameRemote(ops[0], ops[1])
	case "get-url":
		if err := need(1); err != nil {
			return err
		}
		u, _ := r.remoteURL(ops[0], p.has("push"))
		g.printf("%s\n", u)
		return nil
	case "set-url":
		if err := need(2); err != nil {
			return err
		}
		key := "url"
		if p.has("push") {
			key = "pushurl"
		}
		return r.editConfig(r.common+"/config", func(f *configFile) error { return f.set("remote."+ops[0]+"."+key, ops[1]) })
	case "show", "prune", "update", "set-head", "set-branches":
		return fatalf("remote %s is not supported", what)
	}
	g.complain("error: unknown subcommand: `" + what + "'")
	return g.usage("")
}

func (r *repo) addRemote(name, url string) error {
	return r.editConfig(r.common+"/config", func(f *configFile) error {
		if err := f.set("remote."+name+".url", url); err != nil {
			return err
		}
		return f.add("remote."+name+".fetch", "+refs/heads/*:refs/remotes/"+name+"/*")
	})
}

func (r *repo) dropRemote(name string) error {
	it, err := r.st.IterReferences()
	if err != nil {
		return err
	}
	var gone []string
	if err := it.ForEach(func(ref *plumbing.Reference) error {
		if strings.HasPrefix(string(ref.Name()), "refs/remotes/"+name+"/") {
			gone = append(gone, string(ref.Name()))
		}
		return nil
	}); err != nil {
		return err
	}
	for _, n := range gone {
		if err := r.removeRef(n); err != nil {
			return err
		}
	}
	return r.editConfig(r.common+"/config", func(f *configFile) error {
		if err := f.removeSection("remote."+name, false); err != nil {
			return err
		}
		for i := 0; i < len(f.entries); i++ {
			e := f.entries[i]
			if e.key == "remote" && e.value == name && strings.HasPrefix(e.section, "branch.") {
				if err := f.removeSection(e.section, false); err != nil {
					return err
				}
				i = -1
			}
		}
		return nil
	})
}

func (r *repo) renameRemote(from, to string) error {
	if !validRef("refs/remotes/" + to + "/x") {
		return fatalf("'%s' is not a valid remote name", to)
	}
	it, err := r.st.IterReferences()
	if err != nil {
		return err
	}
	var refs []*plumbing.Reference
	if err := it.ForEach(func(ref *plumbing.Reference) error {
		if strings.HasPrefix(string(ref.Name()), "refs/remotes/"+from+"/") {
			refs = append(refs, ref)
		}
		return nil
	}); err != nil {
		return err
	}
	moved := func(s string) plumbing.ReferenceName {
		return plumbing.ReferenceName(strings.Replace(s, "refs/remotes/"+from+"/", "refs/remotes/"+to+"/", 1))
	}
	for _, ref := range refs {
		n := plumbing.NewHashReference(moved(string(ref.Name())), ref.Hash())
		if ref.Type() == plumbing.SymbolicReference {
			n = plumbing.NewSymbolicReference(moved(string(ref.Name())), moved(string(ref.Target())))
		}
		if err := r.removeRef(string(ref.Name())); err != nil {
			return err
		}
		if err := r.st.SetReference(n); err != nil {
			return err
		}
	}
	return r.editConfig(r.common+"/config", func(f *configFile) error {
		for _, h := range f.headers {
			if h.section == "remote."+from {
				f.lines[h.from] = header("remote." + to)
			}
		}
		for _, e := range f.entries {
			switch {
			case e.section == "remote."+from && e.key == "fetch":
				f.lines[e.from] = "\tfetch = " + strings.Replace(e.value, "refs/remotes/"+from+"/", "refs/remotes/"+to+"/", 1)
			case strings.HasPrefix(e.section, "branch.") && e.key == "remote" && e.value == from:
				f.lines[e.from] = "\tremote = " + to
			}
		}
		return f.index()
	})
}

// cmdClone is git clone.
func (g *git) cmdClone(args []string) error {
	p, err := g.parse(args, `q,quiet v,verbose progress no-progress n,no-checkout bare mirror b,branch= o,origin= depth= single-branch no-single-branch
 recurse-submodules? recursive? l,local no-hardlinks s,shared c,config= no-tags tags filter= shallow-since= reference= template= j,jobs= no-local separate-git-dir=`)
	if err != nil {
		return err
	}
	if len(p.operands) == 0 {
		return fatal("You must specify a repository to clone.")
	}
	url := p.operands[0]
	bare := p.has("bare") || p.has("mirror")
	name := strings.TrimSuffix(path.Base(strings.TrimSuffix(strings.TrimRight(url, "/"), "/.git")), ".git")
	if bare {
		name += ".git"
	}
	if len(p.operands) > 1 {
		name = p.operands[1]
	}
	dir := path.Clean(g.Abs(name))
	existed := false
	if es, err := g.FS.ReadDir(dir); err == nil {
		existed = true
		if len(es) > 0 {
			return fatalf("destination path '%s' already exists and is not an empty directory.", name)
		}
	}
	if !strings.Contains(url, "://") {
		if _, err := g.openPath(url); err != nil {
			if _, e := g.FS.Stat(url); e != nil {
				return fatalf("repository '%s' does not exist", url)
			}
			return err
		}
		url = path.Clean(g.Abs(url))
	}
	c := &cloner{git: g, p: p, url: url, name: name, dir: dir, bare: bare}
	if err := c.run(); err != nil {
		if !existed {
			if r := (&repo{git: g}); r.FS != nil {
				if e := r.removeAll(dir); e != nil && !absent(e) {
					g.complain("warning: " + e.Error())
				}
			}
		}
		return err
	}
	return nil
}

// cloner makes one clone.
type cloner struct {
	*git
	p              *parsed
	url, name, dir string
	bare           bool
}

func (c *cloner) run() error {
	quiet := c.p.has("quiet")
	if !quiet {
		word := "Cloning into"
		if c.bare {
			word = "Cloning into bare repository"
		}
		c.complain(word + " '" + c.name + "'...")
	}
	gitDir := path.Join(c.dir, ".git")
	if c.bare {
		gitDir = c.dir
	}
	r, err := c.makeRepo(gitDir, c.bare, "master")
	if err != nil {
		return err
	}
	m, err := r.dial(c.url)
	if err != nil {
		return err
	}
	defer m.close()
	if err := m.advertise(false); err != nil {
		return err
	}
	origin := "origin"
	if c.p.given("origin") {
		origin = c.p.get("origin")
	}
	if err := c.configure(r, origin); err != nil {
		return err
	}
	if err := c.takeRefs(r, m, origin); err != nil {
		return err
	}
	if !quiet && m.other != nil && len(m.refs) > 0 {
		c.complain("done.")
	}
	return c.checkout(r, m, origin)
}

func (c *cloner) configure(r *repo, origin string) error {
	err := r.editConfig(r.dir+"/config", func(f *configFile) error {
		if err := f.set("remote."+origin+".url", c.url); err != nil {
			return err
		}
		if !c.bare {
			return f.add("remote."+origin+".fetch", "+refs/heads/*:refs/remotes/"+origin+"/*")
		}
		if c.p.has("mirror") {
			if err := f.add("remote."+origin+".fetch", "+refs/*:refs/*"); err != nil {
				return err
			}
			return f.set("remote."+origin+".mirror", "true")
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, kv := range c.p.all("config") {
		k, v, _ := strings.Cut(kv, "=")
		if err := r.editConfig(r.dir+"/config", func(f *configFile) error { return f.set(k, v) }); err != nil {
			return err
		}
	}
	return nil
}

// takeRefs fetches everything and sets the references.
func (c *cloner) takeRefs(r *repo, m *remote, origin string) error {
	if r.cfg, _ = r.openConfig(); r.cfg == nil {
		return fatal("cannot read the new configuration")
	}
	var wants []plumbing.Hash
	type target struct {
		name string
		hash plumbing.Hash
	}
	var refs []target
	for _, ref := range m.refs {
		switch {
		case strings.HasPrefix(ref.name, "refs/heads/"):
			name := ref.name
			if !c.bare {
				name = "refs/remotes/" + origin + "/" + branchName(ref.name)
			}
			refs = append(refs, target{name, ref.hash})
		case strings.HasPrefix(ref.name, "refs/tags/") && !c.p.has("no-tags"), c.p.has("mirror") && strings.HasPrefix(ref.name, "refs/"):
			refs = append(refs, target{ref.name, ref.hash})
		default:
			continue
		}
		wants = append(wants, ref.hash)
	}
	if err := m.fetchObjects(wants); err != nil {
		return err
	}
	for _, t := range refs {
		if err := r.setRef(t.name, t.hash, "clone: from "+c.url); err != nil {
			return err
		}
	}
	return nil
}

// openConfig reads the configuration of this repository anew.
func (r *repo) openConfig() (*settings, error) {
	g := *r.git
	g.gitDir = r.dir
	return g.config()
}

// checkout makes the branch of the clone and its files.
func (c *cloner) checkout(r *repo, m *remote, origin string) error {
	branch := m.head
	if b := c.p.get("branch"); b != "" {
		branch = "refs/heads/" + b
		found := false
		for _, ref := range m.refs {
			if ref.name == branch {
				found = true
			}
			if ref.name == "refs/tags/"+b && !found {
				return c.detached(r, ref.hash)
			}
		}
		if !found {
			return fatalf("Remote branch %s not found in upstream %s", b, origin)
		}
	}
	var at plumbing.Hash
	for _, ref := range m.refs {
		if ref.name == branch && branch != "" {
			at = ref.hash
		}
	}
	if at.IsZero() {
		if len(m.refs) == 0 {
			c.complain("warning: You appear to have cloned an empty repository.")
			if !c.p.has("quiet") && m.other != nil {
				c.complain("done.")
			}
		} else if branch != "" {
			c.complain("warning: remote HEAD refers to nonexistent ref, unable to checkout")
		} else if m.refs[0].name == "HEAD" {
			return c.detached(r, m.refs[0].hash)
		}
		if branch != "" {
			if err := r.attach(branch, plumbing.ZeroHash, ""); err != nil || c.bare {
				return err
			}
			return c.follow(r, origin, branch)
		}
		return nil
	}
	if err := r.st.SetReference(plumbing.NewSymbolicReference(plumbing.HEAD, plumbing.ReferenceName(branch))); err != nil {
		return err
	}
	if c.bare {
		return nil
	}
	if err := r.setRef(branch, at, "clone: from "+c.url); err != nil {
		return err
	}
	if m.head != "" {
		name := plumbing.ReferenceName("refs/remotes/" + origin + "/HEAD")
		if err := r.st.SetReference(plumbing.NewSymbolicReference(name, plumbing.ReferenceName("refs/remotes/"+origin+"/"+branchName(m.head)))); err != nil {
			return err
		}
	}
	if err := c.follow(r, origin, branch); err != nil {
		return err
	}
	return c.files(r, at)
}

// follow makes the branch follow the one that it was cloned from.
func (c *cloner) follow(r *repo, origin, branch string) error {
	short := branchName(branch)
	return r.editConfig(r.dir+"/config", func(f *configFile) error {
		if err := f.set("branch."+short+".remote", origin); err != nil {
			return err
		}
		return f.set("branch."+short+".merge", branch)
	})
}

func (c *cloner) detached(r *repo, h plumbing.Hash) error {
	k, err := r.peelCommit(h)
	if err != nil {
		return err
	}
	if err := r.attach("", k.Hash, "clone: from "+c.url); err != nil {
		return err
	}
	if c.p.has("quiet") || c.bare {
		return c.files(r, k.Hash)
	}
	c.complain("Note: switching to '" + k.Hash.String() + "'.\n\n" + detachedAdvice)
	return c.files(r, k.Hash)
}

func (c *cloner) files(r *repo, h plumbing.Hash) error {
	if c.p.has("no-checkout") || c.bare {
		return nil
	}
	k, err := r.commit(h)
	if err != nil {
		return err
	}
	files, err := r.flatten(k.TreeHash)
	if err != nil {
		return err
	}
	ix := newIndex()
	if err := r.switchTree(ix, nil, files, false, "checkout"); err != nil {
		return err
	}
	return r.writeIndex(ix)
}
