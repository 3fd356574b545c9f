package shell

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// name0 is the name that messages start with: the script's, or that of the
// file which defined the running function.
func (s *state) name0() string {
	if n := len(s.frames); n > 0 && s.frames[n-1].source != "" {
		return s.frames[n-1].source
	}
	return s.arg0
}

// errorf prints a message with the script's name and the line.
func (s *state) errorf(format string, args ...any) {
	s.message(fmt.Sprintf(format, args...))
}

func (s *state) message(msg string) {
	prefix := s.name0() + ": "
	switch {
	case s.opts.shopts(shoptGnuErrfmt) && s.line > 0:
		prefix = s.name0() + ":" + strconv.Itoa(s.line) + ": "
	case s.line > 0:
		prefix += "line " + strconv.Itoa(s.line) + ": "
	}
	s.stderr(prefix + msg + "\n")
}

// stderr writes to descriptor 2, whatever becomes of it.
func (s *state) stderr(text string) {
	if f := s.fd(2); f != nil {
		io.WriteString(&descriptor{f: f, ctx: s.p.ctx}, text)
	}
}

// lookup returns the variable that a name leads to through namerefs, for
// reading; nil when there is none. sub is the subscript, in brackets' inside,
// that a nameref to an element carries.
func (s *state) lookup(name string) (v *variable, sub string, hasSub bool) {
	v = s.vars[name]
	if v == nil || v.attr&attrNameref == 0 {
		return v, "", false
	}
	target, sub, hasSub, ok := s.follow(name)
	if !ok {
		return nil, "", false
	}
	return s.vars[target], sub, hasSub
}

// follow resolves namerefs: the name that is no nameref, and the subscript that
// the last one carried. It fails for a circle, which it reports.
func (s *state) follow(name string) (target, sub string, hasSub, ok bool) {
	first := name
	for hops := 0; ; hops++ {
		v := s.vars[name]
		if v == nil || v.attr&attrNameref == 0 || v.str == "" {
			return name, "", false, true
		}
		next := v.str
		if i := strings.IndexByte(next, '['); i > 0 && strings.HasSuffix(next, "]") {
			return next[:i], next[i+1 : len(next)-1], true, true
		}
		if next == name || hops > 8 {
			s.errorf("warning: %s: circular name reference", first)
			return name, "", false, false
		}
		name = next
	}
}

// value returns a variable's value as $name yields it, and whether it is set.
func (s *state) value(name string) (string, bool) {
	v, sub, hasSub := s.lookup(name)
	if v == nil {
		return "", false
	}
	if hasSub {
		return s.element(v, subscriptText(sub))
	}
	if v.special != nil {
		return v.special.scalar(s, v)
	}
	return v.scalar()
}

// get is value without the question whether it is set.
func (s *state) get(name string) string {
	v, _ := s.value(name)
	return v
}

// array returns a variable's elements: nil when it is not set.
func (s *state) elements(v *variable) []string {
	switch {
	case v == nil:
		return nil
	case v.special != nil && v.special.list != nil:
		return v.special.list(s)
	case v.special != nil:
		if text, ok := v.special.scalar(s, v); ok {
			return []string{text}
		}
		return nil
	case v.arr != nil:
		return v.arr.val
	case v.m != nil:
		return v.m.values()
	case v.set:
		return []string{v.str}
	}
	return nil
}

// keys returns an array's indices or keys, in the order of elements.
func (s *state) keys(v *variable) []string {
	switch {
	case v == nil:
		return nil
	case v.m != nil:
		return v.m.keys()
	}
	n := len(s.elements(v))
	keys := make([]string, n)
	for i := range keys {
		if v.arr != nil {
			keys[i] = strconv.FormatInt(v.arr.index(i), 10)
		} else {
			keys[i] = strconv.Itoa(i)
		}
	}
	return keys
}

// change returns a variable, made if need be, that may be changed in place. It
// follows no namerefs.
func (s *state) change(name string) *variable {
	vars := s.ownVars()
	v := vars[name]
	switch {
	case v == nil:
		v = &variable{own: s.own}
		vars[name] = v
	case v.own != s.own:
		v = v.clone(s.own)
		vars[name] = v
	}
	return v
}

// readonly reports an attempt to change a variable that must not change.
func (s *state) readonly(name string) bool {
	if v := s.vars[name]; v != nil && v.attr&attrReadonly != 0 {
		s.errorf("%s: readonly variable", name)
		return true
	}
	return false
}

// assign sets a variable as name=value does, or adds to it. It reports what
// goes wrong, and whether nothing did.
func (s *state) assign(name, value string, add bool) bool {
	if v := s.vars[name]; v != nil && v.attr&attrNameref != 0 && v.str != "" {
		target, sub, hasSub, ok := s.follow(name)
		if !ok {
			return false
		}
		if hasSub {
			return s.assignElement(target, subscriptText(sub), value, add)
		}
		name = target
	}
	return s.assignTo(name, value, add)
}

// assignTo is assign without namerefs.
func (s *state) assignTo(name, value string, add bool) bool {
	if s.readonly(name) {
		return false
	}
	if v := s.vars[name]; v != nil && v.special != nil && v.special.assign != nil {
		v.special.assign(s, value)
		return true
	}
	if v := s.vars[name]; v != nil && v.isArray() {
		key := "0"
		return s.putElement(s.change(name), key, value, add)
	}
	v := s.change(name)
	if v.attr&attrNameref != 0 && !validReference(value) {
		s.errorf("`%s': not a valid identifier", value)
		return false
	}
	text, ok := s.convert(v, v.str, value, add)
	if !ok {
		return false
	}
	s.keep(len(text) - len(v.str))
	v.str, v.set = text, true
	s.assigned(name, v)
	return true
}

// assigned does what follows from a new value.
func (s *state) assigned(name string, v *variable) {
	if s.opts.on(optAllexport) {
		v.attr |= attrExport
	}
	switch name {
	case "PATH":
		s.hash, s.hashOwn = nil, nil
	case "OPTIND":
		s.getopts = getoptsState{}
	case "BASH_XTRACEFD":
		s.setTraceFD(v.str)
	case "POSIXLY_CORRECT":
		s.opts.put(optPosix, true)
	}
}

// keep accounts for the memory of variables.
func (s *state) keep(n int) {
	if n > 0 {
		if s.x.grow(n) != nil {
			s.stop()
		}
	} else {
		s.x.memory.Shrink(int64(-n))
	}
}

// validReference reports whether a nameref may refer to that: a name or an
// element.
func validReference(s string) bool {
	if i := strings.IndexByte(s, '['); i > 0 && strings.HasSuffix(s, "]") {
		s = s[:i]
	}
	return validName(s)
}

// validName reports whether s is an identifier.
func validName(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return true
}

// convert makes a value what the variable's attributes ask for.
func (s *state) convert(v *variable, old, value string, add bool) (string, bool) {
	if v.attr&(attrInteger|attrLower|attrUpper|attrCapital) == 0 {
		if add {
			return s.join(old, value), true
		}
		return value, true
	}
	if v.attr&attrInteger != 0 {
		n, ok := s.arithmetic(value, "")
		if !ok {
			s.dropTop()
		}
		if add {
			o, ok := s.arithmetic(old, "")
			if !ok {
				s.dropTop()
			}
			n += o
		}
		return strconv.FormatInt(n, 10), true
	}
	if add {
		value = s.join(old, value)
	}
	switch {
	case v.attr&attrLower != 0:
		value = s.mapCase(value, lowerCase, true, nil)
	case v.attr&attrUpper != 0:
		value = s.mapCase(value, upperCase, true, nil)
	case v.attr&attrCapital != 0:
		value = s.mapCase(s.mapCase(value, lowerCase, true, nil), upperCase, false, nil)
	}
	return value, true
}

// join concatenates, and ends the execution rather than exceed its memory.
func (s *state) join(a, b string) string {
	s.room(len(a) + len(b))
	return a + b
}

// room ends the execution when n more bytes would exceed its memory.
func (s *state) room(n int) {
	if n > 1<<16 && int64(n) > s.x.memory.Left() {
		s.x.exceed("memory", s.x.limits.Memory)
		s.stop()
	}
}
