package pattern

import "strings"

// compiler turns pattern text into items.
type compiler struct {
	s     string
	i     int
	flags Flags
	depth int
}

// maxNesting bounds groups within groups; deeper ones stand for themselves.
const maxNesting = 200

// sequence compiles up to the end, or, in a group, up to | or ).
func (c *compiler) sequence(inGroup bool) []item {
	var items []item
	for c.i < len(c.s) {
		ch := c.s[c.i]
		if inGroup && (ch == '|' || ch == ')') {
			return items
		}
		if c.flags&ExtGlob != 0 && strings.IndexByte("?*+@!", ch) >= 0 && strings.HasPrefix(c.s[c.i+1:], "(") {
			if g, ok := c.group(); ok {
				items = append(items, g)
				continue
			}
		}
		switch ch {
		case '*':
			c.i++
			if n := len(items); n == 0 || items[n-1].kind != anyString {
				items = append(items, item{kind: anyString})
			}
			continue
		case '?':
			c.i++
			items = append(items, item{kind: anyChar})
			continue
		case '[':
			if set, n := parseSet(c.s[c.i:], c.flags); n > 0 {
				c.i += n
				items = append(items, item{kind: bracket, set: set})
				continue
			}
		case '\\':
			if c.i+1 < len(c.s) {
				c.i++
			}
		}
		r, n := c.flags.next(c.s[c.i:])
		c.i += n
		items = append(items, item{kind: char, r: r})
	}
	return items
}

// group compiles "@(a|b)"; false, with nothing taken, when it is not closed.
func (c *compiler) group() (item, bool) {
	saved := c.i
	if c.depth >= maxNesting || !closes(c.s[c.i+1:]) {
		return item{}, false
	}
	c.depth++
	defer func() { c.depth-- }()
	g := item{kind: group, op: c.s[c.i]}
	c.i += 2
	for {
		g.alts = append(g.alts, c.sequence(true))
		if c.i >= len(c.s) {
			c.i = saved
			return item{}, false
		}
		c.i++
		if c.s[c.i-1] == ')' {
			return g, true
		}
	}
}

// closes reports whether the parenthesis that s starts with is closed.
func closes(s string) bool {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return true
			}
		}
	}
	return false
}
