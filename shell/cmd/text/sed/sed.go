// Package sed is the stream editor.
//
// A script is parsed (parse.go) to a flat list of commands in which jumps and
// blocks are indexes; a machine (exec.go) runs it once a line over the input
// (input.go). Pattern and hold space are on the account of the execution.
package sed

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// Exit statuses.
const (
	exitUsage = 1
	exitInput = 2 // an input file could not be read
	exitPanic = 4
)

// IDs of the long-only options.
const (
	optDebug = 256 + iota
	optFollow
	optPosix
	optSandbox
)

// settings is what the options ask for.
type settings struct {
	quiet      bool
	extended   bool
	separate   bool
	inPlace    bool
	suffix     string
	follow     bool
	posix      bool
	sandbox    bool
	unbuffered bool
	delim      byte
	lineLength int
	utf8       bool
}

func init() {
	info := command.Info{
		Name:     "sed",
		Synopsis: "sed [OPTION]... {script-only-if-no-other-script} [input-file]...",
		Summary:  "Edit a stream of lines by a script.",
		Options: []command.Option{
			{Short: 'n', Long: "quiet", Help: "do not print the pattern space by itself"},
			{Long: "silent", ID: 'n'},
			{Long: "debug", ID: optDebug, Help: "(ignored)"},
			{Short: 'e', Long: "expression", Arg: command.RequiredArgument, ArgName: "SCRIPT", Help: "add SCRIPT to the commands to run"},
			{Short: 'f', Long: "file", Arg: command.RequiredArgument, ArgName: "FILE", Help: "add the contents of FILE to the commands to run"},
			{Short: 'E', Long: "regexp-extended", Help: "use extended regular expressions"},
			{Short: 'r', ID: 'E', Help: "the same as -E"},
			{Long: "follow-symlinks", ID: optFollow, Help: "edit the file that a symlink leads to"},
			{Short: 'i', Long: "in-place", Arg: command.OptionalArgument, ArgName: "SUFFIX", Help: "edit files in place, with a backup if SUFFIX is given"},
			{Short: 'l', Long: "line-length", Arg: command.RequiredArgument, ArgName: "N", Help: "break lines of the l command after N characters"},
			{Long: "posix", ID: optPosix, Help: "turn GNU extensions off"},
			{Short: 's', Long: "separate", Help: "treat files as separate, not as one stream"},
			{Long: "sandbox", ID: optSandbox, Help: "refuse the commands e, r and w"},
			{Short: 'u', Long: "unbuffered", Help: "write each line at once"},
			{Short: 'b', Long: "binary", Help: "(ignored)"},
			{Short: 'z', Long: "null-data", Help: "lines end in a 0 byte"},
			{Long: "zero-terminated", ID: 'z'},
		},
		Notes: "Without -e and -f the first operand is the script. Without files standard\ninput is read.",
	}
	info.UsageHint = strings.TrimSuffix(info.Help(), "\n")
	command.Register(info, sed)
}

// sedError is a mistake with its exit status.
type sedError struct {
	message string
	status  int
}

func (e *sedError) Error() string { return e.message }

func sed(ctx context.Context, c *command.Context, args []string) int {
	_, posix := c.Env.Lookup("POSIXLY_CORRECT")
	s := &settings{delim: '\n', lineLength: defaultLength(c.Env), utf8: c.Env.UTF8(), posix: posix}
	ps := newParser(c, s)
	p := c.Options(args)
	given := false
	for p.Next() {
		script, err := s.option(ps, p)
		given = given || script
		if err != nil {
			return fail(c, err)
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if !given {
		if len(operands) == 0 {
			io.WriteString(c.Stderr, c.Command.UsageHint+"\n")
			return exitUsage
		}
		if err := ps.expression(operands[0]); err != nil {
			return fail(c, err)
		}
		operands = operands[1:]
	}
	if s.inPlace && len(operands) == 0 {
		return fail(c, &sedError{"no input files", exitPanic})
	}
	prog, err := ps.finish()
	if err != nil {
		return fail(c, err)
	}
	m := newMachine(c, s, prog, operands)
	return m.run(ctx)
}

// fail reports an error that ends sed.
func fail(c *command.Context, err error) int {
	var e *sedError
	if errors.As(err, &e) {
		c.Errorf("%s", e.message)
		return e.status
	}
	c.Errorf("%s", command.Strerror(err))
	return exitPanic
}

// option applies one option; script is set when it gave some.
func (s *settings) option(ps *parser, p *command.Parser) (script bool, err error) {
	switch p.ID() {
	case 'n':
		s.quiet = true
	case 'e':
		return true, ps.expression(p.Arg())
	case 'f':
		return true, ps.scriptFile(p.Arg())
	case 'E':
		s.extended = true
	case optFollow:
		s.follow = true
	case 'i':
		s.inPlace, s.separate = true, true
		if p.Arg() != "" {
			s.suffix = p.Arg()
			if !strings.Contains(s.suffix, "*") {
				s.suffix = "*" + s.suffix
			}
		}
	case 'l':
		// What is no number is 0, as in the original.
		s.lineLength, _ = strconv.Atoi(p.Arg())
	case optPosix:
		s.posix = true
	case 's':
		s.separate = true
	case optSandbox:
		s.sandbox = true
	case 'u':
		s.unbuffered = true
	case 'z':
		s.delim = 0
	}
	return false, nil
}

// defaultLength is the l command's line length.
func defaultLength(env command.Environ) int {
	if n, err := strconv.Atoi(env.Get("COLS")); err == nil && n > 1 {
		return n - 1
	}
	return 70
}
