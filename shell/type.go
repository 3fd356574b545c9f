package shell

import (
	"strings"

	"github.com/vfsd/vfsd/vfs"
)

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
	dirs := s.get("PATH")
	for _, dir := range strings.Split(dirs, ":") {
		path, ok := s.findFile(name, dirOrDot(dir))
		if ok && s.walker().Access(path, vfs.MayExec) == nil {
			if dirs == "" {
				path = s.absolute(name)
			}
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
