package diff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "diff3",
		Synopsis: "diff3 [OPTION]... MYFILE OLDFILE YOURFILE",
		Summary:  "Compare three files line by line.",
		Options: []command.Option{
			{Short: 'A', Long: "show-all", Help: "output all changes, bracketing conflicts"},
			{Short: 'e', Long: "ed", Help: "output ed script incorporating changes\nfrom OLDFILE to YOURFILE into MYFILE"},
			{Short: 'E', Long: "show-overlap", Help: "like -e, but bracket conflicts"},
			{Short: '3', Long: "easy-only", Help: "like -e, but incorporate only nonoverlapping changes"},
			{Short: 'x', Long: "overlap-only", Help: "like -e, but incorporate only overlapping changes"},
			{Short: 'X', Help: "like -x"},
			{Short: 'i', Help: "append 'w' and 'q' commands to ed scripts"},
			{Short: 'm', Long: "merge", Help: "output actual merged file, according to\n-A if no other options are given"},
			{Short: 'a', Long: "text", Help: "treat all files as text"},
			{Long: "strip-trailing-cr", ID: optStripCR, Help: "strip trailing carriage return on input"},
			{Short: 'T', Long: "initial-tab", Help: "make tabs line up by prepending a tab"},
			{Short: 'L', Long: "label", Arg: command.RequiredArgument, ArgName: "LABEL", Help: "use LABEL instead of file name\n(can be repeated up to three times)"},
			{Short: 'v'},
		},
		UsageStatus: exitTrouble,
		UsageHint:   "diff3: Try 'diff3 --help' for more information.",
		Notes:       "If a FILE is '-', read standard input.\nExit status is 0 if successful, 1 if conflicts, 2 if trouble.",
	}, diff3)
}

// threeWay is one run of diff3. Its files are those of the command line: mine,
// old and yours.
type threeWay struct {
	*job
	files  [3]*file
	labels []string
	common int // the file that the others are compared with

	forms    int // how many forms of scripts were asked for
	merge    bool
	finish   bool // -i
	tab      bool
	flag     bool // bracket conflicts
	overlaps bool // overlapping changes only
	easy     bool // others only
	second   bool // show also what only the old file has different
}

// lineRange is a run of lines of one file, [from, to).
type lineRange struct{ from, to int }

func (r lineRange) len() int { return r.to - r.from }

// Which file of a region differs from the other two.
const (
	oddMine = iota
	oddOld
	oddYours
	oddAll
)

// region is where the three files are not the same.
type region struct {
	at  [3]lineRange
	odd int
}

// horizonLines is how many equal lines around the changes are looked at, so
// that the two comparisons line up.
const horizonLines = 100

func diff3(ctx context.Context, c *command.Context, args []string) int {
	t := &threeWay{job: &job{c: c, s: &settings{tabSize: 8, context: horizonLines}, utf8: c.Env.UTF8()}}
	names, status, stop := t.options(args)
	if stop {
		return status
	}
	if err := t.open(ctx, names); err != nil {
		return exitTrouble
	}
	regions, err := t.compare(ctx)
	if err != nil {
		return exitTrouble
	}
	conflict := false
	switch {
	case t.merge:
		conflict = t.merged(regions)
	case t.forms > 0:
		conflict = t.script(regions)
	default:
		t.print(regions)
	}
	if conflict {
		return exitDiffers
	}
	return exitSame
}

// options reads the command line.
func (t *threeWay) options(args []string) (names []string, status int, stop bool) {
	c := t.c
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'A':
			t.second, t.flag = true, true
			t.forms++
		case 'e':
			t.forms++
		case 'E':
			t.flag = true
			t.forms++
		case 'x', 'X': // the real one brackets nothing for -X either
			t.overlaps = true
			t.forms++
		case '3':
			t.easy = true
			t.forms++
		case 'i':
			t.finish = true
		case 'm':
			t.merge = true
		case 'a':
			t.s.text = true
		case optStripCR:
			t.s.stripCR = true
		case 'T':
			t.tab = true
		case 'L':
			if len(t.labels) == 3 {
				return nil, c.Usage("too many file label options"), true
			}
			t.labels = append(t.labels, p.Arg())
		case 'v':
			c.Stdout.WriteString("diff3 (vfsd)\n")
			return nil, exitSame, true
		}
	}
	names, status, stop = p.End()
	if stop {
		return nil, status, true
	}
	if t.merge && t.forms == 0 {
		t.second, t.flag = true, true
	}
	switch {
	case t.forms > 1, t.finish && t.merge, len(t.labels) > 0 && !t.flag:
		return nil, c.Usage("incompatible options"), true
	case len(names) < 3:
		after := "diff3"
		if len(names) > 0 {
			after = names[len(names)-1]
		}
		return nil, c.Usage("missing operand after '%s'", after), true
	case len(names) > 3:
		return nil, c.Usage("extra operand '%s'", names[3]), true
	}
	return names, 0, false
}

// errReported says that an error was reported that ends the command.
var errReported = errors.New("reported")

// open reads the files, and settles which is compared with the others.
func (t *threeWay) open(ctx context.Context, names []string) error {
	t.labels = append(t.labels, names[min(len(t.labels), 3):]...)
	// A merge is of the changes from the old file; plain output has always
	// been of those from the last.
	t.common = 2
	if t.forms > 0 || t.merge {
		t.common = 1
	}
	if names[t.common] == "-" {
		t.common = 3 - t.common
		if names[0] == "-" || names[t.common] == "-" {
			t.c.Errorf("'-' specified for more than one input file")
			return errReported
		}
	}
	for i, name := range names {
		f, err := t.stat(name)
		if err == nil && f.attr.IsDir() {
			err = syscall.EISDIR
		}
		if err != nil {
			t.fail(name, err)
			return err
		}
		t.files[i] = f
	}
	// Of two that are standard input, the one that is compared first gets it.
	for _, i := range []int{3 - t.common, t.common, 0} {
		f := t.files[i]
		if err := t.read(ctx, f); err != nil {
			t.fail(f.name, err)
			return err
		}
		f.split(t.s.stripCR)
	}
	return nil
}

// compare finds the regions in which the files are not the same.
func (t *threeWay) compare(ctx context.Context) ([]region, error) {
	var scripts [2][]change
	others := t.others()
	common := t.files[t.common]
	for k := 1; k >= 0; k-- {
		f := t.files[others[k]]
		if !t.s.text && (f.binary || common.binary) && !bytes.Equal(f.data, common.data) {
			t.c.Errorf("diff failed: Binary files %s and %s differ", f.name, common.name)
			return nil, errReported
		}
		x, y := t.classes(f, common)
		script, err := compare(ctx, x, y, false, horizonLines)
		if err != nil {
			return nil, err
		}
		scripts[k] = script
	}
	for k, script := range scripts {
		if t.forms > 0 && !t.merge {
			t.endLines(script, t.files[others[k]], common)
		}
	}
	return t.join(scripts), nil
}

// endLines ends the last lines, if they are part of a change: a script for ed
// cannot say that a newline is missing.
func (t *threeWay) endLines(script []change, files ...*file) {
	if len(script) == 0 {
		return
	}
	last := &script[len(script)-1]
	ends := [2]lineRange{{last.line0, last.line0 + last.deleted}, {last.line1, last.line1 + last.inserted}}
	for i, f := range files {
		n := len(f.lines)
		if !f.noNewline || ends[i].len() == 0 || ends[i].to != n {
			continue
		}
		t.c.Errorf("No newline at end of file")
		if !ended(f.lines[n-1]) {
			f.lines[n-1] = append(f.lines[n-1], '\n')
		}
	}
}

// others are the two files that are compared with the common one.
func (t *threeWay) others() [2]int { return [2]int{0, 3 - t.common} }

// join makes regions of the changes of both comparisons: those that touch in the
// common file belong together.
func (t *threeWay) join(scripts [2][]change) []region {
	var regions []region
	others := t.others()
	var shift [2]int // line in the other file - line in the common one
	for len(scripts[0]) > 0 || len(scripts[1]) > 0 {
		k := 0
		if len(scripts[0]) == 0 || len(scripts[1]) > 0 && scripts[0][0].line1 > scripts[1][0].line1 {
			k = 1
		}
		first := scripts[k][0]
		all := lineRange{first.line1, first.line1 + first.inserted}
		var n [2]int // how many changes of each comparison belong to the region
		n[k] = 1
		for k ^= 1; n[k] < len(scripts[k]) && scripts[k][n[k]].line1 <= all.to; {
			c := scripts[k][n[k]]
			n[k]++
			if end := c.line1 + c.inserted; end > all.to {
				all.to = end
				k ^= 1
			}
		}
		r := region{}
		r.at[t.common] = all
		for i, f := range others {
			from := all.from + shift[i]
			if n[i] > 0 {
				last := scripts[i][n[i]-1]
				shift[i] = last.line0 + last.deleted - last.line1 - last.inserted
			}
			r.at[f] = lineRange{from, all.to + shift[i]}
			scripts[i] = scripts[i][n[i]:]
		}
		r.odd = t.odd(&r, n)
		regions = append(regions, r)
	}
	return regions
}

// odd tells which file stands alone in a region; n counts the changes of the
// two comparisons.
func (t *threeWay) odd(r *region, n [2]int) int {
	others := t.others()
	switch {
	case n[1] == 0:
		return others[0]
	case n[0] == 0:
		return others[1]
	case slices.EqualFunc(t.lines(r, others[0]), t.lines(r, others[1]), bytes.Equal):
		return t.common
	}
	return oddAll
}

// lines are those of file i in a region.
func (t *threeWay) lines(r *region, i int) [][]byte {
	return t.files[i].lines[r.at[i].from:r.at[i].to]
}

// print writes the form for people.
func (t *threeWay) print(regions []region) {
	out := t.c.Stdout
	prefix := "  "
	if t.tab {
		prefix = "\t"
	}
	for n := range regions {
		r := &regions[n]
		order, silent := []int{0, 1, 2}, -1
		switch r.odd {
		case oddAll:
			out.WriteString("====\n")
		default:
			fmt.Fprintf(out, "====%d\n", r.odd+1)
			// Of the two that are equal, the first only names its lines.
			silent = 0
			switch r.odd {
			case oddMine:
				silent = 1
			case oddOld:
				order = []int{0, 2, 1}
			}
		}
		for _, i := range order {
			at := r.at[i]
			if at.len() == 0 {
				fmt.Fprintf(out, "%d:%da\n", i+1, at.from)
			} else {
				fmt.Fprintf(out, "%d:%sc\n", i+1, span(at.from, at.len()))
			}
			if i == silent {
				continue
			}
			for _, line := range t.lines(r, i) {
				out.WriteString(prefix)
				out.Write(line)
				if !ended(line) {
					out.WriteString("\n\\ No newline at end of file\n")
				}
			}
		}
	}
}

// wanted tells whether a region is part of a script or merge, and whether as a
// conflict.
func (t *threeWay) wanted(r *region) (ok, conflict bool) {
	switch r.odd {
	case oddOld:
		return t.second, true
	case oddYours:
		return !t.overlaps, false
	case oddAll:
		return !t.easy, t.flag
	}
	return false, false
}

// merged writes my file with the changes put in, and reports whether there were
// conflicts.
func (t *threeWay) merged(regions []region) bool {
	out := t.c.Stdout
	put := func(lines [][]byte) {
		for _, line := range lines {
			out.Write(line)
		}
	}
	conflicts := false
	at := 0
	for n := range regions {
		r := &regions[n]
		ok, conflict := t.wanted(r)
		if !ok {
			continue
		}
		put(t.files[oddMine].lines[at:r.at[oddMine].from])
		at = r.at[oddMine].to
		if conflict {
			conflicts = true
			mark := "<<<<<<<"
			if r.odd == oddAll {
				fmt.Fprintf(out, "<<<<<<< %s\n", t.labels[oddMine])
				put(t.lines(r, oddMine))
				mark = "|||||||"
			}
			if t.second {
				fmt.Fprintf(out, "%s %s\n", mark, t.labels[oddOld])
				put(t.lines(r, oddOld))
			}
			out.WriteString("=======\n")
		}
		put(t.lines(r, oddYours))
		if conflict {
			fmt.Fprintf(out, ">>>>>>> %s\n", t.labels[oddYours])
		}
	}
	put(t.files[oddMine].lines[at:])
	return conflicts
}
