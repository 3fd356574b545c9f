package posix

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareCoherence) }

func declareCoherence(s *harness.Suite) {
	g := s.Group("coherence")
	coherenceViews(g)
	coherenceCaches(g)
}

// look is one way to see a directory: from this thread, from another process,
// by another mount. All of them show one state.
type look interface {
	stat(name string) string // "missing", or mode, size, links, owner and mtime
	read(name string) string // the content, or the error
	list() string            // the names, sorted
	change(words string)     // a command of the changer role
}

// view is the look of a directory by its path.
type view struct {
	t   *T
	dir string
}

func (v view) stat(name string) string { return statWords(v.dir + "/" + name) }
func (v view) read(name string) string { return readWords(v.dir + "/" + name) }
func (v view) list() string {
	names, err := listWords(v.dir)
	v.t.Must(err)
	return names
}
func (v view) change(words string) { v.t.OK(applyChange(v.dir, strings.Fields(words)), "%s", words) }

// statWords is what two looks at a file must agree about.
func statWords(path string) string {
	s, err := harness.TryStat(cwd, path, unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return harness.ErrnoName(err.(unix.Errno))
	}
	return fmt.Sprintf("ino=%d,mode=%o,size=%d,links=%d,owner=%d:%d,mtime=%d,ctime=%d", s.Ino, s.Mode, s.Size, s.Nlink, s.UID, s.GID, s.Mtime, s.Ctime)
}

func readWords(path string) string {
	b, err := harness.ReadFile(path)
	if err != nil {
		return "error"
	}
	return "=" + string(b)
}

// process is the look of another process.
type process struct{ c *harness.Child }

func (p process) stat(name string) string { return p.c.Ask("stat %s", name) }
func (p process) read(name string) string { return p.c.Ask("read %s", name) }
func (p process) list() string            { return p.c.Ask("list") }
func (p process) change(words string)     { p.c.Expect("ok", "%s", words) }

func init() {
	harness.RegisterRole("changer", func(p *harness.Peer) int {
		for {
			w, ok := p.Next()
			if !ok {
				return 0
			}
			switch w[0] {
			case "stat":
				p.Say("%s", statWords(w[1]))
			case "read":
				p.Say("%s", readWords(w[1]))
			case "list":
				names, err := listWords(".")
				if err != nil {
					names = err.Error()
				}
				p.Say("%s", names)
			default:
				p.SayErr(applyChange(".", w))
			}
		}
	})
}

func listWords(dir string) (string, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	all, err := harness.Entries(fd, 8192)
	if err != nil {
		return "", err
	}
	return sortedNames(all), nil
}

// sortedNames joins the names of a listing, without those that begin with a
// dot.
func sortedNames(all []harness.Dirent) string {
	var names []string
	for _, e := range all {
		if !strings.HasPrefix(e.Name, ".") {
			names = append(names, e.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// applyChange carries out one command below dir.
func applyChange(dir string, w []string) error {
	path := func(i int) string { return dir + "/" + w[i] }
	number := func(i int) int64 {
		var n int64
		if _, err := fmt.Sscanf(w[i], "%v", &n); err != nil {
			panic(err) // a command of a case, mistyped
		}
		return n
	}
	switch w[0] {
	case "create":
		return opens(unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY)(path(1))
	case "write":
		return writeFile(path(1), unix.O_CREAT|unix.O_TRUNC, w[2])
	case "append":
		return writeFile(path(1), unix.O_APPEND, w[2])
	case "overwrite":
		return writeFile(path(1), 0, w[2])
	case "truncate":
		return unix.Truncate(path(1), number(2))
	case "unlink":
		return unix.Unlink(path(1))
	case "mkdir":
		return unix.Mkdir(path(1), 0o755)
	case "rmdir":
		return unix.Rmdir(path(1))
	case "rename":
		return unix.Rename(path(1), path(2))
	case "link":
		return unix.Link(path(1), path(2))
	case "symlink":
		return unix.Symlink(w[1], path(2))
	case "chmod":
		return unix.Chmod(path(1), uint32(number(2)))
	case "touch":
		return unix.UtimesNanoAt(cwd, path(1), []unix.Timespec{{Sec: number(2)}, {Sec: number(2)}}, 0)
	case "setxattr":
		return unix.Setxattr(path(1), w[2], []byte(w[3]), 0)
	}
	panic("posix: no change " + w[0])
}

func writeFile(path string, flags int, content string) error {
	fd, err := unix.Open(path, unix.O_WRONLY|unix.O_CLOEXEC|flags, 0o644)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return harness.WriteAll(fd, []byte(content))
}

// coherenceScripts are changes that one side makes while both look after each.
var coherenceScripts = map[string][]string{
	"grow-in-place":       {"write f 0123456789", "append f " + strings.Repeat("x", 90), "append f y"},
	"shrink-in-place":     {"write f " + strings.Repeat("x", 100), "truncate f 10", "truncate f 0", "append f z"},
	"overwrite-same-size": {"write f 0123456789", "overwrite f abcdefghij", "overwrite f ABC"},
	"rewrite-whole":       {"write f short", "write f " + strings.Repeat("longer", 20), "write f short-again"},
	"replace-by-rename":   {"write f old", "write t " + strings.Repeat("new", 30), "rename t f", "write t x", "rename t f"},
	"appear-and-vanish":   {"create a", "unlink a", "create a", "unlink a", "mkdir a", "rmdir a", "write a x"},
	"rename-away":         {"write f x", "rename f g", "rename g f", "rename f a"},
	"rename-a-directory":  {"mkdir d", "write d/f inner", "rename d e", "write e/f changed", "mkdir d", "write d/f other"},
	"link-and-unlink":     {"write f x", "link f g", "append g y", "unlink f", "append g z"},
	"modes-and-times":     {"write f x", "chmod f 384", "touch f 1000", "chmod f 420", "touch f 2000", "setxattr f user.a v"},
	"symlink-retarget":    {"write a one", "write b two", "symlink a f", "unlink f", "symlink b f"},
	"file-to-directory":   {"write f x", "unlink f", "mkdir f", "write f/a inner", "unlink f/a", "rmdir f", "write f again"},
	"truncate-and-grow":   {"write f 0123456789", "truncate f 3", "truncate f 20", "overwrite f ab"},
	"many-names":          {"create a", "create b", "create c", "unlink b", "rename c b", "rename a c"},
}

// coherenceViews runs each script on one side and compares the two sides after
// every step, having looked before it, so that whatever is cached is cached.
func coherenceViews(g *Group) {
	views := map[string]func(t *T) look{
		"another-process": func(t *T) look { return process{t.Child("changer")} },
		"a-bind-mount":    bindView,
		"a-second-mount":  func(t *T) look { return view{t, t.Second()} },
	}
	for name, script := range coherenceScripts {
		for viewName, other := range views {
			for _, maker := range []string{"here", "there"} {
				g.Sub("%s", viewName).Case(name+"/changed-"+maker, func(t *T) {
					here, there := look(view{t, "."}), other(t)
					if maker == "there" {
						here, there = there, here
					}
					for _, step := range script {
						agree(t, here, there, "before "+step)
						here.change(step)
						agree(t, there, here, "after "+step)
					}
				})
			}
		}
	}
}

// bindView shows the case's directory by a bind mount on a directory beside
// the names that the scripts use.
func bindView(t *T) look {
	t.Private()
	t.Dir(".mnt", 0o755)
	t.Bind(".", ".mnt", 0)
	return view{t, ".mnt"}
}

// agree asserts that two looks see the same.
func agree(t *T, a, b look, when string) {
	eq(t, when+": names", a.list(), b.list())
	for _, name := range []string{"f", "g", "a", "b", "t", "d", "e", "d/f", "e/f"} {
		eq(t, when+": stat of "+name, a.stat(name), b.stat(name))
		eq(t, when+": bytes of "+name, a.read(name), b.read(name))
	}
}

// coherenceCaches: descriptors and mappings that one side keeps open.
func coherenceCaches(g *Group) {
	g = g.Sub("kept-open")
	for viewName, open := range map[string]func(t *T) look{
		"another-process": func(t *T) look { return process{t.Child("changer")} },
		"a-bind-mount":    bindView,
		"a-second-mount":  func(t *T) look { return view{t, t.Second()} },
	} {
		sub := g.Sub("%s", viewName)
		sub.Case("descriptor/sees-bytes-and-size", func(t *T) {
			other := open(t)
			t.Write("f", "0123456789")
			fd := t.Open("f", unix.O_RDWR)
			for i, c := range []struct{ change, want string }{
				{"append f abc", "0123456789abc"}, {"overwrite f ABC", "ABC3456789abc"}, {"truncate f 4", "ABC3"}, {"truncate f 6", "ABC3\x00\x00"},
				{"write f new", "new"},
			} {
				other.change(c.change)
				eq(t, fmt.Sprintf("size after %d", i), t.Fstat(fd).Size, int64(len(c.want)))
				bytesAre(t, fd, []byte(c.want))
			}
			put(t, fd, []byte("HERE"), 1)
			eq(t, "the other's bytes", other.read("f"), "=nHERE")
		})
		sub.Case("mapping/sees-bytes", func(t *T) {
			other := open(t)
			t.Write("f", strings.Repeat("0", 4096))
			b := mapped(t, t.Open("f", unix.O_RDWR), 4096, rw, shared)
			sink = b[0]
			other.change("overwrite f changed")
			t.Check(bytes.HasPrefix(b, []byte("changed0")), "the mapping has %q", b[:10])
			copy(b, "MAPPED!")
			if viewName == "a-second-mount" {
				// Two mounts may have two page caches: a store shows beyond
				// its own when it is synced.
				t.OK(unix.Msync(b, unix.MS_SYNC))
			}
			t.Check(strings.HasPrefix(other.read("f"), "=MAPPED!0"), "the other does not see the store")
		})
		sub.Case("directory/lists-what-is-there", func(t *T) {
			other := open(t)
			t.Dir("d", 0o755)
			fd := t.Open("d", unix.O_RDONLY)
			want := ""
			for _, c := range []struct{ change, want string }{
				{"create d/a", "a"}, {"mkdir d/b", "a b"}, {"rename d/a d/c", "b c"}, {"rmdir d/b", "c"}, {"unlink d/c", ""},
			} {
				t.Must1(unix.Seek(fd, 0, unix.SEEK_SET))
				all, err := harness.Entries(fd, 4096)
				t.OK(err)
				eq(t, "before "+c.change, sortedNames(all), want)
				other.change(c.change)
				t.Must1(unix.Seek(fd, 0, unix.SEEK_SET))
				all, err = harness.Entries(fd, 4096)
				t.OK(err)
				eq(t, "after "+c.change, sortedNames(all), c.want)
				want = c.want
			}
		})
		sub.Case("unlinked-by-the-other/lives-on", func(t *T) {
			other := open(t)
			t.Write("f", "0123456789")
			fd := t.Open("f", unix.O_RDWR)
			other.change("unlink f")
			eq(t, "links", t.Fstat(fd).Nlink, 0)
			put(t, fd, []byte("still"), 0)
			bytesAre(t, fd, []byte("still56789"))
			other.change("write f another")
			bytesAre(t, fd, []byte("still56789"))
			t.Content("f", "another")
		})
		sub.Case("dirty-here/is-read-there-without-fsync", func(t *T) {
			other := open(t)
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			for i := range 10 {
				put(t, fd, []byte(fmt.Sprint(i)), int64(i))
				eq(t, "the other's bytes", other.read("f"), "="+"0123456789"[:i+1])
			}
		})
	}
}
