package shell

import (
	"strconv"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// undoFDs are the descriptors that redirections replaced, in order.
type undoFDs []savedFD

type savedFD struct {
	n int
	f *openFile
}

// replaceFD puts f at descriptor n and remembers what was there.
func (s *state) replaceFD(n int, f *openFile, undo *undoFDs) {
	for n >= len(s.fds) {
		s.fds = append(s.fds, nil)
	}
	*undo = append(*undo, savedFD{n, s.fds[n]})
	s.fds[n] = f
}

// restoreFDs puts back what redirections replaced.
func (s *state) restoreFDs(undo undoFDs) {
	for i := len(undo) - 1; i >= 0; i-- {
		old := undo[i]
		if old.n < len(s.fds) {
			now := s.fds[old.n]
			s.fds[old.n] = old.f
			now.release()
		}
	}
}

// keepFDs makes redirections stay, as exec does.
func (s *state) keepFDs(undo undoFDs) {
	for _, old := range undo {
		old.f.release()
	}
}

// redirect applies redirections in order. It reports the first that fails and
// leaves the rest; what was replaced is in undo either way.
func (s *state) redirect(rs []*syntax.Redirect, undo *undoFDs) bool {
	for _, r := range rs {
		if !s.redirectOne(r, undo) {
			return false
		}
	}
	return true
}

// redirectOne applies one redirection.
func (s *state) redirectOne(r *syntax.Redirect, undo *undoFDs) bool {
	n, variable := -1, ""
	if r.N != nil {
		if text := r.N.Value; text[0] == '{' {
			variable = text[1 : len(text)-1]
		} else {
			var err error
			if n, err = strconv.Atoi(text); err != nil || n >= s.maxFD() {
				s.errorf("%s: %s", text, command.Strerror(syscall.EBADF))
				return false
			}
		}
	}
	switch r.Op {
	case syntax.DplIn, syntax.DplOut:
		return s.duplicate(r, n, variable, undo)
	case syntax.RdrAll, syntax.AppAll:
		return s.redirectBoth(r, undo)
	}
	f, ok := s.redirectFile(r)
	if !ok {
		return false
	}
	return s.place(f, n, variable, defaultFD(r.Op), undo)
}

// defaultFD is the descriptor that an operator means when none is named.
func defaultFD(op syntax.RedirOperator) int {
	switch op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.DplOut:
		return 1
	}
	return 0
}

// place puts an open file at its descriptor: n, or a fresh one whose number
// goes to a variable, or the operator's own.
func (s *state) place(f *openFile, n int, variable string, fallback int, undo *undoFDs) bool {
	switch {
	case variable != "":
		fd := s.freeFD()
		if !s.assignReference(variable, strconv.Itoa(fd)) {
			f.release()
			return false
		}
		if s.opts.shopts(shoptRedirClose) {
			s.replaceFD(fd, f, undo)
		} else {
			s.setFD(fd, f)
		}
		return true
	case n < 0:
		n = fallback
	}
	s.replaceFD(n, f, undo)
	return true
}

// freeFD is the lowest free descriptor from 10 on.
func (s *state) freeFD() int {
	n := 10
	for s.fd(n) != nil {
		n++
	}
	return n
}

// target expands the word of a redirection to the one field that it must be.
func (s *state) target(r *syntax.Redirect) (string, bool) {
	if text, ok := plainWord(r.Word); ok {
		return text, true
	}
	fields := s.expandFields([]*syntax.Word{r.Word})
	if len(fields) != 1 {
		s.errorf("%s: ambiguous redirect", wordSource(r.Word))
		return "", false
	}
	return fields[0], true
}

// redirectFile opens what a redirection names.
func (s *state) redirectFile(r *syntax.Redirect) (*openFile, bool) {
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc:
		body := ""
		if r.Hdoc != nil {
			body = s.expandHeredoc(r.Hdoc)
		}
		return newOpenFile(&text{s: body}, "here-document", true, false), true
	case syntax.WordHdoc:
		return newOpenFile(&text{s: s.expandString(r.Word) + "\n"}, "here-string", true, false), true
	}
	path, ok := s.target(r)
	if !ok {
		return nil, false
	}
	flags := syscall.O_RDONLY
	switch r.Op {
	case syntax.RdrOut:
		flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_TRUNC
		if s.opts.on(optNoclobber) {
			return s.openNew(path)
		}
	case syntax.RdrClob:
		flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_TRUNC
	case syntax.AppOut:
		flags = syscall.O_WRONLY | syscall.O_CREAT | syscall.O_APPEND
	case syntax.RdrInOut:
		flags = syscall.O_RDWR | syscall.O_CREAT
	}
	return s.openReported(path, flags)
}

// openNew opens a file for writing under set -C: a regular one must not exist.
func (s *state) openNew(path string) (*openFile, bool) {
	if a, err := s.walker().Stat(path); err == nil {
		if a.IsRegular() {
			s.errorf("%s: cannot overwrite existing file", path)
			return nil, false
		}
		return s.openReported(path, syscall.O_WRONLY)
	}
	f, err := s.open(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_EXCL)
	if err == syscall.EEXIST { // a symlink that leads nowhere
		s.errorf("%s: cannot overwrite existing file", path)
		return nil, false
	}
	return s.reportOpen(path, f, err)
}

func (s *state) openReported(path string, flags int) (*openFile, bool) {
	f, err := s.open(path, flags)
	return s.reportOpen(path, f, err)
}

// reportOpen says why a file could not be opened.
func (s *state) reportOpen(path string, f *openFile, err error) (*openFile, bool) {
	if err != nil {
		if s.ended() {
			s.stop()
		}
		s.errorf("%s: %s", path, command.Strerror(err))
		return nil, false
	}
	return f, true
}

// open opens a path.
func (s *state) open(path string, flags int) (*openFile, error) {
	f, err := s.walker().OpenFile(path, flags, 0o666)
	if err != nil {
		return nil, err
	}
	if o, ok := f.(*owned); ok {
		return o.f, nil
	}
	mode := flags & syscall.O_ACCMODE
	return newOpenFile(regular{f}, path, mode != syscall.O_WRONLY, mode != syscall.O_RDONLY), nil
}

// duplicate applies n>&word: another descriptor, "-" to close, "m-" to move, or
// a file for both outputs.
func (s *state) duplicate(r *syntax.Redirect, n int, variable string, undo *undoFDs) bool {
	word, ok := s.target(r)
	if !ok {
		return false
	}
	fallback := defaultFD(r.Op)
	if word == "-" {
		return s.closeRedirect(n, variable, fallback, undo)
	}
	digits, move := strings.CutSuffix(word, "-")
	if !isDigits(digits) {
		if r.Op == syntax.DplOut && (n < 0 || n == 1) && variable == "" {
			return s.openBoth(word, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, undo)
		}
		s.errorf("%s: ambiguous redirect", wordSource(r.Word))
		return false
	}
	from, err := strconv.Atoi(digits)
	f := s.fd(from)
	if err != nil || f == nil {
		shown := digits
		if _, lit := plainWord(r.Word); !lit {
			shown = wordSource(r.Word)
		}
		s.errorf("%s: %s", shown, command.Strerror(syscall.EBADF))
		return false
	}
	if !s.place(f.retain(), n, variable, fallback, undo) {
		return false
	}
	if n < 0 {
		n = fallback
	}
	if move && from != n {
		s.replaceFD(from, nil, undo)
	}
	return true
}

// closeRedirect closes a descriptor, named by number or by a variable's value.
func (s *state) closeRedirect(n int, variable string, fallback int, undo *undoFDs) bool {
	if variable != "" {
		p, ok := s.namedParameter(variable)
		fd, err := strconv.Atoi(p.val)
		if !ok || err != nil || fd < 0 || fd >= s.maxFD() {
			s.errorf("%s: %s", variable, command.Strerror(syscall.EBADF))
			return false
		}
		s.setFD(fd, nil)
		return true
	}
	if n < 0 {
		n = fallback
	}
	s.replaceFD(n, nil, undo)
	return true
}

// redirectBoth applies &> and &>>.
func (s *state) redirectBoth(r *syntax.Redirect, undo *undoFDs) bool {
	path, ok := s.target(r)
	if !ok {
		return false
	}
	if r.Op == syntax.AppAll {
		return s.openBoth(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_APPEND, undo)
	}
	if s.opts.on(optNoclobber) {
		f, ok := s.openNew(path)
		return ok && s.placeBoth(f, undo)
	}
	return s.openBoth(path, syscall.O_WRONLY|syscall.O_CREAT|syscall.O_TRUNC, undo)
}

func (s *state) openBoth(path string, flags int, undo *undoFDs) bool {
	f, ok := s.openReported(path, flags)
	return ok && s.placeBoth(f, undo)
}

func (s *state) placeBoth(f *openFile, undo *undoFDs) bool {
	s.replaceFD(1, f, undo)
	s.replaceFD(2, f.retain(), undo)
	return true
}

// assignReference assigns to a name or an element given as text.
func (s *state) assignReference(ref, value string) bool {
	if i := strings.IndexByte(ref, '['); i > 0 && strings.HasSuffix(ref, "]") && validName(ref[:i]) {
		return s.assignElement(ref[:i], subscriptText(ref[i+1:len(ref)-1]), value, false)
	}
	if !validName(ref) {
		s.errorf("`%s': not a valid identifier", ref)
		return false
	}
	return s.assign(ref, value, false)
}

// readsFile returns the contents of the file of $(<file), and whether the
// commands are of that form.
func (s *state) readsFile(stmts []*syntax.Stmt) (string, bool) {
	if len(stmts) != 1 {
		return "", false
	}
	st := stmts[0]
	if st.Cmd != nil || len(st.Redirs) != 1 || st.Negated || st.Background {
		return "", false
	}
	r := st.Redirs[0]
	if r.Op != syntax.RdrIn || r.N != nil && r.N.Value != "0" {
		return "", false
	}
	s.substStatus, s.status = 0, 0
	f, ok := s.redirectFile(r)
	if !ok {
		s.substStatus, s.status = 1, 1
		return "", true
	}
	defer f.release()
	var out []byte
	buf := make([]byte, 4096)
	for {
		n, err := f.Read(s.p.ctx, buf)
		s.room(len(out) + n)
		out = append(out, buf[:n]...)
		if n == 0 || err != nil {
			if err != nil && vfs.ToErrno(err) == syscall.EISDIR {
				s.errorf("%s: %s", f.name, command.Strerror(err))
				s.substStatus, s.status = 1, 1
			}
			break
		}
	}
	return s.trimOutput(out), true
}
