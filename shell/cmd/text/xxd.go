package text

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "xxd",
		Synopsis: "xxd [options] [infile [outfile]]\nxxd -r [-s [-]offset] [-c cols] [-ps] [infile [outfile]]",
		Summary:  "Make a hex dump, or turn one back into bytes.",
		Options: []command.Option{
			{Short: 'a', Help: "toggle autoskip: a single '*' replaces nul-lines"},
			{Short: 'b', Help: "binary digit dump"},
			{Short: 'C', Help: "capitalize variable names in C include file style (-i)"},
			{Short: 'c', Arg: command.RequiredArgument, ArgName: "COLS", Help: "format COLS octets per line"},
			{Short: 'd', Help: "show offset in decimal instead of hex"},
			{Short: 'e', Help: "little-endian dump"},
			{Short: 'g', Arg: command.RequiredArgument, ArgName: "BYTES", Help: "number of octets per group in normal output"},
			{Short: 'i', Help: "output in C include file style"},
			{Short: 'l', Arg: command.RequiredArgument, ArgName: "LEN", Help: "stop after LEN octets"},
			{Short: 'n', Arg: command.RequiredArgument, ArgName: "NAME", Help: "set the variable name used in C include output (-i)"},
			{Short: 'o', Arg: command.RequiredArgument, ArgName: "OFF", Help: "add OFF to the displayed file position"},
			{Short: 'p', Help: "output in plain hexdump style"},
			{Short: 'r', Help: "reverse operation: convert hexdump into binary"},
			{Short: 's', Arg: command.RequiredArgument, ArgName: "SEEK", Help: "start at SEEK bytes"},
			{Short: 'u', Help: "use upper case hex letters"},
		},
		RawArgs: true,
	}, xxd)
}

// xxdJob is what the options ask for.
type xxdJob struct {
	c         *command.Context
	out       *command.Writer
	style     byte // 0: normal, 'b', 'e', 'i', 'p'
	cols      int
	group     int
	limit     int64 // -1: none
	seek      int64
	offset    int64
	skipNul   bool
	decimal   bool
	upper     bool
	capital   bool
	reverse   bool
	name      string
	seekSign  byte
	colsGiven bool
}

func xxd(ctx context.Context, c *command.Context, args []string) int {
	j := &xxdJob{c: c, out: c.Stdout, cols: -1, group: -1, limit: -1}
	files, status, ok := j.parse(args[1:])
	if !ok {
		return status
	}
	if len(files) > 2 {
		return j.usage()
	}
	in := io.Reader(c.Stdin)
	if len(files) > 0 && files[0] != "-" {
		f, err := c.FS.Open(files[0])
		if err != nil {
			c.Errorf("%s: %s", files[0], command.Strerror(err))
			return 2
		}
		defer f.Close()
		in = f
		if j.name == "" {
			j.name = files[0]
		}
	}
	if len(files) > 1 && files[1] != "-" {
		f, err := c.FS.Create(files[1], 0o666)
		if err != nil {
			c.Errorf("%s: %s", files[1], command.Strerror(err))
			return 3
		}
		defer f.Close()
		j.out = command.NewWriter(f)
	}
	if err := j.run(ctx, in); err != nil && ctx.Err() == nil && j.out.Err() == nil {
		c.Errorf("%s", command.Strerror(err))
		return 2
	}
	if j.out != c.Stdout {
		if err := j.out.Flush(); err != nil {
			c.Errorf("%s", command.Strerror(err))
			return 3
		}
	}
	return 0
}

func (j *xxdJob) usage() int {
	io.WriteString(j.c.Stderr, j.c.Command.Help())
	return 1
}

// parse reads xxd's options, which may be spelled in words and have their
// argument attached or not.
func (j *xxdJob) parse(args []string) (files []string, status int, ok bool) {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if len(a) < 2 || a[0] != '-' && (a[0] != '+' || a[1] != 's') || a == "--" {
			if a == "--" {
				i++
			}
			return append(files, args[i:]...), 0, true
		}
		word := strings.TrimPrefix(a, "-")
		if a[0] == '-' {
			word = strings.TrimPrefix(word, "-")
		}
		letter := word[0]
		if strings.HasPrefix("plain", word) && len(word) > 1 || word == "ps" || word == "postscript" {
			letter, word = 'p', "p"
		}
		if letter == 'h' {
			return nil, j.usage(), false
		}
		if letter == 'v' {
			io.WriteString(j.c.Stderr, "xxd (vfsd)\n")
			return nil, 0, false
		}
		if j.flag(letter) {
			if word == "autoskip" || word == "bits" || word == "include" || word == "reverse" || word == "revert" || word == "uppercase" || word == "upper" || word == "capitalize" {
				continue
			}
			if len(word) > 1 {
				args[i] = "-" + word[1:]
				i--
			}
			continue
		}
		arg := word[1:]
		if name := strings.TrimLeft(arg, "abcdefghijklmnopqrstuvwxyz"); name == "" {
			// -cols, -seek and so on: the argument is apart.
			if i++; i == len(args) {
				return nil, j.usage(), false
			}
			arg = args[i]
		}
		if !j.valued(letter, arg) {
			return nil, j.usage(), false
		}
	}
	return files, 0, true
}

// flag applies an option without an argument.
func (j *xxdJob) flag(letter byte) bool {
	switch letter {
	case 'a':
		j.skipNul = !j.skipNul
	case 'b', 'e', 'i', 'p':
		j.style = letter
	case 'C':
		j.capital = true
	case 'd':
		j.decimal = true
	case 'r':
		j.reverse = true
	case 'u':
		j.upper = true
	default:
		return false
	}
	return true
}

// valued applies an option with an argument.
func (j *xxdJob) valued(letter byte, arg string) bool {
	if letter == 'n' {
		j.name = arg
		return true
	}
	n, err := strconv.ParseInt(arg, 0, 64)
	if err != nil {
		n = 0
	}
	switch letter {
	case 'c':
		j.cols, j.colsGiven = int(min(n, 1<<20)), true
	case 'g':
		j.group = int(n)
	case 'l':
		j.limit = n
	case 'o':
		j.offset = n
	case 's':
		j.seek = n
	default:
		return false
	}
	return true
}

func (j *xxdJob) run(ctx context.Context, in io.Reader) error {
	defaults := map[byte][2]int{0: {16, 2}, 'b': {6, 1}, 'e': {16, 4}, 'i': {12, 0}, 'p': {30, 0}}[j.style]
	if j.cols <= 0 {
		j.cols = defaults[0]
		if j.colsGiven && j.style == 'p' {
			j.cols = 1 << 20 // 0: all on one line, near enough
		}
	}
	if j.group < 0 {
		j.group = defaults[1]
	}
	if j.group == 0 || j.group > j.cols {
		j.group = j.cols
	}
	if !j.reverse {
		if err := j.start(ctx, in); err != nil {
			return err
		}
	}
	src := in
	if j.limit >= 0 {
		src = io.LimitReader(in, j.limit)
	}
	switch {
	case j.reverse:
		return j.revert(ctx, in)
	case j.style == 'p':
		return j.plain(ctx, src)
	case j.style == 'i':
		return j.include(ctx, src)
	}
	return j.dump(ctx, src)
}

// start goes to where the dump begins.
func (j *xxdJob) start(ctx context.Context, in io.Reader) error {
	if j.seek == 0 {
		return nil
	}
	if f := command.Regular(in); f != nil {
		whence := io.SeekStart
		if j.seek < 0 {
			whence = io.SeekEnd
		}
		pos, err := f.Seek(j.seek, whence)
		if err == nil {
			j.seek = pos
		}
		return err
	}
	return discard(ctx, in, uint64(max(0, j.seek)), make([]byte, copySize))
}

func (j *xxdJob) hex(b byte) string {
	if j.upper {
		return fmt.Sprintf("%02X", b)
	}
	return fmt.Sprintf("%02x", b)
}

// dump writes the normal form.
func (j *xxdJob) dump(ctx context.Context, in io.Reader) error {
	buf := make([]byte, j.cols)
	at := j.seek + j.offset
	nuls, held := 0, ""
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := io.ReadFull(in, buf)
		if n == 0 {
			break
		}
		if err != nil && err != io.ErrUnexpectedEOF {
			return err
		}
		line := j.line(at, buf[:n])
		zero := j.skipNul && strings.Trim(string(buf[:n]), "\x00") == ""
		switch {
		case zero && nuls == 0:
			nuls++
			j.out.WriteString(line)
		case zero && n == j.cols:
			nuls++
			held = line
		default:
			if nuls == 2 {
				j.out.WriteString(held)
			} else if nuls > 2 {
				j.out.WriteString("*\n")
			}
			nuls, held = 0, ""
			j.out.WriteString(line)
		}
		at += int64(n)
		if j.out.Err() != nil {
			return j.out.Err()
		}
		if n < j.cols {
			return nil
		}
	}
	if nuls > 2 {
		j.out.WriteString("*\n")
	}
	j.out.WriteString(held)
	return nil
}

// line formats one line.
func (j *xxdJob) line(at int64, b []byte) string {
	var s strings.Builder
	if j.decimal {
		fmt.Fprintf(&s, "%08d:", at)
	} else {
		fmt.Fprintf(&s, "%08x:", at)
	}
	width := 2
	if j.style == 'b' {
		width = 8
	}
	for i := range j.cols {
		if i%j.group == 0 {
			s.WriteByte(' ')
		}
		k := i
		if j.style == 'e' {
			// Within a group the bytes stand backwards.
			k = i - i%j.group + j.group - 1 - i%j.group
		}
		switch {
		case k >= len(b):
			s.WriteString(strings.Repeat(" ", width))
		case j.style == 'b':
			fmt.Fprintf(&s, "%08b", b[k])
		default:
			s.WriteString(j.hex(b[k]))
		}
	}
	s.WriteString("  ")
	if j.style == 'e' && j.cols%j.group != 0 {
		s.WriteString(strings.Repeat(" ", 2*(j.group-j.cols%j.group)))
	}
	for _, c := range b {
		if c < ' ' || c > '~' {
			c = '.'
		}
		s.WriteByte(c)
	}
	s.WriteByte('\n')
	return s.String()
}

// plain writes digits only.
func (j *xxdJob) plain(ctx context.Context, in io.Reader) error {
	buf := make([]byte, copySize)
	column := 0
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := in.Read(buf)
		for _, c := range buf[:n] {
			j.out.WriteString(j.hex(c))
			if column++; column == j.cols {
				j.out.WriteByte('\n')
				column = 0
			}
		}
		if err == io.EOF {
			if column > 0 {
				j.out.WriteByte('\n')
			}
			return j.out.Err()
		}
		if err != nil {
			return err
		}
	}
}

// include writes the definition of an array in C.
func (j *xxdJob) include(ctx context.Context, in io.Reader) error {
	name := j.variable()
	if name != "" {
		fmt.Fprintf(j.out, "unsigned char %s[] = {\n", name)
	}
	r := bufio.NewReader(in)
	n := 0
	for ; ; n++ {
		if n%copySize == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c, err := r.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		sep := ", "
		switch {
		case n == 0:
			sep = "  "
		case n%j.cols == 0:
			sep = ",\n  "
		}
		prefix := "0x"
		if j.upper {
			prefix = "0X"
		}
		j.out.WriteString(sep + prefix + j.hex(c))
	}
	if n > 0 {
		j.out.WriteByte('\n')
	}
	if name != "" {
		length := "_len"
		if j.capital {
			length = "_LEN"
		}
		fmt.Fprintf(j.out, "};\nunsigned int %s%s = %d;\n", name, length, n)
	}
	return j.out.Err()
}

// variable is the name of the array: the file's, made a name of C.
func (j *xxdJob) variable() string {
	b := []byte(j.name)
	for i, c := range b {
		letter := c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter {
			b[i] = '_'
		}
	}
	s := string(b)
	if s != "" && s[0] >= '0' && s[0] <= '9' {
		s = "__" + s
	}
	if j.capital {
		s = strings.ToUpper(s)
	}
	return s
}

// revert turns a dump back into bytes.
func (j *xxdJob) revert(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, copySize)
	if j.style == 'p' {
		return j.revertPlain(ctx, r)
	}
	at := int64(0)
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, err := r.ReadString('\n')
		if line != "" {
			addr, rest, ok := strings.Cut(line, ":")
			want, perr := strconv.ParseInt(strings.TrimSpace(addr), 16, 64)
			if ok && perr == nil {
				want += j.seek
				if want > at {
					if err := j.fill(ctx, want-at); err != nil {
						return err
					}
					at = want
				}
				n, werr := j.revertLine(rest)
				at += int64(n)
				if werr != nil {
					return werr
				}
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// fill writes NULs for addresses that are skipped.
func (j *xxdJob) fill(ctx context.Context, n int64) error {
	zero := make([]byte, copySize)
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		k := min(n, int64(len(zero)))
		if _, err := j.out.Write(zero[:k]); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// revertLine writes the bytes of one line: digits up to two spaces in a row.
func (j *xxdJob) revertLine(s string) (int, error) {
	n := 0
	s = strings.TrimPrefix(s, " ")
	for n < j.cols {
		if strings.HasPrefix(s, "  ") {
			break
		}
		s = strings.TrimPrefix(s, " ")
		if len(s) < 2 || !isHex(s[0]) || !isHex(s[1]) {
			break
		}
		v, _ := digitsIn(s, 16, 2)
		if err := j.out.WriteByte(byte(v)); err != nil {
			return n, err
		}
		s = s[2:]
		n++
	}
	return n, nil
}

func (j *xxdJob) revertPlain(ctx context.Context, r *bufio.Reader) error {
	high, have := byte(0), false
	for n := 0; ; n++ {
		if n%copySize == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		c, err := r.ReadByte()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if !isHex(c) {
			if c != '\n' && c != ' ' && c != '\t' && c != '\r' {
				have = false
			}
			continue
		}
		v, _ := digitsIn(string([]byte{c}), 16, 1)
		if !have {
			high, have = byte(v), true
			continue
		}
		have = false
		if err := j.out.WriteByte(high<<4 | byte(v)); err != nil {
			return err
		}
	}
}
