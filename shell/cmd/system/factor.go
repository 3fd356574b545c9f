package system

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/big"
	"sort"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "factor",
		Synopsis: "factor [OPTION] [NUMBER]...",
		Summary:  "Print the prime factors of each specified integer NUMBER.  If none\nare specified on the command line, read them from standard input.",
		Options:  []command.Option{{Short: 'h', Long: "exponents", Help: "print repeated factors in form p^e unless e is 1"}},
	}, factor)
	command.Register(command.Info{
		Name:     "which",
		Synopsis: "which [-a] args",
		Summary:  "Locate a command in PATH.",
		Options:  []command.Option{{Short: 'a', Help: "print all matching pathnames of each argument"}, {Short: 's', Help: "print nothing"}},
	}, which)
}

func factor(ctx context.Context, c *command.Context, args []string) int {
	exponents := false
	p := c.Options(args)
	for p.Next() {
		exponents = true
	}
	operands, status, stop := p.End()
	if stop {
		return status
	}
	for _, op := range operands {
		if ctx.Err() != nil {
			return 1
		}
		status = max(status, printFactors(ctx, c, op, exponents))
	}
	if len(operands) > 0 {
		return status
	}
	sc := bufio.NewScanner(c.Stdin)
	sc.Split(bufio.ScanWords)
	for sc.Scan() && ctx.Err() == nil {
		status = max(status, printFactors(ctx, c, sc.Text(), exponents))
	}
	if err := sc.Err(); err != nil {
		return c.Errorf("error reading input: %s", command.Strerror(err))
	}
	return status
}

func printFactors(ctx context.Context, c *command.Context, s string, exponents bool) int {
	digits := strings.TrimPrefix(strings.TrimLeft(s, " "), "+")
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok || strings.Trim(digits, "0123456789") != "" {
		return c.Errorf("%s is not a valid positive integer", c.Quote(s))
	}
	var b strings.Builder
	b.WriteString(n.String() + ":")
	factors := factorize(ctx, n)
	if ctx.Err() != nil {
		return 1
	}
	for i := 0; i < len(factors); {
		j := i
		for j < len(factors) && factors[j].Cmp(factors[i]) == 0 {
			j++
		}
		if exponents && j-i > 1 {
			fmt.Fprintf(&b, " %s^%d", factors[i], j-i)
		} else {
			for range j - i {
				b.WriteString(" " + factors[i].String())
			}
		}
		i = j
	}
	io.WriteString(c.Stdout, b.String()+"\n")
	return 0
}

var one = big.NewInt(1)

// factorize returns the prime factors of n, the least first.
func factorize(ctx context.Context, n *big.Int) []*big.Int {
	var out []*big.Int
	n = new(big.Int).Set(n)
	q, r := new(big.Int), new(big.Int)
	for d := int64(2); d < 1<<12; d++ {
		if n.Cmp(one) <= 0 {
			break
		}
		div := big.NewInt(d)
		for q.QuoRem(n, div, r); r.Sign() == 0; q.QuoRem(n, div, r) {
			out = append(out, div)
			n.Set(q)
		}
	}
	if n.Cmp(one) > 0 {
		out = append(out, split(ctx, n)...)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Cmp(out[j]) < 0 })
	return out
}

// split factors a number without small factors by Pollard's rho.
func split(ctx context.Context, n *big.Int) []*big.Int {
	if n.Cmp(one) == 0 || ctx.Err() != nil {
		return nil
	}
	if n.ProbablyPrime(20) {
		return []*big.Int{n}
	}
	if s := new(big.Int).Sqrt(n); new(big.Int).Mul(s, s).Cmp(n) == 0 {
		half := split(ctx, s)
		return append(append([]*big.Int{}, half...), half...)
	}
	for c := int64(1); ; c++ {
		d := rho(ctx, n, c)
		if ctx.Err() != nil {
			return nil
		}
		if d != nil {
			return append(split(ctx, d), split(ctx, new(big.Int).Quo(n, d))...)
		}
	}
}

// rho looks for a factor with the sequence x*x + c, after Brent; nil when this
// sequence yields none.
func rho(ctx context.Context, n *big.Int, c int64) *big.Int {
	inc := big.NewInt(c)
	step := func(x *big.Int) { x.Mul(x, x).Add(x, inc).Mod(x, n) }
	y, x, prod, d, diff := big.NewInt(2), new(big.Int), big.NewInt(1), new(big.Int), new(big.Int)
	saved := new(big.Int)
	const batch = 128
	for length := 1; ; length *= 2 {
		x.Set(y)
		for range length {
			step(y)
		}
		for k := 0; k < length; k += batch {
			if ctx.Err() != nil {
				return nil
			}
			saved.Set(y)
			for range min(batch, length-k) {
				step(y)
				diff.Sub(x, y)
				prod.Mul(prod, diff.Abs(diff)).Mod(prod, n)
			}
			if d.GCD(nil, nil, prod, n); d.Cmp(one) == 0 {
				continue
			}
			if d.Cmp(n) != 0 {
				return new(big.Int).Set(d)
			}
			// Several factors at once: take the batch step by step.
			for {
				step(saved)
				diff.Sub(x, saved)
				if d.GCD(nil, nil, diff.Abs(diff), n); d.Cmp(one) != 0 {
					break
				}
			}
			if d.Cmp(n) == 0 {
				return nil
			}
			return new(big.Int).Set(d)
		}
	}
}
