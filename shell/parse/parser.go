package parse

import (
	"io"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// MaxDepth is how deeply commands and expansions may nest in one another.
const MaxDepth = 1000

// Options are what the parser must know of the shell that it reads for. They
// are asked at each command, since commands change them.
type Options struct {
	// Alias returns the text that a word at the start of a command stands for;
	// nil when aliases are not expanded.
	Alias func(name string) (string, bool)
	// ExtGlob reports whether ?(a|b) and its kin are words (shopt extglob).
	ExtGlob func() bool
	// Warn takes a warning about a here-document that the end of the input
	// ended: the line where that was noticed, and the message.
	Warn func(line int, msg string)
}

// Parser reads commands from a source text.
type Parser struct {
	opt Options

	src  string
	off  int // next byte to read
	mark int // where Read goes on
	line int // its line, from 1

	tok     token // the token peeked at
	peeked  bool
	last    tokenKind // the token before, for what may be a reserved word
	pending []*heredoc

	depth   int
	inSubst int // nesting in $( ), where ")" may end a here-document
	extglob bool
	aliases []aliasText // what is being read from an alias, innermost last
	// checkNext asks that the next word be looked up as an alias though it is
	// no command: the alias before it ended in a blank.
	checkNext bool
	heredoc   bool // src is the body of a here-document
	// assignOK says that a word may be an assignment though a command does not
	// start here; rawArrays that name=(...) is text of a word (eval, let, alias).
	assignOK  bool
	rawArrays bool
	prefix    bool // assignments before a command word are being read
	// notArith and notAssign remember, by their distance from the source's end,
	// places that turned out to be no arithmetic and no assignment.
	notArith  map[int]bool
	notAssign map[int]bool
	failed    *Error
}

// aliasText is a range of src that came from an alias.
type aliasText struct {
	name  string
	end   int  // offset past it
	blank bool // it ended in a blank
}

// New returns a parser of src, whose first line has number line.
func New(src string, line int, opt Options) *Parser {
	if n := len(src); n > 0 && src[n-1] != '\n' {
		// The end of the input ends a line too. A backslash there is a backslash.
		slashes := 0
		for slashes < n && src[n-1-slashes] == '\\' {
			slashes++
		}
		src += `\`[:slashes%2] + "\n"
	}
	return newParser(src, line, opt)
}

// newParser is New for a text that is part of a line.
func newParser(src string, line int, opt Options) *Parser {
	return &Parser{opt: opt, src: src, line: line, last: tNewline}
}

// Word parses the whole of src as one word in which blanks and operators are
// text and quotes quote: a subscript, or the pieces of a nameref.
func Word(src string) *syntax.Word {
	p := newParser(src, 1, Options{})
	w := &syntax.Word{}
	defer func() {
		if e, ok := recover().(*Error); ok && e != nil {
			w.Parts = []syntax.WordPart{&syntax.SglQuoted{Value: src}}
		}
	}()
	for p.off < len(p.src) {
		s := p.scan(inSubscript)
		w.Parts = append(w.Parts, s.parts...)
		if p.off < len(p.src) { // a "]" that closes nothing
			w.Parts = append(w.Parts, &syntax.Lit{Value: p.src[p.off : p.off+1]})
			p.off++
		}
	}
	return w
}

// Array parses the text of an array's value, "(a b)". What is no such text
// yields an empty array.
func Array(src string) (arr *syntax.ArrayExpr) {
	p := newParser(src, 1, Options{})
	defer func() {
		if e, ok := recover().(*Error); ok && e != nil {
			arr = &syntax.ArrayExpr{}
		}
	}()
	return p.array()
}

// Prompt parses src as text in double quotes, as PS4 and its kin are expanded.
func Prompt(src string) *syntax.Word {
	p := newParser(src, 1, Options{})
	w := &syntax.Word{}
	defer func() {
		if e, ok := recover().(*Error); ok && e != nil {
			w.Parts = []syntax.WordPart{&syntax.SglQuoted{Value: src}}
		}
	}()
	w.Parts = p.scan(inHeredoc).parts
	return w
}

// Line returns the number of the line that is being read.
func (p *Parser) Line() int { return p.line }

// AtEnd reports whether all of the source was parsed.
func (p *Parser) AtEnd() bool { return strings.TrimSpace(p.src[p.off:]) == "" }

// Read returns the source that was read since the last call.
func (p *Parser) Read() string {
	text := p.src[min(p.mark, p.off):p.off]
	p.mark = p.off
	return text
}

// Next returns the commands of the next line that has any, or as many lines as
// they take; io.EOF at the end. An *Error ends the input: what follows a
// syntax error is not read, except when Error.Resume is set.
func (p *Parser) Next() (stmts []*syntax.Stmt, err error) {
	if p.failed != nil {
		return nil, p.failed
	}
	defer func() {
		v := recover()
		if v == nil {
			return
		}
		e, ok := v.(*Error)
		if !ok {
			panic(v)
		}
		stmts, err = nil, e
		if !e.Resume {
			p.failed = e
			return
		}
		p.resume()
	}()
	p.extglob = p.opt.ExtGlob != nil && p.opt.ExtGlob()
	for {
		switch p.peek().kind {
		case tEOF:
			return nil, io.EOF
		case tNewline:
			p.take()
			continue
		}
		return p.inputLine(), nil
	}
}

// resume skips the rest of a line that was given up.
func (p *Parser) resume() {
	p.peeked, p.last, p.depth, p.pending, p.aliases, p.inSubst = false, tNewline, 0, nil, nil, 0
	if i := strings.IndexByte(p.src[p.off:], '\n'); i >= 0 {
		p.off += i + 1
		p.line++
	} else {
		p.off = len(p.src)
	}
}

// inputLine parses commands up to the newline or the end that ends them.
func (p *Parser) inputLine() []*syntax.Stmt {
	var stmts []*syntax.Stmt
	for {
		s := p.andOr()
		stmts = append(stmts, s)
		switch t := p.peek(); t.kind {
		case tSemi, tAmp:
			p.take()
			s.Semicolon = t.pos()
			s.Background = t.kind == tAmp
			switch p.peek().kind {
			case tNewline:
				p.take()
				return stmts
			case tEOF:
				return stmts
			}
		case tNewline:
			p.take()
			return stmts
		case tEOF:
			return stmts
		default:
			p.unexpected()
		}
	}
}

// enter counts one level of nesting; the caller defers leave.
func (p *Parser) enter() {
	if p.depth++; p.depth > MaxDepth {
		p.fail(&Error{Line: p.line, Msg: "maximum nesting level exceeded"})
	}
}

func (p *Parser) leave() { p.depth-- }

// ends reports whether the next token ends a list of commands: a closing word,
// an operator that closes something, or the end.
func (p *Parser) ends() bool {
	t := p.peek()
	switch t.kind {
	case tEOF, tRparen, tDSemi, tSemiAnd, tDSemiAnd:
		return true
	case tWord:
		switch p.reserved() {
		case "then", "else", "elif", "fi", "do", "done", "esac", "}":
			return true
		}
	}
	return false
}

// list parses commands up to a token that ends them; at least one.
func (p *Parser) list() []*syntax.Stmt {
	p.enter()
	defer p.leave()
	p.newlines()
	if p.ends() {
		p.unexpected()
	}
	return p.maybeList()
}

// maybeList is list, but there may be no command.
func (p *Parser) maybeList() []*syntax.Stmt {
	var stmts []*syntax.Stmt
	for {
		p.newlines()
		if p.ends() {
			return stmts
		}
		s := p.andOr()
		stmts = append(stmts, s)
		switch t := p.peek(); t.kind {
		case tSemi, tAmp:
			p.take()
			s.Semicolon = t.pos()
			s.Background = t.kind == tAmp
		case tNewline:
		default:
			if !p.ends() {
				p.unexpected()
			}
			return stmts
		}
	}
}

// newlines skips newlines.
func (p *Parser) newlines() {
	for p.peek().kind == tNewline {
		p.take()
	}
}

// andOr parses pipelines joined by && and ||.
func (p *Parser) andOr() *syntax.Stmt {
	s := p.pipeline()
	for {
		t := p.peek()
		var op syntax.BinCmdOperator
		switch t.kind {
		case tAndAnd:
			op = syntax.AndStmt
		case tOrOr:
			op = syntax.OrStmt
		default:
			return s
		}
		p.take()
		p.newlines()
		y := p.pipeline()
		s = &syntax.Stmt{Position: s.Position, Cmd: &syntax.BinaryCmd{OpPos: t.pos(), Op: op, X: s, Y: y}}
	}
}

// pipeline parses "! time cmd | cmd".
func (p *Parser) pipeline() *syntax.Stmt {
	p.enter()
	defer p.leave()
	t := p.peek()
	switch p.reserved() {
	case "!":
		p.starts()
		if p.endsPipeline() {
			return &syntax.Stmt{Position: t.pos(), Negated: true}
		}
		s := p.pipeline()
		switch {
		case s.Negated && s.Cmd != nil: // two cancel out
			s.Negated = false
		case s.Negated:
			s = wrap(s)
			fallthrough
		default:
			s.Negated = true
		}
		s.Position = t.pos()
		return s
	case "time":
		if p.last == tPipe || p.last == tPipeAmp {
			break
		}
		return p.timed()
	}
	s := p.command()
	first := s
	for {
		t := p.peek()
		if t.kind != tPipe && t.kind != tPipeAmp {
			return s
		}
		op := syntax.Pipe
		if t.kind == tPipeAmp {
			op = syntax.PipeAll
		}
		p.take()
		// A newline may follow, and "time" is then a word like any other.
		for p.peek().kind == tNewline {
			p.take()
			p.last = t.kind
		}
		y := p.command()
		s = &syntax.Stmt{Position: first.Position, Cmd: &syntax.BinaryCmd{OpPos: t.pos(), Op: op, X: s, Y: y}}
	}
}

// wrap puts a statement into a statement of its own.
func wrap(s *syntax.Stmt) *syntax.Stmt {
	return &syntax.Stmt{Position: s.Position, Cmd: &syntax.Block{Stmts: []*syntax.Stmt{s}}}
}

// endsPipeline reports whether nothing follows that could be a command.
func (p *Parser) endsPipeline() bool {
	switch p.peek().kind {
	case tNewline, tSemi, tEOF, tAmp:
		return true
	}
	return false
}

// timed parses "time [-p] [--] pipeline".
func (p *Parser) timed() *syntax.Stmt {
	t := p.take()
	c := &syntax.TimeClause{Time: t.pos()}
	s := &syntax.Stmt{Position: t.pos(), Cmd: c}
	p.last = tTime
	if w := p.peek(); w.kind == tWord && w.lit() == "-p" {
		p.take()
		c.PosixFormat = true
		p.last = tTime
	}
	if w := p.peek(); w.kind == tWord && w.lit() == "--" {
		p.take()
		p.last = tTime
	}
	if !p.endsPipeline() {
		c.Stmt = p.pipeline()
	}
	return s
}
