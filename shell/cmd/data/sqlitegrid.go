package data

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

// gridWriter holds all rows, because the widths of the columns hang on them.
type gridWriter struct {
	rowWriter
	grow func(n int64) error
	held [][]cell
	err  error
}

func (g *gridWriter) write(cells []cell) {
	n := int64(len(cells)) * 40
	for i := range cells {
		n += int64(len(cells[i].text))
	}
	if g.err = g.grow(n); g.err == nil {
		g.held = append(g.held, append([]cell(nil), cells...))
	}
}

// gridLines are the lines of one row: a value may take several.
func (g *gridWriter) gridLines(row []string) [][]string {
	split := make([][]string, len(row))
	height := 1
	for i, s := range row {
		split[i] = g.wrapped(s, i)
		height = max(height, len(split[i]))
	}
	out := make([][]string, height)
	for h := range out {
		out[h] = make([]string, len(row))
		for i := range row {
			if h < len(split[i]) {
				out[h][i] = split[i][h]
			}
		}
	}
	return out
}

func (g *gridWriter) wrapped(s string, column int) []string {
	width := g.m.wrap
	if column < len(g.m.widths) && g.m.widths[column] != 0 {
		width = max(g.m.widths[column], -g.m.widths[column])
	}
	var lines []string
	for part := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		for width > 0 && utf8.RuneCountInString(part) > width {
			at := 0
			for range width {
				_, n := utf8.DecodeRuneInString(part[at:])
				at += n
			}
			lines, part = append(lines, part[:at]), part[at:]
		}
		lines = append(lines, part)
	}
	return lines
}

func (g *gridWriter) end() {
	if len(g.held) == 0 {
		return
	}
	var rows [][][]string // by row, line, column
	rows = append(rows, g.gridLines(g.names)[:1])
	for _, r := range g.held {
		texts := make([]string, len(r))
		for i := range r {
			if texts[i] = g.text(&r[i]); g.m.quoteCell {
				texts[i] = strings.Replace(r[i].literal(), "X'", "x'", 1)
				if r[i].kind != sqlite3.BLOB {
					texts[i] = r[i].literal()
				}
			}
			texts[i] = strings.ReplaceAll(texts[i], "\t", "        ")
		}
		rows = append(rows, g.gridLines(texts))
	}
	widths := make([]int, len(g.names))
	for i := range widths {
		if i < len(g.m.widths) {
			widths[i] = max(g.m.widths[i], -g.m.widths[i])
		}
	}
	for _, r := range rows {
		for _, line := range r {
			for i, s := range line {
				widths[i] = max(widths[i], utf8.RuneCountInString(s))
			}
		}
	}
	switch g.m.mode {
	case "column":
		g.column(rows, widths)
	case "markdown":
		g.framed(rows, widths, "|", "|", "", "|-|", "", "-")
	case "table":
		g.framed(rows, widths, "|", "|", "+-+", "+-+", "+-+", "-")
	case "box":
		g.framed(rows, widths, "│", "│", "┌┬┐", "├┼┤", "└┴┘", "─")
	}
}

func (g *gridWriter) pad(s string, i, width int, value *cell) string {
	space := strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
	if i < len(g.m.widths) && g.m.widths[i] < 0 {
		return space + s
	}
	return s + space
}

func (g *gridWriter) column(rows [][][]string, widths []int) {
	lineOf := func(line []string) {
		var b strings.Builder
		for i, s := range line {
			b.WriteString(g.pad(s, i, widths[i], nil))
			if i < len(line)-1 {
				b.WriteString("  ")
			}
		}
		io.WriteString(g.w, b.String()+"\n")
	}
	for n, r := range rows {
		if n == 0 && !g.m.headers {
			continue
		}
		for _, line := range r {
			lineOf(line)
		}
		if n == 0 {
			rule := make([]string, len(widths))
			for i, w := range widths {
				rule[i] = strings.Repeat("-", w)
			}
			lineOf(rule)
		} else if n < len(rows)-1 && g.tall(rows) {
			io.WriteString(g.w, "\n")
		}
	}
}

// tall reports whether any row takes several lines; rules then part them all.
func (g *gridWriter) tall(rows [][][]string) bool {
	return slices.ContainsFunc(rows, func(r [][]string) bool { return len(r) > 1 })
}

// framed draws the rows within bars and rules.
func (g *gridWriter) framed(rows [][][]string, widths []int, bar, inner, top, middle, bottom, dash string) {
	rule := func(corners string) {
		if corners == "" {
			return
		}
		c := []rune(corners)
		left, cross, right := string(c[0]), string(c[len(c)/2]), string(c[len(c)-1])
		switch g.m.mode {
		case "markdown":
			left, cross, right = "|", "|", "|"
		case "table":
			left, cross, right = "+", "+", "+"
		}
		var b strings.Builder
		b.WriteString(left)
		for i, w := range widths {
			if i > 0 {
				b.WriteString(cross)
			}
			b.WriteString(strings.Repeat(dash, w+2))
		}
		io.WriteString(g.w, b.String()+right+"\n")
	}
	rule(top)
	for n, r := range rows {
		for _, line := range r {
			var b strings.Builder
			for i, s := range line {
				if i == 0 {
					b.WriteString(bar + " ")
				} else {
					b.WriteString(" " + inner + " ")
				}
				if n == 0 {
					b.WriteString(center(s, widths[i]))
				} else {
					b.WriteString(g.pad(s, i, widths[i], nil))
				}
			}
			io.WriteString(g.w, b.String()+" "+bar+"\n")
		}
		if n == 0 || n < len(rows)-1 && g.m.mode != "markdown" && g.tall(rows) {
			rule(middle)
		}
	}
	rule(bottom)
}

func center(s string, width int) string {
	space := max(0, width-utf8.RuneCountInString(s))
	return strings.Repeat(" ", space/2) + s + strings.Repeat(" ", space-space/2)
}

var queryPlan = regexp.MustCompile(`(?i)^\s*explain\s+query\s+plan\b`)

// planWriter draws the tree of a query plan.
type planWriter struct {
	w    io.Writer
	rows [][]cell
}

func (p *planWriter) write(cells []cell) {
	p.rows = append(p.rows, append([]cell(nil), cells...))
}

func (p *planWriter) end() {
	if len(p.rows) > 0 {
		io.WriteString(p.w, "QUERY PLAN\n")
		p.children("0", "")
	}
}

func (p *planWriter) children(parent, indent string) {
	var own [][]cell
	for _, r := range p.rows {
		if len(r) == 4 && r[1].text == parent {
			own = append(own, r)
		}
	}
	for i, r := range own {
		mark, below := "|--", "|  "
		if i == len(own)-1 {
			mark, below = "`--", "   "
		}
		io.WriteString(p.w, indent+mark+r[3].text+"\n")
		if r[0].text != parent && len(indent) < 3*100 {
			p.children(r[0].text, indent+below)
		}
	}
}

// output is what a statement's rows are written through.
type output interface {
	write(cells []cell)
	end()
}

func (s *sqliteShell) output(names []string) output {
	r := rowWriter{w: s.out, m: &s.mode, names: names}
	if s.mode.columnar() {
		return &gridWriter{rowWriter: r, grow: s.c.Memory.Grow}
	}
	return &r
}

func cellsOf(stmt *sqlite3.Stmt, cells []cell) []cell {
	cells = cells[:0]
	for i := range stmt.DataCount() {
		v := cell{kind: stmt.ColumnType(i)}
		switch v.kind {
		case sqlite3.NULL:
		case sqlite3.BLOB:
			v.text = string(stmt.ColumnBlob(i, nil))
		case sqlite3.FLOAT:
			v.real = stmt.ColumnFloat(i)
			v.text = stmt.ColumnText(i)
		default:
			v.text = stmt.ColumnText(i)
		}
		cells = append(cells, v)
	}
	return cells
}
