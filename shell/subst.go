package shell

import (
	"bytes"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/parse"
)

// trimOutput makes the value of a command substitution of its output: without
// NULs, which are warned about, and without the newlines at the end.
func (s *state) trimOutput(out []byte) string {
	if bytes.IndexByte(out, 0) >= 0 {
		s.errorf("warning: command substitution: ignored null byte in input")
		out = bytes.ReplaceAll(out, []byte{0}, nil)
	}
	return string(bytes.TrimRight(out, "\n"))
}

// captureOutput runs body in a subshell and returns what it wrote.
func (s *state) captureOutput(body func(*state)) string {
	s.deeper()
	defer s.shallower()
	c := s.fork(false)
	c.p = s.x.newProcess(s.p, s.p.args)
	c.jobs = s.jobs.view()
	if !s.opts.shopts(shoptInheritErrexit) && !s.opts.on(optPosix) {
		c.opts.put(optErrexit, false)
	}
	c.evals++
	cap := &capture{x: s.x, done: make(chan struct{})}
	f := newOpenFile(cap, "substitution", false, true)
	c.setFD(1, f)
	c.run(body)
	s.rejoin(c)
	select {
	case <-cap.done: // else something in the background still has it open
	default:
		select {
		case <-cap.done:
		case <-s.p.ctx.Done():
			s.stop()
		}
	}
	s.status, s.substStatus = c.p.status, c.p.status
	cap.mu.Lock()
	defer cap.mu.Unlock()
	out := s.trimOutput(cap.buf.Bytes())
	s.x.memory.Shrink(int64(cap.buf.Len()))
	if s.ended() {
		s.stop()
	}
	return out
}

// backquoted runs `...`, whose text is parsed only now.
func (s *state) backquoted(c *syntax.CmdSubst) string {
	src := ""
	if len(c.Last) > 0 {
		src = c.Last[0].Text
	}
	if strings.HasPrefix(strings.TrimLeft(src, " \t"), "<") {
		p := parse.New(src, s.line, s.parseOptions("command substitution"))
		if stmts, err := p.Next(); err == nil && p.AtEnd() {
			if text, ok := s.readsFile(stmts); ok {
				return text
			}
		}
	}
	return s.captureOutput(func(sub *state) {
		sub.runText(src, s.line, "command substitution")
	})
}

// procSubst starts the process of <(...) or >(...) and returns the path of its
// other end.
func (s *state) procSubst(ps *syntax.ProcSubst) string {
	r, w := newPipeFiles()
	mine, theirs, fd := r, w, 1
	if ps.Op == syntax.CmdOut {
		mine, theirs, fd = w, r, 0
	}
	c := s.fork(true)
	c.evals++
	c.setFD(fd, theirs)
	for _, n := range s.procFDs {
		if n < len(c.fds) && c.fds[n] != nil {
			c.setFD(n, nil)
		}
	}
	p := s.spawn(c, func(c *state) { c.runList(ps.Stmts) })
	p.output = ps.Op == syntax.CmdOut
	s.lastBG = p.pid
	s.jobs.remember(p)
	n := 63
	for s.fd(n) != nil {
		n--
	}
	s.setFD(n, mine)
	s.procFDs = append(s.procFDs, n)
	return "/dev/fd/" + itoa(n)
}

// closeProcFDs closes the descriptors of process substitutions from a mark on:
// those of a command that has ended.
func (s *state) closeProcFDs(mark int) {
	for _, n := range s.procFDs[min(mark, len(s.procFDs)):] {
		s.setFD(n, nil)
	}
	s.procFDs = s.procFDs[:min(mark, len(s.procFDs))]
}
