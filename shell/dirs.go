package shell

import (
	"strconv"
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

// stackIndex resolves +N or -N against a stack of n directories, the working
// directory first.
func stackIndex(spec string, n int) (i int, isIndex, ok bool) {
	if len(spec) < 2 || spec[0] != '+' && spec[0] != '-' || !isDigits(spec[1:]) {
		return 0, false, false
	}
	i, err := strconv.Atoi(spec[1:])
	if spec[0] == '-' {
		i = n - 1 - i
	}
	return i, true, err == nil && i >= 0 && i < n
}

// builtinPushd adds to the directory stack, or rotates it.
func builtinPushd(s *state, b *builtin, args []string) int {
	rest, stay := s.stackArgs(args)
	if len(rest) > 1 {
		s.builtinError(b, "too many arguments")
		return 1
	}
	if len(rest) == 0 {
		if len(s.stack) == 0 {
			s.builtinError(b, "no other directory")
			return 1
		}
		to := s.stack[0]
		from := s.dir
		if !s.stackCd(b, to) {
			return 1
		}
		s.stack = append([]string{from}, s.stack[1:]...)
		return s.listStack(b)
	}
	all := append([]string{s.dir}, s.stack...)
	i, isIndex, ok := stackIndex(rest[0], len(all))
	switch {
	case isIndex && len(s.stack) == 0:
		s.builtinError(b, "directory stack empty")
		return 1
	case isIndex && !ok:
		s.builtinError(b, "%s: directory stack index out of range", rest[0])
		return 1
	case isIndex:
		turned := append(append([]string{}, all[i:]...), all[:i]...)
		if !stay && !s.stackCd(b, turned[0]) {
			return 1
		}
		s.stack = turned[1:]
		return s.listStack(b)
	case len(rest[0]) > 1 && rest[0][0] == '-' && rest[0] != "--":
		s.builtinError(b, "%s: invalid number", rest[0])
		s.usage(b)
		return 2
	}
	from := s.dir
	if stay {
		s.stack = append([]string{rest[0]}, s.stack...)
		return s.listStack(b)
	}
	dir := rest[0]
	if dir == "-" {
		dir = s.get("OLDPWD")
	}
	if !s.stackCd(b, dir) {
		return 1
	}
	s.stack = append([]string{from}, s.stack...)
	return s.listStack(b)
}

// stackArgs takes -n and "--" off.
func (s *state) stackArgs(args []string) (rest []string, stay bool) {
	rest = args[1:]
	for len(rest) > 0 {
		switch rest[0] {
		case "-n":
			stay = true
		case "--":
			return rest[1:], stay
		default:
			return rest, stay
		}
		rest = rest[1:]
	}
	return rest, stay
}

func (s *state) stackCd(b *builtin, dir string) bool {
	if err := s.chdir(dir, s.opts.on(optPhysical)); err != nil {
		s.builtinError(b, "%s: %s", dir, command.Strerror(err))
		return false
	}
	return true
}

// listStack prints the stack on one line.
func (s *state) listStack(b *builtin) int {
	return s.print(b, strings.Join(s.shortStack(), " ")+"\n")
}

// shortStack is the stack with home directories abbreviated.
func (s *state) shortStack() []string {
	out := []string{s.tilde(s.dir)}
	for _, d := range s.stack {
		out = append(out, s.tilde(d))
	}
	return out
}

// builtinPopd removes from the directory stack.
func builtinPopd(s *state, b *builtin, args []string) int {
	rest, stay := s.stackArgs(args)
	if len(s.stack) == 0 {
		s.builtinError(b, "directory stack empty")
		return 1
	}
	i := 0
	if len(rest) > 0 {
		n, isIndex, ok := stackIndex(rest[0], len(s.stack)+1)
		if !isIndex {
			s.builtinError(b, "%s: invalid argument", rest[0])
			s.usage(b)
			return 2
		}
		if !ok {
			s.builtinError(b, "%s: directory stack index out of range", rest[0])
			return 1
		}
		i = n
	}
	if i == 0 {
		if stay {
			s.stack = s.stack[1:]
			return s.listStack(b)
		}
		if !s.stackCd(b, s.stack[0]) {
			return 1
		}
		s.stack = s.stack[1:]
		return s.listStack(b)
	}
	s.stack = append(append([]string{}, s.stack[:i-1]...), s.stack[i:]...)
	return s.listStack(b)
}

// builtinDirs shows or clears the directory stack.
func builtinDirs(s *state, b *builtin, args []string) int {
	long, lines, numbered := false, false, false
	for _, a := range args[1:] {
		if i, isIndex, ok := stackIndex(a, len(s.stack)+1); isIndex {
			if !ok {
				if len(s.stack) == 0 {
					s.builtinError(b, "directory stack empty")
				} else {
					s.builtinError(b, "%s: directory stack index out of range", a)
				}
				return 1
			}
			d := append([]string{s.dir}, s.stack...)[i]
			if !long {
				d = s.tilde(d)
			}
			return s.print(b, d+"\n")
		}
		if len(a) < 2 || a[0] != '-' {
			s.builtinError(b, "%s: invalid option", a)
			s.usage(b)
			return 2
		}
		for _, c := range a[1:] {
			switch c {
			case 'c':
				s.stack = nil
				return 0
			case 'l':
				long = true
			case 'p':
				lines = true
			case 'v':
				lines, numbered = true, true
			case '-':
			default:
				s.builtinError(b, "-%c: invalid option", c)
				s.usage(b)
				return 2
			}
		}
	}
	list := s.shortStack()
	if long {
		list = append([]string{s.dir}, s.stack...)
	}
	if !lines {
		return s.print(b, strings.Join(list, " ")+"\n")
	}
	var out strings.Builder
	for i, d := range list {
		if numbered {
			out.WriteString(padLeft(itoa(i), 2) + "  ")
		}
		out.WriteString(d + "\n")
	}
	return s.print(b, out.String())
}

func padLeft(s string, n int) string { return strings.Repeat(" ", max(0, n-len(s))) + s }
