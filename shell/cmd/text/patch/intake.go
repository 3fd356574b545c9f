package patch

import (
	"bytes"
	"strconv"
	"strings"
)

// intake is the text of the patch, as lines with their newlines.
type intake struct {
	lines [][]byte
	next  int // the line to be read next
	// uncounted is how many lines before it say that there is no newline: they
	// have no number.
	uncounted int
	base      int // where the search for the next patch starts
	// partial says that the text does not end in a newline: what follows the
	// last one is left out, and said so once.
	partial bool
	told    bool
	last    []byte // the line that was read last

	indent  int  // columns of blanks before each line of the present patch
	stripCR bool // its lines end in \r\n
}

func newIntake(data []byte) *intake {
	in := &intake{}
	for len(data) > 0 {
		n := bytes.IndexByte(data, '\n') + 1
		if n == 0 {
			in.partial = true
			break
		}
		in.lines = append(in.lines, data[:n:n])
		data = data[n:]
	}
	return in
}

// line reads a line of a patch, without its indentation; nil at the end.
// Comments are left out.
func (p *patcher) line() []byte {
	in := p.in
	for {
		if in.next == len(in.lines) {
			if in.partial && !in.told {
				in.told = true
				p.say("patch unexpectedly ends in middle of line\n")
			}
			return nil
		}
		line := in.lines[in.next]
		in.next++
		column := 0
		for column < in.indent {
			switch line[0] {
			case ' ', 'X':
				column++
				line = line[1:]
				continue
			case '\t':
				column = (column + 8) &^ 7
				line = line[1:]
				continue
			}
			break
		}
		if line[0] == '#' {
			continue
		}
		if in.stripCR && bytes.HasSuffix(line, []byte("\r\n")) {
			line = append(line[:len(line)-2:len(line)-2], '\n')
		}
		in.last = line
		return line
	}
}

// unterminated reports whether the next line says that the one before has no
// newline, and passes it.
func (p *patcher) unterminated() bool {
	in := p.in
	if in.next == len(in.lines) {
		return false
	}
	line := bytes.TrimLeft(in.lines[in.next], " \tX")
	if in.indent == 0 {
		line = in.lines[in.next]
	}
	if line[0] != '\\' {
		return false
	}
	in.next++
	in.uncounted++
	return true
}

// number is that of the line that was read last.
func (in *intake) number() int { return in.next - in.uncounted }

// header is what stands before the hunks of one patch.
type header struct {
	form   form
	names  [3]string // old, new, index; "" for what is not named
	behind [2]string // what follows the names
	stamps [2]int64
	// says tells about the old and the new file: 0 nothing, 1 that it is
	// empty, 2 that it does not exist.
	says   [2]int
	modes  [2]uint32
	hashes [2]string // git's names for the contents
	git    bool
	rename bool
	copy   bool
	start  int // line of the first hunk
	number int // its number for messages
}

// scan finds the next patch. wantHeader says that hunks without a header do not
// count; a form of none says that there is no patch.
func (p *patcher) scan(wantHeader bool) (*header, error) {
	s := scanner{p: p, h: &header{stamps: [2]int64{unset, unset}}, want: p.set.form, needHeader: wantHeader}
	in := p.in
	in.indent, in.stripCR = 0, false
	in.next = in.base
	for {
		at := in.next
		line := p.line()
		if line == nil {
			s.h.start, s.h.number = at, in.number()
			if s.extended {
				s.h.form = formUnified
			}
			return s.h, nil
		}
		s.at = in.next - 1
		if done, err := s.line(line); done || err != nil {
			return s.h, err
		}
	}
}

// scanner is the state of a search for a header.
type scanner struct {
	p          *patcher
	h          *header
	want       form
	needHeader bool
	extended   bool // there were headers of git, which need no hunks
	at         int  // the present line
	indent     int
	stars      bool // the last line was all stars
	command    bool // the last line was a command of a normal diff
	stripCR    bool // the header's lines end in \r\n
}

// found ends the search: the first hunk starts at a line.
func (s *scanner) found(f form, start int) {
	s.h.form, s.h.start, s.h.number = f, start, start+1-s.p.in.uncounted
	s.p.in.indent, s.p.in.stripCR = s.indent, s.stripCR
}

// accepts tells whether a form is looked for.
func (s *scanner) accepts(f form) bool { return s.want == formNone || s.want == f }

// line looks at a line; done says that it ends the search.
func (s *scanner) line(line []byte) (done bool, err error) {
	s.indent = 0
	crlf := bytes.HasSuffix(line, []byte("\r\n")) && !s.p.set.binary
	text := string(line)
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t' || text[0] == 'X') {
		if text[0] == '\t' {
			s.indent = (s.indent + 8) &^ 7
		} else {
			s.indent++
		}
		text = text[1:]
	}
	command, stars := isNormalCommand(text), strings.HasPrefix(text, "********")
	defer func() { s.command, s.stars = command, stars }()
	if done := s.headerLine(text, crlf); done {
		return true, nil
	}
	if s.needHeader {
		return false, nil
	}
	switch {
	case s.accepts(formUnified) && strings.HasPrefix(text, "@@ -"):
		s.unified(text[len("@@ -"):])
		return true, nil
	case (s.accepts(formContext) || s.want == formNewContext) && s.stars && strings.HasPrefix(text, "*** "):
		s.stripCR = crlf
		return true, s.context(text[len("*** "):])
	case s.accepts(formNormal) && s.command && (strings.HasPrefix(text, "< ") || strings.HasPrefix(text, "> ")):
		s.found(formNormal, s.at-1)
		return true, nil
	}
	return false, nil
}

// headerLine takes in a line that tells about the files.
func (s *scanner) headerLine(text string, crlf bool) (done bool) {
	h := s.h
	named := func(i int, rest string, spaces byte) {
		name, behind, stamp := s.p.fetchName(rest, spaces)
		h.names[i] = name
		if i != indexName {
			h.behind[i], h.stamps[i] = behind, stamp
		}
		s.needHeader = false
	}
	// The lines of a unified diff have the files the other way round; they are
	// exchanged when it turns out to be one.
	switch {
	case !s.stars && strings.HasPrefix(text, "*** "):
		named(oldName, text[4:], '\t')
	case strings.HasPrefix(text, "+++ "):
		named(oldName, text[4:], '\t')
		s.stripCR = crlf
	case strings.HasPrefix(text, "Index:"):
		named(indexName, text[6:], '\n')
		s.stripCR = crlf
	case strings.HasPrefix(text, "diff --git "):
		if s.extended {
			s.found(formUnified, s.at)
			return true
		}
		s.gitLine(text[len("diff --git "):])
	case h.git && s.gitHeader(strings.TrimRight(text, "\r\n")):
		s.extended = true
	case h.git && strings.HasPrefix(text, "GIT binary patch"):
		s.found(formGitBinary, s.at)
		return true
	case strings.HasPrefix(text, "--- "):
		named(newName, text[4:], '\t')
		s.stripCR = crlf
	}
	return false
}

func (s *scanner) gitLine(rest string) {
	h := s.h
	h.git, s.needHeader = true, false
	h.names[oldName], h.names[newName] = "", ""
	a, rest, ok := gitName(rest, s.p.set.strip)
	if !ok || rest == "" || !space(rest[0]) {
		return
	}
	b, rest, ok := gitName(rest, s.p.set.strip)
	if ok && strings.TrimSpace(rest) == "" {
		h.names[oldName], h.names[newName] = a, b
	}
}

// gitHeader takes in one of the headers that only git writes.
func (s *scanner) gitHeader(text string) bool {
	h := s.h
	mode := func(rest string) uint32 {
		v, err := strconv.ParseUint(strings.TrimSpace(rest), 8, 32)
		if err != nil {
			return 0
		}
		return uint32(v)
	}
	if rest, ok := strings.CutPrefix(text, "index "); ok {
		return s.hashes(rest, mode)
	}
	for _, k := range [...]struct {
		word string
		note func(rest string)
	}{
		{"old mode ", func(r string) { h.modes[oldName] = mode(r) }},
		{"new mode ", func(r string) { h.modes[newName] = mode(r) }},
		{"deleted file mode ", func(r string) { h.modes[oldName], h.says[newName] = mode(r), 2 }},
		{"new file mode ", func(r string) { h.modes[newName], h.says[oldName] = mode(r), 2 }},
		{"rename from ", func(string) { h.rename = true }},
		{"rename to ", func(string) { h.rename = true }},
		{"copy from ", func(string) { h.copy = true }},
		{"copy to ", func(string) { h.copy = true }},
	} {
		if rest, ok := strings.CutPrefix(text, k.word); ok {
			k.note(rest)
			return true
		}
	}
	return false
}

// emptyHash is how git names a file without contents.
const emptyHash = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"

// hashes reads what follows "index ": the names that git has for the contents.
func (s *scanner) hashes(rest string, mode func(string) uint32) bool {
	h := s.h
	hashes, modes, _ := strings.Cut(rest, " ")
	old, changed, ok := strings.Cut(hashes, "..")
	if !ok || !isHex(old) || !isHex(changed) {
		return false
	}
	h.hashes = [2]string{old, changed}
	for i, hash := range h.hashes {
		switch {
		case strings.Trim(hash, "0") == "":
			h.says[i] = 2
		case strings.HasPrefix(emptyHash, hash):
			h.says[i] = 1
		default:
			h.says[i] = 0
		}
	}
	if modes != "" {
		h.modes[oldName], h.modes[newName] = mode(modes), mode(modes)
	}
	return true
}

func isHex(s string) bool { return s != "" && strings.Trim(s, "0123456789abcdefABCDEF") == "" }

// missing is what a range of no lines says of a file.
func (h *header) missing(i int) int {
	if h.stamps[i] == 0 {
		return 2
	}
	return 1
}

// zero tells whether a range starts at line 0.
func zero(s string) bool { return strings.HasPrefix(s, "0") && (len(s) < 2 || !isDigit(s[1])) }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// unified takes in the first line of a unified diff's hunk, behind "@@ -".
func (s *scanner) unified(text string) {
	h := s.h
	h.names[oldName], h.names[newName] = h.names[newName], h.names[oldName]
	h.behind[0], h.behind[1] = h.behind[1], h.behind[0]
	h.stamps[0], h.stamps[1] = h.stamps[1], h.stamps[0]
	if zero(text) {
		h.says[oldName] = h.missing(oldName)
	}
	if _, rest, ok := strings.Cut(text, " "); ok {
		rest = strings.TrimLeft(rest, " ")
		if strings.HasPrefix(rest, "+") && zero(rest[1:]) {
			h.says[newName] = h.missing(newName)
		}
	}
	s.found(formUnified, s.at)
}

// context takes in the first range of a context diff, behind "*** ".
func (s *scanner) context(text string) error {
	h := s.h
	if zero(text) {
		h.says[oldName] = h.missing(oldName)
	}
	f := formContext
	if strings.HasSuffix(strings.TrimRight(text, "\r\n"), "*") {
		f = formNewContext
	}
	s.found(f, s.at-1)
	// Whether the new file is empty shows only in the hunk.
	in := s.p.in
	defer func(n int) { in.uncounted = n }(in.uncounted)
	in.next = h.start
	k, err := s.p.contextHunk()
	if err != nil {
		return err
	}
	if k != nil && len(k.new) == 0 && k.newFirst == 1 {
		h.says[newName] = h.missing(newName)
	}
	return nil
}

// isNormalCommand tells whether a line is a command of a normal diff: 3,4c5.
func isNormalCommand(s string) bool {
	ranges := func() bool {
		n := 0
		for n < len(s) && (isDigit(s[n]) || n > 0 && s[n] == ',') {
			n++
		}
		s = s[n:]
		return n > 0
	}
	if !ranges() || s == "" || s[0] != 'a' && s[0] != 'c' && s[0] != 'd' {
		return false
	}
	s = s[1:]
	ranges()
	s = strings.TrimLeft(s, " \t")
	return strings.TrimPrefix(s, "\r") == "\n"
}
