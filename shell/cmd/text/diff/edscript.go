package diff

import (
	"fmt"
	"strconv"
)

// script writes the commands that make ed put the changes into my file, from its
// end to its start so that line numbers stay right. It reports whether there
// were conflicts.
func (t *threeWay) script(regions []region) bool {
	conflicts := false
	for n := len(regions) - 1; n >= 0; n-- {
		r := &regions[n]
		ok, conflict := t.wanted(r)
		switch {
		case !ok:
		case conflict:
			conflicts = true
			t.bracket(r)
		default:
			t.replace(r)
		}
	}
	if t.finish {
		t.c.Stdout.WriteString("w\nq\n")
	}
	return conflicts
}

// replace puts your lines in the place of mine.
func (t *threeWay) replace(r *region) {
	out := t.c.Stdout
	mine, yours := r.at[oddMine], t.lines(r, oddYours)
	where := span(mine.from, mine.len())
	switch {
	case len(yours) == 0:
		fmt.Fprintf(out, "%sd\n", where)
		return
	case mine.len() == 0:
		fmt.Fprintf(out, "%da\n", mine.from)
	default:
		fmt.Fprintf(out, "%sc\n", where)
	}
	dots := t.dotted(yours)
	t.endText(dots, mine.from+1, len(yours))
}

// bracket puts a conflict's lines behind mine, and then the first mark before
// them.
func (t *threeWay) bracket(r *region) {
	out := t.c.Stdout
	mine, old, yours := r.at[oddMine], t.lines(r, oddOld), t.lines(r, oddYours)
	fmt.Fprintf(out, "%da\n", mine.to)
	dots := false
	if r.odd == oddAll {
		if t.second {
			fmt.Fprintf(out, "||||||| %s\n", t.labels[oddOld])
			dots = t.dotted(old)
		}
		out.WriteString("=======\n")
		dots = t.dotted(yours) || dots
	}
	fmt.Fprintf(out, ">>>>>>> %s\n", t.labels[oddYours])
	t.endText(dots, mine.to+2, len(old)+len(yours)+1)

	label := t.labels[oddMine]
	if r.odd == oddOld {
		label = t.labels[oddOld]
	}
	fmt.Fprintf(out, "%da\n<<<<<<< %s\n", mine.from, label)
	dots = false
	if r.odd == oddOld {
		if t.second {
			dots = t.dotted(old)
		}
		out.WriteString("=======\n")
	}
	t.endText(dots, mine.from+2, len(old))
}

// dotted writes lines, with another dot before those that start with one; it
// reports whether there were any.
func (t *threeWay) dotted(lines [][]byte) bool {
	dots := false
	for _, line := range lines {
		if line[0] == '.' {
			t.c.Stdout.WriteByte('.')
			dots = true
		}
		t.c.Stdout.Write(line)
	}
	return dots
}

// endText ends the text of a command, and takes the extra dots out of n lines
// from line start on.
func (t *threeWay) endText(dots bool, start, n int) {
	out := t.c.Stdout
	out.WriteString(".\n")
	if !dots {
		return
	}
	where := strconv.Itoa(start)
	if n != 1 {
		where += "," + strconv.Itoa(start+n-1)
	}
	fmt.Fprintf(out, "%ss/^\\.//\n", where)
}
