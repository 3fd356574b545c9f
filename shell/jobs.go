package shell

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/command"
)

// job is a command started with &.
type job struct {
	n        int // its number
	p        *process
	cmd      *syntax.Stmt
	reported bool // its end was reported
	noHup    bool
}

// jobTable are the jobs of a state, and the statuses of others that wait may
// still be asked for.
type jobTable struct {
	list []*job
	// others are background processes that are no jobs: process substitutions,
	// coprocesses, jobs whose end was reported.
	others []*process
}

func (t *jobTable) len() int { return len(t.list) }

// inherit is what a subshell sees of its parent's jobs: nothing to wait for.
func (t *jobTable) inherit() jobTable { return jobTable{} }

// add numbers a new job one past the highest.
func (t *jobTable) add(p *process, cmd *syntax.Stmt) *job {
	n := 1
	for _, j := range t.list {
		n = max(n, j.n+1)
	}
	j := &job{n: n, p: p, cmd: cmd}
	t.list = append(t.list, j)
	return j
}

// remember keeps a process for wait.
func (t *jobTable) remember(p *process) {
	const most = 1024
	if len(t.others) >= most {
		t.others = slices.Delete(t.others, 0, most/2)
	}
	t.others = append(t.others, p)
}

// drop takes a job off the list; its status stays known.
func (t *jobTable) drop(j *job) {
	if i := slices.Index(t.list, j); i >= 0 {
		t.list = slices.Delete(t.list, i, i+1)
		t.remember(j.p)
	}
}

// process finds a process that this state started.
func (t *jobTable) process(pid int) (*process, *job) {
	for _, j := range t.list {
		if j.p.pid == pid {
			return j.p, j
		}
	}
	for _, p := range t.others {
		if p.pid == pid {
			return p, nil
		}
	}
	return nil, nil
}

// find resolves a job specification: %n, %%, %+, %-, %text, %?text.
func (t *jobTable) find(s *state, spec string) (*job, bool) {
	text := strings.TrimPrefix(spec, "%")
	switch text {
	case "", "%", "+":
		return t.recent(0)
	case "-":
		return t.recent(1)
	}
	if n, err := strconv.Atoi(text); err == nil {
		for _, j := range t.list {
			if j.n == n {
				return j, true
			}
		}
		return nil, false
	}
	for _, j := range t.list {
		src := s.jobText(j)
		if strings.HasPrefix(text, "?") && strings.Contains(src, text[1:]) || strings.HasPrefix(src, text) {
			return j, true
		}
	}
	return nil, false
}

// recent is the current job (0) or the previous one (1).
func (t *jobTable) recent(back int) (*job, bool) {
	i := len(t.list) - 1 - back
	if i < 0 {
		return nil, false
	}
	return t.list[i], true
}

// jobText is a job's command line.
func (s *state) jobText(j *job) string { return stmtSource(j.cmd) }

// ended reports whether a process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// state describes a job as jobs does.
func (j *job) state() string {
	switch {
	case !j.p.ended():
		return "Running"
	case j.p.killed.Load() != 0:
		return command.Signal(j.p.killed.Load()).Description()
	case j.p.status == 0:
		return "Done"
	}
	return "Exit " + strconv.Itoa(j.p.status)
}

// line is what jobs prints of a job.
func (j *job) line(s *state, long bool) string {
	mark := byte(' ')
	if cur, ok := s.jobs.recent(0); ok && cur == j {
		mark = '+'
	} else if prev, ok := s.jobs.recent(1); ok && prev == j {
		mark = '-'
	}
	text := s.jobText(j)
	if !j.p.ended() {
		text += " &"
	}
	if long {
		return fmt.Sprintf("[%d]%c %5d %-23s %s\n", j.n, mark, j.p.pid, j.state(), text)
	}
	return fmt.Sprintf("[%d]%c  %-23s %s\n", j.n, mark, j.state(), text)
}

// builtinJobs lists the jobs.
func builtinJobs(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "lpnrsx")
	long, pids, running, stopped := false, false, false, false
	for opts.next() {
		switch opts.opt {
		case 'l':
			long = true
		case 'p':
			pids = true
		case 'r':
			running = true
		case 's':
			stopped = true
		}
	}
	if opts.failed {
		return 2
	}
	list := s.jobs.list
	if rest := opts.rest(); len(rest) > 0 {
		list = nil
		for _, spec := range rest {
			j, ok := s.jobs.find(s, spec)
			if !ok {
				s.builtinError(b, "%s: no such job", spec)
				return 1
			}
			list = append(list, j)
		}
	}
	var out strings.Builder
	var done []*job
	for _, j := range list {
		ended := j.p.ended()
		if ended {
			done = append(done, j)
		}
		if running && ended || stopped {
			continue
		}
		if pids {
			out.WriteString(itoa(j.p.pid) + "\n")
		} else {
			out.WriteString(j.line(s, long))
		}
	}
	for _, j := range done {
		s.jobs.drop(j)
	}
	return s.print(b, out.String())
}

// builtinWait waits for background processes.
func builtinWait(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "fnp:")
	any, variable := false, ""
	for opts.next() {
		switch opts.opt {
		case 'n':
			any = true
		case 'p':
			variable = opts.arg
		}
	}
	if opts.failed {
		return 2
	}
	if variable != "" {
		if !validReference(variable) {
			s.builtinError(b, "`%s': not a valid identifier", variable)
			return 1
		}
		s.unset(variable)
	}
	rest := opts.rest()
	switch {
	case any:
		return s.waitAny(b, rest, variable)
	case len(rest) == 0:
		return s.waitAll()
	}
	status := 0
	for _, spec := range rest {
		p, j, code := s.waitee(b, spec)
		if p == nil {
			status = code
			continue
		}
		n, ok := s.wait(p, true)
		if !ok {
			return s.interrupted()
		}
		if variable != "" {
			s.assignReference(variable, itoa(p.pid))
		}
		s.forget(j, p)
		status = n
	}
	return status
}

// forget drops a job that was waited for.
func (s *state) forget(j *job, p *process) {
	if j != nil {
		s.jobs.drop(j)
	}
}

// waitee finds what an argument of wait names.
func (s *state) waitee(b *builtin, spec string) (*process, *job, int) {
	if strings.HasPrefix(spec, "%") {
		j, ok := s.jobs.find(s, spec)
		if !ok {
			s.builtinError(b, "%s: no such job", spec)
			return nil, nil, 127
		}
		return j.p, j, 0
	}
	pid, err := strconv.Atoi(spec)
	if err != nil || pid < 0 {
		s.builtinError(b, "`%s': not a pid or valid job spec", spec)
		return nil, nil, 1
	}
	p, j := s.jobs.process(pid)
	if p == nil {
		s.builtinError(b, "pid %d is not a child of this shell", pid)
		return nil, nil, 127
	}
	return p, j, 0
}

// interrupted is the status of a wait that a trapped signal ended.
func (s *state) interrupted() int {
	sig := s.firstPending()
	s.runPending()
	return 128 + int(sig)
}

// waitAll waits for every job.
func (s *state) waitAll() int {
	for len(s.jobs.list) > 0 {
		j := s.jobs.list[0]
		if _, ok := s.wait(j.p, true); !ok {
			return s.interrupted()
		}
		s.jobs.drop(j)
	}
	for _, p := range s.jobs.others {
		if _, ok := s.wait(p, true); !ok {
			return s.interrupted()
		}
	}
	s.jobs.others = nil
	return 0
}

// waitAny waits for whichever of the jobs ends first.
func (s *state) waitAny(b *builtin, specs []string, variable string) int {
	var list []*job
	if len(specs) == 0 {
		list = slices.Clone(s.jobs.list)
	}
	for _, spec := range specs {
		p, j, _ := s.waitee(b, spec)
		if p != nil && j == nil {
			j = &job{p: p}
		}
		if j != nil {
			list = append(list, j)
		}
	}
	if len(list) == 0 {
		return 127
	}
	ended := make(chan *job, len(list))
	stop := make(chan struct{})
	defer close(stop)
	for _, j := range list {
		if j.p.ended() {
			return s.reap(j, variable)
		}
	}
	for _, j := range list {
		command.Go(func() {
			select {
			case <-j.p.done:
				ended <- j
			case <-stop:
			case <-s.x.ctx.Done():
			}
		})
	}
	for {
		select {
		case j := <-ended:
			return s.reap(j, variable)
		case <-s.p.wake:
			if s.p.pending.Load() != 0 {
				return s.interrupted()
			}
		case <-s.p.ctx.Done():
			s.stop()
		}
	}
}

// reap takes the status of a job that has ended.
func (s *state) reap(j *job, variable string) int {
	s.jobs.drop(j)
	if variable != "" {
		s.assignReference(variable, itoa(j.p.pid))
	}
	return j.p.status
}

// builtinDisown forgets jobs.
func builtinDisown(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "ahr")
	all, keep := false, false
	for opts.next() {
		switch opts.opt {
		case 'a', 'r':
			all = true
		case 'h':
			keep = true
		}
	}
	if opts.failed {
		return 2
	}
	var list []*job
	rest := opts.rest()
	switch {
	case all && len(rest) == 0:
		list = slices.Clone(s.jobs.list)
	case len(rest) == 0:
		j, ok := s.jobs.recent(0)
		if !ok {
			s.builtinError(b, "current: no such job")
			return 1
		}
		list = append(list, j)
	}
	status := 0
	for _, spec := range rest {
		j, ok := s.jobs.find(s, spec)
		if !ok && isDigits(spec) {
			n, _ := strconv.Atoi(spec)
			_, j = s.jobs.process(n)
		}
		if j == nil {
			s.builtinError(b, "%s: no such job", spec)
			status = 1
			continue
		}
		list = append(list, j)
	}
	for _, j := range list {
		j.noHup = true
		if !keep {
			s.jobs.drop(j)
		}
	}
	return status
}

// builtinForeground is fg and bg: there is no job control to do it with.
func builtinForeground(s *state, b *builtin, args []string) int {
	s.builtinError(b, "no job control")
	return 1
}

// builtinKill sends signals.
func builtinKill(s *state, b *builtin, args []string) int {
	sig := command.SIGTERM
	args = args[1:]
	if len(args) == 0 {
		s.usage(b)
		return 2
	}
	switch a := args[0]; {
	case a == "-l" || a == "-L":
		return s.listSignals(b, args[1:])
	case a == "-s" || a == "-n":
		if len(args) < 2 {
			s.builtinError(b, "%s: option requires an argument", a)
			return 1
		}
		n, ok := parseTrapSignal(args[1])
		if !ok || n > 64 {
			s.builtinError(b, "%s: invalid signal specification", args[1])
			return 1
		}
		sig, args = command.Signal(n), args[2:]
	case a == "--":
		args = args[1:]
	case len(a) > 1 && a[0] == '-':
		n, ok := parseTrapSignal(a[1:])
		if !ok || n > 64 {
			s.builtinError(b, "%s: invalid signal specification", a[1:])
			return 1
		}
		sig, args = command.Signal(n), args[1:]
		if len(args) > 0 && args[0] == "--" {
			args = args[1:]
		}
	}
	if len(args) == 0 {
		s.usage(b)
		return 2
	}
	status := 1
	for _, spec := range args {
		if s.killOne(b, spec, sig) {
			status = 0
		}
	}
	if s.p.pending.Load() != 0 {
		s.runPending()
	}
	return status
}

// killOne sends a signal to what one argument names.
func (s *state) killOne(b *builtin, spec string, sig command.Signal) bool {
	pid := 0
	if strings.HasPrefix(spec, "%") {
		j, ok := s.jobs.find(s, spec)
		if !ok {
			s.builtinError(b, "%s: no such job", spec)
			return false
		}
		if j.p.ended() {
			return true
		}
		pid = j.p.pid
	} else {
		var err error
		if pid, err = strconv.Atoi(spec); err != nil {
			s.builtinError(b, "%s: arguments must be process or job IDs", spec)
			return false
		}
	}
	if pid == 0 {
		pid = -s.p.group
	}
	if err := s.x.signal(pid, sig); err != nil {
		if p, _ := s.jobs.process(pid); p != nil && sig == 0 && !p.ended() {
			return true
		}
		s.builtinError(b, "(%d) - %s", pid, command.Strerror(err))
		return false
	}
	s.tick()
	return true
}

// listSignals is kill -l.
func (s *state) listSignals(b *builtin, args []string) int {
	var out strings.Builder
	if len(args) == 0 {
		col := 0
		for n := command.Signal(1); n <= 64; n++ {
			name := n.Name()
			if name == "" {
				continue
			}
			fmt.Fprintf(&out, "%2d) SIG%s", int(n), name)
			if col++; col < 5 {
				out.WriteByte('\t')
			} else {
				out.WriteByte('\n')
				col = 0
			}
		}
		if col > 0 {
			out.WriteByte('\n')
		}
		return s.print(b, out.String())
	}
	status := 0
	for _, a := range args {
		if n, err := strconv.Atoi(a); err == nil {
			if n > 128 {
				n -= 128
			}
			if name := command.Signal(n).Name(); n > 0 && name != "" {
				out.WriteString(name + "\n")
				continue
			}
			if n == 0 {
				out.WriteString("EXIT\n")
				continue
			}
		} else if n, ok := parseTrapSignal(a); ok {
			out.WriteString(itoa(n) + "\n")
			continue
		}
		s.builtinError(b, "%s: invalid signal specification", a)
		status = 1
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}
