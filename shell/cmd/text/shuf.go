package text

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

const optRandomSource = 256

func init() {
	command.Register(command.Info{
		Name:     "shuf",
		Synopsis: "shuf [OPTION]... [FILE]\nshuf -e [OPTION]... [ARG]...\nshuf -i LO-HI [OPTION]...",
		Summary:  "Write a random permutation of the input lines to standard output.\n\nWith no FILE, or when FILE is -, read standard input.",
		Options: []command.Option{
			{Short: 'e', Long: "echo", Help: "treat each ARG as an input line"},
			{Short: 'i', Long: "input-range", Arg: command.RequiredArgument, ArgName: "LO-HI", Help: "treat each number LO through HI as an input line"},
			{Short: 'n', Long: "head-count", Arg: command.RequiredArgument, ArgName: "COUNT", Help: "output at most COUNT lines"},
			{Short: 'o', Long: "output", Arg: command.RequiredArgument, ArgName: "FILE", Help: "write result to FILE instead of standard output"},
			{Long: "random-source", Arg: command.RequiredArgument, ArgName: "FILE", ID: optRandomSource, Help: "get random bytes from FILE"},
			{Short: 'r', Long: "repeat", Help: "output lines can be repeated"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
		},
	}, shuf)
}

// shufJob is what the options ask for.
type shufJob struct {
	c        *command.Context
	echo     bool
	lo, hi   uint64
	ranged   bool
	count    uint64
	counted  bool
	output   string
	hasOut   bool
	repeat   bool
	delim    byte
	source   string
	random   *rand.Rand
	lines    [][]byte
	held     int64
	failed   error // of the source of random bytes
	fromFile io.Reader
}

func shuf(ctx context.Context, c *command.Context, args []string) int {
	j := shufJob{c: c, delim: '\n', count: math.MaxUint64}
	p := c.Options(args)
	for p.Next() {
		if !j.option(p) {
			return 1
		}
	}
	operands, status, stop := p.End()
	switch {
	case stop:
		return status
	case j.echo && j.ranged:
		return c.Usage("cannot combine -e and -i options")
	case j.ranged && len(operands) > 0:
		return c.ExtraOperand(operands[0])
	case !j.echo && len(operands) > 1:
		return c.ExtraOperand(operands[1])
	}
	defer func() { c.Memory.Shrink(j.held) }()
	if !j.seed() {
		return 1
	}
	if !j.ranged {
		if s := j.gather(ctx, operands); s != 0 {
			return s
		}
	}
	return j.write(ctx)
}

// option applies one option; false after a mistake.
func (j *shufJob) option(p *command.Parser) bool {
	arg := p.Arg()
	switch p.ID() {
	case 'e':
		j.echo = true
	case 'i':
		if j.ranged {
			j.c.Errorf("multiple -i options specified")
			return false
		}
		lo, hi, ok := strings.Cut(arg, "-")
		var err1, err2 error
		j.lo, err1 = strconv.ParseUint(lo, 10, 64)
		j.hi, err2 = strconv.ParseUint(hi, 10, 64)
		if !ok || err1 != nil || err2 != nil || j.lo > j.hi && j.lo != j.hi+1 {
			j.c.Errorf("invalid input range: %s", j.c.Quote(arg))
			return false
		}
		j.ranged = true
	case 'n':
		n, err := strconv.ParseUint(arg, 10, 64)
		if err != nil && !isRange(err) {
			j.c.Errorf("invalid line count: %s", j.c.Quote(arg))
			return false
		}
		j.count, j.counted = min(j.count, n), true
	case 'o':
		if j.hasOut && j.output != arg {
			j.c.Errorf("multiple output files specified")
			return false
		}
		j.output, j.hasOut = arg, true
	case optRandomSource:
		if j.source != "" && j.source != arg {
			j.c.Errorf("multiple random sources specified")
			return false
		}
		j.source = arg
	case 'r':
		j.repeat = true
	case 'z':
		j.delim = 0
	}
	return true
}

// seed prepares the random numbers.
func (j *shufJob) seed() bool {
	if j.source == "" {
		j.random = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
		return true
	}
	f, err := j.c.Open(j.source)
	if err != nil {
		j.c.Fail(j.source, err)
		return false
	}
	defer f.Close()
	// The file's bytes seed a generator: the same file gives the same result.
	var seed [32]byte
	n, err := io.ReadFull(f, seed[:])
	if n == 0 && err != nil {
		j.c.Errorf("%s: end of file", j.c.QuoteName(j.source))
		return false
	}
	j.random = rand.New(rand.NewPCG(binary.LittleEndian.Uint64(seed[:]), binary.LittleEndian.Uint64(seed[8:])))
	return true
}

// gather reads the lines.
func (j *shufJob) gather(ctx context.Context, operands []string) int {
	if j.echo {
		for _, a := range operands {
			j.lines = append(j.lines, []byte(a))
		}
		return 0
	}
	name := orStdin(operands)[0]
	f, err := j.c.Open(name)
	if err != nil {
		return j.c.Fail(name, err)
	}
	defer f.Close()
	r := lines.NewReader(f, j.c.Memory)
	r.Delim = j.delim
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
			n := int64(len(line)) + 24
			if err = j.c.Memory.Grow(n); err == nil {
				j.held += n
			}
		}
		if err != nil {
			return j.c.Errorf("read error: %s", command.Strerror(err))
		}
		j.lines = append(j.lines, bytes.Clone(line))
	}
}

// write writes the result.
func (j *shufJob) write(ctx context.Context) int {
	out := j.c.Stdout
	if j.hasOut {
		f, err := j.c.FS.Create(j.output, 0o666)
		if err != nil {
			return j.c.Fail(j.output, err)
		}
		defer f.Close()
		out = command.NewWriter(f)
	}
	if err := j.permute(ctx, out); err != nil {
		return 1
	}
	if j.hasOut {
		if err := out.Flush(); err != nil {
			return j.c.Errorf("write error: %s", command.Strerror(err))
		}
	}
	return 0
}

func (j *shufJob) permute(ctx context.Context, out *command.Writer) error {
	total := uint64(len(j.lines))
	if j.ranged {
		total = j.hi - j.lo + 1
	}
	if j.repeat {
		if total == 0 {
			if j.count == 0 {
				return nil
			}
			j.c.Errorf("no lines to repeat")
			return errReported
		}
		for n := uint64(0); n < j.count; n++ {
			if err := j.put(ctx, out, j.random.Uint64N(total)); err != nil {
				return err
			}
		}
		return nil
	}
	// A sparse shuffle: moved has what stands at a place other than its own.
	moved := map[uint64]uint64{}
	at := func(i uint64) uint64 {
		if v, ok := moved[i]; ok {
			return v
		}
		return i
	}
	for i := uint64(0); i < min(total, j.count); i++ {
		k := i + j.random.Uint64N(total-i)
		v := at(k)
		moved[k] = at(i)
		delete(moved, i)
		if err := j.put(ctx, out, v); err != nil {
			return err
		}
	}
	return nil
}

// put writes the i-th item.
func (j *shufJob) put(ctx context.Context, out *command.Writer, i uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if j.ranged {
		out.WriteString(strconv.FormatUint(j.lo+i, 10))
	} else {
		out.Write(j.lines[i])
	}
	return out.WriteByte(j.delim)
}
