// Command vfsctl makes workspaces, mounts them and looks after them.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/vfsd/vfsd/conformance"
	"github.com/vfsd/vfsd/internal/control"
)

func main() {
	conformance.ChildMain() // some of that suite's cases start this binary again
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal is not waited for
	code := run(ctx, os.Args[1:], streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
	stop()
	os.Exit(code)
}

// Exit codes; the help of vfsctl and docs/cli.md list them.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitProblems = 3
)

// errProblems is how check, scrub and doctor end when they found something;
// they have said what.
var errProblems = errors.New("problems were found")

// run carries out one command line and returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var status exitStatus
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &status):
		return int(status)
	case errors.Is(err, errProblems):
		return exitProblems
	case ctx.Err() != nil:
		fmt.Fprintf(s.Err, "vfsctl: %s: interrupted; nothing is half done: what was finished until then is kept (vfsctl status, vfsctl log)\n", cmd.Name())
		return exitError
	}
	fmt.Fprintf(s.Err, "vfsctl: %s\n", control.AsError(err).Message)
	if control.KindOf(err) == control.KindUsage {
		return exitUsage
	}
	return exitError
}
