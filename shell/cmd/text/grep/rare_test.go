package grep

import (
	"bytes"
	"math/rand"
	"testing"
)

// TestIndexRare: the answer is that of bytes.Index, whatever the text.
func TestIndexRare(t *testing.T) {
	for seed := range int64(20000) {
		rnd := rand.New(rand.NewSource(seed))
		letters := "abz\n"[:1+rnd.Intn(4)]
		fill := func(n int) []byte {
			b := make([]byte, n)
			for i := range b {
				b[i] = letters[rnd.Intn(len(letters))]
			}
			return b
		}
		text, literal := fill(rnd.Intn(400)), fill(rnd.Intn(8))
		if got, want := indexRare(text, literal, rarest(literal)), bytes.Index(text, literal); got != want {
			t.Fatalf("seed %d: %q in %q: %d, want %d", seed, literal, text, got, want)
		}
	}
	if literal := []byte("needle"); literal[rarest(literal)] != 'l' {
		t.Errorf("the rarest byte of %q is at %d", literal, rarest(literal))
	}
}
