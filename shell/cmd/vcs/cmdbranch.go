package vcs

import (
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
)

func versionLess(a, b string) bool { return gnulib.VersionCompare(a, b) < 0 }

// cmdBranch is git branch.
func (g *git) cmdBranch(args []string) error {
	p, err := g.parse(args, `a,all r,remotes d,delete D m,move M c,copy C l,list v,verbose f,force t,track? no-track u,set-upstream-to= unset-upstream
 show-current contains~ no-contains~ merged~ no-merged~ points-at= sort= format= q,quiet i,ignore-case column? no-column abbrev? color? no-color edit-description create-reflog`)
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	b := &branches{repo: r, p: p}
	b.current, b.at, b.born = r.head()
	ops := p.operands
	switch {
	case p.has("show-current"):
		if b.current != "" {
			g.printf("%s\n", branchName(b.current))
		}
		return nil
	case p.has("delete") || p.has("D"):
		return b.delete(ops)
	case p.has("move") || p.has("M") || p.has("copy") || p.has("C"):
		return b.move(ops)
	case p.given("set-upstream-to"):
		return b.follow(ops)
	case p.has("unset-upstream"):
		return b.unfollow(ops)
	case p.has("list") || len(ops) == 0 || p.given("contains") || p.given("merged") || p.given("no-merged") || p.given("points-at"):
		return b.list()
	case len(ops) > 2:
		return g.usage("")
	}
	start := "HEAD"
	if len(ops) > 1 {
		start = ops[1]
	}
	return b.create(ops[0], start)
}

// branches is one run of git branch.
type branches struct {
	*repo
	p       *parsed
	current string
	at      plumbing.Hash
	born    bool
}

// newBranch makes a branch and returns its full name.
func (r *repo) newBranch(name, start string, force bool) (string, plumbing.Hash, error) {
	full := "refs/heads/" + name
	if !validRef(full) || strings.HasPrefix(name, "-") || name == "HEAD" {
		return "", plumbing.ZeroHash, fatalf("'%s' is not a valid branch name", name)
	}
	_, exists := r.ref(full)
	if exists && !force {
		return "", plumbing.ZeroHash, fatalf("a branch named '%s' already exists", name)
	}
	h, ok := r.resolve(start)
	if !ok {
		if start == "HEAD" {
			branch, _, _ := r.head()
			return "", h, fatalf("not a valid object name: '%s'", branchName(branch))
		}
		return "", h, fatalf("not a valid object name: '%s'", start)
	}
	c, err := r.peelCommit(h)
	if err != nil {
		return "", h, err
	}
	for d := name; strings.Contains(d, "/"); {
		d = d[:strings.LastIndexByte(d, '/')]
		if _, ok := r.ref("refs/heads/" + d); ok {
			return "", h, fatalf("cannot lock ref '%s': 'refs/heads/%s' exists; cannot create '%s'", full, d, full)
		}
	}
	if below := r.allRefs(full + "/"); len(below) > 0 {
		return "", h, fatalf("cannot lock ref '%s': '%s' exists; cannot create '%s'", full, below[0].name, full)
	}
	word := "Created"
	if exists {
		word = "Reset to"
		return full, c.Hash, r.setRef(full, c.Hash, "branch: "+word+" "+start)
	}
	return full, c.Hash, r.setRef(full, c.Hash, "branch: "+word+" from "+start)
}

func (b *branches) create(name, start string) error {
	if b.p.has("force") && "refs/heads/"+name == b.current && b.work != "" {
		return fatalf("cannot force update the branch '%s' used by worktree at '%s'", name, b.work)
	}
	if _, _, err := b.newBranch(name, start, b.p.has("force")); err != nil {
		return err
	}
	if b.p.has("no-track") {
		return nil
	}
	return b.track(name, start, b.p.given("track"))
}

// track makes a branch follow the remote branch that it starts from.
func (r *repo) track(branch, start string, asked bool) error {
	full, _, ok := r.fullRef(start)
	if !ok || !strings.HasPrefix(full, "refs/remotes/") && !(asked && strings.HasPrefix(full, "refs/heads/")) {
		return nil
	}
	remote, merge := r.remoteOf(full)
	if remote == "" {
		return nil
	}
	if err := r.editConfig(r.common+"/config", func(f *configFile) error {
		if err := f.set("branch."+branch+".remote", remote); err != nil {
			return err
		}
		return f.set("branch."+branch+".merge", merge)
	}); err != nil {
		return err
	}
	r.printf("branch '%s' set up to track '%s'.\n", branch, shortRef(full))
	return nil
}

// remoteOf finds the remote and its branch that a tracking branch stands for.
func (r *repo) remoteOf(full string) (remote, merge string) {
	if strings.HasPrefix(full, "refs/heads/") {
		return ".", full
	}
	for _, name := range r.remotes() {
		for _, s := range r.cfg.all("remote." + name + ".fetch") {
			src, dst, ok := strings.Cut(strings.TrimPrefix(s, "+"), ":")
			if !ok {
				continue
			}
			if from, ok := mapRef(dst+":"+src, full); ok {
				return name, from
			}
		}
	}
	return "", ""
}

func (b *branches) delete(names []string) error {
	if len(names) == 0 {
		return fatal("branch name required")
	}
	prefix, word := "refs/heads/", "branch"
	if b.p.has("remotes") {
		prefix, word = "refs/remotes/", "remote-tracking branch"
	}
	failed := false
	for _, name := range names {
		full := prefix + name
		h, ok := b.ref(full)
		if !ok || !validRef(full) {
			b.complain("error: " + word + " '" + name + "' not found.")
			failed = true
			continue
		}
		if full == b.current && b.work != "" {
			b.complain("error: Cannot delete branch '" + name + "' checked out at '" + b.work + "'")
			failed = true
			continue
		}
		if !b.p.has("D") && !b.p.has("force") && prefix == "refs/heads/" {
			merged, err := b.merged(name, h)
			if err != nil {
				return err
			}
			if !merged {
				b.complain("error: The branch '" + name + "' is not fully merged.\nIf you are sure you want to delete it, run 'git branch -D " + name + "'.")
				failed = true
				continue
			}
		}
		if err := b.removeRef(full); err != nil {
			return err
		}
		if err := b.editConfig(b.common+"/config", func(f *configFile) error { return f.removeSection("branch."+name, false) }); err != nil {
			return err
		}
		if !b.p.has("quiet") {
			b.printf("Deleted %s %s (was %s).\n", word, name, b.short(h))
		}
	}
	if failed {
		return failure("")
	}
	return nil
}

// merged reports whether deleting a branch loses nothing.
func (b *branches) merged(name string, h plumbing.Hash) (bool, error) {
	into := b.at
	if up := b.upstream(name); up != "" {
		if u, ok := b.ref(up); ok {
			into = u
		}
	}
	if into.IsZero() {
		return false, nil
	}
	return b.isAncestor(h, into)
}

// move renames or copies a branch with its log and settings.
func (b *branches) move(names []string) error {
	var from, to string
	switch len(names) {
	case 1:
		if b.current == "" {
			return fatal("cannot rename the current branch while not on any.")
		}
		from, to = branchName(b.current), names[0]
	case 2:
		from, to = names[0], names[1]
	default:
		return fatal("branch name required")
	}
	src, dst := "refs/heads/"+from, "refs/heads/"+to
	if !validRef(dst) || strings.HasPrefix(to, "-") {
		return fatalf("'%s' is not a valid branch name", to)
	}
	force := b.p.has("M") || b.p.has("C") || b.p.has("force")
	h, ok := b.ref(src)
	if !ok {
		if src == b.current {
			return b.attach(dst, plumbing.ZeroHash, "")
		}
		return fatalf("no branch named '%s'", from)
	}
	if _, taken := b.ref(dst); taken && !force && src != dst {
		return fatalf("a branch named '%s' already exists", to)
	}
	copying := b.p.has("copy") || b.p.has("C")
	log := b.reflog(src)
	if !copying && src != dst {
		if err := b.removeRef(src); err != nil {
			return err
		}
	}
	if err := b.st.SetReference(plumbing.NewHashReference(plumbing.ReferenceName(dst), h)); err != nil {
		return err
	}
	if err := b.rewriteLog(dst, log); err != nil {
		return err
	}
	word := "renamed"
	if copying {
		word = "copied"
	}
	if err := b.writeLog(dst, h, h, "Branch: "+word+" "+src+" to "+dst); err != nil {
		return err
	}
	if src == b.current && !copying {
		if err := b.attach(dst, h, "Branch: renamed "+src+" to "+dst); err != nil {
			return err
		}
	}
	return b.editConfig(b.common+"/config", func(f *configFile) error {
		for i := range f.headers {
			if f.headers[i].section == "branch."+from && !copying {
				f.lines[f.headers[i].from] = header("branch." + to)
			}
		}
		return f.index()
	})
}

func (b *branches) named(names []string) string {
	if len(names) > 0 {
		return names[0]
	}
	return branchName(b.current)
}

func (b *branches) follow(names []string) error {
	branch, up := b.named(names), b.p.get("set-upstream-to")
	if _, ok := b.ref("refs/heads/" + branch); !ok {
		return fatalf("branch '%s' does not exist", branch)
	}
	if _, _, ok := b.fullRef(up); !ok {
		return fatalf("the requested upstream branch '%s' does not exist", up)
	}
	return b.track(branch, up, true)
}

func (b *branches) unfollow(names []string) error {
	branch := b.named(names)
	if b.upstream(branch) == "" {
		return fatalf("Branch '%s' has no upstream information", branch)
	}
	return b.editConfig(b.common+"/config", func(f *configFile) error {
		for _, key := range []string{".remote", ".merge"} {
			for found := f.find("branch." + branch + key); len(found) > 0; found = f.find("branch." + branch + key) {
				if err := f.unset(found[0]); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// row is a line of the list.
type row struct {
	ref  namedRef
	name string
	mark string
	to   string // target of a symbolic reference
}

func (b *branches) list() error {
	var rows []row
	if b.current == "" && b.born && !b.p.has("remotes") && !b.p.given("format") {
		rows = append(rows, row{ref: namedRef{"HEAD", b.at}, name: "(HEAD detached at " + b.detachedAt(b.at) + ")", mark: "* "})
	}
	add := func(prefix, lead string) error {
		refs, err := b.selectRefs(prefix, b.p)
		if err != nil {
			return err
		}
		for _, ref := range refs {
			w := row{ref: ref, name: lead + strings.TrimPrefix(ref.name, prefix), mark: "  "}
			if ref.name == b.current {
				w.mark = "* "
			}
			if s, err := b.st.Reference(plumbing.ReferenceName(ref.name)); err == nil && s.Type() == plumbing.SymbolicReference {
				w.to = shortRef(string(s.Target()))
			}
			rows = append(rows, w)
		}
		return nil
	}
	if !b.p.has("remotes") {
		if err := add("refs/heads/", ""); err != nil {
			return err
		}
	}
	if b.p.has("remotes") || b.p.has("all") {
		lead := ""
		if b.p.has("all") {
			lead = "remotes/"
		}
		if err := add("refs/remotes/", lead); err != nil {
			return err
		}
	}
	if b.p.given("sort") && b.p.has("all") {
		sort.SliceStable(rows, func(i, j int) bool { return false })
	}
	width := 0
	for _, w := range rows {
		width = max(width, len(w.name))
	}
	for _, w := range rows {
		b.row(w, width)
	}
	return nil
}

func (b *branches) row(w row, width int) {
	switch {
	case b.p.given("format"):
		b.printf("%s\n", b.refFormat(b.p.get("format"), w.ref))
	case w.to != "":
		b.printf("%s%s -> %s\n", w.mark, w.name, w.to)
	case b.p.has("verbose"):
		track := ""
		if strings.HasPrefix(w.ref.name, "refs/heads/") {
			track = b.trackNote(w.ref.name)
		}
		b.printf("%s%-*s %s %s%s\n", w.mark, width, w.name, b.short(w.ref.hash), track, subject(b.messageOf(w.ref.hash)))
	default:
		b.printf("%s%s\n", w.mark, w.name)
	}
}

// trackNote is what -v says of the upstream; -vv names it.
func (b *branches) trackNote(full string) string {
	up := b.upstream(branchName(full))
	if up == "" {
		return ""
	}
	verbose := 0
	for _, o := range b.p.options {
		if o.name == "verbose" {
			verbose++
		}
	}
	ahead, behind, ok := b.divergence(full, up)
	var note string
	switch {
	case !ok:
		note = "gone"
	case ahead > 0 && behind > 0:
		note = "ahead " + itoa(int64(ahead)) + ", behind " + itoa(int64(behind))
	case ahead > 0:
		note = "ahead " + itoa(int64(ahead))
	case behind > 0:
		note = "behind " + itoa(int64(behind))
	}
	if verbose > 1 {
		if note != "" {
			note = ": " + note
		}
		return "[" + shortRef(up) + note + "] "
	}
	if note == "" {
		return ""
	}
	return "[" + note + "] "
}
