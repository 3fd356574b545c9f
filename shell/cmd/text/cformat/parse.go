package cformat

import (
	"math/big"
	"strings"
)

// Value is a number as strtold(3) reads it.
type Value struct {
	// Float is a long double, perhaps infinite.
	Float *big.Float
	NaN   bool
	// Negative is the sign, also of what is not a number.
	Negative bool
}

// ParseFloat reads a number from the start of s, after spaces, and returns
// how much of s it is: 0 when there is none.
func ParseFloat(s string) (v Value, n int) {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] >= '\t' && s[i] <= '\r') {
		i++
	}
	start := i
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		v.Negative = s[i] == '-'
		i++
	}
	rest := strings.ToLower(s[i:])
	switch {
	case strings.HasPrefix(rest, "inf"):
		v.Float = NewFloat().SetInf(v.Negative)
		if strings.HasPrefix(rest, "infinity") {
			return v, i + len("infinity")
		}
		return v, i + len("inf")
	case strings.HasPrefix(rest, "nan"):
		v.NaN = true
		return v, i + len("nan")
	}
	end := i + numberLength(rest)
	if end == i {
		return Value{}, 0
	}
	f, _, err := NewFloat().Parse(strings.ToLower(s[start:end]), baseOf(rest))
	if err != nil {
		// The exponent is beyond all bounds: big.Float has said which way.
		if f == nil {
			f = NewFloat().SetInf(v.Negative)
		}
	}
	v.Float = f
	return v, end
}

// NewFloat returns a long double that is 0.
func NewFloat() *big.Float { return new(big.Float).SetPrec(LongDouble) }

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

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// digitsOf returns how many digits s starts with.
func digitsOf(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
