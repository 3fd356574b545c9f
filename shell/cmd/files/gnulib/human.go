package gnulib

import (
	"math/bits"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

// BlockSize is how sizes are written: what --block-size, -h and --si choose.
type BlockSize struct {
	// Unit is the number of bytes that 1 stands for; ignored when Auto.
	Unit uint64
	// Auto picks the unit by the size, in powers of Base.
	Auto bool
	Base uint64 // 1000 or 1024
	// Suffix writes the unit after the number; B adds "B" or "iB".
	Suffix bool
	B      bool
	Group  bool // digits in groups of three, which the C locale does not do
}

// Human and SI are -h and --si.
var (
	Human = BlockSize{Unit: 1, Auto: true, Base: 1024, Suffix: true}
	SI    = BlockSize{Unit: 1, Auto: true, Base: 1000, Suffix: true}
)

// Plain counts in units of n bytes.
func Plain(n uint64) BlockSize { return BlockSize{Unit: n, Base: 1024} }

// ParseBlockSize reads the argument of --block-size.
func ParseBlockSize(s string) (BlockSize, error) {
	var b BlockSize
	b.Base = 1024
	if strings.HasPrefix(s, "'") {
		b.Group = true
		s = s[1:]
	}
	switch {
	case s != "" && strings.HasPrefix("human-readable", s):
		return Human, nil
	case s != "" && strings.HasPrefix("si", s):
		return SI, nil
	}
	n, err := ParseSize(s, "eEgGkKmMpPtTyYzZ0")
	if err != nil {
		return b, err
	}
	if n == 0 {
		return b, SizeInvalid
	}
	b.Unit = n
	if s[0] < '0' || s[0] > '9' {
		b.Suffix = true
		b.B = strings.HasSuffix(s, "B")
		if b.B && !strings.HasSuffix(s, "iB") {
			b.Base = 1000
		}
	}
	return b, nil
}

// BlockSizeOf is the block size of the environment: the first of the named
// variables, BLOCK_SIZE and BLOCKSIZE that is set, else 1024 bytes, or 512
// where POSIXLY_CORRECT is set.
func BlockSizeOf(env command.Environ, names ...string) BlockSize {
	for _, name := range append(names, "BLOCK_SIZE", "BLOCKSIZE") {
		if v, ok := env.Lookup(name); ok {
			b, err := ParseBlockSize(v)
			if err != nil {
				break
			}
			return b
		}
	}
	if _, ok := env.Lookup("POSIXLY_CORRECT"); ok {
		return Plain(512)
	}
	return Plain(1024)
}

// Format writes n units of from bytes, rounded up.
func (b BlockSize) Format(n, from uint64) string {
	if b.Auto {
		return b.auto(n * from)
	}
	hi, lo := bits.Mul64(n, from)
	q, r := bits.Div64(hi, lo, b.Unit)
	if r > 0 {
		q++
	}
	s := strconv.FormatUint(q, 10)
	if !b.Suffix {
		return s
	}
	power, unit := 0, b.Unit
	for unit > 1 && unit%b.Base == 0 {
		unit /= b.Base
		power++
	}
	return s + b.letters(power)
}

func (b BlockSize) letters(power int) string {
	s := ""
	if power > 0 {
		s = "KMGTPEZY"[power-1 : power]
		if b.Base == 1000 && power == 1 {
			s = "k"
		}
	}
	if b.B {
		if b.Base == 1024 && power > 0 {
			s += "i"
		}
		s += "B"
	}
	return s
}

// auto writes n bytes with the unit that leaves one to three digits: one
// decimal below ten.
func (b BlockSize) auto(n uint64) string {
	if n < b.Base {
		return strconv.FormatUint(n, 10) + b.letters(0)
	}
	power := 0
	var tenths uint64
	inexact := false
	for n >= b.Base && power < 8 {
		r := n%b.Base*10 + tenths
		inexact = inexact || r%b.Base != 0
		n, tenths = n/b.Base, r/b.Base
		power++
	}
	if n < 10 {
		if inexact {
			inexact = false
			if tenths++; tenths == 10 {
				n, tenths = n+1, 0
			}
		}
		if n < 10 {
			return strconv.FormatUint(n, 10) + "." + strconv.FormatUint(tenths, 10) + b.letters(power)
		}
	}
	if inexact || tenths > 0 {
		n++
	}
	if n == b.Base {
		return "1.0" + b.letters(power+1)
	}
	return strconv.FormatUint(n, 10) + b.letters(power)
}
