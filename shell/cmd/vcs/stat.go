package vcs

import (
	"fmt"
	"strings"

	"github.com/mattn/go-runewidth"
)

// fileStat counts the lines that changed in a file.
type fileStat struct {
	pair       *filePair
	add, del   int
	binary     bool
	from, to   int // sizes of a binary file
	unmerged   bool
	shown      string
	modeChange bool
}

// stats counts lines for all pairs.
func (r *repo) stats(pairs []*filePair, f *diffForm) ([]fileStat, error) {
	var out []fileStat
	for _, p := range pairs {
		s := fileStat{pair: p, unmerged: p.status == 'U'}
		a, err := r.content(&p.from)
		if err != nil {
			return nil, err
		}
		b, err := r.content(&p.to)
		if err != nil {
			return nil, err
		}
		s.from, s.to = len(a), len(b)
		if !f.text && (isBinary(a) || isBinary(b)) {
			s.binary = true
		} else {
			script, err := r.script(f, splitLines(a), splitLines(b))
			if err != nil {
				return nil, err
			}
			for _, c := range script {
				s.add += c.Inserted
				s.del += c.Deleted
			}
			if p.status == 'M' && p.from.mode == p.to.mode && s.add+s.del == 0 {
				continue
			}
		}
		s.shown = r.statName(p)
		out = append(out, s)
	}
	return out, nil
}

// statName is a name, or both of a rename with what they share outside braces.
func (r *repo) statName(p *filePair) string {
	if p.status != 'R' && p.status != 'C' {
		return r.quoteName(p.name())
	}
	return braced(r.quoteName(p.from.name), r.quoteName(p.to.name))
}

func braced(a, b string) string {
	if strings.HasPrefix(a, `"`) || strings.HasPrefix(b, `"`) {
		return a + " => " + b
	}
	prefix := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			prefix = i + 1
		}
	}
	suffix := 0
	over := 0
	if prefix > 0 {
		over = 1
	}
	for i := 1; len(a)-i >= prefix-over && len(b)-i >= prefix-over && a[len(a)-i] == b[len(b)-i]; i++ {
		if a[len(a)-i] == '/' {
			suffix = i
		}
	}
	midA, midB := max(0, len(a)-prefix-suffix), max(0, len(b)-prefix-suffix)
	if prefix+suffix == 0 {
		return a + " => " + b
	}
	return a[:prefix] + "{" + a[prefix:prefix+midA] + " => " + b[prefix:prefix+midB] + "}" + a[len(a)-suffix:]
}

// printStat prints the histogram of --stat.
func (r *repo) printStat(stats []fileStat, width int) {
	if width <= 0 {
		width = 80
	}
	maxName, maxChange, numberWidth, binWidth := 0, 0, 0, 0
	for _, s := range stats {
		maxName = max(maxName, runewidth.StringWidth(s.shown))
		switch {
		case s.unmerged:
			binWidth = max(binWidth, len("Unmerged"))
		case s.binary:
			binWidth = max(binWidth, len(fmt.Sprintf("Bin %d -> %d bytes", s.from, s.to)))
			numberWidth = max(numberWidth, 3)
		default:
			maxChange = max(maxChange, s.add+s.del)
		}
	}
	numberWidth = max(numberWidth, len(fmt.Sprint(maxChange)))
	width = max(width, 16+6+numberWidth)
	graph := maxChange
	if graph+4 <= binWidth {
		graph = binWidth - 4
	}
	name := maxName
	if name+numberWidth+6+graph > width {
		if most := width*3/8 - numberWidth - 6; graph > most {
			graph = max(6, most)
		}
		if name > width-numberWidth-6-graph {
			name = width - numberWidth - 6 - graph
		} else {
			graph = width - numberWidth - 6 - name
		}
	}
	for _, s := range stats {
		r.statLine(&s, name, numberWidth, graph, maxChange)
	}
}

func (r *repo) statLine(s *fileStat, nameWidth, numberWidth, graph, maxChange int) {
	name := s.shown
	if w := runewidth.StringWidth(name); w > nameWidth {
		// Cut at the front, at a slash if there is one.
		cut := len(name) - max(0, nameWidth-3)
		if i := strings.IndexByte(name[cut:], '/'); i >= 0 {
			cut += i
		}
		name = "..." + name[cut:]
	}
	pad := strings.Repeat(" ", max(0, nameWidth-runewidth.StringWidth(name)))
	switch {
	case s.unmerged:
		r.printf(" %s%s | Unmerged\n", name, pad)
		return
	case s.binary:
		r.printf(" %s%s | %*s", name, pad, numberWidth, "Bin")
		if s.from == s.to && s.from == 0 {
			r.printf("\n")
			return
		}
		r.printf(" %d -> %d bytes\n", s.from, s.to)
		return
	}
	add, del := s.add, s.del
	if graph <= maxChange {
		scale := func(n int) int {
			if n == 0 {
				return 0
			}
			return 1 + n*(graph-1)/maxChange
		}
		total := scale(add + del)
		if total < 2 && add > 0 && del > 0 {
			total = 2
		}
		if add < del {
			add = scale(add)
			del = total - add
		} else {
			del = scale(del)
			add = total - del
		}
	}
	r.printf(" %s%s | %*d", name, pad, numberWidth, s.add+s.del)
	if s.add+s.del > 0 {
		r.printf(" ")
	}
	r.printf("%s%s\n", strings.Repeat("+", add), strings.Repeat("-", del))
}

// shortStat is the summary line; "" when nothing changed.
func shortStat(stats []fileStat) string {
	add, del, files := 0, 0, 0
	for _, s := range stats {
		if s.unmerged {
			continue
		}
		files++
		add += s.add
		del += s.del
	}
	plural := func(n int, word string) string {
		if n == 1 {
			return fmt.Sprintf("%d %s", n, word)
		}
		return fmt.Sprintf("%d %ss", n, word)
	}
	if files == 0 {
		return " 0 files changed\n"
	}
	line := " " + plural(files, "file") + " changed"
	if add > 0 || del == 0 {
		line += ", " + plural(add, "insertion") + "(+)"
	}
	if del > 0 || add == 0 {
		line += ", " + plural(del, "deletion") + "(-)"
	}
	return line + "\n"
}

// printSummary tells of files made, removed, renamed and of changed modes.
func (r *repo) printSummary(pairs []*filePair) {
	for _, p := range pairs {
		switch p.status {
		case 'A':
			r.printf(" create mode %06o %s\n", uint32(p.to.mode), r.quoteName(p.to.name))
		case 'D':
			r.printf(" delete mode %06o %s\n", uint32(p.from.mode), r.quoteName(p.from.name))
		case 'R', 'C':
			word := map[byte]string{'R': "rename", 'C': "copy"}[p.status]
			r.printf(" %s %s (%d%%)\n", word, r.statName(p), p.score)
			if p.from.mode != p.to.mode {
				r.printf(" mode change %06o => %06o\n", uint32(p.from.mode), uint32(p.to.mode))
			}
		default:
			if p.from.mode != p.to.mode && p.from.mode != 0 {
				r.printf(" mode change %06o => %06o %s\n", uint32(p.from.mode), uint32(p.to.mode), r.quoteName(p.to.name))
			}
		}
	}
}

// show prints pairs in all forms that were asked for.
func (r *repo) show(pairs []*filePair, f *diffForm) error {
	if f.none {
		return nil
	}
	end, sep := "\n", "\t"
	if f.nul {
		end, sep = "\x00", "\x00"
	}
	name := func(s string) string {
		if f.nul {
			return s
		}
		return r.quoteName(s)
	}
	for _, p := range pairs {
		st := string(p.status)
		if p.status == 'R' || p.status == 'C' {
			st = fmt.Sprintf("%c%03d", p.status, p.score)
		}
		both := name(p.name())
		if p.status == 'R' || p.status == 'C' {
			both = name(p.from.name) + sep + name(p.to.name)
		}
		switch {
		case f.nameOnly:
			r.printf("%s%s", name(p.name()), end)
		case f.nameStatus:
			r.printf("%s%s%s%s", st, sep, both, end)
		case f.raw:
			to := p.to.hash
			if p.to.work {
				to = [20]byte{}
			}
			r.printf(":%06o %06o %s %s %s%s%s%s", uint32(p.from.mode), uint32(p.to.mode), r.short(p.from.hash), r.short(to), st, sep, both, end)
		}
	}
	if f.nameOnly || f.nameStatus {
		return nil
	}
	if err := r.showStats(pairs, f, end); err != nil {
		return err
	}
	if f.summary {
		r.printSummary(pairs)
	}
	if !f.patch {
		return nil
	}
	if (f.stat || f.numstat || f.shortstat || f.summary || f.raw) && len(pairs) > 0 {
		r.printf("\n")
	}
	for _, p := range pairs {
		if err := r.printPatch(p, f); err != nil {
			return err
		}
	}
	return nil
}

// showStats prints the forms that count lines.
func (r *repo) showStats(pairs []*filePair, f *diffForm, end string) error {
	if !f.stat && !f.numstat && !f.shortstat {
		return nil
	}
	stats, err := r.stats(pairs, f)
	if err != nil {
		return err
	}
	if f.numstat {
		for _, s := range stats {
			if s.binary {
				r.printf("-\t-\t")
			} else {
				r.printf("%d\t%d\t", s.add, s.del)
			}
			switch {
			case !f.nul:
				r.printf("%s\n", s.shown)
			case s.pair.status == 'R' || s.pair.status == 'C':
				r.printf("\x00%s\x00%s\x00", s.pair.from.name, s.pair.to.name)
			default:
				r.printf("%s%s", s.pair.name(), end)
			}
		}
	}
	if len(stats) == 0 {
		return nil
	}
	if f.stat {
		r.printStat(stats, f.statWidth)
	}
	if f.stat || f.shortstat {
		r.printf("%s", shortStat(stats))
	}
	return nil
}
