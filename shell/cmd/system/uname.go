package system

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/shell/command"
)

const (
	nprocAll = 256 + iota
	nprocIgnore
)

func init() {
	command.Register(command.Info{
		Name:     "uname",
		Synopsis: "uname [OPTION]...",
		Summary:  "Print certain system information.  With no OPTION, same as -s.",
		Options: []command.Option{
			{Short: 'a', Long: "all", Help: "print all information, in the following order,\nexcept omit -p and -i if unknown:"},
			{Short: 's', Long: "kernel-name", Help: "print the kernel name"},
			{Short: 'n', Long: "nodename", Help: "print the network node hostname"},
			{Short: 'r', Long: "kernel-release", Help: "print the kernel release"},
			{Short: 'v', Long: "kernel-version", Help: "print the kernel version"},
			{Short: 'm', Long: "machine", Help: "print the machine hardware name"},
			{Short: 'p', Long: "processor", Help: "print the processor type (non-portable)"},
			{Short: 'i', Long: "hardware-platform", Help: "print the hardware platform (non-portable)"},
			{Short: 'o', Long: "operating-system", Help: "print the operating system"},
		},
	}, uname)
	command.Register(command.Info{Name: "arch", Synopsis: "arch [OPTION]...", Summary: "Print machine architecture."}, arch)
	command.Register(command.Info{
		Name:     "hostname",
		Synopsis: "hostname [-s|-f|-d|-i|-I]",
		Summary:  "Show the name of the machine that the workspace plays.",
		Options: []command.Option{
			{Short: 's', Long: "short", Help: "short host name"},
			{Short: 'f', Long: "fqdn", Help: "long host name (FQDN)"},
			{Long: "long", ID: 'f'},
			{Short: 'd', Long: "domain", Help: "DNS domain name"},
			{Short: 'i', Long: "ip-address", Help: "addresses for the host name"},
			{Short: 'I', Long: "all-ip-addresses", Help: "all addresses for the host"},
		},
	}, hostname)
	command.Register(command.Info{
		Name:     "nproc",
		Synopsis: "nproc [OPTION]...",
		Summary:  "Print the number of processing units available to the current process.",
		Options: []command.Option{
			{Long: "all", ID: nprocAll, Help: "print the number of installed processors"},
			{Long: "ignore", Arg: command.RequiredArgument, ArgName: "N", ID: nprocIgnore, Help: "if possible, exclude N processing units"},
		},
	}, nproc)
	command.Register(command.Info{
		Name:     "uptime",
		Synopsis: "uptime [options]",
		Summary:  "Tell how long the system has been running.",
		Options: []command.Option{
			{Short: 'p', Long: "pretty", Help: "show uptime in pretty format"},
			{Short: 's', Long: "since", Help: "system up since"},
		},
	}, uptime)
}

func uname(ctx context.Context, c *command.Context, args []string) int {
	asked := map[int]bool{}
	p := c.Options(args)
	for p.Next() {
		asked[p.ID()] = true
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) > 0 {
		return c.ExtraOperand(operands[0])
	}
	if len(asked) == 0 {
		asked['s'] = true
	}
	h := c.System.Host()
	var out []string
	for _, f := range []struct {
		letter  int
		value   string
		unknown bool
	}{{'s', h.System, false}, {'n', h.Name, false}, {'r', h.Release, false}, {'v', h.Version, false}, {'m', h.Machine, false},
		{'p', "unknown", true}, {'i', "unknown", true}, {'o', "GNU/Linux", false}} {
		if asked[f.letter] || asked['a'] && !f.unknown {
			out = append(out, f.value)
		}
	}
	c.Stdout.WriteString(strings.Join(out, " ") + "\n")
	return 0
}

// noOperands parses a command line that may have none.
func noOperands(c *command.Context, args []string) (status int, stop bool) {
	p := c.Options(args)
	for p.Next() {
	}
	operands, status, stop := p.End()
	if !stop && len(operands) > 0 {
		return c.ExtraOperand(operands[0]), true
	}
	return status, stop
}

func arch(ctx context.Context, c *command.Context, args []string) int {
	if status, stop := noOperands(c, args); stop {
		return status
	}
	c.Stdout.WriteString(c.System.Host().Machine + "\n")
	return 0
}

func hostname(ctx context.Context, c *command.Context, args []string) int {
	name := c.System.Host().Name
	show := name
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 's':
			show, _, _ = strings.Cut(name, ".")
		case 'd':
			_, show, _ = strings.Cut(name, ".")
		case 'i', 'I':
			show = "127.0.0.1"
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) > 0 {
		return c.Errorf("you must be root to change the host name")
	}
	c.Stdout.WriteString(show + "\n")
	return 0
}

func nproc(ctx context.Context, c *command.Context, args []string) int {
	n, ignore := c.System.Host().CPUs, 0
	all := false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case nprocAll:
			all = true
		case nprocIgnore:
			v, err := gnulib.ParseSize(p.Arg(), "")
			if err != nil {
				return c.Errorf("invalid number: %s", c.Quote(p.Arg()))
			}
			ignore = int(min(v, 1<<30))
		}
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	if len(operands) > 0 {
		return c.ExtraOperand(operands[0])
	}
	if !all {
		if v, err := strconv.Atoi(c.Env.Get("OMP_NUM_THREADS")); err == nil && v > 0 {
			n = v
		}
	}
	fmt.Fprintf(c.Stdout, "%d\n", max(n-ignore, 1))
	return 0
}

func uptime(ctx context.Context, c *command.Context, args []string) int {
	pretty, since := false, false
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'p':
			pretty = true
		case 's':
			since = true
		}
	}
	if _, status, stop := p.End(); stop {
		return status
	}
	now, boot := c.Now().In(tz.Of(c)), c.System.Host().Boot
	if boot.IsZero() {
		boot = now
	}
	up := now.Sub(boot)
	days, hours, minutes := int(up/(24*time.Hour)), int(up/time.Hour)%24, int(up/time.Minute)%60
	switch {
	case since:
		c.Stdout.WriteString(gnulib.Strftime("%Y-%m-%d %H:%M:%S", boot.In(now.Location())) + "\n")
	case pretty:
		var parts []string
		for _, u := range []struct {
			n    int
			name string
		}{{days / 7, "week"}, {days % 7, "day"}, {hours, "hour"}, {minutes, "minute"}} {
			if u.n > 0 {
				s := fmt.Sprintf("%d %s", u.n, u.name)
				if u.n > 1 {
					s += "s"
				}
				parts = append(parts, s)
			}
		}
		if len(parts) == 0 {
			parts = []string{"0 minutes"}
		}
		c.Stdout.WriteString("up " + strings.Join(parts, ", ") + "\n")
	default:
		span := fmt.Sprintf("%d min", minutes)
		if hours > 0 {
			span = fmt.Sprintf("%2d:%02d", hours, minutes)
		}
		if days > 0 {
			plural := "s"
			if days == 1 {
				plural = ""
			}
			span = fmt.Sprintf("%d day%s, %s", days, plural, span)
		}
		fmt.Fprintf(c.Stdout, " %s up %s,  1 user,  load average: 0.00, 0.00, 0.00\n", gnulib.Strftime("%H:%M:%S", now), span)
	}
	return 0
}
