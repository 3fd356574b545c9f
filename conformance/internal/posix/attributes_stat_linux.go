package posix

import (
	"fmt"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// statCases: what stat and statx say.
func statCases(g *Group) {
	g = g.Sub("stat")
	for _, k := range harness.Kinds {
		g.Case(string(k)+"/is-complete", func(t *T) {
			begun := harness.WaitTick(0)
			t.Make(k, "x")
			s := t.Lstat("x")
			eq(t, "type", s.Type(), k.Type())
			links := uint32(1)
			if k == harness.Dir {
				links = 2
			}
			eq(t, "links", s.Nlink, links)
			eq(t, "user", s.UID, unix.Geteuid())
			eq(t, "statx mask", s.Mask&unix.STATX_BASIC_STATS, unix.STATX_BASIC_STATS)
			eq(t, "statx mask of btime", s.Mask&unix.STATX_BTIME, unix.STATX_BTIME)
			now := harness.Now()
			for name, at := range map[string]int64{"atime": s.Atime, "mtime": s.Mtime, "ctime": s.Ctime, "btime": s.Btime} {
				t.Check(at >= begun && at <= now, "%s is not between then and now", name)
			}
			t.Check(s.Atime == s.Mtime && s.Mtime == s.Ctime, "a new file's times differ")
			eq(t, "device", s.Dev, t.Lstat(".").Dev)
			t.Check(s.Blksize >= 512 && s.Blksize&(s.Blksize-1) == 0, "st_blksize is %d", s.Blksize)
			size := map[Kind]int64{harness.Symlink: int64(len("nowhere")), harness.Dir: s.Size}[k]
			eq(t, "size", s.Size, size)
			rdev := map[Kind]uint64{harness.Char: harness.CharDev, harness.Device: harness.BlockDev}[k]
			eq(t, "device number", s.Rdev, rdev)
			sameStat(t, "x", s)
		})
	}
	g.Case("btime/stays-whatever-happens", func(t *T) {
		t.Write("f", "x")
		want := t.Lstat("f").Btime
		t.Mark("f") // a tick later
		t.Write("f", "other")
		t.OK(unix.Chmod("f", 0o600))
		t.OK(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{{Sec: 1}, {Sec: 2}}, 0))
		t.OK(unix.Rename("f", "g"))
		t.Link("g", "h")
		eq(t, "btime", t.Lstat("g").Btime, want)
	})
	g.Case("inode-numbers/are-all-different-and-stay", func(t *T) {
		seen := make(map[uint64]string)
		for i := range 200 {
			name := fmt.Sprint("f", i)
			t.File(name, 0o644)
			ino := t.Lstat(name).Ino
			if other, ok := seen[ino]; ok {
				t.Check(false, "%s and %s are both inode %d", name, other, ino)
			}
			seen[ino] = name
		}
		for ino, name := range seen {
			eq(t, "inode of "+name, t.Lstat(name).Ino, ino)
		}
	})
	g.Case("invalid-flags/is-EINVAL", func(t *T) {
		var x unix.Statx_t
		t.Errno(unix.Statx(cwd, ".", 1, unix.STATX_BASIC_STATS, &x), unix.EINVAL)
		t.Errno(unix.Statx(cwd, ".", unix.AT_STATX_FORCE_SYNC|unix.AT_STATX_DONT_SYNC, unix.STATX_BASIC_STATS, &x), unix.EINVAL)
		t.Errno(unix.Statx(cwd, ".", 0, unix.STATX__RESERVED, &x), unix.EINVAL)
	})
	for name, flags := range map[string]int{"AT_STATX_FORCE_SYNC": unix.AT_STATX_FORCE_SYNC, "AT_STATX_DONT_SYNC": unix.AT_STATX_DONT_SYNC} {
		g.Case(name+"/works", func(t *T) {
			t.Write("f", "12345")
			s, err := harness.TryStat(cwd, "f", flags)
			t.OK(err)
			eq(t, "size", s.Size, 5)
		})
	}
	g.Case("bad-descriptor/is-EBADF", func(t *T) {
		_, err := harness.TryStat(-1, "", unix.AT_EMPTY_PATH)
		t.Errno(err, unix.EBADF)
		_, err = harness.TryStat(t.Open(".", unix.O_RDONLY), "missing", 0)
		t.Errno(err, unix.ENOENT)
		t.File("f", 0o644)
		_, err = harness.TryStat(t.Open("f", unix.O_RDONLY), "x", 0)
		t.Errno(err, unix.ENOTDIR)
	})
	g.Case("size-and-blocks/follow-the-data", func(t *T) {
		t.Write("f", "")
		eq(t, "blocks of an empty file", t.Lstat("f").Blocks, 0)
		t.Write("f", strings.Repeat("x", 1<<20))
		t.Must(unix.Fsync(t.Open("f", unix.O_WRONLY)))
		b := t.Lstat("f").Blocks
		t.Check(b >= 1<<20/512 && b <= 2<<20/512, "%d blocks of 512 for 1 MiB", b)
		t.OK(unix.Truncate("f", 0))
		eq(t, "blocks after truncating", t.Lstat("f").Blocks, 0)
	})
}

// sameStat asserts that the older call agrees with statx.
func sameStat(t *T, name string, s harness.Stat) {
	var st unix.Stat_t
	t.Must(unix.Lstat(name, &st))
	t.Check(st.Ino == s.Ino && st.Mode == s.Mode && uint32(st.Nlink) == s.Nlink && int(st.Uid) == s.UID && int(st.Gid) == s.GID &&
		st.Size == s.Size && st.Mtim.Nano() == s.Mtime && st.Ctim.Nano() == s.Ctime, "stat and statx disagree: %+v, %+v", st, s)
}
