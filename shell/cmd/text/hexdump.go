package text

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/text/cformat"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	for _, name := range []string{"hexdump", "hd"} {
		command.Register(command.Info{
			Name:     name,
			Synopsis: name + " [options] <file>...",
			Summary:  "Display file contents in hexadecimal, decimal, octal, or ascii.",
			Options: []command.Option{
				{Short: 'b', Long: "one-byte-octal", Help: "one-byte octal display"},
				{Short: 'c', Long: "one-byte-char", Help: "one-byte character display"},
				{Short: 'C', Long: "canonical", Help: "canonical hex+ASCII display"},
				{Short: 'd', Long: "two-bytes-decimal", Help: "two-byte decimal display"},
				{Short: 'o', Long: "two-bytes-octal", Help: "two-byte octal display"},
				{Short: 'x', Long: "two-bytes-hex", Help: "two-byte hexadecimal display"},
				{Short: 'e', Long: "format", Arg: command.RequiredArgument, ArgName: "format", Help: "format string to be used for displaying data"},
				{Short: 'n', Long: "length", Arg: command.RequiredArgument, ArgName: "length", Help: "interpret only length bytes of input"},
				{Short: 's', Long: "skip", Arg: command.RequiredArgument, ArgName: "offset", Help: "skip offset bytes from the beginning"},
				{Short: 'v', Long: "no-squeezing", Help: "output identical lines"},
				{Short: 'L', Long: "color", Arg: command.OptionalArgument, Help: "(ignored)"},
				{Short: 'h', ID: 'h'},
				{Short: 'V', ID: 'V'},
			},
		}, hexdump)
	}
}

// dumpFormat writes one line of a block.
type dumpFormat struct {
	size  int // bytes of a line
	line  func(j *hexdumpJob, at uint64, b []byte)
	final string // the format of the last address; "" means none
}

// hexdumpJob is what the options ask for.
type hexdumpJob struct {
	c       *command.Context
	formats []dumpFormat
	all     bool
}

func hexdump(ctx context.Context, c *command.Context, args []string) int {
	j := &hexdumpJob{c: c}
	length, limited, skip := uint64(0), false, uint64(0)
	if c.Command.Name == "hd" {
		j.formats = append(j.formats, canonical)
	}
	p := c.Options(args)
	for p.Next() {
		switch id := p.ID(); id {
		case 'C':
			j.formats = append(j.formats, canonical)
		case 'b', 'c', 'd', 'o', 'x':
			j.formats = append(j.formats, fixedFormats[byte(id)])
		case 'e':
			f, ok := parseDumpFormat(c, p.Arg())
			if !ok {
				return 1
			}
			j.formats = append(j.formats, f)
		case 'n', 's':
			n, err := gnulib.ParseSize(hexToDecimal(p.Arg()), "KMGTPEZYkmg0")
			if err != nil {
				what := "length"
				if id == 's' {
					what = "offset"
				}
				return c.Errorf("failed to parse %s: '%s': %s", what, p.Arg(), command.Strerror(syscall.EINVAL))
			}
			if id == 'n' {
				length, limited = n, true
			} else {
				skip = n
			}
		case 'v':
			j.all = true
		case 'h':
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case 'V':
			c.Stdout.WriteString("hexdump (vfsd)\n")
			return 0
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if len(j.formats) == 0 {
		j.formats = []dumpFormat{defaultDump}
	}
	in := &dumpInput{ctx: ctx, c: c, files: orStdin(files), report: func(name string, err error) {
		c.Errorf("%s: %s", name, command.Strerror(err))
	}}
	defer in.close()
	return j.run(ctx, in, skip, length, limited)
}

// hexToDecimal rewrites a number with 0x.
func hexToDecimal(s string) string {
	if v, neg, n, over := strtoumax(s); n > 0 && !neg && !over {
		return fmt.Sprint(v) + s[n:]
	}
	return s
}

func (j *hexdumpJob) run(ctx context.Context, in *dumpInput, skip, length uint64, limited bool) int {
	at, err := in.skip(skip)
	if err != nil {
		return 1
	}
	src := io.Reader(in)
	if limited {
		src = io.LimitReader(src, int64(min(length, 1<<62)))
	}
	size := 0
	for _, f := range j.formats {
		size = max(size, f.size)
	}
	buf, last := make([]byte, size), make([]byte, size)
	first, same := true, false
	for {
		n, err := io.ReadFull(src, buf)
		if n == 0 {
			break
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return 1
		}
		if n == size && !first && !j.all && bytes.Equal(buf, last) {
			if !same {
				j.c.Stdout.WriteString("*\n")
			}
			same = true
		} else {
			same = false
			for _, f := range j.formats {
				f.line(j, at, buf[:n])
			}
		}
		first = false
		buf, last = last, buf
		at += uint64(n)
		if j.c.Stdout.Err() != nil {
			return 1
		}
		if n < size {
			break
		}
	}
	if !in.any && in.failed {
		j.c.Errorf("all input file arguments failed")
		return 1
	}
	if f := j.formats[len(j.formats)-1]; at > 0 && f.final != "" {
		fmt.Fprintf(j.c.Stdout, f.final, at)
	}
	if in.failed || ctx.Err() != nil {
		return 1
	}
	return 0
}

// canonical is -C.
var canonical = dumpFormat{16, func(j *hexdumpJob, at uint64, b []byte) {
	out := j.c.Stdout
	fmt.Fprintf(out, "%08x", at)
	for i := range 16 {
		if i%8 == 0 {
			out.WriteByte(' ')
		}
		if i < len(b) {
			fmt.Fprintf(out, " %02x", b[i])
		} else {
			out.WriteString("   ")
		}
	}
	out.WriteString("  |" + printables(b) + "|\n")
}, "%08x\n"}

// printables shows what is not printable as dots.
func printables(b []byte) string {
	s := make([]byte, len(b))
	for i, c := range b {
		if c < ' ' || c > '~' {
			c = '.'
		}
		s[i] = c
	}
	return string(s)
}

// words writes a block as 16-bit numbers.
func words(format, blank string) dumpFormat {
	return dumpFormat{16, func(j *hexdumpJob, at uint64, b []byte) {
		out := j.c.Stdout
		fmt.Fprintf(out, "%07x", at)
		for i := 0; i < 16; i += 2 {
			if i >= len(b) {
				out.WriteString(blank)
				continue
			}
			pair := [2]byte{b[i]}
			if i+1 < len(b) {
				pair[1] = b[i+1]
			}
			fmt.Fprintf(out, format, binary.LittleEndian.Uint16(pair[:]))
		}
		out.WriteByte('\n')
	}, "%07x\n"}
}

// octets writes a block byte by byte.
func octets(blank string, field func(byte) string) dumpFormat {
	return dumpFormat{16, func(j *hexdumpJob, at uint64, b []byte) {
		out := j.c.Stdout
		fmt.Fprintf(out, "%07x", at)
		for i := range 16 {
			if i < len(b) {
				out.WriteString(field(b[i]))
			} else {
				out.WriteString(blank)
			}
		}
		out.WriteByte('\n')
	}, "%07x\n"}
}

var (
	defaultDump  = words(" %04x", "     ")
	fixedFormats = map[byte]dumpFormat{
		'b': octets("    ", func(b byte) string { return fmt.Sprintf(" %03o", b) }),
		'c': octets("    ", func(b byte) string { return " " + fmt.Sprintf("%3s", odChar(b)) }),
		'd': words("   %05d", "        "),
		'o': words("  %06o", "        "),
		'x': words("    %04x", "        "),
	}
)

// dumpUnit is an item of a format: as many times as count, for size bytes each.
type dumpUnit struct {
	count, size int
	parts       []dumpPart
}

// dumpPart is literal text, or a conversion with the text around it.
type dumpPart struct {
	text string
	verb string // "" for text; else a verb of package fmt, or one of _c _u _p _ad _ax _ao
	size int
}

// parseDumpFormat reads a format of -e: count/size "format" ...
func parseDumpFormat(c *command.Context, s string) (dumpFormat, bool) {
	bad := func() (dumpFormat, bool) {
		c.Errorf("bad format {%s}", s)
		return dumpFormat{}, false
	}
	var units []dumpUnit
	for rest := strings.TrimSpace(s); rest != ""; rest = strings.TrimSpace(rest) {
		u := dumpUnit{count: 1}
		if n := digitsOf(rest); n > 0 {
			u.count, _ = digitsIn(rest, 10, n)
			rest = strings.TrimLeft(rest[n:], " ")
		}
		if strings.HasPrefix(rest, "/") {
			rest = strings.TrimLeft(rest[1:], " ")
			n := digitsOf(rest)
			u.size, _ = digitsIn(rest, 10, n)
			rest = strings.TrimLeft(rest[n:], " ")
		}
		if !strings.HasPrefix(rest, `"`) {
			return bad()
		}
		end := strings.IndexByte(rest[1:], '"')
		if end < 0 || u.count > 1<<16 {
			return bad()
		}
		if conversion := u.parse(rest[1 : 1+end]); conversion != "" {
			c.Errorf("bad conversion character %%%s", conversion)
			return dumpFormat{}, false
		}
		units = append(units, u)
		rest = rest[end+2:]
	}
	size := 0
	for _, u := range units {
		size += u.count * u.bytes()
	}
	if size == 0 || size > 1<<20 {
		return bad()
	}
	return dumpFormat{size: size, line: func(j *hexdumpJob, at uint64, b []byte) { dumpUnits(j, units, at, b) }}, true
}

// bytes is how many bytes one iteration of a unit takes.
func (u *dumpUnit) bytes() int {
	n := 0
	for _, p := range u.parts {
		n += p.size
	}
	return n
}

// parse reads the format string of a unit; it returns what is no conversion.
func (u *dumpUnit) parse(s string) (bad string) {
	text, stop := echoEscapes(s)
	if stop {
		return "c"
	}
	s = string(text)
	for s != "" {
		i := strings.IndexByte(s, '%')
		if i < 0 {
			u.parts = append(u.parts, dumpPart{text: s})
			return ""
		}
		if i > 0 {
			u.parts = append(u.parts, dumpPart{text: s[:i]})
		}
		s = s[i+1:]
		n := strings.IndexFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789.-+# ", r) })
		if n < 0 {
			return s
		}
		flags, verb := s[:n], s[n]
		s = s[n+1:]
		p := dumpPart{size: u.size}
		if p.size == 0 {
			p.size = 4
		}
		switch verb {
		case '%':
			u.parts = append(u.parts, dumpPart{text: "%"})
			continue
		case 'd', 'i', 'o', 'x', 'X', 'u':
			if verb == 'u' || verb == 'i' {
				verb = 'd'
			}
			p.verb = "%" + flags + string(verb)
		case 'c':
			p.verb, p.size = "%"+flags+"c", 1
		case 'e', 'f', 'g', 'E', 'G':
			if u.size == 0 {
				p.size = 8
			}
			p.verb = "%" + flags + string(verb)
		case '_':
			if s == "" {
				return "_"
			}
			kind := s[0]
			s = s[1:]
			switch kind {
			case 'a', 'A':
				if s == "" {
					return "_a"
				}
				p.verb, p.size = "_a%"+flags+string(s[0]), 0
				s = s[1:]
			case 'p', 'c', 'u':
				p.verb, p.size = "_"+string(kind)+"%"+flags+"s", 1
			default:
				return "_" + string(kind)
			}
		default:
			return string(verb)
		}
		u.parts = append(u.parts, p)
	}
	return ""
}

// dumpUnits writes one block by the units of a format. Text after the last
// conversion of the last iteration loses its last blank.
func dumpUnits(j *hexdumpJob, units []dumpUnit, at uint64, b []byte) {
	out := j.c.Stdout
	pos := 0
	for _, u := range units {
		for it := range u.count {
			for i, p := range u.parts {
				switch {
				case p.verb == "":
					text := p.text
					if it == u.count-1 && u.count > 1 && i == len(u.parts)-1 {
						text = strings.TrimSuffix(text, " ")
					}
					out.WriteString(text)
				case pos >= len(b):
					fmt.Fprintf(out, "%*s", p.width(), "")
				case strings.HasPrefix(p.verb, "_a"):
					fmt.Fprintf(out, p.verb[2:], at+uint64(pos))
				default:
					chunk := make([]byte, p.size)
					copy(chunk, b[pos:])
					out.WriteString(p.format(chunk))
					pos += p.size
				}
			}
		}
	}
}

// width is the least width of a conversion: the blanks that stand for one whose
// bytes are missing.
func (p *dumpPart) width() int {
	at := strings.IndexByte(p.verb, '%') + 1
	spec, _ := cformat.Parse(p.verb[at:])
	return spec.Width
}

// format formats the bytes of one conversion.
func (p *dumpPart) format(b []byte) string {
	switch {
	case strings.HasPrefix(p.verb, "_p"):
		return fmt.Sprintf(p.verb[2:], printables(b))
	case strings.HasPrefix(p.verb, "_c"):
		return fmt.Sprintf(p.verb[2:], odChar(b[0]))
	case strings.HasPrefix(p.verb, "_u"):
		s := odNames[b[0]&0x7f]
		if b[0] >= 0x80 {
			s = fmt.Sprintf("%02x", b[0])
		}
		if b[0] == '\n' {
			s = "lf"
		}
		return fmt.Sprintf(p.verb[2:], s)
	}
	var v uint64
	for i := len(b) - 1; i >= 0; i-- {
		v = v<<8 | uint64(b[i])
	}
	if strings.HasSuffix(p.verb, "d") {
		shift := 64 - 8*len(b)
		return fmt.Sprintf(p.verb, int64(v<<shift)>>shift)
	}
	if strings.HasSuffix(p.verb, "c") {
		return fmt.Sprintf(strings.TrimSuffix(p.verb, "c")+"s", string(b[:1]))
	}
	return fmt.Sprintf(p.verb, v)
}
