package shell

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
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

func (s *state) while(c *syntax.WhileClause) {
	s.loops++
	defer func() { s.loops-- }()
	status := 0
	for {
		s.condition(c.Cond)
		if s.ctl != ctlNone {
			if s.loopControl() {
				status = s.status
				break
			}
			continue
		}
		if (s.status == 0) == c.Until {
			break
		}
		s.runList(c.Do)
		status = s.status
		if s.ctl != ctlNone && s.loopControl() {
			break
		}
	}
	if s.ctl != ctlReturn {
		s.status = status
	}
}

// loopControl takes a pending break or continue to the loop that it is asked
// in, and reports whether that loop ends.
func (s *state) loopControl() bool {
	switch s.ctl {
	case ctlBreak:
		if s.ctlN--; s.ctlN <= 0 {
			s.ctl = ctlNone
		}
		return true
	case ctlContinue:
		if s.ctlN--; s.ctlN <= 0 {
			s.ctl = ctlNone
			return false
		}
		return true
	}
	return true
}

func (s *state) forClause(c *syntax.ForClause) {
	s.loops++
	defer func() { s.loops-- }()
	switch l := c.Loop.(type) {
	case *syntax.CStyleLoop:
		s.cStyle(c, l)
	case *syntax.WordIter:
		var words []string
		if l.InPos.IsValid() {
			s.at(c.ForPos)
			words = s.expandFields(l.Items)
		} else {
			words = s.params
		}
		if c.Select {
			s.selectLoop(c, l, words)
		} else {
			s.wordLoop(c, l, words)
		}
	}
}

func (s *state) wordLoop(c *syntax.ForClause, l *syntax.WordIter, words []string) {
	name := l.Name.Value
	s.at(c.ForPos)
	if !validName(name) {
		s.errorf("`%s': not a valid identifier", name)
		s.status = 1
		s.checkError()
		return
	}
	status := 0
	for _, w := range words {
		s.at(c.ForPos)
		s.traceFor("for", name, l)
		s.debugTrap()
		if !s.setLoopVariable(name, w) {
			s.status = 1
			return
		}
		s.runList(c.Do)
		status = s.status
		if s.ctl != ctlNone && s.loopControl() {
			break
		}
		s.tick()
	}
	if s.ctl != ctlReturn {
		s.status = status
	}
}

// setLoopVariable gives a loop's variable its next value. A nameref is made to
// refer to it instead.
func (s *state) setLoopVariable(name, value string) bool {
	if v := s.vars[name]; v != nil && v.attr&attrNameref != 0 {
		if !validReference(value) {
			s.errorf("`%s': not a valid identifier", value)
			return false
		}
		v = s.change(name)
		v.str, v.set = value, true
		return true
	}
	return s.assign(name, value, false)
}

func (s *state) cStyle(c *syntax.ForClause, l *syntax.CStyleLoop) {
	eval := func(x syntax.ArithmExpr) (int64, bool) {
		s.at(c.ForPos)
		if x == nil {
			return 1, true
		}
		text := s.expandArith(x)
		s.traceArith(text)
		s.debugTrap()
		return s.arithmetic(text, "((: ")
	}
	if _, ok := eval(l.Init); !ok {
		s.status = 1
		return
	}
	status := 0
	for {
		n, ok := eval(l.Cond)
		if !ok {
			status = 1
			break
		}
		if n == 0 {
			break
		}
		s.runList(c.Do)
		status = s.status
		if s.ctl != ctlNone && s.loopControl() {
			break
		}
		if _, ok := eval(l.Post); !ok {
			status = 1
			break
		}
		s.tick()
	}
	if s.ctl != ctlReturn {
		s.status = status
	}
}
