package vcs

import (
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

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
