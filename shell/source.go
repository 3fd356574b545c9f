package shell

import (
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// sourcePrinter writes commands back as source, in the form in which Bash shows
// functions and jobs.
type sourcePrinter struct {
	b        strings.Builder
	indent   int
	inFunc   int
	skip     int // commands that stand where indentation was written already
	heredocs []*syntax.Redirect
	// wasHere is set when bodies of here-documents were written and cleared
	// by the next redirections: the next semicolon between commands is then
	// left out.
	wasHere bool
	joined  int  // connections that the command is in: bodies wait only there
	comsub  bool // inside $( ), where newlines stay
}

const indentation = 4

func (p *sourcePrinter) write(s string) { p.b.WriteString(s) }

func (p *sourcePrinter) spaces() { p.write(strings.Repeat(" ", p.indent)) }

func (p *sourcePrinter) newline(text string) {
	p.write("\n")
	p.spaces()
	p.write(text)
}

// semicolon ends a command, unless something else has.
func (p *sourcePrinter) semicolon() {
	if text := p.b.String(); strings.HasSuffix(text, "&") || strings.HasSuffix(text, "\n") {
		return
	}
	p.write(";")
}

// flushHeredocs writes an operator and the bodies that wait. A lone ";" is not
// written.
func (p *sourcePrinter) flushHeredocs(op string) {
	shown := op != "" && op != ";"
	if shown {
		p.write(op)
	}
	if len(p.heredocs) == 0 {
		return
	}
	p.write("\n")
	for _, r := range p.heredocs {
		delim, _ := p.delimiter(r)
		if r.Hdoc != nil {
			p.heredocBody(r.Hdoc)
		}
		p.write(delim + "\n")
	}
	if shown {
		p.write(" ")
	}
	p.heredocs, p.wasHere = nil, true
}

func (p *sourcePrinter) delimiter(r *syntax.Redirect) (string, bool) {
	text := wordSource(r.Word)
	plain := strings.NewReplacer(`\`, "", `'`, "", `"`, "").Replace(text)
	return plain, plain != text
}

func (p *sourcePrinter) heredocBody(w *syntax.Word) {
	for _, part := range w.Parts {
		if q, ok := part.(*syntax.SglQuoted); ok {
			p.write(q.Value)
			continue
		}
		p.part(part)
	}
}

// functionBody writes "{ ... }" with the redirections after it.
func (p *sourcePrinter) functionBody(body *syntax.Stmt) {
	p.spaces()
	p.write("{ \n")
	p.inFunc++
	p.indent += indentation
	redirs := body.Redirs
	if g, ok := body.Cmd.(*syntax.Block); ok {
		p.list(g.Stmts)
	} else {
		p.stmt(body)
		redirs = nil
	}
	p.flushHeredocs("")
	p.indent -= indentation
	p.inFunc--
	p.newline("}")
	p.redirects(redirs, " ")
}

// list writes commands one after another.
func (p *sourcePrinter) list(stmts []*syntax.Stmt) {
	connected := len(stmts) > 1 || len(stmts) == 1 && stmts[0].Background
	if connected {
		p.joined++
		defer func() { p.joined-- }()
	}
	for i, st := range stmts {
		p.stmt(st)
		if i > 0 && !st.Background {
			p.flushHeredocs("")
		}
		if i == len(stmts)-1 {
			if st.Background {
				p.flushHeredocs(" &")
			}
			return
		}
		if st.Background {
			p.flushHeredocs(" &")
			p.write(" ")
			p.skip++
			continue
		}
		p.between(st)
	}
}

// between writes what separates a command from the next one.
func (p *sourcePrinter) between(st *syntax.Stmt) {
	newline := p.comsub && !st.Semicolon.IsValid()
	switch {
	case len(p.heredocs) > 0 && p.comsub:
		p.flushHeredocs("")
	case len(p.heredocs) > 0:
		p.flushHeredocs(";")
	case newline:
	case p.wasHere && !p.comsub:
		p.wasHere = false
	default:
		p.write(";")
	}
	switch {
	case p.inFunc > 0:
		p.write("\n")
	case newline:
		p.write("\n")
		p.skip++
	default:
		p.write(" ")
		p.skip++
	}
}

// stmt writes a command with its redirections.
func (p *sourcePrinter) stmt(st *syntax.Stmt) {
	if p.skip > 0 {
		p.skip--
	} else {
		p.spaces()
	}
	if st.Negated {
		p.write("! ")
	}
	switch c := st.Cmd.(type) {
	case nil:
	case *syntax.CallExpr:
		p.call(c)
	case *syntax.DeclClause:
		p.decl(c)
	case *syntax.BinaryCmd:
		p.binary(c)
	default:
		p.compound(c)
	}
	sep := " "
	if st.Cmd == nil {
		sep = ""
	}
	p.redirects(st.Redirs, sep)
}

// inline writes a command where indentation was written already.
func (p *sourcePrinter) inline(st *syntax.Stmt) {
	p.skip++
	p.stmt(st)
}

func (p *sourcePrinter) inlineList(stmts []*syntax.Stmt) {
	p.skip++
	p.list(stmts)
}

func (p *sourcePrinter) call(c *syntax.CallExpr) {
	sep := ""
	for _, a := range c.Assigns {
		p.write(sep)
		p.assign(a)
		sep = " "
	}
	for _, w := range c.Args {
		p.write(sep)
		p.parts(w.Parts)
		sep = " "
	}
}

func (p *sourcePrinter) decl(c *syntax.DeclClause) {
	p.write(c.Variant.Value)
	for _, a := range c.Args {
		p.write(" ")
		p.assign(a)
	}
}

func (p *sourcePrinter) assign(a *syntax.Assign) {
	if a.Naked {
		if a.Name != nil {
			p.write(a.Name.Value)
		} else {
			p.parts(a.Value.Parts)
		}
		return
	}
	p.write(a.Name.Value)
	if a.Index != nil {
		p.write("[" + arithSource(a.Index) + "]")
	}
	if a.Append {
		p.write("+")
	}
	p.write("=")
	switch {
	case a.Array != nil:
		p.array(a.Array)
	case a.Value != nil:
		p.parts(a.Value.Parts)
	}
}

func (p *sourcePrinter) array(arr *syntax.ArrayExpr) {
	p.write("(")
	for i, el := range arr.Elems {
		if i > 0 {
			p.write(" ")
		}
		parts := el.Value.Parts
		if el.Index != nil {
			p.write("[" + arithSource(el.Index) + "]")
			if len(parts) > 0 && isAppendMark(parts[0]) {
				p.write("+")
				parts = parts[1:]
			}
			p.write("=")
		}
		p.parts(parts)
	}
	p.write(")")
}

func (p *sourcePrinter) binary(c *syntax.BinaryCmd) {
	p.joined++
	p.inline(c.X)
	switch c.Op {
	case syntax.AndStmt:
		p.flushHeredocs(" && ")
	case syntax.OrStmt:
		p.flushHeredocs(" || ")
	default:
		if c.Op == syntax.PipeAll {
			p.write(" 2>&1")
		}
		p.flushHeredocs(" |")
		p.write(" ")
	}
	p.inline(c.Y)
	p.joined--
	if c.Op == syntax.AndStmt || c.Op == syntax.OrStmt || p.joined == 0 {
		p.flushHeredocs("")
	}
}

// body writes the indented commands of a loop or branch and a semicolon.
func (p *sourcePrinter) body(stmts []*syntax.Stmt) {
	p.indent += indentation
	p.list(stmts)
	p.flushHeredocs("")
	p.indent -= indentation
}

func (p *sourcePrinter) compound(cmd syntax.Command) {
	switch c := cmd.(type) {
	case *syntax.Block:
		p.group(c)
	case *syntax.Subshell:
		p.write("( ")
		p.inlineList(c.Stmts)
		p.flushHeredocs("")
		p.write(" )")
	case *syntax.IfClause:
		p.ifClause(c)
	case *syntax.WhileClause:
		word := "while "
		if c.Until {
			word = "until "
		}
		p.write(word)
		p.inlineList(c.Cond)
		p.flushHeredocs("")
		p.semicolon()
		p.write(" do\n")
		p.body(c.Do)
		p.semicolon()
		p.newline("done")
	case *syntax.ForClause:
		p.forClause(c)
	case *syntax.CaseClause:
		p.caseClause(c)
	case *syntax.ArithmCmd:
		p.write("((" + arithSource(c.X) + "))")
	case *syntax.TestClause:
		p.write("[[ " + testSource(c.X) + " ]]")
	case *syntax.FuncDecl:
		p.write("function " + c.Name.Value + " () \n")
		p.functionBody(c.Body)
		p.wasHere = false
	case *syntax.TimeClause:
		p.write("time ")
		if c.PosixFormat {
			p.write("-p ")
		}
		if c.Stmt != nil {
			p.inline(c.Stmt)
		}
	case *syntax.CoprocClause:
		name := "COPROC"
		if c.Name != nil {
			name = wordSource(c.Name)
		}
		p.write("coproc " + name + " ")
		p.inline(c.Stmt)
	}
}

func (p *sourcePrinter) group(c *syntax.Block) {
	p.write("{ ")
	if p.inFunc == 0 {
		p.inlineList(c.Stmts)
		p.flushHeredocs("")
		p.semicolon()
		p.write(" }")
		return
	}
	p.write("\n")
	p.body(c.Stmts)
	p.newline("}")
}

func (p *sourcePrinter) ifClause(c *syntax.IfClause) {
	p.write("if ")
	p.inlineList(c.Cond)
	p.semicolon()
	p.write(" then\n")
	p.body(c.Then)
	if e := c.Else; e != nil {
		p.semicolon()
		p.newline("else\n")
		if e.Cond == nil {
			p.body(e.Then)
		} else {
			p.indent += indentation
			p.spaces()
			p.ifClause(e)
			p.indent -= indentation
		}
	}
	p.semicolon()
	p.newline("fi")
}

func (p *sourcePrinter) forClause(c *syntax.ForClause) {
	switch l := c.Loop.(type) {
	case *syntax.CStyleLoop:
		text := func(x syntax.ArithmExpr) string {
			if x == nil {
				return "1"
			}
			return strings.TrimLeft(arithSource(x), " \t\n")
		}
		p.write("for ((" + text(l.Init) + "; " + text(l.Cond) + "; " + text(l.Post) + "))")
	case *syntax.WordIter:
		word := "for "
		if c.Select {
			word = "select "
		}
		p.write(word + l.Name.Value + " in ")
		for i, w := range l.Items {
			if i > 0 {
				p.write(" ")
			}
			p.parts(w.Parts)
		}
		if !l.InPos.IsValid() {
			p.write(`"$@"`)
		}
		p.write(";")
	}
	p.newline("do\n")
	p.body(c.Do)
	p.semicolon()
	p.newline("done")
}

func (p *sourcePrinter) caseClause(c *syntax.CaseClause) {
	p.write("case ")
	p.parts(c.Word.Parts)
	p.write(" in ")
	p.indent += indentation
	for _, item := range c.Items {
		p.newline("")
		for i, w := range item.Patterns {
			if i > 0 {
				p.write(" | ")
			}
			p.parts(w.Parts)
		}
		p.write(")\n")
		p.body(item.Stmts)
		op := item.Op.String()
		p.newline(op)
	}
	p.indent -= indentation
	p.newline("esac")
}

func (p *sourcePrinter) redirects(rs []*syntax.Redirect, sep string) {
	if len(rs) == 0 {
		return
	}
	p.wasHere = false
	for _, r := range rs {
		p.write(sep)
		p.redirect(r)
		sep = " "
	}
	if p.joined == 0 {
		p.flushHeredocs("")
	}
}

// redirect writes a redirection in Bash's spacing.
func (p *sourcePrinter) redirect(r *syntax.Redirect) {
	n := ""
	if r.N != nil {
		n = r.N.Value
		if fd, err := strconv.Atoi(n); err == nil && fd == defaultFD(r.Op) && r.Op != syntax.DplIn && r.Op != syntax.DplOut {
			n = ""
		}
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		p.write(n + r.Op.String())
		delim, quoted := p.delimiter(r)
		if quoted {
			delim = "'" + delim + "'"
		}
		p.write(delim)
		p.heredocs = append(p.heredocs, r)
	case syntax.DplIn, syntax.DplOut:
		op := r.Op.String()
		word := wordSource(r.Word)
		if n == "" && (word == "-" || isDigits(strings.TrimSuffix(word, "-"))) {
			n = strconv.Itoa(defaultFD(r.Op))
		}
		if word == "-" {
			op = ">&"
		} else if strings.HasSuffix(word, "-") {
			op = ">&"
		}
		p.write(n + op + word)
	default:
		p.write(n + r.Op.String() + " ")
		p.parts(r.Word.Parts)
	}
}
