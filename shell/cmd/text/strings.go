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
		Name:     "strings",
		Synopsis: "strings [option(s)] [file(s)]",
		Summary:  "Display printable strings in [file(s)] (stdin by default)",
		Options: append(numberOptions(), []command.Option{
			{Short: 'a', Long: "all", Help: "scan the entire file (always so)"},
			{Short: 'd', Long: "data"},
			{Short: 'f', Long: "print-file-name", Help: "print the name of the file before each string"},
			{Short: 'n', Long: "bytes", Arg: command.RequiredArgument, ArgName: "NUMBER", Help: "print any sequence of at least NUMBER characters (4)"},
			{Short: 't', Long: "radix", Arg: command.RequiredArgument, ArgName: "{o,d,x}", Help: "print the location of the string in base 8, 10 or 16"},
			{Short: 'w', Long: "include-all-whitespace", Help: "include all whitespace as valid string characters"},
			{Short: 'o', Help: "an alias for --radix=o"},
			{Short: 's', Long: "output-separator", Arg: command.RequiredArgument, ArgName: "STRING", Help: "string used to separate strings in output"},
			{Short: 'e', Long: "encoding", Arg: command.RequiredArgument, ArgName: "{s,S,b,l,B,L}", Help: "select character size and endianness:\ns = 7-bit, S = 8-bit, {b,l} = 16-bit, {B,L} = 32-bit"},
			{Short: 'T', Arg: command.RequiredArgument},
			{Short: 'U', Arg: command.RequiredArgument},
			{Short: 'h', ID: 'h'},
			{Short: 'v', ID: 'v'},
			{Short: 'V', ID: 'v'},
		}...),
	}, stringsCommand)
}

// stringsJob is what the options ask for.
type stringsJob struct {
	c         *command.Context
	least     int
	radix     byte
	names     bool
	space     bool
	separator string
	encoding  byte
}

func stringsCommand(ctx context.Context, c *command.Context, args []string) int {
	j := stringsJob{c: c, least: 4, separator: "\n", encoding: 's'}
	p := c.Options(args)
	for p.Next() {
		arg := p.Arg()
		switch id := p.ID(); id {
		case 'a', 'd', 'T', 'U':
		case 'f':
			j.names = true
		case 't':
			if arg != "o" && arg != "d" && arg != "x" {
				return c.Usage("invalid radix")
			}
			j.radix = arg[0]
		case 'o':
			j.radix = 'o'
		case 'w':
			j.space = true
		case 's':
			j.separator = arg
		case 'e':
			if len(arg) != 1 || strings.IndexByte("sSblBL", arg[0]) < 0 {
				return c.Usage("invalid encoding")
			}
			j.encoding = arg[0]
		case 'h':
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case 'v':
			c.Stdout.WriteString("strings (vfsd)\n")
			return 0
		default:
			if id != 'n' {
				arg = string(rune(id)) + arg
			}
			n, err := strconv.ParseInt(arg, 0, 32)
			if err != nil {
				return c.Errorf("invalid integer argument %s", arg)
			}
			if n < 1 {
				return c.Errorf("invalid minimum string length %d", n)
			}
			j.least = int(n)
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	if len(files) == 0 {
		if err := j.file(ctx, c.Stdin, "{standard input}"); err != nil && ctx.Err() == nil {
			return c.Errorf("%s", command.Strerror(err))
		}
		return 0
	}
	for _, name := range files {
		if name == "-" {
			continue // once it asked for the whole of a file
		}
		status = max(status, j.named(ctx, name))
		if ctx.Err() != nil || c.Stdout.Err() != nil {
			return 1
		}
	}
	return status
}

func (j *stringsJob) named(ctx context.Context, name string) int {
	a, err := j.c.FS.Stat(name)
	switch {
	case err != nil && command.Strerror(err) == "No such file or directory":
		return j.c.Errorf("'%s': No such file", name)
	case err != nil:
		return j.c.Errorf("Warning: could not locate '%s'.  reason: %s", name, command.Strerror(err))
	case a.IsDir():
		return j.c.Errorf("Warning: '%s' is a directory", name)
	}
	f, err := j.c.FS.Open(name)
	if err != nil {
		return j.c.Errorf("%s: %s", name, command.Strerror(err))
	}
	defer f.Close()
	if err := j.file(ctx, f, name); err != nil && ctx.Err() == nil {
		return j.c.Errorf("%s: %s", name, command.Strerror(err))
	}
	return 0
}

// unit is the size of a character.
func (j *stringsJob) unit() int {
	switch j.encoding {
	case 'b', 'l':
		return 2
	case 'B', 'L':
		return 4
	}
	return 1
}

// char decodes one character; false when it is none of a string.
func (j *stringsJob) char(b []byte) (byte, bool) {
	if j.encoding == 'b' || j.encoding == 'B' {
		// Big endian: the last byte counts, those before are 0.
		for _, c := range b[:len(b)-1] {
			if c != 0 {
				return 0, false
			}
		}
		b = b[len(b)-1:]
	} else {
		for _, c := range b[1:] {
			if c != 0 {
				return 0, false
			}
		}
	}
	c := b[0]
	ok := c >= ' ' && c <= '~' || c == '\t' || c > 0x7f && j.encoding == 'S' || j.space && c >= '\t' && c <= '\r'
	return c, ok
}

// file prints the strings of one file.
func (j *stringsJob) file(ctx context.Context, src io.Reader, name string) error {
	r := bufio.NewReaderSize(src, copySize)
	unit := j.unit()
	var run []byte
	printing := false
	start := int64(0)
	end := func() {
		if printing {
			j.c.Stdout.WriteString(j.separator)
		}
		run, printing = run[:0], false
	}
	for at := int64(0); ; {
		if at%copySize == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		b, err := r.Peek(unit)
		if err == io.EOF {
			end()
			return nil
		}
		if err != nil {
			return err
		}
		c, ok := j.char(b)
		if !ok {
			end()
			// A wide string may start at any byte.
			r.Discard(1)
			at++
			continue
		}
		r.Discard(unit)
		if len(run) == 0 && !printing {
			start = at
		}
		at += int64(unit)
		if printing {
			j.c.Stdout.WriteByte(c)
			continue
		}
		if run = append(run, c); len(run) >= j.least {
			j.head(name, start)
			j.c.Stdout.Write(run)
			printing = true
			if j.c.Stdout.Err() != nil {
				return nil
			}
		}
	}
}

// head prints what comes before a string.
func (j *stringsJob) head(name string, at int64) {
	if j.names {
		j.c.Stdout.WriteString(name + ": ")
	}
	switch j.radix {
	case 'o':
		fmt.Fprintf(j.c.Stdout, "%7o ", at)
	case 'd':
		fmt.Fprintf(j.c.Stdout, "%7d ", at)
	case 'x':
		fmt.Fprintf(j.c.Stdout, "%7x ", at)
	}
}
