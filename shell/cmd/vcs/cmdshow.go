package vcs

import (
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"
)

// cmdShow is git show.
func (g *git) cmdShow(args []string) error {
	p, err := g.parse(args, logTable)
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	f, err := r.diffOptions(p)
	if err != nil {
		return err
	}
	if !f.chosen() {
		f.patch = true
	}
	pf, err := r.prettyOptions(p)
	if err != nil {
		return err
	}
	revs, paths, err := r.splitArgs(p)
	if err != nil {
		return err
	}
	specs, err := r.pathspecs(paths)
	if err != nil {
		return err
	}
	if len(revs) == 0 {
		revs = []string{"HEAD"}
	}
	lp := &logPrinter{repo: r, pf: pf, f: f, specs: specs, all: p.has("m") || p.has("first-parent")}
	for _, rev := range revs {
		if strings.Contains(rev, "..") && !strings.Contains(rev, ":") {
			return r.log(p)
		}
		h, ok := r.resolve(rev)
		if !ok {
			return r.badRevision(rev)
		}
		if err := lp.object(h, rev); err != nil {
			return err
		}
	}
	return nil
}

// badRevision says what is wrong with a revision, REV:PATH in its own words.
func (r *repo) badRevision(rev string) error {
	base, file, ok := cutColon(rev)
	if !ok {
		return ambiguous(rev)
	}
	if base != "" {
		if _, ok := r.resolve(base); !ok {
			return fatalf("invalid object name '%s'.", base)
		}
		if _, err := r.FS.Lstat(r.abs(file)); err == nil && r.work != "" {
			return fatalf("path '%s' exists on disk, but not in '%s'", file, base)
		}
		return fatalf("path '%s' does not exist in '%s'", file, base)
	}
	return fatalf("path '%s' does not exist (neither on disk nor in the index)", file)
}

// object shows an object of any type.
func (l *logPrinter) object(h plumbing.Hash, rev string) error {
	o, err := l.st.EncodedObject(plumbing.AnyObject, h)
	if err != nil {
		return fatalf("bad object %s", rev)
	}
	switch o.Type() {
	case plumbing.TagObject:
		t, err := object.DecodeTag(l.st, o)
		if err != nil {
			return err
		}
		if l.printed > 0 {
			l.printf("\n")
		}
		l.printf("tag %s\nTagger: %s <%s>\nDate:   %s\n\n%s\n", t.Name, t.Tagger.Name, t.Tagger.Email,
			l.formatDate(t.Tagger.When, l.pf.date), strings.TrimRight(t.Message, "\n"))
		l.printed++
		return l.object(t.Target, t.Target.String())
	case plumbing.TreeObject:
		t, err := object.GetTree(l.st, h)
		if err != nil {
			return err
		}
		l.printf("tree %s\n\n", rev)
		for _, e := range t.Entries {
			name := e.Name
			if e.Mode == 0o040000 {
				name += "/"
			}
			l.printf("%s\n", name)
		}
		l.printed++
		return nil
	case plumbing.BlobObject:
		b, err := l.blob(h)
		l.Stdout.Write(b)
		return err
	}
	c, err := l.commit(h)
	if err != nil {
		return err
	}
	return l.print(c, nil)
}
