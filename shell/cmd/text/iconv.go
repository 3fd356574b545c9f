package text

import (
	"bufio"
	"context"
	"errors"
	"io"
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "iconv",
		Synopsis: "iconv [OPTION...] [FILE...]",
		Summary:  "Convert encoding of given files from one encoding to another.",
		Options: []command.Option{
			{Short: 'f', Long: "from-code", Arg: command.RequiredArgument, ArgName: "NAME", Help: "encoding of original text"},
			{Short: 't', Long: "to-code", Arg: command.RequiredArgument, ArgName: "NAME", Help: "encoding for output"},
			{Short: 'l', Long: "list", Help: "list all known coded character sets"},
			{Short: 'c', Help: "omit invalid characters from output"},
			{Short: 'o', Long: "output", Arg: command.RequiredArgument, ArgName: "FILE", Help: "output file"},
			{Short: 's', Long: "silent", Help: "suppress warnings"},
			{Long: "verbose", ID: 'v', Help: "(ignored)"},
			{Short: '?', ID: '?'},
			{Short: 'V', ID: 'V'},
		},
		UsageStatus: 64,
		UsageHint:   "Try `iconv --help' or `iconv --usage' for more information.",
	}, iconv)
}

// charset decodes and encodes characters.
type charset struct {
	// decode reads a character from the start of b and returns its length; 0
	// means that b ends within one. bad says that the bytes are no character.
	decode func(b []byte) (r rune, n int, bad bool)
	// encode appends a character; false when there is none for it.
	encode func(out []byte, r rune) ([]byte, bool)
	mark   []byte // what the output starts with
	// marked says that the input may start with a byte order mark, which
	// decides about its order.
	marked bool
}

// tables of single-byte sets: what differs from ISO 8859-1, from the byte on.
var singleBytes = map[string]map[byte]rune{
	"ISO-8859-15":  {0xa4: '€', 0xa6: 'Š', 0xa8: 'š', 0xb4: 'Ž', 0xb8: 'ž', 0xbc: 'Œ', 0xbd: 'œ', 0xbe: 'Ÿ'},
	"WINDOWS-1252": runes(0x80, "€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ"),
	"WINDOWS-1251": runes(0x80, "ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—\ufffd™љ›њќћџ\u00a0ЎўЈ¤Ґ¦§Ё©Є«¬\u00ad®Ї°±Ііґµ¶·ё№є»јЅѕїАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя"),
	"KOI8-R":       runes(0x80, "─│┌┐└┘├┤┬┴┼▀▄█▌▐░▒▓⌠■∙√≈≤≥\u00a0⌡°²·÷═║╒ё╓╔╕╖╗╘╙╚╛╜╝╞╟╠╡Ё╢╣╤╥╦╧╨╩╪╫╬©юабцдефгхийклмнопярстужвьызшэщчъЮАБЦДЕФГХИЙКЛМНОПЯРСТУЖВЬЫЗШЭЩЧЪ"),
	"ISO-8859-2":   runes(0xa0, "\u00a0Ą˘Ł¤ĽŚ§¨ŠŞŤŹ\u00adŽŻ°ą˛ł´ľśˇ¸šşťź˝žżŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙"),
	"ISO-8859-5":   runes(0xa0, "\u00a0ЁЂЃЄЅІЇЈЉЊЋЌ\u00adЎЏАБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя№ёђѓєѕіїјљњћќ§ўџ"),
	"CP437":        runes(0x80, "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u00a0"),
	"CP866":        runes(0x80, "АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмноп░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀рстуфхцчшщъыьэюяЁёЄєЇїЎў°∙·√№¤■\u00a0"),
	"ISO-8859-1":   {},
}

// runes maps bytes from the first on to the characters of s.
func runes(first byte, s string) map[byte]rune {
	m := map[byte]rune{}
	for _, r := range s {
		m[first] = r
		first++
	}
	return m
}

// charsetAliases are other names of sets, in capitals.
var charsetAliases = map[string]string{
	"UTF8": "UTF-8", "ASCII": "US-ASCII", "ANSI_X3.4-1968": "US-ASCII", "ISO646-US": "US-ASCII", "646": "US-ASCII", "US": "US-ASCII", "C": "US-ASCII",
	"LATIN1": "ISO-8859-1", "L1": "ISO-8859-1", "ISO8859-1": "ISO-8859-1", "ISO_8859-1": "ISO-8859-1", "88591": "ISO-8859-1", "ISO88591": "ISO-8859-1", "8859_1": "ISO-8859-1",
	"LATIN2": "ISO-8859-2", "ISO8859-2": "ISO-8859-2", "ISO8859-5": "ISO-8859-5", "LATIN9": "ISO-8859-15", "LATIN-9": "ISO-8859-15", "ISO8859-15": "ISO-8859-15", "ISO885915": "ISO-8859-15",
	"CP1252": "WINDOWS-1252", "MS-ANSI": "WINDOWS-1252", "CP1251": "WINDOWS-1251", "MS-CYRL": "WINDOWS-1251", "KOI8R": "KOI8-R", "IBM437": "CP437", "437": "CP437", "IBM866": "CP866", "866": "CP866",
	"UTF16": "UTF-16", "UTF16LE": "UTF-16LE", "UTF16BE": "UTF-16BE", "UTF32": "UTF-32", "UTF32LE": "UTF-32LE", "UTF32BE": "UTF-32BE",
	"UCS-2": "UCS-2", "UCS2": "UCS-2", "ISO-10646-UCS-2": "UCS-2", "UCS-2LE": "UTF-16LE", "UCS-2BE": "UTF-16BE", "UCS-4": "UTF-32BE", "UCS4": "UTF-32BE", "UCS-4LE": "UTF-32LE", "UCS-4BE": "UTF-32BE", "ISO-10646": "UTF-32BE",
}

// findCharset returns the set of that name, nil when it is not known.
func findCharset(name string) *charset {
	name = strings.ToUpper(name)
	if to, ok := charsetAliases[name]; ok {
		name = to
	}
	switch name {
	case "UTF-8":
		return &charset{decode: decodeUTF8, encode: func(out []byte, r rune) ([]byte, bool) { return utf8.AppendRune(out, r), true }}
	case "US-ASCII":
		return &charset{decode: func(b []byte) (rune, int, bool) { return rune(b[0]), 1, b[0] >= utf8.RuneSelf },
			encode: func(out []byte, r rune) ([]byte, bool) { return append(out, byte(r)), r < utf8.RuneSelf }}
	case "UTF-16":
		return &charset{decode: decode16(false), encode: encode16(false), mark: []byte{0xff, 0xfe}, marked: true}
	case "UCS-2", "UTF-16LE":
		return &charset{decode: decode16(false), encode: encode16(false)}
	case "UTF-16BE":
		return &charset{decode: decode16(true), encode: encode16(true)}
	case "UTF-32":
		return &charset{decode: decode32(false), encode: encode32(false), mark: []byte{0xff, 0xfe, 0, 0}, marked: true}
	case "UTF-32LE":
		return &charset{decode: decode32(false), encode: encode32(false)}
	case "UTF-32BE":
		return &charset{decode: decode32(true), encode: encode32(true)}
	}
	if table, ok := singleBytes[name]; ok {
		return singleByte(table)
	}
	return nil
}

func decodeUTF8(b []byte) (rune, int, bool) {
	if !utf8.FullRune(b) {
		return 0, 0, false
	}
	r, n := utf8.DecodeRune(b)
	return r, n, r == utf8.RuneError && n == 1
}

// singleByte makes a set of a table; the rest is as in ISO 8859-1.
func singleByte(table map[byte]rune) *charset {
	back := map[rune]byte{}
	for i := range 256 {
		r := rune(i)
		if t, ok := table[byte(i)]; ok {
			r = t
		}
		if r != utf8.RuneError {
			back[r] = byte(i)
		}
	}
	return &charset{
		decode: func(b []byte) (rune, int, bool) {
			r, ok := table[b[0]]
			if !ok {
				r = rune(b[0])
			}
			return r, 1, r == utf8.RuneError
		},
		encode: func(out []byte, r rune) ([]byte, bool) {
			b, ok := back[r]
			return append(out, b), ok
		},
	}
}

func unit16(b []byte, big bool) rune {
	if big {
		return rune(b[0])<<8 | rune(b[1])
	}
	return rune(b[1])<<8 | rune(b[0])
}

func decode16(big bool) func([]byte) (rune, int, bool) {
	return func(b []byte) (rune, int, bool) {
		if len(b) < 2 {
			return 0, 0, false
		}
		r := unit16(b, big)
		if !utf16.IsSurrogate(r) {
			return r, 2, false
		}
		if len(b) < 4 {
			return 0, 0, false
		}
		r = utf16.DecodeRune(r, unit16(b[2:], big))
		return r, 4, r == utf8.RuneError
	}
}

func append16(out []byte, v rune, big bool) []byte {
	if big {
		return append(out, byte(v>>8), byte(v))
	}
	return append(out, byte(v), byte(v>>8))
}

func encode16(big bool) func([]byte, rune) ([]byte, bool) {
	return func(out []byte, r rune) ([]byte, bool) {
		if r < 0x10000 {
			return append16(out, r, big), true
		}
		hi, lo := utf16.EncodeRune(r)
		return append16(append16(out, hi, big), lo, big), true
	}
}

func decode32(big bool) func([]byte) (rune, int, bool) {
	return func(b []byte) (rune, int, bool) {
		if len(b) < 4 {
			return 0, 0, false
		}
		v := uint32(b[3])<<24 | uint32(b[2])<<16 | uint32(b[1])<<8 | uint32(b[0])
		if big {
			v = uint32(b[0])<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
		}
		return rune(v), 4, v > utf8.MaxRune || !utf8.ValidRune(rune(v))
	}
}

func encode32(big bool) func([]byte, rune) ([]byte, bool) {
	return func(out []byte, r rune) ([]byte, bool) {
		if big {
			return append(out, 0, byte(r>>16), byte(r>>8), byte(r)), true
		}
		return append(out, byte(r), byte(r>>8), byte(r>>16), 0), true
	}
}

// iconvJob is a conversion.
type iconvJob struct {
	c        *command.Context
	from, to *charset
	omit     bool
	ignore   bool
	translit bool
	out      *command.Writer
	started  bool
	status   int
	read     int64
	skipped  bool // something was left out
}

// errIllegal says that the input cannot be converted; it was reported.
var errIllegal = errors.New("illegal")

func iconv(ctx context.Context, c *command.Context, args []string) int {
	local := "ANSI_X3.4-1968"
	if c.Env.UTF8() {
		local = "UTF-8"
	}
	j := &iconvJob{c: c, out: c.Stdout}
	from, to, output := local, local, ""
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'f':
			from = p.Arg()
		case 't':
			to = p.Arg()
		case 'l':
			listCharsets(c)
			return 0
		case 'c':
			j.omit = true
		case 'o':
			output = p.Arg()
		case '?':
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case 'V':
			c.Stdout.WriteString("iconv (vfsd)\n")
			return 0
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if !j.charsets(from, to) {
		return 1
	}
	if output != "" {
		f, err := c.FS.Create(output, 0o666)
		if err != nil {
			return c.Errorf("cannot open output file: %s", command.Strerror(err))
		}
		defer f.Close()
		j.out = command.NewWriter(f)
	}
	for _, name := range orStdin(files) {
		if !j.file(ctx, name) {
			break
		}
	}
	if j.skipped && !j.omit && j.status == 0 {
		j.illegal()
		j.status = 1
	}
	if j.out != c.Stdout {
		if err := j.out.Flush(); err != nil {
			return c.Errorf("conversion stopped due to problem in writing the output: %s", command.Strerror(err))
		}
	}
	return j.status
}

// charsets finds the two sets; //IGNORE and //TRANSLIT may follow the second.
func (j *iconvJob) charsets(from, to string) bool {
	from, _, _ = strings.Cut(from, "//")
	for i, option := range strings.Split(to, "//") {
		switch option = strings.ToUpper(option); {
		case i == 0:
		case option == "IGNORE":
			j.ignore = true
		case option == "TRANSLIT":
			j.translit = true
		}
	}
	to, _, _ = strings.Cut(to, "//")
	j.from, j.to = findCharset(from), findCharset(to)
	if j.from == nil || j.to == nil {
		j.c.Errorf("failed to start conversion processing")
		return false
	}
	return true
}

func listCharsets(c *command.Context) {
	names := []string{"UTF-8", "US-ASCII", "UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32", "UTF-32LE", "UTF-32BE", "UCS-2"}
	for n := range singleBytes {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		c.Stdout.WriteString(n + "//\n")
	}
}

// file converts one file; false when nothing is to follow.
func (j *iconvJob) file(ctx context.Context, name string) bool {
	f, err := j.c.Open(name)
	if err != nil {
		j.status = j.c.Errorf("cannot open input file `%s': %s", name, command.Strerror(err))
		return true
	}
	defer f.Close()
	err = j.convert(ctx, f)
	switch {
	case err == nil:
		return true
	case err == errIllegal || ctx.Err() != nil || j.out.Err() != nil:
		j.status = 1
		return false
	}
	j.status = j.c.Errorf("unable to read input: %s", command.Strerror(err))
	return true
}

func (j *iconvJob) convert(ctx context.Context, src io.Reader) error {
	r := bufio.NewReaderSize(src, copySize)
	first := true
	var out []byte
	for n := 0; ; n++ {
		if n%copySize == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b, err := r.Peek(4)
		if len(b) == 0 {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if first {
			first = false
			if j.from.marked {
				j.byteOrder(r, b)
				continue
			}
		}
		c, size, bad := j.from.decode(b)
		if size == 0 {
			j.out.Flush()
			j.c.Errorf("incomplete character or shift sequence at end of buffer")
			return errIllegal
		}
		if bad {
			if !j.omit && !j.ignore {
				return j.illegal()
			}
			j.skipped = true
			r.Discard(1)
			j.read++
			continue
		}
		out, ok := j.encode(out[:0], c)
		if !ok {
			if !j.omit && !j.ignore {
				return j.illegal()
			}
			j.skipped = true
		} else if _, err := j.out.Write(out); err != nil {
			return err
		}
		r.Discard(size)
		j.read += int64(size)
	}
}

// byteOrder takes a byte order mark from the start of the input.
func (j *iconvJob) byteOrder(r *bufio.Reader, b []byte) {
	wide := len(j.from.mark) == 4
	switch {
	case wide && len(b) == 4 && b[0] == 0 && b[1] == 0 && b[2] == 0xfe && b[3] == 0xff:
		j.from.decode = decode32(true)
		r.Discard(4)
	case wide && len(b) == 4 && b[0] == 0xff && b[1] == 0xfe && b[2] == 0 && b[3] == 0:
		r.Discard(4)
	case !wide && len(b) >= 2 && b[0] == 0xfe && b[1] == 0xff:
		j.from.decode = decode16(true)
		r.Discard(2)
	case !wide && len(b) >= 2 && b[0] == 0xff && b[1] == 0xfe:
		r.Discard(2)
	}
}

// illegal reports input that cannot be converted.
func (j *iconvJob) illegal() error {
	j.out.Flush()
	j.c.Errorf("illegal input sequence at position %d", j.read)
	return errIllegal
}

// encode encodes a character, or with //TRANSLIT something like it.
func (j *iconvJob) encode(out []byte, r rune) ([]byte, bool) {
	if !j.started {
		j.started = true
		out = append(out, j.to.mark...)
	}
	base := len(out)
	if out, ok := j.to.encode(out, r); ok {
		return out, true
	}
	if !j.translit {
		return out[:base], false
	}
	s, ok := transliterations[r]
	if !ok && j.c.Env.UTF8() {
		s, ok = unmarked[r]
	}
	if !ok {
		s = "?"
	}
	for _, t := range s {
		if out, ok = j.to.encode(out[:base], t); !ok {
			return out, false
		}
		base = len(out)
	}
	return out, true
}

// transliterations are the usual substitutes for characters that are not in
// ASCII; letters in a locale with UTF-8 lose their marks besides.
var transliterations = map[rune]string{
	'→': "->", '←': "<-", '⁄': "/", '≤': "<=", '≥': ">=", 'ﬁ': "fi", 'ﬂ': "fl", 'ß': "ss", 'Æ': "AE", 'æ': "ae", 'Œ': "OE", 'œ': "oe", '€': "EUR", '‘': "'", '’': "'", '“': "\"", '”': "\"", '–': "-", '—': "--", '…': "...", '«': "<<", '»': ">>",
	'©': "(C)", '®': "(R)", '™': "(TM)", '\u00a0': " ", '×': "x", '½': " 1/2 ", '¼': " 1/4 ", '¾': " 3/4 ", '‚': ",", '„': ",,", '‹': "<", '›': ">", '•': "o",
}

// unmarked has the letters without their marks.
var unmarked = func() map[rune]string {
	m := map[rune]string{}
	for plain, marked := range map[string]string{
		"A": "ÀÁÂÃÄÅ", "C": "Ç", "E": "ÈÉÊË", "I": "ÌÍÎÏ", "N": "Ñ", "O": "ÒÓÔÕÖØ", "U": "ÙÚÛÜ", "Y": "Ý", "a": "àáâãäå", "c": "ç¢", "e": "èéêë", "i": "ìíîï", "n": "ñ", "o": "òóôõöø", "u": "ùúûü", "y": "ýÿ",
		"S": "ŠŚ", "L": "Ł", "l": "ł", "s": "šś", "Z": "Ž", "z": "ž",
	} {
		for _, r := range marked {
			m[r] = plain
		}
	}
	return m
}()
