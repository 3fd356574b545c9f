package awk

import (
	"fmt"
	"strings"
)

// tok is a kind of token.
type tok uint8

const (
	tEOF tok = iota
	tNewline
	tNumber
	tString
	tRegex    // /re/, read when the parser asks for it
	tName     // a name
	tFuncName // a name right before a parenthesis
	tBuiltin  // a function that awk has

	tBegin
	tEnd
	tBeginFile
	tEndFile
	tFunction
	tIf
	tElse
	tWhile
	tFor
	tDo
	tBreak
	tContinue
	tNext
	tNextFile
	tExit
	tReturn
	tDelete
	tIn
	tGetline
	tPrint
	tPrintf
	tSwitch
	tCase
	tDefault

	tLBrace
	tRBrace
	tLParen
	tRParen
	tLBracket
	tRBracket
	tSemicolon
	tComma
	tPlus
	tMinus
	tStar
	tSlash
	tPercent
	tPower
	tNot
	tGreater
	tLess
	tGreaterEq
	tLessEq
	tEqual
	tNotEqual
	tMatch
	tNoMatch
	tAnd
	tOr
	tPipe
	tPipeBoth // |&
	tAppend   // >>
	tQuestion
	tColon
	tDollar
	tAt
	tIncr
	tDecr
	tAssign
	tAddAssign
	tSubAssign
	tMulAssign
	tDivAssign
	tModAssign
	tPowAssign
)

var keywords = map[string]tok{
	"BEGIN": tBegin, "END": tEnd, "BEGINFILE": tBeginFile, "ENDFILE": tEndFile, "function": tFunction, "func": tFunction,
	"if": tIf, "else": tElse, "while": tWhile, "for": tFor, "do": tDo, "break": tBreak, "continue": tContinue,
	"next": tNext, "nextfile": tNextFile, "exit": tExit, "return": tReturn, "delete": tDelete, "in": tIn,
	"getline": tGetline, "print": tPrint, "printf": tPrintf, "switch": tSwitch, "case": tCase, "default": tDefault,
}

// token is one token.
type token struct {
	kind tok
	pos  int // in the source text
	end  int
	text string // of a name, and the value of a string
	num  float64
}

// source is one piece of program text: an -e, or a file.
type source struct {
	name string // "cmd. line" or the file's name
	text string
	line int // of its first line
}

// syntaxError is a mistake in the program, with the place that it shows at.
type syntaxError struct {
	src     *source
	pos     int
	message string
	// plain says that the message alone is shown, not the line.
	plain bool
}

func (e *syntaxError) Error() string { return e.message }

// report writes the message as gawk does: the line up to the place, and the
// place marked.
func (e *syntaxError) report(name string) string {
	line := e.src.line + strings.Count(e.src.text[:min(e.pos, len(e.src.text))], "\n")
	if e.pos < len(e.src.text) && e.src.text[e.pos] == '\n' {
		line++ // the newline itself was read
	}
	head := fmt.Sprintf("%s: %s:%d: ", name, e.src.name, line)
	if e.plain {
		return head + e.message + "\n"
	}
	start := strings.LastIndexByte(e.src.text[:min(e.pos, len(e.src.text))], '\n') + 1
	text := e.src.text[start:]
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		text = text[:i]
	}
	var pad strings.Builder
	for i := start; i < e.pos && i < len(e.src.text); i++ {
		if e.src.text[i] == '\t' {
			pad.WriteByte('\t')
		} else {
			pad.WriteByte(' ')
		}
	}
	return head + text + "\n" + head + pad.String() + "^ " + e.message + "\n"
}

// lexer splits a source into tokens.
type lexer struct {
	src  *source
	pos  int
	warn func(pos int, message string)
}

// fail throws a mistake at a place.
func (l *lexer) fail(pos int, format string, args ...any) {
	panic(&syntaxError{src: l.src, pos: pos, message: fmt.Sprintf(format, args...)})
}

// skip passes over blanks, comments and continued lines.
func (l *lexer) skip() {
	s := l.src.text
	for l.pos < len(s) {
		switch c := s[l.pos]; {
		case c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v':
			l.pos++
		case c == '#':
			for l.pos < len(s) && s[l.pos] != '\n' {
				l.pos++
			}
		case c == '\\' && strings.HasPrefix(s[l.pos+1:], "\n"):
			l.pos += 2
		case c == '\\' && strings.HasPrefix(s[l.pos+1:], "\r\n"):
			l.pos += 3
		default:
			return
		}
	}
}

// operators in the order in which they are tried.
var operators = []struct {
	text string
	kind tok
}{
	{"**=", tPowAssign}, {"^=", tPowAssign}, {"**", tPower}, {"^", tPower}, {"++", tIncr}, {"--", tDecr}, {"+=", tAddAssign}, {"-=", tSubAssign},
	{"*=", tMulAssign}, {"/=", tDivAssign}, {"%=", tModAssign}, {"==", tEqual}, {"!=", tNotEqual}, {"<=", tLessEq}, {">=", tGreaterEq}, {">>", tAppend},
	{"!~", tNoMatch}, {"&&", tAnd}, {"||", tOr}, {"|&", tPipeBoth}, {"{", tLBrace}, {"}", tRBrace}, {"(", tLParen}, {")", tRParen}, {"[", tLBracket},
	{"]", tRBracket}, {";", tSemicolon}, {",", tComma}, {"+", tPlus}, {"-", tMinus}, {"*", tStar}, {"/", tSlash}, {"%", tPercent}, {"!", tNot},
	{">", tGreater}, {"<", tLess}, {"~", tMatch}, {"|", tPipe}, {"?", tQuestion}, {":", tColon}, {"$", tDollar}, {"=", tAssign}, {"@", tAt},
}

// next reads a token; a slash is always a division.
func (l *lexer) next() token {
	l.skip()
	s := l.src.text
	t := token{pos: l.pos}
	if l.pos >= len(s) {
		t.end = l.pos
		return t
	}
	c := s[l.pos]
	switch {
	case c == '\n':
		l.pos++
		t.kind = tNewline
	case c == '"':
		t.kind, t.text = tString, l.stringLiteral()
	case isDigit(c) || c == '.' && l.pos+1 < len(s) && isDigit(s[l.pos+1]):
		t.kind, t.num = tNumber, l.number()
	case isNameStart(c):
		l.name(&t)
	default:
		for _, op := range operators {
			if strings.HasPrefix(s[l.pos:], op.text) {
				l.pos += len(op.text)
				t.kind, t.end = op.kind, l.pos
				return t
			}
		}
		l.fail(l.pos, "syntax error")
	}
	t.end = l.pos
	return t
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isNameStart(c byte) bool {
	return c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// name reads a name, a keyword or the name of a function.
func (l *lexer) name(t *token) {
	s := l.src.text
	start := l.pos
	for l.pos < len(s) && (isNameStart(s[l.pos]) || isDigit(s[l.pos])) {
		l.pos++
	}
	// A name of a namespace: awk::x is x.
	if strings.HasPrefix(s[l.pos:], "::") && l.pos+2 < len(s) && isNameStart(s[l.pos+2]) && s[start:l.pos] == "awk" {
		l.pos += 2
		l.name(t)
		return
	}
	t.text = s[start:l.pos]
	if k, ok := keywords[t.text]; ok {
		t.kind = k
		return
	}
	if _, ok := builtins[t.text]; ok {
		t.kind = tBuiltin
		return
	}
	t.kind = tName
	if l.pos < len(s) && s[l.pos] == '(' {
		t.kind = tFuncName
	}
}

// number reads a number: decimal, or hexadecimal or octal in C's forms.
func (l *lexer) number() float64 {
	s := l.src.text[l.pos:]
	if len(s) > 2 && s[0] == '0' && s[1]|0x20 == 'x' && isHex(s[2]) {
		n := 2
		for n < len(s) && isHex(s[n]) {
			n++
		}
		l.pos += n
		return parseBase(s[2:n], 16)
	}
	if n := leadingDigits(s); n > 1 && s[0] == '0' && strings.IndexAny(s[:n], "89") < 0 && (n == len(s) || s[n] != '.' && s[n]|0x20 != 'e') {
		l.pos += n
		return parseBase(s[1:n], 8)
	}
	v, n := prefixNumber(s)
	l.pos += n
	return v
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

// parseBase reads digits that are known to be good.
func parseBase(s string, base float64) float64 {
	v := 0.0
	for i := range len(s) {
		v = v*base + float64(hexValue(s[i]))
	}
	return v
}

func hexValue(c byte) int {
	if isDigit(c) {
		return int(c - '0')
	}
	return int(c|0x20-'a') + 10
}

// stringLiteral reads a string; its escapes are replaced.
func (l *lexer) stringLiteral() string {
	s := l.src.text
	start := l.pos
	for i := l.pos + 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '\n':
			l.fail(start, "unterminated string")
		case '"':
			l.pos = i + 1
			return unescape(s[start+1:i], func(m string) { l.warn(start, m) })
		}
	}
	l.fail(start, "unterminated string")
	return ""
}

// unescape replaces the escapes of a string.
func unescape(s string, warn func(string)) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		switch {
		case c == '"' || c == '\\':
			b.WriteByte(c)
		case c == '\n':
		case c == '\r' && strings.HasPrefix(s[i+1:], "\n"):
			i++
		case strings.IndexByte("abfnrtv", c) >= 0:
			b.WriteByte("\a\b\f\n\r\t\v"[strings.IndexByte("abfnrtv", c)])
		case c >= '0' && c <= '7':
			v, n := 0, 0
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				v = v*8 + int(s[i+n]-'0')
				n++
			}
			b.WriteByte(byte(v))
			i += n - 1
		case c == 'x' && i+1 < len(s) && isHex(s[i+1]):
			v, n := 0, 0
			for n < 2 && i+1+n < len(s) && isHex(s[i+1+n]) {
				v = v*16 + hexValue(s[i+1+n])
				n++
			}
			b.WriteByte(byte(v))
			i += n
		default:
			if warn != nil {
				warn(fmt.Sprintf("escape sequence `\\%c' treated as plain `%c'", c, c))
			}
			b.WriteByte(c)
		}
	}
	return b.String()
}

// regexLiteral reads a regular expression whose first slash is at pos.
func (l *lexer) regexLiteral(pos int) string {
	s := l.src.text
	var b strings.Builder
	bracket := 0 // where the bracket expression under way starts
	for i := pos + 1; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\n':
			l.fail(pos+1, "unterminated regexp")
		case c == '\\' && i+1 < len(s):
			i++
			if s[i] == '\n' {
				continue
			}
			if s[i] != '/' {
				b.WriteByte('\\')
			}
			b.WriteByte(s[i])
			continue
		case c == '[' && bracket == 0:
			bracket = i
		case c == '[' && i+1 < len(s) && s[i+1] == ':':
			if n := strings.Index(s[i:], ":]"); n > 0 {
				b.WriteString(s[i : i+n+2])
				i += n + 1
				continue
			}
		case c == ']' && bracket > 0:
			first := i == bracket+1 || i == bracket+2 && s[bracket+1] == '^'
			if !first {
				bracket = 0
			}
		case c == '/' && bracket == 0:
			l.pos = i + 1
			return b.String()
		}
		b.WriteByte(c)
	}
	l.fail(pos+1, "unterminated regexp")
	return ""
}
