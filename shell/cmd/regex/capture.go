package regex

import (
	"context"
	"slices"
)

// captures works out the groups of a match whose span is known.
type captures struct {
	visited []uint64
	jobs    []job
	slots   []int
	wide    bool
}

// job is work for a backtracker: go on at pc and pos, or with pc < 0 put pos
// back into slot -pc-1.
type job struct {
	pc  int32
	pos int
}

// maxVisited bounds the bits that remember where a backtracker has been; what
// needs more is done by the slower simulation.
const maxVisited = 64 << 20

// checkEvery is how many steps pass between looks at the context.
const checkEvery = 1 << 12

// run fills loc for the program's match of text from start to end.
func (c *captures) run(ctx context.Context, p *prog, text []byte, start, end int, loc []int) error {
	c.slots = c.slots[:0]
	for range p.slots {
		c.slots = append(c.slots, -1)
	}
	var err error
	if len(p.insts)*(end-start+1) <= maxVisited {
		err = c.backtrack(ctx, p, text, start, end)
	} else {
		err = c.simulate(ctx, p, text, start, end)
	}
	if err == nil {
		copy(loc, c.slots[:len(loc)])
	}
	return err
}

// backtrack looks for the first way, in the order of preference, to match the
// span; it visits no place of the program twice at one place of the text.
func (c *captures) backtrack(ctx context.Context, p *prog, text []byte, start, end int) error {
	width := end - start + 1
	words := (len(p.insts)*width + 63) / 64
	c.visited = slices.Grow(c.visited[:0], words)[:words]
	clear(c.visited)
	c.jobs = append(c.jobs[:0], job{p.start, start})
	for steps := 0; len(c.jobs) > 0; steps++ {
		if steps%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		j := c.jobs[len(c.jobs)-1]
		c.jobs = c.jobs[:len(c.jobs)-1]
		if j.pc < 0 {
			c.slots[-j.pc-1] = j.pos
			continue
		}
		bit := int(j.pc)*width + j.pos - start
		if c.visited[bit/64]&(1<<(bit%64)) != 0 {
			continue
		}
		c.visited[bit/64] |= 1 << (bit % 64)
		in := &p.insts[j.pc]
		switch in.op {
		case instMatch:
			if j.pos == end {
				return nil
			}
		case instBytes:
			if j.pos < end {
				if out := in.target(text[j.pos]); out >= 0 {
					c.jobs = append(c.jobs, job{out, j.pos + 1})
				}
			}
		default:
			c.jobs = in.follow(p, text, j.pos, c.slots, c.jobs)
		}
	}
	// The automaton said that the span matches.
	return ErrTooComplex
}

// follow adds what comes after an instruction that consumes nothing to a
// backtracker's jobs, the preferred one last.
func (in *inst) follow(p *prog, text []byte, pos int, slots []int, jobs []job) []job {
	switch in.op {
	case instSplit:
		return append(jobs, job{in.alt, pos}, job{in.out, pos})
	case instAssert:
		if p.holds(in.assert, text, pos) {
			return append(jobs, job{in.out, pos})
		}
	case instSave, instMark:
		jobs = append(jobs, job{-in.n - 1, slots[in.n]})
		slots[in.n] = pos
		return append(jobs, job{in.out, pos})
	case instProgress:
		if slots[in.n] != pos {
			return append(jobs, job{in.out, pos})
		}
	case instFirst:
		if slots[in.n] != pos {
			return append(jobs, job{in.out, pos})
		}
		if slots[in.n] == slots[in.n+1] {
			return append(jobs, job{in.alt, pos})
		}
	}
	return jobs
}

// holds reports whether the position before text[i] is of that kind.
func (p *prog) holds(kind assert, text []byte, i int) bool {
	a := surroundings{atEnd: i == len(text)}
	switch {
	case i == 0:
		a.before = beforeNothing
	case text[i-1] == '\n':
		a.before = beforeNewline
	case isWordBefore(text, i, p.utf8):
		a.before = beforeWord
	}
	if !a.atEnd {
		a.next = text[i]
		a.nextWord = isWord(text, i, p.utf8)
	}
	return a.holds(kind)
}

// thread is a place in the program together with the positions noted on the
// way there.
type thread struct {
	pc    int32
	slots []int
}

// simulate follows all ways through the span at once, in the order of
// preference: slower than backtrack, in memory that the text's length does not
// touch.
func (c *captures) simulate(ctx context.Context, p *prog, text []byte, start, end int) error {
	seen := make([]int, len(p.insts))
	now := []thread{{p.start, slices.Clone(c.slots)}}
	var next []thread
	for pos := start; ; pos++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		next = next[:0]
		for _, t := range now {
			if done := c.advance(p, text, pos, end, t, seen, pos-start+1, &next); done != nil {
				copy(c.slots, done)
				return nil
			}
		}
		if pos == end || len(next) == 0 {
			return ErrTooComplex
		}
		now, next = next, now
	}
}

// advance takes one thread over position pos; the threads that come of it are
// added to next. It returns the slots of a match at the span's end.
func (c *captures) advance(p *prog, text []byte, pos, end int, t thread, seen []int, mark int, next *[]thread) []int {
	copy(c.slots, t.slots)
	c.jobs = append(c.jobs[:0], job{t.pc, pos})
	for len(c.jobs) > 0 {
		j := c.jobs[len(c.jobs)-1]
		c.jobs = c.jobs[:len(c.jobs)-1]
		if j.pc < 0 {
			c.slots[-j.pc-1] = j.pos
			continue
		}
		if seen[j.pc] == mark {
			continue
		}
		seen[j.pc] = mark
		in := &p.insts[j.pc]
		switch in.op {
		case instMatch:
			if pos == end {
				return c.slots
			}
		case instBytes:
			if pos == end {
				continue
			}
			if out := in.target(text[pos]); out >= 0 {
				*next = append(*next, thread{out, slices.Clone(c.slots)})
			}
		default:
			c.jobs = in.follow(p, text, pos, c.slots, c.jobs)
		}
	}
	return nil
}
