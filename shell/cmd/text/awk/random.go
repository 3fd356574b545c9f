package awk

// random is the additive feedback generator of BSD's random(3) with its largest
// state: a seed gives the same numbers anywhere, though not those of gawk, which
// shuffles them.
type random struct {
	state [randDegree]int32
	front int
	rear  int
	set   bool
	seed  float64
}

// The polynomial x^63 + x + 1.
const (
	randDegree     = 63
	randSeparation = 1
	randMax        = 0x7fffffff
)

// start seeds the generator.
func (r *random) start(seed uint32) {
	r.set = true
	r.state[0] = int32(seed)
	for i := 1; i < randDegree; i++ {
		r.state[i] = goodRandom(r.state[i-1])
	}
	r.front, r.rear = randSeparation, 0
	for range 10 * randDegree {
		r.next()
	}
}

// goodRandom is Park and Miller's generator, 16807 x mod 2^31-1, computed by
// Schrage's method.
func goodRandom(x int32) int32 {
	if x == 0 {
		x = 123459876
	}
	hi, lo := x/127773, x%127773
	x = 16807*lo - 2836*hi
	if x < 0 {
		x += randMax
	}
	return x
}

func (r *random) next() int32 {
	r.state[r.front] += r.state[r.rear]
	n := int32(uint32(r.state[r.front])>>1) & randMax
	r.front = (r.front + 1) % randDegree
	r.rear = (r.rear + 1) % randDegree
	return n
}

// float returns a number in [0, 1), made of two.
func (r *random) float() float64 {
	if !r.set {
		r.start(1)
	}
	for {
		d1, d2 := float64(r.next()), float64(r.next())
		n := 0.5 + (d1/(randMax+1)+d2)/(randMax+1)
		if n -= 0.5; n < 1 {
			return n
		}
	}
}
