package regex

import (
	"sort"
	"unicode/utf8"
)

// required returns the longest run of bytes that every match of n contains,
// and whether n matches just those.
func required(n *node, flags Flags) (literal []byte, exact bool) {
	switch n.op {
	case opByte:
		return []byte{n.b}, true
	case opClass:
		if len(n.set) == 1 && n.set[0].lo == n.set[0].hi && flags&UTF8 != 0 {
			return utf8.AppendRune(nil, n.set[0].lo), true
		}
	case opEmpty:
		return nil, true
	case opGroup:
		return required(n.subs[0], flags)
	case opConcat:
		return requiredConcat(n.subs, flags)
	case opRepeat:
		if n.min > 0 {
			literal, exact = required(n.subs[0], flags)
			return literal, exact && n.min == 1 && n.max == 1
		}
	}
	return nil, false
}

func requiredConcat(subs []*node, flags Flags) (literal []byte, exact bool) {
	var run []byte
	exact = true
	end := func() {
		if len(run) > len(literal) {
			literal = append([]byte(nil), run...)
		}
		run = run[:0]
	}
	for _, s := range subs {
		l, ex := required(s, flags)
		if ex {
			run = append(run, l...)
			continue
		}
		exact = false
		if s.op != opAssert {
			end()
			run = append(run, l...)
			end()
		}
	}
	end()
	return literal, exact
}

// literals returns the tree of an alternation of words, their common beginnings
// shared, so that ten thousand words are no ten thousand alternatives.
func literals(words []string, flags Flags) *node {
	p := parser{flags: flags}
	seqs := make([][]*node, 0, len(words))
	sorted := append([]string(nil), words...)
	sort.Strings(sorted)
	for i, w := range sorted {
		if i > 0 && w == sorted[i-1] {
			continue
		}
		var seq []*node
		for p.src, p.pos = w, 0; p.pos < len(w); {
			p.literalRune()
			seq = append(seq, p.charNode())
		}
		seqs = append(seqs, seq)
	}
	return share(seqs)
}

// share joins sequences with the same first node, deep down.
func share(seqs [][]*node) *node {
	if len(seqs) == 1 {
		return concat(seqs[0]...)
	}
	var alts []*node
	for i := 0; i < len(seqs); {
		if len(seqs[i]) == 0 {
			alts = append(alts, &node{op: opEmpty})
			i++
			continue
		}
		j := i + 1
		for j < len(seqs) && len(seqs[j]) > 0 && seqs[j][0].equal(seqs[i][0]) {
			j++
		}
		if j == i+1 {
			alts = append(alts, concat(seqs[i]...))
		} else {
			tails := make([][]*node, 0, j-i)
			for _, s := range seqs[i:j] {
				tails = append(tails, s[1:])
			}
			alts = append(alts, concat(seqs[i][0], share(tails)))
		}
		i = j
	}
	return alternate(alts)
}

// equal compares nodes of one character.
func (n *node) equal(m *node) bool {
	if n.op != m.op || n.b != m.b || len(n.set) != len(m.set) {
		return false
	}
	for i := range n.set {
		if n.set[i] != m.set[i] {
			return false
		}
	}
	return true
}
