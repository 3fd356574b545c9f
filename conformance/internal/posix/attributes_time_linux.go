package posix

import (
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// timesSet: utimensat sets what it is told, to the nanosecond.
func timesSet(g *Group) {
	g = g.Sub("utimensat")
	type value struct {
		name string
		ts   unix.Timespec
	}
	values := []value{
		{"1970", unix.Timespec{}}, {"one-nanosecond", unix.Timespec{Nsec: 1}}, {"last-nanosecond", unix.Timespec{Sec: 1e9, Nsec: 999999999}},
		{"before-1970", unix.Timespec{Sec: -1, Nsec: 5e8}}, {"1969", unix.Timespec{Sec: -1e6, Nsec: 123456789}},
		{"1901", unix.Timespec{Sec: -1 << 31}}, {"2038-last-second", unix.Timespec{Sec: 1<<31 - 1, Nsec: 999999999}},
		{"2038-next-second", unix.Timespec{Sec: 1 << 31}}, {"2100", unix.Timespec{Sec: 4102444800, Nsec: 42}},
		{"2106", unix.Timespec{Sec: 1<<32 + 1, Nsec: 7}}, {"2242", unix.Timespec{Sec: 1 << 33, Nsec: 999999999}},
	}
	for _, k := range []Kind{harness.File, harness.Dir, harness.FIFO, harness.Socket, harness.Symlink, harness.Char} {
		for _, v := range values {
			g.Sub("%s", k).Case(v.name+"/is-kept-to-the-nanosecond", func(t *T) {
				t.Make(k, "x")
				mirror := unix.Timespec{Sec: v.ts.Sec + 1, Nsec: v.ts.Nsec}
				m := t.Mark("x")
				t.OK(unix.UtimesNanoAt(cwd, "x", []unix.Timespec{v.ts, mirror}, unix.AT_SYMLINK_NOFOLLOW))
				s := t.Lstat("x")
				eq(t, "atime", s.Atime, v.ts.Nano())
				eq(t, "mtime", s.Mtime, mirror.Nano())
				m.MovedOf("x", harness.C, harness.C)
			})
		}
	}
	g.Case("by-descriptor/works-on-a-read-only-one", func(t *T) {
		t.Write("f", "x")
		fd := t.Open("f", unix.O_RDONLY)
		t.OK(futimens(fd, unix.Timespec{Sec: 3}, unix.Timespec{Sec: 4}))
		s := t.Fstat(fd)
		eq(t, "atime", s.Atime, 3e9)
		eq(t, "mtime", s.Mtime, 4e9)
	})
	g.Case("symlink/is-followed-unless-told-not-to", func(t *T) {
		t.Write("f", "x")
		t.Symlink("f", "l")
		t.OK(unix.UtimesNanoAt(cwd, "l", []unix.Timespec{{Sec: 5}, {Sec: 6}}, 0))
		eq(t, "mtime of the file", t.Lstat("f").Mtime, 6e9)
		t.Check(t.Lstat("l").Mtime != 6e9, "the link's mtime was set")
		t.OK(unix.UtimesNanoAt(cwd, "l", []unix.Timespec{{Sec: 7}, {Sec: 8}}, unix.AT_SYMLINK_NOFOLLOW))
		eq(t, "mtime of the file", t.Lstat("f").Mtime, 6e9)
		eq(t, "mtime of the link", t.Lstat("l").Mtime, 8e9)
	})
	for name, nsec := range map[string]int64{"1e9": 1e9, "minus-1": -1, "2e9": 2e9} {
		g.Case("nanoseconds-"+name+"/is-EINVAL", func(t *T) {
			t.Write("f", "x")
			t.Unchanged(func() {
				t.Errno(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{{Nsec: nsec}, {}}, 0), unix.EINVAL)
				t.Errno(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{{}, {Nsec: nsec}}, 0), unix.EINVAL)
			})
		})
	}
	g.Case("both-OMIT/does-not-even-look", func(t *T) {
		omit := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_OMIT}}
		t.Write("f", "x")
		m := t.Mark("f")
		t.OK(unix.UtimesNanoAt(cwd, "f", omit, 0))
		m.Still("f")
		t.OK(unix.UtimesNanoAt(cwd, "missing", omit, 0))
	})
	now, omit, set := unix.Timespec{Nsec: unix.UTIME_NOW}, unix.Timespec{Nsec: unix.UTIME_OMIT}, unix.Timespec{Sec: 9, Nsec: 9}
	specs := map[string]unix.Timespec{"NOW": now, "OMIT": omit, "set": set}
	for aName, a := range specs {
		for mName, mt := range specs {
			if aName == "OMIT" && mName == "OMIT" {
				continue
			}
			for _, k := range []Kind{harness.File, harness.Dir, harness.Symlink} {
				g.Sub("%s", k).Case("atime-"+aName+"-mtime-"+mName, func(t *T) {
					t.Make(k, "x")
					t.Must(unix.UtimesNanoAt(cwd, "x", []unix.Timespec{{Sec: 100}, {Sec: 200}}, unix.AT_SYMLINK_NOFOLLOW))
					was := t.Lstat("x")
					m := t.Mark("x")
					t.OK(unix.UtimesNanoAt(cwd, "x", []unix.Timespec{a, mt}, unix.AT_SYMLINK_NOFOLLOW))
					m.MovedOf("x", harness.C, harness.C)
					timeIs(t, m, "x", harness.A, aName, was.Atime)
					timeIs(t, m, "x", harness.M, mName, was.Mtime)
				})
			}
		}
	}
}

// timeIs asserts what utimensat made of one time.
func timeIs(t *T, m *harness.Mark, name string, which harness.Times, spec string, was int64) {
	s := t.Lstat(name)
	got := s.Atime
	if which == harness.M {
		got = s.Mtime
	}
	switch spec {
	case "NOW":
		m.MovedOf(name, which, which)
	case "OMIT":
		eq(t, "omitted time", got, was)
	case "set":
		eq(t, "time set", got, 9e9+9)
	}
}

func futimens(fd int, a, m unix.Timespec) error {
	return unix.UtimesNanoAt(cwd, procFD(fd), []unix.Timespec{a, m}, 0)
}

// timesPermissions: to set times one must own the file; to set both to now it
// is enough to be allowed to write.
func timesPermissions(g *Group) {
	now, omit, set := unix.Timespec{Nsec: unix.UTIME_NOW}, unix.Timespec{Nsec: unix.UTIME_OMIT}, unix.Timespec{Sec: 9}
	calls := map[string][]unix.Timespec{
		"null": nil, "NOW-NOW": {now, now}, "NOW-OMIT": {now, omit}, "OMIT-NOW": {omit, now},
		"set-set": {set, set}, "set-OMIT": {set, omit}, "NOW-set": {now, set}, "OMIT-OMIT": {omit, omit},
	}
	people := map[string]Cred{"owner": alice, "writer": {UID: bob.UID, GID: carol.GID}, "neither": bob, "root": root}
	for who, cred := range people {
		for call, ts := range calls {
			var want syscall.Errno
			both := call == "null" || call == "NOW-NOW"
			switch {
			case call == "OMIT-OMIT" || who == "owner" || who == "root" || who == "writer" && both:
			case both:
				want = unix.EACCES
			default:
				want = unix.EPERM
			}
			g.Sub("utimensat-permission/%s", who).Case(call+"/"+errName(want), func(t *T) {
				t.NeedRoot()
				for _, k := range []Kind{harness.File, harness.Dir, harness.FIFO} {
					x := "x-" + string(k)
					t.MakeMode(k, x, 0o464) // the owner need not be allowed to write
					t.Chown(x, alice.UID, carol.GID)
					t.As(cred, func() { t.Result(unix.UtimesNanoAt(cwd, x, ts, 0), want, "%s", k) })
				}
			})
		}
	}
}

// timedOp is an operation and the times that it moves: in moved and still,
// paths after the operation; a path that was called something else before is
// "old>new".
type timedOp struct {
	name  string
	setup func(t *T)
	run   func(t *T) error
	moves map[string]harness.Times
}

// timesMoved: every operation moves the times that it should and no others.
func timesMoved(g *Group) {
	const mc = harness.M | harness.C
	file := func(t *T) { t.Write("d/f", "0123456789"); t.Write("other", "x") }
	ops := []timedOp{
		{"open-create", nil, func(t *T) error { return t.Try("d/n", unix.O_CREAT|unix.O_WRONLY, 0o644) }, map[string]harness.Times{"d": mc, ".": 0}},
		{"mkdir", nil, func(*T) error { return unix.Mkdir("d/n", 0o755) }, map[string]harness.Times{"d": mc, ".": 0}},
		{"mkfifo", nil, func(*T) error { return unix.Mknod("d/n", unix.S_IFIFO|0o644, 0) }, map[string]harness.Times{"d": mc, ".": 0}},
		{"mknod", nil, func(*T) error { return unix.Mknod("d/n", unix.S_IFREG|0o644, 0) }, map[string]harness.Times{"d": mc, ".": 0}},
		{"symlink", nil, func(*T) error { return unix.Symlink("x", "d/n") }, map[string]harness.Times{"d": mc, ".": 0}},
		{"link", file, func(*T) error { return unix.Link("d/f", "n") }, map[string]harness.Times{"d/f": harness.C, ".": mc, "d": 0}},
		{"unlink", file, func(*T) error { return unix.Unlink("d/f") }, map[string]harness.Times{"d": mc, ".": 0}},
		{"rmdir", func(t *T) { t.Dir("d/e", 0o755) }, func(*T) error { return unix.Rmdir("d/e") }, map[string]harness.Times{"d": mc, ".": 0}},
		{"rename-within", file, func(*T) error { return unix.Rename("d/f", "d/g") }, map[string]harness.Times{"d/f>d/g": harness.C, "d": mc, ".": 0}},
		{"rename-across", file, func(*T) error { return unix.Rename("d/f", "g") }, map[string]harness.Times{"d/f>g": harness.C, "d": mc, ".": mc}},
		{"chmod", file, func(*T) error { return unix.Chmod("d/f", 0o600) }, map[string]harness.Times{"d/f": harness.C, "d": 0}},
		{"chmod-to-the-same", file, func(*T) error { return unix.Chmod("d/f", 0o644) }, map[string]harness.Times{"d/f": harness.C, "d": 0}},
		{"fchmod", file, func(t *T) error { return unix.Fchmod(t.Open("d/f", unix.O_RDONLY), 0o600) }, map[string]harness.Times{"d/f": harness.C}},
		{"chmod-of-a-directory", nil, func(*T) error { return unix.Chmod("d", 0o700) }, map[string]harness.Times{"d": harness.C, ".": 0}},
		{"chown-of-nothing", file, func(*T) error { return unix.Chown("d/f", -1, -1) }, map[string]harness.Times{"d/f": harness.C}},
		{"chown-to-the-same", file, func(*T) error { return unix.Chown("d/f", unix.Geteuid(), -1) }, map[string]harness.Times{"d/f": harness.C}},
		{"setxattr", file, func(*T) error { return unix.Setxattr("d/f", "user.a", []byte("v"), 0) }, map[string]harness.Times{"d/f": harness.C, "d": 0}},
		{"removexattr", func(t *T) { file(t); t.Must(unix.Setxattr("d/f", "user.a", []byte("v"), 0)) },
			func(*T) error { return unix.Removexattr("d/f", "user.a") }, map[string]harness.Times{"d/f": harness.C, "d": 0}},
		{"write", file, func(t *T) error { return harness.WriteAll(t.Open("d/f", unix.O_WRONLY), []byte("x")) }, map[string]harness.Times{"d/f": mc, "d": 0}},
		{"write-of-nothing", file, func(t *T) error { _, err := unix.Write(t.Open("d/f", unix.O_WRONLY), nil); return err }, map[string]harness.Times{"d/f": 0}},
		{"append", file, func(t *T) error { return harness.WriteAll(t.Open("d/f", unix.O_WRONLY|unix.O_APPEND), []byte("x")) }, map[string]harness.Times{"d/f": mc}},
		{"truncate-down", file, func(*T) error { return unix.Truncate("d/f", 5) }, map[string]harness.Times{"d/f": mc, "d": 0}},
		{"truncate-up", file, func(*T) error { return unix.Truncate("d/f", 50) }, map[string]harness.Times{"d/f": mc}},
		{"truncate-to-the-same", file, func(*T) error { return unix.Truncate("d/f", 10) }, map[string]harness.Times{"d/f": mc}},
		{"ftruncate-down", file, func(t *T) error { return unix.Ftruncate(t.Open("d/f", unix.O_WRONLY), 5) }, map[string]harness.Times{"d/f": mc}},
		{"ftruncate-to-the-same", file, func(t *T) error { return unix.Ftruncate(t.Open("d/f", unix.O_WRONLY), 10) }, map[string]harness.Times{"d/f": mc}},
		{"open-to-empty", file, func(t *T) error { return t.Try("d/f", unix.O_WRONLY|unix.O_TRUNC, 0) }, map[string]harness.Times{"d/f": mc}},
		{"open-to-empty-what-is-empty", func(t *T) { t.Write("d/f", "") }, func(t *T) error { return t.Try("d/f", unix.O_WRONLY|unix.O_TRUNC, 0) }, map[string]harness.Times{"d/f": mc}},
		{"open-and-close", file, func(t *T) error { return t.Try("d/f", unix.O_RDWR, 0) }, map[string]harness.Times{"d/f": 0, "d": 0}},
		{"open-existing-with-O_CREAT", file, func(t *T) error { return t.Try("d/f", unix.O_RDWR|unix.O_CREAT, 0) }, map[string]harness.Times{"d/f": 0, "d": 0}},
		{"fallocate", file, func(t *T) error { return unix.Fallocate(t.Open("d/f", unix.O_WRONLY), 0, 0, 100) }, map[string]harness.Times{"d/f": mc}},
		{"punch-hole", func(t *T) { t.Write("d/f", strings.Repeat("x", 1<<16)) }, func(t *T) error {
			return unix.Fallocate(t.Open("d/f", unix.O_WRONLY), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 4096, 8192)
		}, map[string]harness.Times{"d/f": mc}},
		{"copy_file_range", file, func(t *T) error {
			_, err := unix.CopyFileRange(t.Open("other", unix.O_RDONLY), nil, t.Open("d/f", unix.O_WRONLY), nil, 1, 0)
			return err
		}, map[string]harness.Times{"d/f": mc}},
		{"sendfile", file, func(t *T) error {
			_, err := unix.Sendfile(t.Open("d/f", unix.O_WRONLY), t.Open("other", unix.O_RDONLY), nil, 1)
			return err
		}, map[string]harness.Times{"d/f": mc}},
		{"fsync", file, func(t *T) error { return unix.Fsync(t.Open("d/f", unix.O_RDONLY)) }, map[string]harness.Times{"d/f": 0, "d": 0}},
		{"stat-and-access", file, func(t *T) error { t.Stat("d/f"); return unix.Access("d/f", unix.R_OK) }, map[string]harness.Times{"d/f": 0, "d": 0}},
		{"getxattr", file, func(*T) error { _, err := unix.Listxattr("d/f", nil); return err }, map[string]harness.Times{"d/f": 0}},
		{"flock", file, func(t *T) error { return unix.Flock(t.Open("d/f", unix.O_RDONLY), unix.LOCK_EX) }, map[string]harness.Times{"d/f": 0}},
		{"change-inside-a-directory-inside", func(t *T) { t.Dir("d/e", 0o755) }, func(t *T) error { return unix.Mkdir("d/e/n", 0o755) },
			map[string]harness.Times{"d/e": mc, "d": 0, ".": 0}},
	}
	for _, op := range ops {
		g.Sub("times").Case(op.name, func(t *T) {
			t.Dir("d", 0o755)
			if op.setup != nil {
				op.setup(t)
			}
			var before []string
			for path := range op.moves {
				was, _, _ := strings.Cut(path, ">")
				before = append(before, was)
			}
			m := t.Mark(before...)
			t.OK(op.run(t))
			for path, want := range op.moves {
				was, is, renamed := strings.Cut(path, ">")
				if !renamed {
					is = was
				}
				m.MovedAs(was, is, want)
			}
		})
	}
}

// timesOfData: utimensat and writing, in whatever order, leave the mtime of
// the later one.
func timesOfData(g *Group) {
	g = g.Sub("mtime")
	old := unix.Timespec{Sec: 1000, Nsec: 5}
	g.Case("set-then-written/moves", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		for i := range 3 {
			t.OK(harness.WriteAll(fd, []byte("x")))
			t.OK(futimens(fd, old, old))
			m := t.Mark("f")
			eq(t, "mtime", t.Lstat("f").Mtime, old.Nano())
			t.OK(harness.WriteAll(fd, []byte("y")))
			m.Moved("f", harness.M|harness.C)
			t.Size("f", int64(2*i+2))
		}
	})
	g.Case("written-then-set-then-closed/stays-as-set", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.OK(harness.WriteAll(fd, []byte(strings.Repeat("x", 1<<16))))
		t.OK(futimens(fd, old, old))
		eq(t, "mtime before close", t.Lstat("f").Mtime, old.Nano())
		t.Close(fd)
		eq(t, "mtime after close", t.Lstat("f").Mtime, old.Nano())
		t.OK(t.Try("f", unix.O_RDWR, 0))
		eq(t, "mtime after reopening", t.Lstat("f").Mtime, old.Nano())
	})
	g.Case("written-then-set-then-fsynced/stays-as-set", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.OK(harness.WriteAll(fd, []byte("data")))
		t.OK(futimens(fd, old, old))
		t.OK(unix.Fsync(fd))
		eq(t, "mtime", t.Lstat("f").Mtime, old.Nano())
	})
	g.Case("set-by-path-while-another-descriptor-is-dirty/stays-as-set", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.OK(harness.WriteAll(fd, []byte("data")))
		t.OK(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{old, old}, 0))
		t.OK(unix.Chmod("f", 0o600))
		t.OK(unix.Rename("f", "g"))
		t.Close(fd)
		eq(t, "mtime", t.Lstat("g").Mtime, old.Nano())
	})
	g.Case("set-then-truncated/moves", func(t *T) {
		t.Write("f", "0123456789")
		t.OK(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{old, old}, 0))
		m := t.Mark("f")
		t.OK(unix.Truncate("f", 3))
		m.Moved("f", harness.M|harness.C)
	})
	g.Case("set-then-mapped-and-stored/moves", func(t *T) {
		t.Write("f", strings.Repeat("x", 4096))
		fd := t.Open("f", unix.O_RDWR)
		b, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		t.Must(err)
		defer func() { t.Must(unix.Munmap(b)) }()
		t.OK(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{old, old}, 0))
		m := t.Mark("f")
		b[0] = 'm'
		t.OK(unix.Msync(b, unix.MS_SYNC))
		m.MovedOf("f", harness.M|harness.C, harness.M|harness.C)
	})
	g.Case("in-the-future/a-write-brings-it-back", func(t *T) {
		t.Write("f", "x")
		future := unix.Timespec{Sec: harness.Now()/1e9 + 1e6}
		t.OK(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{future, future}, 0))
		eq(t, "mtime", t.Lstat("f").Mtime, future.Nano())
		t.Write("f", "y")
		t.Check(t.Lstat("f").Mtime < future.Nano(), "mtime stays in the future")
	})
	g.Case("of-a-directory-in-the-future/a-new-name-brings-it-back", func(t *T) {
		t.Dir("d", 0o755)
		future := unix.Timespec{Sec: harness.Now()/1e9 + 1e6}
		t.OK(unix.UtimesNanoAt(cwd, "d", []unix.Timespec{future, future}, 0))
		t.File("d/f", 0o644)
		t.Check(t.Lstat("d").Mtime < future.Nano(), "mtime stays in the future")
	})
	g.Case("ten-writes/move-it-forwards-only", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		last := t.Lstat("f").Mtime
		for i := range 10 {
			harness.WaitTick(last)
			t.OK(harness.WriteAll(fd, []byte("x")))
			now := t.Lstat("f").Mtime
			t.Check(now > last, "write %d: mtime went from %d to %d", i, last, now)
			last = now
		}
	})
	g.Case("stat-by-every-way/agrees-while-dirty", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.Link("f", "g")
		for range 5 {
			t.OK(harness.WriteAll(fd, []byte("abc")))
			s := t.Fstat(fd)
			for _, name := range []string{"f", "g"} {
				o := t.Lstat(name)
				t.Check(o.Mtime == s.Mtime && o.Ctime == s.Ctime && o.Size == s.Size, "%s and the descriptor disagree: %+v, %+v", name, o, s)
			}
		}
	})
}

// timesAccess: reading moves atime when it is not newer than mtime (relatime),
// or always where the mount is strict.
func timesAccess(g *Group) {
	g = g.Sub("atime")
	reads := map[string]struct {
		make func(t *T)
		read func(t *T) error
		all  harness.Times
	}{
		"read": {func(t *T) { t.Write("x", "data") }, func(t *T) error { _, err := harness.ReadFile("x"); return err }, harness.A},
		"pread": {func(t *T) { t.Write("x", "data") }, func(t *T) error {
			_, err := unix.Pread(t.Open("x", unix.O_RDONLY), make([]byte, 2), 1)
			return err
		}, harness.A},
		"readlink": {func(t *T) { t.Symlink("target", "x") }, func(t *T) error { _, err := unix.Readlink("x", make([]byte, 9)); return err }, harness.A},
		"getdents": {func(t *T) { t.Dir("x", 0o755); t.File("x/f", 0o644) }, func(t *T) error { t.Names("x"); return nil }, harness.A},
		"mmap": {func(t *T) { t.Write("x", "data") }, func(t *T) error {
			b, err := unix.Mmap(t.Open("x", unix.O_RDONLY), 0, 4, unix.PROT_READ, unix.MAP_SHARED)
			if err != nil {
				return err
			}
			sink = b[0]
			return unix.Munmap(b)
		}, harness.A},
		"read-with-O_NOATIME": {func(t *T) { t.Write("x", "data") }, func(t *T) error {
			_, err := unix.Read(t.Open("x", unix.O_RDONLY|unix.O_NOATIME), make([]byte, 4))
			return err
		}, 0},
	}
	for name, c := range reads {
		g.Case(name+"-after-a-change", func(t *T) {
			t.NeedMount(unix.MS_NOATIME, "noatime")
			c.make(t)
			m := t.Mark("x")
			t.OK(c.read(t))
			m.Moved("x", c.all)
		})
	}
	g.Case("second-read/does-not-move-it-under-relatime", func(t *T) {
		if t.Env.MountFlags&unix.MS_RELATIME == 0 {
			t.Skip("the mount is not relatime")
		}
		t.Write("f", "data")
		t.Mark("f")
		t.Content("f", "data")
		m := t.Mark("f")
		t.Content("f", "data")
		m.Still("f")
	})
	g.Case("older-than-a-day/moves-under-relatime", func(t *T) {
		t.NeedMount(unix.MS_NOATIME, "noatime")
		t.Write("f", "data")
		day := harness.Now()/1e9 - 25*3600
		t.OK(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{{Sec: day}, {Sec: day - 10}}, 0))
		m := t.Mark("f")
		t.Content("f", "data")
		m.Moved("f", harness.A)
	})
	g.Case("set/stays-as-set-without-reads", func(t *T) {
		t.Write("f", "data")
		t.OK(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{{Sec: 77}, {Sec: 66}}, 0))
		t.OK(t.Try("f", unix.O_RDWR, 0))
		t.Lstat("f")
		eq(t, "atime", t.Lstat("f").Atime, 77e9)
	})
}

// statfsCases: the numbers hang together and move.
func statfsCases(g *Group) {
	g = g.Sub("statfs")
	statfs := func(t *T) unix.Statfs_t {
		var st unix.Statfs_t
		t.Must(unix.Statfs(".", &st))
		return st
	}
	g.Case("numbers/hang-together", func(t *T) {
		st := statfs(t)
		t.Check(st.Bsize > 0 && st.Frsize > 0, "sizes %d, %d", st.Bsize, st.Frsize)
		t.Check(st.Blocks > 0, "no blocks at all")
		t.Check(st.Bfree <= st.Blocks && st.Bavail <= st.Bfree, "blocks %d, free %d, available %d", st.Blocks, st.Bfree, st.Bavail)
		t.Check(st.Ffree <= st.Files, "files %d, free %d", st.Files, st.Ffree)
		eq(t, "longest name", int64(st.Namelen), 255)
	})
	g.Case("fstatfs-and-statfs-of-a-file/agree", func(t *T) {
		t.File("f", 0o644)
		var a, b, c unix.Statfs_t
		t.OK(unix.Statfs(".", &a))
		t.OK(unix.Statfs("f", &b))
		t.OK(unix.Fstatfs(t.Open("f", unix.O_RDONLY), &c))
		for _, st := range []unix.Statfs_t{b, c} {
			t.Check(st.Type == a.Type && st.Bsize == a.Bsize && st.Blocks == a.Blocks && st.Fsid == a.Fsid && st.Namelen == a.Namelen, "they differ")
		}
	})
	g.Alone("free-inodes/fall-and-rise-with-files", func(t *T) {
		const n = 400
		var fell, rose int64
		for range 5 { // others may make and remove files meanwhile
			before := int64(statfs(t).Ffree)
			for i := range n {
				t.File(fmt.Sprint("f", i), 0o644)
			}
			with := int64(statfs(t).Ffree)
			for i := range n {
				t.Must(unix.Unlink(fmt.Sprint("f", i)))
			}
			fell, rose = before-with, int64(statfs(t).Ffree)-with
			if fell >= n/2 && rose >= n/2 {
				break
			}
		}
		t.Check(fell >= n/2, "free inodes fell by %d for %d files", fell, n)
		t.Check(rose >= n/2, "free inodes rose by %d for %d files removed", rose, n)
	})
}
