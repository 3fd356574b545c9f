package vcs

import (
	"bytes"

	"github.com/vfsd/vfsd/shell/cmd/text/diff"
)

// merge3 merges two texts that come from a common one. The labels name the
// sides in the marks of conflicts.
func (r *repo) merge3(base, ours, theirs []byte, labels [2]string) (merged []byte, conflicts int, err error) {
	b, o, t := splitLines(base), splitLines(ours), splitLines(theirs)
	oc, err := diff.Lines(r.ctx, b, o)
	if err != nil {
		return nil, 0, err
	}
	tc, err := diff.Lines(r.ctx, b, t)
	if err != nil {
		return nil, 0, err
	}
	m := &merger{base: b, sides: [2][][]byte{o, t}, changes: [2][]diff.Change{oc, tc}, labels: labels}
	m.run()
	return m.out.Bytes(), m.conflicts, nil
}

// merger walks along the common text and takes each run from the side that
// changed it.
type merger struct {
	base      [][]byte
	sides     [2][][]byte
	changes   [2][]diff.Change
	labels    [2]string
	out       bytes.Buffer
	conflicts int
	at        int    // in base
	shift     [2]int // what to add to a line of base to have that of a side
}

func (m *merger) write(lines [][]byte) {
	for _, l := range lines {
		m.out.Write(l)
	}
}

func (m *merger) run() {
	for len(m.changes[0]) > 0 || len(m.changes[1]) > 0 {
		first := 0
		if len(m.changes[0]) == 0 || len(m.changes[1]) > 0 && m.changes[1][0].Old < m.changes[0][0].Old {
			first = 1
		}
		from := m.changes[first][0].Old
		m.write(m.base[m.at:from])
		to := m.region(from, m.changes[first][0].Old+m.changes[first][0].Deleted)
		m.at = to
	}
	m.write(m.base[m.at:])
}

// region takes all changes that touch a run of base, which grows with them,
// and writes the result. It returns the end of the run.
func (m *merger) region(from, to int) int {
	var taken [2][]diff.Change
	for grown := true; grown; {
		grown = false
		for s := range 2 {
			for len(m.changes[s]) > 0 && (m.changes[s][0].Old < to || m.changes[s][0].Old == to && m.touches(taken, s, from, to)) {
				c := m.changes[s][0]
				m.changes[s] = m.changes[s][1:]
				taken[s] = append(taken[s], c)
				to = max(to, c.Old+c.Deleted)
				grown = true
			}
		}
	}
	var runs [2][][]byte
	for s := range 2 {
		start, shift := from+m.shift[s], 0
		for _, c := range taken[s] {
			shift += c.Inserted - c.Deleted
		}
		runs[s] = m.sides[s][start : to+m.shift[s]+shift]
		m.shift[s] += shift
	}
	switch {
	case len(taken[1]) == 0:
		m.write(runs[0])
	case len(taken[0]) == 0:
		m.write(runs[1])
	default:
		m.conflict(runs[0], runs[1])
	}
	return to
}

// touches says whether a change that starts where the run ends belongs to it.
func (m *merger) touches(taken [2][]diff.Change, s, from, to int) bool {
	return len(taken[0])+len(taken[1]) == 0 || len(taken[1-s]) > 0 && from <= to
}

// conflict writes both runs between marks, but for what they share at their
// ends.
func (m *merger) conflict(a, b [][]byte) {
	head := 0
	for head < len(a) && head < len(b) && bytes.Equal(a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	m.write(a[:head])
	ma, mb := a[head:len(a)-tail], b[head:len(b)-tail]
	if len(ma)+len(mb) > 0 {
		m.conflicts++
		m.out.WriteString("<<<<<<< " + m.labels[0] + "\n")
		m.ended(ma)
		m.out.WriteString("=======\n")
		m.ended(mb)
		m.out.WriteString(">>>>>>> " + m.labels[1] + "\n")
	}
	m.write(a[len(a)-tail:])
}

// ended writes lines and sees that the last has its newline.
func (m *merger) ended(lines [][]byte) {
	m.write(lines)
	if n := len(lines); n > 0 && !bytes.HasSuffix(lines[n-1], []byte("\n")) {
		m.out.WriteByte('\n')
	}
}
