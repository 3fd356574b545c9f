package jqlang

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Style is how values are written.
type Style struct {
	Indent int  // spaces a level; 0 writes on one line
	Tab    bool // a tab a level
	Sort   bool // keys in order
	ASCII  bool // \uXXXX for what is not
	Color  bool
}

// Compact writes on one line.
var Compact = Style{}

// Number writes a number as jq does: the shortest digits that read back the
// same.
func Number(f float64) string {
	switch {
	case math.IsNaN(f):
		return "null"
	case math.IsInf(f, 1):
		f = math.MaxFloat64
	case math.IsInf(f, -1):
		f = -math.MaxFloat64
	case f == 0:
		if math.Signbit(f) {
			return "-0"
		}
		return "0"
	}
	mantissa := strconv.FormatFloat(f, 'e', -1, 64)
	sign := ""
	if mantissa[0] == '-' {
		sign, mantissa = "-", mantissa[1:]
	}
	digits, exp, _ := strings.Cut(mantissa, "e")
	digits = strings.Replace(digits, ".", "", 1)
	e, _ := strconv.Atoi(exp)
	point := e + 1 // digits before the point
	switch {
	case point <= -4 || point > len(digits)+15:
		s := sign + digits[:1]
		if len(digits) > 1 {
			s += "." + digits[1:]
		}
		es := strconv.Itoa(e)
		if e < 0 {
			es = es[1:]
		}
		if len(es) < 2 {
			es = "0" + es
		}
		if e < 0 {
			return s + "e-" + es
		}
		return s + "e+" + es
	case point <= 0:
		return sign + "0." + strings.Repeat("0", -point) + digits
	case point >= len(digits):
		return sign + digits + strings.Repeat("0", point-len(digits))
	}
	return sign + digits[:point] + "." + digits[point:]
}

// JSON writes a value on one line.
func JSON(v any) string { return string(Compact.Append(nil, v)) }

// colors of jq 1.6.
const (
	colorNull   = "1;30"
	colorFalse  = "0;39"
	colorTrue   = "0;39"
	colorNumber = "0;39"
	colorString = "0;32"
	colorArray  = "1;39"
	colorObject = "1;39"
	colorKey    = "34;1"
)

func (s *Style) on(b []byte, color string) []byte {
	if !s.Color {
		return b
	}
	return append(append(append(b, "\x1b["...), color...), 'm')
}

func (s *Style) off(b []byte) []byte {
	if !s.Color {
		return b
	}
	return append(b, "\x1b[0m"...)
}

// Append appends the text of a value.
func (s *Style) Append(b []byte, v any) []byte { return s.append(b, v, 0) }

func (s *Style) newline(b []byte, depth int) []byte {
	if s.Indent == 0 && !s.Tab {
		return b
	}
	b = append(b, '\n')
	unit, n := byte(' '), s.Indent*depth
	if s.Tab {
		unit, n = '\t', depth
	}
	for range n {
		b = append(b, unit)
	}
	return b
}

func (s *Style) append(b []byte, v any, depth int) []byte {
	plain := func(color, text string) []byte {
		return s.off(append(s.on(b, color), text...))
	}
	switch v := v.(type) {
	case nil:
		return plain(colorNull, "null")
	case bool:
		if v {
			return plain(colorTrue, "true")
		}
		return plain(colorFalse, "false")
	case float64:
		return plain(colorNumber, Number(v))
	case string:
		return s.off(s.quote(s.on(b, colorString), v))
	case []any:
		return s.array(b, v, depth)
	}
	return s.object(b, v.(*Object), depth)
}

func (s *Style) array(b []byte, v []any, depth int) []byte {
	b = append(s.on(b, colorArray), '[')
	if len(v) == 0 {
		return s.off(append(b, ']'))
	}
	for i, e := range v {
		if i > 0 {
			b = append(s.on(b, colorArray), ',')
		}
		b = s.newline(b, depth+1)
		b = s.append(b, e, depth+1)
	}
	b = s.on(b, colorArray)
	b = s.newline(b, depth)
	b = s.on(b, colorArray)
	return s.off(append(b, ']'))
}

func (s *Style) object(b []byte, o *Object, depth int) []byte {
	b = append(s.on(b, colorObject), '{')
	if o.Len() == 0 {
		return s.off(append(b, '}'))
	}
	keys := o.Keys()
	if s.Sort {
		keys = o.Sorted()
	}
	for i, k := range keys {
		if i > 0 {
			b = append(s.on(b, colorObject), ',')
			b = s.newline(b, depth+1)
			b = s.off(b)
		} else {
			b = s.newline(b, depth+1)
			b = s.off(b)
		}
		b = s.off(s.quote(s.on(b, colorKey), k))
		b = append(s.on(b, colorObject), ':')
		if s.Indent > 0 || s.Tab {
			b = append(b, ' ')
		}
		b = s.off(b)
		v, _ := o.Get(k)
		b = s.append(b, v, depth+1)
	}
	b = s.on(b, colorObject)
	b = s.newline(b, depth)
	b = s.on(b, colorObject)
	return s.off(append(b, '}'))
}

const hexDigits = "0123456789abcdef"

func appendU(b []byte, u uint16) []byte {
	return append(b, '\\', 'u', hexDigits[u>>12], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}

// quote appends a string in quotes. Invalid UTF-8 becomes U+FFFD.
func (s *Style) quote(b []byte, v string) []byte {
	b = append(b, '"')
	for i := 0; i < len(v); {
		c := v[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c >= 8 && c <= 13 && c != 11:
				b = append(b, '\\', "btn?fr"[c-8])
			case c < ' ' || c == 0x7f:
				b = appendU(b, uint16(c))
			default:
				b = append(b, c)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(v[i:])
		i += n
		switch {
		case !s.ASCII:
			b = utf8.AppendRune(b, r)
		case r > 0xffff:
			r -= 0x10000
			b = appendU(appendU(b, uint16(0xd800+r>>10)), uint16(0xdc00+r&0x3ff))
		default:
			b = appendU(b, uint16(r))
		}
	}
	return append(b, '"')
}
