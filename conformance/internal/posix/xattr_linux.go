package posix

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareXattr) }

func declareXattr(s *harness.Suite) {
	g := s.Group("xattr")
	xattrBasics(g)
	xattrValues(g)
	xattrKinds(g)
	xattrSizes(g)
	xattrNames(g)
	xattrPermissions(g)
	xattrLife(g)
	aclEncoding(g)
	aclTargets(g)
	aclAccess(g)
	aclChmod(g)
	aclDefault(g)
}

// attr returns an attribute's value, of a link itself too.
func attr(name, key string) (string, error) {
	buf := make([]byte, 64<<10)
	n, err := unix.Lgetxattr(name, key, buf)
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}

// attrIs asserts an attribute's value.
func attrIs(t *T, name, key, want string) {
	got, err := attr(name, key)
	if t.OK(err, "getxattr %s", key) {
		eq(t, key+" of "+name, got, want)
	}
}

// attrsAre asserts the list of a file's attributes.
func attrsAre(t *T, name string, want ...string) {
	got, err := harness.ListXattr(name)
	t.OK(err, "listxattr")
	eq(t, "attributes of "+name, strings.Join(got, " "), strings.Join(want, " "))
}

// xattrBasics: set, get, list, remove, and the flags.
func xattrBasics(g *Group) {
	g = g.Sub("basics")
	g.Case("set-get-list-remove", func(t *T) {
		t.File("f", 0o644)
		attrsAre(t, "f")
		t.OK(unix.Setxattr("f", "user.a", []byte("one"), 0))
		t.OK(unix.Setxattr("f", "user.b", []byte("two"), 0))
		attrIs(t, "f", "user.a", "one")
		attrIs(t, "f", "user.b", "two")
		attrsAre(t, "f", "user.a", "user.b")
		t.OK(unix.Setxattr("f", "user.a", []byte("longer than before"), 0))
		attrIs(t, "f", "user.a", "longer than before")
		t.OK(unix.Removexattr("f", "user.a"))
		attrsAre(t, "f", "user.b")
		_, err := attr("f", "user.a")
		t.Errno(err, unix.ENODATA)
		t.Errno(unix.Removexattr("f", "user.a"), unix.ENODATA)
	})
	for _, c := range []struct {
		name      string
		there     bool
		flags     int
		want      syscall.Errno
		otherwise string
	}{
		{"CREATE-of-a-new-one", false, unix.XATTR_CREATE, 0, ""},
		{"CREATE-of-an-existing-one", true, unix.XATTR_CREATE, unix.EEXIST, "old"},
		{"REPLACE-of-a-new-one", false, unix.XATTR_REPLACE, unix.ENODATA, ""},
		{"REPLACE-of-an-existing-one", true, unix.XATTR_REPLACE, 0, ""},
		{"plain-over-an-existing-one", true, 0, 0, ""},
		{"unknown-flag", true, 8, unix.EINVAL, "old"},
	} {
		for _, k := range []Kind{harness.File, harness.Dir} {
			g.Sub("%s", k).Case(c.name+"/"+errName(c.want), func(t *T) {
				t.Make(k, "x")
				if c.there {
					t.Must(unix.Setxattr("x", "user.a", []byte("old"), 0))
				}
				t.Result(unix.Setxattr("x", "user.a", []byte("new"), c.flags), c.want)
				switch {
				case c.want == 0:
					attrIs(t, "x", "user.a", "new")
				case c.there:
					attrIs(t, "x", "user.a", c.otherwise)
				default:
					attrsAre(t, "x")
				}
			})
		}
	}
}

// xattrValues: descriptors, links, values of every kind and number.
func xattrValues(g *Group) {
	g = g.Sub("basics")
	g.Case("by-descriptor/is-the-same", func(t *T) {
		t.File("f", 0o644)
		fd := t.Open("f", unix.O_RDONLY)
		t.OK(unix.Fsetxattr(fd, "user.a", []byte("v"), 0))
		attrIs(t, "f", "user.a", "v")
		buf := make([]byte, 8)
		n, err := unix.Fgetxattr(fd, "user.a", buf)
		t.OK(err)
		eq(t, "value", string(buf[:max(n, 0)]), "v")
		n, err = unix.Flistxattr(fd, buf)
		t.OK(err)
		eq(t, "list", string(buf[:max(n, 0)]), "user.a\x00")
		t.OK(unix.Fremovexattr(fd, "user.a"))
		attrsAre(t, "f")
	})
	g.Case("symlink/is-followed-by-setxattr", func(t *T) {
		t.File("f", 0o644)
		t.Symlink("f", "l")
		t.OK(unix.Setxattr("l", "user.a", []byte("v"), 0))
		attrIs(t, "f", "user.a", "v")
		attrsAre(t, "l")
	})
	g.Case("empty-value/is-there-and-empty", func(t *T) {
		t.File("f", 0o644)
		t.OK(unix.Setxattr("f", "user.a", nil, 0))
		attrIs(t, "f", "user.a", "")
		attrsAre(t, "f", "user.a")
		t.Errno(unix.Setxattr("f", "user.a", nil, unix.XATTR_CREATE), unix.EEXIST)
	})
	g.Case("binary-value/is-kept", func(t *T) {
		t.File("f", 0o644)
		var all []byte
		for i := range 256 {
			all = append(all, byte(i))
		}
		t.OK(unix.Setxattr("f", "user.a", all, 0))
		attrIs(t, "f", "user.a", string(all))
	})
	g.Case("fifty-attributes/are-all-kept", func(t *T) {
		t.File("f", 0o644)
		var want []string
		for i := range 50 {
			name := fmt.Sprintf("user.a%02d", i)
			want = append(want, name)
			t.OK(unix.Setxattr("f", name, []byte(name), 0))
		}
		attrsAre(t, "f", want...)
		for _, name := range want {
			attrIs(t, "f", name, name)
		}
		for i := 0; i < 50; i += 2 {
			t.OK(unix.Removexattr("f", want[i]))
		}
		for i := 1; i < 50; i += 2 {
			attrIs(t, "f", want[i], want[i])
		}
	})
}

// xattrKinds crosses namespaces and kinds of file.
func xattrKinds(g *Group) {
	for _, k := range harness.Kinds {
		for _, ns := range []string{"user.", "trusted.", "security."} {
			var want syscall.Errno
			if ns == "user." && k != harness.File && k != harness.Dir {
				want = unix.EPERM // what a mode says of links and devices is no right to write attributes
			}
			g.Sub("namespace/%s", strings.TrimSuffix(ns, ".")).Case(string(k)+"/"+errName(want), func(t *T) {
				t.NeedRoot()
				t.Make(k, "x")
				name := ns + "conformance"
				t.Result(unix.Lsetxattr("x", name, []byte("v"), 0), want)
				if want != 0 {
					attrsAre(t, "x")
					_, err := attr("x", name)
					t.Errno(err, unix.ENODATA)
					return
				}
				attrIs(t, "x", name, "v")
				attrsAre(t, "x", name)
				t.OK(unix.Rename("x", "z"))
				attrIs(t, "z", name, "v")
				t.OK(unix.Lremovexattr("z", name))
				attrsAre(t, "z")
			})
		}
	}
	for _, name := range []string{"", "user", "nonsense.x", "nodot", "system.nonsense", "os2.x", "User.x", "u.x"} {
		g.Sub("namespace").Case("name-"+in(name)+"/is-refused", func(t *T) {
			t.NeedRoot()
			t.File("f", 0o644)
			want := []syscall.Errno{unix.EOPNOTSUPP}
			if name == "" {
				want = []syscall.Errno{unix.ERANGE}
			}
			t.Errno(unix.Setxattr("f", name, []byte("v"), 0), want...)
			_, err := attr("f", name)
			t.Errno(err, want...)
			attrsAre(t, "f")
		})
	}
	for _, ns := range []string{"user.", "trusted.", "security."} {
		g.Sub("namespace").Case("bare-"+ns+"/is-EINVAL", func(t *T) {
			t.NeedRoot()
			t.File("f", 0o644)
			t.Errno(unix.Setxattr("f", ns, []byte("v"), 0), unix.EINVAL)
			attrsAre(t, "f")
		})
	}
}

// xattrSizes: values and buffers of every size around the limits.
func xattrSizes(g *Group) {
	g = g.Sub("size")
	for _, n := range []int{1, 15, 16, 17, 63, 255, 256, 1000, 2048, 3000} {
		g.Case(fmt.Sprintf("value-of-%d-bytes/is-kept", n), func(t *T) { keepsValue(t, n) })
	}
	for _, n := range []int{4096, 5000, 16384, 65535, 65536} {
		g.Case(fmt.Sprintf("value-of-%d-bytes/is-kept-too", n), func(t *T) { keepsValue(t, n) })
	}
	g.Case("value-of-65537-bytes/is-E2BIG", func(t *T) {
		t.File("f", 0o644)
		t.Unchanged(func() { t.Errno(unix.Setxattr("f", "user.a", make([]byte, 65537), 0), unix.E2BIG) })
	})
	g.Case("buffer-too-small/is-ERANGE", func(t *T) {
		t.File("f", 0o644)
		t.Must(unix.Setxattr("f", "user.a", []byte("0123456789"), 0))
		for _, n := range []int{1, 9} {
			_, err := unix.Getxattr("f", "user.a", make([]byte, n))
			t.Errno(err, unix.ERANGE)
		}
		for _, n := range []int{0, 10, 11, 1000} {
			got, err := unix.Getxattr("f", "user.a", make([]byte, n))
			t.OK(err)
			eq(t, fmt.Sprintf("result with a buffer of %d", n), got, 10)
		}
	})
	g.Case("list-buffer-too-small/is-ERANGE", func(t *T) {
		t.File("f", 0o644)
		t.Must(unix.Setxattr("f", "user.a", nil, 0))
		t.Must(unix.Setxattr("f", "user.bb", nil, 0))
		const want = 7 + 8
		for _, n := range []int{1, 7, 14} {
			_, err := unix.Listxattr("f", make([]byte, n))
			t.Errno(err, unix.ERANGE)
		}
		for _, n := range []int{0, 15, 100} {
			got, err := unix.Listxattr("f", make([]byte, n))
			t.OK(err)
			eq(t, fmt.Sprintf("result with a buffer of %d", n), got, want)
		}
	})
	g.Case("growing-and-shrinking/keeps-the-others", func(t *T) {
		t.File("f", 0o644)
		t.Must(unix.Setxattr("f", "user.fixed", []byte("fixed"), 0))
		for _, n := range []int{1, 100, 1000, 2000, 500, 10, 0, 1500} {
			value := strings.Repeat("g", n)
			t.OK(unix.Setxattr("f", "user.grows", []byte(value), 0), "%d bytes", n)
			attrIs(t, "f", "user.grows", value)
			attrIs(t, "f", "user.fixed", "fixed")
		}
	})
}

func keepsValue(t *T, n int) {
	t.File("f", 0o644)
	value := strings.Repeat("0123456789abcdef", n/16+1)[:n]
	if !t.OK(unix.Setxattr("f", "user.a", []byte(value), 0)) {
		return
	}
	attrIs(t, "f", "user.a", value)
	t.OK(unix.Removexattr("f", "user.a"))
	attrsAre(t, "f")
}

// xattrNames: a name has up to 255 bytes, any but NUL.
func xattrNames(g *Group) {
	g = g.Sub("name")
	for _, n := range []int{1, 2, 100, 249, 250} {
		g.Case(fmt.Sprintf("of-%d-bytes-after-the-prefix/is-kept", n), func(t *T) {
			t.File("f", 0o644)
			name := "user." + strings.Repeat("n", n)
			t.OK(unix.Setxattr("f", name, []byte("v"), 0))
			attrIs(t, "f", name, "v")
			attrsAre(t, "f", name)
			t.OK(unix.Removexattr("f", name))
		})
	}
	for _, n := range []int{251, 300} {
		g.Case(fmt.Sprintf("of-%d-bytes-after-the-prefix/is-ERANGE", n), func(t *T) {
			t.File("f", 0o644)
			name := "user." + strings.Repeat("n", n)
			t.Errno(unix.Setxattr("f", name, []byte("v"), 0), unix.ERANGE)
			_, err := attr("f", name)
			t.Errno(err, unix.ERANGE)
			t.Errno(unix.Removexattr("f", name), unix.ERANGE)
		})
	}
	for word, name := range map[string]string{
		"with-spaces": "user.a b ", "with-slashes": "user.a/b/../c", "not-utf-8": "user.\xff\xfe", "with-newline": "user.a\nb",
		"with-dots": "user.a.b..c.", "upper-case": "user.A", "a-byte-of-one": "user.\x01",
	} {
		g.Case(word+"/is-kept-byte-for-byte", func(t *T) {
			t.File("f", 0o644)
			t.OK(unix.Setxattr("f", name, []byte("v"), 0))
			attrIs(t, "f", name, "v")
			attrsAre(t, "f", name)
		})
	}
	g.Case("case-matters", func(t *T) {
		t.File("f", 0o644)
		t.OK(unix.Setxattr("f", "user.a", []byte("small"), 0))
		t.OK(unix.Setxattr("f", "user.A", []byte("big"), 0))
		attrIs(t, "f", "user.a", "small")
		attrIs(t, "f", "user.A", "big")
	})
}

// xattrPermissions: user attributes are read and written like the file;
// trusted ones are root's and others do not even see them.
func xattrPermissions(g *Group) {
	for _, c := range classes {
		for bits := range uint32(8) {
			mode := modeWith(c, bits)
			for _, k := range []Kind{harness.File, harness.Dir} {
				g.Sub("permission/user/%s/%s", k, c.name).Case(fmt.Sprintf("mode-%04o", mode), func(t *T) {
					t.NeedRoot()
					t.Make(k, "x")
					t.Must(unix.Setxattr("x", "user.a", []byte("v"), 0))
					t.Chown("x", alice.UID, bob.GID)
					t.Chmod("x", mode)
					t.As(c.cred, func() {
						_, err := attr("x", "user.a")
						t.Result(err, need(bits, 4), "get")
						t.Result(unix.Setxattr("x", "user.b", []byte("v"), 0), need(bits, 2), "set")
						t.Result(unix.Removexattr("x", "user.a"), need(bits, 2), "remove")
						_, err = unix.Listxattr("x", nil)
						t.OK(err, "list")
					})
				})
			}
		}
	}
	g = g.Sub("permission")
	g.Case("trusted/is-root's-alone", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o666)
		t.Chown("f", alice.UID, alice.GID)
		t.Must(unix.Setxattr("f", "trusted.a", []byte("v"), 0))
		t.Must(unix.Setxattr("f", "user.a", []byte("v"), 0))
		t.As(alice, func() {
			_, err := attr("f", "trusted.a")
			t.Errno(err, unix.ENODATA)
			_, err = attr("f", "trusted.missing")
			t.Errno(err, unix.ENODATA)
			t.Errno(unix.Setxattr("f", "trusted.b", []byte("v"), 0), unix.EPERM)
			t.Errno(unix.Removexattr("f", "trusted.a"), unix.EPERM)
			attrsAre(t, "f", "user.a")
		})
		attrsAre(t, "f", "trusted.a", "user.a")
	})
	g.Case("security/is-set-by-root-and-read-by-all", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o644)
		t.Chown("f", alice.UID, alice.GID)
		t.Must(unix.Setxattr("f", "security.conformance", []byte("v"), 0))
		t.As(alice, func() {
			attrIs(t, "f", "security.conformance", "v")
			t.Errno(unix.Setxattr("f", "security.conformance", []byte("w"), 0), unix.EPERM)
			t.Errno(unix.Removexattr("f", "security.conformance"), unix.EPERM)
			attrsAre(t, "f", "security.conformance")
		})
	})
	g.Case("sticky-directory/only-its-owner-sets-user-attributes", func(t *T) {
		t.NeedRoot()
		t.Dir("d", 0o777)
		t.Chown("d", alice.UID, alice.GID)
		t.Chmod("d", 0o1777)
		t.As(bob, func() { t.Errno(unix.Setxattr("d", "user.a", []byte("v"), 0), unix.EPERM) })
		t.As(alice, func() { t.OK(unix.Setxattr("d", "user.a", []byte("v"), 0)) })
	})
	g.Case("security.capability/of-the-right-form-is-kept-and-others-are-EINVAL", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o755)
		// vfs_cap_data, revision 2: magic with the effective bit, then
		// permitted and inheritable, low words before high ones.
		value := "\x01\x00\x00\x02" + "\x00\x04\x00\x00" + strings.Repeat("\x00", 12)
		t.OK(unix.Setxattr("f", "security.capability", []byte(value), 0))
		attrIs(t, "f", "security.capability", value)
		t.Errno(unix.Setxattr("f", "security.capability", []byte("nonsense"), 0), unix.EINVAL)
		attrIs(t, "f", "security.capability", value)
	})
	g.Case("security.capability/goes-when-the-file-is-written-or-chowned", func(t *T) {
		t.NeedRoot()
		value := "\x01\x00\x00\x02" + "\x00\x04\x00\x00" + strings.Repeat("\x00", 12)
		for name, change := range map[string]func() error{
			"write": func() error { return harness.WriteAll(t.Open("write", unix.O_WRONLY), []byte("x")) },
			"chown": func() error { return unix.Chown("chown", 5, 5) },
			"trunc": func() error { return unix.Truncate("trunc", 10) },
		} {
			t.File(name, 0o755)
			t.Must(unix.Setxattr(name, "security.capability", []byte(value), 0))
			t.OK(change(), "%s", name)
			_, err := attr(name, "security.capability")
			t.Errno(err, unix.ENODATA)
		}
	})
}

// xattrLife: attributes belong to the inode.
func xattrLife(g *Group) {
	g = g.Sub("life")
	set := func(t *T, name string) { t.Must(unix.Setxattr(name, "user.a", []byte("v"), 0)) }
	g.Case("rename-link-unlink/keep-them", func(t *T) {
		t.File("f", 0o644)
		set(t, "f")
		t.Link("f", "g")
		attrIs(t, "g", "user.a", "v")
		t.OK(unix.Unlink("f"))
		t.OK(unix.Rename("g", "h"))
		attrIs(t, "h", "user.a", "v")
	})
	g.Case("name-used-again/has-none", func(t *T) {
		for range 5 {
			t.File("f", 0o644)
			attrsAre(t, "f")
			set(t, "f")
			t.OK(unix.Unlink("f"))
		}
	})
	g.Case("writing-truncating-chmod/keep-them", func(t *T) {
		t.File("f", 0o644)
		set(t, "f")
		t.Write("f", "content")
		t.OK(unix.Truncate("f", 1))
		t.OK(unix.Chmod("f", 0o600))
		t.OK(unix.Chown("f", -1, -1))
		attrIs(t, "f", "user.a", "v")
	})
	g.Case("setting-one/leaves-size-and-mtime", func(t *T) {
		t.Write("f", "content")
		m := t.Mark("f")
		set(t, "f")
		m.Moved("f", harness.C)
		t.Content("f", "content")
	})
	g.Case("replaced-by-rename/are-those-of-the-new-file", func(t *T) {
		t.File("f", 0o644)
		set(t, "f")
		t.File("g", 0o644)
		t.Must(unix.Setxattr("g", "user.b", []byte("w"), 0))
		t.OK(unix.Rename("g", "f"))
		attrsAre(t, "f", "user.b")
	})
	g.Case("of-many-files/do-not-mix", func(t *T) {
		for i := range 40 {
			name := fmt.Sprint("f", i)
			t.File(name, 0o644)
			t.Must(unix.Setxattr(name, "user.a", []byte(name), 0))
		}
		for i := range 40 {
			attrIs(t, fmt.Sprint("f", i), "user.a", fmt.Sprint("f", i))
		}
	})
	g.Case("set-by-many-at-once/are-all-there", func(t *T) {
		t.File("f", 0o644)
		t.Parallel(4, func(i int) {
			for j := range 10 {
				t.Must(unix.Setxattr("f", fmt.Sprintf("user.%d-%d", i, j), []byte("v"), 0))
			}
		})
		list, err := harness.ListXattr("f")
		t.OK(err)
		eq(t, "attributes", len(list), 40)
	})
}
