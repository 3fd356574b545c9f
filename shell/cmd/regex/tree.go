package regex

// op is the kind of a node of the syntax tree.
type op uint8

const (
	opEmpty  op = iota // matches the empty string
	opByte             // one byte, whatever the encoding
	opClass            // one character of a class
	opAssert           // a position
	opConcat
	opAlternate
	opRepeat
	opGroup
	opBackref
	opFail // matches nothing
)

// assert is the kind of a position.
type assert uint8

const (
	beginLine     assert = iota // ^
	endLine                     // $
	beginText                   // \`
	endText                     // \'
	wordStart                   // \<
	wordEnd                     // \>
	wordBoundary                // \b
	notBoundary                 // \B
	afterNonWord                // no word character before
	beforeNonWord               // no word character after
)

// unlimited is the max of a repetition without an upper bound.
const unlimited = -1

// node is a node of the syntax tree.
type node struct {
	op       op
	subs     []*node
	b        byte   // opByte
	set      class  // opClass
	assert   assert // opAssert
	min, max int    // opRepeat
	group    int    // opGroup, opBackref
	fold     bool   // opBackref: case does not matter
}

func assertion(a assert) *node { return &node{op: opAssert, assert: a} }

// concat joins nodes, without needless nesting.
func concat(ns ...*node) *node {
	if len(ns) == 1 {
		return ns[0]
	}
	if len(ns) == 0 {
		return &node{op: opEmpty}
	}
	return &node{op: opConcat, subs: ns}
}

func alternate(ns []*node) *node {
	switch len(ns) {
	case 0:
		return &node{op: opFail}
	case 1:
		return ns[0]
	}
	return &node{op: opAlternate, subs: ns}
}

// nullable reports whether n can match the empty string. Positions count as
// empty, a back-reference too.
func (n *node) nullable() bool {
	switch n.op {
	case opByte, opClass, opFail:
		return false
	case opConcat:
		for _, s := range n.subs {
			if !s.nullable() {
				return false
			}
		}
	case opAlternate:
		for _, s := range n.subs {
			if s.nullable() {
				return true
			}
		}
		return false
	case opRepeat:
		return n.min == 0 || n.subs[0].nullable()
	case opGroup:
		return n.subs[0].nullable()
	}
	return true
}

// loosen returns the tree of a regular language that contains n's: groups are
// dropped, and a back-reference is anything that its group may match. seen
// holds the groups met so far.
func loosen(n *node, seen map[int]*node) *node {
	switch n.op {
	case opConcat, opAlternate, opRepeat:
		c := *n
		c.subs = make([]*node, len(n.subs))
		for i, s := range n.subs {
			c.subs[i] = loosen(s, seen)
		}
		return &c
	case opGroup:
		body := loosen(n.subs[0], seen)
		seen[n.group] = body
		return body
	case opBackref:
		body := seen[n.group]
		if body == nil {
			return &node{op: opFail}
		}
		// Positions inside the group held there, not here.
		return withoutAsserts(body)
	}
	return n
}

func withoutAsserts(n *node) *node {
	if n.op == opAssert {
		return &node{op: opEmpty}
	}
	if len(n.subs) == 0 {
		return n
	}
	c := *n
	c.subs = make([]*node, len(n.subs))
	for i, s := range n.subs {
		c.subs[i] = withoutAsserts(s)
	}
	return &c
}
