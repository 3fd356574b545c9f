package shell

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

// builtinUlimit shows and lowers the execution's own limits.
func builtinUlimit(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "SHabcdefiklmnpqrstuvxPRT")
	var which []byte
	all := false
	for opts.next() {
		switch opts.opt {
		case 'S', 'H':
		case 'a':
			all = true
		default:
			which = append(which, opts.opt)
		}
	}
	if opts.failed {
		return 2
	}
	if all {
		var out strings.Builder
		for _, r := range resources {
			unit := "(-" + string(r.letter) + ") "
			if r.unit != "" {
				unit = "(" + r.unit + ", -" + string(r.letter) + ") "
			}
			fmt.Fprintf(&out, "%-20s %20s%s\n", r.name, unit, s.limitText(r.letter))
		}
		return s.print(b, out.String())
	}
	if len(which) == 0 {
		which = []byte{'f'}
	}
	rest := opts.rest()
	if len(rest) == 0 {
		var out strings.Builder
		for _, c := range which {
			if len(which) > 1 {
				for _, r := range resources {
					if r.letter == c {
						unit := "(-" + string(r.letter) + ") "
						if r.unit != "" {
							unit = "(" + r.unit + ", -" + string(r.letter) + ") "
						}
						fmt.Fprintf(&out, "%-20s %20s", r.name, unit)
					}
				}
			}
			out.WriteString(s.limitText(c) + "\n")
		}
		return s.print(b, out.String())
	}
	for _, c := range which {
		if status := s.setLimit(b, c, rest[0]); status != 0 {
			return status
		}
	}
	return 0
}

// resources are the limits that ulimit -a lists.
var resources = []struct {
	letter byte
	name   string
	unit   string
}{
	{'R', "real-time non-blocking time", "microseconds"}, {'c', "core file size", "blocks"},
	{'d', "data seg size", "kbytes"}, {'e', "scheduling priority", ""}, {'f', "file size", "blocks"},
	{'i', "pending signals", ""}, {'l', "max locked memory", "kbytes"}, {'m', "max memory size", "kbytes"},
	{'n', "open files", ""}, {'p', "pipe size", "512 bytes"}, {'q', "POSIX message queues", "bytes"},
	{'r', "real-time priority", ""}, {'s', "stack size", "kbytes"}, {'t', "cpu time", "seconds"},
	{'u', "max user processes", ""}, {'v', "virtual memory", "kbytes"}, {'x', "file locks", ""},
}

// limitText is a limit in ulimit's units.
func (s *state) limitText(c byte) string {
	l := &s.x.limits
	n := int64(-1)
	switch c {
	case 'c', 'e', 'r', 'q', 'i', 'l':
		n = 0
	case 'f':
		n = l.FileSize
		if n > 0 {
			n /= 1024
		}
	case 'n':
		n = int64(l.OpenFiles)
	case 'p':
		n = 8
	case 's':
		n = 8192
	case 't':
		n = int64(l.Time / time.Second)
	case 'u':
		n = int64(l.Processes)
	case 'v', 'd', 'm':
		n = l.Memory
		if n > 0 {
			n /= 1024
		}
	}
	if n < 0 {
		return "unlimited"
	}
	return strconv.FormatInt(n, 10)
}

// setLimit lowers a limit.
func (s *state) setLimit(b *builtin, c byte, text string) int {
	if text == "unlimited" || text == "hard" || text == "soft" {
		return 0
	}
	n, ok := legalNumber(text)
	if !ok || n < 0 {
		s.builtinError(b, "%s: invalid number", text)
		return 1
	}
	l := &s.x.limits
	raise := func(now int64) bool { return now > 0 && n > now }
	refuse := func(name string) int {
		s.builtinError(b, "%s: cannot modify limit: %s", name, command.Strerror(syscall.EPERM))
		return 1
	}
	switch c {
	case 'f':
		if raise(l.FileSize / 1024) {
			return refuse("file size")
		}
		l.FileSize = n * 1024
		s.x.fs.setMaxSize(l.FileSize)
	case 'n':
		if raise(int64(l.OpenFiles)) {
			return refuse("open files")
		}
		l.OpenFiles = int(n)
		s.x.fs.setMaxOpen(l.OpenFiles)
	}
	return 0
}
