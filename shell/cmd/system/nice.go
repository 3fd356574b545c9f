package system

import (
	"context"
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func nice(ctx context.Context, c *command.Context, args []string) int {
	// The old form: nice -5 command.
	for i := 1; i < len(args) && len(args[i]) > 1 && args[i][0] == '-'; i++ {
		if n := strings.TrimLeft(args[i][1:], "-+"); n != "" && strings.Trim(n, "0123456789") == "" {
			args = append(append(append([]string{}, args[:i]...), "-n"+args[i][1:]), args[i+1:]...)
		} else {
			break
		}
	}
	adjust := false
	p := c.Options(args)
	for p.Next() {
		if _, err := strconv.Atoi(p.Arg()); err != nil {
			return c.Errorf("invalid adjustment %s", c.Quote(p.Arg())) + 124
		}
		adjust = true
	}
	operands, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(operands) == 0 && adjust:
		return c.Usage("a command must be given with an adjustment")
	case len(operands) == 0:
		c.Stdout.WriteString("0\n")
		return 0
	}
	return execAs(ctx, c, &command.Child{Args: operands})
}

// execAs runs the command that nice and its kin are given.
func execAs(ctx context.Context, c *command.Context, child *command.Child) int {
	status, err := c.Run(ctx, child)
	if err == nil {
		return status
	}
	verb := "%s: %s"
	if c.Command.Name == "nohup" || c.Command.Name == "stdbuf" {
		verb = "failed to run command %s: %s"
	} else if c.Command.Name == "setsid" {
		verb = "failed to execute %s: %s"
	}
	name := c.Quote(child.Args[0])
	if c.Command.Name == "setsid" {
		name = child.Args[0]
	}
	c.Errorf(verb, name, command.Strerror(err))
	if vfs.ToErrno(err) == syscall.ENOENT {
		return 127
	}
	return 126
}

func nohup(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) == 0 {
		return c.MissingOperand("")
	}
	return execAs(ctx, c, &command.Child{Args: operands, Ignore: []command.Signal{command.SIGHUP}})
}

func setsid(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) == 0 {
		return c.Usage("no command specified")
	}
	return execAs(ctx, c, &command.Child{Args: operands})
}

func stdbuf(ctx context.Context, c *command.Context, args []string) int {
	some := false
	p := c.Options(args)
	for p.Next() {
		some = true
		if v := p.Arg(); v != "L" && v != "0" {
			if _, err := gnulib.ParseSize(v, "EGkKMPTYZ0"); err != nil {
				return c.Errorf("invalid mode %s", c.Quote(v)) + 124
			}
		} else if v == "L" && p.ID() == 'i' {
			return c.Usage("line buffering stdin is meaningless")
		}
	}
	operands, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(operands) == 0:
		return c.MissingOperand("")
	case !some:
		return c.Usage("you must specify a buffering mode option")
	}
	return execAs(ctx, c, &command.Child{Args: operands})
}

func tty(ctx context.Context, c *command.Context, args []string) int {
	silent := false
	p := c.Options(args)
	for p.Next() {
		silent = true
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) > 0 {
		return c.ExtraOperand(operands[0])
	}
	if !silent {
		c.Stdout.WriteString("not a tty\n")
	}
	return 1
}
