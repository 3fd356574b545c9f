package data

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "xan",
		Synopsis: "xan COMMAND [OPTION]... [FILE]...",
		Summary:  "Process CSV files. COMMAND is one of:",
		RawArgs:  true,
		Notes: "  behead [FILE]              drop the header row\n  cat rows|columns FILE...   join files below or beside each other\n  count [FILE]               count the rows\n  dedup [-s COLS] [FILE]     keep the first of equal rows\n" +
			"  drop COLS [FILE]           leave columns out\n  enum [-c NAME] [FILE]      number the rows\n  explode COL [--sep S]      a row for each part of a value\n  fill [-s COLS] [-v V]      fill empty values\n  fixlengths [FILE]          make all rows as long as the longest\n  flatten [FILE]             a line for each value\n  fmt [-t D] [FILE]          change the delimiter\n  frequency [-s COLS] [-l N] count the values of columns\n" +
			"  from -f json|ndjson|tsv    convert to CSV\n  head [-l N], tail [-l N]   the first or the last rows\n  headers [-j] [FILE]        list the columns\n  join COLS FILE COLS FILE   join two files [--left --right --full --semi --anti]\n  rename NAMES [-s COLS]     name columns anew\n  reverse [FILE]             turn the order of the rows around\n  sample N [--seed S]        pick rows\n  search [-s COLS] [-e -i -v] PATTERN  keep rows that match\n" +
			"  select COLS [FILE]         keep columns, in that order\n  slice [-s N -e N -l N -i N] keep a range of rows\n  sort [-s COLS] [-N -R -u]  sort the rows\n  split -s N [FILE]          write files of N rows\n  stats [-s COLS] [FILE]     describe columns\n  to json|ndjson|md|html|txt convert from CSV\n  transpose [FILE]           turn columns into rows\n  view [-l N] [FILE]         draw a table\n\nCOLS is a list of names, indexes from 0, ranges (a:c) and !COLS for the others.\nOptions of all: -d DELIMITER, -n (no headers), -o FILE",
	}, xan)
}

// xanRun is one run of xan.
type xanRun struct {
	ctx    context.Context
	c      *command.Context
	opts   map[string]string
	args   []string
	comma  rune
	out    *csv.Writer
	w      io.Writer
	close  []io.Closer
	failed error
}

// xanCommand is one of xan's commands: its options that take a value.
type xanCommand struct {
	values string // letters and names, by spaces
	run    func(x *xanRun) error
}

var xanCommands map[string]xanCommand

func init() {
	xanCommands = map[string]xanCommand{
		"behead": {"", (*xanRun).behead}, "cat": {"", (*xanRun).cat}, "count": {"", (*xanRun).count}, "dedup": {"s select", (*xanRun).dedup},
		"drop": {"", (*xanRun).drop}, "enum": {"c column-name S start", (*xanRun).enum}, "explode": {"sep", (*xanRun).explode}, "fill": {"s select v value", (*xanRun).fill},
		"fixlengths": {"l length", (*xanRun).fixlengths}, "flatten": {"l limit s select", (*xanRun).flatten}, "fmt": {"t out-delimiter quote", (*xanRun).format},
		"frequency": {"s select l limit", (*xanRun).frequency}, "from": {"f format", (*xanRun).from}, "head": {"l limit", (*xanRun).head}, "tail": {"l limit", (*xanRun).tail},
		"headers": {"", (*xanRun).headers}, "join": {"", (*xanRun).join}, "rename": {"s select", (*xanRun).rename}, "reverse": {"", (*xanRun).reverse},
		"sample": {"seed", (*xanRun).sample}, "search": {"s select", (*xanRun).search}, "filter": {"", (*xanRun).filter}, "select": {"", (*xanRun).selectColumns},
		"slice": {"s start e end l len i index", (*xanRun).slice}, "sort": {"s select", (*xanRun).sort}, "split": {"s size", (*xanRun).split}, "stats": {"s select", (*xanRun).stats},
		"to": {"", (*xanRun).to}, "transpose": {"", (*xanRun).transpose}, "view": {"l limit s select", (*xanRun).view},
	}
}

var errXanUsage = errors.New("wrong number of operands")

func xan(ctx context.Context, c *command.Context, args []string) int {
	if len(args) < 2 || args[1] == "help" && len(args) == 2 {
		fmt.Fprint(c.Stdout, "Usage: xan COMMAND [OPTION]... [FILE]...\nTry 'xan --help' for the commands.\n")
		return 0
	}
	cmd, ok := xanCommands[args[1]]
	if !ok {
		fmt.Fprintf(c.Stderr, "xan: unknown command \"%s\"\n", args[1])
		return 1
	}
	x := &xanRun{ctx: ctx, c: c, opts: map[string]string{}, comma: ',', w: c.Stdout}
	err := x.parse(args[2:], cmd.values)
	if err == nil {
		err = x.start(cmd)
	}
	for _, f := range x.close {
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil && ctx.Err() == nil && c.Stdout.Err() == nil {
		fmt.Fprintf(c.Stderr, "xan %s: %s\n", args[1], xanMessage(err))
		return 1
	}
	return 0
}

func xanMessage(err error) string {
	if pe, ok := errors.AsType[*csv.ParseError](err); ok {
		return fmt.Sprintf("CSV parse error: line %d, column %d: %v", pe.Line, pe.Column, pe.Err)
	}
	return err.Error()
}

func (x *xanRun) start(cmd xanCommand) error {
	if name := x.opts["o"]; name != "" {
		f, err := x.c.FS.Create(name, 0o666)
		if err != nil {
			return fmt.Errorf("%s: %s", name, command.Strerror(err))
		}
		x.close = append(x.close, f)
		x.w = f
	}
	x.out = csv.NewWriter(x.w)
	err := cmd.run(x)
	x.out.Flush()
	if err == nil {
		err = x.out.Error()
	}
	return err
}

// longXan maps long names to the letters that commands ask for.
var longXan = map[string]string{"select": "s", "limit": "l", "delimiter": "d", "no-headers": "n", "output": "o", "start": "s", "end": "e", "len": "l", "index": "i", "numeric": "N", "reverse": "R", "uniq": "u", "exact": "e", "ignore-case": "i", "invert-match": "v", "value": "v", "column-name": "c", "out-delimiter": "t", "format": "f", "size": "s", "just-names": "j", "length": "l"}

func (x *xanRun) parse(args []string, values string) error {
	takes := append(strings.Fields(values), "d", "delimiter", "o", "output")
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		if a == "--" {
			x.args = append(x.args, args...)
			break
		}
		if len(a) < 2 || a[0] != '-' || a[1] >= '0' && a[1] <= '9' {
			x.args = append(x.args, a)
			continue
		}
		name, v, given := strings.Cut(strings.TrimLeft(a, "-"), "=")
		if !strings.HasPrefix(a, "--") && len(name) > 1 && !given {
			if slices.Contains(takes, name[:1]) {
				name, v, given = name[:1], name[1:], true
			} else {
				args = append([]string{"-" + name[1:]}, args...)
				name = name[:1]
			}
		}
		if slices.Contains(takes, name) && !given {
			if len(args) == 0 {
				return fmt.Errorf("option '%s' requires an argument", a)
			}
			v, args = args[0], args[1:]
		} else if !given {
			v = "1"
		}
		if short, ok := longXan[name]; ok {
			name = short
		}
		x.opts[name] = v
	}
	if d := x.opts["d"]; d != "" {
		x.comma = delimiterOf(d)
	}
	return nil
}

func delimiterOf(s string) rune {
	if s == `\t` || s == "tab" {
		return '\t'
	}
	for _, r := range s {
		return r
	}
	return ','
}

func (x *xanRun) has(name string) bool { return x.opts[name] != "" }

// number is a numeric option.
func (x *xanRun) number(name string, otherwise int) (int, error) {
	v, ok := x.opts[name]
	if !ok {
		return otherwise, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("invalid number %q", v)
	}
	return n, nil
}

// table is a file under way: its headers, and its rows one by one.
type table struct {
	x    *xanRun
	r    *csv.Reader
	head []string
	pend []string // the first row, of a file without headers
}

// open opens the n-th operand, or standard input when there is none.
func (x *xanRun) open(n int) (*table, error) {
	name := "-"
	if n < len(x.args) {
		name = x.args[n]
	}
	return x.openName(name)
}

func (x *xanRun) openName(name string) (*table, error) {
	comma := x.comma
	var r io.Reader = x.c.Stdin
	if name != "-" {
		f, err := x.c.FS.Open(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %s", name, command.Strerror(err))
		}
		x.close = append(x.close, f)
		r = f
		if !x.has("d") && (strings.HasSuffix(name, ".tsv") || strings.HasSuffix(name, ".tab")) {
			comma = '\t'
		} else if !x.has("d") && (strings.HasSuffix(name, ".ssv") || strings.HasSuffix(name, ".scsv")) {
			comma = ';'
		}
	}
	t := &table{x: x, r: csv.NewReader(cancelReader{x.ctx, r})}
	t.r.Comma, t.r.LazyQuotes = comma, true
	if x.has("flexible") {
		t.r.FieldsPerRecord = -1
	}
	head, err := t.r.Read()
	if err != nil && err != io.EOF {
		return nil, err
	}
	t.head = head
	if x.has("n") {
		t.pend = head
		t.head = make([]string, len(head))
		for i := range t.head {
			t.head[i] = strconv.Itoa(i)
		}
	}
	return t, nil
}

// next returns the next row; io.EOF at the end.
func (t *table) next() ([]string, error) {
	if t.pend != nil {
		row := t.pend
		t.pend = nil
		return row, nil
	}
	return t.r.Read()
}

// each calls do with every row.
func (t *table) each(do func(row []string) error) error {
	for {
		row, err := t.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := do(row); err != nil {
			return err
		}
	}
}

// all returns all rows, accounted for.
func (t *table) all() (rows [][]string, err error) {
	err = t.each(func(row []string) error {
		n := int64(24)
		for _, s := range row {
			n += 16 + int64(len(s))
		}
		if err := t.x.c.Memory.Grow(n); err != nil {
			return err
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// header writes a header row, unless files have none.
func (x *xanRun) header(head []string) error {
	if x.has("n") || len(head) == 0 {
		return nil
	}
	return x.out.Write(head)
}

// columns resolves a selection of columns to their indexes.
func columns(selection string, head []string) ([]int, error) {
	if selection == "" || selection == "*" {
		all := make([]int, len(head))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	if rest, ok := strings.CutPrefix(selection, "!"); ok {
		not, err := columns(rest, head)
		if err != nil {
			return nil, err
		}
		var out []int
		for i := range head {
			if !slices.Contains(not, i) {
				out = append(out, i)
			}
		}
		return out, nil
	}
	fields, err := csv.NewReader(strings.NewReader(selection)).Read()
	if err != nil {
		return nil, fmt.Errorf("invalid selection %q", selection)
	}
	var out []int
	for _, f := range fields {
		if i, err := column(f, head); err == nil {
			out = append(out, i)
			continue
		}
		from, to, ok := strings.Cut(f, ":")
		if pre, cut := strings.CutSuffix(f, "*"); cut && !ok {
			for i, h := range head {
				if strings.HasPrefix(h, pre) {
					out = append(out, i)
				}
			}
			continue
		}
		if !ok {
			return nil, fmt.Errorf("no column named %q", f)
		}
		a, b := 0, len(head)-1
		if from != "" {
			if a, err = column(from, head); err != nil {
				return nil, err
			}
		}
		if to != "" {
			if b, err = column(to, head); err != nil {
				return nil, err
			}
		}
		step := 1
		if a > b {
			step = -1
		}
		for ; a != b; a += step {
			out = append(out, a)
		}
		out = append(out, b)
	}
	return out, nil
}

var columnOccurrence = regexp.MustCompile(`^(.*)\[(\d+)\]$`)

func column(name string, head []string) (int, error) {
	if i := slices.Index(head, name); i >= 0 {
		return i, nil
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n < 0 {
			n += len(head)
		}
		if n >= 0 && n < len(head) {
			return n, nil
		}
	}
	if m := columnOccurrence.FindStringSubmatch(name); m != nil {
		n, _ := strconv.Atoi(m[2])
		for i, h := range head {
			if h == m[1] {
				if n == 0 {
					return i, nil
				}
				n--
			}
		}
	}
	return 0, fmt.Errorf("no column named %q", name)
}

func pick(row []string, cols []int) []string {
	out := make([]string, len(cols))
	for i, c := range cols {
		if c < len(row) {
			out[i] = row[c]
		}
	}
	return out
}

// key is a row as one string, for maps.
func key(row []string) string {
	if len(row) == 1 {
		return row[0]
	}
	return strings.Join(row, "\x00")
}
