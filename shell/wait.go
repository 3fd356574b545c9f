package shell

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// builtinWait waits for background processes.
func builtinWait(s *state, b *builtin, args []string) int {
	defer s.reapCoprocs()
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
		if j != nil {
			s.reportJob(j)
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

// reportJob says so when a signal ended a job that was waited for. That
// SIGTERM did is no news.
func (s *state) reportJob(j *job) {
	if !j.reported && command.Signal(j.p.killed.Load()) != command.SIGTERM {
		s.reportKilled(j.p, j.cmd)
	}
}

// waitAll waits for every job.
func (s *state) waitAll() int {
	if s.jobs.foreign {
		return 0
	}
	for len(s.jobs.list) > 0 {
		j := s.jobs.list[0]
		if _, ok := s.wait(j.p, true); !ok {
			return s.interrupted()
		}
		s.reportJob(j)
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
	if len(specs) == 0 && !s.jobs.foreign {
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
