package system

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

const (
	timeoutPreserve = 256 + iota
	timeoutForeground
)

func init() {
	command.Register(command.Info{
		Name:     "sleep",
		Synopsis: "sleep NUMBER[SUFFIX]...\nsleep OPTION",
		Summary:  "Pause for NUMBER seconds.  SUFFIX may be 's' for seconds (the default),\n'm' for minutes, 'h' for hours or 'd' for days.",
	}, sleep)
	command.Register(command.Info{
		Name:          "timeout",
		Synopsis:      "timeout [OPTION] DURATION COMMAND [ARG]...\ntimeout [OPTION]",
		Summary:       "Start COMMAND, and kill it if still running after DURATION.",
		UsageStatus:   125,
		StopAtOperand: true,
		Options: []command.Option{
			{Long: "preserve-status", ID: timeoutPreserve, Help: "exit with the same status as COMMAND, even when the\ncommand times out"},
			{Long: "foreground", ID: timeoutForeground, Help: "(ignored)"},
			{Short: 'k', Long: "kill-after", Arg: command.RequiredArgument, ArgName: "DURATION", Help: "also send a KILL signal if COMMAND is still running\nthis long after the initial signal was sent"},
			{Short: 's', Long: "signal", Arg: command.RequiredArgument, ArgName: "SIGNAL", Help: "specify the signal to be sent on timeout"},
			{Short: 'v', Long: "verbose", Help: "diagnose to stderr any signal sent upon timeout"},
		},
		Notes: "Upon timeout, send the TERM signal to COMMAND, if no other SIGNAL specified.\nEXIT status:\n  124  if COMMAND times out, and --preserve-status is not specified\n  125  if the timeout command itself fails\n  126  if COMMAND is found but cannot be invoked\n  127  if COMMAND cannot be found\n  137  if COMMAND is sent the KILL (9) signal (128+9)\n  -    the exit status of COMMAND otherwise",
	}, timeout)
	command.Register(command.Info{
		Name:          "time",
		Synopsis:      "time [-p] COMMAND [ARG]...",
		Summary:       "Run COMMAND, then print the time it took.",
		StopAtOperand: true,
		Options:       []command.Option{{Short: 'p', Long: "portability", Help: "print in the format of POSIX"}},
	}, timeCommand)
}

// parseDuration reads a number with a suffix s, m, h or d.
func parseDuration(s string) (time.Duration, bool) {
	num, unit := s, time.Second
	if n := len(s) - 1; n > 0 {
		switch s[n] {
		case 's':
			num = s[:n]
		case 'm':
			num, unit = s[:n], time.Minute
		case 'h':
			num, unit = s[:n], time.Hour
		case 'd':
			num, unit = s[:n], 24*time.Hour
		}
	}
	if strings.ContainsAny(num, "_") || num == "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(num, 64)
	if err != nil && !math.IsInf(v, 0) || math.IsNaN(v) || v < 0 {
		return 0, false
	}
	if d := v * float64(unit); d < math.MaxInt64 {
		return time.Duration(math.Ceil(d)), true
	}
	return math.MaxInt64, true
}

func sleep(ctx context.Context, c *command.Context, args []string) int {
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
	var total time.Duration
	bad := false
	for _, op := range operands {
		d, ok := parseDuration(op)
		if !ok {
			c.Errorf("invalid time interval %s", c.Quote(op))
			bad = true
			continue
		}
		if total += d; total < 0 {
			total = math.MaxInt64
		}
	}
	if bad {
		io.WriteString(c.Stderr, "Try 'sleep --help' for more information.\n")
		return 1
	}
	if c.Sleep(ctx, total) != nil {
		return 1
	}
	return 0
}

func timeout(ctx context.Context, c *command.Context, args []string) int {
	preserve, verbose, sig := false, false, command.SIGTERM
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case timeoutPreserve:
			preserve = true
		case 'v':
			verbose = true
		case 'k':
			// One signal always ends a command that runs in the process, so that
			// there is nothing left to kill.
			if _, ok := parseDuration(p.Arg()); !ok {
				return c.Usage("invalid time interval %s", c.Quote(p.Arg()))
			}
		case 's':
			s, ok := command.ParseSignal(p.Arg())
			if !ok {
				return c.Usage("%s: invalid signal", c.Quote(p.Arg()))
			}
			sig = s
		}
	}
	operands, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(operands) < 2:
		io.WriteString(c.Stderr, "Try 'timeout --help' for more information.\n")
		return 125
	}
	d, ok := parseDuration(operands[0])
	if !ok {
		return c.Usage("invalid time interval %s", c.Quote(operands[0]))
	}
	cctx, cancel := ctx, context.CancelFunc(func() {})
	if d > 0 {
		cctx, cancel = command.WithSignalAfter(ctx, d, sig)
	}
	defer cancel()
	status, err := c.Run(cctx, &command.Child{Args: operands[1:]})
	if err != nil {
		return spawnFailed(c, operands[1], err)
	}
	if _, timedOut := command.KilledBy(cctx); timedOut && ctx.Err() == nil {
		if verbose {
			c.Errorf("sending signal %s to command %s", sig.Name(), c.Quote(operands[1]))
		}
		switch {
		case sig == command.SIGKILL:
			return 128 + int(sig)
		case preserve:
			return 128 + int(sig)
		}
		return 124
	}
	return status
}

// spawnFailed reports a command that could not be started: 127 when it is not
// there, 126 for other reasons.
func spawnFailed(c *command.Context, name string, err error) int {
	verb := "failed to run command %s: %s"
	c.Errorf(verb, c.Quote(name), command.Strerror(err))
	if vfs.ToErrno(err) == syscall.ENOENT {
		return 127
	}
	return 126
}

func timeCommand(ctx context.Context, c *command.Context, args []string) int {
	p := c.Options(args)
	for p.Next() {
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) == 0 {
		return 0
	}
	start := time.Now()
	status, err := c.Exec(ctx, operands...)
	if err != nil {
		io.WriteString(c.Stderr, fmt.Sprintf("time: cannot run %s: %s\n", operands[0], command.Strerror(err)))
		status = 127
	}
	// What it took of the processor is not known of a goroutine.
	io.WriteString(c.Stderr, fmt.Sprintf("real %.2f\nuser 0.00\nsys 0.00\n", time.Since(start).Seconds()))
	return status
}
