package workspace

import (
	"bytes"
	"slices"
)

// Limits of merging texts: beyond them both versions are kept.
const (
	textLimit = 1 << 20 // bytes of a version
	textEdits = 4000    // lines that differ between the base and a version
)

// mergeText merges three versions of a text by lines. ok is false when there is
// no base, when one is no text or too large, or when both have changed the same
// lines.
func (m *merge) mergeText(base *mnode, baseSide int, a *mnode, sideA int, b *mnode, sideB int) (merged []byte, ok bool, err error) {
	var texts [3][]byte
	for i, x := range []struct {
		n    *mnode
		side int
	}{{base, baseSide}, {a, sideA}, {b, sideB}} {
		t, ok, err := m.readAll(x.n, x.side, textLimit)
		if err != nil || !ok || bytes.IndexByte(t, 0) >= 0 {
			return nil, false, err
		}
		texts[i] = t
	}
	merged, ok = diff3(texts[0], texts[1], texts[2])
	return merged, ok, nil
}

// diff3 merges two texts that were made of one, or says that it cannot. What
// one has changed is taken where the other has not touched it or its
// neighbouring lines; what both have changed alike is taken once.
func diff3(base, a, b []byte) ([]byte, bool) {
	o, x, y := splitLines(base), splitLines(a), splitLines(b)
	toX, ok := matchLines(o, x)
	if !ok {
		return nil, false
	}
	toY, ok := matchLines(o, y)
	if !ok {
		return nil, false
	}
	out := []byte{}
	i, j, k := 0, 0, 0
	for {
		// Lines that all three have.
		for i < len(o) && toX[i] == j && toY[i] == k {
			out = append(out, o[i]...)
			i, j, k = i+1, j+1, k+1
		}
		if i == len(o) && j == len(x) && k == len(y) {
			return out, true
		}
		// Up to the next line that all three have, at least one differs.
		i2, j2, k2 := len(o), len(x), len(y)
		for n := i; n < len(o); n++ {
			if toX[n] >= j && toY[n] >= k {
				i2, j2, k2 = n, toX[n], toY[n]
				break
			}
		}
		was, inX, inY := o[i:i2], x[j:j2], y[k:k2]
		switch {
		case slices.EqualFunc(inX, inY, bytes.Equal), slices.EqualFunc(inY, was, bytes.Equal):
			out = appendLines(out, inX)
		case slices.EqualFunc(inX, was, bytes.Equal):
			out = appendLines(out, inY)
		default:
			return nil, false
		}
		i, j, k = i2, j2, k2
	}
}

func appendLines(out []byte, lines [][]byte) []byte {
	for _, l := range lines {
		out = append(out, l...)
	}
	return out
}

// splitLines cuts a text behind each newline.
func splitLines(b []byte) [][]byte {
	var lines [][]byte
	for len(b) > 0 {
		n := bytes.IndexByte(b, '\n') + 1
		if n == 0 {
			n = len(b)
		}
		lines = append(lines, b[:n])
		b = b[n:]
	}
	return lines
}

// matchLines returns for each line of a the line of b that it became, -1 for
// none, by a shortest edit script (Myers, 1986). It gives up when they differ
// in too much.
func matchLines(a, b [][]byte) ([]int, bool) {
	match := make([]int, len(a))
	for i := range match {
		match[i] = -1
	}
	head := 0
	for head < len(a) && head < len(b) && bytes.Equal(a[head], b[head]) {
		match[head] = head
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
		match[len(a)-tail] = len(b) - tail
	}
	x, y := a[head:len(a)-tail], b[head:len(b)-tail]
	trace, ok := editTrace(x, y)
	if !ok {
		return nil, false
	}
	i, j := len(x), len(y)
	for d := len(trace) - 1; d > 0; d-- {
		v := trace[d-1]
		k := i - j
		before := k - 1
		if k == -d || k != d && v[d-1+k-1+1] < v[d-1+k+1+1] {
			before = k + 1
		}
		pi := v[d-1+before+1]
		pj := pi - before
		for i > pi && j > pj {
			i, j = i-1, j-1
			match[head+i] = head + j
		}
		i, j = pi, pj
	}
	for i > 0 && j > 0 {
		i, j = i-1, j-1
		match[head+i] = head + j
	}
	return match, true
}

// editTrace returns, for each number of edits d, how far each diagonal gets:
// trace[d][d+k+1] is the line of a that diagonal k reaches, with a sentinel at
// both ends.
func editTrace(a, b [][]byte) ([][]int, bool) {
	var trace [][]int
	for d := 0; d <= min(len(a)+len(b), textEdits); d++ {
		v := make([]int, 2*d+3)
		v[0], v[len(v)-1] = -1, -1
		for k := -d; k <= d; k += 2 {
			i := 0
			if d > 0 {
				p := trace[d-1]
				down, right := p[clampIndex(d-1+k+1+1, p)], p[clampIndex(d-1+k-1+1, p)]+1
				if k == -d || k != d && right-1 < down {
					i = down
				} else {
					i = right
				}
			}
			j := i - k
			for i < len(a) && j < len(b) && j >= 0 && bytes.Equal(a[i], b[j]) {
				i, j = i+1, j+1
			}
			v[d+k+1] = i
			if i == len(a) && j == len(b) {
				return append(trace, v), true
			}
		}
		trace = append(trace, v)
	}
	return nil, false
}

func clampIndex(i int, v []int) int { return min(max(i, 0), len(v)-1) }
