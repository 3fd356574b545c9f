package data

import (
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// whole opens the n-th operand and reads all of it.
func (x *xanRun) whole(n int) (head []string, rows [][]string, err error) {
	t, err := x.open(n)
	if err != nil {
		return nil, nil, err
	}
	rows, err = t.all()
	return t.head, rows, err
}

func (x *xanRun) write(head []string, rows [][]string) error {
	if err := x.header(head); err != nil {
		return err
	}
	return x.out.WriteAll(rows)
}

func (x *xanRun) reverse() error {
	head, rows, err := x.whole(0)
	if err != nil {
		return err
	}
	slices.Reverse(rows)
	return x.write(head, rows)
}

func (x *xanRun) sort() error {
	head, rows, err := x.whole(0)
	if err != nil {
		return err
	}
	cols, err := columns(x.opts["s"], head)
	if err != nil {
		return err
	}
	compare := func(a, b []string) int {
		for _, c := range cols {
			n := cmp.Compare(a[c], b[c])
			if x.has("N") {
				n = cmp.Compare(numberOr(a[c]), numberOr(b[c]))
			}
			if n != 0 {
				return n
			}
		}
		return 0
	}
	if x.has("R") {
		slices.SortStableFunc(rows, func(a, b []string) int { return compare(b, a) })
	} else {
		slices.SortStableFunc(rows, compare)
	}
	if x.has("u") {
		rows = slices.CompactFunc(rows, func(a, b []string) bool { return compare(a, b) == 0 })
	}
	return x.write(head, rows)
}

func numberOr(s string) float64 {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return math.Inf(-1)
	}
	return f
}

func (x *xanRun) frequency() error {
	t, err := x.open(0)
	if err != nil {
		return err
	}
	cols, err := columns(x.opts["s"], t.head)
	if err != nil {
		return err
	}
	limit, err := x.number("l", 10)
	if err != nil {
		return err
	}
	counts := make([]map[string]int, len(cols))
	for i := range counts {
		counts[i] = map[string]int{}
	}
	err = t.each(func(row []string) error {
		for i, v := range pick(row, cols) {
			if counts[i][v]++; counts[i][v] == 1 {
				if err := x.c.Memory.Grow(int64(len(v)) + 64); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := x.out.Write([]string{"field", "value", "count"}); err != nil {
		return err
	}
	for i, c := range cols {
		values := make([]string, 0, len(counts[i]))
		for v := range counts[i] {
			values = append(values, v)
		}
		slices.SortFunc(values, func(a, b string) int {
			return cmp.Or(counts[i][b]-counts[i][a], strings.Compare(a, b))
		})
		if limit > 0 && len(values) > limit && !x.has("A") && !x.has("all") {
			values = values[:limit]
		}
		for _, v := range values {
			n := counts[i][v]
			if v == "" {
				v = "<empty>"
			}
			if err := x.out.Write([]string{t.head[c], v, strconv.Itoa(n)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// join joins two files: COLS FILE COLS FILE.
func (x *xanRun) join() error {
	if len(x.args) == 3 {
		x.args = []string{x.args[0], x.args[1], x.args[0], x.args[2]}
	}
	if len(x.args) != 4 {
		return errXanUsage
	}
	left, err := x.open(1)
	if err != nil {
		return err
	}
	right, err := x.open(3)
	if err != nil {
		return err
	}
	lc, err := columns(x.args[0], left.head)
	if err != nil {
		return err
	}
	rc, err := columns(x.args[2], right.head)
	if err != nil {
		return err
	}
	rows, err := right.all()
	if err != nil {
		return err
	}
	byKey := map[string][]int{}
	for i, r := range rows {
		k := key(pick(r, rc))
		byKey[k] = append(byKey[k], i)
	}
	semi, anti := x.has("semi"), x.has("anti")
	head := left.head
	if !semi && !anti {
		head = slices.Concat(left.head, right.head)
	}
	if err := x.header(head); err != nil {
		return err
	}
	return x.joinRows(left, lc, rows, byKey, len(right.head))
}

func (x *xanRun) joinRows(left *table, lc []int, rows [][]string, byKey map[string][]int, width int) error {
	used := make([]bool, len(rows))
	empty := make([]string, width)
	full := x.has("full")
	err := left.each(func(row []string) error {
		k := key(pick(row, lc))
		matches := byKey[k]
		if strings.Trim(k, "\x00") == "" && !x.has("nulls") {
			matches = nil
		}
		switch {
		case x.has("semi") || x.has("anti"):
			if (len(matches) > 0) == x.has("semi") {
				return x.out.Write(row)
			}
			return nil
		case len(matches) == 0 && (full || x.has("left")):
			return x.out.Write(slices.Concat(row, empty))
		}
		for _, i := range matches {
			used[i] = true
			if err := x.out.Write(slices.Concat(row, rows[i])); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || !full && !x.has("right") {
		return err
	}
	for i, r := range rows {
		if !used[i] {
			if err := x.out.Write(slices.Concat(make([]string, len(left.head)), r)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *xanRun) cat() error {
	if len(x.args) == 0 {
		return errXanUsage
	}
	kind := x.args[0]
	if x.args = x.args[1:]; len(x.args) == 0 {
		x.args = []string{"-"}
	}
	switch kind {
	case "rows":
		var first []string
		for i := range x.args {
			t, err := x.open(i)
			if err != nil {
				return err
			}
			if i == 0 {
				first = t.head
				if err := x.header(first); err != nil {
					return err
				}
			} else if !x.has("n") && !slices.Equal(first, t.head) {
				return fmt.Errorf("the headers of %s differ from those of %s", x.args[i], x.args[0])
			}
			if err := t.each(x.out.Write); err != nil {
				return err
			}
		}
		return nil
	case "columns":
		return x.catColumns()
	}
	return fmt.Errorf("cat what: rows or columns, not %q", kind)
}

func (x *xanRun) catColumns() error {
	var tables []*table
	var head []string
	for i := range x.args {
		t, err := x.open(i)
		if err != nil {
			return err
		}
		tables, head = append(tables, t), append(head, t.head...)
	}
	if err := x.header(head); err != nil {
		return err
	}
	for {
		var out []string
		some := false
		for _, t := range tables {
			row, err := t.next()
			if err != nil && err != io.EOF {
				return err
			}
			if err == io.EOF {
				row = make([]string, len(t.head))
			} else {
				some = true
			}
			out = append(out, row...)
		}
		if !some {
			return nil
		}
		if err := x.out.Write(out); err != nil {
			return err
		}
	}
}

func (x *xanRun) fixlengths() error {
	x.opts["flexible"] = "1"
	head, rows, err := x.whole(0)
	if err != nil {
		return err
	}
	width := len(head)
	for _, r := range rows {
		width = max(width, len(r))
	}
	if width, err = x.number("l", width); err != nil {
		return err
	}
	fix := func(r []string) []string {
		for len(r) < width {
			r = append(r, "")
		}
		return r[:width]
	}
	for i := range rows {
		rows[i] = fix(rows[i])
	}
	return x.write(fix(head), rows)
}

func (x *xanRun) transpose() error {
	head, rows, err := x.whole(0)
	if err != nil {
		return err
	}
	for i, h := range head {
		out := []string{h}
		for _, r := range rows {
			out = append(out, r[i])
		}
		if err := x.out.Write(out); err != nil {
			return err
		}
	}
	return nil
}

func (x *xanRun) sample() error {
	if len(x.args) == 0 {
		return errXanUsage
	}
	n, err := strconv.Atoi(x.args[0])
	if err != nil || n < 0 {
		return fmt.Errorf("invalid number %q", x.args[0])
	}
	seed, err := strconv.ParseUint("0"+x.opts["seed"], 10, 64)
	if err != nil {
		return err
	}
	if !x.has("seed") {
		seed = rand.Uint64()
	}
	random := rand.New(rand.NewPCG(seed, 0))
	t, err := x.open(1)
	if err != nil {
		return err
	}
	var rows [][]string
	i := 0
	err = t.each(func(row []string) error {
		if i++; len(rows) < n {
			rows = append(rows, row)
		} else if at := random.IntN(i); at < n {
			rows[at] = row
		}
		return nil
	})
	if err != nil {
		return err
	}
	return x.write(t.head, rows)
}

func (x *xanRun) split() error {
	size, err := x.number("s", 4096)
	if err != nil || size == 0 {
		return fmt.Errorf("invalid size %q", x.opts["s"])
	}
	t, err := x.open(0)
	if err != nil {
		return err
	}
	var f io.WriteCloser
	i := 0
	err = t.each(func(row []string) error {
		if i%size == 0 {
			if f != nil {
				x.out.Flush()
				f.Close()
			}
			if f, err = x.c.FS.Create(strconv.Itoa(i)+".csv", 0o666); err != nil {
				return fmt.Errorf("%d.csv: %s", i, command.Strerror(err))
			}
			x.out = csv.NewWriter(f)
			if err := x.header(t.head); err != nil {
				return err
			}
		}
		i++
		return x.out.Write(row)
	})
	if x.out.Flush(); f != nil {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	return err
}
