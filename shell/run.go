package shell

import (
	"errors"
	"io"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/parse"
)

// runText reads and runs commands line by line, as Bash reads its input: a
// syntax error stops what follows it, not what came before. where names the
// kind of input in the message of a syntax error ("-c", "eval", or nothing).
func (s *state) runText(src string, line int, where string) {
	delta := s.lineDelta
	s.lineDelta = 0
	s.reading++
	defer func() { s.lineDelta, s.reading = delta, s.reading-1 }()
	p := parse.New(src, line, s.parseOptions(where))
	for {
		stmts, err := p.Next()
		if read := p.Read(); s.opts.on(optVerbose) && read != "" {
			s.stderr(strings.TrimSuffix(read, "\n") + "\n")
		}
		if err == io.EOF {
			return
		}
		var e *parse.Error
		if errors.As(err, &e) {
			s.syntaxError(e, where)
			if e.Resume {
				continue
			}
			return
		}
		s.runLine(stmts)
		if s.ctl != ctlNone {
			return
		}
	}
}

// parseOptions are what the parser asks of this state.
func (s *state) parseOptions(where string) parse.Options {
	o := parse.Options{ExtGlob: func() bool { return s.opts.shopts(shoptExtglob) }}
	if s.opts.shopts(shoptExpandAliases) || len(s.aliases) > 0 {
		o.Alias = func(name string) (string, bool) {
			if !s.opts.shopts(shoptExpandAliases) {
				return "", false
			}
			text, ok := s.aliases[name]
			return text, ok
		}
	} else {
		o.Alias = s.alias
	}
	o.Warn = func(line int, msg string) {
		old := s.line
		s.line = line
		s.errorf("warning: %s", msg)
		s.line = old
	}
	return o
}

// alias looks an alias up, if aliases are expanded.
func (s *state) alias(name string) (string, bool) {
	if len(s.aliases) == 0 || !s.opts.shopts(shoptExpandAliases) {
		return "", false
	}
	text, ok := s.aliases[name]
	return text, ok
}

// syntaxError reports a syntax error and sets the status.
func (s *state) syntaxError(e *parse.Error, where string) {
	if where != "" {
		where += ": "
	}
	old := s.line
	s.line = 0
	prefix := where + "line " + itoa(e.Line) + ": "
	if e.Msg != "" {
		s.message(prefix + e.Msg)
	}
	if s.opts.on(optErrexit) && e.Status > 0 {
		s.exit(e.Status)
	}
	switch {
	case e.ForText:
		s.message(prefix + "syntax error: `" + e.Text + "'")
	case e.HasText:
		s.message(prefix + "`" + e.Text + "'")
	}
	s.line = old
	switch {
	case e.Status == 127 && s.mode != modeString:
		s.status = 2
	case e.Status >= 0:
		s.status = e.Status
	}
}

// runLine runs the commands of one input line. An expansion that fails drops
// the rest of it.
func (s *state) runLine(stmts []*syntax.Stmt) {
	depth, loops, no, evals := s.depth, s.loops, s.noErrexit, s.evals
	defer func() {
		switch u := recover().(type) {
		case nil:
		case *unwind:
			if !s.dropsHere(u) {
				panic(u)
			}
			s.status = u.status
			s.depth, s.loops, s.noErrexit, s.evals = depth, loops, no, evals
			s.ctl, s.cmdName = ctlNone, ""
		default:
			panic(u)
		}
	}()
	for _, st := range stmts {
		s.stmt(st)
		if s.ctl != ctlNone {
			return
		}
	}
}

// dropsHere reports whether unwinding that drops a line ends at the text that
// is being read: not in a subshell, which it ends altogether.
func (s *state) dropsHere(u *unwind) bool {
	switch {
	case s.subshell > 0:
		return false
	case u.kind == unwindLine:
		return true
	}
	return u.kind == unwindTop && s.reading == 1 && s.mode != modeString
}

// runList runs commands one after another.
func (s *state) runList(stmts []*syntax.Stmt) {
	for _, st := range stmts {
		s.stmt(st)
		if s.ctl != ctlNone {
			return
		}
	}
}

// at notes the line of the command that runs now.
func (s *state) at(pos syntax.Pos) { s.line = int(pos.Line()) + s.lineDelta }

// stmt runs one command of a list.
func (s *state) stmt(st *syntax.Stmt) {
	s.tick()
	if s.opts.on(optNoexec) {
		return
	}
	if s.p.pending.Load() != 0 {
		s.runPending()
	}
	switch {
	case st.Background:
		if st.Negated { // Bash forgets the negation of a job
			plain := *st
			plain.Negated = false
			st = &plain
		}
		s.background(st)
	case st.Negated:
		s.negated(st)
	default:
		s.command(st)
	}
}

// negated runs "! command", whose failure is never an error.
func (s *state) negated(st *syntax.Stmt) {
	s.noErrexit++
	if st.Cmd == nil && len(st.Redirs) == 0 {
		s.status = 0
	} else {
		s.command(st)
	}
	s.noErrexit--
	if s.ctl != ctlReturn {
		if s.pipeStatus == nil {
			s.pipeStatus = []int{s.status}
		}
		s.status = not(s.status)
	}
}

func not(status int) int {
	if status == 0 {
		return 1
	}
	return 0
}

// command runs a command with its redirections.
func (s *state) command(st *syntax.Stmt) {
	s.deeper()
	defer s.shallower()
	switch c := st.Cmd.(type) {
	case *syntax.CallExpr:
		s.simple(st, c)
		if !s.pipeKeep {
			s.pipeStatus = nil
		}
		s.pipeKeep = false
	case *syntax.DeclClause:
		s.declClause(st, c)
		s.pipeStatus = nil
	case *syntax.BinaryCmd:
		s.binary(c)
	case nil:
		s.nullCommand(st)
	case *syntax.FuncDecl:
		s.define(c)
	case *syntax.TimeClause:
		s.timed(c)
	case *syntax.CoprocClause:
		s.coproc(c)
	default:
		s.compound(st)
	}
}

func (s *state) shallower() { s.depth-- }

// compound runs a compound command, its redirections around it.
func (s *state) compound(st *syntax.Stmt) {
	if len(st.Redirs) == 0 {
		s.compoundBody(st.Cmd)
		return
	}
	s.at(st.Position)
	var undo undoFDs
	mark := len(s.procFDs)
	defer func() {
		s.restoreFDs(undo)
		s.closeProcFDs(mark)
	}()
	if !s.redirect(st.Redirs, &undo) {
		s.status = 1
		s.checkError()
		return
	}
	s.compoundBody(st.Cmd)
}

func (s *state) compoundBody(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.Block:
		s.runList(c.Stmts)
	case *syntax.Subshell:
		s.subshellCommand(c)
		s.pipeStatus = nil
	case *syntax.IfClause:
		s.ifClause(c)
	case *syntax.WhileClause:
		s.while(c)
	case *syntax.ForClause:
		s.forClause(c)
	case *syntax.CaseClause:
		s.caseClause(c)
	case *syntax.ArithmCmd:
		s.arithCommand(c)
		s.pipeStatus = nil
	case *syntax.TestClause:
		s.testCommand(c)
		s.pipeStatus = nil
	}
}

// checkError does what follows from a failed command: the ERR trap and set -e.
func (s *state) checkError() {
	if s.status == 0 || s.noErrexit > 0 {
		return
	}
	if _, ok := s.traps[trapERR]; ok {
		s.runTrap(trapERR)
	}
	if s.opts.on(optErrexit) {
		s.exit(s.status)
	}
}

// binary runs && and || and pipelines.
func (s *state) binary(c *syntax.BinaryCmd) {
	switch c.Op {
	case syntax.AndStmt, syntax.OrStmt:
		s.noErrexit++
		s.stmt(c.X)
		s.noErrexit--
		if s.ctl != ctlNone || (s.status == 0) != (c.Op == syntax.AndStmt) {
			return
		}
		s.stmt(c.Y)
	default:
		s.pipeline(c)
	}
}

func (s *state) ifClause(c *syntax.IfClause) {
	for ; c != nil; c = c.Else {
		if c.Cond == nil { // else
			s.runList(c.Then)
			return
		}
		s.condition(c.Cond)
		if s.ctl != ctlNone {
			return
		}
		if s.status == 0 {
			s.runList(c.Then)
			return
		}
	}
	s.status = 0
}

// condition runs commands whose failure is an answer, not an error.
func (s *state) condition(stmts []*syntax.Stmt) {
	s.noErrexit++
	s.runList(stmts)
	s.noErrexit--
}

func (s *state) caseClause(c *syntax.CaseClause) {
	s.at(c.Case)
	word := s.expandString(c.Word)
	s.traceCase(word, c)
	s.debugTrap()
	fall, matched := false, false
	defer func() {
		if !matched && s.ctl == ctlNone {
			s.status = 0
		}
	}()
	for _, item := range c.Items {
		if !fall && !s.matchItem(word, item) {
			continue
		}
		s.runList(item.Stmts)
		if s.ctl != ctlNone {
			return
		}
		matched = len(item.Stmts) > 0
		switch item.Op {
		case syntax.Fallthrough:
			fall = true
		case syntax.Resume:
			fall = false
		default:
			return
		}
	}
}

// matchItem reports whether a word matches one of an item's patterns.
func (s *state) matchItem(word string, item *syntax.CaseItem) bool {
	for _, w := range item.Patterns {
		if text, ok := plainWord(w); ok && !s.opts.shopts(shoptNocasematch) {
			if text == word {
				return true
			}
			continue
		}
		p := s.pattern(s.expandPattern(w), s.patternFlags(s.opts.shopts(shoptNocasematch)))
		if p.Match(word) {
			return true
		}
	}
	return false
}

func (s *state) arithCommand(c *syntax.ArithmCmd) {
	s.at(c.Right)
	s.debugTrap()
	text := s.expandArith(c.X)
	s.traceArith(text)
	n, ok := s.arithmetic(text, "((: ")
	s.status = 1
	if ok && n != 0 {
		s.status = 0
	}
	s.checkError()
}

// nullCommand runs redirections alone.
func (s *state) nullCommand(st *syntax.Stmt) {
	s.at(st.Position)
	s.substStatus = -1
	var undo undoFDs
	mark := len(s.procFDs)
	ok := s.redirect(st.Redirs, &undo)
	s.restoreFDs(undo)
	s.closeProcFDs(mark)
	s.status = 0
	if s.substStatus >= 0 {
		s.status = s.substStatus
	}
	if !ok {
		s.status = 1
	}
	s.checkError()
}

// define defines a function.
func (s *state) define(c *syntax.FuncDecl) {
	s.at(c.Position)
	name := c.Name.Value
	for i := 0; i < len(name); i++ {
		switch name[i] {
		case '$', '\'', '"', '`', '\\', '<', '>':
			s.errorf("`%s': not a valid identifier", name)
			s.status = 1
			s.checkError()
			return
		}
	}
	if f := s.funcs[name]; f != nil && f.attr&attrReadonly != 0 {
		s.errorf("%s: readonly function", name)
		s.status = 1
		s.checkError()
		return
	}
	source := s.source
	if source == "" {
		source = "environment"
	}
	f := &function{name: name, decl: c, source: source, line: int(c.Position.Line())}
	if s.opts.on(optAllexport) {
		f.attr |= attrExport
	}
	s.ownFuncs()[name] = f
	s.status = 0
}
