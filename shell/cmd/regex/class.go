package regex

import (
	"sort"
	"sync"
	"unicode"
	"unicode/utf8"
)

// span is the characters from lo to hi, both included.
type span struct{ lo, hi rune }

// class is a set of characters: in normal form, spans sorted and apart. Without
// UTF-8 a character is a byte.
type class []span

// normal sorts and joins the spans.
func (c class) normal() class {
	if len(c) == 0 {
		return c
	}
	sort.Slice(c, func(i, j int) bool { return c[i].lo < c[j].lo })
	out := c[:1]
	for _, s := range c[1:] {
		last := &out[len(out)-1]
		if s.lo <= last.hi+1 {
			last.hi = max(last.hi, s.hi)
			continue
		}
		out = append(out, s)
	}
	return out
}

// The surrogates are no characters.
const (
	surrogateMin = 0xd800
	surrogateMax = 0xdfff
)

// negate returns the characters that a normal class lacks.
func (c class) negate(wide bool) class {
	top := rune(0xff)
	if wide {
		top = utf8.MaxRune
		c = append(append(class(nil), c...), span{surrogateMin, surrogateMax}).normal()
	}
	out := class{}
	next := rune(0)
	for _, s := range c {
		if s.lo > next {
			out = append(out, span{next, s.lo - 1})
		}
		next = s.hi + 1
	}
	if next <= top {
		out = append(out, span{next, top})
	}
	return out
}

// fold adds the other cases of every letter of a normal class.
func (c class) fold(wide bool) class {
	out := append(class(nil), c...)
	for _, s := range c {
		hi := min(s.hi, unicode.MaxRune)
		if !wide {
			hi = min(hi, unicode.MaxASCII)
		}
		for r := s.lo; r <= hi; r++ {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				if wide || f <= unicode.MaxASCII {
					out = append(out, span{f, f})
				}
			}
		}
	}
	return out.normal()
}

// asciiClasses are the classes in the C locale.
var asciiClasses = map[string]class{
	"alpha":  {{'A', 'Z'}, {'a', 'z'}},
	"upper":  {{'A', 'Z'}},
	"lower":  {{'a', 'z'}},
	"digit":  {{'0', '9'}},
	"alnum":  {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}},
	"xdigit": {{'0', '9'}, {'A', 'F'}, {'a', 'f'}},
	"space":  {{'\t', '\r'}, {' ', ' '}},
	"blank":  {{'\t', '\t'}, {' ', ' '}},
	"cntrl":  {{0, 0x1f}, {0x7f, 0x7f}},
	"punct":  {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}},
	"print":  {{' ', '~'}},
	"graph":  {{'!', '~'}},
	"word":   {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}},
}

// beyond lists the characters past ASCII of some tables.
func beyond(tables ...*unicode.RangeTable) class {
	var c class
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			c = append(c, span{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			c = append(c, span{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return c.normal().minus(class{{0, unicode.MaxASCII}})
}

// minus returns the characters of a normal class that are not in another.
func (c class) minus(d class) class {
	return append(c.negate(true), d...).normal().negate(true)
}

// wideSpaces are the C library's spaces beyond ASCII: those that do not join.
var wideSpaces = class{{0x1680, 0x1680}, {0x2000, 0x2006}, {0x2008, 0x200a}, {0x2028, 0x2029}, {0x205f, 0x205f}, {0x3000, 0x3000}}

// wide returns the characters beyond ASCII of the class of that name.
func wide(name string) class {
	switch name {
	case "alpha", "alnum", "word":
		return beyond(unicode.L, unicode.Nd, unicode.Nl, unicode.Other_Alphabetic)
	case "upper":
		return beyond(unicode.Lu, unicode.Lt)
	case "lower":
		return beyond(unicode.Ll, unicode.Other_Lowercase)
	case "space":
		return wideSpaces
	case "blank":
		return wideSpaces.minus(class{{0x2028, 0x2029}})
	case "cntrl":
		return class{{0x80, 0x9f}, {0x2028, 0x2029}}
	case "print":
		return beyond(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs, unicode.Cf, unicode.Co)
	case "graph":
		return wide("print").minus(wideSpaces)
	case "punct":
		return wide("graph").minus(wide("alpha"))
	}
	return nil
}

var (
	wideMu      sync.Mutex
	wideClasses = map[string]class{} // guarded by wideMu
)

// named returns the class of that name in normal form, nil when there is none.
// "word" is \w. The caller must not change it.
func named(name string, utf8 bool) class {
	ascii, ok := asciiClasses[name]
	if !ok || !utf8 {
		return ascii
	}
	wideMu.Lock()
	defer wideMu.Unlock()
	if c, ok := wideClasses[name]; ok {
		return c
	}
	c := append(append(class(nil), ascii...), wide(name)...).normal()
	c = c[:len(c):len(c)] // whoever appends gets a copy
	wideClasses[name] = c
	return c
}

// isWord reports whether the character that starts at text[i] is part of a word.
func isWord(text []byte, i int, wide bool) bool {
	c := text[i]
	if c < utf8.RuneSelf || !wide {
		return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	r, n := utf8.DecodeRune(text[i:])
	return n > 1 && isWordRune(r)
}

// isWordBefore reports whether the character that ends before text[i] is part
// of a word.
func isWordBefore(text []byte, i int, wide bool) bool {
	if c := text[i-1]; c < utf8.RuneSelf || !wide {
		return isWord(text, i-1, wide)
	}
	r, n := utf8.DecodeLastRune(text[:i])
	return n > 1 && isWordRune(r)
}
