package shell

import (
	"strings"
)

// builtinUnset removes variables, elements and functions.
func builtinUnset(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "fnv")
	var funcs, vars, ref bool
	for opts.next() {
		switch opts.opt {
		case 'f':
			funcs = true
		case 'v':
			vars = true
		case 'n':
			ref = true
		}
	}
	if opts.failed {
		return 2
	}
	if funcs && vars {
		s.builtinError(b, "cannot simultaneously unset a function and a variable")
		return 1
	}
	status := 0
	for _, name := range opts.rest() {
		if !s.unsetOne(b, name, funcs, vars, ref) {
			status = 1
		}
	}
	return status
}

func (s *state) unsetOne(b *builtin, name string, funcs, vars, ref bool) bool {
	if funcs {
		return s.unsetFunction(b, name)
	}
	base, sub, isElement := name, "", false
	if i := strings.IndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") {
		base, sub, isElement = name[:i], name[i+1:len(name)-1], true
	}
	if !validName(base) {
		if !vars && s.funcs[name] != nil {
			return s.unsetFunction(b, name)
		}
		if vars || isElement {
			s.builtinError(b, "`%s': not a valid identifier", name)
			return false
		}
		return true
	}
	if !ref {
		target, tsub, hasSub, ok := s.follow(base)
		if ok {
			base = target
			if hasSub && !isElement {
				sub, isElement = tsub, true
			}
		}
	}
	v := s.vars[base]
	if ref && (v == nil || v.attr&attrNameref == 0) {
		return true
	}
	if v == nil {
		if !vars && !isElement && !ref {
			return s.unsetFunction(b, name)
		}
		return true
	}
	if v.attr&attrReadonly != 0 {
		s.builtinError(b, "%s: cannot unset: readonly variable", base)
		return false
	}
	if v.special != nil && v.attr&attrNoUnset != 0 {
		s.builtinError(b, "%s: cannot unset", base)
		return false
	}
	if isElement {
		return s.unsetElement(b, base, v, sub)
	}
	s.unset(base)
	return true
}

func (s *state) unsetFunction(b *builtin, name string) bool {
	f := s.funcs[name]
	if f == nil {
		return true
	}
	if f.attr&attrReadonly != 0 {
		s.builtinError(b, "%s: cannot unset: readonly function", name)
		return false
	}
	delete(s.ownFuncs(), name)
	return true
}

func (s *state) unsetElement(b *builtin, name string, v *variable, sub string) bool {
	switch {
	case v.attr&attrAssoc != 0:
		if v.m == nil {
			return true
		}
		key := sub
		if sub != "@" && sub != "*" {
			key = s.key(subscriptText(sub))
		}
		s.change(name).m.remove(key)
		return true
	case !v.isArray():
		if i, ok := s.index(subscriptText(sub)); ok && i == 0 && sub != "@" && sub != "*" {
			s.unset(name)
			return true
		}
		s.builtinError(b, "%s: not an array variable", name)
		return false
	case sub == "@" || sub == "*":
		v = s.change(name)
		s.keep(-s.size(v))
		v.arr = &indexed{}
		return true
	case sub == "":
		return true
	}
	cmd := s.cmdName
	s.cmdName = ""
	i, ok := s.index(subscript{word: s.parseSubscript(sub)})
	s.cmdName = cmd
	if !ok {
		return false
	}
	v = s.change(name)
	if v.arr == nil {
		return true
	}
	if i < 0 {
		if i += v.arr.max() + 1; i < 0 {
			s.builtinError(b, "[%s]: bad array subscript", sub)
			return false
		}
	}
	v.arr.remove(i)
	return true
}
