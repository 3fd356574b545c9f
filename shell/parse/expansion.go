package parse

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// dollarStarts reports whether the "$" at the present offset starts an
// expansion or a quote.
func (p *Parser) dollarStarts(ctx wordContext) bool {
	if p.off+1 >= len(p.src) {
		return false
	}
	switch c := p.src[p.off+1]; c {
	case '(', '{', '[', '@', '*', '#', '?', '-', '$', '!':
		return true
	case '\'':
		return !ctx.quotedText() || ctx == inBraceQ && !p.heredoc
	case '"':
		return ctx != inDouble && ctx != inHeredoc
	default:
		return isNameStart(c) || isDigit(c)
	}
}

// dollar reads what "$" starts.
func (p *Parser) dollar(ctx wordContext) syntax.WordPart {
	start := position(p.off, p.line)
	switch c := p.src[p.off+1]; c {
	case '(':
		nested := strings.HasPrefix(p.src[p.off+2:], "(")
		if nested {
			if a := p.arithExpansion(); a != nil {
				return a
			}
		}
		p.off += 2
		c := &syntax.CmdSubst{Left: start}
		if nested {
			defer p.blame(start.Line())
		}
		c.Stmts = p.substList()
		c.Right = position(p.off-1, p.line)
		if nested {
			c.Last = []syntax.Comment{{Text: p.src[start.Offset()+2 : p.off-1]}}
		}
		return c
	case '{':
		return p.braced(ctx)
	case '[':
		line := p.line
		p.off += 2
		s := p.scan(inBracket)
		if !s.ended {
			p.failEOF(']', line)
		}
		p.off++
		return &syntax.ArithmExp{Left: start, Right: position(p.off-1, p.line), Bracket: true, X: &syntax.Word{Parts: s.parts}}
	case '\'':
		return p.ansiQuoted()
	case '"':
		p.off++
		q := p.doubleQuoted().(*syntax.DblQuoted)
		q.Dollar = true
		return q
	}
	p.off++
	n := identLen(p.src[p.off:])
	if n == 0 {
		n = 1
	}
	name := p.src[p.off : p.off+n]
	lit := &syntax.Lit{ValuePos: position(p.off, p.line), ValueEnd: position(p.off+n, p.line), Value: name}
	p.off += n
	return &syntax.ParamExp{Dollar: start, Short: true, Param: lit}
}

// blame gives an error about a missing ")" the line where Bash, which took
// "$((" for arithmetic, says that it started.
func (p *Parser) blame(line uint) {
	if v := recover(); v != nil {
		if e, ok := v.(*Error); ok && e.Msg == eofMessage(')') {
			e.Line = int(line)
		}
		panic(v)
	}
}

// arithExpansion reads "$(( ))"; nil, and nothing taken, when it is a command
// substitution that starts with a subshell.
func (p *Parser) arithExpansion() syntax.WordPart {
	start := position(p.off, p.line)
	x := p.arithText(3)
	if x == nil {
		return nil
	}
	return &syntax.ArithmExp{Left: start, Right: position(p.off-2, p.line), X: x}
}

// arithText reads arithmetic up to and with "))", after an opening of skip
// bytes. It returns nil, having taken nothing, when one ")" alone ends it. The
// outcome is remembered, by the distance from the source's end, so that nested
// ambiguities cost no exponential time.
func (p *Parser) arithText(skip int) *syntax.Word {
	key := len(p.src) - p.off
	if p.notArith[key] {
		return nil
	}
	saved := *p
	line := p.line
	p.off += skip
	s := p.scan(inArith)
	if !s.ended {
		p.failEOF(')', line)
	}
	if s.decided {
		notArith := p.notArith
		if notArith == nil {
			notArith = map[int]bool{}
		}
		notArith[key] = true
		*p = saved
		p.notArith = notArith
		return nil
	}
	p.off += 2
	return &syntax.Word{Parts: s.parts}
}

// braced reads "${...}".
func (p *Parser) braced(ctx wordContext) syntax.WordPart {
	start, line := p.off, p.line
	e := &syntax.ParamExp{Dollar: position(p.off, p.line)}
	p.off += 2
	quoted := ctx.quotedText() && ctx != inArith && ctx != inOffset || ctx == inBraceQ
	if !p.parameter(e) || !p.operator(e, quoted) {
		// A bad substitution, to be reported when it is reached.
		if s := p.scan(inBrace); !s.ended {
			p.failEOF('}', line)
		}
		p.off++
		raw := &syntax.Lit{ValuePos: e.Dollar, Value: p.src[start:p.off]}
		return &syntax.ParamExp{Dollar: e.Dollar, Rbrace: position(p.off-1, p.line), Flags: raw}
	}
	if p.off >= len(p.src) {
		p.failEOF('}', line)
	}
	e.Rbrace = position(p.off, p.line)
	p.off++
	return e
}

// at returns the byte n ahead, 0 past the end.
func (p *Parser) at(n int) byte {
	if p.off+n < len(p.src) {
		return p.src[p.off+n]
	}
	return 0
}

// paramLen is the length of the parameter's name at the offset: an identifier,
// digits or one special character; 0 when there is none.
func (p *Parser) paramLen() int {
	s := p.src[p.off:]
	if n := identLen(s); n > 0 {
		return n
	}
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	if n == 0 && s != "" && strings.IndexByte("@*#?-$!", s[0]) >= 0 {
		n = 1
	}
	return n
}

// parameter reads the prefix, the name and the subscript.
func (p *Parser) parameter(e *syntax.ParamExp) bool {
	switch c := p.at(0); {
	case c == '#' && p.lengthOf():
		e.Length = true
		p.off++
	case c == '!' && p.indirect():
		e.Excl = true
		p.off++
	}
	n := p.paramLen()
	if n == 0 {
		return false
	}
	e.Param = &syntax.Lit{ValuePos: position(p.off, p.line), ValueEnd: position(p.off+n, p.line), Value: p.src[p.off : p.off+n]}
	p.off += n
	if p.at(0) == '[' && isNameStart(e.Param.Value[0]) {
		line := p.line
		p.off++
		s := p.scan(inSubscript)
		if !s.ended {
			p.failEOF('}', line)
		}
		if len(s.parts) == 0 {
			return false
		}
		p.off++
		e.Index = &syntax.Word{Parts: s.parts}
	}
	return true
}

// lengthOf decides whether "#" asks for a length or is a parameter itself.
func (p *Parser) lengthOf() bool {
	switch c := p.at(1); c {
	case '}', ':', '=', '+', '%', '/', '^', ',', 0:
		return false
	case '-', '?', '#':
		return p.at(2) == '}'
	case '@', '*', '$', '!':
		return true
	default:
		return isNameStart(c) || isDigit(c)
	}
}

// indirect decides whether "!" asks for indirection or is a parameter itself.
func (p *Parser) indirect() bool {
	switch c := p.at(1); c {
	case '@', '*', '#', '?', '-', '$', '!':
		next := p.at(2)
		return next == '}' || c == '@' && next != '}' || c == '*' || c == '#' && next != 0
	default:
		return isNameStart(c) || isDigit(c)
	}
}

// expansionOps are the operators with a word, longest first.
var expansionOps = []struct {
	text string
	op   syntax.ParExpOperator
}{
	{":-", syntax.DefaultUnsetOrNull}, {":=", syntax.AssignUnsetOrNull}, {":?", syntax.ErrorUnsetOrNull},
	{":+", syntax.AlternateUnsetOrNull}, {"-", syntax.DefaultUnset}, {"=", syntax.AssignUnset},
	{"?", syntax.ErrorUnset}, {"+", syntax.AlternateUnset}, {"##", syntax.RemLargePrefix},
	{"#", syntax.RemSmallPrefix}, {"%%", syntax.RemLargeSuffix}, {"%", syntax.RemSmallSuffix},
	{"^^", syntax.UpperAll}, {"^", syntax.UpperFirst}, {",,", syntax.LowerAll}, {",", syntax.LowerFirst},
	{"~~", ToggleAll}, {"~", ToggleFirst},
}

// Operators that Bash has and the tree's package has no name for.
const (
	ToggleFirst syntax.ParExpOperator = 250 // ${x~}
	ToggleAll   syntax.ParExpOperator = 251 // ${x~~}
)

// operator reads what follows the name, up to "}".
func (p *Parser) operator(e *syntax.ParamExp, quoted bool) bool {
	if p.at(0) == '}' {
		return true
	}
	if p.off >= len(p.src) {
		return true // reported by the caller
	}
	if e.Length {
		return false
	}
	c := p.at(0)
	switch {
	case e.Excl && (c == '@' || c == '*') && p.at(1) == '}' && e.Index == nil:
		e.Names = syntax.NamesPrefix
		if c == '@' {
			e.Names = syntax.NamesPrefixWords
		}
		p.off++
		return true
	case c == '@':
		return p.transformation(e)
	case c == '/':
		return p.replacement(e, quoted)
	}
	for _, o := range expansionOps {
		if !strings.HasPrefix(p.src[p.off:], o.text) {
			continue
		}
		p.off += len(o.text)
		ctx := inBrace
		if quoted && !patternOp(o.op) {
			ctx = inBraceQ
		}
		s := p.scan(ctx)
		e.Exp = &syntax.Expansion{Op: o.op, Word: &syntax.Word{Parts: s.parts}}
		return true
	}
	if c == ':' && p.at(1) != '}' {
		return p.slice(e)
	}
	return false
}

// patternOp reports whether an operator's word is a pattern, in which single
// quotes quote even inside double quotes.
func patternOp(op syntax.ParExpOperator) bool {
	switch op {
	case syntax.RemLargePrefix, syntax.RemSmallPrefix, syntax.RemLargeSuffix, syntax.RemSmallSuffix,
		syntax.UpperAll, syntax.UpperFirst, syntax.LowerAll, syntax.LowerFirst, ToggleAll, ToggleFirst:
		return true
	}
	return false
}

// transformation reads "@Q". One that does not exist is left for the evaluator,
// which objects only when there is something to transform.
func (p *Parser) transformation(e *syntax.ParamExp) bool {
	op := p.src[p.off+1:]
	end := strings.IndexByte(op, '}')
	if end < 0 {
		return false
	}
	op = op[:end]
	if len(op) != 1 || strings.IndexByte("QEPAKaUuLk", op[0]) < 0 {
		start := int(e.Dollar.Offset())
		e.Flags = &syntax.Lit{ValuePos: e.Dollar, Value: p.src[start : p.off+1+end+1]}
	}
	lit := &syntax.Lit{ValuePos: position(p.off+1, p.line), Value: op}
	p.off += 1 + end
	e.Exp = &syntax.Expansion{Op: syntax.OtherParamOps, Word: &syntax.Word{Parts: []syntax.WordPart{lit}}}
	return true
}

// replacement reads "/pattern/string". An anchor (# or %) is the pattern's
// first part.
func (p *Parser) replacement(e *syntax.ParamExp, quoted bool) bool {
	r := &syntax.Replace{}
	p.off++
	if p.at(0) == '/' {
		r.All = true
		p.off++
	}
	slash := r.All && p.at(0) == '/' && p.at(1) == '/' // ${x////-}: the first is the pattern
	if slash {
		p.off++
	}
	s := p.scan(inSlash)
	r.Orig = &syntax.Word{Parts: s.parts}
	if slash {
		lit := &syntax.Lit{Value: "/"}
		r.Orig.Parts = append([]syntax.WordPart{lit}, r.Orig.Parts...)
	}
	if p.at(0) == '/' {
		p.off++
		s := p.scan(inBrace)
		r.With = &syntax.Word{Parts: s.parts}
	}
	e.Repl = r
	return true
}

// slice reads ":offset:length".
func (p *Parser) slice(e *syntax.ParamExp) bool {
	p.off++
	e.Slice = &syntax.Slice{}
	s := p.scan(inOffset)
	e.Slice.Offset = &syntax.Word{Parts: s.parts}
	if p.at(0) == ':' {
		p.off++
		// What follows a second ":" is for the evaluator to object to.
		s := p.scan(inBraceQ)
		e.Slice.Length = &syntax.Word{Parts: s.parts}
	}
	return true
}
