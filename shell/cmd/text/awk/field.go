package awk

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vfsd/vfsd/shell/cmd/regex"
)

// maxFields bounds NF.
const maxFields = 1 << 24

// splitMode says what fields are made by.
type splitMode uint8

const (
	byFS splitMode = iota
	byWidths
	byFPAT
)

// record is the present record. It is kept as text, as fields or as both.
type record struct {
	text   string // valid unless stale
	stale  bool   // fields changed: text must be built anew
	fields []value
	isnum  value // the whole record, settled
	ready  bool  // fields are those of text
	mode   splitMode
	splits splitter
	widths []width
	fpat   *regex.Regexp
}

// splitter splits by FS, or by what split() was given.
type splitter struct {
	kind  splitKind
	char  byte
	re    *regex.Regexp
	lines bool // newlines separate too: RS is ""
}

type splitKind uint8

const (
	splitBlank splitKind = iota // at runs of blanks
	splitChar                   // at each char
	splitEach                   // every character is a field
	splitRegex
)

// width is a field of fixed width, after some that is skipped.
type width struct{ skip, n int }

// newSplitter makes the splitter of FS.
func (in *interp) newSplitter(fs string) splitter {
	switch {
	case fs == " ":
		return splitter{}
	case fs == "":
		return splitter{kind: splitEach}
	case len(fs) == 1 && (!in.ignoring || !isLetter(fs[0])):
		return splitter{kind: splitChar, char: fs[0]}
	case len(fs) == 1:
		return splitter{kind: splitRegex, re: in.compile("[" + fs + "]")}
	}
	return splitter{kind: splitRegex, re: in.compile(fs)}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// setRecord makes text the record; it is split when a field is asked for.
func (r *record) setRecord(text string) {
	r.text, r.stale, r.ready = text, false, false
	r.isnum = input(text)
}

// line is $0 as a string.
func (in *interp) line() string {
	r := &in.record
	if r.stale {
		ofs := in.special[vOFS].string(in.convfmt())
		n := len(ofs) * len(r.fields)
		parts := make([]string, len(r.fields))
		for i := range r.fields {
			parts[i] = r.fields[i].string(in.convfmt())
			n += len(parts[i])
		}
		in.checkSize(n)
		r.text, r.stale = strings.Join(parts, ofs), false
		r.isnum = input(r.text)
	}
	return r.text
}

// split makes the fields of the record.
func (in *interp) split() {
	r := &in.record
	if r.ready {
		return
	}
	r.ready = true
	r.fields = r.fields[:0]
	add := func(s string) { r.fields = append(r.fields, input(s)) }
	switch r.mode {
	case byWidths:
		in.splitWidths(r.text, add)
	case byFPAT:
		in.splitPattern(r.text, r.fpat, add, nil)
	default:
		s := r.splits
		s.lines = in.special[vRS].str == "" && in.special[vRS].kind != kUnset
		in.splitText(r.text, &s, add, nil)
	}
}

// splitText splits s; add takes the fields, sep what is between them.
func (in *interp) splitText(s string, by *splitter, add, sep func(string)) {
	switch by.kind {
	case splitBlank:
		splitBlanks(s, add, sep)
	case splitEach:
		in.splitChars(s, add, sep)
	case splitChar:
		if s == "" {
			return
		}
		for {
			i := strings.IndexByte(s, by.char)
			if by.lines {
				if j := strings.IndexByte(s, '\n'); j >= 0 && (i < 0 || j < i) {
					i = j
				}
			}
			if i < 0 {
				add(s)
				return
			}
			add(s[:i])
			if sep != nil {
				sep(s[i : i+1])
			}
			s = s[i+1:]
		}
	default:
		in.splitBy(s, by, add, sep)
	}
}

func isSeparator(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// splitBlanks splits at runs of blanks; those at either end separate nothing.
func splitBlanks(s string, add, sep func(string)) {
	i := 0
	for i < len(s) && isSeparator(s[i]) {
		i++
	}
	if sep != nil {
		sep(s[:i])
	}
	for i < len(s) {
		start := i
		for i < len(s) && !isSeparator(s[i]) {
			i++
		}
		add(s[start:i])
		start = i
		for i < len(s) && isSeparator(s[i]) {
			i++
		}
		if sep != nil {
			sep(s[start:i])
		}
	}
}

func (in *interp) splitChars(s string, add, sep func(string)) {
	for first := true; s != ""; first = false {
		n := 1
		if in.utf8 {
			_, n = utf8.DecodeRuneInString(s)
		}
		if !first && sep != nil {
			sep("")
		}
		add(s[:n])
		s = s[n:]
	}
}

// splitBy splits at the matches of an expression that are not empty.
func (in *interp) splitBy(s string, by *splitter, add, sep func(string)) {
	if s == "" {
		return
	}
	b := []byte(s)
	start := 0
	for at := 0; at < len(b); {
		from, to, err := by.re.Find(in.ctx, b, at)
		in.regexDone(err)
		if by.lines {
			if j := bytes.IndexByte(b[at:], '\n'); j >= 0 && (from < 0 || at+j < from) {
				from, to = at+j, at+j+1
			}
		}
		if from < 0 {
			break
		}
		if from == to {
			at = to + 1
			continue
		}
		add(s[start:from])
		if sep != nil {
			sep(s[from:to])
		}
		start, at = to, to
	}
	add(s[start:])
}

// splitPattern makes fields of what matches an expression, as FPAT does.
func (in *interp) splitPattern(s string, re *regex.Regexp, add, sep func(string)) {
	b := []byte(s)
	last := 0
	any := false
	for at := 0; at <= len(b); {
		from, to, err := re.Find(in.ctx, b, at)
		in.regexDone(err)
		if from < 0 {
			break
		}
		if from == to {
			// An empty field counts only where it does not touch another.
			if any && from == last || from == len(b) && from == 0 {
				at = from + 1
				continue
			}
		}
		if sep != nil {
			sep(s[last:from])
		}
		add(s[from:to])
		any = true
		last = to
		at = to
		if from == to {
			at++
		}
	}
	if sep != nil {
		sep(s[last:])
	}
}

func (in *interp) splitWidths(s string, add func(string)) {
	for _, w := range in.widths {
		s = s[in.prefix(s, w.skip):]
		if s == "" {
			return
		}
		n := len(s)
		if w.n >= 0 {
			n = in.prefix(s, w.n)
		}
		add(s[:n])
		s = s[n:]
	}
}

// prefix returns how many bytes the first n characters of s have.
func (in *interp) prefix(s string, n int) int {
	if !in.utf8 {
		return min(n, len(s))
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, k := utf8.DecodeRuneInString(s[i:])
		i += k
	}
	return i
}

// field returns $n.
func (in *interp) field(n int) value {
	if n == 0 {
		in.line()
		in.record.isnum.settle()
		return in.record.isnum
	}
	in.split()
	if n > len(in.fields) {
		return value{}
	}
	f := &in.fields[n-1]
	f.settle()
	return *f
}

// setField assigns to $n.
func (in *interp) setField(n int, v value) {
	if n == 0 {
		in.setRecord(v.string(in.convfmt()))
		return
	}
	in.split()
	in.setNF(max(n, len(in.fields)))
	if v.kind == kUnset {
		v = text("")
	}
	in.fields[n-1] = v
	in.record.stale = true
}

// setNF makes the record have n fields.
func (in *interp) setNF(n int) {
	for len(in.fields) < n {
		in.fields = append(in.fields, input(""))
	}
	in.fields = in.fields[:n]
}

// setSpecial assigns to a special variable.
func (in *interp) setSpecial(index int, v value) {
	switch index {
	case vNF:
		n := v.float()
		if n < 0 {
			in.fatal("NF set to negative value")
		}
		if n > maxFields {
			in.fatal("NF set to too large a value")
		}
		in.split()
		in.setNF(int(n))
		in.record.stale = true
		return
	case vNR:
		in.nr = v.float()
		return
	case vFNR:
		in.fnr = v.float()
		return
	}
	in.special[index].value = v
	s := v.string("%.6g")
	switch index {
	case vFS:
		in.finishRecord()
		in.mode, in.splits = byFS, in.newSplitter(s)
	case vFIELDWIDTHS:
		in.finishRecord()
		in.mode, in.widths = byWidths, in.parseWidths(s)
	case vFPAT:
		in.finishRecord()
		in.mode, in.fpat = byFPAT, in.compile(s)
	case vIGNORECASE:
		in.ignoring = v.bool()
		in.finishRecord()
		in.splits = in.newSplitter(in.special[vFS].string("%.6g"))
	case vCONVFMT, vOFMT:
		in.special[index].value = text(s)
	}
}

// finishRecord splits the record the way it is to be split, before that
// changes.
func (in *interp) finishRecord() { in.split() }

// parseWidths reads FIELDWIDTHS: numbers, each perhaps with SKIP: before it,
// and * last.
func (in *interp) parseWidths(s string) []width {
	var ws []width
	for _, item := range strings.Fields(s) {
		var w width
		if before, after, ok := strings.Cut(item, ":"); ok {
			n, err := strconv.Atoi(before)
			if err != nil || n < 0 {
				in.fatal("invalid FIELDWIDTHS value, for field %d, near `%s'", len(ws)+1, item)
			}
			w.skip, item = n, after
		}
		if item == "*" {
			w.n = -1
			return append(ws, w)
		}
		n, err := strconv.Atoi(item)
		if err != nil || n <= 0 || n > math.MaxInt32 {
			in.fatal("invalid FIELDWIDTHS value, for field %d, near `%s'", len(ws)+1, item)
		}
		w.n = n
		ws = append(ws, w)
	}
	return ws
}
