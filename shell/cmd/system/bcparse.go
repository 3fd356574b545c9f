package system

import (
	"fmt"
	"strings"
)

// bcNode is a statement or an expression of bc.
type bcNode struct {
	op   string
	name string
	text string // a number or a string
	kids []*bcNode
	line int
}

// bcError is a message of bc.
type bcError string

// bcSyntax is a syntax error in a line.
type bcSyntax struct {
	line int
	msg  string
}

// bcLexer cuts the program into tokens.
type bcLexer struct {
	src  string
	pos  int
	line int

	tok  string // the present token: an operator, a word, or the kind
	kind byte   // 'n' number, 's' string, 'w' word, 'o' operator, '\n', 0 at the end
}

var bcKeywords = map[string]bool{"auto": true, "break": true, "continue": true, "define": true, "else": true, "for": true, "halt": true, "if": true, "last": true,
	"length": true, "limits": true, "print": true, "quit": true, "read": true, "return": true, "scale": true, "sqrt": true, "warranty": true, "while": true, "ibase": true, "obase": true, "void": true}

func (l *bcLexer) next() {
	for l.pos < len(l.src) {
		c := l.src[l.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			l.pos++
		case c == '\\' && strings.HasPrefix(l.src[l.pos:], "\\\n"):
			l.pos += 2
			l.line++
		case c == '#':
			for l.pos < len(l.src) && l.src[l.pos] != '\n' {
				l.pos++
			}
		case strings.HasPrefix(l.src[l.pos:], "/*"):
			end := strings.Index(l.src[l.pos+2:], "*/")
			if end < 0 {
				end = len(l.src) - l.pos - 4
			}
			l.line += strings.Count(l.src[l.pos:l.pos+end+4], "\n")
			l.pos += end + 4
		default:
			l.token(c)
			return
		}
	}
	l.kind, l.tok = 0, ""
}

func (l *bcLexer) token(c byte) {
	start := l.pos
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' || c >= 'A' && c <= 'F' || c == '.' }
	switch {
	case c == '\n':
		l.pos++
		l.line++
		l.kind, l.tok = '\n', "\n"
	case isDigit(c):
		var b strings.Builder
		dot := false
		for l.pos < len(l.src) {
			d := l.src[l.pos]
			if d == '\\' && l.pos+1 < len(l.src) && l.src[l.pos+1] == '\n' {
				l.pos += 2
				l.line++
				continue
			}
			if !isDigit(d) || d == '.' && dot {
				break
			}
			dot = dot || d == '.'
			b.WriteByte(d)
			l.pos++
		}
		l.kind, l.tok = 'n', b.String()
	case c == '"':
		end := strings.IndexByte(l.src[l.pos+1:], '"')
		if end < 0 {
			end = len(l.src) - l.pos - 1
		}
		l.kind, l.tok = 's', l.src[l.pos+1:l.pos+1+end]
		l.line += strings.Count(l.tok, "\n")
		l.pos = min(l.pos+end+2, len(l.src))
	case c >= 'a' && c <= 'z':
		for l.pos < len(l.src) && (l.src[l.pos] >= 'a' && l.src[l.pos] <= 'z' || l.src[l.pos] >= '0' && l.src[l.pos] <= '9' || l.src[l.pos] == '_') {
			l.pos++
		}
		l.kind, l.tok = 'w', l.src[start:l.pos]
	default:
		for _, op := range []string{"++", "--", "+=", "-=", "*=", "/=", "%=", "^=", "==", "!=", "<=", ">=", "&&", "||"} {
			if strings.HasPrefix(l.src[l.pos:], op) {
				l.pos += 2
				l.kind, l.tok = 'o', op
				return
			}
		}
		l.pos++
		l.kind, l.tok = 'o', string([]byte{c})
	}
}

// bcParser reads statements one line of input after the other.
type bcParser struct {
	bcLexer
	depth      int
	inFunction bool
	loops      int
}

// maxBcDepth bounds how deep expressions and statements nest.
const maxBcDepth = 1000

func (p *bcParser) fail(msg string) { panic(bcSyntax{p.line, msg}) }

func (p *bcParser) syntax() {
	line := p.line
	if p.kind == '\n' {
		line--
	}
	panic(bcSyntax{line, "syntax error"})
}

func (p *bcParser) is(tok string) bool { return (p.kind == 'o' || p.kind == 'w') && p.tok == tok }

func (p *bcParser) accept(tok string) bool {
	if p.is(tok) {
		p.next()
		return true
	}
	return false
}

func (p *bcParser) expect(tok string) {
	if !p.accept(tok) {
		p.syntax()
	}
}

func (p *bcParser) node(op string, kids ...*bcNode) *bcNode {
	return &bcNode{op: op, kids: kids, line: p.line}
}

func (p *bcParser) enter() func() {
	if p.depth++; p.depth > maxBcDepth {
		p.fail("nested too deeply")
	}
	return func() { p.depth-- }
}

func (p *bcParser) newlines() {
	for p.kind == '\n' {
		p.next()
	}
}

// lineOf reads the statements up to the end of a line; nil at the end of all.
func (p *bcParser) lineOf() []*bcNode {
	p.newlines()
	if p.kind == 0 {
		return nil
	}
	out := []*bcNode{}
	if p.is("define") {
		return append(out, p.define())
	}
	for {
		for p.accept(";") {
		}
		if p.kind == '\n' || p.kind == 0 {
			break
		}
		out = append(out, p.statement())
		if p.kind != '\n' && !p.is(";") {
			p.syntax() // at the end of all too: a line has a newline
		}
	}
	return out
}

func (p *bcParser) define() *bcNode {
	n := p.node("define")
	p.next()
	if p.accept("void") {
		n.text = "void"
	}
	if p.kind != 'w' || bcKeywords[p.tok] {
		p.syntax()
	}
	n.name = p.tok
	p.next()
	p.expect("(")
	params := p.node("params")
	for !p.accept(")") {
		params.kids = append(params.kids, p.param())
		if !p.is(")") {
			p.expect(",")
		}
	}
	p.newlines()
	p.expect("{")
	p.newlines()
	autos := p.node("auto")
	if p.accept("auto") {
		for {
			autos.kids = append(autos.kids, p.param())
			if !p.accept(",") {
				break
			}
		}
	}
	p.inFunction = true
	defer func() { p.inFunction = false }()
	n.kids = []*bcNode{params, autos, p.block()}
	return n
}

// param is a name, or a name with [] for an array.
func (p *bcParser) param() *bcNode {
	p.accept("*")
	if p.kind != 'w' || bcKeywords[p.tok] {
		p.syntax()
	}
	n := p.node("param")
	n.name = p.tok
	p.next()
	if p.accept("[") {
		p.expect("]")
		n.name += "[]"
	}
	return n
}

// block reads statements up to the closing brace.
func (p *bcParser) block() *bcNode {
	n := p.node("block")
	for {
		for p.kind == '\n' || p.is(";") {
			p.next()
		}
		if p.accept("}") {
			return n
		}
		if p.kind == 0 {
			p.syntax()
		}
		n.kids = append(n.kids, p.statement())
		if p.kind != '\n' && !p.is(";") && !p.is("}") {
			p.syntax()
		}
	}
}

func (p *bcParser) statement() *bcNode {
	defer p.enter()()
	if p.kind == 's' {
		n := p.node("string")
		n.text = p.tok
		p.next()
		return n
	}
	if p.kind == 'w' {
		if n := p.keyword(); n != nil {
			return n
		}
	}
	if p.accept("{") {
		return p.block()
	}
	e := p.expression()
	if strings.HasSuffix(e.op, "=") && e.op != "==" && e.op != "!=" && e.op != "<=" && e.op != ">=" {
		return p.node("discard", e)
	}
	return p.node("show", e)
}

// keyword reads a statement that a word starts; nil when none does.
func (p *bcParser) keyword() *bcNode {
	n := p.node(p.tok)
	switch p.tok {
	case "break", "continue":
		if p.loops == 0 {
			p.fail(map[string]string{"break": "Break", "continue": "Continue"}[p.tok] + " outside a for/while")
		}
		p.next()
	case "halt", "quit", "limits", "warranty":
		p.next()
	case "return":
		if !p.inFunction {
			p.fail("Return outside of a function.")
		}
		p.next()
		if p.kind != '\n' && p.kind != 0 && !p.is(";") && !p.is("}") {
			if p.accept("(") {
				if p.accept(")") {
					return n
				}
				e := p.expression()
				p.expect(")")
				n.kids = []*bcNode{p.after(e)}
			} else {
				n.kids = []*bcNode{p.expression()}
			}
		}
	case "print":
		p.next()
		for {
			if p.kind == 's' {
				s := p.node("string")
				s.text = p.tok
				p.next()
				n.kids = append(n.kids, s)
			} else {
				n.kids = append(n.kids, p.expression())
			}
			if !p.accept(",") {
				break
			}
		}
	case "if":
		p.next()
		p.expect("(")
		cond := p.expression()
		p.expect(")")
		p.newlines()
		n.kids = []*bcNode{cond, p.statement()}
		if p.accept("else") {
			p.newlines()
			n.kids = append(n.kids, p.statement())
		}
	case "while":
		p.next()
		p.expect("(")
		cond := p.expression()
		p.expect(")")
		p.newlines()
		n.kids = []*bcNode{cond, p.body()}
	case "for":
		p.next()
		p.expect("(")
		part := func(end string) *bcNode {
			if p.accept(end) {
				return nil
			}
			e := p.expression()
			p.expect(end)
			return e
		}
		n.kids = []*bcNode{part(";"), part(";"), part(")")}
		p.newlines()
		n.kids = append(n.kids, p.body())
	default:
		return nil
	}
	return n
}

// body is the statement that a loop repeats.
func (p *bcParser) body() *bcNode {
	p.loops++
	defer func() { p.loops-- }()
	return p.statement()
}

// after goes on with an expression whose first operand was in parentheses.
func (p *bcParser) after(e *bcNode) *bcNode {
	e = p.powerFrom(e)
	e = p.binaryFrom(e, 1)
	e = p.binaryFrom(e, 0)
	return e
}

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
