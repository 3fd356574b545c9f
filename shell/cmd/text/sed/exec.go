package sed

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/regex"
	"github.com/vfsd/vfsd/shell/cmd/text/lines"
	"github.com/vfsd/vfsd/shell/command"
)

// space is the pattern or the hold space.
type space struct {
	text  []byte
	ended bool // the line had its newline
}

// queued is what a, r and R leave for the end of the cycle.
type queued struct {
	text []byte // a, R
	file string // r
}

// machine runs a program.
type machine struct {
	c    *command.Context
	s    *settings
	prog *program
	in   *input
	out  *output // standard output, or the file being edited
	std  *output

	pattern, hold space
	queue         []queued
	readers       map[string]*lineFile // of R
	last          *regex.Regexp        // the one used last
	replaced      bool                 // s did something since the last t or line
	restart       bool                 // D: the next cycle reads no line
	status        int
	loc           []int
	scratch       []byte
	held          int64 // bytes on the account
	steps         int
}

// lineFile is a file that R reads line by line.
type lineFile struct {
	f io.ReadCloser
	r *lines.Reader
}

// verdict says how a cycle ended.
type verdict uint8

const (
	endCycle  verdict = iota // print the pattern space, unless -n
	dropCycle                // do not
	quitPrint                // q
	quitNow                  // Q
)

func newMachine(c *command.Context, s *settings, prog *program, files []string) *machine {
	if len(files) == 0 {
		files = []string{"-"}
	}
	m := &machine{c: c, s: s, prog: prog, readers: map[string]*lineFile{}}
	m.in = &input{c: c, s: s, files: files}
	m.std = &output{w: c.Stdout, flush: s.unbuffered}
	m.out = m.std
	m.hold.ended = true
	m.resetRanges()
	return m
}

// resetRanges puts every command at the start of its range.
func (m *machine) resetRanges() {
	for _, cmd := range m.prog.cmds {
		cmd.state = rangeInactive
		if cmd.a1 != nil && cmd.a1.kind == addrLine && cmd.a1.n == 0 {
			cmd.state = rangeActive
		}
	}
}

// run runs the program over all input and returns the status.
func (m *machine) run(ctx context.Context) int {
	// What a file edited in place is written to must not stay behind.
	defer m.in.abandon()
	err := m.cycles(ctx)
	if err == nil {
		m.giveBack()
		m.in.shut()
		err = m.in.problem
	}
	for _, f := range m.readers {
		if f != nil {
			f.f.Close()
		}
	}
	for _, o := range m.prog.outputs {
		if serr := o.shut(); err == nil && serr != nil && o.w != m.c.Stdout {
			err = &sedError{"couldn't write to " + o.name + ": " + command.Strerror(serr), exitPanic}
		}
	}
	m.c.Memory.Shrink(m.held)
	if m.in.r != nil {
		m.in.r.Release()
	}
	switch {
	case err != nil && m.c.Stdout.Err() == nil && ctx.Err() == nil:
		return fail(m.c, err)
	case m.status == 0 && m.in.failed:
		return exitInput
	}
	return m.status
}

// giveBack leaves standard input where q stopped.
func (m *machine) giveBack() {
	if m.in.r != nil && m.in.open != nil && m.in.edit == nil && !m.in.have {
		m.in.r.Unread()
	}
}

// cycles runs the program once a line.
func (m *machine) cycles(ctx context.Context) error {
	for {
		if !m.restart {
			if ok, err := m.nextLine(false); !ok {
				return err
			}
		}
		m.restart = false
		v, err := m.execute(ctx)
		if err != nil {
			return err
		}
		if (v == endCycle || v == quitPrint) && !m.s.quiet {
			if err := m.print(m.out, m.pattern.text); err != nil {
				return err
			}
		}
		if v == quitNow {
			return nil
		}
		if err := m.dump(); err != nil {
			return err
		}
		if v == quitPrint {
			return nil
		}
	}
}

// nextLine reads a line into the pattern space, or behind what is in it.
func (m *machine) nextLine(add bool) (bool, error) {
	line, ended, ok := m.in.take()
	if !ok {
		return false, m.in.problem
	}
	if m.in.fresh {
		m.in.fresh = false
		m.startFile()
	}
	m.replaced = false
	if add {
		m.pattern.text = append(m.pattern.text, m.s.delim)
	} else {
		m.pattern.text = m.pattern.text[:0]
	}
	m.pattern.text = append(m.pattern.text, line...)
	m.pattern.ended = ended
	return true, m.account()
}

// startFile turns to a new file.
func (m *machine) startFile() {
	m.out = m.std
	if m.in.edit != nil {
		m.out = m.in.edit.out
	}
	if m.s.separate {
		m.resetRanges()
		m.hold = space{ended: true}
	}
}

// accountStep is how much the spaces may grow before the account is told.
const accountStep = 64 << 10

// account tells how much the spaces hold.
func (m *machine) account() error {
	n := int64(cap(m.pattern.text) + cap(m.hold.text) + cap(m.scratch))
	if n-m.held < accountStep {
		return nil
	}
	if err := m.c.Memory.Grow(n - m.held); err != nil {
		return &sedError{"couldn't allocate memory", exitPanic}
	}
	m.held = n
	return nil
}

// print writes text that is a line as the pattern space's was.
func (m *machine) print(o *output, text []byte) error {
	return o.line(text, m.pattern.ended, m.s.delim)
}

// dump writes what was queued for the end of the cycle.
func (m *machine) dump() error {
	for i := range m.queue {
		q := &m.queue[i]
		err := m.out.raw(q.text) // if only for the newline that is owed
		if q.file != "" {
			err = m.copyFile(q.file)
		}
		if err != nil {
			return err
		}
	}
	m.queue = m.queue[:0]
	return nil
}

// copyFile writes the contents of a file; one that cannot be read is empty.
func (m *machine) copyFile(name string) error {
	if name == "/dev/stdin" {
		name = "-"
	}
	f, err := m.c.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	buf := make([]byte, lines.Size)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			if err := m.out.raw(buf[:n]); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// checkEvery is how many commands run between looks at the context.
const checkEvery = 1 << 10

// execute runs the program on the pattern space.
func (m *machine) execute(ctx context.Context) (verdict, error) {
	cmds := m.prog.cmds
	for pc := 0; pc < len(cmds); {
		if m.steps++; m.steps%checkEvery == 0 && ctx.Err() != nil {
			return quitNow, context.Cause(ctx)
		}
		cmd := cmds[pc]
		pc++
		ok, err := m.selected(ctx, cmd)
		if err != nil {
			return quitNow, err
		}
		if ok == cmd.not {
			if cmd.name == '{' {
				pc = cmd.jump
			}
			continue
		}
		switch cmd.name {
		case '{':
		case 'b':
			pc = cmd.jump
		case 't':
			if m.replaced {
				m.replaced = false
				pc = cmd.jump
			}
		case 'T':
			if !m.replaced {
				pc = cmd.jump
			}
			m.replaced = false
		default:
			v, done, err := m.do(ctx, cmd)
			if done || err != nil {
				return v, err
			}
		}
	}
	return endCycle, nil
}

// do runs a command that does not jump; done says that the cycle is over.
func (m *machine) do(ctx context.Context, cmd *instruction) (v verdict, done bool, err error) {
	p := &m.pattern
	switch cmd.name {
	case 'd':
		return dropCycle, true, nil
	case 'D':
		i := bytes.IndexByte(p.text, m.s.delim)
		if i >= 0 {
			p.text = append(p.text[:0], p.text[i+1:]...)
			m.restart = true
		}
		return dropCycle, true, nil
	case 'n':
		if m.in.last() {
			if m.s.posix {
				return dropCycle, true, nil
			}
			return endCycle, true, m.in.problem
		}
		if !m.s.quiet {
			if err := m.print(m.out, p.text); err != nil {
				return 0, true, err
			}
		}
		return m.readOn(false)
	case 'N':
		if m.in.last() {
			if m.s.posix {
				return dropCycle, true, nil
			}
			return endCycle, true, m.in.problem
		}
		return m.readOn(true)
	case 'q':
		m.status = max(0, int(cmd.n)) & 0xff
		return quitPrint, true, nil
	case 'Q':
		m.status = max(0, int(cmd.n)) & 0xff
		return quitNow, true, nil
	case 'c':
		if cmd.a2 == nil || cmd.state != rangeActive || cmd.not {
			err = m.out.raw(cmd.text)
		}
		return dropCycle, true, err
	case 's':
		err = m.substitute(ctx, cmd.sub)
	case 'y':
		m.translate(cmd.table)
	default:
		err = m.simple(cmd)
	}
	return 0, false, err
}

// readOn is the reading of n and N.
func (m *machine) readOn(add bool) (v verdict, done bool, err error) {
	if err := m.dump(); err != nil {
		return 0, true, err
	}
	ok, err := m.nextLine(add)
	return endCycle, !ok, err
}

// simple runs a command that only moves or prints text.
func (m *machine) simple(cmd *instruction) error {
	p, h := &m.pattern, &m.hold
	switch cmd.name {
	case '=':
		return m.out.raw([]byte(strconv.FormatInt(m.in.number, 10) + "\n"))
	case 'a':
		m.queue = append(m.queue, queued{text: cmd.text})
	case 'F':
		return m.out.raw([]byte(m.in.name + "\n"))
	case 'g':
		p.text, p.ended = append(p.text[:0], h.text...), h.ended
	case 'G':
		p.text, p.ended = append(append(p.text, m.s.delim), h.text...), h.ended
	case 'h':
		h.text, h.ended = append(h.text[:0], p.text...), p.ended
	case 'H':
		h.text, h.ended = append(append(h.text, m.s.delim), p.text...), p.ended
	case 'i':
		return m.out.raw(cmd.text)
	case 'l':
		return m.list(cmd)
	case 'p':
		return m.print(m.out, p.text)
	case 'P':
		if i := bytes.IndexByte(p.text, m.s.delim); i >= 0 {
			return m.out.line(p.text[:i], true, m.s.delim)
		}
		return m.print(m.out, p.text)
	case 'r':
		m.queue = append(m.queue, queued{file: cmd.file})
	case 'R':
		return m.readLine(cmd.file)
	case 'w':
		return m.print(cmd.out, p.text)
	case 'W':
		if i := bytes.IndexByte(p.text, m.s.delim); i >= 0 {
			return cmd.out.line(p.text[:i], true, m.s.delim)
		}
		return m.print(cmd.out, p.text)
	case 'x':
		m.pattern, m.hold = m.hold, m.pattern
	case 'z':
		p.text = p.text[:0]
	}
	return m.account()
}

// readLine queues the next line of R's file.
func (m *machine) readLine(name string) error {
	f, ok := m.readers[name]
	if !ok {
		path := name
		if path == "/dev/stdin" {
			path = "-"
		}
		if rc, err := m.c.Open(path); err == nil {
			f = &lineFile{f: rc, r: lines.NewReader(rc, m.c.Memory)}
			f.r.Delim = m.s.delim
		}
		m.readers[name] = f
	}
	if f == nil {
		return nil
	}
	line, ended, err := f.r.Next()
	if errors.Is(err, syscall.ENOMEM) {
		return &sedError{"couldn't allocate memory", exitPanic}
	}
	if err == nil {
		text := bytes.Clone(line)
		if ended {
			text = append(text, m.s.delim)
		}
		m.queue = append(m.queue, queued{text: text})
	}
	return nil
}
