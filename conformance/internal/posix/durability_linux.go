package posix

import (
	"bytes"
	"fmt"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareDurability) }

func declareDurability(s *harness.Suite) {
	g := s.Group("durability")
	fsyncCalls(g)
	fsyncKeeps(g)
	killedWriters(g)
	powerCuts(g)
	powerCutNames(g)
}

// fsyncCalls: what can be synced, and what says it cannot.
func fsyncCalls(g *Group) {
	g = g.Sub("call")
	calls := map[string]func(fd int) error{
		"fsync": unix.Fsync, "fdatasync": unix.Fdatasync, "syncfs": unix.Syncfs,
		"sync_file_range": func(fd int) error { return unix.SyncFileRange(fd, 0, 0, unix.SYNC_FILE_RANGE_WRITE) },
	}
	for call, sync := range calls {
		for name, c := range map[string]struct {
			path  string
			flags int
		}{
			"file-for-both": {"f", unix.O_RDWR}, "file-for-reading": {"f", unix.O_RDONLY}, "file-for-writing": {"f", unix.O_WRONLY},
			"directory": {".", unix.O_RDONLY},
		} {
			g.Case(call+"/"+name+"/works", func(t *T) {
				t.Write("f", "data")
				t.OK(sync(t.Open(c.path, c.flags)))
			})
		}
		g.Case(call+"/bad-descriptor/is-EBADF", func(t *T) {
			t.Write("f", "data")
			t.Errno(sync(-1), unix.EBADF)
			t.Errno(sync(t.Open("f", unix.O_PATH)), unix.EBADF)
		})
	}
	for name, sync := range map[string]func(fd int) error{"fsync": unix.Fsync, "fdatasync": unix.Fdatasync} {
		g.Case(name+"/fifo/is-EINVAL", func(t *T) {
			t.Make(harness.FIFO, "p")
			t.Errno(sync(t.Open("p", unix.O_RDWR|unix.O_NONBLOCK)), unix.EINVAL)
		})
	}
	for name, c := range map[string]struct {
		off, n int64
		flags  int
		want   syscall.Errno
	}{
		"unknown-flag":    {0, 0, 8, unix.EINVAL},
		"negative-offset": {-1, 10, unix.SYNC_FILE_RANGE_WRITE, unix.EINVAL},
		"negative-length": {0, -1, unix.SYNC_FILE_RANGE_WRITE, unix.EINVAL},
		"all-three":       {0, 100, unix.SYNC_FILE_RANGE_WAIT_BEFORE | unix.SYNC_FILE_RANGE_WRITE | unix.SYNC_FILE_RANGE_WAIT_AFTER, 0},
		"past-the-end":    {1 << 30, 100, unix.SYNC_FILE_RANGE_WRITE, 0},
		"nothing":         {0, 0, 0, 0},
	} {
		g.Case("sync_file_range/"+name+"/"+errName(c.want), func(t *T) {
			t.Write("f", "data")
			t.Result(unix.SyncFileRange(t.Open("f", unix.O_RDWR), c.off, c.n, c.flags), c.want)
		})
	}
	g.Case("sync_file_range/of-a-pipe/is-ESPIPE", func(t *T) {
		r, _ := t.Pipe()
		t.Errno(unix.SyncFileRange(r, 0, 0, unix.SYNC_FILE_RANGE_WRITE), unix.ESPIPE)
	})
	g.Case("fsync/of-an-unlinked-file/works", func(t *T) {
		t.Write("f", "data")
		fd := t.Open("f", unix.O_RDWR)
		t.OK(unix.Unlink("f"))
		t.OK(harness.WriteAll(fd, []byte("more")))
		t.OK(unix.Fsync(fd))
	})
	g.Case("fsync/of-a-removed-directory/works", func(t *T) {
		t.Dir("d", 0o755)
		fd := t.Open("d", unix.O_RDONLY)
		t.OK(unix.Rmdir("d"))
		t.OK(unix.Fsync(fd))
	})
	g.Case("fsync/of-what-another-descriptor-wrote/works", func(t *T) {
		w := t.Open("f", unix.O_CREAT|unix.O_WRONLY, 0o644)
		t.OK(harness.WriteAll(w, pattern(1, 100_000)))
		t.OK(unix.Fsync(t.Open("f", unix.O_RDONLY)))
	})
	// M12: a file truncated by one while another holds it.
	g.Case("fsync/after-another-truncated-the-file/works", func(t *T) {
		a := t.Open("wal", unix.O_CREAT|unix.O_RDWR, 0o644)
		b := t.Open("wal", unix.O_RDWR)
		for i := range 10 {
			put(t, a, pattern(i, 50_000), 0)
			t.OK(unix.Fsync(a))
			t.OK(unix.Ftruncate(b, 0))
			put(t, a, pattern(i, 4096), 0)
			t.OK(unix.Fsync(a))
			t.OK(unix.Fdatasync(b))
			bytesAre(t, b, pattern(i, 4096))
		}
	})
	g.Case("fsync/by-many-at-once/works", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.Parallel(4, func(i int) {
			for j := range 5 {
				put(t, fd, []byte{byte(i)}, int64(i*100+j))
				t.OK(unix.Fsync(fd))
			}
		})
	})
}

// fsyncKeeps: syncing changes nothing that can be seen.
func fsyncKeeps(g *Group) {
	g = g.Sub("keeps")
	g.Case("bytes-read-from-the-disk/are-those-written", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		want := pattern(1, 1<<20)
		put(t, fd, want, 0)
		for range 2 {
			t.OK(unix.Fsync(fd))
			t.OK(unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED))
			bytesAre(t, fd, want)
			put(t, fd, []byte("changed"), 500_000)
			copy(want[500_000:], "changed")
		}
	})
	g.Case("attributes/stay", func(t *T) {
		t.Write("f", "data")
		fd := t.Open("f", unix.O_RDWR)
		t.Must(unix.Fsetxattr(fd, "user.a", []byte("v"), 0))
		t.Unchanged(func() {
			t.OK(unix.Fsync(fd))
			t.OK(unix.Fdatasync(fd))
			t.OK(unix.Syncfs(fd))
			unix.Sync()
		})
	})
	g.Case("hole/stays-a-hole", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, fd, []byte("end"), 1<<20)
		t.OK(unix.Fsync(fd))
		at, err := unix.Seek(fd, 0, unix.SEEK_DATA)
		t.OK(err)
		t.Check(at > 1<<19, "data at %d", at)
	})
}

// killedWriters: what a system call acknowledged is there when the process is
// killed right after.
func killedWriters(g *Group) {
	for _, flags := range []int{0, unix.O_APPEND, unix.O_SYNC} {
		word := map[int]string{0: "plain", unix.O_APPEND: "O_APPEND", unix.O_SYNC: "O_SYNC"}[flags]
		g.Sub("killed").Case("acknowledged-"+word+"-writes/are-there", func(t *T) {
			t.File("f", 0o644)
			c := t.Child("acknowledger", fmt.Sprint(flags))
			last := 0
			for range 50 {
				if _, err := fmt.Sscan(c.Hear(), &last); err != nil {
					t.Must(err)
				}
			}
			c.Kill()
			b := t.Read("f")
			size := len(record(0, 0))
			t.Check(len(b) >= (last+1)*size, "%d bytes for %d records", len(b), last+1)
			for i := 0; i <= last && (i+1)*size <= len(b); i++ {
				if got := string(b[i*size : (i+1)*size]); got != record(7, i) {
					t.Check(false, "record %d is %q", i, got)
					return
				}
			}
			t.Check(true, "")
		})
	}
	g.Sub("killed").Case("acknowledged-names/are-there", func(t *T) {
		c := t.Child("name-acknowledger")
		last := 0
		for range 50 {
			if _, err := fmt.Sscan(c.Hear(), &last); err != nil {
				t.Must(err)
			}
		}
		c.Kill()
		for i := range last + 1 {
			t.Check(t.Exists(fmt.Sprint("d", i)), "directory %d is not there", i)
			t.Check(!t.Exists(fmt.Sprint("d", i, ".tmp")), "the old name of %d is there", i)
		}
	})
}

func init() {
	harness.RegisterRole("acknowledger", func(p *harness.Peer) int {
		fd, err := unix.Open("f", unix.O_WRONLY|unix.O_CLOEXEC|int(p.Int(p.Args[0])), 0)
		for i := 0; err == nil; i++ {
			if _, err = unix.Write(fd, []byte(record(7, i))); err == nil {
				p.Say("%d", i)
			}
		}
		p.SayErr(err)
		return 1
	})
	harness.RegisterRole("name-acknowledger", func(p *harness.Peer) int {
		var err error
		for i := 0; err == nil; i++ {
			name := fmt.Sprint("d", i)
			if err = unix.Mkdir(name+".tmp", 0o755); err == nil {
				err = unix.Rename(name+".tmp", name)
			}
			if err == nil {
				p.Say("%d", i)
			}
		}
		p.SayErr(err)
		return 1
	})
}

// powerCuts: bytes and attributes that a sync acknowledged are there after the
// power failed (P2); bytes that none did may be missing, but are never other
// bytes (P3).
func powerCuts(g *Group) {
	g = g.Sub("power-cut")
	data := pattern(1, 100_000)
	create := func(t *T, flags int) int { return t.Open("f", unix.O_CREAT|unix.O_RDWR|flags, 0o640) }
	for name, write := range map[string]func(t *T){
		"write-and-fsync":     func(t *T) { fd := create(t, 0); put(t, fd, data, 0); t.OK(unix.Fsync(fd)) },
		"write-and-fdatasync": func(t *T) { fd := create(t, 0); put(t, fd, data, 0); t.OK(unix.Fdatasync(fd)) },
		"write-and-syncfs": func(t *T) {
			if t.Env.Type == "fuse" {
				t.Skip("the kernel does not tell a FUSE server of syncfs")
			}
			fd := create(t, 0)
			put(t, fd, data, 0)
			t.OK(unix.Syncfs(fd))
		},
		"write-with-O_SYNC":  func(t *T) { put(t, create(t, unix.O_SYNC), data, 0) },
		"write-with-O_DSYNC": func(t *T) { put(t, create(t, unix.O_DSYNC), data, 0) },
		"pwritev2-RWF_DSYNC": func(t *T) {
			n, err := unix.Pwritev2(create(t, 0), [][]byte{data}, 0, unix.RWF_DSYNC)
			t.OK(err)
			eq(t, "written", n, len(data))
		},
		"store-and-msync": func(t *T) {
			fd := create(t, 0)
			t.Must(unix.Ftruncate(fd, int64(len(data))))
			b, err := unix.Mmap(fd, 0, len(data), rw, shared)
			t.Must(err)
			copy(b, data)
			t.OK(unix.Msync(b, unix.MS_SYNC))
			t.Must(unix.Munmap(b))
		},
		"fsync-by-another-descriptor": func(t *T) { put(t, create(t, 0), data, 0); t.OK(unix.Fsync(t.Open("f", unix.O_RDONLY))) },
		"fsync-after-closing": func(t *T) {
			fd := create(t, 0)
			put(t, fd, data, 0)
			t.Close(fd)
			t.OK(unix.Fsync(t.Open("f", unix.O_RDONLY)))
		},
		"many-small-writes-and-fsync": func(t *T) {
			fd := create(t, 0)
			for i := 0; i < len(data); i += 1000 {
				put(t, fd, data[i:i+1000], int64(i))
			}
			t.OK(unix.Fsync(fd))
		},
	} {
		g.Alone(name+"/is-all-there", func(t *T) {
			t.NeedPowerCut()
			write(t)
			t.PowerCut()
			bytesAre(t, t.Open("f", unix.O_RDONLY), data)
		})
	}
	for name, change := range map[string]struct {
		do   func(t *T, fd int)
		want func(p []byte) []byte
	}{
		"overwrite": {func(t *T, fd int) { put(t, fd, pattern(2, 5000), 3000) }, func(p []byte) []byte { copy(p[3000:], pattern(2, 5000)); return p }},
		"truncate":  {func(t *T, fd int) { t.Must(unix.Ftruncate(fd, 777)) }, func(p []byte) []byte { return p[:777] }},
		"grow":      {func(t *T, fd int) { t.Must(unix.Ftruncate(fd, 200_000)) }, func(p []byte) []byte { return resized(p, 200_000) }},
		"punch":     {func(t *T, fd int) { t.Must(unix.Fallocate(fd, punchHole|keepSize, 4096, 8192)) }, func(p []byte) []byte { return allocated(p, punchHole|keepSize, 4096, 8192) }},
		"append":    {func(t *T, fd int) { put(t, fd, []byte("tail"), 100_000) }, func(p []byte) []byte { return append(p, "tail"...) }},
	} {
		g.Alone(name+"-and-fsync/is-all-there", func(t *T) {
			put(t, create(t, 0), data, 0)
			t.NeedPowerCut()
			fd := t.Open("f", unix.O_RDWR)
			change.do(t, fd)
			t.OK(unix.Fsync(fd))
			t.PowerCut()
			bytesAre(t, t.Open("f", unix.O_RDONLY), change.want(bytes.Clone(data)))
		})
	}
	g.Alone("attributes-and-fsync/are-all-there", func(t *T) {
		put(t, create(t, 0), data, 0)
		t.NeedPowerCut()
		fd := t.Open("f", unix.O_RDWR)
		t.OK(unix.Fchmod(fd, 0o604))
		t.OK(unix.Fsetxattr(fd, "user.a", []byte("v"), 0))
		t.OK(unix.UtimesNanoAt(cwd, "f", []unix.Timespec{{Sec: 11}, {Sec: 22, Nsec: 33}}, 0))
		t.OK(unix.Fsync(fd))
		t.PowerCut()
		t.Perm("f", 0o604)
		attrIs(t, "f", "user.a", "v")
		eq(t, "mtime", t.Lstat("f").Mtime, 22e9+33)
	})
	g.Alone("never-synced/is-missing-or-right-but-never-garbage", func(t *T) {
		put(t, create(t, 0), data[:50_000], 0)
		t.NeedPowerCut()
		put(t, t.Open("f", unix.O_RDWR), data[50_000:], 50_000)
		t.PowerCut()
		got := t.Read("f")
		t.Check(len(got) >= 50_000 && len(got) <= len(data), "%d bytes", len(got))
		for i, b := range got {
			if b != data[i] && (b != 0 || i < 50_000) {
				t.Check(false, "byte %d is %#x, want %#x or, past what was synced, 0", i, b, data[i])
				return
			}
		}
		t.Check(true, "")
	})
}

// powerCutNames: names that a sync acknowledged are there, and what is left of
// the rest is a beginning of it.
func powerCutNames(g *Group) {
	g = g.Sub("power-cut")
	syncDir := func(t *T, dir string) { t.OK(unix.Fsync(t.Open(dir, unix.O_RDONLY))) }
	for name, c := range map[string]struct {
		setup  func(t *T)
		change func(t *T)
		check  func(t *T)
	}{
		"mkdir":   {nil, func(t *T) { t.Dir("d", 0o750) }, func(t *T) { t.Perm("d", 0o750) }},
		"create":  {nil, func(t *T) { t.File("f", 0o640) }, func(t *T) { t.Perm("f", 0o640) }},
		"symlink": {nil, func(t *T) { t.Symlink("target", "l") }, func(t *T) { linkIs(t, "l", "target") }},
		"mkfifo":  {nil, func(t *T) { t.Make(harness.FIFO, "p") }, func(t *T) { eq(t, "type", t.Lstat("p").Type(), unix.S_IFIFO) }},
		"unlink":  {func(t *T) { t.Write("f", "x") }, func(t *T) { t.Must(unix.Unlink("f")) }, func(t *T) { t.Gone("f") }},
		"rmdir":   {func(t *T) { t.Dir("d", 0o755) }, func(t *T) { t.Must(unix.Rmdir("d")) }, func(t *T) { t.Gone("d"); t.Nlink(".", 2) }},
		"link": {func(t *T) { t.Write("f", "x") }, func(t *T) { t.Link("f", "g") }, func(t *T) {
			t.Nlink("f", 2)
			t.Is("g", t.Lstat("f"))
		}},
		"rename":           {func(t *T) { t.Write("f", "x") }, func(t *T) { t.Must(unix.Rename("f", "g")) }, func(t *T) { t.Gone("f"); t.Content("g", "x") }},
		"rename-of-a-tree": {func(t *T) { t.Dir("a", 0o755); t.Write("a/f", "x") }, func(t *T) { t.Must(unix.Rename("a", "b")) }, func(t *T) { t.Gone("a"); t.Content("b/f", "x") }},
		"exchange":         {func(t *T) { t.Write("f", "x"); t.Write("g", "y") }, func(t *T) { t.Must(unix.Renameat2(cwd, "f", cwd, "g", exchange)) }, func(t *T) { t.Content("f", "y"); t.Content("g", "x") }},
	} {
		g.Alone(name+"-and-fsync-of-the-directory/is-there", func(t *T) {
			if c.setup != nil {
				c.setup(t)
			}
			t.NeedPowerCut()
			c.change(t)
			syncDir(t, ".")
			t.PowerCut()
			c.check(t)
		})
	}
	g.Alone("write-temporary-fsync-rename-fsync-directory/is-the-new-file", func(t *T) {
		t.Write("f", "old")
		t.NeedPowerCut()
		t.Write("f.tmp", "new content")
		t.OK(unix.Fsync(t.Open("f.tmp", unix.O_RDONLY)))
		t.OK(unix.Rename("f.tmp", "f"))
		syncDir(t, ".")
		t.PowerCut()
		t.Content("f", "new content")
		t.Gone("f.tmp")
	})
	g.Alone("write-temporary-fsync-rename/is-the-old-or-the-new-file", func(t *T) {
		t.Write("f", "old")
		t.NeedPowerCut()
		t.Write("f.tmp", "new content")
		t.OK(unix.Fsync(t.Open("f.tmp", unix.O_RDONLY)))
		t.OK(unix.Rename("f.tmp", "f"))
		t.PowerCut()
		got := string(t.Read("f"))
		t.Check(got == "old" || got == "new content", "the file has %q", got)
	})
	g.Alone("O_TMPFILE-linked-and-fsynced/is-there", func(t *T) {
		t.NeedPowerCut()
		fd := t.Open(".", unix.O_TMPFILE|unix.O_RDWR, 0o600)
		t.OK(harness.WriteAll(fd, []byte("from nowhere")))
		t.OK(unix.Linkat(cwd, procFD(fd), cwd, "f", unix.AT_SYMLINK_FOLLOW))
		t.OK(unix.Fsync(fd))
		syncDir(t, ".")
		t.PowerCut()
		t.Content("f", "from nowhere")
	})
	g.Alone("unlinked-while-open/is-gone-and-leaves-nothing", func(t *T) {
		t.NeedPowerCut()
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o600)
		t.OK(harness.WriteAll(fd, pattern(1, 100_000)))
		t.OK(unix.Unlink("f"))
		t.OK(unix.Fsync(fd))
		syncDir(t, ".")
		t.PowerCut()
		eq(t, "names", strings.Join(t.Names("."), " "), "")
	})
	g.Alone("names-never-synced/are-a-beginning-of-what-was-made", func(t *T) {
		t.NeedPowerCut()
		for i := range 200 {
			t.Dir(fmt.Sprintf("d%03d", i), 0o755)
		}
		t.PowerCut()
		for i, name := range t.Names(".") {
			if name != fmt.Sprintf("d%03d", i) {
				t.Check(false, "entry %d is %q", i, name)
				return
			}
		}
		t.Nlink(".", uint32(2+len(t.Names("."))))
	})
	g.Alone("twice-in-a-row/keeps-both", func(t *T) {
		t.NeedPowerCut()
		for i := range 3 {
			name := fmt.Sprint("f", i)
			t.Write(name, name)
			t.OK(unix.Fsync(t.Open(name, unix.O_RDONLY)))
			syncDir(t, ".")
			t.PowerCut()
			for j := range i + 1 {
				t.Content(fmt.Sprint("f", j), fmt.Sprint("f", j))
			}
		}
	})
}
