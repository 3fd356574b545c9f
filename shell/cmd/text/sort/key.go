package sort

import (
	"math"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// unlimited is the field number of an end that is the line's.
const unlimited = math.MaxInt32

// position is a place in a line, counted from 0.
type position struct {
	field, char int
	// skip passes over blanks before the characters are counted.
	skip bool
}

// key is one key: where it is, and how it is compared.
type key struct {
	start, end position
	skipStart  bool   // -b at the start
	skipEnd    bool   // -b at the end
	order      byte   // 'n', 'g', 'h', 'M', 'R', 'V', or 0: as text
	orders     string // all of them that were given
	dictionary bool
	printing   bool
	fold       bool
	reverse    bool
	given      bool // an ordering option was
}

// set applies an ordering option.
func (k *key) set(option byte, atEnd bool) {
	switch option {
	case 'b':
		if atEnd {
			k.skipEnd = true
		} else {
			k.skipStart = true
		}
	case 'd':
		k.dictionary = true
	case 'f':
		k.fold = true
	case 'i':
		k.printing = true
	case 'r':
		k.reverse = true
	default:
		if k.order != 'R' || option != 'V' {
			k.order = option
		}
		if strings.IndexByte(k.orders, option) < 0 {
			k.orders += string(option)
		}
	}
	k.given = true
}

// plain reports whether no ordering option but -r applies.
func (k *key) plain() bool {
	return k.order == 0 && !k.skipStart && !k.skipEnd && !k.dictionary && !k.printing && !k.fold
}

// inherit takes the global options for a key that has none of its own.
func (k *key) inherit(g *key) {
	if k.given {
		return
	}
	start, end := k.start, k.end
	*k = *g
	k.start, k.end = start, end
}

// conflict returns the options that do not go together, "" when all do.
func (k *key) conflict() string {
	kinds := b2i(k.dictionary || k.printing || strings.ContainsAny(k.orders, "RV"))
	for _, o := range "nghM" {
		kinds += strings.Count(k.orders, string(o))
	}
	if kinds <= 1 {
		return ""
	}
	var all []byte
	for _, o := range "dfghiMnRV" {
		if strings.ContainsRune(k.orders, o) || o == 'd' && k.dictionary || o == 'f' && k.fold || o == 'i' && k.printing && !k.dictionary {
			all = append(all, byte(o))
		}
	}
	return string(all)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// parseKey reads a KEYDEF.
func parseKey(c *command.Context, spec string) (key, error) {
	k := key{end: position{field: unlimited}}
	p := keyParser{c: c, spec: spec, rest: spec}
	n, err := p.number("invalid number at field start")
	if err != nil {
		return k, err
	}
	if n == 0 {
		return k, p.bad("field number is zero")
	}
	k.start.field = n - 1
	if p.take('.') {
		if n, err = p.number("invalid number after '.'"); err != nil {
			return k, err
		}
		if n == 0 {
			return k, p.bad("character offset is zero")
		}
		k.start.char = n - 1
	}
	p.options(&k, false)
	if p.take(',') {
		if n, err = p.number("invalid number after ','"); err != nil {
			return k, err
		}
		if n == 0 {
			return k, p.bad("field number is zero")
		}
		k.end.field = n - 1
		if p.take('.') {
			if k.end.char, err = p.number("invalid number after '.'"); err != nil {
				return k, err
			}
		}
		p.options(&k, true)
	}
	if p.rest != "" {
		return k, p.bad("stray character in field spec")
	}
	return k, nil
}

// keyParser reads the parts of a KEYDEF.
type keyParser struct {
	c          *command.Context
	spec, rest string
}

func (p *keyParser) bad(what string) error {
	p.c.Errorf("%s: invalid field specification %s", what, p.c.Quote(p.spec))
	return errReported
}

func (p *keyParser) take(ch byte) bool {
	if p.rest == "" || p.rest[0] != ch {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *keyParser) number(what string) (int, error) {
	n := 0
	for n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	if n == 0 {
		p.c.Errorf("%s: invalid count at start of %s", what, p.c.Quote(p.rest))
		return 0, errReported
	}
	v, err := strconv.Atoi(p.rest[:n])
	if err != nil {
		v = unlimited
	}
	p.rest = p.rest[n:]
	return min(v, unlimited), nil
}

func (p *keyParser) options(k *key, atEnd bool) {
	for p.rest != "" && strings.IndexByte("bdfgiMhnRrV", p.rest[0]) >= 0 {
		k.set(p.rest[0], atEnd)
		p.rest = p.rest[1:]
	}
}

// fromZero rewrites an obsolete position, F.C counted from 0, for -k.
func fromZero(s string, start bool) (string, bool) {
	number := func() (int, bool) {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		v, err := strconv.Atoi(s[:n])
		s = s[n:]
		return v, err == nil
	}
	field, ok := number()
	if !ok {
		return "", false
	}
	char := 0
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		if char, ok = number(); !ok {
			return "", false
		}
	}
	if strings.Trim(s, "bdfgiMhnRrV") != "" {
		return "", false
	}
	switch {
	case start:
		return strconv.Itoa(field+1) + "." + strconv.Itoa(char+1) + s, true
	case char == 0:
		// The end is before the field: at the end of the one before.
		if field == 0 {
			return "", false
		}
		return strconv.Itoa(field) + s, true
	}
	return strconv.Itoa(field+1) + "." + strconv.Itoa(char) + s, true
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// find returns where a key is in a line; tab is the separator, -1 for blanks.
func (k *key) find(line []byte, tab int) []byte {
	from := skipFields(line, k.start.field, tab, true)
	if k.skipStart {
		for from < len(line) && isBlank(line[from]) {
			from++
		}
	}
	from = min(len(line), from+k.start.char)
	if k.end.field == unlimited {
		return line[from:]
	}
	to := 0
	if k.end.char == 0 {
		to = skipFields(line, k.end.field+1, tab, false)
	} else {
		to = skipFields(line, k.end.field, tab, true)
		if k.skipEnd {
			for to < len(line) && isBlank(line[to]) {
				to++
			}
		}
		to = min(len(line), to+k.end.char)
	}
	return line[from:max(from, to)]
}

// skipFields returns where the n-th field starts, counted from 0, or with
// behind unset where the one before it ends.
func skipFields(line []byte, n, tab int, behind bool) int {
	i := 0
	if tab < 0 {
		for ; n > 0 && i < len(line); n-- {
			for i < len(line) && isBlank(line[i]) {
				i++
			}
			for i < len(line) && !isBlank(line[i]) {
				i++
			}
		}
		return i
	}
	for ; n > 0 && i < len(line); n-- {
		for i < len(line) && line[i] != byte(tab) {
			i++
		}
		if i < len(line) && (n > 1 || behind) {
			i++
		}
	}
	return i
}
