package data

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

// Needle is a word that Text never makes; the trees have it in one file of a
// hundred, for searches to find.
const Needle = "quetzalcoatl"

// New returns a source of randomness for seed. Streams of one seed do not
// overlap.
func New(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// words are what Text is made of, a hundred and ninety-two of them.
var words = makeWords()

func makeWords() [][]byte {
	syllables := strings.Fields("al be co da en fi go hu in jo ka le mo nu or pa qui re so ta um ve wi xe yo za")
	r := New(1, 0)
	out := make([][]byte, 192)
	for i := range out {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteString(syllables[r.IntN(len(syllables))])
		}
		out[i] = []byte(b.String())
	}
	return out
}

// separators follow words, the common ones more often.
var separators = [16]string{
	" ", " ", " ", " ", " ", " ", ".", "(", ")", ", ", " = ", "\n", "\n\t", "\n\t\t", ";\n", " {\n",
}

// Text fills p with lines of words. It compresses to about a half, as source
// code does with a fast compressor.
func Text(r *rand.Rand, p []byte) {
	for len(p) > 0 {
		x := r.Uint64()
		// Three words of a call; the product of two bytes makes the first
		// words of the list frequent, as in any language.
		for range 3 {
			w := words[(x&0xff)*((x>>8)&0xff)*uint64(len(words))>>16]
			n := copy(p, w)
			p = p[n:]
			p = p[copy(p, separators[(x>>16)&15]):]
			x >>= 20
		}
	}
}

// Random fills p with bytes that do not compress.
func Random(r *rand.Rand, p []byte) {
	for len(p) >= 8 {
		binary.LittleEndian.PutUint64(p, r.Uint64())
		p = p[8:]
	}
	if len(p) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], r.Uint64())
		copy(p, last[:])
	}
}

// stripe is how long Mixed stays with one kind of bytes.
const stripe = 64 << 10

// Mixed fills p with text and incompressible bytes in turn, 64 KiB of each, as
// in an archive or a database.
func Mixed(r *rand.Rand, p []byte) {
	for i := 0; len(p) > 0; i++ {
		n := min(stripe, len(p))
		if i%2 == 0 {
			Text(r, p[:n])
		} else {
			Random(r, p[:n])
		}
		p = p[n:]
	}
}
