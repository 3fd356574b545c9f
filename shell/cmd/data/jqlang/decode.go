package jqlang

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParseError is what is wrong with a JSON text, in jq's words.
type ParseError string

func (e ParseError) Error() string { return string(e) }

// Decoder reads the JSON texts of a stream, one after the other. It works by
// characters as jq's parser does, so that its messages are the same.
type Decoder struct {
	r       *bufio.Reader
	line    []byte // what is left of the line in hand
	lines   int    // lines taken from the reader, for messages of the evaluator
	row     int
	column  int
	eof     bool
	failed  error
	token   []byte
	state   byte // 0, '"' in a string, '\\' after a backslash
	stack   []*frame
	next    any
	hasNext bool
}

// frame is an array or object under way.
type frame struct {
	array  []any
	object *Object
	key    string
	hasKey bool
}

// maxDepth bounds how deep JSON nests.
const maxDepth = 10000

// NewDecoder returns a Decoder of r.
func NewDecoder(r io.Reader) *Decoder {
	return &Decoder{r: bufio.NewReaderSize(r, 64<<10), row: 1}
}

// Lines is the number of lines read so far.
func (d *Decoder) Lines() int { return d.lines }

// ParseJSON reads a text that holds one value.
func ParseJSON(s string) (any, error) {
	d := NewDecoder(strings.NewReader(s))
	v, err := d.Next()
	if err == io.EOF {
		return nil, ParseError("Expected JSON value")
	}
	if err != nil {
		return nil, err
	}
	if _, err := d.Next(); err != io.EOF {
		if err == nil {
			err = ParseError("Unexpected extra JSON values")
		}
		return nil, err
	}
	return v, nil
}

func (d *Decoder) fail(msg string) error {
	at := ""
	if d.eof {
		at = " at EOF"
	}
	d.failed = ParseError(fmt.Sprintf("%s%s at line %d, column %d", msg, at, d.row, d.column))
	return d.failed
}

// Next returns the next value; io.EOF after the last.
func (d *Decoder) Next() (any, error) {
	if d.failed != nil {
		return nil, d.failed
	}
	for {
		for len(d.line) > 0 {
			c := d.line[0]
			d.line = d.line[1:]
			if c == '\n' {
				d.row++
				d.column = 0
			} else {
				d.column++
			}
			if msg := d.scan(c); msg != "" {
				return nil, d.fail(msg)
			}
			if d.done() {
				return d.take(), nil
			}
		}
		if d.eof {
			return nil, io.EOF
		}
		if err := d.fill(); err != nil {
			return nil, err
		}
		if d.eof {
			if msg := d.finish(); msg != "" {
				return nil, d.fail(msg)
			}
			if d.done() {
				return d.take(), nil
			}
			return nil, io.EOF
		}
	}
}

// fill takes the next line, or a part of a long one.
func (d *Decoder) fill() error {
	line, err := d.r.ReadSlice('\n')
	d.line = line
	switch err {
	case nil:
		d.lines++
	case bufio.ErrBufferFull:
	case io.EOF:
		if len(line) == 0 {
			d.eof = true
		}
	default:
		d.failed = err
		return err
	}
	return nil
}

func (d *Decoder) done() bool { return d.hasNext && len(d.stack) == 0 && d.state == 0 }

func (d *Decoder) take() any {
	v := d.next
	d.next, d.hasNext = nil, false
	return v
}

func (d *Decoder) finish() string {
	if d.state != 0 {
		return "Unfinished string"
	}
	if msg := d.literal(); msg != "" {
		return msg
	}
	if len(d.stack) > 0 {
		return "Unfinished JSON term"
	}
	return ""
}

// scan takes one character.
func (d *Decoder) scan(c byte) string {
	if d.state != 0 {
		if c == '"' && d.state == '"' {
			d.state = 0
			return d.str()
		}
		d.token = append(d.token, c)
		if c == '\\' && d.state == '"' {
			d.state = '\\'
		} else {
			d.state = '"'
		}
		return ""
	}
	switch c {
	case ' ', '\t', '\r', '\n', 0x1e:
		return d.literal()
	case '"':
		if msg := d.literal(); msg != "" {
			return msg
		}
		d.state = '"'
		return ""
	case '[', '{', ':', ',', ']', '}':
		if msg := d.literal(); msg != "" {
			return msg
		}
		return d.structure(c)
	case 0xef, 0xbb, 0xbf: // a byte order mark is skipped
		if d.row == 1 && d.column <= 3 && len(d.token) == 0 && len(d.stack) == 0 && !d.hasNext && d.mark(c) {
			return ""
		}
	}
	d.token = append(d.token, c)
	return ""
}

// mark reports whether c is the byte of a byte order mark that is due.
func (d *Decoder) mark(c byte) bool { return "\xef\xbb\xbf"[d.column-1] == c }

func (d *Decoder) value(v any) string {
	if d.hasNext {
		return "Expected separator between values"
	}
	d.next, d.hasNext = v, true
	return ""
}

// literal ends a number or a word.
func (d *Decoder) literal() string {
	if len(d.token) == 0 {
		return ""
	}
	s := string(d.token)
	d.token = d.token[:0]
	switch s[0] {
	case 't', 'f', 'n':
		switch s {
		case "true":
			return d.value(true)
		case "false":
			return d.value(false)
		case "null":
			return d.value(nil)
		}
		return "Invalid literal"
	}
	f, ok := parseNumber(s)
	if !ok {
		return "Invalid numeric literal"
	}
	return d.value(f)
}

// parseNumber reads a number as strtod(3) would, hexadecimal and infinity left
// out.
func parseNumber(s string) (float64, bool) {
	if s == "NaN" || s == "-NaN" {
		return math.NaN(), true
	}
	if s == "" || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil && !math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

func (d *Decoder) top() *frame {
	if len(d.stack) == 0 {
		return nil
	}
	return d.stack[len(d.stack)-1]
}

func (d *Decoder) structure(c byte) string {
	f := d.top()
	switch c {
	case '[', '{':
		if d.hasNext {
			return "Expected separator between values"
		}
		if len(d.stack) >= maxDepth {
			return "Exceeds depth limit for parsing"
		}
		n := &frame{}
		if c == '{' {
			n.object = NewObject(4)
		}
		d.stack = append(d.stack, n)
	case ':':
		switch {
		case f == nil || !d.hasNext:
			return "Expected string key before ':'"
		case f.object == nil || f.hasKey:
			return "':' not as part of an object"
		}
		key, ok := d.take().(string)
		if !ok {
			return "Object keys must be strings"
		}
		f.key, f.hasKey = key, true
	case ',':
		switch {
		case f == nil || !d.hasNext:
			return "Expected value before ','"
		case f.object == nil:
			f.array = append(f.array, d.take())
		case f.hasKey:
			f.object.Put(f.key, d.take())
			f.hasKey = false
		default:
			return "Objects must consist of key:value pairs"
		}
	case ']':
		return d.closeArray(f)
	case '}':
		return d.closeObject(f)
	}
	return ""
}

func (d *Decoder) closeArray(f *frame) string {
	if f == nil || f.object != nil {
		return "Unmatched ']'"
	}
	if d.hasNext {
		f.array = append(f.array, d.take())
	} else if len(f.array) > 0 {
		return "Expected another array element"
	}
	if f.array == nil {
		f.array = []any{}
	}
	d.stack = d.stack[:len(d.stack)-1]
	return d.value(f.array)
}

func (d *Decoder) closeObject(f *frame) string {
	if f == nil {
		return "Unmatched '}'"
	}
	if d.hasNext {
		if f.object == nil || !f.hasKey {
			return "Objects must consist of key:value pairs"
		}
		f.object.Put(f.key, d.take())
	} else {
		if f.object == nil || f.hasKey {
			return "Unmatched '}'"
		}
		if f.object.Len() > 0 {
			return "Expected another key-value pair"
		}
	}
	d.stack = d.stack[:len(d.stack)-1]
	return d.value(f.object)
}

// str ends a string.
func (d *Decoder) str() string {
	b := d.token
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c < ' ' {
			d.token = d.token[:0]
			return "Invalid string: control characters from U+0000 through U+001F must be escaped"
		}
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		if i >= len(b) {
			return "Expected escape character at end of string"
		}
		if at := strings.IndexByte(`"\/bfnrt`, b[i]); at >= 0 {
			out = append(out, "\"\\/\b\f\n\r\t"[at])
			continue
		}
		if b[i] != 'u' {
			return "Invalid escape"
		}
		r, n, msg := unescape(b[i+1:])
		if msg != "" {
			return msg
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	d.token = d.token[:0]
	s := string(out)
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return d.value(s)
}

// unescape reads XXXX, and \uXXXX after it for the second half of a pair.
func unescape(b []byte) (r rune, n int, msg string) {
	hex := func(b []byte) (rune, bool) {
		if len(b) < 4 {
			return 0, false
		}
		v, err := strconv.ParseUint(string(b[:4]), 16, 32)
		return rune(v), err == nil
	}
	r, ok := hex(b)
	if !ok {
		if len(b) < 4 {
			return 0, 0, "Invalid \\uXXXX escape"
		}
		return 0, 0, "Invalid characters in \\uXXXX escape"
	}
	if r < 0xd800 || r > 0xdfff {
		return r, 4, ""
	}
	if r < 0xdc00 && len(b) >= 10 && b[4] == '\\' && b[5] == 'u' {
		if low, ok := hex(b[6:]); ok && low >= 0xdc00 && low <= 0xdfff {
			return 0x10000 + (r-0xd800)<<10 + (low - 0xdc00), 10, ""
		}
	}
	return 0, 0, "Invalid \\uXXXX\\uXXXX surrogate pair escape"
}
