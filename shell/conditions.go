package shell

import (
	"errors"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/shell/pattern"
	"github.com/vfsd/vfsd/vfs"
)

// builtinTest is test and [.
func builtinTest(s *state, b *builtin, args []string) int {
	rest := args[1:]
	if b.name == "[" {
		if len(rest) == 0 || rest[len(rest)-1] != "]" {
			s.builtinError(b, "missing `]'")
			return 2
		}
		rest = rest[:len(rest)-1]
	}
	t := &tester{s: s, args: rest}
	ok, err := t.run()
	switch {
	case err != nil:
		s.builtinError(b, "%v", err)
		return 2
	case ok:
		return 0
	}
	return 1
}

// tester evaluates the arguments of test, by their number as POSIX says and by
// its grammar otherwise.
type tester struct {
	s    *state
	args []string
	i    int
}

func (t *tester) run() (bool, error) {
	a := t.args
	switch len(a) {
	case 0:
		return false, nil
	case 1:
		return a[0] != "", nil
	case 2:
		return t.two(a)
	case 3:
		return t.three(a)
	case 4:
		if a[0] == "!" {
			ok, err := t.three(a[1:])
			return !ok, err
		}
		if a[0] == "(" && a[3] == ")" {
			return t.two(a[1:3])
		}
	}
	ok, err := t.or()
	if err == nil && t.i < len(a) {
		return false, errors.New("too many arguments")
	}
	return ok, err
}

func (t *tester) two(a []string) (bool, error) {
	if a[0] == "!" {
		return a[1] == "", nil
	}
	if isUnary(a[0]) {
		return t.s.unary(a[0][1], a[1])
	}
	if len(a[0]) == 2 && a[0][0] == '-' {
		return false, errors.New(a[0] + ": unary operator expected")
	}
	return false, errors.New(a[0] + ": unary operator expected")
}

func (t *tester) three(a []string) (bool, error) {
	if isBinary(a[1]) {
		return t.s.binaryTest(a[0], a[1], a[2])
	}
	switch {
	case a[1] == "-a":
		return a[0] != "" && a[2] != "", nil
	case a[1] == "-o":
		return a[0] != "" || a[2] != "", nil
	case a[0] == "!":
		ok, err := t.two(a[1:])
		return !ok, err
	case a[0] == "(" && a[2] == ")":
		return a[1] != "", nil
	}
	return false, errors.New(a[1] + ": binary operator expected")
}

func (t *tester) peek(n int) string {
	if t.i+n < len(t.args) {
		return t.args[t.i+n]
	}
	return ""
}

func (t *tester) or() (bool, error) {
	ok, err := t.and()
	for err == nil && t.peek(0) == "-o" {
		t.i++
		var r bool
		r, err = t.and()
		ok = ok || r
	}
	return ok, err
}

func (t *tester) and() (bool, error) {
	ok, err := t.term()
	for err == nil && t.peek(0) == "-a" {
		t.i++
		var r bool
		r, err = t.term()
		ok = ok && r
	}
	return ok, err
}

func (t *tester) term() (bool, error) {
	if t.i >= len(t.args) {
		return false, errors.New("argument expected")
	}
	left := len(t.args) - t.i
	a := t.args[t.i]
	switch {
	case a == "!":
		t.i++
		ok, err := t.term()
		return !ok, err
	case a == "(" && left > 1:
		t.i++
		ok, err := t.or()
		if err != nil {
			return false, err
		}
		if t.peek(0) != ")" {
			if t.i < len(t.args) {
				return false, errors.New("`)' expected, found " + t.peek(0))
			}
			return false, errors.New("`)' expected")
		}
		t.i++
		return ok, nil
	case left >= 3 && isBinary(t.args[t.i+1]):
		t.i += 3
		return t.s.binaryTest(a, t.args[t.i-2], t.args[t.i-1])
	case left >= 2 && isUnary(a):
		t.i += 2
		return t.s.unary(a[1], t.args[t.i-1])
	}
	t.i++
	return a != "", nil
}

func isUnary(op string) bool {
	return len(op) == 2 && op[0] == '-' && strings.IndexByte("abcdefghknoprstuvwxzGLNORS", op[1]) >= 0
}

func isBinary(op string) bool {
	switch op {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef":
		return true
	}
	return false
}

// unary evaluates a one-operand test.
func (s *state) unary(op byte, arg string) (bool, error) {
	switch op {
	case 'n':
		return arg != "", nil
	case 'z':
		return arg == "", nil
	case 'o':
		n, ok := optionByName(arg)
		return ok && s.opts.on(n), nil
	case 'v':
		return s.isSet(arg), nil
	case 'R':
		v := s.vars[arg]
		return v != nil && v.attr&attrNameref != 0 && v.str != "", nil
	case 't':
		n, err := strconv.Atoi(strings.TrimSpace(arg))
		if err != nil {
			return false, nil
		}
		f := s.fd(n)
		if f == nil {
			return false, nil
		}
		a, err := f.stat()
		return err == nil && a.Mode&vfs.ModeTypeMask == vfs.ModeChar && a.Rdev>>8 == 5, nil
	}
	return s.fileTest(op, arg), nil
}

// fileTest evaluates a test of a file.
func (s *state) fileTest(op byte, path string) bool {
	w := s.walker()
	if op == 'h' || op == 'L' {
		a, err := w.Lstat(path)
		return err == nil && a.IsSymlink()
	}
	switch op {
	case 'r':
		return w.Access(path, vfs.MayRead) == nil
	case 'w':
		return w.Access(path, vfs.MayWrite) == nil
	case 'x':
		return w.Access(path, vfs.MayExec) == nil
	}
	a, err := w.Stat(path)
	if err != nil {
		return false
	}
	kind := a.Mode & vfs.ModeTypeMask
	switch op {
	case 'a', 'e':
		return true
	case 'b':
		return kind == vfs.ModeBlock
	case 'c':
		return kind == vfs.ModeChar
	case 'd':
		return kind == vfs.ModeDir
	case 'f':
		return kind == vfs.ModeRegular
	case 'p':
		return kind == vfs.ModeFIFO
	case 'S':
		return kind == vfs.ModeSocket
	case 's':
		return a.Size > 0
	case 'g':
		return a.Mode&vfs.ModeSetgid != 0
	case 'u':
		return a.Mode&vfs.ModeSetuid != 0
	case 'k':
		return a.Mode&vfs.ModeSticky != 0
	case 'G':
		return a.GID == s.sh.cfg.Cred.GID
	case 'O':
		return a.UID == s.sh.cfg.Cred.UID
	case 'N':
		return a.Mtime > a.Atime
	}
	return false
}

// isSet is test -v: is a variable, a parameter or an element set?
func (s *state) isSet(name string) bool {
	if i := strings.IndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") && validName(name[:i]) {
		v, _, _ := s.lookup(name[:i])
		if v == nil {
			return false
		}
		sub := name[i+1 : len(name)-1]
		if sub == "@" || sub == "*" {
			if v.attr&attrAssoc != 0 {
				if _, ok := v.m.get(sub); ok {
					return true
				}
			}
			return len(s.elements(v)) > 0
		}
		_, ok := s.element(v, subscriptText(sub))
		return ok
	}
	if isDigits(name) {
		n, err := strconv.Atoi(name)
		return err == nil && n <= len(s.params)
	}
	_, ok := s.value(name)
	return ok
}

// binaryTest evaluates a two-operand test of [.
func (s *state) binaryTest(a, op, b string) (bool, error) {
	switch op {
	case "=", "==":
		return a == b, nil
	case "!=":
		return a != b, nil
	case "<":
		return a < b, nil
	case ">":
		return a > b, nil
	case "-nt", "-ot", "-ef":
		return s.compareFiles(a, op, b), nil
	}
	x, err := testInteger(a)
	if err != nil {
		return false, err
	}
	y, err := testInteger(b)
	if err != nil {
		return false, err
	}
	return compare(x, op, y), nil
}

func testInteger(text string) (int64, error) {
	n, ok := legalNumber(text)
	if !ok {
		return 0, errors.New(text + ": integer expression expected")
	}
	return n, nil
}

func compare(x int64, op string, y int64) bool {
	switch op {
	case "-eq":
		return x == y
	case "-ne":
		return x != y
	case "-lt":
		return x < y
	case "-le":
		return x <= y
	case "-gt":
		return x > y
	}
	return x >= y
}

func (s *state) compareFiles(a, op, b string) bool {
	x, err1 := s.walker().Stat(a)
	y, err2 := s.walker().Stat(b)
	switch op {
	case "-nt":
		return err1 == nil && (err2 != nil || x.Mtime > y.Mtime)
	case "-ot":
		return err2 == nil && (err1 != nil || x.Mtime < y.Mtime)
	}
	return err1 == nil && err2 == nil && x.Ino == y.Ino && x.Rdev == y.Rdev
}

// testCommand runs [[ ... ]].
func (s *state) testCommand(c *syntax.TestClause) {
	s.at(c.Right) // as Bash numbers it
	s.debugTrap()
	s.status = s.cond(c.X)
	s.checkError()
}

// cond evaluates an expression of [[ ]]: 0 true, 1 false, 2 a mistake.
func (s *state) cond(x syntax.TestExpr) int {
	s.deeper()
	defer s.shallower()
	switch x := x.(type) {
	case *syntax.ParenTest:
		return s.cond(x.X)
	case *syntax.Word:
		text := s.expandString(x)
		s.traceCond("-n", text, "", false)
		return truth(text != "")
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			if n := s.cond(x.X); n < 2 {
				return 1 - n
			}
			return 2
		}
		return s.condUnary(x)
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.AndTest:
			if n := s.cond(x.X); n != 0 {
				return n
			}
			return s.cond(x.Y)
		case syntax.OrTest:
			if n := s.cond(x.X); n == 0 {
				return 0
			}
			return s.cond(x.Y)
		}
		return s.condBinary(x)
	}
	return 2
}

func truth(ok bool) int {
	if ok {
		return 0
	}
	return 1
}

func (s *state) condUnary(x *syntax.UnaryTest) int {
	w, _ := x.X.(*syntax.Word)
	arg := s.expandString(w)
	op := x.Op.String()
	s.traceCond(op, arg, "", false)
	ok, err := s.unary(op[1], arg)
	if err != nil {
		s.errorf("[[: %v", err)
		return 2
	}
	return truth(ok)
}

func (s *state) condBinary(x *syntax.BinaryTest) int {
	lw, _ := x.X.(*syntax.Word)
	rw, _ := x.Y.(*syntax.Word)
	left := s.expandString(lw)
	op := x.Op.String()
	switch x.Op {
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
		pat := s.expandPattern(rw)
		s.traceCond(op, left, pat, true)
		nocase := s.opts.shopts(shoptNocasematch)
		p := s.pattern(pat, s.patternFlags(nocase)|pattern.ExtGlob)
		return truth(p.Match(left) == (x.Op != syntax.TsNoMatch))
	case syntax.TsReMatch:
		re := s.expandOne(rw, toRegex, false)
		s.traceCond(op, left, re, true)
		return s.matchRegex(left, re)
	}
	right := s.expandString(rw)
	s.traceCond(op, left, right, true)
	switch x.Op {
	case syntax.TsBefore:
		return truth(left < right)
	case syntax.TsAfter:
		return truth(left > right)
	case syntax.TsNewer, syntax.TsOlder, syntax.TsDevIno:
		return truth(s.compareFiles(left, op, right))
	}
	a, ok := s.arithmetic(left, "[[: ")
	if !ok {
		return 1
	}
	b, ok := s.arithmetic(right, "[[: ")
	if !ok {
		return 1
	}
	return truth(compare(a, op, b))
}

func userByID(uid uint32) func(*command.User) bool {
	return func(u *command.User) bool { return u.UID == uid }
}

func userByName(name string) func(*command.User) bool {
	return func(u *command.User) bool { return u.Name == name }
}
