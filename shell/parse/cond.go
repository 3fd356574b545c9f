package parse

import (
	"fmt"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// unaryTests are the one-operand operators of [[ ]].
var unaryTests = map[string]syntax.UnTestOperator{
	"-a": syntax.TsExists, "-b": syntax.TsBlckSp, "-c": syntax.TsCharSp, "-d": syntax.TsDirect,
	"-e": syntax.TsExists, "-f": syntax.TsRegFile, "-g": syntax.TsGIDSet, "-h": syntax.TsSmbLink,
	"-k": syntax.TsSticky, "-p": syntax.TsNmPipe, "-r": syntax.TsRead, "-s": syntax.TsNoEmpty,
	"-t": syntax.TsFdTerm, "-u": syntax.TsUIDSet, "-w": syntax.TsWrite, "-x": syntax.TsExec,
	"-o": syntax.TsOptSet, "-v": syntax.TsVarSet, "-z": syntax.TsEmpStr, "-n": syntax.TsNempStr,
	"-O": syntax.TsUsrOwn, "-G": syntax.TsGrpOwn, "-L": syntax.TsSmbLink, "-S": syntax.TsSocket,
	"-N": syntax.TsModif, "-R": syntax.TsRefVar,
}

// binaryTests are its two-operand operators that are words.
var binaryTests = map[string]syntax.BinTestOperator{
	"=": syntax.TsMatchShort, "==": syntax.TsMatch, "!=": syntax.TsNoMatch, "=~": syntax.TsReMatch,
	"-nt": syntax.TsNewer, "-ot": syntax.TsOlder, "-ef": syntax.TsDevIno,
	"-eq": syntax.TsEql, "-ne": syntax.TsNeq, "-lt": syntax.TsLss, "-le": syntax.TsLeq,
	"-gt": syntax.TsGtr, "-ge": syntax.TsGeq,
}

// condFail reports a mistake in [[ ]]. Bash forgets to set the status then,
// unless the input is at its end, and goes no further.
func (p *Parser) condFail(line int, format string, args ...any) {
	status := -1
	if strings.TrimSpace(p.src[p.off:]) == "" {
		status = 2
	}
	p.fail(&Error{Line: line, Msg: fmt.Sprintf(format, args...), Status: status})
}

func (p *Parser) testClause() syntax.Command {
	open := p.word0()
	c := &syntax.TestClause{Left: open.pos()}
	c.X = p.condOr()
	t := *p.peek()
	if t.lit() != "]]" {
		if t.kind == tEOF {
			p.fail(&Error{Line: open.line, Msg: "unexpected EOF while looking for `]]'"})
		}
		p.condFail(t.line, "syntax error in conditional expression: unexpected token `%s'", t.source())
	}
	c.Right = p.word0().pos()
	return c
}

func (p *Parser) condOr() syntax.TestExpr {
	x := p.condAnd()
	if t := *p.peek(); t.kind == tOrOr {
		p.word0()
		return &syntax.BinaryTest{OpPos: t.pos(), Op: syntax.OrTest, X: x, Y: p.condOr()}
	}
	return x
}

func (p *Parser) condAnd() syntax.TestExpr {
	x := p.condTerm()
	if t := *p.peek(); t.kind == tAndAnd {
		p.word0()
		return &syntax.BinaryTest{OpPos: t.pos(), Op: syntax.AndTest, X: x, Y: p.condAnd()}
	}
	return x
}

// condNewlines skips newlines inside [[ ]].
func (p *Parser) condNewlines() {
	for p.peek().kind == tNewline {
		p.word0()
	}
}

func (p *Parser) condTerm() syntax.TestExpr {
	p.enter()
	defer p.leave()
	p.condNewlines()
	t := *p.peek()
	switch {
	case t.kind == tLparen:
		p.word0()
		x := &syntax.ParenTest{Lparen: t.pos(), X: p.condOr()}
		p.condNewlines()
		c := *p.peek()
		if c.kind != tRparen {
			p.condFail(c.line, "unexpected token `%s', expected `)'", c.source())
		}
		x.Rparen = p.word0().pos()
		p.condNewlines()
		return x
	case t.lit() == "!":
		p.word0()
		return &syntax.UnaryTest{OpPos: t.pos(), Op: syntax.TsNot, X: p.condTerm()}
	case t.lit() == "]]":
		p.fail(&Error{Line: t.line, Status: -1}) // Bash says nothing
	case t.kind == tEOF:
		p.fail(&Error{Line: p.endLine(), Msg: "unexpected token `EOF' in conditional command"})
	case t.kind != tWord && t.kind != tNumber:
		p.condFail(t.line, "unexpected token `%s' in conditional command", t.source())
	}
	p.word0()
	if op, ok := unaryTests[t.lit()]; ok {
		return p.condUnary(t, op)
	}
	return p.condBinary(t)
}

// operand makes a word of a token that may be one, in [[ ]].
func (t token) operand() *syntax.Word {
	if t.kind == tNumber {
		return &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: t.pos(), Value: t.text}}}
	}
	return t.word
}

func (p *Parser) condUnary(op token, code syntax.UnTestOperator) syntax.TestExpr {
	arg := *p.peek()
	if arg.kind == tEOF {
		p.fail(&Error{Line: arg.line, Msg: "unexpected argument `newline' to conditional unary operator"})
	}
	if arg.kind != tWord && arg.kind != tNumber || arg.lit() == "]]" {
		p.condFail(arg.line, "unexpected argument `%s' to conditional unary operator", arg.source())
	}
	p.word0()
	p.condNewlines()
	return &syntax.UnaryTest{OpPos: op.pos(), Op: code, X: arg.operand()}
}

func (p *Parser) condBinary(left token) syntax.TestExpr {
	t := *p.peek()
	op, ok := binaryTests[t.lit()]
	switch {
	case t.kind == tLess:
		op = syntax.TsBefore
	case t.kind == tGreat:
		op = syntax.TsAfter
	case ok:
	case t.lit() == "]]", t.kind == tAndAnd, t.kind == tOrOr, t.kind == tRparen:
		return left.operand()
	case t.kind == tWord:
		p.condFail(t.line, "conditional binary operator expected")
	case t.kind == tEOF:
		p.fail(&Error{Line: t.line, Msg: "unexpected token `newline', conditional binary operator expected"})
	default:
		p.condFail(t.line, "unexpected token `%s', conditional binary operator expected", t.source())
	}
	p.word0()
	b := &syntax.BinaryTest{OpPos: t.pos(), Op: op, X: left.operand()}
	switch op {
	case syntax.TsReMatch:
		b.Y = p.condWord(inRegex)
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
		b.Y = p.condWord(inPattern)
	default:
		b.Y = p.condWord(inCommand)
	}
	p.condNewlines()
	return b
}

// condWord reads the right side of a comparison.
func (p *Parser) condWord(ctx wordContext) *syntax.Word {
	p.blanks()
	if p.off >= len(p.src) {
		p.fail(&Error{Line: p.line, Msg: "unexpected argument `newline' to conditional binary operator"})
	}
	if strings.HasPrefix(p.src[p.off:], "]]") {
		p.condFail(p.line, "unexpected argument `]]' to conditional binary operator")
	}
	line := p.line
	scanned := p.scan(ctx)
	if ctx == inRegex && !scanned.ended && scanned.parens > 0 {
		p.failEOF(')', line)
	}
	w := &syntax.Word{Parts: scanned.parts}
	if len(w.Parts) == 0 {
		t := p.peek()
		p.condFail(t.line, "unexpected argument `%s' to conditional binary operator", t.source())
	}
	return w
}
