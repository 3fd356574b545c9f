package command

import (
	"fmt"
	"io"
)

// Errorf prints "NAME: message" on standard error, and returns 1 for a command
// to return or remember.
func (c *Context) Errorf(format string, args ...any) int {
	msg := fmt.Sprintf(format, args...)
	io.WriteString(c.Stderr, c.Command.Name+": "+msg+"\n")
	return 1
}

// Fail prints "NAME: path: cause", the path quoted if need be, and returns 1.
func (c *Context) Fail(path string, err error) int {
	return c.Errorf("%s: %s", c.QuoteName(path), Strerror(err))
}

// Usage prints "NAME: message" and where to find help, and returns the status
// of a usage error.
func (c *Context) Usage(format string, args ...any) int {
	hint := c.Command.UsageHint
	if hint == "" {
		hint = "Try '" + c.Command.Name + " --help' for more information."
	}
	c.Errorf("%s\n%s", fmt.Sprintf(format, args...), hint)
	return c.UsageStatus()
}

// UsageStatus is the status of a usage error.
func (c *Context) UsageStatus() int {
	if c.Command.Info.UsageStatus != 0 {
		return c.Command.Info.UsageStatus
	}
	return 1
}

// MissingOperand reports that the command needs an operand; after is the last
// one given, or "".
func (c *Context) MissingOperand(after string) int {
	if after == "" {
		return c.Usage("missing operand")
	}
	return c.Usage("missing operand after %s", c.Quote(after))
}

// ExtraOperand reports an operand too many.
func (c *Context) ExtraOperand(operand string) int {
	return c.Usage("extra operand %s", c.Quote(operand))
}
