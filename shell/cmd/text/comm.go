package text

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	optCheckOrder = 256 + iota
	optNoCheckOrder
	optDelimiter
	optTotal
	optHeader
)

func init() {
	command.Register(command.Info{
		Name:     "comm",
		Synopsis: "comm [OPTION]... FILE1 FILE2",
		Summary: "Compare sorted files FILE1 and FILE2 line by line.\n\n" +
			"With no options, produce three-column output.  Column one contains\n" +
			"lines unique to FILE1, column two contains lines unique to FILE2,\n" +
			"and column three contains lines common to both files.",
		Options: []command.Option{
			{Short: '1', Help: "suppress column 1 (lines unique to FILE1)"},
			{Short: '2', Help: "suppress column 2 (lines unique to FILE2)"},
			{Short: '3', Help: "suppress column 3 (lines that appear in both files)"},
			{Long: "check-order", ID: optCheckOrder, Help: "check that the input is correctly sorted, even\nif all input lines are pairable"},
			{Long: "nocheck-order", ID: optNoCheckOrder, Help: "do not check that the input is correctly sorted"},
			{Long: "output-delimiter", Arg: command.RequiredArgument, ArgName: "STR", ID: optDelimiter, Help: "separate columns with STR"},
			{Long: "total", ID: optTotal, Help: "output a summary"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
		},
	}, comm)
}

// orderCheck says when input that is not sorted is reported.
type orderCheck uint8

const (
	orderIfUnpaired orderCheck = iota // once a line had no partner
	orderAlways
	orderNever
)

// commJob compares two files.
type commJob struct {
	c        *command.Context
	hide     [3]bool
	check    orderCheck
	sep      string
	sepGiven bool
	total    bool
	delim    byte
	unpaired bool
	warned   [2]bool
	counts   [3]uint64
}

// sortedInput is one of two sorted files: the present line and the one before.
type sortedInput struct {
	r          *lines.Reader
	name       string
	line, last []byte
	seen, ok   bool
}

func comm(ctx context.Context, c *command.Context, args []string) int {
	k := commJob{c: c, sep: "\t", delim: '\n'}
	p := c.Options(args)
	for p.Next() {
		switch id := p.ID(); id {
		case '1', '2', '3':
			k.hide[id-'1'] = true
		case optCheckOrder:
			k.check = orderAlways
		case optNoCheckOrder:
			k.check = orderNever
		case optDelimiter:
			if k.sepGiven && k.sep != p.Arg() {
				return c.Errorf("multiple output delimiters specified")
			}
			k.sep, k.sepGiven = p.Arg(), true
			if k.sep == "" {
				k.sep = "\x00"
			}
		case optTotal:
			k.total = true
		case 'z':
			k.delim = 0
		}
	}
	files, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(files) == 0:
		return c.MissingOperand("")
	case len(files) == 1:
		return c.MissingOperand(files[0])
	case len(files) > 2:
		return c.ExtraOperand(files[2])
	}
	return k.run(ctx, files)
}

func (k *commJob) run(ctx context.Context, files []string) int {
	var in [2]sortedInput
	for i, name := range files {
		f, err := k.c.Open(name)
		if err != nil {
			return k.c.Fail(name, err)
		}
		defer f.Close()
		in[i] = sortedInput{r: lines.NewReader(f, k.c.Memory), name: name}
		in[i].r.Delim = k.delim
		defer in[i].r.Release()
		if err := k.advance(&in[i], i); err != nil {
			return k.failed(ctx, name, err)
		}
	}
	for in[0].ok || in[1].ok {
		if ctx.Err() != nil || k.c.Stdout.Err() != nil {
			return 1
		}
		order := 0
		switch {
		case !in[0].ok:
			order = 1
		case !in[1].ok:
			order = -1
		default:
			order = bytes.Compare(in[0].line, in[1].line)
		}
		k.unpaired = k.unpaired || order != 0
		switch {
		case order < 0:
			k.print(0, in[0].line)
		case order > 0:
			k.print(1, in[1].line)
		default:
			k.print(2, in[0].line)
		}
		for i := range in {
			if i == 0 && order > 0 || i == 1 && order < 0 {
				continue
			}
			if err := k.advance(&in[i], i); err != nil {
				return k.failed(ctx, in[i].name, err)
			}
		}
	}
	return k.finish()
}

func (k *commJob) finish() int {
	if k.total {
		fmt.Fprintf(k.c.Stdout, "%d%s%d%s%d%stotal%c", k.counts[0], k.sep, k.counts[1], k.sep, k.counts[2], k.sep, k.delim)
	}
	if k.warned[0] || k.warned[1] {
		k.c.Stdout.Flush()
		return k.c.Errorf("input is not in sorted order")
	}
	return 0
}

func (k *commJob) failed(ctx context.Context, name string, err error) int {
	if err == errReported || ctx.Err() != nil {
		return 1
	}
	return k.c.Fail(name, err)
}

// advance reads the next line of input i, and checks that it is not less than
// the one before.
func (k *commJob) advance(in *sortedInput, i int) error {
	in.last = append(in.last[:0], in.line...)
	had := in.ok
	line, _, err := in.r.Next()
	in.ok = err == nil
	if err != nil {
		in.line = nil
		if err == io.EOF {
			return nil
		}
		return err
	}
	in.line = line
	if !had || k.check == orderNever || k.check == orderIfUnpaired && !k.unpaired || k.warned[i] {
		return nil
	}
	if bytes.Compare(in.last, in.line) > 0 {
		k.c.Stdout.Flush()
		k.c.Errorf("file %d is not in sorted order", i+1)
		k.warned[i] = true
		if k.check == orderAlways {
			return errReported
		}
	}
	return nil
}

// print prints a line in its column.
func (k *commJob) print(column int, line []byte) {
	k.counts[column]++
	if k.hide[column] {
		return
	}
	for i := range column {
		if !k.hide[i] {
			k.c.Stdout.WriteString(k.sep)
		}
	}
	k.c.Stdout.Write(line)
	k.c.Stdout.WriteByte(k.delim)
}
