package files

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/vfsd/vfsd/shell/cmd/files/gnulib"
	"github.com/vfsd/vfsd/shell/command"
)

// printAction is -print with that end.
func (f *finder) printAction(end string) test {
	return func(e *entry) bool {
		f.c.Stdout.WriteString(e.path + end)
		return true
	}
}

// actionOf compiles the predicates that do something; nil when it is none.
func (p *findParser) actionOf(name, spelled string) test {
	f := p.f
	switch name {
	case "-prune":
		p.prunes = true
		return func(*entry) bool { f.pruned = true; return true }
	case "-print", "-print0", "-printf", "-ls", "-quit", "-delete", "-exec", "-execdir", "-ok", "-okdir", "-fprint", "-fprint0", "-fprintf", "-fls":
		p.action = true
	default:
		return nil
	}
	switch name {
	case "-print":
		return f.printAction("\n")
	case "-print0":
		return f.printAction("\x00")
	case "-printf":
		return p.printf(f.c.Stdout, p.arg(spelled))
	case "-ls":
		return func(e *entry) bool { f.findLs(f.c.Stdout, e); return true }
	case "-quit":
		return func(*entry) bool { f.quit = true; return true }
	case "-delete":
		f.depthFirst, p.deletes = true, true
		return f.delete
	case "-exec", "-execdir", "-ok", "-okdir":
		return p.exec(name, spelled)
	}
	w, ok := p.outputFile(spelled)
	if !ok {
		return yes
	}
	switch name {
	case "-fprint", "-fprint0":
		end := "\n"
		if name == "-fprint0" {
			end = "\x00"
		}
		return func(e *entry) bool { w.WriteString(e.path + end); return true }
	case "-fprintf":
		return p.printf(w, p.arg(spelled))
	}
	return func(e *entry) bool { f.findLs(w, e); return true }
}

func (p *findParser) outputFile(spelled string) (*command.Writer, bool) {
	name := p.arg(spelled)
	if p.failed {
		return nil, false
	}
	w, err := p.f.output(name)
	if err != nil {
		p.f.complain(name, err)
		p.failed, p.status = true, 1
		return nil, false
	}
	return w, true
}

// delete removes a file; "." cannot be, and is left without a word.
func (f *finder) delete(e *entry) bool {
	if e.name == "." {
		return true
	}
	var err error
	if e.attr.IsDir() && !e.followed {
		err = e.at.Rmdir(e.name)
	} else {
		err = e.at.Unlink(e.name)
	}
	if err != nil {
		f.status = f.c.Errorf("cannot delete %s: %s", f.c.Quote(e.path), command.Strerror(err))
		return false
	}
	return true
}

// batchBytes bounds a command line that -exec + gathers, as ARG_MAX does.
const batchBytes = 128 << 10

// batch gathers files for one command line.
type batch struct {
	f       *finder
	command []string // up to {}
	dirwise bool     // -execdir
	dir     string
	files   []string
	bytes   int
}

// exec compiles -exec and its kin.
func (p *findParser) exec(name, spelled string) test {
	f := p.f
	start := p.at
	for ; p.at < len(p.args) && p.args[p.at] != ";"; p.at++ {
		if p.args[p.at] == "+" && p.at > start && p.args[p.at-1] == "{}" && strings.HasPrefix(name, "-exec") {
			break
		}
	}
	if p.at == start && p.at < len(p.args) {
		p.fail("invalid argument `%s' to `%s'", p.args[p.at], spelled)
		return yes
	}
	if p.at >= len(p.args) {
		p.fail("missing argument to `%s'", spelled)
		return yes
	}
	argv := p.args[start:p.at]
	many := p.args[p.at] == "+"
	p.at++
	dirwise := strings.HasSuffix(name, "dir")
	if !many {
		asks := strings.HasPrefix(name, "-ok")
		return func(e *entry) bool { return f.execOne(argv, e, dirwise, asks) }
	}
	for _, a := range argv[:len(argv)-1] {
		if strings.Contains(a, "{}") {
			p.fail("Only one instance of {} is supported with %s ... +", spelled)
			return yes
		}
	}
	if len(argv) == 1 {
		p.fail("missing argument to `%s'", spelled)
		return yes
	}
	b := &batch{f: f, command: argv[:len(argv)-1], dirwise: dirwise}
	f.batches = append(f.batches, b)
	return b.add
}

func (b *batch) add(e *entry) bool {
	name := e.path
	if b.dirwise {
		dir := ""
		name, dir = execName(e)
		if dir != b.dir {
			b.run("")
			b.dir = dir
		}
	}
	if b.bytes+len(name) > batchBytes {
		b.run("")
	}
	b.files = append(b.files, name)
	b.bytes += len(name) + 9
	return true
}

// run runs the command with what was gathered.
func (b *batch) run(string) {
	if len(b.files) == 0 || b.f.ctx.Err() != nil {
		return
	}
	argv := append(append([]string{}, b.command...), b.files...)
	b.files, b.bytes = nil, 0
	dir := ""
	if b.dirwise {
		dir = b.dir
	}
	if status, ok := b.f.spawn(argv, dir); !ok || status != 0 {
		b.f.status = 1
	}
}

// execName is a file's name for -execdir, and the directory to run in.
func execName(e *entry) (name, dir string) {
	dir = gnulib.Dir(e.path)
	base := gnulib.Base(e.path)
	if base == "/" {
		return "/", "/"
	}
	return "./" + base, dir
}

// execOne runs a command for one file; true when it succeeded.
func (f *finder) execOne(argv []string, e *entry, dirwise, asks bool) bool {
	name, dir := e.path, ""
	if dirwise {
		name, dir = execName(e)
	}
	args := make([]string, len(argv))
	for i, a := range argv {
		args[i] = strings.ReplaceAll(a, "{}", name)
	}
	if asks {
		question := fmt.Sprintf("< %s ... %s > ? ", args[0], e.path)
		if err := f.c.Stdout.Flush(); err != nil {
			return false
		}
		f.c.Stderr.Write([]byte(question))
		if !f.answer() {
			return false
		}
	}
	status, ok := f.spawn(args, dir)
	return ok && status == 0
}

// answer reads a line and reports whether it starts with y.
func (f *finder) answer() bool {
	var line []byte
	one := make([]byte, 1)
	for {
		n, err := f.c.Stdin.Read(one)
		if n > 0 && one[0] != '\n' {
			line = append(line, one[0])
			if len(line) > 4096 {
				return false
			}
			continue
		}
		if n > 0 || err != nil {
			break
		}
	}
	return len(line) > 0 && (line[0] == 'y' || line[0] == 'Y')
}

func (f *finder) spawn(argv []string, dir string) (int, bool) {
	status, err := f.c.Run(f.ctx, &command.Child{Args: argv, Dir: dir})
	if err != nil {
		if toErrno(err) != syscall.EPIPE {
			f.c.Errorf("%s: %s", f.c.Quote(argv[0]), command.Strerror(err))
		}
		return 0, false
	}
	return status, true
}
