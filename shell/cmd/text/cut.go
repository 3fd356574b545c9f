package text

import (
	"bytes"
	"context"
	"io"
	"math"
	"sort"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	optComplement = 256 + iota
	optOutputDelimiter
)

func init() {
	command.Register(command.Info{
		Name:     "cut",
		Synopsis: "cut OPTION... [FILE]...",
		Summary: "Print selected parts of lines from each FILE to standard output.\n\n" +
			"With no FILE, or when FILE is -, read standard input.",
		Options: []command.Option{
			{Short: 'b', Long: "bytes", Arg: command.RequiredArgument, ArgName: "LIST", Help: "select only these bytes"},
			{Short: 'c', Long: "characters", Arg: command.RequiredArgument, ArgName: "LIST", Help: "select only these characters"},
			{Short: 'd', Long: "delimiter", Arg: command.RequiredArgument, ArgName: "DELIM", Help: "use DELIM instead of TAB for field delimiter"},
			{Short: 'f', Long: "fields", Arg: command.RequiredArgument, ArgName: "LIST", Help: "select only these fields;  also print any line\nthat contains no delimiter character, unless\nthe -s option is specified"},
			{Short: 'n', Help: "(ignored)"},
			{Long: "complement", ID: optComplement, Help: "complement the set of selected bytes, characters\nor fields"},
			{Short: 's', Long: "only-delimited", Help: "do not print lines not containing delimiters"},
			{Long: "output-delimiter", Arg: command.RequiredArgument, ArgName: "STRING", ID: optOutputDelimiter, Help: "use STRING as the output delimiter\nthe default is to use the input delimiter"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
		},
		Notes: "Use one, and only one of -b, -c or -f. Each LIST is made up of one range, or\nmany ranges separated by commas: N, N-, N-M or -M.",
	}, cut)
}

// interval is the numbers from lo to hi.
type interval struct{ lo, hi uint64 }

// cutter cuts lines.
type cutter struct {
	c         *command.Context
	ranges    []interval
	fields    bool
	delim     byte
	only      bool
	output    []byte
	hasOutput bool
	eol       byte
}

func cut(ctx context.Context, c *command.Context, args []string) int {
	k := cutter{c: c, delim: '\t', eol: '\n'}
	list, kind, delimGiven, complement := "", 0, false, false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'b', 'c', 'f':
			if kind != 0 {
				return c.Usage("only one list may be specified")
			}
			kind, list = p.ID(), p.Arg()
		case 'd':
			if len(p.Arg()) > 1 {
				return c.Usage("the delimiter must be a single character")
			}
			k.delim = 0
			if p.Arg() != "" {
				k.delim = p.Arg()[0]
			}
			delimGiven = true
		case optComplement:
			complement = true
		case 's':
			k.only = true
		case optOutputDelimiter:
			k.output, k.hasOutput = []byte(p.Arg()), true
			if p.Arg() == "" {
				k.output = []byte{0}
			}
		case 'z':
			k.eol = 0
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	switch {
	case kind == 0:
		return c.Usage("you must specify a list of bytes, characters, or fields")
	case kind != 'f' && delimGiven:
		return c.Usage("an input delimiter may be specified only when operating on fields")
	case kind != 'f' && k.only:
		return c.Usage("suppressing non-delimited lines makes sense\n\tonly when operating on fields")
	}
	k.fields = kind == 'f'
	if !k.parseList(list) {
		return 1
	}
	if complement {
		k.ranges = invert(k.ranges)
	}
	if !k.hasOutput {
		k.output = []byte{k.delim}
	}
	return each(ctx, c, orStdin(files), func(_ string, r io.Reader) error { return k.file(ctx, r) })
}

// parseList reads LIST into sorted ranges that do not touch.
func (k *cutter) parseList(list string) bool {
	from1 := "byte/character positions are numbered from 1"
	bad := "invalid byte or character range"
	badValue := "invalid byte/character position %s"
	large := "byte/character offset %s is too large"
	if k.fields {
		from1, bad = "fields are numbered from 1", "invalid field range"
		badValue, large = "invalid field value %s", "field number %s is too large"
	}
	for _, item := range strings.FieldsFunc(list+",", func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		lo, hi, dash := strings.Cut(item, "-")
		var iv interval
		if strings.Contains(hi, "-") {
			k.c.Usage("%s", bad)
			return false
		}
		for _, end := range []struct {
			s string
			n *uint64
		}{{lo, &iv.lo}, {hi, &iv.hi}} {
			if end.s == "" {
				continue
			}
			if d := digitsOf(end.s); d < len(end.s) {
				k.c.Usage(badValue, k.c.Quote(end.s[d:]))
				return false
			}
			n, err := strconv.ParseUint(end.s, 10, 64)
			if err != nil || n == math.MaxUint64 {
				k.c.Usage(large, k.c.Quote(end.s))
				return false
			}
			if n == 0 && end.n == &iv.lo {
				k.c.Usage("%s", from1)
				return false
			}
			*end.n = n
		}
		switch {
		case !dash:
			iv.hi = iv.lo
		case lo == "" && hi == "":
			k.c.Usage("invalid range with no endpoint: -")
			return false
		case lo == "" && iv.hi > 0:
			iv.lo = 1
		case hi == "" && lo != "":
			iv.hi = math.MaxUint64
		case iv.hi < max(iv.lo, 1):
			k.c.Usage("invalid decreasing range")
			return false
		}
		k.ranges = append(k.ranges, iv)
	}
	if len(k.ranges) == 0 || strings.HasSuffix(list, ",") || strings.Contains(list, ",,") || strings.HasPrefix(list, ",") {
		k.c.Usage("%s", from1)
		return false
	}
	k.ranges = merge(k.ranges, k.fields || !k.hasOutput)
	return true
}

// merge sorts ranges and joins those that overlap; those that only touch too
// when adjacent is set.
func merge(ranges []interval, adjacent bool) []interval {
	sort.SliceStable(ranges, func(i, j int) bool { return ranges[i].lo < ranges[j].lo })
	out := ranges[:1]
	for _, r := range ranges[1:] {
		last := &out[len(out)-1]
		if r.lo <= last.hi || adjacent && r.lo-1 <= last.hi {
			last.hi = max(last.hi, r.hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

// invert returns the numbers that are in no range.
func invert(ranges []interval) []interval {
	var out []interval
	next := uint64(1)
	for _, r := range ranges {
		if r.lo > next {
			out = append(out, interval{next, r.lo - 1})
		}
		if r.hi == math.MaxUint64 {
			return out
		}
		next = max(next, r.hi+1)
	}
	return append(out, interval{next, math.MaxUint64})
}

// file cuts the lines of one file.
func (k *cutter) file(ctx context.Context, src io.Reader) error {
	r := lines.NewReader(src, k.c.Memory)
	r.Delim = k.eol
	defer r.Release()
	if k.fields && k.delim == k.eol {
		return k.lineFields(ctx, r)
	}
	var out []byte
	for n := 0; ; n++ {
		line, _, err := r.Next()
		if err == io.EOF || ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		keep := true
		if k.fields {
			out, keep = k.cutFields(out[:0], line)
		} else {
			out = k.cutBytes(out[:0], line)
		}
		if !keep {
			continue
		}
		if _, err := k.c.Stdout.Write(append(out, k.eol)); err != nil {
			return nil
		}
	}
}

func (k *cutter) cutBytes(out, line []byte) []byte {
	n := uint64(len(line))
	for i, r := range k.ranges {
		if r.lo > n {
			break
		}
		if i > 0 && k.hasOutput {
			out = append(out, k.output...)
		}
		out = append(out, line[r.lo-1:min(r.hi, n)]...)
	}
	return out
}

// cutFields cuts fields; keep is false for a line that is not to be printed.
func (k *cutter) cutFields(out, line []byte) (cut []byte, keep bool) {
	if bytes.IndexByte(line, k.delim) < 0 {
		return append(out, line...), !k.only
	}
	first := true
	number := uint64(1)
	for _, r := range k.ranges {
		// Skip to the range's first field.
		for ; number < r.lo; number++ {
			i := bytes.IndexByte(line, k.delim)
			if i < 0 {
				return out, true
			}
			line = line[i+1:]
		}
		for ; number <= r.hi; number++ {
			if !first {
				out = append(out, k.output...)
			}
			first = false
			i := bytes.IndexByte(line, k.delim)
			if i < 0 {
				return append(out, line...), true
			}
			out = append(out, line[:i]...)
			line = line[i+1:]
		}
	}
	return out, true
}

// lineFields is cut -f when lines are the fields: the file is one line.
func (k *cutter) lineFields(ctx context.Context, r *lines.Reader) error {
	first, any := true, false
	for number := uint64(1); ; number++ {
		line, ended, err := r.Next()
		if err == io.EOF || ctx.Err() != nil {
			if any {
				k.c.Stdout.WriteByte(k.eol)
			}
			return ctx.Err()
		}
		if err != nil {
			return err
		}
		if number == 1 && !ended && k.only {
			return nil
		}
		any = true
		i := sort.Search(len(k.ranges), func(i int) bool { return k.ranges[i].hi >= number })
		if i == len(k.ranges) || k.ranges[i].lo > number {
			continue
		}
		if !first {
			k.c.Stdout.Write(k.output)
		}
		first = false
		if _, err := k.c.Stdout.Write(line); err != nil {
			return nil
		}
	}
}
