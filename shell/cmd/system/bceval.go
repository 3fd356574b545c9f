package system

import (
	"fmt"
	"math"
	"strings"
)

// eval evaluates an expression. A call of a void function has no number.
func (m *bcMachine) eval(n *bcNode) bcNum {
	if m.ctx.Err() != nil {
		panic(bcError("interrupted"))
	}
	switch n.op {
	case "number":
		return bcParse(n.text, m.ibase)
	case "paren":
		return m.eval(n.kids[0])
	case "name":
		return m.get(n.name)
	case "element":
		return m.element(n)
	case "call":
		v := m.call(n)
		if v.n == nil {
			panic(bcError("void expression in an expression"))
		}
		return v
	case "neg":
		return m.eval(n.kids[0]).neg()
	case "!":
		return truth(m.eval(n.kids[0]).isZero())
	case "&&":
		a, b := m.eval(n.kids[0]), m.eval(n.kids[1])
		return truth(!a.isZero() && !b.isZero())
	case "||":
		a, b := m.eval(n.kids[0]), m.eval(n.kids[1])
		return truth(!a.isZero() || !b.isZero())
	case "==", "!=", "<", "<=", ">", ">=":
		return compare(n.op, m.eval(n.kids[0]).cmp(m.eval(n.kids[1])))
	case "+", "-", "*", "/", "%", "^":
		a := m.eval(n.kids[0])
		return m.arithmetic(n.op, a, m.eval(n.kids[1]))
	case "=":
		v := m.eval(n.kids[1])
		m.assign(n.kids[0], v)
		return v
	case "+=", "-=", "*=", "/=", "%=", "^=":
		a := m.eval(n.kids[0])
		v := m.arithmetic(n.op[:1], a, m.eval(n.kids[1]))
		m.assign(n.kids[0], v)
		return v
	case "pre++", "pre--", "post++", "post--":
		old := m.eval(n.kids[0])
		v := old.add(bcOne)
		if strings.HasSuffix(n.op, "--") {
			v = old.sub(bcOne)
		}
		m.assign(n.kids[0], v)
		if strings.HasPrefix(n.op, "post") {
			return old
		}
		return v
	}
	panic(bcError("bad expression " + n.op))
}

func truth(b bool) bcNum {
	if b {
		return bcOne
	}
	return bcZero
}

func compare(op string, cmp int) bcNum {
	switch op {
	case "==":
		return truth(cmp == 0)
	case "!=":
		return truth(cmp != 0)
	case "<":
		return truth(cmp < 0)
	case "<=":
		return truth(cmp <= 0)
	case ">":
		return truth(cmp > 0)
	}
	return truth(cmp >= 0)
}

func (m *bcMachine) arithmetic(op string, a, b bcNum) bcNum {
	switch op {
	case "+":
		return m.check(a.add(b))
	case "-":
		return m.check(a.sub(b))
	case "*":
		if a.n.BitLen()+b.n.BitLen() > maxBcBits {
			panic(bcError("number too large"))
		}
		return a.mul(b, m.scale)
	case "/":
		if b.isZero() {
			panic(bcError("Divide by zero"))
		}
		return a.div(b, m.scale)
	case "%":
		if b.isZero() {
			panic(bcError("Modulo by zero"))
		}
		return a.mod(b, m.scale)
	}
	return m.power(a, b)
}

func (m *bcMachine) power(a, b bcNum) bcNum {
	if b.scale > 0 && b.cmp(b.at(0)) != 0 {
		fmt.Fprintf(m.c.Stderr, "Runtime warning (func=(main), adr=%d): non-zero scale in exponent\n", 0)
	}
	e := b.at(0).n
	if !e.IsInt64() || float64(a.n.BitLen())*math.Abs(float64(e.Int64())) > maxBcBits {
		if a.n.BitLen() > 1 || a.scale > 0 {
			panic(bcError("exponent too large in raise"))
		}
		return a.pow(2+int64(e.Bit(0)), m.scale) // 0 and 1 stay what they are
	}
	if a.isZero() && e.Sign() < 0 {
		panic(bcError("divide by zero"))
	}
	return a.pow(e.Int64(), m.scale)
}

func (m *bcMachine) get(name string) bcNum {
	switch name {
	case "scale":
		return bcInt(int64(m.scale))
	case "ibase":
		return bcInt(int64(m.ibase))
	case "obase":
		return bcInt(int64(m.obase))
	case "last":
		return m.last
	}
	if v, ok := m.vars[name]; ok {
		return v
	}
	return bcZero
}

func (m *bcMachine) index(n *bcNode) int64 {
	i := m.eval(n.kids[0]).at(0).n
	if i.Sign() < 0 || !i.IsInt64() || i.Int64() > 16777214 {
		panic(bcError(fmt.Sprintf("Array %s subscript out of bounds.", n.name)))
	}
	return i.Int64()
}

func (m *bcMachine) element(n *bcNode) bcNum {
	if v, ok := m.arrays[n.name][m.index(n)]; ok {
		return v
	}
	return bcZero
}

func (m *bcMachine) assign(n *bcNode, v bcNum) {
	if n.op == "element" {
		i := m.index(n)
		if m.arrays[n.name] == nil {
			m.arrays[n.name] = map[int64]bcNum{}
		}
		if _, ok := m.arrays[n.name][i]; !ok {
			m.hold(64)
		}
		m.arrays[n.name][i] = v
		return
	}
	switch n.name {
	case "scale":
		m.scale = int(m.bounded(v, 0, maxBcScale, "scale"))
	case "ibase":
		m.ibase = int(m.bounded(v, 2, 16, "ibase"))
	case "obase":
		m.obase = int(m.bounded(v, 2, 999, "obase"))
	case "last":
		m.last = v
	default:
		m.vars[n.name] = v
	}
}

// hold announces memory that is kept to the end of the program.
func (m *bcMachine) hold(n int64) {
	if err := m.c.Memory.Grow(n); err != nil {
		panic(bcError("out of memory"))
	}
	m.held += n
}

// bounded brings the value of a special variable into its range.
func (m *bcMachine) bounded(v bcNum, low, high int64, name string) int64 {
	i := v.at(0).n
	switch {
	case i.Sign() < 0 && name == "scale":
		m.warn("negative scale, set to 0")
		return 0
	case name == "ibase" && (!i.IsInt64() || i.Int64() > high):
		return high
	case !i.IsInt64() || i.Int64() > high:
		m.warn(fmt.Sprintf("%s too large, set to %d", name, high))
		return high
	case i.Int64() < low:
		m.warn(fmt.Sprintf("%s too small, set to %d", name, low))
		return low
	}
	return i.Int64()
}

func (m *bcMachine) warn(msg string) {
	fmt.Fprintf(m.c.Stderr, "Runtime warning (func=(main), adr=%d): %s\n", 0, msg)
}

// call calls a function: built in, of the library, or defined.
func (m *bcMachine) call(n *bcNode) bcNum {
	switch n.name {
	case "length":
		return bcInt(int64(m.eval(n.kids[0]).digits()))
	case "scale":
		return bcInt(int64(m.eval(n.kids[0]).scale))
	case "sqrt":
		v := m.eval(n.kids[0])
		if v.n.Sign() < 0 {
			panic(bcError("Square root of a negative number"))
		}
		return v.sqrt(m.scale)
	case "read":
		line, err := m.in.ReadString('\n')
		if err != nil && line == "" {
			return bcZero
		}
		return m.readNumber(line)
	}
	f := m.functions[n.name]
	if f == nil {
		if v, ok := m.library(n); ok {
			return v
		}
		panic(bcError(fmt.Sprintf("Function %s not defined.", n.name)))
	}
	return m.invoke(f, n)
}

func (m *bcMachine) readNumber(line string) bcNum {
	s := strings.TrimSpace(line)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	if s == "" || strings.Trim(s, "0123456789ABCDEF.") != "" {
		return bcZero
	}
	v := bcParse(s, m.ibase)
	if neg {
		v = v.neg()
	}
	return v
}

// library calls a function of -l.
func (m *bcMachine) library(n *bcNode) (bcNum, bool) {
	if !m.mathlib {
		return bcZero, false
	}
	if n.name == "j" && len(n.kids) == 2 {
		order := m.eval(n.kids[0])
		return bcBessel(order, m.eval(n.kids[1]), m.scale), true
	}
	if len(n.kids) != 1 || !strings.Contains("scael", n.name) || len(n.name) != 1 {
		return bcZero, false
	}
	x := m.eval(n.kids[0])
	if m.scale > 1<<14 {
		panic(bcError("scale too large for the math library"))
	}
	switch n.name {
	case "s":
		return bcSin(x, m.scale), true
	case "c":
		return bcCos(x, m.scale), true
	case "a":
		return bcArctan(x, m.scale), true
	case "e":
		return bcExp(x, m.scale), true
	}
	return bcLog(x, m.scale), true
}

// invoke calls a defined function.
func (m *bcMachine) invoke(f, n *bcNode) bcNum {
	if m.calls++; m.calls > maxBcCalls {
		panic(bcError("calls nested too deeply"))
	}
	defer func() { m.calls-- }()
	params, autos, body := f.kids[0].kids, f.kids[1].kids, f.kids[2]
	if len(params) != len(n.kids) {
		panic(bcError("Parameter number mismatch"))
	}
	// Arguments are evaluated before any name is hidden.
	values := make([]bcNum, len(params))
	lists := make([]map[int64]bcNum, len(params))
	for i, p := range params {
		if strings.HasSuffix(p.name, "[]") {
			if n.kids[i].op != "array" {
				panic(bcError(fmt.Sprintf("Parameter type mismatch, parameter %s.", p.name)))
			}
			lists[i] = map[int64]bcNum{}
			for k, v := range m.arrays[n.kids[i].name] {
				lists[i][k] = v
			}
			continue
		}
		values[i] = m.eval(n.kids[i])
	}
	frame := bcFrame{map[string]bcNum{}, map[string]map[int64]bcNum{}}
	for i, p := range append(append([]*bcNode{}, params...), autos...) {
		if name, array := strings.CutSuffix(p.name, "[]"); array {
			frame.arrays[name] = m.arrays[name]
			m.arrays[name] = nil
			if i < len(lists) {
				m.arrays[name] = lists[i]
			}
		} else {
			frame.vars[name] = m.get(name)
			m.vars[name] = bcZero
			if i < len(values) {
				m.vars[name] = values[i]
			}
		}
	}
	flow, v := m.run(body)
	for name, old := range frame.vars {
		m.vars[name] = old
	}
	for name, old := range frame.arrays {
		m.arrays[name] = old
	}
	if flow == bcQuit {
		panic(bcError("halted"))
	}
	switch {
	case f.text == "void":
		return bcNum{}
	case flow != bcReturn:
		return bcZero
	}
	return v
}
