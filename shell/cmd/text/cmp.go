package text

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "cmp",
		Synopsis: "cmp [OPTION]... FILE1 [FILE2 [SKIP1 [SKIP2]]]",
		Summary: "Compare two files byte by byte.\n\nThe optional SKIP1 and SKIP2 specify the number of bytes to skip\n" +
			"at the beginning of each file (zero by default).",
		Options: []command.Option{
			{Short: 'b', Long: "print-bytes", Help: "print differing bytes"},
			{Short: 'i', Long: "ignore-initial", Arg: command.RequiredArgument, ArgName: "SKIP", Help: "skip first SKIP bytes of both inputs,\nor SKIP1:SKIP2 of the one and the other"},
			{Short: 'l', Long: "verbose", Help: "output byte numbers and differing byte values"},
			{Short: 'n', Long: "bytes", Arg: command.RequiredArgument, ArgName: "LIMIT", Help: "compare at most LIMIT bytes"},
			{Short: 's', Long: "quiet", Help: "suppress all normal output"},
			{Long: "silent", ID: 's'},
			{Short: 'v', ID: 'v'},
		},
		UsageStatus: cmpTrouble,
		UsageHint:   "cmp: Try 'cmp --help' for more information.",
		Notes:       "Exit status is 0 if inputs are the same, 1 if different, 2 if trouble.",
	}, cmpCommand)
}

// cmpTrouble is the status after an error.
const cmpTrouble = 2

// cmpJob is a comparison of two files.
type cmpJob struct {
	c       *command.Context
	names   [2]string
	skip    [2]uint64
	limit   uint64
	bytes   bool
	verbose bool
	silent  bool
}

func cmpCommand(ctx context.Context, c *command.Context, args []string) int {
	k := cmpJob{c: c, limit: math.MaxUint64}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'b':
			k.bytes = true
		case 'i':
			first, second, both := strings.Cut(p.Arg(), ":")
			if !k.setSkip(0, first, p.Spelled()) {
				return cmpTrouble
			}
			k.skip[1] = max(k.skip[1], k.skip[0])
			if both {
				k.skip[1] = 0
				if !k.setSkip(1, second, p.Spelled()) {
					return cmpTrouble
				}
			}
		case 'l':
			k.verbose = true
		case 'n':
			n, err := gnulib.ParseSize(p.Arg(), "kKMGTPEZY0")
			if err != nil {
				return c.Usage("invalid --bytes value '%s'", p.Arg())
			}
			k.limit = min(k.limit, n)
		case 's':
			k.silent = true
		case 'v':
			c.Stdout.WriteString("cmp (vfsd)\n")
			return 0
		}
	}
	operands, status, stop := p.End()
	switch {
	case stop:
		return status
	case k.verbose && k.silent:
		return c.Usage("options -l and -s are incompatible")
	case len(operands) == 0:
		return c.Usage("missing operand after '%s'", args[len(args)-1])
	case len(operands) > 4:
		return c.Usage("extra operand '%s'", operands[4])
	}
	k.names = [2]string{operands[0], "-"}
	if len(operands) > 1 {
		k.names[1] = operands[1]
	}
	for i := 2; i < len(operands); i++ {
		if !k.setSkip(i-2, operands[i], "--ignore-initial") {
			return cmpTrouble
		}
	}
	return k.run(ctx)
}

func (k *cmpJob) setSkip(i int, arg, option string) bool {
	n, err := gnulib.ParseSize(arg, "kKMGTPEZY0")
	if err != nil {
		k.c.Usage("invalid --ignore-initial value '%s'", arg)
		return false
	}
	k.skip[i] = max(k.skip[i], n)
	return true
}

func (k *cmpJob) run(ctx context.Context) int {
	var in [2]*bufio.Reader
	var sizes [2]int64
	for i, name := range k.names {
		f, err := k.c.Open(name)
		if err != nil {
			if k.silent {
				return cmpTrouble
			}
			k.c.Errorf("%s: %s", name, command.Strerror(err))
			return cmpTrouble
		}
		defer f.Close()
		sizes[i] = -1
		if file := command.Regular(f); file != nil {
			if a, err := file.Stat(); err == nil {
				sizes[i] = int64(a.Size)
			}
		}
		if err := discard(ctx, f, k.skip[i], make([]byte, copySize)); err != nil {
			k.c.Errorf("%s: %s", name, command.Strerror(err))
			return cmpTrouble
		}
		in[i] = bufio.NewReaderSize(f, copySize)
	}
	if k.names[0] == "-" && k.names[1] == "-" {
		return 0
	}
	return k.compare(ctx, in, k.width(sizes))
}

// width is how wide the byte numbers of -l are: as the largest can be.
func (k *cmpJob) width(sizes [2]int64) int {
	largest := int64(math.MaxInt64)
	for i, n := range sizes {
		if n >= 0 {
			largest = min(largest, max(0, n-int64(k.skip[i])))
		}
	}
	if k.limit < uint64(largest) {
		largest = int64(k.limit)
	}
	return len(fmt.Sprint(largest))
}

func (k *cmpJob) compare(ctx context.Context, in [2]*bufio.Reader, width int) int {
	status := 0
	line := int64(1)
	last := byte('\n') // nothing compared yet: at the start of a line
	for n := int64(1); uint64(n) <= k.limit; n++ {
		if n%copySize == 0 && ctx.Err() != nil {
			return cmpTrouble
		}
		a, errA := in[0].ReadByte()
		b, errB := in[1].ReadByte()
		for i, err := range []error{errA, errB} {
			if err != nil && err != io.EOF {
				k.c.Errorf("%s: %s", k.names[i], command.Strerror(err))
				return cmpTrouble
			}
		}
		if errA != nil || errB != nil {
			if errA != nil && errB != nil {
				return status
			}
			i := 0
			if errA == nil {
				i = 1
			}
			k.short(i, n-1, line, last)
			return 1
		}
		if a != b {
			status = 1
			if !k.differ(n, line, a, b, width) {
				return 1
			}
		}
		if a == '\n' {
			line++
		}
		last = a
	}
	return status
}

// short tells that one file ended before the other.
func (k *cmpJob) short(i int, n, line int64, last byte) {
	if k.silent {
		return
	}
	k.c.Stdout.Flush()
	switch {
	case n == 0:
		k.c.Errorf("EOF on %s which is empty", k.names[i])
	case k.verbose:
		k.c.Errorf("EOF on %s after byte %d", k.names[i], n)
	case last == '\n':
		k.c.Errorf("EOF on %s after byte %d, line %d", k.names[i], n, line-1)
	default:
		k.c.Errorf("EOF on %s after byte %d, in line %d", k.names[i], n, line)
	}
}

// differ tells of a difference; false when one is enough.
func (k *cmpJob) differ(n, line int64, a, b byte, width int) bool {
	out := k.c.Stdout
	switch {
	case k.silent:
		return false
	case k.verbose && k.bytes:
		fmt.Fprintf(out, "%*d %3o %-4s %3o %s\n", width, n, a, visible(a), b, visible(b))
	case k.verbose:
		fmt.Fprintf(out, "%*d %3o %3o\n", width, n, a, b)
	case k.bytes:
		fmt.Fprintf(out, "%s %s differ: byte %d, line %d is %3o %s %3o %s\n", k.names[0], k.names[1], n, line, a, visible(a), b, visible(b))
		return false
	default:
		fmt.Fprintf(out, "%s %s differ: %s %d, line %d\n", k.names[0], k.names[1], k.unit(), n, line)
		return false
	}
	return out.Err() == nil
}

// unit is what the short message calls a byte: POSIX wants "char" in its own
// locale.
func (k *cmpJob) unit() string {
	for _, name := range [...]string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		switch k.c.Env.Get(name) {
		case "":
		case "C", "POSIX":
			return "char"
		default:
			return "byte"
		}
	}
	return "char"
}

// visible writes a byte with ^ and M-.
func visible(c byte) string {
	prefix := ""
	if c >= 0x80 {
		prefix, c = "M-", c-0x80
	}
	switch {
	case c < ' ':
		return prefix + "^" + string(rune(c+'@'))
	case c == 0x7f:
		return prefix + "^?"
	}
	return prefix + string(rune(c))
}
