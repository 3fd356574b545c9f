package data

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/data/jqlang"
)

// columnStats is what stats gathers of a column.
type columnStats struct {
	count, empty, numbers int
	sum, mean, m2         float64
	min, max              float64
	first, last           string
	short, long           int
}

func (s *columnStats) add(v string) {
	n := utf8.RuneCountInString(v)
	if s.count == 0 || n < s.short {
		s.short = n
	}
	s.long = max(s.long, n)
	if s.count == 0 || v < s.first {
		s.first = v
	}
	s.last = max(s.last, v)
	s.count++
	if v == "" {
		s.empty++
		return
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return
	}
	if s.numbers == 0 || f < s.min {
		s.min = f
	}
	if s.numbers == 0 || f > s.max {
		s.max = f
	}
	s.numbers++
	s.sum += f
	d := f - s.mean
	s.mean += d / float64(s.numbers)
	s.m2 += d * (f - s.mean)
}

func (x *xanRun) stats() error {
	t, err := x.open(0)
	if err != nil {
		return err
	}
	cols, err := columns(x.opts["s"], t.head)
	if err != nil {
		return err
	}
	stats := make([]columnStats, len(cols))
	err = t.each(func(row []string) error {
		for i, v := range pick(row, cols) {
			stats[i].add(v)
		}
		return nil
	})
	if err != nil {
		return err
	}
	x.out.Write([]string{"field", "count", "count_empty", "type", "sum", "mean", "stddev", "min", "max", "lex_first", "lex_last", "min_length", "max_length"})
	for i, c := range cols {
		s := &stats[i]
		kind := "string"
		if s.numbers > 0 && s.numbers == s.count-s.empty {
			kind = "number"
		}
		if s.count == s.empty {
			kind = "empty"
		}
		row := []string{t.head[c], strconv.Itoa(s.count - s.empty), strconv.Itoa(s.empty), kind, "", "", "", "", "", s.first, s.last, strconv.Itoa(s.short), strconv.Itoa(s.long)}
		if kind == "number" {
			for j, f := range []float64{s.sum, s.mean, math.Sqrt(s.m2 / float64(s.numbers)), s.min, s.max} {
				row[4+j] = jqlang.Number(f)
			}
		}
		x.out.Write(row)
	}
	return nil
}

func (x *xanRun) flatten() error {
	limit, err := x.number("l", math.MaxInt)
	if err != nil {
		return err
	}
	t, err := x.open(0)
	if err != nil {
		return err
	}
	cols, err := columns(x.opts["s"], t.head)
	if err != nil {
		return err
	}
	width := 0
	for _, c := range cols {
		width = max(width, utf8.RuneCountInString(t.head[c]))
	}
	i := 0
	err = t.each(func(row []string) error {
		if i >= limit {
			return errXanEnough
		}
		if i > 0 {
			fmt.Fprintln(x.w)
		}
		fmt.Fprintf(x.w, "Row n°%d\n", i)
		for _, c := range cols {
			fmt.Fprintf(x.w, "%-*s %s\n", width, t.head[c], row[c])
		}
		i++
		return nil
	})
	if err == errXanEnough {
		err = nil
	}
	return err
}
