package vcs

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"github.com/vfsd/vfsd/shell/cmd/text/diff"
)

// diffForm is what the options of a command that shows differences ask for.
type diffForm struct {
	patch, stat, numstat, shortstat, summary bool
	nameOnly, nameStatus, raw, quiet         bool
	nul, reverse, text, binary, fullIndex    bool
	noSpace, lessSpace, eolSpace, noBlank    bool
	context                                  int
	renames                                  bool
	copies                                   bool
	score                                    int
	filter                                   string
	noPrefix                                 bool
	srcPrefix, dstPrefix                     string
	relative                                 bool
	pickaxe                                  string
	pickaxeRE                                bool
	statWidth                                int
	exitCode                                 bool
	none                                     bool // -s
}

// diffTable are the options that all such commands take.
const diffTable = ` p,patch u s,no-patch stat? numstat shortstat summary name-only name-status raw z patch-with-stat
 U,unified= w,ignore-all-space b,ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol R a,text binary full-index
 M,find-renames? C,find-copies? renames no-renames diff-filter= no-prefix src-prefix= dst-prefix= relative? color? no-color
 S= G= exit-code q,quiet minimal patience histogram diff-algorithm= no-ext-diff ext-diff abbrev? no-textconv textconv
 compact-summary indent-heuristic W,function-context word-diff? color-words? color-moved? check submodule? inter-hunk-context= `

// diffOptions reads them.
func (r *repo) diffOptions(p *parsed) (*diffForm, error) {
	f := &diffForm{context: 3, renames: r.cfg.get("diff.renames") != "false", score: renameScore, srcPrefix: "a/", dstPrefix: "b/"}
	flags := map[string]*bool{
		"patch": &f.patch, "u": &f.patch, "numstat": &f.numstat, "shortstat": &f.shortstat, "summary": &f.summary,
		"name-only": &f.nameOnly, "name-status": &f.nameStatus, "raw": &f.raw, "z": &f.nul, "R": &f.reverse, "text": &f.text,
		"binary": &f.binary, "full-index": &f.fullIndex, "ignore-all-space": &f.noSpace, "ignore-space-change": &f.lessSpace,
		"ignore-space-at-eol": &f.eolSpace, "ignore-blank-lines": &f.noBlank, "exit-code": &f.exitCode, "no-prefix": &f.noPrefix,
		"relative": &f.relative,
	}
	for _, o := range p.options {
		if b := flags[o.name]; b != nil {
			*b = !o.no
			continue
		}
		var err error
		switch o.name {
		case "stat", "patch-with-stat", "compact-summary":
			f.stat = true
			if o.name == "patch-with-stat" {
				f.patch = true
			}
			if o.has {
				w, _, _ := strings.Cut(o.arg, ",")
				f.statWidth, err = strconv.Atoi(w)
			}
		case "no-patch":
			f.none = true
		case "unified":
			f.context, err = strconv.Atoi(o.arg)
			f.patch = true
		case "find-renames", "renames", "find-copies":
			f.renames = !o.no
			f.copies = f.copies || o.name == "find-copies"
			if o.has {
				err = f.setScore(o.arg)
			}
		case "no-renames":
			f.renames = false
		case "diff-filter":
			f.filter = o.arg
		case "src-prefix":
			f.srcPrefix = o.arg
		case "dst-prefix":
			f.dstPrefix = o.arg
		case "S", "G":
			f.pickaxe, f.pickaxeRE = o.arg, o.name == "G"
		case "quiet":
			f.quiet, f.exitCode = true, true
		case "word-diff", "color-words", "check", "function-context":
			if !o.no && o.arg != "none" {
				return nil, fatalf("--%s is not supported", o.name)
			}
		}
		if err != nil {
			return nil, fatalf("invalid argument to option %s: '%s'", o.name, o.arg)
		}
	}
	if f.noPrefix {
		f.srcPrefix, f.dstPrefix = "", ""
	}
	if f.reverse {
		f.srcPrefix, f.dstPrefix = f.dstPrefix, f.srcPrefix
	}
	if f.context < 0 {
		return nil, fatalf("invalid context length: %d", f.context)
	}
	return f, nil
}

func (f *diffForm) setScore(s string) error {
	v, err := strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)
	switch {
	case err != nil:
		return err
	case strings.HasSuffix(s, "%"):
		v /= 100
	case !strings.Contains(s, "."):
		for v >= 1 {
			v /= 10
		}
	}
	f.score = int(v * maxScore)
	return nil
}

// chosen reports whether a form of output was asked for.
func (f *diffForm) chosen() bool {
	return f.patch || f.stat || f.numstat || f.shortstat || f.summary || f.nameOnly || f.nameStatus || f.raw || f.none
}

// prepare finds renames and applies the filters.
func (r *repo) prepare(pairs []*filePair, f *diffForm) ([]*filePair, error) {
	if f.reverse {
		for _, p := range pairs {
			p.from, p.to = p.to, p.from
			switch p.status {
			case 'A':
				p.status = 'D'
			case 'D':
				p.status = 'A'
			}
		}
	}
	var err error
	if f.renames {
		if pairs, err = r.findRenames(pairs, f.score, f.copies); err != nil {
			return nil, err
		}
	}
	kept := pairs[:0:0]
	for _, p := range pairs {
		if f.filter != "" && !filterHas(f.filter, p.status) {
			continue
		}
		if f.pickaxe != "" {
			ok, err := r.picked(p, f)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
		}
		kept = append(kept, p)
	}
	return kept, nil
}

// filterHas reads --diff-filter: upper case letters select, lower case exclude.
func filterHas(filter string, st byte) bool {
	if strings.IndexByte(filter, st+'a'-'A') >= 0 {
		return false
	}
	return strings.IndexByte(filter, st) >= 0 || strings.ToLower(filter) == filter
}

// picked applies -S and -G.
func (r *repo) picked(p *filePair, f *diffForm) (bool, error) {
	a, err := r.content(&p.from)
	if err != nil {
		return false, err
	}
	b, err := r.content(&p.to)
	if err != nil {
		return false, err
	}
	if !f.pickaxeRE {
		return bytes.Count(a, []byte(f.pickaxe)) != bytes.Count(b, []byte(f.pickaxe)), nil
	}
	re, err := compileLine(f.pickaxe, false)
	if err != nil {
		return false, err
	}
	al, bl := splitLines(a), splitLines(b)
	script, err := diff.Lines(r.ctx, al, bl)
	if err != nil {
		return false, err
	}
	for _, c := range script {
		for _, l := range append(append([][]byte{}, al[c.Old:c.Old+c.Deleted]...), bl[c.New:c.New+c.Inserted]...) {
			if ok, err := re.Match(r.ctx, bytes.TrimSuffix(l, []byte("\n"))); ok || err != nil {
				return ok, err
			}
		}
	}
	return false, nil
}

// splitLines cuts a text behind its newlines.
func splitLines(b []byte) [][]byte {
	if len(b) == 0 {
		return nil
	}
	lines := bytes.SplitAfter(b, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// squeeze reduces a line to what counts under the options of white space.
func (f *diffForm) squeeze(line []byte) []byte {
	if !f.noSpace && !f.lessSpace && !f.eolSpace {
		return line
	}
	ended := bytes.HasSuffix(line, []byte("\n"))
	fields := bytes.Fields(line)
	var out []byte
	switch {
	case f.noSpace:
		out = bytes.Join(fields, nil)
	case f.lessSpace:
		out = bytes.Join(fields, []byte(" "))
		if len(line) > 0 && (line[0] == ' ' || line[0] == '\t') && len(fields) > 0 {
			out = append([]byte(" "), out...)
		}
	default:
		out = append(out, bytes.TrimRight(line, " \t\r\n")...)
	}
	if ended {
		out = append(out, '\n')
	}
	return out
}

// script compares the lines of two files as the form asks.
func (r *repo) script(f *diffForm, a, b [][]byte) ([]diff.Change, error) {
	sa, sb := a, b
	if f.noSpace || f.lessSpace || f.eolSpace {
		sa, sb = make([][]byte, len(a)), make([][]byte, len(b))
		for i, l := range a {
			sa[i] = f.squeeze(l)
		}
		for i, l := range b {
			sb[i] = f.squeeze(l)
		}
	}
	script, err := diff.Lines(r.ctx, sa, sb)
	if err != nil || !f.noBlank {
		return script, err
	}
	kept := script[:0]
	for _, c := range script {
		blank := true
		for _, l := range append(append([][]byte{}, a[c.Old:c.Old+c.Deleted]...), b[c.New:c.New+c.Inserted]...) {
			blank = blank && len(bytes.TrimSpace(l)) == 0
		}
		if !blank {
			kept = append(kept, c)
		}
	}
	return kept, nil
}

// printPatch prints one pair as a patch.
func (r *repo) printPatch(p *filePair, f *diffForm) error {
	if p.status == 'U' {
		r.printf("* Unmerged path %s\n", p.name())
		return nil
	}
	if p.status == 'T' && p.from.mode != 0 && p.to.mode != 0 {
		// A change of type is a removal and an addition.
		for _, half := range []*filePair{
			{from: p.from, to: side{name: p.from.name}, status: 'D'}, {from: side{name: p.to.name}, to: p.to, status: 'A'},
		} {
			if err := r.printPatch(half, f); err != nil {
				return err
			}
		}
		return nil
	}
	a, err := r.content(&p.from)
	if err != nil {
		return err
	}
	b, err := r.content(&p.to)
	if err != nil {
		return err
	}
	binary := !f.text && (isBinary(a) || isBinary(b))
	al, bl := splitLines(a), splitLines(b)
	var script []diff.Change
	if !binary {
		if script, err = r.script(f, al, bl); err != nil {
			return err
		}
	}
	if p.status == 'M' && p.from.mode == p.to.mode && !binary && len(script) == 0 {
		return nil
	}
	src, dst := r.quoteName(f.srcPrefix+p.from.name), r.quoteName(f.dstPrefix+p.to.name)
	r.patchHeader(p, f, src, dst, bytes.Equal(a, b))
	if p.from.mode == 0 {
		src = "/dev/null"
	}
	if p.to.mode == 0 {
		dst = "/dev/null"
	}
	if binary {
		if !bytes.Equal(a, b) {
			r.printf("Binary files %s and %s differ\n", src, dst)
		}
		return nil
	}
	if len(script) == 0 {
		return nil
	}
	r.printf("--- %s\n+++ %s\n", tabbed(src), tabbed(dst))
	(&hunkPrinter{r: r, a: al, b: bl, context: f.context}).print(script)
	return nil
}

// tabbed ends a name that has a blank in it with a tab, for patch(1).
func tabbed(name string) string {
	if strings.Contains(name, " ") && !strings.HasPrefix(name, `"`) {
		return name + "\t"
	}
	return name
}

// patchHeader prints what comes before the hunks.
func (r *repo) patchHeader(p *filePair, f *diffForm, src, dst string, same bool) {
	r.printf("diff --git %s %s\n", src, dst)
	switch {
	case p.from.mode == 0:
		r.printf("new file mode %06o\n", uint32(p.to.mode))
	case p.to.mode == 0:
		r.printf("deleted file mode %06o\n", uint32(p.from.mode))
	case p.from.mode != p.to.mode:
		r.printf("old mode %06o\nnew mode %06o\n", uint32(p.from.mode), uint32(p.to.mode))
	}
	if p.status == 'R' || p.status == 'C' {
		word := map[byte]string{'R': "rename", 'C': "copy"}[p.status]
		r.printf("similarity index %d%%\n%s from %s\n%s to %s\n", p.score, word, r.quoteName(p.from.name), word, r.quoteName(p.to.name))
	}
	if same && p.from.mode != 0 && p.to.mode != 0 {
		return
	}
	short := r.short
	if f.fullIndex {
		short = plumbing.Hash.String
	}
	r.printf("index %s..%s", short(p.from.hash), short(p.to.hash))
	if p.from.mode == p.to.mode {
		r.printf(" %06o", uint32(p.from.mode))
	}
	r.printf("\n")
}

// hunkPrinter prints hunks with their context.
type hunkPrinter struct {
	r       *repo
	a, b    [][]byte
	context int
}

func (h *hunkPrinter) print(script []diff.Change) {
	lastFunc := -1
	funcLine := ""
	for i := 0; i < len(script); {
		j := i + 1
		for j < len(script) && script[j].Old-(script[j-1].Old+script[j-1].Deleted) <= 2*h.context {
			j++
		}
		first, last := script[i], script[j-1]
		from := max(0, first.Old-h.context)
		to := min(len(h.a), last.Old+last.Deleted+h.context)
		newFrom := first.New - (first.Old - from)
		newTo := last.New + last.Inserted + (to - last.Old - last.Deleted)
		for k := from - 1; k > lastFunc; k-- {
			if isFunction(h.a[k]) {
				funcLine = string(bytes.TrimRight(h.a[k][:min(len(h.a[k]), 80)], " \t\r\n"))
				break
			}
		}
		lastFunc = from - 1
		head := fmt.Sprintf("@@ -%s +%s @@", hunkSpan(from, to-from), hunkSpan(newFrom, newTo-newFrom))
		if funcLine != "" {
			head += " " + funcLine
		}
		h.r.printf("%s\n", head)
		at := from
		for _, c := range script[i:j] {
			// Lines that count as equal are shown as they are now.
			h.lines(" ", h.b[c.New-(c.Old-at):c.New])
			h.lines("-", h.a[c.Old:c.Old+c.Deleted])
			h.lines("+", h.b[c.New:c.New+c.Inserted])
			at = c.Old + c.Deleted
		}
		h.lines(" ", h.b[newTo-(to-at):newTo])
		i = j
	}
}

func (h *hunkPrinter) lines(mark string, lines [][]byte) {
	for _, l := range lines {
		h.r.Stdout.WriteString(mark)
		h.r.Stdout.Write(l)
		if !bytes.HasSuffix(l, []byte("\n")) {
			h.r.Stdout.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// isFunction says whether a line is shown behind the @@ of the hunks after it.
func isFunction(l []byte) bool {
	return len(l) > 0 && (isAlnum(l[0]) && (l[0] < '0' || l[0] > '9') || l[0] == '_' || l[0] == '$')
}

func hunkSpan(from, n int) string {
	switch n {
	case 0:
		return strconv.Itoa(from) + ",0"
	case 1:
		return strconv.Itoa(from + 1)
	}
	return strconv.Itoa(from+1) + "," + strconv.Itoa(n)
}

// typeChange tells a change between file and link from one of permissions.
func typeChange(a, b filemode.FileMode) bool { return a&0o170000 != b&0o170000 }
