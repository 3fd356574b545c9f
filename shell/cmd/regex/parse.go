package regex

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// misplaced says what a repetition operator with nothing to repeat means.
type misplaced uint8

const (
	misplacedLiteral misplaced = iota // a character like others
	misplacedSkipped                  // nothing
	misplacedInvalid                  // ErrRepeat
)

// dialect is what tells the syntaxes apart: the bits of the C library's
// re_syntax_options, as far as the tools' settings differ in them.
type dialect struct {
	extended      bool // ( ) { } | + ? are operators without a backslash
	plusQuestion  bool // + and ? are, though the rest is not
	anyAnchor     bool // ^ and $ are anchors wherever they stand
	misplaced     misplaced
	repeatTwice   bool // a** and a*\{2\} are fine
	looseInterval bool // what is no interval is literal
	looseParen    bool // so is a ) too many
	noBackref     bool
	noInterval    bool
	awkEscapes    bool
}

var dialects = [...]dialect{
	Basic:    {},
	Extended: {extended: true, anyAnchor: true, misplaced: misplacedInvalid, repeatTwice: true},
	Grep:     {repeatTwice: true},
	GrepExtended: {extended: true, anyAnchor: true, misplaced: misplacedSkipped, repeatTwice: true,
		looseInterval: true, looseParen: true},
	Awk: {extended: true, anyAnchor: true, repeatTwice: true, looseInterval: true, looseParen: true,
		noBackref: true, awkEscapes: true},
	Emacs: {plusQuestion: true, noInterval: true, repeatTwice: true},
}

// maxRepeat is the C library's RE_DUP_MAX.
const maxRepeat = 0x7fff

// maxDepth is how deep groups may nest.
const maxDepth = 1000

// token is what the lexer yields.
type token uint8

const (
	tokEnd token = iota
	tokChar
	tokAny
	tokBracket
	tokAssert
	tokOpen
	tokClose
	tokAlternate
	tokStar
	tokPlus
	tokQuestion
	tokInterval // an opening brace
	tokBackref
	tokClass // \w and its like
)

// parser reads one pattern.
type parser struct {
	src string
	dialect
	flags Flags
	base  int // groups of patterns before this one

	pos      int
	groups   int
	done     map[int]bool // groups that are closed
	depth    int
	backrefs bool
	warnings []string

	// The present token, and what goes with it.
	tok     token
	tokPos  int
	char    rune // tokChar; a raw byte when raw is set
	raw     bool
	assert  assert
	digit   int
	set     class
	caretOK bool // a ^ here is an anchor
}

func (p *parser) utf8() bool { return p.flags&UTF8 != 0 }

// parse reads the whole pattern.
func (p *parser) parse() (*node, error) {
	p.done = map[int]bool{}
	p.caretOK = true
	if err := p.next(); err != nil {
		return nil, err
	}
	n, err := p.alternation()
	if err != nil {
		return nil, err
	}
	if p.tok == tokClose {
		return nil, ErrCloseParen
	}
	return n, nil
}

// next reads a token.
func (p *parser) next() error {
	caretOK := p.caretOK
	p.caretOK = false
	p.tokPos = p.pos
	if p.pos >= len(p.src) {
		p.tok = tokEnd
		return nil
	}
	c := p.src[p.pos]
	p.pos++
	switch c {
	case '\\':
		return p.escape()
	case '[':
		p.tok = tokBracket
	case '.':
		p.tok = tokAny
	case '*':
		p.tok = tokStar
	case '^':
		if !p.anyAnchor && p.tokPos != 0 && !caretOK {
			p.literal(c)
			return nil
		}
		p.tok, p.assert = tokAssert, p.begin()
	case '$':
		if !p.anyAnchor && !p.dollarIsAnchor() {
			p.literal(c)
			return nil
		}
		p.tok, p.assert = tokAssert, p.end()
	default:
		p.plain(c)
	}
	return nil
}

func (p *parser) begin() assert {
	if p.flags&Multiline != 0 {
		return beginLine
	}
	return beginText
}

func (p *parser) end() assert {
	if p.flags&Multiline != 0 {
		return endLine
	}
	return endText
}

// dollarIsAnchor looks at what follows a $ of a basic expression.
func (p *parser) dollarIsAnchor() bool {
	rest := p.src[p.pos:]
	return rest == "" || strings.HasPrefix(rest, `\)`) || strings.HasPrefix(rest, `\|`)
}

// plain is an unescaped character that is no operator in every dialect.
func (p *parser) plain(c byte) {
	if p.extended {
		switch c {
		case '(':
			p.tok, p.caretOK = tokOpen, true
			return
		case ')':
			p.tok = tokClose
			return
		case '|':
			p.tok, p.caretOK = tokAlternate, true
			return
		case '{':
			p.tok = tokInterval
			return
		}
	}
	if p.extended || p.plusQuestion {
		switch c {
		case '+':
			p.tok = tokPlus
			return
		case '?':
			p.tok = tokQuestion
			return
		}
	}
	p.pos--
	p.literalRune()
}

func (p *parser) literal(c byte) { p.tok, p.char, p.raw = tokChar, rune(c), false }

// literalRune takes one character, of one byte or more, as itself.
func (p *parser) literalRune() {
	c := p.src[p.pos]
	if c < utf8.RuneSelf || !p.utf8() {
		p.literal(c)
		p.pos++
		return
	}
	r, n := utf8.DecodeRuneInString(p.src[p.pos:])
	p.tok, p.char, p.raw = tokChar, r, false
	if r == utf8.RuneError && n == 1 {
		p.char, p.raw = rune(c), true
	}
	p.pos += n
}

// escape reads what follows a backslash.
func (p *parser) escape() error {
	if p.pos >= len(p.src) {
		if p.awkEscapes {
			p.literal('\\')
			return nil
		}
		return ErrEscape
	}
	c := p.src[p.pos]
	p.pos++
	switch {
	case p.awkEscapes && p.awkEscape(c):
		return nil
	case c >= '1' && c <= '9' && !p.noBackref:
		p.tok, p.digit = tokBackref, int(c-'0')
		return nil
	case p.gnuEscape(c):
		return nil
	case !p.extended && p.basicOperator(c):
		return nil
	}
	p.pos--
	p.literalRune()
	return nil
}

// gnuEscape reads GNU's positions and classes.
func (p *parser) gnuEscape(c byte) bool {
	switch c {
	case '<':
		p.assert = wordStart
	case '>':
		p.assert = wordEnd
	case 'b', 'y':
		if (c == 'y') != p.awkEscapes {
			return false
		}
		p.assert = wordBoundary
	case 'B':
		p.assert = notBoundary
	case '`':
		p.assert = beginText
	case '\'':
		p.assert = endText
	case 'w', 'W', 's', 'S':
		p.tok = tokClass
		name := "space"
		if c|0x20 == 'w' {
			name = "word"
		}
		p.set = named(name, p.utf8())
		if c < 'a' {
			p.set = p.set.negate(p.utf8())
		}
		return true
	default:
		return false
	}
	p.tok = tokAssert
	return true
}

// basicOperator reads an operator of a basic expression.
func (p *parser) basicOperator(c byte) bool {
	switch c {
	case '(':
		p.tok, p.caretOK = tokOpen, true
	case ')':
		p.tok = tokClose
	case '|':
		p.tok, p.caretOK = tokAlternate, true
	case '{':
		if p.noInterval {
			return false
		}
		p.tok = tokInterval
	case '+', '?':
		if p.plusQuestion {
			return false
		}
		p.tok = tokPlus
		if c == '?' {
			p.tok = tokQuestion
		}
	default:
		return false
	}
	return true
}

// awkEscape reads an escape of awk's lexical conventions.
func (p *parser) awkEscape(c byte) bool {
	b, n, ok := awkByte(c, p.src[p.pos:])
	if !ok {
		return false
	}
	p.pos += n
	p.tok, p.char, p.raw = tokChar, rune(b), b >= utf8.RuneSelf && p.utf8()
	return true
}

// awkByte decodes an escape that stands for one byte: c is what follows the
// backslash, rest what follows c. It returns how much of rest belongs to it.
func awkByte(c byte, rest string) (b byte, n int, ok bool) {
	switch c {
	case 'a':
		return 7, 0, true
	case 'b':
		return 8, 0, true
	case 'f':
		return 12, 0, true
	case 'n':
		return 10, 0, true
	case 'r':
		return 13, 0, true
	case 't':
		return 9, 0, true
	case 'v':
		return 11, 0, true
	case 'x':
		v, i := 0, 0
		for i < 2 && i < len(rest) && isHex(rest[i]) {
			v = v<<4 | hexValue(rest[i])
			i++
		}
		return byte(v), i, i > 0
	}
	if c < '0' || c > '7' {
		return 0, 0, false
	}
	v, i := int(c-'0'), 0
	for i < 2 && i < len(rest) && rest[i] >= '0' && rest[i] <= '7' {
		v = v<<3 | int(rest[i]-'0')
		i++
	}
	return byte(v), i, true
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

func hexValue(c byte) int {
	if c <= '9' {
		return int(c - '0')
	}
	return int(c|0x20-'a') + 10
}

// alternation parses alternatives up to a closing parenthesis or the end.
func (p *parser) alternation() (*node, error) {
	var alts []*node
	for {
		n, err := p.branch()
		if err != nil {
			return nil, err
		}
		alts = append(alts, n)
		if p.tok != tokAlternate {
			return alternate(alts), nil
		}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
}

// branch parses a sequence of repeated atoms.
func (p *parser) branch() (*node, error) {
	var ns []*node
	for {
		switch p.tok {
		case tokEnd, tokAlternate:
			return concat(ns...), nil
		case tokClose:
			if p.depth > 0 || !p.looseParen {
				return concat(ns...), nil
			}
			p.literal(')')
		}
		if p.isRepeat() {
			n, again, err := p.misplacedRepeat()
			if err != nil {
				return nil, err
			}
			if again {
				continue
			}
			ns = append(ns, n)
			continue
		}
		n, err := p.atom()
		if err != nil {
			return nil, err
		}
		if n.op != opAssert {
			if n, err = p.repeats(n); err != nil {
				return nil, err
			}
		}
		ns = append(ns, n)
	}
}

func (p *parser) isRepeat() bool {
	return p.tok == tokStar || p.tok == tokPlus || p.tok == tokQuestion || p.tok == tokInterval
}

// misplacedRepeat handles an operator with nothing before it to repeat; again means that
// it is skipped.
func (p *parser) misplacedRepeat() (n *node, again bool, err error) {
	mode := p.misplaced
	if p.tok == tokInterval && !p.extended && !p.repeatTwice {
		mode = misplacedInvalid
	}
	switch mode {
	case misplacedInvalid:
		return nil, false, ErrRepeat
	case misplacedSkipped:
		what := p.src[p.tokPos:p.pos]
		if p.tok == tokInterval {
			_, _, literal, err := p.interval()
			if err != nil {
				return nil, false, err
			}
			if literal {
				break
			}
			what = "{...}"
		}
		p.warnings = append(p.warnings, what+" at start of expression")
		p.caretOK = true
		return nil, true, p.next()
	}
	c := p.src[p.pos-1]
	p.literal(c)
	if n, err = p.atom(); err != nil {
		return nil, false, err
	}
	n, err = p.repeats(n)
	return n, false, err
}

// atom parses one thing that may be repeated, or a position.
func (p *parser) atom() (*node, error) {
	var n *node
	switch p.tok {
	case tokChar:
		n = p.charNode()
	case tokAny:
		n = &node{op: opClass, set: p.any()}
	case tokClass:
		n = &node{op: opClass, set: p.set}
	case tokBracket:
		set, err := p.bracket()
		if err != nil {
			return nil, err
		}
		n = set
	case tokAssert:
		n = assertion(p.assert)
		p.caretOK = true
	case tokOpen:
		return p.group()
	case tokBackref:
		if !p.done[p.digit] {
			return nil, ErrBackref
		}
		p.backrefs = true
		n = &node{op: opBackref, group: p.base + p.digit, fold: p.flags&IgnoreCase != 0}
	}
	return n, p.next()
}

// any is the class of the dot.
func (p *parser) any() class {
	if p.flags&NoNewline != 0 {
		return class{{'\n', '\n'}}.negate(p.utf8())
	}
	return class(nil).negate(p.utf8())
}

// charNode is the node of a literal character.
func (p *parser) charNode() *node {
	if p.raw {
		return &node{op: opByte, b: byte(p.char)}
	}
	if p.flags&IgnoreCase != 0 {
		if set := (class{{p.char, p.char}}).fold(p.utf8()); len(set) > 1 || set[0].lo != set[0].hi {
			return &node{op: opClass, set: set}
		}
	}
	if p.char < utf8.RuneSelf || !p.utf8() {
		return &node{op: opByte, b: byte(p.char)}
	}
	return &node{op: opClass, set: class{{p.char, p.char}}}
}

// group parses a parenthesised expression.
func (p *parser) group() (*node, error) {
	p.groups++
	number := p.groups
	if p.depth++; p.depth > maxDepth {
		return nil, ErrSize
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	body, err := p.alternation()
	if err != nil {
		return nil, err
	}
	if p.tok != tokClose {
		return nil, ErrParen
	}
	p.depth--
	p.done[number] = true
	return &node{op: opGroup, group: p.base + number, subs: []*node{body}}, p.next()
}

// repeats applies the operators that follow an atom.
func (p *parser) repeats(n *node) (*node, error) {
	for p.isRepeat() {
		basicTwice := p.tok == tokStar || p.tok == tokInterval
		if n.op == opRepeat && basicTwice && !p.repeatTwice {
			return nil, ErrRepeat
		}
		lo, hi, literal := 0, unlimited, false
		var err error
		switch p.tok {
		case tokPlus:
			lo = 1
		case tokQuestion:
			hi = 1
		case tokInterval:
			lo, hi, literal, err = p.interval()
		}
		if err != nil {
			return nil, err
		}
		if literal {
			// The brace is a character: the next atom.
			p.literal('{')
			return n, nil
		}
		n = &node{op: opRepeat, subs: []*node{n}, min: lo, max: hi}
		if err := p.next(); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// interval reads the rest of {m,n}. When the dialect takes what is none for
// text, literal is set and the position is after the brace.
func (p *parser) interval() (lo, hi int, literal bool, err error) {
	mark := p.pos
	lo, stop := p.number()
	if lo == numNone {
		if stop != ',' {
			return 0, 0, false, ErrBadBrace
		}
		lo = 0
	}
	hi = numBad
	if lo != numBad {
		switch stop {
		case '}':
			hi = lo
		case ',':
			hi, stop = p.number()
		}
	}
	if lo == numBad || hi == numBad {
		if p.looseInterval {
			p.pos = mark
			return 0, 0, true, nil
		}
		return 0, 0, false, p.badInterval(stop)
	}
	if hi == numNone {
		hi = unlimited
	}
	if hi != unlimited && lo > hi || stop != '}' {
		return 0, 0, false, ErrBadBrace
	}
	if max(lo, hi) > maxRepeat {
		return 0, 0, false, ErrSize
	}
	return lo, hi, false, nil
}

func (p *parser) badInterval(stop byte) error {
	if stop == 0 {
		return ErrBrace
	}
	return ErrBadBrace
}

// What number returns for no digits, and for something else than digits.
const (
	numNone = -1
	numBad  = -2
)

// number reads the digits of an interval up to a comma, a closing brace or the
// end (stop 0), the way the C library does: whatever else comes is passed over.
func (p *parser) number() (n int, stop byte) {
	n = numNone
	for p.pos < len(p.src) {
		c := p.src[p.pos]
		p.pos++
		closing := c == '}' && p.extended
		if c == '\\' && !p.extended && p.pos < len(p.src) && p.src[p.pos] == '}' {
			p.pos++
			closing = true
		}
		switch {
		case closing:
			return n, '}'
		case c == ',':
			return n, ','
		case c < '0' || c > '9' || n == numBad:
			n = numBad
		case n == numNone:
			n = int(c - '0')
		default:
			n = min(maxRepeat+1, n*10+int(c-'0'))
		}
	}
	return numBad, 0
}

// isWordRune reports whether a character is part of a word.
func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Nl, r) ||
		unicode.Is(unicode.Other_Alphabetic, r)
}
