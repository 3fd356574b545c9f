package awk

import "github.com/vfsd/vfsd/shell/cmd/regex"

// The grammar of expressions, loosest first: ?: || && in ~ comparison
// concatenation additive multiplicative unary power. An lvalue with an
// assignment operator behind it is an assignment wherever it stands.

func (p *parser) expr() expr {
	p.enter()
	defer p.leave()
	cond := p.or()
	if p.t.kind != tQuestion {
		return cond
	}
	p.advance()
	p.skipNewlines()
	yes := p.expr()
	p.skipNewlines()
	p.expect(tColon)
	p.skipNewlines()
	return &condExpr{cond, yes, p.expr()}
}

func (p *parser) or() expr {
	x := p.and()
	for p.t.kind == tOr {
		p.advance()
		p.skipNewlines()
		x = &orExpr{x, p.and()}
	}
	return x
}

func (p *parser) and() expr {
	x := p.in()
	for p.t.kind == tAnd {
		p.advance()
		p.skipNewlines()
		x = &andExpr{x, p.in()}
	}
	return x
}

func (p *parser) in() expr {
	x := p.match()
	for p.t.kind == tIn && !p.noIn {
		at := p.here()
		p.advance()
		x = &inExpr{[]expr{x}, p.arrayRef(), at}
	}
	return x
}

func (p *parser) match() expr {
	x := p.comparison()
	for p.t.kind == tMatch || p.t.kind == tNoMatch {
		not, at := p.t.kind == tNoMatch, p.here()
		p.advance()
		x = &matchExpr{x, p.comparison(), not, at}
	}
	return x
}

func (p *parser) comparison() expr {
	x := p.concatenation()
	for {
		switch p.t.kind {
		case tGreater:
			if p.noGT {
				return x
			}
		case tLess, tLessEq, tGreaterEq, tEqual, tNotEqual:
		case tPipe, tPipeBoth:
			if !p.peekGetline() {
				return x
			}
			x = p.pipeGetline(x)
			continue
		default:
			return x
		}
		op := p.t.kind
		p.advance()
		x = &compareExpr{op, x, p.concatenation()}
	}
}

// pipeGetline reads the rest of command | getline [var].
func (p *parser) pipeGetline(command expr) expr {
	op, at := p.t.kind, p.here()
	p.advance()
	p.advance()
	return &getlineExpr{to: p.optionalLvalue(), from: command, op: op, pos: at}
}

func (p *parser) concatenation() expr {
	x := p.additive()
	if !p.startsOperand() {
		return x
	}
	parts := []expr{x}
	for p.startsOperand() {
		parts = append(parts, p.additive())
	}
	var y expr = &concatExpr{parts}
	for (p.t.kind == tPipe || p.t.kind == tPipeBoth) && p.peekGetline() {
		y = p.pipeGetline(y)
	}
	return y
}

// startsOperand reports whether an operand of a concatenation follows.
func (p *parser) startsOperand() bool {
	switch p.t.kind {
	case tNumber, tString, tName, tFuncName, tBuiltin, tDollar, tNot, tLParen, tMinus, tPlus, tIncr, tDecr, tAt:
		return true
	case tIn:
		return false
	}
	return false
}

func (p *parser) additive() expr {
	x := p.multiplicative()
	for p.t.kind == tPlus || p.t.kind == tMinus {
		op, at := p.t.kind, p.here()
		p.advance()
		x = &binaryExpr{op, x, p.multiplicative(), at}
	}
	return x
}

func (p *parser) multiplicative() expr {
	x := p.unary()
	for p.t.kind == tStar || p.t.kind == tSlash || p.t.kind == tPercent {
		op, at, offset := p.t.kind, p.here(), p.t.pos
		p.advance()
		y := p.unary()
		p.checkDivision(op, x, y, offset)
		x = &binaryExpr{op, x, y, at}
	}
	return x
}

// checkDivision refuses the division of a constant by 0.
func (p *parser) checkDivision(op tok, x, y expr, offset int) {
	_, constant := x.(*numberLit)
	if zero, ok := y.(*numberLit); !ok || !constant || zero.v.num != 0 || op == tStar {
		return
	}
	if op == tPercent {
		p.plain(offset, "error: division by zero attempted in `%%'")
	}
	p.plain(offset, "error: division by zero attempted")
}

func (p *parser) unary() expr {
	p.enter()
	defer p.leave()
	switch p.t.kind {
	case tNot:
		p.advance()
		return &notExpr{p.unary()}
	case tMinus:
		p.advance()
		return &negExpr{p.unary()}
	case tPlus:
		p.advance()
		return &plusExpr{p.unary()}
	}
	return p.power()
}

func (p *parser) power() expr {
	x := p.postfix(true)
	if p.t.kind != tPower {
		return x
	}
	at := p.here()
	p.advance()
	// The exponent may have a sign, and the operator groups to the right.
	var y expr
	switch p.t.kind {
	case tMinus:
		p.advance()
		y = &negExpr{p.powerOperand()}
	case tPlus:
		p.advance()
		y = &plusExpr{p.powerOperand()}
	case tNot:
		p.advance()
		y = &notExpr{p.powerOperand()}
	default:
		y = p.power()
	}
	return &binaryExpr{tPower, x, y, at}
}

func (p *parser) powerOperand() expr {
	p.enter()
	defer p.leave()
	return p.power()
}

// assignOps are the operators in assignment operators; a plain one has none.
var assignOps = map[tok]tok{tAssign: tAssign, tAddAssign: tPlus, tSubAssign: tMinus, tMulAssign: tStar, tDivAssign: tSlash, tModAssign: tPercent, tPowAssign: tPower}

// postfix reads a primary with ++ or -- behind it, or with assign an
// assignment to it.
func (p *parser) postfix(assign bool) expr {
	if p.t.kind == tIncr || p.t.kind == tDecr {
		delta := 1.0
		if p.t.kind == tDecr {
			delta = -1
		}
		p.advance()
		to, ok := p.postfix(false).(lvalue)
		if !ok {
			p.syntax()
		}
		return &incrExpr{to, delta, true}
	}
	x := p.primary()
	to, ok := x.(lvalue)
	if !ok {
		return x
	}
	switch {
	case p.t.kind == tIncr:
		p.advance()
		return &incrExpr{to, 1, false}
	case p.t.kind == tDecr:
		p.advance()
		return &incrExpr{to, -1, false}
	case assign && p.t.kind >= tAssign:
		op, at := p.t.kind, p.here()
		p.advance()
		p.skipNewlines()
		return &assignExpr{to, assignOps[op], p.expr(), at}
	}
	return x
}

func (p *parser) primary() expr {
	t := p.t
	switch t.kind {
	case tNumber:
		p.advance()
		return &numberLit{number(t.num)}
	case tString:
		return &stringLit{text(p.strings())}
	case tSlash, tDivAssign:
		return p.regex()
	case tDollar:
		p.advance()
		return &fieldExpr{p.fieldIndex()}
	case tLParen:
		return p.group()
	case tName:
		return p.name()
	case tFuncName:
		return p.call()
	case tBuiltin:
		return p.builtin()
	case tGetline:
		return p.getline()
	case tAt:
		return p.atSign()
	case tNot, tMinus, tPlus:
		return p.unary()
	}
	p.syntax()
	return nil
}

// strings reads a string literal.
func (p *parser) strings() string {
	s := p.t.text
	p.advance()
	return s
}

// atSign reads @/re/, or an indirect call.
func (p *parser) atSign() expr {
	p.advance()
	if p.t.kind == tSlash || p.t.kind == tDivAssign {
		return p.regex()
	}
	if p.t.kind != tFuncName {
		p.syntax()
	}
	at := p.here()
	name := p.variable(p.t.text)
	p.advance()
	return &indirectExpr{name, p.arguments(), at}
}

// fieldIndex reads the operand of $.
func (p *parser) fieldIndex() expr {
	p.enter()
	defer p.leave()
	switch p.t.kind {
	case tMinus:
		p.advance()
		return &negExpr{p.fieldIndex()}
	case tPlus:
		p.advance()
		return &plusExpr{p.fieldIndex()}
	case tNot:
		p.advance()
		return &notExpr{p.fieldIndex()}
	case tIncr, tDecr:
		return p.postfix(false)
	}
	return p.primary()
}

func (p *parser) regex() expr {
	offset := p.t.pos
	src := p.lexer.regexLiteral(offset)
	flags := regex.Flags(0)
	if p.utf8 {
		flags = regex.UTF8
	}
	warnEscapes(src, func(m string) { p.warn(offset, m) })
	re, err := regex.Compile(src, regex.Awk, flags)
	if err != nil {
		p.plain(offset, "error: %v: /%s/", err, src)
	}
	p.advance()
	return &regexLit{src: src, re: map[bool]*regex.Regexp{false: re}}
}

// group reads (expression), or (i, j) in array.
func (p *parser) group() expr {
	at := p.here()
	p.advance()
	p.skipNewlines()
	noIn, noGT := p.noIn, p.noGT
	p.noIn, p.noGT = false, false
	list := p.list()
	p.noIn, p.noGT = noIn, noGT
	p.skipNewlines()
	p.expect(tRParen)
	if len(list) == 1 {
		return &groupExpr{list[0]}
	}
	if p.t.kind != tIn {
		p.syntax()
	}
	p.advance()
	return &inExpr{list, p.arrayRef(), at}
}

// name reads a variable or an element.
func (p *parser) name() expr {
	at := p.here()
	name := p.t.text
	p.advance()
	if p.t.kind != tLBracket {
		return p.variable(name)
	}
	x := &indexExpr{p.named(name), p.subscript(), at}
	for p.t.kind == tLBracket {
		outer := x
		x = &indexExpr{arrayRef{name: name, global: -1, local: -1, special: -1, outer: outer}, p.subscript(), at}
	}
	return x
}

// subscript reads [a, b].
func (p *parser) subscript() []expr {
	p.advance()
	noIn, noGT := p.noIn, p.noGT
	p.noIn, p.noGT = false, false
	list := p.list()
	p.noIn, p.noGT = noIn, noGT
	p.expect(tRBracket)
	return list
}

// variable returns the variable of that name.
func (p *parser) variable(name string) lvalue {
	if i, ok := p.locals[name]; ok {
		return &localVar{name, i}
	}
	if i, ok := specials[name]; ok {
		return &specialVar{name, i}
	}
	if p.prog.functions[name] != nil {
		p.plain(p.t.pos, "error: function `%s' called with space between name and `('\nor used as a variable or an array", name)
	}
	return &globalVar{name, p.global(name)}
}

// global returns the index of a global variable.
func (p *parser) global(name string) int {
	i, ok := p.globals[name]
	if !ok {
		i = len(p.globals)
		p.globals[name] = i
	}
	return i
}

// arrayRef reads the name of an array, perhaps with subscripts.
func (p *parser) arrayRef() arrayRef {
	if p.t.kind != tName {
		p.syntax()
	}
	name, at := p.t.text, p.here()
	p.advance()
	ref := p.named(name)
	for p.t.kind == tLBracket {
		ref = arrayRef{name: name, global: -1, local: -1, special: -1, outer: &indexExpr{ref, p.subscript(), at}}
	}
	return ref
}

func (p *parser) named(name string) arrayRef {
	ref := arrayRef{name: name, global: -1, local: -1, special: -1}
	if i, ok := p.locals[name]; ok {
		ref.local = i
	} else if i, ok := specials[name]; ok {
		ref.special = i
	} else {
		ref.global = p.global(name)
	}
	return ref
}

// arguments reads (a, b).
func (p *parser) arguments() []expr {
	p.expect(tLParen)
	p.skipNewlines()
	var args []expr
	if p.t.kind != tRParen {
		noIn, noGT := p.noIn, p.noGT
		p.noIn, p.noGT = false, false
		args = p.list()
		p.noIn, p.noGT = noIn, noGT
	}
	p.skipNewlines()
	p.expect(tRParen)
	return args
}

func (p *parser) call() expr {
	c := &callExpr{name: p.t.text, pos: p.here()}
	p.advance()
	c.args = p.arguments()
	p.calls = append(p.calls, c)
	return c
}

func (p *parser) builtin() expr {
	name := p.t.text
	b := builtins[name]
	c := &builtinExpr{name: name, fn: b.fn, pos: p.here()}
	p.advance()
	if name == "length" && p.t.kind != tLParen {
		return c
	}
	start := p.t.pos
	c.args = p.arguments()
	if n := len(c.args); n < b.least || n > b.most {
		p.fail(max(start, p.last.pos), "%d is invalid as number of arguments for %s", n, name)
	}
	return c
}

// getline reads getline [var] [< file].
func (p *parser) getline() expr {
	g := &getlineExpr{pos: p.here()}
	p.advance()
	g.to = p.optionalLvalue()
	if p.t.kind == tLess {
		g.op = tLess
		p.advance()
		g.from = p.postfix(false)
	}
	return g
}

// optionalLvalue reads an lvalue if one follows.
func (p *parser) optionalLvalue() lvalue {
	switch p.t.kind {
	case tDollar, tName:
		if to, ok := p.primary().(lvalue); ok {
			return to
		}
		p.syntax()
	}
	return nil
}
