package posix

import (
	"bytes"
	"fmt"
	"math"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

// copyRange: copy_file_range(2) is read and write in one.
func copyRange(g *Group) {
	g = g.Sub("copy_file_range")
	const size = 200_000
	// at is where a descriptor stands and off what the call is given: nil
	// takes the position.
	for name, c := range map[string]struct {
		src, dst int64
		n        int
		want     int
	}{
		"all":                    {0, 0, size, size},
		"more-than-there-is":     {0, 0, 2 * size, size},
		"middle-to-middle":       {1000, 5000, 70_000, 70_000},
		"unaligned":              {4097, 3, 65_537, 65_537},
		"to-beyond-the-end":      {0, 400_000, 1000, 1000},
		"tail":                   {size - 10, 0, 1000, 10},
		"from-the-end":           {size, 0, 1000, 0},
		"from-past-the-end":      {size + 5, 0, 1000, 0},
		"nothing":                {0, 0, 0, 0},
		"one-byte":               {77, 99, 1, 1},
		"aligned-pages":          {8192, 4096, 16384, 16384},
		"append-by-explicit-end": {0, size, 4096, 4096},
	} {
		g.Case(name+"/copies-what-read-and-write-would", func(t *T) {
			src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
			dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
			from, to := pattern(1, size), pattern(2, size)
			put(t, src, from, 0)
			put(t, dst, to, 0)
			srcOff, dstOff, done := c.src, c.dst, 0
			for done < c.want || done == 0 {
				n, err := unix.CopyFileRange(src, &srcOff, dst, &dstOff, c.n-done, 0)
				if !t.OK(err) || n == 0 {
					break
				}
				done += n
			}
			eq(t, "copied", done, c.want)
			eq(t, "source offset", srcOff, c.src+int64(c.want))
			eq(t, "target offset", dstOff, c.dst+int64(c.want))
			if c.want > 0 {
				to = resized(to, max(size, c.dst+int64(c.want)))
				copy(to[c.dst:], from[c.src:c.src+int64(c.want)])
			}
			bytesAre(t, dst, to)
			bytesAre(t, src, from)
			at, err := unix.Seek(src, 0, unix.SEEK_CUR)
			t.OK(err)
			eq(t, "position of the source", at, 0)
		})
	}
}

// copyRangeWays: what source and target may be.
func copyRangeWays(g *Group) {
	g = g.Sub("copy_file_range")
	g.Case("without-offsets/moves-the-positions", func(t *T) {
		src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
		dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, src, []byte("0123456789"), 0)
		t.Must1(unix.Seek(src, 3, unix.SEEK_SET))
		n, err := unix.CopyFileRange(src, nil, dst, nil, 4, 0)
		t.OK(err)
		eq(t, "copied", n, 4)
		bytesAre(t, dst, []byte("3456"))
		at, err := unix.Seek(src, 0, unix.SEEK_CUR)
		t.OK(err)
		eq(t, "position of the source", at, 7)
	})
	g.Case("within-one-file-apart/copies", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		p := pattern(1, 100_000)
		put(t, fd, p, 0)
		from, to := int64(0), int64(50_000)
		n, err := unix.CopyFileRange(fd, &from, fd, &to, 50_000, 0)
		t.OK(err)
		copy(p[50_000:50_000+max(n, 0)], p[:max(n, 0)])
		bytesAre(t, fd, p)
	})
	g.Case("dirty-source/copies-what-was-written", func(t *T) {
		src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
		dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
		for i := range 10 {
			p := pattern(i, 10_000)
			put(t, src, p, 0)
			from, to := int64(0), int64(0)
			_, err := unix.CopyFileRange(src, &from, dst, &to, len(p), 0)
			t.OK(err)
			bytesAre(t, dst, p)
		}
	})
	g.Case("the-copy/is-independent", func(t *T) {
		src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
		dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
		p := pattern(1, 1<<20)
		put(t, src, p, 0)
		for done := 0; done < len(p); {
			n, err := unix.CopyFileRange(src, nil, dst, nil, len(p)-done, 0)
			t.Must(err)
			if n == 0 {
				break
			}
			done += n
		}
		put(t, src, []byte("SOURCE"), 100)
		put(t, dst, []byte("TARGET"), 70_000)
		q := bytes.Clone(p)
		copy(p[100:], "SOURCE")
		copy(q[70_000:], "TARGET")
		bytesAre(t, src, p)
		bytesAre(t, dst, q)
	})
	g.Case("sparse-source/copies-the-zeroes", func(t *T) {
		src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
		dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, src, []byte("end"), 200_000)
		put(t, dst, pattern(1, 300_000), 0)
		want := resized(append(make([]byte, 200_000), "end"...), 300_000)
		copy(want[200_003:], pattern(1, 300_000)[200_003:])
		for from, to := int64(0), int64(0); from < 200_003; {
			n, err := unix.CopyFileRange(src, &from, dst, &to, 200_003-int(from), 0)
			if !t.OK(err) || n == 0 {
				break
			}
		}
		bytesAre(t, dst, want)
	})
	copyRangeErrors(g)
}

func copyRangeErrors(g *Group) {
	for name, c := range map[string]struct {
		src, dst    func(t *T) int
		srcOff, off int64
		n           int
		flags       int
		want        []syscall.Errno
	}{
		"unknown-flags":      {openFor("a", unix.O_RDONLY), openFor("b", unix.O_WRONLY), 0, 0, 10, 1, []syscall.Errno{unix.EINVAL}},
		"source-O_WRONLY":    {openFor("a", unix.O_WRONLY), openFor("b", unix.O_WRONLY), 0, 0, 10, 0, []syscall.Errno{unix.EBADF}},
		"target-O_RDONLY":    {openFor("a", unix.O_RDONLY), openFor("b", unix.O_RDONLY), 0, 0, 10, 0, []syscall.Errno{unix.EBADF}},
		"target-O_APPEND":    {openFor("a", unix.O_RDONLY), openFor("b", unix.O_WRONLY|unix.O_APPEND), 0, 0, 10, 0, []syscall.Errno{unix.EBADF}},
		"source-a-directory": {openFor(".", unix.O_RDONLY), openFor("b", unix.O_WRONLY), 0, 0, 10, 0, []syscall.Errno{unix.EISDIR}},
		"source-a-fifo":      {openFor("fifo", unix.O_RDWR|unix.O_NONBLOCK), openFor("b", unix.O_WRONLY), 0, 0, 10, 0, []syscall.Errno{unix.EINVAL, unix.ESPIPE}},
		"target-a-fifo":      {openFor("a", unix.O_RDONLY), openFor("fifo", unix.O_RDWR|unix.O_NONBLOCK), 0, 0, 10, 0, []syscall.Errno{unix.EINVAL, unix.ESPIPE}},
		"overlapping":        {openFor("a", unix.O_RDWR), openFor("a", unix.O_RDWR), 0, 5, 10, 0, []syscall.Errno{unix.EINVAL}},
		"source-offset-minus-1": {openFor("a", unix.O_RDONLY), openFor("b", unix.O_WRONLY), -1, 0, 10, 0,
			[]syscall.Errno{unix.EINVAL, unix.EOVERFLOW}},
		"target-offset-minus-1": {openFor("a", unix.O_RDONLY), openFor("b", unix.O_WRONLY), 0, -1, 10, 0,
			[]syscall.Errno{unix.EINVAL, unix.EOVERFLOW, unix.EFBIG}},
		"target-past-2^63": {openFor("a", unix.O_RDONLY), openFor("b", unix.O_WRONLY), 0, math.MaxInt64, 10, 0,
			[]syscall.Errno{unix.EOVERFLOW, unix.EFBIG, unix.EINVAL}},
	} {
		g.Case(name+"/is-refused", func(t *T) {
			t.Write("a", "0123456789ABCDEF0123456789")
			t.Write("b", "bbbb")
			t.Make(harness.FIFO, "fifo")
			src, dst := c.src(t), c.dst(t)
			t.Unchanged(func() {
				from, to := &c.srcOff, &c.off
				if name == "source-a-fifo" {
					from = nil
				}
				if name == "target-a-fifo" {
					to = nil
				}
				_, err := unix.CopyFileRange(src, from, dst, to, c.n, c.flags)
				t.Errno(err, c.want...)
			})
		})
	}
}

func openFor(name string, flags int) func(t *T) int {
	return func(t *T) int { return t.Open(name, flags) }
}

// cloning: an ioctl that shares the bytes of another file, where there is one.
// Where there is none it says so and changes nothing.
func cloning(g *Group) {
	g = g.Sub("clone")
	refused := []syscall.Errno{unix.EOPNOTSUPP, unix.ENOTTY, unix.EINVAL}
	g.Case("FICLONE/copies-or-is-refused", func(t *T) {
		p := pattern(1, 200_000)
		src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, src, p, 0)
		dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
		if err := unix.IoctlFileClone(dst, src); err != nil {
			t.Errno(err, refused...)
			eq(t, "size", t.Fstat(dst).Size, 0)
			return
		}
		bytesAre(t, dst, p)
		put(t, dst, []byte("changed"), 5)
		bytesAre(t, src, p)
	})
	g.Case("FICLONERANGE/copies-or-is-refused", func(t *T) {
		p := pattern(1, 200_000)
		src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
		put(t, src, p, 0)
		dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
		err := unix.IoctlFileCloneRange(dst, &unix.FileCloneRange{Src_fd: int64(src), Src_offset: 65536, Src_length: 65536})
		if err != nil {
			t.Errno(err, refused...)
			eq(t, "size", t.Fstat(dst).Size, 0)
			return
		}
		bytesAre(t, dst, p[65536:131072])
	})
}

// piping: bytes that go by the kernel's own ways.
func piping(g *Group) {
	g = g.Sub("pipe")
	for _, n := range []int{1, 4096, 100_000} {
		g.Case(fmt.Sprintf("sendfile-of-%d-bytes/to-a-file", n), func(t *T) {
			p := pattern(n, n)
			src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
			put(t, src, p, 0)
			dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
			var off int64
			for off < int64(n) {
				k, err := unix.Sendfile(dst, src, &off, n)
				if !t.OK(err) || k == 0 {
					break
				}
			}
			bytesAre(t, dst, p)
		})
		g.Case(fmt.Sprintf("splice-of-%d-bytes/file-to-pipe-to-file", n), func(t *T) {
			p := pattern(n, n)
			src := t.Open("src", unix.O_CREAT|unix.O_RDWR, 0o644)
			put(t, src, p, 0)
			dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
			r, w := t.Pipe()
			var from, to int64
			for to < int64(n) {
				k, err := unix.Splice(src, &from, w, nil, min(4096, n-int(from)), 0)
				if !t.OK(err) || k == 0 {
					break
				}
				k, err = unix.Splice(r, nil, dst, &to, int(k), 0)
				if !t.OK(err) || k == 0 {
					break
				}
			}
			bytesAre(t, dst, p)
		})
	}
	g.Case("sendfile/to-a-pipe", func(t *T) {
		t.Write("f", "0123456789")
		r, w := t.Pipe()
		off := int64(2)
		n, err := unix.Sendfile(w, t.Open("f", unix.O_RDONLY), &off, 5)
		t.OK(err)
		eq(t, "sent", n, 5)
		eq(t, "offset", off, 7)
		buf := make([]byte, 10)
		n, err = unix.Read(r, buf)
		t.OK(err)
		eq(t, "bytes", string(buf[:max(n, 0)]), "23456")
	})
	g.Case("splice-to-O_APPEND/is-EINVAL", func(t *T) {
		t.File("f", 0o644)
		r, w := t.Pipe()
		t.Must(harness.WriteAll(w, []byte("x")))
		_, err := unix.Splice(r, nil, t.Open("f", unix.O_WRONLY|unix.O_APPEND), nil, 1, 0)
		t.Errno(err, unix.EINVAL)
	})
	g.Case("sendfile-at-the-end/is-0", func(t *T) {
		t.Write("f", "0123")
		dst := t.Open("dst", unix.O_CREAT|unix.O_RDWR, 0o644)
		off := int64(4)
		n, err := unix.Sendfile(dst, t.Open("f", unix.O_RDONLY), &off, 10)
		t.OK(err)
		eq(t, "sent", n, 0)
	})
}

// aligned returns page-aligned memory, gone with the case.
func aligned(t *T, n int) []byte {
	b, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	t.Must(err)
	t.Cleanup(func() { t.Must(unix.Munmap(b)) })
	return b
}

// directIO: O_DIRECT goes around the page cache and agrees with it.
func directIO(g *Group) {
	g = g.Sub("O_DIRECT")
	open := func(t *T, name string, flags int) int {
		fd, err := unix.Open(name, flags|unix.O_DIRECT|unix.O_CLOEXEC, 0o644)
		if err == unix.EINVAL {
			t.Skip("the file system has no O_DIRECT")
		}
		t.Must(err)
		return t.Adopt(fd)
	}
	for _, n := range []int{4096, 65536, 1 << 20} {
		g.Case(fmt.Sprintf("write-of-%d/is-read-buffered", n), func(t *T) {
			fd := open(t, "f", unix.O_CREAT|unix.O_RDWR)
			b := aligned(t, n)
			copy(b, pattern(n, n))
			put(t, fd, b, 0)
			bytesAre(t, t.Open("f", unix.O_RDONLY), pattern(n, n))
		})
		g.Case(fmt.Sprintf("read-of-%d/sees-buffered-writes", n), func(t *T) {
			w := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			put(t, w, pattern(n, n), 0)
			fd := open(t, "f", unix.O_RDONLY)
			b := aligned(t, n)
			got, err := unix.Pread(fd, b, 0)
			t.OK(err)
			eq(t, "read", got, n)
			t.Check(bytes.Equal(b, pattern(n, n)), "%s", difference(b, pattern(n, n)))
		})
	}
	g.Case("mixed-with-buffered/agrees-at-every-step", func(t *T) {
		w := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		want := pattern(0, 64*1024)
		put(t, w, want, 0)
		fd := open(t, "f", unix.O_RDWR)
		b := aligned(t, 4096)
		for i := range 16 {
			copy(b, pattern(i+1, 4096))
			copy(want[i*4096:], b)
			put(t, fd, b, int64(i*4096))
			bytesAre(t, w, want)
			copy(want[i*4096+10:], "buffered")
			put(t, w, []byte("buffered"), int64(i*4096+10))
			_, err := unix.Pread(fd, b, int64(i*4096))
			t.OK(err)
			t.Check(bytes.Equal(b, want[i*4096:(i+1)*4096]), "%s", difference(b, want[i*4096:(i+1)*4096]))
		}
	})
	g.Case("tail-of-a-file/reads-short", func(t *T) {
		t.Write("f", string(pattern(1, 5000)))
		fd := open(t, "f", unix.O_RDONLY)
		b := aligned(t, 8192)
		n, err := unix.Pread(fd, b, 4096)
		t.OK(err)
		eq(t, "read", n, 904)
		n, err = unix.Pread(fd, b, 8192)
		t.OK(err)
		eq(t, "read at the end", n, 0)
	})
	g.Case("unaligned/works-or-is-EINVAL", func(t *T) {
		t.Write("f", string(pattern(1, 8192)))
		fd := open(t, "f", unix.O_RDWR)
		b := aligned(t, 8192)
		n, err := unix.Pread(fd, b[1:101], 3)
		if err != nil {
			t.Errno(err, unix.EINVAL)
			return
		}
		t.Check(bytes.Equal(b[1:1+n], pattern(1, 8192)[3:3+n]), "wrong bytes")
	})
	g.Case("F_SETFL/switches-it", func(t *T) {
		t.Write("f", string(pattern(1, 8192)))
		fd := t.Open("f", unix.O_RDWR)
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFL, unix.O_DIRECT); err != nil {
			t.Errno(err, unix.EINVAL)
			return
		}
		b := aligned(t, 4096)
		_, err := unix.Pread(fd, b, 4096)
		t.OK(err)
		t.Check(bytes.Equal(b, pattern(1, 8192)[4096:]), "wrong bytes")
	})
}

// synchronous: O_SYNC and O_DSYNC are open flags like any other to who reads.
func synchronous(g *Group) {
	for name, flag := range map[string]int{"O_SYNC": unix.O_SYNC, "O_DSYNC": unix.O_DSYNC} {
		g.Sub("%s", name).Case("writes/read-back", func(t *T) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR|flag, 0o644)
			want := pattern(1, 10_000)
			put(t, fd, want, 0)
			bytesAre(t, t.Open("f", unix.O_RDONLY), want)
			t.OK(unix.Ftruncate(fd, 5))
			bytesAre(t, fd, want[:5])
		})
		g.Sub("%s", name).Case("with-O_APPEND/appends", func(t *T) {
			t.Write("f", "0123")
			fd := t.Open("f", unix.O_WRONLY|unix.O_APPEND|flag)
			t.OK(harness.WriteAll(fd, []byte("x")))
			t.Content("f", "0123x")
		})
	}
}
