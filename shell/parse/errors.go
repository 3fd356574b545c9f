package parse

import (
	"fmt"
	"strings"
)

// Error is a syntax error in Bash's words.
type Error struct {
	Line int
	// Msg is what follows the line number: "syntax error near unexpected token
	// `fi'".
	Msg string
	// Text is the source line for the second message; HasText says that there
	// is one.
	Text    string
	HasText bool
	// ForText says that the second message is about arithmetic of a for loop.
	ForText bool
	// Status is what $? becomes: 2, 1, or 127 in a command substitution. -1
	// leaves it as it was.
	Status int
	// Resume is set when the shell goes on with the next line.
	Resume bool
}

// Error says the line and the message.
func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// fail gives up; the status is 2 unless set.
func (p *Parser) fail(e *Error) {
	if e.Status == 0 {
		e.Status = 2
		if p.inSubst > 0 && e.HasText {
			e.Status = 127
		}
	}
	panic(e)
}

// unexpected gives up because of the token that comes next.
func (p *Parser) unexpected() {
	t := p.peek()
	if t.kind == tEOF {
		if p.inSubst > 0 {
			p.failEOF(')', p.endLine())
		}
		p.fail(&Error{Line: p.endLine(), Msg: "syntax error: unexpected end of file"})
	}
	p.near(t.source(), t.off, t.line)
}

// near gives up because of the text at off.
func (p *Parser) near(text string, off, line int) {
	p.fail(&Error{
		Line:    line,
		Msg:     fmt.Sprintf("syntax error near unexpected token `%s'", text),
		Text:    p.lineAt(off),
		HasText: true,
	})
}

// failEOF gives up because the input ended before a closing character.
func (p *Parser) failEOF(want byte, line int) {
	p.fail(&Error{Line: line, Msg: eofMessage(want)})
}

func eofMessage(want byte) string {
	return fmt.Sprintf("unexpected EOF while looking for matching `%c'", want)
}

// endLine is the number that Bash gives the end of the input: one past the
// last line, whether or not that one ends in a newline.
func (p *Parser) endLine() int {
	n := p.line + strings.Count(p.src[p.off:], "\n")
	if p.src != "" && p.src[len(p.src)-1] != '\n' {
		n++
	}
	return n
}

// lineAt returns the source line that holds off.
func (p *Parser) lineAt(off int) string {
	off = min(off, len(p.src))
	start := strings.LastIndexByte(p.src[:off], '\n') + 1
	end := strings.IndexByte(p.src[start:], '\n')
	if off > start && p.src[off-1] == '\n' {
		start = off
	}
	if end < 0 {
		return p.src[start:]
	}
	return p.src[start : start+end]
}
