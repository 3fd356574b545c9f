package shell

import (
	"strconv"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
)

// mapfileSpec is what mapfile was asked for.
type mapfileSpec struct {
	delim    byte
	count    int   // 0: all
	origin   int64 // -1: the array is emptied first
	skip     int
	trim     bool
	fd       int
	callback string
	quantum  int
}

// builtinMapfile reads lines into an array.
func builtinMapfile(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "d:n:O:s:tu:C:c:")
	m := mapfileSpec{delim: '\n', origin: -1, quantum: 5000}
	for opts.next() {
		if !m.option(s, b, opts) {
			return 1
		}
	}
	if opts.failed {
		return 2
	}
	name := "MAPFILE"
	if rest := opts.rest(); len(rest) > 0 {
		name = rest[0]
	}
	if name == "" {
		s.builtinError(b, "empty array variable name")
		return 2
	}
	if !validName(name) {
		s.builtinError(b, "`%s': not a valid identifier", name)
		return 1
	}
	if target, _, _, ok := s.follow(name); ok {
		name = target
	}
	if s.readonly(name) {
		return 1
	}
	if v := s.vars[name]; v != nil && v.attr&attrAssoc != 0 {
		s.builtinError(b, "%s: not an indexed array", name)
		return 1
	}
	f := s.fd(m.fd)
	if f == nil {
		s.builtinError(b, "%d: invalid file descriptor: %s", m.fd, command.Strerror(syscall.EBADF))
		return 1
	}
	return m.read(s, name, f)
}

// option takes one option.
func (m *mapfileSpec) option(s *state, b *builtin, o *optionParser) bool {
	number := func(what string) (int, bool) {
		n, err := strconv.Atoi(o.arg)
		if err != nil || n < 0 {
			s.builtinError(b, "%s: %s", o.arg, what)
			return 0, false
		}
		return n, true
	}
	ok := true
	switch o.opt {
	case 'd':
		m.delim = 0
		if o.arg != "" {
			m.delim = o.arg[0]
		}
	case 'n':
		m.count, ok = number("invalid line count")
	case 'O':
		var n int
		n, ok = number("invalid array origin")
		m.origin = int64(n)
	case 's':
		m.skip, ok = number("invalid line count")
	case 't':
		m.trim = true
	case 'u':
		if m.fd, ok = number("invalid file descriptor specification"); ok && s.fd(m.fd) == nil {
			s.builtinError(b, "%d: invalid file descriptor: %s", m.fd, command.Strerror(syscall.EBADF))
			ok = false
		}
	case 'C':
		m.callback = o.arg
	case 'c':
		if m.quantum, ok = number("invalid callback quantum"); ok && m.quantum == 0 {
			s.builtinError(b, "%s: invalid callback quantum", o.arg)
			ok = false
		}
	}
	return ok
}

// read reads lines into the array.
func (m *mapfileSpec) read(s *state, name string, f *openFile) int {
	at := m.origin
	if at < 0 {
		s.setArray(name, nil)
		at = 0
	}
	v := s.change(name)
	s.makeIndexed(v)
	skip := m.skip
	for n := 0; m.count == 0 || n < m.count; {
		line, more := s.readRecord(f, m.delim)
		if !more {
			break
		}
		if skip > 0 {
			skip--
			continue
		}
		if m.trim {
			line = strings.TrimSuffix(line, string([]byte{m.delim}))
		}
		line = strings.ReplaceAll(line, "\x00", "")
		if n++; m.callback != "" && n%m.quantum == 0 {
			s.runText(m.callback+" "+strconv.FormatInt(at, 10)+" "+singleQuote(line), s.line, "mapfile")
			v = s.change(name)
			s.makeIndexed(v)
		}
		if !s.putIndex(v, at, line, false) {
			return 1
		}
		at++
	}
	return 0
}

// readRecord reads up to and with a delimiter; false at the end of the input.
func (s *state) readRecord(f *openFile, delim byte) (string, bool) {
	var line []byte
	for {
		s.tick()
		s.room(len(line))
		var more bool
		var err error
		line, more, err = f.readUntil(s.p.ctx, line, delim, -1)
		if err != nil {
			if s.p.ctx.Err() != nil {
				s.stop()
			}
			return string(line), len(line) > 0
		}
		if !more {
			return string(line), true
		}
	}
}
