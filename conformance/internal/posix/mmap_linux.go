package posix

import (
	"bytes"
	"fmt"
	"runtime/debug"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareMmap) }

func declareMmap(s *harness.Suite) {
	g := s.Group("mmap")
	mapErrors(g)
	mapShared(g)
	mapChanges(g)
	mapOddities(g)
	mapPrivate(g)
	mapBounds(g)
	mapTruncate(g)
	mapSync(g)
	mapProcesses(g)
	executing(g)
}

// mapped maps n bytes of a file; it is unmapped when the case ends.
func mapped(t *T, fd, n, prot, flags int) []byte {
	b, err := unix.Mmap(fd, 0, n, prot, flags)
	t.Must(err)
	t.Cleanup(func() { t.Must(unix.Munmap(b)) })
	return b
}

const (
	rw     = unix.PROT_READ | unix.PROT_WRITE
	shared = unix.MAP_SHARED
)

// faults reports whether fn touched memory that is not there (SIGBUS).
func faults(fn func()) (yes bool) {
	// Without this the runtime ends the process.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(interface{ Addr() uintptr }); !ok {
				panic(r)
			}
			yes = true
		}
	}()
	fn()
	return false
}

// sink keeps a read from being optimised away.
var sink byte

// mapErrors: what cannot be mapped.
func mapErrors(g *Group) {
	g = g.Sub("error")
	for name, c := range map[string]struct {
		open, prot, flags int
		off               int64
		n                 int
		want              syscall.Errno
	}{
		"shared-writing-of-O_RDONLY":  {unix.O_RDONLY, rw, shared, 0, 100, unix.EACCES},
		"shared-reading-of-O_WRONLY":  {unix.O_WRONLY, unix.PROT_READ, shared, 0, 100, unix.EACCES},
		"private-reading-of-O_WRONLY": {unix.O_WRONLY, unix.PROT_READ, unix.MAP_PRIVATE, 0, 100, unix.EACCES},
		"shared-writing-of-O_WRONLY":  {unix.O_WRONLY, unix.PROT_WRITE, shared, 0, 100, unix.EACCES},
		"private-writing-of-O_RDONLY": {unix.O_RDONLY, rw, unix.MAP_PRIVATE, 0, 100, 0},
		"shared-reading-of-O_RDONLY":  {unix.O_RDONLY, unix.PROT_READ, shared, 0, 100, 0},
		"shared-writing-of-O_RDWR":    {unix.O_RDWR, rw, shared, 0, 100, 0},
		"offset-not-of-a-page":        {unix.O_RDWR, rw, shared, 100, 100, unix.EINVAL},
		"neither-shared-nor-private":  {unix.O_RDWR, rw, 0, 0, 100, unix.EINVAL},
		"past-the-end":                {unix.O_RDWR, rw, shared, 1 << 20, 100, 0},
		"no-access":                   {unix.O_RDONLY, unix.PROT_NONE, shared, 0, 100, 0},
	} {
		g.Case(name+"/"+errName(c.want), func(t *T) {
			t.Write("f", strings.Repeat("x", 8192))
			b, err := unix.Mmap(t.Open("f", c.open), c.off, c.n, c.prot, c.flags)
			t.Result(err, c.want)
			if err == nil {
				t.OK(unix.Munmap(b))
			}
		})
	}
	g.Case("making-a-read-only-one-writable/is-EACCES", func(t *T) {
		t.Write("f", "data")
		b := mapped(t, t.Open("f", unix.O_RDONLY), 4096, unix.PROT_READ, shared)
		t.Errno(unix.Mprotect(b, rw), unix.EACCES)
	})
	for _, k := range []Kind{harness.Dir, harness.FIFO} {
		g.Case("of-a-"+string(k)+"/is-ENODEV", func(t *T) {
			t.Make(k, "x")
			_, err := unix.Mmap(t.Open("x", unix.O_RDONLY|unix.O_NONBLOCK), 0, 100, unix.PROT_READ, unix.MAP_PRIVATE)
			t.Errno(err, unix.ENODEV)
		})
	}
}

// threePages is the size of the file that the cases of shared mappings map.
const threePages = 3 * 4096

// startShared makes that file and maps it.
func startShared(t *T) (fd int, b []byte) {
	fd = t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
	put(t, fd, pattern(1, threePages), 0)
	return fd, mapped(t, fd, threePages, rw, shared)
}

// mapShared: a shared mapping and every other way to the same bytes agree at
// every moment.
func mapShared(g *Group) {
	g = g.Sub("shared")
	for name, open := range map[string]func(t *T, fd int) int{
		"the-same-descriptor": func(_ *T, fd int) int { return fd },
		"another-descriptor":  func(t *T, _ int) int { return t.Open("f", unix.O_RDWR) },
		"another-name":        func(t *T, _ int) int { t.Link("f", "g"); return t.Open("g", unix.O_RDWR) },
		"a-renamed-name":      func(t *T, _ int) int { t.Must(unix.Rename("f", "g")); return t.Open("g", unix.O_RDWR) },
		"a-descriptor-without-a-name": func(t *T, _ int) int {
			fd := t.Open("f", unix.O_RDWR)
			t.Must(unix.Unlink("f"))
			return fd
		},
	} {
		g.Case("stores/are-read-by-"+name, func(t *T) {
			fd, b := startShared(t)
			other := open(t, fd)
			want := pattern(1, threePages)
			for _, i := range []int{0, 1, 4095, 4096, 5000, threePages - 1} {
				b[i], want[i] = 'S', 'S'
				bytesAre(t, other, want)
			}
		})
		g.Case("writes-by-"+name+"/show", func(t *T) {
			fd, b := startShared(t)
			other := open(t, fd)
			want := pattern(1, threePages)
			for i, off := range []int{0, 100, 4090, 8000} {
				p := pattern(i+2, 1000)
				copy(want[off:], p)
				put(t, other, p, int64(off))
				t.Check(bytes.Equal(b, want), "%s", difference(b, want))
			}
		})
	}
	g.Case("two-mappings/show-each-other's-stores", func(t *T) {
		fd, a := startShared(t)
		b := mapped(t, fd, threePages, rw, shared)
		for i := range 50 {
			a[i*200]++
			eq(t, "byte by the second", b[i*200], a[i*200])
			b[i*200+1]++
			eq(t, "byte by the first", a[i*200+1], b[i*200+1])
		}
	})
	g.Case("closed-and-unlinked/lives-on", func(t *T) {
		fd, b := startShared(t)
		other := t.Open("f", unix.O_RDONLY)
		t.Close(fd)
		t.OK(unix.Unlink("f"))
		b[7] = 'U'
		got, err := harness.ReadFrom(other, 7, 1)
		t.OK(err)
		eq(t, "byte", string(got), "U")
		t.OK(unix.Msync(b, unix.MS_SYNC))
	})
}

// mapChanges: what changes a file by other ways shows in its mapping.
func mapChanges(g *Group) {
	g = g.Sub("shared")
	for name, change := range map[string]func(t *T, fd int, want []byte){
		"punching-a-hole": func(t *T, fd int, want []byte) {
			t.Must(unix.Fallocate(fd, punchHole|keepSize, 4096, 4096))
			clear(want[4096:8192])
		},
		"copy_file_range": func(t *T, fd int, want []byte) {
			p := pattern(9, 5000)
			src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
			put(t, src, p, 0)
			from, to := int64(0), int64(2000)
			k, err := unix.CopyFileRange(src, &from, fd, &to, 5000, 0)
			t.OK(err)
			copy(want[2000:2000+max(k, 0)], p)
		},
		"sendfile": func(t *T, fd int, want []byte) {
			t.Write("src", "sendfile's bytes")
			_, err := unix.Sendfile(fd, t.Open("src", unix.O_RDONLY), nil, 16)
			t.OK(err)
			copy(want, "sendfile's bytes")
		},
		"truncating-and-growing": func(t *T, fd int, want []byte) {
			t.Must(unix.Ftruncate(fd, 5000))
			t.Must(unix.Ftruncate(fd, threePages))
			clear(want[5000:])
		},
		"O_DIRECT": func(t *T, _ int, want []byte) {
			fd, err := unix.Open("f", unix.O_WRONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
			t.Must(err)
			p := aligned(t, 4096)
			copy(p, pattern(8, 4096))
			put(t, t.Adopt(fd), p, 4096)
			copy(want[4096:], p)
		},
		"O_APPEND-elsewhere": func(t *T, fd int, _ []byte) {
			put(t, t.Open("f", unix.O_WRONLY|unix.O_APPEND), []byte("more"), 0)
			t.Must(unix.Ftruncate(fd, threePages))
		},
	} {
		g.Case(name+"/shows", func(t *T) {
			fd, b := startShared(t)
			sink = b[0] + b[4096] + b[8192] // resident before
			want := pattern(1, threePages)
			change(t, fd, want)
			t.Check(bytes.Equal(b, want), "%s", difference(b, want))
			b[10], want[10] = 'Z', 'Z'
			bytesAre(t, fd, want)
		})
	}
}

// mapOddities: far offsets, holes, the same file on both sides.
func mapOddities(g *Group) {
	g = g.Sub("shared")
	g.Case("at-an-offset-beyond-4-GiB/is-the-right-bytes", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, fd, []byte("far"), 5<<30)
		b, err := unix.Mmap(fd, 5<<30, 3, rw, shared)
		t.Must(err)
		eq(t, "bytes", string(b), "far")
		b[0] = 'F'
		t.OK(unix.Munmap(b))
		got, err := harness.ReadFrom(fd, 5<<30, 3)
		t.OK(err)
		eq(t, "bytes read", string(got), "Far")
	})
	g.Case("a-hole/reads-as-zero-and-can-be-filled", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.Must(unix.Ftruncate(fd, 1<<20))
		b := mapped(t, fd, 1<<20, rw, shared)
		t.Check(bytes.Equal(b[:65536], make([]byte, 65536)), "the hole is not zero")
		copy(b[500_000:], "filled")
		t.OK(unix.Msync(b, unix.MS_SYNC))
		got, err := harness.ReadFrom(fd, 499_999, 8)
		t.OK(err)
		eq(t, "bytes", string(got), "\x00filled\x00")
		at, err := unix.Seek(fd, 0, unix.SEEK_DATA)
		t.OK(err)
		t.Check(at <= 500_000 && at >= 400_000, "data at %d", at)
	})
	g.Case("read-into-a-mapping-of-the-same-file/works", func(t *T) {
		fd, b := startShared(t)
		want := pattern(1, threePages)
		got, err := unix.Pread(fd, b[4096:8192], 0)
		t.OK(err)
		copy(want[4096:4096+max(got, 0)], want[:4096])
		t.Check(bytes.Equal(b, want), "%s", difference(b, want))
	})
	g.Case("write-from-a-mapping-of-the-same-file/works", func(t *T) {
		fd, b := startShared(t)
		want := pattern(1, threePages)
		got, err := unix.Pwrite(fd, b[:4096], 4096)
		t.OK(err)
		copy(want[4096:4096+max(got, 0)], want[:4096])
		bytesAre(t, fd, want)
	})
	g.Case("by-many-threads/keeps-every-store", func(t *T) {
		_, b := startShared(t)
		clear(b)
		t.Parallel(4, func(i int) {
			for j := i; j < threePages; j += 4 {
				b[j] = byte(i + 1)
			}
		})
		for j, got := range t.Read("f") {
			if got != byte(j%4+1) {
				t.Check(false, "byte %d is %d", j, got)
				return
			}
		}
		t.Check(true, "")
	})
}

// mapPrivate: copy on write.
func mapPrivate(g *Group) {
	g = g.Sub("private")
	g.Case("stores/stay-in-the-mapping", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDONLY)
		b := mapped(t, fd, 10, rw, unix.MAP_PRIVATE)
		m := t.Mark("f")
		copy(b, "private")
		eq(t, "mapping", string(b), "private789")
		t.OK(unix.Msync(b, unix.MS_SYNC))
		t.Content("f", "0123456789")
		m.MovedOf("f", harness.M|harness.C, 0)
	})
	g.Case("a-page-stored-to/does-not-show-later-writes", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, fd, pattern(1, 8192), 0)
		b := mapped(t, fd, 8192, rw, unix.MAP_PRIVATE)
		b[0] = 'P'
		put(t, fd, []byte("WRITTEN"), 0)
		eq(t, "byte stored", b[0], 'P')
		eq(t, "byte beside it", b[1], pattern(1, 2)[1])
	})
	g.Case("of-an-unlinked-file/keeps-its-bytes", func(t *T) {
		t.Write("f", "0123456789")
		b := mapped(t, t.Open("f", unix.O_RDONLY), 10, unix.PROT_READ, unix.MAP_PRIVATE)
		t.OK(unix.Unlink("f"))
		eq(t, "bytes", string(b), "0123456789")
	})
}

// mapBounds: memory is there up to the end of the page that holds the end of
// the file, and no further; the rest of that page is zero and stays out of
// the file.
func mapBounds(g *Group) {
	g = g.Sub("bounds")
	for _, size := range []int{0, 1, 4095, 4096, 4097, 8192, 10_000} {
		g.Case(fmt.Sprintf("file-of-%d-bytes/SIGBUS-only-past-its-last-page", size), func(t *T) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			put(t, fd, pattern(1, size), 0)
			page := t.Env.Page
			b := mapped(t, fd, 4*page, rw, shared)
			last := (size + page - 1) / page * page
			for i := 0; i < 4*page; i += page / 4 {
				eq(t, fmt.Sprintf("fault reading %d", i), faults(func() { sink = b[i] }), i >= last)
			}
			for i := size; i < last; i++ {
				if b[i] != 0 {
					t.Check(false, "byte %d past the end is %d", i, b[i])
					break
				}
			}
			for i := last; i < 4*page; i += page {
				eq(t, fmt.Sprintf("fault storing at %d", i), faults(func() { b[i] = 1 }), true)
			}
			bytesAre(t, fd, pattern(1, size))
		})
	}
	g.Case("stores-past-the-end/do-not-reach-the-file", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDWR)
		b := mapped(t, fd, t.Env.Page, rw, shared)
		copy(b[10:], "beyond")
		t.OK(unix.Msync(b, unix.MS_SYNC))
		bytesAre(t, fd, []byte("0123456789"))
		t.OK(unix.Fsync(fd))
		t.Size("f", 10)
	})
	g.Case("file-grown-later/the-mapping-reaches-further", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		page := t.Env.Page
		b := mapped(t, fd, 3*page, rw, shared)
		eq(t, "fault before", faults(func() { sink = b[0] }), true)
		t.OK(unix.Ftruncate(fd, int64(2*page)))
		eq(t, "fault after", faults(func() { b[page] = 'g' }), false)
		got, err := harness.ReadFrom(fd, int64(page), 1)
		t.OK(err)
		eq(t, "byte", string(got), "g")
		put(t, fd, []byte("w"), int64(2*page))
		eq(t, "byte written past", b[2*page], 'w')
	})
}

// mapTruncate: cutting a file under its mapping.
func mapTruncate(g *Group) {
	g = g.Sub("truncate")
	for _, to := range []int{0, 1, 4096, 5000, 8192} {
		g.Case(fmt.Sprintf("to-%d/SIGBUS-only-past-the-new-last-page", to), func(t *T) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			page := t.Env.Page
			p := pattern(1, 3*page)
			put(t, fd, p, 0)
			b := mapped(t, fd, 3*page, rw, shared)
			for i := 0; i < 3*page; i += page {
				b[i] = p[i] // dirty and resident
			}
			t.OK(unix.Ftruncate(fd, int64(to)))
			last := (to + page - 1) / page * page
			for i := 0; i < 3*page; i += page {
				eq(t, fmt.Sprintf("fault at %d", i), faults(func() { sink = b[i] }), i >= last)
			}
			t.Check(bytes.Equal(b[:to], p[:to]), "%s", difference(b[:to], p[:to]))
			if last > to {
				t.Check(bytes.Equal(b[to:last], make([]byte, last-to)), "the rest of the page is not zero")
			}
			t.OK(unix.Ftruncate(fd, int64(3*page)))
			t.Check(bytes.Equal(b[to:], make([]byte, 3*page-to)), "what was cut off came back")
			bytesAre(t, fd, resized(p[:to], int64(3*page)))
		})
	}
	g.Case("by-another-process/kills-with-SIGBUS", func(t *T) {
		t.Write("f", strings.Repeat("x", 8192))
		c := t.Child("map-and-touch")
		eq(t, "child", c.Hear(), "mapped")
		t.OK(unix.Truncate("f", 0))
		c.Tell("touch")
		ws := c.Wait()
		t.Check(ws.Signaled() && ws.Signal() == unix.SIGBUS || strings.Contains(c.Stderr(), "SIGBUS"), "the child ended with %v: %s", ws, c.Stderr())
	})
}

func init() {
	harness.RegisterRole("map-and-touch", func(p *harness.Peer) int {
		fd, err := unix.Open("f", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			p.SayErr(err)
			return 1
		}
		b, err := unix.Mmap(fd, 0, 8192, rw, shared)
		if err != nil {
			p.SayErr(err)
			return 1
		}
		p.Say("mapped")
		p.Next()
		sink = b[4096]
		return 0
	})
}
