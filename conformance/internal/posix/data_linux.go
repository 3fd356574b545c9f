package posix

import (
	"bytes"
	"fmt"
	"math"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/vfsd/vfsd/conformance/internal/harness"
)

func init() { declarations = append(declarations, declareData) }

func declareData(s *harness.Suite) {
	g := s.Group("data")
	readWrite(g)
	seeking(g)
	vectors(g)
	appending(g)
	truncateMatrix(g)
	truncateEdges(g)
	bigFiles(g)
	holes(g)
	fallocateMatrix(g)
	fallocateErrors(g)
	copyRange(g)
	copyRangeWays(g)
	cloning(g)
	piping(g)
	directIO(g)
	synchronous(g)
	advice(g)
	fileSizeLimit(g)
	fullDisk(g)
	randomIO(g)
}

// pattern returns n bytes in which every position can be told from its
// neighbours, different for each seed.
func pattern(seed, n int) []byte {
	b := make([]byte, n)
	x := uint32(seed)*2654435761 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x>>24) | 1 // never zero: a hole can be told from data
	}
	return b
}

// put writes bytes at an offset, all of them.
func put(t *T, fd int, p []byte, off int64) {
	n, err := unix.Pwrite(fd, p, off)
	t.Must(err)
	if n != len(p) {
		t.Fatalf("pwrite of %d bytes wrote %d", len(p), n)
	}
}

// bytesAre asserts what is in a file, and its size.
func bytesAre(t *T, fd int, want []byte) bool {
	s := t.Fstat(fd)
	ok := eq(t, "size", s.Size, int64(len(want)))
	got, err := harness.ReadFrom(fd, 0, len(want)+1)
	if !t.OK(err, "read") {
		return false
	}
	return t.Check(bytes.Equal(got, want), "%s", difference(got, want)) && ok
}

// difference says where two byte strings part.
func difference(got, want []byte) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("byte %d is %#x, want %#x (of %d and %d)", i, got[i], want[i], len(got), len(want))
		}
	}
	return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
}

// readWrite: the calls themselves.
func readWrite(g *Group) {
	g = g.Sub("rw")
	for _, n := range []int{0, 1, 2, 511, 512, 513, 4095, 4096, 4097, 65535, 65536, 65537, 131072, 1 << 20, 1<<20 + 1} {
		g.Case(fmt.Sprintf("%d-bytes/read-back", n), func(t *T) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			p := pattern(n, n)
			wrote, err := unix.Write(fd, p)
			t.OK(err)
			eq(t, "written", wrote, n)
			bytesAre(t, fd, p)
			t.Close(fd)
			bytesAre(t, t.Open("f", unix.O_RDONLY), p)
		})
	}
	for _, step := range []int{1, 7, 100, 4096, 5000, 65537} {
		g.Case(fmt.Sprintf("pieces-of-%d/read-back", step), func(t *T) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			p := pattern(step, min(step*50, 300_000))
			for i := 0; i < len(p); i += step {
				_, err := unix.Write(fd, p[i:min(i+step, len(p))])
				t.Must(err)
			}
			bytesAre(t, fd, p)
			var got []byte
			buf := make([]byte, step)
			t.Must1(unix.Seek(fd, 0, unix.SEEK_SET))
			for {
				n, err := unix.Read(fd, buf)
				t.Must(err)
				if n == 0 {
					break
				}
				got = append(got, buf[:n]...)
			}
			t.Check(bytes.Equal(got, p), "%s", difference(got, p))
		})
	}
	g.Case("overwriting-in-the-middle/changes-only-that", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		want := pattern(1, 300_000)
		put(t, fd, want, 0)
		for i, r := range [][2]int{{0, 1}, {4095, 2}, {65530, 12}, {100_000, 70_000}, {299_999, 1}, {32_768, 32_768}} {
			p := pattern(i+2, r[1])
			copy(want[r[0]:], p)
			put(t, fd, p, int64(r[0]))
			bytesAre(t, fd, want)
		}
	})
	g.Case("read-at-and-past-the-end/is-0", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDONLY)
		for _, off := range []int64{10, 11, 4096, 1 << 40} {
			n, err := unix.Pread(fd, make([]byte, 5), off)
			t.OK(err)
			eq(t, fmt.Sprintf("read at %d", off), n, 0)
		}
		n, err := unix.Pread(fd, make([]byte, 5), 8)
		t.OK(err)
		eq(t, "read of the last two", n, 2)
	})
	for name, c := range map[string]struct {
		flags int
		call  func(fd int) error
		want  syscall.Errno
	}{
		"read-of-O_WRONLY":            {unix.O_WRONLY, func(fd int) error { _, err := unix.Read(fd, make([]byte, 1)); return err }, unix.EBADF},
		"pread-of-O_WRONLY":           {unix.O_WRONLY, func(fd int) error { _, err := unix.Pread(fd, make([]byte, 1), 0); return err }, unix.EBADF},
		"write-to-O_RDONLY":           {unix.O_RDONLY, func(fd int) error { _, err := unix.Write(fd, []byte("x")); return err }, unix.EBADF},
		"pwrite-to-O_RDONLY":          {unix.O_RDONLY, func(fd int) error { _, err := unix.Pwrite(fd, []byte("x"), 0); return err }, unix.EBADF},
		"pread-at-a-negative-offset":  {unix.O_RDWR, func(fd int) error { _, err := unix.Pread(fd, make([]byte, 1), -1); return err }, unix.EINVAL},
		"pwrite-at-a-negative-offset": {unix.O_RDWR, func(fd int) error { _, err := unix.Pwrite(fd, []byte("x"), -1); return err }, unix.EINVAL},
		"ftruncate-of-O_RDONLY":       {unix.O_RDONLY, func(fd int) error { return unix.Ftruncate(fd, 0) }, unix.EINVAL},
		"ftruncate-to-minus-1":        {unix.O_RDWR, func(fd int) error { return unix.Ftruncate(fd, -1) }, unix.EINVAL},
		"fallocate-of-O_RDONLY":       {unix.O_RDONLY, func(fd int) error { return unix.Fallocate(fd, 0, 0, 1) }, unix.EBADF},
		"read-of-a-closed-one":        {-1, func(int) error { _, err := unix.Read(-1, make([]byte, 1)); return err }, unix.EBADF},
		"write-to-a-closed-one":       {-1, func(int) error { _, err := unix.Write(-1, make([]byte, 1)); return err }, unix.EBADF},
		"fsync-of-a-closed-one":       {-1, func(int) error { return unix.Fsync(-1) }, unix.EBADF},
	} {
		g.Case(name+"/"+errName(c.want), func(t *T) {
			t.Write("f", "data")
			fd := -1
			if c.flags >= 0 {
				fd = t.Open("f", c.flags)
			}
			t.Unchanged(func() { t.Errno(c.call(fd), c.want) })
		})
	}
	g.Case("two-descriptors/see-each-other's-writes-at-once", func(t *T) {
		a := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		b := t.Open("f", unix.O_RDWR)
		for i := range 50 {
			p := pattern(i, 100)
			put(t, a, p, int64(i*50))
			got, err := harness.ReadFrom(b, int64(i*50), 100)
			t.OK(err)
			t.Check(bytes.Equal(got, p), "%s", difference(got, p))
			eq(t, "size by the other", t.Fstat(b).Size, int64(i*50+100))
		}
	})
}

// seeking: lseek(2).
func seeking(g *Group) {
	g = g.Sub("lseek")
	for name, c := range map[string]struct {
		off    int64
		whence int
		want   int64
		err    syscall.Errno
	}{
		"set":              {3, unix.SEEK_SET, 3, 0},
		"current":          {3, unix.SEEK_CUR, 8, 0},
		"current-back":     {-5, unix.SEEK_CUR, 0, 0},
		"end":              {0, unix.SEEK_END, 10, 0},
		"end-back":         {-10, unix.SEEK_END, 0, 0},
		"past-the-end":     {100, unix.SEEK_END, 110, 0},
		"far-past-the-end": {1 << 40, unix.SEEK_SET, 1 << 40, 0},
		"set-negative":     {-1, unix.SEEK_SET, 0, unix.EINVAL},
		"current-negative": {-6, unix.SEEK_CUR, 0, unix.EINVAL},
		"end-negative":     {-11, unix.SEEK_END, 0, unix.EINVAL},
		"unknown-whence":   {0, 9, 0, unix.EINVAL},
	} {
		g.Case(name+"/"+errName(c.err), func(t *T) {
			t.Write("f", "0123456789")
			fd := t.Open("f", unix.O_RDONLY)
			t.Must1(unix.Seek(fd, 5, unix.SEEK_SET))
			got, err := unix.Seek(fd, c.off, c.whence)
			t.Result(err, c.err)
			if c.err == 0 {
				eq(t, "position", got, c.want)
				return
			}
			at, err := unix.Seek(fd, 0, unix.SEEK_CUR)
			t.OK(err)
			eq(t, "position after the failure", at, 5)
		})
	}
	g.Case("end-after-another-descriptor-wrote/is-the-new-end", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		other := t.Open("f", unix.O_RDWR)
		for i := range 10 {
			put(t, other, []byte("0123456789"), int64(i)*10)
			end, err := unix.Seek(fd, 0, unix.SEEK_END)
			t.OK(err)
			eq(t, "end", end, int64(i+1)*10)
		}
	})
	g.Case("seek-past-the-end-then-write/leaves-a-hole-of-zeroes", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.Must1(unix.Seek(fd, 5000, unix.SEEK_SET))
		t.OK(harness.WriteAll(fd, []byte("end")))
		bytesAre(t, fd, append(make([]byte, 5000), "end"...))
	})
	g.Case("seek-past-the-end-alone/changes-nothing", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		t.Must1(unix.Seek(fd, 5000, unix.SEEK_SET))
		eq(t, "size", t.Fstat(fd).Size, 0)
	})
	for _, k := range []Kind{harness.FIFO} {
		g.Case("of-a-"+string(k)+"/is-ESPIPE", func(t *T) {
			t.Make(k, "x")
			fd := t.Open("x", unix.O_RDWR|unix.O_NONBLOCK)
			_, err := unix.Seek(fd, 0, unix.SEEK_SET)
			t.Errno(err, unix.ESPIPE)
			_, err = unix.Pread(fd, make([]byte, 1), 0)
			t.Errno(err, unix.ESPIPE)
		})
	}
}

// vectors: readv and writev with their offsets and flags.
func vectors(g *Group) {
	g = g.Sub("vectors")
	g.Case("writev-and-readv/gather-and-scatter", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		n, err := unix.Writev(fd, [][]byte{[]byte("abc"), {}, []byte("defg"), []byte("h")})
		t.OK(err)
		eq(t, "written", n, 8)
		n, err = unix.Pwritev(fd, [][]byte{[]byte("XY"), []byte("Z")}, 6)
		t.OK(err)
		eq(t, "written at 6", n, 3)
		a, b := make([]byte, 4), make([]byte, 10)
		n, err = unix.Preadv(fd, [][]byte{a, b}, 1)
		t.OK(err)
		eq(t, "read at 1", n, 8)
		eq(t, "bytes", string(a)+string(b[:4]), "bcdefXYZ")
	})
	g.Case("preadv2-at-minus-1/uses-the-position", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDONLY)
		for _, want := range []string{"0123", "4567", "89"} {
			buf := make([]byte, 4)
			n, err := unix.Preadv2(fd, [][]byte{buf}, -1, 0)
			t.OK(err)
			eq(t, "bytes", string(buf[:max(n, 0)]), want)
		}
	})
	for name, flag := range map[string]int{"RWF_HIPRI": unix.RWF_HIPRI, "RWF_DSYNC": unix.RWF_DSYNC, "RWF_SYNC": unix.RWF_SYNC} {
		g.Case("pwritev2-"+name+"/writes", func(t *T) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			n, err := unix.Pwritev2(fd, [][]byte{[]byte("data")}, 3, flag)
			t.OK(err)
			eq(t, "written", n, 4)
			bytesAre(t, fd, []byte("\x00\x00\x00data"))
		})
	}
	g.Case("pwritev2-RWF_APPEND/goes-to-the-end-whatever-the-offset", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDWR)
		_, err := unix.Pwritev2(fd, [][]byte{[]byte("ab")}, 3, unix.RWF_APPEND)
		t.OK(err)
		bytesAre(t, fd, []byte("0123456789ab"))
		_, err = unix.Pwritev2(fd, [][]byte{[]byte("cd")}, 3, 0)
		t.OK(err)
		bytesAre(t, fd, []byte("012cd56789ab"))
	})
	g.Case("preadv2-RWF_NOWAIT/has-the-bytes-or-EAGAIN", func(t *T) {
		t.Write("f", "0123456789")
		fd := t.Open("f", unix.O_RDONLY)
		buf := make([]byte, 4)
		n, err := unix.Preadv2(fd, [][]byte{buf}, 2, unix.RWF_NOWAIT)
		if err != nil {
			t.Errno(err, unix.EAGAIN, unix.EOPNOTSUPP)
			return
		}
		eq(t, "bytes", string(buf[:n]), "2345")
	})
	g.Case("preadv2-unknown-flag/is-EOPNOTSUPP", func(t *T) {
		t.Write("f", "x")
		_, err := unix.Preadv2(t.Open("f", unix.O_RDONLY), [][]byte{make([]byte, 1)}, 0, 1<<20)
		t.Errno(err, unix.EOPNOTSUPP)
	})
	g.Case("1025-vectors/is-EINVAL", func(t *T) {
		t.Write("f", "x")
		v := make([][]byte, 1025)
		for i := range v {
			v[i] = make([]byte, 1)
		}
		_, err := unix.Preadv(t.Open("f", unix.O_RDONLY), v, 0)
		t.Errno(err, unix.EINVAL)
	})
}

// bigFiles: sizes that do not fit in 31, 32, 33 bits, up to the last.
func bigFiles(g *Group) {
	g = g.Sub("big")
	for name, off := range map[string]int64{
		"2-GiB-minus-1": 1<<31 - 1, "2-GiB": 1 << 31, "4-GiB-minus-1": 1<<32 - 1, "4-GiB": 1 << 32, "5-GiB": 5 << 30,
		"1-TiB": 1 << 40, "8-TiB": 1 << 43,
	} {
		// M24: the hole costs nothing.
		g.Case("write-at-"+name+"/reads-back-and-the-hole-is-free", func(t *T) {
			fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
			put(t, fd, []byte("x"), off+1)
			s := t.Fstat(fd)
			eq(t, "size", s.Size, off+2)
			t.Check(s.Blocks <= 1024, "%d blocks of 512 for one byte", s.Blocks)
			got, err := harness.ReadFrom(fd, off, 10)
			t.OK(err)
			eq(t, "last bytes", string(got), "\x00x")
			got, err = harness.ReadFrom(fd, off/2, 4096)
			t.OK(err)
			t.Check(bytes.Equal(got, make([]byte, 4096)), "the hole is not zero")
			data, err := unix.Seek(fd, 0, unix.SEEK_DATA)
			t.OK(err)
			t.Check(data > off-(1<<20) && data <= off+1, "SEEK_DATA is at %d", data)
			t.OK(unix.Ftruncate(fd, off))
			t.Size("f", off)
			put(t, fd, []byte("start"), 0)
			got, err = harness.ReadFrom(fd, 0, 6)
			t.OK(err)
			eq(t, "first bytes", string(got), "start\x00")
		})
	}
	g.Case("truncate-to-2^63-1/is-kept", func(t *T) {
		fd := t.Open("f", unix.O_CREAT|unix.O_RDWR, 0o644)
		if !t.OK(unix.Ftruncate(fd, math.MaxInt64)) {
			return
		}
		t.Size("f", math.MaxInt64)
		got, err := harness.ReadFrom(fd, math.MaxInt64-10, 10)
		t.OK(err)
		t.Check(bytes.Equal(got, make([]byte, 10)), "the last bytes are not zero")
		t.OK(unix.Ftruncate(fd, 5))
		t.Size("f", 5)
	})
	g.Case("write-beyond-2^63-1/is-refused-and-changes-nothing", func(t *T) {
		t.Write("f", "data")
		fd := t.Open("f", unix.O_RDWR)
		t.Unchanged(func() {
			_, err := unix.Pwrite(fd, []byte("xy"), math.MaxInt64)
			t.Errno(err, unix.EFBIG, unix.EINVAL, unix.EOVERFLOW)
			_, err = unix.Pwrite(fd, []byte("xy"), math.MaxInt64-1)
			t.Errno(err, unix.EFBIG, unix.EINVAL, unix.EOVERFLOW)
		})
	})
	g.Case("lseek-beyond-2^63-1/is-refused", func(t *T) {
		t.Write("f", "data")
		fd := t.Open("f", unix.O_RDWR)
		_, err := unix.Seek(fd, math.MaxInt64, unix.SEEK_END)
		t.Errno(err, unix.EINVAL, unix.EOVERFLOW)
		at, err := unix.Seek(fd, 0, unix.SEEK_CUR)
		t.OK(err)
		eq(t, "position", at, 0)
	})
}
