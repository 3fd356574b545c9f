package files

import (
	"context"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:          "basename",
		Synopsis:      "basename NAME [SUFFIX]\nbasename OPTION... NAME...",
		Summary:       "Print NAME with any leading directory components removed.\nIf specified, also remove a trailing SUFFIX.",
		StopAtOperand: true,
		Options: []command.Option{
			{Short: 'a', Long: "multiple", Help: "support multiple arguments and treat each as a NAME"},
			{Short: 's', Long: "suffix", Arg: command.RequiredArgument, ArgName: "SUFFIX", Help: "remove a trailing SUFFIX; implies -a"},
			{Short: 'z', Long: "zero", Help: "end each output line with NUL, not newline"},
		},
	}, basename)
	command.Register(command.Info{
		Name:     "dirname",
		Synopsis: "dirname [OPTION] NAME...",
		Summary:  "Output each NAME with its last non-slash component and trailing slashes removed;\nif NAME contains no /'s, output '.' (meaning the current directory).",
		Options:  []command.Option{{Short: 'z', Long: "zero", Help: "end each output line with NUL, not newline"}},
	}, dirname)
}

func basename(ctx context.Context, c *command.Context, args []string) int {
	multiple, suffix, end := false, "", "\n"
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'a':
			multiple = true
		case 's':
			multiple, suffix = true, p.Arg()
		case 'z':
			end = "\x00"
		}
	}
	names, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(names) == 0:
		return c.MissingOperand("")
	case !multiple && len(names) > 2:
		return c.ExtraOperand(names[2])
	case !multiple && len(names) == 2:
		suffix, names = names[1], names[:1]
	}
	for _, name := range names {
		base := gnulib.Base(name)
		if base != suffix && base != "/" {
			base = strings.TrimSuffix(base, suffix)
		}
		c.Stdout.WriteString(base + end)
	}
	return 0
}

func dirname(ctx context.Context, c *command.Context, args []string) int {
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
		return c.MissingOperand("")
	}
	for _, name := range names {
		c.Stdout.WriteString(gnulib.Dir(name) + end)
	}
	return 0
}
