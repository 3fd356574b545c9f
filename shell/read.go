package shell

import (
	"context"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/vfsd/vfsd/shell/command"
)

// readSpec is what read was asked for.
type readSpec struct {
	raw     bool
	array   string
	delim   byte
	limit   int // -n and -N; -1 is none
	exact   bool
	prompt  string
	timeout time.Duration // negative: none
	fd      int
}

// builtinRead reads a line into variables.
func builtinRead(s *state, b *builtin, args []string) int {
	r := readSpec{delim: '\n', limit: -1, timeout: -1}
	opts := newOptions(s, b, args, "ersa:d:i:n:p:t:u:N:")
	for opts.next() {
		if status := s.readOption(b, &r, opts); status != 0 {
			return status
		}
	}
	if opts.failed {
		return 2
	}
	names := opts.rest()
	// The other names are looked at when it is their turn.
	if len(names) > 0 && !s.readName(b, names[0]) || r.array != "" && !s.readName(b, r.array) {
		return 1
	}
	f := s.fd(r.fd)
	if f == nil && r.fd == 0 {
		s.builtinError(b, "read error: 0: %s", command.Strerror(syscall.EBADF))
		return 1
	}
	if f == nil {
		s.builtinError(b, "%d: invalid file descriptor: %s", r.fd, command.Strerror(syscall.EBADF))
		return 1
	}
	if r.timeout == 0 {
		return s.readReady(f)
	}
	if r.prompt != "" {
		if a, err := f.stat(); err == nil && a.Rdev>>8 == 5 {
			s.stderr(r.prompt)
		}
	}
	line, status := s.readLine(b, f, &r)
	return s.assignFields(b, &r, names, line, status)
}

// readName refuses what read cannot assign to.
func (s *state) readName(b *builtin, name string) bool {
	if validReference(name) {
		return true
	}
	s.builtinError(b, "`%s': not a valid identifier", name)
	return false
}

func (s *state) readOption(b *builtin, r *readSpec, o *optionParser) int {
	switch o.opt {
	case 'r':
		r.raw = true
	case 'a':
		r.array = o.arg
	case 'd':
		r.delim = 0
		if o.arg != "" {
			r.delim = o.arg[0]
		}
	case 'n', 'N':
		n, err := strconv.Atoi(o.arg)
		if err != nil || n < 0 {
			s.builtinError(b, "%s: invalid number", o.arg)
			return 1
		}
		r.limit, r.exact = n, o.opt == 'N'
	case 'p':
		r.prompt = o.arg
	case 't':
		v, err := strconv.ParseFloat(o.arg, 64)
		if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
			s.builtinError(b, "%s: invalid timeout specification", o.arg)
			return 1
		}
		r.timeout = time.Duration(min(v, 1e9) * float64(time.Second))
	case 'u':
		n, err := strconv.Atoi(o.arg)
		if err != nil || n < 0 {
			s.builtinError(b, "%s: invalid file descriptor specification", o.arg)
			return 1
		}
		r.fd = n
	}
	return 0
}

// readReady is read -t 0: is there anything to read?
func (s *state) readReady(f *openFile) int {
	if p, ok := f.stream.(*pipeEnd); ok && !p.p.ready() {
		return 1
	}
	if p, ok := f.stream.(*source); ok {
		p.once.Do(p.start)
		if !p.p.ready() {
			return 1
		}
	}
	return 0
}

// readLine reads up to the delimiter. Escapes are still in it, but for escaped
// newlines. The status is 1 at the end of the input, more than 128 after the
// time.
func (s *state) readLine(b *builtin, f *openFile, r *readSpec) (string, int) {
	ctx := s.p.ctx
	if r.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.timeout, errTimeout)
		defer cancel()
	}
	var line []byte
	delim, chars := int(r.delim), 0
	if r.exact {
		delim = -1
	}
	for r.limit < 0 || chars < r.limit {
		start := len(line)
		limit := -1
		if r.limit >= 0 {
			limit = 1
		}
		var err error
		var more bool
		line, more, err = f.readUntil(ctx, line, r.delim, limit)
		if err != nil {
			return string(line), s.readFailed(b, r, f, err)
		}
		s.tick()
		s.room(len(line))
		if r.limit >= 0 {
			if done := s.readChar(f, ctx, r, &line, start, delim, &chars); done {
				return string(line), 0
			}
			continue
		}
		if more {
			continue
		}
		if len(line) == 0 || line[len(line)-1] != r.delim {
			continue
		}
		line = line[:len(line)-1]
		if r.raw || !oddBackslashes(line) {
			return string(line), 0
		}
		if r.delim == '\n' {
			line = line[:len(line)-1] // the line goes on
			continue
		}
		line = append(line, r.delim)
	}
	return string(line), 0
}

// readChar completes one character for -n and -N; true when the delimiter ended
// the line.
func (s *state) readChar(f *openFile, ctx context.Context, r *readSpec, line *[]byte, start, delim int, chars *int) bool {
	l := *line
	if len(l) == start {
		return false
	}
	c := l[len(l)-1]
	if int(c) == delim && (r.raw || !oddBackslashes(l[:len(l)-1])) {
		*line = l[:len(l)-1]
		return true
	}
	if c >= 0xc0 && s.wide() {
		need := 1
		for m := c << 1; m&0x80 != 0; m <<= 1 {
			need++
		}
		for ; need > 1; need-- {
			var err error
			if l, _, err = f.readUntil(ctx, l, 0, 1); err != nil {
				break
			}
		}
		*line = l
	}
	if !r.raw && c == '\\' && !oddBackslashes(l[:len(l)-1]) {
		return false // it counts with what it escapes
	}
	*chars++
	return false
}

// oddBackslashes reports whether an odd number of backslashes ends b.
func oddBackslashes(b []byte) bool {
	n := 0
	for n < len(b) && b[len(b)-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

var errTimeout = errors.New("timeout")

// readFailed is the status of a read that ended early.
func (s *state) readFailed(b *builtin, r *readSpec, f *openFile, err error) int {
	switch {
	case err == io.EOF:
		return 1
	case errors.Is(err, errTimeout):
		return 128 + int(command.SIGALRM)
	}
	if s.p.ctx.Err() != nil {
		s.stop()
	}
	s.builtinError(b, "read error: %d: %s", r.fd, command.Strerror(err))
	return 1
}

// assignFields splits a line and assigns the fields.
func (s *state) assignFields(b *builtin, r *readSpec, names []string, line string, status int) int {
	line = strings.ReplaceAll(line, "\x00", "")
	if r.exact {
		if !r.raw {
			line = removeEscapes(line)
		}
		target := "REPLY"
		if r.array != "" {
			s.setArray(r.array, []string{line})
			return status
		}
		if len(names) > 0 {
			target = names[0]
		}
		if !s.assignReference(target, line) {
			return 1
		}
		for _, n := range names[min(1, len(names)):] {
			s.assignReference(n, "")
		}
		return status
	}
	if r.array != "" {
		fields := s.readFields(line, -1, r.raw)
		if v := s.vars[r.array]; v != nil && v.attr&attrAssoc != 0 {
			s.errorf("read: %s: cannot convert associative to indexed array", r.array)
			return 1
		}
		if s.readonly(r.array) {
			return 1
		}
		s.setArray(r.array, fields)
		return status
	}
	if len(names) == 0 {
		if !r.raw {
			line = removeEscapes(line)
		}
		if !s.assign("REPLY", line, false) {
			return 1
		}
		return status
	}
	fields := s.readFields(line, len(names), r.raw)
	for i, n := range names {
		value := ""
		if i < len(fields) {
			value = fields[i]
		}
		if !s.readName(b, n) || !s.assignReference(n, value) {
			return 1
		}
	}
	return status
}

// removeEscapes removes the backslashes of a line.
func removeEscapes(line string) string {
	if strings.IndexByte(line, '\\') < 0 {
		return line
	}
	var b strings.Builder
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' {
			i++
			if i == len(line) {
				break
			}
		}
		b.WriteByte(line[i])
	}
	return b.String()
}

// readFields splits a line at $IFS into at most n fields (any number when n is
// negative): the last takes the rest, without blanks of IFS at its end.
func (s *state) readFields(line string, n int, raw bool) []string {
	ifs := s.splitter()
	var fields []string
	i := 0
	for i < len(line) && ifs.white[line[i]] {
		i++
	}
	for i < len(line) {
		if n > 0 && len(fields) == n-1 {
			return append(fields, s.lastField(line[i:], raw, ifs))
		}
		var field string
		field, i = cutField(line, i, raw, ifs)
		fields = append(fields, field)
	}
	return fields
}

// cutField takes one field and the separators after it.
func cutField(line string, i int, raw bool, ifs *ifsCache) (string, int) {
	var b strings.Builder
	for i < len(line) && !ifs.sep[line[i]] {
		if line[i] == '\\' && !raw {
			i++
			if i == len(line) {
				break
			}
		}
		b.WriteByte(line[i])
		i++
	}
	for i < len(line) && ifs.white[line[i]] {
		i++
	}
	if i < len(line) && ifs.sep[line[i]] && !ifs.white[line[i]] {
		i++
		for i < len(line) && ifs.white[line[i]] {
			i++
		}
	}
	return b.String(), i
}

// lastField is what the last variable gets: the rest, unless it is one field
// with a separator at its end.
func (s *state) lastField(rest string, raw bool, ifs *ifsCache) string {
	if field, end := cutField(rest, 0, raw, ifs); end == len(rest) {
		return field
	}
	end := len(rest)
	for end > 0 && ifs.white[rest[end-1]] && (raw || !oddBackslashes([]byte(rest[:end-1]))) {
		end--
	}
	if raw {
		return rest[:end]
	}
	return removeEscapes(rest[:end])
}
