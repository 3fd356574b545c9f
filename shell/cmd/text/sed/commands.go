package sed

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// body parses what follows a command's name. keep is false for what leaves
// nothing to run.
func (p *parser) body(cmd *instruction) (keep bool, err error) {
	switch cmd.name {
	case '#':
		if cmd.a1 != nil {
			return false, p.bad("comments don't accept any addresses")
		}
		for ch := p.next(); ch != eof && ch != '\n'; ch = p.next() {
		}
		return false, nil
	case '{':
		p.blocks = append(p.blocks, len(p.prog.cmds))
		return true, nil
	case '}':
		return false, p.closeBlock(cmd)
	case ':':
		return false, p.label(cmd)
	case 'v':
		return false, p.version()
	case 'a', 'i', 'c':
		return true, p.textCommand(cmd)
	case 'b', 't', 'T':
		p.jumps = append(p.jumps, jump{cmd, p.word()})
		return true, nil
	case 'q', 'Q':
		if cmd.a2 != nil {
			return false, p.bad("command only uses one address")
		}
		return true, p.optionalNumber(cmd)
	case 'l':
		return true, p.optionalNumber(cmd)
	case '=', 'd', 'D', 'F', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z':
		return true, p.end()
	case 'r', 'R', 'w', 'W':
		return true, p.fileCommand(cmd)
	case 's':
		return true, p.substituteCommand(cmd)
	case 'y':
		return true, p.translateCommand(cmd)
	case 'e':
		return false, p.bad("e/r/w commands disabled in sandbox mode")
	}
	return false, p.bad("unknown command: `%c'", cmd.name)
}

// version parses v, which asks for a version of sed.
func (p *parser) version() error {
	var have, want [3]int
	have = [3]int{4, 9, 0}
	word := p.word()
	for i, n := range strings.SplitN(word, ".", len(want)) {
		v, err := strconv.Atoi(n)
		if err != nil && word != "" {
			return p.bad("invalid version string")
		}
		want[i] = v
	}
	if slices.Compare(want[:], have[:]) > 0 {
		return p.bad("expected newer version of sed")
	}
	return p.end()
}

// end reads what may follow a command.
func (p *parser) end() error {
	ch := p.nonblank()
	switch ch {
	case '}', '#':
		p.back(ch)
	case eof, '\n', ';':
	case '\r':
		if ch = p.next(); ch != '\n' && ch != eof {
			return p.bad("extra characters after command")
		}
	default:
		return p.bad("extra characters after command")
	}
	return nil
}

func (p *parser) closeBlock(cmd *instruction) error {
	if len(p.blocks) == 0 {
		return p.bad("unexpected `}'")
	}
	if cmd.a1 != nil {
		return p.bad("} doesn't want any addresses")
	}
	last := len(p.blocks) - 1
	p.prog.cmds[p.blocks[last]].jump = len(p.prog.cmds)
	p.blocks = p.blocks[:last]
	return p.end()
}

// word reads a label: up to a space or semicolon.
func (p *parser) word() string {
	ch := p.nonblank()
	var b strings.Builder
	for ch != eof && !isSpace(ch) && ch != ';' && ch != '}' {
		b.WriteByte(byte(ch))
		ch = p.next()
	}
	p.back(ch)
	return b.String()
}

func (p *parser) label(cmd *instruction) error {
	if cmd.a1 != nil {
		return p.bad(": doesn't want any addresses")
	}
	name := p.labelName()
	if name == "" {
		return p.bad("\":\" lacks a label")
	}
	p.labels[name] = len(p.prog.cmds)
	return nil
}

// labelName reads the name of a label that is defined: a brace may be in it.
func (p *parser) labelName() string {
	ch := p.nonblank()
	var b strings.Builder
	for ch != eof && !isSpace(ch) && ch != ';' {
		b.WriteByte(byte(ch))
		ch = p.next()
	}
	p.back(ch)
	return b.String()
}

func (p *parser) optionalNumber(cmd *instruction) error {
	ch := p.nonblank()
	if isDigit(ch) {
		cmd.n = p.integer(ch)
	} else {
		p.back(ch)
	}
	return p.end()
}

// filename reads a file name: the rest of the line.
func (p *parser) filename() (string, error) {
	ch := p.nonblank()
	var b strings.Builder
	for ch != eof && ch != '\n' {
		b.WriteByte(byte(ch))
		ch = p.next()
	}
	if b.Len() == 0 {
		p.back(ch)
		return "", p.bad("missing filename in r/R/w/W commands")
	}
	return b.String(), nil
}

func (p *parser) fileCommand(cmd *instruction) (err error) {
	if p.s.sandbox {
		return p.bad("e/r/w commands disabled in sandbox mode")
	}
	if cmd.file, err = p.filename(); err != nil {
		return err
	}
	if cmd.name == 'w' || cmd.name == 'W' {
		cmd.out, err = p.open(cmd.file)
	}
	return err
}

// open returns the output to a file, which all of a script's w share.
func (p *parser) open(name string) (*output, error) {
	if out := p.opened[name]; out != nil {
		return out, nil
	}
	out, err := openOutput(p.c, name)
	if err != nil {
		return nil, err
	}
	p.opened[name] = out
	p.prog.outputs = append(p.prog.outputs, out)
	return out, nil
}

// textCommand parses a, i and c.
func (p *parser) textCommand(cmd *instruction) error {
	ch := p.nonblank()
	if ch == eof {
		return p.bad("expected \\ after `a', `c' or `i'")
	}
	if ch == '\\' {
		ch = p.next()
		if isBlank(ch) {
			// a\ text: what is before the text goes if the line ends there.
			mark := p.pos
			for isBlank(ch) {
				ch = p.next()
			}
			if ch != '\n' {
				p.pos = mark - 1
				ch = p.next()
			}
		}
		if ch != '\n' {
			p.back(ch)
		}
		p.pending = cmd
		if ch == eof {
			return nil // the next script has the text
		}
		p.readText()
		return nil
	}
	if p.s.posix {
		return p.bad("expected \\ after `a', `c' or `i'")
	}
	p.back(ch)
	p.pending = cmd
	p.readText()
	return nil
}

// readText reads the lines of a text, up to one that does not end in a
// backslash or the end of the script.
func (p *parser) readText() {
	for {
		ch := p.next()
		if ch == '\\' {
			if ch = p.next(); ch == eof {
				// The next script goes on with it.
				p.text = append(p.text, '\n')
				return
			}
			p.text = append(p.text, '\\')
		} else if ch == '\n' {
			ch = eof
		}
		if ch == eof {
			p.text = append(p.text, '\n')
			p.endText()
			return
		}
		p.text = append(p.text, byte(ch))
	}
}

// endText gives the text to the command that waits for it.
func (p *parser) endText() {
	p.pending.text = plainText(p.text, p.s)
	p.pending, p.text = nil, nil
}

func (p *parser) translateCommand(cmd *instruction) error {
	slash, err := p.slash()
	if err != nil {
		return err
	}
	from, ok := p.slashed(slash, false)
	if !ok {
		return p.bad("unterminated `y' command")
	}
	to, ok := p.slashed(slash, false)
	if !ok {
		return p.bad("unterminated `y' command")
	}
	a, b := p.translationChars(from), p.translationChars(to)
	if len(a) != len(b) {
		return p.bad("strings for `y' command are different lengths")
	}
	t := &translation{}
	for i := range t.bytes {
		t.bytes[i] = byte(i)
	}
	for i := range a {
		if len(a[i]) == 1 && len(b[i]) == 1 && (a[i][0] < utf8.RuneSelf || !p.s.utf8) {
			t.bytes[a[i][0]] = b[i][0]
			continue
		}
		if t.runes == nil {
			t.runes = map[rune]string{}
		}
		r, _ := utf8.DecodeRuneInString(a[i])
		t.runes[r] = b[i]
	}
	cmd.table = t
	return p.end()
}

// translationChars splits a string of y into characters.
func (p *parser) translationChars(src []byte) []string {
	src = escapes(src, inText, p.s)
	var out []string
	for i := 0; i < len(src); {
		if src[i] == '\\' && i+1 < len(src) {
			switch src[i+1] {
			case '\\', '\n':
				out = append(out, string(src[i+1]))
				i += 2
				continue
			case 'n':
				out = append(out, "\n")
				i += 2
				continue
			}
			i++ // any other escape is the character itself
		}
		n := 1
		if p.s.utf8 {
			_, n = utf8.DecodeRune(src[i:])
		}
		out = append(out, string(src[i:i+n]))
		i += n
	}
	return out
}
