package shell

import (
	"fmt"
	"slices"
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
	s.coprocs = append(slices.Clip(s.coprocs), coprocess{p: p, name: name, fds: [2]int{r, w}})
	s.status = 0
}

// coprocess is one that runs, or whose end was not noticed yet.
type coprocess struct {
	p    *process
	name string
	fds  [2]int
}

// reapCoprocs forgets the coprocesses that have ended, with their descriptors
// and variables.
func (s *state) reapCoprocs() {
	var left []coprocess
	for _, c := range s.coprocs {
		if !c.p.ended() {
			left = append(left, c)
			continue
		}
		for _, n := range c.fds {
			s.setFD(n, nil)
		}
		s.unset(c.name)
		s.unset(c.name + "_PID")
	}
	s.coprocs = left
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
	text, bad := timeText(format, real)
	if bad != 0 {
		s.errorf("TIMEFORMAT: `%c': invalid format character", bad)
		return
	}
	s.stderr(text + "\n")
}

// timeText formats the times of a pipeline. Only real time is known. bad is a
// letter that is none of the format's.
func timeText(format string, real time.Duration) (text string, bad byte) {
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
			return "", format[i]
		}
		if long {
			m := int(d / time.Minute)
			fmt.Fprintf(&b, "%dm%.*fs", m, prec, (d - time.Duration(m)*time.Minute).Seconds())
		} else {
			fmt.Fprintf(&b, "%.*f", prec, d.Seconds())
		}
	}
	return b.String(), 0
}
