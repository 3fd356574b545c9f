package regex

import (
	"bytes"
	"context"
)

// maxSteps is how many steps a search with back-references may take, besides a
// few for each byte of text. It is about a second.
const maxSteps = 50 << 20

// backtracker matches programs with back-references: it tries every way, so
// its time can grow exponentially with the text, and it counts.
type backtracker struct {
	prog  *prog
	any   bool // the first match will do
	steps int
	jobs  []job
	slots []int
	best  []int // the groups of the longest match so far
}

// reset prepares for a search.
func (b *backtracker) reset(p *prog, any bool) {
	b.prog, b.any, b.steps = p, any, 0
	b.slots = b.slots[:0]
	for range p.slots {
		b.slots = append(b.slots, -1)
	}
}

// longest returns where the longest match that begins at start ends, -1 when
// there is none. The groups are in best.
func (b *backtracker) longest(ctx context.Context, text []byte, start int) (int, error) {
	for i := range b.slots {
		b.slots[i] = -1
	}
	end := -1
	b.jobs = append(b.jobs[:0], job{b.prog.start, start})
	for len(b.jobs) > 0 {
		if b.steps++; b.steps%checkEvery == 0 {
			if ctx.Err() != nil {
				return -1, context.Cause(ctx)
			}
			if b.steps > maxSteps+8*len(text) {
				return -1, ErrTooComplex
			}
		}
		j := b.jobs[len(b.jobs)-1]
		b.jobs = b.jobs[:len(b.jobs)-1]
		if j.pc < 0 {
			b.slots[-j.pc-1] = j.pos
			continue
		}
		in := &b.prog.insts[j.pc]
		switch in.op {
		case instMatch:
			if j.pos > end {
				end = j.pos
				b.best = append(b.best[:0], b.slots...)
			}
			if b.any || end == len(text) {
				return end, nil
			}
		case instBytes:
			if j.pos < len(text) {
				if out := in.target(text[j.pos]); out >= 0 {
					b.jobs = append(b.jobs, job{out, j.pos + 1})
				}
			}
		case instBackref:
			if n := b.refer(in, text, j.pos); n >= 0 {
				b.jobs = append(b.jobs, job{in.out, j.pos + n})
			}
		default:
			b.jobs = in.follow(b.prog, text, j.pos, b.slots, b.jobs)
		}
	}
	return end, nil
}

// refer returns how many bytes a back-reference matches at pos, -1 when it does
// not.
func (b *backtracker) refer(in *inst, text []byte, pos int) int {
	from, to := b.slots[2*in.n], b.slots[2*in.n+1]
	if from < 0 || to < from || to-from > len(text)-pos {
		return -1
	}
	want, got := text[from:to], text[pos:pos+to-from]
	if bytes.Equal(want, got) || in.fold && bytes.EqualFold(want, got) {
		return to - from
	}
	return -1
}
