package patch

import (
	"bytes"
	"strconv"
	"strings"
)

// hunkLine is a line of a hunk: its mark is ' ' for context, '-' and '+' for
// what goes and comes, '!' for what is changed (in context diffs).
type hunkLine struct {
	mark byte
	text []byte // with its newline, if it has one
}

// hunk is a run of changes.
type hunk struct {
	// first and newFirst are the lines where the old and the new text start,
	// counted from 1; of a text without lines, where it would.
	first, newFirst int
	old, new        []hunkLine
	prefix, suffix  int // lines of context before and behind
	function        string
}

// swap makes a hunk that undoes this one.
func (h *hunk) swap() {
	h.first, h.newFirst = h.newFirst, h.first
	h.old, h.new = h.new, h.old
	for _, lines := range [][]hunkLine{h.old, h.new} {
		for i := range lines {
			switch lines[i].mark {
			case '+':
				lines[i].mark = '-'
			case '-':
				lines[i].mark = '+'
			}
		}
	}
}

// maxLine bounds line numbers, so that sums of them stay numbers.
const maxLine = 1 << 40

// hunk reads the next hunk of the present patch; nil when there is none.
func (p *patcher) hunk(f form) (*hunk, error) {
	start := p.in.next
	var h *hunk
	var err error
	switch f {
	case formUnified:
		h, err = p.unifiedHunk()
	case formContext, formNewContext:
		h, err = p.contextHunk()
	case formNormal:
		h, err = p.normalHunk()
	}
	if h == nil || err != nil {
		p.in.base = start
		return nil, err
	}
	if p.reverse {
		h.swap()
	}
	return h, nil
}

// malformed is the error for a line that does not belong.
func (p *patcher) malformed() error {
	return fatalf("malformed patch at line %d: %s", p.in.number(), p.in.last)
}

// number reads a line number at the start of s.
func (p *patcher) number(s string) (n int, rest string, err error) {
	i := 0
	for i < len(s) && isDigit(s[i]) {
		if n = n*10 + int(s[i]-'0'); n > maxLine {
			return 0, "", fatalf("line number %s is too large at line %d: %s", s[:i+1], p.in.number(), s)
		}
		i++
	}
	if i == 0 {
		return 0, "", fatalf("missing line number at line %d: %s", p.in.number(), p.in.last)
	}
	return n, s[i:], nil
}

// count reads a line number and, behind a comma, a number of lines.
func (p *patcher) count(s string) (first, n int, rest string, err error) {
	n = 1
	if first, rest, err = p.number(s); err == nil && strings.HasPrefix(rest, ",") {
		n, rest, err = p.number(rest[1:])
	}
	return first, n, rest, err
}

// blankLine is what a patch is taken to have lost at its end.
var blankLine = []byte(" \n")

func (p *patcher) unifiedHunk() (*hunk, error) {
	line := p.line()
	if len(line) <= 8 || !bytes.HasPrefix(line, []byte("@@ -")) {
		return nil, nil
	}
	h := &hunk{}
	s := string(line)
	var olds, news int
	var err error
	if h.first, olds, s, err = p.count(s[len("@@ -"):]); err != nil {
		return nil, err
	}
	s = strings.TrimPrefix(s, " ")
	if !strings.HasPrefix(s, "+") {
		return nil, p.malformed()
	}
	if h.newFirst, news, s, err = p.count(s[1:]); err != nil {
		return nil, err
	}
	s = strings.TrimPrefix(s, " ")
	if !strings.HasPrefix(s, "@") {
		return nil, p.malformed()
	}
	if rest, ok := strings.CutPrefix(s, "@@ "); ok {
		h.function = " " + strings.TrimRight(rest, "\r\n")
	}
	if olds == 0 {
		h.first++
	}
	if news == 0 {
		h.newFirst++
	}
	if err := p.unifiedLines(h, olds, news); err != nil {
		return nil, err
	}
	return h, nil
}

// unifiedLines reads the lines of a hunk.
func (p *patcher) unifiedLines(h *hunk, olds, news int) error {
	h.prefix = -1
	for len(h.old) < olds || len(h.new) < news {
		line := p.line()
		if line == nil {
			if news-len(h.new) >= 3 {
				return fatalf("unexpected end of file in patch")
			}
			line = blankLine
			p.in.last = line
		}
		mark, text := line[0], line[1:]
		if mark == '\t' || mark == '\n' {
			mark, text = ' ', line // the blank got lost
		}
		switch mark {
		case '-', '+', ' ', '=':
		default:
			return p.malformed()
		}
		if mark != '+' && len(h.old) == olds || mark != '-' && len(h.new) == news {
			return p.malformed()
		}
		if p.unterminated() {
			text = bytes.TrimSuffix(text, []byte{'\n'})
		}
		if mark == '=' {
			mark = ' '
		}
		if mark != '+' {
			h.old = append(h.old, hunkLine{mark, text})
		}
		if mark != '-' {
			h.new = append(h.new, hunkLine{mark, text})
		}
		if mark == ' ' {
			h.suffix++
			continue
		}
		if h.prefix < 0 {
			h.prefix = h.suffix
		}
		h.suffix = 0
	}
	if h.prefix < 0 {
		return p.malformed()
	}
	return nil
}

// normalHunk reads a change of a normal diff.
func (p *patcher) normalHunk() (*hunk, error) {
	line := p.line()
	if line == nil || !isDigit(line[0]) {
		return nil, nil
	}
	s := strings.TrimRight(string(line), "\r\n")
	span := func() (first, last int, err error) {
		if first, s, err = p.number(s); err != nil {
			return 0, 0, err
		}
		last = first
		if rest, ok := strings.CutPrefix(s, ","); ok {
			last, s, err = p.number(rest)
		}
		return first, last, err
	}
	first, last, err := span()
	if err != nil {
		return nil, err
	}
	letter := byte(0)
	if s != "" {
		letter, s = s[0], s[1:]
	}
	newFirst, newLast, err := span()
	if err != nil || strings.IndexByte("acd", letter) < 0 || letter == 0 || last < first || newLast < newFirst {
		return nil, p.malformed()
	}
	h := &hunk{first: first, newFirst: newFirst}
	olds, news := last-first+1, newLast-newFirst+1
	switch letter {
	case 'a':
		h.first, olds = first+1, 0
	case 'd':
		h.newFirst, news = newFirst+1, 0
	}
	if h.old, err = p.normalLines('<', '-', olds); err != nil {
		return nil, err
	}
	if letter == 'c' {
		line := p.line()
		if line == nil {
			return nil, fatalf("unexpected end of file in patch at line %d", p.in.number())
		}
		if line[0] != '-' {
			return nil, fatalf("'---' expected at line %d of patch", p.in.number())
		}
	}
	h.new, err = p.normalLines('>', '+', news)
	return h, err
}

// normalLines reads n lines that start with a sign.
func (p *patcher) normalLines(sign, mark byte, n int) ([]hunkLine, error) {
	var lines []hunkLine
	for range n {
		line := p.line()
		if line == nil {
			return nil, fatalf("unexpected end of file in patch at line %d", p.in.number())
		}
		if len(line) < 2 || line[0] != sign || !space(line[1]) {
			return nil, fatalf("'%c' followed by space or tab expected at line %d of patch", sign, p.in.number())
		}
		text := line[2:]
		if p.unterminated() {
			text = bytes.TrimSuffix(text, []byte{'\n'})
		}
		lines = append(lines, hunkLine{mark, text})
	}
	return lines, nil
}

// contextHunk reads a hunk of a context diff: first the old lines, then the new
// ones; where a side has no changes its lines may be left out.
func (p *patcher) contextHunk() (*hunk, error) {
	line := p.line()
	if !bytes.HasPrefix(line, []byte("********")) {
		return nil, nil
	}
	h := &hunk{}
	start := p.in.number() + 1
	if f := strings.TrimRight(strings.TrimLeft(string(line), "*"), "\r\n"); f != "" {
		h.function = f
	}
	line = p.line()
	if line == nil {
		return nil, fatalf("unexpected end of file in patch")
	}
	if !bytes.HasPrefix(line, []byte("*** ")) {
		return nil, nil
	}
	var olds, news int
	var err error
	if h.first, olds, err = p.contextRange(line); err != nil {
		return nil, err
	}
	if h.old, err = p.contextLines(olds, "-!"); err != nil {
		return nil, err
	}
	line = p.line()
	if line == nil {
		return nil, fatalf("unexpected end of file in patch")
	}
	if !bytes.HasPrefix(line, []byte("--- ")) {
		return nil, p.malformed()
	}
	if h.newFirst, news, err = p.contextRange(line); err != nil {
		return nil, err
	}
	if h.new, err = p.contextLines(news, "+!"); err != nil {
		return nil, err
	}
	if err := p.complete(h, olds, news); err != nil {
		return nil, err
	}
	if !aligned(h) {
		return nil, fatalf("context mangled in hunk at line %d", start)
	}
	h.prefix, h.suffix = contextOf(h)
	return h, nil
}

// contextRange reads "*** 3,5 ****": the first line and the number of lines.
func (p *patcher) contextRange(line []byte) (first, n int, err error) {
	first, rest, err := p.number(string(line[4:]))
	if err != nil {
		return 0, 0, err
	}
	switch {
	case strings.HasPrefix(rest, ","):
		last, _, err := p.number(rest[1:])
		if err != nil {
			return 0, 0, err
		}
		if last < first {
			return 0, 0, p.malformed()
		}
		return first, last - first + 1, nil
	case first == 0:
		return 1, 0, nil
	}
	return first, 1, nil
}

// contextLines reads up to n lines of one side of a hunk, whose changes have
// one of the marks.
func (p *patcher) contextLines(n int, marks string) ([]hunkLine, error) {
	var lines []hunkLine
	for len(lines) < n {
		at := p.in.next
		line := p.line()
		if line == nil {
			if len(lines) == 0 || n-len(lines) >= 3 {
				break
			}
			line = blankLine
			p.in.last = line
		}
		mark, text := line[0], line[1:]
		switch {
		case mark == '\n' || mark == '\t':
			mark, text = ' ', line
		case (mark == ' ' || strings.IndexByte(marks, mark) >= 0) && len(text) > 0 && space(text[0]):
			if text[0] != '\n' {
				text = text[1:]
			}
		default:
			if len(lines) > 0 {
				return nil, p.malformed()
			}
			p.in.next = at
			return nil, nil
		}
		if p.unterminated() {
			text = bytes.TrimSuffix(text, []byte{'\n'})
		}
		lines = append(lines, hunkLine{mark, text})
	}
	return lines, nil
}

// complete fills in the side of a hunk that was left out: it is the context of
// the other.
func (p *patcher) complete(h *hunk, olds, news int) error {
	fill := func(from []hunkLine) []hunkLine {
		var lines []hunkLine
		for _, l := range from {
			if l.mark == ' ' {
				lines = append(lines, l)
			}
		}
		return lines
	}
	switch {
	case len(h.old) == 0 && olds > 0:
		h.old = fill(h.new)
	case len(h.new) == 0 && news > 0:
		h.new = fill(h.old)
	}
	if len(h.old) != olds || len(h.new) != news {
		return fatalf("replacement text or line numbers mangled in hunk at line %d", p.in.number())
	}
	return nil
}

// aligned tells whether both sides of a hunk have the same context.
func aligned(h *hunk) bool {
	i, j := 0, 0
	for {
		for i < len(h.old) && h.old[i].mark != ' ' {
			i++
		}
		for j < len(h.new) && h.new[j].mark != ' ' {
			j++
		}
		if i == len(h.old) || j == len(h.new) {
			return i == len(h.old) && j == len(h.new)
		}
		if !bytes.Equal(h.old[i].text, h.new[j].text) {
			return false
		}
		i++
		j++
	}
}

// contextOf counts the lines of context at both ends of a hunk.
func contextOf(h *hunk) (prefix, suffix int) {
	lead := func(lines []hunkLine) int {
		n := 0
		for n < len(lines) && lines[n].mark == ' ' {
			n++
		}
		return n
	}
	trail := func(lines []hunkLine) int {
		n := 0
		for n < len(lines) && lines[len(lines)-1-n].mark == ' ' {
			n++
		}
		return n
	}
	return min(lead(h.old), lead(h.new)), min(trail(h.old), trail(h.new))
}

// decimal is short for strconv.Itoa.
func decimal(n int) string { return strconv.Itoa(n) }
