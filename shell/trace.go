package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// tracing reports whether commands are shown before they run (set -x).
func (s *state) tracing() bool { return s.opts.on(optXtrace) }

// tracePrompt is PS4, its first character repeated for each level of
// substitution, eval and trap.
func (s *state) tracePrompt() string {
	text := s.get("PS4")
	s.opts.put(optXtrace, false)
	status := s.status
	text = s.prompt(text)
	s.status = status
	s.opts.put(optXtrace, true)
	if text == "" {
		return ""
	}
	n := charLen(text)
	return strings.Repeat(text[:n], s.evals) + text
}

// traceText shows one line, on the descriptor of BASH_XTRACEFD.
func (s *state) traceText(line string) {
	fd := 2
	if s.traceFD > 0 {
		fd = s.traceFD
	}
	if f := s.fd(fd); f != nil {
		f.Write(s.p.ctx, []byte(s.tracePrompt()+line+"\n"))
	}
}

// setTraceFD follows BASH_XTRACEFD, which must name an open descriptor.
func (s *state) setTraceFD(text string) {
	s.traceFD = 0
	if text == "" {
		return
	}
	n, ok := legalNumber(text)
	if !ok || n < 0 || n >= int64(s.maxFD()) || s.fd(int(n)) == nil {
		s.errorf("BASH_XTRACEFD: %s: invalid value for trace file descriptor", text)
		return
	}
	s.traceFD = int(n)
}

// traceWord quotes a word if a reader would not see it as one.
func (s *state) traceWord(w string) string {
	switch {
	case w == "":
		return "''"
	case hasMeta(w):
		return singleQuote(w)
	case needsANSI(w, s.wide()):
		return ansiQuote(w, s.wide())
	}
	return w
}

// trace shows a simple command.
func (s *state) trace(temp []tempVar, args []string) {
	if !s.tracing() {
		return
	}
	for _, t := range temp {
		s.traceText(t.name + "=" + s.traceValue(t.value))
	}
	words := make([]string, len(args))
	for i, a := range args {
		words[i] = s.traceWord(a)
	}
	s.traceText(strings.Join(words, " "))
}

// traceValue is traceWord for the value of an assignment.
func (s *state) traceValue(v string) string {
	if v == "" {
		return ""
	}
	return s.traceWord(v)
}

// traceAssign shows an assignment.
func (s *state) traceAssign(a *syntax.Assign, value string) {
	if !s.tracing() {
		return
	}
	head := a.Name.Value
	if a.Index != nil {
		head += "[" + arithSource(a.Index) + "]"
	}
	if a.Append {
		head += "+"
	}
	s.traceText(head + "=" + s.traceValue(value))
}

// traceArray shows the assignment of an array as it was written.
func (s *state) traceArray(a *syntax.Assign) {
	if !s.tracing() {
		return
	}
	p := &sourcePrinter{}
	p.assign(a)
	s.traceText(p.b.String())
}

// traceDecl shows a declaration.
func (s *state) traceDecl(name string, c *syntax.DeclClause, args []declArg) {
	if !s.tracing() {
		return
	}
	words := []string{name}
	for i := range args {
		a := &args[i]
		switch {
		case a.array != nil:
			p := &sourcePrinter{}
			p.array(a.array)
			op := "="
			if a.add {
				op = "+="
			}
			s.traceText(a.name + op + p.b.String())
			words = append(words, a.name)
		default:
			words = append(words, s.traceWord(a.text))
		}
	}
	s.traceText(strings.Join(words, " "))
	if name == "export" || name == "readonly" {
		for i := range args {
			if a := &args[i]; a.has && a.array == nil {
				s.traceText(a.name + "=" + s.traceValue(a.value))
			}
		}
	}
}

// traceFor shows the head of a loop at each turn.
func (s *state) traceFor(word, name string, l *syntax.WordIter) {
	if !s.tracing() {
		return
	}
	words := make([]string, len(l.Items))
	for i, w := range l.Items {
		words[i] = wordSource(w)
	}
	list := strings.Join(words, " ")
	if !l.InPos.IsValid() {
		list = `"$@"`
	}
	s.traceText(word + " " + name + " in " + list)
}

// traceCase shows the head of a case.
func (s *state) traceCase(word string, c *syntax.CaseClause) {
	if s.tracing() {
		s.traceText("case " + wordSource(c.Word) + " in")
	}
}

// traceArith shows (( )).
func (s *state) traceArith(text string) {
	if s.tracing() {
		s.traceText("(( " + text + " ))")
	}
}

// traceCond shows one comparison of [[ ]].
func (s *state) traceCond(op, a, b string, binary bool) {
	if !s.tracing() {
		return
	}
	if a == "" {
		a = "''"
	}
	if binary {
		if b == "" {
			b = "''"
		}
		s.traceText("[[ " + a + " " + op + " " + b + " ]]")
		return
	}
	s.traceText("[[ " + op + " " + a + " ]]")
}
