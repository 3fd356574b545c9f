// Package command is what an in-process command is written against: its
// context, its table of options, its messages, and the registry that the shell
// looks names up in. A command imports this package and vfs, never the
// evaluator.
//
// A command is one file:
//
//	func init() {
//		command.Register(command.Info{
//			Name:     "nl",
//			Synopsis: "nl [OPTION]... [FILE]...",
//			Summary:  "Write each FILE to standard output, with line numbers added.",
//			Options: []command.Option{
//				{Short: 'b', Long: "body-numbering", Arg: command.RequiredArgument, ArgName: "STYLE", Help: "use STYLE for numbering body lines"},
//			},
//		}, nl)
//	}
//
//	func nl(ctx context.Context, c *command.Context, args []string) int {
//		style := "t"
//		p := c.Options(args)
//		for p.Next() {
//			switch p.ID() {
//			case 'b':
//				style = p.Arg()
//			}
//		}
//		files, status, stop := p.End()
//		if stop {
//			return status
//		}
//		for _, name := range files {
//			f, err := c.Open(name) // "-" is standard input
//			if err != nil {
//				status = c.Fail(name, err) // nl: NAME: No such file or directory
//				continue
//			}
//			...
//			f.Close()
//		}
//		return status
//	}
//
// # Rules
//
// A command reaches files through c.FS (or Open), the time through c.Now,
// other commands through c.Exec, and the world in no other way: it never
// imports os, os/exec, net or syscall calls that do something. (Constants and
// errnos of package syscall are fine.)
//
// Bytes are bytes: no text is decoded that need not be. Memory is bounded
// whatever the size of the input; what has to be held is announced to
// c.Memory first. A loop that does not read or write looks at ctx.Err() now
// and then, and returns when it is not nil: the status is then ignored.
//
// Standard output is buffered: c.Stdout is flushed when the command returns,
// before each c.Exec and by Flush. Standard error is not. After a failed
// write of standard output further work is useless: return. The runner prints
// the "write error" message and sets the status, or, when the reader is gone,
// ends the command as SIGPIPE does.
//
// Every goroutine that a command starts must recover its panics (use Go) and
// must have ended when the command returns.
package command
