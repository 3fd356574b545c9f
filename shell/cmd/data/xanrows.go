package data

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/data/jqlang"
)

// rows opens the n-th operand, writes its header, and passes its rows through
// do; what do returns is written, nil is left out.
func (x *xanRun) rows(n int, do func(t *table) (func(row []string) []string, error)) error {
	t, err := x.open(n)
	if err != nil {
		return err
	}
	f, err := do(t)
	if err != nil {
		return err
	}
	if err := x.header(t.head); err != nil {
		return err
	}
	err = t.each(func(row []string) error {
		if row = f(row); row != nil {
			return x.out.Write(row)
		}
		return nil
	})
	if err == errXanEnough {
		err = nil
	}
	return err
}

var errXanEnough = errors.New("enough")

func (x *xanRun) behead() error {
	return x.rows(0, func(t *table) (func([]string) []string, error) {
		t.head = nil
		return func(row []string) []string { return row }, nil
	})
}

func (x *xanRun) count() error {
	t, err := x.open(0)
	if err != nil {
		return err
	}
	n := 0
	if err := t.each(func([]string) error { n++; return nil }); err != nil {
		return err
	}
	fmt.Fprintln(x.w, n)
	return nil
}

func (x *xanRun) headers() error {
	for i := range max(1, len(x.args)) {
		t, err := x.open(i)
		if err != nil {
			return err
		}
		for n, h := range t.head {
			if x.has("j") {
				fmt.Fprintln(x.w, h)
			} else {
				fmt.Fprintf(x.w, "%-3d %s\n", n, h)
			}
		}
	}
	return nil
}

func (x *xanRun) selectColumns() error { return x.choose("") }

func (x *xanRun) drop() error { return x.choose("!") }

func (x *xanRun) choose(prefix string) error {
	if len(x.args) == 0 {
		return errXanUsage
	}
	return x.rows(1, func(t *table) (func([]string) []string, error) {
		cols, err := columns(prefix+x.args[0], t.head)
		t.head = pick(t.head, cols)
		return func(row []string) []string { return pick(row, cols) }, err
	})
}

func (x *xanRun) enum() error {
	return x.rows(0, func(t *table) (func([]string) []string, error) {
		name := x.opts["c"]
		if name == "" {
			name = "index"
		}
		i, err := strconv.Atoi("0" + x.opts["S"])
		t.head = append([]string{name}, t.head...)
		return func(row []string) []string {
			i++
			return append([]string{strconv.Itoa(i - 1)}, row...)
		}, err
	})
}

func (x *xanRun) dedup() error {
	return x.rows(0, func(t *table) (func([]string) []string, error) {
		cols, err := columns(x.opts["s"], t.head)
		seen := map[string]bool{}
		return func(row []string) []string {
			k := key(pick(row, cols))
			if seen[k] || x.c.Memory.Grow(int64(len(k))+32) != nil {
				return nil
			}
			seen[k] = true
			return row
		}, err
	})
}

func (x *xanRun) fill() error {
	return x.rows(0, func(t *table) (func([]string) []string, error) {
		cols, err := columns(x.opts["s"], t.head)
		last := make([]string, len(t.head))
		value, given := x.opts["v"]
		return func(row []string) []string {
			for _, c := range cols {
				switch {
				case c >= len(row):
				case row[c] != "":
					last[c] = row[c]
				case given:
					row[c] = value
				default:
					row[c] = last[c]
				}
			}
			return row
		}, err
	})
}

func (x *xanRun) explode() error {
	if len(x.args) == 0 {
		return errXanUsage
	}
	t, err := x.open(1)
	if err != nil {
		return err
	}
	c, err := column(x.args[0], t.head)
	if err != nil {
		return err
	}
	sep := x.opts["sep"]
	if sep == "" {
		sep = "|"
	}
	if err := x.header(t.head); err != nil {
		return err
	}
	return t.each(func(row []string) error {
		for part := range strings.SplitSeq(row[c], sep) {
			row[c] = part
			if err := x.out.Write(row); err != nil {
				return err
			}
		}
		return nil
	})
}

func (x *xanRun) rename() error {
	if len(x.args) == 0 {
		return errXanUsage
	}
	return x.rows(1, func(t *table) (func([]string) []string, error) {
		cols, err := columns(x.opts["s"], t.head)
		names := strings.Split(x.args[0], ",")
		if err == nil && len(names) != len(cols) {
			err = fmt.Errorf("%d names for %d columns", len(names), len(cols))
		}
		if err != nil {
			return nil, err
		}
		t.head = slices.Clone(t.head)
		for i, c := range cols {
			t.head[c] = names[i]
		}
		return func(row []string) []string { return row }, nil
	})
}

func (x *xanRun) search() error {
	if len(x.args) == 0 {
		return errXanUsage
	}
	pattern := x.args[0]
	if x.has("e") {
		pattern = "^" + regexp.QuoteMeta(pattern) + "$"
	}
	if x.has("i") {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	return x.rows(1, func(t *table) (func([]string) []string, error) {
		cols, err := columns(x.opts["s"], t.head)
		return func(row []string) []string {
			if slices.ContainsFunc(pick(row, cols), re.MatchString) == x.has("v") {
				return nil
			}
			return row
		}, err
	})
}

// filter keeps the rows for which an expression of jq holds, where each column
// is a key of the input: numbers are numbers.
func (x *xanRun) filter() error {
	if len(x.args) == 0 {
		return errXanUsage
	}
	code, err := jqlang.Compile(bareColumns(x.args[0]), nil)
	if err != nil {
		return fmt.Errorf("invalid expression: %w", err)
	}
	var failed error
	err = x.rows(1, func(t *table) (func([]string) []string, error) {
		return func(row []string) []string {
			keep := false
			err := code.Run(x.ctx, &jqlang.Options{Now: x.c.Now, Location: x.c.Location, Grow: x.c.Memory.Grow}, rowObject(t.head, row), func(v any) error {
				keep = keep || jqlang.Truthy(v)
				return nil
			})
			if err != nil && failed == nil {
				failed = errors.New(strings.TrimPrefix(err.Error(), ": "))
			}
			if keep == x.has("v") {
				return nil
			}
			return row
		}, nil
	})
	if err == nil {
		err = failed
	}
	return err
}

var bareWord = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[.$@]?[A-Za-z_][A-Za-z0-9_]*[(:]?|&&|\|\||\beq\b`)

// bareColumns lets an expression name columns without a dot, and write && and
// || for and and or.
func bareColumns(expr string) string {
	return bareWord.ReplaceAllStringFunc(expr, func(w string) string {
		switch w {
		case "&&":
			return " and "
		case "||":
			return " or "
		case "eq":
			return "=="
		case "ne":
			return "!="
		case "lt":
			return "<"
		case "gt":
			return ">"
		case "and", "or", "not", "true", "false", "null", "length", "if", "then", "else", "end", "tonumber", "tostring", "ascii_downcase", "ascii_upcase":
			return w
		}
		if strings.ContainsAny(w[:1], `."$@`) || strings.HasSuffix(w, "(") || strings.HasSuffix(w, ":") {
			return w
		}
		return "." + w
	})
}

// rowObject is a row as an object; numbers become numbers.
func rowObject(head, row []string) *jqlang.Object {
	o := jqlang.NewObject(len(head))
	for i, h := range head {
		if i >= len(row) {
			break
		}
		o.Put(h, valueOf(row[i]))
	}
	return o
}

var isNumber = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$`)

func valueOf(s string) any {
	if len(s) < 17 && isNumber.MatchString(s) {
		if f, err := strconv.ParseFloat(s, 64); err == nil {
			return f
		}
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func (x *xanRun) head() error { return x.window(0, -1, "l") }

// window keeps the rows from start up to end.
func (x *xanRun) window(start, end int, limit string) error {
	if limit != "" {
		n, err := x.number(limit, 10)
		if err != nil {
			return err
		}
		end = start + n
	}
	t, err := x.open(0)
	if err != nil {
		return err
	}
	if err := x.header(t.head); err != nil {
		return err
	}
	for i := 0; end < 0 || i < end; i++ {
		row, err := t.next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if i >= start {
			if err := x.out.Write(row); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *xanRun) slice() error {
	start, err := x.number("s", 0)
	if err != nil {
		return err
	}
	end, err := x.number("e", -1)
	if err != nil {
		return err
	}
	if x.has("l") {
		n, err := x.number("l", 0)
		if err != nil {
			return err
		}
		end = start + n
	}
	if x.has("i") {
		if start, err = x.number("i", 0); err != nil {
			return err
		}
		end = start + 1
	}
	return x.window(start, end, "")
}

func (x *xanRun) tail() error {
	n, err := x.number("l", 10)
	if err != nil {
		return err
	}
	t, err := x.open(0)
	if err != nil {
		return err
	}
	var last [][]string
	err = t.each(func(row []string) error {
		if last = append(last, row); len(last) > n {
			last = last[1:]
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := x.header(t.head); err != nil {
		return err
	}
	return x.out.WriteAll(last)
}

func (x *xanRun) format() error {
	if d := x.opts["t"]; d != "" {
		x.out.Comma = delimiterOf(d)
	}
	x.out.UseCRLF = x.has("crlf")
	return x.rows(0, func(*table) (func([]string) []string, error) {
		return func(row []string) []string { return row }, nil
	})
}
