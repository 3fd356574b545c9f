package regex

import (
	"strings"
	"unicode/utf8"
)

// bracket parses a bracket expression; the position is after its opening
// bracket.
func (p *parser) bracket() (*node, error) {
	start := p.pos
	negated := false
	if p.pos < len(p.src) && p.src[p.pos] == '^' {
		negated = true
		p.pos++
	}
	var set class
	var bytes []byte // raw bytes, in UTF-8 text
	for first := true; ; first = false {
		if p.pos >= len(p.src) {
			return nil, ErrBracket
		}
		if p.src[p.pos] == ']' && !first {
			p.pos++
			break
		}
		if err := p.bracketItem(&set, &bytes); err != nil {
			return nil, err
		}
	}
	if body := p.src[start : p.pos-1]; p.flags&StrictClass != 0 && len(body) > 1 && body[0] == ':' && body[len(body)-1] == ':' {
		return nil, ErrClassSyntax
	}
	return p.bracketNode(set, bytes, negated), nil
}

func (p *parser) bracketNode(set class, bytes []byte, negated bool) *node {
	set = set.normal()
	if p.flags&IgnoreCase != 0 {
		set = set.fold(p.utf8())
	}
	if negated {
		if p.flags&NoNewline != 0 {
			set = append(set, span{'\n', '\n'}).normal()
		}
		return &node{op: opClass, set: set.negate(p.utf8())}
	}
	alts := []*node{{op: opClass, set: set}}
	for _, b := range bytes {
		alts = append(alts, &node{op: opByte, b: b})
	}
	return alternate(alts)
}

// bracketItem reads a class, a character or a range.
func (p *parser) bracketItem(set *class, bytes *[]byte) error {
	rest := p.src[p.pos:]
	if strings.HasPrefix(rest, "[:") {
		if i := strings.Index(rest, ":]"); i >= 2 {
			members := named(rest[2:i], p.utf8())
			if members == nil {
				return ErrClassName
			}
			if p.flags&IgnoreCase != 0 && (rest[2:i] == "upper" || rest[2:i] == "lower") {
				members = named("alpha", p.utf8())
			}
			*set = append(*set, members...)
			p.pos += i + 2
			return nil
		}
	}
	lo, raw, err := p.bracketChar()
	if err != nil {
		return err
	}
	rest = p.src[p.pos:]
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
		if raw {
			*bytes = append(*bytes, byte(lo))
		} else {
			*set = append(*set, span{lo, lo})
		}
		return nil
	}
	p.pos++
	hi, rawHi, err := p.bracketChar()
	if err != nil {
		return err
	}
	if raw || rawHi {
		if !raw || !rawHi || lo > hi {
			return ErrRange
		}
		for b := lo; b <= hi; b++ {
			*bytes = append(*bytes, byte(b))
		}
		return nil
	}
	if lo > hi {
		return ErrRange
	}
	*set = append(*set, span{lo, hi})
	return nil
}

// bracketChar reads one character, [.x.] or [=x=]; raw says that it is a byte
// that is no character.
func (p *parser) bracketChar() (r rune, raw bool, err error) {
	rest := p.src[p.pos:]
	if rest == "" {
		return 0, false, ErrBracket
	}
	if len(rest) > 1 && rest[0] == '[' && (rest[1] == '.' || rest[1] == '=') {
		return p.collating(rest)
	}
	if rest[0] == '\\' && p.awkEscapes && len(rest) > 1 {
		if b, n, ok := awkByte(rest[1], rest[2:]); ok {
			p.pos += 2 + n
			return rune(b), b >= utf8.RuneSelf && p.utf8(), nil
		}
		p.pos++
		rest = rest[1:]
	}
	r, n, raw := p.decode(rest)
	p.pos += n
	return r, raw, nil
}

func (p *parser) decode(s string) (r rune, n int, raw bool) {
	if !p.utf8() {
		return rune(s[0]), 1, false
	}
	r, n = utf8.DecodeRuneInString(s)
	if r == utf8.RuneError && n == 1 {
		return rune(s[0]), 1, true
	}
	return r, n, false
}

// collating reads [.x.] or [=x=]: every collating element of these locales is
// one character, and equivalent to none but itself.
func (p *parser) collating(rest string) (rune, bool, error) {
	end := strings.Index(rest[2:], rest[1:2]+"]")
	if end < 0 {
		return 0, false, ErrBracket
	}
	name := rest[2 : 2+end]
	if name == "" {
		return 0, false, ErrCollate
	}
	r, n, raw := p.decode(name)
	if n != len(name) {
		return 0, false, ErrCollate
	}
	p.pos += end + 4
	return r, raw, nil
}
