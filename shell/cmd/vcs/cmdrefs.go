package vcs

import (
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

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
