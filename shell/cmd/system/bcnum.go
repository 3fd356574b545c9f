package system

import (
	"math/big"
	"strings"
)

// bcNum is a decimal number of bc: n / 10^scale. It is never changed.
type bcNum struct {
	n     *big.Int
	scale int
}

var (
	bcZero = bcNum{new(big.Int), 0}
	bcOne  = bcNum{big.NewInt(1), 0}
	ten    = big.NewInt(10)
)

func bcInt(v int64) bcNum { return bcNum{big.NewInt(v), 0} }

// pow10 is 10^n.
func pow10(n int) *big.Int {
	return new(big.Int).Exp(ten, big.NewInt(int64(n)), nil)
}

// at returns the number with another scale; digits that do not fit are cut.
func (a bcNum) at(scale int) bcNum {
	switch {
	case scale == a.scale:
		return a
	case scale > a.scale:
		return bcNum{new(big.Int).Mul(a.n, pow10(scale-a.scale)), scale}
	}
	return bcNum{new(big.Int).Quo(a.n, pow10(a.scale-scale)), scale}
}

// near returns the number with scale digits, the rest cut, after rounding it a
// few digits further on: so that what is whole but for an error of the last
// digits comes out whole.
func (a bcNum) near(scale int) bcNum {
	guard := scale + 3
	if a.scale <= guard {
		return a.at(scale)
	}
	half := bcNum{big.NewInt(5 * int64(a.n.Sign())), guard + 1}
	return a.add(half).at(guard).at(scale)
}

func (a bcNum) isZero() bool { return a.n.Sign() == 0 }

func (a bcNum) neg() bcNum { return bcNum{new(big.Int).Neg(a.n), a.scale} }

func (a bcNum) add(b bcNum) bcNum {
	s := max(a.scale, b.scale)
	return bcNum{new(big.Int).Add(a.at(s).n, b.at(s).n), s}
}

func (a bcNum) sub(b bcNum) bcNum { return a.add(b.neg()) }

func (a bcNum) cmp(b bcNum) int {
	s := max(a.scale, b.scale)
	return a.at(s).n.Cmp(b.at(s).n)
}

// mul multiplies; the scale is min(a+b, max(scale, a, b)).
func (a bcNum) mul(b bcNum, scale int) bcNum {
	full := bcNum{new(big.Int).Mul(a.n, b.n), a.scale + b.scale}
	return full.at(min(full.scale, max(scale, a.scale, b.scale)))
}

// div divides to scale digits; b is not zero.
func (a bcNum) div(b bcNum, scale int) bcNum {
	num := new(big.Int).Mul(a.n, pow10(scale+b.scale))
	den := new(big.Int).Mul(b.n, pow10(a.scale))
	return bcNum{num.Quo(num, den), scale}
}

// mod is what is left of a division to scale digits.
func (a bcNum) mod(b bcNum, scale int) bcNum {
	q := a.div(b, scale)
	full := bcNum{new(big.Int).Mul(q.n, b.n), q.scale + b.scale}
	rest := a.sub(full)
	return rest.at(max(scale+b.scale, a.scale))
}

// pow raises to a whole power.
func (a bcNum) pow(e int64, scale int) bcNum {
	if e == 0 {
		return bcOne
	}
	n := e
	if n < 0 {
		n = -n
	}
	full := bcNum{new(big.Int).Exp(a.n, big.NewInt(n), nil), a.scale * int(n)}
	if e < 0 {
		return bcOne.div(full, scale)
	}
	return full.at(min(full.scale, max(scale, a.scale)))
}

// sqrt is the square root to max(scale, the number's scale) digits.
func (a bcNum) sqrt(scale int) bcNum {
	s := max(scale, a.scale)
	n := a.at(2 * s).n
	return bcNum{new(big.Int).Sqrt(n), s}
}

// digits counts significant digits, as length() does.
func (a bcNum) digits() int {
	if a.n.Sign() == 0 {
		return max(a.scale, 1)
	}
	return max(len(new(big.Int).Abs(a.n).String()), a.scale)
}

// text writes the number in a base.
func (a bcNum) text(base int) string {
	neg := a.n.Sign() < 0
	abs := new(big.Int).Abs(a.n)
	var b strings.Builder
	if neg {
		b.WriteByte('-')
	}
	if base == 10 {
		s := abs.String()
		if a.scale == 0 {
			return b.String() + s
		}
		for len(s) <= a.scale {
			s = "0" + s
		}
		whole, frac := s[:len(s)-a.scale], s[len(s)-a.scale:]
		if a.n.Sign() == 0 {
			return "0"
		}
		if whole == "0" {
			whole = ""
		}
		return b.String() + whole + "." + frac
	}
	if a.n.Sign() == 0 {
		return "0"
	}
	unit := pow10(a.scale)
	whole, frac := new(big.Int).QuoRem(abs, unit, new(big.Int))
	b.WriteString(bcWhole(whole, base))
	if a.scale == 0 {
		return b.String()
	}
	b.WriteByte('.')
	// As many digits as it takes to show scale decimal ones.
	limit, shown := pow10(a.scale), big.NewInt(1)
	bigBase := big.NewInt(int64(base))
	for shown.Cmp(limit) < 0 {
		frac.Mul(frac, bigBase)
		d := new(big.Int)
		d.QuoRem(frac, unit, frac)
		digit := bcDigit(d.Int64(), base)
		if shown.Cmp(one) == 0 {
			digit = strings.TrimPrefix(digit, " ")
		}
		b.WriteString(digit)
		shown.Mul(shown, bigBase)
	}
	return b.String()
}

// bcDigit is one digit: a letter up to base 16, else decimal after a space.
func bcDigit(d int64, base int) string {
	if base <= 16 {
		return "0123456789ABCDEF"[d : d+1]
	}
	s := big.NewInt(d).String()
	for width := len(big.NewInt(int64(base - 1)).String()); len(s) < width; {
		s = "0" + s
	}
	return " " + s
}

func bcWhole(n *big.Int, base int) string {
	if n.Sign() == 0 {
		return ""
	}
	if base <= 16 {
		return strings.ToUpper(n.Text(base))
	}
	var digits []string
	bigBase, d := big.NewInt(int64(base)), new(big.Int)
	for n = new(big.Int).Set(n); n.Sign() > 0; {
		n.QuoRem(n, bigBase, d)
		digits = append(digits, bcDigit(d.Int64(), base))
	}
	var b strings.Builder
	for i := len(digits) - 1; i >= 0; i-- {
		b.WriteString(digits[i])
	}
	return b.String()
}

// bcParse reads a number in a base; a digit too large for it counts as its
// largest, but a single one stands for itself.
func bcParse(s string, base int) bcNum {
	whole, frac, _ := strings.Cut(s, ".")
	value := func(c byte) int64 {
		d := int64(c - '0')
		if c >= 'A' {
			d = int64(c-'A') + 10
		}
		if len(s) > 1 && d >= int64(base) {
			d = int64(base) - 1
		}
		return d
	}
	bigBase := big.NewInt(int64(base))
	if base == 10 && strings.Trim(s, "0123456789.") == "" {
		n, _ := new(big.Int).SetString("0"+whole+frac, 10)
		return bcNum{n, len(frac)}
	}
	n := new(big.Int)
	for i := range len(whole) {
		n.Mul(n, bigBase).Add(n, big.NewInt(value(whole[i])))
	}
	if frac == "" {
		return bcNum{n, 0}
	}
	f, div := new(big.Int), big.NewInt(1)
	for i := range len(frac) {
		f.Mul(f, bigBase).Add(f, big.NewInt(value(frac[i])))
		div.Mul(div, bigBase)
	}
	part := bcNum{f, 0}.div(bcNum{div, 0}, len(frac))
	return bcNum{n, 0}.add(part)
}
