package sort

import (
	"bytes"
	"context"
	"hash/maphash"
	"math"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/text/cformat"
)

// line is a line with its first key.
type line struct {
	text []byte
	key  []byte
}

// order compares lines.
type order struct {
	ctx    context.Context
	s      *settings
	seed   maphash.Seed
	calls  int
	gone   bool // ctx has ended: every line equals every other
	a, b   []byte
	simple bool // the whole line, as bytes
}

func newOrder(ctx context.Context, s *settings) *order {
	o := &order{ctx: ctx, s: s, seed: maphash.MakeSeed()}
	o.simple = len(s.keys) == 0
	return o
}

// line finds the first key of a line.
func (o *order) line(text []byte) line {
	if o.simple {
		return line{text: text}
	}
	return line{text: text, key: o.s.keys[0].find(text, o.s.tab)}
}

// checkEvery is how many comparisons pass between looks at the context.
const checkEvery = 1 << 14

// compare orders two lines.
func (o *order) compare(a, b line) int {
	if o.calls++; o.calls%checkEvery == 0 && o.ctx.Err() != nil {
		o.gone = true
	}
	if o.gone {
		return 0
	}
	if !o.simple {
		if d := o.byKeys(a, b); d != 0 {
			return d
		}
		if o.s.stable || o.s.unique {
			return 0
		}
	}
	d := bytes.Compare(a.text, b.text)
	if o.s.global.reverse {
		return -d
	}
	return d
}

func (o *order) byKeys(a, b line) int {
	for i := range o.s.keys {
		k := &o.s.keys[i]
		ka, kb := a.key, b.key
		if i > 0 {
			ka, kb = k.find(a.text, o.s.tab), k.find(b.text, o.s.tab)
		}
		d := o.byKey(k, ka, kb)
		if d == 0 {
			continue
		}
		if k.reverse {
			return -d
		}
		return d
	}
	return 0
}

// byKey orders two keys.
func (o *order) byKey(k *key, a, b []byte) int {
	if k.dictionary || k.printing || k.fold {
		o.a, o.b = k.translate(o.a[:0], a), k.translate(o.b[:0], b)
		a, b = o.a, o.b
	}
	switch k.order {
	case 'n':
		return compareNumbers(a, b)
	case 'g':
		return compareGeneral(a, b)
	case 'h':
		return compareHuman(a, b)
	case 'M':
		return month(a) - month(b)
	case 'V':
		return compareVersions(a, b)
	case 'R':
		return o.compareRandom(a, b)
	}
	return bytes.Compare(a, b)
}

// translate drops what -d or -i ignores and folds case for -f.
func (k *key) translate(out, text []byte) []byte {
	for _, c := range text {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		switch {
		case k.dictionary && !letter && (c < '0' || c > '9') && !isBlank(c):
			continue
		case k.printing && !k.dictionary && (c < ' ' || c > '~'):
			continue
		case k.fold && c >= 'a' && c <= 'z':
			c &^= 0x20
		}
		out = append(out, c)
	}
	return out
}

// compareRandom orders keys by their hashes, so that equal ones stay together.
func (o *order) compareRandom(a, b []byte) int {
	ha, hb := maphash.Bytes(o.seed, a), maphash.Bytes(o.seed, b)
	switch {
	case ha < hb:
		return -1
	case ha > hb:
		return 1
	}
	return bytes.Compare(a, b)
}

// number is the parts of a decimal number at the start of a key.
type number struct {
	negative bool
	whole    []byte // without leading zeros
	frac     []byte // without trailing zeros
	zero     bool
	rest     []byte
}

// parseNumber reads a number as -n does: blanks, a minus, digits with a point.
func parseNumber(s []byte) number {
	var n number
	s = skipBlanks(s)
	if len(s) > 0 && s[0] == '-' {
		n.negative = true
		s = s[1:]
	}
	i := digits(s)
	n.whole, s = bytes.TrimLeft(s[:i], "0"), s[i:]
	if len(s) > 0 && s[0] == '.' {
		i = digits(s[1:])
		n.frac, s = bytes.TrimRight(s[1:1+i], "0"), s[1+i:]
	}
	n.rest = s
	n.zero = len(n.whole) == 0 && len(n.frac) == 0
	if n.zero {
		n.negative = false
	}
	return n
}

func skipBlanks(s []byte) []byte {
	for len(s) > 0 && isBlank(s[0]) {
		s = s[1:]
	}
	return s
}

func digits(s []byte) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// compareNumbers orders keys by the numbers that they start with, of any
// length.
func compareNumbers(a, b []byte) int {
	x, y := parseNumber(a), parseNumber(b)
	return x.compare(&y)
}

func (x *number) compare(y *number) int {
	if x.negative != y.negative {
		if x.negative {
			return -1
		}
		return 1
	}
	d := len(x.whole) - len(y.whole)
	if d == 0 {
		d = bytes.Compare(x.whole, y.whole)
	}
	if d == 0 {
		d = bytes.Compare(x.frac, y.frac)
	}
	if x.negative {
		return -d
	}
	return d
}

// unitOrder is the rank of the suffix of a human number; 0 for none, and for
// what is 0.
func (x *number) unitOrder() int {
	if x.zero {
		return 0
	}
	n := 0
	if len(x.rest) > 0 {
		c := x.rest[0]
		if c == 'k' {
			c = 'K'
		}
		n = strings.IndexByte("KMGTPEZY", c) + 1
	}
	if x.negative {
		return -n
	}
	return n
}

func compareHuman(a, b []byte) int {
	x, y := parseNumber(a), parseNumber(b)
	if d := x.unitOrder() - y.unitOrder(); d != 0 {
		return d
	}
	return x.compare(&y)
}

// general is a floating-point key: what is no number comes before what is not
// a number, and that before all numbers.
func general(s []byte) (v float64, rank int) {
	s = bytes.TrimLeft(s, " \t\n\v\f\r")
	if bytes.ContainsAny(s, "xX") {
		// Hexadecimal, perhaps: rare, and slow.
		x, n := cformat.ParseFloat(string(s))
		if n > 0 && !x.NaN {
			v, _ = x.Float.Float64()
			return v, 2
		}
	}
	n := floatLength(s)
	if n == 0 {
		return 0, 0
	}
	v, err := strconv.ParseFloat(string(s[:n]), 64)
	if err != nil && v == 0 {
		return 0, 2
	}
	if math.IsNaN(v) {
		return 0, 1
	}
	return v, 2
}

// floatLength is the length of the number that s starts with.
func floatLength(s []byte) int {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
	}
	if len(s) >= i+3 {
		switch strings.ToLower(string(s[i : i+3])) {
		case "inf":
			if len(s) >= i+8 && strings.EqualFold(string(s[i:i+8]), "infinity") {
				return i + 8
			}
			return i + 3
		case "nan":
			if i > 0 {
				return 0 // Go reads no sign there
			}
			return i + 3
		}
	}
	whole := digits(s[i:])
	i += whole
	frac := 0
	if i < len(s) && s[i] == '.' {
		frac = digits(s[i+1:])
		if whole+frac > 0 {
			i += 1 + frac
		}
	}
	if whole+frac == 0 {
		return 0
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		e := i + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if n := digits(s[e:]); n > 0 {
			i = e + n
		}
	}
	return i
}

func compareGeneral(a, b []byte) int {
	x, rx := general(a)
	y, ry := general(b)
	switch {
	case rx != ry:
		return rx - ry
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// month returns 1 to 12 for a key that starts with a month's name, else 0.
func month(s []byte) int {
	s = skipBlanks(s)
	if len(s) < 3 {
		return 0
	}
	i := strings.Index("JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC", strings.ToUpper(string(s[:3])))
	if i < 0 || i%3 != 0 {
		return 0
	}
	return i/3 + 1
}

// compareVersions orders names with version numbers in them, as gnulib's
// filevercmp does.
func compareVersions(a, b []byte) int {
	if len(a) == 0 || len(b) == 0 {
		return b2i(len(a) > 0) - b2i(len(b) > 0)
	}
	if d, done := compareDots(a, b); done {
		return d
	}
	pa, pb := prefix(a), prefix(b)
	if pa == len(a) && pb == len(b) {
		return compareRuns(a, b)
	}
	if d := compareRuns(a[:pa], b[:pb]); d != 0 {
		return d
	}
	return compareRuns(a, b)
}

// compareDots orders names of which one at least starts with a dot: "." first,
// then "..", then other hidden ones.
func compareDots(a, b []byte) (d int, done bool) {
	rank := func(s []byte) int {
		switch {
		case string(s) == ".":
			return 0
		case string(s) == "..":
			return 1
		case s[0] == '.':
			return 2
		}
		return 3
	}
	ra, rb := rank(a), rank(b)
	if ra != rb || ra < 2 {
		return ra - rb, true
	}
	return 0, false
}

// prefix returns the length of a name without what looks like suffixes:
// (\.[A-Za-z~][A-Za-z0-9~]*)*$.
func prefix(s []byte) int {
	n := 0
	for i := 0; i < len(s); {
		i++
		n = i
		for i+1 < len(s) && s[i] == '.' && (isLetter(s[i+1]) || s[i+1] == '~') {
			for i += 2; i < len(s) && (isLetter(s[i]) || s[i] == '~' || s[i] >= '0' && s[i] <= '9'); i++ {
			}
		}
	}
	return n
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// versionRank orders characters outside of numbers: ~ before the end, the end
// before letters, letters before others.
func versionRank(s []byte, i int) int {
	if i >= len(s) {
		return -1
	}
	c := s[i]
	switch {
	case c >= '0' && c <= '9':
		return 0
	case isLetter(c):
		return int(c)
	case c == '~':
		return -2
	}
	return int(c) + 256
}

// compareRuns orders strings by runs of digits and of others in turn.
func compareRuns(a, b []byte) int {
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		for i < len(a) && !isDigit(a[i]) || j < len(b) && !isDigit(b[j]) {
			if d := versionRank(a, i) - versionRank(b, j); d != 0 {
				return d
			}
			i++
			j++
		}
		for i < len(a) && a[i] == '0' {
			i++
		}
		for j < len(b) && b[j] == '0' {
			j++
		}
		first := 0
		for i < len(a) && j < len(b) && isDigit(a[i]) && isDigit(b[j]) {
			if first == 0 {
				first = int(a[i]) - int(b[j])
			}
			i++
			j++
		}
		if i < len(a) && isDigit(a[i]) {
			return 1
		}
		if j < len(b) && isDigit(b[j]) {
			return -1
		}
		if first != 0 {
			return first
		}
	}
	return 0
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
