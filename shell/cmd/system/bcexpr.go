package system

import (
	"fmt"
	"strings"
)

func (p *bcParser) expression() *bcNode {
	defer p.enter()()
	left := p.conjunction()
	for p.accept("||") {
		left = p.node("||", left, p.conjunction())
	}
	return left
}

func (p *bcParser) conjunction() *bcNode {
	left := p.negation()
	for p.accept("&&") {
		left = p.node("&&", left, p.negation())
	}
	return left
}

func (p *bcParser) negation() *bcNode {
	if p.accept("!") {
		return p.node("!", p.negation())
	}
	return p.relation()
}

func (p *bcParser) relation() *bcNode {
	left := p.assignment()
	for {
		switch {
		case p.kind == 'o' && (p.tok == "==" || p.tok == "!=" || p.tok == "<" || p.tok == "<=" || p.tok == ">" || p.tok == ">="):
			op := p.tok
			p.next()
			left = p.node(op, left, p.assignment())
		default:
			return left
		}
	}
}

func (p *bcParser) assignment() *bcNode {
	defer p.enter()()
	left := p.binaryFrom(nil, 0)
	if p.kind != 'o' {
		return left
	}
	switch p.tok {
	case "=", "+=", "-=", "*=", "/=", "%=", "^=":
		if left.op != "name" && left.op != "element" {
			p.syntax()
		}
		op := p.tok
		p.next()
		return p.node(op, left, p.assignment())
	}
	return left
}

// binaryFrom reads sums (level 0) or products (level 1); left, if not nil, was
// read already.
func (p *bcParser) binaryFrom(left *bcNode, level int) *bcNode {
	ops := [...]string{"+-", "*/%"}[level]
	operand := func() *bcNode {
		if level == 0 {
			return p.binaryFrom(nil, 1)
		}
		return p.power()
	}
	if left == nil {
		left = operand()
	}
	for p.kind == 'o' && len(p.tok) == 1 && strings.Contains(ops, p.tok) {
		op := p.tok
		p.next()
		left = p.node(op, left, operand())
	}
	return left
}

func (p *bcParser) power() *bcNode {
	return p.powerFrom(p.unary())
}

func (p *bcParser) powerFrom(left *bcNode) *bcNode {
	if p.accept("^") {
		return p.node("^", left, p.power())
	}
	return left
}

func (p *bcParser) unary() *bcNode {
	defer p.enter()()
	if p.accept("-") {
		return p.node("neg", p.unary())
	}
	if p.is("++") || p.is("--") {
		op := p.tok
		p.next()
		v := p.primary()
		if v.op != "name" && v.op != "element" {
			p.syntax()
		}
		return p.node("pre"+op, v)
	}
	e := p.primary()
	for (p.is("++") || p.is("--")) && (e.op == "name" || e.op == "element") {
		e = p.node("post"+p.tok, e)
		p.next()
	}
	return e
}

func (p *bcParser) primary() *bcNode {
	n := p.node("")
	switch {
	case p.kind == 'n' && p.tok == ".":
		n.op, n.name = "name", "last"
		p.next()
		return n
	case p.kind == 'n':
		n.op, n.text = "number", p.tok
		p.next()
		return n
	case p.accept("("):
		e := p.expression()
		p.expect(")")
		return p.node("paren", e)
	case p.kind != 'w':
		p.syntax()
	}
	name := p.tok
	switch name {
	case "length", "sqrt":
		p.next()
		p.expect("(")
		n.op, n.name = "call", name
		n.kids = []*bcNode{p.expression()}
		p.expect(")")
		return n
	case "read":
		p.next()
		p.expect("(")
		p.expect(")")
		n.op, n.name = "call", "read"
		return n
	case "scale":
		p.next()
		if p.accept("(") {
			n.op, n.name = "call", "scale"
			n.kids = []*bcNode{p.expression()}
			p.expect(")")
			return n
		}
		n.op, n.name = "name", "scale"
		return n
	case "ibase", "obase", "last":
		p.next()
		n.op, n.name = "name", name
		return n
	}
	if bcKeywords[name] {
		p.syntax()
	}
	p.next()
	n.name = name
	switch {
	case p.accept("["):
		n.op = "element"
		n.kids = []*bcNode{p.expression()}
		p.expect("]")
	case p.accept("("):
		n.op = "call"
		for !p.accept(")") {
			n.kids = append(n.kids, p.argument())
			if !p.is(")") {
				p.expect(",")
			}
		}
	default:
		n.op = "name"
	}
	return n
}

// argument is an expression, or a whole array: a[].
func (p *bcParser) argument() *bcNode {
	if p.kind == 'w' && !bcKeywords[p.tok] {
		save := p.bcLexer
		name := p.tok
		p.next()
		if p.accept("[") && p.accept("]") {
			return &bcNode{op: "array", name: name, line: p.line}
		}
		p.bcLexer = save
	}
	return p.expression()
}

func (s bcSyntax) String() string { return fmt.Sprintf("(standard_in) %d: %s", s.line, s.msg) }
