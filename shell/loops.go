package shell

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/command"
)

// selectLoop runs select: a menu on standard error, a choice from standard
// input.
func (s *state) selectLoop(c *syntax.ForClause, l *syntax.WordIter, words []string) {
	name := l.Name.Value
	s.at(c.ForPos)
	if !validName(name) {
		s.errorf("`%s': not a valid identifier", name)
		s.status = 1
		return
	}
	if len(words) == 0 {
		s.status = 0
		return
	}
	status := 0
	show := true
	s.traceFor("select", name, l)
	for {
		if show {
			s.stderr(s.menu(words))
		}
		show = false
		s.stderr(s.promptOr("PS3", "#? "))
		line, n := s.readLine(builtins["read"], s.stdin(), &readSpec{delim: '\n', limit: -1, timeout: -1})
		if n != 0 {
			s.write(1, "\n")
			s.status = 1
			return
		}
		s.assign("REPLY", line, false)
		if line == "" {
			show = true
			continue
		}
		choice := ""
		if i, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && i >= 1 && i <= len(words) {
			choice = words[i-1]
		}
		if !s.assign(name, choice, false) {
			s.status = 1
			return
		}
		s.runList(c.Do)
		status = s.status
		if s.ctl != ctlNone && s.loopControl() {
			break
		}
		if s.get("REPLY") == "" {
			show = true
		}
	}
	if s.ctl != ctlReturn {
		s.status = status
	}
}

// stdin is descriptor 0, or an empty input when that is closed.
func (s *state) stdin() *openFile {
	if f := s.fd(0); f != nil {
		return f
	}
	return newOpenFile(&text{}, "closed", true, false)
}

// promptOr is the text of a prompt variable.
func (s *state) promptOr(name, other string) string {
	if v, ok := s.value(name); ok {
		return s.prompt(v)
	}
	return other
}

// menu lays the words of select out in columns.
func (s *state) menu(words []string) string {
	cols, err := strconv.Atoi(s.get("COLUMNS"))
	if err != nil || cols <= 0 {
		cols = 80
	}
	longest := 0
	for _, w := range words {
		longest = max(longest, utf8.RuneCountInString(w))
	}
	digits := len(itoa(len(words)))
	width := longest + digits + 2 + 2
	columns := max(1, cols/width)
	rows := (len(words) + columns - 1) / columns
	columns = (len(words) + rows - 1) / rows
	if rows == 1 {
		rows, columns = columns, 1
	}
	var b strings.Builder
	for row := 0; row < rows; row++ {
		at := 0
		for i := row; ; {
			n := digits
			if at == 0 {
				n = len(itoa(rows))
			}
			item := fmt.Sprintf("%*d) %s", n, i+1, words[i])
			b.WriteString(item)
			if i += rows; i >= len(words) {
				break
			}
			tabTo(&b, at+utf8.RuneCountInString(item), at+width)
			at += width
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// tabTo moves from one column to another with tabs and blanks.
func tabTo(b *strings.Builder, from, to int) {
	const tab = 8
	for from < to {
		if to/tab > from/tab {
			b.WriteByte('\t')
			from += tab - from%tab
		} else {
			b.WriteByte(' ')
			from++
		}
	}
}

// coproc starts a coprocess: a job with pipes to and from it in an array.
func (s *state) coproc(c *syntax.CoprocClause) {
	s.at(c.Coproc)
	name := "COPROC"
	if c.Name != nil {
		name = s.expandString(c.Name)
	}
	if !validName(name) {
		s.errorf("`%s': not a valid identifier", name)
		s.status = 1
		return
	}
	if s.readonly(name) {
		s.status = 1
		return
	}
	fromR, fromW := newPipeFiles()
	toR, toW := newPipeFiles()
	sub := s.fork(true)
	sub.setFD(0, toR)
	sub.setFD(1, fromW)
	p := s.spawn(sub, func(c2 *state) { c2.stage(c.Stmt) })
	s.lastBG = p.pid
	s.jobs.add(p, &syntax.Stmt{Cmd: c})
	r := s.highFD()
	s.setFD(r, fromR)
	w := s.highFD()
	s.setFD(w, toW)
	s.setArray(name, []string{itoa(r), itoa(w)})
	s.assignTo(name+"_PID", itoa(p.pid), false)
	s.status = 0
}

// highFD is the highest free descriptor below 64, as Bash picks for pipes that
// scripts should not trip over.
func (s *state) highFD() int {
	n := 63
	for s.fd(n) != nil {
		n--
	}
	return n
}

// timed runs "time pipeline".
func (s *state) timed(c *syntax.TimeClause) {
	start := s.now()
	if c.Stmt != nil {
		s.stmt(c.Stmt)
	} else {
		s.status = 0
	}
	real := s.now().Sub(start)
	format, ok := s.value("TIMEFORMAT")
	switch {
	case c.PosixFormat:
		format = "real %2R\nuser %2U\nsys %2S"
	case !ok:
		format = "\nreal\t%3lR\nuser\t%3lU\nsys\t%3lS"
	case format == "":
		return
	}
	s.stderr(timeText(format, real) + "\n")
}

// timeText formats the times of a pipeline. Only real time is known.
func timeText(format string, real time.Duration) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		if format[i] == '%' {
			b.WriteByte('%')
			continue
		}
		prec, long := 3, false
		if format[i] >= '0' && format[i] <= '9' {
			prec = min(int(format[i]-'0'), 3)
			i++
		}
		if i < len(format) && format[i] == 'l' {
			long = true
			i++
		}
		if i >= len(format) {
			break
		}
		var d time.Duration
		switch format[i] {
		case 'R':
			d = real
		case 'U', 'S':
		case 'P':
			b.WriteString("0.00")
			continue
		default:
			b.WriteString("%" + string(format[i]))
			continue
		}
		if long {
			m := int(d / time.Minute)
			fmt.Fprintf(&b, "%dm%.*fs", m, prec, (d - time.Duration(m)*time.Minute).Seconds())
		} else {
			fmt.Fprintf(&b, "%.*f", prec, d.Seconds())
		}
	}
	return b.String()
}

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
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
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
