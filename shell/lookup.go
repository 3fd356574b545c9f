package shell

import (
	"fmt"
	"sort"
	"strings"
	"syscall"

	"mvdan.cc/sh/v3/syntax"

	"github.com/vfsd/vfsd/shell/command"
	"github.com/vfsd/vfsd/shell/parse"
	"github.com/vfsd/vfsd/vfs"
)

func isMark(l *syntax.Lit) bool { return l == parse.AppendMark }

// keywords are the reserved words, as compgen -k lists them.
var keywords = []string{"if", "then", "else", "elif", "fi", "case", "esac", "for", "select", "while", "until", "do",
	"done", "in", "function", "time", "{", "}", "!", "[[", "]]", "coproc"}

func isKeyword(name string) bool {
	for _, k := range keywords {
		if k == name {
			return true
		}
	}
	return false
}

// builtinType tells what names mean.
func builtinType(s *state, b *builtin, args []string) int {
	for i, a := range args {
		switch a {
		case "-type", "--type":
			args[i] = "-t"
		case "-path", "--path":
			args[i] = "-p"
		case "-all", "--all":
			args[i] = "-a"
		}
	}
	opts := newOptions(s, b, args, "afptP")
	q := typeQuery{}
	for opts.next() {
		switch opts.opt {
		case 'a':
			q.all = true
		case 'f':
			q.noFuncs = true
		case 'p':
			q.path, q.word = true, false
		case 't':
			q.word, q.path = true, false
		case 'P':
			q.path, q.force = true, true
		}
	}
	if opts.failed {
		return 2
	}
	status := 0
	var out strings.Builder
	for _, name := range opts.rest() {
		if !s.describeName(&out, name, &q) {
			if !q.word && !q.path {
				s.print(b, out.String())
				out.Reset()
				s.builtinError(b, "%s: not found", name)
			}
			status = 1
		}
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}

// typeQuery says what of a name is asked for.
type typeQuery struct {
	all     bool // every meaning
	noFuncs bool
	path    bool // only files, and only their paths
	force   bool // files though it means something else first
	word    bool // one word
	short   bool // command -v
	long    bool // command -V, which names builtins' kinds otherwise
}

// describeName writes what a name means; false when it means nothing.
func (s *state) describeName(out *strings.Builder, name string, q *typeQuery) bool {
	found := false
	add := func(word, long, short string) {
		found = true
		switch {
		case q.word:
			out.WriteString(word + "\n")
		case q.short:
			out.WriteString(short + "\n")
		case q.path:
		default:
			out.WriteString(long + "\n")
		}
	}
	more := func() bool { return !found || q.all }
	if !q.force {
		if text, ok := s.alias(name); ok {
			add("alias", name+" is aliased to `"+text+"'", "alias "+name+"="+singleQuote(text))
		}
		if more() && isKeyword(name) {
			add("keyword", name+" is a shell keyword", name)
		}
		if f := s.funcs[name]; more() && f != nil && !q.noFuncs {
			add("function", name+" is a function\n"+s.functionText(f), name)
		}
		if b := s.builtin(name); more() && b != nil {
			long := name + " is a shell builtin"
			if b.special && s.opts.on(optPosix) {
				long = name + " is a special shell builtin"
			}
			add("builtin", long, name)
		}
	}
	if !more() {
		return true
	}
	return s.describeFiles(out, name, q, found)
}

// describeFiles writes the files that a name may run.
func (s *state) describeFiles(out *strings.Builder, name string, q *typeQuery, found bool) bool {
	file := func(path string, hashed bool) {
		found = true
		switch {
		case q.word:
			out.WriteString("file\n")
		case q.short || q.path:
			out.WriteString(path + "\n")
		case hashed:
			out.WriteString(name + " is hashed (" + path + ")\n")
		default:
			out.WriteString(name + " is " + path + "\n")
		}
	}
	if strings.IndexByte(name, '/') >= 0 {
		if a, err := s.walker().Stat(name); err == nil && !a.IsDir() && s.walker().Access(name, vfs.MayExec) == nil {
			file(name, false)
		}
		return found
	}
	if e := s.hash[name]; e != nil && !q.all {
		file(e.path, true)
		return true
	}
	if name == "" {
		return found
	}
	for _, dir := range strings.Split(s.get("PATH"), ":") {
		path, ok := s.findFile(name, dirOrDot(dir))
		if ok && s.walker().Access(path, vfs.MayExec) == nil {
			file(path, false)
			if !q.all {
				break
			}
		}
	}
	return found
}

func dirOrDot(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// defaultPath is what command -p searches.
const defaultPath = "/bin:/usr/bin:/sbin:/usr/sbin:/etc:/usr/etc"

// builtinCommand runs a command that is no function, or tells what a name is.
func builtinCommand(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "pVv")
	var std, short, long bool
	for opts.next() {
		switch opts.opt {
		case 'p':
			std = true
		case 'v':
			short, long = true, false
		case 'V':
			long, short = true, false
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if short || long {
		status := 0
		if len(rest) == 0 {
			return 0
		}
		var out strings.Builder
		status = 1
		for _, name := range rest {
			if s.describeName(&out, name, &typeQuery{short: short, long: long}) {
				status = 0
			} else if long {
				s.builtinError(b, "%s: not found", name)
			}
		}
		if n := s.print(b, out.String()); n != 0 {
			return n
		}
		return status
	}
	if len(rest) == 0 {
		return 0
	}
	if std {
		old := s.vars["PATH"]
		s.ownVars()["PATH"] = &variable{own: s.own, set: true, str: defaultPath, attr: attrExport}
		s.hash = nil
		defer func() {
			s.ownVars()["PATH"] = old
			if old == nil {
				delete(s.vars, "PATH")
			}
			s.hash = nil
		}()
	}
	return s.runCommandWords(rest)
}

// runCommandWords runs words as a command without looking at functions.
func (s *state) runCommandWords(words []string) int {
	if bi := s.builtin(words[0]); bi != nil {
		var undo undoFDs
		s.runBuiltin(bi, words, nil, &undo)
		return s.status
	}
	return s.external(words, false)
}

// builtinBuiltin runs a builtin even if a function has its name.
func builtinBuiltin(s *state, b *builtin, args []string) int {
	rest, ok := s.noOptions(b, args)
	if !ok {
		return 2
	}
	if len(rest) == 0 {
		return 0
	}
	bi := s.builtin(rest[0])
	if bi == nil {
		s.builtinError(b, "%s: not a shell builtin", rest[0])
		return 1
	}
	var undo undoFDs
	s.runBuiltin(bi, rest, nil, &undo)
	return s.status
}

// builtinHash shows and changes the table of remembered commands.
func builtinHash(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "dlrtp:")
	var forget, list, reset, tell bool
	path := ""
	for opts.next() {
		switch opts.opt {
		case 'd':
			forget = true
		case 'l':
			list = true
		case 'r':
			reset = true
		case 't':
			tell = true
		case 'p':
			path = opts.arg
		}
	}
	if opts.failed {
		return 2
	}
	if !s.opts.on(optHashall) {
		s.builtinError(b, "hashing disabled")
		return 1
	}
	if reset {
		s.hash, s.hashOwn = nil, nil
	}
	rest := opts.rest()
	if len(rest) == 0 {
		if reset {
			return 0
		}
		return s.listHash(b, list)
	}
	status := 0
	var out strings.Builder
	for _, name := range rest {
		switch {
		case path != "":
			if a, err := s.walker().Stat(path); err == nil && a.IsDir() {
				s.builtinError(b, "%s: %s", path, command.Strerror(syscall.EISDIR))
				status = 1
				continue
			}
			s.ownHash()[name] = &hashEntry{path: path}
		case forget, tell:
			e := s.hash[name]
			switch {
			case e == nil:
				s.builtinError(b, "%s: not found", name)
				status = 1
			case forget:
				delete(s.ownHash(), name)
			case list:
				out.WriteString("builtin hash -p " + e.path + " " + name + "\n")
			case len(rest) > 1:
				out.WriteString(name + "\t" + e.path + "\n")
			default:
				out.WriteString(e.path + "\n")
			}
		case strings.IndexByte(name, '/') >= 0 || s.funcs[name] != nil || s.builtin(name) != nil:
		default:
			delete(s.ownHash(), name)
			if file, ok := s.findFile(name, s.get("PATH")); ok {
				s.ownHash()[name] = &hashEntry{path: file}
			} else {
				s.builtinError(b, "%s: not found", name)
				status = 1
			}
		}
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}

func (s *state) listHash(b *builtin, reusable bool) int {
	if len(s.hash) == 0 {
		return s.print(b, "hash: hash table empty\n")
	}
	names := make([]string, 0, len(s.hash))
	for n := range s.hash {
		names = append(names, n)
	}
	// The order of Bash's table, which has 256 buckets.
	sort.Slice(names, func(i, j int) bool {
		a, c := bashHash(names[i])&255, bashHash(names[j])&255
		if a != c {
			return a < c
		}
		return names[i] < names[j]
	})
	var out strings.Builder
	if !reusable {
		out.WriteString("hits\tcommand\n")
	}
	for _, n := range names {
		e := s.hash[n]
		if reusable {
			out.WriteString("builtin hash -p " + e.path + " " + n + "\n")
		} else {
			fmt.Fprintf(&out, "%4d\t%s\n", e.hits, e.path)
		}
	}
	return s.print(b, out.String())
}

// builtinEnable switches builtins on and off.
func builtinEnable(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "adnpsf:")
	var all, off, special bool
	for opts.next() {
		switch opts.opt {
		case 'a':
			all = true
		case 'n':
			off = true
		case 's':
			special = true
		case 'd', 'f':
			s.builtinError(b, "dynamic loading not available")
			return 1
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if len(rest) == 0 {
		var out strings.Builder
		for _, n := range builtinNames() {
			if special && !builtins[n].special || !all && s.disabled[n] != off {
				continue
			}
			if s.disabled[n] {
				out.WriteString("enable -n " + n + "\n")
			} else {
				out.WriteString("enable " + n + "\n")
			}
		}
		return s.print(b, out.String())
	}
	status := 0
	for _, n := range rest {
		if builtins[n] == nil {
			s.builtinError(b, "%s: not a shell builtin", n)
			status = 1
			continue
		}
		disabled := map[string]bool{}
		for k := range s.disabled {
			disabled[k] = true
		}
		if off {
			disabled[n] = true
		} else {
			delete(disabled, n)
		}
		s.disabled = disabled
	}
	return status
}

// builtinAlias defines and shows aliases.
func builtinAlias(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "p")
	all := false
	for opts.next() {
		all = true
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	var out strings.Builder
	show := func(n string) {
		if strings.HasPrefix(n, "-") {
			out.WriteString("alias -- " + n + "=" + singleQuote(s.aliases[n]) + "\n")
			return
		}
		out.WriteString("alias " + n + "=" + singleQuote(s.aliases[n]) + "\n")
	}
	if all || len(rest) == 0 {
		names := make([]string, 0, len(s.aliases))
		for n := range s.aliases {
			names = append(names, n)
		}
		sort.Strings(names)
		for _, n := range names {
			show(n)
		}
	}
	status := 0
	for _, a := range rest {
		i := strings.IndexByte(a[min(1, len(a)):], '=') + 1
		if i > 0 {
			name := a[:i]
			if strings.ContainsAny(name, "/$`=&;|<>()\\'\" \t\n") {
				s.builtinError(b, "`%s': invalid alias name", name)
				status = 1
				continue
			}
			s.ownAliases()[name] = a[i+1:]
			continue
		}
		if _, ok := s.aliases[a]; !ok {
			s.builtinError(b, "%s: not found", a)
			status = 1
			continue
		}
		show(a)
	}
	if n := s.print(b, out.String()); n != 0 {
		return n
	}
	return status
}

// builtinUnalias removes aliases.
func builtinUnalias(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "a")
	all := false
	for opts.next() {
		all = true
	}
	if opts.failed {
		return 2
	}
	if all {
		s.aliases, s.aliOwn = nil, nil
		return 0
	}
	rest := opts.rest()
	if len(rest) == 0 {
		s.usage(b)
		return 2
	}
	status := 0
	for _, n := range rest {
		if _, ok := s.aliases[n]; !ok {
			s.builtinError(b, "%s: not found", n)
			status = 1
			continue
		}
		delete(s.ownAliases(), n)
	}
	return status
}

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
		fr.params = s.params
		s.params = params
	}
	s.frames = append(s.frames, fr)
	place := len(s.frames) - 1
	line, source, loops := s.line, s.source, s.loops
	hidden := s.hideTraps()
	s.sources++
	s.source = file
	defer func() {
		s.showTraps(hidden)
		s.sources--
		s.source, s.line, s.loops = source, line, loops
		s.popFrame(place)
	}()
	s.status = 0
	s.runText(text, 1, "")
	if s.ctl == ctlReturn {
		s.ctl = ctlNone
	}
	s.runTrap(trapRETURN)
	return s.status
}

// builtinExec replaces the shell by a command. (Redirections alone are dealt
// with before.)
func builtinExec(s *state, b *builtin, args []string) int {
	opts := newOptions(s, b, args, "cla:")
	clean, login, arg0 := false, false, ""
	for opts.next() {
		switch opts.opt {
		case 'c':
			clean = true
		case 'l':
			login = true
		case 'a':
			arg0 = opts.arg
		}
	}
	if opts.failed {
		return 2
	}
	rest := opts.rest()
	if len(rest) == 0 {
		return 0
	}
	name := rest[0]
	if strings.IndexByte(name, '/') > 0 {
		name = s.absolute(strings.TrimPrefix(name, "./"))
	}
	prog, err := s.resolve(name)
	if err != nil {
		return s.execFailed(b, name, err)
	}
	words := append([]string{}, rest...)
	if arg0 != "" {
		words[0] = arg0
	}
	if login {
		words[0] = "-" + words[0]
	}
	l := &launch{args: words, env: s.environ(prog.path), dir: s.dir, fds: s.fds, p: s.p}
	if clean {
		l.env = command.Environ{}
	}
	l.w = s.processWalker(s.p)
	s.p.args = words
	status, err := s.sh.run(s.x, l, prog, s.name0())
	if err != nil {
		return s.execFailed(b, name, err)
	}
	// The shell is gone: no trap of its runs.
	delete(s.ownTraps(), trapEXIT)
	if s.x.stopped.Load() {
		s.stop()
	}
	s.exit(status)
	return status
}

// execFailed reports that exec found nothing to run, which ends a shell that is
// not interactive.
func (s *state) execFailed(b *builtin, name string, err error) int {
	status := 126
	switch {
	case err == errNotFound:
		s.builtinError(b, "%s: not found", name)
		status = 127
	case err == syscall.ENOENT:
		s.errorf("%s: %s", name, command.Strerror(err))
		status = 127
	case err == syscall.EISDIR:
		s.errorf("%s: %s", name, command.Strerror(err))
		s.builtinError(b, "%s: cannot execute: %s", name, command.Strerror(err))
	default:
		s.errorf("%s: %s", name, command.Strerror(err))
		s.builtinError(b, "%s: cannot execute: %s", name, command.Strerror(err))
	}
	if !s.opts.shopts(shoptExecfail) {
		s.exit(status)
	}
	return status
}
