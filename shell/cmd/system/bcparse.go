package system

import (
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
