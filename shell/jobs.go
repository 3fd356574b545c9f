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
	listed   bool // as it is now
}

// jobTable are the jobs of a state, and the statuses of others that wait may
// still be asked for.
type jobTable struct {
	list []*job
	// others are background processes that are no jobs: process substitutions,
	// coprocesses, jobs whose end was reported.
	others []*process
	// foreign says that the jobs are a parent's, to be listed but not waited for.
	foreign bool
}

func (t *jobTable) len() int { return len(t.list) }

// view is what a substitution, or a builtin in a pipeline, sees of its parent's
// jobs; other subshells see nothing.
func (t *jobTable) view() jobTable { return jobTable{list: slices.Clone(t.list), foreign: true} }

// add numbers a new job one past the highest.
func (t *jobTable) add(p *process, cmd *syntax.Stmt) *job {
	if t.foreign {
		*t = jobTable{}
	}
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
	if t.foreign {
		return nil, nil
	}
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
	if t.foreign && s.cmdName != "jobs" {
		return nil, false
	}
	text := strings.TrimPrefix(spec, "%")
	switch text {
	case "", "%", "+":
		if spec == "" {
			return nil, false
		}
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
	long, pids, running, stopped, news := false, false, false, false, false
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
		case 'n':
			news = true
		}
	}
	if opts.failed {
		return 2
	}
	list, status := s.jobs.list, 0
	if rest := opts.rest(); len(rest) > 0 {
		list = nil
		for _, spec := range rest {
			j, ok := s.jobs.find(s, spec)
			if !ok {
				s.builtinError(b, "%s: no such job", spec)
				status = 1
				continue
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
		if running && ended || stopped || news && j.listed && !ended {
			continue
		}
		j.listed = true
		if pids {
			out.WriteString(itoa(j.p.pid) + "\n")
		} else {
			out.WriteString(j.line(s, long))
		}
	}
	for _, j := range done {
		if !s.jobs.foreign {
			s.jobs.drop(j)
		}
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
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
