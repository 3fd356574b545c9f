package files

import (
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/cmd/system/tz"
	"github.com/vfsd/vfsd/vfs"
)

// findParser compiles a find expression.
type findParser struct {
	f      *finder
	args   []string
	at     int
	status int
	failed bool

	action    bool // something acts: no -print is added
	deletes   bool
	prunes    bool
	depthSet  bool
	files0    string
	regexType string
	last      string // the last predicate, for a hint
}

// parse compiles the whole expression into f.expr.
func (p *findParser) parse() bool {
	if len(p.args) == 0 {
		p.f.expr = p.f.printAction("\n")
		return true
	}
	p.checkFirst()
	expr := p.list()
	switch {
	case p.failed:
		return false
	case p.at < len(p.args):
		if p.args[p.at] == ")" {
			p.fail("you have too many ')'")
		} else {
			p.strayPath(p.args[p.at])
		}
		return false
	case p.deletes && p.prunes && !p.depthSet:
		p.fail("The -delete action automatically turns on -depth, but -prune does nothing when -depth is in effect.  If you want to carry on anyway, just explicitly use the -depth option.")
		return false
	}
	if !p.action {
		print := p.f.printAction("\n")
		inner := expr
		expr = func(e *entry) bool { return inner(e) && print(e) }
	}
	p.f.expr = expr
	return true
}

// checkFirst reports a binary operator at the start.
func (p *findParser) checkFirst() {
	switch a := p.args[0]; a {
	case "-o", "-or", "-a", "-and", ",":
		p.fail("invalid expression; you have used a binary operator '%s' with nothing before it.", a)
	}
}

func (p *findParser) fail(format string, args ...any) {
	if !p.failed {
		p.failed = true
		p.status = p.f.c.Errorf(format, args...)
	}
}

func (p *findParser) strayPath(arg string) {
	if p.failed {
		return
	}
	p.fail("paths must precede expression: `%s'", arg)
	switch p.last {
	case "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname", "-regex", "-iregex":
		if _, err := p.f.c.FS.Lstat(arg); err == nil {
			p.f.c.Errorf("possible unquoted pattern after predicate `%s'?", p.last)
		}
	}
}

func (p *findParser) peek() string {
	if p.failed || p.at >= len(p.args) {
		return ""
	}
	return p.args[p.at]
}

// list is expressions joined by commas: all are evaluated, the last counts.
func (p *findParser) list() test {
	left := p.or()
	for p.peek() == "," {
		p.at++
		a, b := left, p.operand(",", p.or)
		left = func(e *entry) bool {
			a(e)
			return !p.f.quit && b(e)
		}
	}
	return left
}

// operand parses what must come after an operator.
func (p *findParser) operand(op string, parse func() test) test {
	if p.at >= len(p.args) {
		p.fail("expected an expression after '%s'", op)
		return func(*entry) bool { return false }
	}
	return parse()
}

func (p *findParser) or() test {
	left := p.and()
	for p.peek() == "-o" || p.peek() == "-or" {
		op := p.peek()
		p.at++
		a, b := left, p.operand(op, p.and)
		left = func(e *entry) bool { return a(e) || !p.f.quit && b(e) }
	}
	return left
}

func (p *findParser) and() test {
	left := p.primary()
	for !p.failed {
		switch op := p.peek(); {
		case op == "-a" || op == "-and":
			p.at++
			a, b := left, p.operand(op, p.primary)
			left = func(e *entry) bool { return a(e) && !p.f.quit && b(e) }
			continue
		case op == "" && p.at >= len(p.args), op == ")", op == ",", op == "-o", op == "-or":
			return left
		}
		a, b := left, p.primary()
		left = func(e *entry) bool { return a(e) && !p.f.quit && b(e) }
	}
	return left
}

// primary is a test, an action, a negation or a group.
func (p *findParser) primary() test {
	nothing := func(*entry) bool { return false }
	if p.failed || p.at >= len(p.args) {
		return nothing
	}
	a := p.args[p.at]
	p.at++
	switch a {
	case "!", "-not":
		inner := p.operand(a, p.primary)
		return func(e *entry) bool { return !inner(e) }
	case "(":
		if p.peek() == ")" {
			p.fail("invalid expression; empty parentheses are not allowed.")
			return nothing
		}
		inner := p.list()
		if p.peek() != ")" {
			if p.at < len(p.args) {
				p.strayPath(p.args[p.at])
			}
			p.fail("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
			return nothing
		}
		p.at++
		return inner
	case ")":
		p.at--
		p.fail("invalid expression; you have too many ')'")
		return nothing
	case "-o", "-or", "-a", "-and", ",":
		p.fail("invalid expression; you have used a binary operator '%s' with nothing before it.", a)
		return nothing
	}
	if !strings.HasPrefix(a, "-") || a == "-" {
		p.strayPath(a)
		return nothing
	}
	t := p.predicate(a, a)
	p.last = a
	if t == nil {
		p.fail("unknown predicate `%s'", a)
		return nothing
	}
	return t
}

// arg takes the argument of a predicate.
func (p *findParser) arg(name string) string {
	if p.at >= len(p.args) {
		p.fail("missing argument to `%s'", name)
		return ""
	}
	a := p.args[p.at]
	p.at++
	return a
}

func yes(*entry) bool { return true }

// predicate compiles one predicate; nil when it is unknown.
func (p *findParser) predicate(name, spelled string) test {
	if t := p.option(name, spelled); t != nil {
		return t
	}
	if t := p.nameTest(name, spelled); t != nil {
		return t
	}
	if t := p.timeTest(name, spelled); t != nil {
		return t
	}
	if t := p.attrTest(name, spelled); t != nil {
		return t
	}
	return p.actionOf(name, spelled)
}

// option takes what is true whatever the file and sets something.
func (p *findParser) option(name, spelled string) test {
	f := p.f
	switch name {
	case "-depth", "-d":
		f.depthFirst, p.depthSet = true, true
	case "-maxdepth", "-mindepth":
		a := p.arg(spelled)
		n, err := strconv.Atoi(a)
		if !p.failed && (err != nil || n < 0 || a[0] == '+') {
			p.fail("Expected a positive decimal integer argument to %s, but got %s", spelled, f.c.Quote(a))
		}
		if name == "-maxdepth" {
			f.max = n
		} else {
			f.min = n
		}
	case "-daystart":
		t := f.start.In(f.loc)
		f.today = time.Date(t.Year(), t.Month(), t.Day()+1, 0, 0, 0, 0, f.loc)
	case "-follow":
		f.follow = followAll
	case "-regextype":
		p.regexType = p.arg(spelled)
		if !p.failed && regexSyntaxOf(p.regexType) < 0 {
			p.fail("Unknown regular expression type %s; valid types are %s.", f.c.Quote(p.regexType), regexTypes(f.c))
		}
	case "-files0-from":
		p.files0 = p.arg(spelled)
	case "-mount", "-xdev", "-x", "-noleaf", "-ignore_readdir_race", "-noignore_readdir_race", "-warn", "-nowarn", "-true":
	case "-false":
		return func(*entry) bool { return false }
	case "-O", "-D":
		return nil
	default:
		return nil
	}
	return yes
}

// comparison is N, +N or -N.
type comparison struct {
	sign byte // 0, '+', '-'
	n    float64
}

func parseComparison(s string) (comparison, bool) {
	var c comparison
	if s != "" && (s[0] == '+' || s[0] == '-') {
		c.sign, s = s[0], s[1:]
	}
	if s == "" || strings.Trim(s, "0123456789.") != "" {
		return c, false
	}
	n, err := strconv.ParseFloat(s, 64)
	c.n = n
	return c, err == nil
}

func (c comparison) matches(v float64) bool {
	switch c.sign {
	case '+':
		return v > c.n
	case '-':
		return v < c.n
	}
	return v == c.n
}

// number takes an argument that is a comparison of whole numbers.
func (p *findParser) number(spelled string) comparison {
	a := p.arg(spelled)
	c, ok := parseComparison(a)
	if !p.failed && (!ok || strings.Contains(a, ".")) {
		p.fail("invalid argument `%s' to `%s'", a, spelled)
	}
	return c
}

// timeTest compiles the tests of times.
func (p *findParser) timeTest(name, spelled string) test {
	if strings.HasPrefix(name, "-newer") && len(name) == 8 {
		return p.newerXY(name, spelled)
	}
	switch name {
	case "-newer", "-anewer", "-cnewer":
		a, ok := p.reference(spelled)
		if !ok {
			return yes
		}
		which := byte('m')
		if name != "-newer" {
			which = name[1]
		}
		return func(e *entry) bool { return timeOfKind(&e.attr, which) > a.Mtime }
	case "-used":
		a := p.arg(spelled)
		c, ok := parseComparison(a)
		if !p.failed && !ok {
			p.fail("Invalid argument %s to -used", a)
		}
		return func(e *entry) bool {
			d := e.attr.Atime - e.attr.Ctime
			return d >= 0 && c.matches(float64(d/int64(24*time.Hour)))
		}
	case "-amin", "-cmin", "-mmin", "-atime", "-ctime", "-mtime":
	default:
		return nil
	}
	a := p.arg(spelled)
	c, ok := parseComparison(a)
	if !p.failed && !ok {
		p.fail("invalid argument `%s' to `%s'", a, spelled)
	}
	unit := 24 * time.Hour
	if strings.HasSuffix(name, "min") {
		unit = time.Minute
	}
	which, from := name[1], p.f.today
	return func(e *entry) bool { return ageMatches(c, from.Sub(time.Unix(0, timeOfKind(&e.attr, which))), unit) }
}

// ageMatches compares an age in whole units, as find does: +N is older than N
// full units, -N is younger, N is in between.
func ageMatches(c comparison, age, unit time.Duration) bool {
	bound := time.Duration(c.n * float64(unit))
	switch c.sign {
	case '+':
		return age >= bound+unit || unit == time.Minute && age > bound
	case '-':
		return age < bound
	}
	if unit == time.Minute {
		return age > bound-unit && age <= bound
	}
	return age >= bound && age < bound+unit
}

func timeOfKind(a *vfs.Attr, kind byte) int64 {
	switch kind {
	case 'a':
		return a.Atime
	case 'c':
		return a.Ctime
	case 'B':
		return a.Btime
	}
	return a.Mtime
}

// reference examines the file that a test compares with.
func (p *findParser) reference(spelled string) (vfs.Attr, bool) {
	name := p.arg(spelled)
	if p.failed {
		return vfs.Attr{}, false
	}
	look := p.f.c.FS.Lstat
	if p.f.follow != followNone {
		look = p.f.c.FS.Stat
	}
	a, err := look(name)
	if err != nil && p.f.follow != followNone {
		a, err = p.f.c.FS.Lstat(name)
	}
	if err != nil {
		p.f.complain(name, err)
		p.failed, p.status = true, 1
	}
	return a, err == nil
}

// newerXY compares time X of a file with time Y of the reference, or with the
// reference as a date.
func (p *findParser) newerXY(name, spelled string) test {
	x, y := name[6], name[7]
	if strings.IndexByte("aBcm", x) < 0 || strings.IndexByte("aBcmt", y) < 0 {
		p.fail("invalid predicate `%s'", spelled)
		return yes
	}
	if y == 't' {
		s := p.arg(spelled)
		t, ok := gnulib.ParseDate(s, p.f.start.In(p.f.loc), tz.Load)
		if !p.failed && !ok {
			p.fail("I cannot figure out how to interpret %s as a date or time", p.f.c.Quote(s))
		}
		ns := t.UnixNano()
		return func(e *entry) bool { return timeOfKind(&e.attr, x) > ns }
	}
	a, ok := p.reference(spelled)
	if !ok {
		return yes
	}
	ns := timeOfKind(&a, y)
	return func(e *entry) bool { return timeOfKind(&e.attr, x) > ns }
}
