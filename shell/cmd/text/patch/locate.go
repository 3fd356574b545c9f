package patch

import (
	"bytes"
	"context"
)

// target is the file that hunks are put into: its lines as they were, and what
// is made of them.
type target struct {
	ctx   context.Context
	lines [][]byte // with their newlines
	loose bool     // white space may differ
	out   []byte
	// done is how many lines were taken over or dropped already.
	done int
	// drift is how far the hunks were from where they say, growth how many
	// lines they have added.
	drift, growth int
}

// checkEvery is how many places are looked at between looks at the context.
const checkEvery = 1 << 12

// locate finds the line where a hunk fits, with up to fuzz lines of its context
// not looked at on either end; 0 when there is none.
func (t *target) locate(h *hunk, fuzz int) int {
	context := max(h.prefix, h.suffix)
	guess := h.first + t.drift
	n := len(h.old)
	prefix, suffix := fuzz+h.prefix-context, fuzz+h.suffix-context
	forward := len(t.lines) - (n - suffix) + 1 - guess
	back := guess - t.done - 1
	if n == 0 {
		return guess
	}
	if guess <= back {
		back = guess - 1
	}
	// A hunk with less context on one end than on the other is at that end of
	// the file.
	if prefix < 0 && h.first <= 1 {
		if suffix < 0 && (n != len(t.lines) || h.prefix < t.done) {
			return 0
		}
		offset := 1 - guess
		if t.done <= h.prefix && offset <= forward && t.fits(h, 1, 0, max(suffix, 0)) {
			t.drift += offset
			return 1
		}
		return 0
	}
	prefix = max(prefix, 0)
	if suffix < 0 {
		offset := guess - (len(t.lines) - n + 1)
		if offset <= back && t.fits(h, guess-offset, prefix, 0) {
			t.drift -= offset
			return guess - offset
		}
		return 0
	}
	// Places outside of the file are left out. Those that other hunks have
	// passed are not, nearest last: that is for apply to find out.
	nearest := 0
	switch {
	case forward < 0:
		nearest = -forward
	case back < 0:
		nearest = max(back, 1-guess)
	}
	for offset := nearest; offset <= max(forward, back); offset++ {
		if offset%checkEvery == 0 && t.ctx.Err() != nil {
			return 0
		}
		if offset <= forward && t.fits(h, guess+offset, prefix, suffix) {
			t.drift += offset
			return guess + offset
		}
		if offset <= back && guess-offset > 0 && t.fits(h, guess-offset, prefix, suffix) {
			t.drift -= offset
			return guess - offset
		}
	}
	return 0
}

// fits compares the old lines of a hunk, but for some at its ends, with the
// lines from line at on.
func (t *target) fits(h *hunk, at, prefix, suffix int) bool {
	for i := prefix; i < len(h.old)-suffix; i++ {
		k := at + i - 1
		if k < 0 || k >= len(t.lines) || !t.same(t.lines[k], h.old[i].text) {
			return false
		}
	}
	return true
}

func (t *target) same(a, b []byte) bool {
	if !t.loose {
		return bytes.Equal(a, b)
	}
	return similar(bytes.TrimSuffix(a, []byte{'\n'}), bytes.TrimSuffix(b, []byte{'\n'}))
}

// similar compares lines in which any white space is as good as any other, and
// as none at the end.
func similar(a, b []byte) bool {
	blank := func(c byte) bool { return c == ' ' || c == '\t' }
	for {
		a1, b1 := bytes.TrimLeft(a, " \t"), bytes.TrimLeft(b, " \t")
		switch {
		case len(a1) == 0 || len(b1) == 0:
			return len(a1) == len(b1)
		case (len(a1) < len(a)) != (len(b1) < len(b)), a1[0] != b1[0]:
			return false
		}
		n := 1
		for n < len(a1) && n < len(b1) && a1[n] == b1[n] && !blank(a1[n]) {
			n++
		}
		a, b = a1[n:], b1[n:]
	}
}

// take takes over the lines before line n.
func (t *target) take(n int) bool {
	if t.done > n-1 {
		return false
	}
	for _, line := range t.lines[min(t.done, len(t.lines)):min(n-1, len(t.lines))] {
		t.put(line)
	}
	t.done = n - 1
	return true
}

// put writes a line. The one before it may lack its end.
func (t *target) put(line []byte) {
	if n := len(t.out); n > 0 && t.out[n-1] != '\n' {
		t.out = append(t.out, '\n')
	}
	t.out = append(t.out, line...)
}

// apply puts a hunk in at a line; false when it would be before one that was.
func (t *target) apply(h *hunk, where int) bool {
	i, j := 0, 0
	for i < len(h.old) || j < len(h.new) {
		switch {
		case i < len(h.old) && h.old[i].mark == '-':
			if !t.take(where + i) {
				return false
			}
			t.done++
			i++
		case j < len(h.new) && h.new[j].mark == '+':
			if !t.take(where + i) {
				return false
			}
			t.put(h.new[j].text)
			j++
		case i < len(h.old) && h.old[i].mark == '!', j < len(h.new) && h.new[j].mark == '!':
			if !t.take(where + i) {
				return false
			}
			for ; i < len(h.old) && h.old[i].mark == '!'; i++ {
				t.done++
			}
			for ; j < len(h.new) && h.new[j].mark == '!'; j++ {
				t.put(h.new[j].text)
			}
		case i < len(h.old) && j < len(h.new):
			i++
			j++
		default:
			return false
		}
	}
	t.growth += len(h.new) - len(h.old)
	return true
}
