package text

import (
	"context"
	"io"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "envsubst",
		Synopsis: "envsubst [OPTION] [SHELL-FORMAT]",
		Summary:  "Substitutes the values of environment variables.",
		Options: []command.Option{
			{Short: 'v', Long: "variables", Help: "output the variables occurring in SHELL-FORMAT"},
			{Short: 'h', ID: 'h'},
			{Short: 'V', ID: 'V'},
		},
	}, envsubst)
}

func envsubst(ctx context.Context, c *command.Context, args []string) int {
	list := false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'v':
			list = true
		case 'h':
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case 'V':
			c.Stdout.WriteString("envsubst (vfsd)\n")
			return 0
		}
	}
	operands, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(operands) > 1:
		return c.Errorf("too many arguments")
	case list && len(operands) == 0:
		return c.Errorf("missing arguments")
	}
	if list {
		expandVariables(operands[0], func(string) {}, func(name, _ string) { c.Stdout.WriteString(name + "\n") })
		return 0
	}
	var only map[string]bool
	if len(operands) == 1 {
		only = map[string]bool{}
		expandVariables(operands[0], func(string) {}, func(name, _ string) { only[name] = true })
	}
	r := lines.NewReader(c.Stdin, c.Memory)
	defer r.Release()
	for {
		line, ended, err := r.Next()
		if err == io.EOF || ctx.Err() != nil {
			return 0
		}
		if err != nil {
			return c.Errorf("error while reading \"standard input\": %s", command.Strerror(err))
		}
		expandVariables(string(line), func(s string) { c.Stdout.WriteString(s) }, func(name, whole string) {
			if only != nil && !only[name] {
				c.Stdout.WriteString(whole)
				return
			}
			c.Stdout.WriteString(c.Env.Get(name))
		})
		if ended {
			if err := c.Stdout.WriteByte('\n'); err != nil {
				return 1
			}
		}
	}
}

// expandVariables goes through s: text takes what is none, and variable the
// name of each $NAME and ${NAME} with how it was written.
func expandVariables(s string, text func(string), variable func(name, whole string)) {
	for {
		i := strings.IndexByte(s, '$')
		if i < 0 {
			text(s)
			return
		}
		text(s[:i])
		s = s[i:]
		rest := s[1:]
		brace := strings.HasPrefix(rest, "{")
		if brace {
			rest = rest[1:]
		}
		n := 0
		for n < len(rest) && (rest[n] == '_' || rest[n]|0x20 >= 'a' && rest[n]|0x20 <= 'z' || n > 0 && rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		if n == 0 || brace && (n == len(rest) || rest[n] != '}') {
			text("$")
			s = s[1:]
			continue
		}
		size := 1 + n
		if brace {
			size += 2
		}
		variable(rest[:n], s[:size])
		s = s[size:]
	}
}
