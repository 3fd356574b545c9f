package awk

import (
	"fmt"
	"strings"
)

// special variables, by index.
const (
	vNF = iota
	vNR
	vFNR
	vFS
	vOFS
	vORS
	vRS
	vRT
	vSUBSEP
	vCONVFMT
	vOFMT
	vRSTART
	vRLENGTH
	vFILENAME
	vFIELDWIDTHS
	vFPAT
	vIGNORECASE
	vERRNO
	vBINMODE
	vLINT
	vTEXTDOMAIN
	vARGC
	vARGIND
	vARGV
	vENVIRON
	vPROCINFO
	numSpecial
)

var specials = map[string]int{
	"NF": vNF, "NR": vNR, "FNR": vFNR, "FS": vFS, "OFS": vOFS, "ORS": vORS, "RS": vRS, "RT": vRT, "SUBSEP": vSUBSEP,
	"CONVFMT": vCONVFMT, "OFMT": vOFMT, "RSTART": vRSTART, "RLENGTH": vRLENGTH, "FILENAME": vFILENAME,
	"FIELDWIDTHS": vFIELDWIDTHS, "FPAT": vFPAT, "IGNORECASE": vIGNORECASE, "ERRNO": vERRNO, "BINMODE": vBINMODE,
	"LINT": vLINT, "TEXTDOMAIN": vTEXTDOMAIN, "ARGC": vARGC, "ARGIND": vARGIND, "ARGV": vARGV, "ENVIRON": vENVIRON, "PROCINFO": vPROCINFO,
}

// isArrayVar reports whether a special variable is an array.
func isArrayVar(index int) bool { return index == vARGV || index == vENVIRON || index == vPROCINFO }

// maxDepth is how deep expressions and statements may nest.
const maxDepth = 1000

// parser reads a program.
type parser struct {
	lexer
	t    token // the present token
	last token // the one before
	prog *program

	globals map[string]int
	locals  map[string]int // of the function under way, or nil
	calls   []*callExpr
	// Where statements stand.
	inFunction, inLoop, inSwitch int
	inBegin                      string // "BEGIN" or the like, when in such an action
	noIn, noGT                   bool
	depth                        int
	utf8                         bool
	warnCall                     func(at pos, message string)
}

func newParser(utf8 bool, warn func(at pos, message string)) *parser {
	p := &parser{prog: &program{functions: map[string]*function{}}, globals: map[string]int{}, utf8: utf8, warnCall: warn}
	p.warn = func(offset int, message string) { warn(p.at(offset), message) }
	return p
}

// parse reads one source. A mistake is returned as *syntaxError.
func (p *parser) parse(src *source) (err error) {
	defer catch(&err)
	p.lexer.src, p.lexer.pos = src, 0
	p.advance()
	for {
		p.skipNewlines()
		switch p.t.kind {
		case tEOF:
			return nil
		case tSemicolon:
			p.plain(p.t.pos, "each rule must have a pattern or an action part")
		}
		p.item()
	}
}

// catch turns a thrown mistake into an error.
func catch(err *error) {
	switch v := recover().(type) {
	case nil:
	case *syntaxError:
		*err = v
	default:
		panic(v)
	}
}

// finish links calls to functions.
func (p *parser) finish() error {
	for _, c := range p.calls {
		c.fn = p.prog.functions[c.name]
		if c.fn == nil {
			return fmt.Errorf("%s:%d: fatal: function `%s' not defined", c.pos.src.name, c.pos.line, c.name)
		}
		if len(c.args) > len(c.fn.params) {
			p.warnCall(c.pos, fmt.Sprintf("function `%s' called with more arguments than declared", c.name))
		}
	}
	p.prog.globals = make([]string, len(p.globals))
	for name, i := range p.globals {
		p.prog.globals[i] = name
	}
	return nil
}

func (p *parser) advance() {
	p.last = p.t
	p.t = p.lexer.next()
}

// here is the present place.
func (p *parser) here() pos { return p.at(p.t.pos) }

func (p *parser) at(offset int) pos {
	return pos{p.lexer.src, p.lexer.src.line + strings.Count(p.lexer.src.text[:offset], "\n")}
}

// syntax throws a syntax error at the present token.
func (p *parser) syntax() {
	switch {
	case p.t.kind == tEOF || p.t.kind == tNewline:
		p.fail(p.t.pos, "unexpected newline or end of string")
	}
	p.fail(p.t.pos, "syntax error")
}

// plain throws a mistake that is shown without the line.
func (p *parser) plain(offset int, format string, args ...any) {
	panic(&syntaxError{src: p.lexer.src, pos: offset, message: fmt.Sprintf(format, args...), plain: true})
}

func (p *parser) expect(k tok) {
	if p.t.kind != k {
		p.syntax()
	}
	p.advance()
}

func (p *parser) skipNewlines() {
	for p.t.kind == tNewline {
		p.advance()
	}
}

func (p *parser) skipTerminators() {
	for p.t.kind == tNewline || p.t.kind == tSemicolon {
		p.advance()
	}
}

// enter guards against nesting too deep; leave undoes it.
func (p *parser) enter() {
	if p.depth++; p.depth > maxDepth {
		p.fail(p.t.pos, "nesting too deep")
	}
}

func (p *parser) leave() { p.depth-- }

// item reads a rule or a function.
func (p *parser) item() {
	special := map[tok]*[]stmt{tBegin: &p.prog.begin, tEnd: &p.prog.end, tBeginFile: &p.prog.beginFile, tEndFile: &p.prog.endFile}
	switch list := special[p.t.kind]; {
	case list != nil:
		name := p.lexer.src.text[p.t.pos:p.t.end]
		p.advance()
		if p.t.kind != tLBrace {
			p.plain(p.t.pos, "%s blocks must have an action part", name)
		}
		p.inBegin = name
		*list = append(*list, p.block())
		p.inBegin = ""
	case p.t.kind == tFunction:
		p.function()
	default:
		p.rule()
	}
	switch {
	case p.t.kind == tNewline || p.t.kind == tSemicolon:
		p.advance()
	case p.t.kind != tEOF && p.last.kind != tRBrace:
		p.syntax()
	}
}

func (p *parser) rule() {
	r := &rule{}
	if p.t.kind != tLBrace {
		r.pattern = p.expr()
		if p.t.kind == tComma {
			p.advance()
			p.skipNewlines()
			r.to = p.expr()
		}
	}
	if p.t.kind == tLBrace {
		r.body = p.block()
	}
	p.prog.rules = append(p.prog.rules, r)
}

func (p *parser) function() {
	p.advance()
	if p.t.kind != tName && p.t.kind != tFuncName {
		if p.t.kind == tBuiltin {
			p.plain(p.t.pos, "error: `%s' is a built-in function, it cannot be redefined", p.t.text)
		}
		p.syntax()
	}
	f := &function{name: p.t.text, pos: p.here()}
	if p.prog.functions[f.name] != nil {
		p.plain(p.t.pos, "error: function name `%s' previously defined", f.name)
	}
	p.advance()
	p.expect(tLParen)
	p.locals = map[string]int{}
	p.skipNewlines()
	for p.t.kind != tRParen {
		if p.t.kind != tName {
			p.syntax()
		}
		name := p.t.text
		if name == f.name {
			p.plain(p.t.pos, "error: function `%s': cannot use function name as parameter name", name)
		}
		if i, dup := p.locals[name]; dup {
			p.plain(p.t.pos, "error: function `%s': parameter #%d, `%s', duplicates parameter #%d", f.name, len(f.params)+1, name, i+1)
		}
		p.locals[name] = len(f.params)
		f.params = append(f.params, name)
		p.advance()
		if p.t.kind == tComma {
			p.advance()
			p.skipNewlines()
		} else if p.t.kind != tRParen {
			p.syntax()
		}
	}
	p.advance()
	p.skipNewlines()
	p.prog.functions[f.name] = f
	p.inFunction++
	f.body = p.block()
	p.inFunction--
	p.locals = nil
}

// block reads { statements }.
func (p *parser) block() *blockStmt {
	p.expect(tLBrace)
	b := &blockStmt{list: p.statements(tRBrace)}
	if p.t.kind != tRBrace {
		p.syntax()
	}
	p.advance()
	return b
}

// statements reads up to one of the tokens that end a list.
func (p *parser) statements(ends ...tok) []stmt {
	var list []stmt
	for {
		p.skipTerminators()
		if p.t.kind == tEOF {
			return list
		}
		for _, e := range ends {
			if p.t.kind == e {
				return list
			}
		}
		list = append(list, p.statement())
	}
}

// body reads the statement of a loop or a condition.
func (p *parser) body() stmt {
	p.skipNewlines()
	if p.t.kind == tSemicolon {
		p.advance()
		return &blockStmt{}
	}
	return p.statement()
}

// loopBody is body within a loop.
func (p *parser) loopBody() stmt {
	p.inLoop++
	b := p.body()
	p.inLoop--
	return b
}

// endSimple reads the end of a simple statement.
func (p *parser) endSimple() {
	switch p.t.kind {
	case tNewline, tSemicolon:
		p.advance()
	case tRBrace, tEOF:
	default:
		p.syntax()
	}
}

func (p *parser) statement() stmt {
	p.enter()
	defer p.leave()
	switch p.t.kind {
	case tLBrace:
		return p.block()
	case tIf:
		return p.ifStatement()
	case tWhile:
		p.advance()
		cond := p.condition()
		if p.t.kind == tSemicolon {
			p.advance()
			return &whileStmt{cond, &blockStmt{}}
		}
		return &whileStmt{cond, p.loopBody()}
	case tDo:
		return p.doStatement()
	case tFor:
		return p.forStatement()
	case tSwitch:
		return p.switchStatement()
	}
	s := p.simple()
	p.endSimple()
	return s
}

// condition reads ( expression ).
func (p *parser) condition() expr {
	p.expect(tLParen)
	x := p.free(p.expr)
	p.expect(tRParen)
	return x
}

func (p *parser) ifStatement() stmt {
	p.advance()
	s := &ifStmt{cond: p.condition()}
	s.then = p.body()
	// A semicolon or newlines may stand before else.
	state := p.lexer.pos
	t, last := p.t, p.last
	p.skipTerminators()
	if p.t.kind != tElse {
		p.lexer.pos, p.t, p.last = state, t, last
		return s
	}
	p.advance()
	s.els = p.body()
	return s
}

func (p *parser) doStatement() stmt {
	p.advance()
	s := &doStmt{body: p.loopBody()}
	p.skipTerminators()
	if p.t.kind != tWhile {
		p.syntax()
	}
	p.advance()
	s.cond = p.condition()
	p.endSimple()
	return s
}

func (p *parser) forStatement() stmt {
	p.advance()
	p.expect(tLParen)
	if s := p.forIn(); s != nil {
		return s
	}
	s := &forStmt{}
	if p.t.kind != tSemicolon {
		s.init = p.free2(p.simple)
	}
	p.expect(tSemicolon)
	p.skipNewlines()
	if p.t.kind != tSemicolon {
		s.cond = p.free(p.expr)
	}
	p.expect(tSemicolon)
	p.skipNewlines()
	if p.t.kind != tRParen {
		s.step = p.free2(p.simple)
	}
	p.expect(tRParen)
	if p.t.kind == tSemicolon {
		p.advance()
		s.body = &blockStmt{}
		return s
	}
	s.body = p.loopBody()
	return s
}

// forIn reads the rest of for (NAME in ARRAY); nil, and nothing read, when it
// is another loop.
func (p *parser) forIn() stmt {
	state, t, last := p.lexer.pos, p.t, p.last
	back := func() stmt {
		p.lexer.pos, p.t, p.last = state, t, last
		return nil
	}
	if p.t.kind != tName {
		return nil
	}
	name, at := p.t.text, p.here()
	p.advance()
	if p.t.kind != tIn {
		return back()
	}
	p.advance()
	if p.t.kind != tName {
		return back()
	}
	ref := p.arrayRef()
	if p.t.kind != tRParen {
		return back()
	}
	p.advance()
	to := p.variable(name)
	if p.t.kind == tSemicolon {
		p.advance()
		return &forInStmt{to, ref, &blockStmt{}, at}
	}
	return &forInStmt{to, ref, p.loopBody(), at}
}

func (p *parser) switchStatement() stmt {
	p.advance()
	s := &switchStmt{x: p.condition()}
	p.skipNewlines()
	p.expect(tLBrace)
	p.inSwitch++
	for p.skipTerminators(); p.t.kind != tRBrace; p.skipTerminators() {
		var c switchCase
		switch p.t.kind {
		case tCase:
			p.advance()
			p.caseLabel(&c)
		case tDefault:
			p.advance()
		default:
			p.syntax()
		}
		p.skipNewlines()
		p.expect(tColon)
		c.body = p.statements(tCase, tDefault, tRBrace)
		s.cases = append(s.cases, c)
	}
	p.inSwitch--
	p.advance()
	return s
}

func (p *parser) caseLabel(c *switchCase) {
	switch p.t.kind {
	case tSlash, tDivAssign:
		c.x = p.regex()
	case tMinus:
		p.advance()
		c.x = &negExpr{p.primary()}
	default:
		c.x = p.primary()
	}
}

// free parses with > and in as operators again.
func (p *parser) free(f func() expr) expr {
	noIn, noGT := p.noIn, p.noGT
	p.noIn, p.noGT = false, false
	x := f()
	p.noIn, p.noGT = noIn, noGT
	return x
}

func (p *parser) free2(f func() stmt) stmt {
	noIn, noGT := p.noIn, p.noGT
	p.noIn, p.noGT = false, false
	s := f()
	p.noIn, p.noGT = noIn, noGT
	return s
}

// simple reads a statement that has no statement in it.
func (p *parser) simple() stmt {
	start := p.t
	switch p.t.kind {
	case tPrint, tPrintf:
		return p.print()
	case tNext, tNextFile:
		p.advance()
		p.prog.unwinds = p.prog.unwinds || p.inFunction > 0
		if p.inBegin != "" && !(start.kind == tNextFile && p.inBegin == "BEGINFILE") {
			p.plain(start.pos, "error: `%s' used in %s action", p.lexer.src.text[start.pos:start.end], p.inBegin)
		}
		return &jumpStmt{map[tok]flow{tNext: flowNext, tNextFile: flowNextFile}[start.kind], p.at(start.pos)}
	case tBreak, tContinue:
		p.advance()
		if start.kind == tBreak {
			if p.inLoop+p.inSwitch == 0 {
				p.plain(start.pos, "error: `break' is not allowed outside a loop or switch")
			}
			return &jumpStmt{flowBreak, p.at(start.pos)}
		}
		if p.inLoop == 0 {
			p.plain(start.pos, "error: `continue' is not allowed outside a loop")
		}
		return &jumpStmt{flowContinue, p.at(start.pos)}
	case tExit:
		p.advance()
		p.prog.unwinds = p.prog.unwinds || p.inFunction > 0
		return &exitStmt{p.optional()}
	case tReturn:
		if p.inFunction == 0 {
			p.fail(p.t.pos, "`return' used outside function context")
		}
		p.advance()
		return &returnStmt{p.optional()}
	case tDelete:
		return p.delete()
	}
	at := p.here()
	return &exprStmt{p.expr(), at}
}

// optional reads an expression unless the statement ends.
func (p *parser) optional() expr {
	switch p.t.kind {
	case tNewline, tSemicolon, tRBrace, tEOF:
		return nil
	}
	return p.expr()
}

func (p *parser) delete() stmt {
	p.advance()
	paren := p.t.kind == tLParen
	if paren {
		p.advance()
	}
	if p.t.kind != tName {
		p.syntax()
	}
	at := p.here()
	name := p.t.text
	p.advance()
	ref := p.named(name)
	s := &deleteStmt{array: ref, pos: at}
	for p.t.kind == tLBracket {
		if s.subs != nil {
			s.array = arrayRef{name: name, global: -1, local: -1, special: -1, outer: &indexExpr{s.array, s.subs, at}}
		}
		s.subs = p.subscript()
	}
	if paren {
		p.expect(tRParen)
	}
	return s
}

// print reads print and printf.
func (p *parser) print() stmt {
	s := &printStmt{printf: p.t.kind == tPrintf, pos: p.here()}
	p.advance()
	if p.t.kind == tLParen {
		s.args = p.parenthesised()
	}
	if s.args == nil && !p.printEnds() {
		p.noGT = true
		s.args = p.list()
		p.noGT = false
	}
	switch p.t.kind {
	case tGreater, tAppend, tPipe, tPipeBoth:
		s.op = p.t.kind
		p.advance()
		p.noGT = true
		s.to = p.concatenation()
		p.noGT = false
	}
	if s.printf && len(s.args) == 0 {
		p.plain(s.offset(p), "fatal: printf: no arguments")
	}
	return s
}

// offset is where the statement starts, near enough for a message.
func (s *printStmt) offset(p *parser) int { return p.last.pos }

func (p *parser) printEnds() bool {
	switch p.t.kind {
	case tNewline, tSemicolon, tRBrace, tEOF, tGreater, tAppend, tPipe, tPipeBoth:
		return true
	}
	return false
}

// parenthesised reads (a, b) when that is all of a print's arguments; nil, and
// nothing read, when the parenthesis only starts an expression.
func (p *parser) parenthesised() []expr {
	state, t, last, calls := p.lexer.pos, p.t, p.last, len(p.calls)
	p.advance()
	if p.t.kind == tRParen {
		p.syntax()
	}
	p.skipNewlines()
	noIn, noGT := p.noIn, p.noGT
	p.noIn, p.noGT = false, false
	args := p.list()
	p.noIn, p.noGT = noIn, noGT
	p.skipNewlines()
	if p.t.kind == tRParen {
		p.advance()
		if p.printEnds() && !(p.t.kind == tPipe && p.peekGetline()) {
			return args
		}
	} else if len(args) == 1 {
		p.syntax()
	}
	p.calls = p.calls[:calls]
	p.lexer.pos, p.t, p.last = state, t, last
	return nil
}

// peekGetline reports whether getline follows the present token.
func (p *parser) peekGetline() bool {
	state := p.lexer.pos
	t := p.lexer.next()
	p.lexer.pos = state
	return t.kind == tGetline
}

// list reads expressions with commas between them.
func (p *parser) list() []expr {
	list := []expr{p.expr()}
	for p.t.kind == tComma {
		p.advance()
		p.skipNewlines()
		list = append(list, p.expr())
	}
	return list
}
