package posix

import (
	"encoding/binary"
	"fmt"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// The two attributes by which an access control list is set.
const (
	aclOfFile = "system.posix_acl_access"
	aclOfNew  = "system.posix_acl_default"
)

// Tags of entries, as in POSIX.1e draft 17 and linux/posix_acl.h.
const (
	tagUserObj  = 0x01
	tagUser     = 0x02
	tagGroupObj = 0x04
	tagGroup    = 0x08
	tagMask     = 0x10
	tagOther    = 0x20
)

// aclEntry is one entry: who (the id counts for named users and groups) and
// the permission bits.
type aclEntry struct {
	tag, perm uint16
	id        uint32
}

// encode returns the form of the attribute: the version, 2, then eight bytes
// an entry.
func encodeACL(entries ...aclEntry) []byte {
	b := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range entries {
		b = binary.LittleEndian.AppendUint16(b, e.tag)
		b = binary.LittleEndian.AppendUint16(b, e.perm)
		id := e.id
		if e.tag != tagUser && e.tag != tagGroup {
			id = 1<<32 - 1
		}
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	return b
}

// simpleACL has the three entries of a mode.
func simpleACL(mode uint16) []aclEntry {
	return []aclEntry{{tagUserObj, mode >> 6 & 7, 0}, {tagGroupObj, mode >> 3 & 7, 0}, {tagOther, mode & 7, 0}}
}

// namedACL gives bob and carol's group rights of their own.
func namedACL(user, bobs, group, carols, mask, other uint16) []aclEntry {
	return []aclEntry{
		{tagUserObj, user, 0}, {tagUser, bobs, uint32(bob.UID)}, {tagGroupObj, group, 0}, {tagGroup, carols, uint32(carol.GID)},
		{tagMask, mask, 0}, {tagOther, other, 0},
	}
}

// goodACL is a list that is one.
var goodACL = namedACL(6, 4, 0, 4, 4, 0)

// aclEncoding: what is a list and what is none.
func aclEncoding(g *Group) {
	g = g.Sub("acl")
	g.Case("named-entries/are-kept-and-listed", func(t *T) {
		t.File("f", 0o600)
		acl := encodeACL(namedACL(6, 4, 0, 4, 4, 0)...)
		t.OK(unix.Setxattr("f", aclOfFile, acl, 0))
		attrIs(t, "f", aclOfFile, string(acl))
		attrsAre(t, "f", aclOfFile)
	})
	for _, mode := range []uint16{0o644, 0o750, 0o007} {
		g.Case(fmt.Sprintf("equal-to-mode-%04o/sets-the-mode-and-leaves-no-list", mode), func(t *T) {
			t.File("f", 0o600)
			t.OK(unix.Setxattr("f", aclOfFile, encodeACL(simpleACL(mode)...), 0))
			t.Perm("f", uint32(mode))
			attrsAre(t, "f")
			_, err := attr("f", aclOfFile)
			t.Errno(err, unix.ENODATA)
		})
	}
	g.Case("removed/leaves-the-mode-as-it-was", func(t *T) {
		t.File("f", 0o600)
		t.Must(unix.Setxattr("f", aclOfFile, encodeACL(namedACL(6, 4, 0, 4, 6, 0)...), 0))
		t.Perm("f", 0o660) // the mask shows as the group's bits
		t.OK(unix.Removexattr("f", aclOfFile))
		t.Perm("f", 0o660)
		attrsAre(t, "f")
	})
	without := func(i int) []byte { return encodeACL(slices.Delete(slices.Clone(goodACL), i, i+1)...) }
	swapped := slices.Clone(goodACL)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	long := encodeACL(goodACL...)
	badVersion := encodeACL(goodACL...)
	badVersion[0] = 3
	for name, c := range map[string]struct {
		value []byte
		want  syscall.Errno
	}{
		"version-3":           {badVersion, unix.EOPNOTSUPP},
		"no-owner":            {without(0), unix.EINVAL},
		"no-group":            {without(2), unix.EINVAL},
		"no-mask":             {without(4), unix.EINVAL},
		"no-other":            {without(5), unix.EINVAL},
		"wrong-order":         {encodeACL(swapped...), unix.EINVAL},
		"half-an-entry":       {long[:len(long)-4], unix.EINVAL},
		"only-the-version":    {long[:4], 0},
		"shorter-than-that":   {long[:3], unix.EINVAL},
		"unknown-tag":         {encodeACL(append(slices.Clone(goodACL), aclEntry{0x40, 4, 0})...), unix.EINVAL},
		"unknown-permission":  {encodeACL(append(slices.Clone(goodACL[:5]), aclEntry{tagOther, 8, 0})...), unix.EINVAL},
		"mask-without-names":  {encodeACL(aclEntry{tagUserObj, 6, 0}, aclEntry{tagGroupObj, 4, 0}, aclEntry{tagMask, 4, 0}, aclEntry{tagOther, 0, 0}), 0},
		"two-others":          {encodeACL(append(slices.Clone(goodACL), aclEntry{tagOther, 4, 0})...), unix.EINVAL},
		"user-without-number": {encodeACL(aclEntry{tagUserObj, 6, 0}, aclEntry{tagUser, 4, 1<<32 - 1}, aclEntry{tagGroupObj, 4, 0}, aclEntry{tagMask, 4, 0}, aclEntry{tagOther, 0, 0}), unix.EINVAL},
	} {
		g.Case(name+"/"+errName(c.want), func(t *T) {
			t.File("f", 0o600)
			if c.want == 0 {
				t.OK(unix.Setxattr("f", aclOfFile, c.value, 0))
				return
			}
			t.Unchanged(func() { t.Errno(unix.Setxattr("f", aclOfFile, c.value, 0), c.want) })
		})
	}
}

// aclTargets: which files can have a list, and who may see and set it.
func aclTargets(g *Group) {
	g = g.Sub("acl")
	for _, k := range harness.Kinds {
		var want syscall.Errno
		if k == harness.Symlink {
			want = unix.EOPNOTSUPP
		}
		g.Case("access-list-on-"+string(k)+"/"+errName(want), func(t *T) {
			t.Make(k, "x")
			t.Result(unix.Lsetxattr("x", aclOfFile, encodeACL(goodACL...), 0), want)
		})
		wantNew := want
		if want == 0 && k != harness.Dir {
			wantNew = unix.EACCES
		}
		g.Case("default-list-on-"+string(k)+"/"+errName(wantNew), func(t *T) {
			t.Make(k, "x")
			t.Result(unix.Lsetxattr("x", aclOfNew, encodeACL(goodACL...), 0), wantNew)
		})
	}
	g.Case("setting-one-of-another's-file/is-EPERM", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o666)
		t.Dir("d", 0o777)
		t.As(alice, func() {
			t.Errno(unix.Setxattr("f", aclOfFile, encodeACL(goodACL...), 0), unix.EPERM)
			t.Errno(unix.Setxattr("d", aclOfNew, encodeACL(goodACL...), 0), unix.EPERM)
			t.Errno(unix.Removexattr("f", aclOfFile), unix.EPERM)
		})
	})
	g.Case("reading-one/needs-no-right-to-the-file", func(t *T) {
		t.NeedRoot()
		t.File("f", 0)
		acl := encodeACL(namedACL(0, 0, 0, 0, 0, 0)...)
		t.Must(unix.Setxattr("f", aclOfFile, acl, 0))
		t.As(alice, func() { attrIs(t, "f", aclOfFile, string(acl)) })
	})
	g.Case("setting-one/moves-ctime", func(t *T) {
		t.File("f", 0o600)
		m := t.Mark("f")
		t.OK(unix.Setxattr("f", aclOfFile, encodeACL(goodACL...), 0))
		m.Moved("f", harness.C)
	})
}

// aclWant is the model of access by a list on a file of alice's and of group
// alice.GID: the algorithm of acl(5), but that Linux does not look at a list
// whose mask is empty; the mode alone counts then.
func aclWant(who Cred, acl []aclEntry, want uint16) bool {
	perm := func(tag uint16, id uint32) (uint16, bool) {
		for _, e := range acl {
			if e.tag == tag && (tag != tagUser && tag != tagGroup || e.id == id) {
				return e.perm, true
			}
		}
		return 0, false
	}
	mask, masked := perm(tagMask, 0)
	if !masked {
		mask = 7
	}
	owner, _ := perm(tagUserObj, 0)
	if who.UID == alice.UID {
		return owner&want == want
	}
	if mask == 0 {
		if who.GID == alice.GID || slices.Contains(who.Groups, alice.GID) {
			return want == 0
		}
		other, _ := perm(tagOther, 0)
		return other&want == want
	}
	if named, ok := perm(tagUser, uint32(who.UID)); ok {
		return named&mask&want == want
	}
	member := false
	for _, gid := range append([]int{who.GID}, who.Groups...) {
		if gid == alice.GID {
			member = true
			if p, _ := perm(tagGroupObj, 0); p&mask&want == want {
				return true
			}
		}
		if p, ok := perm(tagGroup, uint32(gid)); ok {
			member = true
			if p&mask&want == want {
				return true
			}
		}
	}
	other, _ := perm(tagOther, 0)
	return !member && other&want == want
}

// aclAccess: who may do what under a list.
func aclAccess(g *Group) {
	people := map[string]Cred{
		"owner":                alice,
		"owner-in-the-group":   {UID: alice.UID, GID: carol.GID},
		"named-user":           bob,
		"named-user-in-group":  {UID: bob.UID, GID: alice.GID, Groups: []int{carol.GID}},
		"group":                {UID: 21007, GID: alice.GID},
		"named-group":          {UID: 21007, GID: carol.GID},
		"both-groups":          {UID: 21007, GID: alice.GID, Groups: []int{carol.GID}},
		"named-group-as-extra": {UID: 21007, GID: 22007, Groups: []int{carol.GID}},
		"other":                {UID: 21007, GID: 22007},
	}
	lists := map[string][]aclEntry{
		"all-by-name":          namedACL(6, 6, 0, 6, 7, 0),
		"mask-forbids-writing": namedACL(6, 6, 6, 6, 4, 0),
		"mask-forbids-all":     namedACL(7, 7, 7, 7, 0, 7),
		"names-get-less":       namedACL(7, 0, 4, 2, 7, 7),
		"groups-differ":        namedACL(4, 2, 2, 4, 7, 6),
		"owner-gets-nothing":   namedACL(0, 7, 7, 7, 7, 7),
		"other-only":           namedACL(0, 0, 0, 0, 7, 6),
	}
	for word, acl := range lists {
		for who, cred := range people {
			g.Sub("acl-access/%s", word).Case(who, func(t *T) {
				t.NeedRoot()
				t.Write("f", "data")
				t.Chown("f", alice.UID, alice.GID)
				t.Must(unix.Setxattr("f", aclOfFile, encodeACL(acl...), 0))
				errno := func(want uint16) syscall.Errno {
					noexec := want&1 != 0 && t.Env.MountFlags&unix.MS_NOEXEC != 0
					if aclWant(cred, acl, want) && !noexec {
						return 0
					}
					return unix.EACCES
				}
				t.As(cred, func() {
					for want := range uint16(8) {
						t.Result(unix.Access("f", uint32(want)), errno(want), "access %d", want)
					}
					t.Result(t.Try("f", unix.O_RDONLY, 0), errno(4), "open to read")
					t.Result(t.Try("f", unix.O_WRONLY, 0), errno(2), "open to write")
					t.Result(t.Try("f", unix.O_RDWR, 0), errno(6), "open for both")
				})
			})
		}
	}
	g.Sub("acl-access").Case("directory/list-decides-over-names", func(t *T) {
		t.NeedRoot()
		t.Dir("d", 0o700)
		t.File("d/f", 0o666)
		t.Chown("d", alice.UID, alice.GID)
		t.Must(unix.Setxattr("d", aclOfFile, encodeACL(namedACL(7, 7, 0, 5, 7, 0)...), 0))
		t.As(bob, func() {
			t.OK(t.Try("d/n", unix.O_CREAT|unix.O_WRONLY, 0o600))
			t.OK(unix.Unlink("d/n"))
		})
		t.As(carol, func() {
			t.OK(t.Try("d/f", unix.O_RDWR, 0))
			t.OK(t.Try("d", unix.O_RDONLY, 0))
			t.Errno(t.Try("d/n", unix.O_CREAT|unix.O_WRONLY, 0o600), unix.EACCES)
		})
		t.As(Cred{UID: 21007, GID: 22007}, func() { t.Errno(t.Try("d/f", unix.O_RDONLY, 0), unix.EACCES) })
	})
}

// aclChmod: chmod and a list are two views of one thing: with names in it, the
// group's bits are the mask.
func aclChmod(g *Group) {
	g = g.Sub("acl-chmod")
	g.Case("list/shows-as-mode", func(t *T) {
		t.File("f", 0o600)
		t.OK(unix.Setxattr("f", aclOfFile, encodeACL(namedACL(7, 1, 2, 4, 5, 3)...), 0))
		t.Perm("f", 0o753)
	})
	for _, mode := range []uint32{0o777, 0o700, 0o640, 0o007, 0o111, 0o4755, 0o1777} {
		g.Case(fmt.Sprintf("chmod-%04o/sets-owner-mask-and-other", mode), func(t *T) {
			t.NeedRoot()
			t.File("f", 0o600)
			t.Must(unix.Setxattr("f", aclOfFile, encodeACL(namedACL(7, 6, 5, 4, 7, 3)...), 0))
			t.OK(unix.Chmod("f", mode))
			t.Perm("f", mode)
			u, gr, o := uint16(mode>>6&7), uint16(mode>>3&7), uint16(mode&7)
			attrIs(t, "f", aclOfFile, string(encodeACL(namedACL(u, 6, 5, 4, gr, o)...)))
		})
	}
	g.Case("chmod-of-a-directory/leaves-the-default-list", func(t *T) {
		t.Dir("d", 0o755)
		def := encodeACL(namedACL(7, 6, 5, 4, 7, 3)...)
		t.Must(unix.Setxattr("d", aclOfNew, def, 0))
		t.OK(unix.Chmod("d", 0o700))
		attrIs(t, "d", aclOfNew, string(def))
	})
	g.Case("chown/leaves-the-list", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o600)
		acl := encodeACL(namedACL(6, 4, 0, 4, 4, 0)...)
		t.Must(unix.Setxattr("f", aclOfFile, acl, 0))
		t.OK(unix.Chown("f", 21008, 22008))
		attrIs(t, "f", aclOfFile, string(acl))
	})
	g.Case("setgid/goes-when-a-stranger-to-the-group-sets-a-list", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o2770)
		t.Chown("f", alice.UID, carol.GID)
		t.Chmod("f", 0o2770)
		t.As(alice, func() { t.OK(unix.Setxattr("f", aclOfFile, encodeACL(namedACL(7, 4, 5, 4, 7, 0)...), 0)) })
		t.Perm("f", 0o770)
	})
}

// aclDefault: a directory's default list is what new files start with, less
// the bits that their maker did not ask for; the umask is out of it.
func aclDefault(g *Group) {
	g = g.Sub("acl-default")
	def := namedACL(7, 6, 5, 4, 7, 5)
	makers := map[Kind]func(name string, mode uint32) error{
		harness.File: func(name string, mode uint32) error {
			fd, err := unix.Open(name, unix.O_CREAT|unix.O_EXCL|unix.O_RDWR|unix.O_CLOEXEC, mode)
			if err == nil {
				err = unix.Close(fd)
			}
			return err
		},
		harness.Dir:    unix.Mkdir,
		harness.FIFO:   func(name string, mode uint32) error { return unix.Mknod(name, unix.S_IFIFO|mode, 0) },
		harness.Socket: func(name string, mode uint32) error { return unix.Mknod(name, unix.S_IFSOCK|mode, 0) },
	}
	for k, mk := range makers {
		for _, mode := range []uint32{0o777, 0o666, 0o640, 0o600, 0} {
			g.Case(fmt.Sprintf("%s-of-mode-%04o/inherits-it-despite-umask-077", k, mode), func(t *T) {
				t.Dir("d", 0o755)
				t.Must(unix.Setxattr("d", aclOfNew, encodeACL(def...), 0))
				t.Umask(0o077)
				t.OK(mk("d/x", mode))
				u, gr, o := uint16(mode>>6&7), uint16(mode>>3&7), uint16(mode&7)
				want := namedACL(7&u, 6, 5, 4, 7&gr, 5&o)
				attrIs(t, "d/x", aclOfFile, string(encodeACL(want...)))
				t.Perm("d/x", uint32(7&u)<<6|uint32(7&gr)<<3|uint32(5&o))
				if k == harness.Dir {
					attrIs(t, "d/x", aclOfNew, string(encodeACL(def...)))
				} else {
					attrsAre(t, "d/x", aclOfFile)
				}
			})
		}
	}
	g.Case("without-names/gives-a-mode-and-no-list", func(t *T) {
		t.Dir("d", 0o755)
		t.Must(unix.Setxattr("d", aclOfNew, encodeACL(simpleACL(0o750)...), 0))
		t.Umask(0o077)
		t.File("d/f", 0o666)
		t.Perm("d/f", 0o640)
		attrsAre(t, "d/f")
		t.OK(unix.Mkdir("d/e", 0o777))
		t.Perm("d/e", 0o750)
		attrIs(t, "d/e", aclOfNew, string(encodeACL(simpleACL(0o750)...)))
	})
	g.Case("symlink/has-none", func(t *T) {
		t.Dir("d", 0o755)
		t.Must(unix.Setxattr("d", aclOfNew, encodeACL(def...), 0))
		t.Symlink("x", "d/l")
		t.Perm("d/l", 0o777)
		attrsAre(t, "d/l")
	})
	g.Case("O_TMPFILE/inherits-it", func(t *T) {
		t.Dir("d", 0o755)
		t.Must(unix.Setxattr("d", aclOfNew, encodeACL(def...), 0))
		fd := t.Open("d", unix.O_TMPFILE|unix.O_RDWR, 0o666)
		t.OK(unix.Linkat(cwd, procFD(fd), cwd, "d/x", unix.AT_SYMLINK_FOLLOW))
		attrIs(t, "d/x", aclOfFile, string(encodeACL(namedACL(6, 6, 5, 4, 6, 4)...)))
	})
	g.Case("does-not-grant-anything-on-the-directory-itself", func(t *T) {
		t.NeedRoot()
		t.Dir("d", 0o700)
		t.Must(unix.Setxattr("d", aclOfNew, encodeACL(namedACL(7, 7, 7, 7, 7, 7)...), 0))
		t.Perm("d", 0o700)
		t.As(bob, func() { t.Errno(t.Try("d", unix.O_RDONLY, 0), unix.EACCES) })
	})
	g.Case("removed/umask-counts-again", func(t *T) {
		t.Dir("d", 0o755)
		t.Must(unix.Setxattr("d", aclOfNew, encodeACL(def...), 0))
		t.OK(unix.Removexattr("d", aclOfNew))
		attrsAre(t, "d")
		t.Umask(0o077)
		t.File("d/f", 0o666)
		t.Perm("d/f", 0o600)
	})
	g.Case("set-to-nothing/removes-it", func(t *T) {
		t.Dir("d", 0o755)
		t.Must(unix.Setxattr("d", aclOfNew, encodeACL(def...), 0))
		t.OK(unix.Setxattr("d", aclOfNew, encodeACL(), 0))
		_, err := attr("d", aclOfNew)
		t.Errno(err, unix.ENODATA)
	})
}
