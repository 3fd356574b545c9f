package rg

import (
	"bytes"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// decoder makes UTF-8 of what a file has: without an encoding by its byte order
// mark, which it takes away.
type decoder struct {
	src      io.Reader
	encoding string

	started bool
	kind    byte // 0 as it is, 'l' and 'b' UTF-16, '1' Latin 1
	raw     []byte
	out     []byte
	err     error
}

func (d *decoder) Read(b []byte) (int, error) {
	if !d.started {
		d.started = true
		if n, err := d.start(b); n > 0 || err != nil {
			return n, err
		}
	}
	for d.kind != 0 {
		if len(d.out) > 0 {
			n := copy(b, d.out)
			d.out = d.out[n:]
			return n, nil
		}
		if d.err != nil {
			return 0, d.err
		}
		d.more()
	}
	if d.err != nil {
		return 0, d.err
	}
	return d.src.Read(b)
}

// start looks at the first bytes, and returns them in b if they need no
// decoding.
func (d *decoder) start(b []byte) (int, error) {
	switch d.encoding {
	case "none":
		return 0, nil
	case "latin1", "iso-8859-1", "windows-1252":
		d.kind = '1'
		return 0, nil
	case "utf-16le", "utf-16":
		d.kind = 'l'
	case "utf-16be":
		d.kind = 'b'
	}
	n := 0
	for n < 3 && d.err == nil {
		var k int
		k, d.err = d.src.Read(b[n:])
		n += k
	}
	if n == 0 {
		return 0, d.err
	}
	mark := 0
	switch text := b[:n]; {
	case bytes.HasPrefix(text, []byte("\xef\xbb\xbf")):
		d.kind, mark = 0, 3
	case bytes.HasPrefix(text, []byte("\xff\xfe")):
		d.kind, mark = 'l', 2
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		d.kind, mark = 'b', 2
	}
	if d.kind == 0 {
		return copy(b, b[mark:n]), nil
	}
	d.raw = bytes.Clone(b[mark:n])
	return 0, nil
}

// more decodes a piece of the input.
func (d *decoder) more() {
	if len(d.raw) < 4 && d.err == nil {
		piece := make([]byte, 8<<10)
		n, err := d.src.Read(piece)
		d.raw = append(d.raw, piece[:n]...)
		d.err = err
	}
	ended := d.err != nil
	var out []byte
	if d.kind == '1' {
		for _, c := range d.raw {
			out = utf8.AppendRune(out, rune(c))
		}
		d.raw = nil
		d.out = out
		return
	}
	unit := func(i int) rune {
		if d.kind == 'b' {
			return rune(d.raw[i])<<8 | rune(d.raw[i+1])
		}
		return rune(d.raw[i+1])<<8 | rune(d.raw[i])
	}
	i := 0
	for i+1 < len(d.raw) {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			if i+3 >= len(d.raw) && !ended {
				break
			}
			pair := rune(utf8.RuneError)
			if i+3 < len(d.raw) {
				pair = utf16.DecodeRune(r, unit(i+2))
			}
			if pair != utf8.RuneError {
				i += 2
			}
			r = pair
		}
		out = utf8.AppendRune(out, r)
		i += 2
	}
	d.raw = d.raw[i:]
	if ended && len(d.raw) > 0 {
		out = utf8.AppendRune(out, utf8.RuneError)
		d.raw = nil
	}
	d.out = out
}
