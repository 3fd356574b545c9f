package vcs

import (
	"fmt"
	"path"
	"sort"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
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

// cmdShowRef is git show-ref.
func (g *git) cmdShowRef(args []string) error {
	p, err := g.parse(args, "head heads tags verify q,quiet s,hash? d,dereference")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	refs := r.allRefs("refs/")
	if _, h, born := r.head(); born && (p.has("head") || p.has("verify")) {
		refs = append([]namedRef{{"HEAD", h}}, refs...)
	}
	found := 0
	for _, ref := range refs {
		if p.has("heads") && !strings.HasPrefix(ref.name, "refs/heads/") || p.has("tags") && !strings.HasPrefix(ref.name, "refs/tags/") {
			continue
		}
		ok := len(p.operands) == 0
		for _, o := range p.operands {
			ok = ok || ref.name == o || !p.has("verify") && strings.HasSuffix(ref.name, "/"+o)
		}
		if !ok {
			continue
		}
		found++
		switch {
		case p.has("quiet"):
		case p.has("hash"):
			g.printf("%s\n", ref.hash)
		default:
			g.printf("%s %s\n", ref.hash, ref.name)
		}
		if p.has("dereference") {
			if h, _, err := r.peel(ref.hash); err == nil && h != ref.hash && !p.has("quiet") {
				g.printf("%s %s^{}\n", h, ref.name)
			}
		}
	}
	if found == 0 {
		if p.has("verify") && !p.has("quiet") && len(p.operands) > 0 {
			return fatalf("'%s' - not a valid ref", p.operands[0])
		}
		return status(1)
	}
	return nil
}

// cmdUpdateRef is git update-ref.
func (g *git) cmdUpdateRef(args []string) error {
	p, err := g.parse(args, "d m= no-deref create-reflog stdin z")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	if len(p.operands) == 0 || p.has("stdin") {
		return g.usage("")
	}
	name := p.operands[0]
	if name != "HEAD" && (!validRef(name) || !strings.HasPrefix(name, "refs/")) {
		return fatalf("invalid ref format: %s", name)
	}
	if p.has("d") {
		return r.removeRef(name)
	}
	if len(p.operands) < 2 {
		return g.usage("")
	}
	h, ok := r.resolve(p.operands[1])
	if !ok {
		return fatalf("%s: not a valid SHA1", p.operands[1])
	}
	if len(p.operands) > 2 {
		old, ok := r.resolve(p.operands[2])
		if cur, _ := r.ref(name); ok && cur != old {
			return fatalf("update_ref failed for ref '%s': cannot lock ref '%s': is at %s but expected %s", name, name, cur, old)
		}
	}
	return r.setRef(name, h, p.get("m"))
}

// cmdTag is git tag.
func (g *git) cmdTag(args []string) error {
	p, err := g.parse(args, `a,annotate s,sign m,message= F,file= d,delete l,list n? f,force contains~ merged~ no-contains~ no-merged~ points-at= sort= format= i,ignore-case
 no-sign cleanup= e,edit column? no-column v,verify`)
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	switch {
	case p.has("delete"):
		return r.deleteTags(p.operands)
	case p.has("list") || len(p.operands) == 0 || p.given("contains") || p.given("points-at") || p.given("merged"):
		return r.listTags(p)
	case len(p.operands) > 2:
		return fatal("too many arguments")
	}
	name, rev := p.operands[0], "HEAD"
	if len(p.operands) > 1 {
		rev = p.operands[1]
	}
	full := "refs/tags/" + name
	if !validRef(full) || strings.HasPrefix(name, "-") {
		return fatalf("'%s' is not a valid tag name.", name)
	}
	h, ok := r.resolve(rev)
	if !ok {
		return fatalf("Failed to resolve '%s' as a valid ref.", rev)
	}
	old, exists := r.ref(full)
	if exists && !p.has("force") {
		return fatalf("tag '%s' already exists", name)
	}
	if p.has("sign") {
		return fatal("signing is not supported")
	}
	if p.has("annotate") || p.given("message") || p.given("file") {
		if h, err = r.annotate(name, h, p); err != nil {
			return err
		}
	}
	if err := r.setRef(full, h, ""); err != nil {
		return err
	}
	if exists && old != h {
		g.printf("Updated tag '%s' (was %s)\n", name, r.short(old))
	}
	return nil
}

// annotate stores a tag object.
func (r *repo) annotate(name string, h plumbing.Hash, p *parsed) (plumbing.Hash, error) {
	text := strings.Join(p.all("message"), "\n\n")
	if p.given("file") {
		var err error
		if text, err = r.readText(p.get("file")); err != nil {
			return h, err
		}
	} else if !p.given("message") {
		r.complain("error: Terminal is dumb, but EDITOR unset\nPlease supply the message using either -m or -F option.")
		return h, status(exitError)
	}
	who, err := r.signature("COMMITTER")
	if err != nil {
		return h, err
	}
	o, err := r.st.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return h, err
	}
	return r.encode(&object.Tag{Name: name, Tagger: who, Message: cleanMessage(text), TargetType: o.Type(), Target: h})
}

func (r *repo) deleteTags(names []string) error {
	failed := false
	for _, name := range names {
		h, ok := r.ref("refs/tags/" + name)
		if !ok || !validRef("refs/tags/"+name) {
			r.complain("error: tag '" + name + "' not found.")
			failed = true
			continue
		}
		if err := r.removeRef("refs/tags/" + name); err != nil {
			return err
		}
		r.printf("Deleted tag '%s' (was %s)\n", name, r.short(h))
	}
	if failed {
		return failure("")
	}
	return nil
}

func (r *repo) listTags(p *parsed) error {
	refs, err := r.selectRefs("refs/tags/", p)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		name := strings.TrimPrefix(ref.name, "refs/tags/")
		lines := 0
		if o, ok := p.last("n"); ok {
			if lines = 1; o.has {
				lines, _ = strconv.Atoi(o.arg)
			}
		}
		switch {
		case p.given("format"):
			r.printf("%s\n", r.refFormat(p.get("format"), ref))
		case lines > 0:
			text := strings.Split(strings.TrimRight(r.messageOf(ref.hash), "\n"), "\n")
			r.printf("%-15s %s\n", name, text[0])
			for _, l := range text[1:min(lines, len(text))] {
				r.printf("    %s\n", l)
			}
		default:
			r.printf("%s\n", name)
		}
	}
	return nil
}

// messageOf is the message of a tag or commit.
func (r *repo) messageOf(h plumbing.Hash) string {
	if t, err := object.GetTag(r.st, h); err == nil {
		return t.Message
	}
	if c, err := object.GetCommit(r.st, h); err == nil {
		return c.Message
	}
	return ""
}

// selectRefs lists references by pattern, --contains, --merged, --points-at
// and --sort.
func (r *repo) selectRefs(prefix string, p *parsed) ([]namedRef, error) {
	var kept []namedRef
	for _, ref := range r.allRefs(prefix) {
		short := strings.TrimPrefix(ref.name, prefix)
		ok := len(p.operands) == 0
		for _, pattern := range p.operands {
			s := pathspec{pattern: pattern, glob: true}
			ok = ok || s.match(short)
		}
		if !ok {
			continue
		}
		ok, err := r.refWanted(ref, p)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, ref)
		}
	}
	key := p.get("sort")
	desc := strings.HasPrefix(key, "-")
	key = strings.TrimPrefix(key, "-")
	when := func(ref namedRef) int64 {
		if t, err := object.GetTag(r.st, ref.hash); err == nil && key != "committerdate" {
			return t.Tagger.When.Unix()
		}
		if c, err := r.peelCommit(ref.hash); err == nil {
			return c.Committer.When.Unix()
		}
		return 0
	}
	less := func(a, b namedRef) bool { return a.name < b.name }
	switch strings.TrimPrefix(key, "version:") {
	case "committerdate", "creatordate", "taggerdate", "authordate":
		less = func(a, b namedRef) bool { return when(a) < when(b) }
	case "v:refname", "refname":
		if key != "refname" {
			less = func(a, b namedRef) bool { return versionLess(a.name, b.name) }
		}
	case "":
		return kept, nil
	default:
		return nil, fatalf("unknown field name: %s", key)
	}
	sort.SliceStable(kept, func(i, j int) bool {
		if desc {
			return less(kept[j], kept[i])
		}
		return less(kept[i], kept[j])
	})
	return kept, nil
}

func (r *repo) refWanted(ref namedRef, p *parsed) (bool, error) {
	if o, ok := p.last("points-at"); ok {
		h, found := r.resolve(o.arg)
		if !found {
			return false, failf("malformed object name '%s'", o.arg)
		}
		peeled, _, err := r.peel(ref.hash)
		return ref.hash == h || err == nil && peeled == h, nil
	}
	for _, name := range []string{"contains", "no-contains", "merged", "no-merged"} {
		o, ok := p.last(name)
		if !ok {
			continue
		}
		c, err := r.commitish(orHead(o.arg))
		if err != nil {
			return false, failf("malformed object name %s", o.arg)
		}
		rc, err := r.peelCommit(ref.hash)
		if err != nil {
			return false, nil
		}
		a, b := c.Hash, rc.Hash
		if strings.HasSuffix(name, "merged") {
			a, b = b, a
		}
		in, err := r.isAncestor(a, b)
		if err != nil || in == (strings.HasPrefix(name, "no-") || o.no) {
			return false, err
		}
	}
	return true, nil
}

// refFormat expands the fields of for-each-ref's --format.
func (r *repo) refFormat(format string, ref namedRef) string {
	var b strings.Builder
	for {
		i := strings.Index(format, "%(")
		if i < 0 {
			b.WriteString(format)
			return b.String()
		}
		b.WriteString(format[:i])
		field, rest, _ := strings.Cut(format[i+2:], ")")
		format = rest
		switch field {
		case "refname":
			b.WriteString(ref.name)
		case "refname:short":
			b.WriteString(shortRef(ref.name))
		case "objectname":
			b.WriteString(ref.hash.String())
		case "objectname:short":
			b.WriteString(r.short(ref.hash))
		case "objecttype":
			if o, err := r.st.EncodedObject(plumbing.AnyObject, ref.hash); err == nil {
				b.WriteString(o.Type().String())
			}
		case "subject", "contents:subject":
			b.WriteString(subject(r.messageOf(ref.hash)))
		case "contents":
			b.WriteString(r.messageOf(ref.hash))
		case "HEAD":
			if branch, _, _ := r.head(); branch == ref.name {
				b.WriteByte('*')
			} else {
				b.WriteByte(' ')
			}
		case "upstream":
			b.WriteString(r.upstream(branchName(ref.name)))
		case "upstream:short":
			b.WriteString(shortRef(r.upstream(branchName(ref.name))))
		default:
			b.WriteString(r.commitField(field, ref.hash))
		}
	}
}

func (r *repo) commitField(field string, h plumbing.Hash) string {
	c, err := r.peelCommit(h)
	if err != nil {
		return ""
	}
	name, mode, _ := strings.Cut(field, ":")
	switch name {
	case "authorname":
		return c.Author.Name
	case "authoremail":
		return "<" + c.Author.Email + ">"
	case "committername":
		return c.Committer.Name
	case "authordate":
		return r.formatDate(c.Author.When, mode)
	case "committerdate", "creatordate":
		return r.formatDate(c.Committer.When, mode)
	}
	return ""
}

// cmdDescribe is git describe.
func (g *git) cmdDescribe(args []string) error {
	p, err := g.parse(args, "tags all long abbrev= always dirty? exact-match match= first-parent contains candidates= broken? exclude=")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	rev := "HEAD"
	if len(p.operands) > 0 {
		rev = p.operands[0]
	}
	h, ok := r.resolve(rev)
	if !ok {
		return fatalf("Not a valid object name %s", rev)
	}
	c, err := r.peelCommit(h)
	if err != nil {
		return err
	}
	text, err := r.describe(c, p)
	if err != nil {
		return err
	}
	if o, ok := p.last("dirty"); ok {
		rp, err := r.report(nil, "no", false, false)
		if err != nil {
			return err
		}
		if len(rp.changes) > 0 {
			if o.arg == "" {
				o.arg = "-dirty"
			}
			text += o.arg
		}
	}
	g.printf("%s\n", text)
	return nil
}

func (r *repo) describe(c *object.Commit, p *parsed) (string, error) {
	names := map[plumbing.Hash]string{}
	annotated := map[plumbing.Hash]bool{}
	for _, ref := range r.allRefs("refs/tags/") {
		t, _, err := r.peel(ref.hash)
		heavy := ref.hash != t
		if err != nil || !heavy && !p.has("tags") && !p.has("all") || annotated[t] && !heavy {
			continue
		}
		name := strings.TrimPrefix(ref.name, "refs/tags/")
		if m := p.get("match"); m != "" {
			if s := (pathspec{pattern: m, glob: true}); !s.match(name) {
				continue
			}
		}
		names[t], annotated[t] = name, heavy
	}
	w := r.newWalk([]plumbing.Hash{c.Hash}, nil)
	for {
		k, err := w.next()
		if err != nil {
			return "", err
		}
		if k == nil {
			break
		}
		name := names[k.Hash]
		if name == "" {
			if p.has("exact-match") {
				return "", fatalf("no tag exactly matches '%s'", c.Hash)
			}
			continue
		}
		if k.Hash == c.Hash && !p.has("long") || p.get("abbrev") == "0" {
			return name, nil
		}
		depth := 0
		for d := r.newWalk([]plumbing.Hash{c.Hash}, []plumbing.Hash{k.Hash}); ; depth++ {
			n, err := d.next()
			if err != nil {
				return "", err
			}
			if n == nil {
				break
			}
		}
		return fmt.Sprintf("%s-%d-g%s", name, depth, r.short(c.Hash)), nil
	}
	if p.has("always") {
		return r.short(c.Hash), nil
	}
	return "", fatal("No names found, cannot describe anything.")
}
