package parse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// wordContext is where a word stands, which decides what ends it and which
// characters quote.
type wordContext uint8

const (
	inCommand   wordContext = iota // ends at a blank or an operator
	inPattern                      // of [[ x == pattern ]]: inCommand, extended globs on
	inRegex                        // of [[ x =~ regex ]]
	inDouble                       // ends at "
	inHeredoc                      // ends with the source
	inBrace                        // of ${x:-word}: ends at }
	inBraceQ                       // the same in double quotes: ' is no quote
	inSlash                        // of ${x/pattern/}: ends at / or }
	inArith                        // $(( )): ends at )) outside ( )
	inBracket                      // $[ ]: ends at ] outside [ ]
	inSubscript                    // a[ ]: ends at ] outside [ ]; quotes quote
	inOffset                       // of ${x:offset:length}: ends at : or }
	inSemi                         // of for ((a; b; c)): ends at ; or ))
)

// quotedText reports whether the context is text as in double quotes: ' and
// process substitutions mean nothing.
func (c wordContext) quotedText() bool {
	switch c {
	case inDouble, inHeredoc, inBraceQ, inArith, inBracket, inOffset, inSemi:
		return true
	}
	return false
}

// scan gathers the parts of one word.
type scan struct {
	p       *Parser
	ctx     wordContext
	parts   []syntax.WordPart
	buf     []byte // literal text before start, when an escaped newline cut it
	start   int    // where the present literal started
	line    int    // its line
	parens  int
	quoting bool // between apostrophes, inBraceQ: they are text, but hide "}"
	quests  int  // "?" whose ":" is still to come, inOffset
	ended   bool // the context's end was found
	decided bool // inArith: what was taken for arithmetic is not
}

// word reads the parts of a word up to what ends it in ctx, which is not taken
// itself (but for an arithmetic's first parenthesis).
func (p *Parser) word(ctx wordContext) *syntax.Word {
	w := &syntax.Word{}
	s := p.scan(ctx)
	w.Parts = s.parts
	return w
}

func (p *Parser) scan(ctx wordContext) *scan {
	p.enter()
	defer p.leave()
	s := &scan{p: p, ctx: ctx, start: p.off, line: p.line}
	for p.off < len(p.src) && !s.ended {
		s.step()
	}
	s.flush()
	return s
}

// plain marks the bytes that mean nothing in any context.
var plain = func() (t [256]bool) {
	for c := range t {
		t[c] = c >= 0x80 || isNameStart(byte(c)) || isDigit(byte(c)) ||
			strings.IndexByte("-.,%^_#~\r", byte(c)) >= 0
	}
	return t
}()

// flush ends the present literal.
func (s *scan) flush() {
	p := s.p
	if text := p.src[s.start:p.off]; len(s.buf) > 0 || text != "" {
		if len(s.buf) > 0 {
			text = string(append(s.buf, text...))
			s.buf = nil
		}
		s.parts = append(s.parts, &syntax.Lit{
			ValuePos: position(s.start, s.line), ValueEnd: position(p.off, p.line), Value: text,
		})
	}
	s.restart()
}

// restart begins a literal at the present offset.
func (s *scan) restart() { s.start, s.line = s.p.off, s.p.line }

// add ends the literal and adds the part that read reads.
func (s *scan) add(read func() syntax.WordPart) {
	s.flush()
	if part := read(); part != nil {
		s.parts = append(s.parts, part)
	}
	s.restart()
}

// step reads one character of a literal, or one part.
func (s *scan) step() {
	p := s.p
	c := p.src[p.off]
	if plain[c] {
		p.off++
		return
	}
	switch c {
	case '\\':
		s.backslash()
		return
	case '$':
		if p.dollarStarts(s.ctx) {
			s.add(func() syntax.WordPart { return p.dollar(s.ctx) })
			return
		}
	case '`':
		s.add(p.backquoted(s.ctx))
		return
	case '"':
		if s.ctx != inHeredoc && s.ctx != inDouble {
			s.add(p.doubleQuoted)
			return
		}
	case '\'':
		if !s.ctx.quotedText() {
			s.add(p.singleQuoted)
			return
		}
		if s.ctx == inBraceQ && !p.heredoc {
			s.quoting = !s.quoting && quotesBrace(p.src[p.off+1:])
		}
	}
	if s.ends(c) {
		s.ended = true
		return
	}
	if p.off < len(p.src) && p.src[p.off] == '\n' {
		p.line++
	}
	p.off++
}

// quotesBrace reports whether an apostrophe before text, between double quotes,
// hides a "}" from the end of ${x:-...}. Bash looks further, past double quotes.
func quotesBrace(text string) bool {
	n := strings.IndexByte(text, '\'')
	return n > 0 && strings.IndexByte(text[:n], '"') < 0
}

// backslash keeps an escape as it is, but takes out an escaped newline.
func (s *scan) backslash() {
	p := s.p
	if p.off+1 >= len(p.src) {
		p.off++
		return
	}
	if p.src[p.off+1] != '\n' {
		p.off += 2
		return
	}
	s.buf = append(s.buf, p.src[s.start:p.off]...)
	p.off += 2
	p.line++
	s.restart()
}

// ends reports whether c ends the word. It keeps count of parentheses, and
// takes extended globs and process substitutions.
func (s *scan) ends(c byte) bool {
	p := s.p
	switch s.ctx {
	case inCommand, inPattern:
		return s.endsCommand(c)
	case inRegex:
		return s.endsRegex(c)
	case inDouble:
		return c == '"'
	case inBrace, inBraceQ:
		return c == '}' && !s.quoting
	case inSlash:
		return c == '}' || c == '/'
	case inOffset:
		return s.endsOffset(c)
	case inBracket, inSubscript:
		switch c {
		case '[':
			s.parens++
		case ']':
			s.parens--
			return s.parens < 0
		}
	case inArith, inSemi:
		switch c {
		case '(':
			s.parens++
		case ';':
			return s.ctx == inSemi && s.parens == 0
		case ')':
			s.parens--
			if s.parens < 0 {
				s.decided = !strings.HasPrefix(p.src[p.off+1:], ")")
				return true
			}
		}
	}
	return false
}

// endsOffset knows that the ":" of a conditional does not end an offset.
func (s *scan) endsOffset(c byte) bool {
	switch c {
	case '(':
		s.parens++
	case ')':
		s.parens--
	case '?':
		s.quests++
	case '}':
		return true
	case ':':
		if s.parens > 0 {
			return false
		}
		s.quests--
		return s.quests < 0
	}
	return false
}

func (s *scan) endsCommand(c byte) bool {
	p := s.p
	switch c {
	case '?', '*', '+', '@', '!':
		if (p.extglob || s.ctx == inPattern) && strings.HasPrefix(p.src[p.off+1:], "(") {
			p.off++
			s.group()
			p.off-- // step moves past the closing parenthesis
		}
		return false
	case '<', '>':
		if strings.HasPrefix(p.src[p.off+1:], "(") {
			s.add(p.processSubst)
			// step will look at what follows as a fresh character.
			p.off--
			s.start = p.off + 1
			return false
		}
		return true
	case '(':
		if p.rawArrays && s.assigns() {
			s.group()
			p.off--
			return false
		}
		return true
	case ' ', '\t', '\n', ';', '&', '|', ')':
		return true
	}
	return false
}

// assigns reports whether the word so far is "name=" or "name+=".
func (s *scan) assigns() bool {
	text := s.p.src[s.start:s.p.off]
	n := identLen(text)
	return len(s.parts) == 0 && n > 0 && (text[n:] == "=" || text[n:] == "+=")
}

// endsRegex knows that in a regular expression blanks end the word only
// outside parentheses, and that ( ) | are text.
func (s *scan) endsRegex(c byte) bool {
	switch c {
	case '(':
		s.parens++
	case ')':
		if s.parens == 0 {
			return true
		}
		s.parens--
	case ' ', '\t', '\n':
		return s.parens == 0
	case '<', '>', ';', '&':
		return s.parens == 0
	}
	return false
}

// group reads "(a|b)" of an extended glob up to and with its closing
// parenthesis; parts inside expand like any.
func (s *scan) group() {
	p := s.p
	p.enter()
	defer p.leave()
	line := p.line
	p.off++
	for {
		if p.off >= len(p.src) {
			p.failEOF(')', line)
		}
		switch c := p.src[p.off]; c {
		case ')':
			p.off++
			return
		case '\\':
			s.backslash()
		case '\'':
			s.add(p.singleQuoted)
		case '"':
			s.add(p.doubleQuoted)
		case '`':
			s.add(p.backquoted(s.ctx))
		case '(':
			s.group()
		case '$':
			if p.dollarStarts(s.ctx) {
				s.add(func() syntax.WordPart { return p.dollar(s.ctx) })
			} else {
				p.off++
			}
		default:
			if c == '\n' {
				p.line++
			}
			p.off++
		}
	}
}

// singleQuoted reads '...'.
func (p *Parser) singleQuoted() syntax.WordPart {
	start, line := p.off, p.line
	i := strings.IndexByte(p.src[p.off+1:], '\'')
	if i < 0 {
		p.failEOF('\'', line)
	}
	text := p.src[p.off+1 : p.off+1+i]
	p.off += i + 2
	p.line += strings.Count(text, "\n")
	return &syntax.SglQuoted{Left: position(start, line), Right: position(p.off-1, p.line), Value: text}
}

// ansiQuoted reads $'...', whose escapes are left for the evaluator.
func (p *Parser) ansiQuoted() syntax.WordPart {
	start, line := p.off, p.line
	p.off += 2
	for p.off < len(p.src) {
		switch p.src[p.off] {
		case '\'':
			p.off++
			return &syntax.SglQuoted{
				Left: position(start, line), Right: position(p.off-1, p.line),
				Dollar: true, Value: p.src[start+2 : p.off-1],
			}
		case '\\':
			p.off++
			if p.off < len(p.src) && p.src[p.off] == '\n' {
				p.line++
			}
		case '\n':
			p.line++
		}
		p.off++
	}
	p.failEOF('\'', line)
	return nil
}

// doubleQuoted reads "...".
func (p *Parser) doubleQuoted() syntax.WordPart {
	q := &syntax.DblQuoted{Left: position(p.off, p.line)}
	line := p.line
	p.off++
	s := p.scan(inDouble)
	if !s.ended {
		p.failEOF('"', line)
	}
	q.Parts = s.parts
	q.Right = position(p.off, p.line)
	p.off++
	return q
}

// backquoted reads `...`: the text of a command, its escapes taken out. In
// double quotes \" is one of them too.
func (p *Parser) backquoted(ctx wordContext) func() syntax.WordPart {
	return func() syntax.WordPart {
		c := &syntax.CmdSubst{Left: position(p.off, p.line), Backquotes: true}
		line := p.line
		var b []byte
		for p.off++; ; p.off++ {
			if p.off >= len(p.src) {
				p.failEOF('`', line)
			}
			ch := p.src[p.off]
			if ch == '`' {
				break
			}
			if ch == '\n' {
				p.line++
			}
			if ch == '\\' && p.off+1 < len(p.src) {
				switch next := p.src[p.off+1]; {
				case next == '`' || next == '\\' || next == '$' || next == '"' && ctx == inDouble:
					p.off++
					ch = next
				case next == '\n':
					p.off++
					p.line++
					continue
				}
			}
			b = append(b, ch)
		}
		c.Right = position(p.off, p.line)
		p.off++
		c.Last = []syntax.Comment{{Hash: position(0, line), Text: string(b)}, {Text: strings.ReplaceAll(p.src[c.Left.Offset()+1:p.off-1], "\\\n", "")}}
		return c
	}
}

// processSubst reads <(...) or >(...).
func (p *Parser) processSubst() syntax.WordPart {
	ps := &syntax.ProcSubst{OpPos: position(p.off, p.line), Op: syntax.CmdIn}
	if p.src[p.off] == '>' {
		ps.Op = syntax.CmdOut
	}
	p.off += 2
	ps.Stmts = p.substList()
	ps.Rparen = position(p.off-1, p.line)
	if start := int(ps.OpPos.Offset()) + 2; p.src[start] == '(' {
		ps.Last = []syntax.Comment{{Text: p.src[start : p.off-1]}}
	}
	return ps
}

// substList reads commands up to and with the ")" of a substitution.
func (p *Parser) substList() []*syntax.Stmt {
	saved := p.outer()
	p.inSubst++
	stmts := p.maybeList()
	if p.peek().kind != tRparen {
		p.unexpected()
	}
	p.inSubst--
	p.peeked = false
	p.inner(saved)
	return stmts
}

// outerState is what a list inside a word must not disturb.
type outerState struct {
	last    tokenKind
	pending []*heredoc
	tok     token
	next    bool
}

func (p *Parser) outer() outerState {
	s := outerState{p.last, p.pending, p.tok, p.checkNext}
	p.last, p.pending, p.peeked, p.checkNext = tNewline, nil, false, false
	return s
}

func (p *Parser) inner(s outerState) {
	p.last, p.tok, p.checkNext = s.last, s.tok, s.next
	// A here-document whose body was not reached inside starts after the line.
	p.pending = append(s.pending, p.pending...)
}
