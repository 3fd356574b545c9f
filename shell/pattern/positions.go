package pattern

import mathbits "math/bits"

// bits is a set of positions in a subject.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+64)/64) }

func (b bits) add(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bits) has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

func (b bits) empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

// union adds c and reports whether that changed b.
func (b bits) union(c bits) bool {
	changed := false
	for i, w := range c {
		if w&^b[i] != 0 {
			b[i] |= w
			changed = true
		}
	}
	return changed
}

func (b bits) min() (int, bool) {
	for i, w := range b {
		if w != 0 {
			return i<<6 + mathbits.TrailingZeros64(w), true
		}
	}
	return 0, false
}

// from returns the smallest member that is not below n.
func (b bits) from(n int) (int, bool) {
	if n>>6 >= len(b) {
		return 0, false
	}
	if w := b[n>>6] >> (n & 63); w != 0 {
		return n + mathbits.TrailingZeros64(w), true
	}
	for i := n>>6 + 1; i < len(b); i++ {
		if b[i] != 0 {
			return i<<6 + mathbits.TrailingZeros64(b[i]), true
		}
	}
	return 0, false
}

func (b bits) max() (int, bool) {
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] != 0 {
			return i<<6 + 63 - mathbits.LeadingZeros64(b[i]), true
		}
	}
	return 0, false
}

// matcher runs items over one subject, forwards from a set of starts to the set
// of ends or backwards from a set of ends to the set of starts.
type matcher struct {
	p     *Pattern
	s     string
	steps int
}

func newMatcher(p *Pattern, s string) *matcher { return &matcher{p: p, s: s} }

func (m *matcher) tick(n int) {
	m.steps += n + 1
	if m.steps > 4096 {
		m.steps = 0
		if m.p.Tick != nil {
			m.p.Tick()
		}
	}
}

// ends returns where matches that start at from may end.
func (m *matcher) ends(items []item, from int) bits {
	b := newBits(len(m.s))
	b.add(from)
	return m.forward(items, b)
}

// starts returns where matches that end at to may start.
func (m *matcher) starts(items []item, to int) bits {
	b := newBits(len(m.s))
	b.add(to)
	return m.backward(items, b)
}

// longest is the end of the longest match from a start.
func (m *matcher) longest(items []item, from int) (int, bool) {
	return m.ends(items, from).max()
}

// each calls f for every member.
func (b bits) each(f func(i int)) {
	for k, w := range b {
		for w != 0 {
			f(k<<6 + mathbits.TrailingZeros64(w))
			w &= w - 1
		}
	}
}

// forward moves a set of positions over items.
func (m *matcher) forward(items []item, at bits) bits {
	for i := range items {
		if at.empty() {
			return at
		}
		m.tick(len(at))
		at = m.over(&items[i], at, true)
	}
	return at
}

// backward moves a set of positions over items, from the last to the first.
func (m *matcher) backward(items []item, at bits) bits {
	for i := len(items) - 1; i >= 0; i-- {
		if at.empty() {
			return at
		}
		m.tick(len(at))
		at = m.over(&items[i], at, false)
	}
	return at
}

// over moves a set of positions over one item, in either direction.
func (m *matcher) over(it *item, at bits, forward bool) bits {
	next := newBits(len(m.s))
	switch it.kind {
	case anyString:
		m.spread(at, next, forward)
	case group:
		return m.group(it, at, forward)
	default:
		at.each(func(i int) {
			m.tick(1)
			if forward {
				if i < len(m.s) {
					if r, n := m.p.flags.next(m.s[i:]); m.p.one(it, r) {
						next.add(i + n)
					}
				}
				return
			}
			if n := m.before(i); n > 0 {
				if r, _ := m.p.flags.next(m.s[i-n : i]); m.p.one(it, r) {
					next.add(i - n)
				}
			}
		})
	}
	return next
}

// before is the length of the character that ends at i.
func (m *matcher) before(i int) int {
	if i == 0 {
		return 0
	}
	if m.p.flags&Wide != 0 {
		for n := 2; n <= 4 && n <= i; n++ {
			if _, size := m.p.flags.next(m.s[i-n : i]); size == n {
				return n
			}
		}
	}
	return 1
}

// spread adds every position that a star may reach.
func (m *matcher) spread(at, next bits, forward bool) {
	if forward {
		lo, _ := at.min()
		for i := lo; i <= len(m.s); {
			next.add(i)
			if i == len(m.s) {
				break
			}
			_, n := m.p.flags.next(m.s[i:])
			i += n
		}
		// Starts that lie inside a character of the first one.
		next.union(at)
		return
	}
	hi, _ := at.max()
	for i := hi; ; {
		next.add(i)
		n := m.before(i)
		if n == 0 {
			break
		}
		i -= n
	}
	next.union(at)
}

// alternatives is the union of what each alternative makes of a set.
func (m *matcher) alternatives(it *item, at bits, forward bool) bits {
	out := newBits(len(m.s))
	for _, alt := range it.alts {
		if forward {
			out.union(m.forward(alt, at))
		} else {
			out.union(m.backward(alt, at))
		}
	}
	return out
}

// group moves a set over an extended form.
func (m *matcher) group(it *item, at bits, forward bool) bits {
	switch it.op {
	case '@':
		return m.alternatives(it, at, forward)
	case '?':
		out := m.alternatives(it, at, forward)
		out.union(at)
		return out
	case '!':
		return m.except(it, at, forward)
	}
	out := newBits(len(m.s))
	if it.op == '*' {
		out.union(at)
	}
	if it.single() {
		m.run(it, at, out, forward)
		return out
	}
	// Any number of times: until nothing new is reached.
	fresh := at
	for {
		reached := m.alternatives(it, fresh, forward)
		for i := range reached {
			reached[i] &^= out[i]
		}
		if !out.union(reached) {
			return out
		}
		fresh = reached
	}
}

// single reports whether every alternative is one character.
func (it *item) single() bool {
	for _, alt := range it.alts {
		if len(alt) != 1 || alt[0].kind == group || alt[0].kind == anyString {
			return false
		}
	}
	return true
}

// run adds to out what one or more characters of a group reach, in one pass.
func (m *matcher) run(it *item, at, out bits, forward bool) {
	matches := func(s string) bool {
		r, _ := m.p.flags.next(s)
		for _, alt := range it.alts {
			if m.p.one(&alt[0], r) {
				return true
			}
		}
		return false
	}
	m.tick(len(m.s))
	if forward {
		for i := 0; i < len(m.s); i++ {
			if !at.has(i) && !out.has(i) {
				continue
			}
			if _, n := m.p.flags.next(m.s[i:]); matches(m.s[i:]) {
				out.add(i + n)
			}
		}
		return
	}
	for i := len(m.s); i > 0; i-- {
		if !at.has(i) && !out.has(i) {
			continue
		}
		if n := m.before(i); matches(m.s[i-n : i]) {
			out.add(i - n)
		}
	}
}

// except is everything that the alternatives do not match, start by start.
func (m *matcher) except(it *item, at bits, forward bool) bits {
	out := newBits(len(m.s))
	at.each(func(i int) {
		one, all := newBits(len(m.s)), newBits(len(m.s))
		one.add(i)
		m.spread(one, all, forward)
		not := m.alternatives(it, one, forward)
		m.tick(len(all) * 2)
		for k := range all {
			out[k] |= all[k] &^ not[k]
		}
	})
	return out
}
