package parse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// simple parses a simple command, a declaration, or the definition of a
// function whose name comes first.
func (p *Parser) simple() *syntax.Stmt {
	s := &syntax.Stmt{Position: p.peek().pos()}
	call := &syntax.CallExpr{}
	var decl *syntax.DeclClause
	p.assignOK, p.prefix = true, true
	defer func() { p.assignOK, p.rawArrays, p.prefix = false, false, false }()
	for {
		t := *p.peek()
		switch {
		case t.kind == tAssign && decl != nil:
			p.take()
			decl.Args = append(decl.Args, declAssign(t.assign))
		case t.kind == tAssign:
			p.take()
			call.Assigns = append(call.Assigns, t.assign)
		case t.kind == tWord && decl != nil:
			p.take()
			decl.Args = append(decl.Args, declWord(braces(t.word)))
		case t.kind == tWord:
			p.take()
			if len(call.Args) == 0 {
				p.assignOK, p.prefix = false, false
				if declares(t.lit()) && len(call.Assigns) == 0 {
					decl = &syntax.DeclClause{Variant: t.word.Parts[0].(*syntax.Lit)}
					s.Cmd = decl
					p.assignOK = true
				}
				switch t.lit() {
				case "eval", "let", "alias":
					p.rawArrays = true
				}
				// Bash numbers a command when it has looked at the token after the
				// first word, which may be a function's "(".
				if next := p.peek(); len(call.Assigns) == 0 && len(s.Redirs) == 0 {
					s.Position = position(t.off, next.line)
				}
				if decl != nil {
					continue
				}
				if len(call.Assigns) == 0 && len(s.Redirs) == 0 && p.peek().kind == tLparen {
					return p.namedFunction(t)
				}
			}
			call.Args = append(call.Args, braces(t.word))
		case p.isRedirect():
			p.redirect(s)
		default:
			if decl == nil && (len(call.Args) > 0 || len(call.Assigns) > 0) {
				s.Cmd = call
			}
			return s
		}
	}
}

// declares reports whether a builtin takes assignments as arguments.
func declares(name string) bool {
	switch name {
	case "declare", "typeset", "local", "export", "readonly":
		return true
	}
	return false
}

// declWord makes an argument of a declaration: a name, or a word to be seen
// when it is expanded.
func declWord(w *syntax.Word) *syntax.Assign {
	if len(w.Parts) == 1 {
		if l, ok := w.Parts[0].(*syntax.Lit); ok && identLen(l.Value) == len(l.Value) {
			return &syntax.Assign{Naked: true, Name: l}
		}
	}
	return &syntax.Assign{Naked: true, Value: w}
}

// declAssign leaves an assignment as it is unless brace expansion would make
// several of it.
func declAssign(a *syntax.Assign) *syntax.Assign {
	if a.Value == nil || a.Index != nil {
		return a
	}
	text := a.Name.Value + "="
	if a.Append {
		text = a.Name.Value + "+="
	}
	w := &syntax.Word{Parts: append([]syntax.WordPart{&syntax.Lit{ValuePos: a.Name.ValuePos, Value: text}}, a.Value.Parts...)}
	if l, ok := a.Value.Parts[0].(*syntax.Lit); ok {
		// One literal, or a brace expansion could not start in it.
		w.Parts = append([]syntax.WordPart{&syntax.Lit{ValuePos: a.Name.ValuePos, Value: text + l.Value}}, a.Value.Parts[1:]...)
	}
	if syntax.SplitBraces(w) {
		return &syntax.Assign{Naked: true, Value: w}
	}
	return a
}

// namedFunction parses "() body" after a name.
func (p *Parser) namedFunction(name token) *syntax.Stmt {
	p.take()
	if p.peek().kind != tRparen {
		p.unexpected()
	}
	p.starts()
	p.assignOK = false
	f := &syntax.FuncDecl{Position: name.pos(), Parens: true}
	f.Name = &syntax.Lit{ValuePos: name.pos(), ValueEnd: name.pos(), Value: name.text}
	p.functionBody(f)
	return &syntax.Stmt{Position: name.pos(), Cmd: f}
}

func (p *Parser) isRedirect() bool {
	k := p.peek().kind
	if k == tNumber {
		return true
	}
	_, ok := redirOps[k]
	return ok
}

// redirects parses the redirections after a compound command.
func (p *Parser) redirects(s *syntax.Stmt) {
	p.last = tWord
	for p.isRedirect() {
		p.redirect(s)
	}
}

// redirect parses one redirection.
func (p *Parser) redirect(s *syntax.Stmt) {
	r := &syntax.Redirect{}
	assignOK := p.assignOK
	p.assignOK = false
	if p.peek().kind == tNumber {
		t := p.take()
		r.N = &syntax.Lit{ValuePos: t.pos(), ValueEnd: t.pos(), Value: t.text}
	}
	op := p.take()
	r.OpPos = op.pos()
	r.Op = redirOps[op.kind]
	t := *p.peek()
	if t.kind == tNumber && (op.kind == tLessAnd || op.kind == tGreatAnd) {
		// "2>&1>f": the number belongs to the first operator.
		t.kind = tWord
		t.word = &syntax.Word{Parts: []syntax.WordPart{&syntax.Lit{ValuePos: t.pos(), Value: t.text}}}
	}
	if t.kind != tWord {
		p.unexpected()
	}
	p.take()
	p.last = tWord
	r.Word = t.word
	switch op.kind {
	case tDLess, tDLessDash, tTLess:
	default:
		braces(r.Word)
	}
	if op.kind == tDLess || op.kind == tDLessDash {
		p.pending = append(p.pending, newHeredoc(r, t.text, t.line))
	}
	s.Redirs = append(s.Redirs, r)
	p.assignOK = assignOK
}

// assignable reports whether a word here may be an assignment.
func (p *Parser) assignable() bool { return p.assignOK || p.commandStart() }

// assignment reads "name=value", "name+=value", "name[sub]=value" or
// "name=(...)"; nil, with nothing taken, when the word is none of them.
func (p *Parser) assignment() *syntax.Assign {
	n := identLen(p.src[p.off:])
	if n == 0 || n >= len(p.src)-p.off {
		return nil
	}
	switch p.src[p.off+n] {
	case '=', '[':
	case '+':
		if !strings.HasPrefix(p.src[p.off+n:], "+=") {
			return nil
		}
	default:
		return nil
	}
	key := len(p.src) - p.off
	if p.notAssign[key] {
		return nil
	}
	saved := *p
	a := &syntax.Assign{Name: &syntax.Lit{ValuePos: position(p.off, p.line), ValueEnd: position(p.off+n, p.line), Value: p.src[p.off : p.off+n]}}
	p.off += n
	if p.at(0) == '[' && !p.subscript(a) {
		notAssign := p.notAssign
		if notAssign == nil {
			notAssign = map[int]bool{}
		}
		notAssign[key] = true
		*p = saved
		p.notAssign = notAssign
		return nil
	}
	if p.at(0) == '+' {
		a.Append = true
		p.off++
	}
	p.off++
	if p.at(0) == '(' {
		a.Array = p.array()
		return a
	}
	assignOK := p.assignOK
	if w := p.word(inCommand); len(w.Parts) > 0 {
		a.Value = w
	}
	p.assignOK = assignOK
	return a
}

// subscript reads "[...]" that "=" or "+=" must follow.
func (p *Parser) subscript(a *syntax.Assign) bool {
	p.off++
	s := p.scan(inSubscript)
	if !s.ended {
		return false
	}
	p.off++
	a.Index = &syntax.Word{Parts: s.parts}
	return p.at(0) == '=' || p.at(0) == '+' && p.at(1) == '='
}

// array reads "(elements)".
func (p *Parser) array() *syntax.ArrayExpr {
	p.enter()
	defer p.leave()
	arr := &syntax.ArrayExpr{Lparen: position(p.off, p.line)}
	line := p.line
	p.off++
	saved := p.outer()
	rawArrays, assignOK := p.rawArrays, p.assignOK
	p.rawArrays, p.assignOK = false, false
	for {
		p.last = tWord
		p.blanks()
		if p.off < len(p.src) && p.src[p.off] == '[' {
			if e := p.indexed(); e != nil {
				arr.Elems = append(arr.Elems, e)
				continue
			}
		}
		t := p.peek()
		switch t.kind {
		case tWord:
			arr.Elems = append(arr.Elems, &syntax.ArrayElem{Value: braces(t.word)})
			p.take()
			continue
		case tNewline:
			p.take()
			continue
		case tRparen:
			arr.Rparen = t.pos()
			p.peeked = false
			p.inner(saved)
			p.rawArrays, p.assignOK = rawArrays, assignOK
			return arr
		case tEOF:
			p.fail(&Error{Line: line, Msg: "unexpected EOF while looking for matching `)'", Status: 1})
		}
		p.fail(&Error{
			Line: t.line, Msg: "syntax error near unexpected token `" + t.source() + "'",
			Text: p.lineAt(t.off), HasText: true, Status: 1, Resume: true,
		})
	}
}

// indexed reads "[sub]=value" of an array; nil, with nothing taken, when it is
// none.
func (p *Parser) indexed() *syntax.ArrayElem {
	key := len(p.src) - p.off
	if p.notAssign[key] {
		return nil
	}
	saved := *p
	var a syntax.Assign
	if !p.subscript(&a) {
		notAssign := p.notAssign
		if notAssign == nil {
			notAssign = map[int]bool{}
		}
		notAssign[key] = true
		*p = saved
		p.notAssign = notAssign
		return nil
	}
	e := &syntax.ArrayElem{Index: a.Index}
	appends := p.at(0) == '+'
	if appends {
		p.off++
	}
	p.off++
	e.Value = p.word(inCommand)
	if appends {
		// The tree has no place for "+=" here: a marker part before the value.
		e.Value.Parts = append([]syntax.WordPart{AppendMark}, e.Value.Parts...)
	}
	return e
}

// AppendMark is the first part of an array element's value that is added to
// what the element holds: ([k]+=v).
var AppendMark = &syntax.Lit{Value: ""}
