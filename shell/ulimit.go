package shell

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
)

// builtinUlimit shows and lowers the execution's own limits.
func builtinUlimit(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "SHabcdefiklmnpqrstuvxPRT")
	var which []byte
	all, soft, hard := false, false, false
	for opts.next() {
		switch opts.opt {
		case 'S':
			soft = true
		case 'H':
			hard = true
		case 'a':
			all = true
		default:
			which = append(which, opts.opt)
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	switch {
	case all:
		which = nil
		for _, r := range resources {
			which = append(which, r.letter)
		}
	case len(which) == 0:
		which = []byte{'f'}
	}
	if len(rest) == 0 || all {
		var out strings.Builder
		for _, c := range which {
			if len(which) > 1 {
				out.WriteString(resourceLabel(c))
			}
			out.WriteString(s.limitText(c, hard && !soft) + "\n")
		}
		return s.print(b, out.String())
	}
	for _, c := range which {
		if status := s.setLimit(b, c, rest[0], soft || !hard, hard || !soft); status != 0 {
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

// resourceLabel is what stands before a limit in a list.
func resourceLabel(c byte) string {
	for _, r := range resources {
		if r.letter != c {
			continue
		}
		unit := "(-" + string(r.letter) + ") "
		if r.unit != "" {
			unit = "(" + r.unit + ", -" + string(r.letter) + ") "
		}
		return fmt.Sprintf("%-20s %20s", r.name, unit)
	}
	return ""
}

// unlimited is a limit that is none.
const unlimited = math.MaxInt64

// rlimit is a limit as scripts see it, in ulimit's units. What holds is never
// more than the execution's own limits allow.
type rlimit struct{ soft, hard int64 }

// rlimit is the limit of a letter as it stands.
func (s *state) rlimit(c byte) rlimit {
	s.x.mu.Lock()
	r, ok := s.x.rlimits[c]
	s.x.mu.Unlock()
	if ok {
		return r
	}
	n := int64(unlimited)
	switch c {
	case 'c', 'e', 'r', 'q', 'i', 'l':
		n = 0
	case 'n':
		n = int64(s.x.limits.OpenFiles)
	case 'p':
		n = 8
	case 's':
		return rlimit{8192, unlimited}
	case 'u':
		n = int64(s.x.limits.Processes)
	}
	if n == 0 && (c == 'n' || c == 'u') {
		n = unlimited
	}
	return rlimit{n, n}
}

// limitText shows a limit.
func (s *state) limitText(c byte, hard bool) string {
	r := s.rlimit(c)
	n := r.soft
	if hard {
		n = r.hard
	}
	if n == unlimited {
		return "unlimited"
	}
	return strconv.FormatInt(n, 10)
}

// setLimit changes a limit: the soft one, the hard one, or both.
func (s *state) setLimit(b *builtin, c byte, text string, soft, hard bool) int {
	r := s.rlimit(c)
	var n int64
	switch text {
	case "unlimited":
		n = unlimited
	case "hard":
		n = r.hard
	case "soft":
		n = r.soft
	default:
		var ok bool
		if n, ok = legalNumber(text); !ok || n < 0 {
			s.builtinError(b, "%s: invalid number", text)
			return 1
		}
		if n > unlimited/1024 {
			s.builtinError(b, "%s: limit out of range", text)
			return 1
		}
	}
	if hard {
		r.hard = n
	}
	if soft {
		r.soft = n
	}
	refused := error(nil)
	switch own := int64(s.x.limits.OpenFiles); {
	case r.soft > r.hard:
		refused = syscall.EINVAL
	case c == 'n' && own > 0 && r.hard > own:
		refused = syscall.EPERM
	}
	if refused != nil {
		s.builtinError(b, "%s: cannot modify limit: %s", resourceName(c), command.Strerror(refused))
		return 1
	}
	s.x.setRlimit(c, r)
	return 0
}

func resourceName(c byte) string {
	for _, r := range resources {
		if r.letter == c {
			return r.name
		}
	}
	return "limit"
}

// setRlimit keeps a limit and applies those that can be.
func (x *execution) setRlimit(c byte, r rlimit) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.rlimits == nil {
		x.rlimits = map[byte]rlimit{}
	}
	x.rlimits[c] = r
	switch c {
	case 'f':
		n := x.limits.FileSize
		if r.soft < unlimited && (n <= 0 || r.soft*1024 < n) {
			// A limit of nothing still is one.
			n = max(r.soft*1024, 1)
		}
		x.fs.setMaxSize(n)
	case 'n':
		x.fs.setMaxOpen(int(min(r.soft, math.MaxInt32)))
	}
}
