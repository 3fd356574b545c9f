package shell

import (
	"strings"
)

// transform is ${x@op}.
func (s *state) transform(op byte, p *parameter) bool {
	switch op {
	case 'Q':
		if !p.set && !p.list {
			return false
		}
		p.each(s.quoteValue)
	case 'E':
		p.each(s.ansiC)
	case 'P':
		p.each(s.prompt)
	case 'U':
		p.each(func(t string) string { return s.mapCase(t, upperCase, true, nil) })
	case 'u':
		p.each(func(t string) string { return s.mapCase(t, upperCase, false, nil) })
	case 'L':
		p.each(func(t string) string { return s.mapCase(t, lowerCase, true, nil) })
	case 'a':
		s.attributes(p)
	case 'A':
		s.declaration(p)
	case 'K', 'k':
		s.pairs(op, p)
	}
	return true
}

// quoteValue is ${x@Q}: quoted so that the shell reads it back.
func (s *state) quoteValue(text string) string {
	if text == "" {
		return "''"
	}
	if needsANSI(text, s.wide()) {
		return ansiQuote(text, s.wide())
	}
	return singleQuote(text)
}

// attributes is ${x@a}.
func (s *state) attributes(p *parameter) {
	text := ""
	if p.v != nil {
		text = p.v.flags()
	}
	if p.list {
		p.each(func(string) string { return text })
		return
	}
	p.val = text
}

// declaration is ${x@A}: a command that makes the variable again.
func (s *state) declaration(p *parameter) {
	switch {
	case p.v == nil && p.list:
		var q []string
		for _, v := range p.vals {
			q = append(q, s.quoteValue(v))
		}
		p.val = "set -- " + strings.Join(q, " ")
		if len(q) == 0 {
			p.val = ""
		}
		p.list = false
	case p.v == nil:
		p.val = ""
	case p.list || p.v.isArray() && p.v.special == nil && p.has && p.sub.whole() != 0:
		p.val, p.list = s.describe(p.name, p.v), false
	default:
		if !p.set {
			if f := p.v.flags(); f != "" {
				p.val = "declare -" + f + " " + p.name
			}
			return
		}
		p.val = p.name + "=" + s.quoteValue(p.val)
		if f := p.v.flags(); f != "" {
			p.val = "declare -" + f + " " + p.val
		}
	}
}

// pairs is ${x@K}, keys and values as one string, and ${x@k}, as words.
func (s *state) pairs(op byte, p *parameter) {
	if p.v == nil || !p.list {
		p.each(s.quoteValue)
		return
	}
	keys, vals := s.keys(p.v), p.vals
	if op == 'k' {
		var out []string
		for i, k := range keys {
			out = append(out, k, vals[i])
		}
		p.vals = out
		return
	}
	var b strings.Builder
	for i, k := range keys {
		if i > 0 {
			b.WriteByte(' ')
		}
		if p.v.attr&attrAssoc != 0 {
			k = quoteKey(k)
		}
		b.WriteString(k + " " + doubleQuote(vals[i]))
	}
	if p.v.attr&attrAssoc != 0 {
		b.WriteByte(' ')
	}
	p.val, p.list = b.String(), false
}
