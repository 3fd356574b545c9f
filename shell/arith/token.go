package arith

import "strings"

// operators, longest first where one begins another. "=" and "op=" are tokens
// of kind assign.
var operators = []string{"<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "**"}

// next reads the next token.
func (e *evaluator) next() {
	e.last = e.tok
	for e.at < len(e.s) && strings.IndexByte(" \t\n\r", e.s[e.at]) >= 0 {
		e.at++
	}
	if e.at >= len(e.s) {
		// A message about the end names the last token instead.
		e.tok = end
		return
	}
	e.start = e.at
	c := e.s[e.at]
	switch {
	case isNameStart(c):
		e.variable()
	case c >= '0' && c <= '9':
		e.number()
	default:
		e.operator(c)
	}
}

func isNameStart(c byte) bool { return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func isAlnum(c byte) bool { return isNameStart(c) || c >= '0' && c <= '9' }

// variable reads a name with its subscript and, unless it is about to be
// assigned, its value.
func (e *evaluator) variable() {
	i := e.at
	for i < len(e.s) && isAlnum(e.s[i]) {
		i++
	}
	e.id, e.sub, e.idx = e.s[e.at:i], "", false
	if i < len(e.s) && e.s[i] == '[' {
		n := subscriptLen(e.s[i:])
		if n < 0 {
			e.at = len(e.s)
			e.fail("bad array subscript")
		}
		e.sub, e.idx = e.s[i+1:i+n-1], true
		i += n
	}
	e.at = i
	e.lookAhead()
	rest := strings.TrimLeft(e.s[i:], " \t\n")
	stepping := e.tok == preInc || e.tok == preDec
	e.tok = name
	if !stepping && strings.HasPrefix(rest, "=") && !strings.HasPrefix(rest, "==") {
		e.val = 0
		return
	}
	e.load()
}

// lookAhead finds what cannot be a token after a variable before the variable
// is evaluated, as Bash does because it looks for "=" there.
func (e *evaluator) lookAhead() {
	i := e.at
	for {
		for i < len(e.s) && strings.IndexByte(" \t\n\r", e.s[i]) >= 0 {
			i++
		}
		if i >= len(e.s) || !isNameStart(e.s[i]) {
			break
		}
		for i < len(e.s) && isAlnum(e.s[i]) {
			i++
		}
		if i < len(e.s) && e.s[i] == '[' {
			n := subscriptLen(e.s[i:])
			if n < 0 {
				return
			}
			i += n
		}
	}
	if i < len(e.s) && (e.s[i] < '0' || e.s[i] > '9') && strings.IndexByte(operatorBytes, e.s[i]) < 0 {
		e.start = i
		e.fail("syntax error: invalid arithmetic operator")
	}
}

// operatorBytes are what operators start with.
const operatorBytes = "+-*/%<>&|^!~?:,()="

// subscriptLen is the length of "[...]" at the start of s, -1 when it is not
// closed.
func subscriptLen(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '\'', '"':
			if n := strings.IndexByte(s[i+1:], s[i]); n >= 0 {
				i += n + 1
			}
		}
	}
	return -1
}

// number reads a constant: decimal, 0octal, 0xhex or base#digits.
func (e *evaluator) number() {
	i := e.at
	for i < len(e.s) && (isAlnum(e.s[i]) || e.s[i] == '#' || e.s[i] == '@') {
		i++
	}
	text := e.s[e.at:i]
	e.at = i
	e.tok = number
	base, digits := int64(10), text
	switch {
	case strings.HasPrefix(text, "0x"), strings.HasPrefix(text, "0X"):
		base, digits = 16, text[2:]
	case len(text) > 1 && text[0] == '0' && strings.IndexByte(text, '#') < 0:
		base, digits = 8, text[1:]
	}
	if n := strings.IndexByte(digits, '#'); n >= 0 {
		if base != 10 {
			e.failNumber("invalid number")
		}
		if digits[:n] == "0" {
			e.failNumber("invalid number")
		}
		b := e.digits(digits[:n], 10)
		if b < 2 || b > 64 {
			e.failNumber("invalid arithmetic base")
		}
		base, digits = b, digits[n+1:]
		if digits == "" {
			e.failNumber("invalid integer constant")
		}
		if strings.IndexByte(digits, '#') >= 0 {
			e.failNumber("invalid number")
		}
	}
	e.val = e.digits(digits, base)
}

// digits evaluates digits of a base up to 64.
func (e *evaluator) digits(s string, base int64) int64 {
	var v int64
	for i := 0; i < len(s); i++ {
		d := int64(-1)
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			d = int64(c - '0')
		case c >= 'a' && c <= 'z':
			d = int64(c-'a') + 10
		case c >= 'A' && c <= 'Z':
			d = int64(c-'A') + 36
			if base <= 36 {
				d = int64(c-'A') + 10
			}
		case c == '@':
			d = 62
		case c == '_':
			d = 63
		}
		if d < 0 || d >= base {
			e.failNumber("value too great for base")
		}
		v = v*base + d
	}
	return v
}

// failNumber reports a constant that is none: only what comes up to its end is
// shown.
func (e *evaluator) failNumber(msg string) {
	panic(&Error{Expr: e.s[:e.at], Msg: msg, Token: e.s[e.start:e.at]})
}

// operator reads anything else.
func (e *evaluator) operator(c byte) {
	rest := e.s[e.at:]
	for _, o := range operators {
		if !strings.HasPrefix(rest, o) {
			continue
		}
		e.at += len(o)
		if o == "<<=" || o == ">>=" {
			e.tok, e.op = assign, o[:2]
			return
		}
		e.tok, e.op = op, o
		return
	}
	if c == '=' {
		e.at++
		e.tok, e.op = assign, ""
		return
	}
	if len(rest) > 1 && rest[1] == '=' && strings.IndexByte("*/%+-&^|", c) >= 0 {
		e.at += 2
		e.tok, e.op = assign, rest[:1]
		return
	}
	if (c == '+' || c == '-') && len(rest) > 1 && rest[1] == c && e.steps(c, rest) {
		return
	}
	if strings.IndexByte(operatorBytes, c) < 0 {
		operand := e.tok == number || e.tok == name || e.tok == postInc || e.tok == postDec || e.is(")")
		if operand {
			e.fail("syntax error: invalid arithmetic operator")
		}
		e.fail("syntax error: operand expected")
	}
	e.at++
	e.tok, e.op = op, rest[:1]
}

// steps reads ++ or --, unless it is two signs.
func (e *evaluator) steps(c byte, rest string) bool {
	if e.stepped {
		e.fail(rest[:2] + ": assignment requires lvalue")
	}
	if e.tok == name {
		e.tok = postInc
		if c == '-' {
			e.tok = postDec
		}
		e.at += 2
		return true
	}
	after := strings.TrimLeft(rest[2:], " \t\n")
	if after == "" || !isNameStart(after[0]) {
		return false
	}
	e.tok = preInc
	if c == '-' {
		e.tok = preDec
	}
	e.at += 2
	return true
}
