package diff

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
)

// printer prints the changes between two files.
type printer struct {
	*job
	ctx    context.Context
	a, b   *file
	script []change
	found  int // the line that a search for a function starts behind
	last   int // the function line found last, -1 for none
	// unfinished says that the form cannot express a missing newline.
	unfinished bool
}

func (p *printer) print() {
	p.last = -1
	if p.s.style == styleEd || p.s.style == styleForwardEd {
		for _, f := range []*file{p.a, p.b} {
			if f.noNewline {
				p.unfinished = true
				p.c.Errorf("%s: No newline at end of file\n", f.name)
			}
		}
	}
	switch p.s.style {
	case styleUnified:
		p.headers("---", "+++")
		p.hunks(p.unified)
	case styleContext:
		p.headers("***", "---")
		p.hunks(p.contextHunk)
	case styleEd:
		for i := len(p.script) - 1; i >= 0; i-- {
			if !p.script[i].ignore {
				p.ed(&p.script[i])
			}
		}
	case styleForwardEd:
		for i := range p.script {
			if !p.script[i].ignore {
				p.forwardEd(&p.script[i])
			}
		}
	case styleRCS:
		for i := range p.script {
			p.rcs(&p.script[i])
		}
	case styleSide:
		p.side()
	default:
		for i := range p.script {
			if !p.script[i].ignore {
				p.normal(&p.script[i])
			}
		}
	}
}

// line prints a line behind a mark, and what is to be said of a missing
// newline.
func (p *printer) line(mark string, f *file, i int) {
	out := p.c.Stdout
	text := f.lines[i]
	if p.s.suppress && len(text) == 1 && text[0] == '\n' {
		mark = strings.TrimRight(mark, " \t")
	}
	out.WriteString(mark)
	p.text(text)
	if f.noNewline && i == len(f.lines)-1 {
		out.WriteString("\n\\ No newline at end of file\n")
	}
}

// text prints a line's text, its tabs expanded if asked for.
func (p *printer) text(text []byte) {
	if !p.s.expandTabs {
		p.c.Stdout.Write(text)
		return
	}
	column := 0
	for _, c := range text {
		if c != '\t' {
			p.c.Stdout.WriteByte(c)
			column++
			continue
		}
		n := p.s.tabSize - column%p.s.tabSize
		p.c.Stdout.WriteString(strings.Repeat(" ", n))
		column += n
	}
}

// mark is a mark with the blank behind it that -T makes a tab.
func (p *printer) mark(s string) string {
	if p.s.initialTab {
		return s + "\t"
	}
	return s + " "
}

// span writes a range of lines the way most forms do: 3 or 3,5. first counts
// from 0; an empty range is named by the line before it.
func span(first, n int) string {
	if n > 1 {
		return strconv.Itoa(first+1) + "," + strconv.Itoa(first+n)
	}
	return strconv.Itoa(first + n)
}

// letter is the command of a change in the ed-like forms.
func letter(c *change) string {
	switch {
	case c.inserted == 0:
		return "d"
	case c.deleted == 0:
		return "a"
	}
	return "c"
}

func (p *printer) normal(c *change) {
	out := p.c.Stdout
	fmt.Fprintf(out, "%s%s%s\n", span(c.line0, c.deleted), letter(c), span(c.line1, c.inserted))
	for i := range c.deleted {
		p.line(p.mark("<"), p.a, c.line0+i)
	}
	if c.deleted > 0 && c.inserted > 0 {
		out.WriteString("---\n")
	}
	for i := range c.inserted {
		p.line(p.mark(">"), p.b, c.line1+i)
	}
}

// ed writes a change as an ed script does. A line that is a lone dot ends the
// text early, and is put in by way of two.
func (p *printer) ed(c *change) {
	out := p.c.Stdout
	out.WriteString(span(c.line0, c.deleted) + letter(c) + "\n")
	if c.inserted == 0 {
		return
	}
	open := true
	for i := range c.inserted {
		line := p.b.lines[c.line1+i]
		if !open {
			out.WriteString("a\n")
			open = true
		}
		if line[0] == '.' && (len(line) == 1 || line[1] == '\n') {
			out.WriteString("..\n.\ns/.//\n")
			open = false
			continue
		}
		out.Write(line)
		if line[len(line)-1] != '\n' {
			out.WriteByte('\n')
		}
	}
	if open {
		out.WriteString(".\n")
	}
}

func (p *printer) forwardEd(c *change) {
	out := p.c.Stdout
	r := strconv.Itoa(c.line0 + c.deleted)
	if c.deleted > 1 {
		r = strconv.Itoa(c.line0+1) + " " + r
	}
	out.WriteString(letter(c) + r + "\n")
	if c.inserted == 0 {
		return
	}
	for i := range c.inserted {
		out.Write(p.b.lines[c.line1+i])
	}
	out.WriteString(".\n")
}

func (p *printer) rcs(c *change) {
	out := p.c.Stdout
	if c.deleted > 0 {
		fmt.Fprintf(out, "d%d %d\n", c.line0+1, c.deleted)
	}
	if c.inserted > 0 {
		fmt.Fprintf(out, "a%d %d\n", c.line0+c.deleted, c.inserted)
		for i := range c.inserted {
			out.Write(p.b.lines[c.line1+i])
		}
	}
}

// headers prints the lines that name the files.
func (p *printer) headers(mark0, mark1 string) {
	for i, f := range []*file{p.a, p.b} {
		mark := mark0
		if i == 1 {
			mark = mark1
		}
		if i < len(p.s.labels) {
			fmt.Fprintf(p.c.Stdout, "%s %s\n", mark, p.s.labels[i])
			continue
		}
		fmt.Fprintf(p.c.Stdout, "%s %s\t%s\n", mark, p.headerName(f.name), p.time(f))
	}
}

// headerName quotes a name that would not be read back.
func (p *printer) headerName(name string) string {
	plain := true
	for i := range len(name) {
		if c := name[i]; c < ' ' || c == '"' || c == '\\' || c == 0x7f {
			plain = false
		}
	}
	if plain && !strings.Contains(name, " ") {
		return name
	}
	if plain {
		return "\"" + name + "\""
	}
	return strconv.Quote(name)
}

// time is the time in a header.
func (p *printer) time(f *file) string {
	t := time.Unix(0, f.attr.Mtime)
	if f.absent {
		t = time.Unix(0, 0)
	}
	t = t.In(p.c.Location)
	if p.s.style == styleContext && !p.hardTime() {
		return gnulib.Strftime("%a %b %e %T %Y", t)
	}
	return gnulib.Strftime("%Y-%m-%d %H:%M:%S.%N %z", t)
}

// hardTime reports whether times are not in the POSIX locale.
func (p *printer) hardTime() bool {
	for _, name := range [...]string{"LC_ALL", "LC_TIME", "LANG"} {
		switch p.c.Env.Get(name) {
		case "":
		case "C", "POSIX":
			return false
		default:
			return true
		}
	}
	return false
}

// hunks groups changes that are close, and prints each group that counts.
func (p *printer) hunks(print func(hunk []change)) {
	for i := 0; i < len(p.script); {
		k := i + 1
		for k < len(p.script) {
			threshold := 2*p.s.context + 1
			if p.script[k].ignore {
				threshold = p.s.context
			}
			prev := &p.script[k-1]
			if p.script[k].line0-(prev.line0+prev.deleted) >= threshold {
				break
			}
			k++
		}
		hunk := p.script[i:k]
		for n := range hunk {
			if !hunk[n].ignore {
				print(hunk)
				break
			}
		}
		i = k
		if p.c.Stdout.Err() != nil {
			return
		}
	}
}

// bounds returns the lines of both files that a hunk shows: [from, to) of each.
func (p *printer) bounds(hunk []change) (from0, to0, from1, to1 int) {
	first, last := &hunk[0], &hunk[len(hunk)-1]
	before := min(p.s.context, first.line0)
	from0, from1 = first.line0-before, max(0, first.line1-before)
	end0, end1 := last.line0+last.deleted, last.line1+last.inserted
	after := min(p.s.context, len(p.a.lines)-end0)
	return from0, end0 + after, from1, min(end1+after, len(p.b.lines))
}

// function is the line above a hunk that -p or -F shows.
func (p *printer) function(from int) string {
	if p.s.function == nil {
		return ""
	}
	for i := from - 1; i >= p.found; i-- {
		ok, err := p.s.function.Match(p.ctx, bytes.TrimSuffix(p.a.lines[i], []byte{'\n'}))
		if err != nil {
			return ""
		}
		if ok {
			p.last = i
			break
		}
	}
	p.found = max(p.found, from)
	if p.last < 0 {
		return ""
	}
	const most = 40
	s := strings.TrimRight(string(p.a.lines[p.last]), "\n")
	s = strings.TrimLeft(s, " \t\v\f\r")
	if len(s) > most {
		s = s[:most]
	}
	return " " + strings.TrimRight(s, " \t\v\f\r")
}

// unifiedSpan is a range in the unified form.
func unifiedSpan(from, to int) string {
	switch to - from {
	case 0:
		return strconv.Itoa(from) + ",0"
	case 1:
		return strconv.Itoa(from + 1)
	}
	return strconv.Itoa(from+1) + "," + strconv.Itoa(to-from)
}

func (p *printer) unified(hunk []change) {
	from0, to0, from1, to1 := p.bounds(hunk)
	out := p.c.Stdout
	fmt.Fprintf(out, "@@ -%s +%s @@%s\n", unifiedSpan(from0, to0), unifiedSpan(from1, to1), p.function(from0))
	tab := ""
	if p.s.initialTab {
		tab = "\t"
	}
	same := " "
	if tab != "" {
		same = "\t"
	}
	i := from0
	for n := range hunk {
		c := &hunk[n]
		for ; i < c.line0; i++ {
			p.line(same, p.a, i)
		}
		for k := range c.deleted {
			p.line("-"+tab, p.a, c.line0+k)
		}
		for k := range c.inserted {
			p.line("+"+tab, p.b, c.line1+k)
		}
		i = c.line0 + c.deleted
	}
	for ; i < to0; i++ {
		p.line(same, p.a, i)
	}
}

// contextSpan is a range in the context form.
func contextSpan(from, to int) string {
	if to-from <= 1 {
		return strconv.Itoa(to)
	}
	return strconv.Itoa(from+1) + "," + strconv.Itoa(to)
}

func (p *printer) contextHunk(hunk []change) {
	from0, to0, from1, to1 := p.bounds(hunk)
	out := p.c.Stdout
	fmt.Fprintf(out, "***************%s\n*** %s ****\n", p.function(from0), contextSpan(from0, to0))
	deletes, inserts := false, false
	for n := range hunk {
		deletes = deletes || hunk[n].deleted > 0
		inserts = inserts || hunk[n].inserted > 0
	}
	if deletes {
		p.contextLines(hunk, p.a, from0, to0, "-", func(c *change) (int, int) { return c.line0, c.deleted })
	}
	fmt.Fprintf(out, "--- %s ----\n", contextSpan(from1, to1))
	if inserts {
		p.contextLines(hunk, p.b, from1, to1, "+", func(c *change) (int, int) { return c.line1, c.inserted })
	}
}

// contextLines prints one side of a hunk.
func (p *printer) contextLines(hunk []change, f *file, from, to int, mark string, side func(*change) (start, n int)) {
	n := 0
	for i := from; i < to; i++ {
		for n < len(hunk) {
			start, count := side(&hunk[n])
			if start+count > i {
				break
			}
			n++
		}
		m := " "
		if n < len(hunk) {
			if start, _ := side(&hunk[n]); start <= i {
				m = mark
				if hunk[n].deleted > 0 && hunk[n].inserted > 0 {
					m = "!"
				}
			}
		}
		p.line(p.mark(m), f, i)
	}
}
