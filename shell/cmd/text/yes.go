package text

import (
	"context"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "yes",
		Synopsis: "yes [STRING]...",
		Summary:  "Repeatedly output a line with all specified STRING(s), or 'y'.",
	}, yes)
}

func yes(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
	}
	words, status, stop := p.End()
	if stop {
		return status
	}
	line := "y\n"
	if len(words) > 0 {
		line = strings.Join(words, " ") + "\n"
	}
	chunk := []byte(strings.Repeat(line, max(1, copySize/len(line))))
	for ctx.Err() == nil {
		if _, err := c.Stdout.Write(chunk); err != nil {
			return 1
		}
	}
	return 1
}
