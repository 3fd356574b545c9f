// Package diff is diff, sdiff, diff3 and patch.
package diff

import (
	"context"
	"math"
)

// change is a run of lines of the one text that stands in place of a run of the
// other. Line numbers count from 0.
type change struct {
	line0, line1      int // where the runs start
	deleted, inserted int
	ignore            bool // it does not count: blank lines, or what -I matches
}

// sequence is one text, each line as the number of its class: lines that count
// as equal have the same.
type sequence struct {
	class   []int
	changed []bool
}

// differ compares two texts the way GNU diff does: lines without a counterpart
// are set aside, a shortest edit script is found for the rest by Myers's
// method from both ends (with a limit of its cost), and runs of changes are
// moved to where they join others.
type differ struct {
	ctx      context.Context
	seq      [2]*sequence
	minimal  bool
	kept     [2][]int // classes of the lines that are compared
	index    [2][]int // where those are in the text
	forward  []int
	backward []int
	offset   int // of diagonal 0 in the vectors
	limit    int // a cost beyond which the search settles for what it has
	steps    int
	err      error
}

// compare returns the changes between two texts of classes. The equal lines at
// both ends are left out but for horizon of them, into which runs of changes
// may move.
func compare(ctx context.Context, a, b []int, minimal bool, horizon int) ([]change, error) {
	d := &differ{ctx: ctx, minimal: minimal}
	// Equal ends need no search.
	start := 0
	for start < len(a) && start < len(b) && a[start] == b[start] {
		start++
	}
	end := 0
	for end < len(a)-start && end < len(b)-start && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	start -= min(start, horizon)
	end -= min(end, horizon)
	for i, s := range [][]int{a[start : len(a)-end], b[start : len(b)-end]} {
		d.seq[i] = &sequence{class: s, changed: make([]bool, len(s))}
	}
	d.setAside()
	d.search()
	if d.err != nil {
		return nil, d.err
	}
	d.shift(0)
	d.shift(1)
	return d.script(start), nil
}

// What setAside thinks of a line.
const (
	keepLine  = iota
	dropLine  // it has no counterpart
	dropMaybe // it has very many
)

// setAside marks lines as changed that have no counterpart, and with them some
// that have too many to be of use.
func (d *differ) setAside() {
	var counts [2]map[int]int
	for i, s := range d.seq {
		counts[i] = make(map[int]int, len(s.class))
		for _, c := range s.class {
			counts[i][c]++
		}
	}
	for i, s := range d.seq {
		marks := make([]byte, len(s.class))
		many := 5
		for n := len(s.class) / 64 >> 2; n > 0; n >>= 2 {
			many *= 2
		}
		for k, c := range s.class {
			switch n := counts[1-i][c]; {
			case n == 0:
				marks[k] = dropLine
			case n > many:
				marks[k] = dropMaybe
			}
		}
		settleMarks(marks)
		for k, m := range marks {
			if m == keepLine || d.minimal {
				d.kept[i] = append(d.kept[i], s.class[k])
				d.index[i] = append(d.index[i], k)
			} else {
				s.changed[k] = true
			}
		}
	}
}

// settleMarks decides about the lines that may be dropped: only in the middle
// of a run of lines that surely are, and not too many of them.
func settleMarks(marks []byte) {
	for i := 0; i < len(marks); i++ {
		if marks[i] == dropMaybe {
			marks[i] = keepLine
		}
		if marks[i] == keepLine {
			continue
		}
		end, maybe := i, 0
		for end < len(marks) && marks[end] != keepLine {
			if marks[end] == dropMaybe {
				maybe++
			}
			end++
		}
		for marks[end-1] == dropMaybe {
			end--
			marks[end] = keepLine
			maybe--
		}
		run := marks[i:end]
		if maybe*4 > len(run) {
			for k := range run {
				if run[k] == dropMaybe {
					run[k] = keepLine
				}
			}
			continue
		}
		settleRun(run)
		i = end - 1
	}
}

// settleRun keeps the doubtful lines of a run that stand together, or near its
// ends.
func settleRun(run []byte) {
	least := 1
	for n := len(run) >> 2 >> 2; n > 0; n >>= 2 {
		least <<= 1
	}
	least++
	for k := 0; k < len(run); {
		if run[k] != dropMaybe {
			k++
			continue
		}
		end := k
		for end < len(run) && run[end] == dropMaybe {
			end++
		}
		if end-k >= least {
			for j := k; j < end; j++ {
				run[j] = keepLine
			}
		}
		k = end
	}
	fromEnd := func(at func(int) *byte) {
		sure := 0
		for k := range run {
			m := at(k)
			if k >= 8 && *m == dropLine {
				return
			}
			switch *m {
			case dropMaybe:
				*m, sure = keepLine, 0
			case keepLine:
				sure = 0
			default:
				sure++
			}
			if sure == 3 {
				return
			}
		}
	}
	fromEnd(func(k int) *byte { return &run[k] })
	fromEnd(func(k int) *byte { return &run[len(run)-1-k] })
}

// leastLimit is the least cost that a search may have before it settles for
// less than the best.
const leastLimit = 4096

// search finds the changed lines among those that were kept.
func (d *differ) search() {
	n, m := len(d.kept[0]), len(d.kept[1])
	diagonals := n + m + 3
	d.forward, d.backward = make([]int, diagonals), make([]int, diagonals)
	d.offset = m + 1
	d.limit = 1
	for k := diagonals; k > 0; k >>= 2 {
		d.limit <<= 1
	}
	d.limit = max(d.limit, leastLimit)
	d.divide(0, n, 0, m, d.minimal)
}

// divide compares the lines [x0, x1) and [y0, y1) of the two texts.
func (d *differ) divide(x0, x1, y0, y1 int, minimal bool) {
	a, b := d.kept[0], d.kept[1]
	for d.err == nil {
		for x0 < x1 && y0 < y1 && a[x0] == b[y0] {
			x0++
			y0++
		}
		for x0 < x1 && y0 < y1 && a[x1-1] == b[y1-1] {
			x1--
			y1--
		}
		if x0 == x1 || y0 == y1 {
			break
		}
		p := d.middle(x0, x1, y0, y1, minimal)
		d.divide(x0, p.x, y0, p.y, p.lowMinimal)
		x0, y0, minimal = p.x, p.y, p.highMinimal
	}
	for ; x0 < x1; x0++ {
		d.seq[0].changed[d.index[0][x0]] = true
	}
	for ; y0 < y1; y0++ {
		d.seq[1].changed[d.index[1][y0]] = true
	}
}

// split is a point that a good edit script goes through.
type split struct {
	x, y int
	// The parts before and behind are to be searched without a limit.
	lowMinimal, highMinimal bool
}

// checkEvery is how many rounds of the search pass between looks at the context.
const checkEvery = 256

// middle finds a point in the middle of a shortest edit script, by following
// the furthest paths from both ends until they meet.
func (d *differ) middle(x0, x1, y0, y1 int, minimal bool) split {
	a, b := d.kept[0], d.kept[1]
	f, r, o := d.forward, d.backward, d.offset
	lowest, highest := x0-y1, x1-y0
	fmid, rmid := x0-y0, x1-y1
	fmin, fmax, rmin, rmax := fmid, fmid, rmid, rmid
	odd := (fmid-rmid)&1 != 0
	f[o+fmid], r[o+rmid] = x0, x1
	for cost := 1; ; cost++ {
		if d.steps++; d.steps%checkEvery == 0 && d.ctx.Err() != nil {
			d.err = context.Cause(d.ctx)
			return split{x: x1, y: y1}
		}
		if fmin > lowest {
			fmin--
			f[o+fmin-1] = -1
		} else {
			fmin++
		}
		if fmax < highest {
			fmax++
			f[o+fmax+1] = -1
		} else {
			fmax--
		}
		for k := fmax; k >= fmin; k -= 2 {
			x := max(f[o+k-1]+1, f[o+k+1])
			y := x - k
			for x < x1 && y < y1 && a[x] == b[y] {
				x++
				y++
			}
			f[o+k] = x
			if odd && rmin <= k && k <= rmax && r[o+k] <= x {
				return split{x, y, true, true}
			}
		}
		if rmin > lowest {
			rmin--
			r[o+rmin-1] = math.MaxInt
		} else {
			rmin++
		}
		if rmax < highest {
			rmax++
			r[o+rmax+1] = math.MaxInt
		} else {
			rmax--
		}
		for k := rmax; k >= rmin; k -= 2 {
			x := r[o+k+1] - 1
			if r[o+k-1] < r[o+k+1] {
				x = r[o+k-1]
			}
			y := x - k
			for x0 < x && y0 < y && a[x-1] == b[y-1] {
				x--
				y--
			}
			r[o+k] = x
			if !odd && fmin <= k && k <= fmax && x <= f[o+k] {
				return split{x, y, true, true}
			}
		}
		if !minimal && cost >= d.limit {
			return d.settle(x0, x1, y0, y1, fmin, fmax, rmin, rmax)
		}
	}
}

// settle returns the best point so far when the search has become too costly.
func (d *differ) settle(x0, x1, y0, y1, fmin, fmax, rmin, rmax int) split {
	best, bestX := -1, 0
	for k := fmax; k >= fmin; k -= 2 {
		x := min(d.forward[d.offset+k], x1)
		y := x - k
		if y1 < y {
			x, y = y1+k, y1
		}
		if best < x+y {
			best, bestX = x+y, x
		}
	}
	rbest, rbestX := math.MaxInt, 0
	for k := rmax; k >= rmin; k -= 2 {
		x := max(x0, d.backward[d.offset+k])
		y := x - k
		if y < y0 {
			x, y = y0+k, y0
		}
		if x+y < rbest {
			rbest, rbestX = x+y, x
		}
	}
	if x1+y1-rbest < best-(x0+y0) {
		return split{bestX, best - bestX, true, false}
	}
	return split{rbestX, rbest - rbestX, false, true}
}

// shift moves runs of changes in text i: up as far as they go, which joins them
// with others, then down; and at last to where the other text has a change too.
func (d *differ) shift(i int) {
	s := d.seq[i]
	changed, other, class := s.changed, d.seq[1-i].changed, s.class
	// Reading past either end finds no change.
	at := func(c []bool, k int) bool { return k >= 0 && k < len(c) && c[k] }
	n := len(changed)
	pos, j := 0, 0
	for {
		for pos < n && !changed[pos] {
			for at(other, j) {
				j++
			}
			j++
			pos++
		}
		if pos == n {
			return
		}
		start := pos
		for at(changed, pos) {
			pos++
		}
		for at(other, j) {
			j++
		}
		corresponding := 0
		for length := -1; length != pos-start; {
			length = pos - start
			for start > 0 && class[start-1] == class[pos-1] {
				start--
				pos--
				changed[start], changed[pos] = true, false
				for at(changed, start-1) {
					start--
				}
				for j--; at(other, j); j-- {
				}
			}
			corresponding = n
			if at(other, j-1) {
				corresponding = pos
			}
			for pos < n && class[start] == class[pos] {
				changed[start], changed[pos] = false, true
				start++
				pos++
				for at(changed, pos) {
					pos++
				}
				for j++; at(other, j); j++ {
					corresponding = pos
				}
			}
		}
		for corresponding < pos {
			start--
			pos--
			changed[start], changed[pos] = true, false
			for j--; at(other, j); j-- {
			}
		}
	}
}

// script lists the runs of changed lines; skipped is the length of the equal
// start.
func (d *differ) script(skipped int) []change {
	a, b := d.seq[0].changed, d.seq[1].changed
	var out []change
	for i, j := 0, 0; i < len(a) || j < len(b); {
		if i < len(a) && a[i] || j < len(b) && b[j] {
			c := change{line0: i + skipped, line1: j + skipped}
			for i < len(a) && a[i] {
				i++
				c.deleted++
			}
			for j < len(b) && b[j] {
				j++
				c.inserted++
			}
			out = append(out, c)
			continue
		}
		i++
		j++
	}
	return out
}
