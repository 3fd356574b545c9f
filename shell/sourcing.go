package shell

import (
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// builtinSource runs a file in this shell.
func builtinSource(s *state, b *builtin, args []string) int {
	rest, ok := s.noOptions(b, args)
	if !ok {
		return 2
	}
	if len(rest) == 0 {
		s.builtinError(b, "filename argument required")
		s.usage(b)
		return 2
	}
	file := rest[0]
	if strings.IndexByte(file, '/') < 0 && s.opts.shopts(shoptSourcepath) {
		if found, ok := s.findSource(file); ok {
			file = found
		}
	}
	text, err := s.walkerRead(file)
	if err != nil {
		if err == syscall.EISDIR {
			s.builtinError(b, "%s: is a directory", rest[0])
			return 1
		}
		s.errorf("%s: %s", rest[0], command.Strerror(err))
		return 1
	}
	return s.sourceText(file, text, rest[1:])
}

// findSource looks for a readable file in PATH.
func (s *state) findSource(name string) (string, bool) {
	for _, dir := range strings.Split(s.get("PATH"), ":") {
		path := dirOrDot(dir) + "/" + name
		if a, err := s.walker().Stat(path); err == nil && a.IsRegular() && a.Ino != virtualIno {
			return path, true
		}
	}
	return "", false
}

// walkerRead reads a script file, a pipe or whatever else there is at a path.
func (s *state) walkerRead(path string) (string, error) {
	f, err := s.open(path, syscall.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.release()
	var b strings.Builder
	buf := make([]byte, 32<<10)
	for {
		n, err := f.Read(s.p.ctx, buf)
		b.Write(buf[:n])
		if b.Len() > maxScript {
			return "", syscall.EFBIG
		}
		if n == 0 || err != nil {
			if e := vfs.ToErrno(err); e == syscall.EISDIR {
				return "", e
			}
			return b.String(), nil
		}
	}
}

// sourceText runs a file's text in this shell, with other positional
// parameters if there are any.
func (s *state) sourceText(file, text string, params []string) int {
	s.deeper()
	defer s.shallower()
	fr := &frame{own: s.own, name: "source", source: file, line: s.line}
	if len(params) > 0 {
		fr.params, fr.shadowed = s.params, true
		s.params = params
	}
	s.paramsSet = false
	s.frames = append(s.frames, fr)
	place := len(s.frames) - 1
	line, source, loops := s.line, s.source, s.loops
	hidden := s.hideTraps(true)
	s.sources++
	s.source = file
	defer func() {
		s.showTraps(hidden)
		s.sources--
		s.source, s.line, s.loops = source, line, loops
		s.popFrame(place)
	}()
	if strings.TrimSpace(text) == "" {
		s.status = 0
	}
	s.runText(text, 1, "")
	if s.ctl == ctlReturn {
		s.ctl = ctlNone
	}
	s.runTrap(trapRETURN)
	return s.status
}
