package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

const optGroup = 256

func init() {
	command.Register(command.Info{
		Name:     "uniq",
		Synopsis: "uniq [OPTION]... [INPUT [OUTPUT]]",
		Summary: "Filter adjacent matching lines from INPUT (or standard input),\n" +
			"writing to OUTPUT (or standard output).\n\nWith no options, matching lines are merged to the first occurrence.",
		Options: append(digitOptions(), []command.Option{
			{Short: 'c', Long: "count", Help: "prefix lines by the number of occurrences"},
			{Short: 'd', Long: "repeated", Help: "only print duplicate lines, one for each group"},
			{Short: 'D', Help: "print all duplicate lines"},
			{Long: "all-repeated", Arg: command.OptionalArgument, ArgName: "METHOD", ID: 'D', Help: "like -D, but allow separating groups\nwith an empty line;\nMETHOD={none(default),prepend,separate}"},
			{Short: 'f', Long: "skip-fields", Arg: command.RequiredArgument, ArgName: "N", Help: "avoid comparing the first N fields"},
			{Long: "group", Arg: command.OptionalArgument, ArgName: "METHOD", ID: optGroup, Help: "show all items, separating groups with an empty line;\nMETHOD={separate(default),prepend,append,both}"},
			{Short: 'i', Long: "ignore-case", Help: "ignore differences in case when comparing"},
			{Short: 's', Long: "skip-chars", Arg: command.RequiredArgument, ArgName: "N", Help: "avoid comparing the first N characters"},
			{Short: 'u', Long: "unique", Help: "only print unique lines"},
			{Short: 'z', Long: "zero-terminated", Help: "line delimiter is NUL, not newline"},
			{Short: 'w', Long: "check-chars", Arg: command.RequiredArgument, ArgName: "N", Help: "compare no more than N characters in lines"},
		}...),
	}, uniq)
}

// How groups of lines are set apart.
const (
	groupNone = iota
	groupPrepend
	groupAppend
	groupSeparate
	groupBoth
)

// uniqJob is what the options ask for.
type uniqJob struct {
	c                            *command.Context
	out                          *command.Writer
	count, repeated, all, unique bool
	fold, grouping               bool
	method                       int
	skipFields, skipChars, check uint64
	checkGiven                   bool
	delim                        byte
	first                        []byte // the first line of the present group
	key                          []byte // the part of it that is compared
	n                            uint64 // lines in the group
	groups                       int    // that were printed
}

func uniq(ctx context.Context, c *command.Context, args []string) int {
	u := uniqJob{c: c, delim: '\n'}
	p := c.Options(args)
	digits := ""
	for p.Next() {
		id := p.ID()
		if id >= '0' && id <= '9' {
			if !p.Bundled() {
				digits = ""
			}
			digits += string(rune(id))
			n, ok := u.number(digits, "invalid number of fields to skip")
			if !ok {
				return 1
			}
			u.skipFields = n
			continue
		}
		if !u.option(p) {
			return 1
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	switch {
	case len(operands) > 2:
		return c.ExtraOperand(operands[2])
	case u.grouping && (u.count || u.repeated || u.all || u.unique):
		return c.Usage("--group is mutually exclusive with -c/-d/-D/-u")
	case u.all && u.count:
		return c.Usage("printing all duplicated lines and repeat counts is meaningless")
	}
	return u.run(ctx, operands)
}

// option applies one option; false after a mistake.
func (u *uniqJob) option(p *command.Parser) (ok bool) {
	ok = true
	switch p.ID() {
	case 'c':
		u.count = true
	case 'd':
		u.repeated = true
	case 'D':
		u.all = true
		u.method = groupNone
		if p.HasArg() {
			u.method, ok = gnulib.MatchArg(u.c, "--all-repeated", p.Arg(), []gnulib.Choice{{Word: "none", Value: groupNone}, {Word: "prepend", Value: groupPrepend}, {Word: "separate", Value: groupSeparate}})
		}
	case optGroup:
		u.grouping, u.method = true, groupSeparate
		if p.HasArg() {
			u.method, ok = gnulib.MatchArg(u.c, "--group", p.Arg(), []gnulib.Choice{{Word: "prepend", Value: groupPrepend}, {Word: "append", Value: groupAppend}, {Word: "separate", Value: groupSeparate}, {Word: "both", Value: groupBoth}})
		}
	case 'f':
		u.skipFields, ok = u.number(p.Arg(), "invalid number of fields to skip")
	case 'i':
		u.fold = true
	case 's':
		u.skipChars, ok = u.number(p.Arg(), "invalid number of bytes to skip")
	case 'u':
		u.unique = true
	case 'z':
		u.delim = 0
	case 'w':
		u.checkGiven = true
		u.check, ok = u.number(p.Arg(), "invalid number of bytes to compare")
	}
	return ok
}

func (u *uniqJob) number(arg, what string) (uint64, bool) {
	n, err := gnulib.ParseSize(arg, "")
	if err != nil && !errors.Is(err, syscall.EOVERFLOW) {
		u.c.Errorf("%s: %s", arg, what)
		return 0, false
	}
	return n, true
}

// run opens the files and goes through the lines.
func (u *uniqJob) run(ctx context.Context, operands []string) int {
	in, out := "-", "-"
	if len(operands) > 0 {
		in = operands[0]
	}
	if len(operands) > 1 {
		out = operands[1]
	}
	src, err := u.c.Open(in)
	if err != nil {
		return u.c.Fail(in, err)
	}
	defer src.Close()
	u.out = u.c.Stdout
	if out != "-" {
		f, err := u.c.FS.Create(out, 0o666)
		if err != nil {
			return u.c.Fail(out, err)
		}
		defer f.Close()
		u.out = command.NewWriter(f)
	}
	if err := u.lines(ctx, src); err != nil {
		if ctx.Err() != nil {
			return 1
		}
		return u.c.Errorf("error reading %s", u.c.QuoteArg(in))
	}
	if out != "-" {
		if err := u.out.Flush(); err != nil {
			return u.c.Errorf("write error: %s", command.Strerror(err))
		}
	}
	return 0
}

// lines goes through the lines of the input.
func (u *uniqJob) lines(ctx context.Context, src io.Reader) error {
	r := lines.NewReader(src, u.c.Memory)
	r.Delim = u.delim
	defer r.Release()
	for {
		line, _, err := r.Next()
		if err == io.EOF {
			u.end()
			if u.groups > 0 && u.grouping && (u.method == groupAppend || u.method == groupBoth) {
				u.out.WriteByte(u.delim)
			}
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		key := u.keyOf(line)
		if u.n > 0 && u.same(key) {
			u.n++
			u.again(line)
		} else {
			u.end()
			u.n = 1
			u.first = append(u.first[:0], line...)
			u.key = u.keyOf(u.first)
			if u.grouping {
				u.separate()
				u.line(line)
			}
		}
		if u.out.Err() != nil {
			return nil
		}
	}
}

// keyOf returns the part of a line that is compared.
func (u *uniqJob) keyOf(line []byte) []byte {
	for range u.skipFields {
		if len(line) == 0 {
			break
		}
		i := 0
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		line = line[i:]
	}
	line = line[min(u.skipChars, uint64(len(line))):]
	if u.checkGiven {
		line = line[:min(u.check, uint64(len(line)))]
	}
	return line
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

func (u *uniqJob) same(key []byte) bool {
	if !u.fold {
		return bytes.Equal(key, u.key)
	}
	if len(key) != len(u.key) {
		return false
	}
	for i := range key {
		if lowerASCII(key[i]) != lowerASCII(u.key[i]) {
			return false
		}
	}
	return true
}

func lowerASCII(b byte) byte {
	if b >= 'A' && b <= 'Z' {
		return b | 0x20
	}
	return b
}

// again deals with one more line of a group.
func (u *uniqJob) again(line []byte) {
	switch {
	case u.grouping:
		u.line(line)
	case u.all && !u.unique:
		if u.n == 2 {
			u.separate()
			u.line(u.first)
		}
		u.line(line)
	case u.all:
		// With -u too, all lines of a group but its last.
		u.line(u.first)
		u.first = append(u.first[:0], line...)
		u.key = u.keyOf(u.first)
	}
}

// separate prints the empty line between groups.
func (u *uniqJob) separate() {
	if u.method == groupPrepend || u.method == groupBoth || u.method != groupNone && u.groups > 0 {
		u.out.WriteByte(u.delim)
	}
	u.groups++
}

// end prints what is to be printed of a group when it is over.
func (u *uniqJob) end() {
	if u.n == 0 || u.grouping || u.all {
		return
	}
	if u.n == 1 && u.repeated || u.n > 1 && u.unique {
		return
	}
	if u.count {
		s := strconv.FormatUint(u.n, 10)
		u.out.WriteString(fmt.Sprintf("%7s ", s))
	}
	u.line(u.first)
}

func (u *uniqJob) line(line []byte) {
	u.out.Write(line)
	u.out.WriteByte(u.delim)
}
