package system

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name: "expr", Synopsis: "expr EXPRESSION\nexpr OPTION", RawArgs: true, UsageStatus: 2,
		Summary: "Print the value of EXPRESSION to standard output.",
		Notes: "Operators by increasing precedence:\n  ARG1 | ARG2\n  ARG1 & ARG2\n  ARG1 < ARG2   <=  =  !=  >=  >\n  ARG1 + ARG2   -\n  ARG1 * ARG2   /  %\n" +
			"  STRING : REGEXP   match STRING REGEXP   substr STRING POS LENGTH\n  index STRING CHARS   length STRING   + TOKEN   ( EXPRESSION )\n" +
			"Exit status is 0 if EXPRESSION is neither null nor 0, 1 if EXPRESSION is null or 0,\n2 if EXPRESSION is syntactically invalid, and 3 if an error occurred.",
	}, expr)
}

// evaluator evaluates an expression of expr while it reads it. What is after
// a decided | or & is read but not evaluated.
type evaluator struct {
	ctx  context.Context
	c    *command.Context
	args []string
	pos  int
}

// exprError ends an evaluation: the message and the exit status.
type exprError struct {
	msg    string
	status int
}

func (e *evaluator) fail(status int, format string, args ...any) {
	panic(exprError{fmt.Sprintf(format, args...), status})
}

func expr(ctx context.Context, c *command.Context, args []string) (status int) {
	if len(args) == 2 && (args[1] == "--help" || args[1] == "--version") {
		return constant(c, args, 0)
	}
	e := evaluator{ctx: ctx, c: c, args: args[1:]}
	if len(e.args) > 0 && e.args[0] == "--" {
		e.args = e.args[1:]
	}
	if len(e.args) == 0 {
		return c.Usage("missing operand")
	}
	defer func() {
		if v := recover(); v != nil {
			f, ok := v.(exprError)
			if !ok {
				panic(v)
			}
			c.Errorf("%s", f.msg)
			status = f.status
		}
	}()
	v := e.or(true)
	if e.pos < len(e.args) {
		e.fail(2, "syntax error: unexpected argument %s", c.Quote(e.args[e.pos]))
	}
	c.Stdout.WriteString(v + "\n")
	if null(v) {
		return 1
	}
	return 0
}

// null reports whether a value is empty or zero.
func null(v string) bool {
	if v == "" {
		return true
	}
	digits := strings.TrimPrefix(v, "-")
	return digits != "" && strings.Trim(digits, "0") == ""
}

func (e *evaluator) is(op string) bool {
	if e.pos < len(e.args) && e.args[e.pos] == op {
		e.pos++
		return true
	}
	return false
}

func (e *evaluator) or(eval bool) string {
	l := e.and(eval)
	for e.is("|") {
		r := e.and(eval && null(l))
		if null(l) {
			if l = r; null(l) {
				l = "0"
			}
		}
	}
	return l
}

func (e *evaluator) and(eval bool) string {
	l := e.compare(eval)
	for e.is("&") {
		r := e.compare(eval && !null(l))
		if null(l) || null(r) {
			l = "0"
		}
	}
	return l
}

func (e *evaluator) compare(eval bool) string {
	l := e.sum(eval)
	for {
		op := ""
		for _, o := range []string{"<=", "<", "==", "=", "!=", ">=", ">"} {
			if e.is(o) {
				op = o
				break
			}
		}
		if op == "" {
			return l
		}
		r := e.sum(eval)
		if !eval {
			continue
		}
		var cmp int
		a, ok1 := toInt(l)
		b, ok2 := toInt(r)
		if ok1 && ok2 {
			cmp = a.Cmp(b)
		} else {
			cmp = strings.Compare(l, r)
		}
		ok := map[string]bool{"<": cmp < 0, "<=": cmp <= 0, "=": cmp == 0, "==": cmp == 0, "!=": cmp != 0, ">": cmp > 0, ">=": cmp >= 0}[op]
		l = "0"
		if ok {
			l = "1"
		}
	}
}

func toInt(s string) (*big.Int, bool) {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return nil, false
	}
	return new(big.Int).SetString(s, 10)
}

// number is a value that must be an integer.
func (e *evaluator) number(s string) *big.Int {
	n, ok := toInt(s)
	if !ok {
		e.fail(2, "non-integer argument")
	}
	return n
}

func (e *evaluator) sum(eval bool) string {
	l := e.product(eval)
	for {
		minus := false
		switch {
		case e.is("+"):
		case e.is("-"):
			minus = true
		default:
			return l
		}
		r := e.product(eval)
		if !eval {
			continue
		}
		a, b := e.number(l), e.number(r)
		if minus {
			b.Neg(b)
		}
		l = a.Add(a, b).String()
	}
}

func (e *evaluator) product(eval bool) string {
	l := e.match(eval)
	for {
		op := byte(0)
		switch {
		case e.is("*"):
			op = '*'
		case e.is("/"):
			op = '/'
		case e.is("%"):
			op = '%'
		default:
			return l
		}
		r := e.match(eval)
		if !eval {
			continue
		}
		a, b := e.number(l), e.number(r)
		if op != '*' && b.Sign() == 0 {
			e.fail(2, "division by zero")
		}
		switch op {
		case '*':
			if a.BitLen()+b.BitLen() > 1<<24 {
				e.fail(3, "%s", "memory exhausted")
			}
			a.Mul(a, b)
		case '/':
			a.Quo(a, b)
		case '%':
			a.Rem(a, b)
		}
		l = a.String()
	}
}

func (e *evaluator) match(eval bool) string {
	l := e.keyword(eval)
	for e.is(":") {
		r := e.keyword(eval)
		if eval {
			l = e.regex(l, r)
		}
	}
	return l
}

// regex is STRING : REGEXP: the first group, or the number of characters that
// match from the start.
func (e *evaluator) regex(s, pattern string) string {
	flags := regex.Flags(0)
	if e.c.Env.UTF8() {
		flags |= regex.UTF8
	}
	re, err := regex.Compile(pattern, regex.Basic, flags)
	if err == regex.ErrBracket && strings.HasSuffix(pattern, "[") {
		e.fail(2, "Invalid regular expression") // what the C library says of a bracket with nothing in it
	}
	if err != nil {
		e.fail(2, "%v", err)
	}
	if !strings.HasPrefix(pattern, "^") {
		if anchoredRe, aerr := regex.Compile(`^\(`+renumber(pattern)+`\)`, regex.Basic, flags); aerr == nil {
			loc, err := anchoredRe.FindGroups(e.ctx, []byte(s), 0, nil)
			if err != nil {
				e.fail(3, "%v", err)
			}
			return e.matched(s, loc, re.Groups(), 4)
		}
	}
	loc, err := re.FindGroups(e.ctx, []byte(s), 0, nil)
	if err != nil {
		e.fail(3, "%v", err)
	}
	if loc != nil && loc[0] != 0 {
		loc = nil
	}
	return e.matched(s, loc, re.Groups(), 2)
}

// renumber moves the back-references of a pattern by one, for a group that is
// put around it.
func renumber(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); i++ {
		if p[i] == '\\' && i+1 < len(p) {
			i++
			b.WriteByte('\\')
			if p[i] >= '1' && p[i] <= '8' {
				b.WriteByte(p[i] + 1)
				continue
			}
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

// matched is the value of a match; at is where the groups of the pattern start
// in loc.
func (e *evaluator) matched(s string, loc []int, groups, at int) string {
	switch {
	case loc == nil && groups > 0:
		return ""
	case loc == nil:
		return "0"
	case groups > 0:
		if loc[at] < 0 {
			return ""
		}
		return s[loc[at]:loc[at+1]]
	}
	return strconv.Itoa(e.length(s[:loc[1]]))
}

func (e *evaluator) length(s string) int {
	if e.c.Env.UTF8() {
		return utf8.RuneCountInString(s)
	}
	return len(s)
}

func (e *evaluator) keyword(eval bool) string {
	switch {
	case e.is("+"):
		if e.pos >= len(e.args) {
			e.fail(2, "syntax error: missing argument after %s", e.c.Quote(e.args[e.pos-1]))
		}
		e.pos++
		return e.args[e.pos-1]
	case e.is("length"):
		return strconv.Itoa(e.length(e.keyword(eval)))
	case e.is("match"):
		s := e.keyword(eval)
		p := e.keyword(eval)
		if !eval {
			return s
		}
		return e.regex(s, p)
	case e.is("index"):
		s := e.keyword(eval)
		return e.index(s, e.keyword(eval))
	case e.is("substr"):
		s := e.keyword(eval)
		pos := e.keyword(eval)
		return e.substr(s, pos, e.keyword(eval))
	}
	return e.primary(eval)
}

// characters cuts a string into its characters.
func (e *evaluator) characters(s string) []string {
	if e.c.Env.UTF8() {
		return strings.Split(s, "")
	}
	out := make([]string, len(s))
	for i := range s {
		out[i] = s[i : i+1]
	}
	return out
}

func (e *evaluator) index(s, chars string) string {
	for i, ch := range e.characters(s) {
		if strings.Contains(chars, ch) {
			return strconv.Itoa(i + 1)
		}
	}
	return "0"
}

func (e *evaluator) substr(s, pos, length string) string {
	p, ok1 := toInt(pos)
	n, ok2 := toInt(length)
	if !ok1 || !ok2 || p.Sign() <= 0 || n.Sign() <= 0 {
		return ""
	}
	chars := e.characters(s)
	if !p.IsInt64() || p.Int64() > int64(len(chars)) {
		return ""
	}
	from := int(p.Int64()) - 1
	to := len(chars)
	if n.IsInt64() && n.Int64() < int64(to-from) {
		to = from + int(n.Int64())
	}
	return strings.Join(chars[from:to], "")
}

func (e *evaluator) primary(eval bool) string {
	if e.pos >= len(e.args) {
		e.fail(2, "syntax error: missing argument after %s", e.c.Quote(e.args[e.pos-1]))
	}
	if e.is("(") {
		v := e.or(eval)
		if e.pos >= len(e.args) {
			e.fail(2, "syntax error: expecting ')' after %s", e.c.Quote(e.args[e.pos-1]))
		}
		if !e.is(")") {
			e.fail(2, "syntax error: expecting ')' instead of %s", e.c.Quote(e.args[e.pos]))
		}
		return v
	}
	if e.is(")") {
		e.fail(2, "syntax error: unexpected ')'")
	}
	e.pos++
	return e.args[e.pos-1]
}
