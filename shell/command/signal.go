package command

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"
)

// Signal is a signal of Linux by its number.
type Signal int

// Signals that the shell itself sends or treats specially.
const (
	SIGHUP  Signal = 1
	SIGINT  Signal = 2
	SIGQUIT Signal = 3
	SIGKILL Signal = 9
	SIGPIPE Signal = 13
	SIGALRM Signal = 14
	SIGTERM Signal = 15
	SIGCHLD Signal = 17
	SIGCONT Signal = 18
	SIGSTOP Signal = 19
	SIGTSTP Signal = 20
	SIGXCPU Signal = 24
)

// signalNames are Linux's names, without SIG, by number.
var signalNames = [...]string{1: "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1",
	"SEGV", "USR2", "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
	"XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS"}

// descriptions are strsignal(3)'s, which the shell prints for a job that a
// signal ended.
var descriptions = [...]string{1: "Hangup", "Interrupt", "Quit", "Illegal instruction", "Trace/breakpoint trap",
	"Aborted", "Bus error", "Floating point exception", "Killed", "User defined signal 1", "Segmentation fault",
	"User defined signal 2", "Broken pipe", "Alarm clock", "Terminated", "Stack fault", "Child exited", "Continued",
	"Stopped (signal)", "Stopped", "Stopped (tty input)", "Stopped (tty output)", "Urgent I/O condition",
	"CPU time limit exceeded", "File size limit exceeded", "Virtual timer expired", "Profiling timer expired",
	"Window changed", "I/O possible", "Power failure", "Bad system call"}

// Signal numbers of the real-time range.
const (
	sigRTMin = 34
	sigRTMax = 64
)

// Name is the signal's name without SIG: "TERM", "RTMIN+1"; "" when there is
// no such signal.
func (s Signal) Name() string {
	switch {
	case s > 0 && int(s) < len(signalNames):
		return signalNames[s]
	case s == sigRTMin:
		return "RTMIN"
	case s == sigRTMax:
		return "RTMAX"
	case s > sigRTMin && s <= (sigRTMin+sigRTMax)/2:
		return "RTMIN+" + strconv.Itoa(int(s-sigRTMin))
	case s > sigRTMin && s < sigRTMax:
		return "RTMAX-" + strconv.Itoa(int(sigRTMax-s))
	}
	return ""
}

// Description is what strsignal(3) says: "Terminated".
func (s Signal) Description() string {
	if s > 0 && int(s) < len(descriptions) {
		return descriptions[s]
	}
	if s >= sigRTMin && s <= sigRTMax {
		return "Real-time signal " + strconv.Itoa(int(s-sigRTMin))
	}
	return "Unknown signal " + strconv.Itoa(int(s))
}

// ParseSignal reads a signal's number or its name, with or without SIG, in
// either case. 0 is the signal that only asks.
func ParseSignal(s string) (Signal, bool) {
	if n, err := strconv.Atoi(s); err == nil {
		return Signal(n), n >= 0 && n <= sigRTMax
	}
	u := strings.TrimPrefix(strings.ToUpper(s), "SIG")
	for n := Signal(1); n <= sigRTMax; n++ {
		if name := n.Name(); name != "" && name == u {
			return n, true
		}
	}
	switch u {
	case "POLL":
		return 29, true
	case "IOT":
		return 6, true
	case "CLD":
		return SIGCHLD, true
	}
	return 0, false
}

// Killed is the cause of a context that a signal ended.
type Killed struct{ Signal Signal }

// Error says which signal it was.
func (k Killed) Error() string { return k.Signal.Description() }

// KilledBy returns the signal that ended a context; false when it has not
// ended or something else ended it.
func KilledBy(ctx context.Context) (Signal, bool) {
	var k Killed
	if errors.As(context.Cause(ctx), &k) {
		return k.Signal, true
	}
	return 0, false
}

// WithSignalAfter returns a context that a signal ends after d: what timeout
// gives its child.
func WithSignalAfter(ctx context.Context, d time.Duration, sig Signal) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, Killed{sig})
}
