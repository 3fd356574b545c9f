package vcs

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/cmd/text/diff"
)

// blamed is where a line is from.
type blamed struct {
	commit *object.Commit
	name   string
	line   int // in that commit, from 1
	root   bool
	before string // the parent and the file's name there, "" when it had none
}

// cmdBlame is git blame.
func (g *git) cmdBlame(args []string) error {
	p, err := g.parse(args, "L= l t s e,show-email f,show-name n,show-number p,porcelain line-porcelain w date= root b M? C? abbrev= c incremental")
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
	file, rev := p.operands[len(p.operands)-1], ""
	if len(p.operands) > 1 {
		rev = p.operands[0]
	}
	name, err := r.inside(file, false)
	if err != nil {
		return err
	}
	_, head, born := r.head()
	if rev != "" {
		c, err := r.commitish(rev)
		if err != nil {
			return err
		}
		head, born = c.Hash, true
	}
	if !born {
		return fatal("no such ref: HEAD")
	}
	c, err := r.commit(head)
	if err != nil {
		return err
	}
	text, ok, err := r.fileAt(c, name)
	if err != nil {
		return err
	}
	if !ok {
		return fatalf("no such path '%s' in %s", name, orHead(rev))
	}
	b := &blame{repo: r, p: p, lines: splitLines(text), name: name}
	if rev == "" && r.work != "" {
		if err := b.addWork(c, name); err != nil {
			return err
		}
	}
	if len(b.from) == 0 {
		b.from = make([]*blamed, len(b.lines))
	}
	if err := b.run(c, name); err != nil {
		return err
	}
	return b.print()
}

// blame finds where each line of a file is from.
type blame struct {
	*repo
	p      *parsed
	name   string
	lines  [][]byte
	from   []*blamed
	wanted []int // lines of the present commit for each line, -1 when settled
}

// fileAt reads a file of a commit.
func (r *repo) fileAt(c *object.Commit, name string) ([]byte, bool, error) {
	t, err := object.GetTree(r.st, c.TreeHash)
	if err != nil {
		return nil, false, err
	}
	e, err := t.FindEntry(name)
	if err != nil || !e.Mode.IsFile() {
		return nil, false, nil
	}
	b, err := r.blob(e.Hash)
	return b, true, err
}

// addWork takes the file of the work tree as a commit that is yet to come.
func (b *blame) addWork(c *object.Commit, name string) error {
	a, err := b.lstat(name)
	if err != nil {
		return fatalf("Cannot lstat '%s': No such file or directory", name)
	}
	data, err := b.fileData(name, &a)
	if err != nil {
		return err
	}
	now := splitLines(data)
	old := b.lines
	script, err := diff.Lines(b.ctx, old, now)
	if err != nil || len(script) == 0 {
		return err
	}
	b.lines, b.from = now, make([]*blamed, len(now))
	b.wanted = identity(len(now))
	s := object.Signature{Name: "Not Committed Yet", Email: "not.committed.yet", When: b.Now().In(b.Location)}
	work := &object.Commit{Author: s, Committer: s, Message: "Version of " + name + " from " + name + "\n"}
	b.pass(script, work, name, false)
	return nil
}

func identity(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// pass hands lines that a commit did not change to its parent; the rest are the
// commit's. script leads from the parent's lines to the commit's.
func (b *blame) pass(script []diff.Change, c *object.Commit, name string, root bool) (left int) {
	for i, line := range b.wanted {
		if line < 0 {
			continue
		}
		shift, own := 0, false
		for _, ch := range script {
			if line < ch.New {
				break
			}
			if line < ch.New+ch.Inserted {
				own = true
				break
			}
			shift = ch.Old + ch.Deleted - ch.New - ch.Inserted
		}
		if own {
			b.from[i] = &blamed{c, name, line + 1, root, ""}
			b.wanted[i] = -1
			continue
		}
		b.wanted[i] = line + shift
		left++
	}
	return left
}

// run goes back along the history: of a merge to the parents that have a line.
func (b *blame) run(c *object.Commit, name string) error {
	if b.wanted == nil {
		b.wanted = identity(len(b.lines))
	}
	type job struct {
		c      *object.Commit
		name   string
		wanted []int
	}
	jobs := []job{{c, name, b.wanted}}
	for len(jobs) > 0 {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		j := jobs[0]
		jobs = jobs[1:]
		text, _, err := b.fileAt(j.c, j.name)
		if err != nil {
			return err
		}
		lines := splitLines(text)
		rest, before := j.wanted, ""
		for _, ph := range b.parentsOf(j.c) {
			pc, err := b.commit(ph)
			if err != nil {
				return err
			}
			old, pname, ok, err := b.before(j.c, pc, j.name)
			if err != nil {
				return err
			}
			if !ok {
				continue
			}
			script, err := diff.Lines(b.ctx, splitLines(old), lines)
			if err != nil {
				return err
			}
			if before == "" {
				before = ph.String() + " " + pname
			}
			probe := &blame{repo: b.repo, from: make([]*blamed, len(b.lines)), wanted: append([]int(nil), rest...)}
			if probe.pass(script, j.c, j.name, false) > 0 {
				jobs = append(jobs, job{pc, pname, probe.wanted})
			}
			next := make([]int, len(rest))
			for i := range rest {
				next[i] = -1
				if probe.from[i] != nil {
					next[i] = rest[i]
				}
			}
			rest = next
		}
		root := len(j.c.ParentHashes) == 0
		for i, line := range rest {
			if line >= 0 {
				b.from[i] = &blamed{j.c, j.name, line + 1, root, before}
			}
		}
	}
	return nil
}

// before finds the file in the parent, under its old name if it was renamed.
func (b *blame) before(c, parent *object.Commit, name string) (text []byte, old string, ok bool, err error) {
	if text, ok, err = b.fileAt(parent, name); ok || err != nil {
		return text, name, ok, err
	}
	from, err := b.flatten(parent.TreeHash)
	if err != nil {
		return nil, "", false, err
	}
	to, err := b.flatten(c.TreeHash)
	if err != nil {
		return nil, "", false, err
	}
	pairs, err := b.findRenames(comparePairs(from, to, nil), renameScore, false)
	if err != nil {
		return nil, "", false, err
	}
	for _, p := range pairs {
		if p.status == 'R' && p.to.name == name {
			text, err = b.blob(p.from.hash)
			return text, p.from.name, true, err
		}
	}
	return nil, "", false, nil
}

// span reads -L: FROM,TO or FROM,+N.
func (b *blame) span() (from, to int, err error) {
	from, to = 1, len(b.lines)
	if !b.p.given("L") {
		return from, to, nil
	}
	a, z, two := strings.Cut(b.p.get("L"), ",")
	if a != "" {
		if from, err = strconv.Atoi(a); err != nil {
			return 0, 0, fatalf("-L argument not 'start,end:file' or ':funcname:file': %s", b.p.get("L"))
		}
	}
	if two && z != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(z, "+"))
		if err != nil {
			return 0, 0, fatalf("-L argument not 'start,end:file' or ':funcname:file': %s", b.p.get("L"))
		}
		if to = n; strings.HasPrefix(z, "+") {
			to = from + n - 1
		}
	}
	if from > len(b.lines) {
		return 0, 0, fatalf("file %s has only %d lines", b.name, len(b.lines))
	}
	return max(1, from), min(to, len(b.lines)), nil
}

func (b *blame) print() error {
	from, to, err := b.span()
	if err != nil {
		return err
	}
	if b.p.has("porcelain") || b.p.has("line-porcelain") {
		b.porcelain(from, to)
		return nil
	}
	who := func(f *blamed) string {
		if b.p.has("show-email") {
			return "<" + f.commit.Author.Email + ">"
		}
		return f.commit.Author.Name
	}
	width, nameWidth, origWidth, names := 0, 0, 0, b.p.has("show-name")
	for _, f := range b.from[from-1 : to] {
		width = max(width, len([]rune(who(f))))
		nameWidth = max(nameWidth, len(f.name))
		origWidth = max(origWidth, len(strconv.Itoa(f.line)))
		names = names || f.name != b.name
	}
	digits := len(strconv.Itoa(to))
	for i := from - 1; i < to; i++ {
		f := b.from[i]
		hash := f.commit.Hash.String()
		length := 8
		if b.p.has("l") {
			length = 40
		}
		if f.root && !b.p.has("root") && !f.commit.Hash.IsZero() {
			hash = "^" + hash
			if length == 40 {
				hash = hash[:40]
			}
		}
		b.printf("%s", hash[:min(len(hash), length)])
		if names {
			b.printf(" %-*s", nameWidth, f.name)
		}
		if b.p.has("show-number") {
			b.printf(" %*d", origWidth, f.line)
		}
		if !b.p.has("s") {
			mode := b.p.get("date")
			if mode == "" {
				mode = "iso"
			}
			date := b.formatDate(f.commit.Author.When, mode)
			if b.p.has("t") {
				date = formatRaw(f.commit.Author.When)
			}
			w := who(f)
			b.printf(" (%s%s %s", w, strings.Repeat(" ", width-len([]rune(w))), date)
		} else {
			b.printf(" ")
		}
		if b.p.has("s") {
			b.printf("%*d) ", digits, i+1)
		} else {
			b.printf(" %*d) ", digits, i+1)
		}
		b.Stdout.Write(b.lines[i])
		if !bytes.HasSuffix(b.lines[i], []byte("\n")) {
			b.printf("\n")
		}
	}
	return nil
}

// porcelain prints blame for programs.
func (b *blame) porcelain(from, to int) {
	seen := map[plumbing.Hash]bool{}
	for i := from - 1; i < to; i++ {
		f := b.from[i]
		same := func(k int) bool {
			return k >= from-1 && k < to && b.from[k].commit.Hash == f.commit.Hash && b.from[k].line-f.line == k-i
		}
		b.printf("%s %d %d", f.commit.Hash, f.line, i+1)
		if !same(i - 1) {
			n := 1
			for same(i + n) {
				n++
			}
			b.printf(" %d", n)
		}
		b.printf("\n")
		if c := f.commit; !seen[c.Hash] || b.p.has("line-porcelain") {
			seen[c.Hash] = true
			b.printf("author %s\nauthor-mail <%s>\nauthor-time %d\nauthor-tz %s\ncommitter %s\ncommitter-mail <%s>\ncommitter-time %d\ncommitter-tz %s\nsummary %s\n",
				c.Author.Name, c.Author.Email, c.Author.When.Unix(), c.Author.When.Format("-0700"),
				c.Committer.Name, c.Committer.Email, c.Committer.When.Unix(), c.Committer.When.Format("-0700"), subject(c.Message))
			if f.root {
				b.printf("boundary\n")
			}
			if f.before != "" {
				b.printf("previous %s\n", f.before)
			}
			b.printf("filename %s\n", f.name)
		}
		b.printf("\t%s\n", trimLine(b.lines[i]))
	}
}

// cmdGrep is git grep.
func (g *git) cmdGrep(args []string) error {
	p, err := g.parse(args, `n,line-number c,count l,files-with-matches L,files-without-match i,ignore-case w,word-regexp v,invert-match e= E,extended-regexp
 F,fixed-strings G,basic-regexp P,perl-regexp q,quiet h H o,only-matching a,text I cached untracked no-index name-only A,after-context= B,before-context= C,context=
 heading break full-name max-depth= color? no-color and or not all-match m,max-count= z,null r,recursive no-recursive column p,show-function W,function-context exclude-standard`)
	if err != nil {
		return err
	}
	r, err := g.open()
	if err != nil {
		return err
	}
	patterns := p.all("e")
	ops := p.operands
	if len(patterns) == 0 {
		if len(ops) == 0 {
			return fatal("no pattern given")
		}
		patterns, ops = ops[:1], ops[1:]
		if p.before > 0 {
			p.before--
		}
	}
	var flags regex.Flags
	if p.has("ignore-case") {
		flags |= regex.IgnoreCase
	}
	if p.has("word-regexp") {
		flags |= regex.WholeWord
	}
	var re *regex.Regexp
	switch {
	case p.has("fixed-strings"):
		re, err = regex.Literals(patterns, flags)
	case p.has("extended-regexp") || p.has("perl-regexp"):
		re, err = regex.CompileAll(patterns, regex.GrepExtended, flags)
	default:
		re, err = regex.CompileAll(patterns, regex.Basic, flags)
	}
	if err != nil {
		return fatalf("command line, '%s': %v", patterns[0], err)
	}
	q := *p
	q.operands = ops
	revs, paths, err := r.splitArgs(&q)
	if err != nil {
		return err
	}
	if len(paths) == 0 && r.prefix != "" {
		paths = []string{"."}
	}
	specs, err := r.pathspecs(paths)
	if err != nil {
		return err
	}
	gr := &grepRun{repo: r, p: p, re: re}
	for _, name := range []string{"after-context", "before-context", "context"} {
		n, _ := atoi64(p.get(name))
		if name != "before-context" {
			gr.after = max(gr.after, int(n))
		}
		if name != "after-context" {
			gr.before = max(gr.before, int(n))
		}
	}
	if err := gr.all(revs, specs); err != nil {
		return err
	}
	if !gr.found {
		return status(1)
	}
	return nil
}
