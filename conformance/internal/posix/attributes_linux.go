package posix

import (
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareAttributes) }

func declareAttributes(s *harness.Suite) {
	g := s.Group("attributes")
	chmodModes(g)
	chmodEffects(g)
	chmodPermissions(g)
	chownMatrix(g)
	chownSetID(g)
	writeSetID(g)
	setgidInheritance(g)
	timesSet(g)
	timesPermissions(g)
	timesMoved(g)
	timesOfData(g)
	timesAccess(g)
	statCases(g)
	statfsCases(g)
}

// modes is every permission bit alone and the combinations that matter.
func modes() []uint32 {
	list := []uint32{0, 0o777, 0o7777, 0o755, 0o644, 0o600, 0o4755, 0o2755, 0o1777, 0o6711, 0o4000, 0o2000, 0o1000, 0o123, 0o456, 0o070}
	for bit := uint32(1); bit <= 0o4000; bit <<= 1 {
		if !slices.Contains(list, bit) {
			list = append(list, bit)
		}
	}
	return list
}

// chmodModes sets every mode by every call.
func chmodModes(g *Group) {
	kinds := []Kind{harness.File, harness.Dir, harness.FIFO, harness.Socket, harness.Char}
	for _, k := range kinds {
		g.Sub("chmod/%s", k).Case("every-mode-by-path/is-what-was-asked", func(t *T) {
			t.Make(k, "x")
			for _, mode := range modes() {
				t.OK(unix.Chmod("x", mode), "chmod %#o", mode)
				t.Perm("x", mode)
			}
			eq(t, "type", t.Lstat("x").Type(), k.Type())
		})
		g.Sub("chmod/%s", k).Case("every-mode-by-O_PATH-and-proc/is-what-was-asked", func(t *T) {
			t.Make(k, "x")
			fd := t.Open("x", unix.O_PATH)
			for _, mode := range modes() {
				t.OK(unix.Chmod(procFD(fd), mode), "chmod %#o", mode)
				t.Perm("x", mode)
			}
		})
		g.Sub("chmod/%s", k).Case("bits-above-07777/are-ignored", func(t *T) {
			t.Make(k, "x")
			t.OK(unix.Chmod("x", 0o7770000|0o640))
			t.Perm("x", 0o640)
			eq(t, "type", t.Lstat("x").Type(), k.Type())
		})
	}
	for _, k := range []Kind{harness.File, harness.Dir} {
		g.Sub("chmod/%s", k).Case("every-mode-by-descriptor/is-what-was-asked", func(t *T) {
			t.Make(k, "x")
			fd := t.Open("x", unix.O_RDONLY)
			for _, mode := range modes() {
				t.OK(unix.Fchmod(fd, mode), "fchmod %#o", mode)
				t.Perm("x", mode)
				eq(t, "mode by fstat", t.Fstat(fd).Perm(), mode)
			}
		})
	}
}

// chmodEffects: links, other names, open files, and at once.
func chmodEffects(g *Group) {
	g = g.Sub("chmod")
	g.Case("symlink/changes-the-target", func(t *T) {
		t.File("f", 0o644)
		t.Symlink("f", "l")
		m := t.Mark("l")
		t.OK(unix.Chmod("l", 0o600))
		t.Perm("f", 0o600)
		t.Perm("l", 0o777)
		m.MovedOf("l", harness.M|harness.C, 0)
	})
	g.Case("symlink-itself/is-EOPNOTSUPP", func(t *T) {
		t.NeedKernel(6, 6, "fchmodat2")
		t.File("f", 0o644)
		t.Symlink("f", "l")
		t.Unchanged(func() {
			t.Errno(unix.Fchmodat(cwd, "l", 0o600, unix.AT_SYMLINK_NOFOLLOW), unix.EOPNOTSUPP)
		})
		t.OK(unix.Fchmodat(cwd, "f", 0o600, unix.AT_SYMLINK_NOFOLLOW), "of a file")
	})
	g.Case("another-name/shows-it", func(t *T) {
		t.File("f", 0o644)
		t.Link("f", "g")
		t.OK(unix.Chmod("f", 0o604))
		t.Perm("g", 0o604)
	})
	g.Case("open-descriptor/keeps-what-it-may", func(t *T) {
		t.NeedRoot()
		t.Write("f", "data")
		t.Chown("f", alice.UID, alice.GID)
		t.As(alice, func() {
			fd := t.Open("f", unix.O_RDWR)
			t.OK(unix.Chmod("f", 0))
			t.OK(harness.WriteAll(fd, []byte("D")))
			b, err := harness.ReadFrom(fd, 0, 4)
			t.OK(err)
			eq(t, "bytes", string(b), "Data")
			t.Errno(t.Try("f", unix.O_RDONLY, 0), unix.EACCES)
		})
	})
	g.Case("takes-effect-at-once-for-everyone", func(t *T) {
		t.NeedRoot()
		t.Write("f", "data")
		for i := range 20 {
			mode := uint32(0o600)
			var want syscall.Errno = unix.EACCES
			if i%2 == 1 {
				mode, want = 0o604, 0
			}
			t.Chmod("f", mode)
			t.As(alice, func() { t.Result(t.Try("f", unix.O_RDONLY, 0), want) })
		}
	})
	g.Case("search-permission-of-a-directory/takes-effect-at-once", func(t *T) {
		t.NeedRoot()
		t.Dir("d", 0o755)
		t.Write("d/f", "data")
		t.Chmod("d/f", 0o644)
		for i := range 20 {
			mode := uint32(0o700)
			var want syscall.Errno = unix.EACCES
			if i%2 == 1 {
				mode, want = 0o755, 0
			}
			t.Chmod("d", mode)
			t.As(alice, func() { t.Result(t.Try("d/f", unix.O_RDONLY, 0), want) })
		}
	})
}

// chmodPermissions: the owner and root change a mode; the owner sets setgid
// only for a group that is theirs.
func chmodPermissions(g *Group) {
	people := map[string]Cred{
		"owner":                      alice,
		"owner-in-the-file's-group":  {UID: alice.UID, GID: carol.GID},
		"owner-by-a-second-group":    {UID: alice.UID, GID: alice.GID, Groups: []int{carol.GID}},
		"member-of-the-file's-group": {UID: bob.UID, GID: carol.GID},
		"other":                      bob,
		"root":                       root,
	}
	for who, cred := range people {
		for _, k := range []Kind{harness.File, harness.Dir, harness.FIFO, harness.Socket, harness.Char} {
			for _, mode := range []uint32{0o640, 0o777, 0o4755, 0o2755, 0o1777, 0o6777} {
				var want syscall.Errno
				if cred.UID != alice.UID && cred.UID != 0 {
					want = unix.EPERM
				}
				g.Sub("chmod-permission/%s/%s", k, who).Case(fmt.Sprintf("%04o/%s", mode, errName(want)), func(t *T) {
					t.NeedRoot()
					t.MakeMode(k, "x", 0o666)
					t.Chown("x", alice.UID, carol.GID)
					t.As(cred, func() { t.Result(unix.Chmod("x", mode), want) })
					if want != 0 {
						t.Perm("x", 0o666)
						return
					}
					inGroup := cred.GID == carol.GID || slices.Contains(cred.Groups, carol.GID)
					if cred.UID != 0 && !inGroup {
						mode &^= unix.S_ISGID
					}
					t.Perm("x", mode)
				})
			}
		}
	}
}

// chownWant is the model of chown(2) on a file of alice and of group
// alice.GID: who may change what. -1 leaves an id alone.
func chownWant(who Cred, uid, gid int) syscall.Errno {
	if who.UID == 0 || uid == -1 && gid == -1 {
		return 0
	}
	if uid != -1 && (who.UID != alice.UID || uid != alice.UID) {
		return unix.EPERM
	}
	inGroup := gid == alice.GID || gid == who.GID || slices.Contains(who.Groups, gid)
	if gid != -1 && (who.UID != alice.UID || !inGroup) {
		return unix.EPERM
	}
	return 0
}

// chownMatrix crosses callers, ids, kinds and calls.
func chownMatrix(g *Group) {
	people := map[string]Cred{
		"owner":               {UID: alice.UID, GID: alice.GID, Groups: []int{22005, carol.GID}},
		"other-in-both":       {UID: bob.UID, GID: alice.GID, Groups: []int{carol.GID}},
		"other":               bob,
		"owner-from-no-group": {UID: alice.UID, GID: 22006},
		"root":                root,
	}
	uids := map[string]int{"keep": -1, "same": alice.UID, "other": bob.UID}
	gids := map[string]int{"keep": -1, "same": alice.GID, "member": carol.GID, "stranger": 22007}
	for who, cred := range people {
		for uidName, uid := range uids {
			for gidName, gid := range gids {
				want := chownWant(cred, uid, gid)
				name := fmt.Sprintf("user-%s-group-%s/%s", uidName, gidName, errName(want))
				g.Sub("chown/%s", who).Case(name, func(t *T) {
					t.NeedRoot()
					for _, k := range harness.Kinds {
						x := "x-" + string(k)
						t.Make(k, x)
						t.Chown(x, alice.UID, alice.GID)
						m := t.Mark(x)
						t.As(cred, func() { t.Result(unix.Lchown(x, uid, gid), want, "%s", k) })
						wantUID, wantGID, moved := alice.UID, alice.GID, harness.Times(0)
						if want == 0 {
							moved = harness.C
							if uid != -1 {
								wantUID = uid
							}
							if gid != -1 {
								wantGID = gid
							}
						}
						t.Owner(x, wantUID, wantGID)
						m.Moved(x, moved)
					}
				})
			}
		}
	}
	g = g.Sub("chown")
	g.Case("fchown/works-on-what-is-open", func(t *T) {
		t.NeedRoot()
		for _, k := range []Kind{harness.File, harness.Dir} {
			x := "x-" + string(k)
			t.Make(k, x)
			t.OK(unix.Fchown(t.Open(x, unix.O_RDONLY), 21009, 22009))
			t.Owner(x, 21009, 22009)
		}
	})
	g.Case("symlink/is-followed-by-chown-and-not-by-lchown", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o644)
		t.Symlink("f", "l")
		t.OK(unix.Chown("l", 21008, 22008))
		t.Owner("f", 21008, 22008)
		t.Owner("l", 0, 0)
		t.OK(unix.Lchown("l", 21009, 22009))
		t.Owner("f", 21008, 22008)
		t.Owner("l", 21009, 22009)
		t.OK(unix.Fchownat(cwd, "l", 5, 6, unix.AT_SYMLINK_NOFOLLOW))
		t.Owner("l", 5, 6)
	})
	g.Case("by-empty-path/works", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o644)
		t.OK(unix.Fchownat(t.Open("f", unix.O_PATH), "", 7, 8, unix.AT_EMPTY_PATH))
		t.Owner("f", 7, 8)
	})
	for _, id := range []int{0, 1, 65534, 65535, 65536, 1 << 24, 1<<31 - 1, 1 << 31, 1<<32 - 2} {
		g.Case(fmt.Sprintf("id-%d/is-kept", id), func(t *T) {
			t.NeedRoot()
			t.File("f", 0o644)
			t.OK(unix.Chown("f", id, id))
			t.Owner("f", id, id)
		})
	}
}

// chownSetID: giving a file away, or only seeming to, takes its set-id bits;
// setgid without group execute means something else and stays.
func chownSetID(g *Group) {
	g = g.Sub("chown-set-id")
	for _, who := range []struct {
		name string
		cred Cred
	}{{"root", root}, {"owner", Cred{UID: alice.UID, GID: alice.GID, Groups: []int{carol.GID}}}} {
		for _, mode := range []uint32{0o4755, 0o2755, 0o6777, 0o2745, 0o6745, 0o1777, 0o755} {
			for call, ids := range map[string][2]int{"group": {-1, carol.GID}, "same-ids": {alice.UID, alice.GID}, "neither": {-1, -1}} {
				g.Sub("%s", who.name).Case(fmt.Sprintf("%04o-by-%s", mode, call), func(t *T) {
					t.NeedRoot()
					for _, k := range []Kind{harness.File, harness.FIFO, harness.Dir} {
						x := "x-" + string(k)
						t.Make(k, x)
						t.Chown(x, alice.UID, alice.GID)
						t.Chmod(x, mode)
						t.As(who.cred, func() { t.OK(unix.Chown(x, ids[0], ids[1]), "%s", k) })
						want := mode
						if k != harness.Dir {
							want &^= unix.S_ISUID
							if mode&unix.S_IXGRP != 0 {
								want &^= unix.S_ISGID
							}
						}
						t.Perm(x, want)
					}
				})
			}
		}
	}
}

// writeSetID: whoever may not give set-id bits takes them away by writing.
func writeSetID(g *Group) {
	g = g.Sub("write-set-id")
	people := map[string]Cred{
		"owner":             alice,
		"owner-not-in-it":   {UID: alice.UID, GID: 22006},
		"writer":            bob,
		"writer-in-a-group": {UID: bob.UID, GID: alice.GID},
		"root":              root,
	}
	writes := map[string]func(t *T) error{
		"write":  func(t *T) error { _, err := unix.Write(t.Open("f", unix.O_WRONLY), []byte("x")); return err },
		"pwrite": func(t *T) error { _, err := unix.Pwrite(t.Open("f", unix.O_WRONLY), []byte("x"), 9); return err },
		"append": func(t *T) error {
			_, err := unix.Write(t.Open("f", unix.O_WRONLY|unix.O_APPEND), []byte("x"))
			return err
		},
		"truncate":   func(*T) error { return unix.Truncate("f", 2) },
		"ftruncate":  func(t *T) error { return unix.Ftruncate(t.Open("f", unix.O_WRONLY), 20) },
		"open-trunc": func(t *T) error { return t.Try("f", unix.O_WRONLY|unix.O_TRUNC, 0) },
		"fallocate":  func(t *T) error { return unix.Fallocate(t.Open("f", unix.O_WRONLY), 0, 0, 100) },
		"copy-range": func(t *T) error {
			_, err := unix.CopyFileRange(t.Open("src", unix.O_RDONLY), nil, t.Open("f", unix.O_WRONLY), nil, 3, 0)
			return err
		},
	}
	for who, cred := range people {
		for call, write := range writes {
			g.Sub("%s", who).Case(call, func(t *T) {
				t.NeedRoot()
				t.Write("src", "source")
				for _, mode := range []uint32{0o4777, 0o2777, 0o6777, 0o2767, 0o1777} {
					t.Write("f", "01234567")
					t.Chown("f", alice.UID, alice.GID)
					t.Chmod("f", mode)
					t.As(cred, func() { t.OK(write(t), "mode %04o", mode) })
					want := mode
					if cred.UID != 0 {
						want &^= unix.S_ISUID
						if mode&unix.S_IXGRP != 0 || cred.GID != alice.GID {
							want &^= unix.S_ISGID
						}
					}
					t.Perm("f", want)
					t.Must(unix.Unlink("f"))
				}
			})
		}
	}
	g.Case("write-of-nothing/takes-nothing", func(t *T) {
		t.NeedRoot()
		t.Write("f", "x")
		t.Chown("f", alice.UID, alice.GID)
		t.Chmod("f", 0o4777)
		t.As(alice, func() {
			_, err := unix.Write(t.Open("f", unix.O_WRONLY), nil)
			t.OK(err)
		})
		t.Perm("f", 0o4777)
	})
	g.Case("reading-and-opening/take-nothing", func(t *T) {
		t.NeedRoot()
		t.Write("f", "x")
		t.Chmod("f", 0o6777)
		t.As(alice, func() {
			t.Content("f", "x")
			t.OK(t.Try("f", unix.O_RDWR, 0))
		})
		t.Perm("f", 0o6777)
	})
}

// setgidInheritance: in a setgid directory everything new is of its group, and
// a new directory is setgid too.
func setgidInheritance(g *Group) {
	g = g.Sub("setgid-directory")
	makers := map[Kind]func(name string, mode uint32) error{
		harness.File: func(name string, mode uint32) error {
			fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, mode)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		},
		harness.Dir:     unix.Mkdir,
		harness.FIFO:    func(name string, mode uint32) error { return unix.Mknod(name, unix.S_IFIFO|mode, 0) },
		harness.Socket:  func(name string, mode uint32) error { return unix.Mknod(name, unix.S_IFSOCK|mode, 0) },
		harness.Symlink: func(name string, _ uint32) error { return unix.Symlink("t", name) },
	}
	people := map[string]Cred{
		"member":   {UID: alice.UID, GID: alice.GID, Groups: []int{carol.GID}},
		"stranger": alice,
		"root":     root,
	}
	for k, mk := range makers {
		for who, cred := range people {
			for dirMode, dirName := range map[uint32]string{0o2777: "setgid", 0o777: "plain"} {
				g.Sub("%s/%s", dirName, k).Case("made-by-"+who, func(t *T) {
					t.NeedRoot()
					t.Dir("d", 0o777)
					t.Chown("d", 0, carol.GID)
					t.Chmod("d", dirMode)
					setgid := dirMode&unix.S_ISGID != 0
					for i, mode := range []uint32{0o644, 0o755, 0o2775, 0o2764} {
						x := fmt.Sprintf("d/x%d", i)
						t.As(cred, func() { t.OK(mk(x, mode)) })
						gid := cred.GID
						if setgid {
							gid = carol.GID
						}
						t.Owner(x, cred.UID, gid)
						t.Perm(x, inheritedMode(k, mode, setgid, who == "stranger"))
					}
				})
			}
		}
	}
}

// inheritedMode is the mode of what is made in a directory: a stranger to its
// group may not make an executable that runs as it.
func inheritedMode(k Kind, mode uint32, setgid, stranger bool) uint32 {
	switch {
	case k == harness.Symlink:
		return 0o777
	case k == harness.Dir:
		mode &= 0o777
		if setgid {
			mode |= unix.S_ISGID
		}
	case setgid && stranger && mode&(unix.S_ISGID|unix.S_IXGRP) == unix.S_ISGID|unix.S_IXGRP:
		mode &^= unix.S_ISGID
	}
	return mode
}
