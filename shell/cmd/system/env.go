package system

import (
	"context"
	"io"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const envSignal = 256

func init() {
	command.Register(command.Info{
		Name:          "env",
		Synopsis:      "env [OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]",
		Summary:       "Set each NAME to VALUE in the environment and run COMMAND.",
		UsageStatus:   125,
		StopAtOperand: true,
		Options: []command.Option{
			{Short: 'i', Long: "ignore-environment", Help: "start with an empty environment"},
			{Short: '0', Long: "null", Help: "end each output line with NUL, not newline"},
			{Short: 'u', Long: "unset", Arg: command.RequiredArgument, ArgName: "NAME", Help: "remove variable from the environment"},
			{Short: 'C', Long: "chdir", Arg: command.RequiredArgument, ArgName: "DIR", Help: "change working directory to DIR"},
			{Short: 'S', Long: "split-string", Arg: command.RequiredArgument, ArgName: "S", Help: "process and split S into separate arguments;\nused to pass multiple arguments on shebang lines"},
			{Long: "block-signal", Arg: command.OptionalArgument, ArgName: "SIG", ID: envSignal, Help: "(ignored)"},
			{Long: "default-signal", Arg: command.OptionalArgument, ArgName: "SIG", ID: envSignal, Help: "(ignored)"},
			{Long: "ignore-signal", Arg: command.OptionalArgument, ArgName: "SIG", ID: envSignal, Help: "(ignored)"},
			{Long: "list-signal-handling", ID: envSignal, Help: "(ignored)"},
			{Short: 'v', Long: "debug", Help: "print verbose information for each processing step"},
		},
		Notes: "A mere - implies -i.  If no COMMAND, print the resulting environment.",
	}, env)
	command.Register(command.Info{
		Name:        "printenv",
		Synopsis:    "printenv [OPTION]... [VARIABLE]...",
		Summary:     "Print the values of the specified environment VARIABLE(s).\nIf no VARIABLE is specified, print name and value pairs for them all.",
		UsageStatus: 2,
		Options:     []command.Option{{Short: '0', Long: "null", Help: "end each output line with NUL, not newline"}},
	}, printenv)
}

func env(ctx context.Context, c *command.Context, args []string) int {
	args, status, ok := expandSplit(c, args)
	if !ok {
		return status
	}
	empty, end, dir := false, "\n", ""
	var unset []string
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'i':
			empty = true
		case '0':
			end = "\x00"
		case 'u':
			if p.Arg() == "" || strings.Contains(p.Arg(), "=") {
				return c.Errorf("cannot unset %s: %s", c.Quote(p.Arg()), command.Strerror(syscall.EINVAL)) + 124
			}
			unset = append(unset, p.Arg())
		case 'C':
			dir = p.Arg()
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) > 0 && operands[0] == "-" {
		empty, operands = true, operands[1:]
	}
	e := c.Env
	if empty {
		e = command.Environ{}
	}
	for _, name := range unset {
		e = e.Unset(name)
	}
	for len(operands) > 0 && strings.Contains(operands[0], "=") {
		name, value, _ := strings.Cut(operands[0], "=")
		e = e.Set(name, value)
		operands = operands[1:]
	}
	if len(operands) == 0 {
		if dir != "" {
			return c.Usage("must specify command with --chdir (-C)")
		}
		for _, kv := range e {
			c.Stdout.WriteString(kv + end)
		}
		return 0
	}
	if end != "\n" {
		return c.Usage("cannot specify --null (-0) with command")
	}
	return runWith(ctx, c, operands, e, dir)
}

func runWith(ctx context.Context, c *command.Context, operands []string, e command.Environ, dir string) int {
	if dir != "" {
		a, err := c.FS.Stat(dir)
		if err == nil && !a.IsDir() {
			err = syscall.ENOTDIR
		}
		if err != nil {
			return c.Errorf("cannot change directory to %s: %s", c.Quote(dir), command.Strerror(err)) + 124
		}
	}
	if len(e) == 0 {
		e = command.Environ{}
	}
	status, err := c.Run(ctx, &command.Child{Args: operands, Env: e, Dir: dir})
	if err == nil {
		return status
	}
	c.Errorf("%s: %s", c.Quote(operands[0]), command.Strerror(err))
	if vfs.ToErrno(err) != syscall.ENOENT {
		return 126
	}
	if strings.ContainsAny(operands[0], " \t") {
		io.WriteString(c.Stderr, "env: use -[v]S to pass options in shebang lines\n")
	}
	return 127
}

// expandSplit replaces each -S STRING by the words of the string.
func expandSplit(c *command.Context, args []string) ([]string, int, bool) {
	for i := 1; i < len(args); i++ {
		a := args[i]
		var text string
		rest := args[i+1:]
		lead := ""
		switch {
		case a == "--" || a == "-" || a == "" || a[0] != '-':
			return args, 0, true
		case strings.HasPrefix(a, "--split-string="):
			text = a[len("--split-string="):]
		case a == "--split-string" && len(rest) > 0:
			text, rest = rest[0], rest[1:]
		case strings.HasPrefix(a, "--"):
			continue
		default:
			at := strings.IndexAny(a, "SuC")
			if at < 0 || a[at] != 'S' {
				if at >= 0 && at == len(a)-1 {
					i++ // the argument of -u or -C
				}
				continue
			}
			lead, text = a[:at], a[at+1:]
			if text == "" {
				if len(rest) == 0 {
					return args, 0, true // the parser will complain
				}
				text, rest = rest[0], rest[1:]
			}
		}
		words, status, ok := splitString(c, text)
		if !ok {
			return nil, status, false
		}
		out := append([]string{}, args[:i]...)
		if lead != "" && lead != "-" {
			out = append(out, lead)
		}
		out = append(append(out, words...), rest...)
		return expandSplit(c, out)
	}
	return args, 0, true
}

// splitString cuts a string into words as env -S does.
func splitString(c *command.Context, s string) (words []string, status int, ok bool) {
	var b strings.Builder
	in := false
	var quote byte
	flush := func() {
		if in {
			words = append(words, b.String())
		}
		b.Reset()
		in = false
	}
	for i := 0; i < len(s); i++ {
		ch := s[i]
		switch {
		case quote == 0 && (ch == ' ' || ch >= '\t' && ch <= '\r'):
			flush()
		case quote == 0 && ch == '#' && !in:
			i = len(s)
		case (ch == '\'' || ch == '"') && (quote == 0 || quote == ch):
			in = true
			if quote == 0 {
				quote = ch
			} else {
				quote = 0
			}
		case ch == '\\' && i+1 < len(s):
			i++
			next := s[i]
			if quote == '\'' && next != '\\' && next != '\'' {
				b.WriteString(`\` + string([]byte{next}))
				break
			}
			in = true
			switch at := strings.IndexByte(`fnrtv"#$'\`, next); {
			case at >= 0:
				b.WriteByte("\f\n\r\t\v\"#$'\\"[at])
			case next == '_':
				if quote == '"' {
					b.WriteByte(' ')
				} else {
					flush()
				}
			case next == 'c':
				if quote == '"' {
					return nil, c.Errorf(`'\c' must not appear in double-quoted -S string`) + 124, false
				}
				i = len(s)
			default:
				return nil, c.Errorf(`invalid sequence '\%c' in -S`, next) + 124, false
			}
		case ch == '\\':
			return nil, c.Errorf("invalid backslash at end of string in -S") + 124, false
		case ch == '$' && quote != '\'':
			end := strings.IndexByte(s[i:], '}')
			if i+1 >= len(s) || s[i+1] != '{' || end < 0 {
				return nil, c.Errorf("only ${VARNAME} expansion is supported, error at: %s", s[i:]) + 124, false
			}
			if v, set := c.Env.Lookup(s[i+2 : i+end]); set {
				in = true
				b.WriteString(v)
			}
			i += end
		default:
			in = true
			b.WriteByte(ch)
		}
	}
	if quote != 0 {
		return nil, c.Errorf("no terminating quote in -S string") + 124, false
	}
	flush()
	return words, 0, true
}

func printenv(ctx context.Context, c *command.Context, args []string) int {
	end := "\n"
	p := c.Options(args)
	for p.Next() {
		end = "\x00"
	}
	names, status, stop := p.End()
	if stop {
		return status
	}
	if len(names) == 0 {
		for _, kv := range c.Env {
			c.Stdout.WriteString(kv + end)
		}
		return 0
	}
	for _, name := range names {
		v, ok := c.Env.Lookup(name)
		if !ok || strings.Contains(name, "=") {
			status = 1
			continue
		}
		c.Stdout.WriteString(v + end)
	}
	return status
}
