package shell

import (
	"fmt"
	"strings"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

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
