package rg

import (
	"bytes"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// printer writes what was found.
type printer struct {
	*search
	t       *target
	named   bool  // the heading of the present file is written
	any     bool  // something was written for a file
	began   bool  // the present file has output
	bytes   int64 // written for the present file
	last    int64 // number of the line written last
	kept    []line
	held    int64 // bytes of kept lines on the account
	start0  time.Time
	jsonBeg bool
}

// start begins a file.
func (p *printer) start(t *target) {
	p.t, p.named, p.began, p.bytes, p.last, p.jsonBeg = t, false, false, 0, 0, false
	p.kept = p.kept[:0]
	if p.set.json || p.set.stats {
		p.start0 = p.c.Now()
	}
}

func (p *printer) write(s string) {
	p.bytes += int64(len(s))
	p.c.Stdout.WriteString(s)
}

func (p *printer) raw(b []byte) {
	p.bytes += int64(len(b))
	p.c.Stdout.Write(b)
}

// Colours of the parts of the output.
const (
	reset      = "\x1b[0m"
	nameColor  = reset + "\x1b[35m"
	lineColor  = reset + "\x1b[32m"
	plainColor = reset
	matchColor = reset + "\x1b[1m\x1b[31m"
)

func (p *printer) colored(color, s string) {
	if p.set.color {
		p.write(color + s + reset)
	} else {
		p.write(s)
	}
}

// path writes the name of the file.
func (p *printer) path(name string) {
	if p.set.pathSep != "" {
		name = string(bytes.ReplaceAll([]byte(name), []byte{'/'}, []byte(p.set.pathSep)))
	}
	p.colored(nameColor, name)
}

// listed writes the name of a file that is listed.
func (p *printer) listed(name string) {
	p.path(name)
	if p.set.nullName {
		p.write("\x00")
	} else {
		p.write(p.lineEnd())
	}
}

// lineEnd is the end of lines that are not the input's.
func (p *printer) lineEnd() string {
	switch {
	case p.set.crlf:
		return "\r\n"
	case p.set.nullData && !p.set.files:
		return "\x00"
	}
	return "\n"
}

// count writes how much was found in a file.
func (p *printer) count(t *target, n int64) {
	if p.showName {
		p.path(t.name)
		if p.set.nullName {
			p.write("\x00")
		} else {
			p.write(":")
		}
	}
	p.write(strconv.FormatInt(n, 10) + p.lineEnd())
}

// binary says that a file with matches is binary.
func (p *printer) binary(t *target) {
	if p.showName {
		p.path(t.name)
		p.write(": ")
	}
	what := "binary file matches"
	if !t.operand {
		what = "WARNING: stopped searching binary file after match"
	}
	p.write(fmt.Sprintf("%s (found \"\\0\" byte around offset %d)\n", what, t.nul))
}

// remember keeps a line that may be context of a later one; n of them.
func (p *printer) remember(l line, n int) error {
	size := int64(len(l.text) + len(l.end))
	if err := p.c.Memory.Grow(size); err != nil {
		return err
	}
	p.held += size
	if len(p.kept) >= n {
		drop := int64(len(p.kept[0].text) + len(p.kept[0].end))
		p.c.Memory.Shrink(drop)
		p.held -= drop
		copy(p.kept, p.kept[1:])
		p.kept = p.kept[:len(p.kept)-1]
	}
	l.text, l.end = bytes.Clone(l.text), bytes.Clone(l.end)
	p.kept = append(p.kept, l)
	return nil
}

// begin writes what comes before the first line of a file.
func (p *printer) begin() {
	if p.began {
		return
	}
	p.began = true
	heading := p.set.heading && p.showName && !p.set.vimgrep
	switch {
	case !p.any:
	case heading:
		p.write("\n")
	case p.set.context && (p.set.before > 0 || p.set.after > 0):
		p.separator()
	}
	p.any = true
	if heading {
		p.path(p.t.name)
		p.write("\n")
	}
}

func (p *printer) separator() {
	if p.set.noSeparator {
		return
	}
	s := "--"
	if p.set.separator != nil {
		s = *p.set.separator
	}
	p.write(s + "\n")
}

// gap writes a separator when lines were left out before one.
func (p *printer) gap(number int64) {
	p.begin()
	if p.last > 0 && number > p.last+1 && p.set.context && (p.set.before > 0 || p.set.after > 0) {
		p.separator()
	}
}

// head writes what stands before a line; column counts from 1, 0 for none.
func (p *printer) head(l *line, sep string, column int) {
	if p.showName && (!p.set.heading || p.set.vimgrep) {
		p.path(p.t.name)
		if p.set.nullName {
			p.write("\x00")
		} else {
			p.write(sep)
		}
	}
	if p.set.numbers {
		p.colored(lineColor, strconv.FormatInt(l.number, 10))
		p.write(sep)
	}
	if p.set.columns && column > 0 {
		p.colored(plainColor, strconv.Itoa(column))
		p.write(sep)
	}
	if p.set.offsets {
		p.colored(plainColor, strconv.FormatInt(l.at, 10))
		p.write(sep)
	}
}

// context writes a line that was not asked for itself.
func (p *printer) context(l line) error {
	if p.set.json {
		p.jsonLine("context", l, nil)
		return p.c.Stdout.Err()
	}
	p.gap(l.number)
	p.head(&l, p.set.contextSep, 0)
	p.text(&l, nil, true)
	p.last = l.number
	return p.c.Stdout.Err()
}

// match writes a line that was asked for, and the context that was kept for it.
func (p *printer) match(l line, spans [][]int) error {
	for _, k := range p.kept {
		n := int64(len(k.text) + len(k.end))
		p.c.Memory.Shrink(n)
		p.held -= n
		if err := p.context(k); err != nil {
			return err
		}
	}
	p.kept = p.kept[:0]
	if p.set.json {
		p.jsonLine("match", l, spans)
		return p.c.Stdout.Err()
	}
	p.gap(l.number)
	switch {
	case p.set.only && len(spans) > 0:
		p.onlyMatches(l, spans)
	case p.set.vimgrep && len(spans) > 0:
		for _, loc := range spans {
			p.lines(l, spans, loc[0]+1)
		}
	default:
		column := 0
		if len(spans) > 0 {
			column = spans[0][0] + 1
		}
		p.lines(l, spans, column)
	}
	p.last = l.number + int64(bytes.Count(l.text, []byte{p.eol}))
	return p.c.Stdout.Err()
}

// replaced puts the replacement in the place of the matches.
func (p *printer) replaced(text []byte, spans [][]int) ([]byte, [][]int) {
	if p.set.replace == nil {
		return text, spans
	}
	var out []byte
	var moved [][]int
	at := 0
	for _, loc := range spans {
		out = append(out, text[at:loc[0]]...)
		from := len(out)
		out = p.m.expand(out, *p.set.replace, text, loc)
		moved = append(moved, []int{from, len(out)})
		at = loc[1]
	}
	return append(out, text[at:]...), moved
}

// onlyMatches writes each match as a line of its own.
func (p *printer) onlyMatches(l line, spans [][]int) {
	text, spans := p.replaced(l.text, spans)
	for _, loc := range spans {
		before := text[:loc[0]]
		one := line{text: text[loc[0]:loc[1]], end: []byte{p.eol}, number: l.number + int64(bytes.Count(before, []byte{p.eol})), at: l.at + int64(loc[0])}
		column := loc[0] - bytes.LastIndexByte(before, p.eol)
		for _, part := range splitLine(one, p.eol) {
			p.head(&part, p.set.matchSep, column)
			p.text(&part, [][]int{{0, len(part.text)}}, false)
		}
	}
}

// lines writes lines that belong together; most often it is one.
func (p *printer) lines(l line, spans [][]int, column int) {
	if p.set.replace != nil && len(spans) > 0 {
		l.text, spans = p.replaced(l.text, spans)
		if column > 0 {
			column = spans[0][0] + 1
		}
	}
	if bytes.IndexByte(l.text, p.eol) < 0 {
		p.head(&l, p.set.matchSep, column)
		p.text(&l, spans, false)
		return
	}
	at := 0
	for _, part := range splitLine(l, p.eol) {
		end := at + len(part.text)
		var within [][]int
		for _, loc := range spans {
			if loc[0] < end && loc[1] > at {
				within = append(within, []int{max(loc[0], at) - at, min(loc[1], end) - at})
			}
		}
		p.head(&part, p.set.matchSep, column)
		p.text(&part, within, false)
		at = end + 1
	}
}

// text writes the text of a line, its matches in colour.
func (p *printer) text(l *line, spans [][]int, context bool) {
	text := l.text
	cut := 0
	if p.set.trim {
		cut = len(text) - len(bytes.TrimLeft(text, " \t\n\v\f\r"))
	}
	if p.set.maxColumns > 0 && len(text)+len(l.end) > p.set.maxColumns {
		p.tooLong(text[cut:], spans, context)
		return
	}
	at := cut
	if p.set.color && !context {
		for _, loc := range spans {
			start, end := max(loc[0], at), loc[1]
			if start >= end {
				continue
			}
			p.raw(text[at:start])
			p.write(matchColor)
			p.raw(text[start:end])
			p.write(reset)
			at = end
		}
	}
	p.raw(text[min(at, len(text)):])
	if len(l.end) == 0 {
		p.raw([]byte{p.eol})
	} else {
		p.raw(l.end)
	}
}

// tooLong writes something in place of a line longer than -M allows.
func (p *printer) tooLong(text []byte, spans [][]int, context bool) {
	counted := !context && !p.set.only && len(spans) > 0
	if p.set.preview {
		n := 0
		for range p.set.maxColumns {
			_, k := utf8.DecodeRune(text[n:])
			n += k
		}
		p.raw(text[:n])
		rest := 0
		for _, loc := range spans {
			if loc[0] >= n {
				rest++
			}
		}
		switch {
		case !counted:
			p.write(" [... omitted end of long line]\n")
		case rest == 1:
			p.write(" [... 1 more match]\n")
		default:
			p.write(fmt.Sprintf(" [... %d more matches]\n", rest))
		}
		return
	}
	switch {
	case context:
		p.write("[Omitted long context line]\n")
	case counted:
		p.write(fmt.Sprintf("[Omitted long line with %d matches]\n", len(spans)))
	default:
		p.write("[Omitted long matching line]\n")
	}
}

// printStats writes what --stats asks for.
func (s *search) printStats() {
	elapsed := s.c.Now().Sub(s.begun).Seconds()
	fmt.Fprintf(s.c.Stdout, "\n%d matches\n%d matched lines\n%d files contained matches\n%d files searched\n%d bytes printed\n%d bytes searched\n%.6f seconds spent searching\n%.6f seconds\n", s.matches, s.matchedLines, s.withMatch, s.searched, s.printed, s.bytesSearched, elapsed, elapsed)
}
