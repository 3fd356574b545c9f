package text

import (
	"math/big"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/text/cformat"
)

// longDouble is a number as strtold(3) reads it.
type longDouble struct {
	f   *big.Float // may be infinite
	nan bool
	neg bool // the sign of what is not a number
}

// parseLongDouble reads a number from the start of s, after spaces, and returns
// how much of s it is: 0 when there is none.
func parseLongDouble(s string) (v longDouble, n int) {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r') {
		i++
	}
	start := i
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		v.neg = s[i] == '-'
		i++
	}
	rest := strings.ToLower(s[i:])
	switch {
	case strings.HasPrefix(rest, "inf"):
		v.f = newLong().SetInf(v.neg)
		if strings.HasPrefix(rest, "infinity") {
			return v, i + len("infinity")
		}
		return v, i + len("inf")
	case strings.HasPrefix(rest, "nan"):
		v.nan = true
		return v, i + len("nan")
	}
	end := i + numberLength(rest)
	if end == i {
		return longDouble{}, 0
	}
	f, _, err := newLong().Parse(strings.ToLower(s[start:end]), baseOf(rest))
	if err != nil {
		// The exponent is beyond all bounds: big.Float has said which way.
		if f == nil {
			f = newLong().SetInf(v.neg)
		}
	}
	v.f = f
	return v, end
}

func newLong() *big.Float { return new(big.Float).SetPrec(cformat.LongDouble) }

// baseOf is the base for big.Float.Parse: with 0 it wants the 0x.
func baseOf(lower string) int {
	if strings.HasPrefix(lower, "0x") {
		return 0
	}
	return 10
}

// numberLength returns how long the unsigned number is that s starts with.
func numberLength(s string) int {
	digits, exponent := "0123456789", byte('e')
	i := 0
	if strings.HasPrefix(s, "0x") && len(s) > 2 && (isHex(s[2]) || s[2] == '.' && len(s) > 3 && isHex(s[3])) {
		digits, exponent, i = "0123456789abcdef", 'p', 2
	}
	any := false
	scan := func() {
		for i < len(s) && strings.IndexByte(digits, s[i]) >= 0 {
			i++
			any = true
		}
	}
	scan()
	if i < len(s) && s[i] == '.' {
		i++
		scan()
	}
	if !any {
		return 0
	}
	if i < len(s) && s[i] == exponent {
		j := i + 1
		if j < len(s) && (s[j] == '+' || s[j] == '-') {
			j++
		}
		if k := digitsOf(s[j:]); k > 0 {
			i = j + k
		}
	}
	return i
}
