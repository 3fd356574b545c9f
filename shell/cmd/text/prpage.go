package text

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

// Lines of a page above and below the text.
const (
	prAbove = 5
	prBelow = 5
)

func unixNano(ns int64) time.Time { return time.Unix(0, ns) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// pager lays text out on pages.
type pager struct {
	c    *command.Context
	s    *prSettings
	when string
	name string

	body        int // lines of text on a page
	column      int // width of a column
	numberWidth int
	starts      []int // where the columns start
	number      int64 // of the next line
	page        int
	count       int // pages that had something

	// The line being written.
	at     int  // columns that are written
	spaces int  // blanks that are due, and may become tabs
	seps   int  // separators that are due
	feed   bool // a form feed is to end the page
}

// layout computes the widths; files is how many were named.
func (g *pager) layout(files int) bool {
	s := g.s
	g.number = s.start
	g.body = s.length - prAbove - prBelow
	if g.body <= 0 {
		s.bare, s.keepFeeds = true, true
	}
	if s.bare {
		g.body = s.length
	}
	if s.double {
		g.body /= 2
	}
	if files == 0 {
		s.parallel = false
	}
	if s.parallel {
		s.columns = files
	}
	if s.columns > 1 {
		switch {
		case !s.useSep && s.join:
			s.sep, s.useSep = "\t", true
		case !s.useSep:
			s.sep, s.useSep = " ", true
		case !s.join && s.sep == "\t":
			s.sep = " "
		}
		s.truncate = true
		s.expand = s.expand || s.sep != "\t"
		s.compress = true
	}
	if s.join {
		s.truncate = false
	}
	inNumber := 0
	if s.numbered {
		g.numberWidth = s.digits + 1
		if s.numberSep == '\t' {
			g.numberWidth = s.digits + 8 - s.digits%8
		}
		if s.parallel {
			inNumber = g.numberWidth
		}
	}
	g.column = (s.width - inNumber - (s.columns-1)*len(s.sep)) / s.columns
	if g.column < 1 {
		g.c.Errorf("page width too narrow")
		return false
	}
	g.place(inNumber)
	return true
}

// place computes where the columns start.
func (g *pager) place(inNumber int) {
	s := g.s
	sep := 0
	if s.useSep {
		sep = len(s.sep)
	}
	start, next := s.margin+sep, s.margin+inNumber+g.column
	for range s.columns {
		g.starts = append(g.starts, start)
		if s.truncate {
			start = next + sep
			next = start + g.column
		} else {
			start = 0
		}
	}
}

// prSource is a file as a source of lines and form feeds.
type prSource struct {
	g     *pager
	file  io.ReadCloser
	lines *lines.Reader
	rest  []byte // of a line that a form feed divided
	held  bool   // rest is to be handed out
	bare  bool   // rest is all of a line that had no newline
	ended bool
	fed   bool // a form feed ended the page
}

func newPrSource(g *pager, r io.ReadCloser) *prSource {
	return &prSource{g: g, file: r, lines: lines.NewReader(r, g.c.Memory)}
}

// next returns the next line of the page; false at a form feed or the end.
func (p *prSource) next() ([]byte, bool, error) {
	if p.ended || p.fed {
		return nil, false, nil
	}
	if !p.held {
		line, newline, err := p.lines.Next()
		if err == io.EOF {
			p.ended = true
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		p.rest, p.bare = line, !newline
	}
	p.held = false
	i := bytes.IndexByte(p.rest, '\f')
	if i < 0 {
		if p.bare && len(p.rest) == 0 {
			p.ended = true
			return nil, false, nil
		}
		return p.rest, true, nil
	}
	line := p.rest[:i]
	p.rest = p.rest[i+1:]
	// A newline right behind a form feed belongs to it.
	p.held = len(p.rest) > 0
	p.fed = true
	if p.g.s.keepFeeds {
		p.g.feed = true
	}
	return line, i > 0, nil
}

// pages prints pages until the sources are empty.
func (g *pager) pages(ctx context.Context, sources []*prSource) error {
	g.page, g.count, g.number = 1, 0, g.s.start
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if g.c.Stdout.Err() != nil || g.page > g.s.last {
			return nil
		}
		more := false
		for _, p := range sources {
			more = more || !p.ended
			p.fed = false
		}
		if !more {
			if g.page < g.s.first {
				g.c.Errorf("starting page number %d exceeds page count %d", g.s.first, g.count+1)
			}
			return nil
		}
		var err error
		switch {
		case g.s.parallel, g.s.columns == 1, g.s.across:
			err = g.across(sources)
		default:
			err = g.down(sources[0])
		}
		if err != nil {
			return err
		}
		g.page++
	}
}

// shown tells whether the present page is one of those asked for.
func (g *pager) shown() bool { return g.page >= g.s.first && g.page <= g.s.last }

// sheet is a page being written.
type sheet struct {
	left    int // lines that fit
	written bool
}

// begin writes the header before the first line of a page.
func (g *pager) begin(sh *sheet) {
	if sh.written {
		return
	}
	sh.written = true
	g.count = g.page
	if g.s.bare || !g.shown() {
		return
	}
	page := "Page " + strconv.Itoa(g.page)
	room := max(0, g.s.width-len(g.when)-len(g.name)-len(page))
	left := room / 2
	if !g.s.compress {
		g.c.Stdout.WriteString(strings.Repeat(" ", g.s.margin))
	}
	fmt.Fprintf(g.c.Stdout, "\n\n%*s%s%*s%s%*s%s\n\n\n", g.s.margin, "", g.when, left, " ", g.name, room-left, " ", page)
}

// end fills up a page.
func (g *pager) end(sh *sheet) {
	fed := g.feed
	g.feed = false
	if !g.shown() || !sh.written {
		return
	}
	switch {
	case !g.s.bare && g.s.formFeed:
		g.c.Stdout.WriteByte('\f')
	case !g.s.bare:
		g.c.Stdout.WriteString(strings.Repeat("\n", sh.left+prBelow))
	case fed:
		g.c.Stdout.WriteByte('\f')
	}
}

// newSheet starts a page.
func (g *pager) newSheet() *sheet {
	n := g.body
	if g.s.double {
		n *= 2
	}
	return &sheet{left: n}
}

// endRow ends a line of the page; last says that no other follows.
func (g *pager) endRow(sh *sheet, last bool) {
	if g.shown() {
		g.c.Stdout.WriteByte('\n')
	}
	sh.left--
	if g.s.double && sh.left > 0 && !(last && g.s.bare) {
		if g.shown() {
			g.c.Stdout.WriteByte('\n')
		}
		sh.left--
	}
}

// startRow forgets the line before.
func (g *pager) startRow() { g.at, g.spaces, g.seps = 0, 0, 0 }

// across prints a page row by row: of several files, or of one.
func (g *pager) across(sources []*prSource) error {
	sh := g.newSheet()
	for sh.left > 0 {
		g.startRow()
		any := false
		fed := false
		var gaps []int // columns before the first that has text
		for i := range g.s.columns {
			p := sources[0]
			if g.s.parallel {
				p = sources[i]
			}
			line, ok, err := p.next()
			if err != nil {
				return err
			}
			fed = fed || p.fed
			if !ok {
				switch {
				case !g.s.parallel:
				case any:
					g.align(i)
				default:
					gaps = append(gaps, i)
				}
				g.seps++
				continue
			}
			if len(gaps) > 0 {
				g.seps = 0
				for _, k := range gaps {
					g.align(k)
					g.seps++
				}
				gaps = nil
			}
			g.begin(sh)
			any = true
			g.cell(i, g.clip(i, line))
			g.seps++
		}
		if any {
			g.endRow(sh, false)
		}
		done := true
		for _, p := range sources {
			done = done && (p.ended || p.fed)
		}
		if fed && !any {
			g.begin(sh)
		}
		if done || !any {
			break
		}
	}
	g.end(sh)
	return nil
}

// align writes the place of a column that has no text.
func (g *pager) align(i int) {
	g.pad(i)
	g.separator()
	if g.numbered(i) {
		g.put(g.lineNumber(nil))
	}
}

func (g *pager) numbered(i int) bool { return g.s.numbered && (!g.s.parallel || i == 0) }

// down prints a page of columns, each read after the other. Those of the last
// page are made equally long.
func (g *pager) down(p *prSource) error {
	sh := g.newSheet()
	var cells [][]byte
	held := int64(0)
	defer func() { g.c.Memory.Shrink(held) }()
	for len(cells) < g.body*g.s.columns {
		line, ok, err := p.next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		cell := g.clip(len(cells)/max(1, g.body), line)
		n := int64(len(cell)) + 24
		if err := g.c.Memory.Grow(n); err != nil {
			return err
		}
		held += n
		cells = append(cells, cell)
	}
	if len(cells) > 0 || p.fed {
		g.begin(sh)
	}
	columns := make([][][]byte, g.s.columns)
	for i, rest := 0, cells; i < g.s.columns; i++ {
		n := len(cells) / g.s.columns
		if i < len(cells)%g.s.columns {
			n++
		}
		columns[i], rest = rest[:n], rest[n:]
	}
	for row := range columns[0] {
		g.startRow()
		for i, column := range columns {
			if row < len(column) {
				g.cell(i, column[row])
			}
			g.seps++
		}
		g.endRow(sh, row == len(columns[0])-1)
	}
	g.end(sh)
	return nil
}

// clip makes the text of a cell: the number, and as much of the line as fits,
// its tabs and control characters spelled out.
func (g *pager) clip(i int, line []byte) []byte {
	var out []byte
	at := 0
	if g.numbered(i) {
		out = g.lineNumber(out)
		if !g.s.parallel {
			at = g.numberWidth
		}
	}
	for _, c := range line {
		clump, width := g.clump(c, at)
		if g.s.truncate && at+width > g.column {
			break
		}
		if at += width; at < 0 {
			at = 0 // nothing to go back over
			continue
		}
		out = append(out, clump...)
	}
	return out
}

// clump is what stands for a byte at a column, and how wide it is.
func (g *pager) clump(c byte, at int) (string, int) {
	s := g.s
	switch {
	case c == '\t', c == s.tabIn && s.expand:
		n := s.tabWidth - at%s.tabWidth
		if s.expand {
			return strings.Repeat(" ", n), n
		}
		return string(c), n
	case c >= ' ' && c < 0x7f:
		return string(rune(c)), 1
	case s.octal, s.hats && c >= 0x80:
		return fmt.Sprintf(`\%03o`, c), 4
	case s.hats:
		return "^" + string(rune(c^0x40)), 2
	case c == '\b':
		return "\b", -1
	}
	return string([]byte{c}), 0
}

// lineNumber appends the number of the next line and its separator.
func (g *pager) lineNumber(out []byte) []byte {
	text := fmt.Sprintf("%*d", g.s.digits, g.number)
	g.number++
	out = append(out, text[len(text)-g.s.digits:]...)
	if g.s.columns > 1 && g.s.numberSep == '\t' {
		return append(out, strings.Repeat(" ", g.numberWidth-g.s.digits)...)
	}
	return append(out, g.s.numberSep)
}

// cell writes the text of column i.
func (g *pager) cell(i int, text []byte) {
	g.pad(i)
	g.separator()
	g.put(text)
}

// pad moves to where the separator before column i is.
func (g *pager) pad(i int) {
	sep := 0
	if g.s.useSep {
		sep = len(g.s.sep)
	}
	to := g.starts[i] - sep
	if to <= 0 {
		return
	}
	if g.s.compress {
		g.spaces = to - g.at
		return
	}
	for ; g.at < to; g.at++ {
		g.out(' ')
	}
}

// separator writes the separators that are due.
func (g *pager) separator() {
	if !g.s.useSep {
		return
	}
	if g.seps <= 0 {
		g.blanks()
		return
	}
	for i := range len(g.s.sep) {
		if g.s.sep[i] == ' ' {
			g.spaces++
			continue
		}
		g.blanks()
		g.out(g.s.sep[i])
		g.at++
	}
	g.blanks()
	g.seps = 0
}

// put writes text, its blanks perhaps as tabs.
func (g *pager) put(text []byte) {
	for _, c := range text {
		if g.s.compress {
			if c == ' ' {
				g.spaces++
				continue
			}
			g.blanks()
		}
		switch {
		case c == '\b':
			g.at--
		case c >= ' ' && c < 0x7f:
			g.at++
		}
		g.out(c)
	}
}

// blanks writes the blanks that are due.
func (g *pager) blanks() {
	to := g.at + g.spaces
	if g.spaces <= 0 {
		return
	}
	w := g.s.outWidth
	for to-g.at > 1 {
		next := g.at + w - g.at%w
		if next > to {
			break
		}
		g.out(g.s.tabOut)
		g.at = next
	}
	for ; g.at < to; g.at++ {
		g.out(' ')
	}
	g.spaces = 0
}

func (g *pager) out(c byte) {
	if g.shown() {
		g.c.Stdout.WriteByte(c)
	}
}
