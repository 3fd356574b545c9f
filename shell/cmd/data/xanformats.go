package data

import (
	"bufio"
	"errors"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/data/jqlang"
)

// viewCell is how wide a cell of view may be.
const viewCell = 40

func (x *xanRun) view() error {
	limit, err := x.number("l", 100)
	if err != nil {
		return err
	}
	head, rows, err := x.whole(0)
	if err != nil {
		return err
	}
	cols, err := columns(x.opts["s"], head)
	if err != nil {
		return err
	}
	total := len(rows)
	if limit > 0 && total > limit && !x.has("A") && !x.has("all") {
		rows = rows[:limit]
	}
	lines := [][]string{pick(head, cols)}
	for _, r := range rows {
		lines = append(lines, pick(r, cols))
	}
	widths := make([]int, len(cols))
	for _, l := range lines {
		for i, s := range l {
			s = strings.NewReplacer("\n", "⏎", "\r", "", "\t", " ").Replace(s)
			if utf8.RuneCountInString(s) > viewCell {
				s = string([]rune(s)[:viewCell-1]) + "…"
			}
			l[i] = s
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
	}
	fmt.Fprintf(x.w, "Displaying %d col%s from %d row%s\n", len(cols), plural(len(cols)), len(rows), plural(len(rows)))
	rule := func(left, cross, right string) {
		parts := make([]string, len(widths))
		for i, w := range widths {
			parts[i] = strings.Repeat("─", w+2)
		}
		fmt.Fprintln(x.w, left+strings.Join(parts, cross)+right)
	}
	rule("┌", "┬", "┐")
	for n, l := range lines {
		for i, s := range l {
			l[i] = " " + s + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s)) + " "
		}
		fmt.Fprintln(x.w, "│"+strings.Join(l, "│")+"│")
		if n == 0 {
			rule("├", "┼", "┤")
		}
	}
	rule("└", "┴", "┘")
	if len(rows) < total {
		fmt.Fprintf(x.w, "... %d more rows\n", total-len(rows))
	}
	return nil
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// to writes the rows in another format.
func (x *xanRun) to() error {
	if len(x.args) == 0 {
		return errXanUsage
	}
	t, err := x.open(1)
	if err != nil {
		return err
	}
	switch x.args[0] {
	case "json", "ndjson", "jsonl":
		return x.toJSON(t, x.args[0] == "json")
	case "md", "markdown":
		rule := strings.Repeat(" --- |", len(t.head))
		fmt.Fprintf(x.w, "| %s |\n|%s\n", strings.Join(t.head, " | "), rule)
		return t.each(func(row []string) error {
			for i, s := range row {
				row[i] = strings.NewReplacer("|", `\|`, "\n", "<br>").Replace(s)
			}
			_, err := fmt.Fprintf(x.w, "| %s |\n", strings.Join(row, " | "))
			return err
		})
	case "html":
		line := func(tag string, row []string) error {
			var b strings.Builder
			b.WriteString("<tr>")
			for _, s := range row {
				fmt.Fprintf(&b, "<%s>%s</%s>", tag, html.EscapeString(s), tag)
			}
			_, err := io.WriteString(x.w, b.String()+"</tr>\n")
			return err
		}
		io.WriteString(x.w, "<table>\n<thead>\n")
		line("th", t.head)
		io.WriteString(x.w, "</thead>\n<tbody>\n")
		if err := t.each(func(row []string) error { return line("td", row) }); err != nil {
			return err
		}
		io.WriteString(x.w, "</tbody>\n</table>\n")
		return nil
	case "txt":
		return t.each(func(row []string) error {
			_, err := fmt.Fprintln(x.w, strings.Join(row, " "))
			return err
		})
	case "tsv":
		x.out.Comma = '\t'
		if err := x.header(t.head); err != nil {
			return err
		}
		return t.each(x.out.Write)
	}
	return fmt.Errorf("unsupported format %q", x.args[0])
}

func (x *xanRun) toJSON(t *table, list bool) error {
	style := jqlang.Style{}
	if list {
		style.Indent = 2
	}
	n := 0
	err := t.each(func(row []string) error {
		b := style.Append(nil, rowObject(t.head, row))
		if list {
			lead := ",\n  "
			if n == 0 {
				lead = "[\n  "
			}
			b = []byte(lead + strings.ReplaceAll(string(b), "\n", "\n  "))
		} else {
			b = append(b, '\n')
		}
		n++
		_, err := x.w.Write(b)
		return err
	})
	if list && err == nil {
		if n == 0 {
			_, err = io.WriteString(x.w, "[]\n")
		} else {
			_, err = io.WriteString(x.w, "\n]\n")
		}
	}
	return err
}

// from reads another format.
func (x *xanRun) from() error {
	switch x.opts["f"] {
	case "tsv":
		x.comma = '\t'
		x.opts["d"] = "\t"
		return x.rows(0, func(*table) (func([]string) []string, error) {
			return func(row []string) []string { return row }, nil
		})
	case "json", "ndjson", "jsonl":
	default:
		return fmt.Errorf("unsupported format %q", x.opts["f"])
	}
	var r io.Reader = x.c.Stdin
	if len(x.args) > 0 && x.args[0] != "-" {
		f, err := x.c.FS.Open(x.args[0])
		if err != nil {
			return fmt.Errorf("%s: %w", x.args[0], err)
		}
		defer f.Close()
		r = f
	}
	d := jqlang.NewDecoder(bufio.NewReader(cancelReader{x.ctx, r}))
	var head []string
	for {
		v, err := d.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, e := range list {
			o, ok := e.(*jqlang.Object)
			if !ok {
				return fmt.Errorf("expected objects, not a %s", jqlang.Kind(e))
			}
			if head == nil {
				head = o.Keys()
				if err := x.header(head); err != nil {
					return err
				}
			}
			row := make([]string, len(head))
			for i, h := range head {
				switch v, _ := o.Get(h); v := v.(type) {
				case nil:
				case string:
					row[i] = v
				default:
					row[i] = jqlang.JSON(v)
				}
			}
			if err := x.out.Write(row); err != nil {
				return err
			}
		}
	}
}
