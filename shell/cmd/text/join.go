package text

import (
	"bytes"
	"context"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "join",
		Synopsis: "join [OPTION]... FILE1 FILE2",
		Summary: "For each pair of input lines with identical join fields, write a line to\n" +
			"standard output.  The default join field is the first, delimited by blanks.",
		Options: []command.Option{
			{Short: 'a', Arg: command.RequiredArgument, ArgName: "FILENUM", Help: "also print unpairable lines from file FILENUM, where\nFILENUM is 1 or 2, corresponding to FILE1 or FILE2"},
			{Short: 'e', Arg: command.RequiredArgument, ArgName: "STRING", Help: "replace missing (empty) input fields with STRING"},
			{Short: 'i', Long: "ignore-case", Help: "ignore differences in case when comparing fields"},
			{Short: 'j', Arg: command.RequiredArgument, ArgName: "FIELD", Help: "equivalent to '-1 FIELD -2 FIELD'"},
			{Short: 'o', Arg: command.RequiredArgument, ArgName: "FORMAT", Help: "obey FORMAT while constructing output line"},
			{Short: 't', Arg: command.RequiredArgument, ArgName: "CHAR", Help: "use CHAR as input and output field separator"},
			{Short: 'v', Arg: command.RequiredArgument, ArgName: "FILENUM", Help: "like -a FILENUM, but suppress joined output lines"},
			{Short: '1', Arg: command.RequiredArgument, ArgName: "FIELD", Help: "join on this FIELD of file 1"},
			{Short: '2', Arg: command.RequiredArgument, ArgName: "FIELD", Help: "join on this FIELD of file 2"},
			{Long: "check-order", ID: optCheckOrder, Help: "check that the input is correctly sorted, even\nif all input lines are pairable"},
			{Long: "nocheck-order", ID: optNoCheckOrder, Help: "do not check that the input is correctly sorted"},
			{Long: "header", ID: optHeader, Help: "treat the first line in each file as field headers,\nprint them without trying to pair them"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
		},
	}, join)
}

// outField is an item of -o: file 0 is the join field.
type outField struct{ file, field int }

// joinLine is a line split into fields.
type joinLine struct {
	text   []byte
	fields [][]byte
}

// joiner joins two files.
type joiner struct {
	c         *command.Context
	field     [2]int // -1: not given
	unpaired  [2]bool
	paired    bool
	fold      bool
	empty     string
	hasEmpty  bool
	out       []outField
	auto      bool
	autoCount [2]int
	tab       int // -1: blanks
	whole     bool
	check     orderCheck
	header    bool
	delim     byte
	in        [2]joinInput
	seen      bool // an unpairable line
	warned    [2]bool
}

// joinInput is one file.
type joinInput struct {
	r    *lines.Reader
	name string
	line *joinLine // the next one, nil at the end
	last *joinLine
	n    int
}

func join(ctx context.Context, c *command.Context, args []string) int {
	k := joiner{c: c, field: [2]int{-1, -1}, paired: true, tab: -1, delim: '\n'}
	p := c.Options(args)
	for p.Next() {
		if !k.option(p) {
			return 1
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	files, ok := k.formatOperands(files)
	switch {
	case !ok:
		return 1
	case len(files) == 0:
		return c.MissingOperand("")
	case len(files) == 1:
		return c.MissingOperand(args[len(args)-1])
	case len(files) > 2:
		return c.ExtraOperand(files[2])
	case files[0] == "-" && files[1] == "-":
		return c.Errorf("both files cannot be standard input")
	}
	for i := range k.field {
		k.field[i] = max(0, k.field[i])
	}
	return k.run(ctx, files)
}

// option applies one option; false after a mistake.
func (k *joiner) option(p *command.Parser) bool {
	arg := p.Arg()
	switch id := p.ID(); id {
	case 'a', 'v':
		if arg != "1" && arg != "2" {
			n, err := strconv.Atoi(arg)
			if err != nil || n < 1 || n > 2 {
				k.c.Errorf("invalid field number: %s", k.c.Quote(arg))
				return false
			}
		}
		k.unpaired[arg[0]-'1'] = true
		k.paired = k.paired && id == 'a'
	case 'e':
		if k.hasEmpty && k.empty != arg {
			k.c.Errorf("conflicting empty-field replacement strings")
			return false
		}
		k.empty, k.hasEmpty = arg, true
	case 'i':
		k.fold = true
	case '1', '2':
		return k.setField(id-'1', arg)
	case 'j':
		return k.setField(0, arg) && k.setField(1, arg)
	case 'o':
		if arg == "auto" {
			k.auto = true
			return true
		}
		return k.addFormat(arg)
	case 't':
		return k.setTab(arg)
	case optCheckOrder:
		k.check = orderAlways
	case optNoCheckOrder:
		k.check = orderNever
	case optHeader:
		k.header = true
	case 'z':
		k.delim = 0
	}
	return true
}

func (k *joiner) setTab(arg string) bool {
	tab := 0
	switch {
	case arg == "":
		k.whole = true // no separator at all: a line is one field
		tab = '\n'
	case len(arg) == 1:
		tab = int(arg[0])
	case arg == `\0`:
	default:
		k.c.Errorf("multi-character tab %s", k.c.Quote(arg))
		return false
	}
	if k.tab >= 0 && k.tab != tab {
		k.c.Errorf("incompatible tabs")
		return false
	}
	k.tab = tab
	return true
}

func (k *joiner) fieldNumber(arg string) (int, bool) {
	n, err := strconv.ParseUint(arg, 10, 63)
	if err != nil && !isRange(err) || err == nil && n == 0 {
		k.c.Errorf("invalid field number: %s", k.c.Quote(arg))
		return 0, false
	}
	return int(min(n, 1<<31)) - 1, true
}

func (k *joiner) setField(file int, arg string) bool {
	n, ok := k.fieldNumber(arg)
	if !ok {
		return false
	}
	if k.field[file] >= 0 && k.field[file] != n {
		k.c.Errorf("incompatible join fields %d, %d", k.field[file]+1, n+1)
		return false
	}
	k.field[file] = n
	return true
}

// addFormat reads a FORMAT of -o.
func (k *joiner) addFormat(s string) bool {
	for _, item := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' }) {
		if item == "0" {
			k.out = append(k.out, outField{})
			continue
		}
		file, field, ok := strings.Cut(item, ".")
		switch {
		case strings.HasPrefix(item, "0"):
			k.c.Errorf("invalid field specifier: %s", k.c.Quote(item))
			return false
		case file != "1" && file != "2" && item[0] != '1' && item[0] != '2':
			k.c.Errorf("invalid file number in field spec: %s", k.c.Quote(item))
			return false
		case !ok || len(file) > 1:
			k.c.Errorf("invalid field specifier: %s", k.c.Quote(item))
			return false
		}
		n, ok := k.fieldNumber(field)
		if !ok {
			return false
		}
		k.out = append(k.out, outField{int(file[0] - '0'), n})
	}
	return true
}

// formatOperands takes the operands that go on with -o in its old form.
func (k *joiner) formatOperands(files []string) ([]string, bool) {
	if k.out == nil {
		return files, true
	}
	for len(files) > 2 {
		if !k.addFormat(files[0]) {
			return nil, false
		}
		files = files[1:]
	}
	return files, true
}

// split makes fields of a line.
func (k *joiner) split(text []byte) *joinLine {
	l := &joinLine{text: bytes.Clone(text)}
	b := l.text
	if k.whole {
		l.fields = [][]byte{b}
		return l
	}
	if k.tab >= 0 {
		l.fields = bytes.Split(b, []byte{byte(k.tab)})
		return l
	}
	for {
		b = bytes.TrimLeft(b, " \t\n")
		if len(b) == 0 {
			return l
		}
		i := bytes.IndexAny(b, " \t\n")
		if i < 0 {
			l.fields = append(l.fields, b)
			return l
		}
		l.fields = append(l.fields, b[:i])
		b = b[i+1:]
	}
}

func (l *joinLine) field(n int) []byte {
	if l == nil || n >= len(l.fields) {
		return nil
	}
	return l.fields[n]
}

// compare orders two lines of files i and j by their join fields.
func (k *joiner) compare(a *joinLine, i int, b *joinLine, j int) int {
	x, y := a.field(k.field[i]), b.field(k.field[j])
	if k.fold {
		return bytes.Compare(foldASCII(x), foldASCII(y))
	}
	return bytes.Compare(x, y)
}

func foldASCII(b []byte) []byte {
	out := make([]byte, len(b))
	for i, c := range b {
		if c >= 'a' && c <= 'z' {
			c &^= 0x20
		}
		out[i] = c
	}
	return out
}

// advance reads the next line of a file.
func (k *joiner) advance(i int) error {
	in := &k.in[i]
	in.last = in.line
	text, _, err := in.r.Next()
	if err != nil {
		in.line = nil
		if err == io.EOF {
			return nil
		}
		return err
	}
	in.n++
	in.line = k.split(text)
	if in.last == nil || k.check == orderNever || k.check == orderIfUnpaired && !k.seen || k.warned[i] {
		return nil
	}
	if k.compare(in.last, i, in.line, i) > 0 {
		k.c.Stdout.Flush()
		k.c.Errorf("%s:%d: is not sorted: %s", in.name, in.n, in.line.text)
		k.warned[i] = true
		if k.check == orderAlways {
			return errReported
		}
	}
	return nil
}

func (k *joiner) run(ctx context.Context, files []string) int {
	for i, name := range files {
		f, err := k.c.Open(name)
		if err != nil {
			return k.c.Fail(name, err)
		}
		defer f.Close()
		k.in[i] = joinInput{r: lines.NewReader(f, k.c.Memory), name: name}
		k.in[i].r.Delim = k.delim
		defer k.in[i].r.Release()
	}
	err := k.merge(ctx)
	switch {
	case err == errReported || ctx.Err() != nil || k.c.Stdout.Err() != nil:
		return 1
	case err != nil:
		return k.c.Errorf("read error: %s", command.Strerror(err))
	case k.warned[0] || k.warned[1]:
		k.c.Stdout.Flush()
		return k.c.Errorf("input is not in sorted order")
	}
	return 0
}

// merge goes through both files.
func (k *joiner) merge(ctx context.Context) error {
	for i := range k.in {
		if err := k.advance(i); err != nil {
			return err
		}
	}
	a, b := &k.in[0], &k.in[1]
	if k.auto {
		for i := range k.in {
			if k.in[i].line != nil {
				k.autoCount[i] = len(k.in[i].line.fields)
			}
		}
	}
	if k.header && (a.line != nil || b.line != nil) {
		k.print(a.line, b.line)
		for i := range k.in {
			if k.in[i].line == nil {
				continue
			}
			k.in[i].line = nil // the header is not compared with what follows
			if err := k.advance(i); err != nil {
				return err
			}
		}
	}
	for a.line != nil && b.line != nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		var err error
		switch d := k.compare(a.line, 0, b.line, 1); {
		case d < 0:
			err = k.alone(0)
		case d > 0:
			err = k.alone(1)
		default:
			err = k.group(ctx)
		}
		if err != nil {
			return err
		}
	}
	// The rest has no partner; it is read for its order even so.
	for i := range k.in {
		for k.in[i].line != nil {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := k.alone(i); err != nil {
				return err
			}
			if !k.unpaired[i] && (k.check == orderNever || k.warned[i]) {
				break
			}
		}
	}
	return nil
}

// alone deals with a line that has no partner.
func (k *joiner) alone(i int) error {
	k.seen = true
	if k.unpaired[i] {
		if i == 0 {
			k.print(k.in[0].line, nil)
		} else {
			k.print(nil, k.in[1].line)
		}
	}
	if err := k.c.Stdout.Err(); err != nil {
		return err
	}
	return k.advance(i)
}

// group joins all lines of both files with the present field. Those of the
// second file are held.
func (k *joiner) group(ctx context.Context) error {
	a, b := &k.in[0], &k.in[1]
	first := a.line
	var held []*joinLine
	size := int64(0)
	defer func() { k.c.Memory.Shrink(size) }()
	for b.line != nil && k.compare(first, 0, b.line, 1) == 0 {
		held = append(held, b.line)
		n := int64(2 * len(b.line.text))
		if err := k.c.Memory.Grow(n); err != nil {
			return err
		}
		size += n
		if err := k.advance(1); err != nil {
			return err
		}
	}
	for a.line != nil && k.compare(first, 0, a.line, 0) == 0 {
		present := a.line
		// The next line is checked for its order before this one is printed.
		if err := k.advance(0); err != nil {
			return err
		}
		for _, l := range held {
			if k.paired {
				k.print(present, l)
			}
			if err := k.c.Stdout.Err(); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// print prints the join of two lines, of which one may be missing.
func (k *joiner) print(a, b *joinLine) {
	sep := byte(' ')
	if k.tab >= 0 {
		sep = byte(k.tab)
	}
	first := true
	put := func(field []byte) {
		if !first {
			k.c.Stdout.WriteByte(sep)
		}
		first = false
		if len(field) == 0 {
			k.c.Stdout.WriteString(k.empty)
		} else {
			k.c.Stdout.Write(field)
		}
	}
	key := a.field(k.field[0])
	if a == nil {
		key = b.field(k.field[1])
	}
	if k.out != nil {
		for _, o := range k.out {
			switch o.file {
			case 0:
				put(key)
			case 1:
				put(a.field(o.field))
			default:
				put(b.field(o.field))
			}
		}
	} else {
		put(key)
		for i, l := range []*joinLine{a, b} {
			n := k.autoCount[i]
			if !k.auto {
				if l == nil {
					continue
				}
				n = len(l.fields)
			}
			for f := range n {
				if f != k.field[i] {
					put(l.field(f))
				}
			}
		}
	}
	k.c.Stdout.WriteByte(k.delim)
}
