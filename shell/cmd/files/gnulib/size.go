package gnulib

import (
	"math"
	"math/bits"
	"strings"
	"syscall"
)

// SizeError says what is wrong with a number.
type SizeError int

// What can be wrong with a number.
const (
	SizeInvalid  SizeError = 1 // no number, or something after it
	SizeSuffix   SizeError = 2 // a number with a suffix that is none
	SizeOverflow SizeError = 3 // too large for 64 bits
)

// Error is what the GNU tools say after the number.
func (e SizeError) Error() string {
	switch e {
	case SizeOverflow:
		return "Value too large for defined data type"
	case SizeSuffix:
		return "invalid suffix"
	}
	return "invalid number"
}

// Unwrap gives EOVERFLOW for what is too large.
func (e SizeError) Unwrap() error {
	if e == SizeOverflow {
		return syscall.EOVERFLOW
	}
	return syscall.EINVAL
}

// ParseSize reads an unsigned number with one of the suffixes: letters of
// K, M, G, T, P, E, Z, Y with "iB" (1024) or "B" (1000) after them if
// suffixes has a '0', and b (512), c (1), w (2) if it has those. A suffix may
// stand alone for 1 of it.
func ParseSize(s, suffixes string) (uint64, error) {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	s = strings.TrimPrefix(s, "+")
	var n uint64
	i := 0
	overflow := false
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9'; i++ {
		hi, lo := bits.Mul64(n, 10)
		sum, carry := bits.Add64(lo, uint64(s[i]-'0'), 0)
		n = sum
		if hi != 0 || carry != 0 {
			overflow, n = true, math.MaxUint64
		}
	}
	rest := s[i:]
	if i == 0 {
		if rest == "" || !strings.ContainsRune(suffixes, rune(rest[0])) || rest[0] == '0' {
			return 0, SizeInvalid
		}
		n = 1
	}
	if rest == "" {
		if overflow {
			return n, SizeOverflow
		}
		return n, nil
	}
	mul, ok := Suffix(rest, suffixes)
	if !ok {
		return n, SizeSuffix
	}
	hi, lo := bits.Mul64(n, mul)
	if hi != 0 || overflow || mul == 0 && n != 0 {
		return math.MaxUint64, SizeOverflow
	}
	return lo, nil
}

// Suffix is the factor that a suffix stands for; 0 for one beyond 64 bits.
func Suffix(s, allowed string) (uint64, bool) {
	if s == "" || strings.IndexByte(allowed, s[0]) < 0 {
		return 0, false
	}
	switch s {
	case "b":
		return 512, true
	case "c":
		return 1, true
	case "w":
		return 2, true
	case "B":
		return 1024, true
	}
	power := strings.IndexByte("KMGTPEZY", s[0]&^0x20) + 1
	if power == 0 {
		return 0, false
	}
	base := uint64(1024)
	switch s[1:] {
	case "":
	case "iB":
		if strings.IndexByte(allowed, '0') < 0 {
			return 0, false
		}
	case "B", "D":
		if strings.IndexByte(allowed, '0') < 0 {
			return 0, false
		}
		base = 1000
	default:
		return 0, false
	}
	n := uint64(1)
	for range power {
		hi, lo := bits.Mul64(n, base)
		if hi != 0 {
			return 0, true
		}
		n = lo
	}
	return n, true
}
