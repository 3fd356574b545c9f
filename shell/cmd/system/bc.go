package system

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/vfsd/vfsd/shell/command"
)

func init() {
	command.Register(command.Info{
		Name:     "bc",
		Synopsis: "bc [options] [file ...]",
		Summary:  "An arbitrary precision calculator language.",
		Options: []command.Option{
			{Short: 'h', Long: "help", ID: 'h', Help: "print this usage and exit"},
			{Short: 'i', Long: "interactive", Help: "(ignored)"},
			{Short: 'l', Long: "mathlib", Help: "use the predefined math routines"},
			{Short: 'q', Long: "quiet", Help: "(ignored)"},
			{Short: 's', Long: "standard", Help: "(ignored)"},
			{Short: 'v', Long: "version", Help: "print version information and exit"},
			{Short: 'w', Long: "warn", Help: "(ignored)"},
		},
	}, bc)
}

// bcFrame has what is local to a call: the values that its parameters and auto
// variables hid.
type bcFrame struct {
	vars   map[string]bcNum
	arrays map[string]map[int64]bcNum
}

// bcMachine runs a program of bc.
type bcMachine struct {
	c   *command.Context
	ctx context.Context
	in  *bufio.Reader

	vars                map[string]bcNum
	arrays              map[string]map[int64]bcNum
	functions           map[string]*bcNode
	scale, ibase, obase int
	last                bcNum
	mathlib             bool
	column, width       int
	calls               int
	held                int64
}

// How a statement ended.
type bcFlow uint8

const (
	bcNext bcFlow = iota
	bcBreak
	bcContinue
	bcReturn
	bcQuit
)

// Bounds of bc: nested calls, digits after the point, bits of a number.
const (
	maxBcCalls = 5000
	maxBcScale = 1 << 20
	maxBcBits  = 1 << 26
)

func bc(ctx context.Context, c *command.Context, args []string) int {
	m := &bcMachine{c: c, ctx: ctx, vars: map[string]bcNum{}, arrays: map[string]map[int64]bcNum{}, functions: map[string]*bcNode{}, ibase: 10, obase: 10, last: bcZero, width: 70}
	if n, err := strconv.Atoi(c.Env.Get("BC_LINE_LENGTH")); err == nil && (n == 0 || n > 2) {
		m.width = n
	}
	p := c.Options(args)
	for p.Next() {
		switch p.ID() {
		case 'l':
			m.mathlib, m.scale = true, 20
		case 'h':
			c.Stdout.WriteString(c.Command.Help())
			return 0
		case 'v':
			c.Stdout.WriteString("bc (vfsd)\n")
			return 0
		}
	}
	files, status, stop := p.End()
	if stop {
		return status
	}
	m.in = bufio.NewReader(c.Stdin)
	for _, name := range files {
		f, err := c.FS.Open(name)
		if err != nil {
			io.WriteString(c.Stderr, "File "+name+" is unavailable.\n")
			return 1
		}
		src, err := m.readAll(f)
		f.Close()
		if err != nil {
			return c.Fail(name, err)
		}
		if m.program(src, name) {
			return 0
		}
	}
	src, err := m.readAll(m.in)
	if err != nil {
		return c.Errorf("%s", command.Strerror(err))
	}
	m.program(src, "(standard_in)")
	return 0
}

// maxBcSource bounds a program.
const maxBcSource = 16 << 20

func (m *bcMachine) readAll(r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxBcSource))
	return string(b), err
}

// program runs a whole source, line by line; true when it said quit.
func (m *bcMachine) program(src, name string) bool {
	p := &bcParser{}
	p.src, p.line = src, 1
	p.next()
	for m.ctx.Err() == nil && m.c.Stdout.Err() == nil {
		nodes, err := m.parseLine(p)
		if err != nil {
			fmt.Fprintf(m.c.Stderr, "%s %d: %s\n", name, err.line, err.msg)
			// What is left of the line is lost.
			for p.kind != '\n' && p.kind != 0 {
				p.next()
			}
			continue
		}
		if nodes == nil {
			return false
		}
		// quit is obeyed when it is read, wherever it is.
		for _, n := range nodes {
			if hasQuit(n) {
				return true
			}
		}
		if m.runLine(nodes) == bcQuit {
			return true
		}
	}
	return true
}

func hasQuit(n *bcNode) bool {
	if n == nil {
		return false
	}
	if n.op == "quit" {
		return true
	}
	for _, k := range n.kids {
		if hasQuit(k) {
			return true
		}
	}
	return false
}

func (m *bcMachine) parseLine(p *bcParser) (nodes []*bcNode, failed *bcSyntax) {
	defer func() {
		p.depth, p.loops, p.inFunction = 0, 0, false
		if v := recover(); v != nil {
			s, ok := v.(bcSyntax)
			if !ok {
				panic(v)
			}
			failed = &s
		}
	}()
	return p.lineOf(), nil
}

// runLine runs the statements of a line; an error ends them.
func (m *bcMachine) runLine(nodes []*bcNode) (flow bcFlow) {
	defer func() {
		m.calls = 0
		if v := recover(); v != nil {
			e, ok := v.(bcError)
			if !ok {
				panic(v)
			}
			if err := m.c.Stdout.Flush(); err != nil {
				return
			}
			fmt.Fprintf(m.c.Stderr, "Runtime error (func=(main), adr=%d): %s\n", 0, string(e))
		}
	}()
	for _, n := range nodes {
		if n.op == "quit" {
			return bcQuit
		}
		flow, _ := m.run(n)
		if flow == bcQuit {
			return flow
		}
	}
	return bcNext
}

// run runs one statement.
func (m *bcMachine) run(n *bcNode) (bcFlow, bcNum) {
	if m.ctx.Err() != nil || m.c.Stdout.Err() != nil {
		return bcQuit, bcZero
	}
	switch n.op {
	case "define":
		m.functions[n.name] = n
	case "block":
		for _, k := range n.kids {
			if flow, v := m.run(k); flow != bcNext {
				return flow, v
			}
		}
	case "string":
		m.put(n.text)
	case "print":
		m.printList(n)
	case "discard":
		m.eval(n.kids[0])
	case "show":
		e := n.kids[0]
		var v bcNum
		if e.op == "call" {
			if v = m.call(e); v.n == nil {
				return bcNext, bcZero // a void function
			}
		} else {
			v = m.eval(e)
		}
		m.last = v
		m.put(m.format(v))
		m.newline()
	case "break":
		return bcBreak, bcZero
	case "continue":
		return bcContinue, bcZero
	case "halt", "quit":
		return bcQuit, bcZero
	case "return":
		if len(n.kids) == 0 {
			return bcReturn, bcZero
		}
		return bcReturn, m.eval(n.kids[0])
	case "if":
		if !m.eval(n.kids[0]).isZero() {
			return m.run(n.kids[1])
		}
		if len(n.kids) > 2 {
			return m.run(n.kids[2])
		}
	case "while":
		return m.loop(n.kids[0], nil, n.kids[1])
	case "for":
		if n.kids[0] != nil {
			m.eval(n.kids[0])
		}
		return m.loop(n.kids[1], n.kids[2], n.kids[3])
	case "limits":
		m.put("BC_BASE_MAX     = 999\nBC_DIM_MAX      = 16777215\nBC_SCALE_MAX    = 2147483647\nBC_STRING_MAX   = 2147483647\nMAX Exponent    = 9223372036854775807\nNumber of vars  = 32767\n")
	}
	return bcNext, bcZero
}

func (m *bcMachine) loop(cond, step, body *bcNode) (bcFlow, bcNum) {
	for cond == nil || !m.eval(cond).isZero() {
		flow, v := m.run(body)
		switch flow {
		case bcBreak:
			return bcNext, bcZero
		case bcReturn, bcQuit:
			return flow, v
		}
		if step != nil {
			m.eval(step)
		}
		if m.ctx.Err() != nil {
			return bcQuit, bcZero
		}
	}
	return bcNext, bcZero
}

func (m *bcMachine) printList(n *bcNode) {
	for _, k := range n.kids {
		if k.op != "string" {
			v := m.eval(k)
			m.last = v
			m.put(m.format(v))
			continue
		}
		var b strings.Builder
		for i := 0; i < len(k.text); i++ {
			if k.text[i] != '\\' || i+1 >= len(k.text) {
				b.WriteByte(k.text[i])
				continue
			}
			i++
			if at := strings.IndexByte("abfnqrt\\", k.text[i]); at >= 0 {
				b.WriteByte("\a\b\f\n\"\r\t\\"[at])
			}
		}
		m.put(b.String())
	}
}

// put writes text and keeps track of the column.
func (m *bcMachine) put(s string) {
	m.c.Stdout.WriteString(s)
	if i := strings.LastIndexByte(s, '\n'); i >= 0 {
		m.column = len(s) - i - 1
	} else {
		m.column += len(s)
	}
}

func (m *bcMachine) newline() {
	m.c.Stdout.WriteByte('\n')
	m.column = 0
}

// format writes a number in the output base, broken into lines.
func (m *bcMachine) format(v bcNum) string {
	s := v.text(m.obase)
	if m.width == 0 {
		return s
	}
	var b strings.Builder
	column := m.column
	for i := range len(s) {
		if column >= m.width-2 {
			b.WriteString("\\\n")
			column = 0
		}
		b.WriteByte(s[i])
		column++
	}
	return b.String()
}

// check refuses numbers that would fill the memory.
func (m *bcMachine) check(v bcNum) bcNum {
	bits := int64(v.n.BitLen())
	if bits > maxBcBits {
		panic(bcError("number too large"))
	}
	if bits > 1<<16 {
		if err := m.c.Memory.Grow(bits / 8); err != nil {
			panic(bcError("out of memory"))
		}
		m.c.Memory.Shrink(bits / 8)
	}
	return v
}
