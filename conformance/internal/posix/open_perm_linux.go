package posix

import (
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// class is one way to stand to a file: which three of its mode bits count.
type class struct {
	name  string
	cred  Cred
	shift int // of the bits that count
}

// classes are the ways to stand to a file that is alice's and of bob's group.
// The first class that fits counts alone, whatever the others would allow.
var classes = []class{
	{"owner", alice, 6},
	{"owner-in-the-group-too", Cred{UID: alice.UID, GID: bob.GID}, 6},
	{"group", Cred{UID: carol.UID, GID: bob.GID}, 3},
	{"supplementary-group", Cred{UID: carol.UID, GID: carol.GID, Groups: []int{22008, bob.GID, 22009}}, 3},
	{"other", Cred{UID: carol.UID, GID: carol.GID, Groups: []int{22007, 22008}}, 0},
	{"same-numbers-the-other-way-round", Cred{UID: bob.GID, GID: alice.UID}, 0},
}

// modeWith gives the class the bits and every other class the opposite.
func modeWith(c class, bits uint32) uint32 {
	mode := uint32(0o777) &^ (bits * 0o111)
	return mode&^(7<<c.shift) | bits<<c.shift
}

// need returns 0 when have holds all of want, else EACCES.
func need(have, want uint32) syscall.Errno {
	if have&want == want {
		return 0
	}
	return unix.EACCES
}

// openPermissions: what mode bits allow on a file, to everyone and every
// access.
func openPermissions(g *Group) {
	for _, c := range classes {
		for bits := range uint32(8) {
			mode := modeWith(c, bits)
			g.Sub("permission/file/%s", c.name).Case(fmt.Sprintf("mode-%04o", mode), func(t *T) {
				t.NeedRoot()
				t.Chmod(".", 0o777)
				t.Write("f", "data")
				t.Chown("f", alice.UID, bob.GID)
				t.Chmod("f", mode)
				t.As(c.cred, func() { fileAccess(t, bits) })
			})
		}
	}
	for mode := range uint32(8) {
		mode := mode * 0o111
		g.Sub("permission/file/root").Case(fmt.Sprintf("mode-%04o", mode), func(t *T) {
			t.NeedRoot()
			t.Write("f", "data")
			t.Chown("f", alice.UID, bob.GID)
			t.Chmod("f", mode)
			// Root reads and writes all, but executes only what somebody may.
			fileAccess(t, 6|mode&1)
		})
	}
}

// fileAccess tries every access to "f" with these rights.
func fileAccess(t *T, bits uint32) {
	t.Result(t.Try("f", unix.O_RDONLY, 0), need(bits, 4), "open for reading")
	t.Result(t.Try("f", unix.O_WRONLY, 0), need(bits, 2), "open for writing")
	t.Result(t.Try("f", unix.O_RDWR, 0), need(bits, 6), "open for both")
	t.Result(t.Try("f", unix.O_ACCMODE, 0), need(bits, 6), "open with access mode 3")
	t.Result(t.Try("f", unix.O_PATH, 0), 0, "open with O_PATH")
	t.Result(t.Try("f", unix.O_CREAT|unix.O_RDONLY, 0o600), need(bits, 4), "open with O_CREAT")
	have := bits
	if t.Env.MountFlags&unix.MS_NOEXEC != 0 {
		have &^= 1
	}
	for mode := range uint32(8) {
		t.Result(unix.Access("f", mode), need(have, mode), "access %d", mode)
		t.Result(unix.Faccessat2(cwd, "f", mode, unix.AT_EACCESS), need(have, mode), "faccessat2 %d", mode)
	}
	t.Result(unix.Truncate("f", 4), need(bits, 2), "truncate")
	t.Result(unix.UtimesNanoAt(cwd, "f", nil, 0), mayTouch(bits), "utimensat to now")
	t.Result(t.Try("f", unix.O_RDONLY|unix.O_TRUNC, 0), need(bits, 6), "open with O_TRUNC")
}

// mayTouch: the owner and root may set the times to now, and who may write.
func mayTouch(bits uint32) syscall.Errno {
	if uid := unix.Geteuid(); uid == alice.UID || uid == 0 {
		return 0
	}
	return need(bits, 2)
}

// directoryPermissions: what mode bits allow on a directory.
func directoryPermissions(g *Group) {
	for _, c := range classes {
		for bits := range uint32(8) {
			mode := modeWith(c, bits)
			g.Sub("permission/directory/%s", c.name).Case(fmt.Sprintf("mode-%04o", mode), func(t *T) {
				t.NeedRoot()
				directoryWith(t, mode)
				t.As(c.cred, func() { directoryAccess(t, bits, c.cred.UID == alice.UID) })
			})
		}
	}
	g.Sub("permission/directory/root").Case("mode-0000/forbids-nothing", func(t *T) {
		t.NeedRoot()
		directoryWith(t, 0)
		directoryAccess(t, 7, true)
	})
}

// directoryWith makes "d", of alice and bob's group, with things in it that
// anyone may do anything with.
func directoryWith(t *T, mode uint32) {
	t.Chmod(".", 0o777)
	t.Dir("d", 0o755)
	// carol's and open to all: the protection of hard links is no matter.
	for _, name := range []string{"f", "gone", "moved", "out"} {
		t.File("d/"+name, 0o666)
		t.Chown("d/"+name, carol.UID, carol.GID)
	}
	t.Dir("d/sub", 0o777)
	t.Dir("d/empty", 0o777)
	t.File("outside", 0o666)
	t.Chown("outside", carol.UID, carol.GID)
	t.Chown("d", alice.UID, bob.GID)
	t.Chmod("d", mode)
}

// directoryAccess tries everything on "d" with these rights to it.
func directoryAccess(t *T, bits uint32, owner bool) {
	search, change := need(bits, 1), need(bits, 3)
	t.Result(t.Try("d", unix.O_RDONLY|unix.O_DIRECTORY, 0), need(bits, 4), "open to list")
	t.Result(t.Try("d", unix.O_PATH|unix.O_DIRECTORY, 0), 0, "open with O_PATH")
	var st unix.Stat_t
	t.Result(unix.Lstat("d", &st), 0, "lstat of the directory")
	t.Result(unix.Lstat("d/f", &st), search, "lstat of a name")
	t.Result(unix.Lstat("d/missing", &st), either(search, unix.ENOENT), "lstat of a missing name")
	t.Result(t.Try("d/f", unix.O_RDWR, 0), search, "open a file")
	t.Result(t.Try("d/sub/..", unix.O_PATH, 0), search, "walk through")
	t.Result(unix.Chmod("d/sub", 0o777), either(search, notOwner(0)), "chmod of a name")
	t.Result(t.Try("d/new", unix.O_CREAT|unix.O_WRONLY, 0o600), change, "create")
	t.Result(t.Try("d/f", unix.O_CREAT|unix.O_WRONLY, 0o600), search, "open an existing one with O_CREAT")
	t.Result(unix.Mkdir("d/newdir", 0o755), change, "mkdir")
	t.Result(unix.Mknod("d/newfifo", unix.S_IFIFO|0o644, 0), change, "mkfifo")
	t.Result(unix.Symlink("x", "d/newlink"), change, "symlink")
	t.Result(unix.Link("d/f", "d/second"), either(search, change), "link within")
	t.Result(unix.Unlink("d/gone"), change, "unlink")
	t.Result(unix.Rmdir("d/empty"), change, "rmdir")
	t.Result(unix.Rename("d/moved", "d/moved2"), change, "rename within")
	t.Result(unix.Rename("d/out", "came-out"), change, "rename out")
	t.Result(unix.Rename("outside", "d/came-in"), change, "rename in")
	for mode := range uint32(8) {
		t.Result(unix.Access("d", mode), need(bits, mode), "access %d", mode)
	}
	fd, err := unix.Open("d", unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	t.Result(err, need(bits, 3), "O_TMPFILE")
	if err == nil {
		t.Must(unix.Close(fd))
	}
	var want syscall.Errno
	if !owner {
		want = unix.EPERM
	}
	t.Result(unix.Chdir("d"), search, "chdir")
	if search == 0 {
		t.Result(unix.Chmod(".", st.Mode&0o7777), want, "chmod")
	}
}

// either returns the first error there is.
func either(es ...syscall.Errno) syscall.Errno {
	for _, e := range es {
		if e != 0 {
			return e
		}
	}
	return 0
}

// notOwner is EPERM for who is neither the owner nor root.
func notOwner(owner int) syscall.Errno {
	if uid := unix.Geteuid(); uid != owner && uid != 0 {
		return unix.EPERM
	}
	return 0
}

// creationModes: the mode asked for, less the umask, is what a new file has;
// a set-id bit survives where its owner could set it.
func creationModes(g *Group) {
	makers := map[string]func(name string, mode uint32) error{
		"open": func(name string, mode uint32) error {
			fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, mode)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		},
		"mkdir":  unix.Mkdir,
		"mkfifo": func(name string, mode uint32) error { return unix.Mknod(name, unix.S_IFIFO|mode, 0) },
		"mknod":  func(name string, mode uint32) error { return unix.Mknod(name, unix.S_IFREG|mode, 0) },
		"mksock": func(name string, mode uint32) error { return unix.Mknod(name, unix.S_IFSOCK|mode, 0) },
	}
	modes := []uint32{0o777, 0o666, 0o600, 0o644, 0o755, 0o444, 0o111, 0, 0o4755, 0o2755, 0o1777, 0o7777}
	for name, mk := range makers {
		for _, mask := range []int{0, 0o002, 0o022, 0o027, 0o077, 0o111, 0o777} {
			g.Sub("creation-mode/%s", name).Case(fmt.Sprintf("umask-%03o", mask), func(t *T) {
				for i, mode := range modes {
					want := mode &^ uint32(mask)
					if name == "mkdir" {
						want &^= 0o6000 // mkdir takes no set-id bits
					}
					t.Umask(mask)
					file := fmt.Sprintf("f%d", i)
					t.OK(mk(file, mode), "mode %#o", mode)
					t.Perm(file, want)
				}
			})
		}
	}
	g.Sub("creation-mode").Case("symlink/is-0777-whatever-the-umask", func(t *T) {
		t.Umask(0o777)
		t.OK(unix.Symlink("x", "l"))
		t.Perm("l", 0o777)
	})
	g.Sub("creation-mode").Case("existing-file/keeps-its-mode", func(t *T) {
		t.File("f", 0o640)
		t.OK(t.Try("f", unix.O_CREAT|unix.O_WRONLY, 0o777))
		t.Perm("f", 0o640)
	})
}
