package posix

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// mapSync: msync(2) and its relatives.
func mapSync(g *Group) {
	g = g.Sub("msync")
	for name, flags := range map[string]int{"MS_SYNC": unix.MS_SYNC, "MS_ASYNC": unix.MS_ASYNC, "MS_SYNC-INVALIDATE": unix.MS_SYNC | unix.MS_INVALIDATE} {
		g.Case(name+"/works-and-keeps-the-bytes", func(t *T) {
			t.Write("f", strings.Repeat("x", 8192))
			fd := t.Open("f", unix.O_RDWR)
			b := mapped(t, fd, 8192, rw, shared)
			copy(b[4000:], strings.Repeat("y", 200))
			t.OK(unix.Msync(b, flags))
			t.OK(unix.Fadvise(fd, 0, 0, unix.FADV_DONTNEED))
			t.Content("f", strings.Repeat("x", 4000)+strings.Repeat("y", 200)+strings.Repeat("x", 3992))
		})
	}
	g.Case("sync-and-async/is-EINVAL", func(t *T) {
		t.Write("f", "x")
		b := mapped(t, t.Open("f", unix.O_RDWR), 4096, rw, shared)
		t.Errno(unix.Msync(b, unix.MS_SYNC|unix.MS_ASYNC), unix.EINVAL)
		t.Errno(unix.Msync(b[1:], unix.MS_SYNC), unix.EINVAL)
	})
	g.Case("MADV_DONTNEED/keeps-what-was-stored", func(t *T) {
		t.Write("f", strings.Repeat("x", 8192))
		b := mapped(t, t.Open("f", unix.O_RDWR), 8192, rw, shared)
		b[5000] = 'k'
		t.OK(unix.Madvise(b, unix.MADV_DONTNEED))
		eq(t, "byte", b[5000], 'k')
	})
	g.Case("MADV_REMOVE/punches-a-hole", func(t *T) {
		t.Write("f", strings.Repeat("x", 3*4096))
		fd := t.Open("f", unix.O_RDWR)
		b := mapped(t, fd, 3*4096, rw, shared)
		t.OK(unix.Madvise(b[4096:8192], unix.MADV_REMOVE))
		eq(t, "byte", b[5000], 0)
		bytesAre(t, fd, []byte(strings.Repeat("x", 4096)+strings.Repeat("\x00", 4096)+strings.Repeat("x", 4096)))
	})
	g.Case("MAP_POPULATE/has-the-bytes", func(t *T) {
		t.Write("f", string(pattern(1, 100_000)))
		b := mapped(t, t.Open("f", unix.O_RDONLY), 100_000, unix.PROT_READ, shared|unix.MAP_POPULATE)
		t.Check(bytes.Equal(b, pattern(1, 100_000)), "%s", difference(b, pattern(1, 100_000)))
	})
	g.Case("mremap/reaches-further", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, fd, pattern(1, 4*4096), 0)
		b, err := unix.Mmap(fd, 0, 4096, rw, shared)
		t.Must(err)
		b, err = unix.Mremap(b, 4*4096, unix.MREMAP_MAYMOVE)
		t.Must(err)
		t.Check(bytes.Equal(b, pattern(1, 4*4096)), "%s", difference(b, pattern(1, 4*4096)))
		b[3*4096] = 'r'
		t.OK(unix.Munmap(b))
		got, err := harness.ReadFrom(fd, 3*4096, 1)
		t.OK(err)
		eq(t, "byte", string(got), "r")
	})
}

// mapProcesses: two processes share memory through a file, as SQLite's WAL
// index does.
func mapProcesses(g *Group) {
	g = g.Sub("processes")
	g.Case("stores/show-in-the-other", func(t *T) {
		t.Write("f", strings.Repeat("\x00", 4096))
		b := mapped(t, t.Open("f", unix.O_RDWR), 4096, rw, shared)
		c := t.Child("map")
		for i := range 20 {
			b[i*100] = byte(i + 1)
			c.Expect(fmt.Sprint(i+1), "get %d", i*100)
			c.Expect("ok", "set %d %d", i*100+1, i+50)
			eq(t, "byte", b[i*100+1], byte(i+50))
		}
		got := t.Read("f")
		t.Check(bytes.Equal(got, b), "%s", difference(got, b))
	})
	g.Case("stores-of-a-killed-process/are-kept", func(t *T) {
		t.Write("f", strings.Repeat("\x00", 4096))
		c := t.Child("map")
		c.Expect("ok", "set 77 99")
		c.Kill()
		eq(t, "byte", t.Read("f")[77], 99)
	})
	g.Case("file-grown-by-one/is-mapped-by-the-other", func(t *T) {
		t.Write("f", strings.Repeat("\x00", 4096))
		c := t.Child("map")
		fd := t.Open("f", unix.O_RDWR)
		t.OK(unix.Ftruncate(fd, 32768))
		b := mapped(t, fd, 32768, rw, shared)
		b[20_000] = 7
		c.Expect("7", "get 20000")
		c.Expect("ok", "set 20001 8")
		eq(t, "byte", b[20_001], 8)
	})
}

func init() {
	harness.RegisterRole("map", func(p *harness.Peer) int {
		fd, err := unix.Open("f", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			p.SayErr(err)
			return 1
		}
		b, err := unix.Mmap(fd, 0, 65536, rw, shared)
		if err != nil {
			p.SayErr(err)
			return 1
		}
		for {
			w, ok := p.Next()
			switch {
			case !ok:
				return 0
			case w[0] == "get":
				p.Say("%d", b[p.Int(w[1])])
			case w[0] == "set":
				b[p.Int(w[1])] = byte(p.Int(w[2]))
				p.Say("ok")
			}
		}
	})
}

// executing: programs run from the file system.
func executing(g *Group) {
	g = g.Sub("exec")
	runs := func(t *T, name string, want int) {
		code, err := t.ExitCode(t.Path(name))
		if t.OK(err, "run %s", name) {
			eq(t, "exit code", code, want)
		}
	}
	g.Case("program/runs", func(t *T) {
		t.NeedMount(unix.MS_NOEXEC, "noexec")
		makeProgram(t, "prog", exits42, 0o755)
		runs(t, "prog", 42)
	})
	g.Case("after-rename-link-and-chmod/runs", func(t *T) {
		t.NeedMount(unix.MS_NOEXEC, "noexec")
		makeProgram(t, "prog", exits42, 0o755)
		runs(t, "prog", 42)
		t.OK(unix.Rename("prog", "moved"))
		runs(t, "moved", 42)
		t.Link("moved", "second")
		runs(t, "second", 42)
		t.Symlink("second", "link")
		runs(t, "link", 42)
		t.OK(unix.Chmod("second", 0o644))
		_, err := t.ExitCode(t.Path("moved"))
		t.Errno(err, unix.EACCES)
		t.OK(unix.Chmod("second", 0o100))
		runs(t, "moved", 42)
	})
	g.Case("replaced-by-rename/runs-the-new-one", func(t *T) {
		t.NeedMount(unix.MS_NOEXEC, "noexec")
		makeProgram(t, "prog", exits42, 0o755)
		runs(t, "prog", 42)
		makeProgram(t, "new", exitsID, 0o755)
		t.OK(unix.Rename("new", "prog"))
		runs(t, "prog", unix.Geteuid()&0xff)
	})
	g.Case("replaced-while-running/goes-on", func(t *T) {
		t.NeedMount(unix.MS_NOEXEC, "noexec")
		makeProgram(t, "prog", waits, 0o755)
		c := t.Command("", t.Path("prog"))
		makeProgram(t, "new", exits42, 0o755)
		t.OK(unix.Rename("new", "prog"))
		runs(t, "prog", 42)
		t.OK(unix.Kill(c.Pid(), 0), "the old one is alive")
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", c.Pid()))
		t.OK(err)
		t.Check(strings.HasSuffix(exe, "prog (deleted)"), "the old one runs %q", exe)
	})
	g.Case("script/runs-its-interpreter", func(t *T) {
		t.NeedMount(unix.MS_NOEXEC, "noexec")
		makeProgram(t, "interpreter", exits42, 0o755)
		t.NoFork(func() { t.Write("script", "#!"+t.Path("interpreter")+"\nanything\n") })
		t.Chmod("script", 0o755)
		runs(t, "script", 42)
	})
	for name, c := range map[string]struct {
		content string
		mode    uint32
		want    syscall.Errno
	}{
		"not-executable":      {"\x7fELF", 0o644, unix.EACCES},
		"empty":               {"", 0o755, unix.ENOEXEC},
		"nonsense":            {"nonsense\x00\xff", 0o755, unix.ENOEXEC},
		"missing-interpreter": {"#!/nowhere/at/all\n", 0o755, unix.ENOENT},
	} {
		g.Case(name+"/"+errName(c.want), func(t *T) {
			t.NeedMount(unix.MS_NOEXEC, "noexec")
			t.NoFork(func() { t.Write("prog", c.content) })
			t.Chmod("prog", c.mode)
			_, err := t.ExitCode(t.Path("prog"))
			t.Errno(err, c.want)
		})
	}
	for _, k := range []Kind{harness.Dir, harness.FIFO, harness.Socket} {
		g.Case("of-a-"+string(k)+"/is-EACCES", func(t *T) {
			t.MakeMode(k, "x", 0o777)
			_, err := t.ExitCode(t.Path("x"))
			t.Errno(err, unix.EACCES)
		})
	}
	for _, c := range classes {
		g.Case("permission/"+c.name, func(t *T) {
			t.NeedRoot()
			t.NeedMount(unix.MS_NOEXEC, "noexec")
			makeProgram(t, "prog", exits42, 0o755)
			t.Chown("prog", alice.UID, bob.GID)
			for _, bits := range []uint32{0, 1, 4, 5, 7} {
				t.Chmod("prog", modeWith(c, bits))
				var code int
				var err error
				t.As(c.cred, func() { code, err = t.ExitCode("./prog") })
				t.Result(err, need(bits, 1), "mode %04o", modeWith(c, bits))
				if err == nil {
					eq(t, "exit code", code, 42)
				}
			}
		})
	}
}
