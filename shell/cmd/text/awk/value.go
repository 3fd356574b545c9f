package awk

import (
	"math"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/cmd/text/cformat"
)

// kind is the kind of a value.
type kind uint8

const (
	kUnset kind = iota // "" and 0
	kNumber
	kString
	kInput // a string from outside: a number too if it looks like one
	kBoth  // such a string that does: num is the number
	kPlain // such a string that does not
)

// value is a scalar.
type value struct {
	kind kind
	num  float64
	str  string
}

func number(n float64) value { return value{kind: kNumber, num: n} }
func text(s string) value    { return value{kind: kString, str: s} }
func input(s string) value   { return value{kind: kInput, str: s} }

func truth(b bool) value {
	if b {
		return number(1)
	}
	return number(0)
}

// settle decides whether a string from outside looks like a number.
func (v *value) settle() {
	if v.kind != kInput {
		return
	}
	v.kind = kPlain
	s := strings.Trim(v.str, " \t\n\v\f\r")
	if s == "" {
		return
	}
	if c := s[0]; !isDigit(c) && c != '+' && c != '-' && c != '.' {
		return
	}
	if n, used := prefixNumber(s); used == len(s) {
		v.kind, v.num = kBoth, n
	}
}

// float is the value as a number.
func (v *value) float() float64 {
	switch v.kind {
	case kNumber, kBoth:
		return v.num
	case kUnset:
		return 0
	case kInput:
		v.settle()
		if v.kind == kBoth {
			return v.num
		}
	}
	n, _ := prefixNumber(strings.TrimLeft(v.str, " \t\n\v\f\r"))
	return n
}

// isNumeric reports whether comparisons take the value for a number.
func (v *value) isNumeric() bool {
	v.settle()
	return v.kind == kNumber || v.kind == kBoth || v.kind == kUnset
}

// bool is the value as a condition.
func (v *value) bool() bool {
	v.settle()
	switch v.kind {
	case kNumber, kBoth:
		return v.num != 0
	case kUnset:
		return false
	}
	return v.str != ""
}

// string is the value as a string; format is CONVFMT or OFMT.
func (v *value) string(format string) string {
	switch v.kind {
	case kNumber:
		return formatNumber(v.num, format)
	case kUnset:
		return ""
	}
	return v.str
}

// Integers up to here have their exact form in an int64.
const maxInt = 1 << 62

// formatNumber writes a number: integers in full, others by the format.
func formatNumber(n float64, format string) string {
	if n == math.Trunc(n) {
		if n > -maxInt && n < maxInt {
			return strconv.FormatInt(int64(n), 10)
		}
		if !math.IsInf(n, 0) {
			return strconv.FormatFloat(n, 'f', 0, 64)
		}
	}
	if s, special := specialNumber(n); special {
		return s
	}
	if format == "%.6g" {
		spec := cformat.Spec{Verb: 'g', Prec: 6}
		return spec.Float(n)
	}
	return formatWith(format, n)
}

// specialNumber writes infinities and what is no number, with their signs.
func specialNumber(n float64) (string, bool) {
	sign := "+"
	if math.Signbit(n) {
		sign = "-"
	}
	switch {
	case math.IsNaN(n):
		return sign + "nan", true
	case math.IsInf(n, 0):
		return sign + "inf", true
	}
	return "", false
}

// formatWith formats one number by CONVFMT or OFMT.
func formatWith(format string, n float64) string {
	before, rest, ok := strings.Cut(format, "%")
	if !ok {
		return format
	}
	spec, used := cformat.Parse(rest)
	if used == 0 || spec.TooWide() || spec.StarWidth || spec.StarPrec {
		return format
	}
	after := rest[used:]
	switch spec.Verb {
	case 'd', 'i':
		return before + spec.Int(int64(n)) + after
	case 'e', 'f', 'g', 'a', 'E', 'F', 'G', 'A':
		return before + spec.Float(n) + after
	}
	return format
}

// prefixNumber reads the decimal number that s starts with, and returns its
// length: 0 when there is none. With a sign "inf" and "nan" are numbers too.
func prefixNumber(s string) (float64, int) {
	i := 0
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		i++
		if len(s) >= i+3 {
			if n, used := signedSpecial(s, i); used > 0 {
				return n, used
			}
		}
	}
	start := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	whole := i - start
	if whole == i && whole <= 15 && (i == len(s) || s[i] != '.' && s[i]|0x20 != 'e') {
		// The common case, done by hand.
		n := 0
		for _, c := range []byte(s[:i]) {
			n = n*10 + int(c-'0')
		}
		return float64(n), i
	}
	frac := 0
	if i < len(s) && s[i] == '.' {
		frac = leadingDigits(s[i+1:])
		if whole+frac > 0 {
			i += 1 + frac
		}
	}
	if whole+frac == 0 {
		return 0, 0
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		e := i + 1
		if e < len(s) && (s[e] == '+' || s[e] == '-') {
			e++
		}
		if n := leadingDigits(s[e:]); n > 0 {
			i = e + n
		}
	}
	// Out of range is an infinity or 0, which is what is wanted.
	n, _ := strconv.ParseFloat(s[:i], 64)
	return n, i
}

// signedSpecial reads +inf, -nan and the like, where no letter follows.
func signedSpecial(s string, i int) (float64, int) {
	end := i + 3
	if end < len(s) && (isNameStart(s[end]) || isDigit(s[end])) {
		return 0, 0
	}
	sign := 1
	if s[0] == '-' {
		sign = -1
	}
	switch strings.ToLower(s[i:end]) {
	case "inf":
		return math.Inf(sign), end
	case "nan":
		return math.Copysign(math.NaN(), float64(sign)), end
	}
	return 0, 0
}

// compareValues orders two values: as numbers when both are, else as strings.
func compareValues(a, b *value, convfmt string) int {
	if a.isNumeric() && b.isNumeric() {
		x, y := a.float(), b.float()
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		case x == y:
			return 0
		}
		// Something is no number: it is greater than all that are.
		return compareNaN(x, y)
	}
	return strings.Compare(a.string(convfmt), b.string(convfmt))
}

func compareNaN(x, y float64) int {
	switch {
	case math.IsNaN(x) && math.IsNaN(y):
		return 0
	case math.IsNaN(x):
		return 1
	}
	return -1
}
