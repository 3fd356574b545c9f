package parse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command parses a simple or compound command with its redirections.
func (p *Parser) command() *syntax.Stmt {
	p.enter()
	defer p.leave()
	t := *p.peek()
	if t.kind == tWord && p.reserved() == "coproc" {
		return p.coproc()
	}
	if c := p.compound(); c != nil {
		s := &syntax.Stmt{Position: t.pos(), Cmd: c}
		if _, ok := c.(*syntax.FuncDecl); !ok {
			p.redirects(s)
		}
		return s
	}
	switch t.kind {
	case tWord:
		switch p.reserved() {
		case "then", "elif", "else", "fi", "do", "done", "esac", "}", "!", "in":
			p.unexpected()
		}
		return p.simple()
	case tAssign, tNumber:
		return p.simple()
	}
	if _, ok := redirOps[t.kind]; ok {
		return p.simple()
	}
	p.unexpected()
	return nil
}

// compound parses a compound command, or returns nil when none comes.
func (p *Parser) compound() syntax.Command {
	if p.peek().kind == tLparen {
		if c := p.arithCommand(); c != nil {
			return c
		}
		return p.subshell()
	}
	switch p.reserved() {
	case "{":
		return p.block()
	case "if":
		return p.ifClause()
	case "while", "until":
		return p.while()
	case "for":
		return p.forClause()
	case "select":
		return p.selectClause()
	case "case":
		return p.caseClause()
	case "[[":
		return p.testClause()
	case "function":
		return p.function()
	}
	return nil
}

// starts takes a word after which a command starts.
func (p *Parser) starts() token {
	t := p.take()
	p.last = tNewline
	return t
}

// word0 takes a token after which words follow that start no command.
func (p *Parser) word0() token {
	t := p.take()
	p.last = tWord
	return t
}

// arithCommand parses "(( ))"; nil, with nothing taken, when the parentheses
// are those of two subshells.
func (p *Parser) arithCommand() syntax.Command {
	t := *p.peek()
	if t.off+1 >= len(p.src) || p.src[t.off+1] != '(' {
		return nil
	}
	p.off, p.line, p.peeked = t.off, t.line, false
	x := p.arithText(2)
	if x == nil {
		return nil
	}
	p.last = tRparen
	return &syntax.ArithmCmd{Left: t.pos(), Right: position(p.off-2, p.line), X: x}
}

func (p *Parser) subshell() syntax.Command {
	c := &syntax.Subshell{Lparen: p.starts().pos()}
	c.Stmts = p.list()
	if p.peek().kind != tRparen {
		p.unexpected()
	}
	c.Rparen = p.word0().pos()
	return c
}

func (p *Parser) block() syntax.Command {
	b := &syntax.Block{Lbrace: p.starts().pos()}
	b.Stmts = p.list()
	b.Rbrace = p.takeReserved("}").pos()
	p.last = tWord
	return b
}

func (p *Parser) ifClause() syntax.Command {
	c := &syntax.IfClause{Position: p.starts().pos()}
	first := c
	for {
		c.Cond = p.list()
		c.ThenPos = p.takeReserved("then").pos()
		c.Then = p.list()
		t := p.takeReserved("elif", "else", "fi")
		switch t.text {
		case "elif":
			c.Else = &syntax.IfClause{Position: t.pos()}
			c = c.Else
			continue
		case "else":
			c.Else = &syntax.IfClause{Position: t.pos()}
			c.Else.Then = p.list()
			t = p.takeReserved("fi")
		}
		p.last = tWord
		for i := first; i != nil; i = i.Else {
			i.FiPos = t.pos()
		}
		return first
	}
}

func (p *Parser) while() syntax.Command {
	t := p.starts()
	c := &syntax.WhileClause{WhilePos: t.pos(), Until: t.text == "until"}
	c.Cond = p.list()
	c.DoPos = p.takeReserved("do").pos()
	c.Do = p.list()
	c.DonePos = p.takeReserved("done").pos()
	p.last = tWord
	return c
}

func (p *Parser) forClause() syntax.Command {
	c := &syntax.ForClause{ForPos: p.word0().pos()}
	if t := p.peek(); t.kind == tLparen && t.off+1 < len(p.src) && p.src[t.off+1] == '(' {
		c.Loop = p.cStyle()
		p.last = tSemi
		if p.peek().kind == tSemi {
			p.take()
		}
		p.newlines()
	} else {
		c.Loop = p.wordIter()
	}
	p.loopBody(c)
	return c
}

func (p *Parser) selectClause() syntax.Command {
	c := &syntax.ForClause{ForPos: p.word0().pos(), Select: true}
	c.Loop = p.wordIter()
	p.loopBody(c)
	return c
}

// loopBody parses "do ... done" or "{ ... }".
func (p *Parser) loopBody(c *syntax.ForClause) {
	t := p.takeReserved("do", "{")
	c.DoPos = t.pos()
	c.Do = p.list()
	if t.text == "{" {
		c.Braces = true
		c.DonePos = p.takeReserved("}").pos()
	} else {
		c.DonePos = p.takeReserved("done").pos()
	}
	p.last = tWord
}

// wordIter parses "name [in words];".
func (p *Parser) wordIter() *syntax.WordIter {
	t := *p.peek()
	if t.kind != tWord {
		p.unexpected()
	}
	p.word0()
	w := &syntax.WordIter{Name: &syntax.Lit{ValuePos: t.pos(), ValueEnd: t.pos(), Value: t.text}}
	skipped := false
	for p.peek().kind == tNewline {
		p.word0()
		skipped = true
	}
	if !skipped && p.peek().kind == tSemi {
		p.starts()
		p.newlines()
		return w
	}
	if p.reserved() != "in" {
		p.last = tNewline
		return w
	}
	w.InPos = p.word0().pos()
	for p.peek().kind == tWord {
		w.Items = append(w.Items, braces(p.word0().word))
	}
	switch p.peek().kind {
	case tSemi, tNewline:
		p.starts()
	default:
		p.unexpected()
	}
	p.newlines()
	return w
}

// braces splits brace expansions out of a word's literals.
func braces(w *syntax.Word) *syntax.Word {
	syntax.SplitBraces(w)
	return w
}

// cStyle parses "((init; cond; post))".
func (p *Parser) cStyle() *syntax.CStyleLoop {
	t := *p.peek()
	start := t.off
	p.off, p.line, p.peeked = t.off+2, t.line, false
	l := &syntax.CStyleLoop{Lparen: t.pos()}
	var exprs []syntax.ArithmExpr
	for {
		p.skipSpace()
		s := p.scan(inSemi)
		if !s.ended {
			p.failEOF(')', t.line)
		}
		var x syntax.ArithmExpr
		if len(s.parts) > 0 {
			x = &syntax.Word{Parts: s.parts}
		}
		exprs = append(exprs, x)
		if p.src[p.off] == ';' {
			p.off++
			continue
		}
		if s.decided {
			p.near(")", p.off, p.line)
		}
		break
	}
	l.Rparen = position(p.off, p.line)
	p.off += 2
	if n := len(exprs); n != 3 {
		msg := "syntax error: arithmetic expression required"
		if n > 3 {
			msg = "syntax error: `;' unexpected"
		}
		p.fail(&Error{Line: p.line, Msg: msg, Text: p.src[start:p.off], HasText: true, ForText: true})
	}
	l.Init, l.Cond, l.Post = exprs[0], exprs[1], exprs[2]
	return l
}

// skipSpace skips blanks and newlines in arithmetic.
func (p *Parser) skipSpace() {
	for p.off < len(p.src) && strings.IndexByte(" \t\n", p.src[p.off]) >= 0 {
		if p.src[p.off] == '\n' {
			p.line++
		}
		p.off++
	}
}

func (p *Parser) caseClause() syntax.Command {
	c := &syntax.CaseClause{Case: p.word0().pos()}
	if p.peek().kind != tWord {
		p.unexpected()
	}
	c.Word = p.word0().word
	p.patternNewlines()
	if p.reserved() != "in" {
		p.unexpected()
	}
	c.In = p.word0().pos()
	for {
		p.patternNewlines()
		if p.reserved() == "esac" {
			break
		}
		item := p.caseItem()
		c.Items = append(c.Items, item)
		if !item.OpPos.IsValid() {
			break
		}
	}
	if p.reserved() != "esac" {
		p.unexpected()
	}
	c.Esac = p.word0().pos()
	return c
}

// patternNewlines skips newlines where the next word starts no command.
func (p *Parser) patternNewlines() {
	p.last = tWord
	for p.peek().kind == tNewline {
		p.word0()
	}
}

func (p *Parser) caseItem() *syntax.CaseItem {
	item := &syntax.CaseItem{Op: syntax.Break}
	if p.peek().kind == tLparen {
		p.word0()
	}
	for {
		if k := p.peek().kind; k != tWord && k != tNumber {
			p.unexpected()
		}
		t := p.word0()
		if t.kind == tNumber {
			t.word = &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{Value: t.text}}}
		}
		item.Patterns = append(item.Patterns, t.word)
		if p.peek().kind != tPipe {
			break
		}
		p.word0()
	}
	if p.peek().kind != tRparen {
		p.unexpected()
	}
	p.starts()
	item.Stmts = p.maybeList()
	switch t := p.peek(); t.kind {
	case tDSemi, tSemiAnd, tDSemiAnd:
		item.OpPos = t.pos()
		switch t.kind {
		case tSemiAnd:
			item.Op = syntax.Fallthrough
		case tDSemiAnd:
			item.Op = syntax.Resume
		}
		p.word0()
	}
	return item
}

// function parses "function name [()] body".
func (p *Parser) function() syntax.Command {
	f := &syntax.FuncDecl{Position: p.word0().pos(), RsrvWord: true}
	t := *p.peek()
	if t.kind != tWord {
		p.unexpected()
	}
	p.word0()
	f.Name = &syntax.Lit{ValuePos: t.pos(), ValueEnd: t.pos(), Value: t.text}
	if p.peek().kind == tLparen {
		open := *p.peek()
		p.take()
		if p.peek().kind == tRparen {
			p.starts()
			f.Parens = true
		} else {
			// No parentheses after all: the body is a subshell or arithmetic.
			p.off, p.line, p.peeked = open.off, open.line, false
		}
	}
	p.last = tNewline
	p.functionBody(f)
	return f
}

// functionBody parses the compound command that is a function's body.
func (p *Parser) functionBody(f *syntax.FuncDecl) {
	p.newlines()
	t := *p.peek()
	c := p.compound()
	if c == nil {
		p.unexpected()
	}
	f.Body = &syntax.Stmt{Position: t.pos(), Cmd: c}
	p.redirects(f.Body)
}

// coproc parses "coproc [name] compound" or "coproc simple".
func (p *Parser) coproc() *syntax.Stmt {
	t := p.starts()
	c := &syntax.CoprocClause{Coproc: t.pos()}
	s := &syntax.Stmt{Position: t.pos(), Cmd: c}
	body := func() *syntax.Stmt {
		at := *p.peek()
		if b := p.compound(); b != nil {
			bs := &syntax.Stmt{Position: at.pos(), Cmd: b}
			p.redirects(bs)
			return bs
		}
		return nil
	}
	if c.Stmt = body(); c.Stmt != nil {
		return s
	}
	first := *p.peek()
	if first.kind == tWord {
		p.starts()
		if c.Stmt = body(); c.Stmt != nil {
			c.Name = first.word
			return s
		}
		p.off, p.line, p.peeked = first.off, first.line, false
		p.last = tNewline
	}
	switch first.kind {
	case tWord, tAssign, tNumber:
	default:
		if _, ok := redirOps[first.kind]; !ok {
			p.unexpected()
		}
	}
	c.Stmt = p.simple()
	return s
}
