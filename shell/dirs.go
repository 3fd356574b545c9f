package shell

import (
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/vfs"
)

// builtinCd changes the working directory.
func builtinCd(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "eLP@")
	physical := s.opts.on(optPhysical)
	for opts.next() {
		switch opts.opt {
		case 'L':
			physical = false
		case 'P':
			physical = true
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if len(rest) > 1 {
		s.builtinError(b, "too many arguments")
		return 1
	}
	dir, show := "", false
	switch {
	case len(rest) == 0:
		home, ok := s.value("HOME")
		if !ok {
			s.builtinError(b, "HOME not set")
			return 1
		}
		dir = home
	case rest[0] == "-":
		old, ok := s.value("OLDPWD")
		if !ok {
			s.builtinError(b, "OLDPWD not set")
			return 1
		}
		dir, show = old, true
	default:
		dir = rest[0]
	}
	if dir == "" {
		return 0
	}
	if path, ok := s.cdPath(dir); ok {
		if s.chdir(path, physical) == nil {
			return s.print(b, s.dir+"\n")
		}
	}
	err := s.chdir(dir, physical)
	if err != nil && s.opts.shopts(shoptCdableVars) && validName(dir) {
		if v, ok := s.value(dir); ok {
			if s.chdir(v, physical) == nil {
				return s.print(b, s.dir+"\n")
			}
		}
	}
	if err != nil {
		s.builtinError(b, "%s: %s", dir, command.Strerror(err))
		return 1
	}
	if show {
		return s.print(b, s.dir+"\n")
	}
	return 0
}

// cdPath looks for a relative directory in CDPATH.
func (s *state) cdPath(dir string) (string, bool) {
	list := s.get("CDPATH")
	if list == "" || dir[0] == '/' || dir == "." || dir == ".." || strings.HasPrefix(dir, "./") || strings.HasPrefix(dir, "../") {
		return "", false
	}
	for _, d := range strings.Split(list, ":") {
		if d == "" || d == "." {
			if a, err := s.walker().Stat(dir); err == nil && a.IsDir() {
				return "", false
			}
			continue
		}
		path := strings.TrimRight(d, "/") + "/" + dir
		if a, err := s.walker().Stat(path); err == nil && a.IsDir() {
			return path, true
		}
	}
	return "", false
}

// chdir changes the working directory. The logical one is what PWD and the path
// make, dots resolved as text, if that leads anywhere.
func (s *state) chdir(dir string, physical bool) error {
	logical := cleanPath(s.absolute(dir))
	a, err := s.walker().Stat(logical)
	if physical || err != nil {
		a, err = s.walker().Stat(dir)
	}
	if err != nil {
		return err
	}
	if !a.IsDir() || a.Ino == virtualIno {
		return syscall.ENOTDIR
	}
	if err := s.walker().FS.Access(&s.walker().Op, a.Ino, vfs.MayExec); err != nil {
		return err
	}
	if physical {
		if logical, err = s.walker().Path(a.Ino); err != nil {
			return err
		}
	}
	s.enter(logical, a.Ino)
	s.setPWD()
	return nil
}

// enter makes a directory the working directory.
func (s *state) enter(dir string, ino vfs.Ino) {
	s.dir, s.ino, s.walk = dir, ino, nil
}

// setPWD sets PWD and OLDPWD to where the shell is and was.
func (s *state) setPWD() {
	old, had := s.value("PWD")
	if had {
		s.assignTo("OLDPWD", old, false)
		s.change("OLDPWD").attr |= attrExport
	}
	s.assignTo("PWD", s.dir, false)
	s.change("PWD").attr |= attrExport
}

// absolute puts the working directory before a relative path.
func (s *state) absolute(path string) string {
	if strings.HasPrefix(path, "/") {
		return path
	}
	if s.dir == "/" {
		return "/" + path
	}
	return s.dir + "/" + path
}

// cleanPath resolves the dots of an absolute path as text.
func cleanPath(path string) string {
	var out []string
	for _, n := range strings.Split(path, "/") {
		switch n {
		case "", ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, n)
		}
	}
	root := "/"
	if strings.HasPrefix(path, "//") && !strings.HasPrefix(path, "///") {
		root = "//" // POSIX lets two slashes mean something else
	}
	return root + strings.Join(out, "/")
}

// builtinPwd prints the working directory.
func builtinPwd(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "LP")
	physical := s.opts.on(optPhysical)
	for opts.next() {
		physical = opts.opt == 'P'
	}
	if opts.failed {
		return 2
	}
	dir := s.dir
	if physical {
		var err error
		if dir, err = s.walker().Path(s.ino); err != nil {
			s.errorf("pwd: error retrieving current directory: getcwd: cannot access parent directories: %s", command.Strerror(err))
			return 1
		}
	}
	return s.print(b, dir+"\n")
}
