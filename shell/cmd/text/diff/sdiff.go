package diff

import (
	"context"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "sdiff",
		Synopsis: "sdiff [OPTION]... FILE1 FILE2",
		Summary:  "Side-by-side listing of differences between FILE1 and FILE2.",
		Options: []command.Option{
			{Short: 'o', Long: "output", Arg: command.RequiredArgument, ArgName: "FILE", Help: "(refused: there is no terminal to ask at)"},
			{Short: 'i', Long: "ignore-case", Help: "consider upper- and lower-case to be the same"},
			{Short: 'E', Long: "ignore-tab-expansion", Help: "ignore changes due to tab expansion"},
			{Short: 'Z', Long: "ignore-trailing-space", Help: "ignore white space at line end"},
			{Short: 'b', Long: "ignore-space-change", Help: "ignore changes in the amount of white space"},
			{Short: 'W', Long: "ignore-all-space", Help: "ignore all white space"},
			{Short: 'B', Long: "ignore-blank-lines", Help: "ignore changes whose lines are all blank"},
			{Short: 'I', Long: "ignore-matching-lines", Arg: command.RequiredArgument, ArgName: "RE", Help: "ignore changes all whose lines match RE"},
			{Long: "strip-trailing-cr", ID: optStripCR, Help: "strip trailing carriage return on input"},
			{Short: 'a', Long: "text", Help: "treat all files as text"},
			{Short: 'w', Long: "width", Arg: command.RequiredArgument, ArgName: "NUM", Help: "output at most NUM (default 130) print columns"},
			{Short: 'l', Long: "left-column", Help: "output only the left column of common lines"},
			{Short: 's', Long: "suppress-common-lines", Help: "do not output common lines"},
			{Short: 't', Long: "expand-tabs", Help: "expand tabs to spaces in output"},
			{Long: "tabsize", Arg: command.RequiredArgument, ArgName: "NUM", ID: optTabSize, Help: "tab stops at every NUM (default 8) print columns"},
			{Short: 'd', Long: "minimal", Help: "try hard to find a smaller set of changes"},
			{Short: 'H', Long: "speed-large-files", Help: "(ignored)"},
			{Long: "diff-program", Arg: command.RequiredArgument, ArgName: "PROGRAM", ID: optDiffProgram, Help: "use PROGRAM to compare files"},
			{Short: 'v'},
		},
		UsageStatus: exitTrouble,
		UsageHint:   "sdiff: Try 'sdiff --help' for more information.",
		Notes:       "If a FILE is '-', read standard input.\nExit status is 0 if inputs are the same, 1 if different, 2 if trouble.",
	}, sdiff)
}

// sdiff runs diff, as the real one does: messages are diff's too.
func sdiff(ctx context.Context, c *command.Context, args []string) int {
	line := []string{"diff", "-y"}
	program := ""
	p := c.Options(args)
	for p.Next() {
		switch id := p.ID(); id {
		case 'o':
			c.Errorf("--output: there is no terminal to ask at")
			return exitTrouble
		case 'W':
			line = append(line, "-w")
		case 'I':
			line = append(line, "-I"+p.Arg())
		case optStripCR:
			line = append(line, "--strip-trailing-cr")
		case 'w':
			line = append(line, "-W"+p.Arg())
		case 'l':
			line = append(line, "--left-column")
		case 's':
			line = append(line, "--suppress-common-lines")
		case optTabSize:
			line = append(line, "--tabsize="+p.Arg())
		case optDiffProgram:
			program = p.Arg()
		case 'v':
			c.Stdout.WriteString("sdiff (vfsd)\n")
			return exitSame
		default:
			line = append(line, "-"+string(rune(id)))
		}
	}
	files, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(files) < 2:
		after := args[len(args)-1]
		if len(files) > 0 {
			after = files[len(files)-1]
		}
		return c.Usage("missing operand after '%s'", after)
	case len(files) > 2:
		return c.Usage("extra operand '%s'", files[2])
	}
	if program != "" {
		line[0] = program
	}
	status, err := c.Exec(ctx, append(append(line, "--"), files...)...)
	if err != nil {
		c.Errorf("%s: %s", line[0], command.Strerror(err))
		return exitTrouble
	}
	return status
}
