package posix

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// symlinkChains: what a symlink says is taken byte for byte, from where the
// link is.
func symlinkChains(g *Group) {
	g = g.Sub("symlink")
	g.Case("relative-target/starts-at-the-link's-directory", func(t *T) {
		t.Dir("a", 0o755)
		t.Write("a/f", "here")
		t.Symlink("f", "a/link")
		t.Content("a/link", "here")
		t.Symlink("a/link", "over")
		t.Content("over", "here")
	})
	g.Case("absolute-target/starts-at-the-root", func(t *T) {
		t.Write("f", "here")
		t.Symlink(t.Path("f"), "link")
		t.Content("link", "here")
	})
	g.Case("target-with-dotdot/climbs-from-the-real-directory", func(t *T) {
		t.Dir("a", 0o755)
		t.Dir("a/b", 0o755)
		t.Write("a/f", "right")
		t.Write("f", "wrong")
		t.Symlink("a/b", "short")
		t.Content("short/../f", "right")
	})
	for _, n := range []int{1, 2, 8, followed} {
		g.Case(fmt.Sprintf("chain-of-%d/is-followed", n), func(t *T) {
			t.Write("end", "end")
			chain(t, "end", n)
			t.Content(fmt.Sprintf("chain-%d", n), "end")
		})
	}
	for _, n := range []int{41, 50} {
		g.Case(fmt.Sprintf("chain-of-%d/is-ELOOP", n), func(t *T) {
			t.Write("end", "end")
			chain(t, "end", n)
			t.Errno(t.Try(fmt.Sprintf("chain-%d", n), unix.O_RDONLY, 0), unix.ELOOP)
			_, err := unix.Readlink(fmt.Sprintf("chain-%d", n), make([]byte, 10))
			t.OK(err, "readlink of the last one")
		})
	}
	g.Case("many-in-one-path/are-followed-and-41-not", func(t *T) {
		t.Dir("d", 0o755)
		t.Symlink(".", "d/self")
		t.Write("d/f", "f")
		t.Content("d/"+strings.Repeat("self/", followed)+"f", "f")
		t.Errno(t.Try("d/"+strings.Repeat("self/", 41)+"f", unix.O_RDONLY, 0), unix.ELOOP)
	})
}

// nameBytes: a name is bytes, any but NUL and slash, and two names are the
// same only if all bytes are.
func nameBytes(g *Group) {
	g = g.Sub("bytes")
	for base := 0; base < 256; base += 32 {
		g.Case(fmt.Sprintf("%#02x-to-%#02x/are-kept", base, base+31), func(t *T) {
			var want []string
			for b := base; b < base+32; b++ {
				if b == 0 || b == '/' {
					continue
				}
				for _, name := range []string{string([]byte{byte(b), '1'}), string([]byte{'2', byte(b), '3'})} {
					t.OK(unix.Mkdir(name, 0o755), "%q", name)
					want = append(want, name)
				}
			}
			slices.Sort(want)
			eq(t, "listing", fmt.Sprintf("%q", t.Names(".")), fmt.Sprintf("%q", want))
			for _, name := range want {
				t.Check(t.Exists(name), "%q is not found", name)
			}
		})
	}
	for name, list := range map[string][]string{
		"upper-and-lower-case":           {"name", "NAME", "Name", "nAME"},
		"composed-and-decomposed":        {"caf\u00e9", "cafe\u0301"},
		"invalid-utf-8":                  {"\xff", "\xfe\xff", "a\xc3", "\xc3\x28", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80"},
		"leading-and-trailing-space":     {" a", "a ", " a ", "a"},
		"trailing-dots":                  {"a", "a.", "a..", "a..."},
		"dots-that-are-names":            {"...", "....", ".a", "..a", ". ", ".. "},
		"newlines-and-tabs":              {"a\nb", "a\tb", "\n", "\t", "a\r\n"},
		"what-other-systems-forbid":      {"con", "nul", "a:b", "a*b", "a?b", "a<b", "a>b", "a|b", "a\"b", "a\\b"},
		"ligatures-and-look-alikes":      {"\ufb01", "fi", "\u212b", "\u00c5", "A\u030a"},
		"bytes-that-differ-at-the-end":   {name255[:254] + "a", name255[:254] + "b"},
		"zero-width-and-direction-marks": {"a\u200bb", "ab", "a\u202eb", "\ufeffab"},
		"names-of-temporary-files":       {".fuse_hidden0001", ".nfs0001", "~", "#a#", ".#a"},
		"names-that-tools-use":           {".vfsd-x", ".git", "lost+found", ".Trash-0"},
		"names-of-numbers":               {"0", "-1", "1e9", "007", "0x10"},
		"names-that-look-like-options":   {"-rf", "--", "-"},
	} {
		g.Case(name+"/are-different-names", func(t *T) { differentNames(t, list) })
	}
}

// differentNames gives each name a file that says which it is, in the order
// given and again after renaming all.
func differentNames(t *T, names []string) {
	for i, name := range names {
		fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o644)
		if !t.OK(err, "create %q", name) {
			continue
		}
		_, err = unix.Write(t.Adopt(fd), []byte{byte('0' + i)})
		t.Must(err)
	}
	want := slices.Sorted(slices.Values(names))
	eq(t, "listing", fmt.Sprintf("%q", t.Names(".")), fmt.Sprintf("%q", want))
	for i, name := range names {
		t.Content(name, string(rune('0'+i)))
	}
	for _, name := range names {
		t.OK(unix.Unlink(name), "unlink %q", name)
	}
	eq(t, "names left", len(t.Names(".")), 0)
}

// longPaths: a tree may be deeper than a path can say.
func longPaths(g *Group) {
	g = g.Sub("deep")
	g.Case("tree-beyond-PATH_MAX/is-reached-by-relative-steps", func(t *T) {
		top := t.Open(".", unix.O_RDONLY|unix.O_DIRECTORY)
		const steps = 20 // of 256 bytes: 5120
		for i := range steps {
			t.OK(unix.Mkdir(name255, 0o755), "mkdir at depth %d", i)
			t.Must(unix.Chdir(name255))
		}
		t.Write("deepest", "down here")
		t.Content("deepest", "down here")
		_, err := unix.Getcwd(make([]byte, 4096))
		t.Errno(err, unix.ERANGE, unix.ENAMETOOLONG)
		t.OK(unix.Rename("deepest", "renamed"))
		for range steps {
			t.Must(unix.Chdir(".."))
		}
		t.Is(".", t.Fstat(top))
		t.Errno(t.Try(strings.Repeat(name255+"/", 16)+"x", unix.O_RDONLY, 0), unix.ENAMETOOLONG)
		t.OK(t.Try(strings.Repeat(name255+"/", 15)+name255, unix.O_RDONLY, 0), "4095 bytes")
	})
	g.Case("getcwd/says-where-one-is", func(t *T) {
		t.Dir("a", 0o755)
		t.Dir("a/b", 0o755)
		t.Must(unix.Chdir("a/b"))
		cwdIs(t, t.Path("a/b"))
		t.Must(unix.Chdir("../.."))
		cwdIs(t, t.Path("."))
	})
	g.Case("getcwd/follows-a-rename", func(t *T) {
		t.Dir("a", 0o755)
		t.Dir("a/b", 0o755)
		t.Must(unix.Chdir("a/b"))
		t.OK(unix.Rename("../../a", "../../z"))
		cwdIs(t, t.Path("z/b"))
	})
	g.Case("getcwd/of-a-removed-directory-is-ENOENT", func(t *T) {
		t.Dir("a", 0o755)
		t.Must(unix.Chdir("a"))
		t.OK(unix.Rmdir("../a"))
		_, err := unix.Getcwd(make([]byte, 4096))
		t.Errno(err, unix.ENOENT)
		t.Errno(unix.Mkdir("x", 0o755), unix.ENOENT)
		t.Errno(t.Try("x", unix.O_CREAT|unix.O_WRONLY, 0o644), unix.ENOENT)
	})
}

func cwdIs(t *T, want string) {
	buf := make([]byte, 4096)
	n, err := unix.Getcwd(buf)
	if t.OK(err, "getcwd") {
		eq(t, "working directory", string(buf[:n-1]), want)
	}
}

// badAddresses: memory that is not there is EFAULT, and nothing happens.
func badAddresses(g *Group) {
	const bad = uintptr(1)
	raw := func(call, a, b, c, d uintptr) error {
		if _, _, e := unix.Syscall6(call, a, b, c, d, 0, 0); e != 0 {
			return e
		}
		return nil
	}
	const here = ^uintptr(99) // AT_FDCWD
	for name, call := range map[string]func() error{
		"openat":     func() error { return raw(unix.SYS_OPENAT, here, bad, unix.O_CREAT|unix.O_WRONLY, 0o644) },
		"mkdirat":    func() error { return raw(unix.SYS_MKDIRAT, here, bad, 0o755, 0) },
		"mknodat":    func() error { return raw(unix.SYS_MKNODAT, here, bad, unix.S_IFIFO, 0) },
		"unlinkat":   func() error { return raw(unix.SYS_UNLINKAT, here, bad, 0, 0) },
		"rmdir":      func() error { return raw(unix.SYS_UNLINKAT, here, bad, unix.AT_REMOVEDIR, 0) },
		"fchmodat":   func() error { return raw(unix.SYS_FCHMODAT, here, bad, 0o644, 0) },
		"fchownat":   func() error { return raw(unix.SYS_FCHOWNAT, here, bad, 0, 0) },
		"truncate":   func() error { return raw(unix.SYS_TRUNCATE, bad, 0, 0, 0) },
		"utimensat":  func() error { return raw(unix.SYS_UTIMENSAT, here, bad, 0, 0) },
		"chdir":      func() error { return raw(unix.SYS_CHDIR, bad, 0, 0, 0) },
		"renameat2":  func() error { return raw(unix.SYS_RENAMEAT2, here, bad, here, bad) },
		"linkat":     func() error { return raw(unix.SYS_LINKAT, here, bad, here, bad) },
		"symlinkat":  func() error { return raw(unix.SYS_SYMLINKAT, bad, here, bad, 0) },
		"readlinkat": func() error { return raw(unix.SYS_READLINKAT, here, bad, bad, 10) },
		"faccessat":  func() error { return raw(unix.SYS_FACCESSAT, here, bad, 0, 0) },
		"statfs":     func() error { return raw(unix.SYS_STATFS, bad, bad, 0, 0) },
	} {
		g.Case(name+"/bad-address/is-EFAULT", func(t *T) {
			t.Unchanged(func() { t.Errno(call(), unix.EFAULT) })
		})
	}
	for name, call := range map[string]func(fd uintptr) error{
		"read":     func(fd uintptr) error { return raw(unix.SYS_READ, fd, bad, 10, 0) },
		"write":    func(fd uintptr) error { return raw(unix.SYS_WRITE, fd, bad, 10, 0) },
		"pread":    func(fd uintptr) error { return raw(unix.SYS_PREAD64, fd, bad, 10, 0) },
		"pwrite":   func(fd uintptr) error { return raw(unix.SYS_PWRITE64, fd, bad, 10, 0) },
		"fstat":    func(fd uintptr) error { return raw(unix.SYS_FSTAT, fd, bad, 0, 0) },
		"fstatfs":  func(fd uintptr) error { return raw(unix.SYS_FSTATFS, fd, bad, 0, 0) },
		"fgetattr": func(fd uintptr) error { return raw(unix.SYS_FGETXATTR, fd, bad, bad, 10) },
	} {
		g.Case(name+"/bad-buffer/is-EFAULT", func(t *T) {
			t.Write("f", "0123456789")
			fd := t.Open("f", unix.O_RDWR)
			t.Errno(call(uintptr(fd)), unix.EFAULT)
			t.Content("f", "0123456789")
		})
	}
	g.Case("getdents/bad-buffer/is-EFAULT", func(t *T) {
		fd := t.Open(".", unix.O_RDONLY)
		t.Errno(raw(unix.SYS_GETDENTS64, uintptr(fd), bad, 4096, 0), unix.EFAULT)
	})
	g.Case("stat/bad-buffer/is-EFAULT", func(t *T) {
		path, err := unix.BytePtrFromString(".")
		t.Must(err)
		t.Errno(raw(unix.SYS_STATX, here, uintptr(unsafe.Pointer(path)), 0, unix.STATX_ALL), unix.EFAULT)
	})
}
