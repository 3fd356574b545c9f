package posix

import (
	"fmt"
	"os/exec"
	"slices"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareIdentity) }

func declareIdentity(s *harness.Suite) {
	g := s.Group("identity")
	owners(g)
	manyGroups(g)
	setIDPrograms(g)
	mountRights(g)
	capabilities(g)
	userNamespace(g)
}

// makers makes one of each kind that any user may make.
var makers = map[Kind]func(name string) error{
	harness.File:    opens(unix.O_CREAT | unix.O_EXCL | unix.O_WRONLY),
	harness.Dir:     func(name string) error { return unix.Mkdir(name, 0o755) },
	harness.Symlink: func(name string) error { return unix.Symlink("t", name) },
	harness.FIFO:    func(name string) error { return unix.Mknod(name, unix.S_IFIFO|0o644, 0) },
	harness.Socket:  func(name string) error { return unix.Mknod(name, unix.S_IFSOCK|0o644, 0) },
}

// owners: what is made belongs to who made it.
func owners(g *Group) {
	g = g.Sub("owner")
	people := map[string]Cred{
		"user": alice, "user-of-root's-group": {UID: bob.UID, GID: 0}, "root-of-another-group": {UID: 0, GID: carol.GID},
		"big-numbers": {UID: 1<<31 + 5, GID: 1<<31 + 6}, "nobody": {UID: 65534, GID: 65534},
	}
	for who, cred := range people {
		for k, mk := range makers {
			g.Case(who+"/makes-a-"+string(k), func(t *T) {
				t.NeedRoot()
				t.Chmod(".", 0o777)
				t.As(cred, func() { t.OK(mk("x")) })
				t.Owner("x", cred.UID, cred.GID)
			})
		}
	}
	g.Case("fsuid/is-what-counts", func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		t.File("private", 0o600)
		t.SetFsuid(alice.UID)
		t.OK(unix.Mkdir("d", 0o755))
		t.Owner("d", alice.UID, 0)
		t.Errno(t.Try("private", unix.O_RDONLY, 0), unix.EACCES)
		t.SetFsuid(0)
	})
	g.Case("O_TMPFILE/is-the-maker's", func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		t.As(bob, func() {
			s := t.Fstat(t.Open(".", unix.O_TMPFILE|unix.O_RDWR, 0o600))
			eq(t, "user", s.UID, bob.UID)
			eq(t, "group", s.GID, bob.GID)
		})
	})
	g.Case("other-user/is-admitted", func(t *T) {
		t.NeedRoot()
		t.Write("f", "for all")
		t.As(alice, func() {
			t.Content("f", "for all")
			t.OK(unix.Access("f", unix.R_OK))
			eq(t, "names", len(t.Names(".")), 1)
		})
	})
	g.Case("another-process-of-another-user/is-told-apart", func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		t.Write("f", "secret")
		t.Chmod("f", 0o600)
		var c *harness.Child
		t.As(alice, func() { c = t.Child("changer") })
		c.Expect("error", "read f")
		c.Expect("ok", "write mine hello")
		c.Expect("EACCES", "write f x")
		t.Owner("mine", alice.UID, alice.GID)
		t.Chmod("f", 0o644)
		c.Expect("=secret", "read f")
		t.Content("mine", "hello")
	})
	g.Case("two-users-in-turn-on-one-thread/are-told-apart", func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		for _, c := range []Cred{alice, bob} {
			name := fmt.Sprint("of-", c.UID)
			t.As(c, func() {
				t.Write(name, "x")
				t.OK(unix.Chmod(name, 0o600))
			})
		}
		for range 10 {
			t.As(alice, func() {
				t.OK(t.Try("of-21001", unix.O_RDWR, 0))
				t.Errno(t.Try("of-21002", unix.O_RDWR, 0), unix.EACCES)
			})
			t.As(bob, func() {
				t.OK(t.Try("of-21002", unix.O_RDWR, 0))
				t.Errno(t.Try("of-21001", unix.O_RDWR, 0), unix.EACCES)
			})
		}
	})
}

// manyGroups: every supplementary group counts, however many there are, and
// those of the thread that calls.
func manyGroups(g *Group) {
	g = g.Sub("groups")
	for _, n := range []int{1, 2, 16, 31, 32, 33, 100, 1000} {
		g.Case(fmt.Sprintf("last-of-%d/counts", n), func(t *T) {
			t.NeedRoot()
			t.Write("f", "data")
			t.Chown("f", bob.UID, carol.GID)
			t.Chmod("f", 0o060)
			t.Dir("d", 0o070)
			t.Chown("d", bob.UID, carol.GID)
			t.Chmod("d", 0o070)
			groups := make([]int, n)
			for i := range groups {
				groups[i] = 20_000 + i // below carol's: the kernel sorts them
			}
			t.As(Cred{UID: alice.UID, GID: alice.GID, Groups: groups}, func() {
				t.Errno(t.Try("f", unix.O_RDWR, 0), unix.EACCES)
				t.Errno(unix.Mkdir("d/x", 0o755), unix.EACCES)
			})
			groups[n-1] = carol.GID
			t.As(Cred{UID: alice.UID, GID: alice.GID, Groups: groups}, func() {
				t.OK(t.Try("f", unix.O_RDWR, 0))
				t.OK(unix.Mkdir("d/x", 0o755))
			})
		})
	}
	g.Case("of-two-threads-of-one-process/differ", func(t *T) {
		t.NeedRoot()
		t.Write("f", "data")
		t.Chown("f", bob.UID, carol.GID)
		t.Chmod("f", 0o060)
		t.Parallel(4, func(i int) {
			c := Cred{UID: alice.UID, GID: alice.GID}
			var want syscall.Errno = unix.EACCES
			if i%2 == 0 {
				c.Groups, want = []int{carol.GID}, 0
			}
			t.As(c, func() {
				for range 30 {
					t.Result(t.Try("f", unix.O_RDWR, 0), want)
				}
			})
		})
	})
	g.Case("chgrp-to-one's-own/works-and-to-others-is-EPERM", func(t *T) {
		t.NeedRoot()
		t.File("f", 0o644)
		t.Chown("f", alice.UID, alice.GID)
		t.As(Cred{UID: alice.UID, GID: alice.GID, Groups: []int{22005, 22006}}, func() {
			t.OK(unix.Chown("f", -1, 22005))
			t.OK(unix.Chown("f", -1, 22006))
			t.Errno(unix.Chown("f", -1, 22007), unix.EPERM)
		})
		t.Owner("f", alice.UID, 22006)
	})
}

// setIDPrograms: a set-id program runs as its owner, unless the mount forbids.
func setIDPrograms(g *Group) {
	g = g.Sub("set-id-program")
	for name, c := range map[string]struct {
		prog program
		mode uint32
		want int // the low byte of the id that it reports
	}{
		"setuid":             {exitsID, 0o4755, alice.UID & 0xff},
		"not-setuid":         {exitsID, 0o755, bob.UID & 0xff},
		"setgid":             {exitsGID, 0o2755, alice.GID & 0xff},
		"setgid-without-x":   {exitsGID, 0o2745, bob.GID & 0xff},
		"setuid-of-no-group": {exitsGID, 0o4755, bob.GID & 0xff},
	} {
		for _, nosuid := range []bool{false, true} {
			word := map[bool]string{true: "nosuid", false: "suid"}[nosuid]
			g.Case(name+"/"+word, func(t *T) {
				t.NeedRoot()
				t.NeedMount(unix.MS_NOEXEC, "noexec")
				if !nosuid {
					t.NeedMount(unix.MS_NOSUID, "nosuid")
				}
				t.Dir("d", 0o755)
				makeProgram(t, "d/prog", c.prog, 0o755)
				t.Chown("d/prog", alice.UID, alice.GID)
				t.Chmod("d/prog", c.mode)
				want := c.want
				if nosuid {
					t.Private()
					t.Bind("d", "d", unix.MS_NOSUID)
					want = bob.UID & 0xff
					if c.prog == exitsGID {
						want = bob.GID & 0xff
					}
				}
				var code int
				var err error
				t.As(bob, func() { code, err = t.ExitCode("./d/prog") })
				if t.OK(err) {
					eq(t, "low byte of the id", code, want)
				}
			})
		}
	}
	g.Case("chown-takes-setuid/the-program-runs-as-its-caller", func(t *T) {
		t.NeedRoot()
		t.NeedMount(unix.MS_NOEXEC, "noexec")
		makeProgram(t, "prog", exitsID, 0o755)
		t.Chmod("prog", 0o4755)
		t.Chown("prog", alice.UID, alice.GID)
		var code int
		var err error
		t.As(bob, func() { code, err = t.ExitCode("./prog") })
		if t.OK(err) {
			eq(t, "low byte of the id", code, bob.UID&0xff)
		}
	})
}

// mountRights: what the flags of a mount forbid.
func mountRights(g *Group) {
	g = g.Sub("mount-flags")
	g.Case("nodev/a-device-is-EACCES", func(t *T) {
		t.Private()
		t.Dir("d", 0o755)
		t.Must(unix.Mknod("d/null", unix.S_IFCHR|0o666, int(harness.CharDev)))
		t.Bind("d", "d", unix.MS_NODEV)
		t.Errno(t.Try("d/null", unix.O_RDWR, 0), unix.EACCES)
		eq(t, "type", t.Lstat("d/null").Type(), unix.S_IFCHR)
	})
	g.Case("noexec/a-program-is-EACCES", func(t *T) {
		t.Private()
		t.Dir("d", 0o755)
		makeProgram(t, "d/prog", exits42, 0o755)
		t.Bind("d", "d", unix.MS_NOEXEC)
		_, err := t.ExitCode("./d/prog")
		t.Errno(err, unix.EACCES)
		t.Errno(unix.Access("d/prog", unix.X_OK), unix.EACCES)
		_, err = unix.Mmap(t.Open("d/prog", unix.O_RDONLY), 0, 100, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_PRIVATE)
		t.Errno(err, unix.EPERM)
	})
	g.Case("nosymfollow/a-symlink-is-ELOOP", func(t *T) {
		const nosymfollow = 0x100
		t.Private()
		t.Dir("d", 0o755)
		t.Write("d/f", "x")
		t.Symlink("f", "d/l")
		t.Bind("d", "d", nosymfollow)
		t.Errno(t.Try("d/l", unix.O_RDONLY, 0), unix.ELOOP)
		linkIs(t, "d/l", "f")
	})
	g.Case("fuse/is-nosuid-and-nodev", func(t *T) {
		if t.Env.Type != "fuse" {
			t.Skip("only FUSE mounts owe it")
		}
		t.Check(t.Env.MountFlags&unix.MS_NOSUID != 0, "set-id programs are honoured")
		t.Check(t.Env.MountFlags&unix.MS_NODEV != 0, "devices can be opened")
	})
}

// Capabilities that matter to files, as bits of the effective set.
const (
	capChown   = 1 << unix.CAP_CHOWN
	capDAC     = 1 << unix.CAP_DAC_OVERRIDE
	capDACRead = 1 << unix.CAP_DAC_READ_SEARCH
	capFowner  = 1 << unix.CAP_FOWNER
)

// withCaps runs fn with the effective capabilities of the thread set to these
// (of the first 32); they come back by the next change of the uid to 0.
func withCaps(t *T, caps uint32, fn func()) {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	t.Must(unix.Capget(&head, &data[0]))
	old := data
	data[0].Effective, data[1].Effective = caps, 0
	capset := func(d *[2]unix.CapUserData) error {
		_, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&d[0])), 0)
		if e != 0 {
			return e
		}
		return nil
	}
	t.Must(capset(&data))
	defer func() { t.Must(capset(&old)) }()
	fn()
}

// capabilities: it is these, not the number 0, that pass for root.
func capabilities(g *Group) {
	g = g.Sub("capabilities")
	setup := func(t *T) {
		t.NeedRoot()
		t.Write("f", "data")
		t.Chown("f", bob.UID, bob.GID)
		t.Chmod("f", 0)
	}
	g.Case("root-without-any/is-like-anyone", func(t *T) {
		setup(t)
		withCaps(t, 0, func() {
			t.Errno(t.Try("f", unix.O_RDONLY, 0), unix.EACCES)
			t.Errno(t.Try("f", unix.O_WRONLY, 0), unix.EACCES)
			t.Errno(unix.Chmod("f", 0o777), unix.EPERM)
			t.Errno(unix.Chown("f", 0, 0), unix.EPERM)
			t.Errno(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0), unix.EPERM)
		})
		t.Perm("f", 0)
	})
	for name, c := range map[string]struct {
		caps uint32
		do   func(t *T) error
	}{
		"DAC_OVERRIDE/reads-and-writes":      {capDAC, func(t *T) error { return t.Try("f", unix.O_RDWR, 0) }},
		"DAC_READ_SEARCH/reads":              {capDACRead, func(t *T) error { return t.Try("f", unix.O_RDONLY, 0) }},
		"FOWNER/changes-modes":               {capFowner, func(*T) error { return unix.Chmod("f", 0o600) }},
		"FOWNER/sets-times":                  {capFowner, func(*T) error { return unix.UtimesNanoAt(cwd, "f", []unix.Timespec{{Sec: 1}, {Sec: 1}}, 0) }},
		"CHOWN/changes-owners":               {capChown, func(*T) error { return unix.Chown("f", 7, 8) }},
		"DAC_OVERRIDE-of-root/lists-and-all": {capDAC, func(t *T) error { return unix.Access("f", unix.F_OK) }},
	} {
		for _, who := range []string{"root", "user"} {
			g.Case(name+"/by-"+who, func(t *T) {
				setup(t)
				if who == "root" {
					withCaps(t, c.caps, func() { t.OK(c.do(t)) })
					return
				}
				t.As(alice, func() { withCaps(t, c.caps, func() { t.OK(c.do(t)) }) })
			})
		}
	}
	g.Case("DAC_READ_SEARCH/does-not-write", func(t *T) {
		setup(t)
		withCaps(t, capDACRead, func() { t.Errno(t.Try("f", unix.O_WRONLY, 0), unix.EACCES) })
	})
	g.Case("FOWNER/does-not-read", func(t *T) {
		setup(t)
		withCaps(t, capFowner, func() { t.Errno(t.Try("f", unix.O_RDONLY, 0), unix.EACCES) })
	})
}

// userNamespace: inside one, ids are those of its map, and its root is root
// over mapped files only.
func userNamespace(g *Group) {
	g.Sub("user-namespace").Case("root-of-one/makes-files-of-the-mapped-user", func(t *T) {
		t.NeedRoot()
		t.Chmod(".", 0o777)
		t.Write("outside", "x")
		t.Chmod("outside", 0o600)
		t.Write("inside", "x")
		t.Chown("inside", alice.UID, alice.GID)
		t.Chmod("inside", 0)
		cmd := exec.Command("/proc/self/exe")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  unix.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: alice.UID, Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: alice.GID, Size: 1}},
			Credential:  &syscall.Credential{},
			Pdeathsig:   syscall.SIGKILL,
		}
		c, err := t.Spawn(cmd, "changer")
		if err != nil {
			t.Skip("no user namespace: %v", err)
		}
		c.Expect("ok", "create made")
		c.Expect("EACCES", "append outside y")
		c.Expect("ok", "append inside y")
		c.Expect("EPERM", "chmod outside 511")
		c.Expect("ok", "chmod inside 420")
		t.Owner("made", alice.UID, alice.GID)
		t.Content("inside", "xy")
		eq(t, "user as seen inside", slices.Contains([]string{"=xy"}, c.Ask("read inside")), true)
	})
}
