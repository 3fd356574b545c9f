package vcs

import (
	"fmt"
	"path"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/filemode"
)

// change is one path in git status.
type change struct {
	name   string
	from   string // the old name, of a rename
	staged byte   // M A D R T, or ' '
	work   byte
	// conflict holds the two letters of an unmerged path.
	conflict string
	pair     *filePair // the staged change
	workMode filemode.FileMode
}

// report is all that git status has to say.
type report struct {
	changes   []*change
	untracked []string
	ignored   []string
}

func (rp *report) staged() bool {
	for _, c := range rp.changes {
		if c.staged != ' ' && c.conflict == "" {
			return true
		}
	}
	return false
}

func (rp *report) unstaged() bool {
	for _, c := range rp.changes {
		if c.work != ' ' && c.conflict == "" {
			return true
		}
	}
	return false
}

func (rp *report) unmerged() bool {
	for _, c := range rp.changes {
		if c.conflict != "" {
			return true
		}
	}
	return false
}

// conflictCodes are the letters for the stages that are there (1 base, 2 ours,
// 4 theirs).
var conflictCodes = [8]string{1: "DD", 2: "AU", 3: "UD", 4: "UA", 5: "DU", 6: "AA", 7: "UU"}

var conflictWords = map[string]string{
	"DD": "both deleted:", "AU": "added by us:", "UD": "deleted by them:", "UA": "added by them:", "DU": "deleted by us:",
	"AA": "both added:", "UU": "both modified:",
}

// changes compares HEAD, the index and the work tree.
func (r *repo) changes(ix *stageIndex, specs pathspecs, renames bool) (*report, error) {
	head, err := r.headFiles()
	if err != nil {
		return nil, err
	}
	by := map[string]*change{}
	get := func(name string) *change {
		if by[name] == nil {
			by[name] = &change{name: name, staged: ' ', work: ' '}
		}
		return by[name]
	}
	pairs := r.indexPairs(head, ix, specs)
	if renames {
		if pairs, err = r.findRenames(pairs, renameScore, false); err != nil {
			return nil, err
		}
	}
	for _, p := range pairs {
		c := get(p.name())
		c.staged, c.pair = p.status, p
		if p.status == 'R' || p.status == 'C' {
			c.from = p.from.name
		}
	}
	stages := map[string]int{}
	for _, e := range ix.Entries {
		if !specs.match(e.Name) {
			continue
		}
		if e.Stage != 0 {
			stages[e.Name] |= 1 << (e.Stage - 1)
			continue
		}
		st, a, err := r.workState(ix, e)
		if err != nil {
			return nil, err
		}
		if st != 0 {
			c := get(e.Name)
			c.work = st
			if e.IntentToAdd {
				c.work = 'A'
			}
			if a != nil {
				c.workMode = modeOf(a)
			}
		}
	}
	for name, mask := range stages {
		get(name).conflict = conflictCodes[mask]
	}
	rp := &report{}
	for _, c := range by {
		rp.changes = append(rp.changes, c)
	}
	sort.Slice(rp.changes, func(i, j int) bool { return rp.changes[i].name < rp.changes[j].name })
	return rp, nil
}

// statusForm is how git status prints.
type statusForm struct {
	porcelain bool // names from the top, no advice
	v2        bool
	branch    bool
	nul       bool
}

// cmdStatus is git status.
func (g *git) cmdStatus(args []string) error {
	p, err := g.parse(args, "s,short b,branch porcelain? long v,verbose u,untracked-files? ignored? z,null renames M,find-renames? ignore-submodules? ahead-behind show-stash column?")
	if err != nil {
		return err
	}
	r, err := g.openWork()
	if err != nil {
		return err
	}
	specs, err := r.pathspecs(p.operands)
	if err != nil {
		return err
	}
	untracked := r.cfg.get("status.showuntrackedfiles")
	if o, ok := p.last("untracked-files"); ok {
		if untracked = o.arg; !o.has {
			untracked = "all"
		}
		if o.no {
			untracked = "no"
		}
	}
	rp, err := r.report(specs, untracked, p.has("ignored"), !p.given("renames") || p.has("renames"))
	if err != nil {
		return err
	}
	f := &statusForm{branch: p.has("branch"), nul: p.has("null")}
	if o, ok := p.last("porcelain"); ok {
		f.porcelain = true
		f.v2 = o.arg == "v2" || o.arg == "2"
	}
	f.porcelain = f.porcelain || f.nul && !p.has("short") && !p.has("long")
	switch {
	case f.v2:
		r.printV2(rp, f)
	case f.porcelain || p.has("short"):
		r.printShort(rp, f)
	default:
		r.printLong(rp, untracked == "no", g.printf)
	}
	return nil
}

// report gathers the changes and refreshes what the index knows of files.
func (r *repo) report(specs pathspecs, untracked string, ignored, renames bool) (*report, error) {
	ix, err := r.readIndex()
	if err != nil {
		return nil, err
	}
	rp, err := r.changes(ix, specs, renames)
	if err != nil {
		return nil, err
	}
	if untracked == "no" {
		return rp, nil
	}
	s := r.newScan(ix, specs)
	s.all, s.ignored = untracked == "all", ignored
	if err := s.run(); err != nil {
		return nil, err
	}
	rp.untracked, rp.ignored = s.untracked, s.skipped
	return rp, nil
}

// quoteName quotes a name as git does when core.quotePath holds.
func (r *repo) quoteName(name string) string {
	plain := true
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c == 0x7f || c >= 0x80 && r.cfg.flag("core.quotepath", true) {
			plain = false
		}
	}
	if plain {
		return name
	}
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(name) {
		c := name[i]
		switch {
		case strings.IndexByte("\a\b\t\n\v\f\r", c) >= 0:
			b.WriteByte('\\')
			b.WriteByte("abtnvfr"[c-'\a'])
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c == 0x7f || c >= 0x80 && r.cfg.flag("core.quotepath", true):
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// shown is a name as the form prints it.
func (r *repo) shown(name string, f *statusForm) string {
	if f.nul {
		return name
	}
	if !f.porcelain {
		name = r.relative(name)
	}
	q := r.quoteName(name)
	if q == name && strings.Contains(name, " ") && !f.v2 {
		return `"` + name + `"`
	}
	return q
}

func (r *repo) printShort(rp *report, f *statusForm) {
	end := "\n"
	if f.nul {
		end = "\x00"
	}
	if f.branch {
		r.printf("## %s%s", r.branchLine(), end)
	}
	for _, c := range rp.changes {
		code := string([]byte{c.staged, c.work})
		if c.conflict != "" {
			code = c.conflict
		}
		switch {
		case c.from == "":
			r.printf("%s %s%s", code, r.shown(c.name, f), end)
		case f.nul:
			r.printf("%s %s\x00%s\x00", code, c.name, c.from)
		default:
			r.printf("%s %s -> %s\n", code, r.shown(c.from, f), r.shown(c.name, f))
		}
	}
	for _, name := range rp.untracked {
		r.printf("?? %s%s", r.shown(name, f), end)
	}
	for _, name := range rp.ignored {
		r.printf("!! %s%s", r.shown(name, f), end)
	}
}

// branchLine is what status -sb says of the branch.
func (r *repo) branchLine() string {
	branch, _, born := r.head()
	switch {
	case branch == "":
		return "HEAD (no branch)"
	case !born:
		return "No commits yet on " + branchName(branch)
	}
	name := branchName(branch)
	up := r.upstream(name)
	if up == "" {
		return name
	}
	line := name + "..." + shortRef(up)
	ahead, behind, ok := r.divergence(branch, up)
	switch {
	case !ok:
		return line + " [gone]"
	case ahead > 0 && behind > 0:
		return fmt.Sprintf("%s [ahead %d, behind %d]", line, ahead, behind)
	case ahead > 0:
		return fmt.Sprintf("%s [ahead %d]", line, ahead)
	case behind > 0:
		return fmt.Sprintf("%s [behind %d]", line, behind)
	}
	return line
}

// printV2 is status --porcelain=v2.
func (r *repo) printV2(rp *report, f *statusForm) {
	end := "\n"
	if f.nul {
		end = "\x00"
	}
	if f.branch {
		r.printV2Branch(end)
	}
	ix, err := r.readIndex()
	if err != nil {
		return
	}
	dot := func(b byte) byte {
		if b == ' ' {
			return '.'
		}
		return b
	}
	head, err := r.headFiles()
	if err != nil {
		return
	}
	for _, c := range rp.changes {
		name := r.shown(c.name, f)
		if c.conflict != "" {
			var mode [4]filemode.FileMode
			var hash [4]string
			for i := 1; i <= 3; i++ {
				hash[i] = strings.Repeat("0", 40)
				if e := ix.at(c.name, i); e != nil {
					mode[i], hash[i] = e.Mode, e.Hash.String()
				}
			}
			if a, err := r.lstat(c.name); err == nil {
				mode[0] = modeOf(&a)
			}
			r.printf("u %s N... %06o %06o %06o %06o %s %s %s %s%s", c.conflict, uint32(mode[1]), uint32(mode[2]), uint32(mode[3]), uint32(mode[0]),
				hash[1], hash[2], hash[3], name, end)
			continue
		}
		old := head[c.name]
		if c.from != "" {
			old = head[c.from]
		}
		var cur treeFile
		if e := ix.at(c.name, 0); e != nil {
			cur = treeFile{e.Mode, e.Hash}
		}
		work := cur.mode
		switch {
		case c.work == 'D':
			work = 0
		case c.workMode != 0:
			work = c.workMode
		}
		head := fmt.Sprintf("%c%c N... %06o %06o %06o %s %s", dot(c.staged), dot(c.work), uint32(old.mode), uint32(cur.mode), uint32(work), old.hash, cur.hash)
		if c.from == "" {
			r.printf("1 %s %s%s", head, name, end)
			continue
		}
		sep := "\t"
		if f.nul {
			sep = "\x00"
		}
		r.printf("2 %s R%d %s%s%s%s", head, c.pair.score, name, sep, r.shown(c.from, f), end)
	}
	for _, name := range rp.untracked {
		r.printf("? %s%s", r.shown(name, f), end)
	}
	for _, name := range rp.ignored {
		r.printf("! %s%s", r.shown(name, f), end)
	}
}

func (r *repo) printV2Branch(end string) {
	branch, h, born := r.head()
	oid := "(initial)"
	if born {
		oid = h.String()
	}
	name := branchName(branch)
	if branch == "" {
		name = "(detached)"
	}
	r.printf("# branch.oid %s%s# branch.head %s%s", oid, end, name, end)
	if up := r.upstream(name); up != "" && branch != "" {
		r.printf("# branch.upstream %s%s", shortRef(up), end)
		if ahead, behind, ok := r.divergence(branch, up); ok {
			r.printf("# branch.ab +%d -%d%s", ahead, behind, end)
		}
	}
}

// workDirName shows an untracked name, directories with their slash.
func (r *repo) workDirName(name string) string {
	s := r.relative(strings.TrimSuffix(name, "/"))
	if strings.HasSuffix(name, "/") && !strings.HasSuffix(s, "/") {
		s = path.Clean(s) + "/"
	}
	return r.quoteName(s)
}
