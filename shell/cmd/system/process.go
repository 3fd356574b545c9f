package system

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "ps",
		Synopsis: "ps [options]",
		Summary:  "Report a snapshot of the processes of this execution.",
		RawArgs:  true,
		Notes:    "  -e -A aux ax   all processes    -f  full listing    -o FORMAT  columns:\n  pid ppid pgid user uid args cmd comm stat start time etime tty\n  -p PIDS        those only       -h --no-headers     no header",
	}, ps)
	command.Register(command.Info{
		Name:     "kill",
		Synopsis: "kill [-s SIGNAL | -SIGNAL] PID...\nkill -l [SIGNAL]...",
		Summary:  "Send signals to processes, or list signals.",
		RawArgs:  true,
	}, kill)
	patterns := []command.Option{
		{Short: 'f', Long: "full", Help: "use full process name to match"},
		{Short: 'x', Long: "exact", Help: "match exactly with the command name"},
		{Short: 'n', Long: "newest", Help: "select most recently started"},
		{Short: 'o', Long: "oldest", Help: "select least recently started"},
		{Short: 'v', Long: "inverse", Help: "negates the matching"},
		{Short: 'c', Long: "count", Help: "count of matching processes"},
		{Short: 'i', Long: "ignore-case", Help: "match case insensitively"},
		{Short: 'l', Long: "list-name", Help: "list PID and process name"},
		{Short: 'a', Long: "list-full", Help: "list PID and full command line"},
		{Short: 'd', Long: "delimiter", Arg: command.RequiredArgument, ArgName: "STRING", Help: "specify output delimiter"},
		{Short: 'P', Long: "parent", Arg: command.RequiredArgument, ArgName: "PPID", Help: "match only child processes of the given parent"},
	}
	command.Register(command.Info{Name: "pgrep", Synopsis: "pgrep [options] <pattern>", Summary: "List the processes whose names match a pattern.", UsageStatus: 2, Options: patterns}, pgrep)
	command.Register(command.Info{Name: "pkill", Synopsis: "pkill [options] <pattern>", Summary: "Signal the processes whose names match a pattern.", UsageStatus: 2,
		Options: append([]command.Option{{Long: "signal", Arg: command.RequiredArgument, ArgName: "SIG", ID: 256, Help: "signal to send (either number or name)"}, {Short: 'e', Long: "echo", Help: "display what is killed"}}, patterns...)}, pgrep)
	command.Register(command.Info{
		Name: "nice", Synopsis: "nice [OPTION] [COMMAND [ARG]...]", UsageStatus: 125, StopAtOperand: true,
		Summary: "Run COMMAND with an adjusted niceness, which has no effect here.\nWith no COMMAND, print the current niceness.",
		Options: []command.Option{{Short: 'n', Long: "adjustment", Arg: command.RequiredArgument, ArgName: "N", Help: "add integer N to the niceness (default 10)"}},
	}, nice)
	command.Register(command.Info{Name: "nohup", Synopsis: "nohup COMMAND [ARG]...", UsageStatus: 125, StopAtOperand: true, Summary: "Run COMMAND, ignoring hangup signals."}, nohup)
	command.Register(command.Info{Name: "setsid", Synopsis: "setsid [options] <program> [arguments ...]", StopAtOperand: true, Summary: "Run a program in a new session, which is the same here.",
		Options: []command.Option{{Short: 'c', Long: "ctty", Help: "(ignored)"}, {Short: 'f', Long: "fork", Help: "(ignored)"}, {Short: 'w', Long: "wait", Help: "(ignored)"}}}, setsid)
	command.Register(command.Info{Name: "stdbuf", Synopsis: "stdbuf OPTION... COMMAND", UsageStatus: 125, StopAtOperand: true, Summary: "Run COMMAND; buffering is as it is.",
		Options: []command.Option{{Short: 'i', Long: "input", Arg: command.RequiredArgument, ArgName: "MODE", Help: "(ignored)"}, {Short: 'o', Long: "output", Arg: command.RequiredArgument, ArgName: "MODE", Help: "(ignored)"}, {Short: 'e', Long: "error", Arg: command.RequiredArgument, ArgName: "MODE", Help: "(ignored)"}}}, stdbuf)
	command.Register(command.Info{Name: "tty", Synopsis: "tty [OPTION]...", Summary: "Print the file name of the terminal connected to standard input.", UsageStatus: 2,
		Options: []command.Option{{Short: 's', Long: "silent", Help: "print nothing, only return an exit status"}, {Long: "quiet", ID: 's'}}}, tty)
}

// column is one of ps.
type column struct {
	head  string
	right bool
	value func(p *command.Process) string
}

func columnOf(c *command.Context, name string) (column, bool) {
	loc := tz.Of(c)
	id := func(head string, f func(p *command.Process) int) column {
		return column{head, true, func(p *command.Process) string { return strconv.Itoa(f(p)) }}
	}
	switch name {
	case "pid":
		return id("PID", func(p *command.Process) int { return p.PID }), true
	case "ppid":
		return id("PPID", func(p *command.Process) int { return p.PPID }), true
	case "pgid", "pgrp", "sid", "sess":
		return id("PGID", func(p *command.Process) int { return p.Group }), true
	case "uid", "euid":
		return id("UID", func(p *command.Process) int { return int(p.UID) }), true
	case "user", "euser":
		return column{"USER", false, func(p *command.Process) string { s, _ := userName(c, p.UID); return s }}, true
	case "args", "cmd", "command":
		head := map[string]string{"args": "COMMAND", "cmd": "CMD", "command": "COMMAND"}[name]
		return column{head, false, func(p *command.Process) string { return strings.Join(p.Args, " ") }}, true
	case "comm", "ucmd":
		return column{"COMMAND", false, processName}, true
	case "tty", "tt", "tname":
		return column{"TTY", false, func(*command.Process) string { return "?" }}, true
	case "stat", "s", "state":
		return column{"STAT", false, func(*command.Process) string { return "S" }}, true
	case "time", "cputime":
		return column{"TIME", true, func(*command.Process) string { return "00:00:00" }}, true
	case "start", "stime", "start_time", "lstart":
		return column{"STARTED", true, func(p *command.Process) string { return gnulib.Strftime("%H:%M:%S", p.Start.In(loc)) }}, true
	case "etime":
		return column{"ELAPSED", true, func(p *command.Process) string {
			d := c.Now().Sub(p.Start)
			return fmt.Sprintf("%02d:%02d", int(d/time.Minute), int(d/time.Second)%60)
		}}, true
	case "pcpu", "%cpu", "pmem", "%mem":
		return column{strings.ToUpper(strings.Replace(name, "p", "%", 1)), true, func(*command.Process) string { return "0.0" }}, true
	case "vsz", "rss", "sz", "ni":
		return column{strings.ToUpper(name), true, func(*command.Process) string { return "0" }}, true
	}
	return column{}, false
}

func processName(p *command.Process) string {
	if len(p.Args) == 0 {
		return ""
	}
	return gnulib.Base(p.Args[0])
}

func ps(ctx context.Context, c *command.Context, args []string) int {
	names := []string{"pid", "tty", "time", "comm"}
	custom, headers := false, true
	var pids map[int]bool
	for i := 1; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "--help":
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case a == "--no-headers" || a == "--no-heading" || a == "h" || a == "-h":
			headers = false
		case a == "-f" || a == "-ef" || a == "-Af" || a == "-eF":
			names = []string{"user", "pid", "ppid", "pcpu", "start", "tty", "time", "cmd"}
		case a == "aux" || a == "-aux" || a == "auxww" || a == "auxf":
			names = []string{"user", "pid", "pcpu", "pmem", "vsz", "rss", "tty", "stat", "start", "time", "command"}
		case strings.HasPrefix(a, "-o") || a == "--format" || a == "-eo" || strings.HasPrefix(a, "--format="):
			list := strings.TrimPrefix(strings.TrimPrefix(a, "--format="), "-o")
			if a == "-o" || a == "--format" || a == "-eo" {
				if i++; i >= len(args) {
					return c.Errorf("format specification must follow -o")
				}
				list = args[i]
			}
			if !custom {
				names, custom = nil, true
			}
			names = append(names, strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })...)
		case a == "-p" || strings.HasPrefix(a, "-p") || a == "--pid":
			list := a[2:]
			if list == "" || a == "--pid" {
				if i++; i >= len(args) {
					return c.Errorf("list of process IDs must follow -p")
				}
				list = args[i]
			}
			pids = map[int]bool{}
			for _, f := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' }) {
				n, err := strconv.Atoi(f)
				if err != nil {
					return c.Errorf("process ID list syntax error")
				}
				pids[n] = true
			}
		case strings.Trim(a, "-eAaxwuflL") == "":
		default:
			return c.Errorf("error: unsupported option %s", c.Quote(a))
		}
	}
	return printProcesses(c, names, headers, pids)
}

func printProcesses(c *command.Context, names []string, headers bool, pids map[int]bool) int {
	var cols []column
	heads := []string{}
	for _, name := range names {
		name, head, renamed := strings.Cut(name, "=")
		col, ok := columnOf(c, name)
		if !ok {
			return c.Errorf("error: unknown user-defined format specifier %q", name)
		}
		if renamed {
			col.head = head
		}
		cols = append(cols, col)
		heads = append(heads, col.head)
	}
	var rows [][]string
	if headers && strings.Join(heads, "") != "" {
		rows = append(rows, heads)
	}
	found := false
	procs := c.System.Processes()
	for i := range procs {
		if pids != nil && !pids[procs[i].PID] {
			continue
		}
		found = true
		row := make([]string, len(cols))
		for j, col := range cols {
			row[j] = col.value(&procs[i])
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(cols))
	for j := range cols {
		if cols[j].head == "PID" || cols[j].head == "PPID" {
			widths[j] = 5
		}
		for _, row := range rows {
			widths[j] = max(widths[j], len(row[j]))
		}
	}
	for _, row := range rows {
		var b strings.Builder
		for j, v := range row {
			if j > 0 {
				b.WriteByte(' ')
			}
			switch {
			case cols[j].right:
				fmt.Fprintf(&b, "%*s", widths[j], v)
			case j == len(row)-1:
				b.WriteString(v)
			default:
				fmt.Fprintf(&b, "%-*s", widths[j], v)
			}
		}
		c.Stdout.WriteString(b.String() + "\n")
	}
	if !found {
		return 1
	}
	return 0
}

func kill(ctx context.Context, c *command.Context, args []string) int {
	sig := command.SIGTERM
	rest := args[1:]
	for len(rest) > 0 && len(rest[0]) > 1 && rest[0][0] == '-' {
		a := rest[0]
		rest = rest[1:]
		if a == "--" {
			break
		}
		switch {
		case a == "-l" || a == "-L" || a == "--list" || a == "--table":
			return listSignals(c, rest)
		case a == "-s" || a == "--signal" || a == "-n":
			if len(rest) == 0 {
				return c.Errorf("option requires an argument -- 's'")
			}
			a, rest = rest[0], rest[1:]
		default:
			a = a[1:]
		}
		s, ok := command.ParseSignal(a)
		if !ok {
			return c.Errorf("unknown signal: %s", a)
		}
		sig = s
		break
	}
	if len(rest) == 0 {
		io.WriteString(c.Stderr, "Usage:\n kill [options] <pid> [...]\n")
		return 1
	}
	status := 0
	for _, a := range rest {
		pid, err := strconv.Atoi(a)
		if err != nil {
			status = c.Errorf("failed to parse argument: '%s'", a)
			continue
		}
		if err := c.System.Signal(pid, sig); err != nil {
			status = c.Errorf("(%d): %s", pid, command.Strerror(err))
		}
	}
	return status
}

// listSignals is kill -l.
func listSignals(c *command.Context, names []string) int {
	status := 0
	if len(names) == 0 {
		var all []string
		for s := command.Signal(1); s <= 31; s++ {
			all = append(all, s.Name())
		}
		c.Stdout.WriteString(strings.Join(all, " ") + "\n")
	}
	for _, a := range names {
		s, ok := command.ParseSignal(a)
		if n, err := strconv.Atoi(a); err == nil && n > 128 {
			s, ok = command.Signal(n-128), command.Signal(n-128).Name() != ""
		}
		switch {
		case !ok:
			status = c.Errorf("unknown signal name %s", a)
		case a[0] >= '0' && a[0] <= '9':
			c.Stdout.WriteString(s.Name() + "\n")
		default:
			fmt.Fprintf(c.Stdout, "%d\n", s)
		}
	}
	return status
}

func pgrep(ctx context.Context, c *command.Context, args []string) int {
	flags := map[int]bool{}
	sig, sep, parent := command.SIGTERM, "\n", 0
	if kills := c.Command.Name == "pkill"; kills && len(args) > 1 && len(args[1]) > 1 && args[1][0] == '-' {
		if s, ok := command.ParseSignal(args[1][1:]); ok {
			sig, args = s, append([]string{args[0]}, args[2:]...)
		}
	}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 256:
			s, ok := command.ParseSignal(p.Arg())
			if !ok {
				return c.Usage("Unknown signal %q.", p.Arg())
			}
			sig = s
		case 'd':
			sep = p.Arg()
		case 'P':
			parent, _ = strconv.Atoi(p.Arg())
			flags['P'] = true
		default:
			flags[p.ID()] = true
		}
	}
	operands, status, stop := p.End()
	switch {
	case stop:
		return status
	case len(operands) == 0 && !flags['P']:
		return c.Usage("no matching criteria specified")
	case len(operands) > 1:
		return c.Usage("only one pattern can be provided")
	}
	pattern := ""
	if len(operands) == 1 {
		pattern = operands[0]
	}
	if flags['x'] {
		pattern = "^(?:" + pattern + ")$"
	}
	if flags['i'] {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return c.Usage("%v", err)
	}
	found := matchProcesses(c, re, flags, parent)
	return reportProcesses(c, found, flags, sep, sig)
}

func matchProcesses(c *command.Context, re *regexp.Regexp, flags map[int]bool, parent int) []command.Process {
	var found []command.Process
	for _, proc := range c.System.Processes() {
		name := processName(&proc)
		if flags['f'] {
			name = strings.Join(proc.Args, " ")
		}
		if proc.PID == c.System.Self(c) || flags['P'] && proc.PPID != parent {
			continue
		}
		if re.MatchString(name) != flags['v'] {
			found = append(found, proc)
		}
	}
	if len(found) > 1 && flags['o'] {
		found = found[:1]
	}
	if len(found) > 1 && flags['n'] {
		found = found[len(found)-1:]
	}
	return found
}

func reportProcesses(c *command.Context, found []command.Process, flags map[int]bool, sep string, sig command.Signal) int {
	status := 1
	if len(found) > 0 {
		status = 0
	}
	if c.Command.Name == "pkill" {
		for _, proc := range found {
			if err := c.System.Signal(proc.PID, sig); err != nil {
				c.Errorf("killing pid %d failed: %s", proc.PID, command.Strerror(err))
			} else if flags['e'] {
				fmt.Fprintf(c.Stdout, "%s killed (pid %d)\n", processName(&proc), proc.PID)
			}
		}
		return status
	}
	if flags['c'] {
		fmt.Fprintf(c.Stdout, "%d\n", len(found))
		return status
	}
	for i, proc := range found {
		if i > 0 {
			c.Stdout.WriteString(sep)
		}
		c.Stdout.WriteString(strconv.Itoa(proc.PID))
		switch {
		case flags['a']:
			c.Stdout.WriteString(" " + strings.Join(proc.Args, " "))
		case flags['l']:
			c.Stdout.WriteString(" " + processName(&proc))
		}
	}
	if len(found) > 0 {
		c.Stdout.WriteString("\n")
	}
	return status
}
