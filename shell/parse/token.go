package parse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

type tokenKind uint8

const (
	tEOF tokenKind = iota
	tNewline
	tWord
	tAssign // a word that assigns
	tNumber // a number or {name} right before a redirection
	tSemi   // ;
	tDSemi  // ;;
	tSemiAnd
	tDSemiAnd
	tAmp
	tAndAnd
	tPipe
	tPipeAmp
	tOrOr
	tLparen
	tRparen
	tLess
	tGreat
	tDLess
	tDLessDash
	tTLess
	tDGreat
	tLessAnd
	tGreatAnd
	tLessGreat
	tClobber
	tAndGreat
	tAndDGreat
	tTime // only as Parser.last
)

// operators by their text, longest first where one begins another.
var operators = []struct {
	text string
	kind tokenKind
}{
	{";;&", tDSemiAnd}, {";;", tDSemi}, {";&", tSemiAnd}, {";", tSemi},
	{"&&", tAndAnd}, {"&>>", tAndDGreat}, {"&>", tAndGreat}, {"&", tAmp},
	{"||", tOrOr}, {"|&", tPipeAmp}, {"|", tPipe},
	{"(", tLparen}, {")", tRparen},
	{"<<<", tTLess}, {"<<-", tDLessDash}, {"<<", tDLess}, {"<&", tLessAnd}, {"<>", tLessGreat}, {"<", tLess},
	{">>", tDGreat}, {">&", tGreatAnd}, {">|", tClobber}, {">", tGreat},
}

var redirOps = map[tokenKind]syntax.RedirOperator{
	tLess: syntax.RdrIn, tGreat: syntax.RdrOut, tDLess: syntax.Hdoc, tDLessDash: syntax.DashHdoc,
	tTLess: syntax.WordHdoc, tDGreat: syntax.AppOut, tLessAnd: syntax.DplIn, tGreatAnd: syntax.DplOut,
	tLessGreat: syntax.RdrInOut, tClobber: syntax.RdrClob, tAndGreat: syntax.RdrAll, tAndDGreat: syntax.AppAll,
}

// token is one lexical element.
type token struct {
	kind   tokenKind
	text   string // source text of operators and words
	word   *syntax.Word
	assign *syntax.Assign
	off    int
	line   int
}

func (t token) pos() syntax.Pos { return position(t.off, t.line) }

func position(off, line int) syntax.Pos { return syntax.NewPos(uint(off), uint(line), 1) }

// lit is the word's text when it is one unquoted literal, else "".
func (t token) lit() string {
	if t.kind != tWord || len(t.word.Parts) != 1 {
		return ""
	}
	l, ok := t.word.Parts[0].(*syntax.Lit)
	if !ok || strings.IndexByte(l.Value, '\\') >= 0 {
		return ""
	}
	return l.Value
}

// source is how a message names the token.
func (t token) source() string {
	if t.kind == tNewline {
		return "newline"
	}
	return t.text
}

// peek returns the next token without taking it.
func (p *Parser) peek() *token {
	if !p.peeked {
		p.lex()
		p.peeked = true
	}
	return &p.tok
}

// take takes the next token.
func (p *Parser) take() token {
	t := *p.peek()
	p.peeked = false
	p.last = t.kind
	return t
}

// commandStart reports whether a word here would be the first of a command, by
// the token before it.
func (p *Parser) commandStart() bool {
	switch p.last {
	case tWord, tAssign, tNumber, tLess, tGreat, tDLess, tDLessDash, tTLess, tDGreat, tLessAnd, tGreatAnd,
		tLessGreat, tClobber, tAndGreat, tAndDGreat:
		return false
	}
	return true
}

// reserved returns the next token's text when it is a reserved word where one
// is looked for, else "". It is asked only at the start of a command.
func (p *Parser) reserved() string {
	s := p.peek().lit()
	switch s {
	case "if", "then", "elif", "else", "fi", "case", "esac", "for", "while", "until", "do", "done", "in",
		"function", "time", "{", "}", "!", "[[", "select", "coproc":
		return s
	}
	return ""
}

// takeReserved takes the word that must come next.
func (p *Parser) takeReserved(words ...string) token {
	r := p.reserved()
	for _, w := range words {
		if r == w {
			t := p.take()
			p.last = tNewline // another command may start
			return t
		}
	}
	p.unexpected()
	return token{}
}

// lex reads one token into p.tok.
func (p *Parser) lex() {
	p.blanks()
	p.endAliases()
	p.tok = token{off: p.off, line: p.line}
	if p.off >= len(p.src) {
		if len(p.pending) > 0 {
			p.readHeredocs()
		}
		p.tok.kind = tEOF
		return
	}
	c := p.src[p.off]
	if c == '\n' {
		p.off++
		p.line++
		p.tok.kind, p.tok.text = tNewline, "\n"
		p.readHeredocs()
		return
	}
	if c == '&' || c == '|' || c == ';' || c == '(' || c == ')' ||
		(c == '<' || c == '>') && !strings.HasPrefix(p.src[p.off+1:], "(") {
		p.lexOperator()
		return
	}
	p.lexWord()
}

func (p *Parser) lexOperator() {
	rest := p.src[p.off:]
	for _, o := range operators {
		if strings.HasPrefix(rest, o.text) {
			p.off += len(o.text)
			p.tok.kind, p.tok.text = o.kind, o.text
			return
		}
	}
}

// blanks skips blanks, comments and escaped newlines.
func (p *Parser) blanks() {
	for p.off < len(p.src) {
		switch c := p.src[p.off]; {
		case c == ' ' || c == '\t':
			p.off++
		case c == '\\' && strings.HasPrefix(p.src[p.off+1:], "\n"):
			p.off += 2
			p.line++
		case c == '#':
			i := strings.IndexByte(p.src[p.off:], '\n')
			if i < 0 {
				i = len(p.src) - p.off
			}
			p.off += i
			return
		default:
			return
		}
	}
}

// lexWord reads a word, a number before a redirection, or an alias's text.
func (p *Parser) lexWord() {
	start := p.off
	if p.lexNumber() {
		return
	}
	if p.assignable() {
		if a := p.assignment(); a != nil {
			p.tok = token{kind: tAssign, assign: a, off: start, line: p.line, text: p.src[start:p.off]}
			return
		}
	}
	w := p.word(inCommand)
	if len(w.Parts) == 0 {
		// A character that starts no word: a stray ")" of an extended glob.
		p.near(p.src[p.off:p.off+1], p.off, p.line)
	}
	// A word's line is that of its end.
	p.tok = token{kind: tWord, word: w, off: start, line: p.line, text: p.src[start:p.off]}
	if p.expandAlias() {
		p.lex()
	}
}

// lexNumber reads "2" of "2>f" or "{fd}" of "{fd}>f".
func (p *Parser) lexNumber() bool {
	i := p.off
	if p.src[i] == '{' {
		n := identLen(p.src[i+1:])
		if n == 0 {
			return false
		}
		i += 1 + n
		if i < len(p.src) && p.src[i] == '[' {
			for i < len(p.src) && p.src[i] != ']' && p.src[i] != '\n' {
				i++
			}
			i++
		}
		if i >= len(p.src) || p.src[i] != '}' {
			return false
		}
		i++
	} else {
		for i < len(p.src) && isDigit(p.src[i]) {
			i++
		}
	}
	if i == p.off || i >= len(p.src) || p.src[i] != '<' && p.src[i] != '>' {
		return false
	}
	if strings.HasPrefix(p.src[i+1:], "(") && p.src[p.off] == '{' {
		return false
	}
	p.tok.kind, p.tok.text = tNumber, p.src[p.off:i]
	p.off = i
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameStart(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// identLen is the length of the identifier that s starts with.
func identLen(s string) int {
	if s == "" || !isNameStart(s[0]) {
		return 0
	}
	i := 1
	for i < len(s) && (isNameStart(s[i]) || isDigit(s[i])) {
		i++
	}
	return i
}
