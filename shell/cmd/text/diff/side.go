package diff

import (
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// gutter is the least space between the columns.
const gutter = 3

// sides is the layout of two columns.
type sides struct {
	half   int // width of a column
	second int // where the second starts
}

// layout computes the columns from the width of the output.
func (p *printer) layout() sides {
	tab := p.s.tabSize
	if p.s.expandTabs {
		tab = 1
	}
	w := p.s.width
	off := w/2 + (tab+gutter)/2 + w&(tab+gutter)&1
	off -= off % tab
	s := sides{half: max(0, min(off-gutter, w-off)), second: off}
	if s.half == 0 {
		s.second = w
	}
	return s
}

// side prints both files next to each other.
func (p *printer) side() {
	s := p.layout()
	i, j := 0, 0
	common := func(to0, to1 int) {
		for ; !p.s.noCommon && !p.s.left && i < to0 && j < to1; i, j = i+1, j+1 {
			p.row(s, p.a.lines[i], ' ', p.b.lines[j])
		}
		// What is left on one side are changes that do not count.
		for ; !p.s.noCommon && !p.s.left && j < to1; j++ {
			p.row(s, nil, ')', p.b.lines[j])
		}
		for ; !p.s.noCommon && i < to0; i++ {
			p.row(s, p.a.lines[i], '(', nil)
		}
		i, j = to0, to1
	}
	for n := range p.script {
		c := &p.script[n]
		if c.ignore {
			continue
		}
		common(c.line0, c.line1)
		both := min(c.deleted, c.inserted)
		for k := range both {
			p.row(s, p.a.lines[i+k], '|', p.b.lines[j+k])
		}
		for k := both; k < c.deleted; k++ {
			p.row(s, p.a.lines[i+k], '<', nil)
		}
		for k := both; k < c.inserted; k++ {
			p.row(s, nil, '>', p.b.lines[j+k])
		}
		i, j = i+c.deleted, j+c.inserted
		if p.c.Stdout.Err() != nil {
			return
		}
	}
	common(len(p.a.lines), len(p.b.lines))
}

func ended(line []byte) bool { return len(line) > 0 && line[len(line)-1] == '\n' }

// row prints one row; either side may be missing.
func (p *printer) row(s sides, left []byte, sep byte, right []byte) {
	out := p.c.Stdout
	column := 0
	newline := false
	if left != nil {
		newline = ended(left)
		column = p.half(left, 0, s.half)
	}
	if sep != ' ' {
		column = p.tabTo(column, (s.half+s.second-1)/2) + 1
		if sep == '|' && newline != ended(right) {
			sep = '\\'
			if newline {
				sep = '/'
			}
		}
		out.WriteByte(sep)
	}
	if right != nil {
		newline = newline || ended(right)
		if right[0] != '\n' {
			column = p.tabTo(column, s.second)
			p.half(right, column, s.half)
		}
	}
	if newline {
		out.WriteByte('\n')
	}
}

// tabTo writes blanks up to a column, with tabs where they fit.
func (p *printer) tabTo(from, to int) int {
	out := p.c.Stdout
	if !p.s.expandTabs {
		for tab := from + p.s.tabSize - from%p.s.tabSize; tab <= to; tab += p.s.tabSize {
			out.WriteByte('\t')
			from = tab
		}
	}
	for ; from < to; from++ {
		out.WriteByte(' ')
	}
	return to
}

// half writes as much of a line as its column holds, and returns how far that
// goes.
func (p *printer) half(line []byte, indent, bound int) int {
	out := p.c.Stdout
	in, written := 0, 0 // columns read, and written
	for i := 0; i < len(line); {
		c := line[i]
		switch c {
		case '\n':
			return written
		case '\t':
			n := p.s.tabSize - in%p.s.tabSize
			if in == written {
				stop := written + n
				if p.s.expandTabs {
					for stop = min(stop, bound); written < stop; written++ {
						out.WriteByte(' ')
					}
				} else if stop < bound {
					written = stop
					out.WriteByte('\t')
				}
			}
			in += n
		case '\r':
			out.WriteByte(c)
			p.tabTo(0, indent)
			in, written = 0, 0
		case '\b':
			if in > 0 {
				in--
				if in < bound {
					if written <= in {
						for ; written < in; written++ {
							out.WriteByte(' ')
						}
					} else {
						written = in
						out.WriteByte(c)
					}
				}
			}
		case '\f', '\v':
			if in < bound {
				out.WriteByte(c)
			}
		default:
			n, width := 1, 1
			if p.utf8 && c >= utf8.RuneSelf {
				r, k := utf8.DecodeRune(line[i:])
				if k > 1 {
					n, width = k, runewidth.RuneWidth(r)
				} else {
					width = 0
				}
			} else if c < ' ' || c >= 0x7f {
				width = 0
			}
			in += width
			if in <= bound {
				written = in
				out.Write(line[i : i+n])
			}
			i += n
			continue
		}
		i++
	}
	return written
}
