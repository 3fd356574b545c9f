package grep

import (
	"bytes"
	"strings"
)

// common are the bytes of texts, the most frequent first; any other is rarer.
const common = " etaoinshrdlcumfpgwybvkxjqz"

// rarest returns where in a literal the byte is that texts have least of: that
// one is looked for, by the instructions that the processor has for it, and the
// rest of the literal only where it is found.
func rarest(literal []byte) int {
	best, rank := 0, -1
	for i, c := range literal {
		r := strings.IndexByte(common, c)
		if r < 0 {
			r = len(common)
		}
		if r > rank {
			best, rank = i, r
		}
	}
	return best
}

// patience is how many times the byte may be found in vain, before every 64
// bytes that were passed are worth another time.
const patience = 16

// indexRare is bytes.Index, where literal[rare] is the rare byte. A text that has
// many of those after all is left to bytes.Index.
func indexRare(text, literal []byte, rare int) int {
	if len(literal) == 0 {
		return 0
	}
	vain := 0
	for at := rare; at < len(text); {
		n := bytes.IndexByte(text[at:], literal[rare])
		if n < 0 {
			return -1
		}
		at += n
		if start := at - rare; bytes.HasPrefix(text[start:], literal) {
			return start
		}
		at++
		if vain++; vain > patience+at/64 {
			start := at - rare
			if n := bytes.Index(text[start:], literal); n >= 0 {
				return start + n
			}
			return -1
		}
	}
	return -1
}
