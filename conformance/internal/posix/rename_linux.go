package posix

import (
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareRename) }

func declareRename(s *harness.Suite) {
	g := s.Group("rename")
	renameMatrix(g)
	renameFlags(g)
	renameWhiteout(g)
	renameTrees(g)
	renameMoves(g)
	renameLimits(g)
	renameReplaced(g)
	renameOpen(g)
	renamePermissions(g)
	renameRaces(g)
}

const (
	noReplace = unix.RENAME_NOREPLACE
	exchange  = unix.RENAME_EXCHANGE
)

// The states of a target beside the kinds: nothing there, a directory with
// something in it, another name of the same inode, the very same name.
const (
	missing    Kind = "missing"
	fullDir    Kind = "nonempty-directory"
	secondName Kind = "second-name"
	itself     Kind = "itself"
)

// renameWant is the model of renameat2(2) by root. moves says whether a
// successful call does anything.
func renameWant(k, over Kind, flags uint) (e syscall.Errno, moves bool) {
	there := over != missing
	switch {
	case flags == noReplace && there:
		return unix.EEXIST, false
	case flags == exchange && !there:
		return unix.ENOENT, false
	case over == itself || over == secondName:
		return 0, false
	case flags == exchange || !there:
		return 0, true
	}
	overDir := over == harness.Dir || over == fullDir
	switch {
	case k == harness.Dir && !overDir:
		return unix.ENOTDIR, false
	case k != harness.Dir && overDir:
		return unix.EISDIR, false
	case over == fullDir:
		return unix.ENOTEMPTY, false
	}
	return 0, true
}

// renameMatrix renames every kind over every state of the target, with every
// flag, within a directory and from one to another.
func renameMatrix(g *Group) {
	targets := append([]Kind{missing, fullDir, secondName, itself}, harness.Kinds...)
	flagNames := map[uint]string{0: "plain", noReplace: "NOREPLACE", exchange: "EXCHANGE"}
	for flags, flagName := range flagNames {
		for _, k := range harness.Kinds {
			for _, over := range targets {
				if k == harness.Dir && over == secondName {
					continue // directories have one name
				}
				for _, place := range []string{"same-directory", "other-directory"} {
					if place == "other-directory" && over == itself {
						continue
					}
					want, moves := renameWant(k, over, flags)
					name := string(k) + "-over-" + string(over) + "/" + place + "/" + errName(want)
					g.Sub("%s", flagName).Case(name, func(t *T) {
						r := renameTry{t: t, kind: k, over: over, flags: flags, from: "a/x", to: "a/y"}
						if place == "other-directory" {
							r.to = "b/y"
						}
						if over == itself {
							r.to = r.from
						}
						r.prepare()
						if !moves {
							t.Unchanged(func() { t.Result(r.call(), want) })
							return
						}
						r.succeed()
					})
				}
			}
		}
	}
}

// renameTry is one rename of renameMatrix.
type renameTry struct {
	t          *T
	kind, over Kind
	flags      uint
	from, to   string
}

func (r *renameTry) call() error { return unix.Renameat2(cwd, r.from, cwd, r.to, r.flags) }

func (r *renameTry) prepare() {
	t := r.t
	t.Dir("a", 0o755)
	t.Dir("b", 0o755)
	t.Make(r.kind, r.from)
	switch r.over {
	case missing, itself:
	case secondName:
		t.Link(r.from, r.to)
	case fullDir:
		t.Dir(r.to, 0o755)
		t.File(r.to+"/inner", 0o644)
	default:
		t.Make(r.over, r.to)
		if r.over != harness.Dir {
			t.Link(r.to, "kept") // shows what becomes of what is replaced
		}
	}
}

// succeed renames and looks at everything that must have followed.
func (r *renameTry) succeed() {
	t := r.t
	was := t.Lstat(r.from)
	there := r.over != missing
	var target harness.Stat
	if there {
		target = t.Lstat(r.to)
	}
	kept := t.Exists("kept")
	marked := []string{"a", "b", r.from}
	if kept {
		marked = append(marked, "kept")
	}
	m := t.Mark(marked...)
	if !t.OK(r.call()) {
		return
	}
	t.Is(r.to, was)
	swapped := r.flags == exchange
	if swapped {
		t.Is(r.from, target)
	} else {
		t.Gone(r.from)
	}
	m.Moved("a", harness.M|harness.C)
	across := !strings.HasPrefix(r.to, "a/")
	if across {
		m.Moved("b", harness.M|harness.C)
	} else {
		m.Still("b")
	}
	m.MovedAs(r.from, r.to, harness.C)
	if kept {
		m.Moved("kept", harness.C)
		links := uint32(1)
		if swapped {
			links = 2
		}
		t.Nlink("kept", links)
	}
	r.links(swapped)
	t.Check(sameAttributes(was, t.Lstat(r.to)), "attributes changed")
}

// links checks the counts of the two parents, and that a directory that moved
// knows its new one.
func (r *renameTry) links(swapped bool) {
	t := r.t
	a, b := uint32(2), uint32(2)
	count := func(name string) {
		if s, err := harness.TryStat(cwd, name, unix.AT_SYMLINK_NOFOLLOW); err == nil && s.Type() == unix.S_IFDIR {
			if strings.HasPrefix(name, "a/") {
				a++
			} else {
				b++
			}
			t.Is(name+"/..", t.Lstat(name[:1]))
		}
	}
	count(r.to)
	if swapped {
		count(r.from)
	}
	t.Nlink("a", a)
	t.Nlink("b", b)
}

// sameAttributes compares what a rename leaves alone.
func sameAttributes(x, y harness.Stat) bool {
	return x.Ino == y.Ino && x.Mode == y.Mode && x.UID == y.UID && x.GID == y.GID && x.Size == y.Size &&
		x.Nlink == y.Nlink && x.Rdev == y.Rdev && x.Mtime == y.Mtime
}

// renameFlags: flags that do not go together, or are none.
func renameFlags(g *Group) {
	g = g.Sub("flags")
	for name, flags := range map[string]uint{
		"NOREPLACE-and-EXCHANGE": noReplace | exchange,
		"WHITEOUT-and-EXCHANGE":  unix.RENAME_WHITEOUT | exchange,
		"unknown-8":              8,
		"unknown-high":           1 << 20,
	} {
		g.Case(name+"/is-EINVAL", func(t *T) {
			t.File("x", 0o644)
			t.File("y", 0o644)
			t.Unchanged(func() { t.Errno(unix.Renameat2(cwd, "x", cwd, "y", flags), unix.EINVAL) })
		})
	}
	g.Case("missing-source/is-ENOENT-with-each", func(t *T) {
		t.File("y", 0o644)
		t.Unchanged(func() {
			for _, flags := range []uint{0, noReplace, exchange} {
				t.Errno(unix.Renameat2(cwd, "x", cwd, "y", flags), unix.ENOENT)
				t.Errno(unix.Renameat2(cwd, "x", cwd, "z", flags), unix.ENOENT)
			}
		})
	})
	g.Case("EXCHANGE/parent-with-child-is-refused", func(t *T) {
		t.Dir("p", 0o755)
		t.Dir("p/c", 0o755)
		t.Unchanged(func() {
			t.Errno(unix.Renameat2(cwd, "p", cwd, "p/c", exchange), unix.EINVAL)
			t.Errno(unix.Renameat2(cwd, "p/c", cwd, "p", exchange), unix.EINVAL)
		})
	})
	g.Case("EXCHANGE/twice-is-as-before", func(t *T) {
		t.Dir("d", 0o755)
		t.Write("d/f", "in d")
		t.Write("x", "x")
		d, x := t.Lstat("d"), t.Lstat("x")
		t.OK(unix.Renameat2(cwd, "d", cwd, "x", exchange))
		t.Content("x/f", "in d")
		t.Content("d", "x")
		t.OK(unix.Renameat2(cwd, "d", cwd, "x", exchange))
		t.Is("d", d)
		t.Is("x", x)
	})
	g.Case("EXCHANGE/directory-and-file-across-parents-moves-the-link-counts", func(t *T) {
		t.Dir("p", 0o755)
		t.Dir("q", 0o755)
		t.Dir("p/d", 0o755)
		t.File("q/f", 0o644)
		t.OK(unix.Renameat2(cwd, "p/d", cwd, "q/f", exchange))
		t.Nlink("p", 2)
		t.Nlink("q", 3)
		t.Is("q/f/..", t.Lstat("q"))
	})
}

// renameWhiteout: RENAME_WHITEOUT leaves a 0:0 character device behind, as
// overlayfs needs it.
func renameWhiteout(g *Group) {
	g = g.Sub("WHITEOUT")
	for _, k := range harness.Kinds {
		for _, over := range []Kind{missing, harness.File} {
			if k == harness.Dir && over == harness.File {
				continue
			}
			g.Case(string(k)+"-over-"+string(over)+"/leaves-a-whiteout", func(t *T) {
				t.NeedRoot()
				t.Dir("a", 0o755)
				t.Make(k, "a/x")
				if over != missing {
					t.Make(over, "y")
				}
				s := t.Lstat("a/x")
				if !t.OK(unix.Renameat2(cwd, "a/x", cwd, "y", unix.RENAME_WHITEOUT)) {
					return
				}
				t.Is("y", s)
				w := t.Lstat("a/x")
				eq(t, "type of what is left", w.Type(), unix.S_IFCHR)
				eq(t, "device of what is left", w.Rdev, 0)
				eq(t, "links of what is left", w.Nlink, 1)
				t.Nlink("a", 2)
				t.OK(unix.Unlink("a/x"))
			})
		}
	}
	g.Case("with-NOREPLACE-over-a-file/is-EEXIST", func(t *T) {
		t.NeedRoot()
		t.File("x", 0o644)
		t.File("y", 0o644)
		t.Unchanged(func() {
			t.Errno(unix.Renameat2(cwd, "x", cwd, "y", unix.RENAME_WHITEOUT|noReplace), unix.EEXIST)
		})
	})
}
