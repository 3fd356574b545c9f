package vcs

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// refRules are where a short name is looked for, in order.
var refRules = []string{"%", "refs/%", "refs/tags/%", "refs/heads/%", "refs/remotes/%", "refs/remotes/%/HEAD"}

// pseudoRefs are files of the git directory that hold a hash.
var pseudoRefs = map[string]bool{"HEAD": true, "ORIG_HEAD": true, "FETCH_HEAD": true, "MERGE_HEAD": true, "CHERRY_PICK_HEAD": true, "REVERT_HEAD": true}

// ref reads a reference to its end.
func (r *repo) ref(name string) (plumbing.Hash, bool) {
	for range 5 {
		if pseudoRefs[name] && name != "HEAD" {
			text := r.readGitFile(name)
			if len(text) < 40 || !plumbing.IsHash(text[:40]) {
				return plumbing.ZeroHash, false
			}
			return plumbing.NewHash(text[:40]), true
		}
		ref, err := r.st.Reference(plumbing.ReferenceName(name))
		if err != nil {
			return plumbing.ZeroHash, false
		}
		if ref.Type() == plumbing.HashReference {
			return ref.Hash(), true
		}
		name = string(ref.Target())
	}
	return plumbing.ZeroHash, false
}

// fullRef finds the reference that a short name stands for.
func (r *repo) fullRef(short string) (string, plumbing.Hash, bool) {
	for _, rule := range refRules {
		name := strings.Replace(rule, "%", short, 1)
		if rule == "%" && !pseudoRefs[name] && !strings.HasPrefix(name, "refs/") {
			continue
		}
		if !validRef(name) {
			continue
		}
		if h, ok := r.ref(name); ok {
			return name, h, true
		}
	}
	return "", plumbing.ZeroHash, false
}

// validRef holds the rules of git check-ref-format, so that no name climbs out
// of the directory of references.
func validRef(name string) bool {
	if name == "" || name == "@" || strings.HasSuffix(name, ".") || strings.HasSuffix(name, "/") || strings.HasPrefix(name, "/") ||
		strings.Contains(name, "..") || strings.Contains(name, "//") || strings.Contains(name, "@{") {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == 0x7f || strings.IndexByte(" ~^:?*[\\", c) >= 0 {
			return false
		}
	}
	for _, part := range strings.Split(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return false
		}
	}
	return true
}

// head returns the branch that HEAD names ("" when detached) and its commit.
func (r *repo) head() (branch string, h plumbing.Hash, born bool) {
	ref, err := r.st.Reference(plumbing.HEAD)
	if err != nil {
		return "", plumbing.ZeroHash, false
	}
	if ref.Type() == plumbing.HashReference {
		return "", ref.Hash(), true
	}
	h, born = r.ref(string(ref.Target()))
	return string(ref.Target()), h, born
}

// branchName is the short name of a branch.
func branchName(full string) string { return strings.TrimPrefix(full, "refs/heads/") }

// shortRef is the short name of any reference.
func shortRef(full string) string {
	for _, p := range []string{"refs/heads/", "refs/tags/", "refs/remotes/", "refs/"} {
		if s, ok := strings.CutPrefix(full, p); ok {
			return s
		}
	}
	return full
}

// ambiguous is git's message for what names nothing.
func ambiguous(name string) error {
	return fatalf("ambiguous argument '%s': unknown revision or path not in the working tree.\n"+
		"Use '--' to separate paths from revisions, like this:\n'git <command> [<revision>...] -- [<file>...]'", name)
}

// resolve finds the object that a revision names.
func (r *repo) resolve(rev string) (plumbing.Hash, bool) {
	if base, file, ok := cutColon(rev); ok {
		return r.resolvePath(base, file)
	}
	base, ops := splitSuffix(rev)
	h, ok := r.resolveBase(base)
	for ok && ops != "" {
		h, ops, ok = r.step(h, ops)
	}
	return h, ok
}

// cutColon splits REV:PATH; a colon inside braces does not count.
func cutColon(rev string) (base, file string, ok bool) {
	depth := 0
	for i := range len(rev) {
		switch rev[i] {
		case '{':
			depth++
		case '}':
			depth--
		case ':':
			if depth == 0 {
				return rev[:i], rev[i+1:], true
			}
		}
	}
	return "", "", false
}

func (r *repo) resolvePath(base, file string) (plumbing.Hash, bool) {
	if strings.HasPrefix(file, "./") || strings.HasPrefix(file, "../") {
		file = path.Join(r.prefix, file)
	}
	if base == "" {
		stage := 0
		if len(file) > 1 && file[1] == ':' && file[0] >= '0' && file[0] <= '3' {
			stage, file = int(file[0]-'0'), file[2:]
		}
		ix, err := r.readIndex()
		if err != nil {
			return plumbing.ZeroHash, false
		}
		if e := ix.at(file, stage); e != nil {
			return e.Hash, true
		}
		return plumbing.ZeroHash, false
	}
	h, ok := r.resolve(base)
	if !ok {
		return h, false
	}
	tree, err := r.treeOf(h)
	if err != nil {
		return h, false
	}
	if file == "" {
		return tree.Hash, true
	}
	e, err := tree.FindEntry(path.Clean(file))
	if err != nil {
		return h, false
	}
	return e.Hash, true
}

// splitSuffix cuts the name from its ^, ~ and following operators.
func splitSuffix(rev string) (base, ops string) {
	if i := strings.IndexAny(rev, "^~"); i >= 0 {
		return rev[:i], rev[i:]
	}
	return rev, ""
}

func (r *repo) resolveBase(base string) (plumbing.Hash, bool) {
	if base == "" {
		return plumbing.ZeroHash, false
	}
	if base == "@" {
		base = "HEAD"
	}
	if i := strings.Index(base, "@{"); i >= 0 && strings.HasSuffix(base, "}") {
		return r.resolveAt(base[:i], base[i+2:len(base)-1])
	}
	if plumbing.IsHash(base) {
		return plumbing.NewHash(strings.ToLower(base)), true
	}
	if _, h, ok := r.fullRef(base); ok {
		return h, true
	}
	if m := describedAs.FindStringSubmatch(base); m != nil {
		base = m[1]
	}
	if len(base) >= 4 && len(base) < 40 && strings.Trim(strings.ToLower(base), "0123456789abcdef") == "" {
		found := r.withPrefix(strings.ToLower(base))
		if len(found) > 1 {
			found = r.onlyCommits(found)
		}
		if len(found) == 1 {
			return found[0], true
		}
	}
	return plumbing.ZeroHash, false
}

// describedAs is what git describe prints.
var describedAs = regexp.MustCompile(`-\d+-g([0-9a-f]{4,40})$`)

func (r *repo) onlyCommits(hs []plumbing.Hash) []plumbing.Hash {
	var kept []plumbing.Hash
	for _, h := range hs {
		if _, err := object.GetCommit(r.st, h); err == nil {
			kept = append(kept, h)
		}
	}
	return kept
}

// resolveAt answers NAME@{...}: an entry of the reflog, or the upstream.
func (r *repo) resolveAt(name, what string) (plumbing.Hash, bool) {
	full := "HEAD"
	if name == "" || name == "@" || name == "HEAD" {
		if b, _, _ := r.head(); b != "" && (name == "" || strings.HasPrefix(what, "u") || strings.HasPrefix(what, "push")) {
			full = b
		}
	} else {
		var ok bool
		if full, _, ok = r.fullRef(name); !ok {
			return plumbing.ZeroHash, false
		}
	}
	switch strings.ToLower(what) {
	case "u", "upstream", "push":
		up := r.upstream(branchName(full))
		h, ok := r.ref(up)
		return h, ok && up != ""
	}
	n, err := strconv.Atoi(what)
	if err != nil {
		return plumbing.ZeroHash, false
	}
	if n < 0 {
		b, ok := r.previousBranch(-n)
		if !ok {
			return plumbing.ZeroHash, false
		}
		return r.resolve(b)
	}
	log := r.reflog(full)
	if n < len(log) {
		return log[len(log)-1-n].to, true
	}
	if n == 0 {
		return r.ref(full)
	}
	if n == len(log) && n > 0 && !log[0].from.IsZero() {
		return log[0].from, true
	}
	return plumbing.ZeroHash, false
}

// previousBranch is the nth branch that was left, as @{-n}.
func (r *repo) previousBranch(n int) (string, bool) {
	log := r.reflog("HEAD")
	for i := len(log) - 1; i >= 0; i-- {
		rest, ok := strings.CutPrefix(log[i].message, "checkout: moving from ")
		if !ok {
			continue
		}
		if n--; n == 0 {
			from, _, _ := strings.Cut(rest, " to ")
			return from, true
		}
	}
	return "", false
}

// step applies the first operator of ops.
func (r *repo) step(h plumbing.Hash, ops string) (plumbing.Hash, string, bool) {
	op := ops[0]
	ops = ops[1:]
	if op == '^' && strings.HasPrefix(ops, "{") {
		end := strings.IndexByte(ops, '}')
		if end < 0 {
			return h, "", false
		}
		h, ok := r.peelTo(h, ops[1:end])
		return h, ops[end+1:], ok
	}
	digits := 0
	for digits < len(ops) && ops[digits] >= '0' && ops[digits] <= '9' {
		digits++
	}
	n := 1
	if digits > 0 {
		var err error
		if n, err = strconv.Atoi(ops[:digits]); err != nil {
			return h, "", false
		}
		ops = ops[digits:]
	}
	c, err := r.peelCommit(h)
	if err != nil {
		return h, "", false
	}
	if op == '^' {
		switch {
		case n == 0:
			return c.Hash, ops, true
		case n > len(c.ParentHashes):
			return h, "", false
		}
		return c.ParentHashes[n-1], ops, true
	}
	for ; n > 0; n-- {
		if len(c.ParentHashes) == 0 {
			return h, "", false
		}
		if c, err = r.commit(c.ParentHashes[0]); err != nil {
			return h, "", false
		}
	}
	return c.Hash, ops, true
}

// peelTo answers REV^{what}.
func (r *repo) peelTo(h plumbing.Hash, what string) (plumbing.Hash, bool) {
	if text, ok := strings.CutPrefix(what, "/"); ok {
		return r.searchMessage([]plumbing.Hash{h}, text)
	}
	switch what {
	case "commit":
		c, err := r.peelCommit(h)
		if err != nil {
			return h, false
		}
		return c.Hash, true
	case "tree":
		t, err := r.treeOf(h)
		if err != nil {
			return h, false
		}
		return t.Hash, true
	case "":
		h, _, err := r.peel(h)
		return h, err == nil
	case "object":
		return h, r.st.HasEncodedObject(h) == nil
	case "tag", "blob":
		o, err := r.st.EncodedObject(plumbing.AnyObject, h)
		return h, err == nil && o.Type().String() == what
	}
	return h, false
}

func (r *repo) searchMessage(from []plumbing.Hash, text string) (plumbing.Hash, bool) {
	re, err := regexp.Compile(text)
	if err != nil {
		return plumbing.ZeroHash, false
	}
	w := r.newWalk(from, nil)
	for {
		c, err := w.next()
		if err != nil || c == nil {
			return plumbing.ZeroHash, false
		}
		if re.MatchString(c.Message) {
			return c.Hash, true
		}
	}
}

// peel follows tags to what they point at.
func (r *repo) peel(h plumbing.Hash) (plumbing.Hash, plumbing.ObjectType, error) {
	for range 10 {
		o, err := r.st.EncodedObject(plumbing.AnyObject, h)
		if err != nil {
			return h, 0, fatalf("bad object %s", h)
		}
		if o.Type() != plumbing.TagObject {
			return h, o.Type(), nil
		}
		t, err := object.DecodeTag(r.st, o)
		if err != nil {
			return h, 0, err
		}
		h = t.Target
	}
	return h, 0, fatalf("tags nest too deep at %s", h)
}

func (r *repo) peelCommit(h plumbing.Hash) (*object.Commit, error) {
	p, t, err := r.peel(h)
	if err != nil {
		return nil, err
	}
	if t != plumbing.CommitObject {
		return nil, failf("object %s is a %s, not a commit", p, t)
	}
	return r.commit(p)
}

// treeOf returns the tree of a commit, a tag or a tree.
func (r *repo) treeOf(h plumbing.Hash) (*object.Tree, error) {
	p, t, err := r.peel(h)
	if err != nil {
		return nil, err
	}
	if t == plumbing.CommitObject {
		c, err := r.commit(p)
		if err != nil {
			return nil, err
		}
		p = c.TreeHash
	}
	tree, err := object.GetTree(r.st, p)
	if err != nil {
		return nil, fatalf("not a tree object: %s", p)
	}
	return tree, nil
}

// commitish resolves a revision to a commit, or says that it is none.
func (r *repo) commitish(rev string) (*object.Commit, error) {
	if rev == "-" {
		rev = "@{-1}"
	}
	h, ok := r.resolve(rev)
	if !ok {
		return nil, ambiguous(rev)
	}
	return r.peelCommit(h)
}

// upstream is the full name of the remote branch that a branch follows, or "".
func (r *repo) upstream(branch string) string {
	remote, merge := r.cfg.get("branch."+branch+".remote"), r.cfg.get("branch."+branch+".merge")
	if remote == "" || merge == "" {
		return ""
	}
	if remote == "." {
		return merge
	}
	for _, s := range r.cfg.all("remote." + remote + ".fetch") {
		if to, ok := mapRef(s, merge); ok {
			return to
		}
	}
	return ""
}
