package vcs

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

// history selects commits.
type history struct {
	*repo
	w           *walk
	limit, skip int
	authors     []*regex.Regexp
	committers  []*regex.Regexp
	greps       []*regex.Regexp
	invert, all bool
	since       time.Time
	until       time.Time
	minParents  int
	maxParents  int
}

// history reads the options and operands that select commits.
func (r *repo) history(p *parsed, revs, paths []string) (*history, error) {
	h := &history{repo: r, limit: -1, maxParents: -1, invert: p.has("invert-grep"), all: p.has("all-match")}
	var err error
	for _, o := range p.options {
		switch o.name {
		case "max-count":
			h.limit, err = strconv.Atoi(o.arg)
		case "skip":
			h.skip, err = strconv.Atoi(o.arg)
		case "merges":
			h.minParents = 2
			if o.no {
				h.minParents, h.maxParents = 0, 1
			}
		case "no-merges":
			h.maxParents = 1
		case "min-parents":
			h.minParents, err = strconv.Atoi(o.arg)
		case "max-parents":
			h.maxParents, err = strconv.Atoi(o.arg)
		case "since", "after", "until", "before":
			t, ok := r.parseDate(o.arg)
			if !ok {
				t = r.Now()
			}
			if o.name == "since" || o.name == "after" {
				h.since = t
			} else {
				h.until = t
			}
		}
		if err != nil {
			return nil, fatalf("'%s': not an integer", o.arg)
		}
	}
	for name, list := range map[string]*[]*regex.Regexp{"author": &h.authors, "committer": &h.committers, "grep": &h.greps} {
		for _, pattern := range p.all(name) {
			re, err := r.pattern(pattern, p)
			if err != nil {
				return nil, err
			}
			*list = append(*list, re)
		}
	}
	from, not, err := r.revisions(p, revs)
	if err != nil {
		return nil, err
	}
	h.w = r.newWalk(nil, not)
	h.w.first = p.has("first-parent")
	if h.w.specs, err = r.pathspecs(paths); err != nil {
		return nil, err
	}
	for _, c := range from {
		h.w.push(c)
	}
	if p.has("topo-order") || p.has("graph") {
		err = h.w.byParentage()
	}
	return h, err
}

// pattern compiles a pattern in the syntax that the options choose.
func (r *repo) pattern(text string, p *parsed) (*regex.Regexp, error) {
	var flags regex.Flags
	if p.has("regexp-ignore-case") || p.has("ignore-case") {
		flags |= regex.IgnoreCase
	}
	if p.has("fixed-strings") {
		return regex.Literals([]string{text}, flags)
	}
	syntax := regex.Basic
	if p.has("extended-regexp") || p.has("perl-regexp") {
		syntax = regex.Extended
	}
	re, err := regex.Compile(text, syntax, flags)
	if err != nil {
		return nil, fatalf("command line, '%s': %v", text, err)
	}
	return re, nil
}

// revisions resolves the revisions and ranges to show and to hide.
func (r *repo) revisions(p *parsed, revs []string) (from, not []plumbing.Hash, err error) {
	groups := map[string]string{"branches": "refs/heads/", "tags": "refs/tags/", "remotes": "refs/remotes/", "all": "refs/"}
	some := false
	for name, prefix := range groups {
		if !p.has(name) {
			continue
		}
		some = true
		for _, ref := range r.allRefs(prefix) {
			if h, t, err := r.peel(ref.hash); err == nil && t == plumbing.CommitObject {
				from = append(from, h)
			}
		}
	}
	_, head, born := r.head()
	if p.has("all") && born {
		from = append(from, head)
	}
	add := func(list *[]plumbing.Hash, rev string) error {
		c, err := r.commitish(orHead(rev))
		if err == nil {
			*list = append(*list, c.Hash)
		}
		return err
	}
	for _, rev := range revs {
		if rest, ok := strings.CutPrefix(rev, "^"); ok {
			err = add(&not, rest)
		} else if a, b, ok := strings.Cut(rev, "..."); ok {
			err = r.symmetric(a, b, add, &from, &not)
		} else if a, b, ok := strings.Cut(rev, ".."); ok {
			if err = add(&not, a); err == nil {
				err = add(&from, b)
			}
		} else if base, ok := strings.CutSuffix(rev, "^!"); ok {
			var c *object.Commit
			if c, err = r.commitish(base); err == nil {
				from, not = append(from, c.Hash), append(not, c.ParentHashes...)
			}
		} else if base, ok := strings.CutSuffix(rev, "^@"); ok {
			var c *object.Commit
			if c, err = r.commitish(base); err == nil {
				from = append(from, c.ParentHashes...)
			}
		} else {
			err = add(&from, rev)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if len(revs) == 0 && !some {
		if !born {
			branch, _, _ := r.head()
			return nil, nil, fatalf("your current branch '%s' does not have any commits yet", branchName(branch))
		}
		from = append(from, head)
	}
	return from, not, nil
}

func (r *repo) symmetric(a, b string, add func(*[]plumbing.Hash, string) error, from, not *[]plumbing.Hash) error {
	if err := add(from, a); err != nil {
		return err
	}
	if err := add(from, b); err != nil {
		return err
	}
	n := len(*from)
	bases, err := r.mergeBases((*from)[n-2], (*from)[n-1])
	*not = append(*not, bases...)
	return err
}

// next yields the next commit that every condition lets through.
func (h *history) next() (*object.Commit, error) {
	for h.limit != 0 {
		c, err := h.w.next()
		if c == nil || err != nil {
			return nil, err
		}
		ok, err := h.wanted(c)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if h.skip > 0 {
			h.skip--
			continue
		}
		h.limit--
		return c, nil
	}
	return nil, nil
}

func (h *history) wanted(c *object.Commit) (bool, error) {
	n := len(c.ParentHashes)
	when := c.Committer.When
	if n < h.minParents || h.maxParents >= 0 && n > h.maxParents ||
		!h.since.IsZero() && when.Before(h.since) || !h.until.IsZero() && when.After(h.until) {
		return false, nil
	}
	person := func(s *object.Signature) []byte { return []byte(s.Name + " <" + s.Email + ">") }
	for _, group := range []struct {
		res  []*regex.Regexp
		text []byte
	}{{h.authors, person(&c.Author)}, {h.committers, person(&c.Committer)}} {
		ok := len(group.res) == 0
		for _, re := range group.res {
			m, err := re.Match(h.ctx, group.text)
			if err != nil {
				return false, err
			}
			ok = ok || m
		}
		if !ok {
			return false, nil
		}
	}
	if len(h.greps) == 0 {
		return true, nil
	}
	hits := 0
	for _, re := range h.greps {
		for _, line := range strings.Split(c.Message, "\n") {
			m, err := re.Match(h.ctx, []byte(line))
			if err != nil {
				return false, err
			}
			if m {
				hits++
				break
			}
		}
	}
	ok := hits > 0 && (!h.all || hits == len(h.greps))
	return ok != h.invert, nil
}

// commitDiff compares a commit with its first parent; a merge shows nothing
// unless all is set.
func (r *repo) commitDiff(c *object.Commit, f *diffForm, specs pathspecs, all bool) ([]*filePair, error) {
	if len(c.ParentHashes) > 1 && !all {
		return nil, nil
	}
	old := map[string]treeFile{}
	if ps := r.parentsOf(c); len(ps) > 0 {
		pc, err := r.commit(ps[0])
		if err != nil {
			return nil, err
		}
		if old, err = r.flatten(pc.TreeHash); err != nil {
			return nil, err
		}
	}
	files, err := r.flatten(c.TreeHash)
	if err != nil {
		return nil, err
	}
	return r.prepare(comparePairs(old, files, specs), f)
}
