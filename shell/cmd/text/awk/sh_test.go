package awk_test

import (
	"bytes"
	"context"
	"strconv"
	"strings"

	_ "github.com/vfsd/vfsd/shell/cmd/files" // cat
	_ "github.com/vfsd/vfsd/shell/cmd/text"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{Name: "sh", RawArgs: true}, sh)
}

// sh is as much of a shell as the tests of system() and of pipes need: commands
// with | and ; between them, and exit.
func sh(ctx context.Context, c *command.Context, args []string) int {
	status := 0
	for _, list := range strings.Split(args[2], ";") {
		in := c.Stdin
		stages := strings.Split(list, "|")
		for i, stage := range stages {
			words := strings.Fields(strings.ReplaceAll(stage, "'", ""))
			if len(words) == 0 {
				continue
			}
			if words[0] == "exit" {
				n, _ := strconv.Atoi(words[1])
				return n
			}
			child := &command.Child{Args: words, Stdin: in}
			var out bytes.Buffer
			if i < len(stages)-1 {
				child.Stdout = &out
			}
			var err error
			if status, err = c.Run(ctx, child); err != nil {
				c.Errorf("1: %s: not found", words[0])
				status = 127
			}
			in = &out
		}
	}
	return status
}
