package system

import "math/big"

// The functions of bc -l, to scale digits. Each works with more digits than it
// returns, and cuts.

// bcPi is pi to scale digits, by Machin's formula.
func bcPi(scale int) bcNum {
	s := scale + 5
	a := bcArctanInverse(5, s).mul(bcInt(16), s)
	return a.sub(bcArctanInverse(239, s).mul(bcInt(4), s)).at(scale)
}

// bcArctanInverse is arctan(1/x).
func bcArctanInverse(x int64, scale int) bcNum {
	unit := pow10(scale)
	term := new(big.Int).Quo(unit, big.NewInt(x))
	sum := new(big.Int).Set(term)
	square := big.NewInt(x * x)
	for k := int64(3); term.Sign() != 0; k += 2 {
		term.Quo(term, square)
		part := new(big.Int).Quo(term, big.NewInt(k))
		if k%4 == 3 {
			sum.Sub(sum, part)
		} else {
			sum.Add(sum, part)
		}
	}
	return bcNum{sum, scale}
}

// bcExp is e^x.
func bcExp(x bcNum, scale int) bcNum {
	neg := x.n.Sign() < 0
	if neg {
		x = x.neg()
	}
	whole := len(x.at(0).n.String())
	if whole > 7 {
		if neg {
			return bcZero.at(scale)
		}
		panic(bcError("exponent too large"))
	}
	extra := int(x.at(0).n.Int64())*44/100 + 2
	work := scale + extra + 10
	if neg {
		work = scale + 10
	}
	// Halve until small, then square as often.
	halvings := 0
	y := x.at(work)
	for y.cmp(bcOne) > 0 {
		y = y.div(bcInt(2), work+8)
		halvings++
	}
	work += 8 + halvings
	y = y.at(work)
	sum, term := bcOne.at(work).add(y), y
	for k := int64(2); !term.isZero(); k++ {
		term = bcNum{new(big.Int).Quo(term.mul(y, work).at(work).n, big.NewInt(k)), work}
		sum = sum.add(term)
	}
	for range halvings {
		sum = sum.mul(sum, work).at(work)
	}
	if neg {
		return bcOne.div(sum, scale)
	}
	return sum.at(scale)
}

// bcLog is the natural logarithm; of what is not positive it is what GNU bc
// returns, the largest negative number that fits.
func bcLog(x bcNum, scale int) bcNum {
	if x.n.Sign() <= 0 {
		return bcOne.sub(bcOne.at(0).mul(bcNum{pow10(scale), 0}, 0)).at(scale)
	}
	work := scale + 10 + x.digits()/4
	// Bring x near 1 by square roots: ln x = 2^k ln x^(1/2^k).
	y := x.at(max(work, x.scale))
	roots := 0
	for y.cmp(bcInt(2)) >= 0 || y.cmp(bcNum{big.NewInt(5), 1}) <= 0 {
		y = y.sqrt(work + 10 + roots)
		roots++
	}
	work += 10 + roots
	y = y.at(work)
	// ln y = 2 artanh((y-1)/(y+1)).
	z := y.sub(bcOne).div(y.add(bcOne), work)
	square := z.mul(z, work).at(work)
	sum, term := z, z
	for k := int64(3); !term.isZero(); k += 2 {
		term = term.mul(square, work).at(work)
		sum = sum.add(bcNum{new(big.Int).Quo(term.n, big.NewInt(k)), work})
	}
	factor := new(big.Int).Lsh(big.NewInt(2), uint(roots))
	return bcNum{new(big.Int).Mul(sum.n, factor), work}.at(scale)
}

// bcSin is the sine.
func bcSin(x bcNum, scale int) bcNum {
	neg := x.n.Sign() < 0
	if neg {
		x = x.neg()
	}
	work := scale + 10 + x.digits()
	pi := bcPi(work)
	// Bring it into [-pi/4, pi/4] by multiples of pi/2... of pi suffices.
	turns := x.div(pi, 0)
	y := x.at(work).sub(pi.mul(turns, work)).at(work)
	if turns.n.Bit(0) == 1 {
		neg = !neg
	}
	square := y.mul(y, work).at(work)
	sum, term := y, y
	for k := int64(2); !term.isZero(); k += 2 {
		term = bcNum{new(big.Int).Quo(term.mul(square, work).at(work).neg().n, big.NewInt(k*(k+1))), work}
		sum = sum.add(term)
	}
	if neg {
		sum = sum.neg()
	}
	return sum.at(scale)
}

// bcCos is the cosine, by the sine.
func bcCos(x bcNum, scale int) bcNum {
	work := scale + 10 + x.digits()
	half := bcPi(work).div(bcInt(2), work)
	return bcSin(x.at(max(work, x.scale)).add(half), scale+8).near(scale)
}

// bcArctan is the arctangent.
func bcArctan(x bcNum, scale int) bcNum {
	neg := x.n.Sign() < 0
	if neg {
		x = x.neg()
	}
	work := scale + 15
	y := x.at(max(work, x.scale))
	invert := y.cmp(bcOne) > 0
	if invert {
		y = bcOne.div(y, work)
	}
	y = y.at(work)
	// atan y = 2 atan(y / (1 + sqrt(1 + y^2))), until y is small.
	doublings := 0
	for y.cmp(bcNum{big.NewInt(1), 1}) > 0 {
		root := bcOne.add(y.mul(y, work).at(work)).sqrt(work)
		y = y.div(bcOne.add(root), work)
		doublings++
	}
	square := y.mul(y, work).at(work)
	sum, term := y, y
	for k := int64(3); !term.isZero(); k += 2 {
		term = term.mul(square, work).at(work).neg()
		sum = sum.add(bcNum{new(big.Int).Quo(term.n, big.NewInt(k)), work})
	}
	sum = bcNum{new(big.Int).Lsh(sum.n, uint(doublings)), work}
	if invert {
		sum = bcPi(work).div(bcInt(2), work).sub(sum)
	}
	if neg {
		sum = sum.neg()
	}
	return sum.at(scale)
}

// bcBessel is the Bessel function of whole order n.
func bcBessel(order, x bcNum, scale int) bcNum {
	n := order.at(0).n.Int64()
	neg := false
	if n < 0 {
		n, neg = -n, n%2 != 0
	}
	if n > 1<<14 {
		panic(bcError("order too large"))
	}
	work := scale + 20 + 2*x.digits() + int(n)/2
	half := x.at(max(work, x.scale)).div(bcInt(2), work)
	term := bcOne.at(work)
	for k := int64(1); k <= n; k++ {
		term = term.mul(half, work).at(work).div(bcInt(k), work)
	}
	square := half.mul(half, work).at(work).neg()
	sum := term
	for k := int64(1); !term.isZero(); k++ {
		term = term.mul(square, work).at(work).div(bcInt(k*(k+n)), work)
		sum = sum.add(term)
	}
	if neg {
		sum = sum.neg()
	}
	return sum.at(scale)
}
