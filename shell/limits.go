package shell

import (
	"errors"
	"fmt"
	"time"
)

// Limits bound one execution. A zero field means the default; a negative one
// means no limit.
type Limits struct {
	// Time is how long it may run.
	Time time.Duration
	// Steps counts commands, loop turns and expansions.
	Steps int64
	// Depth is how deeply functions, subshells, substitutions and sourced
	// scripts may nest.
	Depth int
	// Output is in bytes, on standard output and standard error together.
	Output int64
	// Memory is in bytes, of variables, captured output, pipes and what commands
	// announce.
	Memory int64
	// OpenFiles counts open files at one time.
	OpenFiles int
	// FileSize is in bytes, of any file written to.
	FileSize int64
	// Processes counts those that live at one time.
	Processes int
}

// DefaultLimits are generous for a script and harmless for the daemon.
var DefaultLimits = Limits{
	Time:      10 * time.Minute,
	Steps:     100_000_000,
	Depth:     10000,
	Output:    256 << 20,
	Memory:    256 << 20,
	OpenFiles: 1024,
	FileSize:  16 << 30,
	Processes: 512,
}

// or fills zero fields from the defaults.
func (l Limits) or(d Limits) Limits {
	if l.Time == 0 {
		l.Time = d.Time
	}
	if l.Steps == 0 {
		l.Steps = d.Steps
	}
	if l.Depth == 0 {
		l.Depth = d.Depth
	}
	if l.Output == 0 {
		l.Output = d.Output
	}
	if l.Memory == 0 {
		l.Memory = d.Memory
	}
	if l.OpenFiles == 0 {
		l.OpenFiles = d.OpenFiles
	}
	if l.FileSize == 0 {
		l.FileSize = d.FileSize
	}
	if l.Processes == 0 {
		l.Processes = d.Processes
	}
	return l
}

// LimitError is why an execution was ended before its script was.
type LimitError struct {
	// Limit names it: "time", "steps", "depth", "output", "memory".
	Limit string
	// Max is the limit, in its unit; nanoseconds for time.
	Max int64
}

// Error is the message that the execution prints.
func (e *LimitError) Error() string {
	switch e.Limit {
	case "time":
		return fmt.Sprintf("time limit exceeded (%v)", time.Duration(e.Max))
	case "output", "memory":
		return fmt.Sprintf("%s limit exceeded (%d bytes)", e.Limit, e.Max)
	}
	return fmt.Sprintf("%s limit exceeded (%d)", e.Limit, e.Max)
}

// limitStatus is the exit status of an execution that a limit ended: what
// timeout(1) gives for time, and Bash's own for a fatal error.
func limitStatus(err error) int {
	var l *LimitError
	if errors.As(err, &l) && l.Limit == "time" {
		return 124
	}
	return 2
}

// errEnded is the cause of the contexts of what outlives the main shell.
var errEnded = errors.New("the execution ended")
