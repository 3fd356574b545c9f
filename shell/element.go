package shell

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/parse"
)

// parseSubscript makes a word of a subscript's text.
func (s *state) parseSubscript(text string) *syntax.Word { return parse.Word(text) }

// subscript is a subscript: a word to be expanded, or text that was.
type subscript struct {
	word *syntax.Word
	text string
	raw  bool // text is final
}

func subscriptText(s string) subscript { return subscript{text: s} }

// source is the subscript as messages show it.
func (sub *subscript) source() string {
	if sub.word != nil {
		return wordSource(sub.word)
	}
	return sub.text
}

// whole reports whether the subscript is @ or *.
func (sub *subscript) whole() byte {
	text := sub.text
	if sub.word != nil {
		if len(sub.word.Parts) != 1 {
			return 0
		}
		l, ok := sub.word.Parts[0].(*syntax.Lit)
		if !ok {
			return 0
		}
		text = l.Value
	}
	if text == "@" || text == "*" {
		return text[0]
	}
	return 0
}

// element returns an array's element.
func (s *state) element(v *variable, sub subscript) (string, bool) {
	if v.m != nil || v.attr&attrAssoc != 0 {
		key := s.key(sub)
		if v.m == nil {
			return "", false
		}
		return v.m.get(key)
	}
	i, ok := s.index(sub)
	if !ok {
		return "", false
	}
	if v.special != nil {
		list := s.elements(v)
		if i < 0 {
			i += int64(len(list))
		}
		if i < 0 || i >= int64(len(list)) {
			return "", false
		}
		return list[i], true
	}
	if v.arr == nil {
		if i == 0 || i == -1 {
			return v.str, v.set
		}
		return "", false
	}
	if i < 0 {
		i += v.arr.max() + 1
	}
	return v.arr.get(i)
}

// key expands an associative array's subscript.
func (s *state) key(sub subscript) string {
	if sub.word != nil {
		return s.expandString(sub.word)
	}
	if sub.raw {
		return sub.text
	}
	return s.expandString(s.parseSubscript(sub.text))
}

// index evaluates an indexed array's subscript; a mistake in it ends the script's line.
func (s *state) index(sub subscript) (int64, bool) {
	text := sub.text
	if sub.word != nil {
		text = s.expandIndex(sub.word)
	}
	n, ok := s.arithmetic(text, "")
	if !ok {
		s.dropTop()
	}
	return n, true
}

// assignElement sets name[sub].
func (s *state) assignElement(name string, sub subscript, value string, add bool) bool {
	if v := s.vars[name]; v != nil && v.attr&attrNameref != 0 && v.str != "" {
		target, _, _, ok := s.follow(name)
		if !ok {
			return false
		}
		name = target
	}
	if s.readonly(name) {
		return false
	}
	v := s.vars[name]
	if v != nil && v.attr&attrAssoc != 0 {
		key := s.key(sub)
		if key == "" {
			s.errorf("%s[%s]: bad array subscript", name, sub.source())
			return false
		}
		return s.putElement(s.change(name), key, value, add) && s.elementDone(name)
	}
	if src := sub.source(); src == "" || sub.whole() != 0 {
		s.errorf("%s[%s]: bad array subscript", name, src)
		return false
	}
	i, ok := s.index(sub)
	if !ok {
		return false
	}
	if v != nil && v.special != nil {
		if k := int(i); name == "DIRSTACK" && k > 0 && k <= len(s.stack) {
			s.stack[k-1] = value
		}
		return true
	}
	v = s.change(name)
	s.makeIndexed(v)
	if i < 0 {
		i += v.arr.max() + 1
	}
	if i < 0 || i > maxIndex {
		s.errorf("%s[%s]: bad array subscript", name, sub.source())
		return false
	}
	return s.putIndex(v, i, value, add) && s.elementDone(name)
}

func (s *state) elementDone(name string) bool {
	s.assigned(name, s.vars[name])
	return true
}

// makeIndexed turns a scalar into an indexed array with that element 0.
func (s *state) makeIndexed(v *variable) {
	v.attr |= attrArray
	if v.arr == nil {
		v.arr = &indexed{}
		if v.set {
			v.arr.put(0, v.str)
		}
		v.str = ""
	}
	v.set = true
}

// putIndex sets an element of an indexed array.
func (s *state) putIndex(v *variable, i int64, value string, add bool) bool {
	old, _ := v.arr.get(i)
	text, ok := s.convert(v, old, value, add)
	if !ok {
		return false
	}
	s.keep(len(text) - len(old) + elementCost)
	v.arr.put(i, text)
	return true
}

// elementCost is what an array element takes besides its bytes.
const elementCost = 24

// putElement sets an element of an array of either kind by its key; for an
// indexed array that is element 0.
func (s *state) putElement(v *variable, key, value string, add bool) bool {
	if v.attr&attrAssoc == 0 {
		s.makeIndexed(v)
		return s.putIndex(v, 0, value, add)
	}
	if v.m == nil {
		v.m = newAssoc()
	}
	old, _ := v.m.get(key)
	text, ok := s.convert(v, old, value, add)
	if !ok {
		return false
	}
	s.keep(len(text) - len(old) + len(key) + 3*elementCost)
	v.m.put(key, text)
	v.set = true
	return true
}

// setArray makes a variable an indexed array of exactly these values.
func (s *state) setArray(name string, values []string) {
	if target, _, _, ok := s.follow(name); ok {
		name = target
	}
	v := s.change(name)
	v.attr = v.attr&^attrAssoc | attrArray
	v.m, v.str, v.set, v.special = nil, "", true, nil
	n := 0
	for _, t := range values {
		n += len(t) + elementCost
	}
	s.keep(n)
	v.arr = &indexed{val: values}
}
