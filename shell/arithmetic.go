package shell

import (
	"errors"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/arith"
)

// errReported is an error whose message was printed already.
var errReported = errors.New("reported")

// arithVars are a state's variables as arithmetic sees them.
type arithVars struct{ s *state }

// Value returns a variable's or an element's text.
func (a arithVars) Value(name, sub string, indexed bool) (string, error) {
	s := a.s
	s.tick()
	if indexed {
		return a.element(name, sub)
	}
	text, set := s.value(name)
	if !set && s.opts.on(optNounset) {
		s.errorf("%s: unbound variable", name)
		return "", errUnbound
	}
	return text, nil
}

// errUnbound ends an expression that used an unset variable under set -u.
var errUnbound = errors.New("unbound variable")

func (a arithVars) element(name, sub string) (string, error) {
	s := a.s
	v, _, _ := s.lookup(name)
	if sub == "" {
		s.errorf("%s[]: bad array subscript", name)
		return "", nil
	}
	if v == nil && s.opts.on(optNounset) {
		s.errorf("%s: unbound variable", name)
		return "", errUnbound
	}
	if v == nil {
		if i, ok := s.arithmetic(sub, ""); !ok {
			s.dropTop()
		} else if i < 0 {
			s.errorf("%s: bad array subscript", name)
		}
		return "", nil
	}
	if v.attr&attrAssoc != 0 {
		text, _ := s.element(v, subscript{text: unquoteKey(sub), raw: true})
		return text, nil
	}
	if sub == "@" || sub == "*" {
		return strings.Join(s.elements(v), " "), nil
	}
	i, ok := s.arithmetic(s.expandedIndex(sub), "")
	if !ok {
		s.dropTop()
	}
	text, ok := s.elementAt(v, i)
	if !ok && i < 0 && !s.inRange(v, i) {
		s.errorf("%s: bad array subscript", name)
	}
	return text, nil
}

// expandedIndex expands a subscript that came of a variable's value: x='a[$i]'.
func (s *state) expandedIndex(sub string) string {
	if strings.IndexAny(sub, "$`\"") < 0 {
		return sub
	}
	return s.expandIndex(s.parseSubscript(sub))
}

// inRange reports whether a negative index counts back to an element's place.
func (s *state) inRange(v *variable, i int64) bool {
	if v.arr != nil {
		return i+v.arr.max()+1 >= 0
	}
	return i == -1
}

// elementAt returns an indexed array's element.
func (s *state) elementAt(v *variable, i int64) (string, bool) {
	if v.arr != nil && i < 0 {
		i += v.arr.max() + 1
	}
	return s.element(v, subscript{text: strconv.FormatInt(i, 10)})
}

// unquoteKey removes quotes around a key in arithmetic.
func unquoteKey(sub string) string {
	if n := len(sub); n >= 2 && (sub[0] == '\'' || sub[0] == '"') && sub[n-1] == sub[0] {
		return sub[1 : n-1]
	}
	return sub
}

// Assign sets a variable or an element.
func (a arithVars) Assign(name, sub string, indexed bool, value int64) error {
	s := a.s
	text := strconv.FormatInt(value, 10)
	ok := false
	if !indexed {
		ok = s.assign(name, text, false)
	} else if v, _, _ := s.lookup(name); v != nil && v.attr&attrAssoc != 0 {
		ok = s.assignElement(name, subscript{text: unquoteKey(sub), raw: true}, text, false)
	} else {
		ok = s.assignElement(name, subscript{text: s.expandedIndex(sub), raw: true}, text, false)
	}
	if !ok {
		return errReported
	}
	return nil
}

// arithmetic evaluates an expression. A mistake is reported, after a label such
// as "((: ", and makes it return false. An unset variable under set -u ends the
// shell.
func (s *state) arithmetic(expr, label string) (int64, bool) {
	n, err := arith.Eval(expr, arithVars{s})
	switch {
	case err == nil:
		return n, true
	case errors.Is(err, errUnbound):
		s.fatal()
	case !errors.Is(err, errReported):
		if label == "" && s.cmdName != "" {
			label = s.cmdName + ": "
		}
		s.errorf("%s%s", label, err)
	}
	return 0, false
}

// fatal ends the shell because an expansion cannot go on (set -u, ${x?}).
func (s *state) fatal() {
	if s.subshell > 0 || s.mode != modeString || s.opts.on(optErrexit) {
		s.exit(1)
	}
	s.exit(127)
}
