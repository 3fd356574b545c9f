package text

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/text/cformat"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	optEndian = 256 + iota
	optTraditional
)

func init() {
	options := []command.Option{
		{Short: 'A', Long: "address-radix", Arg: command.RequiredArgument, ArgName: "RADIX", Help: "output format for file offsets; RADIX is one\nof [doxn], for Decimal, Octal, Hex or None"},
		{Long: "endian", Arg: command.RequiredArgument, ArgName: "{big|little}", ID: optEndian, Help: "swap input bytes according the specified order"},
		{Short: 'j', Long: "skip-bytes", Arg: command.RequiredArgument, ArgName: "BYTES", Help: "skip BYTES input bytes first"},
		{Short: 'N', Long: "read-bytes", Arg: command.RequiredArgument, ArgName: "BYTES", Help: "limit dump to BYTES input bytes"},
		{Short: 'S', Arg: command.RequiredArgument, ArgName: "BYTES", Help: "output strings of at least BYTES graphic chars"},
		{Long: "strings", Arg: command.OptionalArgument, ArgName: "BYTES", ID: 'S', Help: "the same; 3 is implied when BYTES is not specified"},
		{Short: 't', Long: "format", Arg: command.RequiredArgument, ArgName: "TYPE", Help: "select output format or formats"},
		{Short: 'v', Long: "output-duplicates", Help: "do not use * to mark line suppression"},
		{Short: 'w', Long: "width", Arg: command.OptionalArgument, ArgName: "BYTES", Help: "output BYTES bytes per output line;\n32 is implied when BYTES is not specified"},
		{Long: "traditional", ID: optTraditional},
	}
	for _, f := range odShort {
		options = append(options, command.Option{Short: f.letter, Help: "same as -t " + f.types})
	}
	command.Register(command.Info{
		Name:     "od",
		Synopsis: "od [OPTION]... [FILE]...",
		Summary: "Write an unambiguous representation, octal bytes by default,\n" +
			"of FILE to standard output.  With more than one FILE argument,\n" +
			"concatenate them in the listed order to form the input.",
		Options: options,
		Notes:   "TYPE is made up of a, c, d[SIZE], f[SIZE], o[SIZE], u[SIZE], x[SIZE], where SIZE\nis 1, 2, 4, 8 or C, S, I, L (for f: F, D, L); a z shows printable characters.",
	}, od)
}

// odShort are the options that stand for a type.
var odShort = []struct {
	letter byte
	types  string
}{{'a', "a"}, {'b', "o1"}, {'c', "c"}, {'d', "u2"}, {'f', "fF"}, {'i', "dI"}, {'l', "dL"}, {'o', "o2"}, {'s', "d2"}, {'x', "x2"},
	{'B', "o2"}, {'D', "u4"}, {'e', "fD"}, {'F', "fD"}, {'h', "x2"}, {'H', "x4"}, {'I', "dL"}, {'L', "dL"}, {'O', "o4"}, {'X', "x4"}}

// odType is one output format.
type odType struct {
	kind  byte // a c d f o u x
	size  int
	width int // of a field, the space before it included
	show  bool
	pad   int
}

// odJob is what od is to do.
type odJob struct {
	c       *command.Context
	types   []odType
	radix   byte
	skip    uint64
	limit   uint64
	limited bool
	all     bool
	block   int
	strings int // 0: no
	order   binary.ByteOrder
	in      *dumpInput
	out     *command.Writer
}

func od(ctx context.Context, c *command.Context, args []string) int {
	j := &odJob{c: c, radix: 'o', order: binary.LittleEndian, out: c.Stdout}
	p := c.Options(args)
	width, widthGiven := 0, false
	for p.Next() {
		if p.ID() == 'w' {
			widthGiven = true
			width = 32
			if p.HasArg() {
				n, ok := sizeArg(c, p.Arg(), "", "invalid -w argument")
				if !ok {
					return 1
				}
				width = int(min(n, 1<<20))
			}
			continue
		}
		if status, ok := j.option(p); !ok {
			return status
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if len(j.types) == 0 {
		j.addTypes("oS")
	}
	if j.strings > 0 && len(j.types) > 1 {
		return c.Errorf("no type may be specified when dumping strings")
	}
	j.setBlock(width, widthGiven)
	j.in = &dumpInput{ctx: ctx, c: c, files: orStdin(files), report: func(name string, err error) { c.Fail(name, err) }}
	defer j.in.close()
	return j.run(ctx)
}

// option applies one option.
func (j *odJob) option(p *command.Parser) (status int, ok bool) {
	arg := p.Arg()
	switch id := p.ID(); id {
	case 'A':
		if len(arg) == 0 || strings.IndexByte("doxn", arg[0]) < 0 {
			return j.c.Errorf("invalid output address radix '%c'; it must be one character from [doxn]", (arg + "\x00")[0]), false
		}
		j.radix = arg[0]
	case 'j', 'N':
		n, ok := odSize(j.c, arg, p.Spelled())
		if !ok {
			return 1, false
		}
		if id == 'j' {
			j.skip = n
		} else {
			j.limit, j.limited = n, true
		}
	case 'S':
		j.strings = 3
		if p.HasArg() {
			n, ok := odSize(j.c, arg, p.Spelled())
			if !ok {
				return 1, false
			}
			j.strings = int(max(1, min(n, 1<<20)))
		}
	case 't':
		if !j.addTypes(arg) {
			return 1, false
		}
	case 'v':
		j.all = true
	case optEndian:
		v, ok := gnulib.MatchArg(j.c, "--endian", arg, []gnulib.Choice{{Word: "big", Value: 1}, {Word: "little", Value: 2}})
		if !ok {
			return 1, false
		}
		if v == 1 {
			j.order = binary.BigEndian
		}
	case optTraditional:
	default:
		for _, f := range odShort {
			if int(f.letter) == id {
				j.addTypes(f.types)
			}
		}
	}
	return 0, true
}

// odSize reads a number of bytes, which may be octal or hexadecimal.
func odSize(c *command.Context, arg, option string) (uint64, bool) {
	digits, base := arg, 10
	switch {
	case strings.HasPrefix(arg, "0x"), strings.HasPrefix(arg, "0X"):
		digits, base = arg[2:], 16
	case strings.HasPrefix(arg, "0") && len(arg) > 1:
		digits, base = arg[1:], 8
	}
	i := 0
	for i < len(digits) {
		if _, n := digitsIn(digits[i:i+1], base, 1); n == 0 {
			break
		}
		i++
	}
	n, err := strconv.ParseUint(digits[:i], base, 64)
	if err != nil {
		c.Errorf("invalid %s argument '%s'", option, arg)
		return 0, false
	}
	if rest := digits[i:]; rest != "" {
		m, ok := gnulib.Suffix(rest, "bEGKkMmPTYZ0")
		if !ok {
			c.Errorf("invalid suffix in %s argument '%s'", option, arg)
			return 0, false
		}
		n *= m
	}
	return n, true
}

// odWidths are the widths of fields without the space, by kind and size.
var odWidths = map[byte]map[int]int{
	'd': {1: 4, 2: 6, 4: 11, 8: 20}, 'u': {1: 3, 2: 5, 4: 10, 8: 20}, 'o': {1: 3, 2: 6, 4: 11, 8: 22}, 'x': {1: 2, 2: 4, 4: 8, 8: 16},
	'f': {4: 15, 8: 24, 16: 29},
}

// addTypes reads a TYPE.
func (j *odJob) addTypes(s string) bool {
	if s == "" {
		return true
	}
	for rest := s; rest != ""; {
		t := odType{kind: rest[0]}
		rest = rest[1:]
		switch t.kind {
		case 'a', 'c':
			t.size, t.width = 1, 4
		case 'd', 'u', 'o', 'x', 'f':
			n, size, ok := j.typeSize(t.kind, rest, s)
			if !ok {
				return false
			}
			rest, t.size = rest[n:], size
			t.width = odWidths[t.kind][size] + 1
		default:
			j.c.Errorf("invalid character '%c' in type string %s", t.kind, j.c.Quote(s))
			return false
		}
		if strings.HasPrefix(rest, "z") {
			t.show = true
			rest = rest[1:]
		}
		j.types = append(j.types, t)
	}
	return true
}

// typeSize reads the size of a type.
func (j *odJob) typeSize(kind byte, rest, whole string) (n, size int, ok bool) {
	letters := map[byte]int{'C': 1, 'S': 2, 'I': 4, 'L': 8}
	size = 4
	if kind == 'f' {
		letters, size = map[byte]int{'F': 4, 'D': 8, 'L': 16}, 8
	}
	if rest == "" {
		return 0, size, true
	}
	if v := letters[rest[0]]; v != 0 {
		return 1, v, true
	}
	n = digitsOf(rest)
	if n == 0 {
		return 0, size, true
	}
	size, err := strconv.Atoi(rest[:n])
	if err != nil || odWidths[kind][size] == 0 {
		what := "integral"
		if kind == 'f' {
			what = "floating point"
		}
		j.c.Errorf("invalid type string %s;\nthis system doesn't provide a %s-byte %s type", j.c.Quote(whole), rest[:n], what)
		return 0, 0, false
	}
	return n, size, true
}

// setBlock decides how many bytes are on a line, and how fields are padded so
// that those of different types line up.
func (j *odJob) setBlock(width int, given bool) {
	least := 1
	for _, t := range j.types {
		least = max(least, t.size) // sizes are powers of two
	}
	j.block = 16
	if given {
		j.block = width
		if width == 0 || width%least != 0 {
			j.c.Errorf("warning: invalid width %d; using %d instead", width, least)
			j.block = least
		}
	}
	widest := 0
	for _, t := range j.types {
		widest = max(widest, t.width*(j.block/t.size))
	}
	for i := range j.types {
		t := &j.types[i]
		t.pad = widest - t.width*(j.block/t.size)
	}
}

func (j *odJob) run(ctx context.Context) int {
	n, err := j.in.skip(j.skip)
	if err != nil {
		return 1
	}
	if n < j.skip {
		return j.c.Errorf("cannot skip past end of combined input")
	}
	if !j.in.any && j.in.failed {
		return 1
	}
	src := io.Reader(j.in)
	if j.limited {
		src = io.LimitReader(src, int64(min(j.limit, math.MaxInt64)))
	}
	if j.strings > 0 {
		err = j.dumpStrings(src)
	} else {
		err = j.dump(src)
	}
	if err != nil || j.in.failed || ctx.Err() != nil {
		return 1
	}
	return 0
}

// dump writes lines of all types.
func (j *odJob) dump(src io.Reader) error {
	buf, last := make([]byte, j.block), make([]byte, j.block)
	offset := j.skip
	same, first := false, true
	for {
		n, err := io.ReadFull(src, buf)
		if n == 0 && !j.in.any && j.in.failed {
			return nil // nothing could be opened
		}
		if n == 0 {
			break
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return err
		}
		switch {
		case n == j.block && !first && !j.all && bytes.Equal(buf, last):
			if !same {
				j.out.WriteString("*\n")
			}
			same = true
		default:
			same = false
			j.line(offset, buf[:n])
		}
		first = false
		buf, last = last, buf
		offset += uint64(n)
		if j.out.Err() != nil {
			return j.out.Err()
		}
		if n < j.block {
			break
		}
	}
	if j.radix != 'n' {
		j.out.WriteString(j.address(offset) + "\n")
	}
	return nil
}

func (j *odJob) address(n uint64) string {
	switch j.radix {
	case 'd':
		return fmt.Sprintf("%07d", n)
	case 'o':
		return fmt.Sprintf("%07o", n)
	case 'x':
		return fmt.Sprintf("%06x", n)
	}
	return ""
}

// line writes the lines of one block; b may be short at the end.
func (j *odJob) line(offset uint64, b []byte) {
	addr := j.address(offset)
	for i := range j.types {
		t := &j.types[i]
		if i == 0 {
			j.out.WriteString(addr)
		} else {
			j.out.WriteString(strings.Repeat(" ", len(addr)))
		}
		fields := j.block / t.size
		pad := t.pad
		for f := range fields {
			next := t.pad * (fields - f - 1) / fields
			width := pad - next + t.width
			pad = next
			at := f * t.size
			if at >= len(b) {
				if t.show {
					j.out.WriteString(strings.Repeat(" ", width))
				}
				continue
			}
			chunk := make([]byte, t.size)
			copy(chunk, b[at:])
			s := j.field(t, chunk)
			j.out.WriteString(strings.Repeat(" ", max(0, width-len(s))) + s)
		}
		if t.show {
			j.out.WriteString("  >")
			for _, c := range b {
				if c < ' ' || c > '~' {
					c = '.'
				}
				j.out.WriteByte(c)
			}
			j.out.WriteByte('<')
		}
		j.out.WriteByte('\n')
	}
}

// field formats one value.
func (j *odJob) field(t *odType, b []byte) string {
	switch t.kind {
	case 'a':
		return odNames[b[0]&0x7f]
	case 'c':
		return odChar(b[0])
	case 'f':
		return j.float(b)
	}
	var v uint64
	switch t.size {
	case 1:
		v = uint64(b[0])
	case 2:
		v = uint64(j.order.Uint16(b))
	case 4:
		v = uint64(j.order.Uint32(b))
	default:
		v = j.order.Uint64(b)
	}
	switch t.kind {
	case 'd':
		shift := 64 - 8*t.size
		return strconv.FormatInt(int64(v<<shift)>>shift, 10)
	case 'u':
		return strconv.FormatUint(v, 10)
	case 'o':
		return fmt.Sprintf("%0*o", odWidths['o'][t.size], v)
	}
	return fmt.Sprintf("%0*x", odWidths['x'][t.size], v)
}

// float formats a floating-point number in as few digits as tell it.
func (j *odJob) float(b []byte) string {
	switch len(b) {
	case 4:
		return shortest(float64(math.Float32frombits(j.order.Uint32(b))), 32)
	case 8:
		return shortest(math.Float64frombits(j.order.Uint64(b)), 64)
	}
	return longDouble(b, j.order)
}

// shortest is %g with the least precision that reads back the same.
func shortest(v float64, bits int) string {
	spec := cformat.Spec{Verb: 'g'}
	for prec := 6; ; prec++ {
		spec.Prec = prec
		s := spec.Float(v)
		if x, err := strconv.ParseFloat(s, bits); prec > 17 || err != nil || x == v || math.IsNaN(v) {
			return s
		}
	}
}

// longDouble formats the 80-bit numbers of x86, stored in 16 bytes.
func longDouble(b []byte, order binary.ByteOrder) string {
	if order == binary.BigEndian {
		b = append([]byte(nil), b...)
		for i, k := 0, len(b)-1; i < k; i, k = i+1, k-1 {
			b[i], b[k] = b[k], b[i]
		}
	}
	mant := binary.LittleEndian.Uint64(b)
	head := binary.LittleEndian.Uint16(b[8:])
	exp := int(head & 0x7fff)
	neg := head&0x8000 != 0
	spec := cformat.Spec{Verb: 'g', Prec: 18}
	if exp == 0x7fff {
		if mant<<1 == 0 {
			return spec.BigFloat(new(big.Float).SetInf(neg))
		}
		return spec.NaN(neg)
	}
	f := new(big.Float).SetPrec(cformat.LongDouble).SetUint64(mant)
	if exp == 0 {
		exp = 1
	}
	f.SetMantExp(f, exp-16383-63)
	if neg {
		f.Neg(f)
	}
	for prec := 6; ; prec++ {
		spec.Prec = prec
		s := spec.BigFloat(f)
		back, _ := cformat.ParseFloat(s)
		if prec > 20 || back.Float == nil || back.Float.Cmp(f) == 0 {
			return s
		}
	}
}

// odNames are the names that -a has for characters.
var odNames = func() (names [128]string) {
	for i, n := range strings.Fields("nul soh stx etx eot enq ack bel bs ht nl vt ff cr so si dle dc1 dc2 dc3 dc4 nak syn etb can em sub esc fs gs rs us sp") {
		names[i] = n
	}
	for i := 33; i < 127; i++ {
		names[i] = string(rune(i))
	}
	names[127] = "del"
	return names
}()

func odChar(c byte) string {
	if at := strings.IndexByte("\x00\a\b\f\n\r\t\v", c); at >= 0 {
		return `\` + "0abfnrtv"[at:at+1]
	}
	if c >= ' ' && c <= '~' {
		return string(rune(c))
	}
	return fmt.Sprintf("%03o", c)
}

// dumpStrings writes strings that end in NUL, as -S does.
func (j *odJob) dumpStrings(src io.Reader) error {
	offset := j.skip
	var run []byte
	start := offset
	buf := make([]byte, copySize)
	for {
		n, err := src.Read(buf)
		for _, c := range buf[:n] {
			offset++
			switch {
			case c >= ' ' && c <= '~':
				if len(run) == 0 {
					start = offset - 1
				}
				run = append(run, c)
				if len(run) > maxRun {
					return io.ErrShortBuffer
				}
				continue
			case c == 0 && len(run) >= j.strings:
				if j.radix != 'n' {
					j.out.WriteString(j.address(start) + " ")
				}
				j.out.Write(run)
				j.out.WriteByte('\n')
			}
			run = run[:0]
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// maxRun bounds a string of -S.
const maxRun = 64 << 20
