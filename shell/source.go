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
	wasHere  bool
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

// flushHeredocs writes the bodies that wait, after text.
func (p *sourcePrinter) flushHeredocs(text string) {
	if len(p.heredocs) == 0 {
		return
	}
	p.write(text)
	for _, r := range p.heredocs {
		delim, _ := p.delimiter(r)
		p.write("\n")
		if r.Hdoc != nil {
			p.heredocBody(r.Hdoc)
		}
		p.write(delim)
	}
	p.write("\n")
	p.heredocs = nil
	p.wasHere = true
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
	if !strings.HasSuffix(p.b.String(), "\n") {
		p.write("\n")
	}
	p.spaces()
	p.write("}")
	p.redirects(redirs)
}

// list writes commands one after another.
func (p *sourcePrinter) list(stmts []*syntax.Stmt) {
	for i, st := range stmts {
		p.stmt(st)
		if i == len(stmts)-1 {
			if st.Background {
				p.write(" &")
			}
			return
		}
		if st.Background {
			p.write(" & ")
			p.skip++
			continue
		}
		if len(p.heredocs) > 0 {
			p.flushHeredocs("")
		} else {
			p.write(";")
		}
		if p.inFunc > 0 {
			p.write("\n")
		} else {
			p.write(" ")
		}
	}
}

// stmt writes a command with its redirections.
func (p *sourcePrinter) stmt(st *syntax.Stmt) {
	if p.skip > 0 {
		p.skip--
	} else if p.inFunc > 0 {
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
	if st.Cmd == nil && len(st.Redirs) > 0 {
		p.redirect(st.Redirs[0])
		p.redirects(st.Redirs[1:])
		return
	}
	p.redirects(st.Redirs)
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
	p.inline(c.X)
	switch c.Op {
	case syntax.AndStmt:
		p.write(" && ")
	case syntax.OrStmt:
		p.write(" || ")
	default:
		if c.Op == syntax.PipeAll {
			p.write(" 2>&1")
		}
		if len(p.heredocs) > 0 {
			p.flushHeredocs(" |")
			p.write(" ")
		} else {
			p.write(" |")
		}
		p.write(" ")
	}
	if len(p.heredocs) > 0 {
		p.flushHeredocs("")
	}
	p.inline(c.Y)
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
			return strings.TrimSpace(arithSource(x))
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

func (p *sourcePrinter) redirects(rs []*syntax.Redirect) {
	for _, r := range rs {
		p.write(" ")
		p.redirect(r)
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
		if n == "" {
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
