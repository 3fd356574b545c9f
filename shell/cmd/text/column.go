package text

import (
	"context"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "column",
		Synopsis: "column [options] [<file>...]",
		Summary:  "Columnate lists.",
		Options: []command.Option{
			{Short: 't', Long: "table", Help: "create a table"},
			{Short: 'n', Long: "table-name", Arg: command.RequiredArgument, ArgName: "name", Help: "table name for JSON output"},
			{Short: 'O', Long: "table-order", Arg: command.RequiredArgument, ArgName: "columns", Help: "specify order of output columns"},
			{Short: 'N', Long: "table-columns", Arg: command.RequiredArgument, ArgName: "names", Help: "comma separated columns names"},
			{Short: 'l', Long: "table-columns-limit", Arg: command.RequiredArgument, ArgName: "num", Help: "maximal number of input columns"},
			{Short: 'E', Long: "table-noextreme", Arg: command.RequiredArgument, ArgName: "columns", Help: "(ignored)"},
			{Short: 'd', Long: "table-noheadings", Help: "don't print header"},
			{Short: 'e', Long: "table-header-repeat", Help: "(ignored)"},
			{Short: 'H', Long: "table-hide", Arg: command.RequiredArgument, ArgName: "columns", Help: "don't print the columns"},
			{Short: 'R', Long: "table-right", Arg: command.RequiredArgument, ArgName: "columns", Help: "right align text in these columns"},
			{Short: 'T', Long: "table-truncate", Arg: command.RequiredArgument, ArgName: "columns", Help: "(ignored)"},
			{Short: 'W', Long: "table-wrap", Arg: command.RequiredArgument, ArgName: "columns", Help: "(ignored)"},
			{Short: 'L', Long: "keep-empty-lines", Help: "don't ignore empty lines"},
			{Long: "table-empty-lines", ID: 'L'},
			{Short: 'J', Long: "json", Help: "use JSON output format for table"},
			{Short: 'c', Long: "output-width", Arg: command.RequiredArgument, ArgName: "width", Help: "width of output in number of characters"},
			{Short: 'o', Long: "output-separator", Arg: command.RequiredArgument, ArgName: "string", Help: "columns separator for table output"},
			{Short: 's', Long: "separator", Arg: command.RequiredArgument, ArgName: "string", Help: "possible table delimiters"},
			{Short: 'x', Long: "fillrows", Help: "fill rows before columns"},
			{Short: 'h', ID: 'h'},
			{Short: 'V', ID: 'V'},
		},
	}, column)
}

// columnJob is what the options ask for.
type columnJob struct {
	c        *command.Context
	table    bool
	json     bool
	name     string
	names    []string
	noHead   bool
	hide     []string
	right    []string
	order    []string
	limit    int
	blank    bool // keep empty lines
	width    int
	outSep   string
	seps     string
	greedy   bool // separators in a row are one
	rowsOnly bool // -x
	wide     bool
	rows     [][]string
	held     int64
}

func column(ctx context.Context, c *command.Context, args []string) int {
	j := &columnJob{c: c, outSep: "  ", seps: "\t ", greedy: true, width: 80, name: "table", wide: c.Env.UTF8()}
	if n, err := strconv.Atoi(c.Env.Get("COLUMNS")); err == nil && n > 0 {
		j.width = n
	}
	p := c.Options(args)
	for p.Next() {
		if status, ok := j.option(p); !ok {
			return status
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if !j.table && (j.names != nil || j.hide != nil || j.right != nil || j.order != nil || j.json) {
		if j.json {
			j.table = true
		} else {
			return c.Errorf("option --table required for all --table-*")
		}
	}
	if j.json && j.names == nil {
		return c.Errorf("option --table-columns required for --json")
	}
	defer func() { c.Memory.Shrink(j.held) }()
	if len(files) == 0 {
		status = j.read(ctx, c.Stdin, "stdin")
	}
	opened := false
	for _, name := range files {
		f, err := c.FS.Open(name)
		if err != nil {
			status = c.Errorf("%s: %s", name, command.Strerror(err))
			continue
		}
		status = max(status, j.read(ctx, f, name))
		f.Close()
		opened = true
	}
	if opened {
		status = 0 // as long as there was something to show
	}
	if ctx.Err() != nil {
		return 1
	}
	switch {
	case j.json:
		for i, row := range j.rows {
			if len(row) > len(j.names) {
				return c.Errorf("line %d: for JSON the name of the column %d is required", i+2, len(j.names)+1)
			}
		}
		j.writeJSON()
	case j.table:
		j.writeTable()
	default:
		j.writeColumns()
	}
	return status
}

// option applies one option.
func (j *columnJob) option(p *command.Parser) (status int, ok bool) {
	arg := p.Arg()
	list := strings.Split(arg, ",")
	switch p.ID() {
	case 't':
		j.table = true
	case 'n':
		j.name = arg
	case 'O':
		j.order = list
	case 'N':
		j.names = list
	case 'l':
		n, err := strconv.Atoi(arg)
		if err != nil || n < 1 {
			return j.c.Errorf("columns limit must be greater than zero"), false
		}
		j.limit = n
	case 'd':
		j.noHead = true
	case 'H':
		j.hide = list
	case 'R':
		j.right = list
	case 'L':
		j.blank = true
	case 'J':
		j.json, j.table = true, true
	case 'c':
		if arg == "unlimited" {
			j.width = 0
			return 0, true
		}
		n, err := strconv.Atoi(arg)
		if err != nil || n < 0 {
			return j.c.Errorf("invalid columns argument: '%s'", arg), false
		}
		j.width = n
	case 'o':
		j.outSep = arg
	case 's':
		j.seps, j.greedy = arg, false
	case 'x':
		j.rowsOnly = true
	case 'h':
		j.c.Stdout.WriteString(j.c.Command.Help())
		return 0, false
	case 'V':
		j.c.Stdout.WriteString("column (vfsd)\n")
		return 0, false
	}
	return 0, true
}

// read reads the lines of one file.
func (j *columnJob) read(ctx context.Context, src io.Reader, name string) int {
	r := lines.NewReader(src, j.c.Memory)
	defer r.Release()
	for {
		line, _, err := r.Next()
		if err == io.EOF {
			return 0
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			n := int64(2*len(line)) + 64
			if err = j.c.Memory.Grow(n); err == nil {
				j.held += n
			}
		}
		if err != nil {
			return j.c.Errorf("%s: %s", name, command.Strerror(err))
		}
		if strings.TrimSpace(string(line)) == "" {
			if j.blank {
				j.rows = append(j.rows, nil)
			}
			continue
		}
		if !j.table {
			j.rows = append(j.rows, []string{string(line)})
			continue
		}
		j.rows = append(j.rows, j.split(string(line)))
	}
}

// split makes cells of a line.
func (j *columnJob) split(line string) []string {
	var cells []string
	if j.greedy {
		line = strings.TrimLeft(line, j.seps)
	}
	for {
		if j.limit > 0 && len(cells) == j.limit-1 {
			return append(cells, line)
		}
		i := strings.IndexAny(line, j.seps)
		if i < 0 {
			if line != "" || !j.greedy {
				cells = append(cells, line)
			}
			return cells
		}
		cells = append(cells, line[:i])
		line = line[i+1:]
		if j.greedy {
			line = strings.TrimLeft(line, j.seps)
			if line == "" {
				return cells
			}
		}
	}
}

// cellWidth is the width of a cell on a terminal.
func (j *columnJob) cellWidth(s string) int {
	if j.wide && utf8.ValidString(s) {
		return runewidth.StringWidth(s)
	}
	return len(s)
}

// index finds a column by its number or name; -1 when there is none.
func (j *columnJob) index(name string, n int) int {
	if k, err := strconv.Atoi(name); err == nil && k >= 1 && k <= n {
		return k - 1
	}
	for i, s := range j.names {
		if s == name && i < n {
			return i
		}
	}
	return -1
}

// layout decides which columns are shown in which order.
func (j *columnJob) layout() (order []int, right map[int]bool) {
	n := len(j.names)
	for _, row := range j.rows {
		n = max(n, len(row))
	}
	hidden := map[int]bool{}
	for _, h := range j.hide {
		if h == "-" {
			for i := len(j.names); i < n; i++ {
				hidden[i] = true
			}
		}
		hidden[j.index(h, n)] = true
	}
	right = map[int]bool{}
	for _, r := range j.right {
		right[j.index(r, n)] = true
	}
	used := map[int]bool{}
	add := func(i int) {
		if i >= 0 && !used[i] && !hidden[i] {
			used[i] = true
			order = append(order, i)
		}
	}
	for _, o := range j.order {
		add(j.index(o, n))
	}
	for i := range n {
		add(i)
	}
	return order, right
}

// writeTable writes a table.
func (j *columnJob) writeTable() {
	order, right := j.layout()
	rows := j.rows
	if j.names != nil && !j.noHead {
		rows = append([][]string{j.names}, rows...)
	}
	widths := map[int]int{}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], j.cellWidth(cell))
		}
	}
	out := j.c.Stdout
	for _, row := range rows {
		var b strings.Builder
		for k, i := range order {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			pad := strings.Repeat(" ", widths[i]-j.cellWidth(cell))
			last := k == len(order)-1
			switch {
			case last && cell == "":
			case right[i]:
				b.WriteString(pad + cell)
			case last:
				b.WriteString(cell)
			default:
				b.WriteString(cell + pad)
			}
			if !last {
				b.WriteString(j.outSep)
			}
		}
		out.WriteString(b.String())
		if out.WriteByte('\n') != nil {
			return
		}
	}
}

// writeJSON writes a table as JSON.
func (j *columnJob) writeJSON() {
	order, _ := j.layout()
	out := j.c.Stdout
	quote := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			return `""`
		}
		return string(b)
	}
	out.WriteString("{\n   " + quote(j.name) + ": [\n")
	for n, row := range j.rows {
		if n == 0 {
			out.WriteString("      {\n")
		} else {
			out.WriteString(",{\n")
		}
		for k, i := range order {
			value, name := "null", strconv.Itoa(i+1)
			if i < len(row) && row[i] != "" {
				value = quote(row[i])
			}
			if i < len(j.names) {
				name = j.names[i]
			}
			out.WriteString("         " + quote(strings.ToLower(name)) + ": " + value)
			if k < len(order)-1 {
				out.WriteByte(',')
			}
			out.WriteByte('\n')
		}
		out.WriteString("      }")
	}
	out.WriteString("\n   ]\n}\n")
}

// writeColumns fills the width with the lines as entries.
func (j *columnJob) writeColumns() {
	widest := 0
	for _, row := range j.rows {
		if row != nil {
			widest = max(widest, j.cellWidth(row[0]))
		}
	}
	out := j.c.Stdout
	entry := func(i int) string {
		if i < len(j.rows) && j.rows[i] != nil {
			return j.rows[i][0]
		}
		return ""
	}
	step := (widest/8 + 1) * 8
	if widest >= j.width {
		for i := range j.rows {
			out.WriteString(entry(i) + "\n")
		}
		return
	}
	cols := max(1, j.width/step)
	total := len(j.rows)
	rows := (total + cols - 1) / cols
	tabs := func(from, to int) {
		for from < to {
			out.WriteByte('\t')
			from = (from/8 + 1) * 8
		}
	}
	for r := range rows {
		column := 0
		for k := range cols {
			i := r + k*rows
			if j.rowsOnly {
				i = r*cols + k
			}
			if i >= total {
				break
			}
			s := entry(i)
			out.WriteString(s)
			column += j.cellWidth(s)
			next := i + rows
			if j.rowsOnly {
				next = i + 1
			}
			if next >= total || k == cols-1 {
				break
			}
			tabs(column, (k+1)*step)
			column = (k + 1) * step
		}
		if out.WriteByte('\n') != nil {
			return
		}
	}
}
