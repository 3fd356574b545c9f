package workspace

import (
	"bytes"
	"math/rand"
	"strings"
	"testing"
)

func TestDiff3(t *testing.T) {
	lines := func(s string) string { return strings.ReplaceAll(s, " ", "\n") + "\n" }
	for _, c := range []struct{ base, a, b, want string }{
		{"1 2 3", "1 2 3", "1 2 3", "1 2 3"},
		{"1 2 3", "0 1 2 3", "1 2 3 4", "0 1 2 3 4"},
		{"1 2 3 4 5", "1 x 3 4 5", "1 2 3 y 5", "1 x 3 y 5"},
		{"1 2 3 4 5", "1 3 4 5", "1 2 3 4", "1 3 4"},
		{"1 2 3", "1 x 3", "1 x 3", "1 x 3"},
		{"1 2 3", "1 x 3", "1 y 3", ""},
		{"1 2 3", "1 3", "1 y 3", ""},
		{"1 2 3", "x 2 3", "1 2 y", "x 2 y"},
		{"1 2", "1 x 2", "1 y 2", ""},
		{"1 2 3 4", "1 x 3 4", "1 2 y 4", ""}, // neighbours
	} {
		got, ok := diff3([]byte(lines(c.base)), []byte(lines(c.a)), []byte(lines(c.b)))
		if c.want == "" {
			if ok {
				t.Errorf("%q, %q, %q merge to %q", c.base, c.a, c.b, got)
			}
			continue
		}
		if !ok || string(got) != lines(c.want) {
			t.Errorf("%q, %q, %q merge to %q, %v, want %q", c.base, c.a, c.b, got, ok, c.want)
		}
	}
	if got, ok := diff3(nil, []byte("a"), nil); !ok || string(got) != "a" {
		t.Errorf("from nothing: %q, %v", got, ok)
	}
	if got, ok := diff3([]byte("a\nb"), []byte("a\nb\n"), []byte("x\na\nb")); ok && string(got) != "x\na\nb\n" {
		t.Errorf("without a newline at the end: %q", got)
	}
}

// TestDiff3Random edits random lines of texts: a merge that succeeds has the
// edits of both and does not depend on which is which; edits far apart merge.
func TestDiff3Random(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	for range 500 {
		base := make([][]byte, 20+r.Intn(40))
		for i := range base {
			base[i] = []byte{byte('a' + r.Intn(4)), '\n'}
		}
		edit := func(lo, hi int, tag byte) [][]byte {
			out := append([][]byte{}, base[:lo]...)
			for i := lo; i < hi; i++ {
				switch r.Intn(4) {
				case 0: // deleted
				case 1:
					out = append(out, []byte{tag, byte(i), '\n'})
				case 2:
					out = append(out, base[i], []byte{tag, tag, byte(i), '\n'})
				default:
					out = append(out, base[i])
				}
			}
			return append(out, base[hi:]...)
		}
		half := len(base) / 2
		a, b := edit(0, half-3, 'X'), edit(half+3, len(base), 'Y')
		if r.Intn(3) == 0 {
			b = edit(0, len(base), 'Y')
		}
		o, x, y := bytes.Join(base, nil), bytes.Join(a, nil), bytes.Join(b, nil)
		got, ok := diff3(o, x, y)
		back, ok2 := diff3(o, y, x)
		if ok != ok2 || !bytes.Equal(got, back) {
			t.Fatalf("not symmetric: %q %q %q: %q %v, %q %v", o, x, y, got, ok, back, ok2)
		}
		if !ok {
			continue
		}
		for _, side := range [][][]byte{a, b} {
			for _, line := range side {
				if (line[0] == 'X' || line[0] == 'Y') && !bytes.Contains(got, line) {
					t.Fatalf("%q %q %q: %q has lost %q", o, x, y, got, line)
				}
			}
		}
	}
}

// TestMatchLines holds that matches are equal lines in order, and as many as
// there can be.
func TestMatchLines(t *testing.T) {
	r := rand.New(rand.NewSource(6))
	for range 500 {
		text := func() [][]byte {
			out := make([][]byte, r.Intn(12))
			for i := range out {
				out[i] = []byte{byte('a' + r.Intn(3))}
			}
			return out
		}
		a, b := text(), text()
		match, ok := matchLines(a, b)
		if !ok {
			t.Fatal("gave up")
		}
		n, last := 0, -1
		for i, j := range match {
			if j < 0 {
				continue
			}
			if j <= last || !bytes.Equal(a[i], b[j]) {
				t.Fatalf("%q %q: %v", a, b, match)
			}
			n, last = n+1, j
		}
		common := make([][]int, len(a)+1)
		for i := range common {
			common[i] = make([]int, len(b)+1)
		}
		for i := range a {
			for j := range b {
				if bytes.Equal(a[i], b[j]) {
					common[i+1][j+1] = common[i][j] + 1
				} else {
					common[i+1][j+1] = max(common[i][j+1], common[i+1][j])
				}
			}
		}
		if n != common[len(a)][len(b)] {
			t.Fatalf("%q %q: %d lines match, want %d", a, b, n, common[len(a)][len(b)])
		}
	}
	long := make([][]byte, textEdits+10)
	for i := range long {
		long[i] = []byte{byte(i), byte(i >> 8)}
	}
	if _, ok := matchLines(long, nil); ok {
		t.Error("it did not give up")
	}
}
