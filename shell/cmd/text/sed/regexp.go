package sed

import (
	"errors"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

// regexOptions are the flags after a regular expression.
type regexOptions struct{ fold, multiline bool }

// compile compiles a regular expression of the script.
func (p *parser) compile(src []byte, o regexOptions) (*pattern, error) {
	if len(src) == 0 {
		if o.fold || o.multiline {
			return nil, p.bad("cannot specify modifiers on empty regexp")
		}
		return &pattern{}, nil
	}
	flags := regex.StrictClass
	if p.s.utf8 {
		flags |= regex.UTF8
	}
	if o.fold {
		flags |= regex.IgnoreCase
	}
	if o.multiline {
		flags |= regex.Multiline
	}
	syntax := regex.Basic
	if p.s.extended {
		syntax = regex.Extended
	}
	re, err := regex.Compile(string(escapes(src, inRegex, p.s)), syntax, flags)
	if errors.Is(err, regex.ErrClassSyntax) {
		return nil, &sedError{err.Error(), exitPanic}
	}
	if err != nil {
		return nil, p.bad("%v", err)
	}
	return &pattern{re: re}, nil
}

// place is where text with escapes stands.
type place uint8

const (
	inText place = iota // a, i, c, y
	inRegex
	inReplacement
)

// escapes replaces GNU's escapes of characters. One that yields what is special
// in its place yields it escaped.
func escapes(src []byte, where place, s *settings) []byte {
	if s.posix {
		return src
	}
	out := make([]byte, 0, len(src))
	for i := 0; i < len(src); i++ {
		if src[i] == '[' && where == inRegex {
			if n := bracketLength(string(src[i:])); n > 0 {
				out = append(out, bracketEscapes(src[i:i+n])...)
				i += n - 1
				continue
			}
		}
		if src[i] != '\\' || i+1 == len(src) {
			out = append(out, src[i])
			continue
		}
		b, n, numeric := escape(src[i+1:])
		if n == 0 {
			out = append(out, src[i], src[i+1])
			i++
			continue
		}
		if numeric && special(b, where) {
			out = append(out, '\\')
		}
		out = append(out, b)
		i += n
	}
	return out
}

// bracketEscapes replaces escapes in a bracket expression, where a backslash is
// otherwise itself.
func bracketEscapes(src []byte) []byte {
	var out []byte
	for i := 0; i < len(src); i++ {
		if src[i] == '\\' && i+1 < len(src) {
			if b, n, _ := escape(src[i+1:]); n > 0 {
				out = append(out, b)
				i += n
				continue
			}
		}
		out = append(out, src[i])
	}
	return out
}

// special reports whether a character means something in its place.
func special(b byte, where place) bool {
	return b == '\\' || b == '&' && where == inReplacement
}

// escape decodes the escape of a character after its backslash; n is how many
// bytes it has, 0 when it is none. numeric says that it gave a number.
func escape(src []byte) (b byte, n int, numeric bool) {
	switch src[0] {
	case 'a':
		return 7, 1, false
	case 'f':
		return 12, 1, false
	case 'n':
		return '\n', 0, false // its place knows
	case 'r':
		return '\r', 1, false
	case 't':
		return '\t', 1, false
	case 'v':
		return 11, 1, false
	case 'c':
		if len(src) < 2 {
			return 0, 0, false
		}
		ch := src[1]
		if ch >= 'a' && ch <= 'z' {
			ch -= 0x20
		}
		if ch == '\\' && len(src) > 2 && src[2] == '\\' {
			return ch ^ 0x40, 3, true
		}
		return ch ^ 0x40, 2, true
	case 'd':
		return number(src, 10, 3)
	case 'o':
		return number(src, 8, 3)
	case 'x':
		return number(src, 16, 2)
	}
	return 0, 0, false
}

// number decodes the digits of \d, \o and \x.
func number(src []byte, base, most int) (b byte, n int, numeric bool) {
	v := 0
	for n = 1; n < len(src) && n <= most; n++ {
		d := digit(src[n])
		if d >= base {
			break
		}
		v = v*base + d
	}
	if n == 1 {
		return 0, 0, false
	}
	return byte(v), n, true
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

// plainText takes the backslashes out of the text of a, i and c.
func plainText(src []byte, s *settings) []byte {
	src = escapes(src, inText, s)
	out := make([]byte, 0, len(src))
	for i := 0; i < len(src); i++ {
		if src[i] != '\\' || i+1 == len(src) {
			out = append(out, src[i])
			continue
		}
		i++
		if src[i] == 'n' && !s.posix {
			out = append(out, '\n')
		} else {
			out = append(out, src[i])
		}
	}
	return out
}

// slash reads the delimiter of s and y.
func (p *parser) slash() (int, error) {
	ch := p.next()
	if p.s.utf8 && ch >= utf8.RuneSelf {
		return ch, p.bad("delimiter character is not a single-byte character")
	}
	return ch, nil
}

// substituteCommand parses s.
func (p *parser) substituteCommand(cmd *instruction) error {
	slash, err := p.slash()
	if err != nil {
		return err
	}
	re, ok := p.slashed(slash, true)
	if !ok {
		return p.bad("unterminated `s' command")
	}
	replacement, ok := p.slashed(slash, false)
	if !ok {
		return p.bad("unterminated `s' command")
	}
	sub := &substitute{}
	cmd.sub = sub
	p.replacement(sub, replacement)
	o, err := p.substituteFlags(sub)
	if err != nil {
		return err
	}
	if sub.re, err = p.compile(re, o); err != nil {
		return err
	}
	if sub.re.re != nil && sub.groups > sub.re.re.Groups() {
		return p.bad("invalid reference \\%d on `s' command's RHS", sub.groups)
	}
	return nil
}

// substituteFlags parses what follows the second slash.
func (p *parser) substituteFlags(sub *substitute) (o regexOptions, err error) {
	for {
		ch := p.next()
		switch {
		case ch == 'i' || ch == 'I':
			o.fold = true
		case ch == 'm' || ch == 'M':
			o.multiline = true
		case ch == 'e':
			return o, p.bad("e/r/w commands disabled in sandbox mode")
		case ch == 'p':
			if sub.print > 0 {
				return o, p.bad("multiple `p' options to `s' command")
			}
			sub.print++
		case ch == 'g':
			if sub.global {
				return o, p.bad("multiple `g' options to `s' command")
			}
			sub.global = true
		case ch == 'w':
			if p.s.sandbox {
				return o, p.bad("e/r/w commands disabled in sandbox mode")
			}
			name, err := p.filename()
			if err != nil {
				return o, err
			}
			sub.out, err = p.open(name)
			return o, err
		case isDigit(ch):
			if sub.number > 0 {
				return o, p.bad("multiple number options to `s' command")
			}
			if sub.number = int(p.integer(ch)); sub.number == 0 {
				return o, p.bad("number option to `s' command may not be zero")
			}
		case ch == '}' || ch == '#':
			p.back(ch)
			return o, nil
		case ch == '\n' || ch == ';' || ch == eof:
			return o, nil
		case ch == '\r':
			if ch = p.next(); ch == '\n' || ch == eof {
				return o, nil
			}
			return o, p.bad("unknown option to `s'")
		case isBlank(ch):
		default:
			return o, p.bad("unknown option to `s'")
		}
	}
}

// replacement parses the replacement of s.
func (p *parser) replacement(sub *substitute, src []byte) {
	src = escapes(src, inReplacement, p.s)
	cur := part{group: -1}
	flush := func() {
		sub.parts = append(sub.parts, cur)
		cur = part{group: -1}
	}
	refer := func(n int) {
		cur.group = n
		sub.groups = max(sub.groups, n)
		flush()
	}
	for i := 0; i < len(src); i++ {
		ch := src[i]
		if ch == '&' {
			refer(0)
			continue
		}
		if ch != '\\' || i+1 == len(src) {
			cur.text = append(cur.text, ch)
			continue
		}
		i++
		switch ch = src[i]; {
		case isDigit(int(ch)):
			refer(int(ch - '0'))
		case ch == 'n':
			cur.text = append(cur.text, '\n')
		case !p.s.posix && (ch == 'U' || ch == 'L' || ch == 'E' || ch == 'u' || ch == 'l'):
			if len(cur.text) > 0 || ch != 'u' && ch != 'l' && cur.setOnce || cur.setMode && ch != 'u' && ch != 'l' {
				flush()
			}
			cur.setCase(ch)
		default:
			cur.text = append(cur.text, ch)
		}
	}
	flush()
}

// setCase notes a change of case.
func (q *part) setCase(ch byte) {
	switch ch {
	case 'U':
		q.setMode, q.mode = true, caseUpper
	case 'L':
		q.setMode, q.mode = true, caseLower
	case 'E':
		q.setMode, q.mode = true, caseKeep
	case 'u':
		q.setOnce, q.once = true, caseUpper
	case 'l':
		q.setOnce, q.once = true, caseLower
	}
}
