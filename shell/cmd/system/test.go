package system

import (
	"context"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

func init() {
	command.Register(command.Info{Name: "test", Synopsis: "test EXPRESSION\ntest", Summary: "Exit with the status determined by EXPRESSION.", RawArgs: true, UsageStatus: 2}, test)
	command.Register(command.Info{Name: "[", Synopsis: "[ EXPRESSION ]\n[ ]\n[ OPTION", Summary: "Exit with the status determined by EXPRESSION.", RawArgs: true, UsageStatus: 2}, test)
	command.Register(command.Info{Name: "true", Synopsis: "true [ignored command line arguments]", Summary: "Exit with a status code indicating success.", RawArgs: true}, func(_ context.Context, c *command.Context, args []string) int { return constant(c, args, 0) })
	command.Register(command.Info{Name: "false", Synopsis: "false [ignored command line arguments]", Summary: "Exit with a status code indicating failure.", RawArgs: true}, func(_ context.Context, c *command.Context, args []string) int { return constant(c, args, 1) })
}

func constant(c *command.Context, args []string, status int) int {
	if len(args) == 2 && args[1] == "--help" {
		c.Stdout.WriteString(c.Command.Help())
	}
	if len(args) == 2 && args[1] == "--version" {
		fmt.Fprintf(c.Stdout, "%s (vfsd)\n", c.Command.Name)
	}
	return status
}

// tester evaluates the expression of test, as POSIX has it by the number of
// arguments, and by precedence beyond four.
type tester struct {
	c    *command.Context
	args []string
	pos  int
}

// testError ends an evaluation with a message.
type testError string

func (t *tester) fail(format string, args ...any) {
	panic(testError(fmt.Sprintf(format, args...)))
}

func test(ctx context.Context, c *command.Context, args []string) (status int) {
	t := tester{c: c, args: args[1:]}
	if c.Command.Name == "[" {
		if len(args) == 2 && args[1] == "--help" || len(args) == 2 && args[1] == "--version" {
			return constant(c, args, 0)
		}
		if len(args) < 2 || args[len(args)-1] != "]" {
			return c.Errorf("missing %s", c.Quote("]")) + 1
		}
		t.args = args[1 : len(args)-1]
	}
	defer func() {
		if v := recover(); v != nil {
			msg, ok := v.(testError)
			if !ok {
				panic(v)
			}
			status = c.Errorf("%s", string(msg)) + 1
		}
	}()
	if len(t.args) == 0 {
		return 1
	}
	value := t.posix(len(t.args))
	if t.pos < len(t.args) {
		t.fail("extra argument %s", c.Quote(t.args[t.pos]))
	}
	if value {
		return 0
	}
	return 1
}

// posix evaluates the next n arguments.
func (t *tester) posix(n int) bool {
	a := t.args[t.pos:]
	switch n {
	case 1:
		t.pos++
		return a[0] != ""
	case 2:
		return t.two(a)
	case 3:
		return t.three(a)
	case 4:
		if a[0] == "!" {
			t.pos++
			return !t.three(a[1:])
		}
		if a[0] == "(" && a[3] == ")" {
			t.pos++
			v := t.two(a[1:])
			t.pos++
			return v
		}
	}
	return t.or()
}

func (t *tester) two(a []string) bool {
	switch {
	case a[0] == "!":
		t.pos += 2
		return a[1] == ""
	case len(a[0]) == 2 && a[0][0] == '-':
		if !isUnary(a[0]) {
			t.fail("%s: unary operator expected", t.c.Quote(a[0]))
		}
		return t.unary()
	}
	t.fail("missing argument after %s", t.c.Quote(a[1]))
	return false
}

func (t *tester) three(a []string) bool {
	switch {
	case isBinary(a[1]):
		return t.binary(false)
	case a[0] == "!":
		t.pos++
		return !t.two(a[1:])
	case a[0] == "(" && a[2] == ")":
		t.pos += 3
		return a[1] != ""
	case a[1] == "-a" || a[1] == "-o":
		return t.or()
	}
	t.fail("%s: binary operator expected", t.c.Quote(a[1]))
	return false
}

func (t *tester) or() bool {
	v := t.and()
	for t.pos < len(t.args) && t.args[t.pos] == "-o" {
		t.pos++
		w := t.and()
		v = v || w
	}
	return v
}

func (t *tester) and() bool {
	v := t.term()
	for t.pos < len(t.args) && t.args[t.pos] == "-a" {
		t.pos++
		w := t.term()
		v = v && w
	}
	return v
}

func (t *tester) beyond() {
	t.fail("missing argument after %s", t.c.Quote(t.args[len(t.args)-1]))
}

func (t *tester) term() bool {
	negate := false
	for t.pos < len(t.args) && t.args[t.pos] == "!" {
		negate = !negate
		t.pos++
	}
	if t.pos >= len(t.args) {
		t.beyond()
	}
	rest := t.args[t.pos:]
	var v bool
	switch {
	case rest[0] == "(":
		t.pos++
		if t.pos >= len(t.args) {
			t.beyond()
		}
		n := 1
		for n < 5 && t.pos+n < len(t.args) && t.args[t.pos+n] != ")" {
			n++
		}
		if n >= 5 {
			v = t.or()
		} else {
			v = t.posix(n)
		}
		if t.pos >= len(t.args) {
			t.fail("%s expected", t.c.Quote(")"))
		}
		if t.args[t.pos] != ")" {
			t.fail("%s expected, found %s", t.c.Quote(")"), t.c.QuoteName(t.args[t.pos]))
		}
		t.pos++
	case len(rest) >= 4 && rest[0] == "-l" && isBinary(rest[2]):
		v = t.binary(true)
	case len(rest) >= 3 && isBinary(rest[1]):
		v = t.binary(false)
	case len(rest[0]) == 2 && rest[0][0] == '-' && isUnary(rest[0]):
		v = t.unary()
	default:
		v = rest[0] != ""
		t.pos++
	}
	return v != negate
}

func isUnary(op string) bool {
	return len(op) == 2 && op[0] == '-' && strings.IndexByte("bcdefgGhkLnNOprsStuwxz", op[1]) >= 0
}

func isBinary(op string) bool {
	switch op {
	case "=", "==", "!=", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		return true
	}
	return false
}

func (t *tester) unary() bool {
	op := t.args[t.pos][1]
	if t.pos+1 >= len(t.args) {
		t.beyond()
	}
	arg := t.args[t.pos+1]
	t.pos += 2
	switch op {
	case 'n':
		return arg != ""
	case 'z':
		return arg == ""
	case 't':
		t.integer(arg)
		return false // no terminal is ever there
	case 'r':
		return t.c.FS.Access(arg, vfs.MayRead) == nil
	case 'w':
		return t.c.FS.Access(arg, vfs.MayWrite) == nil
	case 'x':
		return t.c.FS.Access(arg, vfs.MayExec) == nil
	case 'h', 'L':
		a, err := t.c.FS.Lstat(arg)
		return err == nil && a.IsSymlink()
	}
	a, err := t.c.FS.Stat(arg)
	return err == nil && t.ofFile(op, &a)
}

// ofFile is a test of the attributes of a file that exists.
func (t *tester) ofFile(op byte, a *vfs.Attr) bool {
	kind := a.Mode & vfs.ModeTypeMask
	switch op {
	case 'b':
		return kind == vfs.ModeBlock
	case 'c':
		return kind == vfs.ModeChar
	case 'd':
		return a.IsDir()
	case 'f':
		return a.IsRegular()
	case 'g':
		return a.Mode&vfs.ModeSetgid != 0
	case 'G':
		return a.GID == t.c.FS.Op.GID
	case 'k':
		return a.Mode&vfs.ModeSticky != 0
	case 'N':
		return a.Mtime > a.Atime
	case 'O':
		return a.UID == t.c.FS.Op.UID
	case 'p':
		return kind == vfs.ModeFIFO
	case 's':
		return a.Size > 0
	case 'S':
		return kind == vfs.ModeSocket
	case 'u':
		return a.Mode&vfs.ModeSetuid != 0
	}
	return true // -e
}

// integer reads an operand of -eq and its kin.
func (t *tester) integer(s string) *big.Int {
	trimmed := strings.Trim(s, " \t\n")
	n, ok := new(big.Int).SetString(strings.TrimPrefix(trimmed, "+"), 10)
	if !ok || strings.Contains(trimmed, "_") {
		t.fail("invalid integer %s", t.c.Quote(s))
	}
	return n
}

// binary evaluates a comparison; lengthFirst says that -l comes before the
// left operand.
func (t *tester) binary(lengthFirst bool) bool {
	number := func() *big.Int {
		if t.args[t.pos] == "-l" && t.pos+1 < len(t.args) && (lengthFirst || t.pos > 0) {
			t.pos += 2
			return t.integer(strconv.Itoa(len(t.args[t.pos-1])))
		}
		t.pos++
		return t.integer(t.args[t.pos-1])
	}
	at := t.pos
	if lengthFirst {
		at++
	}
	op := t.args[at+1]
	switch op {
	case "=", "==", "!=", "-nt", "-ot", "-ef":
		left, right := t.args[at], t.args[at+2]
		t.pos = at + 3
		switch op {
		case "=", "==":
			return left == right
		case "!=":
			return left != right
		}
		return t.files(op, left, right)
	}
	left := number()
	t.pos++
	if t.pos >= len(t.args) {
		t.beyond()
	}
	cmp := left.Cmp(number())
	switch op {
	case "-eq":
		return cmp == 0
	case "-ne":
		return cmp != 0
	case "-lt":
		return cmp < 0
	case "-le":
		return cmp <= 0
	case "-gt":
		return cmp > 0
	}
	return cmp >= 0
}

func (t *tester) files(op, left, right string) bool {
	a, err1 := t.c.FS.Stat(left)
	b, err2 := t.c.FS.Stat(right)
	switch op {
	case "-ef":
		return err1 == nil && err2 == nil && a.Ino == b.Ino
	case "-nt":
		return err1 == nil && (err2 != nil || a.Mtime > b.Mtime)
	}
	return err2 == nil && (err1 != nil || a.Mtime < b.Mtime)
}
