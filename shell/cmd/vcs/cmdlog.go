package vcs

import (
	"bytes"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

// logTable are the options of log and its kin.
const logTable = diffTable + ` n,max-count= skip= oneline pretty? format= abbrev-commit date= relative-date decorate? all branches? tags? remotes?
 author= committer= grep= i,regexp-ignore-case E,extended-regexp F,fixed-strings P,perl-regexp invert-grep all-match since= after= until= before=
 merges no-merges first-parent reverse topo-order date-order author-date-order graph follow parents children left-right cherry-pick count
 not m c cc source boundary simplify-by-decoration full-history sparse show-signature notes? no-notes g,walk-reflogs root min-parents= max-parents= L= no-decorate `

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

// cmdLog is git log.
func (g *git) cmdLog(args []string) error {
	p, err := g.parse(args, logTable)
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	return r.log(p)
}

func (r *repo) log(p *parsed) error {
	f, err := r.diffOptions(p)
	if err != nil {
		return err
	}
	pf, err := r.prettyOptions(p)
	if err != nil {
		return err
	}
	revs, paths, err := r.splitArgs(p)
	if err != nil {
		return err
	}
	h, err := r.history(p, revs, paths)
	if err != nil {
		return err
	}
	lp := &logPrinter{repo: r, pf: pf, f: f, specs: h.w.specs, all: p.has("m") || p.has("first-parent")}
	if p.has("graph") {
		lp.graph = &graph{}
	}
	if p.has("reverse") {
		var list []*object.Commit
		for {
			c, err := h.next()
			if err != nil {
				return err
			}
			if c == nil {
				break
			}
			list = append(list, c)
		}
		for i := len(list) - 1; i >= 0; i-- {
			if err := lp.print(list[i], nil); err != nil {
				return err
			}
		}
		return nil
	}
	for {
		c, err := h.next()
		if c == nil || err != nil {
			return err
		}
		if err := lp.print(c, h.w.parents[c.Hash]); err != nil {
			return err
		}
		if r.Stdout.Err() != nil {
			return nil
		}
	}
}

// logPrinter prints commits one after another.
type logPrinter struct {
	*repo
	pf      *prettyForm
	f       *diffForm
	specs   pathspecs
	all     bool // merges show their difference from the first parent
	printed int
	graph   *graph
}

// print prints one commit, with its difference if that was asked for.
func (l *logPrinter) print(c *object.Commit, parents []plumbing.Hash) error {
	var pairs []*filePair
	if l.f.chosen() && !l.f.none || l.f.pickaxe != "" || l.f.filter != "" {
		var err error
		if pairs, err = l.commitDiff(c, l.f, l.specs, l.all); err != nil {
			return err
		}
		if len(pairs) == 0 && (l.f.pickaxe != "" || l.f.filter != "") {
			return nil
		}
	}
	if l.graph != nil {
		return l.printGraph(c, parents, pairs)
	}
	separated := l.pf.kind != "oneline" && !(l.pf.kind == "format" && l.pf.newlines)
	if l.printed > 0 && separated {
		l.printf("\n")
	}
	l.printed++
	l.pretty(l.pf, c)
	if l.pf.kind == "format" && (l.pf.newlines || len(pairs) > 0) {
		l.printf("\n")
	}
	if len(pairs) == 0 || !l.f.chosen() {
		return nil
	}
	if l.pf.kind != "oneline" {
		if (l.f.stat || l.f.numstat || l.f.shortstat) && l.f.patch && l.pf.kind != "format" {
			l.printf("---\n")
		} else {
			l.printf("\n")
		}
	}
	return l.repo.show(pairs, l.f)
}

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

// cmdRevList is git rev-list.
func (g *git) cmdRevList(args []string) error {
	p, err := g.parse(args, logTable+" objects no-walk? header timestamp")
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	revs, paths, err := r.splitArgs(p)
	if err != nil {
		return err
	}
	if len(revs) == 0 && !p.has("all") && !p.has("branches") && !p.has("tags") && !p.has("remotes") {
		return g.usage("")
	}
	h, err := r.history(p, revs, paths)
	if err != nil {
		return err
	}
	var list []*object.Commit
	for {
		c, err := h.next()
		if err != nil {
			return err
		}
		if c == nil {
			break
		}
		list = append(list, c)
	}
	if p.has("count") {
		g.printf("%d\n", len(list))
		return nil
	}
	if p.has("reverse") {
		for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
			list[i], list[j] = list[j], list[i]
		}
	}
	pf, err := r.prettyOptions(p)
	if err != nil {
		return err
	}
	for _, c := range list {
		switch {
		case pf.kind == "format":
			g.printf("commit %s\n%s\n", c.Hash, r.expand(pf, c, pf.format))
		case p.has("oneline"):
			r.pretty(pf, c)
		case p.has("parents"):
			line := c.Hash.String()
			for _, ph := range h.w.parents[c.Hash] {
				line += " " + ph.String()
			}
			g.printf("%s\n", line)
		case pf.abbrev:
			g.printf("%s\n", r.short(c.Hash))
		default:
			g.printf("%s\n", c.Hash)
		}
	}
	return nil
}

// cmdShortlog is git shortlog.
func (g *git) cmdShortlog(args []string) error {
	p, err := g.parse(args, "s,summary n,numbered e,email c,committer "+logTable)
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	revs, paths, err := r.splitArgs(p)
	if err != nil {
		return err
	}
	h, err := r.history(p, revs, paths)
	if err != nil {
		return err
	}
	by := map[string][]string{}
	for {
		c, err := h.next()
		if err != nil {
			return err
		}
		if c == nil {
			break
		}
		who := &c.Author
		if p.has("committer") {
			who = &c.Committer
		}
		name := who.Name
		if p.has("email") {
			name += " <" + who.Email + ">"
		}
		by[name] = append(by[name], subject(c.Message))
	}
	names := make([]string, 0, len(by))
	for n := range by {
		names = append(names, n)
	}
	sort.Strings(names)
	if p.has("numbered") {
		sort.SliceStable(names, func(i, j int) bool { return len(by[names[i]]) > len(by[names[j]]) })
	}
	for _, n := range names {
		if p.has("summary") {
			g.printf("%6d\t%s\n", len(by[n]), n)
			continue
		}
		g.printf("%s (%d):\n", n, len(by[n]))
		for i := len(by[n]) - 1; i >= 0; i-- {
			g.printf("      %s\n", by[n][i])
		}
		g.printf("\n")
	}
	return nil
}

// trimLine cuts a line's end.
func trimLine(l []byte) []byte { return bytes.TrimSuffix(l, []byte("\n")) }

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
