package shell

import (
	"sort"
	"strings"
)

// variableNames lists the names of all variables, sorted.
func (s *state) variableNames() []string {
	names := make([]string, 0, len(s.vars))
	for n := range s.vars {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// flags are a variable's attributes as declare's letters.
func (v *variable) flags() string {
	var b strings.Builder
	for _, l := range []struct {
		a attr
		c byte
	}{
		{attrArray, 'a'}, {attrAssoc, 'A'}, {attrInteger, 'i'}, {attrNameref, 'n'}, {attrReadonly, 'r'},
		{attrTrace, 't'}, {attrExport, 'x'}, {attrCapital, 'c'}, {attrLower, 'l'}, {attrUpper, 'u'},
	} {
		if v.attr&l.a != 0 {
			b.WriteByte(l.c)
		}
	}
	return b.String()
}

// describe is the line of declare -p.
func (s *state) describe(name string, v *variable) string {
	flags := v.flags()
	if flags == "" {
		flags = "-"
	}
	head := "declare -" + flags + " " + name
	switch {
	case v.special != nil && v.special.list != nil:
		return head + "=" + s.arrayText(v)
	case v.special != nil:
		text, _ := v.special.scalar(s, v)
		return head + "=" + doubleQuote(text)
	case v.isArray() && v.set:
		return head + "=" + s.arrayText(v)
	case v.isArray() || !v.set:
		return head
	}
	return head + "=" + doubleQuote(v.str)
}

// arrayText is an array's value as declare -p and set show it.
func (s *state) arrayText(v *variable) string {
	var b strings.Builder
	b.WriteByte('(')
	keys, vals := s.keys(v), s.elements(v)
	assoc := v.attr&attrAssoc != 0
	for i, k := range keys {
		if i > 0 && !assoc {
			b.WriteByte(' ')
		}
		if assoc {
			k = quoteKey(k)
		}
		b.WriteString("[" + k + "]=" + doubleQuote(vals[i]))
		if assoc {
			b.WriteByte(' ')
		}
	}
	b.WriteByte(')')
	return b.String()
}

// setLine is a variable's line in the output of set.
func (s *state) setLine(name string, v *variable) string {
	switch {
	case v.isArray() && v.attr&attrNoUnset == 0:
		return name + "=" + s.arrayText(v) + "\n"
	case v.special != nil:
		text, _ := v.special.scalar(s, v)
		return name + "=" + setValue(text) + "\n"
	case !v.set:
		return ""
	}
	return name + "=" + setValue(v.str) + "\n"
}

// setValue quotes a value as set does, only if it needs it.
func setValue(text string) string {
	switch {
	case needsANSI(text, true):
		return ansiQuote(text, true)
	case hasMeta(text):
		return singleQuote(text)
	}
	return text
}
