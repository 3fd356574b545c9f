package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/vfsd/vfsd/internal/control"
)

const execLong = `Run a script, or a command, in a workspace: mounted or not, within microseconds
and without a process. The shell is Bash, with the GNU tools built in; it sees the
workspace and nothing else of this machine. A mount of the workspace shows each
change at once, and the other way round.

The exit code is the script's, its output comes byte for byte as it is written.
When vfsctl itself fails the exit code is 125, after wrong usage 2.

A script is bounded: --limit shows the names and takes e.g. memory=64M, steps=1e6
or time=5s; -1 is no limit. One that meets a limit says so and ends with 2, for
time with 124.

With --session the shell keeps variables, functions, options and the working
directory for the next execution of that name. With --detach the execution goes
on by itself and its ID is printed. --attach follows one, from its beginning or
from a byte of its output (--from), and ends with its exit code; --kill ends it.
Both need the daemon, which is started if none runs.`

const execExample = `  vfsctl exec ws -c 'grep -rn TODO . | sort | head'
  vfsctl exec ws -- ls -l src
  tar c . | vfsctl exec ws --stdin -c 'tar x'
  vfsctl exec ws --session s -c 'cd src; x=1'
  vfsctl exec ws --session s -c 'pwd; echo $x'
  vfsctl exec ws --detach --timeout 1h -c 'make all'
  vfsctl exec --attach ID`

// exitExec is the exit code when vfsctl itself fails: 126 and 127 are the
// shell's.
const exitExec = 125

// exitStatus is the error of a command that ends with an exit code of its own
// and has said all there is to say.
type exitStatus int

func (e exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(e)) }

type execOptions struct {
	*options
	req     control.ExecRequest
	limits  []string
	timeout time.Duration
	attach  string
	from    int64
	kill    string
	signal  string
}

func newExec(o *options, s streams) *cobra.Command {
	x := &execOptions{options: o}
	cmd := &cobra.Command{
		Use:     "exec WORKSPACE [-c SCRIPT [PARAM...] | -- COMMAND [ARG...]]",
		Short:   "Run a script in a workspace",
		Long:    execLong,
		Example: execExample,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExec(cmd, x, s, args)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&x.req.Script, "command", "c", "", "`script` to run; what follows are $0, $1 and so on")
	f.StringVar(&x.req.Dir, "cwd", "", "working `directory` in the workspace; default is its root, or where the session is")
	f.StringArrayVarP(&x.req.Env, "env", "e", nil, "set a variable, `K=V`; may be given again")
	f.DurationVar(&x.timeout, "timeout", 0, "end it after so `long`, with exit code 124")
	f.StringArrayVar(&x.limits, "limit", nil, "bound it, `NAME=VALUE`: "+strings.Join(limitNames(), ", "))
	f.BoolVarP(&x.req.Input, "stdin", "i", false, "pass standard input; without it the input is empty")
	f.StringVar(&x.req.Session, "session", "", "run in the session of that `name`, made if there is none")
	f.BoolVar(&x.req.Detach, "detach", false, "print its ID and let it run")
	f.StringVar(&x.attach, "attach", "", "follow the execution with this `ID`")
	f.Int64Var(&x.from, "from", 0, "with --attach, skip so many `bytes` of output")
	f.StringVar(&x.kill, "kill", "", "end the execution with this `ID`")
	f.StringVar(&x.signal, "signal", "KILL", "with --kill, the `name` of the signal")
	jsonFlag(cmd, o)
	f.Lookup("json").Usage = "report events as JSON, one a line, and the execution last"
	completeOption(cmd, "limit", cobra.FixedCompletions(limitCompletions(), cobra.ShellCompDirectiveNoSpace|cobra.ShellCompDirectiveNoFileComp))
	completeOption(cmd, "attach", completeExecutions(o, false))
	completeOption(cmd, "kill", completeExecutions(o, true))
	completeOption(cmd, "signal", cobra.FixedCompletions([]string{"INT", "TERM", "HUP", "KILL", "USR1", "USR2"}, cobra.ShellCompDirectiveNoFileComp))
	for _, name := range []string{"command", "cwd", "env", "timeout", "session", "from"} {
		completeOption(cmd, name, cobra.NoFileCompletions)
	}
	return cmd
}

func runExec(cmd *cobra.Command, x *execOptions, s streams, args []string) error {
	ctx := cmd.Context()
	usage := func(format string, a ...any) error {
		return control.Errorf(control.KindUsage, "exec: "+format+"; see vfsctl exec --help", a...)
	}
	switch {
	case x.attach != "" && x.kill != "", (x.attach != "" || x.kill != "") && len(args) > 0:
		return usage("--attach and --kill stand alone")
	case x.kill != "":
		return runExecKill(ctx, x, s)
	case x.attach != "":
		return execEnd(ctx, s, x.run(ctx, s, nil))
	case len(args) == 0:
		return usage("it takes a workspace")
	}
	if err := x.parse(cmd, args); err != nil {
		return usage("%w", err)
	}
	return execEnd(ctx, s, x.run(ctx, s, s.In))
}

// parse takes the arguments and options apart.
func (x *execOptions) parse(cmd *cobra.Command, args []string) error {
	x.req.Workspace = args[0]
	rest := args[1:]
	script := cmd.Flags().Changed("command")
	switch {
	case cmd.ArgsLenAtDash() == 0:
		return errors.New("the workspace comes before the --")
	case script && x.req.Script == "":
		return errors.New("-c was given an empty script")
	case script && len(rest) > 0:
		x.req.Name, x.req.Params = rest[0], rest[1:] // as with bash
	case !script && len(rest) == 0:
		return errors.New("give -c SCRIPT, or -- COMMAND")
	case !script:
		x.req.Args = rest
	}
	if x.timeout < 0 {
		return fmt.Errorf("--timeout %v: it takes a time to come", x.timeout)
	}
	for _, kv := range x.req.Env {
		if name, _, ok := strings.Cut(kv, "="); !ok || name == "" {
			return fmt.Errorf("--env %s: it takes NAME=VALUE", control.Word(kv))
		}
	}
	for _, text := range x.limits {
		if err := setLimit(&x.req.Limits, text); err != nil {
			return err
		}
	}
	if x.timeout > 0 {
		x.req.Limits.Time = int64(x.timeout)
	}
	r := &x.req
	r.UID, r.GID = uint32(os.Getuid()), uint32(os.Getgid())
	r.ScriptBytes, r.DirBytes = control.Bytes(r.Script), control.Bytes(r.Dir)
	r.ParamsBytes, r.ArgsBytes, r.EnvBytes = control.ListBytes(r.Params), control.ListBytes(r.Args), control.ListBytes(r.Env)
	return nil
}

// execEnd gives an error of vfsctl itself the exit code that cannot be taken for
// one of most scripts.
func execEnd(ctx context.Context, s streams, err error) error {
	var status exitStatus
	if err == nil || errors.As(err, &status) || control.KindOf(err) == control.KindUsage {
		return err
	}
	if ctx.Err() != nil {
		return exitStatus(128 + int(syscall.SIGINT))
	}
	fmt.Fprintf(s.Err, "vfsctl: %s\n", control.AsError(err).Message)
	return exitStatus(exitExec)
}

// connect asks the daemon; what outlives this process needs one.
func (x *execOptions) connect(ctx context.Context) (*session, error) {
	if x.req.Detach || x.req.Session != "" {
		c, _, err := connectDaemon(ctx, x.options)
		return c, err
	}
	return connect(ctx, x.options)
}

// run runs an execution, or attaches to one, and passes its streams.
func (x *execOptions) run(ctx context.Context, s streams, stdin io.Reader) error {
	c, err := x.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(x.options)
	if x.req.Detach {
		e, err := control.ExecStream.Do(ctx, c.Client, x.req, nil, nil)
		if err != nil {
			return err
		}
		if x.json {
			return s.printJSON(e)
		}
		s.printf("%s\n", e.ID)
		return nil
	}
	// An interrupt is for the script, which may trap it; a second one ends the
	// connection, and with it the execution.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	p := &execPrinter{s: s, json: x.json, end: end, begun: make(chan string, 1)}
	if x.attach == "" {
		go forwardInterrupts(ctx, life, end, c.Client, p.begun, x.req.Input, stdin)
	} else {
		context.AfterFunc(ctx, end)
	}
	var e control.Execution
	if x.attach != "" {
		e, err = control.ExecFollow.Do(life, c.Client, control.ExecFollowRequest{ID: x.attach, From: x.from}, nil, p.event)
	} else {
		e, err = control.ExecStream.Do(life, c.Client, x.req, nil, p.event)
	}
	switch {
	case p.failed != nil: // nobody reads: as a process that SIGPIPE ended
		return exitStatus(128 + int(syscall.SIGPIPE))
	case err != nil:
		return err
	}
	return x.report(s, e)
}

// report ends as the execution did.
func (x *execOptions) report(s streams, e control.Execution) error {
	if x.json {
		if err := printJSONLine(s.Out, map[string]any{"execution": e}); err != nil {
			return err
		}
	}
	switch {
	case e.State == "lost":
		return control.Errorf(control.KindNotFound, "execution %s was running when the daemon died; what it had written is above", e.ID)
	case e.Error != "":
		fmt.Fprintf(s.Err, "vfsctl: the script met a defect of vfsd: %s; the daemon's log has more\n", control.Line(e.Error))
	}
	if e.Status != 0 {
		return exitStatus(e.Status)
	}
	return nil
}

// forwardInterrupts passes interrupts, and the input if there is one, to the
// execution once it has begun.
func forwardInterrupts(ctx, life context.Context, end func(), c *control.Client, begun <-chan string, input bool, stdin io.Reader) {
	id := ""
	select {
	case id = <-begun:
	case <-ctx.Done():
		end()
		return
	case <-life.Done():
		return
	}
	if input {
		go passInput(life, c, id, stdin)
	}
	select {
	case <-life.Done():
		return
	case <-ctx.Done():
	}
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGINT, syscall.SIGTERM)
	defer signal.Stop(again)
	if _, err := control.ExecKillCall.Do(life, c, control.ExecKillRequest{ID: id, Signal: "INT"}); err != nil {
		end()
		return
	}
	select {
	case <-again:
		end()
	case <-life.Done():
	}
}

// inputChunk is how much input travels in one call.
const inputChunk = 256 << 10

// passInput passes standard input on until either side is done. An error ends
// the input; the execution's own end tells what became of it.
func passInput(ctx context.Context, c *control.Client, id string, stdin io.Reader) {
	buf := make([]byte, inputChunk)
	for {
		n, rerr := stdin.Read(buf)
		res, err := control.ExecInputCall.Do(ctx, c, control.ExecInputRequest{ID: id, Data: buf[:n], End: rerr != nil})
		if err != nil || rerr != nil || !res.Reads {
			return
		}
	}
}

// execPrinter writes what an execution writes.
type execPrinter struct {
	s      streams
	json   bool
	end    func()
	begun  chan string
	failed error
}

func (p *execPrinter) event(e control.ExecEvent) {
	if e.Kind == control.ExecBegun {
		select {
		case p.begun <- e.ID:
		default:
		}
	}
	if p.failed != nil {
		return
	}
	switch {
	case p.json:
		p.failed = printJSONLine(p.s.Out, e)
	case e.Kind == control.ExecStdout:
		_, p.failed = p.s.Out.Write(e.Data)
	case e.Kind == control.ExecStderr:
		_, p.failed = p.s.Err.Write(e.Data)
	case e.Kind == control.ExecGap:
		_, p.failed = fmt.Fprintf(p.s.Err, "vfsctl: %d bytes of output were not kept\n", e.Lost)
	}
	if p.failed != nil {
		p.end()
	}
}

func runExecKill(ctx context.Context, x *execOptions, s streams) error {
	e, err := call(ctx, x.options, control.ExecKillCall, control.ExecKillRequest{ID: x.kill, Signal: x.signal})
	if err != nil {
		return err
	}
	if x.json {
		return s.printJSON(e)
	}
	if e.State == "ended" || e.State == "lost" {
		s.printf("%s had ended already\n", e.ID)
		return nil
	}
	s.printf("sent %s to %s\n", strings.ToUpper(strings.TrimPrefix(x.signal, "SIG")), e.ID)
	return nil
}
