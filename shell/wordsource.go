package shell

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/parse"
)

// wordSource is a word as it was written.
func wordSource(w *syntax.Word) string {
	if w == nil {
		return ""
	}
	p := &sourcePrinter{}
	p.parts(w.Parts)
	return p.b.String()
}

func (p *sourcePrinter) parts(parts []syntax.WordPart) {
	for _, part := range parts {
		p.part(part)
	}
}

func (p *sourcePrinter) part(part syntax.WordPart) {
	switch x := part.(type) {
	case *syntax.Lit:
		p.write(x.Value)
	case *syntax.SglQuoted:
		if x.Dollar {
			e := escapes{ansi: true, wide: true}
			p.write(singleQuote(e.decode(x.Value)))
			return
		}
		if strings.IndexByte(x.Value, '\'') >= 0 { // made by the shell, not written
			p.write(singleQuote(x.Value))
			return
		}
		p.write("'" + x.Value + "'")
	case *syntax.DblQuoted:
		p.write(`"`)
		p.parts(x.Parts)
		p.write(`"`)
	case *syntax.ParamExp:
		p.paramExp(x)
	case *syntax.CmdSubst:
		if x.Backquotes {
			text := ""
			if len(x.Last) > 1 {
				text = x.Last[1].Text
			}
			p.write("`" + text + "`")
			return
		}
		p.write("$(" + substSource(x.Stmts, x.Last) + ")")
	case *syntax.ArithmExp:
		if x.Bracket {
			p.write("$[" + arithSource(x.X) + "]")
			return
		}
		p.write("$((" + arithSource(x.X) + "))")
	case *syntax.ProcSubst:
		p.write(x.Op.String() + substSource(x.Stmts, x.Last) + ")")
	case *syntax.BraceExp:
		p.write(braceSource(x))
	}
}

// substSource is what stands in a substitution: its commands, or its source
// where the parser kept that.
func substSource(stmts []*syntax.Stmt, source []syntax.Comment) string {
	if len(source) > 0 {
		return source[0].Text
	}
	q := &sourcePrinter{comsub: true}
	q.list(stmts)
	q.flushHeredocs("")
	text := q.b.String()
	if strings.HasPrefix(text, "(") {
		return " " + text
	}
	return text
}

// arithSource is an expression's text.
func arithSource(x syntax.ArithmExpr) string {
	w, _ := x.(*syntax.Word)
	return wordSource(w)
}

func (p *sourcePrinter) paramExp(x *syntax.ParamExp) {
	if x.Flags != nil {
		p.write(x.Flags.Value)
		return
	}
	if x.Short {
		p.write("$" + x.Param.Value)
		return
	}
	p.write("${")
	switch {
	case x.Length:
		p.write("#")
	case x.Excl:
		p.write("!")
	}
	p.write(x.Param.Value)
	if x.Index != nil {
		p.write("[" + arithSource(x.Index) + "]")
	}
	switch {
	case x.Names == syntax.NamesPrefix:
		p.write("*")
	case x.Names == syntax.NamesPrefixWords:
		p.write("@")
	case x.Slice != nil:
		p.write(":" + arithSource(x.Slice.Offset))
		if x.Slice.Length != nil {
			p.write(":" + arithSource(x.Slice.Length))
		}
	case x.Repl != nil:
		p.write("/")
		if x.Repl.All {
			p.write("/")
		}
		p.parts(x.Repl.Orig.Parts)
		if x.Repl.With != nil {
			p.write("/")
			p.parts(x.Repl.With.Parts)
		}
	case x.Exp != nil:
		p.write(expansionOp(x.Exp.Op))
		p.parts(x.Exp.Word.Parts)
	}
	p.write("}")
}

func expansionOp(op syntax.ParExpOperator) string {
	switch op {
	case parse.ToggleFirst:
		return "~"
	case parse.ToggleAll:
		return "~~"
	}
	return op.String()
}

// testSource is an expression of [[ ]].
func testSource(x syntax.TestExpr) string {
	switch x := x.(type) {
	case *syntax.Word:
		return "-n " + wordSource(x)
	case *syntax.ParenTest:
		return "( " + testSource(x.X) + " )"
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			return "! " + testSource(x.X)
		}
		return x.Op.String() + " " + operandSource(x.X)
	case *syntax.BinaryTest:
		if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
			return testSource(x.X) + " " + x.Op.String() + " " + testSource(x.Y)
		}
		return operandSource(x.X) + " " + x.Op.String() + " " + operandSource(x.Y)
	}
	return ""
}

func operandSource(x syntax.TestExpr) string {
	w, _ := x.(*syntax.Word)
	return wordSource(w)
}
