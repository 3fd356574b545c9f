package sed

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// eof is what the reader of characters yields at the end.
const eof = -1

// maxScript bounds the bytes of a script file.
const maxScript = 64 << 20

// parser reads scripts. Several may follow each other: labels and blocks span
// them, and so does text after a final "a\".
type parser struct {
	c    *command.Context
	s    *settings
	prog *program

	src    string
	pos    int
	file   string // "" for an expression
	line   int
	number int // of the expression
	first  bool

	blocks []int // indexes of open {
	labels map[string]int
	jumps  []jump
	opened map[string]*output

	pending *instruction // a, i or c that waits for its text
	text    []byte
}

// jump is a b, t or T whose label is not known yet.
type jump struct {
	cmd   *instruction
	label string
}

func newParser(c *command.Context, s *settings) *parser {
	return &parser{c: c, s: s, prog: &program{}, labels: map[string]int{}, opened: map[string]*output{}, first: true}
}

// expression parses the argument of -e.
func (p *parser) expression(src string) error {
	p.number++
	p.file = ""
	return p.parse(src)
}

// scriptFile parses the file of -f.
func (p *parser) scriptFile(name string) error {
	f, err := p.c.Open(name)
	if err != nil {
		return &sedError{fmt.Sprintf("couldn't open file %s: %s", name, command.Strerror(err)), exitPanic}
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, min(maxScript, p.c.Memory.Left())))
	if err != nil {
		return &sedError{fmt.Sprintf("read error on %s: %s", name, command.Strerror(err)), exitPanic}
	}
	p.file = name
	src := string(b)
	if strings.HasPrefix(src, "#!") || src == "" {
		// A first line for exec is a comment as any other.
		return p.parse(src)
	}
	return p.parse(strings.TrimSuffix(src, "\n"))
}

// bad is a mistake at the present place.
func (p *parser) bad(format string, args ...any) error {
	return p.badAt(p.pos, format, args...)
}

func (p *parser) badAt(pos int, format string, args ...any) error {
	where := fmt.Sprintf("-e expression #%d, char %d", p.number, pos)
	if p.file != "" {
		where = fmt.Sprintf("file %s line %d", p.file, p.line)
	}
	return &sedError{where + ": " + fmt.Sprintf(format, args...), exitUsage}
}

// next reads a character.
func (p *parser) next() int {
	if p.pos >= len(p.src) {
		return eof
	}
	c := p.src[p.pos]
	p.pos++
	if c == '\n' {
		p.line++
	}
	return int(c)
}

// back puts the last character back.
func (p *parser) back(ch int) {
	if ch == eof {
		return
	}
	p.pos--
	if ch == '\n' {
		p.line--
	}
}

func isSpace(ch int) bool { return ch == ' ' || ch >= '\t' && ch <= '\r' }
func isBlank(ch int) bool { return ch == ' ' || ch == '\t' }
func isDigit(ch int) bool { return ch >= '0' && ch <= '9' }

// nonblank reads a character after blanks.
func (p *parser) nonblank() int {
	ch := p.next()
	for isBlank(ch) {
		ch = p.next()
	}
	return ch
}

// maxNumber bounds the numbers of a script.
const maxNumber = 1 << 60

// integer reads digits, of which ch is the first.
func (p *parser) integer(ch int) int64 {
	n := int64(0)
	for isDigit(ch) {
		n = min(n*10+int64(ch-'0'), maxNumber)
		ch = p.next()
	}
	p.back(ch)
	return n
}

// parse reads one script.
func (p *parser) parse(src string) error {
	p.src, p.pos, p.line = src, 0, 1
	if p.pending != nil {
		p.readText()
	}
	if p.first {
		p.first = false
		if strings.HasPrefix(src, "#n") && (len(src) == 2 || src[2] == '\n') {
			p.prog.quiet = true
		}
	}
	for {
		ch := p.next()
		for ch == ';' || isSpace(ch) {
			ch = p.next()
		}
		if ch == eof {
			return nil
		}
		if err := p.command(ch); err != nil {
			return err
		}
	}
}

// command parses a command with its addresses.
func (p *parser) command(ch int) error {
	cmd := &instruction{n: -1}
	ch, err := p.addresses(cmd, ch)
	if err != nil {
		return err
	}
	if ch == '!' {
		cmd.not = true
		ch = p.next()
		for isSpace(ch) {
			ch = p.next()
		}
		if ch == '!' {
			return p.bad("multiple `!'s")
		}
	}
	if ch == eof {
		return p.bad("missing command")
	}
	cmd.name = byte(ch)
	keep, err := p.body(cmd)
	if err == nil && keep {
		p.prog.cmds = append(p.prog.cmds, cmd)
	}
	return err
}

// addresses parses the addresses before a command, and returns the character
// after them.
func (p *parser) addresses(cmd *instruction, ch int) (int, error) {
	a, err := p.address(ch)
	if err != nil || a == nil {
		return ch, err
	}
	if a.kind == addrPlus || a.kind == addrMultiple {
		return 0, p.bad("invalid usage of +N or ~N as first address")
	}
	cmd.a1 = a
	if ch = p.nonblank(); ch == ',' {
		if cmd.a2, err = p.address(p.nonblank()); err != nil {
			return 0, err
		}
		if cmd.a2 == nil {
			return 0, p.bad("unexpected `,'")
		}
		ch = p.nonblank()
	}
	if a.kind == addrLine && a.n == 0 && (cmd.a2 == nil || cmd.a2.kind != addrRegex || p.s.posix) {
		return 0, p.bad("invalid usage of line address 0")
	}
	return ch, nil
}

// address parses one address; nil when there is none.
func (p *parser) address(ch int) (*address, error) {
	switch {
	case ch == '/' || ch == '\\':
		return p.regexAddress(ch)
	case isDigit(ch):
		a := &address{kind: addrLine, n: p.integer(ch)}
		if ch = p.nonblank(); ch != '~' {
			p.back(ch)
			return a, nil
		}
		ch = p.nonblank()
		a.step = p.integer(ch)
		if a.step > 0 {
			a.kind = addrStep
		}
		return a, nil
	case ch == '+' || ch == '~':
		a := &address{kind: addrPlus, n: p.integer(p.nonblank())}
		if ch == '~' {
			a.kind = addrMultiple
		}
		return a, nil
	case ch == '$':
		return &address{kind: addrLast}, nil
	}
	return nil, nil
}

func (p *parser) regexAddress(ch int) (*address, error) {
	if ch == '\\' {
		ch = p.next()
	}
	src, ok := p.slashed(ch, true)
	if !ok {
		return nil, p.bad("unterminated address regex")
	}
	var o regexOptions
	for {
		switch ch = p.nonblank(); ch {
		case 'I':
			o.fold = true
		case 'M':
			o.multiline = true
		default:
			p.back(ch)
			re, err := p.compile(src, o)
			return &address{kind: addrRegex, re: re}, err
		}
	}
}

// slashed reads up to an unescaped slash; ok is false when there is none. In a
// regular expression a slash in brackets is no end, and \n is a newline.
func (p *parser) slashed(slash int, regex bool) (text []byte, ok bool) {
	if slash == eof || slash == '\n' || slash == '\\' {
		return nil, false
	}
	var b []byte
	for {
		ch := p.next()
		switch {
		case ch == eof:
			return nil, false
		case ch == '\n':
			p.back(ch)
			return nil, false
		case ch == slash:
			return b, true
		case ch == '[' && regex && slash != '[':
			n := bracketLength(p.src[p.pos-1:])
			if n == 0 {
				p.restOfLine()
				return nil, false
			}
			b = append(b, p.bracketText(n)...)
			continue
		case ch == '\\':
			ch = p.next()
			switch {
			case ch == eof:
				return nil, false
			case ch == 'n' && regex:
				ch = '\n'
			case ch != '\n' && (ch != slash || !regex && ch == '&'):
				b = append(b, '\\')
			case ch == '\n' && !regex:
				b = append(b, '\\')
			}
		}
		b = append(b, byte(ch))
	}
}

// restOfLine skips to the end of the line.
func (p *parser) restOfLine() {
	for ch := p.next(); ch != eof; ch = p.next() {
		if ch == '\n' {
			p.back(ch)
			return
		}
	}
}

// bracketText takes a bracket expression of n bytes whose first was read.
func (p *parser) bracketText(n int) []byte {
	text := []byte(p.src[p.pos-1 : p.pos-1+n])
	p.line += bytes.Count(text[1:], []byte("\n"))
	p.pos += n - 1
	return bytes.ReplaceAll(text, []byte(`\n`), []byte("\n"))
}

// bracketLength returns the length of the bracket expression that s starts
// with, 0 when it has no end on this line.
func bracketLength(s string) int {
	i := 1
	if i < len(s) && s[i] == '^' {
		i++
	}
	if i < len(s) && s[i] == ']' {
		i++
	}
	for i < len(s) && s[i] != '\n' {
		if s[i] == ']' {
			return i + 1
		}
		if s[i] == '[' && i+1 < len(s) && strings.IndexByte(".:=", s[i+1]) >= 0 {
			if n := strings.Index(s[i+2:], s[i+1:i+2]+"]"); n >= 0 {
				i += n + 4
				continue
			}
		}
		i++
	}
	return 0
}

// finish checks what spans scripts and returns the program.
func (p *parser) finish() (*program, error) {
	if p.pending != nil {
		p.endText()
	}
	if len(p.blocks) > 0 {
		return nil, p.badAt(0, "unmatched `{'")
	}
	for _, j := range p.jumps {
		at, ok := p.labels[j.label]
		if j.label == "" {
			at, ok = len(p.prog.cmds), true
		}
		if !ok {
			return nil, &sedError{fmt.Sprintf("can't find label for jump to `%s'", j.label), exitPanic}
		}
		j.cmd.jump = at
	}
	if p.prog.quiet {
		p.s.quiet = true
	}
	return p.prog, nil
}
